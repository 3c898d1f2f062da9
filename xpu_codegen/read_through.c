#include "xpu_codegen/read_through.h"

#include "core/ops/window.h"
#include "xpu_codegen/image_chain.h"
#include "xpu_codegen/quantised_input.h"
#include "xpu_codegen/shuffle.h"
#include "xpu_runtime/include/xpu_tiling.h"

/* Whether both shapes are the same but for dims of 1. */
static int differ_by_ones(const xpu_codegen *cg, xpu_value a, xpu_value b) {
    const xpu_value_info *x = xpu_value_at(cg->graph, a), *y = xpu_value_at(cg->graph, b);
    int i = 0, k = 0;
    for (;;) {
        while (i < x->rank && xpu_is_one(cg, x->dims[i])) i++;
        while (k < y->rank && xpu_is_one(cg, y->dims[k])) k++;
        if (i == x->rank || k == y->rank) return i == x->rank && k == y->rank;
        if (!xpu_dim_equal(x->dims[i++], y->dims[k++])) return 0;
    }
}

static int is_read_by_concats(xpu_codegen *cg, xpu_value value, xpu_block block) {
    const xpu_value_info *info = xpu_value_at(cg->graph, value);
    if (xpu_value_leaves(cg->graph, value) || !info->uses.count || !xpu_is_linear(cg, value)) return 0;
    for (uint32_t i = 0; i < info->uses.count; i++) {
        xpu_node user = info->uses.items[i].node;
        const xpu_value y = xpu_node_output(cg->graph, user, 0);
        if (xpu_on_host(cg, user) || xpu_node_at(cg->graph, user)->parent.id != block.id) return 0;
        if (xpu_node_is(cg->graph, user, XPU_OP_CONCAT)) {
            const xpu_extent *extent = xpu_extent_of(cg, y);
            int is_there = info->uses.items[i].input == 0 && extent && extent->is_appended;
            if (is_there || xpu_value_at(cg->graph, y)->layout != XPU_LAYOUT_LINEAR) return 0;
        } else if (!xpu_node_is(cg->graph, user, XPU_OP_RESHAPE) || !differ_by_ones(cg, value, y) ||
                   !is_read_by_concats(cg, y, block)) {
            return 0;
        }
    }
    return 1;
}

/* Whether products of few rows by computed matrices alone read the value, as their second operand. */
static int is_read_by_few_rows(xpu_codegen *cg, xpu_value value, xpu_block block) {
    const xpu_value_info *info = xpu_value_at(cg->graph, value);
    if (xpu_value_leaves(cg->graph, value) || !info->uses.count) return 0;
    for (uint32_t i = 0; i < info->uses.count; i++) {
        xpu_node user = info->uses.items[i].node;
        if (xpu_on_host(cg, user) || xpu_node_at(cg->graph, user)->parent.id != block.id) return 0;
        if (!xpu_node_is(cg->graph, user, XPU_OP_MATMUL) || info->uses.items[i].input != XPU_IN_W) return 0;
        xpu_value x = xpu_node_input(cg->graph, user, XPU_IN_X);
        int rank = xpu_value_at(cg->graph, x)->rank;
        if (rank < 2 || xpu_dim_upper(cg, xpu_value_dim(cg, x, rank - 2)) > XPU_FEW_ROWS) return 0;
    }
    return 1;
}

/* Whether it swaps the last two dims and leaves the others. */
static int is_matrix_transpose(const xpu_codegen *cg, xpu_node node) {
    uint32_t rank;
    const int64_t *perm = xpu_node_ints(cg->graph, node, XPU_ATTR_PERM, &rank);
    for (uint32_t i = 0; i + 2 < rank; i++) {
        if (perm[i] != (int64_t)i) return 0;
    }
    return rank >= 2 && perm[rank - 1] == (int64_t)rank - 2;
}

/* Whether a node reads the value as the branch of a convolution on the tensor engine in 16 bits. */
static int is_branch(xpu_codegen *cg, xpu_use use) {
    if (!xpu_node_is(cg->graph, use.node, XPU_OP_CONV) || use.input != XPU_IN_BRANCH) return 0;
    if (xpu_node_int(cg->graph, use.node, XPU_ATTR_PRECISION) == XPU_PRECISION_FP32) return 0;
    const xpu_window window = xpu_window_of(cg->graph, use.node);
    return window.groups == 1;
}

/* Whether concats of channel-last images, chains over such images and convolutions, as branch, alone read the value. */
static int is_read_as_level(xpu_codegen *cg, xpu_value value, xpu_block block) {
    const xpu_value_info *info = xpu_value_at(cg->graph, value);
    if (xpu_value_leaves(cg->graph, value) || !info->uses.count) return 0;
    for (uint32_t i = 0; i < info->uses.count; i++) {
        xpu_node user = info->uses.items[i].node;
        if (xpu_on_host(cg, user) || xpu_node_at(cg->graph, user)->parent.id != block.id) return 0;
        if (xpu_node_is(cg->graph, user, XPU_OP_CONCAT)) {
            if (xpu_value_at(cg->graph, xpu_node_output(cg->graph, user, 0))->layout != XPU_LAYOUT_CHANNEL_LAST)
                return 0;
        } else if (!xpu_image_chain_of(cg, user, NULL) && !is_branch(cg, info->uses.items[i])) {
            return 0;
        }
    }
    return 1;
}

int xpu_is_read_through(xpu_codegen *cg, xpu_node node) {
    xpu_shuffle shuffle;
    if (xpu_shuffles_image(cg, node, &shuffle))
        return node.id != shuffle.join.id || xpu_is_shuffle_sliced(cg, &shuffle);
    if (xpu_is_quantised_in_load(cg, node)) return 1;
    const int is_slice = xpu_node_is(cg->graph, node, XPU_OP_SLICE);
    const int is_transpose = xpu_node_is(cg->graph, node, XPU_OP_TRANSPOSE);
    if (!is_slice && !is_transpose && !xpu_repeats_pixels(cg, node)) return 0;
    if (!xpu_on_chip(cg, node)) return 0;
    xpu_value x = xpu_node_input(cg->graph, node, 0), y = xpu_node_output(cg->graph, node, 0);
    xpu_block block = xpu_node_at(cg->graph, node)->parent;
    if (xpu_is_empty(cg, y)) return 0;
    if (!is_slice && !is_transpose) return is_read_as_level(cg, y, block);
    if (!xpu_is_linear(cg, x)) return 0;
    if (is_slice) return is_read_by_concats(cg, y, block);
    if (xpu_has_gaps(cg, x) && xpu_extent_of(cg, x)->axis != xpu_value_at(cg->graph, x)->rank - 2) return 0;
    return !xpu_is_const_value(cg, x) && is_matrix_transpose(cg, node) && is_read_by_few_rows(cg, y, block);
}

xpu_value xpu_untransposed(xpu_codegen *cg, xpu_value value) {
    const xpu_value_info *info = xpu_value_at(cg->graph, value);
    if (info->kind != XPU_VALUE_NODE || !xpu_node_is(cg->graph, info->node, XPU_OP_TRANSPOSE)) return (xpu_value){0};
    return xpu_is_read_through(cg, info->node) ? xpu_node_input(cg->graph, info->node, 0) : (xpu_value){0};
}
