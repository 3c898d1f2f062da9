/* Where values would lie before the program is linked. */
#ifndef XPU_CODEGEN_LOWER_SLOW_H
#define XPU_CODEGEN_LOWER_SLOW_H

#include "xpu_codegen/state.h"
#include "xpu_runtime/program/placement.h"

/* The plan of memory of a program of one shape, as its rules want it; NULL: there is none. */
xpu_memplan *xpu_plan_unlinked(xpu_codegen *cg, xpu_arena *arena, xpu_placement *placement);

/* Sets cg->slow where GM is slower than L3 and values of a program of one shape lie there; 0: nobody needs it. */
int xpu_find_slow(xpu_codegen *cg);

#endif
