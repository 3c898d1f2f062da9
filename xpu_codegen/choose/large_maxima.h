/* Maxima over large windows. */
#ifndef XPU_CODEGEN_CHOOSE_LARGE_MAXIMA_H
#define XPU_CODEGEN_CHOOSE_LARGE_MAXIMA_H

#include "xpu_codegen/state.h"

/* A maximum over more than 7 x 7 taps becomes one over fewer taps of what another one makes: of a maximum that the
 * network has of the same operand, or of one that is added. Behind the choice of precision: the bits are
 * those of one maximum. */
xpu_status xpu_split_maxima(xpu_codegen *cg);

#endif
