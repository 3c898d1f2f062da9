/*
 * Reads images with a network, from C: compiles an .onnx file into memory with libxpuc (or opens a program that xpuc
 * made), runs the images of an .npz archive in batches, and draws each as text with the class that was read.
 *
 *     classify MODEL.onnx|PROGRAM.xpu IMAGES.npz [options]
 *
 * It runs on the Verilated chip, whose library `make chip` builds (CHIP=NAME, where --chip names another); without it
 * --device=func runs on the chip in C.
 *
 * The archive's entry "x" holds the images, float32 [count,1,height,width]; "label", int64 [count], where there is one,
 * the true classes.
 */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/npy.h"
#include "base/option.h"
#include "xpu_runtime/include/xpurt_device.h"
#include "xpu_runtime/include/xpurt_func.h"
#include "xpu_runtime/include/xpurt_rtl.h"
#include "xpu_runtime/include/xpurt.h"
#include "xpuc/include/xpuc.h"

static const xpu_option options[] = {
    {"count", 'n', "N", "how many images (10)"},
    {"batch", 'b', "N", "how many images in one run (4)"},
    {"device", 'd', "rtl|func|ref", "the Verilated chip, the functional one, or the reference on the host (rtl)"},
    {"chip", 0, "NAME", "the chip to compile for (standard)"},
    {"precision", 0, "NAME", "auto, fp32, int16 or int16x8 (auto)"},
    {"dump", 0, "DIR", "write every layer's output of the first run to a folder of the device's name in DIR"},
    {"summary", 0, NULL, "run on the other devices too, compare, and say what was compiled and what it took"},
    {NULL, 0, NULL, NULL},
};

static const xpu_command command = {
    .tool = "classify",
    .usage = "MODEL.onnx|PROGRAM.xpu IMAGES.npz [options]",
    .about = "Reads images with a neural network and draws them.",
    .example = "classify digits.onnx digits_heldout.npz --count=10",
    .options = options,
};

typedef struct {
    xpu_arena *arena;
    xpu_diags *diags;
    const char *model, *archive, *chip, *precision, *dump;
    const char *device;
    int64_t count, batch;
    int summary, quiet, verbose;
    xpu_tensor images, labels; /* labels.data is NULL where there are none */
    xpuc_result compiled;
    xpurt_program *program;
    int64_t *classes;                      /* what was read */
    int64_t right;                         /* where there are labels */
    int64_t differing;                     /* elements of the outputs that differ between the devices */
    long long instructions, read, written; /* on the device */
    long long cycles, bound;               /* on rtl */
    double seconds;
    json_t *first; /* statistics of the first run on the device */
} job;

/* ---- program ---- */

static int fails(int status, const char *text) {
    if (status && text) fputs(text, stderr);
    return status;
}

static int ends_with(const char *text, const char *end) {
    size_t length = strlen(text), end_length = strlen(end);
    return length >= end_length && strcmp(text + length - end_length, end) == 0;
}

static int open_program(job *j) {
    xpurt_error error = {0};
    xpuc_error compile_error = {0};
    if (ends_with(j->model, ".xpu")) {
        j->program = xpurt_open(j->model, &error);
    } else {
        xpuc_options how = {.chip = j->chip, .precision = j->precision};
        int status = xpuc_compile_file(j->model, &how, &j->compiled, &compile_error);
        fails(status, compile_error.text);
        xpuc_error_clear(&compile_error);
        if (status) return status;
        if (j->verbose) fputs(j->compiled.log, stdout);
        if (!j->quiet) printf("%s\n", j->compiled.summary);
        j->program = xpurt_open_memory(j->compiled.bytes, j->compiled.size, j->model, &error);
    }
    int status = fails(error.status, error.text);
    xpurt_error_clear(&error);
    return status;
}

/* ---- images ---- */

static int read_images(job *j) {
    xpu_named_tensors entries = {0};
    if (xpu_npz_read(j->arena, j->archive, &entries, j->diags) != XPU_OK) return XPU_EIO;
    for (uint32_t i = 0; i < entries.count; i++) {
        if (strcmp(entries.items[i].name, "x") == 0) j->images = entries.items[i].tensor;
        if (strcmp(entries.items[i].name, "label") == 0) j->labels = entries.items[i].tensor;
    }
    int good = j->images.dtype == XPU_F32 && j->images.rank == 4 && j->images.dims[1] == 1;
    if (!good || j->images.dims[0] < j->count) {
        return (int)xpu_error(j->diags, XPU_EUSAGE, j->archive, "images", NULL, "the archive has not the images",
                              "its entry x has to be float32 [count,1,height,width] with as many images as asked for",
                              "write it with numpy.savez(FILE, x=..., label=...), or ask for fewer: --count");
    }
    if (j->labels.dtype != XPU_I64 || j->labels.rank != 1 || j->labels.dims[0] < j->count) j->labels.data = NULL;
    return XPU_OK;
}

enum { PER_ROW = 4, WIDEST = 40 };

/* One line of text of an image: characters are twice as high as wide, so it stands for two rows of pixels. */
static void draw_line(const float *image, int64_t height, int64_t width, int64_t line) {
    static const char shades[] = " .:-=+*#%@";
    for (int64_t x = 0; x < width; x++) {
        float above = image[2 * line * width + x];
        float below = 2 * line + 1 < height ? image[(2 * line + 1) * width + x] : above;
        int shade = (int)((above + below) / 2 * 9.99f);
        putchar(shades[shade < 0 ? 0 : shade > 9 ? 9 : shade]);
    }
}

static void draw_images(const job *j, int64_t from, int64_t count) {
    int64_t height = j->images.dims[2], width = j->images.dims[3];
    const float *images = j->images.data;
    for (int64_t line = 0; width <= WIDEST && line < (height + 1) / 2; line++) {
        for (int64_t i = from; i < from + count; i++) {
            draw_line(images + i * height * width, height, width, line);
            fputs(i + 1 < from + count ? "  " : "\n", stdout);
        }
    }
    for (int64_t i = from; i < from + count; i++) {
        char text[64];
        snprintf(text, sizeof text, "read %lld", (long long)j->classes[i]);
        if (j->labels.data) {
            long long label = (long long)((const int64_t *)j->labels.data)[i];
            const char *mark = label == j->classes[i] ? "" : " WRONG";
            snprintf(text, sizeof text, "read %lld is %lld%s", (long long)j->classes[i], label, mark);
        }
        printf("%-*s%s", (int)(width <= WIDEST ? width : 16), text, i + 1 < from + count ? "  " : "\n\n");
    }
}

/* ---- running ---- */

static int64_t class_of(const float *row, int64_t count) {
    int64_t best = 0;
    for (int64_t i = 1; i < count; i++) best = row[i] > row[best] ? i : best;
    return best;
}

static void add_statistics(job *j, const char *text, int is_first) {
    json_t *stats = json_loads(text, 0, NULL);
    long long cycles = json_integer_value(json_object_get(stats, "cycles"));
    double speed = json_number_value(json_object_get(stats, "cycles_per_s"));
    j->instructions += json_integer_value(json_object_get(stats, "instructions"));
    j->read += json_integer_value(json_object_get(stats, "gm_read_bytes"));
    j->written += json_integer_value(json_object_get(stats, "gm_write_bytes"));
    j->cycles += cycles;
    j->bound += json_integer_value(json_object_get(stats, "bound_cycles"));
    j->seconds += speed > 0 ? (double)cycles / speed : 0;
    if (is_first) j->first = json_incref(stats);
    json_decref(stats);
}

/* The driver of a device, NULL for ref. Returns an exit code. */
static int find_device(const job *j, const char *name, const struct xpurt_device_driver **driver) {
    xpurt_error error = {0};
    *driver = strcmp(name, "func") == 0 ? xpurt_func_driver() : NULL;
    if (strcmp(name, "rtl") != 0) return XPU_OK;
    json_t *chip = json_loads(xpurt_chip_json(j->program), 0, NULL);
    *driver = xpurt_rtl_load(json_string_value(json_object_get(chip, "name")), NULL, NULL, &error);
    json_decref(chip);
    int status = fails(error.status, error.text);
    xpurt_error_clear(&error);
    return status;
}

static int run_on(job *j, const char *device, const xpurt_tensor *input, xpurt_tensor *outputs, int is_first) {
    xpurt_error error = {0};
    char *stats = NULL;
    const char *const read[] = {j->model, j->archive, NULL};
    xpurt_run_options how = {.stats = &stats, .keep = read};
    int status = find_device(j, device, &how.device);
    if (status) return status;
    if (j->dump && is_first) how.dump_folder = xpu_printf(j->arena, "%s/%s", j->dump, device);
    status = xpurt_run(j->program, input, 1, outputs, &how, &error);
    fails(status, error.text);
    xpurt_error_clear(&error);
    if (status == 0 && how.device && strcmp(device, j->device) == 0) add_statistics(j, stats, is_first);
    free(stats);
    return status;
}

static int take_classes(job *j, const xpurt_tensor *output, int64_t from, int64_t count) {
    if (strcmp(output->dtype, "float32") != 0 || output->rank != 2 || output->dims[0] != count || !output->dims[1]) {
        fputs("classify: the network's first output is not float32 [count,classes]\n", stderr);
        return XPU_EMODEL;
    }
    for (int64_t i = 0; i < count; i++) {
        int64_t class = class_of((const float *)output->data + i * output->dims[1], output->dims[1]);
        j->classes[from + i] = class;
        if (j->labels.data) j->right += class == ((const int64_t *)j->labels.data)[from + i];
    }
    return XPU_OK;
}

static int64_t count_differing(const xpurt_tensor *a, const xpurt_tensor *b) {
    int64_t differing = 0;
    for (int64_t i = 0; i < a->dims[0] * a->dims[1]; i++) {
        differing += memcmp((const float *)a->data + i, (const float *)b->data + i, sizeof(float)) != 0;
    }
    return differing;
}

static int run_batch(job *j, int64_t from, int64_t count) {
    uint32_t outputs = xpurt_output_count(j->program);
    xpurt_tensor *results = XPU_NEW_ARRAY(j->arena, xpurt_tensor, 2 * outputs);
    static const char *const devices[] = {"rtl", "func", "ref"};
    const xpu_tensor *images = &j->images;
    xpurt_tensor input = {.dtype = "float32", .rank = 4, .dims = {count, 1, images->dims[2], images->dims[3]}};
    input.data = (float *)images->data + from * images->dims[2] * images->dims[3];
    int status = run_on(j, j->device, &input, results, from == 0);
    if (!status && outputs) status = take_classes(j, results, from, count);
    /* The others that are not slower. */
    for (int d = strcmp(j->device, "rtl") != 0; !status && j->summary && d < 3; d++) {
        if (strcmp(devices[d], j->device) == 0) continue;
        status = run_on(j, devices[d], &input, results + outputs, from == 0);
        if (!status) j->differing += count_differing(results, results + outputs);
        for (uint32_t i = outputs; i < 2 * outputs; i++) xpurt_tensor_clear(&results[i]);
    }
    for (uint32_t i = 0; i < 2 * outputs; i++) xpurt_tensor_clear(&results[i]);
    return status;
}

/* ---- summary ---- */

static const char *string_of(const json_t *object, const char *key) {
    const char *text = json_string_value(json_object_get(object, key));
    return text ? text : "";
}

static long long integer_of(const json_t *object, const char *key) {
    return json_integer_value(json_object_get(object, key));
}

static void print_regions(const json_t *about) {
    size_t i;
    const json_t *region, *regions = json_object_get(about, "regions");
    long long on_host = 0;
    json_array_foreach(regions, i, region) {
        int host = strcmp(string_of(region, "target"), "host") == 0;
        if (host) on_host += integer_of(region, "nodes");
        printf("  region %zu     %lld nodes on %s%s%s\n", i + 1, integer_of(region, "nodes"),
               string_of(region, "target"), host ? ": " : "", host ? string_of(region, "reason") : "");
    }
    if (!on_host) printf("  on the host  nothing\n");
}

static double percent(long long part, long long whole) {
    return whole ? 100.0 * (double)part / (double)whole : 0;
}

/* The three states in which a unit has spent most of a layer's cycles. */
static void print_states(const json_t *layer, const char *unit) {
    const char *key, *separator = " ";
    json_t *value, *states = json_object_get(json_object_get(layer, "units"), unit);
    long long cycles = integer_of(layer, "cycles"), below = -1;
    if (!states) return;
    printf("    %-10s", unit);
    for (int i = 0; i < 3; i++) {
        const char *most = NULL;
        json_object_foreach(states, key, value) {
            long long count = json_integer_value(value);
            if ((below < 0 || count < below) && (!most || count > integer_of(states, most))) most = key;
        }
        if (!most) break;
        below = integer_of(states, most);
        printf("%s%s %.0f %%", separator, most, percent(below, cycles));
        separator = ", ";
    }
    putchar('\n');
}

/* On a device that has time: speed, utilisation, and where the cycles of the slowest layer went. */
static void print_time(const job *j) {
    size_t i;
    const json_t *layer, *slowest = NULL;
    if (!j->cycles) return;
    printf("  cycles       %lld, simulated at %.1f kHz\n", j->cycles,
           j->seconds > 0 ? (double)j->cycles / j->seconds / 1000 : 0);
    printf("  utilisation  %.1f %%: at least %lld cycles are needed (roofline)\n", percent(j->bound, j->cycles),
           j->bound);
    json_array_foreach(json_object_get(j->first, "layers"), i, layer) {
        if (!slowest || integer_of(layer, "cycles") > integer_of(slowest, "cycles")) slowest = layer;
    }
    if (!slowest) return;
    printf("  slowest      layer '%s', %.0f %% of the cycles\n", string_of(slowest, "name"),
           percent(integer_of(slowest, "cycles"), integer_of(j->first, "cycles")));
    print_states(slowest, "TENSOR");
    print_states(slowest, "core 0");
}

static int print_summary(job *j) {
    xpurt_error error = {0};
    const char *text = xpurt_describe(j->program, &error);
    int status = fails(error.status, error.text);
    xpurt_error_clear(&error);
    if (!text) return status;
    json_t *about = json_loads(text, 0, NULL);
    printf("  model        %s, %lld operators in %zu layers\n", string_of(about, "source"),
           integer_of(about, "source_nodes"), json_array_size(json_object_get(about, "layers")));
    printf("  compiled     for chip %s, precision %s, by xpuc %s with %s\n", string_of(about, "chip"),
           string_of(about, "precision"), string_of(about, "compiler"), string_of(about, "clang"));
    print_regions(about);
    printf("  weights      %lld bytes\n", integer_of(about, "weights_bytes"));
    printf("  on %-9s %lld instructions, %lld bytes read from and %lld written to global memory\n", j->device,
           j->instructions, j->read, j->written);
    print_time(j);
    printf("  %s   %s\n", strcmp(j->device, "rtl") == 0 ? "rtl = func = ref" : "func = ref",
           j->differing ? "NO" : "yes, every bit of the outputs");
    json_decref(about);
    return j->differing ? XPU_EDIFF : XPU_OK;
}

static int work(job *j) {
    int status = read_images(j);
    if (!status) status = open_program(j);
    if (status) return status;
    j->classes = XPU_NEW_ARRAY(j->arena, int64_t, j->count);
    for (int64_t from = 0; !status && from < j->count; from += j->batch) {
        status = run_batch(j, from, j->count - from < j->batch ? j->count - from : j->batch);
    }
    if (status) return status;
    for (int64_t from = 0; !j->quiet && from < j->count; from += PER_ROW) {
        draw_images(j, from, j->count - from < PER_ROW ? j->count - from : PER_ROW);
    }
    if (j->summary) status = print_summary(j);
    if (j->quiet) return status;
    printf("%lld images read on %s", (long long)j->count, j->device);
    if (j->labels.data) printf(", %lld of them correctly", (long long)j->right);
    putchar('\n');
    return status;
}

/* ---- command line ---- */

static int usage(const job *j, const char *what, const char *why) {
    return (int)xpu_error(j->diags, XPU_EUSAGE, NULL, "usage", NULL, what, why, "see classify --help");
}

static int64_t positive(const job *j, const xpu_argument *a) {
    char *end;
    long long value = strtoll(a->value, &end, 10);
    if (*end || end == a->value || value < 1 || value > 1 << 20) {
        usage(j, "this is not a number of images", xpu_printf(j->arena, "--%s=%s", a->name, a->value));
    }
    return value;
}

static int read_option(job *j, const xpu_argument *a, int *answered) {
    if (!a->name) {
        if (j->archive) usage(j, "there are more than two files", xpu_escape(j->arena, a->value, 80));
        *(j->model ? &j->archive : &j->model) = a->value;
    } else if (strcmp(a->name, "count") == 0) {
        j->count = positive(j, a);
    } else if (strcmp(a->name, "batch") == 0) {
        j->batch = positive(j, a);
    } else if (strcmp(a->name, "chip") == 0) {
        j->chip = a->value;
    } else if (strcmp(a->name, "precision") == 0) {
        j->precision = a->value;
    } else if (strcmp(a->name, "dump") == 0) {
        j->dump = a->value;
    } else if (strcmp(a->name, "summary") == 0) {
        j->summary = 1;
    } else if (strcmp(a->name, "quiet") == 0) {
        j->quiet = 1;
    } else if (strcmp(a->name, "verbose") == 0) {
        j->verbose = 1;
    } else if (strcmp(a->name, "device") == 0) {
        int known = strcmp(a->value, "rtl") == 0 || strcmp(a->value, "func") == 0 || strcmp(a->value, "ref") == 0;
        if (!known) usage(j, "there is no such device", "it is rtl, func or ref");
        j->device = a->value;
    } else if (strcmp(a->name, "help") == 0) {
        fputs(xpu_options_help(j->arena, &command), stdout);
        *answered = 1;
    } else if (strcmp(a->name, "version") == 0) {
        printf("classify %s\n", xpurt_version());
        *answered = 1;
    }
    return (int)xpu_diags_status(j->diags);
}

static int run(job *j, int argc, char **argv) {
    xpu_arguments arguments;
    int answered = 0;
    int status = (int)xpu_options_parse(j->arena, &command, argc, argv, &arguments, j->diags);
    for (uint32_t i = 0; !status && i < arguments.count; i++) status = read_option(j, &arguments.items[i], &answered);
    if (status || answered) return status;
    if (!j->archive) return usage(j, "a file is missing", "a model and an archive of images are needed");
    return work(j);
}

int main(int argc, char **argv) {
    static job j = {.count = 10, .batch = 4, .device = "rtl"};
    static xpu_mem mem;
    static xpu_diags diags;
    static int status;
    xpu_mem_init(&mem);
    xpu_diags_init(&diags);
    j.diags = &diags;
    if (setjmp(mem.out_of_memory)) {
        status = (int)xpu_error_oom_of(&diags, &mem);
    } else {
        j.arena = xpu_arena_new(&mem, "classify");
        status = run(&j, argc, argv);
    }
    xpu_diags_print(&diags, stderr);
    json_decref(j.first);
    xpurt_close(j.program);
    xpuc_result_clear(&j.compiled);
    xpu_mem_release(&mem);
    xpu_diags_clear(&diags);
    return status;
}
