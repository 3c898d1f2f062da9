/* One step of a search with beams: the best of what may follow the sentences of one source. */
#include <math.h>

#include "frontend/paddle/compose.h"

static const xpu_value failed = {0};

/* What may follow: [N,K] of N sentences, or of those that are chosen [B], the best first. */
typedef struct {
    xpu_value scores, ids;
} followers;

/* A sentence that has ended is followed by its end alone, and its score stays. */
static int read_followers(xpu_paddle_node *node, fe_builder *b, xpu_value ended, followers *f) {
    xpu_value before = xpu_paddle_operand(node, "pre_scores"), ids = xpu_paddle_operand(node, "ids");
    xpu_value scores = xpu_paddle_operand(node, "scores"),
              end = fe_integer(b, XPU_I64, xpu_paddle_int(node, "end_id", 0));
    if (!before.id || !scores.id || !ended.id) return 0;
    xpu_value place = fe_counted(b, XPU_I64, fe_info(b, scores)->dims[1], 1, 2);
    if (!xpu_paddle_int(node, "is_accumulated", 1))
        scores = fe_binary(b, XPU_OP_ADD, before, fe_unary(b, XPU_OP_LOG, scores));
    xpu_value first = fe_binary(b, XPU_OP_EQUAL, place, fe_integer(b, XPU_I64, 0));
    xpu_value own = xpu_paddle_choose(b, first, before, fe_number(b, -INFINITY));
    f->scores = xpu_paddle_choose(b, ended, own, scores);
    f->ids = xpu_paddle_choose(b, ended, end, ids.id ? fe_as(b, ids, XPU_I64) : place);
    if (f->ids.id) f->ids = fe_expand(b, f->ids, (fe_dims){fe_info(b, scores)->dims, 2});
    return f->scores.id && f->ids.id;
}

/* x [N,K], the last sentence first, as [N * K]: of equal scores the later sentence's counts. */
static xpu_value in_line(fe_builder *b, xpu_value x) {
    const xpu_dim *dims = fe_info(b, x)->dims, rows = dims[0], all = xpu_dim_mul(&b->graph->dims, rows, dims[1]);
    x = fe_part(b, x, 0, xpu_dim_add_const(&b->graph->dims, rows, -1), rows, -1, 0);
    return xpu_paddle_reshaped(b, x, &all, 1);
}

/* The best `most` of them by sentence, then by score; which sentence they follow, and which of them there are. */
static int choose(fe_builder *b, followers *f, int64_t most, xpu_value *parents, xpu_value *flags) {
    xpu_dims *dims = &b->graph->dims;
    const xpu_dim count = fe_info(b, f->ids)->dims[0], wide = fe_info(b, f->ids)->dims[1];
    const xpu_dim kept = xpu_dim_op(dims, XPU_DIM_MIN, xpu_dim_mul(dims, count, wide), xpu_dim_const(dims, most));
    const xpu_dim last = xpu_dim_add_const(dims, count, -1);
    xpu_value line = in_line(b, f->scores), top[2], order[2];
    if (!line.id || !fe_top(b, line, &(fe_ordering){.axis = 0, .k = kept, .largest = 1}, top)) return 0;
    xpu_value row = fe_binary(b, XPU_OP_DIV, top[1], fe_dim_values(b, &wide, 1, 0));
    row = fe_binary(b, XPU_OP_SUB, fe_dim_values(b, &last, 1, 0), row);
    xpu_value there = fe_binary(b, XPU_OP_GREATER, top[0], fe_number(b, -INFINITY));
    xpu_value key = fe_binary(b, XPU_OP_ADD, fe_binary(b, XPU_OP_MUL, row, fe_dim_values(b, &kept, 1, 0)),
                              fe_counted(b, XPU_I64, kept, 0, 1));
    key = xpu_paddle_choose(b, there, key, fe_integer(b, XPU_I64, INT64_MAX));
    if (!key.id || !fe_top(b, key, &(fe_ordering){.axis = 0, .k = kept}, order)) return 0;
    f->scores = fe_gather(b, top[0], order[1], 0);
    f->ids = fe_gather(b, in_line(b, f->ids), fe_gather(b, top[1], order[1], 0), 0);
    *parents = fe_gather(b, row, order[1], 0);
    *flags = fe_gather(b, there, order[1], 0);
    return f->scores.id && f->ids.id && parents->id && flags->id;
}

/* Results: ids and scores [how many, 1], and the sentences that they follow [how many], int32; nothing where all had
 * ended before. */
xpu_value xpu_paddle_convert_beam_search(xpu_paddle_node *node) {
    fe_builder b = fe_inside(&node->build);
    xpu_value before = xpu_paddle_operand(node, "pre_ids"), scores = xpu_paddle_operand(node, "scores"), parents, flags;
    int64_t most = xpu_paddle_int(node, "beam_size", 0);
    followers f;
    if (!before.id || !scores.id) return failed;
    if (xpu_paddle_rank(node, before) != 2 || xpu_paddle_rank(node, scores) != 2 || most < 1 || most > INT32_MAX)
        return xpu_paddle_refuse(node, "the shapes are not supported", fe_shape_text(&b, scores));
    xpu_value end = fe_integer(&b, XPU_I64, xpu_paddle_int(node, "end_id", 0));
    xpu_value ended = fe_binary(&b, XPU_OP_EQUAL, fe_as(&b, before, XPU_I64), end);
    if (!read_followers(node, &b, ended, &f) || !choose(&b, &f, most, &parents, &flags)) return failed;
    const xpu_dim all = fe_info(&b, ended)->dims[0];
    xpu_value had_ended = fe_gather(&b, xpu_paddle_reshaped(&b, ended, &all, 1), parents, 0);
    xpu_value goes_on = fe_binary(&b, XPU_OP_AND, flags, fe_unary(&b, XPU_OP_NOT, had_ended));
    goes_on = xpu_paddle_reduced(&b, XPU_OP_REDUCE_MAX, fe_as(&b, goes_on, XPU_I32), 0, 1);
    flags = fe_binary(&b, XPU_OP_AND, flags, fe_as(&b, goes_on, XPU_BOOL));
    xpu_value places = xpu_paddle_places(&b, flags), results[] = {f.ids, f.scores, fe_as(&b, parents, XPU_I32)};
    for (uint32_t i = 3; places.id && i-- > 0;) {
        results[i] = results[i].id ? fe_gather(&b, results[i], places, 0) : failed;
        if (i < 2) results[i] = xpu_paddle_widened(&b, results[i], 1);
        if (i < node->result_count) results[i] = xpu_paddle_give(node, &b, i, results[i]);
        if (!results[i].id) return failed;
    }
    return places.id ? results[0] : failed;
}
