/* What the passes share: turning nodes into others in place, so that their results keep name, uses and meaning. */
#ifndef XPU_CORE_PASSES_REWRITE_H
#define XPU_CORE_PASSES_REWRITE_H

#include "core/ops/op.h"

/* `node` gets this operator, these operands and, instead of its own, these attributes. Infers nothing. */
void xpu_rewrite(xpu_graph *graph, xpu_node node, xpu_op_id op, const xpu_value *inputs, uint32_t input_count,
                 const xpu_attr *attrs, uint32_t attr_count);

/* `node`, the only user of `from`'s result, takes over operator, operands, attributes and origins of `from`, which is
 * removed. The caller adds what the fusion is about and then infers. */
void xpu_absorb(xpu_graph *graph, xpu_node node, xpu_node from);

/* Uses of the node's first result become uses of `value`; the node goes where nothing needs it any more. An output of
 * the graph stays the result of a node. Returns 1 when something changed. */
int xpu_replace_node(xpu_graph *graph, xpu_node node, xpu_value value);

/* The node that makes the value, or {0}; the one that makes operand `input` of `node`; the one that makes the value
 * where it is an `op`. */
xpu_node xpu_value_maker(const xpu_graph *graph, xpu_value value);
xpu_node xpu_made_by(const xpu_graph *graph, xpu_value value, xpu_op_id op);
xpu_node xpu_maker(const xpu_graph *graph, xpu_node node, uint32_t input);

/* The node's first result is used once, in the node's own block, and is neither an output of the graph nor a block's
 * result; its other results are not used at all. */
int xpu_used_once(const xpu_graph *graph, xpu_node node);

/* The node gets the origins of `parts`, in their order, in front of its own. */
void xpu_node_lead_origins(xpu_graph *graph, xpu_node node, const xpu_node *parts, uint32_t count);

/* Whether `node` stands for one of several products that `product` makes together: it is a slice and has its origin. */
int xpu_is_columns_of(const xpu_graph *graph, xpu_node node, xpu_node product);

static inline int xpu_same_block(const xpu_graph *graph, xpu_node a, xpu_node b) {
    return xpu_node_at(graph, a)->parent.id == xpu_node_at(graph, b)->parent.id;
}

static inline int xpu_is_constant(const xpu_graph *graph, xpu_value value) {
    return value.id && xpu_value_at(graph, value)->constant != NULL;
}

/* Whether a value is a float32 constant of one element; its number. XPU_OK with *is_one = 0 where it is none. */
xpu_status xpu_one_number(const xpu_graph *graph, xpu_value value, float *number, int *is_one, xpu_diags *diags);

/* The constant that the reshape or transpose `node` of a constant makes: one more step of its recipe. {0} where the
 * node does something else. */
xpu_value xpu_moved_constant(xpu_graph *graph, xpu_node node, xpu_diags *diags);

/* GATHER by constant indices that are evenly spaced, or blocks each forwards or backwards, becomes a slice. Returns 1
 * when it does. */
int xpu_gather_as_slice(xpu_graph *graph, xpu_node node, xpu_diags *diags);

/* x * clip(x + 3, 0, 6) / 6 in any of the forms that exporters write, of which `node` is the last operator, becomes
 * HARD_SWISH. */
xpu_status xpu_find_hard_swish(xpu_graph *graph, xpu_node node, xpu_diags *diags);

/* d / sqrt(mean(d * d) + epsilon) over the last dims in the forms that exporters write, d being x or x without its
 * mean, of which `node` is the last operator, becomes NORM; a product or sum of one with a constant row its scale or
 * bias. */
xpu_status xpu_find_norm(xpu_graph *graph, xpu_node node, xpu_diags *diags);

/* Rotary embedding, that is x * c + (x with the elements of pairs exchanged) * s in the forms that exporters write, of
 * which `node` is the last operator, becomes ROTARY. */
xpu_status xpu_find_rotary(xpu_graph *graph, xpu_node node, xpu_diags *diags);

/* Whether groups around integers are left, which keep the roundings that they are written with. */
int xpu_has_groups(const xpu_graph *graph);

/* Products and sums with one number in front of a convolution go into its constant weights and bias. */
xpu_status xpu_fold_before_conv(xpu_graph *graph, xpu_node conv, xpu_diags *diags);

#endif
