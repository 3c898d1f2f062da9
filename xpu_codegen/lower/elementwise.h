/* Calls of kernel elementwise. */
#ifndef XPU_CODEGEN_LOWER_ELEMENTWISE_H
#define XPU_CODEGEN_LOWER_ELEMENTWISE_H

#include "xpu_codegen/choose/elementwise.h"
#include "xpu_codegen/lower/calls.h"

/* All fields but operands, sizes and scratch: no branch, no vectors, x as it is. */
struct xpu_elementwise_call xpu_elementwise_defaults(void);
/* The layer, with its steps and their scratch. */
xpu_status xpu_lower_elementwise(xpu_codegen *cg, uint32_t layer, const xpu_elementwise_tile *tile,
                                 struct xpu_elementwise_call *call);

#endif
