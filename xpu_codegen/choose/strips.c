/*
 * Strips. An image that one convolution makes for the next and that L3 has no room for crosses GM twice. A few of its
 * rows at a time have room: the first convolution makes those that a strip of the second's result needs, the second
 * makes the strip in its place. Neighbouring strips share rows, which are made for both. Only a depthwise convolution
 * may follow: it reads float32, where a product in integers would have to know the largest magnitude of all rows first.
 */
#include "xpu_codegen/choose/strips.h"

#include <string.h>

#include "core/passes/rewrite.h"
#include "xpu_codegen/choose/chain_loops.h"
#include "xpu_codegen/choose/costs.h"
#include "xpu_codegen/choose/precision.h"
#include "xpu_codegen/choose/tiles.h"

enum {
    ROWS = 2,        /* the axis of rows in an image's dims */
    MOST_STRIPS = 32 /* operands of a concat: core/ops/ops.def */
};

/* Of L3, in what a strip may have: other buffers live beside it. */
static const double SHARE_OF_L3 = 0.875;
/* Of the shorter of computing and moving an image through GM what the longer does not hide: the cores wait for rows.
 * Strips lie in L3, and all that is left to move is hidden. */
static const double NOT_HIDDEN = 0.25;
/* Strips have to be so much faster by the model. */
static const double WORTH = 0.95;

typedef struct {
    xpu_node first, second; /* the convolution on the tensor engine, the depthwise one */
    xpu_conv_shape made, wide;
    xpu_tiling_shape of_first, of_second;
    const xpu_chain *prologue;
} pair;

double xpu_depthwise_cycles(const xpu_codegen *cg, const xpu_conv_shape *s, const xpu_chain *prologue, double out_h,
                            double out_w, double in_h, double in_w) {
    const double element = s->kernel[1] == 3 ? 2.2 : 3.4;
    const double images = (double)xpu_dim_upper(cg, s->batch) * (double)xpu_dim_upper(cg, s->out_c);
    double work = images * out_h * (element * out_w + 28);
    if (prologue) work += images * in_h * in_w * xpu_chain_vector_cycles(prologue) / 16;
    return work;
}

/* ---- which convolutions ---- */

static int is_image(const xpu_codegen *cg, xpu_value value) {
    const xpu_value_info *info = xpu_value_at(cg->graph, value);
    return info->rank == 4 && info->layout == XPU_LAYOUT_CHANNEL_LAST && xpu_is_one(cg, info->dims[0]) &&
           xpu_value_dims(cg->graph, value, NULL, (int64_t[XPU_MAX_RANK]){0});
}

static int is_conv(const xpu_codegen *cg, xpu_node node) {
    const xpu_graph *graph = cg->graph;
    if (!node.id || !xpu_node_is(graph, node, XPU_OP_CONV) || !xpu_on_chip(cg, node)) return 0;
    return !xpu_node_input(graph, node, XPU_IN_BRANCH).id && is_image(cg, xpu_node_input(graph, node, XPU_IN_X)) &&
           is_image(cg, xpu_node_output(graph, node, XPU_OUT_Y));
}

/* Whether `second` is depthwise and alone reads what a convolution on the tensor engine makes. */
static int find_pair(xpu_codegen *cg, xpu_node second, pair *p) {
    const xpu_graph *graph = cg->graph;
    if (!is_conv(cg, second) || xpu_node_int(graph, second, XPU_ATTR_PRECISION) != XPU_PRECISION_FP32) return 0;
    const xpu_node first = xpu_maker(graph, second, XPU_IN_X);
    if (!is_conv(cg, first) || xpu_node_int(graph, first, XPU_ATTR_PRECISION) == XPU_PRECISION_FP32) return 0;
    if (!xpu_used_once(graph, first) || xpu_node_at(graph, first)->output_count > 1) return 0;
    if (xpu_value_leaves_program(cg, xpu_node_output(graph, second, XPU_OUT_Y))) return 0;
    *p = (pair){.first = first, .second = second};
    p->made = xpu_conv_shape_of(cg, first);
    p->wide = xpu_conv_shape_of(cg, second);
    p->of_first = xpu_tiling_shape_of(cg, &p->made);
    p->of_second = xpu_tiling_shape_of(cg, &p->wide);
    const xpu_attr *steps = xpu_node_attr(graph, second, XPU_ATTR_STEPS);
    p->prologue = steps ? steps->chain : NULL;
    return xpu_is_depthwise(cg, &p->wide);
}

/* ---- rows ---- */

/* Rows [from, to) of an operand, with rows of padding before and behind them. */
typedef struct {
    int64_t from, to, begin, end;
} rows;

/* What rows [from, to) of a result need. */
static rows rows_for(const xpu_conv_shape *s, int64_t in_h, int64_t from, int64_t to) {
    const int64_t extent = (s->kernel[0] - 1) * s->dilation[0] + 1;
    rows r = {from * s->stride[0] - s->begin[0], (to - 1) * s->stride[0] - s->begin[0] + extent, 0, 0};
    if (r.from < 0) r.begin = -r.from;
    if (r.to > in_h) r.end = r.to - in_h;
    r.from += r.begin;
    r.to -= r.end;
    return r;
}

/* Strip `index` of so many with `height` rows each, or less; the rows of the image between that it needs. */
static rows strip_of(const pair *p, int64_t height, int64_t index, int64_t *from, int64_t *to) {
    *from = index * height;
    *to = *from + height < p->of_second.out_h ? *from + height : p->of_second.out_h;
    return rows_for(&p->wide, p->of_second.in_h, *from, *to);
}

/* Whether each strip has rows of both operands: one that lies wholly in padding has none. */
static int strips_have_rows(const pair *p, int64_t height) {
    for (int64_t i = 0, from, to; i * height < p->of_second.out_h; i++) {
        const rows between = strip_of(p, height, i, &from, &to);
        if (between.from >= between.to) return 0;
        const rows above = rows_for(&p->made, p->of_first.in_h, between.from, between.to);
        if (above.from >= above.to) return 0;
    }
    return 1;
}

/* ---- what pays ---- */

static double image_bytes(double height, double width, double channels) {
    return height * width * channels * sizeof(float);
}

/* Computing `cycles` beside moving so many bytes to and from GM. */
static double beside_gm(const xpu_codegen *cg, double cycles, double bytes, double not_hidden) {
    const double moving = bytes / cg->chip.gm_rate;
    return moving > cycles ? moving + not_hidden * cycles : cycles + not_hidden * moving;
}

static xpu_tiling_format format_of(const xpu_codegen *cg, xpu_node node) {
    const int narrow = xpu_node_int(cg->graph, node, XPU_ATTR_PRECISION) == XPU_PRECISION_INT16X8;
    return narrow ? XPU_TILING_I16X8 : XPU_TILING_I16;
}

/* Cycles of the tensor engine for `height` rows of the image between; -1: no tile fits. */
static double engine_cycles(xpu_codegen *cg, const pair *p, int64_t height) {
    xpu_conv_shape s = p->made;
    xpu_tile tile;
    s.out_h = xpu_dim_of(cg, height);
    s.in_h = xpu_dim_of(cg, xpu_tiling_input_extent((int32_t)height, p->of_first.stride_h, p->of_first.kernel_h,
                                                    p->of_first.dilation_h, p->of_first.in_h));
    return xpu_choose_tile(cg, &s, 0, format_of(cg, p->first), &tile) ? -1 : tile.cycles;
}

static double core_cycles(const xpu_codegen *cg, const pair *p, int64_t height) {
    const xpu_tiling_shape *s = &p->of_second;
    return xpu_depthwise_cycles(cg, &p->wide, p->prologue, (double)height, s->out_w, (double)height * s->stride_h,
                                s->in_w) /
           cg->chip.cores;
}

/* What crosses GM beside the image between: operand and result, where they are large. */
static double other_bytes(const xpu_codegen *cg, const pair *p) {
    const xpu_tiling_shape *x = &p->of_first, *y = &p->of_second;
    const double in = image_bytes(x->in_h, x->in_w, x->in_c), out = image_bytes(y->out_h, y->out_w, y->out_c);
    const double large = cg->chip.l3_bytes / 2.0;
    return (in > large ? in : 0) + (out > large ? out : 0);
}

static double cycles_of_strips(xpu_codegen *cg, const pair *p, int64_t height) {
    double cycles = 0;
    int64_t from, to, last = -1;
    double engine = 0;
    for (int64_t i = 0; i * height < p->of_second.out_h; i++) {
        const rows r = strip_of(p, height, i, &from, &to);
        if (r.to - r.from != last) engine = engine_cycles(cg, p, r.to - r.from);
        if (engine < 0) return -1;
        last = r.to - r.from;
        cycles += xpu_cost.start_tensor + engine + xpu_cost.start_core + core_cycles(cg, p, to - from);
    }
    return beside_gm(cg, cycles, other_bytes(cg, p), 0);
}

/* Rows of the result in a strip, of those that are cheapest by the model; 0: the image stays whole. */
static int64_t height_of_strips(xpu_codegen *cg, const pair *p) {
    const xpu_tiling_shape *s = &p->of_second;
    const double row = image_bytes(1, s->in_w, s->in_c), between = row * s->in_h, room = cg->chip.l3_bytes;
    if (between <= room) return 0;
    const double engine = engine_cycles(cg, p, s->in_h), cores = core_cycles(cg, p, s->out_h);
    const double late = cores - engine * (cg->chip.cores - 1) / cg->chip.cores;
    const double together = engine + (late > 0 ? late : 0);
    double least = WORTH * beside_gm(cg, together, 2 * between + other_bytes(cg, p), NOT_HIDDEN);
    int64_t best = 0, before = 0;
    for (int64_t count = 2; engine >= 0 && count <= MOST_STRIPS; count++) {
        const int64_t height = (s->out_h + count - 1) / count;
        int64_t from, to;
        const rows r = strip_of(p, height, 1, &from, &to); /* one in the middle, if there is any */
        if (height == before || (double)(r.to - r.from) * row > SHARE_OF_L3 * room) continue;
        before = height;
        if (!strips_have_rows(p, height)) continue;
        const double cycles = cycles_of_strips(cg, p, height);
        if (cycles < 0 || cycles >= least) continue;
        least = cycles;
        best = height;
    }
    return best;
}

/* ---- the graph ---- */

/* A node in front of the pair's second, behind what was added so far; its results lie as images do. */
static xpu_node add_node(xpu_codegen *cg, const pair *p, xpu_node like, xpu_op_id op, const xpu_value *inputs,
                         uint32_t input_count, const char *name, const xpu_attr *attrs, uint32_t attr_count) {
    xpu_graph *graph = cg->graph;
    xpu_block left = xpu_graph_enter(graph, xpu_node_at(graph, p->second)->parent);
    const xpu_node node =
        xpu_graph_add(graph, p->second, xpu_op_of(op), inputs, input_count, &name, 1, attrs, attr_count, NULL, 0);
    xpu_graph_enter(graph, left);
    xpu_node_at(graph, node)->region = xpu_node_at(graph, like)->region;
    return node;
}

static xpu_value rows_of_image(xpu_codegen *cg, const pair *p, xpu_value image, const rows *r, const char *name) {
    const xpu_value_info x = *xpu_value_at(cg->graph, image);
    xpu_dim starts[XPU_MAX_RANK], shape[XPU_MAX_RANK];
    int64_t by[XPU_MAX_RANK];
    for (int i = 0; i < x.rank; i++) {
        starts[i] = xpu_dim_of(cg, i == ROWS ? r->from : 0);
        shape[i] = i == ROWS ? xpu_dim_of(cg, r->to - r->from) : x.dims[i];
        by[i] = 1;
    }
    const uint32_t rank = (uint32_t)x.rank;
    const xpu_attr attrs[] = {XPU_ATTR_DIMS_OF(STARTS, starts, rank), XPU_ATTR_DIMS_OF(SHAPE, shape, rank),
                              XPU_ATTR_INTS_OF(BY, by, rank)};
    const xpu_node node = add_node(cg, p, p->first, XPU_OP_SLICE, &image, 1, name, attrs, sizeof attrs / sizeof *attrs);
    xpu_op_infer(cg->graph, node, cg->diags);
    const xpu_value part = xpu_node_output(cg->graph, node, 0);
    xpu_value_at(cg->graph, part)->layout = x.layout;
    return part;
}

/* The convolution `like` of rows `x` of its operand. */
static xpu_node add_conv(xpu_codegen *cg, const pair *p, xpu_node like, xpu_value x, const rows *r, const char *name) {
    xpu_graph *graph = cg->graph;
    const xpu_node_info info = *xpu_node_at(graph, like);
    xpu_value inputs[XPU_IN_COUNT];
    memcpy(inputs, info.inputs, info.input_count * sizeof *inputs);
    inputs[XPU_IN_X] = x;
    const xpu_node node = add_node(cg, p, like, XPU_OP_CONV, inputs, info.input_count, name, info.attrs.items,
                                   (uint32_t)info.attrs.count);
    xpu_window window = xpu_window_of(graph, like);
    window.begin[0] = r->begin;
    window.end[0] = r->end;
    xpu_window_set_pads(graph, node, &window);
    xpu_node_add_origins(graph, node, like);
    xpu_op_infer(graph, node, cg->diags);
    const xpu_value y = xpu_node_output(graph, node, XPU_OUT_Y);
    xpu_value_at(graph, y)->layout = XPU_LAYOUT_CHANNEL_LAST;
    const char *reason = xpu_reason_of(cg, like);
    if (reason) xpu_set_reason(cg, node, reason);
    return node;
}

/* The second convolution becomes the concat of its strips. */
static void cut(xpu_codegen *cg, const pair *p, int64_t height) {
    xpu_graph *graph = cg->graph;
    xpu_value parts[MOST_STRIPS], most[MOST_STRIPS], x = xpu_node_input(graph, p->first, XPU_IN_X);
    const xpu_value known = xpu_node_output(graph, p->second, XPU_OUT_ABSMAX);
    const char *first = xpu_value_at(graph, xpu_node_output(graph, p->first, XPU_OUT_Y))->name;
    const char *second = xpu_value_at(graph, xpu_node_output(graph, p->second, XPU_OUT_Y))->name;
    uint32_t count = 0;
    for (int64_t from, to; count * height < p->of_second.out_h; count++) {
        const rows between = strip_of(p, height, count, &from, &to);
        const rows above = rows_for(&p->made, p->of_first.in_h, between.from, between.to);
        const char *strip = xpu_printf(cg->arena, "%s/strip%u", first, count);
        const xpu_value part = rows_of_image(cg, p, x, &above, xpu_printf(cg->arena, "%s/x", strip));
        const xpu_node made = add_conv(cg, p, p->first, part, &above, strip);
        const xpu_node wide = add_conv(cg, p, p->second, xpu_node_output(graph, made, XPU_OUT_Y), &between,
                                       xpu_printf(cg->arena, "%s/strip%u", second, count));
        parts[count] = xpu_node_output(graph, wide, XPU_OUT_Y);
        if (known.id) most[count] = xpu_absmax_beside(cg, wide);
    }
    if (known.id) {
        const xpu_value all = xpu_largest_of(cg, p->second, most, count, xpu_printf(cg->arena, "%s/largest", second));
        xpu_value_replace(graph, known, all);
        xpu_node_at(graph, p->second)->output_count = 1;
    }
    const xpu_attr axis = XPU_ATTR_INT_OF(AXIS, ROWS);
    xpu_set_reason(cg, p->second, NULL);
    xpu_rewrite(graph, p->second, XPU_OP_CONCAT, parts, count, &axis, 1);
    xpu_op_infer(graph, p->second, cg->diags);
    xpu_node_remove(graph, p->first);
}

xpu_status xpu_cut_strips(xpu_codegen *cg) {
    XPU_ARRAY(pair) pairs = {0};
    const size_t errors = cg->diags->errors;
    XPU_FOR_ALL_NODES(cg->graph, node) {
        pair found;
        if (find_pair(cg, node, &found)) XPU_PUSH(cg->arena, &pairs, found);
    }
    for (uint32_t i = 0; i < pairs.count; i++) {
        const int64_t height = height_of_strips(cg, &pairs.items[i]);
        if (height) cut(cg, &pairs.items[i], height);
    }
    return xpu_diags_since(cg->diags, errors);
}
