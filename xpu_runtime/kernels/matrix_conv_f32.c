/* Convolution in float32 on the cores. */
#include "xpu_runtime/kernels/window.h"

/* A 1x1 window that moves by single pixels over all of the image sees one long row. */
static void flatten(struct window *w) {
    int same = w->in_h == w->out_h && w->in_w == w->out_w && w->pad_top == 0 && w->pad_left == 0;
    if (!same || w->kernel_h != 1 || w->kernel_w != 1 || w->stride_h != 1 || w->stride_w != 1) return;
    w->in_w = w->out_w = w->batch * w->in_h * w->in_w;
    w->batch = w->in_h = w->out_h = 1;
}

static void conv2d_share(const void *args, uint32_t core, uint32_t cores) {
    const struct xpu_conv2d_f32_args a = *(const struct xpu_conv2d_f32_args *)args;
    struct window w = {
        WINDOW_GEOMETRY(&a),
        .w = a.w,
        .bias = a.bias,
        .branch = a.branch,
        .y_absmax = a.y_absmax,
        .out_c = a.out_c,
        .w_pitch = (uint32_t)(a.out_c / a.groups + 15) / 16 * 16,
        .taps_together = a.dilation_w == 1 ? (uint32_t)a.kernel_w : 1,
        .epilogue = EPILOGUE_OF(&a),
        .multiply = window_multiply,
    };
    w.groups = (uint32_t)a.groups;
    flatten(&w);
    window_run(&w, core, cores);
}

xpu_ticket xpu_conv2d_f32(const struct xpu_conv2d_f32_args *args, uint32_t layer, xpu_ticket after) {
    return xpu_run_on_cores(conv2d_share, args, layer, after);
}
