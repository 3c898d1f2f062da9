/* How far two tensors are apart, in the largest magnitude of the first. */
#include <math.h>
#include <string.h>

#include "base/compare.h"
#include "xpuc/validate.h"

double xpu_validate_largest(const xpu_tensor *tensor) {
    double largest = 0;
    const int64_t count = xpu_tensor_count(tensor);
    for (int64_t i = 0; i < count; i++) {
        double x = fabs(tensor->dtype == XPU_F32 ? (double)((const float *)tensor->data)[i] : xpu_element(tensor, i));
        if (isfinite(x) && x > largest) largest = x;
    }
    return largest;
}

static double apart_of(double a, double b) {
    if (a == b || (isnan(a) && isnan(b))) return 0;
    double difference = fabs(a - b);
    return isnan(difference) ? (double)INFINITY : difference;
}

int xpu_validate_same_dims(const xpu_tensor *a, const xpu_tensor *b) {
    if (a->rank != b->rank) return xpu_tensor_count(a) == 1 && xpu_tensor_count(b) == 1 && a->rank + b->rank == 1;
    return memcmp(a->dims, b->dims, (size_t)a->rank * sizeof *a->dims) == 0;
}

xpu_apart xpu_validate_other_dims(const xpu_tensor *a) {
    return (xpu_apart){(double)INFINITY, xpu_validate_largest(a), (double)INFINITY, -1};
}

/* The first operand of bytes that is no constant. */
static xpu_value operand_of_bytes(const xpu_graph *graph, const xpu_node_info *info) {
    for (uint32_t i = 0; i < info->input_count; i++) {
        const xpu_value_info *operand = info->inputs[i].id ? xpu_value_at(graph, info->inputs[i]) : NULL;
        if (operand && operand->kind == XPU_VALUE_NODE && xpu_is_byte(operand->dtype)) return info->inputs[i];
    }
    return (xpu_value){0};
}

int xpu_validate_is_quantised(const xpu_graph *graph, xpu_value value) {
    while (value.id) {
        const xpu_value_info *info = xpu_value_at(graph, value);
        if (info->kind != XPU_VALUE_NODE || !xpu_is_byte(info->dtype)) return 0;
        if (xpu_node_is(graph, info->node, XPU_OP_QUANTIZE) || xpu_node_is(graph, info->node, XPU_OP_DYNAMIC_QUANTIZE))
            return 1;
        value = operand_of_bytes(graph, xpu_node_at(graph, info->node));
    }
    return 0;
}

/* Quotients at the border of two steps are rounded either way: a step in few elements is no difference of models. */
static int is_rounding(double difference, int64_t differing, int64_t count) {
    return difference <= 1 && differing * 1000 <= count;
}

/* int64 beside uint64 holds the same bits: PaddlePaddle has no uint64. */
static xpu_tensor as_unsigned(const xpu_tensor *tensor, const xpu_tensor *beside) {
    xpu_tensor same = *tensor;
    if (tensor->dtype == XPU_I64 && beside->dtype == XPU_U64) same.dtype = XPU_U64;
    return same;
}

xpu_apart xpu_validate_apart(const xpu_tensor *a, const xpu_tensor *b, double largest, double enough, int quantised) {
    const xpu_tensor left = as_unsigned(a, b), right = as_unsigned(b, a);
    xpu_apart apart = {.largest = largest, .at = -1};
    const int64_t count = xpu_tensor_count(a);
    const int is_float = a->dtype == XPU_F32 && b->dtype == XPU_F32;
    const double limit = enough * largest;
    int64_t differing = 0;
    if (count != xpu_tensor_count(b)) return (xpu_apart){(double)INFINITY, largest, (double)INFINITY, -1};
    for (int64_t i = 0; i < count; i++) {
        double x = is_float ? (double)((const float *)a->data)[i] : xpu_element(&left, i);
        double y = is_float ? (double)((const float *)b->data)[i] : xpu_element(&right, i);
        double difference = apart_of(x, y);
        differing += difference > 0;
        if (difference <= apart.difference) continue;
        apart.difference = difference;
        apart.at = i;
        if (difference > limit && !quantised) break;
    }
    apart.of_max = apart.difference > 0 ? apart.difference / largest : 0; /* infinite where all of a is 0 */
    if (quantised && apart.difference > 0 && is_rounding(apart.difference, differing, count)) apart.of_max = 1e-6;
    return apart;
}
