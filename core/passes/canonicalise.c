/* Simplifications that change no result: what does nothing goes, what does the same twice is done once. */
#include <string.h>

#include "core/ops/window.h"
#include "core/passes/control.h"
#include "core/passes/cse.h"
#include "core/passes/passes.h"
#include "core/passes/rewrite.h"

/* Each takes a node of its operator and returns 1 when it changed the graph. */
typedef int (*simplification)(xpu_graph *graph, xpu_node node, xpu_diags *diags);

static int drop_identity(xpu_graph *graph, xpu_node node, xpu_diags *diags) {
    (void)diags;
    return xpu_replace_node(graph, node, xpu_node_input(graph, node, 0));
}

static int drop_single_concat(xpu_graph *graph, xpu_node node, xpu_diags *diags) {
    if (xpu_node_at(graph, node)->input_count != 1) return 0;
    return drop_identity(graph, node, diags);
}

static int simplify_reshape(xpu_graph *graph, xpu_node node, xpu_diags *diags) {
    if (xpu_value_same_shape(graph, xpu_node_input(graph, node, 0), xpu_node_output(graph, node, 0)) &&
        drop_identity(graph, node, diags)) {
        return 1;
    }
    xpu_node maker = xpu_maker(graph, node, 0);
    if (!maker.id || !xpu_node_is(graph, maker, XPU_OP_RESHAPE)) return 0;
    xpu_node_set_input(graph, node, 0, xpu_node_input(graph, maker, 0));
    xpu_op_infer(graph, node, diags);
    return 1;
}

/* The order in memory does not change: only dims of size 1 move. */
static int moves_nothing(const xpu_graph *graph, xpu_value operand, const int64_t *perm, uint32_t count) {
    const xpu_value_info *info = xpu_value_at(graph, operand);
    int64_t last = -1, size;
    for (uint32_t i = 0; i < count; i++) {
        if (xpu_dim_is_const(&graph->dims, info->dims[perm[i]], &size) && size == 1) continue;
        if (perm[i] < last) return 0;
        last = perm[i];
    }
    return 1;
}

static int simplify_transpose(xpu_graph *graph, xpu_node node, xpu_diags *diags) {
    uint32_t count;
    const int64_t *perm = xpu_node_ints(graph, node, XPU_ATTR_PERM, &count);
    xpu_value operand = xpu_node_input(graph, node, 0);
    uint32_t in_place = 0;
    while (in_place < count && perm[in_place] == in_place) in_place++;
    if (in_place == count && drop_identity(graph, node, diags)) return 1;
    xpu_node maker = xpu_maker(graph, node, 0);
    if (maker.id && xpu_node_is(graph, maker, XPU_OP_TRANSPOSE)) {
        const int64_t *first = xpu_node_ints(graph, maker, XPU_ATTR_PERM, NULL);
        int64_t both[XPU_MAX_RANK];
        for (uint32_t i = 0; i < count; i++) both[i] = first[perm[i]];
        xpu_node_set_attr(graph, node, &XPU_ATTR_INTS_OF(PERM, both, count));
        xpu_node_set_input(graph, node, 0, xpu_node_input(graph, maker, 0));
        xpu_op_infer(graph, node, diags);
        return 1;
    }
    if (!moves_nothing(graph, operand, perm, count)) return 0;
    xpu_dim dims[XPU_MAX_RANK];
    memcpy(dims, xpu_value_at(graph, xpu_node_output(graph, node, 0))->dims, sizeof dims);
    xpu_rewrite(graph, node, XPU_OP_RESHAPE, &operand, 1, &XPU_ATTR_DIMS_OF(SHAPE, dims, count), 1);
    xpu_op_infer(graph, node, diags);
    return 1;
}

static int drop_empty_pad(xpu_graph *graph, xpu_node node, xpu_diags *diags) {
    uint32_t count;
    const int64_t *pads = xpu_node_ints(graph, node, XPU_ATTR_PADS, &count);
    for (uint32_t i = 0; i < count; i++) {
        if (pads[i]) return 0;
    }
    return drop_identity(graph, node, diags);
}

/* Adds the zeros that `pad` puts around the spatial dims to the window's padding. 0 where it adds something else. */
static int add_zero_pads(const xpu_graph *graph, xpu_node pad, xpu_window *window) {
    uint32_t count;
    const int64_t *all = xpu_node_ints(graph, pad, XPU_ATTR_PADS, &count);
    int rank = XPU_WINDOW_AXES - window->first + 2;
    if ((int)count != 2 * rank || strcmp(xpu_node_string(graph, pad, XPU_ATTR_MODE), "constant") != 0 ||
        xpu_node_float(graph, pad, XPU_ATTR_VALUE) != 0) {
        return 0;
    }
    for (int dim = 0; dim < rank; dim++) {
        int64_t begin = all[dim], end = all[rank + dim];
        if (begin < 0 || end < 0 || (dim < 2 && (begin || end))) return 0;
        if (dim < 2) continue;
        window->begin[window->first + dim - 2] += begin;
        window->end[window->first + dim - 2] += end;
    }
    return 1;
}

/* A sum that skips the taps on its padding is the same as one over added zeros (a zero's sign apart). */
static int absorb_pad(xpu_graph *graph, xpu_node node, int counts_pads, xpu_diags *diags) {
    xpu_node pad = xpu_maker(graph, node, 0);
    if (!pad.id || !xpu_node_is(graph, pad, XPU_OP_PAD)) return 0;
    const xpu_window own = xpu_window_of(graph, node);
    xpu_window window = own;
    if (!add_zero_pads(graph, pad, &window)) return 0;
    for (int axis = own.first; counts_pads && axis < XPU_WINDOW_AXES; axis++) {
        int64_t most = xpu_window_extent(&own, axis) - 1;
        if (own.begin[axis] || own.end[axis] || window.begin[axis] > most || window.end[axis] > most) return 0;
    }
    if (counts_pads) xpu_node_set_attr(graph, node, &XPU_ATTR_INT_OF(COUNT_INCLUDE_PAD, 1));
    xpu_window_set_pads(graph, node, &window);
    xpu_node_set_input(graph, node, 0, xpu_node_input(graph, pad, 0));
    xpu_node_remove(graph, pad);
    xpu_op_infer(graph, node, diags);
    return 1;
}

static int pad_into_conv(xpu_graph *graph, xpu_node node, xpu_diags *diags) {
    return absorb_pad(graph, node, 0, diags);
}

static int pad_into_average(xpu_graph *graph, xpu_node node, xpu_diags *diags) {
    return !xpu_node_int(graph, node, XPU_ATTR_CEIL_MODE) && absorb_pad(graph, node, 1, diags);
}

/* Whether the host or the device has to read data for it. */
static int is_of_shapes(const xpu_graph *graph, xpu_dim dim, uint8_t *seen) {
    int only = 1;
    xpu_dim_find_symbols(&graph->dims, dim, seen);
    for (uint32_t i = 0; i < graph->dims.symbols.count; i++) only &= !seen[i] || !graph->dims.symbols.items[i].value.id;
    return only;
}

/* What shapes decide is computed by nobody. */
static int put_known(xpu_graph *graph, xpu_node node, xpu_diags *diags) {
    const xpu_node_info *info = xpu_node_at(graph, node);
    const xpu_value_info y = *xpu_value_at(graph, xpu_node_output(graph, node, 0));
    if (!y.known || y.constant || info->output_count != 1 || info->block_count || !info->input_count) return 0;
    if (y.dtype != XPU_I64 && y.dtype != XPU_I32 && y.dtype != XPU_BOOL) return 0;
    xpu_arena *arena = xpu_arena_new(xpu_arena_mem(graph->arena), "known");
    uint8_t *seen = XPU_NEW_ARRAY(arena, uint8_t, graph->dims.symbols.count + 1);
    xpu_dim dims[XPU_MOST_KNOWN];
    int all = y.known->count <= XPU_MOST_KNOWN;
    for (uint32_t i = 0; all && i < y.known->count; i++) {
        dims[i] = y.known->items[i].dim;
        all = dims[i].id && y.known->items[i].over == 1 && is_of_shapes(graph, dims[i], seen);
    }
    xpu_arena_free(arena);
    if (!all) return 0;
    xpu_attr attrs[] = {XPU_ATTR_DIMS_OF(VALUES, dims, y.known->count),
                        XPU_ATTR_DIMS_OF(SHAPE, y.dims, (uint32_t)y.rank), XPU_ATTR_INT_OF(DTYPE, y.dtype)};
    xpu_rewrite(graph, node, XPU_OP_DIM_VALUES, NULL, 0, attrs, 3);
    xpu_op_infer(graph, node, diags);
    return 1;
}

/* A function of each element before the elements of several convolutions are put together: it may become a part of
 * them. One that does not is worth no layer for each. */
static int compute_before_interleave(xpu_graph *graph, xpu_node node, xpu_diags *diags) {
    const xpu_node_info *info = xpu_node_at(graph, node);
    if (info->op->elementwise < 0 || info->input_count != 1 || info->output_count != 1) return 0;
    xpu_node interleave = xpu_maker(graph, node, 0);
    if (!interleave.id || !xpu_node_is(graph, interleave, XPU_OP_INTERLEAVE) || !xpu_used_once(graph, interleave) ||
        !xpu_same_block(graph, node, interleave))
        return 0;
    xpu_op_id op = xpu_op_id_of(info->op);
    uint32_t count = xpu_node_at(graph, interleave)->input_count;
    int is_activation = op == XPU_OP_RELU || op == XPU_OP_CLIP || op == XPU_OP_LEAKY_RELU;
    int is_float = xpu_value_at(graph, xpu_node_output(graph, node, 0))->dtype == XPU_F32;
    if ((count > 1 && !is_activation) || !is_float) return 0;
    for (uint32_t i = 0; i < count; i++) {
        xpu_value x = xpu_node_input(graph, interleave, i);
        info = xpu_node_at(graph, node);
        xpu_node part = xpu_build(graph, interleave, op, &x, 1, NULL, info->attrs.items, info->attrs.count,
                                  info->origins.items, info->origins.count, diags);
        xpu_node_set_input(graph, interleave, i, xpu_node_output(graph, part, 0));
    }
    xpu_absorb(graph, node, interleave);
    xpu_op_infer(graph, node, diags);
    return 1;
}

static const struct {
    xpu_op_id op;
    simplification apply;
} simplifications[] = {
    {XPU_OP_IDENTITY, drop_identity},        {XPU_OP_CONCAT, drop_single_concat}, {XPU_OP_RESHAPE, simplify_reshape},
    {XPU_OP_TRANSPOSE, simplify_transpose},  {XPU_OP_PAD, drop_empty_pad},        {XPU_OP_CONV, pad_into_conv},
    {XPU_OP_AVERAGE_POOL, pad_into_average}, {XPU_OP_IF, xpu_decide_if},          {XPU_OP_LOOP, xpu_decide_loop},
    {XPU_OP_GATHER, xpu_gather_as_slice},
};

static int simplify(xpu_graph *graph, xpu_node node, xpu_diags *diags) {
    if (put_known(graph, node, diags) || compute_before_interleave(graph, node, diags)) return 1;
    for (size_t i = 0; i < sizeof simplifications / sizeof *simplifications; i++) {
        if (!xpu_node_is(graph, node, simplifications[i].op)) continue;
        return simplifications[i].apply(graph, node, diags);
    }
    return 0;
}

xpu_status xpu_pass_canonicalise(xpu_graph *graph, xpu_diags *diags) {
    size_t errors = diags->errors;
    int changed;
    do {
        changed = 0;
        XPU_FOR_BLOCKS(graph, block) {
            for (xpu_node node = xpu_block_at(graph, block)->first, next; node.id; node = next) {
                next = xpu_node_next(graph, node);
                changed |= simplify(graph, node, diags);
            }
        }
        changed |= xpu_merge_equal_nodes(graph) > 0;
        xpu_remove_dead(graph);
    } while (changed && diags->errors == errors);
    return xpu_diags_since(diags, errors);
}
