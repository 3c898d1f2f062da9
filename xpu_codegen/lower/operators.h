/* Lowering of single operators: one function each, called with the layer's index. */
#ifndef XPU_CODEGEN_LOWER_OPERATORS_H
#define XPU_CODEGEN_LOWER_OPERATORS_H

#include "xpu_codegen/state.h"

typedef xpu_status (*xpu_lower_fn)(xpu_codegen *cg, uint32_t layer, xpu_node node);
#define XPU_SIM_OP(op, lowering, ...) xpu_status xpu_lower_##lowering(xpu_codegen *cg, uint32_t layer, xpu_node node);
#include "xpu_codegen/ops.def"

/* A mean over images in integers. */
xpu_status xpu_lower_wide_mean(xpu_codegen *cg, uint32_t layer, xpu_node node);
/* Copies value x, which lies in buffer `from`, to where y, of x's layout and no smaller, lies in buffer `to`. */
xpu_status xpu_add_value_copy(xpu_codegen *cg, uint32_t layer, xpu_value x, uint32_t from, xpu_value y, uint32_t to);

#endif
