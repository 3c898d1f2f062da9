/* Blocks of the graph as graphs of ONNX: nodes, inputs and outputs, branches and loops. */
#include <string.h>

#include "convert/onnx_writer.h"
#include "core/ops/control.h"

/* ---- types ---- */

static XpuOnnx__TensorShapeProto__Dimension *dimension(ow *w, xpu_dim dim) {
    XpuOnnx__TensorShapeProto__Dimension *made = XPU_NEW(w->arena, XpuOnnx__TensorShapeProto__Dimension);
    xpu_onnx__tensor_shape_proto__dimension__init(made);
    int64_t value;
    if (xpu_dim_is_const(&w->graph->dims, dim, &value)) {
        made->has_dim_value = 1;
        made->dim_value = value;
    } else if (dim.id) {
        const char *text = xpu_dim_text(&w->graph->dims, dim, w->arena);
        made->dim_param = (char *)(xpu_is_utf8(text) ? text : xpu_escape(w->arena, text, 400));
    }
    return made;
}

XpuOnnx__ValueInfoProto *ow_value_info(ow *w, xpu_value value, const char *name) {
    const xpu_value_info *info = xpu_value_at(w->graph, value);
    XpuOnnx__ValueInfoProto *made = XPU_NEW(w->arena, XpuOnnx__ValueInfoProto);
    xpu_onnx__value_info_proto__init(made);
    made->name = xpu_strdup(w->arena, name);
    made->type = XPU_NEW(w->arena, XpuOnnx__TypeProto);
    xpu_onnx__type_proto__init(made->type);
    made->type->tensor_type = XPU_NEW(w->arena, XpuOnnx__TypeProto__Tensor);
    xpu_onnx__type_proto__tensor__init(made->type->tensor_type);
    made->type->tensor_type->has_elem_type = 1;
    made->type->tensor_type->elem_type = ow_type(info->dtype);
    XpuOnnx__TensorShapeProto *shape = XPU_NEW(w->arena, XpuOnnx__TensorShapeProto);
    xpu_onnx__tensor_shape_proto__init(shape);
    made->type->tensor_type->shape = shape;
    shape->dim = XPU_NEW_ARRAY(w->arena, XpuOnnx__TensorShapeProto__Dimension *, info->rank + 1);
    for (int i = 0; i < info->rank; i++) shape->dim[shape->n_dim++] = dimension(w, info->dims[i]);
    return made;
}

/* ---- blocks ---- */

static XpuOnnx__ValueInfoProto **value_infos(ow *w, const xpu_value *values, uint32_t count, const char *const *names) {
    XpuOnnx__ValueInfoProto **list = XPU_NEW_ARRAY(w->arena, XpuOnnx__ValueInfoProto *, count + 1);
    for (uint32_t i = 0; i < count; i++)
        list[i] = ow_value_info(w, values[i], names ? names[i] : ow_name(w, values[i]));
    return list;
}

static void set_nodes(ow *w, ow_graph *graph, ow_nodes *nodes) {
    graph->n_node = nodes->count;
    /* Lists that grow later double where their length is a power of two. */
    size_t room = 1;
    while (room < nodes->count) room *= 2;
    graph->node = XPU_NEW_ARRAY(w->arena, ow_node *, room);
    if (nodes->count) memcpy(graph->node, nodes->items, nodes->count * sizeof *graph->node);
}

/* Lists that a loop's count may be added to. */
static void *with_room(ow *w, void *list, size_t count) {
    size_t room = 1;
    while (room < count) room *= 2;
    void **made = XPU_NEW_ARRAY(w->arena, void *, room);
    if (count) memcpy(made, list, count * sizeof *made);
    return made;
}

static void write_nodes(ow *w, xpu_block block) {
    XPU_FOR_BLOCK_NODES(w->graph, block, node) ow_write_node(w, node);
}

/* Results of a body are made in it, each one once. */
static const char *body_result(ow *w, xpu_block block, const xpu_value *results, uint32_t index) {
    const xpu_value value = results[index];
    const xpu_value_info *info = xpu_value_at(w->graph, value);
    int own = info->kind == XPU_VALUE_NODE && xpu_value_block(w->graph, value).id == block.id;
    for (uint32_t i = 0; i < index; i++) own &= results[i].id != value.id;
    return own ? ow_name(w, value) : ow_unary(w, ow_new_name(w, "result"), "Identity", ow_name(w, value));
}

ow_graph *ow_write_block(ow *w, xpu_block block, const char *name) {
    const xpu_block_info body = *xpu_block_at(w->graph, block);
    const uint32_t known = w->dims_made.count, arguments = w->arguments.count;
    for (uint32_t i = 0; i < body.arguments.count; i++) XPU_PUSH(w->arena, &w->arguments, body.arguments.items[i]);
    ow_graph *graph = XPU_NEW(w->arena, ow_graph);
    ow_nodes nodes = {0}, *around = w->nodes;
    xpu_onnx__graph_proto__init(graph);
    graph->name = xpu_strdup(w->arena, name);
    w->nodes = &nodes;
    graph->input = with_room(w, value_infos(w, body.arguments.items, body.arguments.count, NULL), body.arguments.count);
    graph->n_input = body.arguments.count;
    write_nodes(w, block);
    const char **names = XPU_NEW_ARRAY(w->arena, const char *, body.results.count + 1);
    for (uint32_t i = 0; i < body.results.count; i++) names[i] = body_result(w, block, body.results.items, i);
    graph->output = with_room(w, value_infos(w, body.results.items, body.results.count, names), body.results.count);
    graph->n_output = body.results.count;
    set_nodes(w, graph, &nodes);
    w->nodes = around;
    w->arguments.count = arguments;
    while (w->dims_made.count > known) { /* sizes that were computed inside are not known outside */
        const ow_known_dim made = w->dims_made.items[--w->dims_made.count];
        w->dims.items[made.dim] = made.before;
    }
    return graph;
}

/* ---- control flow ---- */

static ow_node *begin(ow *w, const char *op) {
    ow_node *node = XPU_NEW(w->arena, ow_node);
    xpu_onnx__node_proto__init(node);
    node->op_type = xpu_strdup(w->arena, op);
    return node;
}

static void end(ow *w, ow_node *node, uint32_t results) {
    for (uint32_t i = 0; i < results; i++) ow_result(w, node, ow_out(w, i));
    node->name = results ? node->output[0] : NULL;
    XPU_PUSH(w->arena, w->nodes, node);
}

void ow_write_if(ow *w, const ow_row *row) {
    const xpu_node_info info = *xpu_node_at(w->graph, w->node);
    ow_node *node = begin(w, row->name);
    ow_input(w, node, ow_in(w, XPU_IF_CONDITION));
    ow_body(w, node, "then_branch", ow_write_block(w, info.blocks[XPU_THEN], "then"));
    ow_body(w, node, "else_branch", ow_write_block(w, info.blocks[XPU_ELSE], "else"));
    end(w, node, info.output_count);
}

void ow_write_loop(ow *w, const ow_row *row) {
    const xpu_loop loop = xpu_loop_of(w->graph, w->node);
    const xpu_node_info info = *xpu_node_at(w->graph, w->node);
    ow_node *node = begin(w, row->name);
    for (uint32_t i = 0; i < XPU_LOOP_FIRST + loop.carried; i++) ow_input(w, node, ow_in(w, i));
    ow_graph *body = ow_write_block(w, loop.body, "body");
    ow_body(w, node, "body", body);
    end(w, node, info.output_count - 1); /* the last one counts iterations: ONNX does not */
    node->output = with_room(w, node->output, node->n_output);
    node->input = with_room(w, node->input, node->n_input);
    ow_loop made = {
        .count = info.outputs[xpu_loop_count_result(&loop)], .node = node, .body = body, .carried = loop.carried};
    XPU_PUSH(w->arena, &w->loops, made);
}
