/*
 * Attention in float32 on the cores, without the scores in memory. A vector holds a score of up to 64 queries with one
 * key, so that nothing is reduced across a vector: a block of queries is transposed once, keys and values are read as
 * scalars. Where all keys fit LM, their scores stay there; else keys come in chunks, twice: for the largest score, and
 * to be weighed.
 *
 * Lane 0 is the block's last query: the queries that a causal mask leaves a key to are its first lanes, `ends` of them.
 * Where every key is for such a run of lanes only these are computed: what is left out has the score `masked`, whose
 * exponential is 0 unless a query has nothing better. Then, where 0 times a value is not 0, and under other masks all
 * lanes are computed, by bits (`by_bits`).
 */
#include "core/arith_rvv.h"
#include "xpu_runtime/include/xpu_tiling.h"
#include "xpu_runtime/kernels/common.h"

enum { KEYS = 4, COLUMNS = 4, MOST_LANES = 64, SUMS = 16, INFINITY_BITS = 0x7f800000 };

/* exp of more than the first needs no limits, of less than the second is 0. */
static const float least_plain = -87.0f, most_zero = -110.0f;

struct attention {
    struct xpu_attention_f32_args a;
    uint32_t lanes, chunk;             /* room: queries of a block, keys at a time */
    uint32_t head, first_row, rows;    /* this block: its queries */
    uint32_t first_key, keys;          /* this chunk */
    float *rows_of_q, *q, *out;        /* [lanes][inner], [inner][lanes], [lanes][width] */
    float *sums, *y;                   /* [16][lanes], [width][lanes] */
    float *most, *least;               /* [lanes]: of the scores; least: also of those that are masked */
    float *scores, *k, *v;             /* [chunk][lanes], [chunk][inner], [chunk][width] */
    uint32_t *bits, *ends, *most_ends; /* [chunk][2]: a bit for each lane; [chunk]; [chunk / 4]: of four keys */
    uint32_t used;                     /* keys up to the last that is for a lane, and those of its four */
    uint32_t masked[2];                /* lanes that a key so far is not for */
    uint32_t bits_of_row, bits_of_key; /* what bits are of */
    int has_runs;                      /* every key is for the first lanes */
    int by_bits, is_plain;             /* all lanes are computed; exponentials need no limits */
    xpu_ticket stored;
};

/* ---- the mask ---- */

/* Bits of 64 keys or fewer for at most 32 lanes, from `first` on; returns the lanes that none of them is masked for. */
static uint32_t transpose_mask(const uint8_t *row, int32_t pitch, uint32_t lanes, uint32_t first, size_t vl,
                               uint32_t *bits, vuint32m4_t *end) {
    vuint32m4_t word = __riscv_vmv_v_x_u32m4(0, vl);
    for (uint32_t i = 0; i < lanes; i++, row -= pitch) {
        vbool8_t is_for = __riscv_vmsne_vx_u8m1_b8(__riscv_vle8_v_u8m1(row, vl), 0, vl);
        word = __riscv_vor_vx_u32m4_mu(is_for, word, word, 1u << i, vl);
        *end = __riscv_vmerge_vxm_u32m4(*end, first + i + 1, is_for, vl);
    }
    __riscv_vsse32_v_u32m4(bits, 8, word, vl);
    vuint32m1_t all = __riscv_vmv_v_x_u32m1(UINT32_MAX, 1);
    return __riscv_vmv_x_s_u32m1_u32(__riscv_vredand_vs_u32m4_u32m1(word, all, vl));
}

/* Whether the bits of these keys are those of lanes 0 .. end - 1. */
static int are_runs(const uint32_t *bits, vuint32m4_t end, size_t vl) {
    vuint32m4_t low = __riscv_vlse32_v_u32m4(bits, 8, vl), high = __riscv_vlse32_v_u32m4(bits + 1, 8, vl);
    vbool8_t is_high = __riscv_vmsgtu_vx_u32m4_b8(end, 31, vl), is_whole = __riscv_vmseq_vx_u32m4_b8(end, 64, vl);
    vuint32m4_t one = __riscv_vmv_v_x_u32m4(1, vl);
    vuint32m4_t rest = __riscv_vsub_vx_u32m4(__riscv_vsll_vv_u32m4(one, end, vl), 1, vl); /* by end mod 32 */
    vuint32m4_t want_low = __riscv_vmerge_vxm_u32m4(rest, UINT32_MAX, is_high, vl);
    vuint32m4_t want_high = __riscv_vmerge_vvm_u32m4(__riscv_vmv_v_x_u32m4(0, vl), rest, is_high, vl);
    want_high = __riscv_vmerge_vxm_u32m4(want_high, UINT32_MAX, is_whole, vl);
    vuint32m4_t wrong =
        __riscv_vor_vv_u32m4(__riscv_vxor_vv_u32m4(low, want_low, vl), __riscv_vxor_vv_u32m4(high, want_high, vl), vl);
    return __riscv_vfirst_m_b8(__riscv_vmsne_vx_u32m4_b8(wrong, 0, vl), vl) < 0;
}

/* Without a mask all keys are for all lanes. */
static void set_mask(struct attention *s) {
    for (uint32_t j = 0; j < s->keys; j++) {
        s->bits[2 * j] = s->bits[2 * j + 1] = UINT32_MAX;
        s->ends[j] = s->rows;
    }
}

static void read_mask(struct attention *s) {
    const uint32_t keys = s->keys, all = (uint32_t)s->a.keys, lanes = s->rows;
    const uint32_t from = s->a.mask + s->first_row * all + s->first_key;
    uint8_t *bytes = (uint8_t *)s->scores;
    const int32_t pitch = (int32_t)(keys == all ? all : s->chunk);
    if (keys == all)
        xpu_wait(xpu_load_elements(bytes, 0, from, 0, lanes * all, 1, 1));
    else
        xpu_wait(xpu_load_elements(bytes, pitch, from, (int32_t)all, keys, lanes, 1));
    const uint32_t low = min_u32(lanes, 32);
    const uint8_t *last = bytes + (lanes - 1) * (uint32_t)pitch;
    for (uint32_t j = 0; j < keys;) {
        size_t vl = __riscv_vsetvl_e32m4(keys - j);
        vuint32m4_t end = __riscv_vmv_v_x_u32m4(0, vl);
        uint32_t *bits = s->bits + 2 * j;
        s->masked[0] |= ~transpose_mask(last + j, pitch, low, 0, vl, bits, &end);
        s->masked[1] |= ~transpose_mask(last + j - 32 * pitch, pitch, lanes - low, 32, vl, bits + 1, &end);
        s->has_runs &= are_runs(bits, end, vl);
        __riscv_vse32_v_u32m4(s->ends + j, end, vl);
        j += (uint32_t)vl;
    }
}

/* Brings the mask's part for this block and chunk. */
static void find_mask(struct attention *s) {
    if (s->bits_of_row == s->first_row && s->bits_of_key == s->first_key) return;
    if (s->bits_of_row != s->first_row) {
        s->masked[0] = s->masked[1] = 0;
        s->has_runs = 1;
    }
    s->bits_of_row = s->first_row;
    s->bits_of_key = s->first_key;
    if (s->a.mask)
        read_mask(s);
    else
        set_mask(s);
    for (uint32_t j = s->keys; j % KEYS; j++) s->ends[j] = s->bits[2 * j] = s->bits[2 * j + 1] = 0;
    s->used = 0;
    for (uint32_t j = 0; j < s->keys; j += KEYS) {
        uint32_t most = 0;
        for (uint32_t i = 0; i < KEYS; i++) most = s->ends[j + i] > most ? s->ends[j + i] : most;
        s->most_ends[j / KEYS] = most;
        if (most) s->used = j + KEYS;
    }
}

/* All lanes of this chunk's keys are computed. */
static void take_all_lanes(struct attention *s) {
    for (uint32_t j = 0; j < s->keys; j++) s->ends[j] = s->most_ends[j / KEYS] = s->rows;
    s->used = round_up(s->keys, KEYS);
    if (s->has_runs) s->bits_of_row = UINT32_MAX;
}

static inline const uint8_t *bits_of(const struct attention *s, uint32_t key) {
    return (const uint8_t *)(s->bits + 2 * key);
}

/* ---- scores ---- */

/* Products of what stands at q with element `at` of four keys; behind the first of them the next row is loaded: what it
 * takes the place of is not used any more, and three products hide how long it takes. */
#define MULTIPLY(v, at, load)                                                                                          \
    do {                                                                                                               \
        const float f0_ = k0[at], f1_ = k1[at], f2_ = k2[at], f3_ = k3[at];                                            \
        s0 = __riscv_vfmacc_vf_f32m4(s0, f0_, v, vl);                                                                  \
        load;                                                                                                          \
        s1 = __riscv_vfmacc_vf_f32m4(s1, f1_, v, vl);                                                                  \
        s2 = __riscv_vfmacc_vf_f32m4(s2, f2_, v, vl);                                                                  \
        s3 = __riscv_vfmacc_vf_f32m4(s3, f3_, v, vl);                                                                  \
    } while (0)

/* A score to memory, and to the largest and the least of the lanes that the key is for. */
#define KEEP(score, i)                                                                                                 \
    do {                                                                                                               \
        size_t own = by_bits ? vl : ends[j + (i)];                                                                     \
        __riscv_vse32_v_f32m4(scores + (i) * pitch, score, own);                                                       \
        if (by_bits) {                                                                                                 \
            vbool8_t is_for = __riscv_vlm_v_b8(bits_of(s, j + (i)), own);                                              \
            most = __riscv_vfmax_vv_f32m4_mu(is_for, most, most, score, own);                                          \
            least = __riscv_vfmin_vv_f32m4_mu(is_for, least, least, score, own);                                       \
        } else {                                                                                                       \
            most = __riscv_vfmax_vv_f32m4_tu(most, most, score, own);                                                  \
            least = __riscv_vfmin_vv_f32m4_tu(least, least, score, own);                                               \
        }                                                                                                              \
    } while (0)

/* Behind the last key stands anything: it is for no lane. */
static inline __attribute__((always_inline)) void score_keys(const struct attention *s, int by_bits) {
    const uint32_t inner = (uint32_t)s->a.inner, pitch = s->lanes, keys = by_bits ? s->keys : s->used;
    const uint32_t *const ends = s->ends, *const most_ends = s->most_ends;
    const float *const first_q = s->q, *const all_k = s->k, scale = s->a.scale;
    float *const all_scores = s->scores;
    const size_t rows = s->rows;
    vfloat32m4_t most = __riscv_vle32_v_f32m4(s->most, rows), least = __riscv_vle32_v_f32m4(s->least, rows);
    vfloat32m4_t v = __riscv_vle32_v_f32m4(first_q, rows);
    for (uint32_t j = 0; j < keys; j += KEYS) {
        size_t vl = by_bits ? rows : most_ends[j / KEYS];
        if (!vl) continue;
        const float *q = first_q + pitch, *k0 = all_k + j * inner, *k1 = k0 + inner, *k2 = k1 + inner, *k3 = k2 + inner;
        vfloat32m4_t w = __riscv_vle32_v_f32m4(q, vl);
        vfloat32m4_t s0 = __riscv_vfmul_vf_f32m4(v, *k0, vl), s1 = __riscv_vfmul_vf_f32m4(v, *k1, vl);
        vfloat32m4_t s2 = __riscv_vfmul_vf_f32m4(v, *k2, vl), s3 = __riscv_vfmul_vf_f32m4(v, *k3, vl);
        uint32_t left = inner - 1;
        for (; left > 1; left -= 2) {
            MULTIPLY(w, 1, v = __riscv_vle32_v_f32m4(q + pitch, vl));
            q += 2 * pitch;
            MULTIPLY(v, 2, w = __riscv_vle32_v_f32m4(q, vl));
            k0 += 2, k1 += 2, k2 += 2, k3 += 2;
        }
        if (left) MULTIPLY(w, 1, );
        float *scores = all_scores + j * pitch;
        s0 = __riscv_vfmul_vf_f32m4(s0, scale, vl);
        s1 = __riscv_vfmul_vf_f32m4(s1, scale, vl);
        s2 = __riscv_vfmul_vf_f32m4(s2, scale, vl);
        s3 = __riscv_vfmul_vf_f32m4(s3, scale, vl);
        KEEP(s0, 0);
        KEEP(s1, 1);
        v = __riscv_vle32_v_f32m4(first_q, rows);
        KEEP(s2, 2);
        KEEP(s3, 3);
    }
    __riscv_vse32_v_f32m4(s->most, most, rows);
    __riscv_vse32_v_f32m4(s->least, least, rows);
}

static __attribute__((noinline)) void find_scores(const struct attention *s) {
    score_keys(s, 0);
}

static __attribute__((noinline)) void find_scores_by_bits(const struct attention *s) {
    score_keys(s, 1);
}

/* What the scores tell: whether what is masked weighs nothing, and how exponentials are computed. Keys that are left
 * out have the score `masked`, too. */
static void judge_scores(struct attention *s) {
    size_t vl = s->rows, bad = 0;
    vfloat32m4_t most = __riscv_vle32_v_f32m4(s->most, vl);
    if (s->a.mask) {
        vbool8_t masked = __riscv_vlm_v_b8((const uint8_t *)s->masked, vl);
        vfloat32m4_t score = __riscv_vfmv_v_f_f32m4(s->a.masked, vl);
        most = __riscv_vfmax_vv_f32m4_mu(masked, most, most, score, vl);
        __riscv_vse32_v_f32m4(s->most, most, vl);
        vbool8_t is_zero = __riscv_vmflt_vf_f32m4_b8(__riscv_vfsub_vv_f32m4(score, most, vl), most_zero, vl);
        bad = __riscv_vcpop_m_b8(__riscv_vmandn_mm_b8(masked, is_zero, vl), vl);
    }
    s->by_bits |= bad > 0;
    vfloat32m4_t lowest = __riscv_vfsub_vv_f32m4(__riscv_vle32_v_f32m4(s->least, vl), most, vl);
    s->is_plain = __riscv_vcpop_m_b8(__riscv_vmfge_vf_f32m4_b8(lowest, least_plain, vl), vl) == vl;
}

/* ---- weights: exp(score - most) in place of scores, and their sums ---- */

enum { PLAIN, RUNS, BY_BITS }; /* by_bits has limits as well */

/* A score, or that of what is masked. */
#define LOAD_SCORE(lmul, mask_bits)                                                                                    \
    static inline vfloat32m##lmul##_t load_score_##lmul(const struct attention *s, uint32_t key, size_t vl,            \
                                                        int kind) {                                                    \
        vfloat32m##lmul##_t x = __riscv_vle32_v_f32m##lmul(s->scores + key * s->lanes, vl);                            \
        if (kind != BY_BITS) return x;                                                                                 \
        vfloat32m##lmul##_t masked = __riscv_vfmv_v_f_f32m##lmul(s->a.masked, vl);                                     \
        return __riscv_vmerge_vvm_f32m##lmul(masked, x, __riscv_vlm_v_b##mask_bits(bits_of(s, key), vl), vl);          \
    }
LOAD_SCORE(1, 32)
LOAD_SCORE(2, 16)
LOAD_SCORE(4, 8)

/* exp(score - most); what is loaded behind its polynomial comes in time. */
#define WEIGH(e, score, most, vl, kind, load)                                                                          \
    do {                                                                                                               \
        vfloat32m4_t x_ = __riscv_vfsub_vv_f32m4(score, most, vl);                                                     \
        vint32m4_t n_;                                                                                                 \
        if ((kind) == PLAIN)                                                                                           \
            n_ = xv_exp_begin_plain(x_, vl);                                                                           \
        else                                                                                                           \
            x_ = xv_exp_begin(x_, &n_, vl);                                                                            \
        x_ = xv_exp_power(x_, n_, vl);                                                                                 \
        load;                                                                                                          \
        e = (kind) == PLAIN ? xv_exp_end_plain(x_, n_, vl) : xv_exp_end(x_, n_, vl);                                   \
    } while (0)

/* A length that clang does not know to be the same each time: it would keep vectors of constants then, and have too few
 * registers. */
static inline size_t own(size_t vl) {
    __asm__ volatile("" : "+r"(vl));
    return vl;
}

/* Four keys of at most 16 lanes make a vector, two of at most 32. */
static inline __attribute__((always_inline)) void weigh_four(const struct attention *s, uint32_t key, size_t vl,
                                                             int kind) {
    vfloat32m1_t m = __riscv_vle32_v_f32m1(s->most, vl);
    vfloat32m4_t x =
        __riscv_vcreate_v_f32m1_f32m4(load_score_1(s, key, vl, kind), load_score_1(s, key + 1, vl, kind),
                                      load_score_1(s, key + 2, vl, kind), load_score_1(s, key + 3, vl, kind));
    const size_t all = own(MOST_LANES);
    vfloat32m4_t e;
    WEIGH(e, x, __riscv_vcreate_v_f32m1_f32m4(m, m, m, m), all, kind, );
    float *to = s->scores + key * s->lanes;
    __riscv_vse32_v_f32m1(to, __riscv_vget_v_f32m4_f32m1(e, 0), vl);
    __riscv_vse32_v_f32m1(to + s->lanes, __riscv_vget_v_f32m4_f32m1(e, 1), vl);
    __riscv_vse32_v_f32m1(to + 2 * s->lanes, __riscv_vget_v_f32m4_f32m1(e, 2), vl);
    __riscv_vse32_v_f32m1(to + 3 * s->lanes, __riscv_vget_v_f32m4_f32m1(e, 3), vl);
}

static inline __attribute__((always_inline)) void weigh_two(const struct attention *s, uint32_t key, size_t vl,
                                                            int kind) {
    vfloat32m2_t m = __riscv_vle32_v_f32m2(s->most, vl);
    vfloat32m4_t x = __riscv_vcreate_v_f32m2_f32m4(load_score_2(s, key, vl, kind), load_score_2(s, key + 1, vl, kind));
    const size_t all = own(MOST_LANES);
    vfloat32m4_t e;
    WEIGH(e, x, __riscv_vcreate_v_f32m2_f32m4(m, m), all, kind, );
    float *to = s->scores + key * s->lanes;
    __riscv_vse32_v_f32m2(to, __riscv_vget_v_f32m4_f32m2(e, 0), vl);
    __riscv_vse32_v_f32m2(to + s->lanes, __riscv_vget_v_f32m4_f32m2(e, 1), vl);
}

static inline __attribute__((always_inline)) void weigh_keys(const struct attention *s, int kind) {
    for (uint32_t j = 0; j < s->used; j += KEYS) {
        const size_t vl = s->most_ends[j / KEYS];
        if (!vl) continue;
        if (vl <= 16) {
            weigh_four(s, j, vl, kind);
            continue;
        }
        if (vl <= 32) {
            weigh_two(s, j, vl, kind);
            weigh_two(s, j + 2, vl, kind);
            continue;
        }
        vfloat32m4_t most = __riscv_vle32_v_f32m4(s->most, vl), x = load_score_4(s, j, vl, kind);
#pragma clang loop unroll(disable)
        for (uint32_t i = j; i < j + KEYS; i++) {
            const size_t same = own(vl);
            vfloat32m4_t e, next;
            WEIGH(e, x, most, same, kind, next = load_score_4(s, i + 1, same, kind)); /* of the last key: of no use */
            __riscv_vse32_v_f32m4(s->scores + i * s->lanes, e, same);
            x = next;
        }
    }
}

static __attribute__((noinline)) void find_plain_weights(const struct attention *s) {
    weigh_keys(s, PLAIN);
}

/* The same where the scores of a query lie far apart. */
static __attribute__((noinline)) void find_weights(const struct attention *s) {
    weigh_keys(s, RUNS);
}

static __attribute__((noinline)) void find_weights_by_bits(const struct attention *s) {
    weigh_keys(s, BY_BITS);
}

/* Sums of weights over 16 strided lanes of keys: those of every fourth four keys at a time. */
static __attribute__((noinline)) void add_weights(const struct attention *s) {
    const uint32_t lanes = s->lanes, used = s->used, *const ends = s->ends;
    const float *const weights = s->scores;
    const size_t rows = s->rows;
    for (uint32_t first = 0; first < SUMS; first += KEYS) {
        float *sums = s->sums + first * lanes;
        vfloat32m4_t s0 = __riscv_vle32_v_f32m4(sums, rows), s1 = __riscv_vle32_v_f32m4(sums + lanes, rows);
        vfloat32m4_t s2 = __riscv_vle32_v_f32m4(sums + 2 * lanes, rows);
        vfloat32m4_t s3 = __riscv_vle32_v_f32m4(sums + 3 * lanes, rows);
        for (uint32_t j = first; j < used; j += SUMS) {
            const float *e = weights + j * lanes;
            size_t n0 = ends[j], n1 = ends[j + 1], n2 = ends[j + 2], n3 = ends[j + 3];
            vfloat32m4_t a = __riscv_vle32_v_f32m4(e, n0), b = __riscv_vle32_v_f32m4(e + lanes, n1);
            vfloat32m4_t c = __riscv_vle32_v_f32m4(e + 2 * lanes, n2);
            s0 = __riscv_vfadd_vv_f32m4_tu(s0, s0, a, n0);
            a = __riscv_vle32_v_f32m4(e + 3 * lanes, n3);
            s1 = __riscv_vfadd_vv_f32m4_tu(s1, s1, b, n1);
            s2 = __riscv_vfadd_vv_f32m4_tu(s2, s2, c, n2);
            s3 = __riscv_vfadd_vv_f32m4_tu(s3, s3, a, n3);
        }
        __riscv_vse32_v_f32m4(sums, s0, rows);
        __riscv_vse32_v_f32m4(sums + lanes, s1, rows);
        __riscv_vse32_v_f32m4(sums + 2 * lanes, s2, rows);
        __riscv_vse32_v_f32m4(sums + 3 * lanes, s3, rows);
    }
}

/* ---- values ---- */

/* Four columns of y get a weight times four columns of the values of its key; behind the first another weight is
 * loaded: two loads side by side would hold the products up. */
#define ADD(weight, key, load)                                                                                         \
    do {                                                                                                               \
        const float f0_ = v[0], f1_ = v[1], f2_ = v[2], f3_ = v[3];                                                    \
        const size_t vl = ends[key];                                                                                   \
        v += width;                                                                                                    \
        y0 = __riscv_vfmacc_vf_f32m4_tu(y0, f0_, weight, vl);                                                          \
        load;                                                                                                          \
        y1 = __riscv_vfmacc_vf_f32m4_tu(y1, f1_, weight, vl);                                                          \
        y2 = __riscv_vfmacc_vf_f32m4_tu(y2, f2_, weight, vl);                                                          \
        y3 = __riscv_vfmacc_vf_f32m4_tu(y3, f3_, weight, vl);                                                          \
    } while (0)

/* Four registers as they are: it leaves vl alone. Clang would move a plain load down to where it is used. */
static inline vfloat32m4_t load_whole(const float *from) {
    vfloat32m4_t to;
    __asm__ volatile("vl4re32.v %0, (%1)" : "=vr"(to) : "r"(from) : "memory");
    return to;
}

/* y += weights times values, four columns at a time; weights are loaded two keys ahead. */
static __attribute__((noinline)) void add_values(const struct attention *s) {
    const uint32_t width = (uint32_t)s->a.width, lanes = s->lanes, used = s->used, *const ends = s->ends;
    const float *const values = s->v, *const weights = s->scores;
    const size_t rows = s->rows;
    float *y = s->y;
    for (uint32_t c = 0; c < width; c += COLUMNS, y += COLUMNS * lanes) {
        const float *v = values + c, *e = weights;
        vfloat32m4_t y0 = __riscv_vle32_v_f32m4(y, rows), y1 = __riscv_vle32_v_f32m4(y + lanes, rows);
        vfloat32m4_t y2 = __riscv_vle32_v_f32m4(y + 2 * lanes, rows), y3 = __riscv_vle32_v_f32m4(y + 3 * lanes, rows);
        vfloat32m4_t e0 = load_whole(e), e1 = load_whole(e + lanes), e2, e3;
        for (uint32_t j = 0; j < used; j += KEYS) {
            e += 2 * lanes;
            ADD(e0, j, e2 = load_whole(e));
            ADD(e1, j + 1, e3 = load_whole(e + lanes));
            e += 2 * lanes;
            ADD(e2, j + 2, e0 = load_whole(e));
            ADD(e3, j + 3, e1 = load_whole(e + lanes));
        }
        __riscv_vse32_v_f32m4(y, y0, rows);
        __riscv_vse32_v_f32m4(y + lanes, y1, rows);
        __riscv_vse32_v_f32m4(y + 2 * lanes, y2, rows);
        __riscv_vse32_v_f32m4(y + 3 * lanes, y3, rows);
    }
}

static int has_finite_values(const struct attention *s) {
    uint32_t count = s->keys * (uint32_t)s->a.width;
    vuint32m8_t most = __riscv_vmv_v_x_u32m8(0, __riscv_vsetvlmax_e32m8());
    for (uint32_t i = 0; i < count;) {
        size_t vl = __riscv_vsetvl_e32m8(count - i);
        vuint32m8_t word = __riscv_vle32_v_u32m8((const uint32_t *)s->v + i, vl);
        most = __riscv_vmaxu_vv_u32m8_tu(most, most, __riscv_vand_vx_u32m8(word, INFINITY_BITS, vl), vl);
        i += (uint32_t)vl;
    }
    vuint32m1_t all = __riscv_vmv_v_x_u32m1(0, 1);
    all = __riscv_vredmaxu_vs_u32m8_u32m1(most, all, __riscv_vsetvlmax_e32m8());
    return __riscv_vmv_x_s_u32m1_u32(all) < INFINITY_BITS;
}

/* ---- a block of queries ---- */

static xpu_ticket load_rows(float *to, uint32_t from, uint32_t first, uint32_t rows, int32_t count) {
    return GM2LM(to, from + 4 * first * (uint32_t)count, 4 * rows * (uint32_t)count);
}

static xpu_ticket load_keys(const struct attention *s) {
    return load_rows(s->k, s->a.k, s->head * (uint32_t)s->a.keys + s->first_key, s->keys, s->a.inner);
}

static xpu_ticket load_values(const struct attention *s) {
    return load_rows(s->v, s->a.v, s->head * (uint32_t)s->a.keys + s->first_key, s->keys, s->a.width);
}

static void set_chunk(struct attention *s, uint32_t first) {
    s->first_key = first;
    s->keys = min_u32(s->chunk, (uint32_t)s->a.keys - first);
}

/* The block's queries, the last one first, and nothing found yet. */
static void begin_block(struct attention *s, xpu_ticket loaded) {
    const uint32_t inner = (uint32_t)s->a.inner, lanes = s->lanes;
    size_t vl = s->rows;
    clear_words(s->sums, (SUMS + round_up((uint32_t)s->a.width, COLUMNS)) * lanes);
    __riscv_vse32_v_f32m4(s->most, __riscv_vfmv_v_f_f32m4(-__builtin_inff(), vl), vl);
    __riscv_vse32_v_f32m4(s->least, __riscv_vfmv_v_f_f32m4(__builtin_inff(), vl), vl);
    xpu_wait(loaded);
    const float *last = s->rows_of_q + (vl - 1) * inner;
    for (uint32_t c = 0; c < inner; c++) {
        vfloat32m4_t column = __riscv_vlse32_v_f32m4(last + c, -4 * (ptrdiff_t)inner, vl);
        __riscv_vse32_v_f32m4(s->q + c * lanes, column, vl);
    }
}

static void finish_block(struct attention *s) {
    const uint32_t width = (uint32_t)s->a.width, lanes = s->lanes, rows = s->rows;
    const size_t vl = rows;
    for (uint32_t step = SUMS / 2; step > 0; step /= 2) {
        for (uint32_t i = 0; i < step; i++) {
            vfloat32m4_t a = __riscv_vle32_v_f32m4(s->sums + i * lanes, vl);
            vfloat32m4_t b = __riscv_vle32_v_f32m4(s->sums + (i + step) * lanes, vl);
            __riscv_vse32_v_f32m4(s->sums + i * lanes, __riscv_vfadd_vv_f32m4(a, b, vl), vl);
        }
    }
    vfloat32m4_t inverse = __riscv_vfrdiv_vf_f32m4(__riscv_vle32_v_f32m4(s->sums, vl), 1.0f, vl);
    xpu_wait(s->stored);
    float *last = s->out + (rows - 1) * width;
    for (uint32_t c = 0; c < width; c++) {
        vfloat32m4_t y = __riscv_vfmul_vv_f32m4(__riscv_vle32_v_f32m4(s->y + c * lanes, vl), inverse, vl);
        __riscv_vsse32_v_f32m4(last + c, -4 * (ptrdiff_t)width, __riscv_vfadd_vf_f32m4(y, 0.0f, vl), vl);
    }
    const uint32_t row = s->head * (uint32_t)s->a.rows + s->first_row;
    s->stored = LM2GM(s->a.y + 4 * row * width, s->out, 4 * rows * width);
}

/* `has_scores`: those of runs, or where the mask has none those by bits; others are computed anew. */
static void weigh_chunk(struct attention *s, int by_bits, int has_scores) {
    if (by_bits && (s->has_runs || !has_scores))
        find_scores_by_bits(s);
    else if (!has_scores)
        find_scores(s);
    if (by_bits) take_all_lanes(s);
    if (by_bits)
        find_weights_by_bits(s);
    else if (s->is_plain)
        find_plain_weights(s);
    else
        find_weights(s);
    add_weights(s);
    add_values(s);
}

static void run_block(struct attention *s) {
    const uint32_t keys = (uint32_t)s->a.keys;
    const int is_whole = keys <= s->chunk;
    xpu_ticket loaded =
        load_rows(s->rows_of_q, s->a.q, s->head * (uint32_t)s->a.rows + s->first_row, s->rows, s->a.inner);
    set_chunk(s, 0);
    xpu_ticket keys_loaded = load_keys(s), values_loaded = {XPU_COUNTER_CALL, 0};
    if (is_whole) values_loaded = load_values(s);
    begin_block(s, loaded);
    for (;;) {
        find_mask(s);
        xpu_wait(keys_loaded);
        if (s->has_runs)
            find_scores(s);
        else
            find_scores_by_bits(s);
        if (s->first_key + s->keys == keys) break;
        set_chunk(s, s->first_key + s->keys);
        keys_loaded = load_keys(s);
    }
    s->by_bits = !s->has_runs;
    judge_scores(s);
    const int by_bits = s->by_bits;
    for (uint32_t first = 0; first < keys; first += s->keys) {
        if (!is_whole) {
            set_chunk(s, first);
            keys_loaded = load_keys(s);
            values_loaded = load_values(s);
            find_mask(s);
            xpu_wait(keys_loaded);
        }
        xpu_wait(values_loaded);
        weigh_chunk(s, by_bits || (s->a.mask && !has_finite_values(s)), is_whole);
    }
    finish_block(s);
}

/* ---- blocks ---- */

static float *take(float **lm, uint32_t floats) {
    float *place = *lm;
    *lm += floats;
    return place;
}

/* As many queries as fit with 16 keys, then as many keys. */
static void divide_lm(struct attention *s) {
    const uint32_t inner = (uint32_t)s->a.inner, width = (uint32_t)s->a.width;
    uint32_t available, step = XPU_ATTENTION_LANES;
    float *lm = lm_floats(&available);
    s->lanes = MOST_LANES;
    while (xpu_attention_floats(s->lanes, step, inner, width) > available) {
        s->lanes /= 2;
        if (s->lanes < step) xpu_abort(ABORT_LOCAL_MEMORY);
    }
    s->chunk = (available - xpu_attention_floats(s->lanes, 0, inner, width)) / (s->lanes + inner + width + 4);
    s->chunk = min_u32(round_down(s->chunk, step), round_up((uint32_t)s->a.keys, step));
    s->rows_of_q = take(&lm, s->lanes * inner);
    s->q = take(&lm, s->lanes * inner);
    s->out = take(&lm, s->lanes * width);
    s->sums = take(&lm, s->lanes * SUMS);
    s->y = take(&lm, s->lanes * round_up(width, COLUMNS));
    s->most = take(&lm, s->lanes);
    s->least = take(&lm, s->lanes);
    s->scores = take(&lm, s->chunk * s->lanes);
    s->k = take(&lm, s->chunk * inner);
    s->bits = (uint32_t *)take(&lm, 2 * s->chunk);
    s->ends = (uint32_t *)take(&lm, s->chunk);
    s->most_ends = (uint32_t *)take(&lm, s->chunk);
    s->v = lm;
}

/* Blocks go round the cores, those of the same queries one after the other: they have the same mask. Core 0 has the
 * fewest. */
static void attention_share(const void *args, uint32_t core, uint32_t cores) {
    struct attention s = {.a = *(const struct xpu_attention_f32_args *)args, .stored = {XPU_COUNTER_CALL, 0}};
    const uint32_t rows = (uint32_t)s.a.rows, batch = (uint32_t)s.a.batch;
    divide_lm(&s);
    s.bits_of_row = UINT32_MAX;
    for (uint32_t task = core > 0 ? core - 1 : cores - 1; task < batch * ceil_div(rows, s.lanes); task += cores) {
        s.head = task % batch;
        s.first_row = task / batch * s.lanes;
        s.rows = min_u32(s.lanes, rows - s.first_row);
        run_block(&s);
    }
}

xpu_ticket xpu_attention_f32(const struct xpu_attention_f32_args *args, uint32_t layer, xpu_ticket after) {
    return xpu_run_on_cores(attention_share, args, layer, after);
}
