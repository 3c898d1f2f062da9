/* Where layers run. */
#include "xpu_runtime/program/program.h"

const char *xpu_unit_name(xpu_unit unit) {
    static const char *const names[] = {[XPU_UNIT_HOST] = "host",
                                        [XPU_UNIT_CORE] = "core",
                                        [XPU_UNIT_TENSOR] = "tensor",
                                        [XPU_UNIT_DMA] = "dma",
                                        [XPU_UNIT_WINDOW] = "window"};
    return unit < XPU_UNIT_COUNT ? names[unit] : "";
}
