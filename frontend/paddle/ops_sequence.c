/* Sequences. There are no levels of detail: all rows [T,...] of a tensor are one. */
#include <math.h>
#include <string.h>

#include "frontend/paddle/compose.h"

static const xpu_value failed = {0};

enum { MOST_CONTEXT = 64, MOST_STEPS = 4096 };

static xpu_dim fixed(const xpu_paddle_node *node, int64_t size) {
    return xpu_dim_const(&node->build.graph->dims, size);
}

/* The operand, of at least this rank; {0} after reporting. */
static xpu_value rows_of(xpu_paddle_node *node, const char *name, int rank) {
    xpu_value x = xpu_paddle_operand(node, name);
    if (!x.id || xpu_paddle_rank(node, x) >= rank) return x;
    return xpu_paddle_refuse(node, "the operand is no sequence of rows", fe_shape_text(&node->build, x));
}

xpu_value xpu_paddle_convert_sequence_pool(xpu_paddle_node *node) {
    const char *kind = xpu_paddle_text(node, "pooltype", "AVERAGE");
    xpu_value x = rows_of(node, "X", 1);
    fe_builder b = fe_inside(&node->build);
    if (!x.id) return failed;
    xpu_dim rows = fe_info(&b, x)->dims[0];
    int is_max = strcmp(kind, "MAX") == 0, is_last = strcmp(kind, "LAST") == 0, is_root = strcmp(kind, "SQRT") == 0;
    if (is_last || strcmp(kind, "FIRST") == 0) {
        xpu_dim first = is_last ? xpu_dim_add(&b.graph->dims, rows, fixed(node, -1)) : fixed(node, 0);
        return fe_part(&node->build, x, 0, first, fixed(node, 1), 1, 1);
    }
    if (!is_max && !is_root && strcmp(kind, "SUM") != 0 && strcmp(kind, "AVERAGE") != 0)
        return fe_bad_attr(&node->build, "pooltype", "it is none of those that are known"), failed;
    int is_mean = strcmp(kind, "AVERAGE") == 0;
    xpu_op_id op = is_max ? XPU_OP_REDUCE_MAX : is_mean ? XPU_OP_REDUCE_MEAN : XPU_OP_REDUCE_SUM;
    xpu_value y = xpu_paddle_reduced(&b, op, x, 0, 1);
    if (is_root) {
        xpu_value count = fe_as(&b, fe_dim_values(&b, &rows, 1, 0), XPU_F32);
        y = fe_binary(&b, XPU_OP_DIV, y, fe_unary(&b, XPU_OP_SQRT, count));
    }
    return xpu_paddle_give(node, &b, 0, y);
}

xpu_value xpu_paddle_convert_sequence_softmax(xpu_paddle_node *node) {
    xpu_value x = rows_of(node, "X", 1);
    return x.id ? fe_softmax(&node->build, x, 0, 0) : failed;
}

xpu_value xpu_paddle_convert_sequence_reverse(xpu_paddle_node *node) {
    xpu_value x = rows_of(node, "X", 1);
    if (!x.id) return failed;
    xpu_dim rows = xpu_paddle_info(node, x)->dims[0];
    return fe_part(&node->build, x, 0, xpu_dim_add(&node->build.graph->dims, rows, fixed(node, -1)), rows, -1, 1);
}

xpu_value xpu_paddle_convert_sequence_concat(xpu_paddle_node *node) {
    xpu_paddle_values all = xpu_paddle_operands(node, "X");
    return all.count ? fe_concat(&node->build, all.items, all.count, 0) : failed;
}

xpu_value xpu_paddle_convert_sequence_reshape(xpu_paddle_node *node) {
    xpu_value x = rows_of(node, "X", 1);
    int64_t size = xpu_paddle_int(node, "new_dim", 0);
    if (!x.id) return failed;
    if (size < 1 || size > FE_MAX_EXTENT) return fe_bad_attr(&node->build, "new_dim", "it is out of range"), failed;
    xpu_dim dims[] = {fixed(node, -1), fixed(node, size)};
    return fe_reshape(&node->build, x, (fe_dims){dims, 2}, 0);
}

/* The sequence as often as Y has rows. */
xpu_value xpu_paddle_convert_sequence_expand(xpu_paddle_node *node) {
    xpu_value x = rows_of(node, "X", 1), y = rows_of(node, "Y", 1);
    int is_like = strcmp(node->op->type, "sequence_expand_as") == 0;
    int64_t rows = 0;
    if (!x.id || !y.id) return failed;
    const xpu_value_info info = *xpu_paddle_info(node, x);
    if (is_like && (!xpu_dim_is_const(&node->build.graph->dims, info.dims[0], &rows) || rows != 1))
        return xpu_paddle_refuse(node, "several sequences are not supported", fe_shape_text(&node->build, x));
    xpu_dim *times = XPU_NEW_ARRAY(node->importer->scratch, xpu_dim, info.rank);
    for (int i = 0; i < info.rank; i++) times[i] = i ? fixed(node, 1) : xpu_paddle_info(node, y)->dims[0];
    return fe_tile(&node->build, x, (fe_dims){times, (size_t)info.rank});
}

/* Products of what stands around each row. */
xpu_value xpu_paddle_convert_sequence_conv(xpu_paddle_node *node) {
    xpu_value x = rows_of(node, "X", 2), filter = xpu_paddle_operand(node, "Filter"), parts[MOST_CONTEXT];
    int64_t length = xpu_paddle_int(node, "contextLength", 1), start = xpu_paddle_int(node, "contextStart", 0);
    if (!x.id || !filter.id) return failed;
    if (xpu_paddle_int(node, "paddingTrainable", 0) || xpu_paddle_int(node, "contextStride", 1) != 1)
        return xpu_paddle_refuse(node, "the form is not supported", "paddingTrainable, or contextStride");
    if (length < 1 || length > MOST_CONTEXT || start < -MOST_STEPS || start > MOST_STEPS)
        return fe_bad_attr(&node->build, "contextLength", "it, or contextStart, is out of range"), failed;
    fe_builder b = fe_inside(&node->build);
    for (int64_t k = 0; k < length; k++) {
        const int64_t pads[] = {-(start + k), 0, start + k, 0};
        parts[k] = fe_pad(&b, x, &(fe_padding){.mode = "constant", .pads = {pads, 4}});
        if (!parts[k].id) return failed;
    }
    x = fe_concat(&b, parts, (uint32_t)length, 1);
    node->build.made = b.made;
    return x.id ? fe_matmul(&node->build, x, filter) : failed;
}

/* A batch of the one sequence, [1, length, ...]; and how long it is. */
xpu_value xpu_paddle_convert_sequence_pad(xpu_paddle_node *node) {
    xpu_value x = rows_of(node, "X", 1), pad = xpu_paddle_operand(node, "PadValue");
    int64_t padded = xpu_paddle_int(node, "padded_length", -1), rows = 0, first = 0;
    double value = 0;
    if (!x.id || !pad.id || !xpu_paddle_number(node, NULL, "PadValue", &value)) return failed;
    fe_builder b = fe_inside(&node->build);
    xpu_dim count = fe_info(&b, x)->dims[0];
    int rank = xpu_paddle_rank(node, x);
    if (padded >= 0) {
        if (!xpu_dim_is_const(&b.graph->dims, count, &rows) || rows > padded)
            return xpu_paddle_refuse(node, "padded_length does not hold the sequence", fe_shape_text(&b, x));
        int64_t *pads = XPU_NEW_ARRAY(b.scratch, int64_t, 2 * rank);
        pads[rank] = padded - rows;
        fe_padding form = {.mode = "constant", .value = (float)value, .pads = {pads, 2 * (size_t)rank}};
        if (fe_info(&b, x)->dtype != XPU_F32) form.integer = xpu_paddle_single(node, fe_info(&b, x)->dtype, value);
        x = fe_pad(&b, x, &form);
    }
    if (node->result_count > 1 && !xpu_paddle_give(node, &b, 1, fe_dim_values(&b, &count, 1, 1)).id) return failed;
    node->build.made = b.made;
    return x.id ? fe_unsqueeze(&node->build, x, (fe_ints){&first, 1}) : failed;
}

/* The first rows of a batch of one. */
xpu_value xpu_paddle_convert_sequence_unpad(xpu_paddle_node *node) {
    xpu_value x = rows_of(node, "X", 2), length = xpu_paddle_operand(node, "Length");
    int64_t batch = 0, first = 0;
    if (!x.id || !length.id) return failed;
    if (!xpu_dim_is_const(&node->build.graph->dims, xpu_paddle_info(node, x)->dims[0], &batch) || batch != 1)
        return xpu_paddle_refuse(node, "several sequences are not supported", fe_shape_text(&node->build, x));
    fe_builder b = fe_inside(&node->build);
    x = fe_squeeze(&b, x, (fe_ints){&first, 1});
    if (!x.id) return failed;
    xpu_value inside =
        fe_binary(&b, XPU_OP_LESS, fe_as(&b, fe_counted(&b, XPU_I32, fe_info(&b, x)->dims[0], 0, 1), XPU_I64),
                  fe_as(&b, length, XPU_I64));
    node->build.made = b.made;
    return inside.id ? fe_compress(&node->build, x, inside, &first) : failed;
}

xpu_value xpu_paddle_convert_lod_reset(xpu_paddle_node *node) {
    fe_ints levels = xpu_paddle_ints(node, "target_lod");
    xpu_value x = xpu_paddle_operand(node, "X");
    if (!xpu_paddle_operand(node, "Y").id && levels.count > 2)
        return xpu_paddle_refuse(node, "several sequences are not supported", "target_lod has more than two numbers");
    return x.id ? fe_identity(&node->build, x) : failed;
}

/* ---- labels ---- */

/* Labels without blanks and, with merge_repeated, without those that stand before them; a batch [B,T] of so many each,
 * padded, or one sequence. */
xpu_value xpu_paddle_convert_ctc_align(xpu_paddle_node *node) {
    xpu_value x = rows_of(node, "Input", 1), lengths = xpu_paddle_operand(node, "InputLength"), order[2];
    int64_t blank = xpu_paddle_int(node, "blank", 0), padding = xpu_paddle_int(node, "padding_value", 0);
    if (!x.id) return failed;
    fe_builder b = fe_inside(&node->build);
    const xpu_value_info info = *fe_info(&b, x);
    xpu_dim batch = lengths.id ? info.dims[0] : fixed(node, 1);
    xpu_dim time = fe_dim_product(&b, info.dims, lengths.id ? 1 : 0, info.rank), shape[] = {batch, time},
            one = fixed(node, 1);
    const int64_t before[] = {0, 1, 0, -1};
    x = xpu_paddle_reshaped(&b, x, shape, 2);
    xpu_value keep = fe_unary(&b, XPU_OP_NOT, fe_binary(&b, XPU_OP_EQUAL, x, fe_integer(&b, info.dtype, blank)));
    if (xpu_paddle_int(node, "merge_repeated", 1)) {
        fe_padding form = {.mode = "constant", .pads = {before, 4}, .integer = fe_integer(&b, info.dtype, -1)};
        xpu_value last = x.id ? fe_pad(&b, x, &form) : failed;
        keep = fe_binary(&b, XPU_OP_AND, keep, fe_unary(&b, XPU_OP_NOT, fe_binary(&b, XPU_OP_EQUAL, x, last)));
    }
    xpu_value counted = fe_counted(&b, XPU_I32, time, 1, 2);
    if (!lengths.id) { /* as many as there are: [n,1] */
        xpu_value places = xpu_paddle_places(&b, xpu_paddle_reshaped(&b, keep, &time, 1));
        xpu_dim column[] = {time, one};
        x = xpu_paddle_reshaped(&b, x, column, 2);
        node->build.made = b.made;
        return x.id && places.id ? fe_gather(&node->build, x, places, 0) : failed;
    }
    lengths = xpu_paddle_reshaped(&b, fe_as(&b, lengths, XPU_I32), (xpu_dim[]){batch, one}, 2);
    keep = fe_binary(&b, XPU_OP_AND, keep, fe_binary(&b, XPU_OP_LESS, counted, lengths));
    xpu_value key = xpu_paddle_choose(&b, keep, counted, fe_integer(&b, XPU_I32, INT32_MAX));
    if (!key.id || !fe_top(&b, key, &(fe_ordering){.axis = 1, .k = time}, order)) return failed;
    xpu_value held = fe_binary(&b, XPU_OP_LESS, order[0], fe_integer(&b, XPU_I32, INT32_MAX));
    x = xpu_paddle_choose(&b, held, fe_gather_elements(&b, x, order[1], 1), fe_integer(&b, info.dtype, padding));
    xpu_value count = xpu_paddle_widened(&b, xpu_paddle_counts(&b, held), 1);
    if (node->result_count > 1 && !xpu_paddle_give(node, &b, 1, fe_as(&b, count, info.dtype)).id) return failed;
    return xpu_paddle_give(node, &b, 0, x);
}

/* Paths [T,B,K] from the ends of beams back: what stands where a beam came from. */
xpu_value xpu_paddle_convert_gather_tree(xpu_paddle_node *node) {
    xpu_value ids = rows_of(node, "Ids", 3), parents = xpu_paddle_operand(node, "Parents");
    int64_t steps = 0, first = 0;
    if (!ids.id || !parents.id) return failed;
    fe_builder b = fe_inside(&node->build);
    if (!xpu_dim_is_const(&b.graph->dims, fe_info(&b, ids)->dims[0], &steps) || steps < 1 || steps > MOST_CONTEXT)
        return xpu_paddle_refuse(node, "the number of steps is not supported", fe_shape_text(&b, ids));
    xpu_value *path = XPU_NEW_ARRAY(b.scratch, xpu_value, steps), from = failed;
    for (int64_t t = steps - 1; t >= 0; t--) {
        xpu_value own = fe_part(&b, ids, 0, fixed(node, t), fixed(node, 1), 1, 0);
        xpu_value next = fe_part(&b, parents, 0, fixed(node, t), fixed(node, 1), 1, 0);
        path[t] = from.id ? fe_gather_elements(&b, own, from, 2) : own;
        from = from.id ? fe_gather_elements(&b, next, from, 2) : next;
        if (!path[t].id || !from.id) return failed;
    }
    node->build.made = b.made;
    return fe_concat(&node->build, path, (uint32_t)steps, first);
}

/* An image [channels * rows * columns, 1], whose size operands of as many rows say, and windows around its pixels. */
xpu_value xpu_paddle_convert_var_conv(xpu_paddle_node *node) {
    static const char *const places[2][3] = {{"ROW", "StrideH", "KernelH"}, {"COLUMN", "StrideW", "KernelW"}};
    xpu_value x = rows_of(node, "X", 1), w = xpu_paddle_operand(node, "W");
    int64_t in = xpu_paddle_int(node, "InputChannel", 1), out = xpu_paddle_int(node, "OutputChannel", 1), kernel[2],
            strides[2], pads[4];
    fe_builder b = fe_inside(&node->build);
    xpu_dims *dims = &b.graph->dims;
    xpu_dim image[4] = {fixed(node, 1), fixed(node, in)}, filter[4] = {fixed(node, out), fixed(node, in)}, all;
    if (!x.id || !w.id) return failed;
    for (int i = 0; i < 2; i++) {
        xpu_value along = rows_of(node, places[i][0], 1);
        int64_t size = 0, stride = strides[i] = xpu_paddle_int(node, places[i][1], 1);
        int64_t wide = kernel[i] = xpu_paddle_int(node, places[i][2], 1);
        if (!along.id) return failed;
        image[2 + i] = fe_info(&b, along)->dims[0];
        if (in < 1 || out < 1 || stride < 1 || wide < 1 || stride > MOST_STEPS || wide > MOST_STEPS)
            return fe_bad_attr(&node->build, places[i][2], "a size or a stride is out of range"), failed;
        if (stride > 1 && !xpu_dim_is_const(dims, image[2 + i], &size))
            return xpu_paddle_refuse(node, "an image of unknown size is not supported",
                                     xpu_paddle_format(node, "%s is above 1", places[i][1]));
        int64_t past = stride > 1 ? (size - 1) / stride * stride + wide - size : wide - 1;
        pads[i] = wide / 2;
        pads[2 + i] = past > pads[i] ? past - pads[i] : 0;
        filter[2 + i] = fixed(node, wide);
    }
    fe_convolution form = {.window = {.strides = {strides, 2}, .pads = {pads, 4}}, .group = 1};
    x = xpu_paddle_reshaped(&b, x, image, 4);
    w = xpu_paddle_reshaped(&b, w, filter, 4);
    xpu_value y = x.id && w.id ? fe_conv(&b, x, w, failed, &form) : failed;
    if (!y.id) return failed;
    all =
        xpu_dim_mul(dims, fe_info(&b, y)->dims[1], xpu_dim_mul(dims, fe_info(&b, y)->dims[2], fe_info(&b, y)->dims[3]));
    return xpu_paddle_give(node, &b, 0, xpu_paddle_reshaped(&b, y, (xpu_dim[]){all, fixed(node, 1)}, 2));
}
