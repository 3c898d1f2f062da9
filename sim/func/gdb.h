/*
 * gdb's remote serial protocol for the functional chip: cores are threads, all stop together. The chip runs in its
 * usual schedule between two stops. Software breakpoints, watchpoints (also on what engines write), registers, memory.
 */
#ifndef XPU_SIM_FUNC_GDB_H
#define XPU_SIM_FUNC_GDB_H

#include <stdint.h>

#include "sim/func/core.h"

typedef struct xpu_gdb xpu_gdb;
struct xpu_func;

/* Listens on 127.0.0.1; a client is waited for when the program is about to run. Port 0: one that is free. NULL: the
 * port cannot be had (errno), or out of memory. */
xpu_gdb *xpu_gdb_listen(struct xpu_func *func, unsigned port);
/* Talks to a client that is there already. The files are closed with the object. */
xpu_gdb *xpu_gdb_attach(struct xpu_func *func, int in, int out);
void xpu_gdb_free(xpu_gdb *gdb);
unsigned xpu_gdb_port(const xpu_gdb *gdb);

/* After a start: the next turn waits for the client's commands. */
void xpu_gdb_start(xpu_gdb *gdb);

/* Before each turn: talks to the client while the chip is stopped. Chooses the core whose turn it is (it should be
 * *core) and shortens *budget, its instructions. */
void xpu_gdb_before(xpu_gdb *gdb, unsigned *core, uint64_t *budget);

/* After a turn: why the core stopped; moved: whether anything did. */
void xpu_gdb_after(xpu_gdb *gdb, unsigned core, xpu_hart_reason reason, int moved);

/* After the last turn: the client may look at a fault before it is reported to the runtime; it is told of the end. */
void xpu_gdb_end(xpu_gdb *gdb);

/* Whether dead locks and the watchdog are looked for: not while single cores run. */
int xpu_gdb_runs_all(const xpu_gdb *gdb);

/* An access of a core; LM as engines address it. */
void xpu_gdb_access(xpu_gdb *gdb, uint32_t address, uint32_t bytes, int write);

#endif
