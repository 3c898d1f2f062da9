/* The memory plan of the program. */
#ifndef XPU_CODEGEN_PACK_MEMORY_H
#define XPU_CODEGEN_PACK_MEMORY_H

#include "xpu_codegen/state.h"

/* Before linking: [rules-unused] and [rules-level] of the placement rules. */
xpu_status xpu_check_memory_rules(xpu_codegen *cg);
/* cg->memory; places of all buffers where the program has no symbols. The program is linked. */
xpu_status xpu_plan_memory(xpu_codegen *cg);

#endif
