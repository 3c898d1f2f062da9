/* The functional chip as a device of the runtime: the chip in C, exact in results, without timing. */
#ifndef XPU_SIM_FUNC_DRIVER_H
#define XPU_SIM_FUNC_DRIVER_H

#include "xpu_runtime/include/xpurt_device.h"

extern const xpurt_device_driver xpu_func_driver;

#endif
