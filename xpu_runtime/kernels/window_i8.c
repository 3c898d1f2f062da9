/*
 * Windows over images of bytes on the cores: depthwise convolution, maximum, and the mean over an image.
 *
 * A task is some neighbouring output pixels of one row, of a block of channels. The rows of its window come by DMA, and
 * are widened to int16 once; pixels in the padding become what does not count, so that the loops over taps have no
 * edges. The next task's rows come, and a task's result leaves, while one is computed. Images are channel last; their
 * channels are a multiple of 4, so that every transfer is whole words.
 */
#include "core/arith_rvv.h"
#include "xpu_runtime/kernels/common.h"

enum { VECTOR = 64 }; /* channels: a register group of int16 and one of int32 */

struct window_i8 {
    /* Device addresses; w: [kernel_h][kernel_w][channels padded to 16] bytes; 0 where there is none. */
    uint32_t x, y, w, bias, factors;
    int32_t batch, in_h, in_w, channels, out_h, out_w, kernel_h, kernel_w, stride_h, stride_w, dilation_h, dilation_w,
        pad_top, pad_left;
    int32_t x_unsigned, w_unsigned, x_zero, w_zero;
    int16_t outside;                            /* a pixel in the padding, widened */
    const struct xpu_depthwise_i8_args *scheme; /* how sums become bytes; 0: the maximum is the result */

    /* chosen by cut */
    uint32_t block, columns, blocks, tiles, segment; /* of a task: channels, output pixels; input pixels of a row */
    uint8_t *rows[2], *out[2], *w_bytes;
    int16_t *wide, *w_wide;
    int32_t *bias_lm;
    float *factors_lm;
};

struct task {
    uint32_t image, row, column, columns, channel, channels;
};

/* ---- the cut ---- */

static uint32_t bytes_needed(struct window_i8 *w) {
    uint32_t taps = (uint32_t)(w->kernel_h * w->kernel_w), reach = (uint32_t)((w->kernel_w - 1) * w->dilation_w + 1);
    w->segment = (w->columns - 1) * (uint32_t)w->stride_w + reach;
    uint32_t pixels = (uint32_t)w->kernel_h * w->segment;
    return w->block * (4 * pixels + 2 * w->columns + (w->w ? 3 * taps + 8 : 0));
}

/* The largest blocks that LM has room for. */
static void cut(struct window_i8 *w) {
    uint32_t floats, room;
    uint8_t *lm = (uint8_t *)lm_floats(&floats);
    room = 4 * floats;
    w->block = min_u32(VECTOR, (uint32_t)(w->channels + 15) / 16 * 16);
    w->columns = (uint32_t)w->out_w;
    while (bytes_needed(w) > room) {
        if (w->columns > 1)
            w->columns = (w->columns + 1) / 2;
        else if (w->block > 16)
            w->block -= 16;
        else
            xpu_abort(ABORT_LOCAL_MEMORY);
    }
    w->tiles = ((uint32_t)w->out_w + w->columns - 1) / w->columns;
    w->blocks = ((uint32_t)w->channels + w->block - 1) / w->block;
    uint32_t pixels = (uint32_t)w->kernel_h * w->segment, taps = (uint32_t)(w->kernel_h * w->kernel_w);
    w->wide = (int16_t *)lm;
    lm += 2 * pixels * w->block;
    for (uint32_t i = 0; i < 2; i++) {
        w->rows[i] = lm;
        lm += pixels * w->block;
        w->out[i] = lm;
        lm += w->columns * w->block;
    }
    w->bias_lm = (int32_t *)lm;
    w->factors_lm = (float *)(lm + 4 * w->block);
    w->w_wide = (int16_t *)(lm + 8 * w->block);
    w->w_bytes = lm + 8 * w->block + 2 * taps * w->block;
}

/* Tasks of one block of channels follow each other: its weights are loaded once. */
static struct task task_at(const struct window_i8 *w, uint32_t index) {
    struct task t;
    t.column = index % w->tiles * w->columns;
    index /= w->tiles;
    t.row = index % (uint32_t)w->out_h;
    index /= (uint32_t)w->out_h;
    t.image = index % (uint32_t)w->batch;
    t.channel = index / (uint32_t)w->batch * w->block;
    t.columns = min_u32(w->columns, (uint32_t)w->out_w - t.column);
    t.channels = min_u32(w->block, (uint32_t)w->channels - t.channel);
    return t;
}

/* ---- transfers ---- */

/* The input columns of a task that exist: [*from, *to), the first one of its window being `left`. */
static int32_t columns_of(const struct window_i8 *w, const struct task *t, int32_t *from, int32_t *to) {
    int32_t left = (int32_t)t->column * w->stride_w - w->pad_left;
    int32_t end = left + (int32_t)(t->columns - 1) * w->stride_w + (w->kernel_w - 1) * w->dilation_w + 1;
    *from = min_i32(max_i32(left, 0), w->in_w);
    *to = max_i32(min_i32(end, w->in_w), *from);
    return left;
}

static int32_t row_of(const struct window_i8 *w, const struct task *t, int32_t kh) {
    return (int32_t)t->row * w->stride_h - w->pad_top + kh * w->dilation_h;
}

static xpu_ticket load_rows(const struct window_i8 *w, const struct task *t, uint32_t half) {
    xpu_ticket ticket = {XPU_COUNTER_CALL, 0};
    int32_t from, to, left = columns_of(w, t, &from, &to);
    for (int32_t kh = 0; kh < w->kernel_h; kh++) {
        int32_t row = row_of(w, t, kh);
        if (row < 0 || row >= w->in_h || from >= to) continue;
        uint32_t pixel = ((uint32_t)kh * w->segment + (uint32_t)(from - left)) * w->block;
        uint32_t source = ((t->image * (uint32_t)w->in_h + (uint32_t)row) * (uint32_t)w->in_w + (uint32_t)from) *
                              (uint32_t)w->channels +
                          t->channel;
        ticket = xpu_load_2d(w->rows[half] + pixel, (int32_t)w->block, w->x + source, w->channels, t->channels,
                             (uint32_t)(to - from));
    }
    return ticket;
}

static void load_weights(const struct window_i8 *w, const struct task *t) {
    uint32_t taps = (uint32_t)(w->kernel_h * w->kernel_w), pitch = (uint32_t)(w->channels + 15) / 16 * 16;
    size_t vl = __riscv_vsetvl_e16m2(w->block);
    if (w->bias) GM2LM(w->bias_lm, w->bias + 4 * t->channel, 4 * t->channels);
    GM2LM(w->factors_lm, w->factors + 4 * t->channel, 4 * t->channels);
    xpu_wait(xpu_load_2d(w->w_bytes, (int32_t)w->block, w->w + t->channel, (int32_t)pitch, t->channels, taps));
    for (uint32_t i = 0; i < taps; i++) {
        const uint8_t *from = w->w_bytes + i * w->block;
        vint16m2_t wide =
            w->w_unsigned
                ? __riscv_vreinterpret_v_u16m2_i16m2(__riscv_vzext_vf2_u16m2(__riscv_vle8_v_u8m1(from, vl), vl))
                : __riscv_vsext_vf2_i16m2(__riscv_vle8_v_i8m1((const int8_t *)from, vl), vl);
        __riscv_vse16_v_i16m2(w->w_wide + i * w->block, __riscv_vsub_vx_i16m2(wide, (int16_t)w->w_zero, vl), vl);
    }
}

/* ---- computing ---- */

static void fill(int16_t *to, int16_t value, uint32_t pixels, uint32_t block, size_t vl) {
    vint16m2_t v = __riscv_vmv_v_x_i16m2(value, vl);
    for (; pixels > 0; pixels--, to += block) __riscv_vse16_v_i16m2(to, v, vl);
}

static void widen(const struct window_i8 *w, const uint8_t *from, int16_t *to, uint32_t pixels, size_t vl) {
    int16_t zero = (int16_t)w->x_zero;
    if (w->x_unsigned) {
        for (; pixels > 0; pixels--, from += w->block, to += w->block) {
            vuint16m2_t v = __riscv_vzext_vf2_u16m2(__riscv_vle8_v_u8m1(from, vl), vl);
            __riscv_vse16_v_i16m2(to, __riscv_vsub_vx_i16m2(__riscv_vreinterpret_v_u16m2_i16m2(v), zero, vl), vl);
        }
    } else {
        for (; pixels > 0; pixels--, from += w->block, to += w->block) {
            vint16m2_t v = __riscv_vsext_vf2_i16m2(__riscv_vle8_v_i8m1((const int8_t *)from, vl), vl);
            __riscv_vse16_v_i16m2(to, __riscv_vsub_vx_i16m2(v, zero, vl), vl);
        }
    }
}

/* The task's rows, of which `left` columns before `from` and those from `to` on are outside, as int16. */
static void widen_rows(const struct window_i8 *w, const struct task *t, const uint8_t *rows, size_t vl) {
    int32_t from, to, left = columns_of(w, t, &from, &to);
    for (int32_t kh = 0; kh < w->kernel_h; kh++) {
        int32_t row = row_of(w, t, kh);
        uint32_t first = (uint32_t)kh * w->segment, before = (uint32_t)(from - left), count = (uint32_t)(to - from);
        int16_t *wide = w->wide + first * w->block;
        if (row < 0 || row >= w->in_h) {
            fill(wide, w->outside, w->segment, w->block, vl);
            continue;
        }
        fill(wide, w->outside, before, w->block, vl);
        widen(w, rows + (first + before) * w->block, wide + before * w->block, count, vl);
        fill(wide + (before + count) * w->block, w->outside, w->segment - before - count, w->block, vl);
    }
}

static void store_bytes(uint8_t *to, vint16m2_t v, size_t vl) {
    __riscv_vse8_v_i8m1((int8_t *)to, __riscv_vncvt_x_x_w_i8m1(v, vl), vl);
}

static void multiply_pixels(const struct window_i8 *w, const struct task *t, uint8_t *out, size_t vl) {
    const struct xpu_depthwise_i8_args *a = w->scheme;
    vfloat32m4_t factors = __riscv_vle32_v_f32m4(w->factors_lm, vl);
    for (uint32_t pixel = 0; pixel < t->columns; pixel++, out += w->block) {
        vint32m4_t sum = w->bias ? __riscv_vle32_v_i32m4(w->bias_lm, vl) : __riscv_vmv_v_x_i32m4(0, vl);
        const int16_t *factor = w->w_wide;
        for (int32_t kh = 0; kh < w->kernel_h; kh++) {
            const int16_t *x = w->wide + ((uint32_t)kh * w->segment + pixel * (uint32_t)w->stride_w) * w->block;
            for (int32_t kw = 0; kw < w->kernel_w; kw++) {
                sum = __riscv_vwmacc_vv_i32m4(sum, __riscv_vle16_v_i16m2(x, vl), __riscv_vle16_v_i16m2(factor, vl), vl);
                x += (uint32_t)w->dilation_w * w->block;
                factor += w->block;
            }
        }
        sum = xv_requantize(sum, factors, a->zero, a->low, a->high, vl);
        store_bytes(out, __riscv_vncvt_x_x_w_i16m2(sum, vl), vl);
    }
}

static void max_pixels(const struct window_i8 *w, const struct task *t, uint8_t *out, size_t vl) {
    for (uint32_t pixel = 0; pixel < t->columns; pixel++, out += w->block) {
        vint16m2_t most = __riscv_vmv_v_x_i16m2(w->outside, vl);
        for (int32_t kh = 0; kh < w->kernel_h; kh++) {
            const int16_t *x = w->wide + ((uint32_t)kh * w->segment + pixel * (uint32_t)w->stride_w) * w->block;
            for (int32_t kw = 0; kw < w->kernel_w; kw++, x += (uint32_t)w->dilation_w * w->block) {
                most = __riscv_vmax_vv_i16m2(most, __riscv_vle16_v_i16m2(x, vl), vl);
            }
        }
        store_bytes(out, most, vl);
    }
}

static void run(struct window_i8 *w, uint32_t core, uint32_t cores) {
    uint32_t first, last, loaded_channel = UINT32_MAX;
    cut(w);
    partition(core, cores, w->blocks * (uint32_t)w->batch * (uint32_t)w->out_h * w->tiles, 1, &first, &last);
    xpu_ticket loaded = {XPU_COUNTER_CALL, 0}, stored[2] = {loaded, loaded};
    struct task next = task_at(w, first < last ? first : 0);
    if (first < last) loaded = load_rows(w, &next, 0);
    for (uint32_t half = 0; first < last; first++, half ^= 1) {
        struct task t = next;
        size_t vl = __riscv_vsetvl_e16m2(t.channels);
        xpu_wait(loaded);
        if (first + 1 < last) {
            next = task_at(w, first + 1);
            loaded = load_rows(w, &next, half ^ 1);
        }
        if (w->w && t.channel != loaded_channel) load_weights(w, &t);
        loaded_channel = t.channel;
        widen_rows(w, &t, w->rows[half], vl);
        xpu_wait(stored[half]);
        if (w->w)
            multiply_pixels(w, &t, w->out[half], vl);
        else
            max_pixels(w, &t, w->out[half], vl);
        uint32_t pixel = (t.image * (uint32_t)w->out_h + t.row) * (uint32_t)w->out_w + t.column;
        stored[half] = xpu_store_2d(w->y + pixel * (uint32_t)w->channels + t.channel, w->channels, w->out[half],
                                    (int32_t)w->block, t.channels, t.columns);
    }
}

#define GEOMETRY(a)                                                                                                    \
    .x = (a).x, .y = (a).y, .batch = (a).batch, .in_h = (a).in_h, .in_w = (a).in_w, .channels = (a).in_c,              \
    .out_h = (a).out_h, .out_w = (a).out_w, .kernel_h = (a).kernel_h, .kernel_w = (a).kernel_w,                        \
    .stride_h = (a).stride_h, .stride_w = (a).stride_w, .dilation_h = (a).dilation_h, .dilation_w = (a).dilation_w,    \
    .pad_top = (a).pad_top, .pad_left = (a).pad_left, .x_unsigned = (a).x_unsigned

static void depthwise_share(const void *args, uint32_t core, uint32_t cores) {
    const struct xpu_depthwise_i8_args a = *(const struct xpu_depthwise_i8_args *)args;
    struct window_i8 w = {
        GEOMETRY(a),        .w = a.w,           .bias = a.bias, .factors = a.factors, .w_unsigned = a.w_unsigned,
        .x_zero = a.x_zero, .w_zero = a.w_zero, .scheme = &a};
    run(&w, core, cores);
}

static void max_pool_share(const void *args, uint32_t core, uint32_t cores) {
    const struct xpu_max_pool_i8_args a = *(const struct xpu_max_pool_i8_args *)args;
    struct window_i8 w = {GEOMETRY(a), .outside = INT16_MIN};
    run(&w, core, cores);
}

/* ---- the mean ---- */

/* A task is an image and a block of channels; its pixels pass through LM in two halves. */
static void mean_task(const struct xpu_mean_i8_args *a, uint32_t image, uint32_t channel, uint8_t *lm, uint32_t room) {
    uint32_t channels = min_u32(VECTOR, (uint32_t)a->channels - channel), pixels = (uint32_t)a->pixels, done = 0;
    uint32_t chunk = min_u32((room - VECTOR) / (2 * VECTOR), pixels);
    uint32_t from = a->x + image * pixels * (uint32_t)a->channels + channel;
    size_t vl = __riscv_vsetvl_e32m4(channels);
    vint32m4_t sum = __riscv_vmv_v_x_i32m4(-a->x_zero * a->pixels, vl);
    uint8_t *out = lm, *half[2] = {lm + VECTOR, lm + VECTOR + chunk * VECTOR};
    xpu_ticket loaded = xpu_load_2d(half[0], VECTOR, from, a->channels, channels, chunk);
    for (uint32_t now = 0; done < pixels; now ^= 1) {
        uint32_t count = min_u32(chunk, pixels - done);
        xpu_wait(loaded);
        done += count;
        if (done < pixels) {
            loaded = xpu_load_2d(half[now ^ 1], VECTOR, from + done * (uint32_t)a->channels, a->channels, channels,
                                 min_u32(chunk, pixels - done));
        }
        const uint8_t *x = half[now];
        for (; count > 0; count--, x += VECTOR) {
            vint32m4_t v =
                a->x_unsigned
                    ? __riscv_vreinterpret_v_u32m4_i32m4(__riscv_vzext_vf4_u32m4(__riscv_vle8_v_u8m1(x, vl), vl))
                    : __riscv_vsext_vf4_i32m4(__riscv_vle8_v_i8m1((const int8_t *)x, vl), vl);
            sum = __riscv_vadd_vv_i32m4(sum, v, vl);
        }
    }
    float scale = xa_average_scale(a->x_scale, a->y_scale, a->pixels);
    sum = xv_requantize(sum, xv_splat(scale, vl), a->zero, a->low, a->high, vl);
    store_bytes(out, __riscv_vncvt_x_x_w_i16m2(sum, vl), vl);
    xpu_wait(LM2GM(a->y + image * (uint32_t)a->channels + channel, out, channels));
}

static void mean_share(const void *args, uint32_t core, uint32_t cores) {
    const struct xpu_mean_i8_args a = *(const struct xpu_mean_i8_args *)args;
    uint32_t floats, first, last, blocks = ((uint32_t)a.channels + VECTOR - 1) / VECTOR;
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
