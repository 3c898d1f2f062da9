/* What the tests of the XPU target share: its job over a graph made by hand. */
#ifndef XPU_TESTS_CODEGEN_FIXTURE_H
#define XPU_TESTS_CODEGEN_FIXTURE_H

#include "tests/unit/ir.h"
#include "xpu_codegen/state.h"
#include "xpu_codegen/xpu_codegen.h"
#include "xpuc/pipeline.h"

#define MODEL "tests/models/mnist-8.onnx"

typedef struct {
    xpu_compile_options options;
    xpu_target_job job;
    xpu_region region;
} work;

static inline xpu_codegen *work_start(bench *b, work *w, const char *chip, const char *precision) {
    *w = (work){.options = {.target = "xpu-sim",
                            .chip = chip,
                            .precision = precision,
                            .source_name = "test.onnx",
                            .resources = ".",
                            .emit = "c"}};
    w->job = (xpu_target_job){.services = &xpu_target_services,
                              .options = &w->options,
                              .graph = b->graph,
                              .arena = b->arena,
                              .diags = &b->diags};
    CU_ASSERT_EQUAL_FATAL(xpu_sim_target.start(&w->job), XPU_OK);
    return w->job.state;
}

/* Prepares; all nodes are one region. */
static inline void work_prepare(bench *b, work *w) {
    CU_ASSERT_EQUAL(xpu_sim_target.prepare(&w->job), XPU_OK);
    w->region = (xpu_region){.number = 1, .target = &xpu_sim_target};
    XPU_FOR_ALL_NODES(b->graph, node) xpu_node_at(b->graph, node)->region = 1;
    w->job.regions = &w->region;
    w->job.region_count = 1;
    CU_ASSERT_EQUAL(xpu_verify_stage(b->graph, "prepare", &w->job, &xpu_sim_target, &b->diags), XPU_OK);
    bench_print(b);
}

static inline xpu_value input(bench *b, const char *name, int rank, const int64_t *dims) {
    return bench_input(b, name, XPU_F32, rank, dims);
}

static inline xpu_value constant(bench *b, int rank, const int64_t *dims) {
    xpu_tensor tensor = {.dtype = XPU_F32, .rank = rank};
    memcpy(tensor.dims, dims, (size_t)rank * sizeof *dims);
    int64_t count = xpu_tensor_count(&tensor);
    float *data = XPU_NEW_ARRAY(b->arena, float, count);
    for (int64_t i = 0; i < count; i++) data[i] = (float)(i % 7) - 3;
    tensor.data = data;
    return xpu_graph_const_bytes(b->graph, NULL, &tensor);
}

static inline xpu_value node1(bench *b, xpu_op_id op, xpu_value x, const xpu_attr *attrs, uint32_t count) {
    xpu_node node = bench_node(b, op, &x, 1, attrs, count);
    return xpu_node_output(b->graph, node, 0);
}

static inline xpu_value node2(bench *b, xpu_op_id op, xpu_value x, xpu_value y, const xpu_attr *attrs, uint32_t count) {
    xpu_node node = bench_node(b, op, (xpu_value[]){x, y}, 2, attrs, count);
    return xpu_node_output(b->graph, node, 0);
}

/* One elementwise operator as a chain. */
static inline xpu_value step1(bench *b, xpu_elementwise op, xpu_value x) {
    xpu_chain chain = {.input_count = 1, .step_count = 1, .steps = {{.op = op}}};
    return node1(b, XPU_OP_CHAIN, x, &XPU_ATTR_CHAIN_OF(STEPS, &chain), 1);
}

static inline xpu_value step2(bench *b, xpu_elementwise op, xpu_value x, xpu_value y) {
    xpu_chain chain = {.input_count = 2, .step_count = 1, .steps = {{.op = op, .operands = {0, 1}}}};
    return node2(b, XPU_OP_CHAIN, x, y, &XPU_ATTR_CHAIN_OF(STEPS, &chain), 1);
}

static inline xpu_value conv(bench *b, xpu_value x, int64_t out, int64_t in, int64_t kernel, int64_t groups) {
    xpu_attr attr = XPU_ATTR_INT_OF(GROUP, groups);
    return node2(b, XPU_OP_CONV, x, constant(b, DIMS(out, in / groups, kernel, kernel)), &attr, 1);
}

static inline uint32_t count_ops(const bench *b, xpu_op_id op) {
    uint32_t count = 0;
    XPU_FOR_ALL_NODES(b->graph, node) count += (uint32_t)xpu_node_is(b->graph, node, op);
    return count;
}

static inline xpu_node maker(const bench *b, xpu_value value) {
    return xpu_value_at(b->graph, value)->node;
}

#endif
