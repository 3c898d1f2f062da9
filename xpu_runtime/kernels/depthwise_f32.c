/* Depthwise convolution in float32 on the cores: fma in (kh, kw) order from the bias. */
#include "xpu_runtime/kernels/window.h"

enum { AT_ONCE = 3 };

static void multiply_three(const struct window *w, const struct window_run *run, size_t vl) {
    vfloat32m4_t w0 = __riscv_vle32_v_f32m4(run->w, vl);
    vfloat32m4_t w1 = __riscv_vle32_v_f32m4(run->w + w->block, vl);
    vfloat32m4_t w2 = __riscv_vle32_v_f32m4(run->w + 2 * w->block, vl);
    const float *x = run->x, *x1 = x + run->tap_pitch, *x2 = x1 + run->tap_pitch;
    float *acc = run->acc;
    for (uint32_t left = run->pixels, pitch = run->pitch, block = w->block; left > 0; left--, acc += block) {
        vfloat32m4_t sum = __riscv_vle32_v_f32m4(acc, vl);
        sum = __riscv_vfmacc_vv_f32m4(sum, __riscv_vle32_v_f32m4(x, vl), w0, vl);
        sum = __riscv_vfmacc_vv_f32m4(sum, __riscv_vle32_v_f32m4(x1, vl), w1, vl);
        sum = __riscv_vfmacc_vv_f32m4(sum, __riscv_vle32_v_f32m4(x2, vl), w2, vl);
        __riscv_vse32_v_f32m4(acc, sum, vl);
        x += pitch, x1 += pitch, x2 += pitch;
    }
}

static void multiply_one(const struct window *w, const struct window_run *run, uint32_t tap, size_t vl) {
    vfloat32m4_t factor = __riscv_vle32_v_f32m4(run->w + tap * w->block, vl);
    const float *x = run->x + tap * run->tap_pitch;
    float *acc = run->acc;
    for (uint32_t left = run->pixels, pitch = run->pitch, block = w->block; left > 0; left--, acc += block) {
        vfloat32m4_t sum = __riscv_vle32_v_f32m4(acc, vl);
        sum = __riscv_vfmacc_vv_f32m4(sum, __riscv_vle32_v_f32m4(x, vl), factor, vl);
        __riscv_vse32_v_f32m4(acc, sum, vl);
        x += pitch;
    }
}

static void depthwise_multiply(const struct window *w, const struct window_run *run, size_t vl) {
    if (run->taps == AT_ONCE) {
        multiply_three(w, run, vl);
        return;
    }
    for (uint32_t tap = 0; tap < run->taps; tap++) multiply_one(w, run, tap, vl);
}

static void depthwise_share(const void *args, uint32_t core, uint32_t cores) {
    const struct xpu_depthwise_f32_args a = *(const struct xpu_depthwise_f32_args *)args;
    struct window w = {
        WINDOW_GEOMETRY(&a),
        .w = a.w,
        .bias = a.bias,
        .branch = a.branch,
        .out_c = a.in_c,
        .channelwise = 1,
        .w_pitch = (uint32_t)(a.in_c + 15) / 16 * 16,
        .taps_together = AT_ONCE,
        .epilogue = EPILOGUE_OF(&a),
        .multiply = depthwise_multiply,
    };
    window_run(&w, core, cores);
}

xpu_ticket xpu_depthwise_f32(const struct xpu_depthwise_f32_args *args, uint32_t layer, xpu_ticket after) {
    return xpu_run_on_cores(depthwise_share, args, layer, after);
}
