/* row_scale and row_restore: powers of two by which the rows of an int16 product are divided, and multiplied behind. */
#include "core/arith.h"
#include "core/ops/ref_util.h"
#include "core/ops/rows.h"

/* Rows of a tensor, along its last dim. */
typedef struct {
    size_t count, width;
} rows;

static rows rows_of(const xpu_tensor *tensor) {
    return (rows){(size_t)xpu_product(tensor->dims, 0, tensor->rank - 1), (size_t)tensor->dims[tensor->rank - 1]};
}

xpu_status xpu_ref_row_scale(const xpu_ref_args *args) {
    rows r = rows_of(args->inputs[0]);
    const float *x = args->inputs[0]->data;
    uint32_t results = xpu_node_at(args->graph, args->node)->output_count;
    float *y = args->outputs[XPU_OUT_Y]->data;
    float *powers = results > XPU_OUT_POWERS ? args->outputs[XPU_OUT_POWERS]->data : NULL;
    float *most = results > XPU_OUT_ROW_ABSMAX ? args->outputs[XPU_OUT_ROW_ABSMAX]->data : NULL;
    if (most) *most = XA_ROW_ABSMAX;
    for (size_t i = 0; i < r.count; i++, x += r.width, y += r.width) {
        float absmax = xa_absmax_of(x, r.width), inverse = xa_row_inverse(absmax);
        if (powers) powers[i] = xa_row_power(absmax);
        if (most && r.count == 1) *most = xa_mul(absmax, inverse);
        for (size_t j = 0; j < r.width; j++) y[j] = xa_mul(x[j], inverse);
    }
    return XPU_OK;
}

static const float *optional(const xpu_ref_args *args, uint32_t input) {
    const xpu_tensor *tensor = input < xpu_node_at(args->graph, args->node)->input_count ? args->inputs[input] : NULL;
    return tensor ? tensor->data : NULL;
}

xpu_status xpu_ref_row_restore(const xpu_ref_args *args) {
    rows r = rows_of(args->inputs[XPU_IN_X]);
    const float *x = args->inputs[XPU_IN_X]->data, *powers = args->inputs[XPU_IN_POWERS]->data;
    const float *bias = optional(args, XPU_IN_BIAS), *branch = optional(args, XPU_IN_BRANCH);
    float *y = args->outputs[XPU_OUT_Y]->data;
    xa_post_float post = xpu_ref_epilogue(args);
    post.has_bias = bias != NULL;
    post.has_branch = branch != NULL;
    for (size_t i = 0; i < r.count * r.width; i++) {
        size_t column = i % r.width;
        y[i] = xa_post_floating(x[i], powers[i / r.width], bias ? bias[column] : 0, branch ? branch[i] : 0, &post);
    }
    return XPU_OK;
}
