/* Chains in front of depthwise convolutions. */
#ifndef XPU_CODEGEN_CHOOSE_PROLOGUE_H
#define XPU_CODEGEN_CHOOSE_PROLOGUE_H

#include "xpu_codegen/values.h"

/* Whether the kernel's strips (xpu_runtime/kernels/matrix_depthwise_strips.h) take the window of a depthwise
 * convolution, and LM certainly has room for one. */
int xpu_goes_in_strips(xpu_codegen *cg, xpu_node node);
/* A chain of one operand that only a depthwise convolution on the cores reads becomes part of it (attribute steps). */
xpu_status xpu_join_prologues(xpu_codegen *cg);
/* And hard swish behind them, whose largest magnitude the convolution then finds. */
xpu_status xpu_join_epilogues(xpu_codegen *cg);
/* And clips behind convolutions on the tensor engine that have an activation already, or a branch. */
xpu_status xpu_join_last_clips(xpu_codegen *cg);

#endif
