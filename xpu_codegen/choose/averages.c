/* Averages in integers: sums of the int16 that stand for the operand, times one over the number of taps that count. */
#include "xpu_codegen/choose/averages.h"

#include "core/passes/rewrite.h"
#include "xpu_codegen/choose/geometry.h"
#include "xpu_codegen/choose/wide_tasks.h"
#include "xpu_runtime/include/generated/xpu_chip_regs.h"

enum { CHANNELS = 1 };

const char *xpu_why_not_wide_average(xpu_codegen *cg, xpu_node node) {
    const xpu_value x = xpu_node_input(cg->graph, node, XPU_IN_X), y = xpu_node_output(cg->graph, node, XPU_OUT_Y);
    if (xpu_has_groups(cg->graph)) return "averages among quantised integers keep the roundings of the model";
    if (!xpu_dim_is_const(&cg->graph->dims, xpu_value_dim(cg, x, CHANNELS), NULL)) return "its channels are open";
    if (xpu_is_empty(cg, x) || xpu_is_empty(cg, y)) return "its operand or result has no elements";
    if (xpu_node_is(cg->graph, node, XPU_OP_GLOBAL_AVERAGE_POOL)) return NULL;
    const xpu_window window = xpu_window_of(cg->graph, node);
    xpu_conv_shape shape = xpu_image_shape(cg, x, y);
    xpu_set_window(&shape, window);
    if (!xpu_node_int(cg->graph, node, XPU_ATTR_COUNT_INCLUDE_PAD) && !xpu_has_taps_inside(cg, x, &window))
        return "a window may lie in the padding alone";
    if (window.kernel[0] * window.kernel[1] == 1) return "its windows are single pixels";
    if (window.kernel[0] > XPU_WINDOW_KERNEL || window.kernel[1] > XPU_WINDOW_KERNEL)
        return "an average of more than 7 x 7 runs on the cores";
    return xpu_why_not_wide_depthwise(cg, &shape, 0);
}
