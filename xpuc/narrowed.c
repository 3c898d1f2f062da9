/*
 * How far a layer that a target brought to int16 may be from the same layer in float32, from the magnitudes of its
 * operands: every product of x and w is off by at most |w| dx + |x| dw + dx dw, where dx and dw are half a step.
 */
#include <math.h>

#include "core/arith.h"
#include "core/passes/rewrite.h"
#include "xpuc/pipeline.h"

/* What makes the results of several products together, of which `node` may be a part; else the node. */
static xpu_node whole_of(const xpu_graph *graph, xpu_node node) {
    if (!xpu_node_is(graph, node, XPU_OP_SLICE)) return node;
    xpu_node whole = xpu_maker(graph, node, 0);
    return whole.id && xpu_is_columns_of(graph, node, whole) ? whole : node;
}

/* The product: it is in front of the node that restores its rows. */
static xpu_node product_of(const xpu_graph *graph, xpu_node node) {
    node = whole_of(graph, node);
    if (!xpu_node_is(graph, node, XPU_OP_ROW_RESTORE)) return node;
    const xpu_value_info *x = xpu_value_at(graph, xpu_node_input(graph, node, XPU_IN_X));
    return x->kind == XPU_VALUE_NODE ? x->node : node;
}

/* What a step of this size adds; where it is so small that it is rounded itself, an upper bound. */
static double half_step(float step) {
    return step < 0x1p-100f ? 0x1p-90 : (double)step / 2;
}

static double largest_of(const float *data, int64_t count) {
    double most = 0;
    for (int64_t i = 0; i < count; i++) {
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

/* What the bound needs to know of the weights and of what follows. */
typedef struct {
    int64_t channels;
    double terms, slope; /* products of a sum; the largest factor of the activation */
    const float *scale;  /* of each channel */
    const double *sums;  /* of the magnitudes of its integers */
} weights;

double xpu_narrowed_slope(const xpu_graph *graph, xpu_node node) {
    node = whole_of(graph, node);
    if (xpu_node_int(graph, node, XPU_ATTR_ACTIVATION) != XPU_ACTIVATION_LEAKY) return 1;
    double slope = fabs((double)xpu_node_float(graph, node, XPU_ATTR_ALPHA));
    return slope > 1 ? slope : 1;
}

int xpu_is_narrowed(const xpu_graph *graph, xpu_node node) {
    node = product_of(graph, node);
    return xpu_op_attr(xpu_node_at(graph, node)->op, XPU_ATTR_PRECISION) &&
           xpu_node_int(graph, node, XPU_ATTR_PRECISION) != XPU_PRECISION_FP32;
}

xpu_value xpu_narrowed_operand(const xpu_graph *graph, xpu_node node) {
    xpu_value x = xpu_node_input(graph, product_of(graph, node), XPU_IN_X);
    const xpu_value_info *info = xpu_value_at(graph, x);
    int scaled = info->kind == XPU_VALUE_NODE && xpu_node_is(graph, info->node, XPU_OP_ROW_SCALE);
    return scaled ? xpu_node_input(graph, info->node, XPU_IN_X) : x;
}

xpu_value xpu_narrowed_scales(const xpu_graph *graph, xpu_node node) {
    return xpu_node_input(graph, product_of(graph, node), XPU_IN_WSCALE);
}

/* What the results of `count` elements of x, which have one scale, may be off by. */
static void find_extra(const float *x, int64_t count, int has_power, const weights *w, double *extra) {
    double most = largest_of(x, count);
    float absmax = (float)most, step = xa_absmax_scale(has_power ? XA_ROW_ABSMAX : absmax, XA_I16_MAX);
    double dx = half_step(has_power ? step * xa_row_power(absmax) : step);
    for (int64_t c = 0; c < w->channels; c++) {
        double dw = half_step(w->scale[c]);
        extra[c] = w->slope * (1 + 1e-3) * (w->sums[c] * (double)w->scale[c] * dx + w->terms * dw * (most + dx));
    }
}

/* Of all columns those that are the node's. */
static void take_columns(const xpu_graph *graph, xpu_node slice, xpu_margin *margin, xpu_arena *arena) {
    const xpu_attr *starts = xpu_node_attr(graph, slice, XPU_ATTR_STARTS),
                   *shape = xpu_node_attr(graph, slice, XPU_ATTR_SHAPE);
    const uint32_t last = starts->count - 1;
    int64_t first = 0, columns = 0;
    if (!xpu_dim_is_const(&graph->dims, starts->dims[last], &first) ||
        !xpu_dim_is_const(&graph->dims, shape->dims[last], &columns))
        return;
    double *extra = XPU_NEW_ARRAY(arena, double, margin->rows *columns);
    for (int64_t i = 0; i < margin->rows * columns; i++)
        extra[i] = margin->extra[i / columns * margin->channels + first + i % columns];
    margin->extra = extra;
    margin->channels = columns;
}

xpu_status xpu_narrowed_margin(const xpu_graph *graph, xpu_node node, const xpu_tensor *x, const xpu_tensor *scales,
                               xpu_margin *margin, xpu_arena *arena, xpu_diags *diags) {
    xpu_node product = product_of(graph, node);
    xpu_tensor w, scale;
    if (!xpu_node_input(graph, product, XPU_IN_W).id) { /* an average or a maximum: no more than an element of x */
        double *extra = XPU_NEW_ARRAY(arena, double, 1);
        const float absmax = (float)largest_of(x->data, xpu_tensor_count(x));
        *extra = (1 + 1e-3) * half_step(xa_absmax_scale(absmax, XA_I16_MAX));
        *margin = (xpu_margin){extra, 1, 1, 0};
        return XPU_OK;
    }
    xpu_status status = xpu_const_tensor(graph, xpu_node_input(graph, product, XPU_IN_W), arena, &w, diags);
    if (status != XPU_OK) return status;
    if (scales)
        scale = *scales;
    else
        status = xpu_const_tensor(graph, xpu_narrowed_scales(graph, node), arena, &scale, diags);
    if (status != XPU_OK) return status;
    int is_conv = xpu_node_is(graph, product, XPU_OP_CONV), axis = is_conv ? 0 : w.rank - 1;
    const xpu_node whole = whole_of(graph, node);
    int by_rows = product.id != whole.id;
    weights of = {.channels = w.dims[axis], .slope = xpu_narrowed_slope(graph, node), .scale = scale.data};
    of.sums = sum_weights(&w, axis, arena);
    of.terms = of.channels ? (double)xpu_tensor_count(&w) / (double)of.channels : 0;
    int64_t count = xpu_tensor_count(x), width = by_rows ? x->dims[x->rank - 1] : count;
    int64_t rows = by_rows && width ? count / width : 1;
    double *extra = XPU_NEW_ARRAY(arena, double, rows *of.channels);
    for (int64_t i = 0; i < rows; i++) {
        find_extra((const float *)x->data + i * width, width, by_rows, &of, extra + i * of.channels);
    }
    *margin = (xpu_margin){extra, of.channels, rows, is_conv};
    if (whole.id != node.id) take_columns(graph, node, margin, arena);
    return XPU_OK;
}

/* ---- computed matrices ---- */

xpu_node xpu_packed_product(const xpu_graph *graph, xpu_node node) {
    xpu_node product = product_of(graph, node), none = {0};
    return xpu_node_is(graph, product, XPU_OP_PACKED_MATMUL) ? product : none;
}

/* The sum of the magnitudes of the integers of a column. */
static double sum_column(const xpu_tensor *w, int64_t matrix, int64_t column) {
    const int64_t blocks = w->dims[1], k = w->dims[2], width = w->dims[3];
    const int64_t first = (matrix * blocks + column / width) * k * width + column % width;
    double sum = 0;
    for (int64_t i = 0; i < k; i++) sum += fabs(integer_at(w, first + i * width));
    return sum;
}

void xpu_packed_margin(const xpu_tensor *rows, const xpu_tensor *powers, const xpu_tensor *w, const xpu_tensor *scales,
                       float absmax, double slope, xpu_margin *margin, xpu_arena *arena) {
    const int64_t k = w->dims[2], n = scales->dims[1], count = xpu_tensor_count(powers), matrices = w->dims[0];
    const double step = half_step(xa_absmax_scale(absmax, XA_I16_MAX));
    double *extra = XPU_NEW_ARRAY(arena, double, count *n), *sums = XPU_NEW_ARRAY(arena, double, matrices *n);
    for (int64_t i = 0; i < matrices * n; i++) sums[i] = sum_column(w, i / n, i % n);
    for (int64_t row = 0; row < count; row++) {
        const double power = fabs((double)((const float *)powers->data)[row]);
        const double most = largest_of((const float *)rows->data + row * k, k);
        for (int64_t c = 0; c < n; c++) {
            const int64_t at = (matrices == 1 ? 0 : row / (count / matrices)) * n + c;
            const double scale = (double)((const float *)scales->data)[at], dw = half_step((float)scale);
            const double product = sums[at] * scale * step + (double)k * dw * (most + step);
            extra[row * n + c] = slope * power * (1 + 1e-3) * product;
        }
    }
    *margin = (xpu_margin){extra, n, count, 0};
}
