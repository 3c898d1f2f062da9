/* Whether core 0 makes the descriptors of layers on engines while a program runs, or lists are made before
 * (lower/lists.h). */
#ifndef XPU_CODEGEN_CHOOSE_LISTED_H
#define XPU_CODEGEN_CHOOSE_LISTED_H

#include "xpu_codegen/state.h"

/* Descriptors that the lists of a layer, and those of a program, may have: where there are more, each has more work, in
 * which core 0 makes the next ones. */
enum { XPU_MOST_LISTED = 4096, XPU_MOST_LISTED_OF_ALL = 32768 };

/* A program of one shape, without branches and loops. */
int xpu_is_listed(xpu_codegen *cg);

#endif
