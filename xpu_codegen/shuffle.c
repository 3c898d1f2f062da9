#include "xpu_codegen/shuffle.h"

/* How the dims of one value are the products of neighbouring dims of another: for each of those the dim that it is a
 * factor of, and how many of that dim's indices lie between two of its own. */
typedef struct {
    int owner[XPU_MAX_RANK];
    xpu_dim step[XPU_MAX_RANK];
} factors;

static int find_factors(xpu_codegen *cg, xpu_value whole, xpu_value split, factors *f) {
    const xpu_value_info *w = xpu_value_at(cg->graph, whole), *s = xpu_value_at(cg->graph, split);
    xpu_dims *dims = &cg->graph->dims;
    int next = 0;
    for (int i = 0; i < w->rank; i++) {
        xpu_dim product = xpu_dim_of(cg, 1);
        const int first = next;
        while (!xpu_dim_equal(product, w->dims[i])) {
            if (next == s->rank) return 0;
            product = xpu_dim_mul(dims, product, s->dims[next]);
            f->owner[next++] = i;
        }
        xpu_dim step = xpu_dim_of(cg, 1);
        for (int k = next; k-- > first;) {
            f->step[k] = step;
            step = xpu_dim_mul(dims, step, s->dims[k]);
        }
    }
    for (; next < s->rank; next++) {
        if (!xpu_is_one(cg, s->dims[next]) || !w->rank) return 0;
        f->owner[next] = w->rank - 1;
        f->step[next] = xpu_dim_of(cg, 1);
    }
    return 1;
}

/* The node that makes the value, or the only one that reads it, where it is such an operator on the chip. */
static xpu_node neighbour(const xpu_codegen *cg, xpu_node node, xpu_op_id op, xpu_block block) {
    const xpu_node none = {0};
    if (!node.id || !xpu_node_is(cg->graph, node, op) || xpu_on_host(cg, node)) return none;
    return xpu_node_at(cg->graph, node)->parent.id == block.id ? node : none;
}

static xpu_node maker_of(const xpu_codegen *cg, xpu_node node, xpu_op_id op) {
    const xpu_value_info *x = xpu_value_at(cg->graph, xpu_node_input(cg->graph, node, 0));
    if (x->kind != XPU_VALUE_NODE) return (xpu_node){0};
    return neighbour(cg, x->node, op, xpu_node_at(cg->graph, node)->parent);
}

static xpu_node reader_of(const xpu_codegen *cg, xpu_node node, xpu_op_id op) {
    const xpu_value y = xpu_node_output(cg->graph, node, 0);
    const xpu_value_info *info = xpu_value_at(cg->graph, y);
    if (info->uses.count != 1 || info->uses.items[0].input != 0 || xpu_value_leaves(cg->graph, y)) return (xpu_node){0};
    return neighbour(cg, info->uses.items[0].node, op, xpu_node_at(cg->graph, node)->parent);
}

/* The transpose of the three that `node` would be one of, or 0. */
static xpu_node transpose_at(const xpu_codegen *cg, xpu_node node) {
    if (xpu_node_is(cg->graph, node, XPU_OP_TRANSPOSE)) return node;
    if (!xpu_node_is(cg->graph, node, XPU_OP_RESHAPE)) return (xpu_node){0};
    const xpu_node behind = reader_of(cg, node, XPU_OP_TRANSPOSE);
    return behind.id ? behind : maker_of(cg, node, XPU_OP_TRANSPOSE);
}

int xpu_find_shuffle(xpu_codegen *cg, xpu_node node, xpu_shuffle *shuffle) {
    if (!xpu_on_chip(cg, node)) return 0;
    const xpu_node transpose = transpose_at(cg, node);
    if (!transpose.id) return 0;
    xpu_shuffle s = {.split = maker_of(cg, transpose, XPU_OP_RESHAPE),
                     .transpose = transpose,
                     .join = reader_of(cg, transpose, XPU_OP_RESHAPE)};
    if (!s.split.id || !s.join.id || reader_of(cg, s.split, XPU_OP_TRANSPOSE).id != transpose.id) return 0;
    if (reader_of(cg, s.join, XPU_OP_TRANSPOSE).id) return 0; /* it is the split of the transpose behind it */
    s.x = xpu_node_input(cg->graph, s.split, 0);
    s.y = xpu_node_output(cg->graph, s.join, 0);
    factors f;
    if (xpu_is_const_value(cg, s.x) || xpu_is_empty(cg, s.y)) return 0;
    if (!find_factors(cg, s.x, xpu_node_output(cg->graph, s.split, 0), &f)) return 0;
    if (!find_factors(cg, s.y, xpu_node_output(cg->graph, transpose, 0), &f)) return 0;
    if (shuffle) *shuffle = s;
    return 1;
}

int xpu_shuffles_image(xpu_codegen *cg, xpu_node node, xpu_shuffle *shuffle) {
    xpu_shuffle s;
    if (!xpu_find_shuffle(cg, node, &s) || (xpu_is_linear(cg, s.x) && xpu_is_linear(cg, s.y))) return 0;
    if (shuffle) *shuffle = s;
    return 1;
}

/* ---- slices of channels of what is shuffled ---- */

enum { CHANNELS = 1 };

/* Of the dims between whose product the channels are, the outermost that has several indices; -1: there is none. */
static int outer_of_channels(const xpu_codegen *cg, const xpu_value_info *moved, const factors *of_y) {
    for (int k = 0; k < moved->rank; k++)
        if (of_y->owner[k] == CHANNELS && !xpu_is_one(cg, moved->dims[k])) return k;
    return -1;
}

/* The channels of a slice that takes whole steps of `step` channels, and all of the other dims. */
static int takes_whole_steps(const xpu_codegen *cg, xpu_node slice, xpu_dim step, int64_t *first, int64_t *count) {
    const xpu_value_info *x = xpu_value_at(cg->graph, xpu_node_input(cg->graph, slice, 0));
    const xpu_value_info *y = xpu_value_at(cg->graph, xpu_node_output(cg->graph, slice, 0));
    const xpu_attr *starts = xpu_node_attr(cg->graph, slice, XPU_ATTR_STARTS);
    const int64_t *by = xpu_node_ints(cg->graph, slice, XPU_ATTR_BY, NULL);
    const xpu_dims *dims = &cg->graph->dims;
    int64_t channels, start, whole;
    if (x->layout != y->layout || !xpu_dim_is_const(dims, step, &whole)) return 0;
    for (int i = 0; i < x->rank; i++) {
        if (by[i] != 1 || !xpu_dim_is_const(dims, starts->dims[i], &start)) return 0;
        if (i != CHANNELS && (start != 0 || !xpu_dim_equal(x->dims[i], y->dims[i]))) return 0;
        if (i == CHANNELS) *first = start;
    }
    if (!xpu_dim_is_const(dims, y->dims[CHANNELS], &channels)) return 0;
    *count = channels;
    return whole > 0 && *first % whole == 0 && channels % whole == 0 && channels > 0;
}

int xpu_is_shuffle_sliced(xpu_codegen *cg, const xpu_shuffle *shuffle) {
    const xpu_value_info *y = xpu_value_at(cg->graph, shuffle->y);
    const xpu_value moved = xpu_node_output(cg->graph, shuffle->transpose, 0);
    int64_t channels, taken = 0, first, count;
    factors of_y;
    if (y->rank < 3 || y->layout != XPU_LAYOUT_CHANNEL_LAST || xpu_is_linear(cg, shuffle->y)) return 0;
    if (xpu_value_leaves(cg->graph, shuffle->y) || !y->uses.count) return 0;
    if (!xpu_dim_is_const(&cg->graph->dims, y->dims[CHANNELS], &channels)) return 0;
    find_factors(cg, shuffle->y, moved, &of_y);
    const int outer = outer_of_channels(cg, xpu_value_at(cg->graph, moved), &of_y);
    if (outer < 0) return 0;
    for (uint32_t i = 0; i < y->uses.count; i++) {
        const xpu_node user = y->uses.items[i].node;
        if (!neighbour(cg, user, XPU_OP_SLICE, xpu_node_at(cg->graph, shuffle->join)->parent).id) return 0;
        if (xpu_is_foreign(cg, user) || !takes_whole_steps(cg, user, of_y.step[outer], &first, &count)) return 0;
        taken += count;
    }
    return taken <= channels; /* nothing is shuffled twice */
}

int xpu_slices_shuffle(xpu_codegen *cg, xpu_node slice, xpu_shuffle *shuffle) {
    const xpu_value_info *x = xpu_value_at(cg->graph, xpu_node_input(cg->graph, slice, 0));
    if (x->kind != XPU_VALUE_NODE || !xpu_shuffles_image(cg, x->node, shuffle)) return 0;
    return x->node.id == shuffle->join.id && xpu_is_shuffle_sliced(cg, shuffle);
}

int xpu_shuffle_box(xpu_codegen *cg, const xpu_shuffle *shuffle, xpu_node slice, xpu_dim *size, xpu_dim *from,
                    xpu_dim *to, xpu_dim *offset) {
    const xpu_value split = xpu_node_output(cg->graph, shuffle->split, 0);
    const xpu_value moved = xpu_node_output(cg->graph, shuffle->transpose, 0);
    const xpu_value result = slice.id ? xpu_node_output(cg->graph, slice, 0) : shuffle->y;
    const xpu_value_info *info = xpu_value_at(cg->graph, moved), *y = xpu_value_at(cg->graph, shuffle->y);
    const int64_t *perm = xpu_node_ints(cg->graph, shuffle->transpose, XPU_ATTR_PERM, NULL);
    xpu_dims *dims = &cg->graph->dims;
    xpu_dim x_strides[XPU_MAX_RANK], y_strides[XPU_MAX_RANK];
    int order[XPU_MAX_RANK], rank = 0;
    factors of_x, of_y;
    find_factors(cg, shuffle->x, split, &of_x);
    find_factors(cg, shuffle->y, moved, &of_y);
    xpu_value_strides(cg, shuffle->x, x_strides);
    xpu_value_strides(cg, result, y_strides);
    xpu_storage_order(y->layout, y->rank, order);
    const int outer = slice.id ? outer_of_channels(cg, info, &of_y) : -1;
    *offset = xpu_dim_of(cg, 0);
    for (int d = 0; d < y->rank; d++) {
        for (int k = 0; k < info->rank; k++) {
            if (of_y.owner[k] != order[d]) continue;
            size[rank] = info->dims[k];
            from[rank] = xpu_dim_mul(dims, x_strides[of_x.owner[perm[k]]], of_x.step[perm[k]]);
            to[rank] = xpu_dim_mul(dims, y_strides[of_y.owner[k]], of_y.step[k]);
            if (k == outer) {
                int64_t step = 1, first, count;
                xpu_dim_is_const(dims, of_y.step[k], &step);
                takes_whole_steps(cg, slice, of_y.step[k], &first, &count);
                size[rank] = xpu_dim_of(cg, count / step);
                *offset = xpu_dim_mul_const(dims, from[rank], first / step);
            }
            rank++;
        }
    }
    return rank;
}
