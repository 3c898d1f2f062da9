/* What the target adds to --report: layers with their precision and why, clang's cost, memory per level. */
#include "xpu_codegen/pack/report.h"

#include "base/json.h"
#include "memplan/report.h"
#include "xpu_codegen/emit/toolchain.h"
#include "xpu_runtime/program/largest_shape.h"
#include "xpu_codegen/lower/buffers.h"
#include "xpu_codegen/lower/layers.h"
#include "xpu_codegen/lower/layer_cost.h"
#include "xpu_codegen/shuffle.h"

static const double MOST_EXACT = 9e15; /* that a number in JSON holds */

static void report_layer(xpu_codegen *cg, json_t *list, uint32_t index) {
    const xpu_program_layer *layer = &cg->program.layers.items[index];
    json_t *item = xpu_json_append(cg->arena, list, json_object());
    xpu_json_set(cg->arena, item, "index", json_integer(index));
    xpu_json_set(cg->arena, item, "name", json_string(xpu_escape(cg->arena, layer->name, XPU_REPORTED_NAME)));
    xpu_json_set(cg->arena, item, "unit", json_string(xpu_unit_name(layer->unit)));
    xpu_json_set(cg->arena, item, "kernel", json_string(layer->kernel));
    if (layer->reason)
        xpu_json_set(cg->arena, item, "reason", json_string(xpu_escape_message(cg->arena, layer->reason, 400)));
    xpu_json_set(cg->arena, item, "macs", json_string(xpu_dim_text(&cg->graph->dims, layer->macs, cg->arena)));
    double cycles = xpu_layer_cycles(cg, index);
    if (cycles > 0 && cycles < MOST_EXACT)
        xpu_json_set(cg->arena, item, "modelled_cycles", json_integer((json_int_t)cycles));
    json_t *nodes = xpu_json_set(cg->arena, item, "nodes", json_array());
    if (!layer->node.id) return; /* copies of weights */
    const xpu_node_info *node = xpu_node_at(cg->graph, layer->node);
    const char *result = layer->output_count ? xpu_value_at(cg->graph, layer->outputs[0])->name : NULL;
    if (result) xpu_json_set(cg->arena, item, "result", json_string(xpu_escape(cg->arena, result, XPU_REPORTED_NAME)));
    xpu_json_set(cg->arena, item, "op", json_string(node->op->name));
    xpu_json_set(cg->arena, item, "precision", json_string(xpu_node_precision(cg->graph, layer->node)));
    for (uint32_t i = 0; i < node->origins.count; i++) {
        const char *name = cg->graph->origins.items[node->origins.items[i]].name;
        xpu_json_append(cg->arena, nodes, json_string(xpu_escape(cg->arena, name ? name : "", XPU_REPORTED_NAME)));
    }
}

/* Of its elements, not of the room that it lies in. */
static double bytes_of(xpu_codegen *cg, xpu_value value) {
    const xpu_value_info *info = xpu_value_at(cg->graph, value);
    const xpu_dim count = xpu_dims_product(cg, value, 0, info->rank);
    return (double)xpu_dim_upper(cg, count) * (double)xpu_dtype_bytes(info->dtype);
}

/* Whether a concat has to copy operand i. */
static int is_copied(xpu_codegen *cg, xpu_node concat, uint32_t i) {
    const xpu_value y = xpu_node_output(cg->graph, concat, 0);
    const xpu_extent *extent = xpu_extent_of(cg, y);
    if (cg->layer_of[concat.id] < 0 || (i == 0 && extent && extent->is_appended)) return 0;
    return !xpu_is_among_channels(cg, xpu_node_input(cg->graph, concat, i), y);
}

/* What concats join and slices cut out on the chip, and what of it is copied, at the upper ends of dims. Slices that
 * copy what they are of a shuffle do what the shuffle has to do. */
static void report_joins(xpu_codegen *cg, json_t *top) {
    double all = 0, copied = 0;
    XPU_FOR_ALL_NODES(cg->graph, node) {
        if (!xpu_on_chip(cg, node)) continue;
        const int is_slice = xpu_node_is(cg->graph, node, XPU_OP_SLICE);
        const double part = is_slice ? bytes_of(cg, xpu_node_output(cg->graph, node, 0)) : 0;
        all += part;
        xpu_shuffle shuffle;
        if (is_slice && cg->layer_of[node.id] >= 0 && !xpu_slices_shuffle(cg, node, &shuffle)) copied += part;
        if (!xpu_node_is(cg->graph, node, XPU_OP_CONCAT)) continue;
        for (uint32_t i = 0; i < xpu_node_at(cg->graph, node)->input_count; i++) {
            const double bytes = bytes_of(cg, xpu_node_input(cg->graph, node, i));
            all += bytes;
            copied += is_copied(cg, node, i) ? bytes : 0;
        }
    }
    if (all >= MOST_EXACT) return;
    json_t *joins = xpu_json_set(cg->arena, top, "joins", json_object());
    xpu_json_set(cg->arena, joins, "bytes", json_integer((json_int_t)all));
    xpu_json_set(cg->arena, joins, "copied_bytes", json_integer((json_int_t)copied));
}

static void report_memory(xpu_codegen *cg, json_t *top) {
    json_t *plan = xpu_memplan_json(cg->arena, &cg->memory->placement.problem, cg->memory->plan);
    const xpu_dims *dims = &cg->graph->dims;
    json_t *symbols = xpu_json_set(cg->arena, plan, "symbols", json_object());
    for (uint32_t i = 0; i < dims->symbols.count; i++) {
        const char *name = xpu_escape(cg->arena, dims->symbols.items[i].name, 120);
        xpu_json_set(cg->arena, symbols, name, json_integer(cg->memory->symbols[i]));
    }
    xpu_json_set(cg->arena, top, "memory", json_incref(plan));
}

void xpu_report_program(xpu_codegen *cg, void *report, int packed) {
    json_t *top = report;
    if (json_is_true(json_object_get(top, "brief"))) {
        xpu_json_set(cg->arena, top, "layers", json_integer(cg->program.layers.count));
        return;
    }
    xpu_json_set(cg->arena, top, "chip", json_string(cg->chip.name));
    xpu_json_set(cg->arena, top, "precision", json_string(cg->program.precision));
    xpu_json_set(cg->arena, top, "weights_bytes", json_integer((json_int_t)cg->program.weights_bytes));
    xpu_json_set(cg->arena, top, "plan_words", json_integer(cg->program.plan.count));
    if (packed) {
        xpu_json_set(cg->arena, top, "clang", json_string(cg->clang->version));
        xpu_json_set(cg->arena, top, "clang_seconds", json_real(cg->clang->seconds));
        xpu_json_set(cg->arena, top, "clang_peak_rss_bytes", json_integer((json_int_t)cg->clang->peak_rss_bytes));
        xpu_json_set(cg->arena, top, "plan_seconds", json_real(cg->plan_seconds));
        report_memory(cg, top);
    }
    xpu_json_set(cg->arena, top, "peak_rss_bytes", json_integer((json_int_t)xpu_peak_rss_bytes()));
    report_joins(cg, top);
    json_t *layers = xpu_json_set(cg->arena, top, "layers", json_array());
    for (uint32_t i = 0; i < cg->program.layers.count; i++) report_layer(cg, layers, i);
}
