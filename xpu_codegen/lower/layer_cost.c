/*
 * What a layer costs, for lists of the dearest ones and for what-if. Layers on the tensor engine and on the window
 * engine have the models that chose their tiles; the others a start, the work of the cores, and bytes to and from
 * memory, whichever of both takes longer, by measured constants (choose/costs.def). The chip counts.
 */
#include "xpu_codegen/lower/layer_cost.h"

#include <math.h>
#include <string.h>

#include "xpu_codegen/choose/chain_loops.h"
#include "xpu_codegen/choose/costs.h"
#include "xpu_codegen/choose/geometry.h"
#include "xpu_codegen/choose/prologue.h"
#include "xpu_codegen/lower/layers.h"
#include "xpu_codegen/values.h"

static const double LANES = 16, LINE_BYTES = 64;

static double bytes_of(xpu_codegen *cg, xpu_value value) {
    if (!value.id) return 0;
    const xpu_value_info *info = xpu_value_at(cg->graph, value);
    xpu_dim count = xpu_dims_product(cg, value, 0, info->rank);
    return (double)xpu_dim_upper(cg, count) * (double)xpu_dtype_bytes(info->dtype);
}

/* Vectors of channels in all pixels of an image, or of elements in what is none. */
static double vectors_of(const xpu_codegen *cg, xpu_value value, double lanes) {
    const xpu_value_info *info = xpu_value_at(cg->graph, value);
    const int is_image = info->layout == XPU_LAYOUT_CHANNEL_LAST && info->rank > 2;
    double count = 1;
    for (int i = 0; i < info->rank; i++) {
        const double size = (double)xpu_dim_upper(cg, info->dims[i]);
        count *= is_image && i == 1 ? ceil(size / lanes) : size;
    }
    return is_image ? count : ceil(count / lanes);
}

/* Of a core: a pooling, or a depthwise convolution that takes no strips; `tap`: of 16 channels in float32. */
static double cycles_of_window(xpu_codegen *cg, xpu_node node, double tap) {
    const xpu_window w = xpu_window_of(cg->graph, node);
    const xpu_value y = xpu_node_output(cg->graph, node, 0);
    const double taps = (double)(w.kernel[0] * w.kernel[1]);
    if (xpu_value_at(cg->graph, y)->dtype != XPU_F32) return vectors_of(cg, y, LINE_BYTES) * taps * xpu_cost.pool_bytes;
    return vectors_of(cg, y, LANES) * taps * tap;
}

/* Of a core: maxima of rows and then of their columns, all read and written once. */
static double cycles_of_maximum(xpu_codegen *cg, xpu_node node) {
    const xpu_value x = xpu_node_input(cg->graph, node, 0), y = xpu_node_output(cg->graph, node, 0);
    if (xpu_value_at(cg->graph, y)->dtype != XPU_F32) return cycles_of_window(cg, node, 0);
    const xpu_window w = xpu_window_of(cg->graph, node);
    const xpu_conv_shape s = xpu_image_shape(cg, x, y);
    const double rows = (double)xpu_dim_upper(cg, s.batch) * (double)xpu_dim_upper(cg, s.out_h);
    const double blocks = ceil((double)xpu_dim_upper(cg, s.in_c) / (4 * LANES));
    const double accesses = (double)(w.stride[1] * (w.kernel[0] + 1 + w.stride[0]) + w.kernel[1] + 1);
    return rows * blocks * xpu_cost.max_row + vectors_of(cg, y, LANES) * accesses * xpu_cost.max_access;
}

/* Of a core: a convolution in float32, with a window for each channel or for all of them. */
static double cycles_of_conv(xpu_codegen *cg, xpu_node node, double macs) {
    const xpu_conv_shape s = xpu_conv_shape_of(cg, node);
    if (xpu_is_depthwise(cg, &s) && !xpu_goes_in_strips(cg, node))
        return cycles_of_window(cg, node, xpu_cost.depthwise_tap);
    if (xpu_is_depthwise(cg, &s)) {
        const double out_h = (double)xpu_dim_upper(cg, s.out_h), out_w = (double)xpu_dim_upper(cg, s.out_w);
        const double rows = (double)xpu_dim_upper(cg, s.batch) * (double)xpu_dim_upper(cg, s.out_c) * out_h;
        const double element = s.kernel[1] > 3 ? xpu_cost.depthwise_5 : xpu_cost.depthwise_3;
        return rows * (out_w * (element + (s.stride[1] > 1 ? xpu_cost.depthwise_by_2 : 0)) + xpu_cost.depthwise_row);
    }
    const double windows = vectors_of(cg, xpu_node_output(cg->graph, node, XPU_OUT_Y), LANES);
    return macs / LANES * xpu_cost.multiply + windows * (double)s.kernel[0] * xpu_cost.row_of_window;
}

/* Cycles of all cores together; `vectors`: of the largest operand or result. */
static double core_cycles(xpu_codegen *cg, xpu_node node, double vectors, double macs) {
    const xpu_op_id op = xpu_op_id_of(xpu_node_at(cg->graph, node)->op);
    switch (op) {
    case XPU_OP_CHAIN: return vectors * xpu_chain_vector_cycles(xpu_chain_of(cg->graph, node));
    case XPU_OP_SOFTMAX: return vectors * xpu_cost.softmax;
    case XPU_OP_ABSMAX:
    case XPU_OP_GLOBAL_AVERAGE_POOL: return vectors * xpu_cost.simple;
    case XPU_OP_QADD:
    case XPU_OP_QMUL: return vectors * xpu_cost.pair_bytes;
    case XPU_OP_LOOKUP: return vectors * xpu_cost.table_bytes;
    case XPU_OP_CONV: return cycles_of_conv(cg, node, macs);
    case XPU_OP_MAX_POOL: return cycles_of_maximum(cg, node);
    case XPU_OP_AVERAGE_POOL: return cycles_of_window(cg, node, xpu_cost.pool);
    default: return macs > 0 ? macs / LANES * xpu_cost.product : vectors * xpu_cost.other;
    }
}

/* Without its start. */
static double work_of(xpu_codegen *cg, uint32_t layer) {
    const xpu_program_layer *l = &cg->program.layers.items[layer];
    if (cg->layers.items[layer].task_cycles > 0) return cg->layers.items[layer].task_cycles;
    const xpu_node_info *node = xpu_node_at(cg->graph, l->node);
    double bytes = 0, most = 0;
    for (uint32_t i = 0; i < node->input_count + l->output_count; i++) {
        double own = bytes_of(cg, i < node->input_count ? node->inputs[i] : l->outputs[i - node->input_count]);
        bytes += own;
        if (own > most) most = own;
    }
    const double macs = l->macs.id ? (double)xpu_dim_upper(cg, l->macs) : 0, moved = bytes / LINE_BYTES * xpu_cost.line;
    if (l->unit == XPU_UNIT_TENSOR && xpu_node_is(cg->graph, l->node, XPU_OP_RECURRENT)) {
        const int narrow = xpu_node_int(cg->graph, l->node, XPU_ATTR_PRECISION) == XPU_PRECISION_INT16X8;
        return macs * (narrow ? 1 : 2) / LINE_BYTES * xpu_cost.recurrent;
    }
    const double copied = cg->layers.items[layer].copy_cycles;
    if (l->unit != XPU_UNIT_CORE) return copied > 0 ? copied : moved;
    const double computed = core_cycles(cg, l->node, most / sizeof(float) / LANES, macs) / cg->chip.cores;
    return computed > moved ? computed : moved;
}

static double start_of(const xpu_codegen *cg, uint32_t layer) {
    const xpu_unit unit = cg->program.layers.items[layer].unit;
    if (unit != XPU_UNIT_TENSOR && unit != XPU_UNIT_WINDOW) return xpu_cost.start_core;
    return cg->program.layers.items[layer].lists ? xpu_cost.start_listed : xpu_cost.start_tensor;
}

/* Of a product, as it is expected; tile->cycles is what it was chosen by. */
static double tile_cycles(const xpu_codegen *cg, const xpu_tile *tile) {
    const xpu_layer_model *m = &tile->model;
    const double rate = cg->chip.gm_rate < LINE_BYTES ? cg->chip.gm_rate : LINE_BYTES;
    const double load = m->load + tile->gm_bytes / rate, most = m->compute > load ? m->compute : load;
    return m->tail + (most > m->store ? most : m->store);
}

double xpu_product_cycles(const xpu_codegen *cg, const xpu_tile *tile) {
    return xpu_cost.start_listed + tile_cycles(cg, tile);
}

double xpu_layer_cycles(xpu_codegen *cg, uint32_t layer) {
    const xpu_program_layer *l = &cg->program.layers.items[layer];
    const xpu_tiles *tiles = cg->layers.items[layer].tiles;
    if (cg->layers.items[layer].ring_cycles > 0) return start_of(cg, layer) + cg->layers.items[layer].ring_cycles;
    if (cg->layers.items[layer].in_ring) return start_of(cg, layer);
    if (tiles) return start_of(cg, layer) + tile_cycles(cg, &tiles->items[tiles->sizes.count - 1]);
    if (l->unit == XPU_UNIT_HOST || !l->node.id) return 0;
    return start_of(cg, layer) + work_of(cg, layer);
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
        const double cycles = xpu_layer_cycles(cg, i), lists = cg->layers.items[i].list_bytes,
                     ring = cg->layers.items[i].ring_cycles;
        layer->model = (xpu_program_model){.compute = whole(cycles - start_of(cg, i)),
                                           .tail = cycles > 0 ? whole(start_of(cg, i)) : 0,
                                           .constant_bytes = whole(constants_of(cg, layer) + lists)};
        if (!tile || cycles <= 0 || ring > 0 || cg->layers.items[i].in_ring) continue;
        layer->model = (xpu_program_model){.compute = whole(tile->model.compute),
                                           .load = whole(tile->model.load),
                                           .store = whole(tile->model.store),
                                           .tail = whole(tile->model.tail + start_of(cg, i)),
                                           .constant_bytes = whole(tile->gm_bytes + lists)};
    }
}
