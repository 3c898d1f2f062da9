/*
 * The middle of [outer][count][inner] resampled to n elements. Nearest elements are rows that the core's DMA fetches by
 * a list. Sums over taps: a row of the result is some of `inner`, its columns, for one element of the axis; rows come
 * in blocks whose operands stand in LM together. Taps of an axis that a core walks more than once are computed once.
 */
#include "core/arith_resample.h"
#include "core/arith_rvv.h"
#include "xpu_runtime/kernels/common.h"

/* ---- nearest elements ---- */

enum { LISTS = 2, MOST_ROWS = 1024, MOST_UNITS = 1 << 16 };

static void nearest_share(const void *args, uint32_t core, uint32_t cores) {
    const struct xpu_resample_nearest_args a = *(const struct xpu_resample_nearest_args *)args;
    xa_resample r = {.coordinates = a.coordinates, .rounding = a.rounding, .in = a.count, .out = a.n, .scale = a.scale};
    uint32_t available, first, last, bytes = (uint32_t)(a.element_bytes * a.inner), n = (uint32_t)a.n;
    uint32_t *words = (uint32_t *)lm_floats(&available), *lists = words + LISTS * XPU_DESC_WORDS;
    uint32_t unit = bytes % 4 == 0 ? 4 : bytes % 2 == 0 ? 2 : 1, row = bytes / unit;
    uint32_t most = min_u32(MOST_ROWS, (available - LISTS * XPU_DESC_WORDS) / LISTS);
    most = min_u32(most, row >= MOST_UNITS ? 1 : MOST_UNITS / row);
    if (r.scale == 0) r.scale = xa_resample_scale(r.in, r.out);
    partition(core, cores, (uint32_t)a.outer * n, 4, &first, &last);
    xpu_ticket done[LISTS] = {{XPU_COUNTER_CALL, 0}, {XPU_COUNTER_CALL, 0}};
    for (uint32_t at = first, half = 0, count; at < last; at += count, half ^= 1) {
        uint32_t *list = lists + half * most, outer = at / n, index = at % n;
        count = min_u32(most, last - at);
        xpu_wait(done[half]);
        for (uint32_t i = 0; i < count; i++) {
            list[i] = outer * (uint32_t)r.in + (uint32_t)xa_resample_nearest(&r, (int32_t)index);
            if (++index == n) index = 0, outer++;
        }
        mfence();
        done[half] = xpu_gather_rows(words + half * XPU_DESC_WORDS, (uint32_t)a.y + at * bytes, (uint32_t)a.x, list,
                                     count, row, unit);
    }
}

xpu_ticket xpu_resample_nearest(const struct xpu_resample_nearest_args *args, uint32_t layer, xpu_ticket after) {
    return xpu_run_on_cores(nearest_share, args, layer, after);
}

/* ---- sums over taps ---- */

enum { MOST_COLUMNS = 256, VECTOR = 64 };

struct plan {
    const struct xpu_resample_f32_args *a;
    xa_resample r;
    uint32_t columns, blocks; /* of a row of the result; how many make `inner` */
    uint32_t entry;           /* words of an element's taps: first, count, weights */
    float *taps;              /* of all elements, or of the last one that was asked for */
    int known;                /* all are there */
    float *x, *y[2];
    uint32_t x_rows, y_rows; /* that LM has room for */
    xpu_ticket stored[2];
};

/* Rows first .. first + count - 1 of the result in block `block` of image `outer`; their operands, rows of the image.
 */
struct block {
    uint32_t outer, block, first, count, width;
    int32_t low, high;
};

static void find_taps(const struct plan *p, uint32_t index, float *entry) {
    xa_taps taps;
    if (p->r.kind == XA_NEAREST) {
        int32_t nearest = xa_resample_nearest(&p->r, (int32_t)index);
        taps = (xa_taps){nearest, nearest >= 0};
        entry[2] = 1.0f;
    } else {
        taps = xa_resample_taps(&p->r, (int32_t)index, entry + 2);
    }
    entry[0] = xa_float((uint32_t)taps.first);
    entry[1] = xa_float((uint32_t)taps.count);
}

static const float *taps_of(const struct plan *p, uint32_t index, xa_taps *taps) {
    float *entry = p->known ? p->taps + index * p->entry : p->taps;
    if (!p->known) find_taps(p, index, entry);
    const uint32_t *words = (const uint32_t *)(const void *)entry;
    *taps = (xa_taps){(int32_t)words[0], (int32_t)words[1]};
    return entry + 2;
}

/* Adds the element to the block if its operands fit, too. */
static int take(const struct plan *p, struct block *b) {
    xa_taps taps;
    taps_of(p, b->first + b->count, &taps);
    if (taps.count) {
        int32_t low = xa_resample_inside(&p->r, taps.first);
        int32_t high = xa_resample_inside(&p->r, taps.first + taps.count - 1);
        if (b->high >= b->low) { /* the block has operands already */
            low = min_i32(low, b->low);
            high = max_i32(high, b->high);
        }
        if (b->count && high - low >= (int32_t)p->x_rows) return 0;
        b->low = low;
        b->high = high;
    }
    b->count++;
    return 1;
}

static void load(const struct plan *p, const struct block *b) {
    const struct xpu_resample_f32_args *a = p->a;
    if (b->high < b->low) return;
    uint32_t rows = (uint32_t)(b->high - b->low + 1), inner = (uint32_t)a->inner;
    uint32_t from =
        (uint32_t)a->x + 4 * ((b->outer * (uint32_t)a->count + (uint32_t)b->low) * inner + b->block * p->columns);
    if (b->width == inner)
        xpu_wait(GM2LM(p->x, from, 4 * rows * inner));
    else
        xpu_wait(xpu_load_2d(p->x, (int32_t)(4 * b->width), from, (int32_t)(4 * inner), 4 * b->width, rows));
}

/* One row: width elements. x: operand row `low`. */
static void add_taps(const struct plan *p, const struct block *b, uint32_t index, float *y) {
    xa_taps taps;
    const float *weights = taps_of(p, index, &taps);
    if (b->width == 1 && taps.count) {
        float sum = 0;
        for (int32_t t = 0; t < taps.count; t++) {
            float x = p->x[xa_resample_inside(&p->r, taps.first + t) - b->low];
            sum = t ? xa_fma(weights[t], x, sum) : xa_mul(weights[t], x);
        }
        y[0] = sum;
        return;
    }
    for (uint32_t done = 0; done < b->width; done += VECTOR) {
        size_t vl = min_u32(b->width - done, VECTOR);
        vfloat32m4_t sum = xv_splat(p->a->outside, vl);
        for (int32_t t = 0; t < taps.count; t++) {
            const float *row = p->x + (uint32_t)(xa_resample_inside(&p->r, taps.first + t) - b->low) * b->width + done;
            vfloat32m4_t x = __riscv_vle32_v_f32m4(row, vl);
            sum = t ? __riscv_vfmacc_vf_f32m4(sum, weights[t], x, vl) : __riscv_vfmul_vf_f32m4(x, weights[t], vl);
        }
        __riscv_vse32_v_f32m4(y + done, sum, vl);
    }
}

static void store(struct plan *p, const struct block *b, uint32_t half) {
    const struct xpu_resample_f32_args *a = p->a;
    uint32_t inner = (uint32_t)a->inner;
    uint32_t to = (uint32_t)a->y + 4 * ((b->outer * (uint32_t)a->n + b->first) * inner + b->block * p->columns);
    if (b->width == inner)
        p->stored[half] = LM2GM(to, p->y[half], 4 * b->count * inner);
    else
        p->stored[half] =
            xpu_store_2d(to, (int32_t)(4 * inner), p->y[half], (int32_t)(4 * b->width), 4 * b->width, b->count);
}

/* Divides LM: taps, operands, two blocks of results. `rows`: that this core makes. */
static void divide(struct plan *p, uint32_t rows) {
    const struct xpu_resample_f32_args *a = p->a;
    uint32_t available, n = (uint32_t)a->n;
    float *lm = lm_floats(&available);
    p->entry = (uint32_t)a->taps + 2;
    p->known = rows > n && n <= available / 4 / p->entry;
    uint32_t taps = round_up(p->known ? n * p->entry : p->entry, 16), room = available - taps;
    p->taps = lm;
    p->x = lm + taps;
    uint32_t x_room = round_down(room / 2, 16), y_room = round_down((room - x_room) / 2, 16);
    p->y[0] = p->x + x_room;
    p->y[1] = p->y[0] + y_room;
    p->x_rows = x_room / p->columns;
    p->y_rows = y_room / p->columns;
    for (uint32_t i = 0; p->known && i < n; i++) find_taps(p, i, p->taps + i * p->entry);
}

static void resample_share(const void *args, uint32_t core, uint32_t cores) {
    const struct xpu_resample_f32_args a = *(const struct xpu_resample_f32_args *)args;
    xpu_ticket none = {XPU_COUNTER_CALL, 0};
    struct plan p = {.a = &a, .stored = {none, none}};
    p.r = (xa_resample){a.kind,  a.coordinates, a.rounding, a.exclude_outside, a.antialias, a.count, a.n,
                        a.scale, a.from,        a.to,       a.coefficient};
    if (p.r.scale == 0) p.r.scale = xa_resample_scale(p.r.in, p.r.out);
    uint32_t available, first, last, n = (uint32_t)a.n, inner = (uint32_t)a.inner;
    lm_floats(&available);
    p.columns = min_u32(min_u32(inner, MOST_COLUMNS), available / 4 / (uint32_t)(a.taps + 1));
    p.blocks = ceil_div(inner, p.columns);
    partition(core, cores, (uint32_t)a.outer * p.blocks * n, 1, &first, &last);
    if (first < last) divide(&p, last - first);
    for (uint32_t half = 0; first < last; half ^= 1) {
        uint32_t task = first / n;
        struct block b = {.outer = task / p.blocks, .block = task % p.blocks, .first = first % n, .high = -1};
        b.width = min_u32(p.columns, inner - b.block * p.columns);
        uint32_t most = min_u32(min_u32(n - b.first, last - first), p.y_rows);
        while (b.count < most && take(&p, &b)) continue;
        load(&p, &b);
        xpu_wait(p.stored[half]);
        for (uint32_t i = 0; i < b.count; i++) add_taps(&p, &b, b.first + i, p.y[half] + i * b.width);
        store(&p, &b, half);
        first += b.count;
    }
}

xpu_ticket xpu_resample_f32(const struct xpu_resample_f32_args *args, uint32_t layer, xpu_ticket after) {
    return xpu_run_on_cores(resample_share, args, layer, after);
}
