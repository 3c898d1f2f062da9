/* Numbers at equal distances: shape and reference kernel. */
#include <string.h>

#include "core/ops/infer.h"
#include "core/ops/ref_util.h"

xpu_status xpu_infer_range(xpu_graph *graph, xpu_node node, xpu_diags *diags) {
    const xpu_value_info start = *xpu_operand(graph, node, 0), step = *xpu_operand(graph, node, 1);
    const xpu_attr *shape = xpu_node_attr(graph, node, XPU_ATTR_SHAPE);
    if (!shape || shape->count != 1 || start.rank || step.rank || start.dtype != step.dtype) {
        return xpu_infer_error(graph, node, diags, "shape-range-operands",
                               "the operands of a range do not fit together",
                               "start and step are scalars of one type, the shape is one dim", "they are %s and %s",
                               xpu_operand_text(graph, node, 0), xpu_operand_text(graph, node, 1));
    }
    return xpu_set_result(graph, node, 0, start.dtype, 1, shape->dims, diags);
}

xpu_status xpu_ref_range(const xpu_ref_args *args) {
    const xpu_tensor *start = args->inputs[0], *step = args->inputs[1], *y = args->outputs[0];
    const size_t bytes = xpu_dtype_bytes(y->dtype);
    for (int64_t i = 0; i < y->dims[0]; i++) {
        if (y->dtype == XPU_F32) {
            ((float *)y->data)[i] = xa_range(*(const float *)start->data, *(const float *)step->data, (uint32_t)i);
            continue;
        }
        uint64_t from = 0, by = 0;
        memcpy(&from, start->data, bytes); /* little-endian; the result is cut to its size */
        memcpy(&by, step->data, bytes);
        from += by * (uint64_t)i;
        memcpy((char *)y->data + (size_t)i * bytes, &from, bytes);
    }
    return XPU_OK;
}
