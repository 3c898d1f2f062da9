/* xpu-run --instructions: what retires on the Verilated chip, as text on standard output. */
#ifndef XPU_TOOLS_INSTRUCTIONS_H
#define XPU_TOOLS_INSTRUCTIONS_H

#include "tools/common/device.h"
#include "xpu_runtime/include/xpurt.h"

/* Sets options->rtl.trace where --instructions is given: of layers of its name or pattern, and of --core. The layer of
 * an instruction is what its core has stored to register LAYER. `program` NULL: a bare one, whose layers are numbers.
 * Returns an exit code: 2 for a layer [layer-unknown] or core [usage] that does not exist. */
int xpu_instructions_configure(xpu_tool *tool, const xpurt_program *program, const xpu_chip *chip,
                               xpu_device_options *options);

#endif
