#include "xpu_codegen/image_chain.h"

#include "xpu_runtime/include/xpu_tiling.h"

enum { BATCH, CHANNELS, ROWS, COLUMNS, IMAGE_RANK };

static int is_image(const xpu_codegen *cg, xpu_value value) {
    const xpu_value_info *info = xpu_value_at(cg->graph, value);
    return info->rank == IMAGE_RANK && info->dtype == XPU_F32 && info->layout == XPU_LAYOUT_CHANNEL_LAST;
}

int xpu_repeats_pixels(const xpu_codegen *cg, xpu_node node) {
    if (!xpu_node_is(cg->graph, node, XPU_OP_REPEAT) || !xpu_on_chip(cg, node)) return 0;
    const int64_t *repeats = xpu_node_ints(cg->graph, node, XPU_ATTR_REPEATS, NULL);
    return is_image(cg, xpu_node_input(cg->graph, node, 0)) && is_image(cg, xpu_node_output(cg->graph, node, 0)) &&
           repeats[BATCH] == 1 && repeats[CHANNELS] == 1;
}

/* An operand of the result's shape. */
static int read_image(const xpu_codegen *cg, xpu_value value, xpu_image_operand *x) {
    const xpu_value_info *info = xpu_value_at(cg->graph, value);
    if (!is_image(cg, value) || xpu_has_gaps(cg, value)) return 0;
    *x = (xpu_image_operand){.source = value, .repeat = {1, 1}};
    if (info->kind != XPU_VALUE_NODE || !xpu_repeats_pixels(cg, info->node)) return 1;
    const int64_t *repeats = xpu_node_ints(cg->graph, info->node, XPU_ATTR_REPEATS, NULL);
    *x = (xpu_image_operand){.source = xpu_node_input(cg->graph, info->node, 0),
                             .repeat_node = info->node,
                             .repeat = {repeats[ROWS], repeats[COLUMNS]}};
    return 1;
}

/* One with an element for each channel. */
static int read_pixel(const xpu_codegen *cg, xpu_value value, xpu_value y, xpu_image_operand *x) {
    const xpu_value_info *info = xpu_value_at(cg->graph, value), *result = xpu_value_at(cg->graph, y);
    const int behind = IMAGE_RANK - info->rank; /* dims that it lacks in front */
    if (info->rank < IMAGE_RANK - CHANNELS || info->rank > IMAGE_RANK || info->dtype != XPU_F32) return 0;
    if (!xpu_is_one(cg, info->dims[ROWS - behind]) || !xpu_is_one(cg, info->dims[COLUMNS - behind])) return 0;
    if (!xpu_dim_equal(info->dims[CHANNELS - behind], result->dims[CHANNELS])) return 0;
    *x = (xpu_image_operand){.source = value, .is_pixel = 1, .is_shared = behind || xpu_is_one(cg, info->dims[BATCH])};
    return x->is_shared || xpu_dim_equal(info->dims[BATCH], result->dims[BATCH]);
}

/* Floats of LM with which a block has one pixel, however rows are read. */
static uint64_t least_floats(uint64_t channels, uint32_t inputs) {
    enum { KEPT = 64, BLOCKS = 3 }; /* what findmax keeps; of each operand */
    return KEPT + ((uint64_t)inputs * BLOCKS + 2) * (channels + XPU_IMAGE_LINE);
}

static int has_room(const xpu_codegen *cg, int64_t channels, uint32_t inputs) {
    return channels < INT16_MAX &&
           (int64_t)(least_floats((uint64_t)channels, inputs) * sizeof(float)) <= xpu_lm_room(cg);
}

int xpu_image_chain_of(xpu_codegen *cg, xpu_node node, xpu_image_chain *chain) {
    const xpu_node_info *info = xpu_node_at(cg->graph, node);
    xpu_image_chain own = {0};
    xpu_chain_types types;
    int smaller = 0;
    if (!xpu_node_is(cg->graph, node, XPU_OP_CHAIN) || !xpu_on_chip(cg, node)) return 0;
    const xpu_value y = info->outputs[XPU_OUT_Y];
    if (!is_image(cg, y) || !xpu_chain_types_of_node(cg->graph, node, &types) || !types.is_float32) return 0;
    if (!xpu_dim_is_const(&cg->graph->dims, xpu_value_dim(cg, y, CHANNELS), &own.channels)) return 0;
    if (own.channels < 1 || !has_room(cg, own.channels, info->input_count)) return 0;
    for (uint32_t i = 0; i < info->input_count; i++) {
        const xpu_value x = info->inputs[i];
        const int is_whole = xpu_value_same_shape(cg->graph, x, y);
        if (!(is_whole ? read_image(cg, x, &own.x[i]) : read_pixel(cg, x, y, &own.x[i]))) return 0;
        smaller |= !is_whole || own.x[i].repeat_node.id;
    }
    if (chain) *chain = own;
    return smaller;
}
