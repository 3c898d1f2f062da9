#include "core/ir/known.h"

#include <string.h>

#include "base/compare.h"

/* Integers of 64 bits are computed as long as they stay below, so that nothing saturates. */
#define INTEGER_EXACT ((int64_t)1 << 62)

static int is_integer(xpu_dtype dtype) {
    return dtype == XPU_I64 || dtype == XPU_I32 || dtype == XPU_BOOL || dtype == XPU_U8 || dtype == XPU_I8 ||
           dtype == XPU_I16 || dtype == XPU_U16 || dtype == XPU_U32;
}

/* The number of entries, where it is known and small; else -1. */
static int count_of(const xpu_graph *graph, const xpu_value_info *info) {
    int64_t count = 1, size;
    if (!is_integer(info->dtype) && info->dtype != XPU_F32) return -1;
    for (int i = 0; i < info->rank; i++) {
        if (!xpu_dim_is_const(&graph->dims, info->dims[i], &size) || size > XPU_MOST_KNOWN) return -1;
        count *= size;
        if (count > XPU_MOST_KNOWN) return -1;
    }
    return (int)count;
}

/* ---- constants ---- */

/* A number with at most 24 bits behind the point. */
static int float_entry(xpu_dims *dims, float value, xpu_known *entry) {
    enum { MOST_BITS = 24 };
    int32_t over = 1;
    for (int i = 0; i < MOST_BITS && value != (float)(int32_t)value; i++) {
        if (!(value > -0x1p24f && value < 0x1p24f)) return 0;
        value *= 2;
        over *= 2;
    }
    if (!(value >= -0x1p24f && value <= 0x1p24f) || value != (float)(int32_t)value) return 0;
    *entry = (xpu_known){xpu_dim_const(dims, (int32_t)value), over};
    return 1;
}

static int64_t load(const xpu_tensor *tensor, int index) {
    return tensor->dtype == XPU_I64 ? ((const int64_t *)tensor->data)[index] : (int64_t)xpu_element(tensor, index);
}

static int constant_entries(xpu_graph *graph, xpu_value value, int count, xpu_known *list) {
    const xpu_value_info *info = xpu_value_at(graph, value);
    xpu_arena *arena = xpu_arena_new(xpu_arena_mem(graph->arena), "entries");
    xpu_diags diags;
    xpu_tensor tensor;
    xpu_diags_init(&diags);
    int known = xpu_const_tensor(graph, value, arena, &tensor, &diags) == XPU_OK;
    for (int i = 0; known && i < count; i++) {
        list[i] = (xpu_known){.over = 1};
        if (info->dtype == XPU_F32) {
            float_entry(&graph->dims, ((const float *)tensor.data)[i], &list[i]);
        } else {
            list[i].dim = xpu_dim_const(&graph->dims, load(&tensor, i));
        }
    }
    xpu_diags_clear(&diags);
    xpu_arena_free(arena);
    return known;
}

/* ---- the interface ---- */

int xpu_value_known(xpu_graph *graph, xpu_value value, xpu_known list[XPU_MOST_KNOWN]) {
    const xpu_value_info *info = xpu_value_at(graph, value);
    if (!value.id || (!info->known && !info->constant)) return -1;
    int count = count_of(graph, info);
    if (count < 0) return -1;
    if (info->constant) return constant_entries(graph, value, count, list) ? count : -1;
    if ((uint32_t)count != info->known->count) return -1;
    memcpy(list, info->known->items, (size_t)count * sizeof *list);
    return count;
}

int xpu_value_as_dims(xpu_graph *graph, xpu_value value, xpu_dim list[XPU_MOST_KNOWN]) {
    xpu_known entries[XPU_MOST_KNOWN];
    int count = is_integer(xpu_value_at(graph, value)->dtype) ? xpu_value_known(graph, value, entries) : -1;
    for (int i = 0; i < count; i++) {
        if (!entries[i].dim.id || entries[i].over != 1) return -1;
        list[i] = entries[i].dim;
    }
    return count;
}

/* Whether the type holds the element for all values of the symbols. */
static int fits(const xpu_dims *dims, xpu_dtype dtype, xpu_known entry) {
    static const int bits[XPU_DTYPE_COUNT] = {
        [XPU_I8] = 7, [XPU_U8] = 8, [XPU_I16] = 15, [XPU_U16] = 16, [XPU_I32] = 31, [XPU_U32] = 32, [XPU_BOOL] = 1};
    static const int has_sign[XPU_DTYPE_COUNT] = {[XPU_I8] = 1, [XPU_I16] = 1, [XPU_I32] = 1};
    if (!entry.dim.id) return 0;
    int64_t min = xpu_dim_min(dims, entry.dim), max = xpu_dim_max(dims, entry.dim);
    if (dtype == XPU_F32) { /* bits below those that all multiples have do not count */
        const xpu_dim_node *node = xpu_dim_at(dims, entry.dim);
        int64_t limit = XPU_FLOAT_EXACT, modulus = node->residue == 0 && node->modulus ? node->modulus : 1;
        for (; modulus % 2 == 0 && limit < INTEGER_EXACT; modulus /= 2) limit *= 2;
        return min >= -limit && max <= limit;
    }
    if (entry.over != 1) return 0;
    if (dtype == XPU_I64) return min > -INTEGER_EXACT && max < INTEGER_EXACT;
    int64_t limit = (int64_t)1 << bits[dtype];
    return min >= (has_sign[dtype] ? -limit : 0) && max < limit;
}

static void store(xpu_dtype dtype, void *data, int index, int64_t value, int32_t over) {
    switch (xpu_dtype_bytes(dtype)) {
    case 1: ((uint8_t *)data)[index] = (uint8_t)value; break;
    case 2: ((uint16_t *)data)[index] = (uint16_t)value; break;
    case 4:
        if (dtype == XPU_F32) {
            ((float *)data)[index] = (float)((double)value / over);
        } else {
            ((uint32_t *)data)[index] = (uint32_t)value;
        }
        break;
    default: ((int64_t *)data)[index] = value; break;
    }
}

static void make_constant(xpu_graph *graph, xpu_value_info *info, const xpu_known *list, int count) {
    xpu_const *constant = XPU_NEW(graph->arena, xpu_const);
    constant->kind = XPU_CONST_BYTES;
    constant->source_dtype = info->dtype;
    constant->source_rank = info->rank;
    for (int i = 0; i < info->rank; i++) xpu_dim_is_const(&graph->dims, info->dims[i], &constant->source_dims[i]);
    constant->length = (size_t)count * xpu_dtype_bytes(info->dtype);
    void *bytes = xpu_alloc(graph->arena, constant->length + 1);
    for (int i = 0; i < count; i++) {
        int64_t value = 0;
        xpu_dim_is_const(&graph->dims, list[i].dim, &value);
        store(info->dtype, bytes, i, value, list[i].over);
    }
    constant->bytes = bytes;
    info->constant = constant;
}

/* Whether int32 holds the entry with dims that nobody has bounded ending where it does: with larger ones the model's
 * own arithmetic would leave 32 bits. */
static int fits_narrowed(xpu_graph *graph, xpu_known entry) {
    xpu_dims *dims = &graph->dims;
    const uint32_t count = dims->symbols.count;
    enum { LEAST = 1 << 10 };
    if (entry.over != 1 || !entry.dim.id) return 0;
    int64_t *most = XPU_NEW_ARRAY(graph->arena, int64_t, count + 1);
    uint8_t *open = XPU_NEW_ARRAY(graph->arena, uint8_t, count + 1);
    xpu_dim_find_symbols(dims, entry.dim, open);
    for (uint32_t i = 0; i < count; i++) {
        const xpu_symbol *symbol = &dims->symbols.items[i];
        most[i] = symbol->max;
        open[i] = open[i] && symbol->open && !symbol->value.id && symbol->step == 1;
    }
    for (;;) {
        const xpu_dim_interval range = xpu_dim_between(graph, entry.dim, most);
        int narrows = 0;
        if (range.min >= INT32_MIN && range.max <= INT32_MAX) break;
        for (uint32_t i = 0; i < count; i++) {
            if (!open[i] || most[i] <= LEAST) continue;
            most[i] /= 2;
            narrows = 1;
        }
        if (!narrows) return 0;
    }
    for (uint32_t i = 0; i < dims->nodes.count; i++) {
        xpu_dim_node *node = &dims->nodes.items[i];
        if (node->kind != XPU_DIM_SYMBOL || !open[node->value]) continue;
        node->max = dims->symbols.items[node->value].max = most[node->value];
    }
    return 1;
}

int xpu_value_set_known(xpu_graph *graph, xpu_value value, const xpu_known *list, int count) {
    xpu_value_info *info = xpu_value_at(graph, value);
    int known = 0, constant = 0;
    if (count_of(graph, info) != count) return 0;
    xpu_known_list *entries = xpu_alloc(graph->arena, sizeof *entries + (size_t)count * sizeof *list);
    entries->count = (uint32_t)count;
    for (int i = 0; i < count; i++) {
        const int holds =
            fits(&graph->dims, info->dtype, list[i]) || (info->dtype == XPU_I32 && fits_narrowed(graph, list[i]));
        entries->items[i] = holds ? list[i] : (xpu_known){.over = 1};
        entries->items[i].dim = xpu_dim_root(&graph->dims, entries->items[i].dim);
        known += entries->items[i].dim.id != 0;
        constant += xpu_dim_is_const(&graph->dims, entries->items[i].dim, NULL);
    }
    if (constant == count) {
        make_constant(graph, info, entries->items, count);
        return 1;
    }
    info->known = known ? entries : NULL;
    return 0;
}

/* ---- symbols that nothing uses ---- */

static void find_in(const xpu_graph *graph, const xpu_dim *list, uint32_t count, uint8_t *seen) {
    for (uint32_t i = 0; i < count; i++) xpu_dim_find_symbols(&graph->dims, list[i], seen);
}

static int has_needed_use(const xpu_graph *graph, xpu_value value, const uint8_t *needed) {
    const xpu_value_info *info = xpu_value_at(graph, value);
    int found = xpu_value_leaves(graph, value);
    for (uint32_t u = 0; u < info->uses.count && !found; u++) found = needed[info->uses.items[u].node.id];
    return found;
}

/* Nodes that something needs; those of bodies all count. In order of execution a use comes behind what it uses. */
static uint8_t *find_needed(const xpu_graph *graph, xpu_arena *arena) {
    uint8_t *needed = XPU_NEW_ARRAY(arena, uint8_t, graph->nodes.count);
    XPU_ARRAY(xpu_node) order = {0};
    XPU_FOR_ALL_NODES(graph, node) XPU_PUSH(arena, &order, node);
    for (uint32_t i = order.count; i-- > 0;) {
        const xpu_node_info *info = xpu_node_at(graph, order.items[i]);
        int is_needed = info->parent.id != XPU_TOP_BLOCK.id || info->block_count;
        for (uint32_t k = 0; k < info->output_count && !is_needed; k++)
            is_needed = has_needed_use(graph, info->outputs[k], needed);
        needed[order.items[i].id] = (uint8_t)is_needed;
    }
    return needed;
}

static void find_in_node(const xpu_graph *graph, xpu_node node, uint8_t *seen) {
    const xpu_node_info *info = xpu_node_at(graph, node);
    for (uint32_t k = 0; k < info->output_count; k++) {
        const xpu_value_info *value = xpu_value_at(graph, info->outputs[k]);
        find_in(graph, value->dims, (uint32_t)value->rank, seen);
    }
    for (uint32_t b = 0; b < info->block_count; b++) {
        const xpu_block_info *body = xpu_block_at(graph, info->blocks[b]);
        for (uint32_t k = 0; k < body->arguments.count; k++) {
            const xpu_value_info *argument = xpu_value_at(graph, body->arguments.items[k]);
            find_in(graph, argument->dims, (uint32_t)argument->rank, seen);
        }
    }
    for (uint32_t k = 0; k < info->attrs.count; k++) {
        const xpu_attr *attr = &info->attrs.items[k];
        if (xpu_attr_type_of(attr->id) == XPU_ATTR_TYPE_DIMS) find_in(graph, attr->dims, attr->count, seen);
    }
}

/* What is known by symbols that are gone is not known. */
static void forget(xpu_graph *graph, const uint8_t *gone, xpu_arena *arena) {
    const xpu_dims *dims = &graph->dims;
    uint8_t *seen = XPU_NEW_ARRAY(arena, uint8_t, dims->symbols.count + 1);
    for (uint32_t id = 1; id < graph->values.count; id++) {
        const xpu_known_list *known = graph->values.items[id].known;
        int is_gone = 0;
        for (uint32_t i = 0; known && i < known->count; i++) {
            memset(seen, 0, dims->symbols.count);
            xpu_dim_find_symbols(dims, known->items[i].dim, seen);
            for (uint32_t s = 0; s < dims->symbols.count; s++) is_gone |= seen[s] && gone[s];
        }
        if (is_gone) graph->values.items[id].known = NULL;
    }
}

/* Values of nodes that were removed are still listed: dims of theirs that are gone are not known. */
static void forget_dims(xpu_graph *graph) {
    for (uint32_t id = 1; id < graph->values.count; id++) {
        xpu_value_info *info = &graph->values.items[id];
        for (int d = 0; d < info->rank; d++) {
            if (xpu_dim_at(&graph->dims, info->dims[d])->gone) info->dims[d] = (xpu_dim){0};
        }
    }
}

void xpu_graph_drop_elements(xpu_graph *graph) {
    xpu_dims *dims = &graph->dims;
    uint32_t of_values = 0, dropped = 0;
    for (uint32_t i = 0; i < dims->symbols.count; i++) of_values += dims->symbols.items[i].value.id != 0;
    if (!of_values) return;
    xpu_arena *arena = xpu_arena_new(xpu_arena_mem(graph->arena), "symbols");
    uint8_t *seen = XPU_NEW_ARRAY(arena, uint8_t, dims->symbols.count + 1);
    uint8_t *gone = XPU_NEW_ARRAY(arena, uint8_t, dims->symbols.count + 1);
    uint8_t *needed = find_needed(graph, arena);
    for (uint32_t i = 0; i < graph->guards.count; i++) {
        find_in(graph, &graph->guards.items[i].a, 1, seen);
        find_in(graph, &graph->guards.items[i].b, 1, seen);
    }
    XPU_FOR_ALL_NODES(graph, node) {
        if (needed[node.id]) find_in_node(graph, node, seen);
    }
    for (uint32_t i = dims->symbols.count; i-- > 0;) { /* a bound has symbols that were there before */
        const xpu_symbol *symbol = &dims->symbols.items[i];
        gone[i] = symbol->value.id && !seen[i] && !symbol->relied;
        dropped += gone[i];
        if (!gone[i] && symbol->bound.id) xpu_dim_find_symbols(dims, symbol->bound, seen);
    }
    if (dropped) {
        xpu_remove_dead(graph); /* what nobody needs may have their dims */
        forget(graph, gone, arena);
        xpu_dims_drop_symbols(dims, gone);
        forget_dims(graph);
    }
    xpu_arena_free(arena);
}
