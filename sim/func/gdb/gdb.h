/*
 * gdb's remote serial protocol for the functional chip: cores are threads, all stop together. The chip runs in its
 * usual schedule between two stops. Software breakpoints, watchpoints (also on what engines write), registers, memory.
 */
#ifndef XPU_SIM_FUNC_GDB_GDB_H
#define XPU_SIM_FUNC_GDB_GDB_H

#include "sim/func/func.h"

typedef struct xpu_gdb xpu_gdb;

/* These two become the debugger of the chip, which frees them when it goes. Listens on 127.0.0.1; a client is waited
 * for when the program is about to run. Port 0: one that is free. NULL: the port cannot be had (errno), or out of
 * memory. */
xpu_gdb *xpu_gdb_listen(xpu_func *func, unsigned port);
/* Talks to a client that is there already. The files are closed with the object. */
xpu_gdb *xpu_gdb_attach(xpu_func *func, int in, int out);
/* Also while the chip stays: it has no debugger then. */
void xpu_gdb_free(xpu_gdb *gdb);
unsigned xpu_gdb_port(const xpu_gdb *gdb);

#endif
