#include <string.h>

#include "frontend/onnx/importer.h"

static uint32_t hash_of(const char *name) {
    uint32_t hash = 2166136261u; /* FNV-1a */
    for (; *name; name++) hash = (hash ^ (uint8_t)*name) * 16777619u;
    return hash;
}

static uint32_t *slot_of(const xpu_onnx_names *names, const char *name) {
    uint32_t slot = hash_of(name) & (names->table_size - 1);
    while (names->table[slot] && strcmp(names->items.items[names->table[slot] - 1].name, name) != 0) {
        slot = (slot + 1) & (names->table_size - 1);
    }
    return &names->table[slot];
}

static void grow(xpu_onnx_importer *importer) {
    xpu_onnx_names *names = &importer->scope->names;
    names->table_size = names->table_size ? names->table_size * 2 : 64;
    names->table = XPU_NEW_ARRAY(importer->scratch, uint32_t, names->table_size);
    for (uint32_t i = 0; i < names->items.count; i++) *slot_of(names, names->items.items[i].name) = i + 1;
}

xpu_onnx_name *xpu_onnx_name_of(xpu_onnx_importer *importer, const char *name) {
    xpu_onnx_names *names = &importer->scope->names;
    if (2 * (names->items.count + 1) > names->table_size) grow(importer);
    uint32_t *slot = slot_of(names, name);
    if (!*slot) {
        XPU_PUSH(importer->scratch, &names->items, (xpu_onnx_name){.name = name});
        *slot = names->items.count;
    }
    return &names->items.items[*slot - 1];
}

const xpu_onnx_name *xpu_onnx_visible(const xpu_onnx_importer *importer, const char *name) {
    for (const xpu_onnx_scope *scope = importer->scope; scope; scope = scope->outer) {
        const uint32_t *slot = scope->names.table_size ? slot_of(&scope->names, name) : NULL;
        const xpu_onnx_name *entry = slot && *slot ? &scope->names.items.items[*slot - 1] : NULL;
        if (entry && entry->state != XPU_ONNX_NAME_UNKNOWN) return entry;
    }
    return NULL;
}
