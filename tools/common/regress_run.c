/* Runs one regression case on one chip. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/json.h"
#include "base/npy.h"
#include "base/zip.h"
#include "core/arith.h"
#include "core/chip.h"
#include "tools/common/device.h"
#include "tools/common/inputs.h"
#include "tools/common/regress.h"
#include "tools/common/regress_model.h"
#include "tools/common/where.h"
#include "xpuc/include/xpuc.h"

typedef struct {
    const xpu_regress_case *c;
    const xpu_regress_chip *chip;
    xpu_arena *arena; /* the whole run */
    xpu_diags *diags;
    xpuc_result compiled;
    xpurt_program *program;
    xpu_tensor *inputs;  /* in the order of c->inputs; whole files */
    xpu_tensor *outputs; /* of the program, all batches of the first device */
    int64_t samples;
    uint32_t layers, rtl_layers; /* compared */
    int64_t cycles;              /* on rtl */
    json_t *layer_cycles;
    xpu_tolerance loosest; /* between the devices that were compared last: not 0 where C of another target is in it */
    uint64_t predicted;    /* cycles, by the compiler's model; 0: it says nothing */
    const char *model;     /* the same of each layer, a line each */
    const char *stats;     /* of the last run */
    const char *failure;   /* NULL while all is well */
    xpu_status status;     /* what the failure stands for */
} session;

static int fail(session *s, const char *text) {
    if (!s->failure) {
        s->failure = text;
        s->status = XPU_EDIFF;
    }
    return 0;
}

/* The first line of a library's message, and all the others; without the final newline. */
static int fail_with(session *s, const char *stage, const char *text) {
    size_t length = text ? strlen(text) : 0;
    while (length && text[length - 1] == '\n') length--;
    return fail(s, xpu_printf(s->arena, "%s: %.*s", stage, (int)length, text ? text : ""));
}

static void close_session(void *object) {
    session *s = object;
    xpurt_close(s->program);
    xpuc_result_clear(&s->compiled);
}

static int compile(session *s) {
    xpuc_options options = {.chip = s->chip->file,
                            .precision = s->c->precision,
                            .shapes = s->c->shapes,
                            .target = s->c->target,
                            .plugin = s->c->plugin};
    xpuc_error compile_error = {0};
    xpurt_error open_error = {0};
    xpu_arena_defer(s->arena, close_session, s);
    if (xpuc_compile_file(s->c->model, &options, &s->compiled, &compile_error)) {
        fail_with(s, "it does not compile", compile_error.text);
    }
    xpuc_error_clear(&compile_error);
    if (s->failure) return 0;
    s->program = xpurt_open_memory(s->compiled.bytes, s->compiled.size, s->c->model, &open_error);
    if (!s->program) fail_with(s, "the program does not open", open_error.text);
    xpurt_error_clear(&open_error);
    return s->program != NULL;
}

/* ---- tensors from files ---- */

/* Entry `name` of a file, or its only one where name is NULL. */
static int read_tensor(session *s, const char *file, const char *name, xpu_tensor *to) {
    xpu_named_tensors tensors = {0};
    if (xpu_npz_read_headers(s->arena, file, &tensors, s->diags) != XPU_OK) return fail(s, "a file cannot be read");
    for (uint32_t i = 0; i < tensors.count; i++) {
        int chosen = name ? strcmp(tensors.items[i].name, name) == 0 : tensors.count == 1;
        if (!chosen) continue;
        if (xpu_npz_read_one(s->arena, file, i, to, s->diags) != XPU_OK) return fail(s, "a file cannot be read");
        return 1;
    }
    if (!name) return fail(s, xpu_printf(s->arena, "%s has more than one entry: name one", file));
    return fail(s, xpu_printf(s->arena, "%s has no entry '%s'", file, name));
}

/* A picture, scaled to the size of the model's input. */
static int read_picture(session *s, const xpu_regress_tensor *t, xpu_tensor *to) {
    xpu_image image;
    xpurt_tensor info;
    for (uint32_t i = 0; i < xpurt_input_count(s->program); i++) {
        xpurt_input(s->program, i, &info);
        if (strcmp(info.name, t->name) != 0) continue;
        const xpu_tensor wanted = xpu_from_runtime(&info);
        if (xpu_image_read(s->arena, t->file, &image, s->diags) == XPU_OK &&
            xpu_image_tensor(s->arena, &image, t->picture, wanted.dtype, wanted.rank, wanted.dims, t->name, to,
                             s->diags) == XPU_OK)
            return 1;
        return fail(s, "a picture cannot be an input");
    }
    return fail(s, xpu_printf(s->arena, "the model has no input '%s'", xpu_escape(s->arena, t->name, 80)));
}

static int read_inputs(session *s) {
    const xpu_regress_case *c = s->c;
    s->inputs = XPU_NEW_ARRAY(s->arena, xpu_tensor, c->inputs.count + 1);
    for (uint32_t i = 0; i < c->inputs.count; i++) {
        const xpu_regress_tensor *t = &c->inputs.items[i];
        if (!(t->picture ? read_picture(s, t, &s->inputs[i]) : read_tensor(s, t->file, t->entry, &s->inputs[i])))
            return 0;
        int64_t rows = s->inputs[i].rank ? s->inputs[i].dims[0] : 1;
        if (i == 0) s->samples = s->chip->samples ? s->chip->samples : rows;
        int batched = c->batch_count || s->chip->samples;
        if (i == 0 && s->samples < 1) return fail(s, "an input has no samples: nothing would run");
        if (batched && rows < s->samples) return fail(s, "an input has fewer samples than the case runs");
    }
    return 1;
}

/* Rows `from` to `from + count` of the first axis; data is shared. */
static xpu_tensor rows_of(const xpu_tensor *tensor, int64_t from, int64_t count) {
    xpu_tensor part = *tensor;
    if (!part.rank || part.dims[0] == count) return part;
    size_t row = part.dims[0] ? xpu_tensor_bytes(tensor) / (size_t)part.dims[0] : 0;
    part.dims[0] = count;
    part.data = (uint8_t *)tensor->data + row * (size_t)from;
    return part;
}

/* ---- one batch ---- */

static const char *device_name(const session *s, uint32_t device) {
    return s->c->devices[device]->name;
}

static int run_device(session *s, const char *name, const xpurt_device_driver *driver, const xpu_inputs *inputs,
                      xpurt_tensor *outputs, const char *folder) {
    xpurt_error error = {0};
    char *stats = NULL;
    xpurt_run_options options = {.device = driver, .dump_folder = folder, .stats = &stats};
    int status = xpurt_run(s->program, inputs->items, inputs->count, outputs, &options, &error);
    if (status) fail_with(s, xpu_printf(s->arena, "on %s", name), error.text);
    s->stats = stats ? xpu_strdup(s->arena, stats) : NULL;
    free(stats);
    xpurt_error_clear(&error);
    return status == 0;
}

/* How much of two tensors differs, and where. */
static const char *how_different(xpu_arena *arena, const xpu_tensor *a, const xpu_tensor *b,
                                 const xpu_tolerance *tolerance, const xpu_comparison *c) {
    if (!c->comparable) return "they differ in type or shape";
    xpu_where where = xpu_where_find(arena, a, b, tolerance, c);
    return xpu_printf(arena, "%s, first at %s (%s against %s); %s", xpu_differing_text(arena, c),
                      xpu_index_text(arena, a, c->first), xpu_element_text(arena, a, c->first),
                      xpu_element_text(arena, b, c->first), xpu_where_axes_text(arena, &where));
}

typedef struct {
    xpu_arena *arena;
    const char *text; /* NULL: nothing has differed yet */
} difference;

/* Says it of the first layer that differs. */
static void say_where(void *context, const xpu_dump_item *item, const xpu_tensor *a, const xpu_tensor *b,
                      const xpu_tolerance *tolerance, const xpu_comparison *c) {
    difference *d = context;
    (void)item;
    if (!d->text) d->text = how_different(d->arena, a, b, tolerance, c);
}

static int compare_layers(session *s, const char *reference, const char *device, const char *first, const char *other,
                          uint32_t *layers, xpu_arena *arena) {
    xpu_dump_list a, b;
    xpu_dump_difference d;
    difference how = {arena, NULL};
    if (xpu_dump_list_open(&a, arena, other, s->diags) != XPU_OK ||
        xpu_dump_list_open(&b, arena, first, s->diags) != XPU_OK ||
        xpu_dump_compare(&a, &b, NULL, say_where, &how, &d, arena, s->diags) != XPU_OK) {
        return fail(s, "a dump cannot be read");
    }
    *layers = d.compared;
    s->loosest = d.loosest;
    if (!d.compared) return fail(s, "the devices dump no layer: nothing was compared");
    if (d.only_a || d.only_b) return fail(s, "the devices dump different layers");
    if (!d.differing) return 1;
    return fail(s,
                xpu_printf(s->arena, "%s differs from %s in %u of %u layers, first in layer '%s' (#%lld): %s", device,
                           reference, d.differing, d.compared, d.first.layer, (long long)d.first.index, how.text));
}

/* Appends a batch's outputs to those of the batches before. */
static int gather(session *s, const xpurt_tensor *outputs, int64_t from, int64_t count) {
    for (uint32_t i = 0; i < xpurt_output_count(s->program); i++) {
        xpu_tensor part = xpu_from_runtime(&outputs[i]), *whole = &s->outputs[i];
        if (!whole->data) {
            *whole = part;
            if (count != s->samples) whole->dims[0] = s->samples;
            whole->data = xpu_alloc(s->arena, xpu_tensor_bytes(whole));
        }
        if (count == s->samples && from == 0) {
            memcpy(whole->data, part.data, xpu_tensor_bytes(&part));
            continue;
        }
        if (!part.rank || part.dims[0] != count) return fail(s, "an output has no batch axis: leave out 'batches'");
        size_t row = xpu_tensor_bytes(&part) / (size_t)count;
        memcpy((uint8_t *)whole->data + row * (size_t)from, part.data, row * (size_t)count);
    }
    return 1;
}

static int same_outputs(session *s, const xpurt_tensor *a, const xpurt_tensor *b) {
    for (uint32_t i = 0; i < xpurt_output_count(s->program); i++) {
        xpu_tensor ta = xpu_from_runtime(&a[i]), tb = xpu_from_runtime(&b[i]);
        xpu_comparison c = xpu_compare(&ta, &tb, &s->loosest);
        if (c.comparable && !c.differing) continue;
        return fail(s, xpu_printf(s->arena, "output '%s' differs between the devices: %s", a[i].name,
                                  how_different(s->arena, &ta, &tb, &s->loosest, &c)));
    }
    return 1;
}

static xpu_inputs inputs_of(const session *s, int64_t from, int64_t count, xpu_arena *arena) {
    xpu_inputs inputs = {0};
    for (uint32_t i = 0; i < s->c->inputs.count; i++) {
        int whole = !s->c->batch_count && !s->chip->samples && count == s->samples; /* they may share no first axis */
        xpu_tensor part = whole ? s->inputs[i] : rows_of(&s->inputs[i], from, count);
        XPU_PUSH(arena, &inputs, xpu_to_runtime(s->c->inputs.items[i].name, &part));
    }
    return inputs;
}

/* All devices on `count` samples, every layer of each compared with the first device's. */
static int run_batch(session *s, int64_t from, int64_t count, xpu_arena *arena) {
    xpu_inputs inputs = inputs_of(s, from, count, arena);
    const char *folders[XPU_REGRESS_MAX_DEVICES];
    uint32_t outputs = xpurt_output_count(s->program);
    xpurt_tensor *results = XPU_NEW_ARRAY(arena, xpurt_tensor, XPU_REGRESS_MAX_DEVICES * (outputs + 1));
    int good = 1;
    for (uint32_t d = 0; good && d < s->c->device_count; d++) {
        folders[d] = s->c->device_count > 1 ? xpu_temporary_folder(arena, s->diags) : NULL;
        good = run_device(s, device_name(s, d), s->c->devices[d]->driver, &inputs, results + (size_t)d * outputs,
                          folders[d]);
        if (good && d == 0) good = gather(s, results, from, count);
        if (good && d > 0)
            good = compare_layers(s, device_name(s, 0), device_name(s, d), folders[0], folders[d], &s->layers, arena);
        if (good && d > 0) good = same_outputs(s, results, results + (size_t)d * outputs);
    }
    for (uint32_t i = 0; i < XPU_REGRESS_MAX_DEVICES * outputs; i++) xpurt_tensor_clear(&results[i]);
    return good;
}

static int run_batches(session *s) {
    const xpu_regress_case *c = s->c;
    s->outputs = XPU_NEW_ARRAY(s->arena, xpu_tensor, xpurt_output_count(s->program) + 1);
    int good = 1;
    int64_t from = 0;
    for (uint32_t i = 0; good && from < s->samples; i++) {
        int64_t left = s->samples - from, size = c->batch_count ? c->batches[i % c->batch_count] : left;
        if (size > left) size = left;
        xpu_arena *scratch = xpu_arena_new(xpu_arena_mem(s->arena), "batch");
        good = run_batch(s, from, size, scratch);
        xpu_arena_free(scratch);
        from += size;
    }
    return good;
}

/* ---- the Verilated chip ---- */

static void take_cycles(session *s) {
    const char *text = s->stats;
    json_t *layer, *stats = text ? xpu_json_parse(s->arena, text, strlen(text), "statistics", s->diags) : NULL;
    size_t i;
    s->cycles = json_integer_value(json_object_get(stats, "cycles"));
    s->layer_cycles = xpu_json_own(s->arena, json_object());
    json_array_foreach(json_object_get(stats, "layers"), i, layer) {
        const char *name = json_string_value(json_object_get(layer, "name"));
        json_int_t cycles = json_integer_value(json_object_get(layer, "cycles"));
        xpu_json_set(s->arena, s->layer_cycles, name, json_integer(cycles));
    }
}

/* What the compiler's model says of the same run; that it is far off is a failure. */
static int predict_cycles(session *s, const xpu_chip *chip, const xpu_inputs *inputs) {
    xpu_program_image *image = xpu_program_parse(s->arena, s->compiled.bytes, s->compiled.size, s->c->model, s->diags);
    if (!image) return fail(s, "the program does not open");
    xpu_regress_model model = {.limit = s->chip->rtl.model_error};
    const char *wrong = xpu_regress_predict(&model, image, chip, inputs, s->stats, s->arena, s->diags);
    s->predicted = model.predicted;
    s->model = model.layers;
    return wrong ? fail(s, wrong) : 1;
}

/* Some samples on the reference and on rtl, with dumps, and once more on rtl without: what layers leave in SM then is
 * stored for a dump, so that cycles are those of the run without. */
static int run_rtl(session *s) {
    enum { RUNS = 3 };
    xpu_chip chip;
    const xpurt_rtl_options options = {.lockstep = s->c->lockstep};
    int64_t count = s->chip->rtl.samples < s->samples ? s->chip->rtl.samples : s->samples;
    const char *json = xpurt_chip_json(s->program);
    if (xpu_chip_parse(s->arena, json, strlen(json), "chip", &chip, s->diags) != XPU_OK) return fail(s, "its chip");
    xpurt_error error = {0};
    const xpurt_device_driver *drivers[] = {s->c->reference->driver, xpu_device_rtl(s->arena, &options, &chip, &error)};
    const char *names[] = {s->c->reference->name, "rtl"}, *folders[RUNS] = {NULL};
    if (!drivers[1]) {
        fail_with(s, "on rtl", error.text);
        s->status = (xpu_status)error.status;
    }
    xpurt_error_clear(&error);
    if (!drivers[1]) return 0;
    xpu_inputs inputs = inputs_of(s, 0, count, s->arena);
    uint32_t outputs = xpurt_output_count(s->program);
    xpurt_tensor *results = XPU_NEW_ARRAY(s->arena, xpurt_tensor, RUNS * outputs + 1);
    int good = 1;
    for (int d = 0; good && d < RUNS; d++) {
        if (d < 2) folders[d] = xpu_temporary_folder(s->arena, s->diags);
        good = run_device(s, names[d > 0], drivers[d > 0], &inputs, results + (size_t)d * outputs, folders[d]);
    }
    if (good) take_cycles(s);
    if (good) good = predict_cycles(s, &chip, &inputs);
    if (good) good = compare_layers(s, names[0], names[1], folders[0], folders[1], &s->rtl_layers, s->arena);
    for (int d = 1; good && d < RUNS; d++) good = same_outputs(s, results, results + (size_t)d * outputs);
    for (uint32_t i = 0; i < RUNS * outputs; i++) xpurt_tensor_clear(&results[i]);
    return good;
}

/* ---- what must hold of the outputs ---- */

/* -1 where an element is NaN: none is the largest. */
static int64_t class_of(const xpu_tensor *tensor, int64_t row, int64_t count) {
    int64_t best = 0;
    for (int64_t i = 0; i < count; i++) {
        if (isnan(xpu_element(tensor, row * count + i))) return -1;
        if (xpu_element(tensor, row * count + i) > xpu_element(tensor, row * count + best)) best = i;
    }
    return best;
}

static int check_classes(session *s, const xpu_regress_tensor *e, const xpu_tensor *output) {
    xpu_tensor wanted;
    if (!read_tensor(s, e->file, e->classes, &wanted)) return 0;
    int64_t last = output->rank ? output->dims[output->rank - 1] : 1, wrong = 0, first = -1;
    int64_t rows = last ? xpu_tensor_count(output) / last : 0;
    if (xpu_tensor_count(&wanted) < rows) return fail(s, "there are fewer expected classes than samples");
    for (int64_t i = 0; i < rows; i++) {
        if ((double)class_of(output, i, last) == xpu_element(&wanted, i)) continue;
        if (!wrong++) first = i;
    }
    if (!wrong) return 1;
    return fail(s, xpu_printf(s->arena,
                              "output '%s': %lld of %lld classes are wrong, the first of them that of sample %lld",
                              e->name, (long long)wrong, (long long)rows, (long long)first));
}

static int check_expected(session *s, const xpu_regress_tensor *e) {
    xpu_tensor wanted;
    uint32_t index = 0, count = xpurt_output_count(s->program);
    for (; index < count; index++) {
        xpurt_tensor info;
        xpurt_output(s->program, index, &info);
        if (strcmp(info.name, e->name) == 0) break;
    }
    if (index == count) return fail(s, xpu_printf(s->arena, "the model has no output '%s'", e->name));
    if (!read_tensor(s, e->file, e->entry, &wanted)) return 0;
    const xpu_tensor *output = &s->outputs[index];
    if (wanted.rank && wanted.dims[0] > s->samples) wanted = rows_of(&wanted, 0, s->samples);
    xpu_comparison c = xpu_compare(output, &wanted, &e->tolerance);
    if (!c.comparable) return fail(s, xpu_printf(s->arena, "output '%s' has not the expected shape", e->name));
    if (!c.differing) return !e->classes || check_classes(s, e, output);
    return fail(s, xpu_printf(s->arena, "output '%s' is not as expected: %s", e->name,
                              how_different(s->arena, output, &wanted, &e->tolerance, &c)));
}

/* Outputs never depend on the chip. */
static int check_chips(session *s, const xpu_tensor *before) {
    static const xpu_tolerance exact;
    for (uint32_t i = 0; before && i < xpurt_output_count(s->program); i++) {
        const xpu_tensor *a = &s->outputs[i], *b = &before[i];
        int64_t rows_a = a->rank ? a->dims[0] : 1, rows_b = b->rank ? b->dims[0] : 1;
        int64_t rows = rows_a < rows_b ? rows_a : rows_b;
        xpu_tensor part_a = rows_of(a, 0, rows), part_b = rows_of(b, 0, rows);
        xpu_comparison c = xpu_compare(&part_a, &part_b, &exact);
        if (c.comparable && !c.differing) continue;
        return fail(s, xpu_printf(s->arena, "output %u differs from that of the chip before: %s", i,
                                  how_different(s->arena, &part_a, &part_b, &exact, &c)));
    }
    return 1;
}

static const char *checksum(session *s) {
    uint32_t crc = 0;
    for (uint32_t i = 0; i < xpurt_output_count(s->program); i++) {
        xpu_tensor *t = &s->outputs[i];
        float *values = t->data;
        for (int64_t k = 0; t->dtype == XPU_F32 && k < xpu_tensor_count(t); k++) values[k] = xa_canonical(values[k]);
        crc = xpu_crc32(crc, t->data, xpu_tensor_bytes(t));
    }
    return xpu_printf(s->arena, "%08x", crc);
}

static const char *summary(session *s) {
    xpu_text text;
    xpu_text_init(&text, s->arena);
    if (s->c->device_count) xpu_text_add(&text, "%lld sample%s", (long long)s->samples, s->samples == 1 ? "" : "s");
    if (s->c->device_count > 1) {
        xpu_text_add(&text, ", %u layers equal on", s->layers);
        for (uint32_t d = 0; d < s->c->device_count; d++) {
            xpu_text_add(&text, "%s %s", d == 0 ? "" : d + 1 == s->c->device_count ? " and" : ",", device_name(s, d));
        }
    }
    if (s->c->device_count && s->c->expected.count) xpu_text_add(&text, ", outputs as expected");
    if (s->cycles)
        xpu_text_add(&text, "%s%u layers equal on %s and rtl, %lld cycles", s->c->device_count ? "; " : "",
                     s->rtl_layers, s->c->reference->name, (long long)s->cycles);
    if (s->predicted)
        xpu_text_add(&text, ", %+.1f %% by the model", xpu_regress_error(s->predicted, (uint64_t)s->cycles));
    return text.text;
}

xpu_regress_result xpu_regress_run(const xpu_regress_case *c, const xpu_regress_chip *chip, const xpu_tensor *before,
                                   xpu_arena *arena, xpu_diags *diags) {
    double start = xpu_seconds();
    xpu_regress_result result = {0};
    session *s = XPU_NEW(arena, session);
    *s = (session){.c = c, .chip = chip, .arena = arena, .diags = diags};
    int good = compile(s) && read_inputs(s), usual = c->device_count > 0;
    if (good && usual) good = run_batches(s);
    for (uint32_t i = 0; good && usual && i < c->expected.count; i++) good = check_expected(s, &c->expected.items[i]);
    if (good && usual) good = check_chips(s, before);
    if (good && c->with_rtl && chip->rtl.samples) good = run_rtl(s);
    if (good && usual) {
        result.outputs = s->outputs;
        result.checksum = checksum(s);
    }
    if (good) {
        result.cycles = s->cycles;
        result.layers = s->layer_cycles;
    }
    result.model = s->model;
    result.passed = good;
    result.status = s->status;
    result.what = good ? summary(s) : s->failure;
    result.seconds = xpu_seconds() - start;
    return result;
}
