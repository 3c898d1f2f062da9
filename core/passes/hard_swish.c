/* Hard swish and hard sigmoid as exporters write them out, x * clip(x + 3, 0, 6) / 6, become one operator. */
#include <math.h>

#include "core/passes/rewrite.h"

xpu_status xpu_one_number(const xpu_graph *graph, xpu_value value, float *number, int *is_one, xpu_diags *diags) {
    int64_t dims[XPU_MAX_RANK], count = 1;
    *is_one = 0;
    if (!xpu_is_constant(graph, value) || xpu_value_at(graph, value)->dtype != XPU_F32) return XPU_OK;
    if (!xpu_value_dims(graph, value, NULL, dims)) return XPU_OK;
    for (int i = 0; i < xpu_value_at(graph, value)->rank; i++) count *= dims[i];
    if (count != 1) return XPU_OK;
    xpu_arena *arena = xpu_arena_new(xpu_arena_mem(graph->arena), "number");
    xpu_tensor tensor;
    xpu_status status = xpu_const_tensor(graph, value, arena, &tensor, diags);
    if (status == XPU_OK) {
        *number = *(const float *)tensor.data;
        *is_one = 1;
    }
    xpu_arena_free(arena);
    return status;
}

/* Whether the node is op(a, number), or of sums and products op(number, a); *a. */
static int has_number(const xpu_graph *graph, xpu_node node, xpu_op_id op, float wanted, xpu_value *a,
                      xpu_diags *diags) {
    if (!node.id || !xpu_node_is(graph, node, op)) return 0;
    for (uint32_t i = 0; i < (op == XPU_OP_DIV ? 1u : 2u); i++) {
        float number;
        int is_one;
        xpu_status status = xpu_one_number(graph, xpu_node_input(graph, node, 1 - i), &number, &is_one, diags);
        if (status != XPU_OK || !is_one || fabsf(number - wanted) > 1e-6f * wanted) continue;
        *a = xpu_node_input(graph, node, i);
        return 1;
    }
    return 0;
}

static int is_sixth(const xpu_graph *graph, xpu_value value, xpu_value *of, xpu_diags *diags) {
    xpu_node node = xpu_value_maker(graph, value);
    return has_number(graph, node, XPU_OP_DIV, 6.0f, of, diags) ||
           has_number(graph, node, XPU_OP_MUL, 1.0f / 6.0f, of, diags);
}

/* Whether `value` is clip(x + 3, 0, 6). */
static int is_gate(const xpu_graph *graph, xpu_value value, xpu_value x, xpu_diags *diags) {
    xpu_node clip = xpu_value_maker(graph, value);
    xpu_value shifted;
    if (!clip.id || !xpu_node_is(graph, clip, XPU_OP_CLIP)) return 0;
    if (xpu_node_float(graph, clip, XPU_ATTR_LOW) != 0.0f || xpu_node_float(graph, clip, XPU_ATTR_HIGH) != 6.0f)
        return 0;
    return has_number(graph, xpu_value_maker(graph, xpu_node_input(graph, clip, 0)), XPU_OP_ADD, 3.0f, &shifted,
                      diags) &&
           shifted.id == x.id;
}

/* Whether `value` is clip(x + 3, 0, 6) / 6. */
static int is_small_gate(const xpu_graph *graph, xpu_value value, xpu_value x, xpu_diags *diags) {
    xpu_node maker = xpu_value_maker(graph, value);
    xpu_value gate;
    if (maker.id && xpu_node_is(graph, maker, XPU_OP_HARD_SIGMOID)) {
        return fabsf(xpu_node_float(graph, maker, XPU_ATTR_ALPHA) - 1.0f / 6.0f) < 1e-6f &&
               xpu_node_float(graph, maker, XPU_ATTR_BETA) == 0.5f && xpu_node_input(graph, maker, 0).id == x.id;
    }
    return is_sixth(graph, value, &gate, diags) && is_gate(graph, gate, x, diags);
}

/* The x of a product of x and its gate; {0}: it is none. */
static xpu_value gated(const xpu_graph *graph, xpu_node node, int small, xpu_diags *diags) {
    for (uint32_t i = 0; node.id && i < 2 && xpu_node_is(graph, node, XPU_OP_MUL); i++) {
        xpu_value x = xpu_node_input(graph, node, i), gate = xpu_node_input(graph, node, 1 - i);
        if ((small ? is_small_gate : is_gate)(graph, gate, x, diags)) return x;
    }
    return (xpu_value){0};
}

xpu_status xpu_find_hard_swish(xpu_graph *graph, xpu_node node, xpu_diags *diags) {
    size_t errors = diags->errors;
    xpu_value y = xpu_node_output(graph, node, 0), product;
    if (!xpu_node_is(graph, node, XPU_OP_MUL) && !xpu_node_is(graph, node, XPU_OP_DIV)) return XPU_OK;
    if (xpu_value_at(graph, y)->dtype != XPU_F32) return XPU_OK;
    xpu_value x = gated(graph, node, 1, diags);
    if (!x.id && is_sixth(graph, y, &product, diags)) x = gated(graph, xpu_value_maker(graph, product), 0, diags);
    if (diags->errors != errors) return xpu_diags_status(diags);
    if (!x.id || !xpu_value_same_shape(graph, x, y)) return XPU_OK;
    xpu_rewrite(graph, node, XPU_OP_HARD_SWISH, &x, 1, NULL, 0);
    return xpu_op_infer(graph, node, diags);
}
