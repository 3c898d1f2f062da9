/* core/arith.h: edge cases, samples of every elementary function, and the quantised formulas against arithmetic of
 * their own in double and 64-bit integers. */
#include <float.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

#include "tests/unit/arith_oracle.h"
#include "tests/unit/unit.h"

enum { SAMPLES = 1 << 20, ROUNDS = 100000 };

static uint64_t random_state;

static void seed_random(const char *test) {
    random_state = 0x9e3779b97f4a7c15u;
    printf("(%s: seed %llx) ", test, (unsigned long long)random_state);
}

static uint32_t random_bits(void) {
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(random_state >> 32);
}

/* From lo to hi, both included. */
static int32_t random_int(int32_t lo, int32_t hi) {
    return (int32_t)(lo + (int64_t)(random_bits() % (uint64_t)((int64_t)hi - lo + 1)));
}

/* From lo to hi, evenly spread over the exponents. */
static float random_scale(double lo, double hi) {
    return (float)(lo * pow(hi / lo, random_bits() / 0x1p32));
}

static void check_bits(const char *name, uint32_t x, float y, uint32_t expected) {
    bool same = xa_bits(xa_canonical(y)) == expected;
    if (!same) printf("\n%s(%08x): %08x, expected %08x", name, x, xa_bits(y), expected);
    CU_ASSERT_TRUE(same);
}

enum { INF = 0x7f800000, NEGATIVE_INF = (int)0xff800000, NOT_A_NUMBER = 0x7fc00000, NEGATIVE_ZERO = (int)0x80000000 };

static void edge_cases(void) {
    static const struct {
        const char *name;
        float (*function)(float x);
        uint32_t x, y;
    } cases[] = {
        {"exp", xa_exp, 0, 0x3f800000},
        {"exp", xa_exp, 0x80000000, 0x3f800000},
        {"exp", xa_exp, 0x7f800000, 0x7f800000},
        {"exp", xa_exp, 0xff800000, 0},
        {"exp", xa_exp, 0x7fc00000, 0x7fc00000},
        {"exp", xa_exp, 0xffc00001, 0x7fc00000},
        {"exp", xa_exp, 0x42b17218, 0x7f800000}, /* the first float above log(FLT_MAX) */
        {"exp", xa_exp, 0x7f7fffff, 0x7f800000},
        {"exp", xa_exp, 0xc2cff1b5, 0}, /* the first float below log(2^-150) */
        {"exp", xa_exp, 0xff7fffff, 0},
        {"log", xa_log, 0, 0xff800000},
        {"log", xa_log, 0x80000000, 0xff800000},
        {"log", xa_log, 0x3f800000, 0},
        {"log", xa_log, 0x7f800000, 0x7f800000},
        {"log", xa_log, 0xff800000, 0x7fc00000},
        {"log", xa_log, 0x80000001, 0x7fc00000},
        {"log", xa_log, 0xbf800000, 0x7fc00000},
        {"log", xa_log, 0x7fc00000, 0x7fc00000},
        {"log", xa_log, 1, 0xc2ce8ed0}, /* log(2^-149) */
        {"tanh", xa_tanh, 0, 0},
        {"tanh", xa_tanh, 0x80000000, 0x80000000},
        {"tanh", xa_tanh, 1, 1},
        {"tanh", xa_tanh, 0x80000001, 0x80000001},
        {"tanh", xa_tanh, 0x7f800000, 0x3f800000},
        {"tanh", xa_tanh, 0xff800000, 0xbf800000},
        {"tanh", xa_tanh, 0x7fc00000, 0x7fc00000},
        {"sigmoid", xa_sigmoid, 0, 0x3f000000},
        {"sigmoid", xa_sigmoid, 0x7f800000, 0x3f800000},
        {"sigmoid", xa_sigmoid, 0xff800000, 0},
        {"sigmoid", xa_sigmoid, 0x7fc00000, 0x7fc00000},
        {"erf", xa_erf, 0, 0},
        {"erf", xa_erf, 0x80000000, 0x80000000},
        {"erf", xa_erf, 1, 1},
        {"erf", xa_erf, 0x7f800000, 0x3f800000},
        {"erf", xa_erf, 0xff800000, 0xbf800000},
        {"erf", xa_erf, 0x7fc00000, 0x7fc00000},
        {"sqrt", xa_sqrt, 0x80000000, 0x80000000},
        {"sqrt", xa_sqrt, 0x80000001, 0x7fc00000},
        {"sqrt", xa_sqrt, 0x7f800000, 0x7f800000},
        {"softplus", xa_softplus, 0x7f800000, 0x7f800000},
        {"softplus", xa_softplus, 0xff800000, 0},
        {"softplus", xa_softplus, 0x7fc00000, 0x7fc00000},
        {"gelu", xa_gelu, 0, 0},
        {"gelu", xa_gelu, 0x41200000, 0x41200000},
        {"gelu", xa_gelu, 0x7fc00000, 0x7fc00000},
        {"relu", xa_relu, 0x80000000, 0},
        {"relu", xa_relu, 0x7fc00000, 0x7fc00000},
        {"relu", xa_relu, 0xffc00001, 0x7fc00000},
        {"relu", xa_relu, 0xbf800000, 0},
        {"relu", xa_relu, 0x7f800000, 0x7f800000},
        {"hard_swish", xa_hard_swish, 0x7fc00000, 0x7fc00000},
        {"hard_swish", xa_hard_swish, 0xff800000, 0x7fc00000},
        {"hard_swish", xa_hard_swish, 0xc0400000, 0x80000000},
        {"hard_swish", xa_hard_swish, 0x40400000, 0x40400000},
        {"round", xa_round, 0x3f000000, 0},
        {"round", xa_round, 0xbf000000, 0x80000000},
        {"round", xa_round, 0x3fc00000, 0x40000000},
        {"round", xa_round, 0x4affffff, 0x4b000000},
        {"round", xa_round, 0x4b000001, 0x4b000001},
        {"round", xa_round, 0xff800000, 0xff800000},
        {"round", xa_round, 0x7fc00000, 0x7fc00000},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        check_bits(cases[i].name, cases[i].x, cases[i].function(xa_float(cases[i].x)), cases[i].y);
}

/* fmin and fmax are the instructions, which pass over NaN; min and max the operators, which do not. */
static void minimum_and_maximum(void) {
    static const struct {
        uint32_t a, b, min, max;
        bool nan;
    } cases[] = {
        {0, 0x80000000, 0x80000000, 0, false},
        {0x3f800000, 0x40000000, 0x3f800000, 0x40000000, false},
        {0xbf800000, 0xc0000000, 0xc0000000, 0xbf800000, false},
        {0x7fc00000, 0x3f800000, 0x3f800000, 0x3f800000, true},
        {0x7f800001, 0xbf800000, 0xbf800000, 0xbf800000, true},
        {0xffc00005, 0xffc00006, 0x7fc00000, 0x7fc00000, true},
        {0x7f800000, 0xff800000, 0xff800000, 0x7f800000, false},
        {0x7fc00000, 0x7f800000, 0x7f800000, 0x7f800000, true},
        {0xffc00000, 0xff800000, 0xff800000, 0xff800000, true},
        {1, 0x80000001, 0x80000001, 1, false},
        {5, 5, 5, 5, false},
    };
    for (size_t i = 0; i < 2 * sizeof cases / sizeof *cases; i++) {
        uint32_t first = i % 2 ? cases[i / 2].b : cases[i / 2].a, nan = NOT_A_NUMBER;
        float a = xa_float(first), b = xa_float(i % 2 ? cases[i / 2].a : cases[i / 2].b);
        check_bits("fmin", first, xa_fmin(a, b), cases[i / 2].min);
        check_bits("fmax", first, xa_fmax(a, b), cases[i / 2].max);
        check_bits("min", first, xa_min(a, b), cases[i / 2].nan ? nan : cases[i / 2].min);
        check_bits("max", first, xa_max(a, b), cases[i / 2].nan ? nan : cases[i / 2].max);
    }
    check_bits("clip", NOT_A_NUMBER, xa_clip(xa_nan(), -1.0f, 1.0f), NOT_A_NUMBER);
    check_bits("clip", 0xffc00001, xa_clip(xa_float(0xffc00001), 0.0f, 6.0f), NOT_A_NUMBER);
    check_bits("clip", 0xc0000000, xa_clip(-2.0f, xa_nan(), 1.0f), 0xc0000000); /* no limit */
    check_bits("clip", 0x40000000, xa_clip(2.0f, -1.0f, xa_nan()), 0x40000000);
    check_bits("clip", NEGATIVE_ZERO, xa_clip(-0.0f, 0.0f, 6.0f), 0);
    check_bits("clip", 0x40400000, xa_clip(3.0f, 2.0f, 1.0f), 0x3f800000); /* lo above hi: hi */
    check_bits("leaky_relu", NEGATIVE_ZERO, xa_leaky_relu(-0.0f, 0.5f), 0x80000000);
    check_bits("leaky_relu", NEGATIVE_INF, xa_leaky_relu(-xa_inf(), 0.5f), 0xff800000);
    check_bits("leaky_relu", NOT_A_NUMBER, xa_leaky_relu(xa_nan(), 0.5f), NOT_A_NUMBER);
    check_bits("hard_sigmoid", INF, xa_hard_sigmoid(xa_inf(), 0.2f, 0.5f), 0x3f800000);
    check_bits("hard_sigmoid", NOT_A_NUMBER, xa_hard_sigmoid(xa_nan(), 0.2f, 0.5f), NOT_A_NUMBER);
    check_bits("lowest", 0, xa_lowest(), 0xff7fffff);
}

static void conversion_to_integer(void) {
    static const struct {
        float x;
        int32_t even, zero, away;
    } cases[] = {
        {0.5f, 0, 0, 1},
        {-0.5f, 0, 0, -1},
        {1.5f, 2, 1, 2},
        {2.5f, 2, 2, 3},
        {-2.5f, -2, -2, -3},
        {0x1.fffffep-2f, 0, 0, 0},
        {0x1.000002p-1f, 1, 0, 1},
        {8388607.5f, 8388608, 8388607, 8388608},
        {4194303.5f, 4194304, 4194303, 4194304},
        {16777216.0f, 16777216, 16777216, 16777216},
        {0x1.fffffep30f, 2147483520, 2147483520, 2147483520},
        {0x1p31f, INT32_MAX, INT32_MAX, INT32_MAX},
        {-0x1p31f, INT32_MIN, INT32_MIN, INT32_MIN},
        {-0x1.000002p31f, INT32_MIN, INT32_MIN, INT32_MIN},
        {INFINITY, INT32_MAX, INT32_MAX, INT32_MAX},
        {-INFINITY, INT32_MIN, INT32_MIN, INT32_MIN},
        {NAN, INT32_MAX, INT32_MAX, INT32_MAX},
        {-NAN, INT32_MAX, INT32_MAX, INT32_MAX},
        {0x1p-149f, 0, 0, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        CU_ASSERT_EQUAL(xa_rne_i32(cases[i].x), cases[i].even);
        CU_ASSERT_EQUAL(xa_rtz_i32(cases[i].x), cases[i].zero);
        CU_ASSERT_EQUAL(xa_away_i32(cases[i].x), cases[i].away);
    }
    seed_random("conversions");
    uint32_t wrong = 0;
    for (int i = 0; i < SAMPLES; i++) {
        float x = xa_float(random_bits());
        if (!(fabsf(x) < 2e9f)) continue;
        wrong += xa_rne_i32(x) != (int32_t)rint((double)x);
        wrong += xa_rtz_i32(x) != (int32_t)x;
        wrong += xa_away_i32(x) != (int32_t)round((double)x);
        wrong += xa_round(x) != (float)rint((double)x);
    }
    CU_ASSERT_EQUAL(wrong, 0);
}

/* 2^20 bit patterns evenly over all floats, and as many around 0 to 128. */
static void elementary_functions(void) {
    static float x[SAMPLES], y[SAMPLES];
    seed_random("elementary functions");
    for (int f = 0; f < ARITH_ORACLE_COUNT; f++) {
        const arith_oracle *oracle = &arith_oracles[f];
        for (int i = 0; i < SAMPLES; i++) {
            uint32_t bits = random_bits();
            x[i] = xa_float(i % 2 ? bits : (bits & 0x87ffffffu) + 0x3c000000u);
        }
        for (int i = 0; i < SAMPLES; i += ORACLE_BLOCK) oracle->block(y + i, x + i);
        double worst = 0;
        for (int i = 0; i < SAMPLES; i++) {
            double error = ulp_error(y[i], oracle->truth((double)x[i]));
            if (error > worst) worst = error;
        }
        if (!(worst <= oracle->bound)) printf("\n%s: %g ulp", oracle->name, worst);
        CU_ASSERT_TRUE(worst <= oracle->bound);
    }
}

/* Against pow in double, whose special cases are those of IEEE 754. */
static void powers(void) {
    static const float special[] = {0,         -0.0f,     1,          -1,       2,        -2,   0.5f,
                                    -0.5f,     3,         -3,         INFINITY, 1e38f,    1e9f, -7.5,
                                    -INFINITY, 0x1p-149f, -0x1p-149f, 8388609,  16777216, NAN,  0x1p-126f};
    const int count = sizeof special / sizeof *special;
    seed_random("powers");
    double worst = 0;
    for (int i = 0; i < SAMPLES; i++) {
        float x = xa_float(random_bits()), y = xa_float(random_bits());
        if (i % 4 == 1) x = fabsf(x), y = random_int(-1000000, 1000000) * 1e-5f;
        if (i % 4 == 2)
            x = fabsf(x), y = (float)(random_int(-150000, 150000) / 1000.0 / log2((double)x)); /* any size */
        if (i % 4 == 3) x = random_int(-100000, 100000) * 1e-3f, y = (float)random_int(-20, 20);
        if (i < count * count) x = special[i / count], y = special[i % count];
        double truth = pow((double)x, (double)y), error = ulp_error(xa_pow(x, y), truth);
        if (!(error <= 2.0)) printf("\npow(%a, %a): %g ulp", (double)x, (double)y, error);
        if (truth == 0) CU_ASSERT_EQUAL(signbit(truth) != 0, signbit(xa_pow(x, y)) != 0);
        if (!(error <= worst)) worst = error;
    }
    CU_ASSERT_TRUE(worst <= 2.0);
}

static int64_t clamp_64(double x, int64_t zero, int64_t lo, int64_t hi) {
    if (!(x < 1e15)) return hi;
    int64_t q = (int64_t)rint(x < -1e15 ? -1e15 : x) + zero;
    return q < lo ? lo : q > hi ? hi : q;
}

/* Bit for bit C's. */
static void remainders(void) {
    static const uint32_t edges[] = {0,          0x80000000, 1,          0x80000001, 0x7fffff,
                                     0x800000,   0x3f800000, 0xbfc00000, 0x7f7fffff, 0xff7fffff,
                                     0x7f800000, 0xff800000, 0x7fc00000, 0x40400000};
    enum { EDGES = sizeof edges / sizeof *edges };
    seed_random("remainders");
    for (uint32_t i = 0; i < 200000; i++) {
        uint32_t x = i < EDGES * EDGES ? edges[i / EDGES] : random_bits();
        uint32_t y = i < EDGES * EDGES ? edges[i % EDGES]
                     : i & 1           ? random_bits()
                                       : x ^ (random_bits() >> (4 + (i & 15)));
        check_bits("fmod", x, xa_fmod(xa_float(x), xa_float(y)),
                   xa_bits(xa_canonical(fmodf(xa_float(x), xa_float(y)))));
    }
}

/* Products of two floats are exact in double, quotients round the same way through double. */
static void quantised_products(void) {
    seed_random("quantised products");
    uint32_t wrong = 0;
    for (int i = 0; i < ROUNDS; i++) {
        int32_t acc = (int32_t)random_bits() >> random_int(0, 24), zero = random_int(-128, 127);
        float xs = random_scale(1e-4, 1), ws = random_scale(1e-4, 1), ys = random_scale(1e-3, 10);
        float s = (float)((double)(float)((double)xs * ws) / ys);
        wrong += xa_requantize_scale(xs, ws, ys) != s;
        float product = (float)((double)(float)(double)acc * s);
        wrong += xa_requantize(acc, s, zero, -128, 127) != clamp_64(product, zero, -128, 127);

        int64_t sum = (int64_t)((uint64_t)random_bits() << 32 | random_bits()) >> random_int(24, 60);
        wrong += xa_wide_float((int32_t)(sum >> 16), sum & 0xffff) != (float)sum;
        product = (float)((double)(float)sum * s);
        wrong += xa_mean((int32_t)(sum >> 16), sum & 0xffff, s, zero, -128, 127) != clamp_64(product, zero, -128, 127);
        wrong += xa_mean(acc >> 16, acc & 0xffff, s, zero, -128, 127) != xa_requantize(acc, s, zero, -128, 127);

        int32_t n = random_int(1, 5000);
        float average = (float)((double)xs / (float)((double)ys * n));
        wrong += xa_average_scale(xs, ys, n) != average;

        float x = xa_float(random_bits());
        float quotient = (float)((double)x / xs);
        wrong += xa_quantize(x, xs, zero, -128, 127) != clamp_64(quotient, zero, -128, 127);
        x = (float)((random_int(-300, 300) + 0.5) * xs);
        quotient = (float)((double)x / xs);
        wrong += xa_quantize(x, xs, zero, -128, 127) != clamp_64(quotient, zero, -128, 127);
        wrong += xa_quantize_away(x, xs, zero, 0, 255) != clamp_64(round(quotient), zero, 0, 255);
        wrong += xa_dequantize(acc % 256, xs, zero) != (float)((double)(acc % 256 - zero) * xs);
    }
    CU_ASSERT_EQUAL(wrong, 0);
    CU_ASSERT_EQUAL(xa_requantize(INT32_MAX, 1.0f, 100, -128, 127), 127);
    CU_ASSERT_EQUAL(xa_requantize(INT32_MIN, 1.0f, -100, -128, 127), -128);
    CU_ASSERT_EQUAL(xa_requantize(0, xa_nan(), 0, -128, 127), 127);
    CU_ASSERT_EQUAL(xa_quantize(xa_inf(), 0.5f, 127, 0, 255), 255);
    CU_ASSERT_EQUAL(xa_quantize(-xa_inf(), 0.5f, 0, 0, 255), 0);
}

/* With the zero point a quotient next to a tie becomes one; recorded from onnxruntime's QLinearAveragePool. */
static void quantised_with_zero_first(void) {
    CU_ASSERT_EQUAL(xa_quantize(0x1.400002p+1f, 1, 128, 0, 255), 131);
    CU_ASSERT_EQUAL(xa_quantize_shifted(0x1.400002p+1f, 1, 128, 0, 255), 130);
    CU_ASSERT_EQUAL(xa_quantize_shifted(3.5f, 1, 128, 0, 255), 132);
    CU_ASSERT_EQUAL(xa_quantize_shifted(3.5f, 1, 127, 0, 255), 130);
    CU_ASSERT_EQUAL(xa_quantize(3.5f, 1, 127, 0, 255), 131);
    CU_ASSERT_EQUAL(xa_quantize_shifted(xa_inf(), 1, -128, -128, 127), 127);
    CU_ASSERT_EQUAL(xa_quantize_shifted(-xa_inf(), 1, 127, -128, 127), -128);
    CU_ASSERT_EQUAL(xa_quantize_shifted(xa_nan(), 1, 0, -128, 127), 127);
}

/* xa_quantize_byte at what lies within eight floats of half way between two bytes, for scales of every kind. */
static uint32_t wrong_bytes(float scale) {
    uint32_t wrong = 0;
    xa_divisor divisor = xa_divisor_of(scale);
    for (int half = -600; half <= 600; half++) {
        uint32_t near = xa_bits((float)((half + 0.5) * (double)scale));
        for (uint32_t bits = near - 8; bits <= near + 8; bits++) {
            float x = xa_float(bits);
            wrong += xa_quantize_byte(x, divisor, 0, -512, 511) != xa_quantize(x, scale, 0, -512, 511);
        }
    }
    return wrong;
}

static void quantised_bytes(void) {
    seed_random("quantised bytes");
    uint32_t wrong = 0;
    const char *scales = getenv("XPU_SCALES");
    int count = scales ? atoi(scales) : 60;
    for (int i = 0; i < count; i++) {
        wrong += wrong_bytes(random_scale(1e-4, 1));
        wrong += wrong_bytes(xa_float((uint32_t)random_int(37 << 23, (217 << 23) - 1)));
        wrong += wrong_bytes((float)random_int(1, 999) * 0.001f);
    }
    for (float scale = 0x1p-90f; scale <= 0x1p90f; scale *= 4) {
        CU_ASSERT(xa_is_divisor(scale));
        wrong += wrong_bytes(scale) + wrong_bytes(scale * 0x1.fffffep0f) + wrong_bytes(scale * 0x1.000002p0f);
    }
    CU_ASSERT_EQUAL(wrong, 0);
    static const float special[] = {INFINITY,  -INFINITY,  NAN,     0.0f,     -0.0f,
                                    0x1p-149f, -0x1p-149f, FLT_MAX, -FLT_MAX, FLT_MIN};
    for (int i = 0; i < ROUNDS; i++) {
        float x = i < 10 ? special[i] : xa_float(random_bits()),
              scale = xa_float((uint32_t)random_int(37 << 23, 217 << 23));
        int32_t zero = random_int(-128, 127);
        wrong += xa_quantize_byte(x, xa_divisor_of(scale), zero, -128, 127) != xa_quantize(x, scale, zero, -128, 127);
    }
    CU_ASSERT_EQUAL(wrong, 0);
    CU_ASSERT(!xa_is_divisor(0x1p-91f) && !xa_is_divisor(0x1p91f) && !xa_is_divisor(-1) && !xa_is_divisor(xa_nan()));
}

/* Sums of exact products are exact in long double for these sizes. */
static void quantised_add_and_mul(void) {
    seed_random("quantised add and mul");
    uint32_t wrong = 0;
    for (int i = 0; i < ROUNDS; i++) {
        float sa = random_scale(1e-3, 1), sb = random_scale(1e-3, 1), sc = random_scale(1e-3, 1);
        int32_t za = random_int(-128, 127), zb = random_int(-128, 127), zc = random_int(-128, 127);
        xa_qadd_constants k = xa_qadd_prepare(sa, za, sb, zb, sc, zc);
        float ra = (float)((double)sa / sc), rb = (float)((double)sb / sc);
        float inner = (float)((long double)ra * za + (long double)(float)((double)rb * zb));
        float f = (float)((double)zc - inner);
        wrong += k.ra != ra || k.rb != rb || k.f != f;

        int32_t a = random_int(-128, 127), b = random_int(-128, 127);
        float first = (float)((long double)b * rb + f);
        float sum = (float)((long double)a * ra + first);
        wrong += xa_qadd(a, b, k.ra, k.rb, k.f, -128, 127) != clamp_64(sum, 0, -128, 127);

        float r = (float)((double)(float)((double)sa * sb) / sc);
        wrong += xa_qmul_scale(sa, sb, sc) != r;
        float product = (float)((double)((a - za) * (b - zb)) * r);
        float shifted = (float)((double)product + zc);
        wrong += xa_qmul(a, za, b, zb, r, zc, -128, 127) != clamp_64(shifted, 0, -128, 127);
    }
    CU_ASSERT_EQUAL(wrong, 0);
}

static void absmax_quantisation(void) {
    static const float values[] = {-0.0f, 3.0f, -5.0f, 1.0f};
    CU_ASSERT_EQUAL(xa_absmax_of(values, 4), 5.0f);
    CU_ASSERT_EQUAL(xa_absmax_of(values, 0), 0.0f);
    CU_ASSERT_EQUAL(xa_absmax(2.0f, -1.0f), 2.0f);
    CU_ASSERT_EQUAL(xa_absmax(2.0f, xa_nan()), xa_inf());
    CU_ASSERT_EQUAL(xa_absmax(xa_inf(), 1.0f), xa_inf());
    CU_ASSERT_EQUAL(xa_absmax(0.0f, 0x1p-149f), 0x1p-149f);

    CU_ASSERT_EQUAL(xa_absmax_scale(0.0f, XA_I16_MAX), 0.0f);
    CU_ASSERT_EQUAL(xa_absmax_inverse(0.0f, XA_I16_MAX), 0.0f);
    CU_ASSERT_TRUE(xa_is_nan(xa_absmax_scale(xa_inf(), XA_I16_MAX)));
    CU_ASSERT_TRUE(xa_is_nan(xa_absmax_scale(xa_nan(), XA_I16_MAX)));
    float tiny = xa_absmax_inverse(0x1p-149f, XA_I16_MAX); /* 32767 / absmax would overflow */
    CU_ASSERT_EQUAL(xa_absmax_quantize(0.0f, tiny, XA_I16_MAX), 0);

    seed_random("absmax");
    uint32_t wrong = 0;
    for (int i = 0; i < ROUNDS; i++) {
        float absmax = random_scale(1e-30, 1e30), x = (float)(absmax * (random_int(-1000, 1000) / 1000.0));
        int32_t limit = i % 2 ? XA_I16_MAX : 127;
        float inverse = (float)((double)limit / absmax);
        wrong += xa_absmax_scale(absmax, limit) != (float)((double)absmax / limit);
        wrong += xa_absmax_inverse(absmax, limit) != inverse;
        int64_t q = clamp_64((float)((double)x * inverse), 0, -limit, limit);
        wrong += xa_absmax_quantize(x, inverse, limit) != q;
        wrong += xa_absmax_quantize(-absmax, inverse, limit) != -limit;
    }
    CU_ASSERT_EQUAL(wrong, 0);
}

static void accumulators_of_48_bits(void) {
    CU_ASSERT_EQUAL(xa_acc48_wrap(INT64_C(1) << 47), -(INT64_C(1) << 47));
    CU_ASSERT_EQUAL(xa_acc48_wrap((INT64_C(1) << 47) - 1), (INT64_C(1) << 47) - 1);
    CU_ASSERT_EQUAL(xa_acc48_wrap(-(INT64_C(1) << 47) - 1), (INT64_C(1) << 47) - 1);
    CU_ASSERT_EQUAL(xa_acc48_wrap(INT64_C(1) << 48), 0);
    CU_ASSERT_EQUAL(xa_acc48_to_float(INT64_C(16777217)), 16777216.0f);
    CU_ASSERT_EQUAL(xa_acc48_to_float(INT64_C(16777219)), 16777220.0f);
    CU_ASSERT_EQUAL(xa_acc48_to_float(-(INT64_C(1) << 47)), -0x1p47f);
    CU_ASSERT_EQUAL(xa_acc48_to_float((INT64_C(1) << 47) - 1), 0x1p47f);
    seed_random("accumulators");
    uint32_t wrong = 0;
    for (int i = 0; i < ROUNDS; i++) {
        int64_t acc = xa_acc48_wrap((int64_t)((uint64_t)random_bits() << 32 | random_bits())) >> random_int(0, 47);
        wrong += xa_acc48_to_float(acc) != (float)acc;
    }
    CU_ASSERT_EQUAL(wrong, 0);
}

static void post_processor(void) {
    static uint8_t table[256];
    for (int i = 0; i < 256; i++) table[i] = (uint8_t)(255 - i);
    xa_post_quantised p = {.zero = 3, .lo = -128, .hi = 127, .lo2 = -100, .hi2 = 100, .ra = 0.5f, .rb = 0.25f, .f = 2};
    CU_ASSERT_EQUAL(xa_post_quantise(100, 0.5f, 40, &p), 53);
    p.has_branch = true;
    CU_ASSERT_EQUAL(xa_post_quantise(100, 0.5f, 40, &p), 38); /* 26.5 + 10 + 2 = 38.5, to even */
    CU_ASSERT_EQUAL(xa_post_quantise(100000, 0.5f, 255, &p), 100);
    p.table = table;
    CU_ASSERT_EQUAL(xa_post_quantise(100, 0.5f, 40, &p), 217);
    p.table_is_signed = true;
    CU_ASSERT_EQUAL(xa_post_quantise(100, 0.5f, 40, &p), 217 - 256);

    /* the second operand times its factor is rounded with f: 2^24 + 1 is 2^24, then + 2; 2^24 + 2, then + 1 is a tie */
    p = (xa_post_quantised){.lo = -128,
                            .hi = 127,
                            .has_branch = true,
                            .ra = 0.5f,
                            .rb = 0.25f,
                            .f = 0x1p24f,
                            .lo2 = INT32_MIN,
                            .hi2 = INT32_MAX};
    CU_ASSERT_EQUAL(xa_post_quantise(4, 1, 4, &p), 0x1000002);
    p.branch_first = true;
    CU_ASSERT_EQUAL(xa_post_quantise(4, 1, 4, &p), 0x1000004);

    xa_post_float q = {.activation = XA_ACT_CLIP, .lo = 0, .hi = 6, .slope = 0.5f};
    CU_ASSERT_EQUAL(xa_post_floating(-8, 0.5f, 1, 10, &q), 0);
    q.has_bias = q.has_branch = true;
    CU_ASSERT_EQUAL(xa_post_floating(-8, 0.5f, 1, 10, &q), 10); /* clip(-3) + 10 */
    q.act_after = true;
    CU_ASSERT_EQUAL(xa_post_floating(-8, 0.5f, 1, 10, &q), 6);
    q.activation = XA_ACT_LEAKY;
    CU_ASSERT_EQUAL(xa_post_floating(-8, 0.5f, 1, -2, &q), -2.5f);
    q.activation = XA_ACT_NONE;
    CU_ASSERT_EQUAL(xa_post_floating(-8, 0.5f, 1, -2, &q), -5);
    for (int activation = XA_ACT_NONE; activation <= XA_ACT_LEAKY;
         activation++) { /* a scale that is NaN, as of int16 */
        q.activation = (xa_activation)activation;
        for (q.act_after = false;; q.act_after = true) {
            CU_ASSERT(xa_is_nan(xa_post_floating(3, xa_nan(), 1, 2, &q)) &&
                      xa_is_nan(xa_post_floating(3, 1, 1, xa_nan(), &q)));
            if (q.act_after) break;
        }
    }
    q = (xa_post_float){.has_bias = true, .has_branch = true, .act_after = true};
    /* each step rounds: 2^24 + 1 + 1 stays 2^24, and 3 * fl(1/3) - 1 is 0 */
    CU_ASSERT_EQUAL(xa_post_floating(0x1p24f, 1, 1, 1, &q), 0x1p24f);
    CU_ASSERT_EQUAL(xa_post_floating(3, 0x1.555556p-2f, -1, 0, &q), 0);
}

static void reductions(void) {
    float x[100];
    seed_random("reductions");
    for (int i = 0; i < 100; i++) x[i] = (float)(int32_t)random_bits() * 0x1p-20f;
    for (size_t n = 0; n <= 50; n++) {
        float lane[16] = {0}, most = -INFINITY;
        for (size_t i = 0; i < n; i++) {
            lane[i & 15] += x[2 * i];
            most = fmaxf(most, x[2 * i]);
        }
        float eight[8], four[4];
        for (int i = 0; i < 8; i++) eight[i] = lane[i] + lane[i + 8];
        for (int i = 0; i < 4; i++) four[i] = eight[i] + eight[i + 4];
        float sum = (four[0] + four[2]) + (four[1] + four[3]);
        CU_ASSERT_EQUAL(xa_reduce_sum(x, n, 2), sum);
        CU_ASSERT_EQUAL(xa_reduce_max(x, n, 2), most);
    }
    CU_ASSERT_EQUAL(xa_bits(xa_reduce_sum(&(float){-0.0f}, 1, 1)), 0); /* lanes start at +0 */
    for (size_t n = 1; n <= 40; n++) {                                 /* a NaN at the end, then in the middle */
        float end = x[n - 1], middle = x[n / 2];
        x[n - 1] = xa_nan();
        CU_ASSERT(xa_is_nan(xa_reduce_max(x, n, 1)) && xa_is_nan(xa_reduce_sum(x, n, 1)));
        x[n - 1] = end, x[n / 2] = xa_float(0xffc00001);
        CU_ASSERT(xa_is_nan(xa_reduce_max(x, n, 1)) && xa_is_nan(xa_reduce_sum(x, n, 1)));
        x[n / 2] = middle;
    }
}

#define OPERANDS_1(a, b, c) a
#define OPERANDS_2(a, b, c) a, b
#define OPERANDS_3(a, b, c) a, b, c
#define IMMEDIATES_0        /* none */
#define IMMEDIATES_1        , 0.25f
#define IMMEDIATES_2        , 0.25f, 0.75f
#define IMMEDIATES_3        , 0.25f, 0.75f, 0.5f

/* The steps that are no operators. Those that are have the answers of onnxruntime in tests/sweep. */
static void steps_of_chains(void) {
    CU_ASSERT_EQUAL(xa_add_scalar(0.5f, 2.0f), 2.5f);
    CU_ASSERT_EQUAL(xa_mul_scalar(0.5f, 3.0f), 1.5f);
    CU_ASSERT_EQUAL(xa_mul_add(0.5f, 2.0f, 3.0f), 4.0f);
    CU_ASSERT_EQUAL(xa_mul_add(0x1.000002p+0f, 0x1.000002p+0f, -0x1.000004p+0f), 0.0f); /* not fused */
    CU_ASSERT_EQUAL(xa_identity(0.5f), 0.5f);
    uint32_t count = 0;
#define EW(...)
#define EW_STEP(...) count++;
#include "core/ops/elementwise.def"
    CU_ASSERT_EQUAL(count, 4);
}

/* Some have a result that a NaN does not change: of the second operand, or of any. */
static bool passes_nan(const char *name, int operand) {
    if (strcmp(name, "thresholded_relu") == 0 || strcmp(name, "shrink") == 0) return true;
    return operand > 0 ? strcmp(name, "prelu") == 0 || strcmp(name, "pow") == 0 : strcmp(name, "pow") == 0;
}

/* In every row a NaN, of either sign and whether quiet or not, in any operand gives a NaN. */
static void nan_spreads(void) {
    static const uint32_t nans[] = {0x7fc00000, 0xffc00000, 0x7f800001, 0xff812345};
    static const float others[] = {0, -0.0f, 2, -3, 100, INFINITY, -INFINITY};
    for (size_t i = 0; i < sizeof nans / sizeof *nans; i++) {
        for (size_t j = 0; j < sizeof others / sizeof *others; j++) {
            const float nan = xa_float(nans[i]), x = others[j];
#define CALL(id, operands, immediates, a, b, c) xa_##id(OPERANDS_##operands(a, b, c) IMMEDIATES_##immediates)
#define EW_FLOAT_ROW(id, operands, immediates, ...)                                                                    \
    if (!passes_nan(#id, 0)) check_bits(#id, nans[i], CALL(id, operands, immediates, nan, x, x), NOT_A_NUMBER);        \
    if (operands > 1 && !passes_nan(#id, 1))                                                                           \
        check_bits(#id, nans[i], CALL(id, operands, immediates, x, nan, x), NOT_A_NUMBER);                             \
    if (operands > 2) check_bits(#id, nans[i], CALL(id, operands, immediates, x, x, nan), NOT_A_NUMBER);
#include "core/ops/elementwise.def"
        }
    }
}

static void no_contraction(void) {
    CU_ASSERT_TRUE(xa_contraction_is_off());
}

XPU_TEST_MAIN("arith", {"edge cases", edge_cases}, {"minimum and maximum", minimum_and_maximum},
              {"conversion to integer", conversion_to_integer}, {"elementary functions", elementary_functions},
              {"powers", powers}, {"remainders", remainders}, {"quantised products", quantised_products},
              {"quantised bytes", quantised_bytes}, {"zero point first", quantised_with_zero_first},
              {"quantised add and mul", quantised_add_and_mul}, {"absmax quantisation", absmax_quantisation},
              {"accumulators of 48 bits", accumulators_of_48_bits}, {"post-processor", post_processor},
              {"reductions", reductions}, {"steps of chains", steps_of_chains}, {"NaN spreads", nan_spreads},
              {"no contraction", no_contraction})
