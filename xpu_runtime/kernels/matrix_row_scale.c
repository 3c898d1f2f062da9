/*
 * Powers of two for the rows of an int16 product: row_scale_f32 divides each row by its own, row_restore_f32 multiplies
 * the rows of the product by it and does what follows. Blocks of rows, or parts of a row that LM does not hold, pass
 * through four buffers: they are loaded two blocks ahead, computed in place, and stored behind.
 */
#include "xpu_runtime/kernels/epilogue.h"
#include "xpu_runtime/kernels/findmax.h"

/* SCALED, RESTORED: elements that a block has at least, where there are so many. HEAD_START: by so many has core 0
 * fewer to scale, as it has to queue the product then. */
enum { BUFFERS = 4, LANES = 16, MOST_ROWS = 64, MOST_POWERS = 256, SCALED = 4096, RESTORED = 2048, HEAD_START = 4096 };

/* rows x width elements, whose first is at (row, column); pass 0 finds the magnitude of a long row, 1 does the rest. */
struct block {
    uint32_t row, rows, column, width, pass;
};

/* How [rows][count] is cut: `parts` blocks of `width` columns beside each other, `height` rows if there is one. */
struct cut {
    uint32_t rows, count, height, width, parts;
};

/* `room`: floats of a buffer; `block`: those to aim at; `cores`: that share the rows. */
static struct cut cut_rows(uint32_t rows, uint32_t count, uint32_t room, uint32_t block, uint32_t cores) {
    struct cut c = {.rows = rows, .count = count, .height = 1, .width = count, .parts = 1};
    if (count > room) {
        c.width = round_down(room, LANES);
        c.parts = ceil_div(count, c.width);
    } else {
        c.height = min_u32(min_u32(ceil_div(rows, cores), MOST_ROWS), min_u32(room, block + count - 1) / count);
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

static inline vuint32m8_t bits_of(vfloat32m8_t x, size_t vl) {
    return __riscv_vand_vx_u32m8(__riscv_vreinterpret_v_f32m8_u32m8(x), 0x7fffffff, vl);
}

/* The largest of `count` elements, to memory: nothing waits for it here. */
static inline void keep_largest(vuint32m8_t most, size_t count, uint32_t *to) {
    vuint32m1_t first = __riscv_vget_v_u32m8_u32m1(most, 0);
    __riscv_vse32_v_u32m1(to, __riscv_vredmaxu_vs_u32m8_u32m1(most, first, count), 1);
}

/* The largest magnitude, as bits, in which a NaN is above infinity. */
static void find_largest(const float *x, uint32_t n, uint32_t *to) {
    size_t vl = __riscv_vsetvl_e32m8(n);
    const size_t count = vl;
    vuint32m8_t most = bits_of(__riscv_vle32_v_f32m8(x, vl), vl);
    while (n -= (uint32_t)vl, x += vl, n > 0) {
        vl = __riscv_vsetvl_e32m8(n);
        most = __riscv_vmaxu_vv_u32m8_tu(most, most, bits_of(__riscv_vle32_v_f32m8(x, vl), vl), vl);
    }
    keep_largest(most, count, to);
}

static void multiply(float *x, uint32_t n, float factor) {
    for (size_t vl; n > 0; n -= (uint32_t)vl, x += vl) {
        vl = __riscv_vsetvl_e32m8(n);
        __riscv_vse32_v_f32m8(x, __riscv_vfmul_vf_f32m8(__riscv_vle32_v_f32m8(x, vl), factor, vl), vl);
    }
}

/* Both, of two rows: what one waits for, the other fills. */
static inline void multiply_and_find(float *x, float factor, const float *ahead, uint32_t n, uint32_t *to) {
    size_t vl = __riscv_vsetvl_e32m8(n);
    const size_t count = vl;
    vfloat32m8_t b = __riscv_vle32_v_f32m8(ahead, vl), a = __riscv_vle32_v_f32m8(x, vl);
    vuint32m8_t most = bits_of(b, vl);
    __riscv_vse32_v_f32m8(x, __riscv_vfmul_vf_f32m8(a, factor, vl), vl);
    while (n -= (uint32_t)vl, x += vl, ahead += vl, n > 0) {
        vl = __riscv_vsetvl_e32m8(n);
        b = __riscv_vle32_v_f32m8(ahead, vl);
        a = __riscv_vle32_v_f32m8(x, vl);
        vuint32m8_t bits = bits_of(b, vl);
        a = __riscv_vfmul_vf_f32m8(a, factor, vl);
        __riscv_vse32_v_f32m8(x, a, vl);
        most = __riscv_vmaxu_vv_u32m8_tu(most, most, bits, vl);
    }
    keep_largest(most, count, to);
}

struct scale {
    struct xpu_row_scale_f32_args a;
    struct cut cut;
    uint32_t kept;                         /* powers that are not stored yet */
    float *x[BUFFERS], *powers, *inverses; /* inverses: of the rows of a block */
    uint32_t *most;                        /* of the rows of the block behind it, as bits */
    xpu_ticket loaded[BUFFERS], stored[BUFFERS];
};

static void load_scale(struct scale *s, const struct block *b, uint32_t buffer) {
    xpu_wait(s->stored[buffer]);
    s->loaded[buffer] = GM2LM(s->x[buffer], s->a.x + place_of(&s->cut, b), 4 * b->rows * b->width);
}

static void store_scale(struct scale *s, const struct block *b, uint32_t buffer) {
    s->stored[buffer] = LM2GM(s->a.y + place_of(&s->cut, b), s->x[buffer], 4 * b->rows * b->width);
}

/* Powers of rows row - kept .. row - 1. */
static void store_powers(struct scale *s, uint32_t row) {
    if (s->kept) xpu_wait(LM2GM(s->a.powers + 4 * (row - s->kept), s->powers, 4 * s->kept));
    s->kept = 0;
}

/* xa_row_power and xa_row_inverse of `most` but for their exponents. */
static inline vuint32m4_t power_of(vuint32m4_t exponent, vuint32m4_t most, size_t vl) {
    vbool8_t bad = __riscv_vmsgtu_vx_u32m4_b8(most, 0x7f7fffff, vl);
    exponent = __riscv_vmaxu_vx_u32m4(exponent, 0x00400000, vl);
    return __riscv_vmerge_vxm_u32m4(exponent, 0x7fc00000, bad, vl);
}

/* What was found of the rows row .. row + rows - 1 becomes their powers and inverses. */
static void find_powers(struct scale *s, uint32_t row, uint32_t rows) {
    if (s->kept + rows > MOST_POWERS) store_powers(s, row);
    size_t vl = __riscv_vsetvl_e32m4(rows);
    vuint32m4_t most = __riscv_vle32_v_u32m4(s->most, vl), exponent = __riscv_vand_vx_u32m4(most, 0x7f800000, vl);
    __riscv_vse32_v_u32m4((uint32_t *)s->powers + s->kept, power_of(exponent, most, vl), vl);
    exponent = __riscv_vrsub_vx_u32m4(exponent, 254u << 23, vl);
    __riscv_vse32_v_u32m4((uint32_t *)s->inverses, power_of(exponent, most, vl), vl);
    s->kept += rows;
}

static struct block whole_rows(const struct cut *c, uint32_t row, uint32_t last) {
    return (struct block){.row = row, .rows = row < last ? min_u32(c->height, last - row) : 0, .width = c->count};
}

/* The magnitudes of a block's rows are found while the block before it is divided. */
static void scale_rows(struct scale *s, uint32_t first, uint32_t last) {
    struct block now = whole_rows(&s->cut, first, last), next = whole_rows(&s->cut, first + now.rows, last);
    uint32_t n = now.width, buffer = 0, other = 1;
    if (!now.rows) return;
    load_scale(s, &now, 0);
    if (next.rows) load_scale(s, &next, 1);
    xpu_wait(s->loaded[0]);
    for (uint32_t i = 0; i < now.rows; i++) find_largest(s->x[0] + i * n, n, s->most + i);
    find_powers(s, first, now.rows);
    while (now.rows) {
        struct block third = whole_rows(&s->cut, next.row + next.rows, last);
        uint32_t free = other == BUFFERS - 1 ? 0 : other + 1;
        if (third.rows) load_scale(s, &third, free);
        if (next.rows) xpu_wait(s->loaded[other]);
        float *x = s->x[buffer], *ahead = s->x[other];
        for (uint32_t i = 0; i < now.rows; i++, x += n, ahead += n) {
            if (i < next.rows)
                multiply_and_find(x, s->inverses[i], ahead, n, s->most + i);
            else
                multiply(x, n, s->inverses[i]);
        }
        store_scale(s, &now, buffer);
        if (next.rows) find_powers(s, next.row, next.rows);
        now = next;
        next = third;
        buffer = other;
        other = free;
    }
}

/* A row that does not fit comes twice, part by part: for its magnitude, and to be divided. */
static void scale_long_row(struct scale *s, uint32_t row) {
    uint32_t parts = s->cut.parts, most = 0;
    struct block b = block_at(&s->cut, 2, row, row + 1, 0);
    load_scale(s, &b, 0);
    for (uint32_t i = 0, buffer = 0; i < 2 * parts; i++) {
        uint32_t other = buffer == BUFFERS - 1 ? 0 : buffer + 1;
        struct block next = block_at(&s->cut, 2, row, row + 1, i + 1);
        if (i + 1 < 2 * parts) load_scale(s, &next, other);
        xpu_wait(s->loaded[buffer]);
        if (i < parts) {
            find_largest(s->x[buffer], b.width, s->most);
            if (*s->most > most) most = *s->most;
        }
        if (i == parts - 1) {
            *s->most = most;
            find_powers(s, row, 1);
        }
        if (i >= parts) {
            multiply(s->x[buffer], b.width, *s->inverses);
            store_scale(s, &b, buffer);
        }
        b = next;
        buffer = other;
    }
}

/* The absmax that the product uses: a lone row has its own, as in a program for one row. */
static __attribute__((noinline)) void store_absmax(const struct scale *s) {
    float *word = (float *)s->most + MOST_ROWS;
    *word = s->a.rows == 1 ? *(const float *)s->most * *s->inverses : XA_ROW_ABSMAX;
    xpu_wait(LM2GM(s->a.y_absmax, word, 4));
}

static void scale_share(const void *args, uint32_t core, uint32_t cores) {
    struct scale s = {.a = *(const struct xpu_row_scale_f32_args *)args};
    uint32_t available, first, last, rows = (uint32_t)s.a.rows;
    float *lm = lm_floats(&available);
    uint32_t each = round_down((available - MOST_POWERS - 2 * MOST_ROWS - 1) / BUFFERS, LANES);
    s.cut = cut_rows(rows, (uint32_t)s.a.count, each, SCALED, cores);
    for (uint32_t i = 0; i < BUFFERS; i++) {
        s.x[i] = lm + i * each;
        s.stored[i] = (xpu_ticket){XPU_COUNTER_CALL, 0};
    }
    s.powers = lm + BUFFERS * each;
    s.inverses = s.powers + MOST_POWERS;
    s.most = (uint32_t *)(s.inverses + MOST_ROWS);
    uint32_t fewer = cores > 1 ? HEAD_START / (uint32_t)s.a.count : 0;
    partition(core, cores, rows + fewer, 1, &first, &last);
    first -= min_u32(first, fewer);
    last -= min_u32(last, fewer);
    if (s.cut.parts == 1) scale_rows(&s, first, last);
    for (uint32_t row = first; s.cut.parts > 1 && row < last; row++) scale_long_row(&s, row);
    store_powers(&s, last);
    if (s.a.y_absmax && first == 0 && last > 0) store_absmax(&s);
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
    uint32_t columns; /* of the product that come at once, all rows of them: it has one tile of rows; else 0 */
};

/* Divides LM. */
static void place_restore(struct restore *s, uint32_t cores) {
    uint32_t available;
    float *lm = lm_floats(&available);
    uint32_t tensors = s->a.branch ? 3 : 2; /* x, bias, branch */
    uint32_t each = round_down(available / BUFFERS, LANES), room = round_down((each - MOST_ROWS) / tensors, LANES);
    s->cut = cut_rows((uint32_t)s->a.rows, (uint32_t)s->a.count, room, RESTORED, cores);
    for (uint32_t i = 0; i < BUFFERS; i++, lm += each) {
        s->powers[i] = lm;
        s->x[i] = lm + MOST_ROWS;
        s->bias[i] = s->x[i] + room;
        s->branch[i] = s->bias[i] + room;
        s->stored[i] = (xpu_ticket){XPU_COUNTER_CALL, 0};
    }
}

/* Where all rows of the product are one tile, its columns come one array's width after the other. */
static uint32_t columns_at_once(const struct restore *s) {
    uint32_t columns = xpu_reg_load(XPU_REG_ARRAY_COLUMNS);
    int is_alone = s->progress->steps == 1 && s->progress->signals == ceil_div((uint32_t)s->a.count, columns);
    return is_alone && s->progress->signals > 1 ? columns : 0;
}

/* Blocks of columns: as many as make a vector, and rows that leave no small rest. */
static void cut_columns(struct restore *s) {
    enum { VECTOR = 64 };
    struct cut *c = &s->cut;
    uint32_t room = (uint32_t)(s->bias[0] - s->x[0]);
    c->width = round_up(VECTOR, s->columns);
    c->parts = ceil_div(c->count, c->width);
    c->height = ceil_div(c->rows, ceil_div(c->rows, min_u32(room / c->width, MOST_ROWS)));
}

static struct block restored_block(const struct restore *s, uint32_t index) {
    if (!s->columns) return block_at(&s->cut, 1, 0, s->cut.rows, index);
    uint32_t blocks = ceil_div(s->cut.rows, s->cut.height);
    struct block b = {.row = index % blocks * s->cut.height, .column = index / blocks * s->cut.width};
    b.rows = min_u32(s->cut.height, s->cut.rows - b.row);
    b.width = min_u32(s->cut.width, s->cut.count - b.column);
    return b;
}

/* When the block's rows of the product are there. */
static uint32_t value_for(const struct restore *s, const struct block *b) {
    const struct xpu_progress *p = s->progress;
    if (s->columns) return p->base + ceil_div(b->column + b->width, s->columns);
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
    if (!bias && !branch && e->activation == (int32_t)XPU_ACT_NONE) {
        multiply(x, n, power);
        return;
    }
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
        next = restored_block(s, first);
        loaded = load_restore(s, &next, 0);
    }
    for (uint32_t i = first, buffer = 0; i < last; i += step) {
        struct block now = next;
        xpu_ticket ready = loaded;
        uint32_t other = buffer == BUFFERS - 1 ? 0 : buffer + 1;
        int more = i + step < last, late = 0;
        if (more) {
            next = restored_block(s, i + step);
            late = s->by_rows && value_for(s, &next) != value_for(s, &now);
            if (!late) loaded = load_restore(s, &next, other);
        }
        xpu_wait(ready);
        run_restore(s, &now, buffer);
        if (more && late) loaded = load_restore(s, &next, other);
        buffer = other;
    }
}

/* Where the product comes row by row, core 0 is busy with it until the last rows are there, and then begins anew: of
 * several cores the others do everything. */
static void restore_share(const void *args, uint32_t core, uint32_t cores) {
    struct restore s = {.a = *(const struct xpu_row_restore_f32_args *)args, .progress = xpu_call_progress()};
    s.epilogue = (struct epilogue)EPILOGUE_OF(&s.a);
    s.by_rows = s.progress->counter != XPU_NO_COUNTER;
    uint32_t idle = s.by_rows && cores > 2;
    if (idle && core == 0) return;
    place_restore(&s, cores);
    if (idle) s.columns = columns_at_once(&s);
    if (s.columns) cut_columns(&s);
    if (s.a.bias && s.cut.parts == 1) GM2LM(s.bias[0], s.a.bias, 4 * s.cut.count);
    if (s.columns) {
        restore_blocks(&s, core - 1, ceil_div(s.cut.rows, s.cut.height) * s.cut.parts, cores - 1);
        return;
    }
    if (s.by_rows) s.cut.height = min_u32(s.cut.height, ceil_div(s.progress->rows, 2 * (cores - idle)));
    uint32_t first, last, early = 0, all = ceil_div(s.cut.rows, s.cut.height) * s.cut.parts;
    if (s.by_rows) early = (s.progress->steps - 1) * s.progress->rows / s.cut.height * s.cut.parts;
    if (core > 0) restore_blocks(&s, core - 1, early, cores - 1);
    partition(core - idle, cores - idle, all - early, 1, &first, &last);
    restore_blocks(&s, early + first, early + last, 1);
}

xpu_ticket xpu_row_restore_f32(const struct xpu_row_restore_f32_args *args, uint32_t layer, xpu_ticket after) {
    struct xpu_progress progress;
    int by_rows = args->early && core_num() > 1 && xpu_find_progress(layer - 1, args->x, &progress);
    if (by_rows) return xpu_run_on_cores_behind(restore_share, args, 0, layer, after, &progress);
    return xpu_run_on_cores(restore_share, args, layer, after);
}
