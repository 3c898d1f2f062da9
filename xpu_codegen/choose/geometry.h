/* Geometry of convolutions and of what is computed like them. */
#ifndef XPU_CODEGEN_CHOOSE_GEOMETRY_H
#define XPU_CODEGEN_CHOOSE_GEOMETRY_H

#include "core/ops/window.h"
#include "xpu_codegen/values.h"
#include "xpu_runtime/include/xpu_tiling.h"

/* What of a layer's images lies in GM by an earlier plan of memory. */
enum { XPU_SLOW_X = 1, XPU_SLOW_Y = 2, XPU_SLOW_BRANCH = 4 };

/* Geometry of a convolution, dims as expressions; of a matrix product by a constant too. */
typedef struct {
    xpu_dim batch, in_h, in_w, in_c, out_h, out_w, out_c;
    xpu_dim x_pixel, y_pixel; /* of images, elements from one pixel to the next: in_c, out_c or more; of others id 0 */
    int64_t kernel[2], stride[2], dilation[2], begin[2], end[2], groups;
    int own_weights; /* each image has weights of its own, which an earlier layer computed */
    int restored;    /* row_restore takes its rows while later ones are made */
    int slow;        /* XPU_SLOW_...; 0: nothing is known, either */
    int quantised;   /* x is float32 in memory and bytes in SM (quantised_input.h) */
    int woven;       /* x is planes in memory, and int16 pixels in SM */
} xpu_conv_shape;
/* Sizes of images x and y of rank 3 or 4, those of rank 3 being one row high; all else is 0. */
xpu_conv_shape xpu_image_shape(xpu_codegen *cg, xpu_value x, xpu_value y);
void xpu_set_window(xpu_conv_shape *shape, xpu_window window);
xpu_conv_shape xpu_conv_shape_of(xpu_codegen *cg, xpu_node node);
/* The same of a product of the matrices of x and computed ones of so many columns: one, or one for each of x. */
xpu_conv_shape xpu_matrices_shape(xpu_codegen *cg, xpu_node node, xpu_dim columns, int own_weights);
/* What the tensor engine loads: a kernel of one pixel that begins at the first takes every stride-th one only. */
xpu_conv_shape xpu_loaded_shape(xpu_codegen *cg, const xpu_conv_shape *shape);
/* Whether each channel has a kernel of its own: groups = in_c = out_c, more than 1. */
static inline int xpu_is_depthwise(const xpu_codegen *cg, const xpu_conv_shape *shape) {
    return shape->groups > 1 && xpu_dim_upper(cg, shape->in_c) == shape->groups &&
           xpu_dim_upper(cg, shape->out_c) == shape->groups;
}
/* Whether the fields of a descriptor, 16 bits with a sign, have room for the padding, which a tile far before or behind
 * the image has all of. */
int xpu_padding_fits(const xpu_conv_shape *shape);
/* Whether every window has a tap inside the image. Windows begin inside it or before it, and end behind the padding
 * there; where their taps have gaps, the image may lie in one of these. */
int xpu_has_taps_inside(const xpu_codegen *cg, xpu_value x, const xpu_window *w);
/* The upper bound of a dim, from 1 to what tiles count with. */
int32_t xpu_bounded(const xpu_codegen *cg, xpu_dim dim);
/* The geometry at the upper bound of the symbols. */
xpu_tiling_shape xpu_tiling_shape_of(const xpu_codegen *cg, const xpu_conv_shape *shape);

/* The shape of a node that has changed behind the choice of precision, whose operand's largest magnitude, or whose
 * weights in integers, are not there yet. */
xpu_status xpu_infer_as_float(xpu_codegen *cg, xpu_node node);

#endif
