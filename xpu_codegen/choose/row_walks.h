/*
 * Products and windows that meet in SM: a model that walks through the descriptors of the engines as these do. A step
 * begins when its engine is free and what its waits name is done. Where ring.rows is 0 there is no product in front of
 * the windows, which load their input.
 */
#ifndef XPU_CODEGEN_CHOOSE_ROW_WALKS_H
#define XPU_CODEGEN_CHOOSE_ROW_WALKS_H

#include "xpu_codegen/choose/tiles.h"
#include "xpu_runtime/program/record.h"

enum { XPU_WALK_MOST_STEPS = 1024 };

/* Of a unit for a descriptor. */
typedef struct {
    double array, drain; /* cycles of the array, and of the post-processor behind it */
    double load;         /* of DMA, for a tile of its input, or its branch */
} xpu_walk_product;

typedef struct {
    xpu_tiling_shape product, windows,
        behind; /* behind: the product that reads the windows' results, if readers is not 0 */
    xpu_tiling_ring ring;
    int32_t columns, blocks, tiles, steps, pad_top;
    int32_t readers, tile_c;        /* column tiles of the product behind, channels of a block of its weights */
    int quantised, has_branch;      /* DMA makes the first product's bytes as it loads them; of the product behind */
    double made, load, step, store; /* cycles of a step of each unit */
    xpu_walk_product first, second;
    int64_t walked;                      /* descriptors that walks have looked at so far */
    double *made_at, *done_at, *read_at; /* when a step is over: of the product, of the windows [tile or step][block],
                                            of the product behind */
} xpu_row_walk;

static inline int32_t xpu_parts(int32_t total, int32_t part) {
    return (total + part - 1) / part;
}

/* Rows of input of a tile of so many rows of results. */
static inline int32_t xpu_walk_rows(const xpu_tiling_shape *s, int32_t rows) {
    return xpu_tiling_input_extent(rows, s->stride_h, s->kernel_h, s->dilation_h, s->in_h);
}

/* Cycles of all with this ring; -1: engines would wait for each other. */
double xpu_walk_cycles(const xpu_codegen *cg, xpu_row_walk *w);

#endif
