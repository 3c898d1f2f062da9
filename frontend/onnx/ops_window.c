/* Operators that slide a window, batch normalisation, and padding. */
#include <inttypes.h>

#include "base/compare.h"
#include "frontend/onnx/importer.h"

static fe_window window_of(const xpu_onnx_node *node) {
    return (fe_window){.kernel_shape = xpu_onnx_attr_ints(node, "kernel_shape"),
                       .strides = xpu_onnx_attr_ints(node, "strides"),
                       .dilations = xpu_onnx_attr_ints(node, "dilations"),
                       .pads = xpu_onnx_attr_ints(node, "pads"),
                       .auto_pad = xpu_onnx_attr_string(node, "auto_pad", NULL)};
}

fe_convolution xpu_onnx_convolution(const xpu_onnx_node *node) {
    return (fe_convolution){.window = window_of(node), .group = xpu_onnx_attr_int(node, "group", 1)};
}

xpu_value xpu_onnx_convert_conv(xpu_onnx_node *node) {
    fe_convolution conv = xpu_onnx_convolution(node);
    return fe_conv(&node->build, node->inputs[0], node->inputs[1], xpu_onnx_optional(node, 2), &conv);
}

xpu_value xpu_onnx_convert_conv_transpose(xpu_onnx_node *node) {
    fe_transposed_convolution conv = {.window = window_of(node),
                                      .group = xpu_onnx_attr_int(node, "group", 1),
                                      .output_padding = xpu_onnx_attr_ints(node, "output_padding"),
                                      .output_shape = xpu_onnx_attr_ints(node, "output_shape")};
    return fe_conv_transpose(&node->build, node->inputs[0], node->inputs[1], xpu_onnx_optional(node, 2), &conv);
}

xpu_value xpu_onnx_convert_pool(xpu_onnx_node *node) {
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
    fe_pooling pool = {.window = window_of(node),
                       .ceil_mode = xpu_onnx_attr_int(node, "ceil_mode", 0),
                       .count_include_pad = xpu_onnx_attr_int(node, "count_include_pad", 0),
                       .by_columns = node->version < 19 && !node->build.inner}; /* nor in QLinearAveragePool */
    return fe_pool(&node->build, node->row->op, node->inputs[0], &pool);
}

xpu_value xpu_onnx_convert_global_max_pool(xpu_onnx_node *node) {
    return fe_global_max_pool(&node->build, node->inputs[0]);
}

xpu_value xpu_onnx_convert_global_lp_pool(xpu_onnx_node *node) {
    return fe_global_lp_pool(&node->build, node->inputs[0], (float)xpu_onnx_attr_int(node, "p", 2));
}

xpu_value xpu_onnx_convert_lp_pool(xpu_onnx_node *node) {
    const fe_pooling pool = {.window = window_of(node), .ceil_mode = xpu_onnx_attr_int(node, "ceil_mode", 0)};
    return fe_lp_pool(&node->build, node->inputs[0], &pool, (float)xpu_onnx_attr_int(node, "p", 2));
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
    const xpu_value *in = node->inputs;
    return fe_batch_norm(&node->build, in[0], in[1], in[2], in[3], in[4], xpu_onnx_attr_float(node, "epsilon", 1e-5f));
}

/* Whether a pad of an integer type is best a value of its own: it is computed, or the attribute, a float, or the words
 * of a fill do not hold it. */
static int is_wide_pad(const xpu_onnx_node *node, const xpu_value_info *info) {
    enum { WIDE = 8, EXACT = 1 << 24 };
    xpu_compute class = xpu_compute_of(info->dtype);
    xpu_tensor tensor;
    int integer = info->dtype != XPU_BOOL && class != XPU_COMPUTE_F32 && class != XPU_COMPUTE_COUNT;
    if (!integer || info->dtype != xpu_onnx_info(node, node->inputs[0])->dtype) return 0;
    if (!info->constant) return 1;
    if (xpu_const_tensor(node->build.graph, node->inputs[2], node->build.scratch, &tensor, node->build.diags) !=
            XPU_OK ||
        xpu_tensor_count(&tensor) != 1)
        return 0;
    double value = xpu_element(&tensor, 0);
    if (xpu_dtype_bytes(info->dtype) == WIDE) return value != 0 && (value != -1 || info->dtype == XPU_U64);
    return value > EXACT || value < -EXACT;
}

static int read_pad_value(xpu_onnx_node *node, fe_padding *padding) {
    const xpu_value_info info = *xpu_onnx_info(node, node->inputs[2]);
    int64_t size = 1;
    int single = info.rank == 0 ||
                 (info.rank == 1 && xpu_dim_is_const(&node->build.graph->dims, info.dims[0], &size) && size == 1);
    if (!single || !is_wide_pad(node, &info)) return xpu_onnx_const_float(node, 2, &padding->value);
    padding->integer = node->inputs[2];
    if (info.rank == 1) padding->integer = fe_reshape_to(&node->build, node->inputs[2], NULL, 0, 0);
    return padding->integer.id != 0;
}

xpu_value xpu_onnx_convert_pad(xpu_onnx_node *node) {
    static const xpu_value failed = {0};
    fe_padding padding = {.mode = xpu_onnx_attr_string(node, "mode", "constant"),
                          .value = xpu_onnx_attr_float(node, "value", 0.0f),
                          .pads = xpu_onnx_attr_ints(node, "pads")};
    uint32_t most = node->version >= 18 ? 4 : node->version >= 11 ? 3 : 1;
    if (node->version >= 11 && !xpu_onnx_has_input(node, 1)) {
        return xpu_onnx_refuse(node, "onnx-operand", "input 1 is missing", "from opset 11, the pads are an input",
                               NULL);
    }
    if (node->version >= 11 && !xpu_onnx_const_ints(node, 1, &padding.pads)) return failed;
    if (!padding.pads.items) {
        fe_bad_attr(&node->build, "pads", "it is missing");
        return failed;
    }
    if (node->input_count > most) {
        return xpu_onnx_refuse(node, "onnx-operand", "the node has too many inputs",
                               xpu_onnx_format(node, "Pad-%d has at most %u", node->version, most), NULL);
    }
    if (xpu_onnx_has_input(node, 2) && !read_pad_value(node, &padding)) return failed;
    if (xpu_onnx_has_input(node, 3) && !xpu_onnx_const_ints(node, 3, &padding.axes)) return failed;
    return fe_pad(&node->build, node->inputs[0], &padding);
}
