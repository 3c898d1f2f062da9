/* Branches and loops: steps around the layers of their bodies, and layers that move values in and out of these. */
#ifndef XPU_CODEGEN_LOWER_CONTROL_H
#define XPU_CODEGEN_LOWER_CONTROL_H

#include "xpu_codegen/state.h"

typedef xpu_status (*xpu_lower_block_fn)(xpu_codegen *cg, xpu_block block);

xpu_status xpu_lower_if(xpu_codegen *cg, xpu_node node, xpu_lower_block_fn lower_body);
xpu_status xpu_lower_loop(xpu_codegen *cg, xpu_node node, xpu_lower_block_fn lower_body);
/* Sets the symbols that a value defines, which is there now. */
void xpu_set_symbols_of(xpu_codegen *cg, xpu_value value);

#endif
