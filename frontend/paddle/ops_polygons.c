/* How far polygons overlap. */
#include "frontend/paddle/nms.h"

static const xpu_value failed = {0};

/* The edges of polygons as [T,K * P,1], or those that are held against them as [T,1,L * P]: where each starts and ends,
 * how steep it is (0: upright), 1 or -1 as it goes to the right or to the left, and how high the polygon's first corner
 * is. */
typedef struct {
    xpu_value x[2], y, low, slope, direction, areas; /* areas [T,K], below 0 for one that turns the other way */
} outline;

/* The corners' places along one axis, [T,K,P]; those of the next corners. */
static xpu_value corners(fe_builder *b, xpu_value polygons, int axis, int64_t count, xpu_value *next) {
    const xpu_value_info info = *fe_info(b, polygons);
    const xpu_dim each[] = {info.dims[0], info.dims[1], xpu_dim_const(&b->graph->dims, count),
                            xpu_dim_const(&b->graph->dims, 2)};
    xpu_value pairs = xpu_paddle_reshaped(b, polygons, each, 4);
    xpu_value x = xpu_paddle_columns(b, pairs, axis, 1);
    x = x.id ? xpu_paddle_reshaped(b, x, each, 3) : failed;
    if (!x.id) return failed;
    xpu_value parts[] = {xpu_paddle_columns(b, x, 1, count - 1), xpu_paddle_columns(b, x, 0, 1)};
    *next = parts[0].id && parts[1].id ? fe_concat(b, parts, 2, 2) : failed;
    return x;
}

static xpu_value spread(fe_builder *b, xpu_value x, int is_other) {
    if (!x.id) return failed;
    const xpu_dim *each = fe_info(b, x)->dims, one = xpu_dim_const(&b->graph->dims, 1),
                  edges = xpu_dim_mul(&b->graph->dims, each[1], each[2]);
    const xpu_dim dims[] = {each[0], is_other ? one : edges, is_other ? edges : one};
    return xpu_paddle_reshaped(b, x, dims, 3);
}

static int read_outline(fe_builder *b, xpu_value polygons, int is_other, outline *o) {
    int64_t sides;
    if (!polygons.id || !xpu_dim_is_const(&b->graph->dims, fe_info(b, polygons)->dims[2], &sides)) return 0;
    xpu_value start[2], next[2], none = fe_number(b, 0), one = fe_number(b, 1);
    for (int i = 0; i < 2; i++) {
        start[i] = corners(b, polygons, i, sides / 2, &next[i]);
        if (!start[i].id || !next[i].id) return 0;
    }
    xpu_value run = fe_binary(b, XPU_OP_SUB, next[0], start[0]), rise = fe_binary(b, XPU_OP_SUB, next[1], start[1]);
    xpu_value is_upright = fe_binary(b, XPU_OP_EQUAL, run, none);
    xpu_value slope = fe_binary(b, XPU_OP_DIV, rise, xpu_paddle_choose(b, is_upright, one, run));
    xpu_value direction = xpu_paddle_choose(b, fe_binary(b, XPU_OP_LESS, run, none), fe_number(b, -1), one);
    /* what lies below each edge, seen from the first corner */
    xpu_value low = xpu_paddle_columns(b, start[1], 0, 1);
    xpu_value height =
        fe_binary(b, XPU_OP_ADD, fe_binary(b, XPU_OP_SUB, start[1], low), fe_binary(b, XPU_OP_SUB, next[1], low));
    o->areas =
        xpu_paddle_times(b, xpu_paddle_reduced(b, XPU_OP_REDUCE_SUM, fe_binary(b, XPU_OP_MUL, run, height), 2, 0), 0.5);
    for (int i = 0; i < 2; i++) o->x[i] = spread(b, i ? next[0] : start[0], is_other);
    o->y = spread(b, start[1], is_other);
    o->low = low.id ? spread(b, fe_expand(b, low, (fe_dims){fe_info(b, start[1])->dims, 3}), is_other) : failed;
    o->slope = spread(b, xpu_paddle_choose(b, is_upright, none, slope), is_other);
    o->direction = spread(b, direction, is_other);
    return o->areas.id && o->slope.id && o->direction.id && o->x[1].id && o->y.id && o->low.id;
}

/* How high an edge is at x above `low`. */
static xpu_value height_at(fe_builder *b, const outline *o, xpu_value x, xpu_value low) {
    xpu_value along = fe_binary(b, XPU_OP_MUL, o->slope, fe_binary(b, XPU_OP_SUB, x, o->x[0]));
    return fe_binary(b, XPU_OP_ADD, fe_binary(b, XPU_OP_SUB, o->y, low), along);
}

/* The integral of the lower one of two edges from x[0] to x[1], where both are: that of their mean less half of their
 * distance's. */
static xpu_value below_both(fe_builder *b, const outline *one, const outline *other, const xpu_value x[2]) {
    xpu_value total = failed, gap[2], square[2];
    for (int i = 0; i < 2; i++) {
        xpu_value y = height_at(b, one, x[i], one->low), y_other = height_at(b, other, x[i], one->low);
        xpu_value sum = fe_binary(b, XPU_OP_ADD, y, y_other), apart = fe_binary(b, XPU_OP_SUB, y, y_other);
        total = i ? fe_binary(b, XPU_OP_ADD, total, sum) : sum;
        square[i] = fe_binary(b, XPU_OP_MUL, apart, apart);
        gap[i] = apart;
    }
    xpu_value none = fe_number(b, 0),
              crosses = fe_binary(b, XPU_OP_LESS, fe_binary(b, XPU_OP_MUL, gap[0], gap[1]), none);
    xpu_value both = fe_binary(b, XPU_OP_ADD, fe_unary(b, XPU_OP_ABS, gap[0]), fe_unary(b, XPU_OP_ABS, gap[1]));
    xpu_value crossed = fe_binary(b, XPU_OP_DIV, fe_binary(b, XPU_OP_ADD, square[0], square[1]),
                                  xpu_paddle_choose(b, crosses, both, fe_number(b, 1)));
    xpu_value mean = fe_binary(b, XPU_OP_SUB, total, xpu_paddle_choose(b, crosses, crossed, both));
    xpu_value width = fe_binary(b, XPU_OP_MAX, fe_binary(b, XPU_OP_SUB, x[1], x[0]), none);
    return fe_binary(b, XPU_OP_MUL, width, xpu_paddle_times(b, mean, 0.25));
}

/* x [T,K * P,L * P] by polygon, [T,K,L], without its sign. */
static xpu_value summed(fe_builder *b, xpu_value x, xpu_value polygons, xpu_value others) {
    if (!x.id) return failed;
    xpu_dims *dims = &b->graph->dims;
    const xpu_value_info info = *fe_info(b, polygons), other = *fe_info(b, others), edges = *fe_info(b, x);
    int64_t sides = 0;
    if (!xpu_dim_is_const(dims, info.dims[2], &sides)) return failed;
    const xpu_dim corners_of_each = xpu_dim_const(dims, sides / 2);
    const xpu_dim rows[] = {info.dims[0], info.dims[1], corners_of_each, edges.dims[2]},
                  columns[] = {info.dims[0], info.dims[1], other.dims[1], corners_of_each};
    x = xpu_paddle_reduced(b, XPU_OP_REDUCE_SUM, xpu_paddle_reshaped(b, x, rows, 4), 2, 0);
    x = x.id ? xpu_paddle_reshaped(b, x, columns, 4) : failed;
    x = x.id ? xpu_paddle_reduced(b, XPU_OP_REDUCE_SUM, x, 3, 0) : failed;
    return x.id ? fe_unary(b, XPU_OP_ABS, x) : failed;
}

/* A polygon is what lies below its edges that go to the right less what lies below those that go to the left; of two of
 * them, what is common to each edge of one and each of the other is so added up. */
xpu_value xpu_paddle_polygon_overlaps(fe_builder *b, xpu_value polygons, xpu_value others) {
    outline one, other;
    xpu_value x[2];
    if (!read_outline(b, polygons, 0, &one) || !read_outline(b, others, 1, &other)) return failed;
    for (int i = 0; i < 2; i++) {
        xpu_op_id inner = i ? XPU_OP_MAX : XPU_OP_MIN, outer = i ? XPU_OP_MIN : XPU_OP_MAX;
        x[i] =
            fe_binary(b, outer, fe_binary(b, inner, one.x[0], one.x[1]), fe_binary(b, inner, other.x[0], other.x[1]));
    }
    xpu_value common = fe_binary(b, XPU_OP_MUL, below_both(b, &one, &other, x),
                                 fe_binary(b, XPU_OP_MUL, one.direction, other.direction));
    common = summed(b, common, polygons, others);
    xpu_value area = xpu_paddle_widened(b, fe_unary(b, XPU_OP_ABS, one.areas), 2),
              other_area = xpu_paddle_widened(b, fe_unary(b, XPU_OP_ABS, other.areas), 1), none = fe_number(b, 0);
    xpu_value either = fe_binary(b, XPU_OP_SUB, fe_binary(b, XPU_OP_ADD, area, other_area), common);
    xpu_value is_flat = fe_binary(b, XPU_OP_EQUAL, fe_binary(b, XPU_OP_MIN, area, other_area), none);
    return xpu_paddle_choose(b, is_flat, none, fe_binary(b, XPU_OP_DIV, common, either));
}
