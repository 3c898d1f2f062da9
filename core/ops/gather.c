/* Elements and rows picked by computed indices: shapes and reference kernels. Any element type, by bytes. */
#include <string.h>

#include "core/ops/infer.h"
#include "core/ops/ref_util.h"

/* ---- shapes ---- */

static xpu_status too_many_dims(xpu_graph *graph, xpu_node node, int rank, xpu_diags *diags) {
    return xpu_infer_error(graph, node, diags, "shape-gather", "the result has too many dims",
                           "merge dims with a reshape before", "it would have %d, at most %d are supported", rank,
                           XPU_MAX_RANK);
}

xpu_status xpu_infer_gather(xpu_graph *graph, xpu_node node, xpu_diags *diags) {
    const xpu_value_info x = *xpu_operand(graph, node, 0), index = *xpu_operand(graph, node, 1);
    xpu_dim dims[2 * XPU_MAX_RANK];
    int axis, rank = 0;
    xpu_status status = xpu_normalise_axis(graph, node, x.rank, &axis, diags);
    if (status != XPU_OK) return status;
    for (int i = 0; i < axis; i++) dims[rank++] = x.dims[i];
    for (int i = 0; i < index.rank; i++) dims[rank++] = index.dims[i];
    for (int i = axis + 1; i < x.rank; i++) dims[rank++] = x.dims[i];
    if (rank > XPU_MAX_RANK) return too_many_dims(graph, node, rank, diags);
    return xpu_set_result(graph, node, 0, x.dtype, rank, dims, diags);
}

xpu_status xpu_infer_gather_elements(xpu_graph *graph, xpu_node node, xpu_diags *diags) {
    const xpu_value_info x = *xpu_operand(graph, node, 0), index = *xpu_operand(graph, node, 1);
    int axis, fits = x.rank == index.rank;
    xpu_status status = xpu_normalise_axis(graph, node, x.rank, &axis, diags);
    if (status != XPU_OK) return status;
    for (int i = 0; fits && i < x.rank; i++)
        fits = i == axis || xpu_equal_dims(graph, node, x.dims[i], index.dims[i], NULL);
    if (!fits) {
        return xpu_infer_error(graph, node, diags, "shape-gather", "the operands do not fit together",
                               "all dims but the axis are equal", "operand 0 is %s, operand 1 is %s, the axis is %d",
                               xpu_operand_text(graph, node, 0), xpu_operand_text(graph, node, 1), axis);
    }
    return xpu_set_result(graph, node, 0, x.dtype, index.rank, index.dims, diags);
}

xpu_status xpu_infer_gather_nd(xpu_graph *graph, xpu_node node, xpu_diags *diags) {
    const xpu_value_info x = *xpu_operand(graph, node, 0), index = *xpu_operand(graph, node, 1);
    const int64_t batch = xpu_node_int(graph, node, XPU_ATTR_BATCH_DIMS);
    int64_t depth = 0;
    int fits = batch >= 0 && batch < index.rank && batch < x.rank &&
               xpu_dim_is_const(&graph->dims, index.dims[index.rank - 1], &depth) && depth >= 1 &&
               depth <= x.rank - batch;
    for (int i = 0; fits && i < batch; i++) fits = xpu_equal_dims(graph, node, x.dims[i], index.dims[i], NULL);
    if (!fits) {
        return xpu_infer_error(graph, node, diags, "shape-gather", "the operands do not fit together",
                               "the batch dims are equal, and the last dim of the indices says how many of the "
                               "other dims they index",
                               "operand 0 is %s, operand 1 is %s, batch_dims is %lld", xpu_operand_text(graph, node, 0),
                               xpu_operand_text(graph, node, 1), (long long)batch);
    }
    xpu_dim dims[2 * XPU_MAX_RANK];
    int rank = 0;
    for (int i = 0; i < index.rank - 1; i++) dims[rank++] = index.dims[i];
    for (int i = (int)(batch + depth); i < x.rank; i++) dims[rank++] = x.dims[i];
    if (rank > XPU_MAX_RANK) return too_many_dims(graph, node, rank, diags);
    return xpu_set_result(graph, node, 0, x.dtype, rank, dims, diags);
}

/* ---- reference kernels ---- */

int64_t xpu_ref_index(const xpu_tensor *list, int64_t i, int64_t size) {
    int64_t index = list->dtype == XPU_I64 ? ((const int64_t *)list->data)[i] : ((const int32_t *)list->data)[i];
    if (index < 0 && index >= -size) index += size;
    return index < 0 || index >= size ? -1 : index;
}

xpu_status xpu_ref_outside(const xpu_ref_args *args, int64_t place) {
    return xpu_error(args->diags, XPU_EUSAGE, args->graph->file, "ref-index",
                     xpu_node_where(args->graph, args->node, args->scratch), "an index is outside its dim",
                     xpu_printf(args->scratch, "entry %lld of its indices is the first", (long long)place),
                     "indices are from -size to size - 1: give other inputs");
}

xpu_status xpu_ref_gather(const xpu_ref_args *args) {
    const xpu_tensor *x = args->inputs[0], *index = args->inputs[1];
    int axis = xpu_ref_int(args, XPU_ATTR_AXIS);
    int64_t outer = xpu_product(x->dims, 0, axis), size = x->dims[axis], count = xpu_tensor_count(index);
    size_t row = (size_t)xpu_product(x->dims, axis + 1, x->rank) * xpu_dtype_bytes(x->dtype);
    char *to = args->outputs[0]->data;
    if (!row) return XPU_OK;
    for (int64_t o = 0; o < outer; o++) {
        for (int64_t i = 0; i < count; i++, to += row) {
            int64_t at = xpu_ref_index(index, i, size);
            if (at < 0) return xpu_ref_outside(args, i);
            memcpy(to, (const char *)x->data + (size_t)(o * size + at) * row, row);
        }
    }
    return XPU_OK;
}

xpu_status xpu_ref_gather_elements(const xpu_ref_args *args) {
    const xpu_tensor *x = args->inputs[0], *index = args->inputs[1];
    int axis = xpu_ref_int(args, XPU_ATTR_AXIS);
    int64_t size = x->dims[axis], taken = index->dims[axis], inner = xpu_product(x->dims, axis + 1, x->rank);
    size_t bytes = xpu_dtype_bytes(x->dtype);
    for (int64_t i = 0, count = xpu_tensor_count(index); i < count; i++) {
        int64_t at = xpu_ref_index(index, i, size), outer = i / (taken * inner);
        if (at < 0) return xpu_ref_outside(args, i);
        size_t from = (size_t)((outer * size + at) * inner + i % inner);
        memcpy((char *)args->outputs[0]->data + (size_t)i * bytes, (const char *)x->data + from * bytes, bytes);
    }
    return XPU_OK;
}

xpu_status xpu_ref_gather_nd(const xpu_ref_args *args) {
    const xpu_tensor *x = args->inputs[0], *index = args->inputs[1];
    int batch = xpu_ref_int(args, XPU_ATTR_BATCH_DIMS), depth = (int)index->dims[index->rank - 1];
    int64_t batches = xpu_product(x->dims, 0, batch), rows = xpu_product(x->dims, batch, batch + depth);
    int64_t each = xpu_product(index->dims, batch, index->rank - 1);
    size_t row = (size_t)xpu_product(x->dims, batch + depth, x->rank) * xpu_dtype_bytes(x->dtype);
    char *to = args->outputs[0]->data;
    if (!row) return XPU_OK;
    for (int64_t i = 0; i < batches * each; i++, to += row) {
        int64_t from = 0;
        for (int d = 0; d < depth; d++) {
            int64_t at = xpu_ref_index(index, i * depth + d, x->dims[batch + d]);
            if (at < 0) return xpu_ref_outside(args, i * depth + d);
            from = from * x->dims[batch + d] + at;
        }
        memcpy(to, (const char *)x->data + (size_t)(i / each * rows + from) * row, row);
    }
    return XPU_OK;
}
