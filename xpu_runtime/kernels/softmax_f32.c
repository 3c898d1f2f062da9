/*
 * Softmax in float32 on the cores, in three passes over each row: maximum; exp(x - maximum) with its sum in 16 strided
 * lanes and the fixed tree; division. Rows that do not fit LM are walked in blocks. Along the last dim a vector holds
 * neighbours of one row; otherwise it holds the same position of neighbouring rows.
 */
#include "core/arith_rvv.h"
#include "xpu_runtime/kernels/common.h"

enum { LANES = 16, MOST_WIDTH = 64 };

/* A block of rows side by side: `width` columns of `count` values, `pitch` floats from one value to the next in
 * memory; blocks of `rows` values fit LM. Several columns: `sums` is LANES rows of sums, `most` a row of maxima. */
struct rows {
    uint32_t x, y, count, width, pitch, rows;
    float *lm, *sums, *most;
};

static void move_in(const struct rows *r, uint32_t from, uint32_t first, uint32_t n) {
    if (r->width == r->pitch) {
        xpu_wait(GM2LM(r->lm, from + 4 * first * r->pitch, 4 * n * r->pitch));
        return;
    }
    xpu_wait(xpu_load_2d(r->lm, (int32_t)(4 * r->width), from + 4 * first * r->pitch, (int32_t)(4 * r->pitch),
                         4 * r->width, n));
}

static void move_out(const struct rows *r, uint32_t first, uint32_t n) {
    if (r->width == r->pitch) {
        xpu_wait(LM2GM(r->y + 4 * first * r->pitch, r->lm, 4 * n * r->pitch));
        return;
    }
    xpu_wait(xpu_store_2d(r->y + 4 * first * r->pitch, (int32_t)(4 * r->pitch), r->lm, (int32_t)(4 * r->width),
                          4 * r->width, n));
}

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

static void softmax_row(const struct rows *r) {
    float most = -__builtin_inff();
    vfloat32m1_t lanes = __riscv_vfmv_v_f_f32m1(0.0f, LANES);
    int whole = r->count <= r->rows;
    for (uint32_t i = 0; i < r->count; i += r->rows) {
        uint32_t n = min_u32(r->rows, r->count - i);
        move_in(r, r->x, i, n);
        most = row_max(r->lm, n, most);
    }
    for (uint32_t i = 0; i < r->count; i += r->rows) {
        uint32_t n = min_u32(r->rows, r->count - i);
        if (!whole) move_in(r, r->x, i, n);
        lanes = row_exp(r->lm, n, most, lanes);
        if (!whole) move_out(r, i, n);
    }
    float sum = lanes_sum(lanes);
    for (uint32_t i = 0; i < r->count; i += r->rows) {
        uint32_t n = min_u32(r->rows, r->count - i);
        if (!whole) move_in(r, r->y, i, n);
        row_divide(r->lm, n, sum);
        move_out(r, i, n);
    }
}

/* ---- `width` rows side by side: a vector holds one position of each ---- */

static void columns_max(const struct rows *r, uint32_t n, size_t vl) {
    vfloat32m4_t result = __riscv_vle32_v_f32m4(r->most, vl);
    for (uint32_t i = 0; i < n; i++) result = xv_max(result, __riscv_vle32_v_f32m4(r->lm + i * r->width, vl), vl);
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

static void softmax_columns(const struct rows *r) {
    size_t vl = __riscv_vsetvl_e32m4(r->width);
    __riscv_vse32_v_f32m4(r->most, __riscv_vfmv_v_f_f32m4(-__builtin_inff(), vl), vl);
    for (uint32_t i = 0; i < LANES; i++) {
        __riscv_vse32_v_f32m4(r->sums + i * r->width, __riscv_vfmv_v_f_f32m4(0.0f, vl), vl);
    }
    for (uint32_t i = 0; i < r->count; i += r->rows) {
        uint32_t n = min_u32(r->rows, r->count - i);
        move_in(r, r->x, i, n);
        columns_max(r, n, vl);
    }
    int whole = r->count <= r->rows;
    for (uint32_t i = 0; i < r->count; i += r->rows) {
        uint32_t n = min_u32(r->rows, r->count - i);
        if (!whole) move_in(r, r->x, i, n);
        columns_exp(r, i, n, vl);
        if (!whole) move_out(r, i, n);
    }
    columns_tree(r, vl);
    for (uint32_t i = 0; i < r->count; i += r->rows) {
        uint32_t n = min_u32(r->rows, r->count - i);
        if (!whole) move_in(r, r->y, i, n);
        columns_divide(r, n, vl);
        move_out(r, i, n);
    }
}

/* Divides LM: as many columns as leave room for LANES values of each. Returns the columns of a block. */
static uint32_t choose_block(struct rows *r) {
    uint32_t available, width = min_u32(r->pitch, MOST_WIDTH), reserved = 0;
    r->lm = lm_floats(&available);
    if (r->pitch > 1) {
        while ((2 * LANES + 1) * width > available) width = (width + 1) / 2;
        reserved = (LANES + 1) * width;
    }
    r->rows = round_down((available - reserved) / width, LANES);
    r->sums = r->lm + r->rows * width;
    r->most = r->sums + LANES * width;
    return width;
}

static void softmax_share(const void *args, uint32_t core, uint32_t cores) {
    const struct xpu_softmax_f32_args a = *(const struct xpu_softmax_f32_args *)args;
    struct rows r = {.count = (uint32_t)a.count, .pitch = (uint32_t)a.inner};
    uint32_t width = choose_block(&r), blocks = (r.pitch + width - 1) / width, first, last;
    partition(core, cores, (uint32_t)a.outer * blocks, 1, &first, &last);
    for (uint32_t i = first; i < last; i++) {
        uint32_t offset = 4 * (i / blocks * r.count * r.pitch + i % blocks * width);
        r.width = min_u32(width, r.pitch - i % blocks * width);
        r.x = a.x + offset;
        r.y = a.y + offset;
        if (r.pitch == 1)
            softmax_row(&r);
        else
            softmax_columns(&r);
    }
}

xpu_ticket xpu_softmax_f32(const struct xpu_softmax_f32_args *args, uint32_t layer, xpu_ticket after) {
    return xpu_run_on_cores(softmax_share, args, layer, after);
}
