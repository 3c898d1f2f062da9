/* One layer alone, with its operands from a dump folder. */
#include <string.h>

#include "base/compare.h"
#include "base/json.h"
#include "base/npy.h"
#include "xpu_runtime/host/replay.h"

static xpu_status refuse(const xpu_run *run, const char *file, const char *rule, const char *what, const char *why,
                         const char *hint) {
    return xpu_error(run->diags, XPU_EUSAGE, file, rule, NULL, what, why, hint);
}

/* The first entry of a tensor counts, and of an iteration the symbols of its last layer. */
static void list_entries(const xpu_run *run, const char *key) {
    size_t i, k;
    json_t *entry, *number, *entries = run->replay->entries;
    json_array_foreach(json_object_get(run->replay->index, key), i, entry) {
        const char *tensor = json_string_value(json_object_get(entry, "tensor"));
        json_t *symbols = json_object_get(entry, "symbols"), *list = json_object_get(entry, "iteration");
        xpu_iterations iterations;
        uint32_t count = 0;
        json_array_foreach(list, k, number) {
            if (count < XPU_MOST_LOOPS) iterations.at[count++] = json_integer_value(number);
        }
        if (json_is_object(symbols))
            xpu_json_set(run->arena, run->replay->symbols, xpu_iterations_text(run->arena, &iterations, count),
                         json_incref(symbols));
        if (tensor && !json_object_get(entries, tensor)) xpu_json_set(run->arena, entries, tensor, json_incref(entry));
    }
}

static xpu_status open_dump(xpu_run *run) {
    const char *path = xpu_path_join(run->arena, run->options->from_dump, "index.json");
    run->replay = XPU_NEW(run->arena, struct xpu_replay);
    run->replay->index = xpu_json_read(run->arena, path, run->diags);
    if (!run->replay->index) return xpu_diags_status(run->diags);
    run->replay->entries = xpu_json_own(run->arena, json_object());
    run->replay->symbols = xpu_json_own(run->arena, json_object());
    list_entries(run, "layers");
    list_entries(run, "inputs");
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

static xpu_status bad_symbol(const xpu_run *run, const xpu_symbol *s) {
    return refuse(
        run, run->options->from_dump, "dump-symbols", "the dump is of another program",
        xpu_printf(run->arena, "it has no value in range for symbol '%s'", xpu_escape(run->arena, s->name, 80)),
        "make the dump with this program");
}

static const char *name_of(const xpu_run *run, xpu_value value, const xpu_iterations *when) {
    uint32_t loops = xpu_loops_around(run->graph, xpu_value_block(run->graph, value));
    return xpu_printf(run->arena, "%s%s", xpu_escape(run->arena, xpu_value_at(run->graph, value)->name, 200),
                      xpu_iterations_text(run->arena, when, loops));
}

xpu_status xpu_replay_take_symbols(xpu_run *run, const json_t *symbols) {
    for (uint32_t i = 0; symbols && i < run->graph->dims.symbols.count; i++) {
        const xpu_symbol *s = &run->graph->dims.symbols.items[i];
        const json_t *value = json_object_get(symbols, xpu_escape(run->arena, s->name, 200));
        if (!value) continue;
        int64_t number = json_is_integer(value) ? json_integer_value(value) : s->max;
        if (!json_is_integer(value) || number < s->min || number > s->max) return bad_symbol(run, s);
        run->symbols[i] = number;
    }
    return XPU_OK;
}

/* Those of the whole run: every symbol has one. */
static xpu_status take_all_symbols(xpu_run *run) {
    const json_t *symbols = json_object_get(run->replay->index, "symbols");
    for (uint32_t i = 0; i < run->graph->dims.symbols.count; i++) {
        const xpu_symbol *s = &run->graph->dims.symbols.items[i];
        if (!json_object_get(symbols, xpu_escape(run->arena, s->name, 200))) return bad_symbol(run, s);
    }
    return xpu_replay_take_symbols(run, symbols);
}

/* ---- the iteration ---- */

/* Whether the dump's run would have dumped the layer in this iteration (NULL: any), so that it did not run there. */
static int did_not_run(const xpu_run *run, const xpu_iterations *when) {
    const json_t *index = run->replay->index, *chosen = json_object_get(index, "chosen");
    const char *filter = json_string_value(json_object_get(chosen, "layers"));
    const char *iterations = json_string_value(json_object_get(chosen, "iterations"));
    xpu_iteration_ranges ranges;
    if (!json_is_object(chosen) || json_object_get(index, "incomplete") || json_object_get(index, "left_out")) return 0;
    if (filter && xpu_find_layer(run->program, filter, run->only_layer, 1, run->arena) != (int64_t)run->only_layer)
        return 0;
    if (!iterations || !when) return 1;
    return xpu_iteration_ranges_read(iterations, &ranges) && xpu_iterations_are_in(&ranges, when, run->replay->loops);
}

/* Several layers are replayed: the others are worth a look. */
static xpu_status is_absent(xpu_run *run) {
    if (run->options->layer_ran) {
        *run->options->layer_ran = 0;
        run->replay->is_absent = 1;
        return XPU_OK;
    }
    const char *name = xpu_escape(run->arena, run->program->layers.items[run->only_layer].name, 80);
    return refuse(run, run->options->from_dump, "layer-not-run",
                  xpu_printf(run->arena, "layer '%s' did not run in this dump", name),
                  "its loop had no iteration, or its branch was not taken", "dump a run in which it does");
}

int xpu_replay_is_absent(const xpu_run *run) {
    return run->replay && run->replay->is_absent;
}

static xpu_status bad_iteration(const xpu_run *run, const char *what, const char *why) {
    return refuse(run, run->options->from_dump, "layer-iteration", what, why,
                  "name one number for each loop around the layer, from the outermost on: --iteration=2,1");
}

/* Which iteration is meant: the one that the caller names, or the first one that the dump has. */
static xpu_status choose_iteration(xpu_run *run, const char *layer, const json_t **chosen) {
    struct xpu_replay *replay = run->replay;
    const char *asked = run->options->layer_iteration;
    int count = asked ? xpu_iterations_read(asked, &replay->now) : 0;
    if (count < 0) {
        return bad_iteration(run, xpu_printf(run->arena, "'%s' is no iteration", xpu_escape(run->arena, asked, 40)),
                             "iterations are whole numbers from 0 on, with commas between them");
    }
    if (asked && (uint32_t)count < replay->loops) {
        return bad_iteration(run, xpu_printf(run->arena, "layer '%s' is in more loops than that", layer),
                             xpu_printf(run->arena, "there are %u loops around it, and %d number%s", replay->loops,
                                        count, count == 1 ? "" : "s"));
    }
    size_t i, k;
    const json_t *entry, *number;
    json_array_foreach(json_object_get(replay->index, "layers"), i, entry) {
        const json_t *list = json_object_get(entry, "iteration");
        int same = json_integer_value(json_object_get(entry, "index")) == (json_int_t)run->only_layer;
        if (!same || json_array_size(list) != replay->loops) continue;
        json_array_foreach(list, k, number) {
            if (!asked) replay->now.at[k] = json_integer_value(number);
            same = same && json_integer_value(number) == replay->now.at[k];
        }
        if (!same) continue;
        *chosen = entry;
        return XPU_OK;
    }
    int not_run = did_not_run(run, asked ? &replay->now : NULL);
    if (not_run && (!asked || run->options->layer_ran)) return is_absent(run);
    if (!asked) return xpu_replay_missing(run, "the dump lacks what the layer made", "layer ", layer);
    return bad_iteration(run, xpu_printf(run->arena, "the dump has no iteration %s of layer '%s'", asked, layer),
                         "the layer did not run in it, or was not dumped");
}

static xpu_status enter_iteration(xpu_run *run) {
    const xpu_program_layer *layer = &run->program->layers.items[run->only_layer];
    const json_t *entry = NULL;
    run->replay->loops =
        layer->node.id ? xpu_loops_around(run->graph, xpu_node_at(run->graph, layer->node)->parent) : 0;
    if (run->replay->loops > XPU_MOST_LOOPS)
        return bad_iteration(run, "the layer cannot run alone", "too many loops are around it");
    xpu_status status =
        run->replay->loops ? choose_iteration(run, xpu_escape(run->arena, layer->name, 80), &entry) : XPU_OK;
    if (status != XPU_OK) return status;
    if (!entry) entry = json_object_get(run->replay->entries, name_of(run, layer->outputs[0], &run->replay->now));
    if (!entry && !run->replay->is_absent && did_not_run(run, &run->replay->now)) return is_absent(run);
    return xpu_replay_take_symbols(run, json_object_get(entry, "symbols"));
}

uint32_t xpu_replay_iterations(const xpu_run *run, xpu_iterations *iterations) {
    *iterations = run->replay->now;
    return run->replay->loops;
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
    if (status == XPU_OK) status = take_all_symbols(run);
    return status == XPU_OK ? enter_iteration(run) : status;
}

xpu_status xpu_replay_missing(const xpu_run *run, const char *what, const char *kind, const char *name) {
    const char *incomplete = json_string_value(json_object_get(run->replay->index, "incomplete"));
    const char *why = xpu_printf(run->arena, "%s'%s' is not in it", kind, xpu_escape(run->arena, name, 80));
    if (incomplete)
        why = xpu_printf(run->arena, "%s: its run ended early (%s)", why, xpu_escape(run->arena, incomplete, 80));
    const char *hint = incomplete ? "make the dump again, of a run that comes to its end"
                       : json_object_get(run->replay->index, "left_out")
                           ? "name the iterations when you make the dump: --dump-iterations=A..B"
                           : "make the dump without --dump-filter and --dump-iterations";
    return refuse(run, run->options->from_dump, "dump-missing", what, why, hint);
}

/* Whether the tensor has the value's shape with the symbols of the entry. */
static xpu_status has_shape(xpu_run *run, xpu_value value, const json_t *entry, const xpu_tensor *tensor, int *same) {
    size_t bytes = run->graph->dims.symbols.count * sizeof *run->symbols;
    int64_t *kept = xpu_copy(run->arena, run->symbols, bytes);
    xpu_status status = xpu_replay_take_symbols(run, json_object_get(entry, "symbols"));
    xpu_tensor shape = xpu_run_shape(run, value);
    memcpy(run->symbols, kept, bytes);
    *same = xpu_same_shape(&shape, tensor);
    return status;
}

xpu_status xpu_replay_read(xpu_run *run, xpu_value value, const xpu_iterations *when, xpu_tensor *tensor, int *found) {
    const char *name = name_of(run, value, when);
    const json_t *entry = json_object_get(run->replay->entries, name);
    const char *file = json_string_value(json_object_get(entry, "file"));
    *found = file && !strchr(file, '/');
    if (!*found) return XPU_OK;
    const char *path = xpu_path_join(run->arena, run->options->from_dump, file);
    xpu_status status = xpu_npy_read(run->arena, path, tensor, run->diags);
    int same = 0;
    if (status == XPU_OK) status = has_shape(run, value, entry, tensor, &same);
    if (status != XPU_OK || same) return status;
    return refuse(run, path, "dump-shape", "the dump is of another program",
                  xpu_printf(run->arena, "'%s' has another shape or element type", name),
                  "make the dump with this program");
}

void xpu_replay_stats(const xpu_run *run, json_t *top) {
    if (!run->replay->loops) return;
    json_t *list = xpu_json_set(run->arena, top, "iteration", json_array());
    for (uint32_t i = 0; i < run->replay->loops; i++)
        xpu_json_append(run->arena, list, json_integer(run->replay->now.at[i]));
}

/* In a loop the name says in which iteration. */
static xpurt_tensor public_tensor(const char *name, const xpu_tensor *tensor) {
    xpurt_tensor public = {
        .name = name, .dtype = xpu_dtype_name(tensor->dtype), .rank = tensor->rank, .data = tensor->data};
    memcpy(public.dims, tensor->dims, sizeof public.dims);
    return public;
}

static xpu_tolerance tolerance_of(const xpu_run *run, uint32_t layer) {
    static const xpu_tolerance exact = {0, 0};
    const char *device = json_string_value(json_object_get(run->replay->index, "device"));
    int was_ref = device && strcmp(device, "ref") == 0, is_ref = run->driver == NULL;
    return was_ref != is_ref ? xpu_layer_tolerance(run, layer) : exact;
}

xpu_status xpu_replay_compare(xpu_run *run, uint32_t layer, uint32_t output, const xpu_tensor *tensor) {
    xpu_tensor before;
    int found = 0;
    const xpurt_run_options *options = run->options;
    xpu_value value = run->program->layers.items[layer].outputs[output];
    if (!options->layer_differs && !options->layer_result) return XPU_OK;
    xpu_status status = xpu_replay_read(run, value, &run->replay->now, &before, &found);
    if (status != XPU_OK) return status;
    if (!found) {
        return xpu_replay_missing(run, "the dump lacks what the layer made", "layer ",
                                  run->program->layers.items[layer].name);
    }
    const xpu_tolerance tolerance = tolerance_of(run, layer);
    if (options->layer_tolerance) *options->layer_tolerance = tolerance.relative;
    if (options->layer_result) {
        uint32_t loops = run->replay->loops;
        const char *name = xpu_value_at(run->graph, value)->name;
        if (loops)
            name = xpu_printf(run->arena, "%s%s", name, xpu_iterations_text(run->arena, &run->replay->now, loops));
        xpurt_tensor result = public_tensor(name, tensor), dumped = public_tensor(name, &before);
        options->layer_result(options->layer_context, &result, &dumped);
    }
    if (options->layer_differs) *options->layer_differs += (uint64_t)xpu_compare(tensor, &before, &tolerance).differing;
    return XPU_OK;
}
