/* Nodes of a graph of onnxruntime as a model of their own: an ONNX file in memory. */
#include <string.h>

#include "frontend/onnx/onnx.pb-c.h"
#include "provider/provider.h"

enum { MAX_DEPTH = 16 }; /* of bodies in bodies */

typedef XpuOnnx__GraphProto graph_proto;
typedef XpuOnnx__NodeProto node_proto;
typedef XpuOnnx__ValueInfoProto value_proto;

typedef struct {
    xpu_ep_graph *graph;
    const OrtApi *api;
    xpu_arena *arena;
    const char *why_not; /* of the node that is being written */
} writer;

#define NEW(w, type)      XPU_NEW((w)->arena, type)
#define LIST(w, type, n)  ((type *)XPU_NEW_ARRAY((w)->arena, type, (n) + 1))
#define ADD(list, n, one) ((list)[(n)++] = (one))

/* ---- types ---- */

/* Of an element type alone, releases before 1.24 say rank 0. Inputs that have no shape are rare; results of nodes that
 * onnxruntime could not follow are not. */
static int has_shape(const writer *w, const OrtTensorTypeAndShapeInfo *info, const OrtValueInfo *value, size_t rank) {
    const OrtApi *newer = w->graph->factory->api_24;
    bool is_input = false;
    if (rank > 0) return 1;
    if (newer) return newer->TensorTypeAndShape_HasShape(info);
    OrtStatus *status = w->api->ValueInfo_IsRequiredGraphInput(value, &is_input);
    if (status) w->api->ReleaseStatus(status);
    return is_input;
}

static XpuOnnx__TensorShapeProto *new_shape(writer *w, const int64_t *dims, const char *const *names, size_t rank) {
    XpuOnnx__TensorShapeProto *shape = NEW(w, XpuOnnx__TensorShapeProto);
    xpu_onnx__tensor_shape_proto__init(shape);
    shape->dim = LIST(w, XpuOnnx__TensorShapeProto__Dimension *, rank);
    for (size_t i = 0; i < rank; i++) {
        XpuOnnx__TensorShapeProto__Dimension *dim = NEW(w, XpuOnnx__TensorShapeProto__Dimension);
        xpu_onnx__tensor_shape_proto__dimension__init(dim);
        dim->has_dim_value = dims[i] >= 0;
        dim->dim_value = dims[i];
        if (dims[i] < 0 && names[i] && names[i][0]) dim->dim_param = xpu_strdup(w->arena, names[i]);
        ADD(shape->dim, shape->n_dim, dim);
    }
    return shape;
}

/* needs_shape: of a value without one the compiler could not make an input. */
static OrtStatus *write_type(writer *w, const OrtValueInfo *value, int needs_shape, XpuOnnx__TypeProto **type) {
    const OrtTensorTypeAndShapeInfo *info = NULL;
    ONNXTensorElementDataType element;
    size_t rank;
    const OrtTypeInfo *of_value = NULL;
    XPU_TRY(w->api->GetValueInfoTypeInfo(value, &of_value));
    if (of_value) XPU_TRY(w->api->CastTypeInfoToTensorInfo(of_value, &info));
    if (!info) {
        w->why_not = "a value that it exchanges with others is no tensor";
        return NULL;
    }
    XPU_TRY(w->api->GetTensorElementType(info, &element));
    XPU_TRY(w->api->GetDimensionsCount(info, &rank));
    int64_t *dims = LIST(w, int64_t, rank);
    const char **names = LIST(w, const char *, rank);
    XPU_TRY(w->api->GetDimensions(info, dims, rank));
    XPU_TRY(w->api->GetSymbolicDimensions(info, names, rank));
    *type = NEW(w, XpuOnnx__TypeProto);
    xpu_onnx__type_proto__init(*type);
    (*type)->tensor_type = NEW(w, XpuOnnx__TypeProto__Tensor);
    xpu_onnx__type_proto__tensor__init((*type)->tensor_type);
    (*type)->tensor_type->has_elem_type = 1;
    (*type)->tensor_type->elem_type = (int32_t)element;
    int has = has_shape(w, info, value, rank);
    if (has) (*type)->tensor_type->shape = new_shape(w, dims, names, rank);
    if (!has && needs_shape) w->why_not = "onnxruntime does not know how many dims an operand has";
    return NULL;
}

static OrtStatus *new_value(writer *w, const OrtValueInfo *info, int needs_shape, value_proto **value) {
    const char *name = NULL;
    *value = NEW(w, value_proto);
    xpu_onnx__value_info_proto__init(*value);
    XPU_TRY(w->api->GetValueInfoName(info, &name));
    (*value)->name = xpu_strdup(w->arena, name);
    return write_type(w, info, needs_shape, &(*value)->type);
}

/* ---- nodes ---- */

static OrtStatus *write_names(writer *w, const OrtValueInfo *const *infos, size_t count, char **names) {
    for (size_t i = 0; i < count; i++) {
        const char *name = "";
        if (infos[i]) XPU_TRY(w->api->GetValueInfoName(infos[i], &name));
        names[i] = xpu_strdup(w->arena, name);
    }
    return NULL;
}

static OrtStatus *write_body(writer *w, const OrtGraph *from, int depth, graph_proto *to);

static OrtStatus *write_bodies(writer *w, const OrtNode *from, int depth, node_proto *to) {
    size_t count;
    XPU_TRY(w->api->Node_GetNumSubgraphs(from, &count));
    if (!count) return NULL;
    const OrtGraph **bodies = LIST(w, const OrtGraph *, count);
    const char **names = LIST(w, const char *, count);
    XPU_TRY(w->api->Node_GetSubgraphs(from, bodies, count, names));
    for (size_t i = 0; i < count; i++) {
        XpuOnnx__AttributeProto *attribute = NEW(w, XpuOnnx__AttributeProto);
        xpu_onnx__attribute_proto__init(attribute);
        attribute->name = xpu_strdup(w->arena, names[i]);
        attribute->has_type = 1;
        attribute->type = XPU_ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__GRAPH;
        attribute->g = NEW(w, graph_proto);
        XPU_TRY(write_body(w, bodies[i], depth + 1, attribute->g));
        ADD(to->attribute, to->n_attribute, attribute);
    }
    return NULL;
}

static int is_body(const XpuOnnx__AttributeProto *attribute, const node_proto *node) {
    for (size_t i = 0; i < node->n_attribute; i++) {
        if (strcmp(node->attribute[i]->name, attribute->name) == 0) return 1;
    }
    return 0;
}

/* onnxruntime adds defaults of its tables: some have no meaning, and some are those of the other form. */
static int is_kept(const node_proto *node, XpuOnnx__AttributeProto *attribute) {
    if (strcmp(node->op_type, "SpaceToDepth") == 0 && strcmp(attribute->name, "mode") == 0)
        return !attribute->has_s || attribute->s.len != 3 || memcmp(attribute->s.data, "DCR", 3) != 0;
    if (strcmp(node->op_type, "RNN") == 0 && strcmp(attribute->name, "activations") == 0) {
        for (size_t i = 0; i < node->n_attribute; i++) {
            const XpuOnnx__AttributeProto *other = node->attribute[i];
            if (strcmp(other->name, "direction") == 0 && other->s.len == strlen("bidirectional")) return 1;
        }
        if (attribute->n_strings > 1) attribute->n_strings = 1;
    }
    return 1;
}

static OrtStatus *write_attributes(writer *w, const OrtNode *from, int depth, node_proto *to) {
    size_t count, bodies;
    XPU_TRY(w->api->Node_GetNumAttributes(from, &count));
    XPU_TRY(w->api->Node_GetNumSubgraphs(from, &bodies));
    const OrtOpAttr **attributes = LIST(w, const OrtOpAttr *, count);
    if (count) XPU_TRY(w->api->Node_GetAttributes(from, attributes, count));
    to->attribute = LIST(w, XpuOnnx__AttributeProto *, count + bodies);
    XPU_TRY(write_bodies(w, from, depth, to));
    for (size_t i = 0; i < count; i++) {
        const char *why_not = NULL;
        XpuOnnx__AttributeProto *attribute = NEW(w, XpuOnnx__AttributeProto);
        if (!attributes[i]) continue; /* a body, which is there already */
        XPU_TRY(xpu_ep_read_attribute(w->graph, attributes[i], attribute, &why_not));
        if (is_body(attribute, to)) continue;
        if (why_not) w->why_not = why_not;
        ADD(to->attribute, to->n_attribute, attribute);
    }
    size_t kept = 0;
    for (size_t i = 0; i < to->n_attribute; i++) {
        if (is_kept(to, to->attribute[i])) to->attribute[kept++] = to->attribute[i];
    }
    to->n_attribute = kept;
    return NULL;
}

static OrtStatus *new_node(writer *w, const OrtNode *from, int depth, node_proto **to) {
    const char *name, *op, *domain;
    *to = NEW(w, node_proto);
    xpu_onnx__node_proto__init(*to);
    XPU_TRY(w->api->Node_GetName(from, &name));
    XPU_TRY(w->api->Node_GetOperatorType(from, &op));
    XPU_TRY(w->api->Node_GetDomain(from, &domain));
    XPU_TRY(w->api->Node_GetNumInputs(from, &(*to)->n_input));
    XPU_TRY(w->api->Node_GetNumOutputs(from, &(*to)->n_output));
    (*to)->name = xpu_strdup(w->arena, name);
    (*to)->op_type = xpu_strdup(w->arena, op);
    (*to)->domain = xpu_strdup(w->arena, domain);
    const OrtValueInfo **infos = LIST(w, const OrtValueInfo *, (*to)->n_input + (*to)->n_output);
    (*to)->input = LIST(w, char *, (*to)->n_input);
    (*to)->output = LIST(w, char *, (*to)->n_output);
    if ((*to)->n_input) XPU_TRY(w->api->Node_GetInputs(from, infos, (*to)->n_input));
    XPU_TRY(write_names(w, infos, (*to)->n_input, (*to)->input));
    if ((*to)->n_output) XPU_TRY(w->api->Node_GetOutputs(from, infos, (*to)->n_output));
    XPU_TRY(write_names(w, infos, (*to)->n_output, (*to)->output));
    return write_attributes(w, from, depth, *to);
}

static OrtStatus *add_constant(writer *w, const OrtValueInfo *info, graph_proto *to) {
    const OrtValue *value = NULL;
    const char *name = NULL;
    XpuOnnx__TensorProto *tensor = NEW(w, XpuOnnx__TensorProto);
    XPU_TRY(w->api->GetValueInfoName(info, &name));
    XPU_TRY(w->api->ValueInfo_GetInitializerValue(info, &value));
    if (!value) {
        w->why_not = xpu_printf(w->arena, "onnxruntime does not give the constant '%s'", name);
        return NULL;
    }
    XPU_TRY(xpu_ep_read_tensor(w->graph, value, tensor, &w->why_not));
    tensor->name = xpu_strdup(w->arena, name);
    ADD(to->initializer, to->n_initializer, tensor);
    return NULL;
}

/* The graph of a branch or a loop, whole. */
static OrtStatus *write_body(writer *w, const OrtGraph *from, int depth, graph_proto *to) {
    size_t nodes, inputs, outputs, constants;
    xpu_onnx__graph_proto__init(to);
    to->name = xpu_strdup(w->arena, "body");
    if (depth > MAX_DEPTH) {
        w->why_not = "its bodies are too deep";
        return NULL;
    }
    XPU_TRY(w->api->Graph_GetNumNodes(from, &nodes));
    XPU_TRY(w->api->Graph_GetNumInputs(from, &inputs));
    XPU_TRY(w->api->Graph_GetNumOutputs(from, &outputs));
    XPU_TRY(w->api->Graph_GetNumInitializers(from, &constants));
    const OrtNode **list = LIST(w, const OrtNode *, nodes);
    const OrtValueInfo **infos = LIST(w, const OrtValueInfo *, inputs + outputs + constants);
    if (nodes) XPU_TRY(w->api->Graph_GetNodes(from, list, nodes));
    to->node = LIST(w, node_proto *, nodes);
    to->input = LIST(w, value_proto *, inputs);
    to->output = LIST(w, value_proto *, outputs);
    to->initializer = LIST(w, XpuOnnx__TensorProto *, constants);
    for (size_t i = 0; i < nodes; i++) XPU_TRY(new_node(w, list[i], depth, &to->node[to->n_node++]));
    if (inputs) XPU_TRY(w->api->Graph_GetInputs(from, infos, inputs));
    for (size_t i = 0; i < inputs; i++) XPU_TRY(new_value(w, infos[i], 0, &to->input[to->n_input++]));
    if (outputs) XPU_TRY(w->api->Graph_GetOutputs(from, infos, outputs));
    for (size_t i = 0; i < outputs; i++) XPU_TRY(new_value(w, infos[i], 0, &to->output[to->n_output++]));
    if (constants) XPU_TRY(w->api->Graph_GetInitializers(from, infos, constants));
    for (size_t i = 0; i < constants; i++) XPU_TRY(add_constant(w, infos[i], to));
    return NULL;
}

/* ---- the model ---- */

static OrtStatus *write_versions(writer *w, XpuOnnx__ModelProto *model) {
    size_t count;
    XPU_TRY(w->api->Graph_GetNumOperatorSets(w->graph->graph, &count));
    const char **domains = LIST(w, const char *, count);
    int64_t *versions = LIST(w, int64_t, count);
    XPU_TRY(w->api->Graph_GetOperatorSets(w->graph->graph, domains, versions, count));
    model->opset_import = LIST(w, XpuOnnx__OperatorSetIdProto *, count);
    for (size_t i = 0; i < count; i++) {
        XpuOnnx__OperatorSetIdProto *set = NEW(w, XpuOnnx__OperatorSetIdProto);
        xpu_onnx__operator_set_id_proto__init(set);
        set->domain = xpu_strdup(w->arena, domains[i]);
        set->has_version = 1;
        set->version = versions[i];
        ADD(model->opset_import, model->n_opset_import, set);
    }
    return NULL;
}

static int is_used_outside(const xpu_ep_value *value, const uint32_t *region_of, uint32_t region) {
    if (value->is_output) return 1;
    for (uint32_t i = 0; i < value->consumers.count; i++) {
        if (region_of[value->consumers.items[i]] != region) return 1;
    }
    return 0;
}

static OrtStatus *add_input(writer *w, const xpu_ep_value *value, graph_proto *to, xpu_ep_model *model) {
    model->inputs[model->input_count++] = value->name;
    return new_value(w, value->info, 1, &to->input[to->n_input++]);
}

/* Inputs and constants that the node is the first to take, and results that are used outside. */
static OrtStatus *write_boundary(writer *w, const xpu_ep_node *node, const uint32_t *region_of, uint32_t region,
                                 uint8_t *seen, graph_proto *to, xpu_ep_model *model) {
    for (uint32_t i = 0; i < node->input_count; i++) {
        uint32_t v = node->inputs[i];
        if (v == XPU_EP_NONE || seen[v]) continue;
        const xpu_ep_value *value = &w->graph->values.items[v];
        if (value->producer != XPU_EP_NONE && region_of[value->producer] == region) continue;
        seen[v] = 1;
        if (value->is_default) model->defaults[model->default_count++] = v;
        if (value->is_constant || value->is_default)
            XPU_TRY(add_constant(w, value->info, to));
        else
            XPU_TRY(add_input(w, value, to, model));
    }
    for (uint32_t i = 0; i < node->output_count; i++) {
        uint32_t v = node->outputs[i];
        if (v == XPU_EP_NONE || !is_used_outside(&w->graph->values.items[v], region_of, region)) continue;
        XPU_TRY(new_value(w, w->graph->values.items[v].info, 0, &to->output[to->n_output++]));
    }
    return NULL;
}

static OrtStatus *write_region(writer *w, const uint32_t *region_of, uint32_t region, graph_proto *to,
                               xpu_ep_model *model) {
    xpu_ep_graph *graph = w->graph;
    uint8_t *seen = LIST(w, uint8_t, graph->values.count);
    int is_whole = 1;
    to->name = xpu_strdup(w->arena, "region");
    to->node = LIST(w, node_proto *, graph->node_count);
    to->input = LIST(w, value_proto *, graph->values.count);
    to->output = LIST(w, value_proto *, graph->values.count);
    to->initializer = LIST(w, XpuOnnx__TensorProto *, graph->values.count);
    model->nodes = LIST(w, uint32_t, graph->node_count);
    model->inputs = LIST(w, const char *, graph->values.count);
    model->defaults = LIST(w, uint32_t, graph->values.count);
    for (uint32_t n = 0; n < graph->node_count; n++) {
        if (region_of[n] != region) continue;
        w->why_not = NULL;
        XPU_TRY(new_node(w, graph->nodes[n].node, 0, &to->node[to->n_node++]));
        XPU_TRY(write_boundary(w, &graph->nodes[n], region_of, region, seen, to, model));
        model->nodes[model->node_count++] = n;
        graph->nodes[n].why_not = w->why_not;
        if (w->why_not) is_whole = 0;
    }
    model->size = (size_t)is_whole;
    return NULL;
}

static void pack(xpu_arena *arena, XpuOnnx__ModelProto *proto, xpu_ep_model *model) {
    model->size = xpu_onnx__model_proto__get_packed_size(proto);
    model->bytes = xpu_alloc(arena, model->size + 1);
    xpu_onnx__model_proto__pack(proto, model->bytes);
}

OrtStatus *xpu_ep_write_model(xpu_ep_graph *graph, const uint32_t *region_of, uint32_t region, xpu_ep_model *model) {
    writer w = {.graph = graph, .api = graph->factory->api, .arena = graph->arena};
    XpuOnnx__ModelProto proto = XPU_ONNX__MODEL_PROTO__INIT;
    graph_proto top = XPU_ONNX__GRAPH_PROTO__INIT;
    *model = (xpu_ep_model){.bytes = NULL};
    proto.has_ir_version = 1;
    XPU_TRY(w.api->Graph_GetOnnxIRVersion(graph->graph, &proto.ir_version));
    XPU_TRY(write_versions(&w, &proto));
    XPU_TRY(write_region(&w, region_of, region, &top, model));
    proto.graph = &top;
    int is_whole = (int)model->size;
    model->size = 0;
    if (is_whole) pack(graph->arena, &proto, model);
    return NULL;
}

xpu_ep_model xpu_ep_small_model(xpu_arena *arena) {
    int64_t one = 1;
    const char *name = NULL;
    xpu_ep_model model = {.bytes = NULL};
    writer w = {.arena = arena};
    char *x[] = {"x"}, *y[] = {"y"};
    XpuOnnx__TypeProto__Tensor tensor = XPU_ONNX__TYPE_PROTO__TENSOR__INIT;
    XpuOnnx__TypeProto type = XPU_ONNX__TYPE_PROTO__INIT;
    value_proto in = XPU_ONNX__VALUE_INFO_PROTO__INIT, out = XPU_ONNX__VALUE_INFO_PROTO__INIT;
    node_proto node = XPU_ONNX__NODE_PROTO__INIT;
    XpuOnnx__OperatorSetIdProto opset = XPU_ONNX__OPERATOR_SET_ID_PROTO__INIT;
    graph_proto graph = XPU_ONNX__GRAPH_PROTO__INIT;
    XpuOnnx__ModelProto proto = XPU_ONNX__MODEL_PROTO__INIT;
    tensor.has_elem_type = 1;
    tensor.elem_type = XPU_ONNX__TENSOR_PROTO__DATA_TYPE__FLOAT;
    tensor.shape = new_shape(&w, &one, &name, 1);
    type.tensor_type = &tensor;
    in.name = x[0], out.name = y[0];
    in.type = out.type = &type;
    node.n_input = node.n_output = 1;
    node.input = x, node.output = y;
    node.op_type = "Relu";
    opset.has_version = 1;
    opset.version = 17;
    graph.n_node = graph.n_input = graph.n_output = 1;
    graph.node = (node_proto *[]){&node};
    graph.input = (value_proto *[]){&in};
    graph.output = (value_proto *[]){&out};
    proto.has_ir_version = 1;
    proto.ir_version = 8;
    proto.n_opset_import = 1;
    proto.opset_import = (XpuOnnx__OperatorSetIdProto *[]){&opset};
    proto.graph = &graph;
    pack(arena, &proto, &model);
    return model;
}
