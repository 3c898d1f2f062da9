/* What a plan's places say of its levels: peak, lower bound, holes. */
#include "memplan/internal.h"

/* The buffer whose bytes each one uses; aliases lead there. A circle, which no valid plan has, ends at once. */
static uint32_t storage_of(const xpu_memplan_problem *problem, const xpu_memplan_place *places, uint32_t buffer) {
    uint32_t at = buffer;
    for (uint32_t i = 0; places[at].alias_of != XPU_MEMPLAN_NONE && i < problem->buffer_count; i++)
        at = places[at].alias_of;
    return at;
}

/* One item for each buffer that has bytes of its own; it lives as long as any of those that use them. */
static xpu_memplan_item *find_storage(xpu_arena *arena, const xpu_memplan_problem *problem,
                                      const xpu_memplan_place *places) {
    uint32_t n = problem->buffer_count;
    xpu_memplan_item *items = XPU_NEW_ARRAY(arena, xpu_memplan_item, n);
    for (uint32_t i = 0; i < n; i++) items[i] = (xpu_memplan_item){.id = i, .life.first = UINT32_MAX, .pinned = 1};
    for (uint32_t i = 0; i < n; i++) {
        const xpu_memplan_buffer *buffer = &problem->buffers[i];
        xpu_memplan_item *item = &items[storage_of(problem, places, i)];
        if (buffer->first < item->life.first) item->life.first = buffer->first;
        if (buffer->last > item->life.last) item->life.last = buffer->last;
        if (buffer->gap_count) item->life = xpu_memplan_life_of(buffer); /* it shares its bytes with nobody */
        if (places[i].alias_of != XPU_MEMPLAN_NONE) continue;
        items[i].bytes = buffer->bytes;
        items[i].offset = places[i].offset;
    }
    return items;
}

void xpu_memplan_measure(xpu_arena *arena, const xpu_memplan_problem *problem, const xpu_memplan_place *places,
                         xpu_memplan_usage *usage) {
    xpu_arena *work = xpu_arena_new(xpu_arena_mem(arena), "usage of memory");
    const xpu_memplan_item *storage = find_storage(work, problem, places);
    xpu_memplan_item *items = XPU_NEW_ARRAY(work, xpu_memplan_item, problem->buffer_count);
    xpu_memplan_item *loose = XPU_NEW_ARRAY(work, xpu_memplan_item, problem->buffer_count); /* as any plan has them */
    for (uint32_t level = 0; level < problem->level_count; level++) {
        const xpu_memplan_level *l = &problem->levels[level];
        xpu_memplan_usage *u = &usage[level];
        uint32_t count = 0;
        *u = (xpu_memplan_usage){.capacity = l->bytes - l->reserved};
        for (uint32_t i = 0; i < problem->buffer_count; i++) {
            if (places[i].level != level) continue;
            u->buffers++;
            if (places[i].alias_of != XPU_MEMPLAN_NONE) continue;
            uint64_t end = storage[i].offset + storage[i].bytes;
            if (storage[i].bytes && end > l->reserved && end - l->reserved > u->peak) u->peak = end - l->reserved;
            loose[count] = storage[i];
            loose[count].alignment = xpu_memplan_alignment(l->alignment);
            loose[count].pinned = problem->buffers[i].pinned || storage[i].offset < l->reserved;
            items[count++] = storage[i];
        }
        u->lower_bound = xpu_memplan_load(work, items, count, l->reserved, &u->worst_step);
        u->gap = u->peak - u->lower_bound;
        u->proved_bound = xpu_memplan_bound(work, loose, count, l->reserved);
        u->fragmentation_permille = xpu_memplan_fragmentation(work, items, count, l->reserved);
    }
    xpu_arena_free(work);
}
