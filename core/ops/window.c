/* The one reader of windows. */
#include "core/ops/window.h"

#include "core/ops/infer.h"

/* The entry of a list of one value per spatial dim, which an inferred node has. */
static void read_axes(const xpu_graph *graph, xpu_node node, xpu_attr_id id, const xpu_window *w, int64_t *values) {
    const int64_t *list = xpu_node_ints(graph, node, id, NULL);
    for (int axis = w->first; axis < XPU_WINDOW_AXES; axis++) values[axis] = list[axis - w->first];
}

xpu_window xpu_window_trivial(const xpu_graph *graph, xpu_node node) {
    int spatial = xpu_value_at(graph, xpu_node_input(graph, node, 0))->rank - 2;
    return (xpu_window){
        .first = XPU_WINDOW_AXES - spatial, .kernel = {1, 1}, .stride = {1, 1}, .dilation = {1, 1}, .groups = 1};
}

void xpu_window_take_pads(xpu_window *w, const int64_t *pads) {
    int spatial = XPU_WINDOW_AXES - w->first;
    for (int axis = w->first; axis < XPU_WINDOW_AXES; axis++) {
        w->begin[axis] = pads[axis - w->first];
        w->end[axis] = pads[spatial + axis - w->first];
    }
}

xpu_window xpu_window_of(const xpu_graph *graph, xpu_node node) {
    xpu_window w = xpu_window_trivial(graph, node);
    read_axes(graph, node, XPU_ATTR_STRIDES, &w, w.stride);
    read_axes(graph, node, XPU_ATTR_DILATIONS, &w, w.dilation);
    xpu_window_take_pads(&w, xpu_node_ints(graph, node, XPU_ATTR_PADS, NULL));
    if (!xpu_node_has(graph, node, XPU_TRAIT_PRODUCT)) {
        read_axes(graph, node, XPU_ATTR_KERNEL, &w, w.kernel);
        return w;
    }
    const xpu_value_info *weights = xpu_operand(graph, node, XPU_IN_W);
    for (int axis = w.first; axis < XPU_WINDOW_AXES; axis++) {
        xpu_dim_is_const(&graph->dims, weights->dims[2 + axis - w.first], &w.kernel[axis]);
    }
    w.groups = xpu_node_int(graph, node, XPU_ATTR_GROUP);
    return w;
}

void xpu_window_set_pads(xpu_graph *graph, xpu_node node, const xpu_window *window) {
    int spatial = XPU_WINDOW_AXES - window->first;
    int64_t pads[2 * XPU_WINDOW_AXES];
    for (int i = 0; i < spatial; i++) {
        pads[i] = window->begin[window->first + i];
        pads[spatial + i] = window->end[window->first + i];
    }
    xpu_node_set_attr(graph, node, &XPU_ATTR_INTS_OF(PADS, pads, (uint32_t)(2 * spatial)));
}
