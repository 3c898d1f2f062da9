#include <float.h>

#include "frontend/onnx/importer.h"

xpu_value xpu_onnx_convert_unary(xpu_onnx_node *node) {
    return fe_elementwise(&node->build, node->row->op, node->inputs, 1, NULL, 0);
}

xpu_value xpu_onnx_convert_binary(xpu_onnx_node *node) {
    return fe_elementwise(&node->build, node->row->op, node->inputs, 2, NULL, 0);
}

/* Max and Min of any number of operands: pairs, from the left. */
xpu_value xpu_onnx_convert_variadic(xpu_onnx_node *node) {
    return fe_variadic(&node->build, node->row->op, node->inputs, node->input_count);
}

/* Without bounds ONNX clips to the range of finite float32 values. */
xpu_value xpu_onnx_convert_clip(xpu_onnx_node *node) {
    float low = xpu_onnx_attr_float(node, "min", -FLT_MAX), high = xpu_onnx_attr_float(node, "max", FLT_MAX);
    if (node->version < 11 && node->input_count > 1) {
        return xpu_onnx_refuse(node, "onnx-operand", "the node has too many inputs",
                               "before opset 11, the bounds of Clip are attributes", NULL);
    }
    int ok = 1;
    if (xpu_onnx_has_input(node, 1)) ok &= xpu_onnx_const_float(node, 1, &low);
    if (xpu_onnx_has_input(node, 2)) ok &= xpu_onnx_const_float(node, 2, &high);
    return ok ? fe_clip(&node->build, node->inputs[0], low, high) : (xpu_value){0};
}

xpu_value xpu_onnx_convert_leaky_relu(xpu_onnx_node *node) {
    xpu_attr alpha = XPU_ATTR_FLOAT_OF(ALPHA, xpu_onnx_attr_float(node, "alpha", 0.01f));
    return fe_elementwise(&node->build, XPU_OP_LEAKY_RELU, node->inputs, 1, &alpha, 1);
}

xpu_value xpu_onnx_convert_hard_sigmoid(xpu_onnx_node *node) {
    xpu_attr attrs[] = {XPU_ATTR_FLOAT_OF(ALPHA, xpu_onnx_attr_float(node, "alpha", 0.2f)),
                        XPU_ATTR_FLOAT_OF(BETA, xpu_onnx_attr_float(node, "beta", 0.5f))};
    return fe_elementwise(&node->build, XPU_OP_HARD_SIGMOID, node->inputs, 1, attrs, 2);
}
