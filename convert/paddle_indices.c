/* Indices in PaddlePaddle, whose operators do not all take those that count from the end. */
#include <string.h>

#include "base/compare.h"
#include "convert/paddle_writer.h"

static int has_negative(pw *w, xpu_value value) {
    xpu_tensor tensor;
    if (xpu_const_tensor(w->graph, value, w->arena, &tensor, w->diags) != XPU_OK) return 1;
    for (int64_t i = 0; i < xpu_tensor_count(&tensor); i++)
        if (xpu_element(&tensor, i) < 0) return 1;
    return 0;
}

/* Operators that only move elements of their first operand. */
static int moves(const xpu_graph *graph, xpu_node node) {
    static const xpu_op_id ops[] = {XPU_OP_RESHAPE, XPU_OP_TRANSPOSE, XPU_OP_IDENTITY,       XPU_OP_CONVERT,
                                    XPU_OP_SLICE,   XPU_OP_EXPAND,    XPU_OP_GATHER,         XPU_OP_GATHER_ND,
                                    XPU_OP_CONCAT,  XPU_OP_REPEAT,    XPU_OP_GATHER_ELEMENTS};
    for (size_t i = 0; i < sizeof ops / sizeof *ops; i++)
        if (xpu_node_is(graph, node, ops[i])) return 1;
    return 0;
}

/* Whether no element can be negative: constants, places that are found or sorted, and what moves these or is at least
 * as much. */
static int is_from_start(pw *w, xpu_value value, int depth) {
    enum { DEEP = 16 };
    const xpu_graph *graph = w->graph;
    const xpu_value_info *info = xpu_value_at(graph, value);
    if (info->constant) return !has_negative(w, value);
    if (info->dtype == XPU_BOOL || info->dtype == XPU_U8) return 1;
    if (info->kind != XPU_VALUE_NODE || depth == DEEP) return 0;
    const xpu_node_info *node = xpu_node_at(graph, info->node);
    if (xpu_node_is(graph, info->node, XPU_OP_NONZERO) || xpu_node_is(graph, info->node, XPU_OP_TOP)) return 1;
    if (xpu_node_is(graph, info->node, XPU_OP_MAX))
        return is_from_start(w, node->inputs[0], depth + 1) || is_from_start(w, node->inputs[1], depth + 1);
    if (!moves(graph, info->node)) return 0;
    const uint32_t parts = xpu_node_is(graph, info->node, XPU_OP_CONCAT) ? node->input_count : 1;
    for (uint32_t i = 0; i < parts; i++)
        if (!is_from_start(w, node->inputs[i], depth + 1)) return 0;
    return 1;
}

const char *pw_indices(pw *w, const xpu_dim *sizes, int count) {
    const pw_type given = pw_operand_type(w, 1);
    pw_type type = given;
    const pw_type list = pw_scalar_list(w, XPU_I32, count);
    const char *name = pw_operand(w, 1), *length;
    int64_t wide[XPU_MAX_RANK];
    int32_t narrow[XPU_MAX_RANK];
    if (is_from_start(w, xpu_node_input(w->graph, w->node, 1), 0)) return name;
    pw_type shape = {.rank = count};
    memcpy(shape.dims, sizes, (size_t)count * sizeof *sizes);
    if (pw_const_dims(w, &shape, wide)) {
        for (int i = 0; i < count; i++) narrow[i] = (int32_t)wide[i];
        length = pw_parameter(w, "sizes",
                              &(xpu_tensor){.dtype = type.dtype,
                                            .rank = type.rank > 0,
                                            .dims = {count},
                                            .data = type.dtype == XPU_I64 ? (void *)wide : (void *)narrow});
    } else {
        length = pw_sizes(w, sizes, count);
        if (type.dtype != XPU_I32) length = pw_cast(w, NULL, length, &list, type.dtype);
    }
    int empty = 0;
    while (empty < type.rank && !pw_may_be_empty(w, &type, empty)) empty++;
    if (empty < type.rank) name = pw_with_zeros(w, name, &type, empty);
    const pw_type flag = pw_as(type, XPU_BOOL);
    const char *below = pw_binary(w, NULL, "less_than", &flag, name, pw_scalar(w, type.dtype, 0));
    const char *step = pw_binary(w, NULL, "elementwise_mul", &type, pw_cast(w, NULL, below, &flag, type.dtype), length);
    name = pw_binary(w, NULL, "elementwise_add", &type, name, step);
    return empty < type.rank ? pw_part(w, NULL, name, &given, empty, 0, -1) : name;
}
