/*
 * What kernels on engines share: rings of descriptors in LM, pairs of buffers in SM, the input of a tile. Descriptors
 * are made from templates, of which a step changes what is its own.
 */
#ifndef XPU_KERNELS_RINGS_H
#define XPU_KERNELS_RINGS_H

#include "xpu_runtime/kernels/common.h"

/* A ring of descriptors. The counter counts what is done of it, over all layers. */
struct ring {
    uint32_t (*words)[XPU_DESC_WORDS];
    uint32_t size, counter, engine;
    uint32_t queued, seen; /* descriptors so far; what the counter is known to have reached */
    uint32_t rung;         /* descriptors that the engine knows of */
};
/* One of a pair of buffers, and the ticket after which it may be overwritten. */
struct pair {
    uint32_t address[2];
    xpu_ticket free[2];
    uint32_t now;
};

/* One to three tiles that take turns, and the tickets after which they may be overwritten. */
struct turns {
    xpu_ticket free[3];
    uint32_t at, bytes, now, count;
};

static const xpu_ticket no_ticket = {XPU_NO_COUNTER, 0};

/* Whether a ticket is that of a layer on the tensor or window engine. */
static inline int is_engines(xpu_ticket ticket) {
    return ticket.counter == XPU_COUNTER_STORE || ticket.counter == XPU_COUNTER_WINDOW_STORE;
}

/* ---- rings ---- */

#ifdef __riscv
/* The ring's next descriptor, a copy of `template`; waits until its last use is done. */
static inline uint32_t *ring_next(struct ring *r, const uint32_t *template, xpu_ticket *done) {
    uint32_t *words = r->words[r->queued++ & (r->size - 1)];
    *done = xpu_expect(r->counter, 1);
    if ((int32_t)(r->seen + r->size - done->value) < 0) {
        r->seen = done->value - r->size;
        xpu_wait((xpu_ticket){r->counter, r->seen});
    }
    size_t vl = __riscv_vsetvl_e32m2(XPU_DESC_WORDS);
    __riscv_vse32_v_u32m2(words, __riscv_vle32_v_u32m2(template, vl), vl);
    return words;
}

/* Hands everything that is new in a ring to its engine: one list, or two where the ring begins again. */
static inline void ring_the_bell(struct ring *r) {
    while (r->rung != r->queued) {
        uint32_t at = r->rung & (r->size - 1), count = min_u32(r->queued - r->rung, r->size - at);
        xpu_enqueue(r->engine, r->words[at], count);
        r->rung += count;
    }
}
#else
/* On the host the recorder keeps all descriptors. */
static inline uint32_t *ring_next(struct ring *r, const uint32_t *template, xpu_ticket *done) {
    *done = xpu_expect(r->counter, 1);
    return xpu_record(r->engine, template);
}

static inline void ring_the_bell(struct ring *r) {
    xpu_record_bell(r->engine);
}
#endif

/* What findmax begins with: 0, when what was before is done. */
static inline xpu_desc_fill absmax_fill(uint32_t layer, xpu_ticket after, uint32_t absmax) {
    return (xpu_desc_fill){.layer = layer,
                           .wait0 = after.counter,
                           .wait0_value = after.value,
                           .wait1 = XPU_NO_COUNTER,
                           .signal = XPU_COUNTER_LOAD,
                           .signal_add = 1,
                           .dst = absmax,
                           .dst_type = XPU_TYPE_F32,
                           .size0 = 1,
                           .size1 = 1,
                           .size2 = 1,
                           .size3 = 1,
                           .dst_stride3 = 4};
}

/* ---- the post-processor's parameters ---- */

/* Of layers, in turn. A place is free when the layer that had it last is done. */
enum { PARAMS = 2 };
struct params {
    xpu_post_params of[PARAMS];
    xpu_ticket free[PARAMS];
    uint32_t layers_begun;
};
extern struct params xpu_engine_parameters; /* one for all kernels: LM is small */

/* Where a layer's parameters stand, as engines address it. */
static inline uint32_t place_params(struct params *p, const xpu_post_params *params) {
    const uint32_t slot = p->layers_begun++ % PARAMS;
    if (p->layers_begun > PARAMS) xpu_wait(p->free[slot]);
    p->of[slot] = *params;
    return xpu_lm_address(&p->of[slot]);
}

static inline xpu_ticket params_needed_until(struct params *p, xpu_ticket done) {
    p->free[(p->layers_begun - 1) % PARAMS] = done;
    return done;
}

/* ---- buffers ---- */

static inline struct pair make_pair(uint32_t base, uint32_t offset, uint32_t bytes, xpu_ticket free) {
    return (struct pair){{base + offset, base + offset + bytes}, {free, free}, 1};
}

/* Turns to the other buffer; returns its address. */
static inline uint32_t flip(struct pair *p) {
    p->now ^= 1;
    return p->address[p->now];
}

static inline struct turns make_turns(uint32_t at, uint32_t bytes, uint32_t count, xpu_ticket free) {
    return (struct turns){.free = {free, free, free}, .at = at, .bytes = bytes, .now = count, .count = count};
}

static inline void take_turn(struct turns *t) {
    if (++t->now >= t->count) t->now = 0;
}

static inline uint32_t address_now(const struct turns *t) {
    return t->at + t->now * t->bytes;
}

static inline void set_waits(uint32_t *words, xpu_ticket a, xpu_ticket b) {
    xpu_desc_copy_set_wait0(words, a.counter);
    xpu_desc_copy_set_wait0_value(words, a.value);
    xpu_desc_copy_set_wait1(words, b.counter);
    xpu_desc_copy_set_wait1_value(words, b.value);
}

/* The input rows (or columns) behind outputs first .. first + count - 1, cut to the image. */
static inline void input_range(int32_t first, int32_t count, int32_t stride, int32_t pad, int32_t reach, int32_t limit,
                               int32_t *from, int32_t *size, int32_t *outside) {
    int32_t begin = first * stride - pad, end = begin + (count - 1) * stride + reach;
    *from = min_i32(max_i32(begin, 0), limit);
    *size = max_i32(min_i32(end, limit) - *from, 0);
    *outside = *from - begin;
}

#endif
