/* How far two tensors are apart, in the largest magnitude of the first. */
#include <math.h>

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

/* Quotients at the border of two steps are rounded either way: a step in few elements is no difference of models. */
static int is_rounding(const xpu_tensor *a, double difference, int64_t differing, int64_t count) {
    return xpu_is_byte(a->dtype) && difference <= 1 && differing * 1000 <= count;
}

xpu_apart xpu_validate_apart(const xpu_tensor *a, const xpu_tensor *b, double largest, double enough) {
    xpu_apart apart = {.largest = largest, .at = -1};
    const int64_t count = xpu_tensor_count(a);
    const int is_float = a->dtype == XPU_F32 && b->dtype == XPU_F32;
    const double limit = enough * largest;
    int64_t differing = 0;
    if (count != xpu_tensor_count(b)) return (xpu_apart){(double)INFINITY, largest, (double)INFINITY, -1};
    for (int64_t i = 0; i < count; i++) {
        double x = is_float ? (double)((const float *)a->data)[i] : xpu_element(a, i);
        double y = is_float ? (double)((const float *)b->data)[i] : xpu_element(b, i);
        double difference = apart_of(x, y);
        differing += difference > 0;
        if (difference <= apart.difference) continue;
        apart.difference = difference;
        apart.at = i;
        if (difference > limit && !xpu_is_byte(a->dtype)) break;
    }
    apart.of_max = apart.difference > 0 ? apart.difference / largest : 0; /* infinite where all of a is 0 */
    if (apart.difference > 0 && is_rounding(a, apart.difference, differing, count)) apart.of_max = 1e-6;
    return apart;
}
