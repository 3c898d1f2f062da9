/*
 * Places in time against an exhaustive reference: small problems of two levels, every way in which each buffer can
 * stand in the near level, or go there and back, its transfers cut in units in every way, and every order of placing
 * what stands. A plan must hold and never take fewer cycles than the reference; how many more it takes is printed and
 * limited. Latencies are 0 and all sizes whole units, which a step moves in whole numbers: so no finer cut is better.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "memplan/moves.h"
#include "tests/unit/random.h"
#include "tests/unit/unit.h"

enum { STEPS = 5, MOST_BUFFERS = 3, UNIT = 64, CYCLES = 4, MOST_WAYS = 4000, MOST_STANDS = 4, PROBLEMS = 3000 };
enum { NEAR, FAR };

/* A way of one buffer: where it stands, and what it costs the steps. */
typedef struct {
    struct {
        uint8_t level, from, to;
    } stands[MOST_STANDS];
    uint32_t count;
    uint8_t moved[STEPS]; /* units in the far level */
    uint8_t computed[STEPS];
} way;

typedef struct {
    xpu_memplan_level levels[2];
    xpu_memplan_buffer buffers[MOST_BUFFERS];
    xpu_memplan_traffic traffic[MOST_BUFFERS];
    xpu_memplan_use uses[MOST_BUFFERS][STEPS];
    uint64_t cycles[STEPS];
    uint32_t count;
} small;

static way *ways[MOST_BUFFERS];
static uint32_t way_count[MOST_BUFFERS];

static struct {
    uint32_t planned, best, moving;
    uint64_t cycles, least, still;
    double worst;
} seen;

/* ---- all ways of a buffer ---- */

typedef struct {
    const small *s;
    uint32_t buffer;
    way w;
    uint8_t ready[MOST_STANDS]; /* from which step on it can be read there */
} maker;

static uint32_t units(const maker *m) {
    return (uint32_t)(m->s->buffers[m->buffer].bytes / UNIT);
}

/* The stand in which it is read in a step, or -1. */
static int read_from(const maker *m, uint32_t step) {
    int best = -1;
    for (uint32_t i = 0; i < m->w.count; i++) {
        if (m->w.stands[i].from > step || m->w.stands[i].to < step || m->ready[i] > step) continue;
        if (best < 0 || m->w.stands[i].level < m->w.stands[best].level) best = (int)i;
    }
    return best;
}

/* Adds the accesses, and keeps the way where there is one for each. */
static void keep(const maker *m) {
    const xpu_memplan_buffer *b = &m->s->buffers[m->buffer];
    const xpu_memplan_traffic *t = &m->s->traffic[m->buffer];
    way done = m->w;
    for (uint32_t i = 0; i < t->use_count; i++) {
        const int writes = i == 0 && t->home == XPU_MEMPLAN_NONE;
        const int at = writes ? 0 : read_from(m, t->uses[i].step);
        if (at < 0) return;
        if (done.stands[at].level == FAR) done.moved[t->uses[i].step] += (uint8_t)(t->uses[i].bytes / UNIT);
    }
    if (b->last > t->uses[t->use_count - 1].step && read_from(m, b->last) < 0) return;
    if (way_count[m->buffer] == MOST_WAYS) {
        CU_FAIL("more ways than were reckoned with");
        return;
    }
    ways[m->buffer][way_count[m->buffer]++] = done;
}

static void go_on(const maker *m, uint32_t moves);

/* A transfer from stand `source`: its units cut in all ways over the steps from `low` on. */
static void cut(const maker *m, uint32_t source, uint32_t level, uint32_t low, uint32_t moves) {
    const uint32_t last = m->s->buffers[m->buffer].last, all = units(m);
    for (uint32_t a = low; a < last; a++) {
        for (uint32_t b = a; b < last && (b == a || all > 1); b++) {
            for (uint32_t to = b + 1; to <= last; to++) {
                maker next = *m;
                const uint32_t n = next.w.count++;
                if (next.w.stands[source].to < b) next.w.stands[source].to = (uint8_t)b;
                next.w.stands[n].level = (uint8_t)level;
                next.w.stands[n].from = (uint8_t)a;
                next.w.stands[n].to = (uint8_t)to;
                next.ready[n] = (uint8_t)(b + 1);
                next.w.moved[a] += 1;
                next.w.moved[b] += (uint8_t)(all - 1);
                go_on(&next, moves - 1);
            }
        }
    }
}

static void compute_anew(const maker *m, uint32_t moves) {
    const xpu_memplan_traffic *t = &m->s->traffic[m->buffer];
    const uint32_t last = m->s->buffers[m->buffer].last;
    for (uint32_t step = t->uses[0].step + 1; t->anew_cycles && step < last; step++) {
        for (uint32_t to = step + 1; to <= last; to++) {
            maker next = *m;
            const uint32_t n = next.w.count++;
            next.w.stands[n].level = NEAR;
            next.w.stands[n].from = (uint8_t)step;
            next.w.stands[n].to = (uint8_t)to;
            next.ready[n] = (uint8_t)(step + 1);
            next.w.computed[step] += (uint8_t)t->anew_cycles;
            go_on(&next, moves - 1);
        }
    }
}

static void go_on(const maker *m, uint32_t moves) {
    const uint32_t last = m->w.count - 1;
    keep(m);
    if (!moves) return;
    if (m->w.stands[last].level == NEAR) {
        compute_anew(m, moves);
        if (last == 0) cut(m, 0, FAR, m->ready[0], moves); /* put aside, from where it is written */
    }
    for (uint32_t i = 0; i <= last; i++) {
        if (m->w.stands[i].level != FAR) continue;
        uint32_t low = m->ready[i];
        for (uint32_t k = 0; k <= last; k++) /* twice in the near level at one time is never better */
            if (m->w.stands[k].level == NEAR && k > i && m->w.stands[k].to + 1u > low) low = m->w.stands[k].to + 1u;
        cut(m, i, NEAR, low, moves);
    }
}

static void find_ways(const small *s, uint32_t buffer) {
    const xpu_memplan_buffer *b = &s->buffers[buffer];
    const xpu_memplan_traffic *t = &s->traffic[buffer];
    const int has_home = t->home != XPU_MEMPLAN_NONE;
    way_count[buffer] = 0;
    for (uint32_t level = has_home ? FAR : NEAR; level <= FAR; level++) {
        for (uint32_t to = has_home ? b->last : t->uses[0].step; to <= b->last; to++) {
            maker m = {.s = s, .buffer = buffer};
            m.w.count = 1;
            m.w.stands[0].level = (uint8_t)level;
            m.w.stands[0].from = (uint8_t)b->first;
            m.w.stands[0].to = (uint8_t)to;
            m.ready[0] = (uint8_t)(has_home ? b->first : t->uses[0].step + 1);
            go_on(&m, 2);
        }
    }
}

/* ---- all ways together ---- */

typedef struct {
    const small *s;
    const way *chosen[MOST_BUFFERS];
    uint64_t best;
} reference;

typedef struct {
    uint64_t offset, bytes;
    uint32_t from, to;
} block;

static int place_all(block *blocks, uint32_t count, uint32_t placed, uint64_t room) {
    if (placed == count) return 1;
    for (uint32_t i = placed; i < count; i++) {
        const block swap = blocks[placed];
        blocks[placed] = blocks[i];
        blocks[i] = swap;
        block *b = &blocks[placed];
        b->offset = 0;
        for (uint32_t k = 0; k < placed; k++) {
            const block *o = &blocks[k];
            if (o->from > b->to || b->from > o->to) continue;
            if (o->offset >= b->offset + b->bytes || b->offset >= o->offset + o->bytes) continue;
            b->offset = o->offset + o->bytes;
            k = UINT32_MAX; /* again from the first */
        }
        if (b->offset + b->bytes <= room && place_all(blocks, count, placed + 1, room)) return 1;
        blocks[i] = blocks[placed];
        blocks[placed] = swap;
    }
    return 0;
}

static int have_places(const reference *r, uint32_t count) {
    for (uint32_t level = NEAR; level <= FAR; level++) {
        block blocks[MOST_BUFFERS * MOST_STANDS];
        uint32_t n = 0;
        for (uint32_t i = 0; i < count; i++) {
            for (uint32_t k = 0; k < r->chosen[i]->count; k++) {
                if (r->chosen[i]->stands[k].level != level) continue;
                blocks[n++] =
                    (block){0, r->s->buffers[i].bytes, r->chosen[i]->stands[k].from, r->chosen[i]->stands[k].to};
            }
        }
        if (!place_all(blocks, n, 0, r->s->levels[level].bytes)) return 0;
    }
    return 1;
}

static int is_crowded(const reference *r, uint32_t count) {
    for (uint32_t step = 0; step < STEPS; step++) {
        uint64_t live[2] = {0, 0};
        for (uint32_t i = 0; i < count; i++)
            for (uint32_t k = 0; k < r->chosen[i]->count; k++)
                if (r->chosen[i]->stands[k].from <= step && step <= r->chosen[i]->stands[k].to)
                    live[r->chosen[i]->stands[k].level] += r->s->buffers[i].bytes;
        if (live[NEAR] > r->s->levels[NEAR].bytes || live[FAR] > r->s->levels[FAR].bytes) return 1;
    }
    return 0;
}

static void choose(reference *r, uint32_t at, const uint32_t *moved, const uint32_t *computed) {
    for (uint32_t i = 0; i < way_count[at]; i++) {
        const way *w = r->chosen[at] = &ways[at][i];
        uint32_t m[STEPS], c[STEPS];
        uint64_t cycles = 0;
        for (uint32_t step = 0; step < STEPS; step++) {
            m[step] = moved[step] + w->moved[step];
            c[step] = computed[step] + w->computed[step];
            const uint64_t takes = r->s->cycles[step] + c[step], moves = (uint64_t)m[step] * CYCLES;
            cycles += takes > moves ? takes : moves;
        }
        if (cycles >= r->best || is_crowded(r, at + 1)) continue;
        if (at + 1 < r->s->count)
            choose(r, at + 1, m, c);
        else if (have_places(r, at + 1))
            r->best = cycles;
    }
}

/* ---- problems ---- */

static void draw(small *s) {
    *s = (small){.count = 2 + random_below(2)};
    s->levels[NEAR] = (xpu_memplan_level){.name = "SM", .bytes = (uint64_t)UNIT * (2 + random_below(3))};
    s->levels[FAR] = (xpu_memplan_level){.name = "GM", .bytes = (uint64_t)UNIT * 40, .bytes_per_cycle = UNIT / CYCLES};
    for (uint32_t i = 0; i < STEPS; i++) s->cycles[i] = (uint64_t)CYCLES * random_below(5);
    for (uint32_t i = 0; i < s->count; i++) {
        const int has_home = random_below(3) == 0;
        xpu_memplan_buffer *b = &s->buffers[i];
        xpu_memplan_traffic *t = &s->traffic[i];
        *b = (xpu_memplan_buffer){.bytes = (uint64_t)UNIT * (1 + random_below(2)),
                                  .last = STEPS - 1 - random_below(2),
                                  .levels = {NEAR, FAR},
                                  .level_count = 2};
        b->first = random_below(b->last);
        t->home = has_home ? FAR : XPU_MEMPLAN_NONE;
        t->uses = s->uses[i];
        for (uint32_t step = b->first; step <= b->last; step++) {
            const int is_used = random_below(2) || (step == b->last && !t->use_count);
            if (is_used) s->uses[i][t->use_count++] = (xpu_memplan_use){step, b->bytes};
        }
        if (!has_home && random_below(4) == 0) t->anew_cycles = (uint64_t)CYCLES * (1 + random_below(2));
    }
}

static void run_one(xpu_arena *arena, uint64_t seed, xpu_diags *diags) {
    small s;
    random_state = seed * 0x9e3779b97f4a7c15;
    const uint32_t none[STEPS] = {0};
    draw(&s);
    const xpu_memplan_timeline line = {s.cycles, STEPS, s.traffic};
    const xpu_memplan_problem problem = {
        .levels = s.levels, .level_count = 2, .buffers = s.buffers, .buffer_count = s.count, .timeline = &line};
    for (uint32_t i = 0; i < s.count; i++) find_ways(&s, i);
    reference r = {.s = &s, .best = UINT64_MAX};
    choose(&r, 0, none, none);
    xpu_memplan_moves *moves;
    CU_ASSERT_EQUAL_FATAL(xpu_memplan_make_moves(arena, &problem, NULL, &moves, diags), XPU_OK);
    CU_ASSERT_EQUAL(xpu_memplan_check_moves(arena, &problem, moves, diags), XPU_OK);
    if (moves->all_cycles < r.best || moves->all_cycles > moves->still_cycles)
        fprintf(stderr, "\nseed %" PRIu64 ": %" PRIu64 " cycles, possible %" PRIu64 ", without moves %" PRIu64 "\n",
                seed, moves->all_cycles, r.best, moves->still_cycles);
    CU_ASSERT(moves->all_cycles >= r.best && moves->all_cycles <= moves->still_cycles);
    seen.planned++;
    seen.best += moves->all_cycles == r.best;
    seen.moving += moves->transfer_count > 0;
    seen.cycles += moves->all_cycles;
    seen.least += r.best;
    seen.still += moves->still_cycles;
    const double more = r.best ? (double)(moves->all_cycles - r.best) / (double)r.best : 0;
    if (more > seen.worst) seen.worst = more;
}

static void run_seed(uint64_t seed) {
    xpu_mem mem;
    xpu_diags diags;
    xpu_mem_init(&mem);
    if (setjmp(mem.out_of_memory)) exit(EXIT_FAILURE);
    xpu_diags_init(&diags);
    run_one(xpu_arena_new(&mem, "test"), seed, &diags);
    if (diags.count) xpu_diags_print(&diags, stderr);
    xpu_diags_clear(&diags);
    xpu_mem_release(&mem);
}

static void small_problems(void) {
    const char *count = getenv("XPU_TEST_INSTANCES"); /* the long tests ask for 100,000 */
    const uint32_t problems = count ? (uint32_t)strtoul(count, NULL, 10) : PROBLEMS;
    for (uint32_t i = 0; i < MOST_BUFFERS; i++) ways[i] = malloc(MOST_WAYS * sizeof **ways);
    for (uint64_t seed = 1; seed <= problems; seed++) run_seed(seed);
    for (uint32_t i = 0; i < MOST_BUFFERS; i++) free(ways[i]);
    printf("(%" PRIu32 " plans, %" PRIu32 " with moves, %" PRIu32 " the best; %" PRIu64
           " cycles without moves, %" PRIu64 " planned, %" PRIu64 " possible; at most %.0f %% more) ",
           seen.planned, seen.moving, seen.best, seen.still, seen.cycles, seen.least, 100 * seen.worst);
    CU_ASSERT(seen.best > 0.95 * seen.planned);
    CU_ASSERT(seen.cycles - seen.least < 0.02 * seen.least);
    CU_ASSERT(seen.moving > seen.planned / 10);
}

XPU_TEST_MAIN("places in time of small problems, all of them tried", {"small problems", small_problems})
