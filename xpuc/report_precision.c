/* Which products an integer precision keeps in float32, and why: the end of --explain. */
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "xpuc/pipeline.h"

enum { NAMES_SHOWN = 4 }; /* of the layers that one reason keeps */

typedef struct {
    const char *why, *name;
    size_t index;
} kept_layer;

/* Layers that one reason keeps: `count` of the list from `first`. */
typedef struct {
    size_t first, count;
} kept_group;

typedef struct {
    kept_layer *layers; /* by reason, then in order of execution */
    kept_group *groups; /* the largest first */
    size_t layer_count, group_count, products;
} kept_products;

static int by_reason(const void *a, const void *b) {
    const kept_layer *x = a, *y = b;
    int order = strcmp(x->why, y->why);
    return order ? order : x->index < y->index ? -1 : 1;
}

static int larger_first(const void *a, const void *b) {
    const kept_group *x = a, *y = b;
    if (x->count != y->count) return x->count < y->count ? 1 : -1;
    return x->first < y->first ? -1 : 1;
}

static const char *text_of(const json_t *layer, const char *key) {
    const char *text = json_string_value(json_object_get(layer, key));
    return text ? text : "";
}

static kept_products find_kept(const xpu_pipeline *p) {
    const json_t *facts = json_object_get(p->facts, "layers"), *layer;
    size_t most = json_array_size(facts) + 1, i;
    kept_products kept = {.layers = XPU_NEW_ARRAY(p->arena, kept_layer, most),
                          .groups = XPU_NEW_ARRAY(p->arena, kept_group, most)};
    json_array_foreach(facts, i, layer) {
        const char *macs = text_of(layer, "macs"), *why = text_of(layer, "reason");
        if (!*macs || strcmp(macs, "0") == 0) continue;
        kept.products++;
        if (strcmp(text_of(layer, "precision"), "fp32") != 0) continue;
        kept.layers[kept.layer_count++] =
            (kept_layer){*why ? why : "it has no integer form", text_of(layer, "name"), i};
    }
    qsort(kept.layers, kept.layer_count, sizeof *kept.layers, by_reason);
    for (i = 0; i < kept.layer_count; i++) {
        if (i == 0 || strcmp(kept.layers[i].why, kept.layers[i - 1].why) != 0)
            kept.groups[kept.group_count++].first = i;
        kept.groups[kept.group_count - 1].count++;
    }
    qsort(kept.groups, kept.group_count, sizeof *kept.groups, larger_first);
    return kept;
}

void xpu_explain_kept_json(const xpu_pipeline *p, json_t *top) {
    kept_products kept = find_kept(p);
    json_t *list = xpu_json_set(p->arena, top, "kept_in_fp32", json_array());
    for (size_t g = 0; g < kept.group_count; g++) {
        const kept_layer *layers = &kept.layers[kept.groups[g].first];
        json_t *entry = xpu_json_append(p->arena, list, json_object());
        xpu_json_set(p->arena, entry, "why", json_string(xpu_escape_message(p->arena, layers->why, 400)));
        json_t *names = xpu_json_set(p->arena, entry, "layers", json_array());
        for (size_t i = 0; i < kept.groups[g].count; i++)
            xpu_json_append(p->arena, names, json_string(xpu_escape(p->arena, layers[i].name, 60)));
    }
}

void xpu_explain_kept(const xpu_pipeline *p, xpu_text *text) {
    kept_products kept = find_kept(p);
    if (!kept.products) return;
    xpu_text_add(text, "--precision=%s keeps %zu of %zu convolutions and products in fp32%s\n", p->options.precision,
                 kept.layer_count, kept.products, kept.layer_count ? ":" : "");
    for (size_t g = 0; g < kept.group_count; g++) {
        const kept_layer *layers = &kept.layers[kept.groups[g].first];
        size_t count = kept.groups[g].count;
        xpu_text_add(text, "  - %zu: %s (", count, xpu_escape_message(p->arena, layers->why, 400));
        for (size_t i = 0; i < count && i < NAMES_SHOWN; i++)
            xpu_text_add(text, "%s%s", i ? ", " : "", xpu_escape(p->arena, layers[i].name, 60));
        if (count > NAMES_SHOWN) xpu_text_add(text, " and %zu more", count - NAMES_SHOWN);
        xpu_text_add(text, ")\n");
    }
}
