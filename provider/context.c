/* EPContext nodes: programs that are kept in a model, or beside it, so that a later session compiles nothing. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/json.h"
#include "provider/provider.h"

enum { MAX_PROGRAM = INT32_MAX };

OrtStatus *xpu_ep_is_context(const OrtApi *api, xpu_arena *arena, const OrtNode *node, int *is) {
    const char *op, *source;
    size_t length;
    *is = 0;
    XPU_TRY(api->Node_GetOperatorType(node, &op));
    if (strcmp(op, "EPContext") != 0) return NULL;
    XPU_TRY(xpu_ep_text_attribute(api, arena, node, "source", &source, &length));
    *is = source && strcmp(source, XPU_EP_NAME) == 0;
    return NULL;
}

static OrtStatus *fail_of(const OrtApi *api, const xpu_diags *diags) {
    char text[2000] = "the file cannot be used";
    if (diags->count) xpu_diag_text(diags, 0, text, sizeof text);
    return xpu_ep_fail(api, ORT_EP_FAIL, text);
}

/* The folder of the model at `path`, and `name` in it. */
static const char *beside(xpu_arena *arena, const char *path, const char *name) {
    return xpu_path_join(arena, xpu_path_folder(arena, path), name);
}

static OrtStatus *read_file(const OrtApi *api, xpu_arena *arena, const OrtGraph *graph, const char *name,
                            const void **bytes, size_t *size) {
    const ORTCHAR_T *model = NULL;
    xpu_diags *diags = xpu_diags_new(arena);
    if (!name[0] || strchr(name, '/') || strcmp(name, "..") == 0) {
        return xpu_ep_fail(api, ORT_INVALID_GRAPH,
                           xpu_printf(arena,
                                      "error [provider-context] an EPContext node names no file beside the "
                                      "model\n  why: ep_cache_context is '%s'\n  hint: make the model again",
                                      xpu_escape(arena, name, 200)));
    }
    XPU_TRY(api->Graph_GetModelPath(graph, &model));
    *bytes = xpu_file_read_all(arena, beside(arena, model ? model : "", name), MAX_PROGRAM, size, diags);
    return *bytes ? NULL : fail_of(api, diags);
}

OrtStatus *xpu_ep_read_context(const OrtApi *api, xpu_arena *arena, const OrtGraph *graph, const OrtNode *node,
                               xpu_ep_program *program) {
    const char *content, *notes;
    int64_t is_embedded;
    size_t length;
    *program = (xpu_ep_program){.bytes = NULL};
    XPU_TRY(xpu_ep_text_attribute(api, arena, node, "notes", &notes, &length));
    if (notes && !xpu_ep_read_notes(arena, notes, program)) {
        return xpu_ep_fail(api, ORT_INVALID_GRAPH,
                           "error [provider-context] an EPContext node is of another release\n  why: its notes are no "
                           "list of what the program holds\n  hint: make the model again");
    }
    XPU_TRY(xpu_ep_text_attribute(api, arena, node, "ep_cache_context", &content, &program->size));
    XPU_TRY(xpu_ep_number_attribute(api, node, "embed_mode", 1, &is_embedded));
    if (!content) {
        return xpu_ep_fail(api, ORT_INVALID_GRAPH,
                           "error [provider-context] an EPContext node has no program\n  why: ep_cache_context is "
                           "missing\n  hint: make the model again");
    }
    program->bytes = content;
    return is_embedded ? NULL : read_file(api, arena, graph, content, &program->bytes, &program->size);
}

/* ---- making them ---- */

/* "folder/model.onnx" gives "model". */
static const char *stem_of(xpu_arena *arena, const char *path) {
    const char *name = xpu_path_name(path), *dot = strrchr(name, '.');
    return xpu_strndup(arena, name, dot && dot != name ? (size_t)(dot - name) : strlen(name));
}

/* Letters, digits, - and . stay. */
static char *file_name(xpu_arena *arena, const char *stem, const char *fused) {
    char *name = xpu_printf(arena, "%s_%s.xpu", stem, fused);
    for (char *c = name; *c; c++) {
        if (!strchr("-_.", *c) && !(*c >= '0' && *c <= '9') && !((*c | 32) >= 'a' && (*c | 32) <= 'z')) *c = '_';
    }
    return name;
}

static OrtStatus *write_file(const xpu_ep *ep, xpu_arena *arena, const OrtGraph *graph, const char *fused,
                             const void *bytes, size_t size, const char **name) {
    const OrtApi *api = ep->factory->api;
    const ORTCHAR_T *model = NULL;
    xpu_diags *diags = xpu_diags_new(arena);
    XPU_TRY(api->Graph_GetModelPath(graph, &model));
    const char *path = ep->options.context_path[0] ? ep->options.context_path : model ? model : "";
    *name = file_name(arena, stem_of(arena, path), fused);
    xpu_output *output = xpu_output_open(arena, beside(arena, path, *name), diags);
    if (!output || xpu_output_write(output, bytes, size) != XPU_OK || xpu_output_commit(output) != XPU_OK)
        return fail_of(api, diags);
    return NULL;
}

typedef struct {
    const OrtApi *api;
    OrtOpAttr *items[8];
    size_t count;
} attribute_list;

static void release_attributes(void *object) {
    attribute_list *list = object;
    for (size_t i = 0; i < list->count; i++) list->api->ReleaseOpAttr(list->items[i]);
}

static OrtStatus *add(attribute_list *list, const char *name, const void *data, size_t size, OrtOpAttrType type) {
    XPU_TRY(list->api->CreateOpAttr(name, data, (int)size, type, &list->items[list->count]));
    list->count++;
    return NULL;
}

static OrtStatus *add_text(attribute_list *list, const char *name, const char *text) {
    return add(list, name, text, strlen(text), ORT_OP_ATTR_STRING);
}

static OrtStatus *add_all(attribute_list *list, const xpu_ep *ep, const void *content, size_t size, const char *fused,
                          const char *chip, const char *notes) {
    int64_t is_main = 1, is_embedded = ep->options.embeds_context;
    XPU_TRY(add(list, "main_context", &is_main, 1, ORT_OP_ATTR_INT));
    XPU_TRY(add(list, "embed_mode", &is_embedded, 1, ORT_OP_ATTR_INT));
    XPU_TRY(add(list, "ep_cache_context", content, size, ORT_OP_ATTR_STRING));
    XPU_TRY(add_text(list, "ep_sdk_version", XPU_VERSION));
    XPU_TRY(add_text(list, "hardware_architecture", chip));
    XPU_TRY(add_text(list, "partition_name", fused));
    if (notes[0]) XPU_TRY(add_text(list, "notes", notes));
    return add_text(list, "source", XPU_EP_NAME);
}

static OrtStatus *names_of(const OrtApi *api, xpu_arena *arena, const OrtNode *node, const char ***inputs,
                           size_t *input_count, const char ***outputs, size_t *output_count) {
    XPU_TRY(api->Node_GetNumInputs(node, input_count));
    XPU_TRY(api->Node_GetNumOutputs(node, output_count));
    size_t most = *input_count + *output_count;
    const OrtValueInfo **infos = XPU_NEW_ARRAY(arena, const OrtValueInfo *, most + 1);
    const char **names = XPU_NEW_ARRAY(arena, const char *, most + 1);
    if (*input_count) XPU_TRY(api->Node_GetInputs(node, infos, *input_count));
    if (*output_count) XPU_TRY(api->Node_GetOutputs(node, infos + *input_count, *output_count));
    for (size_t i = 0; i < most; i++) {
        names[i] = "";
        if (infos[i]) XPU_TRY(api->GetValueInfoName(infos[i], &names[i]));
    }
    *inputs = names;
    *outputs = names + *input_count;
    return NULL;
}

static OrtStatus *make_node(xpu_arena *arena, const OrtNode *fused, const char *name, attribute_list *list,
                            OrtNode **context) {
    const char **inputs, **outputs;
    size_t input_count, output_count;
    XPU_TRY(names_of(list->api, arena, fused, &inputs, &input_count, &outputs, &output_count));
    return list->api->GetModelEditorApi()->CreateNode("EPContext", "com.microsoft", name, inputs, input_count, outputs,
                                                      output_count, list->items, list->count, context);
}

OrtStatus *xpu_ep_make_context(const xpu_ep *ep, xpu_arena *arena, const OrtGraph *graph, const OrtNode *fused,
                               const xpu_ep_program *program, OrtNode **context) {
    const void *bytes = program->bytes;
    size_t size = program->size;
    const OrtApi *api = ep->factory->api;
    attribute_list *list = XPU_NEW(arena, attribute_list);
    const char *name, *file;
    XPU_TRY(api->Node_GetName(fused, &name));
    if (!ep->options.embeds_context) {
        XPU_TRY(write_file(ep, arena, graph, name, bytes, size, &file));
        bytes = file;
        size = strlen(file);
    } else if (size > MAX_PROGRAM) {
        return xpu_ep_fail(
            api, ORT_EP_FAIL,
            "error [provider-context] a program is too large for a model\n  why: it has more than 2 GiB\n"
            "  hint: leave ep.context_embed_mode at 0: then it stands in a file of its own");
    }
    list->api = api;
    xpu_arena_defer(arena, release_attributes, list);
    XPU_TRY(add_all(list, ep, bytes, size, name, program->chip, xpu_ep_write_notes(ep, arena, program)));
    return make_node(arena, fused, name, list, context);
}
