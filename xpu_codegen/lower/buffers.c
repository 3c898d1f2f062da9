/* The buffers that values live in, and from when to when. */
#include "xpu_codegen/lower/buffers.h"

#include "xpu_codegen/lower/layers.h"
#include "xpu_codegen/read_through.h"

enum { BUFFER_ALIGNMENT = 64 };

/* ---- buffers ---- */

static uint32_t add_buffer(xpu_codegen *cg, const xpu_program_buffer *buffer) {
    XPU_PUSH(cg->arena, &cg->program.buffers, *buffer);
    return cg->program.buffers.count - 1;
}

static void add_program_value(xpu_codegen *cg, xpu_value value, uint32_t buffer, const xpu_packing *packing) {
    xpu_program_value place = {.value = value, .buffer = buffer, .packing = *packing};
    if (xpu_has_gaps(cg, value)) {
        place.axis = xpu_extent_of(cg, value)->axis;
        place.extent = xpu_extent_of(cg, value)->capacity;
    }
    XPU_PUSH(cg->arena, &cg->program.values, place);
}

xpu_dim xpu_value_bytes(xpu_codegen *cg, xpu_value value) {
    const xpu_value_info *info = xpu_value_at(cg->graph, value);
    int64_t element = (int64_t)xpu_dtype_bytes(info->dtype);
    xpu_dims *dims = &cg->graph->dims;
    xpu_dim count = xpu_dim_of(cg, 1);
    for (int i = 0; i < info->rank; i++) count = xpu_dim_mul(dims, count, xpu_value_extent(cg, value, i));
    if (element >= 4) return xpu_dim_mul_const(dims, count, element);
    xpu_dim bytes = xpu_dim_add_const(dims, xpu_dim_mul_const(dims, count, element), 3);
    return xpu_dim_mul_const(dims, xpu_dim_floordiv_const(dims, bytes, 4), 4);
}

/* The value that `value`, which is no view, is a part of, or 0. */
static xpu_value part_of(xpu_codegen *cg, xpu_value value, xpu_dim *offset) {
    const xpu_value_info *info = xpu_value_at(cg->graph, value);
    if (info->kind != XPU_VALUE_NODE) return (xpu_value){0};
    if (xpu_is_part(cg, info->node, offset)) return xpu_node_input(cg->graph, info->node, 0);
    return xpu_joined_whole(cg, value, offset);
}

uint32_t xpu_activation_buffer(xpu_codegen *cg, xpu_value value) {
    xpu_value root = xpu_value_root(cg, value);
    if (cg->buffer_of[root.id] >= 0) return (uint32_t)cg->buffer_of[root.id];
    xpu_dim offset;
    const xpu_value of = part_of(cg, root, &offset);
    int32_t whole = of.id ? (int32_t)xpu_activation_buffer(cg, of) : -1;
    int64_t element = (int64_t)xpu_dtype_bytes(xpu_value_at(cg->graph, root)->dtype);
    xpu_program_buffer buffer = {.name = xpu_value_at(cg->graph, root)->name,
                                 .kind = XPU_BUFFER_ACTIVATION,
                                 .bytes = xpu_value_bytes(cg, root),
                                 .alignment = BUFFER_ALIGNMENT,
                                 .levels = {XPU_LEVEL_L3, XPU_LEVEL_GM},
                                 .level_count = 2,
                                 .alias_of = whole};
    if (of.id) buffer.alias_offset = xpu_dim_mul_const(&cg->graph->dims, offset, element);
    if (of.id && xpu_has_gaps(cg, root)) /* to the whole's end: the channels of others between its own count */
        buffer.bytes = xpu_dim_add(&cg->graph->dims, cg->program.buffers.items[whole].bytes,
                                   xpu_dim_mul_const(&cg->graph->dims, buffer.alias_offset, -1));
    uint32_t index = add_buffer(cg, &buffer);
    cg->buffer_of[root.id] = (int32_t)index;
    return index;
}

static int same_packing(const xpu_packing *a, const xpu_packing *b) {
    if (a->kind != b->kind) return 0;
    if (a->kind == XPU_PACK_LINEAR) return 1;
    return a->out_c == b->out_c && a->in_c == b->in_c && a->kernel_h == b->kernel_h && a->kernel_w == b->kernel_w &&
           a->groups == b->groups && a->transposed == b->transposed && a->columns == b->columns &&
           a->tile_c == b->tile_c;
}

uint32_t xpu_weight_buffer(xpu_codegen *cg, xpu_value value, const xpu_packing *packing, const char *name) {
    for (int32_t i = cg->weight_of[value.id]; i >= 0; i = cg->weights.items[i].other) {
        if (same_packing(&cg->weights.items[i].packing, packing)) return cg->weights.items[i].buffer;
    }
    const xpu_value_info *info = xpu_value_at(cg->graph, value);
    int64_t count = 1, dims[XPU_MAX_RANK];
    if (xpu_value_dims(cg->graph, value, NULL, dims)) {
        for (int i = 0; i < info->rank; i++) count *= dims[i];
    }
    uint64_t bytes = xpu_packed_bytes(packing, info->dtype, (uint64_t)count);
    if (!bytes && count) xpu_codegen_bug(cg, "a constant does not fit its packing", "%s", name);
    xpu_program_buffer buffer = {.name = name,
                                 .kind = XPU_BUFFER_WEIGHT,
                                 .bytes = xpu_dim_of(cg, (int64_t)bytes),
                                 .alignment = BUFFER_ALIGNMENT,
                                 .levels = {XPU_LEVEL_GM},
                                 .level_count = 1,
                                 .alias_of = -1,
                                 .placed = 1,
                                 .level = XPU_LEVEL_GM,
                                 .offset = cg->program.weights_bytes};
    cg->program.weights_bytes += (bytes + BUFFER_ALIGNMENT - 1) / BUFFER_ALIGNMENT * BUFFER_ALIGNMENT;
    xpu_weight weight = {value, add_buffer(cg, &buffer), *packing, cg->weight_of[value.id]};
    cg->weight_of[value.id] = (int32_t)cg->weights.count;
    XPU_PUSH(cg->arena, &cg->weights, weight);
    add_program_value(cg, value, weight.buffer, packing);
    return weight.buffer;
}

uint32_t xpu_scratch_buffer(xpu_codegen *cg, uint32_t first_layer, uint32_t layer, xpu_dim bytes, const char *name) {
    xpu_program_buffer buffer = {.name = name,
                                 .kind = XPU_BUFFER_SCRATCH,
                                 .bytes = bytes,
                                 .alignment = BUFFER_ALIGNMENT,
                                 .first_layer = first_layer,
                                 .last_layer = layer,
                                 .levels = {XPU_LEVEL_SM},
                                 .level_count = 1,
                                 .alias_of = -1};
    return add_buffer(cg, &buffer);
}

uint32_t xpu_portable_scratch_buffer(xpu_codegen *cg, uint32_t layer, xpu_dim bytes) {
    const char *name = xpu_printf(cg->arena, "%s/scratch", cg->program.layers.items[layer].name);
    uint32_t index = xpu_scratch_buffer(cg, layer, layer, bytes, name);
    xpu_program_buffer *buffer = &cg->program.buffers.items[index];
    buffer->levels[1] = XPU_LEVEL_L3;
    buffer->levels[2] = XPU_LEVEL_GM;
    buffer->level_count = 3;
    return index;
}

uint32_t xpu_aside_buffer(xpu_codegen *cg, uint32_t like, uint32_t layer) {
    xpu_program_buffer buffer = cg->program.buffers.items[like];
    buffer.name = xpu_printf(cg->arena, "%s/aside", buffer.name);
    buffer.kind = XPU_BUFFER_ACTIVATION;
    buffer.levels[0] = XPU_LEVEL_L3;
    buffer.levels[1] = XPU_LEVEL_GM;
    buffer.level_count = 2;
    buffer.placed = 0;
    buffer.first_layer = buffer.last_layer = layer;
    return add_buffer(cg, &buffer);
}

uint32_t xpu_operand_buffer(xpu_codegen *cg, uint32_t layer, xpu_value value, const char *role) {
    xpu_value root = xpu_value_root(cg, value);
    if (!xpu_is_const_value(cg, root)) return xpu_activation_buffer(cg, root);
    const char *name = xpu_printf(cg->arena, "%s/%s", cg->program.layers.items[layer].name, role);
    return xpu_weight_buffer(cg, root, &(xpu_packing){.kind = XPU_PACK_LINEAR}, name);
}

/* ---- lifetimes ---- */

/* The value in whose buffer `value` is, behind parts too, and behind what is read through. */
static xpu_value whole_of(xpu_codegen *cg, xpu_value value) {
    for (;;) {
        xpu_value root = xpu_value_root(cg, value);
        const xpu_value_info *info = xpu_value_at(cg->graph, root);
        if (info->kind != XPU_VALUE_NODE) return root;
        const int is_read_through = xpu_is_read_through(cg, info->node);
        value = is_read_through ? xpu_node_input(cg->graph, info->node, 0) : part_of(cg, root, NULL);
        if (!value.id) return root;
    }
}

void xpu_value_read(xpu_codegen *cg, xpu_value value, uint32_t layer, xpu_block block) {
    xpu_value root = whole_of(cg, value);
    if (cg->buffer_of[root.id] < 0) return;
    xpu_reading reading = {(uint32_t)cg->buffer_of[root.id], layer, layer, xpu_value_block(cg->graph, root), block};
    XPU_PUSH(cg->arena, &cg->readings, reading);
}

void xpu_buffer_lives(xpu_codegen *cg, uint32_t buffer, uint32_t first, uint32_t last) {
    XPU_PUSH(cg->arena, &cg->readings, ((xpu_reading){.buffer = buffer, .first = first, .last = last}));
}

/* The last layer of the outermost loop around `block` that `home` is not in; `layer` where there is none. */
static uint32_t end_of_loops(const xpu_codegen *cg, xpu_block home, xpu_block block, uint32_t layer) {
    while (block.id != home.id) {
        xpu_node owner = xpu_block_at(cg->graph, block)->owner;
        if (!owner.id) break;
        if (xpu_node_is(cg->graph, owner, XPU_OP_LOOP) && cg->last_of[owner.id] > layer) layer = cg->last_of[owner.id];
        block = xpu_node_at(cg->graph, owner)->parent;
    }
    return layer;
}

static void live_in(xpu_program_buffer *buffer, uint8_t *begun, uint32_t first, uint32_t last) {
    if (!*begun || first < buffer->first_layer) buffer->first_layer = first;
    if (!*begun || last > buffer->last_layer) buffer->last_layer = last;
    *begun = 1;
}

/* Those of blocks' arguments, and of what bodies make for their owner, begin where they are first written, and those of
 * which layers make parts with the first part. */
static void begin_lifetimes(xpu_codegen *cg) {
    uint8_t *begun = XPU_NEW_ARRAY(cg->arena, uint8_t, cg->program.buffers.count);
    xpu_program_buffer *buffers = cg->program.buffers.items;
    for (uint32_t id = 1; id < cg->graph->values.count; id++) {
        const xpu_value_info *info = &cg->graph->values.items[id];
        int32_t index = cg->buffer_of[id];
        if (index < 0) continue;
        int32_t layer = info->kind == XPU_VALUE_NODE ? cg->layer_of[info->node.id] : 0;
        if (layer < 0 || info->kind == XPU_VALUE_ARGUMENT) continue;
        const uint32_t last = (uint32_t)layer, early = (uint32_t)cg->layers.items[last].begins_early,
                       first = last >= early ? last - early : last;
        const xpu_value whole = info->kind == XPU_VALUE_NODE ? part_of(cg, (xpu_value){id}, NULL) : (xpu_value){0};
        live_in(&buffers[index], &begun[index], first, last);
        if (whole.id) index = cg->buffer_of[whole_of(cg, whole).id];
        if (whole.id) live_in(&buffers[index], &begun[index], first, last);
    }
    for (uint32_t i = 0; i < cg->readings.count; i++) {
        const xpu_reading *reading = &cg->readings.items[i];
        if (buffers[reading->buffer].kind == XPU_BUFFER_WEIGHT) continue;
        uint32_t last = end_of_loops(cg, reading->home, reading->block, reading->last);
        live_in(&buffers[reading->buffer], &begun[reading->buffer], reading->first, last);
    }
}

/* The layer reads the value so many times. */
static void live_until(xpu_codegen *cg, xpu_value value, uint32_t layer, xpu_block block, uint32_t reads) {
    xpu_value root = whole_of(cg, value);
    int32_t index = cg->buffer_of[root.id];
    if (index < 0) return;
    xpu_program_buffer *buffer = &cg->program.buffers.items[index];
    uint32_t more = XPU_PROGRAM_MAX_PASSES - buffer->passes;
    buffer->passes += reads < more ? reads : more;
    layer = end_of_loops(cg, xpu_value_block(cg->graph, root), block, layer);
    if (buffer->last_layer < layer) buffer->last_layer = layer;
}

/* How often a layer reads an operand: the tensor engine may load x for several column tiles. */
static uint32_t reads_of(const xpu_codegen *cg, uint32_t layer, uint32_t input) {
    const xpu_tiles *tiles = cg->layers.items[layer].tiles;
    return tiles && input == XPU_IN_X ? tiles->items[tiles->sizes.count - 1].x_reads : 1;
}

/* The buffers of parts live as long as what they are parts of. */
static void live_with_wholes(xpu_codegen *cg) {
    for (uint32_t id = 1; id < cg->graph->values.count; id++) {
        if (cg->buffer_of[id] < 0 || !part_of(cg, (xpu_value){id}, NULL).id) continue;
        const xpu_program_buffer *whole = &cg->program.buffers.items[cg->buffer_of[whole_of(cg, (xpu_value){id}).id]];
        xpu_program_buffer *part = &cg->program.buffers.items[cg->buffer_of[id]];
        part->first_layer = whole->first_layer;
        part->last_layer = whole->last_layer;
    }
}

/* Where every value with memory is, views too: that is how dumps and replays find them. */
static void add_activation_values(xpu_codegen *cg) {
    xpu_packing linear = {.kind = XPU_PACK_LINEAR};
    for (uint32_t id = 1; id < cg->graph->values.count; id++) {
        const xpu_value_info *info = &cg->graph->values.items[id];
        if (info->kind == XPU_VALUE_CONST) continue;
        if (info->kind == XPU_VALUE_NODE && xpu_node_at(cg->graph, info->node)->dead) continue;
        xpu_value root = xpu_value_root(cg, (xpu_value){id});
        if (xpu_is_const_value(cg, root) || cg->buffer_of[root.id] < 0) continue;
        add_program_value(cg, (xpu_value){id}, (uint32_t)cg->buffer_of[root.id], &linear);
    }
}

/* The buffers of states live in GM as long as the program runs. */
static void keep_states(xpu_codegen *cg, uint32_t last) {
    for (uint32_t i = 0; i < cg->program.states.count; i++) {
        const uint32_t pair[] = {cg->program.states.items[i].input, cg->program.states.items[i].output};
        for (int k = 0; k < 2; k++) {
            xpu_program_buffer *buffer = &cg->program.buffers.items[pair[k]];
            buffer->first_layer = 0;
            buffer->last_layer = last;
            buffer->levels[0] = XPU_LEVEL_GM;
            buffer->level_count = 1;
        }
    }
}

static void find_states(xpu_codegen *cg) {
    for (uint32_t i = 0; i < cg->graph->states.count; i++) {
        const xpu_graph_state *state = &cg->graph->states.items[i];
        xpu_program_state buffers = {xpu_activation_buffer(cg, cg->graph->inputs.items[state->input]),
                                     xpu_activation_buffer(cg, cg->graph->outputs.items[state->output])};
        XPU_PUSH(cg->arena, &cg->program.states, buffers);
    }
}

/* Whether the next iteration of a loop that ends with `layer` finds what the buffer holds. */
static int is_read_again(const xpu_codegen *cg, uint32_t layer, const xpu_program_buffer *buffer) {
    for (uint32_t i = 0; i < cg->loops.count; i++) {
        if (cg->loops.items[i].last == layer && buffer->first_layer < cg->loops.items[i].first) return 1;
    }
    return 0;
}

/* By buffer: the last layer that reads a part of it, or -1. */
static const int64_t *find_part_readers(xpu_codegen *cg) {
    int64_t *last = XPU_NEW_ARRAY(cg->arena, int64_t, cg->program.buffers.count);
    for (uint32_t i = 0; i < cg->program.buffers.count; i++) last[i] = -1;
    XPU_FOR_ALL_NODES(cg->graph, node) {
        const int64_t layer = cg->layer_of[node.id];
        const xpu_node_info *info = xpu_node_at(cg->graph, node);
        for (uint32_t i = 0; layer >= 0 && i < info->input_count; i++) {
            if (!info->inputs[i].id || !part_of(cg, xpu_value_root(cg, info->inputs[i]), NULL).id) continue;
            const int32_t whole = cg->buffer_of[whole_of(cg, info->inputs[i]).id];
            if (whole >= 0 && layer > last[whole]) last[whole] = layer;
        }
    }
    return last;
}

/* Keeps the alternatives whose operand dies where the result begins, no part of which is read there beside it, and that
 * is nobody else's result; states are where they are, and so are results that have the place of another buffer. */
static void finish_in_place(xpu_codegen *cg) {
    const int64_t *parts_read = find_part_readers(cg);
    const xpu_program_buffer *buffers = cg->program.buffers.items;
    uint8_t *is_output = XPU_NEW_ARRAY(cg->arena, uint8_t, cg->program.buffers.count);
    uint8_t *is_state = XPU_NEW_ARRAY(cg->arena, uint8_t, cg->program.buffers.count);
    for (uint32_t i = 0; i < cg->program.states.count; i++)
        is_state[cg->program.states.items[i].input] = is_state[cg->program.states.items[i].output] = 1;
    for (uint32_t i = 0; i < cg->graph->outputs.count; i++) {
        int32_t buffer = cg->buffer_of[xpu_value_root(cg, cg->graph->outputs.items[i]).id];
        if (buffer >= 0) is_output[buffer] = 1;
    }
    uint32_t kept = 0;
    for (uint32_t i = 0; i < cg->program.in_place.count; i++) {
        xpu_program_in_place pair = cg->program.in_place.items[i];
        if (is_state[pair.buffer] || is_state[pair.other]) continue;
        if (buffers[pair.buffer].alias_of >= 0 || buffers[pair.other].alias_of >= 0) continue;
        if (is_output[pair.other] || buffers[pair.other].last_layer != buffers[pair.buffer].first_layer) continue;
        if (parts_read[pair.other] >= buffers[pair.buffer].first_layer) continue;
        if (is_read_again(cg, buffers[pair.buffer].first_layer, &buffers[pair.other])) continue;
        cg->program.in_place.items[kept++] = pair;
    }
    cg->program.in_place.count = kept;
}

void xpu_offer_in_place(xpu_codegen *cg, uint32_t result, uint32_t operand) {
    xpu_program_in_place pair = {result, operand};
    const xpu_program_buffer *from = &cg->program.buffers.items[operand];
    if (operand != result && from->kind == XPU_BUFFER_ACTIVATION) XPU_PUSH(cg->arena, &cg->program.in_place, pair);
}

void xpu_finish_buffers(xpu_codegen *cg) {
    uint32_t layers = cg->program.layers.count, last = layers ? layers - 1 : 0;
    for (uint32_t i = 0; i < cg->graph->inputs.count; i++) xpu_activation_buffer(cg, cg->graph->inputs.items[i]);
    for (uint32_t i = 0; i < cg->graph->outputs.count; i++) {
        xpu_value output = cg->graph->outputs.items[i];
        if (!xpu_is_const_value(cg, output)) {
            xpu_activation_buffer(cg, output);
        } else {
            xpu_weight_buffer(cg, output, &(xpu_packing){.kind = XPU_PACK_LINEAR},
                              xpu_value_at(cg->graph, output)->name);
        }
    }
    find_states(cg);
    begin_lifetimes(cg);
    for (uint32_t i = 0; i < cg->program.buffers.count; i++) {
        if (cg->program.buffers.items[i].kind == XPU_BUFFER_ACTIVATION) cg->program.buffers.items[i].passes = 1;
    }
    XPU_FOR_ALL_NODES(cg->graph, node) {
        if (cg->layer_of[node.id] < 0) continue;
        const xpu_node_info *info = xpu_node_at(cg->graph, node);
        for (uint32_t i = 0; i < info->input_count; i++) {
            const uint32_t layer = (uint32_t)cg->layer_of[node.id];
            if (info->inputs[i].id) live_until(cg, info->inputs[i], layer, info->parent, reads_of(cg, layer, i));
        }
    }
    for (uint32_t i = 0; i < cg->graph->outputs.count; i++)
        live_until(cg, cg->graph->outputs.items[i], last, XPU_TOP_BLOCK, 0);
    for (uint32_t i = 0; i < cg->program.buffers.count; i++) {
        xpu_program_buffer *buffer = &cg->program.buffers.items[i];
        if (buffer->kind == XPU_BUFFER_WEIGHT) buffer->last_layer = last;
    }
    live_with_wholes(cg);
    keep_states(cg, last);
    finish_in_place(cg);
    add_activation_values(cg);
}
