/* Minimalloc's CSV: lines to buffers, and a plan to lines. memplan/file.h says what the form is. */
#ifndef XPU_MEMPLAN_CSV_H
#define XPU_MEMPLAN_CSV_H

#include "memplan/memplan.h"

typedef XPU_ARRAY(xpu_memplan_buffer) xpu_memplan_csv;

/* The buffers, each allowed level 0. [memplan-csv] names the line that is none. */
xpu_status xpu_memplan_csv_read(xpu_arena *arena, const char *path, xpu_memplan_csv *buffers, xpu_diags *diags);

/* The problem's columns with the offsets of a plan. [memplan-csv]: several levels, aliases, reserved bytes or a name
 * with a comma have no place there. */
xpu_status xpu_memplan_csv_write(xpu_arena *arena, const char *path, const xpu_memplan_problem *problem,
                                 const xpu_memplan *plan, xpu_diags *diags);

#endif
