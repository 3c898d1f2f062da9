/* What a descriptor needs at least: cycles of the array and of the drain, bytes of each memory and direction. Made from
 * its words alone. */
#include <stdlib.h>

#include "sim/harness/harness.h"

enum { LM, SM, L3, GM };
enum { FEWEST_LANES = 4 /* of the post-processor, whatever the chip's description says */ };

static unsigned type_bytes(uint32_t type) {
    switch (type) {
#define X(name, code, bytes, doc)                                                                                      \
    case code: return bytes;
        XPU_DESC_TYPES(X)
#undef X
    default: return 0;
    }
}

static int memory_of(uint64_t address) {
    return address >= XPU_GM_BASE ? GM : address >= XPU_L3_BASE ? L3 : address >= XPU_SM_BASE ? SM : LM;
}

/* `moved` bytes, of which `least` cannot be had from a line that is there already. */
static void add_read(xpurt_completion *c, uint64_t address, uint64_t moved, uint64_t least) {
    c->bytes[memory_of(address)] += moved;
    c->read[memory_of(address)] += least;
}

static void add_written(xpurt_completion *c, uint64_t address, uint64_t moved, uint64_t least) {
    c->bytes[memory_of(address)] += moved;
    c->written[memory_of(address)] += least;
}

static uint64_t times_rounded_up(uint64_t a, uint64_t b) {
    return b ? (a + b - 1) / b : 0;
}

/* A box of `count` dimensions of elements of `bytes` bytes. */
typedef struct {
    uint32_t size[4];
    int32_t stride[4];
    unsigned count, bytes;
} box;

static uint64_t elements_of(const box *b) {
    uint64_t elements = 1;
    for (unsigned i = 0; i < b->count; i++) elements *= b->size[i];
    return elements;
}

static int by_stride(const void *a, const void *b) {
    const int64_t *x = a, *y = b;
    return (x[0] > y[0]) - (x[0] < y[0]);
}

/* How many different bytes a box has, at least: each is counted once where strides are 0 or let elements overlap. */
static uint64_t different_bytes(const box *b) {
    int64_t dims[4][2]; /* distance, size; the nearest first */
    uint64_t bytes = b->bytes, reach = b->bytes;
    for (unsigned i = 0; i < b->count; i++) {
        if (b->size[i] == 0) return 0;
        dims[i][0] = llabs((int64_t)b->stride[i]), dims[i][1] = b->size[i];
    }
    qsort(dims, b->count, sizeof dims[0], by_stride);
    for (unsigned i = 0; i < b->count; i++) {
        uint64_t distance = (uint64_t)dims[i][0], more = (uint64_t)dims[i][1] - 1;
        if (distance >= reach)
            bytes *= more + 1;
        else if (bytes == reach) /* dense: so is the whole */
            bytes += distance * more;
        reach += distance * more;
    }
    return bytes;
}

/* Copy, fill and gather: sizes and the destination stand at the same places. A gather may read one place again and
 * again: what it needs for one index counts. */
static void transfer(const uint32_t *words, xpurt_completion *c) {
    xpu_desc_gather d;
    xpu_desc_gather_unpack(words, &d);
    box dst = {{d.size0, d.size1, d.size2, d.size3},
               {d.dst_stride0, d.dst_stride1, d.dst_stride2, d.dst_stride3},
               4,
               type_bytes(d.dst_type)};
    box src = {{d.size0, d.size1, d.size2, d.size3},
               {d.src_stride0, d.src_stride1, d.src_stride2, d.src_stride3},
               4,
               type_bytes(d.src_type)};
    uint64_t count = elements_of(&dst);
    add_written(c, d.dst, count * dst.bytes, different_bytes(&dst));
    if (c->opcode == XPU_OPCODE_FILL || !count) return;
    if (c->opcode == XPU_OPCODE_GATHER) {
        uint64_t indices = 4 * (uint64_t)src.size[d.gather_dim];
        add_read(c, d.index, indices, indices);
        src.size[d.gather_dim] = 1;
    }
    add_read(c, d.src, count * src.bytes, different_bytes(&src));
}

static void post(const xpu_chip *chip, const uint32_t *words, xpurt_completion *c, int from_memory) {
    xpu_desc_post d;
    xpu_desc_post_unpack(words, &d);
    box y = {{d.oh, d.ow, d.columns}, {d.y_row_stride, d.y_pixel_stride, 0}, 3, type_bytes(d.y_type)};
    box branch = {
        {d.oh, d.ow, d.columns}, {d.branch_row_stride, d.branch_pixel_stride, 0}, 3, type_bytes(d.branch_type)};
    box x = {{d.oh, d.ow, d.columns}, {d.x_row_stride, d.x_pixel_stride, 0}, 3, type_bytes(d.x_type)};
    box *dense[] = {&y, &branch, &x};
    for (int i = 0; i < 3; i++) dense[i]->stride[2] = (int32_t)dense[i]->bytes;
    uint64_t pixels = (uint64_t)d.oh * d.ow, elements = elements_of(&y);
    c->drain_cycles =
        pixels * times_rounded_up(d.columns, chip->post_lanes < FEWEST_LANES ? FEWEST_LANES : chip->post_lanes);
    add_written(c, d.y, elements * y.bytes, different_bytes(&y));
    if (d.branch) add_read(c, d.branch, elements * branch.bytes, different_bytes(&branch));
    if (from_memory) add_read(c, d.x, elements * x.bytes, different_bytes(&x));
}

/* How many of `size` rows of a tile the taps of `outputs` outputs see. Two taps see the same row when they are `step`
 * taps and `jump` outputs apart: the first of them counts. */
static uint64_t rows_seen(uint32_t size, uint32_t outputs, uint32_t stride, uint32_t taps, uint32_t dilation,
                          int32_t pad) {
    uint32_t divisor = stride, rest = dilation;
    if (!stride || !dilation) return 0; /* no engine takes it: its list has changed since */
    while (rest) {
        uint32_t next = divisor % rest;
        divisor = rest;
        rest = next;
    }
    uint32_t step = stride / divisor, jump = dilation / divisor;
    uint64_t seen = 0;
    for (uint32_t o = 0; o < outputs; o++)
        for (uint32_t k = 0; k < taps; k++) {
            int64_t row = (int64_t)o * stride + (int64_t)k * dilation - pad;
            seen += row >= 0 && row < size && !(k >= step && o + jump < outputs);
        }
    return seen;
}

static void add_tile(const xpu_desc_tensor *d, xpurt_completion *c) {
    unsigned bytes = d->mode == XPU_OPERANDS_8X8 ? 1 : 2;
    box tile = {
        {d->tile_rows, d->tile_cols, d->channels}, {d->x_row_stride, d->x_pixel_stride, (int32_t)bytes}, 3, bytes};
    uint64_t moved = elements_of(&tile) * bytes;
    uint64_t rows = rows_seen(d->tile_rows, d->oh, d->stride_h, d->kh, d->dilation_h, d->pad_top);
    uint64_t columns = rows ? rows_seen(d->tile_cols, d->ow, d->stride_w, d->kw, d->dilation_w, d->pad_left) : 0;
    uint64_t least = rows * columns * d->channels * bytes;
    if (columns && different_bytes(&tile) != moved) least = (uint64_t)d->channels * bytes; /* one pixel */
    add_read(c, d->x, moved, least);
}

static void multiply(const xpu_chip *chip, const uint32_t *words, xpurt_completion *c) {
    xpu_desc_tensor d;
    xpu_desc_tensor_unpack(words, &d);
    uint64_t pixels = (uint64_t)d.oh * d.ow, depth = (uint64_t)d.kh * d.kw * d.channels;
    uint64_t steps = d.mode == XPU_OPERANDS_16X16 ? 4 : d.mode == XPU_OPERANDS_16X8 ? 2 : 1;
    uint64_t weights = depth * d.columns * (d.mode == XPU_OPERANDS_16X16 ? 2 : 1);
    c->macs = pixels * depth * d.columns;
    c->array_cycles = pixels * times_rounded_up(depth, chip->array_rows) * steps;
    add_read(c, d.w, weights, weights);
    add_tile(&d, c);
    if (d.drain) post(chip, words, c, 0);
}

/* The tile as one of a product of so many channels. The array has no part in it; accumulators leave a group of the
 * engine's channels at a time. */
static void slide(const xpu_chip *chip, const uint32_t *words, xpurt_completion *c) {
    xpu_desc_window d;
    xpu_desc_window_unpack(words, &d);
    const uint32_t kh = d.whole ? d.tile_rows : d.kh, kw = d.whole ? d.tile_cols : d.kw;
    const uint32_t y_bytes = type_bytes(d.y_type), channels = chip->window_channels ? chip->window_channels : 1;
    const uint64_t pixels = (uint64_t)d.oh * d.ow, taps = (uint64_t)kh * kw;
    const uint64_t weights = taps * d.columns * (d.mode == XPU_OPERANDS_16X16 ? 2 : 1);
    const xpu_desc_tensor tile = {.x = d.x,
                                  .mode = d.mode,
                                  .channels = d.columns,
                                  .tile_rows = d.tile_rows,
                                  .tile_cols = d.tile_cols,
                                  .x_row_stride = d.x_row_stride,
                                  .x_pixel_stride = d.x_pixel_stride,
                                  .oh = d.oh,
                                  .ow = d.ow,
                                  .kh = kh,
                                  .kw = kw,
                                  .stride_h = d.whole ? 1 : d.stride_h,
                                  .stride_w = d.whole ? 1 : d.stride_w,
                                  .dilation_h = d.whole ? 1 : d.dilation_h,
                                  .dilation_w = d.whole ? 1 : d.dilation_w,
                                  .pad_top = d.whole ? 0 : d.pad_top,
                                  .pad_left = d.whole ? 0 : d.pad_left};
    c->macs = pixels * taps * d.columns;
    if (d.op == XPU_WINDOW_CONVOLUTION) add_read(c, d.w, weights, weights);
    add_tile(&tile, c);
    if (d.drain) post(chip, words, c, 0);
    if (!d.drain) add_written(c, d.y, pixels * d.columns * y_bytes, pixels * d.columns * y_bytes);
    c->drain_cycles = pixels * times_rounded_up(d.columns, channels);
}

void xpu_rtl_bounds(const xpu_chip *chip, const uint32_t *words, xpurt_completion *completion) {
    switch (completion->opcode) {
    case XPU_OPCODE_COPY:
    case XPU_OPCODE_FILL:
    case XPU_OPCODE_GATHER: transfer(words, completion); break;
    case XPU_OPCODE_TENSOR: multiply(chip, words, completion); break;
    case XPU_OPCODE_POST: post(chip, words, completion, 1); break;
    case XPU_OPCODE_WINDOW: slide(chip, words, completion); break;
    default: break;
    }
}
