/* Pictures: what the decoders give, scaling, the forms of inputs. */
#include <string.h>

#include "base/file.h"
#include "tests/unit/bench.h"
#include "tests/unit/unit.h"
#include "tools/common/image.h"

/* The picture of tests/models/pictures: a gradient of each colour. */
static void expect_gradient(bench *b, const char *name, int tolerance) {
    xpu_image image = {0};
    const char *path = xpu_printf(b->arena, "tests/models/pictures/%s", name);
    CU_ASSERT_EQUAL_FATAL(xpu_image_read(b->arena, path, &image, &b->diags), XPU_OK);
    CU_ASSERT_EQUAL(image.width, 28);
    CU_ASSERT_EQUAL(image.height, 20);
    int worst = 0;
    for (int y = 0; y < image.height; y++) {
        for (int x = 0; x < image.width; x++) {
            const uint8_t *rgb = image.rgb + (y * image.width + x) * 3;
            int wanted[3] = {x * 9 % 256, y * 12 % 256, (x + y) * 5 % 256};
            for (int c = 0; c < 3; c++) {
                int off = rgb[c] > wanted[c] ? rgb[c] - wanted[c] : wanted[c] - rgb[c];
                if (off > worst) worst = off;
            }
        }
    }
    CU_ASSERT(worst <= tolerance);
}

static void read_all(bench *b) {
    expect_gradient(b, "gradient.bmp", 0);
    expect_gradient(b, "gradient.png", 0);
    expect_gradient(b, "gradient.jpg", 40);
    expect_gradient(b, "palette.bmp", 64);
}
static void reading(void) {
    with_bench(read_all);
}

/* A picture whose last third is missing is refused, in each format. */
static void read_cut_off(bench *b) {
    static const char *const names[] = {"gradient.bmp", "gradient.png", "gradient.jpg"};
    for (int i = 0; i < 3; i++) {
        xpu_image image;
        const char *path = xpu_printf(b->arena, "tests/models/pictures/%s", names[i]);
        const xpu_file *file = xpu_file_open(b->arena, path, &b->diags);
        CU_ASSERT_PTR_NOT_NULL_FATAL(file);
        size_t size = (size_t)file->size * 2 / 3;
        uint8_t *bytes = xpu_alloc(b->arena, size);
        CU_ASSERT_EQUAL(xpu_file_read(file, 0, bytes, size, &b->diags), XPU_OK);
        xpu_status status = xpu_image_parse(b->arena, bytes, size, names[i], &image, &b->diags);
        CU_ASSERT_EQUAL(status, XPU_EUSAGE);
    }
}
static void cut_off(void) {
    with_bench(read_cut_off);
}

/* White shines through what is half transparent. */
static void read_transparent(bench *b) {
    xpu_image image;
    CU_ASSERT_EQUAL_FATAL(xpu_image_read(b->arena, "tests/models/pictures/half.png", &image, &b->diags), XPU_OK);
    CU_ASSERT(image.rgb[0] > 100);
    CU_ASSERT_EQUAL(image.rgb[(5 * 28 + 20) * 3], 180);
}
static void transparency(void) {
    with_bench(read_transparent);
}

static xpu_image plain(bench *b, int width, int height, uint8_t red, uint8_t green, uint8_t blue) {
    xpu_image image = {width, height, xpu_alloc(b->arena, (size_t)(3 * width * height))};
    for (int i = 0; i < width * height; i++) {
        image.rgb[3 * i] = red;
        image.rgb[3 * i + 1] = green;
        image.rgb[3 * i + 2] = blue;
    }
    return image;
}

/* Of one colour every scale gives that colour, in the order and type of the input. */
static void scale_plain(bench *b) {
    static const int64_t inputs[][4] = {{1, 3, 7, 5}, {1, 40, 31, 3}, {1, 1, 9, 9}, {-1, 3, -1, -1}, {1, 6, 6, 1}};
    xpu_image image = plain(b, 13, 11, 51, 102, 204);
    xpu_image_scale scale = {.mean = {0, 0, 0}, .std = {1, 1, 1}};
    for (size_t i = 0; i < sizeof inputs / sizeof *inputs; i++) {
        xpu_tensor tensor;
        const int64_t *dims = inputs[i];
        CU_ASSERT_EQUAL_FATAL(xpu_image_tensor(b->arena, &image, &scale, XPU_U8, 4, dims, "x", &tensor, &b->diags),
                              XPU_OK);
        int first = dims[1] == 1 || dims[1] == 3, channels = (int)tensor.dims[first ? 1 : 3];
        int64_t pixels = xpu_tensor_count(&tensor) / channels;
        static const uint8_t colours[3] = {51, 102, 204};
        for (int c = 0; c < channels; c++) {
            uint8_t wanted = channels == 1 ? 98 : colours[c];
            for (int64_t p = 0; p < pixels; p++) {
                int64_t at = first ? c * pixels + p : p * channels + c;
                CU_ASSERT_EQUAL(((const uint8_t *)tensor.data)[at], wanted);
            }
        }
    }
    xpu_tensor tensor;
    scale = (xpu_image_scale){.mean = {0.5f, 0.25f, 0}, .std = {0.5f, 1, 2}, .is_bgr = 1};
    CU_ASSERT_EQUAL_FATAL(xpu_image_tensor(b->arena, &image, &scale, XPU_F32, 4, inputs[0], "x", &tensor, &b->diags),
                          XPU_OK);
    const float *values = tensor.data;
    CU_ASSERT_DOUBLE_EQUAL(values[0], (204 / 255.0 - 0.5) / 0.5, 1e-6);
    CU_ASSERT_DOUBLE_EQUAL(values[35], 102 / 255.0 - 0.25, 1e-6);
    CU_ASSERT_DOUBLE_EQUAL(values[70], 51 / 255.0 / 2, 1e-6);
}
static void scaling(void) {
    with_bench(scale_plain);
}

/* The same size keeps every pixel; half the size takes the mean of neighbours, weighted by the triangle. */
static void scale_edges(bench *b) {
    xpu_image image = plain(b, 8, 1, 0, 0, 0);
    for (int x = 4; x < 8; x++) memset(image.rgb + 3 * x, 255, 3);
    xpu_image_scale scale = {.std = {1, 1, 1}};
    xpu_tensor tensor;
    static const int64_t same[] = {1, 3, 1, 8}, half[] = {1, 3, 1, 4};
    CU_ASSERT_EQUAL_FATAL(xpu_image_tensor(b->arena, &image, &scale, XPU_U8, 4, same, "x", &tensor, &b->diags), XPU_OK);
    for (int x = 0; x < 8; x++) CU_ASSERT_EQUAL(((const uint8_t *)tensor.data)[x], x < 4 ? 0 : 255);
    CU_ASSERT_EQUAL_FATAL(xpu_image_tensor(b->arena, &image, &scale, XPU_U8, 4, half, "x", &tensor, &b->diags), XPU_OK);
    static const uint8_t wanted[] = {0, 32, 223, 255};
    for (int x = 0; x < 4; x++) CU_ASSERT_EQUAL(((const uint8_t *)tensor.data)[x], wanted[x]);
}
static void edges(void) {
    with_bench(scale_edges);
}

/* A tall picture for a wide input and the other way round: memory for the target and a row, not for a picture of the
 * target's width and the source's height. A gradient stays one. */
static void scale_long(bench *b) {
    enum { LONG = 4096, SHORT = 4 };
    for (int tall = 0; tall < 2; tall++) {
        xpu_image image = plain(b, tall ? SHORT : LONG, tall ? LONG : SHORT, 0, 0, 0);
        for (int i = 0; i < LONG * SHORT * 3; i++) {
            image.rgb[i] = (uint8_t)((tall ? i / 3 / SHORT : i / 3 % LONG) * 256 / LONG);
        }
        xpu_image_scale scale = {.std = {1, 1, 1}};
        const int64_t dims[] = {1, 1, tall ? SHORT : LONG, tall ? LONG : SHORT};
        xpu_tensor tensor;
        size_t before = b->mem.bytes;
        xpu_status status = xpu_image_tensor(b->arena, &image, &scale, XPU_U8, 4, dims, "x", &tensor, &b->diags);
        CU_ASSERT_EQUAL_FATAL(status, XPU_OK);
        CU_ASSERT(b->mem.peak_bytes - before < (size_t)LONG * SHORT * 3 * sizeof(float) + (1 << 20));
        int wrong = 0;
        for (int i = 0; i < LONG * SHORT; i++) {
            int at = tall ? i / LONG : i % SHORT, value = ((const uint8_t *)tensor.data)[i];
            wrong += value < at * 64 + 20 || value > at * 64 + 44;
        }
        CU_ASSERT_EQUAL(wrong, 0);
    }
}
static void long_pictures(void) {
    with_bench(scale_long);
}

static void triples(void) {
    float v[3];
    CU_ASSERT(xpu_image_triple("0.5", v) && v[0] == 0.5f && v[2] == 0.5f);
    CU_ASSERT(xpu_image_triple("1,2,3", v) && v[1] == 2 && v[2] == 3);
    static const char *const wrong[] = {"", "1,2", "1,2,3,4", "a", "1;2;3", "nan", "inf", "1,,2", ","};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) CU_ASSERT(!xpu_image_triple(wrong[i], v));
}

XPU_TEST_MAIN("pictures", {"reading", reading}, {"cut off", cut_off}, {"transparency", transparency},
              {"scaling", scaling}, {"edges", edges}, {"long pictures", long_pictures}, {"triples", triples})
