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
