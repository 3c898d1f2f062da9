/* Registers of the functional chip. */
#ifndef XPU_SIM_FUNC_REGISTERS_H
#define XPU_SIM_FUNC_REGISTERS_H

#include "sim/func/func.h"

void xpu_func_registers_reset(xpu_func *func);

/* The bus of a core (context: its port): registers. */
xpu_bus_result xpu_func_load_register(void *port, uint32_t address, uint32_t *value);
xpu_bus_result xpu_func_store_register(void *port, uint32_t address, uint32_t *value);

#endif
