/* Operators that hold subgraphs. */
#include <string.h>

#include "frontend/onnx/importer.h"

/* Whether the condition is known, and what it is; -1 after reporting. */
static int known_condition(const xpu_onnx_node *node, xpu_value condition, int *is_true) {
    const xpu_onnx_importer *importer = node->importer;
    const xpu_value_info *info = xpu_onnx_info(node, condition);
    xpu_tensor tensor;
    if (info->dtype != XPU_BOOL) {
        xpu_onnx_refuse(node, "onnx-dtype", xpu_onnx_format(node, "the condition is %s", xpu_dtype_name(info->dtype)),
                        "bool is expected", NULL);
        return -1;
    }
    if (!info->constant) return 0;
    if (xpu_const_tensor(importer->graph, condition, importer->scratch, &tensor, importer->diags) != XPU_OK) return -1;
    if (xpu_tensor_count(&tensor) != 1) {
        xpu_onnx_refuse(
            node, "onnx-operand", "the condition is invalid",
            xpu_onnx_format(node, "it has shape %s; one element is expected", fe_shape_text(&node->build, condition)),
            NULL);
        return -1;
    }
    *is_true = *(const uint8_t *)tensor.data != 0;
    return 1;
}

/* The branch that is taken stands in place of the node; the other one is not looked at. */
xpu_value xpu_onnx_convert_if(xpu_onnx_node *node) {
    int is_true = 0, known = known_condition(node, node->inputs[0], &is_true);
    if (known < 0) return (xpu_value){0};
    if (known == 0) {
        return xpu_onnx_refuse(node, "onnx-unsupported-form", "the condition is computed at run time",
                               "which branch is taken has to be known when the model is compiled",
                               "fix with --shape what the condition depends on");
    }
    const char *branch = is_true ? "then_branch" : "else_branch";
    if (!xpu_onnx_read_subgraph(node, branch, NULL, 0, node->results, (uint32_t)node->proto->n_output)) {
        node->results[0] = (xpu_value){0};
    }
    return node->results[0];
}
