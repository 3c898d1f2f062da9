/* xpu-regress: whole models on all devices and chips. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "tools/common/pool.h"
#include "tools/common/regress_suite.h"
#include "tools/common/rules.h"

static const xpu_option options[] = {
    {"suite", 0, "DIR", "the folder with the cases, one JSON file each (those that come with the tools)"},
    {"device", 'd', "ref|func|rtl", "run on this device only; may be given more than once"},
    {"chip", 0, "NAME", "run on this chip only; may be given more than once"},
    {"plugin", 0, "FILE.so", "the plug-in of cases that name a target, as for xpuc", XPU_READS},
    {"jobs", 'j', "N", "run so many cases at a time, each in a process of its own (1)"},
    {"lockstep", 0, NULL, "rtl: compare every instruction and descriptor with the functional chip"},
    {"build-chips", 0, NULL, "build the Verilated chips that are missing, in the source tree"},
    {"update", 0, NULL, "record the outputs' checksums, and the cycles on rtl, in the cases"},
    {"model", 0, NULL, "print each layer's cycles by the compiler's model beside those on rtl"},
    {"junit", 0, "FILE.xml", "write what came of each case as JUnit XML", XPU_WRITES},
    {"list", 0, NULL, "name the cases instead of running them"},
    {"make", 0, "NAME", "make a case of this name from a model and inputs, and run it"},
    {"input", 'i', "FILE|NAME=FILE", "--make: an input from a .npy or .npz file; may be given for each input",
     XPU_READS},
    {"precision", 0, "auto|fp32|int16|int16x8", "--make: as for xpuc (auto)"},
    {"shape", 0, "INPUT=DIMS", "--make: the dims of an input, as for xpuc; may be given for each input"},
    {NULL, 0, NULL, NULL},
};

static const xpu_command command = {
    .tool = "xpu-regress",
    .usage = "[NAME or FILE.json]... [options]",
    .about = "Compiles and runs the cases of a suite: every layer must be equal on all devices, outputs as expected,\n"
             "cycles on the Verilated chip as recorded. A NAME may be a glob.",
    .example = "xpu-regress\n"
               "xpu-regress 'digits-*' --chip=nano -j 2 --junit=results.xml\n"
               "xpu-regress --suite=cases --make=nine mnist-8.onnx --input=9.npy",
    .options = options,
};

static xpu_status read_jobs(xpu_tool *tool, uint32_t *jobs) {
    const char *text = xpu_tool_option(tool, "jobs");
    char *end;
    if (!text) return XPU_OK;
    unsigned long value = strtoul(text, &end, 10);
    *jobs = (uint32_t)value;
    if (text[0] >= '0' && text[0] <= '9' && !*end && value >= 1 && value <= XPU_POOL_MAX) return XPU_OK;
    return (xpu_status)xpu_tool_usage(tool, "option '--jobs'", "this is no number of processes",
                                      xpu_escape(tool->arena, text, 80),
                                      xpu_printf(tool->arena, "write a number from 1 to %d", XPU_POOL_MAX));
}

static void list_chips(xpu_tool *tool, xpu_regress_suite *suite) {
    for (uint32_t i = 0; i < tool->arguments.count; i++) {
        const xpu_argument *a = &tool->arguments.items[i];
        if (a->name && strcmp(a->name, "chip") == 0) XPU_PUSH(tool->arena, &suite->chips, a->value);
    }
}

/* Every chip on the command line must be one of a case's; with no case that can be read there is nothing to say. */
static xpu_status check_chips(xpu_tool *tool, const xpu_regress_suite *suite) {
    XPU_ARRAY(const char *) known = {0};
    for (uint32_t i = 0; i < suite->entries.count; i++) {
        const xpu_regress_entry *e = &suite->entries.items[i];
        for (uint32_t k = 0; e->status == XPU_OK && k < e->c.chips.count; k++) {
            uint32_t j = 0;
            while (j < known.count && strcmp(known.items[j], e->c.chips.items[k].chip) != 0) j++;
            if (j == known.count) XPU_PUSH(tool->arena, &known, e->c.chips.items[k].chip);
        }
    }
    xpu_text names;
    xpu_text_init(&names, tool->arena);
    for (uint32_t j = 0; j < known.count; j++)
        xpu_text_add(&names, "%s%s", j ? ", " : "", xpu_escape(tool->arena, known.items[j], 80));
    XPU_PUSH(tool->arena, &known, NULL);
    for (uint32_t i = 0; known.count > 1 && i < suite->chips.count; i++) {
        uint32_t j = 0;
        while (known.items[j] && strcmp(known.items[j], suite->chips.items[i]) != 0) j++;
        if (known.items[j]) continue;
        const char *nearest = xpu_nearest(suite->chips.items[i], known.items);
        return (xpu_status)xpu_tool_usage(
            tool, "option '--chip'",
            xpu_printf(tool->arena, "no case runs on a chip '%s'", xpu_escape(tool->arena, suite->chips.items[i], 80)),
            xpu_printf(tool->arena, "the chips of the cases are %s", names.text),
            nearest ? xpu_printf(tool->arena, "did you mean %s?", nearest)
                    : "a case's key 'chips' says where it runs; --make makes a case for another chip");
    }
    return XPU_OK;
}

/* The file of --junit must be none that is read. */
static xpu_status check_junit(xpu_tool *tool, const xpu_regress_suite *suite) {
    const xpu_tool_output output = {"junit", xpu_tool_option(tool, "junit")};
    XPU_ARRAY(const char *) read = {0};
    if (!output.path) return XPU_OK;
    for (uint32_t i = 0; i < suite->entries.count; i++) {
        const xpu_regress_entry *e = &suite->entries.items[i];
        XPU_PUSH(tool->arena, &read, e->path);
        if (e->status != XPU_OK) continue;
        XPU_PUSH(tool->arena, &read, e->c.model);
        for (uint32_t k = 0; k < e->c.inputs.count; k++) XPU_PUSH(tool->arena, &read, e->c.inputs.items[k].file);
        for (uint32_t k = 0; k < e->c.expected.count; k++) XPU_PUSH(tool->arena, &read, e->c.expected.items[k].file);
    }
    XPU_PUSH(tool->arena, &read, NULL);
    int status = xpu_tool_check_outputs(tool, &output, 1, read.items);
    return status ? (xpu_status)status : xpu_output_check(tool->arena, output.path, &tool->diags);
}

static xpu_status run_cases(xpu_tool *tool, xpu_regress_suite *suite) {
    const char *junit = xpu_tool_option(tool, "junit");
    xpu_regress_read_all(tool, suite);
    xpu_status status = check_junit(tool, suite);
    for (uint32_t i = 0; status == XPU_OK && i < suite->entries.count; i++) {
        if (suite->entries.items[i].status == XPU_OK) status = xpu_regress_devices(tool, &suite->entries.items[i].c);
    }
    if (status == XPU_OK) status = check_chips(tool, suite);
    if (status == XPU_OK && xpu_tool_flag(tool, "build-chips")) status = xpu_regress_build_chips(tool, suite);
    if (status != XPU_OK) return status;
    status = xpu_regress_run_all(tool, suite);
    if (tool->diags.errors && status != XPU_ESTOPPED) return status;
    printf("%u passed, %u failed", suite->passed, suite->failed);
    if (suite->not_run) printf(", %u not run", suite->not_run);
    putchar('\n');
    if (junit && xpu_regress_junit(tool->arena, suite, junit, &tool->diags) != XPU_OK) return XPU_EIO;
    return status;
}

#define WITHOUT_EFFECT(option, relation, other, why)                                                                   \
    {option, relation, other, "the option would be without effect", why, "leave it out"}
#define OF_MAKE(option)  WITHOUT_EFFECT(option, XPU_NEEDS, "make", "it is for --make")
#define NOT_LIST(option) WITHOUT_EFFECT(option, XPU_EXCLUDES, "list", "--list runs nothing")
#define NOT_MAKE(option)                                                                                               \
    {option,        XPU_EXCLUDES, "make", "--make does not take this option", "it makes one case and runs it once",    \
     "leave it out"}
static const xpu_option_rule rules[] = {
    {"make", XPU_NEEDS, "suite", "no folder is named", "a case is two files, which need a place", "add --suite=DIR"},
    OF_MAKE("input"),
    OF_MAKE("precision"),
    OF_MAKE("shape"),
    NOT_LIST("update"),
    NOT_LIST("junit"),
    NOT_LIST("model"),
    NOT_LIST("jobs"),
    NOT_LIST("device"),
    NOT_LIST("chip"),
    NOT_LIST("plugin"),
    NOT_LIST("lockstep"),
    NOT_LIST("build-chips"),
    NOT_MAKE("update"),
    NOT_MAKE("list"),
    NOT_MAKE("junit"),
    NOT_MAKE("model"),
    NOT_MAKE("build-chips"),
    NOT_MAKE("jobs"),
    NOT_MAKE("plugin"),
    {NULL},
};

static int run(xpu_tool *tool) {
    xpu_regress_suite suite = {.jobs = 1};
    const char *make = xpu_tool_option(tool, "make");
    suite.update = xpu_tool_flag(tool, "update");
    suite.model = xpu_tool_flag(tool, "model");
    suite.lockstep = xpu_tool_flag(tool, "lockstep");
    suite.plugin = xpu_tool_option(tool, "plugin");
    list_chips(tool, &suite);
    xpu_status status = (xpu_status)xpu_tool_check_rules(tool, rules, (const char *const[]){NULL});
    if (status == XPU_OK) status = read_jobs(tool, &suite.jobs);
    if (status != XPU_OK) return (int)status;
    if (make) return (int)xpu_regress_make(tool, &suite, make);
    status = xpu_regress_choose(tool, &suite);
    if (status != XPU_OK) return (int)status;
    if (!xpu_tool_flag(tool, "list")) return (int)run_cases(tool, &suite);
    for (uint32_t i = 0; i < suite.paths.count; i++) {
        const char *name = xpu_path_name(suite.paths.items[i]);
        size_t length = strlen(name);
        printf("%s\n", xpu_escape(tool->arena, xpu_strndup(tool->arena, name, length > 5 ? length - 5 : length), 200));
    }
    return XPU_OK;
}

int main(int argc, char **argv) {
    return xpu_tool_main(&command, argc, argv, run);
}
