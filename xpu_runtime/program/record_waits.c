#include "xpu_runtime/program/record_waits.h"

#include <string.h>

#include "xpu_runtime/program/record_accesses.h"

enum {
    COUNTERS = XPU_RECORDED_COUNTERS,
    ENGINES = 4,
    WAITS = 2,
    ENOUGH_WORK = 4096,  /* cycles of the engines: with so much to do the layer before has ended */
    MOST_PAIRS = 1 << 25 /* accesses that are looked at for descriptors: of layers with very many waits stay */
};

/* Values that counters have reached: what is over. */
typedef struct {
    uint32_t of[COUNTERS];
} reached;

/* Lists whose descriptors are looked at in an order in which engines can take them. */
typedef struct {
    xpu_descriptors *d;
    const uint32_t *signals;       /* of each counter, by the lists before */
    reached *known;                /* by descriptor: what of the layers before is over when it is */
    reached started[ENGINES];      /* what was when the engine's last descriptor started */
    uint32_t *producers[COUNTERS]; /* descriptors by what they signal */
    uint32_t produced[COUNTERS];   /* how many of these */
    uint32_t at[ENGINES];
} player;

/* An access of a layer before, and the ticket of its descriptor. */
typedef struct {
    xpu_recorded_access at;
    xpu_ticket ticket;
    uint8_t engine;
} past_access;

typedef struct {
    player past, now;
    xpu_ticket done, first_store;
    past_access *accesses;
    uint32_t access_count;
    uint64_t work, pairs; /* of descriptors so far, and looked at for them */
} relaxer;

/* ---- waits of a descriptor ---- */

static xpu_ticket get_wait(const uint32_t *words, int which) {
    return which ? (xpu_ticket){xpu_desc_nop_get_wait1(words), xpu_desc_nop_get_wait1_value(words)}
                 : (xpu_ticket){xpu_desc_nop_get_wait0(words), xpu_desc_nop_get_wait0_value(words)};
}

static void set_wait(uint32_t *words, int which, xpu_ticket ticket) {
    if (which) {
        xpu_desc_nop_set_wait1(words, ticket.counter);
        xpu_desc_nop_set_wait1_value(words, ticket.value);
    } else {
        xpu_desc_nop_set_wait0(words, ticket.counter);
        xpu_desc_nop_set_wait0_value(words, ticket.value);
    }
}

static int is_free(const uint32_t *words, int which) {
    return get_wait(words, which).counter >= COUNTERS;
}

/* 0: both are taken. */
static int add_wait(uint32_t *words, xpu_ticket ticket) {
    for (int i = 0; i < WAITS; i++) {
        if (!is_free(words, i)) continue;
        set_wait(words, i, ticket);
        return 1;
    }
    return 0;
}

static int is_ticket(xpu_ticket a, xpu_ticket b) {
    return a.counter == b.counter && a.value == b.value;
}

/* Takes waits for a ticket away; whether there was one. */
static int drop_wait(uint32_t *words, xpu_ticket ticket) {
    int found = 0;
    for (int i = 0; i < WAITS; i++) {
        if (!is_ticket(get_wait(words, i), ticket)) continue;
        set_wait(words, i, (xpu_ticket){XPU_NO_COUNTER, 0});
        found = 1;
    }
    return found;
}

/* ---- lists ---- */

static uint32_t engine_of(uint32_t counter) {
    return counter == XPU_COUNTER_LOAD     ? XPU_ENGINE_DMA0
           : counter == XPU_COUNTER_TENSOR ? XPU_ENGINE_TENSOR
           : counter == XPU_COUNTER_WINDOW ? XPU_ENGINE_WINDOW
                                           : XPU_ENGINE_DMA1;
}

/* `known`: what is over before all of them. */
static player make_player(xpu_descriptors *d, const uint32_t *signals, const uint32_t *known, xpu_arena *scratch) {
    player p = {.d = d, .signals = signals};
    p.known = XPU_NEW_ARRAY(scratch, reached, d->count);
    for (uint32_t e = 0; e < ENGINES; e++) memcpy(p.started[e].of, known, sizeof p.started[e].of);
    for (uint32_t c = 0; c < COUNTERS; c++) p.producers[c] = XPU_NEW_ARRAY(scratch, uint32_t, d->count);
    return p;
}

/* The descriptor of these lists with a ticket; -1: it is of other lists, or was not looked at. */
static int64_t producer_of(const player *p, xpu_ticket ticket) {
    const uint32_t number = ticket.value - p->signals[ticket.counter] - 1;
    if (ticket.value <= p->signals[ticket.counter] || number >= p->produced[ticket.counter]) return -1;
    return p->producers[ticket.counter][number];
}

static int can_start(const player *p, const uint32_t *words) {
    for (int which = 0; which < WAITS; which++) {
        const xpu_ticket wait = get_wait(words, which);
        if (wait.counter < COUNTERS && wait.value > p->signals[wait.counter] + p->produced[wait.counter]) return 0;
    }
    return 1;
}

/* 0: `visit` gave 0, or there is no such order. */
static int play(player *p, int (*visit)(relaxer *, uint32_t), relaxer *r) {
    uint32_t left = p->d->count;
    for (int goes_on = 1; goes_on && left;) {
        goes_on = 0;
        for (uint32_t engine = 0; engine < ENGINES; engine++) {
            for (uint32_t *at = &p->at[engine]; *at < p->d->count; ++*at) {
                if (p->d->engines[*at] != engine) continue;
                if (!can_start(p, p->d->words[*at])) break;
                if (!visit(r, *at)) return 0;
                goes_on = 1;
                left--;
            }
        }
    }
    return left == 0;
}

static void join(reached *to, const reached *from) {
    for (uint32_t i = 0; i < COUNTERS; i++)
        if (from->of[i] > to->of[i]) to->of[i] = from->of[i];
}

/* A descriptor that starts when `k` is over; its ticket. NO_COUNTER: it signals none, or otherwise than lists do. */
static xpu_ticket start(player *p, uint32_t i, const reached *k) {
    const uint32_t *words = p->d->words[i], counter = xpu_desc_nop_get_signal(words);
    if (counter >= COUNTERS || xpu_desc_nop_get_signal_add(words) != 1) return (xpu_ticket){XPU_NO_COUNTER, 0};
    p->started[p->d->engines[i]] = p->known[i] = *k;
    p->producers[counter][p->produced[counter]++] = i;
    return (xpu_ticket){counter, p->signals[counter] + p->produced[counter]};
}

/* ---- the layers before ---- */

/* What of its own lists is over when a descriptor is: what it waited for, and what its engine had before. 0: it is of a
 * kind that lists do not have. */
static int visit_past(relaxer *r, uint32_t i) {
    player *p = &r->past;
    const uint32_t *words = p->d->words[i], engine = p->d->engines[i];
    reached k = p->started[engine];
    xpu_recorded_access accesses[XPU_MOST_ACCESSES];
    const int32_t count = xpu_recorded_accesses(words, accesses);
    for (int which = 0; which < WAITS; which++) {
        const xpu_ticket wait = get_wait(words, which);
        const int64_t producer = wait.counter < COUNTERS ? producer_of(p, wait) : -1;
        if (producer >= 0) join(&k, &p->known[producer]);
    }
    const xpu_ticket ticket = start(p, i, &k);
    if (count < 0 || ticket.counter == XPU_NO_COUNTER) return 0;
    p->known[i].of[ticket.counter] = ticket.value;
    if (engine == XPU_ENGINE_DMA1 && r->first_store.counter == XPU_NO_COUNTER) r->first_store = ticket;
    for (int32_t a = 0; a < count; a++)
        r->accesses[r->access_count++] = (past_access){accesses[a], ticket, (uint8_t)engine};
    return 1;
}

/* The lists of the layers before, with the counters of kernels. */
static xpu_descriptors take_past(const xpu_recorded_past *past, xpu_arena *scratch) {
    xpu_descriptors d = {.count = past->count, .most = past->count};
    d.words = xpu_alloc(scratch, (size_t)past->count * sizeof *d.words);
    d.engines = XPU_NEW_ARRAY(scratch, uint8_t, past->count);
    memcpy(d.words, past->words, (size_t)past->count * sizeof *d.words);
    for (uint32_t i = 0; i < past->count; i++) {
        uint32_t *words = d.words[i];
        xpu_desc_nop_set_wait0(words, xpu_kernel_counter(xpu_desc_nop_get_wait0(words)));
        xpu_desc_nop_set_wait1(words, xpu_kernel_counter(xpu_desc_nop_get_wait1(words)));
        xpu_desc_nop_set_signal(words, xpu_kernel_counter(xpu_desc_nop_get_signal(words)));
        d.engines[i] = (uint8_t)engine_of(xpu_desc_nop_get_signal(words));
    }
    return d;
}

/* ---- what is known, and what is needed ---- */

static int is_over(const relaxer *r, const reached *k) {
    return k->of[r->done.counter] >= r->done.value;
}

/* Behind the ticket of the layers before all of them is over. */
static void reach(const relaxer *r, reached *k, xpu_ticket ticket) {
    const int64_t producer = producer_of(&r->past, ticket);
    if (ticket.value > k->of[ticket.counter]) k->of[ticket.counter] = ticket.value;
    if (producer >= 0) join(k, &r->past.known[producer]);
    if (is_over(r, k)) memcpy(k->of, r->now.signals, sizeof k->of);
}

/* What of the layers before is over when a descriptor starts. */
static reached known_at_start(const relaxer *r, uint32_t i) {
    const player *p = &r->now;
    const uint32_t *words = p->d->words[i];
    reached k = p->started[p->d->engines[i]];
    for (int which = 0; which < WAITS; which++) {
        const xpu_ticket wait = get_wait(words, which);
        if (wait.counter >= COUNTERS) continue;
        const int64_t producer = producer_of(p, wait);
        if (producer >= 0)
            join(&k, &p->known[producer]);
        else
            reach(r, &k, wait);
    }
    return k;
}

/* Post descriptors, and drains without a product, do not wait for products without drain. */
static int passes_products(const uint32_t *words) {
    const uint32_t opcode = xpu_desc_nop_get_opcode(words);
    return opcode == XPU_OPCODE_POST || (opcode == XPU_OPCODE_TENSOR && xpu_desc_tensor_get_channels(words) == 0);
}

/* Whether an access needs one before it to be over. Within a queue what is read on an engine that computes may be older
 * than what was written before, and what passes products may write over their operands (docs/chip.md, "Order", 3). */
static int collide(const xpu_recorded_access *now, const uint32_t *words, uint32_t engine, const past_access *past) {
    const xpu_recorded_access *before = &past->at;
    const int is_dma = engine == XPU_ENGINE_DMA0 || engine == XPU_ENGINE_DMA1;
    const int comes_behind = is_dma || (now->writes && (before->writes || !passes_products(words)));
    if (engine == past->engine && comes_behind) return 0;
    return (now->writes || before->writes) && now->begin < before->end && before->begin < now->end;
}

/* What has to be over. 0: its accesses are not known, or there are too many. */
static int find_needs(relaxer *r, uint32_t i, reached *needs) {
    xpu_recorded_access accesses[XPU_MOST_ACCESSES];
    const xpu_descriptors *d = r->now.d;
    const int32_t count = xpu_recorded_accesses(d->words[i], accesses);
    r->pairs += r->access_count;
    if (r->pairs > MOST_PAIRS) return 0;
    for (uint32_t p = 0; p < r->access_count && count > 0; p++) {
        const past_access *past = &r->accesses[p];
        if (past->ticket.value <= needs->of[past->ticket.counter]) continue;
        for (int32_t a = 0; a < count; a++) {
            if (!collide(&accesses[a], d->words[i], d->engines[i], past)) continue;
            needs->of[past->ticket.counter] = past->ticket.value;
            break;
        }
    }
    return count >= 0;
}

/* ---- one descriptor after the other ---- */

/* A descriptor of the same engine before this one, which may wait in its place; 0: there is none with room. */
static int let_earlier_wait(relaxer *r, uint32_t i, xpu_ticket ticket) {
    const xpu_descriptors *d = r->now.d;
    for (uint32_t before = i; before-- > 0;) {
        if (d->engines[before] == d->engines[i] && add_wait(d->words[before], ticket)) return 1;
    }
    return 0;
}

/* Tickets that are needed and not known; none that another one stands behind. */
static int find_missing(const relaxer *r, const reached *needs, const reached *k, xpu_ticket missing[COUNTERS]) {
    int count = 0;
    for (uint32_t c = 0; c < COUNTERS; c++) {
        const xpu_ticket ticket = {c, needs->of[c]};
        int is_behind = ticket.value <= k->of[c];
        for (uint32_t other = 0; other < COUNTERS && !is_behind; other++) {
            const int64_t producer = producer_of(&r->past, (xpu_ticket){other, needs->of[other]});
            is_behind = other != c && producer >= 0 && r->past.known[producer].of[c] >= ticket.value;
        }
        if (!is_behind) missing[count++] = ticket;
    }
    return count;
}

/* 0: waits have no room. */
static int add_needs(relaxer *r, uint32_t i, const reached *needs, reached *k, int was_whole) {
    uint32_t *words = r->now.d->words[i];
    xpu_ticket missing[COUNTERS];
    const int room = is_free(words, 0) + is_free(words, 1);
    int count = find_missing(r, needs, k, missing);
    if (count > room && (was_whole || room > 0)) missing[0] = r->done, count = 1;
    for (int m = 0; m < count; m++) {
        if (!add_wait(words, missing[m]) && !let_earlier_wait(r, i, missing[m])) return 0;
        reach(r, k, missing[m]);
    }
    return 1;
}

/* What is fetched for later layers may lie where the layers before still read. */
static int is_fetch(const xpu_descriptors *d, uint32_t i) {
    const uint32_t *words = d->words[i];
    return d->engines[i] == XPU_ENGINE_DMA0 && xpu_desc_copy_get_opcode(words) == XPU_OPCODE_COPY &&
           xpu_desc_copy_get_dst(words) - XPU_SM_BASE >= XPU_L3_BASE - XPU_SM_BASE;
}

/* 0: its accesses are not known, or something has no room. */
static int visit(relaxer *r, uint32_t i) {
    player *p = &r->now;
    uint32_t *words = p->d->words[i];
    const uint32_t engine = p->d->engines[i];
    const int was_whole = r->work < ENOUGH_WORK && drop_wait(words, r->done);
    reached k = known_at_start(r, i), needs = {{0}};
    if (!is_over(r, &k)) {
        if (was_whole) needs.of[r->first_store.counter] = r->first_store.value;
        if (is_fetch(p->d, i)) needs.of[r->done.counter] = r->done.value;
        if (!find_needs(r, i, &needs) || !add_needs(r, i, &needs, &k, was_whole)) return 0;
    }
    if (start(p, i, &k).counter == XPU_NO_COUNTER) return 0;
    /* when it is over, so is what the engine has begun before */
    for (uint32_t c = 0; c < COUNTERS; c++)
        if (engine_of(c) == engine && p->known[i].of[c] < p->signals[c]) p->known[i].of[c] = p->signals[c];
    r->work += xpu_recorded_work(words, engine);
    return 1;
}

void xpu_relax_waits(const xpu_recorded_past *past, xpu_descriptors *d, const uint32_t *signals, xpu_arena *scratch) {
    relaxer r = {.done = past->done, .first_store = {XPU_NO_COUNTER, 0}};
    if (!past->count || past->done.counter >= COUNTERS) return;
    xpu_descriptors lists = take_past(past, scratch);
    r.accesses = XPU_NEW_ARRAY(scratch, past_access, (size_t)past->count * XPU_MOST_ACCESSES);
    r.past = make_player(&lists, past->signals, past->signals, scratch);
    r.now = make_player(d, signals, past->signals, scratch);
    if (!play(&r.past, visit_past, &r) || r.first_store.counter == XPU_NO_COUNTER) return;
    const size_t bytes = (size_t)d->count * sizeof *d->words;
    uint32_t(*before)[XPU_DESC_WORDS] = xpu_alloc(scratch, bytes);
    memcpy(before, d->words, bytes);
    if (!play(&r.now, visit, &r)) memcpy(d->words, before, bytes);
}
