/*
 * Elementwise work on quantised tensors, on the cores: sums and products of two, tables, and the ways from float32 to
 * bytes and back. Operands and result lie dense and in the same order. Each core streams its part through LM: the next
 * block comes in, and the one before leaves, while one is computed.
 */
#include "core/arith_rvv.h"
#include "xpu_runtime/kernels/common.h"

enum { OPERANDS = 2, VECTOR = 64, TABLE_BYTES = 256 };

/* A tensor in memory, and what one element of it takes. */
struct stream {
    uint32_t address, element;
};

struct work {
    struct stream in[OPERANDS], out;
    uint32_t inputs, count;
    const void *args; /* of the kernel */
    const uint8_t *table;
    /* out[0..n) from in[i][0..n), in LM */
    void (*body)(const struct work *w, const void *const *in, void *out, uint32_t n);
};

/* ---- vectors of bytes as 64 int32 ---- */

static vint32m4_t load(const void *bytes, uint32_t at, int32_t is_signed, size_t vl) {
    if (is_signed) return __riscv_vsext_vf4_i32m4(__riscv_vle8_v_i8m1((const int8_t *)bytes + at, vl), vl);
    vuint32m4_t wide = __riscv_vzext_vf4_u32m4(__riscv_vle8_v_u8m1((const uint8_t *)bytes + at, vl), vl);
    return __riscv_vreinterpret_v_u32m4_i32m4(wide);
}

static void store_narrow(void *bytes, uint32_t at, vint16m2_t v, size_t vl) {
    __riscv_vse8_v_i8m1((int8_t *)bytes + at, __riscv_vncvt_x_x_w_i8m1(v, vl), vl);
}

static void store(void *bytes, uint32_t at, vint32m4_t v, size_t vl) {
    store_narrow(bytes, at, __riscv_vncvt_x_x_w_i16m2(v, vl), vl);
}

/* ---- bodies ---- */

static void pair_body(const struct work *w, const void *const *in, void *out, uint32_t n) {
    const struct xpu_qpair_args *a = w->args;
    for (uint32_t done = 0; done < n;) {
        size_t vl = __riscv_vsetvl_e32m4(n - done);
        vint32m4_t x = load(in[0], done, a->a_signed, vl), y = load(in[1], done, a->b_signed, vl);
        if (a->is_product)
            x = xv_qmul(x, a->a_zero, y, a->b_zero, a->a_factor, a->y_zero, a->low, a->high, vl);
        else
            x = xv_qadd(x, y, a->a_factor, a->b_factor, a->addend, a->low, a->high, vl);
        store(out, done, x, vl);
        done += (uint32_t)vl;
    }
}

static void lookup_body(const struct work *w, const void *const *in, void *out, uint32_t n) {
    for (uint32_t done = 0; done < n;) {
        size_t vl = __riscv_vsetvl_e8m4(n - done);
        vuint8m4_t index = __riscv_vle8_v_u8m4((const uint8_t *)in[0] + done, vl);
        __riscv_vse8_v_u8m4((uint8_t *)out + done, __riscv_vluxei8_v_u8m4(w->table, index, vl), vl);
        done += (uint32_t)vl;
    }
}

/* By multiplications, in pairs of vectors; the last elements are computed again where they are no whole pair. */
static void quantize_body(const struct work *w, const void *const *in, void *out, uint32_t n) {
    const struct xpu_quantize_args *a = w->args;
    const xa_divisor divisor = xa_divisor_of(a->scale);
    const float *x = in[0];
    for (uint32_t done = 0; done < n;) {
        size_t vl = __riscv_vsetvl_e32m4(n - done);
        uint32_t second = n - done >= 2 * vl ? done + (uint32_t)vl : n - (uint32_t)vl;
        vint16m2_t p, q;
        xv_quantize_bytes(__riscv_vle32_v_f32m4(x + done, vl), __riscv_vle32_v_f32m4(x + second, vl), divisor, a->zero,
                          a->low, a->high, &p, &q, vl);
        store_narrow(out, done, p, vl);
        store_narrow(out, second, q, vl);
        done = second + (uint32_t)vl;
    }
}

static void quantize_by_division(const struct work *w, const void *const *in, void *out, uint32_t n) {
    const struct xpu_quantize_args *a = w->args;
    for (uint32_t done = 0; done < n;) {
        size_t vl = __riscv_vsetvl_e32m4(n - done);
        vfloat32m4_t x = __riscv_vle32_v_f32m4((const float *)in[0] + done, vl);
        vint32m4_t q = a->zero_first ? xv_quantize_shifted(x, a->scale, a->zero, a->low, a->high, vl)
                                     : xv_quantize(x, a->scale, a->zero, a->low, a->high, vl);
        store(out, done, q, vl);
        done += (uint32_t)vl;
    }
}

static void dequantize_body(const struct work *w, const void *const *in, void *out, uint32_t n) {
    const struct xpu_dequantize_args *a = w->args;
    for (uint32_t done = 0; done < n;) {
        size_t vl = __riscv_vsetvl_e32m4(n - done);
        vint32m4_t q = load(in[0], done, a->x_signed, vl);
        __riscv_vse32_v_f32m4((float *)out + done, xv_dequantize(q, a->scale, a->zero, vl), vl);
        done += (uint32_t)vl;
    }
}

/* ---- the stream ---- */

/* Buffers in LM: everything twice. */
struct buffers {
    uint8_t *in[2][OPERANDS], *out[2];
    uint32_t block; /* elements */
};

static struct buffers cut_memory(const struct work *w, uint8_t *lm, uint32_t bytes) {
    struct buffers b = {0};
    uint32_t each = w->out.element;
    for (uint32_t i = 0; i < w->inputs; i++) each += w->in[i].element;
    b.block = round_down(bytes / (2 * each), VECTOR);
    for (uint32_t half = 0; half < 2; half++) {
        for (uint32_t i = 0; i < w->inputs; i++) {
            b.in[half][i] = lm;
            lm += b.block * w->in[i].element;
        }
        b.out[half] = lm;
        lm += b.block * w->out.element;
    }
    return b;
}

/* Transfers are whole words; a tensor's memory is. */
static uint32_t words(uint32_t elements, uint32_t element) {
    return (elements * element + 3u) & ~3u;
}

static xpu_ticket load_block(const struct work *w, const struct buffers *b, uint32_t half, uint32_t at, uint32_t n) {
    xpu_ticket ticket = {XPU_COUNTER_CALL, 0};
    for (uint32_t i = 0; i < w->inputs; i++) {
        const struct stream *s = &w->in[i];
        ticket = GM2LM(b->in[half][i], s->address + at * s->element, words(n, s->element));
    }
    return ticket;
}

static void run_stream(const struct work *w, uint8_t *lm, uint32_t bytes, uint32_t core, uint32_t cores) {
    struct buffers b = cut_memory(w, lm, bytes);
    uint32_t first, last;
    partition(core, cores, w->count, VECTOR, &first, &last);
    xpu_ticket loaded = {XPU_COUNTER_CALL, 0}, stored[2] = {loaded, loaded};
    if (first < last) loaded = load_block(w, &b, 0, first, min_u32(b.block, last - first));
    for (uint32_t half = 0; first < last; half ^= 1) {
        uint32_t n = min_u32(b.block, last - first), next = first + n;
        xpu_ticket ready = loaded;
        if (next < last) loaded = load_block(w, &b, half ^ 1, next, min_u32(b.block, last - next));
        xpu_wait(ready);
        xpu_wait(stored[half]);
        const void *in[OPERANDS] = {b.in[half][0], b.in[half][1]};
        w->body(w, in, b.out[half], n);
        stored[half] = LM2GM(w->out.address + first * w->out.element, b.out[half], words(n, w->out.element));
        first = next;
    }
}

static void run(struct work *w, uint32_t core, uint32_t cores) {
    uint32_t available;
    uint8_t *lm = (uint8_t *)lm_floats(&available);
    run_stream(w, lm, 4 * available, core, cores);
}

/* ---- the range of a tensor of floats, which every core learns ---- */

typedef struct {
    float low, high; /* low <= 0 <= high; both are NaN where an element is */
} range;

static volatile range ranges[XPU_MAX_CORES]; /* core 0's: what each core found */

static volatile range *range_of_core(uint32_t core) {
    return (volatile range *)(uintptr_t)((uint32_t)(uintptr_t)&ranges[core] - XPU_LM_BASE + XPU_LM_ALL_BASE);
}

static range join(range a, range b) {
    return (range){xa_min(a.low, b.low), xa_max(a.high, b.high)};
}

/* Joins n elements to the lanes of `lows` and `highs`; whether one of them is NaN. */
static uint32_t join_block(const float *x, uint32_t n, float *lows, float *highs) {
    vfloat32m4_t low = __riscv_vle32_v_f32m4(lows, VECTOR), high = __riscv_vle32_v_f32m4(highs, VECTOR);
    vbool8_t nan = __riscv_vmclr_m_b8(VECTOR);
    for (uint32_t done = 0; done < n; done += VECTOR) {
        size_t vl = min_u32(n - done, VECTOR);
        vfloat32m4_t v = __riscv_vle32_v_f32m4_tu(low, x + done, vl); /* the elements from n on are those of low */
        low = __riscv_vfmin_vv_f32m4(low, v, VECTOR);
        high = __riscv_vfmax_vv_f32m4(high, v, VECTOR);
        nan = __riscv_vmor_mm_b8(nan, __riscv_vmfne_vv_f32m4_b8(v, v, VECTOR), VECTOR);
    }
    __riscv_vse32_v_f32m4(lows, low, VECTOR);
    __riscv_vse32_v_f32m4(highs, high, VECTOR);
    return (uint32_t)__riscv_vcpop_m_b8(nan, VECTOR);
}

/* Of this core's part. */
static range range_of_part(uint32_t x, uint32_t count, uint32_t core, uint32_t cores) {
    uint32_t available, first, last, nans = 0;
    float *lows = lm_floats(&available), *highs = lows + VECTOR, *lm = highs + VECTOR;
    uint32_t block = round_down((available - 2 * VECTOR) / 2, VECTOR);
    for (uint32_t i = 0; i < VECTOR; i++) lows[i] = highs[i] = 0;
    partition(core, cores, count, VECTOR, &first, &last);
    xpu_ticket loaded = {XPU_COUNTER_CALL, 0};
    if (first < last) loaded = GM2LM(lm, x + 4 * first, 4 * min_u32(block, last - first));
    for (uint32_t half = 0; first < last; half ^= 1) {
        uint32_t n = min_u32(block, last - first), next = first + n;
        xpu_ticket ready = loaded;
        if (next < last) loaded = GM2LM(lm + (half ^ 1) * block, x + 4 * next, 4 * min_u32(block, last - next));
        xpu_wait(ready);
        nans += join_block(lm + half * block, n, lows, highs);
        first = next;
    }
    if (nans) return (range){xa_nan(), xa_nan()};
    vfloat32m1_t zero = __riscv_vfmv_s_f_f32m1(0, 1);
    vfloat32m1_t low = __riscv_vfredmin_vs_f32m4_f32m1(__riscv_vle32_v_f32m4(lows, VECTOR), zero, VECTOR);
    vfloat32m1_t high = __riscv_vfredmax_vs_f32m4_f32m1(__riscv_vle32_v_f32m4(highs, VECTOR), zero, VECTOR);
    return (range){__riscv_vfmv_f_s_f32m1_f32(low), __riscv_vfmv_f_s_f32m1_f32(high)};
}

static range range_of_all(uint32_t x, uint32_t count, uint32_t core, uint32_t cores) {
    const range part = range_of_part(x, count, core, cores);
    range_of_core(core)->low = part.low;
    range_of_core(core)->high = part.high;
    sync_cluster();
    range all = {0, 0};
    for (uint32_t i = 0; i < cores; i++) {
        all = join(all, (range){range_of_core(i)->low, range_of_core(i)->high});
    }
    return all;
}

/* ---- kernels ---- */

static void qpair_share(const void *args, uint32_t core, uint32_t cores) {
    const struct xpu_qpair_args a = *(const struct xpu_qpair_args *)args;
    struct work w = {.in = {{a.a, 1}, {a.b, 1}},
                     .out = {a.y, 1},
                     .inputs = 2,
                     .count = (uint32_t)a.count,
                     .args = &a,
                     .body = pair_body};
    run(&w, core, cores);
}

static void lookup_share(const void *args, uint32_t core, uint32_t cores) {
    const struct xpu_lookup_args a = *(const struct xpu_lookup_args *)args;
    uint32_t available;
    uint8_t *table = (uint8_t *)lm_floats(&available);
    struct work w = {.in = {{a.x, 1}},
                     .out = {a.y, 1},
                     .inputs = 1,
                     .count = (uint32_t)a.count,
                     .table = table,
                     .body = lookup_body};
    xpu_wait(GM2LM(table, a.table, TABLE_BYTES));
    run_stream(&w, table + TABLE_BYTES, 4 * available - TABLE_BYTES, core, cores);
}

static void quantize_share(const void *args, uint32_t core, uint32_t cores) {
    const struct xpu_quantize_args a = *(const struct xpu_quantize_args *)args;
    struct work w = {.in = {{a.x, 4}},
                     .out = {a.y, 1},
                     .inputs = 1,
                     .count = (uint32_t)a.count,
                     .args = &a,
                     .body = !a.zero_first && xa_is_divisor(a.scale) ? quantize_body : quantize_by_division};
    run(&w, core, cores);
}

static void dynamic_quantize_share(const void *args, uint32_t core, uint32_t cores) {
    const struct xpu_dynamic_quantize_args a = *(const struct xpu_dynamic_quantize_args *)args;
    const range all = range_of_all(a.x, (uint32_t)a.count, core, cores);
    const xa_dynamic_range scheme = xa_dynamic_quantize(all.low, all.high);
    const struct xpu_quantize_args q = {.scale = scheme.scale, .zero = scheme.zero, .low = 0, .high = UINT8_MAX};
    struct work w = {.in = {{a.x, 4}},
                     .out = {a.y, 1},
                     .inputs = 1,
                     .count = (uint32_t)a.count,
                     .args = &q,
                     .body = xa_is_divisor(scheme.scale) ? quantize_body : quantize_by_division};
    if (core == 0) {
        *(volatile float *)(uintptr_t)a.scale = scheme.scale;
        *(volatile uint8_t *)(uintptr_t)a.zero = (uint8_t)scheme.zero;
    }
    run(&w, core, cores);
}

static void dequantize_share(const void *args, uint32_t core, uint32_t cores) {
    const struct xpu_dequantize_args a = *(const struct xpu_dequantize_args *)args;
    struct work w = {.in = {{a.x, 1}},
                     .out = {a.y, 4},
                     .inputs = 1,
                     .count = (uint32_t)a.count,
                     .args = &a,
                     .body = dequantize_body};
    run(&w, core, cores);
}

xpu_ticket xpu_qpair(const struct xpu_qpair_args *args, uint32_t layer, xpu_ticket after) {
    return xpu_run_on_cores(qpair_share, args, layer, after);
}

xpu_ticket xpu_lookup(const struct xpu_lookup_args *args, uint32_t layer, xpu_ticket after) {
    return xpu_run_on_cores(lookup_share, args, layer, after);
}

xpu_ticket xpu_quantize(const struct xpu_quantize_args *args, uint32_t layer, xpu_ticket after) {
    return xpu_run_on_cores(quantize_share, args, layer, after);
}

xpu_ticket xpu_dynamic_quantize(const struct xpu_dynamic_quantize_args *args, uint32_t layer, xpu_ticket after) {
    return xpu_run_on_cores(dynamic_quantize_share, args, layer, after);
}

xpu_ticket xpu_dequantize(const struct xpu_dequantize_args *args, uint32_t layer, xpu_ticket after) {
    return xpu_run_on_cores(dequantize_share, args, layer, after);
}
