/* Numbers by chance: each core computes those of its part of the elements. */
#include "core/arith_pick.h"
#include "xpu_runtime/kernels/common.h"

enum { BLOCK = 256 };

static void random_share(const void *args, uint32_t core, uint32_t cores) {
    const struct xpu_random_args a = *(const struct xpu_random_args *)args;
    const xpu_ticket none = {XPU_COUNTER_CALL, 0};
    uint32_t available, first, last, half = 0;
    float *lm = lm_floats(&available);
    xpu_ticket stored[2] = {none, none};
    partition(core, cores, (uint32_t)a.count, 4, &first, &last);
    for (uint32_t at = first, n; at < last; at += n, half ^= 1) {
        float *block = lm + half * BLOCK;
        n = min_u32(BLOCK, last - at);
        xpu_wait(stored[half]);
        for (uint32_t i = 0; i < n; i += 4) {
            const xa_random_words words = xa_philox((at + i) / 4, (uint32_t)a.seed, (uint32_t)a.stream);
            for (uint32_t k = 0; k < 4; k++) block[i + k] = xa_uniform(words.word[k]);
        }
        mfence();
        stored[half] = LM2GM(a.y + at * 4, block, n * 4);
    }
}

xpu_ticket xpu_random(const struct xpu_random_args *args, uint32_t layer, xpu_ticket after) {
    return xpu_run_on_cores(random_share, args, layer, after);
}
