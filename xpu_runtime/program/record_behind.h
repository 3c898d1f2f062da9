/*
 * A product behind windows over the rows of another one. All three meet in SM; both products have one queue. Their
 * descriptors are recorded one product after the other; here the second one's come between the first one's, where
 * xpu_tiling_before_step says, and waits for loads and products are those for the same ones. Where no product is in
 * front of the windows (ring.rows is 0) these have a queue of loads with the one behind them, and its steps come
 * between theirs.
 */
#ifndef XPU_PROGRAM_RECORD_BEHIND_H
#define XPU_PROGRAM_RECORD_BEHIND_H

#include "xpu_runtime/include/xpu_device.h"
#include "xpu_runtime/program/record_moves.h"

typedef struct {
    uint32_t first,
        loads; /* of the second product: its first descriptor, and how many of its loads come before all steps */
    xpu_tiling_shape windows;
    xpu_tiling_ring ring;
    int32_t pad_top, blocks, column_tiles, banks; /* blocks, column_tiles: of the first product, of the second */
} xpu_recorded_behind;

/* `signals`: of each counter, by the lists before. NULL, or why there is no order in which engines can go on. */
const char *xpu_merge_behind(const xpu_recorded_behind *chain, xpu_descriptors *d, const uint32_t *signals,
                             xpu_arena *scratch);

#endif
