/* Resampling of one axis, and elements repeated a whole number of times: shapes and reference kernels. */
#include "core/ops/resample.h"

#include <math.h>
#include <string.h>

#include "core/ops/infer.h"
#include "core/ops/ref_util.h"

/* ---- repeat ---- */

xpu_status xpu_infer_repeat(xpu_graph *graph, xpu_node node, xpu_diags *diags) {
    xpu_value_info x = *xpu_operand(graph, node, 0);
    uint32_t count;
    const int64_t *repeats = xpu_node_ints(graph, node, XPU_ATTR_REPEATS, &count);
    int fits = (int)count == x.rank;
    for (int i = 0; fits && i < x.rank; i++) fits = repeats[i] >= 1 && repeats[i] < XPU_MAX_WINDOW_VALUE;
    if (!fits) {
        return xpu_infer_error(graph, node, diags, "shape-repeat", "attribute 'repeats' does not fit the operand",
                               "it has a number from 1 on for every dim", "it has %u entries, the operand is %s", count,
                               xpu_operand_text(graph, node, 0));
    }
    for (int i = 0; i < x.rank; i++) x.dims[i] = xpu_dim_mul_const(&graph->dims, x.dims[i], repeats[i]);
    return xpu_set_result(graph, node, 0, x.dtype, x.rank, x.dims, diags);
}

xpu_status xpu_ref_repeat(const xpu_ref_args *args) {
    const xpu_tensor *x = args->inputs[0], *y = args->outputs[0];
    const int64_t *repeats = xpu_node_ints(args->graph, args->node, XPU_ATTR_REPEATS, NULL);
    size_t element = xpu_dtype_bytes(x->dtype);
    int64_t index[XPU_MAX_RANK] = {0}, count = xpu_tensor_count(y);
    char *to = y->data;
    for (int64_t i = 0; i < count; i++, to += element) {
        int64_t from = 0;
        for (int d = 0; d < x->rank; d++) from = from * x->dims[d] + index[d] / repeats[d];
        memcpy(to, (const char *)x->data + (size_t)from * element, element);
        for (int d = x->rank; d-- > 0 && ++index[d] == y->dims[d];) index[d] = 0;
    }
    return XPU_OK;
}

/* ---- resample ---- */

xa_resample xpu_resample_of(const xpu_graph *graph, xpu_node node) {
    return (xa_resample){.kind = (int32_t)xpu_node_int(graph, node, XPU_ATTR_KIND),
                         .coordinates = (int32_t)xpu_node_int(graph, node, XPU_ATTR_COORDINATES),
                         .rounding = (int32_t)xpu_node_int(graph, node, XPU_ATTR_ROUNDING),
                         .exclude_outside = (int32_t)xpu_node_int(graph, node, XPU_ATTR_EXCLUDE_OUTSIDE),
                         .antialias = (int32_t)xpu_node_int(graph, node, XPU_ATTR_ANTIALIAS),
                         .scale = xpu_node_float(graph, node, XPU_ATTR_SCALE),
                         .from = xpu_node_float(graph, node, XPU_ATTR_LOW),
                         .to = xpu_node_float(graph, node, XPU_ATTR_HIGH),
                         .coefficient = xpu_node_float(graph, node, XPU_ATTR_ALPHA)};
}

int32_t xpu_resample_bound(const xpu_graph *graph, xpu_node node) {
    xa_resample r = xpu_resample_of(graph, node);
    if (r.antialias && r.scale == 0) {
        int axis = (int)xpu_node_int(graph, node, XPU_ATTR_AXIS);
        int64_t in = xpu_dim_max(&graph->dims, xpu_operand(graph, node, 0)->dims[axis]);
        int64_t out = xpu_dim_min(&graph->dims, xpu_node_attr(graph, node, XPU_ATTR_SHAPE)->dims[0]);
        r.scale = out > 0 ? (float)out / (float)in : 0.0f;
    }
    int32_t most = xa_resample_most_taps(&r);
    return most < XA_DEVICE_TAPS ? most : 0;
}

static int is_one_of(const xpu_graph *graph, xpu_node node, xpu_attr_id id, int64_t count) {
    int64_t value = xpu_node_int(graph, node, id);
    return value >= 0 && value < count;
}

xpu_status xpu_infer_resample(xpu_graph *graph, xpu_node node, xpu_diags *diags) {
    xpu_value_info x = *xpu_operand(graph, node, 0);
    int axis;
    xpu_status status = xpu_normalise_axis(graph, node, x.rank, &axis, diags);
    if (status != XPU_OK) return status;
    const xpu_attr *shape = xpu_node_attr(graph, node, XPU_ATTR_SHAPE);
    float scale = xpu_node_float(graph, node, XPU_ATTR_SCALE);
    int fits = shape && shape->count == 1 && is_one_of(graph, node, XPU_ATTR_KIND, XA_RESAMPLE_KINDS) &&
               is_one_of(graph, node, XPU_ATTR_COORDINATES, XA_COORDINATES) &&
               is_one_of(graph, node, XPU_ATTR_ROUNDING, XA_NEAREST_ROUNDINGS) &&
               is_one_of(graph, node, XPU_ATTR_EXCLUDE_OUTSIDE, 2) && is_one_of(graph, node, XPU_ATTR_ANTIALIAS, 2) &&
               isfinite(scale) && scale >= 0;
    if (!fits || xpu_dim_max(&graph->dims, x.dims[axis]) < 1) {
        return xpu_infer_error(graph, node, diags, "shape-resample", "the attributes do not fit the operand",
                               "check sizes and scales: an axis of at least one element, a scale above 0",
                               "axis %d of %s, scale %g", axis, xpu_operand_text(graph, node, 0), (double)scale);
    }
    if (xpu_node_int(graph, node, XPU_ATTR_KIND) != XA_NEAREST)
        status = xpu_check_types(graph, node, 0, XPU_TYPE_SET(XPU_F32), diags);
    if (status != XPU_OK) return status;
    x.dims[axis] = shape->dims[0];
    return xpu_set_result(graph, node, 0, x.dtype, x.rank, x.dims, diags);
}

/* [outer][in][inner] of elements of any type, or float32, to [outer][out][inner]. */
typedef struct {
    xa_resample r;
    size_t outer, inner, element;
    float outside;
} job;

static void take_nearest(const job *j, const char *x, char *y) {
    size_t row = j->inner * j->element;
    for (size_t o = 0; o < j->outer; o++, x += (size_t)j->r.in * row) {
        for (int32_t i = 0; i < j->r.out; i++, y += row) {
            int32_t at = xa_resample_nearest(&j->r, i);
            if (at >= 0) {
                memcpy(y, x + (size_t)at * row, row);
                continue;
            }
            for (size_t k = 0; k < j->inner; k++) ((float *)(void *)y)[k] = j->outside;
        }
    }
}

/* fma over the taps, the first one a product. `weights`: room for those of an element. */
static void add_taps(const job *j, const float *x, float *y, float *weights) {
    for (int32_t i = 0; i < j->r.out; i++) {
        xa_taps taps = xa_resample_taps(&j->r, i, weights);
        for (size_t o = 0; o < j->outer; o++) {
            float *to = y + (o * (size_t)j->r.out + (size_t)i) * j->inner;
            const float *from = x + o * (size_t)j->r.in * j->inner;
            for (size_t k = 0; k < j->inner && !taps.count; k++) to[k] = j->outside;
            for (int32_t t = 0; t < taps.count; t++) {
                const float *row = from + (size_t)xa_resample_inside(&j->r, taps.first + t) * j->inner;
                for (size_t k = 0; k < j->inner; k++)
                    to[k] = t ? xa_fma(weights[t], row[k], to[k]) : xa_mul(weights[t], row[k]);
            }
        }
    }
}

xpu_status xpu_ref_resample(const xpu_ref_args *args) {
    const xpu_tensor *x = args->inputs[0], *y = args->outputs[0];
    int axis = xpu_ref_int(args, XPU_ATTR_AXIS);
    job j = {.r = xpu_resample_of(args->graph, args->node),
             .outer = (size_t)xpu_product(x->dims, 0, axis),
             .inner = (size_t)xpu_product(x->dims, axis + 1, x->rank),
             .element = xpu_dtype_bytes(x->dtype),
             .outside = xpu_ref_float(args, XPU_ATTR_VALUE)};
    if (xpu_tensor_count(y) == 0) return XPU_OK;
    if (x->dims[axis] < 1 || x->dims[axis] >= XPU_MAX_WINDOW_VALUE || y->dims[axis] >= XPU_MAX_WINDOW_VALUE)
        return xpu_ref_refuse(args, "the axis is empty or too long under this shape");
    j.r.in = (int32_t)x->dims[axis];
    j.r.out = (int32_t)y->dims[axis];
    if (j.r.scale == 0) j.r.scale = xa_resample_scale(j.r.in, j.r.out);
    if (j.r.coordinates == XA_TF_CROP_AND_RESIZE && x->dtype != XPU_F32)
        return xpu_ref_refuse(args, "a value for elements outside is float32");
    if (j.r.kind == XA_NEAREST) {
        take_nearest(&j, x->data, y->data);
        return XPU_OK;
    }
    int32_t most = xa_resample_most_taps(&j.r);
    if (most == XA_MOST_TAPS) return xpu_ref_refuse(args, "an element is a sum over too many others under this shape");
    add_taps(&j, x->data, y->data, XPU_NEW_ARRAY(args->scratch, float, most));
    return XPU_OK;
}
