/* Operators that hold subgraphs. */
#include <string.h>

#include "frontend/onnx/importer.h"

/* Whether the condition is known, and what it is; -1 after reporting. */
static int known_condition(const xpu_onnx_node *node, xpu_value condition, int *is_true) {
    const xpu_onnx_importer *importer = node->importer;
    const xpu_value_info *info = xpu_onnx_info(node, condition);
    xpu_tensor tensor;
    if (info->dtype != XPU_BOOL) {
        xpu_onnx_refuse(node, "onnx-dtype", xpu_onnx_format(node, "the condition is %s", xpu_dtype_name(info->dtype)),
                        "bool is expected", NULL);
        return -1;
    }
    if (!info->constant) return 0;
    if (xpu_const_tensor(importer->graph, condition, importer->scratch, &tensor, importer->diags) != XPU_OK) return -1;
    if (xpu_tensor_count(&tensor) != 1) {
        xpu_onnx_refuse(
            node, "onnx-operand", "the condition is invalid",
            xpu_onnx_format(node, "it has shape %s; one element is expected", fe_shape_text(&node->build, condition)),
            NULL);
        return -1;
    }
    *is_true = *(const uint8_t *)tensor.data != 0;
    return 1;
}

/* ---- bodies ---- */

/* Subgraphs by the names of their attributes. */
typedef struct {
    xpu_onnx_node *node;
    const char *const *names;
    const uint32_t argument_count, result_count;
} subgraphs;

static int read_body(void *context, uint32_t body, const xpu_value *arguments, xpu_value *results, xpu_diags *diags) {
    subgraphs *s = context;
    xpu_onnx_importer *importer = s->node->importer;
    xpu_diags *around = importer->diags;
    importer->diags = s->node->build.diags = diags;
    int ok = xpu_onnx_read_subgraph(s->node, s->names[body], arguments, s->argument_count, results, s->result_count);
    importer->diags = s->node->build.diags = around;
    return ok;
}

static xpu_value fail(xpu_onnx_node *node) {
    node->results[0] = (xpu_value){0};
    return node->results[0];
}

/* The result of a node with its own name where others want it. */
static xpu_value first_result(xpu_onnx_node *node, int ok) {
    return ok ? node->results[0] : fail(node);
}

/* ---- if ---- */

static xpu_value undecided(xpu_onnx_node *node) {
    static const char *const names[] = {"then_branch", "else_branch"};
    const uint32_t count = (uint32_t)node->proto->n_output;
    subgraphs s = {.node = node, .names = names, .result_count = count};
    return first_result(node, fe_if(&node->build, node->inputs[0], &(fe_bodies){read_body, &s}, count, node->results));
}

/* The branch that is taken stands in place of the node where that is known; the other one is not looked at. */
xpu_value xpu_onnx_convert_if(xpu_onnx_node *node) {
    int is_true = 0, known = known_condition(node, node->inputs[0], &is_true);
    if (known < 0) return (xpu_value){0};
    if (known == 0) return undecided(node);
    const char *branch = is_true ? "then_branch" : "else_branch";
    if (!xpu_onnx_read_subgraph(node, branch, NULL, 0, node->results, (uint32_t)node->proto->n_output)) {
        node->results[0] = (xpu_value){0};
    }
    return node->results[0];
}

/* ---- loop ---- */

/* What a body gets has to be there. 0 after reporting. */
static int has_inputs(const xpu_onnx_node *node, uint32_t first) {
    for (uint32_t i = first; i < node->input_count; i++) {
        if (node->inputs[i].id) continue;
        xpu_onnx_refuse(node, "onnx-operand", xpu_onnx_format(node, "input %u is missing", i),
                        xpu_onnx_format(node, "%s-%d requires it", node->row->name, node->version), NULL);
        return 0;
    }
    return 1;
}

/* The rank that the body declares for an argument, 0 or 1; onnxruntime gives it what is declared. */
static int declared_rank(const xpu_onnx_graph_proto *graph, size_t input) {
    const XpuOnnx__TypeProto *type = graph && input < graph->n_input ? graph->input[input]->type : NULL;
    const XpuOnnx__TensorShapeProto *shape = type && type->tensor_type ? type->tensor_type->shape : NULL;
    return shape && shape->n_dim == 1;
}

xpu_value xpu_onnx_convert_loop(xpu_onnx_node *node) {
    static const char *const names[] = {"body"};
    const xpu_onnx_graph_proto *graph = xpu_onnx_attr_graph(node, names[0]);
    const uint32_t own = 2, carried = node->input_count > own ? node->input_count - own : 0;
    const uint32_t count = (uint32_t)node->proto->n_output;
    if (!has_inputs(node, own)) return fail(node);
    if (count < carried) {
        return xpu_onnx_refuse(node, "onnx-operand", "the number of results is invalid",
                               xpu_onnx_format(node, "there are %u carried values and %u results", carried, count),
                               NULL);
    }
    subgraphs s = {.node = node, .names = names, .argument_count = own + carried, .result_count = 1 + count};
    fe_looping loop = {.trips = xpu_onnx_optional(node, 0),
                       .condition = xpu_onnx_optional(node, 1),
                       .iteration_rank = declared_rank(graph, 0),
                       .condition_rank = declared_rank(graph, 1),
                       .first = node->inputs + own,
                       .carried_count = carried,
                       .stacked_count = count - carried};
    return first_result(node, fe_loop(&node->build, &loop, &(fe_bodies){read_body, &s}, node->results));
}

/* ---- scan ---- */

/* Axes or directions of `count` inputs or outputs; 0 after reporting. */
static int scan_ways(const xpu_onnx_node *node, const char *axes_name, const char *directions_name, uint32_t count,
                     fe_scan_way *ways) {
    fe_ints axes = axes_name ? xpu_onnx_attr_ints(node, axes_name) : (fe_ints){0};
    fe_ints directions = xpu_onnx_attr_ints(node, directions_name);
    const char *wrong = axes.items && axes.count != count               ? axes_name
                        : directions.items && directions.count != count ? directions_name
                                                                        : NULL;
    for (uint32_t i = 0; i < count && !wrong; i++) {
        int64_t direction = directions.items ? directions.items[i] : 0;
        ways[i] = (fe_scan_way){.axis = axes.items ? axes.items[i] : 0, .backward = direction == 1};
        if (direction != 0 && direction != 1) wrong = directions_name;
    }
    if (!wrong) return 1;
    xpu_onnx_refuse(node, "onnx-attribute", xpu_onnx_format(node, "attribute '%s' is invalid", wrong),
                    xpu_onnx_format(node, "%u entries are needed, and a direction is 0 or 1", count), NULL);
    return 0;
}

/* Scan-8: everything has a first dim, the batch, and each entry of it is scanned alone. */
typedef struct {
    xpu_onnx_node *node;
    const fe_scanning *scan;
    const fe_bodies *bodies;
} batch;

static int read_entry(void *context, uint32_t body, const xpu_value *arguments, xpu_value *results, xpu_diags *diags) {
    batch *s = context;
    (void)body;
    fe_builder b = s->node->build;
    fe_scanning one = *s->scan;
    b.diags = diags;
    b.names = (const char *const[]){""};
    b.name_count = 1;
    one.states = arguments;
    one.inputs = arguments + one.state_count;
    return fe_scan(&b, &one, s->bodies, results);
}

static int scan_batch(xpu_onnx_node *node, const fe_scanning *scan, const fe_bodies *bodies) {
    const uint32_t inputs = scan->state_count + scan->input_count, outputs = scan->state_count + scan->output_count;
    fe_scan_way *ways = XPU_NEW_ARRAY(node->importer->scratch, fe_scan_way, inputs + outputs + 1); /* axis 0, forward */
    batch entries = {node, scan, bodies};
    fe_scanning all = {.inputs = scan->states,
                       .input_ways = ways,
                       .input_count = inputs,
                       .output_count = outputs,
                       .output_ways = ways};
    return fe_scan(&node->build, &all, &(fe_bodies){read_entry, &entries}, node->results);
}

xpu_value xpu_onnx_convert_scan(xpu_onnx_node *node) {
    static const char *const names[] = {"body"};
    const int has_batch = node->version < 9;
    const uint32_t own = has_batch ? 1 : 0, operands = node->input_count - own;
    const uint32_t count = (uint32_t)node->proto->n_output;
    const int64_t scanned = xpu_onnx_attr_int(node, "num_scan_inputs", 0);
    if (!has_inputs(node, own)) return fail(node);
    if (scanned < 1 || scanned > operands || operands - scanned > count) {
        return xpu_onnx_refuse(node, "onnx-attribute", "attribute 'num_scan_inputs' is invalid",
                               xpu_onnx_format(node, "it is %lld; there are %u operands and %u results",
                                               (long long)scanned, operands, count),
                               NULL);
    }
    if (has_batch && xpu_onnx_has_input(node, 0)) {
        return xpu_onnx_refuse(node, "onnx-unsupported-form", "the operand 'sequence_lens' is given",
                               "sequences of one length are supported", "leave it out");
    }
    const uint32_t states = operands - (uint32_t)scanned, outputs = count - states;
    fe_scan_way *ways = XPU_NEW_ARRAY(node->importer->scratch, fe_scan_way, operands + count + 1);
    if (!scan_ways(node, has_batch ? NULL : "scan_input_axes", has_batch ? "directions" : "scan_input_directions",
                   (uint32_t)scanned, ways) ||
        (!has_batch && !scan_ways(node, "scan_output_axes", "scan_output_directions", outputs, ways + operands))) {
        return fail(node);
    }
    subgraphs s = {.node = node, .names = names, .argument_count = operands, .result_count = count};
    fe_scanning scan = {.states = node->inputs + own,
                        .state_count = states,
                        .inputs = node->inputs + own + states,
                        .input_ways = ways,
                        .input_count = (uint32_t)scanned,
                        .output_count = outputs,
                        .output_ways = ways + operands};
    fe_bodies bodies = {read_body, &s};
    return first_result(node, has_batch ? scan_batch(node, &scan, &bodies)
                                        : fe_scan(&node->build, &scan, &bodies, node->results));
}
