/*
 * Loops of the vector integer and fixed-point instructions. Included once per host instruction set by a file that
 * defines KERNEL_TABLE, KERNEL_BLEND, KERNEL_COPY, KERNEL_REST,
 * and KERNEL_BYTES, the bytes of its vectors. In expressions: x, y, z are the elements of vs2, of
 * vs1 (or the scalar) and of vd; sx, sy, sz the same as signed; U, S their types; WU, WS twice as wide; BITS the width.
 * Carries come in and go out in z and d.
 */
#include "sim/func/core_parts.h"

typedef uint64_t __attribute__((may_alias)) xpu_u64;
typedef int64_t __attribute__((may_alias)) xpu_s64;

#define TYPES_8                                                                                                        \
    typedef xpu_u8 U;                                                                                                  \
    typedef xpu_s8 S;                                                                                                  \
    typedef xpu_u16 WU;                                                                                                \
    typedef xpu_s16 WS;                                                                                                \
    enum { BITS = 8 }
#define TYPES_16                                                                                                       \
    typedef xpu_u16 U;                                                                                                 \
    typedef xpu_s16 S;                                                                                                 \
    typedef xpu_u32 WU;                                                                                                \
    typedef xpu_s32 WS;                                                                                                \
    enum { BITS = 16 }
#define TYPES_32                                                                                                       \
    typedef xpu_u32 U;                                                                                                 \
    typedef xpu_s32 S;                                                                                                 \
    typedef xpu_u64 WU;                                                                                                \
    typedef xpu_s64 WS;                                                                                                \
    enum { BITS = 32 }

/* A kernel whose vd, vs2 and vs1 have elements of types TD, TA and TB; LOOP: with this y. */
#define LOOP(TD, TA, TB, second, ...)                                                                                  \
    XPU_INDEPENDENT                                                                                                    \
    for (size_t e = 0; e < xpu_blocks(n); e++) {                                                                       \
        TA x = a[e];                                                                                                   \
        TB y = second;                                                                                                 \
        TD z = d[e];                                                                                                   \
        S sx = (S)x, sy = (S)y;                                                                                        \
        WS wsx = (WS)x;                                                                                                \
        (void)x, (void)y, (void)z, (void)sx, (void)sy, (void)wsx;                                                      \
        d[e] = (TD)(__VA_ARGS__);                                                                                      \
    }
#define KERNEL(name, bits, TD, TA, TB, ...)                                                                            \
    static uint32_t name##_##bits(void *vd, const void *va, const void *vb, uint32_t n, uint32_t options) {            \
        TYPES_##bits;                                                                                                  \
        TD *d = vd;                                                                                                    \
        const TA *a = va;                                                                                              \
        const TB *b = vb;                                                                                              \
        U sat = 0;                                                                                                     \
        const uint32_t mode = options & XPU_MODE;                                                                      \
        if (options & XPU_SCALAR) {                                                                                    \
            const TB scalar = *b;                                                                                      \
            LOOP(TD, TA, TB, scalar, __VA_ARGS__)                                                                      \
        } else {                                                                                                       \
            LOOP(TD, TA, TB, b[e], __VA_ARGS__)                                                                        \
        }                                                                                                              \
        (void)(S)0, (void)(WU)0, (void)BITS, (void)mode;                                                               \
        return sat;                                                                                                    \
    }
#define PLAIN(name, ...)                                                                                               \
    KERNEL(name, 8, U, U, U, __VA_ARGS__)                                                                              \
    KERNEL(name, 16, U, U, U, __VA_ARGS__)                                                                             \
    KERNEL(name, 32, U, U, U, __VA_ARGS__)
#define TO_MASK(name, ...)                                                                                             \
    KERNEL(name, 8, xpu_u8, U, U, __VA_ARGS__)                                                                         \
    KERNEL(name, 16, xpu_u8, U, U, __VA_ARGS__)                                                                        \
    KERNEL(name, 32, xpu_u8, U, U, __VA_ARGS__)
#define WIDEN(name, ...)                                                                                               \
    KERNEL(name, 8, WU, U, U, __VA_ARGS__)                                                                             \
    KERNEL(name, 16, WU, U, U, __VA_ARGS__)
#define WIDEN_W(name, ...)                                                                                             \
    KERNEL(name, 8, WU, WU, U, __VA_ARGS__)                                                                            \
    KERNEL(name, 16, WU, WU, U, __VA_ARGS__)
#define NARROW(name, ...)                                                                                              \
    KERNEL(name, 8, U, WU, U, __VA_ARGS__)                                                                             \
    KERNEL(name, 16, U, WU, U, __VA_ARGS__)

/* (value >> shift) rounded as vxrm says; for a signed value `value` is sign-extended and the shift arithmetic. */
static inline uint64_t rounding(uint64_t value, unsigned shift, uint32_t mode) {
    if (!shift) return 0;
    uint64_t last = value >> shift & 1, half = value >> (shift - 1) & 1, rest = value & ((1ull << shift) - 1);
    switch (mode) {
    case 0: return half;
    case 1: return half & (last | (rest != 1ull << (shift - 1)));
    case 2: return 0;
    default: return !last & (rest != 0);
    }
}
static inline uint64_t shift_unsigned(uint64_t value, unsigned shift, uint32_t mode) {
    return (value >> shift) + rounding(value, shift, mode);
}
static inline int64_t shift_signed(int64_t value, unsigned shift, uint32_t mode) {
    return (value >> shift) + (int64_t)rounding((uint64_t)value, shift, mode);
}

/* value, or the limit that it passes; says so in *saturated. */
static inline uint64_t clip_unsigned(uint64_t value, unsigned bits, int *saturated) {
    uint64_t most = (1ull << bits) - 1;
    *saturated = value > most;
    return *saturated ? most : value;
}
static inline int64_t clip_signed(int64_t value, unsigned bits, int *saturated) {
    int64_t most = (1ll << (bits - 1)) - 1, least = -most - 1;
    *saturated = value > most || value < least;
    return value > most ? most : value < least ? least : value;
}
#define CLIPPED(function, value)                                                                                       \
    __extension__({                                                                                                    \
        int saturated;                                                                                                 \
        U clipped = (U)function((value), BITS, &saturated);                                                            \
        sat |= (U)saturated;                                                                                           \
        clipped;                                                                                                       \
    })

PLAIN(vadd, x + y)
PLAIN(vsub, x - y)
PLAIN(vrsub, y - x)
PLAIN(vminu, x < y ? x : y)
PLAIN(vmin, sx < sy ? sx : sy)
PLAIN(vmaxu, x > y ? x : y)
PLAIN(vmax, sx > sy ? sx : sy)
PLAIN(vand, x &y)
PLAIN(vor, x | y)
PLAIN(vxor, x ^ y)
PLAIN(vsll, (uint32_t)x << (y & (BITS - 1)))
PLAIN(vsrl, x >> (y & (BITS - 1)))
PLAIN(vsra, sx >> (y & (BITS - 1)))
PLAIN(vmul, (uint32_t)x *y)
PLAIN(vmulh, (WS)((WS)sx *(WS)sy) >> BITS)
PLAIN(vmulhu, (WU)((WU)x *(WU)y) >> BITS)
PLAIN(vmulhsu, (WS)((WS)sx *(WS)y) >> BITS)
PLAIN(vdivu, y ? x / y : (U)-1)
PLAIN(vdiv, y == 0 ? -1 : sy == -1 ? (S)(0 - x) : (S)(sx / sy))
PLAIN(vremu, y ? x % y : x)
PLAIN(vrem, y == 0 ? sx : sy == -1 ? 0 : (S)(sx % sy))
PLAIN(vmadd, (uint32_t)y *z + x)
PLAIN(vnmsub, x - (uint32_t)y * z)
PLAIN(vmacc, (uint32_t)y *x + z)
PLAIN(vnmsac, z - (uint32_t)y * x)
PLAIN(vmv, y)
PLAIN(vmerge, z ? y : x)
PLAIN(vadc, x + y + z)
PLAIN(vsbc, x - y - z)

TO_MASK(vmadc, ((WU)x + (WU)y + z) >> BITS & 1)
TO_MASK(vmsbc, (WU)x < (WU)((WU)y + z))
TO_MASK(vmseq, x == y)
TO_MASK(vmsne, x != y)
TO_MASK(vmsltu, x < y)
TO_MASK(vmslt, sx < sy)
TO_MASK(vmsleu, x <= y)
TO_MASK(vmsle, sx <= sy)
TO_MASK(vmsgtu, x > y)
TO_MASK(vmsgt, sx > sy)

WIDEN(vwaddu, (WU)x + y)
WIDEN(vwadd, (WS)sx + sy)
WIDEN(vwsubu, (WU)x - y)
WIDEN(vwsub, (WS)sx - sy)
WIDEN(vwmulu, (uint32_t)x *y)
WIDEN(vwmulsu, (WS)sx *(WS)y)
WIDEN(vwmul, (WS)sx *sy)
WIDEN(vwmaccu, (uint32_t)x *y + z)
WIDEN(vwmacc, z + (uint32_t)((WS)sx * sy))
WIDEN(vwmaccsu, z + (uint32_t)((int32_t)sy * (int32_t)x))
WIDEN(vwmaccus, z + (uint32_t)((int32_t)sx * (int32_t)y))
WIDEN_W(vwaddu_w, x + y)
WIDEN_W(vwadd_w, (uint32_t)x + (uint32_t)sy)
WIDEN_W(vwsubu_w, x - y)
WIDEN_W(vwsub_w, (uint32_t)x - (uint32_t)sy)
NARROW(vnsrl, x >> (y & (2 * BITS - 1)))
NARROW(vnsra, wsx >> (y & (2 * BITS - 1)))

KERNEL(vzext2, 16, U, xpu_u8, xpu_u8, x)
KERNEL(vzext2, 32, U, xpu_u16, xpu_u8, x)
KERNEL(vzext4, 32, U, xpu_u8, xpu_u8, x)
KERNEL(vsext2, 16, S, xpu_s8, xpu_u8, x)
KERNEL(vsext2, 32, S, xpu_s16, xpu_u8, x)
KERNEL(vsext4, 32, S, xpu_s8, xpu_u8, x)

PLAIN(vsaddu, CLIPPED(clip_unsigned, (uint64_t)x + y))
PLAIN(vsadd, CLIPPED(clip_signed, (int64_t)sx + sy))
PLAIN(vssubu, x < y ? (sat |= 1, (U)0) : (U)(x - y))
PLAIN(vssub, CLIPPED(clip_signed, (int64_t)sx - sy))
PLAIN(vaaddu, shift_unsigned((uint64_t)x + y, 1, mode))
PLAIN(vaadd, shift_signed((int64_t)sx + sy, 1, mode))
PLAIN(vasubu, shift_unsigned((uint64_t)x - y, 1, mode))
PLAIN(vasub, shift_signed((int64_t)sx - sy, 1, mode))
PLAIN(vsmul, CLIPPED(clip_signed, shift_signed((int64_t)sx *sy, BITS - 1, mode)))
PLAIN(vssrl, shift_unsigned(x, y &(BITS - 1), mode))
PLAIN(vssra, shift_signed(sx, y &(BITS - 1), mode))
NARROW(vnclipu, CLIPPED(clip_unsigned, shift_unsigned(x, y & (2 * BITS - 1), mode)))
NARROW(vnclip, CLIPPED(clip_signed, shift_signed(wsx, y & (2 * BITS - 1), mode)))

#define BLEND(type)                                                                                                    \
    {                                                                                                                  \
        type *to = (type *)destination;                                                                                \
        const type *from = (const type *)values;                                                                       \
        XPU_INDEPENDENT                                                                                                \
        for (size_t e = 0; e < xpu_blocks(vl); e++) to[e] ^= (type)((to[e] ^ from[e]) & (type) - active[e]);           \
        for (uint32_t e = vl & ~15u; e < vl; e++) to[e] = active[e] ? from[e] : to[e];                                 \
    }

void KERNEL_BLEND(uint8_t *destination, const uint8_t *values, const uint8_t *active, uint32_t vl, unsigned sew) {
    if (sew == 0) BLEND(xpu_u8)
    if (sew == 1) BLEND(xpu_u16)
    if (sew == 2) BLEND(xpu_u32)
}

/* What the host moves in one step. */
typedef uint8_t __attribute__((vector_size(KERNEL_BYTES), aligned(1), may_alias)) step;

void KERNEL_COPY(void *to, const void *from, uint32_t bytes) {
    step *d = to;
    const step *s = from;
    for (uint32_t i = 0; i < bytes / KERNEL_BYTES; i++) d[i] = s[i];
}

/* Before a loop over vectors that hold 16 elements together, of EACH elements: with `active` where they are among the
 * first `rest`. */
#define SIXTEEN(type, ...)                                                                                             \
    {                                                                                                                  \
        static const type numbers[16] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};                        \
        enum { BYTES = 16 * sizeof(type) < KERNEL_BYTES ? 16 * sizeof(type) : KERNEL_BYTES };                          \
        enum { EACH = BYTES / sizeof(type) };                                                                          \
        typedef type __attribute__((vector_size(BYTES), aligned(sizeof(type)), may_alias)) vector;                     \
        for (unsigned first = 0; first < 16; first += EACH) {                                                          \
            vector number = *(const vector *)(numbers + first), *to = (vector *)((type *)out + first);                 \
            const vector *from = (const vector *)((const type *)in + first);                                           \
            vector active = (vector)(number < (vector){0} + (type)rest);                                               \
            __VA_ARGS__;                                                                                               \
        }                                                                                                              \
    }

/* 16 elements: the first `rest` of `in`, then the first one again. */
#define REPEAT(type) SIXTEEN(type, *to = (*from & active) | (((vector){0} + *(const type *)in) & ~active))
static inline void repeat(void *out, const void *in, uint32_t rest, unsigned sew) {
    if (sew == 0) REPEAT(xpu_s8)
    if (sew == 1) REPEAT(xpu_s16)
    if (sew == 2) REPEAT(xpu_s32)
}

/* The first `rest` elements of `in` to `out`. */
#define KEEP(type) SIXTEEN(type, *to = (*from & active) | (*to & ~active))
static inline void keep(void *out, const void *in, uint32_t rest, unsigned sew) {
    if (sew == 0) KEEP(xpu_s8)
    if (sew == 1) KEEP(xpu_s16)
    if (sew == 2) KEEP(xpu_s32)
}

uint32_t KERNEL_REST(xpu_kernel *kernel, void *d, const void *a, const void *b, uint32_t vl, uint32_t options,
                     unsigned sew) {
    _Alignas(64) uint8_t rest_d[64], rest_a[64], rest_b[64];
    uint32_t whole = vl & ~15u, rest = vl & 15, flags = 0;
    size_t done = (size_t)whole << sew;
    if (whole) flags = kernel(d, a, b, whole, options);
    repeat(rest_d, (uint8_t *)d + done, rest, sew);
    repeat(rest_a, (const uint8_t *)a + done, rest, sew);
    if (!(options & XPU_SCALAR)) {
        repeat(rest_b, (const uint8_t *)b + done, rest, sew);
        b = rest_b;
    }
    flags |= kernel(rest_d, rest_a, b, 16, options);
    keep((uint8_t *)d + done, rest_d, rest, sew);
    return flags;
}

#define ALL(name)                                                                                                      \
    {                                                                                                                  \
        {                                                                                                              \
            name##_8, name##_16, name##_32                                                                             \
        }                                                                                                              \
    }
#define HALF(name)                                                                                                     \
    {                                                                                                                  \
        {                                                                                                              \
            name##_8, name##_16, NULL                                                                                  \
        }                                                                                                              \
    }
#define VX(id, name)   [XPU_INSN_##id##_VV] = ALL(name), [XPU_INSN_##id##_VX] = ALL(name)
#define VXI(id, name)  VX(id, name), [XPU_INSN_##id##_VI] = ALL(name)
#define XI(id, name)   [XPU_INSN_##id##_VX] = ALL(name), [XPU_INSN_##id##_VI] = ALL(name)
#define VXM(id, name)  [XPU_INSN_##id##_VVM] = ALL(name), [XPU_INSN_##id##_VXM] = ALL(name)
#define VXIM(id, name) VXM(id, name), [XPU_INSN_##id##_VIM] = ALL(name)
#define WVX(id, name)  [XPU_INSN_##id##_VV] = HALF(name), [XPU_INSN_##id##_VX] = HALF(name)
#define WWX(id, name)  [XPU_INSN_##id##_WV] = HALF(name), [XPU_INSN_##id##_WX] = HALF(name)
#define NVXI(id, name) WWX(id, name), [XPU_INSN_##id##_WI] = HALF(name)

const xpu_kernels KERNEL_TABLE[XPU_INSN_COUNT] = {
    VXI(VADD, vadd),
    VX(VSUB, vsub),
    XI(VRSUB, vrsub),
    VX(VMINU, vminu),
    VX(VMIN, vmin),
    VX(VMAXU, vmaxu),
    VX(VMAX, vmax),
    VXI(VAND, vand),
    VXI(VOR, vor),
    VXI(VXOR, vxor),
    VXI(VSLL, vsll),
    VXI(VSRL, vsrl),
    VXI(VSRA, vsra),
    VX(VMUL, vmul),
    VX(VMULH, vmulh),
    VX(VMULHU, vmulhu),
    VX(VMULHSU, vmulhsu),
    VX(VDIVU, vdivu),
    VX(VDIV, vdiv),
    VX(VREMU, vremu),
    VX(VREM, vrem),
    VX(VMADD, vmadd),
    VX(VNMSUB, vnmsub),
    VX(VMACC, vmacc),
    VX(VNMSAC, vnmsac),
    VXIM(VADC, vadc),
    VXM(VSBC, vsbc),
    VXIM(VMERGE, vmerge),
    [XPU_INSN_VFMERGE_VFM] = ALL(vmerge),
    [XPU_INSN_VMV_V_V] = ALL(vmv),
    [XPU_INSN_VMV_V_X] = ALL(vmv),
    [XPU_INSN_VMV_V_I] = ALL(vmv),
    VXIM(VMADC, vmadc),
    VXI(VMADC, vmadc),
    VXM(VMSBC, vmsbc),
    VX(VMSBC, vmsbc),
    VXI(VMSEQ, vmseq),
    VXI(VMSNE, vmsne),
    VX(VMSLTU, vmsltu),
    VX(VMSLT, vmslt),
    VXI(VMSLEU, vmsleu),
    VXI(VMSLE, vmsle),
    XI(VMSGTU, vmsgtu),
    XI(VMSGT, vmsgt),
    WVX(VWADDU, vwaddu),
    WVX(VWADD, vwadd),
    WVX(VWSUBU, vwsubu),
    WVX(VWSUB, vwsub),
    WVX(VWMULU, vwmulu),
    WVX(VWMULSU, vwmulsu),
    WVX(VWMUL, vwmul),
    WVX(VWMACCU, vwmaccu),
    WVX(VWMACC, vwmacc),
    WVX(VWMACCSU, vwmaccsu),
    [XPU_INSN_VWMACCUS_VX] = HALF(vwmaccus),
    WWX(VWADDU, vwaddu_w),
    WWX(VWADD, vwadd_w),
    WWX(VWSUBU, vwsubu_w),
    WWX(VWSUB, vwsub_w),
    NVXI(VNSRL, vnsrl),
    NVXI(VNSRA, vnsra),
    [XPU_INSN_VZEXT_VF2] = {{NULL, vzext2_16, vzext2_32}},
    [XPU_INSN_VSEXT_VF2] = {{NULL, vsext2_16, vsext2_32}},
    [XPU_INSN_VZEXT_VF4] = {{NULL, NULL, vzext4_32}},
    [XPU_INSN_VSEXT_VF4] = {{NULL, NULL, vsext4_32}},
    VXI(VSADDU, vsaddu),
    VXI(VSADD, vsadd),
    VX(VSSUBU, vssubu),
    VX(VSSUB, vssub),
    VX(VAADDU, vaaddu),
    VX(VAADD, vaadd),
    VX(VASUBU, vasubu),
    VX(VASUB, vasub),
    VX(VSMUL, vsmul),
    VXI(VSSRL, vssrl),
    VXI(VSSRA, vssra),
    NVXI(VNCLIPU, vnclipu),
    NVXI(VNCLIP, vnclip),
};
