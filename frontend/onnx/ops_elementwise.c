#include <float.h>
#include <math.h>
#include <string.h>

#include "frontend/onnx/importer.h"

/* The row's attributes that the node has. */
static uint32_t float_attrs(const xpu_onnx_node *node, xpu_attr *attrs) {
    uint32_t count = 0;
    for (const xpu_onnx_attr_rule *rule = node->row->attrs; rule->name; rule++) {
        const xpu_onnx_attr_proto *attr = xpu_onnx_attr_of(node, rule->name);
        if (attr && rule->sets) attrs[count++] = (xpu_attr){.id = (xpu_attr_id)(rule->sets - 1), .f = attr->f};
    }
    return count;
}

xpu_value xpu_onnx_convert_elementwise(xpu_onnx_node *node) {
    xpu_attr attrs[XPU_ONNX_MAX_ATTRS];
    uint32_t count = float_attrs(node, attrs);
    xpu_value y = fe_elementwise(&node->build, node->row->op, node->inputs, node->input_count, attrs, count);
    if (!y.id || !node->row->keeps_shape) return y;
    return fe_broadcasts_to(&node->build, node->inputs[0], y) ? y : (xpu_value){0};
}

xpu_value xpu_onnx_convert_gelu(xpu_onnx_node *node) {
    const char *approximate = xpu_onnx_attr_string(node, "approximate", "none");
    int is_tanh = strcmp(approximate, "tanh") == 0;
    if (!is_tanh && strcmp(approximate, "none") != 0) {
        return xpu_onnx_refuse(node, "onnx-attribute", "attribute 'approximate' is invalid",
                               "\"none\" and \"tanh\" are defined", NULL);
    }
    return fe_elementwise(&node->build, is_tanh ? XPU_OP_GELU_TANH : XPU_OP_GELU, node->inputs, 1, NULL, 0);
}

xpu_value xpu_onnx_convert_pow(xpu_onnx_node *node) {
    return fe_pow(&node->build, node->inputs[0], node->inputs[1]);
}

xpu_value xpu_onnx_convert_mean(xpu_onnx_node *node) {
    return fe_mean(&node->build, node->inputs, node->input_count);
}

/* Max, Min and Sum of any number of operands: pairs, from the left. */
xpu_value xpu_onnx_convert_variadic(xpu_onnx_node *node) {
    return fe_variadic(&node->build, node->row->op, node->inputs, node->input_count);
}

/* Of integers: the larger of x and the lower bound, then the smaller of that and the upper one. */
static xpu_value clip_integers(xpu_onnx_node *node) {
    int has_low = xpu_onnx_has_input(node, 1), has_high = xpu_onnx_has_input(node, 2);
    xpu_value y = node->inputs[0];
    if (!has_low && !has_high) return fe_identity(&node->build, y);
    int inner = node->build.inner;
    if (has_low) {
        node->build.inner = inner || has_high;
        y = fe_elementwise(&node->build, XPU_OP_MAX, (xpu_value[]){y, node->inputs[1]}, 2, NULL, 0);
        node->build.inner = inner;
    }
    if (!has_high || !y.id) return y;
    return fe_elementwise(&node->build, XPU_OP_MIN, (xpu_value[]){y, node->inputs[2]}, 2, NULL, 0);
}

/* Without bounds ONNX clips to the range of finite values. */
xpu_value xpu_onnx_convert_clip(xpu_onnx_node *node) {
    xpu_dtype dtype = xpu_onnx_info(node, node->inputs[0])->dtype;
    float most = dtype == XPU_F16 ? 65504.0f : dtype == XPU_BF16 ? 0x1.fep127f : FLT_MAX;
    float low = xpu_onnx_attr_float(node, "min", -most), high = xpu_onnx_attr_float(node, "max", most);
    if (node->version < 11 && node->input_count > 1) {
        return xpu_onnx_refuse(node, "onnx-operand", "the node has too many inputs",
                               "before opset 11, the bounds of Clip are attributes", NULL);
    }
    xpu_compute class_id = xpu_compute_of(dtype);
    if (class_id != XPU_COMPUTE_F32 && class_id != XPU_COMPUTE_COUNT) return clip_integers(node);
    int ok = 1;
    if (xpu_onnx_has_input(node, 1)) ok &= xpu_onnx_const_float(node, 1, &low);
    if (xpu_onnx_has_input(node, 2)) ok &= xpu_onnx_const_float(node, 2, &high);
    return ok ? fe_clip(&node->build, node->inputs[0], low, high) : (xpu_value){0};
}

/* To the type that "to" names; CastLike: to that of its second operand. */
xpu_value xpu_onnx_convert_cast(xpu_onnx_node *node) {
    int code = (int)xpu_onnx_attr_int(node, "to", 0);
    xpu_dtype dtype = node->input_count > 1 ? xpu_onnx_info(node, node->inputs[1])->dtype : xpu_onnx_dtype(code);
    if (xpu_compute_of(dtype) == XPU_COMPUTE_COUNT) {
        const char *name = dtype == XPU_DTYPE_NONE ? xpu_onnx_dtype_name(code) : xpu_dtype_name(dtype);
        return xpu_onnx_refuse(node, "onnx-dtype", xpu_onnx_format(node, "the result is %s", name),
                               "casts are between bool, integers, float16, bfloat16 and float32",
                               "cast to float32 in the model");
    }
    return fe_convert(&node->build, node->inputs[0], dtype);
}

xpu_value xpu_onnx_convert_bit_shift(xpu_onnx_node *node) {
    const char *direction = xpu_onnx_attr_string(node, "direction", "");
    int is_left = strcmp(direction, "LEFT") == 0;
    if (!is_left && strcmp(direction, "RIGHT") != 0) {
        return xpu_onnx_refuse(node, "onnx-attribute", "attribute 'direction' is invalid",
                               "\"LEFT\" and \"RIGHT\" are defined", NULL);
    }
    return fe_elementwise(&node->build, is_left ? XPU_OP_SHIFT_LEFT : XPU_OP_SHIFT_RIGHT, node->inputs, 2, NULL, 0);
}

xpu_value xpu_onnx_convert_mod(xpu_onnx_node *node) {
    int ok = 1, fmod = xpu_onnx_attr_flag(node, "fmod", 0, &ok);
    if (!ok) return (xpu_value){0};
    return fe_elementwise(&node->build, fmod ? XPU_OP_FMOD : XPU_OP_MOD, node->inputs, 2, NULL, 0);
}

/* A NaN is not equal to itself. */
xpu_value xpu_onnx_convert_is_nan(xpu_onnx_node *node) {
    xpu_value equal =
        fe_node(&node->build, XPU_OP_EQUAL, (xpu_value[]){node->inputs[0], node->inputs[0]}, 2, NULL, 0, 0);
    return equal.id ? fe_node(&node->build, XPU_OP_NOT, &equal, 1, NULL, 0, 1) : equal;
}

xpu_value xpu_onnx_convert_is_inf(xpu_onnx_node *node) {
    int ok = 1, below = xpu_onnx_attr_flag(node, "detect_negative", 1, &ok);
    int above = xpu_onnx_attr_flag(node, "detect_positive", 1, &ok);
    if (!ok) return (xpu_value){0};
    if (!below && !above) {
        return xpu_onnx_refuse(node, "onnx-unsupported-form", "nothing is detected",
                               "detect_negative and detect_positive are 0", NULL);
    }
    fe_builder *b = &node->build;
    float infinity = above ? INFINITY : -INFINITY;
    xpu_tensor tensor = {.dtype = XPU_F32, .rank = 0, .data = &infinity};
    xpu_value x = node->inputs[0];
    if (fe_info(b, x)->dtype != XPU_F32) x = fe_node(b, XPU_OP_CONVERT, &x, 1, &XPU_ATTR_INT_OF(DTYPE, XPU_F32), 1, 0);
    if (x.id && above && below) x = fe_node(b, XPU_OP_ABS, &x, 1, NULL, 0, 0);
    if (!x.id) return x;
    xpu_value pair[] = {x, xpu_graph_const_bytes(b->graph, NULL, &tensor)};
    return fe_node(b, XPU_OP_EQUAL, pair, 2, NULL, 0, 1);
}
