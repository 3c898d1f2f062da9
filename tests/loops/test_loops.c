/* The networks of tests/loops behind each pass up to chains: ref gives what onnxruntime gave, bodies included. */
#include <glob.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/compare.h"
#include "base/npy.h"
#include "core/ops/ref.h"
#include "core/passes/passes.h"
#include "core/passes/verify.h"
#include "frontend/onnx/onnx.h"
#include "tests/unit/bench.h"
#include "tests/unit/unit.h"
#include "xpu_runtime/include/xpurt.h"
#include "xpu_runtime/include/xpurt_func.h"
#include "xpuc/include/xpuc.h"

typedef struct {
    bench *b;
    const char *name;
    xpu_named_tensors inputs, answers;
    xpu_graph *graph;
} network;

static void complain(network *n, const char *stage) {
    printf("%s, %s\n%s", n->name, stage, n->b->diags.count ? xpu_diags_text(&n->b->diags, n->b->arena) : "");
    xpu_diags_clear(&n->b->diags);
    xpu_diags_init(&n->b->diags);
}

static const xpu_tensor *find(const xpu_named_tensors *tensors, const char *name) {
    for (uint32_t i = 0; i < tensors->count; i++) {
        if (strcmp(tensors->items[i].name, name) == 0) return &tensors->items[i].tensor;
    }
    return NULL;
}

static int is_close(const xpu_tensor *x, const xpu_tensor *wanted) {
    if (!wanted || !xpu_same_shape(x, wanted)) return 0;
    if (x->dtype != XPU_F32) return memcmp(x->data, wanted->data, xpu_tensor_bytes(x)) == 0;
    for (int64_t i = 0; i < xpu_tensor_count(x); i++) {
        float a = ((const float *)x->data)[i], b = ((const float *)wanted->data)[i];
        if (!(fabsf(a - b) <= 1e-3f * fabsf(b) + 1e-4f) && !(isnan(a) && isnan(b))) return 0;
    }
    return 1;
}

/* Symbols that are dims of inputs, or elements. */
static void bind(network *n, xpu_tensor *inputs, int64_t *symbols) {
    const xpu_graph *g = n->graph;
    for (uint32_t i = 0; i < g->dims.symbols.count; i++) symbols[i] = g->dims.symbols.items[i].min;
    for (uint32_t i = 0; i < g->inputs.count; i++) {
        const xpu_value_info *info = xpu_value_at(g, g->inputs.items[i]);
        inputs[i] = *find(&n->inputs, info->name);
        for (int d = 0; d < info->rank; d++) {
            const xpu_dim_node *dim = xpu_dim_at(&g->dims, info->dims[d]);
            if (dim->kind == XPU_DIM_SYMBOL) symbols[dim->value] = inputs[i].dims[d];
        }
        for (uint32_t s = 0; s < g->dims.symbols.count; s++) {
            const xpu_symbol *symbol = &g->dims.symbols.items[s];
            if (symbol->value.id == g->inputs.items[i].id)
                symbols[s] = inputs[i].dtype == XPU_I32 ? ((int32_t *)inputs[i].data)[symbol->element]
                                                        : ((int64_t *)inputs[i].data)[symbol->element];
        }
    }
}

static int runs(network *n, const char *stage) {
    const xpu_graph *g = n->graph;
    xpu_tensor *inputs = XPU_NEW_ARRAY(n->b->arena, xpu_tensor, g->inputs.count);
    xpu_tensor *outputs = XPU_NEW_ARRAY(n->b->arena, xpu_tensor, g->outputs.count);
    int64_t *symbols = XPU_NEW_ARRAY(n->b->arena, int64_t, g->dims.symbols.count);
    bind(n, inputs, symbols);
    xpu_ref_options options = {.symbols = symbols, .inputs = inputs};
    int good = xpu_verify(g, stage, &n->b->diags) == XPU_OK &&
               xpu_ref_run(g, &options, outputs, n->b->arena, &n->b->diags) == XPU_OK;
    for (uint32_t i = 0; good && i < g->outputs.count; i++) {
        const char *name = xpu_value_at(g, g->outputs.items[i])->name;
        good = is_close(&outputs[i], find(&n->answers, name));
        if (!good) printf("output '%s' differs\n", name);
    }
    if (!good) complain(n, stage);
    return good;
}

static xpu_import_options shapes_of(network *n) {
    xpu_shape_spec *specs = XPU_NEW_ARRAY(n->b->arena, xpu_shape_spec, n->inputs.count);
    uint32_t count = 0;
    for (uint32_t i = 0; i < n->inputs.count; i++) {
        const xpu_tensor *tensor = &n->inputs.items[i].tensor;
        if (!xpu_tensor_count(tensor)) continue; /* a dim that the model fixes: an option's is at least 1 */
        xpu_shape_spec *spec = &specs[count++];
        *spec = (xpu_shape_spec){.input = n->inputs.items[i].name, .rank = tensor->rank};
        for (int d = 0; d < tensor->rank; d++)
            spec->dims[d] = (xpu_shape_dim){tensor->dims[d], tensor->dims[d], 1, NULL};
    }
    return (xpu_import_options){.shapes = specs, .shape_count = count};
}

/* The bound in the network's file of options. */
static void take_bound(bench *b, const char *path, xpu_import_options *options) {
    char name[80];
    long most;
    FILE *file = fopen(xpu_printf(b->arena, "%.*s.options", (int)(strlen(path) - strlen(".onnx")), path), "r");
    if (!file) return;
    if (fscanf(file, "--bound=%79[^=]=%ld", name, &most) == 2) {
        xpu_bound_spec spec = {xpu_strdup(b->arena, name), most};
        options->bounds = xpu_copy(b->arena, &spec, sizeof spec);
        options->bound_count = 1;
    }
    fclose(file);
}

static const struct {
    const char *name;
    xpu_status (*run)(xpu_graph *graph, xpu_diags *diags);
} passes[] = {
    {"quantised", xpu_pass_quantised},        {"fold", xpu_pass_fold},         {"canonicalise", xpu_pass_canonicalise},
    {"batch-norm", xpu_pass_fold_batch_norm}, {"legalise", xpu_pass_legalise}, {"fold", xpu_pass_fold},
    {"canonicalise", xpu_pass_canonicalise},  {"chains", xpu_pass_chains},
};

static void check_case(bench *b, const char *path, const char *input) {
    network n = {.b = b, .name = input};
    const char *answers = xpu_printf(b->arena, "%.*s_out.npz", (int)(strlen(input) - strlen("_in.npz")), input);
    int good = xpu_npz_read(b->arena, input, &n.inputs, &b->diags) == XPU_OK &&
               xpu_npz_read(b->arena, answers, &n.answers, &b->diags) == XPU_OK;
    xpu_import_options options = shapes_of(&n);
    take_bound(b, path, &options);
    good = good && xpu_onnx_import(b->arena, path, &options, &n.graph, &b->diags) == XPU_OK &&
           xpu_settle(n.graph, &b->diags) == XPU_OK;
    if (!good) complain(&n, "import");
    good = good && runs(&n, "import");
    for (size_t i = 0; good && i < sizeof passes / sizeof *passes; i++) {
        good = passes[i].run(n.graph, &b->diags) == XPU_OK && runs(&n, passes[i].name);
    }
    CU_ASSERT(good);
}

static void check_network(bench *b, const char *path) {
    glob_t cases;
    const char *stem = xpu_printf(b->arena, "%.*s", (int)(strlen(path) - strlen(".onnx")), path);
    if (glob(xpu_printf(b->arena, "%s.*_in.npz", stem), 0, NULL, &cases) == 0) {
        for (size_t i = 0; i < cases.gl_pathc; i++) check_case(b, path, cases.gl_pathv[i]);
        globfree(&cases);
    } else {
        CU_FAIL("no case");
    }
}

static void all_networks(void) {
    glob_t networks;
    const char *only = getenv("XPU_ONLY");
    CU_ASSERT_EQUAL_FATAL(glob("tests/loops/*.onnx", 0, NULL, &networks), 0);
    CU_ASSERT(networks.gl_pathc >= 60);
    for (size_t i = 0; i < networks.gl_pathc; i++) {
        if (only && !strstr(networks.gl_pathv[i], only)) continue;
        BENCH_OPEN(b);
        check_network(&b, networks.gl_pathv[i]);
        bench_close(&b);
    }
    globfree(&networks);
}

/* ---- products in int16: what several bodies read is prepared where all of them see it ---- */

static void precisions(void) {
    static const char *const names[] = {"auto", "int16", "int16x8"};
    glob_t networks;
    CU_ASSERT_EQUAL_FATAL(glob("tests/loops/*.onnx", 0, NULL, &networks), 0);
    for (size_t i = 0; i < networks.gl_pathc * (sizeof names / sizeof *names); i++) {
        xpuc_result result;
        xpuc_error error;
        xpuc_options options = {.emit = "c", .precision = names[i % 3], .check_passes = 1};
        int status = xpuc_compile_file(networks.gl_pathv[i / 3], &options, &result, &error);
        if (status == XPU_EBUG) printf("%s", error.text);
        CU_ASSERT_NOT_EQUAL(status, XPU_EBUG);
        xpuc_result_clear(&result);
        xpuc_error_clear(&error);
    }
    globfree(&networks);
}

static void branches_of_products(void) {
    xpuc_result result;
    xpuc_error wrong;
    xpurt_error error;
    xpuc_options options = {.chip = "nano", .precision = "int16"};
    CU_ASSERT_EQUAL_FATAL(xpuc_compile_file("tests/loops/if_matmul_weights.onnx", &options, &result, &wrong), 0);
    xpurt_program *program = xpurt_open_memory(result.bytes, result.size, "program", &error);
    CU_ASSERT_FATAL(program != NULL && xpurt_input_count(program) == 2);
    static float x[6 * 16];
    for (int i = 0; i < 6 * 16; i++) x[i] = (float)(i * 37 % 41) / 8 - 2;
    for (int64_t k = 0; k < 3; k++) {
        xpurt_tensor inputs[2], on_func, on_ref;
        for (uint32_t i = 0; i < 2; i++) {
            xpurt_input(program, i, &inputs[i]);
            inputs[i].data = inputs[i].rank ? (void *)x : (void *)&k;
        }
        const xpurt_run_options func = {.device = xpurt_func_driver()};
        CU_ASSERT_EQUAL_FATAL(xpurt_run(program, inputs, 2, &on_func, &func, &error), 0);
        CU_ASSERT_EQUAL_FATAL(xpurt_run(program, inputs, 2, &on_ref, NULL, &error), 0);
        CU_ASSERT_EQUAL(memcmp(on_func.data, on_ref.data, 6 * 24 * sizeof(float)), 0);
        xpurt_tensor_clear(&on_func);
        xpurt_tensor_clear(&on_ref);
    }
    xpurt_close(program);
    xpuc_result_clear(&result);
}

/* ---- what is carried ---- */

static int has_layer(const char *name, const char *suffix) {
    xpuc_result result;
    xpuc_error wrong;
    xpuc_options options = {.chip = "nano", .precision = "fp32", .emit = "c"};
    char path[64];
    snprintf(path, sizeof path, "tests/loops/%s.onnx", name);
    CU_ASSERT_EQUAL_FATAL(xpuc_compile_file(path, &options, &result, &wrong), 0);
    int found = memmem(result.bytes, result.size, suffix, strlen(suffix)) != NULL;
    xpuc_result_clear(&result);
    return found;
}

/* A result that is made behind the last use of the carried value, or over it, is not copied. */
static void carried_in_place(void) {
    static const char *const without[] = {"loop_convolution", "loop_in_if", "loop_newton", "loop_pool_norm",
                                          "loop_two",         "loop_while", "shrink"};
    static const char *const with[] = {"loop_matmul", "loop_rotate", "loop_swap"};
    for (size_t i = 0; i < sizeof without / sizeof *without; i++) CU_ASSERT(!has_layer(without[i], "/next"));
    for (size_t i = 0; i < sizeof with / sizeof *with; i++) CU_ASSERT(has_layer(with[i], "/next"));
}

XPU_TEST_MAIN("loops", {"networks", all_networks}, {"products in int16", precisions},
              {"branches with products in int16", branches_of_products}, {"carried values in place", carried_in_place})
