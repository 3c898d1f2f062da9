/* Stages with a window: convolutions in all forms, pooling, residual blocks, squeeze-and-excite gates. */
#include "tests/gen/random_net.h"

typedef enum { PADS_EXPLICIT, PADS_VALID, PADS_SAME_UPPER, PADS_SAME_LOWER } pad_mode;
static const char *const pad_names[] = {"NOTSET", "VALID", "SAME_UPPER", "SAME_LOWER"};

/* Index 0 is height, 1 width; pads in ONNX order: begin of each, end of each. */
typedef struct {
    int64_t kernel[2], stride[2], dilation[2], pads[4], out[2];
    pad_mode mode;
    int ceil;
} window;

static int64_t reach(const window *w, int i) {
    return w->dilation[i] * (w->kernel[i] - 1) + 1;
}

static void draw_kernel(xpu_net *net, window *w, uint32_t dilated_percent) {
    static const int64_t kernels[] = {1, 1, 3, 3, 3, 3, 2, 4, 5, 7};
    int square = xpu_net_chance(net, 65), dilated = xpu_net_chance(net, dilated_percent);
    for (int i = 0; i < 2; i++) {
        w->kernel[i] = kernels[xpu_net_below(net, 10)];
        w->stride[i] = xpu_net_chance(net, 65) ? 1 : xpu_net_range(net, 1, 3);
        w->dilation[i] = dilated ? xpu_net_range(net, 1, 3) : 1;
        if (!i || !square) continue;
        w->kernel[1] = w->kernel[0];
        w->stride[1] = w->stride[0];
        w->dilation[1] = w->dilation[0];
    }
}

/* Explicit pads: usually what keeps the size, else any, else none. A pool's window always touches the image. */
static void draw_pads(xpu_net *net, window *w, int pool) {
    uint32_t kind = xpu_net_below(net, 10);
    for (int i = 0; i < 2; i++) {
        int64_t total = reach(w, i) - 1, most = pool ? w->kernel[i] - 1 : reach(w, i) / 2 + 1;
        if (kind < 5) {
            w->pads[i] = total / 2;
            w->pads[i + 2] = total - total / 2;
        } else if (kind < 9) {
            w->pads[i] = xpu_net_range(net, 0, most);
            w->pads[i + 2] = xpu_net_range(net, 0, most);
        }
    }
}

static void draw_mode(xpu_net *net, window *w, int pool) {
    uint32_t kind = xpu_net_below(net, 10);
    int dilated = w->dilation[0] > 1 || w->dilation[1] > 1;
    if (kind == 0) w->mode = PADS_VALID;
    if (kind == 1 && !dilated) w->mode = PADS_SAME_UPPER;
    if (kind == 2 && !dilated) w->mode = PADS_SAME_LOWER;
    if (w->mode == PADS_EXPLICIT && !(pool && dilated)) draw_pads(net, w, pool);
}

/* Sets the output size. 0 where the window does not fit. */
static int place(const xpu_net *net, window *w) {
    for (int i = 0; i < 2; i++) {
        int64_t in = net->now.dims[2 + i], padded = in + w->pads[i] + w->pads[i + 2];
        if (w->mode == PADS_SAME_UPPER || w->mode == PADS_SAME_LOWER) {
            w->out[i] = (in + w->stride[i] - 1) / w->stride[i];
            continue;
        }
        if (reach(w, i) > padded) return 0;
        w->out[i] = (padded - reach(w, i)) / w->stride[i] + 1;
    }
    return 1;
}

/* Rounds the output size up where the last window still begins inside the image: there all versions agree. */
static void draw_ceil(xpu_net *net, window *w) {
    if (net->onnx.opset < 10 || w->mode != PADS_EXPLICIT || !xpu_net_chance(net, 40)) return;
    int64_t out[2];
    for (int i = 0; i < 2; i++) {
        int64_t in = net->now.dims[2 + i], padded = in + w->pads[i] + w->pads[i + 2];
        out[i] = (padded - reach(w, i) + w->stride[i] - 1) / w->stride[i] + 1;
        if ((out[i] - 1) * w->stride[i] >= in + w->pads[i]) return;
    }
    w->ceil = 1;
    w->out[0] = out[0];
    w->out[1] = out[1];
}

/* Does a window reach past the padded image (only with ceil)? Versions differ on what such a mean counts. */
static int overhangs(const xpu_net *net, const window *w) {
    for (int i = 0; i < 2; i++) {
        int64_t padded = net->now.dims[2 + i] + w->pads[i] + w->pads[i + 2];
        if ((w->out[i] - 1) * w->stride[i] + reach(w, i) > padded) return 1;
    }
    return 0;
}

/* Writes the attributes, leaving out defaults about half the time. */
static void set_attributes(xpu_net *net, XpuOnnx__NodeProto *node, const window *w, int spatial, int kernel_percent) {
    xpu_onnx_builder *onnx = &net->onnx;
    int pads = 0, strides = 0, dilations = 0;
    for (int i = 0; i < spatial; i++) {
        pads |= w->pads[i] || w->pads[i + 2];
        strides |= w->stride[i] > 1;
        dilations |= w->dilation[i] > 1;
    }
    if (xpu_net_chance(net, (uint32_t)kernel_percent)) {
        xpu_onnx_ints(onnx, node, "kernel_shape", w->kernel, (size_t)spatial);
    }
    if (strides || xpu_net_chance(net, 50)) xpu_onnx_ints(onnx, node, "strides", w->stride, (size_t)spatial);
    if (dilations) xpu_onnx_ints(onnx, node, "dilations", w->dilation, (size_t)spatial);
    if (w->mode != PADS_EXPLICIT) {
        xpu_onnx_string(onnx, node, "auto_pad", pad_names[w->mode]);
    } else if (pads || xpu_net_chance(net, 50)) {
        int64_t list[4] = {w->pads[0], spatial == 1 ? w->pads[2] : w->pads[1], w->pads[2], w->pads[3]};
        xpu_onnx_ints(onnx, node, "pads", list, 2 * (size_t)spatial);
    }
    if (w->ceil) xpu_net_int(net, node, "ceil_mode", 1);
}

/* Adds the convolution, with fewer channels where it would take too much work. `spatial`: 1 or 2 dims. */
static int add_conv(xpu_net *net, const window *w, int64_t channels, int64_t group, int spatial) {
    int64_t batch = net->now.dims[0], fan_in = net->now.dims[1] / group;
    for (int i = 0; i < spatial; i++) fan_in *= w->kernel[i];
    int64_t pixels = batch * w->out[0] * (spatial == 2 ? w->out[1] : 1);
    while (pixels * channels * fan_in > net->macs_left / 2 || channels * fan_in > net->weights_left / 2 ||
           pixels * channels > XPU_NET_MAX_ELEMENTS) {
        if (channels % (2 * group)) return 0;
        channels /= 2;
    }
    net->macs_left -= pixels * channels * fan_in;
    xpu_net_value input = net->now;
    int64_t dims[4] = {channels, input.dims[1] / group, w->kernel[0], w->kernel[1]};
    const char *weights = xpu_net_weights(net, 2 + spatial, dims, -256, 256, xpu_net_weight_scale(fan_in));
    const char *bias = xpu_net_chance(net, 70) ? xpu_net_weights(net, 1, dims, -64, 64, 1) : NULL;
    XpuOnnx__NodeProto *node = xpu_net_node(net, "Conv", input.name, weights, bias);
    set_attributes(net, node, w, spatial, 80);
    if (group > 1 || xpu_net_chance(net, 50)) xpu_net_int(net, node, "group", group);
    int64_t result[4] = {batch, channels, w->out[0], w->out[1]};
    xpu_net_set_dims(net, 2 + spatial, result);
    return 1;
}

static void add_batch_norm(xpu_net *net) {
    xpu_net_value input = net->now;
    const char *names[6] = {input.name};
    names[1] = xpu_net_weights(net, 1, &input.dims[1], 192, 512, 1); /* scale */
    names[2] = xpu_net_weights(net, 1, &input.dims[1], -64, 64, 1);  /* bias */
    names[3] = xpu_net_weights(net, 1, &input.dims[1], -64, 64, 1);  /* mean */
    names[4] = xpu_net_weights(net, 1, &input.dims[1], 128, 384, 1); /* variance */
    XpuOnnx__NodeProto *node = xpu_net_node(net, "BatchNormalization", names[0], names[1], names[2]);
    for (int i = 3; i < 5; i++) node->input[node->n_input++] = xpu_strdup(net->arena, names[i]);
    if (xpu_net_chance(net, 70)) xpu_onnx_float(&net->onnx, node, "epsilon", xpu_net_chance(net, 50) ? 1e-3f : 1e-5f);
    if (xpu_net_chance(net, 30)) xpu_onnx_float(&net->onnx, node, "momentum", 0.9f);
}

static void follow_up(xpu_net *net) {
    if (xpu_net_chance(net, 35)) add_batch_norm(net);
    if (xpu_net_chance(net, 65)) xpu_net_activation(net);
}

int xpu_net_emit_batch_norm(xpu_net *net, const char *op) {
    (void)op;
    add_batch_norm(net);
    return 1;
}

int xpu_net_emit_conv(xpu_net *net, const char *op) {
    (void)op;
    static const int64_t most[] = {12, 24, 64, XPU_NET_MAX_CHANNELS};
    window w = {.mode = PADS_EXPLICIT};
    int64_t in = net->now.dims[1], group = 1;
    if (xpu_net_chance(net, 40)) {
        int64_t divisor = xpu_net_range(net, 1, in);
        while (in % divisor) divisor--;
        group = divisor;
    }
    int64_t channels = xpu_net_range(net, 1, most[xpu_net_below(net, 4)]);
    channels = (channels + group - 1) / group * group;
    draw_kernel(net, &w, 25);
    draw_mode(net, &w, 0);
    if (channels > XPU_NET_MAX_CHANNELS || !place(net, &w) || !add_conv(net, &w, channels, group, 2)) return 0;
    follow_up(net);
    return 1;
}

int xpu_net_emit_depthwise(xpu_net *net, const char *op) {
    (void)op;
    window w = {.mode = PADS_EXPLICIT};
    int64_t in = net->now.dims[1], channels = xpu_net_chance(net, 25) ? 2 * in : in;
    draw_kernel(net, &w, 25);
    draw_mode(net, &w, 0);
    if (in < 2 || channels > XPU_NET_MAX_CHANNELS || !place(net, &w)) return 0;
    if (!add_conv(net, &w, channels, in, 2)) return 0;
    follow_up(net);
    return 1;
}

/* x + f(x) or x - f(x), f a convolution that keeps all dims. */
int xpu_net_emit_residual(xpu_net *net, const char *op) {
    window w = {.stride = {1, 1}, .dilation = {1, 1}, .mode = PADS_SAME_UPPER};
    xpu_net_value input = net->now;
    w.kernel[0] = w.kernel[1] = 1 + 2 * xpu_net_below(net, 3);
    if (xpu_net_chance(net, 60)) {
        w.mode = PADS_EXPLICIT;
        for (int i = 0; i < 4; i++) w.pads[i] = w.kernel[0] / 2;
    }
    int64_t group = xpu_net_chance(net, 30) ? input.dims[1] : 1;
    int64_t fan_in = w.kernel[0] * w.kernel[1] * input.dims[1] / group, work = fan_in * xpu_net_elements(&input);
    if (!place(net, &w) || work > net->macs_left / 2 || fan_in * input.dims[1] > net->weights_left / 2) return 0;
    if (!add_conv(net, &w, input.dims[1], group, 2)) return 0;
    if (xpu_net_chance(net, 40)) xpu_net_activation(net);
    xpu_net_value branch = net->now;
    int swap = xpu_net_chance(net, 50);
    xpu_net_node(net, op, swap ? input.name : branch.name, swap ? branch.name : input.name, NULL);
    if (xpu_net_chance(net, 60)) xpu_net_activation(net);
    return 1;
}

/* x * sigmoid(W relu(V mean(x))). */
int xpu_net_emit_gate(xpu_net *net, const char *op) {
    window w = {.kernel = {1, 1}, .stride = {1, 1}, .dilation = {1, 1}, .out = {1, 1}};
    xpu_net_value input = net->now;
    int64_t channels = input.dims[1], middle = (channels + 3) / 4;
    if (2 * channels * middle > net->weights_left / 2 || 6 * channels * middle > net->macs_left / 2) return 0;
    xpu_net_unary(net, op);
    int64_t pooled[4] = {input.dims[0], channels, 1, 1};
    xpu_net_set_dims(net, 4, pooled);
    add_conv(net, &w, middle, 1, 2);
    xpu_net_unary(net, "Relu");
    add_conv(net, &w, channels, 1, 2);
    xpu_net_unary(net, xpu_net_chance(net, 50) ? "Sigmoid" : "HardSigmoid");
    xpu_net_value gate = net->now;
    net->now = input;
    int swap = xpu_net_chance(net, 50);
    xpu_net_node(net, "Mul", swap ? gate.name : input.name, swap ? input.name : gate.name, NULL);
    return 1;
}

/* The image as one row of pixels, a 1-D convolution, and back to rank 4. */
int xpu_net_emit_conv_1d(xpu_net *net, const char *op) {
    (void)op;
    window w = {.mode = PADS_EXPLICIT, .dilation = {1, 1}};
    xpu_net_value input = net->now;
    int64_t row[3] = {input.dims[0], input.dims[1], input.dims[2] * input.dims[3]};
    w.kernel[0] = xpu_net_range(net, 1, 5);
    w.stride[0] = xpu_net_range(net, 1, 2);
    w.dilation[0] = xpu_net_range(net, 1, 2);
    w.pads[0] = xpu_net_range(net, 0, 2);
    w.pads[2] = xpu_net_range(net, 0, 2);
    int64_t padded = row[2] + w.pads[0] + w.pads[2], fan_in = w.kernel[0] * row[1];
    if (padded < reach(&w, 0)) return 0;
    w.out[0] = (padded - reach(&w, 0)) / w.stride[0] + 1;
    if (w.out[0] * row[0] * row[1] * fan_in > net->macs_left / 2 || fan_in * row[1] > net->weights_left / 2) return 0;
    xpu_net_reshape(net, 3, row);
    add_conv(net, &w, row[1], 1, 1);
    if (xpu_net_chance(net, 40)) add_batch_norm(net);
    xpu_net_unsqueeze(net, (const int64_t[]){xpu_net_range(net, 2, 3)}, 1);
    return 1;
}

static void add_pool(xpu_net *net, const char *op, const window *w, int average) {
    XpuOnnx__NodeProto *node = xpu_net_unary(net, op);
    set_attributes(net, node, w, 2, 100);
    if (average && !overhangs(net, w) && xpu_net_chance(net, 50)) xpu_net_int(net, node, "count_include_pad", 1);
    int64_t dims[4] = {net->now.dims[0], net->now.dims[1], w->out[0], w->out[1]};
    xpu_net_set_dims(net, 4, dims);
}

int xpu_net_emit_pool(xpu_net *net, const char *op) {
    window w = {.mode = PADS_EXPLICIT};
    int average = op[0] == 'A';
    draw_kernel(net, &w, net->onnx.opset >= (average ? 19 : 10) ? 20 : 0);
    if (w.kernel[0] == 1 && w.kernel[1] == 1) w.kernel[0] = w.kernel[1] = 2;
    draw_mode(net, &w, 1);
    if (!place(net, &w)) return 0;
    draw_ceil(net, &w);
    if (w.out[0] * w.out[1] * net->now.dims[0] * net->now.dims[1] > XPU_NET_MAX_ELEMENTS) return 0;
    add_pool(net, op, &w, average);
    return 1;
}

int xpu_net_shrink(xpu_net *net, int64_t side) {
    window w = {.mode = PADS_EXPLICIT, .dilation = {1, 1}};
    if (net->now.dims[2] <= side && net->now.dims[3] <= side) return 0;
    for (int i = 0; i < 2; i++) w.kernel[i] = w.stride[i] = (net->now.dims[2 + i] + side - 1) / side;
    place(net, &w);
    int average = xpu_net_chance(net, 50);
    add_pool(net, average ? "AveragePool" : "MaxPool", &w, average);
    return 1;
}
