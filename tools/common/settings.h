/* --set KEY=VALUE: keys of a chip's description that a tool changes. */
#ifndef XPU_TOOLS_SETTINGS_H
#define XPU_TOOLS_SETTINGS_H

#include "core/chip.h"
#include "tools/common/tool.h"

typedef struct {
    const char *name; /* "gm.bytes_per_cycle" */
    int key;          /* its number, see xpu_chip_key */
    uint32_t *values; /* at least one */
    uint32_t count;
} xpu_setting;

/* Every --set of the command line, KEY=VALUE[,VALUE...] with K, M and G for powers of 1024. Returns an exit code: 2
 * [usage] for what is no setting, [set-key] for a key that no chip has, with the nearest one, or that is set twice. */
int xpu_settings_read(xpu_tool *tool, xpu_setting **settings, uint32_t *count);

/* Changes `chip` as the settings of one run say: one value each, of keys that the chip takes at run time. Returns an
 * exit code: besides the above [set-key] for another key, and what xpu_chip_check finds. */
int xpu_settings_of_run(xpu_tool *tool, xpu_chip *chip);

#endif
