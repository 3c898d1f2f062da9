/* LSTM, GRU, RNN. */
#include <string.h>

#include "frontend/onnx/importer.h"

static fe_recurrent_kind kind_of(const xpu_onnx_node *node) {
    return strcmp(node->row->name, "LSTM") == 0 ? FE_LSTM : strcmp(node->row->name, "GRU") == 0 ? FE_GRU : FE_RNN;
}

static int read_form(const xpu_onnx_node *node, fe_recurrence *form) {
    const xpu_onnx_attr_proto *names = xpu_onnx_attr_of(node, "activations");
    const xpu_onnx_attr_proto *alpha = xpu_onnx_attr_of(node, "activation_alpha");
    const xpu_onnx_attr_proto *beta = xpu_onnx_attr_of(node, "activation_beta");
    int ok = 1;
    *form = (fe_recurrence){.direction = xpu_onnx_attr_string(node, "direction", "forward"),
                            .hidden_size = xpu_onnx_attr_int(node, "hidden_size", 0),
                            .clip = xpu_onnx_attr_float(node, "clip", 0.0f),
                            .input_forget = xpu_onnx_attr_flag(node, "input_forget", 0, &ok),
                            .linear_before_reset = xpu_onnx_attr_int(node, "linear_before_reset", 0) != 0,
                            .layout = xpu_onnx_attr_flag(node, "layout", 0, &ok)};
    if (alpha) form->alpha = alpha->floats, form->alpha_count = alpha->n_floats;
    if (beta) form->beta = beta->floats, form->beta_count = beta->n_floats;
    if (names) form->activations = xpu_onnx_attr_strings(node, "activations", &form->activation_count);
    return ok;
}

/* The type of all operands but sequence_lens; XPU_DTYPE_NONE after reporting. */
static xpu_dtype common_type(const xpu_onnx_node *node) {
    xpu_dtype dtype = xpu_onnx_info(node, node->inputs[0])->dtype;
    for (uint32_t i = 0; i < node->input_count; i++) {
        if (!node->inputs[i].id) continue;
        xpu_dtype own = xpu_onnx_info(node, node->inputs[i])->dtype;
        int fits = i == 4 ? own == XPU_I32 : own == dtype && xpu_onnx_is_float(own);
        if (fits) continue;
        const char *why = i == 4 ? "lengths are int32" : "all are float32, float16 or bfloat16";
        xpu_onnx_refuse(node, "onnx-dtype", xpu_onnx_format(node, "input %u is %s", i, xpu_dtype_name(own)), why,
                        "export the model in float32");
        return XPU_DTYPE_NONE;
    }
    return dtype;
}

static xpu_value operand(xpu_onnx_node *node, uint32_t input) {
    xpu_value value = xpu_onnx_optional(node, input);
    return input == 4 ? value : xpu_onnx_as_float32(node, value);
}

xpu_value xpu_onnx_convert_recurrent(xpu_onnx_node *node) {
    static const xpu_value failed = {0};
    fe_recurrence form;
    xpu_dtype dtype = common_type(node);
    if (!read_form(node, &form) || dtype == XPU_DTYPE_NONE) return failed;
    node->build.inner = dtype != XPU_F32;
    fe_recurrent_operands in = {operand(node, 0), operand(node, 1), operand(node, 2), operand(node, 3),
                                operand(node, 4), operand(node, 5), operand(node, 6), operand(node, 7)};
    xpu_value results[3];
    uint32_t count = fe_recurrent(&node->build, kind_of(node), &in, &form, results);
    node->build.inner = 0;
    for (uint32_t i = 0; i < count && i < node->proto->n_output; i++) {
        fe_builder own = node->build;
        own.names += i;
        if (!own.names[0][0]) continue;
        node->results[i] = dtype == XPU_F32 ? results[i] : fe_convert(&own, results[i], dtype);
    }
    return !count ? failed : node->results[0].id ? node->results[0] : results[0];
}
