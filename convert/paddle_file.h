/* From the graph to a program in memory, and from there to files. */
#ifndef XPU_CONVERT_PADDLE_FILE_H
#define XPU_CONVERT_PADDLE_FILE_H

#include "convert/paddle_writer.h"

/* NULL after reporting. `is_desc`: tensors do not have the names that a ProgramDesc takes for itself. */
pw *xpu_paddle_program_of(xpu_arena *arena, xpu_graph *graph, int is_desc, xpu_diags *diags);
/* A ProgramDesc of version 2.6.2; errors are reported by the output's commit. */
xpu_status xpu_paddle_write_desc(pw *w, xpu_output *output);
/* All parameters, by name. */
xpu_status xpu_paddle_write_parameters(const pw *w, xpu_output *output);

#endif
