/* What the target adds to --report. */
#ifndef XPU_CODEGEN_PACK_REPORT_H
#define XPU_CODEGEN_PACK_REPORT_H

#include "xpu_codegen/state.h"

void xpu_report_program(xpu_codegen *cg, void *report, int packed);

#endif
