/* Max and average pooling in float32 on the cores. */
#include "xpu_runtime/kernels/window.h"

enum { AT_ONCE = 3 };

static vfloat32m4_t load(const float *x, size_t vl) {
    return __riscv_vle32_v_f32m4(x, vl);
}

/* acc = op(op(op(acc, x[tap 0]), x[tap 1]), ..) for each pixel. */
#define POOL_RUN(op)                                                                                                   \
    float *acc = run->acc;                                                                                             \
    const float *x = run->x;                                                                                           \
    for (uint32_t left = run->pixels; left > 0; left--, acc += w->block, x += run->pitch) {                            \
        vfloat32m4_t now = op(load(acc, vl), load(x, vl), vl);                                                         \
        if (run->taps > 1) now = op(now, load(x + run->tap_pitch, vl), vl);                                            \
        if (run->taps > 2) now = op(now, load(x + 2 * run->tap_pitch, vl), vl);                                        \
        __riscv_vse32_v_f32m4(acc, now, vl);                                                                           \
    }

static void pool_max(const struct window *w, const struct window_run *run, size_t vl) {
    POOL_RUN(xv_max)
}

static void pool_sum(const struct window *w, const struct window_run *run, size_t vl) {
    POOL_RUN(xv_add)
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

static void pool_average(const struct window *w, const struct window_task *t, float *acc) {
    const struct xpu_pool_f32_args *a = w->args;
    int32_t pad = a->count_include_pad;
    int32_t rows = count_taps((int32_t)t->row * a->stride_h - a->pad_top, a->kernel_h, a->dilation_h,
                              pad ? -a->pad_top : 0, a->in_h + (pad ? a->pad_bottom : 0));
    for (uint32_t i = 0; i < t->pixels; i++, acc += w->block) {
        int32_t columns = count_taps((int32_t)(t->first_pixel + i) * a->stride_w - a->pad_left, a->kernel_w,
                                     a->dilation_w, pad ? -a->pad_left : 0, a->in_w + (pad ? a->pad_right : 0));
        for (uint32_t c = 0; c < t->channels;) {
            size_t vl = __riscv_vsetvl_e32m4(t->channels - c);
            __riscv_vse32_v_f32m4(acc + c, __riscv_vfdiv_vf_f32m4(load(acc + c, vl), (float)(rows * columns), vl), vl);
            c += (uint32_t)vl;
        }
    }
}

static void pool_share(const void *args, uint32_t core, uint32_t cores) {
    const struct xpu_pool_f32_args a = *(const struct xpu_pool_f32_args *)args;
    struct window w = {
        WINDOW_GEOMETRY(&a),
        .out_c = a.in_c,
        .channelwise = 1,
        .taps_together = AT_ONCE,
        .by_columns = (uint32_t)a.by_columns,
        .start = a.is_max ? -__builtin_inff() : 0.0f,
        .multiply = a.is_max ? pool_max : pool_sum,
        .finish = a.is_max ? 0 : pool_average,
    };
    window_run(&w, core, cores);
}

xpu_ticket xpu_pool_f32(const struct xpu_pool_f32_args *args, uint32_t layer, xpu_ticket after) {
    return xpu_run_on_cores(pool_share, args, layer, after);
}
