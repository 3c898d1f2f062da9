/* libxpuc: options, shapes, texts, reports, and what happens when memory runs out. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/json.h"
#include "tests/gen/onnx_build.h"
#include "tests/unit/bench.h"
#include "tests/unit/network_file.h"
#include "tests/unit/unit.h"
#include "xpuc/pipeline.h"

#define MODEL "tests/models/mnist-8.onnx"

/* ---- --shape ---- */

static const char *shape_text(xpu_arena *arena, const xpu_shape_spec *spec) {
    xpu_text text;
    xpu_text_init(&text, arena);
    xpu_text_add(&text, "%s:", spec->input);
    for (int i = 0; i < spec->rank; i++) {
        const xpu_shape_dim *dim = &spec->dims[i];
        xpu_text_add(&text, " %s(%lld,%lld,%lld)", dim->symbol ? dim->symbol : "", (long long)dim->min,
                     (long long)dim->max, (long long)dim->step);
    }
    return text.text;
}

static void shapes(void) {
    static const struct {
        const char *text, *expected; /* NULL: refused */
    } cases[] = {
        {"x=1,3", "x: (1,1,1) (3,3,1)"},
        {"x=N,3,32..224:32,W", "x: N(0,0,0) (3,3,1) (32,224,32) W(0,0,0)"},
        {"a:0=N=1..8,2", "a:0: N(1,8,1) (2,2,1)"},
        {"x=B_1=2..8:2", "x: B_1(2,8,2)"},
        {"x=4", "x: (4,4,1)"},
        {"x=", "x:"},
        {"x=1..1", "x: (1,1,1)"},
        {"x", NULL},
        {"=1", NULL},
        {"x=0", NULL},
        {"x=-1", NULL},
        {"x=1,", NULL},
        {"x=,1", NULL},
        {"x=1;2", NULL},
        {"x=8..4", NULL},
        {"x=1..", NULL},
        {"x=1..4:", NULL},
        {"x=1..4:0", NULL},
        {"x=N=", NULL},
        {"x=99999999999999999999", NULL},
        {"x=4294967296", NULL},
        {"x=1,1,1,1,1,1,1,1,1", NULL},
        {"x= 1", NULL},
    };
    BENCH_OPEN(b);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        xpu_shape_spec spec;
        size_t errors = b.diags.errors;
        xpu_status status = xpu_shape_parse(b.arena, cases[i].text, &spec, &b.diags);
        CU_ASSERT_EQUAL(status, cases[i].expected ? XPU_OK : XPU_EUSAGE);
        CU_ASSERT_EQUAL(b.diags.errors - errors, cases[i].expected ? 0 : 1);
        if (cases[i].expected && status == XPU_OK) {
            CU_ASSERT_STRING_EQUAL(shape_text(b.arena, &spec), cases[i].expected);
        }
    }
    bench_close(&b);
}

/* ---- the interface ---- */

static void all_wrong_options(void) {
    const char *const wrong[] = {"x=0", NULL};
    xpuc_options options = {
        .target = "xpu-sin", .emit = "exe", .explain = "xml", .dump_after = "folt", .shapes = wrong};
    xpuc_result result;
    xpuc_error error;
    CU_ASSERT_EQUAL(xpuc_compile_file(MODEL, &options, &result, &error), 2);
    CU_ASSERT_PTR_NOT_NULL_FATAL(error.text);
    static const char *const expected[] = {
        "error [option] --emit: 'exe' is not a value of this option\n  why: it takes xpu, c, ir\n",
        "error [option] --explain: 'xml' is not a value of this option\n",
        "error [option] --dump-after: 'folt' is not a value of this option\n",
        "hint: did you mean 'fold'?\n",
        "error [shape-option] --shape x=0: the shape cannot be read\n  why: dim 0 is not valid\n",
        "error [target] there is no target 'xpu-sin'\n  why: the targets are xpu-sim\n",
        "hint: did you mean 'xpu-sim'?\n",
    };
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
        if (!strstr(error.text, expected[i])) printf("missing: %s\nin: %s\n", expected[i], error.text);
        CU_ASSERT_PTR_NOT_NULL(strstr(error.text, expected[i]));
    }
    xpuc_error_clear(&error);
    xpuc_result_clear(&result);
}

static int compile(const char *path, const xpuc_options *options, xpuc_result *result) {
    xpuc_error error;
    int status = xpuc_compile_file(path, options, result, &error);
    if (error.text) fputs(error.text, stdout);
    xpuc_error_clear(&error);
    return status;
}

static void graph_text(void) {
    xpuc_result result;
    CU_ASSERT_EQUAL_FATAL(compile(MODEL, &(xpuc_options){.emit = "ir", .precision = "fp32"}, &result), 0);
    CU_ASSERT_EQUAL(strlen(result.bytes), result.size);
    CU_ASSERT_PTR_NOT_NULL(strstr(result.bytes, "graph \"CNTKGraph\"\n"));
    CU_ASSERT_PTR_NOT_NULL(strstr(result.bytes, "Conv 'Convolution28' #1 + Add 'Plus30' #2 + Relu 'ReLU32' #3"));
    CU_ASSERT_PTR_NOT_NULL(strstr(result.bytes, "output %Plus214_Output_0\n"));
    CU_ASSERT_PTR_NOT_NULL(strstr(result.summary, "mnist-8.onnx: 12 operators"));
    xpuc_result_clear(&result);
}

static void dump_of_every_pass(void) {
    for (const char *const *pass = xpu_pipeline_passes(); *pass; pass++) {
        xpuc_result result;
        xpuc_options options = {.emit = "ir", .precision = "fp32", .dump_after = *pass};
        CU_ASSERT_EQUAL_FATAL(compile(MODEL, &options, &result), 0);
        CU_ASSERT_PTR_NOT_NULL_FATAL(result.dump);
        CU_ASSERT_PTR_NOT_NULL(strstr(result.dump, "conv("));
        xpuc_result_clear(&result);
    }
}

static void explanation(void) {
    xpuc_result result;
    BENCH_OPEN(b);
    xpuc_options options = {.emit = "ir", .precision = "fp32", .explain = "text"};
    CU_ASSERT_EQUAL_FATAL(compile(MODEL, &options, &result), 0);
    CU_ASSERT_PTR_NOT_NULL(strstr(result.explanation, "Plus30                   ReLU32                   fp32      1"));
    CU_ASSERT_PTR_NOT_NULL(strstr(result.explanation, "nothing is left to do at run time"));
    xpuc_result_clear(&result);
    options.explain = "json";
    CU_ASSERT_EQUAL_FATAL(compile(MODEL, &options, &result), 0);
    json_t *top = xpu_json_parse(b.arena, result.explanation, strlen(result.explanation), "explain", &b.diags);
    const json_t *nodes = json_object_get(top, "nodes");
    CU_ASSERT_EQUAL(json_array_size(nodes), 12);
    const json_t *conv = json_array_get(nodes, 1);
    CU_ASSERT_STRING_EQUAL(json_string_value(json_object_get(conv, "name")), "Convolution28");
    CU_ASSERT_STRING_EQUAL(json_string_value(json_object_get(conv, "layer")), "ReLU32");
    CU_ASSERT_STRING_EQUAL(json_string_value(json_object_get(conv, "precision")), "fp32");
    CU_ASSERT(json_is_null(json_object_get(json_array_get(nodes, 0), "layer")));
    xpuc_result_clear(&result);
    bench_close(&b);
}

static void report(void) {
    xpuc_result result;
    BENCH_OPEN(b);
    const char *path = xpu_path_join(b.arena, xpu_temporary_folder(b.arena, &b.diags), "report.json");
    xpuc_options options = {.emit = "ir", .precision = "fp32", .report = path};
    CU_ASSERT_EQUAL_FATAL(compile(MODEL, &options, &result), 0);
    json_t *top = xpu_json_read(b.arena, path, &b.diags);
    CU_ASSERT_EQUAL(json_integer_value(json_object_get(top, "source_nodes")), 12);
    CU_ASSERT_EQUAL(json_array_size(json_object_get(top, "passes")), 12);
    CU_ASSERT_EQUAL(json_array_size(json_object_get(top, "regions")), 1);
    xpuc_result_clear(&result);
    bench_close(&b);
}

static void description(void) {
    xpuc_result result;
    xpuc_error error;
    CU_ASSERT_EQUAL_FATAL(xpuc_describe(MODEL, NULL, &result, &error), 0);
    CU_ASSERT_PTR_NOT_NULL(strstr(result.dump, "input    Input3  float32[1,1,28,28]\n"));
    CU_ASSERT_PTR_NOT_NULL(
        strstr(result.dump, "12 operators: Reshape 2, Conv 2, Add 3, Relu 2, MaxPool 2, MatMul 1\n"));
    xpuc_error_clear(&error);
    xpuc_result_clear(&result);
    CU_ASSERT_EQUAL_FATAL(xpuc_describe("examples/digits/digits.onnx", NULL, &result, &error), 0);
    CU_ASSERT_PTR_NOT_NULL(strstr(result.dump, "symbol   N  1 or more\n"));
    xpuc_error_clear(&error);
    xpuc_result_clear(&result);
    CU_ASSERT_EQUAL(xpuc_describe("tests/models/9.npy", NULL, &result, &error), 1);
    CU_ASSERT_PTR_NOT_NULL(error.text);
    xpuc_error_clear(&error);
    xpuc_result_clear(&result);
}

static void files(void) {
    static const struct {
        const char *path, *rule;
        int status;
    } cases[] = {
        {"tests/models/none.onnx", "[io-open]", 3},
        {"none.xpu", "[io-open]", 3},
        {"%s.pdmodel", "[paddle-wire]", 1},
        {"%s.pt", "[model-format]", 2},
        {"%s.xpu", "[model-format]", 2},
        {"tests/models/9.npy", "[onnx-wire]", 1},
    };
    BENCH_OPEN(b);
    const char *folder = xpu_temporary_folder(b.arena, &b.diags);
    CU_ASSERT_PTR_NOT_NULL_FATAL(folder);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        xpuc_result result;
        xpuc_error error;
        xpuc_options options = {.emit = "ir", .precision = "fp32"};
        const char *path = cases[i].path;
        if (path[0] == '%') {
            path = xpu_printf(b.arena, "%s/net%s", folder, path + 2);
            CU_ASSERT_EQUAL_FATAL(xpu_file_write(b.arena, path, "net", 3, &b.diags), XPU_OK);
        }
        CU_ASSERT_EQUAL(xpuc_compile_file(path, &options, &result, &error), cases[i].status);
        CU_ASSERT_PTR_NOT_NULL_FATAL(error.text);
        if (!strstr(error.text, cases[i].rule)) printf("%s", error.text);
        CU_ASSERT_PTR_NOT_NULL(strstr(error.text, cases[i].rule));
        CU_ASSERT_PTR_NULL(result.bytes);
        xpuc_error_clear(&error);
        xpuc_result_clear(&result);
        options.emit = "ir";
    }
    xpuc_result result;
    xpuc_error error;
    xpuc_options options = {.emit = "ir", .precision = "fp32"};
    CU_ASSERT_EQUAL(xpuc_compile_to_file(MODEL, "/no-such-folder/x.ir", &options, &result, &error), 3);
    CU_ASSERT_PTR_NOT_NULL(strstr(error.text, "[io-write]"));
    xpuc_error_clear(&error);
    xpuc_result_clear(&result);
    bench_close(&b);
}

/* Every allocation of a compilation fails once; each time there is one clear error, and the last try succeeds. */
static void out_of_memory(void) {
    static const char *const emits[] = {"c", "ir"};
    for (size_t i = 0; i < sizeof emits / sizeof *emits; i++) {
        xpuc_options options = {.emit = emits[i], .explain = "json"};
        int status = 3, in_passes = 0;
        unsigned long n = 1;
        for (; status != 0 && n < 100000; n++) {
            xpuc_result result;
            xpuc_error error;
            xpu_alloc_fail_at(n);
            status = xpuc_compile_file(MODEL, &options, &result, &error);
            xpu_alloc_fail_at(0);
            int clear = status == 0 || (status == 3 && error.text && strstr(error.text, "[out-of-memory]"));
            if (!clear) printf("allocation %lu: status %d\n%s", n, status, error.text ? error.text : "");
            CU_ASSERT(clear);
            in_passes += error.text && strstr(error.text, "[out-of-memory] pass '") != NULL;
            xpuc_error_clear(&error);
            xpuc_result_clear(&result);
        }
        CU_ASSERT_EQUAL(status, 0);
        CU_ASSERT(n > 100);
        CU_ASSERT(in_passes > 100);
    }
}

/* Twelve unsupported nodes of two operators: all of them for a caller that asks for nothing else, or grouped. */
static void many_unsupported(void) {
    BENCH_OPEN(b);
    xpu_onnx_builder m;
    xpu_onnx_begin(&m, b.arena, 20);
    xpu_onnx_input(&m, "x", 1, (const int64_t[]){4});
    for (int i = 0; i < 12; i++) {
        const char *y = xpu_printf(b.arena, "y%d", i);
        xpu_onnx_node(&m, i < 8 ? "Det" : "RoiAlign", xpu_printf(b.arena, "n%d", i), y,
                      (const char *const[]){"x", NULL});
        xpu_onnx_output(&m, y, 1, (const int64_t[]){4});
    }
    const char *path = write_network_file(&m, "many", xpu_temporary_folder(b.arena, &b.diags), &b.diags);
    for (int grouped = 0; grouped < 2; grouped++) {
        xpuc_options options = {.emit = "ir", .group_messages = grouped};
        xpuc_result result;
        xpuc_error error;
        CU_ASSERT_EQUAL(xpuc_compile_file(path, &options, &result, &error), XPU_EMODEL);
        CU_ASSERT_PTR_NOT_NULL_FATAL(error.text);
        CU_ASSERT_PTR_NOT_NULL(strstr(error.text, "node 'n4' (Det-11, #4)"));
        CU_ASSERT_EQUAL(strstr(error.text, "node 'n7' (Det-11, #7)") != NULL, !grouped);
        CU_ASSERT_EQUAL(strncmp(error.text,
                                "12 errors:\n     8  operator Det is not supported\n     4  operator RoiAlign",
                                74) == 0,
                        grouped);
        xpuc_result_clear(&result);
        xpuc_error_clear(&error);
    }
    bench_close(&b);
}

/* A name without a range frees a dim that the model fixes, as it does one that the model leaves open. */
static void a_name_frees(void) {
    BENCH_OPEN(b);
    xpu_onnx_builder m;
    xpu_onnx_begin(&m, b.arena, 13);
    xpu_onnx_input(&m, "x", 2, (const int64_t[]){1, 4});
    xpu_onnx_input(&m, "y", 2, (const int64_t[]){1, 4});
    xpu_onnx_node(&m, "Add", "n", "z", (const char *const[]){"x", "y", NULL});
    xpu_onnx_output(&m, "z", 2, (const int64_t[]){1, 4});
    const char *path = write_network_file(&m, "sum", xpu_temporary_folder(b.arena, &b.diags), &b.diags);
    static const struct {
        const char *shapes[3], *symbol, *output;
    } cases[] = {{{"x=N,4", "y=N,4", NULL}, "symbol   N  1 or more\n", "output   z  float32[N,4]\n"},
                 {{"x=N=2..9,4", "y=N,4", NULL}, "symbol   N  2 to 9\n", "output   z  float32[N,4]\n"},
                 {{"x=1,4", NULL}, NULL, "output   z  float32[1,4]\n"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        xpuc_result result;
        xpuc_error error;
        CU_ASSERT_EQUAL(xpuc_describe(path, &(xpuc_options){.shapes = cases[i].shapes}, &result, &error), XPU_OK);
        CU_ASSERT_PTR_NOT_NULL_FATAL(result.dump);
        CU_ASSERT_EQUAL(strstr(result.dump, "symbol") != NULL, cases[i].symbol != NULL);
        if (cases[i].symbol) CU_ASSERT_PTR_NOT_NULL(strstr(result.dump, cases[i].symbol));
        CU_ASSERT_PTR_NOT_NULL(strstr(result.dump, cases[i].output));
        CU_ASSERT_PTR_NULL(error.text); /* who compiles is told so */
        xpuc_result_clear(&result);
        CU_ASSERT_EQUAL(
            xpuc_compile_file(path, &(xpuc_options){.shapes = cases[i].shapes, .emit = "ir"}, &result, &error), XPU_OK);
        CU_ASSERT_EQUAL(error.text && strstr(error.text, "[shape-override]"), cases[i].symbol != NULL);
        xpuc_result_clear(&result);
        xpuc_error_clear(&error);
    }
    bench_close(&b);
}

/* ---- limits ---- */

/* Writes a model with `count` inputs x0, x1, ... of [4, 4]; *shapes frees the first dim of each. */
static const char *write_inputs(bench *b, int count, int concatenates, const char *const **shapes) {
    xpu_onnx_builder m;
    const char **names = XPU_NEW_ARRAY(b->arena, const char *, count + 1);
    const char **list = XPU_NEW_ARRAY(b->arena, const char *, count + 1);
    xpu_onnx_begin(&m, b->arena, 13);
    for (int i = 0; i < count; i++) {
        names[i] = xpu_printf(b->arena, "x%d", i);
        list[i] = xpu_printf(b->arena, "x%d=S%d=1..3,4", i, i);
        xpu_onnx_input(&m, names[i], 2, (const int64_t[]){4, 4});
        if (concatenates) continue;
        const char *y = xpu_printf(b->arena, "y%d", i);
        xpu_onnx_node(&m, "Relu", y, y, (const char *const[]){names[i], NULL});
        xpu_onnx_output(&m, y, 2, (const int64_t[]){4, 4});
    }
    if (concatenates) {
        xpu_onnx_int(&m, xpu_onnx_node(&m, "Concat", "all", "all", names), "axis", 0);
        xpu_onnx_output(&m, "all", 2, (const int64_t[]){4 * count, 4});
    }
    *shapes = list;
    return write_network_file(&m, "inputs", xpu_temporary_folder(b->arena, &b->diags), &b->diags);
}

static void expect_error(const char *path, const xpuc_options *options, const char *message) {
    xpuc_result result;
    xpuc_error error;
    CU_ASSERT_EQUAL(xpuc_compile_file(path, options, &result, &error), XPU_EMODEL);
    CU_ASSERT(error.text && strstr(error.text, message));
    if (error.text && !strstr(error.text, message)) printf("%s", error.text);
    xpuc_result_clear(&result);
    xpuc_error_clear(&error);
}

/* 257 symbols are one more than a program may have: said with both numbers, and before clang, here one that sleeps for
 * a minute, has ended. */
static void too_large_a_program(void) {
    BENCH_OPEN(b);
    const char *const *shapes, *path = write_inputs(&b, 257, 0, &shapes);
    const char *folder = xpu_temporary_folder(b.arena, &b.diags), *old = getenv("PATH");
    const char *clang = xpu_path_join(b.arena, folder, "clang-19"), *script = "#!/bin/sh\nexec sleep 60\n";
    CU_ASSERT_EQUAL_FATAL(xpu_file_write(b.arena, clang, script, strlen(script), &b.diags), XPU_OK);
    CU_ASSERT_EQUAL_FATAL(chmod(clang, 0700), 0);
    setenv("PATH", xpu_printf(b.arena, "%s:%s", folder, old), 1);
    double start = xpu_seconds();
    expect_error(path, &(xpuc_options){.shapes = shapes, .precision = "fp32"},
                 "error [program-limits] the program is too large for its file\n"
                 "  why: it has 257 symbols, at most 256 can be read; the program has 257 layers\n");
    CU_ASSERT(xpu_seconds() - start < 30);
    setenv("PATH", old, 1);
    bench_close(&b);
}

/* As many symbols as there may be, each in a layer of its own: compiled in seconds, and described. */
static void most_symbols(void) {
    BENCH_OPEN(b);
    enum { SYMBOLS = 256 };
    const char *const *shapes, *path = write_inputs(&b, SYMBOLS, 0, &shapes);
    xpuc_result result;
    xpuc_error error = {0};
    double start = xpu_seconds();
    int status = xpuc_compile_file(path, &(xpuc_options){.shapes = shapes, .precision = "fp32"}, &result, &error);
    if (status) printf("%s", error.text);
    CU_ASSERT_EQUAL(status, 0);
    CU_ASSERT(xpu_seconds() - start < 30);
    xpuc_error_clear(&error);
    xpuc_result_clear(&result);
    bench_close(&b);
}

/* A sum of 60 symbols has no form: that is no matter of how many elements there are. */
static void too_complex_a_dim(void) {
    BENCH_OPEN(b);
    const char *const *shapes, *path = write_inputs(&b, 60, 1, &shapes);
    expect_error(
        path, &(xpuc_options){.shapes = shapes, .emit = "ir"},
        "error [shape-too-complex] node 'all' (Concat-13, #0): a dim of the result is too complex an expression\n"
        "  why: dim 0 overflows 64 bits, has more than 48 terms or 4096 operations, or all dims of the model "
        "together do; the operands are float32[S0,4], float32[S1,4], float32[S2,4] and 57 more\n");
    bench_close(&b);
}

/* A reason stands in every message. */
static void no_outputs(void) {
    BENCH_OPEN(b);
    xpu_onnx_builder m;
    xpu_onnx_begin(&m, b.arena, 13);
    xpu_onnx_input(&m, "x", 1, (const int64_t[]){4});
    xpu_onnx_node(&m, "Relu", "y", "y", (const char *const[]){"x", NULL});
    const char *path = write_network_file(&m, "nothing", xpu_temporary_folder(b.arena, &b.diags), &b.diags);
    expect_error(path, &(xpuc_options){.emit = "ir"},
                 "[onnx-output] the graph has no outputs\n  why: field GraphProto.output is empty");
    bench_close(&b);
}

XPU_TEST_MAIN("xpuc", {"--shape", shapes}, {"all wrong options at once", all_wrong_options}, {"graph text", graph_text},
              {"dump after every pass", dump_of_every_pass}, {"explain", explanation}, {"report", report},
              {"describe", description}, {"files", files}, {"out of memory", out_of_memory},
              {"many unsupported nodes", many_unsupported}, {"a name frees a dim", a_name_frees},
              {"too large a program", too_large_a_program}, {"as many symbols as may be", most_symbols},
              {"too complex a dim", too_complex_a_dim}, {"no outputs", no_outputs})
