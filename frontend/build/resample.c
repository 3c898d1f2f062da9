/* Resize: repeats, steps and resampled axes. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/option.h"
#include "core/arith_resample.h"
#include "frontend/build/build.h"

/* What happens to one axis. */
typedef struct {
    int axis;
    xpu_dim in, out;
    float scale;    /* 0: that of the sizes */
    int64_t factor; /* the scale where it is a whole number, else 0 */
} axis_plan;

typedef struct {
    fe_builder *b;
    const fe_resizing *form;
    int kind, coordinates, rounding;
    axis_plan axes[XPU_MAX_RANK];
    int count;
} plan;

enum { MOST_FACTOR = 64 };

static const char *const kinds[] = {
    [XA_NEAREST] = "nearest", [XA_LINEAR] = "linear", [XA_CUBIC] = "cubic", [XA_RESAMPLE_KINDS] = NULL};
static const char *const coordinates[] = {[XA_HALF_PIXEL] = "half_pixel",
                                          [XA_PYTORCH_HALF_PIXEL] = "pytorch_half_pixel",
                                          [XA_HALF_PIXEL_SYMMETRIC] = "half_pixel_symmetric",
                                          [XA_ASYMMETRIC] = "asymmetric",
                                          [XA_ALIGN_CORNERS] = "align_corners",
                                          [XA_TF_HALF_PIXEL_FOR_NN] = "tf_half_pixel_for_nn",
                                          [XA_TF_CROP_AND_RESIZE] = "tf_crop_and_resize",
                                          [XA_COORDINATES] = NULL};
static const char *const roundings[] = {[XA_ROUND_PREFER_FLOOR] = "round_prefer_floor",
                                        [XA_ROUND_PREFER_CEIL] = "round_prefer_ceil",
                                        [XA_ROUND_FLOOR] = "floor",
                                        [XA_ROUND_CEIL] = "ceil",
                                        [XA_ROUND_SIMPLE] = "simple",
                                        [XA_NEAREST_ROUNDINGS] = NULL};

/* The place of `word` in a list; -1 after reporting. */
static int place_of(const fe_builder *b, const char *name, const char *word, const char *const *list) {
    for (int i = 0; list[i]; i++) {
        if (strcmp(list[i], word) == 0) return i;
    }
    fe_bad_attr(b, name, fe_format(b, "it is '%s'", xpu_escape(b->scratch, word, 40)));
    return -1;
}

/* ---- sizes ---- */

xpu_dim fe_scaled(fe_builder *b, xpu_dim in, float scale) {
    enum { MOST_SHIFT = 8 };
    xpu_dims *dims = &b->graph->dims;
    int64_t size;
    if (xpu_dim_is_const(dims, in, &size)) {
        float product = (float)size * scale;
        return product < 0x1p40f ? xpu_dim_const(dims, (int64_t)product) : (xpu_dim){0};
    }
    for (int shift = 0; shift <= MOST_SHIFT; shift++) {
        float whole = ldexpf(scale, shift);
        if (whole != floorf(whole) || whole >= 0x1p12f) continue;
        return xpu_dim_floordiv_const(dims, xpu_dim_mul_const(dims, in, (int64_t)whole), (int64_t)1 << shift);
    }
    return (xpu_dim){0};
}

static int64_t whole_factor(fe_builder *b, const axis_plan *axis) {
    xpu_dims *dims = &b->graph->dims;
    int64_t in, out;
    if (axis->scale != 0) {
        return axis->scale == floorf(axis->scale) && axis->scale <= (float)MOST_FACTOR ? (int64_t)axis->scale : 0;
    }
    if (xpu_dim_is_const(dims, axis->in, &in) && xpu_dim_is_const(dims, axis->out, &out)) {
        return in > 0 && out % in == 0 && out / in <= MOST_FACTOR ? out / in : 0;
    }
    for (int64_t factor = 1; factor <= MOST_FACTOR; factor *= 2) {
        if (xpu_dim_same(dims, xpu_dim_mul_const(dims, axis->in, factor), axis->out)) return factor;
    }
    return 0;
}

/* The scale that both policies take for all axes. 0 after reporting. */
static float common_scale(plan *p, const fe_dims *sizes, int larger) {
    fe_builder *b = p->b;
    float common = 0;
    for (int i = 0; i < p->count; i++) {
        int64_t in, out;
        if (!xpu_dim_is_const(&b->graph->dims, p->axes[i].in, &in) || in < 1 ||
            !xpu_dim_is_const(&b->graph->dims, sizes->items[i], &out)) {
            fe_refuse(b, FE_FORM, "the scale depends on the size of the input",
                      "keep_aspect_ratio_policy over sizes that are not known", "fix the shape with --shape");
            return 0;
        }
        float scale = (float)out / (float)in;
        if (i == 0 || (larger ? scale > common : scale < common)) common = scale;
    }
    return common;
}

static int take_sizes(plan *p) {
    fe_builder *b = p->b;
    const fe_dims *sizes = &p->form->sizes;
    const char *policy = p->form->policy ? p->form->policy : "stretch";
    int smaller = strcmp(policy, "not_smaller") == 0, keeps = smaller || strcmp(policy, "not_larger") == 0;
    if (!keeps && strcmp(policy, "stretch") != 0) {
        return fe_bad_attr(b, "keep_aspect_ratio_policy",
                           fe_format(b, "it is '%s'", xpu_escape(b->scratch, policy, 40)));
    }
    float common = keeps ? common_scale(p, sizes, smaller) : 0;
    if (keeps && common == 0) return 0;
    for (int i = 0; i < p->count; i++) {
        axis_plan *axis = &p->axes[i];
        int64_t in = 0;
        if (keeps) {
            xpu_dim_is_const(&b->graph->dims, axis->in, &in);
            axis->out = xpu_dim_const(&b->graph->dims, (int64_t)floorf(common * (float)in + 0.5f));
        } else {
            axis->out = sizes->items[i];
        }
        axis->scale = common;
    }
    return 1;
}

static int take_scales(plan *p) {
    fe_builder *b = p->b;
    for (int i = 0; i < p->count; i++) {
        axis_plan *axis = &p->axes[i];
        axis->scale = p->form->scales[i];
        if (!(axis->scale > 0) || !isfinite(axis->scale)) {
            fe_refuse(b, FE_OPERAND, "a scale is not valid", fe_format(b, "scale %d is %g", i, (double)axis->scale),
                      NULL);
            return 0;
        }
        axis->out = fe_scaled(b, axis->in, axis->scale);
        if (axis->out.id) continue;
        fe_refuse(
            b, FE_FORM, "the size of the result is no expression",
            fe_format(b, "%s times %.9g", xpu_dim_text(&b->graph->dims, axis->in, b->scratch), (double)axis->scale),
            "fix the shape with --shape, or export the model with sizes");
        return 0;
    }
    return 1;
}

static int list_axes(plan *p, xpu_value x) {
    const xpu_value_info *info = fe_info(p->b, x);
    const fe_ints *axes = &p->form->axes;
    size_t given = p->form->sizes.items ? p->form->sizes.count : p->form->scale_count;
    p->count = axes->items ? (int)axes->count : info->rank;
    if (axes->count > XPU_MAX_RANK || given != (size_t)p->count) {
        fe_refuse(p->b, FE_OPERAND, "scales or sizes do not fit the input",
                  fe_format(p->b, "%zu for %zu dims", given, axes->items ? axes->count : (size_t)info->rank), NULL);
        return 0;
    }
    unsigned seen = 0;
    for (int i = 0; i < p->count; i++) {
        int axis = axes->items ? fe_axis(p->b, axes->items[i], info->rank) : i;
        if (axis < 0) return 0;
        if (seen & 1u << axis) {
            fe_refuse(p->b, FE_OPERAND, "an axis is given twice", fe_format(p->b, "axis %d", axis), NULL);
            return 0;
        }
        seen |= 1u << axis;
        p->axes[i] = (axis_plan){.axis = axis, .in = info->dims[axis]};
    }
    return 1;
}

/* ---- the nodes ---- */

/* Whether the nearest elements of an axis a whole number of times as long are each one that often. */
static int repeats(const plan *p) {
    switch (p->coordinates) {
    case XA_ASYMMETRIC:
    case XA_TF_HALF_PIXEL_FOR_NN: return p->rounding == XA_ROUND_FLOOR || p->rounding == XA_ROUND_SIMPLE;
    case XA_HALF_PIXEL:
    case XA_PYTORCH_HALF_PIXEL:
    case XA_HALF_PIXEL_SYMMETRIC: return p->rounding == XA_ROUND_PREFER_FLOOR || p->rounding == XA_ROUND_PREFER_CEIL;
    default: return 0;
    }
}

static xpu_value repeat_node(fe_builder *b, xpu_value x, const int64_t *by, int rank, int last) {
    return fe_node(b, XPU_OP_REPEAT, &x, 1, &XPU_ATTR_INTS_OF(REPEATS, by, (uint32_t)rank), 1, last);
}

/* Elements are copied in six dims, of which a repeated one takes two: further ones are repeated one after the other. */
static xpu_value repeat_axis(fe_builder *b, xpu_value x, int axis, int64_t factor, int last) {
    const xpu_value_info info = *fe_info(b, x);
    xpu_dim dims[XPU_MAX_RANK];
    memcpy(dims, info.dims, sizeof dims);
    dims[axis] = xpu_dim_mul_const(&b->graph->dims, dims[axis], factor);
    xpu_dim flat[] = {fe_dim_product(b, info.dims, 0, axis), info.dims[axis],
                      fe_dim_product(b, info.dims, axis + 1, info.rank)};
    const int64_t by[] = {1, factor, 1};
    x = fe_reshape_to(b, x, flat, 3, 0);
    if (x.id) x = repeat_node(b, x, by, 3, 0);
    return x.id ? fe_reshape_to(b, x, dims, info.rank, last) : x;
}

static xpu_value resample_node(plan *p, xpu_value x, int i, int last) {
    fe_builder *b = p->b;
    const axis_plan *axis = &p->axes[i];
    const fe_resizing *form = p->form;
    const float *roi = form->roi;
    xpu_attr attrs[] = {XPU_ATTR_INT_OF(AXIS, axis->axis),
                        XPU_ATTR_DIMS_OF(SHAPE, &axis->out, 1),
                        XPU_ATTR_INT_OF(KIND, p->kind),
                        XPU_ATTR_INT_OF(COORDINATES, p->coordinates),
                        XPU_ATTR_INT_OF(ROUNDING, p->rounding),
                        XPU_ATTR_INT_OF(EXCLUDE_OUTSIDE, form->exclude_outside),
                        XPU_ATTR_INT_OF(ANTIALIAS, form->antialias && p->kind != XA_NEAREST),
                        XPU_ATTR_FLOAT_OF(SCALE, axis->scale),
                        XPU_ATTR_FLOAT_OF(LOW, roi ? roi[i] : 0),
                        XPU_ATTR_FLOAT_OF(HIGH, roi ? roi[p->count + i] : 1),
                        XPU_ATTR_FLOAT_OF(ALPHA, form->cubic_coefficient),
                        XPU_ATTR_FLOAT_OF(VALUE, form->extrapolation_value)};
    return fe_node(b, XPU_OP_RESAMPLE, &x, 1, attrs, sizeof attrs / sizeof *attrs, last);
}

/* An axis that stays as it is. */
static int is_same(const plan *p, const axis_plan *axis) {
    return axis->factor == 1 && p->coordinates != XA_TF_CROP_AND_RESIZE;
}

/* x with all whole factors; those axes are done then. */
static xpu_value repeat_axes(plan *p, xpu_value x, int last) {
    enum { COPY_DIMS = 6 };
    const xpu_value_info *info = fe_info(p->b, x);
    int64_t by[XPU_MAX_RANK];
    int rank = info->rank, repeated = xpu_dtype_bytes(info->dtype) > 4, left = 0, together;
    for (int d = 0; d < XPU_MAX_RANK; d++) by[d] = 1;
    for (int i = 0; i < p->count; i++) {
        if (p->axes[i].factor < 2) continue;
        by[p->axes[i].axis] = p->axes[i].factor;
        repeated++;
    }
    together = rank + repeated <= COPY_DIMS;
    for (int d = 0; d < rank; d++) left += by[d] > 1;
    if (together) return left ? repeat_node(p->b, x, by, rank, last) : x;
    for (int d = 0; d < rank && x.id; d++) {
        if (by[d] > 1) x = repeat_axis(p->b, x, d, by[d], last && --left == 0);
    }
    return x;
}

static xpu_value convert(fe_builder *b, xpu_value x, xpu_dtype dtype, int last) {
    if (!x.id || fe_info(b, x)->dtype == dtype) return x;
    return fe_node(b, XPU_OP_CONVERT, &x, 1, &XPU_ATTR_INT_OF(DTYPE, dtype), 1, last);
}

static xpu_value resize_axes(plan *p, xpu_value x, int last) {
    int repeated = 0, resampled = 0, by_copies = p->kind == XA_NEAREST && repeats(p);
    for (int i = 0; i < p->count; i++) {
        axis_plan *axis = &p->axes[i];
        axis->factor = whole_factor(p->b, axis);
        if (is_same(p, axis)) continue;
        repeated += by_copies && axis->factor >= 2;
        resampled += !(by_copies && axis->factor >= 2);
    }
    for (int i = 0; i < p->count && x.id; i++) {
        const axis_plan *axis = &p->axes[i];
        if (is_same(p, axis) || (by_copies && axis->factor >= 2)) continue;
        x = resample_node(p, x, i, last && !repeated && --resampled == 0);
    }
    return x.id && repeated ? repeat_axes(p, x, last) : x;
}

/* Whether nodes are made at all: otherwise the result is the operand. */
static int changes(plan *p) {
    for (int i = 0; i < p->count; i++) {
        axis_plan axis = p->axes[i];
        axis.factor = whole_factor(p->b, &axis);
        if (!is_same(p, &axis)) return 1;
    }
    return 0;
}

xpu_value fe_resize(fe_builder *b, xpu_value x, const fe_resizing *form) {
    static const xpu_value failed = {0};
    if (!x.id) return failed;
    plan p = {.b = b, .form = form};
    p.kind = place_of(b, "mode", form->mode, kinds);
    p.coordinates = place_of(b, "coordinate_transformation_mode", form->coordinates, coordinates);
    p.rounding = place_of(b, "nearest_mode", form->nearest_mode, roundings);
    if (p.kind < 0 || p.coordinates < 0 || p.rounding < 0 || !list_axes(&p, x)) return failed;
    if (!(form->sizes.items ? take_sizes(&p) : take_scales(&p))) return failed;
    if (!changes(&p)) return fe_node(b, XPU_OP_IDENTITY, &x, 1, NULL, 0, 1);
    const xpu_dtype dtype = fe_info(b, x)->dtype;
    int as_floats = dtype != XPU_F32 && (p.kind != XA_NEAREST || p.coordinates == XA_TF_CROP_AND_RESIZE);
    if (as_floats) x = convert(b, x, XPU_F32, 0);
    if (x.id) x = resize_axes(&p, x, !as_floats);
    return as_floats ? convert(b, x, dtype, 1) : x;
}
