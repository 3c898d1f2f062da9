/*
 * A chain: elementwise operators fused into one loop. It is a small program in static single assignment: operand
 * numbers below `input_count` are inputs of the node, the others are results of earlier steps. The last step is the
 * result. Every step rounds as its operator does alone, so a chain changes no bit. Operators: core/ops/elementwise.def.
 *
 * Every value has an element type: inputs that of their tensor, results what the operator's signature makes of it.
 */
#ifndef XPU_CORE_OPS_CHAIN_H
#define XPU_CORE_OPS_CHAIN_H

#include <stdint.h>

#include "base/tensor.h"
#include "core/ir/graph.h"

typedef enum {
#define EW_ROW(name, ...) XPU_EW_##name,
#include "core/ops/elementwise.def"
    XPU_EW_COUNT
} xpu_elementwise;

/* XPU_CHAIN_MAX_IMMEDIATES: of one step; XPU_CHAIN_ALL_IMMEDIATES: of all of them, for which kernel arguments have
 * room. */
enum {
    XPU_CHAIN_MAX_INPUTS = 6,
    XPU_CHAIN_MAX_STEPS = 32,
    XPU_CHAIN_MAX_IMMEDIATES = 3,
    XPU_CHAIN_ALL_IMMEDIATES = 16,
    XPU_CHAIN_MAX_OPERANDS = 3,
    XPU_CHAIN_MAX_VALUES = XPU_CHAIN_MAX_INPUTS + XPU_CHAIN_MAX_STEPS
};

typedef struct {
    xpu_elementwise op;
    uint8_t operands[XPU_CHAIN_MAX_OPERANDS];
    uint8_t dtype; /* xpu_dtype that a step of signature CONVERT makes; else 0 */
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
/* One element of a row that has float32 operands and a float32 result, with the roundings of core/arith.h; NaN of
 * others. */
float xpu_elementwise_apply(xpu_elementwise op, const float *operands, const float *immediates);

/* Classes that elements are computed in: core/arith_types.h. */
typedef enum {
    XPU_COMPUTE_F32,
    XPU_COMPUTE_I32,
    XPU_COMPUTE_U32,
    XPU_COMPUTE_I64,
    XPU_COMPUTE_U64,
    XPU_COMPUTE_COUNT
} xpu_compute;
/* The class of a type; XPU_COMPUTE_COUNT of those that are not computed with (float64). */
xpu_compute xpu_compute_of(xpu_dtype dtype);
const char *xpu_compute_name(xpu_compute class_id); /* "i32" */

/* The type that an operator makes of operands of these types (`convert_to`: its attribute DTYPE, read by CONVERT
 * only), and the one it computes in (`computes`, may be NULL). XPU_DTYPE_NONE where the signature does not take them.
 */
xpu_dtype xpu_elementwise_result(xpu_elementwise op, const xpu_dtype *operands, xpu_dtype convert_to,
                                 xpu_dtype *computes);
/* What a signature takes, for messages: "float32, float16 or bfloat16". */
const char *xpu_signature_text(xpu_signature signature);

/* The types in a chain. */
typedef struct {
    xpu_dtype values[XPU_CHAIN_MAX_VALUES];  /* of inputs, then of results of steps */
    xpu_dtype computes[XPU_CHAIN_MAX_STEPS]; /* what each step computes in */
    int is_float32;                          /* every value is float32, and none was converted */
    int is_wide;                             /* a value has 64 bits */
} xpu_chain_types;
/* Those of a valid chain over inputs of these types; 0 where a step's signature does not take its operands. */
int xpu_chain_types_of(const xpu_chain *chain, const xpu_dtype *inputs, xpu_chain_types *types);

/* Of a node CHAIN: its program, and the types in it as above. */
const xpu_chain *xpu_chain_of(const xpu_graph *graph, xpu_node node);
int xpu_chain_types_of_node(const xpu_graph *graph, xpu_node node, xpu_chain_types *types);

#endif
