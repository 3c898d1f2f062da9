/* Whether core 0 makes the descriptors of layers on engines while a program runs, or lists are made before
 * (lower/lists.h). */
#ifndef XPU_CODEGEN_CHOOSE_LISTED_H
#define XPU_CODEGEN_CHOOSE_LISTED_H

#include "xpu_codegen/state.h"
#include "xpu_runtime/program/record.h"

/* A program without branches and loops: of one shape, or of shapes that a run binds. */
xpu_listed xpu_when_listed(xpu_codegen *cg);

/* A program of one shape, without branches and loops: what lists cost is known. */
int xpu_is_listed(xpu_codegen *cg);

#endif
