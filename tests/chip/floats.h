/*
 * Float operations of the chip against the host's: what the program on the chip (device/floats.c) and the one on the
 * host (floats_host.c) must agree about: operands, the list of operations, and how results and flags become one word
 * for each block and operation.
 */
#ifndef XPU_TESTS_CHIP_FLOATS_H
#define XPU_TESTS_CHIP_FLOATS_H

#include <stdint.h>

enum { BLOCK = 64, LANES = 16, MODES = 5 };

/* X(name, instruction, operands): FF two floats, F one, FFF three; XFF and XF give an integer, FX takes one. */
#define SCALAR_OPERATIONS(X)                                                                                           \
    X(add, "fadd.s", FF)                                                                                               \
    X(sub, "fsub.s", FF)                                                                                               \
    X(mul, "fmul.s", FF)                                                                                               \
    X(div, "fdiv.s", FF)                                                                                               \
    X(min, "fmin.s", FF)                                                                                               \
    X(max, "fmax.s", FF)                                                                                               \
    X(sgnj, "fsgnj.s", FF)                                                                                             \
    X(sgnjn, "fsgnjn.s", FF)                                                                                           \
    X(sgnjx, "fsgnjx.s", FF)                                                                                           \
    X(sqrt, "fsqrt.s", F)                                                                                              \
    X(madd, "fmadd.s", FFF)                                                                                            \
    X(msub, "fmsub.s", FFF)                                                                                            \
    X(nmsub, "fnmsub.s", FFF)                                                                                          \
    X(nmadd, "fnmadd.s", FFF)                                                                                          \
    X(eq, "feq.s", XFF)                                                                                                \
    X(lt, "flt.s", XFF)                                                                                                \
    X(le, "fle.s", XFF)                                                                                                \
    X(class, "fclass.s", XF)                                                                                           \
    X(to_i32, "fcvt.w.s", XF)                                                                                          \
    X(to_u32, "fcvt.wu.s", XF)                                                                                         \
    X(from_i32, "fcvt.s.w", FX)                                                                                        \
    X(from_u32, "fcvt.s.wu", FX)

/*
 * X(name, instruction, operands) on groups of 16 lanes; a, b, c are the operands of the block, s the first of c in the
 * group, h the halves a >> 8. VV a, b; VF a, s; V a; ACC c, a, b; ACCF c, s, b; MASK a, b; MASKF a, s; NARROW a to
 * halves; WIDEN h; RED the elements of a onto b[0].
 */
#define VECTOR_OPERATIONS(X)                                                                                           \
    X(add, "vfadd.vv", VV)                                                                                             \
    X(sub, "vfsub.vv", VV)                                                                                             \
    X(rsub, "vfrsub.vf", VF)                                                                                           \
    X(mul, "vfmul.vv", VV)                                                                                             \
    X(div, "vfdiv.vv", VV)                                                                                             \
    X(rdiv, "vfrdiv.vf", VF)                                                                                           \
    X(sqrt, "vfsqrt.v", V)                                                                                             \
    X(min, "vfmin.vv", VV)                                                                                             \
    X(max, "vfmax.vf", VF)                                                                                             \
    X(sgnj, "vfsgnj.vv", VV)                                                                                           \
    X(sgnjn, "vfsgnjn.vv", VV)                                                                                         \
    X(sgnjx, "vfsgnjx.vv", VV)                                                                                         \
    X(macc, "vfmacc.vv", ACC)                                                                                          \
    X(nmacc, "vfnmacc.vv", ACC)                                                                                        \
    X(msac, "vfmsac.vf", ACCF)                                                                                         \
    X(nmsac, "vfnmsac.vv", ACC)                                                                                        \
    X(vmadd, "vfmadd.vv", ACC)                                                                                         \
    X(vnmadd, "vfnmadd.vv", ACC)                                                                                       \
    X(vmsub, "vfmsub.vv", ACC)                                                                                         \
    X(vnmsub, "vfnmsub.vf", ACCF)                                                                                      \
    X(eq, "vmfeq.vv", MASK)                                                                                            \
    X(ne, "vmfne.vv", MASK)                                                                                            \
    X(lt, "vmflt.vv", MASK)                                                                                            \
    X(le, "vmfle.vv", MASK)                                                                                            \
    X(gt, "vmfgt.vf", MASKF)                                                                                           \
    X(ge, "vmfge.vf", MASKF)                                                                                           \
    X(class, "vfclass.v", V)                                                                                           \
    X(to_i32, "vfcvt.x.f.v", V)                                                                                        \
    X(to_u32, "vfcvt.xu.f.v", V)                                                                                       \
    X(cut_i32, "vfcvt.rtz.x.f.v", V)                                                                                   \
    X(cut_u32, "vfcvt.rtz.xu.f.v", V)                                                                                  \
    X(from_i32, "vfcvt.f.x.v", V)                                                                                      \
    X(from_u32, "vfcvt.f.xu.v", V)                                                                                     \
    X(to_i16, "vfncvt.x.f.w", NARROW)                                                                                  \
    X(to_u16, "vfncvt.xu.f.w", NARROW)                                                                                 \
    X(cut_i16, "vfncvt.rtz.x.f.w", NARROW)                                                                             \
    X(cut_u16, "vfncvt.rtz.xu.f.w", NARROW)                                                                            \
    X(from_i16, "vfwcvt.f.x.v", WIDEN)                                                                                 \
    X(from_u16, "vfwcvt.f.xu.v", WIDEN)                                                                                \
    X(red_sum, "vfredosum.vs", RED)                                                                                    \
    X(red_max, "vfredmax.vs", RED)                                                                                     \
    X(red_min, "vfredmin.vs", RED)

enum {
#define X(name, instruction, operands) SCALAR_##name,
    SCALAR_OPERATIONS(X)
#undef X
        VECTOR_FIRST,
    VECTOR_BEFORE = VECTOR_FIRST - 1,
#define X(name, instruction, operands) VECTOR_##name,
    VECTOR_OPERATIONS(X)
#undef X
        OPERATIONS
};

static const uint32_t special_floats[] = {
    0x00000000, 0x80000000, 0x00000001, 0x80000001, 0x00000003, 0x007fffff, 0x807fffff, 0x00800000,
    0x80800000, 0x00800001, 0x00ffffff, 0x3f800000, 0xbf800000, 0x3f800001, 0x3f7fffff, 0xbf7fffff,
    0x3f000000, 0xbf000000, 0x3fc00000, 0xc0200000, 0x4b000001, 0x4afffffd, 0x4effffff, 0x4f000000,
    0xcf000000, 0xcf000001, 0x4f7fffff, 0x4f800000, 0x46fffe00, 0xc7000000, 0x477fff00, 0x7effffff,
    0x7f7fffff, 0xff7fffff, 0x7f800000, 0xff800000, 0x7fc00000, 0xffc12345, 0x7f800001, 0xff912345};
enum { SPECIALS = sizeof special_floats / sizeof *special_floats, PAIR_BLOCKS = SPECIALS * SPECIALS / BLOCK };

static inline uint32_t float_random(uint32_t *s) {
    *s ^= *s << 13;
    *s ^= *s >> 17;
    *s ^= *s << 5;
    return *s;
}

static inline uint32_t float_mix(uint32_t hash, uint32_t value) {
    hash = (hash ^ value) * 0x9e3779b1u;
    return hash ^ hash >> 15;
}

static inline uint32_t float_operand(uint32_t *s) {
    uint32_t kind = float_random(s), x = float_random(s);
    switch (kind >> 28) {
    case 0: return special_floats[(kind & 0xffff) * SPECIALS >> 16];
    case 1: return x & 0x807fffff;                               /* subnormal */
    case 2: return (x & 0x807fffff) | 0x7f000000;                /* huge */
    case 3: return (x & 0x807fffff) | (1 + (kind & 31)) << 23;   /* tiny */
    case 4: return (x & 0x80ff0000) | 0x3f000000;                /* few bits */
    case 5: return (x & 0x80000007) | (100 + (kind & 63)) << 23; /* next to a power of two */
    case 6:
    case 7: return (x & 0x807fffff) | (140 + (kind & 31)) << 23; /* near the ends of integers */
    case 8: return x;                                            /* any pattern */
    default: return (x & 0x807fffff) | (115 + (kind & 15) + (kind >> 4 & 7)) << 23;
    }
}

/* Blocks 0 .. 5 * PAIR_BLOCKS - 1: all pairs of specials in all modes. The mode of a block is its number mod 5. */
static inline void float_block(uint32_t seed, uint32_t block, uint32_t *a, uint32_t *b, uint32_t *c) {
    uint32_t s = (seed ^ block * 0x9e3779b1u) | 1;
    for (uint32_t i = 0; i < 4; i++) float_random(&s);
    for (uint32_t i = 0; i < BLOCK; i++) {
        uint32_t pair = block / MODES * BLOCK + i;
        a[i] = float_operand(&s), b[i] = float_operand(&s), c[i] = float_operand(&s);
        if (pair < PAIR_BLOCKS * BLOCK) a[i] = special_floats[pair / SPECIALS], b[i] = special_floats[pair % SPECIALS];
        if ((block & 3) == 2 && (i & 3) == 1) c[i] = b[i] ^ (c[i] & 0x80000003); /* sums that nearly vanish */
        if ((block & 7) == 5 && (i & 3) == 2) b[i] = a[i] ^ (c[i] & 0x8000000f);
    }
}

/* Lanes of a group that are active. */
static inline uint32_t float_lanes(uint32_t block) {
    return (block & 3) == 3 ? 1 : LANES;
}

#endif
