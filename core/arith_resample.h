/*
 * Which elements of an axis make an element of the resampled axis, and with what weights: the same bits on host and
 * device. Coordinates are computed in float32, in the order of ONNX's formulas, as onnxruntime does: which element is
 * the nearest one is a matter of a rounding.
 */
#ifndef XPU_CORE_ARITH_RESAMPLE_H
#define XPU_CORE_ARITH_RESAMPLE_H

#include "core/arith.h"

typedef enum { XA_NEAREST, XA_LINEAR, XA_CUBIC, XA_RESAMPLE_KINDS } xa_resample_kind;
typedef enum {
    XA_HALF_PIXEL,
    XA_PYTORCH_HALF_PIXEL,
    XA_HALF_PIXEL_SYMMETRIC,
    XA_ASYMMETRIC,
    XA_ALIGN_CORNERS,
    XA_TF_HALF_PIXEL_FOR_NN,
    XA_TF_CROP_AND_RESIZE,
    XA_COORDINATES
} xa_coordinates;
typedef enum { /* of the nearest element; SIMPLE: up where the axis becomes shorter, else down */
               XA_ROUND_PREFER_FLOOR,
               XA_ROUND_PREFER_CEIL,
               XA_ROUND_FLOOR,
               XA_ROUND_CEIL,
               XA_ROUND_SIMPLE,
               XA_NEAREST_ROUNDINGS
} xa_nearest_rounding;

enum { XA_DEVICE_TAPS = 512, XA_MOST_TAPS = 1 << 24, XA_CUBIC_TAPS = 4 }; /* of an element: on the device, at all */

typedef struct {
    int32_t kind, coordinates, rounding, exclude_outside, antialias;
    int32_t in, out;   /* sizes, at least 1 */
    float scale;       /* > 0 */
    float from, to;    /* of the axis: XA_TF_CROP_AND_RESIZE */
    float coefficient; /* a: XA_CUBIC */
} xa_resample;

/* Taps first .. first + count - 1 of the operand, those outside being the ones at its ends; count 0: the element lies
 * outside. */
typedef struct {
    int32_t first, count;
} xa_taps;

/* Scale of an axis where none is given. */
XA_INLINE float xa_resample_scale(int32_t in, int32_t out) {
    return xa_div((float)out, (float)in);
}

XA_INLINE int32_t xa_floor_i32(float x) {
    const float most = 0x1p30f;
    float inside = xa_fmax(xa_fmin(x, most), -most);
    int32_t whole = xa_rtz_i32(inside);
    return whole - ((float)whole > inside);
}

/* Where element `index` of the result lies in the operand. */
XA_INLINE float xa_resample_at(const xa_resample *r, int32_t index) {
    float x = (float)index, last = (float)(r->in - 1);
    switch (r->coordinates) {
    case XA_ASYMMETRIC: return xa_div(x, r->scale);
    case XA_TF_HALF_PIXEL_FOR_NN: return xa_div(xa_add(x, 0.5f), r->scale);
    case XA_ALIGN_CORNERS: return r->out == 1 ? 0.0f : xa_div(xa_mul(x, last), (float)(r->out - 1));
    case XA_TF_CROP_AND_RESIZE:
        if (r->out == 1) return xa_mul(xa_mul(0.5f, xa_add(r->from, r->to)), last);
        return xa_add(xa_mul(r->from, last),
                      xa_div(xa_mul(xa_mul(x, xa_sub(r->to, r->from)), last), (float)(r->out - 1)));
    case XA_PYTORCH_HALF_PIXEL:
        if (r->out == 1) return 0.0f;
        break;
    case XA_HALF_PIXEL_SYMMETRIC: {
        float adjustment = xa_div((float)r->out, xa_mul(r->scale, (float)r->in));
        float offset = xa_mul(xa_div((float)r->in, 2.0f), xa_sub(1.0f, adjustment));
        return xa_sub(xa_add(offset, xa_div(xa_add(x, 0.5f), r->scale)), 0.5f);
    }
    default: break;
    }
    return xa_sub(xa_div(xa_add(x, 0.5f), r->scale), 0.5f);
}

XA_INLINE int32_t xa_resample_inside(const xa_resample *r, int32_t index) {
    return xa_clamp_i32(index, 0, r->in - 1);
}

XA_INLINE int xa_resample_is_outside(const xa_resample *r, float at) {
    return r->coordinates == XA_TF_CROP_AND_RESIZE && !(at >= 0.0f && at <= (float)(r->in - 1));
}

/* The nearest element; -1: it lies outside. */
XA_INLINE int32_t xa_resample_nearest(const xa_resample *r, int32_t index) {
    float at = xa_resample_at(r, index);
    if (xa_resample_is_outside(r, at)) return -1;
    int32_t whole = xa_floor_i32(at);
    float rest = xa_sub(at, (float)whole);
    int tie = xa_abs(xa_sub(rest, 0.5f)) <= 1e-6f, up = !tie && rest > 0.5f; /* onnxruntime's ties are that wide */
    switch (r->rounding) {
    case XA_ROUND_PREFER_CEIL: up |= tie; break;
    case XA_ROUND_FLOOR: up = 0; break;
    case XA_ROUND_CEIL: up = rest > 0.0f; break;
    case XA_ROUND_SIMPLE: up = r->scale < 1.0f && rest > 0.0f; break;
    default: break;
    }
    return xa_resample_inside(r, whole + up);
}

/* The weight of an element at distance x. */
XA_INLINE float xa_linear_weight(float x) {
    float distance = xa_abs(x);
    return distance < 1.0f ? xa_sub(1.0f, distance) : 0.0f;
}

XA_INLINE float xa_cubic_weight(float x, float a) {
    float d = xa_abs(x);
    if (d <= 1.0f) {
        float inner = xa_sub(xa_mul(xa_add(a, 2.0f), d), xa_add(a, 3.0f));
        return xa_add(xa_mul(xa_mul(inner, d), d), 1.0f);
    }
    if (!(d < 2.0f)) return 0.0f;
    float outer = xa_mul(xa_sub(xa_mul(a, d), xa_mul(5.0f, a)), d);
    return xa_sub(xa_mul(xa_add(outer, xa_mul(8.0f, a)), d), xa_mul(4.0f, a));
}

XA_INLINE xa_taps xa_linear_taps(const xa_resample *r, float at, float *weights) {
    float inside = xa_fmax(xa_fmin(at, (float)(r->in - 1)), 0.0f);
    int32_t first = xa_resample_inside(r, xa_floor_i32(inside));
    int last = first == r->in - 1;
    float rest = xa_sub(inside, (float)first);
    weights[0] = last ? 0.5f : xa_abs(xa_sub(rest, 1.0f));
    weights[1] = last ? 0.5f : rest;
    return (xa_taps){first, 2};
}

XA_INLINE void xa_normalise_weights(float *weights, int32_t count) {
    float sum = 0.0f;
    for (int32_t i = 0; i < count; i++) sum = xa_add(sum, weights[i]);
    for (int32_t i = 0; i < count; i++) weights[i] = xa_div(weights[i], sum);
}

/* Weights of taps outside become 0. */
XA_INLINE void xa_exclude_outside(const xa_resample *r, xa_taps taps, float *weights) {
    for (int32_t i = 0; i < taps.count; i++) {
        if (taps.first + i < 0 || taps.first + i >= r->in) weights[i] = 0.0f;
    }
}

XA_INLINE xa_taps xa_cubic_taps(const xa_resample *r, float at, float *weights) {
    int32_t whole = xa_floor_i32(at);
    float rest = xa_sub(at, (float)whole);
    xa_taps taps = {whole - 1, XA_CUBIC_TAPS};
    for (int32_t i = 0; i < XA_CUBIC_TAPS; i++) {
        weights[i] = xa_cubic_weight(xa_sub((float)(i - 1), rest), r->coefficient);
    }
    if (r->exclude_outside) {
        xa_exclude_outside(r, taps, weights);
        xa_normalise_weights(weights, taps.count);
    }
    return taps;
}

/* Half the width of the filter; one that makes an axis shorter is as much wider. */
XA_INLINE float xa_resample_reach(const xa_resample *r) {
    float reach = r->kind == XA_CUBIC ? 2.0f : 1.0f;
    return r->antialias && r->scale < 1.0f ? xa_fmin(xa_div(reach, r->scale), 0x1p20f) : reach;
}

XA_INLINE xa_taps xa_antialias_taps(const xa_resample *r, float at, float *weights) {
    float center = xa_add(at, 0.5f), reach = xa_resample_reach(r), narrow = xa_fmin(r->scale, 1.0f);
    int32_t first = xa_floor_i32(xa_add(xa_sub(center, reach), 0.5f));
    int32_t end = xa_floor_i32(xa_add(xa_add(center, reach), 0.5f));
    xa_taps taps = {first, xa_clamp_i32(end - first, 1, XA_MOST_TAPS)};
    for (int32_t i = 0; i < taps.count; i++) {
        float x = xa_mul(xa_add(xa_sub((float)(first + i), center), 0.5f), narrow);
        weights[i] = r->kind == XA_CUBIC ? xa_cubic_weight(x, r->coefficient) : xa_linear_weight(x);
    }
    if (r->exclude_outside) xa_exclude_outside(r, taps, weights);
    xa_normalise_weights(weights, taps.count);
    return taps;
}

/* Taps of element `index` of a result that is not the nearest element's; at most xa_resample_most_taps weights. */
XA_INLINE xa_taps xa_resample_taps(const xa_resample *r, int32_t index, float *weights) {
    float at = xa_resample_at(r, index);
    if (xa_resample_is_outside(r, at)) return (xa_taps){0, 0};
    if (r->antialias) return xa_antialias_taps(r, at, weights);
    return r->kind == XA_CUBIC ? xa_cubic_taps(r, at, weights) : xa_linear_taps(r, at, weights);
}

/* At least as many as any element has. */
XA_INLINE int32_t xa_resample_most_taps(const xa_resample *r) {
    if (!r->antialias) return r->kind == XA_CUBIC ? XA_CUBIC_TAPS : 2;
    float width = xa_add(xa_mul(2.0f, xa_resample_reach(r)), 2.0f);
    return width < (float)XA_MOST_TAPS ? xa_rtz_i32(width) : XA_MOST_TAPS;
}

#endif
