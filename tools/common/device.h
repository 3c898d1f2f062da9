/* The devices that tools run programs on, and the options that concern them. */
#ifndef XPU_TOOLS_DEVICE_H
#define XPU_TOOLS_DEVICE_H

#include "core/chip.h"
#include "tools/common/tool.h"
#include "xpu_runtime/include/xpurt_device.h"
#include "xpu_runtime/include/xpurt_rtl.h"

#define XPU_DEFAULT_DEVICE "rtl"

typedef struct {
    const char *device; /* "func", "rtl", "ref" */
    int is_ref, has_time;
    xpurt_rtl_options rtl; /* without timing max_cycles counts instructions */
} xpu_device_options;

/* Reads --device, --max-cycles, --seed, --no-skip, --lockstep. Returns an exit code: 2 [usage] for a
 * device that does not exist. */
int xpu_device_options_read(xpu_tool *tool, xpu_device_options *options);

/* The driver of the device (not ref) for `chip`; of rtl the library beside the tool. Returns an exit code: 3, there is
 * no library for this chip [device-missing], which has been printed. */
int xpu_device_open(xpu_tool *tool, const xpu_device_options *options, const xpu_chip *chip,
                    const xpurt_device_driver **driver);

/* The same for rtl alone. NULL with error filled in: there is none. */
const xpurt_device_driver *xpu_device_rtl(xpu_arena *arena, const xpurt_rtl_options *options, const xpu_chip *chip,
                                          xpurt_error *error);

#endif
