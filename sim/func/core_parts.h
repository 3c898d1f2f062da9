/* What the files of the core share: the state of a core is in hart.h, the core as a whole in core.h. */
#ifndef XPU_SIM_FUNC_CORE_PARTS_H
#define XPU_SIM_FUNC_CORE_PARTS_H

#include <string.h>

#include "sim/func/hart.h"

/* How an instruction that the interpreter does not do itself ends. */
typedef enum {
    XPU_DONE,    /* retired */
    XPU_STALL,   /* not retired */
    XPU_IDLE,    /* retired; end the run */
    XPU_STOP,    /* retired; end the run */
    XPU_REFETCH, /* retired; decoded pages may have changed */
    XPU_FAULTED  /* hart->fault is set, except for pc and word */
} xpu_outcome;

typedef xpu_outcome xpu_exec(xpu_hart *hart, xpu_decoded *insn);

/* By class; core_fp.c, core_csr.c, core_vint.c, core_vfp.c, core_vmem.c, core_vperm.c, core_vmask.c. */
xpu_exec xpu_exec_fp, xpu_exec_csr, xpu_exec_vconfig, xpu_exec_vint, xpu_exec_vfp, xpu_exec_vmem, xpu_exec_vwhole,
    xpu_exec_vmask_memory, xpu_exec_vpermute, xpu_exec_vmove, xpu_exec_vmove_whole, xpu_exec_vreduce, xpu_exec_vmask,
    xpu_exec_vfp_reduce;

static inline xpu_outcome xpu_fault(xpu_hart *hart, xpu_fault_cause cause, uint32_t address) {
    hart->fault.cause = cause;
    hart->fault.address = address;
    return XPU_FAULTED;
}
static inline xpu_outcome xpu_illegal(xpu_hart *hart) {
    return xpu_fault(hart, XPU_FAULT_ILLEGAL, 0);
}

/* Memory: the host address of `size` (1, 2, 4) bytes at `address`, which must be aligned; NULL: take the slow way. */
static inline uint8_t *xpu_hart_memory(xpu_hart *hart, uint32_t address, uint32_t size, int store) {
    xpu_core_range *range = &hart->ranges[hart->map[store][address >> 20]];
    uint32_t offset = address - range->base;
    if (offset >= range->size || (offset & (size - 1))) return NULL;
    range->bytes[store] += size;
    return range->host + offset;
}
/* The same for any number of bytes and any alignment, by search, with the access observed. */
uint8_t *xpu_hart_span(xpu_hart *hart, uint32_t address, uint32_t bytes, int store);
/* As xpu_hart_memory by the slow way; NULL after a fault. */
uint8_t *xpu_hart_slow(xpu_hart *hart, uint32_t address, uint32_t size, int store);
/* `bytes` contiguous bytes at an address that must be a multiple of `alignment`; NULL after a fault. */
uint8_t *xpu_hart_block(xpu_hart *hart, uint32_t address, uint32_t bytes, uint32_t alignment, int store);
xpu_outcome xpu_hart_load(xpu_hart *hart, uint32_t address, uint32_t size, uint32_t *value);
xpu_outcome xpu_hart_store(xpu_hart *hart, uint32_t address, uint32_t size, uint32_t value);

/* The host's rounding mode and flags belong to the core between enter and leave. */
void xpu_fp_enter(xpu_hart *hart);
void xpu_fp_leave(xpu_hart *hart);   /* adds the flags to hart->fflags */
void xpu_fp_collect(xpu_hart *hart); /* the same, and goes on with no flag set; also after frm has changed */

enum { XPU_FLAG_NX = 1, XPU_FLAG_UF = 2, XPU_FLAG_OF = 4, XPU_FLAG_DZ = 8, XPU_FLAG_NV = 16 };
enum { XPU_RNE, XPU_RTZ, XPU_RDN, XPU_RUP, XPU_RMM };
enum { XPU_NAN_BITS = 0x7fc00000 };

static inline float xpu_float(uint32_t bits) {
    float value;
    memcpy(&value, &bits, 4);
    return value;
}
static inline uint32_t xpu_bits(float value) {
    uint32_t bits;
    memcpy(&bits, &value, 4);
    return bits;
}
static inline uint32_t xpu_canonical(float value) {
    uint32_t bits = xpu_bits(value);
    return (bits & 0x7fffffff) > 0x7f800000 ? XPU_NAN_BITS : bits;
}
static inline int xpu_is_nan(uint32_t bits) {
    return (bits & 0x7fffffff) > 0x7f800000;
}
static inline int xpu_is_signalling(uint32_t bits) {
    return xpu_is_nan(bits) && !(bits & 0x00400000);
}

/* Operations on float bits in software; flags are added to *flags. */
typedef enum { XPU_FP_ADD, XPU_FP_SUB, XPU_FP_MUL, XPU_FP_DIV, XPU_FP_SQRT, XPU_FP_FMA } xpu_fp_operation;

/* Round to nearest, ties away from zero. FMA: a * b + c. */
uint32_t xpu_fp_away(xpu_fp_operation operation, uint32_t a, uint32_t b, uint32_t c, uint32_t *flags);
uint32_t xpu_fp_from_int_away(int64_t value, uint32_t *flags);
/* To a signed or unsigned integer of `bits` (16 or 32), saturating; the result is sign- or zero-extended. */
uint32_t xpu_fp_to_int(uint32_t value, unsigned bits, int is_signed, unsigned mode, uint32_t *flags);
uint32_t xpu_fp_minimum(uint32_t a, uint32_t b, uint32_t *flags);
uint32_t xpu_fp_maximum(uint32_t a, uint32_t b, uint32_t *flags);
uint32_t xpu_fp_classify(uint32_t a);
uint32_t xpu_fp_reciprocal7(uint32_t a, unsigned mode, uint32_t *flags);
uint32_t xpu_fp_rsqrt7(uint32_t a, uint32_t *flags);
/* The invalid flag of a * b + c where host and RISC-V may differ: infinity times zero plus a quiet NaN. */
static inline uint32_t xpu_fp_product_invalid(uint32_t a, uint32_t b) {
    a &= 0x7fffffff;
    b &= 0x7fffffff;
    return (a == 0x7f800000 && b == 0) || (a == 0 && b == 0x7f800000) ? XPU_FLAG_NV : 0;
}

/* Vectors. */
enum { XPU_MAX_ELEMENTS = 512 };

/* Whether operands, vtype, vstart and frm allow this instruction; remembers it in insn->checked. */
int xpu_vector_legal(xpu_hart *hart, xpu_decoded *insn);
static inline int xpu_vector_ready(xpu_hart *hart, xpu_decoded *insn) {
    return (insn->checked == hart->vkey && hart->vkey && !hart->vstart && hart->frm <= 4) ||
           xpu_vector_legal(hart, insn);
}
static inline int xpu_is_masked(const xpu_decoded *insn) {
    return !(insn->word >> 25 & 1);
}
static inline uint8_t *xpu_v(xpu_hart *hart, unsigned reg) {
    return hart->v + (size_t)reg * XPU_VLEN_BYTES;
}
static inline int xpu_mask_bit(const uint8_t *mask, uint32_t element) {
    return mask[element >> 3] >> (element & 7) & 1;
}

/* Element `index` of a register group, zero-extended; sew is log2 of its bytes. */
static inline uint32_t xpu_element(const uint8_t *group, unsigned sew, uint32_t index) {
    uint32_t value = 0;
    memcpy(&value, group + ((size_t)index << sew), (size_t)1 << sew);
    return value;
}
static inline void xpu_set_element(uint8_t *group, unsigned sew, uint32_t index, uint32_t value) {
    memcpy(group + ((size_t)index << sew), &value, (size_t)1 << sew);
}
static inline int32_t xpu_sign_extend(uint32_t value, unsigned sew) {
    unsigned shift = 32 - (8u << sew);
    return (int32_t)(value << shift) >> shift;
}

/* active[e] = 1 for elements from vstart to vl - 1 whose mask bit (if masked) is set, 0 for others up to the next
 * multiple of 16. */
void xpu_active(const xpu_hart *hart, int masked, uint8_t *active);

/* destination[e] = values[e] where active, elements 0 .. vl - 1, of 1 << sew bytes. */
void xpu_blend(uint8_t *destination, const uint8_t *values, const uint8_t *active, uint32_t vl, unsigned sew);

/* Bit e of vd = bits[e] (0 or 1) for elements from vstart to vl - 1, where the mask (if masked) allows. */
void xpu_write_mask(xpu_hart *hart, unsigned vd, const uint8_t *bits, int masked);

/* In the options of a kernel: the rounding mode (vxrm or frm); vs1 is one element, for all. */
enum { XPU_MODE = 7, XPU_SCALAR = 8 };
typedef struct {
    xpu_kernel *by_sew[3];
} xpu_kernels;
extern const xpu_kernels xpu_int_kernels_any[XPU_INSN_COUNT], xpu_int_kernels_avx2[XPU_INSN_COUNT],
    xpu_int_kernels_avx512[XPU_INSN_COUNT], xpu_fp_kernels_any[XPU_INSN_COUNT], xpu_fp_kernels_avx2[XPU_INSN_COUNT],
    xpu_fp_kernels_avx512[XPU_INSN_COUNT];

typedef void xpu_blender(uint8_t *destination, const uint8_t *values, const uint8_t *active, uint32_t vl, unsigned sew);
xpu_blender xpu_blend_any, xpu_blend_avx2, xpu_blend_avx512;

/* A multiple of 64 bytes. */
typedef void xpu_copier(void *to, const void *from, uint32_t bytes);
xpu_copier xpu_copy_any, xpu_copy_avx2, xpu_copy_avx512;

/* A kernel whose operands have elements of 1 << sew bytes, for vl elements that are no multiple of 16: what is behind
 * them is neither written nor raises a flag. */
typedef uint32_t xpu_kernel_rest(xpu_kernel *kernel, void *d, const void *a, const void *b, uint32_t vl,
                                 uint32_t options, unsigned sew);
xpu_kernel_rest xpu_rest_any, xpu_rest_avx2, xpu_rest_avx512;

/* What of all this the host runs. */
typedef struct xpu_host {
    const xpu_kernels *int_kernels, *fp_kernels;
    xpu_blender *blend;
    xpu_copier *copy;
    xpu_kernel_rest *rest;
} xpu_host;
const xpu_host *xpu_this_host(void);
/* All that this host has, the best one last; NULL behind them. */
const xpu_host *const *xpu_all_hosts(void);

/* `count` elements equal to value. */
void xpu_fill(uint8_t *to, uint32_t value, uint32_t count, unsigned sew);

/* Elements that may be read and written through any register. */
typedef uint8_t xpu_u8;
typedef int8_t xpu_s8;
typedef uint16_t __attribute__((may_alias)) xpu_u16;
typedef int16_t __attribute__((may_alias)) xpu_s16;
typedef uint32_t __attribute__((may_alias)) xpu_u32;
typedef int32_t __attribute__((may_alias)) xpu_s32;
typedef float __attribute__((may_alias)) xpu_f32;

/* Before a loop over elements that are independent, though destination and operands may be the same. */
#if defined(__clang__)
#define XPU_INDEPENDENT _Pragma("clang loop vectorize(assume_safety)")
#else
#define XPU_INDEPENDENT _Pragma("GCC ivdep")
#endif

/* n, a multiple of 16, so that the compiler knows that it is one: loops need no rest. */
static inline size_t xpu_blocks(uint32_t n) {
    return n & ~(size_t)15;
}

#endif
