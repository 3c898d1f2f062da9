/* Reductions along one axis: shape and reference kernel. The rows of ops.def are in the order of xa_reduction. */
#include <string.h>

#include "core/arith.h"
#include "core/ops/infer.h"
#include "core/ops/ref_util.h"
#include "core/ops/rows.h"

xpu_status xpu_infer_reduce(xpu_graph *graph, xpu_node node, xpu_diags *diags) {
    xpu_value_info x = *xpu_operand(graph, node, 0);
    int axis;
    xpu_status status = xpu_normalise_axis(graph, node, x.rank, &axis, diags);
    if (status != XPU_OK) return status;
    x.dims[axis] = xpu_dim_const(&graph->dims, 1);
    return xpu_set_result(graph, node, 0, x.dtype, x.rank, x.dims, diags);
}

/* Integers of at most 64 bits. Arithmetic wraps, as it does in the type itself once the result is cut to its size. */
static int64_t read(const void *data, xpu_dtype dtype, size_t i) {
    switch (dtype) {
    case XPU_I8: return ((const int8_t *)data)[i];
    case XPU_U8: return ((const uint8_t *)data)[i];
    case XPU_BOOL: return ((const uint8_t *)data)[i] != 0;
    case XPU_I32: return ((const int32_t *)data)[i];
    case XPU_U32: return ((const uint32_t *)data)[i];
    default: return ((const int64_t *)data)[i];
    }
}

/* x > y, of uint64 too. */
static int above(int64_t x, int64_t y, xpu_dtype dtype) {
    return dtype == XPU_U64 ? (uint64_t)x > (uint64_t)y : x > y;
}

static int64_t lowest(xpu_dtype dtype) {
    return dtype == XPU_I8 ? INT8_MIN : dtype == XPU_I32 ? INT32_MIN : dtype == XPU_I64 ? INT64_MIN : 0;
}

static int64_t highest(xpu_dtype dtype) {
    switch (dtype) {
    case XPU_I8: return INT8_MAX;
    case XPU_U8: return UINT8_MAX;
    case XPU_I32: return INT32_MAX;
    case XPU_U32: return UINT32_MAX;
    case XPU_I64: return INT64_MAX;
    case XPU_BOOL: return 1;
    default: return -1;
    }
}

static int64_t mean_of(int64_t sum, size_t n, xpu_dtype dtype) {
    if (n == 0) return 0;
    if (dtype == XPU_I32) sum = (int32_t)sum;
    if (dtype == XPU_U32) sum = (uint32_t)sum;
    return dtype == XPU_U64 ? (int64_t)((uint64_t)sum / n) : sum / (int64_t)n;
}

static int64_t reduce_integers(xa_reduction kind, const void *data, xpu_dtype dtype, size_t first, size_t n,
                               size_t stride) {
    int64_t result = kind == XA_REDUCE_MAX    ? lowest(dtype)
                     : kind == XA_REDUCE_MIN  ? highest(dtype)
                     : kind == XA_REDUCE_PROD ? 1
                                              : 0;
    for (size_t i = 0; i < n; i++) {
        int64_t value = read(data, dtype, first + i * stride);
        switch (kind) {
        case XA_REDUCE_MAX: result = above(value, result, dtype) ? value : result; break;
        case XA_REDUCE_MIN: result = above(result, value, dtype) ? value : result; break;
        case XA_REDUCE_PROD: result = (int64_t)((uint64_t)result * (uint64_t)value); break;
        default: result = (int64_t)((uint64_t)result + (uint64_t)value); break;
        }
    }
    return kind == XA_REDUCE_MEAN ? mean_of(result, n, dtype) : result;
}

void xpu_reduced_nothing(int kind, xpu_dtype dtype, uint32_t words[2]) {
    int64_t value = reduce_integers((xa_reduction)kind, NULL, dtype, 0, 0, 1);
    float number = dtype == XPU_F32 ? xa_reduce((xa_reduction)kind, NULL, 0, 1) : 0;
    size_t bytes = xpu_dtype_bytes(dtype);
    unsigned char repeated[8];
    for (size_t i = 0; i < sizeof repeated; i++)
        repeated[i] = ((const unsigned char *)(dtype == XPU_F32 ? (const void *)&number : &value))[i % bytes];
    memcpy(words, repeated, sizeof repeated);
}

xpu_status xpu_ref_reduce(const xpu_ref_args *args) {
    const xpu_tensor *x = args->inputs[0];
    xa_reduction kind = (xa_reduction)(xpu_op_id_of(xpu_node_at(args->graph, args->node)->op) - XPU_OP_REDUCE_SUM);
    int axis = xpu_ref_int(args, XPU_ATTR_AXIS);
    size_t outer = (size_t)xpu_product(x->dims, 0, axis), count = (size_t)x->dims[axis];
    size_t inner = (size_t)xpu_product(x->dims, axis + 1, x->rank), bytes = xpu_dtype_bytes(x->dtype);
    for (size_t i = 0; i < outer * inner; i++) {
        size_t first = i / inner * count * inner + i % inner;
        if (x->dtype == XPU_F32) {
            ((float *)args->outputs[0]->data)[i] = xa_reduce(kind, (const float *)x->data + first, count, inner);
            continue;
        }
        int64_t result = reduce_integers(kind, x->data, x->dtype, first, count, inner);
        memcpy((char *)args->outputs[0]->data + i * bytes, &result, bytes); /* little-endian: the low bytes */
    }
    return XPU_OK;
}
