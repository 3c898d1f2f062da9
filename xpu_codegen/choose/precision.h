/* Which layers compute in int16 on the tensor engine, and why. */
#ifndef XPU_CODEGEN_CHOOSE_PRECISION_H
#define XPU_CODEGEN_CHOOSE_PRECISION_H

#include "xpu_codegen/state.h"

xpu_status xpu_choose_precision(xpu_codegen *cg);

#endif
