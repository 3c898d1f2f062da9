/* xpu-validate: are two models the same network? Everything happens in libxpuc; devices are libxpurt's. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/npy.h"
#include "base/stop.h"
#include "tools/common/validate_device.h"
#include "xpuc/include/xpuc_validate.h"

static const xpu_option options[] = {
    {"input", 'i', "FILE|NAME=FILE", "an input from a .npy or .npz file; may be given for each input (drawn)",
     XPU_READS},
    {"shape", 0, "INPUT=DIMS", "an input's dims: x=1,3,64..256:32,W; may be given for each input"},
    {"value", 0, "INPUT=NUMBERS", "what an input of integers holds: sr=16000, or a range k=1..9; for each such input"},
    {"bound", 0, "NAME=N", "a size that only the run knows is at most N: its symbol, or the tensor that says it"},
    {"range", 0, "INPUT=MIN..MAX", "between what elements of an input are drawn; may be given for each input"},
    {"samples", 0, "N", "how often inputs and open dims are drawn (2; 1 where all inputs are given)"},
    {"seed", 0, "N", "what is drawn (0)"},
    {"expect", 0, "FILE.npz", "outputs that both models must have; with one model it alone", XPU_READS},
    {"tolerance", 't', "R", "elements are equal when |a - b| <= R * max|a| (1e-4)"},
    {"params-a", 0, "FILE", "the parameters of A, a PaddlePaddle program (found beside it)", XPU_READS},
    {"params-b", 0, "FILE", "the parameters of B, a PaddlePaddle program (found beside it)", XPU_READS},
    {"device", 'd', "ref|func|rtl", "where both run: func and rtl besides ref, which finds the operator (ref)"},
    {"chip", 0, "NAME|FILE.json", "--device: the chip that both are compiled for (standard)"},
    {"precision", 0, "auto|fp32|int16|int16x8", "--device: in which numbers layers compute there (fp32)"},
    {"json", 0, NULL, "print what was found as JSON"},
    {NULL, 0, NULL, NULL},
};

static const xpu_command command = {
    .tool = "xpu-validate",
    .usage = "A B [options] | A --expect=FILE.npz --input FILE [options]",
    .about = "Runs two models on the same inputs and compares their outputs and inner tensors: ONNX, PaddlePaddle or\n"
             ".xpu. Where they differ it names the first operator that makes a difference, and the exit code is 4.",
    .example = "xpu-validate inference.pdmodel exported.onnx\n"
               "xpu-validate a.onnx b.onnx --shape x=1,3,64..256:32,96 --samples=5\n"
               "xpu-validate model.onnx --input x.npy --expect=outputs.npz",
    .options = options,
    .words = XPU_READS,
};

/* ---- the command line ---- */

static int bad_number(xpu_tool *tool, const char *option, const char *text, const char *hint) {
    return xpu_tool_usage(tool, xpu_printf(tool->arena, "option '--%s'", option), "this is no such number",
                          xpu_escape(tool->arena, text, 80), hint);
}

static int read_count(xpu_tool *tool, const char *option, uint64_t least, uint64_t most, uint64_t *value) {
    const char *text = xpu_tool_option(tool, option);
    char *end;
    if (!text) return XPU_OK;
    unsigned long long number = strtoull(text, &end, 10);
    if (*end || end == text || text[0] < '0' || text[0] > '9' || number < least || number > most)
        return bad_number(tool, option, text,
                          xpu_printf(tool->arena, "write a whole number from %llu to %llu", (unsigned long long)least,
                                     (unsigned long long)most));
    *value = number;
    return XPU_OK;
}

static int read_tolerance(xpu_tool *tool, double *tolerance) {
    const char *text = xpu_tool_option(tool, "tolerance");
    char *end;
    if (!text) return XPU_OK;
    *tolerance = strtod(text, &end);
    if (*end || end == text || !isfinite(*tolerance) || *tolerance <= 0)
        return bad_number(tool, "tolerance", text, "write a number larger than 0, for example 1e-3");
    return XPU_OK;
}

/* ---- files ---- */

typedef struct {
    xpuc_tensor *items;
    uint32_t count, capacity;
} tensors; /* an XPU_ARRAY */

static void add(xpu_tool *tool, tensors *to, const char *name, const xpu_tensor *from) {
    xpuc_tensor tensor = {.name = name, .dtype = xpu_dtype_name(from->dtype), .rank = from->rank, .data = from->data};
    memcpy(tensor.dims, from->dims, sizeof tensor.dims);
    XPU_PUSH(tool->arena, to, tensor);
}

static const char *entries_text(xpu_tool *tool, const xpu_named_tensors *found) {
    xpu_text text;
    xpu_text_init(&text, tool->arena);
    for (uint32_t i = 0; i < found->count && i < 12; i++)
        xpu_text_add(&text, "%s'%s'", i ? ", " : "it has ", xpu_escape(tool->arena, found->items[i].name, 80));
    return found->count ? text.text : "it has none";
}

/* A .npy file without a name is for the input at its position, entries of an archive are for those of their names. */
static int read_input(xpu_tool *tool, const char *spec, tensors *to) {
    const char *equals = strchr(spec, '='), *name = NULL;
    xpu_named_tensors found = {0};
    if (equals && !xpu_file_exists(spec)) {
        name = xpu_strndup(tool->arena, spec, (size_t)(equals - spec));
        spec = equals + 1;
    }
    xpu_status status = xpu_npz_read(tool->arena, spec, &found, &tool->diags);
    const uint32_t before = to->count;
    for (uint32_t i = 0; status == XPU_OK && i < found.count; i++) {
        const char *own = found.items[i].name;
        if (name && found.count > 1 && strcmp(own, name) != 0) continue;
        add(tool, to, name ? name : own[0] ? own : NULL, &found.items[i].tensor);
    }
    if (status != XPU_OK || !name || to->count > before) return (int)status;
    return (int)xpu_error(&tool->diags, XPU_EUSAGE, spec, "input-file",
                          xpu_printf(tool->arena, "input '%s'", xpu_escape(tool->arena, name, 80)),
                          "the archive has no such entry", entries_text(tool, &found),
                          "name one of these, or give the whole archive: --input FILE.npz");
}

static int read_files(xpu_tool *tool, tensors *inputs, tensors *expected) {
    const char *const *files = xpu_tool_options(tool, "input");
    const char *expect = xpu_tool_option(tool, "expect");
    int status = XPU_OK;
    for (uint32_t i = 0; !status && files[i]; i++) status = read_input(tool, files[i], inputs);
    if (status || !expect) return status;
    status = read_input(tool, expect, expected);
    if (status || expected->count) return status;
    return xpu_tool_usage(tool, "option '--expect'", "the file has no tensors", xpu_escape(tool->arena, expect, 200),
                          "give outputs under their names");
}

/* ---- running ---- */

typedef struct {
    int is_shown;
    xpu_validate_device device;
} running;

static void show(void *context, const char *doing) {
    running *r = context;
    r->is_shown = 1;
    fprintf(stderr, "\r%-40s", doing);
}

static int run_on_device(void *context, xpuc_device_run *run, char **text) {
    const running *r = context;
    return xpu_validate_device_run(&r->device, run, text);
}

/* ref is the default here, as it needs no compilation. */
static int read_device(xpu_tool *tool, running *r, xpuc_validate_options *with) {
    const char *device = xpu_tool_option(tool, "device");
    static const char *const others[] = {"chip", "precision"};
    r->device.tool = tool;
    int status = device ? xpu_device_options_read(tool, &r->device.device) : XPU_OK;
    if (status) return status;
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        if (!xpu_tool_option(tool, others[i]) || (device && !r->device.device.is_ref)) continue;
        return xpu_tool_usage(tool, xpu_printf(tool->arena, "option '--%s'", others[i]),
                              "the option has no effect on ref", "nothing is compiled for a chip",
                              "give --device=func or --device=rtl");
    }
    if (!device || r->device.device.is_ref) return XPU_OK;
    if (!xpu_tool_word(tool, 1))
        return xpu_tool_usage(tool, "option '--device'", "there is one model",
                              "on a device two models are compared with each other", "name a second one");
    with->chip = xpu_tool_option(tool, "chip");
    with->precision = xpu_tool_option(tool, "precision");
    with->device = run_on_device;
    with->device_name = device;
    return XPU_OK;
}

static int stop(void *context) {
    (void)context;
    return xpu_stop_requested(NULL);
}

static int check_words(xpu_tool *tool) {
    uint32_t words = xpu_tool_words(tool), least = xpu_tool_option(tool, "expect") ? 1 : 2;
    if (words >= least && words <= 2) return XPU_OK;
    return xpu_tool_usage(tool, NULL, words > 2 ? "there are more than two models" : "there are not two models",
                          xpu_printf(tool->arena, "the command line names %u", words),
                          "write xpu-validate A B, or see xpu-validate --help");
}

static void conclude(const xpu_tool *tool, const xpuc_validation *found, const char *device, double seconds) {
    const char *a = xpu_tool_path(tool, xpu_tool_word(tool, 0)), *b = xpu_tool_word(tool, 1);
    printf("%s%s%s: %s, %u sample%s on ref%s%s; %.2f s\n", a, b ? " and " : "", b ? xpu_tool_path(tool, b) : "",
           found->differ ? "they differ" : "no difference", found->samples, found->samples == 1 ? "" : "s",
           device ? " and " : "", device ? device : "", seconds);
}

static int run(xpu_tool *tool) {
    xpuc_validate_options with = {.shapes = xpu_tool_options(tool, "shape"),
                                  .values = xpu_tool_options(tool, "value"),
                                  .bounds = xpu_tool_options(tool, "bound"),
                                  .ranges = xpu_tool_options(tool, "range"),
                                  .params_a = xpu_tool_option(tool, "params-a"),
                                  .params_b = xpu_tool_option(tool, "params-b"),
                                  .stop = stop};
    tensors inputs = {0}, expected = {0};
    uint64_t samples = 0;
    running state = {0};
    int status = check_words(tool);
    if (!status) status = read_count(tool, "samples", 1, XPUC_MOST_SAMPLES, &samples);
    if (!status) status = read_count(tool, "seed", 0, UINT64_MAX, &with.seed);
    if (!status) status = read_tolerance(tool, &with.tolerance);
    if (!status) status = read_device(tool, &state, &with);
    if (!status) status = read_files(tool, &inputs, &expected);
    if (status) return status;
    with.samples = (unsigned)samples;
    with.inputs = inputs.items;
    with.input_count = inputs.count;
    with.expected = expected.items;
    with.expected_count = expected.count;
    with.context = &state;
    if (!tool->quiet && isatty(STDERR_FILENO)) with.progress = show;
    double started = xpu_seconds();
    xpuc_validation found;
    xpuc_error error;
    xpu_stop_begin();
    status = xpuc_validate(xpu_tool_word(tool, 0), xpu_tool_word(tool, 1), &with, &found, &error);
    xpu_stop_end();
    if (state.is_shown) fprintf(stderr, "\r%40s\r", "");
    xpu_tool_report(tool, status, error.text);
    xpuc_error_clear(&error);
    if (found.text) {
        const int as_json = xpu_tool_flag(tool, "json");
        if (as_json) printf("%s\n", found.json);
        if (!as_json && !tool->quiet) fputs(found.text, stdout);
        if (!as_json && !tool->quiet) conclude(tool, &found, with.device_name, xpu_seconds() - started);
    }
    xpuc_validation_clear(&found);
    return status;
}

int main(int argc, char **argv) {
    return xpu_tool_main(&command, argc, argv, run);
}
