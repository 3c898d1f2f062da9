/* Windows over bytes, on the cores and on the window engine: tasks by size. */
#ifndef XPU_CODEGEN_CHOOSE_BYTE_TASKS_H
#define XPU_CODEGEN_CHOOSE_BYTE_TASKS_H

#include "xpu_codegen/choose/tiles.h"

/* Rows, columns and channels of a tile of the window engine at most: fields of 16 bits. */
enum { XPU_WINDOW_MOST_EXTENT = 65535 };

/* Tasks of windows over bytes by size. */
typedef struct {
    xpu_sizes sizes;
    xpu_tiling_task items[XPU_MOST_SIZES];
    double cycles;    /* of the last size's, by the model that chose it */
    double predicted; /* the same on the window engine, as they are expected */
} xpu_byte_tasks;

/* Whether LM holds the window of one output pixel of depthwise_i8 (has_weights) or max_pool_i8, and the fastest tasks
 * of it; 0: none fits, or large_max_pool_i8 is faster at the upper bound of the symbols. */
int xpu_byte_window_fits(const xpu_codegen *cg, const xpu_conv_shape *shape, int has_weights);
int xpu_choose_byte_tasks(xpu_codegen *cg, const xpu_conv_shape *shape, int has_weights, xpu_byte_tasks *tasks);
/* The same on the window engine, with the bytes of SM that the largest takes; 0: the chip has no such engine, the
 * window is too large for it, or no task fits. is_whole: the window is all of the image. */
int xpu_choose_window_tasks(xpu_codegen *cg, const xpu_conv_shape *shape, int has, int is_whole, xpu_byte_tasks *tasks,
                            int64_t *sm_bytes);
/* The same of windows over 16-bit operands, whose elements in SM the format names: depthwise ones, maxima, or,
 * is_whole, sums. */
int xpu_choose_wide_window_tasks(xpu_codegen *cg, const xpu_conv_shape *shape, int has, int is_whole,
                                 xpu_tiling_format format, xpu_byte_tasks *tasks, int64_t *sm_bytes);
/* Tasks of a depthwise layer that runs beside the product that makes its input, whose tile is given, and args.follows
 * of window_i8; or why they do not run at once. `tasks`: those that it has behind the product. */
const char *xpu_choose_following_tasks(xpu_codegen *cg, const xpu_conv_shape *shape, const xpu_tile *product,
                                       xpu_byte_tasks *tasks, int64_t *sm_bytes, int32_t *follows);
/* How a qconv or qmatmul on the tensor engine has its operands and results in SM. */
xpu_tiling_format xpu_byte_format(const xpu_codegen *cg, xpu_node node);
/* Whether a qconv becomes depthwise_i8 or window_i8. */
int xpu_is_byte_depthwise(xpu_codegen *cg, xpu_node node);

#endif
