/* Memory layouts, and relayouts where a layer wants another one. */
#ifndef XPU_CODEGEN_CHOOSE_LAYOUT_H
#define XPU_CODEGEN_CHOOSE_LAYOUT_H

#include "xpu_codegen/state.h"

xpu_status xpu_choose_layouts(xpu_codegen *cg);
/* Reports each node of which xpu_choose_layouts does not hold any more. */
void xpu_verify_layouts(xpu_codegen *cg, xpu_verify_report report, void *context);

#endif
