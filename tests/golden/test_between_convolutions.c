/*
 * What stands between two convolutions on the tensor engine: an activation on the cores begins with the rows that the
 * engine has made, finds the largest magnitude that the next convolution's scale needs, and in front of a depthwise
 * window of float32 becomes part of that. Against a plain formula, and func against rtl and the graph on the host bit
 * for bit.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "tests/gen/devices.h"
#include "tests/golden/drawn_network.h"
#include "tests/unit/network_file.h"
#include "tests/unit/unit.h"

enum { SIDE = 64, IN = 16, MID = 48, OUT = 8, PIXELS = SIDE * SIDE, KERNEL = 3 };

/* What stands between them: the activation alone, or a window behind it or in front of it. */
typedef enum { ACTIVATION, ACTIVATION_WINDOW, WINDOW_ACTIVATION } middle;

static float x[IN * PIXELS], wide[MID * IN], window[MID * KERNEL * KERNEL], narrow[OUT * MID];
static double mid[MID * PIXELS], filtered[MID * PIXELS], expected[OUT * PIXELS];

static void fill(float *to, int count, int seed, float scale) {
    for (int i = 0; i < count; i++) to[i] = (float)((i * 7919 + i / 97 * seed + seed) % 1021 - 510) / 510.0f * scale;
}

/* sums[o] = the sum over c of w[o][c] * in[c], for each pixel */
static void multiply(const float *w, int outputs, int inputs, const double *in, double *sums) {
    for (int o = 0; o < outputs; o++) {
        for (int p = 0; p < PIXELS; p++) {
            double sum = 0;
            for (int c = 0; c < inputs; c++) sum += (double)w[o * inputs + c] * in[c * PIXELS + p];
            sums[o * PIXELS + p] = sum;
        }
    }
}

/* Hard swish behind a convolution in int16 is the engine's, so there the activation is a hard sigmoid. */
static const char *operator_of(middle form) {
    return form == ACTIVATION ? "HardSigmoid" : "HardSwish";
}

static double activated(middle form, double v) {
    return form == ACTIVATION ? fmin(fmax(v / 5 + 0.5, 0), 1) : v * fmin(fmax(v / 6 + 0.5, 0), 1);
}

static void filter(void) {
    for (int c = 0; c < MID; c++) {
        for (int p = 0; p < PIXELS; p++) {
            double sum = 0;
            for (int tap = 0; tap < KERNEL * KERNEL; tap++) {
                int row = p / SIDE + tap / KERNEL - 1, column = p % SIDE + tap % KERNEL - 1;
                if (row < 0 || row >= SIDE || column < 0 || column >= SIDE) continue;
                sum += (double)window[c * KERNEL * KERNEL + tap] * mid[c * PIXELS + row * SIDE + column];
            }
            filtered[c * PIXELS + p] = sum;
        }
    }
}

static void activate(middle form, double *v) {
    for (int i = 0; i < MID * PIXELS; i++) v[i] = activated(form, v[i]);
}

static void compute(middle form) {
    fill(x, IN * PIXELS, 3, 2.0f);
    fill(wide, MID * IN, 5, 0.7f);
    fill(window, MID * KERNEL * KERNEL, 11, 0.5f);
    fill(narrow, OUT * MID, 7, 0.3f);
    for (int i = 0; i < IN * PIXELS; i++) filtered[i] = x[i];
    multiply(wide, MID, IN, filtered, mid);
    if (form != WINDOW_ACTIVATION) activate(form, mid);
    if (form != ACTIVATION) filter();
    if (form == WINDOW_ACTIVATION) activate(form, filtered);
    multiply(narrow, OUT, MID, form == ACTIVATION ? mid : filtered, expected);
}

static void add_conv(xpu_onnx_builder *b, const char *name, const char *from, const char *w, int64_t pad,
                     int64_t group) {
    const int64_t pads[] = {pad, pad, pad, pad};
    XpuOnnx__NodeProto *node = xpu_onnx_node(b, "Conv", name, name, (const char *const[]){from, w, NULL});
    xpu_onnx_ints(b, node, "pads", pads, 4);
    xpu_onnx_int(b, node, "group", group);
}

static const char *write_model(middle form, xpu_arena *arena, xpu_diags *diags) {
    xpu_onnx_builder b;
    xpu_onnx_begin(&b, arena, 14);
    xpu_onnx_input(&b, "x", 4, (const int64_t[]){1, IN, SIDE, SIDE});
    xpu_onnx_initializer(&b, "wide_w", &(xpu_tensor){XPU_F32, 4, {MID, IN, 1, 1}, wide}, 0);
    xpu_onnx_initializer(&b, "window_w", &(xpu_tensor){XPU_F32, 4, {MID, 1, KERNEL, KERNEL}, window}, 0);
    xpu_onnx_initializer(&b, "narrow_w", &(xpu_tensor){XPU_F32, 4, {OUT, MID, 1, 1}, narrow}, 0);
    add_conv(&b, "wide", "x", "wide_w", 0, 1);
    if (form == WINDOW_ACTIVATION) add_conv(&b, "window", "wide", "window_w", 1, MID);
    xpu_onnx_node(&b, operator_of(form), "swish", "swish",
                  (const char *const[]){form == WINDOW_ACTIVATION ? "window" : "wide", NULL});
    if (form == ACTIVATION_WINDOW) add_conv(&b, "window", "swish", "window_w", 1, MID);
    add_conv(&b, "y", form == ACTIVATION_WINDOW ? "window" : "swish", "narrow_w", 0, 1);
    xpu_onnx_output(&b, "y", 4, (const int64_t[]){1, OUT, SIDE, SIDE});
    return write_network_file(&b, "between", xpu_temporary_folder(arena, diags), diags);
}

static const char window_rules[] = "{\"rules\": [{\"match\": \"*\", \"precision\": \"int16\"}, "
                                   "{\"match\": \"window\", \"precision\": \"fp32\"}]}\n";

/* `layer`: the only one on the cores, which takes at most so many cycles behind the convolution. */
static void run(middle form, const char *layer, long most_cycles) {
    xpu_mem mem;
    xpu_diags diags;
    xpu_diags_init(&diags);
    xpu_mem_init(&mem);
    compute(form);
    if (setjmp(mem.out_of_memory)) {
        CU_FAIL("out of memory");
    } else {
        xpu_device_check check;
        xpu_arena *arena = xpu_arena_new(&mem, "test");
        const char *rules = xpu_path_join(arena, xpu_temporary_folder(arena, &diags), "rules.json");
        CU_ASSERT_EQUAL_FATAL(xpu_file_write(arena, rules, window_rules, sizeof window_rules - 1, &diags), XPU_OK);
        CU_ASSERT_FATAL(xpu_device_check_compile(&check, write_model(form, arena, &diags), "standard",
                                                 form == ACTIVATION ? "int16" : rules));
        xpurt_tensor input = {"x", "float32", 4, {1, IN, SIDE, SIDE}, x}, y = {0};
        int good = xpu_device_check_layers(&check, &input, 1, &y);
        CU_ASSERT(good);
        if (!good) printf("%s\n", check.message);
        check_near(y.data, expected, OUT * PIXELS, 2e-4);
        char *stats = xpu_device_check_rtl(&check, &input, 1, y.data, sizeof(float) * OUT * PIXELS);
        CU_ASSERT_PTR_NOT_NULL_FATAL(stats);
        CU_ASSERT_EQUAL(xpu_device_check_cycles(stats, xpu_printf(arena, "%s/absmax", layer), NULL), -1);
        CU_ASSERT_EQUAL(xpu_device_check_cycles(stats, "swish", NULL) == -1, form == ACTIVATION_WINDOW);
        CU_ASSERT_EQUAL(xpu_device_check_cycles(stats, "window", NULL) == -1, form != ACTIVATION_WINDOW);
        long cycles = xpu_device_check_cycles(stats, layer, "core");
        printf("%ld cycles behind %ld; ", cycles, xpu_device_check_cycles(stats, "wide", "tensor"));
        CU_ASSERT(cycles > 0 && cycles <= most_cycles);
        free(stats);
        xpurt_tensor_clear(&y);
        xpu_device_check_close(&check);
    }
    xpu_diags_clear(&diags);
    xpu_mem_release(&mem);
}

static void activation(void) {
    run(ACTIVATION, "swish", 24000);
}

static void activation_and_window(void) {
    run(ACTIVATION_WINDOW, "window", 150000);
}

static void window_and_activation(void) {
    run(WINDOW_ACTIVATION, "swish", 150000);
}

XPU_TEST_MAIN("between convolutions", {"activation", activation}, {"activation and window", activation_and_window},
              {"window and activation", window_and_activation})
