/* The Verilated tensor or window engine with a memory behind its ports. */
#ifndef XPU_TESTS_RTL_TENSOR_H
#define XPU_TESTS_RTL_TENSOR_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { RTL_SM_BYTES = 1 << 20, RTL_L3_BYTES = 1 << 16, RTL_STATES = 18 };

typedef struct rtl rtl;

typedef struct {
    uint64_t cycles;             /* from the first descriptor to the last completion */
    uint64_t states[RTL_STATES]; /* cycles by lost cause */
    uint32_t done;               /* descriptors */
    int fault;                   /* cause, 0: none */
    uint32_t fault_address;
    int hung;  /* no completion for a long time */
    double ns; /* process time */
} rtl_result;

rtl *rtl_create(void);
void rtl_destroy(rtl *r);

/* Host address of a byte of SM or L3. */
uint8_t *rtl_memory(rtl *r, uint32_t address);

/* Resets the engine and runs `count` descriptors of 32 words. seed 0: ports are always ready and answer after 2
 * cycles; else both are drawn. */
rtl_result rtl_run(rtl *r, const uint32_t *words, size_t count, uint32_t seed);

/* A cycle in which the engine sleeps: ns of process time that an edge of the clock costs. Verilator's function for what
 * the clock has triggered is called directly, as the harness does. */
double rtl_asleep(rtl *r, uint64_t cycles);

#ifdef __cplusplus
}
#endif

#endif
