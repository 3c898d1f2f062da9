/* Value functions: what small tensors of integers, bool and float32 hold, as expressions over the symbols of shapes. */
#include <string.h>

#include "core/ops/infer.h"
#include "core/ops/rows.h"

/* The entries of an operand; -1: nothing is known. */
typedef struct {
    int count;
    xpu_known items[XPU_MOST_KNOWN];
} entries;

static int is_open(const xpu_graph *graph, xpu_node node) {
    const xpu_node_info *info = xpu_node_at(graph, node);
    int open = 0;
    for (uint32_t i = 0; i < info->input_count && !open; i++) {
        open = info->inputs[i].id && xpu_value_at(graph, info->inputs[i])->known != NULL;
    }
    return open;
}

static entries *operands_of(xpu_graph *graph, xpu_node node, uint32_t known_from, xpu_arena *arena) {
    const xpu_node_info *info = xpu_node_at(graph, node);
    entries *operands = XPU_NEW_ARRAY(arena, entries, info->input_count + 1);
    for (uint32_t i = 0; i < info->input_count && i < known_from; i++) {
        operands[i].count = xpu_value_known(graph, info->inputs[i], operands[i].items);
    }
    return operands;
}

static const xpu_value_info *result_of(const xpu_graph *graph, xpu_node node) {
    return xpu_value_at(graph, xpu_node_output(graph, node, 0));
}

/* ---- operators that move entries: their reference kernel moves them as it would 64-bit integers ---- */

static int shape_of(const xpu_graph *graph, xpu_value value, xpu_tensor *tensor) {
    *tensor = (xpu_tensor){.dtype = XPU_I64, .rank = xpu_value_at(graph, value)->rank};
    return xpu_value_dims(graph, value, NULL, tensor->dims);
}

/* Where entries come from does not depend on symbols. */
static int is_fixed(const xpu_graph *graph, xpu_node node) {
    const xpu_node_info *info = xpu_node_at(graph, node);
    int fixed = 1;
    for (uint32_t k = 0; k < info->attrs.count; k++) {
        const xpu_attr *attr = &info->attrs.items[k];
        int is_dims = xpu_attr_type_of(attr->id) == XPU_ATTR_TYPE_DIMS;
        for (uint32_t i = 0; is_dims && i < attr->count; i++)
            fixed &= xpu_dim_is_const(&graph->dims, attr->dims[i], NULL);
    }
    return fixed;
}

/* The first `moved` operands hold what is moved; those behind it (indices) are constants. */
static int move_entries(xpu_graph *graph, xpu_node node, uint32_t moved, xpu_arena *arena, xpu_diags *diags) {
    const xpu_node_info *info = xpu_node_at(graph, node);
    entries *operands = operands_of(graph, node, moved, arena);
    if (info->output_count != 1 || !is_fixed(graph, node)) return 0;
    xpu_tensor *tensors = XPU_NEW_ARRAY(arena, xpu_tensor, info->input_count), result;
    const xpu_tensor **inputs = XPU_NEW_ARRAY(arena, const xpu_tensor *, info->input_count);
    for (uint32_t i = 0; i < info->input_count; i++) {
        if (i < moved) {
            if (!shape_of(graph, info->inputs[i], &tensors[i])) return 0;
            xpu_known *unknown = XPU_NEW_ARRAY(arena, xpu_known, xpu_tensor_count(&tensors[i]) + 1);
            tensors[i].data = operands[i].count < 0 ? unknown : operands[i].items;
        } else if (!xpu_value_at(graph, info->inputs[i])->constant ||
                   xpu_const_tensor(graph, info->inputs[i], arena, &tensors[i], diags) != XPU_OK) {
            return 0;
        }
        inputs[i] = &tensors[i];
    }
    if (!shape_of(graph, info->outputs[0], &result) || xpu_tensor_count(&result) > XPU_MOST_KNOWN) return 0;
    xpu_known *moves = XPU_NEW_ARRAY(arena, xpu_known, XPU_MOST_KNOWN);
    result.data = moves;
    xpu_ref_args args = {.graph = graph,
                         .node = node,
                         .inputs = inputs,
                         .outputs = (xpu_tensor *const[]){&result},
                         .scratch = arena,
                         .diags = diags};
    if (info->op->ref(&args) != XPU_OK) return 0;
    return xpu_value_set_known(graph, info->outputs[0], moves, (int)xpu_tensor_count(&result));
}

static int moved(xpu_graph *graph, xpu_node node, uint32_t count, xpu_diags *diags) {
    const xpu_value_info *x = xpu_operand(graph, node, 0), *y = result_of(graph, node);
    int64_t dims[XPU_MAX_RANK];
    if (!is_open(graph, node)) return 0;
    if (!x || y->rank > XPU_MAX_RANK || !xpu_value_dims(graph, xpu_node_output(graph, node, 0), NULL, dims)) return 0;
    double size = 1;
    for (int i = 0; i < y->rank; i++) size *= (double)dims[i];
    if (size > XPU_MOST_KNOWN) return 0;
    xpu_arena *arena = xpu_arena_new(xpu_arena_mem(graph->arena), "value");
    int became = move_entries(graph, node, count, arena, diags);
    xpu_arena_free(arena);
    return became;
}

int xpu_value_moved(xpu_graph *graph, xpu_node node, xpu_diags *diags) {
    return moved(graph, node, UINT32_MAX, diags);
}

int xpu_value_gathered(xpu_graph *graph, xpu_node node, xpu_diags *diags) {
    return moved(graph, node, 1, diags);
}

/* ---- arithmetic on entries ---- */

static xpu_dim constant(xpu_dims *dims, int64_t value) {
    return xpu_dim_const(dims, value);
}
static xpu_dim negative(xpu_dims *dims, xpu_dim a) {
    return xpu_dim_mul_const(dims, a, -1);
}
static xpu_dim less_by(xpu_dims *dims, xpu_dim a, xpu_dim b) {
    return xpu_dim_add(dims, a, negative(dims, b));
}
static xpu_dim larger(xpu_dims *dims, xpu_dim a, xpu_dim b) {
    return xpu_dim_op(dims, XPU_DIM_MAX, a, b);
}
static xpu_dim smaller(xpu_dims *dims, xpu_dim a, xpu_dim b) {
    return xpu_dim_op(dims, XPU_DIM_MIN, a, b);
}

/* Towards zero, as integers are divided; unknown where the divisor may be 0. */
static xpu_dim quotient(xpu_dims *dims, xpu_dim a, xpu_dim b) {
    xpu_dim zero = constant(dims, 0);
    if (!a.id || !b.id) return (xpu_dim){0};
    if (xpu_dim_max(dims, b) < 0) return quotient(dims, negative(dims, a), negative(dims, b));
    if (xpu_dim_min(dims, b) <= 0) return (xpu_dim){0};
    if (xpu_dim_min(dims, a) >= 0) return xpu_dim_op(dims, XPU_DIM_FLOORDIV, a, b);
    xpu_dim above = xpu_dim_op(dims, XPU_DIM_FLOORDIV, larger(dims, a, zero), b);
    xpu_dim below = xpu_dim_op(dims, XPU_DIM_FLOORDIV, larger(dims, negative(dims, a), zero), b);
    return less_by(dims, above, below);
}

/* 0 or 1: whether a number that is not negative is above 0. */
static xpu_dim is_above_zero(xpu_dims *dims, xpu_dim a) {
    return smaller(dims, constant(dims, 1), larger(dims, a, constant(dims, 0)));
}

static xpu_dim is_not(xpu_dims *dims, xpu_dim a) {
    return less_by(dims, constant(dims, 1), a);
}

static xpu_dim is_equal(xpu_dims *dims, xpu_dim a, xpu_dim b) {
    if (!a.id || !b.id) return (xpu_dim){0};
    if (xpu_dim_agree(dims, a, b)) return constant(dims, 1);
    xpu_dim difference = less_by(dims, a, b);
    if (!difference.id) return difference;
    const xpu_dim_node *node = xpu_dim_at(dims, difference);
    if (node->min > 0 || node->max < 0 || (node->modulus != 1 && node->residue != 0)) return constant(dims, 0);
    return is_not(dims, is_above_zero(dims, larger(dims, difference, negative(dims, difference))));
}

static xpu_dim is_less(xpu_dims *dims, xpu_dim a, xpu_dim b) {
    return is_above_zero(dims, less_by(dims, b, a));
}

/* c ? a : b */
static xpu_dim chosen(xpu_dims *dims, xpu_dim c, xpu_dim a, xpu_dim b) {
    int64_t known;
    if (xpu_dim_is_const(dims, c, &known)) return known ? a : b;
    if (!a.id || !b.id || xpu_dim_agree(dims, a, b)) return a.id && b.id ? a : (xpu_dim){0};
    return xpu_dim_add(dims, b, xpu_dim_mul(dims, c, less_by(dims, a, b)));
}

static int is_power(int32_t number) {
    return number > 0 && (number & (number - 1)) == 0;
}

/* Both over the same power of two; 0 where one is rounded, or too fine. */
static int same_over(xpu_dims *dims, xpu_known *a, xpu_known *b) {
    if (!is_power(a->over) || !is_power(b->over)) return 0;
    int32_t over = a->over > b->over ? a->over : b->over;
    a->dim = xpu_dim_mul_const(dims, a->dim, over / a->over);
    b->dim = xpu_dim_mul_const(dims, b->dim, over / b->over);
    a->over = b->over = over;
    return 1;
}

/* a / b of float32: by a power of two exactly; a whole number by another one is rounded, which its floor does not see.
 */
static xpu_known float_quotient(xpu_dims *dims, xpu_known a, xpu_known b) {
    int64_t divisor;
    xpu_known unknown = {.over = 1};
    if (!xpu_dim_is_const(dims, b.dim, &divisor) || divisor <= 0 || divisor > 1 << 24 || !is_power(b.over))
        return unknown;
    while (divisor % 2 == 0 && b.over > 1) divisor /= 2, b.over /= 2;
    int64_t over = a.over * divisor;
    if (over > 1 << 24 || (!is_power((int32_t)divisor) && a.over * b.over != 1)) return unknown;
    return (xpu_known){xpu_dim_mul_const(dims, a.dim, b.over), (int32_t)over};
}

static xpu_dim floor_of(xpu_dims *dims, xpu_known a) {
    return xpu_dim_floordiv_const(dims, a.dim, a.over);
}

/* A dim that nobody has bounded is one that float32 counts, where the model counts it so. */
static void narrow_open(xpu_dims *dims, xpu_dim dim) {
    xpu_dim_node *node = &dims->nodes.items[dim.id];
    if (node->kind != XPU_DIM_SYMBOL) return;
    xpu_symbol *symbol = &dims->symbols.items[node->value];
    if (symbol->open && !symbol->value.id && symbol->step == 1 && symbol->max > XPU_FLOAT_EXACT)
        node->max = symbol->max = XPU_FLOAT_EXACT;
}

/* To another element type; set_known looks at the range. */
static xpu_known converted(xpu_dims *dims, xpu_known a, xpu_dtype to) {
    if (to == XPU_F32) narrow_open(dims, a.dim);
    if (to == XPU_BOOL) return (xpu_known){is_not(dims, is_equal(dims, a.dim, constant(dims, 0))), 1};
    if (to == XPU_F32 || a.over == 1) return a;
    return (xpu_known){quotient(dims, a.dim, constant(dims, a.over)), 1};
}

/* Operators on any two entries over one power of two, of float32 too; `over` of the result is theirs. */
static xpu_dim compared(xpu_dims *dims, xpu_op_id op, xpu_dim a, xpu_dim b) {
    switch (op) {
    case XPU_OP_ADD: return xpu_dim_add(dims, a, b);
    case XPU_OP_SUB: return less_by(dims, a, b);
    case XPU_OP_MAX: return larger(dims, a, b);
    case XPU_OP_MIN: return smaller(dims, a, b);
    case XPU_OP_EQUAL: return is_equal(dims, a, b);
    case XPU_OP_LESS: return is_less(dims, a, b);
    case XPU_OP_GREATER: return is_less(dims, b, a);
    case XPU_OP_LESS_OR_EQUAL: return is_not(dims, is_less(dims, b, a));
    case XPU_OP_GREATER_OR_EQUAL: return is_not(dims, is_less(dims, a, b));
    case XPU_OP_AND: return smaller(dims, a, b);
    case XPU_OP_OR: return larger(dims, a, b);
    case XPU_OP_XOR: return is_not(dims, is_equal(dims, a, b));
    default: return (xpu_dim){0};
    }
}

static xpu_known unary(xpu_dims *dims, xpu_op_id op, xpu_known a) {
    switch (op) {
    case XPU_OP_NEG: return (xpu_known){negative(dims, a.dim), a.over};
    case XPU_OP_ABS: return (xpu_known){larger(dims, a.dim, negative(dims, a.dim)), a.over};
    case XPU_OP_RELU: return (xpu_known){larger(dims, a.dim, constant(dims, 0)), a.over};
    case XPU_OP_NOT: return (xpu_known){is_not(dims, a.dim), 1};
    case XPU_OP_FLOOR: return (xpu_known){floor_of(dims, a), 1};
    case XPU_OP_CEIL: return (xpu_known){negative(dims, floor_of(dims, (xpu_known){negative(dims, a.dim), a.over})), 1};
    case XPU_OP_ROUND: return a.over == 1 ? a : (xpu_known){.over = 1};
    default: return (xpu_known){.over = 1};
    }
}

static xpu_known binary(xpu_dims *dims, xpu_op_id op, xpu_known a, xpu_known b, xpu_dtype type, xpu_dtype result) {
    xpu_known unknown = {.over = 1};
    if (op == XPU_OP_MUL) {
        int64_t over = (int64_t)a.over * b.over;
        if (!is_power(a.over) || !is_power(b.over) || over > 1 << 24) return unknown;
        return (xpu_known){xpu_dim_mul(dims, a.dim, b.dim), (int32_t)over};
    }
    if (op == XPU_OP_DIV && type == XPU_F32) return float_quotient(dims, a, b);
    if (op == XPU_OP_DIV) return (xpu_known){quotient(dims, a.dim, b.dim), 1};
    if (op == XPU_OP_MOD) {
        int positive = b.dim.id && xpu_dim_min(dims, b.dim) > 0;
        return positive ? (xpu_known){xpu_dim_op(dims, XPU_DIM_MOD, a.dim, b.dim), 1} : unknown;
    }
    if (op == XPU_OP_FMOD) {
        if (type == XPU_F32) return unknown;
        return (xpu_known){less_by(dims, a.dim, xpu_dim_mul(dims, b.dim, quotient(dims, a.dim, b.dim))), 1};
    }
    if (!same_over(dims, &a, &b)) return unknown;
    return (xpu_known){compared(dims, op, a.dim, b.dim), result == XPU_BOOL ? 1 : a.over};
}

/* ---- elementwise operators ---- */

/* What became known although its operand is an expression was found from the ranges of symbols. */
static void rely(xpu_dims *dims, xpu_dim from, xpu_arena *arena) {
    uint8_t *seen = XPU_NEW_ARRAY(arena, uint8_t, dims->symbols.count + 1);
    xpu_dim_find_symbols(dims, from, seen);
    for (uint32_t i = 0; i < dims->symbols.count; i++) dims->symbols.items[i].relied |= seen[i];
}

/* The entry that operators with a constant operand do not look at: that of Where which is not chosen, what is
 * multiplied by 0. -1: none. */
static int ignored_operand(const xpu_dims *dims, xpu_op_id op, const xpu_known *x) {
    int64_t value;
    if (op == XPU_OP_WHERE && xpu_dim_is_const(dims, x[0].dim, &value)) return value ? 2 : 1;
    for (int k = 0; k < 2 && op == XPU_OP_MUL; k++) {
        if (xpu_dim_is_const(dims, x[k].dim, &value) && value == 0) return 1 - k;
    }
    return -1;
}

/* Which entry of an operand meets entry `index` of a result of these dims. */
static int entry_of(const int64_t *dims, int rank, const xpu_graph *graph, xpu_value operand, int index) {
    const xpu_value_info *info = xpu_value_at(graph, operand);
    int at = 0, stride = 1;
    for (int i = rank; i-- > 0; index /= (int)dims[i]) {
        int64_t size = 1;
        int own = i - (rank - info->rank);
        if (own < 0) continue;
        xpu_dim_is_const(&graph->dims, info->dims[own], &size);
        if (size > 1) at += (int)(index % dims[i]) * stride;
        stride *= (int)size;
    }
    return at;
}

static int is_small(xpu_graph *graph, xpu_node node, int64_t *dims) {
    const xpu_value_info *info = result_of(graph, node);
    int64_t count = 1;
    for (int i = 0; i < info->rank; i++) {
        if (!xpu_dim_is_const(&graph->dims, info->dims[i], &dims[i]) || dims[i] > XPU_MOST_KNOWN) return -1;
        count *= dims[i];
        if (count > XPU_MOST_KNOWN) return -1;
    }
    return (int)count;
}

int xpu_value_elementwise(xpu_graph *graph, xpu_node node, xpu_diags *diags) {
    const xpu_node_info info = *xpu_node_at(graph, node);
    int64_t dims[XPU_MAX_RANK];
    (void)diags;
    int count = is_open(graph, node) ? is_small(graph, node, dims) : -1;
    if (count < 0) return 0;
    xpu_arena *arena = xpu_arena_new(xpu_arena_mem(graph->arena), "value");
    entries *operands = operands_of(graph, node, UINT32_MAX, arena);
    xpu_known list[XPU_MOST_KNOWN];
    xpu_dtype type = xpu_operand(graph, node, 0)->dtype, result = result_of(graph, node)->dtype;
    const xpu_op_id op = xpu_op_id_of(info.op);
    for (int i = 0; i < count; i++) {
        xpu_known x[3] = {{.over = 1}, {.over = 1}, {.over = 1}};
        for (uint32_t k = 0; k < info.input_count && k < 3; k++) {
            int at = entry_of(dims, result_of(graph, node)->rank, graph, info.inputs[k], i);
            if (operands[k].count >= 0) x[k] = operands[k].items[at];
        }
        list[i] = (xpu_known){.over = 1};
        if (op == XPU_OP_WHERE) {
            if (same_over(&graph->dims, &x[1], &x[2]))
                list[i] = (xpu_known){chosen(&graph->dims, x[0].dim, x[1].dim, x[2].dim), x[1].over};
        } else if (!x[0].dim.id || (info.input_count > 1 && !x[1].dim.id)) {
            continue;
        } else if (op == XPU_OP_CONVERT) {
            list[i] = converted(&graph->dims, x[0], result);
        } else {
            list[i] = info.input_count == 1 ? unary(&graph->dims, op, x[0])
                                            : binary(&graph->dims, op, x[0], x[1], type, result);
        }
        const int ignored = ignored_operand(&graph->dims, op, x);
        for (uint32_t k = 0; k < info.input_count && k < 3 && xpu_dim_is_const(&graph->dims, list[i].dim, NULL); k++)
            if ((int)k != ignored) rely(&graph->dims, x[k].dim, arena);
    }
    int became = xpu_value_set_known(graph, info.outputs[0], list, count);
    xpu_arena_free(arena);
    return became;
}

/* ---- reductions, dims as data ---- */

static xpu_known reduced(xpu_dims *dims, xpu_op_id op, xpu_known a, xpu_known b) {
    static const xpu_op_id combine[] = {[0] = XPU_OP_ADD, XPU_OP_MUL, XPU_OP_MAX, XPU_OP_MIN};
    int which = op == XPU_OP_REDUCE_SUM    ? 0
                : op == XPU_OP_REDUCE_PROD ? 1
                : op == XPU_OP_REDUCE_MAX  ? 2
                : op == XPU_OP_REDUCE_MIN  ? 3
                                           : -1;
    if (which < 0 || !a.dim.id || !b.dim.id) return (xpu_known){.over = 1};
    return binary(dims, combine[which], a, b, XPU_I64, XPU_I64);
}

int xpu_value_reduced(xpu_graph *graph, xpu_node node, xpu_diags *diags) {
    const xpu_value_info *x = xpu_operand(graph, node, 0);
    const int axis = (int)xpu_node_int(graph, node, XPU_ATTR_AXIS);
    xpu_known from[XPU_MOST_KNOWN], to[XPU_MOST_KNOWN];
    (void)diags;
    if (!x->known || xpu_value_known(graph, xpu_node_input(graph, node, 0), from) < 0) return 0;
    int64_t dims[XPU_MAX_RANK];
    if (!xpu_value_dims(graph, xpu_node_input(graph, node, 0), NULL, dims) || dims[axis] < 1) return 0;
    int64_t outer = xpu_product(dims, 0, axis), inner = xpu_product(dims, axis + 1, x->rank);
    for (int64_t o = 0; o < outer; o++) {
        for (int64_t i = 0; i < inner; i++) {
            xpu_known all = from[o * dims[axis] * inner + i];
            for (int64_t k = 1; k < dims[axis]; k++) {
                all = reduced(&graph->dims, xpu_op_id_of(xpu_node_at(graph, node)->op), all,
                              from[(o * dims[axis] + k) * inner + i]);
            }
            to[o * inner + i] = all;
        }
    }
    return xpu_value_set_known(graph, xpu_node_output(graph, node, 0), to, (int)(outer * inner));
}

int xpu_value_dims_as_data(xpu_graph *graph, xpu_node node, xpu_diags *diags) {
    const xpu_attr *values = xpu_node_attr(graph, node, XPU_ATTR_VALUES);
    xpu_known list[XPU_MOST_KNOWN];
    (void)diags;
    for (uint32_t i = 0; i < values->count; i++) list[i] = (xpu_known){values->dims[i], 1};
    return xpu_value_set_known(graph, xpu_node_output(graph, node, 0), list, (int)values->count);
}

/* ---- dim_values ---- */

xpu_status xpu_infer_dim_values(xpu_graph *graph, xpu_node node, xpu_diags *diags) {
    const xpu_attr *values = xpu_node_attr(graph, node, XPU_ATTR_VALUES);
    const xpu_attr *shape = xpu_node_attr(graph, node, XPU_ATTR_SHAPE);
    const xpu_dtype dtype = (xpu_dtype)xpu_node_int(graph, node, XPU_ATTR_DTYPE);
    int64_t count = 1, size = 0;
    int fits = values && values->count <= XPU_MOST_KNOWN && (!shape || shape->count <= XPU_MAX_RANK) &&
               (dtype == XPU_I64 || dtype == XPU_I32 || dtype == XPU_BOOL);
    for (uint32_t i = 0; fits && shape && i < shape->count; i++) {
        fits = xpu_dim_is_const(&graph->dims, shape->dims[i], &size) && size <= XPU_MOST_KNOWN;
        count *= size;
    }
    for (uint32_t i = 0; fits && i < values->count; i++) fits = values->dims[i].id != 0;
    if (!fits || count != values->count) {
        return xpu_infer_error(graph, node, diags, "dim-values", "the attributes do not fit each other",
                               "there are at most 64 values, as many as the shape says, of int64, int32 or bool",
                               "there are %u values", values ? values->count : 0);
    }
    return xpu_set_result(graph, node, 0, dtype, shape ? (int)shape->count : 0, shape ? shape->dims : NULL, diags);
}

xpu_status xpu_ref_dim_values(const xpu_ref_args *args) {
    const xpu_attr *values = xpu_node_attr(args->graph, args->node, XPU_ATTR_VALUES);
    const xpu_tensor *y = args->outputs[0];
    for (uint32_t i = 0; i < values->count; i++) {
        int64_t value = xpu_dim_eval(&args->graph->dims, values->dims[i], args->symbols);
        if (y->dtype == XPU_I64) ((int64_t *)y->data)[i] = value;
        if (y->dtype == XPU_I32) ((int32_t *)y->data)[i] = (int32_t)value;
        if (y->dtype == XPU_BOOL) ((uint8_t *)y->data)[i] = value != 0;
    }
    return XPU_OK;
}
