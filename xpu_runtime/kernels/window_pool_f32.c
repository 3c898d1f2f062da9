/* Max and average pooling in float32 on the cores. */
#include "xpu_runtime/kernels/window.h"
#include "xpu_runtime/kernels/window_average_f32.h"
#include "xpu_runtime/kernels/window_max_f32.h"

enum { AT_ONCE = 3 };

static vfloat32m4_t load(const float *x, size_t vl) {
    return __riscv_vle32_v_f32m4(x, vl);
}

static vbool8_t is_nan(vfloat32m4_t x, size_t vl) {
    return __riscv_vmfne_vv_f32m4_b8(x, x, vl);
}

/* acc = max(acc, x[tap 0], x[tap 1], ..) for each pixel, NaN where one of them is; without acc where the run is fresh.
 * Two pixels at a time, so that one's loads fill the other's waits; an odd one meets its neighbour, or itself, again.
 */
static void pool_max(const struct window *w, const struct window_run *run, size_t vl) {
    const uint32_t more = run->taps - run->ends.fresh, tap = run->tap_pitch;
    const uint32_t out = run->pixels > 1 ? w->block : 0, in = run->pixels > 1 ? run->pitch : 0;
    const uint32_t pitch = run->ends.fresh ? in : out;
    const float *x = run->x + (run->ends.fresh ? tap : 0), *first = run->ends.fresh ? run->x : run->acc;
    float *acc = run->acc;
    for (uint32_t left = run->pixels; left > 0;) {
        vfloat32m4_t a = load(first, vl), b = load(first + pitch, vl), c, d;
        vbool8_t a_nan = is_nan(a, vl), b_nan = is_nan(b, vl);
#define POOL_TAP(i)                                                                                                    \
    c = load(x + (i) * tap, vl), d = load(x + in + (i) * tap, vl);                                                     \
    a_nan = __riscv_vmor_mm_b8(a_nan, is_nan(c, vl), vl), b_nan = __riscv_vmor_mm_b8(b_nan, is_nan(d, vl), vl);        \
    a = xv_fmax(a, c, vl), b = xv_fmax(b, d, vl);
        if (more > 0) {
            POOL_TAP(0)
        }
        if (more > 1) {
            POOL_TAP(1)
        }
        if (more > 2) {
            POOL_TAP(2)
        }
#undef POOL_TAP
        __riscv_vse32_v_f32m4(acc, __riscv_vfmerge_vfm_f32m4(a, xa_nan(), a_nan, vl), vl);
        __riscv_vse32_v_f32m4(acc + out, __riscv_vfmerge_vfm_f32m4(b, xa_nan(), b_nan, vl), vl);
        if (left <= 2) break;
        uint32_t step = left == 3 ? 1 : 2;
        left -= step;
        first += step * pitch, x += step * in, acc += step * out;
    }
}

/* acc += x[tap 0] + x[tap 1] + .. for each pixel, one after the other. */
static void pool_sum(const struct window *w, const struct window_run *run, size_t vl) {
    float *acc = run->acc;
    const float *x = run->x;
    for (uint32_t left = run->pixels; left > 0; left--, acc += w->block, x += run->pitch) {
        vfloat32m4_t now = xv_add(load(acc, vl), load(x, vl), vl);
        if (run->taps > 1) now = xv_add(now, load(x + run->tap_pitch, vl), vl);
        if (run->taps > 2) now = xv_add(now, load(x + 2 * run->tap_pitch, vl), vl);
        __riscv_vse32_v_f32m4(acc, now, vl);
    }
}

/* Taps of one direction that count for the average: those inside the input, or inside the padded input. */
static int32_t count_taps(int32_t first, int32_t taps, int32_t dilation, int32_t low, int32_t high) {
    int32_t count = 0;
    for (int32_t i = 0; i < taps; i++) {
        int32_t at = first + i * dilation;
        count += at >= low && at < high;
    }
    return count;
}

static void pool_average(const struct window *w, const struct window_task *t, float *acc) {
    const struct xpu_pool_f32_args *a = w->args;
    int32_t pad = a->count_include_pad;
    int32_t rows = count_taps((int32_t)t->row * a->stride_h - a->pad_top, a->kernel_h, a->dilation_h,
                              pad ? -a->pad_top : 0, a->in_h + (pad ? a->pad_bottom : 0));
    for (uint32_t i = 0; i < t->pixels; i++, acc += w->block) {
        int32_t columns = count_taps((int32_t)(t->first_pixel + i) * a->stride_w - a->pad_left, a->kernel_w,
                                     a->dilation_w, pad ? -a->pad_left : 0, a->in_w + (pad ? a->pad_right : 0));
        for (uint32_t c = 0; c < t->channels;) {
            size_t vl = __riscv_vsetvl_e32m4(t->channels - c);
            __riscv_vse32_v_f32m4(acc + c, __riscv_vfdiv_vf_f32m4(load(acc + c, vl), (float)(rows * columns), vl), vl);
            c += (uint32_t)vl;
        }
    }
}

/* Whether a window may lie in the padding alone. */
static int may_miss(const struct xpu_pool_f32_args *a) {
    return a->dilation_h > 1 || a->dilation_w > 1 || a->pad_top >= a->kernel_h || a->pad_left >= a->kernel_w ||
           (a->out_h - 1) * a->stride_h - a->pad_top >= a->in_h ||
           (a->out_w - 1) * a->stride_w - a->pad_left >= a->in_w;
}

/* A window of padding only has the lowest number for its maximum. */
static void pool_missed(const struct window *w, const struct window_task *t, float *acc) {
    const struct xpu_pool_f32_args *a = w->args;
    int32_t rows = count_taps((int32_t)t->row * a->stride_h - a->pad_top, a->kernel_h, a->dilation_h, 0, a->in_h);
    for (uint32_t i = 0; i < t->pixels; i++, acc += w->block) {
        int32_t left = (int32_t)(t->first_pixel + i) * a->stride_w - a->pad_left;
        if (rows > 0 && count_taps(left, a->kernel_w, a->dilation_w, 0, a->in_w) > 0) continue;
        for (uint32_t c = 0; c < t->channels;) {
            size_t vl = __riscv_vsetvl_e32m4(t->channels - c);
            __riscv_vse32_v_f32m4(acc + c, xv_splat(xa_lowest(), vl), vl);
            c += (uint32_t)vl;
        }
    }
}

static void pool_rounded(const struct window *w, const struct window_task *t, float *acc) {
    const struct rounding r = rounding_of(((const struct xpu_pool_f32_args *)w->args)->x_absmax);
    round_maxima(&r, acc, t->pixels * w->block, 0);
}

static void pool_share(const void *args, uint32_t core, uint32_t cores) {
    const struct xpu_pool_f32_args a = *(const struct xpu_pool_f32_args *)args;
    if (a.is_max ? !may_miss(&a) && max_windows(&a, core, cores) : average_windows(&a, core, cores)) return;
    struct window w = {
        WINDOW_GEOMETRY(&a),
        .out_c = a.in_c,
        .channelwise = 1,
        .taps_together = AT_ONCE,
        .by_columns = (uint32_t)a.by_columns,
        .start = a.is_max ? -__builtin_inff() : 0.0f,
        .may_be_fresh = (uint32_t)a.is_max,
        .multiply = a.is_max ? pool_max : pool_sum,
        .finish = !a.is_max      ? pool_average
                  : a.x_absmax   ? pool_rounded
                  : may_miss(&a) ? pool_missed
                                 : 0,
    };
    if (a.x_absmax) w.y_absmax = a.y_absmax;
    window_run(&w, core, cores);
}

xpu_ticket xpu_pool_f32(const struct xpu_pool_f32_args *args, uint32_t layer, xpu_ticket after) {
    return xpu_run_on_cores(pool_share, args, layer, after);
}
