/*
 * The matrix-like kernels on the functional chip against the reference kernels: random geometries, bit for bit. The
 * tensor engine gets random legal tiles.
 */
#include <math.h>

#include "core/arith.h"
#include "tests/chip/rig/operands.h"
#include "xpu_runtime/include/generated/xpu_chip_regs.h"
#include "xpu_runtime/include/xpu_tiling.h"
#include "xpu_runtime/program/packing.h"

/* ---- What follows the accumulation ---- */

typedef struct {
    int64_t activation, branch_after;
    float low, high, alpha;
    int has_bias, has_branch;
} epilogue;

static epilogue draw_epilogue(rig *r) {
    epilogue e = {.activation = draw(r, XPU_ACTIVATION_NONE, XPU_ACTIVATION_LEAKY), .alpha = 0.125f};
    e.has_bias = draw(r, 0, 2) > 0;
    e.has_branch = draw(r, 0, 2) == 0;
    e.branch_after = e.has_branch && draw(r, 0, 1);
    e.high = draw(r, 0, 1) ? (float)INFINITY : 6.0f;
    return e;
}

/* With a factor and an addend. */
static void draw_swish(rig *r, epilogue *e) {
    e->activation = XPU_ACTIVATION_HARD_SWISH;
    e->alpha = draw(r, 0, 1) ? 1.0f : 0.75f;
    e->low = draw(r, 0, 1) ? -0.0f : 0.3f;
}

enum { EPILOGUE_ATTRS = 5, LAST_ATTRS = 2 };

static void set_attrs(const epilogue *e, xpu_attr *attrs) {
    attrs[0] = XPU_ATTR_INT_OF(ACTIVATION, e->activation);
    attrs[1] = XPU_ATTR_INT_OF(BRANCH_AFTER, e->branch_after);
    attrs[2] = XPU_ATTR_FLOAT_OF(LOW, e->low);
    attrs[3] = XPU_ATTR_FLOAT_OF(HIGH, e->high);
    attrs[4] = XPU_ATTR_FLOAT_OF(ALPHA, e->alpha);
}

#define SET_EPILOGUE(args, e)                                                                                          \
    ((args)->activation = (int32_t)(e)->activation, (args)->low = (e)->low, (args)->high = (e)->high,                  \
     (args)->alpha = (e)->alpha, (args)->branch_after = (int32_t)(e)->branch_after)

/* ---- Convolutions ---- */

typedef enum { DENSE, GROUPED, DEPTHWISE } conv_kind;

typedef struct {
    int64_t n, c, h, w, o, groups, kernel[2], stride[2], dilation[2], pads[4], out[2];
    int64_t repeat[2]; /* of the branch's pixels; 0: they are its own */
    int clips_last;    /* to these: */
    float last_low, last_high;
    epilogue end;
    xpu_tensor x, weights, bias, branch, w_scale, absmax, y;
} conv;

enum { MAX_MACS = 1 << 20 };

static int64_t macs(const conv *v) {
    return v->n * v->out[0] * v->out[1] * v->o * (v->c / v->groups) * v->kernel[0] * v->kernel[1];
}

static void draw_channels(rig *r, conv *v, conv_kind kind) {
    static const int64_t group_sizes[] = {1, 2, 3, 4, 5, 7, 8, 16, 17, 32, 40, 64};
    v->groups = kind == DENSE ? 1 : draw(r, 0, 3) ? draw(r, 1, 8) : draw(r, 1, 50);
    if (kind == DEPTHWISE) {
        v->c = v->o = v->groups = draw(r, 0, 1) ? draw(r, 2, 200) : 16 * draw(r, 1, 12);
    } else if (kind == GROUPED) {
        v->c = v->groups * group_sizes[draw(r, 0, 11)];
        v->o = v->groups * group_sizes[draw(r, 0, 11)];
    } else {
        v->c = draw(r, 0, 1) ? draw(r, 1, 200) : 16 * draw(r, 1, 8);
        v->o = draw(r, 0, 1) ? draw(r, 1, 200) : 16 * draw(r, 1, 8);
    }
}

static void draw_window(rig *r, conv *v, int pointwise) {
    int64_t size[2] = {draw(r, 0, 4) ? draw(r, 1, 12) : 1, draw(r, 0, 4) ? draw(r, 1, 20) : draw(r, 1, 150)};
    for (int i = 0; i < 2; i++) {
        v->kernel[i] = pointwise ? 1 : draw(r, 0, 7) ? draw(r, 1, 5) : draw(r, 1, 12);
        v->stride[i] = draw(r, 0, 2) ? 1 : draw(r, 1, 4);
        v->dilation[i] = draw(r, 0, 3) ? 1 : draw(r, 1, 4);
        int64_t extent = (v->kernel[i] - 1) * v->dilation[i] + 1;
        v->pads[i] = draw(r, 0, 1) ? extent / 2 : draw(r, 0, extent);
        v->pads[2 + i] = draw(r, 0, 1) ? extent / 2 : draw(r, 0, extent);
        int64_t missing = extent - size[i] - v->pads[i] - v->pads[2 + i];
        if (missing > 0) size[i] += missing;
        v->out[i] = (size[i] + v->pads[i] + v->pads[2 + i] - extent) / v->stride[i] + 1;
    }
    v->h = size[0], v->w = size[1];
}

static conv draw_conv(rig *r, conv_kind kind) {
    conv v = {.n = draw(r, 0, 4) ? 1 : draw(r, 2, 16), .end = draw_epilogue(r)};
    do {
        draw_channels(r, &v, kind);
        draw_window(r, &v, kind != DEPTHWISE && draw(r, 0, 3) == 0);
        if (macs(&v) > MAX_MACS) v.n = 1;
    } while (macs(&v) > MAX_MACS || v.c * v.h * v.w * v.n > 200000 || v.o * v.out[0] * v.out[1] * v.n > 200000);
    return v;
}

/* Zeros of both signs, and the least numbers: most of their products are zeros as well. */
static void fill_with_zeros(rig *r, xpu_tensor *tensor) {
    static const float zeros[] = {0.0f, -0.0f, 0x1p-149f, -0x1p-149f};
    const int64_t few = draw(r, 0, 1) ? 1 : 3; /* of one sign, or all */
    for (int64_t i = 0; i < xpu_tensor_count(tensor); i++) ((float *)tensor->data)[i] = zeros[draw(r, 0, few)];
}

/* Whole factors of the image, of one or both axes. */
static void draw_repeats(rig *r, conv *v) {
    for (int i = 0; i < 2; i++) {
        do v->repeat[i] = draw(r, 1, v->out[i] < 8 ? v->out[i] : 8);
        while (v->out[i] % v->repeat[i] != 0);
    }
}

/* Every repeat[0]-th row and repeat[1]-th pixel of the branch; `spread`: all others become as these are. */
static xpu_tensor sampled(bench *b, xpu_tensor *branch, const int64_t *repeat, int spread) {
    const int64_t *d = branch->dims, rows = d[2] / repeat[0], columns = d[3] / repeat[1];
    xpu_tensor small = {.dtype = XPU_F32, .rank = 4, .dims = {d[0], d[1], rows, columns}};
    float *all = branch->data, *to = XPU_NEW_ARRAY(b->arena, float, xpu_tensor_count(&small));
    small.data = to;
    for (int64_t i = 0; i < xpu_tensor_count(branch); i++) {
        const int64_t plane = i / (d[2] * d[3]), y = i / d[3] % d[2], x = i % d[3];
        const int64_t from = (plane * d[2] + y / repeat[0] * repeat[0]) * d[3] + x / repeat[1] * repeat[1];
        if (spread) all[i] = all[from];
        if (from == i) to[(plane * rows + y / repeat[0]) * columns + x / repeat[1]] = all[i];
    }
    return small;
}

static void fill_conv(rig *r, bench *b, conv *v, xpu_precision precision) {
    static const xpu_dtype weights[] = {
        [XPU_PRECISION_FP32] = XPU_F32, [XPU_PRECISION_INT16] = XPU_I16, [XPU_PRECISION_INT16X8] = XPU_I8};
    xpu_dtype dtype = weights[precision];
    int is_int16 = precision != XPU_PRECISION_FP32;
    v->x = operand_random(b, r->random, XPU_F32, DIMS(v->n, v->c, v->h, v->w));
    if (draw(r, 0, 7) == 0) operand_spoil(r->random, &v->x, 500);
    if (draw(r, 0, 15) == 0) memset(v->x.data, 0, xpu_tensor_bytes(&v->x));
    v->weights = operand_random(b, r->random, dtype, DIMS(v->o, v->c / v->groups, v->kernel[0], v->kernel[1]));
    v->bias = operand_random(b, r->random, XPU_F32, DIMS(v->o));
    v->branch = operand_random(b, r->random, XPU_F32, DIMS(v->n, v->o, v->out[0], v->out[1]));
    if (draw(r, 0, 7) == 0) operand_spoil(r->random, &v->bias, 10);
    if (draw(r, 0, 3) == 0) {
        fill_with_zeros(r, &v->x);
        fill_with_zeros(r, &v->bias);
    }
    if (draw(r, 0, 7) == 0) operand_spoil(r->random, &v->branch, 100);
    if (v->repeat[0]) sampled(b, &v->branch, v->repeat, 1);
    v->w_scale = operand_random(b, r->random, XPU_F32, DIMS(v->o));
    for (int64_t i = 0; i < v->o; i++) {
        float *s = (float *)v->w_scale.data + i;
        *s = (fabsf(*s) + 0.001f) / 32767.0f;
    }
    v->absmax = operand_random(b, r->random, XPU_F32, 0, NULL);
    *(float *)v->absmax.data = xa_absmax_of(v->x.data, (size_t)xpu_tensor_count(&v->x));
    const xpu_tensor *inputs[XPU_IN_COUNT] = {&v->x,
                                              &v->weights,
                                              v->end.has_bias ? &v->bias : NULL,
                                              v->end.has_branch ? &v->branch : NULL,
                                              is_int16 ? &v->w_scale : NULL,
                                              is_int16 ? &v->absmax : NULL};
    xpu_attr attrs[5 + EPILOGUE_ATTRS + LAST_ATTRS] = {
        XPU_ATTR_INTS_OF(STRIDES, v->stride, 2), XPU_ATTR_INTS_OF(DILATIONS, v->dilation, 2),
        XPU_ATTR_INTS_OF(PADS, v->pads, 4), XPU_ATTR_INT_OF(GROUP, v->groups), XPU_ATTR_INT_OF(PRECISION, precision)};
    set_attrs(&v->end, attrs + 5);
    attrs[5 + EPILOGUE_ATTRS] = XPU_ATTR_FLOAT_OF(LAST_LOW, v->last_low);
    attrs[6 + EPILOGUE_ATTRS] = XPU_ATTR_FLOAT_OF(LAST_HIGH, v->last_high);
    v->y = operand_reference(b, XPU_OP_CONV, inputs, XPU_IN_COUNT, attrs,
                             5 + EPILOGUE_ATTRS + (v->clips_last ? LAST_ATTRS : 0));
}

static void begin_conv(rig *r, const conv *v, const char *kernel) {
    rig_describe(r,
                 "%s: %lld x %lld x %lld x %lld to %lld, %lld groups, kernel %lld x %lld, stride %lld, %lld, dilation "
                 "%lld, %lld, pads %lld, %lld, %lld, %lld, bias %d, branch %d after %d, activation %d",
                 kernel, (long long)v->n, (long long)v->h, (long long)v->w, (long long)v->c, (long long)v->o,
                 (long long)v->groups, (long long)v->kernel[0], (long long)v->kernel[1], (long long)v->stride[0],
                 (long long)v->stride[1], (long long)v->dilation[0], (long long)v->dilation[1], (long long)v->pads[0],
                 (long long)v->pads[1], (long long)v->pads[2], (long long)v->pads[3], v->end.has_bias,
                 v->end.has_branch, (int)v->end.branch_after, (int)v->end.activation);
}

static uint32_t place_packed(rig *r, bench *b, const xpu_packing *packing, const xpu_tensor *weights) {
    uint32_t bytes = (uint32_t)xpu_packed_bytes(packing, weights->dtype, (uint64_t)xpu_tensor_count(weights));
    void *packed = xpu_alloc(b->arena, bytes);
    CU_ASSERT_FATAL(bytes > 0 && xpu_pack(packing, weights, packed) == XPU_OK);
    return rig_place(r, packed, bytes, 4);
}

static xpu_packing packing_of(const conv *v, xpu_packing_kind kind) {
    return (xpu_packing){.kind = kind,
                         .out_c = (int32_t)v->o,
                         .in_c = (int32_t)v->c,
                         .kernel_h = (int32_t)v->kernel[0],
                         .kernel_w = (int32_t)v->kernel[1],
                         .groups = (int32_t)v->groups};
}

/* Room for the largest magnitude of the result, or 0: nobody wants it. */
static uint32_t expect_absmax(rig *r, const conv *v) {
    xpu_tensor most = v->absmax;
    float value = xa_absmax_of(v->y.data, (size_t)xpu_tensor_count(&v->y));
    if (draw(r, 0, 1)) return 0;
    most.data = &value;
    return operand_expect(r, &most);
}

/* What the argument structs of the three convolutions have in common. */
#define SET_CONV(args, r, b, v)                                                                                        \
    do {                                                                                                               \
        (args)->x = operand_place_image(r, b, &(v)->x);                                                                \
        (args)->bias = operand_place(r, (v)->end.has_bias ? &(v)->bias : NULL);                                        \
        (args)->branch = operand_place_image(r, b, (v)->end.has_branch ? &(v)->branch : NULL);                         \
        (args)->y = operand_expect_pixels(r, b, &(v)->y, 1, &(args)->y_pixel);                                         \
        (args)->batch = (int32_t)(v)->n, (args)->in_h = (int32_t)(v)->h, (args)->in_w = (int32_t)(v)->w;               \
        (args)->in_c = (int32_t)(v)->c, (args)->out_c = (int32_t)(v)->o, (args)->groups = (int32_t)(v)->groups;        \
        (args)->out_h = (int32_t)(v)->y.dims[2], (args)->out_w = (int32_t)(v)->y.dims[3];                              \
        (args)->kernel_h = (int32_t)(v)->kernel[0], (args)->kernel_w = (int32_t)(v)->kernel[1];                        \
        (args)->stride_h = (int32_t)(v)->stride[0], (args)->stride_w = (int32_t)(v)->stride[1];                        \
        (args)->dilation_h = (int32_t)(v)->dilation[0], (args)->dilation_w = (int32_t)(v)->dilation[1];                \
        (args)->pad_top = (int32_t)(v)->pads[0], (args)->pad_left = (int32_t)(v)->pads[1];                             \
        SET_EPILOGUE(args, &(v)->end);                                                                                 \
        (args)->y_absmax = expect_absmax(r, v);                                                                        \
    } while (0)

static void call_conv_f32(rig *r, bench *b, conv v) {
    struct xpu_conv2d_f32_args a;
    xpu_packing packing = packing_of(&v, XPU_PACK_CONV_F32);
    begin_conv(r, &v, "conv2d_f32");
    fill_conv(r, b, &v, XPU_PRECISION_FP32);
    SET_CONV(&a, r, b, &v);
    a.w = place_packed(r, b, &packing, &v.weights);
    rig_call(r, XPU_CALL_conv2d_f32, 0, &a, sizeof a);
}
static void add_conv_f32(rig *r, bench *b) {
    call_conv_f32(r, b, draw_conv(r, (conv_kind)draw(r, DENSE, GROUPED)));
}
/* A product of one to five rows: up to four have a kernel of their own. */
static void add_rows(rig *r, bench *b) {
    conv v = {.c = draw(r, 1, 400), .o = draw(r, 1, 400), .end = draw_epilogue(r), .h = 1, .groups = 1};
    int64_t rows = draw(r, 1, 5), as_images = draw(r, 0, 1);
    v.n = as_images ? rows : 1;
    v.w = as_images ? 1 : rows;
    v.out[0] = v.h, v.out[1] = v.w;
    for (int i = 0; i < 2; i++) v.kernel[i] = v.stride[i] = v.dilation[i] = 1;
    call_conv_f32(r, b, v);
}
static void rows(void) {
    rig_on_each_chip("conv2d_f32 of few rows", 40, add_rows);
}
static void conv_f32(void) {
    rig_on_each_chip("conv2d_f32", 40, add_conv_f32);
}

static void call_depthwise(rig *r, bench *b, conv v) {
    struct xpu_depthwise_f32_args a;
    xpu_packing packing = packing_of(&v, XPU_PACK_DEPTHWISE_F32);
    begin_conv(r, &v, "depthwise_f32");
    fill_conv(r, b, &v, XPU_PRECISION_FP32);
    SET_CONV(&a, r, b, &v);
    a.w = place_packed(r, b, &packing, &v.weights);
    a.late_share = (int32_t)draw(r, -1, 400);
    rig_call(r, XPU_CALL_depthwise_f32, 0, &a, sizeof a);
}
static void add_depthwise(rig *r, bench *b) {
    call_depthwise(r, b, draw_conv(r, DEPTHWISE));
}
/* Hard swish follows windows that go in strips, on chips with room for one: xpu_codegen/choose/prologue.c. */
static void add_swish(rig *r, bench *b) {
    enum { LEAST_LM = 32768 };
    conv v;
    do {
        v = draw_conv(r, DEPTHWISE);
        v.kernel[0] = v.kernel[1] = draw(r, 0, 1) ? 3 : 5;
        if (draw(r, 0, 3) == 0) v.kernel[0] = draw(r, 1, v.kernel[1]);
        for (int i = 0; i < 2; i++) {
            const int64_t size = (i ? v.w : v.h) + v.pads[i] + v.pads[2 + i];
            v.dilation[i] = 1;
            v.stride[i] = v.stride[i] < 2 ? v.stride[i] : 2;
            v.out[i] = size < v.kernel[i] ? 0 : (size - v.kernel[i]) / v.stride[i] + 1;
        }
    } while (v.out[0] < 1 || v.out[1] < 1 || macs(&v) > MAX_MACS);
    v.end.has_branch = 0;
    if (r->chip.lm_bytes >= LEAST_LM) {
        v.end.activation = XPU_ACTIVATION_HARD_SWISH;
        v.end.alpha = 1, v.end.low = -0.0f;
    }
    call_depthwise(r, b, v);
}
static void depthwise(void) {
    rig_on_each_chip("depthwise_f32", 40, add_depthwise);
    rig_on_each_chip("depthwise_f32 and hard swish", 40, add_swish);
}

/* ---- The tensor engine ---- */

/* x as planes instead of channel last. */
static void place_planes(rig *r, const xpu_tensor *x, struct xpu_conv2d_i16_args *a) {
    a->x = operand_place(r, x);
    a->x_plane = a->x_image / a->in_c;
    a->x_row /= a->in_c, a->x_pixel /= a->in_c;
    rig_describe(r, "planes");
}

static void add_conv_i16(rig *r, bench *b) {
    conv v = draw_conv(r, (conv_kind)draw(r, DENSE, DEPTHWISE));
    struct xpu_conv2d_i16_args a = {.x_plane = sizeof(float)};
    int narrow = (int)draw(r, 0, 1);
    xpu_packing packing = packing_of(&v, narrow ? XPU_PACK_CONV_I8 : XPU_PACK_CONV_I16);
    if (!v.end.has_branch && draw(r, 0, 3) == 0) draw_swish(r, &v.end);
    if (v.end.has_branch && draw(r, 0, 1)) draw_repeats(r, &v);
    v.clips_last = v.end.activation != XPU_ACTIVATION_HARD_SWISH && draw(r, 0, 1);
    v.last_low = draw(r, 0, 1) ? -0.25f : 0.0f, v.last_high = draw(r, 0, 1) ? 0.5f : (float)INFINITY;
    begin_conv(r, &v, narrow ? "conv2d_i16 with int8 weights" : "conv2d_i16");
    fill_conv(r, b, &v, narrow ? XPU_PRECISION_INT16X8 : XPU_PRECISION_INT16);
    SET_CONV(&a, r, b, &v);
    a.w_int8 = narrow;
    a.clips_last = v.clips_last, a.last_low = v.last_low, a.last_high = v.last_high;
    a.repeat_h = (int32_t)v.repeat[0], a.repeat_w = (int32_t)v.repeat[1];
    if (a.repeat_h) {
        const xpu_tensor branch = sampled(b, &v.branch, v.repeat, 0);
        a.branch = operand_place_image(r, b, &branch);
    }
    a.sm = rig_sm() + 64 * (uint32_t)draw(r, 0, 20);
    DRAW_TILE(r, &a, v.end.has_branch, narrow ? XPU_TILING_I16X8 : XPU_TILING_I16);
    if (draw(r, 0, 2) == 0) place_planes(r, &v.x, &a);
    packing.columns = (int32_t)r->chip.array_columns;
    packing.tile_c = a.tile_c;
    a.w = place_packed(r, b, &packing, &v.weights);
    a.w_scale = operand_place(r, &v.w_scale);
    a.x_absmax = operand_place(r, &v.absmax);
    if (a.whole & XPU_TILE_SCALES && draw(r, 0, 1)) a.whole |= XPU_TILE_LATE_SCALES;
    rig_describe(r, "tile %d x %d, %d channels, branch repeated %d x %d, last clip %d", a.tile_h, a.tile_w, a.tile_c,
                 a.repeat_h, a.repeat_w, a.clips_last);
    rig_call(r, XPU_CALL_conv2d_i16, 0, &a, sizeof a);
}
static void conv_i16(void) {
    rig_on_each_chip("conv2d_i16", 40, add_conv_i16);
}

/* ---- Products of two matrices ---- */

static void add_matmul(rig *r, bench *b) {
    int64_t batch = draw(r, 0, 2) ? draw(r, 1, 5) : 1, m, k, n;
    do m = draw(r, 1, 100), k = draw(r, 1, 150), n = draw(r, 1, 150);
    while (batch * m * k * n > MAX_MACS);
    if (draw(r, 0, 2) == 0) m = draw(r, 1, 4);
    int64_t a_batch = draw(r, 0, 2) ? batch : 1, b_batch = a_batch == batch && draw(r, 0, 1) ? 1 : batch;
    int transposed = m <= XPU_FEW_ROWS && draw(r, 0, 1);
    epilogue end = draw_epilogue(r);
    rig_describe(r, "matmul_f32%s: %lld of %lld x %lld x %lld (%lld, %lld), bias %d, branch %d after %d, activation %d",
                 transposed ? ", transposed" : "", (long long)batch, (long long)m, (long long)k, (long long)n,
                 (long long)a_batch, (long long)b_batch, end.has_bias, end.has_branch, (int)end.branch_after,
                 (int)end.activation);
    xpu_tensor x = operand_random(b, r->random, XPU_F32, DIMS(a_batch, m, k));
    xpu_tensor w = operand_random(b, r->random, XPU_F32, DIMS(b_batch, k, n));
    xpu_tensor bias = operand_random(b, r->random, XPU_F32, DIMS(n));
    xpu_tensor branch = operand_random(b, r->random, XPU_F32, DIMS(batch, m, n));
    if (draw(r, 0, 3) == 0) {
        fill_with_zeros(r, &x);
        fill_with_zeros(r, &bias);
    }
    const xpu_tensor *inputs[] = {&x, &w, end.has_bias ? &bias : NULL, end.has_branch ? &branch : NULL};
    xpu_attr attrs[EPILOGUE_ATTRS];
    set_attrs(&end, attrs);
    xpu_tensor y = operand_reference(b, XPU_OP_MATMUL, inputs, 4, attrs, EPILOGUE_ATTRS);
    struct xpu_matmul_f32_args a = {.batch = (int32_t)batch, .m = (int32_t)m, .k = (int32_t)k, .n = (int32_t)n};
    a.a_batch_stride = a_batch == 1 ? 0 : (int32_t)(m * k);
    a.b_batch_stride = b_batch == 1 ? 0 : (int32_t)(k * n);
    SET_EPILOGUE(&a, &end);
    a.a = operand_place(r, &x);
    a.b_transposed = transposed;
    xpu_tensor stored = operand_random(b, r->random, XPU_F32, DIMS(b_batch, n, k));
    for (int64_t i = 0; i < b_batch * k * n; i++) {
        int64_t matrix = i / (k * n), row = i / n % k, column = i % n;
        ((float *)stored.data)[(matrix * n + column) * k + row] = ((const float *)w.data)[i];
    }
    a.b = operand_place(r, transposed ? &stored : &w);
    a.bias = operand_place(r, inputs[2]);
    a.branch = operand_place(r, inputs[3]);
    a.y = operand_expect(r, &y);
    rig_call(r, XPU_CALL_matmul_f32, 0, &a, sizeof a);
}
static void matmul(void) {
    rig_on_each_chip("matmul_f32", 30, add_matmul);
}

static void sequences(void) {
    static const rig_add adds[] = {add_conv_f32, add_depthwise, add_conv_i16, add_conv_i16, add_matmul, add_rows};
    rig_sequences("sequences", 10, adds, (int)(sizeof adds / sizeof *adds));
}

XPU_TEST_MAIN("kernels_conv", {"conv2d_f32", conv_f32}, {"few rows", rows}, {"depthwise_f32", depthwise},
              {"conv2d_i16", conv_i16}, {"matmul_f32", matmul}, {"sequences", sequences})
