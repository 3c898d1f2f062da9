#include "core/ops/op.h"

#include <string.h>

const char *xpu_node_precision(const xpu_graph *graph, xpu_node node) {
    static const char *const names[] = {
        [XPU_PRECISION_FP32] = "fp32", [XPU_PRECISION_INT16] = "int16", [XPU_PRECISION_INT16X8] = "int16x8"};
    const xpu_node_info *info = xpu_node_at(graph, node);
    if (xpu_op_attr(info->op, XPU_ATTR_PRECISION)) return names[xpu_node_int(graph, node, XPU_ATTR_PRECISION)];
    if (info->input_count == 0 || !info->inputs[0].id) return "fp32";
    xpu_dtype dtype = xpu_value_at(graph, info->inputs[0])->dtype;
    return dtype == XPU_F32 ? "fp32" : xpu_is_byte(dtype) ? "int8" : xpu_dtype_name(dtype);
}

xpu_pad_mode xpu_node_pad_mode(const xpu_graph *graph, xpu_node node) {
    static const char *const names[XPU_PAD_UNKNOWN] = {
        [XPU_PAD_CONSTANT] = "constant", [XPU_PAD_REFLECT] = "reflect", [XPU_PAD_EDGE] = "edge"};
    const char *name = xpu_node_string(graph, node, XPU_ATTR_MODE);
    int mode = 0;
    while (mode < XPU_PAD_UNKNOWN && (!name || strcmp(names[mode], name) != 0)) mode++;
    return (xpu_pad_mode)mode;
}
