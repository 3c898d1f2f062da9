/* Shared by reference kernels and the recipes of constants. */
#ifndef XPU_CORE_OPS_REF_UTIL_H
#define XPU_CORE_OPS_REF_UTIL_H

#include "core/ops/op.h"

/* out[dims permuted] = in[dims]: dim i of the result is dim perm[i] of `in`; elements of `element` bytes, row-major. */
void xpu_permute(const void *in, void *out, size_t element, int rank, const int64_t *in_dims, const int64_t *perm);

/* A kernel's refusal: [ref-shape] naming the node; XPU_EUSAGE, since shape functions checked what does not depend on
 * the shapes of this run. */
xpu_status xpu_ref_refuse(const xpu_ref_args *args, const char *what);

/* Attributes of the kernel's node. */
static inline int32_t xpu_ref_int(const xpu_ref_args *args, xpu_attr_id id) {
    return (int32_t)xpu_node_int(args->graph, args->node, id);
}
static inline float xpu_ref_float(const xpu_ref_args *args, xpu_attr_id id) {
    return xpu_node_float(args->graph, args->node, id);
}

static inline int64_t xpu_product(const int64_t *dims, int first, int end) {
    int64_t product = 1;
    for (int i = first; i < end; i++) product *= dims[i];
    return product;
}

#endif
