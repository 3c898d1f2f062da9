/*
 * Layers that begin while the one before ends. A layer's descriptors are recorded with waits for the end of the layer
 * before. Where that has lists, too, the first of them wait for no more than what of it they need: that what they read
 * is written, and that what they overwrite has been read and written, both found by the addresses of all descriptors.
 * So the array goes on with a layer while the last tiles of the one before are drained and stored.
 *
 * Each engine starts its descriptors in order, signals in order, and writes behind what earlier ones read and write
 * (docs/chip.md, "Order"). Stores of all layers are one queue, so behind any store of a layer the layers before it are
 * over.
 */
#ifndef XPU_PROGRAM_RECORD_WAITS_H
#define XPU_PROGRAM_RECORD_WAITS_H

#include "xpu_runtime/include/xpu_device.h"
#include "xpu_runtime/program/record_moves.h"

/* Counters of lists for those of the kernels that are recorded, and back. */
static inline uint32_t xpu_list_counter(uint32_t counter) {
    if (counter == XPU_COUNTER_WINDOW_STORE) return XPU_COUNTER_LISTS + XPU_COUNTER_COPY;
    return counter < XPU_RECORDED_COUNTERS ? counter + XPU_COUNTER_LISTS : counter;
}
static inline uint32_t xpu_kernel_counter(uint32_t counter) {
    if (counter == XPU_COUNTER_LISTS + XPU_COUNTER_COPY) return XPU_COUNTER_WINDOW_STORE;
    return counter - XPU_COUNTER_LISTS;
}

/* The lists of the layers before, as they lie in memory. */
typedef struct {
    const uint32_t *words; /* of `count` descriptors, each engine's in order */
    uint32_t count;
    const uint32_t *signals; /* of each counter, by the lists before these */
    xpu_ticket done;         /* their ticket */
} xpu_recorded_past;

/* `signals`: of each counter, by all lists before. Waits that cannot be made finer stay. */
void xpu_relax_waits(const xpu_recorded_past *past, xpu_descriptors *d, const uint32_t *signals, xpu_arena *scratch);

#endif
