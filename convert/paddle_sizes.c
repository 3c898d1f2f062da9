/* Sizes that the program computes, and what needs them: reshapes and expansions. */
#include <string.h>

#include "convert/paddle_writer.h"

const char *pw_part(pw *w, const char *result, const char *x, const pw_type *gives, int64_t axis, int64_t first,
                    int64_t end) {
    const int64_t flag = 1;
    pw_op *op = pw_add(w, "slice");
    if (!result) result = pw_new(w, "part", gives);
    pw_in(w, op, "Input", x);
    pw_out(w, op, "Out", result);
    pw_ints(w, op, "axes", &axis, 1);
    pw_ints(w, op, "starts", &first, 1);
    pw_ints(w, op, "ends", &end, 1);
    pw_ints(w, op, "infer_flags", &flag, 1);
    pw_ints(w, op, "decrease_axis", NULL, 0);
    return result;
}

/* Element `at` of an int32 vector. */
static const char *element(pw *w, const char *list, int64_t at) {
    const pw_type one = pw_scalar_list(w, XPU_I32, 1);
    return pw_part(w, NULL, list, &one, 0, at, at + 1);
}

const char *pw_shape_list(pw *w, const char *name, int rank) {
    const pw_type list = pw_scalar_list(w, XPU_I32, rank);
    pw_op *op = pw_add(w, "shape");
    const char *result = pw_new(w, "shape", &list);
    pw_in(w, op, "Input", name);
    pw_out(w, op, "Out", result);
    return result;
}

const char *pw_counted(pw *w, const char *end, const pw_type *gives) {
    const char *first = pw_number(w, XPU_I32, 0), *step = pw_number(w, XPU_I32, 1);
    pw_op *op = pw_add(w, "range");
    const char *list = pw_new(w, "range", gives);
    pw_in(w, op, "Start", first);
    pw_in(w, op, "End", end);
    pw_in(w, op, "Step", step);
    pw_out(w, op, "Out", list);
    return list;
}

static const char *shape_of(pw *w, xpu_value value) {
    return pw_shape_list(w, pw_name(w, value), xpu_value_at(w->graph, value)->rank);
}

/* Element of an integer tensor as int32 [1]. */
static const char *value_element(pw *w, xpu_value value, uint32_t at) {
    pw_type type = pw_type_of(w, value), flat = pw_scalar_list(w, type.dtype, 1);
    const char *name = pw_name(w, value);
    int64_t dims[XPU_MAX_RANK], count = 1;
    if (pw_const_dims(w, &type, dims)) {
        for (int i = 0; i < type.rank; i++) count *= dims[i];
    } else {
        count = -1;
    }
    flat.dims[0] = count > 0 ? xpu_dim_const(&w->graph->dims, count) : (xpu_dim){0};
    if (type.rank != 1) name = pw_reshape(w, NULL, name, &type, &flat);
    if (type.dtype != XPU_I32) name = pw_cast(w, NULL, name, &flat, XPU_I32);
    return count == 1 ? name : element(w, name, at);
}

/* The size as a loop's argument has it, which readers follow from one iteration to the next; NULL: none has it. */
static const char *argument_size(pw *w, xpu_dim dim) {
    for (uint32_t i = w->arguments.count; i-- > 0;) {
        const xpu_value_info *info = xpu_value_at(w->graph, w->arguments.items[i]);
        for (int d = 0; d < info->rank; d++)
            if (xpu_dim_equal(info->dims[d], dim)) return element(w, shape_of(w, w->arguments.items[i]), d);
    }
    return NULL;
}

static const char *symbol(pw *w, xpu_dim dim) {
    const xpu_graph *graph = w->graph;
    const xpu_symbol *of = &graph->dims.symbols.items[xpu_dim_at(&graph->dims, dim)->value];
    if (of->value.id) return value_element(w, of->value, of->element);
    for (uint32_t i = 0; i < graph->inputs.count; i++) {
        const xpu_value_info *info = xpu_value_at(graph, graph->inputs.items[i]);
        for (int d = 0; d < info->rank; d++) {
            if (xpu_dim_equal(info->dims[d], dim)) return element(w, shape_of(w, graph->inputs.items[i]), d);
        }
    }
    pw_refuse_size(w, of->name);
    return pw_number(w, XPU_I32, 1);
}

const char *pw_size_of(pw *w, xpu_dim dim) {
    static const char *const names[] = {[XPU_DIM_ADD] = "elementwise_add",           [XPU_DIM_MUL] = "elementwise_mul",
                                        [XPU_DIM_FLOORDIV] = "elementwise_floordiv", [XPU_DIM_MOD] = "elementwise_mod",
                                        [XPU_DIM_MIN] = "elementwise_min",           [XPU_DIM_MAX] = "elementwise_max"};
    const pw_type one = pw_scalar_list(w, XPU_I32, 1);
    while (w->sizes.count <= dim.id) XPU_PUSH(w->arena, &w->sizes, NULL);
    if (w->sizes.items[dim.id]) return w->sizes.items[dim.id];
    const xpu_dim_node node = *xpu_dim_at(&w->graph->dims, dim);
    int64_t value;
    const char *name;
    if (!dim.id) {
        pw_refuse(w, XPU_REFUSED_DIM);
        return pw_number(w, XPU_I32, 1);
    }
    if (xpu_dim_is_const(&w->graph->dims, dim, &value)) {
        name = pw_number(w, XPU_I32, (double)value);
    } else if (node.kind == XPU_DIM_SYMBOL) {
        name = symbol(w, dim);
    } else if (!(name = argument_size(w, dim))) {
        if (node.kind == XPU_DIM_FLOORDIV && xpu_dim_min(&w->graph->dims, node.a) < 0)
            pw_refuse(w, XPU_REFUSED_QUOTIENT);
        const char *a = pw_size_of(w, node.a), *b = pw_size_of(w, node.b);
        name = pw_binary(w, NULL, names[node.kind], &one, a, b);
    }
    while (w->sizes.count <= dim.id) XPU_PUSH(w->arena, &w->sizes, NULL);
    w->sizes.items[dim.id] = name;
    XPU_PUSH(w->arena, &w->sizes_made, dim.id);
    return name;
}

const char *pw_sizes(pw *w, const xpu_dim *dims, int count) {
    const pw_type list = pw_scalar_list(w, XPU_I32, count);
    const char *parts[2 * XPU_MOST_KNOWN] = {NULL};
    if (!count) return pw_parameter(w, "none", &(xpu_tensor){.dtype = XPU_I32, .rank = 1});
    for (int i = 0; i < count; i++) parts[i] = pw_size_of(w, dims[i]);
    if (count == 1) return parts[0];
    pw_op *op;
    const char *result = pw_make(w, &op, NULL, "concat", &list, parts[0], NULL);
    for (int i = 1; i < count; i++) pw_in(w, op, "X", parts[i]);
    pw_int(w, op, "axis", 0);
    return result;
}

const char *pw_zeros(pw *w, const char *result, const pw_type *gives) {
    int64_t shape[XPU_MAX_RANK];
    int open = 0;
    for (int i = 0; i < gives->rank; i++) {
        if (xpu_dim_is_const(&w->graph->dims, gives->dims[i], &shape[i])) continue;
        shape[i] = PW_OPEN;
        open = 1;
    }
    const char *sizes = open ? pw_sizes(w, gives->dims, gives->rank) : NULL;
    pw_op *op = pw_add(w, "fill_constant");
    if (!result) result = pw_new(w, "zeros", gives);
    if (sizes) pw_in(w, op, "ShapeTensor", sizes);
    pw_out(w, op, "Out", result);
    pw_longs(w, op, "shape", shape, (uint32_t)gives->rank);
    pw_float(w, op, "value", 0);
    pw_string(w, op, "str_value", "0");
    pw_int(w, op, "dtype", pw_code(gives->dtype));
    return result;
}

int pw_may_be_empty(pw *w, const pw_type *type, int axis) {
    for (int i = 0; i < type->rank; i++)
        if (!type->dims[i].id) return 0;
    return xpu_dim_min(&w->graph->dims, type->dims[axis]) <= 0;
}

const char *pw_with_zeros(pw *w, const char *x, pw_type *type, int axis) {
    pw_type entry = *type;
    pw_op *op;
    entry.dims[axis] = xpu_dim_const(&w->graph->dims, 1);
    type->dims[axis] = xpu_dim_add_const(&w->graph->dims, type->dims[axis], 1);
    const char *zeros = pw_zeros(w, NULL, &entry), *result = pw_make(w, &op, NULL, "concat", type, x, NULL);
    pw_in(w, op, "X", zeros);
    pw_int(w, op, "axis", axis);
    return result;
}

const char *pw_reshape(pw *w, const char *result, const char *x, const pw_type *from, const pw_type *to) {
    int64_t shape[XPU_MAX_RANK];
    int open = 0, empty = 0;
    uint32_t count;
    const pw_type unknown = {.dtype = from->dtype}, type = pw_as(*to, from->dtype);
    const int ones = xpu_convert_ones(w->graph, from->rank, from->dims, to->rank, to->dims, shape, &count);
    pw_op *op;
    if (ones && to->rank && from->rank) {
        result = pw_make(w, &op, result, ones < 0 ? "squeeze2" : "unsqueeze2", &type, x, NULL);
        pw_out(w, op, "XShape", pw_new(w, "xshape", &unknown));
        pw_ints(w, op, "axes", shape, count);
        return result;
    }
    for (int i = 0; i < to->rank; i++) {
        if (xpu_dim_is_const(&w->graph->dims, to->dims[i], &shape[i])) {
            empty |= shape[i] == 0;
        } else if (i < from->rank && to->dims[i].id && xpu_dim_equal(from->dims[i], to->dims[i])) {
            shape[i] = 0;
        } else {
            shape[i] = -1;
            open++;
        }
    }
    if (empty) return pw_zeros(w, result, &type); /* PaddlePaddle reshapes nothing to nothing */
    const char *sizes = open > 1 ? pw_sizes(w, to->dims, to->rank) : NULL;
    result = pw_make(w, &op, result, "reshape2", &type, x, NULL);
    if (sizes) pw_in(w, op, "Shape", sizes);
    pw_out(w, op, "XShape", pw_new(w, "xshape", &unknown));
    pw_ints(w, op, "shape", shape, (uint32_t)to->rank);
    return result;
}

const char *pw_transpose(pw *w, const char *result, const char *x, const pw_type *to, const int64_t *perm) {
    pw_op *op;
    result = pw_make(w, &op, result, "transpose2", to, x, NULL);
    const pw_type unknown = {.dtype = to->dtype};
    pw_out(w, op, "XShape", pw_new(w, "xshape", &unknown));
    pw_ints(w, op, "axis", perm, (uint32_t)to->rank);
    return result;
}

const char *pw_expand(pw *w, const char *result, const char *x, const pw_type *from, const pw_type *to) {
    int64_t shape[XPU_MAX_RANK];
    int open = 0, same = from->rank == to->rank;
    for (int i = 0; i < to->rank; i++) {
        const int own = i - (to->rank - from->rank);
        const int kept = own >= 0 && xpu_dim_equal(from->dims[own], to->dims[i]);
        same &= kept;
        if (xpu_dim_is_const(&w->graph->dims, to->dims[i], &shape[i])) continue;
        shape[i] = -1;
        open |= !kept;
    }
    if (same && !result) return x;
    const pw_type type = pw_as(*to, from->dtype);
    const char *sizes = open ? pw_sizes(w, to->dims, to->rank) : NULL;
    pw_op *op;
    result = pw_make(w, &op, result, "expand_v2", &type, x, NULL);
    if (sizes) pw_in(w, op, "Shape", sizes);
    pw_ints(w, op, "shape", shape, (uint32_t)to->rank);
    return result;
}
