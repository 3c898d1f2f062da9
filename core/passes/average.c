/* A global average behind a convolution of single pixels is that convolution of the average: one pixel instead of all.
 * So the convolution's result has a reader less, and what depends on its average may become part of it. */
#include "core/ops/window.h"
#include "core/passes/passes.h"
#include "core/passes/rewrite.h"

/* Whether each output pixel is a linear function of the input pixel at its place, the same for all pixels. */
static int is_pixelwise(const xpu_graph *graph, xpu_node conv) {
    if (!xpu_node_is(graph, conv, XPU_OP_CONV) || xpu_node_input(graph, conv, XPU_IN_BRANCH).id) return 0;
    if (xpu_node_int(graph, conv, XPU_ATTR_ACTIVATION) != XPU_ACTIVATION_NONE ||
        xpu_node_int(graph, conv, XPU_ATTR_PRECISION) != XPU_PRECISION_FP32)
        return 0;
    const xpu_value w = xpu_node_input(graph, conv, XPU_IN_W), bias = xpu_node_input(graph, conv, XPU_IN_BIAS);
    if (!xpu_is_constant(graph, w) || (bias.id && !xpu_is_constant(graph, bias))) return 0;
    const xpu_window window = xpu_window_of(graph, conv);
    for (int axis = 0; axis < XPU_WINDOW_AXES; axis++) {
        if (window.kernel[axis] != 1 || window.stride[axis] != 1 || window.begin[axis] || window.end[axis]) return 0;
    }
    return window.groups == 1;
}

/* Whether the operand has no more channels than the result: the average then costs no more. */
static int is_narrow(const xpu_graph *graph, xpu_node conv) {
    int64_t dims[XPU_MAX_RANK]; /* [out][in] .. */
    return xpu_value_dims(graph, xpu_node_input(graph, conv, XPU_IN_W), NULL, dims) && dims[1] <= dims[0];
}

static xpu_status average_before_conv(xpu_graph *graph, xpu_node average, xpu_diags *diags) {
    if (!xpu_node_is(graph, average, XPU_OP_GLOBAL_AVERAGE_POOL)) return XPU_OK;
    const xpu_node conv = xpu_maker(graph, average, 0);
    if (!conv.id || !xpu_same_block(graph, conv, average)) return XPU_OK;
    if (!is_pixelwise(graph, conv) || !is_narrow(graph, conv)) return XPU_OK;
    const xpu_value x = xpu_node_input(graph, conv, XPU_IN_X);
    const xpu_node_info info = *xpu_node_at(graph, conv);
    const xpu_value inputs[] = {[XPU_IN_X] =
                                    xpu_build_part(graph, average, XPU_OP_GLOBAL_AVERAGE_POOL, &x, 1, NULL, 0, diags),
                                [XPU_IN_W] = xpu_node_input(graph, conv, XPU_IN_W),
                                [XPU_IN_BIAS] = xpu_node_input(graph, conv, XPU_IN_BIAS)};
    xpu_rewrite(graph, average, XPU_OP_CONV, inputs, sizeof inputs / sizeof *inputs, info.attrs.items,
                info.attrs.count);
    return xpu_op_infer(graph, average, diags);
}

xpu_status xpu_pass_averages_first(xpu_graph *graph, xpu_diags *diags) {
    if (xpu_has_groups(graph)) return XPU_OK;
    XPU_FOR_ALL_NODES(graph, node) {
        const xpu_status status = average_before_conv(graph, node, diags);
        if (status != XPU_OK) return status;
    }
    xpu_remove_dead(graph);
    return XPU_OK;
}
