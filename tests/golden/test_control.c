/*
 * Branches and loops on the device: small networks made by hand, compiled, and run on ref, func and (some) on the
 * Verilated chip. What they compute is compared with a plain formula.
 */
#include <stdio.h>
#include <string.h>

#include "core/ops/control.h"
#include "tests/unit/bodies.h"
#include "tools/common/inputs.h"
#include "xpu_runtime/include/xpurt_device.h"
#include "xpu_runtime/include/xpurt_func.h"
#include "xpuc/pipeline.h"

int xpu_compile_built(const char *call, const xpu_built *built, const char *output, int to_file,
                      const xpuc_options *options, xpuc_result *result, xpuc_error *error);

enum { N = 24 };

/* ---- making networks ---- */

/* A loop that is being built: its body's arguments. */
typedef struct {
    xpu_node node;
    xpu_block outer;
    xpu_value iteration, condition, carried[4];
} loop;

static loop begin_loop(bench *b, xpu_value trips, xpu_value condition, const xpu_value *first, uint32_t carried,
                       uint32_t stacked) {
    xpu_value inputs[8] = {trips, condition};
    for (uint32_t i = 0; i < carried; i++) inputs[2 + i] = first[i];
    loop l = {.node = add_control(b, XPU_OP_LOOP, inputs, 2 + carried, carried + stacked + 1)};
    xpu_block body = xpu_graph_block(b->graph, l.node);
    l.outer = xpu_graph_enter(b->graph, body);
    l.iteration = xpu_block_argument(b->graph, body, NULL, XPU_I64, 0, NULL);
    l.condition = xpu_block_argument(b->graph, body, NULL, XPU_BOOL, 0, NULL);
    for (uint32_t i = 0; i < carried; i++) {
        const xpu_value_info info = *xpu_value_at(b->graph, first[i]);
        l.carried[i] = xpu_block_argument(b->graph, body, NULL, info.dtype, info.rank, info.dims);
    }
    return l;
}

/* ---- running them ---- */

typedef struct {
    char *program;
    size_t size;
    xpurt_program *opened;
} compiled;

static void compile(bench *b, compiled *c, const char *chip, const char *precision) {
    xpu_diags diags;
    xpu_diags_init(&diags);
    xpu_built built = {.name = "control", .graph = b->graph, .diags = &diags};
    xpuc_options options = {.chip = chip, .precision = precision, .emit = getenv("XPU_EMIT")};
    xpuc_result result;
    xpuc_error error;
    bench_print(b);
    int status = xpu_compile_built("test", &built, NULL, 0, &options, &result, &error);
    if (status) fprintf(stderr, "%s\n", error.text);
    CU_ASSERT_EQUAL_FATAL(status, 0);
    if (getenv("XPU_KEEP")) {
        FILE *f = fopen(getenv("XPU_KEEP"), "wb");
        fwrite(result.bytes, 1, result.size, f);
        fclose(f);
    }
    c->program = memcpy(xpu_alloc(b->arena, result.size), result.bytes, c->size = result.size);
    xpuc_result_clear(&result);
    xpurt_error bad;
    c->opened = xpurt_open_memory(c->program, c->size, "control.xpu", &bad);
    if (!c->opened) fprintf(stderr, "%s\n", bad.text);
    CU_ASSERT_PTR_NOT_NULL_FATAL(c->opened);
}

static void compute(bench *b, const compiled *c, const xpurt_device_driver *device, const xpurt_tensor *inputs,
                    uint32_t count, xpu_tensor *outputs, char **stats) {
    xpurt_tensor out[4];
    xpurt_run_options options = {.device = device, .stats = stats};
    xpurt_error error;
    int status = xpurt_run(c->opened, inputs, count, out, &options, &error);
    if (status) fprintf(stderr, "%s\n", error.text);
    CU_ASSERT_EQUAL_FATAL(status, 0);
    for (uint32_t i = 0; i < xpurt_output_count(c->opened); i++) {
        outputs[i] = xpu_from_runtime(&out[i]);
        outputs[i].data = xpu_copy(b->arena, outputs[i].data, xpu_tensor_bytes(&outputs[i]));
    }
}

/* ---- networks ---- */

/* y = c ? relu(x) : (d ? -x : x + x * x) */
static void make_branches(bench *b) {
    xpu_value c = xpu_graph_input(b->graph, "c", XPU_BOOL, 0, NULL), d = bench_input(b, "d", XPU_BOOL, DIMS(1));
    xpu_value x = bench_input(b, "x", XPU_F32, DIMS(N)), s = op2(b, XPU_OP_MUL, x, x);
    xpu_node outer_if = add_control(b, XPU_OP_IF, &c, 1, 1);
    xpu_block top = enter(b, outer_if);
    xpu_value result = op1(b, XPU_OP_RELU, x);
    leave(b, top, &result, 1);
    top = enter(b, outer_if);
    xpu_node inner_if = add_control(b, XPU_OP_IF, &d, 1, 1);
    xpu_block middle = enter(b, inner_if);
    result = op1(b, XPU_OP_NEG, x);
    leave(b, middle, &result, 1);
    middle = enter(b, inner_if);
    result = op2(b, XPU_OP_ADD, x, s);
    leave(b, middle, &result, 1);
    infer(b, inner_if);
    result = xpu_node_output(b->graph, inner_if, 0);
    leave(b, top, &result, 1);
    infer(b, outer_if);
    xpu_graph_output(b->graph, xpu_node_output(b->graph, outer_if, 0));
}

static const xpurt_device_driver *device(int which) {
    return which == 0 ? NULL : xpurt_func_driver();
}

static void branches(void) {
    BENCH_OPEN(b);
    compiled c;
    make_branches(&b);
    compile(&b, &c, "nano", "fp32");
    float x[N];
    for (int i = 0; i < N; i++) x[i] = (float)(i - 10) * 0.5f;
    for (int run = 0; run < 8; run++) {
        uint8_t first = run & 1, second = run >> 1 & 1;
        xpurt_tensor in[] = {
            {"c", "bool", 0, {0}, &first}, {"d", "bool", 1, {1}, &second}, {"x", "float32", 1, {N}, x}};
        xpu_tensor out;
        compute(&b, &c, device(run >> 2), in, 3, &out, NULL);
        for (int i = 0; i < N; i++) {
            float wanted = first ? (x[i] > 0 ? x[i] : 0) : second ? -x[i] : x[i] + x[i] * x[i];
            CU_ASSERT_EQUAL(((float *)out.data)[i], wanted);
        }
    }
    xpurt_close(c.opened);
    bench_close(&b);
}

/* a, b = b, a + b, at most `trips` times and while the iteration is below `limit`; the stack of all a. */
static void make_pairs(bench *b) {
    xpu_graph *g = b->graph;
    xpu_value trips = xpu_graph_input(g, "trips", XPU_I64, 0, NULL),
              limit = xpu_graph_input(g, "limit", XPU_I64, 0, NULL);
    xpu_value first[] = {bench_input(b, "x", XPU_F32, DIMS(N)), bench_input(b, "z", XPU_F32, DIMS(N))};
    loop l = begin_loop(b, trips, (xpu_value){0}, first, 2, 1);
    xpu_value next = op2(b, XPU_OP_ADD, l.carried[0], l.carried[1]);
    xpu_value again = op2(b, XPU_OP_LESS, op2(b, XPU_OP_ADD, l.iteration, number(b, XPU_I64, 1)), limit);
    leave(b, l.outer, (xpu_value[]){again, l.carried[1], next, l.carried[0]}, 4);
    xpu_value count = xpu_node_output(g, l.node, 3), stack = xpu_node_output(g, l.node, 2);
    xpu_dim symbol = xpu_dim_new_symbol(&g->dims, "count", 0, 64, count, 0, (xpu_dim){0});
    xpu_value_at(g, stack)->rank = 2;
    xpu_value_at(g, stack)->dims[0] = symbol;
    xpu_value_at(g, stack)->dims[1] = xpu_dim_const(&g->dims, N);
    infer(b, l.node);
    for (uint32_t i = 0; i < 4; i++) xpu_graph_output(g, xpu_node_output(g, l.node, i));
}

static void pairs(void) {
    enum { MOST = 64 };
    BENCH_OPEN(b);
    compiled c;
    make_pairs(&b);
    compile(&b, &c, "nano", "fp32");
    static const int64_t cases[][2] = {{5, 100}, {10, 3}, {0, 9}, {1, 1}, {7, 0}, {INT64_MAX, 20}};
    for (size_t k = 0; k < 2 * (sizeof cases / sizeof *cases); k++) {
        int64_t trips = cases[k / 2][0], limit = cases[k / 2][1];
        float x[N], z[N], stack[MOST][N];
        for (int i = 0; i < N; i++) x[i] = (float)i, z[i] = (float)(3 - i);
        xpurt_tensor in[] = {{"trips", "int64", 0, {0}, &trips},
                             {"limit", "int64", 0, {0}, &limit},
                             {"x", "float32", 1, {N}, xpu_copy(b.arena, x, sizeof x)},
                             {"z", "float32", 1, {N}, xpu_copy(b.arena, z, sizeof z)}};
        xpu_tensor out[4];
        compute(&b, &c, device(k & 1), in, 4, out, NULL);
        int64_t count = 0;
        for (int goes_on = 1; count < trips && goes_on; count++) {
            for (int i = 0; i < N; i++) {
                float sum = x[i] + z[i];
                stack[count][i] = x[i];
                x[i] = z[i];
                z[i] = sum;
            }
            goes_on = count + 1 < limit;
        }
        CU_ASSERT_EQUAL(*(int64_t *)out[3].data, count);
        CU_ASSERT_EQUAL(memcmp(out[0].data, x, sizeof x), 0);
        CU_ASSERT_EQUAL(memcmp(out[1].data, z, sizeof z), 0);
        CU_ASSERT_EQUAL_FATAL(out[2].dims[0], count);
        CU_ASSERT_EQUAL(memcmp(out[2].data, stack, (size_t)count * sizeof *stack), 0);
    }
    xpurt_close(c.opened);
    bench_close(&b);
}

XPU_TEST_MAIN("control", {"branches", branches}, {"pairs", pairs})
