/* Quantised tensors. core/passes/quantised.c finds the groups that these make, and turns them into operators on
 * integers. */
#include <math.h>

#include "frontend/build/build.h"

static const xpu_value none = {0};

/* Constant scales are finite, and those that divide are not 0: ONNX does not say what the results are then. */
static int scales_are_good(const fe_builder *b, xpu_value scale, int divides) {
    xpu_tensor tensor;
    if (!scale.id || !fe_info(b, scale)->constant || fe_info(b, scale)->dtype != XPU_F32) return 1;
    if (xpu_const_tensor(b->graph, scale, b->scratch, &tensor, b->diags) != XPU_OK) return 0;
    const float *scales = tensor.data;
    for (int64_t i = 0; i < xpu_tensor_count(&tensor); i++) {
        if (isfinite(scales[i]) && (!divides || scales[i] != 0)) continue;
        fe_refuse(b, FE_OPERAND, "a scale is invalid",
                  fe_format(b, "element %lld of '%s' is %g", (long long)i,
                            xpu_escape(b->scratch, fe_info(b, scale)->name, 100), (double)scales[i]),
                  divides ? "quantise with finite scales other than 0" : "quantise with finite scales");
        return 0;
    }
    return 1;
}

xpu_value fe_dequantize(fe_builder *b, xpu_value x, const fe_scales *scales) {
    if (!scales_are_good(b, scales->scale, 0)) return none;
    xpu_value operands[] = {x, scales->scale, scales->zero};
    return fe_node(b, XPU_OP_DEQUANTIZE, operands, scales->zero.id ? 3 : 2, &XPU_ATTR_INT_OF(AXIS, scales->axis), 1, 1);
}

xpu_value fe_quantize(fe_builder *b, xpu_value x, const fe_scales *scales, xpu_dtype dtype, int zero_first) {
    if (!scales_are_good(b, scales->scale, 1)) return none;
    xpu_value operands[] = {x, scales->scale, scales->zero};
    if (scales->zero.id) dtype = fe_info(b, scales->zero)->dtype;
    xpu_attr attrs[] = {XPU_ATTR_INT_OF(AXIS, scales->axis), XPU_ATTR_INT_OF(DTYPE, dtype),
                        XPU_ATTR_INT_OF(ZERO_FIRST, 1)};
    return fe_node(b, XPU_OP_QUANTIZE, operands, scales->zero.id ? 3 : 2, attrs, zero_first ? 3 : 2, 1);
}

uint32_t fe_dynamic_quantize(fe_builder *b, xpu_value x, xpu_value results[3]) {
    enum { RESULTS = 3 };
    const char *names[RESULTS] = {NULL};
    if (!x.id) return 0;
    for (uint32_t i = 0; i < RESULTS && i < b->name_count; i++) {
        if (b->names[i] && b->names[i][0]) names[i] = b->names[i];
    }
    xpu_node made = xpu_graph_add(b->graph, (xpu_node){0}, xpu_op_of(XPU_OP_DYNAMIC_QUANTIZE), &x, 1, names, RESULTS,
                                  NULL, 0, &b->origin, 1);
    if (xpu_op_infer(b->graph, made, b->diags) != XPU_OK) return 0;
    for (uint32_t i = 0; i < RESULTS; i++) results[i] = xpu_node_output(b->graph, made, i);
    return RESULTS;
}

/* ---- parts of quantised products ---- */

xpu_value fe_scaled_scale(fe_builder *b, xpu_value scale, float factor) {
    if (factor == 1.0f) return scale;
    xpu_value pair[] = {xpu_graph_const_f32(b->graph, NULL, factor), scale};
    return fe_node(b, XPU_OP_MUL, pair, 2, NULL, 0, 0);
}

xpu_value fe_dequantize_bias(fe_builder *b, xpu_value bias, xpu_value x_scale, xpu_value w_scale) {
    if (!bias.id || !x_scale.id) return none;
    xpu_value scales[] = {x_scale, w_scale};
    xpu_value scale = fe_node(b, XPU_OP_MUL, scales, 2, NULL, 0, 0);
    return scale.id ? fe_dequantize(b, bias, &(fe_scales){.scale = scale}) : scale;
}

static xpu_value reshaped(fe_builder *b, xpu_value value, int64_t size) {
    xpu_dim dim = xpu_dim_const(&b->graph->dims, size);
    if (fe_info(b, value)->kind != XPU_VALUE_CONST) return fe_reshape_to(b, value, &dim, 1, 0);
    xpu_const_step step = {.kind = XPU_STEP_RESHAPE, .rank = 1, .dims = {size}};
    return fe_derive(b, value, &step);
}

/* A constant of one element, `count` times. */
static xpu_value repeated(const fe_builder *b, xpu_value value, int64_t count) {
    xpu_tensor one, all = {.dtype = XPU_I32, .rank = 1, .dims = {count}};
    if (xpu_const_tensor(b->graph, value, b->scratch, &one, b->diags) != XPU_OK) return none;
    int32_t *elements = XPU_NEW_ARRAY(b->scratch, int32_t, count);
    for (int64_t i = 0; i < count; i++) elements[i] = *(const int32_t *)one.data;
    all.data = elements;
    return xpu_graph_const_bytes(b->graph, NULL, &all);
}

xpu_value fe_column_bias(fe_builder *b, xpu_value c, xpu_value w, int transpose_w) {
    const xpu_dims *table = &b->graph->dims;
    const xpu_value_info *info = fe_info(b, c), *weights = fe_info(b, w);
    int64_t sizes[2] = {1, 1}, columns = 0;
    int good = info->rank <= 2 && weights->rank == 2 && info->dtype == XPU_I32;
    for (int i = 0; i < info->rank && good; i++)
        good = xpu_dim_is_const(table, info->dims[i], &sizes[2 - info->rank + i]);
    if (good) good = xpu_dim_is_const(table, weights->dims[transpose_w ? 0 : 1], &columns);
    if (good && sizes[0] == 1 && sizes[1] == columns) return info->rank == 1 ? c : reshaped(b, c, columns);
    if (good && sizes[0] == 1 && sizes[1] == 1 && info->constant) return repeated(b, c, columns);
    return fe_refuse(b, FE_FORM, "this shape of C is not supported",
                     fe_format(b, "it is %s%s; int32 of one row or one constant is", xpu_dtype_name(info->dtype),
                               fe_shape_text(b, c)),
                     "write DequantizeLinear, Gemm, QuantizeLinear instead of QGemm");
}
