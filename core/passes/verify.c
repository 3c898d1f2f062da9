/* What must hold of the operators in a graph. Every node is looked at, blocks of control flow included. */
#include "core/passes/verify.h"

#include "core/ops/op.h"

typedef struct {
    const xpu_graph *graph;
    const char *stage;
    xpu_diags *diags;
    xpu_arena *arena; /* for messages */
    size_t problems;
} verifier;

enum { MAX_PROBLEMS = 50 };

static void problem(verifier *v, xpu_node node, const char *what) {
    if (++v->problems > MAX_PROBLEMS) return;
    xpu_error(v->diags, XPU_EBUG, v->graph->file, "ir-verify", xpu_node_where(v->graph, node, v->arena), what,
              xpu_printf(v->arena, "an invariant of the graph does not hold after '%s'", v->stage),
              "this is a bug of the compiler: please report it with the model");
}

static void check_types(verifier *v, xpu_node node) {
    const xpu_node_info *info = xpu_node_at(v->graph, node);
    for (uint32_t i = 0; i < info->input_count; i++) {
        if (!info->inputs[i].id) continue;
        xpu_dtype dtype = xpu_value_at(v->graph, info->inputs[i])->dtype;
        if (xpu_op_takes(info->op, i) & XPU_TYPE_SET(dtype)) continue;
        problem(v, node, xpu_printf(v->arena, "operand %u is %s, which is not in its row", i, xpu_dtype_name(dtype)));
    }
    for (uint32_t i = 0; i < info->output_count; i++) {
        xpu_dtype dtype = xpu_value_at(v->graph, info->outputs[i])->dtype;
        if (xpu_op_gives(info->op, i) & XPU_TYPE_SET(dtype)) continue;
        problem(v, node, xpu_printf(v->arena, "result %u is %s, which is not in its row", i, xpu_dtype_name(dtype)));
    }
}

static void check_chain(verifier *v, xpu_node node) {
    const xpu_attr *steps = xpu_node_attr(v->graph, node, XPU_ATTR_STEPS);
    if (!steps || !xpu_chain_is_valid(steps->chain, xpu_node_at(v->graph, node)->input_count)) {
        problem(v, node, "the chain's program is not valid");
    }
}

xpu_status xpu_verify(const xpu_graph *graph, const char *stage, xpu_diags *diags) {
    xpu_status status = xpu_graph_verify(graph, stage, diags);
    if (status != XPU_OK) return status;
    verifier v = {.graph = graph, .stage = stage ? stage : "", .diags = diags};
    v.arena = xpu_arena_new(xpu_arena_mem(graph->arena), "verify");
    for (uint32_t id = 1; id < graph->nodes.count; id++) {
        const xpu_node_info *info = &graph->nodes.items[id];
        if (info->dead) continue;
        check_types(&v, (xpu_node){id});
        if (info->op == xpu_op_of(XPU_OP_CHAIN)) check_chain(&v, (xpu_node){id});
    }
    xpu_arena_free(v.arena);
    return v.problems ? XPU_EBUG : XPU_OK;
}
