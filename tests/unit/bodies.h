/* Nodes with bodies, made by hand: what tests of control flow build their graphs with. */
#ifndef XPU_TESTS_BODIES_H
#define XPU_TESTS_BODIES_H

#include "tests/unit/ir.h"

static inline xpu_value op2(bench *b, xpu_op_id op, xpu_value x, xpu_value y) {
    return xpu_node_output(b->graph, bench_node(b, op, (xpu_value[]){x, y}, 2, NULL, 0), 0);
}
static inline xpu_value op1(bench *b, xpu_op_id op, xpu_value x) {
    return xpu_node_output(b->graph, bench_node(b, op, &x, 1, NULL, 0), 0);
}
static inline xpu_value number(bench *b, xpu_dtype dtype, int64_t value) {
    return xpu_graph_const_bytes(b->graph, NULL, &(xpu_tensor){.dtype = dtype, .data = &value});
}
static inline xpu_node add_control(bench *b, xpu_op_id op, const xpu_value *inputs, uint32_t count, uint32_t outputs) {
    return xpu_graph_add(b->graph, (xpu_node){0}, xpu_op_of(op), inputs, count, NULL, outputs, NULL, 0, NULL, 0);
}
static inline void infer(bench *b, xpu_node node) {
    CU_ASSERT_EQUAL(xpu_op_infer(b->graph, node, &b->diags), XPU_OK);
}
static inline xpu_block enter(bench *b, xpu_node owner) {
    return xpu_graph_enter(b->graph, xpu_graph_block(b->graph, owner));
}
/* The body being built ends with these results. */
static inline void leave(bench *b, xpu_block outer, const xpu_value *results, uint32_t count) {
    xpu_block body = xpu_graph_enter(b->graph, outer);
    for (uint32_t i = 0; i < count; i++) xpu_block_add_result(b->graph, body, results[i]);
}

#endif
