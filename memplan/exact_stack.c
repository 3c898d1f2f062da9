/*
 * The bound of the exact search: what is left, one above the other in each section. Most of the time of a search is
 * spent here. So sections go in blocks, whose loops the compiler makes vector instructions of, and heights are as
 * narrow as they can be.
 */
#include "memplan/exact.h"

#include <string.h>

enum { BLOCK = 16 }; /* sections */

/* Which sections of a block are behind the first I of them: from BLOCK - I on; which ones are the first I: from
 * 2 * BLOCK - I on. */
#define NONE_16 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0
#define ALL_16  -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1

#define STACK(bits)                                                                                                    \
    static const int##bits##_t covered_##bits[3 * BLOCK] = {NONE_16, ALL_16, NONE_16};                                 \
                                                                                                                       \
    typedef int##bits##_t vector_##bits __attribute__((vector_size(16), aligned(bits / 8), may_alias));                \
                                                                                                                       \
    static void put_##bits(int##bits##_t *height, const int##bits##_t *behind, const int##bits##_t *before,            \
                           int##bits##_t least, int##bits##_t size) {                                                  \
        for (int i = 0; i < BLOCK; i += 128 / bits) {                                                                  \
            const vector_##bits at = *(vector_##bits *)(height + i);                                                   \
            const vector_##bits in = *(const vector_##bits *)(behind + i) & *(const vector_##bits *)(before + i);      \
            const vector_##bits lowest = least & in, higher = at > lowest;                                             \
            *(vector_##bits *)(height + i) = ((at & higher) | (lowest & ~higher)) + (size & in);                       \
        }                                                                                                              \
    }                                                                                                                  \
                                                                                                                       \
    static int##bits##_t most_##bits(const int##bits##_t *height, uint32_t count) {                                    \
        int##bits##_t most = 0;                                                                                        \
        for (uint32_t i = 0; i < count; i++) most = height[i] > most ? height[i] : most;                               \
        return most;                                                                                                   \
    }                                                                                                                  \
                                                                                                                       \
    static uint32_t stack_##bits(xpu_memplan_exact *x, const uint32_t *sorted, uint32_t count, uint32_t from,          \
                                 uint32_t to) {                                                                        \
        int##bits##_t *height = x->stack;                                                                              \
        memset(height + from, 0, (to - from) * sizeof *height);                                                        \
        for (uint32_t i = 0; i < count; i++) {                                                                         \
            const uint32_t item = sorted[i];                                                                           \
            const xpu_memplan_height least = x->least[item] > x->top ? x->top + 1 : x->least[item];                    \
            for (uint32_t k = x->stretch_at[item]; k < x->stretch_at[item + 1]; k++) {                                 \
                const xpu_memplan_sections part = x->stretches[k];                                                     \
                const uint32_t first = part.from / BLOCK, last = (part.to - 1) / BLOCK;                                \
                for (uint32_t b = first; b <= last; b++) {                                                             \
                    put_##bits(height + (size_t)b * BLOCK,                                                             \
                               covered_##bits + BLOCK - (b == first ? part.from % BLOCK : 0),                          \
                               covered_##bits + BLOCK + (b == last ? BLOCK - 1 - (part.to - 1) % BLOCK : 0),           \
                               (int##bits##_t)least, (int##bits##_t)x->size[item]);                                    \
                }                                                                                                      \
                x->steps += last - first + 1;                                                                          \
            }                                                                                                          \
        }                                                                                                              \
        uint32_t section = from;                                                                                       \
        if (most_##bits(height + from, to - from) <= x->top) return to;                                                \
        while (height[section] <= x->top) section++;                                                                   \
        return section;                                                                                                \
    }

STACK(16)
STACK(32)
STACK(64)

uint32_t xpu_memplan_exact_stack(xpu_memplan_exact *x, const uint32_t *sorted, uint32_t count, uint32_t from,
                                 uint32_t to) {
    const xpu_memplan_height most = x->top + 1 + x->most;
    x->steps += count + (to - from) / BLOCK;
    if (most <= INT16_MAX) return stack_16(x, sorted, count, from, to);
    if (most <= INT32_MAX) return stack_32(x, sorted, count, from, to);
    return stack_64(x, sorted, count, from, to);
}

void xpu_memplan_exact_stack_init(xpu_memplan_exact *x) {
    x->stack = XPU_NEW_ARRAY(x->arena, xpu_memplan_height, x->sections + BLOCK);
    x->skyline = XPU_NEW_ARRAY(x->arena, xpu_memplan_height, x->sections + 1);
    size_t covered = 0;
    for (uint32_t i = 0; i < x->stretch_at[x->count]; i++) covered += x->stretches[i].to - x->stretches[i].from;
    x->covered = XPU_NEW_ARRAY(x->arena, xpu_memplan_height, covered + 1);
}
