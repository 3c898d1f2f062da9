/* What PaddlePaddle has no operator for along any axis: elements in other places are a gather, sums of them a product.
 */
#include <string.h>

#include "convert/paddle_writer.h"
#include "core/ops/infer.h"
#include "core/ops/resample.h"

static const char *pick(pw *w, const char *result, const char *x, const pw_type *gives, int axis,
                        const int32_t *places) {
    int64_t count = 0;
    xpu_dim_is_const(&w->graph->dims, gives->dims[axis], &count);
    const char *list = pw_parameter(
        w, "places", &(xpu_tensor){.dtype = XPU_I32, .rank = 1, .dims = {count}, .data = (void *)(uintptr_t)places});
    pw_op *op = pw_add(w, "gather");
    if (!result) result = pw_new(w, "picked", gives);
    pw_in(w, op, "X", x);
    pw_in(w, op, "Index", list);
    pw_out(w, op, "Out", result);
    pw_int(w, op, "axis", axis);
    return result;
}

/* ---- pads ---- */

/* Where element `at` of an axis of n elements comes from, 0 its first one. */
static int64_t source(const char *mode, int64_t at, int64_t n) {
    if (strcmp(mode, "edge") == 0) return at < 0 ? 0 : at < n ? at : n - 1;
    const int64_t period = n > 1 ? 2 * (n - 1) : 1, in = (at % period + period) % period;
    return in < n ? in : period - in;
}

void pw_pad_places(pw *w, const char *x, const pw_type *from, const int64_t *begin, const int64_t *end,
                   const char *mode) {
    pw_type now = *from;
    int left = 0, done = 0;
    for (int i = 0; i < from->rank; i++) left += begin[i] > 0 || end[i] > 0;
    for (int i = 0; i < from->rank; i++) {
        int64_t n;
        if (begin[i] <= 0 && end[i] <= 0) continue;
        if (!xpu_dim_is_const(&w->graph->dims, from->dims[i], &n) || n < 1) {
            pw_refuse(w, XPU_REFUSED_PAD_PLACES);
            return;
        }
        const int64_t before = begin[i] > 0 ? begin[i] : 0, count = before + n + (end[i] > 0 ? end[i] : 0);
        int32_t *places = XPU_NEW_ARRAY(w->arena, int32_t, (size_t)count);
        for (int64_t k = 0; k < count; k++) places[k] = (int32_t)source(mode, k - before, n);
        now.dims[i] = xpu_dim_const(&w->graph->dims, count);
        x = pick(w, ++done == left ? pw_result(w, 0) : NULL, x, &now, i, places);
    }
    if (!left) pw_make(w, NULL, pw_result(w, 0), "assign", from, x, NULL);
}

/* ---- resampled axes ---- */

/* A list along `axis` that broadcasts to `type`. */
static pw_type along(pw *w, const pw_type *type, int axis, xpu_dtype dtype) {
    pw_type list = {.dtype = dtype, .rank = type->rank - axis};
    for (int i = 0; i < list.rank; i++) list.dims[i] = i ? xpu_dim_const(&w->graph->dims, 1) : type->dims[axis];
    return list;
}

static const char *list_along(pw *w, const pw_type *type, int axis, xpu_dtype dtype, const void *items, pw_type *list) {
    *list = along(w, type, axis, dtype);
    xpu_tensor tensor = {.dtype = dtype, .rank = list->rank, .data = (void *)(uintptr_t)items};
    for (int i = 0; i < list->rank; i++) tensor.dims[i] = 1;
    xpu_dim_is_const(&w->graph->dims, type->dims[axis], &tensor.dims[0]);
    return pw_parameter(w, "along", &tensor);
}

/* The operator's result: what was picked; the value where a place is outside, if any is. */
static void fill_outside(pw *w, const char *picked, int axis, const unsigned char *is_outside, const pw_type *y) {
    pw_type list;
    const char *flags = list_along(w, y, axis, XPU_BOOL, is_outside, &list);
    const pw_type flag = pw_as(*y, XPU_BOOL), one = {.dtype = y->dtype};
    flags = pw_expand(w, NULL, flags, &list, &flag);
    const char *value = pw_scalar(w, y->dtype, (double)xpu_node_float(w->graph, w->node, XPU_ATTR_VALUE));
    pw_where(w, pw_result(w, 0), flags, pw_expand(w, NULL, value, &one, y), picked);
}

static void nearest(pw *w, const xa_resample *r, int axis, const pw_type *y) {
    int32_t *places = XPU_NEW_ARRAY(w->arena, int32_t, r->out);
    unsigned char *is_outside = XPU_NEW_ARRAY(w->arena, unsigned char, r->out);
    int outside = 0;
    for (int32_t i = 0; i < r->out; i++) {
        const int32_t at = xa_resample_nearest(r, i);
        places[i] = at < 0 ? 0 : at;
        outside |= is_outside[i] = at < 0;
    }
    const char *picked = pick(w, outside ? NULL : pw_result(w, 0), pw_operand(w, 0), y, axis, places);
    if (outside) fill_outside(w, picked, axis, is_outside, y);
}

/* A sum of two or four elements: a gather for each, times its weights. */
static void blended(pw *w, const xa_resample *r, int axis, const pw_type *y) {
    const size_t out = (size_t)r->out;
    const int count = xa_resample_most_taps(r);
    int32_t *places = XPU_NEW_ARRAY(w->arena, int32_t, XA_CUBIC_TAPS *out);
    float *factors = XPU_NEW_ARRAY(w->arena, float, XA_CUBIC_TAPS *out), weights[XA_CUBIC_TAPS];
    unsigned char *is_outside = XPU_NEW_ARRAY(w->arena, unsigned char, out);
    int outside = 0;
    for (size_t i = 0; i < out; i++) {
        const xa_taps taps = xa_resample_taps(r, (int32_t)i, weights);
        outside |= is_outside[i] = !taps.count;
        for (int t = 0; t < count; t++) {
            places[(size_t)t * out + i] = taps.count ? xa_resample_inside(r, taps.first + t) : 0;
            factors[(size_t)t * out + i] = taps.count ? weights[t] : 0;
        }
    }
    const char *sum = NULL;
    for (int t = 0; t < count; t++) {
        pw_type list;
        const char *part = pick(w, NULL, pw_operand(w, 0), y, axis, places + (size_t)t * out);
        const char *factor = list_along(w, y, axis, XPU_F32, factors + (size_t)t * out, &list);
        part = pw_binary(w, NULL, "elementwise_mul", y, part, factor);
        const char *result = t + 1 == count && !outside ? pw_result(w, 0) : NULL;
        sum = sum ? pw_binary(w, result, "elementwise_add", y, sum, part) : part;
    }
    if (outside) fill_outside(w, sum, axis, is_outside, y);
}

/* Sums of many elements: x by a matrix of weights, the axis last or the one before it. */
static void weighted(pw *w, const xa_resample *r, int axis, const pw_type *x, const pw_type *y) {
    const size_t in = (size_t)r->in, out = (size_t)r->out;
    const int rows = axis == y->rank - 2; /* [out, in] times x */
    float *matrix = XPU_NEW_ARRAY(w->arena, float, in *out),
          *weights = XPU_NEW_ARRAY(w->arena, float, (size_t)xa_resample_most_taps(r) + 1);
    unsigned char *is_outside = XPU_NEW_ARRAY(w->arena, unsigned char, out);
    int outside = 0;
    for (int32_t i = 0; i < r->out; i++) {
        const xa_taps taps = xa_resample_taps(r, i, weights);
        outside |= is_outside[i] = !taps.count;
        for (int32_t t = 0; t < taps.count; t++) {
            const size_t at = (size_t)xa_resample_inside(r, taps.first + t), k = (size_t)i;
            matrix[rows ? k * in + at : at * out + k] += weights[t];
        }
    }
    const xpu_tensor tensor = {
        .dtype = XPU_F32, .rank = 2, .dims = {rows ? r->out : r->in, rows ? r->in : r->out}, .data = matrix};
    const char *factor = pw_parameter(w, "weights", &tensor), *name = pw_operand(w, 0);
    const int last = y->rank - 1, turns = !rows && axis != last;
    int64_t swap[XPU_MAX_RANK];
    pw_type turned = *x, product = *y;
    for (int i = 0; i < y->rank; i++) swap[i] = turns && i == axis ? last : turns && i == last ? axis : i;
    for (int i = 0; i < y->rank; i++) {
        turned.dims[i] = x->dims[swap[i]];
        product.dims[i] = y->dims[swap[i]];
    }
    if (turns) name = pw_transpose(w, NULL, name, &turned, swap);
    pw_op *op;
    name = pw_make(w, &op, turns || outside ? NULL : pw_result(w, 0), "matmul_v2", &product, rows ? factor : name,
                   rows ? name : factor);
    pw_bool(w, op, "trans_x", 0);
    pw_bool(w, op, "trans_y", 0);
    if (turns) name = pw_transpose(w, outside ? NULL : pw_result(w, 0), name, y, swap);
    if (outside) fill_outside(w, name, axis, is_outside, y);
}

int pw_resample_axis(pw *w, int axis) {
    enum { MOST = 1 << 24 };
    const pw_type x = pw_operand_type(w, 0), y = pw_result_type(w, 0);
    xa_resample r = xpu_resample_of(w->graph, w->node);
    int64_t in, out;
    if (!xpu_dim_is_const(&w->graph->dims, x.dims[axis], &in) ||
        !xpu_dim_is_const(&w->graph->dims, y.dims[axis], &out) || in < 1 || out < 1 || in >= XPU_MAX_WINDOW_VALUE ||
        out >= XPU_MAX_WINDOW_VALUE)
        return 0;
    r.in = (int32_t)in;
    r.out = (int32_t)out;
    if (r.scale == 0) r.scale = xa_resample_scale(r.in, r.out);
    if (r.kind == XA_NEAREST) {
        nearest(w, &r, axis, &y);
        return 1;
    }
    if (!r.antialias) {
        blended(w, &r, axis, &y);
        return 1;
    }
    if (xa_resample_most_taps(&r) == XA_MOST_TAPS || in * out > MOST) return 0;
    weighted(w, &r, axis, &x, &y);
    return 1;
}
