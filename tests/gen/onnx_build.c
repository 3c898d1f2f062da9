#include "tests/gen/onnx_build.h"

#include <string.h>

/* The oldest IR version that may carry an operator set, from the format's version table. */
static int ir_version_of(int opset) {
    static const struct {
        int opset, ir_version;
    } table[] = {{8, 3}, {9, 4}, {10, 5}, {11, 6}, {14, 7}, {18, 8}, {20, 9}, {22, 10}, {23, 11}, {24, 12}, {99, 13}};
    size_t i = 0;
    while (table[i].opset < opset) i++;
    return table[i].ir_version;
}

void xpu_onnx_begin(xpu_onnx_builder *builder, xpu_arena *arena, int opset) {
    memset(builder, 0, sizeof *builder);
    builder->arena = arena;
    builder->opset = opset;
    builder->ir_version = ir_version_of(opset);
}

XpuOnnx__NodeProto *xpu_onnx_node(xpu_onnx_builder *builder, const char *op, const char *name, const char *output,
                                  const char *const *inputs) {
    xpu_arena *arena = builder->arena;
    XpuOnnx__NodeProto *node = XPU_NEW(arena, XpuOnnx__NodeProto);
    xpu_onnx__node_proto__init(node);
    node->op_type = xpu_strdup(arena, op);
    if (name) node->name = xpu_strdup(arena, name);
    node->input = XPU_NEW_ARRAY(arena, char *, XPU_ONNX_MAX_INPUTS);
    for (; inputs[node->n_input]; node->n_input++)
        node->input[node->n_input] = xpu_strdup(arena, inputs[node->n_input]);
    node->output = XPU_NEW(arena, char *);
    node->output[0] = xpu_strdup(arena, output);
    node->n_output = 1;
    XPU_PUSH(arena, &builder->nodes, node);
    return node;
}

static XpuOnnx__AttributeProto *add_attribute(xpu_onnx_builder *builder, XpuOnnx__NodeProto *node, const char *name,
                                              XpuOnnx__AttributeProto__AttributeType type) {
    enum { MOST = 8 };
    if (!node->attribute) node->attribute = XPU_NEW_ARRAY(builder->arena, XpuOnnx__AttributeProto *, MOST);
    XpuOnnx__AttributeProto *attribute = XPU_NEW(builder->arena, XpuOnnx__AttributeProto);
    xpu_onnx__attribute_proto__init(attribute);
    attribute->name = xpu_strdup(builder->arena, name);
    attribute->has_type = 1;
    attribute->type = type;
    node->attribute[node->n_attribute++] = attribute;
    return attribute;
}

void xpu_onnx_domain(xpu_onnx_builder *builder, XpuOnnx__NodeProto *node, const char *domain) {
    builder->domain = node->domain = xpu_strdup(builder->arena, domain);
}

void xpu_onnx_int(xpu_onnx_builder *builder, XpuOnnx__NodeProto *node, const char *name, int64_t value) {
    XpuOnnx__AttributeProto *attribute =
        add_attribute(builder, node, name, XPU_ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__INT);
    attribute->has_i = 1;
    attribute->i = value;
}

void xpu_onnx_float(xpu_onnx_builder *builder, XpuOnnx__NodeProto *node, const char *name, float value) {
    XpuOnnx__AttributeProto *attribute =
        add_attribute(builder, node, name, XPU_ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__FLOAT);
    attribute->has_f = 1;
    attribute->f = value;
}

void xpu_onnx_string(xpu_onnx_builder *builder, XpuOnnx__NodeProto *node, const char *name, const char *value) {
    XpuOnnx__AttributeProto *attribute =
        add_attribute(builder, node, name, XPU_ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__STRING);
    attribute->has_s = 1;
    attribute->s.data = (uint8_t *)xpu_strdup(builder->arena, value);
    attribute->s.len = strlen(value);
}

void xpu_onnx_ints(xpu_onnx_builder *builder, XpuOnnx__NodeProto *node, const char *name, const int64_t *values,
                   size_t count) {
    XpuOnnx__AttributeProto *attribute =
        add_attribute(builder, node, name, XPU_ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__INTS);
    attribute->ints = xpu_copy(builder->arena, values, count * sizeof *values);
    attribute->n_ints = count;
}

void xpu_onnx_floats(xpu_onnx_builder *builder, XpuOnnx__NodeProto *node, const char *name, const float *values,
                     size_t count) {
    XpuOnnx__AttributeProto *attribute =
        add_attribute(builder, node, name, XPU_ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__FLOATS);
    attribute->floats = xpu_copy(builder->arena, values, count * sizeof *values);
    attribute->n_floats = count;
}

/* Little endian bytes of the elements, whatever the host's order. */
static void set_raw(xpu_arena *arena, XpuOnnx__TensorProto *proto, const xpu_tensor *tensor) {
    size_t size = xpu_dtype_bytes(tensor->dtype), count = (size_t)xpu_tensor_count(tensor);
    uint8_t *bytes = xpu_alloc(arena, count * size);
    for (size_t i = 0; i < count; i++) {
        uint64_t word = 0;
        if (size == 1) word = ((const uint8_t *)tensor->data)[i];
        if (size == 4) word = ((const uint32_t *)tensor->data)[i];
        if (size == 8) word = ((const uint64_t *)tensor->data)[i];
        for (size_t k = 0; k < size; k++) bytes[i * size + k] = (uint8_t)(word >> (8 * k));
    }
    proto->has_raw_data = 1;
    proto->raw_data.data = bytes;
    proto->raw_data.len = count * size;
}

static int32_t code_of(xpu_dtype dtype) {
    switch (dtype) {
    case XPU_F32: return XPU_ONNX__TENSOR_PROTO__DATA_TYPE__FLOAT;
    case XPU_I64: return XPU_ONNX__TENSOR_PROTO__DATA_TYPE__INT64;
    case XPU_I32: return XPU_ONNX__TENSOR_PROTO__DATA_TYPE__INT32;
    case XPU_I8: return XPU_ONNX__TENSOR_PROTO__DATA_TYPE__INT8;
    case XPU_U8: return XPU_ONNX__TENSOR_PROTO__DATA_TYPE__UINT8;
    default: return XPU_ONNX__TENSOR_PROTO__DATA_TYPE__BOOL;
    }
}

static XpuOnnx__TensorProto *make_tensor(xpu_arena *arena, const char *name, const xpu_tensor *tensor, int typed) {
    size_t count = (size_t)xpu_tensor_count(tensor), bytes = xpu_tensor_bytes(tensor);
    XpuOnnx__TensorProto *proto = XPU_NEW(arena, XpuOnnx__TensorProto);
    xpu_onnx__tensor_proto__init(proto);
    if (name) proto->name = xpu_strdup(arena, name);
    proto->n_dims = (size_t)tensor->rank;
    proto->dims = xpu_copy(arena, tensor->dims, (size_t)tensor->rank * sizeof *tensor->dims);
    proto->has_data_type = 1;
    proto->data_type = code_of(tensor->dtype);
    if (!typed) {
        set_raw(arena, proto, tensor);
    } else if (tensor->dtype == XPU_F32) {
        proto->float_data = xpu_copy(arena, tensor->data, bytes);
        proto->n_float_data = count;
    } else if (tensor->dtype == XPU_I64) {
        proto->int64_data = xpu_copy(arena, tensor->data, bytes);
        proto->n_int64_data = count;
    } else {
        proto->int32_data = XPU_NEW_ARRAY(arena, int32_t, count);
        for (size_t i = 0; i < count; i++) proto->int32_data[i] = ((const uint8_t *)tensor->data)[i];
        proto->n_int32_data = count;
    }
    return proto;
}

static XpuOnnx__ValueInfoProto *make_value(xpu_arena *arena, const char *name, int32_t elem_type, int rank,
                                           const int64_t *dims) {
    XpuOnnx__ValueInfoProto *value = XPU_NEW(arena, XpuOnnx__ValueInfoProto);
    xpu_onnx__value_info_proto__init(value);
    value->name = xpu_strdup(arena, name);
    value->type = XPU_NEW(arena, XpuOnnx__TypeProto);
    xpu_onnx__type_proto__init(value->type);
    value->type->tensor_type = XPU_NEW(arena, XpuOnnx__TypeProto__Tensor);
    xpu_onnx__type_proto__tensor__init(value->type->tensor_type);
    value->type->tensor_type->has_elem_type = 1;
    value->type->tensor_type->elem_type = elem_type;
    XpuOnnx__TensorShapeProto *shape = XPU_NEW(arena, XpuOnnx__TensorShapeProto);
    xpu_onnx__tensor_shape_proto__init(shape);
    shape->dim = XPU_NEW_ARRAY(arena, XpuOnnx__TensorShapeProto__Dimension *, rank);
    shape->n_dim = (size_t)rank;
    for (int i = 0; i < rank; i++) {
        shape->dim[i] = XPU_NEW(arena, XpuOnnx__TensorShapeProto__Dimension);
        xpu_onnx__tensor_shape_proto__dimension__init(shape->dim[i]);
        shape->dim[i]->has_dim_value = dims[i] >= 0;
        if (dims[i] >= 0)
            shape->dim[i]->dim_value = dims[i];
        else
            shape->dim[i]->dim_param = xpu_strdup(arena, "N");
    }
    value->type->tensor_type->shape = shape;
    return value;
}

void xpu_onnx_tensor(xpu_onnx_builder *builder, XpuOnnx__NodeProto *node, const char *name, const xpu_tensor *tensor,
                     int typed) {
    XpuOnnx__AttributeProto *attribute =
        add_attribute(builder, node, name, XPU_ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__TENSOR);
    attribute->t = make_tensor(builder->arena, NULL, tensor, typed);
}

void xpu_onnx_initializer(xpu_onnx_builder *builder, const char *name, const xpu_tensor *tensor, int typed) {
    XpuOnnx__TensorProto *proto = make_tensor(builder->arena, name, tensor, typed);
    XPU_PUSH(builder->arena, &builder->initializers, proto);
    if (builder->ir_version > 3) return;
    XpuOnnx__ValueInfoProto *value = make_value(builder->arena, name, proto->data_type, tensor->rank, tensor->dims);
    XPU_PUSH(builder->arena, &builder->inputs, value);
}

void xpu_onnx_input(xpu_onnx_builder *builder, const char *name, int rank, const int64_t *dims) {
    XpuOnnx__ValueInfoProto *value =
        make_value(builder->arena, name, XPU_ONNX__TENSOR_PROTO__DATA_TYPE__FLOAT, rank, dims);
    XPU_PUSH(builder->arena, &builder->inputs, value);
}

void xpu_onnx_output(xpu_onnx_builder *builder, const char *name, int rank, const int64_t *dims) {
    XpuOnnx__ValueInfoProto *value =
        make_value(builder->arena, name, XPU_ONNX__TENSOR_PROTO__DATA_TYPE__FLOAT, rank, dims);
    XPU_PUSH(builder->arena, &builder->outputs, value);
}

static void fill_graph(xpu_onnx_builder *builder, const char *name, XpuOnnx__GraphProto *graph) {
    xpu_onnx__graph_proto__init(graph);
    graph->name = xpu_strdup(builder->arena, name);
    graph->node = builder->nodes.items;
    graph->n_node = builder->nodes.count;
    graph->initializer = builder->initializers.items;
    graph->n_initializer = builder->initializers.count;
    graph->input = builder->inputs.items;
    graph->n_input = builder->inputs.count;
    graph->output = builder->outputs.items;
    graph->n_output = builder->outputs.count;
}

void xpu_onnx_graph(xpu_onnx_builder *builder, XpuOnnx__NodeProto *node, const char *name, xpu_onnx_builder *subgraph) {
    XpuOnnx__AttributeProto *attribute =
        add_attribute(builder, node, name, XPU_ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__GRAPH);
    attribute->g = XPU_NEW(builder->arena, XpuOnnx__GraphProto);
    fill_graph(subgraph, name, attribute->g);
}

void *xpu_onnx_pack(xpu_onnx_builder *builder, const char *graph_name, size_t *length) {
    XpuOnnx__GraphProto graph;
    fill_graph(builder, graph_name, &graph);
    XpuOnnx__OperatorSetIdProto opset;
    xpu_onnx__operator_set_id_proto__init(&opset);
    opset.has_version = 1;
    opset.version = builder->opset;
    XpuOnnx__OperatorSetIdProto contrib;
    xpu_onnx__operator_set_id_proto__init(&contrib);
    contrib.domain = builder->domain;
    contrib.has_version = 1;
    contrib.version = 1;
    XpuOnnx__OperatorSetIdProto *opsets[] = {&opset, &contrib};

    XpuOnnx__ModelProto model;
    xpu_onnx__model_proto__init(&model);
    model.has_ir_version = 1;
    model.ir_version = builder->ir_version;
    model.producer_name = xpu_strdup(builder->arena, "xpu-tests");
    model.graph = &graph;
    model.opset_import = opsets;
    model.n_opset_import = builder->domain ? 2 : 1;
    void *bytes = xpu_alloc(builder->arena, xpu_onnx__model_proto__get_packed_size(&model));
    *length = xpu_onnx__model_proto__pack(&model, bytes);
    return bytes;
}
