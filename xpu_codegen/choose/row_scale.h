/* Scales per row: which int16 products have them, and the operators that they need. */
#ifndef XPU_CODEGEN_CHOOSE_ROW_SCALE_H
#define XPU_CODEGEN_CHOOSE_ROW_SCALE_H

#include "xpu_codegen/state.h"

/* What was scaled so far. */
typedef struct {
    XPU_ARRAY(xpu_node) rows; /* by the id of x: its row_scale; {0}: there is none */
    xpu_value absmax;         /* the constant that all scaled rows have in common; {0}: there is none yet */
} xpu_row_scales;

/* The rows of a product: elements that integers are made of, by one absmax, and what the product's rows are multiplied
 * by. */
typedef struct {
    xpu_value x, powers, absmax;
} xpu_scaled_rows;

/* Whether the rows of an int16 product are to have scales of their own. */
int xpu_wants_row_scales(xpu_codegen *cg, xpu_node node);
/* An int16 product becomes row_scale, the product and row_restore, which keeps the node's id and results; returns the
 * product. */
xpu_node xpu_add_row_scales(xpu_codegen *cg, xpu_node node, xpu_row_scales *scales);
/* The rows of a product's x, scaled once for all products that read them. early: products in front of this one may ask
 * later. */
xpu_scaled_rows xpu_scale_rows_of(xpu_codegen *cg, xpu_node node, xpu_row_scales *scales, int early);
/* A matrix product becomes one of these rows by w (operator `op`) and row_restore, as above. */
xpu_node xpu_multiply_rows(xpu_codegen *cg, xpu_node node, const xpu_scaled_rows *rows, xpu_op_id op, xpu_value w,
                           xpu_value w_scale);

#endif
