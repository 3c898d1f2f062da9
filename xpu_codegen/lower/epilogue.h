/* Arguments that calls of matrix-like layers have in common (matrix.c). */
#ifndef XPU_CODEGEN_LOWER_EPILOGUE_H
#define XPU_CODEGEN_LOWER_EPILOGUE_H

#include "xpu_codegen/choose/tiles.h"
#include "xpu_codegen/lower/calls.h"
#include "xpu_codegen/state.h"

/* What follows the accumulation. */
struct xpu_epilogue_group xpu_epilogue_of(const xpu_codegen *cg, xpu_node node);
/* An operand that may be absent. */
xpu_arg_address xpu_operand_of(xpu_codegen *cg, uint32_t layer, xpu_node node, uint32_t input, const char *role);
/* Whether the layer before makes x on the tensor engine: then its rows can be taken as they come. */
int xpu_follows_tensor(xpu_codegen *cg, uint32_t layer, xpu_node node);
/* The tiles of the convolution that makes x so, whose rows are those of the image; NULL: there is none. */
const xpu_tiles *xpu_convolution_before(xpu_codegen *cg, uint32_t layer, xpu_node node);

#endif
