/* Elements and slices that are there once, whether there are any, and a few forms of tables. */
#include <string.h>

#include "frontend/paddle/compose.h"

static const xpu_value failed = {0};

enum { QUANTA = 256, HEADER = 2, MOST_PAIRS = 1 << 22 };

/* ---- slices ---- */

/* Slices along an axis as rows [n,m]; of each pair, [n,n], whether the one is smaller (the first elements that differ
 * decide) and whether they are equal. */
typedef struct {
    xpu_value rows, below, same;
    xpu_dim count;
} slices;

static int read_slices(xpu_paddle_node *node, fe_builder *b, xpu_value x, int axis, slices *s) {
    const xpu_value_info info = *fe_info(b, x);
    xpu_dims *dims = &b->graph->dims;
    int64_t perm[XPU_MAX_RANK];
    for (int i = 0; i < info.rank; i++) perm[i] = i == 0 ? axis : i <= axis ? i - 1 : i;
    s->count = info.dims[axis];
    xpu_value moved = fe_transpose(b, x, (fe_ints){perm, (size_t)info.rank});
    if (!moved.id) return 0;
    xpu_dim size = fe_dim_product(b, fe_info(b, moved)->dims, 1, info.rank), rows[] = {s->count, size};
    const int64_t n = xpu_dim_max(dims, s->count), m = xpu_dim_max(dims, size);
    if (n < 1 || m < 1 || n > MOST_PAIRS / n || n * n > MOST_PAIRS / m)
        return xpu_paddle_refuse(node, "the slices are too many or large", fe_shape_text(b, x)).id != 0;
    s->rows = xpu_paddle_reshaped(b, moved, rows, 2);
    xpu_value left = xpu_paddle_widened(b, s->rows, 1), right = xpu_paddle_widened(b, s->rows, 0);
    xpu_value differ = fe_as(b, fe_unary(b, XPU_OP_NOT, fe_binary(b, XPU_OP_EQUAL, left, right)), XPU_I32);
    xpu_value less = fe_as(b, fe_binary(b, XPU_OP_LESS, left, right), XPU_I32);
    xpu_value first = differ.id ? fe_arg_extreme(b, 1, differ, 2, 1, 0) : failed;
    xpu_value any = xpu_paddle_reduced(b, XPU_OP_REDUCE_MAX, differ, 2, 0);
    xpu_dim square[] = {s->count, s->count};
    if (!first.id || !any.id) return 0;
    s->below = xpu_paddle_reshaped(b, fe_gather_elements(b, less, first, 2), square, 2);
    s->same = fe_as(b, fe_binary(b, XPU_OP_EQUAL, any, fe_integer(b, XPU_I32, 0)), XPU_I32);
    return s->below.id && s->same.id;
}

/* As fe_unique, of slices, which come in order. */
static int unique_slices(xpu_paddle_node *node, fe_builder *b, xpu_value x, int axis, xpu_value results[4]) {
    static const int64_t front = 0;
    slices s;
    if (!read_slices(node, b, x, axis, &s)) return 0;
    xpu_value one = fe_integer(b, XPU_I32, 0), row = fe_counted(b, XPU_I32, s.count, 0, 1), order[2];
    xpu_value before = fe_as(b, fe_binary(b, XPU_OP_LESS, row, xpu_paddle_widened(b, row, 1)), XPU_I32);
    xpu_value earlier = xpu_paddle_counts(b, fe_binary(b, XPU_OP_MUL, s.same, before));
    xpu_value is_first = fe_binary(b, XPU_OP_EQUAL, earlier, one);
    xpu_value ahead = fe_binary(b, XPU_OP_MUL, s.below, xpu_paddle_widened(b, fe_as(b, is_first, XPU_I32), 1));
    xpu_value place = xpu_paddle_reduced(b, XPU_OP_REDUCE_SUM, ahead, 0, 0);
    xpu_value key = xpu_paddle_choose(b, is_first, place, fe_integer(b, XPU_I32, INT32_MAX));
    if (!key.id || !fe_top(b, key, &(fe_ordering){.axis = 0, .k = s.count}, order)) return 0;
    xpu_value held = fe_gather(b, is_first, order[1], 0);
    results[1] = fe_compress(b, order[1], held, &front);
    results[2] = place;
    results[3] = results[1].id ? fe_gather(b, xpu_paddle_counts(b, s.same), results[1], 0) : failed;
    results[0] = results[1].id ? fe_gather(b, x, results[1], axis) : failed;
    return results[0].id && results[3].id;
}

/* ---- operators ---- */

/* The elements without those that are equal to another, and where they are: ascending, or by their first places. */
xpu_value xpu_paddle_convert_unique(xpu_paddle_node *node) {
    xpu_value x = xpu_paddle_operand(node, "X"), results[4];
    int has_counts = strcmp(node->op->type, "unique_with_counts") == 0, is_desc = node->row->dialect == XPU_PADDLE_DESC;
    int is_sorted = !has_counts && (!is_desc || xpu_paddle_int(node, "is_sorted", 0)); /* of PIR always */
    xpu_dtype dtype = xpu_paddle_type(node, "dtype", XPU_I64);
    if (!x.id || dtype == XPU_DTYPE_NONE) return failed;
    fe_ints axes = xpu_paddle_ints(node, "axis");
    fe_builder b = fe_inside(&node->build);
    if (axes.count && xpu_paddle_rank(node, x) != 1) {
        int axis = fe_axis(&b, axes.items[0], xpu_paddle_rank(node, x));
        if (axis < 0 || !unique_slices(node, &b, x, axis, results)) return failed;
    } else if (!fe_unique(&b, x, is_sorted, results)) {
        return failed;
    }
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
