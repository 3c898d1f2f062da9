/* The Verilated DMA engine, alone and behind the queues and registers, with memories behind its ports. */
#ifndef XPU_TESTS_RTL_DMA_H
#define XPU_TESTS_RTL_DMA_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum {
    RTL_CORES = 4,
    RTL_LM_BYTES = 1 << 14,
    RTL_SM_BYTES = 1 << 18,
    RTL_L3_BYTES = 1 << 18,
    RTL_GM_BYTES = 1 << 20,
    RTL_STATES = 17
};

typedef struct rtl rtl;

typedef struct {
    uint64_t cycles;             /* from the first descriptor to the last completion */
    uint64_t states[RTL_STATES]; /* cycles by lost cause, of engine 0 */
    uint32_t done;               /* descriptors */
    int fault;                   /* cause, 0: none */
    uint32_t fault_address;
    uint32_t fault_descriptor; /* lists only */
    uint32_t fault_layer;
    int hung;    /* no completion for a long time */
    int unclean; /* a request changed before it was taken, completions in a wrong order, quiet but moving, lists left */
    double ns;   /* process time */
} rtl_result;

rtl *rtl_create(void);
void rtl_destroy(rtl *r);

/* Host address of a byte of a memory. */
uint8_t *rtl_memory(rtl *r, uint32_t address);

/* Resets the engine and runs `count` descriptors of 32 words. seed 0: ports are always ready and answer after `latency`
 * cycles; else all of that is drawn. */
rtl_result rtl_run(rtl *r, const uint32_t *words, size_t count, uint32_t seed, uint32_t latency);

/* A list that a core's doorbell queues on an engine. */
typedef struct {
    uint32_t engine, core, address, count;
} rtl_list;

/* Resets queues, engines and registers; each core rings its doorbells in order. Ends when `count` lists are done, at a
 * fault, or when nothing happens any more. */
rtl_result rtl_run_lists(rtl *r, const rtl_list *lists, size_t count, uint32_t seed, uint32_t latency);

/* A counter after rtl_run_lists. */
uint32_t rtl_counter(rtl *r, unsigned counter);

/* Cycles without a descriptor: ns of process time per cycle, of the engine alone, and of all. */
double rtl_idle(rtl *r, uint64_t cycles);
double rtl_idle_lists(rtl *r, uint64_t cycles);

/* The memories of this bench alone, a line read and a line written each cycle: ns of process time per cycle. */
double rtl_memories(rtl *r, uint64_t cycles);

#ifdef __cplusplus
}
#endif

#endif
