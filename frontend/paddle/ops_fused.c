/* What optimisers put behind products and convolutions, and operators that they make of several. */
#include <string.h>

#include "frontend/paddle/compose.h"

static const xpu_value failed = {0};

static xpu_value with_numbers(fe_builder *b, xpu_op_id op, xpu_value x, float alpha, float beta) {
    const xpu_attr attrs[] = {XPU_ATTR_FLOAT_OF(ALPHA, alpha), XPU_ATTR_FLOAT_OF(BETA, beta)};
    return fe_elementwise(b, op, &x, 1, attrs, op == XPU_OP_HARD_SIGMOID ? 2 : 1);
}

xpu_value xpu_paddle_activated(xpu_paddle_node *node, fe_builder *b, xpu_value x, const char *name) {
    static const struct {
        const char *name;
        xpu_op_id op;
    } plain[] = {
        {"abs", XPU_OP_ABS},   {"gelu", XPU_OP_GELU},       {"gelu_erf", XPU_OP_GELU}, {"gelu_tanh", XPU_OP_GELU_TANH},
        {"mish", XPU_OP_MISH}, {"sigmoid", XPU_OP_SIGMOID}, {"sqrt", XPU_OP_SQRT},     {"tanh", XPU_OP_TANH}};
    float alpha = xpu_paddle_float(node, "fuse_alpha", 0), beta = xpu_paddle_float(node, "fuse_beta", 0);
    if (!name[0] || !x.id) return x;
    for (size_t i = 0; i < sizeof plain / sizeof *plain; i++)
        if (strcmp(name, plain[i].name) == 0) return fe_elementwise(b, plain[i].op, &x, 1, NULL, 0);
    if (strcmp(name, "relu") == 0 && alpha == 0) return fe_elementwise(b, XPU_OP_RELU, &x, 1, NULL, 0);
    if (strcmp(name, "relu") == 0 || strcmp(name, "leaky_relu") == 0)
        return with_numbers(b, XPU_OP_LEAKY_RELU, x, alpha, 0);
    if (strcmp(name, "relu6") == 0 || strcmp(name, "clip") == 0) return fe_clip(b, x, alpha, beta);
    if (strcmp(name, "swish") == 0) return with_numbers(b, XPU_OP_SWISH, x, alpha, 0);
    if (strcmp(name, "hard_sigmoid") == 0) return with_numbers(b, XPU_OP_HARD_SIGMOID, x, alpha, beta);
    if (strcmp(name, "hard_swish") == 0 && alpha == 1.0f / 6 && beta == 0.5f)
        return fe_elementwise(b, XPU_OP_HARD_SWISH, &x, 1, NULL, 0);
    if (strcmp(name, "hard_swish") == 0)
        return fe_binary(b, XPU_OP_MUL, x, with_numbers(b, XPU_OP_HARD_SIGMOID, x, alpha, beta));
    return xpu_paddle_refuse(node, "the activation is not supported",
                             xpu_paddle_format(node, "it is '%s'", xpu_escape(node->importer->scratch, name, 40)));
}

int xpu_paddle_is_fused(xpu_paddle_node *node, const char *activation, xpu_value *residual) {
    *residual = xpu_paddle_int(node, "fuse_residual_connection", 0) ? xpu_paddle_operand(node, "ResidualData") : failed;
    return activation[0] || residual->id;
}

int xpu_paddle_has_floats(xpu_paddle_node *node) {
    const char *type = xpu_paddle_text(node, "mkldnn_data_type", "float32");
    if (strcmp(type, "int8") != 0) return 1;
    return xpu_paddle_refuse(node, "oneDNN's integers are not supported", "mkldnn_data_type is 'int8'").id != 0;
}

/* ---- attention ---- */

typedef struct {
    xpu_paddle_node *node;
    fe_builder b;
    xpu_dim batch, steps;
    int64_t heads, size; /* of a head */
} attending;

static xpu_value normalised(attending *a, xpu_value x, const char *scale, const char *bias, const char *epsilon) {
    const fe_norm form = {.axis = -1, .epsilon = xpu_paddle_float(a->node, epsilon, 1e-5f), .centred = 1};
    return x.id ? fe_layer_norm(&a->b, x, xpu_paddle_operand(a->node, scale), xpu_paddle_operand(a->node, bias), &form)
                : failed;
}

/* Queries, keys and values of x side by side, [3,B,heads,S,size]: weights [3,heads,size,E], or [E,3 heads size]. */
static xpu_value projected(attending *a, xpu_value x) {
    static const int64_t turned[] = {1, 0}, apart[] = {2, 0, 3, 1, 4};
    enum { QKV = 3 };
    fe_builder *b = &a->b;
    xpu_dims *dims = &b->graph->dims;
    xpu_value w = xpu_paddle_operand(a->node, "QKVW"), bias = xpu_paddle_operand(a->node, "QKVBias");
    if (!x.id || !w.id) return failed;
    const xpu_value_info weights = *fe_info(b, w);
    int64_t width = 0;
    if (xpu_paddle_int(a->node, "transpose_qkv_wb", 0)) {
        a->heads = xpu_paddle_int(a->node, "num_heads", 0);
        if (weights.rank != 2 || !xpu_dim_is_const(dims, weights.dims[1], &width) || a->heads < 1 ||
            width % (QKV * a->heads))
            return xpu_paddle_refuse(a->node, "the weights do not fit the heads", fe_shape_text(b, w));
        a->size = width / (QKV * a->heads);
    } else {
        if (weights.rank != 4 || !xpu_dim_is_const(dims, weights.dims[1], &a->heads) ||
            !xpu_dim_is_const(dims, weights.dims[2], &a->size))
            return xpu_paddle_refuse(a->node, "the weights do not fit the heads", fe_shape_text(b, w));
        xpu_dim rows[] = {xpu_dim_const(dims, QKV * a->heads * a->size), weights.dims[3]};
        w = fe_transpose(b, xpu_paddle_reshaped(b, w, rows, 2), (fe_ints){turned, 2});
    }
    xpu_value y = w.id ? fe_matmul(b, x, w) : failed;
    const xpu_dim all = xpu_dim_const(dims, QKV * a->heads * a->size);
    if (bias.id) y = fe_binary(b, XPU_OP_ADD, y, xpu_paddle_reshaped(b, bias, &all, 1));
    xpu_dim each[] = {a->batch, a->steps, xpu_dim_const(dims, QKV), xpu_dim_const(dims, a->heads),
                      xpu_dim_const(dims, a->size)};
    y = xpu_paddle_reshaped(b, y, each, 5);
    return y.id ? fe_transpose(b, y, (fe_ints){apart, 5}) : failed;
}

static xpu_value attended(attending *a, xpu_value qkv) {
    fe_builder *b = &a->b;
    xpu_dims *dims = &b->graph->dims;
    static const int64_t front = 0, back[] = {0, 2, 1, 3};
    xpu_value parts[3], results[FE_ATTENTION_RESULTS];
    for (int i = 0; i < 3; i++) {
        parts[i] = fe_part(b, qkv, 0, xpu_dim_const(dims, i), xpu_dim_const(dims, 1), 1, 0);
        if (parts[i].id) parts[i] = fe_squeeze(b, parts[i], (fe_ints){&front, 1});
        if (!parts[i].id) return failed;
    }
    const fe_attention_operands operands = {
        .q = parts[0], .k = parts[1], .v = parts[2], .mask = xpu_paddle_operand(a->node, "SrcMask")};
    const fe_attention_form form = {.left = -1, .right = -1};
    if (!fe_attention(b, &operands, &form, results)) return failed;
    xpu_dim joined[] = {a->batch, a->steps, xpu_dim_const(dims, a->heads * a->size)};
    return xpu_paddle_reshaped(b, fe_transpose(b, results[0], (fe_ints){back, 4}), joined, 3);
}

/* A norm before or behind; what drops elements is left out, as when it upscales in training. */
xpu_value xpu_paddle_convert_fused_attention(xpu_paddle_node *node) {
    attending a = {.node = node, .b = fe_inside(&node->build)};
    fe_builder *b = &a.b;
    const char *way = xpu_paddle_text(node, "dropout_implementation", "upscale_in_train"),
               *inner = xpu_paddle_text(node, "attn_dropout_implementation", "upscale_in_train");
    int norm_first = xpu_paddle_int(node, "pre_layer_norm", 0) != 0;
    xpu_value x = xpu_paddle_operand(node, "X"), w = xpu_paddle_operand(node, "OutLinearW"),
              bias = xpu_paddle_operand(node, "OutLinearBias");
    if (!x.id || !w.id) return failed;
    if (fe_info(b, x)->rank != 3) return xpu_paddle_refuse(node, "the shapes are not supported", fe_shape_text(b, x));
    if (!xpu_paddle_int(node, "is_test", 0) &&
        (xpu_paddle_float(node, "dropout_rate", 0.5f) > 0 || xpu_paddle_float(node, "attn_dropout_rate", 0.5f) > 0))
        return xpu_paddle_refuse(node, "the training form is not supported", "is_test is false");
    if (strcmp(way, "upscale_in_train") != 0 || strcmp(inner, "upscale_in_train") != 0)
        return xpu_paddle_refuse(node, "the form is not supported", "elements are dropped without being upscaled");
    a.batch = fe_info(b, x)->dims[0];
    a.steps = fe_info(b, x)->dims[1];
    xpu_value y = attended(&a, projected(&a, norm_first ? normalised(&a, x, "LnScale", "LnBias", "epsilon") : x));
    y = y.id ? fe_matmul(b, y, w) : failed;
    if (bias.id) y = fe_binary(b, XPU_OP_ADD, y, bias);
    if (xpu_paddle_int(node, "add_residual", 1)) y = fe_binary(b, XPU_OP_ADD, y, x);
    if (!norm_first) y = normalised(&a, y, "Ln2Scale", "Ln2Bias", "ln_epsilon");
    return xpu_paddle_give(node, b, 0, y);
}
