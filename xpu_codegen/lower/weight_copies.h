/* Copies of weights in L3. */
#ifndef XPU_CODEGEN_LOWER_WEIGHT_COPIES_H
#define XPU_CODEGEN_LOWER_WEIGHT_COPIES_H

#include "xpu_codegen/state.h"

/* cg->wishes where placement rules are about weights, and whether any weight gets a copy in L3. */
xpu_status xpu_choose_copies(xpu_codegen *cg, int *any);
/* Lives of `buffers`, which are those of the program, behind a layer before all others. */
void xpu_live_behind_copies(xpu_codegen *cg, xpu_program_buffer *buffers);
/* Fills the copies in layer 0, which has no calls yet; its words become the first of the plan table, and the calls of
 * other layers read the copies. */
xpu_status xpu_make_copies(xpu_codegen *cg);
/* Rules that match a weight hold for its copy where it has one. */
void xpu_rules_of_copies(const xpu_codegen *cg, xpu_arena *arena, xpu_memplan_problem *problem);
/* Why weights that should be in L3 have no copy, for the spills of the plan. */
void xpu_explain_missing_copies(xpu_codegen *cg, xpu_memplan *plan);

#endif
