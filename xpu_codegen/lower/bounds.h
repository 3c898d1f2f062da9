/* Bounds of sizes that a run finds. */
#ifndef XPU_CODEGEN_LOWER_BOUNDS_H
#define XPU_CODEGEN_LOWER_BOUNDS_H

#include "xpu_codegen/state.h"

/* Memory is planned for the largest sizes: [value-open] for each node that sizes a tensor by what only the run knows,
 * where neither the model nor the user bounds it. */
xpu_status xpu_check_bounds(xpu_codegen *cg);

#endif
