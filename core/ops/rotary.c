/* Rotary embedding as one operator: shape and reference kernel. */
#include "core/ops/rotary.h"

#include "core/ops/infer.h"
#include "core/ops/ref_util.h"

/* ---- shape ---- */

static int is_one(const xpu_graph *graph, xpu_dim dim) {
    int64_t size;
    return xpu_dim_is_const(&graph->dims, dim, &size) && size == 1;
}

int xpu_rotary_fits(const xpu_graph *graph, const xpu_value_info *x, const xpu_value_info *table, int *first,
                    int *last) {
    const int rows = x->rank - 1, absent = x->rank - table->rank;
    if (table->rank < 1 || absent < 0) return 0;
    if (!xpu_dim_same(&graph->dims, x->dims[rows], table->dims[table->rank - 1])) return 0;
    *first = *last = rows;
    for (int i = 0; i < rows; i++) {
        const int repeats = i < absent || is_one(graph, table->dims[i - absent]);
        if (!repeats && !xpu_dim_same(&graph->dims, x->dims[i], table->dims[i - absent])) return 0;
        if (!repeats || is_one(graph, x->dims[i])) continue;
        if (*first == rows) *first = i;
        *last = i + 1;
    }
    for (int i = *first; i < *last; i++) {
        if (i >= absent && !is_one(graph, table->dims[i - absent])) return 0;
    }
    return 1;
}

xpu_status xpu_infer_rotary(xpu_graph *graph, xpu_node node, xpu_diags *diags) {
    const xpu_value_info x = *xpu_operand(graph, node, 0);
    const xpu_value_info *cosines = xpu_operand(graph, node, XPU_IN_COSINES),
                         *sines = xpu_operand(graph, node, XPU_IN_SINES);
    int first, last, fits = x.rank > 0 && cosines->rank == sines->rank;
    int64_t size = 0;
    for (int i = 0; fits && i < sines->rank; i++) {
        fits = xpu_dim_same(&graph->dims, cosines->dims[i], sines->dims[i]);
    }
    fits = fits && xpu_rotary_fits(graph, &x, cosines, &first, &last) &&
           xpu_dim_is_const(&graph->dims, x.dims[x.rank - 1], &size) && size > 1 && size % 2 == 0 &&
           size <= XPU_ROTARY_MOST;
    if (!fits) {
        return xpu_infer_error(graph, node, diags, "shape-rotary", "the tables do not fit the operand",
                               "they are alike, with rows of the operand's even size, one for all along dims that lie "
                               "side by side",
                               "the operand is %s, the cosines are %s, the sines %s", xpu_operand_text(graph, node, 0),
                               xpu_operand_text(graph, node, XPU_IN_COSINES),
                               xpu_operand_text(graph, node, XPU_IN_SINES));
    }
    return xpu_set_result(graph, node, 0, XPU_F32, x.rank, x.dims, diags);
}

/* ---- reference ---- */

/* The row of the table for row `row` of x. */
static size_t table_row(const xpu_tensor *x, const xpu_tensor *table, size_t row) {
    const int absent = x->rank - table->rank;
    size_t at = 0, stride = 1;
    for (int i = x->rank - 2; i >= absent; i--) {
        const size_t size = (size_t)x->dims[i], own = (size_t)table->dims[i - absent];
        if (own > 1) at += row % size * stride;
        stride *= own;
        row /= size;
    }
    return at;
}

xpu_status xpu_ref_rotary(const xpu_ref_args *args) {
    const xpu_tensor *x = args->inputs[0], *cosines = args->inputs[XPU_IN_COSINES];
    const size_t rows = (size_t)xpu_product(x->dims, 0, x->rank - 1), size = (size_t)x->dims[x->rank - 1];
    const size_t half = xpu_ref_int(args, XPU_ATTR_INTERLEAVED) ? 1 : size / 2;
    for (size_t row = 0; row < rows; row++) {
        const size_t at = size * table_row(x, cosines, row);
        const float *in = (const float *)x->data + row * size;
        const float *c = (const float *)cosines->data + at, *s = (const float *)args->inputs[XPU_IN_SINES]->data + at;
        float *y = (float *)args->outputs[0]->data + row * size;
        for (size_t i = 0; i < size; i++) {
            const float other = in[i / half % 2 ? i - half : i + half];
            y[i] = xa_add(xa_mul(in[i], c[i]), xa_mul(other, s[i]));
        }
    }
    return XPU_OK;
}
