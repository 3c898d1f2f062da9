/* Convolutions and matrix products: on the tensor engine in int16, on the cores in float32. */
#include <math.h>
#include <string.h>

#include "core/arith.h"
#include "core/passes/rewrite.h"
#include "xpu_codegen/choose/byte_tasks.h"
#include "xpu_codegen/choose/chain_loops.h"
#include "xpu_codegen/choose/listed.h"
#include "xpu_codegen/choose/rings.h"
#include "xpu_codegen/choose/strips.h"
#include "xpu_codegen/choose/wide_tasks.h"
#include "xpu_codegen/lower/behind.h"
#include "xpu_codegen/lower/beside.h"
#include "xpu_codegen/lower/buffers.h"
#include "xpu_codegen/lower/by_size.h"
#include "xpu_codegen/lower/chain.h"
#include "xpu_codegen/lower/epilogue.h"
#include "xpu_codegen/lower/layers.h"
#include "xpu_codegen/lower/operators.h"
#include "xpu_codegen/lower/steps.h"
#include "xpu_codegen/quantised_input.h"
#include "xpu_codegen/read_through.h"
#include "xpu_runtime/include/generated/xpu_chip_regs.h"

/* ---- arguments ---- */

static struct xpu_geometry_group geometry_of(const xpu_conv_shape *s) {
    return (struct xpu_geometry_group){.batch = xpu_arg_dim(s->batch),
                                       .in_h = xpu_arg_dim(s->in_h),
                                       .in_w = xpu_arg_dim(s->in_w),
                                       .in_c = xpu_arg_dim(s->in_c),
                                       .out_h = xpu_arg_dim(s->out_h),
                                       .out_w = xpu_arg_dim(s->out_w),
                                       .out_c = xpu_arg_dim(s->out_c),
                                       .kernel_h = xpu_arg_number(s->kernel[0]),
                                       .kernel_w = xpu_arg_number(s->kernel[1]),
                                       .stride_h = xpu_arg_number(s->stride[0]),
                                       .stride_w = xpu_arg_number(s->stride[1]),
                                       .dilation_h = xpu_arg_number(s->dilation[0]),
                                       .dilation_w = xpu_arg_number(s->dilation[1]),
                                       .pad_top = xpu_arg_number(s->begin[0]),
                                       .pad_left = xpu_arg_number(s->begin[1]),
                                       .groups = xpu_arg_number(s->groups),
                                       .y_pixel = xpu_arg_dim(s->y_pixel.id ? s->y_pixel : s->out_c)};
}

/* A clip whose limits are in the wrong order gives its higher limit: kernels get it as both, so that the lower one
 * tells whether results may have a sign. */
struct xpu_epilogue_group xpu_epilogue_of(const xpu_codegen *cg, xpu_node node) {
    float low = xpu_node_float(cg->graph, node, XPU_ATTR_LOW), high = xpu_node_float(cg->graph, node, XPU_ATTR_HIGH);
    return (struct xpu_epilogue_group){.activation = xpu_arg_attr(cg, node, XPU_ATTR_ACTIVATION),
                                       .low = xpu_arg_real(xa_fmin(low, high)),
                                       .high = xpu_arg_real(high),
                                       .alpha = xpu_arg_real(xpu_node_float(cg->graph, node, XPU_ATTR_ALPHA)),
                                       .branch_after = xpu_arg_attr(cg, node, XPU_ATTR_BRANCH_AFTER)};
}

xpu_arg_address xpu_operand_of(xpu_codegen *cg, uint32_t layer, xpu_node node, uint32_t input, const char *role) {
    xpu_value value = xpu_node_input(cg->graph, node, input);
    return value.id ? xpu_arg_at(xpu_operand_buffer(cg, layer, value, role)) : xpu_arg_absent();
}

static xpu_arg_address result_of(xpu_codegen *cg, xpu_node node, uint32_t output) {
    xpu_value value = xpu_node_output(cg->graph, node, output);
    return value.id ? xpu_arg_at(xpu_activation_buffer(cg, value)) : xpu_arg_absent();
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

static xpu_arg_address packed_weights(xpu_codegen *cg, uint32_t layer, xpu_node node, const xpu_packing *packing) {
    const char *name = xpu_printf(cg->arena, "%s/w", cg->program.layers.items[layer].name);
    return xpu_arg_at(xpu_weight_buffer(cg, xpu_node_input(cg->graph, node, XPU_IN_W), packing, name));
}

static xpu_dim conv_macs(xpu_codegen *cg, const xpu_conv_shape *s) {
    xpu_dims *dims = &cg->graph->dims;
    xpu_dim out = xpu_dim_mul(dims, xpu_dim_mul(dims, s->batch, s->out_h), xpu_dim_mul(dims, s->out_w, s->out_c));
    xpu_dim depth = xpu_dim_floordiv_const(dims, s->in_c, s->groups);
    return xpu_dim_mul(dims, out, xpu_dim_mul_const(dims, depth, s->kernel[0] * s->kernel[1]));
}

/* ---- the calls ---- */

/* The node that repeats the pixels of a smaller image, from which the kernel reads the branch; {0}: there is none. */
static xpu_node repeated_branch(xpu_codegen *cg, xpu_node node) {
    const xpu_node repeat = xpu_made_by(cg->graph, xpu_node_input(cg->graph, node, XPU_IN_BRANCH), XPU_OP_REPEAT);
    return repeat.id && xpu_is_read_through(cg, repeat) ? repeat : (xpu_node){0};
}

static xpu_arg_address branch_of(xpu_codegen *cg, uint32_t layer, xpu_node node) {
    const xpu_node repeat = repeated_branch(cg, node);
    return repeat.id ? xpu_operand_of(cg, layer, repeat, 0, "branch")
                     : xpu_operand_of(cg, layer, node, XPU_IN_BRANCH, "branch");
}

static struct xpu_operands_group operands_of(xpu_codegen *cg, uint32_t layer, xpu_node node,
                                             const xpu_packing *packing) {
    struct xpu_operands_group operands;
    xpu_value planes;
    operands.x = xpu_weaves_input(cg, node, &planes) ? xpu_arg_at(xpu_operand_buffer(cg, layer, planes, "x"))
                                                     : xpu_operand_of(cg, layer, node, XPU_IN_X, "x");
    operands.w = packed_weights(cg, layer, node, packing);
    operands.bias = xpu_operand_of(cg, layer, node, XPU_IN_BIAS, "bias");
    operands.branch = branch_of(cg, layer, node);
    operands.y = result_of(cg, node, XPU_OUT_Y);
    return operands;
}

/* Whether core 0 waits for the tensor engine before the layer before, which is one call on the cores: in that time it
 * can call this one. */
static int follows_wait(const xpu_codegen *cg, uint32_t layer) {
    const xpu_program_layer *layers = cg->program.layers.items;
    return layer > 1 && !xpu_begins_range(cg, layer) && !xpu_begins_range(cg, layer - 1) &&
           layers[layer - 2].unit == XPU_UNIT_TENSOR && layers[layer - 1].unit == XPU_UNIT_CORE &&
           cg->layers.items[layer - 1].calls.count == 1;
}

/* A copy that stays: that of an earlier layer with the same tiles, where one of the last few has them. */
static const xpu_tiles *keep_tiles(xpu_codegen *cg, const xpu_tiles *tiles) {
    const uint32_t slots = sizeof cg->last_tiles / sizeof *cg->last_tiles;
    for (uint32_t i = 0; i < slots; i++) {
        if (cg->last_tiles[i] && memcmp(cg->last_tiles[i], tiles, sizeof *tiles) == 0) return cg->last_tiles[i];
    }
    return cg->last_tiles[cg->tiles_kept++ % slots] = xpu_copy(cg->arena, tiles, sizeof *tiles);
}

/* The tiles of a call, and its scratch in SM; `ahead`: of one that may be called before the layer before it ends. */
static struct xpu_tile_group tile_of(xpu_codegen *cg, uint32_t layer, xpu_node node, const xpu_tiles *tiles,
                                     int ahead) {
    /* The kernel of a packed product has its loads of scales wait; called ahead they would stand in the queue before
     * loads of the layer that they wait for. */
    const int waits = xpu_node_is(cg->graph, node, XPU_OP_PACKED_MATMUL) && !ahead;
    const int32_t late = !waits && xpu_has_computed_parameters(cg, node) ? XPU_TILE_LATE_SCALES : 0;
    struct xpu_tile_group tile;
    xpu_sized_field fields[] = {{.field = &tile.tile_h}, {.field = &tile.tile_w}, {.field = &tile.whole}};
    cg->layers.items[layer].tiles = keep_tiles(cg, tiles);
    cg->layers.items[layer].called_ahead = ahead;
    for (uint32_t i = 0; i < tiles->sizes.count; i++) {
        fields[0].values[i] = tiles->items[i].tile_h;
        fields[1].values[i] = tiles->items[i].tile_w;
        fields[2].values[i] = tiles->items[i].whole | (tiles->items[i].whole & XPU_TILE_SCALES ? late : 0);
    }
    xpu_set_by_size(cg, &tiles->sizes, fields, 3);
    tile.tile_c = xpu_arg_number(tiles->items[0].tile_c);
    tile.banks = xpu_arg_number(cg->chip.acc_banks);
    const char *scratch = xpu_printf(cg->arena, "%s/tiles", cg->program.layers.items[layer].name);
    xpu_dim bytes = xpu_dim_of(cg, tiles->sm_bytes);
    if (!cg->layers.items[layer].in_ring)
        cg->layers.items[layer].scratch = xpu_scratch_buffer(cg, layer - (uint32_t)ahead, layer, bytes, scratch);
    tile.sm = xpu_arg_at(cg->layers.items[layer].scratch);
    tile.sm_bytes = xpu_arg_number(tiles->sm_bytes);
    return tile;
}

static struct xpu_geometry_group loaded_geometry_of(xpu_codegen *cg, const xpu_conv_shape *s) {
    const xpu_conv_shape loaded = xpu_loaded_shape(cg, s);
    return geometry_of(&loaded);
}

/* Where what the engine loads of x stands, whose elements have so many bytes. */
static void set_steps(xpu_codegen *cg, struct xpu_tile_group *tile, const xpu_conv_shape *s, int64_t bytes) {
    xpu_dims *dims = &cg->graph->dims;
    const xpu_conv_shape loaded = xpu_loaded_shape(cg, s);
    const int64_t down = s->stride[0] / loaded.stride[0], right = s->stride[1] / loaded.stride[1];
    const xpu_dim pixel = xpu_dim_mul_const(dims, s->x_pixel.id ? s->x_pixel : s->in_c, bytes),
                  row = xpu_dim_mul(dims, pixel, s->in_w);
    tile->x_image = xpu_arg_dim(xpu_dim_mul(dims, row, s->in_h));
    tile->x_row = xpu_arg_dim(xpu_dim_mul_const(dims, row, down));
    tile->x_pixel = xpu_arg_dim(xpu_dim_mul_const(dims, pixel, right));
}

/* The same of float32, which may lie in planes; the bytes from a channel to the next. */
static xpu_arg_int set_float_steps(xpu_codegen *cg, struct xpu_tile_group *tile, const xpu_conv_shape *s,
                                   int has_planes) {
    xpu_dims *dims = &cg->graph->dims;
    xpu_conv_shape of_plane = *s;
    if (has_planes) of_plane.x_pixel = xpu_dim_of(cg, 1);
    set_steps(cg, tile, &of_plane, sizeof(float));
    if (!has_planes) return xpu_arg_number(sizeof(float));
    const xpu_dim plane = xpu_dim_mul_const(dims, xpu_dim_mul(dims, s->in_h, s->in_w), sizeof(float));
    tile->x_image = xpu_arg_dim(xpu_dim_mul(dims, plane, s->in_c));
    return xpu_arg_dim(plane);
}

/* The operand of a product of bytes, and how its load makes them where it is float32 (x_divisor not 0). */
static void set_byte_input(xpu_codegen *cg, uint32_t layer, xpu_node node, const xpu_conv_shape *s,
                           struct xpu_conv2d_i8_call *call) {
    xpu_quantised_input input;
    call->x_divisor = xpu_arg_real(0);
    call->x_origin = call->x_plane = xpu_arg_number(0);
    if (!s->quantised || !xpu_quantises_input(cg, node, &input)) {
        call->x = xpu_operand_of(cg, layer, node, XPU_IN_X, "x");
        set_steps(cg, &call->tile, s, 1);
        return;
    }
    call->x = xpu_arg_at(xpu_operand_buffer(cg, layer, input.x, "x"));
    call->x_divisor = xpu_arg_real(input.scale);
    call->x_origin = xpu_arg_number(input.zero);
    call->x_plane = set_float_steps(cg, &call->tile, s, input.has_planes);
}

/* The result may overwrite the branch: the engine loads each tile of it before it stores that tile. Not where the
 * branch is x too, which later tiles need. */
static void offer_branch(xpu_codegen *cg, xpu_arg_address x, xpu_arg_address branch, xpu_arg_address y) {
    if (branch.arg.state != XPU_ARG_SET || branch.arg.word.kind != XPU_WORD_ADDRESS) return;
    const xpu_program_buffer *buffers = cg->program.buffers.items;
    const uint32_t from = branch.arg.word.buffer, to = y.arg.word.buffer;
    if (from != x.arg.word.buffer && xpu_dim_equal(buffers[from].bytes, buffers[to].bytes))
        xpu_offer_in_place(cg, to, from);
}

static void set_repeats(xpu_codegen *cg, xpu_node node, struct xpu_conv2d_i16_call *call) {
    const xpu_node repeat = repeated_branch(cg, node);
    const int64_t *repeats = repeat.id ? xpu_node_ints(cg->graph, repeat, XPU_ATTR_REPEATS, NULL) : NULL;
    enum { ROWS = 2, COLUMNS = 3 };
    call->repeat_h = xpu_arg_number(repeats ? repeats[ROWS] : 0);
    call->repeat_w = xpu_arg_number(repeats ? repeats[COLUMNS] : 0);
}

static void set_last_clip(xpu_codegen *cg, xpu_node node, struct xpu_conv2d_i16_call *call) {
    const int clips = node.id && xpu_node_attr(cg->graph, node, XPU_ATTR_LAST_LOW) != NULL;
    call->clips_last = xpu_arg_number(clips);
    call->last_low = xpu_arg_real(clips ? xpu_node_float(cg->graph, node, XPU_ATTR_LAST_LOW) : 0);
    call->last_high = xpu_arg_real(clips ? xpu_node_float(cg->graph, node, XPU_ATTR_LAST_HIGH) : 0);
}

static xpu_status lower_i16(xpu_codegen *cg, uint32_t layer, xpu_node node, const xpu_conv_shape *s) {
    const xpu_graph *graph = cg->graph;
    int narrow = xpu_node_int(graph, node, XPU_ATTR_PRECISION) == XPU_PRECISION_INT16X8;
    xpu_tiles made, *tiles = memset(&made, 0, sizeof made);
    const char *problem = xpu_choose_tiles(cg, s, xpu_node_input(graph, node, XPU_IN_BRANCH).id != 0,
                                           narrow ? XPU_TILING_I16X8 : XPU_TILING_I16, tiles);
    if (problem) return xpu_codegen_bug(cg, "an int16 layer has no tile", "%s", problem);
    xpu_packing packing =
        packing_of(cg, node, narrow ? XPU_PACK_CONV_I8 : XPU_PACK_CONV_I16, s, tiles->items[0].tile_c);
    struct xpu_conv2d_i16_call call = {
        .w_int8 = xpu_arg_number(narrow), .w_image = xpu_arg_number(0), .scale_image = xpu_arg_number(0)};
    call.operands = operands_of(cg, layer, node, &packing);
    call.y_absmax = result_of(cg, node, XPU_OUT_ABSMAX);
    set_repeats(cg, node, &call);
    offer_branch(cg, call.operands.x, call.operands.branch, call.operands.y);
    call.geometry = loaded_geometry_of(cg, s);
    call.epilogue = xpu_epilogue_of(cg, node);
    set_last_clip(cg, node, &call);
    call.x_absmax = xpu_operand_of(cg, layer, node, XPU_IN_ABSMAX, "absmax");
    call.w_scale = xpu_operand_of(cg, layer, node, XPU_IN_WSCALE, "scale");
    call.tile = tile_of(cg, layer, node, tiles, follows_wait(cg, layer));
    call.x_plane = set_float_steps(cg, &call.tile, s, xpu_weaves_input(cg, node, NULL));
    xpu_describe_layer(cg, layer, XPU_KERNEL_conv2d_i16, conv_macs(cg, s));
    return xpu_add_conv2d_i16(cg, layer, &call);
}

int xpu_follows_tensor(xpu_codegen *cg, uint32_t layer, xpu_node node) {
    return xpu_follows_kernel(cg, layer, node, XPU_KERNEL_conv2d_i16);
}

const xpu_tiles *xpu_convolution_before(xpu_codegen *cg, uint32_t layer, xpu_node node) {
    const xpu_value x = xpu_value_root(cg, xpu_node_input(cg->graph, node, XPU_IN_X));
    if (!xpu_follows_tensor(cg, layer, node) || !xpu_made_by(cg->graph, x, XPU_OP_CONV).id) return NULL;
    return cg->layers.items[layer - 1].tiles;
}

/* What the cores have to do, in cycles of one of them, for size i of what the layer before makes. */
static double depthwise_work(const xpu_codegen *cg, const xpu_conv_shape *s, const xpu_chain *prologue,
                             const xpu_sizes *sizes, uint32_t i) {
    const xpu_size *size = &sizes->items[i];
    double out_h = (double)xpu_dim_upper(cg, s->out_h), out_w = (double)xpu_dim_upper(cg, s->out_w);
    if (i + 1 < sizes->count) {
        out_h = ceil((double)size->out_h / (double)s->stride[0]);
        out_w = ceil((double)size->out_w / (double)s->stride[1]);
    }
    return xpu_depthwise_cycles(cg, s, prologue, out_h, out_w, size->out_h, size->out_w);
}

/* What a core does twice where strips are fine: their first rows, which the strip before has, too, go through the chain
 * in front of the window again. */
static double done_twice(const xpu_codegen *cg, const xpu_conv_shape *s, const xpu_chain *prologue,
                         const xpu_size *size) {
    enum { BANDS = 16 }; /* that begin_early cuts an image into (kernels/matrix_depthwise_strips.h) */
    if (!prologue) return 0;
    const double rows = ceil((double)size->out_h / (double)s->stride[0] / BANDS) * (double)s->stride[0];
    const double shared = (double)(s->kernel[0] - s->stride[0]);
    const double images = (double)xpu_dim_upper(cg, s->batch) * (double)xpu_dim_upper(cg, s->out_c);
    const double chain = images * size->out_h * size->out_w * xpu_chain_vector_cycles(prologue) / 16;
    return shared > 0 ? chain * shared / rows / cg->chip.cores : 0;
}

/* In thousandths, for size i of what the layer before makes; -1: the layer does not begin early. Rows come in steps of
 * a tile: few rows in few steps are there before the cores have begun, and finer strips cost more. */
static int64_t late_share(const xpu_codegen *cg, const xpu_tiles *made, uint32_t i, double work, double twice) {
    enum { LEAST_ROWS = 48, LEAST_STEPS = 6 };
    const int32_t rows = made->sizes.items[i].out_h, tile = made->items[i].tile_h;
    if (rows < LEAST_ROWS && (rows + tile - 1) / tile < LEAST_STEPS) return -1;
    const double cycles = made->items[i].cycles, cores = cg->chip.cores;
    if (twice > cycles) return -1;
    double late = (work - (cores - 1) * cycles) / cores;
    return late > 0 ? (int64_t)(1000 * late / work) : 0;
}

/* A depthwise layer behind the tensor engine begins with the first rows. Core 0 first queues what the engine has to do:
 * its share of the strips is such that all cores end together, by a rough model. */
static xpu_arg_int begin_early(xpu_codegen *cg, uint32_t layer, xpu_node node, const xpu_conv_shape *s) {
    const xpu_tiles *made = xpu_convolution_before(cg, layer, node);
    xpu_arg_int late = xpu_arg_number(-1);
    if (!made) return late;
    xpu_sized_field share = {.field = &late};
    const xpu_attr *steps = xpu_node_attr(cg->graph, node, XPU_ATTR_STEPS);
    const xpu_chain *prologue = steps ? steps->chain : NULL;
    for (uint32_t i = 0; i < made->sizes.count; i++) {
        const double work = depthwise_work(cg, s, prologue, &made->sizes, i);
        share.values[i] = late_share(cg, made, i, work, done_twice(cg, s, prologue, &made->sizes.items[i]));
        if (share.values[i] >= 0) cg->layers.items[layer].begins_early = 1;
    }
    xpu_set_by_size(cg, &made->sizes, &share, 1);
    return late;
}

static xpu_status lower_conv_f32(xpu_codegen *cg, uint32_t layer, xpu_node node, const xpu_conv_shape *s) {
    const xpu_packing packing = packing_of(cg, node, XPU_PACK_CONV_F32, s, 0);
    struct xpu_conv2d_f32_call call = {0};
    call.operands = operands_of(cg, layer, node, &packing);
    call.y_absmax = result_of(cg, node, XPU_OUT_ABSMAX);
    call.geometry = geometry_of(s);
    call.epilogue = xpu_epilogue_of(cg, node);
    xpu_describe_layer(cg, layer, XPU_KERNEL_conv2d_f32, conv_macs(cg, s));
    return xpu_add_conv2d_f32(cg, layer, &call);
}

static xpu_status lower_depthwise_f32(xpu_codegen *cg, uint32_t layer, xpu_node node, const xpu_conv_shape *s) {
    const xpu_packing packing = packing_of(cg, node, XPU_PACK_DEPTHWISE_F32, s, 0);
    const int has_prologue = xpu_node_attr(cg->graph, node, XPU_ATTR_STEPS) != NULL;
    struct xpu_depthwise_chain_f32_call call = {0};
    call.operands = operands_of(cg, layer, node, &packing);
    call.y_absmax = result_of(cg, node, XPU_OUT_ABSMAX);
    call.geometry = geometry_of(s);
    call.epilogue = xpu_epilogue_of(cg, node);
    call.late_share = begin_early(cg, layer, node, s);
    if (has_prologue) {
        const char *body = xpu_prologue_of(cg, layer, node, call.c);
        xpu_describe_layer(cg, layer, XPU_KERNEL_depthwise_chain_f32, conv_macs(cg, s));
        return xpu_add_depthwise_chain_f32(cg, layer, &call, body);
    }
    struct xpu_depthwise_f32_call plain = {.operands = call.operands,
                                           .y_absmax = call.y_absmax,
                                           .geometry = call.geometry,
                                           .epilogue = call.epilogue,
                                           .late_share = call.late_share};
    xpu_describe_layer(cg, layer, XPU_KERNEL_depthwise_f32, conv_macs(cg, s));
    return xpu_add_depthwise_f32(cg, layer, &plain);
}

/* With 16-bit operands, on the window engine or on the cores. */
static xpu_status lower_depthwise_i16(xpu_codegen *cg, uint32_t layer, xpu_node node, const xpu_conv_shape *s) {
    const int narrow = xpu_node_int(cg->graph, node, XPU_ATTR_PRECISION) == XPU_PRECISION_INT16X8;
    const xpu_packing packing = packing_of(cg, node, narrow ? XPU_PACK_DEPTHWISE_I8 : XPU_PACK_DEPTHWISE_I16, s, 0);
    const int32_t whole = xpu_has_computed_parameters(cg, node) ? XPU_WINDOW_COMPUTED : 0;
    const xpu_arg_int zero = xpu_arg_number(0);
    xpu_byte_tasks tasks;
    int64_t sm_bytes;
    const int on_engine =
        xpu_choose_wide_window_tasks(cg, s, 1, 0, narrow ? XPU_TILING_I16X8 : XPU_TILING_I16, &tasks, &sm_bytes);
    if (!on_engine && !xpu_choose_wide_tasks(cg, s, narrow, &tasks))
        return xpu_codegen_bug(cg, "a depthwise layer has no task", "of int16");
    struct xpu_window_i16_call call = {.w_int8 = xpu_arg_number(narrow), .whole = xpu_arg_number(whole)};
    call.operands = operands_of(cg, layer, node, &packing);
    call.x_absmax = xpu_operand_of(cg, layer, node, XPU_IN_ABSMAX, "absmax");
    call.w_scale = xpu_operand_of(cg, layer, node, XPU_IN_WSCALE, "scale");
    call.y_absmax = result_of(cg, node, XPU_OUT_ABSMAX);
    call.geometry = geometry_of(s);
    call.epilogue = xpu_epilogue_of(cg, node);
    call.counted = (struct xpu_counted_group){zero, zero, zero, zero};
    call.task = xpu_task_of(cg, &tasks);
    if (on_engine) {
        xpu_describe_layer(cg, layer, XPU_KERNEL_window_i16, conv_macs(cg, s));
        call.sm = xpu_window_scratch(cg, layer, &tasks, sm_bytes);
        call.sm_bytes = xpu_arg_number(sm_bytes);
        return xpu_add_window_i16(cg, layer, &call);
    }
    struct xpu_depthwise_i16_call on_cores = {.operands = call.operands,
                                              .x_absmax = call.x_absmax,
                                              .w_scale = call.w_scale,
                                              .y_absmax = call.y_absmax,
                                              .geometry = call.geometry,
                                              .epilogue = call.epilogue,
                                              .w_int8 = call.w_int8,
                                              .counted = call.counted,
                                              .task = call.task};
    xpu_describe_layer(cg, layer, XPU_KERNEL_depthwise_i16, conv_macs(cg, s));
    cg->layers.items[layer].task_cycles = tasks.predicted;
    return xpu_add_depthwise_i16(cg, layer, &on_cores);
}

static int is_unsigned(const xpu_codegen *cg, xpu_value value) {
    return value.id && xpu_value_at(cg->graph, value)->dtype == XPU_U8;
}

static xpu_arg_int sign_of(const xpu_codegen *cg, xpu_value value) {
    return xpu_arg_number(is_unsigned(cg, value));
}

/* On the window engine. */
static xpu_status lower_byte_window(xpu_codegen *cg, uint32_t layer, xpu_node node,
                                    const struct xpu_depthwise_i8_call *call, const xpu_conv_shape *s,
                                    xpu_byte_tasks *tasks, int64_t sm_bytes) {
    const int32_t whole = xpu_has_computed_parameters(cg, node) ? XPU_WINDOW_COMPUTED : 0;
    struct xpu_window_i8_call window = {.x = call->x,
                                        .w = call->w,
                                        .bias = call->bias,
                                        .y = call->y,
                                        .factors = call->factors,
                                        .geometry = call->geometry,
                                        .op = xpu_arg_number(XPU_WINDOW_CONVOLUTION),
                                        .whole = xpu_arg_number(whole),
                                        .x_unsigned = call->x_unsigned,
                                        .w_unsigned = call->w_unsigned,
                                        .x_zero = call->x_zero,
                                        .w_zero = call->w_zero,
                                        .factor = xpu_arg_real(1.0f),
                                        .zero = call->zero,
                                        .low = call->low,
                                        .high = call->high};
    xpu_place_beside(cg, layer, node, s, tasks, sm_bytes, &window);
    return xpu_add_window_i8(cg, layer, &window);
}

static xpu_status lower_byte_depthwise(xpu_codegen *cg, uint32_t layer, xpu_node node, const xpu_conv_shape *s) {
    const xpu_graph *graph = cg->graph;
    xpu_byte_tasks tasks;
    int64_t sm_bytes;
    const int on_engine = xpu_choose_window_tasks(cg, s, 1, 0, &tasks, &sm_bytes);
    if (!on_engine && !xpu_choose_byte_tasks(cg, s, 1, &tasks))
        return xpu_codegen_bug(cg, "a depthwise layer has no task", "of bytes");
    const xpu_packing packing = packing_of(cg, node, XPU_PACK_DEPTHWISE_I8, s, 0);
    struct xpu_depthwise_i8_call call = {.geometry = geometry_of(s)};
    call.x = xpu_operand_of(cg, layer, node, XPU_IN_X, "x");
    call.w = packed_weights(cg, layer, node, &packing);
    call.bias = xpu_operand_of(cg, layer, node, XPU_IN_BIAS, "bias");
    call.factors = xpu_operand_of(cg, layer, node, XPU_IN_WSCALE, "factors");
    call.y = result_of(cg, node, XPU_OUT_Y);
    call.x_unsigned = sign_of(cg, xpu_node_input(graph, node, XPU_IN_X));
    call.w_unsigned = sign_of(cg, xpu_node_input(graph, node, XPU_IN_W));
    call.x_zero = xpu_arg_attr(cg, node, XPU_ATTR_X_ZERO);
    call.w_zero = xpu_arg_attr(cg, node, XPU_ATTR_W_ZERO);
    call.zero = xpu_arg_attr(cg, node, XPU_ATTR_Y_ZERO);
    call.low = xpu_arg_attr(cg, node, XPU_ATTR_Y_LOW);
    call.high = xpu_arg_attr(cg, node, XPU_ATTR_Y_HIGH);
    xpu_describe_layer(cg, layer, on_engine ? XPU_KERNEL_window_i8 : XPU_KERNEL_depthwise_i8, conv_macs(cg, s));
    if (on_engine) return lower_byte_window(cg, layer, node, &call, s, &tasks, sm_bytes);
    xpu_note_pixels(cg, s->in_c, s->y_pixel);
    call.task = xpu_task_of(cg, &tasks);
    cg->layers.items[layer].task_cycles = tasks.predicted;
    return xpu_add_depthwise_i8(cg, layer, &call);
}

/* How sums of bytes become bytes. */
static void set_rescaling(const xpu_codegen *cg, struct xpu_conv2d_i8_call *call, xpu_node node) {
    const xpu_graph *graph = cg->graph;
    int branch = xpu_node_input(graph, node, XPU_IN_BRANCH).id != 0;
    call->zero = xpu_arg_attr(cg, node, branch ? XPU_ATTR_MID_ZERO : XPU_ATTR_Y_ZERO);
    call->low = xpu_arg_attr(cg, node, branch ? XPU_ATTR_MID_LOW : XPU_ATTR_Y_LOW);
    call->high = xpu_arg_attr(cg, node, branch ? XPU_ATTR_MID_HIGH : XPU_ATTR_Y_HIGH);
    call->low2 = xpu_arg_attr(cg, node, XPU_ATTR_Y_LOW);
    call->high2 = xpu_arg_attr(cg, node, XPU_ATTR_Y_HIGH);
    call->x_factor = xpu_arg_real(xpu_node_float(graph, node, XPU_ATTR_X_FACTOR));
    call->b_factor = xpu_arg_real(xpu_node_float(graph, node, XPU_ATTR_B_FACTOR));
    call->addend = xpu_arg_real(xpu_node_float(graph, node, XPU_ATTR_ADDEND));
}

/* Sums of bytes as float32. The kernel reads a computed zero point as it begins, behind the layer before. */
static xpu_status lower_i8_f32(xpu_codegen *cg, uint32_t layer, xpu_node node, const xpu_conv_shape *s) {
    const xpu_graph *graph = cg->graph;
    xpu_tiles made, *tiles = memset(&made, 0, sizeof made);
    const char *problem = xpu_choose_tiles(cg, s, 0, XPU_TILING_I8F, tiles);
    if (problem) return xpu_codegen_bug(cg, "a product of bytes has no tile", "%s", problem);
    const xpu_packing packing = packing_of(cg, node, XPU_PACK_CONV_I8, s, tiles->items[0].tile_c);
    struct xpu_conv2d_i8_f32_call call = {.operands = operands_of(cg, layer, node, &packing)};
    int computed = xpu_node_input(graph, node, XPU_IN_XZERO).id != 0;
    call.factors = xpu_operand_of(cg, layer, node, XPU_IN_WSCALE, "factors");
    call.x_zero_byte = xpu_operand_of(cg, layer, node, XPU_IN_XZERO, "zero");
    call.geometry = loaded_geometry_of(cg, s);
    call.x_unsigned = sign_of(cg, xpu_node_input(graph, node, XPU_IN_X));
    call.w_unsigned = sign_of(cg, xpu_node_input(graph, node, XPU_IN_W));
    call.x_zero = xpu_arg_attr(cg, node, XPU_ATTR_X_ZERO);
    call.w_zero = xpu_arg_attr(cg, node, XPU_ATTR_W_ZERO);
    xpu_describe_layer(cg, layer, XPU_KERNEL_conv2d_i8_f32, conv_macs(cg, s));
    call.tile = tile_of(cg, layer, node, tiles, !computed && follows_wait(cg, layer));
    set_steps(cg, &call.tile, s, 1);
    return xpu_add_conv2d_i8_f32(cg, layer, &call);
}

xpu_status xpu_lower_qproduct(xpu_codegen *cg, uint32_t layer, xpu_node node) {
    const xpu_graph *graph = cg->graph;
    xpu_conv_shape s = xpu_conv_shape_of(cg, node);
    if (xpu_node_int(graph, node, XPU_ATTR_DTYPE) == XPU_F32) return lower_i8_f32(cg, layer, node, &s);
    if (xpu_is_byte_depthwise(cg, node)) return lower_byte_depthwise(cg, layer, node, &s);
    xpu_value branch = xpu_node_input(graph, node, XPU_IN_BRANCH);
    xpu_tiles made, *tiles = memset(&made, 0, sizeof made);
    const char *problem = xpu_choose_tiles(cg, &s, branch.id != 0, XPU_TILING_I8, tiles);
    if (problem) return xpu_codegen_bug(cg, "a quantised layer has no tile", "%s", problem);
    const xpu_packing packing = packing_of(cg, node, XPU_PACK_CONV_I8, &s, tiles->items[0].tile_c);
    struct xpu_conv2d_i8_call call = {.geometry = loaded_geometry_of(cg, &s)};
    call.w = packed_weights(cg, layer, node, &packing);
    call.bias = xpu_operand_of(cg, layer, node, XPU_IN_BIAS, "bias");
    call.factors = xpu_operand_of(cg, layer, node, XPU_IN_WSCALE, "factors");
    call.y = result_of(cg, node, XPU_OUT_Y);
    call.branch = xpu_operand_of(cg, layer, node, XPU_IN_BRANCH, "branch");
    call.x_unsigned = sign_of(cg, xpu_node_input(graph, node, XPU_IN_X));
    call.w_unsigned = sign_of(cg, xpu_node_input(graph, node, XPU_IN_W));
    call.y_unsigned = sign_of(cg, xpu_node_output(graph, node, XPU_OUT_Y));
    call.branch_unsigned = sign_of(cg, branch);
    call.branch_first = xpu_arg_attr(cg, node, XPU_ATTR_BRANCH_FIRST);
    call.x_zero = xpu_arg_attr(cg, node, XPU_ATTR_X_ZERO);
    call.w_zero = xpu_arg_attr(cg, node, XPU_ATTR_W_ZERO);
    set_rescaling(cg, &call, node);
    xpu_describe_layer(cg, layer, XPU_KERNEL_conv2d_i8, conv_macs(cg, &s));
    xpu_place_behind(cg, layer, node, &s, tiles, xpu_maker_before(cg, layer, node, XPU_KERNEL_window_i8));
    call.tile = tile_of(cg, layer, node, tiles, follows_wait(cg, layer));
    set_byte_input(cg, layer, node, &s, &call);
    /* beside the first product of a pipeline, whose operand the branch may be, nothing overwrites it */
    if (!cg->layers.items[layer].in_ring) offer_branch(cg, call.x, call.branch, call.y);
    return xpu_add_conv2d_i8(cg, layer, &call);
}

static xpu_status lower_conv_like(xpu_codegen *cg, uint32_t layer, xpu_node node) {
    xpu_conv_shape shape = xpu_conv_shape_of(cg, node);
    int is_float = xpu_node_int(cg->graph, node, XPU_ATTR_PRECISION) == XPU_PRECISION_FP32;
    int depthwise = xpu_is_depthwise(cg, &shape);
    if (!is_float) return depthwise ? lower_depthwise_i16(cg, layer, node, &shape) : lower_i16(cg, layer, node, &shape);
    return depthwise ? lower_depthwise_f32(cg, layer, node, &shape) : lower_conv_f32(cg, layer, node, &shape);
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
    xpu_value behind = xpu_untransposed(cg, b);
    int a_single = xpu_dim_equal(xpu_dims_product(cg, a, 0, a_rank - 2), one);
    int b_single = xpu_dim_equal(xpu_dims_product(cg, b, 0, b_rank - 2), one);
    xpu_dim batch = xpu_dims_product(cg, y, 0, rank - 2);
    struct xpu_matmul_f32_call call = {0};
    call.a = xpu_operand_of(cg, layer, node, XPU_IN_X, "a");
    call.b = xpu_arg_at(xpu_operand_buffer(cg, layer, behind.id ? behind : b, "w"));
    call.b_transposed = xpu_arg_number(behind.id != 0);
    call.bias = xpu_operand_of(cg, layer, node, XPU_IN_BIAS, "bias");
    call.branch = xpu_operand_of(cg, layer, node, XPU_IN_BRANCH, "branch");
    call.y = xpu_arg_at(xpu_activation_buffer(cg, y));
    call.batch = xpu_arg_dim(batch);
    call.m = xpu_arg_dim(m);
    call.k = xpu_arg_dim(k);
    call.n = xpu_arg_dim(n);
    xpu_dim a_rows = xpu_value_extent(cg, a, a_rank - 2);
    xpu_value stored = behind.id ? behind : b;
    xpu_dim b_rows = xpu_value_extent(cg, stored, b_rank - 2), b_columns = xpu_value_dim(cg, stored, b_rank - 1);
    call.a_batch_stride = xpu_arg_dim(a_single ? zero : xpu_dim_mul(dims, a_rows, k));
    call.b_batch_stride = xpu_arg_dim(b_single ? zero : xpu_dim_mul(dims, b_rows, b_columns));
    call.epilogue = xpu_epilogue_of(cg, node);
    xpu_dim each = xpu_dim_mul(dims, xpu_dim_mul(dims, m, k), n);
    xpu_describe_layer(cg, layer, XPU_KERNEL_matmul_f32, xpu_dim_mul(dims, batch, each));
    return xpu_add_matmul_f32(cg, layer, &call);
}

static xpu_dim packed_bytes(xpu_codegen *cg, const xpu_value_info *w) {
    xpu_dims *dims = &cg->graph->dims;
    xpu_dim block = xpu_dim_mul(dims, w->dims[2], w->dims[3]);
    return xpu_dim_mul_const(dims, xpu_dim_mul(dims, w->dims[1], block), (int64_t)xpu_dtype_bytes(w->dtype));
}

xpu_status xpu_lower_packed_matmul(xpu_codegen *cg, uint32_t layer, xpu_node node) {
    const xpu_graph *graph = cg->graph;
    const xpu_value_info *w = xpu_value_at(graph, xpu_node_input(graph, node, XPU_IN_W));
    xpu_dim columns = xpu_value_dim(cg, xpu_node_input(graph, node, XPU_IN_WSCALE), 1), zero = xpu_dim_of(cg, 0);
    int own = !xpu_dim_equal(w->dims[0], xpu_dim_of(cg, 1)), narrow = w->dtype == XPU_I8;
    xpu_conv_shape s = xpu_matrices_shape(cg, node, columns, own);
    xpu_tiles made, *tiles = memset(&made, 0, sizeof made);
    const char *problem = xpu_choose_tiles(cg, &s, 0, narrow ? XPU_TILING_I16X8 : XPU_TILING_I16, tiles);
    if (problem) return xpu_codegen_bug(cg, "a product of matrices has no tile", "%s", problem);
    struct xpu_conv2d_i16_call call = {.geometry = geometry_of(&s), .w_int8 = xpu_arg_number(narrow)};
    call.operands.x = xpu_operand_of(cg, layer, node, XPU_IN_X, "x");
    call.operands.w = xpu_operand_of(cg, layer, node, XPU_IN_W, "w");
    call.operands.bias = call.operands.branch = call.y_absmax = xpu_arg_absent();
    call.operands.y = result_of(cg, node, XPU_OUT_Y);
    call.epilogue = (struct xpu_epilogue_group){.activation = xpu_arg_number(XPU_ACTIVATION_NONE),
                                                .low = xpu_arg_real(0),
                                                .high = xpu_arg_real(0),
                                                .alpha = xpu_arg_real(0),
                                                .branch_after = xpu_arg_number(0)};
    call.x_absmax = xpu_operand_of(cg, layer, node, XPU_IN_ABSMAX, "absmax");
    call.w_scale = xpu_operand_of(cg, layer, node, XPU_IN_WSCALE, "scale");
    call.tile = tile_of(cg, layer, node, tiles, follows_wait(cg, layer));
    call.x_plane = set_float_steps(cg, &call.tile, &s, 0);
    call.w_image = xpu_arg_dim(own ? packed_bytes(cg, w) : zero);
    call.scale_image = xpu_arg_dim(xpu_dim_mul_const(&cg->graph->dims, columns, 4));
    call.repeat_h = call.repeat_w = xpu_arg_number(0);
    set_last_clip(cg, (xpu_node){0}, &call);
    xpu_describe_layer(cg, layer, XPU_KERNEL_conv2d_i16, conv_macs(cg, &s));
    return xpu_add_conv2d_i16(cg, layer, &call);
}

xpu_status xpu_lower_matmul(xpu_codegen *cg, uint32_t layer, xpu_node node) {
    xpu_value w = xpu_node_input(cg->graph, node, XPU_IN_W);
    int rank = xpu_value_at(cg->graph, w)->rank;
    int one_matrix = xpu_dim_equal(xpu_dims_product(cg, w, 0, rank - 2), xpu_dim_of(cg, 1));
    if (xpu_is_const_value(cg, w) && one_matrix) return lower_conv_like(cg, layer, node);
    return lower_two_matrices(cg, layer, node);
}
