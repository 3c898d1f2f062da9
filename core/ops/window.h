/* The window of a convolution or pooling: its node's attributes read in one place. */
#ifndef XPU_CORE_OPS_WINDOW_H
#define XPU_CORE_OPS_WINDOW_H

#include "core/ops/op.h"

/* By axis: 0 is the height, 1 the width. Where the operand has one spatial dim that is the width, and the window and
 * what it slides over are one row high. */
enum { XPU_WINDOW_AXES = 2 };
typedef struct {
    int first; /* axis of the first spatial dim: dim i of the operand is axis first + i - 2 */
    int64_t kernel[XPU_WINDOW_AXES], stride[XPU_WINDOW_AXES], dilation[XPU_WINDOW_AXES];
    int64_t begin[XPU_WINDOW_AXES], end[XPU_WINDOW_AXES]; /* padding */
    int64_t groups;                                       /* of a convolution; pooling: 1 */
} xpu_window;

/* Of a node with trait WINDOW that was inferred. */
xpu_window xpu_window_of(const xpu_graph *graph, xpu_node node);
/* Pooling of float32 that integers may do: these need the operand's largest magnitude. */
static inline int xpu_is_pooling(const xpu_graph *graph, xpu_node node) {
    return xpu_node_is(graph, node, XPU_OP_MAX_POOL) || xpu_node_is(graph, node, XPU_OP_AVERAGE_POOL) ||
           xpu_node_is(graph, node, XPU_OP_GLOBAL_AVERAGE_POOL);
}
/* Its parts, for the shape functions: of one tap, without padding; and padding from a list: begin of each spatial dim,
 * then end of each. */
xpu_window xpu_window_trivial(const xpu_graph *graph, xpu_node node);
void xpu_window_take_pads(xpu_window *window, const int64_t *pads);
/* The node gets the window's padding. */
void xpu_window_set_pads(xpu_graph *graph, xpu_node node, const xpu_window *window);
/* Elements of the operand from a window's first tap to its last. */
static inline int64_t xpu_window_extent(const xpu_window *window, int axis) {
    return (window->kernel[axis] - 1) * window->dilation[axis] + 1;
}

#endif
