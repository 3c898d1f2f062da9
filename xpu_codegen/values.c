/* Values: which share memory. */
#include "xpu_codegen/values.h"

#include <string.h>

#include "xpu_codegen/shuffle.h"

/* Whether each element of a permutation stands where it stood: result dim i is operand dim perm[i]. */
static int keeps_place(xpu_codegen *cg, xpu_value x, xpu_value y, const int64_t *perm) {
    xpu_dim from[XPU_MAX_RANK], to[XPU_MAX_RANK];
    xpu_value_strides(cg, x, from);
    xpu_value_strides(cg, y, to);
    const xpu_value_info *info = xpu_value_at(cg->graph, y);
    for (int i = 0; i < info->rank; i++) {
        if (!xpu_is_one(cg, info->dims[i]) && !xpu_dim_equal(to[i], from[perm ? perm[i] : i])) return 0;
    }
    return 1;
}

/* Whether `output` is a state whose elements another state has, too. */
static int is_twice_a_state(const xpu_codegen *cg, xpu_value output) {
    const xpu_graph *g = cg->graph;
    int is_state = 0, same = 0;
    xpu_value base = xpu_same_elements(cg, output);
    for (uint32_t i = 0; i < g->states.count; i++) {
        xpu_value other = g->outputs.items[g->states.items[i].output];
        is_state |= other.id == output.id;
        same += xpu_same_elements(cg, other).id == base.id;
    }
    return is_state && same > 1;
}

int xpu_is_view(xpu_codegen *cg, xpu_node node) {
    xpu_op_id op = xpu_op_id_of(xpu_node_at(cg->graph, node)->op);
    if (xpu_on_host(cg, node)) return 0;
    if (!xpu_node_has(cg->graph, node, XPU_TRAIT_VIEW)) return 0;
    xpu_value x = xpu_node_input(cg->graph, node, 0), y = xpu_node_output(cg->graph, node, 0);
    if (xpu_has_gaps(cg, x)) return 0;
    if (op == XPU_OP_RESHAPE) {
        if (xpu_shuffles_image(cg, node, NULL)) return 0;
        int is_flat = xpu_is_linear(cg, x) && xpu_is_linear(cg, y);
        int is_image = xpu_value_at(cg->graph, y)->layout == XPU_LAYOUT_CHANNEL_LAST && xpu_keeps_pixels(cg, x, y);
        if (!is_flat && !is_image) return 0;
    } else {
        const int64_t *perm = op == XPU_OP_TRANSPOSE ? xpu_node_ints(cg->graph, node, XPU_ATTR_PERM, NULL) : NULL;
        if (!keeps_place(cg, x, y, perm)) return 0;
    }
    /* An output of the program has memory of its own; so have two states of the same elements. */
    if (!xpu_value_at(cg->graph, y)->is_output) return 1;
    if (is_twice_a_state(cg, y)) return 0;
    return xpu_value_at(cg->graph, xpu_value_root(cg, x))->kind == XPU_VALUE_NODE;
}

int xpu_value_leaves_program(const xpu_codegen *cg, xpu_value value) {
    const xpu_value_info *info = xpu_value_at(cg->graph, value);
    if (xpu_value_leaves(cg->graph, value)) return 1;
    for (uint32_t i = 0; i < info->uses.count; i++) {
        xpu_node user = info->uses.items[i].node;
        if (!xpu_on_chip(cg, user) || xpu_node_at(cg->graph, user)->block_count) return 1;
        int moves = xpu_node_has(cg->graph, user, XPU_TRAIT_VIEW) || xpu_node_is(cg->graph, user, XPU_OP_SLICE);
        if (moves && xpu_value_leaves_program(cg, xpu_node_output(cg->graph, user, 0))) return 1;
    }
    return 0;
}

/* Whether the elements of both values lie in the same order, dims as in *layout. */
static int lie_alike(const xpu_codegen *cg, xpu_value a, xpu_value b, xpu_layout *layout) {
    const xpu_value_info *x = xpu_value_at(cg->graph, a), *y = xpu_value_at(cg->graph, b);
    *layout = XPU_LAYOUT_LINEAR;
    if (xpu_is_linear(cg, a) && xpu_is_linear(cg, b)) return 1;
    *layout = x->layout;
    return x->layout == y->layout && x->rank == y->rank;
}

/* Whether a box `part` of a value is one run: behind dims of which it has one index come one of which it has several
 * neighbours, and then whole ones. `by`: its steps, NULL where they are 1. */
static int is_run(const xpu_codegen *cg, xpu_value whole, xpu_value part, xpu_layout layout, const int64_t *by) {
    const xpu_value_info *x = xpu_value_at(cg->graph, whole), *y = xpu_value_at(cg->graph, part);
    int several = 0, order[XPU_MAX_RANK];
    xpu_storage_order(layout, y->rank, order);
    for (int d = 0; d < y->rank; d++) {
        const int i = order[d];
        if (several && !xpu_dim_equal(x->dims[i], y->dims[i])) return 0;
        if (xpu_is_one(cg, y->dims[i])) continue;
        if (by && by[i] != 1) return 0;
        several = 1;
    }
    return 1;
}

int xpu_is_part(xpu_codegen *cg, xpu_node node, xpu_dim *offset) {
    if (!xpu_node_is(cg->graph, node, XPU_OP_SLICE) || !xpu_on_chip(cg, node)) return 0;
    xpu_value x = xpu_node_input(cg->graph, node, 0), y = xpu_node_output(cg->graph, node, 0);
    xpu_value root = xpu_value_root(cg, x);
    const xpu_value_info *whole = xpu_value_at(cg->graph, root);
    xpu_layout layout;
    if (whole->kind != XPU_VALUE_NODE || xpu_has_gaps(cg, x) || !lie_alike(cg, x, y, &layout)) return 0;
    if (xpu_on_host(cg, whole->node) || xpu_value_block(cg->graph, root).id != xpu_value_block(cg->graph, y).id)
        return 0;
    if (xpu_node_at(cg->graph, whole->node)->block_count || xpu_value_leaves_program(cg, y)) return 0;
    if (!is_run(cg, x, y, layout, xpu_node_ints(cg->graph, node, XPU_ATTR_BY, NULL))) return 0;
    if (xpu_dtype_bytes(whole->dtype) < 4 || xpu_is_empty(cg, y)) return 0;
    const xpu_attr *starts = xpu_node_attr(cg->graph, node, XPU_ATTR_STARTS);
    xpu_dim strides[XPU_MAX_RANK], first = xpu_dim_of(cg, 0);
    xpu_value_strides(cg, x, strides);
    for (int i = 0; i < xpu_value_at(cg->graph, x)->rank; i++)
        first = xpu_dim_add(&cg->graph->dims, first, xpu_dim_mul(&cg->graph->dims, starts->dims[i], strides[i]));
    if (offset) *offset = first;
    return !xpu_dim_is_dynamic(cg->graph, first); /* addresses are known when the run begins */
}

/* How many operands of concats are the value or a view of it; the last such concat. */
static uint32_t find_concats(xpu_codegen *cg, xpu_value value, xpu_node *concat) {
    const xpu_value_info *info = xpu_value_at(cg->graph, value);
    uint32_t count = 0;
    for (uint32_t i = 0; i < info->uses.count; i++) {
        const xpu_node user = info->uses.items[i].node;
        if (xpu_node_is(cg->graph, user, XPU_OP_CONCAT)) {
            *concat = user;
            count++;
        } else if (!xpu_is_foreign(cg, user) && xpu_is_view(cg, user)) {
            count += find_concats(cg, xpu_node_output(cg->graph, user, 0), concat);
        }
    }
    return count;
}

/* Whether a layer of the same block can make operand x, or what x is a view of, in its place in y. */
static int is_made_in_place(xpu_codegen *cg, xpu_value x, xpu_value y) {
    const xpu_value root = xpu_value_root(cg, x);
    const xpu_value_info *info = xpu_value_at(cg->graph, root);
    xpu_layout layout;
    xpu_node concat;
    if (info->kind != XPU_VALUE_NODE || xpu_extent_of(cg, root) || xpu_has_gaps(cg, x)) return 0;
    if (!lie_alike(cg, x, y, &layout) || !is_run(cg, y, x, layout, NULL) || xpu_is_empty(cg, x)) return 0;
    const xpu_node_info *maker = xpu_node_at(cg->graph, info->node);
    if (xpu_on_host(cg, info->node) || maker->block_count || xpu_value_leaves_program(cg, root)) return 0;
    if (xpu_value_block(cg->graph, root).id != xpu_value_block(cg->graph, y).id) return 0;
    const xpu_op_id op = xpu_op_id_of(maker->op);
    if (op == XPU_OP_CONCAT || op == XPU_OP_SLICE || op == XPU_OP_REPEAT || op == XPU_OP_TRANSPOSE) return 0;
    return find_concats(cg, root, &concat) == 1;
}

int xpu_is_among_channels(const xpu_codegen *cg, xpu_value x, xpu_value y) {
    const xpu_extent *extent = xpu_extent_of(cg, x);
    return extent && extent->whole.id && extent->whole.id == y.id;
}

static int has_all_channels(const xpu_codegen *cg, xpu_node concat) {
    const xpu_value y = xpu_node_output(cg->graph, concat, 0);
    for (uint32_t i = 0; i < xpu_node_at(cg->graph, concat)->input_count; i++)
        if (!xpu_is_among_channels(cg, xpu_node_input(cg->graph, concat, i), y)) return 0;
    return 1;
}

int xpu_is_joined(xpu_codegen *cg, xpu_node node) {
    if (!xpu_node_is(cg->graph, node, XPU_OP_CONCAT) || !xpu_on_chip(cg, node)) return 0;
    if (has_all_channels(cg, node)) return 1;
    const xpu_value y = xpu_node_output(cg->graph, node, 0);
    if (xpu_dtype_bytes(xpu_value_at(cg->graph, y)->dtype) < 4 || xpu_extent_of(cg, y)) return 0;
    if (xpu_value_leaves_program(cg, y)) return 0;
    for (uint32_t i = 0; i < xpu_node_at(cg->graph, node)->input_count; i++) {
        const xpu_value x = xpu_node_input(cg->graph, node, i);
        if (!is_made_in_place(cg, x, y)) return 0;
        for (int d = 0; d < xpu_value_at(cg->graph, x)->rank; d++)
            if (xpu_dim_is_dynamic(cg->graph, xpu_value_dim(cg, x, d))) return 0;
    }
    return 1;
}

xpu_value xpu_joined_whole(xpu_codegen *cg, xpu_value value, xpu_dim *offset) {
    xpu_node concat;
    const xpu_value none = {0}, root = xpu_value_root(cg, value);
    const xpu_extent *extent = xpu_extent_of(cg, root);
    if (extent && extent->whole.id) {
        if (offset) *offset = xpu_dim_of(cg, extent->first); /* channels are the innermost dim */
        return extent->whole;
    }
    if (find_concats(cg, root, &concat) != 1 || !xpu_is_joined(cg, concat)) return none;
    const xpu_value y = xpu_node_output(cg->graph, concat, 0);
    const int axis = (int)xpu_node_int(cg->graph, concat, XPU_ATTR_AXIS);
    xpu_dim strides[XPU_MAX_RANK], before = xpu_dim_of(cg, 0);
    xpu_value_strides(cg, y, strides);
    for (uint32_t i = 0; xpu_value_root(cg, xpu_node_input(cg->graph, concat, i)).id != root.id; i++) {
        const xpu_value x = xpu_node_input(cg->graph, concat, i);
        before = xpu_dim_add(&cg->graph->dims, before, xpu_value_dim(cg, x, axis));
    }
    if (offset) *offset = xpu_dim_mul(&cg->graph->dims, before, strides[axis]);
    return y;
}

xpu_value xpu_value_root(xpu_codegen *cg, xpu_value value) {
    for (;;) {
        const xpu_value_info *info = xpu_value_at(cg->graph, value);
        if (info->kind != XPU_VALUE_NODE || !xpu_is_view(cg, info->node)) return value;
        value = xpu_node_input(cg->graph, info->node, 0);
    }
}

xpu_value xpu_same_elements(const xpu_codegen *cg, xpu_value value) {
    for (;;) {
        const xpu_value_info *info = xpu_value_at(cg->graph, value);
        if (info->kind != XPU_VALUE_NODE) return value;
        if (!xpu_node_has(cg->graph, info->node, XPU_TRAIT_VIEW)) return value;
        value = xpu_node_input(cg->graph, info->node, 0);
    }
}

int xpu_is_plain_product(const xpu_codegen *cg, xpu_node node) {
    return xpu_node_is(cg->graph, node, XPU_OP_MATMUL) && !xpu_node_input(cg->graph, node, XPU_IN_BIAS).id &&
           !xpu_node_input(cg->graph, node, XPU_IN_BRANCH).id &&
           xpu_node_int(cg->graph, node, XPU_ATTR_ACTIVATION) == XPU_ACTIVATION_NONE;
}

/* ---- fills ---- */

int xpu_pad_word(xpu_dtype dtype, float value, float *word) {
    unsigned char element[XPU_ELEMENT_BYTES], repeated[XPU_ELEMENT_BYTES];
    size_t bytes = xpu_dtype_bytes(dtype);
    if (!xpu_dtype_element(dtype, value, element)) return 0;
    for (size_t i = 0; i < sizeof repeated; i++) repeated[i] = element[i % bytes];
    memcpy(word, repeated, sizeof *word);
    return memcmp(repeated, repeated + sizeof *word, sizeof *word) == 0;
}
