/*
 * Window engine: depthwise convolution and pooling of one tile in SM. A pixel's channels are looked at in groups of up
 * to 256; sums of the 16-bit modes are kept modulo 2^64, and wrap at 48 bits when they are drained.
 */
#include "sim/func/window.h"

#include <string.h>

#include "core/arith.h"
#include "sim/func/matmul.h"
#include "sim/func/post.h"

enum { GROUP = XPU_POST_COLUMNS, TAPS = XPU_WINDOW_KERNEL * XPU_WINDOW_KERNEL };

typedef struct {
    const xpu_func_job *job;
    xpu_desc_window d; /* a whole window: with the tile's size as its kernel */
    xpu_post post;
    xpu_func_box x, w, y; /* y: of accumulators that are not drained */
    const uint8_t *start;
    int wide; /* a 16-bit mode */
    unsigned x_bytes, w_bytes;
    uint32_t first, count; /* the group: columns first .. first + count - 1 */
    int16_t taps[TAPS][GROUP];
    int32_t sums[GROUP];
    int64_t wide_sums[GROUP];
} window;

static int check(const window *t) {
    const xpu_desc_window *d = &t->d;
    int is_byte = d->mode == XPU_OPERANDS_8X8, is_convolution = d->op == XPU_WINDOW_CONVOLUTION;
    const struct {
        int good;
        const char *rule;
    } rules[] = {
        {d->op <= XPU_WINDOW_SUM, "op is 0, 1 or 2"},
        {d->mode <= XPU_OPERANDS_16X8 || (d->mode == XPU_OPERANDS_16X16 && is_convolution),
         "mode is 0, 1 or 2, and 2 for convolution only"},
        {!d->whole || (!is_convolution && d->oh == 1 && d->ow == 1),
         "a whole window is one of a maximum or sum, with one output pixel"},
        {d->whole || (d->kh && d->kw && d->kh <= XPU_WINDOW_KERNEL && d->kw <= XPU_WINDOW_KERNEL),
         "kh and kw are 1 to 7"},
        {d->whole || (d->stride_h && d->stride_w && d->dilation_h && d->dilation_w),
         "strides and dilations are at least 1"},
        {d->oh && d->ow && d->columns, "oh, ow and columns are at least 1"},
        {is_byte || (!d->x_unsigned && !d->w_unsigned && !d->x_zero && !d->w_zero),
         "zero points and unsigned operands are for mode 8x8 only"},
        {d->x_unsigned ? d->x_zero >= 0 && d->x_zero <= 255 : d->x_zero >= -128 && d->x_zero <= 127,
         "x_zero is a value of the type of x"},
        {d->w_unsigned ? d->w_zero >= 0 && d->w_zero <= 255 : d->w_zero >= -128 && d->w_zero <= 127,
         "w_zero is a value of the type of w"},
        {d->op != XPU_WINDOW_MAX || (!d->start && !d->accumulate), "a maximum starts from nothing"},
        {!d->accumulate || d->start, "accumulate needs start"},
        {is_byte || (d->drain && !d->accumulate), "accumulate and drain = 0 are for mode 8x8 only"},
        {is_byte || d->post_mode == XPU_POST_FLOAT, "the 16-bit modes drain in float mode"},
        {d->x_ring_rows ? d->tile_rows <= d->x_ring_rows && d->x_ring_first < d->x_ring_rows : !d->x_ring_first,
         "the tile's rows and x_ring_first are in the ring"},
        {!is_convolution || d->w_row_stride >= d->columns * t->w_bytes, "w_row_stride is smaller than a row of w"},
        {d->drain || d->y_type == XPU_TYPE_I32, "y_type of accumulators that are not drained is int32"},
    };
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
        if (!rules[i].good)
            return xpu_func_engine_fault(t->job, XPU_FAULT_DESCRIPTOR, t->job->address, "%s", rules[i].rule);
    return 0;
}

/* ---- Operands ---- */

/* The rows of the ring that are the tile's, in one or two runs: the others may be changing. */
static int open_ring(window *t) {
    const xpu_desc_window *d = &t->d;
    uint32_t before = d->x_ring_rows - d->x_ring_first, rows = d->tile_rows < before ? d->tile_rows : before;
    xpu_func_box ring = t->x, first = t->x, second = t->x;
    ring.size[0] = d->x_ring_rows;
    if (xpu_func_sm_bounds(t->job, &ring, "x", t->x_bytes)) return -1;
    first.address += (uint64_t)((int64_t)d->x_ring_first * d->x_row_stride);
    first.size[0] = rows, second.size[0] = d->tile_rows - rows;
    if (xpu_func_sm_box(t->job, &first, "x", t->x_bytes) || xpu_func_sm_box(t->job, &second, "x", t->x_bytes))
        return -1;
    t->x.bytes_at = ring.bytes_at;
    return 0;
}

static int open_x(window *t) {
    const xpu_desc_window *d = &t->d;
    t->x = (xpu_func_box){d->x,
                          {d->tile_rows, d->tile_cols, d->columns, 1},
                          {d->x_row_stride, d->x_pixel_stride, (int32_t)t->x_bytes, 0},
                          t->x_bytes,
                          0,
                          NULL};
    if (!d->tile_rows || !d->tile_cols) return 0;
    return d->x_ring_rows ? open_ring(t) : xpu_func_sm_box(t->job, &t->x, "x", t->x_bytes);
}

static int open_w(window *t) {
    const xpu_desc_window *d = &t->d;
    if (d->op != XPU_WINDOW_CONVOLUTION) return 0;
    t->w = (xpu_func_box){
        d->w, {1, d->kh * d->kw, d->columns, 1}, {0, (int32_t)d->w_row_stride, (int32_t)t->w_bytes, 0}, t->w_bytes, 0,
        NULL};
    return xpu_func_sm_box(t->job, &t->w, "w", t->w_bytes);
}

static int open_y(window *t) {
    const xpu_desc_window *d = &t->d;
    t->post.op = XPU_POST_SCALE;
    if (d->drain) return xpu_post_open(&t->post, t->job, t->wide ? XA_I16_MAX : 127);
    t->y = (xpu_func_box){d->y, {d->oh, d->ow, d->columns, 1}, {d->y_row_stride, d->y_pixel_stride, 4, 0}, 4, 1, NULL};
    return xpu_func_sm_box(t->job, &t->y, "y", 4);
}

static int open_start(window *t) {
    const xpu_desc_window *d = &t->d;
    uint64_t count = d->accumulate ? (uint64_t)d->oh * d->ow * d->columns : d->columns;
    t->start = d->start ? xpu_func_job_memory(t->job, "start", d->start, 4 * count, 4, 0) : NULL;
    return d->start && !t->start ? -1 : 0;
}

/* ---- Computing ---- */

static void widen(const window *t, const uint8_t *bytes, unsigned size, uint32_t is_unsigned, int32_t zero,
                  int16_t *out) {
    if (size == 2)
        memcpy(out, bytes, (size_t)t->count * 2);
    else
        t->job->func->matmul->widen(bytes, t->count, (int)is_unsigned, zero, out);
}

/* The rows of w of the group. */
static void load_taps(window *t) {
    const xpu_desc_window *d = &t->d;
    for (uint32_t k = 0; d->op == XPU_WINDOW_CONVOLUTION && k < d->kh * d->kw; k++)
        widen(t, t->w.bytes_at + (size_t)k * d->w_row_stride + (size_t)t->first * t->w_bytes, t->w_bytes, d->w_unsigned,
              d->w_zero, t->taps[k]);
}

/* What sums and maxima begin with. */
static void begin(window *t, uint32_t pixel) {
    const xpu_desc_window *d = &t->d;
    int32_t lowest = (t->wide ? INT16_MIN : d->x_unsigned ? 0 : INT8_MIN) - d->x_zero;
    size_t at = t->first + (d->accumulate ? (size_t)pixel * d->columns : 0);
    for (uint32_t c = 0; c < t->count; c++) t->sums[c] = d->op == XPU_WINDOW_MAX ? lowest : 0;
    if (t->start) memcpy(t->sums, t->start + 4 * at, (size_t)t->count * 4);
    for (uint32_t c = 0; c < t->count; c++) t->wide_sums[c] = t->sums[c];
}

/* One tap inside the tile; sums of 32 bits wrap, products of an int16 fit into 32 bits. */
static void add_tap(window *t, const int16_t *x, const int16_t *w) {
    if (t->d.op == XPU_WINDOW_MAX)
        for (uint32_t c = 0; c < t->count; c++) t->sums[c] = x[c] > t->sums[c] ? x[c] : t->sums[c];
    else if (t->d.op == XPU_WINDOW_SUM && t->wide)
        for (uint32_t c = 0; c < t->count; c++) t->wide_sums[c] += x[c];
    else if (t->d.op == XPU_WINDOW_SUM)
        for (uint32_t c = 0; c < t->count; c++) t->sums[c] = (int32_t)((uint32_t)t->sums[c] + (uint32_t)x[c]);
    else if (t->wide)
        for (uint32_t c = 0; c < t->count; c++) t->wide_sums[c] += (int64_t)((int32_t)x[c] * w[c]);
    else
        for (uint32_t c = 0; c < t->count; c++)
            t->sums[c] = (int32_t)((uint32_t)t->sums[c] + (uint32_t)((int32_t)x[c] * w[c]));
}

/* Tile row iy in memory. */
static const uint8_t *row_of(const window *t, int64_t iy) {
    int64_t row = iy + t->d.x_ring_first;
    if (t->d.x_ring_rows && row >= t->d.x_ring_rows) row -= t->d.x_ring_rows;
    return t->x.bytes_at + row * t->d.x_row_stride + (size_t)t->first * t->x_bytes;
}

static void compute(window *t, uint32_t oy, uint32_t ox) {
    const xpu_desc_window *d = &t->d;
    int16_t x[GROUP];
    begin(t, oy * d->ow + ox);
    for (uint32_t ky = 0; ky < d->kh; ky++) {
        int64_t iy = (int64_t)oy * d->stride_h + (int64_t)ky * d->dilation_h - d->pad_top;
        if (iy < 0 || iy >= d->tile_rows) continue;
        const uint8_t *row = row_of(t, iy);
        for (uint32_t kx = 0; kx < d->kw; kx++) {
            int64_t ix = (int64_t)ox * d->stride_w + (int64_t)kx * d->dilation_w - d->pad_left;
            if (ix < 0 || ix >= d->tile_cols) continue;
            widen(t, row + ix * d->x_pixel_stride, t->x_bytes, d->x_unsigned, d->x_zero, x);
            add_tap(t, x, d->op == XPU_WINDOW_CONVOLUTION ? t->taps[ky * d->kw + kx] : NULL);
        }
    }
    if (t->wide && d->op == XPU_WINDOW_MAX)
        for (uint32_t c = 0; c < t->count; c++) t->wide_sums[c] = t->sums[c];
}

/* One pixel's group leaves. */
static void put(window *t, uint32_t oy, uint32_t ox) {
    float v[GROUP];
    if (!t->d.drain) {
        memcpy(t->y.bytes_at + (int64_t)oy * t->y.stride[0] + (int64_t)ox * t->y.stride[1] + (size_t)t->first * 4,
               t->sums, (size_t)t->count * 4);
    } else if (t->d.post_mode == XPU_POST_QUANTISED) {
        xpu_post_quantised_row(&t->post, oy, ox, t->sums);
    } else {
        if (t->wide)
            t->post.rows->from_int48(t->wide_sums, t->count, v);
        else
            for (uint32_t c = 0; c < t->count; c++) v[c] = (float)t->sums[c];
        xpu_post_float_row(&t->post, oy, ox, v);
    }
}

static int run(window *t) {
    const xpu_desc_window *d = &t->d;
    int32_t w_limit = d->mode == XPU_OPERANDS_16X16 ? XA_I16_MAX : 127;
    if (t->job->func->extent == XPU_FUNC_CHECK_BEGIN) return 0;
    for (t->first = 0; t->first < d->columns; t->first += GROUP) {
        t->count = d->columns - t->first < GROUP ? d->columns - t->first : GROUP;
        if (d->drain && xpu_post_columns(&t->post, t->first, w_limit)) return -1;
        if (xpu_func_checks(t->job)) return 0; /* w_absmax is the same for all columns */
        load_taps(t);
        for (uint32_t oy = 0; oy < d->oh; oy++)
            for (uint32_t ox = 0; ox < d->ow; ox++) {
                compute(t, oy, ox);
                put(t, oy, ox);
            }
    }
    t->job->func->totals.macs += (uint64_t)d->oh * d->ow * d->kh * d->kw * d->columns;
    return 0;
}

int xpu_func_window(const xpu_func_job *job) {
    window t;
    t.job = job;
    xpu_desc_window_unpack(job->words, &t.d);
    t.wide = t.d.mode != XPU_OPERANDS_8X8;
    t.x_bytes = t.wide ? 2 : 1;
    t.w_bytes = t.d.mode == XPU_OPERANDS_16X16 ? 2 : 1;
    if (check(&t)) return -1;
    if (t.d.whole) {
        t.d.kh = t.d.tile_rows, t.d.kw = t.d.tile_cols;
        t.d.stride_h = t.d.stride_w = t.d.dilation_h = t.d.dilation_w = 1;
        t.d.pad_top = t.d.pad_left = 0;
    }
    if (open_x(&t) || open_w(&t) || open_y(&t) || open_start(&t)) return -1;
    return run(&t);
}
