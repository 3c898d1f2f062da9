/* The device of xpu-validate: a program that libxpuc made, on func or rtl. */
#ifndef XPU_TOOLS_VALIDATE_DEVICE_H
#define XPU_TOOLS_VALIDATE_DEVICE_H

#include "tools/common/device.h"
#include "xpuc/include/xpuc_validate.h"

typedef struct {
    xpu_tool *tool;
    xpu_device_options device;
} xpu_validate_device;

/* xpuc_validate_options.device with an xpu_validate_device: runs the program, and gives outputs and the tensors of its
 * dump. What is wrong is reported to the tool. */
int xpu_validate_device_run(const xpu_validate_device *device, xpuc_device_run *run, char **text);

#endif
