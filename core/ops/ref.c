/* Running single nodes with the reference kernels. */
#include "core/ops/ref.h"

#include <string.h>

#include "core/ops/ref_util.h"

xpu_status xpu_ref_refuse(const xpu_ref_args *args, const char *what) {
    return xpu_error(args->diags, XPU_EUSAGE, args->graph->file, "ref-shape",
                     xpu_node_where(args->graph, args->node, args->scratch), what,
                     "the shapes given for this run are outside what the operator can do", "give another input shape");
}

static xpu_status shape_error(const xpu_graph *graph, xpu_node node, const char *what, xpu_arena *scratch,
                              xpu_diags *diags) {
    return xpu_error(diags, XPU_EUSAGE, graph->file, "ref-shape", xpu_node_where(graph, node, scratch), what,
                     "the shapes given for this run do not fit the model", "give another input shape");
}

/* Dims of a value under the binding, at most 2^40 elements. */
static int concrete(const xpu_graph *graph, xpu_value value, const int64_t *symbols, xpu_tensor *tensor) {
    const xpu_value_info *info = xpu_value_at(graph, value);
    int64_t count = 1;
    *tensor = (xpu_tensor){.dtype = info->dtype, .rank = info->rank};
    if (!xpu_value_dims(graph, value, symbols, tensor->dims)) return 0;
    for (int i = 0; i < info->rank; i++) {
        if (__builtin_mul_overflow(count, tensor->dims[i], &count) || count > (int64_t)1 << 40) return 0;
    }
    return 1;
}

xpu_status xpu_ref_node_metered(const xpu_graph *graph, xpu_node node, const xpu_ref_options *options,
                                const xpu_tensor *const *inputs, xpu_tensor *results, xpu_arena *arena,
                                xpu_diags *diags) {
    if (xpu_node_at(graph, node)->block_count)
        return xpu_ref_control(graph, node, options, inputs, results, arena, diags);
    return xpu_ref_node(graph, node, options->symbols, inputs, results, arena, diags);
}

/* As many as the operator may have: those that are left out at the end are NULL. */
static const xpu_tensor *const *all_operands(const xpu_node_info *info, const xpu_tensor *const *inputs,
                                             xpu_arena *scratch) {
    const uint32_t most = (uint32_t)info->op->max_inputs;
    if (info->input_count >= most) return inputs;
    const xpu_tensor **all = XPU_NEW_ARRAY(scratch, const xpu_tensor *, most);
    for (uint32_t i = 0; i < info->input_count; i++) all[i] = inputs[i];
    return all;
}

/* Of results without elements nothing is computed, however large the dims beside the empty one are. */
static int is_any(const xpu_tensor *results, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        if (xpu_tensor_count(&results[i])) return 1;
    }
    return 0;
}

xpu_status xpu_ref_node(const xpu_graph *graph, xpu_node node, const int64_t *symbols, const xpu_tensor *const *inputs,
                        xpu_tensor *results, xpu_arena *arena, xpu_diags *diags) {
    const xpu_node_info *info = xpu_node_at(graph, node);
    if (info->block_count) {
        const xpu_ref_options options = {.symbols = symbols};
        return xpu_ref_control(graph, node, &options, inputs, results, arena, diags);
    }
    xpu_arena *scratch = xpu_arena_new(xpu_arena_mem(arena), "kernel");
    xpu_tensor **outputs = XPU_NEW_ARRAY(scratch, xpu_tensor *, info->output_count);
    xpu_status status = XPU_OK;
    if (!info->op->ref) {
        status = xpu_error(diags, XPU_EBUG, graph->file, "ref-kernel", xpu_node_where(graph, node, scratch),
                           "the operator has no reference kernel", info->op->no_ref, "expand it first");
    }
    for (uint32_t i = 0; i < info->input_count && status == XPU_OK; i++) {
        xpu_tensor expected;
        if (!info->inputs[i].id) continue;
        if (!inputs[i] || !concrete(graph, info->inputs[i], symbols, &expected) ||
            !xpu_same_shape(inputs[i], &expected)) {
            status = shape_error(graph, node, "an operand has not the dims of this run", scratch, diags);
        }
    }
    for (uint32_t i = 0; i < info->output_count && status == XPU_OK; i++) {
        if (!concrete(graph, info->outputs[i], symbols, &results[i])) {
            status = shape_error(graph, node, "a result has no valid dims in this run", scratch, diags);
            break;
        }
        results[i].data = xpu_alloc(arena, xpu_tensor_bytes(&results[i]));
        outputs[i] = &results[i];
    }
    if (status == XPU_OK && is_any(results, info->output_count)) {
        status = info->op->ref(&(xpu_ref_args){.graph = graph,
                                               .node = node,
                                               .inputs = all_operands(info, inputs, scratch),
                                               .outputs = outputs,
                                               .symbols = symbols,
                                               .scratch = scratch,
                                               .diags = diags});
    }
    xpu_arena_free(scratch);
    return status;
}

xpu_status xpu_ref_constants(const xpu_graph *graph, xpu_node node, xpu_tensor *results, xpu_arena *arena,
                             xpu_diags *diags) {
    const xpu_node_info *info = xpu_node_at(graph, node);
    xpu_tensor *operands = XPU_NEW_ARRAY(arena, xpu_tensor, info->input_count);
    const xpu_tensor **inputs = XPU_NEW_ARRAY(arena, const xpu_tensor *, info->input_count);
    for (uint32_t i = 0; i < info->input_count; i++) {
        if (!info->inputs[i].id) continue;
        xpu_status status = xpu_const_tensor(graph, info->inputs[i], arena, &operands[i], diags);
        if (status != XPU_OK) return status;
        inputs[i] = &operands[i];
    }
    return xpu_ref_node(graph, node, NULL, inputs, results, arena, diags);
}
