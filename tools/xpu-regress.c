/* xpu-regress: whole models on all devices and chips. */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/json.h"
#include "tools/common/regress.h"
#include "tools/common/tool.h"

static const xpu_option options[] = {
    {"suite", 0, "DIR", "the folder with the cases, one JSON file each (tests/regress)"},
    {"device", 'd', "NAME", "run on this device only: ref, func or rtl; may be given more than once"},
    {"chip", 0, "NAME", "run on this chip only"},
    {"lockstep", 0, NULL, "rtl: compare every instruction and descriptor with the functional chip"},
    {"update", 0, NULL, "record the outputs' checksums, and the cycles on rtl, in the cases"},
    {"list", 0, NULL, "name the cases instead of running them"},
    {NULL, 0, NULL, NULL},
};

static const xpu_command command = {
    .tool = "xpu-regress",
    .usage = "[NAME]... [options]",
    .about = "Compiles and runs the cases of a suite: every layer must be equal on all devices, outputs as expected,\n"
             "cycles on the Verilated chip as recorded.",
    .example = "xpu-regress\n"
               "xpu-regress digits-int16 --chip=nano",
    .options = options,
};

typedef struct {
    XPU_ARRAY(const char *) paths;
    uint32_t passed, failed;
} suite;

/* ---- which cases ---- */

static int by_name(const void *a, const void *b) {
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static int is_case(const char *name) {
    size_t length = strlen(name);
    return length > 5 && name[0] != '.' && strcmp(name + length - 5, ".json") == 0;
}

static xpu_status list_cases(xpu_tool *tool, const char *folder, suite *to) {
    DIR *handle = opendir(folder);
    if (!handle) {
        return xpu_error(&tool->diags, XPU_EIO, folder, "io-open", NULL, "the suite cannot be opened", strerror(errno),
                         "name its folder: --suite=DIR");
    }
    XPU_ARRAY(const char *) names = {0};
    for (struct dirent *entry; (entry = readdir(handle));) {
        if (is_case(entry->d_name)) XPU_PUSH(tool->arena, &names, xpu_strdup(tool->arena, entry->d_name));
    }
    closedir(handle);
    if (names.count) qsort(names.items, names.count, sizeof *names.items, by_name);
    for (uint32_t i = 0; i < names.count; i++) {
        XPU_PUSH(tool->arena, &to->paths, xpu_path_join(tool->arena, folder, names.items[i]));
    }
    return XPU_OK;
}

static int is_named(const xpu_tool *tool, const char *path) {
    const char *name = xpu_path_name(path);
    for (uint32_t i = 0; i < xpu_tool_words(tool); i++) {
        const char *word = xpu_tool_word(tool, i);
        size_t length = strlen(word);
        if (strncmp(word, name, length) == 0 && (!name[length] || strcmp(name + length, ".json") == 0)) return 1;
    }
    return xpu_tool_words(tool) == 0;
}

/* Every name on the command line must be a case. */
static int check_names(xpu_tool *tool, const suite *s) {
    for (uint32_t i = 0; i < xpu_tool_words(tool); i++) {
        const char *word = xpu_tool_word(tool, i), *wanted = xpu_printf(tool->arena, "%s.json", word);
        uint32_t found = 0;
        for (uint32_t k = 0; k < s->paths.count; k++) {
            const char *name = xpu_path_name(s->paths.items[k]);
            found += strcmp(name, wanted) == 0 || strcmp(name, word) == 0;
        }
        if (found) continue;
        return xpu_tool_usage(
            tool, xpu_printf(tool->arena, "'%s'", xpu_escape(tool->arena, word, 80)), "there is no such case",
            xpu_printf(tool->arena, "the suite has %u cases", s->paths.count), "xpu-regress --list names them");
    }
    return XPU_OK;
}

/* Leaves the devices of --device, if it is given. */
static int choose_devices(xpu_tool *tool, xpu_regress_case *c) {
    uint32_t chosen = 0, rtl = 0;
    for (uint32_t i = 0; i < tool->arguments.count; i++) {
        const xpu_argument *a = &tool->arguments.items[i];
        if (!a->name || strcmp(a->name, "device") != 0) continue;
        if (strcmp(a->value, "rtl") == 0) {
            rtl = 1;
            continue;
        }
        const xpu_regress_device *device = xpu_regress_device_by_name(a->value);
        if (!device || chosen == XPU_REGRESS_MAX_DEVICES) {
            return xpu_tool_usage(
                tool, "option '--device'", "there is no such device",
                xpu_printf(tool->arena, "'%s' is not one of ref, func, rtl", xpu_escape(tool->arena, a->value, 80)),
                "leave it out to run on the devices of the case");
        }
        c->devices[chosen++] = device;
    }
    if (chosen || rtl) {
        c->device_count = chosen;
        c->with_rtl = (int)rtl;
    }
    return XPU_OK;
}

/* ---- running ---- */

static void record(xpu_tool *tool, const xpu_regress_chip *chip, const xpu_regress_result *result) {
    if (result->checksum) xpu_json_set(tool->arena, chip->entry, "checksum", json_string(result->checksum));
    if (!result->cycles) return;
    xpu_json_set(tool->arena, chip->rtl.entry, "cycles", json_integer(result->cycles));
    xpu_json_set(tool->arena, chip->rtl.entry, "layers", json_incref(result->layers));
}

/* The layers whose cycles are not those that are recorded, a line each. */
static void print_cycles(xpu_tool *tool, const xpu_regress_chip *chip, const xpu_regress_result *result) {
    const char *name;
    json_t *value;
    printf("        %-40s %12s %12s %9s\n", "layer", "recorded", "now", "");
    json_object_foreach(result->layers, name, value) {
        const json_t *recorded = json_object_get(chip->rtl.layers, name);
        long long was = json_integer_value(recorded), now = json_integer_value(value);
        if (recorded && was == now) continue;
        printf("        %-40s %12lld %12lld", xpu_tool_path(tool, name), was, now);
        if (was) printf(" %+8.2f %%", 100.0 * (double)(now - was) / (double)was);
        putchar('\n');
    }
    json_object_foreach(chip->rtl.layers, name, value) {
        if (!json_object_get(result->layers, name))
            printf("        %-40s %12lld %12s\n", xpu_tool_path(tool, name), (long long)json_integer_value(value),
                   "gone");
    }
    printf("        %-40s %12lld %12lld\n", "all", (long long)chip->rtl.cycles, (long long)result->cycles);
}

/* The recorded numbers against the new ones: why it failed, or NULL. */
static const char *against_record(xpu_tool *tool, const xpu_regress_chip *chip, const xpu_regress_result *result) {
    if (chip->checksum && result->checksum && strcmp(chip->checksum, result->checksum) != 0) {
        return xpu_printf(tool->arena, "the outputs have changed: checksum %s, recorded %s (--update records it)",
                          result->checksum, chip->checksum);
    }
    if (!result->cycles || chip->rtl.cycles < 0) return NULL;
    if (result->cycles == chip->rtl.cycles && json_equal(result->layers, chip->rtl.layers)) return NULL;
    return xpu_printf(tool->arena, "cycles have changed: %lld, recorded %lld (--update records it)",
                      (long long)result->cycles, (long long)chip->rtl.cycles);
}

/* *before is the outputs of the chip before; they are compared and then replaced. */
static void run_chip(xpu_tool *tool, suite *s, const xpu_regress_case *c, const xpu_regress_chip *chip,
                     const xpu_tensor **before, xpu_arena *scratch) {
    xpu_diags diags;
    xpu_diags_init(&diags);
    if (isatty(STDERR_FILENO) && !tool->quiet)
        fprintf(stderr, "%s on %s ...\r", xpu_tool_path(tool, c->name), xpu_tool_path(tool, chip->chip));
    xpu_regress_result result = xpu_regress_run(c, chip, *before, scratch, &diags);
    if (result.outputs) *before = result.outputs;
    if (result.passed && xpu_tool_flag(tool, "update")) record(tool, chip, &result);
    if (result.passed && !xpu_tool_flag(tool, "update")) {
        const char *changed = against_record(tool, chip, &result);
        if (changed) result.passed = 0;
        if (changed) result.what = changed;
    }
    if (!result.passed || !tool->quiet) {
        printf("%-7s %-20s %-9s %6.2f s  %s\n", result.passed ? "ok" : "FAILED", xpu_tool_path(tool, c->name),
               xpu_tool_path(tool, chip->chip), result.seconds, xpu_escape_lines(tool->arena, result.what, 1 << 16));
        fflush(stdout);
    }
    if (!result.passed && result.layers && result.layers != chip->rtl.layers &&
        !json_equal(result.layers, chip->rtl.layers) && chip->rtl.cycles >= 0 && !xpu_tool_flag(tool, "update"))
        print_cycles(tool, chip, &result);
    xpu_diags_print(&diags, stderr);
    if (result.passed)
        s->passed++;
    else
        s->failed++;
    xpu_diags_clear(&diags);
}

static xpu_status run_case(xpu_tool *tool, suite *s, const char *path) {
    xpu_regress_case c;
    const char *only = xpu_tool_option(tool, "chip");
    xpu_status status = xpu_regress_read(&c, tool->arena, path, &tool->diags);
    if (status == XPU_OK) status = (xpu_status)choose_devices(tool, &c);
    c.lockstep = xpu_tool_flag(tool, "lockstep");
    if (status != XPU_OK) return status;
    uint32_t ran = 0;
    const xpu_tensor *before = NULL;
    xpu_arena *scratch = xpu_arena_new(&tool->mem, "case");
    for (uint32_t i = 0; i < c.chips.count; i++) {
        if (only && strcmp(only, c.chips.items[i].chip) != 0) continue;
        if (!c.device_count && !(c.with_rtl && c.chips.items[i].rtl.samples)) continue;
        run_chip(tool, s, &c, &c.chips.items[i], &before, scratch);
        ran++;
    }
    xpu_arena_free(scratch);
    if (!ran && !tool->quiet)
        printf("%-7s %-20s %-9s\n", "none", xpu_tool_path(tool, c.name), only ? xpu_tool_path(tool, only) : "");
    return xpu_tool_flag(tool, "update") ? xpu_json_write(tool->arena, c.json, path, &tool->diags) : XPU_OK;
}

static int run(xpu_tool *tool) {
    suite s = {0};
    const char *folder = xpu_tool_option(tool, "suite");
    if (!folder) folder = "tests/regress";
    xpu_status status = list_cases(tool, folder, &s);
    if (status == XPU_OK) status = (xpu_status)check_names(tool, &s);
    if (status != XPU_OK) return (int)status;
    for (uint32_t i = 0; i < s.paths.count; i++) {
        if (!is_named(tool, s.paths.items[i])) continue;
        if (xpu_tool_flag(tool, "list")) {
            const char *name = xpu_tool_path(tool, xpu_path_name(s.paths.items[i]));
            printf("%.*s\n", (int)strlen(name) - 5, name);
            continue;
        }
        status = run_case(tool, &s, s.paths.items[i]);
        if (status != XPU_OK) return (int)status;
    }
    if (xpu_tool_flag(tool, "list")) return XPU_OK;
    printf("%u passed, %u failed\n", s.passed, s.failed);
    return s.failed ? XPU_EDIFF : XPU_OK;
}

int main(int argc, char **argv) {
    return xpu_tool_main(&command, argc, argv, run);
}
