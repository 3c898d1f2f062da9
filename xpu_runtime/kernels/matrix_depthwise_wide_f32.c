/* Depthwise windows of five columns in strips. */
#define WIDTH       5
#define MOST_HEIGHT 5
#include "xpu_runtime/kernels/matrix_depthwise_strips.h"

int depthwise_wide_strips(const struct xpu_depthwise_f32_args *a, const float *c, uint32_t core, uint32_t cores);
int depthwise_wide_strips(const struct xpu_depthwise_f32_args *a, const float *c, uint32_t core, uint32_t cores) {
    return run_in_strips(a, c, core, cores);
}
