/* The C of a program's branches and loops. */
#ifndef XPU_CODEGEN_EMIT_STEPS_TEXT_H
#define XPU_CODEGEN_EMIT_STEPS_TEXT_H

#include "xpu_codegen/state.h"

/* The function xpu_program, behind the plan table; nothing where all layers are one range. */
void xpu_emit_steps(xpu_codegen *cg, xpu_text *text);
/* "const ", or "" where steps change words of the plan table. */
const char *xpu_plan_constness(const xpu_codegen *cg);

#endif
