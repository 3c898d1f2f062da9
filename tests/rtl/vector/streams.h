/* Programs for the bench of the vector unit. A functional core executes what has been written so far, so that every
 * instruction of a program is a legal one, but for the last. */
#ifndef XPU_TESTS_RTL_VECTOR_STREAMS_H
#define XPU_TESTS_RTL_VECTOR_STREAMS_H

#include "tests/rtl/core/bench.h"

/* About `length` instructions: vector and scalar ones, vtype, vl, vstart, rounding modes, addresses at random. */
uint32_t stream_random(uint64_t seed, unsigned length);

/* Program `index` of those that have each vector instruction with each element width, LMUL, mask and lengths and starts
 * at their limits; 0: no such program. *name: the first instruction in it. */
uint32_t stream_directed(unsigned index, const char **name);

/* A loop of `rounds` rounds for measurements; 0: no such loop. */
uint32_t stream_loop(unsigned index, unsigned rounds, const char **name);

#endif
