/* Convolutions and matrix products: on the tensor engine in int16, on the cores in float32. */
#include <math.h>
#include <string.h>

#include "core/arith.h"
#include "xpu_codegen/choose/byte_tasks.h"
#include "xpu_codegen/lower/buffers.h"
#include "xpu_codegen/lower/by_size.h"
#include "xpu_codegen/lower/layers.h"
#include "xpu_codegen/lower/operators.h"

/* ---- arguments ---- */

static void set_geometry(xpu_call *call, const xpu_conv_shape *s) {
    xpu_set_int(call, "batch", s->batch);
    xpu_set_int(call, "in_h", s->in_h);
    xpu_set_int(call, "in_w", s->in_w);
    xpu_set_int(call, "in_c", s->in_c);
    xpu_set_int(call, "out_h", s->out_h);
    xpu_set_int(call, "out_w", s->out_w);
    xpu_set_int(call, "out_c", s->out_c);
    xpu_set_number(call, "kernel_h", s->kernel[0]);
    xpu_set_number(call, "kernel_w", s->kernel[1]);
    xpu_set_number(call, "stride_h", s->stride[0]);
    xpu_set_number(call, "stride_w", s->stride[1]);
    xpu_set_number(call, "dilation_h", s->dilation[0]);
    xpu_set_number(call, "dilation_w", s->dilation[1]);
    xpu_set_number(call, "pad_top", s->begin[0]);
    xpu_set_number(call, "pad_left", s->begin[1]);
    xpu_set_number(call, "groups", s->groups);
}

/* A clip whose limits are in the wrong order gives its higher limit: kernels get it as both, so that the lower one
 * tells whether results may have a sign. */
static void set_epilogue(const xpu_codegen *cg, xpu_call *call, xpu_node node) {
    float low = xpu_node_float(cg->graph, node, XPU_ATTR_LOW), high = xpu_node_float(cg->graph, node, XPU_ATTR_HIGH);
    xpu_set_number(call, "activation", xpu_node_int(cg->graph, node, XPU_ATTR_ACTIVATION));
    xpu_set_float(call, "low", xa_fmin(low, high));
    xpu_set_float(call, "high", high);
    xpu_set_float(call, "alpha", xpu_node_float(cg->graph, node, XPU_ATTR_ALPHA));
    xpu_set_number(call, "branch_after", xpu_node_int(cg->graph, node, XPU_ATTR_BRANCH_AFTER));
}

/* An operand that may be absent. */
static void set_operand(xpu_codegen *cg, xpu_call *call, uint32_t layer, const char *field, xpu_value value,
                        const char *role) {
    if (value.id) {
        xpu_set_address(call, field, xpu_operand_buffer(cg, layer, value, role));
    } else {
        xpu_set_absent(call, field);
    }
}

/* ---- weights ---- */

static xpu_packing packing_of(xpu_codegen *cg, xpu_node node, xpu_packing_kind kind, const xpu_conv_shape *s,
                              int32_t tile_c) {
    xpu_packing packing = {.kind = kind,
                           .out_c = (int32_t)xpu_dim_upper(cg, s->out_c),
                           .in_c = (int32_t)xpu_dim_upper(cg, s->in_c),
                           .kernel_h = (int32_t)s->kernel[0],
                           .kernel_w = (int32_t)s->kernel[1],
                           .groups = (int32_t)s->groups,
                           .transposed = xpu_node_is(cg->graph, node, XPU_OP_MATMUL) ||
                                         xpu_node_is(cg->graph, node, XPU_OP_QMATMUL)};
    if (kind == XPU_PACK_CONV_I16 || kind == XPU_PACK_CONV_I8) {
        packing.columns = (int32_t)cg->chip.array_columns;
        packing.tile_c = tile_c;
    }
    return packing;
}

static uint32_t packed_weights(xpu_codegen *cg, uint32_t layer, xpu_node node, const xpu_packing *packing) {
    const char *name = xpu_printf(cg->arena, "%s/w", cg->program.layers.items[layer].name);
    return xpu_weight_buffer(cg, xpu_node_input(cg->graph, node, XPU_IN_W), packing, name);
}

static xpu_dim conv_macs(xpu_codegen *cg, const xpu_conv_shape *s) {
    xpu_dims *dims = &cg->graph->dims;
    xpu_dim out = xpu_dim_mul(dims, xpu_dim_mul(dims, s->batch, s->out_h), xpu_dim_mul(dims, s->out_w, s->out_c));
    xpu_dim depth = xpu_dim_floordiv_const(dims, s->in_c, s->groups);
    return xpu_dim_mul(dims, out, xpu_dim_mul_const(dims, depth, s->kernel[0] * s->kernel[1]));
}

/* ---- the calls ---- */

static void set_conv(xpu_codegen *cg, xpu_call *call, uint32_t layer, xpu_node node, const xpu_conv_shape *s,
                     const xpu_packing *packing) {
    const xpu_graph *graph = cg->graph;
    set_operand(cg, call, layer, "x", xpu_node_input(graph, node, XPU_IN_X), "x");
    xpu_set_address(call, "w", packed_weights(cg, layer, node, packing));
    set_operand(cg, call, layer, "bias", xpu_node_input(graph, node, XPU_IN_BIAS), "bias");
    set_operand(cg, call, layer, "branch", xpu_node_input(graph, node, XPU_IN_BRANCH), "branch");
    xpu_set_address(call, "y", xpu_activation_buffer(cg, xpu_node_output(graph, node, XPU_OUT_Y)));
    xpu_value y_absmax = xpu_node_output(graph, node, XPU_OUT_ABSMAX);
    if (y_absmax.id) {
        xpu_set_address(call, "y_absmax", xpu_activation_buffer(cg, y_absmax));
    } else {
        xpu_set_absent(call, "y_absmax");
    }
    set_geometry(call, s);
    set_epilogue(cg, call, node);
}

/* Whether core 0 waits for the tensor engine before the layer before, which is one call on the cores: in that time it
 * can call this one. */
static int follows_wait(const xpu_codegen *cg, uint32_t layer) {
    const xpu_program_layer *layers = cg->program.layers.items;
    return layer > 1 && strcmp(layers[layer - 2].unit, "tensor") == 0 && strcmp(layers[layer - 1].unit, "core") == 0 &&
           cg->layers.items[layer - 1].calls.count == 1;
}

/* The tiles of a call, and its scratch in SM. */
static void set_tiles(xpu_codegen *cg, xpu_call *call, uint32_t layer, const xpu_tiles *tiles) {
    int ahead = follows_wait(cg, layer);
    xpu_sized_field fields[] = {{.name = "tile_h"}, {.name = "tile_w"}, {.name = "whole"}};
    cg->layers.items[layer].tiles = tiles;
    cg->layers.items[layer].called_ahead = ahead;
    for (uint32_t i = 0; i < tiles->sizes.count; i++) {
        fields[0].values[i] = tiles->items[i].tile_h;
        fields[1].values[i] = tiles->items[i].tile_w;
        fields[2].values[i] = tiles->items[i].whole;
    }
    const char *scratch = xpu_printf(cg->arena, "%s/tiles", cg->program.layers.items[layer].name);
    xpu_set_by_size(cg, call, &tiles->sizes, fields, 3);
    xpu_set_number(call, "tile_c", tiles->items[0].tile_c);
    xpu_set_number(call, "banks", cg->chip.acc_banks);
    xpu_set_address(call, "sm",
                    xpu_scratch_buffer(cg, layer - (uint32_t)ahead, layer, xpu_dim_of(cg, tiles->sm_bytes), scratch));
    xpu_set_number(call, "sm_bytes", tiles->sm_bytes);
}

static xpu_status lower_i16(xpu_codegen *cg, uint32_t layer, xpu_node node, const xpu_conv_shape *s) {
    const xpu_graph *graph = cg->graph;
    int narrow = xpu_node_int(graph, node, XPU_ATTR_PRECISION) == XPU_PRECISION_INT16X8;
    xpu_tiles *tiles = XPU_NEW(cg->arena, xpu_tiles);
    const char *problem = xpu_choose_tiles(cg, s, xpu_node_input(graph, node, XPU_IN_BRANCH).id != 0,
                                           narrow ? XPU_TILING_I16X8 : XPU_TILING_I16, tiles);
    if (problem) return xpu_codegen_bug(cg, "an int16 layer has no tile", "%s", problem);
    xpu_packing packing =
        packing_of(cg, node, narrow ? XPU_PACK_CONV_I8 : XPU_PACK_CONV_I16, s, tiles->items[0].tile_c);
    xpu_call call = xpu_call_begin(cg->arena, XPU_KERNEL_conv2d_i16);
    xpu_set_number(&call, "w_int8", narrow);
    set_conv(cg, &call, layer, node, s, &packing);
    set_operand(cg, &call, layer, "x_absmax", xpu_node_input(graph, node, XPU_IN_ABSMAX), "absmax");
    set_operand(cg, &call, layer, "w_scale", xpu_node_input(graph, node, XPU_IN_WSCALE), "scale");
    set_tiles(cg, &call, layer, tiles);
    xpu_describe_layer(cg, layer, "tensor", "conv2d_i16", conv_macs(cg, s));
    return xpu_add_call(cg, layer, &call);
}

/* Whether the layer before makes x on the tensor engine. */
static int follows_tensor(xpu_codegen *cg, uint32_t layer, xpu_node node) {
    xpu_value x = xpu_value_root(cg, xpu_node_input(cg->graph, node, XPU_IN_X));
    const xpu_value_info *info = xpu_value_at(cg->graph, x);
    if (info->kind != XPU_VALUE_NODE || info->output != XPU_OUT_Y || layer == 0) return 0;
    if (cg->layer_of[info->node.id] != (int32_t)layer - 1 || xpu_on_host(cg, info->node)) return 0;
    return strcmp(cg->program.layers.items[layer - 1].kernel, "conv2d_i16") == 0;
}

/* In thousandths, for size i of what the layer before makes; -1: the layer does not begin early. */
static int64_t late_share(const xpu_codegen *cg, const xpu_conv_shape *s, const xpu_tiles *made, uint32_t i) {
    enum { LEAST_ROWS = 48 }; /* of x: fewer are there before the cores have begun, and finer strips cost more */
    const xpu_size *size = &made->sizes.items[i];
    if (size->out_h < LEAST_ROWS) return -1;
    double out_h = (double)xpu_dim_upper(cg, s->out_h), out_w = (double)xpu_dim_upper(cg, s->out_w);
    if (i + 1 < made->sizes.count) {
        out_h = ceil((double)size->out_h / (double)s->stride[0]);
        out_w = ceil((double)size->out_w / (double)s->stride[1]);
    }
    double lines = (double)xpu_dim_upper(cg, s->batch) * out_h * (double)xpu_dim_upper(cg, s->out_c);
    double work = lines * (2.2 * out_w + 28), cores = cg->chip.cores; /* of one core */
    double late = (work - (cores - 1) * made->items[i].cycles) / cores;
    return late > 0 ? (int64_t)(1000 * late / work) : 0;
}

/* A depthwise layer behind the tensor engine begins with the first rows. Core 0 first queues what the engine has to do:
 * its share of the strips is such that all cores end together, by a rough model. */
static void begin_early(xpu_codegen *cg, xpu_call *call, uint32_t layer, xpu_node node, const xpu_conv_shape *s) {
    const xpu_tiles *made = follows_tensor(cg, layer, node) ? cg->layers.items[layer - 1].tiles : NULL;
    xpu_sized_field share = {.name = "late_share"};
    if (!made) {
        xpu_set_number(call, "late_share", -1);
        return;
    }
    for (uint32_t i = 0; i < made->sizes.count; i++) {
        share.values[i] = late_share(cg, s, made, i);
        if (share.values[i] >= 0) cg->layers.items[layer].begins_early = 1;
    }
    xpu_set_by_size(cg, call, &made->sizes, &share, 1);
}

static xpu_status lower_f32(xpu_codegen *cg, uint32_t layer, xpu_node node, const xpu_conv_shape *s) {
    int depthwise = xpu_is_depthwise(cg, s);
    xpu_kernel kernel = depthwise ? XPU_KERNEL_depthwise_f32 : XPU_KERNEL_conv2d_f32;
    xpu_packing packing = packing_of(cg, node, depthwise ? XPU_PACK_DEPTHWISE_F32 : XPU_PACK_CONV_F32, s, 0);
    xpu_call call = xpu_call_begin(cg->arena, kernel);
    set_conv(cg, &call, layer, node, s, &packing);
    if (depthwise) begin_early(cg, &call, layer, node, s);
    xpu_describe_layer(cg, layer, "core", xpu_kernel_of(kernel)->name, conv_macs(cg, s));
    return xpu_add_call(cg, layer, &call);
}

static int is_unsigned(const xpu_codegen *cg, xpu_value value) {
    return value.id && xpu_value_at(cg->graph, value)->dtype == XPU_U8;
}

/* How sums of bytes become bytes. */
static void set_rescaling(const xpu_codegen *cg, xpu_call *call, xpu_node node) {
    const xpu_graph *graph = cg->graph;
    int branch = xpu_node_input(graph, node, XPU_IN_BRANCH).id != 0;
    xpu_set_attr(cg, call, node, "zero", branch ? XPU_ATTR_MID_ZERO : XPU_ATTR_Y_ZERO);
    xpu_set_attr(cg, call, node, "low", branch ? XPU_ATTR_MID_LOW : XPU_ATTR_Y_LOW);
    xpu_set_attr(cg, call, node, "high", branch ? XPU_ATTR_MID_HIGH : XPU_ATTR_Y_HIGH);
    xpu_set_attr(cg, call, node, "low2", XPU_ATTR_Y_LOW);
    xpu_set_attr(cg, call, node, "high2", XPU_ATTR_Y_HIGH);
    xpu_set_float(call, "x_factor", xpu_node_float(graph, node, XPU_ATTR_X_FACTOR));
    xpu_set_float(call, "b_factor", xpu_node_float(graph, node, XPU_ATTR_B_FACTOR));
    xpu_set_float(call, "addend", xpu_node_float(graph, node, XPU_ATTR_ADDEND));
}

/* What the kernels of integer products have in common. */
static xpu_call begin_qproduct(xpu_codegen *cg, uint32_t layer, xpu_node node, xpu_kernel kernel,
                               const xpu_conv_shape *s, const xpu_packing *packing) {
    const xpu_graph *graph = cg->graph;
    xpu_value x = xpu_node_input(graph, node, XPU_IN_X);
    xpu_call call = xpu_call_begin(cg->arena, kernel);
    set_operand(cg, &call, layer, "x", x, "x");
    xpu_set_address(&call, "w", packed_weights(cg, layer, node, packing));
    set_operand(cg, &call, layer, "bias", xpu_node_input(graph, node, XPU_IN_BIAS), "bias");
    set_operand(cg, &call, layer, "factors", xpu_node_input(graph, node, XPU_IN_WSCALE), "factors");
    xpu_set_address(&call, "y", xpu_activation_buffer(cg, xpu_node_output(graph, node, XPU_OUT_Y)));
    set_geometry(&call, s);
    xpu_set_number(&call, "x_unsigned", is_unsigned(cg, x));
    xpu_set_number(&call, "w_unsigned", is_unsigned(cg, xpu_node_input(graph, node, XPU_IN_W)));
    xpu_set_attr(cg, &call, node, "x_zero", XPU_ATTR_X_ZERO);
    xpu_set_attr(cg, &call, node, "w_zero", XPU_ATTR_W_ZERO);
    xpu_describe_layer(cg, layer, kernel == XPU_KERNEL_conv2d_i8 ? "tensor" : "core", xpu_kernel_of(kernel)->name,
                       conv_macs(cg, s));
    return call;
}

static xpu_status lower_byte_depthwise(xpu_codegen *cg, uint32_t layer, xpu_node node, const xpu_conv_shape *s) {
    xpu_byte_tasks tasks;
    if (!xpu_choose_byte_tasks(cg, s, 1, &tasks))
        return xpu_codegen_bug(cg, "a depthwise layer has no task", "of bytes");
    xpu_packing packing = packing_of(cg, node, XPU_PACK_DEPTHWISE_I8, s, 0);
    xpu_call call = begin_qproduct(cg, layer, node, XPU_KERNEL_depthwise_i8, s, &packing);
    xpu_set_attr(cg, &call, node, "zero", XPU_ATTR_Y_ZERO);
    xpu_set_attr(cg, &call, node, "low", XPU_ATTR_Y_LOW);
    xpu_set_attr(cg, &call, node, "high", XPU_ATTR_Y_HIGH);
    xpu_set_byte_tasks(cg, &call, &tasks);
    return xpu_add_call(cg, layer, &call);
}

xpu_status xpu_lower_qproduct(xpu_codegen *cg, uint32_t layer, xpu_node node) {
    const xpu_graph *graph = cg->graph;
    xpu_conv_shape s = xpu_conv_shape_of(cg, node);
    if (xpu_is_byte_depthwise(cg, node)) return lower_byte_depthwise(cg, layer, node, &s);
    xpu_value branch = xpu_node_input(graph, node, XPU_IN_BRANCH);
    xpu_tiles *tiles = XPU_NEW(cg->arena, xpu_tiles);
    const char *problem = xpu_choose_tiles(cg, &s, branch.id != 0, XPU_TILING_I8, tiles);
    if (problem) return xpu_codegen_bug(cg, "a quantised layer has no tile", "%s", problem);
    xpu_packing packing = packing_of(cg, node, XPU_PACK_CONV_I8, &s, tiles->items[0].tile_c);
    xpu_call call = begin_qproduct(cg, layer, node, XPU_KERNEL_conv2d_i8, &s, &packing);
    set_operand(cg, &call, layer, "branch", branch, "branch");
    xpu_set_number(&call, "y_unsigned", is_unsigned(cg, xpu_node_output(graph, node, XPU_OUT_Y)));
    xpu_set_number(&call, "branch_unsigned", is_unsigned(cg, branch));
    set_rescaling(cg, &call, node);
    set_tiles(cg, &call, layer, tiles);
    return xpu_add_call(cg, layer, &call);
}

static xpu_status lower_conv_like(xpu_codegen *cg, uint32_t layer, xpu_node node) {
    xpu_conv_shape shape = xpu_conv_shape_of(cg, node);
    int is_float = xpu_node_int(cg->graph, node, XPU_ATTR_PRECISION) == XPU_PRECISION_FP32;
    return is_float ? lower_f32(cg, layer, node, &shape) : lower_i16(cg, layer, node, &shape);
}

xpu_status xpu_lower_conv(xpu_codegen *cg, uint32_t layer, xpu_node node) {
    return lower_conv_like(cg, layer, node);
}

/* Two matrices of any origin, with leading dims. The rule matmul-leading-dims has made sure that they are simple. */
static xpu_status lower_two_matrices(xpu_codegen *cg, uint32_t layer, xpu_node node) {
    const xpu_graph *graph = cg->graph;
    xpu_dims *dims = &cg->graph->dims;
    xpu_value a = xpu_node_input(graph, node, XPU_IN_X), b = xpu_node_input(graph, node, XPU_IN_W);
    xpu_value y = xpu_node_output(graph, node, 0);
    int a_rank = xpu_value_at(graph, a)->rank, b_rank = xpu_value_at(graph, b)->rank;
    int rank = xpu_value_at(graph, y)->rank;
    xpu_dim one = xpu_dim_of(cg, 1), zero = xpu_dim_of(cg, 0);
    xpu_dim m = xpu_value_dim(cg, a, a_rank - 2), k = xpu_value_dim(cg, a, a_rank - 1);
    xpu_dim n = xpu_value_dim(cg, b, b_rank - 1);
    int a_single = xpu_dim_equal(xpu_dims_product(cg, a, 0, a_rank - 2), one);
    int b_single = xpu_dim_equal(xpu_dims_product(cg, b, 0, b_rank - 2), one);
    xpu_dim batch = xpu_dims_product(cg, y, 0, rank - 2);
    xpu_call call = xpu_call_begin(cg->arena, XPU_KERNEL_matmul_f32);
    set_operand(cg, &call, layer, "a", a, "a");
    set_operand(cg, &call, layer, "b", b, "w");
    set_operand(cg, &call, layer, "bias", xpu_node_input(graph, node, XPU_IN_BIAS), "bias");
    set_operand(cg, &call, layer, "branch", xpu_node_input(graph, node, XPU_IN_BRANCH), "branch");
    xpu_set_address(&call, "y", xpu_activation_buffer(cg, y));
    xpu_set_int(&call, "batch", batch);
    xpu_set_int(&call, "m", m);
    xpu_set_int(&call, "k", k);
    xpu_set_int(&call, "n", n);
    xpu_set_int(&call, "a_batch_stride", a_single ? zero : xpu_dim_mul(dims, m, k));
    xpu_set_int(&call, "b_batch_stride", b_single ? zero : xpu_dim_mul(dims, k, n));
    set_epilogue(cg, &call, node);
    xpu_dim each = xpu_dim_mul(dims, xpu_dim_mul(dims, m, k), n);
    xpu_describe_layer(cg, layer, "core", "matmul_f32", xpu_dim_mul(dims, batch, each));
    return xpu_add_call(cg, layer, &call);
}

xpu_status xpu_lower_matmul(xpu_codegen *cg, uint32_t layer, xpu_node node) {
    xpu_value w = xpu_node_input(cg->graph, node, XPU_IN_W);
    int rank = xpu_value_at(cg->graph, w)->rank;
    int one_matrix = xpu_dim_equal(xpu_dims_product(cg, w, 0, rank - 2), xpu_dim_of(cg, 1));
    if (xpu_is_const_value(cg, w) && one_matrix) return lower_conv_like(cg, layer, node);
    return lower_two_matrices(cg, layer, node);
}
