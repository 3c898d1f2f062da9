/* Which layers compute in int16 on the tensor engine, and why. */
#ifndef XPU_CODEGEN_CHOOSE_PRECISION_H
#define XPU_CODEGEN_CHOOSE_PRECISION_H

#include "xpu_codegen/state.h"

xpu_status xpu_choose_precision(xpu_codegen *cg);

/* A second result of a layer: the largest magnitude of its first. */
xpu_value xpu_absmax_beside(xpu_codegen *cg, xpu_node node);
/* The largest of several numbers (float32, rank 0), found in front of `before`. */
xpu_value xpu_largest_of(xpu_codegen *cg, xpu_node before, const xpu_value *items, uint32_t count, const char *name);

#endif
