/*
 * Powers of two for the rows of an int16 product: row_scale_f32 divides each row by its own, row_restore_f32 multiplies
 * the rows of the product by it and does what follows. Blocks of rows, or parts of a row that LM does not hold, pass
 * through three buffers: one is loaded and one stored while the third is computed, in place.
 */
#include "xpu_runtime/kernels/epilogue.h"
#include "xpu_runtime/kernels/findmax.h"

enum { BUFFERS = 3, VECTOR = 64, MOST_ROWS = 64, MOST_POWERS = 256, BLOCK = 4096 };

/* rows x width elements, whose first is at (row, column); pass 0 finds the magnitude of a long row, 1 does the rest. */
struct block {
    uint32_t row, rows, column, width, pass;
};

/* How [rows][count] is cut: `parts` blocks of `width` columns beside each other, `height` rows if there is one. */
struct cut {
    uint32_t rows, count, height, width, parts;
};

/* `room`: floats of a buffer; `cores`: that share the rows. */
static struct cut cut_rows(uint32_t rows, uint32_t count, uint32_t room, uint32_t cores) {
    struct cut c = {.rows = rows, .count = count, .height = 1, .width = count, .parts = 1};
    if (count > room) {
        c.width = round_down(room, VECTOR);
        c.parts = ceil_div(count, c.width);
    } else {
        c.height = min_u32(min_u32(ceil_div(rows, cores), MOST_ROWS), min_u32(room, BLOCK + count - 1) / count);
    }
    return c;
}

/* Block `index` of the rows up to `last`; where a long row takes two passes, index counts the blocks of both. */
static struct block block_at(const struct cut *c, uint32_t passes, uint32_t first, uint32_t last, uint32_t index) {
    uint32_t part = index % (passes * c->parts);
    struct block b = {.row = first + index / (passes * c->parts) * c->height, .pass = part / c->parts};
    b.rows = min_u32(c->height, last - b.row);
    b.column = part % c->parts * c->width;
    b.width = min_u32(c->width, c->count - b.column);
    return b;
}

static uint32_t place_of(const struct cut *c, const struct block *b) {
    return 4 * (b->row * c->count + b->column);
}

/* ---- the division ---- */

/* The largest magnitude of a row, so far: as bits, in which a NaN is above infinity. */
static inline vuint32m4_t largest_of_rest(vuint32m4_t most, const float *x, uint32_t n) {
    for (size_t vl; n > 0; n -= (uint32_t)vl, x += vl) {
        vl = __riscv_vsetvl_e32m4(n);
        most = __riscv_vmaxu_vv_u32m4_tu(most, most, findmax_bits(__riscv_vle32_v_f32m4(x, vl), vl), vl);
    }
    return most;
}

/* To memory: nothing waits for it here. */
static inline void keep_largest(vuint32m4_t most, uint32_t *to) {
    vuint32m1_t zero = __riscv_vmv_s_x_u32m1(0, 1);
    __riscv_vse32_v_u32m1(to, __riscv_vredmaxu_vs_u32m4_u32m1(most, zero, VECTOR), 1);
}

static void find_largest(const float *x, uint32_t n, uint32_t *to) {
    keep_largest(largest_of_rest(__riscv_vmv_v_x_u32m4(0, VECTOR), x, n), to);
}

static void multiply(float *x, uint32_t n, float factor) {
    for (size_t vl; n > 0; n -= (uint32_t)vl, x += vl) {
        vl = __riscv_vsetvl_e32m4(n);
        __riscv_vse32_v_f32m4(x, __riscv_vfmul_vf_f32m4(__riscv_vle32_v_f32m4(x, vl), factor, vl), vl);
    }
}

/* Both, of two rows: what one waits for, the other fills. */
static void multiply_and_find(float *x, float factor, const float *ahead, uint32_t n, uint32_t *to) {
    const size_t vl = __riscv_vsetvlmax_e32m4();
    vuint32m4_t most = __riscv_vmv_v_x_u32m4(0, vl);
    for (; n >= 2 * VECTOR; n -= 2 * VECTOR, x += 2 * VECTOR, ahead += 2 * VECTOR) {
        vfloat32m4_t c = __riscv_vle32_v_f32m4(ahead, vl);
        vfloat32m4_t a = __riscv_vle32_v_f32m4(x, vl);
        vuint32m4_t c_bits = findmax_bits(c, vl);
        vfloat32m4_t d = __riscv_vle32_v_f32m4(ahead + VECTOR, vl);
        a = __riscv_vfmul_vf_f32m4(a, factor, vl);
        vfloat32m4_t b = __riscv_vle32_v_f32m4(x + VECTOR, vl);
        most = __riscv_vmaxu_vv_u32m4(most, c_bits, vl);
        __riscv_vse32_v_f32m4(x, a, vl);
        b = __riscv_vfmul_vf_f32m4(b, factor, vl);
        vuint32m4_t d_bits = findmax_bits(d, vl);
        __riscv_vse32_v_f32m4(x + VECTOR, b, vl);
        most = __riscv_vmaxu_vv_u32m4(most, d_bits, vl);
    }
    keep_largest(largest_of_rest(most, ahead, n), to);
    multiply(x, n, factor);
}

struct scale {
    struct xpu_row_scale_f32_args a;
    struct cut cut;
    uint32_t most; /* of the long row so far */
    uint32_t kept; /* powers of the last rows */
    float *x[BUFFERS], *powers;
    xpu_ticket stored[BUFFERS];
};

static xpu_ticket load_scale(const struct scale *s, const struct block *b, uint32_t buffer) {
    xpu_wait(s->stored[buffer]);
    return GM2LM(s->x[buffer], s->a.x + place_of(&s->cut, b), 4 * b->rows * b->width);
}

/* The powers that are not stored yet. */
static void store_powers(struct scale *s, uint32_t row) {
    if (!s->kept) return;
    xpu_wait(LM2GM(s->a.powers + 4 * (row - s->kept), s->powers, 4 * s->kept));
    s->kept = 0;
}

/* The magnitudes go two rows ahead of the division: so no row waits for its own. */
static void run_whole(struct scale *s, const struct block *b, float *x) {
    enum { AHEAD = 2 };
    uint32_t most[MOST_ROWS], n = b->width;
    if (s->kept + b->rows > MOST_POWERS) store_powers(s, b->row);
    for (uint32_t i = 0; i < min_u32(AHEAD, b->rows); i++) find_largest(x + i * n, n, most + i);
    for (uint32_t i = 0; i < b->rows; i++, x += n) {
        float absmax = xa_float(most[i]), inverse = xa_row_inverse(absmax);
        s->powers[s->kept++] = xa_row_power(absmax);
        if (i + AHEAD < b->rows)
            multiply_and_find(x, inverse, x + AHEAD * n, n, most + i + AHEAD);
        else
            multiply(x, n, inverse);
    }
}

static void run_part(struct scale *s, const struct block *b, float *x) {
    if (b->pass == 0) {
        uint32_t most;
        find_largest(x, b->width, &most);
        s->most = b->column == 0 || most > s->most ? most : s->most;
        return;
    }
    if (b->column == 0) {
        if (s->kept == MOST_POWERS) store_powers(s, b->row);
        s->powers[s->kept++] = xa_row_power(xa_float(s->most));
    }
    multiply(x, b->width, xa_row_inverse(xa_float(s->most)));
}

static void run_scale(struct scale *s, const struct block *b, uint32_t buffer) {
    if (s->cut.parts == 1)
        run_whole(s, b, s->x[buffer]);
    else
        run_part(s, b, s->x[buffer]);
    if (s->cut.parts > 1 && b->pass == 0) return;
    s->stored[buffer] = LM2GM(s->a.y + place_of(&s->cut, b), s->x[buffer], 4 * b->rows * b->width);
}

static void scale_share(const void *args, uint32_t core, uint32_t cores) {
    struct scale s = {.a = *(const struct xpu_row_scale_f32_args *)args};
    uint32_t available, first, last, rows = (uint32_t)s.a.rows;
    float *lm = lm_floats(&available);
    uint32_t each = round_down((available - MOST_POWERS) / BUFFERS, VECTOR);
    s.cut = cut_rows(rows, (uint32_t)s.a.count, each, cores);
    s.powers = lm;
    for (uint32_t i = 0; i < BUFFERS; i++) {
        s.x[i] = lm + MOST_POWERS + i * each;
        s.stored[i] = (xpu_ticket){XPU_COUNTER_CALL, 0};
    }
    partition(core, cores, rows, 1, &first, &last);
    uint32_t passes = s.cut.parts > 1 ? 2 : 1, count = ceil_div(last - first, s.cut.height) * s.cut.parts * passes;
    struct block next = {0};
    xpu_ticket loaded = {XPU_COUNTER_CALL, 0};
    if (count) {
        next = block_at(&s.cut, passes, first, last, 0);
        loaded = load_scale(&s, &next, 0);
    }
    for (uint32_t i = 0, buffer = 0; i < count; i++) {
        struct block now = next;
        xpu_ticket ready = loaded;
        uint32_t other = buffer == BUFFERS - 1 ? 0 : buffer + 1;
        if (i + 1 < count) {
            next = block_at(&s.cut, passes, first, last, i + 1);
            loaded = load_scale(&s, &next, other);
        }
        xpu_wait(ready);
        run_scale(&s, &now, buffer);
        buffer = other;
    }
    store_powers(&s, last);
}

xpu_ticket xpu_row_scale_f32(const struct xpu_row_scale_f32_args *args, uint32_t layer, xpu_ticket after) {
    return xpu_run_on_cores(scale_share, args, layer, after);
}

/* ---- the multiplication ---- */

struct restore {
    struct xpu_row_restore_f32_args a;
    struct epilogue epilogue;
    struct cut cut;
    float *x[BUFFERS], *branch[BUFFERS], *bias[BUFFERS], *powers[BUFFERS];
    xpu_ticket stored[BUFFERS];
    const struct xpu_progress *progress; /* of the product */
    int by_rows;
};

/* Divides LM. */
static void place_restore(struct restore *s, uint32_t cores) {
    uint32_t available;
    float *lm = lm_floats(&available);
    uint32_t tensors = s->a.branch ? 3 : 2; /* x, bias, branch */
    uint32_t each = round_down(available / BUFFERS, VECTOR), room = round_down((each - MOST_ROWS) / tensors, VECTOR);
    s->cut = cut_rows((uint32_t)s->a.rows, (uint32_t)s->a.count, room, cores);
    for (uint32_t i = 0; i < BUFFERS; i++, lm += each) {
        s->powers[i] = lm;
        s->x[i] = lm + MOST_ROWS;
        s->bias[i] = s->x[i] + room;
        s->branch[i] = s->bias[i] + room;
        s->stored[i] = (xpu_ticket){XPU_COUNTER_CALL, 0};
    }
}

/* When the block's rows of the product are there. */
static uint32_t value_for(const struct restore *s, const struct block *b) {
    const struct xpu_progress *p = s->progress;
    return p->base + p->signals * min_u32(ceil_div(b->row + b->rows, p->rows), p->steps);
}

static xpu_ticket load_rows(const struct restore *s, float *to, uint32_t from, const struct block *b) {
    uint32_t bytes = 4 * b->width, pitch = 4 * s->cut.count;
    if (bytes == pitch) return GM2LM(to, from + place_of(&s->cut, b), bytes * b->rows);
    return xpu_load_2d(to, (int32_t)bytes, from + place_of(&s->cut, b), (int32_t)pitch, bytes, b->rows);
}

static xpu_ticket load_restore(const struct restore *s, const struct block *b, uint32_t buffer) {
    xpu_wait(s->stored[buffer]);
    GM2LM(s->powers[buffer], s->a.powers + 4 * b->row, 4 * b->rows);
    if (s->a.bias && s->cut.parts > 1) GM2LM(s->bias[buffer], s->a.bias + 4 * b->column, 4 * b->width);
    if (s->a.branch) load_rows(s, s->branch[buffer], s->a.branch, b);
    if (s->by_rows) xpu_wait((xpu_ticket){s->progress->counter, value_for(s, b)});
    return load_rows(s, s->x[buffer], s->a.x, b);
}

static inline vfloat32m4_t finish_vector(vfloat32m4_t v, const float *branch, const struct epilogue *e, size_t vl) {
    if (branch && !e->branch_after) v = __riscv_vfadd_vv_f32m4(v, __riscv_vle32_v_f32m4(branch, vl), vl);
    v = activate(v, e, vl);
    if (branch && e->branch_after) v = __riscv_vfadd_vv_f32m4(v, __riscv_vle32_v_f32m4(branch, vl), vl);
    return v;
}

static void restore_row(float *x, float power, const float *bias, const float *branch, uint32_t n,
                        const struct epilogue *e) {
    for (uint32_t done = 0; done < n;) {
        size_t vl = __riscv_vsetvl_e32m4(n - done);
        vfloat32m4_t v = __riscv_vfmul_vf_f32m4(__riscv_vle32_v_f32m4(x + done, vl), power, vl);
        if (bias) v = xv_add(v, __riscv_vle32_v_f32m4(bias + done, vl), vl);
        __riscv_vse32_v_f32m4(x + done, finish_vector(v, branch ? branch + done : 0, e, vl), vl);
        done += (uint32_t)vl;
    }
}

static void run_restore(struct restore *s, const struct block *b, uint32_t buffer) {
    const float *bias = s->a.bias ? s->bias[s->cut.parts > 1 ? buffer : 0] : 0;
    for (uint32_t i = 0; i < b->rows; i++) {
        const float *branch = s->a.branch ? s->branch[buffer] + i * b->width : 0;
        restore_row(s->x[buffer] + i * b->width, s->powers[buffer][i], bias, branch, b->width, &s->epilogue);
    }
    uint32_t bytes = 4 * b->width, pitch = 4 * s->cut.count, to = s->a.y + place_of(&s->cut, b);
    if (bytes == pitch)
        s->stored[buffer] = LM2GM(to, s->x[buffer], bytes * b->rows);
    else
        s->stored[buffer] = xpu_store_2d(to, (int32_t)pitch, s->x[buffer], (int32_t)bytes, bytes, b->rows);
}

/* Blocks first, first + step, ...; the next one is loaded ahead where its rows come with those of the one before. */
static void restore_blocks(struct restore *s, uint32_t first, uint32_t last, uint32_t step) {
    struct block next = {0};
    xpu_ticket loaded = {XPU_COUNTER_CALL, 0};
    if (first < last) {
        next = block_at(&s->cut, 1, 0, s->cut.rows, first);
        loaded = load_restore(s, &next, 0);
    }
    for (uint32_t i = first, buffer = 0; i < last; i += step) {
        struct block now = next;
        xpu_ticket ready = loaded;
        uint32_t other = buffer == BUFFERS - 1 ? 0 : buffer + 1;
        int more = i + step < last, late = 0;
        if (more) {
            next = block_at(&s->cut, 1, 0, s->cut.rows, i + step);
            late = s->by_rows && value_for(s, &next) != value_for(s, &now);
            if (!late) loaded = load_restore(s, &next, other);
        }
        xpu_wait(ready);
        run_restore(s, &now, buffer);
        if (more && late) loaded = load_restore(s, &next, other);
        buffer = other;
    }
}

/* Where the product comes row by row, core 0 is busy with it: it only helps with the rows that come last. */
static void restore_share(const void *args, uint32_t core, uint32_t cores) {
    struct restore s = {.a = *(const struct xpu_row_restore_f32_args *)args, .progress = xpu_call_progress()};
    s.epilogue = (struct epilogue)EPILOGUE_OF(&s.a);
    s.by_rows = s.progress->counter != XPU_NO_COUNTER;
    place_restore(&s, cores);
    uint32_t first, last, early = 0, all = ceil_div(s.cut.rows, s.cut.height) * s.cut.parts;
    if (s.a.bias && s.cut.parts == 1) GM2LM(s.bias[0], s.a.bias, 4 * s.cut.count);
    if (s.by_rows) early = (s.progress->steps - 1) * s.progress->rows / s.cut.height * s.cut.parts;
    if (core > 0) restore_blocks(&s, core - 1, early, cores - 1);
    partition(core, cores, all - early, 1, &first, &last);
    restore_blocks(&s, early + first, early + last, 1);
}

xpu_ticket xpu_row_restore_f32(const struct xpu_row_restore_f32_args *args, uint32_t layer, xpu_ticket after) {
    struct xpu_progress progress;
    int by_rows = args->early && core_num() > 1 && xpu_find_progress(layer - 1, args->x, &progress);
    if (by_rows) return xpu_run_on_cores_behind(restore_share, args, layer, after, &progress);
    return xpu_run_on_cores(restore_share, args, layer, after);
}
