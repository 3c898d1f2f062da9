/* Shapes of operators that work element by element, and of absmax. */
#include "core/ops/infer.h"

/* The common shape of all operands. */
static xpu_status broadcast_all(xpu_graph *graph, xpu_node node, int *rank, xpu_dim *dims, xpu_dtype *dtypes,
                                xpu_diags *diags) {
    uint32_t count = xpu_node_at(graph, node)->input_count;
    *rank = 0;
    for (uint32_t i = 0; i < count; i++) {
        const xpu_value_info *operand = xpu_operand(graph, node, i);
        if (!operand) {
            return xpu_infer_error(graph, node, diags, "op-operands", "an operand is absent",
                                   "check that the operator's inputs are connected", "operand %u is absent", i);
        }
        dtypes[i] = operand->dtype;
        if (xpu_broadcast(graph, node, rank, dims, operand->rank, operand->dims)) continue;
        return xpu_infer_error(
            graph, node, diags, "shape-broadcast",
            xpu_printf(graph->arena, "the operands of %s do not broadcast", xpu_node_at(graph, node)->op->name),
            "dims, counted from the last, are equal or 1; a symbol that can have one value only is to be fixed with "
            "--shape",
            "operand %u is %s, the ones before it are together %s", i, xpu_operand_text(graph, node, i),
            xpu_dim_list_text(&graph->dims, *rank, dims, graph->arena));
    }
    return XPU_OK;
}

static xpu_status wrong_types(xpu_graph *graph, xpu_node node, xpu_signature signature, xpu_diags *diags) {
    const xpu_node_info *info = xpu_node_at(graph, node);
    const char *operands = "";
    for (uint32_t i = 0; i < info->input_count; i++) {
        const char *name = xpu_dtype_name(xpu_operand(graph, node, i)->dtype);
        operands = xpu_printf(graph->arena, "%s%s%s", operands, i ? ", " : "", name);
    }
    return xpu_infer_error(graph, node, diags, "dtype-operand",
                           xpu_printf(graph->arena, "%s does not take these element types", info->op->name),
                           xpu_printf(graph->arena, "it takes %s", xpu_signature_text(signature)), "they are %s",
                           operands);
}

xpu_status xpu_infer_elementwise(xpu_graph *graph, xpu_node node, xpu_diags *diags) {
    xpu_elementwise op = (xpu_elementwise)xpu_node_at(graph, node)->op->elementwise;
    int rank, converts = xpu_elementwise_signature(op) == XPU_EW_CONVERT;
    xpu_dim dims[XPU_MAX_RANK];
    xpu_dtype dtypes[XPU_CHAIN_MAX_OPERANDS];
    xpu_status status = broadcast_all(graph, node, &rank, dims, dtypes, diags);
    if (status != XPU_OK) return status;
    int64_t to = converts ? xpu_node_int(graph, node, XPU_ATTR_DTYPE) : 0;
    xpu_dtype dtype =
        xpu_elementwise_result(op, dtypes, to > 0 && to < XPU_DTYPE_COUNT ? (xpu_dtype)to : XPU_DTYPE_NONE, NULL);
    if (dtype == XPU_DTYPE_NONE) return wrong_types(graph, node, xpu_elementwise_signature(op), diags);
    return xpu_set_result(graph, node, 0, dtype, rank, dims, diags);
}

xpu_status xpu_infer_chain(xpu_graph *graph, xpu_node node, xpu_diags *diags) {
    const xpu_attr *attr = xpu_node_attr(graph, node, XPU_ATTR_STEPS);
    if (!attr || !xpu_chain_is_valid(attr->chain, xpu_node_at(graph, node)->input_count)) {
        return xpu_infer_error(graph, node, diags, "chain-program", "the chain's program is not valid",
                               "the program is damaged: compile the model again",
                               "operands of a step are inputs or earlier steps");
    }
    const xpu_chain *chain = attr->chain;
    int rank;
    xpu_dim dims[XPU_MAX_RANK];
    xpu_dtype dtypes[XPU_CHAIN_MAX_INPUTS];
    xpu_chain_types types;
    xpu_status status = broadcast_all(graph, node, &rank, dims, dtypes, diags);
    if (status != XPU_OK) return status;
    if (!xpu_chain_types_of(chain, dtypes, &types)) {
        return xpu_infer_error(graph, node, diags, "chain-program", "the chain's program is not valid",
                               "the program is damaged: compile the model again",
                               "a step's operands have other types than its operator takes");
    }
    xpu_dtype dtype = types.values[chain->input_count + chain->step_count - 1];
    status = xpu_set_result(graph, node, XPU_OUT_Y, dtype, rank, dims, diags);
    if (status != XPU_OK || xpu_node_at(graph, node)->output_count <= XPU_OUT_ABSMAX) return status;
    return xpu_set_result(graph, node, XPU_OUT_ABSMAX, XPU_F32, 0, NULL, diags);
}

xpu_status xpu_infer_absmax(xpu_graph *graph, xpu_node node, xpu_diags *diags) {
    return xpu_set_result(graph, node, 0, XPU_F32, 0, NULL, diags);
}
