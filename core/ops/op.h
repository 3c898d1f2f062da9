/*
 * Operators: one row each in ops.def with attributes, shape function, value function, reference kernel and expansion.
 * An absent entry is NONE("reason").
 */
#ifndef XPU_CORE_OPS_OP_H
#define XPU_CORE_OPS_OP_H

#include "base/diag.h"
#include "core/ir/graph.h"
#include "core/ops/chain.h"

/* How a matrix-like layer computes (attribute PRECISION). INT16X8: int16 activations, int8 weights. */
typedef enum { XPU_PRECISION_FP32, XPU_PRECISION_INT16, XPU_PRECISION_INT16X8 } xpu_precision;

/* What is fused behind conv and matmul (attribute ACTIVATION). */
typedef enum {
    XPU_ACTIVATION_NONE,
    XPU_ACTIVATION_CLIP, /* max(LOW), then min(HIGH); relu is 0..inf */
    XPU_ACTIVATION_LEAKY /* x < 0 ? fl(x * ALPHA) : x */
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
/* Results: y, and (int16, where somebody asks for it) rank 0 float32 max |y|. */
enum { XPU_OUT_Y, XPU_OUT_ABSMAX };

typedef struct {
    const xpu_graph *graph;
    xpu_node node;
    const xpu_tensor *const *inputs; /* NULL where absent; row-major logical order */
    xpu_tensor *const *outputs;      /* dtype, dims and data are set; the kernel fills data */
    xpu_arena *scratch;
    xpu_diags *diags;
} xpu_ref_args;

/* Sets dtype and dims of the results from the operands and attributes; normalises attributes (explicit pads, positive
 * axes). Errors name the node, the rule and the offending value. */
typedef xpu_status (*xpu_infer_fn)(xpu_graph *graph, xpu_node node, xpu_diags *diags);
/* Gives results a constant when the operands determine it although not all of them are constants (shape arithmetic).
 * All-constant operands are folded by running the reference kernel. Returns 1 when it did. */
typedef int (*xpu_value_fn)(xpu_graph *graph, xpu_node node, xpu_diags *diags);
typedef xpu_status (*xpu_ref_fn)(const xpu_ref_args *args);
/* Replaces the node by primitives with the same result, bit for bit. */
typedef xpu_status (*xpu_expand_fn)(xpu_graph *graph, xpu_node node, xpu_diags *diags);

typedef struct xpu_op {
    const char *name;
    int min_inputs, max_inputs, max_outputs;
    uint64_t attrs;  /* bit i: takes attribute i */
    int elementwise; /* xpu_elementwise, or -1 */
    xpu_infer_fn infer;
    xpu_value_fn value;
    xpu_ref_fn ref;
    xpu_expand_fn expand;
    const char *no_value, *no_ref, *no_expand; /* the reason where the entry is absent */
    const char *about;                         /* one line for the documents */
} xpu_op;

typedef enum {
#define OP(name, ...) XPU_OP_##name,
#include "core/ops/ops.def"
#undef OP
    XPU_OP_COUNT
} xpu_op_id;

const xpu_op *xpu_op_of(xpu_op_id id);
xpu_op_id xpu_op_id_of(const xpu_op *op);
const xpu_op *xpu_op_by_name(const char *name); /* NULL when there is none */
static inline int xpu_node_is(const xpu_graph *graph, xpu_node node, xpu_op_id id) {
    return xpu_node_at(graph, node)->op == xpu_op_of(id);
}

/* An elementwise node as one step of a chain: operator and immediates, operands 0, 1, 2. 0 where it is none. */
int xpu_elementwise_step(const xpu_graph *graph, xpu_node node, xpu_chain_step *step);

/* What a node computes in: "fp32", "int16", "int16x8", or "int8" where its operand is int8 or uint8. */
const char *xpu_node_precision(const xpu_graph *graph, xpu_node node);

/* Runs the row's shape function, then its value function, then folds when all operands are small constants
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

#endif
