/*
 * Target-neutral passes. Each takes the graph to a form that the next one may rely on, keeps it verified, and says what
 * it may do to results: nothing (exact), only rounding (tolerance), or it defines them.
 */
#ifndef XPU_CORE_PASSES_H
#define XPU_CORE_PASSES_H

#include "core/target.h"

/* Quantised groups (DEQUANTIZE, operator, QUANTIZE) into operators on integers, before anything folds or fuses. Defines
 * results: the roundings of ONNX's QLinear operators. */
xpu_status xpu_pass_quantised(xpu_graph *graph, xpu_diags *diags);
/* Folding: nodes whose operands are all constants become constants (lazy where large). Exact. */
xpu_status xpu_pass_fold(xpu_graph *graph, xpu_diags *diags);
/* Identity, no-op reshape and transpose, double transpose, reshape of reshape, transpose of a constant, pad into conv
 * or pooling where the meaning is the same, one-operand concat, gather by constant indices that are a box, dead nodes,
 * common subexpressions. Exact. */
xpu_status xpu_pass_canonicalise(xpu_graph *graph, xpu_diags *diags);
/* Batch norm behind conv or matmul into its weights and bias; a factor or sum of one number behind a conv, too. Hard
 * swish, norms over the last dims and rotary embedding that are written out become one operator. Tolerance. */
xpu_status xpu_pass_fold_batch_norm(xpu_graph *graph, xpu_diags *diags);
/* Sums of convolutions with constant vectors over their channels become biases, so that a batch norm, numbers and hard
 * swish find nothing between; nothing where a graph has quantised groups. Tolerance: patterns take them later, too, but
 * then what follows a sum rounds on its own. */
xpu_status xpu_pass_fold_biases(xpu_graph *graph, xpu_diags *diags);
/* The global average of what a convolution of single pixels makes becomes that convolution of the average of its
 * operand, where that has no more channels; nothing where a graph has quantised groups. Tolerance. */
xpu_status xpu_pass_averages_first(xpu_graph *graph, xpu_diags *diags);
/* Composite rows into primitives; norms of long rows too; products of bytes with int32 results into products with
 * float32 ones; conversions to and from quantised integers that no kernel has into elementwise steps; operands of
 * products repeated. Exact. */
xpu_status xpu_pass_legalise(xpu_graph *graph, xpu_diags *diags);
xpu_status xpu_write_out_norms(xpu_graph *graph, xpu_diags *diags);
xpu_status xpu_cut_integer_products(xpu_graph *graph, xpu_diags *diags);
xpu_status xpu_write_out_conversions(xpu_graph *graph, xpu_diags *diags);
/* Elementwise operators that feed each other into chains (core/ops/chain.h): at most 6 inputs, 32 steps, 16 immediates;
 * a sum or product of float32 with one number has it as an immediate, other constants are inputs. Exact. */
xpu_status xpu_pass_chains(xpu_graph *graph, xpu_diags *diags);

/* Pattern actions for targets' tables: conv or matmul with a bias add, a residual add, an activation. */
int xpu_accepts_bias(const xpu_graph *graph, const xpu_match *match); /* [conv|matmul, add]: add of a constant vector */
xpu_status xpu_fuse_bias(xpu_graph *graph, const xpu_match *match, xpu_diags *diags);
int xpu_accepts_branch(const xpu_graph *graph, const xpu_match *match); /* [conv|matmul, add]: add of an equal shape */
xpu_status xpu_fuse_branch(xpu_graph *graph, const xpu_match *match, xpu_diags *diags);
int xpu_accepts_activation(const xpu_graph *graph, const xpu_match *match); /* [conv|matmul, relu|clip|leaky_relu] */
xpu_status xpu_fuse_activation(xpu_graph *graph, const xpu_match *match, xpu_diags *diags);
int xpu_accepts_quantised_branch(const xpu_graph *graph, const xpu_match *match); /* [qconv|qmatmul, qadd] */
xpu_status xpu_fuse_quantised_branch(xpu_graph *graph, const xpu_match *match, xpu_diags *diags);

#endif
