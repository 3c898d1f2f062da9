/*
 * Windows over images of bytes on the cores: depthwise convolution, maximum, and the mean over an image.
 *
 * A task is some rows of output, of a block of channels; where even one row is too much for LM, some pixels of one row.
 * The input rows of its windows come by DMA, the next task's while one is computed, and its result leaves meanwhile.
 * Convolution widens each input row to int16 once, pixels in the padding being 0 there, so that the loops over taps
 * have no edges; a maximum looks at the taps that are inside the image. Images are channel last; where their channels
 * are a multiple of 4 every transfer is whole words.
 */
#include "core/arith_rvv.h"
#include "xpu_runtime/include/xpu_pixels.h"
#include "xpu_runtime/include/xpu_tiling.h"
#include "xpu_runtime/kernels/common.h"

enum { VECTOR = XPU_BYTE_CHANNELS }; /* a register group of int16 and one of int32 */

struct window_i8 {
    /* Device addresses; w: [kernel_h][kernel_w][channels padded to 16] bytes; 0 where there is none. */
    uint32_t x, y, w, bias, factors;
    int32_t batch, in_h, in_w, channels, out_h, out_w, kernel_h, kernel_w, stride_h, stride_w, dilation_h, dilation_w,
        pad_top, pad_left;
    int32_t y_pixel; /* bytes from one pixel of y to the next */
    int32_t x_unsigned, w_unsigned, x_zero, w_zero;
    const struct xpu_depthwise_i8_args *scheme; /* how sums become bytes; 0: the maximum is the result */

    int32_t tile_c, tile_h, tile_w; /* of a task: channels, output rows, output pixels of a row */

    /* set by cut */
    uint32_t block, rows, columns;                   /* the same, at most what there is */
    uint32_t blocks, bands, tiles;                   /* tasks along the channels, the rows, the pixels of a row */
    uint32_t in_rows, in_columns, segment, together; /* see xpu_tiling_window */
    uint8_t *input[2], *out[2], *w_bytes;
    int16_t *wide, *w_wide;
    int32_t *bias_lm;
    float *factors_lm;
};

struct task {
    uint32_t image, row, rows, column, columns, channel, channels;
    int32_t top, first, last; /* input rows: of the first tap, and those that exist, [first, last) */
    int32_t left, from, to;   /* input columns, the same */
};

/* ---- the cut ---- */

/* Places in LM. */
static void place(struct window_i8 *w, uint8_t *lm) {
    const uint32_t taps = (uint32_t)(w->kernel_h * w->kernel_w), vector = w->together * w->block;
    for (uint32_t i = 0; i < 2; i++) {
        w->input[i] = lm;
        lm += w->in_rows * w->in_columns * w->block;
        w->out[i] = lm;
        lm += w->rows * w->columns * w->block;
    }
    w->wide = (int16_t *)lm;
    lm += 2 * (w->in_rows + 1) * w->segment * w->block;
    w->bias_lm = (int32_t *)lm;
    w->factors_lm = (float *)(lm + 4 * vector);
    w->w_wide = (int16_t *)(lm + 8 * vector);
    w->w_bytes = lm + 8 * vector + 2 * taps * vector;
}

static void cut(struct window_i8 *w) {
    uint32_t floats;
    uint8_t *lm = (uint8_t *)lm_floats(&floats);
    const xpu_tiling_shape shape = {.in_h = w->in_h,
                                    .in_w = w->in_w,
                                    .kernel_h = w->kernel_h,
                                    .kernel_w = w->kernel_w,
                                    .stride_h = w->stride_h,
                                    .stride_w = w->stride_w,
                                    .dilation_h = w->dilation_h,
                                    .dilation_w = w->dilation_w};
    const xpu_tiling_task task = {w->tile_c, min_i32(w->tile_h, w->out_h), min_i32(w->tile_w, w->out_w)};
    const xpu_tiling_window in_lm = xpu_tiling_window_of(&shape, &task, w->w != 0);
    if (in_lm.bytes > 4 * floats) xpu_abort(ABORT_LOCAL_MEMORY);
    w->block = (uint32_t)task.tile_c;
    w->rows = (uint32_t)task.tile_h;
    w->columns = (uint32_t)task.tile_w;
    w->blocks = ceil_div((uint32_t)w->channels, w->block);
    w->bands = ceil_div((uint32_t)w->out_h, w->rows);
    w->tiles = ceil_div((uint32_t)w->out_w, w->columns);
    w->in_rows = in_lm.in_rows;
    w->in_columns = in_lm.in_columns;
    w->segment = in_lm.segment;
    w->together = in_lm.together;
    place(w, lm);
}

/* What of input 0 .. size - 1 the taps of outputs first .. first + count - 1 read: [*from, *to), and the first tap. */
static int32_t input_range(uint32_t first, uint32_t count, int32_t stride, int32_t pad, int32_t reach, int32_t size,
                           int32_t *from, int32_t *to) {
    int32_t begin = (int32_t)first * stride - pad, end = begin + (int32_t)(count - 1) * stride + reach;
    *from = min_i32(max_i32(begin, 0), size);
    *to = max_i32(min_i32(end, size), *from);
    return begin;
}

/* Tasks of one block of channels follow each other: its weights are loaded once. */
static struct task task_at(const struct window_i8 *w, uint32_t index) {
    struct task t;
    t.column = index % w->tiles * w->columns;
    index /= w->tiles;
    t.row = index % w->bands * w->rows;
    index /= w->bands;
    t.image = index % (uint32_t)w->batch;
    t.channel = index / (uint32_t)w->batch * w->block;
    t.rows = min_u32(w->rows, (uint32_t)w->out_h - t.row);
    t.columns = min_u32(w->columns, (uint32_t)w->out_w - t.column);
    t.channels = min_u32(w->block, (uint32_t)w->channels - t.channel);
    t.top = input_range(t.row, t.rows, w->stride_h, w->pad_top, (w->kernel_h - 1) * w->dilation_h + 1, w->in_h,
                        &t.first, &t.last);
    t.left = input_range(t.column, t.columns, w->stride_w, w->pad_left, (w->kernel_w - 1) * w->dilation_w + 1, w->in_w,
                         &t.from, &t.to);
    if (w->tiles == 1) t.from = 0, t.to = w->in_w;
    return t;
}

/* ---- transfers ---- */

static uint32_t pixel_address(const struct task *t, uint32_t base, uint32_t row, uint32_t height, uint32_t column,
                              int32_t width, int32_t pitch) {
    return base + ((t->image * height + row) * (uint32_t)width + column) * (uint32_t)pitch + t->channel;
}

/* Rows that are whole in both places lie one behind the other: one transfer takes them all. */
static xpu_ticket load_task(const struct window_i8 *w, const struct task *t, uint32_t half) {
    xpu_ticket ticket = {XPU_COUNTER_CALL, 0};
    uint32_t rows = (uint32_t)(t->last - t->first), columns = (uint32_t)(t->to - t->from), step = rows;
    if (rows == 0 || columns == 0) return ticket;
    if (w->tiles > 1) step = 1;
    for (uint32_t row = 0; row < rows; row += step) {
        uint32_t from = pixel_address(t, w->x, (uint32_t)t->first + row, (uint32_t)w->in_h, (uint32_t)t->from, w->in_w,
                                      w->channels);
        ticket = xpu_load_pixels(w->input[half] + row * w->in_columns * w->block, (int32_t)w->block, from, w->channels,
                                 t->channels, step * columns);
    }
    return ticket;
}

static xpu_ticket store_task(const struct window_i8 *w, const struct task *t, uint32_t half) {
    xpu_ticket ticket = {XPU_COUNTER_CALL, 0};
    uint32_t step = w->tiles > 1 ? 1 : t->rows;
    for (uint32_t row = 0; row < t->rows; row += step) {
        uint32_t to = pixel_address(t, w->y, t->row + row, (uint32_t)w->out_h, t->column, w->out_w, w->y_pixel);
        ticket = xpu_store_pixels(to, w->y_pixel, w->out[half] + row * w->columns * w->block, (int32_t)w->block,
                                  t->channels, step * t->columns);
    }
    return ticket;
}

static void fill(int16_t *to, uint32_t count) {
    vint16m8_t zero = __riscv_vmv_v_x_i16m8(0, __riscv_vsetvlmax_e16m8());
    for (size_t vl; count > 0; count -= (uint32_t)vl, to += vl) {
        vl = __riscv_vsetvl_e16m8(count);
        __riscv_vse16_v_i16m8(to, zero, vl);
    }
}

/* Weights, bias and factors, each row as often as a vector has pixels. */
static void load_weights(const struct window_i8 *w, const struct task *t) {
    uint32_t taps = (uint32_t)(w->kernel_h * w->kernel_w), pitch = (uint32_t)(w->channels + 15) / 16 * 16;
    const int32_t words = (int32_t)(4 * w->block);
    size_t vl = __riscv_vsetvl_e16m2(w->block);
    if (w->bias)
        xpu_load_2d(w->bias_lm, words, w->bias + 4 * t->channel, 0, 4 * t->channels, w->together);
    else
        fill((int16_t *)w->bias_lm, 2 * w->together * w->block);
    xpu_load_2d(w->factors_lm, words, w->factors + 4 * t->channel, 0, 4 * t->channels, w->together);
    xpu_wait(xpu_load_pixels(w->w_bytes, (int32_t)w->block, w->w + t->channel, (int32_t)pitch, t->channels, taps));
    int16_t *to = w->w_wide;
    for (uint32_t i = 0; i < taps; i++) {
        const uint8_t *from = w->w_bytes + i * w->block;
        vint16m2_t wide =
            w->w_unsigned
                ? __riscv_vreinterpret_v_u16m2_i16m2(__riscv_vzext_vf2_u16m2(__riscv_vle8_v_u8m1(from, vl), vl))
                : __riscv_vsext_vf2_i16m2(__riscv_vle8_v_i8m1((const int8_t *)from, vl), vl);
        wide = __riscv_vsub_vx_i16m2(wide, (int16_t)w->w_zero, vl);
        for (uint32_t copies = w->together; copies > 0; copies--, to += w->block) __riscv_vse16_v_i16m2(to, wide, vl);
    }
}

/* ---- computing ---- */

static void widen(const struct window_i8 *w, const uint8_t *from, int16_t *to, uint32_t count) {
    const int16_t zero = (int16_t)w->x_zero;
    const int32_t x_unsigned = w->x_unsigned;
    for (size_t vl; count > 0; count -= (uint32_t)vl, from += vl, to += vl) {
        vl = __riscv_vsetvl_e16m8(count);
        vuint8m4_t bytes = __riscv_vle8_v_u8m4(from, vl);
        vint16m8_t wide = x_unsigned ? __riscv_vreinterpret_v_u16m8_i16m8(__riscv_vzext_vf2_u16m8(bytes, vl))
                                     : __riscv_vsext_vf2_i16m8(__riscv_vreinterpret_v_u8m4_i8m4(bytes), vl);
        __riscv_vse16_v_i16m8(to, __riscv_vsub_vx_i16m8(wide, zero, vl), vl);
    }
}

/* The task's input rows as int16, with zeros before and behind where the padding is; behind the last row one of zeros.
 */
static void widen_rows(const struct window_i8 *w, const struct task *t, const uint8_t *input) {
    int32_t begin = max_i32(t->left, t->from), end = min_i32(t->left + (int32_t)w->segment, t->to);
    uint32_t before = (uint32_t)(begin - t->left), count = (uint32_t)max_i32(end - begin, 0);
    uint32_t rows = (uint32_t)(t->last - t->first);
    if (before > w->segment) before = w->segment;
    uint32_t after = w->segment - before - count;
    int16_t *wide = w->wide;
    input += (uint32_t)(begin - t->from) * w->block;
    for (uint32_t row = 0; row < rows; row++) {
        fill(wide, before * w->block);
        widen(w, input, wide + before * w->block, count * w->block);
        fill(wide + (before + count) * w->block, after * w->block);
        wide += w->segment * w->block;
        input += w->in_columns * w->block;
    }
    fill(w->wide + w->in_rows * w->segment * w->block, w->segment * w->block);
}

static void store_bytes(uint8_t *to, vint16m2_t v, size_t vl) {
    __riscv_vse8_v_i8m1((int8_t *)to, __riscv_vncvt_x_x_w_i8m1(v, vl), vl);
}

/* One row of output: `lines` are the widened rows of the window's taps. */
struct row {
    const int16_t *lines[XPU_BYTE_ROWS];
    uint8_t *out;
    uint32_t vectors; /* of w->together pixels, the last perhaps fewer: */
    size_t vl, last_vl;
};

static void multiply_row(const struct window_i8 *w, const struct row *r) {
    const struct xpu_depthwise_i8_args *a = w->scheme;
    const uint32_t vector = w->together * w->block, tap = (uint32_t)w->dilation_w * w->block;
    const uint32_t step = (uint32_t)w->stride_w * vector, kernel_h = (uint32_t)w->kernel_h;
    const int32_t zero = a->zero, low = a->low, high = a->high, *const bias = w->bias_lm;
    const float *const scales = w->factors_lm;
    uint8_t *out = r->out;
    size_t vl = r->vl;
    for (uint32_t left = r->vectors, at = 0; left > 0; left--, at += step, out += vector) {
        if (left == 1) vl = r->last_vl;
        vint32m4_t sum = __riscv_vle32_v_i32m4(bias, vl);
        const int16_t *factor = w->w_wide;
        for (uint32_t kh = 0; kh < kernel_h; kh++) {
            const int16_t *x = r->lines[kh] + at;
            for (uint32_t kw = (uint32_t)w->kernel_w; kw > 0; kw--, x += tap, factor += vector)
                sum = __riscv_vwmacc_vv_i32m4(sum, __riscv_vle16_v_i16m2(x, vl), __riscv_vle16_v_i16m2(factor, vl), vl);
        }
        vfloat32m4_t factors = __riscv_vle32_v_f32m4(scales, vl);
        store_bytes(out, xv_requantize(sum, factors, zero, low, high, vl), vl);
    }
}

/*
 * The same for 3 x 3 taps, their weights in registers. Two vectors of pixels take turns, and the loads of the next
 * product stand before each one, so that both pipes are always busy (the Makefile has clang keep the order).
 */
static void multiply_row_3x3(const struct window_i8 *w, const struct row *r) {
    const struct xpu_depthwise_i8_args *a = w->scheme;
    const uint32_t vector = w->together * w->block, tap = (uint32_t)w->dilation_w * w->block;
    const uint32_t step = (uint32_t)w->stride_w * vector;
    const int32_t zero = a->zero, low = a->low, high = a->high, *const bias = w->bias_lm;
    const float *const scales = w->factors_lm;
    const int16_t *x0 = r->lines[0], *x1 = r->lines[1], *x2 = r->lines[2];
    uint8_t *out = r->out;
    uint32_t left = r->vectors;
    size_t vl = r->vl;
#define LOAD(address)       __riscv_vle16_v_i16m2(address, vl)
#define MULTIPLY(sum, x, w) sum = __riscv_vwmacc_vv_i32m4(sum, x, w, vl)
#define WEIGHT(i)           const vint16m2_t w##i = LOAD(w->w_wide + (i) * vector)
    WEIGHT(0);
    WEIGHT(1);
    WEIGHT(2);
    WEIGHT(3);
    WEIGHT(4);
    WEIGHT(5);
    WEIGHT(6);
    const int16_t *const last_weights = w->w_wide + 7 * vector;
    const vfloat32m4_t factors = __riscv_vle32_v_f32m4(scales, vl);
#define TAP(weight, address, next)                                                                                     \
    odd = LOAD((address) + step);                                                                                      \
    MULTIPLY(sum0, even, weight);                                                                                      \
    even = LOAD(next);                                                                                                 \
    MULTIPLY(sum1, odd, weight)
    for (; left > (r->last_vl < vl ? 2 : 1); left -= 2, x0 += 2 * step, x1 += 2 * step, x2 += 2 * step) {
        vint32m4_t sum0 = __riscv_vle32_v_i32m4(bias, vl), sum1 = __riscv_vle32_v_i32m4(bias, vl);
        vint16m2_t even = LOAD(x0), odd;
        TAP(w0, x0, x0 + tap);
        TAP(w1, x0 + tap, x0 + 2 * tap);
        TAP(w2, x0 + 2 * tap, x1);
        TAP(w3, x1, x1 + tap);
        TAP(w4, x1 + tap, x1 + 2 * tap);
        TAP(w5, x1 + 2 * tap, x2);
        TAP(w6, x2, x2 + tap);
        vint16m2_t last = LOAD(last_weights);
        TAP(last, x2 + tap, x2 + 2 * tap);
        last = LOAD(last_weights + vector);
        odd = LOAD(x2 + 2 * tap + step);
        MULTIPLY(sum0, even, last);
        MULTIPLY(sum1, odd, last);
        xv_requantize_two(sum0, sum1, factors, zero, low, high, &even, &odd, vl);
        store_bytes(out, even, vl);
        store_bytes(out + vector, odd, vl);
        out += 2 * vector;
    }
#undef TAP
    for (; left > 0; left--, x0 += step, x1 += step, x2 += step, out += vector) {
        if (left == 1) vl = r->last_vl;
        vint32m4_t sum = __riscv_vle32_v_i32m4(bias, vl);
        MULTIPLY(sum, LOAD(x0), w0);
        MULTIPLY(sum, LOAD(x0 + tap), w1);
        MULTIPLY(sum, LOAD(x0 + 2 * tap), w2);
        MULTIPLY(sum, LOAD(x1), w3);
        MULTIPLY(sum, LOAD(x1 + tap), w4);
        MULTIPLY(sum, LOAD(x1 + 2 * tap), w5);
        MULTIPLY(sum, LOAD(x2), w6);
        MULTIPLY(sum, LOAD(x2 + tap), LOAD(last_weights));
        MULTIPLY(sum, LOAD(x2 + 2 * tap), LOAD(last_weights + vector));
        store_bytes(out, xv_requantize(sum, factors, zero, low, high, vl), vl);
    }
#undef LOAD
#undef MULTIPLY
#undef WEIGHT
}

/* The rows of the window's taps, of which those outside of the image are the row of zeros. */
static void multiply_rows(const struct window_i8 *w, const struct task *t, uint8_t *out) {
    const int is_3x3 = w->kernel_h == 3 && w->kernel_w == 3;
    const uint32_t line = w->segment * w->block, vector = w->together * w->block;
    struct row r = {.out = out, .vectors = ceil_div(t->columns, w->together), .vl = vector};
    r.last_vl = (t->columns - (r.vectors - 1) * w->together) * w->block;
    for (uint32_t row = 0; row < t->rows; row++, r.out += w->columns * w->block) {
        for (uint32_t kh = 0; kh < (uint32_t)w->kernel_h; kh++) {
            int32_t in = t->top + (int32_t)row * w->stride_h + (int32_t)kh * w->dilation_h;
            uint32_t at = in < t->first || in >= t->last ? w->in_rows : (uint32_t)(in - t->first);
            r.lines[kh] = w->wide + at * line;
        }
        if (is_3x3)
            multiply_row_3x3(w, &r);
        else
            multiply_row(w, &r);
    }
}

/* The taps k of a window at `start` that are inside [from, to): first and how many. */
static uint32_t inside(int32_t start, int32_t dilation, int32_t kernel, int32_t from, int32_t to, uint32_t *first) {
    int32_t begin = 0, end = kernel;
    while (begin < end && start + begin * dilation < from) begin++;
    while (end > begin && start + (end - 1) * dilation >= to) end--;
    *first = (uint32_t)begin;
    return (uint32_t)(end - begin);
}

/* ---- the maximum ---- */

static inline vuint8m1_t larger(vuint8m1_t a, vuint8m1_t b, int is_unsigned, size_t vl) {
    if (is_unsigned) return __riscv_vmaxu_vv_u8m1(a, b, vl);
    return __riscv_vreinterpret_v_i8m1_u8m1(
        __riscv_vmax_vv_i8m1(__riscv_vreinterpret_v_u8m1_i8m1(a), __riscv_vreinterpret_v_u8m1_i8m1(b), vl));
}

/* A row of windows: the image rows that they look at, and how far apart these are. */
struct window_row {
    const uint8_t *input; /* of pixel t->from */
    uint32_t heights, next;
};

static inline vuint8m1_t max_window(const struct window_i8 *w, const struct task *t, const struct window_row *r,
                                    int32_t left, int is_unsigned, size_t vl) {
    const uint32_t tap = (uint32_t)w->dilation_w * w->block;
    uint32_t kw, widths = inside(left, w->dilation_w, w->kernel_w, 0, w->in_w, &kw);
    const uint8_t *corner = r->input + (uint32_t)(left + (int32_t)kw * w->dilation_w - t->from) * w->block;
    vuint8m1_t most = __riscv_vmv_v_x_u8m1(is_unsigned ? 0 : 0x80, vl);
    for (uint32_t i = r->heights; i > 0; i--, corner += r->next) {
        const uint8_t *x = corner;
        for (uint32_t j = widths; j > 0; j--, x += tap) {
            most = larger(most, __riscv_vle8_v_u8m1(x, vl), is_unsigned, vl);
        }
    }
    return most;
}

static inline vuint8m1_t max_of_three(const uint8_t *x, uint32_t next, int is_unsigned, size_t vl) {
    vuint8m1_t first = __riscv_vle8_v_u8m1(x, vl), second = __riscv_vle8_v_u8m1(x + next, vl);
    vuint8m1_t third = __riscv_vle8_v_u8m1(x + 2 * next, vl);
    return larger(larger(first, second, is_unsigned, vl), third, is_unsigned, vl);
}

/* 3 x 3, two apart, nothing outside of the image: neighbours share a column. */
static inline void max_shared(const uint8_t *x, uint32_t next, uint32_t block, uint8_t *out, uint32_t count,
                              int is_unsigned, size_t vl) {
    vuint8m1_t left = max_of_three(x, next, is_unsigned, vl);
    for (; count > 0; count--, x += 2 * block, out += block) {
        vuint8m1_t middle = max_of_three(x + block, next, is_unsigned, vl);
        vuint8m1_t right = max_of_three(x + 2 * block, next, is_unsigned, vl);
        __riscv_vse8_v_u8m1(out, larger(larger(left, middle, is_unsigned, vl), right, is_unsigned, vl), vl);
        left = right;
    }
}

static inline __attribute__((always_inline)) void max_row(const struct window_i8 *w, const struct task *t, uint32_t row,
                                                          const uint8_t *input, uint8_t *out, int is_unsigned,
                                                          size_t vl) {
    const uint32_t line = w->in_columns * w->block;
    int32_t top = t->top + (int32_t)row * w->stride_h;
    struct window_row r = {.next = (uint32_t)w->dilation_h * line};
    uint32_t kh;
    r.heights = inside(top, w->dilation_h, w->kernel_h, 0, w->in_h, &kh);
    r.input = input + (uint32_t)(top + (int32_t)kh * w->dilation_h - t->first) * line;
    const int shares = w->kernel_w == 3 && w->stride_w == 2 && w->dilation_w == 1 && r.heights == 3;
    for (uint32_t pixel = 0; pixel < t->columns; pixel++) {
        int32_t left = t->left + (int32_t)pixel * w->stride_w, whole = (w->in_w - 1 - left) / 2;
        if (shares && left >= 0 && whole > 0) {
            uint32_t count = min_u32((uint32_t)whole, t->columns - pixel);
            max_shared(r.input + (uint32_t)(left - t->from) * w->block, r.next, w->block, out + pixel * w->block, count,
                       is_unsigned, vl);
            pixel += count - 1;
        } else {
            __riscv_vse8_v_u8m1(out + pixel * w->block, max_window(w, t, &r, left, is_unsigned, vl), vl);
        }
    }
}

static void max_rows(const struct window_i8 *w, const struct task *t, const uint8_t *input, uint8_t *out) {
    size_t vl = __riscv_vsetvl_e16m2(t->channels);
    for (uint32_t row = 0; row < t->rows; row++, out += w->columns * w->block) {
        if (w->x_unsigned)
            max_row(w, t, row, input, out, 1, vl);
        else
            max_row(w, t, row, input, out, 0, vl);
    }
}

static void compute_task(const struct window_i8 *w, const struct task *t, uint32_t half) {
    uint8_t *out = w->out[half];
    if (w->w) {
        widen_rows(w, t, w->input[half]);
        multiply_rows(w, t, out);
        return;
    }
    max_rows(w, t, w->input[half], out);
}

static void run(struct window_i8 *w, uint32_t core, uint32_t cores) {
    uint32_t first, last, loaded_channel = UINT32_MAX;
    cut(w);
    partition(core, cores, w->blocks * (uint32_t)w->batch * w->bands * w->tiles, 1, &first, &last);
    xpu_ticket loaded = {XPU_COUNTER_CALL, 0}, stored[2] = {loaded, loaded};
    struct task next = task_at(w, first < last ? first : 0);
    if (first < last) loaded = load_task(w, &next, 0);
    for (uint32_t half = 0; first < last; first++, half ^= 1) {
        struct task t = next;
        xpu_ticket ready = loaded;
        if (w->w && t.channel != loaded_channel) load_weights(w, &t);
        loaded_channel = t.channel;
        if (first + 1 < last) {
            next = task_at(w, first + 1);
            loaded = load_task(w, &next, half ^ 1);
        }
        xpu_wait(ready);
        xpu_wait(stored[half]);
        compute_task(w, &t, half);
        stored[half] = store_task(w, &t, half);
    }
}

#define GEOMETRY(a)                                                                                                    \
    .x = (a).x, .y = (a).y, .batch = (a).batch, .in_h = (a).in_h, .in_w = (a).in_w, .channels = (a).in_c,              \
    .out_h = (a).out_h, .out_w = (a).out_w, .kernel_h = (a).kernel_h, .kernel_w = (a).kernel_w,                        \
    .stride_h = (a).stride_h, .stride_w = (a).stride_w, .dilation_h = (a).dilation_h, .dilation_w = (a).dilation_w,    \
    .pad_top = (a).pad_top, .pad_left = (a).pad_left, .y_pixel = (a).y_pixel, .x_unsigned = (a).x_unsigned,            \
    .tile_c = (a).tile_c, .tile_h = (a).tile_h, .tile_w = (a).tile_w

static void depthwise_share(const void *args, uint32_t core, uint32_t cores) {
    const struct xpu_depthwise_i8_args a = *(const struct xpu_depthwise_i8_args *)args;
    struct window_i8 w = {
        GEOMETRY(a),        .w = a.w,           .bias = a.bias, .factors = a.factors, .w_unsigned = a.w_unsigned,
        .x_zero = a.x_zero, .w_zero = a.w_zero, .scheme = &a};
    run(&w, core, cores);
}

static void max_pool_share(const void *args, uint32_t core, uint32_t cores) {
    const struct xpu_max_pool_i8_args a = *(const struct xpu_max_pool_i8_args *)args;
    struct window_i8 w = {GEOMETRY(a)};
    run(&w, core, cores);
}

/* ---- the mean ---- */

/* A task is an image and a block of channels; its pixels pass through LM in two halves. */
static void mean_task(const struct xpu_mean_i8_args *a, uint32_t image, uint32_t channel, uint8_t *lm, uint32_t room) {
    uint32_t channels = min_u32(VECTOR, (uint32_t)a->channels - channel), pixels = (uint32_t)a->pixels, done = 0;
    uint32_t chunk = min_u32((room - VECTOR) / (2 * VECTOR), pixels);
    uint32_t from = a->x + image * pixels * (uint32_t)a->channels + channel;
    size_t vl = __riscv_vsetvl_e32m4(channels);
    vint32m4_t high = __riscv_vmv_v_x_i32m4(0, vl), low = high; /* the sum is high * 2^16 + low */
    uint8_t *out = lm, *half[2] = {lm + VECTOR, lm + VECTOR + chunk * VECTOR};
    xpu_ticket loaded = xpu_load_pixels(half[0], VECTOR, from, a->channels, channels, chunk);
    for (uint32_t now = 0; done < pixels; now ^= 1) {
        uint32_t count = min_u32(chunk, pixels - done);
        xpu_wait(loaded);
        done += count;
        if (done < pixels) {
            loaded = xpu_load_pixels(half[now ^ 1], VECTOR, from + done * (uint32_t)a->channels, a->channels, channels,
                                     min_u32(chunk, pixels - done));
        }
        const uint8_t *x = half[now];
        vint32m4_t sum = __riscv_vadd_vx_i32m4(low, -a->x_zero * (int32_t)count, vl);
        for (; count > 0; count--, x += VECTOR) {
            vint32m4_t v =
                a->x_unsigned
                    ? __riscv_vreinterpret_v_u32m4_i32m4(__riscv_vzext_vf4_u32m4(__riscv_vle8_v_u8m1(x, vl), vl))
                    : __riscv_vsext_vf4_i32m4(__riscv_vle8_v_i8m1((const int8_t *)x, vl), vl);
            sum = __riscv_vadd_vv_i32m4(sum, v, vl);
        }
        high = __riscv_vadd_vv_i32m4(high, __riscv_vsra_vx_i32m4(sum, 16, vl), vl);
        low = __riscv_vand_vx_i32m4(sum, 0xffff, vl);
    }
    float scale = xa_average_scale(a->x_scale, a->y_scale, a->pixels);
    store_bytes(out, xv_mean(high, low, scale, a->zero, a->low, a->high, vl), vl);
    xpu_wait(xpu_store_pixels(a->y + image * (uint32_t)a->channels + channel, 0, out, 0, channels, 1));
}

static void mean_share(const void *args, uint32_t core, uint32_t cores) {
    const struct xpu_mean_i8_args a = *(const struct xpu_mean_i8_args *)args;
    uint32_t floats, first, last, blocks = ceil_div((uint32_t)a.channels, VECTOR);
    uint8_t *lm = (uint8_t *)lm_floats(&floats);
    partition(core, cores, (uint32_t)a.batch * blocks, 1, &first, &last);
    for (; first < last; first++) mean_task(&a, first / blocks, first % blocks * VECTOR, lm, 4 * floats);
}

/* ---- kernels ---- */

xpu_ticket xpu_depthwise_i8(const struct xpu_depthwise_i8_args *args, uint32_t layer, xpu_ticket after) {
    return xpu_run_on_cores(depthwise_share, args, layer, after);
}

xpu_ticket xpu_max_pool_i8(const struct xpu_max_pool_i8_args *args, uint32_t layer, xpu_ticket after) {
    return xpu_run_on_cores(max_pool_share, args, layer, after);
}

xpu_ticket xpu_mean_i8(const struct xpu_mean_i8_args *args, uint32_t layer, xpu_ticket after) {
    return xpu_run_on_cores(mean_share, args, layer, after);
}
