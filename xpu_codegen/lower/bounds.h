/* Bounds of sizes that a run finds and the model does not bound. */
#ifndef XPU_CODEGEN_LOWER_BOUNDS_H
#define XPU_CODEGEN_LOWER_BOUNDS_H

#include "xpu_codegen/state.h"

/* Buffers need an upper bound: a symbol that has none and stands in a shape gets one, and a note says so. */
void xpu_bound_sizes(xpu_codegen *cg);

#endif
