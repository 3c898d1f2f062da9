/* The text form of a graph. */
#include "core/ops/graph_text.h"

#include "core/ops/chain.h"

static const char *name_of(const xpu_graph *graph, xpu_value value, xpu_arena *arena) {
    return value.id ? xpu_escape(arena, xpu_value_at(graph, value)->name, 200) : "";
}

static void add_value(const xpu_graph *graph, xpu_value value, xpu_text *text) {
    xpu_text_add(text, value.id ? "%%%s" : "_%s", name_of(graph, value, text->arena));
}

static void add_type(const xpu_graph *graph, xpu_value value, xpu_text *text) {
    int channel_last = xpu_value_at(graph, value)->layout == XPU_LAYOUT_CHANNEL_LAST;
    xpu_text_add(text, "%s%s", xpu_type_text(graph, value, text->arena), channel_last ? " channel_last" : "");
}

static void add_chain(const xpu_chain *chain, xpu_text *text) {
    xpu_text_add(text, "{");
    for (uint32_t s = 0; s < chain->step_count; s++) {
        const xpu_chain_step *step = &chain->steps[s];
        const char *separator = "";
        xpu_text_add(text, "%s$%u = %s(", s ? "; " : "", chain->input_count + s, xpu_elementwise_name(step->op));
        for (int i = 0; i < xpu_elementwise_arity(step->op); i++, separator = ", ") {
            xpu_text_add(text, "%s$%u", separator, step->operands[i]);
        }
        for (int i = 0; i < xpu_elementwise_immediates(step->op); i++, separator = ", ") {
            xpu_text_add(text, "%s%.9g", separator, (double)step->immediates[i]);
        }
        if (step->dtype) xpu_text_add(text, "%s%s", separator, xpu_dtype_name((xpu_dtype)step->dtype));
        xpu_text_add(text, ")");
    }
    xpu_text_add(text, "}");
}

static void add_attr(const xpu_graph *graph, const xpu_attr *attr, xpu_text *text) {
    xpu_text_add(text, "%s=", xpu_attr_name(attr->id));
    switch (xpu_attr_type_of(attr->id)) {
    case XPU_ATTR_TYPE_INT: xpu_text_add(text, "%lld", (long long)attr->i); break;
    case XPU_ATTR_TYPE_FLOAT: xpu_text_add(text, "%.9g", (double)attr->f); break;
    case XPU_ATTR_TYPE_STRING: xpu_text_add(text, "\"%s\"", xpu_escape(text->arena, attr->s, 80)); break;
    case XPU_ATTR_TYPE_CHAIN: add_chain(attr->chain, text); break;
    case XPU_ATTR_TYPE_DIMS:
        xpu_text_add(text, "%s", xpu_dim_list_text(&graph->dims, (int)attr->count, attr->dims, text->arena));
        break;
    case XPU_ATTR_TYPE_INTS:
        xpu_text_add(text, "[");
        for (uint32_t i = 0; i < attr->count; i++) xpu_text_add(text, "%s%lld", i ? "," : "", (long long)attr->ints[i]);
        xpu_text_add(text, "]");
        break;
    }
}

static void add_block(const xpu_graph *graph, xpu_block block, int depth, xpu_text *text);

static void add_node(const xpu_graph *graph, xpu_node node, int depth, xpu_text *text) {
    const xpu_node_info *info = xpu_node_at(graph, node);
    xpu_text_add(text, "%*s", 2 * depth, "");
    for (uint32_t i = 0; i < info->output_count; i++) {
        xpu_text_add(text, "%s", i ? ", " : "");
        add_value(graph, info->outputs[i], text);
        xpu_text_add(text, " : ");
        add_type(graph, info->outputs[i], text);
    }
    xpu_text_add(text, " = %s(", info->op->name);
    for (uint32_t i = 0; i < info->input_count; i++) {
        xpu_text_add(text, "%s", i ? ", " : "");
        add_value(graph, info->inputs[i], text);
    }
    xpu_text_add(text, ")");
    for (uint32_t i = 0; i < info->attrs.count; i++) {
        xpu_text_add(text, i ? ", " : " {");
        add_attr(graph, &info->attrs.items[i], text);
    }
    if (info->attrs.count) xpu_text_add(text, "}");
    if (info->region) xpu_text_add(text, " region %u", info->region);
    for (uint32_t i = 0; i < info->origins.count; i++) {
        const xpu_origin *origin = &graph->origins.items[info->origins.items[i]];
        xpu_text_add(text, "%s%s '%s' #%u", i ? " + " : "  // ",
                     xpu_escape(text->arena, origin->op ? origin->op : "", 60),
                     xpu_escape(text->arena, origin->name ? origin->name : "", 120), origin->index);
    }
    xpu_text_add(text, "\n");
    for (uint32_t i = 0; i < info->block_count; i++) add_block(graph, info->blocks[i], depth + 1, text);
}

static void add_block(const xpu_graph *graph, xpu_block block, int depth, xpu_text *text) {
    const xpu_block_info *info = xpu_block_at(graph, block);
    if (block.id > 1) {
        xpu_text_add(text, "%*sblock (", 2 * depth, "");
        for (uint32_t i = 0; i < info->arguments.count; i++) {
            xpu_text_add(text, "%s", i ? ", " : "");
            add_value(graph, info->arguments.items[i], text);
            xpu_text_add(text, " : ");
            add_type(graph, info->arguments.items[i], text);
        }
        xpu_text_add(text, ")\n");
    }
    for (xpu_node node = info->first; node.id; node = xpu_node_next(graph, node)) {
        add_node(graph, node, depth + (block.id > 1), text);
    }
    if (block.id > 1) {
        xpu_text_add(text, "%*sresults", 2 * depth, "");
        for (uint32_t i = 0; i < info->results.count; i++) {
            xpu_text_add(text, i ? ", " : " ");
            add_value(graph, info->results.items[i], text);
        }
        xpu_text_add(text, "\n");
    }
}

static void add_symbols(const xpu_graph *graph, xpu_text *text) {
    for (uint32_t i = 0; i < graph->dims.symbols.count; i++) {
        const xpu_symbol *symbol = &graph->dims.symbols.items[i];
        xpu_text_add(text, "symbol %s = %lld..%lld:%lld", xpu_escape(text->arena, symbol->name, 80),
                     (long long)symbol->min, (long long)symbol->max, (long long)symbol->step);
        if (symbol->value.id) {
            xpu_text_add(text, " is ");
            add_value(graph, symbol->value, text);
            xpu_text_add(text, "[%u]", symbol->element);
        }
        if (symbol->bound.id)
            xpu_text_add(text, ", at most %s", xpu_dim_text(&graph->dims, symbol->bound, text->arena));
        xpu_text_add(text, "\n");
    }
}

static void add_states(const xpu_graph *graph, xpu_text *text) {
    for (uint32_t i = 0; i < graph->states.count; i++) {
        const xpu_graph_state *state = &graph->states.items[i];
        xpu_text_add(text, "state ");
        add_value(graph, graph->outputs.items[state->output], text);
        xpu_text_add(text, " -> ");
        add_value(graph, graph->inputs.items[state->input], text);
        xpu_text_add(text, "\n");
    }
}

static void add_guards(const xpu_graph *graph, xpu_text *text) {
    for (uint32_t i = 0; i < graph->guards.count; i++) {
        const xpu_guard *guard = &graph->guards.items[i];
        xpu_text_add(text, "guard %s  // %s\n", xpu_guard_text(graph, guard, text->arena),
                     xpu_escape_message(text->arena, guard->where, 200));
    }
}

static void add_constants(const xpu_graph *graph, xpu_text *text) {
    for (uint32_t id = 1; id < graph->values.count; id++) {
        const xpu_value_info *info = &graph->values.items[id];
        if (info->kind != XPU_VALUE_CONST || !(info->uses.count || xpu_value_leaves(graph, (xpu_value){id}))) continue;
        xpu_text_add(text, "const ");
        add_value(graph, (xpu_value){id}, text);
        xpu_text_add(text, " : ");
        add_type(graph, (xpu_value){id}, text);
        const xpu_const *constant = info->constant;
        if (constant && constant->kind == XPU_CONST_FILE) {
            xpu_text_add(text, " file@%llu", (unsigned long long)constant->offset);
        }
        if (constant && constant->steps.count) xpu_text_add(text, " with %u steps", constant->steps.count);
        xpu_text_add(text, "\n");
    }
}

void xpu_graph_text(const xpu_graph *graph, xpu_text *text) {
    xpu_text_add(text, "graph \"%s\"\n", xpu_escape(text->arena, graph->name, 200));
    add_symbols(graph, text);
    add_guards(graph, text);
    add_states(graph, text);
    for (uint32_t i = 0; i < graph->inputs.count; i++) {
        xpu_text_add(text, "input ");
        add_value(graph, graph->inputs.items[i], text);
        xpu_text_add(text, " : ");
        add_type(graph, graph->inputs.items[i], text);
        xpu_text_add(text, "\n");
    }
    add_constants(graph, text);
    add_block(graph, (xpu_block){1}, 0, text);
    for (uint32_t i = 0; i < graph->outputs.count; i++) {
        xpu_text_add(text, "output ");
        add_value(graph, graph->outputs.items[i], text);
        xpu_text_add(text, "\n");
    }
}
