/* How the cores go and stop for gdb. */
#include "sim/func/gdb/run.h"

#include <stdio.h>

void xpu_gdb_stop(xpu_gdb *gdb, unsigned core, int signal, const char *why) {
    gdb->running = 0;
    gdb->current = core;
    snprintf(gdb->stop, sizeof gdb->stop, "T%02x%sthread:%x;", (unsigned)signal, why, core + 1);
}

void xpu_gdb_kill(xpu_gdb *gdb) {
    xpurt_fault *fault = &gdb->func->fault;
    if (fault->cause == XPU_FAULT_NONE) {
        *fault = (xpurt_fault){.cause = XPU_FAULT_ABORT,
                               .cause_text = xpu_fault_text(XPU_FAULT_ABORT),
                               .core = (int)gdb->current,
                               .engine = -1,
                               .pc = gdb->func->harts[gdb->current].pc,
                               .reason = "the debugger has ended the run"};
    }
    gdb->leaving = 1;
}

int xpu_gdb_runs_all(const xpu_gdb *gdb) {
    for (unsigned i = 0; i < gdb->func->chip.cores; i++)
        if (gdb->in >= 0 && gdb->action[i] != XPU_GDB_GO) return 0;
    return 1;
}

void xpu_gdb_resume(xpu_gdb *gdb) {
    unsigned moving = 0;
    gdb->running = 1;
    gdb->still = 0;
    gdb->stalled = 0;
    gdb->watch_hit = -1;
    for (unsigned i = 0; i < gdb->func->chip.cores; i++) {
        gdb->retired[i] = gdb->func->harts[i].instret;
        moving += gdb->action[i] != XPU_GDB_STAY;
    }
    if (gdb->break_core >= 0) gdb->func->harts[gdb->break_core].pass = gdb->func->harts[gdb->break_core].pc;
    gdb->break_core = -1;
    if (!moving) xpu_gdb_stop(gdb, gdb->current, XPU_GDB_TRAP, "");
}

unsigned xpu_gdb_choose(xpu_gdb *gdb, unsigned core, uint64_t *budget) {
    unsigned cores = gdb->func->chip.cores;
    gdb->stalled ^= 1;
    for (unsigned i = 0; i < 2 * cores; i++) {
        unsigned at = (core + i) % cores;
        xpu_gdb_action wanted = (i < cores) == (gdb->stalled != 0) ? XPU_GDB_STEP : XPU_GDB_GO;
        if (gdb->action[at] != wanted) continue;
        if (wanted == XPU_GDB_STEP) *budget = 1;
        return at;
    }
    return core;
}
