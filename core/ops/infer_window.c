/* Shapes of operators that slide a window: convolution and pooling, one or two spatial dims. */
#include "core/ops/infer.h"
#include "core/ops/window.h"

/* Reads a list attribute; an absent one becomes `count` times `fallback` and is made explicit. */
static xpu_status read_list(xpu_graph *graph, xpu_node node, xpu_attr_id id, uint32_t count, int64_t least,
                            int64_t fallback, int64_t *values, xpu_diags *diags) {
    uint32_t given;
    const int64_t *list = xpu_node_ints(graph, node, id, &given);
    if (!given) {
        for (uint32_t i = 0; i < count; i++) values[i] = fallback;
        xpu_node_set_attr(graph, node, &(xpu_attr){.id = id, .ints = values, .count = count});
        return XPU_OK;
    }
    for (uint32_t i = 0; i < given; i++) {
        if (given == count && list[i] >= least && list[i] < XPU_MAX_WINDOW_VALUE) {
            values[i] = list[i];
            continue;
        }
        return xpu_infer_error(graph, node, diags, "shape-window-attribute",
                               xpu_printf(graph->arena, "attribute '%s' is not valid", xpu_attr_name(id)),
                               "check how the model was exported",
                               "it needs %u entries from %lld to 2^30; it has %u, entry %u is %lld", count,
                               (long long)least, given, i, (long long)list[i]);
    }
    return XPU_OK;
}

xpu_status xpu_check_window_rank(xpu_graph *graph, xpu_node node, xpu_diags *diags) {
    const int rank = xpu_operand(graph, node, 0)->rank;
    if (rank == 3 || rank == 4) return XPU_OK;
    return xpu_infer_error(
        graph, node, diags, "shape-window-rank",
        xpu_printf(graph->arena, "%s over this number of dims is not supported", xpu_node_at(graph, node)->op->name),
        "only 1-D and 2-D windows are supported: reshape to [N,C,W] or [N,C,H,W]",
        "the operand must be [N,C,W] or [N,C,H,W]; it is %s", xpu_operand_text(graph, node, 0));
}

/* All but the kernel; lists become explicit. */
static xpu_status read_window(xpu_graph *graph, xpu_node node, xpu_window *w, xpu_diags *diags) {
    if (xpu_check_window_rank(graph, node, diags) != XPU_OK) return XPU_EMODEL;
    *w = xpu_window_trivial(graph, node);
    int64_t pads[2 * XPU_WINDOW_AXES];
    uint32_t count = (uint32_t)(XPU_WINDOW_AXES - w->first);
    xpu_status status = read_list(graph, node, XPU_ATTR_STRIDES, count, 1, 1, w->stride + w->first, diags);
    if (status == XPU_OK) {
        status = read_list(graph, node, XPU_ATTR_DILATIONS, count, 1, 1, w->dilation + w->first, diags);
    }
    if (status == XPU_OK) status = read_list(graph, node, XPU_ATTR_PADS, 2 * count, 0, 0, pads, diags);
    if (status == XPU_OK) xpu_window_take_pads(w, pads);
    return status;
}

/* Size of the result along `axis`: floor((in + pads - extent) / stride) + 1; with ceil_mode rounded up, but the last
 * window must start inside the input or its left padding (ONNX, operator MaxPool). */
static xpu_dim output_dim(xpu_graph *graph, const xpu_window *w, int axis, xpu_dim in, int64_t extent, int ceil_mode) {
    xpu_dims *dims = &graph->dims;
    int64_t round = ceil_mode ? w->stride[axis] - 1 : 0;
    xpu_dim room = xpu_dim_add_const(dims, in, w->begin[axis] + w->end[axis] - extent + round);
    xpu_dim count = xpu_dim_add_const(dims, xpu_dim_floordiv_const(dims, room, w->stride[axis]), 1);
    if (!ceil_mode) return count;
    xpu_dim last = xpu_dim_add_const(dims, in, w->begin[axis] - 1);
    xpu_dim starts = xpu_dim_add_const(dims, xpu_dim_floordiv_const(dims, last, w->stride[axis]), 1);
    return xpu_dim_op(dims, XPU_DIM_MIN, count, starts);
}

static xpu_status output_dims(xpu_graph *graph, xpu_node node, const xpu_window *w, int ceil_mode, xpu_dim *out,
                              xpu_diags *diags) {
    const char *name = xpu_node_at(graph, node)->op->name;
    for (int axis = w->first, i = 0; axis < XPU_WINDOW_AXES; axis++, i++) {
        xpu_dim in = xpu_operand(graph, node, 0)->dims[2 + i];
        int64_t extent;
        if (__builtin_mul_overflow(w->kernel[axis] - 1, w->dilation[axis], &extent) || extent >= XPU_MAX_ELEMENTS) {
            return xpu_infer_error(graph, node, diags, "shape-window-extent", "the window is too large",
                                   "check kernel and dilations", "kernel %lld with dilation %lld",
                                   (long long)w->kernel[axis], (long long)w->dilation[axis]);
        }
        out[i] = output_dim(graph, w, axis, in, extent + 1, ceil_mode);
        if (out[i].id && xpu_dim_max(&graph->dims, out[i]) < 1) {
            return xpu_infer_error(graph, node, diags, "shape-window-fit",
                                   xpu_printf(graph->arena, "%s's window does not fit its operand", name),
                                   "give a larger input, or check pads, kernel and dilations",
                                   "spatial dim %d is %s with padding %lld + %lld; the window covers %lld", i,
                                   xpu_dim_text(&graph->dims, in, graph->arena), (long long)w->begin[axis],
                                   (long long)w->end[axis], (long long)extent + 1);
        }
    }
    return XPU_OK;
}

/* ---- convolution ---- */

static xpu_status check_conv_weights(xpu_graph *graph, xpu_node node, xpu_window *w, xpu_diags *diags) {
    const xpu_value_info *x = xpu_operand(graph, node, XPU_IN_X), *weights = xpu_operand(graph, node, XPU_IN_W);
    int64_t size[XPU_MAX_RANK];
    if (weights->rank != x->rank || !xpu_value_dims(graph, xpu_node_input(graph, node, XPU_IN_W), NULL, size)) {
        return xpu_infer_error(graph, node, diags, "shape-conv-weights", "the weights do not fit the operand",
                               "the weights are [O, C/group, kernel...] with constant dims",
                               "the operand is %s, the weights are %s", xpu_operand_text(graph, node, XPU_IN_X),
                               xpu_operand_text(graph, node, XPU_IN_W));
    }
    int64_t group = xpu_node_int(graph, node, XPU_ATTR_GROUP), channels;
    if (group < 1 || size[0] < 1 || size[0] % group != 0) {
        return xpu_infer_error(graph, node, diags, "shape-conv-group", "the groups do not divide the output channels",
                               "check attribute 'group'", "group is %lld, the weights are %s", (long long)group,
                               xpu_operand_text(graph, node, XPU_IN_W));
    }
    if (size[1] < 1 || __builtin_mul_overflow(size[1], group, &channels) ||
        !xpu_dim_equal(x->dims[1], xpu_dim_const(&graph->dims, channels))) {
        return xpu_infer_error(
            graph, node, diags, "shape-conv-channels", "the operand has not the channels that the weights expect",
            "check the layout of the input (channels are dim 1) and attribute 'group'",
            "dim 1 of %s must be %lld x group %lld; the weights are %s", xpu_operand_text(graph, node, XPU_IN_X),
            (long long)size[1], (long long)group, xpu_operand_text(graph, node, XPU_IN_W));
    }
    w->groups = group;
    for (int axis = w->first; axis < XPU_WINDOW_AXES; axis++) {
        w->kernel[axis] = size[2 + axis - w->first];
        if (w->kernel[axis] >= 1) continue;
        return xpu_infer_error(graph, node, diags, "shape-conv-weights", "the kernel is empty",
                               "check how the model was exported", "the weights are %s",
                               xpu_operand_text(graph, node, XPU_IN_W));
    }
    return XPU_OK;
}

xpu_status xpu_infer_conv(xpu_graph *graph, xpu_node node, xpu_diags *diags) {
    xpu_window w;
    xpu_status status = read_window(graph, node, &w, diags);
    if (status == XPU_OK) status = check_conv_weights(graph, node, &w, diags);
    if (status != XPU_OK) return status;
    const xpu_value_info *x = xpu_operand(graph, node, XPU_IN_X);
    int rank = x->rank;
    xpu_dim dims[XPU_MAX_RANK] = {x->dims[0], xpu_operand(graph, node, XPU_IN_W)->dims[0]};
    status = output_dims(graph, node, &w, 0, dims + 2, diags);
    return status == XPU_OK ? xpu_set_product(graph, node, rank, dims, dims[1], diags) : status;
}

/* ---- pooling ---- */

/* That of the operand, or of integers what DTYPE says. */
static xpu_status pooled_type(xpu_graph *graph, xpu_node node, xpu_dtype *dtype, xpu_diags *diags) {
    *dtype = xpu_operand(graph, node, 0)->dtype;
    if (xpu_node_has(graph, node, XPU_TRAIT_QUANTISED)) {
        return xpu_check_quantised_pool(graph, node, dtype, diags);
    }
    return XPU_OK;
}

/* Pooling in integers needs its operand's largest magnitude. */
static xpu_status check_precision(xpu_graph *graph, xpu_node node, xpu_diags *diags) {
    if (!xpu_op_attr(xpu_node_at(graph, node)->op, XPU_ATTR_PRECISION)) return XPU_OK;
    const int64_t precision = xpu_node_int(graph, node, XPU_ATTR_PRECISION);
    const int is_max = xpu_node_is(graph, node, XPU_OP_MAX_POOL);
    const xpu_value_info *absmax = xpu_operand(graph, node, XPU_IN_ABSMAX), *x = xpu_operand(graph, node, XPU_IN_X);
    const int is_wide = precision == (is_max ? XPU_PRECISION_INT16 : XPU_PRECISION_INT16X8);
    if (precision == XPU_PRECISION_FP32 || (is_wide && x->dtype == XPU_F32 && absmax && absmax->rank == 0))
        return XPU_OK;
    return xpu_infer_error(
        graph, node, diags, "op-attribute",
        xpu_printf(graph->arena, "%s in integers needs an absmax", is_max ? "a maximum" : "an average"),
        "the program is damaged: compile the model again", "precision is %lld, absmax is %s", (long long)precision,
        xpu_operand_text(graph, node, XPU_IN_ABSMAX));
}

/* With the largest magnitude beside it, where the node has that result. */
static xpu_status set_pooled(xpu_graph *graph, xpu_node node, xpu_dtype dtype, int rank, const xpu_dim *dims,
                             xpu_diags *diags) {
    const xpu_status status = xpu_set_result(graph, node, XPU_OUT_Y, dtype, rank, dims, diags);
    if (status != XPU_OK || xpu_node_at(graph, node)->output_count <= XPU_OUT_ABSMAX) return status;
    return xpu_set_result(graph, node, XPU_OUT_ABSMAX, XPU_F32, 0, NULL, diags);
}

xpu_status xpu_infer_pool(xpu_graph *graph, xpu_node node, xpu_diags *diags) {
    xpu_window w;
    xpu_dtype dtype;
    xpu_status status = pooled_type(graph, node, &dtype, diags);
    if (status == XPU_OK) status = check_precision(graph, node, diags);
    if (status == XPU_OK) status = read_window(graph, node, &w, diags);
    if (status != XPU_OK) return status;
    uint32_t count;
    xpu_node_ints(graph, node, XPU_ATTR_KERNEL, &count);
    if (!count) {
        return xpu_infer_error(graph, node, diags, "shape-window-attribute", "attribute 'kernel' is not valid",
                               "check how the model was exported", "it is absent");
    }
    status =
        read_list(graph, node, XPU_ATTR_KERNEL, (uint32_t)(XPU_WINDOW_AXES - w.first), 1, 1, w.kernel + w.first, diags);
    if (status != XPU_OK) return status;
    const xpu_value_info *x = xpu_operand(graph, node, 0);
    int rank = x->rank;
    xpu_dim dims[XPU_MAX_RANK] = {x->dims[0], x->dims[1]};
    status = output_dims(graph, node, &w, xpu_node_int(graph, node, XPU_ATTR_CEIL_MODE) != 0, dims + 2, diags);
    if (status != XPU_OK) return status;
    for (int axis = w.first; axis < XPU_WINDOW_AXES; axis++) {
        int64_t extent = xpu_window_extent(&w, axis);
        if (w.begin[axis] < extent && w.end[axis] < extent) continue;
        return xpu_infer_error(graph, node, diags, "shape-pool-pads", "the padding is as large as the window",
                               "a window must touch the input: use smaller pads",
                               "pads are %lld and %lld, the window covers %lld", (long long)w.begin[axis],
                               (long long)w.end[axis], (long long)extent);
    }
    return set_pooled(graph, node, dtype, rank, dims, diags);
}

xpu_status xpu_infer_global_pool(xpu_graph *graph, xpu_node node, xpu_diags *diags) {
    xpu_dtype dtype;
    xpu_status status = pooled_type(graph, node, &dtype, diags);
    if (status == XPU_OK) status = check_precision(graph, node, diags);
    if (status != XPU_OK) return status;
    const xpu_value_info *x = xpu_operand(graph, node, 0);
    int rank = x->rank;
    if (rank < 3) {
        return xpu_infer_error(graph, node, diags, "shape-window-rank", "there is no spatial dim to pool over",
                               "the operand is [N,C,...] with at least one spatial dim", "it is %s",
                               xpu_operand_text(graph, node, 0));
    }
    xpu_dim dims[XPU_MAX_RANK] = {x->dims[0], x->dims[1]};
    for (int i = 2; i < rank; i++) dims[i] = xpu_dim_const(&graph->dims, 1);
    return set_pooled(graph, node, dtype, rank, dims, diags);
}
