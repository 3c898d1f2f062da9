/* Values: dims and layouts. */
#ifndef XPU_CODEGEN_DIMS_H
#define XPU_CODEGEN_DIMS_H

#include "xpu_codegen/state.h"

int xpu_on_host(const xpu_codegen *cg, xpu_node node);
/* Whether the node is part of a region of another target: it makes no layer, that region does. */
int xpu_is_foreign(const xpu_codegen *cg, xpu_node node);
/* Neither: the node's kernels are this target's. */
int xpu_on_chip(const xpu_codegen *cg, xpu_node node);
static inline xpu_dim xpu_dim_of(xpu_codegen *cg, int64_t value) {
    return xpu_dim_const(&cg->graph->dims, value);
}
/* Whether a dim is 1 at any shape. */
int xpu_is_one(const xpu_codegen *cg, xpu_dim dim);
/* Dim i of the logical shape. */
xpu_dim xpu_value_dim(const xpu_codegen *cg, xpu_value value, int i);
/* Bytes of LM that a kernel may use. */
int64_t xpu_lm_room(const xpu_codegen *cg);
/* The product of dims first .. last - 1. */
xpu_dim xpu_dims_product(xpu_codegen *cg, xpu_value value, int first, int last);
/* The order in which dims lie in memory, outermost first. */
void xpu_storage_order(xpu_layout layout, int rank, int *order);
/* Elements from one index of logical dim i to the next, for each dim: extents count. */
void xpu_value_strides(xpu_codegen *cg, xpu_value value, xpu_dim *strides);
/* Whether a value's bytes are the same in both layouts: one channel, or one pixel, or a rank that has one layout. */
int xpu_layout_free(const xpu_codegen *cg, xpu_value value);
/* Whether it is row-major, or its bytes are the same as if it were. */
int xpu_is_linear(const xpu_codegen *cg, xpu_value value);
/* A value that grows along `axis` lies where there is room for `capacity` places along it. */
typedef struct xpu_extent {
    int axis;
    xpu_dim capacity; /* id 0: the value has no extent */
    int has_gaps;     /* there are several runs, each with room behind it */
    int is_appended;  /* made by a concat, whose first operand is there already */
    xpu_value whole;  /* choose/joins.h: the concat's result whose pixels have these channels, from `first` on */
    int64_t first;
} xpu_extent;
/* NULL: none. */
const xpu_extent *xpu_extent_of(const xpu_codegen *cg, xpu_value value);
static inline int xpu_has_gaps(const xpu_codegen *cg, xpu_value value) {
    const xpu_extent *extent = xpu_extent_of(cg, value);
    return extent && extent->has_gaps;
}
/* The places along logical dim i that a value has room for. */
xpu_dim xpu_value_extent(const xpu_codegen *cg, xpu_value value, int i);
int xpu_is_const_value(const xpu_codegen *cg, xpu_value value);
/* Whether a reshape from x, which is channel-last, to y leaves the first two dims: as channel-last y has the same
 * bytes. */
int xpu_keeps_pixels(const xpu_codegen *cg, xpu_value x, xpu_value y);
/* Whether it has no elements, at any shape. */
int xpu_is_empty(xpu_codegen *cg, xpu_value value);
/* The largest value in the ranges of the symbols. */
int64_t xpu_dim_upper(const xpu_codegen *cg, xpu_dim dim);
/* What to reckon with where only speed depends on it: the geometric mean of the least and the greatest value. */
double xpu_dim_likely(const xpu_codegen *cg, xpu_dim dim);

#endif
