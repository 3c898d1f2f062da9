/* Best paths through classes, and matrices that are solved. */
#include "frontend/paddle/compose.h"

static const xpu_value failed = {0};

enum { MOST_STEPS = 64, MOST_ROWS = 32 };

/* One sequence [T,classes], or a batch [B,T,classes] of so many steps each: the classes of the best path. */
typedef struct {
    xpu_paddle_node *node;
    fe_builder b;
    xpu_value emissions, lengths; /* [B,T,C], [B,1] int64 or {0} */
    xpu_value start, stop, moves; /* [1,C] or {0}, [1,C] or {0}, [1,C,C] */
    xpu_value best;               /* the score of the path, [B] */
    xpu_dim batch;
    int64_t steps;
} decoding;

static xpu_value step_of(decoding *d, int64_t t) {
    xpu_dims *dims = &d->b.graph->dims;
    int64_t one = 1;
    xpu_value x = fe_part(&d->b, d->emissions, 1, xpu_dim_const(dims, t), xpu_dim_const(dims, 1), 1, 0);
    return x.id ? fe_squeeze(&d->b, x, (fe_ints){&one, 1}) : failed;
}

/* Whether step t is there, [B,1]; {0}: it always is. */
static xpu_value is_there(decoding *d, int64_t t) {
    return fe_binary(&d->b, XPU_OP_GREATER, d->lengths, fe_integer(&d->b, XPU_I64, t));
}

/* The best path as [B,1] of each step. */
static int walk(decoding *d, xpu_value *path) {
    fe_builder *b = &d->b;
    xpu_value *from = XPU_NEW_ARRAY(b->scratch, xpu_value, d->steps + 1);
    xpu_value score = step_of(d, 0);
    if (d->start.id) score = fe_binary(b, XPU_OP_ADD, score, d->start);
    for (int64_t t = 1; t < d->steps; t++) {
        xpu_value all = fe_binary(b, XPU_OP_ADD, xpu_paddle_widened(b, score, 2), d->moves); /* [B,from,to] */
        xpu_value best = fe_binary(b, XPU_OP_ADD, xpu_paddle_reduced(b, XPU_OP_REDUCE_MAX, all, 1, 0), step_of(d, t));
        from[t] = all.id ? fe_arg_extreme(b, 1, all, 1, 0, 0) : failed;
        score = d->lengths.id ? xpu_paddle_choose(b, is_there(d, t), best, score) : best;
        if (!from[t].id || !score.id) return 0;
    }
    if (d->stop.id) score = fe_binary(b, XPU_OP_ADD, score, d->stop);
    d->best = xpu_paddle_reduced(b, XPU_OP_REDUCE_MAX, score, 1, 0);
    xpu_value at = score.id ? fe_arg_extreme(b, 1, score, 1, 1, 0) : failed;
    for (int64_t t = d->steps - 1; t >= 0; t--) {
        xpu_value there = d->lengths.id ? is_there(d, t) : failed;
        path[t] = there.id ? xpu_paddle_choose(b, there, at, fe_integer(b, XPU_I64, 0)) : at;
        if (!path[t].id) return 0;
        xpu_value before = t ? fe_gather_elements(b, from[t], at, 1) : at;
        at = there.id ? xpu_paddle_choose(b, there, before, at) : before;
    }
    return 1;
}

/* The emissions' sizes, and the lengths of the batch. */
static int read_steps(decoding *d, xpu_value lengths, int64_t *classes) {
    fe_builder *b = &d->b;
    xpu_dims *dims = &b->graph->dims;
    const xpu_value_info info = *fe_info(b, d->emissions);
    if (info.rank != 3 || !xpu_dim_is_const(dims, info.dims[1], &d->steps) ||
        !xpu_dim_is_const(dims, info.dims[2], classes) || d->steps < 1 || d->steps > MOST_STEPS || *classes < 1)
        return xpu_paddle_refuse(d->node, "the number of steps is not supported", fe_shape_text(b, d->emissions)).id !=
               0;
    d->batch = info.dims[0];
    xpu_dim column[] = {d->batch, xpu_dim_const(dims, 1)};
    if (lengths.id) d->lengths = xpu_paddle_reshaped(b, fe_as(b, lengths, XPU_I64), column, 2);
    return !lengths.id || d->lengths.id;
}

/* Rows of the matrix of moves. */
static xpu_value moves_of(decoding *d, xpu_value weights, int64_t first, int64_t count) {
    xpu_dims *dims = &d->b.graph->dims;
    return fe_part(&d->b, weights, 0, xpu_dim_const(dims, first), xpu_dim_const(dims, count), 1, 0);
}

xpu_value xpu_paddle_convert_crf_decoding(xpu_paddle_node *node) {
    enum { ENDS = 2 };
    decoding d = {.node = node, .b = fe_inside(&node->build), .emissions = xpu_paddle_operand(node, "Emission")};
    xpu_value weights = xpu_paddle_operand(node, "Transition"), lengths = xpu_paddle_operand(node, "Length");
    xpu_value path[MOST_STEPS];
    fe_builder *b = &d.b;
    int64_t classes = 0;
    if (!d.emissions.id || !weights.id) return failed;
    if (xpu_paddle_operand(node, "Label").id)
        return xpu_paddle_refuse(node, "operand 'Label' is not supported", "paths are found, not compared with labels");
    if (!lengths.id && xpu_paddle_rank(node, d.emissions) == 2) d.emissions = xpu_paddle_widened(b, d.emissions, 0);
    if (!read_steps(&d, lengths, &classes)) return failed;
    d.start = moves_of(&d, weights, 0, 1);
    d.stop = moves_of(&d, weights, 1, 1);
    d.moves = xpu_paddle_widened(b, moves_of(&d, weights, ENDS, classes), 0);
    if (!d.start.id || !d.stop.id || !d.moves.id || !walk(&d, path)) return failed;
    xpu_value all = fe_concat(b, path, (uint32_t)d.steps, 1);
    xpu_dim rows[] = {xpu_dim_const(&b->graph->dims, d.steps), xpu_dim_const(&b->graph->dims, 1)};
    return xpu_paddle_give(node, b, 0, lengths.id ? all : xpu_paddle_reshaped(b, all, rows, 2));
}

/* Scores [B] of the best paths, and these, as long as the longest: the last two classes may be the ends. */
xpu_value xpu_paddle_convert_viterbi_decode(xpu_paddle_node *node) {
    decoding d = {.node = node, .b = fe_inside(&node->build), .emissions = xpu_paddle_operand(node, "Input")};
    xpu_value weights = xpu_paddle_operand(node, "Transition"), lengths = xpu_paddle_operand(node, "Length");
    xpu_value path[MOST_STEPS];
    fe_builder *b = &d.b;
    int64_t classes = 0, one = 1;
    if (!d.emissions.id || !weights.id || !lengths.id || !read_steps(&d, lengths, &classes)) return failed;
    if (xpu_paddle_int(node, "include_bos_eos_tag", 1)) {
        if (classes < 2) return fe_bad_attr(&node->build, "include_bos_eos_tag", "there are no two classes"), failed;
        d.start = moves_of(&d, weights, classes - 1, 1);
        d.stop = moves_of(&d, weights, classes - 2, 1);
    }
    d.moves = xpu_paddle_widened(b, weights, 0);
    if (!d.moves.id || !walk(&d, path)) return failed;
    xpu_value all = fe_concat(b, path, (uint32_t)d.steps, 1);
    xpu_value longest = xpu_paddle_reduced(b, XPU_OP_REDUCE_MAX, d.lengths, 0, 0);
    xpu_value counted = fe_as(b, fe_counted(b, XPU_I32, xpu_dim_const(&b->graph->dims, d.steps), 0, 1), XPU_I64);
    xpu_value there = fe_binary(b, XPU_OP_LESS, counted, longest);
    if (!all.id || !there.id) return failed;
    if (node->result_count > 1 && !xpu_paddle_give(node, b, 1, fe_compress(b, all, there, &one)).id) return failed;
    return xpu_paddle_give(node, b, 0, d.best);
}

/* ---- matrices ---- */

/* One step of Gauss and Jordan: the row whose entry in column k is the largest one goes to row k, is divided by that
 * entry, and taken from the others. */
static xpu_value eliminated(fe_builder *b, xpu_value m, xpu_value rows, int64_t k) {
    xpu_value at = fe_integer(b, XPU_I64, k), none = fe_number(b, 0);
    xpu_value size =
        xpu_paddle_reduced(b, XPU_OP_REDUCE_MAX, fe_unary(b, XPU_OP_ABS, xpu_paddle_columns(b, m, k, 1)), 2, 0);
    size = xpu_paddle_choose(b, fe_binary(b, XPU_OP_GREATER_OR_EQUAL, rows, at), size, fe_number(b, -1));
    xpu_value best = size.id ? fe_arg_extreme(b, 1, size, 1, 1, 0) : failed;
    xpu_value is_best = xpu_paddle_widened(b, fe_binary(b, XPU_OP_EQUAL, rows, best), 2); /* [B,n,1] */
    xpu_value is_own = xpu_paddle_widened(b, fe_binary(b, XPU_OP_EQUAL, rows, at), 2);
    xpu_value pivot = xpu_paddle_reduced(b, XPU_OP_REDUCE_SUM, xpu_paddle_choose(b, is_best, m, none), 1, 1);
    xpu_value own = xpu_paddle_reduced(b, XPU_OP_REDUCE_SUM, xpu_paddle_choose(b, is_own, m, none), 1, 1);
    m = xpu_paddle_choose(b, is_best, own, m);
    pivot = fe_binary(b, XPU_OP_DIV, pivot, xpu_paddle_columns(b, pivot, k, 1));
    xpu_value rest = fe_binary(b, XPU_OP_SUB, m, fe_binary(b, XPU_OP_MUL, xpu_paddle_columns(b, m, k, 1), pivot));
    return xpu_paddle_choose(b, is_own, pivot, rest);
}

xpu_value xpu_paddle_convert_inverse(xpu_paddle_node *node) {
    xpu_value x = xpu_paddle_operand(node, "Input");
    int64_t size = 0;
    if (!x.id) return failed;
    fe_builder b = fe_inside(&node->build);
    xpu_dims *dims = &b.graph->dims;
    const xpu_value_info info = *fe_info(&b, x);
    if (info.rank < 2 || !xpu_dim_is_const(dims, info.dims[info.rank - 1], &size) || size < 1 || size > MOST_ROWS ||
        !xpu_dim_equal(info.dims[info.rank - 1], info.dims[info.rank - 2]))
        return xpu_paddle_refuse(node, "the matrices are not supported", "square ones of at most 32 rows are");
    xpu_dim all[] = {fe_dim_product(&b, info.dims, 0, info.rank - 2), info.dims[info.rank - 1],
                     info.dims[info.rank - 1]};
    xpu_value parts[2] = {xpu_paddle_reshaped(&b, x, all, 3)};
    if (!parts[0].id) return failed;
    float *ones = XPU_NEW_ARRAY(b.scratch, float, size *size);
    for (int64_t i = 0; i < size * size; i++) ones[i] = i % (size + 1) == 0;
    xpu_tensor unit = {.dtype = XPU_F32, .rank = 2, .dims = {size, size}, .data = ones};
    parts[1] = fe_expand(&b, xpu_graph_const_bytes(b.graph, NULL, &unit), (fe_dims){all, 3});
    xpu_value m = parts[1].id ? fe_concat(&b, parts, 2, 2) : failed;
    xpu_value rows = fe_as(&b, fe_counted(&b, XPU_I32, all[1], 1, 2), XPU_I64);
    for (int64_t k = 0; m.id && k < size; k++) m = eliminated(&b, m, rows, k);
    m = xpu_paddle_columns(&b, m, size, size);
    return xpu_paddle_give(node, &b, 0, xpu_paddle_reshaped(&b, m, info.dims, info.rank));
}

/* x W_t y' of each of T matrices, of one sequence each: [T * rows of x * rows of y, 1]. */
xpu_value xpu_paddle_convert_match_matrix(xpu_paddle_node *node) {
    static const int64_t by_matrix[] = {1, 0, 2}, swap[] = {1, 0};
    xpu_value x = xpu_paddle_operand(node, "X"), y = xpu_paddle_operand(node, "Y"), w = xpu_paddle_operand(node, "W");
    if (!x.id || !y.id || !w.id) return failed;
    if (xpu_paddle_rank(node, x) != 2 || xpu_paddle_rank(node, y) != 2 || xpu_paddle_rank(node, w) != 3)
        return xpu_paddle_refuse(node, "the shapes are not supported", fe_shape_text(&node->build, w));
    if (xpu_paddle_is_used(node, 1))
        return xpu_paddle_refuse(node, "result 'Tmp' is not supported", "something uses it");
    fe_builder b = fe_inside(&node->build);
    xpu_value left = fe_transpose(&b, w, (fe_ints){by_matrix, 3}), right = fe_transpose(&b, y, (fe_ints){swap, 2});
    left = left.id ? fe_matmul(&b, x, left) : failed;
    left = left.id && right.id ? fe_matmul(&b, left, right) : failed;
    if (!left.id) return failed;
    const xpu_value_info info = *fe_info(&b, left);
    xpu_dim dims[] = {fe_dim_product(&b, info.dims, 0, info.rank), xpu_dim_const(&b.graph->dims, 1)};
    return xpu_paddle_give(node, &b, 0, xpu_paddle_reshaped(&b, left, dims, 2));
}
