#include "xpu_codegen/choose/joins.h"

#include <string.h>

#include "xpu_codegen/choose/byte_tasks.h"
#include "xpu_codegen/choose/chain_loops.h"
#include "xpu_codegen/choose/post_chain.h"
#include "xpu_codegen/image_chain.h"
#include "xpu_codegen/read_through.h"

enum { CHANNELS = 1 };

static int is_image(const xpu_codegen *cg, xpu_value value) {
    const xpu_value_info *info = xpu_value_at(cg->graph, value);
    return info->layout == XPU_LAYOUT_CHANNEL_LAST && (info->rank == 3 || info->rank == 4);
}

static int is_fixed(const xpu_codegen *cg, xpu_value value) {
    const xpu_value_info *info = xpu_value_at(cg->graph, value);
    int64_t channels;
    for (int i = 0; i < info->rank; i++)
        if (xpu_dim_is_dynamic(cg->graph, info->dims[i])) return 0;
    return xpu_dim_is_const(&cg->graph->dims, info->dims[CHANNELS], &channels) && channels > 0;
}

static int is_on_tensor_engine(xpu_codegen *cg, xpu_node node) {
    if (xpu_node_is(cg->graph, node, XPU_OP_QCONV)) return !xpu_is_byte_depthwise(cg, node);
    if (!xpu_node_is(cg->graph, node, XPU_OP_CONV)) return 0;
    const xpu_conv_shape s = xpu_conv_shape_of(cg, node);
    return xpu_node_int(cg->graph, node, XPU_ATTR_PRECISION) != XPU_PRECISION_FP32 && !xpu_is_depthwise(cg, &s);
}

/* ---- who writes pixels apart ---- */

/* Cores move bytes in words. */
static int is_in_words(const xpu_codegen *cg, xpu_value value, const xpu_extent *place) {
    const int64_t element = (int64_t)xpu_dtype_bytes(xpu_value_at(cg->graph, value)->dtype);
    int64_t channels = 0, pitch = 0;
    xpu_dim_is_const(&cg->graph->dims, place->capacity, &pitch);
    xpu_dim_is_const(&cg->graph->dims, xpu_value_dim(cg, value, CHANNELS), &channels);
    return pitch * element % 4 == 0 && place->first * element % 4 == 0 && channels * element % 4 == 0;
}

/* Whether it runs as a chain over images anyway. */
static int is_chain_over_images(xpu_codegen *cg, xpu_node node) {
    xpu_image_chain image;
    if (!xpu_image_chain_of(cg, node, &image)) return 0;
    int has_level = 0;
    for (uint32_t i = 0; i < xpu_node_at(cg->graph, node)->input_count; i++)
        has_level |= image.x[i].repeat_node.id && xpu_is_read_through(cg, image.x[i].repeat_node);
    return has_level || image.channels <= XPU_FEW_CHANNELS || xpu_node_output(cg->graph, node, XPU_OUT_ABSMAX).id;
}

static int writes_apart(xpu_codegen *cg, xpu_value value, const xpu_extent *place) {
    const xpu_value_info *info = xpu_value_at(cg->graph, value);
    if (info->kind != XPU_VALUE_NODE || info->output != XPU_OUT_Y) return 0;
    const xpu_node node = info->node;
    if (!xpu_on_chip(cg, node)) return 0;
    switch (xpu_op_id_of(xpu_node_at(cg->graph, node)->op)) {
    case XPU_OP_CONV:
    case XPU_OP_QCONV: return is_on_tensor_engine(cg, node) || is_in_words(cg, value, place);
    case XPU_OP_MAX_POOL:
    case XPU_OP_AVERAGE_POOL: return is_in_words(cg, value, place);
    case XPU_OP_CONCAT:
    case XPU_OP_RELAYOUT:
    case XPU_OP_INTERLEAVE: return 1;
    case XPU_OP_SLICE: return !xpu_is_part(cg, node, NULL) && !xpu_is_read_through(cg, node);
    case XPU_OP_CHAIN: return xpu_post_chain_of(cg, node, 1, NULL) || is_chain_over_images(cg, node);
    default: return 0;
    }
}

/* ---- who reads them ---- */

/* Whether it is a loop over rows anyway: of one run, and of images with smaller ones, others are faster. */
static int is_plain_chain(xpu_codegen *cg, xpu_node node) {
    const xpu_value y = xpu_node_output(cg->graph, node, XPU_OUT_Y);
    xpu_chain_loops loops;
    xpu_image_chain image;
    if (xpu_node_output(cg->graph, node, XPU_OUT_ABSMAX).id) return 0;
    if (!xpu_chain_plan(cg, node, xpu_value_at(cg->graph, y)->layout, &loops, NULL)) return 0;
    if (!xpu_image_chain_of(cg, node, &image)) return loops.rank > 1;
    for (uint32_t i = 0; i < xpu_node_at(cg->graph, node)->input_count; i++)
        if (image.x[i].repeat_node.id) return 0;
    return image.channels > XPU_FEW_CHANNELS;
}

static int reads_apart(xpu_codegen *cg, xpu_use use) {
    const xpu_node node = use.node;
    if (!xpu_on_chip(cg, node)) return 0;
    switch (xpu_op_id_of(xpu_node_at(cg->graph, node)->op)) {
    case XPU_OP_CONV:
    case XPU_OP_QCONV: return use.input == XPU_IN_X && is_on_tensor_engine(cg, node);
    case XPU_OP_CHAIN: return xpu_post_chain_of(cg, node, 1, NULL) || is_plain_chain(cg, node);
    case XPU_OP_CONCAT: return !xpu_is_joined(cg, node);
    case XPU_OP_SLICE: return !xpu_is_part(cg, node, NULL) && !xpu_is_read_through(cg, node);
    case XPU_OP_RELAYOUT: return !xpu_is_view(cg, node);
    case XPU_OP_ABSMAX: return 1;
    default: return 0;
    }
}

/* ---- the choice ---- */

/* Whether x, an operand of a concat to y, may lie there. */
static int may_join(xpu_codegen *cg, xpu_value x, xpu_value y, const xpu_extent *place) {
    const xpu_value_info *info = xpu_value_at(cg->graph, x);
    if (!is_image(cg, x) || !is_fixed(cg, x) || xpu_extent_of(cg, x) || xpu_is_empty(cg, x)) return 0;
    if (!writes_apart(cg, x, place) || xpu_value_leaves_program(cg, x)) return 0;
    if (xpu_joined_whole(cg, x, NULL).id || xpu_value_block(cg->graph, x).id != xpu_value_block(cg->graph, y).id)
        return 0;
    uint32_t here = 0;
    for (uint32_t i = 0; i < info->uses.count; i++) {
        if (!reads_apart(cg, info->uses.items[i])) return 0;
        here += xpu_node_output(cg->graph, info->uses.items[i].node, 0).id == y.id;
    }
    return here == 1; /* the same channels twice are a copy */
}

static void join(xpu_codegen *cg, xpu_node concat) {
    const xpu_value y = xpu_node_output(cg->graph, concat, 0);
    if (!xpu_on_chip(cg, concat) || xpu_is_joined(cg, concat)) return;
    if (!is_image(cg, y) || xpu_layout_free(cg, y) || !is_fixed(cg, y)) return;
    if (xpu_node_int(cg->graph, concat, XPU_ATTR_AXIS) != CHANNELS || xpu_value_leaves_program(cg, y)) return;
    const xpu_extent *own = xpu_extent_of(cg, y);
    const xpu_dim capacity = own ? own->capacity : xpu_value_dim(cg, y, CHANNELS);
    int64_t first = 0, channels = 0;
    for (uint32_t i = 0; i < xpu_node_at(cg->graph, concat)->input_count; i++, first += channels) {
        const xpu_value x = xpu_node_input(cg->graph, concat, i);
        xpu_dim_is_const(&cg->graph->dims, xpu_value_dim(cg, x, CHANNELS), &channels);
        const xpu_extent place = {.axis = CHANNELS, .capacity = capacity, .has_gaps = 1, .whole = y, .first = first};
        if (may_join(cg, x, y, &place)) cg->extents[x.id] = place;
    }
}

void xpu_choose_joins(xpu_codegen *cg) {
    const uint32_t count = cg->graph->values.count;
    XPU_ARRAY(xpu_node) concats = {0};
    XPU_FOR_ALL_NODES(cg->graph, node) {
        if (xpu_node_is(cg->graph, node, XPU_OP_CONCAT)) XPU_PUSH(cg->arena, &concats, node);
    }
    if (!concats.count) return;
    xpu_extent *extents = XPU_NEW_ARRAY(cg->arena, xpu_extent, count);
    if (cg->extent_count) memcpy(extents, cg->extents, cg->extent_count * sizeof *extents);
    cg->extents = extents;
    cg->extent_count = count;
    for (uint32_t i = concats.count; i-- > 0;) join(cg, concats.items[i]); /* the last of a dense block first */
}
