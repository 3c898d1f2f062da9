/* Shapes of pack_matrix and packed_matmul. */
#include <string.h>

#include "core/ops/infer.h"

/* The product of all dims but the last two. */
static xpu_dim matrices_of(xpu_graph *graph, const xpu_value_info *x) {
    xpu_dim count = xpu_dim_const(&graph->dims, 1);
    for (int i = 0; i < x->rank - 2; i++) count = xpu_dim_mul(&graph->dims, count, x->dims[i]);
    return count;
}

static xpu_status damaged(xpu_graph *graph, xpu_node node, xpu_diags *diags, const char *what) {
    return xpu_infer_error(graph, node, diags, "op-attribute", what, "the program is damaged: compile the model again",
                           "the operand is %s", xpu_operand_text(graph, node, 0));
}

xpu_status xpu_infer_pack_matrix(xpu_graph *graph, xpu_node node, xpu_diags *diags) {
    enum { MOST_COLUMNS = 1024 };
    const xpu_value_info *x = xpu_operand(graph, node, 0);
    xpu_dims *d = &graph->dims;
    int64_t columns = xpu_node_int(graph, node, XPU_ATTR_COLUMNS), dtype = xpu_node_int(graph, node, XPU_ATTR_DTYPE);
    int transposed = xpu_node_int(graph, node, XPU_ATTR_TRANSPOSED) != 0;
    if (x->rank < 2 || columns < 1 || columns > MOST_COLUMNS || (dtype != XPU_I16 && dtype != XPU_I8)) {
        return damaged(graph, node, diags, "the matrices cannot be packed");
    }
    xpu_dim n = x->dims[x->rank - (transposed ? 2 : 1)], k = x->dims[x->rank - (transposed ? 1 : 2)];
    xpu_dim blocks = xpu_dim_floordiv_const(d, xpu_dim_add_const(d, n, columns - 1), columns);
    const xpu_dim dims[] = {matrices_of(graph, x), blocks, k, xpu_dim_const(d, columns)}, scales[] = {dims[0], n};
    xpu_status status = xpu_set_result(graph, node, XPU_OUT_Y, (xpu_dtype)dtype, 4, dims, diags);
    if (status != XPU_OK || xpu_node_at(graph, node)->output_count <= XPU_OUT_PACK_SCALES) return status;
    return xpu_set_result(graph, node, XPU_OUT_PACK_SCALES, XPU_F32, 2, scales, diags);
}

/* Whether weights and scales are those of `n` columns of matrices that x can be multiplied by. */
static int fits(xpu_graph *graph, xpu_node node, const xpu_value_info *x, const xpu_value_info *w,
                const xpu_value_info *scale) {
    xpu_dims *d = &graph->dims;
    int64_t columns;
    if (x->rank < 2 || w->rank != 4 || scale->rank != 2 || !xpu_dim_is_const(d, w->dims[3], &columns) || columns < 1)
        return 0;
    xpu_dim blocks = xpu_dim_floordiv_const(d, xpu_dim_add_const(d, scale->dims[1], columns - 1), columns);
    if (!xpu_dim_equal(blocks, w->dims[1]) || !xpu_equal_dims(graph, node, w->dims[0], scale->dims[0], NULL)) return 0;
    if (!xpu_equal_dims(graph, node, w->dims[2], x->dims[x->rank - 1], NULL)) return 0;
    return xpu_dim_equal(w->dims[0], xpu_dim_const(d, 1)) ||
           xpu_equal_dims(graph, node, w->dims[0], matrices_of(graph, x), NULL);
}

xpu_status xpu_infer_packed_matmul(xpu_graph *graph, xpu_node node, xpu_diags *diags) {
    const xpu_value_info *x = xpu_operand(graph, node, XPU_IN_X), *w = xpu_operand(graph, node, XPU_IN_W);
    const xpu_value_info *scale = xpu_operand(graph, node, XPU_IN_WSCALE);
    const xpu_value_info *absmax = xpu_operand(graph, node, XPU_IN_ABSMAX);
    int64_t precision = xpu_node_int(graph, node, XPU_ATTR_PRECISION);
    xpu_dim dims[XPU_MAX_RANK];
    if (!scale || !absmax || absmax->rank != 0 || scale->dtype != XPU_F32 || absmax->dtype != XPU_F32 ||
        precision != (w->dtype == XPU_I8 ? XPU_PRECISION_INT16X8 : XPU_PRECISION_INT16) ||
        !fits(graph, node, x, w, scale)) {
        return damaged(graph, node, diags, "the packed matrices do not fit the operand");
    }
    memcpy(dims, x->dims, sizeof dims);
    dims[x->rank - 1] = scale->dims[1];
    return xpu_set_result(graph, node, XPU_OUT_Y, XPU_F32, x->rank, dims, diags);
}
