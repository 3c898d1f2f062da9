/* CSRs of a core. */
#ifndef XPU_SIM_FUNC_CORE_CSR_H
#define XPU_SIM_FUNC_CORE_CSR_H

#include "sim/func/hart.h"

/* CSRs as the program sees them, while the core does not run. Return 0 where there is none, or none to be written. */
int xpu_hart_read_csr(xpu_hart *hart, unsigned number, uint32_t *value);
int xpu_hart_write_csr(xpu_hart *hart, unsigned number, uint32_t value);

#endif
