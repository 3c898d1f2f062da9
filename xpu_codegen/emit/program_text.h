/* The generated C. */
#ifndef XPU_CODEGEN_EMIT_PROGRAM_TEXT_H
#define XPU_CODEGEN_EMIT_PROGRAM_TEXT_H

#include "xpu_codegen/state.h"

/* The C text of one region (index into job->regions), NULL where it is on the host, and what follows all regions. */
const char *xpu_emit_region(xpu_codegen *cg, uint32_t region);
const char *xpu_emit_tail(xpu_codegen *cg);

#endif
