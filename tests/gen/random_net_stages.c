/* The other stages: elementwise, activations, moving data about, matrix products, softmax; and the table of all. */
#include "tests/gen/random_net.h"

#include <string.h>

static int emit_activation(xpu_net *net, const char *op) {
    XpuOnnx__NodeProto *node;
    xpu_net_value input = net->now;
    int opset = net->onnx.opset;
    if (!strcmp(op, "Clip")) {
        float low = xpu_net_real(net, -256, 0), high = xpu_net_real(net, 64, 1536);
        uint32_t bounds = xpu_net_below(net, 4); /* both, both, low only, high only */
        if (opset >= 11) {
            const char *a = bounds == 3 ? "" : xpu_net_scalar(net, low);
            const char *b = bounds == 2 ? NULL : xpu_net_scalar(net, high);
            xpu_net_node(net, op, input.name, a, b);
            return 1;
        }
        node = xpu_net_unary(net, op);
        if (bounds != 3) xpu_onnx_float(&net->onnx, node, "min", low);
        if (bounds != 2) xpu_onnx_float(&net->onnx, node, "max", high);
        return 1;
    }
    node = xpu_net_unary(net, op);
    int plain = xpu_net_chance(net, 30); /* the defaults */
    if (!strcmp(op, "LeakyRelu") && !plain) xpu_onnx_float(&net->onnx, node, "alpha", xpu_net_real(net, 2, 100));
    if (!strcmp(op, "HardSigmoid") && !plain) {
        xpu_onnx_float(&net->onnx, node, "alpha", xpu_net_real(net, 26, 128));
        xpu_onnx_float(&net->onnx, node, "beta", xpu_net_real(net, 64, 192));
    }
    return 1;
}

void xpu_net_activation(xpu_net *net) {
    static const char *const ops[] = {"Relu",      "Relu",    "Relu", "Clip",        "Clip",
                                      "LeakyRelu", "Sigmoid", "Tanh", "HardSigmoid", "HardSwish"};
    emit_activation(net, ops[xpu_net_below(net, net->onnx.opset >= 14 ? 10 : 9)]);
}

/* A constant that broadcasts to the current value, which is of rank 4. */
static const char *broadcast_constant(xpu_net *net, int low, int high) {
    const int64_t *dims = net->now.dims;
    int64_t shapes[][4] = {
        {dims[1], 1, 1}, {1, dims[1], 1, 1}, {dims[3]}, {dims[2], 1}, {1, dims[1], dims[2], dims[3]}};
    static const int ranks[] = {3, 4, 1, 2, 4};
    uint32_t form = xpu_net_below(net, 8);
    if (form == 5) return xpu_net_scalar(net, xpu_net_real(net, low, high));
    if (form == 6) return xpu_net_weights(net, 1, (const int64_t[]){1}, low, high, 1);
    if (form == 4 && dims[1] * dims[2] * dims[3] > 8000) form = 0;
    if (form == 7) form = 1;
    return xpu_net_weights(net, ranks[form], shapes[form], low, high, 1);
}

/* Another value with the dims of the current one, or none. */
static const xpu_net_value *partner(xpu_net *net) {
    uint32_t first = net->seen_count ? xpu_net_below(net, (uint32_t)net->seen_count) : 0;
    for (int i = 0; i < net->seen_count; i++) {
        const xpu_net_value *value = &net->seen[((int)first + i) % net->seen_count];
        if (xpu_net_same_dims(value, &net->now) && strcmp(value->name, net->now.name)) return value;
    }
    return NULL;
}

/* Clips the current value to 0.5 .. 3, for a divisor. */
static void make_divisor(xpu_net *net) {
    xpu_net_value input = net->now;
    if (net->onnx.opset >= 11) {
        const char *low = xpu_net_scalar(net, 0.5f);
        const char *high = xpu_net_scalar(net, 3);
        xpu_net_node(net, "Clip", input.name, low, high);
        return;
    }
    XpuOnnx__NodeProto *node = xpu_net_unary(net, "Clip");
    xpu_onnx_float(&net->onnx, node, "min", 0.5f);
    xpu_onnx_float(&net->onnx, node, "max", 3);
}

static void with_constant(xpu_net *net, const char *op) {
    int divide = !strcmp(op, "Div"), multiply = !strcmp(op, "Mul");
    int left = xpu_net_chance(net, 30);
    if (divide && left) make_divisor(net);
    xpu_net_value input = net->now;
    const char *constant = divide && !left ? broadcast_constant(net, 128, 512)
                           : multiply      ? broadcast_constant(net, -320, 320)
                                           : broadcast_constant(net, -160, 160);
    xpu_net_node(net, op, left ? constant : input.name, left ? input.name : constant, NULL);
}

static int emit_binary(xpu_net *net, const char *op) {
    const xpu_net_value *found = partner(net);
    if (!found || xpu_net_chance(net, 50)) {
        with_constant(net, op);
        return 1;
    }
    xpu_net_value x = net->now, y = *found;
    net->now = y;
    if (!strcmp(op, "Mul")) xpu_net_unary(net, xpu_net_chance(net, 50) ? "Sigmoid" : "Tanh");
    if (!strcmp(op, "Div")) make_divisor(net);
    y = net->now;
    int swap = strcmp(op, "Div") && xpu_net_chance(net, 50);
    xpu_net_node(net, op, swap ? y.name : x.name, swap ? x.name : y.name, NULL);
    return 1;
}

/* One channel against several: both operands broadcast. */
static int emit_expand(xpu_net *net, const char *op) {
    xpu_net_value input = net->now;
    int64_t channels = xpu_net_range(net, 2, 9), dims[3] = {channels, 1, 1};
    if (input.dims[1] != 1 || channels * xpu_net_elements(&input) > XPU_NET_MAX_ELEMENTS) return 0;
    const char *constant = xpu_net_weights(net, 3, dims, -256, 256, 1);
    xpu_net_node(net, op, constant, input.name, NULL);
    int64_t result[4] = {input.dims[0], channels, input.dims[2], input.dims[3]};
    xpu_net_set_dims(net, 4, result);
    return 1;
}

void xpu_net_reshape(xpu_net *net, int rank, const int64_t *dims) {
    xpu_net_value input = net->now;
    int64_t list[XPU_MAX_RANK];
    int inferred = -1;
    memcpy(list, dims, (size_t)rank * sizeof *dims);
    if (xpu_net_chance(net, 50)) inferred = (int)xpu_net_below(net, (uint32_t)rank);
    for (int i = 0; i < rank; i++) {
        int copies = i < input.rank && dims[i] == input.dims[i];
        if (copies && ((net->free_batch && !i) || xpu_net_chance(net, 30))) list[i] = 0;
    }
    if (inferred >= 0 && list[inferred]) list[inferred] = -1;
    const char *shape = xpu_net_ints(net, list, rank);
    XpuOnnx__NodeProto *node = xpu_net_node(net, "Reshape", input.name, shape, NULL);
    if (net->onnx.opset >= 14 && xpu_net_chance(net, 30)) xpu_net_int(net, node, "allowzero", 0);
    xpu_net_set_dims(net, rank, dims);
}

static void list_axes(xpu_net *net, const char *op, const int64_t *axes, int count, int rank) {
    int64_t list[XPU_MAX_RANK];
    int negative = net->onnx.opset >= 11 && xpu_net_chance(net, 40);
    for (int i = 0; i < count; i++) list[i] = negative ? axes[i] - rank : axes[i];
    xpu_net_with_list(net, op, "axes", 12, list, count);
}

void xpu_net_squeeze(xpu_net *net, const int64_t *axes, int count) {
    int64_t dims[XPU_MAX_RANK];
    int rank = 0;
    list_axes(net, "Squeeze", axes, count, net->now.rank);
    for (int i = 0, next = 0; i < net->now.rank; i++) {
        if (next < count && axes[next] == i)
            next++;
        else
            dims[rank++] = net->now.dims[i];
    }
    xpu_net_set_dims(net, rank, dims);
}

void xpu_net_unsqueeze(xpu_net *net, const int64_t *axes, int count) {
    int64_t dims[XPU_MAX_RANK];
    int rank = net->now.rank + count;
    list_axes(net, "Unsqueeze", axes, count, rank);
    for (int i = 0, next = 0, from = 0; i < rank; i++) {
        if (next < count && axes[next] == i) {
            dims[i] = 1;
            next++;
        } else {
            dims[i] = net->now.dims[from++];
        }
    }
    xpu_net_set_dims(net, rank, dims);
}

void xpu_net_transpose(xpu_net *net, const int64_t *perm) {
    int64_t dims[XPU_MAX_RANK];
    int rank = net->now.rank;
    for (int i = 0; i < rank; i++) dims[i] = net->now.dims[perm[i]];
    XpuOnnx__NodeProto *node = xpu_net_unary(net, "Transpose");
    xpu_onnx_ints(&net->onnx, node, "perm", perm, (size_t)rank);
    xpu_net_set_dims(net, rank, dims);
}

void xpu_net_softmax(xpu_net *net, int axis) {
    int rank = net->now.rank, default_axis = net->onnx.opset >= 13 ? rank - 1 : 1;
    XpuOnnx__NodeProto *node = xpu_net_unary(net, "Softmax");
    if (axis == default_axis && xpu_net_chance(net, 50)) return;
    xpu_net_int(net, node, "axis", net->onnx.opset >= 11 && xpu_net_chance(net, 40) ? axis - rank : axis);
}

/* Scaled back by half the number of elements that share a sum, so that values stay near 1. */
static int emit_softmax(xpu_net *net, const char *op) {
    (void)op;
    int axis = (int)xpu_net_range(net, 1, net->now.rank - 1), until13 = net->onnx.opset < 13;
    int64_t shared = 1;
    for (int i = axis; i < (until13 ? net->now.rank : axis + 1); i++) shared *= net->now.dims[i];
    xpu_net_softmax(net, axis);
    xpu_net_value y = net->now;
    const char *factor = xpu_net_scalar(net, 0.5f * (float)shared);
    xpu_net_node(net, "Mul", y.name, factor, NULL);
    return 1;
}

static int emit_reshape(xpu_net *net, const char *op) {
    (void)op;
    static const int64_t shuffle[] = {0, 2, 1, 3, 4};
    xpu_net_value x = net->now;
    int64_t d[4] = {x.dims[0], x.dims[1], x.dims[2], x.dims[3]};
    if (d[1] % 2 == 0 && xpu_net_chance(net, 50)) { /* channel shuffle */
        xpu_net_reshape(net, 5, (const int64_t[]){d[0], 2, d[1] / 2, d[2], d[3]});
        xpu_net_transpose(net, shuffle);
        xpu_net_reshape(net, 4, d);
        return 1;
    }
    if (xpu_net_chance(net, 50))
        xpu_net_reshape(net, 3, (const int64_t[]){d[0], d[1] * d[2], d[3]});
    else
        xpu_net_reshape(net, 3, (const int64_t[]){d[0], d[1], d[2] * d[3]});
    xpu_net_activation(net);
    xpu_net_reshape(net, 4, d);
    return 1;
}

static int emit_flatten(xpu_net *net, const char *op) {
    xpu_net_value x = net->now;
    int axis = net->free_batch ? 1 : (int)xpu_net_below(net, 5);
    int64_t dims[2] = {1, 1};
    for (int i = 0; i < 4; i++) dims[i >= axis] *= x.dims[i];
    XpuOnnx__NodeProto *node = xpu_net_unary(net, op);
    int negative = net->onnx.opset >= 11 && axis < 4 && xpu_net_chance(net, 40);
    if (axis != 1 || xpu_net_chance(net, 50)) xpu_net_int(net, node, "axis", negative ? axis - 4 : axis);
    xpu_net_set_dims(net, 2, dims);
    xpu_net_activation(net);
    xpu_net_reshape(net, 4, x.dims);
    return 1;
}

static int emit_squeeze(xpu_net *net, const char *op) {
    (void)op;
    static const int64_t choices[][2] = {{1, 2}, {4, 5}, {2, 5}, {3, 4}};
    const int64_t *axes = choices[xpu_net_below(net, 4)];
    xpu_net_unsqueeze(net, axes, 2);
    if (xpu_net_chance(net, 60)) xpu_net_activation(net);
    xpu_net_squeeze(net, axes, 2);
    return 1;
}

static int emit_transpose(xpu_net *net, const char *op) {
    static const int64_t perms[][4] = {{0, 2, 3, 1}, {0, 3, 1, 2}, {0, 1, 3, 2}, {0, 2, 1, 3}, {0, 3, 2, 1}};
    static const int64_t to_last[] = {0, 2, 3, 1}, to_first[] = {0, 3, 1, 2};
    uint32_t kind = xpu_net_below(net, 7);
    xpu_net_value x = net->now;
    if (kind < 5 && x.dims[perms[kind][1]] <= XPU_NET_MAX_CHANNELS) {
        xpu_net_transpose(net, perms[kind]);
    } else if (kind == 6 && !net->free_batch) { /* no perm: all dims reversed, and back */
        xpu_net_unary(net, op);
        xpu_net_set_dims(net, 4, (const int64_t[]){x.dims[3], x.dims[2], x.dims[1], x.dims[0]});
        xpu_net_activation(net);
        xpu_net_unary(net, op);
        xpu_net_set_dims(net, 4, x.dims);
    } else { /* channels last, work on it, and back */
        xpu_net_transpose(net, to_last);
        xpu_net_activation(net);
        xpu_net_transpose(net, to_first);
    }
    return 1;
}

static int emit_concat(xpu_net *net, const char *op) {
    xpu_net_value x = net->now, other;
    const xpu_net_value *found = partner(net);
    int axis = xpu_net_chance(net, 70) ? 1 : (int)xpu_net_range(net, 2, 3), count = 1;
    if (x.dims[axis] * 3 > XPU_NET_MAX_CHANNELS || 3 * xpu_net_elements(&x) > XPU_NET_MAX_ELEMENTS) return 0;
    if (!found) xpu_net_activation(net);
    other = found ? *found : net->now;
    if (xpu_net_chance(net, 30)) count++;
    XpuOnnx__NodeProto *node = xpu_net_node(net, op, x.name, other.name, count > 1 ? x.name : NULL);
    xpu_net_int(net, node, "axis", net->onnx.opset >= 11 && xpu_net_chance(net, 40) ? axis - 4 : axis);
    int64_t dims[4] = {x.dims[0], x.dims[1], x.dims[2], x.dims[3]};
    dims[axis] *= count + 1;
    xpu_net_set_dims(net, 4, dims);
    return 1;
}

static int emit_pad(xpu_net *net, const char *op) {
    static const char *const modes[] = {"constant", "constant", "reflect", "edge"};
    const char *mode = modes[xpu_net_below(net, 4)];
    int constant = mode[0] == 'c', opset = net->onnx.opset;
    xpu_net_value x = net->now;
    int64_t pads[8] = {0}, dims[4] = {x.dims[0]}, count = 1;
    for (int i = 1; i < 4; i++) {
        int64_t most = constant ? 3 : x.dims[i] - 1 < 3 ? x.dims[i] - 1 : 3;
        if (i == 1 && !(constant && xpu_net_chance(net, 25))) most = 0;
        pads[i] = xpu_net_range(net, 0, most);
        pads[i + 4] = xpu_net_range(net, 0, most);
        if (constant && i > 1 && x.dims[i] > 4 && xpu_net_chance(net, 15)) pads[i] = -1; /* crops */
        dims[i] = x.dims[i] + pads[i] + pads[i + 4];
        count *= dims[i];
    }
    if (count * x.dims[0] > XPU_NET_MAX_ELEMENTS || dims[1] > XPU_NET_MAX_CHANNELS) return 0;
    float value = constant && xpu_net_chance(net, 50) ? xpu_net_real(net, -256, 256) : 0;
    const char *fill = opset >= 11 && constant && value != 0 ? xpu_net_scalar(net, value) : NULL;
    XpuOnnx__NodeProto *node;
    if (opset >= 18 && !pads[1] && !pads[5] && xpu_net_chance(net, 50)) {
        const int64_t short_pads[] = {pads[2], pads[3], pads[6], pads[7]}, axes[] = {2, 3};
        const char *list = xpu_net_ints(net, short_pads, 4);
        const char *which = xpu_net_ints(net, axes, 2);
        node = xpu_net_node(net, op, x.name, list, fill ? fill : "");
        node->input[node->n_input++] = xpu_strdup(net->arena, which);
    } else {
        node = xpu_net_with_list(net, op, "pads", 10, pads, 8);
        if (fill) node->input[node->n_input++] = xpu_strdup(net->arena, fill);
        if (opset < 11 && value != 0) xpu_onnx_float(&net->onnx, node, "value", value);
    }
    if (!constant || xpu_net_chance(net, 50)) xpu_onnx_string(&net->onnx, node, "mode", mode);
    xpu_net_set_dims(net, 4, dims);
    return 1;
}

/* x[B,C,H,W] * w[W,K], or w[K,H] * x. */
static int emit_matmul(xpu_net *net, const char *op) {
    xpu_net_value x = net->now;
    int left = xpu_net_chance(net, 30);
    int64_t inner = x.dims[left ? 2 : 3], outer = xpu_net_range(net, 1, 40);
    int64_t elements = xpu_net_elements(&x) / inner * outer;
    if (elements > XPU_NET_MAX_ELEMENTS || elements * inner > net->macs_left / 2) return 0;
    net->macs_left -= elements * inner;
    int64_t dims[2] = {left ? outer : inner, left ? inner : outer};
    const char *weights = xpu_net_weights(net, 2, dims, -256, 256, xpu_net_weight_scale(inner));
    xpu_net_node(net, op, left ? weights : x.name, left ? x.name : weights, NULL);
    net->now.dims[left ? 2 : 3] = outer;
    return 1;
}

/* x * transposed(x) / W, then * x: two activations as operands, as in attention. */
static int emit_attention(xpu_net *net, const char *op) {
    static const int64_t swap[] = {0, 1, 3, 2};
    xpu_net_value x = net->now;
    int64_t h = x.dims[2], w = x.dims[3], work = 2 * xpu_net_elements(&x) * h;
    if (work > net->macs_left / 2 || x.dims[0] * x.dims[1] * h * h > XPU_NET_MAX_ELEMENTS) return 0;
    net->macs_left -= work;
    xpu_net_transpose(net, swap);
    xpu_net_value turned = net->now;
    xpu_net_node(net, op, x.name, turned.name, NULL);
    xpu_net_set_dims(net, 4, (const int64_t[]){x.dims[0], x.dims[1], h, h});
    xpu_net_value scores = net->now;
    const char *factor = xpu_net_scalar(net, 1.0f / (float)w);
    xpu_net_node(net, "Mul", scores.name, factor, NULL);
    xpu_net_softmax(net, 3);
    xpu_net_value weights = net->now;
    xpu_net_node(net, op, weights.name, x.name, NULL);
    xpu_net_set_dims(net, 4, x.dims);
    return 1;
}

static int emit_identity(xpu_net *net, const char *op) {
    xpu_net_unary(net, op);
    return 1;
}

static int emit_dropout(xpu_net *net, const char *op) {
    uint8_t no = 0;
    xpu_net_value x = net->now;
    if (net->onnx.opset < 12) {
        XpuOnnx__NodeProto *node = xpu_net_unary(net, op);
        if (xpu_net_chance(net, 70)) xpu_onnx_float(&net->onnx, node, "ratio", 0.25f);
        return 1;
    }
    const char *ratio = xpu_net_chance(net, 70) ? xpu_net_scalar(net, 0.25f) : NULL;
    const char *training = NULL;
    if (ratio && xpu_net_chance(net, 50)) {
        xpu_tensor tensor = {.dtype = XPU_BOOL, .data = &no};
        training = xpu_printf(net->arena, "stage%d/training%d", net->stage, net->serial++);
        xpu_onnx_initializer(&net->onnx, training, &tensor, 0);
    }
    xpu_net_node(net, op, x.name, ratio, training);
    return 1;
}

const xpu_net_stage xpu_net_stages[] = {
    {"Conv", xpu_net_emit_conv, 7, 30},
    {"Conv", xpu_net_emit_depthwise, 7, 12},
    {"Add", xpu_net_emit_residual, 7, 14},
    {"Sub", xpu_net_emit_residual, 7, 4},
    {"GlobalAveragePool", xpu_net_emit_gate, 7, 5},
    {"Conv", xpu_net_emit_conv_1d, 7, 3},
    {"MaxPool", xpu_net_emit_pool, 7, 6},
    {"AveragePool", xpu_net_emit_pool, 7, 6},
    {"BatchNormalization", xpu_net_emit_batch_norm, 7, 3},
    {"Relu", emit_activation, 7, 2},
    {"Clip", emit_activation, 7, 3},
    {"LeakyRelu", emit_activation, 7, 2},
    {"Sigmoid", emit_activation, 7, 2},
    {"Tanh", emit_activation, 7, 2},
    {"HardSigmoid", emit_activation, 7, 2},
    {"HardSwish", emit_activation, 14, 2},
    {"Add", emit_binary, 7, 4},
    {"Sub", emit_binary, 7, 4},
    {"Mul", emit_binary, 7, 4},
    {"Div", emit_binary, 7, 4},
    {"Add", emit_expand, 7, 1},
    {"Softmax", emit_softmax, 7, 3},
    {"Reshape", emit_reshape, 7, 4},
    {"Flatten", emit_flatten, 7, 3},
    {"Squeeze", emit_squeeze, 7, 3},
    {"Transpose", emit_transpose, 7, 4},
    {"Concat", emit_concat, 7, 6},
    {"Pad", emit_pad, 7, 4},
    {"MatMul", emit_matmul, 7, 4},
    {"MatMul", emit_attention, 7, 2},
    {"Identity", emit_identity, 7, 2},
    {"Dropout", emit_dropout, 7, 2},
};
const uint32_t xpu_net_stage_count = sizeof xpu_net_stages / sizeof *xpu_net_stages;
