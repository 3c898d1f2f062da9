/* Shapes of operators that move elements. */
#include <string.h>

#include "core/ops/infer.h"

xpu_status xpu_infer_same(xpu_graph *graph, xpu_node node, xpu_diags *diags) {
    xpu_value_info x = *xpu_operand(graph, node, 0);
    return xpu_set_result(graph, node, 0, x.dtype, x.rank, x.dims, diags);
}

static xpu_dim product_of(xpu_graph *graph, int rank, const xpu_dim *dims) {
    xpu_dim product = xpu_dim_const(&graph->dims, 1);
    for (int i = 0; i < rank; i++) product = xpu_dim_mul(&graph->dims, product, dims[i]);
    return product;
}

xpu_status xpu_infer_reshape(xpu_graph *graph, xpu_node node, xpu_diags *diags) {
    xpu_value_info x = *xpu_operand(graph, node, 0);
    const xpu_attr *target = xpu_node_attr(graph, node, XPU_ATTR_SHAPE);
    if (!target || target->count > XPU_MAX_RANK) {
        return xpu_infer_error(graph, node, diags, "shape-reshape-rank", "the target shape is not valid",
                               "use at most 8 dims", "it has %u dims", target ? target->count : 0);
    }
    int rank = (int)target->count;
    xpu_dim before = product_of(graph, x.rank, x.dims), after = product_of(graph, rank, target->dims);
    xpu_status status = xpu_set_result(graph, node, 0, x.dtype, rank, target->dims, diags);
    if (status != XPU_OK || (before.id && xpu_equal_dims(graph, node, before, after, NULL))) return status;
    xpu_value_at(graph, xpu_node_output(graph, node, 0))->dtype = XPU_DTYPE_NONE;
    return xpu_infer_error(graph, node, diags, "shape-reshape-count", "the number of elements changes",
                           "check the target shape; a symbol that can have one value only is to be fixed with --shape",
                           "%s has %s elements, %s has %s", xpu_operand_text(graph, node, 0),
                           xpu_dim_text(&graph->dims, before, graph->arena),
                           xpu_dim_list_text(&graph->dims, rank, target->dims, graph->arena),
                           xpu_dim_text(&graph->dims, after, graph->arena));
}

xpu_status xpu_infer_transpose(xpu_graph *graph, xpu_node node, xpu_diags *diags) {
    xpu_value_info x = *xpu_operand(graph, node, 0);
    uint32_t count;
    const int64_t *perm = xpu_node_ints(graph, node, XPU_ATTR_PERM, &count);
    int64_t reversed[XPU_MAX_RANK];
    if (!perm) {
        for (int i = 0; i < x.rank; i++) reversed[i] = x.rank - 1 - i;
        count = (uint32_t)x.rank;
        perm = reversed;
        xpu_node_set_attr(graph, node, &XPU_ATTR_INTS_OF(PERM, reversed, count));
    }
    unsigned seen = 0;
    xpu_dim dims[XPU_MAX_RANK];
    for (uint32_t i = 0; i < count && (int)count == x.rank; i++) {
        if (perm[i] < 0 || perm[i] >= x.rank) continue;
        seen |= 1u << perm[i];
        dims[i] = x.dims[perm[i]];
    }
    if ((int)count != x.rank || seen != (1u << x.rank) - 1) {
        return xpu_infer_error(graph, node, diags, "shape-transpose-perm", "attribute 'perm' is no permutation",
                               "it names every dim once", "it has %u entries, the operand is %s", count,
                               xpu_operand_text(graph, node, 0));
    }
    return xpu_set_result(graph, node, 0, x.dtype, x.rank, dims, diags);
}

xpu_status xpu_infer_concat(xpu_graph *graph, xpu_node node, xpu_diags *diags) {
    xpu_value_info x = *xpu_operand(graph, node, 0);
    int axis;
    xpu_status status = xpu_normalise_axis(graph, node, x.rank, &axis, diags);
    if (status != XPU_OK) return status;
    uint32_t count = xpu_node_at(graph, node)->input_count;
    for (uint32_t i = 1; i < count; i++) {
        const xpu_value_info *other = xpu_operand(graph, node, i);
        int fits = other && other->dtype == x.dtype && other->rank == x.rank;
        for (int d = 0; fits && d < x.rank; d++) {
            fits = d == axis || xpu_equal_dims(graph, node, x.dims[d], other->dims[d], &x.dims[d]);
        }
        if (!fits) {
            return xpu_infer_error(
                graph, node, diags, "shape-concat", "the operands do not fit together",
                "all dims but the axis are equal, and so is the element type",
                "operand 0 is %s, operand %u is %s, the axis is %d",
                xpu_dim_list_text(&graph->dims, x.rank, xpu_operand(graph, node, 0)->dims, graph->arena), i,
                xpu_operand_text(graph, node, i), axis);
        }
        x.dims[axis] = xpu_dim_add(&graph->dims, x.dims[axis], other->dims[axis]);
    }
    return xpu_set_result(graph, node, 0, x.dtype, x.rank, x.dims, diags);
}

/* Reflection needs more elements than it adds; the edge needs one. */
static int pad_fits(const xpu_graph *graph, xpu_pad_mode mode, xpu_dim dim, int64_t begin, int64_t end) {
    int64_t largest = xpu_dim_max(&graph->dims, dim), most = begin > end ? begin : end;
    if (mode == XPU_PAD_REFLECT) return most < largest || most <= 0;
    return mode != XPU_PAD_EDGE || most <= 0 || largest > 0;
}

xpu_status xpu_infer_pad(xpu_graph *graph, xpu_node node, xpu_diags *diags) {
    xpu_value_info x = *xpu_operand(graph, node, 0);
    const xpu_pad_mode mode = xpu_node_pad_mode(graph, node);
    uint32_t count;
    const int64_t *pads = xpu_node_ints(graph, node, XPU_ATTR_PADS, &count);
    int is_constant = mode == XPU_PAD_CONSTANT;
    if (mode == XPU_PAD_UNKNOWN) {
        const char *name = xpu_node_string(graph, node, XPU_ATTR_MODE);
        return xpu_infer_error(graph, node, diags, "pad-mode", "the padding mode is not supported",
                               "use constant, reflect or edge", "mode is '%s'",
                               xpu_escape(graph->arena, name ? name : "", 40));
    }
    float value = xpu_node_float(graph, node, XPU_ATTR_VALUE);
    unsigned char element[XPU_ELEMENT_BYTES];
    if (is_constant && !xpu_dtype_element(x.dtype, value, element)) {
        return xpu_infer_error(graph, node, diags, "pad-value", "the operand's type does not have the padding's value",
                               "what is added is of the operand's type", "the value is %.9g, the operand is %s",
                               (double)value, xpu_operand_text(graph, node, 0));
    }
    if ((int)count != 2 * x.rank) {
        return xpu_infer_error(graph, node, diags, "shape-pad", "attribute 'pads' does not fit the operand",
                               "it has a begin and an end for every dim", "it has %u entries, the operand is %s", count,
                               xpu_operand_text(graph, node, 0));
    }
    for (int i = 0; i < x.rank; i++) {
        int64_t begin = pads[i], end = pads[x.rank + i];
        int in_range = begin > -XPU_MAX_WINDOW_VALUE && begin < XPU_MAX_WINDOW_VALUE && end > -XPU_MAX_WINDOW_VALUE &&
                       end < XPU_MAX_WINDOW_VALUE;
        if (!in_range || !pad_fits(graph, mode, x.dims[i], begin, end)) {
            return xpu_infer_error(graph, node, diags, "shape-pad", "the padding does not fit the operand",
                                   "reflection adds less than the dim's size on each side; pads are below 2^30",
                                   "dim %d is %s, pads are %lld and %lld, mode is %s", i,
                                   xpu_dim_text(&graph->dims, x.dims[i], graph->arena), (long long)begin,
                                   (long long)end, xpu_node_string(graph, node, XPU_ATTR_MODE));
        }
        x.dims[i] = xpu_dim_add_const(&graph->dims, x.dims[i], begin + end);
    }
    return xpu_set_result(graph, node, 0, x.dtype, x.rank, x.dims, diags);
}

xpu_status xpu_infer_relayout(xpu_graph *graph, xpu_node node, xpu_diags *diags) {
    xpu_value_info x = *xpu_operand(graph, node, 0);
    int64_t layout = xpu_node_int(graph, node, XPU_ATTR_LAYOUT);
    int valid = layout == XPU_LAYOUT_LINEAR || (layout == XPU_LAYOUT_CHANNEL_LAST && (x.rank == 3 || x.rank == 4));
    if (!valid) {
        return xpu_infer_error(graph, node, diags, "relayout-layout", "the operand cannot have this layout",
                               "channel-last is for rank 3 and 4", "layout is %lld, the operand is %s",
                               (long long)layout, xpu_operand_text(graph, node, 0));
    }
    xpu_status status = xpu_set_result(graph, node, 0, x.dtype, x.rank, x.dims, diags);
    xpu_value_at(graph, xpu_node_output(graph, node, 0))->layout = (xpu_layout)layout;
    return status;
}
