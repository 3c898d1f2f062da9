/* Shared by the shape functions. For core/ops only. */
#ifndef XPU_CORE_OPS_INFER_H
#define XPU_CORE_OPS_INFER_H

#include "core/ops/op.h"
#include "core/ops/rows.h"

/* Elements of one tensor; larger ones are [shape-too-large]. */
#define XPU_MAX_ELEMENTS ((int64_t)1 << 40)

/* Entries of strides, pads, ... are below this, so that sums and products of two fit 64 bits. */
#define XPU_MAX_WINDOW_VALUE ((int64_t)1 << 30)

/* An [ RULE ] error of the node: XPU_EMODEL. `why` is printf-style. */
xpu_status xpu_infer_error(xpu_graph *graph, xpu_node node, xpu_diags *diags, const char *rule, const char *what,
                           const char *hint, const char *why, ...) __attribute__((format(printf, 7, 8)));

/* Operand `input`; NULL where absent. Valid until a value is added. */
const xpu_value_info *xpu_operand(const xpu_graph *graph, xpu_node node, uint32_t input);

/* "float32[N,3,8,8]" of an operand, in the graph's arena. */
const char *xpu_operand_text(xpu_graph *graph, xpu_node node, uint32_t input);

/* "int8, uint8 or int32". */
const char *xpu_types_text(xpu_types types, xpu_arena *arena);

/* [dtype-operand] unless operand `input` is absent or of one of `types`. What the row says is checked before the shape
 * function runs: this is for what depends on an attribute. */
xpu_status xpu_check_types(xpu_graph *graph, xpu_node node, uint32_t input, xpu_types types, xpu_diags *diags);

/* [shape-window-rank] unless operand 0 is [N,C,W] or [N,C,H,W]. */
xpu_status xpu_check_window_rank(xpu_graph *graph, xpu_node node, xpu_diags *diags);

/* Gives result `output` its type. [shape-too-large] where a dim overflowed or there are more than XPU_MAX_ELEMENTS,
 * [shape-negative] where a dim is below zero for every value of the symbols. */
xpu_status xpu_set_result(xpu_graph *graph, xpu_node node, uint32_t output, xpu_dtype dtype, int rank,
                          const xpu_dim *dims, xpu_diags *diags);

/* Makes AXIS 0 <= axis < rank. [shape-axis] */
xpu_status xpu_normalise_axis(xpu_graph *graph, xpu_node node, int rank, int *axis, xpu_diags *diags);

/* Whether two dims that `node` needs equal are: for every shape, or for several but not all; then the graph gets a
 * guard. *common (may be NULL) becomes the one to go on with. */
int xpu_equal_dims(xpu_graph *graph, xpu_node node, xpu_dim a, xpu_dim b, xpu_dim *common);

/* Numpy's rules for one more operand of `node`: dims become the common shape. Dims that may be equal or 1 are taken for
 * equal (xpu_equal_dims). 0 where they do not fit. */
int xpu_broadcast(xpu_graph *graph, xpu_node node, int *rank, xpu_dim *dims, int other_rank, const xpu_dim *other);

/* Type of the result of (q)conv and (q)matmul, and what they share behind the accumulation: element types, bias and
 * scales over `channels`, branch, absmax, activation; the second result. [shape-bias] [shape-branch] [int16-operands]
 * [quantised-attribute] */
xpu_status xpu_set_product(xpu_graph *graph, xpu_node node, int rank, const xpu_dim *dims, xpu_dim channels,
                           xpu_diags *diags);

/* qconv and qmatmul: operands and attributes before the result's type is set, which is `dtype`; then the branch. */
xpu_status xpu_check_quantised(xpu_graph *graph, xpu_node node, xpu_dim channels, xpu_dtype *dtype, xpu_diags *diags);
xpu_status xpu_check_quantised_branch(xpu_graph *graph, xpu_node node, xpu_diags *diags);

/* Pooling of int8 or uint8 to the type that DTYPE names. */
xpu_status xpu_check_quantised_pool(xpu_graph *graph, xpu_node node, xpu_dtype *dtype, xpu_diags *diags);

#endif
