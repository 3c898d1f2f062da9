/*
 * Softmax in float32 on the cores, in three passes over each row: maximum; exp(x - maximum) with its sum in 16 strided
 * lanes and the fixed tree; division. Rows along the last dim that fit LM: norm_softmax_rows.c; longer ones are walked
 * in blocks. Along another dim a vector holds the same position of neighbouring rows. A step is one pass over one
 * block, or all passes over a row that fits; the next step's block is loaded meanwhile, results are stored behind.
 */
#include "core/arith_rvv.h"
#include "xpu_runtime/kernels/common.h"
#include "xpu_runtime/kernels/norm_softmax_rows.h"

enum { LANES = 16, MOST_WIDTH = 64 };

/* Rows side by side, `width` columns of `count` values, `pitch` floats from one value to the next in memory; a block is
 * up to `rows` values. `sums`: LANES rows of sums, `most`: a row of maxima; both [width]. */
struct rows {
    uint32_t x, y, count, width, pitch, rows;
    float *lm, *sums, *most;
};

/* Pass 0 finds the maximum, 1 takes exp, 2 divides; `whole`: all three at once. */
struct step {
    uint32_t task, pass, first;
};

struct plan {
    const struct xpu_softmax_f32_args *a;
    uint32_t width, blocks; /* columns of a task; tasks beside each other in one row of the result */
    uint32_t rows, last;    /* values of a block; the task behind this core's last */
    int whole;
    float *lm[2], *sums, *most;
    xpu_ticket stored[2];
};

/* The maximum passes over NaN: the sum is NaN then, and with it the whole row. */

/* ---- one row: a vector holds neighbours of the row ---- */

static float row_max(const float *x, uint32_t n, float most) {
    vfloat32m1_t result = __riscv_vfmv_s_f_f32m1(most, 1);
    for (uint32_t done = 0; done < n;) {
        size_t vl = __riscv_vsetvl_e32m4(n - done);
        result = __riscv_vfredmax_vs_f32m4_f32m1(__riscv_vle32_v_f32m4(x + done, vl), result, vl);
        done += (uint32_t)vl;
    }
    return __riscv_vfmv_f_s_f32m1_f32(result);
}

/* x becomes exp(x - most); its elements are added to the lanes. `x` begins at a multiple of 16 of its row. */
static vfloat32m1_t row_exp(float *x, uint32_t n, float most, vfloat32m1_t lanes) {
    for (uint32_t done = 0; done < n;) {
        size_t vl = __riscv_vsetvl_e32m4(n - done);
        vfloat32m4_t v = __riscv_vle32_v_f32m4(x + done, vl);
        v = xv_exp(__riscv_vfsub_vf_f32m4(v, most, vl), vl);
        __riscv_vse32_v_f32m4(x + done, v, vl);
        for (uint32_t i = 0; i < vl; i += LANES) {
            size_t part = __riscv_vsetvl_e32m1(vl - i);
            lanes = __riscv_vfadd_vv_f32m1_tu(lanes, lanes, __riscv_vle32_v_f32m1(x + done + i, part), part);
        }
        done += (uint32_t)vl;
    }
    return lanes;
}

static void row_divide(float *x, uint32_t n, float sum) {
    for (uint32_t done = 0; done < n;) {
        size_t vl = __riscv_vsetvl_e32m4(n - done);
        __riscv_vse32_v_f32m4(x + done, __riscv_vfdiv_vf_f32m4(__riscv_vle32_v_f32m4(x + done, vl), sum, vl), vl);
        done += (uint32_t)vl;
    }
}

static float lanes_sum(vfloat32m1_t lanes) {
    xa_lanes values;
    __riscv_vse32_v_f32m1(values.lane, lanes, LANES);
    return xa_lanes_sum(values);
}

/* One pass over n values; the sum's lanes and the maximum stay in LM between blocks. */
static void row_pass(const struct rows *r, uint32_t pass, uint32_t n) {
    if (pass == 0) r->most[0] = row_max(r->lm, n, r->most[0]);
    if (pass == 1) {
        vfloat32m1_t lanes = __riscv_vle32_v_f32m1(r->sums, LANES);
        __riscv_vse32_v_f32m1(r->sums, row_exp(r->lm, n, r->most[0], lanes), LANES);
    }
    if (pass == 2) row_divide(r->lm, n, lanes_sum(__riscv_vle32_v_f32m1(r->sums, LANES)));
}

/* ---- `width` rows side by side: a vector holds one position of each ---- */

static void columns_max(const struct rows *r, uint32_t n, size_t vl) {
    vfloat32m4_t result = __riscv_vle32_v_f32m4(r->most, vl);
    for (uint32_t i = 0; i < n; i++) result = xv_fmax(result, __riscv_vle32_v_f32m4(r->lm + i * r->width, vl), vl);
    __riscv_vse32_v_f32m4(r->most, result, vl);
}

static void columns_exp(const struct rows *r, uint32_t first, uint32_t n, size_t vl) {
    vfloat32m4_t subtract = __riscv_vle32_v_f32m4(r->most, vl);
    for (uint32_t i = 0; i < n; i++) {
        float *x = r->lm + i * r->width, *lane = r->sums + (first + i) % LANES * r->width;
        vfloat32m4_t v = xv_exp(xv_sub(__riscv_vle32_v_f32m4(x, vl), subtract, vl), vl);
        __riscv_vse32_v_f32m4(x, v, vl);
        __riscv_vse32_v_f32m4(lane, xv_add(__riscv_vle32_v_f32m4(lane, vl), v, vl), vl);
    }
}

/* The tree over the 16 lanes; the sums end in lane 0. */
static void columns_tree(const struct rows *r, size_t vl) {
    for (uint32_t step = LANES / 2; step > 0; step /= 2) {
        for (uint32_t j = 0; j < step; j++) {
            float *to = r->sums + j * r->width;
            vfloat32m4_t b = __riscv_vle32_v_f32m4(r->sums + (j + step) * r->width, vl);
            __riscv_vse32_v_f32m4(to, xv_add(__riscv_vle32_v_f32m4(to, vl), b, vl), vl);
        }
    }
}

static void columns_divide(const struct rows *r, uint32_t n, size_t vl) {
    vfloat32m4_t sum = __riscv_vle32_v_f32m4(r->sums, vl);
    for (uint32_t i = 0; i < n; i++) {
        float *x = r->lm + i * r->width;
        __riscv_vse32_v_f32m4(x, xv_div(__riscv_vle32_v_f32m4(x, vl), sum, vl), vl);
    }
}

/* The same; the tree over the lanes runs before the first block is divided. */
static void columns_pass(const struct rows *r, uint32_t pass, uint32_t first, uint32_t n) {
    size_t vl = __riscv_vsetvl_e32m4(r->width);
    if (pass == 0) columns_max(r, n, vl);
    if (pass == 1) columns_exp(r, first, n, vl);
    if (pass == 2 && first == 0) columns_tree(r, vl);
    if (pass == 2) columns_divide(r, n, vl);
}

/* ---- steps ---- */

static struct rows rows_of(const struct plan *p, const struct step *s, uint32_t half) {
    const struct xpu_softmax_f32_args *a = p->a;
    uint32_t pitch = (uint32_t)a->inner, count = (uint32_t)a->count, column = s->task % p->blocks * p->width;
    uint32_t offset = 4 * (s->task / p->blocks * count * pitch + column);
    return (struct rows){.x = (uint32_t)a->x + offset,
                         .y = (uint32_t)a->y + offset,
                         .count = count,
                         .width = min_u32(p->width, pitch - column),
                         .pitch = pitch,
                         .rows = p->rows,
                         .lm = p->lm[half],
                         .sums = p->sums,
                         .most = p->most};
}

static int next_step(const struct plan *p, struct step *s) {
    s->first += p->rows;
    if (s->first >= (uint32_t)p->a->count) {
        s->first = 0;
        s->pass++;
        if (p->whole || s->pass == 3) {
            s->pass = 0;
            s->task++;
        }
    }
    return s->task < p->last;
}

/* Queues the load of a step's block into buffer `half`, once what was stored from there is on its way no more. The last
 * pass reads what the pass before stored. */
static xpu_ticket load_step(const struct plan *p, const struct step *s, uint32_t half) {
    struct rows r = rows_of(p, s, half);
    uint32_t n = min_u32(r.rows, r.count - s->first), from = (s->pass == 2 ? r.y : r.x) + 4 * s->first * r.pitch;
    xpu_wait(p->stored[half]);
    if (s->pass == 2) xpu_wait(p->stored[half ^ 1]);
    if (r.width == r.pitch) return GM2LM(r.lm, from, 4 * n * r.pitch);
    return xpu_load_2d(r.lm, (int32_t)(4 * r.width), from, (int32_t)(4 * r.pitch), 4 * r.width, n);
}

static xpu_ticket store_step(const struct rows *r, uint32_t first, uint32_t n) {
    uint32_t to = r->y + 4 * first * r->pitch;
    if (r->width == r->pitch) return LM2GM(to, r->lm, 4 * n * r->pitch);
    return xpu_store_2d(to, (int32_t)(4 * r->pitch), r->lm, (int32_t)(4 * r->width), 4 * r->width, n);
}

static void begin_task(const struct plan *p, const struct rows *r) {
    uint32_t sums = r->pitch == 1 ? LANES : LANES * r->width;
    for (uint32_t i = 0; i < r->width; i++) p->most[i] = -__builtin_inff();
    for (uint32_t i = 0; i < sums; i++) p->sums[i] = 0.0f;
}

static void run_step(struct plan *p, const struct step *s, uint32_t half) {
    struct rows r = rows_of(p, s, half);
    uint32_t n = min_u32(r.rows, r.count - s->first), last = p->whole ? 2 : s->pass;
    if (s->pass == 0 && s->first == 0) begin_task(p, &r);
    for (uint32_t pass = s->pass; pass <= last; pass++) {
        if (r.pitch == 1)
            row_pass(&r, pass, n);
        else
            columns_pass(&r, pass, s->first, n);
    }
    if (last > 0) p->stored[half] = store_step(&r, s->first, n);
}

/* Divides LM: two blocks, the sums and the maxima of as many columns as leave room for LANES values of each. */
static void choose_block(struct plan *p) {
    uint32_t available, pitch = (uint32_t)p->a->inner;
    float *lm = lm_floats(&available);
    p->width = min_u32(pitch, MOST_WIDTH);
    while ((3 * LANES + 1) * p->width > available) p->width = (p->width + 1) / 2;
    uint32_t room = round_down((available - (LANES + 1) * p->width) / 2, LANES);
    p->rows = round_down(room / p->width, LANES);
    p->blocks = ceil_div(pitch, p->width);
    p->whole = (uint32_t)p->a->count <= p->rows;
    p->sums = lm;
    p->most = p->sums + LANES * p->width;
    p->lm[0] = p->most + (p->width + LANES - 1) / LANES * LANES;
    p->lm[1] = p->lm[0] + p->rows * p->width;
}

static void softmax_share(const void *args, uint32_t core, uint32_t cores) {
    const struct xpu_softmax_f32_args a = *(const struct xpu_softmax_f32_args *)args;
    xpu_ticket none = {XPU_COUNTER_CALL, 0};
    struct plan p = {.a = &a, .stored = {none, none}};
    struct step now = {0};
    if (a.inner == 1 && softmax_rows_fit((uint32_t)a.count)) {
        const struct softmax_rows rows = {
            .x = (uint32_t)a.x, .y = (uint32_t)a.y, .rows = (uint32_t)a.outer, .count = (uint32_t)a.count};
        softmax_rows_share(&rows, core, cores);
        return;
    }
    choose_block(&p);
    share_tasks(core, cores, (uint32_t)a.outer * p.blocks, &now.task, &p.last);
    int more = now.task < p.last;
    xpu_ticket loaded = none;
    if (more) loaded = load_step(&p, &now, 0);
    for (uint32_t half = 0; more; half ^= 1) {
        struct step next = now;
        xpu_ticket ready = loaded;
        more = next_step(&p, &next);
        /* The first block of the last pass may be the one that is being computed now. */
        int late = more && next.pass == 2 && now.pass == 1;
        if (more && !late) loaded = load_step(&p, &next, half ^ 1);
        xpu_wait(ready);
        run_step(&p, &now, half);
        if (late) loaded = load_step(&p, &next, half ^ 1);
        now = next;
    }
}

xpu_ticket xpu_softmax_f32(const struct xpu_softmax_f32_args *args, uint32_t layer, xpu_ticket after) {
    return xpu_run_on_cores(softmax_share, args, layer, after);
}

static void parts_share(const void *args, uint32_t core, uint32_t cores) {
    const struct xpu_softmax_parts_f32_args a = *(const struct xpu_softmax_parts_f32_args *)args;
    const struct softmax_rows rows = {.x = (uint32_t)a.x,
                                      .y = (uint32_t)a.y,
                                      .inverses = (uint32_t)a.inverses,
                                      .rows = (uint32_t)a.rows,
                                      .count = (uint32_t)a.count};
    if (!softmax_rows_fit(rows.count)) xpu_abort(ABORT_LOCAL_MEMORY);
    softmax_rows_share(&rows, core, cores);
}

xpu_ticket xpu_softmax_parts_f32(const struct xpu_softmax_parts_f32_args *args, uint32_t layer, xpu_ticket after) {
    return xpu_run_on_cores(parts_share, args, layer, after);
}
