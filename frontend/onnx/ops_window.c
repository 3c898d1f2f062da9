/* Operators that slide a window, and their padding. */
#include <inttypes.h>
#include <string.h>

#include "frontend/onnx/importer.h"

enum { MAX_SPATIAL = 2, MAX_EXTENT = 1 << 20 };

/* The window of a convolution or pooling over `n` spatial dims. */
typedef struct {
    int n;
    int64_t kernel[MAX_SPATIAL], strides[MAX_SPATIAL], dilations[MAX_SPATIAL];
    int64_t pads[2 * MAX_SPATIAL]; /* all begins, then all ends */
} window;

/* ---- reading ---- */

static int bad_attr(const xpu_onnx_node *node, const char *name, const char *why) {
    xpu_onnx_refuse(node, "onnx-attribute", xpu_onnx_format(node, "attribute '%s' is invalid", name), why, NULL);
    return 0;
}

/* A list attribute of exactly `count` values in min..MAX_EXTENT; absent, it leaves `values` as they are. */
static int read_list(const xpu_onnx_node *node, const char *name, int count, int64_t min, int64_t *values) {
    const xpu_onnx_attr_proto *attr = xpu_onnx_attr_of(node, name);
    if (!attr) return 1;
    if (attr->n_ints != (size_t)count) {
        return bad_attr(node, name, xpu_onnx_format(node, "it has %zu values, not %d", attr->n_ints, count));
    }
    for (int i = 0; i < count; i++) {
        if (attr->ints[i] < min || attr->ints[i] > MAX_EXTENT) {
            return bad_attr(node, name,
                            xpu_onnx_format(node, "value %d is %" PRId64 "; %" PRId64 " to %d are supported", i,
                                            attr->ints[i], min, MAX_EXTENT));
        }
        values[i] = attr->ints[i];
    }
    return 1;
}

/* The padding that keeps ceil(size / stride) positions, over both ends: max(reach - (the last step's share), 0). */
static int same_padding(const xpu_onnx_node *node, xpu_dim size, const window *win, int i, int64_t *padding) {
    xpu_dims *dims = &node->importer->graph->dims;
    int64_t stride = win->strides[i], reach = (win->kernel[i] - 1) * win->dilations[i] + 1, rest = 0;
    xpu_dim modulo = xpu_dim_op(dims, XPU_DIM_MOD, size, xpu_dim_const(dims, stride));
    if (stride > 1 && !xpu_dim_is_const(dims, modulo, &rest)) {
        xpu_onnx_refuse(
            node, "onnx-unsupported-form", "the padding depends on the size of the input",
            xpu_onnx_format(node, "auto_pad with stride %" PRId64 " over a dim of size %s", stride,
                            xpu_dim_text(dims, size, node->importer->scratch)),
            xpu_onnx_format(node, "give that dim a size, or a step that %" PRId64 " divides (--shape)", stride));
        return 0;
    }
    *padding = reach - (rest == 0 ? stride : rest);
    if (*padding < 0) *padding = 0;
    return 1;
}

/* pads, or what auto_pad stands for. */
static int read_pads(const xpu_onnx_node *node, xpu_value x, window *win) {
    const char *mode = xpu_onnx_attr_string(node, "auto_pad", "NOTSET");
    if (strcmp(mode, "NOTSET") == 0 || mode[0] == '\0') return read_list(node, "pads", 2 * win->n, 0, win->pads);
    if (strcmp(mode, "VALID") == 0) return 1;
    int upper = strcmp(mode, "SAME_UPPER") == 0;
    if (!upper && strcmp(mode, "SAME_LOWER") != 0) {
        return bad_attr(node, "auto_pad",
                        xpu_onnx_format(node, "it is '%s'; NOTSET, SAME_UPPER, SAME_LOWER and VALID are defined",
                                        xpu_escape(node->importer->scratch, mode, 40)));
    }
    for (int i = 0; i < win->n; i++) {
        int64_t padding = 0;
        if (!same_padding(node, xpu_onnx_info(node, x)->dims[2 + i], win, i, &padding)) return 0;
        int64_t less = padding / 2, more = padding - less;
        win->pads[i] = upper ? less : more;
        win->pads[win->n + i] = upper ? more : less;
    }
    return 1;
}

/* The spatial rank of x, [N, C, spatial...]; 0 after reporting. */
static int spatial_rank(const xpu_onnx_node *node, xpu_value x) {
    int n = xpu_onnx_info(node, x)->rank - 2;
    if (n >= 1 && n <= MAX_SPATIAL) return n;
    xpu_onnx_refuse(node, "onnx-unsupported-form", xpu_onnx_format(node, "%d-D is not supported", n < 0 ? 0 : n),
                    xpu_onnx_format(node, "the input has shape %s; [N,C,W] and [N,C,H,W] are supported",
                                    xpu_onnx_shape_text(node, x)),
                    NULL);
    return 0;
}

/* Everything but the kernel, which is there already. */
static int read_window(const xpu_onnx_node *node, xpu_value x, window *win) {
    for (int i = 0; i < win->n; i++) win->strides[i] = win->dilations[i] = 1;
    int ok = read_list(node, "strides", win->n, 1, win->strides);
    ok &= read_list(node, "dilations", win->n, 1, win->dilations);
    return ok && read_pads(node, x, win);
}

enum { WINDOW_ATTRS = 3 };
static void window_attrs(const window *win, xpu_attr attrs[WINDOW_ATTRS]) {
    uint32_t n = (uint32_t)win->n;
    attrs[0] = XPU_ATTR_INTS_OF(STRIDES, win->strides, n);
    attrs[1] = XPU_ATTR_INTS_OF(DILATIONS, win->dilations, n);
    attrs[2] = XPU_ATTR_INTS_OF(PADS, win->pads, 2 * n);
}

/* ---- converters ---- */

xpu_value xpu_onnx_conv(xpu_onnx_node *node, xpu_op_id op, const xpu_value *operands, uint32_t operand_count,
                        const xpu_attr *more, uint32_t more_count) {
    static const xpu_value failed = {0};
    xpu_value x = operands[0], w = operands[1];
    window win = {.n = spatial_rank(node, x)};
    if (!win.n) return failed;
    const xpu_value_info *weights = xpu_onnx_info(node, w);
    if (weights->rank != win.n + 2) {
        return xpu_onnx_refuse(node, "onnx-shape", "the weights have the wrong rank",
                               xpu_onnx_format(node, "they have shape %s, the input %s", xpu_onnx_shape_text(node, w),
                                               xpu_onnx_shape_text(node, x)),
                               NULL);
    }
    int64_t declared[MAX_SPATIAL];
    for (int i = 0; i < win.n; i++) {
        if (!xpu_dim_is_const(&node->importer->graph->dims, weights->dims[2 + i], &win.kernel[i])) {
            return xpu_onnx_refuse(node, "onnx-unsupported-form", "the size of the kernel is not constant",
                                   xpu_onnx_format(node, "the weights have shape %s", xpu_onnx_shape_text(node, w)),
                                   NULL);
        }
        declared[i] = win.kernel[i];
    }
    if (!read_list(node, "kernel_shape", win.n, 1, declared) || !read_window(node, x, &win)) return failed;
    if (memcmp(declared, win.kernel, (size_t)win.n * sizeof *declared) != 0) {
        return xpu_onnx_refuse(node, "onnx-shape", "attribute 'kernel_shape' does not fit the weights",
                               xpu_onnx_format(node, "the weights have shape %s", xpu_onnx_shape_text(node, w)), NULL);
    }
    int64_t group = xpu_onnx_attr_int(node, "group", 1);
    if (group < 1 || group > MAX_EXTENT) {
        bad_attr(node, "group", xpu_onnx_format(node, "it is %" PRId64, group));
        return failed;
    }
    enum { MORE = 4 };
    xpu_attr attrs[WINDOW_ATTRS + 1 + MORE];
    window_attrs(&win, attrs);
    attrs[WINDOW_ATTRS] = XPU_ATTR_INT_OF(GROUP, group);
    for (uint32_t i = 0; i < more_count && i < MORE; i++) attrs[WINDOW_ATTRS + 1 + i] = more[i];
    return xpu_onnx_build(node, op, operands, operand_count, attrs, WINDOW_ATTRS + 1 + more_count, 1);
}

xpu_value xpu_onnx_convert_conv(xpu_onnx_node *node) {
    return xpu_onnx_conv(node, XPU_OP_CONV, node->inputs, node->input_count, NULL, 0);
}

/* Whether onnxruntime 1.31 adds each column of a window first: up to opset 18, where a padded row and the window fit
 * its buffer, and not in QLinearAveragePool. */
static int adds_columns(const xpu_onnx_node *node, xpu_value x, const window *win) {
    enum { BUFFER = 2048 };
    int64_t width = 0;
    if (node->version >= 19 || node->is_inner || win->n != 2 || win->strides[1] > 2) return 0;
    const xpu_value_info *info = xpu_onnx_info(node, x);
    if (!xpu_dim_is_const(&node->importer->graph->dims, info->dims[info->rank - 1], &width)) width = 0;
    return win->kernel[0] > 1 && win->kernel[1] > 1 && width + win->pads[1] + win->pads[3] + win->kernel[1] <= BUFFER;
}

xpu_value xpu_onnx_convert_pool(xpu_onnx_node *node) {
    static const xpu_value failed = {0};
    xpu_value x = node->inputs[0];
    if (xpu_onnx_output_used(node, 1)) {
        return xpu_onnx_refuse(node, "onnx-unsupported-form", "the indices of the maxima are not supported",
                               xpu_onnx_format(node, "result 1 ('%s') is used",
                                               xpu_escape(node->importer->scratch, node->proto->output[1], 100)),
                               "export the model without them");
    }
    if (xpu_onnx_attr_int(node, "storage_order", 0) != 0) {
        return xpu_onnx_refuse(node, "onnx-unsupported-form", "storage_order is not supported",
                               "it is not 0 (row-major)", NULL);
    }
    window win = {.n = spatial_rank(node, x)};
    if (!win.n) return failed;
    if (!xpu_onnx_attr_of(node, "kernel_shape")) {
        bad_attr(node, "kernel_shape", "it is missing");
        return failed;
    }
    int ok = read_list(node, "kernel_shape", win.n, 1, win.kernel);
    int ceil_mode = xpu_onnx_attr_flag(node, "ceil_mode", 0, &ok);
    int include_pad = xpu_onnx_attr_flag(node, "count_include_pad", 0, &ok);
    if (!ok || !read_window(node, x, &win)) return failed;
    xpu_attr attrs[WINDOW_ATTRS + 4];
    window_attrs(&win, attrs);
    uint32_t count = WINDOW_ATTRS;
    attrs[count++] = XPU_ATTR_INTS_OF(KERNEL, win.kernel, (uint32_t)win.n);
    attrs[count++] = XPU_ATTR_INT_OF(CEIL_MODE, ceil_mode);
    if (node->row->op == XPU_OP_AVERAGE_POOL) {
        attrs[count++] = XPU_ATTR_INT_OF(COUNT_INCLUDE_PAD, include_pad);
        attrs[count++] = XPU_ATTR_INT_OF(BY_COLUMNS, adds_columns(node, x, &win));
    }
    return xpu_onnx_build(node, node->row->op, &x, 1, attrs, count, 1);
}

xpu_value xpu_onnx_convert_batch_norm(xpu_onnx_node *node) {
    int results = 0, ok = 1;
    for (uint32_t i = 1; i < node->proto->n_output; i++) results += node->proto->output[i][0] != '\0';
    int training = xpu_onnx_attr_flag(node, "training_mode", 0, &ok);
    int spatial = xpu_onnx_attr_flag(node, "spatial", 1, &ok);
    if (!ok) return (xpu_value){0};
    if (training || (results && node->version < 14)) {
        return xpu_onnx_refuse(node, "onnx-unsupported-form", "the training form is not supported",
                               training ? "training_mode is 1" : "the node has results besides the first",
                               "export the model for inference (model.eval())");
    }
    if (results) {
        return xpu_onnx_refuse(node, "onnx-operand", "the node has too many results",
                               "without training_mode there is one", NULL);
    }
    if (!spatial) {
        return xpu_onnx_refuse(node, "onnx-unsupported-form", "spatial = 0 is not supported",
                               "it normalises each element on its own", NULL);
    }
    xpu_attr epsilon = XPU_ATTR_FLOAT_OF(EPSILON, xpu_onnx_attr_float(node, "epsilon", 1e-5f));
    return xpu_onnx_build(node, XPU_OP_BATCH_NORM, node->inputs, 5, &epsilon, 1, 1);
}

/* ---- Pad ---- */

/* Pads of the listed axes (NULL: all), spread over all dims. */
static int spread_pads(const xpu_onnx_node *node, const int64_t *given, uint32_t count, const int64_t *axes,
                       uint32_t axis_count, int64_t pads[2 * XPU_MAX_RANK]) {
    int rank = xpu_onnx_info(node, node->inputs[0])->rank;
    uint32_t dims = axes ? axis_count : (uint32_t)rank;
    if (count != 2 * dims) {
        xpu_onnx_refuse(node, "onnx-operand", "the pads do not fit the input",
                        xpu_onnx_format(node, "%u values for %u dims", count, dims), NULL);
        return 0;
    }
    unsigned seen = 0;
    for (uint32_t i = 0; i < dims; i++) {
        int axis = axes ? xpu_onnx_axis(node, axes[i], rank) : (int)i;
        if (axis < 0) return 0;
        if (seen & 1u << axis) {
            xpu_onnx_refuse(node, "onnx-operand", "an axis is given twice", xpu_onnx_format(node, "axis %d", axis),
                            NULL);
            return 0;
        }
        seen |= 1u << axis;
        for (uint32_t end = 0; end < 2; end++) {
            int64_t pad = given[end * dims + i];
            if (pad > MAX_EXTENT || pad < -(int64_t)MAX_EXTENT) {
                xpu_onnx_refuse(node, "onnx-operand", "a pad is too large", xpu_onnx_format(node, "%" PRId64, pad),
                                NULL);
                return 0;
            }
            pads[end * (uint32_t)rank + (uint32_t)axis] = pad;
        }
    }
    return 1;
}

xpu_value xpu_onnx_convert_pad(xpu_onnx_node *node) {
    static const xpu_value failed = {0};
    const char *mode = xpu_onnx_attr_string(node, "mode", "constant");
    if (strcmp(mode, "constant") != 0 && strcmp(mode, "reflect") != 0 && strcmp(mode, "edge") != 0) {
        return xpu_onnx_refuse(
            node, "onnx-unsupported-form",
            xpu_onnx_format(node, "mode '%s' is not supported", xpu_escape(node->importer->scratch, mode, 40)),
            "constant, reflect and edge are supported", NULL);
    }
    float value = xpu_onnx_attr_float(node, "value", 0.0f);
    const xpu_onnx_attr_proto *attr = xpu_onnx_attr_of(node, "pads");
    const int64_t *given = attr ? attr->ints : NULL, *axes = NULL;
    uint32_t count = attr && attr->n_ints <= 64 ? (uint32_t)attr->n_ints : 0, axis_count = 0, most = 1;
    if (node->version >= 11) {
        most = node->version >= 18 ? 4 : 3;
        if (!xpu_onnx_has_input(node, 1)) {
            return xpu_onnx_refuse(node, "onnx-operand", "input 1 is missing", "from opset 11, the pads are an input",
                                   NULL);
        }
        given = xpu_onnx_const_ints(node, 1, &count);
        if (!given) return failed;
    } else if (!attr) {
        bad_attr(node, "pads", "it is missing");
        return failed;
    }
    if (node->input_count > most) {
        return xpu_onnx_refuse(node, "onnx-operand", "the node has too many inputs",
                               xpu_onnx_format(node, "Pad-%d has at most %u", node->version, most), NULL);
    }
    if (xpu_onnx_has_input(node, 2) && !xpu_onnx_const_float(node, 2, &value)) return failed;
    if (xpu_onnx_has_input(node, 3) && !(axes = xpu_onnx_const_ints(node, 3, &axis_count))) return failed;
    int64_t pads[2 * XPU_MAX_RANK] = {0};
    if (!spread_pads(node, given, count, axes, axis_count, pads)) return failed;
    uint32_t rank = (uint32_t)xpu_onnx_info(node, node->inputs[0])->rank;
    xpu_attr attrs[] = {XPU_ATTR_INTS_OF(PADS, pads, 2 * rank), XPU_ATTR_STRING_OF(MODE, mode),
                        XPU_ATTR_FLOAT_OF(VALUE, value)};
    return xpu_onnx_build(node, XPU_OP_PAD, node->inputs, 1, attrs, 3, 1);
}
