/*
 * A family of test programs: kernels that fill their inputs from a seed and leave numbers in their slot of `result`.
 * The same bytes must come out on every device and on QEMU, at every optimisation level. The last word of a slot
 * belongs to main(): float and saturation flags, and a mark.
 *
 * Only what C or the RISC-V manuals define: no pointers in results, no NaN payloads, no signed overflow.
 */
#ifndef XPU_TESTS_CORPUS_H
#define XPU_TESTS_CORPUS_H

#include <stddef.h>
#include <stdint.h>

enum { SLOT_WORDS = 256, SLOTS = 16, OUT_WORDS = SLOT_WORDS - 1 };

typedef void kernel(uint32_t *out, uint32_t seed);

extern uint32_t result[SLOTS * SLOT_WORDS];

/* Memories by address; the start-up file for QEMU maps them. The stack is in LM. */
#define SM_AREA ((void *)(uintptr_t)0x20001000) /* 16 KiB */
#define L3_AREA ((void *)(uintptr_t)0x40000000) /* 32 KiB */

#define INLINE static inline __attribute__((always_inline, unused))

INLINE uint32_t next(uint32_t *s) {
    *s ^= *s << 13;
    *s ^= *s >> 17;
    *s ^= *s << 5;
    return *s;
}
INLINE uint32_t below(uint32_t *s, uint32_t n) {
    return (uint32_t)((uint64_t)next(s) * n >> 32);
}
/* In [-1, 1), a multiple of 2^-15. */
INLINE float unit(uint32_t *s) {
    return (float)(int32_t)(next(s) >> 16) / 32768.0f - 1.0f;
}
INLINE uint32_t mix(uint32_t hash, uint32_t value) {
    hash = (hash ^ value) * 0x9e3779b1u;
    return hash ^ hash >> 15;
}
INLINE uint32_t bits(float x) {
    uint32_t u;
    __builtin_memcpy(&u, &x, 4);
    return u;
}
INLINE float from_bits(uint32_t u) {
    float x;
    __builtin_memcpy(&x, &u, 4);
    return x;
}
/* Bits in which all NaNs are one. */
INLINE uint32_t plain(float x) {
    return x != x ? 0x7fc00000u : bits(x);
}
/* A value that the compiler knows nothing about. */
#define OPAQUE(x)                                                                                                      \
    ({                                                                                                                 \
        __typeof__((x) + 0) opaque_ = (x);                                                                             \
        __asm__ volatile("" : "+r"(opaque_));                                                                          \
        opaque_;                                                                                                       \
    })
/* Floats with all corner cases. */
INLINE uint32_t odd_float(uint32_t *s) {
    static const uint32_t special[] = {0,          0x80000000, 0x3f800000, 0xbf800000, 0x7f800000, 0xff800000,
                                       0x7fc00000, 1,          0x80000001, 0x007fffff, 0x00800000, 0x7f7fffff,
                                       0xff7fffff, 0x3f000000, 0xbf000000, 0x4f000000, 0xcf000000, 0x4f800000};
    uint32_t kind = next(s) >> 30;
    if (kind == 0) return special[below(s, sizeof special / sizeof *special)];
    uint32_t u = next(s);
    if (kind == 1 && (u & 0x7f800000) != 0x7f800000) return u;
    return (u & 0x807fffff) | (118 + below(s, 24)) << 23;
}

#define KERNEL(name) static __attribute__((noinline)) void name(uint32_t *out, __attribute__((unused)) uint32_t seed)

/* The kernels of a file, in the order in which they stand there. */
#define RUN(...)                                                                                                       \
    uint32_t result[SLOTS * SLOT_WORDS] __attribute__((aligned(64)));                                                  \
    int main(void) {                                                                                                   \
        static kernel *const kernels[] = {__VA_ARGS__};                                                                \
        for (uint32_t i = 0; i < sizeof kernels / sizeof *kernels; i++) {                                              \
            uint32_t *slot = result + (size_t)i * SLOT_WORDS, flags, saturated;                                        \
            __asm__ volatile("csrw fcsr, zero\n csrw 0x00f, zero" ::: "memory");                                       \
            kernels[i](slot, 0x12345677u * (2 * i + 1));                                                               \
            __asm__ volatile("csrr %0, fcsr\n csrr %1, 0x00f" : "=r"(flags), "=r"(saturated)::"memory");               \
            slot[OUT_WORDS] = 0x5a000000 | saturated << 8 | flags;                                                     \
        }                                                                                                              \
        return 0;                                                                                                      \
    }

int main(void);

#endif
