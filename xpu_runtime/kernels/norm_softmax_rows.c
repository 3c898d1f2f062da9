/*
 * Softmax over rows that fit LM, in blocks of rows: the next one comes by DMA while one is computed. A row has three
 * passes: its maximum and minimum; exp(x - maximum) with the sum in 16 strided lanes; the division. Where no element is
 * below 2^-100, as the minimum tells, exp needs no limits and its power of two is one product; nor where the others are
 * so small that they become 0. The division is a product with fl(1 / sum) and two corrections, which give the correctly
 * rounded quotient unless digits are lost below the least float: rows with an element between 0 and 2^-100 are divided.
 */
#include "xpu_runtime/kernels/norm_softmax_rows.h"

#include "core/arith_rvv.h"
#include "xpu_runtime/kernels/common.h"

enum { LANES = 16, SHARES = 4, MOST_ROWS = 64, TINY_BITS = (127 - 100) << 23 };

/* exp of more than the first is above 2^-100, of less than the second 0. */
static const float least_plain = -69.0f, most_zero = -110.0f;

static inline vfloat32m1_t part(vfloat32m4_t v, uint32_t i) {
    switch (i) {
    case 0: return __riscv_vget_v_f32m4_f32m1(v, 0);
    case 1: return __riscv_vget_v_f32m4_f32m1(v, 1);
    case 2: return __riscv_vget_v_f32m4_f32m1(v, 2);
    default: return __riscv_vget_v_f32m4_f32m1(v, 3);
    }
}

/* A constant that clang does not splat in front of the loop over rows, to keep it on the stack. */
static inline float own(float value) {
    __asm__ volatile("" : "+f"(value));
    return value;
}

struct range {
    float most, least;
};

/* NaNs are passed over: the sum is NaN then, and with it the whole row. */
static struct range find_range(const float *x, uint32_t n) {
    const float inf = own(__builtin_inff());
    vfloat32m4_t most = __riscv_vfmv_v_f_f32m4(-inf, __riscv_vsetvlmax_e32m4());
    vfloat32m4_t least = __riscv_vfmv_v_f_f32m4(inf, __riscv_vsetvlmax_e32m4());
    for (uint32_t done = 0; done < n;) {
        size_t vl = __riscv_vsetvl_e32m4(n - done);
        vfloat32m4_t v = __riscv_vle32_v_f32m4(x + done, vl);
        most = __riscv_vfmax_vv_f32m4_tu(most, most, v, vl);
        least = __riscv_vfmin_vv_f32m4_tu(least, least, v, vl);
        done += (uint32_t)vl;
    }
    vfloat32m1_t high = __riscv_vfmax_vv_f32m1(part(most, 0), part(most, 1), LANES);
    vfloat32m1_t high2 = __riscv_vfmax_vv_f32m1(part(most, 2), part(most, 3), LANES);
    vfloat32m1_t low = __riscv_vfmin_vv_f32m1(part(least, 0), part(least, 1), LANES);
    vfloat32m1_t low2 = __riscv_vfmin_vv_f32m1(part(least, 2), part(least, 3), LANES);
    high = __riscv_vfmax_vv_f32m1(high, high2, LANES);
    low = __riscv_vfmin_vv_f32m1(low, low2, LANES);
    high = __riscv_vfredmax_vs_f32m1_f32m1(high, high, LANES);
    low = __riscv_vfredmin_vs_f32m1_f32m1(low, low, LANES);
    return (struct range){__riscv_vfmv_f_s_f32m1_f32(high), __riscv_vfmv_f_s_f32m1_f32(low)};
}

/* Adds the vectors of v to the lanes, in their order; v begins at a multiple of LANES of its row. */
static inline vfloat32m1_t add_lanes(vfloat32m1_t lanes, vfloat32m4_t v, uint32_t n) {
    if (n == 4 * LANES) {
        for (uint32_t i = 0; i < 4; i++) lanes = __riscv_vfadd_vv_f32m1(lanes, part(v, i), LANES);
        return lanes;
    }
    for (uint32_t i = 0; i * LANES < n; i++) {
        size_t vl = __riscv_vsetvl_e32m1(n - i * LANES);
        lanes = __riscv_vfadd_vv_f32m1_tu(lanes, lanes, part(v, i), vl);
    }
    return lanes;
}

static vfloat32m1_t exp_plain_row(float *x, uint32_t n, float most) {
    vfloat32m1_t lanes = __riscv_vfmv_v_f_f32m1(own(0.0f), LANES);
    for (uint32_t done = 0; done < n;) {
        size_t vl = __riscv_vsetvl_e32m4(n - done);
        vfloat32m4_t v = xv_exp_plain(__riscv_vfsub_vf_f32m4(__riscv_vle32_v_f32m4(x + done, vl), most, vl), vl);
        __riscv_vse32_v_f32m4(x + done, v, vl);
        lanes = add_lanes(lanes, v, (uint32_t)vl);
        done += (uint32_t)vl;
    }
    return lanes;
}

/* The same of any row; `tiny`: whether an element is above 0 and below 2^-100. What a mask left out is far below the
 * rest: vectors of nothing else between are done as plain ones. */
static vfloat32m1_t exp_row(float *x, uint32_t n, float most, int *tiny) {
    vfloat32m1_t lanes = __riscv_vfmv_v_f_f32m1(own(0.0f), LANES);
    vuint32m4_t least = __riscv_vmv_v_x_u32m4(UINT32_MAX, __riscv_vsetvlmax_e32m4());
    for (uint32_t done = 0; done < n;) {
        size_t vl = __riscv_vsetvl_e32m4(n - done);
        vfloat32m4_t v = __riscv_vfsub_vf_f32m4(__riscv_vle32_v_f32m4(x + done, vl), most, vl);
        vbool8_t is_zero = __riscv_vmflt_vf_f32m4_b8(v, most_zero, vl);
        size_t zeros = __riscv_vcpop_m_b8(is_zero, vl);
        if (zeros == vl) {
            v = __riscv_vfmv_v_f_f32m4(own(0.0f), vl);
        } else if (zeros + __riscv_vcpop_m_b8(__riscv_vmfgt_vf_f32m4_b8(v, least_plain, vl), vl) == vl) {
            v = __riscv_vfmerge_vfm_f32m4(xv_exp_plain(v, vl), own(0.0f), is_zero, vl);
            lanes = add_lanes(lanes, v, (uint32_t)vl);
        } else {
            v = xv_exp(v, vl);
            lanes = add_lanes(lanes, v, (uint32_t)vl);
            vuint32m4_t below = __riscv_vadd_vx_u32m4(__riscv_vreinterpret_v_f32m4_u32m4(v), UINT32_MAX, vl);
            least = __riscv_vminu_vv_u32m4_tu(least, least, below, vl);
        }
        __riscv_vse32_v_f32m4(x + done, v, vl);
        done += (uint32_t)vl;
    }
    vuint32m1_t all = __riscv_vmv_v_x_u32m1(UINT32_MAX, 1);
    all = __riscv_vredminu_vs_u32m4_u32m1(least, all, __riscv_vsetvlmax_e32m4());
    *tiny = __riscv_vmv_x_s_u32m1_u32(all) < TINY_BITS;
    return lanes;
}

static float lanes_sum(vfloat32m1_t lanes) {
    for (uint32_t step = LANES / 2; step > 0; step /= 2) {
        lanes = __riscv_vfadd_vv_f32m1(lanes, __riscv_vslidedown_vx_f32m1(lanes, step, LANES), LANES);
    }
    return __riscv_vfmv_f_s_f32m1_f32(lanes);
}

static void divide_plain_row(float *x, uint32_t n, float sum) {
    const float inverse = 1.0f / sum;
    for (uint32_t done = 0; done < n;) {
        size_t vl = __riscv_vsetvl_e32m4(n - done);
        vfloat32m4_t v = __riscv_vle32_v_f32m4(x + done, vl), q = __riscv_vfmul_vf_f32m4(v, inverse, vl);
        for (uint32_t i = 0; i < 2; i++) {
            vfloat32m4_t rest = __riscv_vfnmsac_vf_f32m4(v, sum, q, vl);
            q = __riscv_vfmacc_vf_f32m4(q, inverse, rest, vl);
        }
        __riscv_vse32_v_f32m4(x + done, q, vl);
        done += (uint32_t)vl;
    }
}

static void divide_row(float *x, uint32_t n, float sum) {
    for (uint32_t done = 0; done < n;) {
        size_t vl = __riscv_vsetvl_e32m4(n - done);
        __riscv_vse32_v_f32m4(x + done, __riscv_vfdiv_vf_f32m4(__riscv_vle32_v_f32m4(x + done, vl), sum, vl), vl);
        done += (uint32_t)vl;
    }
}

/* inverse: NULL, or where 1 / sum goes instead of the division. */
static void run_row(float *x, uint32_t n, float *inverse) {
    const struct range range = find_range(x, n);
    int tiny = 0, plain = range.least - range.most > least_plain;
    vfloat32m1_t lanes = plain ? exp_plain_row(x, n, range.most) : exp_row(x, n, range.most, &tiny);
    if (inverse)
        *inverse = 1.0f / lanes_sum(lanes);
    else if (tiny)
        divide_row(x, n, lanes_sum(lanes));
    else
        divide_plain_row(x, n, lanes_sum(lanes));
}

static uint32_t rows_of_half(uint32_t count, float **lm) {
    uint32_t available;
    *lm = lm_floats(&available);
    return quotient(available / 2 - MOST_ROWS, count);
}

int softmax_rows_fit(uint32_t count) {
    float *lm;
    return rows_of_half(count, &lm) > 0;
}

void softmax_rows_share(const struct softmax_rows *s, uint32_t core, uint32_t cores) {
    float *lm;
    uint32_t at, end, height = rows_of_half(s->count, &lm), pitch = 4 * s->count;
    share_tasks(core, cores, s->rows, &at, &end);
    if (at == end) return;
    height = min_u32(min_u32(height, MOST_ROWS), quotient_up(end - at, SHARES));
    const xpu_ticket none = {XPU_COUNTER_CALL, 0};
    xpu_ticket stored[2] = {none, none};
    float *inverses[2] = {lm, lm + MOST_ROWS}, *block[2] = {lm + 2 * MOST_ROWS, lm + 2 * MOST_ROWS + height * s->count};
    xpu_ticket loaded = GM2LM(block[0], s->x + at * pitch, min_u32(height, end - at) * pitch);
    for (uint32_t half = 0; at < end; half ^= 1) {
        uint32_t rows = min_u32(height, end - at), next = at + rows;
        xpu_ticket ready = loaded;
        if (next < end) {
            xpu_wait(stored[half ^ 1]);
            loaded = GM2LM(block[half ^ 1], s->x + next * pitch, min_u32(height, end - next) * pitch);
        }
        xpu_wait(ready);
        for (uint32_t i = 0; i < rows; i++) {
            run_row(block[half] + i * s->count, s->count, s->inverses ? inverses[half] + i : 0);
        }
        stored[half] = LM2GM(s->y + at * pitch, block[half], rows * pitch);
        if (s->inverses) stored[half] = LM2GM(s->inverses + 4 * at, inverses[half], 4 * rows);
        at = next;
    }
}
