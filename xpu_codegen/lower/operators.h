/* Lowering of single operators: one function each, called with the layer's index. */
#ifndef XPU_CODEGEN_LOWER_OPERATORS_H
#define XPU_CODEGEN_LOWER_OPERATORS_H

#include "xpu_codegen/state.h"

typedef xpu_status (*xpu_lower_fn)(xpu_codegen *cg, uint32_t layer, xpu_node node);
xpu_status xpu_lower_conv(xpu_codegen *cg, uint32_t layer, xpu_node node);
xpu_status xpu_lower_matmul(xpu_codegen *cg, uint32_t layer, xpu_node node);
xpu_status xpu_lower_max_pool(xpu_codegen *cg, uint32_t layer, xpu_node node);
xpu_status xpu_lower_average_pool(xpu_codegen *cg, uint32_t layer, xpu_node node);
xpu_status xpu_lower_global_average_pool(xpu_codegen *cg, uint32_t layer, xpu_node node);
xpu_status xpu_lower_softmax(xpu_codegen *cg, uint32_t layer, xpu_node node);
xpu_status xpu_lower_absmax(xpu_codegen *cg, uint32_t layer, xpu_node node);
xpu_status xpu_lower_copy(xpu_codegen *cg, uint32_t layer, xpu_node node); /* reshape, identity, relayout, transpose */
xpu_status xpu_lower_concat(xpu_codegen *cg, uint32_t layer, xpu_node node);
xpu_status xpu_lower_pad(xpu_codegen *cg, uint32_t layer, xpu_node node);
xpu_status xpu_lower_chain(xpu_codegen *cg, uint32_t layer, xpu_node node);
xpu_status xpu_lower_qproduct(xpu_codegen *cg, uint32_t layer, xpu_node node); /* qconv, qmatmul */
xpu_status xpu_lower_qglobal_average_pool(xpu_codegen *cg, uint32_t layer, xpu_node node);
xpu_status xpu_lower_qpair(xpu_codegen *cg, uint32_t layer, xpu_node node); /* qadd, qmul */
xpu_status xpu_lower_lookup(xpu_codegen *cg, uint32_t layer, xpu_node node);
xpu_status xpu_lower_quantize(xpu_codegen *cg, uint32_t layer, xpu_node node);
xpu_status xpu_lower_dequantize(xpu_codegen *cg, uint32_t layer, xpu_node node);

#endif
