#include "frontend/onnx/importer.h"

static xpu_dims *table_of(const xpu_onnx_node *node) {
    return &node->importer->graph->dims;
}

/* ---- Gemm: alpha * A' * B' + beta * C ---- */

/* Whether the value is a constant of the model; what nodes make of constants stays theirs, as they may be part of a
 * quantised group. */
static int is_given(const xpu_onnx_node *node, xpu_value value) {
    return xpu_onnx_info(node, value)->kind == XPU_VALUE_CONST;
}

/* The transpose of a matrix; of a constant, another constant. */
static xpu_value transposed(xpu_onnx_node *node, xpu_value matrix) {
    static const int64_t perm[] = {1, 0};
    if (!is_given(node, matrix)) return xpu_onnx_transpose(node, matrix, perm, 2, 0);
    xpu_const_step step = {.kind = XPU_STEP_TRANSPOSE, .rank = 2, .dims = {1, 0}};
    return xpu_onnx_derive(node, matrix, &step);
}

static xpu_value scaled(xpu_onnx_node *node, xpu_value value, float factor, int last) {
    if (factor == 1.0f && !last) return value;
    if (xpu_onnx_info(node, value)->constant) {
        xpu_const_step step = {.kind = XPU_STEP_SCALE, .factors = &factor, .factor_count = 1};
        return xpu_onnx_derive(node, value, &step);
    }
    xpu_value pair[] = {value, xpu_graph_const_f32(node->importer->graph, NULL, factor)};
    return xpu_onnx_build(node, XPU_OP_MUL, pair, 2, NULL, 0, last);
}

/* Whether C, of rank 2 at most, may be added to an M x N matrix without changing its shape. */
static int fits(const xpu_onnx_node *node, xpu_value c, xpu_dim rows, xpu_dim columns) {
    const xpu_value_info *info = xpu_onnx_info(node, c);
    xpu_dim wanted[] = {rows, columns};
    if (info->rank > 2) return 0;
    for (int i = 0; i < info->rank; i++) {
        int64_t size = 0;
        int is_one = xpu_dim_is_const(table_of(node), info->dims[i], &size) && size == 1;
        if (!is_one && xpu_dim_solutions(table_of(node), info->dims[i], wanted[2 - info->rank + i]) < 2) return 0;
    }
    return 1;
}

/* C as the bias of matmul: a constant [N] or [1,N]; {0} where it is none. */
static xpu_value bias_of(xpu_onnx_node *node, xpu_value c, xpu_dim columns) {
    const xpu_value_info *info = xpu_onnx_info(node, c);
    int64_t size = 0, rows = 1;
    if (!info->constant || info->rank < 1 || !xpu_dim_equal(info->dims[info->rank - 1], columns)) return (xpu_value){0};
    if (info->rank == 2) xpu_dim_is_const(table_of(node), info->dims[0], &rows);
    if (rows != 1 || !xpu_dim_is_const(table_of(node), columns, &size)) return (xpu_value){0};
    if (info->rank == 1) return c;
    if (!is_given(node, c)) return xpu_onnx_reshape(node, c, &columns, 1, 0);
    xpu_const_step step = {.kind = XPU_STEP_RESHAPE, .rank = 1, .dims = {size}};
    return xpu_onnx_derive(node, c, &step);
}

xpu_value xpu_onnx_convert_gemm(xpu_onnx_node *node) {
    /* QGemm's alpha is in the scale of A already */
    float alpha = node->is_inner ? 1.0f : xpu_onnx_attr_float(node, "alpha", 1.0f);
    float beta = xpu_onnx_attr_float(node, "beta", 1.0f);
    int trans_a = xpu_onnx_attr_int(node, "transA", 0) != 0, trans_b = xpu_onnx_attr_int(node, "transB", 0) != 0;
    for (uint32_t i = 0; i < 2; i++) {
        if (xpu_onnx_info(node, node->inputs[i])->rank == 2) continue;
        return xpu_onnx_refuse(node, "onnx-shape", xpu_onnx_format(node, "input %u is no matrix", i),
                               xpu_onnx_format(node, "it has shape %s", xpu_onnx_shape_text(node, node->inputs[i])),
                               NULL);
    }
    if (node->version < 11 && !xpu_onnx_has_input(node, 2)) {
        return xpu_onnx_refuse(node, "onnx-operand", "input 2 is missing", "before opset 11, Gemm requires C", NULL);
    }
    xpu_value a = trans_a ? transposed(node, node->inputs[0]) : node->inputs[0];
    xpu_value b = trans_b ? transposed(node, node->inputs[1]) : node->inputs[1];
    if (!a.id || !b.id) return (xpu_value){0};
    xpu_value c = xpu_onnx_has_input(node, 2) && beta != 0.0f ? node->inputs[2] : (xpu_value){0}, bias = {0};
    xpu_dim rows = xpu_onnx_info(node, a)->dims[0], columns = xpu_onnx_info(node, b)->dims[1];
    if (c.id && !fits(node, c, rows, columns)) {
        return xpu_onnx_refuse(node, "onnx-shape", "input 2 cannot be added to the product",
                               xpu_onnx_format(node, "it has shape %s, the product [%s,%s]",
                                               xpu_onnx_shape_text(node, c),
                                               xpu_dim_text(table_of(node), rows, node->importer->scratch),
                                               xpu_dim_text(table_of(node), columns, node->importer->scratch)),
                               NULL);
    }
    if (c.id && beta != 1.0f) c = scaled(node, c, beta, 0);
    if (c.id && alpha == 1.0f) bias = bias_of(node, c, columns);
    xpu_value operands[] = {a, b, bias};
    int add_c = c.id && !bias.id;
    xpu_value product =
        xpu_onnx_build(node, XPU_OP_MATMUL, operands, bias.id ? 3 : 2, NULL, 0, !add_c && alpha == 1.0f);
    if (product.id && alpha != 1.0f) product = scaled(node, product, alpha, !add_c);
    if (!product.id || !add_c) return product;
    return xpu_onnx_build(node, XPU_OP_ADD, (xpu_value[]){product, c}, 2, NULL, 0, 1);
}

/* ---- MatMul: a vector operand becomes a matrix, whose dim of 1 goes away again ---- */

xpu_value xpu_onnx_convert_matmul(xpu_onnx_node *node) {
    xpu_value operands[] = {node->inputs[0], node->inputs[1]};
    int ranks[] = {xpu_onnx_info(node, operands[0])->rank, xpu_onnx_info(node, operands[1])->rank};
    if (ranks[0] == 0 || ranks[1] == 0) {
        return xpu_onnx_refuse(node, "onnx-shape", "an operand is a scalar", "MatMul needs vectors or matrices", NULL);
    }
    int vectors = ranks[0] == 1 || ranks[1] == 1;
    for (int i = 0; i < 2; i++) {
        if (ranks[i] != 1) continue;
        xpu_dim one = xpu_dim_const(table_of(node), 1), length = xpu_onnx_info(node, operands[i])->dims[0];
        xpu_dim dims[] = {i == 0 ? one : length, i == 0 ? length : one};
        operands[i] = xpu_onnx_reshape(node, operands[i], dims, 2, 0);
        if (!operands[i].id) return operands[i];
    }
    xpu_value product = xpu_onnx_build(node, XPU_OP_MATMUL, operands, 2, NULL, 0, !vectors);
    if (!product.id || !vectors) return product;
    const xpu_value_info *info = xpu_onnx_info(node, product);
    xpu_dim dims[XPU_MAX_RANK];
    int rank = 0;
    for (int i = 0; i < info->rank; i++) {
        int dropped = (i == info->rank - 2 && ranks[0] == 1) || (i == info->rank - 1 && ranks[1] == 1);
        if (!dropped) dims[rank++] = info->dims[i];
    }
    return xpu_onnx_reshape(node, product, dims, rank, 1);
}
