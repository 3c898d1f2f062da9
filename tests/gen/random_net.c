#include "tests/gen/random_net.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

/* A well-mixed 64-bit number for each (seed, counter): the finaliser of SplitMix64 (Steele, Lea, Flood 2014). */
static uint64_t mix(uint64_t seed, uint64_t counter) {
    uint64_t z = (seed + 1) * 0x9e3779b97f4a7c15u + counter * 0xd1b54a32d192ed03u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

uint32_t xpu_net_below(xpu_net *net, uint32_t n) {
    return (uint32_t)((mix(net->seed, net->drawn++) >> 32) * n >> 32);
}

int64_t xpu_net_range(xpu_net *net, int64_t low, int64_t high) {
    return low + xpu_net_below(net, (uint32_t)(high - low + 1));
}

int xpu_net_chance(xpu_net *net, uint32_t percent) {
    return xpu_net_below(net, 100) < percent;
}

/* 24 random bits give an integer number of 2^-32; the one rounding is the conversion to float. */
static float real_of(uint64_t random, int low, int high) {
    int64_t fraction = (int64_t)(random >> 40) * (high - low) + (int64_t)low * (1 << 24);
    return (float)((double)fraction * 0x1p-32);
}

float xpu_net_real(xpu_net *net, int low, int high) {
    return real_of(mix(net->seed, net->drawn++), low, high);
}

float xpu_net_weight_scale(int64_t fan_in) {
    int64_t square = fan_in * (65536 / 8), root = 1;
    while (root * root < square) root++;
    return 256.0f / (float)root;
}

xpu_tensor xpu_net_tensor(xpu_net *net, int rank, const int64_t *dims, int low, int high, float scale) {
    xpu_tensor tensor = {.dtype = XPU_F32, .rank = rank};
    memcpy(tensor.dims, dims, (size_t)rank * sizeof *dims);
    int64_t count = xpu_tensor_count(&tensor);
    float *data = XPU_NEW_ARRAY(net->arena, float, count);
    uint64_t key = mix(~net->seed, net->drawn++);
    for (int64_t i = 0; i < count; i++) data[i] = real_of(mix(key, (uint64_t)i), low, high) * scale;
    tensor.data = data;
    return tensor;
}

static char *new_name(xpu_net *net, const char *kind) {
    return xpu_printf(net->arena, "stage%d/%s%d", net->stage, kind, net->serial++);
}

/* The short attributes that Constant has since operator set 12; 0 where none fits. */
static int short_constant(xpu_net *net, XpuOnnx__NodeProto *node, const xpu_tensor *tensor) {
    size_t count = (size_t)xpu_tensor_count(tensor);
    if (net->onnx.opset < 12 || tensor->rank > 1 || !xpu_net_chance(net, 70)) return 0;
    if (tensor->dtype == XPU_F32 && tensor->rank) {
        xpu_onnx_floats(&net->onnx, node, "value_floats", tensor->data, count);
    } else if (tensor->dtype == XPU_F32) {
        xpu_onnx_float(&net->onnx, node, "value_float", *(const float *)tensor->data);
    } else if (tensor->rank) {
        xpu_onnx_ints(&net->onnx, node, "value_ints", tensor->data, count);
    } else {
        xpu_onnx_int(&net->onnx, node, "value_int", *(const int64_t *)tensor->data);
    }
    return 1;
}

static const char *constant(xpu_net *net, const char *kind, const xpu_tensor *tensor, uint32_t node_percent) {
    static const char *const no_inputs[] = {NULL};
    char *name = new_name(net, kind);
    net->weights_left -= xpu_tensor_count(tensor);
    int typed = xpu_net_chance(net, 30), floats_only = net->onnx.opset < 9;
    if (xpu_net_chance(net, node_percent) && !(floats_only && tensor->dtype != XPU_F32)) {
        XpuOnnx__NodeProto *node = xpu_onnx_node(&net->onnx, "Constant", net->unnamed ? NULL : name, name, no_inputs);
        if (!short_constant(net, node, tensor)) xpu_onnx_tensor(&net->onnx, node, "value", tensor, typed);
    } else {
        xpu_onnx_initializer(&net->onnx, name, tensor, typed);
    }
    return name;
}

const char *xpu_net_weights(xpu_net *net, int rank, const int64_t *dims, int low, int high, float scale) {
    xpu_tensor tensor = xpu_net_tensor(net, rank, dims, low, high, scale);
    return constant(net, "w", &tensor, 15);
}

const char *xpu_net_scalar(xpu_net *net, float value) {
    xpu_tensor tensor = {.dtype = XPU_F32, .data = &value};
    return constant(net, "value", &tensor, 50);
}

const char *xpu_net_ints(xpu_net *net, const int64_t *values, int count) {
    xpu_tensor tensor = {.dtype = XPU_I64, .rank = 1, .dims = {count}};
    tensor.data = xpu_copy(net->arena, values, (size_t)count * sizeof *values);
    return constant(net, "list", &tensor, 40);
}

int64_t xpu_net_elements(const xpu_net_value *value) {
    int64_t count = 1;
    for (int i = 0; i < value->rank; i++) count *= value->dims[i];
    return count;
}

int xpu_net_same_dims(const xpu_net_value *a, const xpu_net_value *b) {
    return a->rank == b->rank && !memcmp(a->dims, b->dims, (size_t)a->rank * sizeof *a->dims);
}

void xpu_net_remember(xpu_net *net) {
    if (net->now.rank != 4 || net->seen_count == XPU_NET_SEEN) return;
    net->seen[net->seen_count++] = net->now;
}

XpuOnnx__NodeProto *xpu_net_node(xpu_net *net, const char *op, const char *a, const char *b, const char *c) {
    const char *inputs[] = {a, b, c, NULL};
    char *name = new_name(net, op);
    for (char *letter = name; *letter; letter++) *letter = (char)tolower(*letter);
    snprintf(net->now.name, sizeof net->now.name, "v%d", net->serial++);
    return xpu_onnx_node(&net->onnx, op, net->unnamed ? NULL : name, net->now.name, inputs);
}

XpuOnnx__NodeProto *xpu_net_unary(xpu_net *net, const char *op) {
    xpu_net_value input = net->now;
    return xpu_net_node(net, op, input.name, NULL, NULL);
}

void xpu_net_set_dims(xpu_net *net, int rank, const int64_t *dims) {
    net->now.rank = rank;
    memcpy(net->now.dims, dims, (size_t)rank * sizeof *dims);
}

void xpu_net_int(xpu_net *net, XpuOnnx__NodeProto *node, const char *name, int64_t value) {
    xpu_onnx_int(&net->onnx, node, name, value);
}

XpuOnnx__NodeProto *xpu_net_with_list(xpu_net *net, const char *op, const char *name, int last_attribute,
                                      const int64_t *values, int count) {
    xpu_net_value input = net->now;
    if (net->onnx.opset > last_attribute) {
        const char *list = xpu_net_ints(net, values, count);
        return xpu_net_node(net, op, input.name, list, NULL);
    }
    XpuOnnx__NodeProto *node = xpu_net_node(net, op, input.name, NULL, NULL);
    xpu_onnx_ints(&net->onnx, node, name, values, (size_t)count);
    return node;
}
