/* Losses, and crops around the middle. */
#include <inttypes.h>

#include "frontend/onnx/importer.h"

static const xpu_value failed = {0};

/* Operand 0 and the weights are floats, the targets int32 or int64; 0 after reporting. */
static int check_types(const xpu_onnx_node *node) {
    for (uint32_t i = 0; i < node->input_count; i++) {
        if (!node->inputs[i].id) continue;
        const xpu_dtype own = xpu_onnx_info(node, node->inputs[i])->dtype;
        if (i == 1 ? own == XPU_I32 || own == XPU_I64 : xpu_onnx_is_float(own)) continue;
        xpu_onnx_refuse(node, "onnx-dtype", xpu_onnx_format(node, "input %u is %s", i, xpu_dtype_name(own)),
                        "targets are int32 or int64, all else is float32, float16 or bfloat16", NULL);
        return 0;
    }
    return 1;
}

/* The second result of SoftmaxCrossEntropyLoss is the logarithms. */
xpu_value xpu_onnx_convert_loss(xpu_onnx_node *node) {
    if (!check_types(node)) return failed;
    const xpu_dtype dtype = xpu_onnx_info(node, node->inputs[0])->dtype;
    const xpu_onnx_attr_proto *ignored = xpu_onnx_attr_of(node, "ignore_index");
    const int64_t index = ignored ? xpu_onnx_attr_int(node, "ignore_index", 0) : 0;
    const fe_loss form = {.reduction = xpu_onnx_attr_string(node, "reduction", "mean"),
                          .ignored = ignored ? &index : NULL};
    node->build.inner = 1;
    xpu_value x = xpu_onnx_as_float32(node, node->inputs[0]),
              weight = xpu_onnx_as_float32(node, xpu_onnx_optional(node, 2));
    if (node->row->max_outputs == 2) {
        x = fe_log_softmax(&node->build, x, 1, 0);
        if (node->proto->n_output > 1 && x.id) {
            node->results[1] = dtype == XPU_F32 ? x : fe_convert(&node->build, x, dtype);
        }
    }
    node->build.inner = dtype != XPU_F32;
    xpu_value y = fe_likelihood_loss(&node->build, x, node->inputs[1], weight, &form);
    node->build.inner = 0;
    return dtype == XPU_F32 || !y.id ? y : fe_convert(&node->build, y, dtype);
}

xpu_value xpu_onnx_convert_center_crop_pad(xpu_onnx_node *node) {
    fe_ints shape;
    if (!xpu_onnx_const_ints(node, 1, &shape)) return failed;
    return fe_center_crop_pad(&node->build, node->inputs[0], shape, xpu_onnx_attr_ints(node, "axes"));
}
