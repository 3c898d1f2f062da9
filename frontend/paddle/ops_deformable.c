/* Convolutions that look where data say, and images compared with moved ones. */
#include "frontend/paddle/compose.h"

static const xpu_value failed = {0};

enum { IMAGE = 4, MOST_WINDOW = 1 << 12, MOST_SAMPLES = 1 << 24 };

typedef struct {
    xpu_paddle_node *node;
    fe_builder b;
    xpu_dim images;
    int64_t channels, size[2], made, kernel[2], count[2]; /* of two: height, width; count: of the result */
    int64_t strides[2], pads[2], dilations[2], groups, parts;
} deformable;

static xpu_dim fixed(const deformable *d, int64_t size) {
    return xpu_dim_const(&d->b.graph->dims, size);
}

static int read_pair(const xpu_paddle_node *node, const char *name, int64_t least, int64_t fallback, int64_t pair[2]) {
    fe_ints list = xpu_paddle_ints(node, name);
    for (size_t i = 0; i < 2; i++) {
        pair[i] = list.count == 2 ? list.items[i] : fallback;
        if (pair[i] < least || pair[i] > FE_MAX_EXTENT || (list.count && list.count != 2))
            return fe_bad_attr(&node->build, name, "it is no pair of numbers in range");
    }
    return 1;
}

static int read_form(deformable *d, xpu_value x, xpu_value filter) {
    xpu_paddle_node *node = d->node;
    xpu_dims *dims = &d->b.graph->dims;
    const xpu_value_info image = *xpu_paddle_info(node, x), weights = *xpu_paddle_info(node, filter);
    int known = image.rank == IMAGE && weights.rank == IMAGE && xpu_dim_is_const(dims, image.dims[1], &d->channels) &&
                xpu_dim_is_const(dims, weights.dims[0], &d->made);
    for (int i = 0; known && i < 2; i++)
        known = xpu_dim_is_const(dims, image.dims[2 + i], &d->size[i]) &&
                xpu_dim_is_const(dims, weights.dims[2 + i], &d->kernel[i]);
    if (!known) return xpu_paddle_refuse(node, "the sizes are not known", fe_shape_text(&d->b, x)).id != 0;
    if (!read_pair(node, "strides", 1, 1, d->strides) || !read_pair(node, "paddings", 0, 0, d->pads) ||
        !read_pair(node, "dilations", 1, 1, d->dilations))
        return 0;
    d->images = image.dims[0];
    d->groups = xpu_paddle_int(node, "groups", 1);
    d->parts = xpu_paddle_int(node, "deformable_groups", 1);
    int fits = d->groups > 0 && d->parts > 0 && d->channels % d->groups == 0 && d->channels % d->parts == 0 &&
               d->made % d->groups == 0;
    for (int i = 0; i < 2; i++) {
        int64_t room = d->size[i] + 2 * d->pads[i] - d->dilations[i] * (d->kernel[i] - 1) - 1;
        d->count[i] = room < 0 ? 0 : room / d->strides[i] + 1;
        fits &= d->count[i] > 0 && d->kernel[i] > 0 && d->kernel[i] <= MOST_WINDOW;
    }
    fits = fits && d->kernel[0] * d->kernel[1] <= MOST_WINDOW && d->count[0] <= MOST_SAMPLES &&
           d->count[1] <= MOST_SAMPLES / d->count[0] / (d->kernel[0] * d->kernel[1]);
    return fits ? 1 : fe_bad_attr(&node->build, "groups", "they, or the window, do not fit the image");
}

/* Where each tap of each window stands along an axis, from -1 to 1: [N * parts, taps, places, 1]. */
static xpu_value coordinates(deformable *d, xpu_value offsets, int axis) {
    fe_builder *b = &d->b;
    int64_t taps = d->kernel[0] * d->kernel[1], places = d->count[0] * d->count[1];
    float *items = XPU_NEW_ARRAY(b->scratch, float, taps *places);
    for (int64_t i = 0; i < taps * places; i++) {
        int64_t tap = i / places, place = i % places, at = axis ? place % d->count[1] : place / d->count[1];
        int64_t own = axis ? tap % d->kernel[1] : tap / d->kernel[1];
        items[i] = (float)(at * d->strides[axis] - d->pads[axis] + own * d->dilations[axis]);
    }
    xpu_tensor tensor = {.dtype = XPU_F32, .rank = 4, .dims = {1, taps, places, 1}, .data = items};
    xpu_dim dims[] = {xpu_dim_mul(&b->graph->dims, d->images, fixed(d, d->parts)), fixed(d, taps), fixed(d, places),
                      fixed(d, 1)};
    xpu_value move = xpu_paddle_reshaped(b, fe_part(b, offsets, 2, fixed(d, axis), fixed(d, 1), 1, 0), dims, 4);
    xpu_value at = fe_binary(b, XPU_OP_ADD, move, xpu_graph_const_bytes(b->graph, NULL, &tensor));
    at = xpu_paddle_plus(b, xpu_paddle_times(b, at, 2), 1);
    return xpu_paddle_plus(b, fe_binary(b, XPU_OP_DIV, at, fe_number(b, (float)d->size[axis])), -1);
}

/* Samples between pixels at taps that are moved, each times its mask; then the product with the filter. */
xpu_value xpu_paddle_convert_deformable_conv(xpu_paddle_node *node) {
    deformable d = {.node = node, .b = fe_inside(&node->build)};
    xpu_value x = xpu_paddle_operand(node, "Input"), filter = xpu_paddle_operand(node, "Filter");
    xpu_value offsets = xpu_paddle_operand(node, "Offset"), mask = xpu_paddle_operand(node, "Mask"), grid[2];
    fe_builder *b = &d.b;
    if (!x.id || !filter.id || !offsets.id || !read_form(&d, x, filter)) return failed;
    int64_t taps = d.kernel[0] * d.kernel[1], places = d.count[0] * d.count[1], own = d.channels / d.groups;
    xpu_dim rows = xpu_dim_mul(&b->graph->dims, d.images, fixed(&d, d.parts));
    xpu_dim moved[] = {rows, fixed(&d, taps), fixed(&d, 2), fixed(&d, places)};
    xpu_dim image[] = {rows, fixed(&d, d.channels / d.parts), fixed(&d, d.size[0]), fixed(&d, d.size[1])};
    xpu_dim masked[] = {rows, fixed(&d, 1), fixed(&d, taps), fixed(&d, places)};
    xpu_dim columns[] = {d.images, fixed(&d, d.groups), fixed(&d, own * taps), fixed(&d, places)};
    xpu_dim weights[] = {fixed(&d, 1), fixed(&d, d.groups), fixed(&d, d.made / d.groups), fixed(&d, own * taps)};
    xpu_dim result[] = {d.images, fixed(&d, d.made), fixed(&d, d.count[0]), fixed(&d, d.count[1])};
    offsets = xpu_paddle_reshaped(b, offsets, moved, 4);
    x = xpu_paddle_reshaped(b, x, image, 4);
    filter = xpu_paddle_reshaped(b, filter, weights, 4);
    if (!offsets.id || !x.id || !filter.id) return failed;
    for (int i = 0; i < 2; i++) grid[i] = coordinates(&d, offsets, 1 - i);
    if (!grid[0].id || !grid[1].id) return failed;
    const fe_sampling form = {.kind = XA_LINEAR, .outside = FE_ZEROS};
    x = fe_grid_sample(b, x, fe_concat(b, grid, 2, 3), &form);
    if (mask.id) x = fe_binary(b, XPU_OP_MUL, x, xpu_paddle_reshaped(b, mask, masked, 4));
    x = xpu_paddle_reshaped(b, x, columns, 4);
    x = x.id ? fe_matmul(b, filter, x) : failed;
    return xpu_paddle_give(node, b, 0, xpu_paddle_reshaped(b, x, result, 4));
}

/* ---- correlation ---- */

typedef struct {
    fe_builder b;
    xpu_value images[2]; /* padded */
    int64_t size[2], far;
} comparison;

/* Each pixel times that of the other image so many rows and columns away, the mean over the channels: [N,1,H,W]. */
static xpu_value compared(comparison *c, int64_t down, int64_t right) {
    fe_builder *b = &c->b;
    xpu_dims *dims = &b->graph->dims;
    const int64_t moved[] = {down, right};
    xpu_value parts[2];
    for (int k = 0; k < 2; k++) {
        parts[k] = c->images[k];
        for (int i = 0; i < 2 && parts[k].id; i++)
            parts[k] = fe_part(b, parts[k], 2 + i, xpu_dim_const(dims, c->far + (k ? moved[i] : 0)),
                               xpu_dim_const(dims, c->size[i]), 1, 0);
    }
    return xpu_paddle_reduced(b, XPU_OP_REDUCE_MEAN, fe_binary(b, XPU_OP_MUL, parts[0], parts[1]), 1, 1);
}

/* How well pixels fit those that lie at most max_displacement away: a channel for each way, row by row. */
xpu_value xpu_paddle_convert_correlation(xpu_paddle_node *node) {
    enum { MOST_WAYS = 1 << 10 };
    const int64_t pad = xpu_paddle_int(node, "pad_size", 0), kernel = xpu_paddle_int(node, "kernel_size", 1),
                  far = xpu_paddle_int(node, "max_displacement", 1), step = xpu_paddle_int(node, "stride1", 1),
                  apart = xpu_paddle_int(node, "stride2", 1);
    comparison c = {.b = fe_inside(&node->build),
                    .images = {xpu_paddle_operand(node, "Input1"), xpu_paddle_operand(node, "Input2")},
                    .far = far};
    fe_builder *b = &c.b;
    xpu_value x = c.images[0];
    if (!x.id || !c.images[1].id) return failed;
    const xpu_value_info info = *fe_info(b, x);
    int fits = info.rank == IMAGE && fe_info(b, c.images[1])->rank == IMAGE && pad >= 0 && pad <= FE_MAX_EXTENT &&
               kernel == 1 && far >= 0 && far <= FE_MAX_EXTENT && step > 0 && apart > 0;
    for (int i = 0; fits && i < 2; i++) {
        fits = xpu_dim_is_const(&b->graph->dims, info.dims[2 + i], &c.size[i]);
        c.size[i] += 2 * pad - 2 * far;
        fits = fits && c.size[i] > 0;
    }
    const int64_t reach = fits ? far / apart : 0, ways = 2 * reach + 1;
    if (!fits || ways * ways > MOST_WAYS)
        return xpu_paddle_refuse(node, "the form is not supported", "kernel_size 1 in known images is");
    const int64_t pads[] = {0, 0, pad, pad, 0, 0, pad, pad}, window[] = {kernel, kernel}, steps[] = {step, step};
    for (int k = 0; k < 2; k++) {
        c.images[k] =
            fe_pad(b, c.images[k], &(fe_padding){.mode = "constant", .pads = {pads, sizeof pads / sizeof *pads}});
        if (!c.images[k].id) return failed;
    }
    xpu_value *all = XPU_NEW_ARRAY(b->scratch, xpu_value, (size_t)(ways * ways));
    for (int64_t i = 0; i < ways * ways; i++) {
        all[i] = compared(&c, (i / ways - reach) * apart, (i % ways - reach) * apart);
        if (!all[i].id) return failed;
    }
    x = fe_concat(b, all, (uint32_t)(ways * ways), 1);
    const fe_pooling pool = {.window = {.kernel_shape = {window, 2}, .strides = {steps, 2}}};
    if (x.id && step > 1) x = fe_pool(b, XPU_OP_AVERAGE_POOL, x, &pool);
    return xpu_paddle_give(node, b, 0, x);
}
