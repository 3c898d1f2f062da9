/* xpu-run: runs a compiled program, or a bare one, on a device. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/json.h"
#include "base/npy.h"
#include "base/stop.h"
#include "sim/func/driver.h"
#include "tools/common/bare.h"
#include "tools/common/device.h"
#include "tools/common/dump.h"
#include "tools/common/frames.h"
#include "tools/common/inputs.h"
#include "tools/common/instructions.h"
#include "tools/common/picture.h"
#include "tools/common/profile.h"
#include "tools/common/replay.h"
#include "tools/common/run_rules.h"
#include "tools/common/settings.h"
#include "tools/common/tool.h"

static const xpu_option options[] = {
    {"input", 'i', "FILE|NAME=FILE", "an input from a .npy or .npz file; may be given for each input", XPU_READS},
    XPU_PICTURE_OPTIONS,
    {"output", 'o', "FILE.npz", "write the outputs there", XPU_WRITES},
    {"frames", 0, "INPUT=SIZE:HOP[:AXIS]",
     "feed the input frame by frame through one session, whose states stay; the outputs are stacked"},
    {"device", 'd', "rtl|func|ref", "the Verilated chip, the functional one, or the reference on the host (rtl)"},
    {"dump-layers", 0, "DIR", "write the output of every layer there"},
    {"dump-filter", 0, "GLOB", "dump only layers whose name matches"},
    {"dump-iterations", 0, "A..B",
     "in loops: dump only iterations A to B of each, from 0 on; 2,0..3: of loops in loops"},
    {"layer", 0, "GLOB",
     "run each layer of this name alone, with its operands from --from-dump, and compare its output"},
    {"iteration", 0, "I,J",
     "in loops: in which iteration --layer runs it (the dump's first); --profile, --stats: show these, too (0..3; "
     "2,0..3)"},
    {"from-dump", 0, "DIR", "the dump that --layer takes its operands from"},
    {"heatmap", 0, "FILE.png", "--layer: a picture of the first result that differs", XPU_WRITES},
    {"stats", 0, "FILE.json", "write what the run took", XPU_WRITES},
    {"check-races", 0, NULL, "func: report accesses that no counter, doorbell or barrier orders (slow)"},
    {"gdb", 0, "PORT", "func: wait for gdb on this port of localhost, and obey it"},
    {"profile", 0, NULL, "rtl: print each layer's cycles, and where they went"},
    {"trace", 0, "FILE.json", "rtl: write what every engine and core did when, for Perfetto or chrome://tracing",
     XPU_WRITES},
    {"wave", 0, "LAYER:FILE.fst", "rtl: write the waveform of one layer", XPU_SEEKS},
    {"lockstep", 0, NULL, "rtl: compare every instruction and descriptor with the functional chip"},
    {"max-cycles", 0, "N",
     "give up after so many cycles (func: instructions, and what descriptors need; ref: element operations)"},
    {"set", 0, "KEY=VALUE",
     "rtl: run with this value of the chip's gm.bytes_per_cycle, gm.latency, gm.outstanding, l3.bytes_per_cycle or "
     "l3.latency; may be given for each"},
    {"seed", 0, "N", "register SEED at the start: another legal timing (func: schedule)"},
    {"no-skip", 0, NULL, "rtl: simulate cycles in which nothing happens one by one, too"},
    {"instructions", 0, "[LAYER]",
     "rtl: print every instruction that retires, or those of layers of this name (a glob)"},
    {"core", 0, "N", "--instructions: those of this core only"},
    {"bare", 0, NULL, "the program is an ELF file that brings its own start-up code"},
    {"chip", 0, "NAME", "bare: a chip of configs/chip, or FILE.json (standard)"},
    {"dump-mem", 0, "SYMBOL:BYTES:FILE", "bare: write memory to a file after the run; SYMBOL may be an address",
     XPU_WRITES},
    {NULL, 0, NULL, NULL},
};

static const xpu_command command = {
    .tool = "xpu-run",
    .usage = "MODEL.xpu [--input FILE|NAME=FILE]... [options] | --bare PROGRAM.elf [options]",
    .about = "Runs a program that xpuc made and prints its outputs. With --bare the exit status is what the program\n"
             "writes to register EXIT, 124 when it makes no progress or reaches --max-cycles, 125 after a fault.",
    .example =
        "xpu-run mnist-8.xpu --input 9.npy\n"
        "xpu-run mnist-8.xpu --input Input3=9.npy --device=ref --dump-layers=dump --output=out.npz\n"
        "xpu-run mobilenet.xpu --image=cat.bmp --mean=0.485,0.456,0.406 --std=0.229,0.224,0.225 --labels=names.txt\n"
        "xpu-run mnist-8.xpu --layer='ReLU*' --from-dump=dump\n"
        "xpu-run mnist-8.xpu --input 9.npy --device=rtl --profile --trace=trace.json\n"
        "xpu-run --bare test.elf --chip=nano --max-cycles=1000000 --dump-mem=results:256:results.bin",
    .options = options,
    .words = XPU_READS,
};

/* ---- printing ---- */

enum { MAX_ROWS = 16 };

/* The largest elements of a row of `count`, best first. */
static void print_top(xpu_tool *tool, const xpu_presentation *p, const xpu_tensor *tensor, int64_t row, int64_t count) {
    int64_t *best = XPU_NEW_ARRAY(tool->arena, int64_t, p->top), nan = 0;
    int found = 0;
    for (int64_t i = 0; i < count; i++) {
        double x = xpu_element(tensor, row * count + i);
        nan += isnan(x) != 0;
        if (isnan(x)) continue;
        int at = found;
        while (at > 0 && x > xpu_element(tensor, row * count + best[at - 1])) at--;
        if (at == p->top) continue;
        if (found < p->top) found++;
        for (int k = found - 1; k > at; k--) best[k] = best[k - 1];
        best[at] = i;
    }
    for (int k = 0; k < found; k++) {
        double value = xpu_element(tensor, row * count + best[k]);
        int64_t line = best[k] + (p->label_count == count + 1); /* one line more: the first is the background's */
        if (line < p->label_count) {
            printf("%s%s: %.6g", k ? "  " : "", p->labels[line], value);
        } else {
            printf("%s%lld: %.6g", k ? "  " : "", (long long)best[k], value);
        }
    }
    if (nan) printf("%s%lld NaN", found ? "  " : "", (long long)nan);
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

/* Its index along each axis but the last. */
static void print_row_number(const xpu_tensor *tensor, int64_t row) {
    int64_t below = 1;
    for (int axis = 1; axis < tensor->rank - 1; axis++) below *= tensor->dims[axis];
    for (int axis = 0; axis < tensor->rank - 1; axis++) {
        printf("%s%lld", axis ? "," : "  ", (long long)(row / below));
        row %= below;
        if (axis + 2 < tensor->rank) below /= tensor->dims[axis + 1];
    }
    printf("%s  ", tensor->rank > 1 ? ")" : "");
}

static void print_output(xpu_tool *tool, const xpu_presentation *p, const xpurt_tensor *output) {
    char shape[192];
    xpu_tensor tensor = xpu_from_runtime(output);
    printf("%s  %s%s\n", xpu_escape(tool->arena, output->name, 200), output->dtype,
           xpu_dims_text(tensor.rank, tensor.dims, shape, sizeof shape));
    int64_t rows = 1, count = xpu_tensor_count(&tensor);
    if (tensor.rank < 1 || (tensor.rank > 2 && !p->asked) || count == 0) {
        print_range(&tensor);
        return;
    }
    for (int axis = 0; axis < tensor.rank - 1; axis++) rows *= tensor.dims[axis];
    int64_t shown = rows <= MAX_ROWS || tool->verbose ? rows : MAX_ROWS;
    for (int64_t row = 0; row < shown; row++) {
        print_row_number(&tensor, row);
        print_top(tool, p, &tensor, row, count / rows);
    }
    if (shown < rows) printf("  and %lld more rows (-v shows them)\n", (long long)(rows - shown));
}

/* What the line on the terminal says. */
typedef struct {
    uint32_t done, layers;
    char layer[41]; /* the last that was complete, escaped */
    uint64_t cycles;
    double started, shown;
    int is_shown;
    int64_t frame, frames; /* frames 0: it is one run */
    xpu_tool *tool;
} progress;

static void show(progress *p) {
    double now = xpu_seconds();
    p->shown = now;
    p->is_shown = 1;
    fputc('\r', stderr);
    if (p->frames) fprintf(stderr, "frame %lld/%lld  ", (long long)p->frame + 1, (long long)p->frames);
    if (p->layers)
        fprintf(stderr, "%u/%u %-40s", p->done, p->layers, p->layer);
    else
        fprintf(stderr, "the first layer"); /* how many there are is known when it is complete */
    if (p->cycles && now > p->started)
        fprintf(stderr, " %llu cycles, %.1f kHz  ", (unsigned long long)p->cycles,
                (double)p->cycles / (now - p->started) / 1000);
}

static void on_layer(void *context, uint32_t done, uint32_t layers, const char *layer) {
    progress *p = context;
    p->done = done;
    p->layers = layers;
    xpu_arena *scratch = xpu_arena_new(&p->tool->mem, "progress");
    snprintf(p->layer, sizeof p->layer, "%s", xpu_escape(scratch, layer, sizeof p->layer - 1));
    xpu_arena_free(scratch);
    show(p);
}

static void on_tick(void *context, uint64_t cycles) {
    progress *p = context;
    p->cycles = cycles;
    if (xpu_seconds() - p->shown > 0.2) show(p);
}

static void on_frame(void *context, int64_t frame, int64_t frames) {
    progress *p = context;
    p->frame = frame;
    p->frames = frames;
}

static void clear_progress(const xpurt_run_options *run) {
    if (run->progress && ((const progress *)run->context)->is_shown) fprintf(stderr, "\r%100s\r", "");
}

/* "1234567 instructions, 2345678 cycles, 0.05 s" from the run's statistics. */
static const char *work_done(xpu_tool *tool, const char *text) {
    json_t *stats = text ? xpu_json_parse(tool->arena, text, strlen(text), "statistics", &tool->diags) : NULL;
    long long instructions = json_integer_value(json_object_get(stats, "instructions"));
    long long cycles = json_integer_value(json_object_get(stats, "cycles"));
    double speed = json_number_value(json_object_get(stats, "cycles_per_s"));
    xpu_text line;
    xpu_text_init(&line, tool->arena);
    if (instructions) xpu_text_add(&line, "%lld instructions, ", instructions);
    if (cycles) xpu_text_add(&line, "%lld cycles at %.1f kHz, ", cycles, speed / 1000);
    xpu_text_add(&line, "%.3f s", json_number_value(json_object_get(stats, "wall_s")));
    return line.text;
}

/* ---- running ---- */

typedef struct {
    xpurt_program *program;
    xpurt_tensor *outputs;
    char *stats; /* of the run */
} opened;

static void close_program(void *object) {
    opened *o = object;
    for (uint32_t i = 0; i < xpurt_output_count(o->program); i++) xpurt_tensor_clear(&o->outputs[i]);
    free(o->stats);
    xpurt_close(o->program);
}

/* Options that the functional chip alone has. */
static int func_options(xpu_tool *tool) {
    const char *port = xpu_tool_option(tool, "gdb");
    xpu_func_options func = {.check_races = xpu_tool_flag(tool, "check-races")};
    if (port) {
        char *end;
        unsigned long number = strtoul(port, &end, 10);
        if (*end || end == port || number < 1 || number > 65535)
            return xpu_tool_usage(tool, "option '--gdb'", "this is no port", xpu_escape(tool->arena, port, 80),
                                  "write a number from 1024 to 65535");
        func.gdb_port = (unsigned)number;
        if (!tool->quiet) fprintf(stderr, "gdb: target remote localhost:%u\n", func.gdb_port);
    }
    xpu_func_configure(&func);
    return XPU_OK;
}

/* The files that are read: values of --input and --image may have a name before them. */
static const char *const *files_read(xpu_tool *tool) {
    static const char *const names[] = {"input", "image", "labels", "from-dump"};
    XPU_ARRAY(const char *) paths = {0};
    for (uint32_t i = 0; i < tool->arguments.count; i++) {
        const xpu_argument *a = &tool->arguments.items[i];
        int reads = a->name == NULL;
        for (size_t k = 0; a->name && k < sizeof names / sizeof *names; k++) reads |= strcmp(a->name, names[k]) == 0;
        if (!reads) continue;
        XPU_PUSH(tool->arena, &paths, a->value);
        const char *equals = strchr(a->value, '=');
        if (a->name && equals) XPU_PUSH(tool->arena, &paths, equals + 1);
    }
    XPU_PUSH(tool->arena, &paths, NULL);
    return paths.items;
}

static int run_options(xpu_tool *tool, const xpu_device_options *device, xpurt_run_options *run) {
    run->dump_folder = xpu_tool_option(tool, "dump-layers");
    run->dump_filter = xpu_tool_option(tool, "dump-filter");
    run->dump_iterations = xpu_tool_option(tool, "dump-iterations");
    run->layer = xpu_tool_option(tool, "layer");
    *(run->layer ? &run->layer_iteration : &run->stats_iterations) = xpu_tool_option(tool, "iteration");
    run->from_dump = xpu_tool_option(tool, "from-dump");
    run->stats_file = xpu_tool_option(tool, "stats");
    run->trace_file = xpu_tool_option(tool, "trace");
    run->keep = files_read(tool);
    run->seed = device->rtl.seed;
    run->stop = xpu_stop_requested;
    run->max_instructions = device->rtl.max_cycles;
    if (device->has_time && device->rtl.max_cycles) run->max_instructions = UINT64_MAX; /* it counts cycles */
    int busy = xpu_tool_flag(tool, "instructions"); /* they would stand in the line */
    if (tool->quiet || busy || !isatty(STDERR_FILENO)) return XPU_OK;
    progress *p = XPU_NEW(tool->arena, progress);
    p->tool = tool;
    p->started = xpu_seconds();
    run->context = p;
    run->progress = on_layer;
    run->tick = on_tick;
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

static void after_layer(xpu_tool *tool, const xpurt_program *program, const xpurt_run_options *run) {
    (void)tool;
    (void)program;
    clear_progress(run);
}

static int run_result(xpu_tool *tool, const opened *o, const xpurt_run_options *run, const char *path) {
    const char *output = xpu_tool_option(tool, "output");
    xpu_presentation presentation;
    if (xpu_presentation_read(tool, &presentation) != XPU_OK) return XPU_EUSAGE;
    if (output && write_outputs(tool, o, output) != XPU_OK) return XPU_EIO;
    for (uint32_t i = 0; i < xpurt_output_count(o->program) && !tool->quiet; i++)
        print_output(tool, &presentation, &o->outputs[i]);
    if (xpu_tool_flag(tool, "profile")) xpu_profile_print(tool, o->stats);
    if (tool->quiet) return XPU_OK;
    printf("%s on %s: %s", xpu_tool_path(tool, xpu_path_name(path)), run->device ? run->device->name : "ref",
           work_done(tool, o->stats));
    const char *const written[] = {output, run->dump_folder, run->stats_file, run->trace_file};
    const char *separator = " -> ";
    for (size_t i = 0; i < sizeof written / sizeof *written; i++) {
        if (!written[i]) continue;
        printf("%s%s", separator, xpu_tool_path(tool, written[i]));
        separator = ", ";
    }
    putchar('\n');
    return XPU_OK;
}

/* --wave=LAYER:FILE: the number of the layer; the name may hold colons, the file not. */
static int wave_options(xpu_tool *tool, xpurt_program *program, xpurt_rtl_options *rtl) {
    const char *wave = xpu_tool_option(tool, "wave"), *colon = wave ? strrchr(wave, ':') : NULL;
    if (!wave) return XPU_OK;
    if (!colon || !colon[1] || colon == wave)
        return xpu_tool_usage(tool, "option '--wave'", "this is no layer and file", xpu_escape(tool->arena, wave, 200),
                              "write --wave=LAYER:FILE.fst");
    const char *name = xpu_strndup(tool->arena, wave, (size_t)(colon - wave));
    xpurt_error error = {0};
    int64_t layer = xpurt_find_layer(program, name, 0, 0, &error);
    int status = layer < 0 ? xpu_tool_report(tool, error.status, error.text) : XPU_OK;
    xpurt_error_clear(&error);
    if (status) return status;
    const char *found = xpu_escape(tool->arena, xpurt_layer_name(program, (uint32_t)layer), 80);
    int64_t next = xpurt_find_layer(program, name, (uint32_t)layer + 1, 0, NULL);
    if (next >= 0)
        return xpu_tool_usage(tool, "option '--wave'", "more than one layer matches",
                              xpu_printf(tool->arena, "'%s' and '%s' do", found,
                                         xpu_escape(tool->arena, xpurt_layer_name(program, (uint32_t)next), 80)),
                              "a waveform is of one layer: name it");
    const char *alone = xpu_tool_option(tool, "layer");
    if (alone && layer != xpurt_find_layer(program, alone, 0, 1, NULL))
        return xpu_tool_usage(tool, "option '--wave'", "this layer does not run",
                              xpu_printf(tool->arena, "--layer runs another one than '%s' alone", found),
                              "name the same layer, or leave --layer out");
    rtl->wave_file = colon + 1;
    rtl->wave_layer = alone ? (uint16_t)layer : (uint32_t)layer; /* alone the chip sees its tag only */
    return XPU_OK;
}

/* The driver of the device, for the program's chip. */
static int open_device(xpu_tool *tool, const opened *o, xpu_device_options *device, xpurt_run_options *run) {
    xpu_chip chip;
    const char *json = xpurt_chip_json(o->program);
    if (device->is_ref) return XPU_OK;
    int status = wave_options(tool, o->program, &device->rtl);
    if (status) return status;
    status = (int)xpu_chip_parse(tool->arena, json, strlen(json), "chip", &chip, &tool->diags);
    if (!status) status = xpu_settings_of_run(tool, &chip);
    if (!status) status = xpu_instructions_configure(tool, o->program, &chip, device);
    if (status) return status;
    if (xpu_tool_option(tool, "set")) run->chip_json = xpu_chip_json(tool->arena, &chip);
    return xpu_device_open(tool, device, &chip, &run->device);
}

static int read_inputs(xpu_tool *tool, const opened *o, xpu_inputs *inputs) {
    int status = XPU_OK;
    for (uint32_t i = 0; i < tool->arguments.count; i++) {
        const xpu_argument *a = &tool->arguments.items[i];
        if (!a->name || strcmp(a->name, "input") != 0) continue;
        xpu_status added = xpu_inputs_add(inputs, o->program, a->value, tool->arena, &tool->diags);
        if (added != XPU_OK) status = (int)added;
    }
    return status ? status : (int)xpu_picture_inputs(tool, o->program, inputs);
}

/* Data is read when the headers have been found to fit. */
static int load_inputs(xpu_tool *tool, const opened *o, xpu_inputs *inputs, const xpurt_run_options *run) {
    xpurt_error error = {0};
    int status = XPU_OK;
    if (!run->layer) status = xpurt_check_inputs(o->program, inputs->items, inputs->count, &error);
    xpu_tool_report(tool, status, error.text);
    xpurt_error_clear(&error);
    return status ? status : (int)xpu_inputs_load(inputs, tool->arena, &tool->diags);
}

static int run_program(xpu_tool *tool, const char *path, xpu_device_options *device, xpurt_run_options *run) {
    xpurt_error error = {0};
    xpu_inputs inputs = {0};
    opened *o = XPU_NEW(tool->arena, opened);
    o->program = xpurt_open(path, &error);
    xpu_tool_report(tool, error.status, error.text);
    int status = error.status;
    xpurt_error_clear(&error);
    if (!o->program) return status;
    uint32_t outputs = xpurt_output_count(o->program);
    o->outputs = XPU_NEW_ARRAY(tool->arena, xpurt_tensor, outputs ? outputs : 1);
    xpu_arena_defer(tool->arena, close_program, o);
    const char *output = xpu_tool_option(tool, "output");
    uint32_t layers = 0;
    xpu_frames frames = {.count = 0};
    if (run->layer) status = xpu_replay_layers(tool, o->program, &layers);
    if (!status && layers > 1) status = xpu_run_check_rules(tool, device->device, 1);
    if (!status && output) status = (int)xpu_output_check(tool->arena, output, &tool->diags);
    if (!status) status = read_inputs(tool, o, &inputs);
    if (!status && xpu_tool_option(tool, "frames")) status = xpu_frames_read(tool, &inputs, &frames);
    if (!status) status = load_inputs(tool, o, &inputs, run);
    if (!status) status = open_device(tool, o, device, run);
    if (status) return status;
    const xpu_replays replays = {o->program, o->outputs, layers, device->device, work_done, after_layer};
    xpu_stop_begin();
    if (run->layer) {
        status = xpu_replay_run(tool, &replays, run);
        xpu_stop_end();
        return status;
    }
    run->stats = &o->stats;
    if (frames.count) {
        if (run->progress) frames.begin = on_frame, frames.context = run->context;
        status = xpu_frames_run(tool, o->program, &inputs, &frames, run, o->outputs, &o->stats);
        clear_progress(run);
        xpu_stop_end();
        return status ? status : run_result(tool, o, run, path);
    }
    status = xpurt_run(o->program, inputs.items, inputs.count, o->outputs, run, &error);
    clear_progress(run);
    xpu_tool_report(tool, status, error.text);
    xpurt_error_clear(&error);
    if (status && xpu_tool_flag(tool, "profile")) xpu_profile_print(tool, o->stats);
    xpu_stop_end();
    return status ? status : run_result(tool, o, run, path);
}

/* Outputs that would overwrite each other, or what is read. */
static int check_outputs(xpu_tool *tool) {
    static const char *const names[] = {"output", "dump-layers", "stats", "trace", "heatmap"};
    XPU_ARRAY(xpu_tool_output) outputs = {0};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const xpu_tool_output output = {names[i], xpu_tool_option(tool, names[i])};
        XPU_PUSH(tool->arena, &outputs, output);
    }
    const char *wave = xpu_tool_option(tool, "wave"), *colon = wave ? strrchr(wave, ':') : NULL;
    const xpu_tool_output waveform = {"wave", colon ? colon + 1 : NULL};
    XPU_PUSH(tool->arena, &outputs, waveform);
    for (uint32_t i = 0; i < tool->arguments.count; i++) {
        const xpu_argument *a = &tool->arguments.items[i];
        if (!a->name || strcmp(a->name, "dump-mem") != 0) continue;
        const char *first = strchr(a->value, ':'), *second = first ? strchr(first + 1, ':') : NULL;
        const xpu_tool_output memory = {"dump-mem", second ? second + 1 : NULL};
        XPU_PUSH(tool->arena, &outputs, memory);
    }
    return xpu_tool_check_outputs(tool, outputs.items, outputs.count, files_read(tool));
}

static int run(xpu_tool *tool) {
    xpurt_run_options run_with = {0};
    xpu_device_options device;
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
    int status = xpu_device_options_read(tool, &device);
    if (!status) status = xpu_run_check_rules(tool, device.device, 0);
    if (!status) status = check_outputs(tool);
    if (!status) status = func_options(tool);
    if (!status && xpu_tool_flag(tool, "bare")) return xpu_bare_run(tool);
    if (!status) status = run_options(tool, &device, &run_with);
    return status ? status : run_program(tool, path, &device, &run_with);
}

int main(int argc, char **argv) {
    return xpu_tool_main(&command, argc, argv, run);
}
