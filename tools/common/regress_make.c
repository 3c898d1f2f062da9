/* Makes a regression case from a model and inputs. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/json.h"
#include "base/npy.h"
#include "tools/common/inputs.h"
#include "tools/common/regress_suite.h"
#include "xpuc/include/xpuc.h"

typedef struct {
    xpu_tool *tool;
    xpu_arena *arena;
    const xpu_regress_suite *suite;
    const char *name, *model, *precision, *json_path, *npz_path;
    XPU_ARRAY(const char *) shapes;
    xpuc_result compiled;
    xpurt_program *program;
    xpu_inputs inputs;
    xpurt_tensor *outputs;
    uint32_t output_count;
} maker;

static void close_maker(void *object) {
    maker *m = object;
    for (uint32_t i = 0; i < m->output_count; i++) xpurt_tensor_clear(&m->outputs[i]);
    xpurt_close(m->program);
    xpuc_result_clear(&m->compiled);
}

static xpu_status usage(maker *m, const char *where, const char *what, const char *why, const char *hint) {
    return (xpu_status)xpu_tool_usage(m->tool, where, what, why, hint);
}

/* ---- what is asked for ---- */

static xpu_status check_words(maker *m) {
    static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.";
    if (!m->name[0] || m->name[0] == '.' || m->name[0] == '-' || m->name[strspn(m->name, allowed)])
        return usage(m, "option '--make'", "this is no name of a case", xpu_escape(m->arena, m->name, 80),
                     "use letters, digits, '-', '_' and '.'");
    if (xpu_tool_words(m->tool) != 1)
        return usage(m, NULL, xpu_tool_words(m->tool) ? "more than one model is given" : "no model is given",
                     "a case has one model", "write xpu-regress --make=NAME MODEL.onnx --input=FILE");
    for (int i = 0; i < 2; i++) {
        const char *path = i ? m->npz_path : m->json_path;
        if (xpu_file_exists(path))
            return usage(m, "option '--make'", "there is a file of this name", path, "give the case another name");
    }
    return XPU_OK;
}

/* ---- the run that it is made from ---- */

static xpu_status compile(maker *m) {
    xpuc_options options = {.chip = m->suite->chips.count ? m->suite->chips.items[0] : NULL,
                            .precision = m->precision,
                            .shapes = m->shapes.items};
    xpuc_error compile_error = {0};
    xpurt_error open_error = {0};
    int status = xpuc_compile_file(m->model, &options, &m->compiled, &compile_error);
    xpu_tool_report(m->tool, status, compile_error.text);
    xpuc_error_clear(&compile_error);
    if (status) return (xpu_status)status;
    m->program = xpurt_open_memory(m->compiled.bytes, m->compiled.size, m->model, &open_error);
    status = m->program ? XPU_OK : xpu_tool_report(m->tool, open_error.status, open_error.text);
    xpurt_error_clear(&open_error);
    return (xpu_status)status;
}

static xpu_status run_reference(maker *m) {
    xpurt_error error = {0};
    const xpurt_run_options options = {0};
    for (uint32_t i = 0; i < m->tool->arguments.count; i++) {
        const xpu_argument *a = &m->tool->arguments.items[i];
        if (!a->name || strcmp(a->name, "input") != 0) continue;
        xpu_status status = xpu_inputs_add(&m->inputs, m->program, a->value, m->arena, &m->tool->diags);
        if (status != XPU_OK) return status;
    }
    xpu_status loaded = xpu_inputs_load(&m->inputs, m->arena, &m->tool->diags);
    if (loaded != XPU_OK) return loaded;
    m->outputs = XPU_NEW_ARRAY(m->arena, xpurt_tensor, xpurt_output_count(m->program) + 1);
    m->output_count = xpurt_output_count(m->program);
    int status = xpurt_run(m->program, m->inputs.items, m->inputs.count, m->outputs, &options, &error);
    xpu_tool_report(m->tool, status, error.text);
    xpurt_error_clear(&error);
    return (xpu_status)status;
}

/* ---- the files ---- */

static xpu_status write_tensors(maker *m) {
    uint32_t count = m->inputs.count + m->output_count;
    xpu_named_tensor *tensors = XPU_NEW_ARRAY(m->arena, xpu_named_tensor, count + 1);
    for (uint32_t i = 0; i < count; i++) {
        const xpurt_tensor *t = i < m->inputs.count ? &m->inputs.items[i] : &m->outputs[i - m->inputs.count];
        tensors[i] = (xpu_named_tensor){t->name, xpu_from_runtime(t)};
    }
    return xpu_npz_write(m->arena, m->npz_path, tensors, count, &m->tool->diags);
}

/* `path` as it is seen from `folder`; both exist. */
static const char *relative(xpu_arena *arena, const char *folder, const char *path) {
    char from[PATH_MAX], to[PATH_MAX];
    if (!realpath(folder, from) || !realpath(path, to)) return path;
    size_t common = 0;
    for (size_t i = 0;; i++) {
        int from_ends = from[i] == '/' || !from[i], to_ends = to[i] == '/' || !to[i];
        if (from_ends && to_ends) common = i;
        if (!from[i] || from[i] != to[i]) break;
    }
    xpu_text text;
    xpu_text_init(&text, arena);
    for (const char *at = from + common; *at; at++) {
        if (*at == '/') xpu_text_add(&text, "../");
    }
    xpu_text_add(&text, "%s", to + common + (to[common] == '/'));
    return text.text;
}

static json_t *own(maker *m, json_t *object, const char *key) {
    return xpu_json_set(m->arena, object, key, json_object());
}

static void add_tensor(maker *m, json_t *object, const char *name) {
    json_t *entry = own(m, object, name);
    xpu_json_set(m->arena, entry, "file", json_string(xpu_path_name(m->npz_path)));
    xpu_json_set(m->arena, entry, "entry", json_string(name));
}

static void add_chips(maker *m, json_t *chips, int with_rtl) {
    const xpurt_tensor *first = m->inputs.count ? &m->inputs.items[0] : NULL;
    int64_t rows = first && first->rank ? first->dims[0] : 1;
    uint32_t count = m->suite->chips.count;
    for (uint32_t i = 0; i < count + !count; i++) {
        const char *chip = count ? m->suite->chips.items[i] : "standard";
        int is_file = xpu_file_exists(chip);
        json_t *entry = own(m, chips, is_file ? relative(m->arena, m->suite->folder, chip) : chip);
        if (with_rtl) xpu_json_set(m->arena, own(m, entry, "rtl"), "samples", json_integer(rows));
    }
}

static json_t *case_json(maker *m, const char *model) {
    xpu_regress_case wanted = {.devices = {xpu_regress_device_by_name("ref"), xpu_regress_device_by_name("func")},
                               .device_count = 2,
                               .with_rtl = 1};
    if (xpu_regress_devices(m->tool, &wanted) != XPU_OK) return NULL;
    if (!wanted.device_count) wanted.devices[wanted.device_count++] = xpu_regress_device_by_name("ref");
    json_t *top = xpu_json_own(m->arena, json_object());
    xpu_json_set(m->arena, top, "model", json_string(model));
    xpu_json_set(m->arena, top, "precision", json_string(m->precision));
    json_t *shapes = m->shapes.count ? own(m, top, "shapes") : NULL;
    for (uint32_t i = 0; shapes && m->shapes.items[i]; i++) {
        const char *equals = strchr(m->shapes.items[i], '=');
        const char *input =
            xpu_strndup(m->arena, m->shapes.items[i], equals ? (size_t)(equals - m->shapes.items[i]) : 0);
        xpu_json_set(m->arena, shapes, input, json_string(equals ? equals + 1 : ""));
    }
    json_t *inputs = own(m, top, "inputs");
    for (uint32_t i = 0; i < m->inputs.count; i++) add_tensor(m, inputs, m->inputs.items[i].name);
    json_t *expected = own(m, top, "expected");
    for (uint32_t i = 0; i < m->output_count; i++) add_tensor(m, expected, m->outputs[i].name);
    json_t *devices = xpu_json_set(m->arena, top, "devices", json_array());
    for (uint32_t i = 0; i < wanted.device_count; i++)
        xpu_json_append(m->arena, devices, json_string(wanted.devices[i]->name));
    add_chips(m, own(m, top, "chips"), wanted.with_rtl);
    return top;
}

/* JSON is UTF-8: names that are not have no place in a case. */
static xpu_status check_names(maker *m, const char *model) {
    int good = xpu_is_utf8(model);
    for (uint32_t i = 0; i < m->inputs.count; i++) good &= xpu_is_utf8(m->inputs.items[i].name);
    for (uint32_t i = 0; i < m->output_count; i++) good &= xpu_is_utf8(m->outputs[i].name);
    for (uint32_t i = 0; i < m->suite->chips.count; i++) good &= xpu_is_utf8(m->suite->chips.items[i]);
    if (good) return XPU_OK;
    return usage(m, "option '--make'", "a case cannot name this model",
                 "a name in it, or its file's, is not valid UTF-8", "give it other names");
}

static xpu_status write_files(maker *m) {
    const char *model = relative(m->arena, m->suite->folder, m->model);
    xpu_status status = check_names(m, model);
    if (status != XPU_OK) return status;
    const json_t *json = case_json(m, model);
    if (!json) return xpu_diags_status(&m->tool->diags);
    status = write_tensors(m);
    if (status != XPU_OK) return status;
    return xpu_json_write(m->arena, json, m->json_path, &m->tool->diags);
}

xpu_status xpu_regress_make(xpu_tool *tool, xpu_regress_suite *suite, const char *name) {
    maker *m = XPU_NEW(tool->arena, maker);
    const char *precision = xpu_tool_option(tool, "precision");
    suite->folder = xpu_tool_option(tool, "suite");
    *m = (maker){.tool = tool, .arena = tool->arena, .suite = suite, .name = name, .model = xpu_tool_word(tool, 0)};
    m->precision = precision ? precision : "auto";
    m->json_path = xpu_path_join(tool->arena, suite->folder, xpu_printf(tool->arena, "%s.json", name));
    m->npz_path = xpu_path_join(tool->arena, suite->folder, xpu_printf(tool->arena, "%s.npz", name));
    xpu_arena_defer(tool->arena, close_maker, m);
    for (uint32_t i = 0; i < tool->arguments.count; i++) {
        const xpu_argument *a = &tool->arguments.items[i];
        if (a->name && strcmp(a->name, "shape") == 0) XPU_PUSH(tool->arena, &m->shapes, a->value);
    }
    if (m->shapes.count) XPU_PUSH(tool->arena, &m->shapes, NULL);
    xpu_status status = check_words(m);
    if (status == XPU_OK) status = compile(m);
    if (status == XPU_OK) status = run_reference(m);
    if (status == XPU_OK) status = xpu_make_folder(suite->folder, &tool->diags);
    if (status != XPU_OK) return status;
    status = write_files(m);
    if (status == XPU_OK) {
        suite->update = 1;
        suite->chips.count = 0; /* all of the new case */
        XPU_PUSH(tool->arena, &suite->paths, m->json_path);
        xpu_regress_read_all(tool, suite);
        status = xpu_regress_run_all(tool, suite);
    }
    if (status == XPU_OK && !tool->quiet)
        printf("made %s and %s\n", xpu_tool_path(tool, m->json_path), xpu_tool_path(tool, m->npz_path));
    if (status == XPU_OK) return XPU_OK;
    unlink(m->json_path);
    unlink(m->npz_path);
    fprintf(stderr, "no case was made\n");
    return status;
}
