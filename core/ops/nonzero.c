/* Places of elements that are not 0: shapes and reference kernels. Any element type, by bytes. */
#include <string.h>

#include "core/ops/infer.h"
#include "core/ops/ref_util.h"

/* ---- shapes ---- */

static xpu_dim elements_of(xpu_graph *graph, const xpu_value_info *info) {
    xpu_dim product = xpu_dim_const(&graph->dims, 1);
    for (int i = 0; i < info->rank; i++) product = xpu_dim_mul(&graph->dims, product, info->dims[i]);
    return product;
}

/* One for each block, and one of nothing. */
static xpu_dim blocks_of(xpu_graph *graph, const xpu_value_info *info) {
    xpu_dims *dims = &graph->dims;
    xpu_dim most = xpu_dim_add_const(dims, elements_of(graph, info), XA_NONZERO_BLOCK - 1);
    return xpu_dim_op(dims, XPU_DIM_MAX, xpu_dim_floordiv_const(dims, most, XA_NONZERO_BLOCK), xpu_dim_const(dims, 1));
}

xpu_status xpu_infer_nonzero_counts(xpu_graph *graph, xpu_node node, xpu_diags *diags) {
    const xpu_value_info x = *xpu_operand(graph, node, 0);
    xpu_dim blocks = blocks_of(graph, &x);
    return xpu_set_result(graph, node, 0, XPU_I32, 1, &blocks, diags);
}

xpu_status xpu_infer_nonzero(xpu_graph *graph, xpu_node node, xpu_diags *diags) {
    const xpu_value_info x = *xpu_operand(graph, node, 0), counts = *xpu_operand(graph, node, 1);
    const xpu_attr *shape = xpu_node_attr(graph, node, XPU_ATTR_SHAPE);
    int64_t rank = 0;
    int fits = x.rank > 0 && counts.rank == 1 && shape && shape->count == 2 &&
               xpu_dim_is_const(&graph->dims, shape->dims[0], &rank) && rank == x.rank &&
               xpu_equal_dims(graph, node, counts.dims[0], blocks_of(graph, &x), NULL);
    if (!fits) {
        return xpu_infer_error(graph, node, diags, "shape-nonzero", "the operands of a nonzero do not fit together",
                               "operand 1 is what nonzero_counts gives of operand 0, the shape its rank and a dim",
                               "they are %s and %s", xpu_operand_text(graph, node, 0),
                               xpu_operand_text(graph, node, 1));
    }
    return xpu_set_result(graph, node, 0, XPU_I64, 2, shape->dims, diags);
}

/* ---- reference kernels ---- */

/* -0 is 0, NaN is not. */
static int is_nonzero(const xpu_tensor *x, int64_t i) {
    size_t bytes = xpu_dtype_bytes(x->dtype);
    uint64_t bits = 0;
    memcpy(&bits, (const char *)x->data + (size_t)i * bytes, bytes); /* little-endian */
    int is_float = x->dtype == XPU_F32 || x->dtype == XPU_F64 || x->dtype == XPU_F16 || x->dtype == XPU_BF16;
    if (is_float) bits &= ~((uint64_t)1 << (8 * bytes - 1));
    return bits != 0;
}

xpu_status xpu_ref_nonzero_counts(const xpu_ref_args *args) {
    const xpu_tensor *x = args->inputs[0];
    int32_t *counts = args->outputs[0]->data;
    memset(counts, 0, xpu_tensor_bytes(args->outputs[0]));
    for (int64_t i = 0, count = xpu_tensor_count(x); i < count; i++) counts[i / XA_NONZERO_BLOCK] += is_nonzero(x, i);
    return XPU_OK;
}

xpu_status xpu_ref_nonzero(const xpu_ref_args *args) {
    const xpu_tensor *x = args->inputs[0], *y = args->outputs[0];
    int64_t found = 0, at[XPU_MAX_RANK] = {0};
    for (int64_t i = 0, count = xpu_tensor_count(x); i < count; i++) {
        if (is_nonzero(x, i)) {
            if (found == y->dims[1]) return xpu_ref_refuse(args, "more elements are not 0 than were counted");
            for (int d = 0; d < x->rank; d++) ((int64_t *)y->data)[d * y->dims[1] + found] = at[d];
            found++;
        }
        for (int d = x->rank; d-- > 0 && ++at[d] == x->dims[d];) at[d] = 0;
    }
    return found == y->dims[1] ? XPU_OK : xpu_ref_refuse(args, "fewer elements are not 0 than were counted");
}
