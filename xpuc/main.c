/* xpuc: the compiler's command line. Everything happens in libxpuc. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/option.h"
#include "base/stop.h"
#include "base/temporary.h"
#include "xpuc/include/xpuc.h"

static const xpu_option options[] = {
    {"target", 0, "NAME[,NAME]", "what to compile for; of several each node goes to the first that takes it (xpu-sim)"},
    {"output", 'o', "FILE", "where the result goes (MODEL.xpu in this folder; texts: standard output)", XPU_WRITES},
    {"chip", 0, "NAME|FILE.json", "the chip (standard)"},
    {"precision", 0, "auto|fp32|int16|int16x8", "in which numbers layers compute (auto)"},
    {"precision-rules", 0, "FILE.json", "precisions of single layers", XPU_READS},
    {"memory", 0, "FILE.json", "placement rules for memory", XPU_READS},
    {"shape", 0, "INPUT=DIMS", "an input's dims: x=N,3,32..224:32,64; may be given for each input"},
    {"value", 0, "INPUT=NUMBERS", "what an input of integers holds: sr=16000, or a range k=1..9; for each such input"},
    {"bound", 0, "NAME=N", "a size that only the run knows is at most N: its symbol, or the tensor that says it"},
    {"state", 0, "OUTPUT=INPUT", "the output is that input of the session's next run; may be given for each input"},
    {"emit", 0, "xpu|c|ir", "the program, its generated C, or the lowered graph (xpu)"},
    {"dump-after", 0, "PASS", "print the graph behind this pass"},
    {"check-passes", 0, NULL, "run the graph on random input behind every pass and compare"},
    {"no-fuse", 0, NULL, "keep every tensor of the model: no biases, branches or activations behind a product"},
    {"explain", 0, "[json]", "print where each operator of the model runs, and why"},
    {"sort", 0, "cost", "--explain: layers, the dearest first, and what stands between those on the engine"},
    {"report", 0, "FILE.json", "write what was done, with times and sizes", XPU_WRITES},
    {"plugin", 0, "FILE.so", "add a target from a shared library"},
    {"strip", 0, NULL, "leave the graph out of the program (it then runs on the device only)"},
    {"clang-seconds", 0, "N", "how long clang and lld may take (600)"},
    {"params", 0, "FILE", "the parameters of a PaddlePaddle program (found beside it)", XPU_READS},
    {"describe", 0, "[graph|json]", "say what is in a model or program, instead of compiling"},
    {NULL, 0, NULL, NULL},
};

static const xpu_command command = {
    .tool = "xpuc",
    .usage = "MODEL [--target=NAME] [-o OUT.xpu] [options]",
    .about = "Compiles a neural network (an ONNX file or a PaddlePaddle model) into a program for an XPU-style NPU.",
    .example = "xpuc mnist-8.onnx --precision=fp32 -o mnist-8.xpu\n"
               "xpuc mnist-8.onnx --emit=ir\n"
               "xpuc mnist-8.onnx --explain --report=mnist-8.json",
    .options = options,
    .words = XPU_READS,
};

enum { MAX_SECONDS = 1000000 };

typedef struct {
    xpuc_options compile;
    const char *model, *output;
    const char *help_kind, *clang_seconds;
    int quiet, verbose, help, version;
    XPU_ARRAY(const char *) shapes;
    XPU_ARRAY(const char *) values;
    XPU_ARRAY(const char *) bounds;
    XPU_ARRAY(const char *) states;
} settings;

/* Options whose value goes straight into a member of xpuc_options. */
static const char **member_of(settings *s, const char *name) {
    const struct {
        const char *name;
        const char **member;
    } rows[] = {
        {"target", &s->compile.target},
        {"output", &s->output},
        {"chip", &s->compile.chip},
        {"precision", &s->compile.precision},
        {"precision-rules", &s->compile.precision_rules},
        {"memory", &s->compile.memory_rules},
        {"emit", &s->compile.emit},
        {"dump-after", &s->compile.dump_after},
        {"report", &s->compile.report},
        {"sort", &s->compile.sort},
        {"plugin", &s->compile.plugin},
        {"params", &s->compile.params},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (strcmp(rows[i].name, name) == 0) return rows[i].member;
    }
    return NULL;
}

static int *flag_of(settings *s, const char *name) {
    const struct {
        const char *name;
        int *flag;
    } rows[] = {
        {"check-passes", &s->compile.check_passes},
        {"no-fuse", &s->compile.no_fuse},
        {"strip", &s->compile.strip},
        {"quiet", &s->quiet},
        {"verbose", &s->verbose},
        {"version", &s->version},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (strcmp(rows[i].name, name) == 0) return rows[i].flag;
    }
    return NULL;
}

static void usage_error(xpu_arena *arena, const char *option, const char *what, const char *why, const char *hint,
                        xpu_diags *diags) {
    xpu_error(diags, XPU_EUSAGE, NULL, "usage", xpu_printf(arena, "option '--%s'", option), what, why, hint);
}

/* The same value twice does no harm; of two values none is dropped. */
static void set(xpu_arena *arena, const char **member, const xpu_argument *argument, const char *value,
                xpu_diags *diags) {
    if (*member && strcmp(*member, value) != 0) {
        usage_error(arena, argument->name, "the option is given twice",
                    xpu_printf(arena, "its values are '%s' and '%s'", xpu_escape(arena, *member, 200),
                               xpu_escape(arena, value, 200)),
                    "leave one of them out", diags);
    }
    *member = value;
}

static void read_seconds(xpu_arena *arena, settings *s, const xpu_argument *argument, xpu_diags *diags) {
    const char *text = argument->value;
    char *end;
    unsigned long seconds = strtoul(text, &end, 10);
    s->compile.clang_seconds = (unsigned)seconds;
    set(arena, &s->clang_seconds, argument, text, diags);
    if (end != text && !*end && text[0] != '-' && seconds >= 1 && seconds <= MAX_SECONDS) return;
    usage_error(arena, "clang-seconds", "this is no number of seconds", xpu_escape(arena, text, 80),
                "write a number from 1 to 1000000", diags);
}

static void read_argument(xpu_arena *arena, settings *s, const xpu_argument *argument, xpu_diags *diags) {
    if (!argument->name) {
        if (s->model) {
            xpu_error(diags, XPU_EUSAGE, NULL, "usage",
                      xpu_printf(arena, "'%s'", xpu_escape(arena, argument->value, 200)),
                      "there is more than one model", "xpuc compiles one model at a time", "see xpuc --help");
        }
        s->model = argument->value;
    } else if (strcmp(argument->name, "shape") == 0) {
        XPU_PUSH(arena, &s->shapes, argument->value);
    } else if (strcmp(argument->name, "state") == 0) {
        XPU_PUSH(arena, &s->states, argument->value);
    } else if (strcmp(argument->name, "value") == 0) {
        XPU_PUSH(arena, &s->values, argument->value);
    } else if (strcmp(argument->name, "bound") == 0) {
        XPU_PUSH(arena, &s->bounds, argument->value);
    } else if (strcmp(argument->name, "explain") == 0) {
        set(arena, &s->compile.explain, argument, argument->value ? argument->value : "text", diags);
    } else if (strcmp(argument->name, "describe") == 0) {
        set(arena, &s->compile.describe, argument, argument->value ? argument->value : "text", diags);
    } else if (strcmp(argument->name, "help") == 0) {
        s->help = 1;
        s->help_kind = argument->value;
    } else if (strcmp(argument->name, "clang-seconds") == 0) {
        read_seconds(arena, s, argument, diags);
    } else if (member_of(s, argument->name)) {
        set(arena, member_of(s, argument->name), argument, argument->value, diags);
    } else if (flag_of(s, argument->name)) {
        *flag_of(s, argument->name) = 1;
    }
}

static int is_text(const settings *s) {
    return s->compile.emit && (strcmp(s->compile.emit, "c") == 0 || strcmp(s->compile.emit, "ir") == 0);
}

/* What goes to standard output can be told apart: with C, a graph or JSON on it there is nothing else. */
static void check_outputs(xpu_arena *arena, const settings *s, xpu_diags *diags) {
    static const char both[] = "two texts would be mixed on standard output", write[] = "write the first to a file: -o";
    const char *explain = s->compile.explain, *dump = s->compile.dump_after;
    if (s->compile.describe) {
        if (!s->output) return;
        usage_error(arena, "output", "the option has no effect beside --describe",
                    "a description is printed, and nothing is compiled", "leave it out", diags);
    } else if (is_text(s) && !s->output && (explain || dump)) {
        usage_error(arena, "emit", both,
                    explain ? "--emit and --explain print one each" : "--emit and --dump-after print one each", write,
                    diags);
    } else if (explain && dump && strcmp(explain, "json") == 0) {
        usage_error(arena, "explain", both, "--explain=json and --dump-after print one each", "leave one of them out",
                    diags);
    }
}

static const char *value_of(const xpu_arguments *arguments, const char *name) {
    const char *value = NULL;
    for (uint32_t i = 0; i < arguments->count; i++) {
        const xpu_argument *a = &arguments->items[i];
        if (name ? a->name && strcmp(a->name, name) == 0 : !a->name) value = a->value ? a->value : "";
    }
    return value;
}

static int asks_for_text(const xpu_arguments *arguments) {
    return value_of(arguments, "help") || value_of(arguments, "version");
}

/* What is on standard output without a name clashes with "-", and a model without a name gives none to its program. */
static xpu_status check_streams(xpu_arena *arena, const xpu_arguments *arguments, xpu_diags *diags) {
    const char *model = value_of(arguments, NULL), *emit = value_of(arguments, "emit");
    const char *output = value_of(arguments, "output"), *report = value_of(arguments, "report");
    const char *explain = value_of(arguments, "explain");
    int text = emit && strcmp(emit, "xpu") != 0, describe = value_of(arguments, "describe") != NULL;
    int to_stdout = (output && strcmp(output, "-") == 0) || (report && strcmp(report, "-") == 0);
    size_t errors = diags->errors;
    if (model && strcmp(model, "-") == 0 && !output && !text && !describe)
        usage_error(arena, "output", "the program has no name", "the model comes from standard input",
                    "add -o OUT.xpu, or -o - for standard output", diags);
    if (to_stdout && ((text && !output) || (explain && strcmp(explain, "json") == 0)))
        usage_error(arena, output && strcmp(output, "-") == 0 ? "output" : "report",
                    "two outputs go to standard output", "what --emit and --explain=json make goes there without -o",
                    "give one of them a file", diags);
    return diags->errors == errors ? XPU_OK : XPU_EUSAGE;
}

static xpu_status read_arguments(xpu_arena *arena, int argc, char **argv, settings *s, xpu_diags *diags) {
    xpu_arguments arguments;
    xpu_options_parse(arena, &command, argc, argv, &arguments, diags);
    xpu_status status = diags->errors || asks_for_text(&arguments) ? XPU_OK : check_streams(arena, &arguments, diags);
    if (status == XPU_OK && !diags->errors && !asks_for_text(&arguments))
        xpu_standard_streams(arena, &command, &arguments, diags);
    for (uint32_t i = 0; i < arguments.count; i++) read_argument(arena, s, &arguments.items[i], diags);
    if (!s->help && !s->version && !s->model && !diags->errors) {
        xpu_error(diags, XPU_EUSAGE, NULL, "usage", NULL, "there is no model to compile",
                  "the command line names no file", "write xpuc MODEL.onnx, or see xpuc --help");
    }
    if (!s->help && !s->version) check_outputs(arena, s, diags);
    XPU_PUSH(arena, &s->shapes, NULL);
    s->compile.shapes = s->shapes.items;
    XPU_PUSH(arena, &s->values, NULL);
    s->compile.values = s->values.items;
    XPU_PUSH(arena, &s->bounds, NULL);
    s->compile.bounds = s->bounds.items;
    XPU_PUSH(arena, &s->states, NULL);
    if (s->states.count > 1) s->compile.states = s->states.items;
    return s->help || s->version ? XPU_OK : xpu_diags_status(diags);
}

/* The last line says what was done and where the result is; beside a text on standard output it goes to stderr. */
static void print_result(const settings *s, const xpuc_result *result) {
    if (s->verbose && result->log) fputs(result->log, stderr);
    if (result->dump) fputs(result->dump, stdout);
    if (result->explanation) fputs(result->explanation, stdout);
    if (result->bytes) fwrite(result->bytes, 1, result->size, stdout);
    if (s->quiet || !result->summary) return;
    int is_data = result->bytes || (s->compile.explain && strcmp(s->compile.explain, "json") == 0);
    fflush(stdout);
    fprintf(is_data ? stderr : stdout, "%s\n", result->summary);
}

static int run(xpu_arena *arena, settings *s) {
    xpuc_result result;
    xpuc_error error;
    s->compile.group_messages = !s->verbose;
    xpuc_options compile = s->compile;
    compile.stop = xpu_stop_requested;
    xpu_stop_begin();
    if (s->compile.describe) {
        xpuc_describe(s->model, &compile, &result, &error);
    } else if (s->output || !is_text(s)) {
        xpuc_compile_to_file(s->model, s->output, &compile, &result, &error);
    } else {
        xpuc_compile_file(s->model, &compile, &result, &error);
    }
    xpu_stop_end();
    if (error.text && (error.status || !s->quiet)) fputs(xpu_standard_shown(arena, error.text), stderr);
    if (!error.text && error.status) fputs("xpuc: error [out-of-memory] there is not enough memory\n", stderr);
    print_result(s, &result);
    int status = xpu_stop_exit_code(error.status);
    xpuc_result_clear(&result);
    xpuc_error_clear(&error);
    return status;
}

int main(int argc, char **argv) {
    xpu_mem mem;
    xpu_diags diags;
    xpu_mem_init(&mem);
    xpu_diags_init(&diags);
    static void (*const ends[])(void) = {xpuc_end_temporaries, xpu_temporaries_end, NULL};
    signal(SIGXFSZ, SIG_IGN); /* a file that may not grow is an error of the write */
    xpu_stop_install("xpuc", ends);
    if (setjmp(mem.out_of_memory)) {
        xpu_mem_release(&mem);
        fputs("xpuc: error [out-of-memory] there is not enough memory\n", stderr);
        return XPU_EIO;
    }
    xpu_arena *arena = xpu_arena_new(&mem, "command line");
    settings *s = XPU_NEW(arena, settings);
    int status = (int)read_arguments(arena, argc, argv, s, &diags);
    if (s->help) {
        xpu_diags_clear(&diags);
        const char *text = xpu_options_text(arena, &command, s->help_kind, xpuc_version(), &diags);
        if (text) fputs(text, stdout);
        if (!text) status = XPU_EUSAGE;
    } else if (s->version) {
        printf("xpuc %s\n", xpuc_version());
    } else if (!status) {
        status = run(arena, s);
    }
    if (!status) status = (int)xpu_flush_stdout(&diags);
    xpu_standard_rename(&diags);
    xpu_diags_print(&diags, stderr);
    xpu_diags_clear(&diags);
    xpu_mem_release(&mem);
    return status;
}
