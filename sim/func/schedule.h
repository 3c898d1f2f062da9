/* The schedule of the functional chip. */
#ifndef XPU_SIM_FUNC_SCHEDULE_H
#define XPU_SIM_FUNC_SCHEDULE_H

#include "sim/func/func.h"

/* Runs a started program until an event (see xpurt_device.h): 0; -1: it has not been started, or out of memory. */
int xpu_func_run(xpu_func *func, uint64_t budget, xpurt_event *event);

#endif
