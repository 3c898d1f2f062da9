/* What a detector of several levels found: the best of each level, decoded, then suppressed by class. */
#include <math.h>

#include "frontend/paddle/nms.h"

static const xpu_value failed = {0};

enum { MOST_LEVELS = 16, INFO = 3 };

/* The best of all levels, side by side: [N,K,4], and [N,K] each. */
typedef struct {
    xpu_paddle_candidates c;
    xpu_value scale, limits[2]; /* of the image, [N,1,1]: its factor, and the last column and row */
    xpu_value boxes[MOST_LEVELS], scores[MOST_LEVELS], labels[MOST_LEVELS];
    uint32_t levels;
} detector;

/* A whole number, halves up. */
static xpu_value rounded(fe_builder *b, xpu_value x) {
    return fe_unary(b, XPU_OP_FLOOR, xpu_paddle_plus(b, x, 0.5));
}

static int read_image(detector *d, xpu_value info) {
    fe_builder *b = &d->c.b;
    xpu_value size[INFO];
    if (!info.id) return 0;
    const xpu_dim one = xpu_dim_const(&b->graph->dims, 1), each[] = {fe_info(b, info)->dims[0], one, one};
    for (int i = 0; i < INFO; i++) size[i] = xpu_paddle_reshaped(b, xpu_paddle_columns(b, info, i, 1), each, 3);
    d->scale = size[2];
    for (int i = 0; i < 2; i++) { /* columns, rows */
        d->limits[i] = xpu_paddle_plus(b, rounded(b, fe_binary(b, XPU_OP_DIV, size[1 - i], d->scale)), -1);
        if (!d->limits[i].id) return 0;
    }
    return 1;
}

/* Boxes [N,K,4] of anchors and what they move by, in the image. */
static xpu_value decoded(detector *d, xpu_value anchors, xpu_value moves) {
    fe_builder *b = &d->c.b;
    xpu_value sides[XPU_BOX];
    for (int i = 0; i < 2; i++) {
        xpu_value first = xpu_paddle_columns(b, anchors, i, 1);
        xpu_value size =
            xpu_paddle_plus(b, fe_binary(b, XPU_OP_SUB, xpu_paddle_columns(b, anchors, 2 + i, 1), first), 1);
        xpu_value center = fe_binary(b, XPU_OP_ADD, first, xpu_paddle_times(b, size, 0.5));
        center = fe_binary(b, XPU_OP_ADD, fe_binary(b, XPU_OP_MUL, xpu_paddle_columns(b, moves, i, 1), size), center);
        size = fe_binary(b, XPU_OP_MUL, fe_unary(b, XPU_OP_EXP, xpu_paddle_columns(b, moves, 2 + i, 1)), size);
        size = xpu_paddle_times(b, size, 0.5);
        sides[i] = fe_binary(b, XPU_OP_SUB, center, size);
        sides[2 + i] = xpu_paddle_plus(b, fe_binary(b, XPU_OP_ADD, center, size), -1);
    }
    for (int i = 0; i < XPU_BOX; i++) {
        sides[i] = fe_binary(b, XPU_OP_MIN, fe_binary(b, XPU_OP_DIV, sides[i], d->scale), d->limits[i % 2]);
        sides[i] = fe_unary(b, XPU_OP_RELU, sides[i]);
        if (!sides[i].id) return failed;
    }
    return fe_concat(b, sides, XPU_BOX, 2);
}

/* The best of a level's scores [N,M,C]; of the last level all are good enough that are above 0. */
static int add_level(detector *d, xpu_value boxes, xpu_value scores, xpu_value anchors, int is_last) {
    xpu_paddle_node *node = d->c.node;
    fe_builder *b = &d->c.b;
    xpu_dims *dims = &b->graph->dims;
    int64_t classes = 0, most = xpu_paddle_int(node, "nms_top_k", -1);
    if (!boxes.id || !scores.id || !anchors.id) return 0;
    const xpu_value_info info = *fe_info(b, scores);
    if (info.rank != 3 || fe_info(b, boxes)->rank != 3 || fe_info(b, anchors)->rank != 2 ||
        !xpu_dim_is_const(dims, info.dims[2], &classes) || classes < 1 || (d->levels && classes != d->c.classes))
        return xpu_paddle_refuse(node, "the shapes are not supported", fe_shape_text(b, scores)).id != 0;
    d->c.classes = classes;
    d->c.images = info.dims[0];
    xpu_dim all = xpu_dim_mul(dims, info.dims[1], info.dims[2]), flat[] = {info.dims[0], all};
    if (most >= 0) all = xpu_dim_op(dims, XPU_DIM_MIN, all, xpu_dim_const(dims, most < INT32_MAX ? most : INT32_MAX));
    xpu_value top[2];
    scores = xpu_paddle_reshaped(b, scores, flat, 2);
    if (!scores.id || !fe_top(b, scores, &(fe_ordering){.axis = 1, .k = all, .largest = 1}, top)) return 0;
    xpu_value least = fe_number(b, is_last ? 0 : xpu_paddle_float(node, "score_threshold", 0));
    xpu_value wide = fe_integer(b, XPU_I64, classes), row = fe_binary(b, XPU_OP_DIV, top[1], wide);
    d->scores[d->levels] =
        xpu_paddle_choose(b, fe_binary(b, XPU_OP_GREATER, top[0], least), top[0], fe_number(b, -INFINITY));
    xpu_value label = fe_binary(b, XPU_OP_SUB, top[1], fe_binary(b, XPU_OP_MUL, row, wide));
    d->labels[d->levels] = fe_as(b, label, XPU_I32);
    d->boxes[d->levels] = row.id ? decoded(d, fe_gather(b, anchors, row, 0), xpu_paddle_rows(b, boxes, row)) : failed;
    return d->boxes[d->levels].id && d->scores[d->levels].id && d->labels[d->levels++].id;
}

/* The boxes [N,K,4] that are picked by scores [N,C,K], with a threshold that adapts: places and flags [N, C * K]. */
static int pick_adapting(detector *d, xpu_value boxes, xpu_value own, float eta, const xpu_paddle_suppression *form,
                         xpu_value picked[2]) {
    fe_builder *b = &d->c.b;
    xpu_dims *dims = &b->graph->dims;
    const xpu_dim flat[] = {d->c.images, d->c.total};
    const xpu_dim near[] = {xpu_dim_mul(dims, d->c.images, xpu_dim_const(dims, d->c.classes)), d->c.kept,
                            xpu_dim_const(dims, XPU_BOX)};
    xpu_paddle_suppression each = *form;
    xpu_value top[2], line, flags;
    if (xpu_dim_max(dims, d->c.kept) > XPU_MOST_PAIRS)
        return xpu_paddle_refuse(d->c.node, "the boxes are not supported", "nms_eta is below 1, nms_top_k above 4096")
                   .id != 0;
    if (!fe_top(b, own, &(fe_ordering){.axis = 2, .k = d->c.kept, .largest = 1}, top)) return 0;
    picked[0] = xpu_paddle_reshaped(b, top[1], flat, 2);
    boxes = xpu_paddle_reshaped(b, xpu_paddle_rows(b, boxes, picked[0]), near, 3);
    each.scores = xpu_paddle_reshaped(b, top[0], near, 2);
    if (!boxes.id || !each.scores.id) return 0;
    xpu_value overlaps = xpu_paddle_overlaps(b, boxes, boxes, 1);
    if (!xpu_paddle_suppress_adapting(b, &each, eta, overlaps, &line, &flags)) return 0;
    picked[1] = xpu_paddle_reshaped(b, flags, flat, 2);
    return picked[1].id != 0;
}

/* The same with one threshold. */
static int pick(detector *d, xpu_value boxes, xpu_value own, const xpu_paddle_suppression *form, xpu_value picked[2]) {
    fe_builder *b = &d->c.b;
    const xpu_dim flat[] = {d->c.images, d->c.total};
    const xpu_attr attrs[] = {XPU_ATTR_DIMS_OF(SHAPE, &d->c.kept, 1), XPU_ATTR_INT_OF(KIND, XA_BOX_PIXELS)};
    xpu_value operands[] = {boxes, own, fe_number(b, form->overlap), fe_number(b, form->least)};
    xpu_value picks = fe_node(b, XPU_OP_NMS, operands, 4, attrs, 2, 0), zero = fe_integer(b, XPU_I32, 0);
    picked[0] = xpu_paddle_reshaped(b, fe_as(b, fe_binary(b, XPU_OP_MAX, picks, zero), XPU_I64), flat, 2);
    picked[1] = xpu_paddle_reshaped(b, fe_binary(b, XPU_OP_GREATER_OR_EQUAL, picks, zero), flat, 2);
    return picked[0].id && picked[1].id;
}

/* For each class the best of its boxes: as rows [N, C * K]. */
static int suppress(detector *d, xpu_paddle_findings *f) {
    fe_builder *b = &d->c.b;
    xpu_dims *dims = &b->graph->dims;
    const xpu_value boxes = fe_concat(b, d->boxes, d->levels, 1), scores = fe_concat(b, d->scores, d->levels, 1),
                    labels = fe_concat(b, d->labels, d->levels, 1);
    if (!boxes.id || !scores.id || !labels.id) return 0;
    d->c.all = d->c.kept = fe_info(b, scores)->dims[1];
    d->c.total = xpu_dim_mul(dims, d->c.kept, xpu_dim_const(dims, d->c.classes));
    xpu_dim each[] = {d->c.images, xpu_dim_const(dims, d->c.classes), d->c.kept}, flat[] = {d->c.images, d->c.total};
    xpu_value class = fe_counted(b, XPU_I32, each[1], 1, 3), none = fe_number(b, -INFINITY);
    xpu_value own = fe_binary(b, XPU_OP_EQUAL, xpu_paddle_widened(b, labels, 1), class);
    own = xpu_paddle_choose(b, own, xpu_paddle_widened(b, scores, 1), none);
    if (!own.id) return 0;
    const float eta = xpu_paddle_float(d->c.node, "nms_eta", 1);
    const xpu_paddle_suppression form = {.overlap = xpu_paddle_float(d->c.node, "nms_threshold", 0.3f),
                                         .least = -INFINITY};
    xpu_value picked[] = {failed, failed};
    if (eta < 1 && form.overlap > 0.5f ? !pick_adapting(d, boxes, own, eta, &form, picked)
                                       : !pick(d, boxes, own, &form, picked))
        return 0;
    f->places = picked[0];
    xpu_value values = fe_gather_elements(b, scores, f->places, 1);
    f->scores = xpu_paddle_choose(b, picked[1], values, none);
    f->boxes = xpu_paddle_rows(b, boxes, f->places);
    xpu_value names = xpu_paddle_plus(b, fe_as(b, class, XPU_F32), 1);
    f->labels = names.id ? xpu_paddle_reshaped(b, fe_expand(b, names, (fe_dims){each, 3}), flat, 2) : failed;
    return f->scores.id && f->boxes.id && f->labels.id;
}

xpu_value xpu_paddle_convert_retinanet(xpu_paddle_node *node) {
    xpu_paddle_values boxes = xpu_paddle_operands(node, "BBoxes"), scores = xpu_paddle_operands(node, "Scores"),
                      anchors = xpu_paddle_operands(node, "Anchors");
    detector d = {.c = {.node = node, .sides = XPU_BOX, .b = fe_inside(&node->build)}};
    xpu_paddle_findings f;
    xpu_dim kept;
    if (!boxes.count || boxes.count > MOST_LEVELS || boxes.count != scores.count || boxes.count != anchors.count)
        return xpu_paddle_refuse(node, "the levels do not fit together",
                                 xpu_paddle_format(node, "there are %u boxes, %u scores, %u anchors; at most %d levels",
                                                   boxes.count, scores.count, anchors.count, MOST_LEVELS));
    if (!read_image(&d, xpu_paddle_operand(node, "ImInfo"))) return failed;
    for (uint32_t i = 0; i < boxes.count; i++)
        if (!add_level(&d, boxes.items[i], scores.items[i], anchors.items[i], i + 1 == boxes.count)) return failed;
    if (!suppress(&d, &f) || !xpu_paddle_keep_best(&d.c, &f, 0, &kept)) return failed;
    return xpu_paddle_give_findings(&d.c, &f, kept);
}
