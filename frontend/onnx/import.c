#define _GNU_SOURCE 1
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "frontend/onnx/importer.h"

enum { MIN_IR_VERSION = 3, MAX_OPSETS = 256 };

#define TEXT(importer, ...) xpu_printf((importer)->scratch, __VA_ARGS__)

static void fail(const xpu_onnx_importer *importer, const char *rule, const char *where, const char *what,
                 const char *why, const char *hint) {
    xpu_error(importer->diags, XPU_EMODEL, importer->source->name, rule, where, what, why,
              hint ? hint : XPU_ONNX_CHECK_MODEL);
}

/* The model's header: the graph is there, and the importer knows its versions. */
static void check_model(xpu_onnx_importer *importer) {
    const XpuOnnx__ModelProto *model = importer->model;
    if (!model->graph) {
        fail(importer, "onnx-model", NULL, "the model has no graph", "field ModelProto.graph is missing",
             "check that this is an ONNX file, and that it is complete");
        return;
    }
    if (model->ir_version < MIN_IR_VERSION) {
        fail(importer, "onnx-model", NULL, "the model's format is too old",
             TEXT(importer, "it has IR version %" PRId64 "; %d and up can be read", model->ir_version, MIN_IR_VERSION),
             "convert it with a newer release of ONNX");
    }
    if (model->n_opset_import > MAX_OPSETS) {
        fail(importer, "onnx-limit", NULL, "the model imports too many opsets",
             TEXT(importer, "it imports %zu; at most %d are supported", model->n_opset_import, MAX_OPSETS),
             "check that this is the file that was meant");
        return;
    }
    const XpuOnnx__OperatorSetIdProto *set = NULL;
    for (size_t i = 0; i < model->n_opset_import; i++) {
        const char *domain = model->opset_import[i]->domain;
        if (!domain || !domain[0] || strcmp(domain, "ai.onnx") == 0) set = model->opset_import[i];
    }
    if (!set) {
        fail(importer, "onnx-opset", NULL, "the model imports no opset of ONNX's own domain",
             "field ModelProto.opset_import has no entry for ''", "export the model again");
    } else if (set->version < XPU_ONNX_MIN_OPSET || set->version > XPU_ONNX_MAX_OPSET) {
        fail(importer, "onnx-opset", NULL, "the model's opset is not supported",
             TEXT(importer, "it is opset %" PRId64 "; %d to %d are supported", set->version, XPU_ONNX_MIN_OPSET,
                  XPU_ONNX_MAX_OPSET),
             "export the model with a supported opset_version, or convert it with onnx.version_converter");
    } else {
        importer->opset = (int)set->version;
    }
}

static void scan_outputs(xpu_onnx_importer *importer) {
    const xpu_onnx_graph_proto *graph = importer->model->graph;
    for (size_t i = 0; i < graph->n_output; i++) {
        if (graph->output[i]->name) xpu_onnx_name_of(importer, graph->output[i]->name)->is_output = 1;
    }
}

/* ---- outputs ---- */

/* The graph's output `value`: an input, a constant, a value of another name (of a subgraph) or one that is an output
 * already gets a copy of its own. */
static xpu_value output_value(xpu_onnx_importer *importer, xpu_value value, const char *name) {
    xpu_graph *graph = importer->graph;
    const xpu_value_info *info = xpu_value_at(graph, value);
    if (info->kind == XPU_VALUE_NODE && !info->is_output && strcmp(info->name, name) == 0) return value;
    xpu_origin origin = {.framework = "onnx",
                         .op = "Output",
                         .version = importer->opset,
                         .name = name,
                         .index = (uint32_t)importer->model->graph->n_node};
    uint32_t index = xpu_graph_origin(graph, &origin);
    xpu_node node =
        xpu_build(graph, (xpu_node){0}, XPU_OP_IDENTITY, &value, 1, name, NULL, 0, &index, 1, importer->diags);
    return xpu_node_output(graph, node, 0);
}

static void add_outputs(xpu_onnx_importer *importer) {
    const XpuOnnx__GraphProto *graph = importer->model->graph;
    if (graph->n_output == 0) {
        fail(importer, "onnx-output", NULL, "the graph has no outputs",
             "field GraphProto.output is empty: nothing that the nodes compute is asked for",
             "export the model with outputs, or add the results that are wanted to graph.output");
    }
    for (size_t i = 0; i < graph->n_output; i++) {
        const char *name = graph->output[i]->name ? graph->output[i]->name : "";
        xpu_onnx_name *entry = xpu_onnx_name_of(importer, name);
        if (entry->state == XPU_ONNX_NAME_FAILED) continue;
        if (entry->state != XPU_ONNX_NAME_READY) {
            fail(importer, "onnx-output", TEXT(importer, "output '%s'", xpu_escape(importer->scratch, name, 100)),
                 "the output is not defined", "no graph input, initializer or node has this name", NULL);
            continue;
        }
        xpu_graph_output(importer->graph, output_value(importer, entry->value, name));
    }
}

/* ---- entry ---- */

static void add_source(xpu_onnx_importer *importer) {
    const xpu_onnx_source *from = importer->source;
    xpu_graph_source source = {.file = from->file};
    if (!from->file) source.hash = xpu_hash_of(from->bytes, (size_t)from->size);
    XPU_PUSH(importer->arena, &importer->graph->sources, source);
}

static void import_graph(xpu_onnx_importer *importer) {
    const char *name = importer->model->graph->name;
    importer->graph = xpu_graph_new(importer->arena, name && name[0] ? name : "model", importer->source->name);
    add_source(importer);
    xpu_input_reader reader = xpu_onnx_input_reader(importer);
    xpu_take_given_bounds(&reader);
    xpu_onnx_scope scope = {.graph = importer->model->graph, .prefix = "", .where = ""};
    importer->scope = &scope;
    scan_outputs(importer);
    xpu_onnx_read_initialisers(importer);
    xpu_onnx_add_inputs(importer);
    xpu_onnx_read_nodes(importer);
    add_outputs(importer);
    if (!importer->diags->errors) xpu_check_given_bounds(&reader);
    if (!importer->diags->errors) xpu_graph_drop_elements(importer->graph);
}

static xpu_status import_source(xpu_arena *arena, const xpu_onnx_source *source, const char *folder,
                                const xpu_import_options *options, xpu_graph **graph, xpu_diags *diags) {
    static const xpu_import_options defaults = {0};
    size_t errors = diags->errors, first = diags->count;
    xpu_arena *scratch = xpu_arena_new(xpu_arena_mem(arena), "import");
    xpu_onnx_importer importer = {.arena = arena,
                                  .scratch = scratch,
                                  .options = options ? options : &defaults,
                                  .source = source,
                                  .folder = folder,
                                  .diags = diags};
    importer.model = xpu_onnx_decode(scratch, source, importer.options, diags);
    if (importer.model) check_model(&importer);
    if (diags->errors == errors) import_graph(&importer);
    xpu_arena_free(scratch);
    return xpu_import_end(importer.options, importer.graph, errors, first, diags, graph);
}

xpu_status xpu_onnx_import(xpu_arena *arena, const char *path, const xpu_import_options *options, xpu_graph **graph,
                           xpu_diags *diags) {
    *graph = NULL;
    xpu_file *file = xpu_file_open(arena, path, diags);
    if (!file) return XPU_EIO;
    xpu_onnx_source source = {.name = file->path, .file = file, .size = file->size};
    char folder[PATH_MAX];
    const char *resolved = realpath(xpu_path_folder(arena, path), folder) ? folder : NULL;
    return import_source(arena, &source, resolved, options, graph, diags);
}

xpu_status xpu_onnx_import_bytes(xpu_arena *arena, const void *bytes, size_t length, const char *name,
                                 const xpu_import_options *options, xpu_graph **graph, xpu_diags *diags) {
    *graph = NULL;
    xpu_onnx_source source = {.name = name, .bytes = bytes, .size = length};
    return import_source(arena, &source, NULL, options, graph, diags);
}
