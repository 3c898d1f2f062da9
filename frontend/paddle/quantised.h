/* What the files of quantised programs share. A tensor of levels holds whole numbers, those that are quantised, as
 * float32: DEQUANTIZE with the scale 1, or a constant. */
#ifndef XPU_FRONTEND_PADDLE_QUANTISED_H
#define XPU_FRONTEND_PADDLE_QUANTISED_H

#include "frontend/paddle/importer.h"

/* A float for each channel along an axis, or with `count` 1 for all elements. */
typedef struct {
    const float *items;
    int64_t count;
    int axis;
} xpu_paddle_steps;

/* The 8-bit integers whose levels `value` holds; a constant of whole numbers is converted. {0}: it holds none, or after
 * reporting. */
xpu_value xpu_paddle_levels(fe_builder *b, xpu_value value);
/* DEQUANTIZE of 8-bit integers. */
xpu_value xpu_paddle_dequantize(fe_builder *b, xpu_value integers, const xpu_paddle_steps *steps);
/* A product of levels, or a reshape of one, times the steps: the product of what these levels stand for. {0}: it is
 * none, or after reporting. */
xpu_value xpu_paddle_rescale_product(fe_builder *b, xpu_value value, const xpu_paddle_steps *steps);
/* What follows a product of quantised operands and is quantised again (sums and products with constants, batch norms)
 * goes into the scales of its weights and an int32 bias, where it is no activation. */
xpu_status xpu_paddle_fold_quantised(xpu_graph *graph, xpu_diags *diags);

#endif
