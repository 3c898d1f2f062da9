/* Maxima over windows in integers. */
#ifndef XPU_CODEGEN_CHOOSE_MAXIMA_H
#define XPU_CODEGEN_CHOOSE_MAXIMA_H

#include "xpu_codegen/state.h"

/* NULL, or why a maximum stays in float32 in every precision. No chip is asked: results are the same on all. */
const char *xpu_why_not_wide_maximum(xpu_codegen *cg, xpu_node node);

#endif
