/* Numbers at random that are the same on every machine. */
#ifndef XPU_TESTS_RANDOM_H
#define XPU_TESTS_RANDOM_H

#include <stdint.h>

static uint64_t random_state;

static inline uint32_t random_below(uint32_t limit) {
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return (uint32_t)((random_state >> 20) % limit);
}

#endif
