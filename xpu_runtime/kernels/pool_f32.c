/* Max and average pooling in float32 on the cores. */
#include "core/arith_rvv.h"
#include "xpu_runtime/kernels/window.h"

static void pool_start(const struct window *w, const struct window_task *t, size_t vl) {
    const struct xpu_pool_f32_args *a = w->args;
    vfloat32m4_t start = __riscv_vfmv_v_f_f32m4(a->is_max ? -__builtin_inff() : 0.0f, vl);
    for (uint32_t pixel = 0; pixel < t->pixels; pixel++) __riscv_vse32_v_f32m4(w->acc + pixel * w->block, start, vl);
}

static void pool_tap(const struct window *w, const struct window_task *t, const float *x, uint32_t pitch, uint32_t low,
                     uint32_t high, const float *extra, size_t vl) {
    (void)t, (void)extra;
    const struct xpu_pool_f32_args *a = w->args;
    for (uint32_t pixel = low; pixel < high; pixel++) {
        float *acc = w->acc + pixel * w->block;
        vfloat32m4_t now = __riscv_vle32_v_f32m4(acc, vl), in = __riscv_vle32_v_f32m4(x + pixel * pitch, vl);
        now = a->is_max ? xv_max(now, in, vl) : __riscv_vfadd_vv_f32m4(now, in, vl);
        __riscv_vse32_v_f32m4(acc, now, vl);
    }
}

/* Taps of one direction that count for the average: those inside the input, or inside the padded input. */
static int32_t count_taps(int32_t first, int32_t taps, int32_t dilation, int32_t low, int32_t high) {
    int32_t count = 0;
    for (int32_t i = 0; i < taps; i++) {
        int32_t at = first + i * dilation;
        count += at >= low && at < high;
    }
    return count;
}

static void pool_average(const struct window *w, const struct window_task *t, size_t vl) {
    const struct xpu_pool_f32_args *a = w->args;
    int32_t pad = a->count_include_pad;
    int32_t rows = count_taps((int32_t)t->row * a->stride_h - a->pad_top, a->kernel_h, a->dilation_h,
                              pad ? -a->pad_top : 0, a->in_h + (pad ? a->pad_bottom : 0));
    for (uint32_t i = 0; i < t->pixels; i++) {
        int32_t columns = count_taps((int32_t)(t->first_pixel + i) * a->stride_w - a->pad_left, a->kernel_w,
                                     a->dilation_w, pad ? -a->pad_left : 0, a->in_w + (pad ? a->pad_right : 0));
        float *acc = w->acc + i * w->block;
        vfloat32m4_t sum = __riscv_vle32_v_f32m4(acc, vl);
        __riscv_vse32_v_f32m4(acc, __riscv_vfdiv_vf_f32m4(sum, (float)(rows * columns), vl), vl);
    }
}

static void pool_finish(const struct window *w, const struct window_task *t, size_t vl) {
    const struct xpu_pool_f32_args *a = w->args;
    if (!a->is_max) pool_average(w, t, vl);
    uint32_t pixel = (t->image * (uint32_t)w->out_h + t->row) * (uint32_t)w->out_w + t->first_pixel;
    xpu_wait(xpu_store_2d(a->y + 4 * (pixel * (uint32_t)w->channels + t->channel), 4 * w->channels, w->acc,
                          (int32_t)(4 * w->block), 4 * t->channels, t->pixels));
}

static void pool_share(const void *args, uint32_t core, uint32_t cores) {
    static const struct window_actions actions = {pool_start, 0, pool_tap, pool_finish};
    const struct xpu_pool_f32_args a = *(const struct xpu_pool_f32_args *)args;
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
    };
    window_run(&w, core, cores);
}

xpu_ticket xpu_pool_f32(const struct xpu_pool_f32_args *args, uint32_t layer, xpu_ticket after) {
    return xpu_run_on_cores(pool_share, args, layer, after);
}
