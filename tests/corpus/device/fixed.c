/* Fixed point, saturating and widening arithmetic in plain C. */
#include "tests/corpus/device/support/corpus.h"

INLINE int32_t clamp(int32_t x, int32_t lo, int32_t hi) {
    return x < lo ? lo : x > hi ? hi : x;
}

KERNEL(q15_multiply) {
    int16_t a[200], b[200], c[200];
    for (int i = 0; i < 200; i++) a[i] = (int16_t)next(&seed), b[i] = (int16_t)(i % 10 ? next(&seed) : 0x8000);
    a[10] = INT16_MIN;
    for (int i = 0; i < 200; i++) c[i] = (int16_t)clamp((a[i] * b[i] + 0x4000) >> 15, INT16_MIN, INT16_MAX);
    for (int i = 0; i < 100; i++) out[i] = (uint16_t)c[2 * i] | (uint32_t)(uint16_t)c[2 * i + 1] << 16;
}

KERNEL(q31_dot) {
    int32_t a[128], b[128];
    for (int i = 0; i < 128; i++) a[i] = (int32_t)next(&seed), b[i] = (int32_t)next(&seed);
    for (int shift = 0; shift < 32; shift++) {
        int64_t sum = 0;
        for (int i = 0; i < 128; i++) sum += ((int64_t)a[i] * b[i]) >> (shift + 8);
        out[2 * shift] = (uint32_t)sum, out[2 * shift + 1] = (uint32_t)((uint64_t)sum >> 32);
    }
}

#define SATURATE(name, type, wide, least, most)                                                                        \
    static void name(uint32_t *out, uint32_t seed) {                                                                   \
        type a[256], b[256], sum[256], difference[256];                                                                \
        for (int i = 0; i < 256; i++) a[i] = (type)next(&seed), b[i] = (type)next(&seed);                              \
        for (int i = 0; i < 256; i++) {                                                                                \
            wide s = (wide)((wide)a[i] + (wide)b[i]), d = (wide)((wide)a[i] - (wide)b[i]);                             \
            sum[i] = (type)(s<(least) ? (least) : s>(most) ? (most) : s);                                              \
            difference[i] = (type)(d<(least) ? (least) : d>(most) ? (most) : d);                                       \
        }                                                                                                              \
        uint32_t hash = 0;                                                                                             \
        for (int i = 0; i < 256; i++) hash = mix(hash, (uint32_t)sum[i] ^ (uint32_t)difference[i] << 7);               \
        for (int i = 0; i < 12; i++) out[i] = (uint32_t)sum[i], out[12 + i] = (uint32_t)difference[i];                 \
        out[24] = hash;                                                                                                \
    }
SATURATE(saturate_i8, int8_t, int32_t, INT8_MIN, INT8_MAX)
SATURATE(saturate_u8, uint8_t, int32_t, 0, 255)
SATURATE(saturate_i16, int16_t, int32_t, INT16_MIN, INT16_MAX)
SATURATE(saturate_u16, uint16_t, int32_t, 0, 65535)
SATURATE(saturate_i32, int32_t, int64_t, INT32_MIN, INT32_MAX)
KERNEL(saturating_sums) {
    saturate_i8(out, seed);
    saturate_u8(out + 30, seed + 1);
    saturate_i16(out + 60, seed + 2);
    saturate_u16(out + 90, seed + 3);
    saturate_i32(out + 120, seed + 4);
}

KERNEL(widening_dots) {
    int8_t a[300];
    uint8_t b[300];
    int16_t c[300];
    for (int i = 0; i < 300; i++) a[i] = (int8_t)next(&seed), b[i] = (uint8_t)next(&seed), c[i] = (int16_t)next(&seed);
    for (int n = 0; n < 60; n++) {
        int32_t ab = 0, aa = 0, ac = 0;
        uint32_t bb = 0;
        for (int i = n; i < 300 - n; i++) {
            ab += a[i] * b[i], aa += a[i] * a[i - n], ac += a[i] * c[i];
            bb += (uint32_t)(b[i] * b[i]);
        }
        out[4 * n] = (uint32_t)ab, out[4 * n + 1] = (uint32_t)aa, out[4 * n + 2] = (uint32_t)ac, out[4 * n + 3] = bb;
    }
}

KERNEL(rounding_shifts) {
    int32_t a[250];
    for (int i = 0; i < 250; i++) a[i] = (int32_t)next(&seed) >> (i % 9);
    for (int i = 0; i < 250; i++) {
        int s = 1 + i % 23;
        int32_t half_up = (a[i] >> s) + (a[i] >> (s - 1) & 1);
        uint32_t rest = (uint32_t)a[i] & ((1u << s) - 1), half = 1u << (s - 1);
        int32_t even = (a[i] >> s) + (rest > half || (rest == half && (a[i] >> s & 1)));
        out[i] = (uint32_t)half_up * 3 ^ (uint32_t)even;
    }
}

KERNEL(absolute_differences) {
    uint8_t a[32][32], b[16][16];
    for (int i = 0; i < 32; i++)
        for (int j = 0; j < 32; j++) a[i][j] = (uint8_t)next(&seed);
    for (int i = 0; i < 16; i++)
        for (int j = 0; j < 16; j++) b[i][j] = (uint8_t)(a[i + 5][j + 9] + (next(&seed) & 3));
    uint32_t best = UINT32_MAX;
    for (int y = 0; y < 15; y++)
        for (int x = 0; x < 15; x++) {
            uint32_t sum = 0;
            for (int i = 0; i < 16; i++)
                for (int j = 0; j < 16; j++)
                    sum +=
                        (uint32_t)(a[y + i][x + j] > b[i][j] ? a[y + i][x + j] - b[i][j] : b[i][j] - a[y + i][x + j]);
            out[y * 15 + x] = sum;
            if (sum < best) best = sum, out[230] = (uint32_t)(y << 16 | x);
        }
}

KERNEL(cordic) {
    static const int32_t angles[] = {843314857, 497837829, 263043837, 133525159, 67021687, 33543516, 16775851, 8388437,
                                     4194283,   2097149,   1048576,   524288,    262144,   131072,   65536,    32768};
    for (int i = 0; i < 100; i++) {
        int32_t x = 652032874, y = 0, z = (int32_t)next(&seed) >> 1;
        for (int k = 0; k < 16; k++) {
            int32_t dx = x >> k, dy = y >> k;
            if (z >= 0)
                x -= dy, y += dx, z -= angles[k];
            else
                x += dy, y -= dx, z += angles[k];
        }
        out[2 * i] = (uint32_t)x, out[2 * i + 1] = (uint32_t)y;
    }
}

KERNEL(reciprocals) {
    for (int i = 0; i < 120; i++) {
        uint32_t d = next(&seed) | 0x80000000, r = 0x5b00u << 16; /* about 2^63 / d */
        for (int k = 0; k < 5; k++) {
            uint64_t e = ((uint64_t)1 << 63) - (uint64_t)d * r;
            r += (uint32_t)((int64_t)((int64_t)(e >> 16) * (int64_t)(r >> 16)) >> 31);
        }
        out[2 * i] = r, out[2 * i + 1] = (uint32_t)((uint64_t)r * d >> 32);
    }
}

RUN(q15_multiply, q31_dot, saturating_sums, widening_dots, rounding_shifts, absolute_differences, cordic, reciprocals)
