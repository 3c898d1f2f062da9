/*
 * Norms of rows along the last dim, in three passes over each row: its sum, the sum of the squares of what differs from
 * the mean, the result. Sums are made in 16 strided lanes and the fixed tree, for all rows of a block at once, as their
 * quotients and roots are. Blocks of rows come by DMA while the one before is computed; a row that does not fit LM
 * comes in parts, once for each pass.
 */
#include <stddef.h>

#include "xpu_runtime/kernels/findmax.h"

/* SHARES: blocks of a core's rows, where they all fit. */
enum { LANES = 16, SHARES = 2, MOST_ROWS = 64 };

struct norm {
    struct xpu_norm_f32_args a;
    uint32_t count;
    float *lanes, *means, *factors; /* of the rows of a block: LANES each; one each */
    float *scale, *bias;            /* NULL: there is none */
    uint32_t *most;
};

/* Adds n elements of a row to its lanes, or with `squares` the squares of what differs from the mean; from a multiple
 * of LANES of the row on. Lanes begin with 0: behind the last element more of it changes nothing. */
static void add_elements(float *lanes, const float *x, uint32_t n, float mean, int squares) {
    vfloat32m1_t sums = __riscv_vle32_v_f32m1(lanes, LANES);
    for (uint32_t done = 0; done < n;) {
        vfloat32m4_t v = __riscv_vfmv_v_f_f32m4(0.0f, __riscv_vsetvlmax_e32m4());
        size_t vl = __riscv_vsetvl_e32m4(n - done);
        if (squares) {
            vfloat32m4_t d = __riscv_vfsub_vf_f32m4(__riscv_vle32_v_f32m4(x + done, vl), mean, vl);
            v = __riscv_vfmul_vv_f32m4_tu(v, d, d, vl);
        } else {
            v = __riscv_vle32_v_f32m4_tu(v, x + done, vl);
        }
        sums = __riscv_vfadd_vv_f32m1(sums, __riscv_vget_v_f32m4_f32m1(v, 0), LANES);
        sums = __riscv_vfadd_vv_f32m1(sums, __riscv_vget_v_f32m4_f32m1(v, 1), LANES);
        sums = __riscv_vfadd_vv_f32m1(sums, __riscv_vget_v_f32m4_f32m1(v, 2), LANES);
        sums = __riscv_vfadd_vv_f32m1(sums, __riscv_vget_v_f32m4_f32m1(v, 3), LANES);
        done += (uint32_t)vl;
    }
    __riscv_vse32_v_f32m1(lanes, sums, LANES);
}

/* The means of what the lanes of `rows` rows hold. */
static vfloat32m4_t means_of(const struct norm *k, uint32_t rows) {
    for (uint32_t done = 0; done < LANES * rows;) {
        size_t vl = __riscv_vsetvl_e32m4(LANES * rows - done);
        vfloat32m4_t v = __riscv_vle32_v_f32m4(k->lanes + done, vl);
        for (uint32_t step = LANES / 2; step > 0; step /= 2) {
            v = __riscv_vfadd_vv_f32m4(v, __riscv_vslidedown_vx_f32m4(v, step, vl), vl);
        }
        __riscv_vse32_v_f32m4(k->lanes + done, v, vl);
        done += (uint32_t)vl;
    }
    vfloat32m4_t sums = __riscv_vlse32_v_f32m4(k->lanes, (ptrdiff_t)sizeof(float) * LANES, rows);
    return __riscv_vfdiv_vf_f32m4(sums, (float)k->a.count, rows);
}

static void find_means(const struct norm *k, uint32_t rows) {
    __riscv_vse32_v_f32m4(k->means, means_of(k, rows), rows);
    clear_words(k->lanes, LANES * rows);
}

static void find_factors(const struct norm *k, uint32_t rows) {
    vfloat32m4_t v = __riscv_vfadd_vf_f32m4(means_of(k, rows), k->a.epsilon, rows);
    v = __riscv_vfrdiv_vf_f32m4(__riscv_vfsqrt_v_f32m4(v, rows), 1.0f, rows);
    __riscv_vse32_v_f32m4(k->factors, v, rows);
    clear_words(k->lanes, LANES * rows);
}

static void finish(const struct norm *k, float *x, uint32_t n, uint32_t row) {
    const float mean = k->means[row], factor = k->factors[row];
    for (uint32_t done = 0; done < n;) {
        size_t vl = __riscv_vsetvl_e32m4(n - done);
        vfloat32m4_t v = __riscv_vfsub_vf_f32m4(__riscv_vle32_v_f32m4(x + done, vl), mean, vl);
        v = __riscv_vfmul_vf_f32m4(v, factor, vl);
        if (k->scale) v = __riscv_vfmul_vv_f32m4(v, __riscv_vle32_v_f32m4(k->scale + done, vl), vl);
        if (k->bias) v = __riscv_vfadd_vv_f32m4(v, __riscv_vle32_v_f32m4(k->bias + done, vl), vl);
        __riscv_vse32_v_f32m4(x + done, v, vl);
        done += (uint32_t)vl;
    }
}

/* ---- rows that fit ---- */

static void run_block(const struct norm *k, float *x, uint32_t rows) {
    const uint32_t n = k->count;
    if (k->a.centred) {
        for (uint32_t i = 0; i < rows; i++) add_elements(k->lanes + LANES * i, x + i * n, n, 0, 0);
        find_means(k, rows);
    }
    for (uint32_t i = 0; i < rows; i++) add_elements(k->lanes + LANES * i, x + i * n, n, k->means[i], 1);
    find_factors(k, rows);
    for (uint32_t i = 0; i < rows; i++) finish(k, x + i * n, n, i);
    if (k->a.y_absmax) findmax_dense(k->most, x, rows * n);
}

/* `room`: floats of LM for two blocks. */
static void run_rows(const struct norm *k, uint32_t at, uint32_t end, float *lm, uint32_t room) {
    const uint32_t pitch = 4 * k->count, x = (uint32_t)k->a.x, y = (uint32_t)k->a.y;
    uint32_t height = min_u32(min_u32(quotient(room / 2, k->count), MOST_ROWS), quotient_up(end - at, SHARES));
    xpu_ticket stored[2] = {{XPU_COUNTER_CALL, 0}, {XPU_COUNTER_CALL, 0}};
    float *block[2] = {lm, lm + height * k->count};
    xpu_ticket loaded = GM2LM(block[0], x + at * pitch, min_u32(height, end - at) * pitch);
    if (k->scale) loaded = GM2LM(k->scale, k->a.scale, pitch);
    if (k->bias) loaded = GM2LM(k->bias, k->a.bias, pitch);
    for (uint32_t half = 0; at < end; half ^= 1) {
        uint32_t rows = min_u32(height, end - at), next = at + rows;
        xpu_ticket ready = loaded;
        if (next < end) {
            xpu_wait(stored[half ^ 1]);
            loaded = GM2LM(block[half ^ 1], x + next * pitch, min_u32(height, end - next) * pitch);
        }
        xpu_wait(ready);
        run_block(k, block[half], rows);
        stored[half] = LM2GM(y + at * pitch, block[half], rows * pitch);
        at = next;
    }
}

/* ---- longer rows ---- */

static __attribute__((noinline)) void run_long_row(const struct norm *k, uint32_t row, float *x, uint32_t part) {
    for (uint32_t pass = k->a.centred ? 0 : 1; pass < 3; pass++) {
        for (uint32_t at = 0; at < k->count; at += part) {
            const uint32_t n = min_u32(part, k->count - at), place = 4 * (row * k->count + at);
            if (pass == 2 && k->scale) GM2LM(k->scale, k->a.scale + 4 * at, 4 * n);
            if (pass == 2 && k->bias) GM2LM(k->bias, k->a.bias + 4 * at, 4 * n);
            xpu_wait(GM2LM(x, (uint32_t)k->a.x + place, 4 * n));
            if (pass < 2) {
                add_elements(k->lanes, x, n, *k->means, (int)pass);
                continue;
            }
            finish(k, x, n, 0);
            if (k->a.y_absmax) findmax_dense(k->most, x, n);
            xpu_wait(LM2GM((uint32_t)k->a.y + place, x, 4 * n));
        }
        if (pass == 0) find_means(k, 1);
        if (pass == 1) find_factors(k, 1);
    }
}

static void norm_share(const void *args, uint32_t core, uint32_t cores) {
    struct norm k;
    uint32_t at, end, available;
    copy_words(&k.a, args, sizeof k.a / 4);
    k.count = (uint32_t)k.a.count;
    share_tasks(core, cores, (uint32_t)k.a.rows, &at, &end);
    float *lm = lm_floats(&available);
    k.most = (uint32_t *)lm;
    if (k.a.y_absmax) findmax_begin(k.most);
    if (at < end && k.count > 0) {
        enum { FIXED = FINDMAX_LANES + 2 * MOST_ROWS };
        k.means = lm + FINDMAX_LANES;
        k.factors = k.means + MOST_ROWS;
        k.lanes = lm + FIXED;
        const uint32_t rows = min_u32(MOST_ROWS, end - at), padded = round_up(k.count, LANES);
        const int is_long = FIXED + LANES * rows + 4 * padded > available;
        const uint32_t part = is_long ? round_down((available - FIXED - LANES) / 3, LANES) : padded;
        clear_words(k.means, MOST_ROWS);
        clear_words(k.lanes, LANES * (is_long ? 1 : rows));
        lm = k.lanes + LANES * (is_long ? 1 : rows);
        k.scale = k.a.scale ? lm : 0;
        k.bias = k.a.bias ? lm + part : 0;
        lm += 2 * part;
        for (; is_long && at < end; at++) run_long_row(&k, at, lm, part);
        if (!is_long) run_rows(&k, at, end, lm, available - FIXED - LANES * rows - 2 * part);
    }
    if (k.a.y_absmax) findmax_end(k.most, k.a.y_absmax, core, cores);
}

xpu_ticket xpu_norm_f32(const struct xpu_norm_f32_args *args, uint32_t layer, xpu_ticket after) {
    return xpu_run_on_cores(norm_share, args, layer, after);
}
