/* Vector integers: all elements and groups, with and without masks. */
#include "tests/corpus/device/support/vectors.h"

#define ADD(r) acc = RVV(vadd)(RVV(vmul)(acc, 5, vl), r, vl)

/* Two digests, an element and the length for each type. */
#define UNSIGNED(r) total = RVV(vxor)(RVV(vmul)(total, 3, vl), r, vl)
#define BASIC(bits, group, ratio)                                                                                      \
    static __attribute__((noinline)) uint32_t *basic_##bits##group(uint32_t *out, uint32_t *seed) {                    \
        buffer a, b, c;                                                                                                \
        scribble(&a, seed), scribble(&b, seed), scribble(&c, seed);                                                    \
        size_t vl = some(RVV(vsetvlmax_e##bits##group)(), seed);                                                       \
        vint##bits##group##_t x = RVV(vle##bits##_v_i##bits##group)(a.i##bits, vl);                                    \
        vint##bits##group##_t y = RVV(vle##bits##_v_i##bits##group)(b.i##bits, vl);                                    \
        vint##bits##group##_t acc = RVV(vle##bits##_v_i##bits##group)(c.i##bits, vl);                                  \
        int##bits##_t s = (int##bits##_t)next(seed);                                                                   \
        ADD(RVV(vadd)(x, y, vl));                                                                                      \
        ADD(RVV(vsub)(x, s, vl));                                                                                      \
        ADD(RVV(vrsub)(y, s, vl));                                                                                     \
        ADD(RVV(vand)(x, y, vl));                                                                                      \
        ADD(RVV(vor)(x, 9, vl));                                                                                       \
        ADD(RVV(vxor)(x, y, vl));                                                                                      \
        ADD(RVV(vmin)(x, y, vl));                                                                                      \
        ADD(RVV(vmax)(x, s, vl));                                                                                      \
        ADD(RVV(vneg)(x, vl));                                                                                         \
        ADD(RVV(vmul)(x, y, vl));                                                                                      \
        ADD(RVV(vmulh)(x, y, vl));                                                                                     \
        ADD(RVV(vmacc)(acc, x, y, vl));                                                                                \
        ADD(RVV(vnmsac)(acc, s, y, vl));                                                                               \
        ADD(RVV(vmadd)(acc, x, y, vl));                                                                                \
        ADD(RVV(vnmsub)(acc, x, y, vl));                                                                               \
        ADD(RVV(vdiv)(x, y, vl));                                                                                      \
        ADD(RVV(vrem)(x, y, vl));                                                                                      \
        ADD(RVV(vdiv)(y, s, vl));                                                                                      \
        ADD(RVV(vsra)(x, 3, vl));                                                                                      \
        ADD(RVV(vmerge)(x, y, RVV(vmslt)(x, y, vl), vl));                                                              \
        clear(&c);                                                                                                     \
        RVV(vse##bits)(c.i##bits, acc, vl);                                                                            \
        *out++ = digest(&c), *out++ = c.u32[0];                                                                        \
        vuint##bits##group##_t u = RVV(vle##bits##_v_u##bits##group)(a.u##bits, vl);                                   \
        vuint##bits##group##_t v = RVV(vle##bits##_v_u##bits##group)(b.u##bits, vl);                                   \
        vuint##bits##group##_t total = RVV(vmv_v_x_u##bits##group)((uint##bits##_t)next(seed), vl);                    \
        UNSIGNED(RVV(vminu)(u, v, vl));                                                                                \
        UNSIGNED(RVV(vmaxu)(u, 100, vl));                                                                              \
        UNSIGNED(RVV(vmulhu)(u, v, vl));                                                                               \
        UNSIGNED(RVV(vdivu)(u, v, vl));                                                                                \
        UNSIGNED(RVV(vremu)(v, 7, vl));                                                                                \
        UNSIGNED(RVV(vsll)(u, v, vl));                                                                                 \
        UNSIGNED(RVV(vsrl)(u, 2, vl));                                                                                 \
        UNSIGNED(RVV(vnot)(v, vl));                                                                                    \
        RVV(vse##bits)(c.u##bits, total, vl);                                                                          \
        *out++ = digest(&c), *out++ = (uint32_t)vl;                                                                    \
        return out;                                                                                                    \
    }
TYPES(BASIC)
#define CALL(bits, group, ratio) out = basic_##bits##group(out, &seed);
KERNEL(basic){TYPES(CALL)}
#undef CALL

/* Masked operations with every comparison; masked-off elements and the tail stay. */
#define COMPARE(m)                                                                                                     \
    mask = m;                                                                                                          \
    acc = RVV(vadd_tumu)(mask, acc, acc, y, vl);                                                                       \
    bits_set += RVV(vcpop)(mask, vl)
#define MASKED(bits, group, ratio)                                                                                     \
    static __attribute__((noinline)) uint32_t *masked_##bits##group(uint32_t *out, uint32_t *seed) {                   \
        buffer a, b, c;                                                                                                \
        scribble(&a, seed), scribble(&b, seed), scribble(&c, seed);                                                    \
        b.u32[0] = a.u32[0], b.u32[3] = a.u32[3];                                                                      \
        size_t most = RVV(vsetvlmax_e##bits##group)(), vl = some(most, seed);                                          \
        unsigned long bits_set = 0;                                                                                    \
        vint##bits##group##_t x = RVV(vle##bits##_v_i##bits##group)(a.i##bits, most);                                  \
        vint##bits##group##_t y = RVV(vle##bits##_v_i##bits##group)(b.i##bits, most);                                  \
        vint##bits##group##_t acc = RVV(vle##bits##_v_i##bits##group)(c.i##bits, most);                                \
        int##bits##_t s = a.i##bits[0];                                                                                \
        vbool##ratio##_t mask;                                                                                         \
        COMPARE(RVV(vmseq)(x, y, vl));                                                                                 \
        COMPARE(RVV(vmsne)(x, s, vl));                                                                                 \
        COMPARE(RVV(vmslt)(x, y, vl));                                                                                 \
        COMPARE(RVV(vmsle)(x, s, vl));                                                                                 \
        COMPARE(RVV(vmsgt)(x, y, vl));                                                                                 \
        COMPARE(RVV(vmsgt)(x, s, vl));                                                                                 \
        COMPARE(RVV(vmsle)(x, 5, vl));                                                                                 \
        COMPARE(RVV(vmsltu)(RVV(vreinterpret_u##bits##group)(x), RVV(vreinterpret_u##bits##group)(y), vl));            \
        COMPARE(RVV(vmsgtu)(RVV(vreinterpret_u##bits##group)(x), (uint##bits##_t)s, vl));                              \
        COMPARE(RVV(vmsleu)(RVV(vreinterpret_u##bits##group)(x), 11, vl));                                             \
        acc = RVV(vmul_tumu)(mask, acc, x, y, vl);                                                                     \
        acc = RVV(vsll_tumu)(mask, acc, acc, 1, vl);                                                                   \
        acc = RVV(vmacc_tumu)(mask, acc, x, y, vl);                                                                    \
        clear(&c);                                                                                                     \
        RVV(vse##bits)(c.i##bits, acc, most);                                                                          \
        *out++ = digest(&c), *out++ = (uint32_t)bits_set;                                                              \
        return out;                                                                                                    \
    }
TYPES(MASKED)
#define CALL(bits, group, ratio) out = masked_##bits##group(out, &seed);
    KERNEL(masked){TYPES(CALL)}
#undef CALL

/* Carries and borrows, as sums of numbers that are wider than an element. */
#define CARRIES(bits, group, ratio)                                                                                    \
    static __attribute__((noinline)) uint32_t *carries_##bits##group(uint32_t *out, uint32_t *seed) {                  \
        buffer a, b, c;                                                                                                \
        scribble(&a, seed), scribble(&b, seed), clear(&c);                                                             \
        size_t vl = some(RVV(vsetvlmax_e##bits##group)(), seed);                                                       \
        vuint##bits##group##_t x = RVV(vle##bits##_v_u##bits##group)(a.u##bits, vl);                                   \
        vuint##bits##group##_t y = RVV(vle##bits##_v_u##bits##group)(b.u##bits, vl);                                   \
        vbool##ratio##_t carry = RVV(vmadc)(x, y, vl), borrow = RVV(vmsbc)(x, y, vl);                                  \
        vuint##bits##group##_t low = RVV(vadd)(x, y, vl), high = RVV(vadc)(y, x, carry, vl);                           \
        carry = RVV(vmadc)(y, x, carry, vl);                                                                           \
        high = RVV(vadc)(high, 77, carry, vl);                                                                         \
        low = RVV(vsbc)(low, high, borrow, vl);                                                                        \
        borrow = RVV(vmsbc)(high, 5, borrow, vl);                                                                      \
        RVV(vse##bits)(c.u##bits, low, vl);                                                                            \
        *out++ = digest(&c);                                                                                           \
        RVV(vse##bits)(c.u##bits, high, vl);                                                                           \
        *out++ = digest(&c);                                                                                           \
        *out++ = (uint32_t)(RVV(vcpop)(carry, vl) << 16 | RVV(vcpop)(borrow, vl));                                     \
        return out;                                                                                                    \
    }
TYPES(CARRIES)
#define CALL(bits, group, ratio) out = carries_##bits##group(out, &seed);
    KERNEL(carries) {
    TYPES(CALL)
}
#undef CALL

/* Narrow to wide and back. */
#define WIDE(r) acc = RVV(vxor)(RVV(vadd)(acc, acc, vl), r, vl)
#define WIDENING(bits, group, bits2, group2)                                                                           \
    static __attribute__((noinline)) uint32_t *widening_##bits##group(uint32_t *out, uint32_t *seed) {                 \
        buffer a, b, c;                                                                                                \
        scribble(&a, seed), scribble(&b, seed), scribble(&c, seed);                                                    \
        size_t vl = some(RVV(vsetvlmax_e##bits##group)(), seed);                                                       \
        vint##bits##group##_t x = RVV(vle##bits##_v_i##bits##group)(a.i##bits, vl);                                    \
        vuint##bits##group##_t u = RVV(vle##bits##_v_u##bits##group)(b.u##bits, vl);                                   \
        vint##bits2##group2##_t acc = RVV(vle##bits2##_v_i##bits2##group2)(c.i##bits2, vl);                            \
        int##bits##_t s = (int##bits##_t)next(seed);                                                                   \
        WIDE(RVV(vwadd_vv)(x, x, vl));                                                                                 \
        WIDE(RVV(vwsub_vx)(x, s, vl));                                                                                 \
        WIDE(RVV(vwadd_wv)(acc, x, vl));                                                                               \
        WIDE(RVV(vwsub_wx)(acc, s, vl));                                                                               \
        WIDE(RVV(vwmul)(x, s, vl));                                                                                    \
        WIDE(RVV(vwmulsu)(x, u, vl));                                                                                  \
        WIDE(RVV(vreinterpret_i##bits2##group2)(RVV(vwmulu)(u, u, vl)));                                               \
        WIDE(RVV(vreinterpret_i##bits2##group2)(RVV(vwaddu_vv)(u, u, vl)));                                            \
        WIDE(RVV(vwmacc)(acc, x, x, vl));                                                                              \
        WIDE(RVV(vwmaccsu)(acc, s, u, vl));                                                                            \
        WIDE(RVV(vwmaccus)(acc, (uint##bits##_t)s, x, vl));                                                            \
        WIDE(RVV(vsext_vf2_i##bits2##group2)(x, vl));                                                                  \
        WIDE(RVV(vreinterpret_i##bits2##group2)(RVV(vzext_vf2_u##bits2##group2)(u, vl)));                              \
        clear(&c);                                                                                                     \
        RVV(vse##bits2)(c.i##bits2, acc, vl);                                                                          \
        *out++ = digest(&c);                                                                                           \
        x = RVV(vadd)(RVV(vnsra)(acc, 3, vl), RVV(vncvt_x)(acc, vl), vl);                                              \
        x = RVV(vxor)(x, RVV(vnsra)(acc, u, vl), vl);                                                                  \
        u = RVV(vnsrl)(RVV(vreinterpret_u##bits2##group2)(acc), 5, vl);                                                \
        clear(&c);                                                                                                     \
        RVV(vse##bits)(c.i##bits, x, vl);                                                                              \
        RVV(vse##bits)(c.u##bits + GROUP_BYTES / 2 / sizeof(x##bits), u, vl);                                          \
        *out++ = digest(&c), *out++ = c.u32[0], *out++ = (uint32_t)vl;                                                 \
        return out;                                                                                                    \
    }
typedef uint8_t x8;
typedef uint16_t x16;
PAIRS(WIDENING)
#define CALL(bits, group, bits2, group2) out = widening_##bits##group(out, &seed);
KERNEL(widening){PAIRS(CALL)}
#undef CALL

KERNEL(extensions) {
    buffer a, c;
    scribble(&a, &seed);
    for (int i = 0; i < 20; i++) {
        size_t vl = some(RVV(vsetvlmax_e32m4)(), &seed);
        vint32m4_t x = RVV(vsext_vf4_i32m4)(RVV(vle8_v_i8m1)(a.i8 + 16 * i, vl), vl);
        vuint32m4_t y = RVV(vzext_vf4_u32m4)(RVV(vle8_v_u8m1)(a.u8 + 16 * i, vl), vl);
        clear(&c);
        RVV(vse32)(c.i32, RVV(vmul)(x, RVV(vreinterpret_i32m4)(y), vl), vl);
        out[2 * i] = digest(&c), out[2 * i + 1] = c.u32[1];
    }
}

/* Loops that are cut into strips, as a compiler would. */
KERNEL(strips) {
    int32_t a[300], b[300];
    for (int i = 0; i < 300; i++) a[i] = (int32_t)next(&seed), b[i] = (int32_t)next(&seed);
    for (uint32_t n = 0; n < 240; n++) {
        vint32m1_t sum = RVV(vmv_v_x_i32m1)((int32_t)n, 1);
        size_t vl;
        for (uint32_t i = 0; i < n; i += vl) {
            vl = n & 1 ? RVV(vsetvl_e32m2)(n - i) : RVV(vsetvl_e32m2)(n - i > 20 ? 20 : n - i);
            vint32m2_t x = RVV(vle32_v_i32m2)(a + i, vl), y = RVV(vle32_v_i32m2)(b + i, vl);
            sum = RVV(vredsum)(RVV(vmul)(x, y, vl), sum, vl);
        }
        out[n] = (uint32_t)RVV(vmv_x)(sum);
    }
}

RUN(basic, masked, carries, widening, extensions, strips)
