/*
 * A transposed convolution as convolutions. Element f of its full result along one axis is element (f - p) / s of phase
 * p = f mod s, a convolution whose taps are every s-th one of the kernel. Phases with as many taps are channels of one
 * convolution; the results are interleaved. Sums have the order of the reference kernel.
 */
#include "core/ops/infer.h"
#include "core/ops/transposed.h"

typedef struct {
    xpu_graph *graph;
    xpu_node node;
    xpu_diags *diags;
    xpu_arena *scratch;
    xpu_transposed t;
    int64_t channels, outputs; /* of a group */
    int64_t kernel[XPU_WINDOW_AXES];
    int64_t skipped[XPU_WINDOW_AXES]; /* elements of the phases before the first one that is computed */
    int64_t more[XPU_WINDOW_AXES];    /* elements of the phases beyond those of the operand */
    xpu_value weights;                /* [group][outputs][channels][kernel, of one or two axes] */
} expansion;

/* Neighbouring phases of one axis that have taps at the same places of the operand. */
typedef struct {
    int64_t first, count;
    int64_t taps, tap, tap_step; /* how many of the kernel's, the first one of the first phase, from one to the next */
    int64_t place, place_step;   /* of the operand's element that each brings, before that of the result */
} phase_class;

typedef XPU_ARRAY(phase_class) class_list;

static int64_t greatest_divisor(int64_t a, int64_t b) {
    while (b) {
        int64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

static void find_classes(const expansion *e, int axis, class_list *list) {
    int64_t stride = e->t.stride[axis], dilation = e->t.dilation[axis], kernel = e->kernel[axis];
    if (dilation == 1) {
        int64_t longer = kernel % stride;
        phase_class more = {.count = longer, .taps = kernel / stride + 1, .tap_step = stride, .place_step = 1};
        phase_class fewer = {.first = longer,
                             .count = stride - longer,
                             .taps = kernel / stride,
                             .tap = longer,
                             .tap_step = stride,
                             .place_step = 1};
        if (more.count) XPU_PUSH(e->scratch, list, more);
        XPU_PUSH(e->scratch, list, fewer);
        return;
    }
    int64_t common = greatest_divisor(stride, dilation), step = stride / common;
    for (int64_t phase = 0; phase < stride; phase++) {
        phase_class item = {.first = phase, .count = 1, .tap_step = step, .place_step = dilation / common};
        while (item.tap < step && item.tap * dilation % stride != phase) item.tap++;
        item.place = item.tap * dilation / stride;
        if (item.tap < step && item.tap < kernel) item.taps = (kernel - item.tap - 1) / step + 1;
        XPU_PUSH(e->scratch, list, item);
    }
}

/* The operand's elements that stand before a phase's first one. */
static int64_t reach(const phase_class *item) {
    return item->place + (item->taps - 1) * item->place_step;
}

static void place_phases(expansion *e, const class_list *lists) {
    xpu_dims *dims = &e->graph->dims;
    for (int axis = 0; axis < XPU_WINDOW_AXES; axis++) {
        int64_t stride = e->t.stride[axis], least = e->t.crop[axis] / stride, beyond = 0;
        for (uint32_t i = 0; i < lists[axis].count; i++) {
            const phase_class *item = &lists[axis].items[i];
            if (item->taps && reach(item) < least) least = reach(item);
        }
        e->skipped[axis] = least;
        e->t.crop[axis] -= least * stride;
        const xpu_value_info *x = xpu_operand(e->graph, e->node, 0);
        xpu_dim in = axis < e->t.first ? xpu_dim_const(dims, 1) : x->dims[2 + axis - e->t.first];
        xpu_dim rest = xpu_dim_add(dims, e->t.out[axis], xpu_dim_mul_const(dims, in, -stride));
        if (!xpu_dim_is_const(dims, rest, &beyond)) beyond = xpu_dim_max(dims, rest);
        beyond += e->t.crop[axis];
        e->more[axis] = beyond >= 0 ? (beyond + stride - 1) / stride : -(-beyond / stride);
    }
}

static xpu_value build(const expansion *e, xpu_op_id op, const xpu_value *inputs, uint32_t count, const xpu_attr *attrs,
                       uint32_t attr_count) {
    return xpu_build_part(e->graph, e->node, op, inputs, count, attrs, attr_count, e->diags);
}

static xpu_value reshape(const expansion *e, xpu_value x, const int64_t *sizes, uint32_t rank) {
    xpu_dim dims[XPU_MAX_RANK];
    for (uint32_t i = 0; i < rank; i++) dims[i] = xpu_dim_const(&e->graph->dims, sizes[i]);
    return build(e, XPU_OP_RESHAPE, &x, 1, &XPU_ATTR_DIMS_OF(SHAPE, dims, rank), 1);
}

enum { GROUP_AXIS, OUTPUT_AXIS, CHANNEL_AXIS, KERNEL_AXIS };
enum { WEIGHT_AXES = KERNEL_AXIS + XPU_WINDOW_AXES };

/* Weights with the outputs of a group before its channels. */
static xpu_value turn_weights(const expansion *e) {
    static const int64_t perm[] = {0, 2, 1, 3, 4};
    int64_t sizes[] = {e->t.groups, e->channels, e->outputs, e->kernel[0], e->kernel[1]};
    xpu_value w = reshape(e, xpu_node_input(e->graph, e->node, XPU_IN_W), sizes, WEIGHT_AXES);
    return build(e, XPU_OP_TRANSPOSE, &w, 1, &XPU_ATTR_INTS_OF(PERM, perm, WEIGHT_AXES), 1);
}

/* The taps of phase `phase` of a class along one axis of weights, the last one first. */
static xpu_value taps_of(const expansion *e, xpu_value weights, int axis, const phase_class *c, int64_t phase) {
    xpu_dims *dims = &e->graph->dims;
    int64_t by[WEIGHT_AXES];
    xpu_dim starts[WEIGHT_AXES], sizes[WEIGHT_AXES];
    const xpu_value_info *info = xpu_value_at(e->graph, weights);
    for (int i = 0; i < WEIGHT_AXES; i++) {
        int whole = i != KERNEL_AXIS + axis;
        by[i] = whole ? 1 : -c->tap_step;
        starts[i] = xpu_dim_const(dims, whole ? 0 : c->tap + phase + (c->taps - 1) * c->tap_step);
        sizes[i] = whole ? info->dims[i] : xpu_dim_const(dims, c->taps);
    }
    xpu_attr attrs[] = {XPU_ATTR_DIMS_OF(STARTS, starts, WEIGHT_AXES), XPU_ATTR_DIMS_OF(SHAPE, sizes, WEIGHT_AXES),
                        XPU_ATTR_INTS_OF(BY, by, WEIGHT_AXES)};
    return build(e, XPU_OP_SLICE, &weights, 1, attrs, 3);
}

/* One behind the other along the outputs; a concat has a limited number of operands. */
static xpu_value join(const expansion *e, xpu_value *parts, uint32_t count) {
    const uint32_t most = (uint32_t)xpu_op_of(XPU_OP_CONCAT)->max_inputs;
    while (count > 1) {
        uint32_t joined = 0;
        for (uint32_t first = 0; first < count; first += most) {
            uint32_t n = count - first < most ? count - first : most;
            parts[joined++] = build(e, XPU_OP_CONCAT, parts + first, n, &XPU_ATTR_INT_OF(AXIS, OUTPUT_AXIS), 1);
        }
        count = joined;
    }
    return parts[0];
}

/* [group x phases x outputs][channels][taps]. */
static xpu_value weights_of(const expansion *e, const phase_class *const classes[XPU_WINDOW_AXES]) {
    int64_t phases = classes[0]->count * classes[1]->count;
    xpu_value *parts = XPU_NEW_ARRAY(e->scratch, xpu_value, phases), all;
    for (int64_t row = 0, i = 0; row < classes[0]->count; row++) {
        xpu_value rows = taps_of(e, e->weights, 0, classes[0], row); /* once: what is large is cut up in few steps */
        for (int64_t column = 0; column < classes[1]->count; column++)
            parts[i++] = taps_of(e, rows, 1, classes[1], column);
    }
    all = join(e, parts, (uint32_t)phases);
    int64_t sizes[] = {e->t.groups * phases * e->outputs, e->channels, classes[0]->taps, classes[1]->taps};
    if (e->t.first) sizes[2] = sizes[3];
    return reshape(e, all, sizes, 2 + (uint32_t)e->t.spatial);
}

/* [group x phases x outputs], or {0}. */
static xpu_value bias_of(const expansion *e, int64_t phases) {
    xpu_value bias = xpu_node_input(e->graph, e->node, XPU_IN_BIAS);
    if (!bias.id || phases == 1) return bias;
    int64_t apart[] = {e->t.groups, 1, e->outputs}, all = e->t.groups * phases * e->outputs;
    xpu_dim dims[3];
    for (int i = 0; i < 3; i++) dims[i] = xpu_dim_const(&e->graph->dims, i == 1 ? phases : apart[i]);
    bias = reshape(e, bias, apart, 3);
    bias = build(e, XPU_OP_EXPAND, &bias, 1, &XPU_ATTR_DIMS_OF(SHAPE, dims, 3), 1);
    return reshape(e, bias, &all, 1);
}

/* Phases without taps: the bias. */
static xpu_value empty_phases(const expansion *e, int64_t phases) {
    xpu_dims *dims = &e->graph->dims;
    const xpu_value_info *x = xpu_operand(e->graph, e->node, 0);
    xpu_dim shape[XPU_MAX_RANK] = {x->dims[0], xpu_dim_const(dims, e->t.groups * phases * e->outputs)};
    for (int axis = e->t.first; axis < XPU_WINDOW_AXES; axis++) {
        int dim = 2 + axis - e->t.first;
        shape[dim] = xpu_dim_add_const(dims, x->dims[dim], e->more[axis]);
    }
    uint32_t rank = (uint32_t)x->rank;
    int64_t sizes[XPU_MAX_RANK] = {1, e->t.groups * phases * e->outputs, 1, 1};
    xpu_value bias = bias_of(e, phases);
    bias = bias.id ? reshape(e, bias, sizes, rank) : xpu_graph_const_f32(e->graph, NULL, 0);
    return build(e, XPU_OP_EXPAND, &bias, 1, &XPU_ATTR_DIMS_OF(SHAPE, shape, rank), 1);
}

static xpu_value convolve(const expansion *e, const phase_class *const classes[XPU_WINDOW_AXES]) {
    int64_t phases = classes[0]->count * classes[1]->count;
    if (!classes[0]->taps || !classes[1]->taps) return empty_phases(e, phases);
    int64_t strides[] = {1, 1}, dilations[XPU_WINDOW_AXES], pads[2 * XPU_WINDOW_AXES];
    int first = e->t.first, n = e->t.spatial;
    for (int i = 0; i < n; i++) {
        const phase_class *c = classes[first + i];
        int64_t end = e->more[first + i] - c->place + e->skipped[first + i];
        dilations[i] = c->place_step;
        pads[i] = reach(c) - e->skipped[first + i];
        pads[n + i] = end > 0 ? end : 0;
    }
    xpu_attr attrs[] = {XPU_ATTR_INTS_OF(STRIDES, strides, (uint32_t)n),
                        XPU_ATTR_INTS_OF(DILATIONS, dilations, (uint32_t)n),
                        XPU_ATTR_INTS_OF(PADS, pads, 2 * (uint32_t)n), XPU_ATTR_INT_OF(GROUP, e->t.groups)};
    xpu_value operands[] = {xpu_node_input(e->graph, e->node, XPU_IN_X), weights_of(e, classes), bias_of(e, phases)};
    return build(e, XPU_OP_CONV, operands, operands[XPU_IN_BIAS].id ? 3 : 2, attrs, 4);
}

/* A lone phase that is the result already. */
static int is_result(const expansion *e, xpu_value value) {
    return e->t.stride[0] == 1 && e->t.stride[1] == 1 && !e->t.crop[0] && !e->t.crop[1] &&
           xpu_value_same_shape(e->graph, value, xpu_node_output(e->graph, e->node, 0));
}

static xpu_value interleave(const expansion *e, const xpu_value *operands, const int64_t *phases, uint32_t count) {
    int first = e->t.first;
    uint32_t n = (uint32_t)e->t.spatial;
    xpu_attr attrs[] = {XPU_ATTR_INTS_OF(STRIDES, e->t.stride + first, n), XPU_ATTR_INTS_OF(CROP, e->t.crop + first, n),
                        XPU_ATTR_DIMS_OF(SHAPE, e->t.out + first, n), XPU_ATTR_INT_OF(GROUP, e->t.groups),
                        XPU_ATTR_INTS_OF(PHASES, phases, count * XPU_PHASE_ENTRIES)};
    return build(e, XPU_OP_INTERLEAVE, operands, count, attrs, 5);
}

/* Convolutions of one channel a group run on kernels of their own where each has one output: a phase is one then. */
static void split_classes(const expansion *e, class_list *list) {
    class_list whole = *list;
    *list = (class_list){0};
    for (uint32_t i = 0; i < whole.count; i++) {
        phase_class item = whole.items[i];
        for (int64_t k = 0; k < whole.items[i].count; k++) {
            item.first = whole.items[i].first + k;
            item.tap = whole.items[i].tap + k;
            item.count = 1;
            XPU_PUSH(e->scratch, list, item);
        }
    }
}

static xpu_value expand(expansion *e) {
    enum { SPLIT_PHASES = 16 };
    class_list lists[XPU_WINDOW_AXES] = {{0}};
    for (int axis = 0; axis < XPU_WINDOW_AXES; axis++) find_classes(e, axis, &lists[axis]);
    int depthwise = e->channels == 1 && e->outputs == 1 && e->t.stride[0] * e->t.stride[1] <= SPLIT_PHASES;
    for (int axis = 0; axis < XPU_WINDOW_AXES && depthwise; axis++) split_classes(e, &lists[axis]);
    place_phases(e, lists);
    e->weights = turn_weights(e);
    uint32_t count = lists[0].count * lists[1].count;
    xpu_value *operands = XPU_NEW_ARRAY(e->scratch, xpu_value, count);
    int64_t *phases = XPU_NEW_ARRAY(e->scratch, int64_t, count *XPU_PHASE_ENTRIES);
    for (uint32_t i = 0; i < count; i++) {
        const phase_class *classes[] = {&lists[0].items[i / lists[1].count], &lists[1].items[i % lists[1].count]};
        const int64_t entries[] = {classes[0]->first, classes[0]->count, classes[1]->first, classes[1]->count};
        for (int k = 0; k < XPU_PHASE_ENTRIES; k++) phases[i * XPU_PHASE_ENTRIES + (uint32_t)k] = entries[k];
        operands[i] = convolve(e, classes);
    }
    return count == 1 && is_result(e, operands[0]) ? operands[0] : interleave(e, operands, phases, count);
}

xpu_status xpu_expand_conv_transpose(xpu_graph *graph, xpu_node node, xpu_diags *diags) {
    size_t errors = diags->errors;
    xpu_arena *scratch = xpu_arena_new(xpu_arena_mem(graph->arena), "phases");
    expansion e = {.graph = graph, .node = node, .diags = diags, .scratch = scratch, .kernel = {1, 1}};
    e.t = xpu_transposed_of(graph, node);
    const xpu_value_info *x = xpu_operand(graph, node, XPU_IN_X), *w = xpu_operand(graph, node, XPU_IN_W);
    xpu_dim_is_const(&graph->dims, x->dims[1], &e.channels);
    e.channels /= e.t.groups;
    xpu_dim_is_const(&graph->dims, w->dims[1], &e.outputs);
    for (int axis = e.t.first; axis < XPU_WINDOW_AXES; axis++) {
        xpu_dim_is_const(&graph->dims, w->dims[2 + axis - e.t.first], &e.kernel[axis]);
    }
    xpu_value result = expand(&e);
    xpu_arena_free(scratch);
    if (diags->errors != errors) return xpu_diags_status(diags);
    xpu_value_replace(graph, xpu_node_output(graph, node, 0), result);
    xpu_node_remove(graph, node);
    return XPU_OK;
}
