/* Bare programs: ELF files that bring their own start-up code and run without the runtime. */
#ifndef XPU_TOOLS_BARE_H
#define XPU_TOOLS_BARE_H

#include "tools/common/tool.h"

/* xpu-run --bare: loads the program, runs it, dumps memory. The exit code is what the program writes to register EXIT,
 * 124 when it makes no progress or reaches --max-cycles, 125 after a fault, 126 when lock-step has found a difference.
 */
int xpu_bare_run(xpu_tool *tool);

#endif
