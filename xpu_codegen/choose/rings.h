/* Products and the windows over their results that meet in SM. */
#ifndef XPU_CODEGEN_CHOOSE_RINGS_H
#define XPU_CODEGEN_CHOOSE_RINGS_H

#include "xpu_codegen/choose/tiles.h"

typedef struct {
    xpu_tiling_ring ring;
    int64_t sm_bytes; /* of all layers */
    double cycles;    /* of all, by a model of the engines */
} xpu_row_pipeline;

/* A product of the windows' pixels, whose weights are packed in chunks of tile_c channels. */
typedef struct {
    const xpu_conv_shape *shape;
    int32_t tile_c;
    int has_branch;
} xpu_behind;

/* The fastest ring between a product of bytes, whose weights are packed in chunks of tile_c channels, and depthwise
 * windows over its result, which `behind` reads, if it is not NULL, in SM, too; or why there is none. */
const char *xpu_choose_ring(xpu_codegen *cg, const xpu_conv_shape *product, int32_t tile_c,
                            const xpu_conv_shape *windows, const xpu_behind *behind, xpu_row_pipeline *best);

/* The same of windows that load their input, with the product `behind` that reads their results in SM. */
const char *xpu_choose_slots(xpu_codegen *cg, const xpu_conv_shape *windows, int has_weights, const xpu_behind *behind,
                             xpu_row_pipeline *best);

#endif
