/*
 * Averages over windows, where all have the same number of taps: depthwise convolutions whose weights are all equal. As
 * such they run in int16x8, which holds one weight as exactly as float32 does. Averages over images stay what they are.
 */
#include "xpu_codegen/choose/averages.h"

#include "core/arith.h"
#include "core/passes/rewrite.h"
#include "xpu_codegen/choose/geometry.h"
#include "xpu_codegen/choose/wide_tasks.h"

enum { CHANNELS = 1 };

/* Whether the last window along each axis ends inside the padded operand, as those of a convolution do. */
static int ends_inside(const xpu_codegen *cg, xpu_node node, const xpu_window *w) {
    const xpu_value x = xpu_node_input(cg->graph, node, XPU_IN_X);
    if (!xpu_node_int(cg->graph, node, XPU_ATTR_CEIL_MODE)) return 1;
    for (int axis = w->first; axis < XPU_WINDOW_AXES; axis++) {
        int64_t size;
        if (w->stride[axis] == 1) continue;
        if (!xpu_dim_is_const(&cg->graph->dims, xpu_value_dim(cg, x, 2 + axis - w->first), &size)) return 0;
        if ((size + w->begin[axis] + w->end[axis] - xpu_window_extent(w, axis)) % w->stride[axis] != 0) return 0;
    }
    return 1;
}

/* Whether all windows have as many taps that count. */
static int has_one_divisor(const xpu_codegen *cg, xpu_node node, const xpu_window *w) {
    if (!ends_inside(cg, node, w)) return 0;
    if (xpu_node_int(cg->graph, node, XPU_ATTR_COUNT_INCLUDE_PAD)) return 1;
    for (int axis = 0; axis < XPU_WINDOW_AXES; axis++) {
        if (w->begin[axis] || w->end[axis]) return 0;
    }
    return 1;
}

const char *xpu_why_not_wide_average(xpu_codegen *cg, xpu_node node) {
    const xpu_value x = xpu_node_input(cg->graph, node, XPU_IN_X), y = xpu_node_output(cg->graph, node, XPU_OUT_Y);
    int64_t channels;
    if (xpu_has_groups(cg->graph)) return "averages among quantised integers keep the roundings of the model";
    if (!xpu_dim_is_const(&cg->graph->dims, xpu_value_dim(cg, x, CHANNELS), &channels) || channels < 2)
        return "it has one channel, or an open number of them";
    if (xpu_is_empty(cg, x) || xpu_is_empty(cg, y)) return "its operand or result has no elements";
    if (xpu_node_is(cg->graph, node, XPU_OP_GLOBAL_AVERAGE_POOL)) return NULL;
    const xpu_window window = xpu_window_of(cg->graph, node);
    xpu_conv_shape shape = xpu_image_shape(cg, x, y);
    xpu_set_window(&shape, window);
    shape.groups = channels;
    if (!has_one_divisor(cg, node, &window)) return "its windows have different numbers of taps that count";
    if (window.kernel[0] * window.kernel[1] == 1) return "its windows are single pixels";
    return xpu_why_not_wide_depthwise(cg, &shape, 0);
}

xpu_status xpu_average_as_windows(xpu_codegen *cg, xpu_node node) {
    xpu_graph *graph = cg->graph;
    const xpu_window window = xpu_window_of(graph, node);
    const xpu_value x = xpu_node_input(graph, node, XPU_IN_X);
    xpu_arena *scratch = xpu_arena_new(xpu_arena_mem(cg->arena), "average");
    xpu_tensor w = {.dtype = XPU_F32, .rank = xpu_value_at(graph, x)->rank, .dims = {0, 1}};
    xpu_dim_is_const(&graph->dims, xpu_value_dim(cg, x, CHANNELS), &w.dims[0]);
    for (int axis = window.first; axis < XPU_WINDOW_AXES; axis++) w.dims[2 + axis - window.first] = window.kernel[axis];
    const int64_t count = xpu_tensor_count(&w);
    float *weights = XPU_NEW_ARRAY(scratch, float, count);
    for (int64_t i = 0; i < count; i++) weights[i] = xa_div(1.0f, (float)(window.kernel[0] * window.kernel[1]));
    w.data = weights;
    const char *name = xpu_printf(scratch, "%s/weights", xpu_value_at(graph, xpu_node_output(graph, node, 0))->name);
    const xpu_value inputs[] = {[XPU_IN_X] = x, [XPU_IN_W] = xpu_graph_const_bytes(graph, name, &w)};
    xpu_attr attrs[4];
    uint32_t kept = 0;
    const xpu_node_info *info = xpu_node_at(graph, node);
    for (uint32_t i = 0; i < info->attrs.count; i++) {
        const xpu_attr_id id = info->attrs.items[i].id;
        if (id == XPU_ATTR_STRIDES || id == XPU_ATTR_DILATIONS || id == XPU_ATTR_PADS)
            attrs[kept++] = info->attrs.items[i];
    }
    attrs[kept++] = XPU_ATTR_INT_OF(GROUP, w.dims[0]);
    xpu_rewrite(graph, node, XPU_OP_CONV, inputs, sizeof inputs / sizeof *inputs, attrs, kept);
    xpu_arena_free(scratch);
    return xpu_op_infer(graph, node, cg->diags);
}
