/*
 * Sum, mean, maximum, minimum or product over the middle of [outer][count][inner] in float32 on the cores, sums and
 * products in 16 strided lanes and the fixed tree. Where inner is 1 a vector holds neighbours of one row, otherwise the
 * same position of neighbouring rows. A task is some results side by side; its values come in blocks, the next one
 * while this one is reduced. The lanes, or the extreme so far, stay in LM between blocks. Where there are too few tasks
 * for all cores, sums go another way (reduce_lanes_f32.c).
 */
#include "core/arith_rvv.h"
#include "xpu_runtime/kernels/common.h"
#include "xpu_runtime/kernels/reduce_lanes_f32.h"

enum { MOST_RESULTS = 64, VECTOR = 64 };

/* `first`: of the task's values, whose index along the axis is below count. */
struct step {
    uint32_t task, first;
};

struct plan {
    const struct xpu_reduce_f32_args *a;
    uint32_t results, blocks; /* of a task; tasks beside each other, where inner is not 1 */
    uint32_t rows, last;      /* values of a block for each result; the task behind this core's last */
    float *lm[2], *out[2], *lanes;
    xpu_ticket stored[2];
};

/* What a step works on: n values for each of `results`; the place of the first of them. */
struct block {
    uint32_t results, n, x, y;
    int ends;
};

static float neutral(int32_t kind) {
    return kind == XA_REDUCE_MAX    ? -__builtin_inff()
           : kind == XA_REDUCE_MIN  ? __builtin_inff()
           : kind == XA_REDUCE_PROD ? 1.0f
                                    : 0.0f;
}

static vfloat32m4_t combine(int32_t kind, vfloat32m4_t a, vfloat32m4_t b, size_t vl) {
    switch (kind) {
    case XA_REDUCE_MAX: return xv_max(a, b, vl);
    case XA_REDUCE_MIN: return xv_min(a, b, vl);
    case XA_REDUCE_PROD: return xv_mul(a, b, vl);
    default: return xv_add(a, b, vl);
    }
}

/* ---- one row ---- */

static vfloat32m1_t combine_lanes(int32_t kind, vfloat32m1_t a, vfloat32m1_t b, size_t n) {
    return kind == XA_REDUCE_PROD ? __riscv_vfmul_vv_f32m1_tu(a, a, b, n) : __riscv_vfadd_vv_f32m1_tu(a, a, b, n);
}

/* Adds or multiplies n values, the first of which belongs to lane 0, to the 16 lanes. */
static void row_lanes(int32_t kind, const float *x, uint32_t n, float *state) {
    vfloat32m1_t lanes = __riscv_vle32_v_f32m1(state, XA_LANES);
    for (; n >= VECTOR; n -= VECTOR, x += VECTOR) {
        vfloat32m4_t v = __riscv_vle32_v_f32m4(x, VECTOR);
        lanes = combine_lanes(kind, lanes, __riscv_vget_v_f32m4_f32m1(v, 0), XA_LANES);
        lanes = combine_lanes(kind, lanes, __riscv_vget_v_f32m4_f32m1(v, 1), XA_LANES);
        lanes = combine_lanes(kind, lanes, __riscv_vget_v_f32m4_f32m1(v, 2), XA_LANES);
        lanes = combine_lanes(kind, lanes, __riscv_vget_v_f32m4_f32m1(v, 3), XA_LANES);
    }
    for (uint32_t done = 0; done < n; done += XA_LANES) {
        size_t part = min_u32(n - done, XA_LANES);
        lanes = combine_lanes(kind, lanes, __riscv_vle32_v_f32m1(x + done, part), part);
    }
    __riscv_vse32_v_f32m1(state, lanes, XA_LANES);
}

/* The extreme of n values and the one so far; the order does not matter. */
static void row_extreme(int32_t kind, const float *x, uint32_t n, float *state) {
    vfloat32m4_t most = xv_splat(state[0], VECTOR);
    for (; n >= VECTOR; n -= VECTOR, x += VECTOR) {
        most = combine(kind, most, __riscv_vle32_v_f32m4(x, VECTOR), VECTOR);
    }
    vfloat32m4_t rest = __riscv_vle32_v_f32m4_tu(most, x, n); /* the elements from n on are those of most */
    most = combine(kind, most, rest, VECTOR);
    int nan = __riscv_vfirst_m_b8(__riscv_vmfne_vv_f32m4_b8(most, most, VECTOR), VECTOR) >= 0;
    vfloat32m1_t start = __riscv_vfmv_s_f_f32m1(neutral(kind), 1);
    start = kind == XA_REDUCE_MAX ? __riscv_vfredmax_vs_f32m4_f32m1(most, start, VECTOR)
                                  : __riscv_vfredmin_vs_f32m4_f32m1(most, start, VECTOR);
    state[0] = nan ? xa_nan() : __riscv_vfmv_f_s_f32m1_f32(start);
}

static int is_extreme(int32_t kind) {
    return kind == XA_REDUCE_MAX || kind == XA_REDUCE_MIN;
}

static float row_result(const struct xpu_reduce_f32_args *a, const float *state) {
    if (is_extreme(a->kind)) return state[0];
    vfloat32m1_t lanes = __riscv_vle32_v_f32m1(state, XA_LANES);
    for (size_t step = XA_LANES / 2; step > 0; step /= 2) {
        lanes = combine_lanes(a->kind, lanes, __riscv_vslidedown_vx_f32m1(lanes, step, XA_LANES), step);
    }
    float sum = __riscv_vfmv_f_s_f32m1_f32(lanes);
    return a->kind == XA_REDUCE_MEAN ? sum / (float)a->count : sum;
}

static void reduce_rows(const struct plan *p, const struct block *b, const float *x, int begins, float *out) {
    for (uint32_t r = 0; r < b->results; r++, x += b->n) {
        for (uint32_t i = 0; begins && i < XA_LANES; i++) p->lanes[i] = neutral(p->a->kind);
        if (is_extreme(p->a->kind))
            row_extreme(p->a->kind, x, b->n, p->lanes);
        else
            row_lanes(p->a->kind, x, b->n, p->lanes);
        if (b->ends) out[r] = row_result(p->a, p->lanes);
    }
}

/* ---- rows side by side ---- */

/* Adds to two lanes at a time, so that one's loads fill the other's waits. */
static void add_columns(const struct plan *p, const struct block *b, const float *x, int begins, size_t vl) {
    const uint32_t width = b->results;
    for (uint32_t j = 0; j < XA_LANES; j += 2, x += 2 * width) {
        float *lane = p->lanes + j * width;
        vfloat32m4_t u = xv_splat(0.0f, vl), v = u;
        if (!begins) u = __riscv_vle32_v_f32m4(lane, vl), v = __riscv_vle32_v_f32m4(lane + width, vl);
        const float *from = x;
        uint32_t i = j;
        for (; i + 1 < b->n; i += XA_LANES, from += XA_LANES * width) {
            u = xv_add(u, __riscv_vle32_v_f32m4(from, vl), vl);
            v = xv_add(v, __riscv_vle32_v_f32m4(from + width, vl), vl);
        }
        if (i < b->n) u = xv_add(u, __riscv_vle32_v_f32m4(from, vl), vl);
        __riscv_vse32_v_f32m4(lane, u, vl);
        __riscv_vse32_v_f32m4(lane + width, v, vl);
    }
}

/* Lanes j and j + 8 of a block with all values, added up. */
static vfloat32m4_t add_lanes(const struct block *b, const float *x, uint32_t j, size_t vl) {
    const uint32_t width = b->results, half = XA_LANES / 2 * width;
    vfloat32m4_t u = xv_splat(0.0f, vl), v = u;
    x += j * width;
    for (; j + XA_LANES / 2 < b->n; j += XA_LANES, x += 2 * half) {
        u = xv_add(u, __riscv_vle32_v_f32m4(x, vl), vl);
        v = xv_add(v, __riscv_vle32_v_f32m4(x + half, vl), vl);
    }
    if (j < b->n) u = xv_add(u, __riscv_vle32_v_f32m4(x, vl), vl);
    return xv_add(u, v, vl);
}

/* The sums of a block with all values: the same tree of lanes, each branch of it when both of its ends are there. What
 * waits for its other end stands where the lanes would. */
static vfloat32m4_t add_all(const struct plan *p, const struct block *b, const float *x, size_t vl) {
    float *waits = p->lanes;
    vfloat32m4_t sum = xv_splat(0.0f, vl);
    for (uint32_t i = 0; i < XA_LANES / 2; i++) {
        sum = add_lanes(b, x, (i & 1) << 2 | (i & 2) | i >> 2, vl);
        for (uint32_t ends = i; ends & 1; ends >>= 1) {
            waits -= b->results;
            sum = xv_add(__riscv_vle32_v_f32m4(waits, vl), sum, vl);
        }
        __riscv_vse32_v_f32m4(waits, sum, vl);
        waits += b->results;
    }
    return sum;
}

static void put_columns(const struct plan *p, vfloat32m4_t result, float *out, size_t vl) {
    if (p->a->kind == XA_REDUCE_MEAN) result = __riscv_vfdiv_vf_f32m4(result, (float)p->a->count, vl);
    __riscv_vse32_v_f32m4(out, result, vl);
}

/* Lane j is what is left of the values j, j + 16, ...; an extreme needs one lane. */
static void reduce_columns(const struct plan *p, const struct block *b, const float *x, int begins, float *out) {
    int32_t kind = p->a->kind;
    uint32_t width = b->results, lanes = is_extreme(kind) ? 1 : XA_LANES;
    size_t vl = __riscv_vsetvl_e32m4(width);
    const int is_sum = kind == XA_REDUCE_SUM || kind == XA_REDUCE_MEAN;
    if (is_sum && begins && b->ends) {
        put_columns(p, add_all(p, b, x, vl), out, vl);
        return;
    }
    if (is_sum) add_columns(p, b, x, begins, vl);
    for (uint32_t j = 0; j < lanes && !is_sum; j++) {
        float *lane = p->lanes + j * width;
        vfloat32m4_t v = begins ? xv_splat(neutral(kind), vl) : __riscv_vle32_v_f32m4(lane, vl);
        for (uint32_t i = j; i < b->n; i += lanes) v = combine(kind, v, __riscv_vle32_v_f32m4(x + i * width, vl), vl);
        __riscv_vse32_v_f32m4(lane, v, vl);
    }
    if (!b->ends) return;
    for (uint32_t step = lanes / 2; step > 0; step /= 2) {
        for (uint32_t j = 0; j < step; j++) {
            float *to = p->lanes + j * width;
            vfloat32m4_t other = __riscv_vle32_v_f32m4(to + step * width, vl);
            __riscv_vse32_v_f32m4(to, combine(kind, __riscv_vle32_v_f32m4(to, vl), other, vl), vl);
        }
    }
    put_columns(p, __riscv_vle32_v_f32m4(p->lanes, vl), out, vl);
}

/* ---- steps ---- */

static struct block block_of(const struct plan *p, const struct step *s) {
    const struct xpu_reduce_f32_args *a = p->a;
    uint32_t count = (uint32_t)a->count, inner = (uint32_t)a->inner, outer = (uint32_t)a->outer;
    struct block b = {.n = min_u32(p->rows, count - s->first)};
    b.ends = s->first + b.n == count;
    if (inner == 1) {
        uint32_t row = s->task * p->results;
        b.results = min_u32(p->results, outer - row);
        b.x = (uint32_t)a->x + 4 * (row * count + s->first);
        b.y = (uint32_t)a->y + 4 * row;
        return b;
    }
    uint32_t row = s->task / p->blocks, column = s->task % p->blocks * p->results;
    b.results = min_u32(p->results, inner - column);
    b.x = (uint32_t)a->x + 4 * ((row * count + s->first) * inner + column);
    b.y = (uint32_t)a->y + 4 * (row * inner + column);
    return b;
}

static xpu_ticket load(const struct plan *p, const struct step *s, uint32_t half) {
    struct block b = block_of(p, s);
    uint32_t inner = (uint32_t)p->a->inner;
    if (inner == 1 || b.results == inner) return GM2LM(p->lm[half], b.x, 4 * b.n * b.results);
    return xpu_load_2d(p->lm[half], (int32_t)(4 * b.results), b.x, (int32_t)(4 * inner), 4 * b.results, b.n);
}

static int next_step(const struct plan *p, struct step *s) {
    s->first += p->rows;
    if (s->first >= (uint32_t)p->a->count) {
        s->first = 0;
        s->task++;
    }
    return s->task < p->last;
}

static void run_step(struct plan *p, const struct step *s, uint32_t half) {
    struct block b = block_of(p, s);
    xpu_wait(p->stored[half]);
    (p->a->inner == 1 ? reduce_rows : reduce_columns)(p, &b, p->lm[half], s->first == 0, p->out[half]);
    if (b.ends) p->stored[half] = LM2GM(b.y, p->out[half], 4 * b.results);
}

/* Divides LM: the lanes, two blocks and their results. Returns how many tasks there are. */
static uint32_t choose_block(struct plan *p, uint32_t cores) {
    const struct xpu_reduce_f32_args *a = p->a;
    uint32_t available, count = (uint32_t)a->count, inner = (uint32_t)a->inner, outer = (uint32_t)a->outer;
    float *lm = lm_floats(&available);
    uint32_t most = inner == 1 ? 1 : min_u32(inner, MOST_RESULTS);
    while (inner > 1 && 3 * XA_LANES * most + 2 * MOST_RESULTS > available) most = (most + 1) / 2;
    uint32_t fixed = XA_LANES * most + 2 * MOST_RESULTS, room = (available - fixed) / 2;
    if (inner == 1) {
        p->rows = count <= room ? count : round_down(room, VECTOR);
        p->results = count <= room ? min_u32(room / count, MOST_RESULTS) : 1;
        p->results = min_u32(p->results, ceil_div(outer, cores));
    } else {
        p->results = most;
        p->rows = round_down(room / most, XA_LANES);
    }
    p->blocks = ceil_div(inner, p->results);
    p->lanes = lm;
    p->out[0] = lm + XA_LANES * most;
    p->out[1] = p->out[0] + MOST_RESULTS;
    p->lm[0] = p->out[1] + MOST_RESULTS;
    p->lm[1] = p->lm[0] + room;
    return inner == 1 ? ceil_div(outer, p->results) : outer * p->blocks;
}

static void reduce_share(const void *args, uint32_t core, uint32_t cores) {
    const struct xpu_reduce_f32_args a = *(const struct xpu_reduce_f32_args *)args;
    xpu_ticket none = {XPU_COUNTER_CALL, 0};
    if (reduce_by_lanes(&a, core, cores)) return;
    struct plan p = {.a = &a, .stored = {none, none}};
    struct step now = {0};
    share_tasks(core, cores, choose_block(&p, cores), &now.task, &p.last);
    int more = now.task < p.last;
    xpu_ticket loaded = none;
    if (more) loaded = load(&p, &now, 0);
    for (uint32_t half = 0; more; half ^= 1) {
        struct step next = now;
        xpu_ticket ready = loaded;
        more = next_step(&p, &next);
        if (more) loaded = load(&p, &next, half ^ 1);
        xpu_wait(ready);
        run_step(&p, &now, half);
        now = next;
    }
}

xpu_ticket xpu_reduce_f32(const struct xpu_reduce_f32_args *args, uint32_t layer, xpu_ticket after) {
    return xpu_run_on_cores(reduce_share, args, layer, after);
}
