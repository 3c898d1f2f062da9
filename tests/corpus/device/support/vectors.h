/* What the vector families share: every type of element and group, buffers, and folding a result into a few words. */
#ifndef XPU_TESTS_CORPUS_VECTORS_H
#define XPU_TESTS_CORPUS_VECTORS_H

#include <riscv_vector.h>

#include "tests/corpus/device/support/corpus.h"

/* X(bits of an element, group, elements per mask bit in the type's name) */
#define TYPES_8(X)                                                                                                     \
    X(8, mf4, 32)                                                                                                      \
    X(8, mf2, 16)                                                                                                      \
    X(8, m1, 8)                                                                                                        \
    X(8, m2, 4)                                                                                                        \
    X(8, m4, 2)                                                                                                        \
    X(8, m8, 1)
#define TYPES_16(X)                                                                                                    \
    X(16, mf2, 32)                                                                                                     \
    X(16, m1, 16)                                                                                                      \
    X(16, m2, 8)                                                                                                       \
    X(16, m4, 4)                                                                                                       \
    X(16, m8, 2)
#define TYPES_32(X)                                                                                                    \
    X(32, m1, 32)                                                                                                      \
    X(32, m2, 16)                                                                                                      \
    X(32, m4, 8)                                                                                                       \
    X(32, m8, 4)
#define TYPES(X) TYPES_8(X) TYPES_16(X) TYPES_32(X)

/* X(bits, group, twice the bits, twice the group) */
#define PAIRS(X)                                                                                                       \
    X(8, mf4, 16, mf2)                                                                                                 \
    X(8, mf2, 16, m1)                                                                                                  \
    X(8, m1, 16, m2)                                                                                                   \
    X(8, m2, 16, m4)                                                                                                   \
    X(8, m4, 16, m8)                                                                                                   \
    X(16, mf2, 32, m1)                                                                                                 \
    X(16, m1, 32, m2)                                                                                                  \
    X(16, m2, 32, m4)                                                                                                  \
    X(16, m4, 32, m8)

#define RVV(name) __riscv_##name

enum { GROUP_BYTES = 512 };

typedef union {
    uint8_t u8[GROUP_BYTES];
    uint16_t u16[GROUP_BYTES / 2];
    uint32_t u32[GROUP_BYTES / 4];
    int8_t i8[GROUP_BYTES];
    int16_t i16[GROUP_BYTES / 2];
    int32_t i32[GROUP_BYTES / 4];
    float f32[GROUP_BYTES / 4];
} buffer;

/* Random bytes, now and then the extremes of an element. */
INLINE void scribble(buffer *b, uint32_t *seed) {
    for (int i = 0; i < GROUP_BYTES / 4; i++) {
        uint32_t x = next(seed), special = next(seed);
        b->u32[i] = special >> 28 == 0 ? 0x80000000 : special >> 28 == 1 ? 0x7fff8000 : special >> 28 == 2 ? 0xff : x;
    }
}
INLINE void clear(buffer *b) {
    for (int i = 0; i < GROUP_BYTES / 4; i++) b->u32[i] = 0;
}
static __attribute__((noinline, unused)) uint32_t digest(const buffer *b) {
    uint32_t hash = 1;
    for (int i = 0; i < GROUP_BYTES / 4; i++) hash = mix(hash, b->u32[i]);
    return hash;
}
/* A vector length for this round: all, or fewer. */
INLINE size_t some(size_t most, uint32_t *seed) {
    return next(seed) & 1 ? most : 1 + below(seed, (uint32_t)most);
}

#endif
