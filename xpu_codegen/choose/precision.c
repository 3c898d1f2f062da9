/*
 * Which layers compute in int16 on the engines, and why.
 *
 * A convolution or matrix product by a constant can (a depthwise one with a window of some size), an average over
 * such windows, which then is a convolution, and a maximum; everything else is float32. Automatic precision keeps
 * float32 where a small error of the result becomes a large one (sensitivity.h), and where a product says so itself
 * (attribute exact). An int16 layer has int16 weights (int16x8: int8) with a scale per output channel and reads the
 * largest magnitude of its input, which the producing layer finds, or a layer of its own. A rule of the user's
 * overrides the precision of the layers that it matches.
 */
#include "xpu_codegen/choose/precision.h"

#include <string.h>

#include "core/arith.h"
#include "core/passes/rewrite.h"
#include "xpu_codegen/choose/attention.h"
#include "xpu_codegen/choose/averages.h"
#include "xpu_codegen/choose/chain_loops.h"
#include "xpu_codegen/choose/computed_weights.h"
#include "xpu_codegen/choose/large_maxima.h"
#include "xpu_codegen/choose/long_rows.h"
#include "xpu_codegen/choose/maxima.h"
#include "xpu_codegen/choose/merged_products.h"
#include "xpu_codegen/choose/phases.h"
#include "xpu_codegen/choose/precision_rules.h"
#include "xpu_codegen/choose/recurrent.h"
#include "xpu_codegen/choose/row_scale.h"
#include "xpu_codegen/choose/sensitivity.h"
#include "xpu_codegen/choose/tiles.h"
#include "xpu_codegen/choose/wide_tasks.h"

/* ---- the choice ---- */

static int is_matrix_like(const xpu_codegen *cg, xpu_node node) {
    return xpu_op_attr(xpu_node_at(cg->graph, node)->op, XPU_ATTR_PRECISION) != NULL && !xpu_is_foreign(cg, node);
}

/* A matrix of constants, possibly behind leading dims of 1. */
static int has_constant_matrix(const xpu_codegen *cg, xpu_node node) {
    xpu_value w = xpu_node_input(cg->graph, node, XPU_IN_W);
    int64_t dims[XPU_MAX_RANK];
    int rank = xpu_value_at(cg->graph, w)->rank;
    if (!xpu_is_const_value(cg, w) || !xpu_value_dims(cg->graph, w, NULL, dims)) return 0;
    for (int i = 0; i < rank - 2; i++) {
        if (dims[i] != 1) return 0;
    }
    return 1;
}

static int matches(const xpu_codegen *cg, xpu_node node, const char *glob) {
    if (xpu_glob_match(glob, xpu_node_name(cg->graph, node))) return 1;
    const xpu_node_info *info = xpu_node_at(cg->graph, node);
    for (uint32_t i = 0; i < info->origins.count; i++) {
        const char *name = cg->graph->origins.items[info->origins.items[i]].name;
        if (name && xpu_glob_match(glob, name)) return 1;
    }
    return 0;
}

/* The user's wish for a node: the last rule that matches it, or --precision; `*rule` is NULL for the latter. */
static xpu_precision_mode wanted_mode(xpu_codegen *cg, xpu_node node, const char **rule) {
    xpu_precision_mode mode = cg->mode;
    *rule = NULL;
    for (uint32_t i = 0; i < cg->precision_rules->count; i++) {
        xpu_precision_rule *item = &cg->precision_rules->items[i];
        if (!matches(cg, node, item->match)) continue;
        item->matched = 1;
        mode = item->mode;
        *rule = item->match;
    }
    return mode;
}

/* Whether no rule takes the scales of its rows from a node; the last that matches it holds. */
static int may_scale_rows(const xpu_codegen *cg, xpu_node node) {
    int may = 1;
    for (uint32_t i = 0; i < cg->precision_rules->count; i++) {
        const xpu_precision_rule *item = &cg->precision_rules->items[i];
        if (matches(cg, node, item->match)) may = item->row_scales;
    }
    return may;
}

static const char adds_up[] = "its errors would add up over the steps of a recurrent operator";

static int has_computed_matrix(const xpu_codegen *cg, xpu_node node) {
    return xpu_node_is(cg->graph, node, XPU_OP_MATMUL) && !has_constant_matrix(cg, node);
}

/* With fewer products the cores, each of which has some columns, are faster in float32 than the tensor engine is with
 * its largest magnitude in front (1 x 64 x 64: 2,800 cycles, in int16 4,500; 1 x 64 x 172: 3,300 and 6,600). For a lone
 * row the array loads weights no faster than GM delivers their floats (1 x 64 x 512: 4,500 and 11,200). */
enum { LEAST_PRODUCTS = 1 << 15, LEAST_OF_A_ROW = 1 << 17 };

static int is_small_product(xpu_codegen *cg, xpu_node node) {
    if (!xpu_node_is(cg->graph, node, XPU_OP_MATMUL)) return 0;
    xpu_value x = xpu_node_input(cg->graph, node, XPU_IN_X), y = xpu_node_output(cg->graph, node, XPU_OUT_Y);
    int64_t columns = xpu_dim_upper(cg, xpu_value_dim(cg, y, xpu_value_at(cg->graph, y)->rank - 1));
    if (columns < (int64_t)cg->chip.cores * cg->chip.lanes) return 0;
    xpu_dim elements = xpu_dims_product(cg, x, 0, xpu_value_at(cg->graph, x)->rank);
    int64_t inner = xpu_dim_upper(cg, xpu_value_dim(cg, x, xpu_value_at(cg->graph, x)->rank - 1));
    int64_t least = xpu_dim_upper(cg, elements) == inner ? LEAST_OF_A_ROW : LEAST_PRODUCTS;
    return xpu_dim_likely(cg, elements) * (double)columns < (double)least;
}

/* Why automatic precision keeps float32 where integers are possible; NULL: it does not. */
static const char *why_exact(xpu_codegen *cg, xpu_node node, xpu_precision_mode mode,
                             const xpu_sensitive_use *sensitive) {
    if (mode != XPU_MODE_AUTO) return NULL;
    if (xpu_op_attr(xpu_node_at(cg->graph, node)->op, XPU_ATTR_EXACT) && xpu_node_int(cg->graph, node, XPU_ATTR_EXACT))
        return adds_up;
    const xpu_sensitive_use *use = &sensitive[xpu_node_output(cg->graph, node, 0).id];
    if (!use->what) return NULL;
    return xpu_printf(cg->arena, "its result reaches %s of '%s' through linear operators", use->what,
                      xpu_escape(cg->arena, xpu_node_name(cg->graph, use->node), 80));
}

/* NULL when the node shall have 16-bit activations, else why it has not. */
static const char *why_float32(xpu_codegen *cg, xpu_node node, xpu_precision_mode mode, const char *rule,
                               const xpu_sensitive_use *sensitive) {
    if (mode == XPU_MODE_FP32) {
        return rule ? xpu_printf(cg->arena, "the precision rule \"%s\"", xpu_escape(cg->arena, rule, 80))
                    : "--precision=fp32";
    }
    const int computed = has_computed_matrix(cg, node);
    const xpu_tiling_format format = mode == XPU_MODE_INT16X8 ? XPU_TILING_I16X8 : XPU_TILING_I16;
    if (computed) {
        const char *reason = xpu_why_not_packed(cg, node, format);
        return reason ? reason : why_exact(cg, node, mode, sensitive);
    }
    if (!xpu_is_const_value(cg, xpu_node_input(cg->graph, node, XPU_IN_W))) return "its weights are computed";
    if (xpu_is_empty(cg, xpu_node_output(cg->graph, node, 0)) ||
        xpu_is_empty(cg, xpu_node_input(cg->graph, node, XPU_IN_X))) {
        return "its operand or result has no elements";
    }
    if (xpu_node_is(cg->graph, node, XPU_OP_RECURRENT)) {
        xpu_recurrent_room room;
        const char *problem = xpu_choose_recurrent(cg, node, mode == XPU_MODE_INT16X8, &room);
        return mode == XPU_MODE_AUTO && !problem ? adds_up : problem;
    }
    xpu_conv_shape shape = xpu_conv_shape_of(cg, node);
    const int has_branch = xpu_node_input(cg->graph, node, XPU_IN_BRANCH).id != 0;
    xpu_tile tile;
    const char *no_tile = xpu_is_depthwise(cg, &shape) ? xpu_why_not_wide_depthwise(cg, &shape, has_branch)
                                                       : xpu_choose_tile(cg, &shape, has_branch, format, &tile);
    const char *reason = no_tile ? no_tile : why_exact(cg, node, mode, sensitive);
    if (reason || mode != XPU_MODE_AUTO || !is_small_product(cg, node)) return reason;
    return "a small product is faster in float32 on the cores";
}

/* ---- averages ---- */

static int is_average(const xpu_codegen *cg, xpu_node node) {
    return xpu_on_chip(cg, node) && (xpu_node_is(cg->graph, node, XPU_OP_AVERAGE_POOL) ||
                                     xpu_node_is(cg->graph, node, XPU_OP_GLOBAL_AVERAGE_POOL));
}

/* Whether one of the node's operands comes from what computes in integers; by value id, of those that were there when
 * the choice began. Then its results do, too. */
static int reads_rounded(const xpu_codegen *cg, xpu_node node, const uint8_t *rounded, uint32_t count) {
    const xpu_node_info *info = xpu_node_at(cg->graph, node);
    for (uint32_t i = 0; i < info->input_count; i++)
        if (info->inputs[i].id < count && rounded[info->inputs[i].id]) return 1;
    return 0;
}

static void mark_rounded(const xpu_codegen *cg, xpu_node node, uint8_t *rounded, uint32_t count) {
    const xpu_node_info *info = xpu_node_at(cg->graph, node);
    const int is_rounded = xpu_node_is(cg->graph, node, XPU_OP_ROW_RESTORE) ||
                           xpu_node_is(cg->graph, node, XPU_OP_PACKED_MATMUL) ||
                           (xpu_op_attr(info->op, XPU_ATTR_PRECISION) &&
                            xpu_node_int(cg->graph, node, XPU_ATTR_PRECISION) != XPU_PRECISION_FP32);
    if (!is_rounded && !reads_rounded(cg, node, rounded, count)) return;
    for (uint32_t i = 0; i < info->output_count; i++)
        if (info->outputs[i].id < count) rounded[info->outputs[i].id] = 1;
}

/* An average has the precision int16x8 in any of integers: the mode of sums without weights. One that reaches a
 * root or divisor is no such average as networks have between convolutions (LpPool), and float32 everywhere. */
static void choose_for_average(xpu_codegen *cg, xpu_node node, const xpu_sensitive_use *sensitive, int is_of_rounded) {
    const char *rule, *reason = NULL;
    const xpu_precision_mode mode = wanted_mode(cg, node, &rule);
    if (mode == XPU_MODE_FP32) return;
    if (!rule) reason = why_exact(cg, node, XPU_MODE_AUTO, sensitive);
    if (!rule && sensitive[xpu_node_output(cg->graph, node, 0).id].in_norm) reason = "it is part of a norm or softmax";
    if (!reason) reason = xpu_why_not_wide_average(cg, node);
    if (!reason && !rule && mode == XPU_MODE_AUTO && !is_of_rounded)
        reason = "nothing before it computes in integers, so float32 keeps what there is";
    xpu_set_reason(cg, node, reason ? reason : "averages run in int16x8, on the window engine of chips that have one");
    if (!reason) xpu_node_set_attr(cg->graph, node, &XPU_ATTR_INT_OF(PRECISION, XPU_PRECISION_INT16X8));
}

static int is_maximum(const xpu_codegen *cg, xpu_node node) {
    return xpu_node_is(cg->graph, node, XPU_OP_MAX_POOL) && xpu_on_chip(cg, node) &&
           xpu_value_at(cg->graph, xpu_node_input(cg->graph, node, XPU_IN_X))->dtype == XPU_F32;
}

/* A maximum of what is rounded anyway is one of integers: where it has the scale that reads it, too, as behind a
 * rectifier, it changes nothing. */
static void choose_for_maximum(xpu_codegen *cg, xpu_node node, const xpu_sensitive_use *sensitive, int is_of_rounded) {
    const char *rule, *reason = NULL;
    const xpu_precision_mode mode = wanted_mode(cg, node, &rule);
    if (mode == XPU_MODE_FP32) return;
    if (!rule) reason = why_exact(cg, node, XPU_MODE_AUTO, sensitive);
    if (!reason) reason = xpu_why_not_wide_maximum(cg, node);
    if (!reason && !rule && !is_of_rounded)
        reason = "nothing before it computes in integers, so float32 keeps what there is";
    xpu_set_reason(cg, node, reason ? reason : "maxima run in int16, on the window engine of chips that have one");
    if (!reason) xpu_node_set_attr(cg->graph, node, &XPU_ATTR_INT_OF(PRECISION, XPU_PRECISION_INT16));
}

/* ---- integer weights ---- */

/* Scale and inverse scale of each index of `axis`, from the largest magnitudes there. */
static void find_scales(const xpu_tensor *w, int axis, int32_t limit, float *scale, float *inverse) {
    int64_t inner = 1, channels = w->dims[axis], count = xpu_tensor_count(w);
    for (int i = axis + 1; i < w->rank; i++) inner *= w->dims[i];
    const float *data = w->data;
    for (int64_t i = 0; i < count; i += inner) {
        float *most = &scale[i / inner % channels];
        for (int64_t j = 0; j < inner; j++) *most = xa_absmax(*most, data[i + j]);
    }
    for (int64_t c = 0; c < channels; c++) {
        inverse[c] = xa_absmax_inverse(scale[c], limit);
        scale[c] = xa_absmax_scale(scale[c], limit);
    }
}

/* Those that are not packed as they run. */
static int has_integer_weights(const xpu_codegen *cg, xpu_node node) {
    return is_matrix_like(cg, node) && !xpu_on_host(cg, node) &&
           xpu_node_int(cg->graph, node, XPU_ATTR_PRECISION) != XPU_PRECISION_FP32 &&
           xpu_is_const_value(cg, xpu_node_input(cg->graph, node, XPU_IN_W));
}

static xpu_status quantise_weights(xpu_codegen *cg, xpu_node node) {
    xpu_graph *graph = cg->graph;
    int narrow = xpu_node_int(graph, node, XPU_ATTR_PRECISION) == XPU_PRECISION_INT16X8;
    xpu_value w = xpu_node_input(graph, node, XPU_IN_W);
    xpu_arena *scratch = xpu_arena_new(xpu_arena_mem(cg->arena), "quantise");
    xpu_tensor tensor;
    xpu_status status = xpu_const_tensor(graph, w, scratch, &tensor, cg->diags);
    if (status == XPU_OK) {
        int axis = xpu_node_is(graph, node, XPU_OP_CONV) ? 0 : tensor.rank - 1;
        float *scale = XPU_NEW_ARRAY(scratch, float, tensor.dims[axis]);
        float *inverse = XPU_NEW_ARRAY(scratch, float, tensor.dims[axis]);
        find_scales(&tensor, axis, narrow ? XA_I8_MAX : XA_I16_MAX, scale, inverse);
        const char *name = xpu_value_at(graph, w)->name;
        xpu_tensor scales = {.dtype = XPU_F32, .rank = 1, .dims = {tensor.dims[axis]}, .data = scale};
        xpu_value w_scale = xpu_graph_const_bytes(graph, xpu_printf(scratch, "%s/scale", name), &scales);
        xpu_const_step step = {.kind = XPU_STEP_QUANTISE,
                               .dtype = narrow ? XPU_I8 : XPU_I16,
                               .axis = axis,
                               .factors = inverse,
                               .factor_count = (uint32_t)tensor.dims[axis]};
        const char *derived = xpu_printf(scratch, "%s/%s", name, narrow ? "int8" : "int16");
        xpu_value integers = xpu_const_derive(graph, w, &step, derived, cg->diags);
        if (integers.id) {
            xpu_node_set_input(graph, node, XPU_IN_W, integers);
            xpu_node_set_input(graph, node, XPU_IN_WSCALE, w_scale);
        } else {
            status = XPU_EBUG;
        }
    }
    xpu_arena_free(scratch);
    return status;
}

/* ---- absmax ---- */

static xpu_value scalar_result(xpu_graph *graph, xpu_node node, uint32_t output, const char *name) {
    xpu_value value = xpu_graph_value(graph, name);
    xpu_value_info *info = xpu_value_at(graph, value);
    info->kind = XPU_VALUE_NODE;
    info->node = node;
    info->output = output;
    info->dtype = XPU_F32;
    info->rank = 0;
    return value;
}

xpu_value xpu_absmax_beside(xpu_codegen *cg, xpu_node node) {
    xpu_graph *graph = cg->graph;
    xpu_value y = xpu_node_output(graph, node, XPU_OUT_Y), known = xpu_node_output(graph, node, XPU_OUT_ABSMAX);
    if (known.id) return known;
    const char *name = xpu_printf(cg->arena, "%s/absmax", xpu_value_at(graph, y)->name);
    xpu_value value = scalar_result(graph, node, XPU_OUT_ABSMAX, name);
    xpu_node_info *info = xpu_node_at(graph, node);
    xpu_value *outputs = XPU_NEW_ARRAY(graph->arena, xpu_value, 2);
    outputs[XPU_OUT_Y] = y;
    outputs[XPU_OUT_ABSMAX] = value;
    info->outputs = outputs;
    info->output_count = 2;
    return value;
}

/* A layer that finds the largest magnitude of `value`, directly behind what makes it. */
static xpu_value add_absmax_node(xpu_codegen *cg, xpu_value value) {
    xpu_graph *graph = cg->graph;
    const xpu_value_info *info = xpu_value_at(graph, value);
    xpu_block block = xpu_value_block(graph, value), left = xpu_graph_enter(graph, block);
    xpu_node before =
        info->kind == XPU_VALUE_NODE ? xpu_node_next(graph, info->node) : xpu_block_at(graph, block)->first;
    const char *name = xpu_printf(cg->arena, "%s/absmax", info->name);
    xpu_node node = xpu_graph_add(graph, before, xpu_op_of(XPU_OP_ABSMAX), &value, 1, &name, 1, NULL, 0, NULL, 0);
    xpu_graph_enter(graph, left);
    xpu_value result = xpu_node_output(graph, node, 0);
    xpu_value_at(graph, result)->dtype = XPU_F32;
    return result;
}

/* Of an absmax that is known before it begins. */
static int has_int16_input(const xpu_codegen *cg, xpu_node node) {
    return is_matrix_like(cg, node) && !xpu_on_host(cg, node) && !xpu_node_is(cg->graph, node, XPU_OP_RECURRENT) &&
           xpu_node_int(cg->graph, node, XPU_ATTR_PRECISION) != XPU_PRECISION_FP32;
}

static int is_chain_of_float32(const xpu_codegen *cg, xpu_node node) {
    xpu_chain_types types;
    return xpu_chain_types_of_node(cg->graph, node, &types) && types.is_float32;
}

/* Whether an operand has an element for each channel of an image, or of all images. */
static int has_pixels(const xpu_codegen *cg, xpu_value x, xpu_value y) {
    const xpu_value_info *from = xpu_value_at(cg->graph, x), *to = xpu_value_at(cg->graph, y);
    return from->rank == 4 && to->rank == 4 && xpu_dim_equal(from->dims[1], to->dims[1]) &&
           xpu_is_one(cg, from->dims[2]) && xpu_is_one(cg, from->dims[3]);
}

/* Operands are dense or stand for pixels of images: then chain_dense or chain_image finds it. */
static int has_dense_operands(const xpu_codegen *cg, xpu_node node) {
    const xpu_value y = xpu_node_output(cg->graph, node, 0);
    for (uint32_t i = 0; i < xpu_node_at(cg->graph, node)->input_count; i++) {
        const xpu_value x = xpu_node_input(cg->graph, node, i);
        if (!xpu_value_same_shape(cg->graph, x, y) && !has_pixels(cg, x, y)) return 0;
    }
    return 1;
}

/* Whether the kernel of a node can find the largest magnitude of what it makes. */
static int finds_absmax(const xpu_codegen *cg, xpu_node node) {
    if (xpu_node_is(cg->graph, node, XPU_OP_CHAIN))
        return !xpu_on_host(cg, node) && is_chain_of_float32(cg, node) && has_dense_operands(cg, node);
    if (xpu_node_is(cg->graph, node, XPU_OP_NORM)) return !xpu_on_host(cg, node);
    if (!is_matrix_like(cg, node) || xpu_on_host(cg, node)) return 0;
    if (xpu_node_is(cg->graph, node, XPU_OP_RECURRENT)) return 0;
    if (xpu_is_pooling(cg->graph, node)) return xpu_node_int(cg->graph, node, XPU_ATTR_PRECISION) != XPU_PRECISION_FP32;
    return xpu_node_is(cg->graph, node, XPU_OP_CONV) || has_constant_matrix(cg, node);
}

static xpu_dim element_count(xpu_codegen *cg, xpu_value value) {
    return xpu_dims_product(cg, value, 0, xpu_value_at(cg->graph, value)->rank);
}

/* Whether a node puts zeros around all of its operand. */
static int pads_with_zeros(const xpu_codegen *cg, xpu_node node) {
    const xpu_graph *graph = cg->graph;
    uint32_t count;
    if (!xpu_node_is(graph, node, XPU_OP_PAD) || xpu_node_pad_mode(graph, node) != XPU_PAD_CONSTANT) return 0;
    const int64_t *pads = xpu_node_ints(graph, node, XPU_ATTR_PADS, &count);
    for (uint32_t i = 0; i < count; i++)
        if (pads[i] < 0) return 0;
    return xpu_node_float(graph, node, XPU_ATTR_VALUE) == 0.0f;
}

/* Whether each element of the operand stands in the result, once or more, and nothing else but zeros does. */
static int has_all_elements(xpu_codegen *cg, xpu_node node) {
    if (xpu_node_is(cg->graph, node, XPU_OP_REPEAT) || pads_with_zeros(cg, node)) return 1;
    if (!xpu_node_is(cg->graph, node, XPU_OP_INTERLEAVE) || xpu_node_at(cg->graph, node)->input_count != 1) return 0;
    return xpu_dim_equal(element_count(cg, xpu_node_input(cg->graph, node, 0)),
                         element_count(cg, xpu_node_output(cg->graph, node, 0)));
}

/* The value whose largest magnitude that of `value` is. */
static xpu_value same_magnitudes(xpu_codegen *cg, xpu_value value) {
    for (;;) {
        value = xpu_same_elements(cg, value);
        const xpu_value_info *info = xpu_value_at(cg->graph, value);
        if (info->kind != XPU_VALUE_NODE || !has_all_elements(cg, info->node)) return value;
        value = xpu_node_input(cg->graph, info->node, 0);
    }
}

static int is_found_beside(const xpu_codegen *cg, xpu_value source) {
    const xpu_value_info *info = xpu_value_at(cg->graph, source);
    return info->kind == XPU_VALUE_NODE && info->output == XPU_OUT_Y && finds_absmax(cg, info->node);
}

/* The concat on the chip that joins the value of parts whose magnitudes are found beside them, all but one; {0}: it is
 * none. */
static xpu_node concat_of(xpu_codegen *cg, xpu_value source) {
    const xpu_value_info *info = xpu_value_at(cg->graph, source);
    const xpu_node none = {0};
    if (info->kind != XPU_VALUE_NODE || !xpu_node_is(cg->graph, info->node, XPU_OP_CONCAT)) return none;
    if (!xpu_on_chip(cg, info->node)) return none;
    const uint32_t parts = xpu_node_at(cg->graph, info->node)->input_count;
    uint32_t found = 0;
    for (uint32_t i = 0; i < parts; i++) {
        const xpu_value part = same_magnitudes(cg, xpu_node_input(cg->graph, info->node, i));
        found += is_found_beside(cg, part) || concat_of(cg, part).id;
    }
    return parts > 1 && found + 1 >= parts ? info->node : none;
}

/* The largest of as many numbers as a chain takes. */
static xpu_value add_largest(xpu_codegen *cg, xpu_node before, const xpu_value *items, uint32_t count,
                             const char *name) {
    xpu_graph *graph = cg->graph;
    xpu_chain chain = {.input_count = count, .step_count = count - 1};
    for (uint32_t s = 0; s + 1 < count; s++) {
        const uint8_t so_far = (uint8_t)(s ? count + s - 1 : 0);
        chain.steps[s] = (xpu_chain_step){.op = XPU_EW_max, .operands = {so_far, (uint8_t)(s + 1)}};
    }
    const xpu_attr steps = XPU_ATTR_CHAIN_OF(STEPS, &chain);
    xpu_block left = xpu_graph_enter(graph, xpu_node_at(graph, before)->parent);
    xpu_node node = xpu_graph_add(graph, before, xpu_op_of(XPU_OP_CHAIN), items, count, &name, 1, &steps, 1, NULL, 0);
    xpu_graph_enter(graph, left);
    xpu_node_at(graph, node)->region = xpu_node_at(graph, before)->region;
    xpu_op_infer(graph, node, cg->diags);
    return xpu_node_output(graph, node, 0);
}

xpu_value xpu_largest_of(xpu_codegen *cg, xpu_node before, const xpu_value *items, uint32_t count, const char *name) {
    xpu_value some[XPU_CHAIN_MAX_INPUTS];
    uint32_t held = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (held == XPU_CHAIN_MAX_INPUTS) {
            some[0] = add_largest(cg, before, some, held, xpu_printf(cg->arena, "%s/%u", name, i));
            held = 1;
        }
        int is_there = 0;
        for (uint32_t k = 0; k < held; k++) is_there |= some[k].id == items[i].id;
        if (!is_there) some[held++] = items[i];
    }
    return held == 1 ? some[0] : add_largest(cg, before, some, held, name);
}

static xpu_value find_absmax(xpu_codegen *cg, xpu_value source, xpu_value *known);

/* That of a concat: the largest of its parts'. */
static xpu_value join_absmaxes(xpu_codegen *cg, xpu_node concat, xpu_value *known) {
    const char *name = xpu_printf(cg->arena, "%s/absmax", xpu_node_name(cg->graph, concat));
    const uint32_t count = xpu_node_at(cg->graph, concat)->input_count;
    xpu_value *items = XPU_NEW_ARRAY(cg->arena, xpu_value, count);
    for (uint32_t i = 0; i < count; i++)
        items[i] = find_absmax(cg, same_magnitudes(cg, xpu_node_input(cg->graph, concat, i)), known);
    return xpu_largest_of(cg, concat, items, count, name);
}

/* One absmax for all that hold the same elements; `known` is by value id. */
static xpu_value find_absmax(xpu_codegen *cg, xpu_value source, xpu_value *known) {
    if (known[source.id].id) return known[source.id];
    const xpu_node concat = concat_of(cg, source);
    if (concat.id)
        known[source.id] = join_absmaxes(cg, concat, known);
    else if (is_found_beside(cg, source))
        known[source.id] = xpu_absmax_beside(cg, xpu_value_at(cg->graph, source)->node);
    else
        known[source.id] = add_absmax_node(cg, source);
    return known[source.id];
}

/* A maximum of a maximum in integers: its operand's are multiples of the other one's scale, and stay what they are. */
static xpu_node inner_maximum(const xpu_codegen *cg, xpu_node node, xpu_value x) {
    const xpu_node none = {0}, inner = xpu_made_by(cg->graph, x, XPU_OP_MAX_POOL);
    const int both = inner.id && xpu_node_is(cg->graph, node, XPU_OP_MAX_POOL) && has_int16_input(cg, inner);
    return both ? inner : none;
}

static void connect_absmax(xpu_codegen *cg, xpu_node node, xpu_value *known) {
    const xpu_value source = same_magnitudes(cg, xpu_node_input(cg->graph, node, XPU_IN_X));
    const xpu_node inner = inner_maximum(cg, node, source);
    const xpu_value absmax =
        inner.id ? xpu_node_input(cg->graph, inner, XPU_IN_ABSMAX) : find_absmax(cg, source, known);
    xpu_node_set_input(cg->graph, node, XPU_IN_ABSMAX, absmax);
}

static int is_depthwise(xpu_codegen *cg, xpu_node node) {
    if (!xpu_node_is(cg->graph, node, XPU_OP_CONV)) return 0;
    const xpu_conv_shape shape = xpu_conv_shape_of(cg, node);
    return xpu_is_depthwise(cg, &shape);
}

static const char *reason_of(xpu_codegen *cg, xpu_node node, xpu_precision precision, const char *rule) {
    const int depthwise = is_depthwise(cg, node);
    if (rule) {
        return xpu_printf(cg->arena, "the precision rule \"%s\": it runs on the %s", xpu_escape(cg->arena, rule, 80),
                          depthwise ? "window engine of chips that have one" : "tensor engine");
    }
    if (depthwise) {
        return precision == XPU_PRECISION_INT16X8
                   ? "depthwise convolutions run in int16x8, on the window engine of chips that have one"
                   : "depthwise convolutions run in int16, on the window engine of chips that have one";
    }
    return precision == XPU_PRECISION_INT16X8 ? "matrix-like operators run in int16x8 on the tensor engine"
                                              : "matrix-like operators run in int16 on the tensor engine";
}

/* Products whose rows have scales of their own; these then have their absmax. */
static void scale_rows(xpu_codegen *cg, xpu_row_scales *scales) {
    XPU_FOR_ALL_NODES(cg->graph, node) {
        if (!has_int16_input(cg, node) || xpu_node_input(cg->graph, node, XPU_IN_ABSMAX).id) continue;
        if (!may_scale_rows(cg, node) || !xpu_wants_row_scales(cg, node)) continue;
        const char *reason = cg->reasons.items[node.id];
        xpu_set_reason(cg, xpu_add_row_scales(cg, node, scales),
                       xpu_printf(cg->arena, "%s; each row has a scale", reason));
        xpu_set_reason(cg, node, NULL);
    }
}

/* Names of the layers that rules can be about; NULL ends them. */
static const char *const *names_of_choices(const xpu_codegen *cg, xpu_arena *arena) {
    const char **names = XPU_NEW_ARRAY(arena, const char *, cg->graph->nodes.count + 1);
    uint32_t count = 0;
    XPU_FOR_ALL_NODES(cg->graph, node) {
        if (is_matrix_like(cg, node) && !xpu_on_host(cg, node)) names[count++] = xpu_node_name(cg->graph, node);
    }
    return names;
}

/* Attention that is one layer in float32, unless the user wants integers. */
static xpu_status join_attention(xpu_codegen *cg) {
    XPU_FOR_ALL_NODES(cg->graph, node) {
        const char *rule;
        if (!xpu_node_is(cg->graph, node, XPU_OP_MATMUL) || !xpu_on_chip(cg, node)) continue;
        const xpu_node scores = xpu_scores_of(cg, node);
        if (!scores.id) continue;
        const xpu_precision_mode first = wanted_mode(cg, scores, &rule), second = wanted_mode(cg, node, &rule);
        const int exact = first == XPU_MODE_FP32 && second == XPU_MODE_FP32;
        const int is_any = first <= XPU_MODE_FP32 && second <= XPU_MODE_FP32;
        if (!exact && !(is_any && xpu_is_narrow_attention(cg, node))) continue;
        xpu_status status = xpu_join_attention(cg, node);
        if (status != XPU_OK) return status;
        xpu_set_reason(cg, node,
                       exact ? "scores, softmax and values are one layer in float32"
                             : "heads are narrow: scores, softmax and values are one layer in float32");
    }
    return XPU_OK;
}

/* Of what is matrix-like. */
static void choose_for_product(xpu_codegen *cg, xpu_node node, const xpu_sensitive_use *sensitive,
                               xpu_row_scales *scales) {
    const char *rule;
    xpu_precision_mode mode = wanted_mode(cg, node, &rule);
    const char *reason = why_float32(cg, node, mode, rule, sensitive);
    xpu_precision chosen = mode == XPU_MODE_INT16X8 ? XPU_PRECISION_INT16X8 : XPU_PRECISION_INT16;
    xpu_set_reason(cg, node, reason ? reason : reason_of(cg, node, chosen, rule));
    if (reason) return;
    if (!has_computed_matrix(cg, node)) {
        xpu_node_set_attr(cg->graph, node, &XPU_ATTR_INT_OF(PRECISION, chosen));
        return;
    }
    const char *why = xpu_printf(cg->arena, "%s; its weights are made as it runs", reason_of(cg, node, chosen, rule));
    xpu_set_reason(cg, xpu_pack_product(cg, node, chosen, scales), why);
    xpu_set_reason(cg, node, NULL);
}

xpu_status xpu_choose_precision(xpu_codegen *cg) {
    xpu_arena *scratch = xpu_arena_new(xpu_arena_mem(cg->arena), "precision");
    const xpu_sensitive_use *sensitive = xpu_find_sensitive_uses(cg, scratch);
    xpu_row_scales scales = {0};
    xpu_status status = join_attention(cg);
    const uint32_t values = cg->graph->values.count;
    uint8_t *rounded = XPU_NEW_ARRAY(scratch, uint8_t, values);
    XPU_FOR_ALL_NODES(cg->graph, node) {
        if (status != XPU_OK) break;
        if (is_average(cg, node))
            choose_for_average(cg, node, sensitive, reads_rounded(cg, node, rounded, values));
        else if (is_maximum(cg, node))
            choose_for_maximum(cg, node, sensitive, reads_rounded(cg, node, rounded, values));
        else if (!xpu_on_host(cg, node) && is_matrix_like(cg, node) && !xpu_node_is(cg->graph, node, XPU_OP_MAX_POOL))
            choose_for_product(cg, node, sensitive, &scales);
        mark_rounded(cg, node, rounded, values);
    }
    const char *const *names = names_of_choices(cg, scratch);
    if (status == XPU_OK) status = xpu_merge_products(cg);
    if (status == XPU_OK) status = xpu_multiply_phases(cg);
    if (status == XPU_OK) status = xpu_split_maxima(cg);
    if (status == XPU_OK) status = xpu_pad_long_rows(cg);
    XPU_FOR_ALL_NODES(cg->graph, node) {
        if (status == XPU_OK && has_integer_weights(cg, node)) status = quantise_weights(cg, node);
    }
    if (status == XPU_OK) scale_rows(cg, &scales);
    xpu_value *known = XPU_NEW_ARRAY(scratch, xpu_value, cg->graph->values.count);
    XPU_FOR_ALL_NODES(cg->graph, node) {
        if (status != XPU_OK || !has_int16_input(cg, node)) continue;
        if (!xpu_node_input(cg->graph, node, XPU_IN_ABSMAX).id) connect_absmax(cg, node, known);
    }
    if (status == XPU_OK) {
        status = xpu_precision_rules_unused(scratch, cg->precision_rules, names, cg->diags);
    }
    xpu_arena_free(scratch);
    return status;
}
