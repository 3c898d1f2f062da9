/*
 * Depthwise convolution in float32 on the cores: fma in (kh, kw) order, padded taps skipped, then the bias. Windows of
 * three and five columns go in strips (matrix_depthwise_strips.h), others the general way of window.h.
 */
#include <stddef.h>

#define WIDTH       3
#define MOST_HEIGHT 3
#include "xpu_runtime/kernels/matrix_depthwise_strips.h"

int depthwise_wide_strips(const struct xpu_depthwise_f32_args *a, const float *c, uint32_t core, uint32_t cores);

enum { IMMEDIATES = 16 };

/* ---- the general way ---- */

/* One tap, or none. */
static void multiply(const struct window *w, const struct window_run *run, size_t vl) {
    const uint32_t block = w->block, taps = run->taps, pitch = run->pitch, fresh = run->ends.fresh;
    const float *x = run->x, *bias = run->ends.bias;
    vfloat32m4_t factor = __riscv_vundefined_f32m4();
    if (taps > 0) factor = __riscv_vle32_v_f32m4(run->w, vl);
    float *acc = run->acc;
    for (uint32_t left = run->pixels; left > 0; left--, acc += block, x += pitch) {
        vfloat32m4_t sum = begin_sum(acc, fresh, vl);
        if (taps > 0) sum = __riscv_vfmacc_vv_f32m4(sum, __riscv_vle32_v_f32m4(x, vl), factor, vl);
        __riscv_vse32_v_f32m4(acc, end_sum(sum, bias, vl), vl);
    }
}

static void run_windows(const struct xpu_depthwise_f32_args *a, uint32_t core, uint32_t cores) {
    struct window w = {
        WINDOW_GEOMETRY(a),      .w = a->w,
        .bias = a->bias,         .branch = a->branch,
        .y_absmax = a->y_absmax, .out_c = a->in_c,
        .channelwise = 1,        .w_pitch = (uint32_t)(a->in_c + 15) / 16 * 16,
        .taps_together = 1,      .epilogue = EPILOGUE_OF(a),
        .multiply = multiply,    .is_product = 1,
    };
    window_run(&w, core, cores);
}

/* Of both kernels: c stands behind the words that they have in common. */
static void depthwise_share(const void *args, uint32_t core, uint32_t cores) {
    struct xpu_depthwise_f32_args a;
    copy_words(&a, args, sizeof a / 4);
    const struct xpu_progress *p = xpu_call_progress();
    const int has_body = xpu_call_body() != 0;
    float own[IMMEDIATES], *c = has_body ? own : 0;
    if (has_body) copy_words(own, ((const struct xpu_depthwise_chain_f32_args *)args)->c, IMMEDIATES);
    if (run_in_strips(&a, c, core, cores) || depthwise_wide_strips(&a, c, core, cores)) return;
    if (has_body || a.activation == (int32_t)XPU_ACT_HARD_SWISH) xpu_abort(ABORT_LOCAL_MEMORY);
    if (p->counter != XPU_NO_COUNTER)
        xpu_wait((xpu_ticket){p->counter, p->base + p->signals * p->steps * (uint32_t)a.batch});
    run_windows(&a, core, cores);
}

static xpu_ticket run(const struct xpu_depthwise_f32_args *args, xpu_chain_body body, uint32_t layer,
                      xpu_ticket after) {
    struct xpu_progress progress;
    int by_rows = args->late_share >= 0 && core_num() > 1 && xpu_find_progress(layer - 1, args->x, &progress);
    if (by_rows) return xpu_run_on_cores_behind(depthwise_share, args, body, layer, after, &progress);
    return xpu_run_on_cores_with(depthwise_share, args, body, layer, after);
}

xpu_ticket xpu_depthwise_f32(const struct xpu_depthwise_f32_args *args, uint32_t layer, xpu_ticket after) {
    return run(args, 0, layer, after);
}

xpu_ticket xpu_depthwise_chain_f32(const struct xpu_depthwise_chain_f32_args *args, xpu_chain_body body, uint32_t layer,
                                   xpu_ticket after) {
    _Static_assert(offsetof(struct xpu_depthwise_chain_f32_args, c) == sizeof(struct xpu_depthwise_f32_args),
                   "the words of depthwise_f32 come first");
    return run((const struct xpu_depthwise_f32_args *)args, body, layer, after);
}
