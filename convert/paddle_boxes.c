/* Boxes that no better one overlaps: multiclass_nms3, and its rows as a table by image, class and rank. */
#include <float.h>

#include "convert/paddle_writer.h"
#include "core/arith_pick.h"

/* Rows of what multiclass_nms3 finds: nobody knows how many. */
typedef struct {
    pw_type list, flag; /* int32 and bool [rows] */
    const char *key;    /* image * classes + class */
    const char *box;    /* within the image */
    const char *number; /* of the row, int32 */
} found;

static int threshold(pw *w, uint32_t operand, float none, float *value) {
    const xpu_node_info *info = xpu_node_at(w->graph, w->node);
    xpu_tensor tensor;
    *value = none;
    if (operand >= info->input_count || !info->inputs[operand].id) return 1;
    if (!xpu_value_at(w->graph, info->inputs[operand])->constant ||
        xpu_const_tensor(w->graph, info->inputs[operand], w->arena, &tensor, w->diags) != XPU_OK) {
        pw_refuse(w, XPU_REFUSED_THRESHOLDS);
        return 0;
    }
    *value = *(const float *)tensor.data;
    return 1;
}

/* ONNX's boxes without area overlap none, PaddlePaddle's are out where they are equal: theirs lie beyond all others. */
static void put_apart(pw *w, const pw_type *two, const char **low, const char **high) {
    const pw_type flags = pw_as(*two, XPU_BOOL), number = {.dtype = two->dtype};
    pw_type one = *two, flag;
    one.dims[2] = xpu_dim_const(&w->graph->dims, 1);
    flag = pw_as(one, XPU_BOOL);
    const char *size = pw_binary(w, NULL, "elementwise_sub", two, *high, *low);
    const char *area = pw_binary(w, NULL, "elementwise_mul", &one, pw_part(w, NULL, size, &one, 2, 0, 1),
                                 pw_part(w, NULL, size, &one, 2, 1, 2));
    const char *has = pw_binary(w, NULL, "greater_than", &flag, area, pw_scalar(w, two->dtype, 0));
    has = pw_expand(w, NULL, has, &flag, &flags);
    const char **sides[] = {low, high};
    for (int i = 0; i < 2; i++) {
        const char *far = pw_expand(w, NULL, pw_scalar(w, two->dtype, i ? -FLT_MAX : FLT_MAX), &number, two);
        const char *side = pw_new(w, i ? "high" : "low", two);
        pw_where(w, side, has, *sides[i], far);
        *sides[i] = side;
    }
}

/* Lower corners, then upper ones: given are these, or two opposite ones, or centres and sizes. */
static const char *corners(pw *w, xa_box_kind kind) {
    if (kind >= XA_BOX_SIDES) return pw_operand(w, 0);
    const pw_type type = pw_operand_type(w, 0);
    pw_type two = type;
    two.dims[2] = xpu_dim_const(&w->graph->dims, 2);
    const char *a = pw_part(w, NULL, pw_operand(w, 0), &two, 2, 0, 2),
               *b = pw_part(w, NULL, pw_operand(w, 0), &two, 2, 2, 4);
    const int is_centre = kind == XA_BOX_CENTRE;
    if (is_centre) b = pw_scale(w, NULL, b, &two, 0.5f, 0);
    const char *low = pw_binary(w, NULL, is_centre ? "elementwise_sub" : "elementwise_min", &two, a, b),
               *high = pw_binary(w, NULL, is_centre ? "elementwise_add" : "elementwise_max", &two, a, b);
    put_apart(w, &two, &low, &high);
    pw_op *op;
    low = pw_make(w, &op, NULL, "concat", &type, low, NULL);
    pw_in(w, op, "X", high);
    pw_int(w, op, "axis", 2);
    return low;
}

static const char *joined(pw *w, const char *a, const char *b, const pw_type *gives) {
    pw_op *op;
    a = pw_make(w, &op, NULL, "concat", gives, a, NULL);
    pw_in(w, op, "X", b);
    pw_int(w, op, "axis", 0);
    return a;
}

/* The table's rows, with one behind them of an image behind the last one: PaddlePaddle computes nothing of no rows. */
static void suppress(pw *w, float overlap, float least, found *f) {
    xpu_dims *dims = &w->graph->dims;
    const xpu_dim six = xpu_dim_const(dims, 6), one = xpu_dim_const(dims, 1);
    const pw_type boxes = pw_operand_type(w, 0), scores = pw_operand_type(w, 1);
    const pw_type table = {.dtype = XPU_F32, .rank = 2, .dims = {{0}, six}},
                  column = {.dtype = XPU_I32, .rank = 2, .dims = {{0}, one}},
                  classes = {.dtype = XPU_F32, .rank = 2, .dims = {{0}, one}},
                  images = {.dtype = XPU_I32, .rank = 1, .dims = {boxes.dims[0]}};
    f->list = (pw_type){.dtype = XPU_I32, .rank = 1};
    f->flag = pw_as(f->list, XPU_BOOL);
    const xa_box_kind kind = (xa_box_kind)xpu_node_int(w->graph, w->node, XPU_ATTR_KIND);
    const char *corner = corners(w, kind);
    pw_op *op = pw_add(w, "multiclass_nms3");
    const char *rows = pw_new(w, "rows", &table), *index = pw_new(w, "index", &column);
    pw_in(w, op, "BBoxes", corner);
    pw_in(w, op, "Scores", pw_operand(w, 1));
    pw_out(w, op, "Out", rows);
    pw_out(w, op, "Index", index);
    pw_out(w, op, "NmsRoisNum", pw_new(w, "counts", &images));
    pw_int(w, op, "background_label", -1);
    pw_float(w, op, "score_threshold", least);
    pw_int(w, op, "nms_top_k", -1);
    pw_int(w, op, "keep_top_k", -1);
    pw_float(w, op, "nms_threshold", overlap);
    pw_float(w, op, "nms_eta", 1.0f);
    pw_bool(w, op, "normalized", kind != XA_BOX_PIXELS);
    const float none[6] = {0};
    rows = joined(
        w, rows,
        pw_parameter(w, "none",
                     &(xpu_tensor){.dtype = XPU_F32, .rank = 2, .dims = {1, 6}, .data = (void *)(uintptr_t)none}),
        &table);
    const char *behind = pw_size_of(w, xpu_dim_mul(dims, boxes.dims[0], boxes.dims[1]));
    const pw_type one_size = pw_scalar_list(w, XPU_I32, 1), one_row = {.dtype = XPU_I32, .rank = 2, .dims = {one, one}};
    index = joined(w, index, pw_reshape(w, NULL, behind, &one_size, &one_row), &column);
    const char *class = pw_part(w, NULL, rows, &classes, 1, 0, 1);
    class = pw_reshape(w, NULL, pw_cast(w, NULL, class, &classes, XPU_I32), &column, &f->list);
    index = pw_reshape(w, NULL, index, &column, &f->list);
    const char *count = pw_size_of(w, boxes.dims[1]);
    const char *image = pw_binary(w, NULL, "elementwise_floordiv", &f->list, index, count);
    f->box = pw_binary(w, NULL, "elementwise_sub", &f->list, index,
                       pw_binary(w, NULL, "elementwise_mul", &f->list, image, count));
    f->key = pw_binary(w, NULL, "elementwise_mul", &f->list, image, pw_size_of(w, scores.dims[1]));
    f->key = pw_binary(w, NULL, "elementwise_add", &f->list, f->key, class);
    f->number = pw_counted(w, pw_shape_list(w, f->key, 1), &f->list);
}

/* `value` [1] in all of [count]. */
static const char *filled(pw *w, const char *value, const pw_type *gives) {
    const pw_type one = pw_scalar_list(w, gives->dtype, 1);
    return pw_expand(w, NULL, value, &one, gives);
}

static const char *scattered(pw *w, const char *to, const char *at, const char *from, const pw_type *gives) {
    const pw_type list = {.dtype = XPU_I32, .rank = 1},
                  tuples = {.dtype = XPU_I32, .rank = 2, .dims = {{0}, xpu_dim_const(&w->graph->dims, 1)}};
    at = pw_reshape(w, NULL, at, &list, &tuples);
    pw_op *op = pw_add(w, "scatter_nd_add");
    const char *sums = pw_new(w, "scattered", gives);
    pw_in(w, op, "X", to);
    pw_in(w, op, "Index", at);
    pw_in(w, op, "Updates", from);
    pw_out(w, op, "Out", sums);
    return sums;
}

/* Each row's place among those of its key: rows of a key stand together, keys ascend. */
static const char *ranks(pw *w, const found *f, const pw_type *counts) {
    const char *nothing = filled(w, pw_number(w, XPU_I32, 0), counts);
    const char *ones = pw_scale(w, NULL, pw_scale(w, NULL, f->key, &f->list, 0, 0), &f->list, 1, 1);
    const char *many = scattered(w, nothing, f->key, ones, counts);
    pw_op *op;
    const char *behind = pw_make(w, &op, NULL, "cumsum", counts, many, NULL);
    pw_int(w, op, "axis", 0);
    pw_bool(w, op, "flatten", 0);
    pw_bool(w, op, "exclusive", 0);
    pw_bool(w, op, "reverse", 0);
    const char *first = pw_binary(w, NULL, "elementwise_sub", counts, behind, many);
    op = pw_add(w, "gather");
    const char *own = pw_new(w, "first", &f->list);
    pw_in(w, op, "X", first);
    pw_in(w, op, "Index", f->key);
    pw_out(w, op, "Out", own);
    pw_int(w, op, "axis", 0);
    return pw_binary(w, NULL, "elementwise_sub", &f->list, f->number, own);
}

void pw_write_nms(pw *w, const pw_row *row) {
    xpu_dims *dims = &w->graph->dims;
    const pw_type y = pw_result_type(w, 0);
    float overlap, least;
    found f;
    (void)row;
    if (!threshold(w, 2, 0, &overlap) || !threshold(w, 3, -FLT_MAX, &least)) return;
    const xpu_dim keys = xpu_dim_mul(dims, y.dims[0], y.dims[1]), cells = xpu_dim_mul(dims, keys, y.dims[2]);
    pw_type counts = pw_scalar_list(w, XPU_I32, 1), places = counts, flat = counts;
    counts.dims[0] = xpu_dim_add_const(dims, keys, 1);
    places.dims[0] = xpu_dim_add_const(dims, cells, 1);
    flat.dims[0] = cells;
    suppress(w, overlap, least, &f);
    const char *rank = ranks(w, &f, &counts), *most = pw_size_of(w, y.dims[2]);
    const char *fits = pw_binary(w, NULL, "less_than", &f.flag, rank, most);
    const char *cell = pw_binary(w, NULL, "elementwise_mul", &f.list, f.key, most);
    cell = pw_binary(w, NULL, "elementwise_add", &f.list, cell, rank);
    /* What is too many goes into a cell behind the others. */
    const char *is_place = pw_cast(w, NULL, fits, &f.flag, XPU_I32), *end = pw_size_of(w, cells);
    cell = pw_binary(w, NULL, "elementwise_sub", &f.list, cell, end);
    cell = pw_binary(w, NULL, "elementwise_mul", &f.list, cell, is_place);
    cell = pw_binary(w, NULL, "elementwise_add", &f.list, cell, end);
    const char *none = filled(w, pw_number(w, XPU_I32, -1), &places);
    const char *all = scattered(w, none, cell, pw_scale(w, NULL, f.box, &f.list, 1, 1), &places);
    const char *table = pw_part(w, NULL, all, &flat, 0, 0, -1);
    pw_reshape(w, pw_result(w, 0), table, &flat, &y);
}
