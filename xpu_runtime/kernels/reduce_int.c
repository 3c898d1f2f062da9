/*
 * Sum, mean, maximum, minimum or product over the middle of [outer][count][inner] of integers on the cores. Sums and
 * products wrap, so that their order does not matter: where inner is 1, 64 lanes hold what is left of the values j, j +
 * 64, ... of a row; otherwise a lane holds one of neighbouring rows. Numbers of 64 bits have one lane, in scalar code.
 * A task is some results side by side; its values come in blocks, the next one while this one is reduced.
 */
#include "core/arith_types_rvv.h"
#include "xpu_runtime/kernels/common.h"

enum { MOST_RESULTS = 64, VECTOR = 64, WIDE = 3 };

/* `first`: of the task's values, whose index along the axis is below count. */
struct step {
    uint32_t task, first;
};

struct plan {
    const struct xpu_reduce_int_args *a;
    uint32_t results, blocks; /* of a task; tasks beside each other, where inner is not 1 */
    uint32_t rows, last;      /* values of a block for each result; the task behind this core's last */
    char *lm[2], *out[2], *lanes;
    xpu_ticket stored[2];
};

/* What a step works on: n values for each of `results`; the place of the first of them. */
struct block {
    uint32_t results, n, x, y;
    int begins, ends;
};

/* ---- at most 32 bits ---- */

#define LOAD(class, narrow, wide, type)                                                                                \
    static type load_##class(const char *x, uint32_t size, size_t vl) {                                                \
        return size ? xv_load_##wide((const wide##_t *)x, vl) : xv_load_##narrow((const narrow##_t *)x, vl);           \
    }
LOAD(i32, int8, int32, vint32m4_t)
LOAD(u32, uint8, uint32, vuint32m4_t)
#undef LOAD

/* X(class, element type, vector type, suffix, u for unsigned forms, least, most) */
#define CLASSES(X)                                                                                                     \
    X(i32, int32_t, vint32m4_t, i32m4, i32m1, , INT32_MIN, INT32_MAX)                                                  \
    X(u32, uint32_t, vuint32m4_t, u32m4, u32m1, u, 0, UINT32_MAX)

#define X(class, element, vector, suffix, one, u, least, most)                                                         \
    static vector neutral_##class(int32_t kind) {                                                                      \
        element value = kind == XA_REDUCE_MAX    ? (element)(least)                                                    \
                        : kind == XA_REDUCE_MIN  ? (element)(most)                                                     \
                        : kind == XA_REDUCE_PROD ? 1                                                                   \
                                                 : 0;                                                                  \
        return __riscv_vmv_v_x_##suffix(value, VECTOR);                                                                \
    }                                                                                                                  \
    /* Elements from vl on stay as they are in a. */                                                                   \
    static vector combine_##class(int32_t kind, vector a, vector b, size_t vl) {                                       \
        switch (kind) {                                                                                                \
        case XA_REDUCE_MAX: return __riscv_vmax##u##_vv_##suffix##_tu(a, a, b, vl);                                    \
        case XA_REDUCE_MIN: return __riscv_vmin##u##_vv_##suffix##_tu(a, a, b, vl);                                    \
        case XA_REDUCE_PROD: return __riscv_vmul_vv_##suffix##_tu(a, a, b, vl);                                        \
        default: return __riscv_vadd_vv_##suffix##_tu(a, a, b, vl);                                                    \
        }                                                                                                              \
    }                                                                                                                  \
    static void store_##class(const struct xpu_reduce_int_args *a, char *out, vector v, size_t vl) {                   \
        if (a->kind == XA_REDUCE_MEAN) v = __riscv_vdiv##u##_vx_##suffix(v, (element)a->count, vl);                    \
        if (a->is_bool) v = __riscv_vmin##u##_vx_##suffix(v, 1, vl);                                                   \
        if (a->size)                                                                                                   \
            __riscv_vse32_v_##suffix((element *)out, v, vl);                                                           \
        else                                                                                                           \
            xv_store_uint8((uint8_t *)out, TO_UNSIGNED_##class(v), vl);                                                \
    }                                                                                                                  \
    /* All lanes as one, in element 0. */                                                                              \
    static vector lanes_##class(int32_t kind, vector v) {                                                              \
        for (size_t step = VECTOR / 2; step > 0; step /= 2) {                                                          \
            v = combine_##class(kind, v, __riscv_vslidedown_vx_##suffix(v, step, VECTOR), step);                       \
        }                                                                                                              \
        return v;                                                                                                      \
    }                                                                                                                  \
    static void rows_##class(const struct plan *p, const struct block *b, const char *x, char *out) {                  \
        const struct xpu_reduce_int_args *a = p->a;                                                                    \
        uint32_t size = (uint32_t)a->size;                                                                             \
        for (uint32_t r = 0; r < b->results; r++, x += b->n << size, out += 1u << size) {                              \
            vector v = b->begins ? neutral_##class(a->kind) : load_##class(p->lanes, 2, VECTOR);                       \
            for (uint32_t done = 0; done < b->n; done += VECTOR) {                                                     \
                size_t part = min_u32(b->n - done, VECTOR);                                                            \
                v = combine_##class(a->kind, v, load_##class(x + (done << size), size, part), part);                   \
            }                                                                                                          \
            if (b->ends)                                                                                               \
                store_##class(a, out, lanes_##class(a->kind, v), 1);                                                   \
            else                                                                                                       \
                __riscv_vse32_v_##suffix((element *)p->lanes, v, VECTOR);                                              \
        }                                                                                                              \
    }                                                                                                                  \
    static void columns_##class(const struct plan *p, const struct block *b, const char *x, char *out) {               \
        const struct xpu_reduce_int_args *a = p->a;                                                                    \
        uint32_t size = (uint32_t)a->size;                                                                             \
        size_t vl = b->results;                                                                                        \
        vector v = b->begins ? neutral_##class(a->kind) : load_##class(p->lanes, 2, vl);                               \
        for (uint32_t i = 0; i < b->n; i++, x += b->results << size) {                                                 \
            v = combine_##class(a->kind, v, load_##class(x, size, vl), vl);                                            \
        }                                                                                                              \
        if (b->ends)                                                                                                   \
            store_##class(a, out, v, vl);                                                                              \
        else                                                                                                           \
            __riscv_vse32_v_##suffix((element *)p->lanes, v, vl);                                                      \
    }
#define TO_UNSIGNED_i32 XV_UNSIGNED
#define TO_UNSIGNED_u32 /* as it is */
CLASSES(X)
#undef X
#undef CLASSES

/* ---- 64 bits ---- */

static uint64_t combine_wide(const struct xpu_reduce_int_args *a, uint64_t so_far, uint64_t x) {
    int above = a->is_signed ? (int64_t)x > (int64_t)so_far : x > so_far;
    switch (a->kind) {
    case XA_REDUCE_MAX: return above ? x : so_far;
    case XA_REDUCE_MIN: return above ? so_far : x;
    case XA_REDUCE_PROD: return so_far * x;
    default: return so_far + x;
    }
}

static uint64_t wide_result(const struct xpu_reduce_int_args *a, uint64_t x) {
    if (a->kind != XA_REDUCE_MEAN) return x;
    return a->is_signed ? (uint64_t)((int64_t)x / a->count) : x / (uint32_t)a->count;
}

/* The values of a result are `stride` apart, the results `next`. An extreme begins with its first value. */
static void reduce_wide(const struct plan *p, const struct block *b, const uint64_t *x, uint64_t *out) {
    uint32_t inner = p->a->inner == 1, stride = inner ? 1 : b->results, next = inner ? b->n : 1;
    uint64_t *lanes = (uint64_t *)p->lanes;
    for (uint32_t r = 0; r < b->results; r++, x += next) {
        uint64_t so_far = b->begins ? x[0] : combine_wide(p->a, lanes[r], x[0]);
        for (uint32_t i = 1; i < b->n; i++) so_far = combine_wide(p->a, so_far, x[i * stride]);
        if (b->ends)
            out[r] = wide_result(p->a, so_far);
        else
            lanes[r] = so_far;
    }
}

/* ---- steps ---- */

static void reduce_block(const struct plan *p, const struct block *b, const char *x, char *out) {
    if (p->a->size == WIDE)
        reduce_wide(p, b, (const uint64_t *)x, (uint64_t *)out);
    else if (p->a->is_signed)
        (p->a->inner == 1 ? rows_i32 : columns_i32)(p, b, x, out);
    else
        (p->a->inner == 1 ? rows_u32 : columns_u32)(p, b, x, out);
}

static struct block block_of(const struct plan *p, const struct step *s) {
    const struct xpu_reduce_int_args *a = p->a;
    uint32_t count = (uint32_t)a->count, inner = (uint32_t)a->inner, outer = (uint32_t)a->outer;
    struct block b = {.n = min_u32(p->rows, count - s->first), .begins = s->first == 0};
    uint32_t row = s->task / p->blocks, column = s->task % p->blocks * p->results;
    b.ends = s->first + b.n == count;
    b.results = min_u32(p->results, inner - column);
    if (inner == 1) {
        row = s->task * p->results;
        column = 0;
        b.results = min_u32(p->results, outer - row);
    }
    b.x = (uint32_t)a->x + (((row * count + s->first) * inner + column) << a->size);
    b.y = (uint32_t)a->y + ((row * inner + column) << a->size);
    return b;
}

static xpu_ticket load(const struct plan *p, const struct step *s, uint32_t half) {
    struct block b = block_of(p, s);
    uint32_t inner = (uint32_t)p->a->inner, width = b.results, rows = b.n, size = (uint32_t)p->a->size;
    if (inner == 1 || width == inner) {
        width *= rows;
        rows = 1;
    }
    return xpu_load_elements(p->lm[half], (int32_t)(width << size), b.x, (int32_t)(inner << size), width, rows,
                             1u << size);
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
    reduce_block(p, &b, p->lm[half], p->out[half]);
    if (b.ends) p->stored[half] = xpu_store_elements(b.y, p->out[half], b.results, 1u << p->a->size);
}

/* Divides LM: the lanes, two blocks and their results, of 8 bytes at the most. Returns how many tasks there are. */
static uint32_t choose_block(struct plan *p, uint32_t cores) {
    enum { EACH = 8 * MOST_RESULTS };
    const struct xpu_reduce_int_args *a = p->a;
    uint32_t available, count = (uint32_t)a->count, inner = (uint32_t)a->inner, outer = (uint32_t)a->outer;
    char *lm = (char *)lm_floats(&available);
    uint32_t bytes = round_down((4 * available - 3 * EACH) / 2, EACH), room = bytes >> a->size;
    if (inner == 1) {
        p->rows = min_u32(count, room);
        p->results = min_u32(min_u32(room / p->rows, MOST_RESULTS), ceil_div(outer, cores));
    } else {
        p->results = min_u32(inner, MOST_RESULTS);
        p->rows = min_u32(count, room / p->results);
    }
    p->blocks = ceil_div(inner, p->results);
    p->lanes = lm;
    for (uint32_t half = 0; half < 2; half++) {
        p->out[half] = lm + (half + 1) * EACH;
        p->lm[half] = lm + 3 * EACH + half * bytes;
    }
    return inner == 1 ? ceil_div(outer, p->results) : outer * p->blocks;
}

static void reduce_share(const void *args, uint32_t core, uint32_t cores) {
    const struct xpu_reduce_int_args a = *(const struct xpu_reduce_int_args *)args;
    xpu_ticket none = {XPU_COUNTER_CALL, 0};
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

xpu_ticket xpu_reduce_int(const struct xpu_reduce_int_args *args, uint32_t layer, xpu_ticket after) {
    return xpu_run_on_cores(reduce_share, args, layer, after);
}
