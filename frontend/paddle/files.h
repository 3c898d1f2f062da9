/* The files of a PaddlePaddle model. */
#ifndef XPU_FRONTEND_PADDLE_FILES_H
#define XPU_FRONTEND_PADDLE_FILES_H

#include "frontend/paddle/program.h"

typedef struct {
    const char *path;       /* of the program */
    const char *folder;     /* where it lies */
    const xpu_file *file;   /* of the program */
    const xpu_file *params; /* all parameters in one file, or NULL */
    const char *missing;    /* why there are no parameters, though the program has some; or NULL */
    xpu_paddle_program *program;
} xpu_paddle_files;

/*
 * Finds and reads the program at `path`, a file or a folder, and opens its parameter file. What is kept open is in
 * `arena`, the program in `scratch`. XPU_EMODEL, besides what the readers report: [paddle-format] for what is something
 * else (encrypted, Paddle-Lite's .nb, parameters); [paddle-folder] where it is not plain which program is meant.
 */
xpu_status xpu_paddle_open(xpu_arena *arena, xpu_arena *scratch, const char *path, const xpu_import_options *options,
                           xpu_paddle_files *files, xpu_diags *diags);

#endif
