/* Breakpoints and watchpoints. */
#include "sim/func/gdb/breaks.h"

#include <string.h>

#include "sim/func/core.h"

static void watch(xpu_gdb *gdb, int on) {
    for (unsigned i = 0; i < gdb->func->chip.cores; i++)
        xpu_hart_observe(&gdb->func->harts[i], on || gdb->func->races != NULL);
}

int xpu_gdb_watchpoint(xpu_gdb *gdb, const xpu_gdb_watch *wanted, int set) {
    unsigned i = 0;
    while (i < gdb->watch_count && memcmp(&gdb->watches[i], wanted, sizeof *wanted) != 0) i++;
    if (set && i == gdb->watch_count) {
        if (i == XPU_GDB_WATCHES) return 0;
        gdb->watches[gdb->watch_count++] = *wanted;
    } else if (!set && i < gdb->watch_count) {
        gdb->watches[i] = gdb->watches[--gdb->watch_count];
    }
    watch(gdb, gdb->watch_count != 0);
    return 1;
}

int xpu_gdb_code_break(xpu_gdb *gdb, uint32_t address, int set) {
    unsigned i = 0;
    while (i < gdb->break_count && gdb->breaks[i] != address) i++;
    if (set && i == XPU_GDB_BREAKS) return 0;
    if (!xpu_code_break(gdb->func->code, address, set)) return 0;
    if (set && i == gdb->break_count)
        gdb->breaks[gdb->break_count++] = address;
    else if (!set && i < gdb->break_count)
        gdb->breaks[i] = gdb->breaks[--gdb->break_count];
    return 1;
}

void xpu_gdb_detach(xpu_gdb *gdb) {
    while (gdb->func->code && gdb->break_count) /* the program goes on without them */
        xpu_code_break(gdb->func->code, gdb->breaks[--gdb->break_count], 0);
    gdb->watch_count = 0;
    watch(gdb, 0);
    gdb->leaving = 1;
}
