/* Vector fixed point: saturation, averages, rounding modes, clips. */
#include "tests/corpus/device/support/vectors.h"

#define ADD(r)      acc = RVV(vxor)(RVV(vmul)(acc, 5, vl), r, vl)
#define UNSIGNED(r) total = RVV(vxor)(RVV(vmul)(total, 5, vl), r, vl)

#define SATURATE(bits, group, ratio)                                                                                   \
    static __attribute__((noinline)) uint32_t *saturate_##bits##group(uint32_t *out, uint32_t *seed) {                 \
        buffer a, b, c;                                                                                                \
        scribble(&a, seed), scribble(&b, seed), scribble(&c, seed);                                                    \
        size_t vl = some(RVV(vsetvlmax_e##bits##group)(), seed);                                                       \
        vint##bits##group##_t x = RVV(vle##bits##_v_i##bits##group)(a.i##bits, vl);                                    \
        vint##bits##group##_t y = RVV(vle##bits##_v_i##bits##group)(b.i##bits, vl);                                    \
        vint##bits##group##_t acc = RVV(vle##bits##_v_i##bits##group)(c.i##bits, vl);                                  \
        int##bits##_t s = (int##bits##_t)next(seed);                                                                   \
        ADD(RVV(vsadd)(x, y, vl));                                                                                     \
        ADD(RVV(vsadd)(x, s, vl));                                                                                     \
        ADD(RVV(vssub)(x, y, vl));                                                                                     \
        ADD(RVV(vssub)(y, s, vl));                                                                                     \
        vuint##bits##group##_t u = RVV(vle##bits##_v_u##bits##group)(a.u##bits, vl);                                   \
        vuint##bits##group##_t v = RVV(vle##bits##_v_u##bits##group)(b.u##bits, vl);                                   \
        vuint##bits##group##_t total = RVV(vmv_v_x_u##bits##group)((uint##bits##_t)next(seed), vl);                    \
        UNSIGNED(RVV(vsaddu)(u, v, vl));                                                                               \
        UNSIGNED(RVV(vsaddu)(u, (uint##bits##_t)s, vl));                                                               \
        UNSIGNED(RVV(vssubu)(u, v, vl));                                                                               \
        UNSIGNED(RVV(vssubu)(v, 100, vl));                                                                             \
        ADD(RVV(vreinterpret_i##bits##group)(total));                                                                  \
        clear(&c);                                                                                                     \
        RVV(vse##bits)(c.i##bits, acc, vl);                                                                            \
        *out++ = digest(&c);                                                                                           \
        uint32_t saturated;                                                                                            \
        __asm__ volatile("csrrwi %0, vxsat, 0" : "=r"(saturated)::"memory");                                           \
        *out++ = saturated;                                                                                            \
        *out++ = c.u32[0];                                                                                             \
        return out;                                                                                                    \
    }
TYPES(SATURATE)
#define CALL(bits, group, ratio) out = saturate_##bits##group(out, &seed);
KERNEL(saturating){TYPES(CALL)}
#undef CALL

/* One rounding mode, all operations that round. */
#define ROUND(mode, bits, group)                                                                                       \
    ADD(RVV(vaadd)(x, y, mode, vl));                                                                                   \
    ADD(RVV(vasub)(x, s, mode, vl));                                                                                   \
    ADD(RVV(vsmul)(x, y, mode, vl));                                                                                   \
    ADD(RVV(vsmul)(x, s, mode, vl));                                                                                   \
    ADD(RVV(vssra)(x, u, mode, vl));                                                                                   \
    ADD(RVV(vssra)(x, 3, mode, vl));                                                                                   \
    UNSIGNED(RVV(vaaddu)(u, v, mode, vl));                                                                             \
    UNSIGNED(RVV(vasubu)(u, v, mode, vl));                                                                             \
    UNSIGNED(RVV(vaaddu)(u, 200, mode, vl));                                                                           \
    UNSIGNED(RVV(vssrl)(u, v, mode, vl));                                                                              \
    UNSIGNED(RVV(vssrl)(v, 5, mode, vl))
#define ROUNDINGS(bits, group, ratio)                                                                                  \
    static __attribute__((noinline)) uint32_t *round_##bits##group(uint32_t *out, uint32_t *seed) {                    \
        buffer a, b, c;                                                                                                \
        scribble(&a, seed), scribble(&b, seed), scribble(&c, seed);                                                    \
        size_t vl = some(RVV(vsetvlmax_e##bits##group)(), seed);                                                       \
        vint##bits##group##_t x = RVV(vle##bits##_v_i##bits##group)(a.i##bits, vl);                                    \
        vint##bits##group##_t y = RVV(vle##bits##_v_i##bits##group)(b.i##bits, vl);                                    \
        vint##bits##group##_t acc = RVV(vle##bits##_v_i##bits##group)(c.i##bits, vl);                                  \
        vuint##bits##group##_t u = RVV(vle##bits##_v_u##bits##group)(a.u##bits, vl);                                   \
        vuint##bits##group##_t v = RVV(vle##bits##_v_u##bits##group)(b.u##bits, vl);                                   \
        vuint##bits##group##_t total = RVV(vmv_v_x_u##bits##group)((uint##bits##_t)next(seed), vl);                    \
        int##bits##_t s = (int##bits##_t)next(seed);                                                                   \
        ROUND(__RISCV_VXRM_RNU, bits, group);                                                                          \
        ROUND(__RISCV_VXRM_RNE, bits, group);                                                                          \
        ROUND(__RISCV_VXRM_RDN, bits, group);                                                                          \
        ROUND(__RISCV_VXRM_ROD, bits, group);                                                                          \
        clear(&c);                                                                                                     \
        RVV(vse##bits)(c.i##bits, acc, vl);                                                                            \
        *out++ = digest(&c), *out++ = c.u32[0];                                                                        \
        RVV(vse##bits)(c.u##bits, total, vl);                                                                          \
        *out++ = digest(&c);                                                                                           \
        return out;                                                                                                    \
    }
TYPES(ROUNDINGS)
#define CALL(bits, group, ratio) out = round_##bits##group(out, &seed);
    KERNEL(roundings){TYPES(CALL)}
#undef CALL

#define CLIPS(bits, group, bits2, group2)                                                                              \
    static __attribute__((noinline)) uint32_t *clip_##bits##group(uint32_t *out, uint32_t *seed) {                     \
        buffer a, b, c;                                                                                                \
        scribble(&a, seed), scribble(&b, seed), clear(&c);                                                             \
        size_t vl = some(RVV(vsetvlmax_e##bits##group)(), seed);                                                       \
        vint##bits2##group2##_t x = RVV(vle##bits2##_v_i##bits2##group2)(a.i##bits2, vl);                              \
        vuint##bits2##group2##_t w = RVV(vle##bits2##_v_u##bits2##group2)(a.u##bits2, vl);                             \
        vuint##bits##group##_t u = RVV(vle##bits##_v_u##bits##group)(b.u##bits, vl), total = u;                        \
        vint##bits##group##_t acc = RVV(vreinterpret_i##bits##group)(u);                                               \
        ADD(RVV(vnclip)(x, u, __RISCV_VXRM_RNU, vl));                                                                  \
        ADD(RVV(vnclip)(x, 3, __RISCV_VXRM_RNE, vl));                                                                  \
        ADD(RVV(vnclip)(x, bits, __RISCV_VXRM_RDN, vl));                                                               \
        ADD(RVV(vnclip)(x, u, __RISCV_VXRM_ROD, vl));                                                                  \
        UNSIGNED(RVV(vnclipu)(w, u, __RISCV_VXRM_RNU, vl));                                                            \
        UNSIGNED(RVV(vnclipu)(w, bits - 1, __RISCV_VXRM_RNE, vl));                                                     \
        UNSIGNED(RVV(vnclipu)(w, u, __RISCV_VXRM_ROD, vl));                                                            \
        RVV(vse##bits)(c.i##bits, acc, vl);                                                                            \
        *out++ = digest(&c);                                                                                           \
        RVV(vse##bits)(c.u##bits, total, vl);                                                                          \
        *out++ = digest(&c);                                                                                           \
        *out++ = c.u32[0];                                                                                             \
        return out;                                                                                                    \
    }
PAIRS(CLIPS)
#define CALL(bits, group, bits2, group2) out = clip_##bits##group(out, &seed);
    KERNEL(clips){PAIRS(CALL)}
#undef CALL

/* int32 accumulators to bytes: scale, round, add a zero point, clip. */
KERNEL(requantise) {
    int32_t acc[300];
    int8_t to[300];
    for (int i = 0; i < 300; i++) acc[i] = (int32_t)next(&seed) >> 8, to[i] = 0;
    size_t vl;
    for (int i = 0; i < 300; i += (int)vl) {
        vl = RVV(vsetvl_e32m4)((size_t)(300 - i));
        vint32m4_t x = RVV(vle32_v_i32m4)(acc + i, vl);
        x = RVV(vssra)(RVV(vsmul)(x, 1518500250, __RISCV_VXRM_RNU, vl), 14, __RISCV_VXRM_RNE, vl);
        x = RVV(vsadd)(x, -7, vl);
        vint16m2_t h = RVV(vnclip)(x, 0, __RISCV_VXRM_RNU, vl);
        RVV(vse8)(to + i, RVV(vnclip)(h, 0, __RISCV_VXRM_RNU, vl), vl);
    }
    for (int i = 0; i < 250; i++) out[i] = (uint32_t)to[i];
}

RUN(saturating, roundings, clips, requantise)
