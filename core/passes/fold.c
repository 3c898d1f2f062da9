/* Folding: what depends on constants only becomes a constant. */
#include "core/ops/ref.h"
#include "core/passes/passes.h"
#include "core/passes/rewrite.h"

/* Limits of folding by running the reference kernel: what stays above them is computed on the device. */
#define MAX_FOLD_BYTES  ((uint64_t)64 << 20)  /* of one result */
#define MAX_FOLD_BUDGET ((uint64_t)256 << 20) /* of all results of one run of the pass */
#define MAX_FOLD_WORK   ((uint64_t)1 << 30)   /* result elements x elements of the largest operand */

static uint64_t element_count(const xpu_graph *graph, xpu_value value) {
    int64_t dims[XPU_MAX_RANK];
    uint64_t count = 1;
    if (!xpu_value_dims(graph, value, NULL, dims)) return UINT64_MAX;
    for (int i = 0; i < xpu_value_at(graph, value)->rank; i++) {
        if (__builtin_mul_overflow(count, (uint64_t)dims[i], &count)) return UINT64_MAX;
    }
    return count;
}

static int all_constant(const xpu_graph *graph, xpu_node node) {
    const xpu_node_info *info = xpu_node_at(graph, node);
    if (info->block_count || !info->input_count) return 0;
    for (uint32_t i = 0; i < info->input_count; i++) {
        if (info->inputs[i].id && !xpu_is_constant(graph, info->inputs[i])) return 0;
    }
    return 1;
}

/* Bytes of a result, or UINT64_MAX. */
static uint64_t result_bytes(const xpu_graph *graph, xpu_value value) {
    uint64_t bytes, element = xpu_dtype_bytes(xpu_value_at(graph, value)->dtype);
    return __builtin_mul_overflow(element_count(graph, value), element, &bytes) ? UINT64_MAX : bytes;
}

static int may_compute(const xpu_graph *graph, xpu_node node, uint64_t *budget) {
    const xpu_node_info *info = xpu_node_at(graph, node);
    uint64_t count = 0, bytes = 0, work, most = 0;
    if (!info->op->ref) return 0;
    for (uint32_t i = 0; i < info->output_count; i++) {
        uint64_t own = result_bytes(graph, info->outputs[i]), elements = element_count(graph, info->outputs[i]);
        if (own > MAX_FOLD_BYTES) return 0;
        bytes += own;
        if (elements > count) count = elements;
    }
    if (bytes > *budget) return 0;
    for (uint32_t i = 0; i < info->input_count; i++) {
        uint64_t elements = info->inputs[i].id ? element_count(graph, info->inputs[i]) : 0;
        if (elements > most) most = elements;
    }
    if (most > MAX_FOLD_BYTES) return 0;
    if (!xpu_node_has(graph, node, XPU_TRAIT_CHEAP) &&
        (__builtin_mul_overflow(count, most, &work) || work > MAX_FOLD_WORK))
        return 0;
    *budget -= bytes;
    return 1;
}

/* constants[i] becomes result i by the reference kernel. */
static void compute(xpu_graph *graph, xpu_node node, xpu_value *constants, xpu_diags *diags) {
    uint32_t count = xpu_node_at(graph, node)->output_count;
    xpu_arena *arena = xpu_arena_new(xpu_arena_mem(graph->arena), "fold");
    xpu_tensor *results = XPU_NEW_ARRAY(arena, xpu_tensor, count);
    if (xpu_ref_constants(graph, node, results, arena, diags) == XPU_OK) {
        for (uint32_t i = 0; i < count; i++) {
            const char *name = xpu_value_at(graph, xpu_node_output(graph, node, i))->name;
            constants[i] = xpu_graph_const_bytes(graph, name, &results[i]);
        }
    }
    xpu_arena_free(arena);
}

/* A result whose bytes are known as a constant of its own. */
static xpu_value known_constant(xpu_graph *graph, xpu_value result, xpu_diags *diags) {
    xpu_tensor tensor;
    xpu_arena *arena = xpu_arena_new(xpu_arena_mem(graph->arena), "fold");
    xpu_value value = {0};
    if (xpu_const_tensor(graph, result, arena, &tensor, diags) == XPU_OK) {
        value = xpu_graph_const_bytes(graph, xpu_value_at(graph, result)->name, &tensor);
    }
    xpu_arena_free(arena);
    return value;
}

/* The constants that the node's results are; {0} where one is none. */
static void find_constants(xpu_graph *graph, xpu_node node, uint64_t *budget, xpu_value *constants, xpu_diags *diags) {
    xpu_value operand = xpu_node_input(graph, node, 0);
    uint32_t count = xpu_node_at(graph, node)->output_count;
    int known = 0;
    if (xpu_node_is(graph, node, XPU_OP_IDENTITY) && xpu_is_constant(graph, operand)) {
        constants[0] = operand;
        return;
    }
    for (uint32_t output = 0; output < count; output++) {
        xpu_value result = xpu_node_output(graph, node, output);
        if (!xpu_is_constant(graph, result)) continue;
        constants[output] = known_constant(graph, result, diags);
        known = 1;
    }
    if (known || !all_constant(graph, node)) return;
    if (count == 1) constants[0] = xpu_moved_constant(graph, node, diags);
    if (!constants[0].id && may_compute(graph, node, budget)) compute(graph, node, constants, diags);
}

/* An output of the graph is the result of a node: a constant one becomes a copy of the constant. */
static void replace_result(xpu_graph *graph, xpu_node node, uint32_t output, xpu_value constant, xpu_diags *diags) {
    const xpu_node_info info = *xpu_node_at(graph, node);
    if (info.output_count == 1) {
        xpu_replace_node(graph, node, constant);
        if (xpu_node_at(graph, node)->dead) return;
        xpu_rewrite(graph, node, XPU_OP_IDENTITY, &constant, 1, NULL, 0);
        xpu_op_infer(graph, node, diags);
        return;
    }
    if (xpu_value_at(graph, info.outputs[output])->is_output) {
        xpu_node copy = xpu_build(graph, node, XPU_OP_IDENTITY, &constant, 1, NULL, NULL, 0, info.origins.items,
                                  info.origins.count, diags);
        constant = xpu_node_output(graph, copy, 0);
    }
    xpu_value_replace(graph, info.outputs[output], constant);
}

static void fold_node(xpu_graph *graph, xpu_node node, uint64_t *budget, xpu_diags *diags) {
    uint32_t count = xpu_node_at(graph, node)->output_count;
    enum { FEW = 4 }; /* results that nearly all nodes have at most */
    xpu_value few[FEW] = {{0}}, *constants = count <= FEW ? few : XPU_NEW_ARRAY(graph->arena, xpu_value, count);
    find_constants(graph, node, budget, constants, diags);
    for (uint32_t i = 0; i < count; i++) {
        if (constants[i].id) replace_result(graph, node, i, constants[i], diags);
    }
}

xpu_status xpu_pass_fold(xpu_graph *graph, xpu_diags *diags) {
    uint64_t budget = MAX_FOLD_BUDGET;
    size_t errors = diags->errors;
    XPU_FOR_BLOCKS(graph, block) {
        for (xpu_node node = xpu_block_at(graph, block)->first, next; node.id && diags->errors == errors; node = next) {
            next = xpu_node_next(graph, node);
            xpu_value operand = xpu_node_input(graph, node, 0);
            int is_copy = xpu_node_is(graph, node, XPU_OP_IDENTITY) && operand.id &&
                          xpu_value_at(graph, operand)->kind == XPU_VALUE_CONST &&
                          xpu_value_at(graph, xpu_node_output(graph, node, 0))->is_output;
            if (is_copy) {
                xpu_replace_node(graph, node, operand);
            } else {
                fold_node(graph, node, &budget, diags);
            }
        }
    }
    xpu_remove_dead(graph);
    return xpu_diags_since(diags, errors);
}
