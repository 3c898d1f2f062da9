#include "xpu_runtime/kernels/window.h"

enum { MAX_BLOCK = 64, MAX_PIXELS = 64 };

struct step {
    uint32_t kh, kw, taps;
};

static uint32_t floats_needed(struct window *w) {
    w->segment = (w->pixels - 1) * (uint32_t)w->stride_w + (w->taps - 1) * (uint32_t)w->dilation_w + 1;
    if (w->taps == 1) w->segment = w->pixels;
    return w->block * ((1 + w->rows_of_result) * w->pixels + 2 * w->segment + (w->has_extra ? 2 * w->taps : 0)) + 64;
}

static void choose_tiles(struct window *w) {
    uint32_t available;
    float *lm = lm_floats(&available);
    w->block = min_u32(((uint32_t)w->channels + 15) / 16 * 16, MAX_BLOCK);
    w->pixels = min_u32((uint32_t)w->out_w, MAX_PIXELS);
    w->taps = (uint32_t)w->kernel_w;
    while (floats_needed(w) > available) {
        if (w->pixels > 8)
            w->pixels = (w->pixels + 1) / 2;
        else if (w->taps > 1)
            w->taps = (w->taps + 1) / 2;
        else if (w->block > 16)
            w->block -= 16;
        else if (w->pixels > 1)
            w->pixels = (w->pixels + 1) / 2;
        else
            xpu_abort(0x77696e64);
    }
    w->acc = lm;
    w->more = w->acc + w->pixels * w->block;
    w->in[0] = w->more + w->rows_of_result * w->pixels * w->block;
    w->in[1] = w->in[0] + w->segment * w->block;
    w->extra[0] = w->in[1] + w->segment * w->block;
    w->extra[1] = w->extra[0] + (w->has_extra ? w->taps * w->block : 0);
}

int32_t window_input_row(const struct window *w, const struct window_task *t, uint32_t kh) {
    int32_t row = (int32_t)t->row * w->stride_h - w->pad_top + (int32_t)kh * w->dilation_h;
    return row >= 0 && row < w->in_h ? row : -1;
}

static int32_t first_column(const struct window *w, const struct window_task *t, uint32_t kw) {
    return (int32_t)t->first_pixel * w->stride_w - w->pad_left + (int32_t)kw * w->dilation_w;
}

void window_valid(const struct window *w, const struct window_task *t, uint32_t kw, uint32_t *low, uint32_t *high) {
    int32_t first = first_column(w, t, kw);
    int32_t begin = first >= 0 ? 0 : (-first + w->stride_w - 1) / w->stride_w;
    int32_t end = first >= w->in_w ? 0 : (w->in_w - 1 - first) / w->stride_w + 1;
    *high = (uint32_t)max_i32(min_i32(end, (int32_t)t->pixels), 0);
    *low = min_u32((uint32_t)begin, *high);
}

/* The first step at or behind *s whose kernel row lies inside the image; 0 when there is none. */
static int skip_padding(const struct window *w, const struct window_task *t, struct step *s) {
    if (s->kw >= (uint32_t)w->kernel_w) {
        s->kw = 0;
        s->kh++;
    }
    while (s->kh < (uint32_t)w->kernel_h && window_input_row(w, t, s->kh) < 0) {
        s->kw = 0;
        s->kh++;
    }
    s->taps = min_u32(w->taps, (uint32_t)w->kernel_w - s->kw);
    return s->kh < (uint32_t)w->kernel_h;
}

static xpu_ticket load_step(const struct window *w, const struct window_task *t, const struct step *s, uint32_t half,
                            xpu_ticket before) {
    int32_t row = window_input_row(w, t, s->kh), left = first_column(w, t, s->kw), pitch = 1, begin, end;
    uint32_t slot;
    if (w->taps == 1) {
        uint32_t low, high;
        window_valid(w, t, s->kw, &low, &high);
        pitch = w->stride_w;
        begin = left + (int32_t)low * pitch;
        end = begin + (int32_t)(high - low);
        slot = low;
    } else {
        begin = max_i32(left, 0);
        end = min_i32(left + (int32_t)(t->pixels - 1) * w->stride_w + (int32_t)(s->taps - 1) * w->dilation_w + 1,
                      w->in_w);
        slot = (uint32_t)(begin - left);
    }
    xpu_ticket ticket = before;
    if (end > begin) {
        uint32_t pixel = (t->image * (uint32_t)w->in_h + (uint32_t)row) * (uint32_t)w->in_w + (uint32_t)begin;
        ticket = xpu_load_2d(w->in[half] + slot * w->block, (int32_t)(4 * w->block),
                             w->x + 4 * (pixel * (uint32_t)w->channels + t->channel), 4 * pitch * w->channels,
                             4 * t->channels, (uint32_t)(end - begin));
    }
    if (w->has_extra) ticket = w->actions->load(w, t, s->kh, s->kw, s->taps, w->extra[half]);
    return ticket;
}

static void compute_step(const struct window *w, const struct window_task *t, const struct step *s, uint32_t half,
                         size_t vl) {
    uint32_t pitch = (w->taps == 1 ? 1 : (uint32_t)w->stride_w) * w->block;
    for (uint32_t tap = 0; tap < s->taps; tap++) {
        uint32_t low, high;
        window_valid(w, t, s->kw + tap, &low, &high);
        w->actions->tap(w, t, w->in[half] + tap * (uint32_t)w->dilation_w * w->block, pitch, low, high,
                        w->extra[half] + tap * w->block, vl);
    }
}

static void run_task(const struct window *w, const struct window_task *t) {
    size_t vl = __riscv_vsetvl_e32m4(t->channels);
    struct step now = {0, 0, 0};
    xpu_ticket loaded = {XPU_COUNTER_CALL, 0};
    int more = skip_padding(w, t, &now);
    if (more) loaded = load_step(w, t, &now, 0, loaded);
    w->actions->start(w, t, vl);
    for (uint32_t half = 0; more; half ^= 1) {
        struct step next = now;
        xpu_ticket ready = loaded;
        next.kw += next.taps;
        more = skip_padding(w, t, &next);
        if (more) loaded = load_step(w, t, &next, half ^ 1, ready);
        xpu_wait(ready);
        compute_step(w, t, &now, half, vl);
        now = next;
    }
    w->actions->finish(w, t, vl);
}

void window_run(struct window *w, uint32_t core, uint32_t cores) {
    choose_tiles(w);
    uint32_t blocks = ((uint32_t)w->channels + w->block - 1) / w->block;
    uint32_t tiles = ((uint32_t)w->out_w + w->pixels - 1) / w->pixels;
    uint32_t first, last;
    partition(core, cores, (uint32_t)(w->batch * w->out_h) * tiles * blocks, 1, &first, &last);
    for (uint32_t i = first; i < last; i++) {
        uint32_t row = i / (tiles * blocks), rest = i % (tiles * blocks);
        struct window_task t = {.image = row / (uint32_t)w->out_h, .row = row % (uint32_t)w->out_h};
        t.first_pixel = rest / blocks * w->pixels;
        t.pixels = min_u32(w->pixels, (uint32_t)w->out_w - t.first_pixel);
        t.channel = rest % blocks * w->block;
        t.channels = min_u32(w->block, (uint32_t)w->channels - t.channel);
        run_task(w, &t);
    }
}
