/*
 * Depthwise windows of WIDTH columns and at most MOST_HEIGHT rows, one or two pixels apart: included by a file for each
 * WIDTH, 3 or 5, which defines both. So the code of one width, which loops in the instruction cache, knows nothing of
 * the other.
 *
 * A task is a strip: some columns of output, a block of channels, some rows. Its input rows pass through a ring of rows
 * in LM, each loaded once and read by every window that covers it, rows of the next strip right behind. Three
 * neighbouring pixels are computed at once, so that a row of weights and an input pixel are loaded once for all of
 * them.
 */
#include "xpu_runtime/kernels/findmax.h"
#include "xpu_runtime/kernels/hard_swish.h"
#include "xpu_runtime/kernels/window.h"

enum {
    AT_ONCE = 3,        /* pixels */
    NARROW_AT_ONCE = 4, /* of narrow blocks */
    VECTOR = 64,        /* channels */
    NARROW = 14,        /* columns of a strip that still make good use of the ring */
    MOST_SLOTS = 16,
    MOST_BANDS = 16, /* that the rows of an image are cut into */
    FINE = 8,        /* strips of each core at least, where they are not shared out evenly */
    READ_BEHIND = 64 /* floats behind all else that may be read */
};

/* What runs once in a layer, or instead of `inner`: link.ld places it where the loop over lines is not. */
#if WIDTH == 3
#define APART __attribute__((noinline, section(".text_narrow")))
#else
#define APART
#endif

/* How the work is cut, and where things lie in LM. */
struct strips {
    const struct xpu_depthwise_f32_args *a;
    uint32_t block, columns, rows; /* of a strip: channels, output columns, output rows */
    uint32_t blocks, tiles, bands; /* strips along the channels, the columns, the rows */
    uint32_t span;                 /* input rows from a window's first to its last */
    uint32_t slots, row_floats;    /* of the ring */
    float *ring, *out[2], *w[2], *bias[2];
    uint32_t *most;
    xpu_chain_body body; /* what input rows go through, with immediates c; 0: nothing */
    const float *c;
};

struct strip {
    uint32_t image, row, rows, column, columns, channel, channels;
    int32_t left;              /* input column of the first tap of its first pixel */
    int32_t from, to;          /* input columns that it reads */
    int32_t first_in, in_rows; /* input rows that it reads */
};

/* What is queued: rows are counted over all strips of this core. */
struct loader {
    uint32_t index, last, step, rows, slot; /* strip, how many to the next one; rows queued so far; the ring's slot of
                                            the next one */
    uint32_t strips;                        /* so far */
    int32_t row;                            /* of the strip, next to be queued */
    struct strip strip;
    xpu_ticket row_ready[MOST_SLOTS], ready[2]; /* ready: weights and bias, of two strips in turn */
};

/* A row of output pixels of a strip. */
struct line {
    const float *x[MOST_HEIGHT]; /* pixel 0's first tap, in each row of the window that is inside the image */
    const float *w;              /* of the first of these rows */
    const float *bias;
    float *out;
    uint32_t *most; /* 0: no findmax */
    uint32_t heights, block;
    const struct xpu_depthwise_f32_args *a;
};

/* ---- the cut ---- */

static uint32_t floats_needed(struct strips *s) {
    uint32_t segment = (s->columns - 1) * (uint32_t)s->a->stride_w + WIDTH;
    s->row_floats = segment * s->block;
    uint32_t halves = 2 * (WIDTH * MOST_HEIGHT + s->columns + 1) * s->block;
    return halves + s->slots * s->row_floats + FINDMAX_LANES + (WIDTH == 3 && s->block == 16 ? READ_BEHIND : 0);
}

/* The widest strips of `block` channels that LM has room for; 0: none. */
static int widest(struct strips *s, uint32_t block, uint32_t available) {
    uint32_t step = (uint32_t)s->a->stride_h;
    s->block = block;
    s->blocks = ceil_div((uint32_t)s->a->in_c, block);
    for (s->tiles = 1; s->tiles <= (uint32_t)s->a->out_w; s->tiles += 1 + s->tiles / 4) {
        s->columns = ceil_div((uint32_t)s->a->out_w, s->tiles);
        s->slots = min_u32(s->span + 2 * step, MOST_SLOTS);
        while (s->slots > s->span + step && floats_needed(s) > available) s->slots--;
        if (s->columns <= NARROW && s->slots > s->span && floats_needed(s) > available) s->slots = s->span;
        if (floats_needed(s) <= available) break;
    }
    s->tiles = ceil_div((uint32_t)s->a->out_w, s->columns);
    return floats_needed(s) <= available;
}

/* Whether matrix_depthwise_narrow.h computes windows with all their rows: their sums go on as they are, or whole lines
 * go through the activation. */
static inline int is_narrow(const struct xpu_depthwise_f32_args *a, uint32_t block) {
    const int32_t activation = a->activation;
    return WIDTH == 3 && block == 16 &&
           (activation == (int32_t)XPU_ACT_NONE || activation == (int32_t)XPU_ACT_HARD_SWISH);
}

/* About what a pixel of a strip takes. */
static uint32_t pixel_cycles(const struct strips *s) {
    const uint32_t vectors = s->block / 16;
#if WIDTH == 3
    const int is_next = s->a->stride_w == 1;
    if (is_narrow(s->a, s->block)) return is_next ? 18 : 27;
    if (is_next) return vectors < 4 ? 40 : 52;
    return 16 * (vectors + 2);
#else
    return vectors < 3 ? 75 : 27 * vectors;
#endif
}

/* Bands so that all cores have about the same number of rows; each begins with rows that wait for their input. Returns
 * about the cycles of the core that has most to do. */
static uint32_t choose_bands(struct strips *s, uint32_t cores) {
    enum { LINE_CYCLES = WIDTH == 3 ? 1000 : 350 };
    uint32_t others = (uint32_t)s->a->batch * s->tiles * s->blocks, height = (uint32_t)s->a->out_h, best = 0;
    for (uint32_t bands = 1; bands <= min_u32(MOST_BANDS, height); bands *= 2) {
        uint32_t rows = ceil_div(height, bands), strips = ceil_div(height, rows) * others;
        uint32_t cost = ceil_div(strips, cores) * (rows + 1);
        if (best && cost >= best) continue;
        best = cost;
        s->rows = rows;
        s->bands = ceil_div(height, rows);
    }
    return best * (LINE_CYCLES + s->columns * pixel_cycles(s));
}

/* Chooses the strips; 0: this core's LM has no room for any. */
static APART int cut(struct strips *s, uint32_t cores) {
    const struct xpu_depthwise_f32_args *a = s->a;
    uint32_t available, most = (uint32_t)(a->in_c + 15) / 16 * 16, best = 0;
    struct strips t = *s;
    float *lm = lm_floats(&available);
    t.span = (uint32_t)((a->kernel_h - 1) * a->dilation_h + 1);
    if (t.span > MOST_SLOTS) return 0;
    for (uint32_t block = min_u32(VECTOR, most); block > 0; block -= 16) {
        if (!widest(&t, block, available)) continue;
        uint32_t cost = choose_bands(&t, cores);
        if (best && cost >= best) continue;
        best = cost;
        *s = t;
    }
    if (!best) return 0;
    for (uint32_t i = 0; i < 2; i++) {
        s->w[i] = lm;
        s->bias[i] = s->w[i] + WIDTH * MOST_HEIGHT * s->block;
        s->out[i] = s->bias[i] + s->block;
        lm = s->out[i] + s->columns * s->block;
    }
    s->ring = lm;
    s->most = (uint32_t *)(lm + s->slots * s->row_floats);
    return 1;
}

static struct strip strip_at(const struct strips *s, uint32_t index) {
    const struct xpu_depthwise_f32_args *a = s->a;
    struct strip t;
    t.channel = index % s->blocks * s->block;
    index /= s->blocks;
    t.column = index % s->tiles * s->columns;
    index /= s->tiles;
    t.row = index % s->bands * s->rows;
    t.image = index / s->bands;
    t.rows = min_u32(s->rows, (uint32_t)a->out_h - t.row);
    t.columns = min_u32(s->columns, (uint32_t)a->out_w - t.column);
    t.channels = min_u32(s->block, (uint32_t)a->in_c - t.channel);
    t.left = (int32_t)t.column * a->stride_w - a->pad_left;
    t.from = min_i32(max_i32(t.left, 0), a->in_w);
    t.to = max_i32(min_i32(t.left + (int32_t)(t.columns - 1) * a->stride_w + WIDTH, a->in_w), t.from);
    int32_t top = (int32_t)t.row * a->stride_h - a->pad_top;
    int32_t end = top + (int32_t)(t.rows - 1) * a->stride_h + (int32_t)s->span;
    t.first_in = min_i32(max_i32(top, 0), a->in_h);
    t.in_rows = t.to > t.from ? max_i32(min_i32(end, a->in_h) - t.first_in, 0) : 0;
    return t;
}

/* ---- transfers ---- */

static void load_weights(const struct strips *s, struct loader *l) {
    const struct xpu_depthwise_f32_args *a = s->a;
    uint32_t half = l->strips & 1, pitch = (uint32_t)(a->in_c + 15) / 16 * 16, channel = l->strip.channel;
    if (a->bias) GM2LM(s->bias[half], a->bias + 4 * channel, 4 * l->strip.channels);
    l->ready[half] = xpu_load_2d(s->w[half], (int32_t)(4 * s->block), a->w + 4 * channel, (int32_t)(4 * pitch),
                                 4 * l->strip.channels, (uint32_t)(a->kernel_h * WIDTH));
}

/* When the strip's next input row is there. */
static xpu_ticket row_made(const struct loader *l) {
    const struct xpu_progress *p = xpu_call_progress();
    if (p->counter == XPU_NO_COUNTER) return (xpu_ticket){XPU_NO_COUNTER, 0};
    uint32_t step = (uint32_t)(l->strip.first_in + l->row) / p->rows + 1;
    return (xpu_ticket){p->counter, p->base + p->signals * (l->strip.image * p->steps + step)};
}

static void load_row(const struct strips *s, struct loader *l) {
    const struct xpu_depthwise_f32_args *a = s->a;
    const struct strip *t = &l->strip;
    uint32_t slot = l->slot, row = t->image * (uint32_t)a->in_h + (uint32_t)(t->first_in + l->row);
    uint32_t pixel = row * (uint32_t)a->in_w + (uint32_t)t->from;
    l->row_ready[slot] = xpu_load_2d_after(s->ring + slot * s->row_floats + (uint32_t)(t->from - t->left) * s->block,
                                           (int32_t)(4 * s->block), a->x + 4 * (pixel * (uint32_t)a->in_c + t->channel),
                                           4 * a->in_c, 4 * t->channels, (uint32_t)(t->to - t->from), row_made(l));
    l->rows++;
    l->slot = slot + 1 < s->slots ? slot + 1 : 0;
    l->row++;
}

static void open_strip(const struct strips *s, struct loader *l) {
    if (l->index >= l->last) return;
    l->strip = strip_at(s, l->index);
    l->row = 0;
    load_weights(s, l);
}

/* Queues rows while the ring has room, `done` rows being done with; of strips up to the one behind `now`. */
static void load_ahead(const struct strips *s, struct loader *l, uint32_t now, uint32_t done) {
    while (l->index < l->last) {
        if (l->row < l->strip.in_rows) {
            if ((int32_t)(l->rows - done) >= (int32_t)s->slots) return;
            load_row(s, l);
        } else {
            if ((int32_t)(l->index - now) > 0) return;
            l->index += l->step;
            l->strips++;
            open_strip(s, l);
        }
    }
}

/* ---- computing ---- */

#define ALWAYS_INLINE static inline __attribute__((always_inline))
#define LOAD(p)       __riscv_vle32_v_f32m4(p, vl)
#define BITS(v)       __riscv_vreinterpret_v_f32m4_u32m4(v)
#define FMA(a, x, w)  a = __riscv_vfmacc_vv_f32m4(a, x, w, vl)

/* What is the same for all pixels of a line: copies, so that no loop reads LM for them. */
struct end {
    int32_t activation;
    float low, high, alpha;
    uint32_t *most;
    uint32_t block;
    int is_signed; /* results may have a sign; low is at most high */
};

static inline struct end end_of(const struct line *l) {
    int is_signed = l->a->activation != (int32_t)XPU_ACT_CLIP || xa_bits(l->a->low) >= xa_bits(-0.0f);
    return (struct end){l->a->activation, l->a->low, l->a->high, l->a->alpha, l->most, l->block, is_signed};
}

ALWAYS_INLINE vfloat32m4_t activated(struct end e, vfloat32m4_t v, size_t vl) {
    if (e.activation == (int32_t)XPU_ACT_CLIP) return xv_clip(v, e.low, e.high, vl);
    if (e.activation == (int32_t)XPU_ACT_LEAKY) return xv_leaky_relu(v, e.alpha, vl);
    return v;
}

/* Three sums of products: bias, activation, largest magnitude. */
ALWAYS_INLINE void finish(struct end e, float *out, vfloat32m4_t a0, vfloat32m4_t a1, vfloat32m4_t a2,
                          vfloat32m4_t bias, size_t vl) {
    a0 = __riscv_vfadd_vv_f32m4(a0, bias, vl);
    a1 = __riscv_vfadd_vv_f32m4(a1, bias, vl);
    a2 = __riscv_vfadd_vv_f32m4(a2, bias, vl);
    if (e.activation == (int32_t)XPU_ACT_CLIP) { /* xv_clip, three at a time */
        vfloat32m4_t m0 = __riscv_vfmax_vf_f32m4(a0, e.low, vl);
        vbool8_t number = __riscv_vmfeq_vv_f32m4_b8(a0, a0, vl);
        vfloat32m4_t m1 = __riscv_vfmax_vf_f32m4(a1, e.low, vl);
        a0 = __riscv_vfmin_vf_f32m4_mu(number, a0, m0, e.high, vl);
        number = __riscv_vmfeq_vv_f32m4_b8(a1, a1, vl);
        vfloat32m4_t m2 = __riscv_vfmax_vf_f32m4(a2, e.low, vl);
        a1 = __riscv_vfmin_vf_f32m4_mu(number, a1, m1, e.high, vl);
        number = __riscv_vmfeq_vv_f32m4_b8(a2, a2, vl);
        a2 = __riscv_vfmin_vf_f32m4_mu(number, a2, m2, e.high, vl);
    } else {
        a0 = activated(e, a0, vl);
        a1 = activated(e, a1, vl);
        a2 = activated(e, a2, vl);
    }
    __riscv_vse32_v_f32m4(out, a0, vl);
    __riscv_vse32_v_f32m4(out + e.block, a1, vl);
    __riscv_vse32_v_f32m4(out + 2 * e.block, a2, vl);
    if (!e.most) return;
    vuint32m4_t most = __riscv_vle32_v_u32m4(e.most, vl);
    vuint32m4_t b0 = BITS(a0), b1 = BITS(a1), b2 = BITS(a2);
    if (e.is_signed) b0 = findmax_bits(a0, vl), b1 = findmax_bits(a1, vl), b2 = findmax_bits(a2, vl);
    b0 = __riscv_vmaxu_vv_u32m4(b0, b1, vl);
    most = __riscv_vmaxu_vv_u32m4(most, b2, vl);
    __riscv_vse32_v_u32m4(e.most, __riscv_vmaxu_vv_u32m4(most, b0, vl), vl);
}

/* clang-format off */
#define VLE(to, from) "vle32.v %[" to "], (%[" from "])\nadd %[" from "], %[" from "], %[step]\n"
#define SUM(a, x, w)  "vfmacc.vv %[" a "], %[" x "], %[" w "]\n"
#define MUL(a, x, w)  "vfmul.vv %[" a "], %[" x "], %[" w "]\n"

#if WIDTH == 3
#include "xpu_runtime/kernels/matrix_depthwise_narrow.h"

/*
 * One row of the window for AT_ONCE pixels, which stand in a0 to a2: each pixel of x meets the weights w0 to w2 of all
 * pixels that it is a tap of; their first products are by BEGIN: MUL in the first row, else SUM. u and v hold pixels of x in turn, and loads of what comes next stand between the sums, so
 * that memory and arithmetic go on side by side. In assembler, because all eight register groups are in use: the
 * compiler would keep some of them on the stack.
 */
#define FIRST(x)      "mv %[at], %[" x "]\n" VLE("w0", "w") VLE("u", "at") VLE("w1", "w") VLE("v", "at") VLE("w2", "w")
#define ROW_1(BEGIN, u, v, next_0, next_1, next_2)                                                                     \
    BEGIN("a0", u, "w0") VLE(u, "at") BEGIN("a1", v, "w0") SUM("a0", v, "w1") VLE(v, "at")                             \
    BEGIN("a2", u, "w0") SUM("a1", u, "w1") SUM("a0", u, "w2") next_0 VLE(u, "at")                                       \
    SUM("a2", v, "w1") SUM("a1", v, "w2") next_1                                                                       \
    SUM("a2", u, "w2") next_2
#define ROW_2(BEGIN, u, v, next_0, next_1, next_2)                                                                     \
    BEGIN("a0", u, "w0") VLE(u, "at") SUM("a0", v, "w1") VLE(v, "at")                                                  \
    BEGIN("a1", u, "w0") SUM("a0", u, "w2") VLE(u, "at") SUM("a1", v, "w1") VLE(v, "at")                               \
    BEGIN("a2", u, "w0") SUM("a1", u, "w2") next_0 VLE(u, "at") SUM("a2", v, "w1") next_1                                \
    SUM("a2", u, "w2") next_2
/* Behind a row the pixels x + 0 and x + 1 of the next one are in v and u. */
#define AND_THEN(x, u, v)                                                                                              \
    VLE("w0", "w"), "mv %[next], %[" x "]\n" VLE("w1", "w") VLE(v, "next"),                                            \
        VLE("w2", "w") VLE(u, "next") "mv %[at], %[next]\n"
#define ONE_ROW(row)     FIRST("x0") row(MUL, "u", "v", "", "", "")
#define EXPAND(row, ...) row(__VA_ARGS__)
#define TWO_ROWS(row)    FIRST("x0") EXPAND(row, MUL, "u", "v", AND_THEN("x1", "u", "v")) row(SUM, "v", "u", "", "", "")
#define THREE_ROWS(row)                                                                                                \
    FIRST("x0")                                                                                                        \
    EXPAND(row, MUL, "u", "v", AND_THEN("x1", "u", "v"))                                                               \
    EXPAND(row, SUM, "v", "u", AND_THEN("x2", "v", "u")) row(SUM, "u", "v", "", "", "")
/* Behind the products w0 is the bias. */
#define MULTIPLY(rows)                                                                                                 \
    __asm__("vsetvli zero, %[vl], e32, m4, ta, ma\n"                                                                   \
            rows "vle32.v %[w0], (%[bias])\n"                                                                            \
            : [a0] "=&vr"(a0), [a1] "=&vr"(a1), [a2] "=&vr"(a2), [w0] "=&vr"(w0), [w1] "=&vr"(w1), [w2] "=&vr"(w2),    \
              [u] "=&vr"(u), [v] "=&vr"(v), [w] "+&r"(w), [at] "=&r"(at), [next] "=&r"(next)                           \
            : [x0] "r"(x0), [x1] "r"(x1), [x2] "r"(x2), [bias] "r"(l->bias), [step] "r"(4 * block), [vl] "r"(vl)       \
            : "memory", "vl", "vtype")
/* clang-format on */

/* Pixels pixel .. pixel + count - 1, a multiple of AT_ONCE of them, whose columns are all inside the image. */
ALWAYS_INLINE void inner_pixels(const struct line *l, uint32_t pixel, uint32_t count, uint32_t heights, uint32_t stride,
                                size_t vl) {
    const uint32_t block = l->block, step = AT_ONCE * stride * block;
    const float *x0 = l->x[0] + pixel * stride * block, *x1 = l->x[1] + pixel * stride * block;
    const float *x2 = l->x[2] + pixel * stride * block;
    const struct end e = end_of(l);
    float *out = l->out + pixel * block;
    for (; count > 0; count -= AT_ONCE, x0 += step, x1 += step, x2 += step, out += AT_ONCE * block) {
        vfloat32m4_t a0, a1, a2, w0, w1, w2, u, v;
        const float *w = l->w, *at, *next;
        if (heights == 3 && stride == 1) MULTIPLY(THREE_ROWS(ROW_1));
        if (heights == 3 && stride == 2) MULTIPLY(THREE_ROWS(ROW_2));
        if (heights == 2 && stride == 1) MULTIPLY(TWO_ROWS(ROW_1));
        if (heights == 2 && stride == 2) MULTIPLY(TWO_ROWS(ROW_2));
        if (heights == 1 && stride == 1) MULTIPLY(ONE_ROW(ROW_1));
        if (heights == 1 && stride == 2) MULTIPLY(ONE_ROW(ROW_2));
        if (heights == 0) a0 = a1 = a2 = begin_sum(0, 1, vl), w0 = LOAD(l->bias);
        finish(e, out, a0, a1, a2, w0, vl);
    }
}

static void inner(const struct line *l, uint32_t pixel, uint32_t count, size_t vl) {
    uint32_t stride = (uint32_t)l->a->stride_w;
    if (l->heights == 3 && stride == 1) return inner_pixels(l, pixel, count, 3, 1, vl);
    if (l->heights == 3) return inner_pixels(l, pixel, count, 3, 2, vl);
    if (l->heights == 2 && stride == 1) return inner_pixels(l, pixel, count, 2, 1, vl);
    if (l->heights == 2) return inner_pixels(l, pixel, count, 2, 2, vl);
    if (l->heights == 1 && stride == 1) return inner_pixels(l, pixel, count, 1, 1, vl);
    if (l->heights == 1) return inner_pixels(l, pixel, count, 1, 2, vl);
    inner_pixels(l, pixel, count, 0, 1, vl);
}

/* inner, or what is its like for narrow blocks. */
ALWAYS_INLINE void inside_image(const struct line *l, int narrow, uint32_t pixel, uint32_t count, size_t vl) {
    if (narrow) return inner_narrow(l, pixel, count, vl);
    inner(l, pixel, count, vl);
}

#else
/* clang-format off */
/*
 * A row of a window of five columns for AT_ONCE pixels, added to a0 to a2. One apart, each pixel of x meets the weights
 * of all pixels that it is a tap of, of which three are in use at a time: the fourth takes the place of the first, the
 * fifth that of the second. Two apart, each weight meets its three pixels.
 */
#define WIDE_ROW_1                                                                                                     \
    VLE("w0", "w") VLE("u", "at") VLE("w1", "w") VLE("v", "at") VLE("w2", "w")                                         \
    SUM("a0", "u", "w0") VLE("u", "at") SUM("a1", "v", "w0") SUM("a0", "v", "w1") VLE("v", "at")                       \
    SUM("a2", "u", "w0") VLE("w0", "w") SUM("a1", "u", "w1") SUM("a0", "u", "w2") VLE("u", "at")                       \
    SUM("a2", "v", "w1") VLE("w1", "w") SUM("a1", "v", "w2") SUM("a0", "v", "w0") VLE("v", "at")                       \
    SUM("a2", "u", "w2") SUM("a1", "u", "w0") SUM("a0", "u", "w1") VLE("u", "at")                                      \
    SUM("a2", "v", "w0") SUM("a1", "v", "w1")                                                                          \
    SUM("a2", "u", "w1")
/*
 * The same of all five rows, with what the next row begins with loaded between the last sums of a row: its weights and
 * pixels stand in other registers, each row's in the next order of both. The first row BEGINs the sums; behind the last
 * one w0 is the bias.
 */
#define NEXT_WIDE(r, p, v, q, u, x)                                                                                    \
    VLE(r, "w"), VLE(p, "w"), "mv %[at], %[" x "]\n" VLE(v, "at"), VLE(q, "w") VLE(u, "at")
#define WIDE_ROW(BEGIN, u, v, p, q, r, next_0, next_1, next_2, next_3)                                                 \
    BEGIN("a0", u, p) VLE(u, "at") BEGIN("a1", v, p) SUM("a0", v, q) VLE(v, "at")                                      \
    BEGIN("a2", u, p) VLE(p, "w") SUM("a1", u, q) SUM("a0", u, r) VLE(u, "at")                                           \
    SUM("a2", v, q) VLE(q, "w") SUM("a1", v, r) SUM("a0", v, p) VLE(v, "at")                                           \
    SUM("a2", u, r) next_0 SUM("a1", u, p) SUM("a0", u, q) VLE(u, "at")                                                \
    SUM("a2", v, p) next_1 SUM("a1", v, q) next_2                                                                      \
    SUM("a2", u, q) next_3
#define EXPAND_WIDE(...) WIDE_ROW(__VA_ARGS__)
#define FIVE_ROWS                                                                                                      \
    "mv %[at], %[x0]\n" VLE("w0", "w") VLE("u", "at") VLE("w1", "w") VLE("v", "at") VLE("w2", "w")                     \
    EXPAND_WIDE(MUL, "u", "v", "w0", "w1", "w2", NEXT_WIDE("w2", "w0", "v", "w1", "u", "x1"))                               \
    EXPAND_WIDE(SUM, "v", "u", "w2", "w0", "w1", NEXT_WIDE("w1", "w2", "u", "w0", "v", "x2"))                               \
    EXPAND_WIDE(SUM, "u", "v", "w1", "w2", "w0", NEXT_WIDE("w0", "w1", "v", "w2", "u", "x3"))                               \
    EXPAND_WIDE(SUM, "v", "u", "w0", "w1", "w2", NEXT_WIDE("w2", "w0", "u", "w1", "v", "x4"))                               \
    WIDE_ROW(SUM, "u", "v", "w2", "w0", "w1", "", "", "", "") "vle32.v %[w0], (%[bias])\n"
#define MULTIPLY_FIVE                                                                                                  \
    __asm__("vsetvli zero, %[vl], e32, m4, ta, ma\n" FIVE_ROWS                                                         \
            : [a0] "=&vr"(a0), [a1] "=&vr"(a1), [a2] "=&vr"(a2), [w0] "=&vr"(w0), [w1] "=&vr"(w1), [w2] "=&vr"(w2),    \
              [u] "=&vr"(u), [v] "=&vr"(v), [w] "+&r"(w), [at] "=&r"(at)                                               \
            : [x0] "r"(x[0]), [x1] "r"(x[1]), [x2] "r"(x[2]), [x3] "r"(x[3]), [x4] "r"(x[4]), [bias] "r"(l->bias),     \
              [step] "r"(4 * block), [vl] "r"(vl)                                                                      \
            : "memory", "vl", "vtype")
#define WIDE_TAP_2(w, next)                                                                                            \
    SUM("a0", "u", w) VLE("u", "at") VLE(next, "w") SUM("a1", "v", w) VLE("v", "at_1") SUM("a2", "w2", w)              \
    VLE("w2", "at_2")
#define WIDE_ROW_2                                                                                                     \
    VLE("w0", "w") VLE("u", "at") VLE("v", "at_1") VLE("w2", "at_2")                                                   \
    WIDE_TAP_2("w0", "w1") WIDE_TAP_2("w1", "w0") WIDE_TAP_2("w0", "w1") WIDE_TAP_2("w1", "w0")                        \
    SUM("a0", "u", "w0") SUM("a1", "v", "w0") SUM("a2", "w2", "w0")
#define MULTIPLY_WIDE(row)                                                                                             \
    __asm__("vsetvli zero, %[vl], e32, m4, ta, ma\n" row                                                               \
            : [a0] "+&vr"(a0), [a1] "+&vr"(a1), [a2] "+&vr"(a2), [w0] "=&vr"(w0), [w1] "=&vr"(w1), [w2] "=&vr"(w2),    \
              [u] "=&vr"(u), [v] "=&vr"(v), [w] "+&r"(w), [at] "+&r"(at), [at_1] "+&r"(at_1), [at_2] "+&r"(at_2)       \
            : [step] "r"(4 * block), [vl] "r"(vl)                                                                      \
            : "memory", "vl", "vtype")
/* clang-format on */

ALWAYS_INLINE void inner_wide(const struct line *l, uint32_t pixel, uint32_t count, uint32_t stride, size_t vl) {
    const uint32_t block = l->block;
    const struct end e = end_of(l);
    uint32_t from = pixel * stride * block;
    float *out = l->out + pixel * block;
    for (; count > 0; count -= AT_ONCE, from += AT_ONCE * stride * block, out += AT_ONCE * block) {
        vfloat32m4_t a0 = begin_sum(0, 1, vl), a1 = a0, a2 = a0;
        const float *w = l->w;
        for (uint32_t row = 0; row < l->heights; row++) {
            vfloat32m4_t w0, w1, w2, u, v;
            const float *at = l->x[row] + from, *at_1 = at + stride * block, *at_2 = at_1 + stride * block;
            if (stride == 1)
                MULTIPLY_WIDE(WIDE_ROW_1);
            else
                MULTIPLY_WIDE(WIDE_ROW_2);
        }
        finish(e, out, a0, a1, a2, LOAD(l->bias), vl);
    }
}

/* inner_wide of all five rows, one pixel apart. */
static void inner_five(const struct line *l, uint32_t pixel, uint32_t count, size_t vl) {
    const uint32_t block = l->block, step = AT_ONCE * block;
    const struct end e = end_of(l);
    const float *x[5];
    float *out = l->out + pixel * block;
    for (int row = 0; row < 5; row++) x[row] = l->x[row] + pixel * block;
    for (; count > 0; count -= AT_ONCE, out += step) {
        vfloat32m4_t a0, a1, a2, w0, w1, w2, u, v;
        const float *w = l->w, *at;
        MULTIPLY_FIVE;
        for (int row = 0; row < 5; row++) x[row] += step;
        finish(e, out, a0, a1, a2, w0, vl);
    }
}

static void inner(const struct line *l, uint32_t pixel, uint32_t count, size_t vl) {
    if (l->a->stride_w == 1 && l->heights == 5) return inner_five(l, pixel, count, vl);
    if (l->a->stride_w == 1) return inner_wide(l, pixel, count, 1, vl);
    inner_wide(l, pixel, count, 2, vl);
}

ALWAYS_INLINE void inside_image(const struct line *l, int narrow, uint32_t pixel, uint32_t count, size_t vl) {
    (void)narrow;
    inner(l, pixel, count, vl);
}
#endif

/* One pixel and those of its taps first .. last - 1 that are inside the image. */
static void single(const struct line *l, uint32_t pixel, uint32_t first, uint32_t last, size_t vl) {
    const struct end e = end_of(l);
    uint32_t at = (pixel * (uint32_t)l->a->stride_w + first) * e.block;
    vfloat32m4_t sum = begin_sum(0, 1, vl);
    const float *w = l->w + first * e.block;
    for (uint32_t i = 0; i < l->heights; i++, w += WIDTH * e.block) {
        const float *x = l->x[i] + at, *factor = w;
        for (uint32_t tap = first; tap < last; tap++, x += e.block, factor += e.block) FMA(sum, LOAD(x), LOAD(factor));
    }
    sum = activated(e, end_sum(sum, l->bias, vl), vl);
    __riscv_vse32_v_f32m4(l->out + pixel * e.block, sum, vl);
    if (!e.most) return;
    __riscv_vse32_v_u32m4(e.most, findmax_join(__riscv_vle32_v_u32m4(e.most, vl), sum, vl), vl);
}

static void edge(const struct line *l, const struct strip *t, uint32_t pixel, uint32_t end, size_t vl) {
    for (; pixel < end; pixel++) {
        int32_t column = t->left + (int32_t)pixel * l->a->stride_w;
        int32_t first = min_i32(max_i32(-column, 0), WIDTH);
        int32_t last = max_i32(min_i32(l->a->in_w - column, WIDTH), first);
        single(l, pixel, (uint32_t)first, (uint32_t)last, vl);
    }
}

static void compute_line(const struct line *l, const struct strip *t) {
    int32_t stride = l->a->stride_w, columns = (int32_t)t->columns;
    size_t vl = __riscv_vsetvl_e32m4(t->channels);
    int32_t low = t->left >= 0 ? 0 : (stride - 1 - t->left) / stride;
    int32_t room = l->a->in_w - WIDTH - t->left;
    int32_t high = room < 0 ? 0 : room / stride + 1;
    low = min_i32(low, columns);
    high = max_i32(min_i32(high, columns), low);
    edge(l, t, 0, (uint32_t)low, vl);
    const int narrow = l->heights == 3 && is_narrow(l->a, l->block);
    const uint32_t at_once = narrow ? NARROW_AT_ONCE : AT_ONCE, inside = (uint32_t)(high - low);
    if (inside >= at_once) {
        uint32_t whole = narrow ? round_down(inside, NARROW_AT_ONCE) : inside / AT_ONCE * AT_ONCE;
        inside_image(l, narrow, (uint32_t)low, whole, vl);
        if (whole < inside) inside_image(l, narrow, (uint32_t)high - at_once, at_once, vl); /* some of them again */
        low = high;
    }
    edge(l, t, (uint32_t)low, t->columns, vl);
}

/* The rows of the window that are inside the image, for the output row whose window begins at the strip's input row
 * `top`; waits for the last of them. `first`: of the strip's rows that of the window, its slot of the ring is `slot`.
 */
static void find_rows(const struct strips *s, const struct loader *l, const struct strip *t, int32_t top, int32_t first,
                      uint32_t slot, uint32_t half, struct line *line) {
    const struct xpu_depthwise_f32_args *a = s->a;
    line->w = s->w[half];
    line->heights = 0;
    xpu_ticket ready = {XPU_COUNTER_CALL, 0};
    for (int32_t kh = 0; kh < a->kernel_h; kh++) {
        int32_t in = top + kh * a->dilation_h;
        if (in < 0 || in >= t->in_rows) continue;
        uint32_t place = slot + (uint32_t)(in - first);
        if (place >= s->slots) place -= s->slots;
        if (line->heights == 0) line->w += (uint32_t)(kh * WIDTH) * s->block;
        line->x[line->heights++] = s->ring + place * s->row_floats;
        ready = l->row_ready[place];
    }
    xpu_wait(ready);
    for (uint32_t i = line->heights; i < MOST_HEIGHT; i++) line->x[i] = s->ring;
}

static void clear(float *to, uint32_t block) {
    size_t vl = __riscv_vsetvl_e32m4(block);
    __riscv_vse32_v_f32m4(to, __riscv_vfmv_v_f_f32m4(0.0f, vl), vl);
}

/* The strip's input rows up to the last one of the window that begins at row `top`, which lie in LM, in their places of
 * the ring; those from `*row` on, whose slot is `*slot`, have not been. */
static __attribute__((noinline)) void prepare_rows(const struct strips *s, const struct strip *t, int32_t *row,
                                                   uint32_t *slot, int32_t top) {
    while (*slot >= s->slots) *slot -= s->slots;
    for (const int32_t end = min_i32(top + (int32_t)s->span, t->in_rows); *row < end; (*row)++) {
        float *x = s->ring + *slot * s->row_floats + (uint32_t)(t->from - t->left) * s->block;
        const float *const in[1] = {x};
        s->body(in, s->c, x, (uint32_t)(t->to - t->from) * s->block);
        *slot = *slot + 1 < s->slots ? *slot + 1 : 0;
    }
}

ALWAYS_INLINE void run_strips(const struct strips *s, uint32_t first, uint32_t last, uint32_t step) {
    const struct xpu_depthwise_f32_args *a = s->a;
    xpu_ticket none = {XPU_COUNTER_CALL, 0}, stored[2] = {none, none};
    struct loader l = {.index = first, .last = last, .step = step};
    const int swish = a->activation == (int32_t)XPU_ACT_HARD_SWISH;
    struct line line = {.most = a->y_absmax && !swish ? s->most : 0, .block = s->block, .a = a};
    uint32_t base = 0, half = 0, which = 0, slot = 0;
    open_strip(s, &l);
    for (uint32_t index = first; index < last; index += step, which ^= 1) {
        struct strip t = strip_at(s, index);
        int32_t at = 0, top = (int32_t)t.row * a->stride_h - a->pad_top - t.first_in;
        int32_t prepared = 0;
        uint32_t next_slot = slot;
        line.bias = s->bias[which];
        if (!a->bias) clear(s->bias[which], s->block);
        for (uint32_t row = 0; row < t.rows; row++, half ^= 1, top += a->stride_h) {
            slot += (uint32_t)(min_i32(max_i32(top, 0), t.in_rows) - at);
            at = min_i32(max_i32(top, 0), t.in_rows);
            while (slot >= s->slots) slot -= s->slots;
            load_ahead(s, &l, index, base + (uint32_t)at);
            if (row == 0) xpu_wait(l.ready[which]);
            find_rows(s, &l, &t, top, at, slot, which, &line);
            if (s->body) prepare_rows(s, &t, &prepared, &next_slot, top);
            line.out = s->out[half];
            xpu_wait(stored[half]);
            compute_line(&line, &t);
            if (swish) hard_swish_pixels(line.out, t.channels, s->block, t.columns, s->most);
            uint32_t pixel = (t.image * (uint32_t)a->out_h + t.row + row) * (uint32_t)a->out_w + t.column;
            stored[half] = xpu_store_2d(a->y + 4 * (pixel * (uint32_t)a->y_pixel + t.channel), 4 * a->y_pixel, line.out,
                                        (int32_t)(4 * s->block), 4 * t.channels, t.columns);
        }
        base += (uint32_t)t.in_rows;
        slot += (uint32_t)(t.in_rows - at); /* the next row brings it back */
    }
}

/* A core's share, `c` being the immediates of what input rows go through, 0: nothing; 0: this is no such window, or LM
 * has no room, and nothing was done. */
ALWAYS_INLINE int run_in_strips(const struct xpu_depthwise_f32_args *a, const float *c, uint32_t core, uint32_t cores) {
    struct strips s = {.a = a, .body = c ? xpu_call_body() : 0, .c = c};
    uint32_t first, last;
    const struct xpu_progress *p = xpu_call_progress();
    int by_rows = p->counter != XPU_NO_COUNTER;
    if (a->kernel_w != WIDTH || a->kernel_h > MOST_HEIGHT || a->dilation_w != 1 || a->stride_w > 2 || a->branch)
        return 0;
    if (!cut(&s, by_rows ? FINE * cores : cores)) return 0;
    uint32_t count = (uint32_t)a->batch * s.tiles * s.blocks * s.bands, step = 1;
    if (!by_rows) {
        partition(core, cores, count, 1, &first, &last);
    } else { /* core 0 comes later and takes the last ones */
        uint32_t late = count * (uint32_t)a->late_share / 1000;
        first = core == 0 ? count - late : core - 1;
        last = core == 0 ? count : count - late;
        step = core == 0 ? 1 : cores - 1;
    }
    if (a->y_absmax) findmax_begin(s.most);
    run_strips(&s, first, last, step);
    if (a->y_absmax) findmax_end(s.most, a->y_absmax, core, cores);
    return 1;
}
