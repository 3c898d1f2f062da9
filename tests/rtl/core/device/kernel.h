/* What the test programs share: main returns 0 when the result is the one that stands in the source. */
#ifndef XPU_TESTS_RTL_CORE_KERNEL_H
#define XPU_TESTS_RTL_CORE_KERNEL_H

#include <stdint.h>

#define FAR __attribute__((section(".far")))

static inline uint32_t next_random(uint32_t *state) {
    *state = *state * 1664525u + 1013904223u;
    return *state >> 8;
}
static inline uint32_t mixed(uint32_t hash, uint32_t value) {
    return (hash ^ value) * 16777619u;
}
static inline uint32_t bits_of(float value) {
    union {
        float f;
        uint32_t u;
    } both = {value};
    return both.u;
}

#endif
