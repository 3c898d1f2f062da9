/* The loop bodies of elementwise chains as C. */
#ifndef XPU_CODEGEN_EMIT_CHAIN_BODY_H
#define XPU_CODEGEN_EMIT_CHAIN_BODY_H

#include "xpu_codegen/lower/chain.h"

void xpu_emit_chain_body(xpu_text *text, const xpu_chain_body_text *body);

#endif
