/* Transposed convolution and the interleaving of its phases: attributes read in one place. */
#ifndef XPU_CORE_OPS_TRANSPOSED_H
#define XPU_CORE_OPS_TRANSPOSED_H

#include "core/ops/window.h"

/* Phases of all axes together, which are results of convolutions. */
enum { XPU_MAX_PHASES = 1 << 12 };

/* By axis as in xpu_window; with one spatial dim axis 0 has stride 1 and crop 0. */
typedef struct {
    int first, spatial; /* axis of the first spatial dim, and how many there are */
    int64_t stride[XPU_WINDOW_AXES], dilation[XPU_WINDOW_AXES];
    int64_t crop[XPU_WINDOW_AXES]; /* elements of the full result before the first one of the result */
    int64_t groups;
    xpu_dim out[XPU_WINDOW_AXES]; /* of the result; axis 0 of one spatial dim: 1 */
} xpu_transposed;

/* Of a conv_transpose or interleave node that was inferred. */
xpu_transposed xpu_transposed_of(xpu_graph *graph, xpu_node node);

/* Operand `input` of an interleave: along each axis it has phases first .. first + count - 1. */
typedef struct {
    int64_t first[XPU_WINDOW_AXES], count[XPU_WINDOW_AXES];
} xpu_phases;
enum { XPU_PHASE_ENTRIES = 2 * XPU_WINDOW_AXES };
xpu_phases xpu_phases_of(const xpu_graph *graph, xpu_node node, uint32_t input);

/* The first element of a phase that lies behind the crop, and where it goes. */
static inline int64_t xpu_phase_begin(int64_t crop, int64_t phase, int64_t stride) {
    return crop > phase ? (crop - phase + stride - 1) / stride : 0;
}

#endif
