/*
 * Norms over the last dims: those that are written out become one operator, and those whose rows are too long for one
 * core, or of unknown length, are written out, which all cores share.
 */
#include "core/passes/passes.h"
#include "core/passes/rewrite.h"

/* Of a row that one core takes. */
enum { LONGEST_ROW = 4096 };

/* ---- what is written out ---- */

/* A norm that ends in a quotient or product: over the dims of x from `axis` on, `count` elements. */
typedef struct {
    xpu_value x;
    int axis, centred;
    int64_t count;
    float epsilon;
    xpu_node parts[8]; /* that it takes the place of, from the mean on */
    uint32_t part_count;
} written_norm;

/* Whether all elements of a constant are one number, which is not negative. */
static int is_one_number(const xpu_graph *graph, xpu_value value, float *number, xpu_diags *diags) {
    if (!xpu_is_constant(graph, value) || xpu_value_at(graph, value)->dtype != XPU_F32) return 0;
    xpu_arena *arena = xpu_arena_new(xpu_arena_mem(graph->arena), "epsilon");
    xpu_tensor tensor;
    int is_one = xpu_const_tensor(graph, value, arena, &tensor, diags) == XPU_OK && xpu_tensor_count(&tensor) > 0;
    for (int64_t i = 0; is_one && i < xpu_tensor_count(&tensor); i++) {
        const float element = ((const float *)tensor.data)[i];
        is_one = element >= 0 && (i == 0 || element == *number);
        *number = element;
    }
    xpu_arena_free(arena);
    return is_one;
}

/* What `mean` is the mean of along a last axis of `*count` elements; {0}: it is none. */
static xpu_node reduction_of(const xpu_graph *graph, xpu_value mean, int64_t *count) {
    xpu_node node = xpu_value_maker(graph, mean);
    while (node.id && xpu_node_is(graph, node, XPU_OP_RESHAPE)) node = xpu_maker(graph, node, 0);
    if (!node.id || !xpu_node_is(graph, node, XPU_OP_REDUCE_MEAN)) return (xpu_node){0};
    const xpu_value_info *info = xpu_value_at(graph, xpu_node_input(graph, node, 0));
    const int last = info->rank - 1;
    if (xpu_node_int(graph, node, XPU_ATTR_AXIS) != last) return (xpu_node){0};
    return xpu_dim_is_const(&graph->dims, info->dims[last], count) ? node : (xpu_node){0};
}

/* The first of the last dims of x that `mean`, of `count` elements each, has as 1; -1: it is none of these. */
static int reduced_from(const xpu_graph *graph, xpu_value mean, xpu_value x, int64_t count) {
    const xpu_value_info *own = xpu_value_at(graph, x), *reduced = xpu_value_at(graph, mean);
    int axis = own->rank;
    int64_t product = 1, size;
    if (reduced->rank != own->rank) return -1;
    do {
        if (axis == 0 || !xpu_dim_is_const(&graph->dims, own->dims[--axis], &size)) return -1;
        if (size < 1 || product > count / size) return -1;
        product *= size;
    } while (product != count);
    for (int i = 0; i < own->rank; i++) {
        if (i < axis ? !xpu_dim_equal(reduced->dims[i], own->dims[i])
                     : !xpu_dim_is_const(&graph->dims, reduced->dims[i], &size) || size != 1)
            return -1;
    }
    return axis;
}

static void add_part(written_norm *n, xpu_node node) {
    if (n->part_count < sizeof n->parts / sizeof *n->parts) n->parts[n->part_count++] = node;
}

/* Whether d is x without its mean over the dims that the squares have theirs over. */
static int is_centred(const xpu_graph *graph, xpu_value d, written_norm *n) {
    int64_t count;
    xpu_node difference = xpu_made_by(graph, d, XPU_OP_SUB);
    if (!difference.id) return 0;
    xpu_value x = xpu_node_input(graph, difference, 0), mean = xpu_node_input(graph, difference, 1);
    xpu_node reduction = reduction_of(graph, mean, &count);
    if (!reduction.id || count != n->count || reduced_from(graph, mean, x, count) != n->axis) return 0;
    xpu_value from = xpu_node_input(graph, reduction, 0);
    while (from.id != x.id) {
        xpu_node reshape = xpu_made_by(graph, from, XPU_OP_RESHAPE);
        if (!reshape.id) return 0;
        from = xpu_node_input(graph, reshape, 0);
    }
    add_part(n, reduction);
    add_part(n, difference);
    n->x = x;
    return 1;
}

/* Whether `length` is sqrt(mean(d * d) + epsilon). */
static int is_length(const xpu_graph *graph, xpu_value length, xpu_value d, written_norm *n, xpu_diags *diags) {
    xpu_node root = xpu_made_by(graph, length, XPU_OP_SQRT);
    if (!root.id) return 0;
    xpu_value mean = xpu_node_input(graph, root, 0);
    xpu_node sum = xpu_made_by(graph, mean, XPU_OP_ADD);
    n->epsilon = 0;
    if (sum.id) {
        uint32_t number = is_one_number(graph, xpu_node_input(graph, sum, 0), &n->epsilon, diags) ? 0 : 1;
        if (number && !is_one_number(graph, xpu_node_input(graph, sum, 1), &n->epsilon, diags)) return 0;
        mean = xpu_node_input(graph, sum, 1 - number);
    }
    xpu_node reduction = reduction_of(graph, mean, &n->count);
    if (!reduction.id || n->count > LONGEST_ROW) return 0;
    xpu_node square = xpu_maker(graph, reduction, 0);
    while (square.id && xpu_node_is(graph, square, XPU_OP_RESHAPE)) square = xpu_maker(graph, square, 0);
    if (!square.id || !xpu_node_is(graph, square, XPU_OP_MUL)) return 0;
    if (xpu_node_input(graph, square, 0).id != d.id || xpu_node_input(graph, square, 1).id != d.id) return 0;
    n->axis = reduced_from(graph, mean, d, n->count);
    if (n->axis < 0) return 0;
    n->x = d;
    n->centred = is_centred(graph, d, n);
    add_part(n, square);
    add_part(n, reduction);
    if (sum.id) add_part(n, sum);
    add_part(n, root);
    return 1;
}

/* The length of which `inverse` is one. */
static xpu_value inverted(const xpu_graph *graph, xpu_value inverse, xpu_node *by, xpu_diags *diags) {
    float number = 0;
    *by = xpu_made_by(graph, inverse, XPU_OP_RECIPROCAL);
    if (by->id) return xpu_node_input(graph, *by, 0);
    *by = xpu_made_by(graph, inverse, XPU_OP_DIV);
    if (!by->id || !is_one_number(graph, xpu_node_input(graph, *by, 0), &number, diags) || number != 1.0f)
        return (xpu_value){0};
    return xpu_node_input(graph, *by, 1);
}

static int ends_norm(const xpu_graph *graph, xpu_node node, written_norm *n, xpu_diags *diags) {
    const xpu_value a = xpu_node_input(graph, node, 0), b = xpu_node_input(graph, node, 1);
    if (xpu_node_is(graph, node, XPU_OP_DIV)) return is_length(graph, b, a, n, diags);
    if (!xpu_node_is(graph, node, XPU_OP_MUL)) return 0;
    for (int i = 0; i < 2; i++) {
        xpu_node by;
        xpu_value length = inverted(graph, i ? a : b, &by, diags);
        n->part_count = 0;
        if (!length.id || !is_length(graph, length, i ? b : a, n, diags)) continue;
        add_part(n, by);
        return 1;
    }
    return 0;
}

static xpu_value reshaped(xpu_graph *graph, xpu_node before, xpu_value x, const xpu_dim *dims, int rank,
                          xpu_diags *diags) {
    return xpu_build_part(graph, before, XPU_OP_RESHAPE, &x, 1, &XPU_ATTR_DIMS_OF(SHAPE, dims, (uint32_t)rank), 1,
                          diags);
}

static xpu_status find_norm(xpu_graph *graph, xpu_node node, xpu_diags *diags) {
    const size_t errors = diags->errors;
    written_norm n = {.part_count = 0};
    const xpu_value y = xpu_node_output(graph, node, 0);
    if (xpu_value_at(graph, y)->dtype != XPU_F32 || !ends_norm(graph, node, &n, diags))
        return xpu_diags_since(diags, errors);
    const xpu_value_info info = *xpu_value_at(graph, y);
    if (!xpu_value_same_shape(graph, n.x, y)) return XPU_OK;
    xpu_node_lead_origins(graph, node, n.parts, n.part_count);
    const xpu_attr attrs[] = {XPU_ATTR_FLOAT_OF(EPSILON, n.epsilon), XPU_ATTR_INT_OF(CENTRED, n.centred)};
    if (n.axis == info.rank - 1) {
        xpu_rewrite(graph, node, XPU_OP_NORM, &n.x, 1, attrs, 2);
    } else {
        xpu_dim dims[XPU_MAX_RANK];
        for (int i = 0; i < n.axis; i++) dims[i] = info.dims[i];
        dims[n.axis] = xpu_dim_const(&graph->dims, n.count);
        xpu_value rows = reshaped(graph, node, n.x, dims, n.axis + 1, diags);
        rows = xpu_build_part(graph, node, XPU_OP_NORM, &rows, 1, attrs, 2, diags);
        xpu_rewrite(graph, node, XPU_OP_RESHAPE, &rows, 1, &XPU_ATTR_DIMS_OF(SHAPE, info.dims, (uint32_t)info.rank), 1);
    }
    return xpu_op_infer(graph, node, diags);
}

/* ---- scale and bias ---- */

/* The norm that only `node` reads as operand `input`, perhaps by a reshape; {0}. */
static xpu_node norm_of(const xpu_graph *graph, xpu_node node, uint32_t input, xpu_node *reshape) {
    xpu_node maker = xpu_maker(graph, node, input);
    *reshape = (xpu_node){0};
    if (maker.id && xpu_node_is(graph, maker, XPU_OP_RESHAPE) && xpu_used_once(graph, maker)) {
        *reshape = maker;
        maker = xpu_maker(graph, maker, 0);
    }
    if (!maker.id || !xpu_node_is(graph, maker, XPU_OP_NORM) || !xpu_used_once(graph, maker)) return (xpu_node){0};
    return xpu_same_block(graph, maker, node) ? maker : (xpu_node){0};
}

/* Whether a constant has an element for each of the last `rank` dims of y that hold a row of `count`, and no others. */
static int is_row(const xpu_graph *graph, xpu_value value, xpu_value y, int64_t count) {
    const xpu_value_info *info = xpu_value_at(graph, value), *whole = xpu_value_at(graph, y);
    int64_t product = 1, size;
    if (!xpu_is_constant(graph, value) || info->dtype != XPU_F32 || info->rank > whole->rank) return 0;
    for (int i = 1; i <= info->rank; i++) {
        const xpu_dim own = info->dims[info->rank - i];
        if (!xpu_dim_is_const(&graph->dims, own, &size)) return 0;
        if (product == count && size == 1) continue;
        if (!xpu_dim_equal(own, whole->dims[whole->rank - i])) return 0;
        product *= size;
    }
    return product == count;
}

/* A product of a norm and a constant row is its scale, a sum its bias. */
static xpu_status join_row(xpu_graph *graph, xpu_node node, uint32_t input, xpu_diags *diags) {
    xpu_node reshape, norm = norm_of(graph, node, input, &reshape);
    const uint32_t place = xpu_node_is(graph, node, XPU_OP_MUL) ? 1 : 2;
    xpu_value row = xpu_node_input(graph, node, 1 - input), y = xpu_node_output(graph, node, 0);
    if (!norm.id || xpu_node_at(graph, norm)->input_count > place || xpu_node_at(graph, norm)->output_count > 1)
        return XPU_OK;
    const xpu_value_info *x = xpu_value_at(graph, xpu_node_input(graph, norm, 0));
    const xpu_dim length = x->dims[x->rank - 1];
    int64_t count;
    if (!xpu_dim_is_const(&graph->dims, length, &count) || !is_row(graph, row, y, count)) return XPU_OK;
    if (!xpu_value_same_shape(graph, xpu_node_input(graph, node, input), y)) return XPU_OK;
    if (xpu_value_at(graph, row)->rank > 1) row = reshaped(graph, norm, row, &length, 1, diags);
    if (reshape.id) {
        xpu_node_set_input(graph, norm, place, row);
        xpu_node_add_origins(graph, norm, node);
        xpu_absorb(graph, node, reshape);
        xpu_status status = xpu_op_infer(graph, norm, diags);
        if (status != XPU_OK) return status;
    } else {
        xpu_absorb(graph, node, norm);
        xpu_node_set_input(graph, node, place, row);
    }
    return xpu_op_infer(graph, node, diags);
}

xpu_status xpu_find_norm(xpu_graph *graph, xpu_node node, xpu_diags *diags) {
    xpu_status status = XPU_OK;
    if (xpu_node_is(graph, node, XPU_OP_MUL) || xpu_node_is(graph, node, XPU_OP_DIV))
        status = find_norm(graph, node, diags);
    for (uint32_t i = 0; status == XPU_OK && i < 2; i++) {
        if (xpu_node_is(graph, node, XPU_OP_MUL) || xpu_node_is(graph, node, XPU_OP_ADD))
            status = join_row(graph, node, i, diags);
    }
    return status;
}

/* ---- writing out ---- */

typedef struct {
    xpu_graph *graph;
    xpu_node node;
    xpu_diags *diags;
} builder;

static xpu_value build(const builder *b, xpu_op_id op, xpu_value x, xpu_value y, const xpu_attr *attr) {
    return xpu_build_part(b->graph, b->node, op, (const xpu_value[]){x, y}, y.id ? 2 : 1, attr, attr ? 1 : 0, b->diags);
}

static xpu_status write_out(xpu_graph *graph, xpu_node node, xpu_diags *diags) {
    const builder b = {graph, node, diags};
    const xpu_value none = {0};
    const size_t errors = diags->errors;
    xpu_value y = xpu_node_input(graph, node, 0);
    const xpu_attr axis = XPU_ATTR_INT_OF(AXIS, xpu_value_at(graph, y)->rank - 1);
    if (xpu_node_int(graph, node, XPU_ATTR_CENTRED))
        y = build(&b, XPU_OP_SUB, y, build(&b, XPU_OP_REDUCE_MEAN, y, none, &axis), NULL);
    xpu_value epsilon = xpu_graph_const_f32(graph, NULL, xpu_node_float(graph, node, XPU_ATTR_EPSILON));
    xpu_value sum = build(&b, XPU_OP_REDUCE_MEAN, build(&b, XPU_OP_MUL, y, y, NULL), none, &axis);
    sum = build(&b, XPU_OP_SQRT, build(&b, XPU_OP_ADD, sum, epsilon, NULL), none, NULL);
    y = build(&b, XPU_OP_MUL, y, build(&b, XPU_OP_RECIPROCAL, sum, none, NULL), NULL);
    for (uint32_t i = 1; i < xpu_node_at(graph, node)->input_count; i++) {
        xpu_value vector = xpu_node_input(graph, node, i);
        if (vector.id) y = build(&b, i == 1 ? XPU_OP_MUL : XPU_OP_ADD, y, vector, NULL);
    }
    if (diags->errors != errors) return xpu_diags_status(diags);
    xpu_value_replace(graph, xpu_node_output(graph, node, 0), y);
    xpu_node_remove(graph, node);
    return XPU_OK;
}

/* Of an image's planes, which lie channel by channel: their means are taken as they lie. */
static int is_of_planes(const xpu_graph *graph, xpu_node node) {
    xpu_node reshape = xpu_maker(graph, node, 0);
    if (!reshape.id || !xpu_node_is(graph, reshape, XPU_OP_RESHAPE)) return 0;
    const xpu_value_info *x = xpu_value_at(graph, xpu_node_input(graph, reshape, 0));
    const xpu_value_info *rows = xpu_value_at(graph, xpu_node_output(graph, reshape, 0));
    return x->rank > 3 && rows->rank == 3 && xpu_dim_equal(x->dims[0], rows->dims[0]) &&
           xpu_dim_equal(x->dims[1], rows->dims[1]);
}

xpu_status xpu_write_out_norms(xpu_graph *graph, xpu_diags *diags) {
    XPU_FOR_BLOCKS(graph, block) {
        for (xpu_node node = xpu_block_at(graph, block)->first, next; node.id; node = next) {
            int64_t count;
            next = xpu_node_next(graph, node);
            if (!xpu_node_is(graph, node, XPU_OP_NORM)) continue;
            const xpu_value_info *x = xpu_value_at(graph, xpu_node_input(graph, node, 0));
            const int is_short = xpu_dim_is_const(&graph->dims, x->dims[x->rank - 1], &count) && count <= LONGEST_ROW;
            if (is_short && !is_of_planes(graph, node)) continue;
            xpu_status status = write_out(graph, node, diags);
            if (status != XPU_OK) return status;
        }
    }
    return XPU_OK;
}
