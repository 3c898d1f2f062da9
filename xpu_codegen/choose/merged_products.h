/* Products of one row by several constant matrices. */
#ifndef XPU_CODEGEN_CHOOSE_MERGED_PRODUCTS_H
#define XPU_CODEGEN_CHOOSE_MERGED_PRODUCTS_H

#include "xpu_codegen/state.h"

/* Products of the same row by constant matrices, of one precision and activation, whose results stay inside the
 * program become one product by all columns and slices of its result, which make no layer (xpu_is_part). No column's
 * sum, scale or weights change. Precision is chosen, weights are float32 still. */
xpu_status xpu_merge_products(xpu_codegen *cg);

#endif
