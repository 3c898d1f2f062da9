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
    xpu_value number = xpu_graph_const_bytes(b->graph, NULL, &divisor);
    xpu_dtype dtype = fe_info(b, sum)->dtype;
    if (dtype != XPU_F32) number = fe_node(b, XPU_OP_CONVERT, &number, 1, &XPU_ATTR_INT_OF(DTYPE, dtype), 1, 0);
    return fe_node(b, XPU_OP_DIV, (xpu_value[]){sum, number}, 2, NULL, 0, 1);
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

/* Constants that are whole numbers, and few enough to be looked at. */
static int is_whole(const fe_builder *b, xpu_value y) {
    const xpu_value_info *info = fe_info(b, y);
    if (info->kind != XPU_VALUE_CONST || info->dtype != XPU_F32) return 0;
    int64_t count = 1;
    for (int i = 0; i < info->rank; i++) {
        int64_t extent;
        if (!xpu_dim_is_const(&b->graph->dims, info->dims[i], &extent)) return 0;
        count *= extent;
    }
    const float *value = xpu_const_data(b->graph, y, b->scratch, b->diags);
    for (int64_t i = 0; value && i < count; i++) {
        if (!(value[i] > -0x1p31f && value[i] < 0x1p31f && value[i] == (float)(int32_t)value[i])) return 0;
    }
    return value != NULL;
}

static xpu_value as_type(fe_builder *b, xpu_value x, xpu_dtype dtype) {
    if (!x.id || fe_info(b, x)->dtype == dtype) return x;
    return fe_node(b, XPU_OP_CONVERT, &x, 1, &XPU_ATTR_INT_OF(DTYPE, dtype), 1, 0);
}

/* The result has the base's type. Both are computed in a type that holds them. */
static xpu_value pow_of_types(fe_builder *b, xpu_value x, xpu_value y) {
    xpu_dtype base = fe_info(b, x)->dtype, exponent = fe_info(b, y)->dtype, common = base;
    int is_float = xpu_compute_of(base) == XPU_COMPUTE_F32;
    if (is_float) {
        common = XPU_F32;
    } else if (xpu_compute_of(exponent) == XPU_COMPUTE_F32 && !is_whole(b, y)) {
        return fe_refuse(b, FE_FORM, "an integer has an exponent that may be no whole number",
                         "exponents of integers are integers or constants of float32 without a fraction",
                         "convert the base to float32 in the model");
    } else if (base == XPU_I32 && (exponent == XPU_I64 || exponent == XPU_U64 || exponent == XPU_U32)) {
        common = XPU_I64;
    }
    xpu_value pair[] = {as_type(b, x, common), as_type(b, y, common)};
    if (!pair[0].id || !pair[1].id) return (xpu_value){0};
    xpu_value power = fe_node(b, XPU_OP_POW, pair, 2, NULL, 0, common == base);
    if (!power.id || common == base) return power;
    return fe_node(b, XPU_OP_CONVERT, &power, 1, &XPU_ATTR_INT_OF(DTYPE, base), 1, 1);
}

xpu_value fe_pow(fe_builder *b, xpu_value x, xpu_value y) {
    if (is_two(b, y) && fe_info(b, x)->rank >= fe_info(b, y)->rank) {
        return fe_node(b, XPU_OP_MUL, (xpu_value[]){x, x}, 2, NULL, 0, 1);
    }
    xpu_dtype base = fe_info(b, x)->dtype, exponent = fe_info(b, y)->dtype;
    int known = xpu_compute_of(base) != XPU_COMPUTE_COUNT && xpu_compute_of(exponent) != XPU_COMPUTE_COUNT;
    if (known && base != exponent && exponent != XPU_BOOL) return pow_of_types(b, x, y);
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
