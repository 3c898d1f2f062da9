/* What converters that compose operators share (compose.c). Intermediate results; {0} where an operand is. */
#ifndef XPU_FRONTEND_PADDLE_COMPOSE_H
#define XPU_FRONTEND_PADDLE_COMPOSE_H

#include "core/arith_pick.h"
#include "frontend/paddle/converters.h"

enum { XPU_BOX = 4 };

/* `count` of the last dim from `first` on. */
xpu_value xpu_paddle_columns(fe_builder *b, xpu_value x, int64_t first, int64_t count);
xpu_value xpu_paddle_plus(fe_builder *b, xpu_value x, double number);
xpu_value xpu_paddle_times(fe_builder *b, xpu_value x, double factor);
/* condition ? x : y, broadcast. */
xpu_value xpu_paddle_choose(fe_builder *b, xpu_value condition, xpu_value x, xpu_value y);
xpu_value xpu_paddle_reshaped(fe_builder *b, xpu_value x, const xpu_dim *dims, int rank);
xpu_value xpu_paddle_widened(fe_builder *b, xpu_value x, int64_t axis); /* a dim of 1 there */
xpu_value xpu_paddle_reduced(fe_builder *b, xpu_op_id op, xpu_value x, int64_t axis, int keep);
xpu_value xpu_paddle_vector(fe_builder *b, const float *items, int64_t count);
/* |x| rounded to a whole number, halves up, with x's sign. */
xpu_value xpu_paddle_rounded(fe_builder *b, xpu_value x);
/* Rows of x [N,M,...] by indices [N,K]: [N,K,...]. */
xpu_value xpu_paddle_rows(fe_builder *b, xpu_value x, xpu_value indices);
/* The places ([how many], int64) where flags of rank 1 hold. */
xpu_value xpu_paddle_places(fe_builder *b, xpu_value flags);
/* How many flags [N,K] hold in each row: [N], int32. */
xpu_value xpu_paddle_counts(fe_builder *b, xpu_value flags);
/* Which image each of `rows` rows belongs to, where counts [N] says how many those of each are: [rows], int32. */
xpu_value xpu_paddle_image_of(fe_builder *b, xpu_value counts, xpu_dim rows);
/* Gives x to the operator as its result `index`. */
xpu_value xpu_paddle_give(xpu_paddle_node *node, fe_builder *inside, uint32_t index, xpu_value x);

/* ---- what optimisers put behind products (ops_fused.c) ---- */

/* x behind the activation, "" for none, by oneDNN's names and numbers (fuse_alpha, fuse_beta). */
xpu_value xpu_paddle_activated(xpu_paddle_node *node, fe_builder *b, xpu_value x, const char *name);
/* Whether there is an activation, or a tensor that is added first: in *residual, or {0}. */
int xpu_paddle_is_fused(xpu_paddle_node *node, const char *activation, xpu_value *residual);
/* Whether it computes in floats; 0 after reporting. */
int xpu_paddle_has_floats(xpu_paddle_node *node);

/* ops_places.c: gives result 1 of a pooling of maxima of x [N,C,...], where in their planes these are, if anything uses
 * it. 0 after reporting. */
int xpu_paddle_give_places(xpu_paddle_node *node, xpu_value x);
/* x for an operator that says where maxima are: what is not above the smallest number, and what is none, becomes that
 * one. For others x. */
xpu_value xpu_paddle_countable(xpu_paddle_node *node, xpu_value x);
/* x [N,C,...] cut, or filled up with the smallest number, to what as many windows as `size` says, of that size, cover:
 * the windows of pool2d and pool3d for adaptive maxima. {0} after reporting. */
xpu_value xpu_paddle_fitted(xpu_paddle_node *node, fe_builder *b, xpu_value x, fe_ints size, fe_ints strides);

/* The best of boxes [T,K,4] with scores [T,K] that none better overlaps, at most `most` for each of the T: their
 * places, int64 [T,most], in the order of the scores; flags: which of these are there. */
typedef struct {
    xpu_value boxes, scores;
    xpu_dim most;
    float overlap, least; /* the scores are more than that */
    xa_box_kind kind;
} xpu_paddle_suppression;
int xpu_paddle_suppress(fe_builder *b, const xpu_paddle_suppression *form, xpu_value *places, xpu_value *flags);

#endif
