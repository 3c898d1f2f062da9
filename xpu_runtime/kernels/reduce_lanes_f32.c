/*
 * Sums and means over the middle of [outer][count][inner] where there are too few results for all cores: each core has
 * some of the 16 lanes, for all of inner side by side. Values of the same lanes, 16 apart, are rows that are added to
 * one row of sums; core 0 adds the lanes up in their tree.
 */
#include "core/arith_rvv.h"
#include "xpu_runtime/kernels/common.h"
#include "xpu_runtime/kernels/reduce_lanes_f32.h"

enum { VECTOR = 64, LEAST_COUNT = 4 * XA_LANES };

struct lanes {
    const struct xpu_reduce_f32_args *a;
    uint32_t inner, lane, width; /* this core's first lane; floats of all of its lanes */
    uint32_t rows, groups, tail; /* rows of a block; of all; floats of this core in the last, incomplete one */
    float *all, *mine, *in[2];   /* all: in core 0's LM, the lanes of all cores */
};

/* to[i] += rows[i], rows[i + width], ... for i < n: two vectors take turns. */
static void add_rows(float *to, const float *rows, uint32_t n, uint32_t width, uint32_t count) {
    for (uint32_t done = 0; done < n;) {
        uint32_t part = min_u32(n - done, 2 * VECTOR);
        size_t va = min_u32(round_up((part + 1) / 2, 16), part), vb = part - va;
        vfloat32m4_t a = __riscv_vle32_v_f32m4(to + done, va), b = __riscv_vle32_v_f32m4(to + done + va, vb);
        const float *x = rows + done, *y = x + va;
        for (uint32_t i = count; i > 0; i--, x += width, y += width) {
            a = xv_add(a, __riscv_vle32_v_f32m4(x, va), va);
            b = xv_add(b, __riscv_vle32_v_f32m4(y, vb), vb);
        }
        __riscv_vse32_v_f32m4(to + done, a, va);
        __riscv_vse32_v_f32m4(to + done + va, b, vb);
        done += part;
    }
}

/* Rows first .. of an image; the incomplete row is a block of its own. */
static xpu_ticket load(const struct lanes *k, uint32_t image, uint32_t first, uint32_t half) {
    uint32_t group = XA_LANES * k->inner;
    uint32_t from =
        (uint32_t)k->a->x + 4 * (image * (uint32_t)k->a->count * k->inner + first * group + k->lane * k->inner);
    if (first == k->groups) return GM2LM(k->in[half], from, 4 * k->tail);
    return xpu_load_2d(k->in[half], (int32_t)(4 * k->width), from, (int32_t)(4 * group), 4 * k->width,
                       min_u32(k->rows, k->groups - first));
}

/* The sums of this core's lanes. */
static void sum_image(const struct lanes *k, uint32_t image) {
    uint32_t first = 0, end = k->groups + (k->tail > 0);
    xpu_ticket loaded = {XPU_COUNTER_CALL, 0};
    clear_words(k->mine, k->width);
    if (first < end) loaded = load(k, image, first, 0);
    for (uint32_t half = 0; first < end; half ^= 1) {
        xpu_ticket ready = loaded;
        uint32_t next = first == k->groups ? end : min_u32(first + k->rows, k->groups);
        if (next < end) loaded = load(k, image, next, half ^ 1);
        xpu_wait(ready);
        if (first == k->groups)
            add_rows(k->mine, k->in[half], k->tail, k->width, 1);
        else
            add_rows(k->mine, k->in[half], k->width, k->width, next - first);
        first = next;
    }
}

static void finish_image(const struct lanes *k, uint32_t image) {
    uint32_t inner = k->inner;
    for (uint32_t step = XA_LANES / 2; step > 0; step /= 2) {
        add_rows(k->all, k->all + step * inner, step * inner, 0, 1);
    }
    if (k->a->kind == XA_REDUCE_MEAN) {
        for (uint32_t done = 0; done < inner;) {
            size_t vl = __riscv_vsetvl_e32m4(inner - done);
            vfloat32m4_t sum = __riscv_vle32_v_f32m4(k->all + done, vl);
            __riscv_vse32_v_f32m4(k->all + done, __riscv_vfdiv_vf_f32m4(sum, (float)k->a->count, vl), vl);
            done += (uint32_t)vl;
        }
    }
    LM2GM((uint32_t)k->a->y + 4 * image * inner, k->all, 4 * inner);
}

int reduce_by_lanes(const struct xpu_reduce_f32_args *a, uint32_t core, uint32_t cores) {
    struct lanes k = {.a = a, .inner = (uint32_t)a->inner};
    uint32_t available, count = (uint32_t)a->count, outer = (uint32_t)a->outer, of_core = XA_LANES / cores;
    float *lm = lm_floats(&available);
    if ((a->kind != XA_REDUCE_SUM && a->kind != XA_REDUCE_MEAN) || cores == 1 || XA_LANES % cores) return 0;
    if (k.inner == 1 || count < LEAST_COUNT || outer * ceil_div(k.inner, VECTOR) >= 2 * cores) return 0;
    k.width = of_core * k.inner;
    if (XA_LANES * k.inner + 3 * k.width > available) return 0;
    k.lane = core * of_core;
    k.groups = count / XA_LANES;
    k.tail = min_u32((uint32_t)max_i32((int32_t)(count % XA_LANES) - (int32_t)k.lane, 0), of_core) * k.inner;
    k.all = lm;
    k.mine = lm + XA_LANES * k.inner;
    k.in[0] = k.mine + k.width;
    k.rows = (available - XA_LANES * k.inner - k.width) / (2 * k.width);
    k.in[1] = k.in[0] + k.rows * k.width;
    const uint32_t to = XPU_LM_ALL_BASE + (uint32_t)(uintptr_t)(k.all + k.lane * k.inner) - XPU_LM_BASE;
    for (uint32_t image = 0; image < outer; image++) {
        sum_image(&k, image);
        if (image > 0) sync_cluster(); /* core 0 is done with the image before */
        LM2GM(to, k.mine, 4 * k.width);
        xpu_dma_drain();
        sync_cluster();
        if (core == 0) finish_image(&k, image);
        if (core == 0 && image + 1 < outer) xpu_dma_drain();
    }
    return 1;
}
