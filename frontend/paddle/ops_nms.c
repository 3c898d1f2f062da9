/* Boxes of the objects in images: the best of each class that no better one overlaps. */
#include <math.h>

#include "frontend/paddle/compose.h"

static const xpu_value failed = {0};

enum { MOST_CLASSES = 1 << 16, MOST_PAIRS = 4096 };

/* Candidates: of each class of each image the K boxes with the largest scores, from there on. */
typedef struct {
    xpu_paddle_node *node;
    fe_builder b;
    xpu_dim images, all, kept, total; /* N, M, K, C * K */
    int64_t classes;                  /* C: without the background */
    xpu_value boxes, labels;          /* [N,M,4], or with own boxes [C,M,4]; [C] */
    xpu_value scores, places, near;   /* [N,C,K], [N,C,K] among the M, boxes [N * C,K,4] */
    int has_own;                      /* each class has boxes of its own; N is 1 */
} candidates;

/* The scores [N,C,M] without the background, and which classes these are. */
static xpu_value without_background(candidates *c, xpu_value scores) {
    const xpu_value_info info = *fe_info(&c->b, scores);
    xpu_paddle_node *node = c->node;
    int64_t all = 0, background = xpu_paddle_int(node, "background_label", 0);
    xpu_dims *dims = &c->b.graph->dims;
    if (!xpu_dim_is_const(dims, info.dims[1], &all) || all < 1 || all > MOST_CLASSES)
        return xpu_paddle_refuse(node, "the number of classes is not known", fe_shape_text(&c->b, scores));
    float *labels = XPU_NEW_ARRAY(c->b.scratch, float, all);
    c->classes = 0;
    for (int64_t i = 0; i < all; i++) {
        if (i != background) labels[c->classes++] = (float)i;
    }
    if (!c->classes) return xpu_paddle_refuse(node, "there is no class", "but for the background");
    c->labels = xpu_paddle_vector(&c->b, labels, c->classes);
    if (c->classes == all) return scores;
    int32_t *index = XPU_NEW_ARRAY(c->b.scratch, int32_t, all);
    for (int64_t i = 0; i < c->classes; i++) index[i] = (int32_t)labels[i];
    xpu_value kept = xpu_graph_const_bytes(
        c->b.graph, NULL, &(xpu_tensor){.dtype = XPU_I32, .rank = 1, .dims = {c->classes}, .data = index});
    if (c->has_own) c->boxes = fe_gather(&c->b, c->boxes, kept, 0);
    return fe_gather(&c->b, scores, kept, 1);
}

/* Scores [M,C] and boxes [M,C,4] of one image as [1,C,M] and [C,M,4]. */
static int read_own_boxes(candidates *c, xpu_value *scores) {
    static const int64_t swap[] = {1, 0}, by_class[] = {1, 0, 2};
    xpu_value counts = xpu_paddle_operand(c->node, "RoisNum");
    int64_t images = 1;
    if (counts.id && (xpu_paddle_rank(c->node, counts) != 1 ||
                      !xpu_dim_is_const(&c->b.graph->dims, fe_info(&c->b, counts)->dims[0], &images) || images != 1))
        return xpu_paddle_refuse(c->node, "several images are not supported", "each class has boxes of its own").id !=
               0;
    c->boxes = fe_transpose(&c->b, c->boxes, (fe_ints){by_class, 3});
    *scores = xpu_paddle_widened(&c->b, fe_transpose(&c->b, *scores, (fe_ints){swap, 2}), 0);
    c->has_own = 1;
    return c->boxes.id && scores->id;
}

static int read_candidates(xpu_paddle_node *node, candidates *c) {
    *c = (candidates){.node = node, .b = fe_inside(&node->build), .boxes = xpu_paddle_operand(node, "BBoxes")};
    xpu_value scores = xpu_paddle_operand(node, "Scores"), top[2];
    fe_builder *b = &c->b;
    xpu_dims *dims = &b->graph->dims;
    int64_t sides = 0, most = xpu_paddle_int(node, "nms_top_k", -1);
    if (!c->boxes.id || !scores.id) return 0;
    const xpu_value_info info = *fe_info(b, c->boxes);
    if (info.rank != 3 || !xpu_dim_is_const(dims, info.dims[2], &sides) || sides != XPU_BOX)
        return xpu_paddle_refuse(node, "the boxes have other sides than four", fe_shape_text(b, c->boxes)).id != 0;
    if (xpu_paddle_float(node, "nms_eta", 1) < 1)
        return xpu_paddle_refuse(node, "a threshold that adapts is not supported", "nms_eta is below 1").id != 0;
    if (xpu_paddle_rank(node, scores) == 2 && !read_own_boxes(c, &scores)) return 0;
    if (xpu_paddle_rank(node, scores) != 3)
        return xpu_paddle_refuse(node, "the shapes are not supported", fe_shape_text(b, scores)).id != 0;
    scores = without_background(c, scores);
    if (!scores.id) return 0;
    c->images = fe_info(b, scores)->dims[0];
    c->all = c->kept = fe_info(b, scores)->dims[2];
    if (most >= 0)
        c->kept = xpu_dim_op(dims, XPU_DIM_MIN, c->all, xpu_dim_const(dims, most < INT32_MAX ? most : INT32_MAX));
    c->total = xpu_dim_mul(dims, xpu_dim_const(dims, c->classes), c->kept);
    if (!fe_top(b, scores, &(fe_ordering){.axis = 2, .k = c->kept, .largest = 1}, top)) return 0;
    c->scores = top[0];
    c->places = top[1];
    xpu_dim flat[] = {c->has_own ? xpu_dim_const(dims, c->classes) : c->images, c->has_own ? c->kept : c->total};
    xpu_dim near[] = {xpu_dim_mul(dims, c->images, xpu_dim_const(dims, c->classes)), c->kept,
                      xpu_dim_const(dims, XPU_BOX)};
    c->near = xpu_paddle_rows(b, c->boxes, xpu_paddle_reshaped(b, c->places, flat, 2));
    c->near = xpu_paddle_reshaped(b, c->near, near, 3);
    return c->near.id != 0;
}

/* ---- what was found ---- */

/* Of all candidates of an image, [N, C * K], those that are picked: scores, -inf where one is not. */
typedef struct {
    xpu_value scores, places, labels, boxes; /* boxes [N, C * K, 4] */
} findings;

/* Row-major places of classes and candidates as they are. */
static xpu_value flat(candidates *c, xpu_value x) {
    xpu_dim dims[] = {c->images, c->total};
    return xpu_paddle_reshaped(&c->b, x, dims, 2);
}

static void list_findings(candidates *c, findings *f) {
    fe_builder *b = &c->b;
    xpu_dims *dims = &b->graph->dims;
    xpu_dim all[] = {c->images, xpu_dim_const(dims, c->classes), c->kept},
            sides[] = {c->images, c->total, xpu_dim_const(dims, XPU_BOX)};
    f->labels = flat(c, fe_expand(b, xpu_paddle_widened(b, c->labels, 1), (fe_dims){all, 3}));
    f->boxes = xpu_paddle_reshaped(b, c->near, sides, 3);
    f->places = flat(c, c->places);
}

/* Those at these places of each image, [N,kept]. */
static int pick(fe_builder *b, findings *f, xpu_value places) {
    f->scores = fe_gather_elements(b, f->scores, places, 1);
    f->labels = fe_gather_elements(b, f->labels, places, 1);
    f->places = fe_gather_elements(b, f->places, places, 1);
    f->boxes = xpu_paddle_rows(b, f->boxes, places);
    return f->scores.id && f->labels.id && f->places.id && f->boxes.id;
}

/* By class, then as the candidates were, or where classes have boxes of their own by place; those that are none last.
 * `was`: which candidate each is. */
static int sort_by_class(candidates *c, findings *f, xpu_value was, xpu_dim kept) {
    fe_builder *b = &c->b;
    xpu_value order[2], key = was;
    if (c->has_own) {
        key = fe_binary(b, XPU_OP_MUL, fe_as(b, f->labels, XPU_I64), fe_dim_values(b, &c->all, 1, 0));
        key = fe_binary(b, XPU_OP_ADD, key, f->places);
    }
    xpu_value is_one = fe_binary(b, XPU_OP_GREATER, f->scores, fe_number(b, -INFINITY));
    key = xpu_paddle_choose(b, is_one, key, fe_integer(b, XPU_I64, INT64_MAX));
    return key.id && fe_top(b, key, &(fe_ordering){.axis = 1, .k = kept}, order) && pick(b, f, order[1]);
}

/* The best of each image, in the order of the scores, or by class. */
static int keep_best(candidates *c, findings *f, int by_class, xpu_dim *kept) {
    fe_builder *b = &c->b;
    xpu_dims *dims = &b->graph->dims;
    int64_t most = xpu_paddle_int(c->node, "keep_top_k", -1);
    xpu_value top[2];
    *kept = c->total;
    if (most >= 0)
        *kept = xpu_dim_op(dims, XPU_DIM_MIN, c->total, xpu_dim_const(dims, most < INT32_MAX ? most : INT32_MAX));
    if (by_class && xpu_dim_same(dims, *kept, c->total)) return !c->has_own || sort_by_class(c, f, failed, *kept);
    if (!fe_top(b, f->scores, &(fe_ordering){.axis = 1, .k = *kept, .largest = 1}, top) || !pick(b, f, top[1]))
        return 0;
    return !by_class || sort_by_class(c, f, top[1], *kept);
}

/* [how many, 6]: class, score, box; then the places among all boxes of all images, and how many each image has. */
static xpu_value give_findings(candidates *c, findings *f, xpu_dim kept) {
    fe_builder *b = &c->b;
    xpu_dims *dims = &b->graph->dims;
    xpu_dim count = xpu_dim_mul(dims, c->images, kept), rows[] = {count, xpu_dim_const(dims, XPU_BOX + 2)},
            one = xpu_dim_const(dims, 1);
    xpu_value is_one = fe_binary(b, XPU_OP_GREATER, f->scores, fe_number(b, -INFINITY));
    xpu_value parts[] = {xpu_paddle_widened(b, f->labels, 2), xpu_paddle_widened(b, f->scores, 2), f->boxes};
    xpu_value places = xpu_paddle_places(b, xpu_paddle_reshaped(b, is_one, &count, 1));
    if (!parts[0].id || !parts[1].id || !parts[2].id || !places.id) return failed;
    xpu_value all = xpu_paddle_reshaped(b, fe_concat(b, parts, 3, 2), rows, 2);
    all = all.id ? fe_gather(b, all, places, 0) : failed;
    xpu_value first =
        fe_binary(b, XPU_OP_MUL, fe_counted(b, XPU_I64, c->images, 0, 2), fe_dim_values(b, &c->all, 1, 0));
    if (c->has_own) { /* places among all boxes of all classes, [M,C] */
        first = fe_as(b, f->labels, XPU_I64);
        xpu_value classes = xpu_paddle_operand(c->node, "Scores");
        f->places = fe_binary(b, XPU_OP_MUL, f->places, fe_dim_values(b, &fe_info(b, classes)->dims[1], 1, 0));
    }
    xpu_dim column[] = {count, one};
    xpu_value index = xpu_paddle_reshaped(b, fe_binary(b, XPU_OP_ADD, f->places, first), column, 2);
    index = index.id ? fe_as(b, fe_gather(b, index, places, 0), XPU_I32) : failed;
    if (c->node->result_count > 1 && !xpu_paddle_give(c->node, b, 1, index).id) return failed;
    if (c->node->result_count > 2 && !xpu_paddle_give(c->node, b, 2, xpu_paddle_counts(b, is_one)).id) return failed;
    return xpu_paddle_give(c->node, b, 0, all);
}

/* Greedily: a box is out where a better one of its class overlaps it. */
xpu_value xpu_paddle_convert_multiclass_nms(xpu_paddle_node *node) {
    candidates c;
    findings f;
    xpu_dim kept;
    xpu_value picks, found;
    if (!read_candidates(node, &c)) return failed;
    fe_builder *b = &c.b;
    xpu_dims *dims = &b->graph->dims;
    xpu_dim each[] = {xpu_dim_mul(dims, c.images, xpu_dim_const(dims, c.classes)), c.kept};
    xpu_paddle_suppression form = {.boxes = xpu_paddle_outer(b, c.near, !xpu_paddle_int(node, "normalized", 1)),
                                   .scores = xpu_paddle_reshaped(b, c.scores, each, 2),
                                   .most = c.kept,
                                   .overlap = xpu_paddle_float(node, "nms_threshold", 0.3f),
                                   .least = xpu_paddle_float(node, "score_threshold", 0)};
    if (!xpu_paddle_suppress(b, &form, &picks, &found)) return failed;
    xpu_value scores = fe_gather_elements(b, form.scores, picks, 1);
    c.near = xpu_paddle_rows(b, c.near, picks);
    c.places = fe_gather_elements(b, xpu_paddle_reshaped(b, c.places, each, 2), picks, 1);
    f.scores = flat(&c, xpu_paddle_choose(b, found, scores, fe_number(b, -INFINITY)));
    list_findings(&c, &f);
    if (!f.scores.id || !f.boxes.id || !keep_best(&c, &f, 1, &kept)) return failed;
    return give_findings(&c, &f, kept);
}

/* ---- scores that decay ---- */

/* One side of all boxes [T,K,4], as a column or a row. */
static xpu_value side(fe_builder *b, xpu_value boxes, int index, int as_row) {
    static const int64_t turned[] = {0, 2, 1};
    xpu_value x = xpu_paddle_columns(b, boxes, index, 1);
    return as_row && x.id ? fe_transpose(b, x, (fe_ints){turned, 3}) : x;
}

static xpu_value area(fe_builder *b, xpu_value boxes, int as_row) {
    xpu_value size[2];
    for (int i = 0; i < 2; i++) {
        size[i] = fe_binary(b, XPU_OP_SUB, side(b, boxes, 2 + i, as_row), side(b, boxes, i, as_row));
        size[i] = fe_unary(b, XPU_OP_RELU, size[i]);
    }
    return fe_binary(b, XPU_OP_MUL, size[0], size[1]);
}

/* How far boxes overlap, [T,K,K]: the area of both in that of either; boxes with pixels touch where they share some. */
static xpu_value overlaps(fe_builder *b, xpu_value boxes, int has_pixels) {
    xpu_value common[2], meet = failed;
    boxes = xpu_paddle_outer(b, boxes, has_pixels);
    for (int i = 0; i < 2; i++) {
        xpu_value end = fe_binary(b, XPU_OP_MIN, side(b, boxes, 2 + i, 0), side(b, boxes, 2 + i, 1));
        xpu_value start = fe_binary(b, XPU_OP_MAX, side(b, boxes, i, 0), side(b, boxes, i, 1));
        common[i] = fe_binary(b, XPU_OP_SUB, end, start);
        xpu_op_id op = has_pixels ? XPU_OP_GREATER_OR_EQUAL : XPU_OP_GREATER;
        xpu_value touch = fe_binary(b, op, common[i], fe_number(b, has_pixels ? 1 : 0));
        meet = i ? fe_binary(b, XPU_OP_AND, meet, touch) : touch;
    }
    xpu_value both = fe_binary(b, XPU_OP_MUL, common[0], common[1]);
    xpu_value either = fe_binary(b, XPU_OP_SUB, fe_binary(b, XPU_OP_ADD, area(b, boxes, 0), area(b, boxes, 1)), both);
    return xpu_paddle_choose(b, meet, fe_binary(b, XPU_OP_DIV, both, either), fe_number(b, 0));
}

/* What of the scores [N,C,K] is left. */
static xpu_value decayed(candidates *c, const xpu_dim each[2]) {
    static const int64_t turned[] = {0, 2, 1};
    fe_builder *b = &c->b;
    xpu_value one = fe_number(b, 1), none = fe_number(b, 0), decay;
    xpu_value better =
        fe_binary(b, XPU_OP_LESS, fe_counted(b, XPU_I32, c->kept, 1, 2), fe_counted(b, XPU_I32, c->kept, 0, 2));
    xpu_value over = overlaps(b, c->near, !xpu_paddle_int(c->node, "normalized", 1));
    xpu_value most = xpu_paddle_reduced(b, XPU_OP_REDUCE_MAX, xpu_paddle_choose(b, better, over, none), 2, 1);
    most = most.id ? fe_transpose(b, most, (fe_ints){turned, 3}) : failed; /* of the better one */
    if (xpu_paddle_int(c->node, "use_gaussian", 0)) {
        xpu_value gap =
            fe_binary(b, XPU_OP_SUB, fe_binary(b, XPU_OP_MUL, most, most), fe_binary(b, XPU_OP_MUL, over, over));
        decay =
            fe_unary(b, XPU_OP_EXP, xpu_paddle_times(b, gap, (double)xpu_paddle_float(c->node, "gaussian_sigma", 2)));
    } else {
        xpu_value rest = fe_binary(b, XPU_OP_SUB, one, most);
        decay = fe_binary(b, XPU_OP_DIV, fe_binary(b, XPU_OP_SUB, one, over), rest);
        decay = xpu_paddle_choose(b, fe_binary(b, XPU_OP_GREATER, rest, none), decay, one);
    }
    decay = xpu_paddle_reduced(b, XPU_OP_REDUCE_MIN, xpu_paddle_choose(b, better, decay, one), 2, 0);
    decay = fe_binary(b, XPU_OP_MIN, decay, one);
    return fe_binary(b, XPU_OP_MUL, decay, xpu_paddle_reshaped(b, c->scores, each, 2));
}

/* All at once: a score becomes smaller the more a better box overlaps. */
xpu_value xpu_paddle_convert_matrix_nms(xpu_paddle_node *node) {
    candidates c;
    findings f;
    xpu_dim kept;
    if (!read_candidates(node, &c)) return failed;
    fe_builder *b = &c.b;
    xpu_dims *dims = &b->graph->dims;
    if (c.has_own || xpu_dim_max(dims, c.kept) > MOST_PAIRS)
        return xpu_paddle_refuse(node, "the boxes are not supported",
                                 "nms_top_k of one list for all classes, at most 4096, is");
    xpu_dim each[] = {xpu_dim_mul(dims, c.images, xpu_dim_const(dims, c.classes)), c.kept};
    xpu_value scores = flat(&c, decayed(&c, each));
    xpu_value found =
        fe_binary(b, XPU_OP_GREATER, flat(&c, c.scores), fe_number(b, xpu_paddle_float(node, "score_threshold", 0)));
    found = fe_binary(b, XPU_OP_AND, found,
                      fe_binary(b, XPU_OP_GREATER, scores, fe_number(b, xpu_paddle_float(node, "post_threshold", 0))));
    f.scores = xpu_paddle_choose(b, found, scores, fe_number(b, -INFINITY));
    list_findings(&c, &f);
    if (!f.scores.id || !f.boxes.id || !keep_best(&c, &f, 0, &kept)) return failed;
    return give_findings(&c, &f, kept);
}

/* The boxes [M,4] that none before them overlaps: their places, int64. */
xpu_value xpu_paddle_convert_nms(xpu_paddle_node *node) {
    fe_builder b = fe_inside(&node->build);
    xpu_value boxes = xpu_paddle_operand(node, "Boxes"), picks, found;
    if (!boxes.id) return failed;
    if (xpu_paddle_rank(node, boxes) != 2)
        return xpu_paddle_refuse(node, "the shapes are not supported", fe_shape_text(&b, boxes));
    xpu_dim count = fe_info(&b, boxes)->dims[0], dims[] = {xpu_dim_const(&b.graph->dims, 1), count};
    xpu_value rank = fe_as(&b, fe_counted(&b, XPU_I32, count, 0, 1), XPU_F32);
    xpu_paddle_suppression form = {.boxes = xpu_paddle_widened(&b, boxes, 0),
                                   .scores = xpu_paddle_reshaped(&b, fe_unary(&b, XPU_OP_NEG, rank), dims, 2),
                                   .most = count,
                                   .overlap = xpu_paddle_float(node, "iou_threshold", 1),
                                   .least = -INFINITY};
    if (!xpu_paddle_suppress(&b, &form, &picks, &found)) return failed;
    xpu_value places = xpu_paddle_places(&b, xpu_paddle_reshaped(&b, found, &count, 1));
    picks = xpu_paddle_reshaped(&b, picks, &count, 1);
    return places.id && picks.id ? xpu_paddle_give(node, &b, 0, fe_gather(&b, picks, places, 0)) : failed;
}
