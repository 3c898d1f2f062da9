/* Boxes of detectors: those that a network begins with, which are constants, and what turns its outputs into boxes. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "frontend/paddle/compose.h"

static const xpu_value failed = {0};

enum { MOST_BOXES = 1 << 22 };

static xpu_dim fixed(const xpu_paddle_node *node, int64_t size) {
    return xpu_dim_const(&node->build.graph->dims, size);
}

/* ---- boxes that are constants ---- */

typedef struct {
    xpu_paddle_node *node;
    int64_t size[2], image[2]; /* height, width of the features, and of the image */
    double step[2], offset;    /* in pixels of the image, of height and width */
    float *items;
    int64_t count;
} boxes;

/* Height and width of an operand [N,C,H,W], which are known. */
static int read_size(const xpu_paddle_node *node, const char *name, int64_t size[2]) {
    xpu_value x = xpu_paddle_operand(node, name);
    if (!x.id) return 0;
    const xpu_value_info *info = xpu_paddle_info(node, x);
    for (int i = 0; i < 2; i++) {
        if (info->rank == XPU_BOX && xpu_dim_is_const(&node->build.graph->dims, info->dims[2 + i], &size[i]) &&
            size[i] > 0)
            continue;
        xpu_paddle_refuse(node, "the size of an image is not known", fe_shape_text(&node->build, x));
        return 0;
    }
    return 1;
}

static int begin_boxes(boxes *all, xpu_paddle_node *node, int64_t each) {
    *all = (boxes){.node = node, .offset = (double)xpu_paddle_float(node, "offset", 0.5f)};
    if (!read_size(node, "Input", all->size)) return 0;
    if (each < 1 || each > MOST_BOXES || all->size[0] * all->size[1] > MOST_BOXES / each) {
        xpu_paddle_refuse(node, "the number of boxes is not supported",
                          xpu_paddle_format(node, "%" PRId64 " at each place", each));
        return 0;
    }
    all->items = XPU_NEW_ARRAY(node->importer->scratch, float, XPU_BOX * all->size[0] * all->size[1] * each);
    return 1;
}

static int begin_priors(boxes *all, xpu_paddle_node *node, int64_t each) {
    static const char *const names[] = {"step_h", "step_w"};
    if (!begin_boxes(all, node, each) || !read_size(node, "Image", all->image)) return 0;
    for (int i = 0; i < 2; i++) {
        all->step[i] = (double)xpu_paddle_float(node, names[i], 0);
        if (!(all->step[i] > 0)) all->step[i] = (double)all->image[i] / (double)all->size[i];
    }
    return 1;
}

static int64_t row_of(const boxes *all, int64_t place) {
    return place / all->size[1];
}

static void add_box(boxes *all, double x, double y, double half_width, double half_height) {
    float *at = &all->items[XPU_BOX * all->count++];
    at[0] = (float)(x - half_width);
    at[1] = (float)(y - half_height);
    at[2] = (float)(x + half_width);
    at[3] = (float)(y + half_height);
}

/* The same as parts of the image. */
static void add_prior(boxes *all, double x, double y, double half_width, double half_height) {
    double height = (double)all->image[0], width = (double)all->image[1];
    add_box(all, x / width, y / height, half_width / width, half_height / height);
}

/* Boxes and their variances as results; [H,W,each,4], or flat. */
static xpu_value give_boxes(const boxes *all, int64_t each, int flat) {
    xpu_paddle_node *node = all->node;
    size_t count = 0;
    const float *variances = xpu_paddle_floats(node, "variances", &count);
    if (xpu_paddle_int(node, "clip", 0)) {
        for (int64_t i = 0; i < XPU_BOX * all->count; i++) all->items[i] = fminf(fmaxf(all->items[i], 0), 1);
    }
    xpu_tensor tensor = {
        .dtype = XPU_F32, .rank = XPU_BOX, .dims = {all->size[0], all->size[1], each, XPU_BOX}, .data = all->items};
    if (flat) tensor = (xpu_tensor){.dtype = XPU_F32, .rank = 2, .dims = {all->count, XPU_BOX}, .data = all->items};
    xpu_value made = xpu_graph_const_bytes(node->importer->graph, xpu_paddle_constant_name(node), &tensor);
    if (node->result_count < 2) return made;
    if (count != XPU_BOX)
        return fe_bad_attr(&node->build, "variances", xpu_paddle_format(node, "there are %zu, not 4", count)), failed;
    float *list = XPU_NEW_ARRAY(node->importer->scratch, float, XPU_BOX * all->count + 1);
    for (int64_t i = 0; i < XPU_BOX * all->count; i++) list[i] = variances[i % XPU_BOX];
    tensor.data = list;
    node->results[1] = xpu_graph_const_bytes(node->importer->graph,
                                             xpu_paddle_format(node, "%s/variances", node->build.names[0]), &tensor);
    return made;
}

/* 1, then those of the list that are new, and with flip what they are upside down. */
static const float *aspect_ratios(const xpu_paddle_node *node, size_t *count) {
    size_t given = 0, used = 1;
    const float *list = xpu_paddle_floats(node, "aspect_ratios", &given);
    float *all = XPU_NEW_ARRAY(node->importer->scratch, float, 2 * given + 1);
    int flip = xpu_paddle_int(node, "flip", 0) != 0;
    all[0] = 1;
    for (size_t i = 0; i < given; i++) {
        int known = 0;
        for (size_t k = 0; k < used; k++) known |= fabsf(list[i] - all[k]) < 1e-6f;
        if (known) continue;
        all[used++] = list[i];
        if (flip) all[used++] = 1 / list[i];
    }
    *count = used;
    return all;
}

xpu_value xpu_paddle_convert_prior_box(xpu_paddle_node *node) {
    size_t sizes = 0, largest = 0, ratios = 0;
    const float *least = xpu_paddle_floats(node, "min_sizes", &sizes),
                *most = xpu_paddle_floats(node, "max_sizes", &largest);
    const float *ratio = aspect_ratios(node, &ratios);
    int64_t each = (int64_t)(sizes * ratios + largest);
    int squares_first = xpu_paddle_int(node, "min_max_aspect_ratios_order", 0) != 0;
    boxes all;
    if (largest && largest != sizes)
        return fe_bad_attr(&node->build, "max_sizes", "there are not as many as min_sizes"), failed;
    if (!begin_priors(&all, node, each)) return failed;
    for (int64_t i = 0; i < all.size[0] * all.size[1]; i++) {
        double x = ((double)(i % all.size[1]) + all.offset) * all.step[1],
               y = ((double)row_of(&all, i) + all.offset) * all.step[0];
        for (size_t s = 0; s < sizes; s++) {
            double half = (double)least[s] / 2, both = largest ? sqrt((double)least[s] * (double)most[s]) / 2 : 0;
            for (size_t k = 0; k < ratios; k++) {
                double root = sqrt((double)ratio[k]);
                add_prior(&all, x, y, half * root, half / root);
                if (k == 0 && squares_first && largest) add_prior(&all, x, y, both, both);
            }
            if (!squares_first && largest) add_prior(&all, x, y, both, both);
        }
    }
    return give_boxes(&all, each, 0);
}

xpu_value xpu_paddle_convert_density_prior_box(xpu_paddle_node *node) {
    size_t sizes = 0, ratios = 0;
    const float *size = xpu_paddle_floats(node, "fixed_sizes", &sizes),
                *ratio = xpu_paddle_floats(node, "fixed_ratios", &ratios);
    fe_ints densities = xpu_paddle_ints(node, "densities");
    int64_t each = 0;
    boxes all;
    if (densities.count != sizes)
        return fe_bad_attr(&node->build, "densities", "there are not as many as fixed_sizes"), failed;
    for (size_t i = 0; i < sizes; i++) {
        if (densities.items[i] < 1 || densities.items[i] > 256)
            return fe_bad_attr(&node->build, "densities", "one is out of range"), failed;
        each += (int64_t)ratios * densities.items[i] * densities.items[i];
    }
    if (!begin_priors(&all, node, each)) return failed;
    double step = (double)(int64_t)fmin((all.step[0] + all.step[1]) * 0.5, 0x1p30);
    for (int64_t i = 0; i < all.size[0] * all.size[1]; i++) {
        double x = ((double)(i % all.size[1]) + all.offset) * all.step[1],
               y = ((double)row_of(&all, i) + all.offset) * all.step[0];
        for (size_t s = 0; s < sizes; s++) {
            int64_t density = densities.items[s], shift = (int64_t)step / density;
            double from = -step / 2 + (double)shift / 2;
            for (size_t k = 0; k < ratios * (size_t)(density * density); k++) {
                double root = sqrt((double)ratio[k / (size_t)(density * density)]);
                int64_t at = (int64_t)k % (density * density), row = at / density;
                add_prior(&all, x + from + (double)(at % density * shift), y + from + (double)row * (double)shift,
                          (double)size[s] * root / 2, (double)size[s] / root / 2);
                float *box = &all.items[XPU_BOX * (all.count - 1)];
                for (int e = 0; e < XPU_BOX; e++) box[e] = e < 2 ? fmaxf(box[e], 0) : fminf(box[e], 1);
            }
        }
    }
    return give_boxes(&all, each, xpu_paddle_int(node, "flatten_to_2d", 0) != 0);
}

xpu_value xpu_paddle_convert_anchor_generator(xpu_paddle_node *node) {
    size_t sizes = 0, ratios = 0, steps = 0;
    const float *size = xpu_paddle_floats(node, "anchor_sizes", &sizes),
                *ratio = xpu_paddle_floats(node, "aspect_ratios", &ratios);
    const float *step = xpu_paddle_floats(node, "stride", &steps);
    int64_t each = (int64_t)(sizes * ratios);
    boxes all;
    if (steps != 2) return fe_bad_attr(&node->build, "stride", "it is no pair"), failed;
    if (!begin_boxes(&all, node, each)) return failed;
    double width = (double)step[0], height = (double)step[1];
    for (int64_t i = 0; i < all.size[0] * all.size[1]; i++) {
        double x = (double)(i % all.size[1]) * width + all.offset * (width - 1);
        double y = (double)row_of(&all, i) * height + all.offset * (height - 1);
        for (size_t k = 0; k < ratios * sizes; k++) {
            double shape = (double)ratio[k / sizes], own = (double)size[k % sizes];
            double base = round(sqrt(width * height / shape));
            add_box(&all, x, y, 0.5 * (own / width * base - 1), 0.5 * (own / height * round(base * shape) - 1));
        }
    }
    return give_boxes(&all, each, 0);
}

/* ---- outputs into boxes ---- */

static xpu_value column(fe_builder *b, xpu_value x, int index) {
    return xpu_paddle_columns(b, x, index, 1);
}

typedef struct {
    xpu_value size[2], centre[2]; /* width and x, height and y; [...,1] */
} extents;

/* Of boxes [...,4] as corners; `more` is 1 where these are pixels, the last of them inside. */
static extents extents_of(fe_builder *b, xpu_value x, double more) {
    extents e;
    for (int i = 0; i < 2; i++) {
        xpu_value first = column(b, x, i);
        e.size[i] = xpu_paddle_plus(b, fe_binary(b, XPU_OP_SUB, column(b, x, 2 + i), first), more);
        e.centre[i] = fe_binary(b, XPU_OP_ADD, first, xpu_paddle_times(b, e.size[i], 0.5));
    }
    return e;
}

/* The variances, [...,4]; {0}: they are 1. */
static xpu_value variances_of(xpu_paddle_node *node, fe_builder *b, int64_t between, xpu_value *ok) {
    xpu_value given = xpu_paddle_operand(node, "PriorBoxVar");
    size_t count = 0;
    const float *list = xpu_paddle_floats(node, "variance", &count);
    *ok = (xpu_value){1};
    if (given.id) return xpu_paddle_rank(node, given) == 2 ? fe_unsqueeze(b, given, (fe_ints){&between, 1}) : given;
    if (!count) return failed;
    xpu_tensor tensor = {.dtype = XPU_F32, .rank = 1, .dims = {XPU_BOX}, .data = (void *)(uintptr_t)list};
    if (count == XPU_BOX) return xpu_graph_const_bytes(b->graph, NULL, &tensor);
    *ok = failed;
    fe_bad_attr(b, "variance", "there are not 4");
    return failed;
}

/* Corners of boxes relative to others, or the other way round; all pairs of them where they are encoded. */
xpu_value xpu_paddle_convert_box_coder(xpu_paddle_node *node) {
    xpu_value prior = xpu_paddle_operand(node, "PriorBox"), target = xpu_paddle_operand(node, "TargetBox"), ok,
              parts[XPU_BOX];
    int encodes = strstr(xpu_paddle_text(node, "code_type", "encode_center_size"), "encode") != NULL;
    double more = xpu_paddle_int(node, "box_normalized", 1) ? 0 : 1;
    int64_t axis = encodes ? 0 : xpu_paddle_int(node, "axis", 0), first = 0, one = 1;
    if (!prior.id || !target.id) return failed;
    if (xpu_paddle_rank(node, prior) != 2 || xpu_paddle_rank(node, target) != (encodes ? 2 : 3) || axis < 0 || axis > 1)
        return xpu_paddle_refuse(node, "the shapes are not supported", fe_shape_text(&node->build, target));
    fe_builder b = fe_inside(&node->build);
    prior = fe_unsqueeze(&b, prior, (fe_ints){axis ? &one : &first, 1});
    if (encodes) target = fe_unsqueeze(&b, target, (fe_ints){&one, 1});
    xpu_value variances = variances_of(node, &b, axis, &ok);
    extents p = extents_of(&b, prior, more), t = {0};
    if (encodes) t = extents_of(&b, target, more);
    if (!ok.id) return failed;
    for (int i = 0; i < 2; i++) {
        xpu_value v = variances.id ? column(&b, variances, i) : failed,
                  w = variances.id ? column(&b, variances, 2 + i) : failed;
        if (encodes) {
            if (more != 0)
                t.centre[i] = xpu_paddle_times(
                    &b, fe_binary(&b, XPU_OP_ADD, column(&b, target, i), column(&b, target, 2 + i)), 0.5);
            parts[i] = fe_binary(&b, XPU_OP_DIV, fe_binary(&b, XPU_OP_SUB, t.centre[i], p.centre[i]), p.size[i]);
            parts[2 + i] =
                fe_unary(&b, XPU_OP_LOG, fe_unary(&b, XPU_OP_ABS, fe_binary(&b, XPU_OP_DIV, t.size[i], p.size[i])));
            if (v.id) parts[i] = fe_binary(&b, XPU_OP_DIV, parts[i], v);
            if (w.id) parts[2 + i] = fe_binary(&b, XPU_OP_DIV, parts[2 + i], w);
            continue;
        }
        xpu_value move = column(&b, target, i), grow = column(&b, target, 2 + i);
        if (v.id) move = fe_binary(&b, XPU_OP_MUL, move, v);
        if (w.id) grow = fe_binary(&b, XPU_OP_MUL, grow, w);
        xpu_value centre = fe_binary(&b, XPU_OP_ADD, fe_binary(&b, XPU_OP_MUL, move, p.size[i]), p.centre[i]);
        xpu_value half =
            xpu_paddle_times(&b, fe_binary(&b, XPU_OP_MUL, fe_unary(&b, XPU_OP_EXP, grow), p.size[i]), 0.5);
        parts[i] = fe_binary(&b, XPU_OP_SUB, centre, half);
        parts[2 + i] = xpu_paddle_plus(&b, fe_binary(&b, XPU_OP_ADD, centre, half), -more);
    }
    node->build.made = b.made;
    for (int i = 0; i < XPU_BOX; i++) {
        if (!parts[i].id) return failed;
    }
    return fe_concat(&node->build, parts, XPU_BOX, 2);
}

/* ---- YOLO ---- */

typedef struct {
    fe_builder b;
    xpu_value x; /* [N, anchors, channels, H, W] */
    int64_t size[2], anchors, classes, first;
    fe_ints list; /* widths and heights of the anchors */
} yolo;

/* One channel of every anchor, [N, anchors, H, W]. */
static xpu_value channel(yolo *y, int64_t index) {
    int64_t axis = 2;
    xpu_dims *dims = &y->b.graph->dims;
    xpu_value part = fe_part(&y->b, y->x, 2, xpu_dim_const(dims, index), xpu_dim_const(dims, 1), 1, 0);
    return part.id ? fe_squeeze(&y->b, part, (fe_ints){&axis, 1}) : failed;
}

/* 0, 1, ... along height or width; the anchors' widths or heights. */
static xpu_value grid_of(yolo *y, int axis) {
    xpu_tensor tensor = {.dtype = XPU_F32, .rank = 4, .dims = {1, 1, axis ? 1 : y->size[0], axis ? y->size[1] : 1}};
    float *items = XPU_NEW_ARRAY(y->b.scratch, float, y->size[axis]);
    for (int64_t i = 0; i < y->size[axis]; i++) items[i] = (float)i;
    tensor.data = items;
    return xpu_graph_const_bytes(y->b.graph, NULL, &tensor);
}

static xpu_value anchors_of(yolo *y, int axis) {
    xpu_tensor tensor = {.dtype = XPU_F32, .rank = 4, .dims = {1, y->anchors, 1, 1}};
    float *items = XPU_NEW_ARRAY(y->b.scratch, float, y->anchors);
    for (int64_t i = 0; i < y->anchors; i++) items[i] = (float)y->list.items[2 * i + (axis ? 0 : 1)];
    tensor.data = items;
    return xpu_graph_const_bytes(y->b.graph, NULL, &tensor);
}

static int read_yolo(xpu_paddle_node *node, yolo *y) {
    xpu_value x = xpu_paddle_operand(node, "X");
    int64_t channels = 0;
    *y = (yolo){.b = fe_inside(&node->build), .classes = xpu_paddle_int(node, "class_num", 0)};
    y->list = xpu_paddle_ints(node, "anchors");
    y->anchors = (int64_t)y->list.count / 2;
    y->first = xpu_paddle_int(node, "iou_aware", 0) ? y->anchors : 0; /* channels of the overlaps, in front */
    if (!x.id) return 0;
    if (!read_size(node, "X", y->size)) return 0;
    const xpu_value_info info = *xpu_paddle_info(node, x);
    int known = xpu_dim_is_const(&node->build.graph->dims, info.dims[1], &channels);
    if (!known || y->anchors < 1 || y->classes < 1 || y->classes > FE_MAX_EXTENT || y->list.count > 64 ||
        channels != y->first + y->anchors * (5 + y->classes)) {
        xpu_paddle_refuse(node, "the channels do not fit anchors and classes", fe_shape_text(&node->build, x));
        return 0;
    }
    xpu_dim dims[] = {info.dims[0], fixed(node, y->anchors), fixed(node, 5 + y->classes), info.dims[2], info.dims[3]};
    xpu_value own = x;
    if (y->first) own = fe_part(&y->b, x, 1, fixed(node, y->first), fixed(node, channels - y->first), 1, 0);
    y->x = own.id ? fe_reshape_to(&y->b, own, dims, 5, 0) : failed;
    return y->x.id != 0;
}

/* How sure the network is that there is something; with overlaps conf^(1 - f) * overlap^f. */
static xpu_value confidence(xpu_paddle_node *node, yolo *y) {
    xpu_value sure = fe_unary(&y->b, XPU_OP_SIGMOID, channel(y, 4));
    float factor = xpu_paddle_float(node, "iou_aware_factor", 0.5f);
    if (!y->first || !sure.id) return sure;
    xpu_value overlap = fe_part(&y->b, xpu_paddle_operand(node, "X"), 1, fixed(node, 0), fixed(node, y->first), 1, 0);
    overlap = fe_unary(&y->b, XPU_OP_SIGMOID, overlap);
    if (!overlap.id) return failed;
    return fe_binary(&y->b, XPU_OP_MUL, fe_pow(&y->b, sure, fe_number(&y->b, 1 - factor)),
                     fe_pow(&y->b, overlap, fe_number(&y->b, factor)));
}

/* The first and last coordinate along an axis (0: y), in pixels of the image, whose size is `image` [N,1,1,1]. */
static void corners_of(xpu_paddle_node *node, yolo *y, int axis, xpu_value image, xpu_value corners[2]) {
    fe_builder *b = &y->b;
    double scale = (double)xpu_paddle_float(node, "scale_x_y", 1),
           input = (double)xpu_paddle_int(node, "downsample_ratio", 32) * (double)y->size[axis];
    xpu_value at = fe_unary(b, XPU_OP_SIGMOID, channel(y, axis ? 0 : 1));
    if (scale != 1) at = xpu_paddle_plus(b, xpu_paddle_times(b, at, scale), -0.5 * (scale - 1));
    at = fe_binary(b, XPU_OP_MUL, fe_binary(b, XPU_OP_ADD, at, grid_of(y, axis)), image);
    at = fe_binary(b, XPU_OP_DIV, at, fe_number(b, (float)y->size[axis]));
    xpu_value size = fe_binary(b, XPU_OP_MUL, fe_unary(b, XPU_OP_EXP, channel(y, axis ? 2 : 3)), anchors_of(y, axis));
    size = fe_binary(b, XPU_OP_DIV, fe_binary(b, XPU_OP_MUL, size, image), fe_number(b, (float)(2 * input)));
    corners[0] = fe_binary(b, XPU_OP_SUB, at, size);
    corners[1] = fe_binary(b, XPU_OP_ADD, at, size);
    if (!xpu_paddle_int(node, "clip_bbox", 1) || !corners[0].id) return;
    corners[0] = fe_binary(b, XPU_OP_MAX, corners[0], fe_number(b, 0));
    corners[1] = fe_binary(b, XPU_OP_MIN, corners[1], xpu_paddle_plus(b, image, -1));
}

/* Scores [N, places, classes]: what is sure enough times the classes. */
static xpu_value yolo_scores(xpu_paddle_node *node, yolo *y, xpu_value sure, xpu_value is_sure) {
    static const int64_t perm[] = {0, 1, 3, 4, 2};
    fe_builder *b = &y->b;
    int64_t two = 2;
    int named = 0;
    fe_builder own = fe_builder_of(&node->build, 1, &named);
    xpu_value x = fe_part(b, y->x, 2, fixed(node, 5), fixed(node, y->classes), 1, 0);
    x = fe_binary(b, XPU_OP_MUL, fe_unary(b, XPU_OP_SIGMOID, x), fe_unsqueeze(b, sure, (fe_ints){&two, 1}));
    xpu_value chosen[] = {fe_unsqueeze(b, is_sure, (fe_ints){&two, 1}), x, fe_number(b, 0)};
    if (!x.id || !chosen[0].id) return failed;
    x = fe_node(b, XPU_OP_WHERE, chosen, 3, NULL, 0, 0);
    if (x.id) x = fe_transpose(b, x, (fe_ints){perm, 5});
    xpu_dim dims[] = {fe_info(b, y->x)->dims[0], fixed(node, y->anchors * y->size[0] * y->size[1]),
                      fixed(node, y->classes)};
    return x.id ? fe_reshape_to(&own, x, dims, 3, 1) : failed;
}

xpu_value xpu_paddle_convert_yolo_box(xpu_paddle_node *node) {
    yolo y;
    int64_t end = 4;
    xpu_value sizes = xpu_paddle_operand(node, "ImgSize"), corners[2][2], parts[XPU_BOX];
    if (!sizes.id || !read_yolo(node, &y)) return failed;
    fe_builder *b = &y.b;
    if (xpu_paddle_rank(node, sizes) != 2)
        return xpu_paddle_refuse(node, "the sizes are no pairs", fe_shape_text(b, sizes));
    xpu_dim batch = fe_info(b, y.x)->dims[0], one = fixed(node, 1), dims[] = {batch, one, one, one};
    xpu_value sure = confidence(node, &y);
    xpu_value is_sure =
        fe_binary(b, XPU_OP_GREATER_OR_EQUAL, sure, fe_number(b, xpu_paddle_float(node, "conf_thresh", 0)));
    if (!is_sure.id) return failed;
    for (int axis = 0; axis < 2; axis++) {
        xpu_value image = column(b, fe_as(b, sizes, XPU_F32), 0);
        if (axis) image = fe_part(b, fe_as(b, sizes, XPU_F32), 1, one, one, 1, 0);
        image = image.id ? fe_reshape_to(b, image, dims, 4, 0) : failed;
        corners_of(node, &y, axis, image, corners[axis]);
    }
    for (int i = 0; i < XPU_BOX; i++) {
        xpu_value chosen[] = {is_sure, corners[i % 2 ? 0 : 1][i / 2], fe_number(b, 0)};
        parts[i] = chosen[1].id ? fe_node(b, XPU_OP_WHERE, chosen, 3, NULL, 0, 0) : failed;
        if (parts[i].id) parts[i] = fe_unsqueeze(b, parts[i], (fe_ints){&end, 1});
        if (!parts[i].id) return failed;
    }
    xpu_value all = fe_concat(b, parts, XPU_BOX, 4);
    if (node->result_count > 1) node->results[1] = yolo_scores(node, &y, sure, is_sure);
    node->build.made = b->made;
    xpu_dim shape[] = {batch, fixed(node, y.anchors * y.size[0] * y.size[1]), fixed(node, XPU_BOX)};
    if (!all.id || (node->result_count > 1 && !node->results[1].id)) return failed;
    return fe_reshape_to(&node->build, all, shape, 3, 1);
}
