/*
 * The race check of the functional chip: vector clocks of cores and queues, histories of counters, and the shadow
 * memory. Two accesses to the same byte, at least one of them a write, race when no chain of signals and waits,
 * doorbells and barriers orders them, whatever the schedule of this run was (docs/chip.md, "Order").
 *
 * Cores and queues are agents. An epoch of a core ends at a fence; signals, doorbells and barriers hand over what the
 * core did up to its last fence. An epoch of a queue is a descriptor.
 */
#ifndef XPU_SIM_FUNC_RACES_H
#define XPU_SIM_FUNC_RACES_H

#include <stddef.h>
#include <stdint.h>

#include "xpu_runtime/include/xpurt_device.h"

typedef struct xpu_races xpu_races;

/* NULL: out of memory. */
xpu_races *xpu_races_new(unsigned cores);
void xpu_races_free(xpu_races *races);
/* Forgets everything: what memory holds now was there before all else. */
void xpu_races_reset(xpu_races *races);

/* Race `index` of those found since the reset; 0: there are no more. Texts are constants. */
int xpu_races_get(const xpu_races *races, size_t index, xpurt_race *race);
/* Whether the host ran out of memory, so that there may be more. */
int xpu_races_incomplete(const xpu_races *races);

/* ---- Cores ---- */
/* Addresses of the own LM are translated to 0x11000000 + core * 0x100000. */
void xpu_races_core(xpu_races *races, unsigned core, uint32_t pc, uint32_t address, uint32_t bytes, int write);
void xpu_races_fence(xpu_races *races, unsigned core);
void xpu_races_layer(xpu_races *races, unsigned core, uint32_t layer);
void xpu_races_signal(xpu_races *races, unsigned core, uint32_t pc, unsigned counter, uint32_t amount);
void xpu_races_wait(xpu_races *races, unsigned core, unsigned counter, uint32_t value);
void xpu_races_barrier_reach(xpu_races *races, unsigned core);
void xpu_races_barrier_open(xpu_races *races);
/* A list has been queued at place `slot` of the core's queue. */
void xpu_races_doorbell(xpu_races *races, unsigned core, unsigned engine, unsigned slot);

/* ---- Descriptors: start, accesses, end ---- */
void xpu_races_start(xpu_races *races, unsigned engine, unsigned core, unsigned slot, uint32_t address,
                     const uint32_t *words);
/* `field`: a text that stays. */
void xpu_races_bytes(xpu_races *races, const char *field, uint64_t address, uint64_t bytes, int write);
/* size[4] elements of `bytes` bytes with strides in bytes. */
void xpu_races_box(xpu_races *races, const char *field, uint64_t address, const uint32_t *size, const int32_t *stride,
                   unsigned bytes, int write);
void xpu_races_end(xpu_races *races, const uint32_t *words);

/* ---- The host ---- */
void xpu_races_ticket(xpu_races *races, unsigned counter, uint32_t value);
void xpu_races_exit(xpu_races *races);
/* Between runs; in_call: core 0 waits for the host, which then acts for it. */
void xpu_races_host(xpu_races *races, int in_call, uint64_t address, uint64_t bytes, int write);

#endif
