/* Protobuf to xpu_program. Nothing is believed: every index, count, enum and size is checked. */
#include <string.h>

#include "xpu_runtime/program/decode.h"
#include "xpu_runtime/program/placement.h"
#include "xpu_runtime/program/record.h"

enum { WORD_BYTES = 4 };

/* A dim that must be there and lie between 0 and `limit` at the smallest shape. */
static int size_of(decoder *d, uint32_t id, int64_t limit, xpu_dim *dim) {
    if (!dim_of(d, id, dim)) return 0;
    int64_t least = xpu_dim_eval(&d->graph->dims, *dim, NULL);
    return check(d, dim->id && least >= 0 && least <= limit, "a size is missing, negative or too large");
}

static int decode_symbols(decoder *d) {
    xpu_dims *dims = &d->graph->dims;
    xpu_entries list = list_of(d, "symbols");
    if (!check_count(d, list.count, XPU_PROGRAM_MAX_SYMBOLS, "symbols")) return 0;
    for (const XpuMeta__Symbol *s; (s = xpu_entries_next(&list));) {
        const int64_t most = (int64_t)1 << 40;
        int good = s->name[0] && s->min >= (s->value ? -most : 0) && s->min <= s->max && s->max <= most && s->step >= 1;
        for (uint32_t k = 0; k < d->symbol_count; k++) good = good && strcmp(dims->symbols.items[k].name, s->name) != 0;
        if (!check(d, good, "a symbol has no name, an empty range or no step")) return 0;
        xpu_value definer = {s->value}; /* of the file: find_definers */
        d->bounds[d->symbol_count] = s->value ? s->bound : 0;
        d->symbols[d->symbol_count++] = xpu_dim_symbol_of(dims, s->name, s->min, s->max, s->step, definer, s->element);
    }
    return ended(d, &list);
}

static int decode_dims(decoder *d) {
    xpu_entries list = list_of(d, "dims");
    if (!check_count(d, list.count, MAX_ITEMS, "operations in dim expressions")) return 0;
    xpu_dims *dims = &d->graph->dims;
    uint32_t *operations = XPU_NEW_ARRAY(d->arena, uint32_t, list.count + 1), id = 1;
    d->dims = XPU_NEW_ARRAY(d->arena, xpu_dim, list.count + 1);
    for (const XpuMeta__Dim *from; (from = xpu_entries_next(&list)); id++, d->dim_count++) {
        operations[id] = 1;
        if (from->kind == XPU_DIM_CONST) {
            d->dims[id] = xpu_dim_const(dims, from->value);
        } else if (from->kind == XPU_DIM_SYMBOL) {
            if (!check(d, from->value >= 0 && from->value < d->symbol_count, "a symbol does not exist")) return 0;
            d->dims[id] = d->symbols[from->value];
        } else {
            int good = from->kind <= XPU_DIM_MAX && from->a >= 1 && from->a < id && from->b >= 1 && from->b < id;
            if (!check(d, good, "a dim expression is malformed")) return 0;
            operations[id] += operations[from->a] + operations[from->b];
            if (!check(d, operations[id] <= MAX_EXPRESSION, "a dim expression is too long")) return 0;
            d->dims[id] = xpu_dim_op(dims, (xpu_dim_kind)from->kind, d->dims[from->a], d->dims[from->b]);
            if (!check(d, dims->work <= XPU_DIMS_MAX_WORK, "its dim expressions are too complex together")) return 0;
        }
    }
    return ended(d, &list);
}

static int decode_guards(decoder *d) {
    xpu_entries list = list_of(d, "guards");
    if (!check_count(d, list.count, MAX_ITEMS, "guards")) return 0;
    for (const XpuMeta__Guard *from; (from = xpu_entries_next(&list));) {
        xpu_dim a, b;
        if (!dim_of(d, from->a, &a) || !dim_of(d, from->b, &b)) return 0;
        if (!check(d, a.id && b.id, "a guard has no dim")) return 0;
        xpu_graph_guard(d->graph, a, b, from->where);
    }
    d->graph->guards_known = 1;
    return ended(d, &list);
}

static int decode_constant(decoder *d, const XpuMeta__Value *from, xpu_value_info *info) {
    int64_t dims[XPU_MAX_RANK];
    xpu_tensor shape = {.dtype = info->dtype, .rank = info->rank};
    for (int i = 0; i < info->rank; i++) {
        if (!check(d, xpu_dim_is_const(&d->graph->dims, info->dims[i], &dims[i]), "a constant has an open dim"))
            return 0;
        if (!check(d, dims[i] >= 0 && dims[i] <= (int64_t)1 << 32, "a constant is too large")) return 0;
        shape.dims[i] = dims[i];
        if (!check(d, xpu_tensor_count(&shape) <= (int64_t)1 << 32, "a constant is too large")) return 0;
        shape.rank = info->rank;
    }
    xpu_const *constant = XPU_NEW(d->arena, xpu_const);
    constant->kind = XPU_CONST_BYTES;
    constant->source_dtype = info->dtype;
    constant->source_rank = info->rank;
    memcpy(constant->source_dims, shape.dims, sizeof shape.dims);
    if (from->has_data) {
        if (!check(d, from->data.len == xpu_tensor_bytes(&shape), "a constant's bytes do not fit its shape")) return 0;
        constant->bytes = xpu_copy(d->arena, from->data.data, from->data.len);
        constant->length = from->data.len;
    }
    info->constant = constant;
    return 1;
}

static int decode_value(decoder *d, const XpuMeta__Value *from, uint32_t id) {
    int good = from->kind <= XPU_VALUE_ARGUMENT && from->dtype > XPU_DTYPE_NONE && from->dtype < XPU_DTYPE_COUNT &&
               from->n_dims <= XPU_MAX_RANK && from->layout <= XPU_LAYOUT_CHANNEL_LAST && from->name[0];
    if (!check(d, good, "a value has an unknown kind, type, layout or rank")) return 0;
    if (!check(d, from->layout == XPU_LAYOUT_LINEAR || from->n_dims == 3 || from->n_dims == 4,
               "a value's layout needs rank 3 or 4")) {
        return 0;
    }
    xpu_value value = xpu_graph_value(d->graph, from->name);
    xpu_value_info *info = xpu_value_at(d->graph, value);
    info->kind = (xpu_value_kind)from->kind;
    info->dtype = (xpu_dtype)from->dtype;
    info->layout = (xpu_layout)from->layout;
    info->rank = (int)from->n_dims;
    double count = 1;
    for (size_t i = 0; i < from->n_dims; i++) {
        if (!size_of(d, from->dims[i], XPU_PROGRAM_MAX_SIZE, &info->dims[i])) return 0;
        count *= (double)xpu_dim_eval(&d->graph->dims, info->dims[i], NULL);
    }
    if (!check(d, count <= (double)XPU_PROGRAM_MAX_SIZE, "a value is too large")) return 0;
    d->values[id] = value;
    return info->kind != XPU_VALUE_CONST || decode_constant(d, from, info);
}

static int decode_values(decoder *d, const XpuMeta__Program *m) {
    xpu_entries list = list_of(d, "values");
    if (!check_count(d, list.count, MAX_ITEMS, "values") || !check_count(d, m->n_inputs, MAX_ITEMS, "inputs") ||
        !check_count(d, m->n_outputs, MAX_ITEMS, "outputs")) {
        return 0;
    }
    d->values = XPU_NEW_ARRAY(d->arena, xpu_value, list.count + 1);
    for (const XpuMeta__Value *from; (from = xpu_entries_next(&list)); d->value_count++) {
        if (!decode_value(d, from, d->value_count + 1)) return 0;
    }
    if (!ended(d, &list)) return 0;
    xpu_value value;
    uint32_t unlisted = 0;
    for (uint32_t id = 1; id <= d->value_count; id++) {
        unlisted += xpu_value_at(d->graph, d->values[id])->kind == XPU_VALUE_INPUT;
    }
    uint8_t *listed = XPU_NEW_ARRAY(d->arena, uint8_t, d->value_count + 1);
    for (size_t i = 0; i < m->n_inputs; i++) {
        if (!value_of(d, m->inputs[i], &value)) return 0;
        int good = xpu_value_at(d->graph, value)->kind == XPU_VALUE_INPUT && !listed[m->inputs[i]];
        if (!check(d, good, "an input is not an input value, or listed twice")) return 0;
        listed[m->inputs[i]] = 1;
        unlisted--;
        XPU_PUSH(d->arena, &d->graph->inputs, value);
    }
    if (!check(d, unlisted == 0, "an input is not in the list of inputs")) return 0;
    for (size_t i = 0; i < m->n_outputs; i++) {
        if (!value_of(d, m->outputs[i], &value)) return 0;
        xpu_graph_output(d->graph, value);
    }
    return 1;
}

/* Symbols that are elements of inputs, or that a run finds. */
static int find_definers(decoder *d) {
    for (uint32_t i = 0; i < d->symbol_count; i++) {
        xpu_symbol *symbol = &d->graph->dims.symbols.items[i];
        if (!symbol->value.id) continue;
        if (!value_of(d, symbol->value.id, &symbol->value) || !dim_of(d, d->bounds[i], &symbol->bound)) return 0;
        const xpu_value_info *info = xpu_value_at(d->graph, symbol->value);
        int64_t count = 1, size = 0;
        int good = info->kind != XPU_VALUE_CONST && (info->dtype == XPU_I32 || info->dtype == XPU_I64);
        for (int k = 0; good && k < info->rank; k++) {
            good = xpu_dim_is_const(&d->graph->dims, info->dims[k], &size) && size <= XPU_PROGRAM_MAX_ELEMENTS;
            count *= size;
        }
        good = good && count <= XPU_PROGRAM_MAX_ELEMENTS && symbol->element < count;
        if (!check(d, good, "a symbol is no element of a few integers")) return 0;
    }
    return 1;
}

static int decode_buffer(decoder *d, const XpuMeta__Buffer *from, size_t index, size_t layers) {
    xpu_program_buffer b = {
        .name = name_of(d, from->name),
        .kind = (xpu_buffer_kind)from->kind,
        .alignment = from->alignment,
        .first_layer = from->first_layer,
        .last_layer = from->last_layer,
        .alias_of = from->alias_of,
        .placed = from->placed != 0,
        .level = (xpu_level)from->level,
        .offset = from->offset,
        .copy_of = from->copy_of,
        .copy_offset = from->copy_offset,
        .copy_row = from->copy_row,
        .copy_pitch = from->copy_pitch,
        .passes = from->passes,
    };
    int good = from->kind <= XPU_BUFFER_AHEAD && from->n_levels <= XPU_LEVEL_COUNT && from->level < XPU_LEVEL_COUNT &&
               from->alignment >= 1 && from->alignment <= 4096 && !(from->alignment & (from->alignment - 1)) &&
               from->first_layer <= from->last_layer && from->last_layer < layers + 1 && from->alias_of >= -1 &&
               from->alias_of < (int64_t)index && from->offset <= (uint64_t)1 << 32 &&
               from->passes <= XPU_PROGRAM_MAX_PASSES;
    if (!check(d, good, "a buffer is malformed")) return 0;
    for (size_t i = 0; i < from->n_levels; i++) {
        if (!check(d, from->levels[i] < XPU_LEVEL_COUNT, "a memory level does not exist")) return 0;
        b.levels[b.level_count++] = (uint8_t)from->levels[i];
    }
    if (!check(d, b.placed || b.level_count > 0 || b.alias_of >= 0, "a buffer has no memory level")) return 0;
    if (!size_of(d, from->bytes, XPU_PROGRAM_MAX_SIZE, &b.bytes)) return 0;
    if (!dim_of(d, from->alias_offset, &b.alias_offset)) return 0;
    XPU_PUSH(d->arena, &d->program->buffers, b);
    return 1;
}

/* Whole runs of whole words within a weight. */
static int runs_are_good(const xpu_program_buffer *b, uint64_t bytes, uint64_t original) {
    if (b->copy_offset % WORD_BYTES || b->copy_row % WORD_BYTES || b->copy_pitch % WORD_BYTES) return 0;
    if (!bytes || !b->copy_row || bytes % b->copy_row || b->copy_row > b->copy_pitch || bytes > original) return 0;
    if (b->copy_pitch > original || b->copy_offset > original - b->copy_row) return 0;
    return bytes / b->copy_row - 1 <= (original - b->copy_row - b->copy_offset) / b->copy_pitch;
}

/* A weight lies within the weights, a copy has the bytes of a weight, in whole words. */
static int weight_is_good(decoder *d, const xpu_program_buffer *b, size_t index, uint64_t weights_bytes) {
    int64_t bytes = 0, original = 0;
    if (b->kind == XPU_BUFFER_ACTIVATION || b->kind == XPU_BUFFER_SCRATCH) return 1;
    int fixed = xpu_dim_is_const(&d->graph->dims, b->bytes, &bytes) && b->alias_of < 0;
    if (b->kind == XPU_BUFFER_WEIGHT) {
        return check(d,
                     fixed && b->placed && b->offset <= weights_bytes && (uint64_t)bytes <= weights_bytes - b->offset,
                     "a weight lies outside of the weights");
    }
    const xpu_program_buffer *of = b->copy_of < index ? &d->program->buffers.items[b->copy_of] : NULL;
    fixed = fixed && of && of->kind == XPU_BUFFER_WEIGHT && xpu_dim_is_const(&d->graph->dims, of->bytes, &original);
    if (b->kind == XPU_BUFFER_AHEAD) fixed = fixed && runs_are_good(b, (uint64_t)bytes, (uint64_t)original);
    return check(d, fixed && bytes <= original + 3, "a copy of a weight is malformed");
}

static int decode_placed(decoder *d, const XpuMeta__Placed *from) {
    const XpuMeta__Packing *p = from->packing;
    xpu_program_value v = {.buffer = from->buffer,
                           .packing = {.kind = (xpu_packing_kind)p->kind,
                                       .out_c = p->out_c,
                                       .in_c = p->in_c,
                                       .kernel_h = p->kernel_h,
                                       .kernel_w = p->kernel_w,
                                       .groups = p->groups,
                                       .transposed = p->transposed != 0,
                                       .columns = p->columns,
                                       .tile_c = p->tile_c}};
    if (!check(d, from->buffer < d->program->buffers.count, "a buffer does not exist")) return 0;
    if (!value_of(d, from->value, &v.value) || !dim_of(d, from->offset, &v.offset)) return 0;
    const xpu_value_info *info = xpu_value_at(d->graph, v.value);
    if (!check(d, p->kind < XPU_PACK_COUNT, "a packing does not exist")) return 0;
    if (info->kind == XPU_VALUE_CONST) {
        int64_t dims[XPU_MAX_RANK];
        xpu_tensor shape = {.dtype = info->dtype, .rank = info->rank};
        xpu_value_dims(d->graph, v.value, NULL, dims);
        memcpy(shape.dims, dims, sizeof dims);
        const xpu_program_buffer *b = &d->program->buffers.items[v.buffer];
        int64_t bytes = 0;
        uint64_t packed = xpu_packed_bytes(&v.packing, info->dtype, (uint64_t)xpu_tensor_count(&shape));
        int good = b->kind == XPU_BUFFER_WEIGHT && b->placed && xpu_dim_is_const(&d->graph->dims, b->bytes, &bytes) &&
                   packed <= (uint64_t)bytes && (packed > 0 || xpu_tensor_count(&shape) == 0);
        if (!check(d, good, "a constant's packing does not fit its buffer")) return 0;
    } else if (!check(d, v.packing.kind == XPU_PACK_LINEAR, "a computed value cannot be packed")) {
        return 0;
    }
    if (!dim_of(d, from->extent, &v.extent)) return 0;
    v.axis = (int)from->axis;
    const int is_channels = info->layout == XPU_LAYOUT_CHANNEL_LAST && from->axis == 1;
    const int has_axis = info->kind != XPU_VALUE_CONST && from->axis < (uint32_t)info->rank &&
                         (info->layout == XPU_LAYOUT_LINEAR || is_channels);
    if (v.extent.id && !check(d, has_axis, "a value has room along no axis")) return 0;
    XPU_PUSH(d->arena, &d->program->values, v);
    return 1;
}

static int decode_buffers(decoder *d) {
    xpu_entries buffers = list_of(d, "buffers"), placed = list_of(d, "placed");
    size_t layers = list_of(d, "layers").count, index = 0;
    if (!check_count(d, buffers.count, MAX_ITEMS, "buffers") ||
        !check_count(d, placed.count, MAX_ITEMS, "placed buffers"))
        return 0;
    for (const XpuMeta__Buffer *from; (from = xpu_entries_next(&buffers)); index++) {
        if (!decode_buffer(d, from, index, layers)) return 0;
        if (!weight_is_good(d, &d->program->buffers.items[index], index, d->program->weights_bytes)) return 0;
    }
    for (const XpuMeta__Placed *from; ended(d, &buffers) && (from = xpu_entries_next(&placed));) {
        if (!decode_placed(d, from)) return 0;
    }
    return ended(d, &buffers) && ended(d, &placed);
}

static int decode_in_place(decoder *d) {
    xpu_entries list = list_of(d, "in_place");
    if (!check_count(d, list.count, MAX_ITEMS, "buffers in place")) return 0;
    for (const XpuMeta__InPlace *from; (from = xpu_entries_next(&list));) {
        xpu_program_in_place pair = {from->buffer, from->other};
        uint32_t count = d->program->buffers.count;
        if (!check(d, pair.buffer < count && pair.other < count && pair.buffer != pair.other,
                   "a buffer does not exist")) {
            return 0;
        }
        XPU_PUSH(d->arena, &d->program->in_place, pair);
    }
    return ended(d, &list);
}

/* Every constant has bytes: its own, or a place in the weights. */
static int constants_exist(decoder *d) {
    uint8_t *placed = XPU_NEW_ARRAY(d->arena, uint8_t, d->graph->values.count);
    for (uint32_t i = 0; i < d->program->values.count; i++) placed[d->program->values.items[i].value.id] = 1;
    for (uint32_t id = 1; id < d->graph->values.count; id++) {
        const xpu_value_info *info = xpu_value_at(d->graph, (xpu_value){id});
        int good = info->kind != XPU_VALUE_CONST || info->constant->bytes || placed[id];
        if (!check(d, good, "a constant has no bytes")) return 0;
    }
    return 1;
}

static int unit_of(const char *name, xpu_unit *unit) {
    int i = 0;
    while (i < XPU_UNIT_COUNT && strcmp(xpu_unit_name((xpu_unit)i), name) != 0) i++;
    *unit = (xpu_unit)i;
    return i < XPU_UNIT_COUNT;
}

static int decode_model(decoder *d, const XpuMeta__Layer *from, xpu_program_model *model) {
    enum { NUMBERS = 5 };
    if (from->n_model == 0) return 1;
    int good = from->n_model == NUMBERS;
    for (size_t i = 0; i < from->n_model && good; i++) good = from->model[i] <= XPU_PROGRAM_MAX_MODELLED;
    if (!check(d, good, "a layer's model is malformed")) return 0;
    *model = (xpu_program_model){from->model[0], from->model[1], from->model[2], from->model[3], from->model[4]};
    return 1;
}

static int decode_layers(decoder *d) {
    xpu_entries list = list_of(d, "layers");
    if (!check_count(d, list.count, MAX_LAYERS, "layers")) return 0;
    for (const XpuMeta__Layer *from; (from = xpu_entries_next(&list));) {
        xpu_program_layer l = {
            .name = name_of(d, from->name), .kernel = word_of(d, from->kernel), .reason = word_of(d, from->reason)};
        int has_node = from->node >= 1 && from->node <= d->node_count;
        int no_node = from->node == 0 && (d->program->stripped || from->n_outputs == 0);
        int good = no_node || (has_node && !d->program->stripped);
        if (!check(d, good && unit_of(from->unit, &l.unit), "a layer is malformed")) return 0;
        if (from->node) l.node = d->nodes[from->node];
        good = from->n_outputs <= MAX_ITEMS &&
               (!from->node || from->n_outputs == xpu_node_at(d->graph, l.node)->output_count);
        if (!check(d, good, "a layer has not the results of its node")) return 0;
        if (from->macs && !size_of(d, from->macs, XPU_PROGRAM_MAX_MACS, &l.macs)) return 0;
        if (!decode_model(d, from, &l.model)) return 0;
        xpu_value *outputs = XPU_NEW_ARRAY(d->arena, xpu_value, from->n_outputs);
        for (size_t k = 0; k < from->n_outputs; k++) {
            if (!value_of(d, from->outputs[k], &outputs[k])) return 0;
        }
        l.lists = from->lists;
        l.outputs = outputs;
        l.output_count = (uint32_t)from->n_outputs;
        XPU_PUSH(d->arena, &d->program->layers, l);
    }
    return ended(d, &list);
}

/* The words of a layer with lists of descriptors are there, for a kernel that has lists; in a program of one shape they
 * depend on none. */
static int lists_exist(decoder *d) {
    const xpu_program *p = d->program;
    for (uint32_t i = 0; i < p->layers.count; i++) {
        const xpu_program_layer *layer = &p->layers.items[i];
        const uint32_t own = XPU_LISTS_WORDS, more = layer->lists ? xpu_recorded_words(layer->kernel) : 0;
        if (!layer->lists) continue;
        const uint64_t end = (uint64_t)layer->lists - 1 + own + more;
        int good = more > 0 && end <= p->plan.count && p->steps.count == 0 &&
                   p->plan.items[layer->lists - 1].kind == XPU_WORD_ADDRESS;
        const uint64_t fixed = d->graph->dims.symbols.count ? layer->lists - 1 + own : end;
        for (uint64_t k = layer->lists - 1; good && k < fixed; k++) good = p->plan.items[k].kind != XPU_WORD_DIM;
        if (!check(d, good, "the descriptor lists of a layer are malformed")) return 0;
    }
    return 1;
}

/* Whether all of a buffer that is fetched ahead comes, before the last layer of its life. */
static int is_whole(const xpu_program *p, uint32_t buffer, int64_t come) {
    int64_t bytes;
    return xpu_dim_is_const(&p->graph->dims, p->buffers.items[buffer].bytes, &bytes) && come == bytes;
}

/* By buffer and layer, layers have lists, whole words. */
static int decode_transfers(decoder *d) {
    xpu_program *p = d->program;
    xpu_entries list = list_of(d, "transfers");
    const uint32_t most = MAX_WALKED / (p->layers.count + 1);
    if (!check_count(d, list.count, most < MAX_ITEMS ? most : MAX_ITEMS, "transfers")) return 0;
    uint32_t buffer = UINT32_MAX, layer = 0, buffers = 0, ahead = 0;
    int64_t come = 0;
    int good = 1;
    for (const XpuMeta__Transfer *from; good && (from = xpu_entries_next(&list));) {
        const int is_next = from->buffer != buffer;
        if (is_next) good = !buffers++ || (from->buffer > buffer && is_whole(p, buffer, come));
        if (is_next) buffer = from->buffer, come = 0;
        good = good && buffer < p->buffers.count && p->buffers.items[buffer].kind == XPU_BUFFER_AHEAD;
        const xpu_program_buffer *b = good ? &p->buffers.items[buffer] : NULL;
        good = good && from->layer >= b->first_layer && from->layer < b->last_layer &&
               b->last_layer < p->layers.count && (is_next || from->layer > layer) &&
               p->layers.items[from->layer].lists && from->bytes > 0 && from->bytes <= XPU_PROGRAM_MAX_SIZE &&
               from->bytes % WORD_BYTES == 0;
        layer = from->layer;
        come += good ? (int64_t)from->bytes : 0;
        XPU_PUSH(d->arena, &p->transfers, ((xpu_program_transfer){buffer, layer, from->bytes}));
    }
    for (uint32_t i = 0; i < p->buffers.count; i++) ahead += p->buffers.items[i].kind == XPU_BUFFER_AHEAD;
    good = good && ahead == buffers && (!buffers || (is_whole(p, buffer, come) && !p->graph->dims.symbols.count));
    return ended(d, &list) && check(d, good, "a transfer of a weight is malformed");
}

static int decode_plan(decoder *d) {
    xpu_entries list = list_of(d, "plan");
    if (!check_count(d, list.count, MAX_PLAN, "words in its plan table")) return 0;
    for (const XpuMeta__Word *from; (from = xpu_entries_next(&list));) {
        xpu_plan_word w = {.kind = (xpu_word_kind)from->kind, .bits = from->bits, .buffer = from->buffer};
        if (!check(d, from->kind <= XPU_WORD_ADDRESS, "a word of its plan table has an unknown kind")) return 0;
        if (!dim_of(d, from->dim, &w.dim)) return 0;
        if (!check(d, w.kind != XPU_WORD_DIM || w.dim.id, "a word of its plan table has no expression")) return 0;
        if (!check(d, w.kind != XPU_WORD_ADDRESS || w.buffer < d->program->buffers.count, "a buffer does not exist")) {
            return 0;
        }
        XPU_PUSH(d->arena, &d->program->plan, w);
    }
    return ended(d, &list);
}

static xpu_program_step step_of(const XpuMeta__Step *from, uint32_t index) {
    xpu_program_step step = {.kind = (xpu_program_step_kind)from->kind,
                             .first = from->first,
                             .last = from->last,
                             .middle = from->kind == XPU_DO_IF ? from->middle : index + 1,
                             .end = index + 1,
                             .word = from->word,
                             .symbol = from->symbol};
    if (from->kind == XPU_DO_IF || from->kind == XPU_DO_LOOP) step.end = from->end;
    return step;
}

/* Ranges are all layers once and in order, branches and bodies lie within each other, words and symbols exist. */
static int decode_steps(decoder *d) {
    enum { MAX_DEPTH = 64 };
    xpu_entries list = list_of(d, "steps");
    if (!check_count(d, list.count, MAX_ITEMS, "steps")) return 0;
    uint32_t ends[MAX_DEPTH], depth = 0, index = 0, layers = 0;
    for (const XpuMeta__Step *from; (from = xpu_entries_next(&list)); index++) {
        while (depth && ends[depth - 1] == index) depth--;
        const uint32_t end = depth ? ends[depth - 1] : (uint32_t)list.count;
        if (!check(d, from->kind < XPU_DO_COUNT, "a step has an unknown kind")) return 0;
        xpu_program_step step = step_of(from, index);
        int good = step.middle > index && step.middle <= step.end && step.end <= end;
        if (!check(d, good, "a step's branches or body are not within its own")) return 0;
        if (step.kind == XPU_DO_RUN) {
            good = step.first == layers && step.first <= step.last && step.last < d->program->layers.count;
            layers = step.last + 1;
        } else {
            const uint32_t words = d->program->plan.count, own = xpu_step_words(step.kind);
            good = own <= words && step.word <= words - own &&
                   (step.kind != XPU_DO_SET || step.symbol < d->graph->dims.symbols.count);
        }
        if (!check(d, good, "a step has wrong layers, a wrong word or no symbol")) return 0;
        if (step.end > index + 1) {
            if (!check(d, depth + 2 <= MAX_DEPTH, "its branches and loops are nested too deeply")) return 0;
            ends[depth++] = step.end;
            if (step.middle > index + 1 && step.middle < step.end) ends[depth++] = step.middle;
        }
        XPU_PUSH(d->arena, &d->program->steps, step);
    }
    return ended(d, &list) && check(d, !index || layers == d->program->layers.count, "a layer is in no step");
}

/* Inputs and outputs of the graph, each tied once to one of its type and shape. */
static int decode_states(decoder *d) {
    const xpu_graph *g = d->graph;
    xpu_entries list = list_of(d, "states");
    if (!check_count(d, list.count, MAX_ITEMS, "states")) return 0;
    uint8_t *tied = XPU_NEW_ARRAY(d->arena, uint8_t, (size_t)g->inputs.count + g->outputs.count);
    for (const XpuMeta__State *from; (from = xpu_entries_next(&list));) {
        int good = from->input < g->inputs.count && from->output < g->outputs.count && !tied[from->input]++ &&
                   !tied[g->inputs.count + from->output]++;
        if (!check(d, good, "a state names no input or output, or one twice")) return 0;
        xpu_value input = g->inputs.items[from->input], output = g->outputs.items[from->output];
        good =
            xpu_value_at(g, input)->dtype == xpu_value_at(g, output)->dtype && xpu_value_same_shape(g, input, output);
        if (!check(d, good, "a state's input and output have different types")) return 0;
        xpu_graph_tie(d->graph, from->output, from->input);
    }
    const char *problem = ended(d, &list) ? xpu_program_find_states(d->program, d->arena) : NULL;
    return ended(d, &list) && (!problem || check(d, 0, problem));
}

static int decode_lists(decoder *d) {
    xpu_entries tensors = list_of(d, "tensors"), regions = list_of(d, "regions");
    if (!check_count(d, tensors.count, MAX_ITEMS, "tensors of the model") ||
        !check_count(d, regions.count, MAX_ITEMS, "regions"))
        return 0;
    for (const XpuMeta__SourceTensor *t; (t = xpu_entries_next(&tensors));) {
        int good = t->fate <= XPU_TENSOR_FOLDED && t->layer >= -1 && t->layer < (int64_t)d->program->layers.count &&
                   (t->layer >= 0) == (t->fate != XPU_TENSOR_FOLDED);
        if (!check(d, good, "the fate of a source tensor is malformed")) return 0;
        XPU_PUSH(d->arena, &d->program->tensors,
                 ((xpu_program_tensor){name_of(d, t->name), (xpu_tensor_fate)t->fate, t->layer}));
    }
    for (const XpuMeta__Region *r; ended(d, &tensors) && (r = xpu_entries_next(&regions));) {
        xpu_program_region region = {word_of(d, r->target), r->node_count, word_of(d, r->reason)};
        XPU_PUSH(d->arena, &d->program->regions, region);
    }
    return ended(d, &tensors) && ended(d, &regions);
}

static int decode_header(decoder *d, const XpuMeta__Program *m) {
    xpu_program *p = d->program;
    if (!check(d, m->source_hash.len == XPU_HASH_BYTES, "the hash of its model does not have 16 bytes")) return 0;
    memcpy(p->source_hash.bytes, m->source_hash.data, sizeof p->source_hash.bytes);
    p->target = m->target;
    p->chip_json = m->chip_json;
    p->abi_hash = m->abi_hash;
    p->precision = m->precision;
    p->compiler = m->compiler;
    p->clang = m->clang;
    p->source = m->source;
    p->source_nodes = m->source_nodes;
    p->stripped = m->stripped != 0;
    p->weights_bytes = m->weights_bytes;
    p->plan_address = m->plan_address;
    p->control_address = m->control_address;
    p->weights_address = m->weights_address;
    p->image_end = m->image_end;
    return 1;
}

static int decode_before_graph(decoder *d) {
    const XpuMeta__Program *m = (const XpuMeta__Program *)d->message->rest;
    if (!check(d, m->version == XPU_PROGRAM_VERSION, "it was made by another version of the compiler")) return 0;
    d->graph = d->program->graph = xpu_graph_new(d->arena, m->graph_name, d->name);
    return decode_header(d, m) && decode_symbols(d) && decode_dims(d) && decode_guards(d) && decode_values(d, m) &&
           find_definers(d) && decode_buffers(d) && decode_in_place(d) && constants_exist(d);
}

xpu_program *xpu_metadata_decode(const xpu_blob *metadata, const xpu_blob *graph, xpu_arena *arena, const char *name,
                                 const char **why) {
    decoder d = {.arena = arena, .name = name, .why = why, .program = XPU_NEW(arena, xpu_program)};
    xpu_message program, nodes;
    *why = NULL;
    d.words.arena = arena;
    int good = xpu_message_open(&program, &xpu_meta__program__descriptor, metadata, MAX_DECODED, arena);
    d.message = &program;
    if (check(&d, good, damaged_program) && decode_before_graph(&d)) {
        if (graph->length) {
            good = xpu_message_open(&nodes, &xpu_meta__graph__descriptor, graph, MAX_DECODED, arena);
            d.message = &nodes;
            if (check(&d, good, damaged_graph)) xpu_decode_graph(&d);
            xpu_message_close(&nodes);
        } else {
            check(&d, d.program->stripped, "its section .xpu.graph is missing");
        }
        d.message = &program;
        if (!*why && decode_layers(&d) && decode_plan(&d) && decode_steps(&d) && lists_exist(&d) &&
            decode_transfers(&d) && decode_states(&d))
            decode_lists(&d);
    }
    xpu_message_close(&program);
    return *why ? NULL : d.program;
}
