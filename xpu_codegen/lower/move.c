/* Operators that move elements: boxes copied by DMA with strides, and fills. */
#include <math.h>
#include <string.h>

#include "core/ops/transposed.h"
#include "xpu_codegen/choose/costs.h"
#include "xpu_codegen/lower/buffers.h"
#include "xpu_codegen/lower/layers.h"
#include "xpu_codegen/lower/operators.h"
#include "xpu_codegen/read_through.h"
#include "xpu_codegen/shuffle.h"
#include "xpu_runtime/include/xpu_kernel_args.h"

enum { WIDEST_ELEMENT = 4 };

/* A box of elements and where they stand in source and target, outermost dim first; offsets and strides in elements.
 * Elements wider than 4 bytes count as several of 4. */
typedef struct {
    int rank;
    int64_t element;
    xpu_dim size[XPU_MAX_RANK + 1], from[XPU_MAX_RANK + 1], to[XPU_MAX_RANK + 1];
    xpu_dim from_offset, to_offset;
} box;

static int is_const(const xpu_codegen *cg, xpu_dim dim, int64_t wanted) {
    int64_t value;
    return xpu_dim_is_const(&cg->graph->dims, dim, &value) && value == wanted;
}

/* Drops dims of one element and joins neighbours that are one run on both sides. */
static void simplify(xpu_codegen *cg, box *b) {
    xpu_dims *dims = &cg->graph->dims;
    int rank = 0;
    for (int d = 0; d < b->rank; d++) {
        if (is_const(cg, b->size[d], 1)) continue;
        int joins = rank > 0 && xpu_dim_equal(b->from[rank - 1], xpu_dim_mul(dims, b->from[d], b->size[d])) &&
                    xpu_dim_equal(b->to[rank - 1], xpu_dim_mul(dims, b->to[d], b->size[d]));
        int at = joins ? rank - 1 : rank++;
        b->size[at] = joins ? xpu_dim_mul(dims, b->size[at], b->size[d]) : b->size[d];
        b->from[at] = b->from[d];
        b->to[at] = b->to[d];
    }
    b->rank = rank;
}

/* An element of 8 bytes is a dim of two words. */
static void split_wide(xpu_codegen *cg, box *b) {
    if (b->element <= WIDEST_ELEMENT) return;
    xpu_dims *dims = &cg->graph->dims;
    int64_t words = b->element / WIDEST_ELEMENT;
    for (int d = 0; d < b->rank; d++) {
        b->from[d] = xpu_dim_mul_const(dims, b->from[d], words);
        b->to[d] = xpu_dim_mul_const(dims, b->to[d], words);
    }
    b->from_offset = xpu_dim_mul_const(dims, b->from_offset, words);
    b->to_offset = xpu_dim_mul_const(dims, b->to_offset, words);
    b->size[b->rank] = xpu_dim_of(cg, words);
    b->from[b->rank] = b->to[b->rank] = xpu_dim_of(cg, 1);
    b->rank++;
    b->element = WIDEST_ELEMENT;
}

/* The innermost dim whose elements lie side by side, or -1. */
static int find_dense(const xpu_codegen *cg, const box *b, const xpu_dim *strides) {
    int dim = b->rank - 1;
    while (dim >= 0 && !is_const(cg, strides[dim], 1)) dim--;
    return dim;
}

static void move_to_end(box *b, int dim) {
    const xpu_dim size = b->size[dim], from = b->from[dim], to = b->to[dim];
    for (int d = dim; d + 1 < b->rank; d++)
        b->size[d] = b->size[d + 1], b->from[d] = b->from[d + 1], b->to[d] = b->to[d + 1];
    b->size[b->rank - 1] = size, b->from[b->rank - 1] = from, b->to[b->rank - 1] = to;
}

/* Where the dims that are dense in source and target are not the same one, both become the innermost ones: DMA weaves
 * them. */
static void order_for_weaving(const xpu_codegen *cg, box *b) {
    const int from = find_dense(cg, b, b->from), to = find_dense(cg, b, b->to);
    if (from < 0 || to < 0 || from == to) return;
    move_to_end(b, from);
    move_to_end(b, from < to ? to - 1 : to);
}

static const double LINE_BYTES = 64, WOVEN = 16; /* elements that DMA weaves in a cycle */

/* Lines in which runs of so many elements lie that begin `pitch` apart. */
static double lines_of_runs(const xpu_codegen *cg, const box *b, double runs, double elements, xpu_dim pitch) {
    const double bytes = elements * (double)b->element, element = (double)b->element;
    const int is_whole = xpu_dim_upper(cg, pitch) * b->element % (int64_t)LINE_BYTES == 0;
    return runs * (is_whole ? ceil(bytes / LINE_BYTES) : 1 + (bytes - element) / LINE_BYTES);
}

/* Of pixels that become planes, or the other way: the innermost two dims, of which the first is dense in the source. */
static double woven_cycles(const xpu_codegen *cg, const box *b) {
    const int first = b->rank - 2, last = b->rank - 1;
    const double x = (double)xpu_dim_upper(cg, b->size[first]), y = (double)xpu_dim_upper(cg, b->size[last]);
    const double reads = lines_of_runs(cg, b, y * ceil(x / WOVEN), x < WOVEN ? x : WOVEN, b->from[last]);
    const double writes = lines_of_runs(cg, b, x * ceil(y / WOVEN), y < WOVEN ? y : WOVEN, b->to[first]);
    const int are_pixels = (x <= WOVEN && x < y && xpu_dim_equal(b->from[last], b->size[first])) ||
                           (y <= WOVEN && y <= x && xpu_dim_equal(b->to[first], b->size[last]));
    if (are_pixels) return x < y ? writes : reads; /* side by side on the other side */
    return reads > writes ? reads : writes;
}

/* What DMA takes for a box: lines, runs that are shorter, or else elements. */
static double copy_cycles(const xpu_codegen *cg, const box *b) {
    const int last = b->rank - 1, from = find_dense(cg, b, b->from), to = find_dense(cg, b, b->to);
    double elements = 1;
    for (int d = 0; d < b->rank; d++) elements *= (double)xpu_dim_upper(cg, b->size[d]);
    if (b->rank == 0 || elements <= 0) return xpu_cost.copy;
    const double run = (double)xpu_dim_upper(cg, b->size[last]);
    if (from == last && to == last) {
        const xpu_dim pitch = last > 0 ? b->from[last - 1] : b->size[last];
        return xpu_cost.copy + lines_of_runs(cg, b, elements / run, run, pitch);
    }
    if (last == 0 || from != last - 1 || to != last) return xpu_cost.copy + elements;
    return xpu_cost.copy + elements / run / (double)xpu_dim_upper(cg, b->size[from]) * woven_cycles(cg, b);
}

static xpu_status add_copy(xpu_codegen *cg, uint32_t layer, uint32_t from, uint32_t to, box *b) {
    split_wide(cg, b);
    simplify(cg, b);
    order_for_weaving(cg, b);
    cg->layers.items[layer].copy_cycles += copy_cycles(cg, b);
    if (b->rank > XPU_COPY_DIMS) return xpu_codegen_bug(cg, "a copy has too many dims", "%d dims", b->rank);
    struct xpu_copy_nd_call call = {0};
    call.x = xpu_arg_at(from);
    call.y = xpu_arg_at(to);
    call.element_bytes = xpu_arg_number(b->element);
    call.x_offset = xpu_arg_dim(b->from_offset);
    call.y_offset = xpu_arg_dim(b->to_offset);
    for (int d = 0; d < XPU_COPY_DIMS; d++) {
        int i = d - (XPU_COPY_DIMS - b->rank);
        xpu_dim zero = xpu_dim_of(cg, 0), one = xpu_dim_of(cg, 1);
        /* Unused dims have one element; a lone element is its own innermost run. */
        xpu_dim unused = d == XPU_COPY_DIMS - 1 ? one : zero;
        call.d[d] = xpu_arg_dim(i < 0 ? one : b->size[i]);
        call.xs[d] = xpu_arg_dim(i < 0 ? unused : b->from[i]);
        call.ys[d] = xpu_arg_dim(i < 0 ? unused : b->to[i]);
    }
    return xpu_add_copy_nd(cg, layer, &call);
}

/* The box of a whole value `shape` in the order in which it lies in `to`, strides of its dims given by logical dim. */
static box whole_box(xpu_codegen *cg, xpu_value shape, xpu_layout layout, const xpu_dim *from, const xpu_dim *to) {
    const xpu_value_info *info = xpu_value_at(cg->graph, shape);
    int order[XPU_MAX_RANK];
    box b = {.rank = info->rank,
             .element = (int64_t)xpu_dtype_bytes(info->dtype),
             .from_offset = xpu_dim_of(cg, 0),
             .to_offset = xpu_dim_of(cg, 0)};
    xpu_storage_order(layout, info->rank, order);
    for (int d = 0; d < info->rank; d++) {
        b.size[d] = info->dims[order[d]];
        b.from[d] = from[order[d]];
        b.to[d] = to[order[d]];
    }
    return b;
}

xpu_status xpu_add_value_copy(xpu_codegen *cg, uint32_t layer, xpu_value x, uint32_t from, xpu_value y, uint32_t to) {
    xpu_dim x_strides[XPU_MAX_RANK], y_strides[XPU_MAX_RANK];
    xpu_value_strides(cg, x, x_strides);
    xpu_value_strides(cg, y, y_strides);
    box b = whole_box(cg, x, xpu_value_at(cg->graph, x)->layout, x_strides, y_strides);
    return add_copy(cg, layer, from, to, &b);
}

static xpu_layout layout_of(const xpu_codegen *cg, xpu_value value) {
    return xpu_value_at(cg->graph, value)->layout;
}

/* ---- reshape, identity, relayout, transpose ---- */

/* All of x, row-major and without gaps. */
static xpu_status compact(xpu_codegen *cg, uint32_t layer, xpu_value x, uint32_t source, uint32_t target) {
    xpu_dim from[XPU_MAX_RANK], to[XPU_MAX_RANK], stride = xpu_dim_of(cg, 1);
    xpu_value_strides(cg, x, from);
    for (int i = xpu_value_at(cg->graph, x)->rank; i-- > 0;) {
        to[i] = stride;
        stride = xpu_dim_mul(&cg->graph->dims, stride, xpu_value_dim(cg, x, i));
    }
    box b = whole_box(cg, x, XPU_LAYOUT_LINEAR, from, to);
    return add_copy(cg, layer, source, target, &b);
}

/* All of it or, where `slice` is one, a slice of its channels. */
static xpu_status lower_shuffle(xpu_codegen *cg, uint32_t layer, const xpu_shuffle *shuffle, xpu_node slice) {
    const xpu_value y = slice.id ? xpu_node_output(cg->graph, slice, 0) : shuffle->y;
    box b = {.element = (int64_t)xpu_dtype_bytes(xpu_value_at(cg->graph, y)->dtype), .to_offset = xpu_dim_of(cg, 0)};
    b.rank = xpu_shuffle_box(cg, shuffle, slice, b.size, b.from, b.to, &b.from_offset);
    xpu_describe_layer(cg, layer, XPU_KERNEL_copy_nd, xpu_dim_of(cg, 0));
    const uint32_t from = xpu_operand_buffer(cg, layer, shuffle->x, "x");
    return add_copy(cg, layer, from, xpu_activation_buffer(cg, y), &b);
}

xpu_status xpu_lower_copy(xpu_codegen *cg, uint32_t layer, xpu_node node) {
    xpu_shuffle shuffle;
    if (xpu_shuffles_image(cg, node, &shuffle)) return lower_shuffle(cg, layer, &shuffle, (xpu_node){0});
    xpu_value x = xpu_node_input(cg->graph, node, 0), y = xpu_node_output(cg->graph, node, 0);
    xpu_dim x_strides[XPU_MAX_RANK], from[XPU_MAX_RANK], to[XPU_MAX_RANK];
    uint32_t source = xpu_operand_buffer(cg, layer, x, "x"), target = xpu_activation_buffer(cg, y);
    xpu_value_strides(cg, y, to);
    xpu_value_strides(cg, x, x_strides);
    xpu_describe_layer(cg, layer, XPU_KERNEL_copy_nd, xpu_dim_of(cg, 0));
    int rank = xpu_value_at(cg->graph, y)->rank;
    const int64_t *perm = NULL;
    if (xpu_node_is(cg->graph, node, XPU_OP_TRANSPOSE)) perm = xpu_node_ints(cg->graph, node, XPU_ATTR_PERM, NULL);
    for (int i = 0; i < rank; i++) from[i] = x_strides[perm ? perm[i] : i];
    int reshape = xpu_node_is(cg->graph, node, XPU_OP_RESHAPE);
    if (reshape && xpu_has_gaps(cg, x)) return compact(cg, layer, x, source, target);
    box b = whole_box(cg, y, layout_of(cg, y), reshape ? to : from, to); /* both row-major: one run */
    return add_copy(cg, layer, source, target, &b);
}

/* ---- repeat ---- */

static void add_dim(box *b, xpu_dim size, xpu_dim from, xpu_dim to) {
    b->size[b->rank] = size;
    b->from[b->rank] = from;
    b->to[b->rank++] = to;
}

/* The repeated operand of a REPEAT in something with these strides, by logical dim, which lies as its result. */
static box repeat_box(xpu_codegen *cg, xpu_node node, const xpu_dim *to) {
    xpu_dims *dims = &cg->graph->dims;
    const xpu_value x = xpu_node_input(cg->graph, node, 0);
    const xpu_value_info *y = xpu_value_at(cg->graph, xpu_node_output(cg->graph, node, 0));
    const int64_t *repeats = xpu_node_ints(cg->graph, node, XPU_ATTR_REPEATS, NULL);
    xpu_dim from[XPU_MAX_RANK], zero = xpu_dim_of(cg, 0);
    int order[XPU_MAX_RANK];
    xpu_value_strides(cg, x, from);
    xpu_storage_order(y->layout, y->rank, order);
    box b = {.element = (int64_t)xpu_dtype_bytes(y->dtype), .from_offset = zero, .to_offset = zero};
    for (int d = 0; d < y->rank; d++) {
        int i = order[d];
        add_dim(&b, xpu_value_dim(cg, x, i), from[i], xpu_dim_mul_const(dims, to[i], repeats[i]));
        if (repeats[i] > 1) add_dim(&b, xpu_dim_of(cg, repeats[i]), zero, to[i]);
    }
    return b;
}

xpu_status xpu_lower_repeat(xpu_codegen *cg, uint32_t layer, xpu_node node) {
    xpu_value x = xpu_node_input(cg->graph, node, 0), y = xpu_node_output(cg->graph, node, 0);
    xpu_dim to[XPU_MAX_RANK];
    xpu_value_strides(cg, y, to);
    box b = repeat_box(cg, node, to);
    xpu_describe_layer(cg, layer, XPU_KERNEL_copy_nd, xpu_dim_of(cg, 0));
    return add_copy(cg, layer, xpu_operand_buffer(cg, layer, x, "x"), xpu_activation_buffer(cg, y), &b);
}

/* ---- concat ---- */

/* Where the elements of an operand stand: in itself, or in the operand of a slice that makes nothing. */
typedef struct {
    xpu_value source;
    xpu_dim strides[XPU_MAX_RANK], offset;
} reading;

/* The box of a slice in its operand. */
static void read_slice(xpu_codegen *cg, xpu_node node, reading *r) {
    xpu_dims *dims = &cg->graph->dims;
    const xpu_attr *starts = xpu_node_attr(cg->graph, node, XPU_ATTR_STARTS);
    const int64_t *steps = xpu_node_ints(cg->graph, node, XPU_ATTR_BY, NULL);
    r->source = xpu_node_input(cg->graph, node, 0);
    r->offset = xpu_dim_of(cg, 0);
    xpu_value_strides(cg, r->source, r->strides);
    for (int i = 0; i < xpu_value_at(cg->graph, r->source)->rank; i++) {
        r->offset = xpu_dim_add(dims, r->offset, xpu_dim_mul(dims, starts->dims[i], r->strides[i]));
        r->strides[i] = xpu_dim_mul_const(dims, r->strides[i], steps[i]);
    }
}

/* The slice that makes nothing behind `x` and reshapes, or 0. */
static xpu_node slice_behind(xpu_codegen *cg, xpu_value x) {
    for (;;) {
        const xpu_value_info *info = xpu_value_at(cg->graph, x);
        if (info->kind != XPU_VALUE_NODE) return (xpu_node){0};
        if (xpu_node_is(cg->graph, info->node, XPU_OP_SLICE))
            return xpu_is_read_through(cg, info->node) ? info->node : (xpu_node){0};
        if (!xpu_node_is(cg->graph, info->node, XPU_OP_RESHAPE)) return (xpu_node){0};
        x = xpu_node_input(cg->graph, info->node, 0);
    }
}

/* The node that repeats pixels and makes nothing behind `x`, or 0. */
static xpu_node repeat_behind(xpu_codegen *cg, xpu_value x) {
    const xpu_value_info *info = xpu_value_at(cg->graph, x);
    const int is_repeat = info->kind == XPU_VALUE_NODE && xpu_node_is(cg->graph, info->node, XPU_OP_REPEAT);
    return is_repeat && xpu_is_read_through(cg, info->node) ? info->node : (xpu_node){0};
}

/* Reshapes between add and drop dims of 1, whose strides are anything. */
static void find_reading(xpu_codegen *cg, xpu_value x, reading *r) {
    xpu_node slice = slice_behind(cg, x);
    if (!slice.id) {
        *r = (reading){.source = x, .offset = xpu_dim_of(cg, 0)};
        xpu_value_strides(cg, x, r->strides);
        return;
    }
    reading whole;
    read_slice(cg, slice, &whole);
    *r = (reading){.source = whole.source, .offset = whole.offset};
    const xpu_value_info *made = xpu_value_at(cg->graph, xpu_node_output(cg->graph, slice, 0));
    for (int i = 0, k = 0; i < xpu_value_at(cg->graph, x)->rank; i++) {
        r->strides[i] = xpu_dim_of(cg, 0);
        if (is_const(cg, xpu_value_dim(cg, x, i), 1)) continue;
        while (is_const(cg, made->dims[k], 1)) k++;
        r->strides[i] = whole.strides[k++];
    }
}

/* An operand of a concat, from where its elements are to strides `to`. */
static box operand_box(xpu_codegen *cg, xpu_value x, xpu_layout layout, const xpu_dim *to, xpu_value *source) {
    const xpu_node repeat = repeat_behind(cg, x);
    if (repeat.id) {
        *source = xpu_node_input(cg->graph, repeat, 0);
        return repeat_box(cg, repeat, to);
    }
    reading r;
    find_reading(cg, x, &r);
    *source = r.source;
    box b = whole_box(cg, x, layout, r.strides, to);
    b.from_offset = r.offset;
    return b;
}

xpu_status xpu_lower_concat(xpu_codegen *cg, uint32_t layer, xpu_node node) {
    xpu_dims *dims = &cg->graph->dims;
    xpu_value y = xpu_node_output(cg->graph, node, 0);
    int axis = (int)xpu_node_int(cg->graph, node, XPU_ATTR_AXIS);
    xpu_dim to[XPU_MAX_RANK], position = xpu_dim_of(cg, 0);
    uint32_t target = xpu_activation_buffer(cg, y), count = xpu_node_at(cg->graph, node)->input_count;
    xpu_value_strides(cg, y, to);
    xpu_describe_layer(cg, layer, XPU_KERNEL_copy_nd, xpu_dim_of(cg, 0));
    const xpu_extent *extent = xpu_extent_of(cg, y);
    for (uint32_t i = 0; i < count; i++) {
        xpu_value x = xpu_node_input(cg->graph, node, i);
        if (i == 0 && extent && extent->is_appended) {
            position = xpu_value_dim(cg, x, axis);
            continue;
        }
        if (xpu_is_among_channels(cg, x, y)) { /* it is there already */
            position = xpu_dim_add(dims, position, xpu_value_dim(cg, x, axis));
            continue;
        }
        xpu_value source;
        box b = operand_box(cg, x, layout_of(cg, y), to, &source);
        b.to_offset = xpu_dim_mul(dims, position, to[axis]);
        uint32_t from = xpu_operand_buffer(cg, layer, source, xpu_printf(cg->arena, "x%u", i));
        xpu_status status = add_copy(cg, layer, from, target, &b);
        if (status != XPU_OK) return status;
        position = xpu_dim_add(dims, position, xpu_value_dim(cg, x, axis));
    }
    return XPU_OK;
}

/* ---- slice, expand ---- */

xpu_status xpu_lower_slice(xpu_codegen *cg, uint32_t layer, xpu_node node) {
    xpu_shuffle shuffle;
    if (xpu_slices_shuffle(cg, node, &shuffle)) return lower_shuffle(cg, layer, &shuffle, node);
    xpu_value y = xpu_node_output(cg->graph, node, 0);
    xpu_dim to[XPU_MAX_RANK];
    reading r;
    read_slice(cg, node, &r);
    xpu_value_strides(cg, y, to);
    box b = whole_box(cg, y, layout_of(cg, y), r.strides, to);
    b.from_offset = r.offset;
    xpu_describe_layer(cg, layer, XPU_KERNEL_copy_nd, xpu_dim_of(cg, 0));
    return add_copy(cg, layer, xpu_operand_buffer(cg, layer, r.source, "x"), xpu_activation_buffer(cg, y), &b);
}

xpu_status xpu_lower_expand(xpu_codegen *cg, uint32_t layer, xpu_node node) {
    xpu_value x = xpu_node_input(cg->graph, node, 0), y = xpu_node_output(cg->graph, node, 0);
    xpu_dim strides[XPU_MAX_RANK], from[XPU_MAX_RANK], to[XPU_MAX_RANK];
    const int new_dims = xpu_value_at(cg->graph, y)->rank - xpu_value_at(cg->graph, x)->rank;
    xpu_value_strides(cg, x, strides);
    xpu_value_strides(cg, y, to);
    for (int i = 0; i < xpu_value_at(cg->graph, y)->rank; i++) {
        int repeated = i < new_dims || is_const(cg, xpu_value_dim(cg, x, i - new_dims), 1);
        from[i] = repeated ? xpu_dim_of(cg, 0) : strides[i - new_dims];
    }
    box b = whole_box(cg, y, layout_of(cg, y), from, to);
    xpu_describe_layer(cg, layer, XPU_KERNEL_copy_nd, xpu_dim_of(cg, 0));
    return add_copy(cg, layer, xpu_operand_buffer(cg, layer, x, "x"), xpu_activation_buffer(cg, y), &b);
}

/* ---- interleave ---- */

typedef struct {
    xpu_codegen *cg;
    uint32_t layer, target;
    xpu_value x, y;
    xpu_transposed t;
    xpu_dim from[XPU_MAX_RANK], to[XPU_MAX_RANK]; /* strides by logical dim */
    int64_t channels;                             /* of a phase in a group */
} interleaving;

/* Neighbouring phases of one axis whose elements stand alike: `begin` first ones are left out of each. */
typedef struct {
    int64_t first, count, begin;
    xpu_dim size;
} phase_run;

/* The run of the operand's phases that begins with the phase `at`. */
static phase_run run_at(const interleaving *i, const xpu_phases *p, int axis, int64_t at) {
    xpu_dims *dims = &i->cg->graph->dims;
    int64_t stride = i->t.stride[axis], crop = i->t.crop[axis];
    phase_run run = {.first = at};
    for (int64_t phase = at; phase < p->first[axis] + p->count[axis]; phase++) {
        int64_t begin = xpu_phase_begin(crop, phase, stride);
        xpu_dim last = xpu_dim_add_const(dims, i->t.out[axis], crop - 1 - phase);
        xpu_dim size = xpu_dim_add_const(dims, xpu_dim_floordiv_const(dims, last, stride), 1 - begin);
        if (phase > at && (begin != run.begin || !xpu_dim_equal(size, run.size) || i->t.groups > 1)) break;
        run.begin = begin;
        run.size = size;
        run.count++;
    }
    return run;
}

/* The dims of one axis: elements of a phase, then phases. */
static void add_axis(const interleaving *i, box *b, int axis, const phase_run *run, xpu_dim phase_step) {
    xpu_dims *dims = &i->cg->graph->dims;
    int dim = 2 + axis - i->t.first;
    if (axis < i->t.first) return;
    int64_t place = run->begin * i->t.stride[axis] + run->first - i->t.crop[axis];
    b->from_offset = xpu_dim_add(dims, b->from_offset, xpu_dim_mul_const(dims, i->from[dim], run->begin));
    b->to_offset = xpu_dim_add(dims, b->to_offset, xpu_dim_mul_const(dims, i->to[dim], place));
    add_dim(b, run->size, i->from[dim], xpu_dim_mul_const(dims, i->to[dim], i->t.stride[axis]));
    add_dim(b, xpu_dim_of(i->cg, run->count), phase_step, i->to[dim]);
}

static xpu_status copy_phases(const interleaving *i, uint32_t source, const xpu_phases *p,
                              const phase_run runs[XPU_WINDOW_AXES]) {
    xpu_dims *dims = &i->cg->graph->dims;
    xpu_dim zero = xpu_dim_of(i->cg, 0), column = xpu_dim_mul_const(dims, i->from[1], i->channels);
    xpu_dim row = xpu_dim_mul_const(dims, column, p->count[1]);
    box b = {.element = (int64_t)xpu_dtype_bytes(xpu_value_at(i->cg->graph, i->y)->dtype), .to_offset = zero};
    int64_t first = (runs[0].first - p->first[0]) * p->count[1] + runs[1].first - p->first[1];
    b.from_offset = xpu_dim_mul_const(dims, column, first);
    int last = layout_of(i->cg, i->y) == XPU_LAYOUT_CHANNEL_LAST;
    xpu_dim group = xpu_dim_mul_const(dims, row, p->count[0]);
    add_dim(&b, xpu_value_dim(i->cg, i->x, 0), i->from[0], i->to[0]);
    for (int part = 0; part < 2; part++) {
        if (part == last) {
            add_dim(&b, xpu_dim_of(i->cg, i->t.groups), group, xpu_dim_mul_const(dims, i->to[1], i->channels));
            add_dim(&b, xpu_dim_of(i->cg, i->channels), i->from[1], i->to[1]);
            continue;
        }
        add_axis(i, &b, 0, &runs[0], row);
        add_axis(i, &b, 1, &runs[1], column);
    }
    return add_copy(i->cg, i->layer, source, i->target, &b);
}

static xpu_status copy_operand(interleaving *i, uint32_t source, const xpu_phases *p) {
    phase_run runs[XPU_WINDOW_AXES];
    for (int64_t row = p->first[0]; row < p->first[0] + p->count[0]; row += runs[0].count) {
        runs[0] = run_at(i, p, 0, row);
        for (int64_t column = p->first[1]; column < p->first[1] + p->count[1]; column += runs[1].count) {
            runs[1] = run_at(i, p, 1, column);
            xpu_status status = copy_phases(i, source, p, runs);
            if (status != XPU_OK) return status;
        }
    }
    return XPU_OK;
}

xpu_status xpu_lower_interleave(xpu_codegen *cg, uint32_t layer, xpu_node node) {
    xpu_value y = xpu_node_output(cg->graph, node, 0);
    interleaving i = {.cg = cg, .layer = layer, .target = xpu_activation_buffer(cg, y), .y = y};
    i.t = xpu_transposed_of(cg->graph, node);
    xpu_dim_is_const(&cg->graph->dims, xpu_value_dim(cg, y, 1), &i.channels);
    i.channels /= i.t.groups;
    xpu_value_strides(cg, y, i.to);
    xpu_describe_layer(cg, layer, XPU_KERNEL_copy_nd, xpu_dim_of(cg, 0));
    for (uint32_t input = 0; input < xpu_node_at(cg->graph, node)->input_count; input++) {
        i.x = xpu_node_input(cg->graph, node, input);
        xpu_value_strides(cg, i.x, i.from);
        xpu_phases p = xpu_phases_of(cg->graph, node, input);
        xpu_status status =
            copy_operand(&i, xpu_operand_buffer(cg, layer, i.x, xpu_printf(cg->arena, "x%u", input)), &p);
        if (status != XPU_OK) return status;
    }
    return XPU_OK;
}

/* ---- gather ---- */

/* The call over x as [outer][count][inner], by the dims that are indexed: `columns` from `first` on. */
static xpu_status add_gather(xpu_codegen *cg, uint32_t layer, xpu_node node, int first, int columns, xpu_dim n,
                             int shared, int by_element) {
    xpu_value x = xpu_node_input(cg->graph, node, 0), index = xpu_node_input(cg->graph, node, 1);
    const xpu_value_info *info = xpu_value_at(cg->graph, x);
    struct xpu_gather_call call = {.x = xpu_arg_at(xpu_operand_buffer(cg, layer, x, "x"))};
    call.index = xpu_arg_at(xpu_operand_buffer(cg, layer, index, "index"));
    call.y = xpu_arg_at(xpu_activation_buffer(cg, xpu_node_output(cg->graph, node, 0)));
    call.outer = xpu_arg_dim(xpu_dims_product(cg, x, 0, first));
    call.count = xpu_arg_dim(xpu_dims_product(cg, x, first, first + columns));
    call.inner = xpu_arg_dim(xpu_dims_product(cg, x, first + columns, info->rank));
    call.n = xpu_arg_dim(n);
    call.shared = xpu_arg_number(shared);
    call.by_element = xpu_arg_number(by_element);
    call.element_bytes = xpu_arg_number((int64_t)xpu_dtype_bytes(xpu_value_at(cg->graph, x)->dtype));
    call.index_bytes = xpu_arg_number((int64_t)xpu_dtype_bytes(xpu_value_at(cg->graph, index)->dtype));
    call.columns = xpu_arg_number(columns);
    for (int i = 0; i < XPU_MAX_RANK; i++) {
        call.dims[i] = xpu_arg_dim(i < columns ? xpu_value_dim(cg, x, first + i) : xpu_dim_of(cg, 1));
    }
    xpu_describe_layer(cg, layer, XPU_KERNEL_gather, xpu_dim_of(cg, 0));
    return xpu_add_gather(cg, layer, &call);
}

xpu_status xpu_lower_gather(xpu_codegen *cg, uint32_t layer, xpu_node node) {
    xpu_value index = xpu_node_input(cg->graph, node, 1);
    int rank = xpu_value_at(cg->graph, index)->rank;
    if (xpu_node_is(cg->graph, node, XPU_OP_GATHER_ND)) {
        int batch = (int)xpu_node_int(cg->graph, node, XPU_ATTR_BATCH_DIMS);
        int64_t depth = 1;
        xpu_dim_is_const(&cg->graph->dims, xpu_value_dim(cg, index, rank - 1), &depth);
        return add_gather(cg, layer, node, batch, (int)depth, xpu_dims_product(cg, index, batch, rank - 1), 0, 0);
    }
    int axis = (int)xpu_node_int(cg->graph, node, XPU_ATTR_AXIS);
    if (xpu_node_is(cg->graph, node, XPU_OP_GATHER)) {
        return add_gather(cg, layer, node, axis, 1, xpu_dims_product(cg, index, 0, rank), 1, 0);
    }
    return add_gather(cg, layer, node, axis, 1, xpu_value_dim(cg, index, axis), 0, 1);
}

/* ---- range ---- */

xpu_status xpu_lower_range(xpu_codegen *cg, uint32_t layer, xpu_node node) {
    xpu_value y = xpu_node_output(cg->graph, node, 0);
    const xpu_dtype dtype = xpu_value_at(cg->graph, y)->dtype;
    struct xpu_range_call call = {0};
    call.start = xpu_arg_at(xpu_operand_buffer(cg, layer, xpu_node_input(cg->graph, node, 0), "start"));
    call.step = xpu_arg_at(xpu_operand_buffer(cg, layer, xpu_node_input(cg->graph, node, 1), "step"));
    call.y = xpu_arg_at(xpu_activation_buffer(cg, y));
    call.count = xpu_arg_dim(xpu_value_dim(cg, y, 0));
    call.element_bytes = xpu_arg_number((int64_t)xpu_dtype_bytes(dtype));
    call.is_float = xpu_arg_number(dtype == XPU_F32);
    xpu_describe_layer(cg, layer, XPU_KERNEL_range, xpu_dim_of(cg, 0));
    return xpu_add_range(cg, layer, &call);
}

/* ---- pad ---- */

typedef struct {
    xpu_codegen *cg;
    uint32_t layer, source, target;
    xpu_value y;
    int rank, order[XPU_MAX_RANK];
    xpu_pad_mode mode;
    const int64_t *pads;
    xpu_dim x_strides[XPU_MAX_RANK], y_strides[XPU_MAX_RANK];
    xpu_dim center[XPU_MAX_RANK]; /* elements of the operand that stay, by logical dim */
} pad;

static int64_t at_least_zero(int64_t value) {
    return value > 0 ? value : 0;
}

static void start_pad(pad *p, xpu_node node) {
    xpu_dims *dims = &p->cg->graph->dims;
    xpu_value x = xpu_node_input(p->cg->graph, node, 0);
    p->y = xpu_node_output(p->cg->graph, node, 0);
    p->rank = xpu_value_at(p->cg->graph, p->y)->rank;
    p->mode = xpu_node_pad_mode(p->cg->graph, node);
    p->pads = xpu_node_ints(p->cg->graph, node, XPU_ATTR_PADS, NULL);
    p->source = xpu_operand_buffer(p->cg, p->layer, x, "x");
    p->target = xpu_activation_buffer(p->cg, p->y);
    xpu_storage_order(layout_of(p->cg, p->y), p->rank, p->order);
    xpu_value_strides(p->cg, x, p->x_strides);
    xpu_value_strides(p->cg, p->y, p->y_strides);
    for (int d = 0; d < p->rank; d++) {
        int64_t cropped = at_least_zero(-p->pads[d]) + at_least_zero(-p->pads[p->rank + d]);
        xpu_dim rest = xpu_dim_add_const(dims, xpu_value_dim(p->cg, x, d), -cropped);
        p->center[d] = xpu_dim_op(dims, XPU_DIM_MAX, rest, xpu_dim_of(p->cg, 0));
    }
}

static xpu_status fill_all(pad *p, float value) {
    const xpu_value_info *info = xpu_value_at(p->cg->graph, p->y);
    xpu_dims *dims = &p->cg->graph->dims;
    int64_t element = (int64_t)xpu_dtype_bytes(info->dtype);
    xpu_dim bytes = xpu_dim_mul_const(dims, xpu_dims_product(p->cg, p->y, 0, p->rank), element);
    xpu_dim words = xpu_dim_floordiv_const(dims, xpu_dim_add_const(dims, bytes, 3), 4); /* buffers are whole words */
    struct xpu_fill_call call = {0};
    call.y = xpu_arg_at(p->target);
    call.count = xpu_arg_dim(words);
    float word;
    if (!xpu_pad_word(info->dtype, value, &word)) return xpu_codegen_bug(p->cg, "a padding's value", "no word has it");
    call.value = xpu_arg_real(word);
    p->cg->layers.items[p->layer].copy_cycles += (double)xpu_dim_upper(p->cg, bytes) / LINE_BYTES;
    return xpu_add_fill(p->cg, p->layer, &call);
}

static xpu_status copy_center(pad *p) {
    xpu_dims *dims = &p->cg->graph->dims;
    box b = whole_box(p->cg, p->y, layout_of(p->cg, p->y), p->x_strides, p->y_strides);
    for (int d = 0; d < p->rank; d++) {
        int64_t begin = p->pads[p->order[d]];
        b.size[d] = p->center[p->order[d]];
        b.from_offset = xpu_dim_add(dims, b.from_offset, xpu_dim_mul_const(dims, b.from[d], at_least_zero(-begin)));
        b.to_offset = xpu_dim_add(dims, b.to_offset, xpu_dim_mul_const(dims, b.to[d], at_least_zero(begin)));
    }
    return add_copy(p->cg, p->layer, p->source, p->target, &b);
}

/* The slab before (or behind) the center along logical dim `dim`, copied from what already stands in the result: all
 * of it along dims below `dim`, the center along those above. */
static xpu_status copy_slab(pad *p, int dim, int behind) {
    xpu_dims *dims = &p->cg->graph->dims;
    int64_t count = p->pads[behind ? p->rank + dim : dim];
    if (count <= 0) return XPU_OK;
    box b = whole_box(p->cg, p->y, layout_of(p->cg, p->y), p->y_strides, p->y_strides);
    for (int d = 0; d < p->rank; d++) {
        int logical = p->order[d];
        if (logical < dim) continue;
        xpu_dim first = xpu_dim_of(p->cg, at_least_zero(p->pads[logical])), from = first, to = first;
        b.size[d] = p->center[logical];
        if (logical == dim) {
            xpu_dim end = xpu_dim_add(dims, first, p->center[dim]);
            int64_t away = p->mode == XPU_PAD_REFLECT ? 1 : 0; /* reflection starts beside the edge */
            b.size[d] = xpu_dim_of(p->cg, count);
            to = behind ? end : xpu_dim_add_const(dims, first, -1); /* outwards from the edge */
            from = behind ? xpu_dim_add_const(dims, end, -1 - away) : xpu_dim_add_const(dims, first, away);
            b.to[d] = xpu_dim_mul_const(dims, p->y_strides[dim], behind ? 1 : -1);
            b.from[d] = xpu_dim_mul_const(dims, p->y_strides[dim], behind ? -away : away);
        }
        b.from_offset = xpu_dim_add(dims, b.from_offset, xpu_dim_mul(dims, p->y_strides[logical], from));
        b.to_offset = xpu_dim_add(dims, b.to_offset, xpu_dim_mul(dims, p->y_strides[logical], to));
    }
    return add_copy(p->cg, p->layer, p->target, p->target, &b);
}

xpu_status xpu_lower_pad(xpu_codegen *cg, uint32_t layer, xpu_node node) {
    pad p = {.cg = cg, .layer = layer};
    start_pad(&p, node);
    xpu_describe_layer(cg, layer, XPU_KERNEL_copy_nd, xpu_dim_of(cg, 0));
    xpu_status status = XPU_OK;
    if (p.mode == XPU_PAD_CONSTANT) status = fill_all(&p, xpu_node_float(cg->graph, node, XPU_ATTR_VALUE));
    if (status == XPU_OK) status = copy_center(&p);
    for (int dim = 0; dim < p.rank && p.mode != XPU_PAD_CONSTANT; dim++) {
        if (status == XPU_OK) status = copy_slab(&p, dim, 0);
        if (status == XPU_OK) status = copy_slab(&p, dim, 1);
    }
    return status;
}
