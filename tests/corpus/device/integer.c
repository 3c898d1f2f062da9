/* Integer arithmetic and bit tricks, division corner cases, 64-bit arithmetic. */
#include "tests/corpus/device/support/corpus.h"

KERNEL(bit_counts) {
    for (int i = 0; i < 48; i++) {
        uint32_t x = next(&seed) >> (i & 31), reversed = 0;
        for (int b = 0; b < 32; b++) reversed |= (x >> b & 1) << (31 - b);
        out[4 * i] = (uint32_t)__builtin_popcount(x);
        out[4 * i + 1] = x ? (uint32_t)__builtin_clz(x) : 32;
        out[4 * i + 2] = x ? (uint32_t)__builtin_ctz(x) : 32;
        out[4 * i + 3] = reversed ^ __builtin_bswap32(x);
    }
}

KERNEL(shifts_and_rotates) {
    uint32_t x = next(&seed);
    for (uint32_t n = 0; n < 32; n++) {
        uint32_t k = OPAQUE(n);
        out[7 * n] = x << k;
        out[7 * n + 1] = x >> k;
        out[7 * n + 2] = (uint32_t)((int32_t)x >> k);
        out[7 * n + 3] = x << k | x >> (-k & 31);
        uint32_t a, b, c, amount = k + 32 * next(&seed); /* the hardware takes the low five bits */
        __asm__("sll %0, %1, %2" : "=r"(a) : "r"(x), "r"(amount));
        __asm__("srl %0, %1, %2" : "=r"(b) : "r"(x), "r"(amount));
        __asm__("sra %0, %1, %2" : "=r"(c) : "r"(x), "r"(amount));
        out[7 * n + 4] = a, out[7 * n + 5] = b, out[7 * n + 6] = c;
    }
}

static const uint32_t corners[] = {0,          1,          2,          3,      0x7fffffff, 0x80000000,
                                   0x80000001, 0xffffffff, 0xfffffffe, 0xffff, 0x10000};
enum { CORNERS = sizeof corners / sizeof *corners };

#define TWO(name, a, b)                                                                                                \
    ({                                                                                                                 \
        uint32_t two_;                                                                                                 \
        __asm__ volatile(name " %0, %1, %2" : "=r"(two_) : "r"(a), "r"(b));                                            \
        two_;                                                                                                          \
    })

KERNEL(divide_corners) {
    uint32_t hash[4] = {1, 2, 3, 4};
    for (int i = 0; i < CORNERS; i++)
        for (int j = 0; j < CORNERS; j++) {
            uint32_t a = corners[i], b = corners[j], r[4];
            r[0] = TWO("div", a, b), r[1] = TWO("divu", a, b), r[2] = TWO("rem", a, b), r[3] = TWO("remu", a, b);
            for (int k = 0; k < 4; k++) hash[k] = mix(hash[k], r[k]);
            if (j < 4 && i < CORNERS) out[(4 * i + j) * 4 + (r[0] & 1)] ^= r[0] + r[2];
        }
    for (int k = 0; k < 4; k++) out[200 + k] = hash[k];
}

KERNEL(multiply_high) {
    uint32_t hash[4] = {0};
    for (int i = 0; i < CORNERS * CORNERS + 64; i++) {
        uint32_t a = i < CORNERS * CORNERS ? corners[i / CORNERS] : next(&seed);
        uint32_t b = i < CORNERS * CORNERS ? corners[i % CORNERS] : next(&seed);
        hash[0] = mix(hash[0], TWO("mul", a, b));
        hash[1] = mix(hash[1], TWO("mulh", a, b));
        hash[2] = mix(hash[2], TWO("mulhsu", a, b));
        hash[3] = mix(hash[3], TWO("mulhu", a, b));
        if (i < 60)
            out[4 + 3 * i] = (uint32_t)((uint64_t)a * b >> 32), out[5 + 3 * i] = hash[2], out[6 + 3 * i] = hash[1];
    }
    for (int k = 0; k < 4; k++) out[k] = hash[k];
}

KERNEL(divide_by_constants) {
    for (int i = 0; i < 20; i++) {
        uint32_t x = next(&seed);
        int32_t y = (int32_t)next(&seed);
        uint32_t *o = out + 12 * i;
        o[0] = x / 3, o[1] = x / 7, o[2] = x / 10, o[3] = x % 1000, o[4] = x / 641, o[5] = x % 0x80000001u;
        o[6] = (uint32_t)(y / 3), o[7] = (uint32_t)(y / -7), o[8] = (uint32_t)(y % 10), o[9] = (uint32_t)(y / 16);
        o[10] = (uint32_t)(y % 64), o[11] = (uint32_t)(y / 1000003);
    }
}

KERNEL(wide_arithmetic) {
    uint64_t a = 1, b = 0xfedcba9876543210u;
    for (int i = 0; i < 30; i++) {
        uint64_t x = (uint64_t)next(&seed) << 32 | next(&seed);
        a = a * 6364136223846793005u + x;
        b = b ^ (a >> (x & 63)) ^ x << (a & 31);
        int64_t s = (int64_t)(a - b) >> (i & 63);
        uint64_t values[4] = {a, b, (uint64_t)s, (uint64_t)(a < b) + 2 * (uint64_t)((int64_t)a < (int64_t)b)};
        for (int k = 0; k < 4; k++)
            out[8 * i + 2 * k] = (uint32_t)values[k], out[8 * i + 2 * k + 1] = (uint32_t)(values[k] >> 32);
    }
}

KERNEL(wide_division) {
    for (int i = 0; i < 15; i++) {
        uint64_t a = (uint64_t)next(&seed) << 32 | next(&seed),
                 b = ((uint64_t)next(&seed) << 32 | next(&seed)) >> (4 * i) | 1;
        int64_t c = (int64_t)a, d = (int64_t)b;
        uint64_t r[4] = {a / b, a % b, (uint64_t)(c / d), (uint64_t)(c % d)};
        for (int k = 0; k < 4; k++)
            out[8 * i + 2 * k] = (uint32_t)r[k], out[8 * i + 2 * k + 1] = (uint32_t)(r[k] >> 32);
    }
}

static uint32_t gcd(uint32_t a, uint32_t b) {
    while (b) {
        uint32_t rest = a % b;
        a = b, b = rest;
    }
    return a;
}
static uint32_t binary_gcd(uint32_t a, uint32_t b) {
    if (!a || !b) return a | b;
    int shift = __builtin_ctz(a | b);
    a >>= __builtin_ctz(a);
    while (b) {
        b >>= __builtin_ctz(b);
        if (a > b) {
            uint32_t swap = a;
            a = b, b = swap;
        }
        b -= a;
    }
    return a << shift;
}
KERNEL(common_divisors) {
    for (int i = 0; i < 40; i++) {
        uint32_t f = 1 + below(&seed, 500), a = f * below(&seed, 100000), b = f * below(&seed, 100000);
        out[2 * i] = gcd(a, b), out[2 * i + 1] = binary_gcd(a, b);
    }
}

KERNEL(roots_and_primes) {
    uint32_t n = 0;
    for (uint32_t p = 2; n < 100; p++) {
        uint32_t d = 2;
        while (d * d <= p && p % d) d++;
        if (d * d > p) out[n++] = p;
    }
    for (int i = 0; i < 100; i++) {
        uint32_t x = next(&seed) >> (i & 15), root = 0;
        for (uint32_t bit = 1u << 15; bit; bit >>= 1)
            if ((root | bit) * (root | bit) <= x) root |= bit;
        out[n++] = root;
    }
}

KERNEL(morton_and_gray) {
    for (uint32_t i = 0; i < 80; i++) {
        uint32_t x = next(&seed) & 0xffff, y = next(&seed) & 0xffff, m[2] = {x, y};
        for (int k = 0; k < 2; k++) {
            m[k] = (m[k] | m[k] << 8) & 0x00ff00ff;
            m[k] = (m[k] | m[k] << 4) & 0x0f0f0f0f;
            m[k] = (m[k] | m[k] << 2) & 0x33333333;
            m[k] = (m[k] | m[k] << 1) & 0x55555555;
        }
        uint32_t gray = x ^ x >> 1, back = gray;
        for (uint32_t s = 1; s < 32; s <<= 1) back ^= back >> s;
        out[3 * i] = m[0] | m[1] << 1, out[3 * i + 1] = gray, out[3 * i + 2] = back ^ x;
    }
}

KERNEL(comparisons) {
    uint32_t hash = 0;
    for (int i = 0; i < CORNERS; i++)
        for (int j = 0; j < CORNERS; j++) {
            uint32_t a = OPAQUE(corners[i]), b = OPAQUE(corners[j]);
            int32_t x = (int32_t)a, y = (int32_t)b;
            uint32_t r = (a < b) | (a <= b) << 1 | (a == b) << 2 | (x < y) << 3 | (x >= y) << 4 | (a != b) << 5 |
                         (a < 17u) << 6 | (x < -5) << 7 |
                         (uint32_t)(x > 0   ? 1
                                    : x < 0 ? 2
                                            : 3)
                             << 8;
            hash = mix(hash, r);
            if (i * CORNERS + j < 120) out[i * CORNERS + j] = r;
        }
    uint32_t least = 0xffffffff, most = 0;
    int32_t low = INT32_MAX, high = INT32_MIN;
    for (int i = 0; i < 200; i++) {
        uint32_t x = next(&seed);
        least = x < least ? x : least, most = x > most ? x : most;
        low = (int32_t)x < low ? (int32_t)x : low, high = (int32_t)x > high ? (int32_t)x : high;
    }
    out[130] = hash, out[131] = least, out[132] = most, out[133] = (uint32_t)low, out[134] = (uint32_t)high;
}

/* Numbers of 512 bits: product, sum with carries, decimal digits. */
KERNEL(big_numbers) {
    uint32_t a[16], b[16], product[32] = {0};
    for (int i = 0; i < 16; i++) a[i] = next(&seed), b[i] = next(&seed);
    for (int i = 0; i < 16; i++) {
        uint64_t carry = 0;
        for (int j = 0; j < 16; j++) {
            carry += (uint64_t)a[i] * b[j] + product[i + j];
            product[i + j] = (uint32_t)carry;
            carry >>= 32;
        }
        product[i + 16] = (uint32_t)carry;
    }
    for (int i = 0; i < 32; i++) out[i] = product[i];
    uint32_t carry = 0;
    for (int i = 0; i < 16; i++)
        carry = __builtin_add_overflow(a[i] + carry, b[i], &out[40 + i]) | (a[i] + carry < carry);
    for (int d = 0; d < 60; d++) { /* divide by 10 in steps of 16 bits */
        uint32_t rest = 0;
        for (int i = 31; i >= 0; i--) {
            uint32_t high = rest << 16 | product[i] >> 16, low = (high % 10) << 16 | (product[i] & 0xffff);
            product[i] = (high / 10) << 16 | low / 10;
            rest = low % 10;
        }
        out[60 + d] = rest;
    }
}

RUN(bit_counts, shifts_and_rotates, divide_corners, multiply_high, divide_by_constants, wide_arithmetic, wide_division,
    common_divisors, roots_and_primes, morton_and_gray, comparisons, big_numbers)
