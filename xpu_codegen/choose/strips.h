/* Pairs of convolutions in strips of rows, where what stands between them would cross GM. */
#ifndef XPU_CODEGEN_CHOOSE_STRIPS_H
#define XPU_CODEGEN_CHOOSE_STRIPS_H

#include "xpu_codegen/choose/geometry.h"

/*
 * A convolution on the tensor engine and the depthwise one that alone reads its result become several of each, of
 * neighbouring rows, one pair after the other, where GM takes longer for the result between them than the cores and the
 * engine take for the rows that are then made twice. Behind precision and layouts: scales are those of whole tensors,
 * and no result changes.
 */
xpu_status xpu_cut_strips(xpu_codegen *cg);

/* Cycles of one core for a depthwise convolution of float32 that makes `out_h` rows of `out_w` pixels from `in_h` rows
 * of `in_w`, which go through `prologue` first (NULL: none). */
double xpu_depthwise_cycles(const xpu_codegen *cg, const xpu_conv_shape *s, const xpu_chain *prologue, double out_h,
                            double out_w, double in_h, double in_w);

#endif
