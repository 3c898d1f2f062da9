/* Boxes of the objects in images: the best of each class that no better one overlaps. */
#include <math.h>
#include <string.h>

#include "frontend/paddle/nms.h"

static const xpu_value failed = {0};

enum { MOST_CLASSES = 1 << 16 };

/* The scores [N,C,M] without the background, and which classes these are. */
static xpu_value without_background(xpu_paddle_candidates *c, xpu_value scores) {
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
static int read_own_boxes(xpu_paddle_candidates *c, xpu_value *scores) {
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

/* The best of c->boxes by these scores [N,C,M]. */
static int take_candidates(xpu_paddle_candidates *c, xpu_value scores) {
    xpu_value top[2];
    fe_builder *b = &c->b;
    xpu_dims *dims = &b->graph->dims;
    int64_t most = xpu_paddle_int(c->node, "nms_top_k", -1);
    c->images = fe_info(b, scores)->dims[0];
    c->all = c->kept = fe_info(b, scores)->dims[2];
    if (most >= 0)
        c->kept = xpu_dim_op(dims, XPU_DIM_MIN, c->all, xpu_dim_const(dims, most < INT32_MAX ? most : INT32_MAX));
    c->total = xpu_dim_mul(dims, xpu_dim_const(dims, c->classes), c->kept);
    if (!fe_top(b, scores, &(fe_ordering){.axis = 2, .k = c->kept, .largest = 1}, top)) return 0;
    c->scores = top[0];
    c->places = top[1];
    const xpu_dim lists = xpu_dim_mul(dims, c->images, xpu_dim_const(dims, c->classes));
    const int by_class = c->has_own || c->merged.id;
    xpu_dim flat[] = {by_class ? lists : c->images, by_class ? c->kept : c->total};
    xpu_dim near[] = {lists, c->kept, xpu_dim_const(dims, c->sides)};
    c->near = xpu_paddle_rows(b, c->boxes, xpu_paddle_reshaped(b, c->places, flat, 2));
    c->near = xpu_paddle_reshaped(b, c->near, near, 3);
    return c->near.id != 0;
}

/* Of c->boxes and these scores. */
static int read_candidates(xpu_paddle_candidates *c, xpu_value scores) {
    xpu_paddle_node *node = c->node;
    fe_builder *b = &c->b;
    int64_t sides = 0;
    if (!c->boxes.id || !scores.id) return 0;
    const xpu_value_info info = *fe_info(b, c->boxes);
    if (info.rank != 3 || !xpu_dim_is_const(&b->graph->dims, info.dims[2], &sides) || sides != XPU_BOX)
        return xpu_paddle_refuse(node, "the boxes have other sides than four", fe_shape_text(b, c->boxes)).id != 0;
    if (xpu_paddle_rank(node, scores) == 2 && !read_own_boxes(c, &scores)) return 0;
    if (xpu_paddle_rank(node, scores) != 3)
        return xpu_paddle_refuse(node, "the shapes are not supported", fe_shape_text(b, scores)).id != 0;
    scores = without_background(c, scores);
    return scores.id && take_candidates(c, scores);
}

/* ---- what was found ---- */

/* Row-major places of classes and candidates as they are. */
static xpu_value flat(xpu_paddle_candidates *c, xpu_value x) {
    xpu_dim dims[] = {c->images, c->total};
    return xpu_paddle_reshaped(&c->b, x, dims, 2);
}

static void list_findings(xpu_paddle_candidates *c, xpu_paddle_findings *f) {
    fe_builder *b = &c->b;
    xpu_dims *dims = &b->graph->dims;
    xpu_dim all[] = {c->images, xpu_dim_const(dims, c->classes), c->kept},
            sides[] = {c->images, c->total, xpu_dim_const(dims, c->sides)};
    f->labels = flat(c, fe_expand(b, xpu_paddle_widened(b, c->labels, 1), (fe_dims){all, 3}));
    f->boxes = xpu_paddle_reshaped(b, c->near, sides, 3);
    f->places = flat(c, c->places);
    if (c->merged.id) f->boxes = xpu_paddle_rows(b, c->merged, f->places);
}

/* Those at these places of each image, [N,kept]. */
static int pick(fe_builder *b, xpu_paddle_findings *f, xpu_value places) {
    f->scores = fe_gather_elements(b, f->scores, places, 1);
    f->labels = fe_gather_elements(b, f->labels, places, 1);
    f->places = fe_gather_elements(b, f->places, places, 1);
    f->boxes = xpu_paddle_rows(b, f->boxes, places);
    return f->scores.id && f->labels.id && f->places.id && f->boxes.id;
}

/* By class, then as the candidates were, or where classes have boxes of their own by place; those that are none last.
 * `was`: which candidate each is. */
static int sort_by_class(xpu_paddle_candidates *c, xpu_paddle_findings *f, xpu_value was, xpu_dim kept) {
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

int xpu_paddle_keep_best(xpu_paddle_candidates *c, xpu_paddle_findings *f, int by_class, xpu_dim *kept) {
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

/* What a user of PaddlePaddle's programs is given where nothing is found: [[-1]] in place of [0,S+2]. An operator that
 * reads the result finds its columns known. */
static xpu_value or_none(xpu_paddle_candidates *c, xpu_value all) {
    const char *type = c->node->op->type;
    if (strcmp(type, "multiclass_nms") != 0 && strcmp(type, "locality_aware_nms") != 0) return all;
    if (!all.id || xpu_paddle_is_read(c->node, 0)) return all;
    fe_builder *b = &c->b;
    xpu_dims *dims = &b->graph->dims;
    const xpu_dim zero = xpu_dim_const(dims, 0), one = xpu_dim_const(dims, 1), found = fe_info(b, all)->dims[0],
                  columns = fe_info(b, all)->dims[1], row[] = {one, columns};
    xpu_value parts[] = {all, fe_expand(b, fe_number(b, -1), (fe_dims){row, 2})};
    const xpu_dim more =
        xpu_dim_mul(dims, xpu_dim_op(dims, XPU_DIM_MIN, found, one), xpu_dim_add_const(dims, columns, -1));
    xpu_value x = parts[1].id ? fe_concat(b, parts, 2, 0) : failed;
    x = x.id ? fe_part(b, x, 0, zero, xpu_dim_op(dims, XPU_DIM_MAX, found, one), 1, 0) : failed;
    return x.id ? fe_part(b, x, 1, zero, xpu_dim_add(dims, more, one), 1, 0) : failed;
}

xpu_value xpu_paddle_give_findings(xpu_paddle_candidates *c, xpu_paddle_findings *f, xpu_dim kept) {
    fe_builder *b = &c->b;
    xpu_dims *dims = &b->graph->dims;
    xpu_dim count = xpu_dim_mul(dims, c->images, kept), rows[] = {count, xpu_dim_const(dims, c->sides + 2)},
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
    return xpu_paddle_give(c->node, b, 0, or_none(c, all));
}

/* Greedily: a box is out where a better one of its class overlaps it. */
static xpu_value suppressed(xpu_paddle_candidates *c) {
    xpu_paddle_node *node = c->node;
    xpu_paddle_findings f;
    xpu_dim kept;
    xpu_value picks, found;
    fe_builder *b = &c->b;
    xpu_dims *dims = &b->graph->dims;
    int has_pixels = !xpu_paddle_int(node, "normalized", 1);
    float eta = xpu_paddle_float(node, "nms_eta", 1);
    xpu_dim each[] = {xpu_dim_mul(dims, c->images, xpu_dim_const(dims, c->classes)), c->kept};
    xpu_paddle_suppression form = {.scores = xpu_paddle_reshaped(b, c->scores, each, 2),
                                   .most = c->kept,
                                   .overlap = xpu_paddle_float(node, "nms_threshold", 0.3f),
                                   .least = xpu_paddle_float(node, "score_threshold", 0),
                                   .kind = has_pixels ? XA_BOX_PIXELS : XA_BOX_SIDES};
    const int are_polygons = c->sides != XPU_BOX;
    if (are_polygons || (eta < 1 && form.overlap > 0.5f)) {
        if (xpu_dim_max(dims, c->kept) > XPU_MOST_PAIRS / (are_polygons ? c->sides / 2 : 1))
            return xpu_paddle_refuse(node, "the boxes are not supported",
                                     are_polygons ? "nms_top_k keeps more than 4096 corners of polygons"
                                                  : "nms_eta is below 1, nms_top_k above 4096");
        xpu_value over = are_polygons ? xpu_paddle_polygon_overlaps(b, c->near, c->near)
                                      : xpu_paddle_overlaps(b, c->near, c->near, has_pixels);
        if (!xpu_paddle_suppress_adapting(b, &form, fminf(eta, 1), over, &picks, &found)) return failed;
    } else {
        form.boxes = c->near;
        if (!xpu_paddle_suppress(b, &form, &picks, &found)) return failed;
    }
    xpu_value scores = fe_gather_elements(b, form.scores, picks, 1);
    c->near = xpu_paddle_rows(b, c->near, picks);
    c->places = fe_gather_elements(b, xpu_paddle_reshaped(b, c->places, each, 2), picks, 1);
    f.scores = flat(c, xpu_paddle_choose(b, found, scores, fe_number(b, -INFINITY)));
    list_findings(c, &f);
    if (!f.scores.id || !f.boxes.id || !xpu_paddle_keep_best(c, &f, 1, &kept)) return failed;
    return xpu_paddle_give_findings(c, &f, kept);
}

static xpu_paddle_candidates begin(xpu_paddle_node *node) {
    return (xpu_paddle_candidates){
        .node = node, .b = fe_inside(&node->build), .sides = XPU_BOX, .boxes = xpu_paddle_operand(node, "BBoxes")};
}

xpu_value xpu_paddle_convert_multiclass_nms(xpu_paddle_node *node) {
    xpu_paddle_candidates c = begin(node);
    return read_candidates(&c, xpu_paddle_operand(node, "Scores")) ? suppressed(&c) : failed;
}

/* Merges the boxes of each class, those that the classes before it left; the scores [N,C,M] after that. Each class is
 * decided by its boxes as they are then, c->boxes; given are those after the last one, c->merged. */
static xpu_value merge_classes(xpu_paddle_candidates *c, xpu_value scores) {
    fe_builder *b = &c->b;
    xpu_dims *dims = &b->graph->dims;
    const xpu_dim *all = fe_info(b, scores)->dims, images = all[0], count = all[2],
                  lists = xpu_dim_mul(dims, images, xpu_dim_const(dims, c->classes)), each[] = {images, count},
                  by_class[] = {lists, count, xpu_dim_const(dims, c->sides)};
    const int has_pixels = !xpu_paddle_int(c->node, "normalized", 1);
    const float overlap = xpu_paddle_float(c->node, "nms_threshold", 0.3f);
    xpu_value *own = XPU_NEW_ARRAY(b->scratch, xpu_value, 2 * (size_t)c->classes), *values = own + c->classes;
    c->merged = c->boxes;
    for (int64_t i = 0; i < c->classes; i++) {
        values[i] = fe_part(b, scores, 1, xpu_dim_const(dims, i), xpu_dim_const(dims, 1), 1, 0);
        values[i] = xpu_paddle_reshaped(b, values[i], each, 2);
        if (!values[i].id || !xpu_paddle_merge_near(b, &c->merged, &values[i], overlap, has_pixels)) return failed;
        values[i] = xpu_paddle_widened(b, values[i], 1);
        own[i] = xpu_paddle_widened(b, c->merged, 1);
        if (!values[i].id || !own[i].id) return failed;
    }
    c->boxes = xpu_paddle_reshaped(b, fe_concat(b, own, (uint32_t)c->classes, 1), by_class, 3);
    return c->boxes.id ? fe_concat(b, values, (uint32_t)c->classes, 1) : failed;
}

/* What lies side by side becomes one box first. */
xpu_value xpu_paddle_convert_locality_aware_nms(xpu_paddle_node *node) {
    xpu_paddle_candidates c = begin(node);
    xpu_value scores = xpu_paddle_operand(node, "Scores");
    if (!c.boxes.id || !scores.id) return failed;
    const xpu_value_info boxes = *fe_info(&c.b, c.boxes), info = *fe_info(&c.b, scores);
    xpu_dims *dims = &c.b.graph->dims;
    if (boxes.rank != 3 || info.rank != 3 || !xpu_dim_is_const(dims, boxes.dims[2], &c.sides) ||
        !(c.sides == XPU_BOX || (c.sides >= 8 && c.sides <= 32 && c.sides % 8 == 0)))
        return xpu_paddle_refuse(
            node, "the shapes are not supported",
            xpu_paddle_format(node,
                              "boxes [N,M,4], or of 8, 16, 24 or 32 sides, with scores [N,C,M] are; they are %s and %s",
                              fe_shape_text(&c.b, c.boxes), fe_shape_text(&c.b, scores)));
    scores = without_background(&c, scores);
    scores = scores.id ? merge_classes(&c, scores) : failed;
    return scores.id && take_candidates(&c, scores) ? suppressed(&c) : failed;
}

/* ---- scores that decay ---- */

/* What of the scores [N,C,K] is left. */
static xpu_value decayed(xpu_paddle_candidates *c, const xpu_dim each[2]) {
    static const int64_t turned[] = {0, 2, 1};
    fe_builder *b = &c->b;
    xpu_value one = fe_number(b, 1), none = fe_number(b, 0), decay;
    xpu_value better =
        fe_binary(b, XPU_OP_LESS, fe_counted(b, XPU_I32, c->kept, 1, 2), fe_counted(b, XPU_I32, c->kept, 0, 2));
    xpu_value over = xpu_paddle_overlaps(b, c->near, c->near, !xpu_paddle_int(c->node, "normalized", 1));
    xpu_value held = xpu_paddle_choose(b, better, xpu_paddle_counted(b, over, 0), none);
    xpu_value most = xpu_paddle_reduced(b, XPU_OP_REDUCE_MAX, held, 2, 1);
    most = most.id ? fe_transpose(b, most, (fe_ints){turned, 3}) : failed; /* of the better one */
    if (xpu_paddle_int(c->node, "use_gaussian", 0)) {
        xpu_value gap =
            fe_binary(b, XPU_OP_SUB, fe_binary(b, XPU_OP_MUL, most, most), fe_binary(b, XPU_OP_MUL, over, over));
        decay =
            fe_unary(b, XPU_OP_EXP, xpu_paddle_times(b, gap, (double)xpu_paddle_float(c->node, "gaussian_sigma", 2)));
    } else {
        xpu_value rest = fe_binary(b, XPU_OP_SUB, one, most);
        decay = fe_binary(b, XPU_OP_DIV, fe_binary(b, XPU_OP_SUB, one, over), rest);
    }
    decay = xpu_paddle_counted(b, decay, 1);
    decay = xpu_paddle_reduced(b, XPU_OP_REDUCE_MIN, xpu_paddle_choose(b, better, decay, one), 2, 0);
    decay = fe_binary(b, XPU_OP_MIN, decay, one);
    return fe_binary(b, XPU_OP_MUL, decay, xpu_paddle_reshaped(b, c->scores, each, 2));
}

/* All at once: a score becomes smaller the more a better box overlaps. */
xpu_value xpu_paddle_convert_matrix_nms(xpu_paddle_node *node) {
    xpu_paddle_candidates c = begin(node);
    xpu_paddle_findings f;
    xpu_dim kept;
    if (!read_candidates(&c, xpu_paddle_operand(node, "Scores"))) return failed;
    fe_builder *b = &c.b;
    xpu_dims *dims = &b->graph->dims;
    if (c.has_own || xpu_dim_max(dims, c.kept) > XPU_MOST_PAIRS)
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
    if (!f.scores.id || !f.boxes.id || !xpu_paddle_keep_best(&c, &f, 0, &kept)) return failed;
    return xpu_paddle_give_findings(&c, &f, kept);
}

/* Boxes [M,4] of which those whose corners are in the wrong order have no area. */
static xpu_value in_order(fe_builder *b, xpu_value boxes) {
    xpu_value low = xpu_paddle_columns(b, boxes, 0, 2), high = xpu_paddle_columns(b, boxes, 2, 2);
    xpu_value parts[] = {low, fe_binary(b, XPU_OP_MAX, low, high)};
    return parts[1].id ? fe_concat(b, parts, 2, 1) : failed;
}

/* The boxes [M,4] that none before them overlaps: their places, int64. Unlike multiclass_nms, a box without area
 * overlaps none. */
xpu_value xpu_paddle_convert_nms(xpu_paddle_node *node) {
    fe_builder b = fe_inside(&node->build);
    xpu_value boxes = xpu_paddle_operand(node, "Boxes"), picks, found;
    if (!boxes.id) return failed;
    if (xpu_paddle_rank(node, boxes) != 2)
        return xpu_paddle_refuse(node, "the shapes are not supported", fe_shape_text(&b, boxes));
    xpu_dim count = fe_info(&b, boxes)->dims[0], dims[] = {xpu_dim_const(&b.graph->dims, 1), count};
    xpu_value rank = fe_as(&b, fe_counted(&b, XPU_I32, count, 0, 1), XPU_F32);
    xpu_paddle_suppression form = {.boxes = xpu_paddle_widened(&b, in_order(&b, boxes), 0),
                                   .scores = xpu_paddle_reshaped(&b, fe_unary(&b, XPU_OP_NEG, rank), dims, 2),
                                   .most = count,
                                   .overlap = xpu_paddle_float(node, "iou_threshold", 1),
                                   .least = -INFINITY};
    if (!xpu_paddle_suppress(&b, &form, &picks, &found)) return failed;
    xpu_value places = xpu_paddle_places(&b, xpu_paddle_reshaped(&b, found, &count, 1));
    picks = xpu_paddle_reshaped(&b, picks, &count, 1);
    return places.id && picks.id ? xpu_paddle_give(node, &b, 0, fe_gather(&b, picks, places, 0)) : failed;
}
