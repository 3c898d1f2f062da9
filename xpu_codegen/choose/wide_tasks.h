/* Depthwise convolutions of 16-bit operands: which, and their tasks on the cores. */
#ifndef XPU_CODEGEN_CHOOSE_WIDE_TASKS_H
#define XPU_CODEGEN_CHOOSE_WIDE_TASKS_H

#include "xpu_codegen/choose/byte_tasks.h"

/* NULL, or why a depthwise convolution stays in float32. No chip is asked: results are the same on all. */
const char *xpu_why_not_wide_depthwise(xpu_codegen *cg, const xpu_conv_shape *shape, int has_branch);
/* The fastest tasks of depthwise_i16 that fit LM, by a model of the cores; 0: none fits. narrow: weights are int8. */
int xpu_choose_wide_tasks(xpu_codegen *cg, const xpu_conv_shape *shape, int narrow, xpu_byte_tasks *tasks);

#endif
