/* A copy of a graph that passes may change while the first one stays as it is. */
#include <string.h>

#include "core/ir/graph.h"

#define COPY_ARRAY(arena, array)                                                                                       \
    do {                                                                                                               \
        (array)->capacity = (array)->count;                                                                            \
        (array)->items = xpu_copy((arena), (array)->items, (array)->count * sizeof *(array)->items);                   \
    } while (0)

static void copy_dims(xpu_arena *arena, xpu_dims *dims) {
    dims->arena = arena;
    COPY_ARRAY(arena, &dims->nodes);
    COPY_ARRAY(arena, &dims->symbols);
    dims->table = xpu_copy(arena, dims->table, dims->table_size * sizeof *dims->table);
}

static void copy_node(xpu_arena *arena, xpu_node_info *node) {
    node->inputs = xpu_copy(arena, node->inputs, node->input_count * sizeof *node->inputs);
    node->places = xpu_copy(arena, node->places, node->input_count * sizeof *node->places);
    node->outputs = xpu_copy(arena, node->outputs, node->output_count * sizeof *node->outputs);
    node->blocks = xpu_copy(arena, node->blocks, node->block_count * sizeof *node->blocks);
    COPY_ARRAY(arena, &node->attrs);
    COPY_ARRAY(arena, &node->origins);
}

xpu_graph_mark xpu_graph_mark_now(xpu_graph *graph) {
    xpu_graph_mark mark = {.dims = graph->dims,
                           .values = graph->values.count,
                           .nodes = graph->nodes.count,
                           .blocks = graph->blocks.count,
                           .origins = graph->origins.count,
                           .guards = graph->guards.count,
                           .current = graph->current};
    copy_dims(graph->arena, &mark.dims);
    return mark;
}

xpu_graph *xpu_graph_copy(xpu_arena *arena, const xpu_graph *graph) {
    xpu_graph *copy = xpu_copy(arena, graph, sizeof *graph);
    copy->arena = arena;
    copy_dims(arena, &copy->dims);
    COPY_ARRAY(arena, &copy->values);
    COPY_ARRAY(arena, &copy->nodes);
    COPY_ARRAY(arena, &copy->blocks);
    COPY_ARRAY(arena, &copy->origins);
    COPY_ARRAY(arena, &copy->inputs);
    COPY_ARRAY(arena, &copy->outputs);
    COPY_ARRAY(arena, &copy->states);
    COPY_ARRAY(arena, &copy->sources);
    COPY_ARRAY(arena, &copy->guards);
    copy->names = xpu_copy(arena, copy->names, copy->names_size * sizeof *copy->names);
    for (uint32_t i = 0; i < copy->values.count; i++) COPY_ARRAY(arena, &copy->values.items[i].uses);
    for (uint32_t i = 0; i < copy->nodes.count; i++) copy_node(arena, &copy->nodes.items[i]);
    for (uint32_t i = 0; i < copy->blocks.count; i++) {
        COPY_ARRAY(arena, &copy->blocks.items[i].arguments);
        COPY_ARRAY(arena, &copy->blocks.items[i].results);
    }
    return copy;
}
