/* Complex numbers, as tensors of float32 whose last dim is real and imaginary part; Fourier transforms of them, as
 * products. Bindings say which values are complex: what does not know of them refuses them. */
#include <math.h>
#include <string.h>

#include "frontend/paddle/compose.h"

static const xpu_value failed = {0};

enum { MOST_ENTRIES = 1 << 22, PARTS = 2 };

static int is_complex(const xpu_paddle_node *node) {
    const xpu_paddle_op *op = node->op;
    uint32_t var = op->input_count && op->inputs[0].count ? op->inputs[0].vars[0] : XPU_PADDLE_NO_VAR;
    return var != XPU_PADDLE_NO_VAR && node->importer->bindings[var].is_complex;
}

/* The operand X, which is complex, or is not; {0} after reporting. */
static xpu_value operand_of(xpu_paddle_node *node, int complex) {
    xpu_value x = xpu_paddle_operand(node, "X");
    if (!x.id || is_complex(node) == complex) return x;
    return xpu_paddle_refuse(node, complex ? "the operand is not complex" : "the operand is complex",
                             fe_shape_text(&node->build, x));
}

static xpu_value give_complex(xpu_paddle_node *node, fe_builder *b, xpu_value x) {
    if (node->op->block)
        return xpu_paddle_refuse(node, "complex numbers in a body are not supported",
                                 "a branch or loop might give them on");
    node->gives_complex = 1;
    return xpu_paddle_give(node, b, 0, x);
}

/* ---- parts ---- */

static xpu_value part_of(fe_builder *b, xpu_value x, int index) {
    int64_t end = x.id ? fe_info(b, x)->rank - 1 : 0;
    x = xpu_paddle_columns(b, x, index, 1);
    return x.id ? fe_squeeze(b, x, (fe_ints){&end, 1}) : failed;
}

xpu_value xpu_paddle_convert_part(xpu_paddle_node *node) {
    fe_builder b = fe_inside(&node->build);
    return xpu_paddle_give(node, &b, 0, part_of(&b, operand_of(node, 1), strcmp(node->op->type, "imag") == 0));
}

xpu_value xpu_paddle_convert_as_real(xpu_paddle_node *node) {
    xpu_value x = operand_of(node, 1);
    return x.id ? fe_identity(&node->build, x) : failed;
}

xpu_value xpu_paddle_convert_as_complex(xpu_paddle_node *node) {
    xpu_value x = operand_of(node, 0);
    int64_t parts = 0;
    fe_builder b = fe_inside(&node->build);
    if (!x.id) return failed;
    const xpu_value_info *info = fe_info(&b, x);
    if (info->rank < 1 || info->dtype != XPU_F32 ||
        !xpu_dim_is_const(&b.graph->dims, info->dims[info->rank - 1], &parts) || parts != PARTS)
        return xpu_paddle_refuse(node, "the last dim is not real and imaginary part", fe_shape_text(&b, x));
    return give_complex(node, &b, x);
}

xpu_value xpu_paddle_convert_complex(xpu_paddle_node *node) {
    fe_builder b = fe_inside(&node->build);
    xpu_value x = operand_of(node, 0), y = xpu_paddle_operand(node, "Y");
    xpu_value zero =
        x.id && y.id ? fe_binary(&b, XPU_OP_MUL, fe_binary(&b, XPU_OP_ADD, x, y), fe_number(&b, 0)) : failed;
    xpu_value parts[] = {xpu_paddle_widened(&b, fe_binary(&b, XPU_OP_ADD, x, zero), -1),
                         xpu_paddle_widened(&b, fe_binary(&b, XPU_OP_ADD, y, zero), -1)};
    if (!parts[0].id || !parts[1].id) return failed;
    return give_complex(node, &b, fe_concat(&b, parts, PARTS, -1));
}

xpu_value xpu_paddle_convert_conj(xpu_paddle_node *node) {
    static const float signs[] = {1, -1};
    xpu_value x = xpu_paddle_operand(node, "X");
    if (!x.id || !is_complex(node)) return x.id ? fe_identity(&node->build, x) : failed;
    fe_builder b = fe_inside(&node->build);
    return give_complex(node, &b, fe_binary(&b, XPU_OP_MUL, x, xpu_paddle_vector(&b, signs, PARTS)));
}

xpu_value xpu_paddle_convert_abs(xpu_paddle_node *node) {
    xpu_value x = xpu_paddle_operand(node, "X");
    if (!x.id || !is_complex(node)) return x.id ? fe_elementwise(&node->build, XPU_OP_ABS, &x, 1, NULL, 0) : failed;
    fe_builder b = fe_inside(&node->build);
    xpu_value squares = fe_binary(&b, XPU_OP_MUL, x, x);
    xpu_value sum = xpu_paddle_reduced(&b, XPU_OP_REDUCE_SUM, squares, fe_info(&b, x)->rank - 1, 0);
    return xpu_paddle_give(node, &b, 0, fe_unary(&b, XPU_OP_SQRT, sum));
}

/* ---- transforms ---- */

typedef struct {
    xpu_paddle_node *node;
    fe_builder b;
    double sign; /* of the angles: -1 forward */
    const char *norm;
} transform;

/* By how much n elements are divided. */
static double scale_of(const transform *t, int64_t n) {
    if (strcmp(t->norm, "ortho") == 0) return 1 / sqrt((double)n);
    int divides = strcmp(t->norm, "forward") == 0 ? t->sign < 0 : t->sign > 0;
    return divides ? 1 / (double)n : 1;
}

/* From `in` to `out` of n elements: rows of real elements, or of real and imaginary ones in turn; columns so, too. Of
 * half a spectrum, the elements in the middle stand for two. */
static xpu_value matrix(transform *t, int64_t n, int64_t in, int64_t out, int in_parts, int out_parts) {
    double scale = scale_of(t, n);
    if (in > MOST_ENTRIES / (in_parts * out_parts) / out)
        return xpu_paddle_refuse(t->node, "the axis is too long",
                                 xpu_paddle_format(t->node, "it has %lld elements", (long long)n));
    int64_t columns = out * out_parts;
    float *items = XPU_NEW_ARRAY(t->b.scratch, float, in *in_parts *columns);
    for (int64_t k = 0; k < in; k++) {
        double weight = in_parts == 2 && out_parts == 1 && k > 0 && 2 * k < n ? 2 * scale : scale;
        for (int64_t j = 0; j < out; j++) {
            double angle = t->sign * 2 * acos(-1) * (double)(k * j % n) / (double)n;
            float *at = &items[k * in_parts * columns + j * out_parts];
            at[0] = (float)(weight * cos(angle));
            if (out_parts == 2) at[1] = (float)(weight * sin(angle));
            if (in_parts == 1) continue;
            at[columns] = (float)(-weight * sin(angle));
            if (out_parts == 2) at[columns + 1] = (float)(weight * cos(angle));
        }
    }
    xpu_tensor tensor = {.dtype = XPU_F32, .rank = 2, .dims = {in * in_parts, columns}, .data = items};
    return xpu_graph_const_bytes(t->b.graph, NULL, &tensor);
}

/* The axis of x, whose dims are `rank` without the parts, and the last one exchanged. */
static xpu_value exchanged(transform *t, xpu_value x, int axis, int rank) {
    int64_t perm[XPU_MAX_RANK];
    const int all = x.id ? fe_info(&t->b, x)->rank : 0;
    if (!x.id || axis == rank - 1) return x;
    for (int i = 0; i < all; i++) perm[i] = i == axis ? rank - 1 : i == rank - 1 ? axis : i;
    return fe_transpose(&t->b, x, (fe_ints){perm, (size_t)all});
}

/* Along one axis, n elements; `out`: how many there are then. */
static xpu_value along(transform *t, xpu_value x, int axis, int64_t n, int64_t out, int in_parts, int out_parts) {
    fe_builder *b = &t->b;
    xpu_dims *dims = &b->graph->dims;
    int rank = fe_info(b, x)->rank - (in_parts - 1);
    int64_t in = 0;
    x = exchanged(t, x, axis, rank);
    if (!x.id) return failed;
    const xpu_value_info info = *fe_info(b, x);
    if (!xpu_dim_is_const(dims, info.dims[rank - 1], &in) || in < 1 || n < 1 || out < 1)
        return xpu_paddle_refuse(t->node, "the length of the axis is not known", fe_shape_text(b, x));
    xpu_value m = matrix(t, n, in, out, in_parts, out_parts);
    xpu_dim list[XPU_MAX_RANK + 1];
    for (int i = 0; i < rank; i++) list[i] = info.dims[i];
    list[rank - 1] = xpu_dim_const(dims, in * in_parts);
    if (in_parts == 2) x = xpu_paddle_reshaped(b, x, list, rank);
    x = x.id && m.id ? fe_matmul(b, x, m) : failed;
    list[rank - 1] = xpu_dim_const(dims, out);
    list[rank] = xpu_dim_const(dims, PARTS);
    if (out_parts == 2) x = xpu_paddle_reshaped(b, x, list, rank + 1);
    return exchanged(t, x, axis, rank);
}

static int64_t size_of(transform *t, xpu_value x, int axis) {
    int64_t size = 0;
    const xpu_value_info *info = fe_info(&t->b, x);
    return xpu_dim_is_const(&t->b.graph->dims, info->dims[axis], &size) ? size : 0;
}

/* All axes but the last one listed; that of reals comes first, or last. */
static xpu_value others(transform *t, xpu_value x, fe_ints axes, size_t count) {
    int rank = x.id ? fe_info(&t->b, x)->rank - 1 : 0;
    for (size_t i = 0; x.id && i < count; i++) {
        int axis = fe_axis(&t->b, axes.items[i], rank);
        if (axis < 0) return failed;
        int64_t n = size_of(t, x, axis);
        x = along(t, x, axis, n, n, 2, 2);
    }
    return x;
}

static int read_transform(xpu_paddle_node *node, transform *t, fe_ints *axes, xpu_value x, int parts) {
    *t = (transform){
        .node = node, .b = fe_inside(&node->build), .norm = xpu_paddle_text(node, "normalization", "backward")};
    t->sign = xpu_paddle_int(node, "forward", 1) ? -1 : 1;
    *axes = xpu_paddle_ints(node, "axes");
    if (!x.id) return 0;
    if (!axes->count || fe_info(&t->b, x)->rank + (2 - parts) > XPU_MAX_RANK)
        return fe_bad_attr(&node->build, "axes", "there are none, or too many dims");
    return fe_axis(&t->b, axes->items[axes->count - 1], fe_info(&t->b, x)->rank - (parts - 1)) >= 0;
}

xpu_value xpu_paddle_convert_fft_c2c(xpu_paddle_node *node) {
    transform t;
    fe_ints axes;
    xpu_value x = operand_of(node, 1);
    if (!read_transform(node, &t, &axes, x, 2)) return failed;
    return give_complex(node, &t.b, others(&t, x, axes, axes.count));
}

/* Half the spectrum, or with onesided false all of it. */
xpu_value xpu_paddle_convert_fft_r2c(xpu_paddle_node *node) {
    transform t;
    fe_ints axes;
    xpu_value x = operand_of(node, 0);
    if (!read_transform(node, &t, &axes, x, 1)) return failed;
    int axis = fe_axis(&t.b, axes.items[axes.count - 1], fe_info(&t.b, x)->rank);
    int64_t n = size_of(&t, x, axis), out = xpu_paddle_int(node, "onesided", 1) ? n / 2 + 1 : n;
    return give_complex(node, &t.b, others(&t, along(&t, x, axis, n, out, 1, 2), axes, axes.count - 1));
}

xpu_value xpu_paddle_convert_fft_c2r(xpu_paddle_node *node) {
    transform t;
    fe_ints axes;
    xpu_value x = operand_of(node, 1);
    if (!read_transform(node, &t, &axes, x, 2)) return failed;
    int axis = fe_axis(&t.b, axes.items[axes.count - 1], fe_info(&t.b, x)->rank - 1);
    int64_t half = size_of(&t, x, axis), n = xpu_paddle_int(node, "last_dim_size", 0);
    if (n < 1) n = 2 * (half - 1);
    if (half != n / 2 + 1)
        return fe_bad_attr(&node->build, "last_dim_size", "half a spectrum has not so many elements"), failed;
    x = others(&t, x, axes, axes.count - 1);
    return x.id ? xpu_paddle_give(node, &t.b, 0, along(&t, x, axis, n, n, 2, 1)) : failed;
}

typedef struct {
    int64_t size, hop;
    int axis, is_first; /* windows stand before their elements */
} framing;

/* An axis of x as windows of so many elements. */
static xpu_value frames(xpu_paddle_node *node, fe_builder *b, xpu_value x, const framing *form) {
    const int64_t n = form->size, hop = form->hop;
    int64_t length = 0;
    if (n < 1 || hop < 1 || !xpu_dim_is_const(&b->graph->dims, fe_info(b, x)->dims[form->axis], &length) ||
        n > length || (length - n) / hop + 1 > MOST_ENTRIES / n)
        return xpu_paddle_refuse(node, "the windows do not fit", fe_shape_text(b, x));
    int64_t count = (length - n) / hop + 1;
    int32_t *places = XPU_NEW_ARRAY(b->scratch, int32_t, count *n);
    xpu_tensor tensor = {
        .dtype = XPU_I32, .rank = 2, .dims = {form->is_first ? count : n, form->is_first ? n : count}, .data = places};
    for (int64_t i = 0; i < count * n; i++) {
        int64_t window = form->is_first ? i / n : i % count, at = form->is_first ? i % n : i / count;
        places[i] = (int32_t)(window * hop + at);
    }
    return fe_gather(b, x, xpu_graph_const_bytes(b->graph, NULL, &tensor), form->axis);
}

/* Windows along the last axis of x, [...,T] as [...,length,windows], or with axis 0 along the first,
 * [windows,length,...]. */
xpu_value xpu_paddle_convert_frame(xpu_paddle_node *node) {
    xpu_value x = operand_of(node, 0);
    if (!x.id) return failed;
    int rank = xpu_paddle_rank(node, x), is_first = xpu_paddle_int(node, "axis", -1) == 0;
    if (rank < 1) return xpu_paddle_refuse(node, "the windows do not fit", fe_shape_text(&node->build, x));
    return frames(node, &node->build, x,
                  &(framing){.size = xpu_paddle_int(node, "frame_length", 0),
                             .hop = xpu_paddle_int(node, "hop_length", 1),
                             .axis = is_first ? 0 : rank - 1,
                             .is_first = is_first});
}

/* Spectra of windows of x, [T] or [N,T]: [N,half or all of n_fft,windows]. */
xpu_value xpu_paddle_convert_stft(xpu_paddle_node *node) {
    static const int64_t turned[] = {0, 2, 1, 3};
    transform t = {.node = node, .b = fe_inside(&node->build), .sign = -1};
    fe_builder *b = &t.b;
    xpu_value x = operand_of(node, 0), window = xpu_paddle_operand(node, "Window");
    int64_t n = xpu_paddle_int(node, "n_fft", 0), hop = xpu_paddle_int(node, "hop_length", 1), zero = 0;
    t.norm = xpu_paddle_int(node, "normalized", 0) ? "ortho" : "backward";
    if (!x.id || !window.id) return failed;
    int is_flat = fe_info(b, x)->rank == 1;
    if (is_flat) x = xpu_paddle_widened(b, x, 0);
    if (!x.id || fe_info(b, x)->rank != 2) return failed;
    x = frames(node, b, x, &(framing){.size = n, .hop = hop, .axis = 1, .is_first = 1});
    x = fe_binary(b, XPU_OP_MUL, x, window);
    if (!x.id) return failed;
    x = along(&t, x, 2, n, xpu_paddle_int(node, "onesided", 1) ? n / 2 + 1 : n, 1, 2);
    x = x.id ? fe_transpose(b, x, (fe_ints){turned, 4}) : failed;
    if (is_flat && x.id) x = fe_squeeze(b, x, (fe_ints){&zero, 1});
    return x.id ? give_complex(node, b, x) : failed;
}

xpu_value xpu_paddle_convert_transpose(xpu_paddle_node *node) {
    xpu_value x = xpu_paddle_operand(node, "X");
    fe_ints axes = xpu_paddle_ints(node, "axis");
    int64_t perm[XPU_MAX_RANK];
    if (!x.id || !is_complex(node)) return fe_transpose(&node->build, x, axes);
    if (axes.count + 1 != (size_t)xpu_paddle_rank(node, x))
        return fe_bad_attr(&node->build, "axis", "there are not as many as dims"), failed;
    for (size_t i = 0; i < axes.count; i++)
        perm[i] = axes.items[i] < 0 ? axes.items[i] + (int64_t)axes.count : axes.items[i];
    perm[axes.count] = (int64_t)axes.count;
    fe_builder b = fe_inside(&node->build);
    return give_complex(node, &b, fe_transpose(&b, x, (fe_ints){perm, axes.count + 1}));
}
