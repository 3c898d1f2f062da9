/*
 * xpu_program to protobuf. The entries of a list are made one at a time and written at once: a message of a large
 * program as a whole would be many times as large as its bytes.
 */
#include <string.h>

#include "core/ops/op.h"
#include "xpu_runtime/program/metadata.h"
#include "xpu_runtime/program/program.pb-c.h"

typedef struct {
    const xpu_program *program;
    const xpu_graph *graph;
    xpu_arena *arena;
    xpu_arena *scratch; /* of the entries that were made last */
    uint32_t entries;
    xpu_diags *diags;
    xpu_text bytes;                 /* of the message so far */
    uint32_t field;                 /* of the list whose entries are put */
    uint32_t *value_ids, *node_ids; /* old id -> new id, 0: not part of the program */
    uint32_t value_count, node_count;
    uint32_t *values, *nodes; /* new id - 1 -> old id */
    uint32_t *block_ids;      /* old id -> new id, 0: the graph's own block, or not part of the program */
    uint32_t block_count;
} encoder;

/* What a message points to and does not change. */
static char *text(const char *string) {
    return (char *)(uintptr_t)(string ? string : "");
}

/* ---- bytes ---- */

enum { LENGTH_DELIMITED = 2, VARINT_BITS = 7, VARINT_BYTES = 10 };

static size_t put_varint(uint8_t *to, uint64_t value) {
    size_t n = 0;
    for (; value >> VARINT_BITS; value >>= VARINT_BITS) to[n++] = (uint8_t)(value | 0x80);
    to[n++] = (uint8_t)value;
    return n;
}

static void put_length(encoder *e, uint32_t field, size_t length) {
    uint8_t head[2 * VARINT_BYTES];
    size_t n = put_varint(head, field << 3 | LENGTH_DELIMITED);
    n += put_varint(head + n, length);
    xpu_text_add_bytes(&e->bytes, (const char *)head, n);
}

static void put_bytes(encoder *e, const ProtobufCMessage *message) {
    size_t length = protobuf_c_message_get_packed_size(message);
    protobuf_c_message_pack(message, (uint8_t *)xpu_text_room(&e->bytes, length));
}

/* Entries are of this list from now on. */
static void begin_list(encoder *e, const ProtobufCMessageDescriptor *message, const char *name) {
    e->field = protobuf_c_message_descriptor_get_field_by_name(message, name)->id;
}

static void put_entry(encoder *e, const ProtobufCMessage *message) {
    enum { KEPT = 256 };
    put_length(e, e->field, protobuf_c_message_get_packed_size(message));
    put_bytes(e, message);
    if (++e->entries % KEPT) return;
    xpu_arena_free(e->scratch);
    e->scratch = xpu_arena_new(xpu_arena_mem(e->arena), "entries of metadata");
}

/* A packed list of ids; nothing where it is empty, as protobuf-c has it. */
static void put_ids(encoder *e, const xpu_value *values, uint32_t count) {
    uint8_t id[VARINT_BYTES];
    size_t length = 0;
    for (uint32_t i = 0; i < count; i++) length += put_varint(id, e->value_ids[values[i].id]);
    if (!count) return;
    put_length(e, e->field, length);
    for (uint32_t i = 0; i < count; i++) {
        xpu_text_add_bytes(&e->bytes, (const char *)id, put_varint(id, e->value_ids[values[i].id]));
    }
}

/* ---- the values and nodes that are part of it ---- */

static void add_value(encoder *e, xpu_value value) {
    if (!value.id || e->value_ids[value.id]) return;
    e->values[e->value_count++] = value.id;
    e->value_ids[value.id] = e->value_count;
}

static void number(encoder *e) {
    const xpu_graph *g = e->graph;
    e->value_ids = XPU_NEW_ARRAY(e->arena, uint32_t, g->values.count);
    e->values = XPU_NEW_ARRAY(e->arena, uint32_t, g->values.count);
    e->node_ids = XPU_NEW_ARRAY(e->arena, uint32_t, g->nodes.count);
    e->nodes = XPU_NEW_ARRAY(e->arena, uint32_t, g->nodes.count);
    e->block_ids = XPU_NEW_ARRAY(e->arena, uint32_t, g->blocks.count);
    for (uint32_t i = 0; i < g->inputs.count; i++) add_value(e, g->inputs.items[i]);
    XPU_FOR_ALL_NODES(g, node) {
        const xpu_node_info *info = xpu_node_at(g, node);
        for (uint32_t i = 0; i < info->input_count; i++) add_value(e, info->inputs[i]);
        for (uint32_t i = 0; i < info->output_count; i++) add_value(e, info->outputs[i]);
        e->nodes[e->node_count++] = node.id;
        e->node_ids[node.id] = e->node_count;
        for (uint32_t b = 0; b < info->block_count; b++) {
            const xpu_block_info *block = xpu_block_at(g, info->blocks[b]);
            for (uint32_t i = 0; i < block->arguments.count; i++) add_value(e, block->arguments.items[i]);
            e->block_ids[info->blocks[b].id] = ++e->block_count;
        }
    }
    for (uint32_t i = 0; i < g->outputs.count; i++) add_value(e, g->outputs.items[i]);
    for (uint32_t b = 1; b < g->blocks.count; b++) {
        const xpu_block_info *block = &g->blocks.items[b];
        for (uint32_t i = 0; e->block_ids[b] && i < block->results.count; i++) add_value(e, block->results.items[i]);
    }
    for (uint32_t i = 0; i < e->program->values.count; i++) add_value(e, e->program->values.items[i].value);
}

/* ---- .xpu.program ---- */

static void encode_dims(encoder *e) {
    const xpu_dims *dims = &e->graph->dims;
    begin_list(e, &xpu_meta__program__descriptor, "symbols");
    for (uint32_t i = 0; i < dims->symbols.count; i++) {
        XpuMeta__Symbol s;
        xpu_meta__symbol__init(&s);
        s.name = text(dims->symbols.items[i].name);
        s.min = dims->symbols.items[i].min;
        s.max = dims->symbols.items[i].max;
        s.step = dims->symbols.items[i].step;
        s.value = e->value_ids[dims->symbols.items[i].value.id];
        s.has_value = s.has_element = s.value != 0;
        if (dims->symbols.items[i].value.id && !s.value) s.max = s.min; /* what defined it is gone, and who used it */
        s.element = dims->symbols.items[i].element;
        s.has_bound = dims->symbols.items[i].bound.id != 0;
        s.bound = dims->symbols.items[i].bound.id;
        put_entry(e, &s.base);
    }
    begin_list(e, &xpu_meta__program__descriptor, "dims");
    for (uint32_t i = 1; i < dims->nodes.count; i++) {
        const xpu_dim_node *from = &dims->nodes.items[i];
        XpuMeta__Dim d;
        xpu_meta__dim__init(&d);
        int is_gone = from->kind == XPU_DIM_SYMBOL && from->value >= dims->symbols.count; /* nothing uses it */
        d.kind = is_gone ? XPU_DIM_CONST : from->kind;
        d.has_value = from->kind <= XPU_DIM_SYMBOL;
        d.value = from->value;
        d.has_a = d.has_b = from->kind > XPU_DIM_SYMBOL;
        d.a = from->a.id;
        d.b = from->b.id;
        put_entry(e, &d.base);
    }
}

static void encode_guards(encoder *e) {
    const xpu_graph *g = e->graph;
    begin_list(e, &xpu_meta__program__descriptor, "guards");
    for (uint32_t i = 0; i < g->guards.count; i++) {
        XpuMeta__Guard to;
        xpu_meta__guard__init(&to);
        to.a = g->guards.items[i].a.id;
        to.b = g->guards.items[i].b.id;
        to.where = text(g->guards.items[i].where);
        put_entry(e, &to.base);
    }
}

static xpu_status encode_values(encoder *e) {
    uint8_t *is_placed = XPU_NEW_ARRAY(e->arena, uint8_t, e->graph->values.count);
    for (uint32_t i = 0; i < e->program->values.count; i++) is_placed[e->program->values.items[i].value.id] = 1;
    begin_list(e, &xpu_meta__program__descriptor, "values");
    for (uint32_t i = 0; i < e->value_count; i++) {
        xpu_value value = {e->values[i]};
        const xpu_value_info *info = xpu_value_at(e->graph, value);
        XpuMeta__Value v;
        xpu_meta__value__init(&v);
        v.kind = info->kind;
        v.name = text(info->name);
        v.dtype = info->dtype;
        v.n_dims = (size_t)info->rank;
        uint32_t dims[XPU_MAX_RANK];
        v.dims = dims;
        for (int d = 0; d < info->rank; d++) v.dims[d] = info->dims[d].id;
        v.has_layout = 1;
        v.layout = info->layout;
        v.has_output = 1;
        v.output = info->is_output;
        if (info->kind == XPU_VALUE_CONST && !is_placed[value.id]) {
            xpu_tensor tensor;
            xpu_status status = xpu_const_tensor(e->graph, value, e->scratch, &tensor, e->diags);
            if (status != XPU_OK) return status;
            v.has_data = 1;
            v.data.data = tensor.data;
            v.data.len = xpu_tensor_bytes(&tensor);
        }
        put_entry(e, &v.base);
    }
    return XPU_OK;
}

static void encode_buffers(encoder *e) {
    const xpu_program *p = e->program;
    begin_list(e, &xpu_meta__program__descriptor, "buffers");
    for (uint32_t i = 0; i < p->buffers.count; i++) {
        const xpu_program_buffer *from = &p->buffers.items[i];
        XpuMeta__Buffer b;
        xpu_meta__buffer__init(&b);
        b.name = text(from->name);
        b.kind = from->kind;
        b.bytes = from->bytes.id;
        b.alignment = from->alignment;
        b.first_layer = from->first_layer;
        b.last_layer = from->last_layer;
        b.n_levels = from->level_count;
        b.levels = XPU_NEW_ARRAY(e->scratch, uint32_t, XPU_LEVEL_COUNT);
        for (uint32_t l = 0; l < from->level_count; l++) b.levels[l] = from->levels[l];
        b.alias_of = from->alias_of;
        b.has_alias_offset = 1;
        b.alias_offset = from->alias_offset.id;
        b.has_placed = b.has_level = b.has_offset = 1;
        b.placed = from->placed;
        b.level = from->level;
        b.offset = from->offset;
        b.has_copy_of = from->kind == XPU_BUFFER_COPY || from->kind == XPU_BUFFER_AHEAD;
        b.copy_of = from->copy_of;
        b.has_copy_offset = b.has_copy_row = b.has_copy_pitch = from->kind == XPU_BUFFER_AHEAD;
        b.copy_offset = from->copy_offset;
        b.copy_row = from->copy_row;
        b.copy_pitch = from->copy_pitch;
        b.has_passes = from->passes != 0;
        b.passes = from->passes;
        put_entry(e, &b.base);
    }
}

static void encode_in_place(encoder *e) {
    const xpu_program *p = e->program;
    begin_list(e, &xpu_meta__program__descriptor, "in_place");
    for (uint32_t i = 0; i < p->in_place.count; i++) {
        XpuMeta__InPlace to;
        xpu_meta__in_place__init(&to);
        to.buffer = p->in_place.items[i].buffer;
        to.other = p->in_place.items[i].other;
        put_entry(e, &to.base);
    }
}

static XpuMeta__Packing *encode_packing(encoder *e, const xpu_packing *from) {
    XpuMeta__Packing *p = xpu_alloc(e->scratch, sizeof *p);
    xpu_meta__packing__init(p);
    p->kind = from->kind;
    p->has_out_c = p->has_in_c = p->has_kernel_h = p->has_kernel_w = p->has_groups = p->has_transposed = 1;
    p->has_columns = p->has_tile_c = 1;
    p->out_c = from->out_c;
    p->in_c = from->in_c;
    p->kernel_h = from->kernel_h;
    p->kernel_w = from->kernel_w;
    p->groups = from->groups;
    p->transposed = from->transposed;
    p->columns = from->columns;
    p->tile_c = from->tile_c;
    return p;
}

static void encode_placed(encoder *e) {
    const xpu_program *p = e->program;
    begin_list(e, &xpu_meta__program__descriptor, "placed");
    for (uint32_t i = 0; i < p->values.count; i++) {
        const xpu_program_value *from = &p->values.items[i];
        XpuMeta__Placed v;
        xpu_meta__placed__init(&v);
        v.value = e->value_ids[from->value.id];
        v.buffer = from->buffer;
        v.has_offset = 1;
        v.offset = from->offset.id;
        v.packing = encode_packing(e, &from->packing);
        v.has_axis = v.has_extent = from->extent.id != 0;
        v.axis = (uint32_t)from->axis;
        v.extent = from->extent.id;
        put_entry(e, &v.base);
    }
}

static void encode_layers(encoder *e) {
    const xpu_program *p = e->program;
    begin_list(e, &xpu_meta__program__descriptor, "layers");
    for (uint32_t i = 0; i < p->layers.count; i++) {
        const xpu_program_layer *from = &p->layers.items[i];
        XpuMeta__Layer l;
        xpu_meta__layer__init(&l);
        l.name = text(from->name);
        l.node = p->stripped ? 0 : e->node_ids[from->node.id];
        l.unit = text(xpu_unit_name(from->unit));
        l.kernel = text(from->kernel);
        l.macs = from->macs.id;
        l.reason = from->reason ? text(from->reason) : NULL;
        l.n_outputs = from->output_count;
        l.outputs = XPU_NEW_ARRAY(e->scratch, uint32_t, from->output_count);
        for (uint32_t k = 0; k < from->output_count; k++) l.outputs[k] = e->value_ids[from->outputs[k].id];
        const xpu_program_model *m = &from->model;
        uint64_t model[] = {m->compute, m->load, m->store, m->tail, m->constant_bytes};
        if (m->compute | m->load | m->store | m->tail | m->constant_bytes)
            l.model = model, l.n_model = sizeof model / sizeof *model;
        l.has_lists = from->lists != 0;
        l.lists = from->lists;
        put_entry(e, &l.base);
    }
}

static void encode_plan(encoder *e) {
    const xpu_program *p = e->program;
    begin_list(e, &xpu_meta__program__descriptor, "plan");
    for (uint32_t i = 0; i < p->plan.count; i++) {
        const xpu_plan_word *from = &p->plan.items[i];
        XpuMeta__Word w;
        xpu_meta__word__init(&w);
        w.kind = from->kind;
        w.has_bits = from->kind == XPU_WORD_CONST;
        w.bits = from->bits;
        w.has_buffer = from->kind == XPU_WORD_ADDRESS;
        w.buffer = from->buffer;
        w.has_dim = from->kind != XPU_WORD_CONST;
        w.dim = from->dim.id;
        put_entry(e, &w.base);
    }
}

static void encode_steps(encoder *e) {
    const xpu_program *p = e->program;
    begin_list(e, &xpu_meta__program__descriptor, "steps");
    for (uint32_t i = 0; i < p->steps.count; i++) {
        const xpu_program_step *from = &p->steps.items[i];
        XpuMeta__Step s;
        xpu_meta__step__init(&s);
        s.kind = from->kind;
        s.has_first = s.has_last = from->kind == XPU_DO_RUN;
        s.first = from->first;
        s.last = from->last;
        s.has_middle = from->kind == XPU_DO_IF;
        s.middle = from->middle;
        s.has_end = from->kind == XPU_DO_IF || from->kind == XPU_DO_LOOP;
        s.end = from->end;
        s.has_word = from->kind != XPU_DO_RUN;
        s.word = from->word;
        s.has_symbol = from->kind == XPU_DO_SET;
        s.symbol = from->symbol;
        put_entry(e, &s.base);
    }
}

static void encode_states(encoder *e) {
    begin_list(e, &xpu_meta__program__descriptor, "states");
    for (uint32_t i = 0; i < e->graph->states.count; i++) {
        XpuMeta__State s;
        xpu_meta__state__init(&s);
        s.input = e->graph->states.items[i].input;
        s.output = e->graph->states.items[i].output;
        put_entry(e, &s.base);
    }
}

static void encode_transfers(encoder *e) {
    const xpu_program *p = e->program;
    begin_list(e, &xpu_meta__program__descriptor, "transfers");
    for (uint32_t i = 0; i < p->transfers.count; i++) {
        XpuMeta__Transfer t;
        xpu_meta__transfer__init(&t);
        t.buffer = p->transfers.items[i].buffer;
        t.layer = p->transfers.items[i].layer;
        t.bytes = p->transfers.items[i].bytes;
        put_entry(e, &t.base);
    }
}

static void encode_lists(encoder *e) {
    const xpu_program *p = e->program;
    begin_list(e, &xpu_meta__program__descriptor, "tensors");
    for (uint32_t i = 0; i < p->tensors.count; i++) {
        XpuMeta__SourceTensor t;
        xpu_meta__source_tensor__init(&t);
        t.name = text(p->tensors.items[i].name);
        t.fate = p->tensors.items[i].fate;
        t.layer = p->tensors.items[i].layer;
        put_entry(e, &t.base);
    }
    begin_list(e, &xpu_meta__program__descriptor, "regions");
    for (uint32_t i = 0; i < p->regions.count; i++) {
        XpuMeta__Region r;
        xpu_meta__region__init(&r);
        r.target = text(p->regions.items[i].target);
        r.node_count = p->regions.items[i].node_count;
        r.reason = p->regions.items[i].reason ? text(p->regions.items[i].reason) : NULL;
        put_entry(e, &r.base);
    }
}

static void encode_header(encoder *e) {
    const xpu_program *p = e->program;
    XpuMeta__Program m;
    xpu_meta__program__init(&m);
    m.version = XPU_PROGRAM_VERSION;
    m.target = text(p->target);
    m.chip_json = text(p->chip_json);
    m.abi_hash = p->abi_hash;
    m.precision = text(p->precision);
    m.compiler = text(p->compiler);
    m.clang = text(p->clang);
    m.source = text(p->source);
    m.source_hash.len = sizeof p->source_hash.bytes;
    m.source_hash.data = (uint8_t *)(uintptr_t)p->source_hash.bytes;
    m.source_nodes = p->source_nodes;
    m.has_stripped = 1;
    m.stripped = p->stripped;
    m.graph_name = text(p->graph->name);
    m.weights_bytes = p->weights_bytes;
    m.plan_address = p->plan_address;
    m.control_address = p->control_address;
    m.weights_address = p->weights_address;
    m.image_end = p->image_end;
    put_bytes(e, &m.base);
}

/* In the order of the fields' numbers, as protobuf-c writes a message. */
static xpu_status encode_program(encoder *e) {
    const xpu_graph *g = e->graph;
    encode_header(e);
    encode_dims(e);
    xpu_status status = encode_values(e);
    if (status != XPU_OK) return status;
    begin_list(e, &xpu_meta__program__descriptor, "inputs");
    put_ids(e, g->inputs.items, g->inputs.count);
    begin_list(e, &xpu_meta__program__descriptor, "outputs");
    put_ids(e, g->outputs.items, g->outputs.count);
    encode_buffers(e);
    encode_placed(e);
    encode_layers(e);
    encode_plan(e);
    encode_lists(e);
    encode_in_place(e);
    encode_guards(e);
    encode_steps(e);
    encode_states(e);
    encode_transfers(e);
    return XPU_OK;
}

/* ---- .xpu.graph ---- */

static void encode_chain(encoder *e, XpuMeta__Attr *to, const xpu_chain *chain) {
    to->has_chain_inputs = 1;
    to->chain_inputs = chain->input_count;
    to->chain = xpu_alloc_array(e->scratch, chain->step_count, sizeof *to->chain);
    for (uint32_t i = 0; i < chain->step_count; i++) {
        const xpu_chain_step *from = &chain->steps[i];
        XpuMeta__ChainStep *s = to->chain[to->n_chain++] = xpu_alloc(e->scratch, sizeof *s);
        xpu_meta__chain_step__init(s);
        s->op = text(xpu_elementwise_name(from->op));
        s->n_operands = (size_t)xpu_elementwise_arity(from->op);
        s->operands = XPU_NEW_ARRAY(e->scratch, uint32_t, 3);
        for (size_t k = 0; k < s->n_operands; k++) s->operands[k] = from->operands[k];
        s->n_immediates = (size_t)xpu_elementwise_immediates(from->op);
        s->immediates = xpu_copy(e->scratch, from->immediates, sizeof from->immediates);
        s->has_dtype = from->dtype != XPU_DTYPE_NONE;
        s->dtype = from->dtype;
    }
}

static XpuMeta__Attr *encode_attr(encoder *e, const xpu_attr *from) {
    XpuMeta__Attr *a = xpu_alloc(e->scratch, sizeof *a);
    xpu_meta__attr__init(a);
    a->name = text(xpu_attr_name(from->id));
    switch (xpu_attr_type_of(from->id)) {
    case XPU_ATTR_TYPE_INT:
        a->has_i = 1;
        a->i = from->i;
        break;
    case XPU_ATTR_TYPE_FLOAT:
        a->has_f = 1;
        a->f = from->f;
        break;
    case XPU_ATTR_TYPE_STRING: a->s = text(from->s); break;
    case XPU_ATTR_TYPE_INTS:
        a->n_ints = from->count;
        a->ints = xpu_copy(e->scratch, from->ints, from->count * sizeof *from->ints);
        break;
    case XPU_ATTR_TYPE_DIMS:
        a->n_dims = from->count;
        a->dims = XPU_NEW_ARRAY(e->scratch, uint32_t, from->count);
        for (uint32_t i = 0; i < from->count; i++) a->dims[i] = from->dims[i].id;
        break;
    case XPU_ATTR_TYPE_CHAIN: encode_chain(e, a, from->chain); break;
    }
    return a;
}

static uint32_t *encode_ids(encoder *e, const xpu_value *values, uint32_t count) {
    uint32_t *ids = XPU_NEW_ARRAY(e->scratch, uint32_t, count);
    for (uint32_t i = 0; i < count; i++) ids[i] = values[i].id ? e->value_ids[values[i].id] : 0;
    return ids;
}

static void encode_blocks(encoder *e) {
    const xpu_graph *g = e->graph;
    begin_list(e, &xpu_meta__graph__descriptor, "blocks");
    for (uint32_t i = 0; i < e->node_count; i++) {
        const xpu_node_info *owner = xpu_node_at(g, (xpu_node){e->nodes[i]});
        for (uint32_t k = 0; k < owner->block_count; k++) {
            const xpu_block_info *from = xpu_block_at(g, owner->blocks[k]);
            XpuMeta__Block b;
            xpu_meta__block__init(&b);
            b.owner = i + 1;
            b.n_arguments = from->arguments.count;
            b.arguments = encode_ids(e, from->arguments.items, from->arguments.count);
            b.n_results = from->results.count;
            b.results = encode_ids(e, from->results.items, from->results.count);
            put_entry(e, &b.base);
        }
    }
}

static void encode_graph(encoder *e) {
    const xpu_graph *g = e->graph;
    begin_list(e, &xpu_meta__graph__descriptor, "origins");
    for (uint32_t i = 0; i < g->origins.count; i++) {
        const xpu_origin *from = &g->origins.items[i];
        XpuMeta__Origin o;
        xpu_meta__origin__init(&o);
        o.framework = text(from->framework);
        o.op = text(from->op);
        o.version = from->version;
        o.name = text(from->name);
        o.index = from->index;
        put_entry(e, &o.base);
    }
    begin_list(e, &xpu_meta__graph__descriptor, "nodes");
    for (uint32_t i = 0; i < e->node_count; i++) {
        const xpu_node_info *from = xpu_node_at(g, (xpu_node){e->nodes[i]});
        XpuMeta__Node n;
        xpu_meta__node__init(&n);
        n.op = text(from->op->name);
        n.n_inputs = from->input_count;
        n.inputs = encode_ids(e, from->inputs, from->input_count);
        n.n_outputs = from->output_count;
        n.outputs = encode_ids(e, from->outputs, from->output_count);
        n.attrs = xpu_alloc_array(e->scratch, from->attrs.count, sizeof *n.attrs);
        for (uint32_t k = 0; k < from->attrs.count; k++) n.attrs[n.n_attrs++] = encode_attr(e, &from->attrs.items[k]);
        n.n_origins = from->origins.count;
        n.origins = xpu_copy(e->scratch, from->origins.items, from->origins.count * sizeof *from->origins.items);
        n.block = e->block_ids[from->parent.id];
        n.has_block = n.block != 0;
        put_entry(e, &n.base);
    }
    encode_blocks(e);
}

static xpu_blob take_bytes(encoder *e) {
    xpu_blob blob = {e->bytes.text, e->bytes.length};
    xpu_text_init(&e->bytes, e->arena);
    return blob;
}

xpu_status xpu_metadata_encode(const xpu_program *program, xpu_arena *arena, xpu_blob *metadata, xpu_blob *graph,
                               xpu_diags *diags) {
    encoder e = {.program = program, .graph = program->graph, .arena = arena, .diags = diags};
    e.scratch = xpu_arena_new(xpu_arena_mem(arena), "entries of metadata");
    xpu_text_init(&e.bytes, arena);
    number(&e);
    xpu_status status = encode_program(&e);
    *metadata = take_bytes(&e);
    if (status == XPU_OK && !program->stripped) encode_graph(&e);
    *graph = take_bytes(&e);
    xpu_arena_free(e.scratch);
    return status;
}
