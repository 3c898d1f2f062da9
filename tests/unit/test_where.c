/* Where tensors differ: along axes, most, how often by how much; the same as text, JSON and picture. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include <png.h>

#include "base/file.h"
#include "base/json.h"
#include "tests/unit/bench.h"
#include "tests/unit/unit.h"
#include "tools/common/where.h"

static const xpu_tolerance exact;

/* Two tensors of numbers that are all different, and the place of an element. */
typedef struct {
    xpu_tensor a, b;
} two;

static two make(bench *b, xpu_dtype dtype, int rank, const int64_t *dims) {
    two t = {.a = {.dtype = dtype, .rank = rank}};
    memcpy(t.a.dims, dims, (size_t)rank * sizeof *dims);
    t.b = t.a;
    t.a.data = xpu_alloc(b->arena, xpu_tensor_bytes(&t.a) + 1);
    t.b.data = xpu_alloc(b->arena, xpu_tensor_bytes(&t.a) + 1);
    for (int64_t i = 0; dtype == XPU_F32 && i < xpu_tensor_count(&t.a); i++)
        ((float *)t.a.data)[i] = ((float *)t.b.data)[i] = (float)(i % 97 + 1);
    return t;
}
#define MAKE(b, dtype, ...)                                                                                            \
    make(b, dtype, (int)(sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t)), (const int64_t[]){__VA_ARGS__})

static xpu_where look(bench *b, const two *t, const xpu_tolerance *tolerance) {
    xpu_comparison c = xpu_compare(&t->a, &t->b, tolerance);
    return xpu_where_find(b->arena, &t->a, &t->b, tolerance, &c);
}

static void expect_axes(bench *b, const two *t, const char *text) {
    xpu_where where = look(b, t, &exact);
    CU_ASSERT_STRING_EQUAL(xpu_where_axes_text(b->arena, &where), text);
    if (strcmp(xpu_where_axes_text(b->arena, &where), text) != 0)
        fprintf(stderr, "%s\n", xpu_where_axes_text(b->arena, &where));
}

static void axes(void) {
    BENCH_OPEN(b);
    two t = MAKE(&b, XPU_F32, 2, 16, 8, 10);
    float *a = t.a.data;
    for (int r = 0; r < 8; r++)
        for (int c = 1; c < 10; c += 2) a[((1 * 16 + 5) * 8 + r) * 10 + c] += 1;
    expect_axes(&b, &t, "sample 1 of 2; channel 5 of 16; row all 8; column every 2nd from 1 to 9 of 10");
    t = MAKE(&b, XPU_F32, 1, 100, 1, 1);
    a = t.a.data;
    for (int i = 0; i < 100; i += 3) a[i] += 1;
    expect_axes(&b, &t, "channel every 3rd from 0 to 99 of 100");
    a[1] += 1;
    a[50] += 1;
    expect_axes(&b, &t, "channel 36 from 0 to 99 of 100");
    t = MAKE(&b, XPU_F32, 20, 30);
    a = t.a.data;
    for (int i = 4; i < 9; i++) a[30 * i + 7] += 1;
    a[30 * 12 + 9] += 1;
    a[30 * 13 + 9] += 1;
    expect_axes(&b, &t, "row 4..8, 12, 13 of 20; column 7, 9 of 30");
    for (int i = 0; i < 20; i++) a[30 * 12 + i] += 2;
    expect_axes(&b, &t, "row 4..8, 12, 13 of 20 (77 % in 12); column 0..19 of 30");
    t = MAKE(&b, XPU_F32, 7);
    ((float *)t.a.data)[6] = 0;
    expect_axes(&b, &t, "element 6 of 7");
    t = MAKE(&b, XPU_F32, 1, 1);
    ((float *)t.a.data)[0] = 0;
    expect_axes(&b, &t, "the only element");
    t = MAKE(&b, XPU_I8, 3, 4, 5, 6, 7);
    ((int8_t *)t.a.data)[xpu_tensor_count(&t.a) - 1] = 1;
    expect_axes(&b, &t, "axis 0 2 of 3; axis 1 3 of 4; axis 2 4 of 5; row 5 of 6; column 6 of 7");
    bench_close(&b);
}

static void largest_and_histogram(void) {
    BENCH_OPEN(b);
    two t = MAKE(&b, XPU_F32, 4, 8);
    float *a = t.a.data, *other = t.b.data;
    for (int i = 0; i < 16; i++) a[i] += (float)ldexp(1, -(i % 8)); /* 2^0 to 2^-7, twice */
    a[20] = NAN;
    a[21] = INFINITY;
    a[22] = 0;
    other[22] = -0.0f;
    xpu_where where = look(&b, &t, &exact);
    CU_ASSERT(where.comparison.differing == 19 && where.comparison.not_finite == 2 && where.zeros == 1);
    CU_ASSERT_EQUAL(where.largest_count, XPU_WHERE_LARGEST);
    const int64_t order[] = {20, 21, 0, 8, 1, 9, 2, 10, 3, 11};
    for (int i = 0; i < XPU_WHERE_LARGEST; i++) CU_ASSERT_EQUAL(where.largest[i].position, order[i]);
    CU_ASSERT_EQUAL_FATAL(where.bucket_count, 8);
    int64_t sum = 0;
    for (int i = 0; i < 8; i++) {
        CU_ASSERT(where.buckets[i].from == ldexp(1, i - 7) && where.buckets[i].count == 2);
        sum += where.buckets[i].count;
    }
    CU_ASSERT_EQUAL(sum + where.zeros + where.comparison.not_finite, where.comparison.differing);
    const char *text = xpu_where_text(b.arena, &where, 1);
    static const char *const parts[] = {"  largest [2,4] nan against 21\n", "          [0,0] 2 against 1, by 1\n",
                                        "  0 (signs of zeros)            1 ####################\n",
                                        "  2^-7    0.00781               2 ########################################\n",
                                        "  NaN or infinity               2 #"};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) CU_ASSERT_PTR_NOT_NULL(strstr(text, parts[i]));
    CU_ASSERT_PTR_NULL(strstr(xpu_where_text(b.arena, &where, 0), "largest"));
    /* Within a tolerance nothing counts. */
    where = look(&b, &t, &(xpu_tolerance){0, 0.01});
    CU_ASSERT_EQUAL(where.comparison.differing, 6);
    /* Many powers of two share buckets; none is lost. */
    for (int i = 0; i < 32; i++) {
        other[i] = 0;
        a[i] = (float)ldexp(1, 4 * i - 100);
    }
    where = look(&b, &t, &exact);
    sum = 0;
    for (int i = 0; i < where.bucket_count; i++) sum += where.buckets[i].count;
    CU_ASSERT(where.bucket_count <= XPU_WHERE_BUCKETS && sum == 32);
    bench_close(&b);
}

static void as_json(void) {
    BENCH_OPEN(b);
    two t = MAKE(&b, XPU_F32, 2, 3);
    ((float *)t.a.data)[4] = INFINITY;
    xpu_where where = look(&b, &t, &exact);
    json_t *object = xpu_json_own(b.arena, json_object());
    xpu_where_json(b.arena, &where, object);
    CU_ASSERT_EQUAL(json_integer_value(json_object_get(object, "differing")), 1);
    CU_ASSERT(json_is_null(json_object_get(object, "snr_db")) && json_is_null(json_object_get(object, "cosine")));
    json_t *first = json_array_get(json_object_get(object, "largest"), 0), *index = json_object_get(first, "index");
    CU_ASSERT_STRING_EQUAL(json_string_value(json_object_get(first, "a")), "inf");
    CU_ASSERT_EQUAL(json_real_value(json_object_get(first, "b")), 5);
    CU_ASSERT(json_integer_value(json_array_get(index, 0)) == 1 && json_integer_value(json_array_get(index, 1)) == 1);
    bench_close(&b);
}

/* ---- the picture ---- */

typedef struct {
    int width, height;
    uint8_t *rgb;
} pixels;

static pixels read_png(bench *b, const char *path) {
    png_image png = {.version = PNG_IMAGE_VERSION};
    CU_ASSERT_FATAL(png_image_begin_read_from_file(&png, path));
    png.format = PNG_FORMAT_RGB;
    pixels p = {(int)png.width, (int)png.height, xpu_alloc(b->arena, PNG_IMAGE_SIZE(png))};
    CU_ASSERT_FATAL(png_image_finish_read(&png, NULL, p.rgb, 0, NULL));
    return p;
}

static int64_t count_colour(const pixels *p, int r, int g, int blue) {
    int64_t count = 0;
    for (size_t i = 0; i < (size_t)p->width * (size_t)p->height; i++)
        count += p->rgb[3 * i] == r && p->rgb[3 * i + 1] == g && p->rgb[3 * i + 2] == blue;
    return count;
}

static int is_column_of(const pixels *p, int x, int r, int g, int blue) {
    int same = 1;
    for (int y = 0; y < p->height; y++) {
        const uint8_t *at = p->rgb + 3 * ((size_t)y * (size_t)p->width + (size_t)x);
        same &= at[0] == r && at[1] == g && at[2] == blue;
    }
    return same;
}

static pixels draw(bench *b, const two *t, const xpu_tolerance *tolerance, const char **legend) {
    const char *path = xpu_path_join(b->arena, b->folder, "h.png");
    xpu_where where = look(b, t, tolerance);
    CU_ASSERT_EQUAL_FATAL(xpu_heatmap_write(b->arena, path, &where, legend, &b->diags), XPU_OK);
    return read_png(b, path);
}

static void pictures(void) {
    BENCH_OPEN(b);
    const char *legend;
    two t = MAKE(&b, XPU_F32, 1, 4, 8, 8);
    float *a = t.a.data;
    a[64 + 9] = NAN;
    a[128] *= 1.0001f;
    a[200] += 1;
    pixels p = draw(&b, &t, &exact, &legend);
    CU_ASSERT_PTR_NOT_NULL(
        strstr(legend, "4 tiles in reading order, 2 a row, each 8 x 8 elements, 20 x 20 pixels each"));
    CU_ASSERT_EQUAL(count_colour(&p, 30, 70, 230), 400 + 100);         /* the NaN, and the key */
    CU_ASSERT_EQUAL(count_colour(&p, 255, 255, 255), 253 * 400 + 100); /* all that is equal, and the key */
    p = draw(&b, &t, &(xpu_tolerance){0.01, 0}, &legend);
    CU_ASSERT_EQUAL(count_colour(&p, 200, 232, 200), 400 + 100);
    CU_ASSERT_PTR_NOT_NULL(strstr(legend, "green: within the tolerance"));
    /* One element in a million is seen, and shapes without bounds give pictures with bounds. */
    t = MAKE(&b, XPU_F32, 1, 1, 300, 5000);
    ((float *)t.a.data)[777777] = INFINITY;
    p = draw(&b, &t, &exact, &legend);
    CU_ASSERT(p.width < 2300 && p.height < 2300 && count_colour(&p, 30, 70, 230) > 100);
    t = MAKE(&b, XPU_F32, 100000, 2, 3);
    ((float *)t.a.data)[7] += 1;
    p = draw(&b, &t, &exact, &legend);
    CU_ASSERT(p.width < 2300 && p.height < 2300);
    /* The last number above the tiles stands in the picture, with a margin behind it. */
    t = MAKE(&b, XPU_F32, 360, 16, 8, 8);
    ((float *)t.a.data)[7] += 1;
    p = draw(&b, &t, &exact, &legend);
    CU_ASSERT_PTR_NOT_NULL(strstr(legend, "76 a row"));
    CU_ASSERT(is_column_of(&p, p.width - 1, 236, 236, 240));
    t = MAKE(&b, XPU_F32, 1, 1000);
    ((float *)t.a.data)[999] = NAN;
    p = draw(&b, &t, &exact, &legend);
    CU_ASSERT_PTR_NOT_NULL(strstr(legend, "32 x 32 elements of one axis"));
    CU_ASSERT_EQUAL(count_colour(&p, 30, 70, 230), 400 + 100);
    bench_close(&b);
}

XPU_TEST_MAIN("where", {"axes", axes}, {"largest and histogram", largest_and_histogram}, {"JSON", as_json},
              {"pictures", pictures})
