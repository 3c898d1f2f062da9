/*
 * Rotary embedding: x * cosines + partner * sines. The partner of an element is its neighbour, or the element half a
 * row away: it comes from the same registers, slid both ways. Blocks come by DMA while the one before is computed, in
 * the place of which the results are made.
 */
#include "xpu_runtime/kernels/common.h"

/* SHARES: blocks of a core's work, where they all fit. FEW: elements that one core takes alone. SMALL: those that core
 * 0 leaves to the others, as it prepares the next layer meanwhile. */
enum { VECTOR = 64, SHARES = 2, FEW = 512, SMALL = 8192 };

struct rotary {
    struct xpu_rotary_f32_args a;
    uint32_t half;   /* from an element to its partner */
    uint32_t vector; /* elements that turn at once: whole pairs; 0: halves of a row are longer */
    uint32_t row;    /* elements of x that are side by side and have rows of their own in the tables */
};

/* ---- rows in LM ---- */

/* The lanes of second elements of a pair. */
static inline vbool8_t second_ones(const struct rotary *k) {
    const size_t vl = __riscv_vsetvlmax_e32m4();
    vuint32m4_t lane = __riscv_vid_v_u32m4(vl);
    if (k->half == 1)
        lane = __riscv_vand_vx_u32m4(lane, 1, vl);
    else
        lane = __riscv_vremu_vx_u32m4(lane, 2 * k->half, vl);
    return __riscv_vmsgeu_vx_u32m4_b8(lane, k->half, vl);
}

static inline vfloat32m4_t turned(vfloat32m4_t x, vfloat32m4_t c, vfloat32m4_t s, uint32_t half, vbool8_t is_second,
                                  size_t vl) {
    vfloat32m4_t partner = __riscv_vslideup_vx_f32m4(__riscv_vundefined_f32m4(), x, half, vl);
    partner = __riscv_vmerge_vvm_f32m4(__riscv_vslidedown_vx_f32m4(x, half, vl), partner, is_second, vl);
    return __riscv_vfadd_vv_f32m4(__riscv_vfmul_vv_f32m4(x, c, vl), __riscv_vfmul_vv_f32m4(partner, s, vl), vl);
}

/* Rows whose halves fill a vector or more. */
static void turn_wide(float *x, const float *c, const float *s, uint32_t n, uint32_t half) {
    for (uint32_t row = 0; row < n; row += 2 * half) {
        for (uint32_t i = row; i < row + half;) {
            const uint32_t j = i + half;
            const size_t vl = __riscv_vsetvl_e32m2(row + half - i);
            const vfloat32m2_t a = __riscv_vle32_v_f32m2(x + i, vl), b = __riscv_vle32_v_f32m2(x + j, vl);
            const vfloat32m2_t ac = __riscv_vfmul_vv_f32m2(a, __riscv_vle32_v_f32m2(c + i, vl), vl),
                               bs = __riscv_vfmul_vv_f32m2(b, __riscv_vle32_v_f32m2(s + i, vl), vl),
                               bc = __riscv_vfmul_vv_f32m2(b, __riscv_vle32_v_f32m2(c + j, vl), vl),
                               as = __riscv_vfmul_vv_f32m2(a, __riscv_vle32_v_f32m2(s + j, vl), vl);
            __riscv_vse32_v_f32m2(x + i, __riscv_vfadd_vv_f32m2(ac, bs, vl), vl);
            __riscv_vse32_v_f32m2(x + j, __riscv_vfadd_vv_f32m2(bc, as, vl), vl);
            i += (uint32_t)vl;
        }
    }
}

/* n elements by as many of the tables. */
static void turn(const struct rotary *k, float *x, const float *c, const float *s, uint32_t n) {
    if (k->vector == 0) {
        turn_wide(x, c, s, n, k->half);
        return;
    }
    const vbool8_t is_second = second_ones(k);
    for (uint32_t done = 0; done < n; done += k->vector) {
        const size_t vl = min_u32(k->vector, n - done);
        vfloat32m4_t v = __riscv_vle32_v_f32m4(x + done, vl);
        v = turned(v, __riscv_vle32_v_f32m4(c + done, vl), __riscv_vle32_v_f32m4(s + done, vl), k->half, is_second, vl);
        __riscv_vse32_v_f32m4(x + done, v, vl);
    }
}

/* `count` times `rows` rows by one of the tables, which a vector has several times. */
static void turn_short(const struct rotary *k, float *x, const float *c, const float *s, uint32_t row, uint32_t rows,
                       uint32_t count) {
    const vbool8_t is_second = second_ones(k);
    const uint32_t n = rows * row;
    for (; count > 0; count--, c += row, s += row) {
        uint32_t known = row;
        vfloat32m4_t cosines = __riscv_vle32_v_f32m4(c, known), sines = __riscv_vle32_v_f32m4(s, known);
        for (; known < n && 2 * known <= VECTOR; known *= 2) {
            cosines = __riscv_vslideup_vx_f32m4(cosines, cosines, known, 2 * known);
            sines = __riscv_vslideup_vx_f32m4(sines, sines, known, 2 * known);
        }
        for (uint32_t done = 0; done < n; done += known) {
            const size_t vl = min_u32(known, n - done);
            const vfloat32m4_t v = __riscv_vle32_v_f32m4(x, vl);
            __riscv_vse32_v_f32m4(x, turned(v, cosines, sines, k->half, is_second, vl), vl);
            x += vl;
        }
    }
}

static void turn_rows(const struct rotary *k, float *x, const float *c, const float *s, uint32_t row, uint32_t rows,
                      uint32_t count) {
    if (2 * row <= VECTOR && rows > 1) {
        turn_short(k, x, c, s, row, rows, count);
        return;
    }
    for (; count > 0; count--, c += row, s += row) {
        for (uint32_t i = 0; i < rows; i++, x += row) turn(k, x, c, s, row);
    }
}

/* ---- work ---- */

/* `count` matrices [middle][row] from `first` on, and behind room for `height` of them their tables. */
static xpu_ticket load_matrices(const struct rotary *k, float *lm, uint32_t first, uint32_t count, uint32_t height) {
    const uint32_t row = k->row, size = (uint32_t)k->a.middle * row;
    float *tables = lm + height * size;
    GM2LM(lm, (uint32_t)k->a.x + 4 * first * size, 4 * count * size);
    GM2LM(tables, (uint32_t)k->a.cosines + 4 * first * row, 4 * count * row);
    return GM2LM(tables + height * row, (uint32_t)k->a.sines + 4 * first * row, 4 * count * row);
}

/* Whole matrices, of which there are as many as cores. */
static void run_matrices(const struct rotary *k, uint32_t at, uint32_t end, float *lm, uint32_t room) {
    const uint32_t row = k->row, size = (uint32_t)k->a.middle * row, pitch = size + 2 * row;
    const uint32_t height = min_u32(quotient(room / 2, pitch), quotient_up(end - at, SHARES));
    float *block[2] = {lm, lm + height * pitch};
    xpu_ticket stored[2] = {{XPU_COUNTER_CALL, 0}, {XPU_COUNTER_CALL, 0}};
    xpu_ticket loaded = load_matrices(k, block[0], at, min_u32(height, end - at), height);
    for (uint32_t half = 0; at < end; half ^= 1) {
        const uint32_t count = min_u32(height, end - at), next = at + count;
        const xpu_ticket ready = loaded;
        float *x = block[half], *tables = x + height * size;
        if (next < end) {
            xpu_wait(stored[half ^ 1]);
            loaded = load_matrices(k, block[half ^ 1], next, min_u32(height, end - next), height);
        }
        xpu_wait(ready);
        turn_rows(k, x, tables, tables + height * row, row, (uint32_t)k->a.middle, count);
        stored[half] = LM2GM((uint32_t)k->a.y + 4 * at * size, x, 4 * count * size);
        at = next;
    }
}

/* Rows that turn by the same of the tables. */
struct part {
    uint32_t x, y, table;       /* where the first is; bytes from the begin of the tables */
    uint32_t row, rows, stride; /* elements; how many; bytes from one to the next */
};

static void run_part(const struct rotary *k, const struct part *p, float *lm, uint32_t room) {
    const uint32_t n = p->row, two = room >= 4 * n;
    const uint32_t height = two ? min_u32(quotient(room - 2 * n, 2 * n), quotient_up(p->rows, SHARES)) : 1;
    float *block[2] = {lm + 2 * n, lm + 2 * n + two * height * n};
    xpu_ticket stored[2] = {{XPU_COUNTER_CALL, 0}, {XPU_COUNTER_CALL, 0}};
    const int32_t dense = (int32_t)(4 * n), apart = (int32_t)p->stride;
    GM2LM(lm, (uint32_t)k->a.cosines + p->table, 4 * n);
    GM2LM(lm + n, (uint32_t)k->a.sines + p->table, 4 * n);
    xpu_ticket loaded = xpu_load_2d(block[0], dense, p->x, apart, 4 * n, min_u32(height, p->rows));
    for (uint32_t at = 0, half = 0; at < p->rows; half ^= two) {
        const uint32_t rows = min_u32(height, p->rows - at), next = at + rows, other = half ^ two;
        const xpu_ticket ready = loaded;
        if (two && next < p->rows) {
            xpu_wait(stored[other]);
            loaded = xpu_load_2d(block[other], dense, p->x + next * p->stride, apart, 4 * n,
                                 min_u32(height, p->rows - next));
        }
        xpu_wait(ready);
        turn_rows(k, block[half], lm, lm + n, n, rows, 1);
        stored[half] = xpu_store_2d(p->y + at * p->stride, apart, block[half], dense, 4 * n, rows);
        if (!two && next < p->rows) {
            xpu_wait(stored[half]);
            loaded = xpu_load_2d(block[half], dense, p->x + next * p->stride, apart, 4 * n, 1);
        }
        at = next;
    }
    xpu_wait(stored[0]);
    xpu_wait(stored[1]);
}

/* Matrices in parts: some of the elements of their rows, by some of their rows. */
static void run_parts(const struct rotary *k, uint32_t core, uint32_t cores, float *lm, uint32_t room) {
    const uint32_t outer = (uint32_t)k->a.outer, middle = (uint32_t)k->a.middle, inner = (uint32_t)k->a.inner;
    const uint32_t size = (uint32_t)k->a.size, few = outer * middle * k->row <= FEW;
    const uint32_t share = few ? 1 : quotient_up(cores, outer);
    const uint32_t fits = quotient(room, 4 * size), most = fits > 0 ? fits : 1;
    const uint32_t wide = min_u32(most, quotient_up(inner, share)), across = quotient_up(inner, wide);
    const uint32_t high = quotient_up(middle, min_u32(middle, quotient_up(share, across)));
    const uint32_t down = quotient_up(middle, high);
    uint32_t at, end;
    share_tasks(core, cores, outer * across * down, &at, &end);
    for (; at < end; at++) {
        const uint32_t matrix = quotient(at, across * down), place = at - matrix * across * down;
        const uint32_t column = quotient(place, down), row = (place - column * down) * high;
        const uint32_t offset = 4 * (column * wide * size + row * k->row + matrix * middle * k->row);
        const struct part part = {.x = (uint32_t)k->a.x + offset,
                                  .y = (uint32_t)k->a.y + offset,
                                  .table = 4 * (matrix * k->row + column * wide * size),
                                  .row = min_u32(wide, inner - column * wide) * size,
                                  .rows = min_u32(high, middle - row),
                                  .stride = 4 * k->row};
        run_part(k, &part, lm, room);
    }
}

static void rotary_share(const void *args, uint32_t core, uint32_t cores) {
    struct rotary k;
    uint32_t at, end, room;
    copy_words(&k.a, args, sizeof k.a / 4);
    if (k.a.outer < 1 || k.a.middle < 1 || k.a.inner < 1) return;
    float *lm = lm_floats(&room);
    const uint32_t size = (uint32_t)k.a.size;
    k.half = k.a.interleaved ? 1 : size / 2;
    k.vector = 2 * k.half > VECTOR ? 0 : round_down(VECTOR, 2 * k.half);
    k.row = (uint32_t)k.a.inner * size;
    if (cores > 1 && (uint32_t)k.a.outer * (uint32_t)k.a.middle * k.row <= SMALL) {
        if (core == 0) return;
        core--;
        cores--;
    }
    share_tasks(core, cores, (uint32_t)k.a.outer, &at, &end);
    if ((uint32_t)k.a.outer < cores || 2 * ((uint32_t)k.a.middle + 2) * (uint64_t)k.row > room)
        run_parts(&k, core, cores, lm, room);
    else if (at < end)
        run_matrices(&k, at, end, lm, room);
}

xpu_ticket xpu_rotary_f32(const struct xpu_rotary_f32_args *args, uint32_t layer, xpu_ticket after) {
    return xpu_run_on_cores(rotary_share, args, layer, after);
}
