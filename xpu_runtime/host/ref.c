/* The device ref: the lowered graph on the host. */
#include "core/ops/ref.h"

#include <string.h>

#include "xpu_runtime/host/host.h"

/* Under the program's lock. What runs out of memory is released, but for constants that are complete. */
static xpu_status load_constants(xpu_run *run, int *no_memory) {
    xpurt_program *owner = run->owner;
    xpu_arena *newest = owner->mem.arenas;
    if (setjmp(owner->mem.out_of_memory)) {
        while (owner->mem.arenas != newest) xpu_arena_free(owner->mem.arenas);
        *no_memory = 1;
        return XPU_EIO;
    }
    return xpu_program_load_constants(owner->image, owner->arena, run->diags);
}

xpu_status xpu_run_constants(xpu_run *run) {
    xpurt_program *owner = run->owner;
    int no_memory = 0;
    pthread_mutex_lock(&owner->lock);
    xpu_status status = owner->has_constants ? XPU_OK : load_constants(run, &no_memory);
    owner->has_constants = status == XPU_OK;
    pthread_mutex_unlock(&owner->lock);
    if (no_memory) xpu_out_of_memory(xpu_arena_mem(run->arena));
    return status;
}

uint32_t xpu_run_layer_of(xpu_run *run, xpu_node node) {
    if (!run->layer_of) {
        run->layer_of = XPU_NEW_ARRAY(run->arena, uint32_t, run->graph->nodes.count);
        memset(run->layer_of, 0xff, run->graph->nodes.count * sizeof *run->layer_of);
        for (uint32_t i = run->program->layers.count; i-- > 0;) { /* the first of several is the node's */
            run->layer_of[run->program->layers.items[i].node.id] = i;
        }
    }
    return run->layer_of[node.id];
}

void xpu_run_progress(xpu_run *run, uint32_t layer) {
    xpu_layer_record *record = &run->layers[layer];
    run->layers_done += !record->announced;
    run->last_layer = layer;
    record->announced = 1;
    record->executions++;
    record->macs += xpu_run_layer_macs(run, layer);
    if (run->options->progress) {
        run->options->progress(run->options->context, run->layers_done, run->program->layers.count,
                               run->program->layers.items[layer].name);
    }
}

static xpu_status take_results(xpu_run *run, uint32_t layer, const xpu_tensor *results, uint32_t count) {
    const xpu_program_layer *l = &run->program->layers.items[layer];
    xpu_run_progress(run, layer);
    xpu_executions_add(run, layer, 0, 0);
    for (uint32_t i = 0; i < l->output_count && i < count; i++) {
        xpu_status status = XPU_OK;
        if (xpu_dump_wants(run, layer)) status = xpu_dump_write(run, layer, i, &results[i]);
        if (status == XPU_OK && run->only_layer == layer) status = xpu_replay_compare(run, layer, i, &results[i]);
        if (status != XPU_OK) return status;
    }
    return XPU_OK;
}

static xpu_status observe(void *context, xpu_node node, const xpu_tensor *results, uint32_t count) {
    xpu_run *run = context;
    uint32_t layer = xpu_run_layer_of(run, node);
    xpu_status status = layer == UINT32_MAX ? XPU_OK : take_results(run, layer, results, count);
    return status == XPU_OK && xpu_stopped(run->arena) ? xpu_run_stopped(run) : status;
}

xpu_status xpu_run_node(xpu_run *run, xpu_node node, const xpu_tensor *const *inputs, xpu_tensor *results) {
    const xpu_ref_options options = {.symbols = run->symbols, .meter = xpu_run_meter, .context = run};
    return xpu_ref_node_metered(run->graph, node, &options, inputs, results, run->arena, run->diags);
}

static xpu_status replay(xpu_run *run) {
    xpu_node node = run->program->layers.items[run->only_layer].node;
    const xpu_node_info *info = xpu_node_at(run->graph, node);
    xpu_tensor *inputs = XPU_NEW_ARRAY(run->arena, xpu_tensor, info->input_count);
    const xpu_tensor **pointers = XPU_NEW_ARRAY(run->arena, const xpu_tensor *, info->input_count);
    xpu_tensor *results = XPU_NEW_ARRAY(run->arena, xpu_tensor, info->output_count);
    for (uint32_t i = 0; i < info->input_count; i++) {
        if (!info->inputs[i].id) continue;
        xpu_status status = xpu_replay_value(run, info->inputs[i], &inputs[i]);
        if (status != XPU_OK) return status;
        pointers[i] = &inputs[i];
    }
    xpu_status status = xpu_run_afford_node(run, node);
    if (status != XPU_OK) return status;
    status = xpu_run_node(run, node, pointers, results);
    return status == XPU_OK ? take_results(run, run->only_layer, results, info->output_count) : status;
}

static void iterates(void *context, xpu_node loop, int64_t iteration) {
    xpu_run *run = context;
    if (!run->iteration_of) run->iteration_of = XPU_NEW_ARRAY(run->arena, int64_t, run->graph->nodes.count);
    run->iteration_of[loop.id] = iteration;
}

xpu_status xpu_run_on_ref(xpu_run *run) {
    if (run->program->stripped) {
        return xpu_error(run->diags, XPU_EUSAGE, run->owner->image->name, "ref-stripped", NULL,
                         "this program cannot run on ref", "it was compiled with --strip, which leaves the graph out",
                         "compile it without --strip, or use another device");
    }
    xpu_status status = xpu_run_constants(run);
    if (status != XPU_OK) return status;
    if (run->only_layer != UINT32_MAX) return replay(run);
    status = xpu_run_afford_graph(run);
    if (status != XPU_OK) return status;
    xpu_ref_options options = {.symbols = run->symbols,
                               .inputs = run->inputs,
                               .observer = observe,
                               .iterates = iterates,
                               .found = &run->found,
                               .bodies = 1,
                               .meter = xpu_run_meter,
                               .context = run};
    return xpu_ref_run(run->graph, &options, run->outputs, run->arena, run->diags);
}
