/* Samples of an image at computed places: rows of channels are gathered at each tap, weighted and added. */
#include <math.h>

#include "frontend/build/build.h"

enum { MOST_TAPS = 4, MOST_AXES = 3 };

/* Of an axis: where the samples lie ([..., 1]), what a tap is, and its weight. */
typedef struct {
    xpu_value index[MOST_TAPS], weight[MOST_TAPS], inside[MOST_TAPS];
    int count;
} taps;

static xpu_value times(fe_builder *b, xpu_value x, float y) {
    return fe_binary(b, XPU_OP_MUL, x, fe_number(b, y));
}

static xpu_value plus(fe_builder *b, xpu_value x, float y) {
    return fe_binary(b, XPU_OP_ADD, x, fe_number(b, y));
}

/* y - x */
static xpu_value from_number(fe_builder *b, float y, xpu_value x) {
    return fe_binary(b, XPU_OP_SUB, fe_number(b, y), x);
}

static xpu_value clipped(fe_builder *b, xpu_value x, float low, float high) {
    return x.id ? fe_clip(b, x, low, high) : x;
}

/* Between low and high, reflected at both as often as it takes. */
static xpu_value reflected(fe_builder *b, xpu_value x, float low, float high) {
    const float range = high - low;
    if (!(range > 0)) return times(b, x, 0);
    xpu_value far = fe_unary(b, XPU_OP_ABS, plus(b, x, -low));
    xpu_value times_over = fe_unary(b, XPU_OP_FLOOR, times(b, far, 1 / range));
    xpu_value rest = fe_binary(b, XPU_OP_SUB, far, times(b, times_over, range));
    xpu_value pairs = times(b, fe_unary(b, XPU_OP_FLOOR, times(b, times_over, 0.5f)), 2);
    xpu_value odd = fe_binary(b, XPU_OP_SUB, times_over, pairs); /* 0 or 1 */
    xpu_value turned = fe_binary(b, XPU_OP_MUL, odd, from_number(b, range, times(b, rest, 2)));
    return plus(b, fe_binary(b, XPU_OP_ADD, rest, turned), low);
}

/* Weights of four taps around a place between the middle two. */
static void cubic_weights(fe_builder *b, xpu_value part, xpu_value weight[MOST_TAPS]) {
    const float a = -0.75f;
    for (int i = 0; i < MOST_TAPS; i++) {
        const int far = i == 0 || i == 3;
        xpu_value d = i == 0   ? plus(b, part, 1)
                      : i == 1 ? part
                      : i == 2 ? from_number(b, 1, part)
                               : from_number(b, 2, part);
        if (far) { /* ((a d - 5 a) d + 8 a) d - 4 a */
            xpu_value y = plus(b, times(b, d, a), -5 * a);
            y = plus(b, fe_binary(b, XPU_OP_MUL, y, d), 8 * a);
            weight[i] = plus(b, fe_binary(b, XPU_OP_MUL, y, d), -4 * a);
        } else { /* ((a + 2) d - (a + 3)) d d + 1 */
            xpu_value y = plus(b, times(b, d, a + 2), -(a + 3));
            y = fe_binary(b, XPU_OP_MUL, fe_binary(b, XPU_OP_MUL, y, d), d);
            weight[i] = plus(b, y, 1);
        }
    }
}

/* The lowest and highest place of an axis of `size` elements. */
static float lowest(const fe_sampling *form) {
    return form->align_corners ? 0 : -0.5f;
}

static float highest(const fe_sampling *form, float size) {
    return form->align_corners ? size - 1 : size - 0.5f;
}

/* Places that are no number, or infinite, are the lowest one, as in onnxruntime; and those whose reflection would
 * be. */
static xpu_value finite_places(fe_builder *b, const fe_sampling *form, xpu_value place) {
    const float limit = form->outside == FE_REFLECTION ? 0x1p100f : INFINITY;
    xpu_value is_finite = fe_binary(b, XPU_OP_LESS, fe_unary(b, XPU_OP_ABS, place), fe_number(b, limit));
    if (!is_finite.id) return is_finite;
    return fe_node(b, XPU_OP_WHERE, (xpu_value[]){is_finite, place, fe_number(b, -1)}, 3, NULL, 0, 0);
}

/* Places from -1 to 1 as those of an axis. */
static xpu_value place_in(fe_builder *b, const fe_sampling *form, xpu_value place, float size) {
    xpu_value at = plus(b, place, 1);
    at = form->align_corners ? times(b, times(b, at, 0.5f), size - 1) : times(b, plus(b, times(b, at, size), -1), 0.5f);
    return form->kind == XA_NEAREST ? fe_unary(b, XPU_OP_ROUND, at) : at;
}

/* The taps of an axis of `size` elements for these places. */
static taps taps_of(fe_builder *b, const fe_sampling *form, xpu_value at, float size) {
    taps t = {.count = form->kind == XA_NEAREST ? 1 : form->kind == XA_LINEAR ? 2 : MOST_TAPS};
    xpu_value first = fe_unary(b, XPU_OP_FLOOR, at), part = fe_binary(b, XPU_OP_SUB, at, first);
    if (t.count == 2) t.weight[0] = from_number(b, 1, part), t.weight[1] = part;
    if (t.count == MOST_TAPS) cubic_weights(b, part, t.weight);
    for (int i = 0; i < t.count; i++) {
        xpu_value own = plus(b, first, (float)(i - (t.count == MOST_TAPS))), known = own;
        if (form->outside == FE_REFLECTION) known = reflected(b, own, lowest(form), highest(form, size));
        xpu_value index = clipped(b, known, 0, size - 1);
        if (form->outside == FE_ZEROS) t.inside[i] = fe_binary(b, XPU_OP_EQUAL, own, index);
        t.index[i] = index.id ? fe_as(b, index, XPU_I32) : index;
    }
    return t;
}

/* What one tap of each axis adds; `which` counts them all. */
static xpu_value part_of(fe_builder *b, xpu_value x, const taps *t, int axes, int which) {
    xpu_value index[MOST_AXES], weight = {0}, inside = {0};
    for (int d = axes - 1; d >= 0; which /= t[d].count, d--) {
        const int i = which % t[d].count;
        index[d] = t[d].index[i];
        if (!index[d].id) return index[d];
        if (t[d].weight[i].id) weight = weight.id ? fe_binary(b, XPU_OP_MUL, weight, t[d].weight[i]) : t[d].weight[i];
        if (t[d].inside[i].id) inside = inside.id ? fe_binary(b, XPU_OP_AND, inside, t[d].inside[i]) : t[d].inside[i];
    }
    xpu_value tuples = fe_concat(b, index, (uint32_t)axes, -1);
    xpu_value y = tuples.id ? fe_gather_nd(b, x, tuples, 1) : tuples;
    if (weight.id) y = fe_binary(b, XPU_OP_MUL, y, weight);
    if (!inside.id || !y.id) return y;
    return fe_node(b, XPU_OP_WHERE, (xpu_value[]){inside, y, fe_number(b, 0)}, 3, NULL, 0, 0);
}

/* Channels last, or back. */
static xpu_value turned(fe_builder *b, xpu_value x, int rank, int back) {
    int64_t perm[XPU_MAX_RANK] = {0};
    for (int i = 1; i < rank; i++) perm[i] = back ? (i == 1 ? rank - 1 : i - 1) : (i == rank - 1 ? 1 : i + 1);
    return x.id ? fe_transpose(b, x, (fe_ints){perm, (size_t)rank}) : x;
}

xpu_value fe_grid_sample(fe_builder *b, xpu_value x, xpu_value grid, const fe_sampling *form) {
    if (!x.id || !grid.id) return (xpu_value){0};
    const xpu_value_info info = *fe_info(b, x), places = *fe_info(b, grid);
    xpu_dims *dims = &b->graph->dims;
    const int axes = info.rank - 2;
    int64_t size[MOST_AXES], columns = 0;
    int fits = axes >= 2 && axes <= MOST_AXES && places.rank == info.rank && (form->kind != XA_CUBIC || axes == 2) &&
               xpu_dim_is_const(dims, places.dims[info.rank - 1], &columns) && columns == axes;
    for (int d = 0; fits && d < axes; d++) fits = xpu_dim_is_const(dims, info.dims[2 + d], &size[d]) && size[d] > 0;
    if (!fits) {
        return fe_refuse(b, FE_SHAPE, "the operands do not fit together",
                         fe_format(b,
                                   "they have shapes %s and %s; images of known sizes in two dims, or but for cubic "
                                   "ones three, and places of as many coordinates are defined",
                                   fe_shape_text(b, x), fe_shape_text(b, grid)),
                         NULL);
    }
    fe_builder inside = fe_inside(b);
    taps t[MOST_AXES];
    int count = 1;
    xpu_value image = turned(&inside, fe_as(&inside, x, XPU_F32), info.rank, 0), sum = {0};
    grid = fe_as(&inside, grid, XPU_F32);
    for (int d = 0; d < axes; d++) { /* the first coordinate is that of the last dim */
        xpu_value place =
            fe_part(&inside, grid, info.rank - 1, xpu_dim_const(dims, axes - 1 - d), xpu_dim_const(dims, 1), 1, 0);
        xpu_value at = place_in(&inside, form, finite_places(&inside, form, place), (float)size[d]);
        if (form->outside == FE_REFLECTION) at = reflected(&inside, at, lowest(form), highest(form, (float)size[d]));
        t[d] = taps_of(&inside, form, at, (float)size[d]);
        count *= t[d].count;
    }
    for (int i = 0; i < count; i++) {
        xpu_value part = part_of(&inside, image, t, axes, i);
        sum = i ? fe_binary(&inside, XPU_OP_ADD, sum, part) : part;
    }
    return fe_finish(b, &inside, fe_as(&inside, turned(&inside, sum, info.rank, 1), info.dtype));
}
