/* Operators that place elements by what others say: reversed sequences, pools undone, elements once. */
#include "frontend/build/build.h"

/* A number of this type, as often as the dims say. */
static xpu_value filled(fe_builder *b, xpu_dtype dtype, int number, const xpu_dim *dims, int rank) {
    xpu_value value = fe_as(b, fe_number(b, (float)number), dtype);
    return value.id ? fe_expand(b, value, (fe_dims){dims, (size_t)rank}) : value;
}

/* ---- reversed sequences ---- */

xpu_value fe_reverse_sequence(fe_builder *b, xpu_value x, xpu_value lengths, int time_axis) {
    if (!x.id || !lengths.id) return (xpu_value){0};
    const xpu_value_info info = *fe_info(b, x), list = *fe_info(b, lengths);
    xpu_dims *dims = &b->graph->dims;
    if (info.rank < 2 || list.rank != 1 || list.dtype != XPU_I64) {
        return fe_refuse(b, FE_OPERAND, "the operands are invalid",
                         fe_format(b, "they are %s%s and %s%s; rank 2 and more, and int64 of rank 1 are defined",
                                   xpu_dtype_name(info.dtype), fe_shape_text(b, x), xpu_dtype_name(list.dtype),
                                   fe_shape_text(b, lengths)),
                         NULL);
    }
    const xpu_dim times = info.dims[time_axis], batch = info.dims[1 - time_axis], one = xpu_dim_const(dims, 1);
    const xpu_dim grid[] = {info.dims[0], info.dims[1]}, entry[] = {grid[0], grid[1], one};
    const int first = time_axis == 0;
    const xpu_dim beside[] = {first ? one : batch, first ? batch : one};
    fe_builder inside = fe_inside(b);
    xpu_value time = fe_counted(&inside, XPU_I64, times, first ? 0 : 1, 2);
    xpu_value length = fe_reshape_to(&inside, lengths, beside, 2, 0);
    xpu_value sequence = fe_counted(&inside, XPU_I64, batch, first ? 1 : 0, 2);
    xpu_value last = fe_binary(&inside, XPU_OP_ADD, length, fe_integer(b, XPU_I64, -1));
    xpu_value operands[] = {fe_binary(&inside, XPU_OP_LESS, time, length), fe_binary(&inside, XPU_OP_SUB, last, time),
                            time};
    xpu_value place = fe_node(&inside, XPU_OP_WHERE, operands, 3, NULL, 0, 0);
    if (place.id) place = fe_expand(&inside, place, (fe_dims){grid, 2});
    if (sequence.id) sequence = fe_expand(&inside, sequence, (fe_dims){grid, 2});
    if (!place.id || !sequence.id) return (xpu_value){0};
    xpu_value parts[] = {fe_reshape_to(&inside, first ? place : sequence, entry, 3, 0),
                         fe_reshape_to(&inside, first ? sequence : place, entry, 3, 0)};
    xpu_value tuples = fe_concat(&inside, parts, 2, 2);
    return fe_finish(b, &inside, tuples.id ? fe_gather_nd(&inside, x, tuples, 0) : tuples);
}

/* ---- pools undone ---- */

xpu_value fe_max_unpool(fe_builder *b, xpu_value x, xpu_value places, fe_dims shape) {
    if (!x.id || !places.id) return (xpu_value){0};
    const xpu_value_info info = *fe_info(b, x);
    const xpu_dim from = fe_dim_product(b, info.dims, 0, info.rank);
    const xpu_dim to = fe_dim_product(b, shape.items, 0, (int)shape.count);
    fe_builder inside = fe_inside(b);
    fe_scattering s = {.x = filled(&inside, info.dtype, 0, &to, 1),
                       .indices = fe_reshape_to(&inside, places, &from, 1, 0),
                       .updates = fe_reshape_to(&inside, x, &from, 1, 0)};
    xpu_value y = fe_scatter_elements(&inside, &s);
    if (y.id) y = fe_reshape_to(&inside, y, shape.items, (int)shape.count, 0);
    return fe_finish(b, &inside, y);
}

/* ---- elements once ---- */

typedef struct {
    xpu_value x, order; /* the elements, and their places in order */
    xpu_dim count, groups;
    xpu_value first; /* of each group the first place */
    xpu_value group; /* of each element in order, from 0 on */
} grouping;

/* Which elements in order differ from the one before; the first one does. */
static xpu_value beginnings(fe_builder *b, const grouping *g) {
    xpu_dims *dims = &b->graph->dims;
    const xpu_dim zero = xpu_dim_const(dims, 0), one = xpu_dim_const(dims, 1);
    const xpu_dim rest = xpu_dim_add_const(dims, g->count, -1);
    xpu_value sorted = fe_gather(b, g->x, g->order, 0);
    if (!sorted.id) return sorted;
    xpu_value same =
        fe_binary(b, XPU_OP_EQUAL, fe_part(b, sorted, 0, one, rest, 1, 0), fe_part(b, sorted, 0, zero, rest, 1, 0));
    xpu_value parts[] = {filled(b, XPU_BOOL, 1, &one, 1), same.id ? fe_unary(b, XPU_OP_NOT, same) : same};
    return parts[0].id && parts[1].id ? fe_concat(b, parts, 2, 0) : (xpu_value){0};
}

static xpu_value order_of(fe_builder *b, xpu_value x, xpu_dim count) {
    const xpu_attr attrs[] = {XPU_ATTR_DIMS_OF(SHAPE, &count, 1), XPU_ATTR_INT_OF(KIND, 0)};
    return fe_node(b, XPU_OP_TOP, &x, 1, attrs, 2, 0);
}

static int find_groups(fe_builder *b, grouping *g) {
    g->order = order_of(b, g->x, g->count);
    if (!g->order.id) return 0;
    xpu_value begins = beginnings(b, g), places = begins.id ? fe_nonzero(b, begins) : begins;
    if (!places.id) return 0;
    g->groups = fe_info(b, places)->dims[1];
    places = fe_reshape_to(b, places, &g->groups, 1, 0);
    g->first = fe_gather(b, g->order, places, 0);
    const fe_cumulation sum = {.op = XPU_OP_ADD};
    g->group = fe_binary(b, XPU_OP_ADD, fe_cumulate(b, fe_as(b, begins, XPU_I32), &sum), fe_integer(b, XPU_I32, -1));
    return g->first.id && g->group.id;
}

/* Zeros of int32 with values placed. */
static xpu_value placed(fe_builder *b, xpu_dim count, xpu_value indices, xpu_value updates, xa_placing kind) {
    fe_scattering s = {.x = filled(b, XPU_I32, 0, &count, 1), .indices = indices, .updates = updates, .kind = kind};
    return fe_scatter_elements(b, &s);
}

int fe_unique(fe_builder *b, xpu_value x, int sorted, xpu_value results[4]) {
    if (!x.id) return 0;
    const xpu_value_info info = *fe_info(b, x);
    grouping g = {.count = fe_dim_product(b, info.dims, 0, info.rank)};
    if (xpu_dim_min(&b->graph->dims, g.count) < 1) {
        fe_refuse(b, FE_SHAPE, "the input may have no elements", fe_format(b, "it has shape %s", fe_shape_text(b, x)),
                  NULL);
        return 0;
    }
    fe_builder inside = fe_inside(b);
    xpu_value flat = fe_reshape_to(&inside, x, &g.count, 1, 0);
    g.x = fe_as(&inside, flat, info.dtype == XPU_BOOL ? XPU_U32 : fe_combined_type(info.dtype));
    if (!g.x.id || !find_groups(&inside, &g)) return 0;
    xpu_value inverse = placed(&inside, g.count, g.order, g.group, XA_PLACE);
    xpu_value counts = placed(&inside, g.groups, g.group, filled(&inside, XPU_I32, 1, &g.count, 1), XA_PLACE_SUM);
    if (!sorted) { /* by the first place of each group */
        xpu_value by = order_of(&inside, g.first, g.groups);
        xpu_value rank = placed(&inside, g.groups, by, fe_counted(&inside, XPU_I32, g.groups, 0, 1), XA_PLACE);
        if (!by.id || !rank.id || !inverse.id || !counts.id) return 0;
        g.first = fe_gather(&inside, g.first, by, 0);
        counts = fe_gather(&inside, counts, by, 0);
        inverse = fe_gather(&inside, rank, inverse, 0);
    }
    if (!g.first.id) return 0;
    xpu_value all[] = {fe_gather(&inside, flat, g.first, 0), g.first, inverse, counts};
    b->made = inside.made;
    for (uint32_t i = 0; i < 4; i++) {
        int named;
        fe_builder own = fe_builder_of(b, i, &named);
        if (!all[i].id) return 0;
        results[i] = i == 0 ? fe_node(&own, XPU_OP_IDENTITY, &all[i], 1, NULL, 0, named)
                            : fe_node(&own, XPU_OP_CONVERT, &all[i], 1, &XPU_ATTR_INT_OF(DTYPE, XPU_I64), 1, named);
        b->made = own.made;
        if (!results[i].id) return 0;
    }
    return 1;
}
