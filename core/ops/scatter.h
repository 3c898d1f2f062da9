/* How elements are numbers, for operators that combine or order them. */
#ifndef XPU_CORE_OPS_SCATTER_H
#define XPU_CORE_OPS_SCATTER_H

#include "core/arith_pick.h"
#include "core/ops/op.h"

/* Of float32 and of integers. */
xa_number xpu_number_of(xpu_dtype dtype);

#endif
