#include "xpu_runtime/kernels/window.h"

#include "xpu_runtime/kernels/findmax.h"

enum {
    VECTOR = 64, /* channels of one vector */
    MOST_PIXELS = 64,
    MOST_DEPTH = 64,
    MOST_CHANNELS = 256,    /* channelwise: of a task of few pixels */
    MOST_RESULTS = 64 * 64, /* channelwise: of a task */
    LEAST_PIXELS = 8        /* that a task is cut to so that all cores have one */
};

/* One step of K: taps kw .. kw + taps - 1 of row kh, input channels c .. c + slice - 1. No taps: all is padding. */
struct step {
    uint32_t kh, kw, taps, c, slice;
    int first; /* of its task */
};

/* Where the walk over the tasks [index, last) stands. */
struct cursor {
    uint32_t index, last;
    struct window_task task;
    struct step step;
};

/* ---- tile sizes ---- */

static uint32_t floats_needed(struct window *w) {
    uint32_t reach = (w->pixels - 1) * (uint32_t)w->stride_w + (w->taps - 1) * (uint32_t)w->dilation_w + 1;
    uint32_t result = w->pixels * w->block, weights = w->taps * (w->channelwise ? 1 : w->slice) * w->block;
    w->segment = w->taps == 1 ? w->pixels : reach;
    return (w->branch || w->by_columns ? 3 : 2) * result +
           2 * (w->block + w->segment * w->slice + (w->w ? weights : 0)) + (w->y_absmax ? FINDMAX_LANES : 0);
}

static int set_block(struct window *w, uint32_t block) {
    w->block = (block + 15) / 16 * 16;
    if (w->channelwise) w->slice = w->block;
    return 1;
}

/* Makes a tile smaller, what costs least first; 0 when it is as small as can be. */
static int shrink(struct window *w) {
    static const struct {
        uint8_t taps, slice, pixels, block;
    } least[] = {{1, 16, 16, 32}, {1, 8, 4, 16}, {1, 1, 1, 16}};
    if (w->block > VECTOR) return set_block(w, w->block - VECTOR);
    for (uint32_t i = 0; i < sizeof least / sizeof *least; i++) {
        if (!w->channelwise && w->taps > least[i].taps) return w->taps = (w->taps + 1) / 2, 1;
        if (!w->channelwise && w->slice > least[i].slice) return w->slice = (w->slice + 1) / 2, 1;
        if (w->pixels > least[i].pixels) return w->pixels = (w->pixels + 1) / 2, 1;
        if (w->taps > least[i].taps) return w->taps = (w->taps + 1) / 2, 1;
        if (w->block > least[i].block) return set_block(w, w->block - 16);
    }
    return 0;
}

static uint32_t count_tasks(struct window *w) {
    w->tiles = ceil_div((uint32_t)w->out_w, w->pixels);
    w->blocks = ceil_div(w->group_out, w->block);
    return (uint32_t)(w->batch * w->out_h) * w->tiles * w->groups * w->blocks;
}

/* Smaller tasks where there would be fewer than cores. */
static void share_out(struct window *w, uint32_t cores) {
    while (count_tasks(w) < cores) {
        if (w->block > VECTOR)
            set_block(w, round_down(w->block - 1, VECTOR));
        else if (w->pixels > LEAST_PIXELS)
            w->pixels = (w->pixels + 1) / 2;
        else
            break;
    }
}

static __attribute__((noinline)) void choose_tiles(struct window *w, uint32_t cores) {
    uint32_t available;
    float *lm = lm_floats(&available);
    w->group_in = (uint32_t)w->in_c / w->groups;
    w->group_out = (uint32_t)w->out_c / w->groups;
    w->pixels = min_u32((uint32_t)w->out_w, MOST_PIXELS);
    w->block = w->channelwise ? min_u32(round_down(MOST_RESULTS / w->pixels, VECTOR), MOST_CHANNELS) : VECTOR;
    w->block = min_u32((w->group_out + 15) / 16 * 16, w->block);
    w->slice = w->channelwise ? w->block : min_u32(w->group_in, MOST_DEPTH);
    w->taps = (uint32_t)w->kernel_w;
    if (!w->channelwise) {
        uint32_t taps = w->slice == w->group_in ? MOST_DEPTH / w->slice : 1;
        w->taps = min_u32(w->taps, taps);
    }
    if (w->by_columns) w->taps = 1;
    while (floats_needed(w) > available) {
        if (!shrink(w)) xpu_abort(ABORT_LOCAL_MEMORY);
    }
    share_out(w, cores);
    for (uint32_t i = 0; i < 2; i++) {
        w->acc[i] = lm;
        w->x_lm[i] = w->acc[i] + w->pixels * w->block;
        w->bias_lm[i] = w->x_lm[i] + w->segment * w->slice;
        w->w_lm[i] = w->bias_lm[i] + w->block;
        lm = w->w_lm[i] + (w->w ? w->taps * (w->channelwise ? 1 : w->slice) * w->block : 0);
    }
    w->branch_lm = w->column_lm = lm; /* there is one of them at most */
    w->most = (uint32_t *)(lm + (w->branch || w->by_columns ? w->pixels * w->block : 0));
}

/* ---- which taps and pixels are inside the image ---- */

/* Input row that kernel row kh reads, or -1 in the padding. */
static int32_t input_row(const struct window *w, const struct window_task *t, uint32_t kh) {
    int32_t row = (int32_t)t->row * w->stride_h - w->pad_top + (int32_t)kh * w->dilation_h;
    return row >= 0 && row < w->in_h ? row : -1;
}

/* Input column that tap kw reads for the task's first pixel. */
static int32_t first_column(const struct window *w, const struct window_task *t, uint32_t kw) {
    return (int32_t)t->first_pixel * w->stride_w - w->pad_left + (int32_t)kw * w->dilation_w;
}

/* Output pixels [*low, *high) of the task for which tap kw lies inside the image. */
static void valid_pixels(const struct window *w, const struct window_task *t, uint32_t kw, uint32_t *low,
                         uint32_t *high) {
    int32_t first = first_column(w, t, kw), last = first + (int32_t)(t->pixels - 1) * w->stride_w;
    int32_t begin = first >= 0 ? 0 : (-first + w->stride_w - 1) / w->stride_w;
    int32_t end = last < w->in_w ? (int32_t)t->pixels : first >= w->in_w ? 0 : (w->in_w - 1 - first) / w->stride_w + 1;
    *high = (uint32_t)max_i32(min_i32(end, (int32_t)t->pixels), 0);
    *low = min_u32((uint32_t)begin, *high);
}

/* ---- the walk ---- */

/* Goes on to the first kernel row inside the image; 0 when there is none. */
static int enter_row(const struct window *w, struct cursor *at) {
    struct step *s = &at->step;
    while (s->kh < (uint32_t)w->kernel_h && input_row(w, &at->task, s->kh) < 0) s->kh++;
    return s->kh < (uint32_t)w->kernel_h;
}

static void size_step(const struct window *w, struct cursor *at) {
    struct step *s = &at->step;
    s->taps = min_u32(w->taps, (uint32_t)w->kernel_w - s->kw);
    s->slice = w->channelwise ? at->task.channels : min_u32(w->slice, w->group_in - s->c);
}

static __attribute__((noinline)) void begin_task(const struct window *w, struct cursor *at) {
    uint32_t channel_tiles = w->groups * w->blocks, rest = at->index % channel_tiles,
             pixels = at->index / channel_tiles;
    struct window_task *t = &at->task;
    t->group = rest / w->blocks;
    t->channel = rest % w->blocks * w->block;
    t->channels = min_u32(w->block, w->group_out - t->channel);
    t->first_pixel = pixels % w->tiles * w->pixels;
    t->pixels = min_u32(w->pixels, (uint32_t)w->out_w - t->first_pixel);
    t->row = pixels / w->tiles % (uint32_t)w->out_h;
    t->image = pixels / w->tiles / (uint32_t)w->out_h;
    at->step = (struct step){.first = 1};
    if (enter_row(w, at)) size_step(w, at);
}

/* To the next step, if need be of the next task; 0 behind the last. */
static int advance(const struct window *w, struct cursor *at) {
    struct step *s = &at->step;
    if (s->taps > 0 && w->by_columns) {
        s->first = 0;
        s->kh++;
        if (!enter_row(w, at)) {
            s->kh = 0;
            s->kw++;
        }
        if (s->kw < (uint32_t)w->kernel_w && enter_row(w, at)) return 1;
    } else if (s->taps > 0) {
        s->first = 0;
        s->c += s->slice;
        if (w->channelwise || s->c >= w->group_in) {
            s->c = 0;
            s->kw += s->taps;
        }
        if (s->kw >= (uint32_t)w->kernel_w) {
            s->kw = 0;
            s->kh++;
        }
        if (enter_row(w, at)) {
            size_step(w, at);
            return 1;
        }
    }
    if (++at->index >= at->last) return 0;
    begin_task(w, at);
    return 1;
}

/* ---- transfers ---- */

/* Offset in floats of the task's first result in y or branch, whose pixels are `pitch` floats apart. */
static uint32_t result_offset(const struct window *w, const struct window_task *t, uint32_t pitch) {
    uint32_t pixel = (t->image * (uint32_t)w->out_h + t->row) * (uint32_t)w->out_w + t->first_pixel;
    return pixel * pitch + t->group * w->group_out + t->channel;
}

/* The step's inputs: input pixels from `left` on, or where a step is one tap, only those that output pixels read. */
static xpu_ticket load_inputs(const struct window *w, const struct window_task *t, const struct step *s, float *lm,
                              xpu_ticket before) {
    int32_t left = first_column(w, t, s->kw), pitch = 1, begin, end;
    uint32_t slot;
    if (w->taps == 1) {
        uint32_t low, high;
        valid_pixels(w, t, s->kw, &low, &high);
        pitch = w->stride_w;
        begin = left + (int32_t)low * pitch;
        end = begin + (int32_t)(high - low);
        slot = low;
    } else {
        int32_t reach = (int32_t)(t->pixels - 1) * w->stride_w + (int32_t)(s->taps - 1) * w->dilation_w + 1;
        begin = max_i32(left, 0);
        end = min_i32(left + reach, w->in_w);
        slot = (uint32_t)(begin - left);
    }
    if (end <= begin) return before;
    uint32_t channel = w->channelwise ? t->channel : t->group * w->group_in + s->c;
    uint32_t row = (uint32_t)(input_row(w, t, s->kh) * w->in_w + begin);
    return xpu_load_2d(lm + slot * s->slice, (int32_t)(4 * s->slice),
                       w->x + 4 * (t->image * w->x_image + row * (uint32_t)w->in_c + channel), 4 * pitch * w->in_c,
                       4 * s->slice, (uint32_t)(end - begin));
}

/* The step's weights: `block` floats in LM for each k. */
static xpu_ticket load_weights(const struct window *w, const struct window_task *t, const struct step *s, float *lm) {
    uint32_t depth = w->channelwise ? 1 : w->group_in, slice = w->channelwise ? 1 : s->slice;
    uint32_t tap = (t->group * (uint32_t)w->kernel_h + s->kh) * (uint32_t)w->kernel_w + s->kw;
    uint32_t from = t->image * w->w_image + (tap * depth + s->c) * w->w_pitch + t->channel;
    return xpu_load_2d(lm, (int32_t)(4 * w->block), w->w + 4 * from, (int32_t)(4 * w->w_pitch), 4 * t->channels,
                       s->taps * slice);
}

/* Queues the operands of a step into buffers `half`; the last ticket, or `before` where there is nothing to load. */
static xpu_ticket load_step(const struct window *w, const struct cursor *at, uint32_t half, xpu_ticket before) {
    const struct window_task *t = &at->task;
    if (at->step.first && w->bias) {
        before =
            GM2LM(w->bias_lm[at->index & 1], w->bias + 4 * (t->group * w->group_out + t->channel), 4 * t->channels);
    }
    if (at->step.taps == 0) return before;
    before = load_inputs(w, t, &at->step, w->x_lm[half], before);
    return w->w ? load_weights(w, t, &at->step, w->w_lm[half]) : before;
}

/* ---- computing ---- */

/* Sums of a column are 0 before it begins. */
static __attribute__((noinline)) void clear_columns(const struct window *w) {
    uint32_t count = w->pixels * w->block;
    float *column = w->column_lm;
    for (size_t vl; count > 0; count -= (uint32_t)vl, column += vl) {
        vl = __riscv_vsetvl_e32m4(count);
        __riscv_vse32_v_f32m4(column, __riscv_vfmv_v_f_f32m4(0, vl), vl);
    }
}

/* Adds the sums of a column, and clears them. */
static __attribute__((noinline)) void add_columns(const struct window *w, const struct cursor *at) {
    uint32_t count = at->task.pixels * w->block;
    float *acc = w->acc[at->index & 1], *column = w->column_lm;
    for (size_t vl; count > 0; count -= (uint32_t)vl, acc += vl, column += vl) {
        vl = __riscv_vsetvl_e32m4(count);
        vfloat32m4_t sum =
            __riscv_vfadd_vv_f32m4(__riscv_vle32_v_f32m4(acc, vl), __riscv_vle32_v_f32m4(column, vl), vl);
        __riscv_vse32_v_f32m4(acc, sum, vl);
        __riscv_vse32_v_f32m4(column, __riscv_vfmv_v_f_f32m4(0, vl), vl);
    }
}

static void start_task(const struct window *w, const struct cursor *at) {
    for (uint32_t c = 0; c < at->task.channels; c += VECTOR) {
        size_t vl = __riscv_vsetvl_e32m4(at->task.channels - c);
        float *acc = w->acc[at->index & 1] + c;
        vfloat32m4_t start = __riscv_vfmv_v_f_f32m4(w->start, vl);
        for (uint32_t i = at->task.pixels; i > 0; i--, acc += w->block) __riscv_vse32_v_f32m4(acc, start, vl);
    }
}

/* `count` pixels of the task from `first` on. */
static void multiply(const struct window *w, const struct cursor *at, const struct window_run *run, uint32_t first,
                     uint32_t count) {
    struct window_run part = *run;
    part.acc += first * w->block;
    part.x += first * run->pitch;
    part.pixels = count;
    for (uint32_t c = 0; c < at->task.channels; c += VECTOR) {
        w->multiply(w, &part, __riscv_vsetvl_e32m4(at->task.channels - c));
        part.acc += VECTOR;
        part.x += VECTOR;
        part.w += VECTOR;
        if (part.ends.bias) part.ends.bias += VECTOR;
    }
}

/* Pixels [pixel, end) for which not all of the run's taps, from kw on, are inside the image: those that are. */
static __attribute__((noinline)) void multiply_edge(const struct window *w, const struct cursor *at,
                                                    const struct window_run *run, uint32_t kw, uint32_t w_tap,
                                                    uint32_t pixel, uint32_t end) {
    for (; pixel < end; pixel++) {
        struct window_run part = *run;
        int32_t column = first_column(w, &at->task, kw) + (int32_t)pixel * w->stride_w;
        for (; part.taps > 0 && column < 0; part.taps--, column += w->dilation_w) {
            part.x += run->tap_pitch;
            part.w += w_tap;
        }
        while (part.taps > 0 && column + (int32_t)(part.taps - 1) * w->dilation_w >= w->in_w) part.taps--;
        if (part.taps > 0 || part.ends.fresh || part.ends.bias) multiply(w, at, &part, pixel, 1);
    }
}

/* Whether the accumulators of a task's first step begin as what `multiply` makes of it: others need all pixels in the
 * first taps. */
static int begins_fresh(const struct window *w, const struct cursor *at) {
    const struct step *s = &at->step;
    uint32_t low, high, ignored;
    if (w->is_product) return 1;
    if (!w->may_be_fresh || s->taps == 0) return 0;
    valid_pixels(w, &at->task, s->kw, &low, &ignored);
    valid_pixels(w, &at->task, s->kw + min_u32(w->taps_together, s->taps) - 1, &ignored, &high);
    return low == 0 && high == at->task.pixels;
}

/* `last`: of its task. */
static void compute_step(const struct window *w, const struct cursor *at, uint32_t half, uint32_t fresh,
                         uint32_t last) {
    const struct step *s = &at->step;
    struct window_run run = {.acc = w->by_columns ? w->column_lm : w->acc[at->index & 1],
                             .x = w->x_lm[half],
                             .w = w->w_lm[half],
                             .slice = s->slice,
                             .ends.fresh = fresh};
    uint32_t w_tap = (w->channelwise ? 1 : s->slice) * w->block;
    run.pitch = (w->taps == 1 ? 1 : (uint32_t)w->stride_w) * s->slice;
    run.tap_pitch = (uint32_t)w->dilation_w * s->slice;
    const float *bias = w->is_product && last ? w->bias_lm[at->index & 1] : 0;
    uint32_t tap = 0;
    if (s->taps == 0 && !w->is_product) return;
    do {
        uint32_t kw = s->kw + tap, low, high, ignored;
        run.taps = min_u32(w->taps_together, s->taps - tap);
        tap += run.taps;
        if (tap == s->taps) run.ends.bias = bias;
        valid_pixels(w, &at->task, kw, &low, &ignored);
        valid_pixels(w, &at->task, kw + run.taps - 1, &ignored, &high);
        if (low < high)
            multiply(w, at, &run, low, high - low);
        else
            low = high = at->task.pixels;
        if (run.taps > 1 || run.ends.fresh || run.ends.bias) {
            multiply_edge(w, at, &run, kw, w_tap, 0, low);
            multiply_edge(w, at, &run, kw, w_tap, high, at->task.pixels);
        }
        run.x += run.taps * run.tap_pitch;
        run.w += run.taps * w_tap;
        run.ends.fresh = 0;
    } while (tap < s->taps);
}

/* Ends a task; returns the ticket of its store. */
static xpu_ticket finish_task(const struct window *w, const struct cursor *at, xpu_ticket branch) {
    const struct window_task *t = &at->task;
    float *acc = w->acc[at->index & 1];
    if (w->finish) w->finish(w, t, acc);
    if (w->branch) xpu_wait(branch);
    apply_epilogue(acc, w->branch ? w->branch_lm : 0, t->pixels * w->block, &w->epilogue);
    if (w->y_absmax) findmax_rows(w->most, acc, w->block, t->channels, t->pixels);
    return xpu_store_2d(w->y + 4 * result_offset(w, t, w->y_pixel), (int32_t)(4 * w->y_pixel), acc,
                        (int32_t)(4 * w->block), 4 * t->channels, t->pixels);
}

static void run_tasks(const struct window *w, uint32_t first, uint32_t last) {
    struct cursor now = {.index = first, .last = last};
    if (first >= last) return;
    begin_task(w, &now);
    xpu_ticket none = {XPU_COUNTER_CALL, 0}, loaded = load_step(w, &now, 0, none), stored[2] = {none, none};
    xpu_ticket branch = none;
    for (uint32_t half = 0, more = 1; more; half ^= 1) {
        struct cursor next = now;
        xpu_ticket ready = loaded;
        more = (uint32_t)advance(w, &next);
        if (more) loaded = load_step(w, &next, half ^ 1, ready);
        if (now.step.first && w->branch) {
            const uint32_t from = result_offset(w, &now.task, (uint32_t)w->out_c);
            branch = xpu_load_2d(w->branch_lm, (int32_t)(4 * w->block), w->branch + 4 * from, 4 * w->out_c,
                                 4 * now.task.channels, now.task.pixels);
        }
        xpu_wait(ready);
        uint32_t fresh = 0;
        if (now.step.first) {
            xpu_wait(stored[now.index & 1]);
            fresh = begins_fresh(w, &now);
            if (!fresh) start_task(w, &now);
        }
        const int last_step = !more || next.index != now.index;
        compute_step(w, &now, half, fresh, last_step);
        if (w->by_columns && (last_step || next.step.kw != now.step.kw)) add_columns(w, &now);
        if (last_step) stored[now.index & 1] = finish_task(w, &now, branch);
        now = next;
    }
}

void window_run(struct window *w, uint32_t core, uint32_t cores) {
    uint32_t first, last;
    choose_tiles(w, cores);
    partition(core, cores, count_tasks(w), 1, &first, &last);
    if (w->y_absmax) findmax_begin(w->most);
    if (w->by_columns) clear_columns(w);
    for (uint32_t i = 0; w->is_product && !w->bias && i < 2; i++) clear_words(w->bias_lm[i], w->block);
    run_tasks(w, first, last);
    if (w->y_absmax) findmax_end(w->most, w->y_absmax, core, cores);
}
