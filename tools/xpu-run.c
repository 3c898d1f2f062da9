/* xpu-run: runs a compiled program on a device. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/json.h"
#include "base/npy.h"
#include "sim/func/driver.h"
#include "tools/common/dump.h"
#include "tools/common/inputs.h"
#include "tools/common/tool.h"

static const xpu_option options[] = {
    {"input", 'i', "FILE|NAME=FILE", "an input from a .npy or .npz file; may be given for each input"},
    {"output", 'o', "FILE.npz", "write the outputs there"},
    {"device", 'd', "func|ref", "the functional chip, or the reference on the host (func)"},
    {"dump-layers", 0, "DIR", "write the output of every layer there"},
    {"dump-filter", 0, "GLOB", "dump only layers whose name matches"},
    {"layer", 0, "NAME", "run this layer alone, with its operands from --from-dump, and compare its output"},
    {"from-dump", 0, "DIR", "the dump that --layer takes its operands from"},
    {"stats", 0, "FILE.json", "write what the run took"},
    {NULL, 0, NULL, NULL},
};

static const xpu_command command = {
    .tool = "xpu-run",
    .usage = "MODEL.xpu [--input FILE|NAME=FILE]... [options]",
    .about = "Runs a program that xpuc made and prints its outputs.",
    .example = "xpu-run mnist-8.xpu --input 9.npy\n"
               "xpu-run mnist-8.xpu --input Input3=9.npy --device=ref --dump-layers=dump --output=out.npz\n"
               "xpu-run mnist-8.xpu --layer=Convolution28 --from-dump=dump",
    .options = options,
};

/* ---- printing ---- */

enum { TOP = 5, MAX_ROWS = 16 };

/* The largest elements of a row of `count`, best first. */
static void print_top(const xpu_tensor *tensor, int64_t row, int64_t count) {
    int64_t best[TOP];
    int found = 0;
    for (int64_t i = 0; i < count; i++) {
        double x = xpu_element(tensor, row * count + i);
        int at = found;
        while (at > 0 && x > xpu_element(tensor, row * count + best[at - 1])) at--;
        if (at == TOP) continue;
        if (found < TOP) found++;
        for (int k = found - 1; k > at; k--) best[k] = best[k - 1];
        best[at] = i;
    }
    for (int k = 0; k < found; k++) {
        printf("%s%lld: %.6g", k ? "  " : "", (long long)best[k], xpu_element(tensor, row * count + best[k]));
    }
    putchar('\n');
}

static void print_range(const xpu_tensor *tensor) {
    double low = (double)INFINITY, high = -(double)INFINITY;
    int64_t nan = 0, count = xpu_tensor_count(tensor);
    for (int64_t i = 0; i < count; i++) {
        double x = xpu_element(tensor, i);
        nan += isnan(x) != 0;
        if (x < low) low = x;
        if (x > high) high = x;
    }
    if (count > nan) printf("  from %.6g to %.6g", low, high);
    if (nan) printf("  %lld NaN", (long long)nan);
    putchar('\n');
}

static void print_output(xpu_tool *tool, const xpurt_tensor *output) {
    char shape[192];
    xpu_tensor tensor = xpu_from_runtime(output);
    printf("%s  %s%s\n", xpu_escape(tool->arena, output->name, 200), output->dtype,
           xpu_dims_text(tensor.rank, tensor.dims, shape, sizeof shape));
    int64_t rows = tensor.rank == 2 ? tensor.dims[0] : 1, count = xpu_tensor_count(&tensor);
    if (tensor.rank < 1 || tensor.rank > 2 || count == 0) {
        print_range(&tensor);
        return;
    }
    int64_t shown = rows <= MAX_ROWS || tool->verbose ? rows : MAX_ROWS;
    for (int64_t row = 0; row < shown; row++) {
        if (tensor.rank == 2) printf("  %lld)", (long long)row);
        printf("  ");
        print_top(&tensor, row, count / rows);
    }
    if (shown < rows) printf("  and %lld more rows (-v shows them)\n", (long long)(rows - shown));
}

static void show_progress(void *context, uint32_t done, uint32_t layers, const char *layer) {
    (void)context;
    fprintf(stderr, "\r%u/%u %-40.40s", done, layers, layer);
}

static void clear_progress(const xpurt_run_options *run) {
    if (run->progress) fprintf(stderr, "\r%60s\r", "");
}

/* "8 layers, 1234567 instructions, 0.05 s" from the run's statistics. */
static const char *work_done(xpu_tool *tool, const xpurt_program *program) {
    const char *text = xpurt_stats(program);
    json_t *stats = text ? xpu_json_parse(tool->arena, text, strlen(text), "statistics", &tool->diags) : NULL;
    json_t *instructions = json_object_get(stats, "instructions");
    return xpu_printf(
        tool->arena, "%s%.3f s",
        instructions ? xpu_printf(tool->arena, "%lld instructions, ", (long long)json_integer_value(instructions)) : "",
        json_number_value(json_object_get(stats, "wall_s")));
}

/* ---- running ---- */

typedef struct {
    xpurt_program *program;
    xpurt_tensor *outputs;
} opened;

static void close_program(void *object) {
    opened *o = object;
    for (uint32_t i = 0; i < xpurt_output_count(o->program); i++) xpurt_tensor_clear(&o->outputs[i]);
    xpurt_close(o->program);
}

static int run_options(xpu_tool *tool, xpurt_run_options *run) {
    const char *device = xpu_tool_option(tool, "device");
    if (!device || strcmp(device, "func") == 0) {
        run->device = &xpu_func_driver;
    } else if (strcmp(device, "ref") != 0) {
        return xpu_tool_usage(
            tool, "option '--device'", "there is no such device",
            xpu_printf(tool->arena, "'%s' is not one of func, ref", xpu_escape(tool->arena, device, 80)),
            "func is the chip, ref is the reference on the host");
    }
    run->dump_folder = xpu_tool_option(tool, "dump-layers");
    run->dump_filter = xpu_tool_option(tool, "dump-filter");
    run->layer = xpu_tool_option(tool, "layer");
    run->from_dump = xpu_tool_option(tool, "from-dump");
    run->stats_file = xpu_tool_option(tool, "stats");
    if (run->dump_filter && !run->dump_folder) {
        return xpu_tool_usage(tool, "option '--dump-filter'", "nothing is dumped",
                              "the filter chooses among the layers of --dump-layers", "add --dump-layers=DIR");
    }
    if (run->from_dump && !run->layer) {
        return xpu_tool_usage(tool, "option '--from-dump'", "no layer is named",
                              "a dump gives the operands of one layer that runs alone", "add --layer=NAME");
    }
    if (!tool->quiet && isatty(STDERR_FILENO)) run->progress = show_progress;
    return XPU_OK;
}

static xpu_status write_outputs(xpu_tool *tool, const opened *o, const char *path) {
    uint32_t count = xpurt_output_count(o->program);
    xpu_named_tensor *tensors = XPU_NEW_ARRAY(tool->arena, xpu_named_tensor, count);
    for (uint32_t i = 0; i < count; i++) {
        tensors[i] = (xpu_named_tensor){o->outputs[i].name, xpu_from_runtime(&o->outputs[i])};
    }
    return xpu_npz_write(tool->arena, path, tensors, count, &tool->diags);
}

/* One layer alone: its output against the dump's. */
static int replay_result(xpu_tool *tool, const opened *o, const xpurt_run_options *run) {
    uint64_t differ = *run->layer_differs;
    if (!tool->quiet || differ) {
        const char *result =
            differ ? xpu_printf(tool->arena, "%llu elements differ from", (unsigned long long)differ) : "equal to";
        printf("layer '%s' on %s: %s %s; %s\n", xpu_escape(tool->arena, run->layer, 200),
               run->device ? run->device->name : "ref", result, run->from_dump, work_done(tool, o->program));
    }
    return differ ? XPU_EDIFF : XPU_OK;
}

static int run_result(xpu_tool *tool, const opened *o, const xpurt_run_options *run, const char *path) {
    const char *output = xpu_tool_option(tool, "output");
    if (output && write_outputs(tool, o, output) != XPU_OK) return XPU_EIO;
    if (tool->quiet) return XPU_OK;
    for (uint32_t i = 0; i < xpurt_output_count(o->program); i++) print_output(tool, &o->outputs[i]);
    printf("%s on %s: %s", xpu_path_name(path), run->device ? run->device->name : "ref", work_done(tool, o->program));
    const char *const written[] = {output, run->dump_folder, run->stats_file};
    const char *separator = " -> ";
    for (size_t i = 0; i < sizeof written / sizeof *written; i++) {
        if (!written[i]) continue;
        printf("%s%s", separator, written[i]);
        separator = ", ";
    }
    putchar('\n');
    return XPU_OK;
}

static int run_program(xpu_tool *tool, const char *path, const xpurt_run_options *run) {
    xpurt_error error = {0};
    opened *o = XPU_NEW(tool->arena, opened);
    o->program = xpurt_open(path, &error);
    xpu_tool_report(tool, error.status, error.text);
    int status = error.status;
    xpurt_error_clear(&error);
    if (!o->program) return status;
    uint32_t outputs = xpurt_output_count(o->program);
    o->outputs = XPU_NEW_ARRAY(tool->arena, xpurt_tensor, outputs ? outputs : 1);
    xpu_arena_defer(tool->arena, close_program, o);
    xpu_inputs inputs = {0};
    for (uint32_t i = 0; i < tool->arguments.count; i++) {
        const xpu_argument *a = &tool->arguments.items[i];
        if (!a->name || strcmp(a->name, "input") != 0) continue;
        xpu_status added = xpu_inputs_add(&inputs, o->program, a->value, tool->arena, &tool->diags);
        if (added != XPU_OK) status = (int)added;
    }
    if (status) return status;
    status = xpurt_run(o->program, inputs.items, inputs.count, o->outputs, run, &error);
    clear_progress(run);
    xpu_tool_report(tool, status, error.text);
    xpurt_error_clear(&error);
    if (status) return status;
    return run->layer ? replay_result(tool, o, run) : run_result(tool, o, run, path);
}

static int run(xpu_tool *tool) {
    uint64_t differ = 0;
    xpurt_run_options run_with = {.layer_differs = &differ};
    const char *path = xpu_tool_word(tool, 0);
    if (!path) {
        return xpu_tool_usage(tool, NULL, "there is no program to run", "the command line names no file",
                              "write xpu-run MODEL.xpu, or see xpu-run --help");
    }
    if (xpu_tool_words(tool) > 1) {
        return xpu_tool_usage(
            tool, xpu_printf(tool->arena, "'%s'", xpu_escape(tool->arena, xpu_tool_word(tool, 1), 200)),
            "there is more than one program", "xpu-run runs one program at a time", "inputs are given with --input");
    }
    int status = run_options(tool, &run_with);
    return status ? status : run_program(tool, path, &run_with);
}

int main(int argc, char **argv) {
    return xpu_tool_main(&command, argc, argv, run);
}
