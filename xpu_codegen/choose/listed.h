/* Whether core 0 makes the descriptors of layers on engines while a program runs, or lists are made before
 * (lower/lists.h). */
#ifndef XPU_CODEGEN_CHOOSE_LISTED_H
#define XPU_CODEGEN_CHOOSE_LISTED_H

#include "xpu_codegen/state.h"
#include "xpu_runtime/program/record.h"

/* A program of one shape, without branches and loops. */
int xpu_is_listed(xpu_codegen *cg);

#endif
