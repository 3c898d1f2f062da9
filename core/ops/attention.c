/* Attention as one operator: shape and reference kernel. */
#include "core/ops/infer.h"
#include "core/ops/ref_util.h"

/* ---- shape ---- */

static int has_matrices(xpu_graph *graph, xpu_node node, const xpu_value_info *q, const xpu_value_info *other) {
    int fits = other->rank == q->rank;
    for (int i = 0; fits && i < q->rank - 2; i++) fits = xpu_equal_dims(graph, node, q->dims[i], other->dims[i], NULL);
    return fits;
}

/* [M, T] behind dims of 1, which the queries' matrices have as well. */
static int fits_mask(xpu_graph *graph, xpu_node node, int rank, xpu_dim rows, xpu_dim keys) {
    const xpu_value_info *mask = xpu_operand(graph, node, XPU_IN_MASK);
    if (!mask) return 1;
    for (int i = 0; i < mask->rank - 2; i++) {
        if (!xpu_dim_equal(mask->dims[i], xpu_dim_const(&graph->dims, 1))) return 0;
    }
    return mask->rank >= 2 && mask->rank <= rank &&
           xpu_equal_dims(graph, node, mask->dims[mask->rank - 2], rows, NULL) &&
           xpu_equal_dims(graph, node, mask->dims[mask->rank - 1], keys, NULL);
}

xpu_status xpu_infer_attention(xpu_graph *graph, xpu_node node, xpu_diags *diags) {
    xpu_value_info q = *xpu_operand(graph, node, XPU_IN_QUERIES);
    const xpu_value_info *k = xpu_operand(graph, node, XPU_IN_KEYS), *v = xpu_operand(graph, node, XPU_IN_VALUES);
    const int last = q.rank - 1;
    if (q.rank < 2 || !has_matrices(graph, node, &q, k) || !has_matrices(graph, node, &q, v) ||
        !xpu_equal_dims(graph, node, q.dims[last], k->dims[last], NULL) ||
        !xpu_equal_dims(graph, node, k->dims[last - 1], v->dims[last - 1], NULL) ||
        !fits_mask(graph, node, q.rank, q.dims[last - 1], k->dims[last - 1])) {
        return xpu_infer_error(graph, node, diags, "shape-attention", "queries, keys, values and mask do not fit",
                               "they are [..., M, D], [..., T, D], [..., T, E] and [M, T]",
                               "the queries are %s, the keys %s, the values %s, the mask is %s",
                               xpu_operand_text(graph, node, XPU_IN_QUERIES),
                               xpu_operand_text(graph, node, XPU_IN_KEYS), xpu_operand_text(graph, node, XPU_IN_VALUES),
                               xpu_operand_text(graph, node, XPU_IN_MASK));
    }
    q.dims[last] = v->dims[last];
    return xpu_set_result(graph, node, 0, XPU_F32, q.rank, q.dims, diags);
}

/* ---- reference ---- */

typedef struct {
    const float *q, *k, *v;
    const uint8_t *mask; /* of this row; or NULL */
    size_t keys, inner, width;
    float scale, masked;
} row_of_attention;

/* e = exp(score - the largest); returns 1 / sum. */
static float find_weights(const row_of_attention *a, float *e) {
    float most = -xa_inf();
    for (size_t j = 0; j < a->keys; j++) {
        float sum = 0;
        for (size_t c = 0; c < a->inner; c++) sum = xa_fma(a->q[c], a->k[j * a->inner + c], sum);
        e[j] = a->mask && !a->mask[j] ? a->masked : xa_mul(sum, a->scale);
        most = xa_fmax(most, e[j]); /* passes over NaN, of which 1 / sum tells */
    }
    for (size_t j = 0; j < a->keys; j++) e[j] = xa_exp(xa_sub(e[j], most));
    return xa_div(1.0f, xa_reduce_sum(e, a->keys, 1));
}

xpu_status xpu_ref_attention(const xpu_ref_args *args) {
    const xpu_tensor *q = args->inputs[XPU_IN_QUERIES], *v = args->inputs[XPU_IN_VALUES];
    const xpu_tensor *mask =
        xpu_node_at(args->graph, args->node)->input_count > XPU_IN_MASK ? args->inputs[XPU_IN_MASK] : NULL;
    const size_t rows = (size_t)q->dims[q->rank - 2], matrices = (size_t)xpu_product(q->dims, 0, q->rank - 2);
    row_of_attention a = {.keys = (size_t)v->dims[v->rank - 2],
                          .inner = (size_t)q->dims[q->rank - 1],
                          .width = (size_t)v->dims[v->rank - 1],
                          .scale = xpu_ref_float(args, XPU_ATTR_SCALE),
                          .masked = xpu_ref_float(args, XPU_ATTR_VALUE)};
    float *e = XPU_NEW_ARRAY(args->scratch, float, a.keys + 1);
    for (size_t i = 0; i < matrices * rows; i++) {
        size_t matrix = i / rows;
        if (xpu_stopped(args->scratch)) return XPU_ESTOPPED;
        a.q = (const float *)q->data + i * a.inner;
        a.k = (const float *)args->inputs[XPU_IN_KEYS]->data + matrix * a.keys * a.inner;
        a.v = (const float *)v->data + matrix * a.keys * a.width;
        a.mask = mask ? (const uint8_t *)mask->data + i % rows * a.keys : NULL;
        const float inverse = find_weights(&a, e);
        float *y = (float *)args->outputs[0]->data + i * a.width;
        for (size_t c = 0; c < a.width; c++) {
            float sum = 0;
            for (size_t j = 0; j < a.keys; j++) sum = xa_fma(e[j], a.v[j * a.width + c], sum);
            y[c] = xa_add(xa_mul(sum, inverse), 0.0f); /* a zero is +0: keys that are masked may be left out */
        }
    }
    return XPU_OK;
}
