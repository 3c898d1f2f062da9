/* Nodes that make no layer and no bytes, because their results are read from where their operands are. */
#ifndef XPU_CODEGEN_READ_THROUGH_H
#define XPU_CODEGEN_READ_THROUGH_H

#include "xpu_codegen/values.h"

/* Whether a node is one, its result staying inside the program: a slice that concats alone read, which read boxes of it
 * (reshapes between that add or drop dims of 1 make nothing either); repeated pixels that concats, chains over
 * images and convolutions, as their branch, alone read; transposed matrices that products of few rows alone read; what
 * shuffles of images make on the way, and what they make where slices alone read it (shuffle.h); bytes that a product's
 * load makes (quantised_input.h). */
int xpu_is_read_through(xpu_codegen *cg, xpu_node node);
/* The matrices that are read through their transpose `value`, or 0. */
xpu_value xpu_untransposed(xpu_codegen *cg, xpu_value value);

#endif
