/* Vector floats: arithmetic, fma, compares, classes, conversions, estimates, reductions; results and flags. */
#include "tests/corpus/device/support/vectors.h"

INLINE uint32_t take_flags(void) {
    uint32_t flags;
    __asm__ volatile("csrrwi %0, fflags, 0" : "=r"(flags)::"memory");
    return flags;
}
static void odd_floats(buffer *b, uint32_t *seed) {
    for (int i = 0; i < GROUP_BYTES / 4; i++) b->f32[i] = odd_float(seed);
}
static void tame_floats(buffer *b, uint32_t *seed) {
    for (int i = 0; i < GROUP_BYTES / 4; i++) b->f32[i] = unit(seed) * (float)(1 + (next(seed) & 255));
}
/* Every NaN that an operation makes is the same one, so bits may be compared. */
#define PUT(r)                                                                                                         \
    clear(&c);                                                                                                         \
    RVV(vse32)(c.f32, r, vl);                                                                                          \
    hash = mix(hash, digest(&c)) ^ take_flags()
#define PUT_INTEGER(r)                                                                                                 \
    clear(&c);                                                                                                         \
    RVV(vse32)(c.u32, r, vl);                                                                                          \
    hash = mix(hash, digest(&c)) ^ take_flags()

#define GROUPS(X) X(m1, 32) X(m2, 16) X(m4, 8) X(m8, 4)

#define ARITHMETIC(group, ratio)                                                                                       \
    static __attribute__((noinline)) uint32_t *arithmetic_##group(uint32_t *out, uint32_t *seed) {                     \
        buffer a, b, c;                                                                                                \
        odd_floats(&a, seed), odd_floats(&b, seed);                                                                    \
        size_t vl = some(RVV(vsetvlmax_e32##group)(), seed);                                                           \
        uint32_t hash = 0;                                                                                             \
        float s = unit(seed);                                                                                          \
        vfloat32##group##_t x = RVV(vle32_v_f32##group)(a.f32, vl), y = RVV(vle32_v_f32##group)(b.f32, vl);            \
        PUT(RVV(vfadd)(x, y, vl));                                                                                     \
        PUT(RVV(vfsub)(x, y, vl));                                                                                     \
        PUT(RVV(vfrsub)(x, s, vl));                                                                                    \
        *out++ = hash;                                                                                                 \
        PUT(RVV(vfmul)(x, y, vl));                                                                                     \
        PUT(RVV(vfdiv)(x, y, vl));                                                                                     \
        PUT(RVV(vfrdiv)(x, s, vl));                                                                                    \
        PUT(RVV(vfsqrt)(x, vl));                                                                                       \
        *out++ = hash;                                                                                                 \
        PUT(RVV(vfmin)(x, y, vl));                                                                                     \
        PUT(RVV(vfmax)(x, y, vl));                                                                                     \
        PUT(RVV(vfmax)(x, s, vl));                                                                                     \
        PUT(RVV(vfsgnj)(x, y, vl));                                                                                    \
        PUT(RVV(vfsgnjn)(x, s, vl));                                                                                   \
        PUT(RVV(vfsgnjx)(x, y, vl));                                                                                   \
        *out++ = hash;                                                                                                 \
        vfloat32##group##_t acc = RVV(vfmv_v_f_f32##group)(0.75f, vl);                                                 \
        PUT(RVV(vfmacc)(acc, x, y, vl));                                                                               \
        PUT(RVV(vfnmacc)(acc, s, y, vl));                                                                              \
        PUT(RVV(vfmsac)(x, x, y, vl));                                                                                 \
        PUT(RVV(vfnmsac)(y, x, y, vl));                                                                                \
        *out++ = hash;                                                                                                 \
        PUT(RVV(vfmadd)(acc, x, y, vl));                                                                               \
        PUT(RVV(vfnmadd)(x, s, y, vl));                                                                                \
        PUT(RVV(vfmsub)(x, x, y, vl));                                                                                 \
        PUT(RVV(vfnmsub)(x, x, y, vl));                                                                                \
        *out++ = hash;                                                                                                 \
        PUT(RVV(vfrec7)(x, vl));                                                                                       \
        PUT(RVV(vfrsqrt7)(x, vl));                                                                                     \
        PUT_INTEGER(RVV(vfclass)(x, vl));                                                                              \
        PUT(RVV(vfneg)(x, vl));                                                                                        \
        PUT(RVV(vfabs)(x, vl));                                                                                        \
        *out++ = hash, *out++ = c.u32[0];                                                                              \
        return out;                                                                                                    \
    }
GROUPS(ARITHMETIC)
#define CALL(group, ratio) out = arithmetic_##group(out, &seed);
KERNEL(arithmetic) {
    for (int i = 0; i < 3; i++) {
        GROUPS(CALL)
    }
}
#undef CALL

#define MASK(r)                                                                                                        \
    acc = RVV(vfadd_tumu)(r, acc, acc, acc, vl);                                                                       \
    acc = RVV(vfadd)(acc, 1.0f, vl);                                                                                   \
    hash = mix(hash, take_flags())
#define COMPARES(group, ratio)                                                                                         \
    static __attribute__((noinline)) uint32_t *compares_##group(uint32_t *out, uint32_t *seed) {                       \
        buffer a, b, c;                                                                                                \
        odd_floats(&a, seed), odd_floats(&b, seed);                                                                    \
        for (int i = 0, n = OPAQUE(128); i < n; i += 3) b.u32[i] = a.u32[i];                                           \
        size_t vl = some(RVV(vsetvlmax_e32##group)(), seed);                                                           \
        uint32_t hash = 0;                                                                                             \
        vfloat32##group##_t x = RVV(vle32_v_f32##group)(a.f32, vl), y = RVV(vle32_v_f32##group)(b.f32, vl);            \
        vfloat32##group##_t acc = RVV(vfmv_v_f_f32##group)(1.0f, vl);                                                  \
        MASK(RVV(vmfeq)(x, y, vl));                                                                                    \
        MASK(RVV(vmfne)(x, y, vl));                                                                                    \
        MASK(RVV(vmflt)(x, y, vl));                                                                                    \
        MASK(RVV(vmfle)(x, y, vl));                                                                                    \
        MASK(RVV(vmfgt)(x, 0.5f, vl));                                                                                 \
        MASK(RVV(vmfge)(x, -1.0f, vl));                                                                                \
        MASK(RVV(vmfeq)(x, 1.0f, vl));                                                                                 \
        acc = RVV(vfmerge)(acc, 3.0f, RVV(vmflt)(y, 2.0f, vl), vl);                                                    \
        PUT(acc);                                                                                                      \
        *out++ = hash, *out++ = c.u32[1];                                                                              \
        return out;                                                                                                    \
    }
GROUPS(COMPARES)
#define CALL(group, ratio) out = compares_##group(out, &seed);
KERNEL(compares) {
    for (int i = 0; i < 8; i++) {
        GROUPS(CALL)
    }
}
#undef CALL

/* To and from 32-bit integers in all rounding modes of the CSR. */
KERNEL(conversions) {
    buffer a, c;
    for (uint32_t mode = 0; mode < 5; mode++) {
        odd_floats(&a, &seed);
        size_t vl = some(RVV(vsetvlmax_e32m4)(), &seed);
        uint32_t hash = 0;
        vfloat32m4_t x = RVV(vle32_v_f32m4)(a.f32, vl);
        __asm__ volatile("csrw frm, %0" ::"r"(mode) : "memory");
        PUT_INTEGER(RVV(vreinterpret_u32m4)(RVV(vfcvt_x)(x, vl)));
        PUT_INTEGER(RVV(vfcvt_xu)(x, vl));
        *out++ = hash;
        PUT(RVV(vfcvt_f)(RVV(vle32_v_i32m4)(a.i32, vl), vl));
        PUT(RVV(vfcvt_f)(RVV(vle32_v_u32m4)(a.u32, vl), vl));
        *out++ = hash;
        __asm__ volatile("csrw frm, zero" ::: "memory");
    }
}

KERNEL(conversions_of_halves) {
    buffer a, c;
    for (int i = 0; i < 20; i++) {
        odd_floats(&a, &seed);
        for (int k = 0, n = OPAQUE(128); k < n; k += 2) a.f32[k] = unit(&seed) * 40000.0f;
        size_t vl = some(RVV(vsetvlmax_e32m4)(), &seed);
        vfloat32m4_t x = RVV(vle32_v_f32m4)(a.f32, vl);
        clear(&c);
        RVV(vse16)(c.i16, RVV(vfncvt_x)(x, vl), vl);
        RVV(vse16)(c.u16 + 100, RVV(vfncvt_xu)(x, vl), vl);
        out[3 * i] = digest(&c) ^ take_flags();
        clear(&c);
        RVV(vse32)(c.f32, RVV(vfwcvt_f)(RVV(vle16_v_i16m2)(a.i16, vl), vl), vl);
        out[3 * i + 1] = digest(&c) ^ take_flags();
        RVV(vse32)(c.f32, RVV(vfwcvt_f)(RVV(vle16_v_u16m2)(a.u16, vl), vl), vl);
        out[3 * i + 2] = digest(&c) ^ take_flags();
    }
}

#define REDUCE(group, ratio)                                                                                           \
    for (int i = 0; i < 12; i++) {                                                                                     \
        buffer a;                                                                                                      \
        if (i % 3)                                                                                                     \
            tame_floats(&a, &seed);                                                                                    \
        else                                                                                                           \
            odd_floats(&a, &seed);                                                                                     \
        size_t vl = some(RVV(vsetvlmax_e32##group)(), &seed);                                                          \
        vfloat32##group##_t x = RVV(vle32_v_f32##group)(a.f32, vl);                                                    \
        vfloat32m1_t s = RVV(vfmv_s_f_f32m1)(unit(&seed), 1);                                                          \
        vbool##ratio##_t mask = RVV(vmflt)(x, 1.0f, vl);                                                               \
        *out++ = bits(RVV(vfmv_f)(RVV(vfredosum)(x, s, vl)));                                                          \
        *out++ = bits(RVV(vfmv_f)(RVV(vfredosum)(mask, x, s, vl)));                                                    \
        uint32_t hash = bits(RVV(vfmv_f)(RVV(vfredmax)(x, s, vl)));                                                    \
        hash = mix(hash, bits(RVV(vfmv_f)(RVV(vfredmin)(mask, x, s, vl))));                                            \
        *out++ = hash ^ take_flags();                                                                                  \
        hash = bits(RVV(vfmv_f)(RVV(vfredusum)(x, s, vl))); /* in element order here and in QEMU */                    \
        *out++ = hash;                                                                                                 \
    }
KERNEL(reductions){GROUPS(REDUCE)}

KERNEL(slides) {
    buffer a, c;
    tame_floats(&a, &seed);
    for (int i = 0; i < 20; i++) {
        size_t vl = some(64, &seed);
        vfloat32m4_t x = RVV(vle32_v_f32m4)(a.f32 + i, vl);
        uint32_t hash = 0;
        PUT(RVV(vfslide1up)(x, 2.5f, vl));
        PUT(RVV(vfslide1down)(x, -1.5f, vl));
        PUT(RVV(vrgather)(x, RVV(vand)(RVV(vle32_v_u32m4)(a.u32, vl), 63, vl), vl));
        PUT(RVV(vfmv_s_tu)(x, 7.0f, vl));
        out[i] = hash;
    }
}

KERNEL(exponentials) { /* a polynomial with scaling by exponent bits */
    float a[240];
    for (int i = 0; i < 240; i++) a[i] = unit(&seed) * 80.0f;
    size_t vl;
    for (int i = 0; i < 240; i += (int)vl) {
        vl = RVV(vsetvl_e32m2)((size_t)(240 - i));
        vfloat32m2_t x = RVV(vle32_v_f32m2)(a + i, vl), n = RVV(vfmul)(x, 1.44269504f, vl);
        vint32m2_t k = RVV(vfcvt_x)(n, vl);
        vfloat32m2_t r = RVV(vfnmsac)(x, 0.693147182f, RVV(vfcvt_f)(k, vl), vl);
        vfloat32m2_t p = RVV(vfmv_v_f_f32m2)(0.00833333377f, vl);
        p = RVV(vfmadd)(p, r, RVV(vfmv_v_f_f32m2)(0.0416666679f, vl), vl);
        p = RVV(vfmadd)(p, r, RVV(vfmv_v_f_f32m2)(0.166666672f, vl), vl);
        p = RVV(vfmadd)(p, r, RVV(vfmv_v_f_f32m2)(0.5f, vl), vl);
        p = RVV(vfmadd)(p, r, RVV(vfmv_v_f_f32m2)(1.0f, vl), vl);
        p = RVV(vfmadd)(p, r, RVV(vfmv_v_f_f32m2)(1.0f, vl), vl);
        vint32m2_t e = RVV(vsll)(RVV(vadd)(k, 127, vl), 23, vl);
        RVV(vse32)((float *)out + i, RVV(vfmul)(p, RVV(vreinterpret_f32m2)(e), vl), vl);
    }
}

KERNEL(softmax) {
    float a[8][30];
    for (int i = 0; i < 240; i++) a[i / 30][i % 30] = unit(&seed) * 4.0f;
    for (int r = 0; r < 8; r++) {
        float most = a[r][0], sum = 0;
        for (int i = 1; i < 30; i++) most = a[r][i] > most ? a[r][i] : most;
        for (int i = 0; i < 30; i++) {
            float x = a[r][i] - most, p = 1;
            for (int k = 12; k > 0; k--) p = 1 + p * x / (float)k;
            a[r][i] = p, sum += p;
        }
        for (int i = 0; i < 30; i++) out[30 * r + i] = bits(a[r][i] / sum);
    }
}

RUN(arithmetic, compares, conversions, conversions_of_halves, reductions, slides, exponentials, softmax)
