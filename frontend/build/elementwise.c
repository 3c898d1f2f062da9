/* Operators on each element, and those whose row of ops.def says it all. */
#include "frontend/build/build.h"

xpu_value fe_elementwise(fe_builder *b, xpu_op_id op, const xpu_value *operands, uint32_t operand_count,
                         const xpu_attr *attrs, uint32_t attr_count) {
    return fe_node(b, op, operands, operand_count, attrs, attr_count, 1);
}

xpu_value fe_variadic(fe_builder *b, xpu_op_id op, const xpu_value *operands, uint32_t operand_count) {
    xpu_value result = operands[0];
    if (operand_count == 1) return fe_node(b, XPU_OP_IDENTITY, &result, 1, NULL, 0, 1);
    for (uint32_t i = 1; i < operand_count && result.id; i++) {
        xpu_value pair[] = {result, operands[i]};
        result = fe_node(b, op, pair, 2, NULL, 0, i + 1 == operand_count);
    }
    return result;
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
