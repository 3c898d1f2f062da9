/* Convolution and pooling of volumes [N,C,D,H,W], by those of images. */
#include <inttypes.h>
#include <string.h>

#include "frontend/paddle/compose.h"

static const xpu_value failed = {0};

enum { SPATIAL = 3, RANK = 5, PADS = 6, ALL_PADS = 10, MOST_TAPS = 64 };

static xpu_dim fixed(const xpu_paddle_node *node, int64_t size) {
    return xpu_dim_const(&node->build.graph->dims, size);
}

typedef struct {
    int64_t kernel[SPATIAL], strides[SPATIAL], dilations[SPATIAL], pads[PADS]; /* pads: begins, then ends */
    int64_t sizes[RANK];
} volume;

static int read_list(const xpu_paddle_node *node, const char *name, int64_t least, int64_t list[SPATIAL]) {
    fe_ints given = xpu_paddle_ints(node, name);
    for (size_t i = 0; i < SPATIAL; i++) {
        list[i] = i < given.count ? given.items[i] : 1;
        if (list[i] >= least && list[i] <= FE_MAX_EXTENT && (!given.count || given.count == SPATIAL)) continue;
        return fe_bad_attr(&node->build, name, "it is no list of three numbers in range");
    }
    return 1;
}

static int read_volume(const xpu_paddle_node *node, xpu_value x, volume *v) {
    const char *way = xpu_paddle_text(node, "padding_algorithm", "EXPLICIT"),
               *format = xpu_paddle_text(node, "data_format", "NCDHW");
    fe_ints pads = xpu_paddle_ints(node, "paddings");
    const xpu_value_info *info = xpu_paddle_info(node, x);
    int known = info->rank == RANK;
    for (int i = 0; known && i < RANK; i++)
        known = xpu_dim_is_const(&node->build.graph->dims, info->dims[i], &v->sizes[i]);
    if (!known || strcmp(way, "SAME") == 0 || strncmp(format, "NC", 2) != 0) {
        xpu_paddle_refuse(node, "the form is not supported",
                          xpu_paddle_format(node, "%s, padded %s; known sizes [N,C,D,H,W] with explicit pads are",
                                            fe_shape_text(&node->build, x),
                                            xpu_escape(node->importer->scratch, way, 20)));
        return 0;
    }
    int none = strcmp(way, "VALID") == 0 || !pads.count;
    for (size_t i = 0; i < PADS; i++) {
        size_t axis = i % SPATIAL;
        v->pads[i] = none                    ? 0
                     : pads.count == SPATIAL ? pads.items[axis]
                     : pads.count == PADS    ? pads.items[2 * axis + i / SPATIAL]
                                             : -1;
        if (v->pads[i] < 0 || v->pads[i] > FE_MAX_EXTENT)
            return fe_bad_attr(&node->build, "paddings", "an entry is out of range");
    }
    return read_list(node, "strides", 1, v->strides) && read_list(node, "dilations", 1, v->dilations);
}

static int64_t places(const volume *v, int axis) {
    int64_t room =
        v->sizes[2 + axis] + v->pads[axis] + v->pads[SPATIAL + axis] - (v->dilations[axis] * (v->kernel[axis] - 1) + 1);
    return room < 0 ? 0 : room / v->strides[axis] + 1;
}

/* Slices of the depth that a window covers become channels of one convolution. */
xpu_value xpu_paddle_convert_conv3d(xpu_paddle_node *node) {
    static const int64_t by_depth[] = {0, 3, 1, 2, 4, 5}, back[] = {0, 2, 1, 3, 4};
    volume v;
    xpu_value x = xpu_paddle_operand(node, "Input"), w = xpu_paddle_operand(node, "Filter"), parts[MOST_TAPS];
    int64_t taps, axis = 2, depth, pads[ALL_PADS] = {0};
    if (!x.id || !w.id || !read_volume(node, x, &v)) return failed;
    const xpu_value_info filter = *xpu_paddle_info(node, w);
    int known = filter.rank == RANK;
    for (int i = 0; known && i < SPATIAL; i++)
        known = xpu_dim_is_const(&node->build.graph->dims, filter.dims[2 + i], &v.kernel[i]) && v.kernel[i] > 0;
    if (!known || v.kernel[0] > MOST_TAPS || (depth = places(&v, 0)) < 1)
        return xpu_paddle_refuse(node, "the window is not supported", fe_shape_text(&node->build, w));
    taps = v.kernel[0];
    fe_builder b = fe_inside(&node->build);
    pads[2] = v.pads[0];
    pads[RANK + 2] = v.pads[SPATIAL];
    x = fe_pad(&b, x, &(fe_padding){.mode = "constant", .pads = {pads, ALL_PADS}});
    for (int64_t k = 0; k < taps; k++) { /* [N,C,1,depth,H,W] */
        parts[k] =
            x.id ? fe_part(&b, x, 2, fixed(node, k * v.dilations[0]), fixed(node, depth), v.strides[0], 0) : failed;
        if (parts[k].id) parts[k] = fe_unsqueeze(&b, parts[k], (fe_ints){&axis, 1});
        if (!parts[k].id) return failed;
    }
    x = fe_concat(&b, parts, (uint32_t)taps, 2);
    if (x.id) x = fe_transpose(&b, x, (fe_ints){by_depth, 6});
    xpu_dim image[] = {fixed(node, v.sizes[0] * depth), fixed(node, v.sizes[1] * taps), fixed(node, v.sizes[3]),
                       fixed(node, v.sizes[4])};
    xpu_dim weights[] = {filter.dims[0], xpu_dim_mul(&b.graph->dims, filter.dims[1], fixed(node, taps)), filter.dims[3],
                         filter.dims[4]};
    if (x.id) x = fe_reshape_to(&b, x, image, 4, 0);
    w = fe_reshape_to(&b, w, weights, 4, 0);
    fe_convolution conv = {.group = xpu_paddle_int(node, "groups", 1)};
    const int64_t flat[] = {v.pads[1], v.pads[2], v.pads[SPATIAL + 1], v.pads[SPATIAL + 2]};
    conv.window = (fe_window){.strides = {v.strides + 1, 2}, .dilations = {v.dilations + 1, 2}, .pads = {flat, 4}};
    xpu_value y = x.id && w.id ? fe_conv(&b, x, w, failed, &conv) : failed;
    if (!y.id) return failed;
    const xpu_value_info info = *fe_info(&b, y);
    xpu_dim dims[] = {fixed(node, v.sizes[0]), fixed(node, depth), info.dims[1], info.dims[2], info.dims[3]};
    y = fe_reshape_to(&b, y, dims, RANK, 0);
    node->build.made = b.made;
    return y.id ? fe_transpose(&node->build, y, (fe_ints){back, RANK}) : failed;
}

/* Of images, then along the depth: maxima of maxima, and means of means, as the counts are products, too. */
xpu_value xpu_paddle_convert_pool3d(xpu_paddle_node *node) {
    static const int64_t all[] = {2, 3, 4};
    volume v;
    const char *kind = xpu_paddle_text(node, "pooling_type", "max");
    int is_max = strcmp(kind, "max") == 0, adaptive = xpu_paddle_int(node, "adaptive", 0) != 0, ones = 1;
    xpu_value x = xpu_paddle_operand(node, "X");
    if (!x.id || !read_volume(node, x, &v) || !read_list(node, "ksize", 1, v.kernel)) return failed;
    for (int i = 0; i < SPATIAL; i++) {
        ones &= v.kernel[i] == 1;
        v.dilations[i] = 1;
    }
    x = is_max ? xpu_paddle_countable(node, x) : x;
    if (!x.id || (is_max && !xpu_paddle_give_places(node, x))) return failed;
    if (adaptive && is_max && strcmp(node->op->type, "pool3d") == 0) {
        x = xpu_paddle_fitted(node, &node->build, x, (fe_ints){v.kernel, SPATIAL}, (fe_ints){v.strides, SPATIAL});
        if (!x.id || !read_volume(node, x, &v)) return failed;
        memset(v.pads, 0, sizeof v.pads);
        adaptive = ones = 0;
    }
    if (xpu_paddle_int(node, "global_pooling", 0) || (adaptive && ones))
        return fe_reduce(&node->build, is_max ? XPU_OP_REDUCE_MAX : XPU_OP_REDUCE_MEAN, x, (fe_ints){all, SPATIAL}, 1);
    if (adaptive) return xpu_paddle_adapt(node, &node->build, x, (fe_ints){v.kernel, SPATIAL}, is_max);
    fe_builder b = fe_inside(&node->build);
    fe_pooling pool = {.ceil_mode = xpu_paddle_int(node, "ceil_mode", 0)};
    pool.count_include_pad = !is_max && !xpu_paddle_int(node, "exclusive", 1);
    if (pool.ceil_mode && !xpu_paddle_int(node, "adaptive", 0))
        return xpu_paddle_refuse(node, "ceil_mode is not supported", "it is given");
    xpu_op_id op = is_max ? XPU_OP_MAX_POOL : XPU_OP_AVERAGE_POOL;
    const int64_t flat[] = {v.pads[1], v.pads[2], v.pads[SPATIAL + 1], v.pads[SPATIAL + 2]};
    pool.window = (fe_window){.kernel_shape = {v.kernel + 1, 2}, .strides = {v.strides + 1, 2}, .pads = {flat, 4}};
    xpu_dim image[] = {fixed(node, v.sizes[0]), fixed(node, v.sizes[1] * v.sizes[2]), fixed(node, v.sizes[3]),
                       fixed(node, v.sizes[4])};
    xpu_value y = fe_reshape_to(&b, x, image, 4, 0);
    y = y.id ? fe_pool(&b, op, y, &pool) : failed;
    if (!y.id) return failed;
    const xpu_value_info info = *fe_info(&b, y);
    const int64_t kernel[] = {v.kernel[0], 1}, strides[] = {v.strides[0], 1},
                  deep[] = {v.pads[0], 0, v.pads[SPATIAL], 0};
    xpu_dim columns[] = {fixed(node, v.sizes[0]), fixed(node, v.sizes[1]), fixed(node, v.sizes[2]),
                         xpu_dim_mul(&b.graph->dims, info.dims[2], info.dims[3])};
    pool.window = (fe_window){.kernel_shape = {kernel, 2}, .strides = {strides, 2}, .pads = {deep, 4}};
    y = fe_reshape_to(&b, y, columns, 4, 0);
    y = y.id ? fe_pool(&b, op, y, &pool) : failed;
    node->build.made = b.made;
    xpu_dim dims[] = {columns[0], columns[1], fixed(node, places(&v, 0)), info.dims[2], info.dims[3]};
    return y.id ? fe_reshape_to(&node->build, y, dims, RANK, 1) : failed;
}

/* ---- the other way round ---- */

/* What the slices of a kernel make of each slice, [N,D,O * kernel depth,S], put into their places along the depth and
 * added: [N,depth,O,S]. */
static xpu_value added_along_depth(fe_builder *b, xpu_value y, const volume *v, int64_t depth) {
    const xpu_value_info info = *fe_info(b, y); /* [N,D,O,kernel depth,S] */
    xpu_dims *dims = &b->graph->dims;
    int64_t deep = v->sizes[2], stride = v->strides[0], two = 2;
    const int64_t gaps[] = {0, 0, 0, 0, 0, 0, 0, stride - 1, 0, 0};
    xpu_dim apart[] = {info.dims[0], xpu_dim_const(dims, deep * stride), info.dims[2], info.dims[4]};
    xpu_value sum = failed;
    for (int64_t k = 0; k < v->kernel[0]; k++) {
        int64_t first = k * v->dilations[0] - v->pads[0];
        const int64_t pads[] = {0, first, 0, 0, 0, depth - first - deep * stride, 0, 0};
        xpu_value own = fe_part(b, y, 3, xpu_dim_const(dims, k), xpu_dim_const(dims, 1), 1, 0);
        xpu_dim flat[] = {info.dims[0], info.dims[1], info.dims[2], info.dims[4]};
        own = own.id ? fe_reshape_to(b, own, flat, 4, 0) : failed;
        if (own.id && stride > 1) { /* slices of zeros between those that are there */
            own = fe_unsqueeze(b, own, (fe_ints){&two, 1});
            own = own.id ? fe_pad(b, own, &(fe_padding){.mode = "constant", .pads = {gaps, ALL_PADS}}) : failed;
            own = own.id ? fe_reshape_to(b, own, apart, 4, 0) : failed;
        }
        own = own.id ? fe_pad(b, own, &(fe_padding){.mode = "constant", .pads = {pads, 8}}) : failed;
        sum = sum.id ? fe_binary(b, XPU_OP_ADD, sum, own) : own;
    }
    return sum;
}

/* Each slice of the depth is an image, whose transposed convolution has the slices of the kernel as channels. */
xpu_value xpu_paddle_convert_conv3d_transpose(xpu_paddle_node *node) {
    static const int64_t by_depth[] = {0, 2, 1, 3, 4};
    volume v;
    xpu_value x = xpu_paddle_operand(node, "Input"), w = xpu_paddle_operand(node, "Filter");
    fe_ints sizes = xpu_paddle_ints(node, "output_size"), more = xpu_paddle_ints(node, "output_padding");
    int64_t made[SPATIAL], filters;
    if (!x.id || !w.id || !read_volume(node, x, &v)) return failed;
    const xpu_value_info filter = *xpu_paddle_info(node, w);
    int known = filter.rank == RANK && xpu_dim_is_const(&node->build.graph->dims, filter.dims[1], &filters);
    for (int i = 0; known && i < SPATIAL; i++) {
        known = xpu_dim_is_const(&node->build.graph->dims, filter.dims[2 + i], &v.kernel[i]) && v.kernel[i] > 0;
        made[i] = (v.sizes[2 + i] - 1) * v.strides[i] + v.dilations[i] * (v.kernel[i] - 1) + 1 - v.pads[i] -
                  v.pads[SPATIAL + i];
        made[i] = sizes.count == SPATIAL ? sizes.items[i] : made[i] + (more.count == SPATIAL ? more.items[i] : 0);
        known = known && made[i] > 0 && made[i] <= FE_MAX_EXTENT;
    }
    if (!known || v.kernel[0] > MOST_TAPS)
        return xpu_paddle_refuse(node, "the window is not supported", fe_shape_text(&node->build, w));
    fe_builder b = fe_inside(&node->build);
    int64_t group = xpu_paddle_int(node, "groups", 1), all = filters * group;
    fe_transposed_convolution conv = {.group = group};
    const int64_t flat[] = {v.pads[1], v.pads[2], v.pads[SPATIAL + 1], v.pads[SPATIAL + 2]};
    int64_t extra[2];
    for (int i = 0; i < 2; i++)
        extra[i] = made[1 + i] - ((v.sizes[3 + i] - 1) * v.strides[1 + i] + v.dilations[1 + i] * (v.kernel[1 + i] - 1) +
                                  1 - v.pads[1 + i] - v.pads[SPATIAL + 1 + i]);
    if (extra[0] < 0 || extra[1] < 0 || group < 1)
        return fe_bad_attr(&node->build, "output_size", "it is smaller than what the window makes"), failed;
    conv.output_padding = (fe_ints){extra, 2};
    conv.window = (fe_window){.strides = {v.strides + 1, 2}, .dilations = {v.dilations + 1, 2}, .pads = {flat, 4}};
    xpu_dim image[] = {fixed(node, v.sizes[0] * v.sizes[2]), fixed(node, v.sizes[1]), fixed(node, v.sizes[3]),
                       fixed(node, v.sizes[4])};
    xpu_dim weights[] = {filter.dims[0], fixed(node, filters * v.kernel[0]), filter.dims[3], filter.dims[4]};
    x = fe_transpose(&b, x, (fe_ints){by_depth, RANK});
    x = x.id ? fe_reshape_to(&b, x, image, 4, 0) : failed;
    w = fe_reshape_to(&b, w, weights, 4, 0);
    xpu_value y = x.id && w.id ? fe_conv_transpose(&b, x, w, failed, &conv) : failed;
    if (!y.id) return failed;
    xpu_dim apart[] = {fixed(node, v.sizes[0]), fixed(node, v.sizes[2]), fixed(node, all), fixed(node, v.kernel[0]),
                       fixed(node, made[1] * made[2])};
    y = fe_reshape_to(&b, y, apart, RANK, 0);
    y = y.id ? added_along_depth(&b, y, &v, made[0]) : failed;
    xpu_dim dims[] = {fixed(node, v.sizes[0]), fixed(node, made[0]), fixed(node, all), fixed(node, made[1]),
                      fixed(node, made[2])};
    y = y.id ? fe_reshape_to(&b, y, dims, RANK, 0) : failed;
    node->build.made = b.made;
    return y.id ? fe_transpose(&node->build, y, (fe_ints){by_depth, RANK}) : failed;
}

/* Elements of x at the places of its plane that the indices say, else 0. */
xpu_value xpu_paddle_convert_unpool(xpu_paddle_node *node) {
    xpu_value x = xpu_paddle_operand(node, "X"), indices = xpu_paddle_operand(node, "Indices");
    fe_ints size = {NULL, 0};
    if (!x.id || !indices.id || !xpu_paddle_numbers(node, "output_size", "output_size", NULL, &size)) return failed;
    if (size.count == 4) size = (fe_ints){size.items + 2, 2};
    if (xpu_paddle_rank(node, x) != 4 || size.count != 2 || size.items[0] < 1 || size.items[1] < 1 ||
        size.items[0] > FE_MAX_EXTENT || size.items[1] > FE_MAX_EXTENT)
        return xpu_paddle_refuse(node, "the form is not supported", "images [N,C,H,W] with output_size are");
    fe_builder b = fe_inside(&node->build);
    const xpu_value_info info = *fe_info(&b, x);
    xpu_dim count = xpu_dim_mul(&b.graph->dims, info.dims[0], info.dims[1]),
            each[] = {info.dims[0], info.dims[1], fixed(node, 1), fixed(node, 1)};
    xpu_dim dims[] = {info.dims[0], info.dims[1], fixed(node, size.items[0]), fixed(node, size.items[1])};
    xpu_value plane = fe_counted(&b, XPU_I64, count, 0, 1);
    plane = fe_binary(&b, XPU_OP_MUL, plane, fe_integer(&b, XPU_I64, size.items[0] * size.items[1]));
    plane = plane.id ? fe_reshape_to(&b, plane, each, 4, 0) : failed;
    indices = fe_binary(&b, XPU_OP_ADD, fe_as(&b, indices, XPU_I64), plane);
    node->build.made = b.made;
    return indices.id ? fe_max_unpool(&node->build, x, indices, (fe_dims){dims, 4}) : failed;
}
