/* Where the maxima of windows are, and rows that go two ways by a mask. */
#include <float.h>
#include <string.h>

#include "frontend/paddle/compose.h"

static const xpu_value failed = {0};

/* ---- maxima ---- */

enum { MOST_SPATIAL = 3, MOST_ENTRIES = 1 << 22 };

/* The windows of a pooling. */
typedef struct {
    int spatial, adaptive, ceiling;
    int64_t sizes[MOST_SPATIAL], kernel[MOST_SPATIAL], strides[MOST_SPATIAL], pads[MOST_SPATIAL];
    int64_t windows[MOST_SPATIAL]; /* along each dim */
} pooling;

/* Of the k-th window along a dim: its first element, and behind its last one. */
static void window_of(const pooling *p, int dim, int64_t k, int64_t *first, int64_t *last) {
    const int64_t n = p->sizes[dim], count = p->windows[dim];
    *first = p->adaptive ? k * n / count : k * p->strides[dim] - p->pads[dim];
    *last = p->adaptive ? ((k + 1) * n + count - 1) / count : *first + p->kernel[dim];
    if (*first < 0) *first = 0;
    if (*last > n) *last = n;
}

static int read_pooling(xpu_paddle_node *node, xpu_value x, pooling *p) {
    const xpu_value_info info = *xpu_paddle_info(node, x);
    fe_ints sizes, strides = xpu_paddle_ints(node, "strides"), pads = xpu_paddle_ints(node, "paddings");
    if (!xpu_paddle_numbers(node, "ksize", "ksize", NULL, &sizes)) return 0;
    *p = (pooling){.spatial = info.rank - 2,
                   .adaptive = xpu_paddle_int(node, "adaptive", 0) != 0,
                   .ceiling = xpu_paddle_int(node, "ceil_mode", 0) != 0};
    int whole = xpu_paddle_int(node, "global_pooling", 0) != 0;
    size_t n = (size_t)p->spatial;
    int fits = p->spatial >= 1 && p->spatial <= MOST_SPATIAL && (whole || sizes.count == n) &&
               (!strides.count || strides.count == n) && (!pads.count || pads.count == n);
    for (int i = 0; fits && i < p->spatial; i++) {
        fits = xpu_dim_is_const(&node->build.graph->dims, info.dims[2 + i], &p->sizes[i]) && p->sizes[i] > 0;
        p->kernel[i] = whole ? p->sizes[i] : sizes.items[i];
        p->strides[i] = whole || !strides.count ? 1 : strides.items[i];
        p->pads[i] = whole || !pads.count ? 0 : pads.items[i];
        fits = fits && p->kernel[i] > 0 && p->kernel[i] <= FE_MAX_EXTENT && p->strides[i] > 0 &&
               p->strides[i] <= FE_MAX_EXTENT && p->pads[i] >= 0 && p->pads[i] < p->kernel[i];
        if (!fits) break;
        int64_t room = p->sizes[i] + 2 * p->pads[i] - p->kernel[i] + (p->ceiling ? p->strides[i] - 1 : 0);
        p->windows[i] = p->adaptive ? p->kernel[i] : room / p->strides[i] + 1;
        fits = (p->adaptive || room >= 0) && p->windows[i] <= FE_MAX_EXTENT;
    }
    if (fits) return 1;
    return xpu_paddle_refuse(
               node, "the places of the maxima are not supported",
               xpu_paddle_format(node, "windows of known images are; it is %s", fe_shape_text(&node->build, x)))
               .id != 0;
}

/* For each window the places of its elements in the plane, row by row, the last one as often as it takes. */
static int32_t *places_of(const pooling *p, xpu_arena *arena, int64_t *count, int64_t *most) {
    int64_t first[MOST_SPATIAL], last[MOST_SPATIAL], k[MOST_SPATIAL], at[MOST_SPATIAL];
    *count = *most = 1;
    for (int i = 0; i < p->spatial; i++) {
        int64_t widest = 1;
        for (int64_t j = 0; j < p->windows[i]; j++) {
            window_of(p, i, j, &first[i], &last[i]);
            if (last[i] - first[i] > widest) widest = last[i] - first[i];
        }
        *count *= p->windows[i];
        *most *= widest;
        if (*count > MOST_ENTRIES / *most) return NULL;
    }
    int32_t *table = XPU_NEW_ARRAY(arena, int32_t, *count **most);
    for (int64_t w = 0; w < *count; w++) {
        int64_t rest = w, taps = 1;
        for (int i = p->spatial - 1; i >= 0; i--, rest /= p->windows[i + 1]) {
            k[i] = rest % p->windows[i];
            window_of(p, i, k[i], &first[i], &last[i]);
            taps *= last[i] > first[i] ? last[i] - first[i] : 1;
        }
        for (int64_t t = 0; t < *most; t++) {
            int64_t place = 0, tap = t < taps ? t : taps - 1;
            for (int i = p->spatial - 1; i >= 0; i--) {
                int64_t extent = last[i] > first[i] ? last[i] - first[i] : 1;
                at[i] = first[i] + tap % extent;
                tap /= extent;
            }
            for (int i = 0; i < p->spatial; i++) place = place * p->sizes[i] + at[i];
            table[w * *most + t] = (int32_t)place;
        }
    }
    return table;
}

xpu_value xpu_paddle_countable(xpu_paddle_node *node, xpu_value x) {
    if (!strstr(node->op->type, "_with_index") || !x.id || xpu_paddle_info(node, x)->dtype != XPU_F32) return x;
    fe_builder b = fe_inside(&node->build);
    xpu_value least = fe_number(&b, -FLT_MAX);
    x = xpu_paddle_choose(&b, fe_binary(&b, XPU_OP_GREATER, x, least), x, least);
    node->build.made = b.made;
    return x;
}

xpu_value xpu_paddle_fitted(xpu_paddle_node *node, fe_builder *b, xpu_value x, fe_ints size, fe_ints strides) {
    const xpu_value_info info = *fe_info(b, x);
    int64_t pads[2 * XPU_MAX_RANK] = {0};
    fe_builder inside = fe_inside(b);
    for (int i = 0; i < info.rank - 2; i++) {
        int64_t n, step = strides.count ? strides.items[i] : 1;
        if (!xpu_dim_is_const(&b->graph->dims, info.dims[2 + i], &n) || size.count != (size_t)info.rank - 2 ||
            (strides.count && strides.count != size.count) || size.items[i] < 1 || size.items[i] > FE_MAX_EXTENT ||
            step < 1 || step > FE_MAX_EXTENT)
            return xpu_paddle_refuse(
                node, "the windows are not supported",
                xpu_paddle_format(node, "windows of known images are; it is %s", fe_shape_text(b, x)));
        pads[info.rank + 2 + i] = (size.items[i] - 1) * step + size.items[i] - n;
    }
    const fe_padding padding = {.mode = "constant", .value = -FLT_MAX, .pads = {pads, 2 * (size_t)info.rank}};
    x = fe_pad(&inside, x, &padding);
    b->made = inside.made;
    return x;
}

/* The elements of each window side by side; the first largest one of these says the place, -1 where all are the
 * smallest number. */
int xpu_paddle_give_places(xpu_paddle_node *node, xpu_value x) {
    pooling p;
    int64_t count = 0, most = 0, plane = 1;
    if (!xpu_paddle_is_used(node, 1)) return 1;
    if (!x.id || !read_pooling(node, x, &p)) return 0;
    fe_builder b = fe_inside(&node->build);
    const xpu_value_info info = *fe_info(&b, x);
    xpu_dims *dims = &b.graph->dims;
    int32_t *table = places_of(&p, b.scratch, &count, &most);
    if (!table)
        return xpu_paddle_refuse(node, "the places of the maxima are not supported",
                                 "the windows are too many or large")
                   .id != 0;
    xpu_tensor tensor = {.dtype = XPU_I32, .rank = 2, .dims = {count, most}, .data = table};
    xpu_tensor list = {.dtype = XPU_I32, .rank = 1, .dims = {count * most}, .data = table};
    for (int i = 0; i < p.spatial; i++) plane *= p.sizes[i];
    xpu_dim flat[] = {info.dims[0], info.dims[1], xpu_dim_const(dims, plane)};
    x = xpu_paddle_reshaped(&b, x, flat, 3);
    x = x.id ? fe_gather(&b, x, xpu_graph_const_bytes(b.graph, NULL, &tensor), 2) : failed;
    xpu_value at = x.id ? fe_arg_extreme(&b, 1, x, 3, 0, 0) : failed;
    xpu_value first = fe_counted(&b, XPU_I64, xpu_dim_const(dims, count), 2, 3);
    at = fe_binary(&b, XPU_OP_ADD, at, fe_binary(&b, XPU_OP_MUL, first, fe_integer(&b, XPU_I64, most)));
    at = at.id ? fe_gather(&b, xpu_graph_const_bytes(b.graph, NULL, &list), at, 0) : failed;
    if (info.dtype == XPU_F32) {
        xpu_value largest = xpu_paddle_reduced(&b, XPU_OP_REDUCE_MAX, x, 3, 0);
        xpu_value counts = fe_binary(&b, XPU_OP_GREATER, largest, fe_number(&b, -FLT_MAX));
        at = xpu_paddle_choose(&b, counts, at, fe_integer(&b, XPU_I32, -1));
    }
    xpu_dim made[2 + MOST_SPATIAL] = {info.dims[0], info.dims[1]};
    for (int i = 0; i < p.spatial; i++) made[2 + i] = xpu_dim_const(dims, p.windows[i]);
    return xpu_paddle_give(node, &b, 1, xpu_paddle_reshaped(&b, at, made, info.rank)).id != 0;
}

/* ---- rows that go two ways ---- */

/* A mask [N] or [N,1] as [N] of bool. */
static xpu_value mask_of(xpu_paddle_node *node, fe_builder *b) {
    xpu_value mask = xpu_paddle_operand(node, "Mask");
    if (!mask.id) return failed;
    const xpu_value_info info = *fe_info(b, mask);
    xpu_dim rows = fe_dim_product(b, info.dims, 0, info.rank);
    return fe_as(b, xpu_paddle_reshaped(b, mask, &rows, 1), XPU_BOOL);
}

/* The rows for which the mask holds, and the others. */
xpu_value xpu_paddle_convert_split_rows(xpu_paddle_node *node) {
    static const int64_t axis = 0;
    fe_builder b = fe_inside(&node->build);
    xpu_value x = xpu_paddle_operand(node, "X"), mask = mask_of(node, &b);
    if (!x.id || !mask.id) return failed;
    xpu_value other = fe_compress(&b, x, fe_unary(&b, XPU_OP_NOT, mask), &axis);
    if (node->result_count > 1 && !xpu_paddle_give(node, &b, 1, other).id) return failed;
    return xpu_paddle_give(node, &b, 0, fe_compress(&b, x, mask, &axis));
}

/* The rows of both in the order that the mask says: how many of its own came before, behind all of the first where it
 * is of the second. */
xpu_value xpu_paddle_convert_merge_rows(xpu_paddle_node *node) {
    const fe_cumulation before = {.op = XPU_OP_ADD, .axis = 0, .exclusive = 1};
    fe_builder b = fe_inside(&node->build);
    xpu_value parts[] = {xpu_paddle_operand(node, "InTrue"), xpu_paddle_operand(node, "InFalse")};
    xpu_value mask = mask_of(node, &b), at[2];
    if (!parts[0].id || !parts[1].id || !mask.id) return failed;
    for (int i = 0; i < 2; i++) {
        xpu_value held = fe_as(&b, i ? fe_unary(&b, XPU_OP_NOT, mask) : mask, XPU_I32);
        at[i] = held.id ? fe_as(&b, fe_cumulate(&b, held, &before), XPU_I64) : failed;
    }
    at[1] = fe_binary(&b, XPU_OP_ADD, at[1], fe_dim_values(&b, &fe_info(&b, parts[0])->dims[0], 1, 0));
    xpu_value place = xpu_paddle_choose(&b, mask, at[0], at[1]), all = fe_concat(&b, parts, 2, 0);
    return all.id && place.id ? xpu_paddle_give(node, &b, 0, fe_gather(&b, all, place, 0)) : failed;
}
