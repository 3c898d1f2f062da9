/* What a run took, as JSON (docs/commands.md lists the keys). */
#include <string.h>

#include "base/json.h"
#include "core/ops/op.h"
#include "xpu_runtime/host/host.h"

int64_t xpu_run_layer_macs(const xpu_run *run, uint32_t layer) {
    xpu_dim macs = run->program->layers.items[layer].macs;
    return macs.id ? xpu_dim_eval(&run->graph->dims, macs, xpu_run_symbols(run)) : 0;
}

/* A layer that no branch or loop is around counts where a run that ended early did not reach it, too. */
int64_t xpu_run_all_macs(xpu_run *run, uint32_t layer) {
    const xpu_layer_record *record = &run->layers[layer];
    return xpu_run_nesting(run, layer) || record->executions ? record->macs : xpu_run_layer_macs(run, layer);
}

const char *xpu_run_layer_precision(const xpu_run *run, uint32_t index) {
    const xpu_program_layer *layer = &run->program->layers.items[index];
    return layer->node.id ? xpu_node_precision(run->graph, layer->node) : "";
}

static void layer_stats(xpu_run *run, json_t *list, uint32_t index) {
    const xpu_program_layer *layer = &run->program->layers.items[index];
    xpu_arena *arena = run->arena;
    json_t *entry = xpu_json_append(arena, list, json_object());
    xpu_json_set(arena, entry, "index", json_integer(index));
    xpu_json_set(arena, entry, "name", json_string(xpu_escape(arena, layer->name, 200)));
    json_t *nodes = xpu_json_set(arena, entry, "nodes", json_array());
    if (layer->node.id) {
        const xpu_node_info *node = xpu_node_at(run->graph, layer->node);
        for (uint32_t i = 0; i < node->origins.count; i++) {
            const char *name = run->graph->origins.items[node->origins.items[i]].name;
            xpu_json_append(arena, nodes, json_string(xpu_escape(arena, name, 200)));
        }
        xpu_json_set(arena, entry, "op", json_string(node->op->name));
    }
    xpu_json_set(arena, entry, "unit", json_string(xpu_unit_name(layer->unit)));
    xpu_json_set(arena, entry, "precision", json_string(xpu_run_layer_precision(run, index)));
    xpu_json_set(arena, entry, "macs", json_integer(xpu_run_all_macs(run, index)));
    if (run->program->steps.count)
        xpu_json_set(arena, entry, "executions", json_integer((json_int_t)run->layers[index].executions));
    if (run->driver) {
        xpu_json_set(arena, entry, "instructions", json_integer((json_int_t)run->layers[index].instructions));
    }
    if (run->has_times) xpu_profile_times_stats(run, entry, run->layers[index].times);
    xpu_executions_stats(run, entry, index);
}

static void device_stats(xpu_run *run, json_t *top) {
    xpu_arena *arena = run->arena;
    uint64_t instructions = 0, descriptors = 0;
    for (int i = 0; i < XPURT_MAX_CORES; i++) instructions += run->counters.instructions[i];
    for (int i = 0; i < XPURT_ENGINES; i++) descriptors += run->counters.descriptors[i];
    xpu_json_set(arena, top, "instructions", json_integer((json_int_t)instructions));
    xpu_json_set(arena, top, "descriptors", json_integer((json_int_t)descriptors));
    xpu_json_set(arena, top, "engine_macs", json_integer((json_int_t)run->counters.macs));
    xpu_json_set(arena, top, "gm_read_bytes", json_integer((json_int_t)run->counters.gm_read_bytes));
    xpu_json_set(arena, top, "gm_write_bytes", json_integer((json_int_t)run->counters.gm_write_bytes));
    if (run->counters.cycles) xpu_json_set(arena, top, "cycles", json_integer((json_int_t)run->counters.cycles));
    xpu_profile_stats(run, top);
    xpu_json_set(arena, top, "load_s", json_real(run->bind_seconds));
    xpu_json_set(arena, top, "plan_s", json_real(run->plan_seconds));
    xpu_json_set(arena, top, "plans", json_integer((json_int_t)run->plans));
    xpu_json_set(arena, top, "plan_hits", json_integer((json_int_t)run->plan_hits));
    double seconds = run->seconds - run->bind_seconds;
    if (seconds > 0) {
        xpu_json_set(arena, top, "instructions_per_s", json_real((double)instructions / seconds));
        if (run->counters.cycles) {
            xpu_json_set(arena, top, "cycles_per_s", json_real((double)run->counters.cycles / seconds));
        }
    }
}

void xpu_run_identity(const xpu_run *run, json_t *top) {
    xpu_arena *arena = run->arena;
    xpu_json_set(arena, top, "program_hash", json_string(xpu_hash_text(arena, &run->owner->image->hash)));
    xpu_json_set(arena, top, "source_hash", json_string(xpu_hash_text(arena, &run->program->source_hash)));
}

xpu_status xpu_run_stats(xpu_run *run) {
    xpu_arena *arena = run->arena;
    if (!run->options->stats_file && !run->options->stats && !run->has_times) return XPU_OK; /* times are checked */
    json_t *top = xpu_json_own(arena, json_object());
    uint32_t host_calls = 0;
    int64_t macs = 0;
    for (uint32_t i = 0; i < run->program->layers.count; i++) {
        int is_host = run->program->layers.items[i].unit == XPU_UNIT_HOST;
        macs += xpu_run_all_macs(run, i);
        host_calls +=
            xpu_run_nesting(run, i) ? (uint32_t)is_host * (uint32_t)run->layers[i].executions : (uint32_t)is_host;
    }
    xpu_run_identity(run, top);
    if (run->incomplete) xpu_json_set(arena, top, "incomplete", json_string(run->incomplete));
    if (run->replay) xpu_replay_stats(run, top);
    xpu_json_set(arena, top, "chip", json_string(xpu_escape(arena, run->owner->chip.name, 80)));
    xpu_json_set(arena, top, "device", json_string(run->driver ? run->driver->name : "ref"));
    xpu_json_set(arena, top, "precision", json_string(xpu_escape(arena, run->program->precision, 40)));
    xpu_json_set(arena, top, "macs", json_integer(macs));
    xpu_json_set(arena, top, "host_calls", json_integer(host_calls));
    xpu_json_set(arena, top, "weights_bytes", json_integer((json_int_t)run->program->weights_bytes));
    xpu_json_set(arena, top, "wall_s", json_real(run->seconds));
    if (run->driver) device_stats(run, top);
    if (run->rows_left_out)
        xpu_json_set(arena, top, "iterations_left_out", json_integer((json_int_t)run->rows_left_out));
    json_t *layers = xpu_json_set(arena, top, "layers", json_array());
    for (uint32_t i = 0; i < run->program->layers.count; i++) layer_stats(run, layers, i);
    if (xpu_diags_status(run->diags) == XPU_EBUG) return XPU_EBUG;
    if (run->options->stats_file) {
        xpu_status status = xpu_json_write(arena, top, run->options->stats_file, run->diags);
        if (status != XPU_OK) return status;
    }
    if (!run->options->stats) return XPU_OK;
    *run->options->stats = json_dumps(top, JSON_INDENT(2));
    if (!*run->options->stats) xpu_out_of_memory(xpu_arena_mem(arena));
    return XPU_OK;
}
