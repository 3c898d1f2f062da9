/* A hash table from texts to numbers, in an arena; the texts are the caller's and must outlive it. */
#ifndef XPU_BASE_NAME_TABLE_H
#define XPU_BASE_NAME_TABLE_H

#include "base/arena.h"

typedef struct {
    const char *name; /* NULL: the slot is free */
    uint32_t value;
} xpu_name_entry;
typedef struct {
    xpu_arena *arena;
    xpu_name_entry *slots;
    uint32_t size, used;
} xpu_name_table; /* {.arena = arena}: empty */

/* The number that `name` has, or NULL; valid until a name is added. */
uint32_t *xpu_name_find(const xpu_name_table *table, const char *name);
/* Adds a name that is not there. */
void xpu_name_add(xpu_name_table *table, const char *name, uint32_t value);
/* The table's copy of a text: equal texts are one. It has the number 0 where it was not there. */
const char *xpu_name_keep(xpu_name_table *table, const char *text);
uint32_t xpu_name_hash(const char *name);

#endif
