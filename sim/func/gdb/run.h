/* How the cores go and stop for gdb. */
#ifndef XPU_SIM_FUNC_GDB_RUN_H
#define XPU_SIM_FUNC_GDB_RUN_H

#include "sim/func/gdb/state.h"

/* Signals as gdb numbers them. */
enum {
    XPU_GDB_INT = 2,
    XPU_GDB_ILL = 4,
    XPU_GDB_TRAP = 5,
    XPU_GDB_ABRT = 6,
    XPU_GDB_BUS = 10,
    XPU_GDB_SEGV = 11,
    XPU_GDB_ALRM = 14
};

/* All cores stop; `why` comes before the thread in the reply that says so. */
void xpu_gdb_stop(xpu_gdb *gdb, unsigned core, int signal, const char *why);
/* From here on the cores do as `action` says. */
void xpu_gdb_resume(xpu_gdb *gdb);
/* The program ends with a fault that says so. */
void xpu_gdb_kill(xpu_gdb *gdb);

/* Whether all cores go. */
int xpu_gdb_runs_all(const xpu_gdb *gdb);
/* The core whose turn it is: one that steps, every second time while it stalls; else the next that goes. */
unsigned xpu_gdb_choose(xpu_gdb *gdb, unsigned core, uint64_t *budget);

#endif
