/* The post-processor as plain formulas, and random fields of it, for tests of the engines that have one. */
#ifndef XPU_TESTS_POST_FORMULA_H
#define XPU_TESTS_POST_FORMULA_H

#include <math.h>

#include "core/arith.h"
#include "tests/unit/func_fixture.h"

/* Where the test puts things. */
enum {
    X_AT = 0x20001000,
    W_AT = 0x20040000,
    Y_AT = 0x20080000,
    BRANCH_AT = 0x200c0000,
    SMALL_AT = 0x40000000,
    PARAMS_AT = SMALL_AT,
    SCALE_AT = SMALL_AT + 0x1000,
    BIAS_AT = SMALL_AT + 0x2000,
    START_AT = SMALL_AT + 0x3000,
    FINDMAX_AT = SMALL_AT + 0x4000,
    ABSMAX_AT = SMALL_AT + 0x4010,
    W_ABSMAX_AT = SMALL_AT + 0x4020,
    TABLE_AT = SMALL_AT + 0x5000,
    Y_BYTES = 0x40000
};

static inline int32_t load(const fixture *f, uint64_t address, uint32_t type) {
    const uint8_t *p = host(f, address);
    int16_t half;
    int32_t word;
    memcpy(&half, p, 2);
    memcpy(&word, p, 4);
    return type == XPU_TYPE_I8 ? (int8_t)*p : type == XPU_TYPE_U8 ? *p : type == XPU_TYPE_I16 ? half : word;
}

static inline float load_float(const fixture *f, uint64_t address) {
    float x;
    memcpy(&x, host(f, address), 4);
    return x;
}

static inline void store_float(const fixture *f, uint64_t address, float x) {
    memcpy(host(f, address), &x, 4);
}

static const unsigned type_size[] = {1, 1, 2, 4, 4};

/* ---- The formulas, one element at a time ---- */

static inline int32_t clamp(double x, int32_t lo, int32_t hi) {
    return x < lo ? lo : x > hi ? hi : (int32_t)x;
}

static inline float scale_of(const fixture *f, const xpu_desc_post *d, const xpu_post_params *p, uint32_t n,
                             float x_limit, float w_limit) {
    float xs = d->absmax ? load_float(f, ABSMAX_AT) / x_limit : p->x_scale;
    float ws = d->scale      ? load_float(f, SCALE_AT + 4 * n)
               : p->w_absmax ? load_float(f, W_ABSMAX_AT) / w_limit
                             : p->w_scale;
    return xs * ws;
}

static inline uint64_t at(uint64_t base, int32_t row_stride, int32_t pixel_stride, uint32_t row, uint32_t pixel,
                          uint32_t n, uint32_t type) {
    return base + (uint64_t)((int64_t)row * row_stride + (int64_t)pixel * pixel_stride + n * type_size[type]);
}

/* Quantised mode: from acc to the stored byte. */
static inline uint8_t quantised(const fixture *f, const xpu_desc_post *d, const xpu_post_params *p, int32_t q, float s,
                                uint32_t row, uint32_t pixel, uint32_t n, uint32_t op) {
    int32_t y = q;
    int32_t b =
        d->branch ? load(f, at(BRANCH_AT, d->branch_row_stride, d->branch_pixel_stride, row, pixel, n, d->branch_type),
                         d->branch_type)
                  : 0;
    if (op == XPU_POST_SCALE) y = clamp(rint((double)((float)q * s)) + p->zero, p->lo.i, p->hi.i);
    if (op == XPU_POST_MUL) {
        float r = (float)((q - p->za) * (b - p->zb)) * p->ra;
        y = clamp(rint((double)(r + (float)p->zero)), p->lo2, p->hi2);
    } else if (d->branch) {
        float sum = d->branch_first ? fmaf((float)b, p->rb, fmaf((float)y, p->ra, p->f))
                                    : fmaf((float)y, p->ra, fmaf((float)b, p->rb, p->f));
        y = clamp(rint((double)sum), p->lo2, p->hi2);
    }
    return d->lookup ? *(const uint8_t *)host(f, TABLE_AT + (uint8_t)y) : (uint8_t)y;
}

static inline float activate(const xpu_desc_post *d, const xpu_post_params *p, float y) {
    if (d->activation == XPU_ACT_CLIP) return y < p->lo.f ? p->lo.f : y > p->hi.f ? p->hi.f : y;
    if (d->activation == XPU_ACT_LEAKY) return y < 0 ? y * p->slope : y;
    return y;
}

/* Clipped at the end, perhaps. */
static inline float clipped(const xpu_desc_post *d, const xpu_post_params *p, float y) {
    return !d->clip_last ? y : y < p->ra ? p->ra : y > p->rb ? p->rb : y;
}

static inline float floating(const fixture *f, const xpu_desc_post *d, const xpu_post_params *p, float v, float s,
                             uint32_t row, uint32_t pixel, uint32_t n, uint32_t op) {
    float y = v * s, b = 0;
    if (d->branch) {
        uint64_t address = at(BRANCH_AT, d->branch_row_stride, d->branch_pixel_stride, row, pixel, n, d->branch_type);
        b = d->branch_type == XPU_TYPE_F32 ? load_float(f, address)
                                           : (float)load(f, address, d->branch_type) * p->branch_scale;
    }
    if (d->bias) y = y + load_float(f, BIAS_AT + 4 * n);
    if (op == XPU_POST_MUL) return clipped(d, p, activate(d, p, y * b));
    if (!d->act_after) y = activate(d, p, y);
    if (d->branch) y = y + b;
    return clipped(d, p, d->act_after ? activate(d, p, y) : y);
}

/* ---- Random descriptors ---- */

static inline void draw_params(fixture *f, xpu_post_params *p, int quantised_mode) {
    memset(p, 0, sizeof *p);
    if (quantised_mode) {
        p->lo.i = draw_between(f, -128, 0), p->hi.i = draw_between(f, 10, 127);
    } else {
        p->lo.f = -2.0f * (float)draw(f, 10), p->hi.f = 6.0f * (float)(1 + draw(f, 100));
    }
    p->slope = 0.1f, p->ra = quantised_mode ? 0.7f : -1.5f, p->rb = 1.3f, p->f = -4.25f;
    p->zero = draw_between(f, -20, 20);
    p->lo2 = draw_between(f, -128, -100), p->hi2 = draw_between(f, 100, 127);
    p->out_scale = 0.75f, p->branch_scale = 0.03125f, p->x_scale = draw(f, 2) ? 1.0f : 0.017f, p->w_scale = 0.003f;
    p->za = draw_between(f, -9, 9), p->zb = draw_between(f, -9, 9);
    if (draw(f, 2)) p->w_absmax = W_ABSMAX_AT;
}

static inline void fill_small(fixture *f, float scale) {
    for (uint32_t i = 0; i < 1024; i++) {
        int32_t start = draw_between(f, -100000, 100000);
        store_float(f, SCALE_AT + 4 * i, scale * (float)(1 + draw(f, 1000)));
        store_float(f, BIAS_AT + 4 * i, draw_float(f));
        memcpy(host(f, START_AT + 4 * i), &start, 4);
    }
    scribble(f, TABLE_AT, 256);
    store_float(f, FINDMAX_AT, draw(f, 2) ? 0.0f : 5.0f);
    store_float(f, ABSMAX_AT, 3.25f);
    store_float(f, W_ABSMAX_AT, 0.5f);
}

static const uint32_t float_types[] = {XPU_TYPE_F32, XPU_TYPE_I16, XPU_TYPE_I8};

/* The fields that kinds tensor and post share, apart from x. */
static inline void draw_post(fixture *f, xpu_desc_post *d, const xpu_post_params *p) {
    int quantised_mode = d->post_mode == XPU_POST_QUANTISED;
    (void)p;
    d->params = PARAMS_AT, d->y = Y_AT;
    d->y_type = quantised_mode ? draw(f, 2) : float_types[draw(f, 3)];
    d->branch_type = quantised_mode ? draw(f, 2) : float_types[draw(f, 3)];
    d->activation = draw(f, 3), d->act_after = draw(f, 2), d->branch_first = draw(f, 2);
    d->clip_last = d->y_type == XPU_TYPE_F32 && draw(f, 2);
    d->scale = draw(f, 2) ? SCALE_AT : 0;
    d->branch = draw(f, 2) ? BRANCH_AT : 0;
    d->bias = !quantised_mode && draw(f, 2) ? BIAS_AT : 0;
    d->findmax = !quantised_mode && draw(f, 2) ? FINDMAX_AT : 0;
    d->lookup = quantised_mode && draw(f, 3) == 0 ? TABLE_AT : 0;
    unsigned yb = type_size[d->y_type], bb = type_size[d->branch_type];
    d->y_pixel_stride = (int32_t)((d->columns + draw(f, 3)) * yb);
    d->y_row_stride = (int32_t)(d->ow * (uint32_t)d->y_pixel_stride + draw(f, 3) * yb);
    d->branch_pixel_stride = (int32_t)((d->columns + draw(f, 3)) * bb);
    d->branch_row_stride = (int32_t)(d->ow * (uint32_t)d->branch_pixel_stride + draw(f, 3) * bb);
    for (uint32_t i = 0; i < 0x3000; i++) { /* a branch that is no NaN in any type */
        float b = draw_float(f);
        if (d->branch_type == XPU_TYPE_F32)
            store_float(f, BRANCH_AT + 4 * i, b);
        else
            *(uint8_t *)host(f, BRANCH_AT + i) = (uint8_t)draw(f, 256);
    }
}

/* Compares all of the output's memory. `expected` was filled in by the formulas. */
static inline int same_output(const fixture *f, const uint8_t *expected) {
    return memcmp(expected, host(f, Y_AT), Y_BYTES) == 0;
}

static inline void expect_float(uint8_t *expected, uint64_t address, uint32_t type, float y, const xpu_post_params *p) {
    uint8_t *to = expected + (address - Y_AT);
    int16_t half;
    if (type == XPU_TYPE_F32) {
        memcpy(to, &y, 4);
    } else if (type == XPU_TYPE_I16) {
        half = (int16_t)clamp(rint((double)(y * p->out_scale)), -32767, 32767);
        memcpy(to, &half, 2);
    } else {
        *to = (uint8_t)clamp(rint((double)(y * p->out_scale)), -127, 127);
    }
}

/* The output of a whole descriptor: acc or x by pixel and column from `value`. */
typedef struct {
    const fixture *f;
    const xpu_desc_post *d;
    const xpu_post_params *p;
    uint32_t op;
    float x_limit, w_limit;
    float findmax;
    uint8_t *expected;
} output_case;

static inline void expect_element(output_case *o, uint32_t row, uint32_t pixel, uint32_t n, int32_t q, float v) {
    const xpu_desc_post *d = o->d;
    float s = scale_of(o->f, d, o->p, n, o->x_limit, o->w_limit);
    uint64_t address = at(Y_AT, d->y_row_stride, d->y_pixel_stride, row, pixel, n, d->y_type);
    if (d->post_mode == XPU_POST_QUANTISED) {
        o->expected[address - Y_AT] = quantised(o->f, d, o->p, q, s, row, pixel, n, o->op);
        return;
    }
    float y = floating(o->f, d, o->p, v, s, row, pixel, n, o->op);
    if (fabsf(y) > o->findmax) o->findmax = fabsf(y);
    expect_float(o->expected, address, d->y_type, y, o->p);
}

#endif
