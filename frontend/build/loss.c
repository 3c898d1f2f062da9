/* Losses: minus the weighted logarithms of the classes that the targets name. */
#include <string.h>

#include "frontend/build/build.h"

static const xpu_value none = {0};

static xpu_value chosen(fe_builder *b, xpu_value condition, xpu_value x, xpu_value y) {
    if (!condition.id || !x.id || !y.id) return none;
    return fe_node(b, XPU_OP_WHERE, (xpu_value[]){condition, x, y}, 3, NULL, 0, 0);
}

/* The weights of the targets, 0 of ignored ones; {0} where all are 1. *ok becomes 0 after reporting. */
static xpu_value weights_of(fe_builder *b, xpu_value target, xpu_value valid, xpu_value weight, int *ok) {
    xpu_value w = weight.id ? fe_gather(b, weight, target, 0) : valid.id ? fe_number(b, 1.0f) : none;
    if (valid.id) w = chosen(b, valid, w, fe_number(b, 0.0f));
    *ok = w.id || (!weight.id && !valid.id);
    return w;
}

static xpu_value reduced(fe_builder *b, xpu_value loss, xpu_value w, const char *reduction) {
    static const fe_ints all = {NULL, 0};
    if (strcmp(reduction, "none") == 0 || !loss.id) return loss;
    if (strcmp(reduction, "sum") == 0) return fe_reduce(b, XPU_OP_REDUCE_SUM, loss, all, 0);
    if (!w.id) return fe_reduce(b, XPU_OP_REDUCE_MEAN, loss, all, 0);
    return fe_binary(b, XPU_OP_DIV, fe_reduce(b, XPU_OP_REDUCE_SUM, loss, all, 0),
                     fe_reduce(b, XPU_OP_REDUCE_SUM, w, all, 0));
}

xpu_value fe_likelihood_loss(fe_builder *b, xpu_value x, xpu_value target, xpu_value weight, const fe_loss *form) {
    if (!x.id || !target.id) return none;
    const xpu_value_info info = *fe_info(b, x), places = *fe_info(b, target);
    const int known = strcmp(form->reduction, "none") == 0 || strcmp(form->reduction, "sum") == 0 ||
                      strcmp(form->reduction, "mean") == 0;
    if (!known) {
        fe_bad_attr(b, "reduction", "none, sum and mean are defined");
        return none;
    }
    if (info.rank < 2 || places.rank != info.rank - 1) {
        return fe_refuse(b, FE_SHAPE, "the targets do not fit the input",
                         fe_format(b, "the input is %s, the targets %s", fe_shape_text(b, x), fe_shape_text(b, target)),
                         "they have all its dims but the classes, which are dim 1");
    }
    fe_builder inside = fe_inside(b);
    xpu_value valid = none;
    if (form->ignored && (places.dtype != XPU_I32 || *form->ignored == (int32_t)*form->ignored)) {
        valid = fe_unary(&inside, XPU_OP_NOT,
                         fe_binary(&inside, XPU_OP_EQUAL, target, fe_integer(b, places.dtype, *form->ignored)));
        target = chosen(&inside, valid, target, fe_integer(b, places.dtype, 0));
        if (!target.id) return none;
    }
    int ok = 1;
    xpu_value w = weights_of(&inside, target, valid, weight, &ok);
    xpu_dim dims[XPU_MAX_RANK] = {places.dims[0], xpu_dim_const(&b->graph->dims, 1)};
    for (int i = 1; i < places.rank; i++) dims[i + 1] = places.dims[i];
    xpu_value index = fe_reshape_to(&inside, target, dims, info.rank, 0);
    xpu_value loss = ok && index.id ? fe_gather_elements(&inside, x, index, 1) : none;
    if (!loss.id) return none;
    loss = fe_unary(&inside, XPU_OP_NEG, fe_reshape_to(&inside, loss, places.dims, places.rank, 0));
    if (w.id) loss = fe_binary(&inside, XPU_OP_MUL, loss, w);
    if (valid.id) loss = chosen(&inside, valid, loss, fe_number(b, 0.0f)); /* of infinities, too */
    return fe_finish(b, &inside, reduced(&inside, loss, w, form->reduction));
}

/* The dims that `axes` name become `shape`, around the middle. */
xpu_value fe_center_crop_pad(fe_builder *b, xpu_value x, fe_ints shape, fe_ints axes) {
    if (!x.id) return x;
    const xpu_value_info info = *fe_info(b, x);
    int64_t pads[2 * XPU_MAX_RANK] = {0}, size;
    uint8_t seen[XPU_MAX_RANK] = {0};
    const size_t count = axes.items ? axes.count : (size_t)info.rank;
    if (shape.count != count || count > XPU_MAX_RANK) {
        return fe_refuse(b, FE_OPERAND, "the shape does not fit the axes",
                         fe_format(b, "%zu sizes for %zu axes", shape.count, count), NULL);
    }
    for (size_t i = 0; i < count; i++) {
        const int axis = axes.items ? fe_axis(b, axes.items[i], info.rank) : (int)i;
        if (axis < 0) return none;
        if (seen[axis]++)
            return fe_refuse(b, FE_OPERAND, "an axis is given twice", fe_format(b, "axis %d", axis), NULL);
        if (!xpu_dim_is_const(&b->graph->dims, info.dims[axis], &size) || shape.items[i] < 0 ||
            shape.items[i] > FE_MAX_EXTENT) {
            return fe_refuse(b, FE_FORM, "a dim is not known, or its new size is out of range",
                             fe_format(b, "the input is %s", fe_shape_text(b, x)), "fix the dim with --shape");
        }
        const int64_t more = shape.items[i] - size, less = -more;
        pads[axis] = more >= 0 ? more / 2 : -(less / 2);
        pads[info.rank + axis] = more - pads[axis];
    }
    const fe_padding padding = {.mode = "constant", .pads = {pads, 2 * (size_t)info.rank}};
    return fe_pad(b, x, &padding);
}
