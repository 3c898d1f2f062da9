/*
 * Random quantised networks. A value is a tensor of bytes with a scale and a zero point; each operator is written as a
 * QLinear operator, or as DequantizeLinear, float operator, QuantizeLinear.
 */
#include <string.h>

#include "tests/gen/random_cnn.h"
#include "tests/gen/random_net.h"

enum { SEEN = 24, MOST_ELEMENTS = 60000 };

typedef struct {
    const char *name;
    int rank;
    int64_t dims[4];
    xpu_dtype dtype;
    float scale;
    int zero;
    const char *scale_name, *zero_name;
} value;

typedef struct {
    xpu_net net; /* random numbers and the builder */
    int is_qdq;
    int serial;
    int64_t macs_left, weights_left;
    value now, seen[SEEN];
    int seen_count;
} qnet;

/* ---- names and constants ---- */

static const char *new_name(qnet *q, const char *kind) {
    return xpu_printf(q->net.arena, "%s_%d", kind, q->serial++);
}

static const char *constant(qnet *q, xpu_dtype dtype, int rank, const int64_t *dims, const void *data) {
    const char *name = new_name(q, "c");
    xpu_tensor tensor = {.dtype = dtype, .rank = rank, .data = (void *)(uintptr_t)data};
    for (int i = 0; i < rank; i++) tensor.dims[i] = dims[i];
    xpu_onnx_initializer(&q->net.onnx, name, &tensor, 0);
    return name;
}

static const char *scalar(qnet *q, float number) {
    return constant(q, XPU_F32, 0, NULL, &number);
}

static const char *byte(qnet *q, xpu_dtype dtype, int number) {
    uint8_t bits = (uint8_t)number;
    return constant(q, dtype, 0, NULL, &bits);
}

static int draw_zero(qnet *q, xpu_dtype dtype) {
    if (dtype == XPU_I8) return xpu_net_chance(&q->net, 50) ? 0 : (int)xpu_net_range(&q->net, -40, 40);
    return (int)xpu_net_range(&q->net, 90, 160);
}

/* A value of these dims with a scale near `scale`, of one type all over the network where operators want that. */
static value make_value(qnet *q, const char *kind, int rank, const int64_t *dims, float scale) {
    value v = {.name = new_name(q, kind), .rank = rank, .dtype = q->now.dtype};
    memcpy(v.dims, dims, (size_t)rank * sizeof *dims);
    v.scale = scale * xpu_net_real(&q->net, 205, 320);
    v.zero = draw_zero(q, v.dtype);
    v.scale_name = scalar(q, v.scale);
    v.zero_name = byte(q, v.dtype, v.zero);
    return v;
}

/* The same scheme under another name. */
static value like(qnet *q, const value *v, const char *kind) {
    value w = *v;
    w.name = new_name(q, kind);
    return w;
}

static int64_t elements(const value *v) {
    int64_t count = 1;
    for (int i = 0; i < v->rank; i++) count *= v->dims[i];
    return count;
}

/* ---- operators in both forms ---- */

static XpuOnnx__NodeProto *node(qnet *q, const char *op, const char *output, const char *const *inputs) {
    return xpu_onnx_node(&q->net.onnx, op, new_name(q, op), output, inputs);
}

static const char *dequantised(qnet *q, const value *v) {
    const char *name = new_name(q, "f");
    node(q, "DequantizeLinear", name, (const char *[]){v->name, v->scale_name, v->zero_name, NULL});
    return name;
}

static void quantised(qnet *q, const char *name, const value *y) {
    node(q, "QuantizeLinear", y->name, (const char *[]){name, y->scale_name, y->zero_name, NULL});
}

/* One or two operands to one result; the node is returned for its attributes. `domain` is that of the QLinear form. */
static XpuOnnx__NodeProto *apply(qnet *q, const char *op, const char *qlinear, const char *domain, const value *a,
                                 const value *b, const value *y) {
    XpuOnnx__NodeProto *made;
    if (q->is_qdq || !qlinear) {
        const char *result = new_name(q, "r");
        const char *inputs[] = {dequantised(q, a), b ? dequantised(q, b) : NULL, NULL};
        made = node(q, op, result, inputs);
        quantised(q, result, y);
        return made;
    }
    const char *inputs[] = {a->name, a->scale_name, a->zero_name, y->scale_name, y->zero_name, NULL, NULL, NULL, NULL};
    if (b) {
        const char *second[] = {b->name, b->scale_name, b->zero_name, y->scale_name, y->zero_name};
        memcpy(inputs + 3, second, sizeof second);
    }
    made = node(q, qlinear, y->name, inputs);
    if (domain) xpu_onnx_domain(&q->net.onnx, made, domain);
    return made;
}

static const char MICROSOFT[] = "com.microsoft";

static void become(qnet *q, const value *y) {
    q->now = *y;
    if (y->rank == 4 && q->seen_count < SEEN) q->seen[q->seen_count++] = *y;
}

/* ---- products ---- */

typedef struct {
    const char *name, *scale_name, *zero_name, *bias_name;
    float scale; /* the largest */
} weights;

/* Random bytes; scales per tensor or along dim `axis` of `channels`; an int32 bias of the sums' size. */
static weights draw_weights(qnet *q, int rank, const int64_t *dims, int axis, float sum_size) {
    int per_channel = xpu_net_chance(&q->net, 50), has_bias = xpu_net_chance(&q->net, 70);
    xpu_dtype dtype = q->now.dtype == XPU_U8 && xpu_net_chance(&q->net, 40) ? XPU_U8 : XPU_I8;
    int64_t count = 1, channels = dims[axis];
    for (int i = 0; i < rank; i++) count *= dims[i];
    uint8_t *data = XPU_NEW_ARRAY(q->net.arena, uint8_t, count);
    float *scales = XPU_NEW_ARRAY(q->net.arena, float, channels);
    int32_t *bias = XPU_NEW_ARRAY(q->net.arena, int32_t, channels);
    int zero = dtype == XPU_U8 && !per_channel ? (int)xpu_net_range(&q->net, 110, 140) : 0;
    if (dtype == XPU_U8 && per_channel) dtype = XPU_I8;
    weights w = {.scale = 0};
    for (int64_t i = 0; i < count; i++) data[i] = (uint8_t)(zero + (int)xpu_net_range(&q->net, -100, 100));
    for (int64_t i = 0; i < channels; i++) {
        scales[i] = xpu_net_real(&q->net, 128, 256) / 100.0f;
        if (!per_channel) scales[i] = scales[0];
        if (scales[i] > w.scale) w.scale = scales[i];
        bias[i] = (int32_t)xpu_net_range(&q->net, -1000, 1000) * (int32_t)sum_size / 1000;
    }
    w.name = constant(q, dtype, rank, dims, data);
    w.scale_name = constant(q, XPU_F32, per_channel ? 1 : 0, &channels, scales);
    uint8_t *zeros = XPU_NEW_ARRAY(q->net.arena, uint8_t, channels);
    w.zero_name = per_channel ? constant(q, dtype, 1, &channels, zeros) : byte(q, dtype, zero);
    w.bias_name = has_bias ? constant(q, XPU_I32, 1, &channels, bias) : NULL;
    q->weights_left -= count;
    if (!q->is_qdq) return w;
    const char *name = new_name(q, "w");
    XpuOnnx__NodeProto *made =
        node(q, "DequantizeLinear", name, (const char *[]){w.name, w.scale_name, w.zero_name, NULL});
    if (per_channel) xpu_onnx_int(&q->net.onnx, made, "axis", axis);
    w.name = name;
    if (!has_bias) return w;
    for (int64_t i = 0; i < channels; i++) scales[i] *= q->now.scale;
    name = new_name(q, "b");
    made = node(q, "DequantizeLinear", name,
                (const char *[]){w.bias_name, constant(q, XPU_F32, per_channel ? 1 : 0, &channels, scales), NULL});
    if (per_channel) xpu_onnx_int(&q->net.onnx, made, "axis", 0);
    w.bias_name = name;
    return w;
}

/* About the standard deviation of a sum of `k` products of bytes. */
static float sum_size(int64_t k) {
    int64_t root = 1;
    while (root * root < k) root++;
    return (float)root * 50.0f * 58.0f;
}

static int conv(qnet *q, int kind) { /* 0: dense, 1: pointwise, 2: grouped, 3: depthwise */
    xpu_net *net = &q->net;
    value x = q->now;
    int64_t c = x.dims[1], groups = 1, o = xpu_net_range(net, 1, 48), k[2] = {1, 1}, s[2] = {1, 1}, d[2] = {1, 1}, p[4];
    if (kind == 2) groups = c % 4 == 0 ? 4 : c % 2 == 0 ? 2 : 1, o = groups * xpu_net_range(net, 1, 8);
    if (kind == 3) groups = c, o = c;
    int64_t dims[4] = {x.dims[0], o, 0, 0};
    for (int i = 0; i < 2; i++) {
        if (kind != 1) k[i] = xpu_net_range(net, 1, 4);
        if (kind != 1) d[i] = xpu_net_chance(net, 20) ? 2 : 1;
        s[i] = xpu_net_chance(net, 30) ? 2 : 1;
        int64_t extent = (k[i] - 1) * d[i] + 1;
        p[i] = xpu_net_range(net, 0, extent / 2);
        p[2 + i] = xpu_net_range(net, 0, extent / 2);
        if (x.dims[2 + i] + p[i] + p[2 + i] < extent) return 0;
        dims[2 + i] = (x.dims[2 + i] + p[i] + p[2 + i] - extent) / s[i] + 1;
    }
    int64_t depth = c / groups * k[0] * k[1], macs = dims[0] * o * dims[2] * dims[3] * depth;
    if (macs > q->macs_left || o * depth > q->weights_left || dims[0] * o * dims[2] * dims[3] > MOST_ELEMENTS) return 0;
    q->macs_left -= macs;
    int64_t w_dims[4] = {o, c / groups, k[0], k[1]};
    weights w = draw_weights(q, 4, w_dims, 0, sum_size(depth));
    value y = make_value(q, "conv", 4, dims, x.scale * w.scale * sum_size(depth) / 45.0f);
    XpuOnnx__NodeProto *made;
    if (q->is_qdq) {
        const char *result = new_name(q, "r");
        made = node(q, "Conv", result, (const char *[]){dequantised(q, &x), w.name, w.bias_name, NULL});
        if (xpu_net_chance(net, 30) && y.zero == (y.dtype == XPU_I8 ? -128 : 0)) {
            const char *active = new_name(q, "relu");
            node(q, "Relu", active, (const char *[]){result, NULL});
            result = active;
        }
        quantised(q, result, &y);
    } else {
        made = node(q, "QLinearConv", y.name,
                    (const char *[]){x.name, x.scale_name, x.zero_name, w.name, w.scale_name, w.zero_name, y.scale_name,
                                     y.zero_name, w.bias_name, NULL});
    }
    xpu_onnx_ints(&net->onnx, made, "strides", s, 2);
    xpu_onnx_ints(&net->onnx, made, "dilations", d, 2);
    xpu_onnx_ints(&net->onnx, made, "pads", p, 4);
    if (groups > 1) xpu_onnx_int(&net->onnx, made, "group", groups);
    become(q, &y);
    return 1;
}

static void dense(qnet *q, int64_t units) {
    xpu_net *net = &q->net;
    value x = q->now;
    int transposed = xpu_net_chance(net, 50), plain = !transposed && xpu_net_chance(net, 50);
    int64_t k = x.dims[1], dims[2] = {transposed ? units : k, transposed ? k : units}, y_dims[2] = {x.dims[0], units};
    weights w = draw_weights(q, 2, dims, transposed ? 0 : 1, sum_size(k));
    value y = make_value(q, "dense", 2, y_dims, x.scale * w.scale * sum_size(k) / 45.0f);
    if (q->is_qdq) {
        const char *result = new_name(q, "r");
        const char *bias = plain ? NULL : w.bias_name;
        XpuOnnx__NodeProto *made =
            node(q, plain ? "MatMul" : "Gemm", result, (const char *[]){dequantised(q, &x), w.name, bias, NULL});
        if (transposed) xpu_onnx_int(&net->onnx, made, "transB", 1);
        quantised(q, result, &y);
    } else if (plain) {
        node(q, "QLinearMatMul", y.name,
             (const char *[]){x.name, x.scale_name, x.zero_name, w.name, w.scale_name, w.zero_name, y.scale_name,
                              y.zero_name, NULL});
    } else {
        XpuOnnx__NodeProto *made =
            node(q, "QGemm", y.name,
                 (const char *[]){x.name, x.scale_name, x.zero_name, w.name, w.scale_name, w.zero_name,
                                  w.bias_name ? w.bias_name : "", y.scale_name, y.zero_name, NULL});
        xpu_onnx_domain(&net->onnx, made, MICROSOFT);
        xpu_onnx_int(&net->onnx, made, "transB", transposed);
        xpu_onnx_float(&net->onnx, made, "alpha", 1.0f);
    }
    become(q, &y);
}

/* ---- the others ---- */

static const value *same_dims(const qnet *q) {
    for (int i = 0; i + 1 < q->seen_count; i++) {
        if (!memcmp(q->seen[i].dims, q->now.dims, sizeof q->now.dims) && q->now.rank == 4) return &q->seen[i];
    }
    return NULL;
}

static int pair(qnet *q, int kind) { /* 0: sum, 1: product */
    const value *found = same_dims(q);
    if (!found) return 0;
    value a = q->now, b = *found;
    if (xpu_net_chance(&q->net, 50)) a = *found, b = q->now;
    float scale = kind ? a.scale * b.scale * 60.0f : (a.scale + b.scale) * 0.75f;
    value y = make_value(q, kind ? "product" : "sum", 4, a.dims, scale);
    apply(q, kind ? "Mul" : "Add", kind ? "QLinearMul" : "QLinearAdd", MICROSOFT, &a, &b, &y);
    become(q, &y);
    return 1;
}

static int concat(qnet *q, int kind) {
    const value *found = same_dims(q);
    if (!found || q->now.dims[1] > 60 || kind) return 0;
    value a = q->now, b = *found;
    int64_t dims[4] = {a.dims[0], a.dims[1] + b.dims[1], a.dims[2], a.dims[3]};
    value y = make_value(q, "concat", 4, dims, a.scale > b.scale ? a.scale : b.scale);
    XpuOnnx__NodeProto *made;
    if (q->is_qdq) {
        made = apply(q, "Concat", NULL, NULL, &a, &b, &y);
    } else {
        made = node(q, "QLinearConcat", y.name,
                    (const char *[]){y.scale_name, y.zero_name, a.name, a.scale_name, a.zero_name, b.name, b.scale_name,
                                     b.zero_name, NULL});
        xpu_onnx_domain(&q->net.onnx, made, MICROSOFT);
    }
    xpu_onnx_int(&q->net.onnx, made, "axis", 1);
    become(q, &y);
    return 1;
}

static int pool(qnet *q, int kind) { /* 0: maximum, 1: average */
    xpu_net *net = &q->net;
    value x = q->now;
    int64_t k[2], s[2], p[4], dims[4] = {x.dims[0], x.dims[1], 0, 0};
    for (int i = 0; i < 2; i++) {
        k[i] = xpu_net_range(net, 2, 3), s[i] = xpu_net_range(net, 1, 2);
        p[i] = xpu_net_range(net, 0, 1), p[2 + i] = xpu_net_range(net, 0, 1);
        if (x.dims[2 + i] + p[i] + p[2 + i] < k[i]) return 0;
        dims[2 + i] = (x.dims[2 + i] + p[i] + p[2 + i] - k[i]) / s[i] + 1;
    }
    value y = kind ? make_value(q, "average", 4, dims, x.scale * 0.7f) : like(q, &x, "max");
    memcpy(y.dims, dims, sizeof dims);
    XpuOnnx__NodeProto *made;
    if (kind == 0 && !q->is_qdq) {
        made = node(q, "MaxPool", y.name, (const char *[]){x.name, NULL});
    } else {
        made = apply(q, kind ? "AveragePool" : "MaxPool", "QLinearAveragePool", MICROSOFT, &x, NULL, &y);
    }
    xpu_onnx_ints(&net->onnx, made, "kernel_shape", k, 2);
    xpu_onnx_ints(&net->onnx, made, "strides", s, 2);
    xpu_onnx_ints(&net->onnx, made, "pads", p, 4);
    become(q, &y);
    return 1;
}

static int leaky(qnet *q, int kind) {
    value x = q->now, y = make_value(q, "leaky", x.rank, x.dims, x.scale * 0.8f);
    (void)kind;
    XpuOnnx__NodeProto *made = apply(q, "LeakyRelu", "QLinearLeakyRelu", MICROSOFT, &x, NULL, &y);
    xpu_onnx_float(&q->net.onnx, made, "alpha", 0.125f);
    become(q, &y);
    return 1;
}

/* Rows and columns change places. */
static int transpose(qnet *q, int kind) {
    static const int64_t perm[] = {0, 1, 3, 2};
    value x = q->now, y = like(q, &x, "turned");
    (void)kind;
    y.dims[2] = x.dims[3], y.dims[3] = x.dims[2];
    XpuOnnx__NodeProto *made = q->is_qdq ? apply(q, "Transpose", NULL, NULL, &x, NULL, &y)
                                         : node(q, "Transpose", y.name, (const char *[]){x.name, NULL});
    xpu_onnx_ints(&q->net.onnx, made, "perm", perm, 4);
    become(q, &y);
    return 1;
}

/* ---- the network ---- */

static void body(qnet *q) {
    static const struct {
        int (*emit)(qnet *q, int kind);
        int kind, weight;
    } stages[] = {{conv, 0, 4},   {conv, 1, 3}, {conv, 2, 1}, {conv, 3, 3},  {pair, 0, 5},     {pair, 1, 2},
                  {concat, 0, 3}, {pool, 0, 2}, {pool, 1, 1}, {leaky, 0, 1}, {transpose, 0, 1}};
    int total = 0, wanted = (int)xpu_net_range(&q->net, 4, 12);
    for (size_t i = 0; i < sizeof stages / sizeof *stages; i++) total += stages[i].weight;
    for (int tries = 0, done = 0; tries < 60 && done < wanted; tries++) {
        int ticket = (int)xpu_net_below(&q->net, (uint32_t)total);
        size_t i = 0;
        while (ticket >= stages[i].weight) ticket -= stages[i++].weight;
        done += stages[i].emit(q, stages[i].kind);
    }
}

static void head(qnet *q) {
    value x = q->now;
    int64_t pooled[4] = {x.dims[0], x.dims[1], 1, 1};
    if (xpu_net_chance(&q->net, 60) || elements(&x) / x.dims[0] > 1500) {
        value y = make_value(q, "mean", 4, pooled, x.scale * 0.2f);
        apply(q, "GlobalAveragePool", "QLinearGlobalAveragePool", MICROSOFT, &x, NULL, &y);
        become(q, &y);
        x = q->now;
    }
    value flat = like(q, &x, "flat");
    flat.rank = 2;
    flat.dims[1] = elements(&x) / x.dims[0];
    if (q->is_qdq)
        apply(q, "Flatten", NULL, NULL, &x, NULL, &flat);
    else
        node(q, "Flatten", flat.name, (const char *[]){x.name, NULL});
    become(q, &flat);
    dense(q, xpu_net_range(&q->net, 2, 40));
}

/* A function that may differ by one step. */
static int inexact_end(qnet *q) {
    value x = q->now;
    if (!xpu_net_chance(&q->net, 40)) return 0;
    int softmax = xpu_net_chance(&q->net, 40);
    value y = make_value(q, "last", 2, x.dims, 1.0f / 320.0f);
    XpuOnnx__NodeProto *made = apply(q, softmax ? "Softmax" : "Sigmoid", softmax ? "QLinearSoftmax" : "QLinearSigmoid",
                                     MICROSOFT, &x, NULL, &y);
    if (softmax) xpu_onnx_int(&q->net.onnx, made, "axis", 1);
    if (softmax && !q->is_qdq) xpu_onnx_int(&q->net.onnx, made, "opset", 13);
    become(q, &y);
    return 1;
}

static void add_output(qnet *q, const value *v) {
    const char *name = dequantised(q, v);
    xpu_onnx_output(&q->net.onnx, name, v->rank, v->dims);
}

void xpu_random_qcnn(xpu_arena *arena, uint64_t seed, xpu_random_quantised *result) {
    qnet q = {.net = {.arena = arena, .seed = seed ^ 0x5175616e74u}, .weights_left = 100000, .macs_left = 4000000};
    xpu_net *net = &q.net;
    q.is_qdq = xpu_net_chance(net, 50);
    xpu_onnx_begin(&net->onnx, arena, (int)xpu_net_range(net, 13, 17));
    int64_t dims[4] = {xpu_net_range(net, 1, 2), xpu_net_range(net, 1, 12), xpu_net_range(net, 6, 28),
                       xpu_net_range(net, 6, 28)};
    xpu_tensor input = xpu_net_tensor(net, 4, dims, -512, 512, 1);
    xpu_onnx_input(&net->onnx, "x", 4, dims);
    q.now.dtype = xpu_net_chance(net, 50) ? XPU_U8 : XPU_I8;
    value x = make_value(&q, "input", 4, dims, 1.0f / 64.0f);
    quantised(&q, "x", &x);
    become(&q, &x);
    body(&q);
    value middle = q.now;
    head(&q);
    *result = (xpu_random_quantised){.inexact = inexact_end(&q), .step = q.now.scale};
    add_output(&q, &q.now);
    if (elements(&middle) < 3000) add_output(&q, &middle);
    result->network = (xpu_random_network){.input_name = "x", .input = input, .opset = net->onnx.opset};
    result->network.model = xpu_onnx_pack(
        &net->onnx, xpu_printf(arena, "random-quantised-%llu", (unsigned long long)seed), &result->network.model_bytes);
}
