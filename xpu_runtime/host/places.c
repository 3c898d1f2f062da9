/* Where the buffers of a run lie: planned when shapes are bound, and kept for the shapes that were used last. */
#include <stdlib.h>
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

/* What the cache has for these shapes goes to `places`; 0: nothing. */
static int look_up(xpu_run *run, xpu_place *places, size_t count, size_t key_bytes) {
    xpurt_program *owner = run->owner;
    int found;
    pthread_mutex_lock(&owner->lock);
    xpu_cached_places *entry = find_entry(owner, run->symbols, key_bytes, &found);
    if (found) {
        memcpy(places, entry->places, count * sizeof *places);
        owner->plan_hits++;
        entry->last_used = owner->plans + owner->plan_hits;
    }
    run->plans = owner->plans;
    run->plan_hits = owner->plan_hits;
    pthread_mutex_unlock(&owner->lock);
    return found;
}

/* Where there is no memory for it, the plan is made again next time. */
static void remember(xpu_run *run, size_t count, size_t key_bytes) {
    xpurt_program *owner = run->owner;
    int found;
    pthread_mutex_lock(&owner->lock);
    xpu_cached_places *entry = find_entry(owner, run->symbols, key_bytes, &found);
    if (!entry->places) entry->places = calloc(count ? count : 1, sizeof *entry->places);
    owner->plans++;
    if (entry->places) {
        memcpy(entry->places, run->places, count * sizeof *entry->places);
        memcpy(entry->symbols, run->symbols, sizeof entry->symbols);
        entry->last_used = owner->plans + owner->plan_hits;
    }
    run->plans = owner->plans;
    run->plan_hits = owner->plan_hits;
    pthread_mutex_unlock(&owner->lock);
}

/* With memories that are smaller than the chip's; such a plan is for this run alone. */
static xpu_status make_smaller(xpu_run *run) {
    xpu_chip chip;
    const xpu_chip *own = &run->owner->chip;
    const char *json = run->options->memory_json;
    xpu_status status = xpu_chip_parse(run->arena, json, strlen(json), "memory", &chip, run->diags);
    if (status != XPU_OK) return status;
    if (chip.sm_bytes > own->sm_bytes || chip.l3_bytes > own->l3_bytes || chip.gm_bytes > own->gm_bytes)
        return xpu_error(run->diags, XPU_EUSAGE, run->owner->image->name, "memory-larger", NULL,
                         "the chip has no such memory",
                         xpu_printf(run->arena, "SM, L3 and GM of %s have %u, %u and %u bytes; a plan may use less",
                                    own->name, own->sm_bytes, own->l3_bytes, own->gm_bytes),
                         "compile for a chip that has more: xpuc --chip=FILE.json");
    run->places = xpu_placement_make_new(run->program, &chip, run->symbols, run->arena, run->diags);
    return run->places ? XPU_OK : xpu_diags_status(run->diags);
}

xpu_status xpu_run_find_places(xpu_run *run) {
    if (run->options->memory_json) return make_smaller(run);
    if (xpu_placement_is_stored(run->program)) return make(run, &run->places);
    size_t count = run->program->buffers.count;
    size_t key_bytes = run->graph->dims.symbols.count * sizeof run->symbols[0];
    run->places = XPU_NEW_ARRAY(run->arena, xpu_place, count);
    if (look_up(run, run->places, count, key_bytes)) return XPU_OK;
    double start = xpu_seconds();
    xpu_status status = make(run, &run->places);
    run->plan_seconds = xpu_seconds() - start;
    if (status == XPU_OK) remember(run, count, key_bytes);
    return status;
}
