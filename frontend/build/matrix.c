/* Products of matrices. */
#include "frontend/build/build.h"

/* ---- alpha * a' * b' + beta * c ---- */

/* Whether the value is a constant of the model; what nodes make of constants stays theirs, as they may be part of a
 * quantised group. */
static int is_given(const fe_builder *b, xpu_value value) {
    return fe_info(b, value)->kind == XPU_VALUE_CONST;
}

/* The transpose of a matrix; of a constant, another constant. */
static xpu_value transposed(fe_builder *b, xpu_value matrix) {
    static const int64_t perm[] = {1, 0};
    if (!is_given(b, matrix)) {
        return fe_node(b, XPU_OP_TRANSPOSE, &matrix, 1, &XPU_ATTR_INTS_OF(PERM, perm, 2), 1, 0);
    }
    xpu_const_step step = {.kind = XPU_STEP_TRANSPOSE, .rank = 2, .dims = {1, 0}};
    return fe_derive(b, matrix, &step);
}

static xpu_value scaled(fe_builder *b, xpu_value value, float factor, int last) {
    if (factor == 1.0f && !last) return value;
    if (fe_info(b, value)->constant) {
        xpu_const_step step = {.kind = XPU_STEP_SCALE, .factors = &factor, .factor_count = 1};
        return fe_derive(b, value, &step);
    }
    xpu_value pair[] = {value, xpu_graph_const_f32(b->graph, NULL, factor)};
    return fe_node(b, XPU_OP_MUL, pair, 2, NULL, 0, last);
}

/* Whether C, of rank 2 at most, may be added to an M x N matrix without changing its shape. */
static int fits(const fe_builder *b, xpu_value c, xpu_dim rows, xpu_dim columns) {
    const xpu_value_info *info = fe_info(b, c);
    xpu_dim wanted[] = {rows, columns};
    if (info->rank > 2) return 0;
    for (int i = 0; i < info->rank; i++) {
        int64_t size = 0;
        int is_one = xpu_dim_is_const(&b->graph->dims, info->dims[i], &size) && size == 1;
        if (!is_one && xpu_dim_solutions(&b->graph->dims, info->dims[i], wanted[2 - info->rank + i]) < 2) return 0;
    }
    return 1;
}

/* C as the bias of matmul: a constant [N] or [1,N]; {0} where it is none. */
static xpu_value bias_of(fe_builder *b, xpu_value c, xpu_dim columns) {
    const xpu_value_info *info = fe_info(b, c);
    int64_t size = 0, rows = 1;
    if (!info->constant || info->rank < 1 || !xpu_dim_equal(info->dims[info->rank - 1], columns)) return (xpu_value){0};
    if (info->rank == 2) xpu_dim_is_const(&b->graph->dims, info->dims[0], &rows);
    if (rows != 1 || !xpu_dim_is_const(&b->graph->dims, columns, &size)) return (xpu_value){0};
    if (info->rank == 1) return c;
    if (!is_given(b, c)) return fe_reshape_to(b, c, &columns, 1, 0);
    xpu_const_step step = {.kind = XPU_STEP_RESHAPE, .rank = 1, .dims = {size}};
    return fe_derive(b, c, &step);
}

static xpu_value refuse_addend(const fe_builder *b, xpu_value c, xpu_dim rows, xpu_dim columns) {
    return fe_refuse(b, FE_SHAPE, "input 2 cannot be added to the product",
                     fe_format(b, "it has shape %s, the product [%s,%s]", fe_shape_text(b, c),
                               xpu_dim_text(&b->graph->dims, rows, b->scratch),
                               xpu_dim_text(&b->graph->dims, columns, b->scratch)),
                     NULL);
}

xpu_value fe_gemm(fe_builder *b, xpu_value left, xpu_value right, xpu_value c, const fe_gemm_form *form) {
    xpu_value operands[] = {left, right, {0}};
    float alpha = form->alpha;
    if (!left.id || !right.id) return (xpu_value){0};
    for (uint32_t i = 0; i < 2; i++) {
        if (fe_info(b, operands[i])->rank == 2) continue;
        return fe_refuse(b, FE_SHAPE, fe_format(b, "input %u is no matrix", i),
                         fe_format(b, "it has shape %s", fe_shape_text(b, operands[i])), NULL);
    }
    if (form->transpose_a) operands[0] = transposed(b, left);
    if (form->transpose_b) operands[1] = transposed(b, right);
    if (!operands[0].id || !operands[1].id) return (xpu_value){0};
    if (form->beta == 0.0f) c = (xpu_value){0};
    xpu_dim rows = fe_info(b, operands[0])->dims[0], columns = fe_info(b, operands[1])->dims[1];
    if (c.id && !fits(b, c, rows, columns)) return refuse_addend(b, c, rows, columns);
    if (c.id && form->beta != 1.0f) c = scaled(b, c, form->beta, 0);
    if (c.id && alpha == 1.0f) operands[2] = bias_of(b, c, columns);
    int has_bias = operands[2].id != 0, add_c = c.id && !has_bias;
    xpu_value product = fe_node(b, XPU_OP_MATMUL, operands, has_bias ? 3 : 2, NULL, 0, !add_c && alpha == 1.0f);
    if (product.id && alpha != 1.0f) product = scaled(b, product, alpha, !add_c);
    if (!product.id || !add_c) return product;
    return fe_node(b, XPU_OP_ADD, (xpu_value[]){product, c}, 2, NULL, 0, 1);
}

/* ---- matmul: a vector operand becomes a matrix, whose dim of 1 goes away again ---- */

/* Whether the operands, whose ranks go to `ranks`, are matrices now. */
static int as_matrices(fe_builder *b, xpu_value *operands, int *ranks) {
    if (!operands[0].id || !operands[1].id) return 0;
    for (int i = 0; i < 2; i++) ranks[i] = fe_info(b, operands[i])->rank;
    if (ranks[0] == 0 || ranks[1] == 0) {
        fe_refuse(b, FE_SHAPE, "an operand is a scalar", "MatMul needs vectors or matrices", NULL);
        return 0;
    }
    for (int i = 0; i < 2; i++) {
        if (ranks[i] != 1) continue;
        xpu_dim one = xpu_dim_const(&b->graph->dims, 1), length = fe_info(b, operands[i])->dims[0];
        xpu_dim dims[] = {i == 0 ? one : length, i == 0 ? length : one};
        operands[i] = fe_reshape_to(b, operands[i], dims, 2, 0);
        if (!operands[i].id) return 0;
    }
    return 1;
}

static int has_vector(const int *ranks) {
    return ranks[0] == 1 || ranks[1] == 1;
}

/* A product of matrices as that of operands of these ranks. */
static xpu_value without_ones(fe_builder *b, xpu_value product, const int *ranks) {
    if (!product.id || !has_vector(ranks)) return product;
    const xpu_value_info *info = fe_info(b, product);
    xpu_dim dims[XPU_MAX_RANK];
    int rank = 0;
    for (int i = 0; i < info->rank; i++) {
        int dropped = (i == info->rank - 2 && ranks[0] == 1) || (i == info->rank - 1 && ranks[1] == 1);
        if (!dropped) dims[rank++] = info->dims[i];
    }
    return fe_reshape_to(b, product, dims, rank, 1);
}

xpu_value fe_matmul(fe_builder *b, xpu_value left, xpu_value right) {
    xpu_value operands[] = {left, right};
    int ranks[2];
    if (!as_matrices(b, operands, ranks)) return (xpu_value){0};
    return without_ones(b, fe_node(b, XPU_OP_MATMUL, operands, 2, NULL, 0, !has_vector(ranks)), ranks);
}

/* ---- products that stay integers ---- */

/* A zero point: its value where it is one constant, else the operand itself. */
typedef struct {
    int64_t value;
    xpu_value operand;
    int ok;
} zero_point;

enum { X_ZERO_INPUT = 2, W_ZERO_INPUT };

static zero_point refuse_zero(const fe_builder *b, uint32_t input, const char *what, const char *hint) {
    fe_refuse(b, FE_FORM, what, fe_format(b, "input %u", input), hint);
    return (zero_point){.ok = 0};
}

static int has_one_element(const fe_builder *b, xpu_value value) {
    const xpu_value_info *info = fe_info(b, value);
    int64_t size;
    return info->rank == 0 || (info->rank == 1 && xpu_dim_is_const(&b->graph->dims, info->dims[0], &size) && size == 1);
}

static zero_point read_zero(fe_builder *b, xpu_value x, xpu_value given, uint32_t input) {
    zero_point zero = {.ok = 1};
    if (!given.id) return zero;
    const xpu_value_info *info = fe_info(b, given);
    if (info->dtype != fe_info(b, x)->dtype)
        return refuse_zero(b, input, "a zero point has another type than its operand", NULL);
    if (!info->constant) {
        if (input == W_ZERO_INPUT) return (zero_point){.operand = given, .ok = 1};
        if (!has_one_element(b, given))
            return refuse_zero(b, input, "the zero points of the rows are computed", "quantise x with one zero point");
        zero.operand = info->rank == 0 ? given : fe_reshape_to(b, given, NULL, 0, 0);
        zero.ok = zero.operand.id != 0;
        return zero;
    }
    xpu_tensor tensor;
    if (xpu_const_tensor(b->graph, given, b->scratch, &tensor, b->diags) != XPU_OK) return (zero_point){.ok = 0};
    const uint8_t *bytes = tensor.data;
    for (int64_t i = 0; i < xpu_tensor_count(&tensor); i++) {
        zero.value = tensor.dtype == XPU_I8 ? (int8_t)bytes[i] : bytes[i];
        if (bytes[i] == bytes[0]) continue;
        if (input == W_ZERO_INPUT) return (zero_point){.operand = given, .ok = 1};
        return refuse_zero(b, input, "the zero points of the rows differ", "quantise x with one zero point");
    }
    return zero;
}

int fe_read_zeros(fe_builder *b, xpu_value x, xpu_value w, xpu_value x_zero, xpu_value w_zero,
                  fe_integer_operands *parts) {
    if (!x.id || !w.id) return 0;
    zero_point of_x = read_zero(b, x, x_zero, X_ZERO_INPUT), of_w = read_zero(b, w, w_zero, W_ZERO_INPUT);
    if (!of_x.ok || !of_w.ok) return 0;
    *parts = (fe_integer_operands){
        .operands = {[XPU_IN_X] = x, [XPU_IN_W] = w, [XPU_IN_XZERO] = of_x.operand},
        .count = of_x.operand.id ? XPU_IN_COUNT : 2,
        .attrs = {XPU_ATTR_INT_OF(DTYPE, XPU_I32), XPU_ATTR_INT_OF(X_ZERO, of_x.value),
                  XPU_ATTR_INT_OF(W_ZERO, of_w.value)},
        .w_zeros = of_w.operand,
    };
    return 1;
}

xpu_value fe_ones(fe_builder *b, const xpu_dim *dims, int rank) {
    xpu_tensor tensor = {.dtype = XPU_I8, .rank = rank};
    int64_t count = 1;
    for (int i = 0; i < rank; i++) {
        if (xpu_dim_is_const(&b->graph->dims, dims[i], &tensor.dims[i])) {
            count *= tensor.dims[i];
            continue;
        }
        return fe_refuse(b, FE_FORM, "the weights have zero points of their own and free dims",
                         "the sum of x that each is multiplied by needs to know how much is added",
                         "fix the dims of the weights");
    }
    int8_t *bytes = XPU_NEW_ARRAY(b->scratch, int8_t, count);
    for (int64_t i = 0; i < count; i++) bytes[i] = 1;
    tensor.data = bytes;
    return xpu_graph_const_bytes(b->graph, NULL, &tensor);
}

/* sum of (x - x_zero) (w - w_zero) = sum of (x - x_zero) w - w_zero * sum of (x - x_zero), modulo 2^32. */
xpu_value fe_minus_zeros(fe_builder *b, xpu_value product, xpu_value sum, xpu_value zeros, int last) {
    xpu_value wide = fe_node(b, XPU_OP_CONVERT, &zeros, 1, &XPU_ATTR_INT_OF(DTYPE, XPU_I32), 1, 0);
    if (!product.id || !sum.id || !wide.id) return (xpu_value){0};
    xpu_value pair[] = {sum, wide};
    xpu_value part = fe_node(b, XPU_OP_MUL, pair, 2, NULL, 0, 0);
    return part.id ? fe_node(b, XPU_OP_SUB, (xpu_value[]){product, part}, 2, NULL, 0, last) : part;
}

xpu_value fe_integer_matmul(fe_builder *b, xpu_value x, xpu_value w, xpu_value x_zero, xpu_value w_zero) {
    fe_integer_operands parts;
    xpu_value operands[] = {x, w};
    int ranks[2];
    if (!as_matrices(b, operands, ranks) || !fe_read_zeros(b, operands[0], operands[1], x_zero, w_zero, &parts))
        return (xpu_value){0};
    int vectors = has_vector(ranks), split = parts.w_zeros.id != 0;
    xpu_value product =
        fe_node(b, XPU_OP_QMATMUL, parts.operands, parts.count, parts.attrs, FE_INTEGER_ATTRS, !vectors && !split);
    if (split && product.id) {
        const xpu_value_info *info = fe_info(b, operands[1]);
        parts.operands[XPU_IN_W] =
            fe_ones(b, (xpu_dim[]){info->dims[info->rank - 2], xpu_dim_const(&b->graph->dims, 1)}, 2);
        if (!parts.operands[XPU_IN_W].id) return (xpu_value){0};
        xpu_value sum = fe_node(b, XPU_OP_QMATMUL, parts.operands, parts.count, parts.attrs, FE_INTEGER_ATTRS, 0);
        product = fe_minus_zeros(b, product, sum, parts.w_zeros, !vectors);
    }
    return without_ones(b, product, ranks);
}
