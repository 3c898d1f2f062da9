/* Parts of descriptors that tests share, as members of an initialiser, and fields by their names. */
#ifndef XPU_TESTS_DESCRIPTORS_H
#define XPU_TESTS_DESCRIPTORS_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/chip.h"
#include "xpu_runtime/include/generated/xpu_chip_regs.h"

#define NO_WAITS .wait0 = XPU_NO_COUNTER, .wait1 = XPU_NO_COUNTER
#define ALONE    NO_WAITS, .signal = XPU_NO_COUNTER

/* A copy of elements that lie one behind the other. */
#define DENSE(count, type, bytes)                                                                                      \
    .src_type = (type), .dst_type = (type), .size0 = 1, .size1 = 1, .size2 = 1, .size3 = (count),                      \
    .src_stride3 = (bytes), .dst_stride3 = (bytes)

#define ONE_TAP .kh = 1, .kw = 1, .stride_h = 1, .stride_w = 1, .dilation_h = 1, .dilation_w = 1

/* A legal product of 2 x 2 pixels with 8 channels of bytes, the first that a test of faults makes illegal; where its
 * result goes is the test's. */
#define SMALL_TENSOR                                                                                                   \
    ONE_TAP, .channels = 8, .columns = 4, .tile_rows = 2, .tile_cols = 2, .oh = 2, .ow = 2, .w_row_stride = 4,         \
        .x_pixel_stride = 8, .x_row_stride = 16, .drain = 1, .post_mode = XPU_POST_FLOAT

/* A legal convolution of 4 x 4 pixels with 8 channels of bytes by 3 x 3 taps; where its operands are is the test's. */
#define SMALL_WINDOW                                                                                                   \
    .kh = 3, .kw = 3, .stride_h = 1, .stride_w = 1, .dilation_h = 1, .dilation_w = 1, .pad_top = 1, .pad_left = 1,     \
    .columns = 8, .tile_rows = 4, .tile_cols = 4, .oh = 4, .ow = 4, .w_row_stride = 8, .x_pixel_stride = 8,            \
    .x_row_stride = 32, .drain = 1, .post_mode = XPU_POST_FLOAT

/* What kind post shares with kinds tensor and window, but for sizes and post_mode: from `p` to `d`. */
#define TAKE_POST(d, p)                                                                                                \
    ((d).params = (p).params, (d).y = (p).y, (d).y_type = (p).y_type, (d).branch_type = (p).branch_type,               \
     (d).activation = (p).activation, (d).act_after = (p).act_after, (d).branch_first = (p).branch_first,              \
     (d).clip_last = (p).clip_last, (d).scale = (p).scale, (d).branch = (p).branch, (d).bias = (p).bias,               \
     (d).findmax = (p).findmax, (d).absmax = (p).absmax, (d).lookup = (p).lookup,                                      \
     (d).y_pixel_stride = (p).y_pixel_stride, (d).y_row_stride = (p).y_row_stride,                                     \
     (d).branch_pixel_stride = (p).branch_pixel_stride, (d).branch_row_stride = (p).branch_row_stride)

static inline const xpu_desc_field *field_named(const char *kind, const char *name) {
    for (unsigned k = 0; k < xpu_desc_field_count; k++)
        if (strcmp(xpu_desc_fields[k].kind, kind) == 0 && strcmp(xpu_desc_fields[k].name, name) == 0)
            return &xpu_desc_fields[k];
    printf("descriptors of kind %s have no field %s\n", kind, name);
    abort();
}

static inline void set_field(uint32_t *words, const char *kind, const char *name, uint64_t value) {
    xpu_desc_set(words, field_named(kind, name), value);
}

#endif
