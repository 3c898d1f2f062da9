/* What a descriptor needs at least (sim/harness/bounds.c) against a count of every byte that it touches. */
#include <stdio.h>
#include <string.h>

#include "core/chip.h"
#include "sim/harness/harness.h"
#include "tests/unit/unit.h"

enum { CASES = 3000, SPAN = 1 << 16, SM = 1, L3 = 2 };

static uint64_t state = 7;
static uint8_t touched[SPAN];

static uint32_t draw(uint32_t bound) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)((state >> 33) % bound);
}

static int32_t draw_stride(unsigned bytes) {
    return (int32_t)bytes * ((int32_t)draw(draw(3) ? 13 : 200) - 6);
}

/* The different bytes of a box, which lies about the middle of `touched`. */
static uint64_t count_box(const uint32_t *size, const int32_t *stride, unsigned bytes) {
    uint64_t count = 0;
    memset(touched, 0, sizeof touched);
    for (uint32_t i = 0; i < size[0]; i++)
        for (uint32_t j = 0; j < size[1]; j++)
            for (uint32_t k = 0; k < size[2]; k++)
                for (uint32_t l = 0; l < size[3]; l++)
                    memset(touched + SPAN / 2 + (int32_t)i * stride[0] + (int32_t)j * stride[1] +
                               (int32_t)k * stride[2] + (int32_t)l * stride[3],
                           1, bytes);
    for (size_t i = 0; i < sizeof touched; i++) count += touched[i];
    return count;
}

static void bounds_of(const uint32_t *words, uint32_t opcode, xpurt_completion *c) {
    static const xpu_chip chip = {.array_rows = 8, .array_columns = 8, .post_lanes = 8, .window_channels = 8};
    *c = (xpurt_completion){.opcode = opcode};
    xpu_rtl_bounds(&chip, words, c);
}

static void boxes(void) {
    unsigned exact = 0, dense = 0;
    for (int n = 0; n < CASES; n++) {
        uint32_t words[XPU_DESC_WORDS], size[4];
        int32_t from[4], to[4];
        xpurt_completion c;
        for (int i = 0; i < 4; i++)
            size[i] = draw(20) ? 1 + draw(5) : 0, from[i] = draw_stride(2), to[i] = draw_stride(4);
        if (draw(3) == 0) to[3] = 4, to[2] = 4 * (int32_t)size[3], to[1] = to[2] * (int32_t)size[2], to[0] = 2000;
        xpu_desc_copy d = {.src = XPU_SM_BASE,
                           .dst = XPU_L3_BASE,
                           .src_type = XPU_TYPE_I16,
                           .dst_type = XPU_TYPE_F32,
                           .size0 = size[0],
                           .size1 = size[1],
                           .size2 = size[2],
                           .size3 = size[3],
                           .src_stride0 = from[0],
                           .src_stride1 = from[1],
                           .src_stride2 = from[2],
                           .src_stride3 = from[3],
                           .dst_stride0 = to[0],
                           .dst_stride1 = to[1],
                           .dst_stride2 = to[2],
                           .dst_stride3 = to[3]};
        xpu_desc_copy_pack(words, &d);
        bounds_of(words, XPU_OPCODE_COPY, &c);
        uint64_t elements = (uint64_t)size[0] * size[1] * size[2] * size[3];
        uint64_t read = count_box(size, from, 2), written = count_box(size, to, 4);
        CU_ASSERT(c.read[SM] <= read && c.written[L3] <= written);
        CU_ASSERT(c.bytes[SM] == 2 * elements && c.bytes[L3] == 4 * elements);
        CU_ASSERT(c.read[L3] == 0 && c.written[SM] == 0);
        exact += c.read[SM] == read;
        if (to[0] != 2000) continue;
        CU_ASSERT_EQUAL(c.written[L3], written);
        dense++;
    }
    CU_ASSERT(exact > CASES / 2 && dense > CASES / 5);
}

/* Bytes of a tile that some tap sees. */
static uint64_t count_tile(const xpu_desc_tensor *d, unsigned bytes) {
    uint64_t count = 0;
    memset(touched, 0, sizeof touched);
    for (uint32_t oy = 0; oy < d->oh; oy++)
        for (uint32_t ox = 0; ox < d->ow; ox++)
            for (uint32_t ky = 0; ky < d->kh; ky++)
                for (uint32_t kx = 0; kx < d->kw; kx++) {
                    int64_t y = (int64_t)oy * d->stride_h + (int64_t)ky * d->dilation_h - d->pad_top;
                    int64_t x = (int64_t)ox * d->stride_w + (int64_t)kx * d->dilation_w - d->pad_left;
                    if (y < 0 || y >= d->tile_rows || x < 0 || x >= d->tile_cols) continue;
                    memset(touched + SPAN / 2 + y * d->x_row_stride + x * d->x_pixel_stride, 1, d->channels * bytes);
                }
    for (size_t i = 0; i < sizeof touched; i++) count += touched[i];
    return count;
}

static void tiles(void) {
    for (int n = 0; n < CASES; n++) {
        uint32_t words[XPU_DESC_WORDS];
        xpurt_completion c;
        unsigned bytes = 1 + draw(2), overlaps = draw(10) == 0;
        xpu_desc_tensor d = {.x = XPU_SM_BASE,
                             .w = XPU_L3_BASE, /* to tell them apart */
                             .mode = bytes == 1 ? XPU_OPERANDS_8X8 : XPU_OPERANDS_16X8,
                             .channels = 1 + draw(4),
                             .columns = 1 + draw(8),
                             .tile_rows = draw(12),
                             .tile_cols = draw(12),
                             .oh = 1 + draw(6),
                             .ow = 1 + draw(6),
                             .kh = 1 + draw(4),
                             .kw = 1 + draw(4),
                             .stride_h = 1 + draw(6),
                             .stride_w = 1 + draw(6),
                             .dilation_h = 1 + draw(6),
                             .dilation_w = 1 + draw(6),
                             .pad_top = (int32_t)draw(9) - 4,
                             .pad_left = (int32_t)draw(9) - 4};
        d.x_pixel_stride = (int32_t)((d.channels + draw(2)) * bytes);
        d.x_row_stride = d.x_pixel_stride * (overlaps ? 3 : (int32_t)d.tile_cols + (int32_t)draw(2));
        d.w_row_stride = d.columns;
        xpu_desc_tensor_pack(words, &d);
        bounds_of(words, XPU_OPCODE_TENSOR, &c);
        uint64_t seen = count_tile(&d, bytes);
        CU_ASSERT(c.read[SM] <= seen);
        if (!overlaps) CU_ASSERT_EQUAL(c.read[SM], seen);
        CU_ASSERT_EQUAL(c.read[L3], d.kh * d.kw * d.channels * d.columns);
        CU_ASSERT_EQUAL(c.macs, (uint64_t)c.read[L3] * d.oh * d.ow);
        CU_ASSERT_EQUAL(c.drain_cycles, 0);
    }
}

/* A window sees of its tile what a product of as many channels sees. */
static void windows(void) {
    for (int n = 0; n < CASES; n++) {
        uint32_t words[XPU_DESC_WORDS];
        xpurt_completion c;
        xpu_desc_window d = {.x = XPU_SM_BASE,
                             .w = XPU_L3_BASE,
                             .y = XPU_GM_BASE,
                             .columns = 1 + draw(20),
                             .tile_rows = draw(12),
                             .tile_cols = draw(12),
                             .oh = 1 + draw(6),
                             .ow = 1 + draw(6),
                             .kh = 1 + draw(7),
                             .kw = 1 + draw(7),
                             .stride_h = 1 + draw(3),
                             .stride_w = 1 + draw(3),
                             .dilation_h = 1 + draw(3),
                             .dilation_w = 1 + draw(3),
                             .pad_top = (int32_t)draw(9) - 4,
                             .pad_left = (int32_t)draw(9) - 4,
                             .op = draw(3),
                             .y_type = XPU_TYPE_I32};
        if (d.op != XPU_WINDOW_CONVOLUTION && draw(3) == 0) d.whole = 1, d.oh = d.ow = 1;
        d.x_pixel_stride = (int32_t)d.columns, d.x_row_stride = d.x_pixel_stride * (int32_t)d.tile_cols;
        xpu_desc_window_pack(words, &d);
        bounds_of(words, XPU_OPCODE_WINDOW, &c);
        const uint64_t taps = d.whole ? d.tile_rows * d.tile_cols : d.kh * d.kw, outputs = (uint64_t)d.oh * d.ow;
        const xpu_desc_tensor tile = {.channels = d.columns,
                                      .tile_rows = d.tile_rows,
                                      .tile_cols = d.tile_cols,
                                      .x_row_stride = d.x_row_stride,
                                      .x_pixel_stride = d.x_pixel_stride,
                                      .oh = d.oh,
                                      .ow = d.ow,
                                      .kh = d.kh,
                                      .kw = d.kw,
                                      .stride_h = d.stride_h,
                                      .stride_w = d.stride_w,
                                      .dilation_h = d.dilation_h,
                                      .dilation_w = d.dilation_w,
                                      .pad_top = d.pad_top,
                                      .pad_left = d.pad_left};
        CU_ASSERT_EQUAL(c.read[SM], d.whole ? taps * d.columns : count_tile(&tile, 1));
        CU_ASSERT_EQUAL(c.read[L3], d.op == XPU_WINDOW_CONVOLUTION ? taps * d.columns : 0);
        CU_ASSERT_EQUAL(c.macs, outputs * taps * d.columns);
        CU_ASSERT_EQUAL(c.written[3], 4 * outputs * d.columns);
        CU_ASSERT_EQUAL(c.drain_cycles, outputs * ((d.columns + 7) / 8));
    }
}

/* One index of a gather counts; a fill reads nothing. */
static void others(void) {
    uint32_t words[XPU_DESC_WORDS];
    xpurt_completion c;
    xpu_desc_gather g = {.src = XPU_SM_BASE,
                         .dst = XPU_L3_BASE,
                         .index = XPU_SM_BASE,
                         .src_type = XPU_TYPE_I8,
                         .dst_type = XPU_TYPE_I8,
                         .size0 = 1,
                         .size1 = 1,
                         .size2 = 7,
                         .size3 = 16,
                         .src_stride2 = 16,
                         .src_stride3 = 1,
                         .dst_stride2 = 16,
                         .dst_stride3 = 1,
                         .gather_dim = 2};
    xpu_desc_gather_pack(words, &g);
    bounds_of(words, XPU_OPCODE_GATHER, &c);
    CU_ASSERT(c.read[SM] == 4 * 7 + 16 && c.bytes[SM] == 4 * 7 + 7 * 16 && c.written[L3] == 7 * 16);
    bounds_of(words, XPU_OPCODE_FILL, &c);
    CU_ASSERT(c.read[SM] == 0 && c.bytes[SM] == 0 && c.written[L3] == 7 * 16);
    memset(words, 0, sizeof words); /* sizes and strides of 0 */
    for (uint32_t opcode = 0; opcode < 8; opcode++) bounds_of(words, opcode, &c);
    CU_ASSERT(c.macs == 0);
}

XPU_TEST_MAIN("bounds", {"boxes", boxes}, {"tiles", tiles}, {"windows", windows}, {"others", others})
