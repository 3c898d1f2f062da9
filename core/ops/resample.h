/* Resampling of one axis: attributes read in one place. */
#ifndef XPU_CORE_OPS_RESAMPLE_H
#define XPU_CORE_OPS_RESAMPLE_H

#include "core/arith_resample.h"
#include "core/ops/op.h"

/* Of a resample node that was inferred, but for the sizes, and the scale where the attribute is 0: that of the sizes.
 */
xa_resample xpu_resample_of(const xpu_graph *graph, xpu_node node);

/* At least as many taps as any element has, for all values of the symbols; 0: too many for the device, or not known. */
int32_t xpu_resample_bound(const xpu_graph *graph, xpu_node node);

#endif
