/* Where the buffers of a run lie: planned when shapes are bound, and kept for the shapes that were used last. */
#include <string.h>

#include "xpu_runtime/host/host.h"

/* The entry of these shapes, or else the one that was used longest ago. */
static xpu_cached_places *find_entry(xpurt_program *owner, const int64_t *symbols, size_t bytes, int *found) {
    xpu_cached_places *oldest = &owner->cache[0];
    for (int i = 0; i < XPU_CACHED_SHAPES; i++) {
        xpu_cached_places *entry = &owner->cache[i];
        *found = entry->last_used && memcmp(entry->symbols, symbols, bytes) == 0;
        if (*found) return entry;
        if (entry->last_used < oldest->last_used) oldest = entry;
    }
    return oldest;
}

static xpu_status make(xpu_run *run, xpu_place **places) {
    *places = xpu_placement_make(run->program, &run->owner->chip, run->symbols, run->arena, run->diags);
    return *places ? XPU_OK : xpu_diags_status(run->diags);
}

/* Plans into an entry of the cache. */
static xpu_status plan(xpu_run *run, xpu_cached_places *entry) {
    uint32_t count = run->program->buffers.count;
    double start = xpu_seconds();
    xpu_place *places;
    xpu_status status = make(run, &places);
    run->plan_seconds = xpu_seconds() - start;
    if (status != XPU_OK) return status;
    if (!entry->places) entry->places = XPU_NEW_ARRAY(run->owner->arena, xpu_place, count);
    memcpy(entry->places, places, count * sizeof *places);
    memcpy(entry->symbols, run->symbols, sizeof entry->symbols);
    return XPU_OK;
}

xpu_status xpu_run_find_places(xpu_run *run) {
    xpurt_program *owner = run->owner;
    if (xpu_placement_is_stored(run->program)) return make(run, &run->places);
    int found;
    xpu_cached_places *entry =
        find_entry(owner, run->symbols, run->graph->dims.symbols.count * sizeof run->symbols[0], &found);
    xpu_status status = found ? XPU_OK : plan(run, entry);
    if (status != XPU_OK) return status;
    owner->plans += !found;
    owner->plan_hits += found;
    entry->last_used = owner->plans + owner->plan_hits;
    run->places = entry->places;
    return XPU_OK;
}
