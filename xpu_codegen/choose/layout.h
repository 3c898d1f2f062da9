/* Memory layouts, and relayouts where a layer wants another one. */
#ifndef XPU_CODEGEN_CHOOSE_LAYOUT_H
#define XPU_CODEGEN_CHOOSE_LAYOUT_H

#include "xpu_codegen/state.h"

xpu_status xpu_choose_layouts(xpu_codegen *cg);

#endif
