/*
 * Depthwise convolution on the cores with operands of 16 bits, as the window engine and the tensor engine have them.
 *
 * A task is a tile of output pixels of a block of channels. Its input comes by one descriptor that quantises float32 by
 * the absmax of the whole tensor on the way into LM, to between the padding, which is 0 there; a row of zeros stands
 * for rows outside. The next tile comes while one is computed, if LM has room for two. Weights of 16 bits are their
 * high and low bytes apart: the sums of both fit 32 bits for windows of up to 7 x 7, and one fused multiply-add, of
 * sums that floats hold, rounds their sum once. Averages have no weights, as if these were 1, and a scale for each
 * number of taps that count.
 */
#include "core/arith_rvv.h"
#include "xpu_runtime/include/xpu_tiling.h"
#include "xpu_runtime/kernels/epilogue.h"
#include "xpu_runtime/kernels/findmax.h"
#include "xpu_runtime/kernels/window_counts.h"

/* What few layers need, away from the lines that all do. */
#define APART __attribute__((section(".text_apart"), noinline))

enum { MOST_TAPS = 49 };

struct depthwise {
    struct xpu_depthwise_i16_args a;
    float x_scale;
    uint32_t block, rows, columns;               /* of a task, at most what there is */
    uint32_t blocks, bands, tiles;               /* tasks along the channels, the rows, the columns */
    uint32_t in_rows, segment, together, halves; /* see xpu_tiling_depthwise */
    uint32_t vector;                             /* elements: `together` pixels */
    int32_t taps;                                /* that count in each average; 0: in some fewer do */
    int16_t *x[2], *zeros, *high, *low;          /* weights of 8 bits are in high */
    float *out[2], *scale, *bias;
    uint32_t *words[2], *most; /* descriptors, largest magnitudes */
};

struct task {
    uint32_t image, row, rows, column, columns, channel, channels;
    int32_t top, first, last; /* input rows: of the first tap, and those that exist, [first, last) */
    int32_t left, from, to;   /* input columns, the same */
};

/* ---- the cut ---- */

static void place(struct depthwise *d, uint8_t *lm, uint32_t result) {
    const uint32_t taps = (uint32_t)(d->a.kernel_h * d->a.kernel_w), row = 2 * d->segment * d->block;
    for (uint32_t i = 0; i < 2; i++) {
        const uint32_t half = min_u32(i, d->halves - 1), tile = row * d->in_rows;
        uint8_t *at = lm + half * (tile + result + 4 * XPU_DESC_WORDS);
        d->words[i] = (uint32_t *)at;
        d->x[i] = (int16_t *)(at + 4 * XPU_DESC_WORDS);
        d->out[i] = (float *)(at + 4 * XPU_DESC_WORDS + tile);
        if (i == 1) lm = at + tile + result + 4 * XPU_DESC_WORDS;
    }
    d->zeros = (int16_t *)lm;
    d->scale = (float *)(lm + row);
    d->bias = d->scale + d->vector;
    d->high = (int16_t *)(d->bias + d->vector);
    d->low = d->high + taps * d->vector;
    d->most = (uint32_t *)(d->a.w_int8 ? d->low : d->low + taps * d->vector);
}

static void cut(struct depthwise *d) {
    const struct xpu_depthwise_i16_args *a = &d->a;
    uint32_t floats;
    uint8_t *lm = (uint8_t *)lm_floats(&floats);
    const xpu_tiling_shape shape = {.in_h = a->in_h,
                                    .in_w = a->in_w,
                                    .kernel_h = a->kernel_h,
                                    .kernel_w = a->kernel_w,
                                    .stride_h = a->stride_h,
                                    .stride_w = a->stride_w,
                                    .dilation_h = a->dilation_h,
                                    .dilation_w = a->dilation_w};
    const xpu_tiling_task task = {a->tile_c, min_i32(a->tile_h, a->out_h), min_i32(a->tile_w, a->out_w)};
    const xpu_tiling_depthwise in_lm = xpu_tiling_depthwise_of(&shape, &task, a->w_int8, 4 * floats);
    if (in_lm.bytes > 4 * floats || a->kernel_h * a->kernel_w > MOST_TAPS) xpu_abort(ABORT_LOCAL_MEMORY);
    d->block = (uint32_t)task.tile_c;
    d->rows = (uint32_t)task.tile_h;
    d->columns = (uint32_t)task.tile_w;
    d->blocks = ceil_div((uint32_t)a->in_c, d->block);
    d->bands = ceil_div((uint32_t)a->out_h, d->rows);
    d->tiles = ceil_div((uint32_t)a->out_w, d->columns);
    d->in_rows = in_lm.in_rows;
    d->segment = in_lm.segment;
    d->together = in_lm.together;
    d->halves = in_lm.halves;
    d->vector = d->together * d->block;
    place(d, lm, (uint32_t)in_lm.result);
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
static struct task task_at(const struct depthwise *d, uint32_t index) {
    const struct xpu_depthwise_i16_args *a = &d->a;
    struct task t;
    t.column = index % d->tiles * d->columns;
    index /= d->tiles;
    t.row = index % d->bands * d->rows;
    index /= d->bands;
    t.image = index % (uint32_t)a->batch;
    t.channel = index / (uint32_t)a->batch * d->block;
    t.rows = min_u32(d->rows, (uint32_t)a->out_h - t.row);
    t.columns = min_u32(d->columns, (uint32_t)a->out_w - t.column);
    t.channels = min_u32(d->block, (uint32_t)a->in_c - t.channel);
    t.top = input_range(t.row, t.rows, a->stride_h, a->pad_top, (a->kernel_h - 1) * a->dilation_h + 1, a->in_h,
                        &t.first, &t.last);
    t.left = input_range(t.column, t.columns, a->stride_w, a->pad_left, (a->kernel_w - 1) * a->dilation_w + 1, a->in_w,
                         &t.from, &t.to);
    return t;
}

/* ---- transfers ---- */

static void fill_zeros(int16_t *to, uint32_t count) {
    clear_words(to, count / 2);
}

/* Zeros where a tile's columns are outside; elements of two bytes, an even number in each pixel. */
static void fill_padding(const struct depthwise *d, const struct task *t, int16_t *x) {
    const uint32_t before = (uint32_t)(t->from - t->left), inside = (uint32_t)(t->to - t->from);
    const uint32_t row = d->segment * d->block, head = min_u32(before, d->segment);
    const uint32_t tail = min_u32(head + inside, d->segment),
                   reach = (uint32_t)((d->a.kernel_w - 1) * d->a.dilation_w + 1);
    const uint32_t end = min_u32((t->columns - 1) * (uint32_t)d->a.stride_w + reach, d->segment);
    for (int32_t i = t->first; i < t->last; i++, x += row) {
        if (head) fill_zeros(x, head * d->block);
        if (tail < end) fill_zeros(x + tail * d->block, (end - tail) * d->block);
    }
}

static xpu_ticket load_task(const struct depthwise *d, const struct task *t, uint32_t half) {
    const struct xpu_depthwise_i16_args *a = &d->a;
    const uint32_t rows = (uint32_t)(t->last - t->first), columns = (uint32_t)(t->to - t->from);
    const int32_t pixel = 4 * a->in_c;
    int16_t *x = d->x[half];
    fill_padding(d, t, x);
    if (rows == 0 || columns == 0) return (xpu_ticket){XPU_COUNTER_CALL, 0};
    x += (uint32_t)(t->from - t->left) * d->block;
    const uint32_t from = (t->image * (uint32_t)a->in_h + (uint32_t)t->first) * (uint32_t)a->in_w + (uint32_t)t->from;
    const xpu_desc_copy copy = {.layer = xpu_layer_now,
                                .wait0 = XPU_NO_COUNTER,
                                .wait1 = XPU_NO_COUNTER,
                                .signal = XPU_COUNTER_CORE_LOAD + core_id(),
                                .signal_add = 1,
                                .src = a->x + 4 * (from * (uint32_t)a->in_c + t->channel),
                                .dst = xpu_lm_address(x),
                                .src_type = XPU_TYPE_F32,
                                .dst_type = XPU_TYPE_I16,
                                .scale_mode = XPU_SCALE_ABSMAX,
                                .scale_address = a->x_absmax,
                                .size0 = 1,
                                .size1 = rows,
                                .size2 = columns,
                                .size3 = t->channels,
                                .src_stride1 = pixel * a->in_w,
                                .src_stride2 = pixel,
                                .src_stride3 = 4,
                                .dst_stride1 = (int32_t)(2 * d->segment * d->block),
                                .dst_stride2 = (int32_t)(2 * d->block),
                                .dst_stride3 = 2};
    xpu_desc_copy_pack(d->words[half], &copy);
    return xpu_load_box(d->words[half]);
}

/* Rows that are whole lie one behind the other: one transfer takes them all. */
static xpu_ticket store_task(const struct depthwise *d, const struct task *t, uint32_t half) {
    const struct xpu_depthwise_i16_args *a = &d->a;
    const uint32_t step = d->tiles > 1 ? 1 : t->rows, pixel = (uint32_t)a->y_pixel;
    xpu_ticket ticket = {XPU_COUNTER_CALL, 0};
    for (uint32_t row = 0; row < t->rows; row += step) {
        const uint32_t at = (t->image * (uint32_t)a->out_h + t->row + row) * (uint32_t)a->out_w + t->column;
        ticket = xpu_store_2d(a->y + 4 * (at * pixel + t->channel), (int32_t)(4 * pixel),
                              d->out[half] + row * d->columns * d->block, (int32_t)(4 * d->block), 4 * t->channels,
                              step * t->columns);
    }
    return ticket;
}

/* A weight of each channel, as often as a vector has pixels; of int16 both bytes. */
static void spread_weights(const struct depthwise *d, const uint8_t *raw, uint32_t taps) {
    const size_t vl = __riscv_vsetvl_e16m2(d->block);
    int16_t *high = d->high, *low = d->low;
    for (uint32_t i = 0; i < taps; i++) {
        vint16m2_t w, rest = __riscv_vundefined_i16m2();
        if (d->a.w_int8) {
            w = __riscv_vsext_vf2_i16m2(__riscv_vle8_v_i8m1((const int8_t *)raw + i * d->block, vl), vl);
        } else {
            w = __riscv_vle16_v_i16m2((const int16_t *)(const void *)raw + i * d->block, vl);
            rest = __riscv_vand_vx_i16m2(w, 0xff, vl);
            w = __riscv_vsra_vx_i16m2(w, 8, vl);
        }
        for (uint32_t k = 0; k < d->together; k++, high += d->block, low += d->block) {
            __riscv_vse16_v_i16m2(high, w, vl);
            if (!d->a.w_int8) __riscv_vse16_v_i16m2(low, rest, vl);
        }
    }
}

static void set_average(const struct depthwise *d, const struct task *t, int32_t taps) {
    const size_t vl = __riscv_vsetvl_e32m4(t->channels);
    const vfloat32m4_t scale = __riscv_vfmv_v_f_f32m4(xa_mean_scale(d->x_scale, taps), vl);
    for (uint32_t i = 0; i < d->together; i++) __riscv_vse32_v_f32m4(d->scale + i * d->block, scale, vl);
}

/* Weights, bias and scales of a block; 0 for channels that do not exist, so that these are no largest magnitude.
 * Without a bias it is -0, which changes no sum. Weights come to the end of where they are spread to. */
static void load_block(const struct depthwise *d, const struct task *t) {
    const struct xpu_depthwise_i16_args *a = &d->a;
    const uint32_t taps = (uint32_t)(a->kernel_h * a->kernel_w), pitch = (uint32_t)(a->in_c + 15) / 16 * 16;
    const uint32_t bytes = a->w_int8 ? 1 : 2, row = d->block * bytes, there = min_u32(d->block, pitch - t->channel);
    const int32_t words = (int32_t)(4 * d->block);
    uint8_t *raw = (uint8_t *)d->most - taps * row;
    if (t->channels < d->block) {
        clear_words(raw, taps * row / 4);
        clear_words(d->scale, 2 * d->vector);
    }
    size_t vl = __riscv_vsetvl_e32m4(d->vector);
    if (a->bias)
        xpu_load_2d(d->bias, words, a->bias + 4 * t->channel, 0, 4 * t->channels, d->together);
    else
        __riscv_vse32_v_f32m4(d->bias, __riscv_vfmv_v_f_f32m4(-0.0f, vl), vl);
    xpu_load_2d(d->scale, words, a->w_scale + 4 * t->channel, 0, 4 * t->channels, d->together);
    xpu_wait(xpu_load_2d(raw, (int32_t)row, a->w + bytes * t->channel, (int32_t)(bytes * pitch), bytes * there, taps));
    __riscv_vse32_v_f32m4(d->scale, __riscv_vfmul_vf_f32m4(__riscv_vle32_v_f32m4(d->scale, vl), d->x_scale, vl), vl);
    spread_weights(d, raw, taps);
}

/* ---- computing ---- */

#define LOAD(p)      __riscv_vle16_v_i16m2(p, vl)
#define ADD(s, x, w) s = __riscv_vwmacc_vv_i32m4(s, x, w, vl)

/* high * 256 + low as a float, rounded once: it is below 2^36, so that both parts of 12 bits and the rest are floats.
 */
static inline vfloat32m4_t join_sums(vint32m4_t high, vint32m4_t low, size_t vl) {
    const vint32m4_t rest =
        __riscv_vand_vx_i32m4(__riscv_vadd_vv_i32m4(__riscv_vsll_vx_i32m4(high, 8, vl), low, vl), 0xfff, vl);
    const vint32m4_t above =
        __riscv_vsra_vx_i32m4(__riscv_vadd_vv_i32m4(high, __riscv_vsra_vx_i32m4(low, 8, vl), vl), 4, vl);
    return __riscv_vfmacc_vf_f32m4(__riscv_vfcvt_f_x_v_f32m4(rest, vl), 4096.0f, __riscv_vfcvt_f_x_v_f32m4(above, vl),
                                   vl);
}

/* A row of output: where the taps of its first pixel lie, and once more the last one, which is loaded in vain. */
struct line {
    const int16_t *taps[MOST_TAPS + 2];
    uint32_t count, vectors; /* taps; vectors of output, the last perhaps with pixels that do not exist */
    uint32_t step;           /* elements of input from one vector to the next */
    float *out;
};

/*
 * Sums as floats, two vectors at a time: loads for the next tap stand between the products of one, in two sets of
 * registers that take turns (the Makefile has clang keep the order).
 */
static void sum_wide(const struct depthwise *d, const struct line *l) {
    const uint32_t vector = d->vector, step = l->step;
    const size_t vl = __riscv_vsetvl_e16m2(vector);
    float *out = l->out;
#define TAP(w, v, x0, x1, next_w, next_v, next_x0, next_x1, tap)                                                       \
    x = (tap) + at;                                                                                                    \
    ADD(h0, x0, w);                                                                                                    \
    next_w = LOAD(high);                                                                                               \
    ADD(h1, x1, w);                                                                                                    \
    next_x0 = LOAD(x);                                                                                                 \
    ADD(l0, x0, v);                                                                                                    \
    next_x1 = LOAD(x + step);                                                                                          \
    ADD(l1, x1, v);                                                                                                    \
    next_v = LOAD(low);                                                                                                \
    high += vector, low += vector
    for (uint32_t left = l->vectors, at = 0;; left -= 2, at += 2 * step, out += 2 * vector) {
        vint32m4_t h0 = __riscv_vmv_v_x_i32m4(0, vl), h1 = h0, l0 = h0, l1 = h0;
        const int16_t *high = d->high + vector, *low = d->low + vector, *const *tap = l->taps, *x = *tap + at;
        vint16m2_t w = LOAD(d->high), x0 = LOAD(x), x1 = LOAD(x + step), v = LOAD(d->low), ow, ox0, ox1, ov;
        uint32_t taps = l->count;
        for (; taps > 1; taps -= 2, tap += 2) {
            TAP(w, v, x0, x1, ow, ov, ox0, ox1, tap[1]);
            TAP(ow, ov, ox0, ox1, w, v, x0, x1, tap[2]);
        }
        if (taps) {
            ADD(h0, x0, w);
            ADD(h1, x1, w);
            ADD(l0, x0, v);
            ADD(l1, x1, v);
        }
        __riscv_vse32_v_f32m4(out, join_sums(h0, l0, vl), vl);
        if (left < 2) break;
        __riscv_vse32_v_f32m4(out + vector, join_sums(h1, l1, vl), vl);
        if (left == 2) break;
    }
#undef TAP
}

/* The same with weights of 8 bits, whose sums have 32, four vectors at a time. */
static void sum_narrow(const struct depthwise *d, const struct line *l) {
    const uint32_t vector = d->vector, step = l->step;
    const size_t vl = __riscv_vsetvl_e16m2(vector);
    float *out = l->out;
    for (uint32_t left = l->vectors, at = 0;; left -= 4, at += 4 * step, out += 4 * vector) {
        vint32m4_t s0 = __riscv_vmv_v_x_i32m4(0, vl), s1 = s0, s2 = s0, s3 = s0;
        const int16_t *weight = d->high + vector, *const *tap = l->taps + 1, *x = l->taps[0] + at;
        vint16m2_t w = LOAD(d->high), x0 = LOAD(x), x1 = LOAD(x + step), x2, x3;
        for (uint32_t taps = l->count; taps > 0; taps--, weight += vector) {
            x2 = LOAD(x + 2 * step);
            ADD(s0, x0, w);
            x3 = LOAD(x + 3 * step);
            ADD(s1, x1, w);
            x = *tap++ + at;
            x0 = LOAD(x);
            ADD(s2, x2, w);
            x1 = LOAD(x + step);
            ADD(s3, x3, w);
            w = LOAD(weight);
        }
#define STORE(i) __riscv_vse32_v_f32m4(out + (i) * vector, __riscv_vfcvt_f_x_v_f32m4(s##i, vl), vl)
        STORE(0);
        if (left < 2) break;
        STORE(1);
        if (left < 3) break;
        STORE(2);
        if (left < 4) break;
        STORE(3);
        if (left == 4) break;
#undef STORE
    }
}

/* Scale, bias, hard swish and largest magnitude. */
APART static void finish_swish(const struct depthwise *d, float *out, uint32_t count) {
    size_t vl = __riscv_vsetvl_e32m4(d->vector);
    const vfloat32m4_t scale = __riscv_vle32_v_f32m4(d->scale, vl), bias = __riscv_vle32_v_f32m4(d->bias, vl),
                       addend = __riscv_vfmv_v_f_f32m4(d->a.low, vl);
    for (; count > 0; count -= (uint32_t)vl, out += vl) {
        vl = __riscv_vsetvl_e32m4(min_u32(count, d->vector));
        vfloat32m4_t a = __riscv_vfmul_vv_f32m4(__riscv_vle32_v_f32m4(out, vl), scale, vl);
        a = xv_hard_swish(__riscv_vfadd_vv_f32m4(a, bias, vl), vl);
        a = __riscv_vfmadd_vf_f32m4(a, d->a.alpha, addend, vl);
        __riscv_vse32_v_f32m4(out, a, vl);
        __riscv_vse32_v_u32m4(d->most, findmax_join(__riscv_vle32_v_u32m4(d->most, vl), a, vl), vl);
    }
}

/* Scale, bias, activation and largest magnitude of `count` sums, a multiple of a block. */
static void finish(const struct depthwise *d, float *out, uint32_t count) {
    if (d->a.activation == (int32_t)XPU_ACT_HARD_SWISH) {
        finish_swish(d, out, count);
        return;
    }
    const struct epilogue e = EPILOGUE_OF(&d->a);
    const int has_absmax = d->a.y_absmax != 0;
    size_t vl = __riscv_vsetvl_e32m4(d->vector);
    const vfloat32m4_t scale = __riscv_vle32_v_f32m4(d->scale, vl), bias = __riscv_vle32_v_f32m4(d->bias, vl);
    vuint32m4_t most = __riscv_vle32_v_u32m4(d->most, vl);
    for (; count >= 2 * d->vector; count -= 2 * d->vector, out += 2 * d->vector) {
        vfloat32m4_t a = __riscv_vle32_v_f32m4(out, vl), b = __riscv_vle32_v_f32m4(out + d->vector, vl);
        a = __riscv_vfmul_vv_f32m4(a, scale, vl);
        b = __riscv_vfmul_vv_f32m4(b, scale, vl);
        a = __riscv_vfadd_vv_f32m4(a, bias, vl);
        b = __riscv_vfadd_vv_f32m4(b, bias, vl);
        a = activate(a, &e, vl);
        b = activate(b, &e, vl);
        __riscv_vse32_v_f32m4(out, a, vl);
        __riscv_vse32_v_f32m4(out + d->vector, b, vl);
        if (has_absmax) most = findmax_join(findmax_join(most, a, vl), b, vl);
    }
    __riscv_vse32_v_u32m4(d->most, most, vl);
    for (; count > 0; count -= (uint32_t)vl, out += vl) {
        vl = __riscv_vsetvl_e32m4(min_u32(count, d->vector));
        vfloat32m4_t a = __riscv_vfmul_vv_f32m4(__riscv_vle32_v_f32m4(out, vl), scale, vl);
        a = activate(__riscv_vfadd_vv_f32m4(a, bias, vl), &e, vl);
        __riscv_vse32_v_f32m4(out, a, vl);
        if (has_absmax) __riscv_vse32_v_u32m4(d->most, findmax_join(__riscv_vle32_v_u32m4(d->most, vl), a, vl), vl);
    }
}

/* ---- averages: their functions stand where those of other layers keep their lines of the instruction cache ---- */

static void begin_averages(const struct depthwise *d, const struct task *t);
static uint32_t next_averages(const struct depthwise *d, const struct task *t, uint32_t row, uint32_t column);

static void compute_task(const struct depthwise *d, const struct task *t, uint32_t half) {
    const struct xpu_depthwise_i16_args *a = &d->a;
    const uint32_t row = d->segment * d->block, step = d->columns > 1 ? (uint32_t)a->stride_w * d->vector : 0;
    struct line l = {.count = (uint32_t)(a->kernel_h * a->kernel_w), .step = step, .out = d->out[half]};
    const int is_uniform = a->w != 0 || d->taps != 0;
    l.vectors = ceil_div(t->columns, d->together);
    for (uint32_t i = 0; i < t->rows; i++, l.out += d->columns * d->block) {
        const int16_t **tap = l.taps;
        for (int32_t kh = 0; kh < a->kernel_h; kh++) {
            const int32_t at = t->top + (int32_t)i * a->stride_h + kh * a->dilation_h;
            const int is_inside = at >= t->first && at < t->last && t->to > t->from;
            const int16_t *x = is_inside ? d->x[half] + (uint32_t)(at - t->first) * row : d->zeros;
            for (int32_t kw = a->kernel_w; kw > 0; kw--, x += (uint32_t)a->dilation_w * d->block) *tap++ = x;
        }
        tap[0] = tap[1] = tap[-1];
        if (a->w_int8)
            sum_narrow(d, &l);
        else
            sum_wide(d, &l);
        for (uint32_t column = 0, columns = t->columns; column < t->columns; column += columns) {
            if (!is_uniform) columns = next_averages(d, t, i, column);
            finish(d, l.out + column * d->block, columns * d->block);
        }
    }
}

static void run(struct depthwise *d, uint32_t core, uint32_t cores) {
    uint32_t first, last, loaded_channel = UINT32_MAX, halves = d->halves;
    partition(core, cores, d->blocks * (uint32_t)d->a.batch * d->bands * d->tiles, 1, &first, &last);
    xpu_ticket loaded = {XPU_COUNTER_CALL, 0}, stored[2] = {loaded, loaded};
    struct task next = task_at(d, first < last ? first : 0);
    if (first < last) loaded = load_task(d, &next, 0);
    for (uint32_t half = 0; first < last; first++) {
        const struct task t = next;
        const xpu_ticket ready = loaded;
        if (t.channel != loaded_channel && d->a.w)
            load_block(d, &t);
        else if (t.channel != loaded_channel)
            begin_averages(d, &t);
        loaded_channel = t.channel;
        const int is_more = first + 1 < last;
        if (is_more) next = task_at(d, first + 1);
        if (is_more && halves == 2) loaded = load_task(d, &next, half ^ 1);
        xpu_wait(ready);
        xpu_wait(stored[half]);
        compute_task(d, &t, half);
        stored[half] = store_task(d, &t, half);
        if (halves == 2)
            half ^= 1;
        else if (is_more)
            loaded = load_task(d, &next, half);
    }
}

APART static int32_t taps_of_all(const struct depthwise *d) {
    const struct window_axis down = WINDOW_ROWS(&d->a, &d->a), across = WINDOW_COLUMNS(&d->a, &d->a);
    int32_t height, width;
    if (equal_windows(&down, 0, d->a.out_h, &height) < d->a.out_h) return 0;
    return equal_windows(&across, 0, d->a.out_w, &width) < d->a.out_w ? 0 : height * width;
}

static void depthwise_share(const void *args, uint32_t core, uint32_t cores) {
    struct depthwise d;
    copy_words(&d.a, args, sizeof d.a / 4);
    const float absmax = *(const volatile float *)(uintptr_t)d.a.x_absmax;
    d.x_scale = xa_absmax_scale(absmax, XA_I16_MAX);
    cut(&d);
    if (!d.a.w) d.taps = taps_of_all(&d);
    fill_zeros(d.zeros, d.segment * d.block);
    findmax_begin(d.most);
    run(&d, core, cores);
    if (d.a.y_absmax) findmax_end(d.most, d.a.y_absmax, core, cores);
}

__attribute__((noinline)) static void begin_averages(const struct depthwise *d, const struct task *t) {
    const uint32_t count = (uint32_t)(d->a.kernel_h * d->a.kernel_w) * d->vector;
    const size_t all = __riscv_vsetvl_e32m4(d->vector);
    if (t->channels < d->block) clear_words(d->scale, d->vector);
    __riscv_vse32_v_f32m4(d->bias, __riscv_vfmv_v_f_f32m4(-0.0f, all), all);
    for (uint32_t i = 0; i < count;) {
        const size_t vl = __riscv_vsetvl_e16m2(count - i);
        __riscv_vse16_v_i16m2(d->high + i, __riscv_vmv_v_x_i16m2(1, vl), vl);
        i += (uint32_t)vl;
    }
    if (d->taps) set_average(d, t, d->taps);
}

/* So many outputs of a row, from `column` of the task on, have one number of taps that count, and the scale is theirs.
 */
__attribute__((section(".text_averages"), noinline)) static uint32_t
next_averages(const struct depthwise *d, const struct task *t, uint32_t row, uint32_t column) {
    const struct window_axis down = WINDOW_ROWS(&d->a, &d->a), across = WINDOW_COLUMNS(&d->a, &d->a);
    const int32_t end = (int32_t)(t->column + t->columns);
    int32_t width, columns = equal_windows(&across, (int32_t)(t->column + column), end, &width);
    set_average(d, t, count_taps(&down, (int32_t)(t->row + row)) * width);
    return (uint32_t)columns;
}

xpu_ticket xpu_depthwise_i16(const struct xpu_depthwise_i16_args *args, uint32_t layer, xpu_ticket after) {
    return xpu_run_on_cores(depthwise_share, args, layer, after);
}
