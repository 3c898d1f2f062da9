/* Which of xpu-run's options need or exclude which: the one table. */
#ifndef XPU_TOOLS_RUN_RULES_H
#define XPU_TOOLS_RUN_RULES_H

#include "tools/common/rules.h"

/* The first rule that the command line breaks on this device ("rtl", "func" or "ref") is an error [usage];
 * several_layers: --layer is known to match more than one. Returns an exit code. */
int xpu_run_check_rules(xpu_tool *tool, const char *device, int several_layers);

#endif
