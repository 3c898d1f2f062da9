/*
 * How far a layer that a target brought to int16 may be from the same layer in float32, from the magnitudes of its
 * operands: every product of x and w is off by at most |w| dx + |x| dw + dx dw, where dx and dw are half a step.
 */
#include <math.h>

#include "core/arith.h"
#include "xpuc/pipeline.h"

/* What a step of this size adds; where it is so small that it is rounded itself, an upper bound. */
static double half_step(float step) {
    return step < 0x1p-100f ? 0x1p-90 : (double)step / 2;
}

static double largest_of(const xpu_tensor *x) {
    const float *data = x->data;
    double most = 0;
    for (int64_t i = 0, count = xpu_tensor_count(x); i < count; i++) {
        double magnitude = fabs((double)data[i]);
        if (isnan(magnitude)) return (double)INFINITY;
        if (magnitude > most) most = magnitude;
    }
    return most;
}

static double integer_at(const xpu_tensor *w, int64_t i) {
    return w->dtype == XPU_I8 ? ((const int8_t *)w->data)[i] : ((const int16_t *)w->data)[i];
}

/* Sums of the magnitudes of the integer weights of each channel, which are `axis` of w. */
static double *sum_weights(const xpu_tensor *w, int axis, xpu_arena *arena) {
    double *sums = XPU_NEW_ARRAY(arena, double, w->dims[axis]);
    int64_t inner = 1;
    for (int i = axis + 1; i < w->rank; i++) inner *= w->dims[i];
    for (int64_t i = 0, count = xpu_tensor_count(w); i < count; i++) {
        sums[i / inner % w->dims[axis]] += fabs(integer_at(w, i));
    }
    return sums;
}

static double slope_of(const xpu_graph *graph, xpu_node node) {
    if (xpu_node_int(graph, node, XPU_ATTR_ACTIVATION) != XPU_ACTIVATION_LEAKY) return 1;
    double slope = fabs((double)xpu_node_float(graph, node, XPU_ATTR_ALPHA));
    return slope > 1 ? slope : 1;
}

int xpu_is_narrowed(const xpu_graph *graph, xpu_node node) {
    return xpu_op_attr(xpu_node_at(graph, node)->op, XPU_ATTR_PRECISION) &&
           xpu_node_int(graph, node, XPU_ATTR_PRECISION) != XPU_PRECISION_FP32;
}

xpu_status xpu_narrowed_margin(const xpu_graph *graph, xpu_node node, const xpu_tensor *x, xpu_margin *margin,
                               xpu_arena *arena, xpu_diags *diags) {
    xpu_tensor w, scale;
    xpu_status status = xpu_const_tensor(graph, xpu_node_input(graph, node, XPU_IN_W), arena, &w, diags);
    if (status != XPU_OK) return status;
    status = xpu_const_tensor(graph, xpu_node_input(graph, node, XPU_IN_WSCALE), arena, &scale, diags);
    if (status != XPU_OK) return status;
    int is_conv = xpu_node_is(graph, node, XPU_OP_CONV), axis = is_conv ? 0 : w.rank - 1;
    int64_t channels = w.dims[axis];
    double terms = channels ? (double)xpu_tensor_count(&w) / (double)channels : 0;
    double *sums = sum_weights(&w, axis, arena), most = largest_of(x), slope = slope_of(graph, node);
    double dx = half_step(xa_absmax_scale((float)most, XA_I16_MAX));
    double *extra = XPU_NEW_ARRAY(arena, double, channels);
    for (int64_t c = 0; c < channels; c++) {
        double step = ((const float *)scale.data)[c], dw = half_step(((const float *)scale.data)[c]);
        extra[c] = slope * (1 + 1e-3) * (sums[c] * step * dx + terms * dw * (most + dx));
    }
    *margin = (xpu_margin){extra, channels, is_conv};
    return XPU_OK;
}
