#include "base/name_table.h"

#include <string.h>

uint32_t xpu_name_hash(const char *name) {
    uint64_t hash = 0xcbf29ce484222325u;
    for (; *name; name++) hash = (hash ^ (unsigned char)*name) * 0x100000001b3u;
    return (uint32_t)(hash ^ (hash >> 32));
}

/* The slot that holds the name, or the free one where it would be. */
static xpu_name_entry *slot_of(const xpu_name_table *table, const char *name) {
    uint32_t slot = xpu_name_hash(name) & (table->size - 1);
    while (table->slots[slot].name && strcmp(table->slots[slot].name, name) != 0) {
        slot = (slot + 1) & (table->size - 1);
    }
    return &table->slots[slot];
}

uint32_t *xpu_name_find(const xpu_name_table *table, const char *name) {
    xpu_name_entry *entry = table->size ? slot_of(table, name) : NULL;
    return entry && entry->name ? &entry->value : NULL;
}

void xpu_name_add(xpu_name_table *table, const char *name, uint32_t value) {
    if (2 * (table->used + 1) > table->size) {
        xpu_name_table larger = {.arena = table->arena, .size = table->size ? 2 * table->size : 64};
        larger.slots = XPU_NEW_ARRAY(table->arena, xpu_name_entry, larger.size);
        for (uint32_t i = 0; i < table->size; i++) {
            if (table->slots[i].name) *slot_of(&larger, table->slots[i].name) = table->slots[i];
        }
        larger.used = table->used;
        *table = larger;
    }
    *slot_of(table, name) = (xpu_name_entry){name, value};
    table->used++;
}

const char *xpu_name_keep(xpu_name_table *table, const char *text) {
    xpu_name_entry *entry = table->size ? slot_of(table, text) : NULL;
    if (entry && entry->name) return entry->name;
    const char *copy = xpu_strdup(table->arena, text);
    xpu_name_add(table, copy, 0);
    return copy;
}
