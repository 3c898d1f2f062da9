#include "frontend/onnx/importer.h"

xpu_value xpu_onnx_convert_gemm(xpu_onnx_node *node) {
    /* QGemm's alpha is in the scale of A already */
    fe_gemm_form form = {.alpha = node->build.inner ? 1.0f : xpu_onnx_attr_float(node, "alpha", 1.0f),
                         .beta = xpu_onnx_attr_float(node, "beta", 1.0f),
                         .transpose_a = xpu_onnx_attr_int(node, "transA", 0) != 0,
                         .transpose_b = xpu_onnx_attr_int(node, "transB", 0) != 0};
    if (node->version < 11 && !xpu_onnx_has_input(node, 2)) {
        return xpu_onnx_refuse(node, "onnx-operand", "input 2 is missing", "before opset 11, Gemm requires C", NULL);
    }
    return fe_gemm(&node->build, node->inputs[0], node->inputs[1], xpu_onnx_optional(node, 2), &form);
}

xpu_value xpu_onnx_convert_matmul(xpu_onnx_node *node) {
    return fe_matmul(&node->build, node->inputs[0], node->inputs[1]);
}

xpu_value xpu_onnx_convert_integer_product(xpu_onnx_node *node) {
    const xpu_value *in = node->inputs, x_zero = xpu_onnx_optional(node, 2), w_zero = xpu_onnx_optional(node, 3);
    if (node->row->op == XPU_OP_QMATMUL) return fe_integer_matmul(&node->build, in[0], in[1], x_zero, w_zero);
    fe_convolution conv = xpu_onnx_convolution(node);
    return fe_integer_conv(&node->build, in[0], in[1], x_zero, w_zero, &conv);
}

xpu_value xpu_onnx_convert_einsum(xpu_onnx_node *node) {
    const char *equation = xpu_onnx_attr_string(node, "equation", NULL);
    const xpu_dtype dtype = xpu_onnx_info(node, node->inputs[0])->dtype;
    for (uint32_t i = 0; i < node->input_count; i++) {
        const xpu_dtype own = xpu_onnx_info(node, node->inputs[i])->dtype;
        if (own == dtype && own != XPU_BOOL && xpu_compute_of(own) != XPU_COMPUTE_COUNT) continue;
        return xpu_onnx_refuse(node, "onnx-dtype", xpu_onnx_format(node, "input %u is %s", i, xpu_dtype_name(own)),
                               "all are integers, float16, bfloat16 or float32 of one type", NULL);
    }
    if (equation) return fe_einsum(&node->build, equation, node->inputs, node->input_count);
    fe_bad_attr(&node->build, "equation", "it is missing");
    return (xpu_value){0};
}
