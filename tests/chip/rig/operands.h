/* Random tensors, their device layout, and the reference kernels' results, for the kernel tests. */
#ifndef XPU_TESTS_CHIP_OPERANDS_H
#define XPU_TESTS_CHIP_OPERANDS_H

#include "core/ops/ref.h"
#include "tests/chip/rig/rig.h"
#include "xpu_runtime/include/xpu_tiling.h"

/* A tensor in the bench's arena: floats mostly in -2 .. 2, other types random bits. */
xpu_tensor operand_random(bench *b, random_source *random, xpu_dtype dtype, int rank, const int64_t *dims);
/* Indices, int64 where `wide` and else int32, of a dim of this size: -size .. size - 1. */
xpu_tensor operand_indices(rig *r, bench *b, int wide, int64_t size, int rank, const int64_t *dims);
/* Puts special values (infinities, NaNs, zeros, subnormals, huge ones) at about one of `one_in` places of a float
 * tensor. */
void operand_spoil(random_source *random, xpu_tensor *tensor, int64_t one_in);

/* The first result of one node with these operands (NULL where absent). */
xpu_tensor operand_reference(bench *b, xpu_op_id op, const xpu_tensor *const *inputs, uint32_t count,
                             const xpu_attr *attrs, uint32_t attr_count);

/* Both results of a node with one operand. */
void operand_both_references(bench *b, xpu_op_id op, const xpu_tensor *input, xpu_tensor results[2],
                             const xpu_attr *attrs, uint32_t attr_count);

/* Places [N,C,...] as [N,...,C]; 0 for NULL. */
uint32_t operand_place_image(rig *r, bench *b, const xpu_tensor *tensor);
/* Places a tensor as it is; 0 for NULL. */
uint32_t operand_place(rig *r, const xpu_tensor *tensor);
/* Room for a result, which is expected to be `tensor` ([N,C,...], channel last on the device). */
uint32_t operand_expect_image(rig *r, bench *b, const xpu_tensor *tensor);
uint32_t operand_expect(rig *r, const xpu_tensor *tensor);
/* Room for an image whose pixels are *pitch elements apart, its channels or a drawn number of times `multiple` more:
 * what lies between them must stay. */
uint32_t operand_expect_pixels(rig *r, bench *b, const xpu_tensor *tensor, int32_t multiple, int32_t *pitch);

/* Random tiles of a convolution on the tensor engine that fit the accumulators, and SM from `sm` on. */
typedef struct {
    int32_t tile_h, tile_w, tile_c, whole, banks, sm_bytes;
} operand_tile;
operand_tile operand_draw_tile(rig *r, const xpu_tiling_shape *shape, int32_t batch, uint32_t sm, int has_branch,
                               xpu_tiling_format format);
/* The same for the arguments of conv2d_i16 or conv2d_i8, whose geometry and scratch are set. What a stride leaves out
 * is not loaded, or is. */
#define DRAW_TILE(r, a, has_branch, format)                                                                            \
    do {                                                                                                               \
        const xpu_tiling_shape shape = {(a)->in_h,       (a)->in_w,       (a)->in_c,     (a)->out_h,    (a)->out_w,    \
                                        (a)->out_c,      (a)->kernel_h,   (a)->kernel_w, (a)->stride_h, (a)->stride_w, \
                                        (a)->dilation_h, (a)->dilation_w, (a)->groups};                                \
        const operand_tile tile = operand_draw_tile(r, &shape, (a)->batch, (a)->sm, has_branch, format);               \
        (a)->tile_h = tile.tile_h, (a)->tile_w = tile.tile_w, (a)->tile_c = tile.tile_c;                               \
        (a)->whole = tile.whole, (a)->banks = tile.banks, (a)->sm_bytes = tile.sm_bytes;                               \
        (a)->x_pixel = (a)->in_c * ((format).operand == 2 ? 4 : 1);                                                    \
        (a)->x_row = (a)->in_w * (a)->x_pixel, (a)->x_image = (a)->in_h * (a)->x_row;                                  \
        if ((a)->kernel_h == 1 && (a)->kernel_w == 1 && !(a)->pad_top && !(a)->pad_left && draw(r, 0, 1)) {            \
            (a)->x_row *= (a)->stride_h, (a)->x_pixel *= (a)->stride_w;                                                \
            (a)->in_h = ((a)->in_h + (a)->stride_h - 1) / (a)->stride_h;                                               \
            (a)->in_w = ((a)->in_w + (a)->stride_w - 1) / (a)->stride_w;                                               \
            (a)->stride_h = (a)->stride_w = 1;                                                                         \
        }                                                                                                              \
    } while (0)

/* Describes a random call, places its operands and adds it. */
typedef void (*rig_add)(rig *r, bench *b);
/* Runs cases of one call each on the chips of configs/chip: `cases` of each ($XPU_CASES times as many). */
void rig_on_each_chip(const char *name, int cases, rig_add add);
/* The same with cases of two to five calls drawn from `adds`. */
void rig_sequences(const char *name, int cases, const rig_add *adds, int add_count);

#endif
