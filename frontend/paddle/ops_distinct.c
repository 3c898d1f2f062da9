/* Elements that are there once, whether there are any, and a few forms of tables. */
#include <string.h>

#include "frontend/paddle/compose.h"

static const xpu_value failed = {0};

enum { QUANTA = 256, HEADER = 2 };

/* The elements without those that are equal to another, and where they are: ascending, or by their first places. */
xpu_value xpu_paddle_convert_unique(xpu_paddle_node *node) {
    xpu_value x = xpu_paddle_operand(node, "X"), results[4];
    int has_counts = strcmp(node->op->type, "unique_with_counts") == 0, is_desc = node->row->dialect == XPU_PADDLE_DESC;
    int is_sorted = !has_counts && (!is_desc || xpu_paddle_int(node, "is_sorted", 0)); /* of PIR always */
    xpu_dtype dtype = xpu_paddle_type(node, "dtype", XPU_I64);
    if (!x.id || dtype == XPU_DTYPE_NONE) return failed;
    if (xpu_paddle_ints(node, "axis").count && xpu_paddle_rank(node, x) != 1)
        return xpu_paddle_refuse(node, "slices along an axis are not supported", fe_shape_text(&node->build, x));
    fe_builder b = fe_inside(&node->build);
    if (!fe_unique(&b, x, is_sorted, results)) return failed;
    uint32_t from = has_counts ? 2 : 1;
    for (uint32_t i = 1; i < node->result_count && from < 4; i++, from++)
        if (!xpu_paddle_give(node, &b, i, fe_as(&b, results[from], dtype)).id) return failed;
    return xpu_paddle_give(node, &b, 0, results[0]);
}

/* Whether there is no element. */
xpu_value xpu_paddle_convert_is_empty(xpu_paddle_node *node) {
    xpu_value x = xpu_paddle_operand(node, "X");
    if (!x.id) return failed;
    fe_builder b = fe_inside(&node->build);
    const xpu_value_info info = *fe_info(&b, x);
    xpu_dim count = fe_dim_product(&b, info.dims, 0, info.rank);
    xpu_value none = fe_binary(&b, XPU_OP_EQUAL, fe_dim_values(&b, &count, 1, 0), fe_integer(&b, XPU_I64, 0));
    return xpu_paddle_give(node, &b, 0, none);
}

/* 4 times the place of each pixel, along x in even channels and y in odd ones, without what is there. */
xpu_value xpu_paddle_convert_polygon_box_transform(xpu_paddle_node *node) {
    xpu_value x = xpu_paddle_operand(node, "Input");
    if (!x.id || xpu_paddle_rank(node, x) != 4) return failed;
    fe_builder b = fe_inside(&node->build);
    const xpu_value_info info = *fe_info(&b, x);
    xpu_value at[2], odd = fe_as(&b, fe_counted(&b, XPU_I32, info.dims[1], 1, 4), XPU_F32);
    for (int i = 0; i < 2; i++) /* x, y */
        at[i] = xpu_paddle_times(&b, fe_as(&b, fe_counted(&b, XPU_I32, info.dims[3 - i], 3 - i, 4), XPU_F32), 4);
    odd = fe_binary(&b, XPU_OP_SUB, odd,
                    xpu_paddle_times(&b, fe_unary(&b, XPU_OP_FLOOR, xpu_paddle_times(&b, odd, 0.5)), 2));
    xpu_value is_odd = fe_binary(&b, XPU_OP_GREATER, odd, fe_number(&b, 0));
    return xpu_paddle_give(node, &b, 0, fe_binary(&b, XPU_OP_SUB, xpu_paddle_choose(&b, is_odd, at[1], at[0]), x));
}

/* Rows of a table of bytes: each row of the constant has least and greatest, then four bytes in a number. */
xpu_value xpu_paddle_convert_lookup_table_dequant(xpu_paddle_node *node) {
    xpu_value table = xpu_paddle_operand(node, "W"), ids = xpu_paddle_operand(node, "Ids");
    xpu_tensor tensor;
    if (!table.id || !ids.id) return failed;
    if (xpu_paddle_info(node, table)->kind != XPU_VALUE_CONST || xpu_paddle_rank(node, table) != 2)
        return xpu_paddle_refuse(node, "the table is computed", "it is needed as a constant");
    fe_builder b = fe_inside(&node->build);
    if (xpu_const_tensor(b.graph, table, b.scratch, &tensor, b.diags) != XPU_OK || tensor.dtype != XPU_F32)
        return failed;
    int64_t rows = tensor.dims[0], wide = tensor.dims[1], bytes = 4 * (wide - HEADER);
    if (bytes < 1) return xpu_paddle_refuse(node, "the table has no elements", fe_shape_text(&b, table));
    float *items = XPU_NEW_ARRAY(b.scratch, float, rows *bytes + 1);
    for (int64_t i = 0; i < rows; i++) {
        const float *row = (const float *)tensor.data + i * wide;
        const unsigned char *packed = (const unsigned char *)(row + HEADER);
        float step = (row[1] - row[0]) / QUANTA;
        for (int64_t k = 0; k < bytes; k++) items[i * bytes + k] = step * (float)packed[k] + row[0];
    }
    xpu_tensor made = {.dtype = XPU_F32, .rank = 2, .dims = {rows, bytes}, .data = items};
    int64_t end = xpu_paddle_rank(node, ids) - 1;
    if (end > 0) ids = fe_squeeze(&b, ids, (fe_ints){&end, 1});
    table = xpu_graph_const_bytes(b.graph, NULL, &made);
    node->build.made = b.made;
    return ids.id ? fe_gather(&node->build, table, ids, 0) : failed;
}

/* One sequence [T,classes], or a batch [B,T,classes] of so many steps each: the classes of the best path. */
typedef struct {
    xpu_paddle_node *node;
    fe_builder b;
    xpu_value emissions, lengths, start, stop, moves; /* lengths [B,1] int64 or {0}; [1,C], [1,C], [1,C,C] */
    xpu_dim batch;
    int64_t steps;
} decoding;

static xpu_value step_of(decoding *d, int64_t t) {
    xpu_dims *dims = &d->b.graph->dims;
    int64_t one = 1;
    xpu_value x = fe_part(&d->b, d->emissions, 1, xpu_dim_const(dims, t), xpu_dim_const(dims, 1), 1, 0);
    return x.id ? fe_squeeze(&d->b, x, (fe_ints){&one, 1}) : failed;
}

/* Whether step t is there, [B,1]; {0}: it always is. */
static xpu_value is_there(decoding *d, int64_t t) {
    return fe_binary(&d->b, XPU_OP_GREATER, d->lengths, fe_integer(&d->b, XPU_I64, t));
}

/* The best path as [B,1] of each step. */
static int walk(decoding *d, xpu_value *path) {
    fe_builder *b = &d->b;
    xpu_value *from = XPU_NEW_ARRAY(b->scratch, xpu_value, d->steps + 1);
    xpu_value score = fe_binary(b, XPU_OP_ADD, step_of(d, 0), d->start);
    for (int64_t t = 1; t < d->steps; t++) {
        xpu_value all = fe_binary(b, XPU_OP_ADD, xpu_paddle_widened(b, score, 2), d->moves); /* [B,from,to] */
        xpu_value best = fe_binary(b, XPU_OP_ADD, xpu_paddle_reduced(b, XPU_OP_REDUCE_MAX, all, 1, 0), step_of(d, t));
        from[t] = all.id ? fe_arg_extreme(b, 1, all, 1, 0, 0) : failed;
        score = d->lengths.id ? xpu_paddle_choose(b, is_there(d, t), best, score) : best;
        if (!from[t].id || !score.id) return 0;
    }
    score = fe_binary(b, XPU_OP_ADD, score, d->stop);
    xpu_value at = score.id ? fe_arg_extreme(b, 1, score, 1, 1, 0) : failed;
    for (int64_t t = d->steps - 1; t >= 0; t--) {
        xpu_value there = d->lengths.id ? is_there(d, t) : failed;
        path[t] = there.id ? xpu_paddle_choose(b, there, at, fe_integer(b, XPU_I64, 0)) : at;
        if (!path[t].id) return 0;
        xpu_value before = t ? fe_gather_elements(b, from[t], at, 1) : at;
        at = there.id ? xpu_paddle_choose(b, there, before, at) : before;
    }
    return 1;
}

xpu_value xpu_paddle_convert_crf_decoding(xpu_paddle_node *node) {
    enum { MOST_STEPS = 64, ENDS = 2 };
    decoding d = {.node = node, .b = fe_inside(&node->build), .emissions = xpu_paddle_operand(node, "Emission")};
    xpu_value weights = xpu_paddle_operand(node, "Transition"), lengths = xpu_paddle_operand(node, "Length"),
              path[MOST_STEPS];
    fe_builder *b = &d.b;
    xpu_dims *dims = &b->graph->dims;
    int64_t classes = 0;
    if (!d.emissions.id || !weights.id) return failed;
    if (!lengths.id && xpu_paddle_rank(node, d.emissions) == 2) d.emissions = xpu_paddle_widened(b, d.emissions, 0);
    const xpu_value_info info = *fe_info(b, d.emissions);
    if (info.rank != 3 || !xpu_dim_is_const(dims, info.dims[1], &d.steps) ||
        !xpu_dim_is_const(dims, info.dims[2], &classes) || d.steps < 1 || d.steps > MOST_STEPS)
        return xpu_paddle_refuse(node, "the number of steps is not supported", fe_shape_text(b, d.emissions));
    d.batch = info.dims[0];
    xpu_dim one = xpu_dim_const(dims, 1), column[] = {d.batch, one}, wide = info.dims[2], square[] = {one, wide, wide};
    if (lengths.id) d.lengths = xpu_paddle_reshaped(b, fe_as(b, lengths, XPU_I64), column, 2);
    d.start = fe_part(b, weights, 0, xpu_dim_const(dims, 0), one, 1, 0);
    d.stop = fe_part(b, weights, 0, one, one, 1, 0);
    d.moves = xpu_paddle_reshaped(b, fe_part(b, weights, 0, xpu_dim_const(dims, ENDS), wide, 1, 0), square, 3);
    if (!d.start.id || !d.stop.id || !d.moves.id || !walk(&d, path)) return failed;
    xpu_value all = fe_concat(b, path, (uint32_t)d.steps, 1);
    xpu_dim rows[] = {xpu_dim_const(dims, d.steps), one};
    return xpu_paddle_give(node, b, 0, lengths.id ? all : xpu_paddle_reshaped(b, all, rows, 2));
}
