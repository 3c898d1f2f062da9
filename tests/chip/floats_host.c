/*
 * The host's half of the float comparison: computes what device/floats.c computes, with the host's own arithmetic and
 * rounding modes, and compares.
 *     floats_host check SEED FIRST COUNT PARTS HASHES    one line "differs: BLOCK OPERATION NAME" for what differs
 *     floats_host explain SEED BLOCK OPERATION DETAILS   the first operand that differs
 * The host rounds in four modes. To the nearest with ties away differs from ties to even where the exact result lies in
 * the middle of two floats, which products in double and exact sums of two doubles tell.
 */
#include <fenv.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/chip/floats.h"

enum { RNE, RTZ, RDN, RUP, RMM, NX = 1, UF = 2, OF = 4, DZ = 8, NV = 16 };

static unsigned mode; /* of the operation that is computed */

static uint32_t bits_of(float x) {
    uint32_t u;
    memcpy(&u, &x, 4);
    return u;
}
static float float_of(uint32_t u) {
    float x;
    memcpy(&x, &u, 4);
    return x;
}
static int is_nan(uint32_t u) {
    return (u & 0x7fffffff) > 0x7f800000;
}
static int is_signaling(uint32_t u) {
    return is_nan(u) && !(u & 0x00400000);
}

static void begin(unsigned rounding) {
    static const int host[] = {FE_TONEAREST, FE_TOWARDZERO, FE_DOWNWARD, FE_UPWARD, FE_TONEAREST};
    fesetround(host[rounding]);
    feclearexcept(FE_ALL_EXCEPT);
}
static uint32_t end(void) {
    int raised = fetestexcept(FE_ALL_EXCEPT);
    fesetround(FE_TONEAREST);
    return (uint32_t)((raised & FE_INEXACT ? NX : 0) | (raised & FE_UNDERFLOW ? UF : 0) |
                      (raised & FE_OVERFLOW ? OF : 0) | (raised & FE_DIVBYZERO ? DZ : 0) |
                      (raised & FE_INVALID ? NV : 0));
}

typedef enum { ADD, MUL, DIV, SQRT, FMA } operation;

/* x + y as a double and what is missing, exactly. */
static double exact_sum(double x, double y, double *missing) {
    volatile double sum = x + y, back = sum - x, rest = sum - back;
    volatile double lost_x = x - rest, lost_y = y - back;
    *missing = lost_x + lost_y;
    return sum;
}

/* Whether the exact result is m, the middle of two floats. */
static int is_exactly(operation op, double a, double b, double c, double m) {
    double missing, sum;
    switch (op) {
    case ADD: sum = exact_sum(a, b, &missing); return sum == m && missing == 0;
    case MUL: return a * b == m;
    case DIV: return m * b == a;
    case SQRT: return m * m == a;
    default: sum = exact_sum(a * b, c, &missing); return sum == m && missing == 0;
    }
}

static float native(operation op, volatile float a, volatile float b, volatile float c) {
    volatile float r;
    switch (op) {
    case ADD: r = a + b; break;
    case MUL: r = a * b; break;
    case DIV: r = a / b; break;
    case SQRT: r = sqrtf(a); break;
    default: r = fmaf(a, b, c);
    }
    return r;
}

static uint32_t compute(operation op, uint32_t a, uint32_t b, uint32_t c, uint32_t *flags) {
    float x = float_of(a), y = float_of(b), z = float_of(c);
    begin(mode);
    float r = native(op, x, y, z);
    *flags |= end();
    if (op == FMA && ((isinf(x) && y == 0) || (x == 0 && isinf(y)))) *flags |= NV;
    if (r != r) return 0x7fc00000;
    if (mode != RMM || isinf(r)) return bits_of(r);
    float away = nextafterf(r, r < 0 || bits_of(r) >> 31 ? -INFINITY : INFINITY);
    double middle = isinf(away) ? copysign(0x1.ffffffp127, r) : ((double)r + (double)away) / 2;
    return bits_of(is_exactly(op, x, y, z, middle) ? away : r);
}

static uint32_t to_integer(uint32_t a, double low, double high, unsigned rounding, uint32_t *flags) {
    double x = float_of(a), r;
    begin(rounding);
    volatile double v = x;
    r = rounding == RMM ? round(v) : nearbyint(v);
    end();
    if (x != x || r > high || r < low) {
        *flags |= NV;
        return (uint32_t)(int64_t)(x != x || r > high ? high : low);
    }
    if (r != x) *flags |= NX;
    return (uint32_t)(int64_t)r;
}

static uint32_t from_integer(double x, uint32_t *flags) {
    volatile double v = x;
    begin(mode);
    volatile float r = (float)v;
    *flags |= end();
    if (mode == RMM) {
        float away = nextafterf(r, x < 0 ? -INFINITY : INFINITY);
        if (x != 0 && ((double)r + (double)away) / 2 == x) return bits_of(away);
    }
    return bits_of(r);
}

static uint32_t extreme(uint32_t a, uint32_t b, int most, uint32_t *flags) {
    if (is_signaling(a) || is_signaling(b)) *flags |= NV;
    if (is_nan(a)) return is_nan(b) ? 0x7fc00000 : b;
    if (is_nan(b)) return a;
    float x = float_of(a), y = float_of(b);
    if (x == y) return most ? a & b : a | b; /* zeros of two signs */
    return (x < y) == !most ? a : b;
}

static uint32_t compare(uint32_t a, uint32_t b, int least, int most, int is_quiet, uint32_t *flags) {
    if (is_signaling(a) || is_signaling(b) || (!is_quiet && (is_nan(a) || is_nan(b)))) *flags |= NV;
    if (is_nan(a) || is_nan(b)) return 0;
    int order = float_of(a) < float_of(b) ? -1 : float_of(a) > float_of(b);
    return order >= least && order <= most;
}

static uint32_t class_of(uint32_t a) {
    uint32_t exponent = a >> 23 & 255, mantissa = a & 0x7fffff;
    if (exponent == 255 && mantissa) return mantissa & 0x400000 ? 512 : 256;
    unsigned kind = exponent == 255 ? 0 : exponent ? 1 : mantissa ? 2 : 3;
    return 1u << (a >> 31 ? kind : 7 - kind);
}

static uint32_t negated(uint32_t a) {
    return a ^ 0x80000000;
}

/* ---- Scalar ---- */

static uint32_t scalar(unsigned which, uint32_t a, uint32_t b, uint32_t c, uint32_t *flags) {
    switch (which) {
    case SCALAR_add: return compute(ADD, a, b, 0, flags);
    case SCALAR_sub: return compute(ADD, a, is_nan(b) ? b : negated(b), 0, flags);
    case SCALAR_mul: return compute(MUL, a, b, 0, flags);
    case SCALAR_div: return compute(DIV, a, b, 0, flags);
    case SCALAR_min: return extreme(a, b, 0, flags);
    case SCALAR_max: return extreme(a, b, 1, flags);
    case SCALAR_sgnj: return (a & 0x7fffffff) | (b & 0x80000000);
    case SCALAR_sgnjn: return (a & 0x7fffffff) | (~b & 0x80000000);
    case SCALAR_sgnjx: return a ^ (b & 0x80000000);
    case SCALAR_sqrt: return compute(SQRT, a, 0, 0, flags);
    case SCALAR_madd: return compute(FMA, a, b, c, flags);
    case SCALAR_msub: return compute(FMA, a, b, negated(c), flags);
    case SCALAR_nmsub: return compute(FMA, negated(a), b, c, flags);
    case SCALAR_nmadd: return compute(FMA, negated(a), b, negated(c), flags);
    case SCALAR_eq: return compare(a, b, 0, 0, 1, flags);
    case SCALAR_lt: return compare(a, b, -1, -1, 0, flags);
    case SCALAR_le: return compare(a, b, -1, 0, 0, flags);
    case SCALAR_class: return class_of(a);
    case SCALAR_to_i32: return to_integer(a, -0x1p31, 0x1p31 - 1, mode, flags);
    case SCALAR_to_u32: return to_integer(a, 0, 0x1p32 - 1, mode, flags);
    case SCALAR_from_i32: return from_integer((int32_t)a, flags);
    default: return from_integer(a, flags);
    }
}

/* ---- Vector ---- */

/* One lane of an operation whose result is a lane. */
static uint32_t lane(unsigned which, uint32_t a, uint32_t b, uint32_t c, uint32_t s, uint32_t *flags) {
    switch (which) {
    case VECTOR_add: return compute(ADD, a, b, 0, flags);
    case VECTOR_sub: return compute(ADD, a, is_nan(b) ? b : negated(b), 0, flags);
    case VECTOR_rsub: return compute(ADD, s, is_nan(a) ? a : negated(a), 0, flags);
    case VECTOR_mul: return compute(MUL, a, b, 0, flags);
    case VECTOR_div: return compute(DIV, a, b, 0, flags);
    case VECTOR_rdiv: return compute(DIV, s, a, 0, flags);
    case VECTOR_sqrt: return compute(SQRT, a, 0, 0, flags);
    case VECTOR_min: return extreme(a, b, 0, flags);
    case VECTOR_max: return extreme(a, s, 1, flags);
    case VECTOR_sgnj: return scalar(SCALAR_sgnj, a, b, 0, flags);
    case VECTOR_sgnjn: return scalar(SCALAR_sgnjn, a, b, 0, flags);
    case VECTOR_sgnjx: return scalar(SCALAR_sgnjx, a, b, 0, flags);
    case VECTOR_macc: return compute(FMA, a, b, c, flags);
    case VECTOR_nmacc: return compute(FMA, negated(a), b, negated(c), flags);
    case VECTOR_msac: return compute(FMA, s, b, negated(c), flags);
    case VECTOR_nmsac: return compute(FMA, negated(a), b, c, flags);
    case VECTOR_vmadd: return compute(FMA, a, c, b, flags);
    case VECTOR_vnmadd: return compute(FMA, negated(a), c, negated(b), flags);
    case VECTOR_vmsub: return compute(FMA, a, c, negated(b), flags);
    case VECTOR_vnmsub: return compute(FMA, negated(s), c, b, flags);
    case VECTOR_eq: return compare(a, b, 0, 0, 1, flags);
    case VECTOR_ne: return !compare(a, b, 0, 0, 1, flags);
    case VECTOR_lt: return compare(a, b, -1, -1, 0, flags);
    case VECTOR_le: return compare(a, b, -1, 0, 0, flags);
    case VECTOR_gt: return compare(a, s, 1, 1, 0, flags);
    case VECTOR_ge: return compare(a, s, 0, 1, 0, flags);
    case VECTOR_class: return class_of(a);
    case VECTOR_to_i32: return to_integer(a, -0x1p31, 0x1p31 - 1, mode, flags);
    case VECTOR_to_u32: return to_integer(a, 0, 0x1p32 - 1, mode, flags);
    case VECTOR_cut_i32: return to_integer(a, -0x1p31, 0x1p31 - 1, RTZ, flags);
    case VECTOR_cut_u32: return to_integer(a, 0, 0x1p32 - 1, RTZ, flags);
    case VECTOR_from_i32: return from_integer((int32_t)a, flags);
    case VECTOR_from_u32: return from_integer(a, flags);
    case VECTOR_to_i16: return to_integer(a, -32768, 32767, mode, flags) & 0xffff;
    case VECTOR_to_u16: return to_integer(a, 0, 65535, mode, flags) & 0xffff;
    case VECTOR_cut_i16: return to_integer(a, -32768, 32767, RTZ, flags) & 0xffff;
    case VECTOR_cut_u16: return to_integer(a, 0, 65535, RTZ, flags) & 0xffff;
    case VECTOR_from_i16: return from_integer((int16_t)(a >> 8), flags);
    default: return from_integer((uint16_t)(a >> 8), flags);
    }
}

static void group(unsigned which, const uint32_t *a, const uint32_t *b, const uint32_t *c, uint32_t vl, uint32_t *r,
                  uint32_t *flags) {
    int accumulates = which >= VECTOR_macc && which <= VECTOR_vnmsub;
    for (unsigned i = 0; i < LANES; i++) r[i] = accumulates ? c[i] : 0;
    if (which >= VECTOR_red_sum) {
        uint32_t sum = b[0];
        for (unsigned i = 0; i < vl; i++)
            sum = which == VECTOR_red_sum ? compute(ADD, sum, a[i], 0, flags)
                                          : extreme(sum, a[i], which == VECTOR_red_max, flags);
        r[0] = sum;
        return;
    }
    for (unsigned i = 0; i < vl; i++) {
        uint32_t x = lane(which, a[i], b[i], c[i], c[0], flags);
        if (which >= VECTOR_eq && which <= VECTOR_ge)
            r[0] |= x << i;
        else if (which >= VECTOR_to_i16 && which <= VECTOR_cut_u16)
            r[i / 2] |= x << (i % 2 * 16);
        else
            r[i] = x;
    }
}

/* ---- Blocks ---- */

static uint32_t a[BLOCK], b[BLOCK], c[BLOCK], values[BLOCK], raised[BLOCK];

/* Fills in values and raised; returns what the device keeps. */
static uint32_t expected(uint32_t block, unsigned which) {
    uint32_t hash = which, fold[LANES] = {0};
    memset(raised, 0, sizeof raised);
    if (which < VECTOR_FIRST) {
        for (unsigned i = 0; i < BLOCK; i++) {
            values[i] = scalar(which, a[i], b[i], c[i], &raised[i]);
            hash = float_mix(hash, values[i]) + raised[i];
        }
        return hash;
    }
    for (unsigned i = 0; i < BLOCK; i += LANES) {
        uint32_t flags = 0;
        group(which, a + i, b + i, c + i, float_lanes(block), values + i, &flags);
        hash = float_mix(hash, flags);
        for (unsigned k = 0; k < LANES; k++) {
            fold[k] = (fold[k] ^ values[i + k]) * 0x9e3779b1u;
            raised[i + k] = flags;
        }
    }
    for (unsigned k = 0; k < LANES; k++) hash = float_mix(hash, fold[k]);
    return hash;
}

static const char *const names[] = {
#define X(name, instruction, operands) instruction,
    SCALAR_OPERATIONS(X) VECTOR_OPERATIONS(X)
#undef X
};

static uint32_t *read_words(const char *path, size_t count) {
    uint32_t *words = malloc(count * 4);
    FILE *file = fopen(path, "rb");
    if (!words || !file || fread(words, 4, count, file) != count) {
        fprintf(stderr, "%s: does not hold %zu words\n", path, count);
        exit(2);
    }
    fclose(file);
    return words;
}

static uint32_t number(const char *text) {
    return (uint32_t)strtoul(text, NULL, 0);
}

static int check(char **arguments) {
    uint32_t seed = number(arguments[0]), first = number(arguments[1]), count = number(arguments[2]);
    uint32_t parts = number(arguments[3]), bad = 0;
    unsigned from = parts & 1 ? 0 : VECTOR_FIRST, to = parts & 2 ? OPERATIONS : VECTOR_FIRST;
    uint32_t *hashes = read_words(arguments[4], (size_t)count * (to - from)), *hash = hashes;
    for (uint32_t block = first; block < first + count; block++) {
        float_block(seed, block, a, b, c);
        mode = block % MODES;
        for (unsigned which = from; which < to; which++)
            if (*hash++ != expected(block, which) && bad++ < 10)
                printf("differs: %u %u %s\n", block, which, names[which]);
    }
    printf("%u operations on %u operands each: %u blocks differ\n", to - from, count * BLOCK, bad);
    free(hashes);
    return bad != 0;
}

static int explain(char **arguments) {
    static const char *const modes[] = {"rne", "rtz", "rdn", "rup", "rmm"};
    uint32_t block = number(arguments[1]), which = number(arguments[2]), *details = read_words(arguments[3], 2 * BLOCK);
    float_block(number(arguments[0]), block, a, b, c);
    mode = block % MODES;
    expected(block, which);
    for (unsigned i = 0; i < BLOCK; i++)
        if (details[2 * i] != values[i] || details[2 * i + 1] != raised[i]) {
            printf("%s %s, element %u: a %08x b %08x c %08x (s %08x): %08x flags %02x, host %08x flags %02x\n",
                   names[which], modes[mode], i, a[i], b[i], c[i], c[i / LANES * LANES], details[2 * i],
                   details[2 * i + 1], values[i], raised[i]);
            break;
        }
    free(details);
    return 0;
}

int main(int argc, char **argv) {
    if (argc == 7 && strcmp(argv[1], "check") == 0) return check(argv + 2);
    if (argc == 6 && strcmp(argv[1], "explain") == 0) return explain(argv + 2);
    fputs("floats_host check SEED FIRST COUNT PARTS HASHES | explain SEED BLOCK OPERATION DETAILS\n", stderr);
    return 2;
}
