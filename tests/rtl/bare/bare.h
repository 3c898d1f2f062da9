/* The unit of simulation speed: the bare array (bare.sv, 32x32), busy in each cycle. */
#ifndef XPU_TESTS_RTL_BARE_H
#define XPU_TESTS_RTL_BARE_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

double bare_now(void); /* process time, ns */
double bare_ns_per_cycle(uint64_t cycles);

#ifdef __cplusplus
}
#endif

#endif
