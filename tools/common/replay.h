/* xpu-run --layer: layers alone, each with its operands from a dump, and how their results differ from it. */
#ifndef XPU_TOOLS_REPLAY_H
#define XPU_TOOLS_REPLAY_H

#include "tools/common/tool.h"
#include "xpu_runtime/include/xpurt.h"

/* How many layers --layer means. Returns an exit code: 2 [layer-unknown], which has been printed, when there is none.
 */
int xpu_replay_layers(xpu_tool *tool, const xpurt_program *program, uint32_t *count);

/* Runs them with `options`, prints a line for each and what differs, writes --output and --heatmap. `layers`: how many
 * they are; of several, those that did not run in the dump are named and left out. `outputs`: room for those of the
 * program; `done` ends the line of a run, `after` (or NULL) is called behind it. Returns an exit code: 4
 * where a layer differs. */
typedef struct {
    xpurt_program *program;
    xpurt_tensor *outputs;
    uint32_t layers;
    const char *device;
    const char *(*done)(xpu_tool *tool, const char *stats);
    void (*after)(xpu_tool *tool, const xpurt_program *program, const xpurt_run_options *options);
} xpu_replays;
int xpu_replay_run(xpu_tool *tool, const xpu_replays *replays, const xpurt_run_options *options);

#endif
