/*
 * The kernels on quantised tensors, on the functional chip against the reference kernels: random geometries, types and
 * zero points, bit for bit.
 */
#include <math.h>

#include "core/arith.h"
#include "tests/chip/rig/operands.h"
#include "xpu_runtime/include/generated/xpu_chip_regs.h"
#include "xpu_runtime/include/xpu_tiling.h"
#include "xpu_runtime/program/packing.h"

static xpu_dtype draw_type(rig *r) {
    return draw(r, 0, 1) ? XPU_I8 : XPU_U8;
}

static int32_t draw_zero(rig *r, xpu_dtype dtype) {
    if (draw(r, 0, 3) == 0) return 0;
    return (int32_t)(dtype == XPU_I8 ? draw(r, -128, 127) : draw(r, 0, 255));
}

/* A clamp inside of the type's range, often all of it. */
static void draw_clamp(rig *r, xpu_dtype dtype, int32_t *low, int32_t *high) {
    *low = dtype == XPU_I8 ? -128 : 0;
    *high = dtype == XPU_I8 ? 127 : 255;
    if (draw(r, 0, 2)) return;
    *low += (int32_t)draw(r, 0, 100);
    *high -= (int32_t)draw(r, 0, 100);
}

static float draw_factor(rig *r, float about) {
    return about * (0.25f + (float)draw(r, 0, 1000) / 500.0f);
}

/* ---- elementwise ---- */

/* Whole words: what lies behind a tensor's last word is not the kernel's. */
static int64_t draw_count(rig *r) {
    return 4 * (draw(r, 0, 2) ? draw(r, 1, 300) : draw(r, 1, 30000));
}

static void add_pair(rig *r, bench *b) {
    xpu_dtype x_type = draw_type(r), b_type = draw_type(r), y_type = draw_type(r);
    struct xpu_qpair_args a = {.count = (int32_t)draw_count(r),
                               .a_signed = x_type == XPU_I8,
                               .b_signed = b_type == XPU_I8,
                               .is_product = (int32_t)draw(r, 0, 1),
                               .a_zero = draw_zero(r, x_type),
                               .b_zero = draw_zero(r, b_type),
                               .y_zero = draw_zero(r, y_type),
                               .b_factor = draw_factor(r, 1),
                               .addend = (float)draw(r, -40000, 40000) / 128.0f};
    a.a_factor = draw_factor(r, a.is_product ? 0.01f : 1.0f);
    draw_clamp(r, y_type, &a.low, &a.high);
    rig_describe(r, "%s of %d", a.is_product ? "product" : "sum", a.count);
    xpu_tensor x = operand_random(b, r->random, x_type, DIMS(a.count));
    xpu_tensor other = operand_random(b, r->random, b_type, DIMS(a.count));
    const xpu_tensor *const inputs[] = {&x, &other};
    xpu_attr attrs[] = {XPU_ATTR_INT_OF(DTYPE, y_type),          XPU_ATTR_FLOAT_OF(X_FACTOR, a.a_factor),
                        XPU_ATTR_INT_OF(Y_LOW, a.low),           XPU_ATTR_INT_OF(Y_HIGH, a.high),
                        XPU_ATTR_FLOAT_OF(B_FACTOR, a.b_factor), XPU_ATTR_FLOAT_OF(ADDEND, a.addend),
                        XPU_ATTR_INT_OF(Y_ZERO, a.y_zero)};
    if (a.is_product) {
        attrs[4] = XPU_ATTR_INT_OF(X_ZERO, a.a_zero);
        attrs[5] = XPU_ATTR_INT_OF(B_ZERO, a.b_zero);
    }
    xpu_tensor y =
        operand_reference(b, a.is_product ? XPU_OP_QMUL : XPU_OP_QADD, inputs, 2, attrs, a.is_product ? 7 : 6);
    a.a = operand_place(r, &x);
    a.b = operand_place(r, &other);
    a.y = operand_expect(r, &y);
    rig_call(r, XPU_CALL_qpair, 0, &a, sizeof a);
}
static void pairs(void) {
    rig_on_each_chip("qpair", 30, add_pair);
}

static void add_lookup(rig *r, bench *b) {
    struct xpu_lookup_args a = {.count = (int32_t)draw_count(r)};
    rig_describe(r, "lookup of %d", a.count);
    xpu_tensor x = operand_random(b, r->random, draw_type(r), DIMS(a.count));
    xpu_tensor table = operand_random(b, r->random, draw_type(r), DIMS(256));
    const xpu_tensor *const inputs[] = {&x, &table};
    xpu_tensor y = operand_reference(b, XPU_OP_LOOKUP, inputs, 2, NULL, 0);
    a.x = operand_place(r, &x);
    a.table = operand_place(r, &table);
    a.y = operand_expect(r, &y);
    rig_call(r, XPU_CALL_lookup, 0, &a, sizeof a);
}
static void lookups(void) {
    rig_on_each_chip("lookup", 10, add_lookup);
}

/* Scale and zero point as operands of the reference. */
static void parameters(bench *b, rig *r, xpu_dtype dtype, float scale_value, int32_t zero_value, xpu_tensor *scale,
                       xpu_tensor *zero) {
    *scale = operand_random(b, r->random, XPU_F32, 0, NULL);
    *zero = operand_random(b, r->random, dtype, 0, NULL);
    *(float *)scale->data = scale_value;
    *(uint8_t *)zero->data = (uint8_t)zero_value;
}

static void add_quantize(rig *r, bench *b) {
    xpu_dtype dtype = draw_type(r);
    struct xpu_quantize_args a = {.count = (int32_t)draw_count(r), .scale = draw_factor(r, 0.02f)};
    a.zero = draw_zero(r, dtype);
    a.low = dtype == XPU_I8 ? -128 : 0;
    a.high = dtype == XPU_I8 ? 127 : 255;
    rig_describe(r, "quantize %d", a.count);
    xpu_tensor x = operand_random(b, r->random, XPU_F32, DIMS(a.count)), scale, zero;
    if (draw(r, 0, 2) == 0) operand_spoil(r->random, &x, 50);
    parameters(b, r, dtype, a.scale, a.zero, &scale, &zero);
    const xpu_tensor *const inputs[] = {&x, &scale, &zero};
    const int by_dma = (int)draw(r, 0, 1);
    a.zero_first = by_dma ? 0 : (int32_t)draw(r, 0, 1);
    const xpu_attr attrs[] = {XPU_ATTR_INT_OF(DTYPE, dtype), XPU_ATTR_INT_OF(ZERO_FIRST, a.zero_first)};
    xpu_tensor y = operand_reference(b, XPU_OP_QUANTIZE, inputs, 3, attrs, 2);
    a.x = operand_place(r, &x);
    a.y = operand_expect(r, &y);
    const struct xpu_copy_quantize_args copy = {a.x, a.y, a.count, dtype == XPU_I8, a.scale, a.zero};
    if (by_dma)
        rig_call(r, XPU_CALL_copy_quantize, 0, &copy, sizeof copy);
    else
        rig_call(r, XPU_CALL_quantize, 0, &a, sizeof a);
}
static void quantizing(void) {
    rig_on_each_chip("quantize", 15, add_quantize);
}

/* By the formula; a quotient that is NaN gives the largest byte. */
static void add_dynamic_quantize(rig *r, bench *b) {
    struct xpu_dynamic_quantize_args a = {.count = (int32_t)draw_count(r)};
    rig_describe(r, "dynamic_quantize %d", a.count);
    xpu_tensor x = operand_random(b, r->random, XPU_F32, DIMS(a.count));
    xpu_tensor scale = operand_random(b, r->random, XPU_F32, DIMS(1));
    xpu_tensor zero = operand_random(b, r->random, XPU_U8, DIMS(1));
    float *values = x.data, low = 0, high = 0, factor = draw(r, 0, 4) ? draw_factor(r, 1.0f) : 0x1p-120f;
    int one_sign = (int)draw(r, 0, 3), has_nan = 0;
    for (int32_t i = 0; i < a.count; i++) {
        values[i] = one_sign == 0 ? fabsf(values[i] * factor) : one_sign == 1 ? -0.0f : values[i] * factor;
    }
    if (draw(r, 0, 3) == 0) operand_spoil(r->random, &x, 200);
    for (int32_t i = 0; i < a.count; i++) {
        has_nan |= isnan(values[i]);
        low = fminf(low, values[i]), high = fmaxf(high, values[i]);
    }
    float s = has_nan ? NAN : high == low ? 1.0f : (high - low) / 255.0f;
    double z = has_nan ? 255 : nearbyint((double)(0.0f - low / s));
    *(float *)scale.data = s;
    *(uint8_t *)zero.data = (uint8_t)(isnan(z) || z > 255 ? 255 : z < 0 ? 0 : z);
    z = *(uint8_t *)zero.data;
    xpu_tensor y = operand_random(b, r->random, XPU_U8, DIMS(a.count));
    for (int32_t i = 0; i < a.count; i++) {
        double q = nearbyint((double)(values[i] / s)) + z;
        ((uint8_t *)y.data)[i] = (uint8_t)(isnan(q) || q > 255 ? 255 : q < 0 ? 0 : q);
    }
    a.x = operand_place(r, &x);
    a.y = operand_expect(r, &y);
    a.scale = operand_expect(r, &scale);
    a.zero = operand_expect(r, &zero);
    rig_call(r, XPU_CALL_dynamic_quantize, 0, &a, sizeof a);
}
static void dynamic_quantizing(void) {
    rig_on_each_chip("dynamic_quantize", 25, add_dynamic_quantize);
}

static void add_dequantize(rig *r, bench *b) {
    xpu_dtype dtype = draw_type(r);
    struct xpu_dequantize_args a = {.count = (int32_t)draw_count(r), .scale = draw_factor(r, 0.02f)};
    a.x_signed = dtype == XPU_I8;
    a.zero = draw_zero(r, dtype);
    rig_describe(r, "dequantize %d", a.count);
    xpu_tensor x = operand_random(b, r->random, dtype, DIMS(a.count)), scale, zero;
    parameters(b, r, dtype, a.scale, a.zero, &scale, &zero);
    const xpu_tensor *const inputs[] = {&x, &scale, &zero};
    xpu_tensor y = operand_reference(b, XPU_OP_DEQUANTIZE, inputs, 3, NULL, 0);
    a.x = operand_place(r, &x);
    a.y = operand_expect(r, &y);
    rig_call(r, XPU_CALL_dequantize, 0, &a, sizeof a);
}
static void dequantizing(void) {
    rig_on_each_chip("dequantize", 15, add_dequantize);
}

/* ---- windows ---- */

typedef struct {
    int64_t n, c, h, w, o, groups, kernel[2], stride[2], dilation[2], pads[4], out[2];
} geometry;

/* Of windows, 1 to most: whole words of bytes or not. */
static int64_t draw_channels(rig *r, int64_t most) {
    return draw(r, 0, 2) ? 4 * draw(r, 1, most / 4) : draw(r, 1, most);
}

static void draw_window(rig *r, geometry *g) {
    int64_t size[2] = {draw(r, 1, 12), draw(r, 0, 4) ? draw(r, 1, 20) : draw(r, 1, 120)};
    for (int i = 0; i < 2; i++) {
        g->kernel[i] = draw(r, 0, 3) ? draw(r, 1, 3) : draw(r, 1, 6);
        g->stride[i] = draw(r, 0, 2) ? 1 : draw(r, 1, 3);
        g->dilation[i] = draw(r, 0, 3) ? 1 : draw(r, 1, 3);
        int64_t extent = (g->kernel[i] - 1) * g->dilation[i] + 1;
        g->pads[i] = draw(r, 0, extent - 1);
        g->pads[2 + i] = draw(r, 0, extent - 1);
        int64_t missing = extent - size[i] - g->pads[i] - g->pads[2 + i];
        if (missing > 0) size[i] += missing;
        g->out[i] = (size[i] + g->pads[i] + g->pads[2 + i] - extent) / g->stride[i] + 1;
    }
    g->h = size[0], g->w = size[1];
}

static int64_t work_of(const geometry *g) {
    return g->n * g->out[0] * g->out[1] * g->o * (g->c / g->groups) * g->kernel[0] * g->kernel[1];
}

static xpu_tiling_shape shape_of(const geometry *g) {
    return (xpu_tiling_shape){.in_h = (int32_t)g->h,
                              .in_w = (int32_t)g->w,
                              .kernel_h = (int32_t)g->kernel[0],
                              .kernel_w = (int32_t)g->kernel[1],
                              .stride_h = (int32_t)g->stride[0],
                              .stride_w = (int32_t)g->stride[1],
                              .dilation_h = (int32_t)g->dilation[0],
                              .dilation_w = (int32_t)g->dilation[1]};
}

/* Whether LM has room for a task beside the rings of all engines, which kernels.elf has on every chip. */
static int fits(const rig *r, const geometry *g, const xpu_tiling_task *t, int has_weights) {
    const xpu_tiling_shape s = shape_of(g);
    return xpu_tiling_window_of(&s, t, has_weights).bytes <= r->chip.lm_bytes - XPU_LM_RESERVED - XPU_LM_WINDOW;
}

static geometry draw_geometry(rig *r, int depthwise) {
    geometry g;
    do {
        g = (geometry){.n = draw(r, 0, 4) ? 1 : draw(r, 2, 5), .groups = 1};
        g.c = depthwise ? draw_channels(r, 200) : draw(r, 1, 150);
        g.o = depthwise ? g.c : draw(r, 1, 150);
        if (depthwise) g.groups = g.c;
        draw_window(r, &g);
    } while (work_of(&g) > 1 << 20 || g.n * g.c * g.h * g.w > 200000 || g.n * g.o * g.out[0] * g.out[1] > 200000 ||
             (depthwise && !fits(r, &g, &(xpu_tiling_task){16, 1, 1}, 1)));
    return g;
}

#define SET_GEOMETRY(a, g)                                                                                             \
    ((a)->batch = (int32_t)(g)->n, (a)->in_h = (int32_t)(g)->h, (a)->in_w = (int32_t)(g)->w,                           \
     (a)->in_c = (int32_t)(g)->c, (a)->out_h = (int32_t)(g)->out[0], (a)->out_w = (int32_t)(g)->out[1],                \
     (a)->kernel_h = (int32_t)(g)->kernel[0], (a)->kernel_w = (int32_t)(g)->kernel[1],                                 \
     (a)->stride_h = (int32_t)(g)->stride[0], (a)->stride_w = (int32_t)(g)->stride[1],                                 \
     (a)->dilation_h = (int32_t)(g)->dilation[0], (a)->dilation_w = (int32_t)(g)->dilation[1],                         \
     (a)->pad_top = (int32_t)(g)->pads[0], (a)->pad_left = (int32_t)(g)->pads[1])

/* A task of any size that LM has room for. */
static xpu_tiling_task draw_task(rig *r, const geometry *g, int has_weights) {
    xpu_tiling_task t;
    do {
        t.tile_c = 16 * (int32_t)draw(r, 1, XPU_BYTE_CHANNELS / 16);
        t.tile_h = (int32_t)draw(r, 1, g->out[0]);
        t.tile_w = (int32_t)(draw(r, 0, 2) ? draw(r, 1, g->out[1]) : g->out[1]);
    } while (!fits(r, g, &t, has_weights));
    if (draw(r, 0, 3) == 0 && t.tile_h == g->out[0]) t.tile_h += 3;
    return t;
}

#define SET_TASK(a, r, g, has_weights)                                                                                 \
    do {                                                                                                               \
        const xpu_tiling_task task = draw_task(r, g, has_weights);                                                     \
        (a)->tile_c = task.tile_c, (a)->tile_h = task.tile_h, (a)->tile_w = task.tile_w;                               \
    } while (0)

static void describe(rig *r, const char *kernel, const geometry *g) {
    rig_describe(r,
                 "%s: %lld x %lld x %lld x %lld to %lld, kernel %lld x %lld, stride %lld, %lld, dilation %lld, %lld, "
                 "pads %lld, %lld, %lld, %lld",
                 kernel, (long long)g->n, (long long)g->h, (long long)g->w, (long long)g->c, (long long)g->o,
                 (long long)g->kernel[0], (long long)g->kernel[1], (long long)g->stride[0], (long long)g->stride[1],
                 (long long)g->dilation[0], (long long)g->dilation[1], (long long)g->pads[0], (long long)g->pads[1],
                 (long long)g->pads[2], (long long)g->pads[3]);
}

enum { WINDOW_ATTRS = 3 };
static void window_attrs(const geometry *g, xpu_attr *attrs) {
    attrs[0] = XPU_ATTR_INTS_OF(STRIDES, g->stride, 2);
    attrs[1] = XPU_ATTR_INTS_OF(DILATIONS, g->dilation, 2);
    attrs[2] = XPU_ATTR_INTS_OF(PADS, g->pads, 4);
}

#define SET_POOL(a, r, b, g)                                                                                           \
    do {                                                                                                               \
        xpu_dtype dtype = draw_type(r);                                                                                \
        xpu_tensor x = operand_random(b, (r)->random, dtype, DIMS((g)->n, (g)->c, (g)->h, (g)->w));                    \
        const xpu_tensor *const inputs[] = {&x};                                                                       \
        xpu_attr attrs[WINDOW_ATTRS + 1];                                                                              \
        window_attrs(g, attrs);                                                                                        \
        attrs[WINDOW_ATTRS] = XPU_ATTR_INTS_OF(KERNEL, (g)->kernel, 2);                                                \
        xpu_tensor y = operand_reference(b, XPU_OP_MAX_POOL, inputs, 1, attrs, WINDOW_ATTRS + 1);                      \
        SET_GEOMETRY(a, g);                                                                                            \
        (a)->x_unsigned = dtype == XPU_U8;                                                                             \
        (a)->x = operand_place_image(r, b, &x);                                                                        \
        (a)->y = operand_expect_pixels(r, b, &y, 4, &(a)->y_pixel);                                                    \
    } while (0)

static void add_max_pool(rig *r, bench *b) {
    geometry g = draw_geometry(r, 1);
    struct xpu_max_pool_i8_args a;
    describe(r, "max_pool_i8", &g);
    SET_POOL(&a, r, b, &g);
    SET_TASK(&a, r, &g, 0);
    rig_call(r, XPU_CALL_max_pool_i8, 0, &a, sizeof a);
}
static void max_pool(void) {
    rig_on_each_chip("max_pool_i8", 20, add_max_pool);
}

/* Windows of up to 60 x 60 taps with strides of up to 70; often all columns of the image. */
static geometry draw_large_window(rig *r) {
    geometry g;
    do {
        g = (geometry){.n = draw(r, 1, 3), .c = draw_channels(r, 160), .groups = 1};
        g.o = g.groups = g.c;
        for (int i = 0; i < 2; i++) {
            g.kernel[i] = draw(r, 0, 3) ? draw(r, 1, 60) : draw(r, 1, 4);
            g.stride[i] = draw(r, 1, 70);
            g.dilation[i] = draw(r, 0, 2) ? 1 : draw(r, 1, 40);
            int64_t extent = (g.kernel[i] - 1) * g.dilation[i] + 1;
            g.pads[i] = draw(r, 0, 1) ? 0 : draw(r, 0, extent - 1);
            g.pads[2 + i] = draw(r, 0, 1) ? 0 : draw(r, 0, extent - 1);
            int64_t least = extent - g.pads[i] - g.pads[2 + i], size = (least < 1 ? 1 : least) + draw(r, 0, 100);
            if (i == 1 && draw(r, 0, 3) == 0 && least > 0) size = least;
            *(i ? &g.w : &g.h) = size;
            g.out[i] = (size + g.pads[i] + g.pads[2 + i] - extent) / g.stride[i] + 1;
        }
    } while (work_of(&g) > 1 << 22 || g.n * g.c * g.h * g.w > 400000 || g.n * g.o * g.out[0] * g.out[1] > 100000);
    return g;
}

static void add_large_max_pool(rig *r, bench *b) {
    geometry g = draw(r, 0, 3) ? draw_large_window(r) : draw_geometry(r, 1);
    struct xpu_large_max_pool_i8_args a;
    describe(r, "large_max_pool_i8", &g);
    SET_POOL(&a, r, b, &g);
    rig_call(r, XPU_CALL_large_max_pool_i8, 0, &a, sizeof a);
}
static void large_max_pool(void) {
    rig_on_each_chip("large_max_pool_i8", 30, add_large_max_pool);
}

static void add_mean(rig *r, bench *b) {
    xpu_dtype x_type = draw_type(r), y_type = draw_type(r);
    int large = draw(r, 0, 3) == 0; /* sums of more than 24 bits */
    int64_t h = draw(r, 1, large ? 500 : 20), w = draw(r, 1, large ? 500 : 40);
    int64_t n = draw(r, 1, large ? 2 : 4), c = draw_channels(r, large ? 8 : 240);
    struct xpu_mean_i8_args a = {.batch = (int32_t)n, .pixels = (int32_t)(h * w), .channels = (int32_t)c};
    a.x_unsigned = x_type == XPU_U8;
    a.x_zero = draw_zero(r, x_type), a.zero = draw_zero(r, y_type);
    a.x_scale = draw_factor(r, 0.02f), a.y_scale = draw_factor(r, 0.01f);
    a.low = y_type == XPU_I8 ? -128 : 0, a.high = y_type == XPU_I8 ? 127 : 255;
    rig_describe(r, "mean of %lld x %lld pixels, %lld channels", (long long)h, (long long)w, (long long)c);
    xpu_tensor x = operand_random(b, r->random, x_type, DIMS(n, c, h, w));
    const xpu_tensor *const inputs[] = {&x};
    const xpu_attr attrs[] = {XPU_ATTR_INT_OF(DTYPE, y_type), XPU_ATTR_FLOAT_OF(X_SCALE, a.x_scale),
                              XPU_ATTR_INT_OF(X_ZERO, a.x_zero), XPU_ATTR_FLOAT_OF(Y_SCALE, a.y_scale),
                              XPU_ATTR_INT_OF(Y_ZERO, a.zero)};
    xpu_tensor y = operand_reference(b, XPU_OP_QGLOBAL_AVERAGE_POOL, inputs, 1, attrs, 5);
    a.x = operand_place_image(r, b, &x);
    a.y = operand_expect_image(r, b, &y);
    rig_call(r, XPU_CALL_mean_i8, 0, &a, sizeof a);
}
static void mean(void) {
    rig_on_each_chip("mean_i8", 15, add_mean);
}

/* ---- products ---- */

/* What a convolution has besides its geometry. */
typedef struct {
    xpu_dtype x_type, w_type, y_type, branch_type;
    int32_t x_zero, w_zero, zero, low, high, low2, high2;
    float x_factor, b_factor, addend;
    xpu_tensor x, w, bias, factors, branch, y;
    int has_bias, has_branch, branch_first;
} product;

static void reference(rig *r, bench *b, const geometry *g, product *p) {
    const xpu_tensor *const inputs[] = {&p->x, &p->w, p->has_bias ? &p->bias : NULL, p->has_branch ? &p->branch : NULL,
                                        &p->factors};
    int64_t y_zero = p->has_branch ? 0 : p->zero;
    xpu_attr attrs[] = {{.id = XPU_ATTR_STRIDES},
                        {.id = XPU_ATTR_DILATIONS},
                        {.id = XPU_ATTR_PADS},
                        XPU_ATTR_INT_OF(GROUP, g->groups),
                        XPU_ATTR_INT_OF(DTYPE, p->y_type),
                        XPU_ATTR_INT_OF(X_ZERO, p->x_zero),
                        XPU_ATTR_INT_OF(W_ZERO, p->w_zero),
                        XPU_ATTR_INT_OF(Y_ZERO, y_zero),
                        XPU_ATTR_INT_OF(Y_LOW, p->has_branch ? p->low2 : p->low),
                        XPU_ATTR_INT_OF(Y_HIGH, p->has_branch ? p->high2 : p->high),
                        XPU_ATTR_INT_OF(MID_ZERO, p->zero),
                        XPU_ATTR_INT_OF(MID_LOW, p->low),
                        XPU_ATTR_INT_OF(MID_HIGH, p->high),
                        XPU_ATTR_FLOAT_OF(X_FACTOR, p->x_factor),
                        XPU_ATTR_FLOAT_OF(B_FACTOR, p->b_factor),
                        XPU_ATTR_FLOAT_OF(ADDEND, p->addend),
                        XPU_ATTR_INT_OF(BRANCH_FIRST, p->branch_first)};
    (void)r;
    window_attrs(g, attrs);
    p->y = operand_reference(b, XPU_OP_QCONV, inputs, 5, attrs, sizeof attrs / sizeof *attrs);
}

static product draw_product(rig *r, bench *b, const geometry *g, int may_branch) {
    product p = {.x_type = draw_type(r), .w_type = draw_type(r), .y_type = draw_type(r), .branch_type = draw_type(r)};
    p.x_zero = draw_zero(r, p.x_type), p.w_zero = draw_zero(r, p.w_type), p.zero = draw_zero(r, p.y_type);
    p.has_bias = draw(r, 0, 2) > 0;
    p.has_branch = may_branch && draw(r, 0, 1);
    p.branch_first = p.has_branch && draw(r, 0, 1);
    draw_clamp(r, p.has_branch ? draw_type(r) : p.y_type, &p.low, &p.high);
    draw_clamp(r, p.y_type, &p.low2, &p.high2);
    p.x_factor = draw_factor(r, 0.7f), p.b_factor = draw_factor(r, 0.7f), p.addend = (float)draw(r, -900, 900) / 16.0f;
    p.x = operand_random(b, r->random, p.x_type, DIMS(g->n, g->c, g->h, g->w));
    p.w = operand_random(b, r->random, p.w_type, DIMS(g->o, g->c / g->groups, g->kernel[0], g->kernel[1]));
    p.bias = operand_random(b, r->random, XPU_I32, DIMS(g->o));
    p.factors = operand_random(b, r->random, XPU_F32, DIMS(g->o));
    p.branch = operand_random(b, r->random, p.branch_type, DIMS(g->n, g->o, g->out[0], g->out[1]));
    float depth = sqrtf((float)(g->c / g->groups * g->kernel[0] * g->kernel[1]));
    for (int64_t i = 0; i < g->o; i++) {
        if (draw(r, 0, 5)) ((int32_t *)p.bias.data)[i] %= 20000;
        ((float *)p.factors.data)[i] = draw_factor(r, 0.02f / depth);
    }
    reference(r, b, g, &p);
    return p;
}

static uint32_t place_packed(rig *r, bench *b, const geometry *g, const product *p, xpu_packing_kind kind,
                             int32_t tile_c) {
    xpu_packing packing = {.kind = kind,
                           .out_c = (int32_t)g->o,
                           .in_c = (int32_t)g->c,
                           .kernel_h = (int32_t)g->kernel[0],
                           .kernel_w = (int32_t)g->kernel[1],
                           .groups = (int32_t)g->groups,
                           .columns = (int32_t)r->chip.array_columns,
                           .tile_c = tile_c};
    uint32_t bytes = (uint32_t)xpu_packed_bytes(&packing, p->w_type, (uint64_t)xpu_tensor_count(&p->w));
    void *packed = xpu_alloc(b->arena, bytes);
    CU_ASSERT_FATAL(bytes > 0 && xpu_pack(&packing, &p->w, packed) == XPU_OK);
    return rig_place(r, packed, bytes, 4);
}

#define SET_PRODUCT(args, r, b, g, p)                                                                                  \
    do {                                                                                                               \
        SET_GEOMETRY(args, g);                                                                                         \
        (args)->out_c = (int32_t)(g)->o, (args)->groups = (int32_t)(g)->groups;                                        \
        (args)->x_unsigned = (p)->x_type == XPU_U8, (args)->w_unsigned = (p)->w_type == XPU_U8;                        \
        (args)->x_zero = (p)->x_zero, (args)->w_zero = (p)->w_zero, (args)->zero = (p)->zero;                          \
        (args)->low = (p)->low, (args)->high = (p)->high;                                                              \
        (args)->x = operand_place_image(r, b, &(p)->x);                                                                \
        (args)->bias = (p)->has_bias ? operand_place(r, &(p)->bias) : 0;                                               \
        (args)->factors = operand_place(r, &(p)->factors);                                                             \
        (args)->y = operand_expect_pixels(r, b, &(p)->y, (g)->groups > 1 ? 4 : 1, &(args)->y_pixel);                   \
    } while (0)

static void add_depthwise(rig *r, bench *b) {
    geometry g = draw_geometry(r, 1);
    struct xpu_depthwise_i8_args a = {.x = 0};
    describe(r, "depthwise_i8", &g);
    product p = draw_product(r, b, &g, 0);
    SET_PRODUCT(&a, r, b, &g, &p);
    a.w = place_packed(r, b, &g, &p, XPU_PACK_DEPTHWISE_I8, 0);
    SET_TASK(&a, r, &g, 1);
    rig_call(r, XPU_CALL_depthwise_i8, 0, &a, sizeof a);
}
static void depthwise(void) {
    rig_on_each_chip("depthwise_i8", 60, add_depthwise);
}

/* x as float32, which p->x becomes by a scale and zero point of its own. */
static xpu_tensor draw_float_input(rig *r, bench *b, const geometry *g, product *p, struct xpu_conv2d_i8_args *a) {
    xpu_tensor x = operand_random(b, r->random, XPU_F32, DIMS(g->n, g->c, g->h, g->w)), scale, zero;
    if (draw(r, 0, 2) == 0) operand_spoil(r->random, &x, 50);
    a->x_divisor = draw_factor(r, 0.02f);
    a->x_origin = draw_zero(r, p->x_type);
    parameters(b, r, p->x_type, a->x_divisor, a->x_origin, &scale, &zero);
    const xpu_tensor *const inputs[] = {&x, &scale, &zero};
    p->x = operand_reference(b, XPU_OP_QUANTIZE, inputs, 3, &XPU_ATTR_INT_OF(DTYPE, p->x_type), 1);
    reference(r, b, g, p);
    return x;
}

/* Where its elements stand: in planes, or channel last as bytes would. */
static void place_float_input(rig *r, bench *b, const xpu_tensor *x, struct xpu_conv2d_i8_args *a) {
    const int has_planes = (int)draw(r, 0, 1), pixel = has_planes ? a->in_c : 1;
    a->x = has_planes ? operand_place(r, x) : operand_place_image(r, b, x);
    a->x_image *= (int32_t)sizeof(float);
    a->x_plane = has_planes ? a->x_image / a->in_c : (int32_t)sizeof(float);
    a->x_row = a->x_row / pixel * (int32_t)sizeof(float);
    a->x_pixel = a->x_pixel / pixel * (int32_t)sizeof(float);
}

static void add_conv(rig *r, bench *b) {
    geometry g = draw_geometry(r, 0);
    struct xpu_conv2d_i8_args a = {.sm = rig_sm() + 64 * (uint32_t)draw(r, 0, 20)};
    describe(r, "conv2d_i8", &g);
    product p = draw_product(r, b, &g, 1);
    const int is_float = (int)draw(r, 0, 1);
    xpu_tensor x;
    if (is_float) x = draw_float_input(r, b, &g, &p, &a);
    SET_PRODUCT(&a, r, b, &g, &p);
    a.y_unsigned = p.y_type == XPU_U8, a.branch_unsigned = p.branch_type == XPU_U8, a.branch_first = p.branch_first;
    a.x_factor = p.x_factor, a.b_factor = p.b_factor, a.addend = p.addend;
    a.low2 = p.low2, a.high2 = p.high2;
    a.branch = p.has_branch ? operand_place_image(r, b, &p.branch) : 0;
    DRAW_TILE(r, &a, a.branch != 0, XPU_TILING_I8);
    if (is_float) place_float_input(r, b, &x, &a);
    a.w = place_packed(r, b, &g, &p, XPU_PACK_CONV_I8, a.tile_c);
    rig_describe(r, "tile %d x %d, %d channels, branch %d, float %d", a.tile_h, a.tile_w, a.tile_c, p.has_branch,
                 is_float);
    rig_call(r, XPU_CALL_conv2d_i8, 0, &a, sizeof a);
}
static void convolution(void) {
    rig_on_each_chip("conv2d_i8", 40, add_conv);
}

XPU_TEST_MAIN("kernels on bytes", {"sums and products of two", pairs}, {"tables", lookups}, {"to bytes", quantizing},
              {"from bytes", dequantizing}, {"by their range", dynamic_quantizing}, {"maxima", max_pool},
              {"maxima of large windows", large_max_pool}, {"means", mean}, {"depthwise", depthwise},
              {"convolution", convolution})
