/* The graph of the model and the subgraphs in it: which names they define and see, and the order of their nodes. */
#include <inttypes.h>
#include <string.h>

#include "frontend/onnx/importer.h"

#define TEXT(importer, ...) xpu_printf((importer)->scratch, __VA_ARGS__)

static void fail(const xpu_onnx_importer *importer, const char *rule, const char *where, const char *what,
                 const char *why) {
    xpu_error(importer->diags, XPU_EMODEL, importer->source->name, rule,
              TEXT(importer, "%s%s", where, importer->scope->where), what, why, XPU_ONNX_CHECK_MODEL);
}

static const char *shown(const xpu_onnx_importer *importer, const char *name) {
    return xpu_escape(importer->scratch, name, 100);
}

/* ---- constants ---- */

void xpu_onnx_read_initialisers(xpu_onnx_importer *importer) {
    const xpu_onnx_graph_proto *graph = importer->scope->graph;
    for (size_t i = 0; i < graph->n_initializer; i++) {
        const char *name = graph->initializer[i]->name ? graph->initializer[i]->name : "";
        const char *where = TEXT(importer, "initializer '%s'", shown(importer, name));
        if (name[0] == '\0') {
            fail(importer, "onnx-tensor", TEXT(importer, "initializer %zu", i), "the tensor has no name",
                 "nodes refer to initializers by name");
            continue;
        }
        if (xpu_onnx_name_of(importer, name)->state != XPU_ONNX_NAME_UNKNOWN) {
            fail(importer, "onnx-name", where, "the name is defined twice", "names of tensors are unique in ONNX");
            continue;
        }
        xpu_value value = xpu_onnx_constant(importer, graph->initializer[i], name,
                                            TEXT(importer, "%s%s", where, importer->scope->where));
        xpu_onnx_name *entry = xpu_onnx_name_of(importer, name);
        entry->value = value;
        entry->state = value.id ? XPU_ONNX_NAME_READY : XPU_ONNX_NAME_FAILED;
    }
}

/* ---- what subgraphs use of the names around them ---- */

static void capture(xpu_onnx_importer *importer, const char *name, xpu_onnx_captures *captures) {
    if (!name || !name[0]) return;
    xpu_onnx_name *entry = xpu_onnx_name_of(importer, name);
    if (entry->state == XPU_ONNX_NAME_UNKNOWN && entry->uses++ == 0) {
        XPU_PUSH(importer->scratch, &captures->items, entry->name);
    }
}

static void find_captures(xpu_onnx_importer *importer, const xpu_onnx_node_proto *node, xpu_onnx_captures *captures);

/* Adds the names that `graph` uses and does not define. */
static void graph_captures(xpu_onnx_importer *importer, const xpu_onnx_graph_proto *graph,
                           xpu_onnx_captures *captures) {
    xpu_onnx_scope scope = {.graph = graph}, *around = importer->scope;
    importer->scope = &scope;
    for (size_t i = 0; i < graph->n_input; i++) {
        if (graph->input[i]->name) xpu_onnx_name_of(importer, graph->input[i]->name)->state = XPU_ONNX_NAME_READY;
    }
    for (size_t i = 0; i < graph->n_initializer; i++) {
        const char *name = graph->initializer[i]->name;
        if (name) xpu_onnx_name_of(importer, name)->state = XPU_ONNX_NAME_READY;
    }
    for (size_t i = 0; i < graph->n_node; i++) {
        const xpu_onnx_node_proto *node = graph->node[i];
        for (size_t k = 0; k < node->n_output; k++) {
            xpu_onnx_name_of(importer, node->output[k])->state = XPU_ONNX_NAME_READY;
        }
    }
    for (size_t i = 0; i < graph->n_node; i++) {
        const xpu_onnx_node_proto *node = graph->node[i];
        for (size_t k = 0; k < node->n_input; k++) capture(importer, node->input[k], captures);
        xpu_onnx_captures inner = {0};
        find_captures(importer, node, &inner);
        for (uint32_t k = 0; k < inner.items.count; k++) capture(importer, inner.items.items[k], captures);
    }
    for (size_t i = 0; i < graph->n_output; i++) capture(importer, graph->output[i]->name, captures);
    importer->scope = around;
}

static void find_captures(xpu_onnx_importer *importer, const xpu_onnx_node_proto *node, xpu_onnx_captures *captures) {
    for (size_t i = 0; i < node->n_attribute; i++) {
        if (node->attribute[i]->g) graph_captures(importer, node->attribute[i]->g, captures);
    }
}

/* ---- who makes each name, and how often it is used ---- */

static void scan_results(xpu_onnx_importer *importer, uint32_t index) {
    const xpu_onnx_node_proto *node = importer->scope->graph->node[index];
    for (size_t k = 0; k < node->n_output; k++) {
        if (!node->output[k][0]) continue;
        xpu_onnx_name *entry = xpu_onnx_name_of(importer, node->output[k]);
        if (entry->state != XPU_ONNX_NAME_UNKNOWN) {
            fail(importer, "onnx-name",
                 TEXT(importer, "result '%s' of node #%" PRIu32, shown(importer, node->output[k]), index),
                 "the name is defined twice", "names of tensors are unique in ONNX");
            continue;
        }
        entry->state = XPU_ONNX_NAME_PENDING;
        entry->producer = index;
    }
}

static void scan_nodes(xpu_onnx_importer *importer) {
    const xpu_onnx_graph_proto *graph = importer->scope->graph;
    importer->scope->captures = XPU_NEW_ARRAY(importer->scratch, xpu_onnx_captures, graph->n_node + 1);
    for (size_t i = 0; i < graph->n_node; i++) {
        const xpu_onnx_node_proto *node = graph->node[i];
        xpu_onnx_captures *captures = &importer->scope->captures[i];
        for (size_t k = 0; k < node->n_input; k++) {
            if (node->input[k][0]) xpu_onnx_name_of(importer, node->input[k])->uses++;
        }
        find_captures(importer, node, captures);
        for (uint32_t k = 0; k < captures->items.count; k++) {
            xpu_onnx_name_of(importer, captures->items.items[k])->uses++;
        }
        scan_results(importer, (uint32_t)i);
    }
    for (size_t i = 0; i < graph->n_output; i++) {
        if (graph->output[i]->name) xpu_onnx_name_of(importer, graph->output[i]->name)->uses++;
    }
}

/* ---- order of the nodes ---- */

enum { NODE_NEW, NODE_OPEN, NODE_DONE };

typedef struct {
    uint32_t node;
    size_t next; /* the operand, or name that a subgraph uses, to look at */
} visit;

/* The next operand of the open node whose maker is still to be read; 0 when there is none. */
static int next_maker(xpu_onnx_importer *importer, visit *top, const uint8_t *state, uint32_t *maker) {
    const xpu_onnx_node_proto *node = importer->scope->graph->node[top->node];
    const xpu_onnx_captures *captures = &importer->scope->captures[top->node];
    while (top->next < node->n_input + captures->items.count) {
        size_t at = top->next++;
        const char *name = at < node->n_input ? node->input[at] : captures->items.items[at - node->n_input];
        if (!name[0]) continue;
        xpu_onnx_name *entry = xpu_onnx_name_of(importer, name);
        if (entry->state != XPU_ONNX_NAME_PENDING) continue;
        if (state[entry->producer] == NODE_NEW) {
            *maker = entry->producer;
            return 1;
        }
        fail(importer, "onnx-cycle", TEXT(importer, "node #%" PRIu32, top->node), "the nodes form a cycle",
             TEXT(importer, "input '%s' depends on the node's own result", shown(importer, name)));
        entry->state = XPU_ONNX_NAME_FAILED;
    }
    return 0;
}

void xpu_onnx_read_nodes(xpu_onnx_importer *importer) {
    size_t count = importer->scope->graph->n_node;
    uint8_t *state = xpu_alloc(importer->scratch, count + 1);
    visit *stack = XPU_NEW_ARRAY(importer->scratch, visit, count + 1);
    scan_nodes(importer);
    for (uint32_t root = 0; root < count; root++) {
        if (state[root] != NODE_NEW) continue;
        size_t depth = 0;
        stack[depth++] = (visit){root, 0};
        state[root] = NODE_OPEN;
        while (depth > 0) {
            uint32_t maker = 0;
            if (next_maker(importer, &stack[depth - 1], state, &maker)) {
                state[maker] = NODE_OPEN;
                stack[depth++] = (visit){maker, 0};
                continue;
            }
            if (xpu_stopped(importer->arena)) {
                xpu_error_stopped(importer->diags, importer->source->name, NULL, "the model was being read");
                return;
            }
            uint32_t node = stack[--depth].node;
            xpu_onnx_read_node(importer, node);
            state[node] = NODE_DONE;
        }
    }
}

/* ---- subgraphs ---- */

/* The subgraph has the inputs and outputs that its node gives it. */
static int check_interface(const xpu_onnx_node *node, const char *name, const xpu_onnx_graph_proto *graph,
                           uint32_t arguments, uint32_t results) {
    if (!graph) {
        xpu_onnx_refuse(node, "onnx-attribute", xpu_onnx_format(node, "attribute '%s' is invalid", name),
                        "it is missing", NULL);
        return 0;
    }
    if (graph->n_input == arguments && graph->n_output == results) return 1;
    xpu_onnx_refuse(node, "onnx-operand", xpu_onnx_format(node, "the subgraph '%s' does not fit the node", name),
                    xpu_onnx_format(node, "it has %zu inputs and %zu outputs; %" PRIu32 " and %" PRIu32 " are needed",
                                    graph->n_input, graph->n_output, arguments, results),
                    NULL);
    return 0;
}

/* Names that come from the node. */
static void bind_arguments(xpu_onnx_importer *importer, const xpu_value *arguments) {
    const xpu_onnx_graph_proto *graph = importer->scope->graph;
    for (size_t i = 0; i < graph->n_input; i++) {
        const char *name = graph->input[i]->name ? graph->input[i]->name : "";
        if (!name[0]) continue;
        xpu_onnx_name *entry = xpu_onnx_name_of(importer, name);
        if (entry->state != XPU_ONNX_NAME_UNKNOWN) {
            fail(importer, "onnx-name", TEXT(importer, "input '%s'", shown(importer, name)),
                 "the name is defined twice", "names of tensors are unique in ONNX");
            continue;
        }
        entry->value = arguments[i];
        entry->state = arguments[i].id ? XPU_ONNX_NAME_READY : XPU_ONNX_NAME_FAILED;
    }
}

static int find_results(xpu_onnx_importer *importer, xpu_value *results) {
    const xpu_onnx_graph_proto *graph = importer->scope->graph;
    int ok = 1;
    for (size_t i = 0; i < graph->n_output; i++) {
        const char *name = graph->output[i]->name ? graph->output[i]->name : "";
        const xpu_onnx_name *entry = xpu_onnx_visible(importer, name);
        results[i] = entry && entry->state == XPU_ONNX_NAME_READY ? entry->value : (xpu_value){0};
        ok &= results[i].id != 0;
        if (entry) continue;
        fail(importer, "onnx-output", TEXT(importer, "output '%s'", shown(importer, name)), "the output is not defined",
             "no input, initializer or node has this name");
    }
    return ok;
}

/* Values made inside give way to the model's own names. */
static void release_names(xpu_graph *graph, uint32_t first) {
    for (uint32_t id = first; id < graph->values.count; id++) graph->values.items[id].has_made_name = 1;
}

int xpu_onnx_read_subgraph(xpu_onnx_node *node, const char *name, const xpu_value *arguments, uint32_t argument_count,
                           xpu_value *results, uint32_t result_count) {
    xpu_onnx_importer *importer = node->importer;
    const xpu_onnx_graph_proto *graph = xpu_onnx_attr_graph(node, name);
    memset(results, 0, result_count * sizeof *results);
    if (!check_interface(node, name, graph, argument_count, result_count)) return 0;
    xpu_onnx_scope scope = {.outer = importer->scope, .graph = graph};
    scope.prefix = xpu_onnx_format(node, "%s/%s/", node->name, name);
    scope.within = importer->scope->outer ? importer->scope->within : node->index;
    scope.where = xpu_onnx_format(node, " in %s of %s", name, node->build.where);
    uint32_t first = importer->graph->values.count;
    importer->scope = &scope;
    xpu_onnx_read_initialisers(importer);
    bind_arguments(importer, arguments);
    xpu_onnx_read_nodes(importer);
    int ok = find_results(importer, results);
    release_names(importer->graph, first);
    importer->scope = scope.outer;
    return ok;
}
