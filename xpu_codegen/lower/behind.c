#include "xpu_codegen/lower/behind.h"

#include <stddef.h>

#include "core/passes/rewrite.h"
#include "xpu_codegen/choose/byte_tasks.h"
#include "xpu_codegen/choose/listed.h"
#include "xpu_codegen/choose/rings.h"
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

static const char *choose_behind(xpu_codegen *cg, uint32_t layer, xpu_node node, const xpu_conv_shape *s,
                                 const xpu_tiles *tiles, xpu_row_pipeline *found) {
    const xpu_graph *graph = cg->graph;
    const xpu_codegen_layer *windows = &cg->layers.items[layer - 1], *first = &cg->layers.items[layer - 2];
    const xpu_value x = xpu_node_input(graph, node, XPU_IN_X), bias = xpu_node_input(graph, node, XPU_IN_BIAS);
    if (!windows->in_ring) return "rows do not meet those in shared memory";
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
    if (windows_follow(cg, node)) return "windows over its result go with it";
    const xpu_conv_shape product = xpu_conv_shape_of(cg, first->node);
    const xpu_behind behind = {s, tiles->items[0].tile_c, xpu_node_input(graph, node, XPU_IN_BRANCH).id != 0};
    const char *why = xpu_choose_ring(cg, &product, first->tiles->items[0].tile_c, windows->windows, &behind, found);
    if (why) return why;
    const double apart = first->ring_cycles + xpu_product_cycles(cg, &tiles->items[0]);
    return found->cycles < apart ? NULL : "one behind the other is faster";
}

void xpu_place_behind(xpu_codegen *cg, uint32_t layer, xpu_node node, const xpu_conv_shape *s, const xpu_tiles *tiles,
                      const char *maker) {
    xpu_program_layer *item = &cg->program.layers.items[layer];
    xpu_codegen_layer *windows = layer > 0 ? &cg->layers.items[layer - 1] : NULL;
    xpu_row_pipeline found;
    if (!maker || layer < 2 || !xpu_is_listed(cg)) return;
    const char *why = choose_behind(cg, layer, node, s, tiles, &found);
    if (why) {
        item->reason = xpu_printf(cg->arena, "behind '%s', not beside it: %s", maker, why);
        return;
    }
    item->reason = xpu_printf(cg->arena, "with '%s', which makes its input, row by row in shared memory", maker);
    const uint32_t alone = tiles->sm_bytes > windows->sm_bytes ? tiles->sm_bytes : windows->sm_bytes;
    xpu_codegen_layer *first = &cg->layers.items[layer - 2];
    xpu_program_buffer *buffer = &cg->program.buffers.items[first->scratch];
    buffer->bytes = xpu_dim_of(cg, found.sm_bytes > alone ? found.sm_bytes : alone);
    buffer->last_layer = layer;
    first->ring_cycles = found.cycles;
    cg->layers.items[layer].in_ring = 1;
    cg->layers.items[layer].begins_early = 2;
    CHANGE(ring_rows, found.ring.rows);
    CHANGE(made_rows, found.ring.made_rows);
    CHANGE(step_rows, found.ring.step_rows);
    CHANGE(ring_whole_w, found.ring.whole_w);
    CHANGE(slots, found.ring.slots);
    CHANGE(lag, found.ring.lag);
}
