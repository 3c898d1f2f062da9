/* Memory of the functional chip. */
#ifndef XPU_SIM_FUNC_MEMORY_H
#define XPU_SIM_FUNC_MEMORY_H

#include "sim/func/func.h"

/* Memory: 0, or -1 when the host has none. */
int xpu_func_memory_create(xpu_func *func);
void xpu_func_memory_destroy(xpu_func *func);

/* Copy-on-write map of a part of a file, see xpurt_device.h. */
int xpu_func_memory_map(xpu_func *func, uint64_t address, int file, uint64_t offset, size_t length);

/* Host pointer for an engine: GM, L3, SM and LM by 0x11000000, `length` bytes at a 40-bit address; NULL: not there. */
uint8_t *xpu_func_engine_memory(const xpu_func *func, uint64_t address, uint64_t length);

#endif
