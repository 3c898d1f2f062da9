/*
 * Operands, results and bodies of control flow (rows IF, LOOP of ops.def). Bodies use values from around them as they
 * are; such values may also be listed as operands behind those of the operator, for who runs the node as a whole.
 *
 * IF    operands: condition (bool, one element)
 *       bodies: then, else; no arguments; as many results as the node
 * LOOP  operands: trip count (int64, one element, or absent: no limit), condition (bool, one element, or absent: true),
 *       N first values; body: arguments iteration (int64 scalar), condition (bool), N carried values; results
 * condition, N carried values, K stacked ones; results of the node: N last values, K stacks (a new first dim, an entry
 * for each iteration that ran), and last of all the number of iterations that ran (int64 scalar)
 * REGION operands: any; body: as many arguments of their types; results of the body and of the node. Bodies of regions
 * use constants from outside, and nothing else
 *
 * The body of a loop runs while the number of iterations is below the trip count and the condition, which it makes
 * itself after the first time, holds. A dim of a carried value that changes is an expression with symbols that
 * arguments of the body define (xpu_symbol.value): the iteration, or a carried int64 scalar. In the same way a dim of a
 * result that only the run knows holds a symbol that a result of the same node defines.
 */
#ifndef XPU_CORE_OPS_CONTROL_H
#define XPU_CORE_OPS_CONTROL_H

#include "core/ops/op.h"

enum { XPU_IF_CONDITION, XPU_IF_OPERANDS };
enum { XPU_THEN, XPU_ELSE, XPU_BRANCHES };
enum { XPU_LOOP_TRIPS, XPU_LOOP_CONDITION, XPU_LOOP_FIRST };     /* operands */
enum { XPU_BODY_ITERATION, XPU_BODY_CONDITION, XPU_BODY_FIRST }; /* arguments */
enum { XPU_BODY_GOES_ON, XPU_BODY_NEXT };                        /* results */
enum { XPU_LOOP_MOST_TRIPS = INT32_MAX };                        /* a larger trip count is no limit */

typedef struct {
    xpu_block body;
    uint32_t carried, stacked; /* N, K */
} xpu_loop;

/* Of a LOOP that has been inferred. */
xpu_loop xpu_loop_of(const xpu_graph *graph, xpu_node node);

/* Lists what the bodies of the node use from outside, constants apart, as operands behind its own, each once. */
void xpu_list_captures(xpu_graph *graph, xpu_node node);

/* The result that counts iterations. */
static inline uint32_t xpu_loop_count_result(const xpu_loop *loop) {
    return loop->carried + loop->stacked;
}

#endif
