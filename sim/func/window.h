/* The window engine. */
#ifndef XPU_SIM_FUNC_WINDOW_H
#define XPU_SIM_FUNC_WINDOW_H

#include "sim/func/job.h"

int xpu_func_window(const xpu_func_job *job);

#endif
