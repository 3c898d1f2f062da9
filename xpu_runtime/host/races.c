/* Races that a device has found, as messages. */
#include "xpu_runtime/host/host.h"

/* "layer 'conv1' (#1), node 'conv1' (Conv-11, #5)" */
static const char *layer_text(const xpu_run *run, uint32_t layer) {
    if (run->only_layer != UINT32_MAX) layer = xpu_run_layer_of_tag(run, layer);
    if (layer >= run->program->layers.count) return xpu_printf(run->arena, "layer #%u", layer);
    const xpu_program_layer *l = &run->program->layers.items[layer];
    const char *name = xpu_printf(run->arena, "layer '%s' (#%u)", xpu_escape(run->arena, l->name, 80), layer);
    if (!l->node.id || l->node.id >= run->graph->nodes.count) return name;
    return xpu_printf(run->arena, "%s, %s", name, xpu_node_where(run->graph, l->node, run->arena));
}

/* "core 1, pc 0x80001234, writes it; layer 'conv1' (#1), node 'conv1' (Conv-11, #5)" */
static const char *access_text(const xpu_run *run, const xpurt_access *a, int signals) {
    const char *verb = signals ? "signals" : a->write ? "writes it" : "reads it";
    if (a->engine >= 0) {
        const char *as = signals ? "" : xpu_printf(run->arena, " (%s)", a->field);
        return xpu_printf(run->arena, "%s, queue of core %d, %s descriptor at 0x%08llx, %s%s; %s",
                          xpu_engine_name((unsigned)a->engine), a->core, a->kind ? a->kind : "unknown",
                          (unsigned long long)a->descriptor, verb, as, layer_text(run, a->layer));
    }
    if (a->core < 0) return xpu_printf(run->arena, "the host %s", verb);
    return xpu_printf(run->arena, "core %d, pc 0x%08x, %s; %s", a->core, a->pc, verb, layer_text(run, a->layer));
}

xpu_status xpu_run_races(const xpu_run *run) {
    xpu_status status = XPU_OK;
    xpurt_race race;
    for (size_t i = 0; run->driver->race && run->driver->race(run->device, i, &race); i++) {
        int signals = race.counter >= 0;
        const char *what =
            signals
                ? xpu_printf(run->arena, "either of two signals may fulfil a wait for counter %d >= %u", race.counter,
                             race.value)
                : xpu_printf(run->arena, "nothing orders two accesses to 0x%08llx", (unsigned long long)race.address);
        const char *why = xpu_printf(run->arena, "%s\n%s", access_text(run, &race.before, signals),
                                     access_text(run, &race.after, signals));
        const xpurt_access *where = race.after.core >= 0 ? &race.after : &race.before;
        status = xpu_error(run->diags, XPU_EFAULT, run->owner->image->name, "device-race",
                           layer_text(run, where->layer), what, why, race.hint);
    }
    return status;
}
