/* Attention, rotary embedding, gated activations. */
#include <inttypes.h>

#include "frontend/onnx/importer.h"

static const xpu_value failed = {0};

/* A float operand as float32. */
static xpu_value as_float(xpu_onnx_node *node, uint32_t input) {
    return xpu_onnx_as_float32(node, xpu_onnx_optional(node, input));
}

/* The type of operand 0, which is one of floats, as is every other one of `inputs` (bits); XPU_DTYPE_NONE after
 * reporting. */
static xpu_dtype float_type(const xpu_onnx_node *node, unsigned inputs) {
    for (uint32_t i = 0; i < node->input_count; i++) {
        if (!node->inputs[i].id || !(inputs >> i & 1)) continue;
        xpu_dtype own = xpu_onnx_info(node, node->inputs[i])->dtype;
        if (xpu_onnx_is_float(own)) continue;
        xpu_onnx_refuse(node, "onnx-dtype", xpu_onnx_format(node, "input %u is %s", i, xpu_dtype_name(own)),
                        "it is float32, float16 or bfloat16", "export the model in float32");
        return XPU_DTYPE_NONE;
    }
    return xpu_onnx_info(node, node->inputs[0])->dtype;
}

xpu_value xpu_onnx_convert_rotary_embedding(xpu_onnx_node *node) {
    int ok = 1;
    const fe_rotation form = {.heads = xpu_onnx_attr_int(node, "num_heads", 0),
                              .size = xpu_onnx_attr_int(node, "rotary_embedding_dim", 0),
                              .interleaved = xpu_onnx_attr_flag(node, "interleaved", 0, &ok)};
    const xpu_dtype dtype = float_type(node, 7);
    if (!ok || dtype == XPU_DTYPE_NONE) return failed;
    node->build.inner = dtype != XPU_F32;
    const fe_rotary_operands in = {as_float(node, 0), as_float(node, 1), as_float(node, 2), xpu_onnx_optional(node, 3)};
    xpu_value y = fe_rotary_embedding(&node->build, &in, &form);
    node->build.inner = 0;
    return dtype == XPU_F32 || !y.id ? y : fe_convert(&node->build, y, dtype);
}

/* The attributes; 0 after reporting. Of the softmax's own precision float32 is enough. */
static int read_attention(const xpu_onnx_node *node, fe_attention_form *form) {
    int ok = 1;
    *form = (fe_attention_form){.q_heads = xpu_onnx_attr_int(node, "q_num_heads", 0),
                                .kv_heads = xpu_onnx_attr_int(node, "kv_num_heads", 0),
                                .left = xpu_onnx_attr_int(node, "left_window_size", -1),
                                .right = xpu_onnx_attr_int(node, "right_window_size", -1),
                                .scale = xpu_onnx_attr_float(node, "scale", 0.0f),
                                .softcap = xpu_onnx_attr_float(node, "softcap", 0.0f),
                                .is_causal = xpu_onnx_attr_flag(node, "is_causal", 0, &ok)};
    const int64_t stage = xpu_onnx_attr_int(node, "qk_matmul_output_mode", 0);
    if (stage < 0 || stage > 3) return fe_bad_attr(&node->build, "qk_matmul_output_mode", "0 to 3 are defined");
    if (form->left < -1) return fe_bad_attr(&node->build, "left_window_size", "it is -1 or not below 0");
    if (form->right < -1) return fe_bad_attr(&node->build, "right_window_size", "it is -1 or not below 0");
    if (xpu_onnx_attr_of(node, "scale") && form->scale <= 0)
        return fe_bad_attr(&node->build, "scale", "it is not above 0");
    form->stage = (int)stage;
    form->pads_mask = node->version >= 24;
    if (xpu_onnx_has_input(node, 4) == xpu_onnx_has_input(node, 5)) return ok;
    xpu_onnx_refuse(node, "onnx-operand", "the past is not whole", "keys and values of the past come together", NULL);
    return 0;
}

xpu_value xpu_onnx_convert_attention(xpu_onnx_node *node) {
    enum { FLOATS = 1 << 0 | 1 << 1 | 1 << 2 | 1 << 4 | 1 << 5 };
    fe_attention_form form;
    const xpu_dtype dtype = float_type(node, FLOATS);
    if (dtype == XPU_DTYPE_NONE || !read_attention(node, &form)) return failed;
    node->build.inner = dtype != XPU_F32;
    const fe_attention_operands in = {as_float(node, 0),          as_float(node, 1), as_float(node, 2),
                                      xpu_onnx_optional(node, 3), as_float(node, 4), as_float(node, 5),
                                      xpu_onnx_optional(node, 6)};
    xpu_value results[FE_ATTENTION_RESULTS];
    int ok = fe_attention(&node->build, &in, &form, results);
    for (uint32_t i = 1; ok && i < node->proto->n_output; i++) {
        node->build.inner = 1;
        node->results[i] = dtype == XPU_F32 ? results[i] : fe_convert(&node->build, results[i], dtype);
    }
    node->build.inner = 0;
    return !ok ? failed : dtype == XPU_F32 ? results[0] : fe_convert(&node->build, results[0], dtype);
}

xpu_value xpu_onnx_convert_swiglu(xpu_onnx_node *node) {
    const float alpha = xpu_onnx_attr_float(node, "alpha", 1.0f);
    fe_builder *b = &node->build;
    xpu_value gate = fe_node(b, XPU_OP_SWISH, node->inputs, 1, &XPU_ATTR_FLOAT_OF(ALPHA, alpha), 1, 0);
    if (!gate.id) return gate;
    xpu_value y = fe_elementwise(b, XPU_OP_MUL, (xpu_value[]){gate, node->inputs[1]}, 2, NULL, 0);
    return fe_broadcasts_to(b, node->inputs[0], y) && fe_broadcasts_to(b, node->inputs[1], y) ? y : failed;
}
