/*
 * Sliding windows in float32 on the cores: convolution, depthwise convolution, pooling, and matrix products as 1x1
 * windows.
 *
 * A task is some neighbouring output pixels of one row by a block of output channels; its accumulators stand in LM,
 * `block` floats for each pixel. Vectors run along the channels.
 * Its window is walked in steps, in the canonical order (kh, kw, c): a step is some taps of one kernel row with all
 * channels, or one tap with a slice of the channels. The next step's operands, also those of the next task, come by DMA
 * while a step is computed, and a task's result leaves while the next task runs. Taps in the padding are skipped.
 */
#ifndef XPU_KERNELS_WINDOW_H
#define XPU_KERNELS_WINDOW_H

#include "xpu_runtime/kernels/epilogue.h"
#include "xpu_runtime/kernels/sums.h"

/* Taps of some output pixels that all lie inside the image: acc[i * block ..] gets x[i * pitch ..] of each tap. Sums of
 * products also come without taps, to begin or to end. */
struct window_run {
    float *acc;
    const float *x, *w; /* of the first pixel and tap; w: `block` floats for each k */
    uint32_t pixels, pitch, taps, tap_pitch, slice;
    struct ends
        ends; /* fresh: acc holds nothing yet, which is so of products, or where may_be_fresh; bias: of products */
};

struct window_task {
    uint32_t image, row, first_pixel, pixels, group, channel, channels; /* channel: in its group */
};

struct window {
    /* Device addresses; images are channel last; 0 where there is none. */
    uint32_t x, w, bias, branch, y, y_absmax;
    int32_t batch, in_h, in_w, in_c, out_h, out_w, out_c, kernel_h, kernel_w, stride_h, stride_w, dilation_h,
        dilation_w, pad_top, pad_left;
    /* Each output channel has an input channel of its own; else those of a group share the group's input channels. */
    uint32_t channelwise, groups;
    uint32_t x_image;          /* floats from one image of x to the next */
    uint32_t y_pixel;          /* floats from one pixel of y to the next */
    uint32_t w_pitch, w_image; /* floats from one k of the weights to the next, from one image's weights to the next */
    uint32_t taps_together;    /* how many taps of a row `multiply` takes at most */
    uint32_t by_columns;       /* walks (kw, kh); the taps of a column are added up before acc gets their sum */
    uint32_t is_product;       /* `multiply` begins the sums, and adds the bias, 0 where there is none, to end them */
    float start;               /* others start from this, where may_be_fresh unless the first taps reach every pixel: */
    uint32_t may_be_fresh;     /* then `multiply` starts them */
    struct epilogue epilogue;
    const void *args; /* of the kernel */
    void (*multiply)(const struct window *w, const struct window_run *run, size_t vl);
    /* Works on the accumulators before the epilogue; may be NULL. */
    void (*finish)(const struct window *w, const struct window_task *t, float *acc);

    /* Chosen by window_run. */
    uint32_t group_in, group_out;  /* channels of a group; channelwise: group_in is that of a task */
    uint32_t pixels, block;        /* of a task; block: output channels, a multiple of 16 */
    uint32_t taps, slice, segment; /* of a step; segment: input pixels */
    uint32_t tiles, blocks;        /* tasks along a row, along the channels of a group */
    float *column_lm;              /* by_columns: sums of a column, like acc */
    float *acc[2], *branch_lm, *bias_lm[2], *x_lm[2], *w_lm[2];
    uint32_t *most; /* findmax */
};

/* The geometry of a convolution's or pooling's arguments. */
#define WINDOW_GEOMETRY(a)                                                                                             \
    .x = (a)->x, .y = (a)->y, .batch = (a)->batch, .in_h = (a)->in_h, .in_w = (a)->in_w, .in_c = (a)->in_c,            \
    .out_h = (a)->out_h, .out_w = (a)->out_w, .kernel_h = (a)->kernel_h, .kernel_w = (a)->kernel_w,                    \
    .stride_h = (a)->stride_h, .stride_w = (a)->stride_w, .dilation_h = (a)->dilation_h,                               \
    .dilation_w = (a)->dilation_w, .pad_top = (a)->pad_top, .pad_left = (a)->pad_left, .groups = 1, .args = (a),       \
    .x_image = (uint32_t)((a)->in_h * (a)->in_w * (a)->in_c), .y_pixel = (uint32_t)(a)->y_pixel

/* Runs the share of `core` of all tasks. */
void window_run(struct window *w, uint32_t core, uint32_t cores);

/* The multiply of products: acc += x * w in order of k, neighbouring taps being one run of k. */
void window_multiply(const struct window *w, const struct window_run *run, size_t vl);

#endif
