#include "xpu_codegen/choose/phases.h"

#include <string.h>

#include "core/ops/transposed.h"
#include "core/passes/rewrite.h"
#include "xpu_codegen/values.h"

enum { SPATIAL = 2 };

/* Phases of whole images side by side: what is interleaved has one operand, all its phases, and no crop. */
typedef struct {
    xpu_node node;
    int64_t stride[SPATIAL], count; /* count: phases */
} whole_phases;

static int has_all(xpu_codegen *cg, xpu_node node, whole_phases *p) {
    xpu_graph *graph = cg->graph;
    if (!node.id || !xpu_node_is(graph, node, XPU_OP_INTERLEAVE) || !xpu_on_chip(cg, node)) return 0;
    const xpu_transposed t = xpu_transposed_of(graph, node);
    if (xpu_node_at(graph, node)->input_count != 1 || t.spatial != SPATIAL || t.groups != 1) return 0;
    const xpu_phases phases = xpu_phases_of(graph, node, 0);
    *p = (whole_phases){.node = node, .count = 1};
    for (int i = 0; i < SPATIAL; i++) {
        if (t.crop[i] || phases.first[i] || phases.count[i] != t.stride[i]) return 0;
        const xpu_dim size = xpu_value_dim(cg, xpu_node_input(graph, node, 0), 2 + i);
        if (!xpu_dim_equal(xpu_dim_mul_const(&graph->dims, size, t.stride[i]), t.out[i])) return 0;
        p->stride[i] = t.stride[i];
        p->count *= t.stride[i];
    }
    return 1;
}

/* Whether each attribute of a window has `value` everywhere. */
static int is_everywhere(const xpu_graph *graph, xpu_node node, xpu_attr_id id, int64_t value) {
    uint32_t count;
    const int64_t *items = xpu_node_ints(graph, node, id, &count);
    for (uint32_t i = 0; items && i < count; i++) {
        if (items[i] != value) return 0;
    }
    return 1;
}

static int64_t const_dim(const xpu_codegen *cg, xpu_value value, int i) {
    int64_t size;
    return xpu_dim_is_const(&cg->graph->dims, xpu_value_dim(cg, value, i), &size) ? size : 0;
}

/* Whether a node is a convolution on the tensor engine that sees one pixel, by constants. */
static int sees_one_pixel(const xpu_codegen *cg, xpu_node node) {
    const xpu_graph *graph = cg->graph;
    if (!xpu_node_is(graph, node, XPU_OP_CONV) || !xpu_on_chip(cg, node)) return 0;
    const xpu_value w = xpu_node_input(graph, node, XPU_IN_W), bias = xpu_node_input(graph, node, XPU_IN_BIAS);
    if (xpu_node_int(graph, node, XPU_ATTR_PRECISION) == XPU_PRECISION_FP32) return 0;
    if (!xpu_is_const_value(cg, w) || (bias.id && !xpu_is_const_value(cg, bias))) return 0;
    if (xpu_node_input(graph, node, XPU_IN_BRANCH).id || xpu_node_int(graph, node, XPU_ATTR_GROUP) != 1) return 0;
    return xpu_value_at(graph, w)->rank == 2 + SPATIAL && const_dim(cg, w, 2) == 1 && const_dim(cg, w, 3) == 1 &&
           is_everywhere(graph, node, XPU_ATTR_STRIDES, 1) && is_everywhere(graph, node, XPU_ATTR_PADS, 0);
}

/* What reads the node's result alone, in its region; {0}: more than one does. */
static xpu_node only_user(const xpu_codegen *cg, xpu_node node) {
    const xpu_graph *graph = cg->graph;
    if (!xpu_used_once(graph, node)) return (xpu_node){0};
    const xpu_node user = xpu_value_at(graph, xpu_node_output(graph, node, 0))->uses.items[0].node;
    return xpu_node_at(graph, user)->region == xpu_node_at(graph, node)->region ? user : (xpu_node){0};
}

static int is_unary_chain(const xpu_graph *graph, xpu_node node) {
    return xpu_node_is(graph, node, XPU_OP_CHAIN) && xpu_node_at(graph, node)->input_count == 1;
}

/* Passes of the array for a pixel: blocks of inputs by blocks of outputs. */
static int64_t passes(const xpu_codegen *cg, int64_t inputs, int64_t outputs) {
    const int64_t rows = cg->chip.array_rows, columns = cg->chip.array_columns;
    return (inputs + rows - 1) / rows * ((outputs + columns - 1) / columns);
}

/* Where channel `out` of phase `phase` of the inner ones is among the phases of both. */
static int64_t place_of(const whole_phases *inner, const whole_phases *outer, int64_t channels, int64_t phase,
                        int64_t out) {
    const int64_t of_outer = out / channels, columns = outer->stride[1];
    const int64_t row = phase / inner->stride[1] * outer->stride[0] + of_outer / columns;
    const int64_t column = phase % inner->stride[1] * columns + of_outer % columns;
    return (row * inner->stride[1] * columns + column) * channels + out % channels;
}

/* The weights and the bias of all phases, in the order of the phases of both. */
static xpu_status widen_operands(xpu_codegen *cg, xpu_node conv, const whole_phases *inner, const whole_phases *outer,
                                 xpu_arena *scratch) {
    xpu_graph *graph = cg->graph;
    const xpu_value w = xpu_node_input(graph, conv, XPU_IN_W), bias = xpu_node_input(graph, conv, XPU_IN_BIAS);
    xpu_tensor weights, offsets = {.data = NULL};
    xpu_status status = xpu_const_tensor(graph, w, scratch, &weights, cg->diags);
    if (status == XPU_OK && bias.id) status = xpu_const_tensor(graph, bias, scratch, &offsets, cg->diags);
    if (status != XPU_OK) return status;
    const int64_t outs = weights.dims[0], ins = weights.dims[1], channels = outs / outer->count, n = inner->count;
    float *wide = XPU_NEW_ARRAY(scratch, float, n *outs *n *ins), *wide_bias = XPU_NEW_ARRAY(scratch, float, n *outs);
    for (int64_t phase = 0; phase < n; phase++) {
        for (int64_t out = 0; out < outs; out++) {
            const int64_t place = place_of(inner, outer, channels, phase, out);
            memcpy(wide + (place * n + phase) * ins, (const float *)weights.data + out * ins,
                   (size_t)ins * sizeof *wide);
            if (offsets.data) wide_bias[place] = ((const float *)offsets.data)[out];
        }
    }
    const xpu_tensor all = {.dtype = XPU_F32, .rank = 4, .dims = {n * outs, n * ins, 1, 1}, .data = wide};
    const xpu_tensor all_bias = {.dtype = XPU_F32, .rank = 1, .dims = {n * outs}, .data = wide_bias};
    const char *name = xpu_printf(scratch, "%s/phases", xpu_value_at(graph, w)->name);
    xpu_node_set_input(graph, conv, XPU_IN_W, xpu_graph_const_bytes(graph, name, &all));
    if (!bias.id) return XPU_OK;
    name = xpu_printf(scratch, "%s/phases", xpu_value_at(graph, bias)->name);
    xpu_node_set_input(graph, conv, XPU_IN_BIAS, xpu_graph_const_bytes(graph, name, &all_bias));
    return XPU_OK;
}

/* The outer node puts the phases of both side by side. */
static void join_phases(xpu_graph *graph, const whole_phases *inner, const whole_phases *outer) {
    int64_t strides[SPATIAL], phases[XPU_PHASE_ENTRIES];
    for (size_t i = 0; i < SPATIAL; i++) {
        strides[i] = inner->stride[i] * outer->stride[i];
        phases[2 * i] = 0;
        phases[2 * i + 1] = strides[i];
    }
    xpu_node_set_attr(graph, outer->node, &XPU_ATTR_INTS_OF(STRIDES, strides, SPATIAL));
    xpu_node_set_attr(graph, outer->node, &XPU_ATTR_INTS_OF(PHASES, phases, XPU_PHASE_ENTRIES));
}

/* The node once more, over phases: what it makes has a name of its own, as it is no longer what the model says. */
static xpu_node over_phases(xpu_codegen *cg, xpu_node node, xpu_value x) {
    xpu_graph *graph = cg->graph;
    const xpu_node_info info = *xpu_node_at(graph, node);
    const char *name = xpu_printf(cg->arena, "%s/phases", xpu_value_at(graph, info.outputs[0])->name);
    const char *reason = xpu_reason_of(cg, node);
    xpu_block left = xpu_graph_enter(graph, info.parent);
    xpu_node phases = xpu_graph_add(graph, node, info.op, info.inputs, info.input_count, &name, 1, info.attrs.items,
                                    info.attrs.count, info.origins.items, info.origins.count);
    xpu_graph_enter(graph, left);
    xpu_node_at(graph, phases)->region = info.region;
    xpu_node_set_input(graph, phases, 0, x);
    xpu_set_reason(cg, phases, reason);
    return phases;
}

static xpu_status multiply_together(xpu_codegen *cg, xpu_node conv, const whole_phases *inner,
                                    const whole_phases *outer) {
    xpu_graph *graph = cg->graph;
    xpu_node first = over_phases(cg, conv, xpu_node_input(graph, inner->node, 0)), last = first;
    xpu_arena *scratch = xpu_arena_new(xpu_arena_mem(cg->arena), "phases");
    xpu_status status = widen_operands(cg, first, inner, outer, scratch);
    xpu_arena_free(scratch);
    if (status != XPU_OK) return status;
    xpu_node_lead_origins(graph, first, &inner->node, 1);
    /* as float32, which its weights still are */
    const int64_t precision = xpu_node_int(graph, first, XPU_ATTR_PRECISION);
    xpu_node_set_attr(graph, first, &XPU_ATTR_INT_OF(PRECISION, XPU_PRECISION_FP32));
    status = xpu_op_infer(graph, first, cg->diags);
    xpu_node_set_attr(graph, first, &XPU_ATTR_INT_OF(PRECISION, precision));
    for (xpu_node node = only_user(cg, conv); status == XPU_OK && node.id != outer->node.id;
         node = only_user(cg, node)) {
        last = over_phases(cg, node, xpu_node_output(graph, last, 0));
        status = xpu_op_infer(graph, last, cg->diags);
    }
    if (status != XPU_OK) return status;
    join_phases(graph, inner, outer);
    xpu_node old = xpu_maker(graph, outer->node, 0);
    xpu_node_set_input(graph, outer->node, 0, xpu_node_output(graph, last, 0));
    for (xpu_node before; old.id; old = before) {
        before = old.id == inner->node.id ? (xpu_node){0} : xpu_maker(graph, old, 0);
        xpu_node_remove(graph, old);
    }
    return xpu_op_infer(graph, outer->node, cg->diags);
}

xpu_status xpu_multiply_phases(xpu_codegen *cg) {
    xpu_graph *graph = cg->graph;
    XPU_FOR_ALL_NODES(graph, node) {
        whole_phases inner, outer;
        if (!sees_one_pixel(cg, node) || !has_all(cg, xpu_maker(graph, node, XPU_IN_X), &inner)) continue;
        if (only_user(cg, inner.node).id != node.id) continue;
        xpu_node behind = only_user(cg, node);
        while (behind.id && is_unary_chain(graph, behind)) behind = only_user(cg, behind);
        if (!has_all(cg, behind, &outer)) continue;
        const xpu_value w = xpu_node_input(graph, node, XPU_IN_W);
        const int64_t outs = const_dim(cg, w, 0), ins = const_dim(cg, w, 1), n = inner.count;
        if (n * outer.count > XPU_MAX_PHASES || passes(cg, n * ins, n * outs) > n * passes(cg, ins, outs)) continue;
        xpu_status status = multiply_together(cg, node, &inner, &outer);
        if (status != XPU_OK) return status;
        node = outer.node; /* those before it are gone */
    }
    return XPU_OK;
}
