/* Products of two computed matrices on the tensor engine. */
#ifndef XPU_CODEGEN_CHOOSE_COMPUTED_WEIGHTS_H
#define XPU_CODEGEN_CHOOSE_COMPUTED_WEIGHTS_H

#include "xpu_codegen/choose/row_scale.h"
#include "xpu_runtime/include/xpu_tiling.h"

/* NULL where a product of two computed matrices can be, and had better be, one of integers; else why not. */
const char *xpu_why_not_packed(xpu_codegen *cg, xpu_node node, xpu_tiling_format format);
/* Makes it one: pack_matrix, rows that have scales (row_scale, or softmax_parts in place of a softmax), packed_matmul
 * and row_restore, which keeps the node's id and results. Returns the product. */
xpu_node xpu_pack_product(xpu_codegen *cg, xpu_node node, xpu_precision precision, xpu_row_scales *scales);
/* Whether w is made by a transpose that swaps the last two dims, perhaps with others. */
int xpu_is_transposed(const xpu_codegen *cg, xpu_value w);
/* The operand of that transpose, with its other dims in their order, for a layer in front of `product`: a transpose of
 * these alone is added where they have moved. {0}: w is not transposed. */
xpu_value xpu_before_transpose(xpu_codegen *cg, xpu_node product, xpu_value w);

#endif
