/* Tiles of the tensor engine, by size. */
#ifndef XPU_CODEGEN_CHOOSE_TILES_H
#define XPU_CODEGEN_CHOOSE_TILES_H

#include "xpu_codegen/choose/tile_by_size.h"

/* Cycles are the largest of compute, store and load with gm_bytes at GM's rate, and behind it what nothing overlaps. */
typedef struct {
    double compute, load, store, tail;
} xpu_layer_model;
typedef struct {
    int32_t tile_h, tile_w, tile_c, whole; /* as in the arguments of conv2d_i16 */
    uint32_t sm_bytes;
    double cycles;         /* by the model of tiles.c */
    xpu_layer_model model; /* what cycles are made of */
    double gm_bytes;       /* of weights read from GM */
    double crossing;       /* of these and what is read of x there */
    uint32_t x_reads;      /* how often x is loaded */
} xpu_tile;
/* Tiles by size, with one tile_c; sm_bytes: of the largest. */
typedef struct xpu_tiles {
    xpu_sizes sizes;
    uint32_t sm_bytes;
    xpu_tile items[XPU_MOST_SIZES];
} xpu_tiles;

/* The best tile for this chip at the upper bound of the symbols; NULL, or why the tensor engine cannot do it. */
const char *xpu_choose_tile(xpu_codegen *cg, const xpu_conv_shape *shape, int has_branch, xpu_tiling_format format,
                            xpu_tile *tile);
/* The best tiles; one, that of xpu_choose_tile, where all sizes are fixed. */
const char *xpu_choose_tiles(xpu_codegen *cg, const xpu_conv_shape *shape, int has_branch, xpu_tiling_format format,
                             xpu_tiles *tiles);

#endif
