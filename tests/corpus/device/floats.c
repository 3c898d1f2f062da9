/* Float arithmetic: corner cases with flags, compares, conversions, minimum and maximum, fma, roots, rounding modes. */
#include "tests/corpus/device/support/corpus.h"

enum { N = 60 };

/* The hardware's instruction, whatever the compiler thinks of folding it. */
#define FF(name, a, b)                                                                                                 \
    ({                                                                                                                 \
        float ff_;                                                                                                     \
        __asm__ volatile(name " %0, %1, %2" : "=f"(ff_) : "f"(a), "f"(b));                                             \
        ff_;                                                                                                           \
    })
#define FFF(name, a, b, c)                                                                                             \
    ({                                                                                                                 \
        float fff_;                                                                                                    \
        __asm__ volatile(name " %0, %1, %2, %3" : "=f"(fff_) : "f"(a), "f"(b), "f"(c));                                \
        fff_;                                                                                                          \
    })
#define XF(name, a)                                                                                                    \
    ({                                                                                                                 \
        uint32_t xf_;                                                                                                  \
        __asm__ volatile(name : "=r"(xf_) : "f"(a));                                                                   \
        xf_;                                                                                                           \
    })
INLINE uint32_t take_flags(void) {
    uint32_t flags;
    __asm__ volatile("csrrwi %0, fflags, 0" : "=r"(flags)::"memory");
    return flags;
}
INLINE void set_rounding(uint32_t mode) {
    __asm__ volatile("csrw frm, %0" ::"r"(mode) : "memory");
}

KERNEL(arithmetic) {
    for (int i = 0; i < 50; i++) {
        float a = odd_float(&seed), b = odd_float(&seed);
        out[5 * i] = plain(a + b), out[5 * i + 1] = plain(a - b), out[5 * i + 2] = plain(a * b),
                out[5 * i + 3] = plain(a / b);
        out[5 * i + 4] = plain(__builtin_sqrtf(a));
    }
}

KERNEL(flags_of_operations) {
    for (int i = 0; i < 250; i++) {
        float a = odd_float(&seed), b = odd_float(&seed), c = odd_float(&seed), r;
        take_flags();
        switch (i % 6) {
        case 0: r = FF("fadd.s", a, b); break;
        case 1: r = FF("fsub.s", a, b); break;
        case 2: r = FF("fmul.s", a, b); break;
        case 3: r = FF("fdiv.s", a, b); break;
        case 4: __asm__ volatile("fsqrt.s %0, %1" : "=f"(r) : "f"(a)); break;
        default: r = FFF("fmadd.s", a, b, c);
        }
        out[i] = plain(r) ^ take_flags() << 8;
    }
}

KERNEL(rounding_modes) {
    uint32_t n = 0;
    for (uint32_t mode = 0; mode < 5; mode++) {
        uint32_t s = seed;
        set_rounding(mode);
        for (int i = 0; i < 10; i++) {
            float a = odd_float(&s), b = odd_float(&s), c = odd_float(&s);
            out[n++] = bits(FF("fadd.s", a, b)), out[n++] = bits(FF("fmul.s", a, b)),
            out[n++] = bits(FF("fdiv.s", a, b));
            out[n++] = bits(FFF("fnmadd.s", a, b, c)), out[n++] = XF("fcvt.w.s %0, %1", c * 3.0f);
        }
    }
    set_rounding(0);
}

KERNEL(static_rounding) {
    for (int i = 0; i < N; i++) {
        float a = (float)(int32_t)next(&seed) / (float)(1 << (i % 32));
        out[4 * i] = XF("fcvt.w.s %0, %1, rdn", a), out[4 * i + 1] = XF("fcvt.w.s %0, %1, rup", a);
        out[4 * i + 2] = XF("fcvt.w.s %0, %1, rmm", a), out[4 * i + 3] = XF("fcvt.wu.s %0, %1, rtz", a);
    }
}

KERNEL(comparisons) {
    for (int i = 0; i < 200; i++) {
        float a = odd_float(&seed), b = i % 5 ? odd_float(&seed) : a;
        take_flags();
        uint32_t r = (a < b) | (a <= b) << 1 | (a == b) << 2 | (a > b) << 3 | (a != b) << 4 |
                     (uint32_t)__builtin_isunordered(a, b) << 5;
        uint32_t x;
        __asm__ volatile("flt.s %0, %1, %2" : "=r"(x) : "f"(a), "f"(b));
        r |= x << 6;
        __asm__ volatile("feq.s %0, %1, %2" : "=r"(x) : "f"(a), "f"(b));
        out[i] = r | x << 7 | take_flags() << 8 | XF("fclass.s %0, %1", a) << 16;
    }
}

KERNEL(least_and_most) {
    float low = 3e38f, high = -3e38f;
    for (int i = 0; i < 80; i++) {
        float a = odd_float(&seed), b = odd_float(&seed);
        out[3 * i] = plain(FF("fmin.s", a, b)), out[3 * i + 1] = plain(FF("fmax.s", a, b));
        out[3 * i + 2] = plain(a < b ? a : b);
        low = __builtin_fminf(low, a), high = __builtin_fmaxf(high, b);
    }
    out[240] = plain(low), out[241] = plain(high);
}

KERNEL(signs) {
    for (int i = 0; i < 50; i++) {
        float a = odd_float(&seed), b = odd_float(&seed);
        out[5 * i] = bits(FF("fsgnj.s", a, b)), out[5 * i + 1] = bits(FF("fsgnjn.s", a, b)),
                out[5 * i + 2] = bits(FF("fsgnjx.s", a, b));
        out[5 * i + 3] = bits(__builtin_fabsf(a)), out[5 * i + 4] = bits(-b);
    }
}

KERNEL(conversions) {
    for (int i = 0; i < 40; i++) {
        uint32_t u = next(&seed) >> (i % 32);
        float a = odd_float(&seed);
        uint32_t *o = out + 6 * i;
        o[0] = bits((float)u), o[1] = bits((float)(int32_t)u), o[2] = XF("fcvt.w.s %0, %1", a),
        o[3] = XF("fcvt.wu.s %0, %1", a);
        float inside = (float)(int32_t)next(&seed) * 0x1p-9f;
        o[4] = (uint32_t)(int32_t)inside, o[5] = (uint32_t)(uint8_t)(int32_t)(inside * 0x1p-15f);
    }
}

KERNEL(fused) {
    for (int i = 0; i < 50; i++) {
        float a = odd_float(&seed), b = odd_float(&seed), c = i % 3 ? odd_float(&seed) : -(a * b);
        out[5 * i] = plain(__builtin_fmaf(a, b, c)), out[5 * i + 1] = plain(__builtin_fmaf(a, b, -c));
        out[5 * i + 2] = plain(-__builtin_fmaf(a, b, c)), out[5 * i + 3] = plain(__builtin_fmaf(-a, b, c));
        out[5 * i + 4] = plain(a * b + c); /* not contracted */
    }
}

KERNEL(subnormals) {
    float x = 1.5f, sum = 0;
    for (int i = 0; i < 120; i++) {
        x *= 0x1p-1f + 0x1p-6f * unit(&seed);
        if (x == 0) x = 0x1p-120f;
        sum += x;
        out[2 * i] = bits(x), out[2 * i + 1] = bits(x * 0x1p-20f) ^ bits(sum / 3.0f);
    }
}

KERNEL(compensated_sums) {
    float sum = 0, lost = 0, naive = 0, pairs[16] = {0};
    for (int i = 0; i < 240; i++) {
        float x = unit(&seed) * (float)(1 << (i % 20)), y = x - lost, t = sum + y;
        lost = (t - sum) - y, sum = t, naive += x, pairs[i % 16] += x;
        out[i] = bits(sum) ^ bits(naive) >> 3;
    }
    for (int step = 8; step; step /= 2)
        for (int i = 0; i < step; i++) pairs[i] += pairs[i + step];
    out[240] = bits(pairs[0]), out[241] = bits(lost);
}

INLINE float power_of_e(float x) {
    float n = (float)(int32_t)(x * 1.44269504f + (x < 0 ? -0.5f : 0.5f)), r = __builtin_fmaf(n, -0.693147182f, x);
    float p = 1.0f + r * (1.0f + r * (0.5f + r * (0.166666672f + r * (0.0416666679f + r * 0.00833333377f))));
    return p * from_bits((uint32_t)((int32_t)n + 127) << 23);
}
KERNEL(series) {
    float values[120];
    for (int i = 0; i < 120; i++) values[i] = 20.0f * unit(&seed);
    for (int i = 0; i < 120; i++) out[i] = bits(power_of_e(values[i]));
    for (int i = 0; i < 120; i++) out[120 + i] = bits(1.0f / (1.0f + power_of_e(-values[i])));
}

KERNEL(newton) {
    for (int i = 0; i < 80; i++) {
        float x = 1.0f + 1000.0f * (1.0f + unit(&seed)), root = x, reciprocal = from_bits(0x7ef311c3u - bits(x));
        for (int k = 0; k < 14; k++) root = 0.5f * (root + x / root);
        for (int k = 0; k < 4; k++) reciprocal = reciprocal * (2.0f - x * reciprocal);
        out[3 * i] = bits(root), out[3 * i + 1] = bits(reciprocal), out[3 * i + 2] = bits(root - __builtin_sqrtf(x));
    }
}

KERNEL(particles) {
    const int bodies = OPAQUE(6); /* clang 19 fails on strided loops with a known count */
    struct body {
        float x, y, vx, vy, mass;
    } p[6];
    for (int i = 0; i < bodies; i++)
        p[i] = (struct body){unit(&seed) * 100, unit(&seed) * 100, 0, 0, 2.0f + unit(&seed)};
    for (int step = 0; step < 8; step++) {
        for (int i = 0; i < bodies; i++)
            for (int k = 0; k < bodies; k++) {
                float dx = p[k].x - p[i].x, dy = p[k].y - p[i].y, d = __builtin_sqrtf(dx * dx + dy * dy) + 0.5f;
                float force = i == k ? 0 : p[k].mass / (d * d * d);
                p[i].vx = __builtin_fmaf(force, dx, p[i].vx), p[i].vy += force * dy;
            }
        for (int i = 0; i < bodies; i++) {
            p[i].x += p[i].vx, p[i].y += p[i].vy;
            out[(step * 6 + i) * 4] = bits(p[i].x), out[(step * 6 + i) * 4 + 1] = bits(p[i].y);
            out[(step * 6 + i) * 4 + 2] = bits(p[i].vx), out[(step * 6 + i) * 4 + 3] = bits(p[i].vy);
        }
    }
}

RUN(arithmetic, flags_of_operations, rounding_modes, static_rounding, comparisons, least_and_most, signs, conversions,
    fused, subnormals, compensated_sums, series, newton, particles)
