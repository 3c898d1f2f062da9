/* --frames: an input is fed frame by frame through one session, and the outputs are stacked. */
#ifndef XPU_TOOLS_FRAMES_H
#define XPU_TOOLS_FRAMES_H

#include "tools/common/inputs.h"
#include "tools/common/tool.h"

typedef struct {
    uint32_t input; /* index into the inputs */
    int axis;
    int64_t size, hop, count; /* elements along the axis, and how many frames there are */
    int64_t whole[8];         /* the dims that the input has in its file */
    void (*begin)(void *context, int64_t frame, int64_t frames); /* before each; NULL: nobody is told */
    void *context;
} xpu_frames;

/* Reads --frames and gives its input the dims of a frame. Returns an exit code: 2 [frames]. */
int xpu_frames_read(xpu_tool *tool, xpu_inputs *inputs, xpu_frames *frames);

/* Runs all frames; the data of the inputs are there. `outputs` get a new first axis, their data is malloc'd. `stats` is
 * malloc'd text: sums, and each frame's share. run->stats_file is written here. Returns an exit code. */
int xpu_frames_run(xpu_tool *tool, xpurt_program *program, const xpu_inputs *inputs, const xpu_frames *frames,
                   const xpurt_run_options *run, xpurt_tensor *outputs, char **stats);

#endif
