/*
 * Tensor engine: a group of matrix passes over one input tile in SM. Implicit im2col: for each block of K the taps of
 * some output pixels are gathered into rows of int16; xpu_matmul multiplies them with the weights. Accumulators of the
 * 16-bit modes are kept modulo 2^64, and wrap at 48 bits when they are drained.
 */
#include "sim/func/tensor.h"

#include <string.h>

#include "core/arith.h"
#include "sim/func/matmul.h"
#include "sim/func/post.h"

enum { DEPTH = XPU_MATMUL_DEPTH, PIXELS = XPU_MATMUL_PIXELS, MAX_COLUMNS = 256 };

/* Buffers of the engine. A w of int16 has a part of low and one of high bytes, and so have its sums. */
typedef struct {
    _Alignas(64) int16_t x[PIXELS * DEPTH];
    _Alignas(64) int16_t w[2][DEPTH * MAX_COLUMNS];
    _Alignas(64) int16_t rows[2][MAX_COLUMNS]; /* two rows of w; columns behind those of w are 0 */
    _Alignas(64) int32_t out[2][PIXELS * MAX_COLUMNS];
} buffers;

size_t xpu_func_tensor_scratch(void) {
    return sizeof(buffers);
}

typedef struct {
    const xpu_func_job *job;
    xpu_desc_tensor d;
    const xpu_matmul *matmul;
    buffers *buffer;
    int64_t *bank;
    xpu_func_box x, w;
    int wide; /* a 16-bit mode */
    unsigned x_bytes, w_bytes;
    uint32_t depth, pixels, padded_columns, row_taps; /* K; output pixels; columns of a block; kw * channels */
} pass;

static int check(const pass *t) {
    const xpu_desc_tensor *d = &t->d;
    const xpu_chip *chip = &t->job->func->chip;
    const struct {
        int good;
        const char *rule;
    } rules[] = {
        {d->mode <= XPU_OPERANDS_16X16, "mode is 0, 1 or 2"},
        {d->kh && d->kw, "kh and kw are at least 1"},
        {d->channels || (d->accumulate && d->drain), "without channels it is a drain: accumulate and drain are 1"},
        {d->stride_h && d->stride_w && d->dilation_h && d->dilation_w, "strides and dilations are at least 1"},
        {d->columns && d->columns <= chip->array_columns, "columns is 1 to the columns of the array"},
        {d->oh && d->ow && d->oh * d->ow <= chip->acc_rows, "oh * ow is 1 to the rows of an accumulator bank"},
        {d->bank < chip->acc_banks, "the accumulator bank does not exist"},
        {d->mode == XPU_OPERANDS_8X8 || (!d->x_unsigned && !d->w_unsigned && !d->x_zero && !d->w_zero),
         "zero points and unsigned operands are for mode 8x8 only"},
        {d->x_unsigned ? d->x_zero >= 0 && d->x_zero <= 255 : d->x_zero >= -128 && d->x_zero <= 127,
         "x_zero is a value of the type of x"},
        {d->w_unsigned ? d->w_zero >= 0 && d->w_zero <= 255 : d->w_zero >= -128 && d->w_zero <= 127,
         "w_zero is a value of the type of w"},
        {!d->drain || d->mode == XPU_OPERANDS_8X8 || d->post_mode == XPU_POST_FLOAT,
         "the 16-bit modes drain in float mode"},
    };
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
        if (!rules[i].good)
            return xpu_func_engine_fault(t->job, XPU_FAULT_DESCRIPTOR, t->job->address, "%s", rules[i].rule);
    return 0;
}

static int open_pass(pass *t) {
    const xpu_desc_tensor *d = &t->d;
    t->wide = d->mode != XPU_OPERANDS_8X8;
    t->x_bytes = t->wide ? 2 : 1;
    t->w_bytes = d->mode == XPU_OPERANDS_16X16 ? 2 : 1;
    t->row_taps = d->kw * d->channels;
    t->pixels = d->oh * d->ow;
    t->padded_columns = (d->columns + XPU_MATMUL_COLUMNS - 1) / XPU_MATMUL_COLUMNS * XPU_MATMUL_COLUMNS;
    t->x = (xpu_func_box){d->x,
                          {d->tile_rows, d->tile_cols, d->channels, 1},
                          {d->x_row_stride, d->x_pixel_stride, (int32_t)t->x_bytes, 0},
                          t->x_bytes,
                          0,
                          NULL};
    if (d->w_row_stride < d->columns * t->w_bytes)
        return xpu_func_engine_fault(t->job, XPU_FAULT_DESCRIPTOR, t->job->address,
                                     "w_row_stride is smaller than a row of w");
    uint64_t depth = (uint64_t)d->kh * t->row_taps;
    t->depth = depth > UINT32_MAX ? UINT32_MAX : (uint32_t)depth; /* so large a w is not in SM */
    t->w = (xpu_func_box){
        d->w, {1, t->depth, d->columns, 1}, {0, (int32_t)d->w_row_stride, (int32_t)t->w_bytes, 0}, t->w_bytes, 0, NULL};
    return xpu_func_sm_box(t->job, &t->x, "x", t->x_bytes) || xpu_func_sm_box(t->job, &t->w, "w", t->w_bytes) ? -1 : 0;
}

/* Accumulators start from int32 values or 0. */
static int start_bank(const pass *t) {
    const xpu_desc_tensor *d = &t->d;
    uint32_t stride = t->job->func->chip.array_columns;
    int32_t start[MAX_COLUMNS] = {0};
    if (d->accumulate) return 0;
    if (d->start) {
        const uint8_t *bytes = xpu_func_job_memory(t->job, "start", d->start, (uint64_t)d->columns * 4, 4, 0);
        if (!bytes) return -1;
        memcpy(start, bytes, (size_t)d->columns * 4);
    }
    if (xpu_func_checks(t->job)) return 0;
    for (uint32_t p = 0; p < t->pixels; p++)
        for (uint32_t n = 0; n < d->columns; n++) t->bank[(size_t)p * stride + n] = start[n];
    return 0;
}

/* A row of w as int16. */
static void load_row(const pass *t, uint32_t k, int16_t *row) {
    const uint8_t *src = t->w.bytes_at + (size_t)k * t->d.w_row_stride;
    if (t->w_bytes == 2)
        memcpy(row, src, (size_t)t->d.columns * 2);
    else
        t->matmul->widen(src, t->d.columns, (int)t->d.w_unsigned, t->d.w_zero, row);
    memset(row + t->d.columns, 0, (t->padded_columns - t->d.columns) * sizeof *row);
}

/* Rows k0 .. k0 + depth - 1 of w in pairs, behind an odd depth a row of 0. */
static void load_weights(const pass *t, uint32_t k0, uint32_t depth) {
    buffers *b = t->buffer;
    for (uint32_t k = 0; k < depth; k += 2) {
        size_t at = (size_t)k * t->padded_columns;
        load_row(t, k0 + k, b->rows[0]);
        if (k + 1 < depth)
            load_row(t, k0 + k + 1, b->rows[1]);
        else
            memset(b->rows[1], 0, sizeof b->rows[1]);
        if (t->w_bytes == 2)
            t->matmul->split(b->rows[0], b->rows[1], t->padded_columns, b->w[0] + at, b->w[1] + at);
        else
            t->matmul->pair(b->rows[0], b->rows[1], t->padded_columns, b->w[0] + at);
    }
}

/* Elements of the row under construction. */
static void put_taps(const pass *t, size_t at, const uint8_t *src, size_t n) {
    if (t->wide)
        memcpy(t->buffer->x + at, src, n * 2);
    else
        t->matmul->widen(src, n, (int)t->d.x_unsigned, t->d.x_zero, t->buffer->x + at);
}

static void put_zeros(const pass *t, size_t at, size_t n) {
    memset(t->buffer->x + at, 0, n * sizeof *t->buffer->x);
}

/* Taps begin .. end - 1 (counted kx * channels + c) of one kernel row: iy is the tile row, ix the tile column of kx 0.
 * A dense run of pixels is copied at once. */
static void gather_taps(const pass *t, int64_t iy, int64_t ix, uint32_t begin, uint32_t end, size_t at) {
    const xpu_desc_tensor *d = &t->d;
    uint32_t channels = d->channels;
    int dense = d->dilation_w == 1 && d->x_pixel_stride == (int32_t)(channels * t->x_bytes);
    if (iy < 0 || iy >= d->tile_rows || !d->tile_cols) {
        put_zeros(t, at, end - begin);
        return;
    }
    const uint8_t *row = t->x.bytes_at + iy * d->x_row_stride;
    while (begin < end) {
        uint32_t kx = begin / channels, c = begin % channels;
        int64_t column = ix + (int64_t)kx * d->dilation_w;
        int inside = column >= 0 && column < d->tile_cols;
        uint32_t stop = (kx + 1) * channels;
        if (inside && dense) stop += (uint32_t)(d->tile_cols - 1 - column) * channels;
        if (stop > end || stop < begin) stop = end;
        if (inside)
            put_taps(t, at, row + column * d->x_pixel_stride + (size_t)c * t->x_bytes, stop - begin);
        else
            put_zeros(t, at, stop - begin);
        at += stop - begin;
        begin = stop;
    }
}

/* Row `slot` of the block: taps k0 .. k0 + depth - 1 of output pixel `pixel`. */
static void gather_pixel(const pass *t, uint32_t slot, uint32_t pixel, uint32_t k0, uint32_t depth) {
    const xpu_desc_tensor *d = &t->d;
    int64_t top = (int64_t)(pixel / d->ow) * d->stride_h - d->pad_top;
    int64_t left = (int64_t)(pixel % d->ow) * d->stride_w - d->pad_left;
    size_t at = (size_t)slot * DEPTH;
    for (uint32_t k = k0; k < k0 + depth;) {
        uint32_t ky = k / t->row_taps, begin = k % t->row_taps, rest = k0 + depth - k;
        uint32_t end = rest < t->row_taps - begin ? begin + rest : t->row_taps;
        gather_taps(t, top + (int64_t)ky * d->dilation_h, left, begin, end, at);
        at += end - begin;
        k += end - begin;
    }
}

/* Multiplies `rows` pixels, and adds the sums of `count` of them to the bank; int32 accumulators wrap. */
static void add_block(const pass *t, uint32_t first, uint32_t count, uint32_t rows, uint32_t depth) {
    buffers *b = t->buffer;
    uint32_t stride = t->job->func->chip.array_columns, columns = t->d.columns, padded = t->padded_columns;
    int split = t->w_bytes == 2;
    for (int part = 0; part <= split; part++) t->matmul->product(b->x, rows, b->w[part], padded, depth, b->out[part]);
    for (uint32_t p = 0; p < count; p++) {
        int64_t *acc = t->bank + (size_t)(first + p) * stride;
        size_t at = (size_t)p * padded;
        if (t->wide)
            t->matmul->add_wide(b->out[0] + at, split ? b->out[1] + at : NULL, columns, acc);
        else
            t->matmul->add(b->out[0] + at, columns, acc);
    }
}

static void multiply(const pass *t) {
    for (uint32_t k0 = 0; k0 < t->depth; k0 += DEPTH) {
        uint32_t depth = t->depth - k0 < DEPTH ? t->depth - k0 : DEPTH, even = depth + depth % 2;
        load_weights(t, k0, depth);
        for (uint32_t first = 0; first < t->pixels; first += PIXELS) {
            uint32_t count = t->pixels - first < PIXELS ? t->pixels - first : PIXELS;
            uint32_t rows = (count + XPU_MATMUL_ROWS - 1) / XPU_MATMUL_ROWS * XPU_MATMUL_ROWS;
            for (uint32_t p = 0; p < count; p++) {
                gather_pixel(t, p, first + p, k0, depth);
                if (even != depth) put_zeros(t, (size_t)p * DEPTH + depth, 1);
            }
            for (uint32_t p = count; p < rows; p++) put_zeros(t, (size_t)p * DEPTH, even);
            add_block(t, first, count, rows, even);
        }
    }
}

static int drain(const pass *t, xpu_post *post) {
    uint32_t stride = t->job->func->chip.array_columns, columns = t->d.columns;
    if (t->job->func->extent == XPU_FUNC_CHECK_BEGIN) return 0;
    if (xpu_post_columns(post, 0, t->d.mode == XPU_OPERANDS_16X16 ? XA_I16_MAX : 127)) return -1;
    if (xpu_func_checks(t->job)) return 0;
    for (uint32_t p = 0; p < t->pixels; p++) {
        const int64_t *acc = t->bank + (size_t)p * stride;
        uint32_t row = p / t->d.ow, pixel = p % t->d.ow;
        if (post->d.post_mode == XPU_POST_QUANTISED) {
            int32_t q[MAX_COLUMNS];
            for (uint32_t n = 0; n < columns; n++) q[n] = (int32_t)acc[n];
            xpu_post_quantised_row(post, row, pixel, q);
        } else {
            float v[MAX_COLUMNS];
            (t->wide ? post->rows->from_int48 : post->rows->from_int32)(acc, columns, v);
            xpu_post_float_row(post, row, pixel, v);
        }
    }
    return 0;
}

int xpu_func_tensor(const xpu_func_job *job) {
    pass t = {.job = job, .matmul = job->func->matmul, .buffer = job->func->scratch};
    xpu_post post;
    xpu_desc_tensor_unpack(job->words, &t.d);
    if (check(&t) || open_pass(&t)) return -1;
    t.bank = job->func->banks[t.d.bank];
    /* The post-processor's addresses are looked at before the bank changes. */
    if (t.d.drain && xpu_post_open(&post, job, t.wide ? XA_I16_MAX : 127)) return -1;
    post.op = XPU_POST_SCALE;
    if (start_bank(&t)) return -1;
    if (!xpu_func_checks(job)) {
        multiply(&t);
        job->func->totals.macs += (uint64_t)t.pixels * t.depth * t.d.columns;
    }
    return t.d.drain ? drain(&t, &post) : 0;
}
