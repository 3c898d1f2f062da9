/* What the packets of gdb ask for. */
#ifndef XPU_SIM_FUNC_GDB_COMMANDS_H
#define XPU_SIM_FUNC_GDB_COMMANDS_H

#include "sim/func/gdb/state.h"

/* Executes a packet; gives 0 when there is nothing to answer. `packet` ends with 0, which `length` does not count. */
int xpu_gdb_command(xpu_gdb *gdb, char *packet, size_t length, xpu_gdb_reply *reply);

#endif
