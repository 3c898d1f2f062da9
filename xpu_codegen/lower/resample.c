/* Resampling of one axis. */
#include "core/ops/resample.h"

#include "xpu_codegen/lower/buffers.h"
#include "xpu_codegen/lower/layers.h"
#include "xpu_codegen/lower/operators.h"

static struct xpu_resample_group resample_of(xpu_codegen *cg, xpu_node node, const xa_resample *r) {
    return (struct xpu_resample_group){.n = xpu_arg_dim(xpu_node_attr(cg->graph, node, XPU_ATTR_SHAPE)->dims[0]),
                                       .kind = xpu_arg_number(r->kind),
                                       .coordinates = xpu_arg_number(r->coordinates),
                                       .rounding = xpu_arg_number(r->rounding),
                                       .scale = xpu_arg_real(r->scale)};
}

xpu_status xpu_lower_resample(xpu_codegen *cg, uint32_t layer, xpu_node node) {
    const xa_resample r = xpu_resample_of(cg->graph, node);
    struct xpu_axis_group axis = xpu_axis_of(cg, layer, node);
    if (r.kind == XA_NEAREST && r.coordinates != XA_TF_CROP_AND_RESIZE) {
        struct xpu_resample_nearest_call call = {.axis = axis, .resample = resample_of(cg, node, &r)};
        const xpu_value_info *x = xpu_value_at(cg->graph, xpu_node_input(cg->graph, node, 0));
        call.element_bytes = xpu_arg_number((int64_t)xpu_dtype_bytes(x->dtype));
        xpu_describe_layer(cg, layer, XPU_KERNEL_resample_nearest, xpu_dim_of(cg, 0));
        return xpu_add_resample_nearest(cg, layer, &call);
    }
    struct xpu_resample_f32_call call = {.axis = axis, .resample = resample_of(cg, node, &r)};
    call.taps = xpu_arg_number(xpu_resample_bound(cg->graph, node));
    call.exclude_outside = xpu_arg_number(r.exclude_outside);
    call.antialias = xpu_arg_number(r.antialias);
    call.from = xpu_arg_real(r.from);
    call.to = xpu_arg_real(r.to);
    call.coefficient = xpu_arg_real(r.coefficient);
    call.outside = xpu_arg_real(xpu_node_float(cg->graph, node, XPU_ATTR_VALUE));
    xpu_describe_layer(cg, layer, XPU_KERNEL_resample_f32, xpu_dim_of(cg, 0));
    return xpu_add_resample_f32(cg, layer, &call);
}
