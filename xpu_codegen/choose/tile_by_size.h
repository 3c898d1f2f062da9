/* Ranges of sizes of images, and the geometry of each. */
#ifndef XPU_CODEGEN_CHOOSE_TILE_BY_SIZE_H
#define XPU_CODEGEN_CHOOSE_TILE_BY_SIZE_H

#include "xpu_codegen/choose/geometry.h"

/* Ranges of sizes of a layer's images: item i holds where measure <= most and no item before holds, the last one for
 * all that are left. The first `squares` measure the larger side of the result, others its width. */
enum { XPU_MOST_SIZES = 32 };
typedef struct {
    xpu_dim measure;
    int32_t most, most_h, out_h, out_w; /* most_h: rows of the highest result; out_h x out_w: what is chosen for */
} xpu_size;
typedef struct {
    uint32_t count, squares;
    xpu_size items[XPU_MOST_SIZES];
} xpu_sizes;

/* One range where all sizes are fixed. */
void xpu_list_sizes(xpu_codegen *cg, const xpu_conv_shape *shape, xpu_sizes *sizes);
/* The geometry of a size, `upper` being that at the upper bound. */
xpu_tiling_shape xpu_shape_of_size(const xpu_tiling_shape *upper, const xpu_size *size);

#endif
