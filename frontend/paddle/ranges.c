/*
 * What inference.yml beside a program says of the sizes of its inputs: for TensorRT, the least, usual and largest shape
 * of each, under a key dynamic_shapes or trt_dynamic_shapes, wherever that stands:
 *
 *     trt_dynamic_shapes:
 *       x: [[1, 3, 32, 32], [1, 3, 736, 736], [1, 3, 4000, 4000]]
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

#include "frontend/paddle/importer.h"

enum { MAX_BYTES = 16 << 20, LEAST = 0, LARGEST = 2, SHAPES = 3 };

typedef struct {
    xpu_arena *arena;
    const xpu_paddle_files *files;
    const xpu_import_options *options;
    xpu_diags *diags;
    const char *path;
    yaml_document_t document;
    const xpu_paddle_port *ports; /* the program's inputs */
    uint8_t *seen;                /* by port: its first entry counts */
    uint32_t port_count;
    XPU_ARRAY(xpu_shape_spec) specs;
} reader;

#define TEXT(r, ...) xpu_printf((r)->arena, __VA_ARGS__)

static int warn(const reader *r, const char *where, const char *what, const char *why) {
    xpu_diag_add(r->diags, XPU_SEVERITY_WARNING, XPU_OK, r->path, "paddle-ranges", where, what, why,
                 "give the shapes: --shape");
    return 0;
}

static const char *scalar_of(const yaml_node_t *node) {
    return node && node->type == YAML_SCALAR_NODE ? (const char *)node->data.scalar.value : NULL;
}

static yaml_node_t *node_at(reader *r, int index) {
    return yaml_document_get_node(&r->document, index);
}

static size_t length_of(const yaml_node_t *list) {
    if (!list || list->type != YAML_SEQUENCE_NODE) return 0;
    return (size_t)(list->data.sequence.items.top - list->data.sequence.items.start);
}

static yaml_node_t *item_of(reader *r, const yaml_node_t *list, size_t index) {
    return index < length_of(list) ? node_at(r, list->data.sequence.items.start[index]) : NULL;
}

/* A dim of a shape; 0: it is none. */
static int64_t dim_of(reader *r, const yaml_node_t *shape, size_t index) {
    const char *text = scalar_of(item_of(r, shape, index));
    char *end = NULL;
    if (!text || !text[0]) return 0;
    long long value = strtoll(text, &end, 10);
    return *end || value < 1 || value > INT32_MAX ? 0 : value;
}

/* ---- the ranges of an input ---- */

/* The input of this name, the first time. */
static const xpu_paddle_var *input_called(const reader *r, const char *name) {
    for (uint32_t i = 0; i < r->port_count; i++) {
        const xpu_paddle_var *var = &r->files->program->vars.items[r->ports[i].var];
        if (r->seen[i] || strcmp(r->ports[i].name[0] ? r->ports[i].name : var->name, name) != 0) continue;
        r->seen[i] = 1;
        return var;
    }
    return NULL;
}

static int is_given(const reader *r, const char *name) {
    for (uint32_t i = 0; i < r->options->shape_count; i++) {
        if (strcmp(r->options->shapes[i].input, name) == 0) return 1;
    }
    return 0;
}

/* The open dims get their range; 0 after saying why not. */
static int read_dims(reader *r, const xpu_paddle_var *var, const yaml_node_t *shapes, xpu_shape_spec *spec) {
    const char *where = TEXT(r, "input '%s'", xpu_escape(r->arena, spec->input, 100));
    const yaml_node_t *least = item_of(r, shapes, LEAST), *largest = item_of(r, shapes, LARGEST);
    if (length_of(shapes) != SHAPES || length_of(least) != (size_t)var->rank ||
        length_of(largest) != (size_t)var->rank) {
        return warn(r, where, "its shapes in this file are not taken",
                    TEXT(r, "they are not three (the least, the usual, the largest) of %d dims", var->rank));
    }
    for (int i = 0; i < var->rank; i++) {
        int64_t min = dim_of(r, least, (size_t)i), max = dim_of(r, largest, (size_t)i);
        if (var->dims[i] >= 0) min = max = var->dims[i] ? var->dims[i] : 1;
        spec->dims[i] = (xpu_shape_dim){min, max, 1, NULL};
        if (min >= 1 && max >= min) continue;
        return warn(r, where, "its shapes in this file are not taken",
                    TEXT(r, "dim %d is no range of numbers from 1 to %d", i, INT32_MAX));
    }
    return 1;
}

static void tell(const reader *r, const xpu_shape_spec *spec) {
    xpu_text text;
    xpu_text_init(&text, r->arena);
    for (int i = 0; i < spec->rank; i++) {
        const xpu_shape_dim *dim = &spec->dims[i];
        xpu_text_add(&text, "%s%" PRId64, i ? "," : "", dim->min);
        if (dim->max > dim->min) xpu_text_add(&text, "..%" PRId64, dim->max);
    }
    const char *name = xpu_escape(r->arena, spec->input, 100);
    xpu_diag_add(r->diags, XPU_SEVERITY_NOTE, XPU_OK, r->path, "paddle-ranges", TEXT(r, "input '%s'", name),
                 TEXT(r, "its shape is %s", text.text), "this file says so",
                 TEXT(r, "for another one: --shape %s=...", name));
}

static void read_input(reader *r, const char *name, const yaml_node_t *shapes) {
    const xpu_paddle_var *var = input_called(r, name);
    xpu_shape_spec spec = {.input = xpu_strdup(r->arena, name)};
    int open = 0;
    if (!var || var->kind != XPU_PADDLE_TENSOR || var->rank < 1 || var->rank > XPU_MAX_RANK || is_given(r, name))
        return;
    for (int i = 0; i < var->rank; i++) open |= var->dims[i] < 0;
    spec.rank = var->rank;
    if (!open || !read_dims(r, var, shapes, &spec)) return;
    XPU_PUSH(r->arena, &r->specs, spec);
    tell(r, &spec);
}

/* ---- the file ---- */

static void read_mapping(reader *r, const yaml_node_t *mapping) {
    for (yaml_node_pair_t *pair = mapping->data.mapping.pairs.start; pair < mapping->data.mapping.pairs.top; pair++) {
        const char *name = scalar_of(node_at(r, pair->key));
        if (name) read_input(r, name, node_at(r, pair->value));
    }
}

/* Every node once: what aliases make of the document is no tree. */
static void read_document(reader *r) {
    for (int i = 1; node_at(r, i); i++) {
        const yaml_node_t *node = node_at(r, i);
        if (node->type != YAML_MAPPING_NODE) continue;
        for (yaml_node_pair_t *pair = node->data.mapping.pairs.start; pair < node->data.mapping.pairs.top; pair++) {
            const char *key = scalar_of(node_at(r, pair->key));
            const yaml_node_t *value = node_at(r, pair->value);
            int is_ranges = key && (strcmp(key, "trt_dynamic_shapes") == 0 || strcmp(key, "dynamic_shapes") == 0);
            if (is_ranges && value && value->type == YAML_MAPPING_NODE) read_mapping(r, value);
        }
    }
}

static void delete_document(void *document) {
    yaml_document_delete(document);
}

static int load(reader *r, const char *bytes, size_t length) {
    yaml_parser_t parser;
    if (!yaml_parser_initialize(&parser)) return xpu_error_oom(r->diags), 0;
    yaml_parser_set_input_string(&parser, (const unsigned char *)bytes, length);
    int loaded = yaml_parser_load(&parser, &r->document), is_oom = parser.error == YAML_MEMORY_ERROR;
    size_t line = parser.problem_mark.line + 1, column = parser.problem_mark.column + 1;
    char problem[120] = "";
    if (parser.problem) strncpy(problem, parser.problem, sizeof problem - 1);
    yaml_parser_delete(&parser);
    if (loaded) {
        xpu_arena_defer(r->arena, delete_document, &r->document);
        return 1;
    }
    if (is_oom) return xpu_error_oom(r->diags), 0;
    return warn(
        r, NULL, "the shapes that this file may give are not taken",
        TEXT(r, "it is no valid YAML: line %zu, column %zu: %s", line, column, xpu_escape(r->arena, problem, 100)));
}

const xpu_import_options *xpu_paddle_with_ranges(xpu_arena *arena, const xpu_paddle_files *files,
                                                 const xpu_import_options *options, xpu_diags *diags) {
    reader *r = XPU_NEW(arena, reader);
    *r = (reader){.arena = arena, .files = files, .options = options, .diags = diags};
    r->path = xpu_path_join(arena, files->folder, "inference.yml");
    if (strncmp(xpu_path_name(files->path), "inference.", 10) != 0 || !xpu_file_exists(r->path)) return options;
    size_t length = 0;
    xpu_diags *own = xpu_diags_new(arena);
    const char *bytes = xpu_file_read_all(arena, r->path, MAX_BYTES, &length, own);
    if (!bytes) {
        warn(r, NULL, "the shapes that this file may give are not taken", own->count ? own->items[0].why : "");
        return options;
    }
    if (!load(r, bytes, length)) return options;
    r->ports = xpu_paddle_ports(arena, files->program, 1, &r->port_count);
    r->seen = XPU_NEW_ARRAY(arena, uint8_t, r->port_count + 1);
    read_document(r);
    if (!r->specs.count) return options;
    xpu_import_options *with = XPU_NEW(arena, xpu_import_options);
    xpu_shape_spec *all = XPU_NEW_ARRAY(arena, xpu_shape_spec, options->shape_count + r->specs.count);
    for (uint32_t i = 0; i < options->shape_count; i++) all[i] = options->shapes[i];
    for (uint32_t i = 0; i < r->specs.count; i++) all[options->shape_count + i] = r->specs.items[i];
    *with = *options;
    with->shapes = all;
    with->shape_count += r->specs.count;
    return with;
}
