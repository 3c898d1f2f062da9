/* Boxes of a tensor, and tensors repeated along dims: shapes and reference kernels. Any element type, by bytes. */
#include <string.h>

#include "core/ops/infer.h"
#include "core/ops/ref_util.h"

/* ---- shapes ---- */

/* Whether every index of dim i lies inside the operand, as far as it is known. */
static int is_inside(const xpu_dims *dims, xpu_dim size, xpu_dim start, xpu_dim count, int64_t step) {
    int64_t s, at, n;
    if (xpu_dim_max(dims, start) < 0 || xpu_dim_min(dims, count) < 0) return 0;
    if (!xpu_dim_is_const(dims, size, &s) || !xpu_dim_is_const(dims, start, &at) || !xpu_dim_is_const(dims, count, &n))
        return 1;
    if (n == 0) return 1;
    int64_t last;
    if (__builtin_mul_overflow(n - 1, step, &last) || __builtin_add_overflow(last, at, &last)) return 0;
    return at < s && last >= 0 && last < s;
}

xpu_status xpu_infer_slice(xpu_graph *graph, xpu_node node, xpu_diags *diags) {
    xpu_value_info x = *xpu_operand(graph, node, 0);
    const xpu_attr *starts = xpu_node_attr(graph, node, XPU_ATTR_STARTS);
    const xpu_attr *sizes = xpu_node_attr(graph, node, XPU_ATTR_SHAPE);
    uint32_t count = 0, rank = (uint32_t)x.rank;
    const int64_t *steps = xpu_node_ints(graph, node, XPU_ATTR_BY, &count);
    if (!starts || !sizes || starts->count != rank || sizes->count != rank || count != rank) {
        return xpu_infer_error(graph, node, diags, "shape-slice", "the attributes do not fit the operand",
                               "starts, sizes and steps have an entry for every dim",
                               "they have %u, %u and %u, the operand is %s", starts ? starts->count : 0,
                               sizes ? sizes->count : 0, count, xpu_operand_text(graph, node, 0));
    }
    for (int i = 0; i < x.rank; i++) {
        xpu_dim start = starts->dims[i], size = sizes->dims[i];
        int fits = start.id && size.id && steps[i] != 0 && steps[i] > -XPU_MAX_WINDOW_VALUE &&
                   steps[i] < XPU_MAX_WINDOW_VALUE && is_inside(&graph->dims, x.dims[i], start, size, steps[i]);
        if (!fits) {
            return xpu_infer_error(graph, node, diags, "shape-slice", "the slice does not lie inside the operand",
                                   "every index is from 0 to the dim's size - 1, and the step is not 0",
                                   "dim %d is %s, the slice takes %s from %s on in steps of %lld", i,
                                   xpu_dim_text(&graph->dims, x.dims[i], graph->arena),
                                   xpu_dim_text(&graph->dims, size, graph->arena),
                                   xpu_dim_text(&graph->dims, start, graph->arena), (long long)steps[i]);
        }
    }
    return xpu_set_result(graph, node, 0, x.dtype, x.rank, sizes->dims, diags);
}

xpu_status xpu_infer_expand(xpu_graph *graph, xpu_node node, xpu_diags *diags) {
    xpu_value_info x = *xpu_operand(graph, node, 0);
    const xpu_attr *target = xpu_node_attr(graph, node, XPU_ATTR_SHAPE);
    int rank = target ? (int)target->count : 0, fits = target && rank <= XPU_MAX_RANK && rank >= x.rank;
    for (int i = 0; fits && i < x.rank; i++) {
        int64_t size;
        if (xpu_dim_is_const(&graph->dims, x.dims[i], &size) && size == 1) continue;
        fits = xpu_equal_dims(graph, node, x.dims[i], target->dims[rank - x.rank + i], NULL);
    }
    if (!fits) {
        return xpu_infer_error(graph, node, diags, "shape-expand", "the operand cannot be expanded to the target shape",
                               "from the last dim backwards, each is the target's or 1",
                               "the operand is %s, the target %s", xpu_operand_text(graph, node, 0),
                               target ? xpu_dim_list_text(&graph->dims, rank, target->dims, graph->arena) : "missing");
    }
    return xpu_set_result(graph, node, 0, x.dtype, rank, target->dims, diags);
}

/* ---- reference kernels ---- */

/* A box in row-major order; the elements of the operand are `steps` bytes apart along each dim. */
static char *copy_box(char *to, const char *from, size_t element, int rank, const int64_t *dims, const int64_t *steps) {
    if (rank == 0) {
        memcpy(to, from, element);
        return to + element;
    }
    if (rank == 1 && steps[0] == (int64_t)element) {
        size_t bytes = (size_t)dims[0] * element;
        if (bytes) memcpy(to, from, bytes);
        return to + bytes;
    }
    for (int64_t i = 0; i < dims[0]; i++)
        to = copy_box(to, from + i * steps[0], element, rank - 1, dims + 1, steps + 1);
    return to;
}

xpu_status xpu_ref_slice(const xpu_ref_args *args) {
    const xpu_tensor *x = args->inputs[0], *y = args->outputs[0];
    const xpu_attr *starts = xpu_node_attr(args->graph, args->node, XPU_ATTR_STARTS);
    const int64_t *by = xpu_node_ints(args->graph, args->node, XPU_ATTR_BY, NULL);
    int64_t steps[XPU_MAX_RANK], stride = (int64_t)xpu_dtype_bytes(x->dtype), first = 0;
    if (xpu_tensor_count(y) == 0) return XPU_OK;
    for (int i = x->rank; i-- > 0; stride *= x->dims[i]) {
        int64_t start = xpu_dim_eval(&args->graph->dims, starts->dims[i], args->symbols);
        int64_t last = start + (y->dims[i] - 1) * by[i];
        if (start < 0 || start >= x->dims[i] || last < 0 || last >= x->dims[i]) {
            return xpu_ref_refuse(args, "the slice does not lie inside the operand under this shape");
        }
        steps[i] = stride * by[i];
        first += stride * start;
    }
    copy_box(y->data, (const char *)x->data + first, xpu_dtype_bytes(x->dtype), x->rank, y->dims, steps);
    return XPU_OK;
}

xpu_status xpu_ref_expand(const xpu_ref_args *args) {
    const xpu_tensor *x = args->inputs[0], *y = args->outputs[0];
    int64_t steps[XPU_MAX_RANK], stride = (int64_t)xpu_dtype_bytes(x->dtype);
    if (xpu_tensor_count(y) == 0) return XPU_OK;
    for (int i = y->rank; i-- > 0;) {
        int dim = i - (y->rank - x->rank);
        steps[i] = dim < 0 || x->dims[dim] == 1 ? 0 : stride;
        if (dim >= 0) stride *= x->dims[dim];
    }
    copy_box(y->data, x->data, xpu_dtype_bytes(x->dtype), y->rank, y->dims, steps);
    return XPU_OK;
}
