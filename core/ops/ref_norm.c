/* Norms and softmax. */
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

xpu_status xpu_ref_softmax_parts(const xpu_ref_args *args) {
    const xpu_tensor *x = args->inputs[0];
    size_t rows = (size_t)xpu_product(x->dims, 0, x->rank - 1), size = (size_t)x->dims[x->rank - 1];
    int has_sums = xpu_node_at(args->graph, args->node)->output_count > XPU_OUT_POWERS;
    float *inverse = has_sums ? args->outputs[XPU_OUT_POWERS]->data : NULL;
    for (size_t i = 0; i < rows; i++) {
        const float *in = (const float *)x->data + i * size;
        float *y = (float *)args->outputs[XPU_OUT_Y]->data + i * size, most = -xa_inf();
        for (size_t j = 0; j < size; j++) most = xa_fmax(most, in[j]); /* passes over NaN, of which 1 / sum tells */
        for (size_t j = 0; j < size; j++) y[j] = xa_exp(xa_sub(in[j], most));
        if (inverse) inverse[i] = xa_div(1.0f, xa_reduce_sum(y, size, 1));
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

/* The mean square of the n differences from `mean`, in the order of xa_reduce. */
static float mean_square(const float *x, size_t n, float mean) {
    float lanes[XA_LANES] = {0};
    for (size_t i = 0; i < n; i++) {
        float d = xa_sub(x[i], mean);
        lanes[i % XA_LANES] = xa_add(lanes[i % XA_LANES], xa_mul(d, d));
    }
    return xa_div(xa_reduce_sum(lanes, XA_LANES, 1), (float)(n ? n : 1));
}

xpu_status xpu_ref_norm(const xpu_ref_args *args) {
    const uint32_t operands = xpu_node_at(args->graph, args->node)->input_count;
    const xpu_tensor *x = args->inputs[0], *scale = operands > 1 ? args->inputs[1] : NULL;
    const xpu_tensor *bias = operands > 2 ? args->inputs[2] : NULL;
    const float epsilon = xpu_ref_float(args, XPU_ATTR_EPSILON);
    const size_t rows = (size_t)xpu_product(x->dims, 0, x->rank - 1), count = (size_t)x->dims[x->rank - 1];
    for (size_t row = 0; row < rows; row++) {
        const float *in = (const float *)x->data + row * count;
        float *y = (float *)args->outputs[0]->data + row * count;
        float mean = xpu_ref_int(args, XPU_ATTR_CENTRED) ? xa_reduce(XA_REDUCE_MEAN, in, count, 1) : 0.0f;
        float factor = xa_div(1.0f, xa_sqrt(xa_add(mean_square(in, count, mean), epsilon)));
        for (size_t i = 0; i < count; i++) {
            y[i] = xa_mul(xa_sub(in[i], mean), factor);
            if (scale) y[i] = xa_mul(y[i], ((const float *)scale->data)[i]);
            if (bias) y[i] = xa_add(y[i], ((const float *)bias->data)[i]);
        }
    }
    xpu_ref_write_absmax(args);
    return XPU_OK;
}
