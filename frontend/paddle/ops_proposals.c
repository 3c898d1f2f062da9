/* Regions that a network proposes, and on which level of a pyramid of features each is looked at. */
#include <math.h>

#include "frontend/paddle/compose.h"

static const xpu_value failed = {0};

enum { MOST_LEVELS = 32 };

static xpu_dim fixed(const xpu_paddle_node *node, int64_t size) {
    return xpu_dim_const(&node->build.graph->dims, size);
}

/* ---- proposals ---- */

/* Of N images, K candidates each. */
typedef struct {
    xpu_paddle_node *node;
    fe_builder b;
    xpu_dim images, kept;
    xpu_value info;                /* [N,2 or 3]: height, width, with old_form scale */
    xpu_value scores, boxes, good; /* [N,K], [N,K,4] and which are large enough and inside, [N,K] */
    int old_form, has_pixels;
} proposals;

/* [N,A * each,H,W] as [N,H * W * A,each], `each` 0: no such dim. */
static xpu_value by_place(proposals *p, xpu_value x, int64_t each) {
    static const int64_t perm[] = {0, 2, 3, 1};
    if (!x.id || xpu_paddle_rank(p->node, x) != 4) return failed;
    const xpu_value_info info = *fe_info(&p->b, x);
    xpu_dim places = fe_dim_product(&p->b, info.dims, 1, 4);
    if (each) places = xpu_dim_op(&p->b.graph->dims, XPU_DIM_FLOORDIV, places, fixed(p->node, each));
    xpu_dim dims[] = {info.dims[0], places, fixed(p->node, each)};
    return xpu_paddle_reshaped(&p->b, fe_transpose(&p->b, x, (fe_ints){perm, 4}), dims, each ? 3 : 2);
}

/* Rows [places,4] of a tensor [...,4] at [N,K]. */
static xpu_value rows_of(proposals *p, const char *name, xpu_value places) {
    xpu_value x = xpu_paddle_operand(p->node, name);
    if (!x.id || xpu_paddle_rank(p->node, x) < 2) return failed;
    const xpu_value_info info = *fe_info(&p->b, x);
    xpu_dim dims[] = {fe_dim_product(&p->b, info.dims, 0, info.rank - 1), fixed(p->node, XPU_BOX)};
    x = xpu_paddle_reshaped(&p->b, x, dims, 2);
    return x.id ? fe_gather(&p->b, x, places, 0) : failed;
}

/* Number `index` about each image, [N,1]. */
static xpu_value about(proposals *p, int index) {
    return xpu_paddle_columns(&p->b, p->info, index, 1);
}

/* Boxes of anchors that are moved and stretched, cut off at the edges; and whether each is good. */
static int decode(proposals *p, xpu_value places, xpu_value deltas) {
    fe_builder *b = &p->b;
    xpu_value anchors = rows_of(p, "Anchors", places), variances = rows_of(p, "Variances", places), sides[XPU_BOX];
    double more = p->has_pixels ? 1 : 0, least = fmax((double)xpu_paddle_float(p->node, "min_size", 0.1f), 1);
    if (xpu_paddle_operand(p->node, "Variances").id) deltas = fe_binary(b, XPU_OP_MUL, variances, deltas);
    if (!anchors.id || !deltas.id) return 0;
    p->good = failed;
    for (int i = 0; i < 2; i++) {
        xpu_value first = xpu_paddle_columns(b, anchors, i, 1);
        xpu_value size =
            xpu_paddle_plus(b, fe_binary(b, XPU_OP_SUB, xpu_paddle_columns(b, anchors, 2 + i, 1), first), more);
        xpu_value centre = fe_binary(b, XPU_OP_ADD, first, xpu_paddle_times(b, size, 0.5));
        xpu_value grow =
            fe_binary(b, XPU_OP_MIN, xpu_paddle_columns(b, deltas, 2 + i, 1), fe_number(b, (float)log(1000.0 / 16)));
        centre = fe_binary(b, XPU_OP_ADD, fe_binary(b, XPU_OP_MUL, xpu_paddle_columns(b, deltas, i, 1), size), centre);
        xpu_value half = xpu_paddle_times(b, fe_binary(b, XPU_OP_MUL, fe_unary(b, XPU_OP_EXP, grow), size), 0.5);
        xpu_value image = xpu_paddle_widened(b, about(p, 1 - i), 2), edge = xpu_paddle_plus(b, image, -more);
        sides[i] = fe_binary(b, XPU_OP_SUB, centre, half);
        sides[2 + i] = xpu_paddle_plus(b, fe_binary(b, XPU_OP_ADD, centre, half), -more);
        for (int k = i; k < XPU_BOX; k += 2)
            sides[k] = fe_binary(b, XPU_OP_MAX, fe_binary(b, XPU_OP_MIN, sides[k], edge), fe_number(b, 0));
        xpu_value extent = fe_binary(b, XPU_OP_SUB, sides[2 + i], sides[i]), own = extent;
        if (p->old_form) own = fe_binary(b, XPU_OP_DIV, extent, xpu_paddle_widened(b, about(p, 2), 2));
        own = xpu_paddle_plus(b, own, more);
        xpu_value good = fe_binary(b, XPU_OP_GREATER_OR_EQUAL, own, fe_number(b, (float)least));
        if (p->has_pixels) { /* the middle is inside */
            extent = xpu_paddle_times(b, xpu_paddle_plus(b, extent, more), 0.5);
            good = fe_binary(b, XPU_OP_AND, good,
                             fe_binary(b, XPU_OP_LESS_OR_EQUAL, fe_binary(b, XPU_OP_ADD, sides[i], extent), image));
        }
        p->good = p->good.id ? fe_binary(b, XPU_OP_AND, p->good, good) : good;
    }
    for (int i = 0; i < XPU_BOX; i++) {
        if (!sides[i].id) return 0;
    }
    xpu_dim dims[] = {p->images, p->kept};
    p->boxes = fe_concat(b, sides, XPU_BOX, 2);
    p->good = xpu_paddle_reshaped(b, p->good, dims, 2);
    return p->boxes.id && p->good.id;
}

static int read_proposals(proposals *p) {
    fe_builder *b = &p->b;
    xpu_dims *dims = &b->graph->dims;
    xpu_value scores = by_place(p, xpu_paddle_operand(p->node, "Scores"), 0), top[2];
    xpu_value deltas = by_place(p, xpu_paddle_operand(p->node, "BboxDeltas"), XPU_BOX);
    int64_t most = xpu_paddle_int(p->node, "pre_nms_topN", 6000);
    if (!scores.id || !deltas.id || !p->info.id) return 0;
    if (xpu_paddle_rank(p->node, p->info) != 2)
        return xpu_paddle_refuse(p->node, "the sizes of the images are no rows", fe_shape_text(b, p->info)).id != 0;
    if (xpu_paddle_float(p->node, "eta", 1) < 1)
        return xpu_paddle_refuse(p->node, "a threshold that adapts is not supported", "eta is below 1").id != 0;
    const xpu_value_info info = *fe_info(b, scores);
    p->images = info.dims[0];
    p->kept = info.dims[1];
    if (most > 0) p->kept = xpu_dim_op(dims, XPU_DIM_MIN, p->kept, fixed(p->node, most < INT32_MAX ? most : INT32_MAX));
    if (!fe_top(b, scores, &(fe_ordering){.axis = 1, .k = p->kept, .largest = 1}, top)) return 0;
    p->scores = top[0];
    return decode(p, top[1], xpu_paddle_rows(b, deltas, top[1]));
}

/* Those [N,most] that are there, as rows; an image without any has one of zeros. */
static xpu_value give_proposals(proposals *p, xpu_value boxes, xpu_value scores, xpu_value found, xpu_dim most) {
    fe_builder *b = &p->b;
    xpu_dims *dims = &b->graph->dims;
    xpu_value zero = fe_number(b, 0);
    scores = xpu_paddle_choose(b, found, scores, zero);
    boxes = xpu_paddle_choose(b, xpu_paddle_widened(b, found, 2), boxes, zero);
    xpu_value one = fe_integer(b, XPU_I32, 1),
              counts = xpu_paddle_reduced(b, XPU_OP_REDUCE_SUM, fe_as(b, found, XPU_I32), 1, 1);
    xpu_value first = fe_binary(b, XPU_OP_EQUAL, fe_counted(b, XPU_I32, most, 1, 2), fe_integer(b, XPU_I32, 0));
    xpu_value alone = fe_binary(b, XPU_OP_AND, first, fe_binary(b, XPU_OP_LESS, counts, one));
    counts = fe_binary(b, XPU_OP_MAX, counts, one);
    xpu_dim count = xpu_dim_mul(dims, p->images, most), rows[] = {count, fixed(p->node, XPU_BOX)},
            column[] = {count, fixed(p->node, 1)};
    found = fe_binary(b, XPU_OP_OR, found, alone);
    xpu_value places = xpu_paddle_places(b, xpu_paddle_reshaped(b, found, &count, 1));
    boxes = xpu_paddle_reshaped(b, boxes, rows, 2);
    scores = xpu_paddle_reshaped(b, scores, column, 2);
    if (!places.id || !boxes.id || !scores.id) return failed;
    scores = fe_gather(b, scores, places, 0);
    if (p->node->result_count > 1 && !xpu_paddle_give(p->node, b, 1, scores).id) return failed;
    counts = xpu_paddle_reshaped(b, counts, &p->images, 1);
    if (p->node->result_count > 2 && !xpu_paddle_give(p->node, b, 2, counts).id) return failed;
    return xpu_paddle_give(p->node, b, 0, fe_gather(b, boxes, places, 0));
}

xpu_value xpu_paddle_convert_generate_proposals(xpu_paddle_node *node) {
    proposals p = {.node = node, .b = fe_inside(&node->build), .info = xpu_paddle_operand(node, "ImShape")};
    xpu_value picks, found;
    p.old_form = !p.info.id;
    if (p.old_form) p.info = xpu_paddle_operand(node, "ImInfo");
    p.has_pixels = p.old_form || xpu_paddle_int(node, "pixel_offset", 1) != 0;
    if (!read_proposals(&p)) return failed;
    fe_builder *b = &p.b;
    float overlap = xpu_paddle_float(node, "nms_thresh", 0.5f);
    int64_t most = xpu_paddle_int(node, "post_nms_topN", 1000);
    if (!(overlap > 0)) return give_proposals(&p, p.boxes, p.scores, p.good, p.kept);
    xpu_paddle_suppression form = {
        .boxes = p.boxes, .most = p.kept, .overlap = overlap, .kind = p.has_pixels ? XA_BOX_PIXELS : XA_BOX_SIDES};
    form.scores = xpu_paddle_choose(b, p.good, p.scores, fe_number(b, -INFINITY));
    form.least = -INFINITY;
    if (most > 0)
        form.most = xpu_dim_op(&b->graph->dims, XPU_DIM_MIN, p.kept, fixed(node, most < INT32_MAX ? most : INT32_MAX));
    if (!xpu_paddle_suppress(b, &form, &picks, &found)) return failed;
    return give_proposals(&p, xpu_paddle_rows(b, p.boxes, picks), fe_gather_elements(b, p.scores, picks, 1), found,
                          form.most);
}

/* ---- levels ---- */

/* log2 of the size in that of the reference, as a level from `least` to `most`, [R,1] int32. */
static xpu_value level_of(xpu_paddle_node *node, fe_builder *b, xpu_value rois, int64_t least, int64_t most) {
    double more = xpu_paddle_int(node, "pixel_offset", 1) ? 1 : 0;
    int64_t reference = xpu_paddle_int(node, "refer_level", 4), scale = xpu_paddle_int(node, "refer_scale", 224);
    xpu_value size[2], valid = failed, level = fe_integer(b, XPU_I32, least);
    for (int i = 0; i < 2; i++) {
        size[i] = fe_binary(b, XPU_OP_SUB, xpu_paddle_columns(b, rois, 2 + i, 1), xpu_paddle_columns(b, rois, i, 1));
        xpu_value good = fe_binary(b, XPU_OP_GREATER_OR_EQUAL, size[i], fe_number(b, 0));
        valid = i ? fe_binary(b, XPU_OP_AND, valid, good) : good;
        size[i] = xpu_paddle_plus(b, size[i], more);
    }
    xpu_value area = xpu_paddle_choose(b, valid, fe_binary(b, XPU_OP_MUL, size[0], size[1]), fe_number(b, 0));
    xpu_value ratio = fe_binary(b, XPU_OP_DIV, fe_unary(b, XPU_OP_SQRT, area), fe_number(b, (float)scale));
    ratio = xpu_paddle_plus(b, ratio, 1e-8);
    for (int64_t i = least + 1; i <= most; i++) {
        xpu_value reached =
            fe_binary(b, XPU_OP_GREATER_OR_EQUAL, ratio, fe_number(b, (float)exp2((double)i - (double)reference)));
        level = fe_binary(b, XPU_OP_ADD, fe_as(b, reached, XPU_I32), level);
    }
    return level;
}

/* Rows of each level; how many of each level each image has; and where each row went, when the levels stand behind each
 * other. */
xpu_value xpu_paddle_convert_distribute_fpn_proposals(xpu_paddle_node *node) {
    fe_builder b = fe_inside(&node->build);
    xpu_value rois = xpu_paddle_operand(node, "FpnRois"), counts = xpu_paddle_operand(node, "RoisNum"), order[2];
    int64_t least = xpu_paddle_int(node, "min_level", 2), most = xpu_paddle_int(node, "max_level", 5);
    if (!rois.id) return failed;
    if (least < 0 || most <= least || most - least >= MOST_LEVELS)
        return fe_bad_attr(&node->build, "max_level", "the number of levels is not supported"), failed;
    if (xpu_paddle_rank(node, rois) != 2)
        return xpu_paddle_refuse(node, "the shapes are not supported", fe_shape_text(&b, rois));
    int is_pir = node->row->dialect == XPU_PADDLE_PIR;
    uint32_t count = (uint32_t)(most - least + 1), restored = is_pir ? 2 : count, numbers = is_pir ? 1 : count + 1;
    xpu_dim rows = fe_info(&b, rois)->dims[0], column[] = {rows, fixed(node, 1)};
    xpu_value level = xpu_paddle_reshaped(&b, level_of(node, &b, rois, least, most), &rows, 1), image = failed;
    xpu_value *parts = XPU_NEW_ARRAY(b.scratch, xpu_value, count), *sums = XPU_NEW_ARRAY(b.scratch, xpu_value, count);
    xpu_dim images = counts.id ? fe_info(&b, counts)->dims[0] : fixed(node, 1);
    if (counts.id) image = xpu_paddle_widened(&b, xpu_paddle_image_of(&b, counts, rows), 0); /* [1,R] */
    if (!level.id || (counts.id && !image.id)) return failed;
    for (uint32_t i = 0; i < count; i++) {
        xpu_value here = fe_binary(&b, XPU_OP_EQUAL, level, fe_integer(&b, XPU_I32, least + i)),
                  places = xpu_paddle_places(&b, here);
        xpu_value own = xpu_paddle_widened(&b, here, 0);
        if (image.id)
            own = fe_binary(&b, XPU_OP_AND, own,
                            fe_binary(&b, XPU_OP_EQUAL, image, fe_counted(&b, XPU_I32, images, 0, 2)));
        if (!places.id || !own.id) return failed;
        parts[i] = fe_gather(&b, rois, places, 0);
        sums[i] = xpu_paddle_counts(&b, own);
        if (!is_pir && i) parts[i] = xpu_paddle_give(node, &b, i, parts[i]);
        if (!is_pir && numbers + i < node->result_count) sums[i] = xpu_paddle_give(node, &b, numbers + i, sums[i]);
    }
    if (!fe_top(&b, level, &(fe_ordering){.axis = 0, .k = rows}, order)) return failed;
    if (!fe_top(&b, order[1], &(fe_ordering){.axis = 0, .k = rows}, order)) return failed;
    xpu_value back = xpu_paddle_reshaped(&b, fe_as(&b, order[1], XPU_I32), column, 2);
    if (restored < node->result_count) xpu_paddle_give(node, &b, restored, back);
    if (is_pir) {
        node->list = (xpu_paddle_values){parts, count};
        node->other_list = (xpu_paddle_values){sums, count};
        node->other_list_at = numbers;
        node->build.made = b.made;
        return parts[0];
    }
    return xpu_paddle_give(node, &b, 0, parts[0]);
}

/* The best regions of all levels, image by image. */
xpu_value xpu_paddle_convert_collect_fpn_proposals(xpu_paddle_node *node) {
    fe_builder b = fe_inside(&node->build);
    xpu_dims *dims = &b.graph->dims;
    xpu_paddle_values rois = xpu_paddle_operands(node, "MultiLevelRois"),
                      scores = xpu_paddle_operands(node, "MultiLevelScores");
    xpu_paddle_values counts = xpu_paddle_operands(node, "MultiLevelRoIsNum");
    xpu_value *images = XPU_NEW_ARRAY(b.scratch, xpu_value, counts.count + 1), top[2], order[2];
    int64_t most = xpu_paddle_int(node, "post_nms_topN", 1000);
    if (!rois.count || rois.count != scores.count || (counts.count && counts.count != rois.count) || most < 1)
        return failed;
    xpu_value all = fe_concat(&b, rois.items, rois.count, 0), best = fe_concat(&b, scores.items, scores.count, 0);
    if (!all.id || !best.id) return failed;
    xpu_dim rows = fe_info(&b, all)->dims[0];
    xpu_dim kept = xpu_dim_op(dims, XPU_DIM_MIN, rows, xpu_dim_const(dims, most < INT32_MAX ? most : INT32_MAX));
    best = xpu_paddle_reshaped(&b, best, &rows, 1);
    if (!best.id || !fe_top(&b, best, &(fe_ordering){.axis = 0, .k = kept, .largest = 1}, top)) return failed;
    for (uint32_t i = 0; i < counts.count; i++) {
        images[i] = xpu_paddle_image_of(&b, counts.items[i], fe_info(&b, rois.items[i])->dims[0]);
        if (!images[i].id) return failed;
    }
    xpu_value places = top[1];
    if (!counts.count) return xpu_paddle_give(node, &b, 0, fe_gather(&b, all, places, 0));
    xpu_value image = fe_gather(&b, fe_concat(&b, images, counts.count, 0), places, 0);
    if (!image.id || !fe_top(&b, image, &(fe_ordering){.axis = 0, .k = kept}, order)) return failed;
    places = fe_gather(&b, places, order[1], 0);
    xpu_dim number = fe_info(&b, counts.items[0])->dims[0];
    xpu_value own =
        fe_binary(&b, XPU_OP_EQUAL, xpu_paddle_widened(&b, image, 0), fe_counted(&b, XPU_I32, number, 0, 2));
    if (node->result_count > 1 && !xpu_paddle_give(node, &b, 1, xpu_paddle_counts(&b, own)).id) return failed;
    return places.id ? xpu_paddle_give(node, &b, 0, fe_gather(&b, all, places, 0)) : failed;
}
