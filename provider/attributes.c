/* Tensors and attributes of nodes, as messages of ONNX. */
#include <string.h>

#include "frontend/onnx/onnx.pb-c.h"
#include "provider/provider.h"

typedef struct {
    const OrtApi *api;
    OrtValue *value;
} held_value;

static void release_value(void *object) {
    const held_value *held = object;
    held->api->ReleaseValue(held->value);
}

static OrtStatus *read_shape(const OrtApi *api, xpu_arena *arena, const OrtTensorTypeAndShapeInfo *info,
                             XpuOnnx__TensorProto *tensor) {
    ONNXTensorElementDataType type;
    XPU_TRY(api->GetTensorElementType(info, &type));
    XPU_TRY(api->GetDimensionsCount(info, &tensor->n_dims));
    tensor->dims = XPU_NEW_ARRAY(arena, int64_t, tensor->n_dims + 1);
    tensor->has_data_type = 1;
    tensor->data_type = (int32_t)type; /* the same numbers */
    return api->GetDimensions(info, tensor->dims, tensor->n_dims);
}

OrtStatus *xpu_ep_read_tensor(xpu_ep_graph *graph, const OrtValue *value, XpuOnnx__TensorProto *tensor,
                              const char **why_not) {
    const OrtApi *api = graph->factory->api;
    OrtTensorTypeAndShapeInfo *info = NULL;
    xpu_onnx__tensor_proto__init(tensor);
    int is_tensor = 0;
    XPU_TRY(api->IsTensor(value, &is_tensor));
    if (!is_tensor) {
        *why_not = "a constant is no tensor";
        return NULL;
    }
    XPU_TRY(api->GetTensorTypeAndShape(value, &info));
    OrtStatus *status = read_shape(api, graph->arena, info, tensor);
    api->ReleaseTensorTypeAndShapeInfo(info);
    if (status) return status;
    if (tensor->data_type == XPU_ONNX__TENSOR_PROTO__DATA_TYPE__STRING) {
        *why_not = "a constant has strings";
        return NULL;
    }
    void *data = NULL;
    XPU_TRY(api->GetTensorSizeInBytes(value, &tensor->raw_data.len));
    XPU_TRY(api->GetTensorMutableData((OrtValue *)(uintptr_t)value, &data)); /* it is only read */
    tensor->has_raw_data = 1;
    tensor->raw_data.data = data;
    return NULL;
}

/* The bytes of an attribute; *size of them. onnxruntime says by an error how many it has. */
static OrtStatus *read_bytes(const OrtApi *api, xpu_arena *arena, const OrtOpAttr *from, OrtOpAttrType type,
                             void **bytes, size_t *size) {
    *size = 0;
    OrtStatus *status = api->ReadOpAttr(from, type, NULL, 0, size);
    if (status && *size == 0) return status;
    if (status) api->ReleaseStatus(status);
    *bytes = xpu_alloc(arena, *size + 1);
    return *size ? api->ReadOpAttr(from, type, *bytes, *size, size) : NULL;
}

/* Texts that stand one behind the other, each with a 0 behind it. */
static void split_strings(xpu_arena *arena, char *bytes, size_t size, XpuOnnx__AttributeProto *to) {
    for (size_t i = 0; i < size; i++) to->n_strings += bytes[i] == '\0';
    to->strings = XPU_NEW_ARRAY(arena, ProtobufCBinaryData, to->n_strings + 1);
    for (size_t i = 0; i < to->n_strings; i++) {
        to->strings[i] = (ProtobufCBinaryData){strlen(bytes), (uint8_t *)bytes};
        bytes += to->strings[i].len + 1;
    }
}

static OrtStatus *read_tensor_attribute(xpu_ep_graph *graph, const OrtOpAttr *from, XpuOnnx__AttributeProto *to,
                                        const char **why_not) {
    held_value *held = XPU_NEW(graph->arena, held_value);
    held->api = graph->factory->api;
    XPU_TRY(held->api->OpAttr_GetTensorAttributeAsOrtValue(from, &held->value));
    xpu_arena_defer(graph->arena, release_value, held);
    to->t = XPU_NEW(graph->arena, XpuOnnx__TensorProto);
    to->type = XPU_ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__TENSOR;
    return xpu_ep_read_tensor(graph, held->value, to->t, why_not);
}

OrtStatus *xpu_ep_read_attribute(xpu_ep_graph *graph, const OrtOpAttr *from, XpuOnnx__AttributeProto *to,
                                 const char **why_not) {
    const OrtApi *api = graph->factory->api;
    OrtOpAttrType type = ORT_OP_ATTR_UNDEFINED;
    void *bytes = NULL;
    size_t size = 0;
    xpu_onnx__attribute_proto__init(to);
    XPU_TRY(api->OpAttr_GetName(from, (const char **)&to->name));
    OrtStatus *unknown = api->OpAttr_GetType(from, &type);
    if (unknown) api->ReleaseStatus(unknown);
    if (type == ORT_OP_ATTR_TENSOR) {
        to->has_type = 1;
        return read_tensor_attribute(graph, from, to, why_not);
    }
    if (unknown || type == ORT_OP_ATTR_UNDEFINED || type >= ORT_OP_ATTR_GRAPH) {
        *why_not = xpu_printf(graph->arena, "attribute '%s' is of a type that onnxruntime does not pass on", to->name);
        return NULL;
    }
    XPU_TRY(read_bytes(api, graph->arena, from, type, &bytes, &size));
    to->has_type = 1;
    switch (type) {
    case ORT_OP_ATTR_INT:
        to->type = XPU_ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__INT;
        to->has_i = 1;
        memcpy(&to->i, bytes, sizeof to->i);
        break;
    case ORT_OP_ATTR_FLOAT:
        to->type = XPU_ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__FLOAT;
        to->has_f = 1;
        memcpy(&to->f, bytes, sizeof to->f);
        break;
    case ORT_OP_ATTR_STRING:
        to->type = XPU_ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__STRING;
        to->has_s = 1;
        to->s = (ProtobufCBinaryData){strlen(bytes), bytes};
        break;
    case ORT_OP_ATTR_INTS:
        to->type = XPU_ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__INTS;
        to->n_ints = size / sizeof(int64_t);
        to->ints = bytes;
        break;
    case ORT_OP_ATTR_FLOATS:
        to->type = XPU_ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__FLOATS;
        to->n_floats = size / sizeof(float);
        to->floats = bytes;
        break;
    default:
        to->type = XPU_ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__STRINGS;
        split_strings(graph->arena, bytes, size, to);
    }
    return NULL;
}

OrtStatus *xpu_ep_text_attribute(const OrtApi *api, xpu_arena *arena, const OrtNode *node, const char *name,
                                 const char **text, size_t *length) {
    const OrtOpAttr *attribute = NULL;
    void *bytes = NULL;
    *text = NULL;
    *length = 0;
    OrtStatus *missing = api->Node_GetAttributeByName(node, name, &attribute);
    if (missing) api->ReleaseStatus(missing);
    if (missing || !attribute) return NULL;
    XPU_TRY(read_bytes(api, arena, attribute, ORT_OP_ATTR_STRING, &bytes, length));
    *text = bytes;
    return NULL;
}

OrtStatus *xpu_ep_number_attribute(const OrtApi *api, const OrtNode *node, const char *name, int64_t fallback,
                                   int64_t *number) {
    const OrtOpAttr *attribute = NULL;
    size_t size;
    *number = fallback;
    OrtStatus *missing = api->Node_GetAttributeByName(node, name, &attribute);
    if (missing) api->ReleaseStatus(missing);
    return missing || !attribute ? NULL : api->ReadOpAttr(attribute, ORT_OP_ATTR_INT, number, sizeof *number, &size);
}
