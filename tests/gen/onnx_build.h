/*
 * Builds ONNX models in memory, for tests: nodes, attributes, weights, inputs and outputs are collected and packed into
 * the bytes of a file. Everything lives in one arena; names and tensors may be temporary, they are copied.
 */
#ifndef XPU_TESTS_GEN_ONNX_BUILD_H
#define XPU_TESTS_GEN_ONNX_BUILD_H

#include "base/arena.h"
#include "base/tensor.h"
#include "frontend/onnx/onnx.pb-c.h"

enum { XPU_ONNX_MAX_INPUTS = 320 };

typedef XPU_ARRAY(XpuOnnx__NodeProto *) xpu_onnx_nodes;
typedef XPU_ARRAY(XpuOnnx__TensorProto *) xpu_onnx_tensors;
typedef XPU_ARRAY(XpuOnnx__ValueInfoProto *) xpu_onnx_values;

typedef struct {
    xpu_arena *arena;
    int opset;
    int ir_version; /* 3 for opsets up to 8, where weights are listed among the inputs too; 4 and more: they are not */
    char *domain;   /* that some nodes are of besides ONNX's own, in version 1; NULL: none */
    xpu_onnx_nodes nodes;
    xpu_onnx_tensors initializers;
    xpu_onnx_values inputs, outputs;
} xpu_onnx_builder;

/* Starts a model of ai.onnx version `opset` (7 to 22). */
void xpu_onnx_begin(xpu_onnx_builder *builder, xpu_arena *arena, int opset);

/* Adds a node with one output. `inputs` ends with NULL; "" is an absent optional input. `name` may be NULL. */
XpuOnnx__NodeProto *xpu_onnx_node(xpu_onnx_builder *builder, const char *op, const char *name, const char *output,
                                  const char *const *inputs);

/* Makes it an operator of another domain than ONNX's own; a model has one such domain. */
void xpu_onnx_domain(xpu_onnx_builder *builder, XpuOnnx__NodeProto *node, const char *domain);

void xpu_onnx_int(xpu_onnx_builder *builder, XpuOnnx__NodeProto *node, const char *name, int64_t value);
void xpu_onnx_float(xpu_onnx_builder *builder, XpuOnnx__NodeProto *node, const char *name, float value);
void xpu_onnx_string(xpu_onnx_builder *builder, XpuOnnx__NodeProto *node, const char *name, const char *value);
void xpu_onnx_ints(xpu_onnx_builder *builder, XpuOnnx__NodeProto *node, const char *name, const int64_t *values,
                   size_t count);
void xpu_onnx_floats(xpu_onnx_builder *builder, XpuOnnx__NodeProto *node, const char *name, const float *values,
                     size_t count);
/* `typed` as in xpu_onnx_initializer. */
void xpu_onnx_tensor(xpu_onnx_builder *builder, XpuOnnx__NodeProto *node, const char *name, const xpu_tensor *tensor,
                     int typed);

/* `subgraph` is a builder of its own, whose nodes, weights, inputs and outputs the attribute holds. */
void xpu_onnx_graph(xpu_onnx_builder *builder, XpuOnnx__NodeProto *node, const char *name, xpu_onnx_builder *subgraph);

/* Adds a weight: float32, int64, int32, int8, uint8 or bool. It is stored in raw_data, or, where `typed`, in
 * float_data, int64_data or int32_data (not int32). */
void xpu_onnx_initializer(xpu_onnx_builder *builder, const char *name, const xpu_tensor *tensor, int typed);

/* Declares a float32 graph input or output. A dim of -1 becomes the free dimension "N". */
void xpu_onnx_input(xpu_onnx_builder *builder, const char *name, int rank, const int64_t *dims);
void xpu_onnx_output(xpu_onnx_builder *builder, const char *name, int rank, const int64_t *dims);

/* The bytes of the file, in the arena. */
void *xpu_onnx_pack(xpu_onnx_builder *builder, const char *graph_name, size_t *length);

#endif
