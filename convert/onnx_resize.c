/* Resampled and repeated axes in ONNX. */
#include <math.h>
#include <string.h>

#include "convert/onnx_writer.h"
#include "core/arith_resample.h"

static const char *const kinds[] = {[XA_NEAREST] = "nearest", [XA_LINEAR] = "linear", [XA_CUBIC] = "cubic"};
static const char *const coordinates[] = {[XA_HALF_PIXEL] = "half_pixel",
                                          [XA_PYTORCH_HALF_PIXEL] = "pytorch_half_pixel",
                                          [XA_HALF_PIXEL_SYMMETRIC] = "half_pixel_symmetric",
                                          [XA_ASYMMETRIC] = "asymmetric",
                                          [XA_ALIGN_CORNERS] = "align_corners",
                                          [XA_TF_HALF_PIXEL_FOR_NN] = "tf_half_pixel_for_nn",
                                          [XA_TF_CROP_AND_RESIZE] = "tf_crop_and_resize"};
static const char *const roundings[] = {[XA_ROUND_PREFER_FLOOR] = "round_prefer_floor",
                                        [XA_ROUND_PREFER_CEIL] = "round_prefer_ceil",
                                        [XA_ROUND_FLOOR] = "floor",
                                        [XA_ROUND_CEIL] = "ceil"};

/* Types that onnxruntime resizes. */
static int resizes(xpu_dtype dtype) {
    return dtype == XPU_F32 || dtype == XPU_F16 || dtype == XPU_I32 || dtype == XPU_I8 || dtype == XPU_U8;
}

/* float32 does not hold what these do: Resize takes them, though not everywhere. */
static int is_wide(xpu_dtype dtype) {
    return dtype == XPU_I64 || dtype == XPU_U64 || dtype == XPU_U32 || dtype == XPU_F64;
}

static const char *scales(ow *w, const float *values, int rank) {
    return ow_tensor(w, "scales", &(xpu_tensor){.dtype = XPU_F32, .rank = 1, .dims = {rank}, .data = (void *)values});
}

/* [.., n, ..] as [.., n, 1, ..], expanded along the new dim: for types that Resize does not have. */
static void repeat_by_expanding(ow *w, const int64_t *by) {
    const xpu_value_info x = *ow_info_in(w, 0), y = *ow_info_out(w, 0);
    const char *name = ow_in(w, 0);
    xpu_dim apart[2 * XPU_MAX_RANK], wide[2 * XPU_MAX_RANK];
    const xpu_dim one = xpu_dim_const(&w->graph->dims, 1);
    int rank = 0;
    for (int i = 0; i < x.rank; i++) {
        apart[rank] = x.dims[i];
        wide[rank++] = one;
        if (by[i] == 1) continue;
        apart[rank] = one;
        wide[rank++] = xpu_dim_const(&w->graph->dims, by[i]);
    }
    name = ow_binary(w, NULL, "Reshape", name, ow_dims(w, "apart", apart, rank));
    name = ow_binary(w, NULL, "Expand", name, ow_dims(w, "repeats", wide, rank));
    ow_binary(w, ow_out(w, 0), "Reshape", name, ow_dims(w, "shape", y.dims, y.rank));
}

void ow_write_repeat(ow *w, const ow_row *row) {
    const int64_t *by = xpu_node_ints(w->graph, w->node, XPU_ATTR_REPEATS, &(uint32_t){0});
    const xpu_value_info x = *ow_info_in(w, 0);
    float factors[XPU_MAX_RANK];
    ow_node *node;
    if (!resizes(x.dtype)) {
        repeat_by_expanding(w, by);
        return;
    }
    for (int i = 0; i < x.rank; i++) factors[i] = (float)by[i];
    ow_make(w, &node, ow_out(w, 0), row->name, ow_in(w, 0), "", scales(w, factors, x.rank));
    ow_string(w, node, "mode", "nearest");
    ow_string(w, node, "coordinate_transformation_mode", "asymmetric");
    ow_string(w, node, "nearest_mode", "floor");
}

/* "Up where the axis becomes shorter, else down" has no name; -1: it is not known which. */
static int rounding_of(ow *w, int64_t rounding, xpu_dim in, xpu_dim out, float scale) {
    int64_t before, after;
    if (rounding != XA_ROUND_SIMPLE) return (int)rounding;
    if (scale != 0) return scale < 1 ? XA_ROUND_CEIL : XA_ROUND_FLOOR;
    if (!xpu_dim_is_const(&w->graph->dims, in, &before) || !xpu_dim_is_const(&w->graph->dims, out, &after)) return -1;
    return after < before ? XA_ROUND_CEIL : XA_ROUND_FLOOR;
}

/* Nodes that are resampled alike are one Resize, of axes in ascending order. */
typedef struct {
    int64_t axes[XPU_MAX_RANK];
    xpu_dim sizes[XPU_MAX_RANK];
    float scales[XPU_MAX_RANK], roi[2 * XPU_MAX_RANK];
    int count, by_scale;
} resized;

static const xpu_attr_id common[] = {XPU_ATTR_KIND, XPU_ATTR_COORDINATES, XPU_ATTR_ROUNDING, XPU_ATTR_EXCLUDE_OUTSIDE,
                                     XPU_ATTR_ANTIALIAS};

static int is_alike(const xpu_graph *graph, xpu_node a, xpu_node b) {
    for (size_t i = 0; i < sizeof common / sizeof *common; i++) {
        if (xpu_node_int(graph, a, common[i]) != xpu_node_int(graph, b, common[i])) return 0;
    }
    if (xpu_node_int(graph, a, XPU_ATTR_ROUNDING) == XA_ROUND_SIMPLE) return 0; /* each axis has its own */
    return xpu_node_float(graph, a, XPU_ATTR_ALPHA) == xpu_node_float(graph, b, XPU_ATTR_ALPHA) &&
           xpu_node_float(graph, a, XPU_ATTR_VALUE) == xpu_node_float(graph, b, XPU_ATTR_VALUE) &&
           (xpu_node_float(graph, a, XPU_ATTR_SCALE) == 0) == (xpu_node_float(graph, b, XPU_ATTR_SCALE) == 0) &&
           xpu_node_int(graph, a, XPU_ATTR_AXIS) < xpu_node_int(graph, b, XPU_ATTR_AXIS);
}

/* The resample in front of `node` that goes into the same Resize, or {0}. */
static xpu_node before(const xpu_graph *graph, xpu_node node) {
    const xpu_value x = xpu_node_input(graph, node, 0);
    const xpu_value_info *info = xpu_value_at(graph, x);
    if (info->kind != XPU_VALUE_NODE || info->uses.count != 1 || xpu_value_leaves(graph, x) ||
        !xpu_node_is(graph, info->node, XPU_OP_RESAMPLE) || !is_alike(graph, info->node, node) ||
        xpu_node_at(graph, info->node)->parent.id != xpu_node_at(graph, node)->parent.id)
        return (xpu_node){0};
    return info->node;
}

/* It is written with the one behind it. */
static int goes_on(const xpu_graph *graph, xpu_node node) {
    const xpu_value_info *y = xpu_value_at(graph, xpu_node_output(graph, node, 0));
    if (y->uses.count != 1) return 0;
    const xpu_node next = y->uses.items[0].node;
    return xpu_node_is(graph, next, XPU_OP_RESAMPLE) && before(graph, next).id == node.id;
}

static xpu_node collect(ow *w, resized *r) {
    xpu_node chain[XPU_MAX_RANK], first = w->node;
    int count = 0;
    for (xpu_node at = w->node; at.id && count < XPU_MAX_RANK; at = before(w->graph, at)) chain[count++] = first = at;
    r->count = count;
    for (int i = 0; i < count; i++) {
        const xpu_node at = chain[count - 1 - i];
        r->axes[i] = xpu_node_int(w->graph, at, XPU_ATTR_AXIS);
        r->sizes[i] = xpu_node_attr(w->graph, at, XPU_ATTR_SHAPE)->dims[0];
        r->scales[i] = xpu_node_float(w->graph, at, XPU_ATTR_SCALE);
        r->roi[i] = xpu_node_float(w->graph, at, XPU_ATTR_LOW);
        r->roi[count + i] = xpu_node_float(w->graph, at, XPU_ATTR_HIGH);
        r->by_scale = r->scales[i] != 0;
    }
    return first;
}

/* How sizes are written where scales are not enough: they give another size (ONNX's keep_aspect_ratio_policy), or one
 * in float32 and one less exactly, as 1.4 of 5 does: onnxruntime has 7 elements, onnx's shape inference 6. NULL: they
 * are. */
static const char *policy_of(ow *w, const resized *r, const xpu_value_info *x) {
    double least = INFINITY, most = 0;
    int differs = 0, unclear = 0, exact = 1, even = 1;
    for (int i = 0; i < r->count && r->by_scale; i++) {
        int64_t in, out;
        if (!xpu_dim_is_const(&w->graph->dims, x->dims[r->axes[i]], &in) || in < 1 ||
            !xpu_dim_is_const(&w->graph->dims, r->sizes[i], &out))
            return NULL;
        const float scale = (float)out / (float)in;
        least = fmin(least, (double)scale);
        most = fmax(most, (double)scale);
        exact &= scale == r->scales[i];
        even &= r->scales[i] == r->scales[0];
        differs |= (int64_t)((float)in * r->scales[i]) != out;
        unclear |= (int64_t)((double)in * (double)r->scales[i]) != out;
    }
    if (!differs && !unclear) return NULL;
    if (exact) return "stretch";
    if (even && (double)r->scales[0] == least) return "not_larger";
    if (even && (double)r->scales[0] == most) return "not_smaller";
    return differs ? "stretch" : NULL;
}

/* Operands roi, scales and sizes for all axes: before opset 18 there are no others. */
static void spread(resized *r, const xpu_value_info *x) {
    resized all = {.count = x->rank, .by_scale = r->by_scale};
    for (int i = 0; i < x->rank; i++) {
        all.axes[i] = i;
        all.sizes[i] = x->dims[i];
        all.scales[i] = 1;
        all.roi[x->rank + i] = 1;
    }
    for (int i = 0; i < r->count; i++) {
        all.sizes[r->axes[i]] = r->sizes[i];
        all.scales[r->axes[i]] = r->scales[i];
        all.roi[r->axes[i]] = r->roi[i];
        all.roi[x->rank + r->axes[i]] = r->roi[r->count + i];
    }
    *r = all;
}

/* The rounding of half_pixel that is this one of tf_half_pixel_for_nn, half a step further; 0: none is. */
static int half_pixel_rounding(int rounding) {
    if (rounding == XA_ROUND_FLOOR) return XA_ROUND_PREFER_CEIL;
    return rounding == XA_ROUND_PREFER_FLOOR ? XA_ROUND_CEIL : 0;
}

void ow_write_resample(ow *w, const ow_row *row) {
    resized r;
    if (goes_on(w->graph, w->node)) return;
    const xpu_node first = collect(w, &r);
    const xpu_value x = xpu_node_input(w->graph, first, 0);
    const xpu_value_info from = *xpu_value_at(w->graph, x);
    const int64_t kind = xpu_node_int(w->graph, w->node, XPU_ATTR_KIND);
    const int64_t where = xpu_node_int(w->graph, w->node, XPU_ATTR_COORDINATES);
    const int rounding = rounding_of(w, xpu_node_int(w->graph, w->node, XPU_ATTR_ROUNDING), from.dims[r.axes[0]],
                                     r.sizes[0], r.scales[0]);
    const int crops = where == XA_TF_CROP_AND_RESIZE,
              antialias = xpu_node_int(w->graph, w->node, XPU_ATTR_ANTIALIAS) != 0;
    const int casts = !resizes(from.dtype) && !is_wide(from.dtype), by_axis = ow_has(w, 18);
    if (rounding < 0) {
        ow_refuse(w, XPU_REFUSED_ROUNDED);
        return;
    }
    /* Opsets from 13 on do not name tf_half_pixel_for_nn; onnxruntime reads it all the same. */
    const int renamed = where == XA_TF_HALF_PIXEL_FOR_NN && kind == XA_NEAREST ? half_pixel_rounding(rounding) : 0;
    if (antialias && !ow_requires(w, XPU_SINCE_ANTIALIAS, NULL)) return;
    if (where == XA_HALF_PIXEL_SYMMETRIC && !ow_requires(w, XPU_SINCE_SYMMETRIC, NULL)) return;
    const char *policy = policy_of(w, &r, &from);
    if (policy && strcmp(policy, "stretch") != 0 && !ow_requires(w, XPU_SINCE_POLICY, NULL)) return;
    if (policy) r.by_scale = 0;
    if (!by_axis) spread(&r, &from);
    const char *name = casts ? ow_cast(w, NULL, ow_name(w, x), XPU_F32) : ow_name(w, x);
    const char *roi = "";
    if (crops)
        roi = ow_tensor(w, "roi",
                        &(xpu_tensor){.dtype = XPU_F32, .rank = 1, .dims = {2 * (int64_t)r.count}, .data = r.roi});
    const char *sizes = r.by_scale ? NULL : ow_dims(w, "sizes", r.sizes, r.count);
    ow_node *node;
    const char *y = ow_make(w, &node, casts ? NULL : ow_out(w, 0), row->name, name, roi,
                            r.by_scale ? scales(w, r.scales, r.count) : "");
    if (sizes) ow_input(w, node, sizes);
    if (by_axis) ow_ints(w, node, "axes", r.axes, (size_t)r.count);
    ow_string(w, node, "mode", kinds[kind]);
    ow_string(w, node, "coordinate_transformation_mode", coordinates[renamed ? XA_HALF_PIXEL : where]);
    if (kind == XA_NEAREST) ow_string(w, node, "nearest_mode", roundings[renamed ? renamed : rounding]);
    if (kind == XA_CUBIC) ow_float(w, node, "cubic_coeff_a", xpu_node_float(w->graph, w->node, XPU_ATTR_ALPHA));
    if (xpu_node_int(w->graph, w->node, XPU_ATTR_EXCLUDE_OUTSIDE)) ow_int(w, node, "exclude_outside", 1);
    if (crops) ow_float(w, node, "extrapolation_value", xpu_node_float(w->graph, w->node, XPU_ATTR_VALUE));
    if (policy && by_axis) ow_string(w, node, "keep_aspect_ratio_policy", policy);
    if (antialias) ow_int(w, node, "antialias", 1);
    if (casts) ow_cast(w, ow_out(w, 0), y, from.dtype);
}
