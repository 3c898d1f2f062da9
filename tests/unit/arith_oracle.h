/* The elementary functions of core/arith.h beside the same functions in double, and how far apart they are. */
#ifndef XPU_TESTS_ARITH_ORACLE_H
#define XPU_TESTS_ARITH_ORACLE_H

#include <math.h>
#include <string.h>

#include "core/arith.h"

static inline double oracle_sigmoid(double x) {
    double e = exp(-fabs(x));
    return (x < 0 ? e : 1.0) / (1.0 + e);
}

static inline double oracle_softplus(double x) {
    return (x < 0 ? 0 : x) + log1p(exp(-fabs(x)));
}

/* NaN for -inf, as -inf * 0. */
static inline double oracle_mish(double x) {
    double e = exp(x < 40 ? x : 40), n = e * (e + 2);
    return x < 40 ? x * (n / (n + 2)) : x;
}

/* X(name, function in double, largest error in ulp that is allowed) */
#define ARITH_ORACLES(X)                                                                                               \
    X(exp, exp, 2.0)                                                                                                   \
    X(log, log, 2.0)                                                                                                   \
    X(tanh, tanh, 2.0)                                                                                                 \
    X(sigmoid, oracle_sigmoid, 2.0)                                                                                    \
    X(erf, erf, 2.0)                                                                                                   \
    X(softplus, oracle_softplus, 2.0)                                                                                  \
    X(expm1, expm1, 2.0)                                                                                               \
    X(mish, oracle_mish, 4.0)                                                                                          \
    X(sin, sin, 4.0)                                                                                                   \
    X(cos, cos, 4.0)                                                                                                   \
    X(tan, tan, 6.0)                                                                                                   \
    X(asin, asin, 4.0)                                                                                                 \
    X(acos, acos, 4.0)                                                                                                 \
    X(atan, atan, 4.0)                                                                                                 \
    X(sinh, sinh, 4.0)                                                                                                 \
    X(cosh, cosh, 4.0)                                                                                                 \
    X(asinh, asinh, 4.0)                                                                                               \
    X(acosh, acosh, 4.0)                                                                                               \
    X(atanh, atanh, 4.0)                                                                                               \
    X(sqrt, sqrt, 0.5)

enum { ORACLE_BLOCK = 1 << 12 };

/* Compiled for two instruction sets (without FMA instructions the exhaustive test takes hours). */
#if defined(__x86_64__)
#define ORACLE_CLONES __attribute__((target_clones("arch=x86-64-v3", "default")))
#else
#define ORACLE_CLONES
#endif

typedef struct {
    const char *name;
    void (*block)(float *y, const float *x); /* ORACLE_BLOCK elements */
    double (*truth)(double x);
    double bound;
} arith_oracle;

#define X(name, truth, bound)                                                                                          \
    ORACLE_CLONES static void oracle_block_##name(float *restrict y, const float *restrict x) {                        \
        for (size_t i = 0; i < ORACLE_BLOCK; i++) y[i] = xa_##name(x[i]);                                              \
    }
ARITH_ORACLES(X)
#undef X

static const arith_oracle arith_oracles[] = {
#define X(name, truth, bound) {#name, oracle_block_##name, truth, bound},
    ARITH_ORACLES(X)
#undef X
};

enum { ARITH_ORACLE_COUNT = sizeof arith_oracles / sizeof *arith_oracles };

/* |y - t| in units of the last place of a float of t's size; 0 for two NaNs, inf when one alone is NaN. An infinite y
 * counts as 2^128. */
static inline double ulp_error(float y, double t) {
    if (isnan(y) || isnan(t)) return isnan(y) && isnan(t) ? 0 : INFINITY;
    if ((double)y == t) return 0;
    uint64_t bits;
    memcpy(&bits, &t, sizeof bits);
    int exponent = (int)(bits >> 52 & 0x7ff) - 1023;
    if (exponent < -126) exponent = -126;
    if (exponent > 127) exponent = 127;
    uint64_t place = (uint64_t)(23 - exponent + 1023) << 52; /* 1 / ulp */
    double per_ulp;
    memcpy(&per_ulp, &place, sizeof per_ulp);
    double finite = isinf(y) ? copysign(0x1p128, y) : y;
    if (isinf(t)) return INFINITY;
    if (fabs(t) > 0x1p128) t = copysign(0x1p128, t);
    return fabs(finite - t) * per_ulp;
}

#endif
