/* Shape functions of control flow. */
#include "core/ops/control.h"
#include "core/ops/infer.h"

static xpu_status malformed(xpu_graph *graph, xpu_node node, const char *why, xpu_diags *diags) {
    return xpu_infer_error(graph, node, diags, "control-form", "the control flow is malformed",
                           "give its bodies the arguments and results that the operator has", "%s", why);
}

static const char *type_of(xpu_graph *graph, xpu_value value) {
    return xpu_type_text(graph, value, graph->arena);
}

static int is_one_element(const xpu_graph *graph, xpu_value value, xpu_dtype dtype) {
    const xpu_value_info *info = xpu_value_at(graph, value);
    for (int i = 0; i < info->rank; i++) {
        int64_t dim;
        if (!xpu_dim_is_const(&graph->dims, info->dims[i], &dim) || dim != 1) return 0;
    }
    return info->dtype == dtype;
}

static xpu_status check_scalar(xpu_graph *graph, xpu_node node, xpu_value value, xpu_dtype dtype, const char *what,
                               xpu_diags *diags) {
    if (is_one_element(graph, value, dtype)) return XPU_OK;
    return xpu_infer_error(graph, node, diags, "control-scalar",
                           xpu_printf(graph->arena, "%s has not one element", what),
                           "give a tensor of one element, of this type", "it is %s; one of %s is needed",
                           type_of(graph, value), xpu_dtype_name(dtype));
}

static int same_kind(const xpu_graph *graph, xpu_value a, xpu_value b) {
    const xpu_value_info *left = xpu_value_at(graph, a), *right = xpu_value_at(graph, b);
    return left->dtype == right->dtype && left->rank == right->rank;
}

/* ---- if ---- */

/* Equal dims stay; for others the result has one already, which the run finds. */
static xpu_status infer_branches(xpu_graph *graph, xpu_node node, uint32_t output, xpu_diags *diags) {
    const xpu_node_info *info = xpu_node_at(graph, node);
    xpu_value a = xpu_block_at(graph, info->blocks[XPU_THEN])->results.items[output];
    xpu_value b = xpu_block_at(graph, info->blocks[XPU_ELSE])->results.items[output];
    const xpu_value_info *left = xpu_value_at(graph, a), *right = xpu_value_at(graph, b);
    const xpu_value_info *known = xpu_value_at(graph, info->outputs[output]);
    xpu_dim dims[XPU_MAX_RANK];
    if (!same_kind(graph, a, b)) {
        return xpu_infer_error(graph, node, diags, "control-branches",
                               xpu_printf(graph->arena, "result %u differs in type or rank by branch", output),
                               "give a --shape or --value that decides the condition, or export the model with equal "
                               "ranks",
                               "it is %s, or %s", type_of(graph, a), type_of(graph, b));
    }
    for (int i = 0; i < left->rank; i++) {
        if (xpu_dim_same(&graph->dims, left->dims[i], right->dims[i])) {
            dims[i] = xpu_dim_root(&graph->dims, left->dims[i]);
        } else if (known->rank == left->rank && known->dims[i].id) {
            dims[i] = known->dims[i];
        } else {
            return xpu_infer_error(graph, node, diags, "control-branches",
                                   xpu_printf(graph->arena, "result %u differs in shape by branch", output),
                                   "give a --shape or --value that decides the condition", "it is %s, or %s",
                                   type_of(graph, a), type_of(graph, b));
        }
    }
    return xpu_set_result(graph, node, output, left->dtype, left->rank, dims, diags);
}

xpu_status xpu_infer_if(xpu_graph *graph, xpu_node node, xpu_diags *diags) {
    const xpu_node_info *info = xpu_node_at(graph, node);
    if (info->block_count != XPU_BRANCHES) return malformed(graph, node, "an if has two bodies", diags);
    for (uint32_t b = 0; b < XPU_BRANCHES; b++) {
        const xpu_block_info *body = xpu_block_at(graph, info->blocks[b]);
        if (body->arguments.count || body->results.count != info->output_count)
            return malformed(graph, node, "a body of an if has no arguments, and the node's results", diags);
    }
    xpu_status status =
        check_scalar(graph, node, xpu_node_input(graph, node, XPU_IF_CONDITION), XPU_BOOL, "the condition", diags);
    for (uint32_t i = 0; i < info->output_count && status == XPU_OK; i++) {
        status = infer_branches(graph, node, i, diags);
    }
    return status;
}

/* ---- loop ---- */

static xpu_status check_body(xpu_graph *graph, xpu_node node, xpu_diags *diags) {
    const xpu_node_info *info = xpu_node_at(graph, node);
    if (info->block_count != 1 || info->input_count < XPU_LOOP_FIRST)
        return malformed(graph, node, "a loop has a trip count, a condition (either may be absent), and one body",
                         diags);
    const xpu_block_info *body = xpu_block_at(graph, info->blocks[0]);
    uint32_t carried = body->arguments.count - XPU_BODY_FIRST;
    if (body->arguments.count < XPU_BODY_FIRST || info->input_count < XPU_LOOP_FIRST + carried ||
        body->results.count < XPU_BODY_NEXT + carried || info->output_count != body->results.count)
        return malformed(graph, node, "operands, results and the body's arguments and results do not go together",
                         diags);
    for (uint32_t i = 0; i < carried; i++) {
        if (!info->inputs[XPU_LOOP_FIRST + i].id) return malformed(graph, node, "a first value is absent", diags);
    }
    xpu_status status = XPU_OK;
    if (info->inputs[XPU_LOOP_TRIPS].id)
        status = check_scalar(graph, node, info->inputs[XPU_LOOP_TRIPS], XPU_I64, "the trip count", diags);
    if (status == XPU_OK && info->inputs[XPU_LOOP_CONDITION].id)
        status = check_scalar(graph, node, info->inputs[XPU_LOOP_CONDITION], XPU_BOOL, "the condition", diags);
    if (status == XPU_OK)
        status = check_scalar(graph, node, body->arguments.items[XPU_BODY_ITERATION], XPU_I64, "the iteration", diags);
    if (status == XPU_OK)
        status = check_scalar(graph, node, body->arguments.items[XPU_BODY_CONDITION], XPU_BOOL, "the condition", diags);
    if (status == XPU_OK)
        status = check_scalar(graph, node, body->results.items[XPU_BODY_GOES_ON], XPU_BOOL, "the condition", diags);
    return status;
}

/* A dim that no iteration changes stays; another one has symbols of the body, and the result its dim already. */
static xpu_status infer_carried(xpu_graph *graph, xpu_node node, const xpu_loop *loop, uint32_t i, xpu_diags *diags) {
    const xpu_node_info *info = xpu_node_at(graph, node);
    const xpu_block_info *body = xpu_block_at(graph, loop->body);
    xpu_value first = info->inputs[XPU_LOOP_FIRST + i], now = body->arguments.items[XPU_BODY_FIRST + i];
    xpu_value next = body->results.items[XPU_BODY_NEXT + i];
    const xpu_value_info *before = xpu_value_at(graph, first), *inside = xpu_value_at(graph, now);
    const xpu_value_info *after = xpu_value_at(graph, next), *known = xpu_value_at(graph, info->outputs[i]);
    xpu_dim dims[XPU_MAX_RANK];
    if (!same_kind(graph, first, now) || !same_kind(graph, first, next)) {
        return xpu_infer_error(graph, node, diags, "control-carried",
                               xpu_printf(graph->arena, "carried value %u changes its type or rank", i),
                               "give it the same type and rank before the loop and behind each iteration",
                               "it begins as %s, and is %s behind an iteration", type_of(graph, first),
                               type_of(graph, next));
    }
    for (int d = 0; d < before->rank; d++) {
        if (xpu_dim_same(&graph->dims, before->dims[d], inside->dims[d]) &&
            xpu_dim_same(&graph->dims, before->dims[d], after->dims[d])) {
            dims[d] = xpu_dim_root(&graph->dims, before->dims[d]);
        } else if (known->rank == before->rank && known->dims[d].id) {
            dims[d] = known->dims[d];
        } else {
            return xpu_infer_error(graph, node, diags, "control-carried",
                                   xpu_printf(graph->arena, "carried value %u changes its shape", i),
                                   "give it the same shape before the loop and behind each iteration",
                                   "it begins as %s, and is %s behind an iteration", type_of(graph, first),
                                   type_of(graph, next));
        }
    }
    return xpu_set_result(graph, node, i, before->dtype, before->rank, dims, diags);
}

static xpu_status infer_stacked(xpu_graph *graph, xpu_node node, const xpu_loop *loop, uint32_t i, xpu_diags *diags) {
    uint32_t output = loop->carried + i;
    xpu_value entry = xpu_block_at(graph, loop->body)->results.items[XPU_BODY_NEXT + output];
    const xpu_value_info *info = xpu_value_at(graph, entry);
    const xpu_value_info *known = xpu_value_at(graph, xpu_node_output(graph, node, output));
    xpu_dim dims[XPU_MAX_RANK];
    if (info->rank + 1 > XPU_MAX_RANK || known->rank != info->rank + 1)
        return malformed(graph, node, "a stack has one dim more than its entries", diags);
    for (int d = 0; d < known->rank; d++) dims[d] = known->dims[d];
    for (int d = 0; d < info->rank; d++) {
        if (!known->dims[d + 1].id || xpu_dim_same(&graph->dims, known->dims[d + 1], info->dims[d]))
            dims[d + 1] = xpu_dim_root(&graph->dims, info->dims[d]);
    }
    return xpu_set_result(graph, node, output, info->dtype, known->rank, dims, diags);
}

xpu_status xpu_infer_loop(xpu_graph *graph, xpu_node node, xpu_diags *diags) {
    xpu_status status = check_body(graph, node, diags);
    if (status != XPU_OK) return status;
    xpu_loop loop = xpu_loop_of(graph, node);
    for (uint32_t i = 0; i < loop.carried && status == XPU_OK; i++) {
        status = infer_carried(graph, node, &loop, i, diags);
    }
    for (uint32_t i = 0; i < loop.stacked && status == XPU_OK; i++) {
        status = infer_stacked(graph, node, &loop, i, diags);
    }
    if (status != XPU_OK) return status;
    return xpu_set_result(graph, node, xpu_loop_count_result(&loop), XPU_I64, 0, NULL, diags);
}

/* ---- region ---- */

xpu_status xpu_infer_region(xpu_graph *graph, xpu_node node, xpu_diags *diags) {
    const xpu_node_info *info = xpu_node_at(graph, node);
    if (info->block_count != 1) return malformed(graph, node, "a region has one body", diags);
    const xpu_block_info *body = xpu_block_at(graph, info->blocks[0]);
    if (body->arguments.count != info->input_count || body->results.count != info->output_count)
        return malformed(graph, node, "the body of a region has its operands as arguments, and its results", diags);
    for (uint32_t i = 0; i < info->input_count; i++) {
        if (!info->inputs[i].id || !same_kind(graph, info->inputs[i], body->arguments.items[i]) ||
            !xpu_value_same_shape(graph, info->inputs[i], body->arguments.items[i]))
            return malformed(graph, node, "an operand of a region is not what its body takes", diags);
    }
    xpu_status status = XPU_OK;
    for (uint32_t i = 0; i < info->output_count && status == XPU_OK; i++) {
        const xpu_value_info result = *xpu_value_at(graph, body->results.items[i]);
        status = xpu_set_result(graph, node, i, result.dtype, result.rank, result.dims, diags);
    }
    return status;
}

/* ---- raise ---- */

xpu_status xpu_infer_raise(xpu_graph *graph, xpu_node node, xpu_diags *diags) {
    const xpu_attr *shape = xpu_node_attr(graph, node, XPU_ATTR_SHAPE);
    int64_t dtype = xpu_node_int(graph, node, XPU_ATTR_DTYPE);
    if (dtype <= XPU_DTYPE_NONE || dtype >= XPU_DTYPE_COUNT || (shape && shape->count > XPU_MAX_RANK))
        return malformed(graph, node, "a raise has no type", diags);
    return xpu_set_result(graph, node, 0, (xpu_dtype)dtype, shape ? (int)shape->count : 0, shape ? shape->dims : NULL,
                          diags);
}
