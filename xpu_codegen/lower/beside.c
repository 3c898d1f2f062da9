#include "xpu_codegen/lower/beside.h"

#include "core/passes/rewrite.h"
#include "xpu_codegen/choose/listed.h"
#include "xpu_codegen/choose/rings.h"
#include "xpu_codegen/lower/buffers.h"
#include "xpu_codegen/lower/by_size.h"
#include "xpu_codegen/lower/layers.h"
#include "xpu_codegen/lower/steps.h"
#include "xpu_runtime/include/generated/xpu_chip_regs.h"

int xpu_has_computed_parameters(const xpu_codegen *cg, xpu_node node) {
    static const uint32_t inputs[] = {XPU_IN_WSCALE, XPU_IN_BIAS};
    for (size_t i = 0; i < sizeof inputs / sizeof *inputs; i++) {
        xpu_value value = xpu_node_input(cg->graph, node, inputs[i]);
        if (value.id && !xpu_is_const_value(cg, value)) return 1;
    }
    return 0;
}

int xpu_follows_kernel(xpu_codegen *cg, uint32_t layer, xpu_node node, xpu_kernel kernel) {
    xpu_value x = xpu_value_root(cg, xpu_node_input(cg->graph, node, XPU_IN_X));
    const xpu_value_info *info = xpu_value_at(cg->graph, x);
    if (info->kind != XPU_VALUE_NODE || info->output != XPU_OUT_Y || layer == 0 || xpu_begins_range(cg, layer))
        return 0;
    if (cg->layer_of[info->node.id] != (int32_t)layer - 1 || xpu_on_host(cg, info->node)) return 0;
    if (!xpu_value_same_shape(cg->graph, x, xpu_node_input(cg->graph, node, XPU_IN_X))) return 0; /* other rows */
    return cg->layers.items[layer - 1].kernel == kernel;
}

const char *xpu_maker_before(xpu_codegen *cg, uint32_t layer, xpu_node node, xpu_kernel kernel) {
    return xpu_follows_kernel(cg, layer, node, kernel) ? cg->program.layers.items[layer - 1].name : NULL;
}

static const char behind_windows[] = "the product is one behind other windows";

static const char *choose_beside(xpu_codegen *cg, uint32_t layer, xpu_node node, const xpu_conv_shape *s,
                                 xpu_byte_tasks *tasks, int64_t *sm_bytes, int32_t *follows) {
    const xpu_tiles *made = cg->layers.items[layer - 1].tiles;
    if (!xpu_is_listed(cg) || made->sizes.count > 1 || tasks->sizes.count > 1)
        return "core 0 makes the descriptors of both while the program runs";
    if (xpu_has_computed_parameters(cg, node)) return "a layer makes its bias or factors";
    if (cg->layers.items[layer - 1].in_ring) return behind_windows;
    return xpu_choose_following_tasks(cg, s, &made->items[0], tasks, sm_bytes, follows);
}

/* Rows of the product before, which pass through SM only, if that is faster than `least` cycles of both. */
static const char *choose_ring(xpu_codegen *cg, uint32_t layer, xpu_node node, const xpu_conv_shape *s, double least,
                               xpu_row_pipeline *found) {
    const xpu_graph *graph = cg->graph;
    const xpu_codegen_layer *before = &cg->layers.items[layer - 1];
    const xpu_value x = xpu_node_input(graph, node, XPU_IN_X);
    if (before->in_ring) return behind_windows;
    if (xpu_value_at(graph, x)->node.id != before->node.id || !xpu_used_once(graph, before->node) ||
        xpu_value_leaves_program(cg, x))
        return "others read what the product makes";
    if (xpu_node_input(graph, before->node, XPU_IN_BRANCH).id) return "the product has a branch";
    if (xpu_has_computed_parameters(cg, before->node)) return "a layer makes bias or factors of the product";
    const xpu_conv_shape product = xpu_conv_shape_of(cg, before->node);
    const char *why = xpu_choose_ring(cg, &product, before->tiles->items[0].tile_c, s, NULL, found);
    return why || found->cycles < least ? why : "rows through memory are faster";
}

/* Both layers have one scratch, whether they meet in SM or run one after the other, for a dump. */
static void share_scratch(xpu_codegen *cg, uint32_t layer, const xpu_byte_tasks *tasks, int64_t sm_bytes,
                          const xpu_row_pipeline *found, struct xpu_window_i8_call *call) {
    const uint32_t scratch = cg->layers.items[layer - 1].scratch;
    xpu_program_buffer *buffer = &cg->program.buffers.items[scratch];
    const int64_t of_product = cg->layers.items[layer - 1].tiles->sm_bytes;
    const int64_t most = of_product > sm_bytes ? of_product : sm_bytes;
    buffer->bytes = xpu_dim_of(cg, found->sm_bytes > most ? found->sm_bytes : most);
    buffer->last_layer = layer;
    cg->layers.items[layer].sm_bytes = (uint32_t)most;
    cg->layers.items[layer].in_ring = 1;
    cg->layers.items[layer].scratch = scratch;
    cg->layers.items[layer - 1].ring_cycles = found->cycles;
    call->task = xpu_task_of(cg, tasks);
    call->sm = xpu_arg_at(scratch);
    call->sm_bytes = xpu_arg_number(sm_bytes);
    call->ring_rows = xpu_arg_number(found->ring.rows);
    call->made_rows = xpu_arg_number(found->ring.made_rows);
    call->step_rows = xpu_arg_number(found->ring.step_rows);
    call->ring_whole_w = xpu_arg_number(found->ring.whole_w);
}

void xpu_place_beside(xpu_codegen *cg, uint32_t layer, xpu_node node, const xpu_conv_shape *s, xpu_byte_tasks *tasks,
                      int64_t sm_bytes, struct xpu_window_i8_call *call) {
    const char *maker = xpu_maker_before(cg, layer, node, XPU_KERNEL_conv2d_i8);
    xpu_program_layer *item = &cg->program.layers.items[layer];
    xpu_byte_tasks beside = *tasks;
    xpu_row_pipeline found;
    int64_t beside_bytes;
    int32_t follows = 0;
    call->follows = call->ring_rows = call->made_rows = call->step_rows = call->ring_whole_w = xpu_arg_number(0);
    call->slots = call->lag = xpu_arg_number(0);
    cg->layers.items[layer].windows = xpu_copy(cg->arena, s, sizeof *s);
    if (!maker || s->kernel[0] > XPU_WINDOW_KERNEL || s->kernel[1] > XPU_WINDOW_KERNEL) {
        if (maker) item->reason = xpu_printf(cg->arena, "behind '%s', not beside it: its kernel is parts", maker);
        xpu_place_window(cg, layer, tasks, sm_bytes, call);
        return;
    }
    const char *why = choose_beside(cg, layer, node, s, &beside, &beside_bytes, &follows);
    const xpu_codegen_layer *before = &cg->layers.items[layer - 1];
    const double least = before->tiles->items[0].cycles + (why ? tasks->cycles : beside.cycles);
    const char *no_ring = "core 0 makes the descriptors of both while the program runs";
    if (xpu_is_listed(cg) && !xpu_has_computed_parameters(cg, node))
        no_ring = choose_ring(cg, layer, node, s, least, &found);
    cg->layers.items[layer].begins_early = !why || !no_ring;
    if (!no_ring) {
        item->reason = xpu_printf(cg->arena, "with '%s', which makes its input, row by row in shared memory", maker);
        share_scratch(cg, layer, tasks, sm_bytes, &found, call);
        return;
    }
    if (why) {
        item->reason = xpu_printf(cg->arena, "behind '%s', not beside it: %s", maker, why);
    } else {
        item->reason = xpu_printf(cg->arena, "beside '%s', which makes its input: %s", maker, no_ring);
        cg->program.buffers.items[before->scratch].last_layer = layer;
        call->follows = xpu_arg_number(follows);
    }
    xpu_place_window(cg, layer, why ? tasks : &beside, why ? sm_bytes : beside_bytes, call);
}
