/* Writes the network of bytes of tests/regress/elementwise-int8.json and its input: an attention over channels, made of
 * tables, a sum, a product and one with a row of channels, none of which stands behind a convolution. */
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "base/npy.h"
#include "tests/gen/onnx_build.h"

static const char usage[] = "usage: byte_layers_main OUT.onnx OUT_in.npz\n"
                            "Writes a network of elementwise layers of bytes and a matching input \"x\".\n"
                            "Example: byte_layers_main net.onnx net_in.npz\n";

enum { CHANNELS = 8, SIDE = 48 };

typedef struct {
    xpu_onnx_builder b;
    xpu_arena *arena;
} network;

static void add_scalar(network *n, const char *name, xpu_dtype dtype, const void *value) {
    xpu_onnx_initializer(&n->b, name, &(xpu_tensor){dtype, 0, {0}, (void *)(uintptr_t)value}, 0);
}

/* `y`, which is op of one or two tensors of bytes, all of one scheme. */
static void add_layer(network *n, const char *op, const char *y, const char *first, const char *second) {
    const char *a = xpu_printf(n->arena, "%s_a", y), *c = xpu_printf(n->arena, "%s_c", y),
               *f = xpu_printf(n->arena, "%s_f", y);
    xpu_onnx_node(&n->b, "DequantizeLinear", a, a, (const char *const[]){first, "scale", "zero", NULL});
    if (second) xpu_onnx_node(&n->b, "DequantizeLinear", c, c, (const char *const[]){second, "scale", "zero", NULL});
    xpu_onnx_node(&n->b, op, f, f, (const char *const[]){a, second ? c : NULL, NULL});
    xpu_onnx_node(&n->b, "QuantizeLinear", y, y, (const char *const[]){f, "scale", "zero", NULL});
}

static void add_layers(network *n) {
    static const int64_t kernel[] = {3, 3}, pads[] = {1, 1, 1, 1};
    XpuOnnx__NodeProto *pool = xpu_onnx_node(&n->b, "MaxPool", "pool", "p", (const char *const[]){"x", NULL});
    xpu_onnx_ints(&n->b, pool, "kernel_shape", kernel, 2);
    xpu_onnx_ints(&n->b, pool, "pads", pads, 4);
    add_layer(n, "Sigmoid", "table", "p", NULL);
    add_layer(n, "Mul", "product", "p", "table");
    add_layer(n, "GlobalAveragePool", "mean", "product", NULL);
    add_layer(n, "Sigmoid", "gate", "mean", NULL);
    add_layer(n, "Mul", "gated", "product", "gate");
    add_layer(n, "Add", "sum", "gated", "p");
}

static void set_bytes(XpuOnnx__ValueInfoProto *value) {
    value->type->tensor_type->elem_type = XPU_ONNX__TENSOR_PROTO__DATA_TYPE__UINT8;
}

static xpu_status write_network(xpu_mem *mem, const char *model_path, const char *input_path, xpu_diags *diags) {
    static const int64_t dims[] = {1, CHANNELS, SIDE, SIDE};
    static const float scale = 1.0f / 32;
    static const uint8_t zero = 120;
    static uint8_t bytes[CHANNELS * SIDE * SIDE];
    network n = {.arena = xpu_arena_new(mem, "network")};
    size_t length;
    for (int i = 0; i < CHANNELS * SIDE * SIDE; i++)
        bytes[i] = (uint8_t)(i * 7 + i / SIDE * 13 + i / (SIDE * SIDE) * 29);
    xpu_onnx_begin(&n.b, n.arena, 13);
    xpu_onnx_input(&n.b, "x", 4, dims);
    add_scalar(&n, "scale", XPU_F32, &scale);
    add_scalar(&n, "zero", XPU_U8, &zero);
    add_layers(&n);
    xpu_onnx_output(&n.b, "sum", 4, dims);
    set_bytes(n.b.inputs.items[0]);
    set_bytes(n.b.outputs.items[0]);
    void *model = xpu_onnx_pack(&n.b, "byte_layers", &length);
    xpu_status status = xpu_file_write(n.arena, model_path, model, length, diags);
    const xpu_named_tensor input = {"x", {XPU_U8, 4, {1, CHANNELS, SIDE, SIDE}, bytes}};
    return status ? status : xpu_npz_write(n.arena, input_path, &input, 1, diags);
}

int main(int argc, char **argv) {
    if (argc != 3) {
        const int asked = argc == 2 && strcmp(argv[1], "--help") == 0;
        fputs(usage, asked ? stdout : stderr);
        return asked ? XPU_OK : XPU_EUSAGE;
    }
    xpu_diags diags;
    xpu_mem mem;
    xpu_diags_init(&diags);
    xpu_mem_init(&mem);
    xpu_status status;
    if (setjmp(mem.out_of_memory))
        status = xpu_error_oom(&diags);
    else
        status = write_network(&mem, argv[1], argv[2], &diags);
    xpu_diags_print(&diags, stderr);
    xpu_mem_release(&mem);
    xpu_diags_clear(&diags);
    return status;
}
