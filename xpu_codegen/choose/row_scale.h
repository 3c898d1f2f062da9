/* Scales per row: which int16 products have them, and the operators that they need. */
#ifndef XPU_CODEGEN_CHOOSE_ROW_SCALE_H
#define XPU_CODEGEN_CHOOSE_ROW_SCALE_H

#include "xpu_codegen/state.h"

/* What was scaled so far. */
typedef struct {
    XPU_ARRAY(xpu_node) rows; /* by the id of x: its row_scale; {0}: there is none */
    xpu_value absmax;         /* the constant that all scaled rows have in common; {0}: there is none yet */
} xpu_row_scales;

/* Whether the rows of an int16 product are to have scales of their own. */
int xpu_wants_row_scales(xpu_codegen *cg, xpu_node node);
/* An int16 product becomes row_scale, the product and row_restore, which keeps the node's id and results; returns the
 * product. */
xpu_node xpu_add_row_scales(xpu_codegen *cg, xpu_node node, xpu_row_scales *scales);

#endif
