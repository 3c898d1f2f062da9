/* Convolution in float32 on the cores. */
#include "xpu_runtime/kernels/matrix_rows.h"
#include "xpu_runtime/kernels/window.h"

/* Whether it is a product of a few rows by a matrix, with rows side by side. */
static int is_few_rows(const struct xpu_conv2d_f32_args *a) {
    return a->kernel_h == 1 && a->kernel_w == 1 && a->groups == 1 && a->out_w <= XPU_FEW_ROWS &&
           a->batch * a->out_h * a->out_w <= XPU_FEW_ROWS && a->in_h == a->out_h && a->in_w == a->out_w &&
           a->pad_top == 0 && a->pad_left == 0 && a->y_pixel == a->out_c;
}

static __attribute__((noinline)) void few_rows(const struct xpu_conv2d_f32_args *a, uint32_t core, uint32_t cores) {
    const struct rows r = {
        .x = a->x,
        .w = a->w,
        .bias = a->bias,
        .branch = a->branch,
        .y = a->y,
        .y_absmax = a->y_absmax,
        .images = 1,
        .m = (uint32_t)(a->batch * a->out_h * a->out_w),
        .k = (uint32_t)a->in_c,
        .n = (uint32_t)a->out_c,
        .w_pitch = round_up((uint32_t)a->out_c, 16),
        .epilogue = EPILOGUE_OF(a),
    };
    rows_run(&r, core, cores);
}

/* A 1x1 window that moves by single pixels over all of the image sees one long row. */
static void flatten(struct window *w) {
    int same = w->in_h == w->out_h && w->in_w == w->out_w && w->pad_top == 0 && w->pad_left == 0;
    if (!same || w->kernel_h != 1 || w->kernel_w != 1 || w->stride_h != 1 || w->stride_w != 1) return;
    w->in_w = w->out_w = w->batch * w->in_h * w->in_w;
    w->batch = w->in_h = w->out_h = 1;
}

static void conv2d_share(const void *args, uint32_t core, uint32_t cores) {
    const struct xpu_conv2d_f32_args a = *(const struct xpu_conv2d_f32_args *)args;
    if (is_few_rows(&a)) {
        few_rows(&a, core, cores);
        return;
    }
    struct window w = {
        WINDOW_GEOMETRY(&a),
        .w = a.w,
        .bias = a.bias,
        .branch = a.branch,
        .y_absmax = a.y_absmax,
        .out_c = a.out_c,
        .w_pitch = (uint32_t)(a.out_c / a.groups + 15) / 16 * 16,
        .taps_together = a.dilation_w == 1 ? (uint32_t)a.kernel_w : 1,
        .is_product = 1,
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
