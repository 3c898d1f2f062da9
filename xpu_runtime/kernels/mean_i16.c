/*
 * Means over images in integers, as the window engine has them: float32 is quantised to int16 by the absmax of the
 * whole tensor on the way into LM and added up exactly, one product scales the sum, which is rounded once.
 *
 * A task is an image and a block of channels. Where these are few, several pixels share a vector. Pixels come in two
 * halves that take turns. Where there are fewer tasks than cores, each core has some pixels of every task, and core 0
 * adds up what they found: sums are exact in any order.
 */
#include "core/arith_rvv.h"
#include "xpu_runtime/kernels/findmax.h"

enum { LANES = 64, MOST_PIXELS = 2048, SUM_WORDS = 2 * LANES, LOW_BITS = 12, LOW_MASK = 0xfff };

struct mean {
    struct xpu_mean_i16_args a;
    float scale;
    uint32_t block, blocks, together, chunk; /* channels and pixels of a vector; pixels of a half */
    uint32_t *words[2], *most;               /* descriptors, largest magnitudes */
    int16_t *x[2];
    int32_t *sums, *all; /* a sum is high * 2^12 + low: high of all lanes, then low; all: those of all cores */
    float *out;
};

struct task {
    uint32_t image, channel, channels, first, last; /* pixels */
};

/* 0: there is no room for the sums of all cores. */
static int place(struct mean *m, uint32_t cores) {
    uint32_t available;
    uint32_t *lm = (uint32_t *)lm_floats(&available);
    const uint32_t used = 2 * XPU_DESC_WORDS + FINDMAX_LANES + SUM_WORDS + LANES + cores * SUM_WORDS;
    if (used + LANES > available) return 0;
    m->words[0] = lm;
    m->words[1] = lm + XPU_DESC_WORDS;
    m->most = lm + 2 * XPU_DESC_WORDS;
    m->sums = (int32_t *)m->most + FINDMAX_LANES;
    m->out = (float *)m->sums + SUM_WORDS;
    m->all = (int32_t *)m->out + LANES;
    const uint32_t half = (available - used) / 2; /* words of two elements */
    m->chunk = min_u32(2 * half / (m->together * m->block) * m->together, MOST_PIXELS);
    m->x[0] = (int16_t *)(lm + used);
    m->x[1] = m->x[0] + 2 * half;
    return 1;
}

/* Pixels that lie side by side come as one row. */
static xpu_ticket load(const struct mean *m, const struct task *t, uint32_t first, uint32_t half) {
    const uint32_t pixels = min_u32(m->chunk, t->last - first), channels = (uint32_t)m->a.channels;
    const int is_dense = m->block == channels;
    const xpu_desc_copy copy = {.layer = xpu_layer_now,
                                .wait0 = XPU_NO_COUNTER,
                                .wait1 = XPU_NO_COUNTER,
                                .signal = XPU_COUNTER_CORE_LOAD + core_id(),
                                .signal_add = 1,
                                .src =
                                    m->a.x + 4 * ((t->image * (uint32_t)m->a.pixels + first) * channels + t->channel),
                                .dst = xpu_lm_address(m->x[half]),
                                .src_type = XPU_TYPE_F32,
                                .dst_type = XPU_TYPE_I16,
                                .scale_mode = XPU_SCALE_ABSMAX,
                                .scale_address = m->a.x_absmax,
                                .size0 = 1,
                                .size1 = is_dense ? 1 : pixels,
                                .size2 = 1,
                                .size3 = is_dense ? pixels * channels : t->channels,
                                .src_stride1 = (int32_t)(4 * channels),
                                .src_stride3 = 4,
                                .dst_stride1 = (int32_t)(2 * m->block),
                                .dst_stride3 = 2};
    xpu_desc_copy_pack(m->words[half], &copy);
    return xpu_load_box(m->words[half]);
}

/* The sum of vectors side by side, of `step` elements each: one is loaded while another is added. */
static vint32m4_t add_vectors(vint32m4_t sum, const int16_t *x, uint32_t step, uint32_t vectors) {
    const size_t vl = step;
    vint16m2_t v = __riscv_vle16_v_i16m2(x, vl);
    for (; vectors > 2; vectors -= 2, x += 2 * step) {
        const vint16m2_t next = __riscv_vle16_v_i16m2(x + step, vl);
        sum = __riscv_vwadd_wv_i32m4(sum, v, vl);
        v = __riscv_vle16_v_i16m2(x + 2 * step, vl);
        sum = __riscv_vwadd_wv_i32m4(sum, next, vl);
    }
    sum = __riscv_vwadd_wv_i32m4(sum, v, vl);
    return vectors > 1 ? __riscv_vwadd_wv_i32m4(sum, __riscv_vle16_v_i16m2(x + step, vl), vl) : sum;
}

/* Sums of these pixels to m->sums, of each lane. */
static void sum_pixels(const struct mean *m, const struct task *t) {
    const uint32_t step = m->together * m->block;
    const size_t vl = __riscv_vsetvl_e32m4(step);
    vint32m4_t high = __riscv_vmv_v_x_i32m4(0, vl), sum = high;
    xpu_ticket loaded = {XPU_COUNTER_CALL, 0};
    if (t->first < t->last) loaded = load(m, t, t->first, 0);
    for (uint32_t first = t->first, half = 0; first < t->last; half ^= 1) {
        const uint32_t pixels = min_u32(m->chunk, t->last - first), vectors = pixels / m->together;
        const uint32_t rest = (pixels - vectors * m->together) * m->block;
        const xpu_ticket ready = loaded;
        first += pixels;
        if (first < t->last) loaded = load(m, t, first, half ^ 1);
        xpu_wait(ready);
        if (vectors) sum = add_vectors(sum, m->x[half], step, vectors);
        if (rest)
            sum = __riscv_vwadd_wv_i32m4_tu(sum, sum, __riscv_vle16_v_i16m2(m->x[half] + vectors * step, rest), rest);
        high = __riscv_vadd_vv_i32m4(high, __riscv_vsra_vx_i32m4(sum, LOW_BITS, vl), vl);
        sum = __riscv_vand_vx_i32m4(sum, LOW_MASK, vl);
    }
    __riscv_vse32_v_i32m4(m->sums, high, vl);
    __riscv_vse32_v_i32m4(m->sums + LANES, sum, vl);
}

/* The sum of `count` vectors, `pitch` words apart. */
static vint32m4_t fold(const int32_t *x, uint32_t pitch, uint32_t count, size_t vl) {
    vint32m4_t sum = __riscv_vle32_v_i32m4(x, vl);
    for (; count > 1; count--) sum = __riscv_vadd_vv_i32m4(sum, __riscv_vle32_v_i32m4(x += pitch, vl), vl);
    return sum;
}

/* The lanes of pixels that share a vector are added up, in place. */
static void fold_pixels(const struct mean *m) {
    if (m->together == 1) return;
    for (int32_t *at = m->sums; at <= m->sums + LANES; at += LANES)
        __riscv_vse32_v_i32m4(at, fold(at, m->block, m->together, m->block), m->block);
}

/* Sums of `parts` cores become the means of a task: high has less than 31 bits, of which 12 join those of low. */
static void finish(const struct mean *m, const struct task *t, const int32_t *sums, uint32_t parts) {
    const size_t vl = t->channels;
    vint32m4_t high = fold(sums, SUM_WORDS, parts, vl), low = fold(sums + LANES, SUM_WORDS, parts, vl);
    high = __riscv_vadd_vv_i32m4(high, __riscv_vsra_vx_i32m4(low, LOW_BITS, vl), vl);
    low = __riscv_vand_vx_i32m4(low, LOW_MASK, vl);
    low = __riscv_vor_vv_i32m4(low, __riscv_vsll_vx_i32m4(__riscv_vand_vx_i32m4(high, LOW_MASK, vl), LOW_BITS, vl), vl);
    vfloat32m4_t y = __riscv_vfcvt_f_x_v_f32m4(low, vl);
    y = __riscv_vfmacc_vf_f32m4(y, 0x1p24f, __riscv_vfcvt_f_x_v_f32m4(__riscv_vsra_vx_i32m4(high, LOW_BITS, vl), vl),
                                vl);
    y = __riscv_vfmul_vf_f32m4(y, m->scale, vl);
    __riscv_vse32_v_f32m4(m->out, y, vl);
    if (m->a.y_absmax) findmax_dense(m->most, m->out, t->channels);
    xpu_wait(LM2GM(m->a.y + 4 * (t->image * (uint32_t)m->a.channels + t->channel), m->out, 4 * t->channels));
}

static struct task task_at(const struct mean *m, uint32_t index) {
    struct task t = {.image = quotient(index, m->blocks), .last = (uint32_t)m->a.pixels};
    t.channel = (index - t.image * m->blocks) * m->block;
    t.channels = min_u32(m->block, (uint32_t)m->a.channels - t.channel);
    return t;
}

/* Every core has some pixels of each task. */
static void share_pixels(const struct mean *m, uint32_t tasks, uint32_t core, uint32_t cores) {
    const uint32_t mine = (uint32_t)(uintptr_t)(m->all + core * SUM_WORDS);
    for (uint32_t i = 0; i < tasks; i++) {
        struct task t = task_at(m, i);
        partition(core, cores, (uint32_t)m->a.pixels, m->together, &t.first, &t.last);
        sum_pixels(m, &t);
        fold_pixels(m);
        if (i > 0) sync_cluster(); /* core 0 is done with the task before */
        xpu_wait(LM2GM(XPU_LM_ALL_BASE + mine - XPU_LM_BASE, m->sums, 4 * SUM_WORDS));
        sync_cluster();
        if (core == 0) finish(m, &t, m->all, cores);
    }
}

static void mean_share(const void *args, uint32_t core, uint32_t cores) {
    struct mean m;
    copy_words(&m.a, args, sizeof m.a / 4);
    const float absmax = *(const volatile float *)(uintptr_t)m.a.x_absmax;
    m.scale = xa_mean_scale(xa_absmax_scale(absmax, XA_I16_MAX), m.a.pixels);
    m.block = min_u32((uint32_t)m.a.channels, LANES);
    m.blocks = ceil_div((uint32_t)m.a.channels, LANES);
    m.together = LANES / m.block;
    const uint32_t tasks = (uint32_t)m.a.batch * m.blocks;
    const int shares = tasks < cores && place(&m, cores);
    if (!shares && !place(&m, 0)) xpu_abort(ABORT_LOCAL_MEMORY);
    findmax_begin(m.most);
    if (shares) {
        share_pixels(&m, tasks, core, cores);
    } else {
        uint32_t first, last;
        partition(core, cores, tasks, 1, &first, &last);
        for (; first < last; first++) {
            const struct task t = task_at(&m, first);
            sum_pixels(&m, &t);
            fold_pixels(&m);
            finish(&m, &t, m.sums, 1);
        }
    }
    if (m.a.y_absmax) findmax_end(m.most, m.a.y_absmax, core, cores);
}

xpu_ticket xpu_mean_i16(const struct xpu_mean_i16_args *args, uint32_t layer, xpu_ticket after) {
    return xpu_run_on_cores(mean_share, args, layer, after);
}
