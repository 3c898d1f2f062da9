/* Random DMA descriptors. */
#ifndef XPU_TESTS_RTL_DMA_DRAW_H
#define XPU_TESTS_RTL_DMA_DRAW_H

#include <stdint.h>

/* What descriptors read and write: a window of each memory; behind it lie indices and scales, then lists. */
enum { WINDOWS = 5, WINDOW_BYTES = 12288, GUARD = 256, EXTRA_BYTES = 2048, EXTRAS = 40 };
extern const uint32_t window_at[WINDOWS];

typedef struct {
    uint64_t first, last; /* bytes; first > last: none */
} draw_range;

/* src, dst, indices, scale */
enum { DRAW_SRC, DRAW_DST, DRAW_INDEX, DRAW_SCALE, DRAW_RANGES };

typedef struct {
    uint32_t words[32];
    draw_range ranges[DRAW_RANGES];
    uint32_t elements;
} draw_descriptor;

uint32_t draw(uint64_t *random, uint32_t bound);

/* The bits of a float: mostly of moderate size, at times any pattern. */
uint32_t draw_float(uint64_t *random, float size);

/* A scale of QuantizeLinear: a positive normal number, mostly from 2^-10 to 2^6. */
float draw_divisor(uint64_t *random);

/* A valid descriptor of kind copy, fill or gather. Host addresses for its scale and indices come from `at`; it fills
 * them in. extra: below EXTRAS, a part of the space for indices and scales that is this descriptor's own. nans: scales
 * may be such that integers become NaNs, whose bits are not the same everywhere: for results that nobody reads. */
void draw_one(uint64_t *random, draw_descriptor *d, unsigned extra, int nans,
              uint8_t *(*at)(void *context, uint32_t address), void *context);

#endif
