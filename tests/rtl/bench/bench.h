/* What the programs of `make bench-sim` and the host agree on: where operands and results are. */
#ifndef XPU_TESTS_RTL_BENCH_H
#define XPU_TESTS_RTL_BENCH_H

#include <stdint.h>

/* The block of ResNet-50's layer3.1 on a chip with an array of 32 columns: 1x1 1024 -> 256, 3x3 256 -> 256 and
 * 1x1 256 -> 1024 with the block's input added, 14 x 14 pixels, int8. All in L3: images channel-last and dense, weights
 * [tile of 32 columns][kernel row, kernel column, channel][32]. */
enum {
    RESNET_LAYERS = 3,
    RESNET_EXTENT = 14,
    RESNET_PIXELS = RESNET_EXTENT * RESNET_EXTENT,
    RESNET_COLUMNS = 32,
    RESNET_INPUT = 0x40000000,
    RESNET_Y1 = 0x40040000,
    RESNET_Y2 = 0x40050000,
    RESNET_Y3 = 0x40060000,
    RESNET_W1 = 0x400a0000,
    RESNET_W2 = 0x400e0000,
    RESNET_W3 = 0x40180000,
    RESNET_SMALL = 0x401c0000, /* + 0x4000 * layer: parameters, then these: */
    RESNET_SMALL_STRIDE = 0x4000,
    RESNET_SCALE = 0x1000, /* float per channel */
    RESNET_BIAS = 0x2000   /* int32 per channel */
};

typedef struct {
    uint32_t channels, kernel, out, parts; /* parts: pieces of the channels whose weights are loaded one by one */
    uint32_t input, weights, output, residual;
} resnet_layer;

#define RESNET_TABLE                                                                                                   \
    {1024, 1, 256, 2, RESNET_INPUT, RESNET_W1, RESNET_Y1, 0}, {256, 3, 256, 1, RESNET_Y1, RESNET_W2, RESNET_Y2, 0}, {  \
        256, 1, 1024, 1, RESNET_Y2, RESNET_W3, RESNET_Y3, RESNET_INPUT                                                 \
    }

/* exp of so many floats at the start of each LM, in place. */
enum { EXP_FLOATS = 8192 };

/* Integer work on so many words at the start of core 0's LM; the result at the start of L3. */
enum { SCALAR_WORDS = 2048, SCALAR_RESULT = 0x40000000 };

static inline void scalar_sift(uint32_t *heap, uint32_t at, uint32_t count) {
    uint32_t value = heap[at];
    for (uint32_t child = 2 * at + 1; child < count; child = 2 * at + 1) {
        if (child + 1 < count && heap[child + 1] > heap[child]) child++;
        if (heap[child] <= value) break;
        heap[at] = heap[child];
        at = child;
    }
    heap[at] = value;
}

/* Sorts numbers of a generator, takes their CRC-32 bit by bit, and adds lengths of Collatz sequences. */
static inline uint32_t scalar_work(uint32_t *words) {
    uint32_t state = 1, crc = 0xffffffff, steps = 0;
    for (uint32_t i = 0; i < SCALAR_WORDS; i++) words[i] = state = state * 1664525 + 1013904223;
    for (uint32_t i = SCALAR_WORDS / 2; i > 0; i--) scalar_sift(words, i - 1, SCALAR_WORDS);
    for (uint32_t i = SCALAR_WORDS - 1; i > 0; i--) {
        uint32_t top = words[0];
        words[0] = words[i];
        words[i] = top;
        scalar_sift(words, 0, i);
    }
    for (uint32_t i = 0; i < SCALAR_WORDS; i++) {
        crc ^= words[i];
        for (uint32_t bit = 0; bit < 32; bit++) crc = crc >> 1 ^ (crc & 1 ? 0xedb88320 : 0);
    }
    for (uint32_t i = 1; i < 400; i++)
        for (uint32_t n = i; n != 1; steps++) n = n & 1 ? 3 * n + 1 : n / 2;
    return crc + steps * 65537 + words[SCALAR_WORDS / 3] / 7 % 1000;
}

#endif
