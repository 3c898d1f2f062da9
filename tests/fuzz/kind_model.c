/* ONNX models: the whole compilation up to the generated C. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/ir/known.h"
#include "core/ops/control.h"
#include "frontend/onnx/onnx.h"
#include "tests/fuzz/hostile.h"
#include "tests/gen/random_cnn.h"
#include "xpuc/include/xpuc.h"

enum { FIXED = 3, GENERATED = 12 };
static hostile_file seeds[FIXED + GENERATED];

static void load_models(void) {
    hostile_load(&seeds[0], "tests/models/mnist-8.onnx");
    hostile_load(&seeds[1], "examples/digits/digits.onnx");
    hostile_load(&seeds[2], "examples/digits/digits_qdq.onnx");
    xpu_mem mem;
    xpu_mem_init(&mem);
    if (setjmp(mem.out_of_memory)) abort();
    for (uint64_t i = 0; i < GENERATED; i++) {
        xpu_arena *arena = xpu_arena_new(&mem, "network");
        xpu_random_network network;
        xpu_random_cnn(arena, 101 + i, &network);
        hostile_set(&seeds[FIXED + i], network.model, network.model_bytes);
        xpu_arena_free(arena);
    }
    xpu_mem_release(&mem);
}

/* Messages that contain themselves: graphs in attributes of nodes, types of sequences, and fields nobody knows. */
static void make_nested(hostile_random *random, hostile_file *file) {
    static const uint8_t graphs[] = {7, 1, 5, 6, 1, 5, 6}, types[] = {7, 11, 2, 4, 1, 9, 1}, unknown[] = {15};
    static const uint8_t functions[] = {25, 7, 5, 11};
    static const struct {
        const uint8_t *fields;
        size_t count;
    } ways[] = {{graphs, sizeof graphs},       {types, sizeof types}, {unknown, sizeof unknown},
                {functions, sizeof functions}, {graphs + 4, 3},       {types + 2, 4}};
    uint32_t way = hostile_below(random, sizeof ways / sizeof *ways);
    size_t depth = 1 + hostile_below(random, hostile_chance(random, 50) ? 300 : 200000);
    if (hostile_chance(random, 50)) hostile_set(file, seeds[0].data, seeds[0].size);
    hostile_nest_wire(file, ways[way].fields, ways[way].count, depth);
}

static void make_model(hostile_random *random, hostile_file *file) {
    uint32_t kind = hostile_below(random, 100);
    file->size = 0;
    if (kind < 5) {
        make_nested(random, file);
        return;
    }
    uint32_t which =
        hostile_chance(random, 20) ? hostile_below(random, FIXED) : FIXED + hostile_below(random, GENERATED);
    hostile_set(file, seeds[which].data, seeds[which].size);
    if (kind < 88)
        hostile_damage_wire(random, file);
    else
        hostile_damage(random, file);
}

static xpu_status import_bytes(xpu_arena *arena, const hostile_file *file, hostile_random *random, xpu_diags *diags) {
    xpu_graph *graph;
    (void)random;
    return xpu_onnx_import_bytes(arena, file->data, file->size, "hostile.onnx", NULL, &graph, diags);
}

/* Whether it may loop for long: more than a few times, or as often as data say. */
static int loops_for_long(xpu_graph *graph) {
    enum { FEW = 64 };
    XPU_FOR_ALL_NODES(graph, node) {
        if (!xpu_node_is(graph, node, XPU_OP_LOOP)) continue;
        xpu_value trips = xpu_node_input(graph, node, XPU_LOOP_TRIPS);
        xpu_dim known[XPU_MOST_KNOWN];
        int64_t count;
        if (!trips.id || xpu_value_as_dims(graph, trips, known) != 1) return 1;
        if (!xpu_dim_is_const(&graph->dims, known[0], &count) || count > FEW) return 1;
    }
    return 0;
}

/* Elements of all tensors together, at the smallest shape; infinite: the model is refused, or only for a chip is not.
 */
static double count_elements(const hostile_file *file, xpu_mem *mem, xpu_diags *diags) {
    xpu_graph *graph;
    double elements = 0;
    if (xpu_onnx_import_bytes(xpu_arena_new(mem, "hostile"), file->data, file->size, "hostile.onnx", NULL, &graph,
                              diags) != XPU_OK ||
        loops_for_long(graph))
        return HUGE_VAL;
    for (uint32_t id = 1; id < graph->values.count; id++) {
        double count = 1;
        const xpu_value_info *info = xpu_value_at(graph, (xpu_value){id});
        for (int i = 0; i < info->rank; i++) count *= (double)xpu_dim_eval(&graph->dims, info->dims[i], NULL);
        elements += count;
    }
    return elements;
}

/* Whether the reference runs it in a moment, with sanitizers: all tensors together are small, and loops short. */
static int is_small(const hostile_file *file) {
    enum { MOST_ELEMENTS = 1 << 20 };
    xpu_mem mem;
    xpu_diags diags;
    double elements;
    xpu_diags_init(&diags);
    xpu_mem_init(&mem);
    if (setjmp(mem.out_of_memory))
        elements = 0;
    else
        elements = count_elements(file, &mem, &diags);
    xpu_mem_release(&mem);
    xpu_diags_clear(&diags);
    return elements < MOST_ELEMENTS;
}

static void feed_model(hostile_random *random, const hostile_file *file, hostile_result *result) {
    static const char *const precisions[] = {"auto", "fp32", "int16"}, *const chips[] = {"nano", "standard", "pro"};
    if (hostile_chance(random, 10)) hostile_guard(result, "xpu_onnx_import_bytes", import_bytes, random, file);
    xpuc_options options = {.emit = hostile_chance(random, 90) ? "c" : "ir",
                            .precision = precisions[hostile_below(random, 3)],
                            .chip = chips[hostile_below(random, 3)],
                            .check_passes = hostile_chance(random, 5) && is_small(file),
                            .explain = hostile_chance(random, 20) ? "json" : NULL,
                            .resources = getenv("XPU_RESOURCES")};
    const char *path = hostile_save(file, ".onnx");
    xpuc_result compiled;
    xpuc_error error;
    xpuc_compile_file(path, &options, &compiled, &error);
    hostile_judge(result, "xpuc_compile_file", error.status, error.text);
    xpuc_result_clear(&compiled);
    xpuc_error_clear(&error);
    if (!hostile_chance(random, 5)) return;
    xpuc_describe(path, &options, &compiled, &error);
    hostile_judge(result, "xpuc_describe", error.status, error.text);
    xpuc_result_clear(&compiled);
    xpuc_error_clear(&error);
}

const hostile_kind hostile_model = {"model", ".onnx", load_models, make_model, feed_model};
