/*
 * The functions that clang calls for 64-bit integers on RV32, under the names of the run-time library that Debian ships
 * for no riscv32. Divisors are not 0, floats are in range: core/arith_types.h says what else happens.
 */
#include <stdint.h>

uint64_t __udivdi3(uint64_t a, uint64_t b);
uint64_t __umoddi3(uint64_t a, uint64_t b);
int64_t __divdi3(int64_t a, int64_t b);
int64_t __moddi3(int64_t a, int64_t b);
float __floatundisf(uint64_t x);
float __floatdisf(int64_t x);
uint64_t __fixunssfdi(float x);
int64_t __fixsfdi(float x);

/* 1 to 64 bits that hold x; 0 for 0. */
static inline int bits_of(uint64_t x) {
    uint32_t high = (uint32_t)(x >> 32), low = (uint32_t)x;
    return high ? 64 - __builtin_clz(high) : low ? 32 - __builtin_clz(low) : 0;
}

/* Bit by bit, from the first that the quotient may have. */
static inline uint64_t divide(uint64_t a, uint64_t b, uint64_t *rest) {
    uint64_t quotient = 0;
    if ((a | b) >> 32 == 0) {
        *rest = (uint32_t)a % (uint32_t)b;
        return (uint32_t)a / (uint32_t)b;
    }
    for (int shift = bits_of(a) - bits_of(b); shift >= 0; shift--) {
        uint64_t part = b << shift;
        if (part > a) continue;
        a -= part;
        quotient |= (uint64_t)1 << shift;
    }
    *rest = a;
    return quotient;
}

static inline uint64_t magnitude(int64_t x) {
    return x < 0 ? 0 - (uint64_t)x : (uint64_t)x;
}

uint64_t __udivdi3(uint64_t a, uint64_t b) {
    uint64_t rest;
    return divide(a, b, &rest);
}

uint64_t __umoddi3(uint64_t a, uint64_t b) {
    uint64_t rest;
    divide(a, b, &rest);
    return rest;
}

int64_t __divdi3(int64_t a, int64_t b) {
    uint64_t rest, quotient = divide(magnitude(a), magnitude(b), &rest);
    return (int64_t)((a < 0) != (b < 0) ? 0 - quotient : quotient);
}

int64_t __moddi3(int64_t a, int64_t b) {
    uint64_t rest;
    divide(magnitude(a), magnitude(b), &rest);
    return (int64_t)(a < 0 ? 0 - rest : rest);
}

static inline float scaled(uint32_t x, int exponent) {
    union {
        uint32_t bits;
        float value;
    } power = {(uint32_t)(127 + exponent) << 23};
    return (float)x * power.value;
}

/* The first 32 bits, the last of which stands for all that follow: only one conversion rounds. */
float __floatundisf(uint64_t x) {
    int drop = bits_of(x) - 32;
    if (drop <= 0) return (float)(uint32_t)x;
    uint32_t lost = (x & (((uint64_t)1 << drop) - 1)) != 0;
    return scaled((uint32_t)(x >> drop) | lost, drop);
}

float __floatdisf(int64_t x) {
    float size = __floatundisf(magnitude(x));
    return x < 0 ? -size : size;
}

uint64_t __fixunssfdi(float x) {
    union {
        float value;
        uint32_t bits;
    } number = {x};
    int exponent = (int)(number.bits >> 23 & 255) - 127;
    if (exponent < 32) return (uint32_t)x;
    return (uint64_t)((number.bits & 0x7fffffu) | 0x800000u) << (exponent - 23);
}

int64_t __fixsfdi(float x) {
    return x < 0 ? (int64_t)(0 - __fixunssfdi(-x)) : (int64_t)__fixunssfdi(x);
}
