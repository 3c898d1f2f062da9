/* The loop bodies of elementwise chains as C. */
#ifndef XPU_CODEGEN_EMIT_CHAIN_BODY_H
#define XPU_CODEGEN_EMIT_CHAIN_BODY_H

#include "xpu_codegen/lower/chain.h"

/* The C type of an element in memory; float16 and bfloat16 as their bits. */
const char *xpu_memory_type(xpu_dtype dtype);
void xpu_emit_chain_body(xpu_text *text, const xpu_chain_body_text *body);

#endif
