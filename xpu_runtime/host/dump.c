/*
 * Dump folders: one .npy per result of a layer in logical shape, 0012_NAME.npy in execution order, the inputs as
 * input_NAME.npy, and index.json, which names every file with its statistics and says for every tensor of the source
 * model whether it was dumped, fused into a layer, or folded. The index is written last.
 */
#include <math.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/json.h"
#include "base/npy.h"
#include "core/arith.h"
#include "xpu_runtime/host/host.h"

/* On a disk: a file takes whole blocks, and its entry in the index about another one. Some of the disk stays free. */
#define LOOPS_BYTES ((uint64_t)1 << 30) /* what results of iterations may take where nobody names the iterations */
#define KEPT_FREE   ((uint64_t)1 << 28) /* or 1/16 of the disk, where that is less */
enum { BLOCK = 4096, HEADER = 128 };

struct xpu_dump {
    json_t *index, *layers, *inputs;
    uint8_t *wanted, *written;      /* per layer */
    xpu_iteration_ranges when;      /* in loops; without a range: all that have room */
    uint64_t loops_bytes, left_out; /* left_out: results of iterations, as there is no more room for them */
    const char *first_left_out;
};

static int is_plain(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '.';
}

/* A name that can be part of a file name; at most 80 characters. */
static const char *file_part(xpu_arena *arena, const char *name) {
    char *copy = xpu_strndup(arena, name, strnlen(name, 80));
    for (char *c = copy; *c; c++) {
        if (!is_plain(*c)) *c = '_';
    }
    return copy;
}

static const char *value_name(const xpu_run *run, xpu_value value) {
    return xpu_escape(run->arena, xpu_value_at(run->graph, value)->name, 200);
}

/* NaNs in one form, so that equal runs give equal files; counts what is worth a look. */
static void examine(xpu_arena *arena, xpu_tensor *tensor, json_t *entry) {
    int64_t count = xpu_tensor_count(tensor), nan = 0, saturated = 0;
    double low = INFINITY, high = -INFINITY;
    for (int64_t i = 0; i < count; i++) {
        double x = 0;
        if (tensor->dtype == XPU_F32) {
            float *f = (float *)tensor->data + i;
            *f = xa_canonical(*f);
            x = (double)*f;
            saturated += isinf(*f) != 0;
        } else if (tensor->dtype == XPU_I16) {
            int16_t v = ((const int16_t *)tensor->data)[i];
            x = v;
            saturated += v == INT16_MAX || v == INT16_MIN || v == -INT16_MAX;
        } else if (tensor->dtype == XPU_I8) {
            int8_t v = ((const int8_t *)tensor->data)[i];
            x = v;
            saturated += v == INT8_MAX || v == INT8_MIN;
        } else if (tensor->dtype == XPU_U8) {
            uint8_t v = ((const uint8_t *)tensor->data)[i];
            x = v;
            saturated += v == UINT8_MAX || v == 0;
        } else {
            return;
        }
        nan += isnan(x) != 0;
        if (x < low) low = x;
        if (x > high) high = x;
    }
    xpu_json_set(arena, entry, "min", isfinite(low) ? json_real(low) : json_null());
    xpu_json_set(arena, entry, "max", isfinite(high) ? json_real(high) : json_null());
    xpu_json_set(arena, entry, "nan", json_integer(nan));
    xpu_json_set(arena, entry, "saturated", json_integer(saturated));
}

static uint64_t bytes_on_disk(const xpu_tensor *tensor) {
    return (xpu_tensor_bytes(tensor) + HEADER + BLOCK - 1) / BLOCK * BLOCK + BLOCK;
}

/* A full disk harms others, and leaves a dump without its index: the run ends before. */
static xpu_status check_disk(xpu_run *run, const char *path, const xpu_tensor *tensor) {
    struct statvfs disk;
    if (statvfs(run->options->dump_folder, &disk) != 0) return XPU_OK; /* the write will tell */
    const uint64_t all = (uint64_t)disk.f_blocks * disk.f_frsize, available = (uint64_t)disk.f_bavail * disk.f_frsize;
    const uint64_t kept = all / 16 < KEPT_FREE ? all / 16 : KEPT_FREE, needed = bytes_on_disk(tensor);
    if (available >= kept && available - kept >= needed) return XPU_OK;
    run->incomplete = "dump-space";
    return xpu_error(run->diags, XPU_EIO, path, run->incomplete, NULL, "the disk has no room for the dump",
                     xpu_printf(run->arena, "%llu bytes are free, of which %llu stay free; this file takes %llu",
                                (unsigned long long)available, (unsigned long long)kept, (unsigned long long)needed),
                     "dump fewer layers (--dump-filter) or iterations of loops (--dump-iterations=A..B)");
}

/* `entry` is the last one of `list`, which loses it where the file cannot be written. */
static xpu_status write_tensor(xpu_run *run, const char *file, const xpu_tensor *tensor, json_t *list, json_t *entry) {
    xpu_arena *scratch = xpu_arena_new(xpu_arena_mem(run->arena), "dump");
    xpu_tensor copy = *tensor;
    copy.data = xpu_copy(scratch, tensor->data, xpu_tensor_bytes(tensor));
    xpu_json_set(run->arena, entry, "file", json_string(file));
    xpu_json_set(run->arena, entry, "dtype", json_string(xpu_dtype_name(tensor->dtype)));
    json_t *shape = xpu_json_set(run->arena, entry, "shape", json_array());
    for (int i = 0; i < tensor->rank; i++) xpu_json_append(run->arena, shape, json_integer(tensor->dims[i]));
    examine(run->arena, &copy, entry);
    const char *path = xpu_path_join(scratch, run->options->dump_folder, file);
    xpu_status status = check_disk(run, path, tensor);
    if (status == XPU_OK) status = xpu_npy_write(scratch, path, &copy, run->diags);
    xpu_arena_free(scratch);
    if (status != XPU_OK) json_array_remove(list, json_array_size(list) - 1);
    return status;
}

/* input_NAME.npy; a number is added where an input before has a name that gives the same file. */
static const char *input_file(xpu_run *run, uint32_t index) {
    const char *part = file_part(run->arena, value_name(run, run->graph->inputs.items[index]));
    for (uint32_t i = 0; i < index; i++) {
        if (strcmp(part, file_part(run->arena, value_name(run, run->graph->inputs.items[i]))) == 0) {
            return xpu_printf(run->arena, "input_%s.%u.npy", part, index);
        }
    }
    return xpu_printf(run->arena, "input_%s.npy", part);
}

/* A stripped program has no operators: there the second of two results is taken for one. */
static int is_absmax(const xpu_run *run, const xpu_program_layer *layer, uint32_t output) {
    if (output != XPU_OUT_ABSMAX) return 0;
    if (!layer->node.id) return layer->output_count == XPU_OUT_ABSMAX + 1;
    return xpu_node_has(run->graph, layer->node, XPU_TRAIT_FINDS_ABSMAX);
}

/* `path`: of iterations. */
static const char *layer_file(const xpu_run *run, uint32_t layer, uint32_t output, const char *path) {
    const xpu_program_layer *l = &run->program->layers.items[layer];
    const char *which = is_absmax(run, l, output) ? ".absmax" : output ? xpu_printf(run->arena, ".%u", output) : "";
    return xpu_printf(run->arena, "%04u_%s%s%s.npy", layer, file_part(run->arena, l->name), which, path);
}

static xpu_status write_inputs(xpu_run *run) {
    for (uint32_t i = 0; run->inputs && i < run->graph->inputs.count; i++) {
        xpu_value value = run->graph->inputs.items[i];
        const char *name = value_name(run, value);
        json_t *entry = xpu_json_append(run->arena, run->dump->inputs, json_object());
        xpu_json_set(run->arena, entry, "tensor", json_string(name));
        xpu_status status = write_tensor(run, input_file(run, i), &run->inputs[i], run->dump->inputs, entry);
        if (status != XPU_OK) return status;
    }
    return XPU_OK;
}

static xpu_status allow(const xpu_run *run, const char *path) {
    const char *kept = xpu_kept_path(xpu_arena_mem(run->arena), path);
    return kept ? xpu_kept_error(run->arena, run->diags, "option '--dump-layers'", path, kept) : XPU_OK;
}

/* The path of a file that a dump's index names, or NULL. */
static const char *named_file(const xpu_run *run, const json_t *entry) {
    const char *file = json_string_value(json_object_get(entry, "file"));
    size_t length = file ? strlen(file) : 0;
    if (length < 4 || strcmp(file + length - 4, ".npy") != 0 || file[0] == '.' || strchr(file, '/')) return NULL;
    return xpu_path_join(run->arena, run->options->dump_folder, file);
}

/* Removes the files that the index names in `list`, or first looks whether that is allowed. */
static xpu_status remove_files(const xpu_run *run, json_t *list, int only_look) {
    size_t i;
    json_t *entry;
    json_array_foreach(list, i, entry) {
        const char *path = named_file(run, entry);
        xpu_status status = path && only_look ? allow(run, path) : XPU_OK;
        if (status != XPU_OK) return status;
        if (path && !only_look) unlink(path);
    }
    return XPU_OK;
}

/* A dump takes the place of the one that the folder holds: the files that its index names go, then the index, and
 * nothing else. An index.json that is no dump's is somebody's file. */
static xpu_status replace_dump(const xpu_run *run) {
    const char *path = xpu_path_join(run->arena, run->options->dump_folder, "index.json");
    if (!xpu_file_exists(path)) return XPU_OK;
    xpu_status status = allow(run, path);
    if (status != XPU_OK) return status;
    json_t *index = xpu_json_read(run->arena, path, xpu_diags_new(run->arena));
    json_t *layers = json_object_get(index, "layers"), *inputs = json_object_get(index, "inputs");
    xpu_keep_no_more(xpu_arena_mem(run->arena), path);
    if (!json_is_array(layers) || !json_is_array(inputs) || !json_object_get(index, "version")) {
        return xpu_error(run->diags, XPU_EUSAGE, path, "dump-folder", NULL, "the folder cannot take a dump",
                         "it holds an index.json that is no dump's, which the dump's would replace",
                         "name another folder, or remove the file");
    }
    for (int only_look = 1; only_look >= 0 && status == XPU_OK; only_look--) {
        status = remove_files(run, layers, only_look);
        if (status == XPU_OK) status = remove_files(run, inputs, only_look);
    }
    if (status == XPU_OK) unlink(path);
    return status;
}

/* The files that the run is going to write, before it begins. */
static xpu_status allow_files(xpu_run *run, const uint8_t *wanted) {
    const char *folder = run->options->dump_folder;
    xpu_status status = allow(run, folder);
    if (status == XPU_OK) status = allow(run, xpu_path_join(run->arena, folder, "index.json"));
    for (uint32_t i = 0; run->inputs && status == XPU_OK && i < run->graph->inputs.count; i++) {
        status = allow(run, xpu_path_join(run->arena, folder, input_file(run, i)));
    }
    for (uint32_t i = 0; status == XPU_OK && i < run->program->layers.count; i++) {
        for (uint32_t k = 0; status == XPU_OK && k < run->program->layers.items[i].output_count; k++) {
            if (wanted[i]) status = allow(run, xpu_path_join(run->arena, folder, layer_file(run, i, k, "")));
        }
    }
    return status;
}

/* Which layers the filter means: at least one. */
static xpu_status choose_layers(xpu_run *run, uint8_t *wanted) {
    const char *filter = run->options->dump_filter;
    int64_t found = -1, count = 0;
    if (!filter) memset(wanted, 1, run->program->layers.count);
    while (filter && (found = xpu_find_layer(run->program, filter, (uint32_t)(found + 1), 1, run->arena)) >= 0) {
        wanted[found] = 1;
        count++;
    }
    return filter && !count ? xpu_layer_unknown(run->owner, filter, 1, run->arena, run->diags) : XPU_OK;
}

xpu_status xpu_dump_open(xpu_run *run) {
    if (!run->options->dump_folder) return XPU_OK;
    xpu_arena *arena = run->arena;
    uint8_t *wanted = XPU_NEW_ARRAY(arena, uint8_t, run->program->layers.count + 1);
    const char *iterations = run->options->dump_iterations, *filter = run->options->dump_filter;
    xpu_iteration_ranges when = {.count = 0};
    if (iterations && !xpu_iteration_ranges_read(iterations, &when))
        return xpu_iterations_wrong(arena, run->diags, "option '--dump-iterations'", iterations);
    xpu_status status = choose_layers(run, wanted);
    if (status == XPU_OK) status = xpu_make_folder(run->options->dump_folder, run->diags);
    if (status == XPU_OK) status = allow_files(run, wanted);
    if (status == XPU_OK) status = replace_dump(run);
    if (status != XPU_OK) return status;
    xpu_dump *dump = run->dump = XPU_NEW(arena, xpu_dump);
    dump->written = XPU_NEW_ARRAY(arena, uint8_t, run->program->layers.count);
    dump->wanted = wanted;
    dump->when = when;
    dump->index = xpu_json_own(arena, json_object());
    xpu_json_set(arena, dump->index, "version", json_integer(XPU_DUMP_VERSION));
    xpu_json_set(arena, dump->index, "source", json_string(xpu_escape(arena, run->program->source, 200)));
    xpu_run_identity(run, dump->index);
    xpu_json_set(arena, dump->index, "device", json_string(run->driver ? run->driver->name : "ref"));
    xpu_json_set(arena, dump->index, "chip", json_string(xpu_escape(arena, run->owner->chip.name, 80)));
    xpu_json_set(arena, dump->index, "precision", json_string(xpu_escape(arena, run->program->precision, 80)));
    json_t *chosen = xpu_json_set(arena, dump->index, "chosen", json_object());
    if (filter) xpu_json_set(arena, chosen, "layers", json_string(xpu_escape_message(arena, filter, 200)));
    if (iterations) xpu_json_set(arena, chosen, "iterations", json_string(iterations));
    json_t *symbols = xpu_json_set(arena, dump->index, "symbols", json_object());
    for (uint32_t i = 0; i < run->graph->dims.symbols.count; i++) {
        xpu_json_set(arena, symbols, xpu_escape(arena, run->graph->dims.symbols.items[i].name, 200),
                     json_integer(run->symbols[i]));
    }
    dump->inputs = xpu_json_set(arena, dump->index, "inputs", json_array());
    dump->layers = xpu_json_set(arena, dump->index, "layers", json_array());
    return write_inputs(run);
}

int xpu_dump_wants(xpu_run *run, uint32_t layer) {
    xpu_iterations iterations;
    if (!run->dump || !run->dump->wanted[layer]) return 0;
    if (!run->dump->when.count) return 1;
    return xpu_iterations_are_in(&run->dump->when, &iterations, xpu_run_iterations(run, layer, &iterations));
}

/* Whether a result in a loop has room where nobody has named the iterations: when there is none, later ones have none.
 */
static int has_room(xpu_run *run, uint32_t layer, const xpu_tensor *tensor) {
    xpu_dump *dump = run->dump;
    const uint64_t most = run->options->dump_bytes ? run->options->dump_bytes : LOOPS_BYTES;
    if (dump->when.count || !(xpu_run_nesting(run, layer) & XPU_NESTED_LOOP)) return 1;
    const uint64_t bytes = bytes_on_disk(tensor);
    if (!dump->left_out && dump->loops_bytes <= most && bytes <= most - dump->loops_bytes) {
        dump->loops_bytes += bytes;
        return 1;
    }
    if (!dump->left_out++)
        dump->first_left_out =
            xpu_printf(run->arena, "layer '%s'%s", xpu_escape(run->arena, run->program->layers.items[layer].name, 80),
                       xpu_run_path(run, layer));
    return 0;
}

static void say_left_out(xpu_run *run) {
    const xpu_dump *dump = run->dump;
    const uint64_t most = run->options->dump_bytes ? run->options->dump_bytes : LOOPS_BYTES;
    if (!dump->left_out) return;
    xpu_json_set(run->arena, dump->index, "left_out", json_integer((json_int_t)dump->left_out));
    xpu_diag_add(run->diags, XPU_SEVERITY_NOTE, XPU_OK, run->options->dump_folder, "dump-limit", NULL,
                 xpu_printf(run->arena, "%llu results of iterations of loops are not in the dump, from %s on",
                            (unsigned long long)dump->left_out, dump->first_left_out),
                 xpu_printf(run->arena,
                            "those of the iterations before take %llu MiB, the most that a dump takes where "
                            "nobody names the iterations",
                            (unsigned long long)(most >> 20)),
                 "--dump-iterations=A..B names those that you need, --dump-iterations='*' all of them");
}

/* In which iteration the entry was made, and what the device had found by then. */
static void add_moment(xpu_run *run, uint32_t layer, json_t *entry) {
    const xpu_dims *dims = &run->graph->dims;
    const int64_t *values = xpu_run_symbols(run);
    xpu_iterations iterations;
    uint32_t count = xpu_run_iterations(run, layer, &iterations);
    json_t *list = count ? xpu_json_set(run->arena, entry, "iteration", json_array()) : NULL, *symbols = NULL;
    for (uint32_t i = 0; i < count; i++) xpu_json_append(run->arena, list, json_integer(iterations.at[i]));
    for (uint32_t i = 0; i < dims->symbols.count; i++) {
        if (!xpu_symbol_is_dynamic(run->graph, i)) continue;
        if (!symbols) symbols = xpu_json_set(run->arena, entry, "symbols", json_object());
        xpu_json_set(run->arena, symbols, xpu_escape(run->arena, dims->symbols.items[i].name, 200),
                     json_integer(values[i]));
    }
}

xpu_status xpu_dump_write(xpu_run *run, uint32_t layer, uint32_t output, const xpu_tensor *tensor) {
    if (!has_room(run, layer, tensor)) return XPU_OK;
    const xpu_program_layer *l = &run->program->layers.items[layer];
    xpu_arena *arena = run->arena;
    const char *path = xpu_run_path(run, layer), *file = layer_file(run, layer, output, path);
    json_t *entry = xpu_json_append(arena, run->dump->layers, json_object());
    xpu_json_set(arena, entry, "index", json_integer(layer));
    xpu_json_set(arena, entry, "layer", json_string(xpu_escape(arena, l->name, 200)));
    xpu_json_set(arena, entry, "output", json_integer(output));
    const char *name = xpu_printf(arena, "%s%s", value_name(run, l->outputs[output]), path);
    xpu_json_set(arena, entry, "tensor", json_string(name));
    const xpu_tolerance tolerance = xpu_result_tolerance(run, layer);
    if (tolerance.relative > 0) {
        json_t *list = xpu_json_set(arena, entry, "tolerance", json_array());
        xpu_json_append(arena, list, json_real(tolerance.relative));
        xpu_json_append(arena, list, json_real(tolerance.of_max));
    }
    add_moment(run, layer, entry);
    xpu_status status = write_tensor(run, file, tensor, run->dump->layers, entry);
    if (status == XPU_OK) run->dump->written[layer] = 1;
    return status;
}

static void list_tensors(xpu_run *run) {
    static const char *const fates[] = {
        [XPU_TENSOR_DUMPED] = "dumped", [XPU_TENSOR_FUSED] = "fused", [XPU_TENSOR_FOLDED] = "folded"};
    json_t *list = xpu_json_set(run->arena, run->dump->index, "tensors", json_array());
    for (uint32_t i = 0; i < run->program->tensors.count; i++) {
        const xpu_program_tensor *t = &run->program->tensors.items[i];
        int missing = t->fate == XPU_TENSOR_DUMPED && !run->dump->written[t->layer];
        const char *why = missing && run->dump->wanted[t->layer] ? "not reached" : "filtered";
        json_t *entry = xpu_json_append(run->arena, list, json_object());
        xpu_json_set(run->arena, entry, "tensor", json_string(xpu_escape(run->arena, t->name, 200)));
        xpu_json_set(run->arena, entry, "fate", json_string(missing ? why : fates[t->fate]));
        if (t->layer < 0) continue;
        const char *layer = run->program->layers.items[t->layer].name;
        xpu_json_set(run->arena, entry, "layer", json_string(xpu_escape(run->arena, layer, 200)));
    }
}

xpu_status xpu_dump_close(xpu_run *run) {
    if (!run->dump) return XPU_OK;
    list_tensors(run);
    say_left_out(run);
    if (run->incomplete) xpu_json_set(run->arena, run->dump->index, "incomplete", json_string(run->incomplete));
    const char *path = xpu_path_join(run->arena, run->options->dump_folder, "index.json");
    return xpu_json_write(run->arena, run->dump->index, path, run->diags);
}
