/*
 * Models of every operator: a few nodes of a network of tests/sweep, with their inputs and constants, damaged. What the
 * importer takes in new operators, element types and forms is fed here as soon as its network is recorded. And whole
 * networks as people have them: what takes many operators to one layer (norms and attention that are written out,
 * products that merge) is in no cut of a few.
 */
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "frontend/onnx/onnx.pb-c.h"
#include "tests/fuzz/hostile.h"

typedef struct {
    hostile_file *files;
    uint32_t count;
} network_list;

static network_list networks, whole_networks;

static void load_list(network_list *list, const char *pattern, const char *more) {
    glob_t found;
    if (list->count || glob(pattern, 0, NULL, &found) != 0) return;
    if (more && glob(more, GLOB_APPEND, NULL, &found) != 0) abort();
    list->files = calloc(found.gl_pathc, sizeof *list->files);
    if (!list->files) abort();
    for (size_t i = 0; i < found.gl_pathc; i++) hostile_load(&list->files[i], found.gl_pathv[i]);
    list->count = (uint32_t)found.gl_pathc;
    globfree(&found);
}

static void load_networks(void) {
    load_list(&networks, "tests/sweep/*.onnx", NULL);
    load_list(&whole_networks, "tests/networks/*.onnx", "tests/regress/attention/*.onnx");
}

/* Whether a node among the first `count` of the graph reads (or, with `results`, makes) the tensor. */
static int has_name(const XpuOnnx__GraphProto *graph, size_t count, const char *name, int results) {
    for (size_t i = 0; i < count; i++) {
        const XpuOnnx__NodeProto *node = graph->node[i];
        size_t names = results ? node->n_output : node->n_input;
        for (size_t k = 0; k < names; k++) {
            if (strcmp((results ? node->output : node->input)[k], name) == 0) return 1;
        }
    }
    return 0;
}

/* Moves the values that the first `nodes` nodes read or make to the front; returns how many. */
static size_t keep_values(const XpuOnnx__GraphProto *graph, XpuOnnx__ValueInfoProto **values, size_t count,
                          size_t nodes, int results) {
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        if (!has_name(graph, nodes, values[i]->name, results)) continue;
        XpuOnnx__ValueInfoProto *other = values[kept];
        values[kept++] = values[i];
        values[i] = other;
    }
    return kept;
}

void hostile_cut(hostile_random *random, hostile_file *file) {
    load_networks();
    const hostile_file *whole = &networks.files[hostile_below(random, networks.count)];
    XpuOnnx__ModelProto *model = xpu_onnx__model_proto__unpack(NULL, whole->size, whole->data);
    if (!model) abort();
    XpuOnnx__GraphProto *graph = model->graph, all = *graph;
    size_t nodes = 1 + hostile_below(random, 4), first = hostile_below(random, (uint32_t)graph->n_node);
    if (nodes > graph->n_node) nodes = graph->n_node;
    if (first + nodes > graph->n_node) first = graph->n_node - nodes;
    graph->node += first;
    graph->n_node = nodes;
    graph->n_input = keep_values(graph, graph->input, all.n_input, nodes, 0);
    graph->n_output = keep_values(graph, graph->output, all.n_output, nodes, 1);
    graph->n_value_info = keep_values(graph, graph->value_info, all.n_value_info, nodes, 1);
    size_t kept = 0;
    for (size_t i = 0; i < all.n_initializer; i++) {
        XpuOnnx__TensorProto *tensor = graph->initializer[i];
        if (!has_name(graph, nodes, tensor->name, 0)) continue;
        graph->initializer[i] = graph->initializer[kept];
        graph->initializer[kept++] = tensor;
    }
    graph->n_initializer = kept;
    uint8_t *bytes = malloc(xpu_onnx__model_proto__get_packed_size(model));
    if (!bytes) abort();
    hostile_set(file, bytes, xpu_onnx__model_proto__pack(model, bytes));
    free(bytes);
    *graph = all;
    xpu_onnx__model_proto__free_unpacked(model, NULL);
}

static void make_operators(hostile_random *random, hostile_file *file) {
    if (hostile_chance(random, 20)) {
        const hostile_file *whole = &whole_networks.files[hostile_below(random, whole_networks.count)];
        hostile_set(file, whole->data, whole->size);
    } else {
        hostile_cut(random, file);
        if (hostile_chance(random, 5)) return;
    }
    hostile_damage_wire(random, file);
}

static void feed_operators(hostile_random *random, const hostile_file *file, hostile_result *result) {
    hostile_model.feed(random, file, result);
}

const hostile_kind hostile_operators = {"operators", ".onnx", load_networks, make_operators, feed_operators};
