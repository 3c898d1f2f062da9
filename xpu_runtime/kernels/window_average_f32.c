/*
 * Averages over windows without gaps, in float32. A task is some neighbouring output pixels of a row by a block of
 * channels: all rows of its windows come by DMA while the task before it is computed, and each pixel's sum stays in
 * registers. Taps in the padding are skipped.
 */
#include "xpu_runtime/kernels/window_average_f32.h"

#include "xpu_runtime/kernels/common.h"

enum { VECTOR = 64, MOST_PIXELS = 64 };

struct averages {
    const struct xpu_pool_f32_args *a;
    uint32_t block, pixels; /* of a task: channels, output pixels */
    uint32_t blocks, tiles; /* tasks along the channels, along a row */
    uint32_t row_floats;    /* of an input row in LM */
    float *x[2], *out[2];
    xpu_ticket stored[2];
};

struct task {
    uint32_t image, row, pixel, pixels, channel, channels;
    int32_t top, left;   /* input row and column of the first tap of its first pixel */
    int32_t first, last; /* rows of the window inside the image: first .. last - 1 */
};

/* Taps at, at + 1, .. at + taps - 1: those in low .. high - 1 are *first .. the result - 1. */
static int32_t inside(int32_t at, int32_t taps, int32_t low, int32_t high, int32_t *first) {
    int32_t last = min_i32(taps, high - at);
    *first = max_i32(low - at, 0);
    return max_i32(last, *first);
}

/* Taps that an average divides by. */
static int32_t counted(int32_t at, int32_t taps, int32_t size, int32_t before, int32_t behind, int32_t pads_count) {
    int32_t first, last = inside(at, taps, pads_count ? -before : 0, size + (pads_count ? behind : 0), &first);
    return last - first;
}

static uint32_t floats_of(struct averages *s) {
    const struct xpu_pool_f32_args *a = s->a;
    s->row_floats = ((s->pixels - 1) * (uint32_t)a->stride_w + (uint32_t)a->kernel_w) * s->block;
    return 2 * ((uint32_t)a->kernel_h * s->row_floats + s->pixels * s->block);
}

static uint32_t count_tasks(struct averages *s) {
    const struct xpu_pool_f32_args *a = s->a;
    s->blocks = ceil_div((uint32_t)a->in_c, s->block);
    s->tiles = ceil_div((uint32_t)a->out_w, s->pixels);
    return (uint32_t)(a->batch * a->out_h) * s->tiles * s->blocks;
}

/* The tasks' sizes and their places in LM; 0: LM has no room. */
static int choose_tasks(struct averages *s, uint32_t cores) {
    uint32_t available;
    float *lm = lm_floats(&available);
    s->block = min_u32(round_up((uint32_t)s->a->in_c, 16), VECTOR);
    s->pixels = min_u32((uint32_t)s->a->out_w, MOST_PIXELS);
    while (floats_of(s) > available) {
        if (s->pixels > 1)
            s->pixels = (s->pixels + 1) / 2;
        else if (s->block > 16)
            s->block -= 16;
        else
            return 0;
    }
    while (count_tasks(s) < 2 * cores && s->pixels > 4) s->pixels = (s->pixels + 1) / 2;
    floats_of(s);
    for (uint32_t half = 0; half < 2; half++) {
        s->x[half] = lm;
        s->out[half] = lm + (uint32_t)s->a->kernel_h * s->row_floats;
        lm = s->out[half] + s->pixels * s->block;
        s->stored[half] = (xpu_ticket){XPU_COUNTER_CALL, 0};
    }
    return 1;
}

static struct task task_at(const struct averages *s, uint32_t index) {
    const struct xpu_pool_f32_args *a = s->a;
    struct task t = {.channel = index % s->blocks * s->block};
    index /= s->blocks;
    t.channels = min_u32(s->block, (uint32_t)a->in_c - t.channel);
    t.pixel = index % s->tiles * s->pixels;
    index /= s->tiles;
    t.pixels = min_u32(s->pixels, (uint32_t)a->out_w - t.pixel);
    t.row = index % (uint32_t)a->out_h;
    t.image = index / (uint32_t)a->out_h;
    t.top = (int32_t)t.row * a->stride_h - a->pad_top;
    t.left = (int32_t)t.pixel * a->stride_w - a->pad_left;
    t.last = inside(t.top, a->kernel_h, 0, a->in_h, &t.first);
    return t;
}

static xpu_ticket load_task(const struct averages *s, const struct task *t, uint32_t half) {
    const struct xpu_pool_f32_args *a = s->a;
    xpu_ticket ticket = {XPU_COUNTER_CALL, 0};
    int32_t first, reach = (int32_t)(t->pixels - 1) * a->stride_w + a->kernel_w;
    int32_t last = inside(t->left, reach, 0, a->in_w, &first);
    for (int32_t kh = t->first; kh < t->last && first < last; kh++) {
        int32_t pixel = ((int32_t)t->image * a->in_h + t->top + kh) * a->in_w + t->left + first;
        ticket = xpu_load_2d(s->x[half] + (uint32_t)kh * s->row_floats + (uint32_t)first * s->block,
                             (int32_t)(4 * s->block), a->x + 4 * ((uint32_t)(pixel * a->in_c) + t->channel),
                             4 * a->in_c, 4 * t->channels, (uint32_t)(last - first));
    }
    return ticket;
}

static inline vfloat32m4_t load(const float *x, size_t vl) {
    return __riscv_vle32_v_f32m4(x, vl);
}

static inline vfloat32m4_t add(vfloat32m4_t a, vfloat32m4_t b, size_t vl) {
    return __riscv_vfadd_vv_f32m4(a, b, vl);
}

/* The sum of rows x outer taps by columns x inner ones: inner ones one after the other, or `together` before the outer
 * sum gets theirs. */
static inline vfloat32m4_t sum_taps(const float *x, uint32_t outer, uint32_t outer_pitch, uint32_t inner,
                                    uint32_t inner_pitch, int together, size_t vl) {
    vfloat32m4_t sum = __riscv_vfmv_v_f_f32m4(0.0f, vl);
    for (; outer > 0; outer--, x += outer_pitch) {
        const float *at = x;
        vfloat32m4_t part = load(at, vl);
        if (!together) part = add(sum, part, vl);
        for (uint32_t i = inner; i > 1; i--) {
            at += inner_pitch;
            part = add(part, load(at, vl), vl);
        }
        sum = together ? add(sum, part, vl) : part;
    }
    return sum;
}

static void run_task(const struct averages *s, const struct task *t, uint32_t half) {
    const struct xpu_pool_f32_args *a = s->a;
    const uint32_t rows = (uint32_t)(t->last - t->first), pitch = s->row_floats;
    const size_t vl = __riscv_vsetvl_e32m4(t->channels);
    int32_t height = counted(t->top, a->kernel_h, a->in_h, a->pad_top, a->pad_bottom, a->count_include_pad);
    float *out = s->out[half];
    const float *window = s->x[half] + (uint32_t)t->first * pitch;
    int32_t column = t->left;
    for (uint32_t i = t->pixels; i > 0; i--, out += s->block, column += a->stride_w) {
        int32_t first = 0, width = a->kernel_w;
        uint32_t columns = (uint32_t)width;
        if (column < 0 || column + width > a->in_w) {
            width = counted(column, a->kernel_w, a->in_w, a->pad_left, a->pad_right, a->count_include_pad);
            columns = (uint32_t)(inside(column, a->kernel_w, 0, a->in_w, &first) - first);
        }
        const float *x = window + (uint32_t)first * s->block;
        window += (uint32_t)a->stride_w * s->block;
        vfloat32m4_t sum = __riscv_vfmv_v_f_f32m4(0.0f, vl);
        if (rows > 0 && columns > 0) {
            sum = a->by_columns ? sum_taps(x, columns, s->block, rows, pitch, 1, vl)
                                : sum_taps(x, rows, pitch, columns, s->block, 0, vl);
        }
        __riscv_vse32_v_f32m4(out, __riscv_vfdiv_vf_f32m4(sum, (float)(height * width), vl), vl);
    }
}

int average_windows(const struct xpu_pool_f32_args *a, uint32_t core, uint32_t cores) {
    struct averages s = {.a = a};
    uint32_t index, last;
    if (a->dilation_h != 1 || a->dilation_w != 1 || !choose_tasks(&s, cores)) return 0;
    share_tasks(core, cores, count_tasks(&s), &index, &last);
    struct task next = {0};
    xpu_ticket loaded = {XPU_COUNTER_CALL, 0};
    if (index < last) {
        next = task_at(&s, index);
        loaded = load_task(&s, &next, 0);
    }
    for (uint32_t half = 0; index < last; index++, half ^= 1) {
        const struct task now = next;
        xpu_ticket ready = loaded;
        if (index + 1 < last) {
            next = task_at(&s, index + 1);
            loaded = load_task(&s, &next, half ^ 1);
        }
        xpu_wait(ready);
        xpu_wait(s.stored[half]);
        run_task(&s, &now, half);
        uint32_t pixel = (now.image * (uint32_t)a->out_h + now.row) * (uint32_t)a->out_w + now.pixel;
        s.stored[half] = xpu_store_2d(a->y + 4 * (pixel * (uint32_t)a->y_pixel + now.channel), 4 * a->y_pixel,
                                      s.out[half], (int32_t)(4 * s.block), 4 * now.channels, now.pixels);
    }
    return 1;
}
