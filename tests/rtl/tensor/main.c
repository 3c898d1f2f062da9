/*
 * The tensor engine's RTL against the functional engine: lists of random descriptors of kinds tensor and post, in all
 * modes, under random back-pressure; then the convolutions of ResNet-50's layer3.1 with their cycles, and host time per
 * cycle beside the bare array's.
 *     tensor [lists [first seed]]
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "core/arith.h"
#include "sim/func/driver.h"
#include "sim/func/func.h"
#include "tests/gen/descriptors.h"
#include "tests/gen/small_chip.h"
#include "tests/rtl/bare/bare.h"
#include "tests/rtl/tensor/bench.h"

static const xpu_chip chip = {SMALL_CHIP,
                              .array_rows = CHIP_ROWS,
                              .array_columns = CHIP_COLUMNS,
                              .acc_banks = CHIP_BANKS,
                              .acc_rows = CHIP_ACC_ROWS,
                              .weight_rows = CHIP_WEIGHT_ROWS,
                              .post_lanes = CHIP_LANES,
                              .cores = 1,
                              .lm_bytes = 16384,
                              .sm_bytes = RTL_SM_BYTES,
                              .l3_bytes = RTL_L3_BYTES,
                              .gm_bytes = 1 << 20};

static void draw_tensor(bench *b, xpu_desc_tensor *d) {
    unsigned xb, wb, dense;
    memset(d, 0, sizeof *d);
    d->mode = draw(b, 3);
    xb = d->mode ? 2 : 1, wb = d->mode == XPU_OPERANDS_16X16 ? 2 : 1;
    d->kh = 1 + draw(b, 3), d->kw = 1 + draw(b, 4);
    d->channels = draw(b, 4) ? 1 + draw(b, 20) : 1 + draw(b, 100);
    if (draw(b, 4) == 0) d->channels = CHIP_ROWS * (1 + draw(b, 2));
    d->stride_h = 1 + draw(b, 2), d->stride_w = 1 + draw(b, 2);
    d->dilation_h = 1 + draw(b, 2), d->dilation_w = draw(b, 3) ? 1 : 2;
    d->pad_top = draw_between(b, -1, 2), d->pad_left = draw_between(b, -1, 2);
    do d->oh = 1 + draw(b, 8), d->ow = 1 + draw(b, 12);
    while (d->oh * d->ow > CHIP_ACC_ROWS);
    d->columns = draw(b, 2) ? CHIP_COLUMNS : 1 + draw(b, CHIP_COLUMNS);
    d->tile_rows = draw(b, 13), d->tile_cols = draw(b, 17);
    dense = draw(b, 2);
    d->x_pixel_stride = (int32_t)((d->channels + (dense ? 0 : draw(b, 5))) * xb);
    d->x_row_stride = (int32_t)(d->tile_cols * (uint32_t)d->x_pixel_stride + draw(b, 3) * xb);
    d->x = X_AT + 2 * draw(b, 64) + (xb == 1 ? draw(b, 2) : 0);
    if (draw(b, 2)) d->x &= ~63u;
    if (draw(b, 8) == 0) { /* upside down */
        d->x += (uint64_t)(uint32_t)d->x_row_stride * d->tile_rows;
        d->x_row_stride = -d->x_row_stride;
    }
    d->w = W_AT + 2 * draw(b, 64) + (wb == 1 ? draw(b, 2) : 0);
    if (draw(b, 2)) d->w &= ~63u;
    d->w_row_stride = (d->columns + (draw(b, 2) ? 0 : draw(b, 3))) * wb;
    if (d->mode == XPU_OPERANDS_8X8) {
        d->x_unsigned = draw(b, 2), d->w_unsigned = draw(b, 2);
        d->x_zero = draw_between(b, d->x_unsigned ? 0 : -128, d->x_unsigned ? 255 : 127);
        d->w_zero = draw_between(b, d->w_unsigned ? 0 : -128, d->w_unsigned ? 255 : 127);
    }
    d->post_mode = d->mode == XPU_OPERANDS_8X8 ? draw(b, 2) : XPU_POST_FLOAT;
}

/* The words of a tensor descriptor with the fields of `p`, which it shares with kind post. */
static void pack_tensor(uint32_t *words, const xpu_desc_tensor *d, const xpu_desc_post *p) {
    xpu_desc_tensor all = *d;
    TAKE_POST(all, *p);
    xpu_desc_tensor_pack(words, &all);
    xpu_desc_tensor_set_wait0(words, XPU_NO_COUNTER);
    xpu_desc_tensor_set_wait1(words, XPU_NO_COUNTER);
    xpu_desc_tensor_set_signal(words, XPU_NO_COUNTER);
}

static void draw_drain(bench *b, const xpu_desc_tensor *d, xpu_desc_post *post, unsigned index) {
    const uint32_t small = SMALL_AT + SMALL_BYTES * index;
    draw_post(b, post, index);
    post->absmax = draw(b, 2) ? small + ABSMAX : 0;
    draw_small(b, small, d->post_mode == XPU_POST_QUANTISED,
               d->mode == XPU_OPERANDS_16X16 ? 1e-9f
               : d->mode                     ? 1e-7f
                                             : 1e-4f);
}

/* One to three descriptors that add up in one bank, the last of which may be a drain without a product; returns how
 * many. */
static unsigned one_tensor(bench *b, uint32_t *words, unsigned index, unsigned room) {
    unsigned parts = 1 + draw(b, 3);
    uint32_t bank = draw(b, CHIP_BANKS), small = SMALL_AT + SMALL_BYTES * index;
    xpu_desc_tensor d;
    if (parts > room) parts = room;
    draw_tensor(b, &d);
    d.bank = bank;
    for (unsigned part = 0; part < parts; part++) {
        xpu_desc_post post = {.post_mode = d.post_mode, .columns = d.columns, .oh = d.oh, .ow = d.ow};
        d.accumulate = part > 0, d.drain = part + 1 == parts;
        d.start = part == 0 && draw(b, 2) ? small + START : 0;
        if (d.drain) {
            draw_drain(b, &d, &post, index);
            if (part > 0 && draw(b, 2)) d.channels = 0;
            if (draw(b, 2) && d.mode == 0) d.start = 0; /* also an accumulate from 0 */
        }
        pack_tensor(words + (size_t)part * XPU_DESC_WORDS, &d, &post);
        if (draw(b, 2)) d.kh = 1 + draw(b, 2), d.channels = 1 + draw(b, d.channels);
    }
    return parts;
}

/* Products in two banks, and then their drains: the second product begins before the first one drains, and a third one
 * uses the bank of the first. */
enum { CROSSED = 5 };
static void crossed_tensors(bench *b, uint32_t *words, unsigned index) {
    const uint32_t bank = draw(b, CHIP_BANKS), other = (bank + 1) % CHIP_BANKS;
    xpu_desc_tensor first, second;
    draw_tensor(b, &first), draw_tensor(b, &second);
    first.bank = bank, second.bank = other;
    second.drain = draw(b, 3) == 0;
    const xpu_desc_tensor *order[CROSSED] = {&first, &second, &first, &first, &second};
    for (unsigned i = 0; i < CROSSED; i++) {
        xpu_desc_tensor d = *order[i];
        if (i == 2 || i == 4) d.channels = 0, d.accumulate = d.drain = 1;
        if (i == 3) d.drain = 1, d.accumulate = draw(b, 2);
        xpu_desc_post post = {.post_mode = d.post_mode, .columns = d.columns, .oh = d.oh, .ow = d.ow};
        if (d.drain) draw_drain(b, &d, &post, index + i);
        pack_tensor(words + (size_t)i * XPU_DESC_WORDS, &d, &post);
    }
}

static void one_post(bench *b, uint32_t *words, unsigned index) {
    xpu_desc_post d = {ALONE};
    uint32_t small = SMALL_AT + SMALL_BYTES * index;
    d.post_mode = draw(b, 2), d.op = d.post_mode == XPU_POST_QUANTISED ? draw(b, 3) : draw(b, 2) * XPU_POST_MUL;
    d.columns = draw(b, 4) ? 1 + draw(b, 60) : 1 + draw(b, 250);
    d.oh = 1 + draw(b, 4), d.ow = 1 + draw(b, 6);
    if (draw(b, 8) == 0) d.columns = 1 + draw(b, 1000), d.oh = 1 + draw(b, 2), d.ow = 1 + draw(b, 2);
    do draw_post(b, &d, index);
    while (d.op != XPU_POST_SCALE && !d.branch);
    d.x_type = d.post_mode == XPU_POST_FLOAT ? draw(b, 5) : draw(b, d.op == XPU_POST_SCALE ? 4 : 2);
    d.absmax = (d.x_type == XPU_TYPE_I8 || d.x_type == XPU_TYPE_I16) && draw(b, 2) ? small + ABSMAX : 0;
    unsigned xb = type_size[d.x_type];
    d.x = X_AT + xb * draw(b, 256) + draw_strides(b, &d, xb, 1, &d.x_pixel_stride, &d.x_row_stride);
    draw_small(b, small, d.post_mode == XPU_POST_QUANTISED, d.x_type == XPU_TYPE_I32 ? 1e-7f : 1.0f);
    xpu_desc_post_pack(words, &d);
}

static void describe(const uint32_t *words, unsigned i) {
    xpu_desc_tensor d;
    xpu_desc_post p;
    xpu_desc_tensor_unpack(words, &d);
    xpu_desc_post_unpack(words, &p);
    if (d.opcode == XPU_OPCODE_TENSOR)
        printf("  %u: tensor mode %u k %ux%ux%u stride %u,%u dilation %u,%u pad %d,%d out %ux%ux%u tile %ux%u x %llx "
               "strides %d,%d w %llx stride %u bank %u accumulate %u drain %u start %llx post_mode %u y %llx type %u "
               "branch %llx act %u\n",
               i, d.mode, d.kh, d.kw, d.channels, d.stride_h, d.stride_w, d.dilation_h, d.dilation_w, d.pad_top,
               d.pad_left, d.oh, d.ow, d.columns, d.tile_rows, d.tile_cols, (unsigned long long)d.x, d.x_row_stride,
               d.x_pixel_stride, (unsigned long long)d.w, d.w_row_stride, d.bank, d.accumulate, d.drain,
               (unsigned long long)d.start, d.post_mode, (unsigned long long)d.y, d.y_type,
               (unsigned long long)d.branch, d.activation);
    else
        printf(
            "  %u: post op %u mode %u out %ux%ux%u x type %u y type %u branch %llx type %u act %u after %u bias %llx "
            "scale %llx findmax %llx absmax %llx lookup %llx\n",
            i, p.op, p.post_mode, p.oh, p.ow, p.columns, p.x_type, p.y_type, (unsigned long long)p.branch,
            p.branch_type, p.activation, p.act_after, (unsigned long long)p.bias, (unsigned long long)p.scale,
            (unsigned long long)p.findmax, (unsigned long long)p.absmax, (unsigned long long)p.lookup);
}

/* Operands, and a list of random descriptors; returns how many. */
static unsigned draw_list(bench *b, uint32_t *words) {
    unsigned count = 0, wanted = 1 + draw(b, LIST);
    scribble(b, X_AT, X_BYTES);
    scribble(b, W_AT, W_BYTES);
    scribble(b, BRANCH_AT, BRANCH_BYTES);
    while (count < wanted)
        if (wanted - count >= CROSSED && draw(b, 4) == 0)
            crossed_tensors(b, words + (size_t)count * XPU_DESC_WORDS, count), count += CROSSED;
        else if (draw(b, 3))
            count += one_tensor(b, words + (size_t)count * XPU_DESC_WORDS, count, wanted - count);
        else
            one_post(b, words + (size_t)count * XPU_DESC_WORDS, count), count++;
    copy_memory(b);
    return count;
}

/* A list of random descriptors; a third of all lists run without back-pressure. */
static void one_list(bench *b, uint32_t seed) {
    uint32_t words[LIST * XPU_DESC_WORDS];
    unsigned count = draw_list(b, words);
    if (func_runs(b, words, count, seed)) compare_list(b, words, count, seed, seed % 3 ? seed : 0);
}

/* The same list under twenty timings. */
static void timings(bench *b, uint32_t seed) {
    uint32_t words[LIST * XPU_DESC_WORDS];
    static uint8_t sm[RTL_SM_BYTES], l3[RTL_L3_BYTES];
    b->random = seed;
    unsigned count = draw_list(b, words);
    memcpy(sm, host(b, XPU_SM_BASE), sizeof sm);
    memcpy(l3, host(b, XPU_L3_BASE), sizeof l3);
    if (!func_runs(b, words, count, seed)) return;
    for (uint32_t timing = 0; timing < 20; timing++) {
        memcpy(rtl_memory(b->rtl, XPU_SM_BASE), sm, sizeof sm);
        memcpy(rtl_memory(b->rtl, XPU_L3_BASE), l3, sizeof l3);
        compare_list(b, words, count, seed, timing);
    }
}

/* A drain without a product (D) that waits for three products (A, B, C), the last of which takes long. A drains and is
 * done, B is computed, so two more products (E, F) come in behind D while C goes on: they take the fourth place and
 * A's. D must not wait for F, which is in the place of A and behind D. */
static void places_taken_again(bench *b) {
    enum { COUNT = 6, SIDE = 8 };
    const xpu_desc_tensor one = {ONE_TAP,
                                 .channels = 8,
                                 .columns = CHIP_COLUMNS,
                                 .tile_rows = 1,
                                 .tile_cols = 1,
                                 .oh = 1,
                                 .ow = 1,
                                 .x_pixel_stride = 8,
                                 .x_row_stride = 8,
                                 .w_row_stride = CHIP_COLUMNS,
                                 .drain = 1,
                                 .post_mode = XPU_POST_FLOAT,
                                 .x = X_AT,
                                 .w = W_AT};
    xpu_desc_tensor d[COUNT];
    uint32_t words[COUNT * XPU_DESC_WORDS];
    for (unsigned i = 0; i < COUNT; i++) d[i] = one;
    for (unsigned i = 1; i <= 3; i++)
        d[i].bank = 1, d[i].oh = d[i].ow = SIDE, d[i].accumulate = i > 1, d[i].drain = i > 2;
    d[2].channels = 16 * CHIP_ROWS, d[2].tile_rows = d[2].tile_cols = SIDE;
    d[2].x_pixel_stride = (int32_t)d[2].channels, d[2].x_row_stride = SIDE * d[2].x_pixel_stride;
    d[3].channels = 0;
    for (uint32_t timing = 0; timing < 20 && b->failed < 3; timing++) {
        b->random = timing;
        scribble(b, X_AT, X_BYTES);
        scribble(b, W_AT, W_BYTES);
        for (unsigned i = 0; i < COUNT; i++) {
            xpu_desc_post p = {.params = SMALL_AT, .y = Y_AT + Y_BYTES * i, .y_type = XPU_TYPE_F32};
            p.y_pixel_stride = 4 * (int32_t)CHIP_COLUMNS, p.y_row_stride = SIDE * p.y_pixel_stride;
            pack_tensor(words + (size_t)i * XPU_DESC_WORDS, &d[i], &p);
        }
        draw_small(b, SMALL_AT, 0, 1e-4f);
        copy_memory(b);
        if (func_runs(b, words, COUNT, timing)) compare_list(b, words, COUNT, timing, timing);
    }
}

/* A product and more drains without one of its bank than any ring holds: each waits for the one before it. */
static void drains_in_a_row(bench *b) {
    enum { COUNT = 13, SIDE = 8, BYTES = 0x4000 };
    xpu_desc_tensor d = {ONE_TAP,
                         .channels = 8,
                         .columns = CHIP_COLUMNS,
                         .tile_rows = SIDE,
                         .tile_cols = SIDE,
                         .oh = SIDE,
                         .ow = SIDE,
                         .x_pixel_stride = 8,
                         .x_row_stride = 8 * SIDE,
                         .w_row_stride = CHIP_COLUMNS,
                         .post_mode = XPU_POST_FLOAT,
                         .x = X_AT,
                         .w = W_AT};
    uint32_t words[COUNT * XPU_DESC_WORDS];
    for (uint32_t timing = 0; timing < 20 && b->failed < 3; timing++) {
        b->random = timing;
        scribble(b, X_AT, X_BYTES);
        scribble(b, W_AT, W_BYTES);
        for (unsigned i = 0; i < COUNT; i++) {
            xpu_desc_post p = {.params = SMALL_AT, .y = Y_AT + BYTES * i, .y_type = XPU_TYPE_F32};
            p.y_pixel_stride = 4 * (int32_t)CHIP_COLUMNS, p.y_row_stride = SIDE * p.y_pixel_stride;
            d.channels = i ? 0 : 8, d.accumulate = d.drain = i > 0;
            pack_tensor(words + (size_t)i * XPU_DESC_WORDS, &d, &p);
        }
        draw_small(b, SMALL_AT, 0, 1e-4f);
        copy_memory(b);
        if (func_runs(b, words, COUNT, timing)) compare_list(b, words, COUNT, timing, timing);
    }
}

/* ---- Faults ---- */

typedef struct {
    const char *kind, *field;
    uint64_t value;
    int clips; /* the rest of it clips last */
} illegal;

static const illegal illegals[] = {
    {"tensor", "mode", 3},
    {"tensor", "kh", 0},
    {"tensor", "channels", 0},
    {"tensor", "stride_h", 0},
    {"tensor", "dilation_w", 0},
    {"tensor", "tile_cols", 0},
    {"tensor", "columns", 0},
    {"tensor", "columns", CHIP_COLUMNS + 1},
    {"tensor", "oh", CHIP_ACC_ROWS},
    {"tensor", "ow", 0},
    {"tensor", "bank", CHIP_BANKS},
    {"tensor", "x_zero", 128},
    {"tensor", "w_zero", 0x17f},
    {"tensor", "w_row_stride", 1},
    {"tensor", "y_type", 3},
    {"tensor", "lookup", SMALL_AT + TABLE},
    {"tensor", "activation", 3},
    {"tensor", "x", XPU_GM_BASE},
    {"tensor", "w", 0},
    {"tensor", "y", XPU_L3_BASE},
    {"tensor", "y", Y_AT + 2},
    {"tensor", "x_row_stride", 1 << 20},
    {"tensor", "tile_rows", 65535},
    {"tensor", "bias", SMALL_AT + BIAS + 2},
    {"tensor", "opcode", 3},
    {"post", "op", 3},
    {"post", "op", 1},
    {"post", "op", 2},
    {"post", "x_type", 7},
    {"post", "absmax", SMALL_AT + ABSMAX},
    {"post", "post_mode", 0},
    {"post", "x", XPU_SM_BASE + RTL_SM_BYTES - 8},
    {"post", "y_pixel_stride", 6},
    {"tensor", "layer", 7},
    {"post", "layer", 7},
    {"tensor", "params", NOWHERE},
    {"tensor", "scale", NOWHERE},
    {"tensor", "bias", NOWHERE},
    {"tensor", "absmax", NOWHERE},
    {"tensor", "findmax", NOWHERE},
    {"tensor", "bias", XPU_L3_BASE + RTL_L3_BYTES - 8},
    {"post", "params", XPU_SM_BASE + RTL_SM_BYTES - 32},
    {"post", "scale", NOWHERE},
    {"post", "findmax", NOWHERE},
    {"tensor", "clip_last", 1},
    {"tensor", "y_type", XPU_TYPE_I16, 1},
    {"post", "y_type", XPU_TYPE_I8, 1},
    {"post", "activation", XPU_ACT_HARD_SWISH, 1},
    {"post", "post_mode", XPU_POST_QUANTISED, 1},
};

/* A legal descriptor, but for one field: the same fault in both engines, or none. */
static void one_fault(bench *b, const illegal *c) {
    const xpu_desc_tensor d = {SMALL_TENSOR, .x = X_AT, .w = W_AT};
    const xpu_desc_post p = {ALONE,
                             .x = X_AT,
                             .y = Y_AT,
                             .params = SMALL_AT,
                             .post_mode = XPU_POST_FLOAT,
                             .clip_last = (uint32_t)c->clips,
                             .x_type = XPU_TYPE_F32,
                             .y_type = XPU_TYPE_F32,
                             .columns = 4,
                             .oh = 2,
                             .ow = 2,
                             .x_pixel_stride = 16,
                             .x_row_stride = 32,
                             .y_pixel_stride = 16,
                             .y_row_stride = 32};
    uint32_t words[XPU_DESC_WORDS];
    if (strcmp(c->kind, "tensor") == 0)
        pack_tensor(words, &d, &p);
    else
        xpu_desc_post_pack(words, &p);
    compare_fault(b, words, c->kind, c->field, c->value);
}

/* ---- ResNet-50 layer3.1, and layers that need the packing of taps or take several steps per row ---- */

typedef struct {
    const char *name;
    uint32_t channels, kernel, out, residual, stride, extent, mode;
} layer;

static const layer layers[] = {
    {"layer3.1 conv1 1x1 1024 to 256", 1024, 1, 256, 0, 1, 14, XPU_OPERANDS_8X8},
    {"layer3.1 conv2 3x3 256 to 256", 256, 3, 256, 0, 1, 14, XPU_OPERANDS_8X8},
    {"layer3.1 conv3 1x1 256 to 1024, residual", 256, 1, 1024, 1, 1, 14, XPU_OPERANDS_8X8},
    {"7x7 3 to 64, stride 2", 3, 7, 64, 0, 2, 32, XPU_OPERANDS_8X8},
    {"3x3 3 to 32, stride 2", 3, 3, 32, 0, 2, 32, XPU_OPERANDS_8X8},
    {"1x1 16 to 96", 16, 1, 96, 0, 1, 28, XPU_OPERANDS_8X8},
    {"3x3 64 to 64, 16x8", 64, 3, 64, 0, 1, 14, XPU_OPERANDS_16X8},
    {"3x3 64 to 64, 16x16", 64, 3, 64, 0, 1, 14, XPU_OPERANDS_16X16},
};
enum { MEASURED = 3, LAYER_X = 0x20001000, LAYER_W = 0x20034000, LAYER_Y = 0x20050000, LAYER_BRANCH = 0x20090000 };

/* All column tiles of a layer, as many rows per tile as the accumulators take; every tile has the same input. Returns
 * the number of descriptors, and in *steps the steps of the array. */
static unsigned cut(const layer *l, uint32_t *words, uint64_t *steps) {
    static const uint32_t per_row[] = {1, 2, 4};
    unsigned count = 0, xb = l->mode ? 2 : 1, wb = l->mode == XPU_OPERANDS_16X16 ? 2 : 1;
    uint32_t most = CHIP_ACC_ROWS / l->extent, depth = l->channels * l->kernel * l->kernel;
    *steps = 0;
    for (uint32_t top = 0; top < l->extent; top += most)
        for (uint32_t column = 0; column < l->out; column += CHIP_COLUMNS, count++) {
            uint32_t rows = l->extent - top < most ? l->extent - top : most, halo = l->kernel / 2;
            xpu_desc_tensor d = {.kh = l->kernel, .kw = l->kernel, .channels = l->channels, .mode = l->mode};
            xpu_desc_post p = {.params = SMALL_AT, .scale = SMALL_AT + SCALE, .y_type = XPU_TYPE_I8};
            d.columns = l->out - column < CHIP_COLUMNS ? l->out - column : CHIP_COLUMNS;
            d.stride_h = d.stride_w = l->stride, d.dilation_h = d.dilation_w = 1;
            d.pad_top = d.pad_left = (int32_t)halo;
            d.oh = rows, d.ow = l->extent, d.tile_rows = (rows - 1) * l->stride + halo + 1;
            d.tile_cols = l->extent * l->stride;
            d.x = LAYER_X, d.x_pixel_stride = (int32_t)(l->channels * xb);
            d.x_row_stride = (int32_t)d.tile_cols * d.x_pixel_stride;
            d.w = LAYER_W, d.w_row_stride = CHIP_COLUMNS * wb, d.start = SMALL_AT + START;
            d.bank = count % CHIP_BANKS, d.drain = 1, d.x_zero = l->mode ? 0 : 3;
            d.post_mode = l->mode ? XPU_POST_FLOAT : XPU_POST_QUANTISED;
            p.y = LAYER_Y + top * l->extent * l->out + column;
            p.y_pixel_stride = (int32_t)l->out, p.y_row_stride = (int32_t)(l->extent * l->out);
            p.branch = l->residual ? LAYER_BRANCH + (uint32_t)(p.y - LAYER_Y) : 0;
            p.branch_pixel_stride = p.y_pixel_stride, p.branch_row_stride = p.y_row_stride;
            pack_tensor(words + (size_t)count * XPU_DESC_WORDS, &d, &p);
            *steps += (uint64_t)rows * l->extent * ((depth + CHIP_ROWS - 1) / CHIP_ROWS) * per_row[l->mode];
        }
    return count;
}

/* The measured layers must keep a large array busy; all results equal the functional engine's. Returns ns per cycle of
 * the measured ones. */
static double run_layers(bench *b, uint32_t *words) {
    uint64_t cycles = 0, busy = 0;
    double ns = 0;
    scribble(b, XPU_SM_BASE + 0x1000, RTL_SM_BYTES - 0x1000);
    draw_small(b, SMALL_AT, 1, 1e-4f);
    copy_memory(b);
    for (size_t i = 0; i < sizeof layers / sizeof *layers; i++) {
        uint64_t steps;
        uint32_t where = 0;
        unsigned count = cut(&layers[i], words, &steps);
        int cause = func_run(b, words, count);
        rtl_result r = rtl_run(b->rtl, words, count, 0);
        unsigned wrong = differences(b, XPU_SM_BASE, RTL_SM_BYTES, &where);
        double share = (double)r.states[XPU_LOST_BUSY] / (double)r.cycles;
        printf("%-41s %3u tiles %8llu cycles (%llu steps), busy %5.1f %%, %.0f ns per cycle; lost:", layers[i].name,
               count, (unsigned long long)r.cycles, (unsigned long long)steps, 100.0 * share, r.ns / (double)r.cycles);
        for (unsigned s = 1; s < RTL_STATES; s++)
            if (r.states[s]) printf(" %s %llu", xpu_lost_text((xpu_lost_cause)s), (unsigned long long)r.states[s]);
        printf("%s\n", wrong ? "; results differ" : cause || r.fault || r.hung ? "; fault" : "");
        if (cause || r.fault || r.hung || wrong || (i < MEASURED && CHIP_ROWS >= 32 && share < 0.85))
            b->failed++;
        else
            b->passed++;
        if (i < MEASURED) cycles += r.cycles, busy += r.states[XPU_LOST_BUSY], ns += r.ns;
    }
    printf("layer3.1: %llu cycles, busy %.1f %%\n", (unsigned long long)cycles, 100.0 * (double)busy / (double)cycles);
    return ns / (double)cycles;
}

int main(int argc, char **argv) {
    static uint32_t words[256 * XPU_DESC_WORDS];
    unsigned lists = argc > 1 ? (unsigned)strtoul(argv[1], NULL, 0) : 300;
    uint32_t seed = argc > 2 ? (uint32_t)strtoul(argv[2], NULL, 0) : 1;
    xpu_diags diags;
    bench b;
    if (!bench_open(&b, &chip, XPU_ENGINE_TENSOR, describe, &diags)) return 1;
    printf("array %ux%u, %u lists from seed %u\n", CHIP_ROWS, CHIP_COLUMNS, lists, seed);
    drains_in_a_row(&b);
    for (unsigned i = 0; i < lists && b.failed < 3; i++) {
        b.random = seed + i;
        one_list(&b, seed + i);
    }
    for (unsigned i = 0; i < 10 && b.failed < 3; i++) timings(&b, seed + i);
    places_taken_again(&b);
    b.random = seed;
    draw_small(&b, SMALL_AT, 0, 1.0f);
    copy_memory(&b);
    for (size_t i = 0; i < sizeof illegals / sizeof *illegals; i++) one_fault(&b, &illegals[i]);
    double bare = bare_ns_per_cycle(200000), busy = run_layers(&b, words), asleep = rtl_asleep(b.rtl, 3000000);
    printf("host time per cycle: busy %.0f ns, asleep %.1f ns, bare 32x32 array %.0f ns; ratio %.2f\n", busy, asleep,
           bare, busy / bare);
    return bench_close(&b, &diags);
}
