/* What the IR knows of an operator: a row of facts. The rows are core/ops/ops.def; the IR names none of them. */
#ifndef XPU_CORE_IR_OPERATOR_H
#define XPU_CORE_IR_OPERATOR_H

#include "base/diag.h"
#include "base/tensor.h"
#include "core/ir/attr.h"
#include "core/ir/handle.h"

struct xpu_graph;

/* A set of element types: bit d stands for xpu_dtype d. */
typedef uint32_t xpu_types;
#define XPU_TYPE_SET(dtype) ((xpu_types)1 << (dtype))
_Static_assert(XPU_DTYPE_COUNT <= 32, "xpu_types has one bit per element type");

typedef struct {
    const struct xpu_graph *graph;
    xpu_node node;
    const xpu_tensor *const *inputs; /* as many as there may be, NULL where absent; row-major logical order */
    xpu_tensor *const *outputs;      /* dtype, dims and data are set; the kernel fills data */
    const int64_t *symbols;          /* the value of each symbol of the graph's dims; NULL: their least */
    xpu_arena *scratch;
    xpu_diags *diags;
} xpu_ref_args;

/* Sets dtype and dims of the results from the operands and attributes; normalises attributes (explicit pads, positive
 * axes). Number, presence and element types of the operands are as the row says. Errors name the node, the rule and the
 * offending value. */
typedef xpu_status (*xpu_infer_fn)(struct xpu_graph *graph, xpu_node node, xpu_diags *diags);
/* Gives results a constant when the operands determine it although not all of them are constants (shape arithmetic).
 * All-constant operands are folded by running the reference kernel. Returns 1 when it did. */
typedef int (*xpu_value_fn)(struct xpu_graph *graph, xpu_node node, xpu_diags *diags);
typedef xpu_status (*xpu_ref_fn)(const xpu_ref_args *args);
/* Replaces the node by primitives with the same result, bit for bit. */
typedef xpu_status (*xpu_expand_fn)(struct xpu_graph *graph, xpu_node node, xpu_diags *diags);

/* Operands or results of operators that have any number. */
enum { XPU_MANY = 1 << 16 };

typedef struct xpu_op {
    const char *name;
    int min_inputs, max_inputs, max_outputs;
    const xpu_attr *attrs; /* those it takes, with their defaults */
    uint32_t attr_count;
    uint32_t traits;        /* bit i: has trait i */
    const xpu_types *takes; /* of each operand; the last one's of those after it, too */
    uint32_t takes_count;
    const xpu_types *gives; /* the same of the results */
    uint32_t gives_count;
    int elementwise; /* xpu_elementwise, or -1 */
    xpu_infer_fn infer;
    xpu_value_fn value;
    xpu_ref_fn ref;
    xpu_expand_fn expand;
    const char *no_value, *no_ref, *no_expand; /* the reason where the entry is absent */
    const char *about;                         /* one line for the documents */
} xpu_op;

/* The attribute's default in this operator's row; NULL where it does not take it. */
const xpu_attr *xpu_op_attr(const xpu_op *op, xpu_attr_id id);

static inline xpu_types xpu_op_takes(const xpu_op *op, uint32_t input) {
    return op->takes[input < op->takes_count ? input : op->takes_count - 1];
}
static inline xpu_types xpu_op_gives(const xpu_op *op, uint32_t output) {
    return op->gives[output < op->gives_count ? output : op->gives_count - 1];
}

#endif
