/* The largest magnitude of a tensor: each core takes a part. */
#include "xpu_runtime/kernels/findmax.h"

static void absmax_share(const void *args, uint32_t core, uint32_t cores) {
    const struct xpu_absmax_f32_args a = *(const struct xpu_absmax_f32_args *)args;
    uint32_t available, first, last;
    float *lm = lm_floats(&available);
    uint32_t *lanes = (uint32_t *)lm;
    lm += FINDMAX_LANES;
    uint32_t block = round_down((available - FINDMAX_LANES) / 2, FINDMAX_LANES);
    findmax_begin(lanes);
    partition(core, cores, (uint32_t)a.count, 16, &first, &last);
    xpu_ticket loaded = {XPU_COUNTER_CALL, 0};
    if (first < last) loaded = GM2LM(lm, a.x + 4 * first, 4 * min_u32(block, last - first));
    for (uint32_t half = 0; first < last; half ^= 1) {
        uint32_t n = min_u32(block, last - first), next = first + n;
        xpu_ticket ready = loaded;
        if (next < last) loaded = GM2LM(lm + (half ^ 1) * block, a.x + 4 * next, 4 * min_u32(block, last - next));
        xpu_wait(ready);
        findmax_dense(lanes, lm + half * block, n);
        first = next;
    }
    findmax_end(lanes, a.y, core, cores);
}

xpu_ticket xpu_absmax_f32(const struct xpu_absmax_f32_args *args, uint32_t layer, xpu_ticket after) {
    return xpu_run_on_cores(absmax_share, args, layer, after);
}
