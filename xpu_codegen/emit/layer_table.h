/* The generated C of programs with many layers. */
#ifndef XPU_CODEGEN_EMIT_LAYER_TABLE_H
#define XPU_CODEGEN_EMIT_LAYER_TABLE_H

#include "xpu_codegen/state.h"

/* The plan table and a table with a row for each layer, in GM with the code; layers that make the same calls share a
 * function. */
void xpu_emit_layer_table(xpu_codegen *cg, xpu_text *text);

#endif
