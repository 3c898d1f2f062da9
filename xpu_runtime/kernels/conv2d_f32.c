/*
 * Convolution in float32 on the cores.
 *
 * A task is `pixels` neighbouring output pixels of one row by up to 64 output channels of one group; its accumulators
 * stand in LM. K is walked in steps of the canonical order (kh, kw, c): a step is some taps of one kernel row with all
 * channels, or one tap with a slice of the channels. Each step's inputs and weights come by DMA while the step before
 * is computed. Taps in the padding are skipped, not multiplied by zero.
 */
#include "xpu_runtime/kernels/conv2d_f32.h"
#include "xpu_runtime/kernels/epilogue.h"

enum { LANES = 64, PIXELS_AT_ONCE = 4 };

struct plan {
    const struct xpu_conv2d_f32_args *a;
    struct epilogue epilogue;
    uint32_t group_in, group_out; /* channels of a group */
    uint32_t w_pitch;             /* floats from one k of the weights to the next */
    uint32_t block;               /* output channels of a task, a multiple of 16 */
    uint32_t blocks;              /* tasks along the output channels of one group */
    uint32_t pixels, tiles;       /* output pixels of a task, tasks along a row */
    uint32_t taps;                /* taps of a step */
    uint32_t slice;               /* channels of a step */
    uint32_t segment;             /* input pixels that a step holds at most */
    float *acc, *branch, *bias, *x[2], *w[2];
};

/* One step of K: taps kw .. kw + taps - 1 of row kh, channels c .. c + slice - 1. */
struct step {
    uint32_t kh, kw, taps, c, slice;
};

/* Where a task stands. */
struct task {
    uint32_t image, row, first_pixel, pixels, group, channel, channels;
};

static uint32_t floats_needed(const struct plan *p, uint32_t pixels, uint32_t taps, uint32_t slice, uint32_t *segment) {
    const struct xpu_conv2d_f32_args *a = p->a;
    uint32_t reach =
        taps == 1 ? pixels : (pixels - 1) * (uint32_t)a->stride_w + (taps - 1) * (uint32_t)a->dilation_w + 1;
    *segment = reach;
    return (a->branch ? 2u : 1u) * pixels * p->block + p->block + 2 * (reach * slice + taps * slice * p->block) + 64;
}

/* Chooses tile sizes that fit LM. The smallest always fit the smallest legal LM. */
static void choose_tiles(struct plan *p) {
    const struct xpu_conv2d_f32_args *a = p->a;
    uint32_t available;
    float *lm = lm_floats(&available);
    p->pixels = min_u32((uint32_t)a->out_w, 64);
    p->slice = min_u32(p->group_in, 64);
    p->taps = p->slice == p->group_in ? min_u32((uint32_t)a->kernel_w, max_i32(1, (int32_t)(64 / p->slice))) : 1;
    while (floats_needed(p, p->pixels, p->taps, p->slice, &p->segment) > available) {
        if (p->pixels > 16)
            p->pixels = (p->pixels + 1) / 2;
        else if (p->taps > 1)
            p->taps = (p->taps + 1) / 2;
        else if (p->slice > 4)
            p->slice = (p->slice + 1) / 2;
        else if (p->pixels > 1)
            p->pixels = (p->pixels + 1) / 2;
        else if (p->block > 16)
            p->block -= 16;
        else
            xpu_abort(0x636f6e76);
    }
    p->blocks = (p->group_out + p->block - 1) / p->block;
    p->tiles = ((uint32_t)a->out_w + p->pixels - 1) / p->pixels;
    p->acc = lm;
    p->branch = p->acc + p->pixels * p->block;
    p->bias = p->branch + (a->branch ? p->pixels * p->block : 0);
    p->w[0] = p->bias + p->block;
    p->w[1] = p->w[0] + p->taps * p->slice * p->block;
    p->x[0] = p->w[1] + p->taps * p->slice * p->block;
    p->x[1] = p->x[0] + p->segment * p->slice;
}

static int next_step(const struct plan *p, struct step *s) {
    const struct xpu_conv2d_f32_args *a = p->a;
    s->c += s->slice;
    if (s->c >= p->group_in) {
        s->c = 0;
        s->kw += s->taps;
        if (s->kw >= (uint32_t)a->kernel_w) {
            s->kw = 0;
            s->kh++;
        }
    }
    s->slice = min_u32(p->slice, p->group_in - s->c);
    s->taps = min_u32(p->taps, (uint32_t)a->kernel_w - s->kw);
    return s->kh < (uint32_t)a->kernel_h;
}

/* Input row that kernel row kh reads, or -1 in the padding. */
static int32_t input_row(const struct xpu_conv2d_f32_args *a, const struct task *t, uint32_t kh) {
    int32_t row = (int32_t)t->row * a->stride_h - a->pad_top + (int32_t)kh * a->dilation_h;
    return row >= 0 && row < a->in_h ? row : -1;
}

/* Output pixels [*low, *high) of the task for which tap kw lies inside the image. */
static void valid_pixels(const struct xpu_conv2d_f32_args *a, const struct task *t, uint32_t kw, uint32_t *low,
                         uint32_t *high) {
    int32_t first = (int32_t)t->first_pixel * a->stride_w - a->pad_left + (int32_t)kw * a->dilation_w;
    int32_t begin = first >= 0 ? 0 : (-first + a->stride_w - 1) / a->stride_w;
    int32_t end = first >= a->in_w ? 0 : (a->in_w - 1 - first) / a->stride_w + 1;
    *low = (uint32_t)begin;
    *high = min_u32(t->pixels, (uint32_t)max_i32(end, begin));
    if (*low > *high) *low = *high;
}

/* The input pixels of a step: from input column *first, every *pitch-th, *count of them, into slot *slot on. */
static void step_span(const struct plan *p, const struct task *t, const struct step *s, int32_t *first, int32_t *pitch,
                      uint32_t *slot, uint32_t *count) {
    const struct xpu_conv2d_f32_args *a = p->a;
    int32_t left = (int32_t)t->first_pixel * a->stride_w - a->pad_left + (int32_t)s->kw * a->dilation_w;
    uint32_t low, high;
    if (p->taps == 1) {
        valid_pixels(a, t, s->kw, &low, &high);
        *pitch = a->stride_w;
        *first = left + (int32_t)low * a->stride_w;
        *slot = low;
        *count = high - low;
        return;
    }
    int32_t right = left + (int32_t)(t->pixels - 1) * a->stride_w + (int32_t)(s->taps - 1) * a->dilation_w + 1;
    int32_t begin = max_i32(left, 0), end = min_i32(right, a->in_w);
    *pitch = 1;
    *first = begin;
    *slot = (uint32_t)(begin - left);
    *count = end > begin ? (uint32_t)(end - begin) : 0;
}

/* Queues the transfers of a step into buffer `half`; returns the last one's ticket. */
static xpu_ticket load_step(const struct plan *p, const struct task *t, const struct step *s, uint32_t half) {
    const struct xpu_conv2d_f32_args *a = p->a;
    int32_t row = input_row(a, t, s->kh), first, pitch;
    uint32_t slot, count;
    step_span(p, t, s, &first, &pitch, &slot, &count);
    if (count > 0) {
        uint32_t pixel = ((t->image * (uint32_t)a->in_h + (uint32_t)row) * (uint32_t)a->in_w + (uint32_t)first);
        uint32_t source = a->x + 4 * (pixel * (uint32_t)a->in_c + t->group * p->group_in + s->c);
        xpu_load_2d(p->x[half] + slot * s->slice, (int32_t)(4 * s->slice), source, 4 * pitch * a->in_c, 4 * s->slice,
                    count);
    }
    uint32_t k = ((t->group * (uint32_t)a->kernel_h + s->kh) * (uint32_t)a->kernel_w + s->kw) * p->group_in + s->c;
    return xpu_load_2d(p->w[half], (int32_t)(4 * p->block), a->w + 4 * (k * p->w_pitch + t->channel),
                       (int32_t)(4 * p->w_pitch), 4 * t->channels, s->taps * s->slice);
}

/* acc[i][0..vl) += x[i][k] * w[k][0..vl) in order of k, for PIXELS_AT_ONCE pixels. */
static void multiply_four(float *acc, uint32_t acc_pitch, const float *x, uint32_t x_pitch, const float *w,
                          uint32_t w_pitch, uint32_t depth, size_t vl) {
    vfloat32m4_t a0 = __riscv_vle32_v_f32m4(acc, vl);
    vfloat32m4_t a1 = __riscv_vle32_v_f32m4(acc + acc_pitch, vl);
    vfloat32m4_t a2 = __riscv_vle32_v_f32m4(acc + 2 * acc_pitch, vl);
    vfloat32m4_t a3 = __riscv_vle32_v_f32m4(acc + 3 * acc_pitch, vl);
    for (uint32_t k = 0; k < depth; k++, x++, w += w_pitch) {
        vfloat32m4_t row = __riscv_vle32_v_f32m4(w, vl);
        a0 = __riscv_vfmacc_vf_f32m4(a0, x[0], row, vl);
        a1 = __riscv_vfmacc_vf_f32m4(a1, x[x_pitch], row, vl);
        a2 = __riscv_vfmacc_vf_f32m4(a2, x[2 * x_pitch], row, vl);
        a3 = __riscv_vfmacc_vf_f32m4(a3, x[3 * x_pitch], row, vl);
    }
    __riscv_vse32_v_f32m4(acc, a0, vl);
    __riscv_vse32_v_f32m4(acc + acc_pitch, a1, vl);
    __riscv_vse32_v_f32m4(acc + 2 * acc_pitch, a2, vl);
    __riscv_vse32_v_f32m4(acc + 3 * acc_pitch, a3, vl);
}

static void multiply_one(float *acc, const float *x, const float *w, uint32_t w_pitch, uint32_t depth, size_t vl) {
    vfloat32m4_t a0 = __riscv_vle32_v_f32m4(acc, vl);
    for (uint32_t k = 0; k < depth; k++, w += w_pitch) {
        a0 = __riscv_vfmacc_vf_f32m4(a0, x[k], __riscv_vle32_v_f32m4(w, vl), vl);
    }
    __riscv_vse32_v_f32m4(acc, a0, vl);
}

static void compute_step(const struct plan *p, const struct task *t, const struct step *s, uint32_t half, size_t vl) {
    const struct xpu_conv2d_f32_args *a = p->a;
    uint32_t pitch = (p->taps == 1 ? 1 : (uint32_t)a->stride_w) * s->slice;
    for (uint32_t tap = 0; tap < s->taps; tap++) {
        const float *w = p->w[half] + tap * s->slice * p->block;
        const float *x = p->x[half] + tap * (uint32_t)a->dilation_w * s->slice;
        uint32_t pixel, end;
        valid_pixels(a, t, s->kw + tap, &pixel, &end);
        for (; pixel + PIXELS_AT_ONCE <= end; pixel += PIXELS_AT_ONCE) {
            multiply_four(p->acc + pixel * p->block, p->block, x + pixel * pitch, pitch, w, p->block, s->slice, vl);
        }
        for (; pixel < end; pixel++) {
            multiply_one(p->acc + pixel * p->block, x + pixel * pitch, w, p->block, s->slice, vl);
        }
    }
}

/* The first step at or behind *s whose kernel row lies inside the image; 0 when there is none. */
static int skip_padding(const struct plan *p, const struct task *t, struct step *s) {
    while (s->kh < (uint32_t)p->a->kernel_h && input_row(p->a, t, s->kh) < 0) {
        s->kh++;
        s->kw = s->c = 0;
        s->taps = min_u32(p->taps, (uint32_t)p->a->kernel_w);
        s->slice = min_u32(p->slice, p->group_in);
    }
    return s->kh < (uint32_t)p->a->kernel_h;
}

static void start_accumulators(const struct plan *p, const struct task *t, size_t vl) {
    const struct xpu_conv2d_f32_args *a = p->a;
    vfloat32m4_t start = __riscv_vfmv_v_f_f32m4(0.0f, vl);
    if (a->bias) {
        xpu_wait(GM2LM(p->bias, a->bias + 4 * (t->group * p->group_out + t->channel), 4 * t->channels));
        start = __riscv_vle32_v_f32m4(p->bias, vl);
    }
    for (uint32_t pixel = 0; pixel < t->pixels; pixel++) __riscv_vse32_v_f32m4(p->acc + pixel * p->block, start, vl);
}

static void finish_task(const struct plan *p, const struct task *t) {
    const struct xpu_conv2d_f32_args *a = p->a;
    uint32_t pixel = (t->image * (uint32_t)a->out_h + t->row) * (uint32_t)a->out_w + t->first_pixel;
    uint32_t offset = 4 * (pixel * (uint32_t)a->out_c + t->group * p->group_out + t->channel);
    int32_t pitch = 4 * a->out_c, lm_pitch = (int32_t)(4 * p->block);
    if (a->branch) xpu_wait(xpu_load_2d(p->branch, lm_pitch, a->branch + offset, pitch, 4 * t->channels, t->pixels));
    for (uint32_t i = 0; i < t->pixels; i++) {
        apply_epilogue(p->acc + i * p->block, a->branch ? p->branch + i * p->block : 0, t->channels, &p->epilogue);
    }
    xpu_wait(xpu_store_2d(a->y + offset, pitch, p->acc, lm_pitch, 4 * t->channels, t->pixels));
}

static void run_task(const struct plan *p, const struct task *t) {
    size_t vl = __riscv_vsetvl_e32m4(t->channels);
    struct step now = {0, 0, min_u32(p->taps, (uint32_t)p->a->kernel_w), 0, min_u32(p->slice, p->group_in)};
    int more = skip_padding(p, t, &now);
    xpu_ticket loaded = {0, 0};
    if (more) loaded = load_step(p, t, &now, 0);
    start_accumulators(p, t, vl);
    for (uint32_t half = 0; more; half ^= 1) {
        struct step next = now;
        xpu_ticket ready = loaded;
        more = next_step(p, &next) && skip_padding(p, t, &next);
        if (more) loaded = load_step(p, t, &next, half ^ 1);
        xpu_wait(ready);
        compute_step(p, t, &now, half, vl);
        now = next;
    }
    finish_task(p, t);
}

void conv2d_f32_part(const struct xpu_conv2d_f32_args *a, uint32_t w_pitch, uint32_t core, uint32_t cores) {
    struct plan p = {.a = a, .epilogue = EPILOGUE_OF(a), .w_pitch = w_pitch};
    p.group_in = (uint32_t)(a->in_c / a->groups);
    p.group_out = (uint32_t)(a->out_c / a->groups);
    p.block = min_u32((p.group_out + 15) / 16 * 16, LANES);
    choose_tiles(&p);
    uint32_t channel_tiles = p.blocks * (uint32_t)a->groups, per_row = p.tiles * channel_tiles;
    uint32_t first, last;
    partition(core, cores, (uint32_t)(a->batch * a->out_h) * per_row, 1, &first, &last);
    for (uint32_t i = first; i < last; i++) {
        uint32_t row = i / per_row, rest = i % per_row;
        struct task t = {.image = row / (uint32_t)a->out_h, .row = row % (uint32_t)a->out_h};
        t.first_pixel = rest / channel_tiles * p.pixels;
        t.pixels = min_u32(p.pixels, (uint32_t)a->out_w - t.first_pixel);
        t.group = rest % channel_tiles / p.blocks;
        t.channel = rest % p.blocks * p.block;
        t.channels = min_u32(p.block, p.group_out - t.channel);
        run_task(&p, &t);
    }
}

static void conv2d_share(const void *args, uint32_t core, uint32_t cores) {
    const struct xpu_conv2d_f32_args a = *(const struct xpu_conv2d_f32_args *)args;
    conv2d_f32_part(&a, (uint32_t)(a.out_c / a.groups + 15) / 16 * 16, core, cores);
}

xpu_ticket xpu_conv2d_f32(const struct xpu_conv2d_f32_args *args, uint32_t layer, xpu_ticket after) {
    return xpu_run_on_cores(conv2d_share, args, layer, after);
}
