/* A graph of onnxruntime as arrays of nodes and values. */
#include <stdlib.h>
#include <string.h>

#include "provider/provider.h"

/* A value by its name: names are unique in a graph, and those of bodies refer to it. */
static OrtStatus *value_of(xpu_ep_graph *graph, const OrtValueInfo *info, uint32_t *value) {
    const OrtApi *api = graph->factory->api;
    const char *name = NULL;
    *value = XPU_EP_NONE;
    if (!info) return NULL;
    XPU_TRY(api->GetValueInfoName(info, &name));
    if (!name || !name[0]) return NULL;
    const uint32_t *found = xpu_name_find(&graph->by_name, name);
    if (found) {
        *value = *found;
        return NULL;
    }
    bool is_constant = false, is_default = false;
    xpu_ep_value made = {.name = xpu_strdup(graph->arena, name), .info = info, .producer = XPU_EP_NONE};
    XPU_TRY(api->ValueInfo_IsConstantInitializer(info, &is_constant));
    XPU_TRY(api->ValueInfo_IsOptionalGraphInput(info, &is_default));
    made.is_constant = is_constant;
    made.is_default = is_default;
    *value = graph->values.count;
    xpu_name_add(&graph->by_name, made.name, *value);
    XPU_PUSH(graph->arena, &graph->values, made);
    return NULL;
}

static OrtStatus *values_of(xpu_ep_graph *graph, const OrtValueInfo *const *infos, size_t count, uint32_t *values) {
    for (size_t i = 0; i < count; i++) XPU_TRY(value_of(graph, infos[i], &values[i]));
    return NULL;
}

static OrtStatus *read_operands(xpu_ep_graph *graph, xpu_ep_node *node) {
    const OrtApi *api = graph->factory->api;
    size_t operands, captured, results;
    XPU_TRY(api->Node_GetNumInputs(node->node, &operands));
    XPU_TRY(api->Node_GetNumImplicitInputs(node->node, &captured));
    XPU_TRY(api->Node_GetNumOutputs(node->node, &results));
    const OrtValueInfo **infos = XPU_NEW_ARRAY(graph->arena, const OrtValueInfo *, operands + captured + results + 1);
    if (operands) XPU_TRY(api->Node_GetInputs(node->node, infos, operands));
    if (captured) XPU_TRY(api->Node_GetImplicitInputs(node->node, infos + operands, captured));
    if (results) XPU_TRY(api->Node_GetOutputs(node->node, infos + operands + captured, results));
    node->operand_count = (uint32_t)operands;
    node->input_count = (uint32_t)(operands + captured);
    node->output_count = (uint32_t)results;
    node->inputs = XPU_NEW_ARRAY(graph->arena, uint32_t, node->input_count + 1);
    node->outputs = XPU_NEW_ARRAY(graph->arena, uint32_t, results + 1);
    XPU_TRY(values_of(graph, infos, node->input_count, node->inputs));
    return values_of(graph, infos + node->input_count, results, node->outputs);
}

static OrtStatus *read_node(xpu_ep_graph *graph, uint32_t index) {
    const OrtApi *api = graph->factory->api;
    xpu_ep_node *node = &graph->nodes[index];
    XPU_TRY(api->Node_GetName(node->node, &node->name));
    XPU_TRY(api->Node_GetOperatorType(node->node, &node->op));
    XPU_TRY(api->Node_GetDomain(node->node, &node->domain));
    XPU_TRY(read_operands(graph, node));
    for (uint32_t i = 0; i < node->input_count; i++) {
        if (node->inputs[i] != XPU_EP_NONE)
            XPU_PUSH(graph->arena, &graph->values.items[node->inputs[i]].consumers, index);
    }
    for (uint32_t i = 0; i < node->output_count; i++) {
        if (node->outputs[i] != XPU_EP_NONE) graph->values.items[node->outputs[i]].producer = index;
    }
    return NULL;
}

static OrtStatus *mark_outputs(xpu_ep_graph *graph) {
    const OrtApi *api = graph->factory->api;
    size_t count;
    XPU_TRY(api->Graph_GetNumOutputs(graph->graph, &count));
    const OrtValueInfo **infos = XPU_NEW_ARRAY(graph->arena, const OrtValueInfo *, count + 1);
    if (count) XPU_TRY(api->Graph_GetOutputs(graph->graph, infos, count));
    for (size_t i = 0; i < count; i++) {
        uint32_t value;
        XPU_TRY(value_of(graph, infos[i], &value));
        if (value != XPU_EP_NONE) graph->values.items[value].is_output = 1;
    }
    return NULL;
}

/* An operand has to be made by a node before, or by none. */
static int is_ordered(const xpu_ep_graph *graph) {
    for (uint32_t n = 0; n < graph->node_count; n++) {
        for (uint32_t i = 0; i < graph->nodes[n].input_count; i++) {
            uint32_t value = graph->nodes[n].inputs[i];
            uint32_t producer = value == XPU_EP_NONE ? XPU_EP_NONE : graph->values.items[value].producer;
            if (producer != XPU_EP_NONE && producer >= n) return 0;
        }
    }
    return 1;
}

typedef struct {
    const OrtNode *node;
    size_t id;
} numbered;

static int by_id(const void *a, const void *b) {
    size_t x = ((const numbered *)a)->id, y = ((const numbered *)b)->id;
    return (x > y) - (x < y);
}

static OrtStatus *read_nodes(xpu_ep_graph *graph, const numbered *nodes) {
    graph->values.count = 0;
    graph->by_name = (xpu_name_table){.arena = graph->arena};
    for (uint32_t i = 0; i < graph->node_count; i++) {
        graph->nodes[i].node = nodes[i].node;
        XPU_TRY(read_node(graph, i));
    }
    return NULL;
}

/* Nodes in the order of their numbers, which is that of the model's file: programs are then those of xpuc, layer by
 * layer. Where onnxruntime has put in nodes, which have the last numbers, in its own. */
OrtStatus *xpu_ep_read_graph(const xpu_ep_factory *factory, xpu_arena *arena, const OrtGraph *from, xpu_ep_graph *to) {
    size_t count;
    *to = (xpu_ep_graph){.factory = factory, .arena = arena, .graph = from};
    XPU_TRY(factory->api->Graph_GetNumNodes(from, &count));
    const OrtNode **nodes = XPU_NEW_ARRAY(arena, const OrtNode *, count + 1);
    numbered *order = XPU_NEW_ARRAY(arena, numbered, 2 * count + 1), *sorted = order + count;
    if (count) XPU_TRY(factory->api->Graph_GetNodes(from, nodes, count));
    for (size_t i = 0; i < count; i++) {
        order[i].node = nodes[i];
        XPU_TRY(factory->api->Node_GetId(nodes[i], &order[i].id));
        sorted[i] = order[i];
    }
    qsort(sorted, count, sizeof *sorted, by_id);
    to->nodes = XPU_NEW_ARRAY(arena, xpu_ep_node, count + 1);
    to->node_count = (uint32_t)count;
    XPU_TRY(read_nodes(to, sorted));
    if (!is_ordered(to)) XPU_TRY(read_nodes(to, order));
    return mark_outputs(to);
}
