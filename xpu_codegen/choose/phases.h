/* Convolutions of one pixel behind the phases of a transposed convolution. */
#ifndef XPU_CODEGEN_CHOOSE_PHASES_H
#define XPU_CODEGEN_CHOOSE_PHASES_H

#include "xpu_codegen/state.h"

/* A convolution on the tensor engine that sees one pixel of an image, which an INTERLEAVE makes of phases, multiplies
 * all phases at once instead, by weights that are block-diagonal, where it goes into phases of another transposed
 * convolution: those of both are put side by side once. Before weights become integers. */
xpu_status xpu_multiply_phases(xpu_codegen *cg);

#endif
