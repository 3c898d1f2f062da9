/*
 * Sliding windows that treat each channel alone: pooling and depthwise convolution. A task is some neighbouring output
 * pixels of one row by a block of channels; its accumulators stand in LM. The window is walked in (kh, kw) order in
 * steps of some taps of one kernel row, the next step's inputs being loaded meanwhile. Taps in the padding are skipped.
 */
#ifndef XPU_KERNELS_WINDOW_H
#define XPU_KERNELS_WINDOW_H

#include "xpu_runtime/kernels/common.h"

struct window_task {
    uint32_t image, row, first_pixel, pixels, channel, channels;
};

struct window;

/* What differs between kernels. `extra` is room in LM for what a tap needs besides inputs (weights). */
struct window_actions {
    void (*start)(const struct window *w, const struct window_task *t, size_t vl);
    /* Queues the extra data of taps kw .. kw + taps - 1 of row kh into `extra`; may be NULL. */
    xpu_ticket (*load)(const struct window *w, const struct window_task *t, uint32_t kh, uint32_t kw, uint32_t taps,
                       float *extra);
    /* acc[pixel] with x[pixel * pitch] for pixels low .. high - 1; extra: this tap's `block` floats. */
    void (*tap)(const struct window *w, const struct window_task *t, const float *x, uint32_t pitch, uint32_t low,
                uint32_t high, const float *extra, size_t vl);
    void (*finish)(const struct window *w, const struct window_task *t, size_t vl);
};

struct window {
    uint32_t x; /* device address of the input, NHWC */
    int32_t batch, in_h, in_w, channels, out_h, out_w, kernel_h, kernel_w, stride_h, stride_w, dilation_h, dilation_w,
        pad_top, pad_left;
    const struct window_actions *actions;
    const void *args;        /* of the kernel */
    uint32_t rows_of_result; /* how many arrays of pixels x block the kernel keeps besides acc */
    uint32_t has_extra;      /* 1: taps have extra data */
    /* chosen by window_run */
    uint32_t pixels, block, taps, segment;
    float *acc, *more, *in[2], *extra[2];
};

/* Runs the share of `core` of all tasks. */
void window_run(struct window *w, uint32_t core, uint32_t cores);

/* Input columns of tap kw: output pixels [*low, *high) of the task read inside the image. */
void window_valid(const struct window *w, const struct window_task *t, uint32_t kw, uint32_t *low, uint32_t *high);
/* The same of rows: how many taps of the column of the window lie inside the image. */
int32_t window_input_row(const struct window *w, const struct window_task *t, uint32_t kh);

#endif
