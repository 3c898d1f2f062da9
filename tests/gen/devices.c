#include "tests/gen/devices.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "sim/func/driver.h"
#include "tools/common/dump.h"
#include "tools/common/inputs.h"
#include "xpu_runtime/include/xpurt_rtl.h"
#include "xpuc/include/xpuc.h"

static int failed(xpu_device_check *check, const char *what, const char *text) {
    snprintf(check->message, sizeof check->message, "%s: %s", what, text ? text : "no message");
    return 0;
}

int xpu_device_check_compile(xpu_device_check *check, const char *model, const char *chip, const char *precision) {
    return xpu_device_check_compile_shape(check, model, chip, precision, NULL);
}

int xpu_device_check_compile_shape(xpu_device_check *check, const char *model, const char *chip, const char *precision,
                                   const char *shape) {
    enum { MOST = 4 };
    char *shapes[MOST + 1] = {NULL}, copy[256] = "", *rest = copy;
    snprintf(copy, sizeof copy, "%s", shape ? shape : "");
    for (int i = 0; i < MOST && (shapes[i] = strtok_r(rest, " ", &rest)); i++) continue;
    const char *ending = strrchr(precision, '.');
    const int is_file = ending && strcmp(ending, ".json") == 0;
    xpuc_options options = {.chip = chip, .shapes = (const char *const *)shapes};
    if (is_file)
        options.precision_rules = precision;
    else
        options.precision = precision;
    xpuc_result result = {0};
    xpuc_error error = {0};
    xpurt_error opening = {0};
    *check = (xpu_device_check){0};
    int good = xpuc_compile_file(model, &options, &result, &error) == 0;
    if (!good) failed(check, "compile", error.text);
    if (good) check->program = xpurt_open_memory(result.bytes, result.size, "test.xpu", &opening);
    if (good && !check->program) good = failed(check, "open", opening.text);
    xpuc_error_clear(&error);
    xpurt_error_clear(&opening);
    xpuc_result_clear(&result);
    return good;
}

void xpu_device_check_close(xpu_device_check *check) {
    xpurt_close(check->program);
    check->program = NULL;
}

static int run(xpu_device_check *check, const xpurt_tensor *inputs, uint32_t count, xpurt_tensor *outputs,
               const xpurt_run_options *options) {
    xpurt_error error = {0};
    int good = xpurt_run(check->program, inputs, count, outputs, options, &error) == 0;
    if (!good) failed(check, options->device ? "func" : "ref", error.text);
    xpurt_error_clear(&error);
    return good;
}

int xpu_device_check_run(xpu_device_check *check, const xpurt_tensor *inputs, uint32_t count, xpurt_tensor *outputs) {
    return run(check, inputs, count, outputs, &(xpurt_run_options){.device = &xpu_func_driver});
}

static int compare_folders(xpu_device_check *check, const char *func, const char *ref, xpu_arena *arena,
                           xpu_diags *diags) {
    static const xpu_tolerance exact = {0, 0};
    xpu_dump_list a, b;
    xpu_dump_difference difference;
    char text[512] = "";
    if (xpu_dump_list_open(&a, arena, func, diags) != XPU_OK || xpu_dump_list_open(&b, arena, ref, diags) != XPU_OK ||
        xpu_dump_compare(&a, &b, &exact, NULL, NULL, &difference, arena, diags) != XPU_OK) {
        if (diags->count) xpu_diag_text(diags, 0, text, sizeof text);
        return failed(check, "dumps", text);
    }
    check->layers = difference.compared;
    if (difference.only_a || difference.only_b) return failed(check, "dumps", "func and ref dumped other layers");
    if (!difference.differing) return 1;
    snprintf(check->message, sizeof check->message, "layer '%s': %lld of %lld elements differ, first at %lld: %g, %g",
             difference.first.layer, (long long)difference.first_comparison.differing,
             (long long)difference.first_comparison.count, (long long)difference.first_comparison.first,
             difference.first_comparison.first_a, difference.first_comparison.first_b);
    return 0;
}

static int same_bytes(const xpurt_tensor *a, const xpurt_tensor *b) {
    xpu_tensor one = xpu_from_runtime(a), other = xpu_from_runtime(b);
    const size_t bytes = xpu_tensor_bytes(&one);
    return bytes == xpu_tensor_bytes(&other) && (!bytes || memcmp(a->data, b->data, bytes) == 0);
}

/* Without a dump layers may run together: the outputs are the same. */
static int run_together(xpu_device_check *check, const xpurt_tensor *inputs, uint32_t count,
                        const xpurt_tensor *expected) {
    const uint32_t outputs = xpurt_output_count(check->program);
    xpurt_tensor *y = calloc(outputs + 1, sizeof *y);
    if (!y) return failed(check, "test", "out of memory");
    int good = xpu_device_check_run(check, inputs, count, y);
    for (uint32_t i = 0; i < outputs && good; i++)
        if (!same_bytes(&y[i], &expected[i])) good = failed(check, "func", "an output differs without a dump");
    for (uint32_t i = 0; i < outputs; i++) xpurt_tensor_clear(&y[i]);
    free(y);
    return good;
}

int xpu_device_check_layers(xpu_device_check *check, const xpurt_tensor *inputs, uint32_t count,
                            xpurt_tensor *outputs) {
    xpu_mem mem;
    xpu_diags diags;
    xpurt_tensor *ref_outputs = calloc(xpurt_output_count(check->program) + 1, sizeof *ref_outputs);
    xpu_diags_init(&diags);
    xpu_mem_init(&mem);
    if (!ref_outputs) return failed(check, "test", "out of memory");
    if (setjmp(mem.out_of_memory)) return failed(check, "test", "out of memory");
    xpu_arena *arena = xpu_arena_new(&mem, "test");
    const char *folder = xpu_temporary_folder(arena, &diags);
    const char *func = xpu_path_join(arena, folder, "func"), *ref = xpu_path_join(arena, folder, "ref");
    const xpurt_run_options on_func = {.device = &xpu_func_driver, .dump_folder = func};
    xpu_func_configure(&(xpu_func_options){.check_races = 1});
    int good = run(check, inputs, count, outputs, &on_func) && run_together(check, inputs, count, outputs);
    xpu_func_configure(&(xpu_func_options){.check_races = 0});
    good = good && run(check, inputs, count, ref_outputs, &(xpurt_run_options){.dump_folder = ref}) &&
           compare_folders(check, func, ref, arena, &diags);
    for (uint32_t i = 0; i < xpurt_output_count(check->program); i++) xpurt_tensor_clear(&ref_outputs[i]);
    free(ref_outputs);
    xpu_mem_release(&mem);
    xpu_diags_clear(&diags);
    return good;
}

char *xpu_device_check_rtl(xpu_device_check *check, const xpurt_tensor *inputs, uint32_t count, const void *expected,
                           size_t bytes) {
    const char *build = getenv("XPU_BUILD");
    enum { MOST_OUTPUTS = 3 };
    char folder[1024], *stats = NULL;
    xpurt_error error = {0};
    xpurt_tensor outputs[MOST_OUTPUTS] = {0};
    snprintf(folder, sizeof folder, "%s/lib", build ? build : "build");
    const xpurt_run_options rtl = {.device = xpurt_rtl_load("standard", folder, NULL, &error), .stats = &stats};
    int good =
        rtl.device && xpurt_output_count(check->program) <= MOST_OUTPUTS && run(check, inputs, count, outputs, &rtl);
    if (!rtl.device) failed(check, "rtl", error.text);
    if (good && memcmp(outputs[0].data, expected, bytes) != 0) good = failed(check, "rtl", "its output differs");
    xpurt_error_clear(&error);
    for (int i = 0; i < MOST_OUTPUTS; i++) xpurt_tensor_clear(&outputs[i]);
    if (good) return stats;
    free(stats);
    return NULL;
}

long xpu_device_check_cycles(const char *stats, const char *layer, const char *unit) {
    static const char cycles_key[] = "\"cycles\": ", unit_key[] = "\"unit\": \"";
    char key[64];
    snprintf(key, sizeof key, "\"name\": \"%s\"", layer);
    const char *row = strstr(stats, key), *cycles = row ? strstr(row, cycles_key) : NULL;
    const char *of = row ? strstr(row, unit_key) : NULL;
    if (!cycles || !of) return -1;
    if (unit && strncmp(of + strlen(unit_key), unit, strlen(unit)) != 0) return -1;
    return strtol(cycles + strlen(cycles_key), NULL, 10);
}
