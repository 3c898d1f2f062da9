/* Runs that end before the program does: where they stood, and that what they leave is not the whole. */
#include "xpu_runtime/host/host.h"

static const char *layer_text(const xpu_run *run, uint32_t layer) {
    if (layer >= run->program->layers.count) return NULL;
    return xpu_printf(run->arena, "layer '%s' (#%u)",
                      xpu_escape(run->arena, run->program->layers.items[layer].name, 80), layer);
}

uint32_t xpu_run_current_layer(const xpu_run *run) {
    xpurt_position at;
    uint32_t layer = run->layers_done < run->program->layers.count ? run->layers_done : run->last_layer;
    if (!run->device || !run->driver->position) return layer;
    run->driver->position(run->device, &at);
    uint32_t here = xpu_run_layer_of_tag(run, at.core[0].layer);
    return here < run->program->layers.count ? here : layer;
}

static void add_place(const xpu_run *run, xpu_text *text) {
    xpurt_position at;
    xpurt_counters now;
    uint64_t instructions = 0;
    xpu_run_counters(run, &now);
    for (int i = 0; i < XPURT_MAX_CORES; i++) instructions += now.instructions[i];
    if (run->has_times)
        xpu_text_add(text, "; cycle %llu", (unsigned long long)(now.cycles));
    else
        xpu_text_add(text, "; %llu instructions", (unsigned long long)instructions);
    if (!run->driver->position) return;
    run->driver->position(run->device, &at);
    for (unsigned i = 0; i < at.cores; i++) xpu_text_add(text, "; core %u at pc 0x%08x", i, at.core[i].pc);
}

xpu_status xpu_run_stopped(const xpu_run *run) {
    xpu_text why;
    xpu_text_init(&why, run->arena);
    xpu_text_add(&why, "%u of %u layers are complete", run->layers_done, run->program->layers.count);
    if (run->device) add_place(run, &why);
    return xpu_error_stopped(run->diags, run->owner->image->name, layer_text(run, xpu_run_current_layer(run)),
                             why.text);
}

int xpu_run_has_part(xpu_status status) {
    return status == XPU_EFAULT || status == XPU_ETIMEOUT || status == XPU_ELOCKSTEP || status == XPU_ESTOPPED;
}

void xpu_run_set_incomplete(xpu_run *run, xpu_status status) {
    if (!xpu_run_has_part(status)) return;
    for (size_t i = 0; i < run->diags->count && !run->incomplete; i++) {
        const xpu_diag *diag = &run->diags->items[i];
        if (diag->severity == XPU_SEVERITY_ERROR) run->incomplete = xpu_strdup(run->arena, diag->rule);
    }
}
