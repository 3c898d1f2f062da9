/* The state of the functional chip as text. */
#ifndef XPU_SIM_FUNC_REPORT_CHIP_H
#define XPU_SIM_FUNC_REPORT_CHIP_H

#include "sim/func/func.h"

/* Fills in fault.state: the state of all cores, queues and counters as text. The hook `describe` of a chip. */
void xpu_func_describe(xpu_func *func);

#endif
