/* Elements and rows placed by computed indices: shapes and reference kernels. Placed by bytes, combined by type. */
#include <string.h>

#include "core/arith_pick.h"
#include "core/ops/infer.h"
#include "core/ops/ref_util.h"
#include "core/ops/scatter.h"

xa_number xpu_number_of(xpu_dtype dtype) {
    if (dtype == XPU_F32) return XA_FLOATING;
    return dtype == XPU_I32 || dtype == XPU_I64 ? XA_SIGNED : XA_UNSIGNED;
}

/* ---- shapes ---- */

static xpu_status misfit(xpu_graph *graph, xpu_node node, const char *hint, xpu_diags *diags) {
    return xpu_infer_error(graph, node, diags, "shape-scatter", "the operands do not fit together", hint,
                           "the operands are %s, %s and %s", xpu_operand_text(graph, node, 0),
                           xpu_operand_text(graph, node, 1), xpu_operand_text(graph, node, 2));
}

/* Types, and the result, which is as operand 0. */
static xpu_status set_placed(xpu_graph *graph, xpu_node node, xpu_diags *diags) {
    const xpu_value_info x = *xpu_operand(graph, node, 0);
    const int64_t kind = xpu_node_int(graph, node, XPU_ATTR_KIND);
    if (xpu_operand(graph, node, 2)->dtype != x.dtype || kind < 0 || kind >= XA_PLACINGS)
        return misfit(graph, node, "the updates have the type of what they go into", diags);
    if (kind != XA_PLACE) {
        xpu_status status = xpu_check_types(graph, node, 0,
                                            XPU_TYPE_SET(XPU_F32) | XPU_TYPE_SET(XPU_I32) | XPU_TYPE_SET(XPU_U32) |
                                                XPU_TYPE_SET(XPU_I64) | XPU_TYPE_SET(XPU_U64),
                                            diags);
        if (status != XPU_OK) return status;
    }
    return xpu_set_result(graph, node, 0, x.dtype, x.rank, x.dims, diags);
}

xpu_status xpu_infer_scatter_elements(xpu_graph *graph, xpu_node node, xpu_diags *diags) {
    const xpu_value_info x = *xpu_operand(graph, node, 0), index = *xpu_operand(graph, node, 1);
    const xpu_value_info updates = *xpu_operand(graph, node, 2);
    int axis, fits = x.rank == index.rank && x.rank == updates.rank;
    xpu_status status = xpu_normalise_axis(graph, node, x.rank, &axis, diags);
    if (status != XPU_OK) return status;
    for (int i = 0; fits && i < x.rank; i++) {
        fits = (i == axis || xpu_equal_dims(graph, node, x.dims[i], index.dims[i], NULL)) &&
               xpu_equal_dims(graph, node, index.dims[i], updates.dims[i], NULL);
    }
    if (!fits)
        return misfit(graph, node, "indices and updates are of one shape, and of the operand's but for the axis",
                      diags);
    return set_placed(graph, node, diags);
}

xpu_status xpu_infer_scatter_nd(xpu_graph *graph, xpu_node node, xpu_diags *diags) {
    const xpu_value_info x = *xpu_operand(graph, node, 0), index = *xpu_operand(graph, node, 1);
    const xpu_value_info updates = *xpu_operand(graph, node, 2);
    int64_t depth = 0;
    int fits = index.rank > 0 && xpu_dim_is_const(&graph->dims, index.dims[index.rank - 1], &depth) && depth >= 1 &&
               depth <= x.rank && updates.rank == index.rank - 1 + x.rank - (int)depth;
    for (int i = 0; fits && i < updates.rank; i++) {
        xpu_dim wanted = i < index.rank - 1 ? index.dims[i] : x.dims[(int)depth + i - (index.rank - 1)];
        fits = xpu_equal_dims(graph, node, updates.dims[i], wanted, NULL);
    }
    if (!fits) {
        return misfit(graph, node,
                      "the last dim of the indices says how many leading dims they index; the updates have the others "
                      "of the indices, then those of the operand that are not indexed",
                      diags);
    }
    return set_placed(graph, node, diags);
}

/* ---- reference kernels ---- */

/* Updates `count` elements from `to` on. */
static void place(const xpu_ref_args *args, char *to, const char *from, size_t count) {
    const xpu_dtype dtype = args->inputs[0]->dtype;
    const size_t bytes = xpu_dtype_bytes(dtype);
    const xa_placing kind = (xa_placing)xpu_ref_int(args, XPU_ATTR_KIND);
    const xa_number number = xpu_number_of(dtype);
    if (kind == XA_PLACE) {
        memcpy(to, from, count * bytes);
        return;
    }
    for (size_t i = 0; i < count; i++, to += bytes, from += bytes) {
        if (bytes == sizeof(uint64_t)) {
            uint64_t old, update;
            memcpy(&old, to, sizeof old);
            memcpy(&update, from, sizeof update);
            old = xa_place_wide(kind, number, old, update);
            memcpy(to, &old, sizeof old);
        } else {
            uint32_t old, update;
            memcpy(&old, to, sizeof old);
            memcpy(&update, from, sizeof update);
            old = xa_place_word(kind, number, old, update);
            memcpy(to, &old, sizeof old);
        }
    }
}

static void copy_operand(const xpu_ref_args *args) {
    const size_t bytes = xpu_tensor_bytes(args->inputs[0]);
    if (bytes) memcpy(args->outputs[0]->data, args->inputs[0]->data, bytes);
}

xpu_status xpu_ref_scatter_elements(const xpu_ref_args *args) {
    const xpu_tensor *x = args->inputs[0], *index = args->inputs[1], *updates = args->inputs[2];
    int axis = xpu_ref_int(args, XPU_ATTR_AXIS);
    int64_t size = x->dims[axis], taken = index->dims[axis], inner = xpu_product(x->dims, axis + 1, x->rank);
    size_t bytes = xpu_dtype_bytes(x->dtype);
    copy_operand(args);
    for (int64_t i = 0, count = xpu_tensor_count(index); i < count; i++) {
        int64_t at = xpu_ref_index(index, i, size), outer = i / (taken * inner);
        if (at < 0) return xpu_ref_outside(args, i);
        size_t to = (size_t)((outer * size + at) * inner + i % inner);
        place(args, (char *)args->outputs[0]->data + to * bytes, (const char *)updates->data + (size_t)i * bytes, 1);
    }
    return XPU_OK;
}

xpu_status xpu_ref_scatter_nd(const xpu_ref_args *args) {
    const xpu_tensor *x = args->inputs[0], *index = args->inputs[1], *updates = args->inputs[2];
    int depth = (int)index->dims[index->rank - 1];
    int64_t count = xpu_product(index->dims, 0, index->rank - 1);
    size_t row = (size_t)xpu_product(x->dims, depth, x->rank), bytes = row * xpu_dtype_bytes(x->dtype);
    copy_operand(args);
    if (!bytes) return XPU_OK;
    for (int64_t i = 0; i < count; i++) {
        int64_t to = 0;
        for (int d = 0; d < depth; d++) {
            int64_t at = xpu_ref_index(index, i * depth + d, x->dims[d]);
            if (at < 0) return xpu_ref_outside(args, i * depth + d);
            to = to * x->dims[d] + at;
        }
        place(args, (char *)args->outputs[0]->data + (size_t)to * bytes,
              (const char *)updates->data + (size_t)i * bytes, row);
    }
    return XPU_OK;
}
