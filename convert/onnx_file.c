/* The ONNX model's file: the skeleton by protobuf-c, the weights behind it straight from where they are. */
#include <inttypes.h>
#include <string.h>

#include "convert/onnx_writer.h"

/* ---- what nothing uses ---- */

static int is_used(const ow *w, const char *name) {
    return xpu_name_find(&w->names, name) && *xpu_name_find(&w->names, name) == 2;
}

static void use(ow *w, const char *name) {
    uint32_t *mark = name[0] ? xpu_name_find(&w->names, name) : NULL;
    if (mark) *mark = 2;
}

/* From the last node on those stay that make something that is used. */
static void prune(ow *w, ow_graph *graph) {
    size_t kept = graph->n_node;
    for (size_t i = 0; i < graph->n_output; i++) use(w, graph->output[i]->name);
    for (size_t i = graph->n_node; i-- > 0;) {
        ow_node *node = graph->node[i];
        int needed = 0;
        for (size_t k = 0; k < node->n_output; k++) needed |= is_used(w, node->output[k]);
        if (!needed) continue;
        for (size_t k = 0; k < node->n_input; k++) use(w, node->input[k]);
        for (size_t k = 0; k < node->n_attribute; k++) {
            if (node->attribute[k]->g) prune(w, node->attribute[k]->g);
        }
        graph->node[--kept] = node;
    }
    memmove(graph->node, graph->node + kept, (graph->n_node - kept) * sizeof *graph->node);
    graph->n_node -= kept;
}

/* ---- the skeleton ---- */

static ow_graph *main_graph(ow *w) {
    ow_graph *graph = ow_write_block(w, XPU_TOP_BLOCK, xpu_is_utf8(w->graph->name) ? w->graph->name : "model");
    const uint32_t inputs = w->graph->inputs.count, outputs = w->graph->outputs.count;
    graph->input = XPU_NEW_ARRAY(w->arena, XpuOnnx__ValueInfoProto *, inputs + 1);
    graph->output = XPU_NEW_ARRAY(w->arena, XpuOnnx__ValueInfoProto *, outputs + 1);
    for (uint32_t i = 0; i < inputs; i++)
        graph->input[graph->n_input++] =
            ow_value_info(w, w->graph->inputs.items[i], ow_name(w, w->graph->inputs.items[i]));
    for (uint32_t i = 0; i < outputs; i++) {
        graph->output[graph->n_output++] =
            ow_value_info(w, w->graph->outputs.items[i], ow_name(w, w->graph->outputs.items[i]));
    }
    prune(w, graph);
    return graph;
}

/* Inputs and outputs get their names first. */
static ow *begin(xpu_arena *arena, xpu_graph *graph, int opset, xpu_diags *diags) {
    ow *w = XPU_NEW(arena, ow);
    *w = (ow){.arena = arena, .graph = graph, .diags = diags, .opset = opset, .names = {.arena = arena}};
    for (uint32_t i = 0; i < graph->inputs.count; i++) ow_name(w, graph->inputs.items[i]);
    for (uint32_t i = 0; i < graph->outputs.count; i++) ow_name(w, graph->outputs.items[i]);
    return w;
}

/* Without --opset a run finds which one is needed, until it has it. */
static ow *make_skeleton(xpu_arena *arena, xpu_graph *graph, int opset, ow_graph **made, xpu_diags *diags) {
    xpu_diags *tried = opset ? diags : xpu_diags_new(arena);
    ow *w = begin(arena, graph, opset ? opset : XPU_CONVERT_OPSET, tried);
    *made = main_graph(w);
    while (!opset && w->wanted > w->opset) {
        tried = xpu_diags_new(arena);
        w = begin(arena, graph, w->wanted, tried);
        *made = main_graph(w);
    }
    if (tried == diags || !tried->errors) return w;
    w = begin(arena, graph, w->opset, diags);
    *made = main_graph(w);
    return w;
}

/* The oldest IR version that may carry an opset; later ones are not needed. */
static int64_t ir_version_of(int opset) {
    return opset <= 14 ? 7 : opset <= 18 ? 8 : opset <= 20 ? 9 : 10;
}

/* ---- bytes ---- */

static size_t varint(uint64_t value, uint8_t *bytes) {
    size_t count = 0;
    do {
        bytes[count++] = (uint8_t)((value & 127) | (value > 127 ? 128 : 0));
        value >>= 7;
    } while (value);
    return count;
}

/* The head of a field of bytes: its key and length. */
static size_t field_head(uint32_t field, uint64_t length, uint8_t *bytes) {
    const size_t key = varint(field << 3 | 2, bytes);
    return key + varint(length, bytes + key);
}

enum { MODEL_GRAPH = 7, GRAPH_INITIALIZER = 5, TENSOR_RAW_DATA = 9, MOST_HEAD = 20, ALIGNMENT = 64, SMALL = 1024 };

typedef struct {
    const ow_constant *constant;
    uint8_t *head; /* the message without its data */
    size_t head_bytes;
    uint64_t bytes;  /* of its data */
    uint64_t offset; /* in the file of weights */
    int is_external;
} initialiser;

typedef struct {
    ow *w;
    XPU_ARRAY(initialiser) items;
    uint64_t data_bytes; /* of the file of weights */
} initialisers;

static uint64_t message_bytes(const initialiser *item) {
    uint8_t scratch[MOST_HEAD];
    if (item->is_external) return item->head_bytes;
    return item->head_bytes + field_head(TENSOR_RAW_DATA, item->bytes, scratch) + item->bytes;
}

static XpuOnnx__StringStringEntryProto *entry(ow *w, const char *key, const char *value) {
    XpuOnnx__StringStringEntryProto *made = XPU_NEW(w->arena, XpuOnnx__StringStringEntryProto);
    xpu_onnx__string_string_entry_proto__init(made);
    made->key = xpu_strdup(w->arena, key);
    made->value = xpu_strdup(w->arena, value);
    return made;
}

static void make_head(ow *w, initialiser *item, const char *location) {
    const ow_constant *constant = item->constant;
    const xpu_value_info *info = constant->value.id ? xpu_value_at(w->graph, constant->value) : NULL;
    XpuOnnx__TensorProto tensor = XPU_ONNX__TENSOR_PROTO__INIT;
    int64_t dims[XPU_MAX_RANK];
    if (info)
        xpu_value_dims(w->graph, constant->value, NULL, dims);
    else
        memcpy(dims, constant->tensor.dims, sizeof dims);
    tensor.n_dims = (size_t)(info ? info->rank : constant->tensor.rank);
    tensor.dims = dims;
    tensor.has_data_type = 1;
    tensor.data_type = ow_type(info ? info->dtype : constant->tensor.dtype);
    tensor.name = (char *)constant->name;
    XpuOnnx__StringStringEntryProto *external[3];
    if (item->is_external) {
        external[0] = entry(w, "location", location);
        external[1] = entry(w, "offset", xpu_printf(w->arena, "%" PRIu64, item->offset));
        external[2] = entry(w, "length", xpu_printf(w->arena, "%" PRIu64, item->bytes));
        tensor.n_external_data = 3;
        tensor.external_data = external;
        tensor.has_data_location = 1;
        tensor.data_location = XPU_ONNX__TENSOR_PROTO__DATA_LOCATION__EXTERNAL;
    }
    item->head_bytes = xpu_onnx__tensor_proto__get_packed_size(&tensor);
    item->head = xpu_alloc(w->arena, item->head_bytes + 1);
    xpu_onnx__tensor_proto__pack(&tensor, item->head);
}

static void collect(initialisers *list, const char *location) {
    ow *w = list->w;
    list->items.count = 0;
    list->data_bytes = 0;
    for (uint32_t i = 0; i < w->constants.count; i++) {
        initialiser item = {.constant = &w->constants.items[i]};
        if (!is_used(w, item.constant->name)) continue;
        item.bytes = item.constant->value.id ? xpu_convert_constant_bytes(w->graph, item.constant->value)
                                             : xpu_tensor_bytes(&item.constant->tensor);
        item.is_external = location && item.bytes >= SMALL;
        if (item.is_external) {
            item.offset = (list->data_bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
            list->data_bytes = item.offset + item.bytes;
        }
        make_head(w, &item, location);
        XPU_PUSH(w->arena, &list->items, item);
    }
}

static xpu_status write_data(ow *w, const initialiser *item, xpu_output *output) {
    if (item->constant->value.id) return xpu_convert_constant(w->graph, item->constant->value, output, w->diags);
    xpu_output_write(output, item->constant->tensor.data, (size_t)item->bytes);
    return XPU_OK;
}

static uint64_t graph_bytes(const initialisers *list, size_t skeleton) {
    uint8_t head[MOST_HEAD];
    uint64_t bytes = skeleton;
    for (uint32_t i = 0; i < list->items.count; i++) {
        const uint64_t message = message_bytes(&list->items.items[i]);
        bytes += field_head(GRAPH_INITIALIZER, message, head) + message;
    }
    return bytes;
}

static xpu_status write_model(initialisers *list, const XpuOnnx__ModelProto *model, const ow_graph *graph,
                              xpu_output *output) {
    ow *w = list->w;
    uint8_t head[MOST_HEAD];
    const size_t model_bytes = xpu_onnx__model_proto__get_packed_size(model);
    const size_t skeleton = xpu_onnx__graph_proto__get_packed_size(graph);
    uint8_t *bytes = xpu_alloc(w->arena, (model_bytes > skeleton ? model_bytes : skeleton) + 1);
    xpu_output_write(output, bytes, xpu_onnx__model_proto__pack(model, bytes));
    xpu_output_write(output, head, field_head(MODEL_GRAPH, graph_bytes(list, skeleton), head));
    xpu_output_write(output, bytes, xpu_onnx__graph_proto__pack(graph, bytes));
    for (uint32_t i = 0; i < list->items.count; i++) {
        const initialiser *item = &list->items.items[i];
        xpu_output_write(output, head, field_head(GRAPH_INITIALIZER, message_bytes(item), head));
        xpu_output_write(output, item->head, item->head_bytes);
        if (item->is_external) continue;
        xpu_output_write(output, head, field_head(TENSOR_RAW_DATA, item->bytes, head));
        xpu_status status = write_data(w, item, output);
        if (status != XPU_OK) return status;
    }
    return XPU_OK;
}

static xpu_status write_weights(initialisers *list, xpu_output *output) {
    static const char zeros[ALIGNMENT];
    uint64_t at = 0;
    for (uint32_t i = 0; i < list->items.count; i++) {
        const initialiser *item = &list->items.items[i];
        if (!item->is_external) continue;
        xpu_output_write(output, zeros, (size_t)(item->offset - at));
        xpu_status status = write_data(list->w, item, output);
        if (status != XPU_OK) return status;
        at = item->offset + item->bytes;
    }
    return XPU_OK;
}

xpu_status xpu_convert_onnx(xpu_arena *arena, xpu_graph *graph, const char *path, xpu_output *output, xpu_output **data,
                            const xpu_convert_options *options, xpu_diags *diags) {
    const size_t errors = diags->errors;
    ow_graph *skeleton;
    *data = NULL;
    ow *w = make_skeleton(arena, graph, options->opset, &skeleton, diags);
    if (diags->errors > errors) return xpu_diags_since(diags, errors);
    XpuOnnx__ModelProto model = XPU_ONNX__MODEL_PROTO__INIT;
    XpuOnnx__OperatorSetIdProto set = XPU_ONNX__OPERATOR_SET_ID_PROTO__INIT, *sets[] = {&set};
    model.has_ir_version = 1;
    model.ir_version = ir_version_of(w->opset);
    model.producer_name = (char *)"xpu-convert";
    model.producer_version = (char *)XPU_VERSION;
    model.n_opset_import = 1;
    model.opset_import = sets;
    set.domain = (char *)"";
    set.has_version = 1;
    set.version = w->opset;
    initialisers list = {.w = w};
    collect(&list, NULL);
    const uint64_t whole = graph_bytes(&list, xpu_onnx__graph_proto__get_packed_size(skeleton));
    if (options->is_external || whole > INT32_MAX - (1 << 16)) {
        const char *name = xpu_printf(arena, "%s.data", path);
        collect(&list, xpu_path_name(name));
        if (list.data_bytes) *data = xpu_output_open(arena, name, diags);
        if (list.data_bytes && !*data) return xpu_diags_since(diags, errors);
    }
    xpu_status status = write_model(&list, &model, skeleton, output);
    if (status == XPU_OK && *data) status = write_weights(&list, *data);
    return status;
}
