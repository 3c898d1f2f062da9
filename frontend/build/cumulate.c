/* Cumulative sums and products, in as many steps as the length has binary digits: each adds what lies 2^i before. */
#include <inttypes.h>

#include "frontend/build/build.h"

enum { MAX_STEPS = 20 }; /* an axis has at most 2^20 elements */

/* The elements moved by `distance` along the axis, the neutral value where none comes from; `count` of them. */
static xpu_value moved(fe_builder *b, xpu_value x, const fe_cumulation *form, int64_t distance) {
    const xpu_value_info info = *fe_info(b, x);
    const int axis = (int)form->axis;
    const xpu_dim count = info.dims[axis];
    int64_t pads[2] = {form->backwards ? 0 : distance, form->backwards ? distance : 0}, size;
    const int is_known = xpu_dim_is_const(&b->graph->dims, count, &size) && size >= distance;
    if (is_known) pads[form->backwards ? 0 : 1] = -distance;
    const fe_padding padding = {
        .mode = "constant", .value = form->op == XPU_OP_MUL ? 1.0f : 0.0f, .pads = {pads, 2}, .axes = {&form->axis, 1}};
    xpu_value wide;
    if (xpu_dtype_bytes(info.dtype) == 8 && form->op == XPU_OP_MUL) { /* 8 bytes of a fill have equal halves */
        fe_padding other = padding;
        other.integer = fe_integer(b, info.dtype, 1);
        wide = fe_pad(b, x, &other);
    } else {
        wide = fe_pad(b, x, &padding);
    }
    if (is_known) return wide;
    return fe_part(b, wide, axis, xpu_dim_const(&b->graph->dims, form->backwards ? distance : 0), count, 1, 0);
}

xpu_value fe_cumulate(fe_builder *b, xpu_value x, const fe_cumulation *form) {
    static const xpu_value none = {0};
    if (!x.id) return x;
    const xpu_value_info info = *fe_info(b, x);
    fe_cumulation own = *form;
    own.axis = fe_axis(b, form->axis, info.rank);
    if (own.axis < 0) return none;
    const int64_t most = xpu_dim_max(&b->graph->dims, info.dims[own.axis]);
    if (most > (int64_t)1 << MAX_STEPS) {
        return fe_refuse(
            b, FE_FORM, "the axis is too long, or of unknown length",
            fe_format(b, "the input has shape %s, the axis at most 2^%d elements", fe_shape_text(b, x), MAX_STEPS),
            "give the dim a range with --shape");
    }
    fe_builder inside = fe_inside(b);
    const int is_narrow = info.dtype == XPU_F16 || info.dtype == XPU_BF16;
    if (is_narrow) x = fe_convert(&inside, x, XPU_F32);
    if (form->exclusive && x.id) x = moved(&inside, x, &own, 1);
    for (int64_t distance = 1; distance < most && x.id; distance *= 2) {
        x = fe_binary(&inside, form->op, x, moved(&inside, x, &own, distance));
    }
    if (is_narrow && x.id) x = fe_convert(&inside, x, info.dtype);
    return fe_finish(b, &inside, x);
}
