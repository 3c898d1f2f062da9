/* A search with beams: in each step the best of what may follow the sentences of one source; then the sentences. */
#include <math.h>

#include "frontend/paddle/compose.h"
#include "frontend/paddle/control.h"

static const xpu_value failed = {0};

enum { MOST_BEAMS = 4096 };

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

/* Where a step's last place is: at top[1] of the line, or where the last sentence that has places follows others with
 * the same score, at the latest of these: PaddlePaddle overwrites its last place with each of them. */
static xpu_value last_place(fe_builder *b, xpu_value line, const xpu_value top[2], xpu_value row, xpu_dim kept,
                            xpu_dim wide) {
    xpu_dims *dims = &b->graph->dims;
    const xpu_dim all = fe_info(b, line)->dims[0], last = xpu_dim_add_const(dims, kept, -1);
    xpu_value end = fe_dim_values(b, &last, 1, 0), score = fe_gather(b, top[0], end, 0);
    xpu_value at = fe_gather(b, top[1], end, 0), own = fe_gather(b, row, end, 0);
    xpu_value places = fe_counted(b, XPU_I64, all, 0, 1);
    xpu_value same = fe_binary(b, XPU_OP_DIV, places, fe_dim_values(b, &wide, 1, 0));
    same = fe_binary(b, XPU_OP_EQUAL, same, own);
    same = fe_binary(b, XPU_OP_AND, same, fe_binary(b, XPU_OP_EQUAL, line, score));
    xpu_value latest = fe_as(b, xpu_paddle_choose(b, same, places, fe_integer(b, XPU_I64, 0)), XPU_I32);
    latest = fe_as(b, xpu_paddle_reduced(b, XPU_OP_REDUCE_MAX, latest, 0, 0), XPU_I64);
    xpu_value first = xpu_paddle_reduced(b, XPU_OP_REDUCE_MIN, fe_as(b, row, XPU_I32), 0, 0);
    xpu_value is_last = fe_binary(b, XPU_OP_EQUAL, fe_as(b, first, XPU_I64), own);
    xpu_value here = fe_binary(b, XPU_OP_EQUAL, fe_counted(b, XPU_I64, kept, 0, 1), end);
    return xpu_paddle_choose(b, here, xpu_paddle_choose(b, is_last, latest, at), top[1]);
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
    top[1] = row.id ? last_place(b, line, top, row, kept, wide) : failed;
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
    if (most < 1 || most > MOST_BEAMS) return fe_bad_attr(&node->build, "beam_size", "it is out of range"), failed;
    if (xpu_paddle_rank(node, before) != 2 || xpu_paddle_rank(node, scores) != 2)
        return xpu_paddle_refuse(node, "the shapes are not supported", fe_shape_text(&b, scores));
    xpu_value end = fe_integer(&b, XPU_I64, xpu_paddle_int(node, "end_id", 0));
    xpu_value ended = fe_binary(&b, XPU_OP_EQUAL, fe_as(&b, before, XPU_I64), end);
    if (!read_followers(node, &b, ended, &f) || !choose(&b, &f, most, &parents, &flags)) return failed;
    const xpu_dim all = fe_info(&b, ended)->dims[0];
    xpu_value had_ended = fe_gather(&b, xpu_paddle_reshaped(&b, ended, &all, 1), parents, 0);
    xpu_value goes_on = fe_binary(&b, XPU_OP_AND, flags, fe_unary(&b, XPU_OP_NOT, had_ended));
    goes_on = xpu_paddle_reduced(&b, XPU_OP_REDUCE_MAX, fe_as(&b, goes_on, XPU_I32), 0, 1);
    flags = fe_binary(&b, XPU_OP_AND, flags, fe_as(&b, goes_on, XPU_BOOL));
    xpu_paddle_beam beam = {.ids = f.ids, .scores = f.scores, .parents = parents, .flags = flags, .most = most};
    xpu_value places = xpu_paddle_places(&b, flags), results[] = {f.ids, f.scores, fe_as(&b, parents, XPU_I32)};
    for (uint32_t i = 3; places.id && i-- > 0;) {
        results[i] = results[i].id ? fe_gather(&b, results[i], places, 0) : failed;
        if (i < 2) results[i] = xpu_paddle_widened(&b, results[i], 1);
        if (i < node->result_count) results[i] = xpu_paddle_give(node, &b, i, results[i]);
        if (!results[i].id) return failed;
        beam.value = results[i];
        XPU_PUSH(node->importer->scratch, &node->importer->beams, beam);
    }
    return places.id ? results[0] : failed;
}

/* ---- sentences ---- */

/* Walks from the last step to the first: for each of B sentences where it is in the step. */
typedef struct {
    fe_builder b;
    xpu_dim width;                         /* B */
    xpu_value end, line;                   /* the id of the end; 0, 1, ..., int64 [B] */
    xpu_value at, lives, has_begun, score; /* [B], [B], [1], [B] of the last step that has sentences */
} paths;

/* x [K] with the scalar behind it, [B]. */
static xpu_value widened(paths *p, xpu_value x, xpu_value filler) {
    fe_builder *b = &p->b;
    xpu_value parts[] = {x, fe_expand(b, filler, (fe_dims){&p->width, 1})};
    x = x.id && parts[1].id ? fe_concat(b, parts, 2, 0) : failed;
    return x.id ? fe_part(b, x, 0, xpu_dim_const(&b->graph->dims, 0), p->width, 1, 0) : failed;
}

/* What stands behind an entry of an array: one that is no result of beam_search follows, row by row, the step before.
 */
static xpu_paddle_beam beam_of(xpu_paddle_node *node, fe_builder *b, xpu_value ids, xpu_value scores) {
    xpu_paddle_importer *importer = node->importer;
    for (uint32_t i = 0; i < importer->beams.count; i++) {
        if (importer->beams.items[i].value.id == ids.id) return importer->beams.items[i];
    }
    const xpu_dim rows = fe_info(b, ids)->rank ? fe_info(b, ids)->dims[0] : (xpu_dim){0};
    xpu_paddle_beam beam = {.ids = fe_as(b, xpu_paddle_reshaped(b, ids, &rows, 1), XPU_I64),
                            .scores = xpu_paddle_reshaped(b, scores, &rows, 1),
                            .parents = fe_counted(b, XPU_I64, rows, 0, 1)};
    xpu_value yes = fe_integer(b, XPU_BOOL, 1);
    beam.flags = fe_expand(b, yes, (fe_dims){&rows, 1});
    if (!xpu_dim_is_const(&b->graph->dims, rows, &beam.most) || beam.most > MOST_BEAMS) beam.most = -1;
    return beam;
}

static xpu_value both(fe_builder *b, xpu_value x, xpu_value y) {
    return fe_binary(b, XPU_OP_AND, x, y);
}

/* One step back: ids and scores [B,1], and whether they belong to the sentences. */
static int step_back(paths *p, const xpu_paddle_beam *beam, xpu_value made[3]) {
    fe_builder *b = &p->b;
    xpu_value zero = fe_integer(b, XPU_I64, 0), flags = widened(p, beam->flags, fe_integer(b, XPU_BOOL, 0));
    xpu_value ids = widened(p, beam->ids, zero), scores = widened(p, beam->scores, fe_number(b, 0)),
              parents = widened(p, beam->parents, zero);
    xpu_value here = fe_as(b, xpu_paddle_reduced(b, XPU_OP_REDUCE_MAX, fe_as(b, flags, XPU_I32), 0, 1), XPU_BOOL);
    xpu_value goes_on = fe_unary(b, XPU_OP_NOT, p->has_begun), begins = both(b, here, goes_on);
    xpu_value at = xpu_paddle_choose(b, begins, p->line, p->at);
    p->lives = fe_binary(b, XPU_OP_OR, both(b, begins, flags), both(b, fe_unary(b, XPU_OP_NOT, begins), p->lives));
    p->has_begun = fe_binary(b, XPU_OP_OR, p->has_begun, here);
    if (!at.id || !ids.id || !scores.id || !parents.id) return 0;
    ids = fe_gather(b, ids, at, 0);
    scores = fe_gather(b, scores, at, 0);
    p->score = xpu_paddle_choose(b, begins, scores, p->score);
    p->at = xpu_paddle_choose(b, p->has_begun, fe_gather(b, parents, at, 0), at);
    xpu_value is_end = fe_binary(b, XPU_OP_EQUAL, ids, p->end); /* it counts once */
    xpu_value counts = fe_binary(b, XPU_OP_OR, begins, fe_unary(b, XPU_OP_NOT, is_end));
    counts = both(b, both(b, counts, p->has_begun), p->lives);
    made[0] = xpu_paddle_widened(b, ids, 1);
    made[1] = xpu_paddle_widened(b, scores, 1);
    made[2] = xpu_paddle_widened(b, counts, 1);
    return made[0].id && made[1].id && made[2].id && p->at.id && p->score.id;
}

/* Of the array's steps the sentences one behind the other, those with the largest last scores first: ids and scores. */
xpu_value xpu_paddle_convert_beam_search_decode(xpu_paddle_node *node) {
    enum { IDS, SCORES, COUNTS, PARTS };
    paths p = {.b = fe_inside(&node->build)};
    fe_builder *b = &p.b;
    uint32_t ids = xpu_paddle_one_var(node, "Ids"), scores = xpu_paddle_one_var(node, "Scores");
    if (ids == XPU_PADDLE_NO_VAR || scores == XPU_PADDLE_NO_VAR) return failed;
    const xpu_paddle_values steps[] = {node->importer->bindings[ids].list, node->importer->bindings[scores].list};
    const uint32_t count = steps[IDS].count;
    if (!count || count != steps[SCORES].count)
        return xpu_paddle_refuse(node, "the arrays are not supported",
                                 "lists of one length are, whose places are known");
    xpu_paddle_beam *beams = XPU_NEW_ARRAY(node->importer->scratch, xpu_paddle_beam, count);
    xpu_value *parts[PARTS], made[PARTS], top[2];
    int64_t width = 1;
    for (uint32_t t = 0; t < count; t++) {
        beams[t] = beam_of(node, b, steps[IDS].items[t], steps[SCORES].items[t]);
        if (beams[t].most < 0 || !beams[t].ids.id || !beams[t].scores.id || !beams[t].flags.id)
            return xpu_paddle_refuse(node, "the arrays are not supported",
                                     "a step's entries are no result of beam_search");
        if (beams[t].most > width) width = beams[t].most;
    }
    for (int i = 0; i < PARTS; i++) parts[i] = XPU_NEW_ARRAY(node->importer->scratch, xpu_value, count);
    const xpu_dim one = xpu_dim_const(&b->graph->dims, 1);
    p.width = xpu_dim_const(&b->graph->dims, width);
    p.end = fe_integer(b, XPU_I64, xpu_paddle_int(node, "end_id", 0));
    p.line = p.at = fe_counted(b, XPU_I64, p.width, 0, 1);
    xpu_value no = fe_integer(b, XPU_BOOL, 0);
    p.lives = fe_expand(b, no, (fe_dims){&p.width, 1});
    p.has_begun = fe_expand(b, no, (fe_dims){&one, 1});
    p.score = fe_expand(b, fe_number(b, 0), (fe_dims){&p.width, 1});
    for (uint32_t t = count; t-- > 0;) {
        if (!step_back(&p, &beams[t], made)) return failed;
        for (int i = 0; i < PARTS; i++) parts[i][t] = made[i];
    }
    xpu_value last = xpu_paddle_choose(b, p.lives, p.score, fe_number(b, -INFINITY));
    if (!last.id || !fe_top(b, last, &(fe_ordering){.axis = 0, .k = p.width, .largest = 1}, top)) return failed;
    const xpu_dim all = xpu_dim_const(&b->graph->dims, width * count);
    for (int i = 0; i < PARTS; i++) {
        made[i] = fe_concat(b, parts[i], count, 1);
        made[i] = made[i].id ? xpu_paddle_reshaped(b, fe_gather(b, made[i], top[1], 0), &all, 1) : failed;
    }
    xpu_value places = xpu_paddle_places(b, made[COUNTS]);
    if (!places.id || !made[IDS].id || !made[SCORES].id) return failed;
    if (node->result_count > 1 && !xpu_paddle_give(node, b, 1, fe_gather(b, made[SCORES], places, 0)).id) return failed;
    return xpu_paddle_give(node, b, 0, fe_gather(b, made[IDS], places, 0));
}
