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
    if (info->output_count != 1 || info->block_count || !info->input_count) return 0;
    for (uint32_t i = 0; i < info->input_count; i++) {
        if (info->inputs[i].id && !xpu_is_constant(graph, info->inputs[i])) return 0;
    }
    return 1;
}

/* Moving the elements of a constant is one more step of its recipe. {0} where the node does something else. */
static xpu_value derive(xpu_graph *graph, xpu_node node, xpu_diags *diags) {
    xpu_value operand = xpu_node_input(graph, node, 0), result = xpu_node_output(graph, node, 0);
    xpu_const_step step = {.rank = xpu_value_at(graph, result)->rank};
    if (xpu_node_is(graph, node, XPU_OP_RESHAPE)) {
        step.kind = XPU_STEP_RESHAPE;
        if (!xpu_value_dims(graph, result, NULL, step.dims)) return (xpu_value){0};
    } else if (xpu_node_is(graph, node, XPU_OP_TRANSPOSE)) {
        uint32_t count;
        const int64_t *perm = xpu_node_ints(graph, node, XPU_ATTR_PERM, &count);
        step.kind = XPU_STEP_TRANSPOSE;
        for (uint32_t i = 0; i < count; i++) step.dims[i] = perm[i];
    } else {
        return (xpu_value){0};
    }
    return xpu_const_derive(graph, operand, &step, xpu_value_at(graph, result)->name, diags);
}

static int may_compute(const xpu_graph *graph, xpu_node node, uint64_t *budget) {
    const xpu_node_info *info = xpu_node_at(graph, node);
    uint64_t count = element_count(graph, info->outputs[0]), bytes, work, most = 0;
    if (!info->op->ref) return 0;
    if (__builtin_mul_overflow(count, xpu_dtype_bytes(xpu_value_at(graph, info->outputs[0])->dtype), &bytes)) return 0;
    if (bytes > MAX_FOLD_BYTES || bytes > *budget) return 0;
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

static xpu_value compute(xpu_graph *graph, xpu_node node, xpu_diags *diags) {
    xpu_arena *arena = xpu_arena_new(xpu_arena_mem(graph->arena), "fold");
    xpu_tensor result = {.dtype = XPU_DTYPE_NONE};
    xpu_value value = {0};
    if (xpu_ref_constants(graph, node, &result, arena, diags) == XPU_OK) {
        value = xpu_graph_const_bytes(graph, xpu_value_at(graph, xpu_node_output(graph, node, 0))->name, &result);
    }
    xpu_arena_free(arena);
    return value;
}

/* The constant that the node's result is, or {0}. */
static xpu_value constant_of(xpu_graph *graph, xpu_node node, uint64_t *budget, xpu_diags *diags) {
    xpu_value operand = xpu_node_input(graph, node, 0), result = xpu_node_output(graph, node, 0);
    if (xpu_node_is(graph, node, XPU_OP_IDENTITY) && xpu_is_constant(graph, operand)) return operand;
    if (xpu_is_constant(graph, result)) {
        xpu_tensor tensor;
        xpu_arena *arena = xpu_arena_new(xpu_arena_mem(graph->arena), "fold");
        xpu_value value = {0};
        if (xpu_const_tensor(graph, result, arena, &tensor, diags) == XPU_OK) {
            value = xpu_graph_const_bytes(graph, xpu_value_at(graph, result)->name, &tensor);
        }
        xpu_arena_free(arena);
        return value;
    }
    if (!all_constant(graph, node)) return (xpu_value){0};
    xpu_value value = derive(graph, node, diags);
    return value.id || !may_compute(graph, node, budget) ? value : compute(graph, node, diags);
}

/* An output of the graph is the result of a node: a constant one becomes a copy of the constant. */
static void keep_output(xpu_graph *graph, xpu_node node, xpu_value constant, xpu_diags *diags) {
    xpu_replace_node(graph, node, constant);
    if (xpu_node_at(graph, node)->dead) return;
    xpu_rewrite(graph, node, XPU_OP_IDENTITY, &constant, 1, NULL, 0);
    xpu_op_infer(graph, node, diags);
}

xpu_status xpu_pass_fold(xpu_graph *graph, xpu_diags *diags) {
    uint64_t budget = MAX_FOLD_BUDGET;
    size_t errors = diags->errors;
    for (xpu_node node = xpu_graph_first(graph), next; node.id && diags->errors == errors; node = next) {
        next = xpu_node_next(graph, node);
        xpu_value operand = xpu_node_input(graph, node, 0);
        int is_copy = xpu_node_is(graph, node, XPU_OP_IDENTITY) && operand.id &&
                      xpu_value_at(graph, operand)->kind == XPU_VALUE_CONST &&
                      xpu_value_at(graph, xpu_node_output(graph, node, 0))->is_output;
        if (is_copy) {
            xpu_replace_node(graph, node, operand);
            continue;
        }
        xpu_value constant = constant_of(graph, node, &budget, diags);
        if (constant.id) keep_output(graph, node, constant, diags);
    }
    xpu_remove_dead(graph);
    return diags->errors == errors ? XPU_OK : xpu_diags_status(diags);
}
