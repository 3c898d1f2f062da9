/* The DMA engines: each executes a kind of descriptor. */
#ifndef XPU_SIM_FUNC_DMA_H
#define XPU_SIM_FUNC_DMA_H

#include "sim/func/job.h"

int xpu_func_dma_copy(const xpu_func_job *job);
int xpu_func_dma_fill(const xpu_func_job *job);
int xpu_func_dma_gather(const xpu_func_job *job);

#endif
