#include "xpu_codegen/lower/behind.h"

#include <stddef.h>

#include "core/passes/rewrite.h"
#include "xpu_codegen/choose/byte_tasks.h"
#include "xpu_codegen/choose/listed.h"
#include "xpu_codegen/choose/rings.h"
#include "xpu_codegen/lower/beside.h"
#include "xpu_codegen/lower/buffers.h"
#include "xpu_codegen/lower/layer_cost.h"
#include "xpu_codegen/lower/layers.h"
#include "xpu_codegen/values.h"

/* Another number in the only call of the layer before, whose words are the plan table's last. */
static void change_argument(xpu_codegen *cg, size_t offset, int32_t value) {
    const size_t words = sizeof(struct xpu_window_i8_args) / sizeof(uint32_t);
    cg->program.plan.items[cg->program.plan.count - words + offset / sizeof(uint32_t)] =
        (xpu_plan_word){.kind = XPU_WORD_CONST, .bits = (uint32_t)value};
}

#define CHANGE(member, value) change_argument(cg, offsetof(struct xpu_window_i8_args, member), value)

/* Whether windows alone read what the node makes: they are its own pipeline. */
static int windows_follow(xpu_codegen *cg, xpu_node node) {
    const xpu_graph *graph = cg->graph;
    if (!xpu_used_once(graph, node)) return 0;
    const xpu_node reader = xpu_value_at(graph, xpu_node_output(graph, node, 0))->uses.items[0].node;
    if (xpu_node_is(graph, reader, XPU_OP_MAX_POOL)) return xpu_on_chip(cg, reader);
    if (xpu_node_at(graph, reader)->op != xpu_node_at(graph, node)->op || !xpu_on_chip(cg, reader)) return 0;
    return xpu_is_byte_depthwise(cg, reader);
}

/* Whether the product may read the windows' results in SM; NULL, or why it may not. */
static const char *can_read(xpu_codegen *cg, uint32_t layer, xpu_node node, const xpu_conv_shape *s) {
    const xpu_graph *graph = cg->graph;
    const xpu_codegen_layer *windows = &cg->layers.items[layer - 1];
    const xpu_value x = xpu_node_input(graph, node, XPU_IN_X), bias = xpu_node_input(graph, node, XPU_IN_BIAS);
    if (xpu_value_at(graph, x)->node.id != windows->node.id || !xpu_used_once(graph, windows->node) ||
        xpu_value_leaves_program(cg, x))
        return "others read what those make";
    if (!xpu_is_const_value(cg, xpu_node_input(graph, node, XPU_IN_WSCALE)) ||
        (bias.id && !xpu_is_const_value(cg, bias)))
        return "a layer makes bias or factors";
    if (s->kernel[0] != 1 || s->kernel[1] != 1 || s->stride[0] != 1 || s->stride[1] != 1 || s->groups != 1 ||
        s->begin[0] || s->begin[1] || s->quantised)
        return "it is no product of single pixels";
    if (!xpu_dim_equal(s->out_h, s->in_h) || !xpu_dim_equal(s->out_w, s->in_w)) return "it has other pixels";
    return windows_follow(cg, node) ? "windows over its result go with it" : NULL;
}

static xpu_behind behind_of(const xpu_codegen *cg, xpu_node node, const xpu_conv_shape *s, const xpu_tiles *tiles) {
    return (xpu_behind){s, tiles->items[0].tile_c, xpu_node_input(cg->graph, node, XPU_IN_BRANCH).id != 0};
}

static const char *choose_behind(xpu_codegen *cg, uint32_t layer, xpu_node node, const xpu_conv_shape *s,
                                 const xpu_tiles *tiles, xpu_row_pipeline *found) {
    const xpu_codegen_layer *windows = &cg->layers.items[layer - 1], *first = &cg->layers.items[layer - 2];
    const char *why_not = can_read(cg, layer, node, s);
    if (why_not) return why_not;
    const xpu_conv_shape product = xpu_conv_shape_of(cg, first->node);
    const xpu_behind behind = behind_of(cg, node, s, tiles);
    const char *why = xpu_choose_ring(cg, &product, first->tiles->items[0].tile_c, windows->windows, &behind, found);
    if (why) return why;
    const double apart = first->ring_cycles + xpu_product_cycles(cg, &tiles->items[0]);
    return found->cycles < apart ? NULL : "one behind the other is faster";
}

static void say(xpu_codegen *cg, uint32_t layer, const char *why, const char *maker) {
    cg->program.layers.items[layer].reason =
        why ? xpu_printf(cg->arena, "behind '%s', not beside it: %s", maker, why)
            : xpu_printf(cg->arena, "with '%s', which makes its input, row by row in shared memory", maker);
}

/* The scratch of the `first` layer of a pipeline is that of this one, too. */
static void share_scratch(xpu_codegen *cg, uint32_t layer, uint32_t first, const xpu_tiles *tiles,
                          const xpu_row_pipeline *found) {
    const xpu_codegen_layer *windows = &cg->layers.items[layer - 1];
    const uint32_t alone = tiles->sm_bytes > windows->sm_bytes ? tiles->sm_bytes : windows->sm_bytes;
    xpu_program_buffer *buffer = &cg->program.buffers.items[windows->scratch];
    buffer->bytes = xpu_dim_of(cg, found->sm_bytes > alone ? found->sm_bytes : alone);
    buffer->last_layer = layer;
    cg->layers.items[first].ring_cycles = found->cycles;
    cg->layers.items[layer].scratch = windows->scratch;
    cg->layers.items[layer].in_ring = 1;
    cg->layers.items[layer].begins_early = (int)(layer - first);
    CHANGE(step_rows, found->ring.step_rows);
    CHANGE(slots, found->ring.slots);
}

/* Behind windows over rows of another product in SM. */
static void place_third(xpu_codegen *cg, uint32_t layer, xpu_node node, const xpu_conv_shape *s, const xpu_tiles *tiles,
                        const char *maker) {
    xpu_row_pipeline found;
    const char *why = choose_behind(cg, layer, node, s, tiles, &found);
    say(cg, layer, why, maker);
    if (why) return;
    share_scratch(cg, layer, layer - 2, tiles, &found);
    CHANGE(ring_rows, found.ring.rows);
    CHANGE(made_rows, found.ring.made_rows);
    CHANGE(ring_whole_w, found.ring.whole_w);
    CHANGE(lag, found.ring.lag);
}

/* Behind windows that load their input: these and the product are a pipeline, which begins behind the layer before,
 * where that is faster than windows beside that one. */
static const char *choose_second(xpu_codegen *cg, uint32_t layer, xpu_node node, const xpu_conv_shape *s,
                                 const xpu_tiles *tiles, xpu_row_pipeline *found) {
    const xpu_codegen_layer *windows = &cg->layers.items[layer - 1];
    if (!windows->windows) return "they have the whole image";
    if (xpu_has_computed_parameters(cg, windows->node)) return "a layer makes their bias or factors";
    const char *why = can_read(cg, layer, node, s);
    if (why) return why;
    const int has_weights = !xpu_node_is(cg->graph, windows->node, XPU_OP_MAX_POOL);
    const xpu_behind behind = behind_of(cg, node, s, tiles);
    why = xpu_choose_slots(cg, windows->windows, has_weights, &behind, found);
    if (why) return why;
    const double apart = windows->task_cycles + xpu_product_cycles(cg, &tiles->items[0]);
    return found->cycles < apart ? NULL : "one behind the other is faster";
}

static void place_second(xpu_codegen *cg, uint32_t layer, xpu_node node, const xpu_conv_shape *s,
                         const xpu_tiles *tiles, const char *maker) {
    xpu_codegen_layer *windows = &cg->layers.items[layer - 1];
    xpu_row_pipeline found;
    const char *why = choose_second(cg, layer, node, s, tiles, &found);
    say(cg, layer, why, maker);
    if (why) return;
    if (windows->begins_early) { /* no longer beside the product before */
        cg->program.buffers.items[cg->layers.items[layer - 2].scratch].last_layer = layer - 2;
        cg->program.buffers.items[windows->scratch].first_layer = layer - 1;
        cg->program.layers.items[layer - 1].reason = NULL;
        windows->begins_early = 0;
        CHANGE(follows, 0);
    }
    share_scratch(cg, layer, layer - 1, tiles, &found);
}

void xpu_place_behind(xpu_codegen *cg, uint32_t layer, xpu_node node, const xpu_conv_shape *s, const xpu_tiles *tiles,
                      const char *maker) {
    if (!maker || !xpu_is_listed(cg)) return;
    if (cg->layers.items[layer - 1].in_ring)
        place_third(cg, layer, node, s, tiles, maker);
    else
        place_second(cg, layer, node, s, tiles, maker);
}
