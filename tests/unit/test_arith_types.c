/* core/arith_types.h against formulas in double and 128-bit integers, and the device's 64-bit functions against the
 * host's. */
#include <float.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/tensor.h"
#include "core/arith_types.h"
#include "tests/unit/unit.h"

/* The device's functions under names that the host's library does not have. */
#define __udivdi3     device_udivdi3
#define __umoddi3     device_umoddi3
#define __divdi3      device_divdi3
#define __moddi3      device_moddi3
#define __floatundisf device_floatundisf
#define __floatdisf   device_floatdisf
#define __fixunssfdi  device_fixunssfdi
#define __fixsfdi     device_fixsfdi
#include "xpu_runtime/devrt/wide.c"

enum { ROUNDS = 1 << 20 };

static uint64_t random_state = 0x9e3779b97f4a7c15u;
static uint64_t random_64(void) {
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return random_state;
}
/* Of every size, often near a power of two. */
static uint64_t random_wide(void) {
    uint64_t x = random_64() >> (random_64() & 63), kind = random_64() & 7;
    if (kind == 0) x = ((uint64_t)1 << (random_64() & 63)) + (random_64() & 3) - 2;
    return kind & 1 ? 0 - x : x;
}

static void check(const char *what, uint64_t x, uint64_t got, uint64_t expected) {
    if (got != expected) {
        printf("\n%s(%llx): %llx, expected %llx", what, (unsigned long long)x, (unsigned long long)got,
               (unsigned long long)expected);
        CU_FAIL("");
    }
}

/* ---- narrow floats ---- */

static double value_of(uint32_t bits, int fraction_bits, int bias) {
    int exponent = (int)(bits >> fraction_bits), fraction = (int)(bits & ((1u << fraction_bits) - 1));
    return exponent ? ldexp((1 << fraction_bits) + fraction, exponent - bias - fraction_bits)
                    : ldexp(fraction, 1 - bias - fraction_bits);
}

/* Every number of the format, the middle between it and the next, and the floats beside that. */
static void narrow(const char *name, uint16_t (*bits_of_float)(float), float (*from)(uint16_t), int fraction_bits,
                   int bias, uint32_t inf) {
    for (uint32_t n = 0; n < inf; n++) {
        double number = value_of(n, fraction_bits, bias), next = value_of(n + 1, fraction_bits, bias);
        float middle = (float)((number + next) / 2);
        check(name, n, xa_bits(from((uint16_t)n)), xa_bits((float)number));
        check(name, n, xa_bits(from((uint16_t)(n | 0x8000))), xa_bits(-(float)number));
        check(name, n, bits_of_float((float)number), n);
        check(name, n, bits_of_float(-(float)number), n | 0x8000);
        check(name, n, bits_of_float(nextafterf(middle, 0)), n);
        check(name, n, bits_of_float(middle), n + (n & 1));
        check(name, n, bits_of_float(-middle), (n + (n & 1)) | 0x8000);
        check(name, n, bits_of_float(nextafterf(middle, INFINITY)), n + 1);
    }
    check(name, inf, bits_of_float(INFINITY), inf);
    check(name, inf, bits_of_float(-INFINITY), inf | 0x8000);
    check(name, inf, bits_of_float(FLT_MAX), inf);
    check(name, inf, xa_bits(from((uint16_t)inf)), 0x7f800000);
    uint16_t nan = bits_of_float(-NAN);
    CU_ASSERT((nan & inf) == inf && (nan & ~inf & 0x7fffu) != 0);
    for (uint32_t n = inf + 1; n < 0x8000; n++) CU_ASSERT(isnan(from((uint16_t)n)));
}
static uint16_t half_bits(float x) {
    return xa_float16_bits(x);
}
static float half_from(uint16_t x) {
    return xa_from_float16(x);
}
static uint16_t brain_bits(float x) {
    return xa_bfloat16_bits(x);
}
static float brain_from(uint16_t x) {
    return xa_from_bfloat16(x);
}
/* xpu_dtype_element, which works another way, says the same. */
static uint16_t element_bits(xpu_dtype dtype, float x) {
    unsigned char element[XPU_ELEMENT_BYTES];
    xpu_dtype_element(dtype, x, element);
    return (uint16_t)(element[0] | element[1] << 8);
}
static uint16_t half_element(float x) {
    return element_bits(XPU_F16, x);
}
static uint16_t brain_element(float x) {
    return element_bits(XPU_BF16, x);
}
static void narrow_floats(void) {
    narrow("element of float16", half_element, half_from, 10, 15, 0x7c00);
    narrow("element of bfloat16", brain_element, brain_from, 7, 127, 0x7f80);
    narrow("float16", half_bits, half_from, 10, 15, 0x7c00);
    narrow("bfloat16", brain_bits, brain_from, 7, 127, 0x7f80);
}

/* ---- conversions ---- */

/* Toward zero, saturating; NaN gives the largest. */
static uint64_t saturated(float x, double least, double beyond, uint64_t lowest, uint64_t highest) {
    double whole = trunc((double)x);
    if (isnan(x) || whole >= beyond) return highest;
    return whole < least ? lowest : whole < 0 ? (uint64_t)(int64_t)whole : (uint64_t)whole;
}

static void float_to_integer(void) {
    static const float special[] = {
        0,       -0.0f,    0.99f,    -0.99f,   127.5f,    128,     -128.9f,        -129,          255.9f,  256,
        32768,   -32769.f, 65535.9f, 65536,    -1,        0x1p31f, -0x1p31f,       0x1p32f,       0x1p63f, -0x1p63f,
        0x1p64f, 1e30f,    -1e30f,   INFINITY, -INFINITY, NAN,     0x1.fffffep62f, 0x1.fffffep63f};
    enum { SPECIAL = sizeof special / sizeof *special };
    for (int i = 0; i < ROUNDS; i++) {
        float x = i < SPECIAL ? special[i] : xa_float((uint32_t)random_64());
        uint64_t bits = xa_bits(x);
        check("int8", bits, (uint64_t)xa_to_int8_f32(x), saturated(x, -0x1p7, 0x1p7, (uint64_t)INT8_MIN, INT8_MAX));
        check("int16", bits, (uint64_t)xa_to_int16_f32(x),
              saturated(x, -0x1p15, 0x1p15, (uint64_t)INT16_MIN, INT16_MAX));
        check("int32", bits, (uint64_t)xa_to_int32_f32(x),
              saturated(x, -0x1p31, 0x1p31, (uint64_t)INT32_MIN, INT32_MAX));
        check("int64", bits, (uint64_t)xa_to_int64_f32(x),
              saturated(x, -0x1p63, 0x1p63, (uint64_t)INT64_MIN, INT64_MAX));
        check("uint8", bits, xa_to_uint8_f32(x), saturated(x, 0, 0x1p8, 0, UINT8_MAX));
        check("uint16", bits, xa_to_uint16_f32(x), saturated(x, 0, 0x1p16, 0, UINT16_MAX));
        check("uint32", bits, xa_to_uint32_f32(x), saturated(x, 0, 0x1p32, 0, UINT32_MAX));
        check("uint64", bits, xa_to_uint64_f32(x), saturated(x, 0, 0x1p64, 0, UINT64_MAX));
        check("bool", bits, (uint64_t)xa_to_bool_f32(x), !(fabsf(x) == 0));
    }
}

static void integer_to_others(void) {
    for (int i = 0; i < ROUNDS; i++) {
        uint64_t x = random_wide();
        check("int8", x, (uint64_t)xa_to_int8_i64((int64_t)x), (uint64_t)(int64_t)(int8_t)x);
        check("uint8", x, xa_to_uint8_i32((int32_t)x), x & 255);
        check("uint16", x, xa_to_uint16_u64(x), x & 65535);
        check("int32", x, (uint64_t)xa_to_int32_u64(x), (uint64_t)(int64_t)(int32_t)x);
        check("int64", x, (uint64_t)xa_to_int64_i32((int32_t)x), (uint64_t)(int64_t)(int32_t)x);
        check("uint64", x, xa_to_uint64_u32((uint32_t)x), (uint32_t)x);
        check("bool", x, (uint64_t)xa_to_bool_u64(x), x != 0);
        check("float32", x, xa_bits(xa_to_float32_i64((int64_t)x)), xa_bits((float)(int64_t)x));
        check("float16", x, xa_bits(xa_to_float16_i32((int32_t)x)), xa_bits(xa_fit_float16((float)(int32_t)x)));
    }
}

/* ---- operators ---- */

static void division(void) {
    for (int i = 0; i < ROUNDS; i++) {
        uint64_t a = random_wide(), b = random_wide();
        __int128 x = (int64_t)a, y = (int64_t)b;
        int64_t quotient = y ? (int64_t)(x / y) : -1, rest = y ? (int64_t)(x % y) : (int64_t)x;
        __int128 floor_rest = rest != 0 && (rest < 0) != (y < 0) ? rest + y : rest;
        check("div_i64", a, (uint64_t)xa_div_i64((int64_t)a, (int64_t)b), (uint64_t)quotient);
        check("fmod_i64", a, (uint64_t)xa_fmod_i64((int64_t)a, (int64_t)b), (uint64_t)rest);
        check("mod_i64", a, (uint64_t)xa_mod_i64((int64_t)a, (int64_t)b), (uint64_t)(int64_t)floor_rest);
        check("div_u64", a, xa_div_u64(a, b), b ? a / b : UINT64_MAX);
        check("mod_u64", a, xa_mod_u64(a, b), b ? a % b : a);
        int64_t p = (int32_t)a, q = (int32_t)b;
        check("div_i32", a, (uint32_t)xa_div_i32((int32_t)p, (int32_t)q), (uint32_t)(q ? p / q : -1));
        check("fmod_i32", a, (uint32_t)xa_fmod_i32((int32_t)p, (int32_t)q), (uint32_t)(q ? p % q : p));
        if (!b) continue;
        check("udivdi3", a, device_udivdi3(a, b), a / b);
        check("umoddi3", a, device_umoddi3(a, b), a % b);
        if (a == (uint64_t)INT64_MIN && b == UINT64_MAX) continue;
        check("divdi3", a, (uint64_t)device_divdi3((int64_t)a, (int64_t)b), (uint64_t)quotient);
        check("moddi3", a, (uint64_t)device_moddi3((int64_t)a, (int64_t)b), (uint64_t)rest);
    }
    check("div", 0, (uint64_t)xa_div_i64(INT64_MIN, -1), (uint64_t)INT64_MIN);
    check("div", 0, (uint32_t)xa_div_i32(INT32_MIN, -1), (uint32_t)INT32_MIN);
    check("mod", 0, (uint64_t)xa_mod_i64(INT64_MIN, -1), 0);
    check("mod", 0, (uint64_t)xa_mod_i32(-7, 3), 2);
    check("abs", 0, (uint32_t)xa_abs_i32(INT32_MIN), (uint32_t)INT32_MIN);
    check("shift", 0, xa_shift_left_u32(1, 32), 0);
    check("shift", 0, xa_shift_right_u64(UINT64_MAX, 64), 0);
    check("shift", 0, (uint32_t)xa_shift_right_i32(INT32_MIN, 31), UINT32_MAX);
    check("shift", 0, (uint64_t)xa_shift_right_i64(-5, 64), UINT64_MAX);
    check("shift", 0, (uint32_t)xa_shift_right_i32(5, -1), 0);
    check("pow", 0, xa_pow_u32(3, 21), 0x6f7c52b3); /* modulo 2^32 */
    check("pow", 0, (uint64_t)xa_pow_i64(-3, 39), (uint64_t)-4052555153018976267);
    check("pow", 0, (uint32_t)xa_pow_i32(0, -1), 0);
    check("pow", 0, (uint32_t)xa_pow_i32(0, 0), 1);
    check("pow", 0, (uint32_t)xa_pow_i32(-1, -3), UINT32_MAX);
    check("pow", 0, (uint32_t)xa_pow_i32(-1, INT32_MIN), 1);
    check("pow", 0, (uint32_t)xa_pow_i32(2, -1), 0);
}

static void wide_floats(void) {
    for (int i = 0; i < ROUNDS; i++) {
        uint64_t x = random_wide();
        check("floatundisf", x, xa_bits(device_floatundisf(x)), xa_bits((float)x));
        check("floatdisf", x, xa_bits(device_floatdisf((int64_t)x)), xa_bits((float)(int64_t)x));
        float y = xa_float((uint32_t)random_64());
        if (y >= 0 && y < 0x1p64f) check("fixunssfdi", xa_bits(y), device_fixunssfdi(y), (uint64_t)y);
        if (fabsf(y) < 0x1p63f) check("fixsfdi", xa_bits(y), (uint64_t)device_fixsfdi(y), (uint64_t)(int64_t)y);
    }
}

XPU_TEST_MAIN("types of elements", {"float16 and bfloat16", narrow_floats}, {"float to integer", float_to_integer},
              {"integer to others", integer_to_others}, {"division", division}, {"64 bits and floats", wide_floats})
