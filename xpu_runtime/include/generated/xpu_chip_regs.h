/* Made by tools/hwgen from core/chip.def; do not edit. For freestanding C on the device and for the host. */
#ifndef XPU_CHIP_REGS_H
#define XPU_CHIP_REGS_H

#include <stdint.h>

/* clang-format off */

/* constants */
#define XPU_COUNTERS 64u /* counters */
#define XPU_QUEUE_DEPTH 4u /* entries of one core's queue of one engine */
#define XPU_DESC_WORDS 32u /* words of one descriptor */
#define XPU_DESC_BYTES 128u /* bytes of one descriptor; descriptors are aligned to 4 bytes */
#define XPU_NO_COUNTER 255u /* counter number that means: none */
#define XPU_MAILBOX_BYTES 64u /* bytes of one core's mailbox; mailbox i begins at SM + 64 * i */
#define XPU_MAX_CORES 16u /* cores that the memory map has room for */
#define XPU_LM_ALIAS_STRIDE 1048576u /* distance of two cores' LM in the region LM_ALL */
#define XPU_WATCHDOG_CYCLES 1000000u /* reset value of WATCHDOG_LIMIT */
#define XPU_WATCHDOG_STRETCH 64u /* stores to WATCHDOG put a time-out off for at most so many times WATCHDOG_LIMIT */
#define XPU_TICKETS 1024u /* layers that may be announced and not complete */
#define XPU_WOVEN_PLANES 16u /* planes, at most, that a DMA engine weaves to elements side by side, or takes apart */
#define XPU_WINDOW_TAPS 9u /* taps of one output that the window engine multiplies in a cycle, of all its channels */
#define XPU_WINDOW_KERNEL 7u /* rows and columns, at most, of the window engine's kernels */
#define XPU_POST_WORDS 16u /* words of a post-processor parameter block */
#define XPU_ABI_VERSION 5u /* version of everything that this file fixes; part of the ABI hash */

/* memory map: XPU_NAME_BASE */
#define XPU_REGS_BASE 0x02000000u /* registers; 32-bit accesses only, by cores only */
#define XPU_LM_BASE 0x10000000u /* local memory of the core that addresses it; not seen by engines */
#define XPU_LM_ALL_BASE 0x11000000u /* local memory of core i at + 0x100000 * i, as engines and other cores see it */
#define XPU_SM_BASE 0x20000000u /* shared memory; its first 64 * 16 bytes are the cores' mailboxes */
#define XPU_L3_BASE 0x40000000u /* L3 memory */
#define XPU_GM_BASE 0x80000000u /* global memory (DRAM) */

/* registers: offsets from XPU_REGS_BASE; with _STRIDE where there are several */
#define XPU_REG_COUNTER 0x0000u /* RW: read: the counter's value now; write: adds the written value to it */
#define XPU_REG_COUNTER_STRIDE 4u
#define XPU_REG_WAIT_VALUE 0x0100u /* RW: per core: the value that the next load of WAIT waits for */
#define XPU_REG_WAIT_VALUE_STRIDE 4u
#define XPU_REG_WAIT 0x0200u /* R: a load stalls until (int32)(COUNTER - WAIT_VALUE) >= 0, then returns the counter */
#define XPU_REG_WAIT_STRIDE 4u
#define XPU_REG_DOORBELL_ADDRESS 0x0300u /* RW: per core, by engine: address of the next descriptor list, in GM, L3, SM or LM (by 0x11000000) */
#define XPU_REG_DOORBELL_ADDRESS_STRIDE 16u
#define XPU_REG_DOORBELL_COUNT 0x0304u /* W: queues DOORBELL_ADDRESS and this many descriptors on this core's queue; stalls while it is full */
#define XPU_REG_DOORBELL_COUNT_STRIDE 16u
#define XPU_REG_DOORBELL_STATUS 0x0308u /* R: lists of this core that are queued or running on the engine */
#define XPU_REG_DOORBELL_STATUS_STRIDE 16u
#define XPU_REG_BARRIER 0x0400u /* R: a load stalls until every core has loaded it in this round, then returns 0 */
#define XPU_REG_LAYER 0x0404u /* RW: per core: (tag << 16) of the layer that the core works on, for profiles */
#define XPU_REG_TICKET_COUNTER 0x0408u /* RW: per core: counter of the next TICKET_LAYER */
#define XPU_REG_TICKET_VALUE 0x040cu /* RW: per core: value of the next TICKET_LAYER */
#define XPU_REG_TICKET_LAYER 0x0410u /* W: core 0: layer (the written index) is complete when COUNTER[TICKET_COUNTER] reaches TICKET_VALUE */
#define XPU_REG_WATCHDOG 0x0414u /* W: writing any value puts a time-out off, but not for ever (WATCHDOG_STRETCH) */
#define XPU_REG_WATCHDOG_LIMIT 0x0418u /* RW: cycles without progress until a time-out is reported */
#define XPU_REG_EXIT 0x041cu /* W: core 0: ends the program with the written status (0: done) */
#define XPU_REG_ABORT 0x0420u /* W: fault 'software abort' with the written code */
#define XPU_REG_PUTCHAR 0x0424u /* W: one byte of debug output */
#define XPU_REG_ABI_HASH 0x0428u /* R: hash of the chip's ABI keys */
#define XPU_REG_SEED 0x042cu /* RW: perturbs grants and stalls, never results */
#define XPU_REG_HOST_CALL 0x0430u /* W: core 0: address of a request block in GM; stalls until the host has answered */
#define XPU_REG_CORES 0x0440u /* R: number of cores */
#define XPU_REG_LM_BYTES 0x0444u /* R: bytes of LM per core */
#define XPU_REG_SM_BYTES 0x0448u /* R: bytes of SM */
#define XPU_REG_L3_BYTES 0x044cu /* R: bytes of L3 */
#define XPU_REG_GM_BYTES 0x0450u /* R: bytes of GM */
#define XPU_REG_ARRAY_ROWS 0x0454u /* R: rows of the MAC array */
#define XPU_REG_ARRAY_COLUMNS 0x0458u /* R: columns of the MAC array */
#define XPU_REG_ACC_ROWS 0x045cu /* R: rows of one accumulator bank */

/* CSR numbers */
#define XPU_CSR_FFLAGS 0x001 /* RW: accrued float exceptions */
#define XPU_CSR_FRM 0x002 /* RW: float rounding mode */
#define XPU_CSR_FCSR 0x003 /* RW: frm and fflags */
#define XPU_CSR_VSTART 0x008 /* RW: first vector element to work on */
#define XPU_CSR_VXSAT 0x009 /* RW: fixed-point saturation flag */
#define XPU_CSR_VXRM 0x00a /* RW: fixed-point rounding mode */
#define XPU_CSR_VCSR 0x00f /* RW: vxrm and vxsat */
#define XPU_CSR_CYCLE 0xc00 /* R: cycles, low word */
#define XPU_CSR_TIME 0xc01 /* R: cycles, low word */
#define XPU_CSR_INSTRET 0xc02 /* R: retired instructions, low word */
#define XPU_CSR_CYCLEH 0xc80 /* R: cycles, high word */
#define XPU_CSR_TIMEH 0xc81 /* R: cycles, high word */
#define XPU_CSR_INSTRETH 0xc82 /* R: retired instructions, high word */
#define XPU_CSR_VL 0xc20 /* R: vector length */
#define XPU_CSR_VTYPE 0xc21 /* R: vector type */
#define XPU_CSR_VLENB 0xc22 /* R: bytes of a vector register: 64 */
#define XPU_CSR_MHARTID 0xf14 /* R: core id */
#define XPU_CSR_CORE_ID 0xfc0 /* R: core id */
#define XPU_CSR_CLUSTER_ID 0xfc1 /* R: cluster id */
#define XPU_CSR_CORE_NUM 0xfc2 /* R: cores per cluster */

/* engines */
#define XPU_ENGINE_DMA0 0u /* DMA engine; one queue per core, served round robin among queues whose head descriptor's waits hold */
#define XPU_ENGINE_DMA1 1u /* a second DMA engine, as DMA0 */
#define XPU_ENGINE_TENSOR 2u /* tensor engine and its post-processor; core 0's queue only */
#define XPU_ENGINE_WINDOW 3u /* window engine and its post-processor; core 0's queue only; not on chips with window.channels 0 */
#define XPU_ENGINES 4u

/* element types of descriptors */
#define XPU_TYPE_I8 0u /* int8, 1 bytes */
#define XPU_TYPE_U8 1u /* uint8, 1 bytes */
#define XPU_TYPE_I16 2u /* int16, 2 bytes */
#define XPU_TYPE_I32 3u /* int32, 4 bytes */
#define XPU_TYPE_F32 4u /* float32, 4 bytes */

/* values of descriptor fields */
#define XPU_SCALE_IMMEDIATE 0u /* scale_mode: multiply by the field scale */
#define XPU_SCALE_MEMORY 1u /* scale_mode: multiply by the float at scale_address, read when the descriptor starts */
#define XPU_SCALE_ABSMAX 2u /* scale_mode: the float at scale_address is an absmax; from float multiply by fl(Q/absmax), to float by fl(absmax/Q), where Q is 32767 for int16 and 127 for int8 */
#define XPU_SCALE_DIVISOR 3u /* scale_mode: float32 to int8 or uint8 as QuantizeLinear, clamp(rne(fl(x / scale)) + zero), all levels of the type */
#define XPU_OPERANDS_8X8 0u /* mode: x and w 8 bits, accumulators 32 bits */
#define XPU_OPERANDS_16X8 1u /* mode: x int16, w int8, accumulators 48 bits */
#define XPU_OPERANDS_16X16 2u /* mode: x and w int16, accumulators 48 bits */
#define XPU_POST_QUANTISED 0u /* post_mode: int8 or uint8 out, the roundings of QLinear operators */
#define XPU_POST_FLOAT 1u /* post_mode: float32 inside */
#define XPU_ACT_NONE 0u /* activation: none (in quantised mode the clamp to lo, hi is always done) */
#define XPU_ACT_CLIP 1u /* activation: clip to lo, hi */
#define XPU_ACT_LEAKY 2u /* activation: x < 0 gives fl(x * slope) */
#define XPU_ACT_HARD_SWISH 3u /* activation: fma(hard_swish(x), ra, f); float mode, float32 out, no branch */
#define XPU_POST_SCALE 0u /* op: x - za goes through the post-processor like an accumulator */
#define XPU_POST_ADD 1u /* op, quantised mode: clamp(rne(fma(x, ra, fma(branch, rb, f))), lo2, hi2), or in the other order */
#define XPU_POST_MUL 2u /* op: quantised clamp(rne(fl(fl((x-za)*(branch-zb))*ra)+zero)), lo2, hi2); float act(fl(v*b)) */
#define XPU_WINDOW_CONVOLUTION 0u /* op of kind window: depthwise convolution */
#define XPU_WINDOW_MAX 1u /* op of kind window: the largest x - x_zero of the taps */
#define XPU_WINDOW_SUM 2u /* op of kind window: the sum of x - x_zero over the taps */

/* opcodes of descriptors */
#define XPU_OPCODE_NOP 1u /* carries waits and a signal, does nothing */
#define XPU_OPCODE_COPY 2u /* 4-D strided copy; the types differ: conversion with a scale */
#define XPU_OPCODE_FILL 3u /* 4-D strided fill with a constant */
#define XPU_OPCODE_GATHER 4u /* a copy in which a list of int32 indices replaces the position in one dimension of the source */
#define XPU_OPCODE_TENSOR 8u /* a group of matrix passes over one input tile in SM into one accumulator bank; drains it */
#define XPU_OPCODE_POST 9u /* the post-processor alone, fed from memory */
#define XPU_OPCODE_WINDOW 10u /* depthwise convolution or pooling of a tile in SM, through a post-processor */

/* A word of a parameter block whose type depends on the mode. */
typedef union {
    int32_t i;
    uint32_t u;
    float f;
} xpu_word;

/* A post-processor parameter block, as it lies in memory. */
typedef struct {
    xpu_word lo; /* lower clip; int32 in quantised mode, float32 in float mode */
    xpu_word hi; /* upper clip, as lo */
    float slope; /* float mode: factor of a leaky activation */
    float ra; /* quantised mode: factor of what the branch is added to; factor of a multiply; float mode: of hard swish, or lower limit of clip_last */
    float rb; /* quantised mode: factor of the branch; float mode: upper limit of clip_last */
    float f; /* quantised mode: addend of a residual add; float mode: of hard swish */
    int32_t zero; /* quantised mode: zero point of stage 1 and of a multiply */
    int32_t lo2; /* quantised mode: lower clamp after add and multiply */
    int32_t hi2; /* quantised mode: upper clamp after add and multiply */
    float out_scale; /* float mode: multiplier on the way to an int16 or int8 output */
    float branch_scale; /* float mode: multiplier of an integer branch */
    float x_scale; /* scale of x where the descriptor's absmax is 0 */
    float w_scale; /* scale of w for all columns where the descriptor's scale and w_absmax are 0 */
    uint32_t w_absmax; /* address of the absmax of w (w converted at run time): w_scale is fl(absmax/Q); 0: none */
    int32_t za; /* kind post: zero point of an integer x, subtracted first (not by a quantised add) */
    int32_t zb; /* quantised multiply: zero point of the branch */
} xpu_post_params;

static inline uint32_t xpu_desc_bits(uint32_t word, unsigned bit, unsigned width) {
    return word >> bit & (width < 32 ? (1u << width) - 1 : ~0u);
}
static inline int32_t xpu_desc_signed(uint32_t word, unsigned bit, unsigned width) {
    return (int32_t)(word << (32 - bit - width)) >> (32 - width);
}
static inline void xpu_desc_insert(uint32_t *word, unsigned bit, unsigned width, uint32_t value) {
    uint32_t mask = (width < 32 ? (1u << width) - 1 : ~0u) << bit;
    *word = (*word & ~mask) | (value << bit & mask);
}
static inline float xpu_desc_float(uint32_t bits) {
    xpu_word w;
    w.u = bits;
    return w.f;
}
static inline uint32_t xpu_desc_float_bits(float value) {
    xpu_word w;
    w.f = value;
    return w.u;
}

/* nop: carries waits and a signal, does nothing */
typedef struct {
    uint32_t opcode; /* kind of the descriptor */
    uint32_t layer; /* layer tag, comes back with the completion */
    uint32_t wait0; /* counter to wait for before the start, 255: none */
    uint32_t wait1; /* a second counter to wait for, 255: none */
    uint32_t signal; /* counter to add to when all writes are visible, 255: none */
    uint32_t signal_add; /* what to add */
    uint32_t wait0_value; /* starts when (int32)(counter wait0 - this) >= 0 */
    uint32_t wait1_value; /* starts when (int32)(counter wait1 - this) >= 0 */
} xpu_desc_nop;
static inline uint32_t xpu_desc_nop_get_opcode(const uint32_t *words) {
    return xpu_desc_bits(words[0], 0, 8);
}
static inline void xpu_desc_nop_set_opcode(uint32_t *words, uint32_t value) {
    xpu_desc_insert(&words[0], 0, 8, (uint32_t)value);
}
static inline uint32_t xpu_desc_nop_get_layer(const uint32_t *words) {
    return xpu_desc_bits(words[0], 16, 16);
}
static inline void xpu_desc_nop_set_layer(uint32_t *words, uint32_t value) {
    xpu_desc_insert(&words[0], 16, 16, (uint32_t)value);
}
static inline uint32_t xpu_desc_nop_get_wait0(const uint32_t *words) {
    return xpu_desc_bits(words[1], 0, 8);
}
static inline void xpu_desc_nop_set_wait0(uint32_t *words, uint32_t value) {
    xpu_desc_insert(&words[1], 0, 8, (uint32_t)value);
}
static inline uint32_t xpu_desc_nop_get_wait1(const uint32_t *words) {
    return xpu_desc_bits(words[1], 8, 8);
}
static inline void xpu_desc_nop_set_wait1(uint32_t *words, uint32_t value) {
    xpu_desc_insert(&words[1], 8, 8, (uint32_t)value);
}
static inline uint32_t xpu_desc_nop_get_signal(const uint32_t *words) {
    return xpu_desc_bits(words[1], 16, 8);
}
static inline void xpu_desc_nop_set_signal(uint32_t *words, uint32_t value) {
    xpu_desc_insert(&words[1], 16, 8, (uint32_t)value);
}
static inline uint32_t xpu_desc_nop_get_signal_add(const uint32_t *words) {
    return xpu_desc_bits(words[1], 24, 8);
}
static inline void xpu_desc_nop_set_signal_add(uint32_t *words, uint32_t value) {
    xpu_desc_insert(&words[1], 24, 8, (uint32_t)value);
}
static inline uint32_t xpu_desc_nop_get_wait0_value(const uint32_t *words) {
    return xpu_desc_bits(words[2], 0, 32);
}
static inline void xpu_desc_nop_set_wait0_value(uint32_t *words, uint32_t value) {
    xpu_desc_insert(&words[2], 0, 32, (uint32_t)value);
}
static inline uint32_t xpu_desc_nop_get_wait1_value(const uint32_t *words) {
    return xpu_desc_bits(words[3], 0, 32);
}
static inline void xpu_desc_nop_set_wait1_value(uint32_t *words, uint32_t value) {
    xpu_desc_insert(&words[3], 0, 32, (uint32_t)value);
}
/* Writes all 32 words; the opcode is set whatever d->opcode says. */
static inline void xpu_desc_nop_pack(uint32_t *words, const xpu_desc_nop *d) {
    for (int i = 0; i < 32; i++) words[i] = 0;
    xpu_desc_nop_set_layer(words, d->layer);
    xpu_desc_nop_set_wait0(words, d->wait0);
    xpu_desc_nop_set_wait1(words, d->wait1);
    xpu_desc_nop_set_signal(words, d->signal);
    xpu_desc_nop_set_signal_add(words, d->signal_add);
    xpu_desc_nop_set_wait0_value(words, d->wait0_value);
    xpu_desc_nop_set_wait1_value(words, d->wait1_value);
    xpu_desc_nop_set_opcode(words, 1u);
}
static inline void xpu_desc_nop_unpack(const uint32_t *words, xpu_desc_nop *d) {
    d->opcode = xpu_desc_nop_get_opcode(words);
    d->layer = xpu_desc_nop_get_layer(words);
    d->wait0 = xpu_desc_nop_get_wait0(words);
    d->wait1 = xpu_desc_nop_get_wait1(words);
    d->signal = xpu_desc_nop_get_signal(words);
    d->signal_add = xpu_desc_nop_get_signal_add(words);
    d->wait0_value = xpu_desc_nop_get_wait0_value(words);
    d->wait1_value = xpu_desc_nop_get_wait1_value(words);
}

/* copy: 4-D strided copy; the types differ: conversion with a scale */
typedef struct {
    uint32_t opcode; /* kind of the descriptor */
    uint32_t layer; /* layer tag, comes back with the completion */
    uint32_t wait0; /* counter to wait for before the start, 255: none */
    uint32_t wait1; /* a second counter to wait for, 255: none */
    uint32_t signal; /* counter to add to when all writes are visible, 255: none */
    uint32_t signal_add; /* what to add */
    uint32_t wait0_value; /* starts when (int32)(counter wait0 - this) >= 0 */
    uint32_t wait1_value; /* starts when (int32)(counter wait1 - this) >= 0 */
    uint64_t src; /* source address */
    uint32_t src_type; /* source element type; equal to dst_type: bytes are copied */
    uint32_t scale_mode; /* where the scale of a conversion comes from */
    uint32_t zero; /* zero point of a conversion with scale_mode 3: the byte of an element of dst_type */
    int32_t src_stride0; /* bytes from one element to the next in dimension 0 of the source */
    int32_t src_stride1; /* the same in dimension 1 */
    int32_t src_stride2; /* the same in dimension 2 */
    int32_t src_stride3; /* the same in dimension 3 */
    float scale; /* multiplier of a conversion with scale_mode 0; divisor with 3, a positive normal number */
    uint64_t scale_address; /* address of the multiplier or absmax with scale_mode 1, 2 */
    uint64_t dst; /* destination address */
    uint32_t dst_type; /* destination element type */
    uint32_t size0; /* elements in dimension 0, the outermost; 0: nothing is moved; at most 2^31 elements */
    uint32_t size1; /* elements in dimension 1 */
    uint32_t size2; /* elements in dimension 2 */
    uint32_t size3; /* elements in dimension 3, the innermost */
    int32_t dst_stride0; /* bytes from one element to the next in dimension 0 of the destination */
    int32_t dst_stride1; /* the same in dimension 1 */
    int32_t dst_stride2; /* the same in dimension 2 */
    int32_t dst_stride3; /* the same in dimension 3 */
} xpu_desc_copy;
static inline uint32_t xpu_desc_copy_get_opcode(const uint32_t *words) {
    return xpu_desc_bits(words[0], 0, 8);
}
static inline void xpu_desc_copy_set_opcode(uint32_t *words, uint32_t value) {
    xpu_desc_insert(&words[0], 0, 8, (uint32_t)value);
}
static inline uint32_t xpu_desc_copy_get_layer(const uint32_t *words) {
    return xpu_desc_bits(words[0], 16, 16);
}
static inline void xpu_desc_copy_set_layer(uint32_t *words, uint32_t value) {
    xpu_desc_insert(&words[0], 16, 16, (uint32_t)value);
}
static inline uint32_t xpu_desc_copy_get_wait0(const uint32_t *words) {
    return xpu_desc_bits(words[1], 0, 8);
}
static inline void xpu_desc_copy_set_wait0(uint32_t *words, uint32_t value) {
    xpu_desc_insert(&words[1], 0, 8, (uint32_t)value);
}
static inline uint32_t xpu_desc_copy_get_wait1(const uint32_t *words) {
    return xpu_desc_bits(words[1], 8, 8);
}
static inline void xpu_desc_copy_set_wait1(uint32_t *words, uint32_t value) {
    xpu_desc_insert(&words[1], 8, 8, (uint32_t)value);
}
static inline uint32_t xpu_desc_copy_get_signal(const uint32_t *words) {
    return xpu_desc_bits(words[1], 16, 8);
}
static inline void xpu_desc_copy_set_signal(uint32_t *words, uint32_t value) {
    xpu_desc_insert(&words[1], 16, 8, (uint32_t)value);
}
static inline uint32_t xpu_desc_copy_get_signal_add(const uint32_t *words) {
    return xpu_desc_bits(words[1], 24, 8);
}
static inline void xpu_desc_copy_set_signal_add(uint32_t *words, uint32_t value) {
    xpu_desc_insert(&words[1], 24, 8, (uint32_t)value);
}
static inline uint32_t xpu_desc_copy_get_wait0_value(const uint32_t *words) {
    return xpu_desc_bits(words[2], 0, 32);
}
static inline void xpu_desc_copy_set_wait0_value(uint32_t *words, uint32_t value) {
    xpu_desc_insert(&words[2], 0, 32, (uint32_t)value);
}
static inline uint32_t xpu_desc_copy_get_wait1_value(const uint32_t *words) {
    return xpu_desc_bits(words[3], 0, 32);
}
static inline void xpu_desc_copy_set_wait1_value(uint32_t *words, uint32_t value) {
    xpu_desc_insert(&words[3], 0, 32, (uint32_t)value);
}
static inline uint64_t xpu_desc_copy_get_src(const uint32_t *words) {
    return words[4] | (uint64_t)xpu_desc_bits(words[6], 0, 8) << 32;
}
static inline void xpu_desc_copy_set_src(uint32_t *words, uint64_t value) {
    words[4] = (uint32_t)value;
    xpu_desc_insert(&words[6], 0, 8, (uint32_t)(value >> 32));
}
static inline uint32_t xpu_desc_copy_get_src_type(const uint32_t *words) {
    return xpu_desc_bits(words[7], 0, 4);
}
static inline void xpu_desc_copy_set_src_type(uint32_t *words, uint32_t value) {
    xpu_desc_insert(&words[7], 0, 4, (uint32_t)value);
}
static inline uint32_t xpu_desc_copy_get_scale_mode(const uint32_t *words) {
    return xpu_desc_bits(words[7], 8, 2);
}
static inline void xpu_desc_copy_set_scale_mode(uint32_t *words, uint32_t value) {
    xpu_desc_insert(&words[7], 8, 2, (uint32_t)value);
}
static inline uint32_t xpu_desc_copy_get_zero(const uint32_t *words) {
    return xpu_desc_bits(words[7], 16, 8);
}
static inline void xpu_desc_copy_set_zero(uint32_t *words, uint32_t value) {
    xpu_desc_insert(&words[7], 16, 8, (uint32_t)value);
}
static inline int32_t xpu_desc_copy_get_src_stride0(const uint32_t *words) {
    return xpu_desc_signed(words[12], 0, 32);
}
static inline void xpu_desc_copy_set_src_stride0(uint32_t *words, int32_t value) {
    xpu_desc_insert(&words[12], 0, 32, (uint32_t)value);
}
static inline int32_t xpu_desc_copy_get_src_stride1(const uint32_t *words) {
    return xpu_desc_signed(words[13], 0, 32);
}
static inline void xpu_desc_copy_set_src_stride1(uint32_t *words, int32_t value) {
    xpu_desc_insert(&words[13], 0, 32, (uint32_t)value);
}
static inline int32_t xpu_desc_copy_get_src_stride2(const uint32_t *words) {
    return xpu_desc_signed(words[14], 0, 32);
}
static inline void xpu_desc_copy_set_src_stride2(uint32_t *words, int32_t value) {
    xpu_desc_insert(&words[14], 0, 32, (uint32_t)value);
}
static inline int32_t xpu_desc_copy_get_src_stride3(const uint32_t *words) {
    return xpu_desc_signed(words[15], 0, 32);
}
static inline void xpu_desc_copy_set_src_stride3(uint32_t *words, int32_t value) {
    xpu_desc_insert(&words[15], 0, 32, (uint32_t)value);
}
static inline float xpu_desc_copy_get_scale(const uint32_t *words) {
    return xpu_desc_float(words[20]);
}
static inline void xpu_desc_copy_set_scale(uint32_t *words, float value) {
    words[20] = xpu_desc_float_bits(value);
}
static inline uint64_t xpu_desc_copy_get_scale_address(const uint32_t *words) {
    return words[21] | (uint64_t)xpu_desc_bits(words[6], 16, 8) << 32;
}
static inline void xpu_desc_copy_set_scale_address(uint32_t *words, uint64_t value) {
    words[21] = (uint32_t)value;
    xpu_desc_insert(&words[6], 16, 8, (uint32_t)(value >> 32));
}
static inline uint64_t xpu_desc_copy_get_dst(const uint32_t *words) {
    return words[5] | (uint64_t)xpu_desc_bits(words[6], 8, 8) << 32;
}
static inline void xpu_desc_copy_set_dst(uint32_t *words, uint64_t value) {
    words[5] = (uint32_t)value;
    xpu_desc_insert(&words[6], 8, 8, (uint32_t)(value >> 32));
}
static inline uint32_t xpu_desc_copy_get_dst_type(const uint32_t *words) {
    return xpu_desc_bits(words[7], 4, 4);
}
static inline void xpu_desc_copy_set_dst_type(uint32_t *words, uint32_t value) {
    xpu_desc_insert(&words[7], 4, 4, (uint32_t)value);
}
static inline uint32_t xpu_desc_copy_get_size0(const uint32_t *words) {
    return xpu_desc_bits(words[8], 0, 32);
}
static inline void xpu_desc_copy_set_size0(uint32_t *words, uint32_t value) {
    xpu_desc_insert(&words[8], 0, 32, (uint32_t)value);
}
static inline uint32_t xpu_desc_copy_get_size1(const uint32_t *words) {
    return xpu_desc_bits(words[9], 0, 32);
}
static inline void xpu_desc_copy_set_size1(uint32_t *words, uint32_t value) {
    xpu_desc_insert(&words[9], 0, 32, (uint32_t)value);
}
static inline uint32_t xpu_desc_copy_get_size2(const uint32_t *words) {
    return xpu_desc_bits(words[10], 0, 32);
}
static inline void xpu_desc_copy_set_size2(uint32_t *words, uint32_t value) {
    xpu_desc_insert(&words[10], 0, 32, (uint32_t)value);
}
static inline uint32_t xpu_desc_copy_get_size3(const uint32_t *words) {
    return xpu_desc_bits(words[11], 0, 32);
}
static inline void xpu_desc_copy_set_size3(uint32_t *words, uint32_t value) {
    xpu_desc_insert(&words[11], 0, 32, (uint32_t)value);
}
static inline int32_t xpu_desc_copy_get_dst_stride0(const uint32_t *words) {
    return xpu_desc_signed(words[16], 0, 32);
}
static inline void xpu_desc_copy_set_dst_stride0(uint32_t *words, int32_t value) {
    xpu_desc_insert(&words[16], 0, 32, (uint32_t)value);
}
static inline int32_t xpu_desc_copy_get_dst_stride1(const uint32_t *words) {
    return xpu_desc_signed(words[17], 0, 32);
}
static inline void xpu_desc_copy_set_dst_stride1(uint32_t *words, int32_t value) {
    xpu_desc_insert(&words[17], 0, 32, (uint32_t)value);
}
static inline int32_t xpu_desc_copy_get_dst_stride2(const uint32_t *words) {
    return xpu_desc_signed(words[18], 0, 32);
}
static inline void xpu_desc_copy_set_dst_stride2(uint32_t *words, int32_t value) {
    xpu_desc_insert(&words[18], 0, 32, (uint32_t)value);
}
static inline int32_t xpu_desc_copy_get_dst_stride3(const uint32_t *words) {
    return xpu_desc_signed(words[19], 0, 32);
}
static inline void xpu_desc_copy_set_dst_stride3(uint32_t *words, int32_t value) {
    xpu_desc_insert(&words[19], 0, 32, (uint32_t)value);
}
/* Writes all 32 words; the opcode is set whatever d->opcode says. */
static inline void xpu_desc_copy_pack(uint32_t *words, const xpu_desc_copy *d) {
    for (int i = 0; i < 32; i++) words[i] = 0;
    xpu_desc_copy_set_layer(words, d->layer);
    xpu_desc_copy_set_wait0(words, d->wait0);
    xpu_desc_copy_set_wait1(words, d->wait1);
    xpu_desc_copy_set_signal(words, d->signal);
    xpu_desc_copy_set_signal_add(words, d->signal_add);
    xpu_desc_copy_set_wait0_value(words, d->wait0_value);
    xpu_desc_copy_set_wait1_value(words, d->wait1_value);
    xpu_desc_copy_set_src(words, d->src);
    xpu_desc_copy_set_src_type(words, d->src_type);
    xpu_desc_copy_set_scale_mode(words, d->scale_mode);
    xpu_desc_copy_set_zero(words, d->zero);
    xpu_desc_copy_set_src_stride0(words, d->src_stride0);
    xpu_desc_copy_set_src_stride1(words, d->src_stride1);
    xpu_desc_copy_set_src_stride2(words, d->src_stride2);
    xpu_desc_copy_set_src_stride3(words, d->src_stride3);
    xpu_desc_copy_set_scale(words, d->scale);
    xpu_desc_copy_set_scale_address(words, d->scale_address);
    xpu_desc_copy_set_dst(words, d->dst);
    xpu_desc_copy_set_dst_type(words, d->dst_type);
    xpu_desc_copy_set_size0(words, d->size0);
    xpu_desc_copy_set_size1(words, d->size1);
    xpu_desc_copy_set_size2(words, d->size2);
    xpu_desc_copy_set_size3(words, d->size3);
    xpu_desc_copy_set_dst_stride0(words, d->dst_stride0);
    xpu_desc_copy_set_dst_stride1(words, d->dst_stride1);
    xpu_desc_copy_set_dst_stride2(words, d->dst_stride2);
    xpu_desc_copy_set_dst_stride3(words, d->dst_stride3);
    xpu_desc_copy_set_opcode(words, 2u);
}
static inline void xpu_desc_copy_unpack(const uint32_t *words, xpu_desc_copy *d) {
    d->opcode = xpu_desc_copy_get_opcode(words);
    d->layer = xpu_desc_copy_get_layer(words);
    d->wait0 = xpu_desc_copy_get_wait0(words);
    d->wait1 = xpu_desc_copy_get_wait1(words);
    d->signal = xpu_desc_copy_get_signal(words);
    d->signal_add = xpu_desc_copy_get_signal_add(words);
    d->wait0_value = xpu_desc_copy_get_wait0_value(words);
    d->wait1_value = xpu_desc_copy_get_wait1_value(words);
    d->src = xpu_desc_copy_get_src(words);
    d->src_type = xpu_desc_copy_get_src_type(words);
    d->scale_mode = xpu_desc_copy_get_scale_mode(words);
    d->zero = xpu_desc_copy_get_zero(words);
    d->src_stride0 = xpu_desc_copy_get_src_stride0(words);
    d->src_stride1 = xpu_desc_copy_get_src_stride1(words);
    d->src_stride2 = xpu_desc_copy_get_src_stride2(words);
    d->src_stride3 = xpu_desc_copy_get_src_stride3(words);
    d->scale = xpu_desc_copy_get_scale(words);
    d->scale_address = xpu_desc_copy_get_scale_address(words);
    d->dst = xpu_desc_copy_get_dst(words);
    d->dst_type = xpu_desc_copy_get_dst_type(words);
    d->size0 = xpu_desc_copy_get_size0(words);
    d->size1 = xpu_desc_copy_get_size1(words);
    d->size2 = xpu_desc_copy_get_size2(words);
    d->size3 = xpu_desc_copy_get_size3(words);
    d->dst_stride0 = xpu_desc_copy_get_dst_stride0(words);
    d->dst_stride1 = xpu_desc_copy_get_dst_stride1(words);
    d->dst_stride2 = xpu_desc_copy_get_dst_stride2(words);
    d->dst_stride3 = xpu_desc_copy_get_dst_stride3(words);
}

/* fill: 4-D strided fill with a constant */
typedef struct {
    uint32_t opcode; /* kind of the descriptor */
    uint32_t layer; /* layer tag, comes back with the completion */
    uint32_t wait0; /* counter to wait for before the start, 255: none */
    uint32_t wait1; /* a second counter to wait for, 255: none */
    uint32_t signal; /* counter to add to when all writes are visible, 255: none */
    uint32_t signal_add; /* what to add */
    uint32_t wait0_value; /* starts when (int32)(counter wait0 - this) >= 0 */
    uint32_t wait1_value; /* starts when (int32)(counter wait1 - this) >= 0 */
    uint64_t dst; /* destination address */
    uint32_t dst_type; /* destination element type */
    uint32_t size0; /* elements in dimension 0, the outermost; 0: nothing is moved; at most 2^31 elements */
    uint32_t size1; /* elements in dimension 1 */
    uint32_t size2; /* elements in dimension 2 */
    uint32_t size3; /* elements in dimension 3, the innermost */
    int32_t dst_stride0; /* bytes from one element to the next in dimension 0 of the destination */
    int32_t dst_stride1; /* the same in dimension 1 */
    int32_t dst_stride2; /* the same in dimension 2 */
    int32_t dst_stride3; /* the same in dimension 3 */
    uint32_t value; /* the constant; its low 8, 16 or 32 bits are stored */
} xpu_desc_fill;
static inline uint32_t xpu_desc_fill_get_opcode(const uint32_t *words) {
    return xpu_desc_bits(words[0], 0, 8);
}
static inline void xpu_desc_fill_set_opcode(uint32_t *words, uint32_t value) {
    xpu_desc_insert(&words[0], 0, 8, (uint32_t)value);
}
static inline uint32_t xpu_desc_fill_get_layer(const uint32_t *words) {
    return xpu_desc_bits(words[0], 16, 16);
}
static inline void xpu_desc_fill_set_layer(uint32_t *words, uint32_t value) {
    xpu_desc_insert(&words[0], 16, 16, (uint32_t)value);
}
static inline uint32_t xpu_desc_fill_get_wait0(const uint32_t *words) {
    return xpu_desc_bits(words[1], 0, 8);
}
static inline void xpu_desc_fill_set_wait0(uint32_t *words, uint32_t value) {
    xpu_desc_insert(&words[1], 0, 8, (uint32_t)value);
}
static inline uint32_t xpu_desc_fill_get_wait1(const uint32_t *words) {
    return xpu_desc_bits(words[1], 8, 8);
}
static inline void xpu_desc_fill_set_wait1(uint32_t *words, uint32_t value) {
    xpu_desc_insert(&words[1], 8, 8, (uint32_t)value);
}
static inline uint32_t xpu_desc_fill_get_signal(const uint32_t *words) {
    return xpu_desc_bits(words[1], 16, 8);
}
static inline void xpu_desc_fill_set_signal(uint32_t *words, uint32_t value) {
    xpu_desc_insert(&words[1], 16, 8, (uint32_t)value);
}
static inline uint32_t xpu_desc_fill_get_signal_add(const uint32_t *words) {
    return xpu_desc_bits(words[1], 24, 8);
}
static inline void xpu_desc_fill_set_signal_add(uint32_t *words, uint32_t value) {
    xpu_desc_insert(&words[1], 24, 8, (uint32_t)value);
}
static inline uint32_t xpu_desc_fill_get_wait0_value(const uint32_t *words) {
    return xpu_desc_bits(words[2], 0, 32);
}
static inline void xpu_desc_fill_set_wait0_value(uint32_t *words, uint32_t value) {
    xpu_desc_insert(&words[2], 0, 32, (uint32_t)value);
}
static inline uint32_t xpu_desc_fill_get_wait1_value(const uint32_t *words) {
    return xpu_desc_bits(words[3], 0, 32);
}
static inline void xpu_desc_fill_set_wait1_value(uint32_t *words, uint32_t value) {
    xpu_desc_insert(&words[3], 0, 32, (uint32_t)value);
}
static inline uint64_t xpu_desc_fill_get_dst(const uint32_t *words) {
    return words[5] | (uint64_t)xpu_desc_bits(words[6], 8, 8) << 32;
}
static inline void xpu_desc_fill_set_dst(uint32_t *words, uint64_t value) {
    words[5] = (uint32_t)value;
    xpu_desc_insert(&words[6], 8, 8, (uint32_t)(value >> 32));
}
static inline uint32_t xpu_desc_fill_get_dst_type(const uint32_t *words) {
    return xpu_desc_bits(words[7], 4, 4);
}
static inline void xpu_desc_fill_set_dst_type(uint32_t *words, uint32_t value) {
    xpu_desc_insert(&words[7], 4, 4, (uint32_t)value);
}
static inline uint32_t xpu_desc_fill_get_size0(const uint32_t *words) {
    return xpu_desc_bits(words[8], 0, 32);
}
static inline void xpu_desc_fill_set_size0(uint32_t *words, uint32_t value) {
    xpu_desc_insert(&words[8], 0, 32, (uint32_t)value);
}
static inline uint32_t xpu_desc_fill_get_size1(const uint32_t *words) {
    return xpu_desc_bits(words[9], 0, 32);
}
static inline void xpu_desc_fill_set_size1(uint32_t *words, uint32_t value) {
    xpu_desc_insert(&words[9], 0, 32, (uint32_t)value);
}
static inline uint32_t xpu_desc_fill_get_size2(const uint32_t *words) {
    return xpu_desc_bits(words[10], 0, 32);
}
static inline void xpu_desc_fill_set_size2(uint32_t *words, uint32_t value) {
    xpu_desc_insert(&words[10], 0, 32, (uint32_t)value);
}
static inline uint32_t xpu_desc_fill_get_size3(const uint32_t *words) {
    return xpu_desc_bits(words[11], 0, 32);
}
static inline void xpu_desc_fill_set_size3(uint32_t *words, uint32_t value) {
    xpu_desc_insert(&words[11], 0, 32, (uint32_t)value);
}
static inline int32_t xpu_desc_fill_get_dst_stride0(const uint32_t *words) {
    return xpu_desc_signed(words[16], 0, 32);
}
static inline void xpu_desc_fill_set_dst_stride0(uint32_t *words, int32_t value) {
    xpu_desc_insert(&words[16], 0, 32, (uint32_t)value);
}
static inline int32_t xpu_desc_fill_get_dst_stride1(const uint32_t *words) {
    return xpu_desc_signed(words[17], 0, 32);
}
static inline void xpu_desc_fill_set_dst_stride1(uint32_t *words, int32_t value) {
    xpu_desc_insert(&words[17], 0, 32, (uint32_t)value);
}
static inline int32_t xpu_desc_fill_get_dst_stride2(const uint32_t *words) {
    return xpu_desc_signed(words[18], 0, 32);
}
static inline void xpu_desc_fill_set_dst_stride2(uint32_t *words, int32_t value) {
    xpu_desc_insert(&words[18], 0, 32, (uint32_t)value);
}
static inline int32_t xpu_desc_fill_get_dst_stride3(const uint32_t *words) {
    return xpu_desc_signed(words[19], 0, 32);
}
static inline void xpu_desc_fill_set_dst_stride3(uint32_t *words, int32_t value) {
    xpu_desc_insert(&words[19], 0, 32, (uint32_t)value);
}
static inline uint32_t xpu_desc_fill_get_value(const uint32_t *words) {
    return xpu_desc_bits(words[20], 0, 32);
}
static inline void xpu_desc_fill_set_value(uint32_t *words, uint32_t value) {
    xpu_desc_insert(&words[20], 0, 32, (uint32_t)value);
}
/* Writes all 32 words; the opcode is set whatever d->opcode says. */
static inline void xpu_desc_fill_pack(uint32_t *words, const xpu_desc_fill *d) {
    for (int i = 0; i < 32; i++) words[i] = 0;
    xpu_desc_fill_set_layer(words, d->layer);
    xpu_desc_fill_set_wait0(words, d->wait0);
    xpu_desc_fill_set_wait1(words, d->wait1);
    xpu_desc_fill_set_signal(words, d->signal);
    xpu_desc_fill_set_signal_add(words, d->signal_add);
    xpu_desc_fill_set_wait0_value(words, d->wait0_value);
    xpu_desc_fill_set_wait1_value(words, d->wait1_value);
    xpu_desc_fill_set_dst(words, d->dst);
    xpu_desc_fill_set_dst_type(words, d->dst_type);
    xpu_desc_fill_set_size0(words, d->size0);
    xpu_desc_fill_set_size1(words, d->size1);
    xpu_desc_fill_set_size2(words, d->size2);
    xpu_desc_fill_set_size3(words, d->size3);
    xpu_desc_fill_set_dst_stride0(words, d->dst_stride0);
    xpu_desc_fill_set_dst_stride1(words, d->dst_stride1);
    xpu_desc_fill_set_dst_stride2(words, d->dst_stride2);
    xpu_desc_fill_set_dst_stride3(words, d->dst_stride3);
    xpu_desc_fill_set_value(words, d->value);
    xpu_desc_fill_set_opcode(words, 3u);
}
static inline void xpu_desc_fill_unpack(const uint32_t *words, xpu_desc_fill *d) {
    d->opcode = xpu_desc_fill_get_opcode(words);
    d->layer = xpu_desc_fill_get_layer(words);
    d->wait0 = xpu_desc_fill_get_wait0(words);
    d->wait1 = xpu_desc_fill_get_wait1(words);
    d->signal = xpu_desc_fill_get_signal(words);
    d->signal_add = xpu_desc_fill_get_signal_add(words);
    d->wait0_value = xpu_desc_fill_get_wait0_value(words);
    d->wait1_value = xpu_desc_fill_get_wait1_value(words);
    d->dst = xpu_desc_fill_get_dst(words);
    d->dst_type = xpu_desc_fill_get_dst_type(words);
    d->size0 = xpu_desc_fill_get_size0(words);
    d->size1 = xpu_desc_fill_get_size1(words);
    d->size2 = xpu_desc_fill_get_size2(words);
    d->size3 = xpu_desc_fill_get_size3(words);
    d->dst_stride0 = xpu_desc_fill_get_dst_stride0(words);
    d->dst_stride1 = xpu_desc_fill_get_dst_stride1(words);
    d->dst_stride2 = xpu_desc_fill_get_dst_stride2(words);
    d->dst_stride3 = xpu_desc_fill_get_dst_stride3(words);
    d->value = xpu_desc_fill_get_value(words);
}

/* gather: a copy in which a list of int32 indices replaces the position in one dimension of the source */
typedef struct {
    uint32_t opcode; /* kind of the descriptor */
    uint32_t layer; /* layer tag, comes back with the completion */
    uint32_t wait0; /* counter to wait for before the start, 255: none */
    uint32_t wait1; /* a second counter to wait for, 255: none */
    uint32_t signal; /* counter to add to when all writes are visible, 255: none */
    uint32_t signal_add; /* what to add */
    uint32_t wait0_value; /* starts when (int32)(counter wait0 - this) >= 0 */
    uint32_t wait1_value; /* starts when (int32)(counter wait1 - this) >= 0 */
    uint64_t src; /* source address */
    uint32_t src_type; /* source element type; equal to dst_type: bytes are copied */
    uint32_t scale_mode; /* where the scale of a conversion comes from */
    uint32_t zero; /* zero point of a conversion with scale_mode 3: the byte of an element of dst_type */
    int32_t src_stride0; /* bytes from one element to the next in dimension 0 of the source */
    int32_t src_stride1; /* the same in dimension 1 */
    int32_t src_stride2; /* the same in dimension 2 */
    int32_t src_stride3; /* the same in dimension 3 */
    float scale; /* multiplier of a conversion with scale_mode 0; divisor with 3, a positive normal number */
    uint64_t scale_address; /* address of the multiplier or absmax with scale_mode 1, 2 */
    uint64_t dst; /* destination address */
    uint32_t dst_type; /* destination element type */
    uint32_t size0; /* elements in dimension 0, the outermost; 0: nothing is moved; at most 2^31 elements */
    uint32_t size1; /* elements in dimension 1 */
    uint32_t size2; /* elements in dimension 2 */
    uint32_t size3; /* elements in dimension 3, the innermost */
    int32_t dst_stride0; /* bytes from one element to the next in dimension 0 of the destination */
    int32_t dst_stride1; /* the same in dimension 1 */
    int32_t dst_stride2; /* the same in dimension 2 */
    int32_t dst_stride3; /* the same in dimension 3 */
    uint32_t gather_dim; /* dimension whose source position i is replaced by index[i] */
    uint64_t index; /* address of the int32 index list */
} xpu_desc_gather;
static inline uint32_t xpu_desc_gather_get_opcode(const uint32_t *words) {
    return xpu_desc_bits(words[0], 0, 8);
}
static inline void xpu_desc_gather_set_opcode(uint32_t *words, uint32_t value) {
    xpu_desc_insert(&words[0], 0, 8, (uint32_t)value);
}
static inline uint32_t xpu_desc_gather_get_layer(const uint32_t *words) {
    return xpu_desc_bits(words[0], 16, 16);
}
static inline void xpu_desc_gather_set_layer(uint32_t *words, uint32_t value) {
    xpu_desc_insert(&words[0], 16, 16, (uint32_t)value);
}
static inline uint32_t xpu_desc_gather_get_wait0(const uint32_t *words) {
    return xpu_desc_bits(words[1], 0, 8);
}
static inline void xpu_desc_gather_set_wait0(uint32_t *words, uint32_t value) {
    xpu_desc_insert(&words[1], 0, 8, (uint32_t)value);
}
static inline uint32_t xpu_desc_gather_get_wait1(const uint32_t *words) {
    return xpu_desc_bits(words[1], 8, 8);
}
static inline void xpu_desc_gather_set_wait1(uint32_t *words, uint32_t value) {
    xpu_desc_insert(&words[1], 8, 8, (uint32_t)value);
}
static inline uint32_t xpu_desc_gather_get_signal(const uint32_t *words) {
    return xpu_desc_bits(words[1], 16, 8);
}
static inline void xpu_desc_gather_set_signal(uint32_t *words, uint32_t value) {
    xpu_desc_insert(&words[1], 16, 8, (uint32_t)value);
}
static inline uint32_t xpu_desc_gather_get_signal_add(const uint32_t *words) {
    return xpu_desc_bits(words[1], 24, 8);
}
static inline void xpu_desc_gather_set_signal_add(uint32_t *words, uint32_t value) {
    xpu_desc_insert(&words[1], 24, 8, (uint32_t)value);
}
static inline uint32_t xpu_desc_gather_get_wait0_value(const uint32_t *words) {
    return xpu_desc_bits(words[2], 0, 32);
}
static inline void xpu_desc_gather_set_wait0_value(uint32_t *words, uint32_t value) {
    xpu_desc_insert(&words[2], 0, 32, (uint32_t)value);
}
static inline uint32_t xpu_desc_gather_get_wait1_value(const uint32_t *words) {
    return xpu_desc_bits(words[3], 0, 32);
}
static inline void xpu_desc_gather_set_wait1_value(uint32_t *words, uint32_t value) {
    xpu_desc_insert(&words[3], 0, 32, (uint32_t)value);
}
static inline uint64_t xpu_desc_gather_get_src(const uint32_t *words) {
    return words[4] | (uint64_t)xpu_desc_bits(words[6], 0, 8) << 32;
}
static inline void xpu_desc_gather_set_src(uint32_t *words, uint64_t value) {
    words[4] = (uint32_t)value;
    xpu_desc_insert(&words[6], 0, 8, (uint32_t)(value >> 32));
}
static inline uint32_t xpu_desc_gather_get_src_type(const uint32_t *words) {
    return xpu_desc_bits(words[7], 0, 4);
}
static inline void xpu_desc_gather_set_src_type(uint32_t *words, uint32_t value) {
    xpu_desc_insert(&words[7], 0, 4, (uint32_t)value);
}
static inline uint32_t xpu_desc_gather_get_scale_mode(const uint32_t *words) {
    return xpu_desc_bits(words[7], 8, 2);
}
static inline void xpu_desc_gather_set_scale_mode(uint32_t *words, uint32_t value) {
    xpu_desc_insert(&words[7], 8, 2, (uint32_t)value);
}
static inline uint32_t xpu_desc_gather_get_zero(const uint32_t *words) {
    return xpu_desc_bits(words[7], 16, 8);
}
static inline void xpu_desc_gather_set_zero(uint32_t *words, uint32_t value) {
    xpu_desc_insert(&words[7], 16, 8, (uint32_t)value);
}
static inline int32_t xpu_desc_gather_get_src_stride0(const uint32_t *words) {
    return xpu_desc_signed(words[12], 0, 32);
}
static inline void xpu_desc_gather_set_src_stride0(uint32_t *words, int32_t value) {
    xpu_desc_insert(&words[12], 0, 32, (uint32_t)value);
}
static inline int32_t xpu_desc_gather_get_src_stride1(const uint32_t *words) {
    return xpu_desc_signed(words[13], 0, 32);
}
static inline void xpu_desc_gather_set_src_stride1(uint32_t *words, int32_t value) {
    xpu_desc_insert(&words[13], 0, 32, (uint32_t)value);
}
static inline int32_t xpu_desc_gather_get_src_stride2(const uint32_t *words) {
    return xpu_desc_signed(words[14], 0, 32);
}
static inline void xpu_desc_gather_set_src_stride2(uint32_t *words, int32_t value) {
    xpu_desc_insert(&words[14], 0, 32, (uint32_t)value);
}
static inline int32_t xpu_desc_gather_get_src_stride3(const uint32_t *words) {
    return xpu_desc_signed(words[15], 0, 32);
}
static inline void xpu_desc_gather_set_src_stride3(uint32_t *words, int32_t value) {
    xpu_desc_insert(&words[15], 0, 32, (uint32_t)value);
}
static inline float xpu_desc_gather_get_scale(const uint32_t *words) {
    return xpu_desc_float(words[20]);
}
static inline void xpu_desc_gather_set_scale(uint32_t *words, float value) {
    words[20] = xpu_desc_float_bits(value);
}
static inline uint64_t xpu_desc_gather_get_scale_address(const uint32_t *words) {
    return words[21] | (uint64_t)xpu_desc_bits(words[6], 16, 8) << 32;
}
static inline void xpu_desc_gather_set_scale_address(uint32_t *words, uint64_t value) {
    words[21] = (uint32_t)value;
    xpu_desc_insert(&words[6], 16, 8, (uint32_t)(value >> 32));
}
static inline uint64_t xpu_desc_gather_get_dst(const uint32_t *words) {
    return words[5] | (uint64_t)xpu_desc_bits(words[6], 8, 8) << 32;
}
static inline void xpu_desc_gather_set_dst(uint32_t *words, uint64_t value) {
    words[5] = (uint32_t)value;
    xpu_desc_insert(&words[6], 8, 8, (uint32_t)(value >> 32));
}
static inline uint32_t xpu_desc_gather_get_dst_type(const uint32_t *words) {
    return xpu_desc_bits(words[7], 4, 4);
}
static inline void xpu_desc_gather_set_dst_type(uint32_t *words, uint32_t value) {
    xpu_desc_insert(&words[7], 4, 4, (uint32_t)value);
}
static inline uint32_t xpu_desc_gather_get_size0(const uint32_t *words) {
    return xpu_desc_bits(words[8], 0, 32);
}
static inline void xpu_desc_gather_set_size0(uint32_t *words, uint32_t value) {
    xpu_desc_insert(&words[8], 0, 32, (uint32_t)value);
}
static inline uint32_t xpu_desc_gather_get_size1(const uint32_t *words) {
    return xpu_desc_bits(words[9], 0, 32);
}
static inline void xpu_desc_gather_set_size1(uint32_t *words, uint32_t value) {
    xpu_desc_insert(&words[9], 0, 32, (uint32_t)value);
}
static inline uint32_t xpu_desc_gather_get_size2(const uint32_t *words) {
    return xpu_desc_bits(words[10], 0, 32);
}
static inline void xpu_desc_gather_set_size2(uint32_t *words, uint32_t value) {
    xpu_desc_insert(&words[10], 0, 32, (uint32_t)value);
}
static inline uint32_t xpu_desc_gather_get_size3(const uint32_t *words) {
    return xpu_desc_bits(words[11], 0, 32);
}
static inline void xpu_desc_gather_set_size3(uint32_t *words, uint32_t value) {
    xpu_desc_insert(&words[11], 0, 32, (uint32_t)value);
}
static inline int32_t xpu_desc_gather_get_dst_stride0(const uint32_t *words) {
    return xpu_desc_signed(words[16], 0, 32);
}
static inline void xpu_desc_gather_set_dst_stride0(uint32_t *words, int32_t value) {
    xpu_desc_insert(&words[16], 0, 32, (uint32_t)value);
}
static inline int32_t xpu_desc_gather_get_dst_stride1(const uint32_t *words) {
    return xpu_desc_signed(words[17], 0, 32);
}
static inline void xpu_desc_gather_set_dst_stride1(uint32_t *words, int32_t value) {
    xpu_desc_insert(&words[17], 0, 32, (uint32_t)value);
}
static inline int32_t xpu_desc_gather_get_dst_stride2(const uint32_t *words) {
    return xpu_desc_signed(words[18], 0, 32);
}
static inline void xpu_desc_gather_set_dst_stride2(uint32_t *words, int32_t value) {
    xpu_desc_insert(&words[18], 0, 32, (uint32_t)value);
}
static inline int32_t xpu_desc_gather_get_dst_stride3(const uint32_t *words) {
    return xpu_desc_signed(words[19], 0, 32);
}
static inline void xpu_desc_gather_set_dst_stride3(uint32_t *words, int32_t value) {
    xpu_desc_insert(&words[19], 0, 32, (uint32_t)value);
}
static inline uint32_t xpu_desc_gather_get_gather_dim(const uint32_t *words) {
    return xpu_desc_bits(words[7], 10, 2);
}
static inline void xpu_desc_gather_set_gather_dim(uint32_t *words, uint32_t value) {
    xpu_desc_insert(&words[7], 10, 2, (uint32_t)value);
}
static inline uint64_t xpu_desc_gather_get_index(const uint32_t *words) {
    return words[22] | (uint64_t)xpu_desc_bits(words[6], 24, 8) << 32;
}
static inline void xpu_desc_gather_set_index(uint32_t *words, uint64_t value) {
    words[22] = (uint32_t)value;
    xpu_desc_insert(&words[6], 24, 8, (uint32_t)(value >> 32));
}
/* Writes all 32 words; the opcode is set whatever d->opcode says. */
static inline void xpu_desc_gather_pack(uint32_t *words, const xpu_desc_gather *d) {
    for (int i = 0; i < 32; i++) words[i] = 0;
    xpu_desc_gather_set_layer(words, d->layer);
    xpu_desc_gather_set_wait0(words, d->wait0);
    xpu_desc_gather_set_wait1(words, d->wait1);
    xpu_desc_gather_set_signal(words, d->signal);
    xpu_desc_gather_set_signal_add(words, d->signal_add);
    xpu_desc_gather_set_wait0_value(words, d->wait0_value);
    xpu_desc_gather_set_wait1_value(words, d->wait1_value);
    xpu_desc_gather_set_src(words, d->src);
    xpu_desc_gather_set_src_type(words, d->src_type);
    xpu_desc_gather_set_scale_mode(words, d->scale_mode);
    xpu_desc_gather_set_zero(words, d->zero);
    xpu_desc_gather_set_src_stride0(words, d->src_stride0);
    xpu_desc_gather_set_src_stride1(words, d->src_stride1);
    xpu_desc_gather_set_src_stride2(words, d->src_stride2);
    xpu_desc_gather_set_src_stride3(words, d->src_stride3);
    xpu_desc_gather_set_scale(words, d->scale);
    xpu_desc_gather_set_scale_address(words, d->scale_address);
    xpu_desc_gather_set_dst(words, d->dst);
    xpu_desc_gather_set_dst_type(words, d->dst_type);
    xpu_desc_gather_set_size0(words, d->size0);
    xpu_desc_gather_set_size1(words, d->size1);
    xpu_desc_gather_set_size2(words, d->size2);
    xpu_desc_gather_set_size3(words, d->size3);
    xpu_desc_gather_set_dst_stride0(words, d->dst_stride0);
    xpu_desc_gather_set_dst_stride1(words, d->dst_stride1);
    xpu_desc_gather_set_dst_stride2(words, d->dst_stride2);
    xpu_desc_gather_set_dst_stride3(words, d->dst_stride3);
    xpu_desc_gather_set_gather_dim(words, d->gather_dim);
    xpu_desc_gather_set_index(words, d->index);
    xpu_desc_gather_set_opcode(words, 4u);
}
static inline void xpu_desc_gather_unpack(const uint32_t *words, xpu_desc_gather *d) {
    d->opcode = xpu_desc_gather_get_opcode(words);
    d->layer = xpu_desc_gather_get_layer(words);
    d->wait0 = xpu_desc_gather_get_wait0(words);
    d->wait1 = xpu_desc_gather_get_wait1(words);
    d->signal = xpu_desc_gather_get_signal(words);
    d->signal_add = xpu_desc_gather_get_signal_add(words);
    d->wait0_value = xpu_desc_gather_get_wait0_value(words);
    d->wait1_value = xpu_desc_gather_get_wait1_value(words);
    d->src = xpu_desc_gather_get_src(words);
    d->src_type = xpu_desc_gather_get_src_type(words);
    d->scale_mode = xpu_desc_gather_get_scale_mode(words);
    d->zero = xpu_desc_gather_get_zero(words);
    d->src_stride0 = xpu_desc_gather_get_src_stride0(words);
    d->src_stride1 = xpu_desc_gather_get_src_stride1(words);
    d->src_stride2 = xpu_desc_gather_get_src_stride2(words);
    d->src_stride3 = xpu_desc_gather_get_src_stride3(words);
    d->scale = xpu_desc_gather_get_scale(words);
    d->scale_address = xpu_desc_gather_get_scale_address(words);
    d->dst = xpu_desc_gather_get_dst(words);
    d->dst_type = xpu_desc_gather_get_dst_type(words);
    d->size0 = xpu_desc_gather_get_size0(words);
    d->size1 = xpu_desc_gather_get_size1(words);
    d->size2 = xpu_desc_gather_get_size2(words);
    d->size3 = xpu_desc_gather_get_size3(words);
    d->dst_stride0 = xpu_desc_gather_get_dst_stride0(words);
    d->dst_stride1 = xpu_desc_gather_get_dst_stride1(words);
    d->dst_stride2 = xpu_desc_gather_get_dst_stride2(words);
    d->dst_stride3 = xpu_desc_gather_get_dst_stride3(words);
    d->gather_dim = xpu_desc_gather_get_gather_dim(words);
    d->index = xpu_desc_gather_get_index(words);
}

/* tensor: a group of matrix passes over one input tile in SM into one accumulator bank; drains it */
typedef struct {
    uint32_t opcode; /* kind of the descriptor */
    uint32_t layer; /* layer tag, comes back with the completion */
    uint32_t wait0; /* counter to wait for before the start, 255: none */
    uint32_t wait1; /* a second counter to wait for, 255: none */
    uint32_t signal; /* counter to add to when all writes are visible, 255: none */
    uint32_t signal_add; /* what to add */
    uint32_t wait0_value; /* starts when (int32)(counter wait0 - this) >= 0 */
    uint32_t wait1_value; /* starts when (int32)(counter wait1 - this) >= 0 */
    uint32_t accumulate; /* 1: adds onto the bank; 0: starts from the int32 values at start, or 0 */
    uint32_t drain; /* 1: the bank leaves through the post-processor; 0: it is kept */
    uint32_t bank; /* accumulator bank */
    uint32_t post_mode; /* 0 quantised, 1 float */
    uint32_t activation; /* 0 none, 1 clip, 2 leaky, 3 hard swish (float mode) */
    uint32_t act_after; /* float mode: the activation comes after the branch is added, else before */
    uint64_t x; /* input in SM: element (0, 0, 0) of the tile */
    uint64_t y; /* output in SM: element (0, 0, 0) */
    uint64_t params; /* parameter block of 16 words */
    uint64_t scale; /* one float per column; 0: the parameter w_scale for all */
    uint64_t bias; /* float mode: one float per column, added after scaling; 0: none */
    uint64_t branch; /* second operand (residual) in SM; 0: none */
    uint64_t findmax; /* float mode: a float that becomes max(itself, |y|); 0: none */
    uint64_t absmax; /* absmax of x: x_scale is fl(absmax/Q), read at the start; 0: none */
    uint64_t lookup; /* quantised mode: 256 bytes that map the output byte; 0: none */
    uint32_t y_type; /* quantised mode: int8, uint8; float mode: float32, int16, int8 */
    uint32_t columns; /* output channels */
    int32_t x_row_stride; /* bytes from one row of the input tile to the next */
    int32_t x_pixel_stride; /* bytes from one pixel of the input tile to the next */
    uint32_t oh; /* output rows */
    uint32_t ow; /* output pixels per row */
    int32_t y_row_stride; /* bytes from one output row to the next */
    int32_t y_pixel_stride; /* bytes from one output pixel to the next */
    int32_t branch_row_stride; /* bytes from one row of the branch to the next */
    int32_t branch_pixel_stride; /* bytes from one pixel of the branch to the next */
    uint32_t branch_first; /* quantised mode: the branch is the sum's first operand, else its second */
    uint32_t clip_last; /* float mode, float32 out, no hard swish: the result is then clipped to ra, rb */
    uint32_t branch_type; /* type of the branch: as y_type */
    uint64_t w; /* packed weights in SM: [kh * kw * channels][columns] */
    uint64_t start; /* one int32 per column that accumulators start from; 0: none */
    uint32_t mode; /* operands: 0 8x8, 1 16x8, 2 16x16 */
    uint32_t x_unsigned; /* 8x8: x is uint8, else int8 */
    uint32_t w_unsigned; /* 8x8: w is uint8, else int8 */
    uint32_t tile_rows; /* rows of the input tile in SM, may be 0; taps outside count as the zero point */
    uint32_t tile_cols; /* pixels per row of the input tile */
    uint32_t channels; /* channels of a pixel that take part; 0: the bank drains, without a product */
    uint32_t kh; /* kernel rows */
    uint32_t kw; /* kernel columns */
    uint32_t stride_h; /* input rows per output row */
    uint32_t stride_w; /* input pixels per output pixel */
    int32_t pad_top; /* tile row of tap 0 of output row 0, negated; may be negative */
    int32_t pad_left; /* tile column of tap 0 of output pixel 0, negated; may be negative */
    uint32_t dilation_h; /* input rows from one tap to the next */
    uint32_t dilation_w; /* input pixels from one tap to the next */
    uint32_t w_row_stride; /* bytes from one row of w to the next, at least one row */
    int32_t x_zero; /* 8x8: zero point of x */
    int32_t w_zero; /* 8x8: zero point of w */
} xpu_desc_tensor;
static inline uint32_t xpu_desc_tensor_get_opcode(const uint32_t *words) {
    return xpu_desc_bits(words[0], 0, 8);
}
static inline void xpu_desc_tensor_set_opcode(uint32_t *words, uint32_t value) {
    xpu_desc_insert(&words[0], 0, 8, (uint32_t)value);
}
static inline uint32_t xpu_desc_tensor_get_layer(const uint32_t *words) {
    return xpu_desc_bits(words[0], 16, 16);
}
static inline void xpu_desc_tensor_set_layer(uint32_t *words, uint32_t value) {
    xpu_desc_insert(&words[0], 16, 16, (uint32_t)value);
}
static inline uint32_t xpu_desc_tensor_get_wait0(const uint32_t *words) {
    return xpu_desc_bits(words[1], 0, 8);
}
static inline void xpu_desc_tensor_set_wait0(uint32_t *words, uint32_t value) {
    xpu_desc_insert(&words[1], 0, 8, (uint32_t)value);
}
static inline uint32_t xpu_desc_tensor_get_wait1(const uint32_t *words) {
    return xpu_desc_bits(words[1], 8, 8);
}
static inline void xpu_desc_tensor_set_wait1(uint32_t *words, uint32_t value) {
    xpu_desc_insert(&words[1], 8, 8, (uint32_t)value);
}
static inline uint32_t xpu_desc_tensor_get_signal(const uint32_t *words) {
    return xpu_desc_bits(words[1], 16, 8);
}
static inline void xpu_desc_tensor_set_signal(uint32_t *words, uint32_t value) {
    xpu_desc_insert(&words[1], 16, 8, (uint32_t)value);
}
static inline uint32_t xpu_desc_tensor_get_signal_add(const uint32_t *words) {
    return xpu_desc_bits(words[1], 24, 8);
}
static inline void xpu_desc_tensor_set_signal_add(uint32_t *words, uint32_t value) {
    xpu_desc_insert(&words[1], 24, 8, (uint32_t)value);
}
static inline uint32_t xpu_desc_tensor_get_wait0_value(const uint32_t *words) {
    return xpu_desc_bits(words[2], 0, 32);
}
static inline void xpu_desc_tensor_set_wait0_value(uint32_t *words, uint32_t value) {
    xpu_desc_insert(&words[2], 0, 32, (uint32_t)value);
}
static inline uint32_t xpu_desc_tensor_get_wait1_value(const uint32_t *words) {
    return xpu_desc_bits(words[3], 0, 32);
}
static inline void xpu_desc_tensor_set_wait1_value(uint32_t *words, uint32_t value) {
    xpu_desc_insert(&words[3], 0, 32, (uint32_t)value);
}
static inline uint32_t xpu_desc_tensor_get_accumulate(const uint32_t *words) {
    return xpu_desc_bits(words[0], 8, 1);
}
static inline void xpu_desc_tensor_set_accumulate(uint32_t *words, uint32_t value) {
    xpu_desc_insert(&words[0], 8, 1, (uint32_t)value);
}
static inline uint32_t xpu_desc_tensor_get_drain(const uint32_t *words) {
    return xpu_desc_bits(words[0], 9, 1);
}
static inline void xpu_desc_tensor_set_drain(uint32_t *words, uint32_t value) {
    xpu_desc_insert(&words[0], 9, 1, (uint32_t)value);
}
static inline uint32_t xpu_desc_tensor_get_bank(const uint32_t *words) {
    return xpu_desc_bits(words[0], 10, 2);
}
static inline void xpu_desc_tensor_set_bank(uint32_t *words, uint32_t value) {
    xpu_desc_insert(&words[0], 10, 2, (uint32_t)value);
}
static inline uint32_t xpu_desc_tensor_get_post_mode(const uint32_t *words) {
    return xpu_desc_bits(words[0], 12, 1);
}
static inline void xpu_desc_tensor_set_post_mode(uint32_t *words, uint32_t value) {
    xpu_desc_insert(&words[0], 12, 1, (uint32_t)value);
}
static inline uint32_t xpu_desc_tensor_get_activation(const uint32_t *words) {
    return xpu_desc_bits(words[0], 13, 2);
}
static inline void xpu_desc_tensor_set_activation(uint32_t *words, uint32_t value) {
    xpu_desc_insert(&words[0], 13, 2, (uint32_t)value);
}
static inline uint32_t xpu_desc_tensor_get_act_after(const uint32_t *words) {
    return xpu_desc_bits(words[0], 15, 1);
}
static inline void xpu_desc_tensor_set_act_after(uint32_t *words, uint32_t value) {
    xpu_desc_insert(&words[0], 15, 1, (uint32_t)value);
}
static inline uint64_t xpu_desc_tensor_get_x(const uint32_t *words) {
    return words[4] | (uint64_t)xpu_desc_bits(words[15], 0, 8) << 32;
}
static inline void xpu_desc_tensor_set_x(uint32_t *words, uint64_t value) {
    words[4] = (uint32_t)value;
    xpu_desc_insert(&words[15], 0, 8, (uint32_t)(value >> 32));
}
static inline uint64_t xpu_desc_tensor_get_y(const uint32_t *words) {
    return words[6] | (uint64_t)xpu_desc_bits(words[15], 16, 8) << 32;
}
static inline void xpu_desc_tensor_set_y(uint32_t *words, uint64_t value) {
    words[6] = (uint32_t)value;
    xpu_desc_insert(&words[15], 16, 8, (uint32_t)(value >> 32));
}
static inline uint64_t xpu_desc_tensor_get_params(const uint32_t *words) {
    return words[7] | (uint64_t)xpu_desc_bits(words[15], 24, 8) << 32;
}
static inline void xpu_desc_tensor_set_params(uint32_t *words, uint64_t value) {
    words[7] = (uint32_t)value;
    xpu_desc_insert(&words[15], 24, 8, (uint32_t)(value >> 32));
}
static inline uint64_t xpu_desc_tensor_get_scale(const uint32_t *words) {
    return words[8] | (uint64_t)xpu_desc_bits(words[16], 0, 8) << 32;
}
static inline void xpu_desc_tensor_set_scale(uint32_t *words, uint64_t value) {
    words[8] = (uint32_t)value;
    xpu_desc_insert(&words[16], 0, 8, (uint32_t)(value >> 32));
}
static inline uint64_t xpu_desc_tensor_get_bias(const uint32_t *words) {
    return words[9] | (uint64_t)xpu_desc_bits(words[16], 8, 8) << 32;
}
static inline void xpu_desc_tensor_set_bias(uint32_t *words, uint64_t value) {
    words[9] = (uint32_t)value;
    xpu_desc_insert(&words[16], 8, 8, (uint32_t)(value >> 32));
}
static inline uint64_t xpu_desc_tensor_get_branch(const uint32_t *words) {
    return words[11] | (uint64_t)xpu_desc_bits(words[16], 24, 8) << 32;
}
static inline void xpu_desc_tensor_set_branch(uint32_t *words, uint64_t value) {
    words[11] = (uint32_t)value;
    xpu_desc_insert(&words[16], 24, 8, (uint32_t)(value >> 32));
}
static inline uint64_t xpu_desc_tensor_get_findmax(const uint32_t *words) {
    return words[12] | (uint64_t)xpu_desc_bits(words[17], 0, 8) << 32;
}
static inline void xpu_desc_tensor_set_findmax(uint32_t *words, uint64_t value) {
    words[12] = (uint32_t)value;
    xpu_desc_insert(&words[17], 0, 8, (uint32_t)(value >> 32));
}
static inline uint64_t xpu_desc_tensor_get_absmax(const uint32_t *words) {
    return words[13] | (uint64_t)xpu_desc_bits(words[17], 8, 8) << 32;
}
static inline void xpu_desc_tensor_set_absmax(uint32_t *words, uint64_t value) {
    words[13] = (uint32_t)value;
    xpu_desc_insert(&words[17], 8, 8, (uint32_t)(value >> 32));
}
static inline uint64_t xpu_desc_tensor_get_lookup(const uint32_t *words) {
    return words[14] | (uint64_t)xpu_desc_bits(words[17], 16, 8) << 32;
}
static inline void xpu_desc_tensor_set_lookup(uint32_t *words, uint64_t value) {
    words[14] = (uint32_t)value;
    xpu_desc_insert(&words[17], 16, 8, (uint32_t)(value >> 32));
}
static inline uint32_t xpu_desc_tensor_get_y_type(const uint32_t *words) {
    return xpu_desc_bits(words[17], 28, 4);
}
static inline void xpu_desc_tensor_set_y_type(uint32_t *words, uint32_t value) {
    xpu_desc_insert(&words[17], 28, 4, (uint32_t)value);
}
static inline uint32_t xpu_desc_tensor_get_columns(const uint32_t *words) {
    return xpu_desc_bits(words[19], 16, 16);
}
static inline void xpu_desc_tensor_set_columns(uint32_t *words, uint32_t value) {
    xpu_desc_insert(&words[19], 16, 16, (uint32_t)value);
}
static inline int32_t xpu_desc_tensor_get_x_row_stride(const uint32_t *words) {
    return xpu_desc_signed(words[20], 0, 32);
}
static inline void xpu_desc_tensor_set_x_row_stride(uint32_t *words, int32_t value) {
    xpu_desc_insert(&words[20], 0, 32, (uint32_t)value);
}
static inline int32_t xpu_desc_tensor_get_x_pixel_stride(const uint32_t *words) {
    return xpu_desc_signed(words[21], 0, 32);
}
static inline void xpu_desc_tensor_set_x_pixel_stride(uint32_t *words, int32_t value) {
    xpu_desc_insert(&words[21], 0, 32, (uint32_t)value);
}
static inline uint32_t xpu_desc_tensor_get_oh(const uint32_t *words) {
    return xpu_desc_bits(words[25], 0, 16);
}
static inline void xpu_desc_tensor_set_oh(uint32_t *words, uint32_t value) {
    xpu_desc_insert(&words[25], 0, 16, (uint32_t)value);
}
static inline uint32_t xpu_desc_tensor_get_ow(const uint32_t *words) {
    return xpu_desc_bits(words[25], 16, 16);
}
static inline void xpu_desc_tensor_set_ow(uint32_t *words, uint32_t value) {
    xpu_desc_insert(&words[25], 16, 16, (uint32_t)value);
}
static inline int32_t xpu_desc_tensor_get_y_row_stride(const uint32_t *words) {
    return xpu_desc_signed(words[26], 0, 32);
}
static inline void xpu_desc_tensor_set_y_row_stride(uint32_t *words, int32_t value) {
    xpu_desc_insert(&words[26], 0, 32, (uint32_t)value);
}
static inline int32_t xpu_desc_tensor_get_y_pixel_stride(const uint32_t *words) {
    return xpu_desc_signed(words[27], 0, 32);
}
static inline void xpu_desc_tensor_set_y_pixel_stride(uint32_t *words, int32_t value) {
    xpu_desc_insert(&words[27], 0, 32, (uint32_t)value);
}
static inline int32_t xpu_desc_tensor_get_branch_row_stride(const uint32_t *words) {
    return xpu_desc_signed(words[28], 0, 32);
}
static inline void xpu_desc_tensor_set_branch_row_stride(uint32_t *words, int32_t value) {
    xpu_desc_insert(&words[28], 0, 32, (uint32_t)value);
}
static inline int32_t xpu_desc_tensor_get_branch_pixel_stride(const uint32_t *words) {
    return xpu_desc_signed(words[29], 0, 32);
}
static inline void xpu_desc_tensor_set_branch_pixel_stride(uint32_t *words, int32_t value) {
    xpu_desc_insert(&words[29], 0, 32, (uint32_t)value);
}
static inline uint32_t xpu_desc_tensor_get_branch_first(const uint32_t *words) {
    return xpu_desc_bits(words[30], 25, 1);
}
static inline void xpu_desc_tensor_set_branch_first(uint32_t *words, uint32_t value) {
    xpu_desc_insert(&words[30], 25, 1, (uint32_t)value);
}
static inline uint32_t xpu_desc_tensor_get_clip_last(const uint32_t *words) {
    return xpu_desc_bits(words[30], 26, 1);
}
static inline void xpu_desc_tensor_set_clip_last(uint32_t *words, uint32_t value) {
    xpu_desc_insert(&words[30], 26, 1, (uint32_t)value);
}
static inline uint32_t xpu_desc_tensor_get_branch_type(const uint32_t *words) {
    return xpu_desc_bits(words[30], 28, 4);
}
static inline void xpu_desc_tensor_set_branch_type(uint32_t *words, uint32_t value) {
    xpu_desc_insert(&words[30], 28, 4, (uint32_t)value);
}
static inline uint64_t xpu_desc_tensor_get_w(const uint32_t *words) {
    return words[5] | (uint64_t)xpu_desc_bits(words[15], 8, 8) << 32;
}
static inline void xpu_desc_tensor_set_w(uint32_t *words, uint64_t value) {
    words[5] = (uint32_t)value;
    xpu_desc_insert(&words[15], 8, 8, (uint32_t)(value >> 32));
}
static inline uint64_t xpu_desc_tensor_get_start(const uint32_t *words) {
    return words[10] | (uint64_t)xpu_desc_bits(words[16], 16, 8) << 32;
}
static inline void xpu_desc_tensor_set_start(uint32_t *words, uint64_t value) {
    words[10] = (uint32_t)value;
    xpu_desc_insert(&words[16], 16, 8, (uint32_t)(value >> 32));
}
static inline uint32_t xpu_desc_tensor_get_mode(const uint32_t *words) {
    return xpu_desc_bits(words[17], 24, 2);
}
static inline void xpu_desc_tensor_set_mode(uint32_t *words, uint32_t value) {
    xpu_desc_insert(&words[17], 24, 2, (uint32_t)value);
}
static inline uint32_t xpu_desc_tensor_get_x_unsigned(const uint32_t *words) {
    return xpu_desc_bits(words[17], 26, 1);
}
static inline void xpu_desc_tensor_set_x_unsigned(uint32_t *words, uint32_t value) {
    xpu_desc_insert(&words[17], 26, 1, (uint32_t)value);
}
static inline uint32_t xpu_desc_tensor_get_w_unsigned(const uint32_t *words) {
    return xpu_desc_bits(words[17], 27, 1);
}
static inline void xpu_desc_tensor_set_w_unsigned(uint32_t *words, uint32_t value) {
    xpu_desc_insert(&words[17], 27, 1, (uint32_t)value);
}
static inline uint32_t xpu_desc_tensor_get_tile_rows(const uint32_t *words) {
    return xpu_desc_bits(words[18], 0, 16);
}
static inline void xpu_desc_tensor_set_tile_rows(uint32_t *words, uint32_t value) {
    xpu_desc_insert(&words[18], 0, 16, (uint32_t)value);
}
static inline uint32_t xpu_desc_tensor_get_tile_cols(const uint32_t *words) {
    return xpu_desc_bits(words[18], 16, 16);
}
static inline void xpu_desc_tensor_set_tile_cols(uint32_t *words, uint32_t value) {
    xpu_desc_insert(&words[18], 16, 16, (uint32_t)value);
}
static inline uint32_t xpu_desc_tensor_get_channels(const uint32_t *words) {
    return xpu_desc_bits(words[19], 0, 16);
}
static inline void xpu_desc_tensor_set_channels(uint32_t *words, uint32_t value) {
    xpu_desc_insert(&words[19], 0, 16, (uint32_t)value);
}
static inline uint32_t xpu_desc_tensor_get_kh(const uint32_t *words) {
    return xpu_desc_bits(words[22], 0, 8);
}
static inline void xpu_desc_tensor_set_kh(uint32_t *words, uint32_t value) {
    xpu_desc_insert(&words[22], 0, 8, (uint32_t)value);
}
static inline uint32_t xpu_desc_tensor_get_kw(const uint32_t *words) {
    return xpu_desc_bits(words[22], 8, 8);
}
static inline void xpu_desc_tensor_set_kw(uint32_t *words, uint32_t value) {
    xpu_desc_insert(&words[22], 8, 8, (uint32_t)value);
}
static inline uint32_t xpu_desc_tensor_get_stride_h(const uint32_t *words) {
    return xpu_desc_bits(words[22], 16, 8);
}
static inline void xpu_desc_tensor_set_stride_h(uint32_t *words, uint32_t value) {
    xpu_desc_insert(&words[22], 16, 8, (uint32_t)value);
}
static inline uint32_t xpu_desc_tensor_get_stride_w(const uint32_t *words) {
    return xpu_desc_bits(words[22], 24, 8);
}
static inline void xpu_desc_tensor_set_stride_w(uint32_t *words, uint32_t value) {
    xpu_desc_insert(&words[22], 24, 8, (uint32_t)value);
}
static inline int32_t xpu_desc_tensor_get_pad_top(const uint32_t *words) {
    return xpu_desc_signed(words[23], 0, 16);
}
static inline void xpu_desc_tensor_set_pad_top(uint32_t *words, int32_t value) {
    xpu_desc_insert(&words[23], 0, 16, (uint32_t)value);
}
static inline int32_t xpu_desc_tensor_get_pad_left(const uint32_t *words) {
    return xpu_desc_signed(words[23], 16, 16);
}
static inline void xpu_desc_tensor_set_pad_left(uint32_t *words, int32_t value) {
    xpu_desc_insert(&words[23], 16, 16, (uint32_t)value);
}
static inline uint32_t xpu_desc_tensor_get_dilation_h(const uint32_t *words) {
    return xpu_desc_bits(words[24], 0, 8);
}
static inline void xpu_desc_tensor_set_dilation_h(uint32_t *words, uint32_t value) {
    xpu_desc_insert(&words[24], 0, 8, (uint32_t)value);
}
static inline uint32_t xpu_desc_tensor_get_dilation_w(const uint32_t *words) {
    return xpu_desc_bits(words[24], 8, 8);
}
static inline void xpu_desc_tensor_set_dilation_w(uint32_t *words, uint32_t value) {
    xpu_desc_insert(&words[24], 8, 8, (uint32_t)value);
}
static inline uint32_t xpu_desc_tensor_get_w_row_stride(const uint32_t *words) {
    return xpu_desc_bits(words[24], 16, 16);
}
static inline void xpu_desc_tensor_set_w_row_stride(uint32_t *words, uint32_t value) {
    xpu_desc_insert(&words[24], 16, 16, (uint32_t)value);
}
static inline int32_t xpu_desc_tensor_get_x_zero(const uint32_t *words) {
    return xpu_desc_signed(words[30], 0, 9);
}
static inline void xpu_desc_tensor_set_x_zero(uint32_t *words, int32_t value) {
    xpu_desc_insert(&words[30], 0, 9, (uint32_t)value);
}
static inline int32_t xpu_desc_tensor_get_w_zero(const uint32_t *words) {
    return xpu_desc_signed(words[30], 16, 9);
}
static inline void xpu_desc_tensor_set_w_zero(uint32_t *words, int32_t value) {
    xpu_desc_insert(&words[30], 16, 9, (uint32_t)value);
}
/* Writes all 32 words; the opcode is set whatever d->opcode says. */
static inline void xpu_desc_tensor_pack(uint32_t *words, const xpu_desc_tensor *d) {
    for (int i = 0; i < 32; i++) words[i] = 0;
    xpu_desc_tensor_set_layer(words, d->layer);
    xpu_desc_tensor_set_wait0(words, d->wait0);
    xpu_desc_tensor_set_wait1(words, d->wait1);
    xpu_desc_tensor_set_signal(words, d->signal);
    xpu_desc_tensor_set_signal_add(words, d->signal_add);
    xpu_desc_tensor_set_wait0_value(words, d->wait0_value);
    xpu_desc_tensor_set_wait1_value(words, d->wait1_value);
    xpu_desc_tensor_set_accumulate(words, d->accumulate);
    xpu_desc_tensor_set_drain(words, d->drain);
    xpu_desc_tensor_set_bank(words, d->bank);
    xpu_desc_tensor_set_post_mode(words, d->post_mode);
    xpu_desc_tensor_set_activation(words, d->activation);
    xpu_desc_tensor_set_act_after(words, d->act_after);
    xpu_desc_tensor_set_x(words, d->x);
    xpu_desc_tensor_set_y(words, d->y);
    xpu_desc_tensor_set_params(words, d->params);
    xpu_desc_tensor_set_scale(words, d->scale);
    xpu_desc_tensor_set_bias(words, d->bias);
    xpu_desc_tensor_set_branch(words, d->branch);
    xpu_desc_tensor_set_findmax(words, d->findmax);
    xpu_desc_tensor_set_absmax(words, d->absmax);
    xpu_desc_tensor_set_lookup(words, d->lookup);
    xpu_desc_tensor_set_y_type(words, d->y_type);
    xpu_desc_tensor_set_columns(words, d->columns);
    xpu_desc_tensor_set_x_row_stride(words, d->x_row_stride);
    xpu_desc_tensor_set_x_pixel_stride(words, d->x_pixel_stride);
    xpu_desc_tensor_set_oh(words, d->oh);
    xpu_desc_tensor_set_ow(words, d->ow);
    xpu_desc_tensor_set_y_row_stride(words, d->y_row_stride);
    xpu_desc_tensor_set_y_pixel_stride(words, d->y_pixel_stride);
    xpu_desc_tensor_set_branch_row_stride(words, d->branch_row_stride);
    xpu_desc_tensor_set_branch_pixel_stride(words, d->branch_pixel_stride);
    xpu_desc_tensor_set_branch_first(words, d->branch_first);
    xpu_desc_tensor_set_clip_last(words, d->clip_last);
    xpu_desc_tensor_set_branch_type(words, d->branch_type);
    xpu_desc_tensor_set_w(words, d->w);
    xpu_desc_tensor_set_start(words, d->start);
    xpu_desc_tensor_set_mode(words, d->mode);
    xpu_desc_tensor_set_x_unsigned(words, d->x_unsigned);
    xpu_desc_tensor_set_w_unsigned(words, d->w_unsigned);
    xpu_desc_tensor_set_tile_rows(words, d->tile_rows);
    xpu_desc_tensor_set_tile_cols(words, d->tile_cols);
    xpu_desc_tensor_set_channels(words, d->channels);
    xpu_desc_tensor_set_kh(words, d->kh);
    xpu_desc_tensor_set_kw(words, d->kw);
    xpu_desc_tensor_set_stride_h(words, d->stride_h);
    xpu_desc_tensor_set_stride_w(words, d->stride_w);
    xpu_desc_tensor_set_pad_top(words, d->pad_top);
    xpu_desc_tensor_set_pad_left(words, d->pad_left);
    xpu_desc_tensor_set_dilation_h(words, d->dilation_h);
    xpu_desc_tensor_set_dilation_w(words, d->dilation_w);
    xpu_desc_tensor_set_w_row_stride(words, d->w_row_stride);
    xpu_desc_tensor_set_x_zero(words, d->x_zero);
    xpu_desc_tensor_set_w_zero(words, d->w_zero);
    xpu_desc_tensor_set_opcode(words, 8u);
}
static inline void xpu_desc_tensor_unpack(const uint32_t *words, xpu_desc_tensor *d) {
    d->opcode = xpu_desc_tensor_get_opcode(words);
    d->layer = xpu_desc_tensor_get_layer(words);
    d->wait0 = xpu_desc_tensor_get_wait0(words);
    d->wait1 = xpu_desc_tensor_get_wait1(words);
    d->signal = xpu_desc_tensor_get_signal(words);
    d->signal_add = xpu_desc_tensor_get_signal_add(words);
    d->wait0_value = xpu_desc_tensor_get_wait0_value(words);
    d->wait1_value = xpu_desc_tensor_get_wait1_value(words);
    d->accumulate = xpu_desc_tensor_get_accumulate(words);
    d->drain = xpu_desc_tensor_get_drain(words);
    d->bank = xpu_desc_tensor_get_bank(words);
    d->post_mode = xpu_desc_tensor_get_post_mode(words);
    d->activation = xpu_desc_tensor_get_activation(words);
    d->act_after = xpu_desc_tensor_get_act_after(words);
    d->x = xpu_desc_tensor_get_x(words);
    d->y = xpu_desc_tensor_get_y(words);
    d->params = xpu_desc_tensor_get_params(words);
    d->scale = xpu_desc_tensor_get_scale(words);
    d->bias = xpu_desc_tensor_get_bias(words);
    d->branch = xpu_desc_tensor_get_branch(words);
    d->findmax = xpu_desc_tensor_get_findmax(words);
    d->absmax = xpu_desc_tensor_get_absmax(words);
    d->lookup = xpu_desc_tensor_get_lookup(words);
    d->y_type = xpu_desc_tensor_get_y_type(words);
    d->columns = xpu_desc_tensor_get_columns(words);
    d->x_row_stride = xpu_desc_tensor_get_x_row_stride(words);
    d->x_pixel_stride = xpu_desc_tensor_get_x_pixel_stride(words);
    d->oh = xpu_desc_tensor_get_oh(words);
    d->ow = xpu_desc_tensor_get_ow(words);
    d->y_row_stride = xpu_desc_tensor_get_y_row_stride(words);
    d->y_pixel_stride = xpu_desc_tensor_get_y_pixel_stride(words);
    d->branch_row_stride = xpu_desc_tensor_get_branch_row_stride(words);
    d->branch_pixel_stride = xpu_desc_tensor_get_branch_pixel_stride(words);
    d->branch_first = xpu_desc_tensor_get_branch_first(words);
    d->clip_last = xpu_desc_tensor_get_clip_last(words);
    d->branch_type = xpu_desc_tensor_get_branch_type(words);
    d->w = xpu_desc_tensor_get_w(words);
    d->start = xpu_desc_tensor_get_start(words);
    d->mode = xpu_desc_tensor_get_mode(words);
    d->x_unsigned = xpu_desc_tensor_get_x_unsigned(words);
    d->w_unsigned = xpu_desc_tensor_get_w_unsigned(words);
    d->tile_rows = xpu_desc_tensor_get_tile_rows(words);
    d->tile_cols = xpu_desc_tensor_get_tile_cols(words);
    d->channels = xpu_desc_tensor_get_channels(words);
    d->kh = xpu_desc_tensor_get_kh(words);
    d->kw = xpu_desc_tensor_get_kw(words);
    d->stride_h = xpu_desc_tensor_get_stride_h(words);
    d->stride_w = xpu_desc_tensor_get_stride_w(words);
    d->pad_top = xpu_desc_tensor_get_pad_top(words);
    d->pad_left = xpu_desc_tensor_get_pad_left(words);
    d->dilation_h = xpu_desc_tensor_get_dilation_h(words);
    d->dilation_w = xpu_desc_tensor_get_dilation_w(words);
    d->w_row_stride = xpu_desc_tensor_get_w_row_stride(words);
    d->x_zero = xpu_desc_tensor_get_x_zero(words);
    d->w_zero = xpu_desc_tensor_get_w_zero(words);
}

/* post: the post-processor alone, fed from memory */
typedef struct {
    uint32_t opcode; /* kind of the descriptor */
    uint32_t layer; /* layer tag, comes back with the completion */
    uint32_t wait0; /* counter to wait for before the start, 255: none */
    uint32_t wait1; /* a second counter to wait for, 255: none */
    uint32_t signal; /* counter to add to when all writes are visible, 255: none */
    uint32_t signal_add; /* what to add */
    uint32_t wait0_value; /* starts when (int32)(counter wait0 - this) >= 0 */
    uint32_t wait1_value; /* starts when (int32)(counter wait1 - this) >= 0 */
    uint32_t post_mode; /* 0 quantised, 1 float */
    uint32_t activation; /* 0 none, 1 clip, 2 leaky, 3 hard swish (float mode) */
    uint32_t act_after; /* float mode: the activation comes after the branch is added, else before */
    uint64_t x; /* input in SM: element (0, 0, 0) of the tile */
    uint64_t y; /* output in SM: element (0, 0, 0) */
    uint64_t params; /* parameter block of 16 words */
    uint64_t scale; /* one float per column; 0: the parameter w_scale for all */
    uint64_t bias; /* float mode: one float per column, added after scaling; 0: none */
    uint64_t branch; /* second operand (residual) in SM; 0: none */
    uint64_t findmax; /* float mode: a float that becomes max(itself, |y|); 0: none */
    uint64_t absmax; /* absmax of x: x_scale is fl(absmax/Q), read at the start; 0: none */
    uint64_t lookup; /* quantised mode: 256 bytes that map the output byte; 0: none */
    uint32_t y_type; /* quantised mode: int8, uint8; float mode: float32, int16, int8 */
    uint32_t columns; /* output channels */
    int32_t x_row_stride; /* bytes from one row of the input tile to the next */
    int32_t x_pixel_stride; /* bytes from one pixel of the input tile to the next */
    uint32_t oh; /* output rows */
    uint32_t ow; /* output pixels per row */
    int32_t y_row_stride; /* bytes from one output row to the next */
    int32_t y_pixel_stride; /* bytes from one output pixel to the next */
    int32_t branch_row_stride; /* bytes from one row of the branch to the next */
    int32_t branch_pixel_stride; /* bytes from one pixel of the branch to the next */
    uint32_t branch_first; /* quantised mode: the branch is the sum's first operand, else its second */
    uint32_t clip_last; /* float mode, float32 out, no hard swish: the result is then clipped to ra, rb */
    uint32_t branch_type; /* type of the branch: as y_type */
    uint32_t x_type; /* any element type; quantised mode: integers only; add and multiply there: 8 bits */
    uint32_t op; /* 0 scale, 1 add, 2 multiply */
} xpu_desc_post;
static inline uint32_t xpu_desc_post_get_opcode(const uint32_t *words) {
    return xpu_desc_bits(words[0], 0, 8);
}
static inline void xpu_desc_post_set_opcode(uint32_t *words, uint32_t value) {
    xpu_desc_insert(&words[0], 0, 8, (uint32_t)value);
}
static inline uint32_t xpu_desc_post_get_layer(const uint32_t *words) {
    return xpu_desc_bits(words[0], 16, 16);
}
static inline void xpu_desc_post_set_layer(uint32_t *words, uint32_t value) {
    xpu_desc_insert(&words[0], 16, 16, (uint32_t)value);
}
static inline uint32_t xpu_desc_post_get_wait0(const uint32_t *words) {
    return xpu_desc_bits(words[1], 0, 8);
}
static inline void xpu_desc_post_set_wait0(uint32_t *words, uint32_t value) {
    xpu_desc_insert(&words[1], 0, 8, (uint32_t)value);
}
static inline uint32_t xpu_desc_post_get_wait1(const uint32_t *words) {
    return xpu_desc_bits(words[1], 8, 8);
}
static inline void xpu_desc_post_set_wait1(uint32_t *words, uint32_t value) {
    xpu_desc_insert(&words[1], 8, 8, (uint32_t)value);
}
static inline uint32_t xpu_desc_post_get_signal(const uint32_t *words) {
    return xpu_desc_bits(words[1], 16, 8);
}
static inline void xpu_desc_post_set_signal(uint32_t *words, uint32_t value) {
    xpu_desc_insert(&words[1], 16, 8, (uint32_t)value);
}
static inline uint32_t xpu_desc_post_get_signal_add(const uint32_t *words) {
    return xpu_desc_bits(words[1], 24, 8);
}
static inline void xpu_desc_post_set_signal_add(uint32_t *words, uint32_t value) {
    xpu_desc_insert(&words[1], 24, 8, (uint32_t)value);
}
static inline uint32_t xpu_desc_post_get_wait0_value(const uint32_t *words) {
    return xpu_desc_bits(words[2], 0, 32);
}
static inline void xpu_desc_post_set_wait0_value(uint32_t *words, uint32_t value) {
    xpu_desc_insert(&words[2], 0, 32, (uint32_t)value);
}
static inline uint32_t xpu_desc_post_get_wait1_value(const uint32_t *words) {
    return xpu_desc_bits(words[3], 0, 32);
}
static inline void xpu_desc_post_set_wait1_value(uint32_t *words, uint32_t value) {
    xpu_desc_insert(&words[3], 0, 32, (uint32_t)value);
}
static inline uint32_t xpu_desc_post_get_post_mode(const uint32_t *words) {
    return xpu_desc_bits(words[0], 12, 1);
}
static inline void xpu_desc_post_set_post_mode(uint32_t *words, uint32_t value) {
    xpu_desc_insert(&words[0], 12, 1, (uint32_t)value);
}
static inline uint32_t xpu_desc_post_get_activation(const uint32_t *words) {
    return xpu_desc_bits(words[0], 13, 2);
}
static inline void xpu_desc_post_set_activation(uint32_t *words, uint32_t value) {
    xpu_desc_insert(&words[0], 13, 2, (uint32_t)value);
}
static inline uint32_t xpu_desc_post_get_act_after(const uint32_t *words) {
    return xpu_desc_bits(words[0], 15, 1);
}
static inline void xpu_desc_post_set_act_after(uint32_t *words, uint32_t value) {
    xpu_desc_insert(&words[0], 15, 1, (uint32_t)value);
}
static inline uint64_t xpu_desc_post_get_x(const uint32_t *words) {
    return words[4] | (uint64_t)xpu_desc_bits(words[15], 0, 8) << 32;
}
static inline void xpu_desc_post_set_x(uint32_t *words, uint64_t value) {
    words[4] = (uint32_t)value;
    xpu_desc_insert(&words[15], 0, 8, (uint32_t)(value >> 32));
}
static inline uint64_t xpu_desc_post_get_y(const uint32_t *words) {
    return words[6] | (uint64_t)xpu_desc_bits(words[15], 16, 8) << 32;
}
static inline void xpu_desc_post_set_y(uint32_t *words, uint64_t value) {
    words[6] = (uint32_t)value;
    xpu_desc_insert(&words[15], 16, 8, (uint32_t)(value >> 32));
}
static inline uint64_t xpu_desc_post_get_params(const uint32_t *words) {
    return words[7] | (uint64_t)xpu_desc_bits(words[15], 24, 8) << 32;
}
static inline void xpu_desc_post_set_params(uint32_t *words, uint64_t value) {
    words[7] = (uint32_t)value;
    xpu_desc_insert(&words[15], 24, 8, (uint32_t)(value >> 32));
}
static inline uint64_t xpu_desc_post_get_scale(const uint32_t *words) {
    return words[8] | (uint64_t)xpu_desc_bits(words[16], 0, 8) << 32;
}
static inline void xpu_desc_post_set_scale(uint32_t *words, uint64_t value) {
    words[8] = (uint32_t)value;
    xpu_desc_insert(&words[16], 0, 8, (uint32_t)(value >> 32));
}
static inline uint64_t xpu_desc_post_get_bias(const uint32_t *words) {
    return words[9] | (uint64_t)xpu_desc_bits(words[16], 8, 8) << 32;
}
static inline void xpu_desc_post_set_bias(uint32_t *words, uint64_t value) {
    words[9] = (uint32_t)value;
    xpu_desc_insert(&words[16], 8, 8, (uint32_t)(value >> 32));
}
static inline uint64_t xpu_desc_post_get_branch(const uint32_t *words) {
    return words[11] | (uint64_t)xpu_desc_bits(words[16], 24, 8) << 32;
}
static inline void xpu_desc_post_set_branch(uint32_t *words, uint64_t value) {
    words[11] = (uint32_t)value;
    xpu_desc_insert(&words[16], 24, 8, (uint32_t)(value >> 32));
}
static inline uint64_t xpu_desc_post_get_findmax(const uint32_t *words) {
    return words[12] | (uint64_t)xpu_desc_bits(words[17], 0, 8) << 32;
}
static inline void xpu_desc_post_set_findmax(uint32_t *words, uint64_t value) {
    words[12] = (uint32_t)value;
    xpu_desc_insert(&words[17], 0, 8, (uint32_t)(value >> 32));
}
static inline uint64_t xpu_desc_post_get_absmax(const uint32_t *words) {
    return words[13] | (uint64_t)xpu_desc_bits(words[17], 8, 8) << 32;
}
static inline void xpu_desc_post_set_absmax(uint32_t *words, uint64_t value) {
    words[13] = (uint32_t)value;
    xpu_desc_insert(&words[17], 8, 8, (uint32_t)(value >> 32));
}
static inline uint64_t xpu_desc_post_get_lookup(const uint32_t *words) {
    return words[14] | (uint64_t)xpu_desc_bits(words[17], 16, 8) << 32;
}
static inline void xpu_desc_post_set_lookup(uint32_t *words, uint64_t value) {
    words[14] = (uint32_t)value;
    xpu_desc_insert(&words[17], 16, 8, (uint32_t)(value >> 32));
}
static inline uint32_t xpu_desc_post_get_y_type(const uint32_t *words) {
    return xpu_desc_bits(words[17], 28, 4);
}
static inline void xpu_desc_post_set_y_type(uint32_t *words, uint32_t value) {
    xpu_desc_insert(&words[17], 28, 4, (uint32_t)value);
}
static inline uint32_t xpu_desc_post_get_columns(const uint32_t *words) {
    return xpu_desc_bits(words[19], 16, 16);
}
static inline void xpu_desc_post_set_columns(uint32_t *words, uint32_t value) {
    xpu_desc_insert(&words[19], 16, 16, (uint32_t)value);
}
static inline int32_t xpu_desc_post_get_x_row_stride(const uint32_t *words) {
    return xpu_desc_signed(words[20], 0, 32);
}
static inline void xpu_desc_post_set_x_row_stride(uint32_t *words, int32_t value) {
    xpu_desc_insert(&words[20], 0, 32, (uint32_t)value);
}
static inline int32_t xpu_desc_post_get_x_pixel_stride(const uint32_t *words) {
    return xpu_desc_signed(words[21], 0, 32);
}
static inline void xpu_desc_post_set_x_pixel_stride(uint32_t *words, int32_t value) {
    xpu_desc_insert(&words[21], 0, 32, (uint32_t)value);
}
static inline uint32_t xpu_desc_post_get_oh(const uint32_t *words) {
    return xpu_desc_bits(words[25], 0, 16);
}
static inline void xpu_desc_post_set_oh(uint32_t *words, uint32_t value) {
    xpu_desc_insert(&words[25], 0, 16, (uint32_t)value);
}
static inline uint32_t xpu_desc_post_get_ow(const uint32_t *words) {
    return xpu_desc_bits(words[25], 16, 16);
}
static inline void xpu_desc_post_set_ow(uint32_t *words, uint32_t value) {
    xpu_desc_insert(&words[25], 16, 16, (uint32_t)value);
}
static inline int32_t xpu_desc_post_get_y_row_stride(const uint32_t *words) {
    return xpu_desc_signed(words[26], 0, 32);
}
static inline void xpu_desc_post_set_y_row_stride(uint32_t *words, int32_t value) {
    xpu_desc_insert(&words[26], 0, 32, (uint32_t)value);
}
static inline int32_t xpu_desc_post_get_y_pixel_stride(const uint32_t *words) {
    return xpu_desc_signed(words[27], 0, 32);
}
static inline void xpu_desc_post_set_y_pixel_stride(uint32_t *words, int32_t value) {
    xpu_desc_insert(&words[27], 0, 32, (uint32_t)value);
}
static inline int32_t xpu_desc_post_get_branch_row_stride(const uint32_t *words) {
    return xpu_desc_signed(words[28], 0, 32);
}
static inline void xpu_desc_post_set_branch_row_stride(uint32_t *words, int32_t value) {
    xpu_desc_insert(&words[28], 0, 32, (uint32_t)value);
}
static inline int32_t xpu_desc_post_get_branch_pixel_stride(const uint32_t *words) {
    return xpu_desc_signed(words[29], 0, 32);
}
static inline void xpu_desc_post_set_branch_pixel_stride(uint32_t *words, int32_t value) {
    xpu_desc_insert(&words[29], 0, 32, (uint32_t)value);
}
static inline uint32_t xpu_desc_post_get_branch_first(const uint32_t *words) {
    return xpu_desc_bits(words[30], 25, 1);
}
static inline void xpu_desc_post_set_branch_first(uint32_t *words, uint32_t value) {
    xpu_desc_insert(&words[30], 25, 1, (uint32_t)value);
}
static inline uint32_t xpu_desc_post_get_clip_last(const uint32_t *words) {
    return xpu_desc_bits(words[30], 26, 1);
}
static inline void xpu_desc_post_set_clip_last(uint32_t *words, uint32_t value) {
    xpu_desc_insert(&words[30], 26, 1, (uint32_t)value);
}
static inline uint32_t xpu_desc_post_get_branch_type(const uint32_t *words) {
    return xpu_desc_bits(words[30], 28, 4);
}
static inline void xpu_desc_post_set_branch_type(uint32_t *words, uint32_t value) {
    xpu_desc_insert(&words[30], 28, 4, (uint32_t)value);
}
static inline uint32_t xpu_desc_post_get_x_type(const uint32_t *words) {
    return xpu_desc_bits(words[30], 16, 4);
}
static inline void xpu_desc_post_set_x_type(uint32_t *words, uint32_t value) {
    xpu_desc_insert(&words[30], 16, 4, (uint32_t)value);
}
static inline uint32_t xpu_desc_post_get_op(const uint32_t *words) {
    return xpu_desc_bits(words[30], 20, 2);
}
static inline void xpu_desc_post_set_op(uint32_t *words, uint32_t value) {
    xpu_desc_insert(&words[30], 20, 2, (uint32_t)value);
}
/* Writes all 32 words; the opcode is set whatever d->opcode says. */
static inline void xpu_desc_post_pack(uint32_t *words, const xpu_desc_post *d) {
    for (int i = 0; i < 32; i++) words[i] = 0;
    xpu_desc_post_set_layer(words, d->layer);
    xpu_desc_post_set_wait0(words, d->wait0);
    xpu_desc_post_set_wait1(words, d->wait1);
    xpu_desc_post_set_signal(words, d->signal);
    xpu_desc_post_set_signal_add(words, d->signal_add);
    xpu_desc_post_set_wait0_value(words, d->wait0_value);
    xpu_desc_post_set_wait1_value(words, d->wait1_value);
    xpu_desc_post_set_post_mode(words, d->post_mode);
    xpu_desc_post_set_activation(words, d->activation);
    xpu_desc_post_set_act_after(words, d->act_after);
    xpu_desc_post_set_x(words, d->x);
    xpu_desc_post_set_y(words, d->y);
    xpu_desc_post_set_params(words, d->params);
    xpu_desc_post_set_scale(words, d->scale);
    xpu_desc_post_set_bias(words, d->bias);
    xpu_desc_post_set_branch(words, d->branch);
    xpu_desc_post_set_findmax(words, d->findmax);
    xpu_desc_post_set_absmax(words, d->absmax);
    xpu_desc_post_set_lookup(words, d->lookup);
    xpu_desc_post_set_y_type(words, d->y_type);
    xpu_desc_post_set_columns(words, d->columns);
    xpu_desc_post_set_x_row_stride(words, d->x_row_stride);
    xpu_desc_post_set_x_pixel_stride(words, d->x_pixel_stride);
    xpu_desc_post_set_oh(words, d->oh);
    xpu_desc_post_set_ow(words, d->ow);
    xpu_desc_post_set_y_row_stride(words, d->y_row_stride);
    xpu_desc_post_set_y_pixel_stride(words, d->y_pixel_stride);
    xpu_desc_post_set_branch_row_stride(words, d->branch_row_stride);
    xpu_desc_post_set_branch_pixel_stride(words, d->branch_pixel_stride);
    xpu_desc_post_set_branch_first(words, d->branch_first);
    xpu_desc_post_set_clip_last(words, d->clip_last);
    xpu_desc_post_set_branch_type(words, d->branch_type);
    xpu_desc_post_set_x_type(words, d->x_type);
    xpu_desc_post_set_op(words, d->op);
    xpu_desc_post_set_opcode(words, 9u);
}
static inline void xpu_desc_post_unpack(const uint32_t *words, xpu_desc_post *d) {
    d->opcode = xpu_desc_post_get_opcode(words);
    d->layer = xpu_desc_post_get_layer(words);
    d->wait0 = xpu_desc_post_get_wait0(words);
    d->wait1 = xpu_desc_post_get_wait1(words);
    d->signal = xpu_desc_post_get_signal(words);
    d->signal_add = xpu_desc_post_get_signal_add(words);
    d->wait0_value = xpu_desc_post_get_wait0_value(words);
    d->wait1_value = xpu_desc_post_get_wait1_value(words);
    d->post_mode = xpu_desc_post_get_post_mode(words);
    d->activation = xpu_desc_post_get_activation(words);
    d->act_after = xpu_desc_post_get_act_after(words);
    d->x = xpu_desc_post_get_x(words);
    d->y = xpu_desc_post_get_y(words);
    d->params = xpu_desc_post_get_params(words);
    d->scale = xpu_desc_post_get_scale(words);
    d->bias = xpu_desc_post_get_bias(words);
    d->branch = xpu_desc_post_get_branch(words);
    d->findmax = xpu_desc_post_get_findmax(words);
    d->absmax = xpu_desc_post_get_absmax(words);
    d->lookup = xpu_desc_post_get_lookup(words);
    d->y_type = xpu_desc_post_get_y_type(words);
    d->columns = xpu_desc_post_get_columns(words);
    d->x_row_stride = xpu_desc_post_get_x_row_stride(words);
    d->x_pixel_stride = xpu_desc_post_get_x_pixel_stride(words);
    d->oh = xpu_desc_post_get_oh(words);
    d->ow = xpu_desc_post_get_ow(words);
    d->y_row_stride = xpu_desc_post_get_y_row_stride(words);
    d->y_pixel_stride = xpu_desc_post_get_y_pixel_stride(words);
    d->branch_row_stride = xpu_desc_post_get_branch_row_stride(words);
    d->branch_pixel_stride = xpu_desc_post_get_branch_pixel_stride(words);
    d->branch_first = xpu_desc_post_get_branch_first(words);
    d->clip_last = xpu_desc_post_get_clip_last(words);
    d->branch_type = xpu_desc_post_get_branch_type(words);
    d->x_type = xpu_desc_post_get_x_type(words);
    d->op = xpu_desc_post_get_op(words);
}

/* window: depthwise convolution or pooling of a tile in SM, through a post-processor */
typedef struct {
    uint32_t opcode; /* kind of the descriptor */
    uint32_t layer; /* layer tag, comes back with the completion */
    uint32_t wait0; /* counter to wait for before the start, 255: none */
    uint32_t wait1; /* a second counter to wait for, 255: none */
    uint32_t signal; /* counter to add to when all writes are visible, 255: none */
    uint32_t signal_add; /* what to add */
    uint32_t wait0_value; /* starts when (int32)(counter wait0 - this) >= 0 */
    uint32_t wait1_value; /* starts when (int32)(counter wait1 - this) >= 0 */
    uint32_t accumulate; /* 1: start holds int32 accumulators of each output, dense; 0: of each column */
    uint32_t drain; /* 1: through the post-processor; 0: the int32 accumulators go to y */
    uint32_t op; /* 0 depthwise convolution, 1 maximum, 2 sum */
    uint32_t post_mode; /* 0 quantised, 1 float */
    uint32_t activation; /* 0 none, 1 clip, 2 leaky, 3 hard swish (float mode) */
    uint32_t act_after; /* float mode: the activation comes after the branch is added, else before */
    uint64_t x; /* input in SM: element (0, 0, 0) of the tile */
    uint64_t y; /* output in SM: element (0, 0, 0) */
    uint64_t params; /* parameter block of 16 words */
    uint64_t scale; /* one float per column; 0: the parameter w_scale for all */
    uint64_t bias; /* float mode: one float per column, added after scaling; 0: none */
    uint64_t branch; /* second operand (residual) in SM; 0: none */
    uint64_t findmax; /* float mode: a float that becomes max(itself, |y|); 0: none */
    uint64_t absmax; /* absmax of x: x_scale is fl(absmax/Q), read at the start; 0: none */
    uint64_t lookup; /* quantised mode: 256 bytes that map the output byte; 0: none */
    uint32_t y_type; /* quantised mode: int8, uint8; float mode: float32, int16, int8 */
    uint32_t columns; /* output channels */
    int32_t x_row_stride; /* bytes from one row of the input tile to the next */
    int32_t x_pixel_stride; /* bytes from one pixel of the input tile to the next */
    uint32_t oh; /* output rows */
    uint32_t ow; /* output pixels per row */
    int32_t y_row_stride; /* bytes from one output row to the next */
    int32_t y_pixel_stride; /* bytes from one output pixel to the next */
    int32_t branch_row_stride; /* bytes from one row of the branch to the next */
    int32_t branch_pixel_stride; /* bytes from one pixel of the branch to the next */
    uint32_t branch_first; /* quantised mode: the branch is the sum's first operand, else its second */
    uint32_t clip_last; /* float mode, float32 out, no hard swish: the result is then clipped to ra, rb */
    uint32_t branch_type; /* type of the branch: as y_type */
    uint64_t w; /* op 0: packed weights in SM: [kh * kw][columns] */
    uint64_t start; /* int32 values that accumulators start from; 0: none */
    uint32_t mode; /* operands: 0 8x8, 1 16x8, 2 16x16 */
    uint32_t x_unsigned; /* 8x8: x is uint8, else int8 */
    uint32_t w_unsigned; /* 8x8: w is uint8, else int8 */
    uint32_t tile_rows; /* rows of the input tile in SM, may be 0; taps outside do not count */
    uint32_t tile_cols; /* pixels per row of the input tile */
    uint32_t x_ring_rows; /* rows of the ring at x that the tile's rows are in; 0: no ring */
    uint32_t kh; /* kernel rows, 1 to WINDOW_KERNEL */
    uint32_t kw; /* kernel columns, 1 to WINDOW_KERNEL */
    uint32_t stride_h; /* input rows per output row */
    uint32_t stride_w; /* input pixels per output pixel */
    int32_t pad_top; /* tile row of tap 0 of output row 0, negated; may be negative */
    int32_t pad_left; /* tile column of tap 0 of output pixel 0, negated; may be negative */
    uint32_t dilation_h; /* input rows from one tap to the next */
    uint32_t dilation_w; /* input pixels from one tap to the next */
    uint32_t w_row_stride; /* bytes from one row of w to the next, at least one row */
    int32_t x_zero; /* 8x8: zero point of x */
    uint32_t whole; /* 1: the window is the whole tile, one output pixel; ops 1 and 2 */
    int32_t w_zero; /* 8x8: zero point of w */
    uint32_t x_ring_first; /* row of the ring that is row 0 of the tile */
} xpu_desc_window;
static inline uint32_t xpu_desc_window_get_opcode(const uint32_t *words) {
    return xpu_desc_bits(words[0], 0, 8);
}
static inline void xpu_desc_window_set_opcode(uint32_t *words, uint32_t value) {
    xpu_desc_insert(&words[0], 0, 8, (uint32_t)value);
}
static inline uint32_t xpu_desc_window_get_layer(const uint32_t *words) {
    return xpu_desc_bits(words[0], 16, 16);
}
static inline void xpu_desc_window_set_layer(uint32_t *words, uint32_t value) {
    xpu_desc_insert(&words[0], 16, 16, (uint32_t)value);
}
static inline uint32_t xpu_desc_window_get_wait0(const uint32_t *words) {
    return xpu_desc_bits(words[1], 0, 8);
}
static inline void xpu_desc_window_set_wait0(uint32_t *words, uint32_t value) {
    xpu_desc_insert(&words[1], 0, 8, (uint32_t)value);
}
static inline uint32_t xpu_desc_window_get_wait1(const uint32_t *words) {
    return xpu_desc_bits(words[1], 8, 8);
}
static inline void xpu_desc_window_set_wait1(uint32_t *words, uint32_t value) {
    xpu_desc_insert(&words[1], 8, 8, (uint32_t)value);
}
static inline uint32_t xpu_desc_window_get_signal(const uint32_t *words) {
    return xpu_desc_bits(words[1], 16, 8);
}
static inline void xpu_desc_window_set_signal(uint32_t *words, uint32_t value) {
    xpu_desc_insert(&words[1], 16, 8, (uint32_t)value);
}
static inline uint32_t xpu_desc_window_get_signal_add(const uint32_t *words) {
    return xpu_desc_bits(words[1], 24, 8);
}
static inline void xpu_desc_window_set_signal_add(uint32_t *words, uint32_t value) {
    xpu_desc_insert(&words[1], 24, 8, (uint32_t)value);
}
static inline uint32_t xpu_desc_window_get_wait0_value(const uint32_t *words) {
    return xpu_desc_bits(words[2], 0, 32);
}
static inline void xpu_desc_window_set_wait0_value(uint32_t *words, uint32_t value) {
    xpu_desc_insert(&words[2], 0, 32, (uint32_t)value);
}
static inline uint32_t xpu_desc_window_get_wait1_value(const uint32_t *words) {
    return xpu_desc_bits(words[3], 0, 32);
}
static inline void xpu_desc_window_set_wait1_value(uint32_t *words, uint32_t value) {
    xpu_desc_insert(&words[3], 0, 32, (uint32_t)value);
}
static inline uint32_t xpu_desc_window_get_accumulate(const uint32_t *words) {
    return xpu_desc_bits(words[0], 8, 1);
}
static inline void xpu_desc_window_set_accumulate(uint32_t *words, uint32_t value) {
    xpu_desc_insert(&words[0], 8, 1, (uint32_t)value);
}
static inline uint32_t xpu_desc_window_get_drain(const uint32_t *words) {
    return xpu_desc_bits(words[0], 9, 1);
}
static inline void xpu_desc_window_set_drain(uint32_t *words, uint32_t value) {
    xpu_desc_insert(&words[0], 9, 1, (uint32_t)value);
}
static inline uint32_t xpu_desc_window_get_op(const uint32_t *words) {
    return xpu_desc_bits(words[0], 10, 2);
}
static inline void xpu_desc_window_set_op(uint32_t *words, uint32_t value) {
    xpu_desc_insert(&words[0], 10, 2, (uint32_t)value);
}
static inline uint32_t xpu_desc_window_get_post_mode(const uint32_t *words) {
    return xpu_desc_bits(words[0], 12, 1);
}
static inline void xpu_desc_window_set_post_mode(uint32_t *words, uint32_t value) {
    xpu_desc_insert(&words[0], 12, 1, (uint32_t)value);
}
static inline uint32_t xpu_desc_window_get_activation(const uint32_t *words) {
    return xpu_desc_bits(words[0], 13, 2);
}
static inline void xpu_desc_window_set_activation(uint32_t *words, uint32_t value) {
    xpu_desc_insert(&words[0], 13, 2, (uint32_t)value);
}
static inline uint32_t xpu_desc_window_get_act_after(const uint32_t *words) {
    return xpu_desc_bits(words[0], 15, 1);
}
static inline void xpu_desc_window_set_act_after(uint32_t *words, uint32_t value) {
    xpu_desc_insert(&words[0], 15, 1, (uint32_t)value);
}
static inline uint64_t xpu_desc_window_get_x(const uint32_t *words) {
    return words[4] | (uint64_t)xpu_desc_bits(words[15], 0, 8) << 32;
}
static inline void xpu_desc_window_set_x(uint32_t *words, uint64_t value) {
    words[4] = (uint32_t)value;
    xpu_desc_insert(&words[15], 0, 8, (uint32_t)(value >> 32));
}
static inline uint64_t xpu_desc_window_get_y(const uint32_t *words) {
    return words[6] | (uint64_t)xpu_desc_bits(words[15], 16, 8) << 32;
}
static inline void xpu_desc_window_set_y(uint32_t *words, uint64_t value) {
    words[6] = (uint32_t)value;
    xpu_desc_insert(&words[15], 16, 8, (uint32_t)(value >> 32));
}
static inline uint64_t xpu_desc_window_get_params(const uint32_t *words) {
    return words[7] | (uint64_t)xpu_desc_bits(words[15], 24, 8) << 32;
}
static inline void xpu_desc_window_set_params(uint32_t *words, uint64_t value) {
    words[7] = (uint32_t)value;
    xpu_desc_insert(&words[15], 24, 8, (uint32_t)(value >> 32));
}
static inline uint64_t xpu_desc_window_get_scale(const uint32_t *words) {
    return words[8] | (uint64_t)xpu_desc_bits(words[16], 0, 8) << 32;
}
static inline void xpu_desc_window_set_scale(uint32_t *words, uint64_t value) {
    words[8] = (uint32_t)value;
    xpu_desc_insert(&words[16], 0, 8, (uint32_t)(value >> 32));
}
static inline uint64_t xpu_desc_window_get_bias(const uint32_t *words) {
    return words[9] | (uint64_t)xpu_desc_bits(words[16], 8, 8) << 32;
}
static inline void xpu_desc_window_set_bias(uint32_t *words, uint64_t value) {
    words[9] = (uint32_t)value;
    xpu_desc_insert(&words[16], 8, 8, (uint32_t)(value >> 32));
}
static inline uint64_t xpu_desc_window_get_branch(const uint32_t *words) {
    return words[11] | (uint64_t)xpu_desc_bits(words[16], 24, 8) << 32;
}
static inline void xpu_desc_window_set_branch(uint32_t *words, uint64_t value) {
    words[11] = (uint32_t)value;
    xpu_desc_insert(&words[16], 24, 8, (uint32_t)(value >> 32));
}
static inline uint64_t xpu_desc_window_get_findmax(const uint32_t *words) {
    return words[12] | (uint64_t)xpu_desc_bits(words[17], 0, 8) << 32;
}
static inline void xpu_desc_window_set_findmax(uint32_t *words, uint64_t value) {
    words[12] = (uint32_t)value;
    xpu_desc_insert(&words[17], 0, 8, (uint32_t)(value >> 32));
}
static inline uint64_t xpu_desc_window_get_absmax(const uint32_t *words) {
    return words[13] | (uint64_t)xpu_desc_bits(words[17], 8, 8) << 32;
}
static inline void xpu_desc_window_set_absmax(uint32_t *words, uint64_t value) {
    words[13] = (uint32_t)value;
    xpu_desc_insert(&words[17], 8, 8, (uint32_t)(value >> 32));
}
static inline uint64_t xpu_desc_window_get_lookup(const uint32_t *words) {
    return words[14] | (uint64_t)xpu_desc_bits(words[17], 16, 8) << 32;
}
static inline void xpu_desc_window_set_lookup(uint32_t *words, uint64_t value) {
    words[14] = (uint32_t)value;
    xpu_desc_insert(&words[17], 16, 8, (uint32_t)(value >> 32));
}
static inline uint32_t xpu_desc_window_get_y_type(const uint32_t *words) {
    return xpu_desc_bits(words[17], 28, 4);
}
static inline void xpu_desc_window_set_y_type(uint32_t *words, uint32_t value) {
    xpu_desc_insert(&words[17], 28, 4, (uint32_t)value);
}
static inline uint32_t xpu_desc_window_get_columns(const uint32_t *words) {
    return xpu_desc_bits(words[19], 16, 16);
}
static inline void xpu_desc_window_set_columns(uint32_t *words, uint32_t value) {
    xpu_desc_insert(&words[19], 16, 16, (uint32_t)value);
}
static inline int32_t xpu_desc_window_get_x_row_stride(const uint32_t *words) {
    return xpu_desc_signed(words[20], 0, 32);
}
static inline void xpu_desc_window_set_x_row_stride(uint32_t *words, int32_t value) {
    xpu_desc_insert(&words[20], 0, 32, (uint32_t)value);
}
static inline int32_t xpu_desc_window_get_x_pixel_stride(const uint32_t *words) {
    return xpu_desc_signed(words[21], 0, 32);
}
static inline void xpu_desc_window_set_x_pixel_stride(uint32_t *words, int32_t value) {
    xpu_desc_insert(&words[21], 0, 32, (uint32_t)value);
}
static inline uint32_t xpu_desc_window_get_oh(const uint32_t *words) {
    return xpu_desc_bits(words[25], 0, 16);
}
static inline void xpu_desc_window_set_oh(uint32_t *words, uint32_t value) {
    xpu_desc_insert(&words[25], 0, 16, (uint32_t)value);
}
static inline uint32_t xpu_desc_window_get_ow(const uint32_t *words) {
    return xpu_desc_bits(words[25], 16, 16);
}
static inline void xpu_desc_window_set_ow(uint32_t *words, uint32_t value) {
    xpu_desc_insert(&words[25], 16, 16, (uint32_t)value);
}
static inline int32_t xpu_desc_window_get_y_row_stride(const uint32_t *words) {
    return xpu_desc_signed(words[26], 0, 32);
}
static inline void xpu_desc_window_set_y_row_stride(uint32_t *words, int32_t value) {
    xpu_desc_insert(&words[26], 0, 32, (uint32_t)value);
}
static inline int32_t xpu_desc_window_get_y_pixel_stride(const uint32_t *words) {
    return xpu_desc_signed(words[27], 0, 32);
}
static inline void xpu_desc_window_set_y_pixel_stride(uint32_t *words, int32_t value) {
    xpu_desc_insert(&words[27], 0, 32, (uint32_t)value);
}
static inline int32_t xpu_desc_window_get_branch_row_stride(const uint32_t *words) {
    return xpu_desc_signed(words[28], 0, 32);
}
static inline void xpu_desc_window_set_branch_row_stride(uint32_t *words, int32_t value) {
    xpu_desc_insert(&words[28], 0, 32, (uint32_t)value);
}
static inline int32_t xpu_desc_window_get_branch_pixel_stride(const uint32_t *words) {
    return xpu_desc_signed(words[29], 0, 32);
}
static inline void xpu_desc_window_set_branch_pixel_stride(uint32_t *words, int32_t value) {
    xpu_desc_insert(&words[29], 0, 32, (uint32_t)value);
}
static inline uint32_t xpu_desc_window_get_branch_first(const uint32_t *words) {
    return xpu_desc_bits(words[30], 25, 1);
}
static inline void xpu_desc_window_set_branch_first(uint32_t *words, uint32_t value) {
    xpu_desc_insert(&words[30], 25, 1, (uint32_t)value);
}
static inline uint32_t xpu_desc_window_get_clip_last(const uint32_t *words) {
    return xpu_desc_bits(words[30], 26, 1);
}
static inline void xpu_desc_window_set_clip_last(uint32_t *words, uint32_t value) {
    xpu_desc_insert(&words[30], 26, 1, (uint32_t)value);
}
static inline uint32_t xpu_desc_window_get_branch_type(const uint32_t *words) {
    return xpu_desc_bits(words[30], 28, 4);
}
static inline void xpu_desc_window_set_branch_type(uint32_t *words, uint32_t value) {
    xpu_desc_insert(&words[30], 28, 4, (uint32_t)value);
}
static inline uint64_t xpu_desc_window_get_w(const uint32_t *words) {
    return words[5] | (uint64_t)xpu_desc_bits(words[15], 8, 8) << 32;
}
static inline void xpu_desc_window_set_w(uint32_t *words, uint64_t value) {
    words[5] = (uint32_t)value;
    xpu_desc_insert(&words[15], 8, 8, (uint32_t)(value >> 32));
}
static inline uint64_t xpu_desc_window_get_start(const uint32_t *words) {
    return words[10] | (uint64_t)xpu_desc_bits(words[16], 16, 8) << 32;
}
static inline void xpu_desc_window_set_start(uint32_t *words, uint64_t value) {
    words[10] = (uint32_t)value;
    xpu_desc_insert(&words[16], 16, 8, (uint32_t)(value >> 32));
}
static inline uint32_t xpu_desc_window_get_mode(const uint32_t *words) {
    return xpu_desc_bits(words[17], 24, 2);
}
static inline void xpu_desc_window_set_mode(uint32_t *words, uint32_t value) {
    xpu_desc_insert(&words[17], 24, 2, (uint32_t)value);
}
static inline uint32_t xpu_desc_window_get_x_unsigned(const uint32_t *words) {
    return xpu_desc_bits(words[17], 26, 1);
}
static inline void xpu_desc_window_set_x_unsigned(uint32_t *words, uint32_t value) {
    xpu_desc_insert(&words[17], 26, 1, (uint32_t)value);
}
static inline uint32_t xpu_desc_window_get_w_unsigned(const uint32_t *words) {
    return xpu_desc_bits(words[17], 27, 1);
}
static inline void xpu_desc_window_set_w_unsigned(uint32_t *words, uint32_t value) {
    xpu_desc_insert(&words[17], 27, 1, (uint32_t)value);
}
static inline uint32_t xpu_desc_window_get_tile_rows(const uint32_t *words) {
    return xpu_desc_bits(words[18], 0, 16);
}
static inline void xpu_desc_window_set_tile_rows(uint32_t *words, uint32_t value) {
    xpu_desc_insert(&words[18], 0, 16, (uint32_t)value);
}
static inline uint32_t xpu_desc_window_get_tile_cols(const uint32_t *words) {
    return xpu_desc_bits(words[18], 16, 16);
}
static inline void xpu_desc_window_set_tile_cols(uint32_t *words, uint32_t value) {
    xpu_desc_insert(&words[18], 16, 16, (uint32_t)value);
}
static inline uint32_t xpu_desc_window_get_x_ring_rows(const uint32_t *words) {
    return xpu_desc_bits(words[19], 0, 16);
}
static inline void xpu_desc_window_set_x_ring_rows(uint32_t *words, uint32_t value) {
    xpu_desc_insert(&words[19], 0, 16, (uint32_t)value);
}
static inline uint32_t xpu_desc_window_get_kh(const uint32_t *words) {
    return xpu_desc_bits(words[22], 0, 8);
}
static inline void xpu_desc_window_set_kh(uint32_t *words, uint32_t value) {
    xpu_desc_insert(&words[22], 0, 8, (uint32_t)value);
}
static inline uint32_t xpu_desc_window_get_kw(const uint32_t *words) {
    return xpu_desc_bits(words[22], 8, 8);
}
static inline void xpu_desc_window_set_kw(uint32_t *words, uint32_t value) {
    xpu_desc_insert(&words[22], 8, 8, (uint32_t)value);
}
static inline uint32_t xpu_desc_window_get_stride_h(const uint32_t *words) {
    return xpu_desc_bits(words[22], 16, 8);
}
static inline void xpu_desc_window_set_stride_h(uint32_t *words, uint32_t value) {
    xpu_desc_insert(&words[22], 16, 8, (uint32_t)value);
}
static inline uint32_t xpu_desc_window_get_stride_w(const uint32_t *words) {
    return xpu_desc_bits(words[22], 24, 8);
}
static inline void xpu_desc_window_set_stride_w(uint32_t *words, uint32_t value) {
    xpu_desc_insert(&words[22], 24, 8, (uint32_t)value);
}
static inline int32_t xpu_desc_window_get_pad_top(const uint32_t *words) {
    return xpu_desc_signed(words[23], 0, 16);
}
static inline void xpu_desc_window_set_pad_top(uint32_t *words, int32_t value) {
    xpu_desc_insert(&words[23], 0, 16, (uint32_t)value);
}
static inline int32_t xpu_desc_window_get_pad_left(const uint32_t *words) {
    return xpu_desc_signed(words[23], 16, 16);
}
static inline void xpu_desc_window_set_pad_left(uint32_t *words, int32_t value) {
    xpu_desc_insert(&words[23], 16, 16, (uint32_t)value);
}
static inline uint32_t xpu_desc_window_get_dilation_h(const uint32_t *words) {
    return xpu_desc_bits(words[24], 0, 8);
}
static inline void xpu_desc_window_set_dilation_h(uint32_t *words, uint32_t value) {
    xpu_desc_insert(&words[24], 0, 8, (uint32_t)value);
}
static inline uint32_t xpu_desc_window_get_dilation_w(const uint32_t *words) {
    return xpu_desc_bits(words[24], 8, 8);
}
static inline void xpu_desc_window_set_dilation_w(uint32_t *words, uint32_t value) {
    xpu_desc_insert(&words[24], 8, 8, (uint32_t)value);
}
static inline uint32_t xpu_desc_window_get_w_row_stride(const uint32_t *words) {
    return xpu_desc_bits(words[24], 16, 16);
}
static inline void xpu_desc_window_set_w_row_stride(uint32_t *words, uint32_t value) {
    xpu_desc_insert(&words[24], 16, 16, (uint32_t)value);
}
static inline int32_t xpu_desc_window_get_x_zero(const uint32_t *words) {
    return xpu_desc_signed(words[30], 0, 9);
}
static inline void xpu_desc_window_set_x_zero(uint32_t *words, int32_t value) {
    xpu_desc_insert(&words[30], 0, 9, (uint32_t)value);
}
static inline uint32_t xpu_desc_window_get_whole(const uint32_t *words) {
    return xpu_desc_bits(words[30], 9, 1);
}
static inline void xpu_desc_window_set_whole(uint32_t *words, uint32_t value) {
    xpu_desc_insert(&words[30], 9, 1, (uint32_t)value);
}
static inline int32_t xpu_desc_window_get_w_zero(const uint32_t *words) {
    return xpu_desc_signed(words[30], 16, 9);
}
static inline void xpu_desc_window_set_w_zero(uint32_t *words, int32_t value) {
    xpu_desc_insert(&words[30], 16, 9, (uint32_t)value);
}
static inline uint32_t xpu_desc_window_get_x_ring_first(const uint32_t *words) {
    return xpu_desc_bits(words[31], 0, 16);
}
static inline void xpu_desc_window_set_x_ring_first(uint32_t *words, uint32_t value) {
    xpu_desc_insert(&words[31], 0, 16, (uint32_t)value);
}
/* Writes all 32 words; the opcode is set whatever d->opcode says. */
static inline void xpu_desc_window_pack(uint32_t *words, const xpu_desc_window *d) {
    for (int i = 0; i < 32; i++) words[i] = 0;
    xpu_desc_window_set_layer(words, d->layer);
    xpu_desc_window_set_wait0(words, d->wait0);
    xpu_desc_window_set_wait1(words, d->wait1);
    xpu_desc_window_set_signal(words, d->signal);
    xpu_desc_window_set_signal_add(words, d->signal_add);
    xpu_desc_window_set_wait0_value(words, d->wait0_value);
    xpu_desc_window_set_wait1_value(words, d->wait1_value);
    xpu_desc_window_set_accumulate(words, d->accumulate);
    xpu_desc_window_set_drain(words, d->drain);
    xpu_desc_window_set_op(words, d->op);
    xpu_desc_window_set_post_mode(words, d->post_mode);
    xpu_desc_window_set_activation(words, d->activation);
    xpu_desc_window_set_act_after(words, d->act_after);
    xpu_desc_window_set_x(words, d->x);
    xpu_desc_window_set_y(words, d->y);
    xpu_desc_window_set_params(words, d->params);
    xpu_desc_window_set_scale(words, d->scale);
    xpu_desc_window_set_bias(words, d->bias);
    xpu_desc_window_set_branch(words, d->branch);
    xpu_desc_window_set_findmax(words, d->findmax);
    xpu_desc_window_set_absmax(words, d->absmax);
    xpu_desc_window_set_lookup(words, d->lookup);
    xpu_desc_window_set_y_type(words, d->y_type);
    xpu_desc_window_set_columns(words, d->columns);
    xpu_desc_window_set_x_row_stride(words, d->x_row_stride);
    xpu_desc_window_set_x_pixel_stride(words, d->x_pixel_stride);
    xpu_desc_window_set_oh(words, d->oh);
    xpu_desc_window_set_ow(words, d->ow);
    xpu_desc_window_set_y_row_stride(words, d->y_row_stride);
    xpu_desc_window_set_y_pixel_stride(words, d->y_pixel_stride);
    xpu_desc_window_set_branch_row_stride(words, d->branch_row_stride);
    xpu_desc_window_set_branch_pixel_stride(words, d->branch_pixel_stride);
    xpu_desc_window_set_branch_first(words, d->branch_first);
    xpu_desc_window_set_clip_last(words, d->clip_last);
    xpu_desc_window_set_branch_type(words, d->branch_type);
    xpu_desc_window_set_w(words, d->w);
    xpu_desc_window_set_start(words, d->start);
    xpu_desc_window_set_mode(words, d->mode);
    xpu_desc_window_set_x_unsigned(words, d->x_unsigned);
    xpu_desc_window_set_w_unsigned(words, d->w_unsigned);
    xpu_desc_window_set_tile_rows(words, d->tile_rows);
    xpu_desc_window_set_tile_cols(words, d->tile_cols);
    xpu_desc_window_set_x_ring_rows(words, d->x_ring_rows);
    xpu_desc_window_set_kh(words, d->kh);
    xpu_desc_window_set_kw(words, d->kw);
    xpu_desc_window_set_stride_h(words, d->stride_h);
    xpu_desc_window_set_stride_w(words, d->stride_w);
    xpu_desc_window_set_pad_top(words, d->pad_top);
    xpu_desc_window_set_pad_left(words, d->pad_left);
    xpu_desc_window_set_dilation_h(words, d->dilation_h);
    xpu_desc_window_set_dilation_w(words, d->dilation_w);
    xpu_desc_window_set_w_row_stride(words, d->w_row_stride);
    xpu_desc_window_set_x_zero(words, d->x_zero);
    xpu_desc_window_set_whole(words, d->whole);
    xpu_desc_window_set_w_zero(words, d->w_zero);
    xpu_desc_window_set_x_ring_first(words, d->x_ring_first);
    xpu_desc_window_set_opcode(words, 10u);
}
static inline void xpu_desc_window_unpack(const uint32_t *words, xpu_desc_window *d) {
    d->opcode = xpu_desc_window_get_opcode(words);
    d->layer = xpu_desc_window_get_layer(words);
    d->wait0 = xpu_desc_window_get_wait0(words);
    d->wait1 = xpu_desc_window_get_wait1(words);
    d->signal = xpu_desc_window_get_signal(words);
    d->signal_add = xpu_desc_window_get_signal_add(words);
    d->wait0_value = xpu_desc_window_get_wait0_value(words);
    d->wait1_value = xpu_desc_window_get_wait1_value(words);
    d->accumulate = xpu_desc_window_get_accumulate(words);
    d->drain = xpu_desc_window_get_drain(words);
    d->op = xpu_desc_window_get_op(words);
    d->post_mode = xpu_desc_window_get_post_mode(words);
    d->activation = xpu_desc_window_get_activation(words);
    d->act_after = xpu_desc_window_get_act_after(words);
    d->x = xpu_desc_window_get_x(words);
    d->y = xpu_desc_window_get_y(words);
    d->params = xpu_desc_window_get_params(words);
    d->scale = xpu_desc_window_get_scale(words);
    d->bias = xpu_desc_window_get_bias(words);
    d->branch = xpu_desc_window_get_branch(words);
    d->findmax = xpu_desc_window_get_findmax(words);
    d->absmax = xpu_desc_window_get_absmax(words);
    d->lookup = xpu_desc_window_get_lookup(words);
    d->y_type = xpu_desc_window_get_y_type(words);
    d->columns = xpu_desc_window_get_columns(words);
    d->x_row_stride = xpu_desc_window_get_x_row_stride(words);
    d->x_pixel_stride = xpu_desc_window_get_x_pixel_stride(words);
    d->oh = xpu_desc_window_get_oh(words);
    d->ow = xpu_desc_window_get_ow(words);
    d->y_row_stride = xpu_desc_window_get_y_row_stride(words);
    d->y_pixel_stride = xpu_desc_window_get_y_pixel_stride(words);
    d->branch_row_stride = xpu_desc_window_get_branch_row_stride(words);
    d->branch_pixel_stride = xpu_desc_window_get_branch_pixel_stride(words);
    d->branch_first = xpu_desc_window_get_branch_first(words);
    d->clip_last = xpu_desc_window_get_clip_last(words);
    d->branch_type = xpu_desc_window_get_branch_type(words);
    d->w = xpu_desc_window_get_w(words);
    d->start = xpu_desc_window_get_start(words);
    d->mode = xpu_desc_window_get_mode(words);
    d->x_unsigned = xpu_desc_window_get_x_unsigned(words);
    d->w_unsigned = xpu_desc_window_get_w_unsigned(words);
    d->tile_rows = xpu_desc_window_get_tile_rows(words);
    d->tile_cols = xpu_desc_window_get_tile_cols(words);
    d->x_ring_rows = xpu_desc_window_get_x_ring_rows(words);
    d->kh = xpu_desc_window_get_kh(words);
    d->kw = xpu_desc_window_get_kw(words);
    d->stride_h = xpu_desc_window_get_stride_h(words);
    d->stride_w = xpu_desc_window_get_stride_w(words);
    d->pad_top = xpu_desc_window_get_pad_top(words);
    d->pad_left = xpu_desc_window_get_pad_left(words);
    d->dilation_h = xpu_desc_window_get_dilation_h(words);
    d->dilation_w = xpu_desc_window_get_dilation_w(words);
    d->w_row_stride = xpu_desc_window_get_w_row_stride(words);
    d->x_zero = xpu_desc_window_get_x_zero(words);
    d->whole = xpu_desc_window_get_whole(words);
    d->w_zero = xpu_desc_window_get_w_zero(words);
    d->x_ring_first = xpu_desc_window_get_x_ring_first(words);
}

/* clang-format on */

#endif
