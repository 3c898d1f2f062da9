/* Product of two computed matrices: for each batch a 1x1 convolution whose image is one row of m pixels. */
#include "xpu_runtime/kernels/conv2d_f32.h"

static void matmul_share(const void *args, uint32_t core, uint32_t cores) {
    const struct xpu_matmul_f32_args a = *(const struct xpu_matmul_f32_args *)args;
    struct xpu_conv2d_f32_args one = {
        .bias = a.bias,
        .batch = 1,
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
        .activation = a.activation,
        .low = a.low,
        .high = a.high,
        .alpha = a.alpha,
        .branch_after = a.branch_after,
    };
    uint32_t result_bytes = 4 * (uint32_t)(a.m * a.n);
    for (uint32_t i = 0; i < (uint32_t)a.batch; i++) {
        one.x = a.a + 4 * i * (uint32_t)a.a_batch_stride;
        one.w = a.b + 4 * i * (uint32_t)a.b_batch_stride;
        one.y = a.y + i * result_bytes;
        one.branch = a.branch ? a.branch + i * result_bytes : 0;
        conv2d_f32_part(&one, (uint32_t)a.n, core, cores);
    }
}

xpu_ticket xpu_matmul_f32(const struct xpu_matmul_f32_args *args, uint32_t layer, xpu_ticket after) {
    return xpu_run_on_cores(matmul_share, args, layer, after);
}
