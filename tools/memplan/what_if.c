/* xpu-memplan what-if: a compiled program with other memories, predicted and measured. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/json.h"
#include "base/stop.h"
#include "tools/common/device.h"
#include "tools/common/inputs.h"
#include "tools/common/settings.h"
#include "tools/memplan/memplan.h"
#include "tools/common/predict.h"
#include "xpu_runtime/program/file.h"
#include "xpu_runtime/program/largest_shape.h"

enum { MAX_CONFIGURATIONS = 1000 };

typedef struct {
    xpu_chip chip;
    xpu_prediction predicted;
    int is_measured;
    uint64_t cycles, gm_bytes;
    const char *not_measured; /* why */
} configuration;

typedef struct {
    xpu_tool *tool;
    const char *path;
    xpu_program_image *image;
    xpu_chip own;
    const int64_t *symbols;
    xpu_setting *settings;
    uint32_t setting_count;
    configuration *rows;
    uint32_t row_count;
    xpurt_program *program; /* of measuring */
    xpu_inputs inputs;
} what_if;

/* ---- the program and its shape ---- */

static xpu_status make_problem(void *context, const int64_t *symbols, xpu_arena *arena, xpu_placement *placement,
                               xpu_diags *diags) {
    const what_if *w = context;
    return xpu_placement_problem(&w->image->program, &w->own, symbols, arena, placement, diags);
}

/* The shape that inputs from files give, else the largest that fits. */
static xpu_status choose_shape(what_if *w) {
    xpu_tool *tool = w->tool;
    xpu_graph *graph = w->image->program.graph;
    const xpu_shape_search search = {graph, make_problem, w, tool->arena, &tool->diags};
    xpu_largest_plan largest;
    if (!graph->dims.symbols.count) return XPU_OK;
    xpu_status status = xpu_plan_largest(&search, &largest);
    if (status != XPU_OK) return status;
    int64_t *symbols = xpu_copy(tool->arena, largest.symbols, graph->dims.symbols.count * sizeof *symbols);
    xpu_symbols_of_inputs(graph, w->inputs.items, w->inputs.count, symbols);
    w->symbols = symbols;
    return XPU_OK;
}

/* Zeros for inputs that no file gives, or their shapes alone. */
static const xpurt_tensor *all_inputs(what_if *w, int has_data, uint32_t *count) {
    const xpu_graph *graph = w->image->program.graph;
    xpurt_tensor *tensors = XPU_NEW_ARRAY(w->tool->arena, xpurt_tensor, graph->inputs.count);
    *count = 0;
    for (uint32_t i = 0; i < graph->inputs.count; i++) {
        const xpu_value_info *info = xpu_value_at(graph, graph->inputs.items[i]);
        xpurt_tensor *to = &tensors[(*count)++];
        xpu_tensor zeros = {.dtype = info->dtype, .rank = info->rank};
        for (int d = 0; d < info->rank; d++) zeros.dims[d] = xpu_dim_eval(&graph->dims, info->dims[d], w->symbols);
        size_t bytes = (size_t)xpu_tensor_count(&zeros) * xpu_dtype_bytes(info->dtype);
        int is_given = 0;
        for (uint32_t k = 0; k < w->inputs.count && !is_given; k++) {
            const xpurt_tensor *given = &w->inputs.items[k];
            is_given = given->name && strcmp(given->name, info->name) == 0;
            if (is_given) *to = *given;
        }
        if (is_given) continue;
        if (has_data) zeros.data = xpu_alloc(w->tool->arena, bytes ? bytes : 1);
        *to = xpu_to_runtime(info->name, &zeros);
    }
    return tensors;
}

/* What a run with the inputs would say of them, before their data is read. */
static int check_shape(what_if *w) {
    uint32_t count;
    xpurt_error error = {0};
    const xpurt_tensor *inputs = all_inputs(w, 0, &count);
    int status = w->inputs.count ? xpurt_check_inputs(w->program, inputs, count, &error) : XPU_OK;
    xpu_tool_report(w->tool, status, error.text);
    xpurt_error_clear(&error);
    return status;
}

static void close_program(void *object) {
    xpurt_close(((what_if *)object)->program);
}

static int open_program(what_if *w) {
    xpu_tool *tool = w->tool;
    xpurt_error error = {0};
    w->image = xpu_program_read(tool->arena, w->path, &tool->diags);
    if (!w->image) return (int)xpu_diags_status(&tool->diags);
    const char *json = w->image->program.chip_json;
    xpu_status status = xpu_chip_parse(tool->arena, json, strlen(json), w->path, &w->own, &tool->diags);
    if (status != XPU_OK) return (int)status;
    if (w->image->program.stripped)
        return (int)xpu_error(&tool->diags, XPU_EUSAGE, w->path, "memplan-stripped", NULL,
                              "nothing can be predicted of this program",
                              "it was compiled with --strip: which layer "
                              "reads what is not in it",
                              "compile it without --strip");
    w->program = xpurt_open(w->path, &error);
    int opened = w->program ? XPU_OK : xpu_tool_report(tool, error.status, error.text);
    xpurt_error_clear(&error);
    if (opened) return opened;
    xpu_arena_defer(tool->arena, close_program, w);
    const char *const *files = xpu_tool_options(tool, "input");
    for (uint32_t i = 0; files[i] && status == XPU_OK; i++)
        status = xpu_inputs_add(&w->inputs, w->program, files[i], tool->arena, &tool->diags);
    if (status == XPU_OK) status = choose_shape(w);
    int checked = status == XPU_OK ? check_shape(w) : (int)status;
    return checked ? checked : (int)xpu_inputs_load(&w->inputs, tool->arena, &tool->diags);
}

/* ---- configurations ---- */

static int is_size(const char *key) {
    return strcmp(key, "l3.bytes") == 0 || strcmp(key, "sm.bytes") == 0 || strcmp(key, "gm.bytes") == 0;
}

/* The program's own first, then the product of all values, the last setting changing fastest. */
static int make_rows(what_if *w) {
    xpu_tool *tool = w->tool;
    uint32_t count = 1;
    for (uint32_t i = 0; i < w->setting_count; i++) {
        const xpu_setting *s = &w->settings[i];
        if (!is_size(s->name) && xpu_chip_key_is(s->key) != XPU_CHIP_RUN)
            return (int)xpu_error(&tool->diags, XPU_EUSAGE, NULL, "set-key",
                                  xpu_printf(tool->arena, "option '--set %s'", s->name), "this is no key of a memory",
                                  "sizes, rates and latencies of SM, L3 and GM can be asked for; a program is compiled "
                                  "for all else",
                                  "write it into a chip's JSON and compile with xpuc --chip=FILE.json");
        count = count > MAX_CONFIGURATIONS ? count : count * s->count;
    }
    if (count > MAX_CONFIGURATIONS)
        return xpu_tool_usage(tool, "option '--set'", "these are too many configurations",
                              xpu_printf(tool->arena, "at most %d are compared", (int)MAX_CONFIGURATIONS),
                              "give fewer values");
    w->row_count = w->setting_count ? count + 1 : 1;
    w->rows = XPU_NEW_ARRAY(tool->arena, configuration, w->row_count);
    for (uint32_t row = 0; row < w->row_count; row++) {
        uint32_t rest = row ? row - 1 : 0;
        w->rows[row].chip = w->own;
        for (uint32_t i = w->setting_count; row && i-- > 0; rest /= w->settings[i].count)
            xpu_chip_key_set(&w->rows[row].chip, w->settings[i].key,
                             w->settings[i].values[rest % w->settings[i].count]);
        int status = (int)xpu_chip_check(tool->arena, &w->rows[row].chip, "--set", &tool->diags);
        if (status) return status;
    }
    return XPU_OK;
}

/* ---- measuring ---- */

/* The chip as it is, but for what a run may change. */
static const char *run_chip(const what_if *w, const configuration *row) {
    xpu_chip chip = row->chip;
    chip.sm_bytes = w->own.sm_bytes;
    chip.l3_bytes = w->own.l3_bytes;
    chip.gm_bytes = w->own.gm_bytes;
    return xpu_chip_json(w->tool->arena, &chip);
}

static void take_stats(what_if *w, configuration *row, const char *text) {
    const json_t *stats = xpu_json_parse(w->tool->arena, text, strlen(text), "statistics", &w->tool->diags);
    row->is_measured = 1;
    row->cycles = (uint64_t)json_integer_value(json_object_get(stats, "cycles"));
    row->gm_bytes = (uint64_t)(json_integer_value(json_object_get(stats, "gm_read_bytes")) +
                               json_integer_value(json_object_get(stats, "gm_write_bytes")));
}

static int measure_row(what_if *w, configuration *row, const xpurt_device_driver *driver, const xpurt_tensor *inputs,
                       uint32_t count) {
    xpurt_error error = {0};
    char *stats = NULL;
    uint32_t outputs = xpurt_output_count(w->program);
    xpurt_tensor *results = XPU_NEW_ARRAY(w->tool->arena, xpurt_tensor, outputs + 1);
    const int smaller = row->chip.sm_bytes != w->own.sm_bytes || row->chip.l3_bytes != w->own.l3_bytes ||
                        row->chip.gm_bytes != w->own.gm_bytes;
    const xpurt_run_options run = {.device = driver,
                                   .chip_json = run_chip(w, row),
                                   .memory_json = smaller ? xpu_chip_json(w->tool->arena, &row->chip) : NULL,
                                   .stats = &stats,
                                   .stop = xpu_stop_requested};
    int status = xpurt_run(w->program, inputs, count, results, &run, &error);
    if (status) xpu_tool_report(w->tool, status, error.text);
    if (!status && stats) take_stats(w, row, stats);
    xpurt_error_clear(&error);
    free(stats);
    for (uint32_t i = 0; i < outputs; i++) xpurt_tensor_clear(&results[i]);
    return status;
}

static int measure(what_if *w) {
    const xpu_device_options device = {.device = "rtl", .has_time = 1};
    const xpurt_device_driver *driver;
    uint32_t count;
    int status = xpu_device_open(w->tool, &device, &w->own, &driver);
    if (status) return status;
    const xpurt_tensor *inputs = all_inputs(w, 1, &count);
    int shows = !w->tool->quiet && isatty(STDERR_FILENO);
    xpu_stop_begin();
    for (uint32_t i = 0; i < w->row_count && !status; i++) {
        configuration *row = &w->rows[i];
        if (row->predicted.no_plan) row->not_measured = "no plan";
        if (row->chip.sm_bytes > w->own.sm_bytes || row->chip.l3_bytes > w->own.l3_bytes ||
            row->chip.gm_bytes > w->own.gm_bytes)
            row->not_measured = "another chip";
        if (row->not_measured) continue;
        if (shows) fprintf(stderr, "\rmeasuring %u of %u ", i + 1, w->row_count);
        status = measure_row(w, row, driver, inputs, count);
    }
    if (shows) fprintf(stderr, "\r%30s\r", "");
    xpu_stop_end();
    return status;
}

/* ---- printing ---- */

static const char *key_text(const what_if *w, const configuration *row, uint32_t setting) {
    uint32_t value = xpu_chip_key_value(&row->chip, w->settings[setting].key);
    if (!is_size(w->settings[setting].name)) return xpu_printf(w->tool->arena, "%" PRIu32, value);
    return value % (1u << 20) == 0 ? xpu_printf(w->tool->arena, "%" PRIu32 "M", value >> 20)
                                   : xpu_printf(w->tool->arena, "%" PRIu32 "K", value >> 10);
}

static void print_row(const what_if *w, const configuration *row, int measured) {
    for (uint32_t i = 0; i < w->setting_count; i++) {
        int width = (int)strlen(w->settings[i].name);
        printf("%*s  ", width < 8 ? 8 : width, key_text(w, row, i));
    }
    if (row->predicted.no_plan)
        printf("%16s %14s", "no plan", "-");
    else
        printf("%16" PRIu64 " %14" PRIu64, row->predicted.cycles, row->predicted.gm_bytes);
    if (row->is_measured)
        printf(" %12" PRIu64 " %12" PRIu64 " %+6.1f %%", row->cycles, row->gm_bytes,
               row->cycles ? 100 * ((double)row->predicted.cycles / (double)row->cycles - 1) : 0);
    else if (measured)
        printf(" %12s", row->not_measured);
    if (row == w->rows) printf("  as compiled");
    if (row->predicted.no_plan) printf("  %s", row->predicted.no_plan);
    putchar('\n');
}

static void print_text(const what_if *w, int measured) {
    const char *shape = xpu_placement_shape(&w->image->program, w->symbols, w->tool->arena);
    printf("%s on %s%s%s\n", xpu_tool_path(w->tool, xpu_path_name(w->path)),
           xpu_escape(w->tool->arena, w->own.name, 60), shape ? ", " : "", shape ? shape : "");
    for (uint32_t i = 0; i < w->setting_count; i++) printf("%8s  ", w->settings[i].name);
    printf("predicted cycles       GM bytes");
    if (measured) printf("       cycles     GM bytes    error");
    putchar('\n');
    for (uint32_t i = 0; i < w->row_count; i++) print_row(w, &w->rows[i], measured);
    if (!w->tool->quiet)
        printf("The prediction is by the model that chose the tiles, each layer once, with its start%s.\n",
               measured ? "" : ". --measure runs them");
}

static int print_json(const what_if *w) {
    xpu_arena *arena = w->tool->arena;
    json_t *top = xpu_json_own(arena, json_object());
    xpu_json_set(arena, top, "program", json_string(xpu_escape(arena, w->path, 4096)));
    xpu_json_set(arena, top, "chip", json_string(xpu_escape(arena, w->own.name, 100)));
    json_t *list = xpu_json_set(arena, top, "configurations", json_array());
    for (uint32_t i = 0; i < w->row_count; i++) {
        const configuration *row = &w->rows[i];
        json_t *entry = xpu_json_append(arena, list, json_object());
        xpu_json_set(arena, entry, "as_compiled", json_boolean(i == 0));
        json_t *set = xpu_json_set(arena, entry, "set", json_object());
        for (uint32_t k = 0; k < w->setting_count; k++)
            xpu_json_set(arena, set, w->settings[k].name,
                         json_integer(xpu_chip_key_value(&row->chip, w->settings[k].key)));
        if (row->predicted.no_plan) {
            xpu_json_set(arena, entry, "no_plan", json_string(row->predicted.no_plan));
        } else {
            xpu_json_set(arena, entry, "predicted_cycles", json_integer((json_int_t)row->predicted.cycles));
            xpu_json_set(arena, entry, "predicted_gm_bytes", json_integer((json_int_t)row->predicted.gm_bytes));
        }
        if (row->is_measured) {
            xpu_json_set(arena, entry, "cycles", json_integer((json_int_t)row->cycles));
            xpu_json_set(arena, entry, "gm_bytes", json_integer((json_int_t)row->gm_bytes));
        }
        if (row->not_measured) xpu_json_set(arena, entry, "not_measured", json_string(row->not_measured));
    }
    return xpu_memplan_print_json(w->tool, top);
}

int xpu_memplan_what_if_command(xpu_tool *tool) {
    what_if *w = XPU_NEW(tool->arena, what_if);
    w->tool = tool;
    w->path = xpu_tool_word(tool, 1);
    int measured = xpu_tool_flag(tool, "measure");
    int status = xpu_settings_read(tool, &w->settings, &w->setting_count);
    if (!status) status = open_program(w);
    if (!status && !xpu_can_predict(&w->image->program, w->symbols))
        status = xpu_tool_usage(tool, xpu_tool_path(tool, w->path), "nothing can be predicted of this shape",
                                "its dims have such wide ranges that the cycles at their upper ends are out of range",
                                "compile with narrower ranges: xpuc --shape");
    if (!status) status = make_rows(w);
    for (uint32_t i = 0; i < w->row_count && !status; i++)
        w->rows[i].predicted = xpu_predict(&w->image->program, &w->own, &w->rows[i].chip, w->symbols, tool->arena);
    if (!status && measured) status = measure(w);
    if (status) return status;
    if (xpu_tool_flag(tool, "json")) return print_json(w);
    print_text(w, measured);
    return XPU_OK;
}
