/* The bare array (tests/rtl/tensor/bare.sv, 32x32), busy each cycle: ns of process time per cycle. */
#ifndef XPU_TESTS_RTL_BENCH_BARE_H
#define XPU_TESTS_RTL_BENCH_BARE_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

double bench_now(void); /* process time, ns */
double bench_bare(uint64_t cycles);

#ifdef __cplusplus
}
#endif

#endif
