/* The tensor engine. */
#ifndef XPU_SIM_FUNC_TENSOR_H
#define XPU_SIM_FUNC_TENSOR_H

#include "sim/func/job.h"

int xpu_func_tensor(const xpu_func_job *job);

/* Bytes of `scratch` of the chip. */
size_t xpu_func_tensor_scratch(void);

#endif
