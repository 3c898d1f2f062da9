/*
 * The first k elements of each row by order. Rows are cut into blocks that LM has room for; a core finds the first k of
 * a block and sorts them by digits. Where a row is one block, these are the result; otherwise they are runs in scratch,
 * which the cores merge, pair by pair.
 *
 * An entry is a key of one word, or two, the higher one first, and the element's index: entries are in order by their
 * words.
 */
#include "core/arith_pick.h"
#include "xpu_runtime/kernels/common.h"

enum { DIGITS = 256, FEW = 24, LEAST_BLOCK = 256 };

typedef struct {
    struct xpu_top_args args;
    uint32_t count, k, words;          /* words of an entry */
    uint32_t block, blocks;            /* elements of a block, blocks of a row */
    uint32_t *counts, *first, *second; /* room in LM: for digits, for the entries of a block twice */
} sorting;

/* ---- a block ---- */

static int precedes(const uint32_t *a, const uint32_t *b, uint32_t words) {
    for (uint32_t i = 0; i + 1 < words; i++)
        if (a[i] != b[i]) return a[i] < b[i];
    return a[words - 1] < b[words - 1];
}

static inline void copy_entry(uint32_t *to, const uint32_t *from, uint32_t words) {
    to[0] = from[0];
    to[1] = from[1];
    if (words == 3) to[2] = from[2];
}

static void sort_few(uint32_t *list, uint32_t n, uint32_t words) {
    for (uint32_t i = 1; i < n; i++) {
        uint32_t entry[3], at = i;
        copy_entry(entry, list + i * words, words);
        for (; at > 0 && precedes(entry, list + (at - 1) * words, words); at--)
            copy_entry(list + at * words, list + (at - 1) * words, words);
        copy_entry(list + at * words, entry, words);
    }
}

/* By digits of 8 bits, from the lowest on. Entries are in the order of their indices. Where the sorted ones lie. */
static uint32_t *sort_entries(const sorting *s, uint32_t n) {
    uint32_t *from = s->first, *to = s->second, *counts = s->counts;
    const uint32_t words = s->words;
    if (n <= FEW) {
        sort_few(from, n, words);
        return from;
    }
    for (uint32_t digit = 0; digit < 4 * (words - 1); digit++) {
        const uint32_t word = words - 2 - digit / 4, shift = digit % 4 * 8;
        for (uint32_t i = 0; i < DIGITS; i++) counts[i] = 0;
        for (uint32_t i = 0; i < n; i++) counts[from[i * words + word] >> shift & 0xff]++;
        if (counts[from[word] >> shift & 0xff] == n) continue;
        for (uint32_t i = 0, sum = 0; i < DIGITS; i++) {
            uint32_t own = counts[i];
            counts[i] = sum;
            sum += own;
        }
        for (uint32_t i = 0; i < n; i++) {
            const uint32_t *entry = from + i * words;
            copy_entry(to + counts[entry[word] >> shift & 0xff]++ * words, entry, words);
        }
        uint32_t *other = from;
        from = to;
        to = other;
    }
    return from;
}

/* Keys of words in their place: xa_order_word, the largest ones first where that is asked for. */
static void make_keys(const sorting *s, uint32_t *x, uint32_t n) {
    const uint32_t top = 0x80000000u, flip = s->args.largest ? UINT32_MAX : 0;
    for (size_t vl; n > 0; n -= (uint32_t)vl, x += vl) {
        vl = __riscv_vsetvl_e32m4(n);
        vuint32m4_t bits = __riscv_vle32_v_u32m4(x, vl);
        if (s->args.number == XA_SIGNED) bits = __riscv_vxor_vx_u32m4(bits, top, vl);
        if (s->args.number == XA_FLOATING) {
            vuint32m4_t twice = __riscv_vsll_vx_u32m4(bits, 1, vl);
            vbool8_t is_nan = __riscv_vmsgtu_vx_u32m4_b8(twice, 0xff000000u, vl);
            bits = __riscv_vmerge_vxm_u32m4(bits, 0, __riscv_vmseq_vx_u32m4_b8(twice, 0, vl), vl);
            vbool8_t negative = __riscv_vmsgtu_vx_u32m4_b8(bits, top - 1, vl);
            vuint32m4_t mask = __riscv_vmerge_vxm_u32m4(__riscv_vmv_v_x_u32m4(top, vl), UINT32_MAX, negative, vl);
            bits = __riscv_vmerge_vxm_u32m4(__riscv_vxor_vv_u32m4(bits, mask, vl), UINT32_MAX, is_nan, vl);
        }
        __riscv_vse32_v_u32m4(x, __riscv_vxor_vx_u32m4(bits, flip, vl), vl);
    }
}

static uint32_t count_below(const uint32_t *keys, uint32_t n, uint32_t limit) {
    uint32_t found = 0;
    for (size_t vl; n > 0; n -= (uint32_t)vl, keys += vl) {
        vl = __riscv_vsetvl_e32m4(n);
        vbool8_t below = __riscv_vmsltu_vx_u32m4_b8(__riscv_vle32_v_u32m4(keys, vl), limit, vl);
        found += (uint32_t)__riscv_vcpop_m_b8(below, vl);
    }
    return found;
}

/* Entries of the first k of n keys, in the order of their indices, which begin at `index`; k <= n. */
static void pick_entries(const uint32_t *keys, uint32_t n, uint32_t k, uint32_t index, uint32_t *entries) {
    uint32_t limit = 0, equal = UINT32_MAX; /* all below the limit, and so many that are equal */
    for (uint32_t bit = 1u << 31; bit && k < n; bit >>= 1)
        if (count_below(keys, n, limit | bit) < k) limit |= bit;
    if (k < n) equal = k - count_below(keys, n, limit);
    for (size_t vl; n > 0; n -= (uint32_t)vl, keys += vl, index += (uint32_t)vl) {
        vl = __riscv_vsetvl_e32m4(n);
        vuint32m4_t key = __riscv_vle32_v_u32m4(keys, vl);
        if (equal != UINT32_MAX) {
            vbool8_t same = __riscv_vmseq_vx_u32m4_b8(key, limit, vl);
            uint32_t more = (uint32_t)__riscv_vcpop_m_b8(same, vl);
            if (more > equal) { /* the first of them */
                vuint32m4_t before = __riscv_viota_m_u32m4(same, vl);
                same = __riscv_vmand_mm_b8(same, __riscv_vmsltu_vx_u32m4_b8(before, equal, vl), vl);
                more = equal;
            }
            equal -= more;
            vbool8_t taken = __riscv_vmor_mm_b8(same, __riscv_vmsltu_vx_u32m4_b8(key, limit, vl), vl);
            uint32_t found = (uint32_t)__riscv_vcpop_m_b8(taken, vl);
            vuint32m4_t places = __riscv_vadd_vx_u32m4(__riscv_vid_v_u32m4(vl), index, vl);
            key = __riscv_vcompress_vm_u32m4(key, taken, vl);
            places = __riscv_vcompress_vm_u32m4(places, taken, vl);
            __riscv_vsse32_v_u32m4(entries, 2 * sizeof *entries, key, found);
            __riscv_vsse32_v_u32m4(entries + 1, 2 * sizeof *entries, places, found);
            entries += 2 * found;
            continue;
        }
        __riscv_vsse32_v_u32m4(entries, 2 * sizeof *entries, key, vl);
        __riscv_vsse32_v_u32m4(entries + 1, 2 * sizeof *entries,
                               __riscv_vadd_vx_u32m4(__riscv_vid_v_u32m4(vl), index, vl), vl);
        entries += 2 * vl;
    }
}

/* The same of 8-byte elements, all of them. */
static void wide_entries(const sorting *s, const uint32_t *x, uint32_t n, uint32_t index, uint32_t *entry) {
    const uint32_t flip = s->args.largest ? UINT32_MAX : 0, sign = s->args.number == XA_SIGNED ? 0x80000000u : 0;
    for (uint32_t i = 0; i < n; i++, x += 2, entry += 3) {
        entry[0] = x[1] ^ sign ^ flip;
        entry[1] = x[0] ^ flip;
        entry[2] = index + i;
    }
}

/* Indices of sorted entries, from the list's start on. */
static void keep_indices(uint32_t *list, uint32_t n, uint32_t words) {
    for (uint32_t i = 0; i < n; i++) list[i] = list[i * words + words - 1];
}

static uint32_t run_address(const sorting *s, uint32_t half, uint32_t row, uint32_t element) {
    const uint32_t rows = (uint32_t)s->args.rows;
    return (uint32_t)s->args.scratch + ((half * rows + row) * s->count + element) * s->words * 4;
}

static void sort_block(const sorting *s, uint32_t row, uint32_t block) {
    const uint32_t begin = block * s->block, n = min_u32(s->block, s->count - begin), bytes = (s->words - 1) * 4;
    const uint32_t taken = min_u32(s->k, n);
    xpu_wait(GM2LM(s->second, (uint32_t)s->args.x + (row * s->count + begin) * bytes, n * bytes));
    uint32_t entries = n;
    if (s->words == 2) {
        make_keys(s, s->second, n);
        pick_entries(s->second, n, taken, begin, s->first);
        entries = taken;
    } else {
        wide_entries(s, s->second, n, begin, s->first);
    }
    uint32_t *sorted = sort_entries(s, entries);
    xpu_alive();
    if (s->blocks > 1) {
        mfence();
        xpu_wait(LM2GM(run_address(s, 0, row, begin), sorted, taken * s->words * 4));
        return;
    }
    keep_indices(sorted, taken, s->words);
    mfence();
    xpu_wait(LM2GM((uint32_t)s->args.y + row * s->k * 4, sorted, taken * 4));
}

/* ---- runs ---- */

/* A run, of which some entries stand in LM. */
typedef struct {
    uint32_t address, left; /* what comes behind them */
    uint32_t *window, *next, *end;
} run;

/* Its next entry; 0: there is none. */
static const uint32_t *head(const sorting *s, run *r, uint32_t room) {
    if (r->next == r->end) {
        const uint32_t n = min_u32(room, r->left), bytes = n * s->words * 4;
        if (!n) return 0;
        xpu_wait(GM2LM(r->window, r->address, bytes));
        r->address += bytes;
        r->left -= n;
        r->next = r->window;
        r->end = r->window + n * s->words;
    }
    return r->next;
}

/* Two runs of blocks of `span` elements in scratch half `half`, which begin at element `begin`, to one in the other
 * half; or, of the last pass, to the result. */
static void merge(const sorting *s, uint32_t half, uint32_t row, uint32_t begin, uint32_t span, int last) {
    const uint32_t words = s->words, room = s->block / 2, middle = min_u32(begin + span, s->count);
    const uint32_t end = min_u32(middle + span, s->count), total = min_u32(s->k, end - begin);
    run a = {.address = run_address(s, half, row, begin), .left = min_u32(s->k, middle - begin)};
    run b = {.address = run_address(s, half, row, middle), .left = min_u32(s->k, end - middle)};
    a.window = a.next = a.end = s->first;
    b.window = b.next = b.end = s->first + room * words;
    uint32_t to = last ? (uint32_t)s->args.y + row * s->k * 4 : run_address(s, half ^ 1, row, begin), held = 0;
    for (uint32_t i = 0; i < total; i++) {
        const uint32_t *left = head(s, &a, room), *right = head(s, &b, room), *entry = left;
        run *taken = &a;
        if (!left || (right && precedes(right, left, words))) entry = right, taken = &b;
        if (last) {
            s->second[held++] = entry[words - 1];
        } else {
            copy_entry(s->second + held, entry, words);
            held += words;
        }
        taken->next += words;
        if (held < room * words - 2 && i + 1 < total) continue;
        mfence();
        xpu_wait(LM2GM(to, s->second, held * 4));
        to += held * 4, held = 0;
        xpu_alive();
    }
}

static void top_share(const void *args, uint32_t core, uint32_t cores) {
    sorting s = {.args = *(const struct xpu_top_args *)args};
    uint32_t available, first, last;
    uint32_t *lm = (uint32_t *)lm_floats(&available), rows = (uint32_t)s.args.rows;
    s.count = (uint32_t)s.args.count;
    s.k = (uint32_t)s.args.k;
    s.words = (uint32_t)s.args.element_bytes / 4 + 1;
    s.block = round_down((available - DIGITS) / (2 * s.words), 16);
    if (rows < cores) s.block = min_u32(s.block, max_i32(LEAST_BLOCK, (int32_t)round_up(ceil_div(s.count, cores), 16)));
    s.blocks = ceil_div(s.count, s.block);
    s.counts = lm;
    s.first = lm + DIGITS;
    s.second = s.first + s.block * s.words;
    partition(core, cores, rows * s.blocks, 1, &first, &last);
    for (uint32_t i = first; i < last; i++) sort_block(&s, i / s.blocks, i % s.blocks);
    uint32_t half = 0;
    for (uint32_t span = s.block, runs = s.blocks; runs > 1; span *= 2, runs = ceil_div(runs, 2), half ^= 1) {
        const uint32_t pairs = ceil_div(runs, 2);
        xpu_dma_drain();
        sync_cluster();
        partition(core, cores, rows * pairs, 1, &first, &last);
        for (uint32_t i = first; i < last; i++) merge(&s, half, i / pairs, i % pairs * 2 * span, span, pairs == 1);
    }
}

xpu_ticket xpu_top(const struct xpu_top_args *args, uint32_t layer, xpu_ticket after) {
    return xpu_run_on_cores(top_share, args, layer, after);
}
