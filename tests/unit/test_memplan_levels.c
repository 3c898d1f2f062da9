/*
 * The planner's choice of levels against an exhaustive reference: small problems of two and three levels, every
 * assignment of buffers to levels that they may be in, and of each level every order of placing its buffers as low as
 * can be. A plan must be legal and never cheaper than the cheapest assignment; how far above it is, is printed and
 * limited. It shares no code with the planner nor with its checker.
 */
#include "memplan/memplan.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "tests/unit/random.h"
#include "tests/unit/unit.h"

enum { MOST_BUFFERS = 6, MOST_LEVELS = 3, PROBLEMS = 3000 };

typedef struct {
    xpu_memplan_level levels[MOST_LEVELS];
    xpu_memplan_buffer buffers[MOST_BUFFERS];
    xpu_memplan_steps gaps[MOST_BUFFERS];
    uint32_t level_count, count;
    int8_t fits[MOST_LEVELS][1 << MOST_BUFFERS]; /* whether these buffers fit into this level; -1: not known */
} small;

static struct {
    uint32_t planned, impossible, missed, best;
    double lost, worst;
    uint64_t worst_seed;
} seen;
static uint32_t problems;

/* ---- the reference ---- */

static uint64_t aligned(uint64_t offset, uint64_t alignment) {
    return alignment < 2 ? offset : (offset + alignment - 1) / alignment * alignment;
}

static int live_together(const xpu_memplan_buffer *a, const xpu_memplan_buffer *b) {
    for (uint32_t step = a->first; step <= a->last; step++) {
        int both = step >= b->first && step <= b->last;
        if (a->gap_count) both &= step < a->gaps->first || step > a->gaps->last;
        if (b->gap_count) both &= step < b->gaps->first || step > b->gaps->last;
        if (both) return 1;
    }
    return 0;
}

/* Places the buffers of `left` one after the other, in every order, as low as those before allow. */
static int can_place(const small *s, uint32_t level, uint32_t left, uint32_t placed, uint64_t *offset) {
    const xpu_memplan_level *l = &s->levels[level];
    if (!left) return 1;
    for (uint32_t i = 0; i < s->count; i++) {
        if (!(left >> i & 1)) continue;
        const xpu_memplan_buffer *b = &s->buffers[i];
        uint64_t step = b->alignment > l->alignment ? b->alignment : l->alignment;
        offset[i] = aligned(l->reserved, step);
        for (uint32_t k = 0; k < s->count; k++) {
            const xpu_memplan_buffer *other = &s->buffers[k];
            if (!(placed >> k & 1) || !live_together(b, other)) continue;
            if (offset[k] >= offset[i] + b->bytes || offset[i] >= offset[k] + other->bytes) continue;
            offset[i] = aligned(offset[k] + other->bytes, step);
            k = UINT32_MAX; /* again from the first */
        }
        if (offset[i] + b->bytes > l->bytes) continue;
        if (can_place(s, level, left & ~(1u << i), placed | 1u << i, offset)) return 1;
    }
    return 0;
}

static int fits(small *s, uint32_t level, uint32_t set) {
    uint64_t offset[MOST_BUFFERS];
    int8_t *known = &s->fits[level][set];
    if (*known < 0) *known = (int8_t)can_place(s, level, set, 0, offset);
    return *known;
}

/* What it costs that a buffer is in its choice number `choice`: for each level that it was moved on, the bytes that it
 * accesses, and 1024 times the cycles that they take longer there. */
static uint64_t cost(const small *s, const xpu_memplan_buffer *b, uint32_t choice) {
    uint64_t total = 0;
    for (uint32_t i = 0; i < choice; i++) {
        uint64_t fast = s->levels[b->levels[i]].bytes_per_cycle, slow = s->levels[b->levels[i + 1]].bytes_per_cycle;
        uint64_t cycles_here = b->access_bytes * 1024 / fast, cycles_there = b->access_bytes * 1024 / slow;
        total += b->access_bytes + (cycles_there > cycles_here ? cycles_there - cycles_here : 0);
    }
    return total;
}

/* The least cost of all assignments that fit; UINT64_MAX: none does. */
static uint64_t least_cost(small *s, uint32_t index, uint32_t *sets, uint64_t so_far, uint64_t least) {
    if (so_far >= least) return least;
    if (index == s->count) {
        for (uint32_t level = 0; level < s->level_count; level++) {
            if (!fits(s, level, sets[level])) return least;
        }
        return so_far;
    }
    const xpu_memplan_buffer *b = &s->buffers[index];
    for (uint32_t choice = 0; choice < b->level_count; choice++) {
        uint32_t level = b->levels[choice];
        sets[level] |= 1u << index;
        least = least_cost(s, index + 1, sets, so_far + cost(s, b, choice), least);
        sets[level] &= ~(1u << index);
    }
    return least;
}

/* ---- problems and plans ---- */

/* `tight`: the last level does not hold everything either. with_gaps: all lives that are long enough have one. */
static void draw(small *s, int tight, int with_gaps) {
    static const char *const names[] = {"SM", "L3", "GM"};
    memset(s, 0, sizeof *s);
    memset(s->fits, -1, sizeof s->fits);
    s->level_count = 2 + random_below(2);
    s->count = 3 + random_below(MOST_BUFFERS - 2);
    for (uint32_t i = 0; i < s->level_count; i++) {
        int is_last = i + 1 == s->level_count;
        s->levels[i] = (xpu_memplan_level){.name = names[i],
                                           .bytes = is_last && !tight ? 4096 : 20 + random_below(40),
                                           .reserved = random_below(4) ? 0 : 1 + random_below(8),
                                           .alignment = 1u << random_below(3),
                                           .bytes_per_cycle = 64u >> i * random_below(3)};
    }
    for (uint32_t i = 0; i < s->count; i++) {
        xpu_memplan_buffer *b = &s->buffers[i];
        *b = (xpu_memplan_buffer){.bytes = 1 + random_below(24),
                                  .alignment = 1u << random_below(4),
                                  .first = random_below(6),
                                  .access_bytes = 1 + random_below(400)};
        b->last = b->first + random_below(4);
        if (with_gaps && b->last > b->first + 1) {
            s->gaps[i].first = s->gaps[i].last = b->first + 1;
            if (b->last > b->first + 2 && random_below(2)) s->gaps[i].last++;
            b->gaps = &s->gaps[i];
            b->gap_count = 1;
        }
        uint32_t start = random_below(4) ? 0 : random_below(s->level_count);
        for (uint32_t level = start; level < s->level_count; level++) {
            if (level == start || level + 1 == s->level_count || random_below(4))
                b->levels[b->level_count++] = (uint8_t)level;
        }
        if (random_below(12) == 0) b->level_count = 1; /* it must be there */
    }
}

/* The number of the choice that a buffer got, or UINT32_MAX where that is not legal. */
static uint32_t choice_of(const small *s, const xpu_memplan *plan, uint32_t index) {
    const xpu_memplan_buffer *b = &s->buffers[index];
    const xpu_memplan_place *place = &plan->places[index];
    uint32_t choice = 0;
    while (choice < b->level_count && b->levels[choice] != place->level) choice++;
    if (choice == b->level_count) return UINT32_MAX;
    const xpu_memplan_level *l = &s->levels[place->level];
    if (place->offset < l->reserved || place->offset + b->bytes > l->bytes) return UINT32_MAX;
    if (place->offset % l->alignment || place->offset % b->alignment) return UINT32_MAX;
    for (uint32_t i = 0; i < index; i++) {
        const xpu_memplan_place *other = &plan->places[i];
        if (other->level == place->level && live_together(b, &s->buffers[i]) &&
            place->offset < other->offset + s->buffers[i].bytes && other->offset < place->offset + b->bytes)
            return UINT32_MAX;
    }
    return choice;
}

/* How much of what could be kept in better levels is lost. */
static void compare(const small *s, uint64_t got, uint64_t least, uint64_t seed) {
    uint64_t most = 0; /* every buffer in its last level */
    for (uint32_t i = 0; i < s->count; i++) most += cost(s, &s->buffers[i], s->buffers[i].level_count - 1);
    double lost = most > least ? (double)(got - least) / (double)(most - least) : 0;
    seen.lost += lost;
    seen.best += got == least;
    if (lost <= seen.worst) return;
    seen.worst = lost;
    seen.worst_seed = seed;
}

static void run_one(xpu_arena *arena, uint64_t seed, int tight, int with_gaps, xpu_diags *diags) {
    static small s;
    uint32_t sets[MOST_LEVELS] = {0};
    uint64_t got = 0;
    xpu_memplan *plan;
    random_state = seed * UINT64_C(0x9e3779b97f4a7c15) + 1;
    for (int i = 0; i < 8; i++) random_below(2);
    draw(&s, tight, with_gaps);
    xpu_memplan_problem problem = {
        .levels = s.levels, .level_count = s.level_count, .buffers = s.buffers, .buffer_count = s.count};
    uint64_t least = least_cost(&s, 0, sets, 0, UINT64_MAX);
    xpu_status status = xpu_memplan_make(arena, &problem, NULL, &plan, diags);
    if (status != XPU_OK) {
        CU_ASSERT_EQUAL(status, XPU_EMODEL);
        CU_ASSERT(tight || least == UINT64_MAX); /* buffers that must be in a level may not fit there */
        seen.impossible += least == UINT64_MAX;
        seen.missed += least != UINT64_MAX;
        return;
    }
    for (uint32_t i = 0; i < s.count; i++) {
        uint32_t choice = choice_of(&s, plan, i);
        if (choice == UINT32_MAX) {
            fprintf(stderr, "\nseed %" PRIu64 ": buffer %" PRIu32 " is where it may not be\n", seed, i);
            CU_FAIL("a plan is not legal");
            return;
        }
        got += cost(&s, &s.buffers[i], choice);
    }
    if (got < least) fprintf(stderr, "\nseed %" PRIu64 ": cost %" PRIu64 ", possible %" PRIu64 "\n", seed, got, least);
    CU_ASSERT(got >= least);
    seen.planned++;
    compare(&s, got, least, seed);
}

static void run_seed(uint64_t seed, int tight, int with_gaps) {
    xpu_mem mem;
    xpu_mem_init(&mem);
    if (setjmp(mem.out_of_memory)) exit(EXIT_FAILURE);
    xpu_diags diags;
    xpu_diags_init(&diags);
    run_one(xpu_arena_new(&mem, "test"), seed, tight, with_gaps, &diags);
    xpu_diags_clear(&diags);
    xpu_mem_release(&mem);
}

static void run_seeds(uint64_t first, int tight, int with_gaps) {
    const char *count = getenv("XPU_TEST_INSTANCES"); /* in all; the long tests ask for 100,000 */
    problems = count ? (uint32_t)strtoul(count, NULL, 10) / 3 : PROBLEMS;
    memset(&seen, 0, sizeof seen);
    for (uint64_t seed = first; seed < first + problems; seed++) run_seed(seed, tight, with_gaps);
    printf("(%" PRIu32 " plans, %" PRIu32 " with the best levels; of what better levels could keep %.2f %% is lost, at "
           "most %.0f %%, by seed %" PRIu64 "; %" PRIu32 " impossible, %" PRIu32 " not found) ",
           seen.planned, seen.best, 100 * seen.lost / seen.planned, 100 * seen.worst, seen.worst_seed, seen.impossible,
           seen.missed);
}

/* The worst is that of the usual number of problems: of more, single ones are worse. */
static void expect_little_lost(double worst) {
    CU_ASSERT(seen.best > 0.98 * seen.planned && seen.lost < 0.003 * seen.planned);
    CU_ASSERT(seen.worst < worst || problems > PROBLEMS);
}

static void room_for_all(void) {
    run_seeds(1, 0, 0);
    CU_ASSERT(seen.planned > problems / 2);
    expect_little_lost(0.5);
}

static void tight_last_level(void) {
    run_seeds(1000001, 1, 0);
    CU_ASSERT(seen.planned > problems / 4 && seen.impossible > problems / 50);
    expect_little_lost(0.7);
    CU_ASSERT(seen.missed < 0.002 * seen.planned);
}

static void lives_with_gaps(void) {
    run_seeds(2000001, 0, 1);
    CU_ASSERT(seen.planned > problems / 2);
    expect_little_lost(0.5);
}

XPU_TEST_MAIN("levels of small problems, all of them tried", {"a last level with room for all", room_for_all},
              {"a last level that may be too small", tight_last_level}, {"lives with gaps", lives_with_gaps})
