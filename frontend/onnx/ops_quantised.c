/*
 * Quantised operators. The QLinear forms are read as what they mean: DequantizeLinear of the operands, the float
 * operator, QuantizeLinear of the result; core/passes/quantised.c then finds these groups again, and those of models
 * that were written so.
 */
#include <string.h>

#include "frontend/onnx/importer.h"

static const xpu_value none = {0};

/* x, scale and zero point as a DEQUANTIZE; `zero` may be {0}. */
static xpu_value dequantise(xpu_onnx_node *node, xpu_value x, xpu_value scale, xpu_value zero, int64_t axis, int last) {
    xpu_value operands[] = {x, scale, zero};
    return xpu_onnx_build(node, XPU_OP_DEQUANTIZE, operands, zero.id ? 3 : 2, &XPU_ATTR_INT_OF(AXIS, axis), 1, last);
}

static xpu_value quantise(xpu_onnx_node *node, xpu_value x, xpu_value scale, xpu_value zero, xpu_dtype dtype,
                          int64_t axis) {
    xpu_value operands[] = {x, scale, zero};
    xpu_attr attrs[] = {XPU_ATTR_INT_OF(AXIS, axis), XPU_ATTR_INT_OF(DTYPE, dtype)};
    return xpu_onnx_build(node, XPU_OP_QUANTIZE, operands, zero.id ? 3 : 2, attrs, 2, 1);
}

static xpu_value optional_input(const xpu_onnx_node *node, uint32_t input) {
    return input < node->input_count ? node->inputs[input] : none;
}

/* Forms of opset 21 that differ in more than a name. */
static int plain_form(const xpu_onnx_node *node) {
    if (xpu_onnx_attr_int(node, "block_size", 0) == 0) return 1;
    xpu_onnx_refuse(node, "onnx-unsupported-form", "blocked quantisation is not supported",
                    "attribute 'block_size' is not 0", "quantise per tensor or per channel");
    return 0;
}

xpu_value xpu_onnx_convert_quantize(xpu_onnx_node *node) {
    xpu_value zero = optional_input(node, 2);
    int code = (int)xpu_onnx_attr_int(node, "output_dtype", 0);
    xpu_dtype dtype = zero.id ? xpu_onnx_info(node, zero)->dtype : code ? xpu_onnx_dtype(code) : XPU_U8;
    if (!plain_form(node)) return none;
    return quantise(node, node->inputs[0], node->inputs[1], zero, dtype, xpu_onnx_attr_int(node, "axis", 1));
}

xpu_value xpu_onnx_convert_dequantize(xpu_onnx_node *node) {
    if (!plain_form(node)) return none;
    return dequantise(node, node->inputs[0], node->inputs[1], optional_input(node, 2),
                      xpu_onnx_attr_int(node, "axis", 1), 1);
}

xpu_value xpu_onnx_convert_dynamic_quantize(xpu_onnx_node *node) {
    xpu_onnx_importer *importer = node->importer;
    const char *names[3] = {NULL};
    for (size_t i = 0; i < 3 && i < node->proto->n_output; i++) {
        if (node->proto->output[i][0]) names[i] = node->proto->output[i];
    }
    xpu_node made = xpu_graph_add(importer->graph, (xpu_node){0}, xpu_op_of(XPU_OP_DYNAMIC_QUANTIZE), node->inputs, 1,
                                  names, 3, NULL, 0, &node->origin, 1);
    if (xpu_op_infer(importer->graph, made, importer->diags) != XPU_OK) return none;
    return xpu_node_output(importer->graph, made, 0);
}

/* ---- QLinear operators ---- */

/* The axis along which scales of operand `index` vary: output channels of weights. */
static int64_t scale_axis(const xpu_onnx_node *node, const char *inner, int index, xpu_value x) {
    if (index == 0) return 0;
    if (strcmp(inner, "Conv") == 0 || xpu_onnx_attr_int(node, "transB", 0)) return 0;
    return xpu_onnx_info(node, x)->rank - 1;
}

/* The int32 bias: its scale is the product of those of x and w. */
static xpu_value dequantise_bias(xpu_onnx_node *node, uint32_t input) {
    if (!xpu_onnx_has_input(node, input)) return none;
    xpu_value scales[] = {node->inputs[1], node->inputs[4]};
    xpu_value scale = xpu_onnx_build(node, XPU_OP_MUL, scales, 2, NULL, 0, 0);
    return scale.id ? dequantise(node, node->inputs[input], scale, none, 0, 0) : scale;
}

/* What the letters of a row's layout stand for, in the order of the inputs. */
typedef struct {
    xpu_value operands[XPU_ONNX_MAX_QUANTISED]; /* float32, of the inner operator */
    uint32_t count;
    xpu_value y_scale, y_zero;
    int ok;
} unpacked;

static void unpack_operand(xpu_onnx_node *node, unpacked *u, uint32_t input) {
    xpu_value x = node->inputs[input], zero = optional_input(node, input + 2);
    int64_t axis = scale_axis(node, node->row->inner, (int)u->count, x);
    xpu_value value = dequantise(node, x, node->inputs[input + 1], zero, axis, 0);
    u->ok &= value.id != 0;
    u->operands[u->count++] = value;
}

static unpacked unpack(xpu_onnx_node *node) {
    unpacked u = {.ok = 1};
    uint32_t input = 0;
    for (const char *letter = node->row->layout; *letter && u.ok; letter++) {
        if (*letter == 'x') {
            unpack_operand(node, &u, input);
            input += 3;
        } else if (*letter == 'y') {
            u.y_scale = optional_input(node, input);
            u.y_zero = optional_input(node, input + 1);
            input += 2;
        } else if (*letter == 'b') {
            u.operands[u.count] = dequantise_bias(node, input);
            u.ok &= !xpu_onnx_has_input(node, input) || u.operands[u.count].id;
            u.count += xpu_onnx_has_input(node, input++) != 0;
        } else { /* '*': triples up to the end */
            for (; input + 2 < node->input_count && u.count < XPU_ONNX_MAX_QUANTISED; input += 3) {
                unpack_operand(node, &u, input);
            }
            if (u.ok && input != node->input_count) {
                xpu_onnx_refuse(node, "onnx-unsupported-form", "it has too many operands, or an incomplete one",
                                xpu_printf(node->importer->arena,
                                           "%u inputs; operands take three each, and at most %d are supported",
                                           node->input_count, XPU_ONNX_MAX_QUANTISED),
                                "concatenate in steps");
                u.ok = 0;
            }
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
    unpacked u = unpack(node);
    if (!u.ok) return none;
    if (!u.y_scale.id) {
        return xpu_onnx_refuse(node, "onnx-unsupported-form", "the form with a float32 result is not supported",
                               "the scale of the result is missing", "give the result a scale and a zero point");
    }
    xpu_dtype dtype = xpu_onnx_info(node, u.y_zero.id ? u.y_zero : node->inputs[0])->dtype;
    xpu_onnx_node inner = *node;
    inner.row = inner_row;
    inner.version = xpu_onnx_known_version(inner_row->name, (int)xpu_onnx_attr_int(node, "opset", XPU_ONNX_MAX_OPSET));
    inner.inputs = u.operands;
    inner.input_count = u.count;
    inner.is_inner = 1;
    xpu_value result = inner.row->convert(&inner);
    node->made = inner.made;
    return result.id ? quantise(node, result, u.y_scale, u.y_zero, dtype, 0) : result;
}

/* ---- products that stay integers ---- */

/* A zero point of ConvInteger or MatMulInteger: its value where it is constant, else the operand itself. */
typedef struct {
    int64_t value;
    xpu_value operand;
    int ok;
} zero_point;

static zero_point refuse_zero(const xpu_onnx_node *node, uint32_t input, const char *what, const char *hint) {
    xpu_onnx_refuse(node, "onnx-unsupported-form", what, xpu_onnx_format(node, "input %u", input), hint);
    return (zero_point){.ok = 0};
}

static zero_point read_zero(const xpu_onnx_node *node, uint32_t input) {
    const xpu_onnx_importer *importer = node->importer;
    zero_point zero = {.ok = 1};
    if (!xpu_onnx_has_input(node, input)) return zero;
    const xpu_value_info *info = xpu_onnx_info(node, node->inputs[input]);
    if (!info->constant) {
        if (input == 2 && info->rank == 0) return (zero_point){.operand = node->inputs[input], .ok = 1};
        return refuse_zero(node, input, "a zero point is computed at run time",
                           "only the one of x may be, as a scalar");
    }
    xpu_tensor tensor;
    if (xpu_const_tensor(importer->graph, node->inputs[input], importer->scratch, &tensor, importer->diags) != XPU_OK) {
        return (zero_point){.ok = 0};
    }
    const uint8_t *bytes = tensor.data;
    if (xpu_dtype_bytes(tensor.dtype) != 1) return refuse_zero(node, input, "a zero point is no 8-bit integer", NULL);
    for (int64_t i = 0; i < xpu_tensor_count(&tensor); i++) {
        zero.value = tensor.dtype == XPU_I8 ? (int8_t)bytes[i] : bytes[i];
        if (bytes[i] != bytes[0])
            return refuse_zero(node, input, "the zero points of the channels differ", "quantise with one zero point");
    }
    return zero;
}

xpu_value xpu_onnx_convert_integer_product(xpu_onnx_node *node) {
    zero_point x = read_zero(node, 2), w = read_zero(node, 3);
    if (!x.ok || !w.ok) return none;
    xpu_value operands[XPU_IN_COUNT] = {
        [XPU_IN_X] = node->inputs[0], [XPU_IN_W] = node->inputs[1], [XPU_IN_XZERO] = x.operand};
    xpu_attr attrs[] = {XPU_ATTR_INT_OF(DTYPE, XPU_I32), XPU_ATTR_INT_OF(X_ZERO, x.value),
                        XPU_ATTR_INT_OF(W_ZERO, w.value)};
    uint32_t count = x.operand.id ? XPU_IN_COUNT : 2;
    if (node->row->op == XPU_OP_QCONV) return xpu_onnx_conv(node, XPU_OP_QCONV, operands, count, attrs, 3);
    for (uint32_t i = 0; i < 2; i++) {
        if (xpu_onnx_info(node, operands[i])->rank >= 2) continue;
        return xpu_onnx_refuse(
            node, "onnx-unsupported-form", "an operand is no matrix",
            xpu_onnx_format(node, "input %u has shape %s", i, xpu_onnx_shape_text(node, operands[i])), NULL);
    }
    return xpu_onnx_build(node, XPU_OP_QMATMUL, operands, count, attrs, 3, 1);
}
