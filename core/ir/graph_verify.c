/* Every invariant of a graph, checked. Problems of one kind are reported once per place, all places are looked at. */
#include <string.h>

#include "core/ir/graph.h"

typedef struct {
    const xpu_graph *graph;
    const char *stage;
    xpu_diags *diags;
    xpu_arena *arena;   /* for messages and tables */
    uint32_t *position; /* by node: place in the order of execution, from 1; 0 where it is in no block */
    uint32_t placed;
    uint32_t *first_input;  /* by node: where its inputs begin in `listed` */
    uint32_t *listed;       /* by input of a node: how often it stands in the use list of its value */
    uint8_t *is_output;     /* by value: it is in the list of outputs */
    uint32_t *result_count; /* by value: how often it stands among the results of blocks */
    size_t problems;
} verifier;

enum { MAX_PROBLEMS = 50 };

static void report(verifier *v, const char *where, const char *what) {
    if (++v->problems > MAX_PROBLEMS) return;
    xpu_error(v->diags, XPU_EBUG, v->graph->file, "ir-verify", where, what,
              xpu_printf(v->arena, "an invariant of the graph does not hold after '%s'", v->stage),
              "this is a bug of the compiler: please report it with the model");
}

static int valid_value(const verifier *v, xpu_value value) {
    return value.id > 0 && value.id < v->graph->values.count;
}
static int valid_node(const verifier *v, xpu_node node) {
    return node.id > 0 && node.id < v->graph->nodes.count;
}

/* A damaged node may not have a name. */
static void node_problem(verifier *v, xpu_node node, const char *what) {
    const xpu_node_info *info = xpu_node_at(v->graph, node);
    int has_name = info->op != NULL;
    for (uint32_t i = 0; i < info->origins.count; i++) has_name &= info->origins.items[i] < v->graph->origins.count;
    for (uint32_t i = 0; i < info->output_count; i++) {
        has_name &= valid_value(v, info->outputs[i]) && xpu_value_at(v->graph, info->outputs[i])->name;
    }
    report(v, has_name ? xpu_node_where(v->graph, node, v->arena) : xpu_printf(v->arena, "node %u", node.id), what);
}

static void value_problem(verifier *v, uint32_t id, const char *what) {
    const char *name = v->graph->values.items[id].name;
    report(v, xpu_printf(v->arena, "value '%s'", xpu_escape(v->arena, name ? name : "", 120)), what);
}

/* ---- order ---- */

/* The value is there in `block` at `position`: it is made before that, in this block or one around it. */
static int is_visible(const verifier *v, const xpu_value_info *value, xpu_block block, uint32_t position) {
    xpu_block home = XPU_TOP_BLOCK;
    if (value->kind == XPU_VALUE_NODE) {
        if (!valid_node(v, value->node) || !v->position[value->node.id] || v->position[value->node.id] >= position)
            return 0;
        home = xpu_node_at(v->graph, value->node)->parent;
    } else if (value->kind == XPU_VALUE_ARGUMENT) {
        home = value->block;
    }
    while (block.id != home.id) {
        xpu_node owner = xpu_block_at(v->graph, block)->owner;
        if (!valid_node(v, owner) || (value->kind == XPU_VALUE_NODE && owner.id == value->node.id)) return 0;
        block = xpu_node_at(v->graph, owner)->parent;
    }
    return 1;
}

static void check_results(verifier *v, xpu_block block, uint32_t end) {
    const xpu_block_info *info = xpu_block_at(v->graph, block);
    for (uint32_t i = 0; i < info->results.count; i++) {
        xpu_value value = info->results.items[i];
        if (!valid_value(v, value)) continue;
        v->result_count[value.id]++;
        if (!is_visible(v, xpu_value_at(v->graph, value), block, end))
            node_problem(v, info->owner, xpu_printf(v->arena, "result %u of a body is not made before its end", i));
    }
}

static int owns(const verifier *v, xpu_node owner, xpu_block block) {
    for (uint32_t b = 0; b < xpu_node_at(v->graph, owner)->block_count; b++) {
        if (xpu_node_at(v->graph, owner)->blocks[b].id == block.id) return 1;
    }
    return 0;
}

static void place_block(verifier *v, xpu_block block, int depth) {
    const xpu_block_info *info = xpu_block_at(v->graph, block);
    xpu_node previous = {0};
    for (xpu_node node = info->first; node.id; node = xpu_node_next(v->graph, node)) {
        if (!valid_node(v, node) || v->position[node.id]) {
            report(v, NULL, "a block's list of nodes has a wrong handle or a cycle");
            return;
        }
        const xpu_node_info *node_info = xpu_node_at(v->graph, node);
        v->position[node.id] = ++v->placed;
        if (node_info->dead) node_problem(v, node, "a removed node is in the list of its block");
        if (node_info->parent.id != block.id)
            node_problem(v, node, "the node names another block than the one it is in");
        if (node_info->previous.id != previous.id) node_problem(v, node, "the link to the node before is wrong");
        for (uint32_t b = 0; b < node_info->block_count; b++) {
            xpu_block inner = node_info->blocks[b];
            if (inner.id < 2 || inner.id >= v->graph->blocks.count || depth > 64 ||
                xpu_block_at(v->graph, inner)->owner.id != node.id) {
                node_problem(v, node, "a body of control flow does not belong to the node");
            } else {
                place_block(v, inner, depth + 1);
            }
        }
        previous = node;
    }
    check_results(v, block, v->placed + 1);
    if (info->last.id != previous.id) report(v, NULL, "a block's last node is not the end of its list");
}

/* A body without a live owner has nothing in it. */
static void check_bodies(verifier *v) {
    for (uint32_t b = 2; b < v->graph->blocks.count; b++) {
        const xpu_block_info *info = &v->graph->blocks.items[b];
        int is_owned = valid_node(v, info->owner) && !xpu_node_at(v->graph, info->owner)->dead;
        if (is_owned && !owns(v, info->owner, (xpu_block){b}))
            node_problem(v, info->owner, "a block names the node as its owner, which has it not");
        if (!is_owned && (info->first.id || info->results.count))
            report(v, NULL, "a block that belongs to no node has nodes or results");
    }
}

/* ---- nodes ---- */

static void check_inputs(verifier *v, xpu_node node) {
    const xpu_node_info *info = xpu_node_at(v->graph, node);
    if ((int)info->input_count < info->op->min_inputs || (int)info->input_count > info->op->max_inputs) {
        node_problem(v, node,
                     xpu_printf(v->arena, "%s takes %d to %d operands, not %u", info->op->name, info->op->min_inputs,
                                info->op->max_inputs, info->input_count));
    }
    for (uint32_t i = 0; i < info->input_count; i++) {
        xpu_value value = info->inputs[i];
        if (!value.id) {
            if ((int)i < info->op->min_inputs) node_problem(v, node, "a required operand is absent");
            continue;
        }
        if (!valid_value(v, value)) {
            node_problem(v, node, "an operand's handle is out of range");
            continue;
        }
        const xpu_value_info *operand = xpu_value_at(v->graph, value);
        uint32_t found = v->listed[v->first_input[node.id] + i];
        if (found != 1)
            node_problem(v, node, xpu_printf(v->arena, "operand %u stands %u times in its use list", i, found));
        if (operand->kind == XPU_VALUE_NODE && valid_node(v, operand->node) &&
            xpu_node_at(v->graph, operand->node)->dead) {
            node_problem(v, node, xpu_printf(v->arena, "operand %u is the result of a removed node", i));
        } else if (!is_visible(v, operand, info->parent, v->position[node.id])) {
            node_problem(v, node, xpu_printf(v->arena, "operand %u is not made before the node", i));
        }
    }
}

static void check_attr(verifier *v, xpu_node node, const xpu_attr *attr) {
    const xpu_node_info *info = xpu_node_at(v->graph, node);
    if ((unsigned)attr->id >= XPU_ATTR_COUNT) {
        node_problem(v, node, "an attribute's id is out of range");
        return;
    }
    const char *name = xpu_attr_name(attr->id);
    if (!xpu_op_attr(info->op, attr->id)) {
        node_problem(v, node, xpu_printf(v->arena, "%s has no attribute '%s'", info->op->name, name));
    }
    switch (xpu_attr_type_of(attr->id)) {
    case XPU_ATTR_TYPE_INTS:
        if (attr->count && !attr->ints) node_problem(v, node, xpu_printf(v->arena, "'%s' has no list", name));
        break;
    case XPU_ATTR_TYPE_DIMS:
        for (uint32_t i = 0; i < attr->count; i++) {
            if (!attr->dims || !attr->dims[i].id || attr->dims[i].id >= v->graph->dims.nodes.count) {
                node_problem(v, node, xpu_printf(v->arena, "'%s' has a wrong dim", name));
                break;
            }
        }
        break;
    case XPU_ATTR_TYPE_STRING:
        if (!attr->s) node_problem(v, node, xpu_printf(v->arena, "'%s' has no text", name));
        break;
    case XPU_ATTR_TYPE_CHAIN:
        if (!attr->chain) node_problem(v, node, xpu_printf(v->arena, "'%s' has no program", name));
        break;
    case XPU_ATTR_TYPE_INT:
    case XPU_ATTR_TYPE_FLOAT: break;
    }
}

/* Values of attributes that every later stage relies on. */
static void check_attr_values(verifier *v, xpu_node node) {
    const xpu_node_info *info = xpu_node_at(v->graph, node);
    if (!info->output_count || !valid_value(v, info->outputs[0])) return;
    int rank = xpu_value_at(v->graph, info->outputs[0])->rank;
    if (rank < 0 || rank > XPU_MAX_RANK) return;
    uint32_t count;
    if (xpu_op_attr(info->op, XPU_ATTR_PERM)) {
        const int64_t *perm = xpu_node_ints(v->graph, node, XPU_ATTR_PERM, &count);
        unsigned seen = 0;
        for (uint32_t i = 0; i < count; i++) {
            if (perm[i] >= 0 && perm[i] < rank) seen |= 1u << perm[i];
        }
        if ((int)count != rank || seen != (1u << rank) - 1)
            node_problem(v, node, "'perm' is no permutation of the dims");
    }
    if (xpu_op_attr(info->op, XPU_ATTR_AXIS)) {
        int64_t axis = xpu_node_int(v->graph, node, XPU_ATTR_AXIS);
        if (axis < 0 || axis >= (rank ? rank : 1)) node_problem(v, node, "'axis' is outside the dims");
    }
    static const xpu_attr_id lists[] = {XPU_ATTR_STRIDES, XPU_ATTR_DILATIONS, XPU_ATTR_CROP, XPU_ATTR_PADS};
    for (int i = 0; xpu_op_attr(info->op, XPU_ATTR_STRIDES) && i < 4; i++) {
        xpu_node_ints(v->graph, node, lists[i], &count);
        if (xpu_op_attr(info->op, lists[i]) && (int)count != (rank - 2) * (lists[i] == XPU_ATTR_PADS ? 2 : 1)) {
            node_problem(v, node, xpu_printf(v->arena, "'%s' has %u entries", xpu_attr_name(lists[i]), count));
        }
    }
}

static void check_node(verifier *v, xpu_node node) {
    const xpu_node_info *info = xpu_node_at(v->graph, node);
    if (!info->op) {
        report(v, NULL, "a node has no operator");
        return;
    }
    if (!v->position[node.id]) node_problem(v, node, "a live node is in no block");
    check_inputs(v, node);
    if (info->output_count < 1 || (int)info->output_count > info->op->max_outputs) {
        node_problem(v, node, "the number of results is not one the operator has");
    }
    for (uint32_t i = 0; i < info->output_count; i++) {
        if (!valid_value(v, info->outputs[i])) {
            node_problem(v, node, "a result's handle is out of range");
            continue;
        }
        const xpu_value_info *result = xpu_value_at(v->graph, info->outputs[i]);
        if (result->kind != XPU_VALUE_NODE || result->node.id != node.id || result->output != i) {
            node_problem(v, node, xpu_printf(v->arena, "result %u does not name the node as its maker", i));
        }
        if (result->dtype <= XPU_DTYPE_NONE || result->dtype >= XPU_DTYPE_COUNT) {
            node_problem(v, node, xpu_printf(v->arena, "result %u has no element type", i));
        }
        for (int d = 0; d < result->rank && d < XPU_MAX_RANK; d++) {
            if (!result->dims[d].id)
                node_problem(v, node, xpu_printf(v->arena, "dim %d of result %u is unknown", d, i));
        }
    }
    for (uint32_t i = 0; i < info->attrs.count; i++) {
        check_attr(v, node, &info->attrs.items[i]);
        for (uint32_t j = 0; j < i; j++) {
            if (info->attrs.items[i].id == info->attrs.items[j].id) node_problem(v, node, "an attribute stands twice");
        }
    }
    for (uint32_t i = 0; i < info->origins.count; i++) {
        if (info->origins.items[i] >= v->graph->origins.count) node_problem(v, node, "an origin is out of range");
    }
    check_attr_values(v, node);
}

/* ---- values ---- */

static void check_constant(verifier *v, uint32_t id) {
    const xpu_value_info *info = &v->graph->values.items[id];
    const xpu_const *constant = info->constant;
    if (!constant) {
        value_problem(v, id, "the constant has no bytes");
        return;
    }
    if (constant->source_rank < 0 || constant->source_rank > XPU_MAX_RANK || constant->source_dtype <= XPU_DTYPE_NONE ||
        constant->source_dtype >= XPU_DTYPE_COUNT) {
        value_problem(v, id, "the constant's source has no valid type");
        return;
    }
    uint64_t source_bytes = xpu_dtype_bytes(constant->source_dtype);
    for (int i = 0; i < constant->source_rank; i++) source_bytes *= (uint64_t)constant->source_dims[i];
    if (source_bytes != constant->length) value_problem(v, id, "the constant's length is not that of its source dims");
    if (constant->kind == XPU_CONST_BYTES ? !constant->bytes : !constant->file) {
        value_problem(v, id, "the constant has no source");
    }
    for (int i = 0; i < info->rank; i++) {
        if (!xpu_dim_is_const(&v->graph->dims, info->dims[i], NULL)) {
            value_problem(v, id, "a dim of a constant is not constant");
            return;
        }
    }
    if (constant->steps.count) return;
    int same = info->dtype == constant->source_dtype && info->rank == constant->source_rank;
    for (int i = 0; same && i < info->rank; i++) {
        int64_t dim = -1;
        xpu_dim_is_const(&v->graph->dims, info->dims[i], &dim);
        same = dim == constant->source_dims[i];
    }
    if (!same) value_problem(v, id, "the constant's type is not that of its bytes");
}

static void check_uses(verifier *v, uint32_t id) {
    const xpu_value_info *info = &v->graph->values.items[id];
    for (uint32_t u = 0; u < info->uses.count; u++) {
        xpu_use use = info->uses.items[u];
        if (!valid_node(v, use.node) || xpu_node_at(v->graph, use.node)->dead ||
            use.input >= xpu_node_at(v->graph, use.node)->input_count ||
            xpu_node_at(v->graph, use.node)->inputs[use.input].id != id) {
            value_problem(v, id, "its use list names a node that does not use it");
        } else {
            v->listed[v->first_input[use.node.id] + use.input]++;
        }
    }
}

static int in_list(const xpu_value *items, uint32_t count, uint32_t id) {
    uint32_t found = 0;
    for (uint32_t i = 0; i < count; i++) found += items[i].id == id;
    return found == 1;
}

/* What defines a symbol of the dim is there. */
static int is_defined(const verifier *v, xpu_dim dim) {
    const xpu_graph *graph = v->graph;
    const xpu_dim_node *node = xpu_dim_at(&graph->dims, dim);
    if (node->kind == XPU_DIM_CONST) return 1;
    if (node->kind != XPU_DIM_SYMBOL) return is_defined(v, node->a) && is_defined(v, node->b);
    if ((uint64_t)node->value >= graph->dims.symbols.count) return 0;
    xpu_value value = graph->dims.symbols.items[node->value].value;
    if (!value.id) return 1;
    if (!valid_value(v, value)) return 0;
    const xpu_value_info *info = xpu_value_at(graph, value);
    return info->kind != XPU_VALUE_NODE || (valid_node(v, info->node) && !xpu_node_at(graph, info->node)->dead);
}

static void check_value(verifier *v, uint32_t id) {
    const xpu_graph *graph = v->graph;
    const xpu_value_info *info = &graph->values.items[id];
    if (!info->name || !info->name[0]) value_problem(v, id, "it has no name");
    if (info->name && xpu_graph_by_name(graph, info->name).id != id) value_problem(v, id, "its name is not unique");
    if (info->rank < 0 || info->rank > XPU_MAX_RANK) {
        value_problem(v, id, "its rank is out of range");
        return;
    }
    for (int i = 0; i < info->rank; i++) {
        if (info->dims[i].id >= graph->dims.nodes.count) {
            value_problem(v, id, "a dim's handle is out of range");
        } else if ((info->uses.count || info->is_output || info->results) && !is_defined(v, info->dims[i])) {
            value_problem(v, id, "a dim has a symbol that nothing defines");
        }
    }
    if (info->layout == XPU_LAYOUT_CHANNEL_LAST && info->rank != 3 && info->rank != 4) {
        value_problem(v, id, "only rank 3 and 4 can be channel-last");
    }
    check_uses(v, id);
    int live = info->uses.count || info->is_output || info->results;
    switch (info->kind) {
    case XPU_VALUE_INPUT:
        if (!in_list(graph->inputs.items, graph->inputs.count, id))
            value_problem(v, id, "it is not in the list of inputs");
        break;
    case XPU_VALUE_NODE:
        if (live && (!valid_node(v, info->node) || xpu_node_at(graph, info->node)->dead ||
                     xpu_node_output(graph, info->node, info->output).id != id)) {
            value_problem(v, id, "it is used but no live node makes it");
        }
        break;
    case XPU_VALUE_CONST: check_constant(v, id); break;
    case XPU_VALUE_ARGUMENT:
        if (info->block.id < 2 || info->block.id >= graph->blocks.count ||
            !in_list(xpu_block_at(graph, info->block)->arguments.items,
                     xpu_block_at(graph, info->block)->arguments.count, id)) {
            value_problem(v, id, "it is no argument of its block");
        }
        break;
    default: value_problem(v, id, "its kind is out of range");
    }
    if (info->kind == XPU_VALUE_NODE && info->constant) check_constant(v, id);
    if (v->is_output[id] != (info->is_output != 0))
        value_problem(v, id, "its output mark and the list of outputs differ");
    if (v->result_count[id] != info->results)
        value_problem(v, id, "its count of results and the results of the blocks differ");
}

/* Called when inputs and outputs have been found to be values. */
static void check_states(verifier *v) {
    const xpu_graph *graph = v->graph;
    for (uint32_t i = 0; i < graph->states.count; i++) {
        const xpu_graph_state *state = &graph->states.items[i];
        if (state->input >= graph->inputs.count || state->output >= graph->outputs.count) {
            report(v, NULL, "a state names an input or output that is none");
            continue;
        }
        if (xpu_graph_state_of_input(graph, state->input) != state ||
            xpu_graph_state_of_output(graph, state->output) != state)
            report(v, NULL, "an input or output is tied twice");
        xpu_value input = graph->inputs.items[state->input], output = graph->outputs.items[state->output];
        if (!valid_value(v, input) || !valid_value(v, output)) continue;
        if (xpu_value_at(graph, input)->dtype != xpu_value_at(graph, output)->dtype ||
            xpu_value_at(graph, input)->rank != xpu_value_at(graph, output)->rank)
            report(v, NULL, "a state's input and output have different types");
    }
}

static void check_lists(verifier *v) {
    const xpu_graph *graph = v->graph;
    for (uint32_t i = 0; i < graph->inputs.count; i++) {
        xpu_value value = graph->inputs.items[i];
        if (!valid_value(v, value) || xpu_value_at(graph, value)->kind != XPU_VALUE_INPUT) {
            report(v, NULL, "the list of inputs names a value that is none");
        }
    }
    for (uint32_t i = 0; i < graph->outputs.count; i++) {
        if (valid_value(v, graph->outputs.items[i])) {
            v->is_output[graph->outputs.items[i].id] = 1;
        } else {
            report(v, NULL, "the list of outputs has a wrong handle");
        }
    }
    check_states(v);
    for (uint32_t b = 1; b < graph->blocks.count; b++) {
        const xpu_block_info *block = &graph->blocks.items[b];
        for (uint32_t i = 0; i < block->results.count; i++) {
            if (!valid_value(v, block->results.items[i])) report(v, NULL, "a block's result has a wrong handle");
        }
        for (uint32_t i = 0; i < block->arguments.count; i++) {
            xpu_value value = block->arguments.items[i];
            if (!valid_value(v, value) || xpu_value_at(graph, value)->kind != XPU_VALUE_ARGUMENT ||
                xpu_value_at(graph, value)->block.id != b) {
                report(v, NULL, "a block's argument does not belong to it");
            }
        }
    }
}

xpu_status xpu_graph_verify(const xpu_graph *graph, const char *stage, xpu_diags *diags) {
    verifier v = {.graph = graph, .stage = stage ? stage : "", .diags = diags};
    v.arena = xpu_arena_new(xpu_arena_mem(graph->arena), "verify");
    v.position = XPU_NEW_ARRAY(v.arena, uint32_t, graph->nodes.count);
    v.first_input = XPU_NEW_ARRAY(v.arena, uint32_t, graph->nodes.count);
    v.is_output = XPU_NEW_ARRAY(v.arena, uint8_t, graph->values.count);
    v.result_count = XPU_NEW_ARRAY(v.arena, uint32_t, graph->values.count);
    uint32_t inputs = 0;
    for (uint32_t id = 1; id < graph->nodes.count; id++) {
        v.first_input[id] = inputs;
        inputs += graph->nodes.items[id].input_count;
    }
    v.listed = XPU_NEW_ARRAY(v.arena, uint32_t, inputs);
    check_lists(&v);
    place_block(&v, XPU_TOP_BLOCK, 0);
    check_bodies(&v);
    for (uint32_t id = 1; id < graph->values.count; id++) check_value(&v, id);
    for (uint32_t id = 1; id < graph->nodes.count; id++) {
        if (!graph->nodes.items[id].dead) check_node(&v, (xpu_node){id});
    }
    xpu_arena_free(v.arena);
    return v.problems ? XPU_EBUG : XPU_OK;
}
