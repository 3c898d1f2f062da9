/*
 * Products of two computed matrices (scores and values of attention) on the tensor engine. The second operand becomes
 * weights on the device: integers by the largest magnitude of each column, as constants do when they are compiled. Rows
 * of the first have scales as in products by constants; behind a softmax that nobody else reads the division waits for
 * the product's rows, which are fewer: their exponentials are at most 1.
 */
#include "xpu_codegen/choose/computed_weights.h"

#include <string.h>

#include "core/passes/rewrite.h"
#include "xpu_codegen/choose/geometry.h"
#include "xpu_codegen/choose/tiles.h"
#include "xpu_codegen/values.h"

enum {
    LEAST_ROWS = 16,          /* with fewer, packing takes longer than the product on the cores */
    LEAST_PRODUCTS = 1 << 18, /* with fewer, four layers take longer than one */
    FLOAT_BYTES = 4
};

static xpu_dim dim_from_end(const xpu_codegen *cg, xpu_value value, int i) {
    return xpu_value_dim(cg, value, xpu_value_at(cg->graph, value)->rank - i);
}

static xpu_dim matrices_of(xpu_codegen *cg, xpu_value value) {
    return xpu_dims_product(cg, value, 0, xpu_value_at(cg->graph, value)->rank - 2);
}

static int is_single(xpu_codegen *cg, xpu_value value) {
    return xpu_dim_equal(matrices_of(cg, value), xpu_dim_of(cg, 1));
}

/* Whether both have the same leading dims. */
static int has_matrices_alike(const xpu_codegen *cg, xpu_value a, xpu_value b) {
    int rank = xpu_value_at(cg->graph, a)->rank, same = rank == xpu_value_at(cg->graph, b)->rank;
    for (int i = 0; same && i < rank - 2; i++) {
        same = xpu_dim_same(&cg->graph->dims, xpu_value_dim(cg, a, i), xpu_value_dim(cg, b, i));
    }
    return same;
}

static int may_be_empty(const xpu_codegen *cg, xpu_value value) {
    for (int i = 0; i < xpu_value_at(cg->graph, value)->rank; i++) {
        if (xpu_dim_min(&cg->graph->dims, xpu_value_dim(cg, value, i)) < 1) return 1;
    }
    return 0;
}

const char *xpu_why_not_packed(xpu_codegen *cg, xpu_node node, xpu_tiling_format format) {
    xpu_value x = xpu_node_input(cg->graph, node, XPU_IN_X), w = xpu_node_input(cg->graph, node, XPU_IN_W);
    if (xpu_is_const_value(cg, x) || xpu_is_const_value(cg, w)) {
        return "a product with several constant matrices runs on the cores";
    }
    if (!is_single(cg, w) && !has_matrices_alike(cg, x, w)) return "one matrix is multiplied by several: on the cores";
    if (cg->chip.array_columns > XPU_PACK_MOST_COLUMNS)
        return "the array is wider than what the cores pack: on the cores";
    if (may_be_empty(cg, x) || may_be_empty(cg, w)) return "a matrix that may be empty is multiplied on the cores";
    int own = !is_single(cg, w);
    xpu_conv_shape shape = xpu_matrices_shape(cg, node, dim_from_end(cg, w, 1), own);
    double rows = xpu_dim_likely(cg, shape.out_h), inner = xpu_dim_likely(cg, shape.in_c);
    double products = xpu_dim_likely(cg, shape.batch) * rows * inner * xpu_dim_likely(cg, shape.out_c);
    if (rows < LEAST_ROWS) return "a product of few rows and a computed matrix is faster on the cores";
    if (products < LEAST_PRODUCTS) return "a small product of two computed matrices is faster on the cores";
    xpu_tile tile;
    return xpu_choose_tile(cg, &shape, 0, format, &tile);
}

/* ---- the second operand ---- */

static xpu_node add_before(xpu_codegen *cg, xpu_node product, xpu_op_id op, xpu_value input, const char *const *names,
                           uint32_t outputs, const xpu_attr *attrs, uint32_t attr_count) {
    xpu_graph *graph = cg->graph;
    xpu_block left = xpu_graph_enter(graph, xpu_node_at(graph, product)->parent);
    xpu_node node = xpu_graph_add(graph, product, xpu_op_of(op), &input, 1, names, outputs, attrs, attr_count, NULL, 0);
    xpu_graph_enter(graph, left);
    xpu_node_at(graph, node)->region = xpu_node_at(graph, product)->region;
    xpu_op_infer(graph, node, cg->diags);
    return node;
}

/* The transpose that makes w and swaps the last two dims; {0}: there is none. *perm is its own. */
static xpu_node transpose_of(const xpu_codegen *cg, xpu_value w, const int64_t **perm, uint32_t *rank) {
    const xpu_graph *graph = cg->graph;
    const xpu_value_info *info = xpu_value_at(graph, w);
    const xpu_node none = {0};
    if (info->kind != XPU_VALUE_NODE || !xpu_node_is(graph, info->node, XPU_OP_TRANSPOSE)) return none;
    if (!xpu_on_chip(cg, info->node)) return none;
    *perm = xpu_node_ints(graph, info->node, XPU_ATTR_PERM, rank);
    return *rank >= 2 && (*perm)[*rank - 2] > (*perm)[*rank - 1] ? info->node : none;
}

int xpu_is_transposed(const xpu_codegen *cg, xpu_value w) {
    const int64_t *perm;
    uint32_t rank;
    return transpose_of(cg, w, &perm, &rank).id != 0;
}

xpu_value xpu_before_transpose(xpu_codegen *cg, xpu_node product, xpu_value w) {
    xpu_graph *graph = cg->graph;
    uint32_t rank;
    const int64_t *perm;
    xpu_node transpose = transpose_of(cg, w, &perm, &rank);
    if (!transpose.id) return (xpu_value){0};
    int64_t swapped[XPU_MAX_RANK];
    memcpy(swapped, perm, rank * sizeof *perm);
    swapped[rank - 2] = perm[rank - 1];
    swapped[rank - 1] = perm[rank - 2];
    int moved = 0;
    for (uint32_t i = 0; i < rank; i++) moved |= swapped[i] != i;
    xpu_value x = xpu_node_input(graph, transpose, 0);
    if (!moved) return x;
    const char *const names[] = {xpu_printf(cg->arena, "%s/rows", xpu_value_at(graph, w)->name)};
    const xpu_attr attr = XPU_ATTR_INTS_OF(PERM, swapped, rank);
    return xpu_node_output(graph, add_before(cg, product, XPU_OP_TRANSPOSE, x, names, 1, &attr, 1), 0);
}

static xpu_node add_packed(xpu_codegen *cg, xpu_node node, xpu_precision precision) {
    xpu_graph *graph = cg->graph;
    xpu_value w = xpu_node_input(graph, node, XPU_IN_W), columns = xpu_before_transpose(cg, node, w);
    const char *name = xpu_value_at(graph, xpu_node_output(graph, node, XPU_OUT_Y))->name;
    const char *const names[] = {xpu_printf(cg->arena, "%s/packed", name), xpu_printf(cg->arena, "%s/scales", name)};
    const xpu_attr attrs[] = {XPU_ATTR_INT_OF(COLUMNS, cg->chip.array_columns),
                              XPU_ATTR_INT_OF(TRANSPOSED, columns.id != 0),
                              XPU_ATTR_INT_OF(DTYPE, precision == XPU_PRECISION_INT16X8 ? XPU_I8 : XPU_I16)};
    return add_before(cg, node, XPU_OP_PACK_MATRIX, columns.id ? columns : w, names, 2, attrs, 3);
}

/* ---- the first ---- */

/* Whether LM holds two rows, as softmax_parts needs. */
static int fits_lm(const xpu_codegen *cg, xpu_dim row) {
    const int64_t kept = 1024; /* bytes beside them */
    return xpu_dim_upper(cg, row) * 2 * FLOAT_BYTES + kept <= xpu_lm_room(cg);
}

/* The softmax that makes x for this product only; {0}: there is none. */
static xpu_node softmax_of(xpu_codegen *cg, xpu_node product, xpu_value x) {
    const xpu_graph *graph = cg->graph;
    const xpu_value_info *info = xpu_value_at(graph, x);
    xpu_node node = info->node, none = {0};
    if (info->kind != XPU_VALUE_NODE || !xpu_node_is(graph, node, XPU_OP_SOFTMAX)) return none;
    if (!xpu_used_once(graph, node) || !xpu_same_block(graph, node, product)) return none;
    if (!xpu_on_chip(cg, node)) return none;
    int last = info->rank - 1;
    return xpu_node_int(graph, node, XPU_ATTR_AXIS) == last && fits_lm(cg, info->dims[last]) ? node : none;
}

static xpu_scaled_rows parts_of(xpu_codegen *cg, xpu_node softmax) {
    xpu_graph *graph = cg->graph;
    const char *name = xpu_value_at(graph, xpu_node_output(graph, softmax, 0))->name;
    const char *const names[] = {xpu_printf(cg->arena, "%s/exp", name), xpu_printf(cg->arena, "%s/inverses", name)};
    xpu_node parts =
        add_before(cg, softmax, XPU_OP_SOFTMAX_PARTS, xpu_node_input(graph, softmax, 0), names, 2, NULL, 0);
    xpu_node_add_origins(graph, parts, softmax);
    return (xpu_scaled_rows){.x = xpu_node_output(graph, parts, XPU_OUT_Y),
                             .powers = xpu_node_output(graph, parts, XPU_OUT_POWERS),
                             .absmax = xpu_graph_const_f32(graph, "softmax/absmax", 1.0f)};
}

xpu_node xpu_pack_product(xpu_codegen *cg, xpu_node node, xpu_precision precision, xpu_row_scales *scales) {
    xpu_graph *graph = cg->graph;
    xpu_node packed = add_packed(cg, node, precision);
    xpu_node softmax = softmax_of(cg, node, xpu_node_input(graph, node, XPU_IN_X));
    xpu_node_set_attr(graph, node, &XPU_ATTR_INT_OF(PRECISION, precision));
    xpu_value w = xpu_node_input(graph, node, XPU_IN_W);
    /* products by constants in front of this one come later */
    const int is_shared = xpu_value_at(graph, xpu_node_input(graph, node, XPU_IN_X))->uses.count > 1;
    const xpu_scaled_rows rows = softmax.id ? parts_of(cg, softmax) : xpu_scale_rows_of(cg, node, scales, is_shared);
    xpu_node product =
        xpu_multiply_rows(cg, node, &rows, XPU_OP_PACKED_MATMUL, xpu_node_output(graph, packed, XPU_OUT_Y),
                          xpu_node_output(graph, packed, XPU_OUT_PACK_SCALES));
    if (softmax.id) xpu_node_remove(graph, softmax);
    const xpu_value_info *info = xpu_value_at(graph, w);
    if (info->kind == XPU_VALUE_NODE && xpu_node_is(graph, info->node, XPU_OP_TRANSPOSE))
        xpu_node_remove(graph, info->node);
    return product;
}
