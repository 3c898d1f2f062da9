/* From nodes to layers: each node that makes something becomes a layer, a list of kernel calls, in graph order. */
#include "xpu_codegen/lower/program.h"

#include "core/passes/rewrite.h"
#include "xpu_codegen/choose/extents.h"
#include "xpu_codegen/choose/joins.h"
#include "xpu_codegen/choose/precision_rules.h"
#include "xpu_codegen/lower/bounds.h"
#include "xpu_codegen/lower/buffers.h"
#include "xpu_codegen/lower/chain.h"
#include "xpu_codegen/lower/control.h"
#include "xpu_codegen/lower/empty.h"
#include "xpu_codegen/lower/layer_numbers.h"
#include "xpu_codegen/lower/layers.h"
#include "xpu_codegen/lower/lists.h"
#include "xpu_codegen/lower/operators.h"
#include "xpu_codegen/lower/slow.h"
#include "xpu_codegen/lower/steps.h"
#include "xpu_codegen/lower/weight_copies.h"
#include "xpu_codegen/read_through.h"

xpu_status xpu_lower_nothing(xpu_codegen *cg, uint32_t layer, xpu_node node) {
    return xpu_codegen_bug(cg, "an operator without lowering was admitted", "layer %u: %s", layer,
                           xpu_node_where(cg->graph, node, cg->arena));
}

static xpu_lower_fn lowering_of(const xpu_op *op) {
    static const xpu_lower_fn table[XPU_OP_COUNT] = {
#define XPU_SIM_OP(op, lowering, ...) [XPU_OP_##op] = xpu_lower_##lowering,
#include "xpu_codegen/ops.def"
    };
    xpu_lower_fn lower = table[xpu_op_id_of(op)];
    return lower ? lower : xpu_lower_nothing;
}

/* ---- layers ---- */

static const char *host_reason(const xpu_codegen *cg, xpu_node node) {
    return cg->job->regions[xpu_node_at(cg->graph, node)->region - 1].reason;
}

static xpu_status add_host_layer(xpu_codegen *cg, uint32_t layer, xpu_node node) {
    const xpu_node_info *info = xpu_node_at(cg->graph, node);
    xpu_describe_host_layer(cg, layer, info->op->name);
    cg->program.layers.items[layer].reason = host_reason(cg, node);
    for (uint32_t i = 0; i < info->input_count; i++) {
        if (info->inputs[i].id) xpu_operand_buffer(cg, layer, info->inputs[i], xpu_printf(cg->arena, "x%u", i));
    }
    for (uint32_t i = 0; i < info->output_count; i++) xpu_activation_buffer(cg, info->outputs[i]);
    return XPU_OK;
}

/* The user's operator gives its name to the layer that makes its result: the product of scaled rows has a suffix, as
 * what restores the rows comes behind it, and so has one that makes the results of several. */
static const char *layer_name(const xpu_codegen *cg, xpu_node node) {
    const xpu_graph *graph = cg->graph;
    const xpu_value_info *y = xpu_value_at(graph, xpu_node_output(graph, node, 0));
    const xpu_use *use = y->uses.count ? &y->uses.items[0] : NULL;
    if (use && xpu_is_columns_of(graph, use->node, node))
        return xpu_printf(cg->arena, "%s" XPU_MERGED_SUFFIX, xpu_node_name(graph, node));
    if (use && use->input == XPU_IN_X && xpu_node_is(graph, use->node, XPU_OP_ROW_RESTORE))
        return xpu_printf(cg->arena, "%s" XPU_ROWS_SUFFIX, layer_name(cg, use->node));
    return xpu_node_name(graph, node);
}

static xpu_status lower_on_chip(xpu_codegen *cg, uint32_t layer, xpu_node node) {
    const xpu_node_info *info = xpu_node_at(cg->graph, node);
    size_t errors = cg->diags->errors;
    if (xpu_begin_layer(cg, layer, node)) return lowering_of(xpu_node_at(cg->graph, node)->op)(cg, layer, node);
    for (uint32_t i = 0; i < info->output_count; i++) xpu_activation_buffer(cg, info->outputs[i]);
    return cg->diags->errors == errors ? XPU_OK : XPU_EBUG;
}

static xpu_status add_layer(xpu_codegen *cg, xpu_node node) {
    const xpu_node_info *info = xpu_node_at(cg->graph, node);
    uint32_t index = cg->program.layers.count;
    xpu_program_layer item = {.name = xpu_unique_layer_name(cg, layer_name(cg, node)),
                              .node = node,
                              .outputs = info->outputs,
                              .output_count = info->output_count};
    if (node.id < cg->reasons.count) item.reason = cg->reasons.items[node.id];
    xpu_codegen_layer layer = {.node = node, .region = info->region ? info->region : xpu_last_region(cg, node)};
    XPU_PUSH(cg->arena, &cg->program.layers, item);
    XPU_PUSH(cg->arena, &cg->layers, layer);
    cg->layer_of[node.id] = (int32_t)index;
    xpu_step_layer(cg, index);
    return xpu_on_host(cg, node) ? add_host_layer(cg, index, node) : lower_on_chip(cg, index, node);
}

/* ---- what became of each tensor ---- */

/* Of the nodes that make a joined concat's operands in it: layers, and such concats. */
static int32_t last_layer_of_parts(xpu_codegen *cg, const xpu_node_info *concat) {
    int32_t last = -1;
    for (uint32_t i = 0; i < concat->input_count; i++) {
        const xpu_node maker = xpu_value_at(cg->graph, xpu_value_root(cg, concat->inputs[i]))->node;
        const int32_t layer =
            xpu_is_joined(cg, maker) ? last_layer_of_parts(cg, xpu_node_at(cg->graph, maker)) : cg->layer_of[maker.id];
        if (layer > last) last = layer;
    }
    return last;
}

/* The layer that makes the value or, where none does, the one that makes what it is a part of, or the last of its
 * parts, or the first that reads it; -1 for none. */
static int32_t layer_reading(xpu_codegen *cg, const xpu_value_info *info) {
    if (cg->layer_of[info->node.id] >= 0) return cg->layer_of[info->node.id];
    if (xpu_is_part(cg, info->node, NULL)) {
        xpu_value whole = xpu_value_root(cg, xpu_node_input(cg->graph, info->node, 0));
        return layer_reading(cg, xpu_value_at(cg->graph, whole));
    }
    if (xpu_is_joined(cg, info->node)) return last_layer_of_parts(cg, xpu_node_at(cg->graph, info->node));
    if (!xpu_is_read_through(cg, info->node)) return -1;
    while (info->uses.count) {
        xpu_node user = info->uses.items[0].node;
        if (cg->layer_of[user.id] >= 0) return cg->layer_of[user.id];
        info = xpu_value_at(cg->graph, xpu_node_output(cg->graph, user, 0));
    }
    return -1;
}

/* The layer that the maker of `value` went into: its own, that of the layer whose bytes it names, or the one that has
 * the maker's origin; -1 for none. */
static int32_t layer_behind(xpu_codegen *cg, const xpu_value_info *info, const int32_t *layer_with) {
    const xpu_node_info *maker = xpu_node_at(cg->graph, info->node);
    if (!maker->dead && xpu_is_foreign(cg, info->node))
        return cg->layer_of[xpu_block_at(cg->graph, maker->parent)->owner.id];
    if (!maker->dead) {
        if (cg->layer_of[info->node.id] >= 0) return cg->layer_of[info->node.id];
        const xpu_value_info *root =
            xpu_value_at(cg->graph, xpu_value_root(cg, xpu_node_output(cg->graph, info->node, info->output)));
        return root->kind == XPU_VALUE_NODE ? layer_reading(cg, root) : -1;
    }
    return maker->origins.count ? layer_with[maker->origins.items[0]] : -1;
}

/* By origin: the first layer whose node has it, or -1. */
static int32_t *layers_by_origin(const xpu_codegen *cg, xpu_arena *arena) {
    int32_t *layer_with = XPU_NEW_ARRAY(arena, int32_t, cg->graph->origins.count);
    for (uint32_t i = 0; i < cg->graph->origins.count; i++) layer_with[i] = -1;
    for (uint32_t i = cg->layers.count; i-- > 0;) {
        if (!cg->layers.items[i].node.id) continue;
        const xpu_node_info *node = xpu_node_at(cg->graph, cg->layers.items[i].node);
        for (uint32_t j = 0; j < node->origins.count; j++) layer_with[node->origins.items[j]] = (int32_t)i;
    }
    return layer_with;
}

static void add_tensor_fates(xpu_codegen *cg) {
    xpu_arena *scratch = xpu_arena_new(xpu_arena_mem(cg->arena), "fates of tensors");
    const int32_t *layer_with = layers_by_origin(cg, scratch);
    for (uint32_t id = 1; id < cg->graph->values.count; id++) {
        const xpu_value_info *info = &cg->graph->values.items[id];
        if (info->kind != XPU_VALUE_NODE || !xpu_node_at(cg->graph, info->node)->origins.count) continue;
        int is_call = xpu_node_is(cg->graph, info->node, XPU_OP_REGION);
        if (info->output != 0 && !is_call) continue;
        if (info->results && xpu_is_foreign(cg, info->node)) continue; /* the region's result has the name */
        int32_t layer = layer_behind(cg, info, layer_with);
        int own = !xpu_node_at(cg->graph, info->node)->dead && cg->layer_of[info->node.id] >= 0;
        xpu_program_tensor tensor = {.name = info->name, .layer = layer};
        tensor.fate = layer < 0 ? XPU_TENSOR_FOLDED : own ? XPU_TENSOR_DUMPED : XPU_TENSOR_FUSED;
        XPU_PUSH(cg->arena, &cg->program.tensors, tensor);
    }
    xpu_arena_free(scratch);
}

static void add_regions(xpu_codegen *cg) {
    for (uint32_t i = 0; i < cg->job->region_count; i++) {
        const xpu_region *region = &cg->job->regions[i];
        xpu_program_region item = {.target = region->on_host ? "host" : region->target->name,
                                   .node_count = region->node_count,
                                   .reason = region->on_host ? region->reason : NULL};
        XPU_PUSH(cg->arena, &cg->program.regions, item);
    }
}

/* ---- the program ---- */

static void start_program(xpu_codegen *cg) {
    xpu_graph *graph = cg->graph;
    cg->program = (xpu_program){.target = XPU_SIM_NAME,
                                .chip_json = xpu_chip_json(cg->arena, &cg->chip),
                                .abi_hash = xpu_chip_abi_hash(&cg->chip),
                                .precision = xpu_mode_name(cg->mode),
                                .compiler = XPU_VERSION,
                                .clang = "",
                                .source = cg->job->options->source_name,
                                .graph = graph,
                                .stripped = cg->job->options->strip != 0,
                                .source_nodes = cg->job->options->source_nodes};
    if (!cg->program.source) cg->program.source = graph->name ? graph->name : "";
    cg->buffer_of = XPU_NEW_ARRAY(cg->arena, int32_t, graph->values.count);
    cg->layer_of = XPU_NEW_ARRAY(cg->arena, int32_t, graph->nodes.count);
    cg->last_of = XPU_NEW_ARRAY(cg->arena, uint32_t, graph->nodes.count);
    cg->weight_of = XPU_NEW_ARRAY(cg->arena, int32_t, graph->values.count);
    cg->body_of = XPU_NEW_ARRAY(cg->arena, int32_t, XPU_BODY_SLOTS);
    cg->layer_names = (xpu_name_table){.arena = cg->arena};
    for (uint32_t i = 0; i < graph->values.count; i++) cg->buffer_of[i] = cg->weight_of[i] = -1;
    for (uint32_t i = 0; i < XPU_BODY_SLOTS; i++) cg->body_of[i] = -1;
    for (uint32_t i = 0; i < graph->nodes.count; i++) cg->layer_of[i] = -1;
}

static xpu_status lower_node(xpu_codegen *cg, xpu_node node);

static xpu_status lower_block(xpu_codegen *cg, xpu_block block) {
    xpu_status status = XPU_OK;
    XPU_FOR_BLOCK_NODES(cg->graph, block, node) {
        if (xpu_stopped(cg->arena)) return xpu_error_stopped(cg->diags, NULL, NULL, "layers were being lowered");
        xpu_status lowered = lower_node(cg, node);
        if (lowered != XPU_OK) status = lowered;
    }
    return status;
}

static xpu_status lower_node(xpu_codegen *cg, xpu_node node) {
    xpu_status status = XPU_OK;
    if (xpu_node_is(cg->graph, node, XPU_OP_IF)) {
        status = xpu_lower_if(cg, node, lower_block);
    } else if (xpu_node_is(cg->graph, node, XPU_OP_LOOP)) {
        status = xpu_lower_loop(cg, node, lower_block);
    } else if (!xpu_is_view(cg, node) && !xpu_is_part(cg, node, NULL) && !xpu_is_read_through(cg, node) &&
               !xpu_is_joined(cg, node)) {
        status = add_layer(cg, node);
    }
    for (uint32_t i = 0; i < xpu_node_at(cg->graph, node)->output_count; i++) {
        xpu_set_symbols_of(cg, xpu_node_output(cg->graph, node, i));
    }
    return status;
}

static xpu_status lower_all(xpu_codegen *cg) {
    xpu_status chosen = xpu_check_bounds(cg);
    if (chosen == XPU_OK) chosen = xpu_choose_extents(cg);
    if (chosen != XPU_OK) return chosen;
    xpu_choose_joins(cg);
    start_program(cg);
    size_t errors = cg->diags->errors;
    xpu_status lowered = lower_block(cg, XPU_TOP_BLOCK);
    if (lowered == XPU_ESTOPPED) return lowered;
    if (cg->diags->errors != errors) return xpu_diags_status(cg->diags);
    xpu_finish_buffers(cg);
    int copies;
    xpu_status status = xpu_choose_copies(cg, &copies);
    if (status == XPU_OK) status = xpu_number_layers(cg, copies);
    if (status != XPU_OK) return status;
    xpu_finish_steps(cg);
    xpu_make_lists(cg);
    add_tensor_fates(cg);
    add_regions(cg);
    return XPU_OK;
}

xpu_status xpu_lower_program(xpu_codegen *cg) {
    if (!cg->lowered) {
        xpu_codegen before = *cg;
        cg->lower_status = lower_all(cg);
        if (cg->lower_status == XPU_OK && xpu_find_slow(cg)) { /* once more, with tiles for where values lie */
            before.slow = cg->slow;
            before.slow_count = cg->slow_count;
            *cg = before;
            cg->lower_status = lower_all(cg);
        }
        cg->lowered = 1;
    }
    return cg->lower_status;
}
