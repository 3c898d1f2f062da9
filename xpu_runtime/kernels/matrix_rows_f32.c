/*
 * A task is a strip of columns of one image. Its weights come in slices of k, the next one by DMA while one is
 * multiplied, also that of the next task; a result leaves while the next task runs.
 */
#include "xpu_runtime/kernels/matrix_rows.h"

#include "xpu_runtime/kernels/findmax.h"
#include "xpu_runtime/kernels/products.h"

enum { LANES = 16, MOST_VECTORS = 4, DEEP = 96 };

/* How the work is cut, and where it stands in LM; halves change from slice to slice, or from task to task. */
struct plan {
    uint32_t block, strips, slice;
    float *x[2], *w[2], *acc[2], *bias[2], *branch[2];
    uint32_t *most;
};

struct place {
    uint32_t task, image, strip, k, depth, columns;
};

static uint32_t floats_needed(const struct rows *r, const struct plan *p) {
    return 2 * (r->m * p->slice + p->slice * p->block + 2 * r->m * p->block + p->block) + FINDMAX_LANES;
}

/* Strips of so many vectors that each core has one. */
static void choose(const struct rows *r, struct plan *p, uint32_t cores) {
    uint32_t available, vectors = (r->n + LANES - 1) / LANES, wide = 1;
    float *lm = lm_floats(&available);
    while (wide < MOST_VECTORS && wide * cores < vectors * r->images) wide++;
    p->block = LANES * wide;
    p->slice = min_u32(r->k, DEEP);
    while (floats_needed(r, p) > available) {
        if (p->slice > LANES || p->block == LANES)
            p->slice = (p->slice + 1) / 2;
        else
            p->block -= LANES;
    }
    p->strips = quotient_up(r->n, p->block);
    for (uint32_t i = 0; i < 2; i++) {
        p->x[i] = lm;
        p->w[i] = p->x[i] + r->m * p->slice;
        p->acc[i] = p->w[i] + p->slice * p->block;
        p->branch[i] = p->acc[i] + r->m * p->block;
        p->bias[i] = p->branch[i] + r->m * p->block;
        lm = p->bias[i] + p->block;
    }
    p->most = (uint32_t *)lm;
}

static void size_place(const struct rows *r, const struct plan *p, struct place *at) {
    at->depth = min_u32(p->slice, r->k - at->k);
    at->columns = min_u32(p->block, r->n - at->strip * p->block);
}

static void advance(const struct rows *r, const struct plan *p, struct place *at) {
    at->k += at->depth;
    if (at->k >= r->k) {
        at->k = 0;
        at->task++;
        if (++at->strip == p->strips) {
            at->strip = 0;
            at->image++;
        }
    }
    size_place(r, p, at);
}

static uint32_t result_offset(const struct rows *r, const struct plan *p, const struct place *at) {
    return 4 * (at->image * r->m * r->n + at->strip * p->block);
}

/* Behind all other code (link.ld), which stays where it was. */
#define APART __attribute__((noinline, section(".text_apart")))

static APART xpu_ticket load_transposed(const struct rows *r, const struct plan *p, const struct place *at, float *to) {
    uint32_t first = at->image * r->w_image + at->strip * p->block * r->k + at->k;
    return xpu_load_2d(to, (int32_t)(4 * p->slice), r->w + 4 * first, (int32_t)(4 * r->k), 4 * at->depth, at->columns);
}

static xpu_ticket load(const struct rows *r, const struct plan *p, const struct place *at, uint32_t half) {
    uint32_t column = at->strip * p->block, pitch = 4 * p->block, columns = 4 * at->columns;
    if (at->k == 0) {
        uint32_t t = at->task & 1;
        if (r->bias) GM2LM(p->bias[t], r->bias + 4 * column, columns);
        if (r->branch) {
            xpu_load_2d(p->branch[t], (int32_t)pitch, r->branch + result_offset(r, p, at), (int32_t)(4 * r->n), columns,
                        r->m);
        }
    }
    xpu_load_2d(p->x[half], (int32_t)(4 * p->slice), r->x + 4 * (at->image * r->x_image + at->k), (int32_t)(4 * r->k),
                4 * at->depth, r->m);
    if (r->w_transposed) return load_transposed(r, p, at, p->w[half]);
    uint32_t from = at->image * r->w_image + at->k * r->w_pitch + column;
    return xpu_load_2d(p->w[half], (int32_t)pitch, r->w + 4 * from, (int32_t)(4 * r->w_pitch), columns, at->depth);
}

/* Columns that stand as rows, `pitch` apart: elements of x are read before a column, whose load they would wait for. */
static APART void multiply_transposed(const struct rows *r, const struct plan *p, float *acc, const float *x,
                                      const float *w, uint32_t depth, struct ends ends, size_t vl) {
    ptrdiff_t pitch = (ptrdiff_t)(4 * p->slice);
    for (uint32_t left = r->m; left > 0; left -= left >= 2 ? 2 : 1, acc += 2 * p->block, x += 2 * p->slice) {
        const float *other = left >= 2 ? x + p->slice : x;
        vfloat32m4_t a = begin_sum(acc, ends.fresh, vl), b = a;
        if (left >= 2) b = begin_sum(acc + p->block, ends.fresh, vl);
        for (uint32_t k = 0; k < depth; k++) {
            float first = x[k], second = other[k];
            vfloat32m4_t column = __riscv_vlse32_v_f32m4(w + k, pitch, vl);
            ADD(a, first, column);
            if (left >= 2) ADD(b, second, column);
        }
        __riscv_vse32_v_f32m4(acc, end_sum(a, ends.bias, vl), vl);
        if (left >= 2) __riscv_vse32_v_f32m4(acc + p->block, end_sum(b, ends.bias, vl), vl);
    }
}

static void multiply(const struct rows *r, const struct plan *p, const struct place *at, uint32_t half) {
    size_t vl = __riscv_vsetvl_e32m4(at->columns);
    float *acc = p->acc[at->task & 1];
    const float *x = p->x[half];
    const struct ends ends = {at->k == 0, at->k + at->depth == r->k ? p->bias[at->task & 1] : 0};
    uint32_t left = r->m;
    if (r->w_transposed) {
        multiply_transposed(r, p, acc, x, p->w[half], at->depth, ends, vl);
        return;
    }
    for (; left >= 2; left -= 2, acc += 2 * p->block, x += 2 * p->slice)
        multiply_two(acc, x, p->slice, p->w[half], p->block, at->depth, ends, vl);
    if (left) multiply_one(acc, x, p->w[half], p->block, at->depth, ends, vl);
}

static xpu_ticket finish(const struct rows *r, const struct plan *p, const struct place *at) {
    float *acc = p->acc[at->task & 1];
    apply_epilogue(acc, r->branch ? p->branch[at->task & 1] : 0, r->m * p->block, &r->epilogue);
    if (r->y_absmax) findmax_rows(p->most, acc, p->block, at->columns, r->m);
    return xpu_store_2d(r->y + result_offset(r, p, at), (int32_t)(4 * r->n), acc, (int32_t)(4 * p->block),
                        4 * at->columns, r->m);
}

static void run_tasks(const struct rows *r, const struct plan *p, uint32_t first, uint32_t last) {
    uint32_t image = quotient(first, p->strips);
    struct place now = {.task = first, .image = image, .strip = first - image * p->strips};
    xpu_ticket none = {XPU_COUNTER_CALL, 0}, stored[2] = {none, none};
    size_place(r, p, &now);
    xpu_ticket loaded = load(r, p, &now, 0);
    for (uint32_t half = 0; now.task < last; half ^= 1) {
        struct place next = now;
        xpu_ticket ready = loaded;
        advance(r, p, &next);
        if (next.task < last) loaded = load(r, p, &next, half ^ 1);
        xpu_wait(ready);
        if (now.k == 0) xpu_wait(stored[now.task & 1]);
        multiply(r, p, &now, half);
        if (next.task != now.task) stored[now.task & 1] = finish(r, p, &now);
        now = next;
    }
}

void rows_run(const struct rows *r, uint32_t core, uint32_t cores) {
    uint32_t first, last;
    struct plan p;
    choose(r, &p, cores);
    share_tasks(core, cores, r->images * p.strips, &first, &last);
    if (r->y_absmax) findmax_begin(p.most);
    for (uint32_t i = 0; !r->bias && i < 2; i++) clear_words(p.bias[i], p.block);
    if (first < last) run_tasks(r, &p, first, last);
    if (r->y_absmax) findmax_end(p.most, r->y_absmax, core, cores);
}
