/* Registers as gdb sees them, and their description. */
#ifndef XPU_SIM_FUNC_GDB_REGISTERS_H
#define XPU_SIM_FUNC_GDB_REGISTERS_H

#include "sim/func/gdb/state.h"

enum { XPU_GDB_REGISTERS = 33 + 32 + 11 + 32 };
const char *xpu_gdb_description(size_t *length);
/* Bytes of a register, 0: there is none of this number. */
unsigned xpu_gdb_register_bytes(unsigned number);
void xpu_gdb_read_register(xpu_hart *hart, unsigned number, uint8_t *bytes);
void xpu_gdb_write_register(xpu_hart *hart, unsigned number, const uint8_t *bytes);

#endif
