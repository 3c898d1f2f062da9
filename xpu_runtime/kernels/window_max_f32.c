/*
 * Maxima over windows in float32. A task is some output rows of neighbouring pixels by a block of channels. Its input
 * rows come by DMA one after the other, each once, into a ring in LM, while the output row before them is computed: the
 * maximum of the rows of a window, of all columns at once, stands in a strip, with minus infinity for columns in the
 * padding, and that of the strip's columns is the result. A maximum ignores NaN, which must spread: the rows are also
 * added up, and where a sum is NaN the output row is computed once more by way of masks.
 */
#include "xpu_runtime/kernels/window_max_f32.h"

#include "xpu_runtime/kernels/findmax.h"

enum { VECTOR = 64, CHANNELS = 16, AT_ONCE = 3, MANY_TASKS = 8, LEAST_PIXELS = 8, LEAST_WINDOWS = 4 };

struct maxima {
    const struct xpu_pool_f32_args *a;
    uint32_t block, pixels, rows;  /* of a task, at most */
    uint32_t blocks, tiles, bands; /* tasks along the channels, along a row, down the image */
    int32_t slots;                 /* rows of the ring */
    uint32_t row_floats;           /* of an input row in LM, and of the strip */
    float *ring, *strip, *out[2];
    uint32_t half; /* of out, the next one */
    xpu_ticket stored[2];
    struct rounding rounding;
    uint32_t *most; /* findmax */
};

struct task {
    uint32_t image, channel, channels, pixel, pixels;
    int32_t row, end;                    /* output rows */
    int32_t left, first, columns, reach; /* input columns: of the first tap of the first pixel; in LM; all of them */
    int32_t loaded;                      /* input rows that are asked for */
    xpu_ticket ticket;
};

/* ---- tasks ---- */

static uint64_t floats_of(struct maxima *s) {
    const uint64_t row = (uint64_t)((s->pixels - 1) * (uint32_t)s->a->stride_w + (uint32_t)s->a->kernel_w) * s->block;
    s->row_floats = (uint32_t)row;
    return (uint32_t)(s->slots + 1) * row + 2 * s->pixels * s->block;
}

/* As many channels as fit with so many pixels that few columns are read twice; 0: LM has no room. */
static int choose_block(struct maxima *s, uint32_t available) {
    const uint32_t channels = (uint32_t)s->a->in_c, width = (uint32_t)s->a->out_w;
    uint32_t parts = ceil_div(channels, VECTOR);
    for (uint32_t least = (uint32_t)max_i32(LEAST_PIXELS, LEAST_WINDOWS * s->a->kernel_w / s->a->stride_w);; parts++) {
        s->block = min_u32(round_up(ceil_div(channels, parts), CHANNELS), channels);
        if (s->block <= CHANNELS) least = 1;
        for (uint32_t tiles = 1;; tiles++) {
            s->pixels = ceil_div(width, tiles);
            if (floats_of(s) <= available) return 1;
            if (s->pixels <= least) break;
        }
        if (s->block <= CHANNELS) break;
    }
    return 0;
}

/* Bands of rows where the cores would not have as many tasks each. */
static uint32_t count_tasks(struct maxima *s, uint32_t cores) {
    const struct xpu_pool_f32_args *a = s->a;
    s->blocks = ceil_div((uint32_t)a->in_c, s->block);
    s->tiles = ceil_div((uint32_t)a->out_w, s->pixels);
    const uint32_t tasks = (uint32_t)a->batch * s->blocks * s->tiles;
    s->bands = 1;
    while (tasks < MANY_TASKS * cores && tasks * s->bands % cores != 0) s->bands++;
    s->rows = ceil_div((uint32_t)a->out_h, s->bands);
    s->bands = ceil_div((uint32_t)a->out_h, s->rows);
    return tasks * s->bands;
}

static struct task task_at(const struct maxima *s, uint32_t index) {
    const struct xpu_pool_f32_args *a = s->a;
    struct task t = {.channel = index % s->blocks * s->block};
    index /= s->blocks;
    t.channels = min_u32(s->block, (uint32_t)a->in_c - t.channel);
    t.pixel = index % s->tiles * s->pixels;
    index /= s->tiles;
    t.pixels = min_u32(s->pixels, (uint32_t)a->out_w - t.pixel);
    t.row = (int32_t)(index % s->bands * s->rows);
    t.end = min_i32(t.row + (int32_t)s->rows, a->out_h);
    t.image = index / s->bands;
    t.left = (int32_t)t.pixel * a->stride_w - a->pad_left;
    t.first = max_i32(t.left, 0);
    t.reach = (int32_t)(t.pixels - 1) * a->stride_w + a->kernel_w;
    t.columns = min_i32(t.left + t.reach, a->in_w) - t.first;
    t.loaded = max_i32(t.row * a->stride_h - a->pad_top, 0);
    t.ticket = (xpu_ticket){XPU_COUNTER_CALL, 0};
    return t;
}

static float *slot_of(const struct maxima *s, int32_t row) {
    return s->ring + (uint32_t)(row % s->slots) * s->row_floats;
}

/* The input rows of output row `row` that are not asked for; those between two windows are left out. */
static void load_rows(const struct maxima *s, struct task *t, int32_t row) {
    const struct xpu_pool_f32_args *a = s->a;
    const int32_t top = row * a->stride_h - a->pad_top, until = min_i32(top + a->kernel_h, a->in_h);
    for (t->loaded = max_i32(t->loaded, top); t->loaded < until; t->loaded++) {
        const int32_t pixel = ((int32_t)t->image * a->in_h + t->loaded) * a->in_w + t->first;
        t->ticket = xpu_load_2d(slot_of(s, t->loaded), (int32_t)(4 * t->channels),
                                a->x + 4 * ((uint32_t)(pixel * a->in_c) + t->channel), 4 * a->in_c, 4 * t->channels,
                                (uint32_t)t->columns);
    }
}

/* ---- maxima ---- */

static inline vfloat32m4_t load(const float *x, size_t vl) {
    return __riscv_vle32_v_f32m4(x, vl);
}

static inline vfloat32m4_t add(vfloat32m4_t a, vfloat32m4_t b, size_t vl) {
    return __riscv_vfadd_vv_f32m4(a, b, vl);
}

static inline vbool8_t is_nan(vfloat32m4_t x, size_t vl) {
    return __riscv_vmfne_vv_f32m4_b8(x, x, vl);
}

/* out = max of up to three taps, and of out unless they are its first; `count` vectors, `pitch` and `out_pitch` floats
 * apart. Two at a time, so that one's loads fill the other's waits. `looks`: whether the sum of all taps is NaN. */
static inline __attribute__((always_inline)) int max_and_look(float *out, uint32_t out_pitch,
                                                              const float *const x[AT_ONCE], uint32_t taps,
                                                              uint32_t pitch, uint32_t count, int fresh, int looks,
                                                              size_t vl) {
    const float *first = fresh ? x[0] : out, *second = x[fresh], *third = x[fresh ? 2 : 1], *last = x[2];
    const uint32_t more = taps - (uint32_t)fresh, first_pitch = fresh ? pitch : out_pitch;
    vfloat32m4_t sum = xv_splat(0.0f, vl), other = sum;
    for (uint32_t pairs = count / 2; pairs > 0; pairs--) {
        vfloat32m4_t a = load(first, vl), b = load(first + first_pitch, vl), c;
        if (looks) sum = add(sum, a, vl), other = add(other, b, vl);
#define MAX_TAP(x)                                                                                                     \
    c = load(x, vl), a = xv_fmax(a, c, vl);                                                                            \
    if (looks) sum = add(sum, c, vl);                                                                                  \
    c = load((x) + pitch, vl), b = xv_fmax(b, c, vl);                                                                  \
    if (looks) other = add(other, c, vl);                                                                              \
    x += 2 * pitch;
        if (more > 0) {
            MAX_TAP(second)
        }
        if (more > 1) {
            MAX_TAP(third)
        }
        if (more > 2) {
            MAX_TAP(last)
        }
#undef MAX_TAP
        __riscv_vse32_v_f32m4(out, a, vl);
        __riscv_vse32_v_f32m4(out + out_pitch, b, vl);
        first += 2 * first_pitch, out += 2 * out_pitch;
    }
    if (count % 2) {
        const float *const rest[] = {second, third, last};
        vfloat32m4_t a = load(first, vl);
        sum = add(sum, a, vl);
        for (uint32_t k = 0; k < more; k++) {
            const vfloat32m4_t c = load(rest[k], vl);
            a = xv_fmax(a, c, vl), sum = add(sum, c, vl);
        }
        __riscv_vse32_v_f32m4(out, a, vl);
    }
    return looks && __riscv_vfirst_m_b8(is_nan(add(sum, other, vl), vl), vl) >= 0;
}

/* The same where there may be NaN. */
static __attribute__((noinline)) void careful_max_of(float *out, uint32_t out_pitch, const float *const x[AT_ONCE],
                                                     uint32_t taps, uint32_t pitch, uint32_t count, int fresh,
                                                     size_t vl) {
    for (uint32_t i = 0; i < count; i++, out += out_pitch) {
        vfloat32m4_t most = load(fresh ? x[0] + i * pitch : out, vl);
        vbool8_t nan = is_nan(most, vl);
        for (uint32_t k = (uint32_t)fresh; k < taps; k++) {
            const vfloat32m4_t v = load(x[k] + i * pitch, vl);
            nan = __riscv_vmor_mm_b8(nan, is_nan(v, vl), vl);
            most = xv_fmax(most, v, vl);
        }
        __riscv_vse32_v_f32m4(out, __riscv_vfmerge_vfm_f32m4(most, xa_nan(), nan, vl), vl);
    }
}

/* Vectors of results that lie at `out`, and taps of one kind: rows, which are looked at for NaN, or columns of the
 * strip. */
struct run {
    float *out;
    uint32_t out_pitch, pitch, count;
    int careful, looks, found;
    size_t vl;
};

static inline void max_of(struct run *r, const float *const x[AT_ONCE], uint32_t taps, int fresh) {
    if (r->careful)
        careful_max_of(r->out, r->out_pitch, x, taps, r->pitch, r->count, fresh, r->vl);
    else if (r->looks)
        r->found |= max_and_look(r->out, r->out_pitch, x, taps, r->pitch, r->count, fresh, 1, r->vl);
    else
        max_and_look(r->out, r->out_pitch, x, taps, r->pitch, r->count, fresh, 0, r->vl);
}

/* Vectors and then what is left of `floats` that are dense, as their taps are. */
static void dense(struct run *r, uint32_t floats, const float *const x[AT_ONCE], uint32_t taps, int fresh) {
    const uint32_t whole = floats / VECTOR, rest = floats % VECTOR;
    float *out = r->out;
    r->out_pitch = r->pitch = VECTOR;
    if (whole) {
        r->count = whole, r->vl = __riscv_vsetvl_e32m4(VECTOR);
        max_of(r, x, taps, fresh);
    }
    if (rest) {
        const float *const behind[AT_ONCE] = {x[0] + whole * VECTOR, x[1] + whole * VECTOR, x[2] + whole * VECTOR};
        r->out = out + whole * VECTOR, r->count = 1, r->vl = __riscv_vsetvl_e32m4(rest);
        max_of(r, behind, taps, fresh);
    }
    r->out = out;
}

/* Of rows first .. last - 1 of the window, all columns that are in LM; whether there may be NaN. */
static int max_of_rows(const struct maxima *s, const struct task *t, int32_t top, int32_t first, int32_t last,
                       int careful) {
    struct run r = {.out = s->strip + (uint32_t)(t->first - t->left) * t->channels, .careful = careful, .looks = 1};
    for (int32_t ky = first; ky < last; ky += AT_ONCE) {
        const float *x[AT_ONCE];
        const int32_t taps = min_i32(AT_ONCE, last - ky);
        for (int32_t i = 0; i < AT_ONCE; i++) x[i] = slot_of(s, top + ky + min_i32(i, taps - 1));
        dense(&r, (uint32_t)t->columns * t->channels, x, (uint32_t)taps, ky == first);
    }
    return r.found;
}

/* Of columns of the strip, for all pixels. */
static void max_of_columns(const struct maxima *s, const struct task *t, float *out, int careful) {
    const struct xpu_pool_f32_args *a = s->a;
    const uint32_t channels = t->channels;
    struct run r = {.out = out, .careful = careful};
    for (int32_t kx = 0; kx < a->kernel_w; kx += AT_ONCE) {
        const uint32_t taps = (uint32_t)min_i32(AT_ONCE, a->kernel_w - kx);
        const float *from = s->strip + (uint32_t)kx * channels;
        const float *const x[AT_ONCE] = {from, from + (taps > 1 ? channels : 0), from + (taps > 2 ? 2 * channels : 0)};
        if (a->stride_w == 1) {
            dense(&r, t->pixels * channels, x, taps, kx == 0);
        } else {
            r.out_pitch = channels, r.pitch = (uint32_t)a->stride_w * channels, r.count = t->pixels;
            r.vl = __riscv_vsetvl_e32m4(channels);
            max_of(&r, x, taps, kx == 0);
        }
    }
}

struct rounding rounding_of(uint32_t x_absmax) {
    const float absmax = *(const volatile float *)(uintptr_t)x_absmax;
    return (struct rounding){xa_absmax_inverse(absmax, XA_I16_MAX), xa_absmax_scale(absmax, XA_I16_MAX)};
}

void round_maxima(const struct rounding *r, float *maxima, uint32_t count, uint32_t *lanes) {
    const float inverse = r->inverse, scale = r->scale;
    vuint32m4_t most = __riscv_vmv_v_x_u32m4(0, FINDMAX_LANES);
    if (lanes) most = __riscv_vle32_v_u32m4(lanes, FINDMAX_LANES);
    for (size_t vl; count > 0; count -= (uint32_t)vl, maxima += vl) {
        vl = __riscv_vsetvl_e32m4(count);
        const vint32m4_t q = xv_absmax_quantize(load(maxima, vl), inverse, XA_I16_MAX, vl);
        const vfloat32m4_t y = __riscv_vfmul_vf_f32m4(xv_from_i32(q, vl), scale, vl);
        __riscv_vse32_v_f32m4(maxima, y, vl);
        most = __riscv_vmaxu_vv_u32m4_tu(most, most, findmax_bits(y, vl), vl);
    }
    if (lanes) __riscv_vse32_v_u32m4(lanes, most, FINDMAX_LANES);
}

static void compute_row(const struct maxima *s, const struct task *t) {
    const int32_t top = t->row * s->a->stride_h - s->a->pad_top;
    const int32_t first = max_i32(-top, 0), last = min_i32(s->a->kernel_h, s->a->in_h - top);
    const int careful = max_of_rows(s, t, top, first, last, 0);
    if (careful) max_of_rows(s, t, top, first, last, 1);
    xpu_wait(s->stored[s->half]);
    max_of_columns(s, t, s->out[s->half], careful);
    if (s->a->x_absmax)
        round_maxima(&s->rounding, s->out[s->half], t->pixels * t->channels, s->a->y_absmax ? s->most : 0);
}

static void fill(float *x, uint32_t count, float value) {
    for (size_t vl; count > 0; count -= (uint32_t)vl, x += vl) {
        vl = __riscv_vsetvl_e32m4(count);
        __riscv_vse32_v_f32m4(x, xv_splat(value, vl), vl);
    }
}

static void run_task(struct maxima *s, struct task *t) {
    const struct xpu_pool_f32_args *a = s->a;
    const uint32_t before = (uint32_t)(t->first - t->left), behind = before + (uint32_t)t->columns;
    fill(s->strip, before * t->channels, -__builtin_inff());
    fill(s->strip + behind * t->channels, ((uint32_t)t->reach - behind) * t->channels, -__builtin_inff());
    load_rows(s, t, t->row);
    for (; t->row < t->end; t->row++) {
        const xpu_ticket ready = t->ticket;
        if (t->row + 1 < t->end) load_rows(s, t, t->row + 1);
        xpu_wait(ready);
        compute_row(s, t);
        const uint32_t pixel = (t->image * (uint32_t)a->out_h + (uint32_t)t->row) * (uint32_t)a->out_w + t->pixel;
        s->stored[s->half] = xpu_store_2d(a->y + 4 * (pixel * (uint32_t)a->y_pixel + t->channel), 4 * a->y_pixel,
                                          s->out[s->half], (int32_t)(4 * t->channels), 4 * t->channels, t->pixels);
        s->half ^= 1;
    }
}

int max_windows(const struct xpu_pool_f32_args *a, uint32_t core, uint32_t cores) {
    struct maxima s = {.a = a};
    uint32_t available, index, last;
    float *lm = lm_floats(&available);
    s.slots = a->kernel_h + a->stride_h;
    s.most = (uint32_t *)lm;
    const uint32_t most = a->y_absmax ? FINDMAX_LANES : 0;
    if (!choose_block(&s, available - most)) return 0;
    if (most) findmax_begin(s.most);
    if (a->x_absmax) s.rounding = rounding_of(a->x_absmax);
    s.ring = lm + most;
    s.strip = s.ring + (uint32_t)s.slots * s.row_floats;
    for (uint32_t i = 0; i < 2; i++) {
        s.out[i] = s.strip + s.row_floats + i * s.pixels * s.block;
        s.stored[i] = (xpu_ticket){XPU_COUNTER_CALL, 0};
    }
    share_tasks(core, cores, count_tasks(&s, cores), &index, &last);
    for (; index < last; index++) {
        struct task t = task_at(&s, index);
        run_task(&s, &t);
    }
    if (a->y_absmax) findmax_end(s.most, a->y_absmax, core, cores);
    return 1;
}
