/* Product of two computed matrices: a 1x1 window over images of one row of m pixels, each with weights of its own. */
#include "xpu_runtime/kernels/matrix_rows.h"
#include "xpu_runtime/kernels/window.h"

static __attribute__((noinline)) void few_rows(const struct xpu_matmul_f32_args *a, uint32_t core, uint32_t cores) {
    const struct rows r = {
        .x = a->a,
        .w = a->b,
        .bias = a->bias,
        .branch = a->branch,
        .y = a->y,
        .images = (uint32_t)a->batch,
        .m = (uint32_t)a->m,
        .k = (uint32_t)a->k,
        .n = (uint32_t)a->n,
        .x_image = (uint32_t)a->a_batch_stride,
        .w_image = (uint32_t)a->b_batch_stride,
        .w_pitch = (uint32_t)a->n,
        .w_transposed = a->b_transposed,
        .epilogue = EPILOGUE_OF(a),
    };
    rows_run(&r, core, cores);
}

static void matmul_share(const void *args, uint32_t core, uint32_t cores) {
    const struct xpu_matmul_f32_args a = *(const struct xpu_matmul_f32_args *)args;
    if (a.m <= XPU_FEW_ROWS) {
        few_rows(&a, core, cores);
        return;
    }
    struct window w = {
        .x = a.a,
        .w = a.b,
        .bias = a.bias,
        .branch = a.branch,
        .y = a.y,
        .batch = a.batch,
        .in_h = 1,
        .in_w = a.m,
        .in_c = a.k,
        .out_h = 1,
        .out_w = a.m,
        .out_c = a.n,
        .kernel_h = 1,
        .kernel_w = 1,
        .stride_h = 1,
        .stride_w = 1,
        .dilation_h = 1,
        .dilation_w = 1,
        .groups = 1,
        .x_image = (uint32_t)a.a_batch_stride,
        .y_pixel = (uint32_t)a.n,
        .w_pitch = (uint32_t)a.n,
        .w_image = (uint32_t)a.b_batch_stride,
        .taps_together = 1,
        .is_product = 1,
        .epilogue = EPILOGUE_OF(&a),
        .multiply = window_multiply,
    };
    window_run(&w, core, cores);
}

xpu_ticket xpu_matmul_f32(const struct xpu_matmul_f32_args *args, uint32_t layer, xpu_ticket after) {
    return xpu_run_on_cores(matmul_share, args, layer, after);
}
