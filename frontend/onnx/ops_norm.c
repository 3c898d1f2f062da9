/* Norms. */
#include <inttypes.h>

#include "frontend/onnx/importer.h"

static const xpu_value failed = {0};

/* Norms compute in float32. */
static int stashes_float32(const xpu_onnx_node *node) {
    const int64_t stash = xpu_onnx_attr_int(node, "stash_type", 1);
    if (stash == 1) return 1;
    xpu_onnx_refuse(node, "onnx-unsupported-form", "the norm is not computed in float32",
                    xpu_onnx_format(node, "stash_type is %" PRId64, stash), NULL);
    return 0;
}

/* Results are the normalised tensor, then mean and 1 / deviation, which are float32. */
xpu_value xpu_onnx_convert_layer_norm(xpu_onnx_node *node) {
    fe_norm form = {.axis = xpu_onnx_attr_int(node, "axis", -1),
                    .epsilon = xpu_onnx_attr_float(node, "epsilon", 1e-5f),
                    .centred = node->row->max_inputs == 3};
    if (!stashes_float32(node)) return failed;
    const xpu_value x = node->inputs[0];
    if (xpu_onnx_output_used(node, 1) || xpu_onnx_output_used(node, 2)) {
        xpu_value statistics[2];
        if (!fe_layer_statistics(&node->build, x, &form, statistics)) return failed;
        for (uint32_t i = 1; i < node->proto->n_output; i++) node->results[i] = statistics[i - 1];
    }
    return fe_layer_norm(&node->build, x, node->inputs[1], xpu_onnx_optional(node, 2), &form);
}

xpu_value xpu_onnx_convert_instance_norm(xpu_onnx_node *node) {
    return fe_group_norm(&node->build, node->inputs[0], node->inputs[1], node->inputs[2], 0, 0,
                         xpu_onnx_attr_float(node, "epsilon", 1e-5f));
}

/* Before opset 21, scale and bias are by group. */
xpu_value xpu_onnx_convert_group_norm(xpu_onnx_node *node) {
    const int64_t groups = xpu_onnx_attr_int(node, "num_groups", 0);
    if (groups < 1) {
        fe_bad_attr(&node->build, "num_groups", "it is missing, or below 1");
        return failed;
    }
    if (!stashes_float32(node)) return failed;
    return fe_group_norm(&node->build, node->inputs[0], node->inputs[1], node->inputs[2], groups, node->version < 21,
                         xpu_onnx_attr_float(node, "epsilon", 1e-5f));
}

xpu_value xpu_onnx_convert_mean_variance_norm(xpu_onnx_node *node) {
    return fe_mean_variance_norm(&node->build, node->inputs[0], xpu_onnx_attr_ints(node, "axes"));
}

xpu_value xpu_onnx_convert_lp_norm(xpu_onnx_node *node) {
    return fe_lp_norm(&node->build, node->inputs[0], xpu_onnx_attr_int(node, "axis", -1),
                      xpu_onnx_attr_int(node, "p", 2));
}

xpu_value xpu_onnx_convert_lrn(xpu_onnx_node *node) {
    const fe_response form = {.alpha = xpu_onnx_attr_float(node, "alpha", 1e-4f),
                              .beta = xpu_onnx_attr_float(node, "beta", 0.75f),
                              .bias = xpu_onnx_attr_float(node, "bias", 1.0f),
                              .size = xpu_onnx_attr_int(node, "size", 0)};
    return fe_local_response_norm(&node->build, node->inputs[0], &form);
}

/* Before opset 13, the axes from `axis` on are one. */
xpu_value xpu_onnx_convert_log_softmax(xpu_onnx_node *node) {
    int whole = node->version < 13;
    return fe_log_softmax(&node->build, node->inputs[0], xpu_onnx_attr_int(node, "axis", whole ? 1 : -1), whole);
}

xpu_value xpu_onnx_convert_hardmax(xpu_onnx_node *node) {
    int whole = node->version < 13;
    return fe_hardmax(&node->build, node->inputs[0], xpu_onnx_attr_int(node, "axis", whole ? 1 : -1), whole);
}
