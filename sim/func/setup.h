/* Making the functional chip, and starting a program on it. */
#ifndef XPU_SIM_FUNC_SETUP_H
#define XPU_SIM_FUNC_SETUP_H

#include "sim/func/func.h"

/* Makes the chip that `chip` of an otherwise empty object describes: 0; -1: the host has no room for it. In both cases
 * to be closed. */
int xpu_func_open(xpu_func *func, int check_races);
void xpu_func_close(xpu_func *func);

/* Resets the chip, all cores begin at `entry`: 0; -1: a memory of the chip cannot be. */
int xpu_func_start(xpu_func *func, uint32_t entry);

/* What has been counted since the chip was made. */
void xpu_func_counters(const xpu_func *func, xpurt_counters *totals);

#endif
