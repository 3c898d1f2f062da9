/*
 * Moves among the loads of a layer's lists (record.h). The queue of loads is in order, and waits before most of them
 * for a buffer in SM that is still computed with: what is fetched for a later layer comes in front of these, so much as
 * the engine has to compute meanwhile. A later load of the same queue finds it there without a ticket.
 */
#ifndef XPU_PROGRAM_RECORD_MOVES_H
#define XPU_PROGRAM_RECORD_MOVES_H

#include "xpu_runtime/include/xpu_device.h"
#include "xpu_runtime/program/record.h"

/* Descriptors in the order in which kernels have queued them. */
typedef struct {
    uint32_t (*words)[XPU_DESC_WORDS];
    uint8_t *engines; /* of each */
    uint32_t count, most;
} xpu_descriptors;

/* About the cycles that an engine computes; 0: it copies. */
uint64_t xpu_recorded_work(const uint32_t *words, uint32_t engine);

/* Loads of what has been fetched take it from there, in as many copies as that lies in runs. Weaves copies of what is
 * to be fetched into the loads, in front of which `early` of these and the first that waits for `after` stay; `base`:
 * signals of loads before the first one. Waits for loads are those for the same loads. Returns how many loads there are
 * more, or -1 where there is no room. */
int32_t xpu_weave_moves(const xpu_recorded_moves *moves, xpu_descriptors *d, uint32_t early, xpu_ticket after,
                        uint32_t base, xpu_arena *scratch);

#endif
