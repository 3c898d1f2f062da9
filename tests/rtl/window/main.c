/*
 * The window engine's RTL against the functional engine: lists of random descriptors in all modes, under random
 * back-pressure; descriptors with illegal fields; then layers of MobileNetV2 and pooling with their cycles, and host
 * time per cycle beside the bare array's. window [lists [first seed]]
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "core/arith.h"
#include "sim/func/func.h"
#include "tests/gen/descriptors.h"
#include "tests/gen/small_chip.h"
#include "tests/rtl/bare/bare.h"
#include "tests/rtl/tensor/bench.h"

static const xpu_chip chip = {SMALL_CHIP,
                              .array_rows = 8,
                              .array_columns = 8,
                              .acc_banks = 2,
                              .acc_rows = 128,
                              .weight_rows = 1,
                              .post_lanes = 8,
                              .window_channels = CHIP_CHANNELS,
                              .window_lines = CHIP_LINES,
                              .window_line_bytes = CHIP_LINE_BYTES,
                              .cores = 1,
                              .lm_bytes = 16384,
                              .sm_bytes = RTL_SM_BYTES,
                              .l3_bytes = RTL_L3_BYTES,
                              .gm_bytes = 1 << 20};

/* ---- Random descriptors ---- */

/* Geometry: mostly small kernels; now and then rows wider than a line buffer, or taps far apart. */
static void draw_sizes(bench *b, xpu_desc_window *d) {
    uint32_t largest = draw(b, 3) ? 3 : 7, far = draw(b, 6) ? 3 : 20;
    d->kh = 1 + draw(b, largest), d->kw = 1 + draw(b, largest);
    d->stride_h = draw(b, 8) ? 1 + draw(b, 2) : 1 + draw(b, 9);
    d->stride_w = draw(b, 8) ? 1 + draw(b, 2) : 1 + draw(b, 9);
    d->dilation_h = draw(b, 2) ? 1 : 1 + draw(b, far), d->dilation_w = draw(b, 2) ? 1 : 1 + draw(b, far);
    d->pad_top = draw_between(b, -2, 4), d->pad_left = draw_between(b, -2, 4);
    d->oh = 1 + draw(b, 8), d->ow = draw(b, 6) ? 1 + draw(b, 16) : 1 + draw(b, 160);
    d->tile_rows = draw(b, 16);
    d->tile_cols = draw(b, 4) ? d->ow * d->stride_w + draw(b, 4) : draw(b, 30);
    d->columns = draw(b, 3) == 0 ? CHIP_CHANNELS : 1 + draw(b, draw(b, 4) ? CHIP_CHANNELS : 3 * CHIP_CHANNELS);
    if (d->op != XPU_WINDOW_CONVOLUTION && draw(b, 4) == 0) d->whole = 1, d->oh = 1, d->ow = 1;
}

/* x: a box or a ring of rows. Returns whether it fits. */
static int place_x(bench *b, xpu_desc_window *d, unsigned bytes) {
    uint32_t rows = d->tile_rows;
    if (rows && draw(b, 3) == 0) {
        d->x_ring_rows = rows += draw(b, 5);
        d->x_ring_first = draw(b, rows);
    }
    d->x_pixel_stride = (int32_t)((d->columns + (draw(b, 2) ? 0 : draw(b, 5))) * bytes);
    d->x_row_stride = (int32_t)(d->tile_cols * (uint32_t)d->x_pixel_stride + draw(b, 3) * bytes);
    d->x = X_AT + 64 + (draw(b, 2) ? 0 : bytes * draw(b, 64));
    if (draw(b, 8) == 0) { /* upside down */
        d->x += (uint64_t)(uint32_t)d->x_row_stride * rows;
        d->x_row_stride = -d->x_row_stride;
    }
    return (uint64_t)(uint32_t)abs(d->x_row_stride) * (rows + 1) < X_BYTES - 0x200;
}

static void draw_window(bench *b, xpu_desc_window *d) {
    unsigned bytes;
    do {
        memset(d, 0, sizeof *d);
        d->op = draw(b, 2) ? XPU_WINDOW_CONVOLUTION : draw(b, 3);
        d->mode = draw(b, 2) ? XPU_OPERANDS_8X8 : draw(b, d->op == XPU_WINDOW_CONVOLUTION ? 3 : 2);
        bytes = d->mode ? 2 : 1;
        draw_sizes(b, d);
    } while (!place_x(b, d, bytes) || d->oh * d->ow * d->columns > (Y_BYTES - 64) / 8);
    unsigned w_bytes = d->mode == XPU_OPERANDS_16X16 ? 2 : 1;
    d->w = W_AT + w_bytes * draw(b, 64);
    d->w_row_stride = (d->columns + (draw(b, 2) ? 0 : draw(b, 3))) * w_bytes;
    if (d->mode == XPU_OPERANDS_8X8) {
        d->x_unsigned = draw(b, 2), d->w_unsigned = draw(b, 2);
        d->x_zero = draw_between(b, d->x_unsigned ? 0 : -128, d->x_unsigned ? 255 : 127);
        d->w_zero = draw_between(b, d->w_unsigned ? 0 : -128, d->w_unsigned ? 255 : 127);
    }
    d->drain = d->mode != XPU_OPERANDS_8X8 || draw(b, 8) != 0;
    d->post_mode = d->mode == XPU_OPERANDS_8X8 ? draw(b, 2) : XPU_POST_FLOAT;
}

static void one_window(bench *b, uint32_t *words, unsigned index) {
    uint32_t small = SMALL_AT + SMALL_BYTES * index;
    xpu_desc_window d;
    draw_window(b, &d);
    xpu_desc_post p = {.post_mode = d.post_mode, .columns = d.columns, .oh = d.oh, .ow = d.ow};
    draw_post(b, &p, index);
    draw_small(b, small, d.post_mode == XPU_POST_QUANTISED, d.mode ? 1e-7f : 1e-3f);
    TAKE_POST(d, p);
    d.absmax = draw(b, 2) ? small + ABSMAX : 0;
    if (!d.drain) {
        d.y = Y_AT + Y_BYTES * index + 4 * draw(b, 20), d.y_type = XPU_TYPE_I32;
        d.y_pixel_stride = (int32_t)(d.columns * 4), d.y_row_stride = (int32_t)(d.ow * d.columns * 4);
    }
    if (d.op != XPU_WINDOW_MAX && draw(b, 2)) {
        d.accumulate = d.mode == XPU_OPERANDS_8X8 && draw(b, 2);
        d.start = d.accumulate ? BRANCH_AT + 4 * draw(b, 64) : small + START;
    }
    xpu_desc_window_pack(words, &d);
    xpu_desc_window_set_wait0(words, XPU_NO_COUNTER);
    xpu_desc_window_set_wait1(words, XPU_NO_COUNTER);
    xpu_desc_window_set_signal(words, XPU_NO_COUNTER);
}

static void describe(const uint32_t *words, unsigned i) {
    xpu_desc_window d;
    xpu_desc_window_unpack(words, &d);
    printf(
        "  %u: op %u mode %u k %ux%u stride %u,%u dilation %u,%u pad %d,%d out %ux%ux%u tile %ux%u ring %u,%u whole %u "
        "x %llx strides %d,%d w %llx stride %u start %llx accumulate %u drain %u post_mode %u y %llx type %u branch "
        "%llx\n",
        i, d.op, d.mode, d.kh, d.kw, d.stride_h, d.stride_w, d.dilation_h, d.dilation_w, d.pad_top, d.pad_left, d.oh,
        d.ow, d.columns, d.tile_rows, d.tile_cols, d.x_ring_rows, d.x_ring_first, d.whole, (unsigned long long)d.x,
        d.x_row_stride, d.x_pixel_stride, (unsigned long long)d.w, d.w_row_stride, (unsigned long long)d.start,
        d.accumulate, d.drain, d.post_mode, (unsigned long long)d.y, d.y_type, (unsigned long long)d.branch);
}

/* Operands, and a list of random descriptors; returns how many. */
static unsigned draw_list(bench *b, uint32_t *words) {
    unsigned count = 1 + draw(b, LIST);
    scribble(b, X_AT, X_BYTES);
    scribble(b, W_AT, W_BYTES);
    scribble(b, BRANCH_AT, BRANCH_BYTES);
    for (unsigned i = 0; i < count; i++) one_window(b, words + (size_t)i * XPU_DESC_WORDS, i);
    copy_memory(b);
    return count;
}

/* A list of random descriptors; a third of all lists run without back-pressure. */
static void one_list(bench *b, uint32_t seed) {
    uint32_t words[LIST * XPU_DESC_WORDS];
    unsigned count = draw_list(b, words);
    if (func_runs(b, words, count, seed)) compare_list(b, words, count, seed, seed % 3 ? seed : 0);
}

/* ---- Faults ---- */

typedef struct {
    const char *field;
    uint64_t value;
} illegal;

static const illegal illegals[] = {
    {"op", 3},
    {"mode", 3},
    {"mode", 1},
    {"kh", 0},
    {"kw", 8},
    {"stride_h", 0},
    {"stride_w", 0},
    {"dilation_h", 0},
    {"dilation_w", 0},
    {"whole", 1},
    {"columns", 0},
    {"oh", 0},
    {"ow", 0},
    {"x_zero", 128},
    {"w_zero", 0x17f},
    {"w_row_stride", 1},
    {"y_type", 3},
    {"drain", 0},
    {"accumulate", 1},
    {"x_ring_first", 1},
    {"x_ring_rows", 1},
    {"tile_rows", 65535},
    {"tile_cols", 0},
    {"lookup", SMALL_AT + TABLE},
    {"activation", 3},
    {"x", XPU_GM_BASE},
    {"w", 0},
    {"y", XPU_L3_BASE},
    {"y", Y_AT + 2},
    {"x_row_stride", 1 << 20},
    {"bias", SMALL_AT + BIAS + 2},
    {"start", SMALL_AT + START + 2},
    {"start", NOWHERE},
    {"params", NOWHERE},
    {"scale", NOWHERE},
    {"bias", XPU_L3_BASE + RTL_L3_BYTES - 8},
    {"findmax", NOWHERE},
    {"opcode", 8},
    {"layer", 7},
};

/* A legal descriptor, but for one field: the same fault in both engines, or none. */
static void one_fault(bench *b, const illegal *c) {
    const xpu_desc_window d = {ONE_TAP,
                               ALONE,
                               .columns = 8,
                               .tile_rows = 2,
                               .tile_cols = 2,
                               .oh = 2,
                               .ow = 2,
                               .w_row_stride = 8,
                               .x_pixel_stride = 8,
                               .x_row_stride = 16,
                               .drain = 1,
                               .post_mode = XPU_POST_FLOAT,
                               .x = X_AT,
                               .w = W_AT,
                               .y = Y_AT,
                               .y_type = XPU_TYPE_F32,
                               .y_pixel_stride = 32,
                               .y_row_stride = 64,
                               .params = SMALL_AT};
    uint32_t words[XPU_DESC_WORDS];
    xpu_desc_window_pack(words, &d);
    compare_fault(b, words, "window", c->field, c->value);
}

/* ---- Layers ---- */

typedef struct {
    const char *name;
    uint32_t op, mode, kernel, stride, extent, channels; /* extent: of the input */
    uint32_t cycles;                                     /* at most, with 32 channels */
} layer;

enum { CONV = XPU_WINDOW_CONVOLUTION, MAX = XPU_WINDOW_MAX, SUM = XPU_WINDOW_SUM };

/* Planes of 32 channels. */
static const layer layers[] = {
    {"3x3, 112x112x32", CONV, XPU_OPERANDS_8X8, 3, 1, 112, 32, 0},
    {"3x3 stride 2, 112x112x32", CONV, XPU_OPERANDS_8X8, 3, 2, 112, 32, 0},
    {"3x3, 56x56x144", CONV, XPU_OPERANDS_8X8, 3, 1, 56, 144, 0},
    {"3x3, 14x14x384", CONV, XPU_OPERANDS_8X8, 3, 1, 14, 384, 0},
    {"3x3, 7x7x960", CONV, XPU_OPERANDS_8X8, 3, 1, 7, 960, 0},
    {"5x5, 28x28x64", CONV, XPU_OPERANDS_8X8, 5, 1, 28, 64, 0},
    {"7x7, 28x28x64", CONV, XPU_OPERANDS_8X8, 7, 1, 28, 64, 0},
    {"3x3 16x8, 56x56x32", CONV, XPU_OPERANDS_16X8, 3, 1, 56, 32, 0},
    {"3x3 16x16, 56x56x32", CONV, XPU_OPERANDS_16X16, 3, 1, 56, 32, 0},
    {"max 3x3 stride 2, 112x112x32", MAX, XPU_OPERANDS_8X8, 3, 2, 112, 32, 0},
    {"sum of 7x7x960", SUM, XPU_OPERANDS_8X8, 0, 1, 7, 960, 0},
};
enum { LAYER_X = 0x20001000, LAYER_W = 0x200d0000, LAYER_Y = 0x20070000 };

/* A descriptor for each plane of 32 channels; all have the same input. */
static unsigned cut(const layer *l, uint32_t *words, int post) {
    unsigned count = 0, bytes = l->mode ? 2 : 1, wide = l->mode == XPU_OPERANDS_16X16;
    uint32_t group = CHIP_CHANNELS;
    for (uint32_t at = 0; at < l->channels; at += group, count++) {
        xpu_desc_window d = {ALONE, .op = l->op, .mode = l->mode, .kh = l->kernel, .kw = l->kernel};
        d.columns = l->channels - at < group ? l->channels - at : group;
        d.stride_h = d.stride_w = l->stride, d.dilation_h = d.dilation_w = 1;
        d.pad_top = d.pad_left = (int32_t)l->kernel / 2;
        d.whole = l->kernel == 0;
        d.oh = d.ow = d.whole ? 1 : l->extent / l->stride;
        d.tile_rows = d.tile_cols = l->extent;
        d.x = LAYER_X, d.x_pixel_stride = (int32_t)(group * bytes),
        d.x_row_stride = (int32_t)l->extent * d.x_pixel_stride;
        d.w = LAYER_W, d.w_row_stride = group << wide, d.start = l->op == MAX ? 0 : SMALL_AT + START;
        d.drain = 1, d.post_mode = l->mode ? XPU_POST_FLOAT : XPU_POST_QUANTISED;
        d.x_zero = l->mode ? 0 : 3, d.y_type = XPU_TYPE_I8, d.params = SMALL_AT, d.scale = SMALL_AT + SCALE;
        d.y = LAYER_Y, d.y_pixel_stride = (int32_t)group, d.y_row_stride = (int32_t)(d.ow * group);
        if (!post) {
            d.drain = 0, d.y_type = XPU_TYPE_I32;
            d.y_pixel_stride = d.y_row_stride = 0;
        }
        xpu_desc_window_pack(words + (size_t)count * XPU_DESC_WORDS, &d);
    }
    return count;
}

/* All results equal the functional engine's, where there is a post-processor. Returns ns per cycle of the first one. */
static double run_layers(bench *b, uint32_t *words) {
    double ns = 0;
    scribble(b, XPU_SM_BASE + 0x1000, RTL_SM_BYTES - 0x1000);
    draw_small(b, SMALL_AT, 1, 1e-3f);
    copy_memory(b);
    for (size_t i = 0; i < sizeof layers / sizeof *layers; i++) {
        uint32_t where = 0;
        unsigned count = cut(&layers[i], words, 1);
        int cause = func_run(b, words, count);
        rtl_result r = rtl_run(b->rtl, words, count, 0);
        unsigned wrong = CHIP_HAS_POST && differences(b, XPU_SM_BASE, RTL_SM_BYTES, &where);
        double share = (double)r.states[XPU_LOST_BUSY] / (double)r.cycles;
        printf("%-30s %3u groups %7llu cycles, busy %5.1f %%, %.0f ns per cycle; lost:", layers[i].name, count,
               (unsigned long long)r.cycles, 100.0 * share, r.ns / (double)r.cycles);
        for (unsigned s = 1; s < RTL_STATES; s++)
            if (r.states[s]) printf(" %s %llu", xpu_lost_text((xpu_lost_cause)s), (unsigned long long)r.states[s]);
        printf("%s\n", wrong ? "; results differ" : cause || r.fault || r.hung ? "; fault" : "");
        if (cause || r.fault || r.hung || wrong)
            b->failed++;
        else
            b->passed++;
        if (i == 0) ns = r.ns / (double)r.cycles;
    }
    return ns;
}

int main(int argc, char **argv) {
    static uint32_t words[256 * XPU_DESC_WORDS];
    unsigned lists = argc > 1 ? (unsigned)strtoul(argv[1], NULL, 0) : 300;
    uint32_t seed = argc > 2 ? (uint32_t)strtoul(argv[2], NULL, 0) : 1;
    xpu_diags diags;
    bench b;
    if (!bench_open(&b, &chip, XPU_ENGINE_WINDOW, describe, &diags)) return 1;
    if (!CHIP_HAS_POST) lists = 0;
    printf("%u channels, %u lists from seed %u%s\n", CHIP_CHANNELS, lists, seed,
           CHIP_HAS_POST ? "" : ", without post-processor");
    for (unsigned i = 0; i < lists && b.failed < 3; i++) {
        b.random = seed + i;
        one_list(&b, seed + i);
    }
    b.random = seed;
    draw_small(&b, SMALL_AT, 0, 1.0f);
    copy_memory(&b);
    for (size_t i = 0; i < sizeof illegals / sizeof *illegals && CHIP_HAS_POST; i++) one_fault(&b, &illegals[i]);
    double bare = bare_ns_per_cycle(200000), busy = run_layers(&b, words), asleep = rtl_asleep(b.rtl, 3000000);
    printf("host time per cycle: busy %.0f ns, asleep %.1f ns, bare 32x32 array %.0f ns; ratio %.2f\n", busy, asleep,
           bare, busy / bare);
    return bench_close(&b, &diags);
}
