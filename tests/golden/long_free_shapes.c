/*
 * Free shapes: 20 networks and ten quantised ones at ten sizes each (free_shapes.h), and MobileNetV2, float and
 * quantised, with free height and width, in a range and with ranges beyond memory: every size gives the bytes of a
 * program for that size. Those models are in ../shared (XPU_SHARED); without it their test is skipped.
 */
#include "tests/golden/free_shapes.h"

enum { MOST_SIDE = 224, SIDES = 3 };

static void all(void) {
    run_networks(20, 0, 10);
}
static void quantised_networks(void) {
    run_networks(10, 1, 10);
}

/* The program's output for noise of this size, malloc'd, or NULL. */
static float *run_side(xpu_device_check *check, const float *noise, int64_t height, int64_t width) {
    xpurt_tensor input = {"input", "float32", 4, {1, 3, height, width}, (void *)(uintptr_t)noise}, output;
    if (xpu_device_check_run(check, &input, 1, &output)) return output.data;
    printf("%d x %d: %s\n", (int)height, (int)width, check->message);
    return NULL;
}

static void run_mobilenet(const char *model, const char *precision, const char *free_shape, const float *noise) {
    static const int sides[SIDES][2] = {{32, 32}, {97, 131}, {MOST_SIDE, MOST_SIDE}};
    xpu_device_check check, fixed;
    CU_ASSERT_FATAL(xpu_device_check_compile_shape(&check, model, "standard", precision, free_shape));
    for (int i = 0; i < SIDES; i++) {
        char shape[64];
        int height = sides[i][0], width = sides[i][1];
        snprintf(shape, sizeof shape, "input=1,3,%d,%d", height, width);
        CU_ASSERT_FATAL(xpu_device_check_compile_shape(&fixed, model, "standard", precision, shape));
        float *got = run_side(&check, noise, height, width), *wanted = run_side(&fixed, noise, height, width);
        CU_ASSERT(got && wanted && memcmp(got, wanted, 1000 * sizeof *got) == 0);
        free(got);
        free(wanted);
        xpu_device_check_close(&fixed);
    }
    xpu_device_check_close(&check);
}

static void mobilenet(void) {
    const char *shared = getenv("XPU_SHARED");
    if (!shared) {
        printf("\nskipped: mobilenet_v2 needs ../shared\n");
        return;
    }
    char model[4096], quantised[4096];
    static float noise[3 * MOST_SIDE * MOST_SIDE];
    random_source random = {.state = 1};
    snprintf(model, sizeof model, "%s/models/onnx/mobilenet_v2_fp32.onnx", shared);
    snprintf(quantised, sizeof quantised, "%s/models/onnx/mobilenet_v2_qdq.onnx", shared);
    for (int i = 0; i < 3 * MOST_SIDE * MOST_SIDE; i++) noise[i] = (float)random_range(&random, -2000, 2000) / 1000;
    run_mobilenet(model, "auto", "input=1,3,H=1..256,W=1..256", noise);
    run_mobilenet(model, "fp32", "input=1,3,H=1..100000,W=1..100000", noise);
    run_mobilenet(model, "auto", "input=1,3,H=1..100000,W=1..100000", noise);
    run_mobilenet(quantised, "auto", "input=1,3,H=1..256,W=1..256", noise);
    run_mobilenet(quantised, "auto", "input=1,3,H=1..100000,W=1..100000", noise);
}

XPU_TEST_MAIN("free shapes", {"20 networks, 10 sizes", all}, {"10 quantised networks, 10 sizes", quantised_networks},
              {"mobilenet_v2", mobilenet})
