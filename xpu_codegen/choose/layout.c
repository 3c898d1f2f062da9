/*
 * Memory layouts. Convolution and pooling work on channel-last images, elementwise chains and what moves elements
 * follow their operands, everything else and the program's inputs and outputs are row-major. Where a layer wants
 * another layout than its operand has, a relayout is inserted, once per value.
 */
#include "xpu_codegen/choose/layout.h"

#include <string.h>

#include "xpu_codegen/choose/chain_loops.h"
#include "xpu_codegen/choose/elementwise.h"
#include "xpu_codegen/shuffle.h"

typedef struct {
    xpu_value from, to;
    xpu_layout layout;
} relaid;

typedef struct {
    xpu_codegen *cg;
    xpu_graph *graph;
    XPU_ARRAY(relaid) done;
} pass;

/* What an operator wants of its operands and makes of its result (ops.def); UNKNOWN is on the host. */
typedef enum { UNKNOWN, LINEAR, IMAGE, CHAIN, FOLLOW, JOIN, PERMUTE, PAIR, FLATTEN, KEEP } layout_class;

static layout_class class_of(const pass *p, xpu_node node) {
    static const uint8_t classes[XPU_OP_COUNT] = {
#define XPU_SIM_OP(op, lowering, rules, layout, becomes) [XPU_OP_##op] = layout,
#include "xpu_codegen/ops.def"
    };
    if (xpu_on_host(p->cg, node)) return UNKNOWN;
    return (layout_class)classes[xpu_op_id_of(xpu_node_at(p->graph, node)->op)];
}

static xpu_layout layout_of(const pass *p, xpu_value value) {
    return xpu_value_at(p->graph, value)->layout;
}

static int has_layout(const pass *p, xpu_value value, xpu_layout layout) {
    return layout_of(p, value) == layout || xpu_layout_free(p->cg, value);
}

/* Whether a convolution or pooling reads the value as an image. */
static int feeds_image(const pass *p, xpu_value value) {
    const xpu_value_info *info = xpu_value_at(p->graph, value);
    for (uint32_t u = 0; u < info->uses.count; u++) {
        xpu_use use = info->uses.items[u];
        if (class_of(p, use.node) == IMAGE && (use.input == XPU_IN_X || use.input == XPU_IN_BRANCH)) return 1;
    }
    return 0;
}

/* ---- relayouts ---- */

/* Before a node, or at the end of `block`. */
static xpu_value relayout(pass *p, xpu_value value, xpu_layout layout, xpu_node before, xpu_block block) {
    for (uint32_t i = 0; i < p->done.count; i++) {
        const relaid *item = &p->done.items[i];
        int is_seen = xpu_block_is_in(p->graph, block, xpu_value_block(p->graph, item->to));
        if (item->from.id == value.id && item->layout == layout && is_seen) return item->to;
    }
    const xpu_value_info source = *xpu_value_at(p->graph, value);
    const char *name = xpu_printf(p->cg->arena, "%s/%s", source.name,
                                  layout == XPU_LAYOUT_CHANNEL_LAST ? "channel_last" : "channel_first");
    xpu_attr attr = XPU_ATTR_INT_OF(LAYOUT, layout);
    xpu_block left = xpu_graph_enter(p->graph, block);
    xpu_node node = xpu_graph_add(p->graph, before, xpu_op_of(XPU_OP_RELAYOUT), &value, 1, &name, 1, &attr, 1, NULL, 0);
    xpu_graph_enter(p->graph, left);
    relaid item = {.from = value, .to = xpu_node_output(p->graph, node, 0), .layout = layout};
    xpu_value_info *result = xpu_value_at(p->graph, item.to);
    result->dtype = source.dtype;
    result->rank = source.rank;
    memcpy(result->dims, source.dims, sizeof source.dims);
    result->layout = layout;
    XPU_PUSH(p->cg->arena, &p->done, item);
    return item.to;
}

static void want(pass *p, xpu_node node, uint32_t input, xpu_layout layout) {
    xpu_value value = xpu_node_input(p->graph, node, input);
    if (!value.id || has_layout(p, value, layout)) return;
    xpu_node_set_input(p->graph, node, input, relayout(p, value, layout, node, xpu_node_at(p->graph, node)->parent));
}

/* ---- chains ---- */

/* Whether the chain can run over its result in this layout once operands of its own rank are brought to it. */
static int chain_fits(pass *p, xpu_node node, xpu_layout layout) {
    const xpu_node_info *info = xpu_node_at(p->graph, node);
    int rank = xpu_value_at(p->graph, info->outputs[0])->rank;
    if (layout == XPU_LAYOUT_CHANNEL_LAST && rank != 3 && rank != 4) return 0;
    xpu_layout had[XPU_CHAIN_MAX_INPUTS];
    for (uint32_t i = 0; i < info->input_count; i++) {
        xpu_value_info *value = xpu_value_at(p->graph, info->inputs[i]);
        had[i] = value->layout;
        if (value->rank == rank) value->layout = layout;
    }
    xpu_chain_loops loops;
    int fits = xpu_chain_plan(p->cg, node, layout, &loops, NULL);
    for (uint32_t i = info->input_count; i-- > 0;) xpu_value_at(p->graph, info->inputs[i])->layout = had[i];
    return fits;
}

static int any_channel_last(const pass *p, xpu_node node) {
    const xpu_node_info *info = xpu_node_at(p->graph, node);
    for (uint32_t i = 0; i < info->input_count; i++) {
        if (!xpu_layout_free(p->cg, info->inputs[i]) && layout_of(p, info->inputs[i]) == XPU_LAYOUT_CHANNEL_LAST)
            return 1;
    }
    return 0;
}

static void place_chain(pass *p, xpu_node node) {
    xpu_layout layout = XPU_LAYOUT_LINEAR;
    if (any_channel_last(p, node) && chain_fits(p, node, XPU_LAYOUT_CHANNEL_LAST)) layout = XPU_LAYOUT_CHANNEL_LAST;
    uint32_t inputs = xpu_node_at(p->graph, node)->input_count, bad = 0;
    for (uint32_t round = 0; round <= inputs && bad != UINT32_MAX; round++) {
        xpu_chain_loops loops;
        xpu_chain_plan(p->cg, node, layout, &loops, &bad);
        if (bad != UINT32_MAX) want(p, node, bad, layout);
    }
    xpu_value_at(p->graph, xpu_node_output(p->graph, node, 0))->layout = layout;
}

/* ---- the others ---- */

static void place_follower(pass *p, xpu_node node) {
    xpu_value_at(p->graph, xpu_node_output(p->graph, node, 0))->layout =
        layout_of(p, xpu_node_input(p->graph, node, 0));
}

/* A result that can lie in any order: as what reads it wants it, or, where `joins`, as an operand does. */
static void place_mover(pass *p, xpu_node node, int joins) {
    xpu_value y = xpu_node_output(p->graph, node, 0);
    int rank = xpu_value_at(p->graph, y)->rank, image = feeds_image(p, y) || (joins && any_channel_last(p, node));
    xpu_value_at(p->graph, y)->layout = image && (rank == 3 || rank == 4) ? XPU_LAYOUT_CHANNEL_LAST : XPU_LAYOUT_LINEAR;
}

static void place_image(pass *p, xpu_node node) {
    want(p, node, XPU_IN_X, XPU_LAYOUT_CHANNEL_LAST);
    want(p, node, XPU_IN_BRANCH, XPU_LAYOUT_CHANNEL_LAST);
    xpu_value_at(p->graph, xpu_node_output(p->graph, node, 0))->layout = XPU_LAYOUT_CHANNEL_LAST;
}

/* Both operands have the result's dims: channel-last where one of them is; or one is a row of channels, whose order is
 * that of pixels, or of the last dim. */
static void place_pair(pass *p, xpu_node node) {
    xpu_row_pair pair;
    const int image = xpu_find_row_pair(p->cg, node, &pair) ? pair.is_image : any_channel_last(p, node);
    xpu_layout layout = image ? XPU_LAYOUT_CHANNEL_LAST : XPU_LAYOUT_LINEAR;
    for (uint32_t i = 0; i < 2; i++) want(p, node, i, layout);
    xpu_value_at(p->graph, xpu_node_output(p->graph, node, 0))->layout = layout;
}

/* A shuffle reads its operand as it lies; its result is placed like that of other movers. */
static int place_shuffle(pass *p, xpu_node node) {
    xpu_shuffle s;
    if (!xpu_find_shuffle(p->cg, node, &s)) return 0;
    const int rank = xpu_value_at(p->graph, s.y)->rank;
    const int from_image = !has_layout(p, s.x, XPU_LAYOUT_LINEAR), to_image = feeds_image(p, s.y);
    if (!from_image && !to_image) return 0;
    if (node.id == s.join.id && (rank == 3 || rank == 4)) xpu_value_at(p->graph, s.y)->layout = XPU_LAYOUT_CHANNEL_LAST;
    return 1;
}

/* Pixels of a channel-last image stay where they are under another shape. */
static void place_flatten(pass *p, xpu_node node) {
    if (place_shuffle(p, node)) return;
    xpu_value x = xpu_node_input(p->graph, node, 0), y = xpu_node_output(p->graph, node, 0);
    if (!has_layout(p, x, XPU_LAYOUT_LINEAR) && xpu_keeps_pixels(p->cg, x, y))
        xpu_value_at(p->graph, y)->layout = XPU_LAYOUT_CHANNEL_LAST;
    else
        want(p, node, 0, XPU_LAYOUT_LINEAR);
}

static void place_linear(pass *p, xpu_node node) {
    uint32_t count = xpu_node_at(p->graph, node)->input_count;
    for (uint32_t i = 0; i < count; i++) want(p, node, i, XPU_LAYOUT_LINEAR);
}

/* Gives an output of the program that is channel-last its row-major form, under its own name. */
static void place_output(pass *p, xpu_value output) {
    if (has_layout(p, output, XPU_LAYOUT_LINEAR)) {
        xpu_value_at(p->graph, output)->layout = XPU_LAYOUT_LINEAR;
        return;
    }
    XPU_ARRAY(xpu_use) uses = {0};
    const xpu_value_info *info = xpu_value_at(p->graph, output);
    for (uint32_t u = 0; u < info->uses.count; u++) XPU_PUSH(p->cg->arena, &uses, info->uses.items[u]);
    xpu_value linear = relayout(p, output, XPU_LAYOUT_LINEAR, (xpu_node){0}, XPU_TOP_BLOCK);
    xpu_node maker = xpu_value_at(p->graph, linear)->node;
    xpu_value_replace(p->graph, output, linear);
    xpu_node_set_input(p->graph, maker, 0, output);
    for (uint32_t u = 0; u < uses.count; u++) {
        if (uses.items[u].node.id != maker.id)
            xpu_node_set_input(p->graph, uses.items[u].node, uses.items[u].input, output);
    }
}

static void place_node(pass *p, xpu_node node) {
    switch (class_of(p, node)) {
    case UNKNOWN:
    case LINEAR: place_linear(p, node); break;
    case IMAGE: place_image(p, node); break;
    case CHAIN: place_chain(p, node); break;
    case FOLLOW: place_follower(p, node); break;
    case JOIN:
    case PERMUTE: place_mover(p, node, class_of(p, node) == JOIN); break;
    case KEEP: break;
    case PAIR: place_pair(p, node); break;
    case FLATTEN: place_flatten(p, node); break;
    }
}

/* What bodies hand on is row-major, as what they take is. */
static void place_block(pass *p, xpu_block block) {
    for (xpu_node node = xpu_block_at(p->graph, block)->first, next; node.id; node = next) {
        next = xpu_node_next(p->graph, node);
        place_node(p, node);
        if (xpu_node_is(p->graph, node, XPU_OP_REGION)) continue; /* row-major */
        for (uint32_t b = 0; b < xpu_node_at(p->graph, node)->block_count; b++) {
            place_block(p, xpu_node_at(p->graph, node)->blocks[b]);
        }
    }
    for (uint32_t i = 0; i < xpu_block_at(p->graph, block)->results.count; i++) {
        xpu_value result = xpu_block_at(p->graph, block)->results.items[i];
        if (has_layout(p, result, XPU_LAYOUT_LINEAR)) continue;
        xpu_block_set_result(p->graph, block, i, relayout(p, result, XPU_LAYOUT_LINEAR, (xpu_node){0}, block));
    }
}

xpu_status xpu_choose_layouts(xpu_codegen *cg) {
    pass p = {.cg = cg, .graph = cg->graph};
    place_block(&p, XPU_TOP_BLOCK);
    for (uint32_t i = 0; i < cg->graph->outputs.count; i++) place_output(&p, cg->graph->outputs.items[i]);
    return XPU_OK;
}

/* ---- what holds afterwards ---- */

static void check_operands(const pass *p, xpu_node node, uint32_t first, uint32_t last, xpu_layout layout,
                           xpu_verify_report report, void *context) {
    for (uint32_t i = first; i <= last; i++) {
        xpu_value value = xpu_node_input(p->graph, node, i);
        if (!value.id || has_layout(p, value, layout)) continue;
        report(context, node, "operand-layout",
               xpu_printf(p->cg->arena, "operand %u has a layout the layer cannot read", i));
    }
}

static void check_layout(const pass *p, xpu_node node, xpu_verify_report report, void *context) {
    const xpu_node_info *info = xpu_node_at(p->graph, node);
    xpu_value x = xpu_node_input(p->graph, node, 0), y = xpu_node_output(p->graph, node, 0);
    xpu_layout layout = layout_of(p, y);
    xpu_chain_loops loops;
    switch (class_of(p, node)) {
    case UNKNOWN:
    case LINEAR: check_operands(p, node, 0, info->input_count, XPU_LAYOUT_LINEAR, report, context); break;
    case IMAGE:
        check_operands(p, node, XPU_IN_X, XPU_IN_X, XPU_LAYOUT_CHANNEL_LAST, report, context);
        check_operands(p, node, XPU_IN_BRANCH, XPU_IN_BRANCH, XPU_LAYOUT_CHANNEL_LAST, report, context);
        if (!has_layout(p, y, XPU_LAYOUT_CHANNEL_LAST))
            report(context, node, "result-layout", "the image is row-major");
        break;
    case CHAIN:
        if (!xpu_chain_plan(p->cg, node, layout, &loops, NULL))
            report(context, node, "chain-fits", "the loops of the chain do not fit its kernel");
        break;
    case FOLLOW:
        if (info->op != xpu_op_of(XPU_OP_ABSMAX) && layout != layout_of(p, x) && !xpu_layout_free(p->cg, y))
            report(context, node, "result-layout", "the result lies in another order than the operand");
        break;
    case PAIR: check_operands(p, node, 0, 1, layout, report, context); break;
    case FLATTEN:
        if (xpu_shuffles_image(p->cg, node, NULL)) break;
        if (layout == XPU_LAYOUT_LINEAR || !xpu_keeps_pixels(p->cg, x, y))
            check_operands(p, node, 0, 0, XPU_LAYOUT_LINEAR, report, context);
        break;
    case JOIN:
    case PERMUTE:
    case KEEP: break;
    }
}

void xpu_verify_layouts(xpu_codegen *cg, xpu_verify_report report, void *context) {
    pass p = {.cg = cg, .graph = cg->graph};
    XPU_FOR_ALL_NODES(cg->graph, node) {
        if (xpu_is_foreign(cg, node)) continue;
        check_layout(&p, node, report, context);
        for (uint32_t i = 0; i < xpu_node_at(cg->graph, node)->output_count; i++) {
            xpu_value value = xpu_node_output(cg->graph, node, i);
            if (xpu_value_at(cg->graph, value)->is_output && !has_layout(&p, value, XPU_LAYOUT_LINEAR))
                report(context, node, "output-layout", "an output of the program is not row-major");
        }
    }
}
