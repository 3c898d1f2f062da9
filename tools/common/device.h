/* The devices that tools run programs on, by name. */
#ifndef XPU_TOOLS_DEVICE_H
#define XPU_TOOLS_DEVICE_H

#include "core/chip.h"
#include "tools/common/tool.h"
#include "xpu_runtime/include/xpurt_device.h"
#include "xpu_runtime/include/xpurt_rtl.h"

/* The driver of device `name` (func, or rtl: the Verilated chip's library beside the tool) for `chip`. NULL with a
 * diagnostic: no such device [device], or no library for this chip [device-missing]. `options` are for rtl; NULL: none.
 */
const xpurt_device_driver *xpu_tool_device(xpu_tool *tool, const char *name, const xpu_chip *chip,
                                           const xpurt_rtl_options *options);

#endif
