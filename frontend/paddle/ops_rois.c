/* Regions of images: what stands in the bins of each, in images [N,C,H,W] and regions [R,4], which image each is of. */
#include <math.h>

#include "frontend/paddle/compose.h"

static const xpu_value failed = {0};

enum { MOST_BINS = 1024, MOST_SAMPLES = 64, MOST_POOLED = 64, MOST_LINES = 1 << 16 };

typedef struct {
    xpu_paddle_node *node;
    fe_builder b;
    xpu_value x, rois, image;                            /* image [R], {0}: there is one */
    xpu_dim count;                                       /* R */
    int64_t images, channels, samples, bins[2], size[2]; /* of two: height, width */
    double scale;
    int aligned;
} regions;

static xpu_dim fixed(const regions *r, int64_t size) {
    return xpu_dim_const(&r->b.graph->dims, size);
}

static xpu_value number(regions *r, double value) {
    return fe_number(&r->b, (float)value);
}

/* 0, 1, ... as float32. */
static xpu_value counted(regions *r, int64_t count) {
    float *items = XPU_NEW_ARRAY(r->b.scratch, float, count);
    for (int64_t i = 0; i < count; i++) items[i] = (float)i;
    return xpu_paddle_vector(&r->b, items, count);
}

static int read_regions(xpu_paddle_node *node, regions *r) {
    xpu_value counts = xpu_paddle_operand(node, "RoisNum");
    *r = (regions){.node = node, .b = fe_inside(&node->build), .x = xpu_paddle_operand(node, "X")};
    r->rois = xpu_paddle_operand(node, "ROIs");
    r->bins[0] = xpu_paddle_int(node, "pooled_height", 1);
    r->bins[1] = xpu_paddle_int(node, "pooled_width", 1);
    r->scale = (double)xpu_paddle_float(node, "spatial_scale", 1);
    if (!r->x.id || !r->rois.id) return 0;
    const xpu_value_info info = *xpu_paddle_info(node, r->x);
    int64_t sizes[XPU_BOX];
    int known = info.rank == XPU_BOX && xpu_paddle_rank(node, r->rois) == 2;
    for (int i = 0; known && i < XPU_BOX; i++)
        known = xpu_dim_is_const(&r->b.graph->dims, info.dims[i], &sizes[i]) && sizes[i] > 0;
    if (!known)
        return xpu_paddle_refuse(node, "the sizes of the images are not known", fe_shape_text(&r->b, r->x)).id != 0;
    if (r->bins[0] < 1 || r->bins[1] < 1 || r->bins[0] > MOST_BINS || r->bins[1] > MOST_BINS)
        return fe_bad_attr(&node->build, "pooled_height", "it, or the width, is out of range");
    if (sizes[2] > MOST_LINES || sizes[3] > MOST_LINES)
        return xpu_paddle_refuse(node, "the images are too large", fe_shape_text(&r->b, r->x)).id != 0;
    r->images = sizes[0];
    r->channels = sizes[1];
    r->size[0] = sizes[2];
    r->size[1] = sizes[3];
    r->count = xpu_paddle_info(node, r->rois)->dims[0];
    if (r->images == 1) return 1;
    if (!counts.id)
        return xpu_paddle_refuse(node, "which image a region is of is not known",
                                 "there are several images, and operand 'RoisNum' is not there")
                   .id != 0;
    r->image = xpu_paddle_image_of(&r->b, counts, r->count);
    return r->image.id != 0;
}

/* A coordinate of each region, [R,1]: 0 and 1 of the first corner, 2 and 3 of the last one. */
static xpu_value coordinate(regions *r, int index) {
    return xpu_paddle_columns(&r->b, r->rois, index, 1);
}

/* ---- means ---- */

/* Shares [R,bins,H] of the lines of each region's own image among those of all images: [R,1,bins,N*H]. */
static xpu_value of_own_image(regions *r, xpu_value shares) {
    fe_builder *b = &r->b;
    xpu_dim wide[] = {r->count, fixed(r, 1), fixed(r, r->bins[0]), fixed(r, r->images * r->size[0])};
    if (!r->image.id) return xpu_paddle_widened(b, shares, 1);
    xpu_value own = fe_binary(b, XPU_OP_EQUAL, xpu_paddle_widened(b, r->image, 1),
                              fe_counted(b, XPU_I32, fixed(r, r->images), 1, 2));
    xpu_dim dims[] = {r->count, fixed(r, 1), fixed(r, r->images), fixed(r, 1)};
    own = xpu_paddle_reshaped(b, own, dims, 4);
    return xpu_paddle_reshaped(b, xpu_paddle_choose(b, own, xpu_paddle_widened(b, shares, 2), number(r, 0)), wide, 4);
}

/* The images below each other, [1,C,N*H,W]. */
static xpu_value stacked(regions *r) {
    static const int64_t perm[] = {1, 0, 2, 3};
    xpu_dim dims[] = {fixed(r, 1), fixed(r, r->channels), fixed(r, r->images * r->size[0]), fixed(r, r->size[1])};
    if (r->images == 1) return r->x;
    return xpu_paddle_reshaped(&r->b, fe_transpose(&r->b, r->x, (fe_ints){perm, 4}), dims, 4);
}

/* Shares of the lines times the images times those of the columns: [R,C,bins,bins]. */
static xpu_value shared_means(regions *r, xpu_value rows, xpu_value columns) {
    static const int64_t turned[] = {0, 1, 3, 2};
    rows = of_own_image(r, rows);
    columns = xpu_paddle_widened(&r->b, columns, 1);
    xpu_value x = stacked(r);
    if (columns.id) columns = fe_transpose(&r->b, columns, (fe_ints){turned, 4});
    xpu_value y = rows.id && columns.id && x.id ? fe_matmul(&r->b, rows, x) : failed;
    return y.id ? fe_matmul(&r->b, y, columns) : failed;
}

/* ---- samples between pixels ---- */

typedef struct {
    xpu_value part,
        counts;      /* which part of the extent each sample stands at, [R or 1, steps]; and is one, or {0}: all */
    xpu_value total; /* how many there are in a bin, [R,1], or {0} */
} sampling;

/* As many samples in a bin as the region has pixels there. */
static void by_size(regions *r, int axis, xpu_value extent, sampling *s) {
    fe_builder *b = &r->b;
    int64_t steps = r->bins[axis] * r->samples;
    float *bin = XPU_NEW_ARRAY(b->scratch, float, steps), *index = XPU_NEW_ARRAY(b->scratch, float, steps);
    for (int64_t i = 0; i < steps; i++) {
        int64_t own = i / r->samples;
        bin[i] = (float)own;
        index[i] = (float)(i % r->samples);
    }
    s->total = fe_unary(b, XPU_OP_CEIL, fe_binary(b, XPU_OP_DIV, extent, number(r, (double)r->bins[axis])));
    s->total = fe_binary(b, XPU_OP_MAX, s->total, number(r, 1));
    s->counts = fe_binary(b, XPU_OP_LESS, xpu_paddle_vector(b, index, steps), s->total);
    for (int64_t i = 0; i < steps; i++) index[i] += 0.5f;
    s->part = fe_binary(b, XPU_OP_DIV, xpu_paddle_vector(b, index, steps), s->total);
    s->part = fe_binary(b, XPU_OP_DIV, fe_binary(b, XPU_OP_ADD, s->part, xpu_paddle_vector(b, bin, steps)),
                        number(r, (double)r->bins[axis]));
}

static void by_number(regions *r, int axis, sampling *s) {
    int64_t steps = r->bins[axis] * r->samples;
    float *at = XPU_NEW_ARRAY(r->b.scratch, float, steps);
    for (int64_t i = 0; i < steps; i++) {
        int64_t own = i / r->samples;
        at[i] = ((float)own + ((float)(i % r->samples) + 0.5f) / (float)r->samples) / (float)r->bins[axis];
    }
    s->part = xpu_paddle_vector(&r->b, at, steps);
}

/* How much every line of the image counts for each bin of each region along an axis: [R,bins,size]. */
static xpu_value sampled_shares(regions *r, int axis, int adapts) {
    fe_builder *b = &r->b;
    int64_t size = r->size[axis];
    xpu_value first = xpu_paddle_times(b, coordinate(r, 1 - axis), r->scale);
    xpu_value extent = fe_binary(b, XPU_OP_SUB, xpu_paddle_times(b, coordinate(r, 3 - axis), r->scale), first);
    sampling s = {0};
    if (r->aligned)
        first = fe_binary(b, XPU_OP_SUB, first, number(r, 0.5));
    else
        extent = fe_binary(b, XPU_OP_MAX, extent, number(r, 1));
    if (adapts) {
        r->samples = 2 * ((size + r->bins[axis] - 1) / r->bins[axis]);
        by_size(r, axis, extent, &s);
    } else {
        by_number(r, axis, &s);
    }
    xpu_value place = fe_binary(b, XPU_OP_ADD, fe_binary(b, XPU_OP_MUL, extent, s.part), first);
    if (!place.id) return failed;
    xpu_value inside = fe_binary(b, XPU_OP_AND, fe_binary(b, XPU_OP_GREATER_OR_EQUAL, place, number(r, -1)),
                                 fe_binary(b, XPU_OP_LESS_OR_EQUAL, place, number(r, (double)size)));
    if (s.counts.id) inside = fe_binary(b, XPU_OP_AND, inside, s.counts);
    place = xpu_paddle_widened(b, fe_clip(b, place, 0, (float)(size - 1)), -1);
    xpu_value far = fe_unary(b, XPU_OP_ABS, fe_binary(b, XPU_OP_SUB, place, counted(r, size)));
    xpu_value share = fe_unary(b, XPU_OP_RELU, fe_binary(b, XPU_OP_SUB, number(r, 1), far));
    share = xpu_paddle_choose(b, xpu_paddle_widened(b, inside, -1), share, number(r, 0));
    xpu_dim dims[] = {r->count, fixed(r, r->bins[axis]), fixed(r, r->samples), fixed(r, size)};
    share = xpu_paddle_reshaped(b, share, dims, 4);
    if (!adapts) return xpu_paddle_reduced(b, XPU_OP_REDUCE_MEAN, share, 2, 0);
    return fe_binary(b, XPU_OP_DIV, xpu_paddle_reduced(b, XPU_OP_REDUCE_SUM, share, 2, 0),
                     xpu_paddle_widened(b, s.total, 2));
}

/* Means of samples between pixels in each bin of each region; without sampling_ratio as many as the region has pixels,
 * up to two for each pixel of the image. */
xpu_value xpu_paddle_convert_roi_align(xpu_paddle_node *node) {
    regions r;
    if (!read_regions(node, &r)) return failed;
    r.aligned = xpu_paddle_int(node, "aligned", 0) != 0;
    r.samples = xpu_paddle_int(node, "sampling_ratio", -1);
    int adapts = r.samples < 1;
    if (r.samples > MOST_SAMPLES)
        return xpu_paddle_refuse(node, "sampling_ratio is not supported", "it is more than 64");
    xpu_value rows = sampled_shares(&r, 0, adapts), columns = sampled_shares(&r, 1, adapts);
    return xpu_paddle_give(node, &r.b, 0, shared_means(&r, rows, columns));
}

/* ---- whole pixels ---- */

/* Which lines [R,bins,size] stand in each bin: from floor(first + i size) to ceil(first + (i + 1) size), [R,1] both. */
static xpu_value lines_in(regions *r, int axis, xpu_value first, xpu_value size) {
    fe_builder *b = &r->b;
    xpu_value bins = counted(r, r->bins[axis]);
    xpu_value start = fe_binary(b, XPU_OP_ADD, fe_binary(b, XPU_OP_MUL, bins, size), first);
    xpu_value end = fe_binary(b, XPU_OP_ADD, fe_binary(b, XPU_OP_MUL, xpu_paddle_plus(b, bins, 1), size), first);
    start = xpu_paddle_widened(b, fe_unary(b, XPU_OP_FLOOR, start), -1);
    end = xpu_paddle_widened(b, fe_unary(b, XPU_OP_CEIL, end), -1);
    xpu_value lines = counted(r, r->size[axis]);
    return fe_binary(b, XPU_OP_AND, fe_binary(b, XPU_OP_GREATER_OR_EQUAL, lines, start),
                     fe_binary(b, XPU_OP_LESS, lines, end));
}

static xpu_value pixel_lines(regions *r, int axis) {
    fe_builder *b = &r->b;
    xpu_value first = xpu_paddle_rounded(b, xpu_paddle_times(b, coordinate(r, 1 - axis), r->scale));
    xpu_value last = xpu_paddle_rounded(b, xpu_paddle_times(b, coordinate(r, 3 - axis), r->scale));
    xpu_value size = xpu_paddle_plus(b, fe_binary(b, XPU_OP_SUB, last, first), 1);
    size = fe_binary(b, XPU_OP_MAX, size, number(r, 1));
    return lines_in(r, axis, first, fe_binary(b, XPU_OP_DIV, size, number(r, (double)r->bins[axis])));
}

/* Maxima along axis 2 or 3 of x [R,C,...] over the lines [R,bins,size] of each bin, which replaces the axis. */
static xpu_value largest_of(regions *r, xpu_value x, xpu_value lines, int axis) {
    fe_builder *b = &r->b;
    int64_t bins = r->bins[axis - 2];
    xpu_value parts[MOST_POOLED];
    xpu_dim dims[] = {r->count, fixed(r, 1), fixed(r, axis == 2 ? r->size[0] : 1),
                      fixed(r, axis == 2 ? 1 : r->size[1])};
    for (int64_t i = 0; i < bins; i++) {
        xpu_value here = lines.id ? fe_part(b, lines, 1, fixed(r, i), fixed(r, 1), 1, 0) : failed;
        here = xpu_paddle_choose(b, xpu_paddle_reshaped(b, here, dims, 4), x, number(r, -INFINITY));
        parts[i] = xpu_paddle_reduced(b, XPU_OP_REDUCE_MAX, here, axis, 1);
        if (!parts[i].id) return failed;
    }
    return fe_concat(b, parts, (uint32_t)bins, axis);
}

/* Maxima of the pixels in each bin of each region, 0 where there is none. */
xpu_value xpu_paddle_convert_roi_pool(xpu_paddle_node *node) {
    regions r;
    if (!read_regions(node, &r)) return failed;
    if (xpu_paddle_is_used(node, 1))
        return xpu_paddle_refuse(node, "the places of the maxima are not supported", "something uses them");
    if (r.bins[0] > MOST_POOLED || r.bins[1] > MOST_POOLED)
        return xpu_paddle_refuse(node, "the bins are not supported", "more than 64 along an axis");
    xpu_value x = r.image.id ? fe_gather(&r.b, r.x, r.image, 0) : r.x;
    xpu_value y = largest_of(&r, x, pixel_lines(&r, 0), 2);
    y = largest_of(&r, y, pixel_lines(&r, 1), 3);
    xpu_value found = fe_binary(&r.b, XPU_OP_GREATER, y, number(&r, -INFINITY));
    return xpu_paddle_give(node, &r.b, 0, xpu_paddle_choose(&r.b, found, y, number(&r, 0)));
}

static xpu_value psroi_shares(regions *r, int axis) {
    fe_builder *b = &r->b;
    xpu_value first = xpu_paddle_times(b, xpu_paddle_rounded(b, coordinate(r, 1 - axis)), r->scale);
    xpu_value last =
        xpu_paddle_times(b, xpu_paddle_plus(b, xpu_paddle_rounded(b, coordinate(r, 3 - axis)), 1), r->scale);
    xpu_value size = fe_binary(b, XPU_OP_MAX, fe_binary(b, XPU_OP_SUB, last, first), number(r, (double)0.1f));
    xpu_value lines = lines_in(r, axis, first, fe_binary(b, XPU_OP_DIV, size, number(r, (double)r->bins[axis])));
    lines = fe_as(b, lines, XPU_F32);
    xpu_value all = fe_binary(b, XPU_OP_MAX, xpu_paddle_reduced(b, XPU_OP_REDUCE_SUM, lines, 2, 1), number(r, 1));
    return fe_binary(b, XPU_OP_DIV, lines, all);
}

/* Means of the pixels in each bin of each region, for each bin of channels of its own. */
xpu_value xpu_paddle_convert_psroi_pool(xpu_paddle_node *node) {
    regions r;
    if (!read_regions(node, &r)) return failed;
    int64_t channels = xpu_paddle_int(node, "output_channels", 1), places = r.bins[0] * r.bins[1];
    if (r.bins[0] > MOST_POOLED || r.bins[1] > MOST_POOLED)
        return xpu_paddle_refuse(node, "the bins are not supported", "more than 64 along an axis");
    if (channels < 1 || channels > r.channels || r.channels != channels * places)
        return fe_bad_attr(&node->build, "output_channels", "the channels are not as many for each bin"), failed;
    fe_builder *b = &r.b;
    xpu_value rows = psroi_shares(&r, 0), columns = psroi_shares(&r, 1);
    xpu_value y = shared_means(&r, rows, columns); /* [R, channels * bins * bins, bins, bins] */
    xpu_dim wide[] = {r.count, fixed(&r, channels), fixed(&r, places), fixed(&r, places)};
    xpu_dim dims[] = {r.count, fixed(&r, channels), fixed(&r, r.bins[0]), fixed(&r, r.bins[1])};
    y = xpu_paddle_reshaped(b, y, wide, 4);
    xpu_value own = fe_binary(b, XPU_OP_EQUAL, fe_counted(b, XPU_I32, fixed(&r, places), 0, 2),
                              fe_counted(b, XPU_I32, fixed(&r, places), 1, 2));
    y = xpu_paddle_reduced(b, XPU_OP_REDUCE_SUM, xpu_paddle_choose(b, own, y, number(&r, 0)), 3, 0);
    return xpu_paddle_give(node, b, 0, xpu_paddle_reshaped(b, y, dims, 4));
}

/* ---- boxes ---- */

/* Boxes cut off at the edges of the image, which is one: [1,3] of height, width and scale. */
xpu_value xpu_paddle_convert_box_clip(xpu_paddle_node *node) {
    fe_builder b = fe_inside(&node->build);
    xpu_value x = xpu_paddle_operand(node, "Input"), info = xpu_paddle_operand(node, "ImInfo"), parts[2];
    int64_t images = 0;
    if (!x.id || !info.id) return failed;
    if (xpu_paddle_rank(node, info) != 2 || !xpu_dim_is_const(&b.graph->dims, fe_info(&b, info)->dims[0], &images) ||
        images != 1)
        return xpu_paddle_refuse(node, "several images are not supported", fe_shape_text(&b, info));
    xpu_value scale = xpu_paddle_columns(&b, info, 2, 1);
    for (int i = 0; i < 2; i++) {
        xpu_value size = fe_binary(&b, XPU_OP_DIV, xpu_paddle_columns(&b, info, 1 - i, 1), scale);
        parts[i] = xpu_paddle_plus(&b, xpu_paddle_rounded(&b, size), -1);
        if (!parts[i].id) return failed;
    }
    xpu_value pair = fe_concat(&b, parts, 2, 1);
    xpu_value ends[] = {pair, pair};
    int64_t four = XPU_BOX;
    xpu_dim dims[] = {xpu_dim_const(&b.graph->dims, four)};
    pair = pair.id ? xpu_paddle_reshaped(&b, fe_concat(&b, ends, 2, 1), dims, 1) : failed;
    x = fe_binary(&b, XPU_OP_MAX, fe_binary(&b, XPU_OP_MIN, x, pair), fe_number(&b, 0));
    return xpu_paddle_give(node, &b, 0, x);
}
