/* Regression cases from JSON. */
#include <string.h>

#include "base/file.h"
#include "base/json.h"
#include "base/option.h"
#include "sim/func/driver.h"
#include "tools/common/regress.h"

static const xpu_regress_device devices[] = {{"ref", NULL}, {"func", &xpu_func_driver}};

const xpu_regress_device *xpu_regress_device_by_name(const char *name) {
    for (size_t i = 0; i < sizeof devices / sizeof *devices; i++) {
        if (strcmp(devices[i].name, name) == 0) return &devices[i];
    }
    return NULL;
}

typedef struct {
    xpu_arena *arena;
    xpu_diags *diags;
    const char *file, *folder;
    xpu_regress_case *to;
} reader;

static void bad_value(const reader *r, const char *key, const char *what, const char *why) {
    xpu_error(r->diags, XPU_EUSAGE, r->file, "regress-case", xpu_printf(r->arena, "key '%s'", key), what, why,
              "see tests/regress for cases that work");
}

static const char *beside(const reader *r, const char *path) {
    if (!path || path[0] == '/') return path;
    return xpu_path_join(r->arena, r->folder, path);
}

/* An input with the key mean is a picture: "mean": "R,G,B", "std": "R,G,B", as xpu-run takes them. */
static const xpu_image_scale *read_scale(const reader *r, xpu_json_object *entry, const char *place) {
    const char *mean = xpu_json_string_or(entry, "mean", NULL), *std = xpu_json_string_or(entry, "std", NULL);
    if (!mean && !std) return NULL;
    xpu_image_scale *scale = XPU_NEW(r->arena, xpu_image_scale);
    int good = xpu_image_triple(mean ? mean : "0", scale->mean) && xpu_image_triple(std ? std : "1", scale->std);
    for (int i = 0; i < 3; i++) good &= scale->std[i] != 0;
    if (!good)
        bad_value(r, place, "mean and std are no numbers for pixels", "three numbers with commas, or one; std not 0");
    return scale;
}

/* {"NAME": {"file": ..., "entry": ..., ...}}: each key of the object is a tensor. */
static void read_tensors(const reader *r, json_t *object, const char *path, int expected) {
    const char *name;
    json_t *value;
    if (!json_is_object(object)) {
        if (object) bad_value(r, path, "this is no object", "it maps names of tensors to files");
        return;
    }
    json_object_foreach(object, name, value) {
        xpu_json_object entry;
        const char *place = xpu_printf(r->arena, "%s.%s", path, name);
        if (!xpu_json_open(&entry, r->arena, value, r->file, place, r->diags)) continue;
        xpu_regress_tensor t = {.name = name};
        t.file = beside(r, xpu_json_string(&entry, "file"));
        t.entry = xpu_json_string_or(&entry, "entry", NULL);
        if (expected) {
            t.classes = xpu_json_string_or(&entry, "classes", NULL);
            t.tolerance.relative = xpu_json_real_or(&entry, "relative", 0, 1, 0);
            t.tolerance.of_max = xpu_json_real_or(&entry, "of_max", 0, 1, 0);
            XPU_PUSH(r->arena, &r->to->expected, t);
        } else {
            t.picture = read_scale(r, &entry, place);
            XPU_PUSH(r->arena, &r->to->inputs, t);
        }
        xpu_json_done(&entry);
    }
}

/* {"samples": 1, "cycles": 1234, "layers": {"NAME": 56, ...}} */
static void read_rtl(const reader *r, xpu_regress_chip *chip, json_t *value, const char *path) {
    xpu_json_object entry;
    const char *place = xpu_printf(r->arena, "%s.rtl", path), *name;
    json_t *cycles;
    if (!value || !xpu_json_open(&entry, r->arena, value, r->file, place, r->diags)) return;
    chip->rtl.entry = value;
    chip->rtl.samples = xpu_json_int_or(&entry, "samples", 1, 65536, 1);
    chip->rtl.cycles = xpu_json_int_or(&entry, "cycles", 1, INT64_MAX, -1);
    chip->rtl.model_error = xpu_json_real_or(&entry, "model_error", 0, 1000, XPU_REGRESS_MODEL_ERROR);
    chip->rtl.layers = xpu_json_member(&entry, "layers");
    xpu_json_done(&entry);
    json_object_foreach(chip->rtl.layers, name, cycles) {
        if (json_is_integer(cycles)) continue;
        bad_value(r, xpu_printf(r->arena, "%s.layers", place), "this is no number of cycles",
                  xpu_printf(r->arena, "layer '%s'", xpu_escape(r->arena, name, 80)));
        return;
    }
}

/* {"INPUT": "DIMS", ...} */
static void read_shapes(const reader *r, json_t *object) {
    XPU_ARRAY(const char *) shapes = {0};
    const char *name;
    json_t *value;
    if (object && !json_is_object(object)) bad_value(r, "shapes", "this is no object", "it maps inputs to their dims");
    json_object_foreach(object, name, value) {
        if (json_is_string(value)) {
            XPU_PUSH(r->arena, &shapes, xpu_printf(r->arena, "%s=%s", name, json_string_value(value)));
            continue;
        }
        bad_value(r, xpu_printf(r->arena, "shapes.%s", xpu_escape(r->arena, name, 80)), "these are no dims",
                  "a text is expected, as xpuc --shape takes it");
        return;
    }
    if (shapes.count) XPU_PUSH(r->arena, &shapes, NULL);
    r->to->shapes = shapes.items;
}

/* A chip is a name, or a file: with a slash, or ending in .json. */
static int is_file(const char *chip) {
    size_t length = strlen(chip);
    return strchr(chip, '/') != NULL || (length > 5 && strcmp(chip + length - 5, ".json") == 0);
}

static void read_chips(const reader *r, json_t *object) {
    const char *name;
    json_t *value;
    if (!json_is_object(object)) {
        if (object) bad_value(r, "chips", "this is no object", "it maps names of chips to what is recorded for them");
        return;
    }
    json_object_foreach(object, name, value) {
        xpu_json_object entry;
        const char *place = xpu_printf(r->arena, "chips.%s", name);
        if (!xpu_json_open(&entry, r->arena, value, r->file, place, r->diags)) continue;
        xpu_regress_chip chip = {.chip = name, .file = is_file(name) ? beside(r, name) : name, .entry = value};
        chip.samples = xpu_json_int_or(&entry, "samples", 1, 1 << 20, 0);
        chip.checksum = xpu_json_string_or(&entry, "checksum", NULL);
        read_rtl(r, &chip, xpu_json_member(&entry, "rtl"), place);
        xpu_json_done(&entry);
        XPU_PUSH(r->arena, &r->to->chips, chip);
    }
    if (!json_object_size(object)) bad_value(r, "chips", "there is no chip", "a case runs on at least one");
}

static void read_devices(const reader *r, json_t *list) {
    size_t i;
    json_t *value;
    json_array_foreach(list, i, value) {
        const char *name = json_string_value(value);
        const xpu_regress_device *device = name ? xpu_regress_device_by_name(name) : NULL;
        if (device && r->to->device_count < XPU_REGRESS_MAX_DEVICES) {
            r->to->devices[r->to->device_count++] = device;
            continue;
        }
        bad_value(r, xpu_printf(r->arena, "devices[%zu]", i), "this is no device",
                  "a case runs on at most 4 of ref, func");
        return;
    }
    if (!r->to->device_count) bad_value(r, "devices", "there is no device", "a case runs on at least one");
}

static void read_batches(const reader *r, json_t *list) {
    size_t i;
    json_t *value;
    if (list && !json_is_array(list)) bad_value(r, "batches", "this is no list", "it holds sizes of the first axis");
    json_array_foreach(list, i, value) {
        int64_t size = json_integer_value(value);
        if (i < XPU_REGRESS_MAX_BATCHES && size >= 1 && size <= 65536) {
            r->to->batches[r->to->batch_count++] = size;
            continue;
        }
        bad_value(r, xpu_printf(r->arena, "batches[%zu]", i), "this is no batch size",
                  "a case has at most 16, from 1 to 65536");
        return;
    }
}

static const char *case_name(xpu_arena *arena, const char *path) {
    const char *name = xpu_path_name(path);
    size_t length = strlen(name);
    if (length > 5 && strcmp(name + length - 5, ".json") == 0) length -= 5;
    return xpu_strndup(arena, name, length);
}

xpu_status xpu_regress_read(xpu_regress_case *to, xpu_arena *arena, const char *path, xpu_diags *diags) {
    static const char *const precisions[] = {"auto", "fp32", "int16", "int16x8", NULL};
    reader r = {arena, diags, path, xpu_path_folder(arena, path), to};
    xpu_json_object top;
    size_t before = diags->errors;
    *to = (xpu_regress_case){.path = path, .name = case_name(arena, path)};
    to->json = xpu_json_read(arena, path, diags);
    if (!to->json) return xpu_diags_status(diags);
    if (!xpu_json_open(&top, arena, to->json, path, "", diags)) return XPU_EUSAGE;
    to->model = beside(&r, xpu_json_string(&top, "model"));
    int precision = xpu_json_choice(&top, "precision", precisions);
    if (precision >= 0) to->precision = precisions[precision];
    to->target = xpu_json_string_or(&top, "target", NULL);
    json_t *inputs = xpu_json_member(&top, "inputs"), *chips = xpu_json_member(&top, "chips");
    if (!inputs) bad_value(&r, "inputs", "the key is missing", "a case names a file for each input of its model");
    if (!chips) bad_value(&r, "chips", "the key is missing", "a case runs on at least one chip");
    read_shapes(&r, xpu_json_member(&top, "shapes"));
    read_tensors(&r, inputs, "inputs", 0);
    read_tensors(&r, xpu_json_member(&top, "expected"), "expected", 1);
    read_chips(&r, chips);
    read_devices(&r, xpu_json_array(&top, "devices"));
    to->reference = to->devices[0];
    to->with_rtl = 1;
    read_batches(&r, xpu_json_member(&top, "batches"));
    xpu_json_done(&top);
    return diags->errors == before ? XPU_OK : XPU_EUSAGE;
}
