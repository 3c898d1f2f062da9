/* Sizes of open dims and data of inputs, drawn from the seed: by types, ranges, and what indices point into. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/compare.h"
#include "core/ops/ref.h"
#include "xpuc/validate.h"

static uint64_t next_random(uint64_t *state) {
    uint64_t z = *state += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

/* From 0 to 1, 1 not included. */
static double uniform(uint64_t *state) {
    return (double)(next_random(state) >> 11) * 0x1p-53;
}

static double normal(uint64_t *state) {
    double radius = sqrt(-2 * log(1 - uniform(state)));
    return radius * cos(6.283185307179586 * uniform(state));
}

/* ---- --range ---- */

static xpu_status bad_range(const xpu_validation *v, const char *text, const char *why) {
    return xpu_error(v->diags, XPU_EUSAGE, NULL, "validate-range",
                     xpu_printf(v->arena, "--range %s", xpu_escape(v->arena, text, 100)), "the range cannot be used",
                     why, "write for example --range x=0..255 with the name of an input of A");
}

static int read_number(const char **at, double *value) {
    char *end;
    errno = 0;
    *value = strtod(*at, &end);
    if (end == *at || errno || !isfinite(*value)) return 0;
    *at = end;
    return 1;
}

/* "-1.5..2": the first number ends before "..", not behind its first dot. */
static int read_bounds(const xpu_validation *v, const char *text, xpu_draw_range *range) {
    const char *dots = strstr(text, "..");
    if (!dots) return 0;
    const char *first = xpu_strndup(v->arena, text, (size_t)(dots - text)), *second = dots + 2;
    return read_number(&first, &range->min) && !*first && read_number(&second, &range->max) && !*second &&
           range->min <= range->max;
}

xpu_status xpu_validate_read_ranges(xpu_validation *v) {
    const xpu_graph *graph = v->a.graph;
    v->range_of = XPU_NEW_ARRAY(v->arena, xpu_draw_range, graph->inputs.count + 1);
    for (uint32_t i = 0; v->wanted->ranges && v->wanted->ranges[i]; i++) {
        const char *text = v->wanted->ranges[i], *equals = strrchr(text, '=');
        xpu_draw_range range = {NULL, 0, 0};
        if (!equals || equals == text || !read_bounds(v, equals + 1, &range))
            return bad_range(v, text, "it is no INPUT=MIN..MAX");
        range.input = xpu_strndup(v->arena, text, (size_t)(equals - text));
        uint32_t k = 0;
        while (k < graph->inputs.count && strcmp(xpu_value_at(graph, graph->inputs.items[k])->name, range.input) != 0)
            k++;
        if (k == graph->inputs.count) return bad_range(v, text, "A has no such input");
        if (v->given[k]) return bad_range(v, text, "the input is given, and not drawn");
        if (v->range_of[k].input) return bad_range(v, text, "the input has a range already");
        v->range_of[k] = range;
    }
    return XPU_OK;
}

/* ---- sizes ---- */

/* What a dim of one side has to be: B's constants and ranges hold for A's symbols. */
static void narrow(const xpu_validation *v, uint32_t symbol, int64_t *min, int64_t *max, int64_t *step) {
    const xpu_graph *a = v->a.graph, *b = v->b.graph;
    for (uint32_t k = 0; k < b->inputs.count; k++) {
        const xpu_value_info *info_b = xpu_value_at(b, b->inputs.items[k]);
        const xpu_value_info *info_a = xpu_value_at(a, a->inputs.items[v->b.input_of[k]]);
        for (int d = 0; d < info_a->rank && d < info_b->rank; d++) {
            const xpu_dim_node *node = xpu_dim_at(&a->dims, info_a->dims[d]);
            if (node->kind != XPU_DIM_SYMBOL || node->value != symbol) continue;
            int64_t low = xpu_dim_min(&b->dims, info_b->dims[d]), high = xpu_dim_max(&b->dims, info_b->dims[d]);
            const xpu_dim_node *other = xpu_dim_at(&b->dims, info_b->dims[d]);
            if (other->kind == XPU_DIM_SYMBOL && b->dims.symbols.items[other->value].step > *step)
                *step = b->dims.symbols.items[other->value].step;
            if (low > *min) *min = low;
            if (high < *max) *max = high;
        }
    }
}

/* Batches are small, other sizes multiples of a power of two, so that windows and strides meet something. */
static int64_t draw_size(int64_t min, int64_t max, int64_t step, int64_t batch, int64_t grain, uint64_t *state) {
    int64_t wanted = batch ? batch : grain * (1 + (int64_t)(next_random(state) % 3));
    if (wanted < min) wanted = grain > 1 && !batch ? (min + grain - 1) / grain * grain : min;
    if (wanted > max) wanted = max;
    return min + (wanted - min) / step * step;
}

static int is_batch(const xpu_graph *graph, uint32_t symbol) {
    for (uint32_t i = 0; i < graph->inputs.count; i++) {
        const xpu_value_info *info = xpu_value_at(graph, graph->inputs.items[i]);
        if (info->rank < 2) continue;
        const xpu_dim_node *node = xpu_dim_at(&graph->dims, info->dims[0]);
        if (node->kind == XPU_DIM_SYMBOL && node->value == symbol) return 1;
    }
    return 0;
}

/* Integers that shapes are made of: given by the input's data, or small. */
static int64_t element_of(const xpu_validation *v, const xpu_symbol *symbol, uint64_t *state) {
    const xpu_graph *graph = v->a.graph;
    for (uint32_t i = 0; i < graph->inputs.count; i++) {
        const xpu_tensor *given = v->given[i];
        if (graph->inputs.items[i].id != symbol->value.id || !given) continue;
        if (symbol->element >= xpu_tensor_count(given)) break;
        return given->dtype == XPU_I32 ? ((const int32_t *)given->data)[symbol->element]
                                       : ((const int64_t *)given->data)[symbol->element];
    }
    int64_t low = symbol->min < 1 && symbol->max >= 1 ? 1 : symbol->min;
    int64_t span = symbol->max - low < 3 ? symbol->max - low : 3;
    return low + (int64_t)(next_random(state) % (uint64_t)(span + 1));
}

/* A dim of given data that is one symbol. Returns whether it has one. */
static int given_size(const xpu_validation *v, uint32_t symbol, int64_t *size) {
    const xpu_graph *graph = v->a.graph;
    for (uint32_t i = 0; i < graph->inputs.count; i++) {
        const xpu_value_info *info = xpu_value_at(graph, graph->inputs.items[i]);
        for (int d = 0; v->given[i] && d < info->rank; d++) {
            const xpu_dim_node *node = xpu_dim_at(&graph->dims, info->dims[d]);
            if (node->kind != XPU_DIM_SYMBOL || node->value != symbol) continue;
            *size = v->given[i]->dims[d];
            return 1;
        }
    }
    return 0;
}

static void draw_symbols(const xpu_validation *v, int64_t grain, int64_t batch, uint64_t *state) {
    const xpu_graph *graph = v->a.graph;
    for (uint32_t i = 0; i < graph->dims.symbols.count; i++) {
        const xpu_symbol *symbol = &graph->dims.symbols.items[i];
        int64_t min = symbol->min, max = symbol->max, step = symbol->step;
        if (symbol->value.id) {
            v->a.symbols[i] = element_of(v, symbol, state);
            continue;
        }
        if (given_size(v, i, &v->a.symbols[i])) continue;
        if (v->has_b) narrow(v, i, &min, &max, &step);
        v->a.symbols[i] =
            min > max ? symbol->min : draw_size(min, max, step, is_batch(graph, i) ? batch : 0, grain, state);
    }
}

/* B's symbols from the dims and data of its inputs. Returns NULL, or the input that does not fit. */
static const char *bind(const xpu_validation *v, xpu_side *side) {
    const xpu_graph *graph = side->graph;
    for (uint32_t i = 0; i < graph->dims.symbols.count; i++) side->symbols[i] = graph->dims.symbols.items[i].min;
    for (uint32_t i = 0; i < graph->inputs.count; i++) {
        const xpu_value_info *info = xpu_value_at(graph, graph->inputs.items[i]);
        const xpu_tensor *tensor = &side->inputs[i];
        for (int d = 0; d < info->rank && d < tensor->rank; d++) {
            const xpu_dim_node *node = xpu_dim_at(&graph->dims, info->dims[d]);
            if (node->kind == XPU_DIM_SYMBOL) side->symbols[node->value] = tensor->dims[d];
        }
        for (uint32_t s = 0; s < graph->dims.symbols.count; s++) {
            const xpu_symbol *symbol = &graph->dims.symbols.items[s];
            if (symbol->value.id != graph->inputs.items[i].id || symbol->element >= xpu_tensor_count(tensor)) continue;
            side->symbols[s] = (int64_t)xpu_element(tensor, symbol->element);
        }
    }
    xpu_symbols_bound(graph, side->symbols);
    for (uint32_t i = 0; i < graph->inputs.count; i++) {
        int64_t dims[XPU_MAX_RANK];
        const xpu_value_info *info = xpu_value_at(graph, graph->inputs.items[i]);
        const int fits = info->rank == side->inputs[i].rank &&
                         xpu_value_dims(graph, graph->inputs.items[i], side->symbols, dims) &&
                         memcmp(dims, side->inputs[i].dims, (size_t)info->rank * sizeof *dims) == 0;
        if (!fits) return xpu_validate_name(v, side, graph->inputs.items[i]);
    }
    return NULL;
}

static const char too_large[] = "a run takes more than 2^38 operations or 4 GiB of results, all of which are kept";

static int is_too_large(const xpu_side *side) {
    double work = 0, bytes = 0;
    XPU_FOR_ALL_NODES(side->graph, node) {
        xpu_ref_cost cost = xpu_ref_cost_of_node(side->graph, node, side->symbols);
        work += cost.work;
        bytes += cost.bytes;
    }
    return work > XPU_VALIDATE_MOST_WORK || bytes > XPU_VALIDATE_MOST_BYTES;
}

static xpu_status no_size(const xpu_validation *v, const char *where, const char *why) {
    return xpu_error(v->diags, XPU_EUSAGE, v->a.path, "validate-size", where, "no sizes of the inputs were found", why,
                     "give the dims with --shape, or inputs with --input");
}

/* Sizes that break no guard of A: first what is large enough for strides of 32, then less and less regular ones. */
static xpu_status draw_sizes(xpu_validation *v, uint64_t *state) {
    static const int64_t grains[] = {32, 16, 8, 64, 1, 2, 4, 128};
    enum { GRAINS = sizeof grains / sizeof *grains, TRIES = 4000 };
    const xpu_graph *graph = v->a.graph;
    v->a.symbols = XPU_NEW_ARRAY(v->scratch, int64_t, graph->dims.symbols.count + 1);
    for (int tries = 0; tries < TRIES; tries++) {
        draw_symbols(v, grains[tries / 8 % GRAINS], 1 + (v->sample + 1 + (unsigned)tries) % 2, state);
        xpu_symbols_bound(graph, v->a.symbols);
        if (!xpu_graph_broken_guard(graph, v->a.symbols)) return XPU_OK;
    }
    return no_size(v, NULL,
                   xpu_printf(v->arena, "%d draws each break a guard of A: %s", TRIES,
                              xpu_guard_text(graph, xpu_graph_broken_guard(graph, v->a.symbols), v->arena)));
}

/* ---- indices ---- */

/* How many entries the operand that this use indexes has at least; INT64_MAX: it indexes none. */
static int64_t entries_of(const xpu_graph *graph, const xpu_use *use, const int64_t *symbols) {
    const xpu_node node = use->node;
    int64_t dims[XPU_MAX_RANK], most = INT64_MAX;
    const int by_axis = xpu_node_is(graph, node, XPU_OP_GATHER) || xpu_node_is(graph, node, XPU_OP_GATHER_ELEMENTS) ||
                        xpu_node_is(graph, node, XPU_OP_SCATTER_ELEMENTS);
    const int by_entry = xpu_node_is(graph, node, XPU_OP_GATHER_ND) || xpu_node_is(graph, node, XPU_OP_SCATTER_ND);
    if (use->input != 1 || (!by_axis && !by_entry)) return most;
    const xpu_value data = xpu_node_input(graph, node, 0);
    const int rank = xpu_value_at(graph, data)->rank;
    if (!xpu_value_dims(graph, data, symbols, dims) || !rank) return most;
    if (by_axis) {
        int64_t axis = xpu_node_int(graph, node, XPU_ATTR_AXIS);
        return dims[axis < 0 ? axis + rank : axis];
    }
    for (int i = 0; i < rank; i++) most = dims[i] < most ? dims[i] : most;
    return most;
}

/* The least number of entries that something made of the value points into. */
static int64_t pointed_at(const xpu_graph *graph, xpu_value value, const int64_t *symbols, int depth) {
    const xpu_value_info *info = xpu_value_at(graph, value);
    int64_t most = INT64_MAX;
    for (uint32_t i = 0; i < info->uses.count && depth < 8; i++) {
        int64_t own = entries_of(graph, &info->uses.items[i], symbols);
        const xpu_node_info *user = xpu_node_at(graph, info->uses.items[i].node);
        for (uint32_t k = 0; k < user->output_count && !user->block_count && i < 64; k++) {
            xpu_dtype dtype = xpu_value_at(graph, user->outputs[k])->dtype;
            if (dtype != XPU_I32 && dtype != XPU_I64) continue;
            int64_t behind = pointed_at(graph, user->outputs[k], symbols, depth + 1);
            own = behind < own ? behind : own;
        }
        most = own < most ? own : most;
    }
    return most;
}

/* ---- data ---- */

/* Of int32 on, which float32 does not hold. */
static int is_whole(xpu_dtype dtype) {
    return dtype == XPU_I32 || dtype == XPU_U32 || dtype == XPU_I64 || dtype == XPU_U64;
}

static void set_whole(xpu_tensor *tensor, int64_t i, int64_t value) {
    const size_t bytes = xpu_dtype_bytes(tensor->dtype);
    memcpy((char *)tensor->data + (size_t)i * bytes, &value, bytes);
}

static int64_t whole_at(const xpu_tensor *tensor, int64_t i) {
    switch (tensor->dtype) {
    case XPU_I32: return ((const int32_t *)tensor->data)[i];
    case XPU_U32: return ((const uint32_t *)tensor->data)[i];
    default: return ((const int64_t *)tensor->data)[i];
    }
}

static void set_element(xpu_tensor *tensor, int64_t i, double value) {
    unsigned char element[XPU_ELEMENT_BYTES];
    const size_t bytes = xpu_dtype_bytes(tensor->dtype);
    if (is_whole(tensor->dtype)) {
        set_whole(tensor, i, fabs(value) < 0x1p63 ? (int64_t)value : value < 0 ? INT64_MIN : INT64_MAX);
        return;
    }
    if (tensor->dtype == XPU_F64)
        memcpy(element, &value, sizeof value);
    else
        xpu_dtype_element(tensor->dtype, (float)value, element);
    memcpy((char *)tensor->data + (size_t)i * bytes, element, bytes);
}

static int is_real(xpu_dtype dtype) {
    return dtype == XPU_F32 || dtype == XPU_F64 || dtype == XPU_F16 || dtype == XPU_BF16;
}

/* Between what integers are drawn. */
static void integer_range(const xpu_validation *v, xpu_value input, double *min, double *max) {
    const xpu_dtype dtype = xpu_value_at(v->a.graph, input)->dtype;
    int64_t entries = pointed_at(v->a.graph, input, v->a.symbols, 0);
    *min = dtype == XPU_I8 ? -128 : 0;
    *max = dtype == XPU_U8 ? 255 : dtype == XPU_I8 ? 127 : 1;
    if (entries == INT64_MAX) return;
    *min = 0;
    *max = (double)(entries > 1 ? entries - 1 : 0);
}

/* Real numbers: in even samples normal, in odd ones from 0 to 1, as pictures are. */
static void fill(const xpu_validation *v, uint32_t input, xpu_tensor *tensor, uint64_t *state) {
    const xpu_draw_range *range = &v->range_of[input];
    const int64_t count = xpu_tensor_count(tensor);
    double min = range->min, max = range->max;
    if (!range->input && !is_real(tensor->dtype)) integer_range(v, v->a.graph->inputs.items[input], &min, &max);
    for (int64_t i = 0; i < count; i++) {
        double x;
        if (is_real(tensor->dtype))
            x = range->input ? min + uniform(state) * (max - min) : v->sample % 2 ? uniform(state) : normal(state);
        else
            x = floor(ceil(min) + uniform(state) * (floor(max) - ceil(min) + 1));
        set_element(tensor, i, x);
    }
}

/* What symbols stand for is what the inputs hold. */
static void fill_elements(const xpu_validation *v, xpu_value input, xpu_tensor *tensor) {
    const xpu_graph *graph = v->a.graph;
    for (uint32_t s = 0; s < graph->dims.symbols.count; s++) {
        const xpu_symbol *symbol = &graph->dims.symbols.items[s];
        if (symbol->value.id != input.id) continue;
        if (tensor->dtype == XPU_I32) ((int32_t *)tensor->data)[symbol->element] = (int32_t)v->a.symbols[s];
        if (tensor->dtype == XPU_I64) ((int64_t *)tensor->data)[symbol->element] = v->a.symbols[s];
    }
}

/* B's form of A's input: another element type where it has one. */
static xpu_tensor as_b_takes(const xpu_validation *v, const xpu_tensor *from, xpu_dtype dtype) {
    xpu_tensor to = *from;
    if (from->dtype == dtype) return to;
    to.dtype = dtype;
    to.data = xpu_alloc(v->scratch, xpu_tensor_bytes(&to));
    const int whole = is_whole(from->dtype) && is_whole(dtype);
    for (int64_t i = 0, count = xpu_tensor_count(&to); i < count; i++) {
        if (whole)
            set_whole(&to, i, whole_at(from, i));
        else
            set_element(&to, i, xpu_element(from, i));
    }
    return to;
}

static xpu_status make_inputs(xpu_validation *v, uint64_t *state) {
    const xpu_graph *graph = v->a.graph;
    v->a.inputs = XPU_NEW_ARRAY(v->scratch, xpu_tensor, graph->inputs.count + 1);
    for (uint32_t i = 0; i < graph->inputs.count; i++) {
        const xpu_value_info *info = xpu_value_at(graph, graph->inputs.items[i]);
        xpu_tensor *tensor = &v->a.inputs[i];
        *tensor = (xpu_tensor){.dtype = info->dtype, .rank = info->rank};
        if (v->given[i]) {
            *tensor = *v->given[i];
            continue;
        }
        if (!xpu_value_dims(graph, graph->inputs.items[i], v->a.symbols, tensor->dims))
            return no_size(v, xpu_validate_name(v, &v->a, graph->inputs.items[i]), "its dims are not known");
        if ((double)xpu_tensor_count(tensor) * 8 > XPU_VALIDATE_MOST_BYTES)
            return no_size(v, xpu_validate_name(v, &v->a, graph->inputs.items[i]), "it would have more than 4 GiB");
        tensor->data = xpu_alloc(v->scratch, xpu_tensor_bytes(tensor));
        fill(v, i, tensor, state);
        fill_elements(v, graph->inputs.items[i], tensor);
    }
    return XPU_OK;
}

static xpu_status misfit(const xpu_validation *v, const xpu_side *side, const char *input) {
    return xpu_error(v->diags, XPU_EUSAGE, side->path, "validate-size", input, "it cannot have these dims",
                     "the other model's input, or the tensor that is given, has others",
                     "give dims that both models take with --shape");
}

xpu_status xpu_validate_draw(xpu_validation *v) {
    uint64_t state = v->wanted->seed * 0x2545f4914f6cdd1du + v->sample + 1;
    xpu_status status = draw_sizes(v, &state);
    if (status == XPU_OK) status = make_inputs(v, &state);
    if (status != XPU_OK) return status;
    const char *input = bind(v, &v->a);
    if (input) return misfit(v, &v->a, input);
    const xpu_guard *guard = xpu_graph_broken_guard(v->a.graph, v->a.symbols);
    if (guard) return no_size(v, guard->where, xpu_guard_text(v->a.graph, guard, v->arena));
    if (is_too_large(&v->a)) return no_size(v, NULL, too_large);
    if (!v->has_b) return XPU_OK;
    const xpu_graph *b = v->b.graph;
    v->b.symbols = XPU_NEW_ARRAY(v->scratch, int64_t, b->dims.symbols.count + 1);
    v->b.inputs = XPU_NEW_ARRAY(v->scratch, xpu_tensor, b->inputs.count + 1);
    for (uint32_t i = 0; i < b->inputs.count; i++) {
        const xpu_value_info *info = xpu_value_at(b, b->inputs.items[i]);
        v->b.inputs[i] = as_b_takes(v, &v->a.inputs[v->b.input_of[i]], info->dtype);
    }
    input = bind(v, &v->b);
    if (input) return misfit(v, &v->b, input);
    guard = xpu_graph_broken_guard(b, v->b.symbols);
    if (guard) return no_size(v, guard->where, xpu_guard_text(b, guard, v->arena));
    return is_too_large(&v->b) ? no_size(v, NULL, too_large) : XPU_OK;
}
