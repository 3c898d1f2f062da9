/* Shared by reference kernels. For core/ops only. */
#ifndef XPU_CORE_OPS_REF_UTIL_H
#define XPU_CORE_OPS_REF_UTIL_H

#include "core/arith.h"
#include "core/ops/op.h"

/* A kernel's refusal: [ref-shape] naming the node; XPU_EUSAGE, since shape functions checked what does not depend on
 * the shapes of this run. */
xpu_status xpu_ref_refuse(const xpu_ref_args *args, const char *what);

/* Entry i of a list of int32 or int64 for a dim: from the end where it is negative; -1 where it is outside. */
int64_t xpu_ref_index(const xpu_tensor *list, int64_t i, int64_t size);
/* [ref-index] of the node: entry `place` of its indices is outside. */
xpu_status xpu_ref_outside(const xpu_ref_args *args, int64_t place);

struct xpu_ref_options;
/* Runs a node that has bodies. */
xpu_status xpu_ref_control(const xpu_graph *graph, xpu_node node, const struct xpu_ref_options *options,
                           const xpu_tensor *const *inputs, xpu_tensor *results, xpu_arena *arena, xpu_diags *diags);

/* Attributes of the kernel's node. */
static inline int32_t xpu_ref_int(const xpu_ref_args *args, xpu_attr_id id) {
    return (int32_t)xpu_node_int(args->graph, args->node, id);
}
static inline float xpu_ref_float(const xpu_ref_args *args, xpu_attr_id id) {
    return xpu_node_float(args->graph, args->node, id);
}

/* Activation and order of what follows a matrix-like layer's accumulation; bias and branch are the caller's. */
xa_post_float xpu_ref_epilogue(const xpu_ref_args *args);

/* The operand XPU_IN_X behind the node's own chain, or as it is where the node has none; lies in `scratch`. */
xpu_status xpu_ref_prologue(const xpu_ref_args *args, const void **x);

/* The second result of an operator with the trait FINDS_ABSMAX, where the node has one. */
void xpu_ref_write_absmax(const xpu_ref_args *args);

#endif
