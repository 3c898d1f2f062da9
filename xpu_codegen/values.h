/* Values: dims, layouts, which share memory. */
#ifndef XPU_CODEGEN_VALUES_H
#define XPU_CODEGEN_VALUES_H

#include "xpu_codegen/state.h"

int xpu_on_host(const xpu_codegen *cg, xpu_node node);
/* Whether the node is part of a region of another target: it makes no layer, that region does. */
int xpu_is_foreign(const xpu_codegen *cg, xpu_node node);
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
/* Whether a node makes no layer: its result is another name for the bytes of its operand, which has no gaps. */
int xpu_is_view(xpu_codegen *cg, xpu_node node);
/* Whether a reshape from x, which is channel-last, to y leaves the first two dims: as channel-last y has the same
 * bytes. */
int xpu_keeps_pixels(const xpu_codegen *cg, xpu_value x, xpu_value y);
/* Whether the value's bytes are an output's, a body's result or an operand of the host, behind what may be views or
 * parts, too. */
int xpu_value_leaves_program(const xpu_codegen *cg, xpu_value value);
/* Whether a node makes no layer because its result is a run of the bytes of its operand, which some layer of the same
 * block makes, and stays inside the program: *offset, in elements, if not NULL. */
int xpu_is_part(xpu_codegen *cg, xpu_node node, xpu_dim *offset);
/* Whether a concat makes no layer: each operand is a run of the bytes of its result, and made there by a layer. */
int xpu_is_joined(xpu_codegen *cg, xpu_node node);
/* The result of such a concat that `value` is made in, and where (in elements, if not NULL); {0}: there is none. */
xpu_value xpu_joined_whole(xpu_codegen *cg, xpu_value value, xpu_dim *offset);
/* The value whose memory `value` is, behind views; a part has a buffer of its own, an alias. */
xpu_value xpu_value_root(xpu_codegen *cg, xpu_value value);
/* The value of which `value` is a rearrangement, behind reshape, transpose, relayout and identity. */
xpu_value xpu_same_elements(const xpu_codegen *cg, xpu_value value);
/* Whether it has no elements, at any shape. */
int xpu_is_empty(xpu_codegen *cg, xpu_value value);
/* Whether a node is a matrix product with nothing behind it: of matrices without an inner dim it gives zeros. */
int xpu_is_plain_product(const xpu_codegen *cg, xpu_node node);
/* The largest value in the ranges of the symbols. */
int64_t xpu_dim_upper(const xpu_codegen *cg, xpu_dim dim);
/* What to reckon with where only speed depends on it: the geometric mean of the least and the greatest value. */
double xpu_dim_likely(const xpu_codegen *cg, xpu_dim dim);

/* What every word of a buffer filled with this value is, as a float of its bits. 0: an element of 8 bytes has unequal
 * halves, or the type does not have the value. */
int xpu_pad_word(xpu_dtype dtype, float value, float *word);

#endif
