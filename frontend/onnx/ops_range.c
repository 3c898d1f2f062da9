/* Ranges, triangles, blocks of pixels. */
#include <math.h>
#include <string.h>

#include "frontend/onnx/importer.h"

static const xpu_value failed = {0};

/* The number of elements, where all operands are floats: constants. */
static int float_count(const xpu_onnx_node *node, xpu_dim *count) {
    float start, limit, step;
    if (!xpu_onnx_const_float(node, 0, &start) || !xpu_onnx_const_float(node, 1, &limit) ||
        !xpu_onnx_const_float(node, 2, &step)) {
        return 0;
    }
    double elements = ceil(((double)limit - (double)start) / (double)step);
    if (!(elements < 0x1p31) && !(elements <= 0)) {
        xpu_onnx_refuse(node, "onnx-operand", "the range has no end",
                        "its step is 0 or not a number, or it has 2^31 elements and more", NULL);
        return 0;
    }
    *count = xpu_dim_const(&node->importer->graph->dims, elements > 0 ? (int64_t)elements : 0);
    return 1;
}

/* The same of integers, which may be expressions. */
static int integer_count(const xpu_onnx_node *node, xpu_dim *count) {
    xpu_dims *table = &node->importer->graph->dims;
    fe_dims start, limit;
    fe_ints steps;
    if (!xpu_onnx_dim_list(node, 0, &start) || !xpu_onnx_dim_list(node, 1, &limit) ||
        !xpu_onnx_const_ints(node, 2, &steps)) {
        return 0;
    }
    int64_t step = steps.count == 1 ? steps.items[0] : 0;
    if (start.count != 1 || limit.count != 1 || !step || step > FE_MAX_STEP || step < -FE_MAX_STEP) {
        xpu_onnx_refuse(node, "onnx-operand", "an operand is invalid",
                        "start, limit and step are scalars, and the step is not 0", NULL);
        return 0;
    }
    const int64_t width = step < 0 ? -step : step;
    xpu_dim low = step < 0 ? limit.items[0] : start.items[0], high = step < 0 ? start.items[0] : limit.items[0];
    xpu_dim span = xpu_dim_add(table, high, xpu_dim_mul_const(table, low, -1));
    span = xpu_dim_op(table, XPU_DIM_MAX, span, xpu_dim_const(table, 0));
    *count = xpu_dim_floordiv_const(table, xpu_dim_add_const(table, span, width - 1), width);
    return 1;
}

xpu_value xpu_onnx_convert_range(xpu_onnx_node *node) {
    const xpu_dtype dtype = xpu_onnx_info(node, node->inputs[0])->dtype;
    xpu_dim count;
    for (uint32_t i = 0; i < 3; i++) {
        xpu_dtype own = xpu_onnx_info(node, node->inputs[i])->dtype;
        if (own == dtype && (own == XPU_F32 || own == XPU_I16 || own == XPU_I32 || own == XPU_I64)) continue;
        return xpu_onnx_refuse(node, "onnx-dtype", xpu_onnx_format(node, "input %u is %s", i, xpu_dtype_name(own)),
                               "all are float32, int16, int32 or int64", NULL);
    }
    const int is_list = dtype == XPU_I32 || dtype == XPU_I64;
    if (is_list ? !integer_count(node, &count) : !float_count(node, &count)) return failed;
    return fe_range(&node->build, node->inputs[0], node->inputs[2], count);
}

xpu_value xpu_onnx_convert_trilu(xpu_onnx_node *node) {
    int ok = 1, upper = xpu_onnx_attr_flag(node, "upper", 1, &ok);
    return ok ? fe_triangle(&node->build, node->inputs[0], xpu_onnx_optional(node, 1), upper) : failed;
}

xpu_value xpu_onnx_convert_depth_to_space(xpu_onnx_node *node) {
    const char *mode = xpu_onnx_attr_string(node, "mode", "DCR");
    int columns_first = strcmp(mode, "CRD") == 0;
    if (!columns_first && strcmp(mode, "DCR") != 0) {
        fe_bad_attr(&node->build, "mode", "DCR and CRD are defined");
        return failed;
    }
    return fe_depth_to_space(&node->build, node->inputs[0], xpu_onnx_attr_int(node, "blocksize", 0), columns_first);
}

xpu_value xpu_onnx_convert_space_to_depth(xpu_onnx_node *node) {
    return fe_space_to_depth(&node->build, node->inputs[0], xpu_onnx_attr_int(node, "blocksize", 0));
}

/* Operand 1 is the axis. */
xpu_value xpu_onnx_convert_cumulate(xpu_onnx_node *node) {
    int ok = 1;
    fe_cumulation form = {.op = node->row->op,
                          .exclusive = xpu_onnx_attr_flag(node, "exclusive", 0, &ok),
                          .backwards = xpu_onnx_attr_flag(node, "reverse", 0, &ok)};
    fe_ints axis;
    if (!ok || !xpu_onnx_const_ints(node, 1, &axis)) return failed;
    if (axis.count != 1) {
        return xpu_onnx_refuse(node, "onnx-operand", "the axis is not one number",
                               xpu_onnx_format(node, "it has %zu", axis.count), NULL);
    }
    form.axis = axis.items[0];
    return fe_cumulate(&node->build, node->inputs[0], &form);
}

/* The number of places: an expression where it is of integers. */
static int read_depth(const xpu_onnx_node *node, xpu_dim *depth) {
    xpu_dims *table = &node->importer->graph->dims;
    const xpu_dtype dtype = xpu_onnx_info(node, node->inputs[1])->dtype;
    float number;
    fe_dims list;
    if (dtype == XPU_I32 || dtype == XPU_I64) {
        if (!xpu_onnx_dim_list(node, 1, &list)) return 0;
        if (list.count == 1) *depth = list.items[0];
    } else {
        if (!xpu_onnx_const_float(node, 1, &number)) return 0;
        list.count = number >= 0 && number < 0x1p31f;
        if (list.count) *depth = xpu_dim_const(table, (int64_t)number);
    }
    if (list.count == 1 && xpu_dim_max(table, *depth) >= 0) return 1;
    xpu_onnx_refuse(node, "onnx-operand", "the depth is invalid", "it is one number, not below 0", NULL);
    return 0;
}

xpu_value xpu_onnx_convert_one_hot(xpu_onnx_node *node) {
    xpu_dim depth;
    if (!read_depth(node, &depth)) return failed;
    const xpu_dtype dtype = xpu_onnx_info(node, node->inputs[0])->dtype;
    if (xpu_compute_of(dtype) == XPU_COMPUTE_COUNT || dtype == XPU_BOOL) {
        return xpu_onnx_refuse(node, "onnx-dtype", xpu_onnx_format(node, "input 0 is %s", xpu_dtype_name(dtype)),
                               "indices are integers, float16, bfloat16 or float32", NULL);
    }
    return fe_one_hot(&node->build, node->inputs[0], depth, node->inputs[2], xpu_onnx_attr_int(node, "axis", -1));
}

/* The type that attribute `name` gives, or `fallback` without it; XPU_DTYPE_NONE after reporting. */
static xpu_dtype dtype_attr(const xpu_onnx_node *node, const char *name, xpu_dtype fallback) {
    const xpu_onnx_attr_proto *attr = xpu_onnx_attr_of(node, name);
    const int code = attr ? (int)xpu_onnx_attr_int(node, name, 0) : 0;
    const xpu_dtype dtype = attr ? xpu_onnx_dtype(code) : fallback;
    if (xpu_compute_of(dtype) != XPU_COMPUTE_COUNT) return dtype;
    const char *text = dtype == XPU_DTYPE_NONE ? xpu_onnx_dtype_name(code) : xpu_dtype_name(dtype);
    xpu_onnx_refuse(node, "onnx-dtype", xpu_onnx_format(node, "the result is %s", text),
                    "it may be bool, an integer, float16, bfloat16 or float32", NULL);
    return XPU_DTYPE_NONE;
}

xpu_value xpu_onnx_convert_eye_like(xpu_onnx_node *node) {
    const xpu_dtype dtype = dtype_attr(node, "dtype", xpu_onnx_info(node, node->inputs[0])->dtype);
    if (dtype == XPU_DTYPE_NONE) return failed;
    return fe_eye(&node->build, node->inputs[0], xpu_onnx_attr_int(node, "k", 0), dtype);
}

/* a[0] - a[1] cos(2 pi i / N) + a[2] cos(4 pi i / N), N the size, or of symmetric ones the size - 1. */
xpu_value xpu_onnx_convert_window(xpu_onnx_node *node) {
    enum { MAX_SIZE = 1 << 20 };
    static const struct {
        const char *name;
        double a[3];
    } windows[] = {{"HannWindow", {0.5, 0.5, 0}},
                   {"HammingWindow", {25.0 / 46, 21.0 / 46, 0}},
                   {"BlackmanWindow", {0.42, 0.5, 0.08}}};
    const double *a = NULL, pi = 3.14159265358979323846;
    for (size_t i = 0; i < sizeof windows / sizeof *windows; i++) {
        if (strcmp(windows[i].name, node->row->name) == 0) a = windows[i].a;
    }
    int ok = 1, periodic = xpu_onnx_attr_flag(node, "periodic", 1, &ok);
    const xpu_dtype dtype = dtype_attr(node, "output_datatype", XPU_F32);
    fe_ints size;
    if (!ok || dtype == XPU_DTYPE_NONE || !xpu_onnx_const_ints(node, 0, &size)) return failed;
    if (size.count != 1 || size.items[0] < 0 || size.items[0] > MAX_SIZE) {
        return xpu_onnx_refuse(node, "onnx-operand", "the size is invalid",
                               xpu_onnx_format(node, "it is one number from 0 to %d", MAX_SIZE), NULL);
    }
    const size_t count = (size_t)size.items[0];
    const double angle = 2 * pi / (double)(periodic ? count : count > 1 ? count - 1 : 1);
    float *data = XPU_NEW_ARRAY(node->build.scratch, float, count + 1);
    for (size_t i = 0; i < count; i++) {
        data[i] = (float)(a[0] - a[1] * cos(angle * (double)i) + a[2] * cos(2 * angle * (double)i));
    }
    xpu_tensor tensor = {.dtype = XPU_F32, .rank = 1, .dims = {(int64_t)count}, .data = data};
    return fe_convert(&node->build, xpu_graph_const_bytes(node->build.graph, NULL, &tensor), dtype);
}
