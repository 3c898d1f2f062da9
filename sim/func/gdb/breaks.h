/* Breakpoints and watchpoints. */
#ifndef XPU_SIM_FUNC_GDB_BREAKS_H
#define XPU_SIM_FUNC_GDB_BREAKS_H

#include "sim/func/gdb/state.h"

/* Sets or removes one; 0: there are too many, or it cannot be there. */
int xpu_gdb_watchpoint(xpu_gdb *gdb, const xpu_gdb_watch *wanted, int set);
int xpu_gdb_code_break(xpu_gdb *gdb, uint32_t address, int set);

/* The client leaves: the program goes on without them. */
void xpu_gdb_detach(xpu_gdb *gdb);

#endif
