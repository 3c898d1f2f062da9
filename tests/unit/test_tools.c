/* What the tools share: comparison of tensors, dump folders and archives, input files, regression cases. */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "base/npy.h"
#include "tests/gen/compare.h"
#include "tests/unit/bench.h"
#include "tests/unit/unit.h"
#include "tools/common/dump.h"
#include "tools/common/inputs.h"
#include "tests/gen/onnx_build.h"
#include "tools/common/regress_suite.h"
#include "xpuc/include/xpuc.h"

static const char *write_text(bench *b, const char *name, const char *text) {
    const char *path = xpu_path_join(b->arena, b->folder, name);
    CU_ASSERT_EQUAL_FATAL(xpu_file_write(b->arena, path, text, strlen(text), &b->diags), XPU_OK);
    return path;
}

static xpu_tensor floats(const float *data, int64_t count) {
    return (xpu_tensor){.dtype = XPU_F32, .rank = 1, .dims = {count}, .data = (void *)(uintptr_t)data};
}

/* ---- comparison ---- */

static void comparisons(void) {
    static const struct {
        const char *name;
        float a[4], b[4];
        double relative, of_max;
        int64_t differing, first;
    } cases[] = {
        {"equal", {1, 2, 3, 4}, {1, 2, 3, 4}, 0, 0, 0, -1},
        {"last bit", {1, 2, 3, 4}, {1, 2, 3.0000002f, 4}, 0, 0, 1, 2},
        {"sign of zero", {0, 2, 3, 4}, {-0.0f, 2, 3, 4}, 0, 0, 1, 0},
        {"sign of zero within tolerance", {0, 2, 3, 4}, {-0.0f, 2, 3, 4}, 1e-6, 0, 0, -1},
        {"relative", {1.0009f, 2, 3, 4}, {1, 2, 3, 4}, 1e-3, 0, 0, -1},
        {"not relative", {1.0011f, 2, 3, 4.1f}, {1, 2, 3, 4}, 1e-3, 0, 2, 0},
        {"of the largest", {0.03f, 2, 3, 4}, {0, 2, 3, 4}, 0, 1e-2, 0, -1},
        {"not of the largest", {0.05f, 2, 3, 4}, {0, 2, 3, 4}, 0, 1e-2, 1, 0},
        {"nan and nan", {NAN, 2, 3, 4}, {NAN, 2, 3, 4}, 0, 0, 0, -1},
        {"nan and number", {1, NAN, 3, 4}, {1, 2, 3, 4}, 1, 1, 1, 1},
        {"infinities", {INFINITY, 2, 3, 4}, {INFINITY, 2, 3, 4}, 1e-3, 1e-3, 0, -1},
        {"infinity and number", {INFINITY, 2, 3, 4}, {9, 2, 3, 4}, 1e-3, 1e-3, 1, 0},
        {"infinities of both signs", {INFINITY, 2, 3, 4}, {-INFINITY, 2, 3, 4}, 1e-3, 1e-3, 1, 0},
        {"number and infinity", {9, 2, 3, 4}, {INFINITY, 2, 3, 4}, 1e-3, 1e-3, 1, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        xpu_tensor a = floats(cases[i].a, 4), b = floats(cases[i].b, 4);
        xpu_tolerance tolerance = {cases[i].relative, cases[i].of_max};
        xpu_comparison c = xpu_compare(&a, &b, &tolerance);
        if (c.differing != cases[i].differing || c.first != cases[i].first) fprintf(stderr, "%s\n", cases[i].name);
        CU_ASSERT(c.comparable && c.count == 4);
        CU_ASSERT_EQUAL(c.differing, cases[i].differing);
        CU_ASSERT_EQUAL(c.first, cases[i].first);
    }
    float data[4] = {0};
    xpu_tolerance exact = {0, 0};
    xpu_tensor a = floats(data, 4), b = floats(data, 3), c = {.dtype = XPU_I32, .rank = 1, .dims = {4}, .data = data};
    xpu_tensor d = {.dtype = XPU_F32, .rank = 2, .dims = {2, 2}, .data = data};
    CU_ASSERT(!xpu_compare(&a, &b, &exact).comparable && !xpu_compare(&a, &c, &exact).comparable);
    CU_ASSERT(!xpu_compare(&a, &d, &exact).comparable && xpu_compare(&d, &d, &exact).comparable);
}

static const struct {
    const char *name;
    float a[3], b[3];
    int64_t differing, not_finite;
    const char *differ, *snr, *cosine;
} summary_cases[] = {
    {"equal",
     {1, 2, 3},
     {1, 2, 3},
     0,
     0,
     "0 of 3 elements differ",
     "signal to noise none: differences of 0",
     "cosine 1"},
    {"finite",
     {1, 2, 4},
     {1, 2, 3},
     1,
     0,
     "1 of 3 elements differ, by at most 1",
     "signal to noise 11.46 dB",
     "cosine 0.991460"},
    {"infinity",
     {INFINITY, 2, 3},
     {9, 2, 3},
     1,
     1,
     "1 of 3 elements differ, it by NaN or infinity",
     "signal to noise none: 1 difference is not finite (differences of 0 of the others)",
     "cosine of the finite elements 1"},
    {"infinities",
     {INFINITY, 2, 3},
     {-INFINITY, -INFINITY, 4},
     3,
     2,
     "3 of 3 elements differ, by at most 1, 2 of them by NaN or infinity",
     "signal to noise none: 2 differences are not finite (12.04 dB of the others)",
     "cosine of the finite elements 1"},
    {"nan",
     {NAN, NAN, NAN},
     {1, 2, 3},
     3,
     3,
     "3 of 3 elements differ, all of them by NaN or infinity",
     "signal to noise none: 3 differences are not finite (no element is finite in both of the others)",
     "cosine of the finite elements none: a side has nothing but 0"},
    {"signs of zeros",
     {0, 2, 3},
     {-0.0f, 2, 3},
     1,
     0,
     "1 of 3 elements differ, by at most 0",
     "signal to noise none: differences of 0",
     "cosine 1"},
    {"no signal",
     {1, 2, 3},
     {0, 0, 0},
     3,
     0,
     "3 of 3 elements differ, by at most 3",
     "signal to noise none: the second is 0",
     "cosine none: a side has nothing but 0"},
    {"last bits",
     {1, 1, 1},
     {1, 1, 1.00000012f},
     1,
     0,
     "1 of 3 elements differ, by at most 1.19209e-07",
     "signal to noise 143.25 dB",
     "cosine 1 - 1.6e-15"},
};

/* What is not finite is counted, and no summary calls it perfect. */
static void summaries(void) {
    BENCH_OPEN(b);
    for (size_t i = 0; i < sizeof summary_cases / sizeof *summary_cases; i++) {
        xpu_tensor ta = floats(summary_cases[i].a, 3), tb = floats(summary_cases[i].b, 3);
        xpu_comparison c = xpu_compare(&ta, &tb, &(xpu_tolerance){0, 0});
        CU_ASSERT_EQUAL(c.differing, summary_cases[i].differing);
        CU_ASSERT_EQUAL(c.not_finite, summary_cases[i].not_finite);
        const char *texts[] = {summary_cases[i].differ, xpu_differing_text(b.arena, &c),
                               summary_cases[i].snr,    xpu_snr_text(b.arena, &c),
                               summary_cases[i].cosine, xpu_cosine_text(b.arena, &c)};
        for (int t = 0; t < 6; t += 2) {
            CU_ASSERT_STRING_EQUAL(texts[t + 1], texts[t]);
            if (strcmp(texts[t + 1], texts[t]) != 0) fprintf(stderr, "%s: %s\n", summary_cases[i].name, texts[t + 1]);
        }
    }
    bench_close(&b);
}

static xpu_tensor of_type(xpu_dtype dtype, const void *data, int64_t count) {
    return (xpu_tensor){.dtype = dtype, .rank = 1, .dims = {count}, .data = (void *)(uintptr_t)data};
}

/* Every NaN is equal in every type of floats; large integers and squares are not rounded away; empty tensors are equal.
 */
static void types(void) {
    static const xpu_tolerance exact;
    const uint16_t nan_a[] = {0x7e00, 0x3c00}, nan_b[] = {0xfe01, 0x3c00}, brain_a[] = {0x7fc0, 1},
                   brain_b[] = {0xffc1, 1};
    const double wide_a[] = {1e200, 2e-200}, wide_b[] = {1e200, 1e-200}, huge[] = {1e308, 1}, low[] = {-1e308, 1};
    const int64_t long_a[] = {INT64_MAX, INT64_MAX}, long_b[] = {INT64_MAX - 1, INT64_MIN};
    const uint64_t ulong_a[] = {UINT64_MAX, 7}, ulong_b[] = {UINT64_MAX - 3, 7};
    const int8_t byte_a[] = {-128, 5}, byte_b[] = {127, 5};
    const struct {
        xpu_dtype dtype;
        const void *a, *b;
        int64_t differing;
        double most;
        const char *text;
    } cases[] = {
        {XPU_F16, nan_a, nan_b, 0, 0, "nan"},
        {XPU_BF16, brain_a, brain_b, 0, 0, "nan"},
        {XPU_F64, wide_a, wide_b, 1, 1e-200, "9.9999999999999997e+199"},
        {XPU_F64, huge, low, 1, DBL_MAX, "1e+308"},
        {XPU_I64, long_a, long_b, 2, 18446744073709551615.0, "9223372036854775807"},
        {XPU_U64, ulong_a, ulong_b, 1, 3, "18446744073709551615"},
        {XPU_I8, byte_a, byte_b, 1, 255, "-128"},
    };
    BENCH_OPEN(b);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        xpu_tensor ta = of_type(cases[i].dtype, cases[i].a, 2), tb = of_type(cases[i].dtype, cases[i].b, 2);
        xpu_comparison c = xpu_compare(&ta, &tb, &exact);
        CU_ASSERT_EQUAL(c.differing, cases[i].differing);
        CU_ASSERT_EQUAL(c.max_difference, cases[i].most);
        CU_ASSERT_STRING_EQUAL(xpu_element_text(b.arena, &ta, 0), cases[i].text);
        if (c.differing) CU_ASSERT(isfinite(c.snr));
    }
    xpu_tensor none = of_type(XPU_F32, NULL, 0);
    xpu_comparison c = xpu_compare(&none, &none, &exact);
    CU_ASSERT(c.comparable && c.count == 0 && c.differing == 0 && c.first == -1);
    CU_ASSERT_STRING_EQUAL(xpu_snr_text(b.arena, &c), "signal to noise none: there are no elements");
    CU_ASSERT_STRING_EQUAL(xpu_index_text(b.arena, &none, -1), "[0]");
    bench_close(&b);
}

/* The tolerance of the golden tests: an error that is not finite is not hidden by what comes behind it. */
static void golden_tolerance(void) {
    static const struct {
        float a[3], b[3];
        int good;
    } cases[] = {
        {{1, 2, 3}, {1, 2, 3}, 1},
        {{1, 2, 3}, {1, 2.001f, 3}, 1},
        {{1, 2, 3}, {1, 2.1f, 3}, 0},
        {{1, 2, 3}, {INFINITY, 2, 3}, 0},
        {{INFINITY, 2, 3}, {1, 2, 3}, 0},
        {{NAN, 2, 3}, {1, 2, 3}, 0},
        {{1, 2, 3}, {NAN, 2, 3}, 0},
        {{INFINITY, 2, 3}, {-INFINITY, 2, 3}, 0},
        {{INFINITY, NAN, 3}, {INFINITY, NAN, 3}, 1},
        {{INFINITY, 2, 3}, {INFINITY, 2, 4}, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        xpu_tensor a = floats(cases[i].a, 3), b = floats(cases[i].b, 3);
        CU_ASSERT_EQUAL(xpu_tolerance_used(&a, &b) <= 1, cases[i].good);
        if ((xpu_tolerance_used(&a, &b) <= 1) != cases[i].good) fprintf(stderr, "case %zu\n", i);
    }
}

static void elements(void) {
    const uint16_t halves[] = {0x3c00, 0xc000, 0x0001, 0x7c00, 0x0400, 0x7e00}, brains[] = {0x3f80, 0xc040};
    const int8_t bytes[] = {-128, 127};
    const int64_t longs[] = {INT64_MIN, 5};
    xpu_tensor h = {.dtype = XPU_F16, .rank = 1, .dims = {6}, .data = (void *)(uintptr_t)halves};
    xpu_tensor f = {.dtype = XPU_BF16, .rank = 1, .dims = {2}, .data = (void *)(uintptr_t)brains};
    xpu_tensor i8 = {.dtype = XPU_I8, .rank = 1, .dims = {2}, .data = (void *)(uintptr_t)bytes};
    xpu_tensor i64 = {.dtype = XPU_I64, .rank = 1, .dims = {2}, .data = (void *)(uintptr_t)longs};
    CU_ASSERT(xpu_element(&h, 0) == 1 && xpu_element(&h, 1) == -2 && xpu_element(&h, 2) == ldexp(1, -24));
    CU_ASSERT(isinf(xpu_element(&h, 3)) && xpu_element(&h, 4) == ldexp(1, -14) && isnan(xpu_element(&h, 5)));
    CU_ASSERT(xpu_element(&f, 0) == 1 && xpu_element(&f, 1) == -3);
    CU_ASSERT(xpu_element(&i8, 0) == -128 && xpu_element(&i8, 1) == 127 && xpu_element(&i64, 1) == 5);
    BENCH_OPEN(b);
    xpu_tensor shape = {.dtype = XPU_F32, .rank = 3, .dims = {2, 3, 4}};
    CU_ASSERT_STRING_EQUAL(xpu_index_text(b.arena, &shape, 0), "[0,0,0]");
    CU_ASSERT_STRING_EQUAL(xpu_index_text(b.arena, &shape, 23), "[1,2,3]");
    CU_ASSERT_STRING_EQUAL(xpu_index_text(b.arena, &shape, 17), "[1,1,1]");
    bench_close(&b);
}

/* ---- dump folders and archives ---- */

#define INDEX(layers)                                                                                                  \
    "{\"version\": 2, \"source\": \"m.onnx\", \"program_hash\": \"p\", \"source_hash\": \"s\", \"device\": \"func\", " \
    "\"chip\": \"nano\", \"precision\": \"fp32\","                                                                     \
    " \"symbols\": {}, \"inputs\": [], \"tensors\": [], \"layers\": [" layers "]}"
#define LAYER(index, name, shape, file)                                                                                \
    "{\"index\": " index ", \"layer\": \"l" name "\", \"output\": 0, \"tensor\": \"" name "\", \"file\": \"" file      \
    "\", \"dtype\": \"float32\", \"shape\": " shape "}"

static void write_floats(bench *b, const char *name, float first) {
    float data[] = {first, 2, 3};
    xpu_tensor tensor = floats(data, 3);
    CU_ASSERT_EQUAL(xpu_npy_write(b->arena, xpu_path_join(b->arena, b->folder, name), &tensor, &b->diags), XPU_OK);
}

/* The order of execution is the folder's, whichever side it is on. */
static void folder_against_archive(void) {
    BENCH_OPEN(b);
    write_text(&b, "index.json", INDEX(LAYER("0", "b", "[3]", "0.npy") "," LAYER("1", "a", "[3]", "1.npy")));
    write_floats(&b, "0.npy", 5);
    write_floats(&b, "1.npy", 6);
    float data[] = {7, 2, 3};
    xpu_named_tensor entries[] = {{"a", floats(data, 3)}, {"b", floats(data, 3)}, {"c", floats(data, 3)}};
    const char *archive = xpu_path_join(b.arena, b.folder, "x.npz");
    CU_ASSERT_EQUAL(xpu_npz_write(b.arena, archive, entries, 3, &b.diags), XPU_OK);
    xpu_dump_list folder, other;
    CU_ASSERT_EQUAL_FATAL(xpu_dump_list_open(&folder, b.arena, b.folder, &b.diags), XPU_OK);
    CU_ASSERT_EQUAL_FATAL(xpu_dump_list_open(&other, b.arena, archive, &b.diags), XPU_OK);
    CU_ASSERT(folder.is_folder && !other.is_folder && folder.items.count == 2 && other.items.count == 3);
    xpu_tolerance exact = {0, 0};
    xpu_dump_difference d;
    CU_ASSERT_EQUAL(xpu_dump_compare(&folder, &other, &exact, NULL, NULL, &d, b.arena, &b.diags), XPU_OK);
    CU_ASSERT(d.compared == 2 && d.differing == 2 && d.only_a == 0 && d.only_b == 1);
    CU_ASSERT_STRING_EQUAL(d.first.layer, "lb");
    CU_ASSERT(d.first_comparison.first_a == 5 && d.first_comparison.first_b == 7);
    CU_ASSERT_EQUAL(xpu_dump_compare(&other, &folder, &exact, NULL, NULL, &d, b.arena, &b.diags), XPU_OK);
    CU_ASSERT(d.differing == 2 && d.only_a == 1 && d.only_b == 0);
    CU_ASSERT_STRING_EQUAL(d.first.layer, "lb");
    CU_ASSERT(d.first_comparison.first_a == 7 && d.first_comparison.first_b == 5);
    CU_ASSERT_EQUAL(xpu_dump_compare(&other, &other, &exact, NULL, NULL, &d, b.arena, &b.diags), XPU_OK);
    CU_ASSERT(d.compared == 3 && d.differing == 0);
    bench_close(&b);
}

static void bad_folders(void) {
    static const struct {
        const char *index, *rule; /* index NULL: there is none */
    } cases[] = {
        {NULL, "dump-folder"},
        {"", "json-syntax"},
        {"[]", "json-type"},
        {"{}", "json-missing-key"},
        {INDEX(LAYER("0", "a", "[3]", "../x.npy")), "dump-file"},
        {INDEX(LAYER("0", "a", "[3]", "..")), "dump-file"},
        {INDEX(LAYER("0", "a", "[-3]", "x.npy")), "json-type"},
        {INDEX(LAYER("0", "a", "[1,1,1,1,1,1,1,1,1]", "x.npy")), "json-type"},
        {INDEX(LAYER("-1", "a", "[3]", "x.npy")), "json-range"},
        {INDEX("7"), "json-type"},
        {INDEX("{}"), "json-missing-key"},
    };
    BENCH_OPEN(b);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        xpu_dump_list list;
        if (cases[i].index) write_text(&b, "index.json", cases[i].index);
        CU_ASSERT_NOT_EQUAL(xpu_dump_list_open(&list, b.arena, b.folder, &b.diags), XPU_OK);
        CU_ASSERT_FATAL(b.diags.count >= 1);
        if (strcmp(b.diags.items[0].rule, cases[i].rule) != 0) xpu_diags_print(&b.diags, stderr);
        CU_ASSERT_STRING_EQUAL(b.diags.items[0].rule, cases[i].rule);
        xpu_diags_clear(&b.diags);
    }
    /* A file that the index names and that is not there. */
    xpu_dump_list list;
    xpu_dump_difference d;
    xpu_tolerance exact = {0, 0};
    write_text(&b, "index.json", INDEX(LAYER("0", "a", "[3]", "gone.npy")));
    CU_ASSERT_EQUAL_FATAL(xpu_dump_list_open(&list, b.arena, b.folder, &b.diags), XPU_OK);
    CU_ASSERT_EQUAL(xpu_dump_compare(&list, &list, &exact, NULL, NULL, &d, b.arena, &b.diags), XPU_EIO);
    bench_close(&b);
}

/* ---- input files ---- */

static void input_files(void) {
    static const struct {
        const char *spec; /* of a file in the folder */
        const char *name; /* NULL: refused */
        float first;
    } cases[] = {
        {"x.npy", "Input3", 1},
        {"Input3=x.npy", "Input3", 1},
        {"other=x.npy", "other", 1},
        {"named.npz", "Input3", 3},
        {"one.npz", NULL, 0},
        {"y=one.npz", "y", 5},
        {"Input3=named.npz", "Input3", 3},
        {"y=named.npz", NULL, 0},
        {"nothing.npy", NULL, 0},
    };
    BENCH_OPEN(b);
    xpuc_options options = {.precision = "fp32"};
    xpuc_result compiled;
    xpuc_error error = {0};
    CU_ASSERT_EQUAL_FATAL(xpuc_compile_file("tests/models/mnist-8.onnx", &options, &compiled, &error), 0);
    xpuc_error_clear(&error);
    xpurt_program *program = xpurt_open_memory(compiled.bytes, compiled.size, "mnist-8", NULL);
    CU_ASSERT_PTR_NOT_NULL_FATAL(program);
    float one[] = {1, 2}, three[] = {3, 4}, five[] = {5, 6};
    xpu_tensor tensor = floats(one, 2);
    xpu_named_tensor named[] = {{"label", floats(one, 2)}, {"Input3", floats(three, 2)}},
                     only[] = {{"z", floats(five, 2)}};
    xpu_npy_write(b.arena, xpu_path_join(b.arena, b.folder, "x.npy"), &tensor, &b.diags);
    xpu_npz_write(b.arena, xpu_path_join(b.arena, b.folder, "named.npz"), named, 2, &b.diags);
    xpu_npz_write(b.arena, xpu_path_join(b.arena, b.folder, "one.npz"), only, 1, &b.diags);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        xpu_inputs inputs = {0};
        const char *equals = strchr(cases[i].spec, '='), *file = equals ? equals + 1 : cases[i].spec;
        const char *spec = xpu_printf(b.arena, "%.*s%s/%s", (int)(file - cases[i].spec), cases[i].spec, b.folder, file);
        xpu_status status = xpu_inputs_add(&inputs, program, spec, b.arena, &b.diags);
        if (status == XPU_OK) {
            CU_ASSERT_PTR_NULL(inputs.items[0].data); /* its header alone has been read */
            status = xpu_inputs_load(&inputs, b.arena, &b.diags);
        }
        int good = cases[i].name ? status == XPU_OK && inputs.count == 1 : status != XPU_OK && inputs.count == 0;
        CU_ASSERT(good);
        if (!good) fprintf(stderr, "%s\n", cases[i].spec);
        if (!good || !cases[i].name) continue;
        CU_ASSERT_STRING_EQUAL(inputs.items[0].name, cases[i].name);
        CU_ASSERT_EQUAL(((float *)inputs.items[0].data)[0], cases[i].first);
        CU_ASSERT_EQUAL(xpu_from_runtime(&inputs.items[0]).dtype, XPU_F32);
    }
    /* A file more than the model has inputs. */
    xpu_inputs inputs = {0};
    const char *path = xpu_path_join(b.arena, b.folder, "x.npy");
    CU_ASSERT_EQUAL(xpu_inputs_add(&inputs, program, path, b.arena, &b.diags), XPU_OK);
    CU_ASSERT_EQUAL(xpu_inputs_add(&inputs, program, path, b.arena, &b.diags), XPU_EUSAGE);
    xpurt_close(program);
    xpuc_result_clear(&compiled);
    bench_close(&b);
}

/* ---- regression cases ---- */

#define CASE(more)                                                                                                     \
    "{\"model\": \"m.onnx\", \"precision\": \"fp32\", \"inputs\": {\"x\": {\"file\": \"x.npy\"}}, \"devices\": "       \
    "[\"ref\", \"func\"], \"chips\": {\"nano\": {\"samples\": 6}}" more "}"

#define PICTURE(keys)                                                                                                  \
    "{\"model\": \"m.onnx\", \"precision\": \"fp32\", \"inputs\": {\"x\": {\"file\": \"x.png\", " keys "}}, "          \
    "\"devices\": [\"ref\"], \"chips\": {\"nano\": {}}}"

static void regression_cases(void) {
    static const struct {
        const char *json, *rule; /* rule NULL: it is read */
    } cases[] = {
        {CASE(""), NULL},
        {CASE(", \"batches\": [1, 16]"), NULL},
        {CASE(", \"shapes\": {\"x\": \"N=1..4,16\"}"), NULL},
        {CASE(", \"shapes\": {\"x\": 4}"), "regress-case"},
        {CASE(", \"shapes\": \"x=4\""), "regress-case"},
        {PICTURE("\"mean\": \"0.5\""), NULL},
        {PICTURE("\"mean\": \"0.485,0.456,0.406\", \"std\": \"0.2\""), NULL},
        {PICTURE("\"mean\": \"much\""), "regress-case"},
        {PICTURE("\"std\": \"1,0,1\""), "regress-case"},
        {PICTURE("\"mean\": 0.5"), "json-type"},
        {CASE(", \"expected\": {\"y\": {\"file\": \"y.npz\", \"entry\": \"y\", \"relative\": 0.5}}"), NULL},
        {"{}", "json-missing-key"},
        {"[]", "json-type"},
        {CASE(", \"batchs\": [1]"), "json-unknown-key"},
        {CASE(", \"batches\": [0]"), "regress-case"},
        {CASE(", \"batches\": 4"), "regress-case"},
        {CASE(", \"batches\": [\"a\"]"), "regress-case"},
        {CASE(", \"expected\": []"), "regress-case"},
        {CASE(", \"expected\": {\"y\": 3}"), "json-type"},
        {CASE(", \"expected\": {\"y\": {\"file\": \"f\", \"relative\": -1}}"), "json-range"},
        {"{\"model\": \"m\", \"precision\": \"fp8\", \"inputs\": {}, \"devices\": [\"ref\"], \"chips\": {}}",
         "json-range"},
        {"{\"model\": \"m\", \"precision\": \"fp32\", \"inputs\": {}, \"devices\": [\"gpu\"], \"chips\": {}}",
         "regress-case"},
        {"{\"model\": \"m\", \"precision\": \"fp32\", \"inputs\": {}, \"devices\": [], \"chips\": {}}", "regress-case"},
        {"{\"model\": \"m\", \"precision\": \"fp32\", \"inputs\": {}, \"devices\": [\"ref\"], \"chips\": 1}",
         "regress-case"},
    };
    BENCH_OPEN(b);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        xpu_regress_case c;
        const char *path = write_text(&b, "case.json", cases[i].json);
        xpu_status status = xpu_regress_read(&c, b.arena, path, &b.diags);
        CU_ASSERT_EQUAL(status, cases[i].rule ? XPU_EUSAGE : XPU_OK);
        const char *rule = b.diags.count ? b.diags.items[0].rule : NULL;
        int good = !rule == !cases[i].rule && (!rule || strcmp(rule, cases[i].rule) == 0);
        if (!good) fprintf(stderr, "%s\n%s\n", cases[i].json, rule ? rule : "read");
        CU_ASSERT(good);
        xpu_diags_clear(&b.diags);
    }
    xpu_regress_case c;
    CU_ASSERT_EQUAL(xpu_regress_read(&c, b.arena, write_text(&b, "name.json", cases[1].json), &b.diags), XPU_OK);
    CU_ASSERT_STRING_EQUAL(c.name, "name");
    CU_ASSERT_STRING_EQUAL(c.model, xpu_path_join(b.arena, b.folder, "m.onnx"));
    CU_ASSERT(c.device_count == 2 && c.batch_count == 2 && c.chips.count == 1 && c.chips.items[0].samples == 6);
    bench_close(&b);
}

/* A case fails, with a reason, when the outputs are not as expected, and when it cannot run. */
static void regression_failures(void) {
    static const struct {
        const char *model, *input, *expected, *what; /* what: how the reason begins */
    } cases[] = {
        {"mnist-8.onnx", "9.npy", "mnist8_expected.npz",
         "1 sample, 6 layers equal on ref and func, outputs as expected"},
        {"mnist-8.onnx", "9.npy", "9.npy", "output 'Plus214_Output_0' has not the expected shape"},
        {"mnist-8.onnx", "mnist8_expected.npz", "9.npy", "on ref: "},
        {"mnist-8.onnx", "nothing.npy", "9.npy", "a file cannot be read"},
        {"9.raw", "9.npy", "9.npy", "it does not compile: "},
    };
    BENCH_OPEN(b);
    char *models = realpath("tests/models", NULL);
    CU_ASSERT_PTR_NOT_NULL_FATAL(models);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *json = xpu_printf(b.arena,
                                      "{\"model\": \"%s/%s\", \"precision\": \"fp32\", \"inputs\": {\"Input3\": "
                                      "{\"file\": \"%s/%s\"}}, \"expected\": {\"Plus214_Output_0\": {\"file\": "
                                      "\"%s/%s\", \"relative\": 0.001, \"of_max\": 0.00001}}, \"devices\": [\"ref\", "
                                      "\"func\"], \"chips\": {\"nano\": {}}}",
                                      models, cases[i].model, models, cases[i].input, models, cases[i].expected);
        xpu_regress_case c;
        CU_ASSERT_EQUAL_FATAL(xpu_regress_read(&c, b.arena, write_text(&b, "case.json", json), &b.diags), XPU_OK);
        xpu_regress_result r = xpu_regress_run(&c, &c.chips.items[0], NULL, b.arena, &b.diags);
        CU_ASSERT_EQUAL(r.passed, i == 0);
        CU_ASSERT_EQUAL(strncmp(r.what, cases[i].what, strlen(cases[i].what)), 0);
        if (strncmp(r.what, cases[i].what, strlen(cases[i].what)) != 0) fprintf(stderr, "%s\n", r.what);
        xpu_diags_clear(&b.diags);
    }
    free(models);
    bench_close(&b);
}

/* Without batches inputs are taken whole: the first axis of one need not be that of another. */
static void regression_of_two_inputs(void) {
    static const int64_t wide[] = {2, 3}, tall[] = {6, 3}, both[] = {8, 3};
    float values[18];
    size_t length;
    xpu_onnx_builder m;
    BENCH_OPEN(b);
    xpu_onnx_begin(&m, b.arena, 13);
    xpu_onnx_input(&m, "a", 2, wide);
    xpu_onnx_input(&m, "b", 2, tall);
    XpuOnnx__NodeProto *node = xpu_onnx_node(&m, "Concat", "c", "y", (const char *[]){"a", "b", NULL});
    xpu_onnx_int(&m, node, "axis", 0);
    xpu_onnx_output(&m, "y", 2, both);
    const void *bytes = xpu_onnx_pack(&m, "two", &length);
    for (int i = 0; i < 18; i++) values[i] = (float)i;
    const xpu_tensor a = {XPU_F32, 2, {2, 3}, values}, c = {XPU_F32, 2, {6, 3}, values};
    CU_ASSERT_EQUAL(xpu_file_write(b.arena, xpu_path_join(b.arena, b.folder, "two.onnx"), bytes, length, &b.diags),
                    XPU_OK);
    CU_ASSERT_EQUAL(xpu_npy_write(b.arena, xpu_path_join(b.arena, b.folder, "a.npy"), &a, &b.diags), XPU_OK);
    CU_ASSERT_EQUAL(xpu_npy_write(b.arena, xpu_path_join(b.arena, b.folder, "b.npy"), &c, &b.diags), XPU_OK);
    const char *json = "{\"model\": \"two.onnx\", \"precision\": \"fp32\", \"inputs\": {\"a\": {\"file\": \"a.npy\"}, "
                       "\"b\": {\"file\": \"b.npy\"}}, \"devices\": [\"ref\", \"func\"], \"chips\": {\"nano\": {}}}";
    xpu_regress_case two;
    CU_ASSERT_EQUAL_FATAL(xpu_regress_read(&two, b.arena, write_text(&b, "two.json", json), &b.diags), XPU_OK);
    xpu_regress_result r = xpu_regress_run(&two, &two.chips.items[0], NULL, b.arena, &b.diags);
    CU_ASSERT(r.passed);
    if (!r.passed) fprintf(stderr, "%s\n", r.what);
    bench_close(&b);
}

/* XML 1.0 has no way to write control characters, and nothing but UTF-8 is read as such. */
static void xml_text(void) {
    static const struct {
        const char *text, *xml;
    } cases[] = {
        {"a<b>&\"'", "a&lt;b&gt;&amp;&quot;&apos;"},
        {"\x1b[31m\ttab\nline\r", "\\x1b[31m\ttab\nline\\x0d"},
        {"gr\xc3\xb6\xc3\x9f\x65 \xe2\x82\xac \xf0\x9f\x98\x80",
         "gr\xc3\xb6\xc3\x9f\x65 \xe2\x82\xac \xf0\x9f\x98\x80"},
        {"\xc0\xaf\xed\xa0\x80", "\\xc0\\xaf\\xed\\xa0\\x80"},
        {"\xef\xbf\xbf \xf4\x90\x80\x80 \xe2\x82", "\\xef\\xbf\\xbf \\xf4\\x90\\x80\\x80 \\xe2\\x82"},
        {NULL, ""},
    };
    BENCH_OPEN(b);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        xpu_text text;
        xpu_text_init(&text, b.arena);
        xpu_xml_add(&text, cases[i].text);
        CU_ASSERT_STRING_EQUAL(text.text, cases[i].xml);
    }
    bench_close(&b);
}

/* A failure says where the output is wrong: here class 3 of the sample. */
static void regression_places(void) {
    BENCH_OPEN(b);
    xpu_named_tensors expected = {0};
    char *models = realpath("tests/models", NULL), *wrong = xpu_path_join(b.arena, b.folder, "wrong.npz");
    CU_ASSERT_PTR_NOT_NULL_FATAL(models);
    CU_ASSERT_EQUAL_FATAL(xpu_npz_read(b.arena, "tests/models/mnist8_expected.npz", &expected, &b.diags), XPU_OK);
    CU_ASSERT_FATAL(expected.count == 1 && xpu_tensor_count(&expected.items[0].tensor) == 10);
    ((float *)expected.items[0].tensor.data)[3] = NAN;
    CU_ASSERT_EQUAL_FATAL(xpu_npz_write(b.arena, wrong, expected.items, 1, &b.diags), XPU_OK);
    const char *json = xpu_printf(b.arena,
                                  "{\"model\": \"%s/mnist-8.onnx\", \"precision\": \"fp32\", \"inputs\": {\"Input3\": "
                                  "{\"file\": \"%s/9.npy\"}}, \"expected\": {\"Plus214_Output_0\": {\"file\": "
                                  "\"%s\", \"relative\": 0.001}}, \"devices\": [\"ref\"], \"chips\": {\"nano\": {}}}",
                                  models, models, wrong);
    xpu_regress_case c;
    CU_ASSERT_EQUAL_FATAL(xpu_regress_read(&c, b.arena, write_text(&b, "case.json", json), &b.diags), XPU_OK);
    xpu_regress_result r = xpu_regress_run(&c, &c.chips.items[0], NULL, b.arena, &b.diags);
    static const char start[] = "output 'Plus214_Output_0' is not as expected: 1 of 10 elements differ, it by NaN or "
                                "infinity, first at [0,3] (",
                      end[] = " against nan); column 3 of 10";
    CU_ASSERT(!r.passed && strncmp(r.what, start, sizeof start - 1) == 0 && strstr(r.what, end));
    if (!strstr(r.what, end)) fprintf(stderr, "%s\n", r.what);
    free(models);
    bench_close(&b);
}

XPU_TEST_MAIN("tools", {"comparison of tensors", comparisons}, {"summaries", summaries}, {"types", types},
              {"golden tolerance", golden_tolerance}, {"elements", elements},
              {"folder against archive", folder_against_archive}, {"folders that are no dumps", bad_folders},
              {"input files", input_files}, {"regression cases", regression_cases},
              {"regression failures", regression_failures}, {"regression places", regression_places},
              {"regression of two inputs", regression_of_two_inputs}, {"text for XML", xml_text})
