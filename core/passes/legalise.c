#include "core/passes/passes.h"

#include <string.h>

/* ---- leading dims of matrix products ---- */

static int has_one_matrix(const xpu_graph *graph, xpu_value value) {
    const xpu_value_info *info = xpu_value_at(graph, value);
    int64_t size;
    for (int i = 0; i < info->rank - 2; i++) {
        if (!xpu_dim_is_const(&graph->dims, info->dims[i], &size) || size != 1) return 0;
    }
    return 1;
}

static int has_dims(const xpu_graph *graph, xpu_value value, int rank, const xpu_dim *dims) {
    const xpu_value_info *info = xpu_value_at(graph, value);
    int same = info->rank == rank;
    for (int i = 0; same && i < rank; i++) same = xpu_dim_same(&graph->dims, info->dims[i], dims[i]);
    return same;
}

/* Matrices that broadcast against several others are repeated: targets multiply as many by as many, or by one. */
static void repeat_matrices(xpu_graph *graph, xpu_node node, xpu_diags *diags) {
    const xpu_value_info *y = xpu_value_at(graph, xpu_node_output(graph, node, 0));
    int rank = y->rank;
    xpu_dim dims[XPU_MAX_RANK];
    for (uint32_t i = 0; i < 2; i++) {
        if (has_one_matrix(graph, xpu_node_input(graph, node, i))) return;
    }
    memcpy(dims, y->dims, sizeof dims);
    for (uint32_t i = 0; i < 2; i++) {
        xpu_value x = xpu_node_input(graph, node, i);
        const xpu_value_info *info = xpu_value_at(graph, x);
        for (int d = 1; d <= 2; d++) dims[rank - d] = info->dims[info->rank - d];
        if (has_dims(graph, x, rank, dims)) continue;
        const xpu_node_info *product = xpu_node_at(graph, node);
        xpu_attr shape = XPU_ATTR_DIMS_OF(SHAPE, dims, (uint32_t)rank);
        xpu_node repeated = xpu_build(graph, node, XPU_OP_EXPAND, &x, 1, NULL, &shape, 1, product->origins.items,
                                      product->origins.count, diags);
        xpu_node_set_input(graph, node, i, xpu_node_output(graph, repeated, 0));
    }
}

/* ---- the pass ---- */

xpu_status xpu_pass_legalise(xpu_graph *graph, xpu_diags *diags) {
    xpu_status first = XPU_OK;
    XPU_FOR_BLOCKS(graph, block) {
        for (xpu_node node = xpu_block_at(graph, block)->first, next; node.id; node = next) {
            next = xpu_node_next(graph, node);
            const xpu_op *op = xpu_node_at(graph, node)->op;
            if (!op->expand) continue;
            xpu_status status = op->expand(graph, node, diags);
            if (first == XPU_OK) first = status;
        }
    }
    xpu_status status = xpu_write_out_norms(graph, diags);
    if (first == XPU_OK) first = status;
    status = xpu_cut_integer_products(graph, diags);
    if (first == XPU_OK) first = status;
    status = xpu_write_out_conversions(graph, diags);
    if (first == XPU_OK) first = status;
    XPU_FOR_ALL_NODES(graph, node) {
        if (xpu_node_is(graph, node, XPU_OP_MATMUL)) repeat_matrices(graph, node, diags);
    }
    return first == XPU_OK ? xpu_diags_status(diags) : first;
}
