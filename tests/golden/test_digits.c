/*
 * The digits network on the functional chip: classes equal onnxruntime's recorded ones at both precisions (all 360 on
 * standard, 60 on nano and pro), logits at fp32 within the tolerance and the same on all chips, every layer equal to
 * ref, one program for all N.
 */
#include "tests/gen/compare.h"
#include "tests/gen/devices.h"
#include "tests/golden/digits.h"
#include "tests/unit/unit.h"
#include "tools/common/inputs.h"

static xpu_mem mem;
static xpu_diags diags;
static digits data;

static int load(void) {
    static int loaded = -1;
    if (loaded >= 0) return loaded;
    xpu_diags_init(&diags);
    xpu_mem_init(&mem);
    if (setjmp(mem.out_of_memory)) return 0;
    return loaded = digits_read(&data, xpu_arena_new(&mem, "digits"), &diags);
}

/* How much of the tolerance is used against onnxruntime's logits. */
static double logits_distance(const xpurt_tensor *output, const float *recorded) {
    xpu_tensor got = xpu_from_runtime(output), wanted = got;
    wanted.data = (void *)recorded;
    return xpu_tolerance_used(&got, &wanted);
}

/* Runs images in batches of `batch` and checks classes, and at fp32 the logits. */
static void classify(const char *chip, const char *precision, int64_t images, int64_t batch, float *logits) {
    xpu_device_check check;
    CU_ASSERT_FATAL(load());
    int64_t wrong = 0;
    double used = 0;
    if (!xpu_device_check_compile(&check, "examples/digits/digits.onnx", chip, precision)) CU_FAIL_FATAL("compile");
    for (int64_t i = 0; i < images; i += batch) {
        int64_t n = images - i < batch ? images - i : batch;
        xpurt_tensor input = digits_input(&data, i, n), output;
        if (!xpu_device_check_run(&check, &input, 1, &output)) {
            printf("%s\n", check.message);
            CU_FAIL_FATAL("run");
        }
        const float *got = output.data;
        for (int64_t k = 0; k < n; k++) wrong += digits_class(got + 10 * k) != data.ort_class[i + k];
        if (strcmp(precision, "fp32") == 0) used = fmax(used, logits_distance(&output, data.ort_logits + 10 * i));
        if (logits) memcpy(logits + 10 * i, got, (size_t)(10 * n) * sizeof *got);
        xpurt_tensor_clear(&output);
    }
    CU_ASSERT_EQUAL(wrong, 0);
    CU_ASSERT(used <= 1);
    xpu_device_check_close(&check);
}

static void standard_fp32(void) {
    classify("standard", "fp32", DIGITS, 16, NULL);
}
static void standard_int16(void) {
    classify("standard", "int16", DIGITS, 16, NULL);
}
static void nano_and_pro_int16(void) {
    classify("nano", "int16", 60, 15, NULL);
    classify("pro", "int16", 60, 15, NULL);
}

static void same_on_all_chips(void) {
    static float standard[600], nano[600], pro[600];
    classify("standard", "fp32", 60, 16, standard);
    classify("nano", "fp32", 60, 7, nano);
    classify("pro", "fp32", 60, 16, pro);
    CU_ASSERT(memcmp(standard, nano, sizeof nano) == 0);
    CU_ASSERT(memcmp(standard, pro, sizeof pro) == 0);
}

static void every_layer(void) {
    static const char *const chips[] = {"nano", "standard", "pro"}, *const precisions[] = {"fp32", "int16"};
    CU_ASSERT_FATAL(load());
    for (int c = 0; c < 3; c++) {
        for (int p = 0; p < 2; p++) {
            xpu_device_check check;
            int good = xpu_device_check_compile(&check, "examples/digits/digits.onnx", chips[c], precisions[p]);
            for (int64_t n = 1; good && n <= 16; n += c == 1 ? 1 : 5) {
                xpurt_tensor input = digits_input(&data, n, n), output = {0};
                good = xpu_device_check_layers(&check, &input, 1, &output);
                xpurt_tensor_clear(&output);
            }
            if (!good) printf(" %s %s: %s\n", chips[c], precisions[p], check.message);
            CU_ASSERT(good);
            xpu_device_check_close(&check);
        }
    }
}

static void out_of_range(void) {
    xpu_device_check check;
    CU_ASSERT_FATAL(load());
    CU_ASSERT_FATAL(
        xpu_device_check_compile_shape(&check, "examples/digits/digits.onnx", "standard", "fp32", "x=1..16,1,16,16"));
    xpurt_tensor input = digits_input(&data, 0, 17), output;
    CU_ASSERT_FALSE(xpu_device_check_run(&check, &input, 1, &output));
    CU_ASSERT_PTR_NOT_NULL(strstr(check.message, "[shape-range]"));
    CU_ASSERT_PTR_NOT_NULL(strstr(check.message, "N is 17, the program was compiled for 1..16"));
    xpu_device_check_close(&check);
    xpu_mem_release(&mem);
    xpu_diags_clear(&diags);
}

XPU_TEST_MAIN("digits", {"standard fp32", standard_fp32}, {"standard int16", standard_int16},
              {"nano and pro int16", nano_and_pro_int16}, {"same on all chips", same_on_all_chips},
              {"every layer equals ref", every_layer}, {"batch out of range", out_of_range})
