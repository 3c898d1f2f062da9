/* Profiles: where a run's cycles went, as a table. */
#ifndef XPU_TOOLS_PROFILE_H
#define XPU_TOOLS_PROFILE_H

#include "tools/common/tool.h"

/* Prints the table of a run's statistics (xpurt_run_options.stats; NULL: nothing), if the device has time. */
void xpu_profile_print(xpu_tool *tool, const char *stats);

#endif
