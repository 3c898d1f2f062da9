/*
 * Quantised operators. The QLinear forms are read as what they mean: DequantizeLinear of the operands, the float
 * operator, QuantizeLinear of the result; core/passes/quantised.c then finds these groups again, and those of models
 * that were written so.
 */
#include <math.h>
#include <string.h>

#include "frontend/onnx/importer.h"

static const xpu_value none = {0};

/* Constant scales are finite, and those that divide are not 0: ONNX does not say what the results are then. */
static int scales_are_good(xpu_onnx_node *node, xpu_value scale, int divides) {
    const xpu_onnx_importer *importer = node->importer;
    xpu_tensor tensor;
    if (!scale.id || !xpu_onnx_info(node, scale)->constant || xpu_onnx_info(node, scale)->dtype != XPU_F32) return 1;
    if (xpu_const_tensor(importer->graph, scale, importer->scratch, &tensor, importer->diags) != XPU_OK) return 0;
    const float *scales = tensor.data;
    for (int64_t i = 0; i < xpu_tensor_count(&tensor); i++) {
        if (isfinite(scales[i]) && (!divides || scales[i] != 0)) continue;
        xpu_onnx_refuse(node, "onnx-operand", "a scale is invalid",
                        xpu_onnx_format(node, "element %lld of '%s' is %g", (long long)i,
                                        xpu_escape(importer->scratch, xpu_onnx_info(node, scale)->name, 100),
                                        (double)scales[i]),
                        divides ? "quantise with finite scales other than 0" : "quantise with finite scales");
        return 0;
    }
    return 1;
}

/* x, scale and zero point as a DEQUANTIZE; `zero` may be {0}. */
static xpu_value dequantise(xpu_onnx_node *node, xpu_value x, xpu_value scale, xpu_value zero, int64_t axis, int last) {
    if (!scales_are_good(node, scale, 0)) return none;
    xpu_value operands[] = {x, scale, zero};
    return xpu_onnx_build(node, XPU_OP_DEQUANTIZE, operands, zero.id ? 3 : 2, &XPU_ATTR_INT_OF(AXIS, axis), 1, last);
}

static xpu_value quantise(xpu_onnx_node *node, xpu_value x, xpu_value scale, xpu_value zero, xpu_dtype dtype,
                          int64_t axis, int zero_first) {
    if (!scales_are_good(node, scale, 1)) return none;
    xpu_value operands[] = {x, scale, zero};
    xpu_attr attrs[] = {XPU_ATTR_INT_OF(AXIS, axis), XPU_ATTR_INT_OF(DTYPE, dtype), XPU_ATTR_INT_OF(ZERO_FIRST, 1)};
    return xpu_onnx_build(node, XPU_OP_QUANTIZE, operands, zero.id ? 3 : 2, attrs, zero_first ? 3 : 2, 1);
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
    return quantise(node, node->inputs[0], node->inputs[1], zero, dtype, xpu_onnx_attr_int(node, "axis", 1), 0);
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

static int is_gemm(const xpu_onnx_node *node) {
    return strcmp(node->row->inner, "Gemm") == 0;
}

/* The scale of the first operand. QGemm's alpha is part of it, as the scale of C is alpha * a_scale * b_scale. */
static xpu_value first_scale(xpu_onnx_node *node, xpu_value scale) {
    float alpha = is_gemm(node) ? xpu_onnx_attr_float(node, "alpha", 1.0f) : 1.0f;
    if (alpha == 1.0f) return scale;
    xpu_value pair[] = {xpu_graph_const_f32(node->importer->graph, NULL, alpha), scale};
    return xpu_onnx_build(node, XPU_OP_MUL, pair, 2, NULL, 0, 0);
}

static xpu_value reshaped(xpu_onnx_node *node, xpu_value value, int64_t size) {
    xpu_dim dim = xpu_dim_const(&node->importer->graph->dims, size);
    if (xpu_onnx_info(node, value)->kind != XPU_VALUE_CONST) return xpu_onnx_reshape(node, value, &dim, 1, 0);
    xpu_const_step step = {.kind = XPU_STEP_RESHAPE, .rank = 1, .dims = {size}};
    return xpu_onnx_derive(node, value, &step);
}

/* A constant of one element, `count` times. */
static xpu_value repeated(xpu_onnx_node *node, xpu_value value, int64_t count) {
    const xpu_onnx_importer *importer = node->importer;
    xpu_tensor one, all = {.dtype = XPU_I32, .rank = 1, .dims = {count}};
    if (xpu_const_tensor(importer->graph, value, importer->scratch, &one, importer->diags) != XPU_OK) return none;
    int32_t *elements = XPU_NEW_ARRAY(importer->scratch, int32_t, count);
    for (int64_t i = 0; i < count; i++) elements[i] = *(const int32_t *)one.data;
    all.data = elements;
    return xpu_graph_const_bytes(importer->graph, NULL, &all);
}

/* QGemm's C as one int32 for each column. */
static xpu_value bias_of_columns(xpu_onnx_node *node, uint32_t input) {
    const xpu_dims *table = &node->importer->graph->dims;
    xpu_value c = node->inputs[input];
    const xpu_value_info *info = xpu_onnx_info(node, c), *b = xpu_onnx_info(node, node->inputs[3]);
    int64_t sizes[2] = {1, 1}, columns = 0;
    int good = info->rank <= 2 && b->rank == 2 && info->dtype == XPU_I32;
    for (int i = 0; i < info->rank && good; i++)
        good = xpu_dim_is_const(table, info->dims[i], &sizes[2 - info->rank + i]);
    if (good) good = xpu_dim_is_const(table, b->dims[xpu_onnx_attr_int(node, "transB", 0) ? 0 : 1], &columns);
    if (good && sizes[0] == 1 && sizes[1] == columns) return info->rank == 1 ? c : reshaped(node, c, columns);
    if (good && sizes[0] == 1 && sizes[1] == 1 && info->constant) return repeated(node, c, columns);
    return xpu_onnx_refuse(node, "onnx-unsupported-form", "this shape of C is not supported",
                           xpu_onnx_format(node, "it is %s%s; int32 of one row or one constant is",
                                           xpu_dtype_name(info->dtype), xpu_onnx_shape_text(node, c)),
                           "write DequantizeLinear, Gemm, QuantizeLinear instead of QGemm");
}

/* The int32 bias: its scale is the product of those of x, as it is dequantised, and w. */
static xpu_value dequantise_bias(xpu_onnx_node *node, xpu_value x_scale, uint32_t input) {
    xpu_value bias = is_gemm(node) ? bias_of_columns(node, input) : node->inputs[input];
    if (!bias.id || !x_scale.id) return none;
    xpu_value scales[] = {x_scale, node->inputs[4]};
    xpu_value scale = xpu_onnx_build(node, XPU_OP_MUL, scales, 2, NULL, 0, 0);
    return scale.id ? dequantise(node, bias, scale, none, 0, 0) : scale;
}

/* What the letters of a row's layout stand for, in the order of the inputs. */
typedef struct {
    xpu_value *operands; /* float32, of the inner operator */
    uint32_t count;
    xpu_value x_scale, y_scale, y_zero;
    int ok;
} unpacked;

static void unpack_operand(xpu_onnx_node *node, unpacked *u, uint32_t input) {
    xpu_value x = node->inputs[input], scale = node->inputs[input + 1], zero = optional_input(node, input + 2);
    int64_t axis = scale_axis(node, node->row->inner, (int)u->count, x);
    if (u->count == 0) u->x_scale = scale = first_scale(node, scale);
    xpu_value value = scale.id ? dequantise(node, x, scale, zero, axis, 0) : none;
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
            u.y_scale = optional_input(node, input);
            u.y_zero = optional_input(node, input + 1);
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
    inner.is_inner = 1;
    xpu_value result = inner.row->convert(&inner);
    node->made = inner.made;
    int is_average = strcmp(node->row->inner, "AveragePool") == 0; /* which adds the zero point before it rounds */
    return result.id ? quantise(node, result, u.y_scale, u.y_zero, dtype, 0, is_average) : result;
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
