/* Operators on each element, and those whose row of ops.def says it all. */
#include "frontend/build/build.h"

xpu_value fe_elementwise(fe_builder *b, xpu_op_id op, const xpu_value *operands, uint32_t operand_count,
                         const xpu_attr *attrs, uint32_t attr_count) {
    return fe_node(b, op, operands, operand_count, attrs, attr_count, 1);
}

static xpu_value fold_left(fe_builder *b, xpu_op_id op, const xpu_value *operands, uint32_t operand_count, int last) {
    xpu_value result = operands[0];
    for (uint32_t i = 1; i < operand_count && result.id; i++) {
        xpu_value pair[] = {result, operands[i]};
        result = fe_node(b, op, pair, 2, NULL, 0, last && i + 1 == operand_count);
    }
    return result;
}

xpu_value fe_variadic(fe_builder *b, xpu_op_id op, const xpu_value *operands, uint32_t operand_count) {
    if (operand_count == 1) return fe_node(b, XPU_OP_IDENTITY, operands, 1, NULL, 0, 1);
    return fold_left(b, op, operands, operand_count, 1);
}

xpu_value fe_mean(fe_builder *b, const xpu_value *operands, uint32_t operand_count) {
    if (operand_count == 1) return fe_node(b, XPU_OP_IDENTITY, operands, 1, NULL, 0, 1);
    float count = (float)operand_count;
    xpu_tensor divisor = {.dtype = XPU_F32, .rank = 0, .data = &count};
    xpu_value sum = fold_left(b, XPU_OP_ADD, operands, operand_count, 0);
    if (!sum.id) return sum;
    xpu_value pair[] = {sum, xpu_graph_const_bytes(b->graph, NULL, &divisor)};
    return fe_node(b, XPU_OP_DIV, pair, 2, NULL, 0, 1);
}

/* The square that normalisations ask for: one rounding, and no logarithm. */
static int is_two(const fe_builder *b, xpu_value y) {
    const xpu_value_info *info = fe_info(b, y);
    if (!info->constant || info->dtype != XPU_F32 || info->rank > 1) return 0;
    int64_t count = 1;
    if (info->rank == 1 && !xpu_dim_is_const(&b->graph->dims, info->dims[0], &count)) return 0;
    if (count != 1) return 0;
    const float *value = xpu_const_data(b->graph, y, b->scratch, b->diags);
    return value && *value == 2.0f;
}

xpu_value fe_pow(fe_builder *b, xpu_value x, xpu_value y) {
    if (is_two(b, y) && fe_info(b, x)->rank >= fe_info(b, y)->rank) {
        return fe_node(b, XPU_OP_MUL, (xpu_value[]){x, x}, 2, NULL, 0, 1);
    }
    return fe_node(b, XPU_OP_POW, (xpu_value[]){x, y}, 2, NULL, 0, 1);
}

xpu_value fe_clip(fe_builder *b, xpu_value x, float low, float high) {
    if (low != low || high != high) return fe_refuse(b, FE_OPERAND, "a bound is not a number", "it is NaN", NULL);
    xpu_attr attrs[] = {XPU_ATTR_FLOAT_OF(LOW, low), XPU_ATTR_FLOAT_OF(HIGH, high)};
    return fe_node(b, XPU_OP_CLIP, &x, 1, attrs, 2, 1);
}

xpu_value fe_identity(fe_builder *b, xpu_value x) {
    if (fe_info(b, x)->kind == XPU_VALUE_CONST) return x;
    return fe_node(b, XPU_OP_IDENTITY, &x, 1, NULL, 0, 1);
}

xpu_value fe_convert(fe_builder *b, xpu_value x, xpu_dtype dtype) {
    if (x.id && fe_info(b, x)->dtype == dtype) return fe_node(b, XPU_OP_IDENTITY, &x, 1, NULL, 0, 1);
    return fe_node(b, XPU_OP_CONVERT, &x, 1, &XPU_ATTR_INT_OF(DTYPE, dtype), 1, 1);
}
