/* The first elements by order: shape and reference kernel. */
#include <stdlib.h>

#include "core/arith_pick.h"
#include "core/ops/infer.h"
#include "core/ops/ref_util.h"
#include "core/ops/scatter.h"

xpu_status xpu_infer_top(xpu_graph *graph, xpu_node node, xpu_diags *diags) {
    xpu_value_info x = *xpu_operand(graph, node, 0);
    const xpu_attr *shape = xpu_node_attr(graph, node, XPU_ATTR_SHAPE);
    int fits = x.rank > 0 && shape && shape->count == 1;
    if (fits) {
        xpu_dim most = xpu_dim_op(&graph->dims, XPU_DIM_MIN, shape->dims[0], x.dims[x.rank - 1]);
        fits = xpu_equal_dims(graph, node, shape->dims[0], most, NULL);
    }
    if (!fits) {
        return xpu_infer_error(graph, node, diags, "shape-top", "there are not as many elements",
                               "at most as many are taken as the dim has", "the operand is %s, %s are taken",
                               xpu_operand_text(graph, node, 0),
                               shape && shape->count ? xpu_dim_text(&graph->dims, shape->dims[0], graph->arena) : "?");
    }
    x.dims[x.rank - 1] = shape->dims[0];
    return xpu_set_result(graph, node, 0, XPU_I32, x.rank, x.dims, diags);
}

typedef struct {
    uint64_t key;
    int64_t index;
} entry;

static int compare(const void *left, const void *right) {
    const entry *a = left, *b = right;
    if (a->key != b->key) return a->key < b->key ? -1 : 1;
    return a->index < b->index ? -1 : a->index > b->index;
}

static uint64_t key_of(const xpu_tensor *x, int64_t i, int largest) {
    const xa_number number = xpu_number_of(x->dtype);
    uint64_t key;
    if (xpu_dtype_bytes(x->dtype) == sizeof key)
        key = ((const uint64_t *)x->data)[i] ^ (uint64_t)(number == XA_SIGNED) << 63;
    else
        key = xa_order_word(number, ((const uint32_t *)x->data)[i]);
    return largest ? ~key : key;
}

xpu_status xpu_ref_top(const xpu_ref_args *args) {
    const xpu_tensor *x = args->inputs[0], *y = args->outputs[0];
    const int64_t n = x->dims[x->rank - 1], k = y->dims[y->rank - 1], rows = xpu_product(x->dims, 0, x->rank - 1);
    const int largest = xpu_ref_int(args, XPU_ATTR_KIND) != 0;
    if (k > n) return xpu_ref_refuse(args, "more elements are taken than there are");
    entry *list = XPU_NEW_ARRAY(args->scratch, entry, (size_t)n + 1);
    for (int64_t row = 0; row < rows && k > 0; row++) {
        for (int64_t i = 0; i < n; i++) list[i] = (entry){key_of(x, row * n + i, largest), i};
        qsort(list, (size_t)n, sizeof *list, compare);
        for (int64_t i = 0; i < k; i++) ((int32_t *)y->data)[row * k + i] = (int32_t)list[i].index;
    }
    return XPU_OK;
}
