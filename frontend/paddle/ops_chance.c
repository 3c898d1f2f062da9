/* Numbers by chance, and tensors whose elements say nothing. */
#include <math.h>
#include <string.h>

#include "frontend/paddle/compose.h"

static const xpu_value failed = {0};

static int read_shape(xpu_paddle_node *node, fe_dims *shape) {
    if (!xpu_paddle_dims(node, "shape", "ShapeTensor", "ShapeTensorList", shape)) return 0;
    if (shape->items) return 1;
    return xpu_paddle_refuse(node, "the shape is missing", "neither attribute nor operand says it").id != 0;
}

/* Evenly from min to max, or by the normal distribution: the same numbers in each run. */
xpu_value xpu_paddle_convert_random(xpu_paddle_node *node) {
    int is_normal = strncmp(node->op->type, "gaussian", 8) == 0;
    double first = is_normal ? 0 : -1, last = 1;
    fe_randomness form = {.is_normal = is_normal, .dtype = xpu_paddle_type(node, "dtype", XPU_F32)};
    if (!read_shape(node, &form.shape) || form.dtype == XPU_DTYPE_NONE) return failed;
    if (!xpu_paddle_number(node, is_normal ? "mean" : "min", is_normal ? NULL : "Min", &first) ||
        !xpu_paddle_number(node, is_normal ? "std" : "max", is_normal ? NULL : "Max", &last))
        return failed;
    int64_t seed = xpu_paddle_int(node, "seed", 0);
    form.seed = seed ? (uint64_t)seed : node->op->index + 1;
    form.start = (float)first;
    form.width = (float)(is_normal ? last : last - first);
    return fe_random(&node->build, &form);
}

/* The class of each row, by the chances that it holds. */
xpu_value xpu_paddle_convert_sampling_id(xpu_paddle_node *node) {
    xpu_value x = xpu_paddle_operand(node, "X");
    int64_t seed = xpu_paddle_int(node, "seed", 0), one = 1;
    if (!x.id) return failed;
    fe_builder b = fe_inside(&node->build);
    if (xpu_paddle_rank(node, x) != 2) return xpu_paddle_refuse(node, "the chances are no rows", fe_shape_text(&b, x));
    x = fe_multinomial(&b, fe_unary(&b, XPU_OP_LOG, x), 1, XPU_I64, seed ? (uint64_t)seed : node->op->index + 1);
    node->build.made = b.made;
    return x.id ? fe_squeeze(&node->build, x, (fe_ints){&one, 1}) : failed;
}

/* Nothing is said about its elements: they are 0. */
xpu_value xpu_paddle_convert_empty(xpu_paddle_node *node) {
    fe_dims shape;
    xpu_dtype dtype = xpu_paddle_type(node, "dtype", XPU_F32);
    if (!read_shape(node, &shape) || dtype == XPU_DTYPE_NONE) return failed;
    return fe_expand(&node->build, xpu_paddle_single(node, dtype, 0), shape);
}
