/* Copies of weights in L3. */
#ifndef XPU_CODEGEN_LOWER_WEIGHT_COPIES_H
#define XPU_CODEGEN_LOWER_WEIGHT_COPIES_H

#include "xpu_codegen/state.h"

/* Weights that placement rules want in L3 get copies there, filled by a layer "weights/L3" before all others; calls
 * then read the copies. Nothing changes without such rules. */
xpu_status xpu_copy_weights(xpu_codegen *cg);
/* Rules that match a weight hold for its copy where it has one. */
void xpu_rules_of_copies(const xpu_codegen *cg, xpu_arena *arena, xpu_memplan_problem *problem);
/* Why weights that should be in L3 have no copy, for the spills of the plan. */
void xpu_explain_missing_copies(xpu_codegen *cg, xpu_memplan *plan);

#endif
