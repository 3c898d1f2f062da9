/* One layer alone, with its operands from a dump folder. */
#include <string.h>

#include "base/compare.h"
#include "base/json.h"
#include "base/npy.h"
#include "core/ops/ref.h"
#include "xpu_runtime/host/host.h"

static xpu_status refuse(const xpu_run *run, const char *file, const char *rule, const char *what, const char *why,
                         const char *hint) {
    return xpu_error(run->diags, XPU_EUSAGE, file, rule, NULL, what, why, hint);
}

/* What a replay knows: the dump's index, and the values that it has found. */
struct xpu_replay {
    json_t *index;
    json_t *files;      /* of the dump's tensors, by name */
    xpu_tensor *values; /* by value id; without a dtype: not found yet */
};

/* The first entry of a tensor counts. */
static void list_files(const xpu_run *run, const char *key) {
    size_t i;
    json_t *entry, *files = run->replay->files;
    json_array_foreach(json_object_get(run->replay->index, key), i, entry) {
        const char *tensor = json_string_value(json_object_get(entry, "tensor"));
        json_t *file = json_object_get(entry, "file");
        if (tensor && file && !json_object_get(files, tensor)) {
            xpu_json_set(run->arena, files, tensor, json_incref(file));
        }
    }
}

static xpu_status open_dump(xpu_run *run) {
    const char *path = xpu_path_join(run->arena, run->options->from_dump, "index.json");
    run->replay = XPU_NEW(run->arena, struct xpu_replay);
    run->replay->index = xpu_json_read(run->arena, path, run->diags);
    if (!run->replay->index) return xpu_diags_status(run->diags);
    run->replay->files = xpu_json_own(run->arena, json_object());
    list_files(run, "layers");
    list_files(run, "inputs");
    run->replay->values = XPU_NEW_ARRAY(run->arena, xpu_tensor, run->graph->values.count);
    return XPU_OK;
}

static xpu_status find_layer(xpu_run *run) {
    const char *pattern = run->options->layer;
    int64_t found = xpu_find_layer(run->program, pattern, 0, 1, run->arena);
    if (found < 0) return xpu_layer_unknown(run->owner, pattern, 1, run->arena, run->diags);
    int64_t next = xpu_find_layer(run->program, pattern, (uint32_t)found + 1, 1, run->arena);
    run->only_layer = (uint32_t)found;
    if (next < 0) return XPU_OK;
    return refuse(
        run, run->owner->image->name, "layer-unknown",
        xpu_printf(run->arena, "more than one layer matches '%s'", xpu_escape_message(run->arena, pattern, 80)),
        xpu_printf(run->arena, "'%s' and '%s' do", xpu_escape(run->arena, run->program->layers.items[found].name, 80),
                   xpu_escape(run->arena, run->program->layers.items[next].name, 80)),
        "name one");
}

/* A layer's operands and result are compared with what this very program made. */
static xpu_status check_identity(const xpu_run *run, const json_t *index) {
    const char *said = json_string_value(json_object_get(index, "program_hash"));
    const char *source = json_string_value(json_object_get(index, "source"));
    const char *own = xpu_hash_text(run->arena, &run->owner->image->hash);
    if (said && strcmp(said, own) == 0) return XPU_OK;
    const char *why =
        said ? xpu_printf(run->arena, "its program, of model '%s', has the hash %s, this one %s",
                          xpu_escape(run->arena, source ? source : "?", 80), xpu_escape(run->arena, said, 40), own)
             : "its index does not say which program made it";
    return refuse(run, run->options->from_dump, "dump-program", "the dump is of another program", why,
                  "make the dump again with this program: xpu-run --dump-layers=DIR");
}

xpu_status xpu_replay_prepare(xpu_run *run) {
    if (!run->options->from_dump) {
        return refuse(run, run->owner->image->name, "layer-from-dump", "--layer needs --from-dump",
                      "one layer alone takes its operands from a dump folder",
                      "make one first: xpu-run --dump-layers=DIR");
    }
    if (run->program->stripped) {
        return refuse(run, run->owner->image->name, "ref-stripped", "one layer of this program cannot run alone",
                      "it was compiled with --strip, which leaves the graph out", "compile it without --strip");
    }
    xpu_status status = find_layer(run);
    if (status != XPU_OK) return status;
    status = open_dump(run);
    if (status == XPU_OK) status = check_identity(run, run->replay->index);
    if (status != XPU_OK) return status;
    json_t *symbols = json_object_get(run->replay->index, "symbols");
    for (uint32_t i = 0; i < run->graph->dims.symbols.count; i++) {
        const xpu_symbol *s = &run->graph->dims.symbols.items[i];
        json_t *value = json_object_get(symbols, xpu_escape(run->arena, s->name, 200));
        run->symbols[i] = json_is_integer(value) ? json_integer_value(value) : -1;
        if (run->symbols[i] >= s->min && run->symbols[i] <= s->max) continue;
        return refuse(
            run, run->options->from_dump, "dump-symbols", "the dump is of another program",
            xpu_printf(run->arena, "it has no value in range for symbol '%s'", xpu_escape(run->arena, s->name, 80)),
            "make the dump with this program");
    }
    return XPU_OK;
}

/* `name` is part of the layer in question and not in the dump: left out by --dump-filter, or the run ended before. */
static xpu_status missing(const xpu_run *run, const char *what, const char *kind, const char *name) {
    const char *incomplete = json_string_value(json_object_get(run->replay->index, "incomplete"));
    const char *why = xpu_printf(run->arena, "%s'%s' is not in it", kind, xpu_escape(run->arena, name, 80));
    if (incomplete)
        why = xpu_printf(run->arena, "%s: its run ended early (%s)", why, xpu_escape(run->arena, incomplete, 80));
    return refuse(run, run->options->from_dump, "dump-missing", what, why,
                  incomplete ? "make the dump again, of a run that comes to its end"
                             : "make the dump without --dump-filter");
}

/* *found is 0 when the dump has no such value. */
static xpu_status from_dump(xpu_run *run, xpu_value value, xpu_tensor *tensor, int *found) {
    const char *name = xpu_escape(run->arena, xpu_value_at(run->graph, value)->name, 200);
    const char *file = json_string_value(json_object_get(run->replay->files, name));
    *found = file && !strchr(file, '/');
    if (!*found) return XPU_OK;
    const char *path = xpu_path_join(run->arena, run->options->from_dump, file);
    xpu_status status = xpu_npy_read(run->arena, path, tensor, run->diags);
    if (status != XPU_OK) return status;
    xpu_tensor shape = xpu_run_shape(run, value);
    int same = shape.dtype == tensor->dtype && shape.rank == tensor->rank;
    for (int i = 0; same && i < shape.rank; i++) same = shape.dims[i] == tensor->dims[i];
    if (same) return XPU_OK;
    return refuse(run, path, "dump-shape", "the dump is of another program",
                  xpu_printf(run->arena, "'%s' has another shape or element type", name),
                  "make the dump with this program");
}

enum { MAX_DEPTH = 16 }; /* nodes between a layer's result and an operand: views such as reshape */

static xpu_status find_value(xpu_run *run, xpu_value value, int depth);

/* The results of a node that is no layer, from its operands. */
static xpu_status compute(xpu_run *run, xpu_node which, int depth) {
    const xpu_node_info *node = xpu_node_at(run->graph, which);
    const xpu_tensor **inputs = XPU_NEW_ARRAY(run->arena, const xpu_tensor *, node->input_count);
    xpu_tensor *results = XPU_NEW_ARRAY(run->arena, xpu_tensor, node->output_count);
    for (uint32_t i = 0; i < node->input_count; i++) {
        if (!node->inputs[i].id) continue;
        xpu_status status = find_value(run, node->inputs[i], depth + 1);
        if (status != XPU_OK) return status;
        inputs[i] = &run->replay->values[node->inputs[i].id];
    }
    xpu_status status = xpu_run_afford_node(run, which);
    if (status != XPU_OK) return status;
    status = xpu_run_node(run, which, inputs, results);
    for (uint32_t i = 0; status == XPU_OK && i < node->output_count; i++) {
        run->replay->values[node->outputs[i].id] = results[i];
    }
    return status;
}

/* Makes replay->values of `value`, once however many nodes use it. */
static xpu_status find_value(xpu_run *run, xpu_value value, int depth) {
    const xpu_value_info *info = xpu_value_at(run->graph, value);
    xpu_tensor *tensor = &run->replay->values[value.id];
    int found = 0;
    if (tensor->dtype != XPU_DTYPE_NONE) return XPU_OK;
    if (info->kind == XPU_VALUE_CONST) return xpu_const_tensor(run->graph, value, run->arena, tensor, run->diags);
    xpu_status status = from_dump(run, value, tensor, &found);
    if (status != XPU_OK || found) return status;
    if (info->kind != XPU_VALUE_NODE || depth == MAX_DEPTH || xpu_run_layer_of(run, info->node) != UINT32_MAX) {
        return missing(run, "the dump lacks an operand of the layer", "", info->name);
    }
    return compute(run, info->node, depth);
}

xpu_status xpu_replay_value(xpu_run *run, xpu_value value, xpu_tensor *tensor) {
    xpu_status status = find_value(run, value, 0);
    if (status == XPU_OK) *tensor = run->replay->values[value.id];
    return status;
}

static xpurt_tensor public_tensor(const xpu_run *run, xpu_value value, const xpu_tensor *tensor) {
    xpurt_tensor public = {.name = xpu_value_at(run->graph, value)->name,
                           .dtype = xpu_dtype_name(tensor->dtype),
                           .rank = tensor->rank,
                           .data = tensor->data};
    memcpy(public.dims, tensor->dims, sizeof public.dims);
    return public;
}

/* The C of another target rounds as it likes: on ref its nodes run instead. All else is the same everywhere. */
static xpu_tolerance tolerance_of(const xpu_run *run, uint32_t layer) {
    static const xpu_tolerance exact = {0, 0}, of_portable = {1e-5, 1e-5};
    const char *device = json_string_value(json_object_get(run->replay->index, "device"));
    int was_ref = device && strcmp(device, "ref") == 0, is_ref = run->driver == NULL;
    int is_portable = xpu_node_is(run->graph, run->program->layers.items[layer].node, XPU_OP_REGION);
    return is_portable && was_ref != is_ref ? of_portable : exact;
}

xpu_status xpu_replay_compare(xpu_run *run, uint32_t layer, uint32_t output, const xpu_tensor *tensor) {
    xpu_tensor before;
    int found = 0;
    const xpurt_run_options *options = run->options;
    xpu_value value = run->program->layers.items[layer].outputs[output];
    if (!options->layer_differs && !options->layer_result) return XPU_OK;
    xpu_status status = from_dump(run, value, &before, &found);
    if (status != XPU_OK) return status;
    if (!found) {
        return missing(run, "the dump lacks what the layer made", "layer ", run->program->layers.items[layer].name);
    }
    const xpu_tolerance tolerance = tolerance_of(run, layer);
    if (options->layer_tolerance) *options->layer_tolerance = tolerance.relative;
    if (options->layer_result) {
        xpurt_tensor result = public_tensor(run, value, tensor), dumped = public_tensor(run, value, &before);
        options->layer_result(options->layer_context, &result, &dumped);
    }
    if (options->layer_differs) *options->layer_differs += (uint64_t)xpu_compare(tensor, &before, &tolerance).differing;
    return XPU_OK;
}
