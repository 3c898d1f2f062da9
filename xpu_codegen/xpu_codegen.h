/* The XPU target: what xpuc and the documents' generator see of it. */
#ifndef XPU_CODEGEN_H
#define XPU_CODEGEN_H

#include "core/target.h"

extern const xpu_target xpu_sim_target; /* "xpu-sim" */

/* The supported operators, the rules that they must meet and the patterns that are fused, as Markdown. */
void xpu_codegen_document(xpu_text *text);

#endif
