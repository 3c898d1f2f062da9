/* Transposed convolution, and the interleaving of phases that it becomes: shapes and reference kernels. */
#include "core/ops/transposed.h"

#include <string.h>

#include "core/arith.h"
#include "core/ops/infer.h"
#include "core/ops/ref_util.h"

/* ---- attributes ---- */

static int64_t entry(const xpu_graph *graph, xpu_node node, xpu_attr_id id, int index, int64_t fallback) {
    uint32_t count;
    const int64_t *list = xpu_node_ints(graph, node, id, &count);
    return index >= 0 && (uint32_t)index < count ? list[index] : fallback;
}

static xpu_transposed read_transposed(const xpu_graph *graph, xpu_node node, xpu_dim one) {
    int rank = xpu_operand(graph, node, 0)->rank;
    xpu_transposed t = {.first = XPU_WINDOW_AXES + 2 - rank, .spatial = rank - 2};
    const xpu_attr *shape = xpu_node_attr(graph, node, XPU_ATTR_SHAPE);
    for (int axis = 0; axis < XPU_WINDOW_AXES; axis++) {
        int i = axis - t.first;
        t.stride[axis] = entry(graph, node, XPU_ATTR_STRIDES, i, 1);
        t.dilation[axis] = entry(graph, node, XPU_ATTR_DILATIONS, i, 1);
        t.crop[axis] = entry(graph, node, XPU_ATTR_CROP, i, 0);
        t.out[axis] = i >= 0 && shape && (uint32_t)i < shape->count ? shape->dims[i] : one;
    }
    t.groups = xpu_node_int(graph, node, XPU_ATTR_GROUP);
    return t;
}

xpu_transposed xpu_transposed_of(xpu_graph *graph, xpu_node node) {
    return read_transposed(graph, node, xpu_dim_const(&graph->dims, 1));
}

xpu_phases xpu_phases_of(const xpu_graph *graph, xpu_node node, uint32_t input) {
    const int64_t *list = xpu_node_ints(graph, node, XPU_ATTR_PHASES, NULL) + (size_t)input * XPU_PHASE_ENTRIES;
    return (xpu_phases){{list[0], list[2]}, {list[1], list[3]}};
}

/* ---- shapes ---- */

static int list_fits(const xpu_graph *graph, xpu_node node, xpu_attr_id id, uint32_t wanted, int64_t least) {
    uint32_t count;
    const int64_t *list = xpu_node_ints(graph, node, id, &count);
    int fits = count == wanted;
    for (uint32_t i = 0; fits && i < count; i++) fits = list[i] >= least && list[i] < XPU_MAX_WINDOW_VALUE;
    return fits;
}

static xpu_status check_window(xpu_graph *graph, xpu_node node, int has_dilations, xpu_diags *diags) {
    const xpu_value_info *x = xpu_operand(graph, node, 0);
    if (xpu_check_window_rank(graph, node, diags) != XPU_OK) return XPU_EMODEL;
    uint32_t spatial = (uint32_t)x->rank - 2;
    const xpu_attr *shape = xpu_node_attr(graph, node, XPU_ATTR_SHAPE);
    const char *wrong = NULL;
    if (!list_fits(graph, node, XPU_ATTR_STRIDES, spatial, 1)) wrong = "strides";
    if (!list_fits(graph, node, XPU_ATTR_CROP, spatial, 0)) wrong = "crop";
    if (has_dilations && !list_fits(graph, node, XPU_ATTR_DILATIONS, spatial, 1)) wrong = "dilations";
    if (!shape || shape->count != spatial) wrong = "shape";
    if (!wrong && xpu_node_int(graph, node, XPU_ATTR_GROUP) < 1) wrong = "group";
    if (!wrong) return XPU_OK;
    return xpu_infer_error(graph, node, diags, "shape-window-attribute",
                           xpu_printf(graph->arena, "attribute '%s' is not valid", wrong),
                           "check how the model was exported", "the operand is %s", xpu_operand_text(graph, node, 0));
}

static xpu_status check_phase_count(xpu_graph *graph, xpu_node node, const xpu_transposed *t, xpu_diags *diags) {
    int64_t phases;
    if (!__builtin_mul_overflow(t->stride[0], t->stride[1], &phases) && phases <= XPU_MAX_PHASES) return XPU_OK;
    return xpu_infer_error(graph, node, diags, "shape-phases", "the strides are too large",
                           "use smaller strides, or several operators one behind the other",
                           "%lld x %lld; their product is at most %d", (long long)t->stride[0], (long long)t->stride[1],
                           XPU_MAX_PHASES);
}

static xpu_status set_spatial(xpu_graph *graph, xpu_node node, const xpu_transposed *t, xpu_dim channels,
                              xpu_diags *diags) {
    const xpu_value_info *x = xpu_operand(graph, node, 0);
    int rank = x->rank;
    xpu_dim dims[XPU_MAX_RANK] = {x->dims[0], channels};
    for (int axis = t->first; axis < XPU_WINDOW_AXES; axis++) dims[2 + axis - t->first] = t->out[axis];
    return xpu_set_result(graph, node, 0, x->dtype, rank, dims, diags);
}

xpu_status xpu_infer_conv_transpose(xpu_graph *graph, xpu_node node, xpu_diags *diags) {
    xpu_status status = check_window(graph, node, 1, diags);
    if (status != XPU_OK) return status;
    const xpu_value_info *x = xpu_operand(graph, node, XPU_IN_X), *w = xpu_operand(graph, node, XPU_IN_W);
    xpu_transposed t = xpu_transposed_of(graph, node);
    int64_t size[XPU_MAX_RANK], channels;
    int fits = w->rank == x->rank && xpu_value_dims(graph, xpu_node_input(graph, node, XPU_IN_W), NULL, size);
    for (int i = 0; fits && i < w->rank; i++) fits = size[i] >= 1 && size[i] < XPU_MAX_WINDOW_VALUE;
    if (!fits || size[0] % t.groups != 0 || !xpu_dim_equal(x->dims[1], w->dims[0]) ||
        __builtin_mul_overflow(size[1], t.groups, &channels) || channels >= XPU_MAX_WINDOW_VALUE) {
        return xpu_infer_error(graph, node, diags, "shape-conv-weights", "the weights do not fit the operand",
                               "the weights are [C, O/group, kernel...] with constant dims, C those of the operand",
                               "the operand is %s, the weights are %s, group is %lld", xpu_operand_text(graph, node, 0),
                               xpu_operand_text(graph, node, 1), (long long)t.groups);
    }
    for (int axis = t.first; axis < XPU_WINDOW_AXES; axis++) {
        int64_t extent = (size[2 + axis - t.first] - 1) * t.dilation[axis];
        if (extent < XPU_MAX_WINDOW_VALUE) continue;
        return xpu_infer_error(graph, node, diags, "shape-window-extent", "the window is too large",
                               "check kernel and dilations", "kernel %lld with dilation %lld",
                               (long long)size[2 + axis - t.first], (long long)t.dilation[axis]);
    }
    xpu_dim outputs = xpu_dim_const(&graph->dims, channels);
    const xpu_value_info *bias = xpu_operand(graph, node, XPU_IN_BIAS);
    if (bias && (bias->rank != 1 || !xpu_dim_equal(bias->dims[0], outputs))) {
        return xpu_infer_error(graph, node, diags, "shape-bias", "the bias does not fit the result",
                               "the bias has one element per output channel", "there are %lld channels, the bias is %s",
                               (long long)channels, xpu_operand_text(graph, node, XPU_IN_BIAS));
    }
    status = check_phase_count(graph, node, &t, diags);
    return status == XPU_OK ? set_spatial(graph, node, &t, outputs, diags) : status;
}

/* Whether operand `input` has the elements that its phases need, as far as it is known, and `channels` for each of
 * them. */
static int operand_fits(xpu_graph *graph, xpu_node node, uint32_t input, const xpu_transposed *t, const xpu_phases *p,
                        int64_t *channels) {
    xpu_dims *dims = &graph->dims;
    const xpu_value_info *first = xpu_operand(graph, node, 0), *x = xpu_operand(graph, node, input);
    int64_t own, count = p->count[0] * p->count[1];
    if (x->rank != first->rank || x->dtype != first->dtype || !xpu_dim_is_const(dims, x->dims[1], &own) ||
        own % count != 0 || own / count % t->groups != 0 || (*channels && own / count != *channels) ||
        !xpu_equal_dims(graph, node, x->dims[0], first->dims[0], NULL))
        return 0;
    *channels = own / count;
    for (int axis = t->first; axis < XPU_WINDOW_AXES; axis++) {
        xpu_dim last = xpu_dim_add_const(dims, t->out[axis], t->crop[axis] - 1 - p->first[axis]);
        int64_t needs, has;
        if (xpu_dim_is_const(dims, xpu_dim_floordiv_const(dims, last, t->stride[axis]), &needs) &&
            xpu_dim_is_const(dims, x->dims[2 + axis - t->first], &has) && needs >= has)
            return 0;
    }
    return 1;
}

/* Every pair of phases once. */
static int phases_cover(xpu_graph *graph, xpu_node node, const xpu_transposed *t, int64_t *channels) {
    uint8_t seen[XPU_MAX_PHASES] = {0};
    uint32_t operands = xpu_node_at(graph, node)->input_count, count;
    xpu_node_ints(graph, node, XPU_ATTR_PHASES, &count);
    if (count != operands * XPU_PHASE_ENTRIES) return 0;
    int64_t all = t->stride[0] * t->stride[1], covered = 0;
    for (uint32_t input = 0; input < operands; input++) {
        xpu_phases p = xpu_phases_of(graph, node, input);
        for (int axis = 0; axis < XPU_WINDOW_AXES; axis++) {
            if (p.first[axis] < 0 || p.count[axis] < 1 || p.first[axis] >= t->stride[axis] ||
                p.count[axis] > t->stride[axis] - p.first[axis])
                return 0;
        }
        for (int64_t i = 0; i < p.count[0] * p.count[1]; i++) {
            int64_t phase = (p.first[0] + i / p.count[1]) * t->stride[1] + p.first[1] + i % p.count[1];
            if (seen[phase]) return 0;
            seen[phase] = 1;
            covered++;
        }
        if (!operand_fits(graph, node, input, t, &p, channels)) return 0;
    }
    return covered == all;
}

xpu_status xpu_infer_interleave(xpu_graph *graph, xpu_node node, xpu_diags *diags) {
    xpu_status status = check_window(graph, node, 0, diags);
    if (status != XPU_OK) return status;
    xpu_transposed t = xpu_transposed_of(graph, node);
    status = check_phase_count(graph, node, &t, diags);
    if (status != XPU_OK) return status;
    int64_t channels = 0;
    if (!phases_cover(graph, node, &t, &channels)) {
        return xpu_infer_error(graph, node, diags, "shape-interleave", "the operands do not fit the phases",
                               "each phase is in one operand, which has as many channels for it as the others",
                               "operand 0 is %s, the strides are %lld x %lld", xpu_operand_text(graph, node, 0),
                               (long long)t.stride[0], (long long)t.stride[1]);
    }
    return set_spatial(graph, node, &t, xpu_dim_const(&graph->dims, channels), diags);
}

/* ---- reference kernels ---- */

typedef struct {
    xpu_transposed t;
    int64_t in[XPU_WINDOW_AXES], out[XPU_WINDOW_AXES], kernel[XPU_WINDOW_AXES];
} geometry;

/* `w`: the weights, or NULL. */
static geometry geometry_of(const xpu_ref_args *args, const xpu_tensor *w) {
    const xpu_tensor *x = args->inputs[0], *y = args->outputs[0];
    geometry g = {.t = read_transposed(args->graph, args->node, (xpu_dim){0})};
    for (int axis = 0; axis < XPU_WINDOW_AXES; axis++) {
        int dim = 2 + axis - g.t.first, flat = axis < g.t.first;
        g.in[axis] = flat ? 1 : x->dims[dim];
        g.out[axis] = flat ? 1 : y->dims[dim];
        g.kernel[axis] = flat || !w ? 1 : w->dims[dim];
    }
    return g;
}

/* The element of the operand that tap `k` brings to element `out` of the result; -1: none. */
static int64_t source_of(const geometry *g, int axis, int64_t out, int64_t k) {
    int64_t at = out + g->t.crop[axis] - k * g->t.dilation[axis];
    if (at < 0 || at % g->t.stride[axis] != 0) return -1;
    at /= g->t.stride[axis];
    return at < g->in[axis] ? at : -1;
}

/* fma over the taps from the last to the first, which is the order of the operand's elements; in each over the
 * channels; then the bias. x: the image's group; w: [channels][outputs of a group][taps], at the output. */
static float element_of(const geometry *g, const float *x, const float *w, int64_t channels, int64_t w_step, float bias,
                        const int64_t out[XPU_WINDOW_AXES]) {
    float sum = XA_NO_PRODUCTS;
    for (int64_t kh = g->kernel[0]; kh-- > 0;) {
        int64_t row = source_of(g, 0, out[0], kh);
        if (row < 0) continue;
        for (int64_t kw = g->kernel[1]; kw-- > 0;) {
            int64_t column = source_of(g, 1, out[1], kw);
            if (column < 0) continue;
            const float *from = x + row * g->in[1] + column, *weight = w + kh * g->kernel[1] + kw;
            for (int64_t c = 0; c < channels; c++) sum = xa_fma(from[c * g->in[0] * g->in[1]], weight[c * w_step], sum);
        }
    }
    return xa_end_sum(sum, bias);
}

xpu_status xpu_ref_conv_transpose(const xpu_ref_args *args) {
    const xpu_tensor *x = args->inputs[XPU_IN_X], *w = args->inputs[XPU_IN_W], *y = args->outputs[0];
    const geometry g = geometry_of(args, w);
    int has_bias = xpu_node_input(args->graph, args->node, XPU_IN_BIAS).id != 0;
    const float *bias = has_bias ? args->inputs[XPU_IN_BIAS]->data : NULL;
    int64_t channels = x->dims[1] / g.t.groups, outputs = w->dims[1], taps = g.kernel[0] * g.kernel[1];
    int64_t pixels = g.in[0] * g.in[1], planes = y->dims[0] * y->dims[1];
    float *to = y->data;
    for (int64_t plane = 0; plane < planes; plane++) {
        int64_t n = plane / y->dims[1], o = plane % y->dims[1], group = o / outputs;
        const float *image = (const float *)x->data + (n * x->dims[1] + group * channels) * pixels;
        const float *weights = (const float *)w->data + (group * channels * outputs + o % outputs) * taps;
        for (int64_t i = 0; i < g.out[0] * g.out[1]; i++) {
            const int64_t out[] = {i / g.out[1], i % g.out[1]};
            *to++ = element_of(&g, image, weights, channels, outputs * taps, bias ? bias[o] : 0, out);
        }
    }
    return XPU_OK;
}

xpu_status xpu_ref_interleave(const xpu_ref_args *args) {
    const xpu_tensor *y = args->outputs[0];
    const geometry g = geometry_of(args, NULL);
    size_t element = xpu_dtype_bytes(y->dtype);
    int64_t channels = y->dims[1], per_group = channels / g.t.groups;
    uint32_t operands = xpu_node_at(args->graph, args->node)->input_count;
    for (uint32_t input = 0; input < operands; input++) {
        const xpu_tensor *x = args->inputs[input];
        const xpu_phases p = xpu_phases_of(args->graph, args->node, input);
        int64_t in[XPU_WINDOW_AXES] = {x->rank == 3 ? 1 : x->dims[2], x->dims[x->rank - 1]};
        for (int axis = 0; axis < XPU_WINDOW_AXES; axis++) {
            if (g.out[axis] && (g.out[axis] - 1 + g.t.crop[axis] - p.first[axis]) / g.t.stride[axis] >= in[axis])
                return xpu_ref_refuse(args, "a phase has too few elements under this shape");
        }
        for (int64_t i = 0; i < xpu_tensor_count(y); i++) {
            int64_t column = i % g.out[1] + g.t.crop[1], row = i / g.out[1] % g.out[0] + g.t.crop[0];
            int64_t ph = row % g.t.stride[0] - p.first[0], pw = column % g.t.stride[1] - p.first[1];
            if (ph < 0 || ph >= p.count[0] || pw < 0 || pw >= p.count[1]) continue;
            int64_t plane = i / (g.out[0] * g.out[1]), o = plane % channels;
            int64_t channel = ((o / per_group * p.count[0] + ph) * p.count[1] + pw) * per_group + o % per_group;
            int64_t from = ((plane / channels * x->dims[1] + channel) * in[0] + row / g.t.stride[0]) * in[1] +
                           column / g.t.stride[1];
            memcpy((char *)y->data + (size_t)i * element, (const char *)x->data + (size_t)from * element, element);
        }
    }
    return XPU_OK;
}
