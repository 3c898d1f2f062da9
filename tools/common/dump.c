#include "tools/common/dump.h"

#include <math.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/json.h"
#include "base/npy.h"

/* ---- index.json ---- */

typedef struct {
    xpu_arena *arena;
    xpu_diags *diags;
    const char *folder, *file;
} reader;

static void read_dims(const reader *r, json_t *shape, const char *path, xpu_dump_item *item) {
    size_t i;
    json_t *dim;
    item->rank = 0;
    json_array_foreach(shape, i, dim) {
        if (json_is_integer(dim) && json_integer_value(dim) >= 0 && i < XPU_MAX_RANK) {
            item->dims[item->rank++] = json_integer_value(dim);
            continue;
        }
        xpu_error(r->diags, XPU_EUSAGE, r->file, "json-type", xpu_printf(r->arena, "key '%s.shape'", path),
                  "this is not a shape", "a shape is at most 8 integers that are not negative",
                  "make the dump again: xpu-run --dump-layers=DIR");
        return;
    }
}

/* A string of the index, as it may be printed: xpu-run writes names escaped, which this leaves as they are. */
static const char *text(const reader *r, xpu_json_object *object, const char *key) {
    const char *value = xpu_json_string(object, key);
    return value ? xpu_escape_message(r->arena, value, 4096) : NULL;
}

/* A number, or NaN where the key is absent or null. */
static double number_or_nan(xpu_json_object *object, const char *key) {
    json_t *value = xpu_json_member(object, key);
    return json_is_number(value) ? json_number_value(value) : (double)NAN;
}

static xpu_tolerance read_tolerance(const reader *r, json_t *list, const char *path) {
    const json_t *relative = json_array_get(list, 0), *of_max = json_array_get(list, 1);
    const xpu_tolerance tolerance = {json_number_value(relative), json_number_value(of_max)};
    int good = json_array_size(list) == 2 && json_is_number(relative) && json_is_number(of_max);
    if (!list || (good && tolerance.relative >= 0 && tolerance.of_max >= 0)) return tolerance;
    xpu_error(r->diags, XPU_EUSAGE, r->file, "json-type", xpu_printf(r->arena, "key '%s.tolerance'", path),
              "this is not a tolerance", "a tolerance is two numbers that are not negative",
              "make the dump again: xpu-run --dump-layers=DIR");
    return (xpu_tolerance){0, 0};
}

static xpu_dump_item read_item(const reader *r, json_t *value, const char *path, int is_layer) {
    xpu_json_object object;
    xpu_dump_item item = {.index = -1};
    if (!xpu_json_open(&object, r->arena, value, r->file, path, r->diags)) return item;
    if (is_layer) {
        item.index = xpu_json_int(&object, "index", 0, UINT32_MAX);
        item.layer = text(r, &object, "layer");
        xpu_json_int(&object, "output", 0, UINT32_MAX);
        item.tolerance = read_tolerance(r, xpu_json_member(&object, "tolerance"), path);
        xpu_json_member(&object, "iteration"); /* the tensor's name has it */
        xpu_json_member(&object, "symbols");   /* for replays */
    }
    item.tensor = text(r, &object, "tensor");
    item.dtype = text(r, &object, "dtype");
    read_dims(r, xpu_json_array(&object, "shape"), path, &item);
    item.min = number_or_nan(&object, "min");
    item.max = number_or_nan(&object, "max");
    item.nan = xpu_json_int_or(&object, "nan", 0, INT64_MAX, -1);
    item.saturated = xpu_json_int_or(&object, "saturated", 0, INT64_MAX, -1);
    const char *file = xpu_json_string(&object, "file");
    xpu_json_done(&object);
    if (file && (strchr(file, '/') || file[0] == '.')) {
        xpu_error(r->diags, XPU_EUSAGE, r->file, "dump-file", xpu_printf(r->arena, "key '%s.file'", path),
                  "the file is not in the dump folder",
                  xpu_printf(r->arena, "its name is '%s'", xpu_escape(r->arena, file, 120)),
                  "make the dump again: xpu-run --dump-layers=DIR");
    }
    if (file) item.file = xpu_path_join(r->arena, r->folder, file);
    return item;
}

static void read_fates(const reader *r, json_t *list, xpu_dump_list *to) {
    size_t i;
    json_t *value;
    json_array_foreach(list, i, value) {
        xpu_json_object object;
        const char *path = xpu_printf(r->arena, "tensors[%zu]", i);
        if (!xpu_json_open(&object, r->arena, value, r->file, path, r->diags)) continue;
        xpu_dump_fate fate = {text(r, &object, "tensor"), text(r, &object, "fate"),
                              xpu_json_string_or(&object, "layer", NULL)};
        if (fate.layer) fate.layer = xpu_escape_message(r->arena, fate.layer, 4096);
        xpu_json_done(&object);
        XPU_PUSH(r->arena, &to->fates, fate);
    }
}

static void read_index(const reader *r, json_t *top, xpu_dump_list *list) {
    xpu_json_object object;
    size_t i;
    json_t *value;
    if (!xpu_json_open(&object, r->arena, top, r->file, "", r->diags)) return;
    xpu_json_int(&object, "version", 2, 2);
    list->source = text(r, &object, "source");
    list->program_hash = text(r, &object, "program_hash");
    list->source_hash = text(r, &object, "source_hash");
    list->device = text(r, &object, "device");
    list->chip = text(r, &object, "chip");
    list->precision = text(r, &object, "precision");
    list->incomplete = xpu_json_string_or(&object, "incomplete", NULL);
    if (list->incomplete) list->incomplete = xpu_escape_message(r->arena, list->incomplete, 80);
    xpu_json_member(&object, "symbols");
    xpu_json_member(&object, "chosen");
    xpu_json_member(&object, "left_out");
    json_t *inputs = xpu_json_array(&object, "inputs"), *layers = xpu_json_array(&object, "layers");
    json_t *tensors = xpu_json_array(&object, "tensors");
    xpu_json_done(&object);
    json_array_foreach(inputs, i, value) {
        XPU_PUSH(r->arena, &list->inputs, read_item(r, value, xpu_printf(r->arena, "inputs[%zu]", i), 0));
    }
    json_array_foreach(layers, i, value) {
        XPU_PUSH(r->arena, &list->items, read_item(r, value, xpu_printf(r->arena, "layers[%zu]", i), 1));
    }
    read_fates(r, tensors, list);
}

static xpu_status open_folder(xpu_dump_list *list, xpu_arena *arena, const char *path, xpu_diags *diags) {
    reader r = {arena, diags, path, xpu_path_join(arena, path, "index.json")};
    size_t before = diags->errors;
    list->is_folder = 1;
    if (!xpu_file_exists(r.file)) {
        return xpu_error(diags, XPU_EIO, path, "dump-folder", NULL, "this folder is not a dump",
                         "it has no index.json, which is written when a run has ended",
                         "make one: xpu-run MODEL.xpu --dump-layers=DIR");
    }
    json_t *top = xpu_json_read(arena, r.file, diags);
    if (!top) return xpu_diags_status(diags);
    read_index(&r, top, list);
    return diags->errors == before ? XPU_OK : XPU_EUSAGE;
}

static xpu_status open_archive(xpu_dump_list *list, xpu_arena *arena, const char *path, xpu_diags *diags) {
    xpu_named_tensors tensors = {0};
    xpu_status status = xpu_npz_read(arena, path, &tensors, diags);
    for (uint32_t i = 0; status == XPU_OK && i < tensors.count; i++) {
        const xpu_tensor *t = &tensors.items[i].tensor;
        xpu_dump_item item = {.tensor = xpu_escape(arena, tensors.items[i].name, 200),
                              .dtype = xpu_dtype_name(t->dtype),
                              .index = -1,
                              .min = (double)NAN,
                              .max = (double)NAN,
                              .nan = -1,
                              .saturated = -1,
                              .rank = t->rank,
                              .value = *t};
        memcpy(item.dims, t->dims, sizeof item.dims);
        XPU_PUSH(arena, &list->items, item);
    }
    return status;
}

xpu_status xpu_dump_list_open(xpu_dump_list *list, xpu_arena *arena, const char *path, xpu_diags *diags) {
    struct stat about;
    *list = (xpu_dump_list){.path = path};
    int is_folder = stat(path, &about) == 0 && S_ISDIR(about.st_mode);
    return is_folder ? open_folder(list, arena, path, diags) : open_archive(list, arena, path, diags);
}

/* ---- comparison ---- */

const xpu_dump_item *xpu_dump_list_find(const xpu_dump_list *list, const char *tensor) {
    for (uint32_t i = 0; i < list->items.count; i++) {
        if (strcmp(list->items.items[i].tensor, tensor) == 0) return &list->items.items[i];
    }
    return NULL;
}

xpu_status xpu_dump_item_read(const xpu_dump_item *item, xpu_arena *arena, xpu_tensor *tensor, xpu_diags *diags) {
    *tensor = item->value;
    return item->file ? xpu_npy_read(arena, item->file, tensor, diags) : XPU_OK;
}

/* Tensors of `list` that `other` lacks. */
static uint32_t count_missing(const xpu_dump_list *list, const xpu_dump_list *other) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < list->items.count; i++) {
        count += xpu_dump_list_find(other, list->items.items[i].tensor) == NULL;
    }
    return count;
}

static void keep_first(xpu_dump_difference *result, const xpu_dump_item *item, const xpu_tensor *a, const xpu_tensor *b,
                       const xpu_comparison *c) {
    if (result->differing++) return;
    result->first = *item;
    result->first_a = *a;
    result->first_b = *b;
    result->first_a.data = result->first_b.data = NULL;
    result->first_comparison = *c;
}

static int is_ref(const xpu_dump_list *list) {
    return list->is_folder && list->device && strcmp(list->device, "ref") == 0;
}

/* C of another target rounds otherwise than the nodes that ref runs. */
static xpu_tolerance tolerance_of(const xpu_dump_list *a, const xpu_dump_list *b, const xpu_dump_item *item,
                                  const xpu_tolerance *given) {
    static const xpu_tolerance exact = {0, 0};
    if (given) return *given;
    return a->is_folder && b->is_folder && is_ref(a) != is_ref(b) ? item->tolerance : exact;
}

xpu_status xpu_dump_compare(const xpu_dump_list *a, const xpu_dump_list *b, const xpu_tolerance *tolerance,
                            xpu_dump_differs_fn differs, void *context, xpu_dump_difference *result, xpu_arena *arena,
                            xpu_diags *diags) {
    const xpu_dump_list *order = a->is_folder || !b->is_folder ? a : b;
    *result = (xpu_dump_difference){.only_a = count_missing(a, b), .only_b = count_missing(b, a)};
    for (uint32_t i = 0; i < order->items.count; i++) {
        const xpu_dump_item *item = &order->items.items[i];
        const xpu_dump_item *in_a = xpu_dump_list_find(a, item->tensor), *in_b = xpu_dump_list_find(b, item->tensor);
        if (!in_a || !in_b) continue;
        xpu_arena *scratch = xpu_arena_new(xpu_arena_mem(arena), "compared tensors");
        xpu_tensor ta, tb;
        xpu_status status = xpu_dump_item_read(in_a, scratch, &ta, diags);
        if (status == XPU_OK) status = xpu_dump_item_read(in_b, scratch, &tb, diags);
        if (status == XPU_OK) {
            const xpu_tolerance own = tolerance_of(a, b, item, tolerance), exact = {0, 0};
            xpu_comparison c = xpu_compare(&ta, &tb, &own);
            result->compared++;
            if (!tolerance && own.relative > result->loosest.relative) result->loosest = own;
            if (!tolerance && own.relative > 0 && c.comparable && !c.differing)
                result->rounded += xpu_compare(&ta, &tb, &exact).differing > 0;
            if (!c.comparable || c.differing) {
                keep_first(result, item, &ta, &tb, &c);
                if (differs) differs(context, item, &ta, &tb, &own, &c);
            }
        }
        xpu_arena_free(scratch);
        if (status != XPU_OK) return status;
    }
    return XPU_OK;
}
