/* Short ways to build small graphs, and cases of passes: what a graph becomes, and that its results stay what they
 * were. */
#ifndef XPU_TESTS_UNIT_PASSES_H
#define XPU_TESTS_UNIT_PASSES_H

#include "core/passes/passes.h"
#include "tests/unit/ir.h"
#include "xpuc/pipeline.h"

static inline xpu_value constant(bench *b, int rank, const int64_t *dims) {
    xpu_tensor tensor = {.dtype = XPU_F32, .rank = rank};
    random_source r = {b->graph->values.count};
    for (int i = 0; i < rank; i++) tensor.dims[i] = dims[i];
    int64_t count = xpu_tensor_count(&tensor);
    float *data = XPU_NEW_ARRAY(b->arena, float, count);
    for (int64_t i = 0; i < count; i++) data[i] = 0.5f + (float)random_range(&r, 0, 1000) / 1000;
    tensor.data = data;
    return xpu_graph_const_bytes(b->graph, NULL, &tensor);
}

static inline xpu_value number(bench *b, float value) {
    return xpu_graph_const_f32(b->graph, NULL, value);
}

static inline xpu_value input(bench *b, int rank, const int64_t *dims) {
    return bench_input(b, NULL, XPU_F32, rank, dims);
}

static inline xpu_value op(bench *b, xpu_op_id id, const xpu_value *inputs, uint32_t count, const xpu_attr *attrs,
                           uint32_t attr_count) {
    return xpu_node_output(b->graph, bench_node(b, id, inputs, count, attrs, attr_count), 0);
}

#define COUNT_OF_LIST(type, ...) (sizeof((type[]){__VA_ARGS__}) / sizeof(type))
#define OP(b, id, ...)                                                                                                 \
    op(b, XPU_OP_##id, (const xpu_value[]){__VA_ARGS__}, COUNT_OF_LIST(xpu_value, __VA_ARGS__), NULL, 0)
#define OP_WITH(b, id, x, ...)                                                                                         \
    op(b, XPU_OP_##id, &(x), 1, (const xpu_attr[]){__VA_ARGS__}, COUNT_OF_LIST(xpu_attr, __VA_ARGS__))
#define OP_WITH2(b, id, x, y, ...)                                                                                     \
    op(b, XPU_OP_##id, (const xpu_value[]){x, y}, 2, (const xpu_attr[]){__VA_ARGS__},                                  \
       COUNT_OF_LIST(xpu_attr, __VA_ARGS__))
#define OUT(b, value) xpu_graph_output((b)->graph, value)

static inline xpu_value reshape(bench *b, xpu_value x, int rank, const int64_t *dims) {
    xpu_dim shape[XPU_MAX_RANK];
    for (int i = 0; i < rank; i++) shape[i] = xpu_dim_const(&b->graph->dims, dims[i]);
    xpu_attr attr = XPU_ATTR_DIMS_OF(SHAPE, shape, (uint32_t)rank);
    return op(b, XPU_OP_RESHAPE, &x, 1, &attr, 1);
}

static inline xpu_value conv(bench *b, xpu_value x) {
    return OP(b, CONV, x, constant(b, DIMS(4, 3, 3, 3)));
}

static inline xpu_value image(bench *b) {
    return input(b, DIMS(2, 3, 6, 7));
}

/* What the graph consists of: "conv+bias+clip chain(2)". */
static inline const char *summary(const bench *b) {
    static const char *const activations[] = {"", "+clip", "+leaky"};
    xpu_text text;
    xpu_text_init(&text, b->arena);
    XPU_FOR_ALL_NODES(b->graph, node) {
        const char *name = xpu_node_at(b->graph, node)->op->name;
        xpu_text_add(&text, "%s%s", text.length ? " " : "", name);
        if (strcmp(name, "chain") == 0) {
            const xpu_chain *chain = xpu_node_attr(b->graph, node, XPU_ATTR_STEPS)->chain;
            xpu_text_add(&text, "(%u)", chain->step_count);
        }
        if (strcmp(name, "conv") != 0 && strcmp(name, "matmul") != 0) continue;
        int after = xpu_node_int(b->graph, node, XPU_ATTR_BRANCH_AFTER) != 0;
        const char *branch = xpu_node_input(b->graph, node, XPU_IN_BRANCH).id ? "+branch" : "";
        const char *activation = activations[xpu_node_int(b->graph, node, XPU_ATTR_ACTIVATION)];
        xpu_text_add(&text, "%s%s%s", xpu_node_input(b->graph, node, XPU_IN_BIAS).id ? "+bias" : "",
                     after ? activation : branch, after ? branch : activation);
    }
    return text.text ? text.text : "";
}

typedef struct {
    const char *name;
    void (*build)(bench *b);
    const char *after;
} pass_case;

static inline void run_case(const pass_case *c, xpu_effect effect, xpu_status (*pass)(xpu_graph *, xpu_diags *)) {
    BENCH_OPEN(b);
    c->build(&b);
    CU_ASSERT_EQUAL_FATAL(b.diags.errors, 0);
    CU_ASSERT_EQUAL(xpu_verify(b.graph, "build", &b.diags), XPU_OK);
    xpu_value output = b.graph->outputs.items[0];
    const char *name = xpu_value_at(b.graph, output)->name;
    xpu_checker *checker = xpu_checker_new(b.arena);
    CU_ASSERT_EQUAL(xpu_checker_run(checker, b.graph, "build", XPU_EFFECT_DEFINES, &b.diags), XPU_OK);
    CU_ASSERT_EQUAL(pass(b.graph, &b.diags), XPU_OK);
    CU_ASSERT_EQUAL(xpu_verify(b.graph, "pass", &b.diags), XPU_OK);
    CU_ASSERT_EQUAL(xpu_checker_run(checker, b.graph, "pass", effect, &b.diags), XPU_OK);
    const char *found = summary(&b);
    if (strcmp(found, c->after) != 0) printf("%s: got '%s', expected '%s'\n", c->name, found, c->after);
    CU_ASSERT_STRING_EQUAL(found, c->after);
    CU_ASSERT_STRING_EQUAL(xpu_value_at(b.graph, b.graph->outputs.items[0])->name, name);
    CU_ASSERT_EQUAL(xpu_value_at(b.graph, b.graph->outputs.items[0])->kind, XPU_VALUE_NODE);
    if (b.diags.errors) bench_print(&b);
    CU_ASSERT_EQUAL(b.diags.errors, 0);
    bench_close(&b);
}

#define RUN_CASES(cases, effect, pass)                                                                                 \
    for (size_t i_ = 0; i_ < sizeof(cases) / sizeof *(cases); i_++) run_case(&(cases)[i_], effect, pass)

#endif
