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
