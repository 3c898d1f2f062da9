/*
 * Maxima over large windows: k taps are m windows of q taps each, d apart, where q + (m - 1) * d = k and d <= q. So the
 * maximum is one over m taps with gaps of d of a maximum over q taps, exactly. The inner one has as much padding as its
 * windows may have that none lies in the padding alone, or less: a window that begins before the image is needed only
 * where the next one begins inside it. It skips what the outer one, which has the stride, does not read.
 */
#include "xpu_codegen/choose/large_maxima.h"

#include "core/ops/op.h"
#include "core/ops/window.h"
#include "xpu_codegen/choose/geometry.h"
#include "xpu_codegen/dims.h"
#include "xpu_runtime/include/generated/xpu_chip_regs.h"

enum { MOST_OUTER = XPU_WINDOW_KERNEL * XPU_WINDOW_KERNEL, MOST_STEP = 255 };

/* What a maximum does along an axis; sizes are -1 where they are open. */
typedef struct {
    int64_t taps, stride, dilation, begin, end;
    int64_t size, least, out; /* of the image, at least, of the result */
    double likely, made;      /* the same in the middle of their ranges */
} axis_window;

/* How it is made along the axis. */
typedef struct {
    int64_t inner, begin, end, jump; /* taps, padding and stride of the inner window */
    int64_t outer, outer_begin, outer_end, outer_stride, outer_dilation;
    double made; /* results of the inner one */
} axis_parts;

typedef struct {
    axis_parts axes[XPU_WINDOW_AXES];
    double cycles;
    int is_possible;
} parts;

/* A maximum of the network, as it is at first. */
typedef struct {
    xpu_node node;
    xpu_value x;
    xpu_window window;
} maximum;
typedef XPU_ARRAY(maximum) maxima;

static int64_t larger(int64_t a, int64_t b) {
    return a > b ? a : b;
}

static int64_t smaller(int64_t a, int64_t b) {
    return a < b ? a : b;
}

static int64_t common_divisor(int64_t a, int64_t b) {
    return b ? common_divisor(b, a % b) : a;
}

static axis_window axis_of(xpu_codegen *cg, xpu_node node, const xpu_window *w, int axis) {
    const xpu_dims *dims = &cg->graph->dims;
    axis_window a = {w->kernel[axis], w->stride[axis], w->dilation[axis], w->begin[axis], w->end[axis], 1, 1, 1, 1, 1};
    if (axis < w->first) return a;
    const xpu_dim in = xpu_value_dim(cg, xpu_node_input(cg->graph, node, XPU_IN_X), 2 + axis - w->first);
    const xpu_dim out = xpu_value_dim(cg, xpu_node_output(cg->graph, node, XPU_OUT_Y), 2 + axis - w->first);
    if (!xpu_dim_is_const(dims, in, &a.size)) a.size = -1;
    if (!xpu_dim_is_const(dims, out, &a.out)) a.out = -1;
    a.least = xpu_dim_min(dims, in);
    a.likely = xpu_dim_likely(cg, in);
    a.made = xpu_dim_likely(cg, out);
    if (a.size >= 0 && a.out >= 0) /* what ceil_mode adds is padding */
        a.end = larger(a.end, (a.out - 1) * a.stride + xpu_window_extent(w, axis) - a.begin - a.size);
    return a;
}

/* ---- one axis ---- */

/* Whether so much padding is enough at the side where the maximum has `all`; `room`: the smallest image with the
 * smaller padding. Windows begin `apart` one behind the other, and together cover `taps`; all in elements. */
static int is_enough(int64_t padding, int64_t all, int64_t inner, int64_t apart, int64_t taps, int64_t dilation,
                     int64_t room) {
    if (padding > all) return 0;
    if (padding == smaller(all, (inner - 1) * dilation)) return 1;
    return padding >= smaller(all, (apart - 1) * dilation) && padding >= all - (taps - inner) * dilation &&
           room >= inner * dilation;
}

/* m windows of q taps, `apart` taps from each other, with this padding of the inner ones; 0: they do not do. */
static int set_parts(const axis_window *a, int64_t q, int64_t m, int64_t apart, axis_parts *p) {
    const int64_t room = a->least + smaller(p->begin, p->end), span = (q - 1) * a->dilation;
    if (!is_enough(p->begin, a->begin, q, apart, a->taps, a->dilation, room)) return 0;
    if (!is_enough(p->end, a->end, q, apart, a->taps, a->dilation, room)) return 0;
    if (a->least + p->begin + p->end <= span || (a->begin - p->begin) % p->jump) return 0;
    p->inner = q;
    p->outer = m;
    p->outer_begin = (a->begin - p->begin) / p->jump;
    p->outer_end = a->end - p->end;
    p->outer_stride = (a->stride + p->jump - 1) / p->jump;
    p->outer_dilation = m > 1 ? apart * a->dilation / p->jump : 1;
    p->made = (a->likely + (double)(p->begin + p->end - span - 1)) / (double)p->jump + 1;
    if (p->outer_stride > MOST_STEP || p->outer_dilation > MOST_STEP) return 0;
    if (a->size < 0 || a->out < 0) return p->jump == 1;
    const int64_t made = (a->size + p->begin + p->end - span - 1) / p->jump + 1;
    const int64_t reach = (m - 1) * p->outer_dilation + 1;
    p->outer_end = larger(0, (a->out - 1) * p->outer_stride + reach - made - p->outer_begin);
    return (made + p->outer_begin + p->outer_end - reach) / p->outer_stride + 1 == a->out && p->outer_end < reach;
}

/* The least padding that is enough, and skips as many windows as may be. */
static int pad_parts(const axis_window *a, int64_t q, int64_t m, int64_t apart, axis_parts *p) {
    const int64_t stride = a->out == 1 ? 0 : a->stride, jump = common_divisor(stride, apart * a->dilation);
    const int is_open = a->size < 0 || a->out < 0;
    for (p->jump = is_open ? 1 : jump;; p->jump = 1) {
        if (m > 1 && apart * a->dilation / p->jump > MOST_STEP) {
            if (p->jump == 1) return 0;
            continue;
        }
        for (p->begin = 0; p->begin <= smaller(a->begin, (q - 1) * a->dilation); p->begin++) {
            for (p->end = 0; p->end <= smaller(a->end, (q - 1) * a->dilation); p->end++)
                if (set_parts(a, q, m, apart, p)) return 1;
        }
        if (p->jump == 1) return 0;
    }
}

/* All that there are with at most `most` outer taps. */
static uint32_t list_parts(const axis_window *a, int64_t most, axis_parts *list, uint32_t room) {
    uint32_t count = 0;
    if (a->taps <= XPU_WINDOW_KERNEL) {
        list[0] = (axis_parts){a->taps, a->begin, a->end, a->stride, 1, 0, 0, 1, 1, a->made};
        return 1;
    }
    for (int64_t q = 2; q <= XPU_WINDOW_KERNEL; q++) {
        for (int64_t apart = 1; apart <= q; apart++) {
            const int64_t m = (a->taps - q) / apart + 1;
            if ((a->taps - q) % apart || m > most || count == room) continue;
            count += (uint32_t)pad_parts(a, q, m, apart, &list[count]);
        }
    }
    return count;
}

/* ---- both axes ---- */

/* About the cycles of an output of the window engine: of its taps, and of lines that it reads anew for each. */
static double output_cycles(int64_t rows, int64_t columns, int64_t row_step, int64_t column_step) {
    enum { TAPS = XPU_WINDOW_TAPS, MOVED = 4, WIDEST = 7, HIGHEST = 7 };
    const int64_t taps = rows * columns;
    const int anew = (columns - 1) * column_step > WIDEST || (rows - 1) * row_step > HIGHEST;
    return (double)(anew ? taps : (taps + TAPS - 1) / TAPS) + MOVED;
}

static double outer_cycles(const axis_window *a, const parts *p) {
    const axis_parts *h = &p->axes[0], *w = &p->axes[1];
    return a[0].made * a[1].made * output_cycles(h->outer, w->outer, h->outer_dilation, w->outer_dilation);
}

static double inner_cycles(const axis_window *a, const parts *p) {
    const axis_parts *h = &p->axes[0], *w = &p->axes[1];
    return h->made * w->made * output_cycles(h->inner, w->inner, a[0].dilation, a[1].dilation);
}

/* The best of an inner maximum that is added. */
static parts choose_parts(const axis_window *a, int64_t most) {
    enum { ROOM = 32 };
    axis_parts rows[ROOM], columns[ROOM];
    parts best = {.is_possible = 0};
    const uint32_t row_count = list_parts(&a[0], most, rows, ROOM), count = list_parts(&a[1], most, columns, ROOM);
    for (uint32_t i = 0; i < row_count; i++) {
        for (uint32_t k = 0; k < count; k++) {
            parts p = {.axes = {rows[i], columns[k]}, .is_possible = 1};
            p.cycles = inner_cycles(a, &p) + outer_cycles(a, &p);
            if (!best.is_possible || p.cycles < best.cycles) best = p;
        }
    }
    return best;
}

/* The best along an axis where the inner maximum is that of `other`; without gaps the outer one has none. */
static int share_axis(const axis_window *a, const xpu_window *other, int axis, int has_gaps, axis_parts *p) {
    const int64_t q = other->kernel[axis];
    if (other->stride[axis] != 1 || other->dilation[axis] != a->dilation || q > a->taps) return 0;
    for (int64_t m = 1; m <= XPU_WINDOW_KERNEL; m++) {
        const int64_t apart = m > 1 ? (a->taps - q) / (m - 1) : 1;
        if (q + (m - 1) * apart != a->taps || apart > q) continue;
        if (m > 1 && apart * a->dilation > 1 && !has_gaps) continue;
        *p = (axis_parts){.begin = other->begin[axis], .end = other->end[axis], .jump = 1};
        if (set_parts(a, q, m, apart, p)) return 1;
    }
    return 0;
}

static parts share_parts(const axis_window *a, const xpu_window *other, int has_gaps) {
    parts p = {.is_possible = 1};
    int64_t more = 0;
    for (int axis = 0; axis < XPU_WINDOW_AXES; axis++) {
        p.is_possible = p.is_possible && share_axis(&a[axis], other, axis, has_gaps, &p.axes[axis]);
        more += a[axis].taps - other->kernel[axis];
    }
    p.is_possible = p.is_possible && more > 0;
    if (p.is_possible) p.cycles = outer_cycles(a, &p);
    return p;
}

/* ---- the graph ---- */

static int is_large(const xpu_window *w) {
    return w->kernel[0] > XPU_WINDOW_KERNEL || w->kernel[1] > XPU_WINDOW_KERNEL;
}

/* Two parts, or where none are that small, three and more: the outer one is split once more. */
static parts split_of(const axis_window *a) {
    const parts two = choose_parts(a, XPU_WINDOW_KERNEL);
    return two.is_possible ? two : choose_parts(a, MOST_OUTER);
}

static void read_axes(xpu_codegen *cg, xpu_node node, const xpu_window *w, axis_window *a) {
    for (int axis = 0; axis < XPU_WINDOW_AXES; axis++) a[axis] = axis_of(cg, node, w, axis);
}

/* Open sizes that ceil_mode rounds are not known to be those of other windows. */
static int has_open_rounding(xpu_codegen *cg, xpu_node node, const axis_window *a) {
    if (!xpu_node_int(cg->graph, node, XPU_ATTR_CEIL_MODE)) return 0;
    return a[0].size < 0 || a[0].out < 0 || a[1].size < 0 || a[1].out < 0;
}

static void set_window(xpu_graph *graph, xpu_node node, const xpu_window *w) {
    const uint32_t count = (uint32_t)(XPU_WINDOW_AXES - w->first);
    xpu_node_set_attr(graph, node, &XPU_ATTR_INTS_OF(KERNEL, w->kernel + w->first, count));
    xpu_node_set_attr(graph, node, &XPU_ATTR_INTS_OF(STRIDES, w->stride + w->first, count));
    xpu_node_set_attr(graph, node, &XPU_ATTR_INTS_OF(DILATIONS, w->dilation + w->first, count));
    xpu_node_set_attr(graph, node, &XPU_ATTR_INT_OF(CEIL_MODE, 0));
    xpu_window_set_pads(graph, node, w);
}

static xpu_status become_outer(xpu_codegen *cg, xpu_node node, xpu_value x, const parts *p) {
    xpu_window w = xpu_window_of(cg->graph, node);
    for (int axis = w.first; axis < XPU_WINDOW_AXES; axis++) {
        const axis_parts *of = &p->axes[axis];
        w.kernel[axis] = of->outer;
        w.stride[axis] = of->outer_stride;
        w.dilation[axis] = of->outer_dilation;
        w.begin[axis] = of->outer_begin;
        w.end[axis] = of->outer_end;
    }
    xpu_node_set_input(cg->graph, node, XPU_IN_X, x);
    set_window(cg->graph, node, &w);
    return xpu_infer_as_float(cg, node);
}

static xpu_status add_inner(xpu_codegen *cg, xpu_node node, const parts *p, xpu_value *made) {
    xpu_graph *graph = cg->graph;
    const xpu_node_info info = *xpu_node_at(graph, node);
    const char *name = xpu_printf(cg->arena, "%s/inner", xpu_value_at(graph, info.outputs[XPU_OUT_Y])->name);
    const char *reason = xpu_reason_of(cg, node);
    xpu_window w = xpu_window_of(graph, node);
    for (int axis = w.first; axis < XPU_WINDOW_AXES; axis++) {
        const axis_parts *of = &p->axes[axis];
        w.kernel[axis] = of->inner;
        w.stride[axis] = of->jump;
        w.begin[axis] = of->begin;
        w.end[axis] = of->end;
    }
    const xpu_block left = xpu_graph_enter(graph, info.parent);
    const xpu_node inner = xpu_graph_add(graph, node, info.op, info.inputs, 1, &name, 1, info.attrs.items,
                                         info.attrs.count, info.origins.items, info.origins.count);
    xpu_graph_enter(graph, left);
    xpu_node_at(graph, inner)->region = info.region;
    xpu_set_reason(cg, inner, reason);
    set_window(graph, inner, &w);
    *made = xpu_node_output(graph, inner, XPU_OUT_Y);
    return xpu_infer_as_float(cg, inner);
}

/* `node`, and the maxima that it reads, come before `before`, where they do not. */
static void bring_before(xpu_graph *graph, xpu_node node, xpu_node before) {
    xpu_node at = before;
    while (at.id && at.id != node.id) at = xpu_node_next(graph, at);
    if (!at.id) return;
    const xpu_value_info *x = xpu_value_at(graph, xpu_node_input(graph, node, XPU_IN_X));
    if (x->kind == XPU_VALUE_NODE && xpu_node_is(graph, x->node, XPU_OP_MAX_POOL)) bring_before(graph, x->node, before);
    xpu_node_move_before(graph, node, before);
}

static int may_share(const xpu_graph *graph, const maximum *m, const maximum *other) {
    const xpu_node_info *a = xpu_node_at(graph, m->node), *b = xpu_node_at(graph, other->node);
    return m->x.id == other->x.id && a->parent.id == b->parent.id && a->region == b->region &&
           xpu_node_int(graph, m->node, XPU_ATTR_PRECISION) == xpu_node_int(graph, other->node, XPU_ATTR_PRECISION);
}

static void explain(xpu_codegen *cg, xpu_node node, const xpu_window *w) {
    const char *reason = xpu_reason_of(cg, node);
    xpu_set_reason(cg, node,
                   xpu_printf(cg->arena, "%s%sits window of %lld x %lld is made from another maximum's",
                              reason ? reason : "", reason ? "; " : "", (long long)w->kernel[0],
                              (long long)w->kernel[1]));
}

/* Floats on the cores have rows and columns apart, but for windows with gaps, whose taps they read one by one. */
static int has_fast_gaps(const xpu_codegen *cg, xpu_node node) {
    const xpu_value_info *x = xpu_value_at(cg->graph, xpu_node_input(cg->graph, node, XPU_IN_X));
    const int is_wide = xpu_node_int(cg->graph, node, XPU_ATTR_PRECISION) != XPU_PRECISION_FP32;
    return x->dtype != XPU_F32 || (is_wide && cg->chip.window_channels);
}

static xpu_status split(xpu_codegen *cg, const maximum *m, const maxima *all) {
    const maximum *other = NULL;
    const int has_gaps = has_fast_gaps(cg, m->node);
    axis_window a[XPU_WINDOW_AXES];
    read_axes(cg, m->node, &m->window, a);
    if (has_open_rounding(cg, m->node, a)) return XPU_OK;
    parts best = {.is_possible = 0};
    if (has_gaps) best = split_of(a);
    for (uint32_t i = 0; i < all->count; i++) {
        if (!may_share(cg->graph, m, &all->items[i])) continue;
        const parts p = share_parts(a, &all->items[i].window, has_gaps);
        if (!p.is_possible || (best.is_possible && p.cycles >= best.cycles)) continue;
        best = p;
        other = &all->items[i];
    }
    xpu_value made;
    xpu_status status = XPU_OK;
    if (!best.is_possible) return XPU_OK;
    if (other) {
        made = xpu_node_output(cg->graph, other->node, XPU_OUT_Y);
        bring_before(cg->graph, other->node, m->node);
    } else {
        status = add_inner(cg, m->node, &best, &made);
    }
    if (status == XPU_OK) status = become_outer(cg, m->node, made, &best);
    if (status != XPU_OK) return status;
    explain(cg, m->node, &m->window);
    const maximum rest = {m->node, made, xpu_window_of(cg->graph, m->node)};
    return is_large(&rest.window) ? split(cg, &rest, all) : XPU_OK;
}

static int64_t taps_of(const maximum *m) {
    return m->window.kernel[0] * m->window.kernel[1];
}

/* In the order of their taps. */
static void insert(xpu_arena *arena, maxima *list, maximum m) {
    XPU_PUSH(arena, list, m);
    uint32_t at = list->count - 1;
    for (; at > 0 && taps_of(&list->items[at - 1]) > taps_of(&m); at--) list->items[at] = list->items[at - 1];
    list->items[at] = m;
}

xpu_status xpu_split_maxima(xpu_codegen *cg) {
    xpu_arena *scratch = xpu_arena_new(xpu_arena_mem(cg->arena), "maxima");
    maxima all = {0};
    xpu_status status = XPU_OK;
    XPU_FOR_ALL_NODES(cg->graph, node) {
        const xpu_value x = xpu_node_input(cg->graph, node, XPU_IN_X);
        if (!xpu_node_is(cg->graph, node, XPU_OP_MAX_POOL) || !xpu_on_chip(cg, node) || xpu_is_empty(cg, x)) continue;
        if (xpu_is_empty(cg, xpu_node_output(cg->graph, node, XPU_OUT_Y))) continue;
        insert(scratch, &all, (maximum){node, x, xpu_window_of(cg->graph, node)});
    }
    for (uint32_t i = 0; i < all.count && status == XPU_OK; i++)
        if (is_large(&all.items[i].window)) status = split(cg, &all.items[i], &all);
    xpu_arena_free(scratch);
    return status;
}
