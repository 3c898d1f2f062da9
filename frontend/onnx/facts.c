/* What an ONNX model says of itself. */
#include <inttypes.h>
#include <string.h>

#include "base/name_table.h"
#include "frontend/onnx/importer.h"

typedef struct {
    xpu_arena *arena;
    const XpuOnnx__ModelProto *model;
    xpu_model_facts *facts;
    int opset;
} teller;

static const char *text_of(const char *text) {
    return text ? text : "";
}

static const char *type_text(const teller *t, const XpuOnnx__TypeProto *type) {
    if (!type || !type->tensor_type) return "";
    const XpuOnnx__TensorShapeProto *shape = type->tensor_type->shape;
    xpu_text text;
    xpu_text_init(&text, t->arena);
    xpu_text_add(&text, "%s", xpu_onnx_dtype_name(type->tensor_type->elem_type));
    if (!shape) return text.text;
    xpu_text_add(&text, "[");
    for (size_t i = 0; i < shape->n_dim; i++) {
        const char *param = text_of(shape->dim[i]->dim_param), *comma = i ? "," : "";
        if (shape->dim[i]->has_dim_value)
            xpu_text_add(&text, "%s%" PRId64, comma, shape->dim[i]->dim_value);
        else
            xpu_text_add(&text, "%s%s", comma, param[0] ? param : "?");
    }
    xpu_text_add(&text, "]");
    return text.text;
}

static void add_values(const teller *t) {
    const XpuOnnx__GraphProto *graph = t->model->graph;
    xpu_name_table constants = {.arena = t->arena};
    for (size_t i = 0; i < graph->n_initializer; i++) xpu_name_keep(&constants, text_of(graph->initializer[i]->name));
    for (size_t i = 0; i < graph->n_input; i++) {
        const char *name = text_of(graph->input[i]->name);
        xpu_model_value value = {.name = name, .type = type_text(t, graph->input[i]->type)};
        if (!xpu_name_find(&constants, name)) XPU_PUSH(t->arena, &t->facts->inputs, value);
    }
    for (size_t i = 0; i < graph->n_output; i++) {
        xpu_model_value value = {.name = text_of(graph->output[i]->name)};
        value.type = type_text(t, graph->output[i]->type);
        XPU_PUSH(t->arena, &t->facts->outputs, value);
    }
}

static const char *why_not(const teller *t, const char *op, const char *domain) {
    int is_onnx = !domain[0];
    if (!xpu_onnx_find_row(op, domain)) return is_onnx ? "the importer has no row for it" : "its domain is not ONNX's";
    if (is_onnx && xpu_onnx_known_version(op, t->opset) == 0) return "its opset does not have it";
    return NULL;
}

static void add_graph(const teller *t, const XpuOnnx__GraphProto *graph, const char *block);

static void add_node(const teller *t, const xpu_onnx_node_proto *node, const char *block, uint32_t index) {
    const char *op = text_of(node->op_type), *domain = text_of(node->domain);
    if (strcmp(domain, "ai.onnx") == 0) domain = "";
    xpu_model_operator entry = {.name = text_of(node->name), .block = block, .index = index};
    entry.type = domain[0] ? xpu_printf(t->arena, "%s.%s", domain, op) : op;
    entry.inputs = (const char *const *)node->input;
    entry.input_count = (uint32_t)node->n_input;
    entry.outputs = (const char *const *)node->output;
    entry.output_count = (uint32_t)node->n_output;
    entry.why_not = why_not(t, op, domain);
    XPU_PUSH(t->arena, &t->facts->operators, entry);
    for (size_t i = 0; i < node->n_attribute; i++) {
        if (!node->attribute[i]->g) continue;
        add_graph(t, node->attribute[i]->g,
                  xpu_printf(t->arena, "%s of %s #%" PRIu32 "%s%s", text_of(node->attribute[i]->name), op, index,
                             block[0] ? " in " : "", block));
    }
}

/* The number of elements; 0 where a dim makes no sense. */
static uint64_t count_of(const xpu_onnx_tensor_proto *tensor) {
    uint64_t count = 1;
    for (size_t i = 0; i < tensor->n_dims; i++) {
        if (tensor->dims[i] < 0 || __builtin_mul_overflow(count, (uint64_t)tensor->dims[i], &count)) return 0;
    }
    return count;
}

static void add_graph(const teller *t, const XpuOnnx__GraphProto *graph, const char *block) {
    for (size_t i = 0; i < graph->n_node; i++) add_node(t, graph->node[i], block, (uint32_t)i);
    for (size_t i = 0; i < graph->n_initializer; i++) {
        xpu_dtype dtype = xpu_onnx_dtype(graph->initializer[i]->data_type);
        t->facts->parameters++;
        t->facts->parameter_bytes += count_of(graph->initializer[i]) * (dtype ? xpu_dtype_bytes(dtype) : 0);
    }
}

int xpu_onnx_facts(xpu_arena *arena, const char *path, const xpu_import_options *options, xpu_model_facts *facts,
                   xpu_diags *diags) {
    xpu_file *file = xpu_file_open(arena, path, diags);
    *facts = (xpu_model_facts){.format = "ONNX model", .name = "", .parameter_file = ""};
    if (!file) return 0;
    xpu_onnx_source source = {.name = file->path, .file = file, .size = file->size};
    teller t = {.arena = arena, .model = xpu_onnx_decode(arena, &source, options, diags), .facts = facts};
    if (!t.model) return 0;
    if (!t.model->graph) {
        xpu_error(diags, XPU_EMODEL, path, "onnx-model", NULL, "the model has no graph",
                  "field ModelProto.graph is missing", "check that this is an ONNX file, and that it is complete");
        return 0;
    }
    xpu_text version;
    xpu_text_init(&version, arena);
    for (size_t i = 0; i < t.model->n_opset_import; i++) {
        const XpuOnnx__OperatorSetIdProto *set = t.model->opset_import[i];
        const char *domain = text_of(set->domain);
        int is_onnx = !domain[0] || strcmp(domain, "ai.onnx") == 0;
        if (is_onnx) t.opset = (int)(set->version & INT32_MAX);
        xpu_text_add(&version, "opset %" PRId64 "%s%s, ", set->version, is_onnx ? "" : " of ", is_onnx ? "" : domain);
    }
    xpu_text_add(&version, "IR version %" PRId64, t.model->ir_version);
    if (text_of(t.model->producer_name)[0])
        xpu_text_add(&version, ", from %s %s", t.model->producer_name, text_of(t.model->producer_version));
    facts->version = version.text;
    facts->name = text_of(t.model->graph->name);
    add_values(&t);
    add_graph(&t, t.model->graph, "");
    return 1;
}
