/* From nodes to layers. */
#ifndef XPU_CODEGEN_LOWER_PROGRAM_H
#define XPU_CODEGEN_LOWER_PROGRAM_H

#include "xpu_codegen/state.h"

/* All layers of all regions; done once. */
xpu_status xpu_lower_program(xpu_codegen *cg);

#endif
