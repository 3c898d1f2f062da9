/* Batch norm and softmax. */
#include "core/arith.h"
#include "core/ops/ref_util.h"
#include "core/ops/rows.h"

xpu_status xpu_ref_batch_norm(const xpu_ref_args *args) {
    const xpu_tensor *x = args->inputs[0];
    const float *in = x->data, *scale = args->inputs[1]->data, *bias = args->inputs[2]->data;
    const float *mean = args->inputs[3]->data, *variance = args->inputs[4]->data;
    float epsilon = xpu_node_float(args->graph, args->node, XPU_ATTR_EPSILON), *y = args->outputs[0]->data;
    int64_t size = xpu_product(x->dims, 2, x->rank);
    for (int64_t n = 0; n < x->dims[0]; n++) {
        for (int64_t c = 0; c < x->dims[1]; c++) {
            float factor = xa_div(scale[c], xa_sqrt(xa_add(variance[c], epsilon)));
            float offset = xa_sub(bias[c], xa_mul(mean[c], factor));
            for (int64_t i = 0; i < size; i++) *y++ = xa_mul_add(*in++, factor, offset);
        }
    }
    return XPU_OK;
}

xpu_status xpu_ref_softmax(const xpu_ref_args *args) {
    const xpu_tensor *x = args->inputs[0];
    int axis = (int)xpu_node_int(args->graph, args->node, XPU_ATTR_AXIS);
    size_t outer = (size_t)xpu_product(x->dims, 0, axis), size = (size_t)x->dims[axis];
    size_t inner = (size_t)xpu_product(x->dims, axis + 1, x->rank);
    for (size_t i = 0; i < outer * inner; i++) {
        size_t first = i / inner * size * inner + i % inner;
        const float *in = (const float *)x->data + first;
        float *y = (float *)args->outputs[0]->data + first;
        float most = xa_reduce_max(in, size, inner);
        for (size_t j = 0; j < size; j++) y[j * inner] = xa_exp(xa_sub(in[j * inner], most));
        float sum = xa_reduce_sum(y, size, inner);
        for (size_t j = 0; j < size; j++) y[j * inner] = xa_div(y[j * inner], sum);
    }
    return XPU_OK;
}
