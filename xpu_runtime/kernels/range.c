/* Numbers at equal distances, from a start and a step in memory: each core makes a part. */
#include "core/arith.h"
#include "xpu_runtime/kernels/common.h"

enum { MOST = 512, GRAIN = 16 };

static uint64_t number_at(uint32_t address, uint32_t bytes) {
    const uint32_t *word = (const uint32_t *)(uintptr_t)address;
    if (bytes == 2) return *(const uint16_t *)word;
    return bytes == 8 ? word[0] | (uint64_t)word[1] << 32 : word[0];
}

static float float_of(uint64_t bits) {
    union {
        uint32_t bits;
        float value;
    } both = {.bits = (uint32_t)bits};
    return both.value;
}

static void range_share(const void *args, uint32_t core, uint32_t cores) {
    const struct xpu_range_args a = *(const struct xpu_range_args *)args;
    uint32_t available, first, last, bytes = (uint32_t)a.element_bytes;
    char *lm[2] = {(char *)lm_floats(&available), NULL};
    uint64_t start = number_at(a.start, bytes), step = number_at(a.step, bytes);
    uint32_t block = min_u32(MOST, round_down(available / 4, GRAIN));
    xpu_ticket stored[2] = {{XPU_COUNTER_CALL, 0}, {XPU_COUNTER_CALL, 0}};
    lm[1] = lm[0] + block * bytes;
    partition(core, cores, (uint32_t)a.count, GRAIN, &first, &last);
    for (uint32_t at = first, half = 0; at < last; at += block, half ^= 1) {
        uint32_t n = min_u32(block, last - at);
        uint64_t value = start + step * at;
        xpu_wait(stored[half]);
        for (uint32_t i = 0; i < n; i++, value += step) {
            if (a.is_float)
                ((float *)lm[half])[i] = xa_range(float_of(start), float_of(step), at + i);
            else if (bytes == 2)
                ((uint16_t *)lm[half])[i] = (uint16_t)value;
            else if (bytes == 4)
                ((uint32_t *)lm[half])[i] = (uint32_t)value;
            else
                ((uint64_t *)lm[half])[i] = value;
        }
        mfence();
        stored[half] = xpu_store_elements(a.y + at * bytes, lm[half], n, bytes);
    }
}

xpu_ticket xpu_range(const struct xpu_range_args *args, uint32_t layer, xpu_ticket after) {
    return xpu_run_on_cores(range_share, args, layer, after);
}
