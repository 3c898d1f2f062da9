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
