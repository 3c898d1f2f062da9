/* Products of matrices. */
#include <inttypes.h>
#include <string.h>

#include "frontend/paddle/compose.h"

static const xpu_value failed = {0};

/* With the last two dims exchanged. */
static xpu_value transposed(xpu_paddle_node *node, xpu_value x) {
    int64_t perm[XPU_MAX_RANK];
    int rank = xpu_paddle_rank(node, x);
    if (!x.id || rank < 2) return x;
    for (int i = 0; i < rank; i++) perm[i] = i < rank - 2 ? i : 2 * rank - 3 - i;
    fe_builder inside = fe_inside(&node->build);
    xpu_value y = fe_transpose(&inside, x, (fe_ints){perm, (size_t)rank});
    node->build.made = inside.made;
    return y;
}

static xpu_value product(xpu_paddle_node *node, const char *x_flag, const char *y_flag) {
    xpu_value x = xpu_paddle_operand(node, "X"), y = xpu_paddle_operand(node, "Y");
    if (xpu_paddle_int(node, x_flag, 0)) x = transposed(node, x);
    if (xpu_paddle_int(node, y_flag, 0)) y = transposed(node, y);
    if (!x.id || !y.id) return failed;
    float alpha = xpu_paddle_float(node, "alpha", 1) * xpu_paddle_float(node, "fused_output_scale", 1);
    if (alpha == 1) return fe_matmul(&node->build, x, y);
    fe_builder inside = fe_inside(&node->build);
    xpu_value z = fe_matmul(&inside, x, y);
    node->build.made = inside.made;
    if (!z.id) return failed;
    return fe_elementwise(&node->build, XPU_OP_MUL, (xpu_value[]){z, fe_number(&node->build, alpha)}, 2, NULL, 0);
}

xpu_value xpu_paddle_convert_matmul(xpu_paddle_node *node) {
    return product(node, "trans_x", "trans_y");
}

xpu_value xpu_paddle_convert_matmul_v1(xpu_paddle_node *node) {
    return product(node, "transpose_X", "transpose_Y");
}

xpu_value xpu_paddle_convert_mv(xpu_paddle_node *node) {
    return fe_matmul(&node->build, xpu_paddle_operand(node, "X"), xpu_paddle_operand(node, "Vec"));
}

xpu_value xpu_paddle_convert_einsum(xpu_paddle_node *node) {
    xpu_paddle_values all = xpu_paddle_operands(node, "Operands");
    if (!all.count) return failed;
    return fe_einsum(&node->build, xpu_paddle_text(node, "equation", ""), all.items, all.count);
}

/* Both as matrices, then the dims of both. */
static xpu_value flat_product(xpu_paddle_node *node, xpu_value x, xpu_value y, int64_t x_rows, int64_t y_rows,
                              fe_builder *b) {
    xpu_dim dims[2 * XPU_MAX_RANK];
    if (!x.id || !y.id) return failed;
    const xpu_value_info left = *xpu_paddle_info(node, x), right = *xpu_paddle_info(node, y);
    if (x_rows < 1 || x_rows >= left.rank || y_rows < 1 || y_rows >= right.rank)
        return xpu_paddle_refuse(node, "the operands are no matrices",
                                 xpu_paddle_format(node,
                                                   "of ranks %d and %d, %" PRId64 " and %" PRId64 " dims are rows",
                                                   left.rank, right.rank, x_rows, y_rows));
    int rank = 0, is_plain = x_rows == 1 && y_rows == right.rank - 1; /* the product is the result */
    for (int i = 0; i < x_rows; i++) dims[rank++] = left.dims[i];
    for (int i = (int)y_rows; i < right.rank; i++) dims[rank++] = right.dims[i];
    fe_builder inside = fe_inside(b);
    if (left.rank > 2) x = fe_flatten(&inside, x, x_rows);
    if (right.rank > 2) y = fe_flatten(&inside, y, y_rows);
    b->made = inside.made;
    if (is_plain || rank > XPU_MAX_RANK) return fe_matmul(b, x, y);
    inside = fe_inside(b);
    xpu_value z = fe_matmul(&inside, x, y);
    b->made = inside.made;
    return z.id ? fe_reshape_to(b, z, dims, rank, 1) : failed;
}

xpu_value xpu_paddle_convert_mul(xpu_paddle_node *node) {
    return flat_product(node, xpu_paddle_operand(node, "X"), xpu_paddle_operand(node, "Y"),
                        xpu_paddle_int(node, "x_num_col_dims", 1), xpu_paddle_int(node, "y_num_col_dims", 1),
                        &node->build);
}

xpu_value xpu_paddle_convert_fc(xpu_paddle_node *node) {
    const char *activation = xpu_paddle_text(node, "activation_type", "");
    xpu_value bias = xpu_paddle_operand(node, "Bias"), residual, x = xpu_paddle_operand(node, "Input"),
              w = xpu_paddle_operand(node, "W");
    int64_t rows = xpu_paddle_int(node, "in_num_col_dims", 1);
    const float scale = xpu_paddle_float(node, "fused_output_scale", 1);
    if (!xpu_paddle_has_floats(node)) return failed;
    if (!xpu_paddle_is_fused(node, activation, &residual) && !bias.id && scale == 1)
        return flat_product(node, x, w, rows, 1, &node->build);
    fe_builder inside = fe_inside(&node->build);
    xpu_value y = flat_product(node, x, w, rows, 1, &inside);
    if (bias.id) y = fe_binary(&inside, XPU_OP_ADD, y, bias);
    if (residual.id) y = fe_binary(&inside, XPU_OP_ADD, y, residual);
    y = xpu_paddle_activated(node, &inside, y, activation);
    if (y.id && scale != 1) y = fe_binary(&inside, XPU_OP_MUL, y, fe_number(&inside, scale));
    return xpu_paddle_give(node, &inside, 0, y);
}

/* Beta times the addend, and alpha times the product. */
xpu_value xpu_paddle_convert_addmm(xpu_paddle_node *node) {
    fe_gemm_form form = {.alpha = xpu_paddle_float(node, "Alpha", 1), .beta = xpu_paddle_float(node, "Beta", 1)};
    return fe_gemm(&node->build, xpu_paddle_operand(node, "X"), xpu_paddle_operand(node, "Y"),
                   xpu_paddle_operand(node, "Input"), &form);
}

/* Sums of products along the last dim. */
xpu_value xpu_paddle_convert_dot(xpu_paddle_node *node) {
    static const int64_t axis = -1;
    xpu_value products =
        fe_binary(&node->build, XPU_OP_MUL, xpu_paddle_operand(node, "X"), xpu_paddle_operand(node, "Y"));
    return products.id ? fe_reduce(&node->build, XPU_OP_REDUCE_SUM, products, (fe_ints){&axis, 1}, 0) : failed;
}
