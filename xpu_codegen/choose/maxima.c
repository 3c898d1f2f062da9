/* Maxima over windows in integers: those that the window engine has, on any chip. */
#include "xpu_codegen/choose/maxima.h"

#include "core/passes/rewrite.h"
#include "xpu_codegen/choose/geometry.h"
#include "xpu_runtime/include/generated/xpu_chip_regs.h"

const char *xpu_why_not_wide_maximum(xpu_codegen *cg, xpu_node node) {
    enum { CHANNELS = 1, MOST_STEP = 255, MOST_TAPS = XPU_WINDOW_KERNEL * XPU_WINDOW_KERNEL * XPU_WINDOW_KERNEL };
    const xpu_value x = xpu_node_input(cg->graph, node, XPU_IN_X), y = xpu_node_output(cg->graph, node, XPU_OUT_Y);
    const xpu_window w = xpu_window_of(cg->graph, node);
    if (xpu_has_groups(cg->graph)) return "maxima among quantised integers keep the bits of the model";
    if (!xpu_dim_is_const(&cg->graph->dims, xpu_value_dim(cg, x, CHANNELS), NULL)) return "its channels are open";
    if (xpu_is_empty(cg, x) || xpu_is_empty(cg, y)) return "its operand or result has no elements";
    if (w.kernel[0] * w.kernel[1] == 1) return "its windows are single pixels";
    xpu_conv_shape shape = xpu_image_shape(cg, x, y);
    xpu_set_window(&shape, w);
    if (!xpu_padding_fits(&shape)) return "its padding is larger than a descriptor's fields";
    for (int axis = 0; axis < XPU_WINDOW_AXES; axis++) {
        if (w.kernel[axis] > MOST_TAPS) return "a window of more than 343 x 343 runs on the cores";
        if (w.stride[axis] > MOST_STEP || w.dilation[axis] > MOST_STEP)
            return "its stride or dilation is larger than a descriptor's fields";
    }
    return xpu_has_taps_inside(cg, x, &w) ? NULL : "a window may lie in the padding alone";
}
