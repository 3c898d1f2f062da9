/* Factors of channels that the network computes, behind convolutions on the tensor engine. */
#ifndef XPU_CODEGEN_CHOOSE_FACTORS_H
#define XPU_CODEGEN_CHOOSE_FACTORS_H

#include "xpu_codegen/values.h"

/* A chain that multiplies a convolution's channels by computed factors, and adds images, becomes that convolution with
 * computed scales. Behind the choice of precision. */
xpu_status xpu_join_factors(xpu_codegen *cg);

#endif
