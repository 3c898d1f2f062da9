/* xpu_program to protobuf. Messages are built in an arena, packed once, and forgotten. */
#include <string.h>

#include "core/ops/op.h"
#include "xpu_runtime/program/metadata.h"
#include "xpu_runtime/program/program.pb-c.h"

typedef struct {
    const xpu_program *program;
    const xpu_graph *graph;
    xpu_arena *arena;
    xpu_diags *diags;
    uint32_t *value_ids, *node_ids; /* old id -> new id, 0: not part of the program */
    uint32_t value_count, node_count;
    uint32_t *values, *nodes; /* new id - 1 -> old id */
} encoder;

#define NEW_MESSAGES(e, type, count) ((type **)xpu_alloc_array((e)->arena, (count), sizeof(type *)))

static char *text(encoder *e, const char *string) {
    return xpu_strdup(e->arena, string ? string : "");
}

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
    for (uint32_t i = 0; i < g->inputs.count; i++) add_value(e, g->inputs.items[i]);
    XPU_FOR_NODES(g, node) {
        const xpu_node_info *info = xpu_node_at(g, node);
        for (uint32_t i = 0; i < info->input_count; i++) add_value(e, info->inputs[i]);
        for (uint32_t i = 0; i < info->output_count; i++) add_value(e, info->outputs[i]);
        e->nodes[e->node_count++] = node.id;
        e->node_ids[node.id] = e->node_count;
    }
    for (uint32_t i = 0; i < g->outputs.count; i++) add_value(e, g->outputs.items[i]);
    for (uint32_t i = 0; i < e->program->values.count; i++) add_value(e, e->program->values.items[i].value);
}

/* ---- .xpu.program ---- */

static void encode_dims(encoder *e, XpuMeta__Program *m) {
    const xpu_dims *dims = &e->graph->dims;
    m->symbols = NEW_MESSAGES(e, XpuMeta__Symbol, dims->symbols.count);
    for (uint32_t i = 0; i < dims->symbols.count; i++) {
        XpuMeta__Symbol *s = m->symbols[m->n_symbols++] = xpu_alloc(e->arena, sizeof *s);
        xpu_meta__symbol__init(s);
        s->name = text(e, dims->symbols.items[i].name);
        s->min = dims->symbols.items[i].min;
        s->max = dims->symbols.items[i].max;
        s->step = dims->symbols.items[i].step;
    }
    m->dims = NEW_MESSAGES(e, XpuMeta__Dim, dims->nodes.count);
    for (uint32_t i = 1; i < dims->nodes.count; i++) {
        const xpu_dim_node *from = &dims->nodes.items[i];
        XpuMeta__Dim *d = m->dims[m->n_dims++] = xpu_alloc(e->arena, sizeof *d);
        xpu_meta__dim__init(d);
        d->kind = from->kind;
        d->has_value = from->kind <= XPU_DIM_SYMBOL;
        d->value = from->value;
        d->has_a = d->has_b = from->kind > XPU_DIM_SYMBOL;
        d->a = from->a.id;
        d->b = from->b.id;
    }
}

static void encode_guards(encoder *e, XpuMeta__Program *m) {
    const xpu_graph *g = e->graph;
    m->guards = NEW_MESSAGES(e, XpuMeta__Guard, g->guards.count);
    for (uint32_t i = 0; i < g->guards.count; i++) {
        XpuMeta__Guard *to = m->guards[m->n_guards++] = xpu_alloc(e->arena, sizeof *to);
        xpu_meta__guard__init(to);
        to->a = g->guards.items[i].a.id;
        to->b = g->guards.items[i].b.id;
        to->where = text(e, g->guards.items[i].where);
    }
}

static xpu_status encode_values(encoder *e, XpuMeta__Program *m) {
    uint8_t *is_placed = XPU_NEW_ARRAY(e->arena, uint8_t, e->graph->values.count);
    for (uint32_t i = 0; i < e->program->values.count; i++) is_placed[e->program->values.items[i].value.id] = 1;
    m->values = NEW_MESSAGES(e, XpuMeta__Value, e->value_count);
    for (uint32_t i = 0; i < e->value_count; i++) {
        xpu_value value = {e->values[i]};
        const xpu_value_info *info = xpu_value_at(e->graph, value);
        XpuMeta__Value *v = m->values[m->n_values++] = xpu_alloc(e->arena, sizeof *v);
        xpu_meta__value__init(v);
        v->kind = info->kind;
        v->name = text(e, info->name);
        v->dtype = info->dtype;
        v->n_dims = (size_t)info->rank;
        v->dims = XPU_NEW_ARRAY(e->arena, uint32_t, info->rank);
        for (int d = 0; d < info->rank; d++) v->dims[d] = info->dims[d].id;
        v->has_layout = 1;
        v->layout = info->layout;
        v->has_output = 1;
        v->output = info->is_output;
        if (info->kind != XPU_VALUE_CONST || is_placed[value.id]) continue;
        xpu_tensor tensor;
        xpu_status status = xpu_const_tensor(e->graph, value, e->arena, &tensor, e->diags);
        if (status != XPU_OK) return status;
        v->has_data = 1;
        v->data.data = tensor.data;
        v->data.len = xpu_tensor_bytes(&tensor);
    }
    return XPU_OK;
}

static void encode_buffers(encoder *e, XpuMeta__Program *m) {
    const xpu_program *p = e->program;
    m->buffers = NEW_MESSAGES(e, XpuMeta__Buffer, p->buffers.count);
    for (uint32_t i = 0; i < p->buffers.count; i++) {
        const xpu_program_buffer *from = &p->buffers.items[i];
        XpuMeta__Buffer *b = m->buffers[m->n_buffers++] = xpu_alloc(e->arena, sizeof *b);
        xpu_meta__buffer__init(b);
        b->name = text(e, from->name);
        b->kind = from->kind;
        b->bytes = from->bytes.id;
        b->alignment = from->alignment;
        b->first_layer = from->first_layer;
        b->last_layer = from->last_layer;
        b->n_levels = from->level_count;
        b->levels = XPU_NEW_ARRAY(e->arena, uint32_t, XPU_LEVEL_COUNT);
        for (uint32_t l = 0; l < from->level_count; l++) b->levels[l] = from->levels[l];
        b->alias_of = from->alias_of;
        b->has_alias_offset = 1;
        b->alias_offset = from->alias_offset.id;
        b->has_placed = b->has_level = b->has_offset = 1;
        b->placed = from->placed;
        b->level = from->level;
        b->offset = from->offset;
        b->has_copy_of = from->kind == XPU_BUFFER_COPY;
        b->copy_of = from->copy_of;
    }
}

static void encode_in_place(encoder *e, XpuMeta__Program *m) {
    const xpu_program *p = e->program;
    m->in_place = NEW_MESSAGES(e, XpuMeta__InPlace, p->in_place.count);
    for (uint32_t i = 0; i < p->in_place.count; i++) {
        XpuMeta__InPlace *to = m->in_place[m->n_in_place++] = xpu_alloc(e->arena, sizeof *to);
        xpu_meta__in_place__init(to);
        to->buffer = p->in_place.items[i].buffer;
        to->other = p->in_place.items[i].other;
    }
}

static XpuMeta__Packing *encode_packing(encoder *e, const xpu_packing *from) {
    XpuMeta__Packing *p = xpu_alloc(e->arena, sizeof *p);
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

static void encode_placed(encoder *e, XpuMeta__Program *m) {
    const xpu_program *p = e->program;
    m->placed = NEW_MESSAGES(e, XpuMeta__Placed, p->values.count);
    for (uint32_t i = 0; i < p->values.count; i++) {
        const xpu_program_value *from = &p->values.items[i];
        XpuMeta__Placed *v = m->placed[m->n_placed++] = xpu_alloc(e->arena, sizeof *v);
        xpu_meta__placed__init(v);
        v->value = e->value_ids[from->value.id];
        v->buffer = from->buffer;
        v->has_offset = 1;
        v->offset = from->offset.id;
        v->packing = encode_packing(e, &from->packing);
    }
}

static void encode_layers(encoder *e, XpuMeta__Program *m) {
    const xpu_program *p = e->program;
    m->layers = NEW_MESSAGES(e, XpuMeta__Layer, p->layers.count);
    for (uint32_t i = 0; i < p->layers.count; i++) {
        const xpu_program_layer *from = &p->layers.items[i];
        XpuMeta__Layer *l = m->layers[m->n_layers++] = xpu_alloc(e->arena, sizeof *l);
        xpu_meta__layer__init(l);
        l->name = text(e, from->name);
        l->node = p->stripped ? 0 : e->node_ids[from->node.id];
        l->unit = text(e, from->unit);
        l->kernel = text(e, from->kernel);
        l->macs = from->macs.id;
        l->reason = from->reason ? text(e, from->reason) : NULL;
        l->n_outputs = from->output_count;
        l->outputs = XPU_NEW_ARRAY(e->arena, uint32_t, from->output_count);
        for (uint32_t k = 0; k < from->output_count; k++) l->outputs[k] = e->value_ids[from->outputs[k].id];
    }
}

static void encode_plan(encoder *e, XpuMeta__Program *m) {
    const xpu_program *p = e->program;
    m->plan = NEW_MESSAGES(e, XpuMeta__Word, p->plan.count);
    for (uint32_t i = 0; i < p->plan.count; i++) {
        const xpu_plan_word *from = &p->plan.items[i];
        XpuMeta__Word *w = m->plan[m->n_plan++] = xpu_alloc(e->arena, sizeof *w);
        xpu_meta__word__init(w);
        w->kind = from->kind;
        w->has_bits = from->kind == XPU_WORD_CONST;
        w->bits = from->bits;
        w->has_buffer = from->kind == XPU_WORD_ADDRESS;
        w->buffer = from->buffer;
        w->has_dim = from->kind != XPU_WORD_CONST;
        w->dim = from->dim.id;
    }
}

static void encode_lists(encoder *e, XpuMeta__Program *m) {
    const xpu_program *p = e->program;
    m->tensors = NEW_MESSAGES(e, XpuMeta__SourceTensor, p->tensors.count);
    for (uint32_t i = 0; i < p->tensors.count; i++) {
        XpuMeta__SourceTensor *t = m->tensors[m->n_tensors++] = xpu_alloc(e->arena, sizeof *t);
        xpu_meta__source_tensor__init(t);
        t->name = text(e, p->tensors.items[i].name);
        t->fate = p->tensors.items[i].fate;
        t->layer = p->tensors.items[i].layer;
    }
    m->regions = NEW_MESSAGES(e, XpuMeta__Region, p->regions.count);
    for (uint32_t i = 0; i < p->regions.count; i++) {
        XpuMeta__Region *r = m->regions[m->n_regions++] = xpu_alloc(e->arena, sizeof *r);
        xpu_meta__region__init(r);
        r->target = text(e, p->regions.items[i].target);
        r->node_count = p->regions.items[i].node_count;
        r->reason = p->regions.items[i].reason ? text(e, p->regions.items[i].reason) : NULL;
    }
    const xpu_graph *g = e->graph;
    m->inputs = XPU_NEW_ARRAY(e->arena, uint32_t, g->inputs.count);
    for (uint32_t i = 0; i < g->inputs.count; i++) m->inputs[m->n_inputs++] = e->value_ids[g->inputs.items[i].id];
    m->outputs = XPU_NEW_ARRAY(e->arena, uint32_t, g->outputs.count);
    for (uint32_t i = 0; i < g->outputs.count; i++) m->outputs[m->n_outputs++] = e->value_ids[g->outputs.items[i].id];
}

static xpu_status encode_program(encoder *e, XpuMeta__Program *m) {
    const xpu_program *p = e->program;
    xpu_meta__program__init(m);
    m->version = XPU_PROGRAM_VERSION;
    m->target = text(e, p->target);
    m->chip_json = text(e, p->chip_json);
    m->abi_hash = p->abi_hash;
    m->precision = text(e, p->precision);
    m->compiler = text(e, p->compiler);
    m->clang = text(e, p->clang);
    m->source = text(e, p->source);
    m->source_hash.len = sizeof p->source_hash.bytes;
    m->source_hash.data = xpu_copy(e->arena, p->source_hash.bytes, m->source_hash.len);
    m->source_nodes = p->source_nodes;
    m->has_stripped = 1;
    m->stripped = p->stripped;
    m->graph_name = text(e, p->graph->name);
    m->weights_bytes = p->weights_bytes;
    m->plan_address = p->plan_address;
    m->control_address = p->control_address;
    m->weights_address = p->weights_address;
    m->image_end = p->image_end;
    encode_dims(e, m);
    encode_guards(e, m);
    encode_buffers(e, m);
    encode_in_place(e, m);
    encode_placed(e, m);
    encode_layers(e, m);
    encode_plan(e, m);
    encode_lists(e, m);
    return encode_values(e, m);
}

/* ---- .xpu.graph ---- */

static void encode_chain(encoder *e, XpuMeta__Attr *to, const xpu_chain *chain) {
    to->has_chain_inputs = 1;
    to->chain_inputs = chain->input_count;
    to->chain = NEW_MESSAGES(e, XpuMeta__ChainStep, chain->step_count);
    for (uint32_t i = 0; i < chain->step_count; i++) {
        const xpu_chain_step *from = &chain->steps[i];
        XpuMeta__ChainStep *s = to->chain[to->n_chain++] = xpu_alloc(e->arena, sizeof *s);
        xpu_meta__chain_step__init(s);
        s->op = text(e, xpu_elementwise_name(from->op));
        s->n_operands = (size_t)xpu_elementwise_arity(from->op);
        s->operands = XPU_NEW_ARRAY(e->arena, uint32_t, 3);
        for (size_t k = 0; k < s->n_operands; k++) s->operands[k] = from->operands[k];
        s->n_immediates = (size_t)xpu_elementwise_immediates(from->op);
        s->immediates = xpu_copy(e->arena, from->immediates, sizeof from->immediates);
        s->has_dtype = from->dtype != XPU_DTYPE_NONE;
        s->dtype = from->dtype;
    }
}

static XpuMeta__Attr *encode_attr(encoder *e, const xpu_attr *from) {
    XpuMeta__Attr *a = xpu_alloc(e->arena, sizeof *a);
    xpu_meta__attr__init(a);
    a->name = text(e, xpu_attr_name(from->id));
    switch (xpu_attr_type_of(from->id)) {
    case XPU_ATTR_TYPE_INT:
        a->has_i = 1;
        a->i = from->i;
        break;
    case XPU_ATTR_TYPE_FLOAT:
        a->has_f = 1;
        a->f = from->f;
        break;
    case XPU_ATTR_TYPE_STRING: a->s = text(e, from->s); break;
    case XPU_ATTR_TYPE_INTS:
        a->n_ints = from->count;
        a->ints = xpu_copy(e->arena, from->ints, from->count * sizeof *from->ints);
        break;
    case XPU_ATTR_TYPE_DIMS:
        a->n_dims = from->count;
        a->dims = XPU_NEW_ARRAY(e->arena, uint32_t, from->count);
        for (uint32_t i = 0; i < from->count; i++) a->dims[i] = from->dims[i].id;
        break;
    case XPU_ATTR_TYPE_CHAIN: encode_chain(e, a, from->chain); break;
    }
    return a;
}

static uint32_t *encode_ids(encoder *e, const xpu_value *values, uint32_t count) {
    uint32_t *ids = XPU_NEW_ARRAY(e->arena, uint32_t, count);
    for (uint32_t i = 0; i < count; i++) ids[i] = values[i].id ? e->value_ids[values[i].id] : 0;
    return ids;
}

static void encode_graph(encoder *e, XpuMeta__Graph *m) {
    const xpu_graph *g = e->graph;
    xpu_meta__graph__init(m);
    m->origins = NEW_MESSAGES(e, XpuMeta__Origin, g->origins.count);
    for (uint32_t i = 0; i < g->origins.count; i++) {
        const xpu_origin *from = &g->origins.items[i];
        XpuMeta__Origin *o = m->origins[m->n_origins++] = xpu_alloc(e->arena, sizeof *o);
        xpu_meta__origin__init(o);
        o->framework = text(e, from->framework);
        o->op = text(e, from->op);
        o->version = from->version;
        o->name = text(e, from->name);
        o->index = from->index;
    }
    m->nodes = NEW_MESSAGES(e, XpuMeta__Node, e->node_count);
    for (uint32_t i = 0; i < e->node_count; i++) {
        const xpu_node_info *from = xpu_node_at(g, (xpu_node){e->nodes[i]});
        XpuMeta__Node *n = m->nodes[m->n_nodes++] = xpu_alloc(e->arena, sizeof *n);
        xpu_meta__node__init(n);
        n->op = text(e, from->op->name);
        n->n_inputs = from->input_count;
        n->inputs = encode_ids(e, from->inputs, from->input_count);
        n->n_outputs = from->output_count;
        n->outputs = encode_ids(e, from->outputs, from->output_count);
        n->attrs = NEW_MESSAGES(e, XpuMeta__Attr, from->attrs.count);
        for (uint32_t k = 0; k < from->attrs.count; k++) n->attrs[n->n_attrs++] = encode_attr(e, &from->attrs.items[k]);
        n->n_origins = from->origins.count;
        n->origins = xpu_copy(e->arena, from->origins.items, from->origins.count * sizeof *from->origins.items);
    }
}

static void pack(encoder *e, const ProtobufCMessage *message, xpu_blob *blob) {
    blob->length = protobuf_c_message_get_packed_size(message);
    blob->bytes = xpu_alloc(e->arena, blob->length);
    protobuf_c_message_pack(message, blob->bytes);
}

xpu_status xpu_metadata_encode(const xpu_program *program, xpu_arena *arena, xpu_blob *metadata, xpu_blob *graph,
                               xpu_diags *diags) {
    encoder e = {.program = program, .graph = program->graph, .arena = arena, .diags = diags};
    XpuMeta__Program m;
    number(&e);
    xpu_status status = encode_program(&e, &m);
    if (status != XPU_OK) return status;
    pack(&e, &m.base, metadata);
    *graph = (xpu_blob){NULL, 0};
    if (program->stripped) return XPU_OK;
    XpuMeta__Graph g;
    encode_graph(&e, &g);
    pack(&e, &g.base, graph);
    return XPU_OK;
}
