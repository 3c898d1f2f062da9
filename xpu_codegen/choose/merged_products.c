/*
 * Queries, keys and values, or the gate of a feed-forward network and what it gates, are products of one row by several
 * constant matrices. Each takes more cycles to begin than to compute: one product by all their columns takes one start.
 * Of several rows the columns of one product are no run of bytes and are copied, which takes less than a start of the
 * tensor engine where they are few.
 */
#include "xpu_codegen/choose/merged_products.h"

#include <string.h>

#include "core/passes/rewrite.h"
#include "xpu_codegen/values.h"

/* Of a merged product, whose weights are in memory while the program is made: a layer's start is little beside more.
 * MOST_COPIED: elements of its result, where it has several rows. */
enum { MOST_WEIGHTS = 1 << 20, MOST_COPIED = 1 << 14 };

/* Products of the same row, in the order in which they stand. */
typedef struct {
    XPU_ARRAY(xpu_node) products;
    int64_t inner, columns;
} group;

static int64_t last_dim(const xpu_codegen *cg, xpu_value value) {
    const xpu_value_info *info = xpu_value_at(cg->graph, value);
    int64_t size;
    return info->rank && xpu_dim_is_const(&cg->graph->dims, info->dims[info->rank - 1], &size) ? size : 0;
}

/* How many rows are likely; 0: the value has none. */
static double rows_of(const xpu_codegen *cg, xpu_value value) {
    const int rank = xpu_value_at(cg->graph, value)->rank;
    double rows = 1;
    if (rank < 2 || last_dim(cg, value) < 1) return 0;
    for (int i = 0; i < rank - 1; i++) rows *= xpu_dim_likely(cg, xpu_value_dim(cg, value, i));
    return rows;
}

static int is_one_row(const xpu_codegen *cg, xpu_value value) {
    for (int i = 0; i < xpu_value_at(cg->graph, value)->rank - 1; i++) {
        int64_t size;
        if (!xpu_dim_is_const(&cg->graph->dims, xpu_value_dim(cg, value, i), &size) || size != 1) return 0;
    }
    return rows_of(cg, value) > 0;
}

/* Rows of a product by one matrix on the tensor engine, of which a start takes long. */
static int has_rows(const xpu_codegen *cg, xpu_node node, xpu_value x, xpu_value y) {
    if (is_one_row(cg, x) && is_one_row(cg, y)) return 1;
    return xpu_node_int(cg->graph, node, XPU_ATTR_PRECISION) != XPU_PRECISION_FP32 &&
           xpu_value_at(cg->graph, xpu_node_input(cg->graph, node, XPU_IN_W))->rank == 2 && rows_of(cg, x) > 0 &&
           last_dim(cg, y) > 0;
}

static int has_constant_bias(const xpu_codegen *cg, xpu_node node, int64_t columns) {
    xpu_value bias = xpu_node_input(cg->graph, node, XPU_IN_BIAS);
    if (!bias.id) return 1;
    return xpu_is_const_value(cg, bias) && xpu_value_at(cg->graph, bias)->rank == 1 && last_dim(cg, bias) == columns;
}

static int may_merge(const xpu_codegen *cg, xpu_node node) {
    const xpu_graph *graph = cg->graph;
    if (!xpu_node_is(graph, node, XPU_OP_MATMUL) || !xpu_on_chip(cg, node)) return 0;
    xpu_value x = xpu_node_input(graph, node, XPU_IN_X), y = xpu_node_output(graph, node, XPU_OUT_Y);
    xpu_value w = xpu_node_input(graph, node, XPU_IN_W);
    if (xpu_node_at(graph, node)->output_count > 1 || xpu_node_input(graph, node, XPU_IN_BRANCH).id) return 0;
    if (!xpu_is_const_value(cg, w) || xpu_is_const_value(cg, x) || xpu_value_at(graph, w)->rank < 2) return 0;
    if (xpu_value_at(graph, x)->rank != xpu_value_at(graph, y)->rank || !has_rows(cg, node, x, y)) return 0;
    return has_constant_bias(cg, node, last_dim(cg, y)) && !xpu_value_leaves_program(cg, y);
}

static int same_epilogue(const xpu_graph *graph, xpu_node a, xpu_node b) {
    static const xpu_attr_id ints[] = {XPU_ATTR_PRECISION, XPU_ATTR_ACTIVATION},
                             floats[] = {XPU_ATTR_ALPHA, XPU_ATTR_LOW, XPU_ATTR_HIGH};
    for (size_t i = 0; i < sizeof ints / sizeof *ints; i++) {
        if (xpu_node_int(graph, a, ints[i]) != xpu_node_int(graph, b, ints[i])) return 0;
    }
    for (size_t i = 0; i < sizeof floats / sizeof *floats; i++) {
        float left = xpu_node_float(graph, a, floats[i]), right = xpu_node_float(graph, b, floats[i]);
        if (memcmp(&left, &right, sizeof left) != 0) return 0;
    }
    return !xpu_node_input(graph, a, XPU_IN_BIAS).id == !xpu_node_input(graph, b, XPU_IN_BIAS).id;
}

/* Whether a product can stand beside those of the group. */
static int fits(const xpu_codegen *cg, const group *g, xpu_node node) {
    const xpu_graph *graph = cg->graph;
    xpu_node first = g->products.items[0];
    const xpu_node_info *a = xpu_node_at(graph, first), *b = xpu_node_at(graph, node);
    xpu_value y = xpu_node_output(graph, node, XPU_OUT_Y);
    int64_t columns = last_dim(cg, y);
    if (!is_one_row(cg, y) && rows_of(cg, y) * (double)(g->columns + columns) > MOST_COPIED) return 0;
    return a->parent.id == b->parent.id && a->region == b->region && same_epilogue(graph, first, node) &&
           columns <= MOST_WEIGHTS / g->inner - g->columns;
}

/* ---- the merged product ---- */

/* The rows of all operands `input`, side by side: constants of `rows` rows each. */
static xpu_status put_side_by_side(xpu_codegen *cg, const group *g, uint32_t input, int64_t rows, const char *name,
                                   xpu_value *merged) {
    xpu_graph *graph = cg->graph;
    xpu_arena *scratch = xpu_arena_new(xpu_arena_mem(cg->arena), "columns");
    float *all = XPU_NEW_ARRAY(scratch, float, rows * g->columns);
    xpu_tensor whole = {.dtype = XPU_F32, .rank = input == XPU_IN_W ? 2 : 1, .dims = {rows, g->columns}, .data = all};
    if (input != XPU_IN_W) whole.dims[0] = g->columns;
    xpu_status status = XPU_OK;
    int64_t at = 0;
    for (uint32_t i = 0; i < g->products.count && status == XPU_OK; i++) {
        xpu_tensor part;
        status = xpu_const_tensor(graph, xpu_node_input(graph, g->products.items[i], input), scratch, &part, cg->diags);
        if (status != XPU_OK) break;
        int64_t columns = part.dims[part.rank - 1];
        const float *from = part.data;
        for (int64_t row = 0; row < rows; row++)
            memcpy(&all[row * g->columns + at], &from[row * columns], (size_t)columns * sizeof *all);
        at += columns;
    }
    if (status == XPU_OK) *merged = xpu_graph_const_bytes(graph, name, &whole);
    xpu_arena_free(scratch);
    return status;
}

static void become_slice(xpu_codegen *cg, xpu_node node, xpu_value whole, int64_t first) {
    xpu_graph *graph = cg->graph;
    const xpu_value_info y = *xpu_value_at(graph, xpu_node_output(graph, node, XPU_OUT_Y));
    const uint32_t rank = (uint32_t)y.rank;
    xpu_dim starts[XPU_MAX_RANK];
    int64_t by[XPU_MAX_RANK];
    for (uint32_t i = 0; i < rank; i++) {
        starts[i] = xpu_dim_of(cg, i + 1 == rank ? first : 0);
        by[i] = 1;
    }
    xpu_attr attrs[] = {XPU_ATTR_DIMS_OF(STARTS, starts, rank), XPU_ATTR_DIMS_OF(SHAPE, y.dims, rank),
                        XPU_ATTR_INTS_OF(BY, by, rank)};
    xpu_rewrite(graph, node, XPU_OP_SLICE, &whole, 1, attrs, sizeof attrs / sizeof *attrs);
    xpu_op_infer(graph, node, cg->diags);
}

/* The product by all columns, in front of the group's first. Its operands are float32 until they are quantised: it gets
 * its precision when its type is known. */
static xpu_node add_whole(xpu_codegen *cg, xpu_node first, const xpu_value *inputs, const char *name) {
    xpu_graph *graph = cg->graph;
    const xpu_node_info info = *xpu_node_at(graph, first);
    const xpu_attr *precision = xpu_node_attr(graph, first, XPU_ATTR_PRECISION);
    xpu_attr attrs[XPU_ATTR_COUNT];
    uint32_t count = 0;
    for (uint32_t i = 0; i < info.attrs.count; i++) {
        if (&info.attrs.items[i] != precision) attrs[count++] = info.attrs.items[i];
    }
    xpu_block left = xpu_graph_enter(graph, info.parent);
    xpu_node whole = xpu_graph_add(graph, first, info.op, inputs, XPU_IN_BIAS + 1, &name, 1, attrs, count, NULL, 0);
    xpu_graph_enter(graph, left);
    xpu_node_at(graph, whole)->region = info.region;
    xpu_op_infer(graph, whole, cg->diags);
    if (precision) xpu_node_set_attr(graph, whole, precision);
    xpu_set_reason(cg, whole, cg->reasons.items[first.id]);
    return whole;
}

static xpu_status merge(xpu_codegen *cg, const group *g) {
    xpu_graph *graph = cg->graph;
    xpu_node first = g->products.items[0], last = g->products.items[g->products.count - 1];
    const char *name = xpu_value_at(graph, xpu_node_output(graph, last, XPU_OUT_Y))->name;
    name = xpu_printf(cg->arena, "%s" XPU_MERGED_SUFFIX, name);
    const char *weights = xpu_printf(cg->arena, "%s/w", name), *bias = xpu_printf(cg->arena, "%s/bias", name);
    xpu_value inputs[XPU_IN_BIAS + 1] = {[XPU_IN_X] = xpu_node_input(graph, first, XPU_IN_X)};
    xpu_status status = put_side_by_side(cg, g, XPU_IN_W, g->inner, weights, &inputs[XPU_IN_W]);
    if (status == XPU_OK && xpu_node_input(graph, first, XPU_IN_BIAS).id)
        status = put_side_by_side(cg, g, XPU_IN_BIAS, 1, bias, &inputs[XPU_IN_BIAS]);
    if (status != XPU_OK) return status;
    xpu_node whole = add_whole(cg, first, inputs, name);
    int64_t at = 0;
    for (uint32_t i = 0; i < g->products.count; i++) {
        xpu_node node = g->products.items[i];
        int64_t columns = last_dim(cg, xpu_node_output(graph, node, XPU_OUT_Y));
        xpu_node_add_origins(graph, whole, node);
        xpu_set_reason(cg, node, NULL);
        become_slice(cg, node, xpu_node_output(graph, whole, XPU_OUT_Y), at);
        at += columns;
    }
    return XPU_OK;
}

xpu_status xpu_merge_products(xpu_codegen *cg) {
    xpu_arena *scratch = xpu_arena_new(xpu_arena_mem(cg->arena), "merged products");
    group **last_of = XPU_NEW_ARRAY(scratch, group *, cg->graph->values.count); /* by the id of x */
    XPU_ARRAY(group *) groups = {0};
    XPU_FOR_ALL_NODES(cg->graph, node) {
        if (!may_merge(cg, node)) continue;
        xpu_value x = xpu_node_input(cg->graph, node, XPU_IN_X);
        group *g = last_of[x.id];
        if (!g || !fits(cg, g, node)) {
            g = last_of[x.id] = XPU_NEW(scratch, group);
            g->inner = last_dim(cg, x);
            XPU_PUSH(scratch, &groups, g);
        }
        XPU_PUSH(scratch, &g->products, node);
        g->columns += last_dim(cg, xpu_node_output(cg->graph, node, XPU_OUT_Y));
    }
    xpu_status status = XPU_OK;
    for (uint32_t i = 0; i < groups.count && status == XPU_OK; i++) {
        if (groups.items[i]->products.count > 1) status = merge(cg, groups.items[i]);
    }
    xpu_arena_free(scratch);
    return status;
}
