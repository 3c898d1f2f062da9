/* The functional chip as a device of the runtime: the chip in C, exact in results, without timing. */
#ifndef XPU_SIM_FUNC_DRIVER_H
#define XPU_SIM_FUNC_DRIVER_H

#include "xpu_runtime/include/xpurt_device.h"

extern const xpurt_device_driver xpu_func_driver;

/* How devices that are created from now on work; all 0 until it is called. */
typedef struct {
    int check_races;   /* look for races (driver->race); slower, and needs memory */
    unsigned gdb_port; /* not 0: wait for gdb on this port of 127.0.0.1 before a program begins, and obey it */
} xpu_func_options;
void xpu_func_configure(const xpu_func_options *options);

/* The chip of a device that this driver made; for tests. */
struct xpu_func *xpu_func_of(xpurt_device *device);

#endif
