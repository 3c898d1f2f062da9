/*
 * What the host's and the device's half of the kernel tests share: the numbers of the kernels and the plan.
 *
 * The plan's first word is the number of calls, the second one the chip's seed (0: the fixed schedule). A call is
 * XPU_CALL_HEAD words (kernel, chain body, words of arguments) and the words of the kernel's argument struct. Calls run
 * one after the other, each after the ticket of the one before.
 */
#ifndef XPU_TESTS_KERNEL_CALLS_H
#define XPU_TESTS_KERNEL_CALLS_H

#include <stdint.h>

enum { XPU_PLAN_HEAD = 2, XPU_CALL_HEAD = 3, XPU_CALL_WORDS = 4096 };

typedef enum {
#define KERNEL(name, unit, fields, about) XPU_CALL_##name,
#include "xpu_runtime/include/kernels.def"
#undef KERNEL
    XPU_CALL_COUNT
} xpu_call_kernel;

/* The bodies of chains, tests/chip/device/kernels.c and their twins on the host. */
typedef enum {
    XPU_BODY_IDENTITY, /* a */
    XPU_BODY_AFFINE,   /* clip(a * b + c, c0, c1) */
    XPU_BODY_SIX,      /* sigmoid(a + b) * max(c, d) - min(e, f) */
    XPU_BODY_LEAKY,    /* leaky_relu(a, c0) */
    XPU_BODY_MOST,     /* a * b - c, and the largest magnitude */
    XPU_BODY_COUNT
} xpu_call_body_id;

#endif
