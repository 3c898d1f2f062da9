#include "base/compare.h"

#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

/* ---- elements ---- */

static double half(uint16_t bits) {
    int exponent = bits >> 10 & 31, fraction = bits & 1023;
    double value = exponent == 31  ? (fraction ? (double)NAN : (double)INFINITY)
                   : exponent == 0 ? ldexp(fraction, -24)
                                   : ldexp(1024 + fraction, exponent - 25);
    return bits & 0x8000 ? -value : value;
}

static double brain(uint16_t bits) {
    uint32_t word = (uint32_t)bits << 16;
    float value;
    memcpy(&value, &word, sizeof value);
    return (double)value;
}

double xpu_element(const xpu_tensor *tensor, int64_t position) {
    const void *data = tensor->data;
    switch (tensor->dtype) {
    case XPU_F32: return (double)((const float *)data)[position];
    case XPU_F64: return ((const double *)data)[position];
    case XPU_F16: return half(((const uint16_t *)data)[position]);
    case XPU_BF16: return brain(((const uint16_t *)data)[position]);
    case XPU_I8: return ((const int8_t *)data)[position];
    case XPU_U8:
    case XPU_BOOL: return ((const uint8_t *)data)[position];
    case XPU_I16: return ((const int16_t *)data)[position];
    case XPU_U16: return ((const uint16_t *)data)[position];
    case XPU_I32: return ((const int32_t *)data)[position];
    case XPU_U32: return ((const uint32_t *)data)[position];
    case XPU_I64: return (double)((const int64_t *)data)[position];
    case XPU_U64: return (double)((const uint64_t *)data)[position];
    case XPU_DTYPE_NONE:
    case XPU_DTYPE_COUNT: break;
    }
    return (double)NAN;
}

const char *xpu_element_text(xpu_arena *arena, const xpu_tensor *tensor, int64_t position) {
    switch (tensor->dtype) {
    case XPU_I64: return xpu_printf(arena, "%" PRId64, ((const int64_t *)tensor->data)[position]);
    case XPU_U64: return xpu_printf(arena, "%" PRIu64, ((const uint64_t *)tensor->data)[position]);
    case XPU_I32:
    case XPU_U32: return xpu_printf(arena, "%.0f", xpu_element(tensor, position));
    case XPU_F64: return xpu_printf(arena, "%.17g", xpu_element(tensor, position));
    default: return xpu_printf(arena, "%.9g", xpu_element(tensor, position));
    }
}

const char *xpu_index_text(xpu_arena *arena, const xpu_tensor *tensor, int64_t position) {
    int64_t index[XPU_MAX_RANK];
    for (int i = tensor->rank - 1; i >= 0; i--) {
        int64_t dim = tensor->dims[i] > 0 ? tensor->dims[i] : 1;
        index[i] = position % dim;
        position /= dim;
    }
    char text[192];
    return xpu_strdup(arena, xpu_dims_text(tensor->rank, index, text, sizeof text));
}

/* ---- pairs ---- */

static int same_bits(const xpu_tensor *a, const xpu_tensor *b, int64_t i) {
    size_t bytes = xpu_dtype_bytes(a->dtype), at = (size_t)i * bytes;
    return memcmp((const char *)a->data + at, (const char *)b->data + at, bytes) == 0;
}

/* |a - b|; of integers of 64 bits the double nearest to it, not the difference of two doubles. */
static double distance(const xpu_tensor *a, const xpu_tensor *b, int64_t i) {
    if (a->dtype == XPU_I64) {
        int64_t x = ((const int64_t *)a->data)[i], y = ((const int64_t *)b->data)[i];
        return (double)(x > y ? (uint64_t)x - (uint64_t)y : (uint64_t)y - (uint64_t)x);
    }
    if (a->dtype == XPU_U64) {
        uint64_t x = ((const uint64_t *)a->data)[i], y = ((const uint64_t *)b->data)[i];
        return (double)(x > y ? x - y : y - x);
    }
    return fabs(xpu_element(a, i) - xpu_element(b, i));
}

static double largest(const xpu_tensor *tensor) {
    double largest_so_far = 0;
    for (int64_t i = 0; i < xpu_tensor_count(tensor); i++) {
        double x = fabs(xpu_element(tensor, i));
        if (isfinite(x) && x > largest_so_far) largest_so_far = x;
    }
    return largest_so_far;
}

xpu_pair xpu_pair_of(const xpu_tensor *a, const xpu_tensor *b, const xpu_tolerance *tolerance) {
    xpu_pair pair = {.a = a, .b = b, .relative = tolerance->relative};
    pair.exact = tolerance->relative == 0 && tolerance->of_max == 0;
    pair.slack = tolerance->of_max == 0 ? 0 : tolerance->of_max * largest(b);
    return pair;
}

int xpu_pair_differs(const xpu_pair *pair, int64_t i, double *difference) {
    *difference = 0;
    if (same_bits(pair->a, pair->b, i)) return 0;
    double x = xpu_element(pair->a, i), y = xpu_element(pair->b, i);
    if (isnan(x) && isnan(y)) return 0;
    *difference = distance(pair->a, pair->b, i);
    if (pair->exact) return 1;
    return !isfinite(*difference) || *difference > pair->relative * fabs(y) + pair->slack;
}

/* ---- the whole ---- */

/* Sums of squares, of a, b and a - b, each scaled by the largest of its kind: nothing overflows, nothing is lost. */
typedef struct {
    double a, b, difference; /* largest finite magnitudes */
    double aa, bb, dd;       /* sums of (x / largest)^2 */
    double apart;            /* sum of (a / |a| - b / |b|)^2 */
    int64_t finite;
} sums;

/* Where both are finite their difference may still be infinite (in float64). */
static double finite_distance(const xpu_pair *pair, int64_t i) {
    return fmin(distance(pair->a, pair->b, i), DBL_MAX);
}

static double scaled_square(double x, double scale) {
    return scale > 0 ? x / scale * (x / scale) : 0;
}

static void add_up(const xpu_pair *pair, int64_t count, sums *s) {
    for (int64_t i = 0; i < count; i++) {
        double x = xpu_element(pair->a, i), y = xpu_element(pair->b, i);
        if (!isfinite(x) || !isfinite(y)) continue;
        s->finite++;
        s->aa += scaled_square(x, s->a);
        s->bb += scaled_square(y, s->b);
        s->dd += scaled_square(finite_distance(pair, i), s->difference);
    }
    double norm_a = sqrt(s->aa), norm_b = sqrt(s->bb);
    for (int64_t i = 0; norm_a > 0 && norm_b > 0 && i < count; i++) {
        double x = xpu_element(pair->a, i), y = xpu_element(pair->b, i);
        if (!isfinite(x) || !isfinite(y)) continue;
        double apart = x / s->a / norm_a - y / s->b / norm_b;
        s->apart += apart * apart;
    }
}

static void summarise(const xpu_pair *pair, xpu_comparison *c) {
    sums s = {0};
    for (int64_t i = 0; i < c->count; i++) {
        double x = fabs(xpu_element(pair->a, i)), y = fabs(xpu_element(pair->b, i));
        if (!isfinite(x) || !isfinite(y)) continue;
        s.a = fmax(s.a, x);
        s.b = fmax(s.b, y);
        s.difference = fmax(s.difference, finite_distance(pair, i));
    }
    add_up(pair, c->count, &s);
    c->max_difference = s.difference;
    c->snr = !s.finite           ? (double)NAN
             : s.difference == 0 ? (double)INFINITY
             : s.b == 0          ? -(double)INFINITY
                                 : 10 * (log10(s.bb) - log10(s.dd)) + 20 * (log10(s.b) - log10(s.difference));
    c->angle = s.a > 0 && s.b > 0 ? s.apart / 2 : (double)NAN;
}

xpu_comparison xpu_compare(const xpu_tensor *a, const xpu_tensor *b, const xpu_tolerance *tolerance) {
    xpu_comparison c = {.first = -1, .snr = (double)NAN, .angle = (double)NAN};
    c.comparable = xpu_same_shape(a, b);
    if (!c.comparable) return c;
    c.count = xpu_tensor_count(a);
    if (c.count == 0 || memcmp(a->data, b->data, xpu_tensor_bytes(a)) == 0) {
        c.snr = (double)INFINITY;
        c.angle = 0;
        return c;
    }
    xpu_pair pair = xpu_pair_of(a, b, tolerance);
    for (int64_t i = 0; i < c.count; i++) {
        double difference;
        if (!xpu_pair_differs(&pair, i, &difference)) continue;
        double x = xpu_element(a, i), y = xpu_element(b, i);
        c.not_finite += !isfinite(x) || !isfinite(y);
        if (c.differing++) continue;
        c.first = i;
        c.first_a = x;
        c.first_b = y;
    }
    summarise(&pair, &c);
    return c;
}

/* ---- texts ---- */

const char *xpu_differing_text(xpu_arena *arena, const xpu_comparison *c) {
    xpu_text text;
    xpu_text_init(&text, arena);
    xpu_text_add(&text, "%lld of %lld elements differ", (long long)c->differing, (long long)c->count);
    if (c->not_finite < c->differing) xpu_text_add(&text, ", by at most %.6g", c->max_difference);
    if (c->not_finite == c->differing && c->differing)
        xpu_text_add(&text, ", %s by NaN or infinity", c->differing > 1 ? "all of them" : "it");
    else if (c->not_finite)
        xpu_text_add(&text, ", %lld of them by NaN or infinity", (long long)c->not_finite);
    return text.text;
}

static const char *finite_snr(xpu_arena *arena, double snr) {
    if (isnan(snr)) return "no element is finite in both";
    if (isinf(snr)) return snr > 0 ? "differences of 0" : "the second is 0";
    return xpu_printf(arena, "%.2f dB", snr);
}

const char *xpu_snr_text(xpu_arena *arena, const xpu_comparison *c) {
    const char *finite = finite_snr(arena, c->snr);
    if (c->not_finite)
        return xpu_printf(arena, "signal to noise none: %lld difference%s not finite (%s of the others)",
                          (long long)c->not_finite, c->not_finite == 1 ? " is" : "s are", finite);
    if (c->count == 0) return "signal to noise none: there are no elements";
    return xpu_printf(arena, "signal to noise %s%s", isfinite(c->snr) ? "" : "none: ", finite);
}

const char *xpu_cosine_text(xpu_arena *arena, const xpu_comparison *c) {
    const char *of = c->not_finite ? " of the finite elements" : "";
    if (isnan(c->angle)) return xpu_printf(arena, "cosine%s none: a side has nothing but 0", of);
    if (c->angle == 0) return xpu_printf(arena, "cosine%s 1", of);
    if (c->angle < 1e-6) return xpu_printf(arena, "cosine%s 1 - %.2g", of, c->angle);
    return xpu_printf(arena, "cosine%s %.6f", of, 1 - c->angle);
}
