/* Depthwise convolution in float32 on the cores: fma in (kh, kw) order from the bias. */
#include "xpu_runtime/kernels/epilogue.h"
#include "xpu_runtime/kernels/window.h"

static uint32_t padded_channels(const struct window *w) {
    return ((uint32_t)w->channels + 15) / 16 * 16;
}

static void depthwise_start(const struct window *w, const struct window_task *t, size_t vl) {
    const struct xpu_depthwise_f32_args *a = w->args;
    vfloat32m4_t start = __riscv_vfmv_v_f_f32m4(0.0f, vl);
    if (a->bias) {
        xpu_wait(GM2LM(w->more, a->bias + 4 * t->channel, 4 * t->channels));
        start = __riscv_vle32_v_f32m4(w->more, vl);
    }
    for (uint32_t pixel = 0; pixel < t->pixels; pixel++) __riscv_vse32_v_f32m4(w->acc + pixel * w->block, start, vl);
}

static xpu_ticket depthwise_load(const struct window *w, const struct window_task *t, uint32_t kh, uint32_t kw,
                                 uint32_t taps, float *extra) {
    const struct xpu_depthwise_f32_args *a = w->args;
    uint32_t pad = padded_channels(w), tap = kh * (uint32_t)a->kernel_w + kw;
    return xpu_load_2d(extra, (int32_t)(4 * w->block), a->w + 4 * (tap * pad + t->channel), (int32_t)(4 * pad),
                       4 * t->channels, taps);
}

static void depthwise_tap(const struct window *w, const struct window_task *t, const float *x, uint32_t pitch,
                          uint32_t low, uint32_t high, const float *weights, size_t vl) {
    (void)t;
    vfloat32m4_t factor = __riscv_vle32_v_f32m4(weights, vl);
    for (uint32_t pixel = low; pixel < high; pixel++) {
        float *acc = w->acc + pixel * w->block;
        vfloat32m4_t sum = __riscv_vle32_v_f32m4(acc, vl);
        sum = __riscv_vfmacc_vv_f32m4(sum, __riscv_vle32_v_f32m4(x + pixel * pitch, vl), factor, vl);
        __riscv_vse32_v_f32m4(acc, sum, vl);
    }
}

static void depthwise_finish(const struct window *w, const struct window_task *t, size_t vl) {
    (void)vl;
    const struct xpu_depthwise_f32_args *a = w->args;
    const struct epilogue e = EPILOGUE_OF(a);
    uint32_t pixel = (t->image * (uint32_t)w->out_h + t->row) * (uint32_t)w->out_w + t->first_pixel;
    uint32_t offset = 4 * (pixel * (uint32_t)w->channels + t->channel);
    int32_t pitch = 4 * w->channels, lm_pitch = (int32_t)(4 * w->block);
    if (a->branch) xpu_wait(xpu_load_2d(w->more, lm_pitch, a->branch + offset, pitch, 4 * t->channels, t->pixels));
    for (uint32_t i = 0; i < t->pixels; i++) {
        apply_epilogue(w->acc + i * w->block, a->branch ? w->more + i * w->block : 0, t->channels, &e);
    }
    xpu_wait(xpu_store_2d(a->y + offset, pitch, w->acc, lm_pitch, 4 * t->channels, t->pixels));
}

static void depthwise_share(const void *args, uint32_t core, uint32_t cores) {
    static const struct window_actions actions = {depthwise_start, depthwise_load, depthwise_tap, depthwise_finish};
    const struct xpu_depthwise_f32_args a = *(const struct xpu_depthwise_f32_args *)args;
    struct window w = {
        .x = a.x,
        .batch = a.batch,
        .in_h = a.in_h,
        .in_w = a.in_w,
        .channels = a.in_c,
        .out_h = a.out_h,
        .out_w = a.out_w,
        .kernel_h = a.kernel_h,
        .kernel_w = a.kernel_w,
        .stride_h = a.stride_h,
        .stride_w = a.stride_w,
        .dilation_h = a.dilation_h,
        .dilation_w = a.dilation_w,
        .pad_top = a.pad_top,
        .pad_left = a.pad_left,
        .actions = &actions,
        .args = &a,
        .rows_of_result = 1,
        .has_extra = 1,
    };
    window_run(&w, core, cores);
}

xpu_ticket xpu_depthwise_f32(const struct xpu_depthwise_f32_args *args, uint32_t layer, xpu_ticket after) {
    return xpu_run_on_cores(depthwise_share, args, layer, after);
}
