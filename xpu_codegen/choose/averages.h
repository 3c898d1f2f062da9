/* Averages in integers. */
#ifndef XPU_CODEGEN_CHOOSE_AVERAGES_H
#define XPU_CODEGEN_CHOOSE_AVERAGES_H

#include "xpu_codegen/state.h"

/* NULL, or why an average over windows, or over images, stays in float32 in every precision. No chip is asked. */
const char *xpu_why_not_wide_average(xpu_codegen *cg, xpu_node node);

#endif
