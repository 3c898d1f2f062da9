/* The facts of a program as JSON. */
#include "base/json.h"
#include "xpu_runtime/host/host.h"

static void describe_values(const xpu_graph *graph, const xpu_value *values, uint32_t count, json_t *list,
                            xpu_arena *arena) {
    for (uint32_t i = 0; i < count; i++) {
        const xpu_value_info *info = xpu_value_at(graph, values[i]);
        json_t *entry = xpu_json_append(arena, list, json_object());
        xpu_json_set(arena, entry, "name", json_string(xpu_escape(arena, info->name, 200)));
        xpu_json_set(arena, entry, "dtype", json_string(xpu_dtype_name(info->dtype)));
        json_t *shape = xpu_json_set(arena, entry, "shape", json_array());
        for (int d = 0; d < info->rank; d++) {
            int64_t value;
            int constant = xpu_dim_is_const(&graph->dims, info->dims[d], &value);
            const char *text = xpu_dim_text(&graph->dims, info->dims[d], arena);
            xpu_json_append(arena, shape, constant ? json_integer(value) : json_string(xpu_escape(arena, text, 200)));
        }
    }
}

static void describe_states(const xpu_graph *graph, json_t *list, xpu_arena *arena) {
    for (uint32_t i = 0; i < graph->states.count; i++) {
        const char *output = xpu_value_at(graph, graph->outputs.items[graph->states.items[i].output])->name;
        const char *input = xpu_value_at(graph, graph->inputs.items[graph->states.items[i].input])->name;
        json_t *entry = xpu_json_append(arena, list, json_object());
        xpu_json_set(arena, entry, "output", json_string(xpu_escape(arena, output, 200)));
        xpu_json_set(arena, entry, "input", json_string(xpu_escape(arena, input, 200)));
    }
}

/* Bytes of weights of later layers that come to L3 while a layer runs. */
static uint64_t fetched_by(const xpu_program *p, uint32_t layer) {
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < p->transfers.count; i++)
        if (p->transfers.items[i].layer == layer) bytes += p->transfers.items[i].bytes;
    return bytes;
}

static void describe_layers(const xpu_program *p, json_t *list, xpu_arena *arena) {
    for (uint32_t i = 0; i < p->layers.count; i++) {
        const xpu_program_layer *l = &p->layers.items[i];
        json_t *entry = xpu_json_append(arena, list, json_object());
        xpu_json_set(arena, entry, "index", json_integer(i));
        xpu_json_set(arena, entry, "name", json_string(xpu_escape(arena, l->name, 200)));
        xpu_json_set(arena, entry, "unit", json_string(xpu_unit_name(l->unit)));
        xpu_json_set(arena, entry, "kernel", json_string(xpu_escape(arena, l->kernel, 40)));
        if (l->reason) xpu_json_set(arena, entry, "reason", json_string(xpu_escape(arena, l->reason, 400)));
        const uint64_t fetched = fetched_by(p, i);
        if (fetched) xpu_json_set(arena, entry, "fetched_bytes", json_integer((json_int_t)fetched));
    }
}

xpu_status xpu_describe_program(xpurt_program *program, xpu_arena *arena, xpu_diags *diags) {
    (void)diags;
    const xpu_program *p = &program->image->program;
    json_t *top = xpu_json_own(arena, json_object());
    xpu_json_set(arena, top, "source", json_string(xpu_escape(arena, p->source, 200)));
    xpu_json_set(arena, top, "source_hash", json_string(xpu_hash_text(arena, &p->source_hash)));
    xpu_json_set(arena, top, "program_hash", json_string(xpu_hash_text(arena, &program->image->hash)));
    xpu_json_set(arena, top, "target", json_string(xpu_escape(arena, p->target, 80)));
    xpu_json_set(arena, top, "chip", json_string(xpu_escape(arena, program->chip.name, 80)));
    xpu_json_set(arena, top, "precision", json_string(xpu_escape(arena, p->precision, 40)));
    xpu_json_set(arena, top, "compiler", json_string(xpu_escape(arena, p->compiler, 80)));
    xpu_json_set(arena, top, "clang", json_string(xpu_escape(arena, p->clang, 200)));
    xpu_json_set(arena, top, "stripped", json_boolean(p->stripped));
    xpu_json_set(arena, top, "source_nodes", json_integer(p->source_nodes));
    xpu_json_set(arena, top, "weights_bytes", json_integer((json_int_t)p->weights_bytes));
    describe_values(p->graph, p->graph->inputs.items, p->graph->inputs.count,
                    xpu_json_set(arena, top, "inputs", json_array()), arena);
    describe_values(p->graph, p->graph->outputs.items, p->graph->outputs.count,
                    xpu_json_set(arena, top, "outputs", json_array()), arena);
    describe_states(p->graph, xpu_json_set(arena, top, "states", json_array()), arena);
    json_t *guards = xpu_json_set(arena, top, "guards", json_array());
    for (uint32_t i = 0; i < p->graph->guards.count; i++) {
        const xpu_guard *guard = &p->graph->guards.items[i];
        json_t *entry = xpu_json_append(arena, guards, json_object());
        xpu_arena *scratch = xpu_arena_new(xpu_arena_mem(arena), "guard"); /* its text may be much longer */
        const char *equal = xpu_guard_text(p->graph, guard, scratch);
        xpu_json_set(arena, entry, "equal", json_string(xpu_escape_message(arena, equal, 400)));
        xpu_arena_free(scratch);
        xpu_json_set(arena, entry, "node", json_string(xpu_escape_message(arena, guard->where, 400)));
    }
    json_t *regions = xpu_json_set(arena, top, "regions", json_array());
    for (uint32_t i = 0; i < p->regions.count; i++) {
        json_t *entry = xpu_json_append(arena, regions, json_object());
        xpu_json_set(arena, entry, "target", json_string(xpu_escape(arena, p->regions.items[i].target, 80)));
        xpu_json_set(arena, entry, "nodes", json_integer(p->regions.items[i].node_count));
        const char *reason = p->regions.items[i].reason;
        if (reason) xpu_json_set(arena, entry, "reason", json_string(xpu_escape(arena, reason, 400)));
    }
    describe_layers(p, xpu_json_set(arena, top, "layers", json_array()), arena);
    char *text = json_dumps(top, JSON_INDENT(2));
    if (!text) xpu_out_of_memory(xpu_arena_mem(arena));
    program->description = text;
    return XPU_OK;
}
