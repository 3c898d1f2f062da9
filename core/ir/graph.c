/* Building and editing graphs. */
#include "core/ir/graph.h"

#include <string.h>

#include "base/name_table.h"

/* ---- names ---- */

xpu_value xpu_graph_by_name(const xpu_graph *graph, const char *name) {
    if (!graph->names_size) return (xpu_value){0};
    uint32_t slot = xpu_name_hash(name) & (graph->names_size - 1);
    for (; graph->names[slot]; slot = (slot + 1) & (graph->names_size - 1)) {
        if (graph->names[slot] >= graph->values.count) continue; /* taken back */
        const char *other = graph->values.items[graph->names[slot]].name;
        if (other && strcmp(other, name) == 0) return (xpu_value){graph->names[slot]};
    }
    return (xpu_value){0};
}

static void put_name(xpu_graph *graph, uint32_t id) {
    uint32_t slot = xpu_name_hash(graph->values.items[id].name) & (graph->names_size - 1);
    while (graph->names[slot] && graph->names[slot] != id) slot = (slot + 1) & (graph->names_size - 1);
    graph->names[slot] = id;
}

/* Entries of values that were renamed stay in the table: they no longer match, and a rebuild drops them. */
static void rebuild_names(xpu_graph *graph) {
    uint32_t size = 256;
    while (size < 4 * graph->values.count) size *= 2;
    graph->names = XPU_NEW_ARRAY(graph->arena, uint32_t, size);
    graph->names_size = size;
    graph->names_used = 0;
    for (uint32_t id = 1; id < graph->values.count; id++) {
        if (!graph->values.items[id].name) continue;
        put_name(graph, id);
        graph->names_used++;
    }
}

static void set_name(xpu_graph *graph, uint32_t id, const char *name) {
    if (2 * (graph->names_used + 1) > graph->names_size) rebuild_names(graph);
    graph->values.items[id].name = name;
    put_name(graph, id);
    graph->names_used++;
}

/* `stem` with a number behind it, or (NULL) "v" with one. */
static const char *made_name(xpu_graph *graph, const char *stem) {
    for (;;) {
        const char *name = stem ? xpu_printf(graph->arena, "%s_%u", stem, ++graph->next_name)
                                : xpu_printf(graph->arena, "v%u", ++graph->next_name);
        if (!xpu_graph_by_name(graph, name).id) return name;
    }
}

int xpu_graph_may_name(const xpu_graph *graph, const char *name) {
    xpu_value holder = xpu_graph_by_name(graph, name);
    if (!holder.id) return 1;
    const xpu_value_info *info = xpu_value_at(graph, holder);
    return info->has_made_name && !info->is_output;
}

/* `wanted`, from which a made name gives way, or a name made from it; NULL: "v" with a number. */
static const char *unique_name(xpu_graph *graph, const char *wanted) {
    if (!wanted || !wanted[0]) return made_name(graph, NULL);
    if (!xpu_graph_may_name(graph, wanted)) return made_name(graph, wanted);
    xpu_value holder = xpu_graph_by_name(graph, wanted);
    if (holder.id) set_name(graph, holder.id, made_name(graph, wanted));
    return xpu_strdup(graph->arena, wanted);
}

/* ---- values ---- */

static xpu_value new_value(xpu_graph *graph, xpu_value_kind kind, const char *name) {
    uint32_t id = graph->values.count;
    const char *own_name = unique_name(graph, name);
    XPU_PUSH(graph->arena, &graph->values, ((xpu_value_info){.kind = kind, .has_made_name = !name || !name[0]}));
    set_name(graph, id, own_name);
    return (xpu_value){id};
}

xpu_graph *xpu_graph_new(xpu_arena *arena, const char *name, const char *file) {
    xpu_graph *graph = XPU_NEW(arena, xpu_graph);
    graph->arena = arena;
    graph->name = xpu_strdup(arena, name ? name : "");
    graph->file = file ? xpu_strdup(arena, file) : NULL;
    xpu_dims_init(&graph->dims, arena);
    XPU_PUSH(arena, &graph->values, ((xpu_value_info){.name = NULL}));
    XPU_PUSH(arena, &graph->nodes, ((xpu_node_info){.dead = 1}));
    XPU_PUSH(arena, &graph->blocks, ((xpu_block_info){.owner = {0}}));
    XPU_PUSH(arena, &graph->blocks, ((xpu_block_info){.owner = {0}}));
    graph->current = XPU_TOP_BLOCK;
    return graph;
}

xpu_value xpu_graph_input(xpu_graph *graph, const char *name, xpu_dtype dtype, int rank, const xpu_dim *dims) {
    xpu_value value = new_value(graph, XPU_VALUE_INPUT, name);
    xpu_value_info *info = xpu_value_at(graph, value);
    info->dtype = dtype;
    info->rank = rank;
    for (int i = 0; i < rank; i++) info->dims[i] = dims[i];
    XPU_PUSH(graph->arena, &graph->inputs, value);
    return value;
}

xpu_value xpu_block_argument(xpu_graph *graph, xpu_block block, const char *name, xpu_dtype dtype, int rank,
                             const xpu_dim *dims) {
    xpu_value value = new_value(graph, XPU_VALUE_ARGUMENT, name);
    xpu_value_info *info = xpu_value_at(graph, value);
    info->dtype = dtype;
    info->rank = rank;
    info->block = block;
    for (int i = 0; i < rank; i++) info->dims[i] = dims[i];
    XPU_PUSH(graph->arena, &xpu_block_at(graph, block)->arguments, value);
    return value;
}

xpu_value xpu_graph_value(xpu_graph *graph, const char *name) {
    return new_value(graph, XPU_VALUE_NODE, name);
}

void xpu_graph_output(xpu_graph *graph, xpu_value value) {
    xpu_value_at(graph, value)->is_output = 1;
    XPU_PUSH(graph->arena, &graph->outputs, value);
}

void xpu_graph_tie(xpu_graph *graph, uint32_t output, uint32_t input) {
    XPU_PUSH(graph->arena, &graph->states, ((xpu_graph_state){.input = input, .output = output}));
}

const xpu_graph_state *xpu_graph_state_of_input(const xpu_graph *graph, uint32_t input) {
    for (uint32_t i = 0; i < graph->states.count; i++) {
        if (graph->states.items[i].input == input) return &graph->states.items[i];
    }
    return NULL;
}

const xpu_graph_state *xpu_graph_state_of_output(const xpu_graph *graph, uint32_t output) {
    for (uint32_t i = 0; i < graph->states.count; i++) {
        if (graph->states.items[i].output == output) return &graph->states.items[i];
    }
    return NULL;
}

static xpu_value new_constant(xpu_graph *graph, const char *name, xpu_dtype dtype, int rank, const int64_t *dims) {
    xpu_value value = new_value(graph, XPU_VALUE_CONST, name);
    xpu_const *constant = XPU_NEW(graph->arena, xpu_const);
    constant->source_dtype = dtype;
    constant->source_rank = rank;
    xpu_value_info *info = xpu_value_at(graph, value);
    info->dtype = dtype;
    info->rank = rank;
    info->constant = constant;
    for (int i = 0; i < rank; i++) {
        constant->source_dims[i] = dims[i];
        info->dims[i] = xpu_dim_const(&graph->dims, dims[i]);
    }
    return value;
}

xpu_value xpu_graph_const_borrowed(xpu_graph *graph, const char *name, const xpu_tensor *tensor) {
    xpu_value value = new_constant(graph, name, tensor->dtype, tensor->rank, tensor->dims);
    xpu_const *constant = xpu_value_at(graph, value)->constant;
    constant->kind = XPU_CONST_BYTES;
    constant->bytes = tensor->data;
    constant->length = xpu_tensor_bytes(tensor);
    return value;
}

xpu_value xpu_graph_const_bytes(xpu_graph *graph, const char *name, const xpu_tensor *tensor) {
    xpu_tensor copy = *tensor;
    copy.data = xpu_copy(graph->arena, tensor->data, xpu_tensor_bytes(tensor));
    return xpu_graph_const_borrowed(graph, name, &copy);
}

xpu_value xpu_graph_const_file(xpu_graph *graph, const char *name, xpu_dtype dtype, int rank, const int64_t *dims,
                               const xpu_file *file, uint64_t offset) {
    xpu_value value = new_constant(graph, name, dtype, rank, dims);
    xpu_const *constant = xpu_value_at(graph, value)->constant;
    constant->kind = XPU_CONST_FILE;
    constant->file = file;
    constant->offset = offset;
    constant->length = xpu_dtype_bytes(dtype);
    for (int i = 0; i < rank; i++) constant->length *= (uint64_t)dims[i];
    return value;
}

xpu_value xpu_graph_const_f32(xpu_graph *graph, const char *name, float value) {
    return xpu_graph_const_bytes(graph, name, &(xpu_tensor){.dtype = XPU_F32, .rank = 0, .data = &value});
}

uint32_t xpu_graph_origin(xpu_graph *graph, const xpu_origin *origin) {
    xpu_origin copy = *origin;
    if (copy.framework) copy.framework = xpu_strdup(graph->arena, copy.framework);
    if (copy.op) copy.op = xpu_strdup(graph->arena, copy.op);
    if (copy.name) copy.name = xpu_strdup(graph->arena, copy.name);
    XPU_PUSH(graph->arena, &graph->origins, copy);
    return graph->origins.count - 1;
}

/* ---- use lists ---- */

static void add_use(xpu_graph *graph, xpu_value value, xpu_node node, uint32_t input) {
    if (!value.id) return;
    xpu_value_info *info = xpu_value_at(graph, value);
    xpu_node_at(graph, node)->places[input] = info->uses.count;
    XPU_PUSH(graph->arena, &info->uses, ((xpu_use){.node = node, .input = input}));
}

/* The last use takes the place of the one that goes: a value may have very many. */
static void drop_use(xpu_graph *graph, xpu_value value, xpu_node node, uint32_t input) {
    if (!value.id) return;
    xpu_value_info *info = xpu_value_at(graph, value);
    uint32_t place = xpu_node_at(graph, node)->places[input];
    xpu_use last = info->uses.items[--info->uses.count];
    info->uses.items[place] = last;
    xpu_node_at(graph, last.node)->places[last.input] = place;
}

/* ---- nodes ---- */

static void link_before(xpu_graph *graph, xpu_node node, xpu_node before, xpu_block parent) {
    xpu_node_info *info = xpu_node_at(graph, node);
    xpu_block_info *block = xpu_block_at(graph, parent);
    info->parent = parent;
    info->next = before;
    info->previous = before.id ? xpu_node_at(graph, before)->previous : block->last;
    if (info->previous.id) {
        xpu_node_at(graph, info->previous)->next = node;
    } else {
        block->first = node;
    }
    if (before.id) {
        xpu_node_at(graph, before)->previous = node;
    } else {
        block->last = node;
    }
}

static void unlink_node(xpu_graph *graph, xpu_node node) {
    xpu_node_info *info = xpu_node_at(graph, node);
    xpu_block_info *block = xpu_block_at(graph, info->parent);
    if (info->previous.id) {
        xpu_node_at(graph, info->previous)->next = info->next;
    } else {
        block->first = info->next;
    }
    if (info->next.id) {
        xpu_node_at(graph, info->next)->previous = info->previous;
    } else {
        block->last = info->previous;
    }
    info->previous = info->next = (xpu_node){0};
}

static xpu_attr copy_attr(xpu_arena *arena, const xpu_attr *attr) {
    xpu_attr copy = *attr;
    switch (xpu_attr_type_of(attr->id)) {
    case XPU_ATTR_TYPE_INTS: copy.ints = xpu_copy(arena, attr->ints, attr->count * sizeof *attr->ints); break;
    case XPU_ATTR_TYPE_DIMS: copy.dims = xpu_copy(arena, attr->dims, attr->count * sizeof *attr->dims); break;
    case XPU_ATTR_TYPE_STRING: copy.s = xpu_strdup(arena, attr->s ? attr->s : ""); break;
    case XPU_ATTR_TYPE_CHAIN: copy.chain = xpu_copy(arena, attr->chain, attr->count); break;
    case XPU_ATTR_TYPE_INT:
    case XPU_ATTR_TYPE_FLOAT: break;
    }
    return copy;
}

xpu_node xpu_graph_add(xpu_graph *graph, xpu_node before, const xpu_op *op, const xpu_value *inputs,
                       uint32_t input_count, const char *const *output_names, uint32_t output_count,
                       const xpu_attr *attrs, uint32_t attr_count, const uint32_t *origins, uint32_t origin_count) {
    xpu_node node = {graph->nodes.count};
    xpu_node_info info = {.op = op, .input_count = input_count, .output_count = output_count};
    info.inputs = XPU_NEW_ARRAY(graph->arena, xpu_value, input_count);
    info.places = XPU_NEW_ARRAY(graph->arena, uint32_t, input_count);
    info.outputs = XPU_NEW_ARRAY(graph->arena, xpu_value, output_count);
    for (uint32_t i = 0; i < input_count; i++) info.inputs[i] = inputs[i];
    if (attr_count) {
        info.attrs.items = xpu_array_reserve(graph->arena, NULL, &info.attrs.capacity, attr_count, sizeof(xpu_attr));
    }
    for (uint32_t i = 0; i < attr_count; i++) {
        XPU_PUSH(graph->arena, &info.attrs, copy_attr(graph->arena, &attrs[i]));
    }
    for (uint32_t i = 0; i < origin_count; i++) XPU_PUSH(graph->arena, &info.origins, origins[i]);
    XPU_PUSH(graph->arena, &graph->nodes, info);
    for (uint32_t i = 0; i < input_count; i++) add_use(graph, inputs[i], node, i);
    for (uint32_t i = 0; i < output_count; i++) {
        xpu_value value = new_value(graph, XPU_VALUE_NODE, output_names ? output_names[i] : NULL);
        xpu_value_info *value_info = xpu_value_at(graph, value);
        value_info->node = node;
        value_info->output = i;
        info.outputs[i] = value;
    }
    link_before(graph, node, before, before.id ? xpu_node_at(graph, before)->parent : graph->current);
    return node;
}

void xpu_node_set_input(xpu_graph *graph, xpu_node node, uint32_t input, xpu_value value) {
    xpu_node_info *info = xpu_node_at(graph, node);
    if (input >= info->input_count) {
        if (!value.id) return;
        xpu_value *inputs = XPU_NEW_ARRAY(graph->arena, xpu_value, input + 1);
        uint32_t *places = XPU_NEW_ARRAY(graph->arena, uint32_t, input + 1);
        memcpy(inputs, info->inputs, info->input_count * sizeof *inputs);
        memcpy(places, info->places, info->input_count * sizeof *places);
        info->inputs = inputs;
        info->places = places;
        info->input_count = input + 1;
    }
    drop_use(graph, info->inputs[input], node, input);
    info->inputs[input] = value;
    add_use(graph, value, node, input);
}

xpu_value xpu_node_add_output(xpu_graph *graph, xpu_node node, const char *name) {
    xpu_value value = new_value(graph, XPU_VALUE_NODE, name);
    xpu_node_info *info = xpu_node_at(graph, node);
    xpu_value *outputs = XPU_NEW_ARRAY(graph->arena, xpu_value, info->output_count + 1);
    memcpy(outputs, info->outputs, info->output_count * sizeof *outputs);
    xpu_value_at(graph, value)->node = node;
    xpu_value_at(graph, value)->output = info->output_count;
    outputs[info->output_count++] = value;
    info->outputs = outputs;
    return value;
}

void xpu_node_add_origin(xpu_graph *graph, xpu_node node, uint32_t origin) {
    xpu_node_info *info = xpu_node_at(graph, node);
    for (uint32_t i = 0; i < info->origins.count; i++) {
        if (info->origins.items[i] == origin) return;
    }
    XPU_PUSH(graph->arena, &info->origins, origin);
}

void xpu_node_add_origins(xpu_graph *graph, xpu_node node, xpu_node from) {
    const xpu_node_info *source = xpu_node_at(graph, from);
    for (uint32_t i = 0; i < source->origins.count; i++) {
        xpu_node_add_origin(graph, node, source->origins.items[i]);
    }
}

static int is_needed(const xpu_graph *graph, xpu_node node) {
    const xpu_node_info *info = xpu_node_at(graph, node);
    for (uint32_t i = 0; i < info->output_count; i++) {
        const xpu_value_info *value = xpu_value_at(graph, info->outputs[i]);
        if (value->uses.count || value->is_output || value->results) return 1;
    }
    return 0;
}

/* Its nodes, the last one first: then nothing needs them. */
static void empty_block(xpu_graph *graph, xpu_block block) {
    xpu_block_info *info = xpu_block_at(graph, block);
    for (uint32_t i = 0; i < info->results.count; i++) xpu_value_at(graph, info->results.items[i])->results--;
    info->results.count = 0;
    for (xpu_node last; (last = info->last).id;) {
        xpu_node_remove(graph, last);
        if (!xpu_node_at(graph, last)->dead) break;
    }
}

void xpu_node_remove(xpu_graph *graph, xpu_node node) {
    xpu_node_info *info = xpu_node_at(graph, node);
    if (info->dead || is_needed(graph, node)) return;
    for (uint32_t i = 0; i < info->input_count; i++) {
        drop_use(graph, info->inputs[i], node, i);
        info->inputs[i] = (xpu_value){0};
    }
    for (uint32_t b = 0; b < info->block_count; b++) empty_block(graph, info->blocks[b]);
    unlink_node(graph, node);
    info->dead = 1;
}

void xpu_node_move_before(xpu_graph *graph, xpu_node node, xpu_node before) {
    if (node.id == before.id) return;
    xpu_block parent = before.id ? xpu_node_at(graph, before)->parent : xpu_node_at(graph, node)->parent;
    unlink_node(graph, node);
    link_before(graph, node, before, parent);
}

void xpu_node_move_into(xpu_graph *graph, xpu_node node, xpu_block block) {
    unlink_node(graph, node);
    link_before(graph, node, (xpu_node){0}, block);
}

/* Links of what is left to what goes end. */
static void cut_block(xpu_graph *graph, xpu_block block, uint32_t nodes) {
    xpu_block_info *info = xpu_block_at(graph, block);
    while (info->last.id >= nodes) info->last = xpu_node_at(graph, info->last)->previous;
    if (info->last.id) {
        xpu_node_at(graph, info->last)->next = (xpu_node){0};
    } else {
        info->first = (xpu_node){0};
    }
}

void xpu_graph_take_back(xpu_graph *graph, const xpu_graph_mark *mark) {
    for (uint32_t id = graph->nodes.count; id-- > mark->nodes;) {
        const xpu_node_info *info = &graph->nodes.items[id];
        for (uint32_t i = 0; i < info->input_count && !info->dead; i++) {
            drop_use(graph, info->inputs[i], (xpu_node){id}, i);
        }
    }
    for (uint32_t b = mark->blocks; b < graph->blocks.count; b++) {
        xpu_block_info *info = &graph->blocks.items[b];
        for (uint32_t i = 0; i < info->results.count; i++) xpu_value_at(graph, info->results.items[i])->results--;
        xpu_node_info *owner = xpu_node_at(graph, info->owner);
        if (info->owner.id < mark->nodes) owner->block_count--;
    }
    for (uint32_t b = 1; b < mark->blocks; b++) cut_block(graph, (xpu_block){b}, mark->nodes);
    graph->dims = mark->dims;
    graph->values.count = mark->values;
    graph->nodes.count = mark->nodes;
    graph->blocks.count = mark->blocks;
    graph->origins.count = mark->origins;
    graph->guards.count = mark->guards;
    graph->current = mark->current;
}

static void swap_names(xpu_graph *graph, xpu_value from, xpu_value to) {
    const char *name = xpu_value_at(graph, from)->name;
    xpu_value_at(graph, to)->has_made_name = xpu_value_at(graph, from)->has_made_name;
    xpu_value_at(graph, from)->has_made_name = 1;
    set_name(graph, from.id, made_name(graph, NULL));
    set_name(graph, to.id, name);
}

int xpu_value_replace(xpu_graph *graph, xpu_value from, xpu_value to) {
    if (from.id == to.id) return 1;
    xpu_value_info *source = xpu_value_at(graph, from), *target = xpu_value_at(graph, to);
    for (uint32_t i = 0; i < source->uses.count; i++) {
        xpu_use use = source->uses.items[i];
        xpu_node_at(graph, use.node)->inputs[use.input] = to;
        add_use(graph, to, use.node, use.input);
    }
    source->uses.count = 0;
    for (uint32_t b = 2; b < graph->blocks.count && source->results; b++) {
        xpu_block_info *block = &graph->blocks.items[b];
        for (uint32_t i = 0; i < block->results.count; i++) {
            if (block->results.items[i].id == from.id) xpu_block_set_result(graph, (xpu_block){b}, i, to);
        }
    }
    for (uint32_t i = 0; i < graph->dims.symbols.count; i++) {
        if (graph->dims.symbols.items[i].value.id == from.id) graph->dims.symbols.items[i].value = to;
    }
    if (!source->is_output) return 1;
    if (target->is_output || target->kind == XPU_VALUE_INPUT) return 0;
    for (uint32_t i = 0; i < graph->outputs.count; i++) {
        if (graph->outputs.items[i].id == from.id) graph->outputs.items[i] = to;
    }
    target->is_output = 1;
    source->is_output = 0;
    swap_names(graph, from, to);
    return 1;
}

static void mark_symbols(const xpu_dims *dims, xpu_dim dim, uint8_t *marked) {
    const xpu_dim_node *node = xpu_dim_at(dims, dim);
    if (node->kind == XPU_DIM_SYMBOL) marked[node->value] = 1;
    if (node->kind <= XPU_DIM_SYMBOL) return;
    mark_symbols(dims, node->a, marked);
    mark_symbols(dims, node->b, marked);
}

/* By symbol: whether an attribute of a node needs it. NULL where no node defines any. */
static uint8_t *find_used_symbols(const xpu_graph *graph, xpu_arena *arena) {
    const xpu_dims *dims = &graph->dims;
    int any = 0;
    for (uint32_t i = 0; i < dims->symbols.count; i++) {
        xpu_value value = dims->symbols.items[i].value;
        any |= value.id && xpu_value_at(graph, value)->kind == XPU_VALUE_NODE;
    }
    if (!any) return NULL;
    uint8_t *used = XPU_NEW_ARRAY(arena, uint8_t, dims->symbols.count);
    XPU_FOR_ALL_NODES(graph, node) {
        const xpu_node_info *info = xpu_node_at(graph, node);
        for (uint32_t k = 0; k < info->attrs.count; k++) {
            const xpu_attr *attr = &info->attrs.items[k];
            if (xpu_attr_type_of(attr->id) != XPU_ATTR_TYPE_DIMS) continue;
            for (uint32_t i = 0; i < attr->count; i++) mark_symbols(dims, attr->dims[i], used);
        }
    }
    return used;
}

static int defines_used(const xpu_graph *graph, xpu_node node, const uint8_t *used) {
    for (uint32_t i = 0; used && i < graph->dims.symbols.count; i++) {
        xpu_value value = graph->dims.symbols.items[i].value;
        if (!used[i] || !value.id) continue;
        const xpu_value_info *info = xpu_value_at(graph, value);
        if (info->kind == XPU_VALUE_NODE && info->node.id == node.id) return 1;
    }
    return 0;
}

uint32_t xpu_remove_dead(xpu_graph *graph) {
    uint32_t removed = 0, before;
    do {
        xpu_arena *arena = xpu_arena_new(xpu_arena_mem(graph->arena), "symbols");
        const uint8_t *used = find_used_symbols(graph, arena);
        before = removed;
        for (uint32_t b = graph->blocks.count; b-- > 1;) {
            xpu_node node = graph->blocks.items[b].last;
            while (node.id) {
                xpu_node previous = xpu_node_at(graph, node)->previous;
                if (!is_needed(graph, node) && !defines_used(graph, node, used)) {
                    xpu_node_remove(graph, node);
                    removed++;
                }
                node = previous;
            }
        }
        xpu_arena_free(arena);
    } while (removed != before);
    return removed;
}

/* ---- attributes ---- */

const xpu_attr *xpu_node_attr(const xpu_graph *graph, xpu_node node, xpu_attr_id id) {
    const xpu_node_info *info = xpu_node_at(graph, node);
    for (uint32_t i = 0; i < info->attrs.count; i++) {
        if (info->attrs.items[i].id == id) return &info->attrs.items[i];
    }
    return NULL;
}

static const xpu_attr *attr_or_default(const xpu_graph *graph, xpu_node node, xpu_attr_id id) {
    static const xpu_attr zero;
    const xpu_attr *attr = xpu_node_attr(graph, node, id);
    if (attr) return attr;
    attr = xpu_op_attr(xpu_node_at(graph, node)->op, id);
    return attr ? attr : &zero;
}

int64_t xpu_node_int(const xpu_graph *graph, xpu_node node, xpu_attr_id id) {
    return attr_or_default(graph, node, id)->i;
}

float xpu_node_float(const xpu_graph *graph, xpu_node node, xpu_attr_id id) {
    return attr_or_default(graph, node, id)->f;
}

const int64_t *xpu_node_ints(const xpu_graph *graph, xpu_node node, xpu_attr_id id, uint32_t *count) {
    const xpu_attr *attr = attr_or_default(graph, node, id);
    if (count) *count = attr->count;
    return attr->ints;
}

const char *xpu_node_string(const xpu_graph *graph, xpu_node node, xpu_attr_id id) {
    return attr_or_default(graph, node, id)->s;
}

void xpu_node_set_attr(xpu_graph *graph, xpu_node node, const xpu_attr *attr) {
    xpu_attr copy = copy_attr(graph->arena, attr);
    xpu_node_info *info = xpu_node_at(graph, node);
    for (uint32_t i = 0; i < info->attrs.count; i++) {
        if (info->attrs.items[i].id != attr->id) continue;
        info->attrs.items[i] = copy;
        return;
    }
    XPU_PUSH(graph->arena, &info->attrs, copy);
}

/* ---- names of nodes ---- */

const char *xpu_origin_text(const xpu_origin *origin, const char *op, xpu_arena *arena) {
    const char *version = origin->version ? xpu_printf(arena, "-%d", origin->version) : "";
    return xpu_printf(arena, "node '%s' (%s%s, #%u)", xpu_escape(arena, origin->name ? origin->name : "", 120),
                      xpu_escape(arena, origin->op ? origin->op : op, 60), version, origin->index);
}

const char *xpu_node_where(const xpu_graph *graph, xpu_node node, xpu_arena *arena) {
    const xpu_node_info *info = xpu_node_at(graph, node);
    if (!info->origins.count) {
        const char *name = xpu_node_name(graph, node);
        return xpu_printf(arena, "node '%s' (%s)", xpu_escape(arena, name, 120), info->op->name);
    }
    const xpu_origin *origin = &graph->origins.items[info->origins.items[0]];
    return xpu_origin_text(origin, info->op->name, arena);
}

const char *xpu_node_name(const xpu_graph *graph, xpu_node node) {
    const xpu_node_info *info = xpu_node_at(graph, node);
    for (uint32_t i = info->origins.count; i-- > 0;) {
        const char *name = graph->origins.items[info->origins.items[i]].name;
        if (name && name[0]) return name;
    }
    return info->output_count ? xpu_value_at(graph, info->outputs[0])->name : info->op->name;
}

/* ---- shapes ---- */

int xpu_value_dims(const xpu_graph *graph, xpu_value value, const int64_t *symbols, int64_t *dims) {
    const xpu_value_info *info = xpu_value_at(graph, value);
    for (int i = 0; i < info->rank; i++) {
        if (!info->dims[i].id) return 0;
        if (!xpu_dim_is_const(&graph->dims, info->dims[i], &dims[i])) {
            if (!symbols) return 0;
            dims[i] = xpu_dim_eval(&graph->dims, info->dims[i], symbols);
        }
        if (dims[i] < 0) return 0;
    }
    return 1;
}

const char *xpu_type_text(const xpu_graph *graph, xpu_value value, xpu_arena *arena) {
    const xpu_value_info *info = xpu_value_at(graph, value);
    return xpu_printf(arena, "%s%s", xpu_dtype_name(info->dtype),
                      xpu_dim_list_text(&graph->dims, info->rank, info->dims, arena));
}

int xpu_value_same_shape(const xpu_graph *graph, xpu_value a, xpu_value b) {
    const xpu_value_info *left = xpu_value_at(graph, a), *right = xpu_value_at(graph, b);
    if (left->rank != right->rank) return 0;
    for (int i = 0; i < left->rank; i++) {
        if (!left->dims[i].id || !xpu_dim_equal(left->dims[i], right->dims[i])) return 0;
    }
    return 1;
}

int xpu_dim_is_dynamic(const xpu_graph *graph, xpu_dim dim) {
    const xpu_dim_node *node = xpu_dim_at(&graph->dims, dim);
    if (node->kind == XPU_DIM_CONST || !dim.id) return 0;
    if (node->kind != XPU_DIM_SYMBOL) return xpu_dim_is_dynamic(graph, node->a) || xpu_dim_is_dynamic(graph, node->b);
    xpu_value value = graph->dims.symbols.items[node->value].value;
    return value.id && xpu_value_at(graph, value)->kind != XPU_VALUE_INPUT;
}

int xpu_value_defines_symbol(const xpu_graph *graph, xpu_value value) {
    for (uint32_t i = 0; i < graph->dims.symbols.count; i++) {
        if (graph->dims.symbols.items[i].value.id == value.id) return 1;
    }
    return 0;
}

/* ---- guards ---- */

void xpu_graph_guard(xpu_graph *graph, xpu_dim a, xpu_dim b, const char *where) {
    XPU_PUSH(graph->arena, &graph->guards, ((xpu_guard){a, b, xpu_strdup(graph->arena, where)}));
    xpu_dim_assume(&graph->dims, a, b);
}

const xpu_guard *xpu_graph_broken_guard(const xpu_graph *graph, const int64_t *symbols) {
    for (uint32_t i = 0; i < graph->guards.count; i++) {
        const xpu_guard *guard = &graph->guards.items[i];
        if (xpu_dim_eval(&graph->dims, guard->a, symbols) == xpu_dim_eval(&graph->dims, guard->b, symbols)) continue;
        if (!xpu_dim_is_dynamic(graph, guard->a) && !xpu_dim_is_dynamic(graph, guard->b)) return guard;
    }
    return NULL;
}

const char *xpu_guard_text(const xpu_graph *graph, const xpu_guard *guard, xpu_arena *arena) {
    return xpu_printf(arena, "%s = %s", xpu_dim_text(&graph->dims, guard->a, arena),
                      xpu_dim_text(&graph->dims, guard->b, arena));
}
