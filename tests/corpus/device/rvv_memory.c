/* Vector memory accesses: strides, indices, segments, masks, whole registers, first faults. */
#include "tests/corpus/device/support/vectors.h"

/* Every other element from place to place by strides, unit accesses with a mask, and back. */
#define STRIDES(bits, group, ratio)                                                                                    \
    static __attribute__((noinline)) uint32_t *strides_##bits##group(uint32_t *out, uint32_t *seed) {                  \
        uint##bits##_t *memory = SM_AREA;                                                                              \
        buffer a, c;                                                                                                   \
        const size_t bytes = bits / 8;                                                                                 \
        size_t most = RVV(vsetvlmax_e##bits##group)(), vl = some(most, seed);                                          \
        scribble(&a, seed), scribble(&c, seed);                                                                        \
        for (size_t i = 0; i < 5 * most; i++) memory[i] = (uint##bits##_t)(a.u##bits[i % most] + i);                   \
        vuint##bits##group##_t x = RVV(vlse##bits##_v_u##bits##group)(memory, (ptrdiff_t)(3 * bytes), vl);             \
        vuint##bits##group##_t y = RVV(vlse##bits##_v_u##bits##group)(memory + 4 * most, -(ptrdiff_t)(2 * bytes), vl); \
        vuint##bits##group##_t z = RVV(vlse##bits##_v_u##bits##group)(memory + 7, 0, vl);                              \
        vbool##ratio##_t mask = RVV(vmsltu)(x, y, vl);                                                                 \
        x = RVV(vle##bits##_tumu)(mask, x, memory + 3, vl);                                                            \
        y = RVV(vlse##bits##_tumu)(mask, y, memory + 1, (ptrdiff_t)(4 * bytes), vl);                                   \
        RVV(vsse##bits)(memory + 1, (ptrdiff_t)(4 * bytes), RVV(vadd)(x, z, vl), vl);                                  \
        RVV(vsse##bits)(mask, memory + 2, (ptrdiff_t)(2 * bytes), y, vl);                                              \
        RVV(vse##bits)(mask, c.u##bits, x, vl);                                                                        \
        RVV(vsm)(c.u8 + 300, mask, vl);                                                                                \
        vbool##ratio##_t back = RVV(vlm_v_b##ratio)(c.u8 + 300, vl);                                                   \
        uint32_t hash = 0;                                                                                             \
        for (size_t i = 0; i < 5 * most; i++) hash = mix(hash, memory[i]);                                             \
        *out++ = hash, *out++ = digest(&c), *out++ = (uint32_t)RVV(vcpop)(back, vl);                                   \
        return out;                                                                                                    \
    }
TYPES(STRIDES)
#define CALL(bits, group, ratio) out = strides_##bits##group(out, &seed);
KERNEL(strides){TYPES(CALL)}
#undef CALL

/* X(index bits, index group, data bits, data group): gathers, and scatters whose indices differ. */
#define INDEXED(X)                                                                                                     \
    X(8, mf4, 32, m1)                                                                                                  \
    X(8, m1, 8, m1)                                                                                                    \
    X(8, m2, 32, m8)                                                                                                   \
    X(8, m1, 16, m2)                                                                                                   \
    X(16, mf2, 32, m1)                                                                                                 \
    X(16, m1, 16, m1)                                                                                                  \
    X(16, m2, 8, m1)                                                                                                   \
    X(16, m8, 16, m8)                                                                                                  \
    X(32, m1, 32, m1)                                                                                                  \
    X(32, m4, 32, m4)                                                                                                  \
    X(32, m4, 8, m1)                                                                                                   \
    X(32, m8, 16, m4)
#define GATHER(ibits, igroup, bits, group)                                                                             \
    static __attribute__((noinline)) uint32_t *gather_##ibits##igroup##_##bits##group(uint32_t *out, uint32_t *seed) { \
        buffer from, index, to, start;                                                                                 \
        size_t most = RVV(vsetvlmax_e##bits##group)(), vl = some(most, seed);                                          \
        scribble(&from, seed), scribble(&start, seed), to = start;                                                     \
        uint32_t room = (ibits == 8 ? 256 : GROUP_BYTES) / (bits / 8);                                                 \
        for (uint32_t i = 0; i < most; i++) index.u##ibits[i] = (uint##ibits##_t)(below(seed, room) * (bits / 8));     \
        vuint##ibits##igroup##_t at = RVV(vle##ibits##_v_u##ibits##igroup)(index.u##ibits, vl);                        \
        vuint##bits##group##_t x = RVV(vluxei##ibits)(from.u##bits, at, vl);                                           \
        vuint##bits##group##_t y = RVV(vloxei##ibits)(start.u##bits, at, vl);                                          \
        x = RVV(vadd)(x, y, vl);                                                                                       \
        RVV(vsoxei##ibits)(to.u##bits, at, x, vl);                                                                     \
        *out++ = digest(&to);                                                                                          \
        for (uint32_t i = 0; i < most; i++)                                                                            \
            index.u##ibits[i] = (uint##ibits##_t)((i * 5 + 3) % (most < room ? most : room) * (bits / 8));             \
        if (most > room || most % 5 == 0) return out;                                                                  \
        at = RVV(vle##ibits##_v_u##ibits##igroup)(index.u##ibits, vl);                                                 \
        RVV(vsuxei##ibits)(from.u##bits, at, x, vl);                                                                   \
        *out++ = digest(&from);                                                                                        \
        return out;                                                                                                    \
    }
INDEXED(GATHER)
#define CALL(ibits, igroup, bits, group) out = gather_##ibits##igroup##_##bits##group(out, &seed);
    KERNEL(indexed){INDEXED(CALL)}
#undef CALL

/* Fields of structures: X(fields, bits, group) */
#define SEGMENTS(X)                                                                                                    \
    X(2, 8, m1)                                                                                                        \
    X(3, 8, m2)                                                                                                        \
    X(4, 8, mf2)                                                                                                       \
    X(7, 8, m1)                                                                                                        \
    X(2, 16, m4)                                                                                                       \
    X(3, 16, m1)                                                                                                       \
    X(5, 16, mf2)                                                                                                      \
    X(8, 16, m1)                                                                                                       \
    X(2, 32, m2)                                                                                                       \
    X(3, 32, m2)                                                                                                       \
    X(4, 32, m1)                                                                                                       \
    X(6, 32, m1)                                                                                                       \
    X(8, 32, m1)
#define SEGMENT(fields, bits, group)                                                                                   \
    static __attribute__((noinline)) uint32_t *segment_##fields##_##bits##group(uint32_t *out, uint32_t *seed) {       \
        uint##bits##_t *memory = SM_AREA, *to = L3_AREA;                                                               \
        const ptrdiff_t bytes = bits / 8;                                                                              \
        size_t vl = some(RVV(vsetvlmax_e##bits##group)(), seed), n = (fields + 2) * vl;                                \
        for (size_t i = 0; i < 2 * n; i++) memory[i] = (uint##bits##_t)next(seed), to[i] = 0;                          \
        vuint##bits##group##x##fields##_t x = RVV(vlseg##fields##e##bits##_v_u##bits##group##x##fields)(memory, vl);   \
        RVV(vssseg##fields##e##bits)(to, (fields + 2) * bytes, x, vl);                                                 \
        x = RVV(vlsseg##fields##e##bits##_v_u##bits##group##x##fields)(memory + n, (fields + 1) * bytes, vl);          \
        RVV(vsseg##fields##e##bits)(to + n, x, vl);                                                                    \
        uint32_t hash = 0;                                                                                             \
        for (size_t i = 0; i < 2 * n; i++) hash = mix(hash, to[i]);                                                    \
        *out++ = hash;                                                                                                 \
        uint16_t index[64];                                                                                            \
        if (vl > 32) vl = 32;                                                                                          \
        for (uint32_t i = 0; i < 64; i++) index[i] = (uint16_t)((i * 13 % vl) * fields * (uint32_t)bytes);             \
        if (vl % 13 && bits == 16) {                                                                                   \
            vuint16##group##_t at = RVV(vle16_v_u16##group)(index, vl);                                                \
            vuint16##group##x##fields##_t y =                                                                          \
                RVV(vluxseg##fields##ei16_v_u16##group##x##fields)((uint16_t *)memory, at, vl);                        \
            RVV(vsoxseg##fields##ei16)((uint16_t *)to, at, y, vl);                                                     \
            for (size_t i = 0; i < vl * fields; i++) hash = mix(hash, to[i]);                                          \
        }                                                                                                              \
        *out++ = hash;                                                                                                 \
        return out;                                                                                                    \
    }
SEGMENTS(SEGMENT)
#define CALL(fields, bits, group) out = segment_##fields##_##bits##group(out, &seed);
    KERNEL(segments) {
    SEGMENTS(CALL)
}
#undef CALL

static size_t length(const char *s) {
    size_t n = 0, vl;
    for (;;) {
        vuint8m4_t x = RVV(vle8ff_v_u8m4)((const uint8_t *)s + n, &vl, RVV(vsetvlmax_e8m4)());
        long first = RVV(vfirst)(RVV(vmseq)(x, 0, vl), vl);
        if (first >= 0) return n + (size_t)first;
        n += vl;
    }
}
static void copy(char *to, const char *from) {
    size_t vl;
    for (;;) {
        vuint8m2_t x = RVV(vle8ff_v_u8m2)((const uint8_t *)from, &vl, RVV(vsetvlmax_e8m2)());
        vbool4_t zero = RVV(vmseq)(x, 0, vl);
        RVV(vse8)(RVV(vmsif)(zero, vl), (uint8_t *)to, x, vl);
        if (RVV(vfirst)(zero, vl) >= 0) return;
        from += vl, to += vl;
    }
}
static int compare(const char *a, const char *b) {
    size_t vl, vl2;
    for (;; a += vl2, b += vl2) {
        vuint8m1_t x = RVV(vle8ff_v_u8m1)((const uint8_t *)a, &vl, RVV(vsetvlmax_e8m1)());
        vuint8m1_t y = RVV(vle8ff_v_u8m1)((const uint8_t *)b, &vl2, OPAQUE(vl)); /* else clang 19 errs */
        long end = RVV(vfirst)(RVV(vmor)(RVV(vmseq)(x, 0, vl2), RVV(vmsne)(x, y, vl2), vl2), vl2);
        if (end >= 0) return (uint8_t)a[end] - (uint8_t)b[end];
    }
}
KERNEL(texts) {
    char a[300], b[300];
    for (int i = 0; i < 60; i++) {
        uint32_t n = below(&seed, 290);
        for (uint32_t k = 0; k < n; k++) a[k] = (char)(1 + (next(&seed) & 127) % 120);
        a[n] = 0;
        copy(b + i % 7, a);
        if (n && i % 3 == 0) b[i % 7 + (int)(n / 2)]++;
        out[3 * i] = (uint32_t)length(a), out[3 * i + 1] = (uint32_t)length(b),
                out[3 * i + 2] = (uint32_t)compare(a, b + i % 7);
    }
}

/* LM ends where the stack began: a text that ends with the memory is cut short by the first fault behind it. */
KERNEL(first_faults) {
    uint8_t *end = (uint8_t *)SM_AREA - 0x1000 + 0x8000;
    for (uint32_t n = 1; n < 60; n++) {
        uint8_t *s = end - n;
        for (uint32_t i = 0; i < n; i++) s[i] = (uint8_t)next(&seed);
        size_t vl;
        vuint8m1_t x = RVV(vle8ff_v_u8m1)(s, &vl, 64);
        out[2 * n] = (uint32_t)vl;
        out[2 * n + 1] = RVV(vmv_x)(RVV(vredsum)(RVV(vzext_vf2_u16m2)(x, vl), RVV(vmv_s_x_u16m1)(0, 1), vl));
    }
}

KERNEL(whole_registers) {
    buffer a, b;
    scribble(&a, &seed), clear(&b);
    __asm__ volatile("vl8re32.v v8, (%0)\n vmv4r.v v16, v8\n vmv2r.v v20, v14\n vmv1r.v v22, v9\n vmv8r.v v24, v16\n"
                     "vs8r.v v24, (%1)\n" ::"r"(&a),
                     "r"(&b)
                     : "memory", "v8", "v9", "v10", "v11", "v12", "v13", "v14", "v15", "v16", "v17", "v18", "v19",
                       "v20", "v21", "v22", "v23", "v24", "v25", "v26", "v27", "v28", "v29", "v30", "v31");
    for (int i = 0; i < 112; i++) out[i] = b.u32[i]; /* v31 holds what was there before */
    __asm__ volatile("vl1re8.v v8, (%0)\n vl2re16.v v10, (%2)\n vl4re32.v v12, (%0)\n vs4r.v v12, (%1)\n vs2r.v v10, "
                     "(%3)\n vs1r.v v8, (%4)" ::"r"(&a),
                     "r"(&b), "r"(a.u8 + 128), "r"(b.u8 + 256), "r"(b.u8 + 384)
                     : "memory", "v8", "v9", "v10", "v11", "v12", "v13", "v14", "v15");
    for (int i = 0; i < 112; i++) out[112 + i] = b.u32[i];
}

RUN(strides, indexed, segments, texts, first_faults, whole_registers)
