/* Places of elements that are not 0. Counted in blocks first, so that each core knows where those of its blocks go. */
#include "core/arith.h"
#include "xpu_runtime/kernels/common.h"

enum { BLOCK = XA_NONZERO_BLOCK, MOST_COUNTS = 64, MOST_PLACES = 512 };

/* ---- elements of x, part by part, the next one on its way ---- */

typedef struct {
    uint32_t x, bytes, next, end, most, half;
    uint8_t *lm[2];
    xpu_ticket ready;
} stream;

static void fetch(stream *s) {
    uint32_t n = min_u32(s->most, s->end - s->next);
    if (n) s->ready = GM2LM(s->lm[s->half], s->x + s->next * s->bytes, round_up(n * s->bytes, 4));
}

/* Elements first .. end - 1, with `available` words of LM. */
static stream stream_of(uint32_t x, uint32_t bytes, uint32_t first, uint32_t end, uint32_t *lm, uint32_t available) {
    stream s = {.x = x, .bytes = bytes, .next = first, .end = end};
    s.most = min_u32(round_down(2 * available / bytes, 16), 8 * BLOCK);
    s.lm[0] = (uint8_t *)lm;
    s.lm[1] = s.lm[0] + s.most * bytes;
    fetch(&s);
    return s;
}

/* Its next part, and how many elements; 0: there is none. */
static const uint8_t *next_part(stream *s, uint32_t *n) {
    const uint8_t *part = s->lm[s->half];
    *n = min_u32(s->most, s->end - s->next);
    if (!*n) return 0;
    xpu_wait(s->ready);
    s->next += *n;
    s->half ^= 1;
    fetch(s);
    return part;
}

/* Which of vl elements are not 0; -0 is. */
static inline vbool8_t marks(const uint8_t *x, uint32_t bytes, int is_float, size_t vl) {
    if (bytes == 1) return __riscv_vmsne_vx_u8m1_b8(__riscv_vle8_v_u8m1(x, vl), 0, vl);
    if (bytes == 2) {
        vuint16m2_t half = __riscv_vle16_v_u16m2((const uint16_t *)x, vl);
        return __riscv_vmsne_vx_u16m2_b8(__riscv_vand_vx_u16m2(half, is_float ? 0x7fff : 0xffff, vl), 0, vl);
    }
    const uint32_t *word = (const uint32_t *)x;
    vuint32m4_t high =
        bytes == 4 ? __riscv_vle32_v_u32m4(word, vl) : __riscv_vlse32_v_u32m4(word + 1, 2 * sizeof *word, vl);
    if (is_float) high = __riscv_vand_vx_u32m4(high, 0x7fffffff, vl);
    if (bytes == 8) high = __riscv_vor_vv_u32m4(high, __riscv_vlse32_v_u32m4(word, 2 * sizeof *word, vl), vl);
    return __riscv_vmsne_vx_u32m4_b8(high, 0, vl);
}

/* ---- counts ---- */

static void counts_share(const void *args, uint32_t core, uint32_t cores) {
    const struct xpu_nonzero_counts_args a = *(const struct xpu_nonzero_counts_args *)args;
    uint32_t available, first, last, bytes = (uint32_t)a.element_bytes, total = (uint32_t)a.count;
    uint32_t *list = (uint32_t *)lm_floats(&available), found = 0, left = BLOCK, n;
    partition(core, cores, total ? ceil_div(total, BLOCK) : 1, 1, &first, &last);
    if (first == last) return;
    stream s = stream_of((uint32_t)a.x, bytes, first * BLOCK, min_u32(last * BLOCK, total), list + MOST_COUNTS,
                         available - MOST_COUNTS);
    uint32_t listed = 0, block = first;
    for (const uint8_t *x; (x = next_part(&s, &n));) {
        while (n > 0) {
            size_t vl = __riscv_vsetvl_e32m4(min_u32(n, left));
            found += (uint32_t)__riscv_vcpop_m_b8(marks(x, bytes, a.is_float, vl), vl);
            x += vl * bytes, n -= (uint32_t)vl, left -= (uint32_t)vl;
            if (left > 0) continue;
            list[listed++] = found;
            found = 0, left = BLOCK;
            if (listed < MOST_COUNTS) continue;
            xpu_wait(LM2GM((uint32_t)a.y + 4 * block, list, 4 * listed));
            block += listed, listed = 0;
        }
    }
    if (block + listed < last) list[listed++] = found; /* one that is not full */
    if (listed > 0) LM2GM((uint32_t)a.y + 4 * block, list, 4 * listed);
}

xpu_ticket xpu_nonzero_counts(const struct xpu_nonzero_counts_args *args, uint32_t layer, xpu_ticket after) {
    return xpu_run_on_cores(counts_share, args, layer, after);
}

/* ---- places ---- */

typedef struct {
    const struct xpu_nonzero_args *a;
    uint32_t *list, most, listed; /* places in x that are still to be written */
    uint32_t *out[2], half;       /* their indices along one dim, of 64 bits */
    xpu_ticket stored[2];
    uint32_t at; /* how many come before them */
} writer;

/* How many are found in blocks before this one. */
static uint32_t found_before(const struct xpu_nonzero_args *a, uint32_t block, uint32_t *lm) {
    uint32_t sum = 0;
    for (uint32_t at = 0, n; at < block; at += n) {
        n = min_u32(MOST_PLACES, block - at);
        xpu_wait(GM2LM(lm, (uint32_t)a->counts + 4 * at, 4 * n));
        for (uint32_t i = 0; i < n; i++) sum += lm[i];
    }
    return sum;
}

static void write_places(writer *w) {
    const struct xpu_nonzero_args *a = w->a;
    uint32_t inner = 1;
    for (int32_t d = 1; d < a->rank; d++) inner *= (uint32_t)a->dims[d];
    for (int32_t d = 0; d < a->rank && w->listed; d++) {
        uint32_t *out = w->out[w->half];
        xpu_wait(w->stored[w->half]);
        for (uint32_t i = 0, vl; i < w->listed; i += vl) {
            vl = (uint32_t)__riscv_vsetvl_e32m4(w->listed - i);
            vuint32m4_t place = __riscv_vle32_v_u32m4(w->list + i, vl);
            if (inner > 1) place = __riscv_vdivu_vx_u32m4(place, inner, vl);
            if (d > 0) place = __riscv_vremu_vx_u32m4(place, (uint32_t)a->dims[d], vl);
            __riscv_vsse32_v_u32m4(out + 2 * i, 2 * sizeof *out, place, vl);
        }
        w->stored[w->half] = LM2GM((uint32_t)a->y + 8 * ((uint32_t)(d * a->found) + w->at), out, 8 * w->listed);
        w->half ^= 1;
        if (d + 1 < a->rank) inner = quotient(inner, (uint32_t)a->dims[d + 1]);
    }
    w->at += w->listed;
    w->listed = 0;
}

/* Adds those of `n` elements from place `at` on. */
static void find_places(writer *w, const uint8_t *x, uint32_t at, uint32_t n) {
    const uint32_t bytes = (uint32_t)w->a->element_bytes;
    while (n > 0) {
        if (w->listed == w->most) write_places(w);
        size_t vl = __riscv_vsetvl_e32m4(min_u32(n, w->most - w->listed));
        vbool8_t found = marks(x, bytes, w->a->is_float, vl);
        uint32_t count = (uint32_t)__riscv_vcpop_m_b8(found, vl);
        if (count > 0) {
            vuint32m4_t places = __riscv_vadd_vx_u32m4(__riscv_vid_v_u32m4(vl), at, vl);
            __riscv_vse32_v_u32m4(w->list + w->listed, __riscv_vcompress_vm_u32m4(places, found, vl), count);
            w->listed += count;
        }
        x += vl * bytes, at += (uint32_t)vl, n -= (uint32_t)vl;
    }
}

static void nonzero_share(const void *args, uint32_t core, uint32_t cores) {
    const struct xpu_nonzero_args a = *(const struct xpu_nonzero_args *)args;
    const xpu_ticket none = {XPU_COUNTER_CALL, 0};
    uint32_t available, first, last, total = (uint32_t)a.count, n;
    uint32_t *lm = (uint32_t *)lm_floats(&available), most = min_u32(MOST_PLACES, round_down(available / 10, 16));
    most = min_u32(most, round_up(total, 16));
    partition(core, cores, ceil_div(total, BLOCK), 1, &first, &last);
    if (first == last) return;
    writer w = {.a = &a, .list = lm, .most = most, .out = {lm + most, lm + 3 * most}, .stored = {none, none}};
    w.at = found_before(&a, first, lm);
    for (uint32_t i = 0, vl; i < 4 * most; i += vl) { /* the high words, of both */
        vl = (uint32_t)__riscv_vsetvl_e32m4(4 * most - i);
        __riscv_vse32_v_u32m4(w.out[0] + i, __riscv_vmv_v_x_u32m4(0, vl), vl);
    }
    stream s = stream_of((uint32_t)a.x, (uint32_t)a.element_bytes, first * BLOCK, min_u32(last * BLOCK, total),
                         lm + 5 * most, available - 5 * most);
    for (const uint8_t *x; (x = next_part(&s, &n));) find_places(&w, x, s.next - n, n);
    write_places(&w);
}

xpu_ticket xpu_nonzero(const struct xpu_nonzero_args *args, uint32_t layer, xpu_ticket after) {
    return xpu_run_on_cores(nonzero_share, args, layer, after);
}
