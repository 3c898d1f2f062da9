/*
 * What a layer costs, for lists of the dearest ones. Layers on the tensor engine have the model that chose their tiles;
 * the others a line through measured layers of the standard chip: a start, vectors of 16 floats times what the kernel
 * does with each, and bytes to and from memory, whichever takes longer. It orders layers; the chip counts.
 */
#include "xpu_codegen/pack/layer_cost.h"

#include <string.h>

#include "xpu_codegen/choose/chain_loops.h"
#include "xpu_codegen/lower/layers.h"
#include "xpu_codegen/values.h"

static const double START = 1000, LANES = 16, BYTES_PER_CYCLE = 48, CYCLES_OF_MACS = 3.2;

static double bytes_of(xpu_codegen *cg, xpu_value value) {
    if (!value.id) return 0;
    const xpu_value_info *info = xpu_value_at(cg->graph, value);
    xpu_dim count = xpu_dims_product(cg, value, 0, info->rank);
    return (double)xpu_dim_upper(cg, count) * (double)xpu_dtype_bytes(info->dtype);
}

/* Cycles that a core needs for 16 elements of what it reads or makes. */
static double cycles_of_vector(xpu_codegen *cg, xpu_node node) {
    enum { SIMPLE = 2, SOFTMAX = 60, OTHER = 4 };
    switch (xpu_op_id_of(xpu_node_at(cg->graph, node)->op)) {
    case XPU_OP_CHAIN: return xpu_chain_vector_cycles(xpu_chain_of(cg->graph, node));
    case XPU_OP_SOFTMAX: return SOFTMAX;
    case XPU_OP_ABSMAX:
    case XPU_OP_GLOBAL_AVERAGE_POOL: return SIMPLE;
    default: return OTHER;
    }
}

double xpu_layer_cycles(xpu_codegen *cg, uint32_t layer) {
    const xpu_program_layer *l = &cg->program.layers.items[layer];
    const xpu_tiles *tiles = cg->layers.items[layer].tiles;
    if (tiles) return tiles->items[tiles->sizes.count - 1].cycles;
    if (l->unit == XPU_UNIT_HOST || !l->node.id) return 0;
    const xpu_node_info *node = xpu_node_at(cg->graph, l->node);
    double bytes = 0, most = 0;
    for (uint32_t i = 0; i < node->input_count + l->output_count; i++) {
        double own = bytes_of(cg, i < node->input_count ? node->inputs[i] : l->outputs[i - node->input_count]);
        bytes += own;
        if (own > most) most = own;
    }
    double moved = bytes / BYTES_PER_CYCLE, computed = 0;
    if (l->unit == XPU_UNIT_CORE) {
        const double per_core = LANES * (double)cg->chip.cores;
        const double macs = l->macs.id ? (double)xpu_dim_upper(cg, l->macs) : 0;
        computed = most / sizeof(float) / per_core * cycles_of_vector(cg, l->node);
        if (macs > 0) computed = macs / per_core * CYCLES_OF_MACS;
    }
    return START + (computed > moved ? computed : moved);
}

static uint64_t whole(double number) {
    return number <= 0 ? 0 : number < (double)XPU_PROGRAM_MAX_MODELLED ? (uint64_t)number : XPU_PROGRAM_MAX_MODELLED;
}

static double constants_of(xpu_codegen *cg, const xpu_program_layer *layer) {
    double bytes = 0;
    const xpu_node_info *node = layer->node.id ? xpu_node_at(cg->graph, layer->node) : NULL;
    for (uint32_t i = 0; node && i < node->input_count; i++) {
        if (node->inputs[i].id && xpu_value_at(cg->graph, node->inputs[i])->kind == XPU_VALUE_CONST)
            bytes += bytes_of(cg, node->inputs[i]);
    }
    return bytes;
}

void xpu_model_layers(xpu_codegen *cg) {
    for (uint32_t i = 0; i < cg->program.layers.count; i++) {
        xpu_program_layer *layer = &cg->program.layers.items[i];
        const xpu_tiles *tiles = cg->layers.items[i].tiles;
        const xpu_tile *tile = tiles ? &tiles->items[tiles->sizes.count - 1] : NULL;
        double cycles = xpu_layer_cycles(cg, i);
        layer->model = (xpu_program_model){.compute = whole(cycles), .constant_bytes = whole(constants_of(cg, layer))};
        if (!tile || cycles <= 0) continue;
        layer->model = (xpu_program_model){.compute = whole(tile->model.compute),
                                           .load = whole(tile->model.load),
                                           .store = whole(tile->model.store),
                                           .tail = whole(tile->model.tail),
                                           .constant_bytes = whole(tile->gm_bytes)};
    }
}
