/*
 * Quantised operators. The QLinear forms are read as what they mean: DequantizeLinear of the operands, the float
 * operator, QuantizeLinear of the result; core/passes/quantised.c then finds these groups again, and those of models
 * that were written so.
 */
#include <string.h>

#include "frontend/onnx/importer.h"

static const xpu_value none = {0};

/* Forms of opset 21 and 23 that differ in more than a name. `type`: the attribute that names the type to compute in. */
static int plain_form(const xpu_onnx_node *node, const char *type) {
    if (xpu_onnx_attr_int(node, "block_size", 0) != 0) {
        xpu_onnx_refuse(node, "onnx-unsupported-form", "blocked quantisation is not supported",
                        "attribute 'block_size' is not 0", "quantise per tensor or per channel");
        return 0;
    }
    int code = (int)xpu_onnx_attr_int(node, type, 0);
    if (code == 0 || xpu_onnx_dtype(code) == XPU_F32) return 1;
    xpu_onnx_refuse(node, "onnx-unsupported-form", "the quantisation does not compute in float32",
                    xpu_onnx_format(node, "attribute '%s' is %s", type, xpu_onnx_dtype_name(code)),
                    "quantise with float32 scales");
    return 0;
}

static fe_scales scales_of(const xpu_onnx_node *node) {
    return (fe_scales){node->inputs[1], xpu_onnx_optional(node, 2), xpu_onnx_attr_int(node, "axis", 1)};
}

xpu_value xpu_onnx_convert_quantize(xpu_onnx_node *node) {
    fe_scales scales = scales_of(node);
    int code = (int)xpu_onnx_attr_int(node, "output_dtype", 0);
    if (!plain_form(node, "precision")) return none;
    return fe_quantize(&node->build, node->inputs[0], &scales, code ? xpu_onnx_dtype(code) : XPU_U8, 0);
}

xpu_value xpu_onnx_convert_dequantize(xpu_onnx_node *node) {
    fe_scales scales = scales_of(node);
    return plain_form(node, "output_dtype") ? fe_dequantize(&node->build, node->inputs[0], &scales) : none;
}

xpu_value xpu_onnx_convert_dynamic_quantize(xpu_onnx_node *node) {
    xpu_value results[3];
    return fe_dynamic_quantize(&node->build, node->inputs[0], results) ? results[0] : none;
}

/* ---- QLinear operators ---- */

/* The axis along which scales of operand `index` vary: output channels of weights. */
static int64_t scale_axis(const xpu_onnx_node *node, const char *inner, int index, xpu_value x) {
    if (index == 0) return 0;
    if (strcmp(inner, "Conv") == 0 || xpu_onnx_attr_int(node, "transB", 0)) return 0;
    return xpu_onnx_info(node, x)->rank - 1;
}

static int is_gemm(const xpu_onnx_node *node) {
    return strcmp(node->row->inner, "Gemm") == 0;
}

/* The scale of the first operand. QGemm's alpha is part of it, as the scale of C is alpha * a_scale * b_scale. */
static xpu_value first_scale(xpu_onnx_node *node, xpu_value scale) {
    return fe_scaled_scale(&node->build, scale, is_gemm(node) ? xpu_onnx_attr_float(node, "alpha", 1.0f) : 1.0f);
}

static xpu_value dequantise_bias(xpu_onnx_node *node, xpu_value x_scale, uint32_t input) {
    xpu_value bias = node->inputs[input];
    if (is_gemm(node)) {
        bias = fe_column_bias(&node->build, bias, node->inputs[3], xpu_onnx_attr_int(node, "transB", 0) != 0);
    }
    return fe_dequantize_bias(&node->build, bias, x_scale, node->inputs[4]);
}

/* What the letters of a row's layout stand for, in the order of the inputs. */
typedef struct {
    xpu_value *operands; /* float32, of the inner operator */
    uint32_t count;
    xpu_value x_scale, y_scale, y_zero;
    int ok;
} unpacked;

static void unpack_operand(xpu_onnx_node *node, unpacked *u, uint32_t input) {
    xpu_value x = node->inputs[input], scale = node->inputs[input + 1], zero = xpu_onnx_optional(node, input + 2);
    int64_t axis = scale_axis(node, node->row->inner, (int)u->count, x);
    if (u->count == 0) u->x_scale = scale = first_scale(node, scale);
    xpu_value value = scale.id ? fe_dequantize(&node->build, x, &(fe_scales){scale, zero, axis}) : none;
    u->ok &= value.id != 0;
    u->operands[u->count++] = value;
}

/* Triples up to the last input. */
static void unpack_list(xpu_onnx_node *node, unpacked *u, uint32_t input) {
    uint32_t count = node->input_count - input;
    if (count % 3 != 0) {
        xpu_onnx_refuse(node, "onnx-operand", "the last operand is incomplete",
                        xpu_onnx_format(node,
                                        "%u inputs follow the result's scale and zero point; operands take three each",
                                        count),
                        NULL);
        u->ok = 0;
    }
    for (; input < node->input_count && u->ok; input += 3) unpack_operand(node, u, input);
}

static unpacked unpack(xpu_onnx_node *node) {
    unpacked u = {.operands = XPU_NEW_ARRAY(node->importer->scratch, xpu_value, node->input_count), .ok = 1};
    uint32_t input = 0;
    for (const char *letter = node->row->layout; *letter && u.ok; letter++) {
        if (*letter == 'x') {
            unpack_operand(node, &u, input);
            input += 3;
        } else if (*letter == 'y') {
            u.y_scale = xpu_onnx_optional(node, input);
            u.y_zero = xpu_onnx_optional(node, input + 1);
            input += 2;
        } else if (*letter == 'b') {
            if (xpu_onnx_has_input(node, input)) {
                u.operands[u.count] = dequantise_bias(node, u.x_scale, input);
                u.ok &= u.operands[u.count++].id != 0;
            }
            input++;
        } else { /* '*' */
            unpack_list(node, &u, input);
        }
    }
    return u;
}

xpu_value xpu_onnx_convert_qlinear(xpu_onnx_node *node) {
    if (xpu_onnx_attr_int(node, "channels_last", 0) != 0) {
        return xpu_onnx_refuse(node, "onnx-unsupported-form", "channels_last is not supported", "it is not 0",
                               "quantise the model before its layout is changed");
    }
    const xpu_onnx_row *inner_row = xpu_onnx_find_row(node->row->inner, "");
    node->build.inner = 1;
    unpacked u = unpack(node);
    if (!u.ok) return none;
    if (!u.y_scale.id || (is_gemm(node) && !u.y_zero.id)) {
        return xpu_onnx_refuse(node, "onnx-unsupported-form", "the form with a float32 result is not supported",
                               "the scale or the zero point of the result is missing",
                               "give the result a scale and a zero point");
    }
    xpu_dtype dtype = xpu_onnx_info(node, u.y_zero.id ? u.y_zero : node->inputs[0])->dtype;
    xpu_onnx_node inner = *node;
    inner.row = inner_row;
    inner.version = xpu_onnx_known_version(inner_row->name, (int)xpu_onnx_attr_int(node, "opset", XPU_ONNX_MAX_OPSET));
    inner.inputs = u.operands;
    inner.input_count = u.count;
    xpu_value result = inner.row->convert(&inner);
    node->build.made = inner.build.made;
    node->build.inner = 0;
    int is_average = strcmp(node->row->inner, "AveragePool") == 0; /* which adds the zero point before it rounds */
    return result.id ? fe_quantize(&node->build, result, &(fe_scales){u.y_scale, u.y_zero, 0}, dtype, is_average)
                     : result;
}
