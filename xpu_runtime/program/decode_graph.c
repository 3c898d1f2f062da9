/* The section .xpu.graph: nodes, and bodies of control flow. */
#include <string.h>

#include "core/ops/transposed.h"
#include "xpu_runtime/program/decode.h"

/* Memory until the next entry is asked for. */
static xpu_arena *of_entry(const decoder *d) {
    return d->message->memory.arena;
}

static int decode_chain(decoder *d, const XpuMeta__Attr *from, xpu_attr *to) {
    xpu_chain *chain = XPU_NEW(of_entry(d), xpu_chain);
    int good = from->has_chain_inputs && from->chain_inputs >= 1 && from->chain_inputs <= XPU_CHAIN_MAX_INPUTS &&
               from->n_chain >= 1 && from->n_chain <= XPU_CHAIN_MAX_STEPS;
    if (!check(d, good, "a chain has no inputs or steps, or too many")) return 0;
    chain->input_count = from->chain_inputs;
    for (size_t i = 0; i < from->n_chain; i++) {
        const XpuMeta__ChainStep *s = from->chain[i];
        uint32_t op = 0;
        while (op < XPU_EW_COUNT && strcmp(xpu_elementwise_name((xpu_elementwise)op), s->op) != 0) op++;
        if (!check(d, op < XPU_EW_COUNT, "a chain's operator does not exist")) return 0;
        xpu_chain_step *step = &chain->steps[chain->step_count++];
        step->op = (xpu_elementwise)op;
        good = s->n_operands == (size_t)xpu_elementwise_arity(step->op) &&
               s->n_immediates == (size_t)xpu_elementwise_immediates(step->op);
        for (size_t k = 0; good && k < s->n_operands; k++) {
            good = s->operands[k] < chain->input_count + i;
            step->operands[k] = (uint8_t)s->operands[k];
        }
        if (!check(d, good, "a chain's step has wrong operands")) return 0;
        int converts = xpu_elementwise_signature(step->op) == XPU_EW_CONVERT;
        good = (s->has_dtype != 0) == converts && (!converts || (s->dtype > 0 && s->dtype < XPU_DTYPE_COUNT));
        if (!check(d, good, "a chain's step has a wrong type")) return 0;
        step->dtype = (uint8_t)(converts ? s->dtype : 0);
        for (size_t k = 0; k < s->n_immediates; k++) step->immediates[k] = s->immediates[k];
    }
    to->chain = chain;
    to->count = sizeof *chain;
    return 1;
}

/* Lists have a number for each dim, or two; that of an interleave some for each operand. */
static size_t most_ints(xpu_attr_id id) {
    return id == XPU_ATTR_PHASES ? (size_t)XPU_MAX_PHASES * XPU_PHASE_ENTRIES : (size_t)2 * XPU_MAX_RANK;
}

static int decode_attr(decoder *d, const XpuMeta__Attr *from, const xpu_op *op, xpu_attr *to) {
    uint32_t id = 0;
    while (id < XPU_ATTR_COUNT && strcmp(xpu_attr_name((xpu_attr_id)id), from->name) != 0) id++;
    if (!check(d, id < XPU_ATTR_COUNT && xpu_op_attr(op, (xpu_attr_id)id),
               "an operator has an attribute that it does not take")) {
        return 0;
    }
    *to = (xpu_attr){.id = (xpu_attr_id)id};
    switch (xpu_attr_type_of(to->id)) {
    case XPU_ATTR_TYPE_INT: to->i = from->i; break;
    case XPU_ATTR_TYPE_FLOAT: to->f = from->f; break;
    case XPU_ATTR_TYPE_STRING: to->s = from->s ? from->s : ""; break;
    case XPU_ATTR_TYPE_INTS:
        if (!check(d, from->n_ints <= most_ints(to->id), "an attribute's list is too long")) return 0;
        to->ints = from->ints;
        to->count = (uint32_t)from->n_ints;
        break;
    case XPU_ATTR_TYPE_DIMS: {
        if (!check(d, from->n_dims <= XPU_MAX_RANK, "an attribute's list is too long")) return 0;
        xpu_dim *dims = XPU_NEW_ARRAY(of_entry(d), xpu_dim, from->n_dims);
        for (size_t i = 0; i < from->n_dims; i++) {
            if (!dim_of(d, from->dims[i], &dims[i])) return 0;
        }
        to->dims = dims;
        to->count = (uint32_t)from->n_dims;
        break;
    }
    case XPU_ATTR_TYPE_CHAIN: return decode_chain(d, from, to);
    }
    return 1;
}

/* Values in the program already have their shapes; the row's shape function must agree with them. */
static int same_results(decoder *d, xpu_node node, const xpu_value *results, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        const xpu_value_info *made = xpu_value_at(d->graph, xpu_node_output(d->graph, node, i));
        const xpu_value_info *said = xpu_value_at(d->graph, results[i]);
        int same = made->dtype == said->dtype && made->rank == said->rank;
        for (int k = 0; same && k < made->rank; k++)
            same = xpu_dim_agree(&d->graph->dims, made->dims[k], said->dims[k]);
        if (!check(d, same, "a node's result has not the shape that its operator gives")) return 0;
    }
    return 1;
}

/* ---- bodies ---- */

typedef struct decoded_block {
    uint32_t owner;
    xpu_block block; /* once its owner is made */
    xpu_value *arguments, *results;
    uint32_t argument_count, result_count;
} decoded_block;

static xpu_block graph_block(const decoder *d, uint32_t block) {
    return block ? d->blocks[block - 1].block : XPU_TOP_BLOCK;
}

/* Whether a node may be added to a block: its owner, and those of the blocks around it, are the last of theirs. */
static int may_go_to(decoder *d, uint32_t block) {
    const xpu_graph *g = d->graph;
    int good = block <= d->blocks_made;
    for (xpu_block at = good ? graph_block(d, block) : XPU_TOP_BLOCK; good && at.id != XPU_TOP_BLOCK.id;) {
        xpu_node owner = xpu_block_at(g, at)->owner;
        at = xpu_node_at(g, owner)->parent;
        good = xpu_block_at(g, at)->last.id == owner.id;
    }
    return check(d, good, "a node stands in a body that is not open");
}

/* Whether a value is there in `block`. */
static int is_made(decoder *d, xpu_value value, int made, xpu_block block) {
    xpu_value_kind kind = xpu_value_at(d->graph, value)->kind;
    int good = (kind != XPU_VALUE_NODE && kind != XPU_VALUE_ARGUMENT) || made;
    if (!check(d, good, "a value is used before it is made")) return 0;
    return check(d, xpu_block_is_in(d->graph, block, xpu_value_block(d->graph, value)),
                 "a value is used outside of its body");
}

static xpu_value *decode_ids(decoder *d, const uint32_t *ids, size_t count) {
    xpu_value *values = XPU_NEW_ARRAY(d->arena, xpu_value, count);
    for (size_t i = 0; i < count; i++) {
        if (!value_of(d, ids[i], &values[i])) return NULL;
    }
    return values;
}

static int decode_blocks(decoder *d) {
    xpu_entries list = list_of(d, "blocks");
    if (!check_count(d, list.count, MAX_ITEMS, "bodies")) return 0;
    d->blocks = XPU_NEW_ARRAY(d->arena, decoded_block, list.count);
    for (const XpuMeta__Block *from; (from = xpu_entries_next(&list));) {
        decoded_block *block = &d->blocks[d->block_count++];
        *block = (decoded_block){.owner = from->owner,
                                 .argument_count = (uint32_t)from->n_arguments,
                                 .result_count = (uint32_t)from->n_results};
        block->arguments = decode_ids(d, from->arguments, from->n_arguments);
        block->results = decode_ids(d, from->results, from->n_results);
        if (!block->arguments || !block->results) return 0;
    }
    return ended(d, &list);
}

/* Nodes of such operators are looked at when their bodies are there. */
static int has_bodies(const xpu_op *op) {
    xpu_op_id id = xpu_op_id_of(op);
    return id == XPU_OP_IF || id == XPU_OP_LOOP || id == XPU_OP_REGION;
}

/* The bodies of a node that is there now. */
static int add_blocks(decoder *d, uint32_t id, const uint32_t *id_of, uint8_t *made) {
    for (; d->blocks_made < d->block_count && d->blocks[d->blocks_made].owner == id; d->blocks_made++) {
        decoded_block *block = &d->blocks[d->blocks_made];
        if (!check(d, has_bodies(xpu_node_at(d->graph, d->nodes[id])->op), "an operator without bodies has one"))
            return 0;
        block->block = xpu_graph_block(d->graph, d->nodes[id]);
        for (uint32_t i = 0; i < block->argument_count; i++) {
            xpu_value_info *info = xpu_value_at(d->graph, block->arguments[i]);
            uint32_t argument = id_of[block->arguments[i].id];
            if (!check(d, info->kind == XPU_VALUE_ARGUMENT && !made[argument], "a body's argument is no argument"))
                return 0;
            made[argument] = 1;
            info->block = block->block;
            XPU_PUSH(d->arena, &xpu_block_at(d->graph, block->block)->arguments, block->arguments[i]);
        }
    }
    return 1;
}

/* What bodies give, when all nodes are there; then control flow is as its operators want it. */
static int finish_blocks(decoder *d, const uint32_t *id_of, const uint8_t *made) {
    if (!check(d, d->blocks_made == d->block_count, "a body has no owner")) return 0;
    for (uint32_t b = 0; b < d->block_count; b++) {
        const decoded_block *block = &d->blocks[b];
        for (uint32_t i = 0; i < block->result_count; i++) {
            xpu_value value = block->results[i];
            const xpu_value_info *info = xpu_value_at(d->graph, value);
            if (!is_made(d, value, made[id_of[value.id]], block->block)) return 0;
            int own = xpu_value_block(d->graph, value).id == block->block.id;
            int before = own || info->kind != XPU_VALUE_NODE || info->node.id < d->nodes[block->owner].id;
            if (!check(d, before, "a value is used before it is made")) return 0;
            xpu_block_add_result(d->graph, block->block, value);
        }
    }
    int good = 1;
    xpu_diags diags;
    xpu_diags_init(&diags);
    for (uint32_t id = d->node_count; id > 0 && good; id--) {
        if (has_bodies(xpu_node_at(d->graph, d->nodes[id])->op))
            good = xpu_op_shapes(d->graph, d->nodes[id], &diags) == XPU_OK;
    }
    xpu_diags_clear(&diags);
    return check(d, good, "a node's bodies do not fit its operator");
}

/* The node is built with results of its own, which are inferred and compared; then it gets the values of the file. */
static int decode_node(decoder *d, const XpuMeta__Node *from, uint32_t id, uint8_t *made) {
    const xpu_op *op = xpu_op_by_name(from->op);
    if (!check(d, op != NULL, "an operator does not exist")) return 0;
    int good = from->n_inputs >= (size_t)op->min_inputs && from->n_inputs <= (size_t)op->max_inputs &&
               from->n_outputs >= 1 && from->n_outputs <= (size_t)op->max_outputs && from->n_attrs <= XPU_ATTR_COUNT;
    if (!check(d, good, "a node has too few or too many operands, results or attributes")) return 0;
    xpu_value *inputs = XPU_NEW_ARRAY(of_entry(d), xpu_value, from->n_inputs);
    xpu_value *outputs = XPU_NEW_ARRAY(of_entry(d), xpu_value, from->n_outputs);
    xpu_attr *attrs = XPU_NEW_ARRAY(of_entry(d), xpu_attr, from->n_attrs);
    if (!may_go_to(d, from->block)) return 0;
    for (size_t i = 0; i < from->n_inputs; i++) {
        if (from->inputs[i] == 0) {
            if (!check(d, i >= (size_t)op->min_inputs, "a node lacks an operand")) return 0;
            continue;
        }
        if (!value_of(d, from->inputs[i], &inputs[i])) return 0;
        if (!is_made(d, inputs[i], made[from->inputs[i]], graph_block(d, from->block))) return 0;
    }
    for (size_t i = 0; i < from->n_outputs; i++) {
        if (!value_of(d, from->outputs[i], &outputs[i])) return 0;
        good = xpu_value_at(d->graph, outputs[i])->kind == XPU_VALUE_NODE && !made[from->outputs[i]];
        if (!check(d, good, "a value is made twice, or not by a node")) return 0;
        made[from->outputs[i]] = 1;
    }
    for (size_t i = 0; i < from->n_attrs; i++) {
        if (!decode_attr(d, from->attrs[i], op, &attrs[i])) return 0;
    }
    for (size_t i = 0; i < from->n_origins; i++) {
        if (!check(d, from->origins[i] < d->graph->origins.count, "a node's origin does not exist")) return 0;
    }
    xpu_graph_enter(d->graph, graph_block(d, from->block));
    d->nodes[id] =
        xpu_graph_add(d->graph, (xpu_node){0}, op, inputs, (uint32_t)from->n_inputs, NULL, (uint32_t)from->n_outputs,
                      attrs, (uint32_t)from->n_attrs, from->origins, (uint32_t)from->n_origins);
    xpu_diags diags;
    xpu_diags_init(&diags);
    xpu_status status = has_bodies(op) ? XPU_OK : xpu_op_shapes(d->graph, d->nodes[id], &diags);
    xpu_diags_clear(&diags);
    if (!check(d, status == XPU_OK, "a node's operands do not fit its operator")) return 0;
    if (!has_bodies(op) && !same_results(d, d->nodes[id], outputs, (uint32_t)from->n_outputs)) return 0;
    for (uint32_t i = 0; i < from->n_outputs; i++) {
        xpu_node_at(d->graph, d->nodes[id])->outputs[i] = outputs[i];
        xpu_value_at(d->graph, outputs[i])->node = d->nodes[id];
        xpu_value_at(d->graph, outputs[i])->output = i;
    }
    return 1;
}

int xpu_decode_graph(decoder *d) {
    xpu_entries origins = list_of(d, "origins"), nodes = list_of(d, "nodes");
    if (!check_count(d, origins.count, MAX_ITEMS, "nodes of the model") ||
        !check_count(d, nodes.count, MAX_ITEMS, "nodes"))
        return 0;
    for (const XpuMeta__Origin *o; (o = xpu_entries_next(&origins));) {
        xpu_graph_origin(d->graph, &(xpu_origin){o->framework, o->op, o->version, o->name, o->index});
    }
    if (!ended(d, &origins)) return 0;
    if (!check(d, d->graph->origins.count == origins.count, "an origin is listed twice")) return 0;
    uint8_t *made = XPU_NEW_ARRAY(d->arena, uint8_t, d->value_count + 1);
    uint32_t *id_of = XPU_NEW_ARRAY(d->arena, uint32_t, d->graph->values.count); /* in the file */
    for (uint32_t id = 1; id <= d->value_count; id++) id_of[d->values[id].id] = id;
    d->nodes = XPU_NEW_ARRAY(d->arena, xpu_node, nodes.count + 1);
    if (!decode_blocks(d)) return 0;
    for (const XpuMeta__Node *from; (from = xpu_entries_next(&nodes)); d->node_count++) {
        if (!decode_node(d, from, d->node_count + 1, made)) return 0;
        if (!add_blocks(d, d->node_count + 1, id_of, made)) return 0;
    }
    if (!ended(d, &nodes) || !finish_blocks(d, id_of, made)) return 0;
    xpu_graph_enter(d->graph, XPU_TOP_BLOCK);
    for (uint32_t i = 0; i < d->graph->outputs.count; i++) {
        const xpu_value_info *info = xpu_value_at(d->graph, d->graph->outputs.items[i]);
        if (!check(d, info->kind != XPU_VALUE_NODE || info->node.id, "nothing makes an output")) return 0;
    }
    return 1;
}
