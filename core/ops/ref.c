/* Running graphs and single nodes with the reference kernels. */
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

xpu_status xpu_ref_node(const xpu_graph *graph, xpu_node node, const int64_t *symbols, const xpu_tensor *const *inputs,
                        xpu_tensor *results, xpu_arena *arena, xpu_diags *diags) {
    const xpu_node_info *info = xpu_node_at(graph, node);
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
    if (status == XPU_OK) {
        status = info->op->ref(&(xpu_ref_args){.graph = graph,
                                               .node = node,
                                               .inputs = inputs,
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

/* ---- whole graphs ---- */

typedef struct {
    const xpu_graph *graph;
    const xpu_ref_options *options;
    xpu_tensor *values;  /* by value id */
    xpu_arena **owners;  /* by value id: the arena that holds the data of a node's first result, else NULL */
    uint32_t *remaining; /* by value id: uses still to come */
    xpu_arena *arena;    /* of the run */
    xpu_diags *diags;
} run;

static xpu_status constant_operand(run *r, xpu_value value, xpu_arena *arena) {
    const xpu_const *constant = xpu_value_at(r->graph, value)->constant;
    if (constant->kind != XPU_CONST_BYTES || constant->steps.count) {
        return xpu_const_tensor(r->graph, value, arena, &r->values[value.id], r->diags);
    }
    if (!concrete(r->graph, value, NULL, &r->values[value.id])) return XPU_EBUG;
    r->values[value.id].data = (void *)(uintptr_t)constant->bytes;
    return XPU_OK;
}

/* One arena per node holds its results; it goes when the last of them has been used. */
static void release(run *r, xpu_node node) {
    const xpu_node_info *info = xpu_node_at(r->graph, node);
    xpu_arena **owner = &r->owners[info->outputs[0].id];
    for (uint32_t i = 0; i < info->output_count; i++) {
        if (r->remaining[info->outputs[i].id] || xpu_value_at(r->graph, info->outputs[i])->is_output) return;
    }
    xpu_arena_free(*owner);
    *owner = NULL;
}

static xpu_status run_node(run *r, xpu_node node) {
    const xpu_graph *graph = r->graph;
    const xpu_node_info *info = xpu_node_at(graph, node);
    xpu_arena *constants = xpu_arena_new(xpu_arena_mem(r->arena), "constants");
    xpu_arena *owner = xpu_arena_new(xpu_arena_mem(r->arena), "results");
    const xpu_tensor **inputs = XPU_NEW_ARRAY(constants, const xpu_tensor *, info->input_count);
    xpu_tensor *results = XPU_NEW_ARRAY(constants, xpu_tensor, info->output_count);
    xpu_status status = XPU_OK;
    r->owners[info->outputs[0].id] = owner;
    xpu_doing(xpu_arena_mem(r->arena), "node", xpu_node_name(graph, node));
    for (uint32_t i = 0; i < info->input_count && status == XPU_OK; i++) {
        xpu_value value = info->inputs[i];
        if (!value.id) continue;
        if (xpu_value_at(graph, value)->kind == XPU_VALUE_CONST) status = constant_operand(r, value, constants);
        inputs[i] = &r->values[value.id];
    }
    if (status == XPU_OK) {
        status = xpu_ref_node(graph, node, r->options->symbols, inputs, results, owner, r->diags);
    }
    for (uint32_t i = 0; i < info->output_count && status == XPU_OK; i++) r->values[info->outputs[i].id] = results[i];
    if (status == XPU_OK && r->options->observer) {
        status = r->options->observer(r->options->context, node, results, info->output_count);
    }
    for (uint32_t i = 0; i < info->input_count && status == XPU_OK; i++) {
        xpu_value value = info->inputs[i];
        if (!value.id) continue;
        r->remaining[value.id]--;
        if (xpu_value_at(graph, value)->kind == XPU_VALUE_NODE) release(r, xpu_value_at(graph, value)->node);
    }
    if (status == XPU_OK) release(r, node);
    xpu_arena_free(constants);
    return status;
}

static xpu_status copy_output(run *r, xpu_value value, xpu_tensor *output, xpu_arena *arena) {
    if (xpu_value_at(r->graph, value)->kind == XPU_VALUE_CONST) {
        return xpu_const_tensor(r->graph, value, arena, output, r->diags);
    }
    *output = r->values[value.id];
    output->data = xpu_copy(arena, r->values[value.id].data, xpu_tensor_bytes(output));
    return XPU_OK;
}

xpu_status xpu_ref_run(const xpu_graph *graph, const xpu_ref_options *options, xpu_tensor *outputs, xpu_arena *arena,
                       xpu_diags *diags) {
    run r = {.graph = graph, .options = options, .diags = diags};
    r.arena = xpu_arena_new(xpu_arena_mem(arena), "ref");
    r.values = XPU_NEW_ARRAY(r.arena, xpu_tensor, graph->values.count);
    r.owners = XPU_NEW_ARRAY(r.arena, xpu_arena *, graph->values.count);
    r.remaining = XPU_NEW_ARRAY(r.arena, uint32_t, graph->values.count);
    for (uint32_t id = 1; id < graph->values.count; id++) r.remaining[id] = graph->values.items[id].uses.count;
    for (uint32_t i = 0; i < graph->inputs.count; i++) r.values[graph->inputs.items[i].id] = options->inputs[i];
    xpu_status status = XPU_OK;
    XPU_FOR_NODES(graph, node) {
        status = xpu_stopped(arena) ? XPU_ESTOPPED : run_node(&r, node);
        if (status != XPU_OK) break;
    }
    for (uint32_t i = 0; i < graph->outputs.count && status == XPU_OK; i++) {
        status = copy_output(&r, graph->outputs.items[i], &outputs[i], arena);
    }
    for (uint32_t id = 1; id < graph->values.count; id++) xpu_arena_free(r.owners[id]);
    xpu_arena_free(r.arena);
    return status;
}
