/*
 * Lists of descriptors of a program of free shapes: made when a run binds the shape, so that core 0 has no more to do
 * than in a program of that shape; where a layer would need more than lists may have, core 0 makes its descriptors.
 * Results are those of ref, and rtl's those of func, at both.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "tests/gen/devices.h"
#include "tests/gen/onnx_build.h"
#include "tests/unit/ir.h"
#include "tests/unit/network_file.h"
#include "tests/unit/unit.h"

enum { CHANNELS = 2, LARGE = 1900 };

static float x[CHANNELS * LARGE * LARGE];

/* Two convolutions of 3 x 3. */
static const char *write_model(xpu_arena *arena, xpu_diags *diags) {
    static float w[CHANNELS * CHANNELS * 9];
    const int64_t image[] = {1, CHANNELS, 1, 1};
    xpu_onnx_builder b;
    for (size_t i = 0; i < sizeof w / sizeof *w; i++) w[i] = (float)(i % 11) - 5;
    xpu_onnx_begin(&b, arena, 13);
    xpu_onnx_input(&b, "x", 4, image);
    xpu_onnx_initializer(&b, "w", &(xpu_tensor){XPU_F32, 4, {CHANNELS, CHANNELS, 3, 3}, w}, 0);
    for (int i = 0; i < 2; i++) {
        const char *from = i ? "z" : "x", *to = i ? "y" : "z";
        XpuOnnx__NodeProto *conv = xpu_onnx_node(&b, "Conv", to, to, (const char *const[]){from, "w", NULL});
        xpu_onnx_ints(&b, conv, "pads", (const int64_t[]){1, 1, 1, 1}, 4);
    }
    xpu_onnx_output(&b, "y", 4, image);
    return write_network_file(&b, "free", xpu_temporary_folder(arena, diags), diags);
}

static double number_of(const char *stats, const char *key) {
    const char *at = strstr(stats, key);
    return at ? strtod(at + strlen(key), NULL) : 0;
}

/* Instructions of core 0 for a descriptor on rtl at an image of side x side; 0: something is wrong. */
static double instructions(xpu_device_check *check, int64_t side) {
    xpurt_tensor input = {"x", "float32", 4, {1, CHANNELS, side, side}, x}, y = {0};
    char *stats = NULL;
    if (xpu_device_check_layers(check, &input, 1, &y))
        stats = xpu_device_check_rtl(check, &input, 1, y.data, sizeof(float) * CHANNELS * (size_t)(side * side));
    if (!stats) printf("%d: %s\n", (int)side, check->message);
    const double each = stats ? number_of(stats, "\"instructions\": ") / number_of(stats, "\"descriptors\": ") : 0;
    free(stats);
    xpurt_tensor_clear(&y);
    return each;
}

static double compile_and_count(const char *model, const char *shape, int64_t side) {
    xpu_device_check check;
    double each = 0;
    if (xpu_device_check_compile_shape(&check, model, "standard", "int16", shape))
        each = instructions(&check, side);
    else
        printf("%s: %s\n", shape, check.message);
    xpu_device_check_close(&check);
    return each;
}

static void both_kinds(void) {
    static const char any[] = "x=1,2,H=16..2048,W=16..2048";
    BENCH_OPEN(b);
    for (size_t i = 0; i < sizeof x / sizeof *x; i++) x[i] = (float)(i * 7919 % 2001) / 1000 - 1;
    const char *model = write_model(b.arena, &b.diags);
    const double fixed = compile_and_count(model, "x=1,2,96,96", 96), bound = compile_and_count(model, any, 96),
                 large = compile_and_count(model, any, LARGE);
    printf("instructions a descriptor: %.1f of one shape, %.1f bound, %.1f without lists\n", fixed, bound, large);
    CU_ASSERT(fixed > 0 && large > 0);
    CU_ASSERT(bound < fixed + 7); /* a few more for each, whatever the others take */
    CU_ASSERT(large > 2 * bound);
    bench_close(&b);
}

XPU_TEST_MAIN("lists of free shapes", {"with lists and without", both_kinds})
