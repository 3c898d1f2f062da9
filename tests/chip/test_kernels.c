/*
 * The kernels that move data or work element by element, on the functional chip against the reference kernels: random
 * geometries, bit for bit. The matrix-like ones are in test_kernels_conv.c.
 */
#include "core/arith.h"
#include "tests/chip/rig/operands.h"

/* Sizes that matter: often 1, often around a vector. */
static int64_t draw_size(rig *r, int64_t most) {
    int64_t kind = draw(r, 0, 5);
    int64_t size = kind == 0 ? 1 : kind == 1 ? 16 * draw(r, 1, 8) + draw(r, -1, 1) : draw(r, 1, most);
    return size < most ? size : most;
}

/* ---- fill, absmax ---- */

static void add_fill(rig *r, bench *b) {
    struct xpu_fill_args a = {.count = (int32_t)draw_size(r, draw(r, 0, 3) ? 5000 : 300000),
                              .value = random_float(r->random)};
    rig_describe(r, "fill %d", a.count);
    xpu_tensor y = operand_random(b, r->random, XPU_F32, DIMS(a.count));
    for (int32_t i = 0; i < a.count; i++) ((float *)y.data)[i] = a.value;
    a.y = operand_expect(r, &y);
    rig_call(r, XPU_CALL_fill, 0, &a, sizeof a);
}
static void fill(void) {
    rig_on_each_chip("fill", 8, add_fill);
}

static void add_absmax(rig *r, bench *b) {
    struct xpu_absmax_f32_args a = {.count = (int32_t)draw_size(r, draw(r, 0, 3) ? 3000 : 100000)};
    rig_describe(r, "absmax of %d", a.count);
    xpu_tensor x = operand_random(b, r->random, XPU_F32, DIMS(a.count));
    if (draw(r, 0, 3) == 0) operand_spoil(r->random, &x, a.count);
    if (draw(r, 0, 5) == 0) memset(x.data, 0, xpu_tensor_bytes(&x));
    const xpu_tensor *const inputs[] = {&x};
    xpu_tensor y = operand_reference(b, XPU_OP_ABSMAX, inputs, 1, NULL, 0);
    a.x = operand_place(r, &x);
    a.y = operand_expect(r, &y);
    rig_call(r, XPU_CALL_absmax_f32, 0, &a, sizeof a);
}
static void absmax(void) {
    rig_on_each_chip("absmax", 15, add_absmax);
}

/* Some channels of each pixel; the others are larger. */
static void add_absmax_rows(rig *r, bench *b) {
    struct xpu_absmax_rows_f32_args a = {.rows = (int32_t)draw_size(r, draw(r, 0, 3) ? 100 : 2000)};
    a.count = (int32_t)draw_size(r, 40000 / a.rows);
    a.pitch = a.count + draw(r, 0, 70);
    const int32_t first = draw(r, 0, a.pitch - a.count);
    rig_describe(r, "absmax of %d rows of %d, %d apart, from %d on", a.rows, a.count, a.pitch, first);
    xpu_tensor x = operand_random(b, r->random, XPU_F32, DIMS(a.rows, a.pitch)), y = {.dtype = XPU_F32};
    float most = 0;
    for (int32_t i = 0; i < a.rows * a.pitch; i++) {
        float *at = (float *)x.data + i;
        const int32_t column = i % a.pitch - first;
        if (column < 0 || column >= a.count)
            *at = 1e30f;
        else
            most = xa_absmax(most, *at);
    }
    y.data = xpu_copy(b->arena, &most, sizeof most);
    a.x = operand_place(r, &x) + 4 * (uint32_t)first;
    a.y = operand_expect(r, &y);
    rig_call(r, XPU_CALL_absmax_rows_f32, 0, &a, sizeof a);
}
static void absmax_rows(void) {
    rig_on_each_chip("absmax of rows", 15, add_absmax_rows);
}

/* ---- softmax ---- */

/* Differences whose exp is around 2^-100, subnormal, and 0; masked elements. */
static void spread(rig *r, float *x, int32_t count) {
    const float most = (float)draw(r, 30, 80);
    const int64_t masked = draw(r, 0, 2);
    for (int32_t i = 0; i < count; i++) {
        x[i] *= most;
        if (masked && draw(r, 0, 3) == 0) x[i] = masked == 1 ? -__builtin_inff() : -1e9f;
    }
}

static void add_softmax(rig *r, bench *b) {
    struct xpu_softmax_f32_args a = {.outer = (int32_t)draw_size(r, 20), .inner = 1};
    a.count = (int32_t)draw_size(r, 200);
    if (draw(r, 0, 1)) a.inner = (int32_t)draw_size(r, 150);
    if (draw(r, 0, 9) == 0) a.count = (int32_t)draw(r, 2000, 20000), a.outer = (int32_t)draw(r, 1, 3), a.inner = 1;
    if (draw(r, 0, 9) == 0) a.count = (int32_t)draw(r, 200, 400), a.outer = 1, a.inner = 70;
    rig_describe(r, "softmax %d x %d x %d", a.outer, a.count, a.inner);
    xpu_tensor x = operand_random(b, r->random, XPU_F32, DIMS(a.outer, a.count, a.inner));
    if (draw(r, 0, 1)) spread(r, x.data, a.outer * a.count * a.inner);
    if (draw(r, 0, 3) == 0) operand_spoil(r->random, &x, 200);
    const xpu_tensor *const inputs[] = {&x};
    const xpu_attr attrs[] = {XPU_ATTR_INT_OF(AXIS, 1)};
    xpu_tensor y = operand_reference(b, XPU_OP_SOFTMAX, inputs, 1, attrs, 1);
    a.x = operand_place(r, &x);
    a.y = operand_expect(r, &y);
    rig_call(r, XPU_CALL_softmax_f32, 0, &a, sizeof a);
}
/* ---- norms ---- */

static void add_norm(rig *r, bench *b) {
    struct xpu_norm_f32_args a = {.rows = (int32_t)draw_size(r, 30), .centred = (int32_t)draw(r, 0, 1)};
    const int64_t has_scale = draw(r, 0, 2), has_bias = draw(r, 0, 2), has_absmax = draw(r, 0, 1);
    a.count = (int32_t)draw_size(r, 300);
    a.epsilon = draw(r, 0, 3) ? 1e-5f : 0.0f;
    if (draw(r, 0, 9) == 0) a.count = (int32_t)draw(r, 1, 5), a.rows = (int32_t)draw(r, 100, 500);
    if (draw(r, 0, 9) == 0) a.count = (int32_t)draw(r, 500, 20000), a.rows = (int32_t)draw(r, 1, 3);
    rig_describe(r, "norm of %d x %d%s%s%s", a.rows, a.count, a.centred ? ", centred" : "", has_scale ? ", scale" : "",
                 has_bias ? ", bias" : "");
    xpu_tensor x = operand_random(b, r->random, XPU_F32, DIMS(a.rows, a.count));
    xpu_tensor scale = operand_random(b, r->random, XPU_F32, DIMS(a.count)),
               bias = operand_random(b, r->random, XPU_F32, DIMS(a.count));
    if (draw(r, 0, 3) == 0) operand_spoil(r->random, &x, 300);
    const xpu_tensor *const inputs[] = {&x, has_scale ? &scale : NULL, has_bias ? &bias : NULL};
    const xpu_attr attrs[] = {XPU_ATTR_FLOAT_OF(EPSILON, a.epsilon), XPU_ATTR_INT_OF(CENTRED, a.centred)};
    xpu_tensor y = operand_reference(b, XPU_OP_NORM, inputs, 3, attrs, 2), absmax = {.dtype = XPU_F32};
    a.x = operand_place(r, &x);
    a.scale = operand_place(r, inputs[1]);
    a.bias = operand_place(r, inputs[2]);
    a.y = operand_expect(r, &y);
    if (has_absmax) {
        absmax.data = xpu_alloc(b->arena, sizeof(float));
        *(float *)absmax.data = xa_absmax_of(y.data, (size_t)xpu_tensor_count(&y));
        a.y_absmax = operand_expect(r, &absmax);
    }
    rig_call(r, XPU_CALL_norm_f32, 0, &a, sizeof a);
}
static void norms(void) {
    rig_on_each_chip("norms", 80, add_norm);
}

/* ---- reductions ---- */

static void add_reduce(rig *r, bench *b) {
    struct xpu_reduce_f32_args a = {.outer = (int32_t)draw_size(r, 40), .inner = 1, .kind = (int32_t)draw(r, 0, 4)};
    a.count = (int32_t)draw_size(r, 300);
    if (draw(r, 0, 1)) a.inner = (int32_t)draw_size(r, 150);
    if (draw(r, 0, 9) == 0) a.count = (int32_t)draw(r, 2000, 20000), a.outer = (int32_t)draw(r, 1, 3), a.inner = 1;
    if (draw(r, 0, 9) == 0) a.count = (int32_t)draw(r, 200, 400), a.outer = 1, a.inner = 70;
    if (draw(r, 0, 9) == 0) a.count = (int32_t)draw(r, 1, 5), a.outer = (int32_t)draw(r, 100, 500);
    rig_describe(r, "reduction %d of %d x %d x %d", a.kind, a.outer, a.count, a.inner);
    xpu_tensor x = operand_random(b, r->random, XPU_F32, DIMS(a.outer, a.count, a.inner));
    if (draw(r, 0, 3) == 0) operand_spoil(r->random, &x, 200);
    const xpu_tensor *const inputs[] = {&x};
    const xpu_attr attrs[] = {XPU_ATTR_INT_OF(AXIS, 1)};
    xpu_tensor y = operand_reference(b, (xpu_op_id)(XPU_OP_REDUCE_SUM + a.kind), inputs, 1, attrs, 1);
    a.x = operand_place(r, &x);
    a.y = operand_expect(r, &y);
    rig_call(r, XPU_CALL_reduce_f32, 0, &a, sizeof a);
}
/* Integers of any bits; a bool is any byte. */
static void add_reduce_int(rig *r, bench *b) {
    static const xpu_dtype types[] = {XPU_I8, XPU_U8, XPU_BOOL, XPU_I32, XPU_U32, XPU_I64, XPU_U64};
    const xpu_dtype dtype = types[draw(r, 0, 6)];
    int is_byte = xpu_dtype_bytes(dtype) == 1;
    struct xpu_reduce_int_args a = {.outer = (int32_t)draw_size(r, 40), .inner = 1};
    a.kind = (int32_t)(is_byte ? draw(r, XA_REDUCE_MAX, XA_REDUCE_MIN) : draw(r, XA_REDUCE_SUM, XA_REDUCE_PROD));
    a.size = is_byte ? 0 : xpu_dtype_bytes(dtype) == 4 ? 2 : 3;
    a.is_signed = dtype == XPU_I8 || dtype == XPU_I32 || dtype == XPU_I64;
    a.is_bool = dtype == XPU_BOOL;
    a.count = (int32_t)draw_size(r, 300);
    if (draw(r, 0, 1)) a.inner = (int32_t)draw_size(r, 150);
    if (draw(r, 0, 9) == 0) a.count = (int32_t)draw(r, 2000, 20000), a.outer = (int32_t)draw(r, 1, 3), a.inner = 1;
    if (draw(r, 0, 9) == 0) a.count = (int32_t)draw(r, 200, 400), a.outer = 1, a.inner = 70;
    if (draw(r, 0, 9) == 0) a.count = (int32_t)draw(r, 1, 5), a.outer = (int32_t)draw(r, 100, 500);
    rig_describe(r, "reduction %d of %s, %d x %d x %d", a.kind, xpu_dtype_name(dtype), a.outer, a.count, a.inner);
    xpu_tensor x = operand_random(b, r->random, dtype, DIMS(a.outer, a.count, a.inner));
    if (draw(r, 0, 1)) { /* small numbers, as products of others end as 0; and many that are 0 */
        int64_t step = (int64_t)xpu_dtype_bytes(dtype);
        for (int64_t i = 0; i < step * a.outer * a.count * a.inner; i++) {
            uint8_t *byte = (uint8_t *)x.data + i;
            *byte = i % step == 0 ? (uint8_t)(draw(r, 0, 2) | !draw(r, 0, 3)) : 0;
        }
    }
    const xpu_tensor *const inputs[] = {&x};
    const xpu_attr attrs[] = {XPU_ATTR_INT_OF(AXIS, 1)};
    xpu_tensor y = operand_reference(b, (xpu_op_id)(XPU_OP_REDUCE_SUM + a.kind), inputs, 1, attrs, 1);
    a.x = operand_place(r, &x);
    a.y = operand_expect(r, &y);
    rig_call(r, XPU_CALL_reduce_int, 0, &a, sizeof a);
}
static void reductions(void) {
    rig_on_each_chip("reductions", 60, add_reduce);
    rig_on_each_chip("reductions of integers", 120, add_reduce_int);
}

static void softmax(void) {
    rig_on_each_chip("softmax", 100, add_softmax);
}

/* ---- copy_nd ---- */

/* Strides of a dense box whose dims lie in a drawn order, some with room between; returns the elements it spans. */
static int64_t draw_strides(rig *r, const int32_t *size, int32_t *stride, int keep_last) {
    int order[XPU_COPY_DIMS];
    for (int i = 0; i < XPU_COPY_DIMS; i++) order[i] = i;
    for (int i = 0; i < XPU_COPY_DIMS - keep_last; i++) {
        int j = (int)draw(r, i, XPU_COPY_DIMS - 1 - keep_last), swap = order[i];
        order[i] = order[j];
        order[j] = swap;
    }
    int64_t step = 1;
    for (int i = XPU_COPY_DIMS - 1; i >= 0; i--) {
        stride[order[i]] = (int32_t)step;
        step = step * size[order[i]] + (draw(r, 0, 3) ? 0 : draw(r, 0, 3));
    }
    return step;
}

static void copy_box(const int32_t *size, const int32_t *xs, const int32_t *ys, size_t bytes, const uint8_t *x,
                     uint8_t *y) {
    int32_t at[XPU_COPY_DIMS] = {0};
    for (;;) {
        int64_t from = 0, to = 0;
        for (int i = 0; i < XPU_COPY_DIMS; i++) from += (int64_t)at[i] * xs[i], to += (int64_t)at[i] * ys[i];
        memcpy(y + to * (int64_t)bytes, x + from * (int64_t)bytes, bytes);
        int i = XPU_COPY_DIMS - 1;
        for (; i >= 0 && ++at[i] == size[i]; i--) at[i] = 0;
        if (i < 0) return;
    }
}

/* Places operands that the copy spans, and calls it. */
static void place_copy(rig *r, bench *b, struct xpu_copy_nd_args *a, int64_t x_span, int64_t y_span) {
    rig_describe(r, "copy of %d-byte elements %d x %d x %d x %d x %d x %d", a->element_bytes, a->d[0], a->d[1], a->d[2],
                 a->d[3], a->d[4], a->d[5]);
    size_t bytes = (size_t)a->element_bytes;
    xpu_tensor x = operand_random(b, r->random, XPU_U8, DIMS((x_span + 40) * a->element_bytes));
    xpu_tensor y = operand_random(b, r->random, XPU_U8, DIMS((y_span + 40) * a->element_bytes));
    a->x = operand_place(r, &x);
    a->y = operand_place(r, &y);
    copy_box(a->d, a->xs, a->ys, bytes, (uint8_t *)x.data + (size_t)a->x_offset * bytes,
             (uint8_t *)y.data + (size_t)a->y_offset * bytes);
    rig_expect(r, a->y, y.data, (uint32_t)xpu_tensor_bytes(&y));
    rig_call(r, XPU_CALL_copy_nd, 0, a, sizeof *a);
}

static void add_copy(rig *r, bench *b) {
    static const int32_t element[] = {1, 2, 4, 4, 8};
    struct xpu_copy_nd_args a = {.element_bytes = element[draw(r, 0, 4)]};
    int32_t *size = a.d, *xs = a.xs, *ys = a.ys, total = 1;
    for (int i = XPU_COPY_DIMS - 1; i >= 0; i--) {
        int32_t most = 4000 / total < 12 ? 4000 / total : 12;
        size[i] = draw(r, 0, 2) == 0 ? 1 : (int32_t)draw(r, 1, most > 1 ? most : 1);
        total *= size[i];
    }
    int64_t x_span = draw_strides(r, size, xs, a.element_bytes == 8),
            y_span = draw_strides(r, size, ys, a.element_bytes == 8);
    a.x_offset = (int32_t)draw(r, 0, 20), a.y_offset = (int32_t)draw(r, 0, 20);
    if (draw(r, 0, 3) == 0 && size[0] > 1) a.x_offset += (size[0] - 1) * xs[0], xs[0] = -xs[0];
    place_copy(r, b, &a, x_span, y_span);
}

/* Planes that become pixels, or pixels that become planes: few and many, side by side and apart, of several images. */
static void add_weave(rig *r, bench *b) {
    static const int32_t element[] = {1, 2, 4};
    const int32_t channels = (int32_t)draw(r, 2, draw(r, 0, 1) ? 16 : 70), outer = (int32_t)draw(r, 0, 3);
    const int32_t images = draw(r, 0, 1) ? 1 : (int32_t)draw(r, 2, 3),
                  rows = draw(r, 0, 1) ? 1 : (int32_t)draw(r, 2, 4);
    const int32_t pixels = (int32_t)draw(r, 1, draw(r, 0, 1) ? 40 : 20000 / channels / images / rows);
    const int32_t plane = rows * pixels + (draw(r, 0, 1) ? 0 : (int32_t)draw(r, 1, 20)),
                  pixel = channels + (draw(r, 0, 1) ? 0 : (int32_t)draw(r, 1, 20)), last = (outer + 1) % 4;
    struct xpu_copy_nd_args a = {.element_bytes = element[draw(r, 0, 2)], .d = {1, 1, 1, 1, pixels, channels}};
    a.d[outer] = images, a.d[last] = rows;
    const int unweaves = draw(r, 0, 1) != 0;
    int32_t *planes = unweaves ? a.ys : a.xs, *dense = unweaves ? a.xs : a.ys;
    const int in_plane = unweaves ? 5 : 4, of_pixel = unweaves ? 4 : 5;
    a.d[in_plane] = pixels, a.d[of_pixel] = channels;
    planes[in_plane] = 1, planes[of_pixel] = plane, planes[last] = pixels, planes[outer] = plane * channels;
    dense[of_pixel] = 1, dense[in_plane] = pixel, dense[last] = pixel * pixels, dense[outer] = pixel * pixels * rows;
    if (draw(r, 0, 2)) a.x_offset = (int32_t)draw(r, 0, 20), a.y_offset = (int32_t)draw(r, 0, 20);
    const int64_t of_planes = (int64_t)plane * channels * images, of_pixels = (int64_t)pixel * pixels * rows * images;
    place_copy(r, b, &a, unweaves ? of_pixels : of_planes, unweaves ? of_planes : of_pixels);
}

/* More elements than a descriptor moves, one by one: as one descriptor they would take longer than the watchdog waits.
 */
static void add_large_copy(rig *r, bench *b) {
    static const int32_t element[] = {1, 2, 4, 8};
    struct xpu_copy_nd_args a = {.element_bytes = element[draw(r, 0, 3)]};
    int32_t *size = a.d;
    int is_long = draw(r, 0, 1);
    for (int i = 0; i < XPU_COPY_DIMS; i++) size[i] = 1;
    for (int i = 0; i < 3; i++) size[draw(r, 0, XPU_COPY_DIMS - 1)] = (int32_t)draw(r, 50, 75);
    if (is_long) size[draw(r, 0, XPU_COPY_DIMS - 1)] = (int32_t)draw(r, 70000, 140000);
    while ((int64_t)a.d[0] * a.d[1] * a.d[2] * a.d[3] * a.d[4] * a.d[5] > 420000) {
        int32_t *less = &size[draw(r, 0, XPU_COPY_DIMS - 1)];
        if (*less < 200) *less = (*less + 1) / 2;
    }
    int64_t x_span = draw_strides(r, size, a.xs, a.element_bytes == 8);
    int64_t y_span = draw_strides(r, size, a.ys, a.element_bytes == 8);
    place_copy(r, b, &a, x_span, y_span);
}

static void copy_nd(void) {
    rig_on_each_chip("copy_nd", 30, add_copy);
    rig_on_each_chip("copy_nd, large", 6, add_large_copy);
    rig_on_each_chip("copy_nd, woven", 40, add_weave);
}

/* ---- chain ---- */

static float body_on_host(xpu_call_body_id body, const float *v, const float *c) {
    switch (body) {
    case XPU_BODY_IDENTITY: return v[0];
    case XPU_BODY_AFFINE: return xa_clip(xa_mul_add(v[0], v[1], v[2]), c[0], c[1]);
    case XPU_BODY_SIX: return xa_sub(xa_mul(xa_sigmoid(xa_add(v[0], v[1])), xa_max(v[2], v[3])), xa_min(v[4], v[5]));
    case XPU_BODY_LEAKY: return xa_leaky_relu(v[0], c[0]);
    case XPU_BODY_MOST: return xa_sub(xa_mul(v[0], v[1]), v[2]);
    case XPU_BODY_COUNT: break;
    }
    return 0;
}

static const int32_t body_inputs[XPU_BODY_COUNT] = {1, 3, 6, 1, 3};

static void add_chain_of(rig *r, bench *b, xpu_call_kernel kernel) {
    xpu_call_body_id body = (xpu_call_body_id)draw(r, 0, XPU_BODY_LEAKY);
    struct xpu_chain_args a = {.inputs = body_inputs[body], .c = {-0.5f, 1.25f}};
    int32_t *size = a.d;
    int64_t total = 1;
    for (int d = 3; d >= 0; d--) {
        int64_t most = kernel == XPU_CALL_chain_planes && d >= 2 ? 64 / total : 20000 / total;
        size[d] = draw(r, 0, 2) == 0 ? 1
                                     : (int32_t)draw_size(r, most < 1                       ? 1
                                                             : d == 3 && draw(r, 0, 3) == 0 ? most
                                                             : most < 150                   ? most
                                                                                            : 150);
        total *= size[d];
    }
    rig_describe(r, "%s %d over %d x %d x %d x %d", kernel == XPU_CALL_chain ? "chain" : "chain_planes", (int)body,
                 a.d[0], a.d[1], a.d[2], a.d[3]);
    const float *data[6];
    for (int i = 0; i < a.inputs; i++) {
        int32_t *stride = a.strides + 4 * i;
        int64_t step = 1;
        for (int d = 3; d >= 0; d--) {
            int broadcast = draw(r, 0, 3) == 0;
            stride[d] = broadcast ? 0 : (int32_t)step;
            if (!broadcast) step *= size[d];
        }
        xpu_tensor x = operand_random(b, r->random, XPU_F32, DIMS(step));
        if (draw(r, 0, 3) == 0) operand_spoil(r->random, &x, 50);
        data[i] = x.data;
        a.x[i] = operand_place(r, &x);
    }
    xpu_tensor y = operand_random(b, r->random, XPU_F32, DIMS(total));
    for (int64_t e = 0; e < total; e++) {
        float v[6] = {0};
        for (int i = 0; i < a.inputs; i++) {
            int64_t at = 0, rest = e;
            for (int d = 3; d >= 0; rest /= size[d], d--) at += rest % size[d] * a.strides[4 * i + d];
            v[i] = data[i][at];
        }
        ((float *)y.data)[e] = body_on_host(body, v, a.c);
    }
    a.y = operand_expect(r, &y);
    rig_call(r, kernel, body, &a, sizeof a);
}

static void add_chain(rig *r, bench *b) {
    add_chain_of(r, b, XPU_CALL_chain);
}

static void add_chain_planes(rig *r, bench *b) {
    add_chain_of(r, b, XPU_CALL_chain_planes);
}

/* An operand whose pixels stand for several of the result's: in a row or column of `size` for each of a divisor, or
 * for all. */
static int32_t draw_repeat(rig *r, int32_t size) {
    static const int32_t divisors[] = {1, 2, 3, 4, 5, 8};
    const int32_t repeat = draw(r, 0, 5) ? divisors[draw(r, 0, 5)] : size;
    return size % repeat ? 1 : repeat;
}

/* Elements of operand i of `images` images. */
static int64_t draw_operand(rig *r, struct xpu_chain_image_args *a, int i) {
    const int64_t kind = draw(r, 0, 3);
    a->repeat_h[i] = kind == 0 ? 1 : kind == 1 ? a->height : draw_repeat(r, a->height);
    a->repeat_w[i] = kind == 0 ? 1 : kind == 1 ? a->width : draw_repeat(r, a->width);
    const int64_t image = (int64_t)a->height / a->repeat_h[i] * (a->width / a->repeat_w[i]) * a->channels;
    const int is_dense = a->repeat_h[i] == 1 && a->repeat_w[i] == 1;
    const int is_shared = (!is_dense || a->height * a->width == 1) && draw(r, 0, 1);
    a->image[i] = is_shared ? 0 : (int32_t)image;
    return is_shared ? image : image * a->batch;
}

static int64_t operand_at(const struct xpu_chain_image_args *a, int i, int64_t e) {
    const int64_t c = e % a->channels, w = e / a->channels % a->width, h = e / a->channels / a->width % a->height;
    const int64_t n = e / a->channels / a->width / a->height;
    return n * a->image[i] + (h / a->repeat_h[i] * (a->width / a->repeat_w[i]) + w / a->repeat_w[i]) * a->channels + c;
}

static void add_chain_image(rig *r, bench *b) {
    xpu_call_body_id body = (xpu_call_body_id)draw(r, 0, XPU_BODY_COUNT - 1);
    struct xpu_chain_image_args a = {.inputs = body_inputs[body], .c = {-0.5f, 1.25f}};
    const float *data[6];
    a.channels = (int32_t)draw_size(r, body == XPU_BODY_SIX ? 40 : 80); /* of more nano has no room for a pixel */
    a.batch = (int32_t)draw(r, 1, 3);
    a.height = draw(r, 0, 3) ? (int32_t)draw(r, 1, 12) : 1;
    const int64_t most = 30000 / (a.channels * a.batch * a.height);
    a.width = (int32_t)(draw(r, 0, 1) ? 4 * draw(r, 1, 6)
                                      : draw(r, 1,
                                             most > 60 && draw(r, 0, 3) ? 60
                                             : most < 1                 ? 1
                                                                        : most));
    if (draw(r, 0, 7) == 0) a.height = a.width = 1;
    a.pitch = a.channels + (draw(r, 0, 2) ? 0 : (int32_t)draw(r, 1, 40));
    rig_describe(r, "chain_image %d over %d x %d x %d x %d, pitch %d", (int)body, a.batch, a.height, a.width,
                 a.channels, a.pitch);
    const int64_t pixels = (int64_t)a.batch * a.height * a.width, total = pixels * a.channels;
    for (int i = 0; i < a.inputs; i++) {
        xpu_tensor x = operand_random(b, r->random, XPU_F32, DIMS(draw_operand(r, &a, i)));
        if (draw(r, 0, 3) == 0) operand_spoil(r->random, &x, 500);
        data[i] = x.data;
        a.x[i] = operand_place(r, &x);
    }
    xpu_tensor y = operand_random(b, r->random, XPU_F32, DIMS(pixels * a.pitch)), absmax = {.dtype = XPU_F32};
    a.y = operand_place(r, &y);
    float largest = 0;
    for (int64_t e = 0; e < total; e++) {
        float v[6] = {0}, *to = (float *)y.data + e / a.channels * a.pitch + e % a.channels;
        for (int i = 0; i < a.inputs; i++) v[i] = data[i][operand_at(&a, i, e)];
        *to = body_on_host(body, v, a.c);
        largest = xa_absmax(largest, *to);
    }
    rig_expect(r, a.y, y.data, (uint32_t)xpu_tensor_bytes(&y));
    if (body == XPU_BODY_MOST) {
        absmax.data = xpu_copy(b->arena, &largest, sizeof largest);
        a.y_absmax = operand_expect(r, &absmax);
    }
    rig_call(r, XPU_CALL_chain_image, body, &a, sizeof a);
}

static void chain(void) {
    rig_on_each_chip("chain", 40, add_chain);
    rig_on_each_chip("chain of planes", 40, add_chain_planes);
    rig_on_each_chip("chain over images", 60, add_chain_image);
}

/* ---- pooling ---- */

static void add_pool(rig *r, bench *b) {
    int is_max = (int)draw(r, 0, 1);
    int64_t n = draw(r, 0, 5) ? draw(r, 1, 2) : draw(r, 3, 16), c = draw_size(r, 150), h = draw(r, 1, 14),
            w = draw(r, 1, 20);
    int64_t kernel[2], stride[2], dilation[2], pads[4], extent[2], size[2] = {h, w};
    for (int i = 0; i < 2; i++) {
        kernel[i] = draw(r, 1, 5), stride[i] = draw(r, 1, 3), dilation[i] = draw(r, 0, 3) ? 1 : draw(r, 1, 3);
        if (draw(r, 0, 5) == 0) kernel[i] = size[i], dilation[i] = 1;
        extent[i] = (kernel[i] - 1) * dilation[i] + 1;
        pads[i] = draw(r, 0, 1) ? 0 : draw(r, 0, extent[i] - 1);
        pads[2 + i] = draw(r, 0, 1) ? 0 : draw(r, 0, extent[i] - 1);
        int64_t missing = extent[i] - size[i] - pads[i] - pads[2 + i];
        if (missing > 0) size[i] += missing;
    }
    int64_t ceil_mode = draw(r, 0, 1), include = !is_max && draw(r, 0, 1), by_columns = !is_max && draw(r, 0, 1);
    xpu_tensor x = operand_random(b, r->random, XPU_F32, DIMS(n, c, size[0], size[1]));
    if (draw(r, 0, 4) == 0) operand_spoil(r->random, &x, 20);
    const xpu_attr attrs[] = {XPU_ATTR_INTS_OF(KERNEL, kernel, 2),      XPU_ATTR_INTS_OF(STRIDES, stride, 2),
                              XPU_ATTR_INTS_OF(DILATIONS, dilation, 2), XPU_ATTR_INTS_OF(PADS, pads, 4),
                              XPU_ATTR_INT_OF(CEIL_MODE, ceil_mode),    XPU_ATTR_INT_OF(COUNT_INCLUDE_PAD, include),
                              XPU_ATTR_INT_OF(BY_COLUMNS, by_columns)};
    const xpu_tensor *const inputs[] = {&x};
    xpu_tensor y =
        operand_reference(b, is_max ? XPU_OP_MAX_POOL : XPU_OP_AVERAGE_POOL, inputs, 1, attrs, is_max ? 5 : 7);
    struct xpu_pool_f32_args a = {.batch = (int32_t)n,
                                  .in_h = (int32_t)size[0],
                                  .in_w = (int32_t)size[1],
                                  .in_c = (int32_t)c,
                                  .out_h = (int32_t)y.dims[2],
                                  .out_w = (int32_t)y.dims[3],
                                  .kernel_h = (int32_t)kernel[0],
                                  .kernel_w = (int32_t)kernel[1],
                                  .stride_h = (int32_t)stride[0],
                                  .stride_w = (int32_t)stride[1],
                                  .dilation_h = (int32_t)dilation[0],
                                  .dilation_w = (int32_t)dilation[1],
                                  .pad_top = (int32_t)pads[0],
                                  .pad_left = (int32_t)pads[1],
                                  .pad_bottom = (int32_t)pads[2],
                                  .pad_right = (int32_t)pads[3],
                                  .is_max = is_max,
                                  .count_include_pad = (int32_t)include,
                                  .by_columns = (int32_t)by_columns};
    rig_describe(r,
                 "%s pool %d x %d x %d x %d, kernel %d x %d, stride %d, %d, dilation %d, %d, pads %d, %d, %d, %d, %s%s",
                 is_max ? "max" : "average", a.batch, a.in_h, a.in_w, a.in_c, a.kernel_h, a.kernel_w, a.stride_h,
                 a.stride_w, a.dilation_h, a.dilation_w, a.pad_top, a.pad_left, a.pad_bottom, a.pad_right,
                 include ? "pads count" : "pads do not count", by_columns ? ", by columns" : "");
    a.x = operand_place_image(r, b, &x);
    a.y = operand_expect_pixels(r, b, &y, 1, &a.y_pixel);
    rig_call(r, XPU_CALL_pool_f32, 0, &a, sizeof a);
}
static void pool(void) {
    rig_on_each_chip("pool", 40, add_pool);
}

static void sequences(void) {
    static const rig_add adds[] = {add_fill,   add_absmax,     add_absmax_rows, add_softmax, add_norm,
                                   add_reduce, add_reduce_int, add_copy,        add_chain,   add_pool};
    rig_sequences("sequences", 15, adds, (int)(sizeof adds / sizeof *adds));
}

XPU_TEST_MAIN("kernels", {"fill", fill}, {"absmax", absmax}, {"absmax of rows", absmax_rows}, {"softmax", softmax},
              {"norms", norms}, {"reductions", reductions}, {"copy_nd", copy_nd}, {"chain", chain}, {"pool", pool},
              {"sequences", sequences})
