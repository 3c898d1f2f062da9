/*
 * Operators: one row each in ops.def with attributes, traits, element types, shape function, value function, reference
 * kernel and expansion. An absent entry is NONE("reason").
 */
#ifndef XPU_CORE_OPS_OP_H
#define XPU_CORE_OPS_OP_H

#include "base/diag.h"
#include "core/ir/graph.h"
#include "core/ir/known.h"
#include "core/ops/chain.h"

/* How a matrix-like layer computes (attribute PRECISION). INT16X8: int16 activations, int8 weights. */
typedef enum { XPU_PRECISION_FP32, XPU_PRECISION_INT16, XPU_PRECISION_INT16X8 } xpu_precision;

/* What is fused behind conv and matmul (attribute ACTIVATION). */
typedef enum {
    XPU_ACTIVATION_NONE,
    XPU_ACTIVATION_CLIP,      /* max(LOW), then min(HIGH); relu is 0..inf */
    XPU_ACTIVATION_LEAKY,     /* x < 0 ? fl(x * ALPHA) : x */
    XPU_ACTIVATION_HARD_SWISH /* of a convolution without a branch: times alpha, plus low; made by the compiler */
} xpu_activation;

/* Operands of conv and matmul. Inputs: */
enum {
    XPU_IN_X,      /* conv: [N,C,H,W] or [N,C,W]; matmul: [..., M, K] */
    XPU_IN_W,      /* conv: [O, C/group, KH, KW] or [O, C/group, KW]; matmul: [..., K, N] */
    XPU_IN_BIAS,   /* [O] or [N] float32, or absent */
    XPU_IN_BRANCH, /* same shape as the result, float32, or absent: the residual */
    XPU_IN_WSCALE, /* int16: [O] float32, the scale of each output channel's weights */
    XPU_IN_ABSMAX, /* int16: rank 0 float32, max |x| */
    XPU_IN_COUNT
};
/* qconv and qmatmul have the same operands, with these differences: x, w and branch are int8 or uint8, the bias is
 * int32, WSCALE holds the factors fl(fl(x_scale * w_scale) / y_scale) of the output channels (absent: the result is the
 * int32 sums), and instead of absmax there may be the zero point of x, rank 0, where it is not the attribute X_ZERO. */
enum { XPU_IN_XZERO = XPU_IN_ABSMAX };
/* row_restore has the product of scaled rows as x and their powers of two, [..., 1], instead of w. */
enum { XPU_IN_POWERS = XPU_IN_W };
/* Results: y, and (int16, where somebody asks for it) rank 0 float32 max |y|. */
enum { XPU_OUT_Y, XPU_OUT_ABSMAX };
/* Results of row_scale: y, the powers of two, and rank 0 the absmax of y for the product: that of a lone row, else the
 * bound of all. */
enum { XPU_OUT_POWERS = 1, XPU_OUT_ROW_ABSMAX = 2 };
/* softmax_parts has exp(x - max) and 1 / sum as row_scale has rows and powers. Results of pack_matrix: integers,
 * scales. */
enum { XPU_OUT_PACK_SCALES = 1 };
/* Operands of attention. */
enum { XPU_IN_QUERIES, XPU_IN_KEYS, XPU_IN_VALUES, XPU_IN_MASK };
/* Behind the name of an operator: the layer that multiplies its scaled rows, in front of the one that restores them. */
#define XPU_ROWS_SUFFIX "/rows"
/* Behind the name of the last of several products of one operand: the layer that makes all of them. */
#define XPU_MERGED_SUFFIX "/merged"

typedef enum {
#define OP(name, ...) XPU_OP_##name,
#include "core/ops/ops.def"
#undef OP
    XPU_OP_COUNT
} xpu_op_id;

/* Traits of operators (core/ops/traits.def). */
typedef enum {
#define X(name, about) XPU_TRAIT_##name,
#include "core/ops/traits.def"
#undef X
    XPU_TRAIT_COUNT
} xpu_trait;

const xpu_op *xpu_op_of(xpu_op_id id);
xpu_op_id xpu_op_id_of(const xpu_op *op);
const xpu_op *xpu_op_by_name(const char *name); /* NULL when there is none */
static inline int xpu_node_is(const xpu_graph *graph, xpu_node node, xpu_op_id id) {
    return xpu_node_at(graph, node)->op == xpu_op_of(id);
}

static inline int xpu_op_has(const xpu_op *op, xpu_trait trait) {
    return (int)(op->traits >> trait & 1);
}
static inline int xpu_node_has(const xpu_graph *graph, xpu_node node, xpu_trait trait) {
    return xpu_op_has(xpu_node_at(graph, node)->op, trait);
}

/* An elementwise node as one step of a chain: operator and immediates, operands 0, 1, 2. 0 where it is none. */
int xpu_elementwise_step(const xpu_graph *graph, xpu_node node, xpu_chain_step *step);

/* What a node computes in: "fp32", "int16", "int16x8", or "int8" where its operand is int8 or uint8. */
const char *xpu_node_precision(const xpu_graph *graph, xpu_node node);

/* What reduction `kind` (xa_reduction of core/arith.h, the order of the rows) gives of no elements: repeated over 8
 * bytes.
 */
void xpu_reduced_nothing(int kind, xpu_dtype dtype, uint32_t words[2]);

typedef enum { XPU_PAD_CONSTANT, XPU_PAD_REFLECT, XPU_PAD_EDGE, XPU_PAD_UNKNOWN } xpu_pad_mode;
/* Of a pad: its attribute MODE. */
xpu_pad_mode xpu_node_pad_mode(const xpu_graph *graph, xpu_node node);

/* Checks number, presence and element types of the operands by the row, then runs its shape function. [op-operands]
 * [dtype-operand] and what the shape function says. */
xpu_status xpu_op_shapes(xpu_graph *graph, xpu_node node, xpu_diags *diags);
/* xpu_op_shapes, then the row's value function, then folds when all operands are small constants
 * (results up to 64 KiB). Called once for each node that is added, and again when an operand changes. */
xpu_status xpu_op_infer(xpu_graph *graph, xpu_node node, xpu_diags *diags);

/* Infers every node once more where there are guards, so that dims that are the same have one handle, but for those of
 * inputs. */
xpu_status xpu_settle(xpu_graph *graph, xpu_diags *diags);

/* Adds a node and infers it: the way frontends and passes build. The result is named as given. The node is returned
 * also when inference failed (diags has the errors, the result has no dtype): inference of what uses it stays silent.
 */
xpu_node xpu_build(xpu_graph *graph, xpu_node before, xpu_op_id op, const xpu_value *inputs, uint32_t input_count,
                   const char *output_name, const xpu_attr *attrs, uint32_t attr_count, const uint32_t *origins,
                   uint32_t origin_count, xpu_diags *diags);

/* The result of a node in front of `node`, with its origins and without a name: a part of what stands for it. */
xpu_value xpu_build_part(xpu_graph *graph, xpu_node node, xpu_op_id op, const xpu_value *inputs, uint32_t input_count,
                         const xpu_attr *attrs, uint32_t attr_count, xpu_diags *diags);

#endif
