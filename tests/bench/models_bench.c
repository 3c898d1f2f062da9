/*
 * models_bench BIN RESULT.json: per model and precision what compiling and running on the functional chip takes: the
 * tools are run as a user runs them, and their --report and --stats are read. Prints a table, writes JSON.
 * Models of ../shared are measured where XPU_SHARED names that folder.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/json.h"
#include "base/npy.h"

typedef struct {
    const char *model, *input, *entry; /* entry: of an .npz; NULL: the file is one tensor */
    int shared;                        /* model stands in ../shared/models/onnx; the input is made */
    int64_t dims[4];                   /* of a made input */
} bench_case;

static const bench_case cases[] = {
    {"tests/models/mnist-8.onnx", "tests/models/9.npy", "Input3", 0, {0}},
    {"examples/digits/digits.onnx", "examples/digits/digits_heldout.npz", "x", 0, {0}},
    {"super_resolution_10.onnx", NULL, "input", 1, {1, 1, 224, 224}},
    {"mobilenet_v2_fp32.onnx", NULL, "input", 1, {1, 3, 224, 224}},
};
static const char *const precisions[] = {"fp32", "int16"};

typedef struct {
    xpu_arena *arena;
    xpu_diags diags;
    const char *bin, *folder, *shared;
    json_t *results;
} bench;

/* One image: the first 1 to 16 of an entry, or noise, as a .npy file. */
static const char *make_input(bench *b, const bench_case *c) {
    xpu_tensor tensor = {.dtype = XPU_F32, .rank = 4};
    if (c->shared) {
        memcpy(tensor.dims, c->dims, sizeof c->dims);
        float *data = tensor.data = xpu_alloc(b->arena, xpu_tensor_bytes(&tensor));
        uint32_t state = 1;
        for (int64_t i = 0; i < xpu_tensor_count(&tensor); i++) {
            state = state * 1664525u + 1013904223u;
            data[i] = (float)(state >> 8) / 16777216.0f;
        }
    } else {
        xpu_named_tensors all = {0};
        if (xpu_npz_read(b->arena, c->input, &all, &b->diags) != XPU_OK) return NULL;
        for (uint32_t i = 0; i < all.count; i++) {
            if (all.count == 1 || strcmp(all.items[i].name, c->entry) == 0) tensor = all.items[i].tensor;
        }
        if (tensor.dims[0] > 16) tensor.dims[0] = 16;
    }
    const char *path = xpu_path_join(b->arena, b->folder, "input.npy");
    return xpu_npy_write(b->arena, path, &tensor, &b->diags) == XPU_OK ? path : NULL;
}

static int run_tool(bench *b, const char *const *argv, xpu_child *child) {
    if (xpu_child_run(b->arena, argv, 0, child, &b->diags) == XPU_OK && child->exit_code == 0) return 1;
    fprintf(stderr, "%s %s failed:\n%s", argv[0], argv[1], child->error ? child->error : "");
    return 0;
}

static double number(json_t *object, const char *key) {
    json_t *value = object ? json_object_get(object, key) : NULL;
    return json_is_number(value) ? json_number_value(value) : 0;
}

static void copy(bench *b, json_t *to, const char *name, json_t *from, const char *key) {
    xpu_json_set(b->arena, to, name, json_real(number(from, key)));
}

static int measure(bench *b, const bench_case *c, const char *precision) {
    const char *model = c->shared ? xpu_printf(b->arena, "%s/models/onnx/%s", b->shared, c->model) : c->model;
    const char *program = xpu_path_join(b->arena, b->folder, "model.xpu");
    const char *report = xpu_path_join(b->arena, b->folder, "report.json");
    const char *stats = xpu_path_join(b->arena, b->folder, "stats.json");
    const char *input = make_input(b, c);
    if (!input) return 0;
    const char *compile[] = {xpu_path_join(b->arena, b->bin, "xpuc"),
                             model,
                             "--target=xpu-sim",
                             "-q",
                             xpu_printf(b->arena, "--precision=%s", precision),
                             "-o",
                             program,
                             xpu_printf(b->arena, "--report=%s", report),
                             NULL};
    const char *run[] = {xpu_path_join(b->arena, b->bin, "xpu-run"), program, "--device=func", "-q", "--input", input,
                         xpu_printf(b->arena, "--stats=%s", stats),  NULL};
    xpu_child compiled, ran;
    if (!run_tool(b, compile, &compiled) || !run_tool(b, compile, &compiled) || !run_tool(b, run, &ran)) return 0;
    json_t *made = xpu_json_read(b->arena, report, &b->diags), *took = xpu_json_read(b->arena, stats, &b->diags);
    json_t *row = xpu_json_append(b->arena, b->results, json_object());
    xpu_json_set(b->arena, row, "model", json_string(xpu_path_name(c->model)));
    xpu_json_set(b->arena, row, "precision", json_string(precision));
    xpu_json_set(b->arena, row, "compile_s", json_real(compiled.seconds));
    copy(b, row, "own_peak_rss_bytes", made, "peak_rss_bytes");
    json_t *facts = json_object_get(made, "program");
    copy(b, row, "child_peak_rss_bytes", facts, "clang_peak_rss_bytes");
    copy(b, row, "func_s", took, "wall_s");
    copy(b, row, "instructions", took, "instructions");
    copy(b, row, "instructions_per_s", took, "instructions_per_s");
    copy(b, row, "gm_read_bytes", took, "gm_read_bytes");
    copy(b, row, "gm_write_bytes", took, "gm_write_bytes");
    printf("%-26s %-6s %9.2f %9.1f %9.1f %8.2f %9.1f %9.2f\n", xpu_path_name(c->model), precision, compiled.seconds,
           number(row, "own_peak_rss_bytes") / 1e6, number(row, "child_peak_rss_bytes") / 1e6, number(row, "func_s"),
           number(row, "instructions_per_s") / 1e6,
           (number(row, "gm_read_bytes") + number(row, "gm_write_bytes")) / 1e6);
    return 1;
}

static int run_all(bench *b, const char *result) {
    int good = 1;
    b->folder = xpu_temporary_folder(b->arena, &b->diags);
    b->results = xpu_json_own(b->arena, json_array());
    printf("%-26s %-6s %9s %9s %9s %8s %9s %9s\n", "model", "", "compile s", "own MB", "child MB", "func s",
           "M instr/s", "GM MB");
    for (size_t i = 0; b->folder && i < sizeof cases / sizeof *cases; i++) {
        for (size_t k = 0; k < 2; k++) {
            if (cases[i].shared && !b->shared) continue;
            good &= measure(b, &cases[i], precisions[k]);
        }
    }
    return b->folder && xpu_json_write(b->arena, b->results, result, &b->diags) == XPU_OK && good;
}

int main(int argc, char **argv) {
    xpu_mem mem;
    bench b = {.shared = getenv("XPU_SHARED")};
    if (argc != 3) {
        fprintf(stderr, "usage: models_bench BIN RESULT.json\n");
        return XPU_EUSAGE;
    }
    b.bin = argv[1];
    xpu_diags_init(&b.diags);
    xpu_mem_init(&mem);
    if (setjmp(mem.out_of_memory)) return XPU_EIO;
    b.arena = xpu_arena_new(&mem, "bench");
    int good = run_all(&b, argv[2]);
    xpu_diags_print(&b.diags, stderr);
    xpu_mem_release(&mem);
    xpu_diags_clear(&b.diags);
    return good ? 0 : 1;
}
