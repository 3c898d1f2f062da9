/*
 * A chain: elementwise operators fused into one loop. It is a small program in static single assignment: operand
 * numbers below `input_count` are inputs of the node, the others are results of earlier steps. The last step is the
 * result. Every step rounds as its operator does alone, so a chain changes no bit. Operators: core/ops/elementwise.def.
 */
#ifndef XPU_CORE_OPS_CHAIN_H
#define XPU_CORE_OPS_CHAIN_H

#include <stdint.h>

#include "core/ir/attr.h"

typedef enum {
#define EW_ROW(name, ...) XPU_EW_##name,
#include "core/ops/elementwise.def"
    XPU_EW_COUNT
} xpu_elementwise;

enum { XPU_CHAIN_MAX_INPUTS = 6, XPU_CHAIN_MAX_STEPS = 32, XPU_CHAIN_MAX_IMMEDIATES = 3 };

typedef struct {
    xpu_elementwise op;
    uint8_t operands[3];
    float immediates[XPU_CHAIN_MAX_IMMEDIATES];
} xpu_chain_step;

typedef struct xpu_chain {
    uint32_t input_count, step_count;
    xpu_chain_step steps[XPU_CHAIN_MAX_STEPS];
} xpu_chain;

/* 1 when every operand of every step exists before it and all counts are in range. */
int xpu_chain_is_valid(const xpu_chain *chain, uint32_t input_count);

/* Which types an elementwise operator computes in, and its result's type (elementwise.def). */
typedef enum {
    XPU_EW_FLOATS,
    XPU_EW_NUMBERS,
    XPU_EW_COMPARE,
    XPU_EW_LOGIC,
    XPU_EW_INTEGERS,
    XPU_EW_SELECT,
    XPU_EW_CONVERT,
    XPU_EW_TEST,
    XPU_EW_ANY
} xpu_signature;

/* Facts of the table elementwise.def. */
const char *xpu_elementwise_name(xpu_elementwise op);
int xpu_elementwise_arity(xpu_elementwise op);
int xpu_elementwise_immediates(xpu_elementwise op);
xpu_signature xpu_elementwise_signature(xpu_elementwise op);
int xpu_elementwise_is_long(xpu_elementwise op); /* a polynomial, which needs most of the vector registers */
/* The attribute of an operator that is immediate i. */
xpu_attr_id xpu_elementwise_attr(xpu_elementwise op, int i);
/* One element, with the roundings of core/arith.h. */
float xpu_elementwise_apply(xpu_elementwise op, const float *operands, const float *immediates);

#endif
