#include "xpu_codegen/choose/post_chain.h"

#include "core/passes/rewrite.h"
#include "xpu_codegen/choose/costs.h"
#include "xpu_codegen/choose/precision.h"
#include "xpu_codegen/read_through.h"

enum { CHANNELS = 1, LEVELS = 3, IMAGE = 0, ROW = 1, COLUMN = 2 };

static int is_zero(const xpu_codegen *cg, xpu_dim dim) {
    int64_t value;
    return xpu_dim_is_const(&cg->graph->dims, dim, &value) && value == 0;
}

/* ---- images, rows, columns ---- */

/* Operands of one run, in the pixels of an image. */
static void split_run(xpu_codegen *cg, xpu_chain_loops *loops, xpu_value y, uint32_t inputs) {
    const xpu_dim channels = xpu_value_dim(cg, y, CHANNELS);
    const xpu_dim images = xpu_value_dim(cg, y, 0),
                  pixels = xpu_dims_product(cg, y, CHANNELS + 1, xpu_value_at(cg->graph, y)->rank);
    loops->size[0] = xpu_dim_mul(&cg->graph->dims, images, pixels);
    loops->size[1] = channels;
    for (uint32_t i = 0; i < inputs; i++) {
        loops->stride[i][0] = channels;
        loops->stride[i][1] = xpu_dim_of(cg, 1);
    }
    loops->rank = 2;
}

/* The loops as those over images, rows and columns; columns are channels where pixels lie apart. */
static int read_loops(xpu_codegen *cg, xpu_node node, int strided, xpu_chain_loops *loops) {
    const xpu_value y = xpu_node_output(cg->graph, node, XPU_OUT_Y);
    const xpu_layout layout = xpu_value_at(cg->graph, y)->layout;
    const int has_gaps = xpu_has_gaps(cg, y);
    if (!xpu_chain_plan(cg, node, layout, loops, NULL) || loops->rank < 1 || loops->rank > LEVELS) return 0;
    if (has_gaps && (layout != XPU_LAYOUT_CHANNEL_LAST || xpu_extent_of(cg, y)->axis != CHANNELS)) return 0;
    if (layout != XPU_LAYOUT_CHANNEL_LAST || (!has_gaps && !strided)) return 1;
    if (loops->rank == 1) split_run(cg, loops, y, xpu_node_at(cg->graph, node)->input_count);
    return xpu_dim_equal(loops->size[loops->rank - 1], xpu_value_dim(cg, y, CHANNELS));
}

static xpu_post_strides strides_of(xpu_codegen *cg, const xpu_dim *stride, int rank) {
    const xpu_dim none = xpu_dim_of(cg, 0);
    return (xpu_post_strides){.image = rank == LEVELS ? stride[IMAGE] : none,
                              .row = rank > 1 ? stride[rank - 2] : none};
}

/* What lies where; returns whether each operand has an element for every column. */
static int read_shape(xpu_codegen *cg, xpu_node node, int strided, xpu_post_chain *chain, uint8_t *is_vector) {
    const xpu_value y = xpu_node_output(cg->graph, node, XPU_OUT_Y);
    xpu_elementwise_shape *shape = &chain->shape;
    xpu_chain_loops loops;
    if (!read_loops(cg, node, strided, &loops)) return 0;
    const int rank = loops.rank;
    shape->is_flat = rank == 1;
    shape->images = rank == LEVELS ? loops.size[IMAGE] : xpu_dim_of(cg, 1);
    shape->rows = rank > 1 ? loops.size[rank - 2] : loops.size[0];
    shape->columns = rank > 1 ? loops.size[rank - 1] : xpu_dim_of(cg, 0);
    for (uint32_t i = 0; i < xpu_node_at(cg->graph, node)->input_count; i++) {
        if (is_zero(cg, loops.stride[i][rank - 1])) return 0;
        chain->x[i] = strides_of(cg, loops.stride[i], rank);
        is_vector[i] = rank > 1 && is_zero(cg, chain->x[i].row);
        shape->is_strided |= rank > 1 && !is_vector[i] && !xpu_dim_equal(chain->x[i].row, shape->columns);
    }
    const int has_gaps = xpu_has_gaps(cg, y);
    shape->is_strided |= has_gaps;
    chain->y.row = has_gaps ? xpu_value_extent(cg, y, CHANNELS) : shape->columns;
    chain->y.image = xpu_dim_mul(&cg->graph->dims, chain->y.row, shape->rows);
    return 1;
}

/* ---- the choice ---- */

/* Whether kernels of the target make its operands, all float32, where they are read. */
static int has_tensors(xpu_codegen *cg, xpu_node node) {
    xpu_chain_types types;
    if (!xpu_node_is(cg->graph, node, XPU_OP_CHAIN) || !xpu_on_chip(cg, node)) return 0;
    if (xpu_is_empty(cg, xpu_node_output(cg->graph, node, XPU_OUT_Y))) return 0;
    if (!xpu_chain_types_of_node(cg->graph, node, &types) || !types.is_float32) return 0;
    for (uint32_t i = 0; i < xpu_node_at(cg->graph, node)->input_count; i++) {
        const xpu_node maker = xpu_maker(cg->graph, node, i);
        if (maker.id && xpu_is_read_through(cg, maker)) return 0;
    }
    return 1;
}

/* Whether a scale and a bias, where both are there, are both of an image or both of all. */
static int read_vectors(xpu_codegen *cg, xpu_post_chain *chain) {
    const xpu_post_form *form = &chain->form;
    const int scale = form->scale, bias = form->bias;
    if (scale >= 0 && bias >= 0 && !xpu_dim_equal(chain->x[scale].image, chain->x[bias].image)) return 0;
    chain->shape.has_scale = scale >= 0;
    chain->shape.has_bias = bias >= 0;
    chain->shape.vectors_by_image =
        (scale >= 0 && !is_zero(cg, chain->x[scale].image)) || (bias >= 0 && !is_zero(cg, chain->x[bias].image));
    return 1;
}

static double elements_of(const xpu_codegen *cg, const xpu_elementwise_shape *shape) {
    const double columns = shape->is_flat ? 1 : (double)xpu_dim_upper(cg, shape->columns);
    return (double)xpu_dim_upper(cg, shape->images) * (double)xpu_dim_upper(cg, shape->rows) * columns;
}

/* Of all cores, which move what they read and write meanwhile. */
static double core_cycles_of(xpu_codegen *cg, xpu_node node, const xpu_post_chain *chain) {
    enum { LANES = 16 };
    const double vectors = elements_of(cg, &chain->shape) / LANES;
    const double computed = vectors * xpu_chain_vector_cycles(xpu_chain_of(cg->graph, node)) / cg->chip.cores;
    const double moved = vectors * (chain->form.branch >= 0 ? 3 : 2) * xpu_cost.line;
    return xpu_cost.start_core + (computed > moved ? computed : moved);
}

int xpu_post_chain_of(xpu_codegen *cg, xpu_node node, int strided, xpu_post_chain *chain) {
    xpu_post_chain own = {0};
    uint8_t is_vector[XPU_CHAIN_MAX_INPUTS] = {0};
    if (!has_tensors(cg, node) || !read_shape(cg, node, strided, &own, is_vector)) return 0;
    if (!xpu_post_form_of(xpu_chain_of(cg->graph, node), is_vector, &own.form) || !read_vectors(cg, &own)) return 0;
    const int branch = own.form.branch;
    own.shape.x_bytes = own.shape.y_bytes = sizeof(float);
    own.shape.branch_bytes = branch >= 0 ? sizeof(float) : 0;
    own.shape.branch_is_row = branch >= 0 && is_vector[branch];
    own.shape.is_strided |= strided && !own.shape.is_flat;
    if (!xpu_choose_elementwise(cg, &own.shape, &own.tile)) return 0;
    own.cycles = xpu_elementwise_cycles(cg, &own.tile);
    own.core_cycles = core_cycles_of(cg, node, &own);
    if (chain) *chain = own;
    return own.cycles < own.core_cycles;
}

/* The chain that finds it; {0}: none does. */
static xpu_node chain_before(xpu_codegen *cg, xpu_node absmax) {
    const xpu_value_info *x = xpu_value_at(cg->graph, xpu_node_input(cg->graph, absmax, 0));
    const int is_made = x->kind == XPU_VALUE_NODE && x->output == XPU_OUT_Y;
    return is_made && xpu_post_chain_of(cg, x->node, 0, NULL) ? x->node : (xpu_node){0};
}

void xpu_join_maxima(xpu_codegen *cg) {
    XPU_ARRAY(xpu_node) layers = {0};
    XPU_FOR_ALL_NODES(cg->graph, node) {
        if (xpu_node_is(cg->graph, node, XPU_OP_ABSMAX)) XPU_PUSH(cg->arena, &layers, node);
    }
    for (uint32_t i = 0; i < layers.count; i++) {
        const xpu_node chain = chain_before(cg, layers.items[i]);
        if (!chain.id) continue;
        xpu_value_replace(cg->graph, xpu_node_output(cg->graph, layers.items[i], 0), xpu_absmax_beside(cg, chain));
        xpu_node_remove(cg->graph, layers.items[i]);
    }
}
