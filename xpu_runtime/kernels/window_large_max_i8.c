/*
 * The maximum of bytes over windows that may be larger than LM, on the cores.
 *
 * A task is one output pixel by a block of channels. Its window is walked in steps of some lines of taps, or of a part
 * of one line where that alone is too much; lines run along the side of the window that has more taps inside the image.
 * The next step's taps, also those of the next task, come by DMA while a step is computed.
 */
#include "xpu_runtime/include/xpu_pixels.h"
#include "xpu_runtime/kernels/common.h"

enum {
    VECTOR = 64, /* channels of a task */
    WIDE = 256   /* bytes of a register group, in which the taps of several pixels stand side by side */
};

struct pool {
    struct xpu_large_max_pool_i8_args a;
    uint32_t block, blocks; /* bytes of a pixel in LM, and tasks along the channels */
    uint32_t width;         /* of WIDE, a multiple of block */
    uint32_t room;          /* pixels of a step */
    uint8_t *taps[2], *out[2];
};

/* Where the walk over the tasks [index, last) stands. */
struct cursor {
    uint32_t index, last;
    uint32_t from, to, channels;    /* the first tap inside the image and the result, device addresses */
    uint32_t lines, taps;           /* inside the image; taps: of a line */
    uint32_t line_pitch, tap_pitch; /* in bytes */
    uint32_t line, tap;             /* of the step: the first, and how many */
    uint32_t step_lines, step_taps;
};

/* The taps of output `at` inside of 0 .. size - 1: how many, and where the first one is. */
static uint32_t inside(int32_t at, int32_t stride, int32_t pad, int32_t kernel, int32_t dilation, int32_t size,
                       uint32_t *place) {
    int32_t start = at * stride - pad, first = start < 0 ? (dilation - 1 - start) / dilation : 0;
    if (start >= size) return 0;
    int32_t count = min_i32((size - 1 - start) / dilation + 1, kernel) - first;
    *place = (uint32_t)(start + first * dilation);
    return (uint32_t)max_i32(count, 0);
}

static void size_step(const struct pool *p, struct cursor *at) {
    at->step_taps = min_u32(at->taps - at->tap, p->room);
    at->step_lines = at->lines == 0 ? 0 : at->taps > p->room ? 1 : min_u32(at->lines - at->line, p->room / at->taps);
}

static void begin_task(const struct pool *p, struct cursor *at) {
    const struct xpu_large_max_pool_i8_args *a = &p->a;
    const uint32_t in_w = (uint32_t)a->in_w, channels = (uint32_t)a->in_c;
    uint32_t channel = at->index % p->blocks * VECTOR, pixel = at->index / p->blocks, row = 0, column = 0;
    uint32_t line = pixel / (uint32_t)a->out_w, image = line / (uint32_t)a->out_h;
    uint32_t heights = inside((int32_t)(line % (uint32_t)a->out_h), a->stride_h, a->pad_top, a->kernel_h, a->dilation_h,
                              a->in_h, &row);
    uint32_t widths = inside((int32_t)(pixel % (uint32_t)a->out_w), a->stride_w, a->pad_left, a->kernel_w,
                             a->dilation_w, a->in_w, &column);
    uint32_t down = (uint32_t)a->dilation_h * in_w * channels, right = (uint32_t)a->dilation_w * channels;
    int upright = heights > widths;
    at->channels = min_u32(VECTOR, channels - channel);
    at->from = a->x + ((image * (uint32_t)a->in_h + row) * in_w + column) * channels + channel;
    at->to = a->y + pixel * (uint32_t)a->y_pixel + channel;
    at->lines = min_u32(heights, widths);
    at->taps = upright ? heights : widths;
    at->line_pitch = upright ? right : down;
    at->tap_pitch = upright ? down : right;
    if (at->lines == 0) at->taps = 0;
    if (at->lines > 1 && at->line_pitch == at->taps * at->tap_pitch) { /* one run: all columns of an image */
        at->taps *= at->lines;
        at->lines = 1;
    }
    at->line = at->tap = 0;
    size_step(p, at);
}

/* To the next step, if need be of the next task; 0 behind the last. */
static int advance(const struct pool *p, struct cursor *at) {
    at->tap += at->step_taps;
    if (at->tap >= at->taps) {
        at->tap = 0;
        at->line += at->step_lines;
    }
    if (at->line < at->lines) {
        size_step(p, at);
        return 1;
    }
    if (++at->index >= at->last) return 0;
    begin_task(p, at);
    return 1;
}

/* Queues the taps of a step; the last ticket. */
static xpu_ticket load_step(const struct pool *p, const struct cursor *at, uint8_t *lm) {
    xpu_ticket ticket = {XPU_COUNTER_CALL, 0};
    uint32_t from = at->from + at->line * at->line_pitch + at->tap * at->tap_pitch;
    for (uint32_t i = at->step_lines; i > 0; i--, from += at->line_pitch, lm += at->step_taps * p->block) {
        ticket = xpu_load_pixels(lm, (int32_t)p->block, from, (int32_t)at->tap_pitch, at->channels, at->step_taps);
    }
    return ticket;
}

static vuint8m4_t larger(vuint8m4_t a, const uint8_t *x, int is_unsigned, size_t vl) {
    vuint8m4_t b = __riscv_vle8_v_u8m4(x, vl);
    if (is_unsigned) return __riscv_vmaxu_vv_u8m4_tu(a, a, b, vl);
    vint8m4_t most = __riscv_vreinterpret_v_u8m4_i8m4(a);
    return __riscv_vreinterpret_v_i8m4_u8m4(
        __riscv_vmax_vv_i8m4_tu(most, most, __riscv_vreinterpret_v_u8m4_i8m4(b), vl));
}

/* The `width` bytes of out, of several pixels, with those of x, which go on behind the last. */
static void compute_step(uint8_t *out, const uint8_t *x, uint32_t bytes, uint32_t width, int is_unsigned) {
    vuint8m4_t most = __riscv_vle8_v_u8m4(out, width);
    for (; bytes >= width; bytes -= width, x += width) most = larger(most, x, is_unsigned, width);
    if (bytes > 0) most = larger(most, x, is_unsigned, bytes);
    __riscv_vse8_v_u8m4(out, most, width);
}

/* One pixel of them. */
static void finish_task(const struct pool *p, uint8_t *out) {
    vuint8m4_t most = __riscv_vle8_v_u8m4(out, p->block);
    for (uint32_t at = p->block; at < p->width; at += p->block) {
        most = larger(most, out + at, p->a.x_unsigned, p->block);
    }
    __riscv_vse8_v_u8m4(out, most, p->block);
}

static void run_tasks(const struct pool *p, struct cursor now) {
    const uint8_t least = p->a.x_unsigned ? 0 : 0x80;
    xpu_ticket none = {XPU_COUNTER_CALL, 0}, stored[2] = {none, none};
    begin_task(p, &now);
    xpu_ticket loaded = load_step(p, &now, p->taps[0]);
    for (uint32_t half = 0, more = 1; more; half ^= 1) {
        struct cursor next = now;
        xpu_ticket ready = loaded;
        uint8_t *out = p->out[now.index & 1];
        more = (uint32_t)advance(p, &next);
        if (more) loaded = load_step(p, &next, p->taps[half ^ 1]);
        if (now.line == 0 && now.tap == 0) {
            xpu_wait(stored[now.index & 1]);
            __riscv_vse8_v_u8m4(out, __riscv_vmv_v_x_u8m4(least, WIDE), WIDE);
        }
        xpu_wait(ready);
        compute_step(out, p->taps[half], now.step_lines * now.step_taps * p->block, p->width, p->a.x_unsigned);
        if (!more || next.index != now.index) {
            finish_task(p, out);
            stored[now.index & 1] = xpu_store_pixels(now.to, 0, out, 0, now.channels, 1);
        }
        now = next;
    }
}

static void share(const void *args, uint32_t core, uint32_t cores) {
    struct pool p = {.a = *(const struct xpu_large_max_pool_i8_args *)args};
    struct cursor at = {.index = 0};
    uint32_t floats, channels = (uint32_t)p.a.in_c;
    uint8_t *lm = (uint8_t *)lm_floats(&floats);
    p.block = min_u32(VECTOR, channels);
    p.blocks = ceil_div(channels, VECTOR);
    p.width = round_down(WIDE, p.block);
    p.room = (4 * floats - 2 * WIDE) / (2 * p.block);
    for (uint32_t i = 0; i < 2; i++) {
        p.out[i] = lm + i * WIDE;
        p.taps[i] = lm + 2 * WIDE + i * p.room * p.block;
    }
    partition(core, cores, (uint32_t)(p.a.batch * p.a.out_h * p.a.out_w) * p.blocks, 1, &at.index, &at.last);
    if (at.index < at.last) run_tasks(&p, at);
}

xpu_ticket xpu_large_max_pool_i8(const struct xpu_large_max_pool_i8_args *args, uint32_t layer, xpu_ticket after) {
    return xpu_run_on_cores(share, args, layer, after);
}
