/* Masks, permutations, slides, reductions. */
#include "tests/corpus/device/support/vectors.h"

#define MASKS(bits, group, ratio)                                                                                      \
    static __attribute__((noinline)) uint32_t *masks_##bits##group(uint32_t *out, uint32_t *seed) {                    \
        buffer a, b, c;                                                                                                \
        scribble(&a, seed), scribble(&b, seed), clear(&c);                                                             \
        size_t vl = some(RVV(vsetvlmax_e##bits##group)(), seed);                                                       \
        vbool##ratio##_t x = RVV(vlm_v_b##ratio)(a.u8, vl), y = RVV(vlm_v_b##ratio)(b.u8, vl), z;                      \
        vbool##ratio##_t few = RVV(vmand)(x, RVV(vmand)(y, RVV(vlm_v_b##ratio)(a.u8 + 100, vl), vl), vl);              \
        z = RVV(vmxor)(RVV(vmnand)(x, y, vl), RVV(vmorn)(x, y, vl), vl);                                               \
        z = RVV(vmxnor)(z, RVV(vmandn)(y, x, vl), vl);                                                                 \
        z = RVV(vmor)(RVV(vmnor)(z, x, vl), few, vl);                                                                  \
        RVV(vsm)(c.u8, z, vl);                                                                                         \
        RVV(vsm)(c.u8 + 64, RVV(vmsbf)(few, vl), vl);                                                                  \
        RVV(vsm)(c.u8 + 128, RVV(vmsif)(few, vl), vl);                                                                 \
        RVV(vsm)(c.u8 + 192, RVV(vmsof)(y, few, vl), vl);                                                              \
        RVV(vsm)(c.u8 + 256, RVV(vmnot)(y, vl), vl);                                                                   \
        uint32_t keep = (1u << (vl & 7)) - 1; /* the tail of a mask is not defined in C */                             \
        if (vl & 7)                                                                                                    \
            for (int k = 0; k < 5; k++) c.u8[64 * k + (int)(vl / 8)] &= (uint8_t)keep;                                 \
        *out++ = digest(&c);                                                                                           \
        *out++ = (uint32_t)(RVV(vcpop)(z, vl) << 16 | (RVV(vfirst)(few, vl) & 0xffff));                                \
        vuint##bits##group##_t n = RVV(vadd)(RVV(viota_m_u##bits##group)(few, vl), RVV(vid_v_u##bits##group)(vl), vl); \
        clear(&c);                                                                                                     \
        RVV(vse##bits)(c.u##bits, n, vl);                                                                              \
        *out++ = digest(&c);                                                                                           \
        return out;                                                                                                    \
    }
TYPES(MASKS)
#define CALL(bits, group, ratio) out = masks_##bits##group(out, &seed);
KERNEL(masks){TYPES(CALL)}
#undef CALL

#define KEEP(r) acc = RVV(vadd_tu)(acc, acc, r, vl)
#define PERMUTE(bits, group, ratio)                                                                                    \
    static __attribute__((noinline)) uint32_t *permute_##bits##group(uint32_t *out, uint32_t *seed) {                  \
        buffer a, b, c;                                                                                                \
        scribble(&a, seed), scribble(&b, seed), scribble(&c, seed);                                                    \
        size_t most = RVV(vsetvlmax_e##bits##group)(), vl = some(most, seed);                                          \
        vuint##bits##group##_t x = RVV(vle##bits##_v_u##bits##group)(a.u##bits, most);                                 \
        vuint##bits##group##_t acc = RVV(vle##bits##_v_u##bits##group)(c.u##bits, most);                               \
        uint##bits##_t s = (uint##bits##_t)next(seed);                                                                 \
        size_t shift = below(seed, (uint32_t)vl + 2);                                                                  \
        KEEP(RVV(vslideup)(acc, x, shift, vl));                                                                        \
        KEEP(RVV(vslideup)(acc, x, 3, vl));                                                                            \
        KEEP(RVV(vslidedown)(x, shift, vl));                                                                           \
        KEEP(RVV(vslidedown)(x, 1, vl));                                                                               \
        KEEP(RVV(vslide1up)(x, s, vl));                                                                                \
        KEEP(RVV(vslide1down)(x, s, vl));                                                                              \
        for (size_t i = 0; i < most; i++) b.u##bits[i] = (uint##bits##_t)below(seed, (uint32_t)(vl + vl / 4 + 1));     \
        vuint##bits##group##_t index = RVV(vle##bits##_v_u##bits##group)(b.u##bits, most);                             \
        KEEP(RVV(vrgather)(x, index, vl));                                                                             \
        KEEP(RVV(vrgather)(x, shift, vl));                                                                             \
        vbool##ratio##_t mask = RVV(vmsltu)(x, s, vl);                                                                 \
        acc = RVV(vcompress_tu)(acc, x, mask, vl);                                                                     \
        acc = RVV(vrgather_tumu)(mask, acc, x, index, vl);                                                             \
        acc = RVV(vslidedown_tumu)(mask, acc, x, 2, vl);                                                               \
        acc = RVV(vmerge_tu)(acc, acc, s, mask, vl);                                                                   \
        acc = RVV(vmv_s_tu)(acc, s, vl);                                                                               \
        clear(&c);                                                                                                     \
        RVV(vse##bits)(c.u##bits, acc, most);                                                                          \
        *out++ = digest(&c), *out++ = c.u32[0], *out++ = (uint32_t)RVV(vmv_x)(acc) ^ (uint32_t)vl << 20;               \
        return out;                                                                                                    \
    }
TYPES(PERMUTE)
#define CALL(bits, group, ratio) out = permute_##bits##group(out, &seed);
    KERNEL(permutations){TYPES(CALL)}
#undef CALL

KERNEL(gather_by_halves) {
    buffer a, b, c;
    scribble(&a, &seed);
    for (int i = 0; i < 128; i++) b.u16[i] = (uint16_t)(next(&seed) % 150);
    for (int i = 0; i < 20; i++) {
        size_t vl = some(128, &seed), vl32 = vl < 64 ? vl : 64;
        clear(&c);
        vuint16m4_t at = RVV(vle16_v_u16m4)(b.u16, vl);
        RVV(vse8)(c.u8, RVV(vrgatherei16)(RVV(vle8_v_u8m2)(a.u8 + i, vl), at, vl), vl);
        out[3 * i] = digest(&c);
        RVV(vse16)(c.u16, RVV(vrgatherei16)(RVV(vle16_v_u16m4)(a.u16 + i, vl), at, vl), vl);
        out[3 * i + 1] = digest(&c);
        vuint16m2_t few = RVV(vle16_v_u16m2)(b.u16 + i, vl32);
        RVV(vse32)(c.u32, RVV(vrgatherei16)(RVV(vle32_v_u32m4)(a.u32 + i, vl32), few, vl32), vl32);
        out[3 * i + 2] = digest(&c);
    }
}

#define REDUCE(bits, group, ratio)                                                                                     \
    static __attribute__((noinline)) uint32_t *reduce_##bits##group(uint32_t *out, uint32_t *seed) {                   \
        buffer a;                                                                                                      \
        scribble(&a, seed);                                                                                            \
        size_t vl = some(RVV(vsetvlmax_e##bits##group)(), seed);                                                       \
        vint##bits##group##_t x = RVV(vle##bits##_v_i##bits##group)(a.i##bits, vl);                                    \
        vuint##bits##group##_t u = RVV(vle##bits##_v_u##bits##group)(a.u##bits, vl);                                   \
        vint##bits##m1_t s = RVV(vmv_s_x_i##bits##m1)((int##bits##_t)next(seed), 1);                                   \
        vuint##bits##m1_t t = RVV(vmv_s_x_u##bits##m1)((uint##bits##_t)next(seed), 1);                                 \
        vbool##ratio##_t mask = RVV(vmsgtu)(u, 50, vl);                                                                \
        uint32_t hash = (uint32_t)RVV(vmv_x)(RVV(vredsum)(x, s, vl));                                                  \
        hash = mix(hash, (uint32_t)RVV(vmv_x)(RVV(vredmax)(x, s, vl)));                                                \
        hash = mix(hash, (uint32_t)RVV(vmv_x)(RVV(vredmin)(x, s, vl)));                                                \
        hash = mix(hash, (uint32_t)RVV(vmv_x)(RVV(vredmaxu)(u, t, vl)));                                               \
        hash = mix(hash, (uint32_t)RVV(vmv_x)(RVV(vredminu)(mask, u, t, vl)));                                         \
        *out++ = hash;                                                                                                 \
        hash = mix(hash, (uint32_t)RVV(vmv_x)(RVV(vredand)(mask, u, t, vl)));                                          \
        hash = mix(hash, (uint32_t)RVV(vmv_x)(RVV(vredor)(u, t, vl)));                                                 \
        hash = mix(hash, (uint32_t)RVV(vmv_x)(RVV(vredxor)(mask, u, t, vl)));                                          \
        hash = mix(hash, (uint32_t)RVV(vmv_x)(RVV(vredsum)(mask, u, t, vl)));                                          \
        *out++ = hash;                                                                                                 \
        return out;                                                                                                    \
    }
TYPES(REDUCE)
#define WIDE_SUM(bits, group, bits2, group2)                                                                           \
    {                                                                                                                  \
        buffer a;                                                                                                      \
        scribble(&a, &seed);                                                                                           \
        size_t vl = some(RVV(vsetvlmax_e##bits##group)(), &seed);                                                      \
        vint##bits2##m1_t s = RVV(vmv_s_x_i##bits2##m1)((int##bits2##_t)next(&seed), 1);                               \
        vuint##bits2##m1_t t = RVV(vmv_s_x_u##bits2##m1)((uint##bits2##_t)next(&seed), 1);                             \
        *out++ = (uint32_t)RVV(vmv_x)(RVV(vwredsum)(RVV(vle##bits##_v_i##bits##group)(a.i##bits, vl), s, vl));         \
        *out++ = (uint32_t)RVV(vmv_x)(RVV(vwredsumu)(RVV(vle##bits##_v_u##bits##group)(a.u##bits, vl), t, vl));        \
    }
#define CALL(bits, group, ratio) out = reduce_##bits##group(out, &seed);
KERNEL(reductions){TYPES(CALL) PAIRS(WIDE_SUM) WIDE_SUM(8, m8, 16, m8) WIDE_SUM(16, m8, 32, m8)}
#undef CALL

KERNEL(compress_and_count) { /* partition an array by a predicate, without branches */
    uint32_t a[250], n = 0;
    for (int i = 0; i < 250; i++) a[i] = next(&seed) >> 4;
    for (int pass = 0; pass < 2; pass++) {
        size_t vl;
        for (uint32_t i = 0; i < 250; i += vl) {
            vl = RVV(vsetvl_e32m8)(250 - i);
            vuint32m8_t x = RVV(vle32_v_u32m8)(a + i, vl);
            vbool4_t odd = RVV(vmsne)(RVV(vand)(x, 1, vl), 0, vl);
            if (pass) odd = RVV(vmnot)(odd, vl);
            size_t k = RVV(vcpop)(odd, vl);
            RVV(vse32)(out + n, RVV(vcompress)(x, odd, vl), k);
            n += k;
        }
    }
}

KERNEL(scan_by_slides) {
    int32_t a[250], carry = 0;
    for (int i = 0; i < 250; i++) a[i] = (int32_t)next(&seed) >> 6;
    size_t vl;
    for (int i = 0; i < 250; i += (int)vl) {
        vl = RVV(vsetvl_e32m2)((size_t)(250 - i));
        vint32m2_t x = RVV(vle32_v_i32m2)(a + i, vl), zero = RVV(vmv_v_x_i32m2)(0, vl);
        for (size_t step = 1; step < vl; step *= 2) x = RVV(vadd)(x, RVV(vslideup)(zero, x, step, vl), vl);
        x = RVV(vadd)(x, carry, vl);
        RVV(vse32)((int32_t *)out + i, x, vl);
        carry = (int32_t)out[i + (int)vl - 1];
    }
}

RUN(masks, permutations, gather_by_halves, reductions, compress_and_count, scan_by_slides)
