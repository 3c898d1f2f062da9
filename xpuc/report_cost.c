/* Layers by what they cost, and what stands between those on the tensor engine: --explain --sort=cost. */
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "xpuc/pipeline.h"

typedef struct {
    const char *name, *unit, *op, *why;
    json_int_t cycles;
    size_t index;
} layer_cost;

/* Why a layer that is no product stands where it does; by operator. */
static const struct {
    const char *op, *why;
} reasons[] = {
    {"absmax", "the scale of an int16 operand needs the largest magnitude of all of it, which its maker does not find"},
    {"relayout", "the engine has images channel last, the model and other operators channel first"},
    {"chain", "the post-processor has sum, branch, clip and leaky relu; other elementwise operators run on the cores"},
    {"row_scale", "rows of an int16 product have scales of their own"},
    {"row_restore", "rows of an int16 product have scales of their own"},
    {"concat", "its parts are copied side by side"},
    {"repeat", "elements are copied"},
    {"interleave", "phases of a transposed convolution are put side by side"},
};

static const char *text_of(const json_t *layer, const char *key) {
    const char *text = json_string_value(json_object_get(layer, key));
    return text ? text : "";
}

static const char *why_of(const json_t *layer) {
    const char *own = text_of(layer, "reason"), *op = text_of(layer, "op");
    for (size_t i = 0; i < sizeof reasons / sizeof *reasons; i++) {
        if (strcmp(reasons[i].op, op) == 0) return reasons[i].why;
    }
    if (strcmp(text_of(layer, "kernel"), "depthwise_f32") == 0)
        return "a depthwise window would fill one column of the array";
    return *own ? own : "the operator runs there";
}

static int dearer(const void *a, const void *b) {
    const layer_cost *x = a, *y = b;
    if (x->cycles != y->cycles) return x->cycles < y->cycles ? 1 : -1;
    return x->index < y->index ? -1 : 1;
}

/* In order of execution. */
static layer_cost *read_layers(const xpu_pipeline *p, size_t *count, json_int_t *all) {
    json_t *layers = json_object_get(p->facts, "layers"), *entry;
    *count = json_array_size(layers);
    *all = 0;
    layer_cost *list = XPU_NEW_ARRAY(p->arena, layer_cost, *count + 1);
    size_t i;
    json_array_foreach(layers, i, entry) {
        list[i] = (layer_cost){text_of(entry, "name"),
                               text_of(entry, "unit"),
                               text_of(entry, "op"),
                               why_of(entry),
                               json_integer_value(json_object_get(entry, "modelled_cycles")),
                               i};
        *all += list[i].cycles;
    }
    return list;
}

static layer_cost *sorted(const xpu_pipeline *p, const layer_cost *list, size_t count) {
    layer_cost *copy = XPU_NEW_ARRAY(p->arena, layer_cost, count + 1);
    if (count) memcpy(copy, list, count * sizeof *list);
    qsort(copy, count, sizeof *copy, dearer);
    return copy;
}

static int is_on_engine(const layer_cost *layer) {
    return strcmp(layer->unit, "tensor") == 0;
}

static void set(xpu_pipeline *p, json_t *object, const char *key, json_t *value) {
    xpu_json_set(p->arena, object, key, value);
}

static void add_json(xpu_pipeline *p, json_t *list, const layer_cost *layer) {
    json_t *entry = xpu_json_append(p->arena, list, json_object());
    set(p, entry, "layer", json_string(layer->name));
    set(p, entry, "unit", json_string(layer->unit));
    set(p, entry, "op", json_string(layer->op));
    set(p, entry, "modelled_cycles", json_integer(layer->cycles));
    set(p, entry, "why", json_string(layer->why));
}

static char *as_json(xpu_pipeline *p, const layer_cost *list, size_t count) {
    const layer_cost *by_cost = sorted(p, list, count);
    json_t *top = xpu_json_own(p->arena, json_object());
    json_t *layers = xpu_json_set(p->arena, top, "layers", json_array());
    for (size_t i = 0; i < count; i++) add_json(p, layers, &by_cost[i]);
    json_t *gaps = xpu_json_set(p->arena, top, "between", json_array()), *gap = NULL;
    size_t last = count;
    for (size_t i = 0; i < count; i++) {
        if (!is_on_engine(&list[i])) continue;
        if (last < count && i > last + 1) {
            gap = xpu_json_append(p->arena, gaps, json_object());
            set(p, gap, "from", json_string(list[last].name));
            set(p, gap, "to", json_string(list[i].name));
            json_t *what = xpu_json_set(p->arena, gap, "layers", json_array());
            for (size_t k = last + 1; k < i; k++) add_json(p, what, &list[k]);
        }
        last = i;
    }
    char *text = json_dumps(top, JSON_INDENT(2));
    if (!text) xpu_out_of_memory(xpu_arena_mem(p->arena));
    xpu_arena_defer(p->arena, free, text);
    return xpu_printf(p->arena, "%s\n", text);
}

static void add_gaps(xpu_text *text, const layer_cost *list, size_t count) {
    size_t last = count;
    xpu_text_add(text, "\nbetween layers on the tensor engine, in order of execution:\n");
    for (size_t i = 0; i < count; i++) {
        if (!is_on_engine(&list[i])) continue;
        if (last < count && i > last + 1) {
            xpu_text_add(text, "%s -> %s\n", list[last].name, list[i].name);
            for (size_t k = last + 1; k < i; k++) {
                xpu_text_add(text, "  %10lld  %-6s %-12s %s: %s\n", (long long)list[k].cycles, list[k].unit, list[k].op,
                             list[k].name, list[k].why);
            }
        }
        last = i;
    }
}

char *xpu_explain_cost(xpu_pipeline *p, int json) {
    size_t count;
    json_int_t all;
    const layer_cost *list = read_layers(p, &count, &all);
    if (json) return as_json(p, list, count);
    const layer_cost *by_cost = sorted(p, list, count);
    xpu_text text;
    xpu_text_init(&text, p->arena);
    xpu_text_add(&text, "%10s  %7s  %-6s %-12s %s\n", "cycles", "share", "unit", "operator",
                 "layer, and why it is there");
    for (size_t i = 0; i < count; i++) {
        double share = all ? 100.0 * (double)by_cost[i].cycles / (double)all : 0;
        xpu_text_add(&text, "%10lld  %5.1f %%  %-6s %-12s %s: %s\n", (long long)by_cost[i].cycles, share,
                     by_cost[i].unit, by_cost[i].op, by_cost[i].name, by_cost[i].why);
    }
    xpu_text_add(&text, "%10lld           all, by the target's model; xpu-run --profile counts\n", (long long)all);
    add_gaps(&text, list, count);
    return text.text;
}
