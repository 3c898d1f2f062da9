/* Suppression that goes from box to box: each step needs what the one before it decided. */
#include <math.h>

#include "core/ops/control.h"
#include "frontend/paddle/nms.h"

static const xpu_value failed = {0};

/* ---- how far boxes overlap ---- */

/* One side of boxes [T,K,4], as a column or a row. */
static xpu_value side(fe_builder *b, xpu_value boxes, int index, int as_row) {
    static const int64_t turned[] = {0, 2, 1};
    xpu_value x = xpu_paddle_columns(b, boxes, index, 1);
    return as_row && x.id ? fe_transpose(b, x, (fe_ints){turned, 3}) : x;
}

/* xa_sides_area */
static xpu_value area(fe_builder *b, xpu_value boxes, int has_pixels, int as_row) {
    xpu_value size[2], wrong[2];
    for (int i = 0; i < 2; i++) {
        xpu_value end = side(b, boxes, 2 + i, as_row), start = side(b, boxes, i, as_row);
        size[i] = xpu_paddle_plus(b, fe_binary(b, XPU_OP_SUB, end, start), has_pixels);
        wrong[i] = fe_binary(b, XPU_OP_LESS, end, start);
    }
    return xpu_paddle_choose(b, fe_binary(b, XPU_OP_OR, wrong[0], wrong[1]), fe_number(b, 0),
                             fe_binary(b, XPU_OP_MUL, size[0], size[1]));
}

xpu_value xpu_paddle_overlaps(fe_builder *b, xpu_value x, xpu_value y, int has_pixels) {
    xpu_value common[2], apart = failed;
    for (int i = 0; i < 2; i++) {
        xpu_value x_end = side(b, x, 2 + i, 0), y_end = side(b, y, 2 + i, 1);
        xpu_value x_start = side(b, x, i, 0), y_start = side(b, y, i, 1);
        xpu_value end = fe_binary(b, XPU_OP_MIN, x_end, y_end), start = fe_binary(b, XPU_OP_MAX, x_start, y_start);
        common[i] = xpu_paddle_plus(b, fe_binary(b, XPU_OP_SUB, end, start), has_pixels);
        xpu_value gap = fe_binary(b, XPU_OP_OR, fe_binary(b, XPU_OP_LESS, x_end, y_start),
                                  fe_binary(b, XPU_OP_LESS, y_end, x_start));
        apart = i ? fe_binary(b, XPU_OP_OR, apart, gap) : gap;
    }
    xpu_value both = fe_binary(b, XPU_OP_MUL, common[0], common[1]);
    xpu_value either = fe_binary(b, XPU_OP_ADD, area(b, x, has_pixels, 0), area(b, y, has_pixels, 1));
    either = fe_binary(b, XPU_OP_SUB, either, both);
    return xpu_paddle_choose(b, apart, fe_number(b, 0), fe_binary(b, XPU_OP_DIV, both, either));
}

xpu_value xpu_paddle_counted(fe_builder *b, xpu_value x, float none) {
    return xpu_paddle_choose(b, fe_binary(b, XPU_OP_EQUAL, x, x), x, fe_number(b, none));
}

/* ---- loops of the converters ---- */

/* The builder of a body. */
static fe_builder begin(fe_builder *b, xpu_diags *diags) {
    fe_builder inside = fe_inside(b);
    inside.diags = diags;
    return inside;
}

/* What goes on unconditionally; the body's results are there. */
static int goes_on(fe_builder *b, fe_builder *inside, xpu_value *results, uint32_t count) {
    int ok = 1;
    results[XPU_BODY_GOES_ON] = fe_integer(inside, XPU_BOOL, 1);
    for (uint32_t i = 0; i <= count; i++) ok &= results[i].id != 0;
    b->made = inside->made;
    return ok;
}

/* ---- a threshold that adapts ---- */

typedef struct {
    fe_builder *b;
    xpu_value overlaps, scores; /* [T,K,K], [T,K] */
    float least, eta;
} adapting;

/* Carries how far kept boxes overlap each one at most, [T,K], and the threshold, [T]; stacks whether box k is kept. */
static int adapt(void *context, uint32_t body, const xpu_value *arguments, xpu_value *results, xpu_diags *diags) {
    const adapting *a = context;
    fe_builder inside = begin(a->b, diags), *b = &inside;
    xpu_value k = arguments[XPU_BODY_ITERATION], most = arguments[XPU_BODY_FIRST],
              threshold = arguments[XPU_BODY_FIRST + 1];
    (void)body;
    xpu_value fits = fe_binary(b, XPU_OP_LESS_OR_EQUAL, fe_gather(b, most, k, 1), threshold);
    xpu_value kept = fe_binary(b, XPU_OP_GREATER, fe_gather(b, a->scores, k, 1), fe_number(b, a->least));
    kept = fe_binary(b, XPU_OP_AND, fits, kept);
    xpu_value more = fe_binary(b, XPU_OP_MAX, most, fe_gather(b, a->overlaps, k, 2));
    xpu_value shrinks = fe_binary(b, XPU_OP_GREATER, threshold, fe_number(b, 0.5f));
    shrinks = fe_binary(b, XPU_OP_AND, kept, shrinks);
    results[XPU_BODY_NEXT] = xpu_paddle_choose(b, xpu_paddle_widened(b, kept, 1), more, most);
    results[XPU_BODY_NEXT + 1] =
        xpu_paddle_choose(b, shrinks, fe_binary(b, XPU_OP_MUL, threshold, fe_number(b, a->eta)), threshold);
    results[XPU_BODY_NEXT + 2] = kept;
    return goes_on(a->b, b, results, 3);
}

int xpu_paddle_suppress_adapting(fe_builder *b, const xpu_paddle_suppression *form, float eta, xpu_value overlaps,
                                 xpu_value *places, xpu_value *flags) {
    enum { CARRIED = 2, ALL };
    static const int64_t swap[] = {1, 0};
    adapting a = {.b = b,
                  .overlaps = xpu_paddle_counted(b, overlaps, INFINITY),
                  .scores = form->scores,
                  .least = form->least,
                  .eta = eta};
    if (!a.scores.id || !a.overlaps.id) return 0;
    const xpu_value_info info = *fe_info(b, a.scores);
    xpu_value none = fe_number(b, 0), threshold = fe_number(b, form->overlap);
    xpu_value first[] = {fe_expand(b, none, (fe_dims){info.dims, 2}), fe_expand(b, threshold, (fe_dims){info.dims, 1})};
    xpu_value results[ALL];
    fe_looping loop = {.trips = fe_dim_values(b, &info.dims[1], 1, 0),
                       .first = first,
                       .carried_count = CARRIED,
                       .stacked_count = ALL - CARRIED};
    if (!first[0].id || !first[1].id || !fe_loop(b, &loop, &(fe_bodies){adapt, &a}, results)) return 0;
    *flags = fe_transpose(b, results[CARRIED], (fe_ints){swap, 2});
    *places = fe_expand(b, fe_counted(b, XPU_I64, info.dims[1], 1, 2), (fe_dims){info.dims, 2});
    return places->id && flags->id;
}

/* ---- near boxes become one ---- */

typedef struct {
    fe_builder *b;
    xpu_value boxes, scores; /* [N,M,S], [N,M] */
    float overlap;
    int has_pixels, are_polygons;
} merging;

/* Carries the last box of each image [N,1,S], its score and the place of its first part, [N,1]; stacks them as they
 * were, with the place M where box k becomes part of it. */
static int merge(void *context, uint32_t body, const xpu_value *arguments, xpu_value *results, xpu_diags *diags) {
    static const int64_t front[] = {0};
    const merging *m = context;
    fe_builder inside = begin(m->b, diags), *b = &inside;
    xpu_value box = arguments[XPU_BODY_FIRST], score = arguments[XPU_BODY_FIRST + 1],
              place = arguments[XPU_BODY_FIRST + 2];
    (void)body;
    xpu_value k = fe_unsqueeze(b, fe_binary(b, XPU_OP_ADD, arguments[XPU_BODY_ITERATION], fe_integer(b, XPU_I64, 1)),
                               (fe_ints){front, 1});
    if (!k.id) return 0;
    xpu_value next = fe_gather(b, m->boxes, k, 1), value = fe_gather(b, m->scores, k, 1);
    xpu_value near = fe_binary(b, XPU_OP_GREATER,
                               m->are_polygons ? xpu_paddle_polygon_overlaps(b, next, box)
                                               : xpu_paddle_overlaps(b, next, box, m->has_pixels),
                               fe_number(b, m->overlap)); /* [N,1,1] */
    if (!near.id || !score.id) return 0;
    xpu_value is_near = xpu_paddle_reshaped(b, near, fe_info(b, near)->dims, 2);
    xpu_value sum = fe_binary(b, XPU_OP_ADD, value, score),
              none = fe_dim_values(b, &fe_info(b, m->boxes)->dims[1], 1, 0);
    xpu_value both = fe_binary(b, XPU_OP_ADD, fe_binary(b, XPU_OP_MUL, next, xpu_paddle_widened(b, value, 2)),
                               fe_binary(b, XPU_OP_MUL, box, xpu_paddle_widened(b, score, 2)));
    both = fe_binary(b, XPU_OP_DIV, both, xpu_paddle_widened(b, sum, 2));
    results[XPU_BODY_NEXT] = xpu_paddle_choose(b, near, both, next);
    results[XPU_BODY_NEXT + 1] = xpu_paddle_choose(b, is_near, sum, value);
    results[XPU_BODY_NEXT + 2] = xpu_paddle_choose(b, is_near, place, k);
    results[XPU_BODY_NEXT + 3] = fe_identity(b, box);
    results[XPU_BODY_NEXT + 4] = fe_identity(b, score);
    results[XPU_BODY_NEXT + 5] = xpu_paddle_choose(b, is_near, none, place);
    return goes_on(m->b, b, results, 6);
}

/* What was stacked, [M-1,N,1,...], and the last one, [N,1,...], as [N,M,...]. */
static xpu_value with_last(fe_builder *b, xpu_value stacked, xpu_value last) {
    static const int64_t swap[] = {1, 0, 2};
    if (!stacked.id || !last.id) return failed;
    const xpu_value_info info = *fe_info(b, stacked);
    const xpu_dim before[] = {info.dims[0], info.dims[1], info.dims[3]};
    const int rank = info.rank - 1;
    xpu_value rows = xpu_paddle_reshaped(b, stacked, before, rank);
    xpu_value parts[] = {rows.id ? fe_transpose(b, rows, (fe_ints){swap, (size_t)rank}) : failed, last};
    return parts[0].id ? fe_concat(b, parts, 2, 1) : failed;
}

/* x [N,M,...], with `ends` at these places, M for none. */
static xpu_value placed(fe_builder *b, xpu_value x, xpu_value places, xpu_value ends) {
    if (!x.id || !places.id || !ends.id) return failed;
    const xpu_value_info info = *fe_info(b, x);
    const xpu_dim zero = xpu_dim_const(&b->graph->dims, 0), one = xpu_dim_const(&b->graph->dims, 1);
    xpu_value parts[] = {x, fe_part(b, x, 1, zero, one, 1, 0)}; /* room for what is at none */
    if (info.rank == 3) places = fe_expand(b, xpu_paddle_widened(b, places, 2), (fe_dims){info.dims, 3});
    fe_scattering form = {
        .x = parts[1].id ? fe_concat(b, parts, 2, 1) : failed, .indices = places, .updates = ends, .axis = 1};
    x = form.x.id && places.id ? fe_scatter_elements(b, &form) : failed;
    return x.id ? fe_part(b, x, 1, zero, info.dims[1], 1, 0) : failed;
}

int xpu_paddle_merge_near(fe_builder *b, xpu_value *boxes, xpu_value *scores, float overlap, int has_pixels) {
    enum { CARRIED = 3, ALL = 6 };
    xpu_dims *dims = &b->graph->dims;
    const xpu_dim images = fe_info(b, *boxes)->dims[0], count = fe_info(b, *boxes)->dims[1],
                  one = xpu_dim_const(dims, 1), zero = xpu_dim_const(dims, 0), each[] = {images, one};
    int64_t known;
    if (xpu_dim_is_const(dims, count, &known) && known == 1) return 1; /* nothing is near it */
    merging m = {.b = b, .boxes = *boxes, .scores = *scores, .overlap = overlap, .has_pixels = has_pixels};
    m.are_polygons = !xpu_dim_same(dims, fe_info(b, *boxes)->dims[2], xpu_dim_const(dims, XPU_BOX));
    const xpu_dim steps = xpu_dim_add_const(dims, count, -1);
    xpu_value first[] = {fe_part(b, m.boxes, 1, zero, one, 1, 0), fe_part(b, m.scores, 1, zero, one, 1, 0),
                         fe_expand(b, fe_integer(b, XPU_I64, 0), (fe_dims){each, 2})};
    xpu_value results[ALL];
    fe_looping loop = {.trips = fe_dim_values(b, &steps, 1, 0),
                       .first = first,
                       .carried_count = CARRIED,
                       .stacked_count = ALL - CARRIED};
    if (!first[0].id || !first[1].id || !first[2].id || !fe_loop(b, &loop, &(fe_bodies){merge, &m}, results)) return 0;
    xpu_value ends[CARRIED];
    for (int i = 0; i < CARRIED; i++) ends[i] = with_last(b, results[CARRIED + i], results[i]);
    xpu_value none = fe_expand(b, fe_number(b, -INFINITY), (fe_dims){fe_info(b, *scores)->dims, 2});
    *boxes = placed(b, *boxes, ends[2], ends[0]);
    *scores = placed(b, none, ends[2], ends[1]);
    return boxes->id && scores->id;
}
