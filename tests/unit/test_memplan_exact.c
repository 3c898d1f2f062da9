#include "memplan/exact.h"

#include <inttypes.h>
#include <stdio.h>

#include "tests/unit/memplan.h"
#include "tests/unit/oom.h"
#include "tests/unit/random.h"
#include "tests/unit/unit.h"

enum { ITEMS = 7, START = 3, LEVEL_END = 300 };

/* A bit for each step at which it lives. */
static uint32_t steps_of(const xpu_memplan_item *item) {
    uint32_t steps = 0;
    for (uint32_t i = item->life.first; i <= item->life.last; i++) steps |= 1u << i;
    for (uint32_t g = 0; g < item->life.gap_count; g++) {
        for (uint32_t i = item->life.gaps[g].first; i <= item->life.gaps[g].last; i++) steps &= ~(1u << i);
    }
    return steps;
}

static int collide(const xpu_memplan_item *a, const xpu_memplan_item *b) {
    return a->bytes && b->bytes && (steps_of(a) & steps_of(b)) && a->offset < b->offset + b->bytes &&
           b->offset < a->offset + a->bytes;
}

/* The lowest peak of all orders, each item as low as it can be; `used` has a bit for what is placed. */
static uint64_t lowest_peak(xpu_memplan_item *items, uint32_t used, uint64_t peak, uint64_t best) {
    if (peak >= best) return best;
    if (used == (1u << ITEMS) - 1) return peak;
    for (uint32_t i = 0; i < ITEMS; i++) {
        if (used & 1u << i) continue;
        items[i].offset = START;
        for (int moved = 1; moved;) {
            moved = 0;
            items[i].offset = xpu_memplan_align(items[i].offset, items[i].alignment);
            for (uint32_t k = 0; k < ITEMS; k++) {
                if (!(used & 1u << k) || !collide(&items[i], &items[k])) continue;
                items[i].offset = items[k].offset + items[k].bytes;
                moved = 1;
            }
        }
        uint64_t end = items[i].offset + items[i].bytes - START;
        best = lowest_peak(items, used | 1u << i, items[i].bytes && end > peak ? end : peak, best);
    }
    return best;
}

/* Up to two gaps, where the life is long enough. */
static void draw_gaps(xpu_memplan_life *life, xpu_memplan_steps *gaps) {
    uint32_t at = life->first;
    life->gaps = gaps;
    while (life->gap_count < 2 && at + 2 <= life->last && random_below(3)) {
        xpu_memplan_steps *gap = &gaps[life->gap_count++];
        gap->first = at + 1 + random_below(life->last - at - 1);
        gap->last = gap->first + random_below(life->last - gap->first);
        at = gap->last + 1;
    }
}

/* Some have an alignment, some are equal, one may be pinned; every second instance has gaps. */
static uint64_t make_items(uint64_t seed, xpu_memplan_item *items, xpu_memplan_steps (*gaps)[2]) {
    uint32_t used = 0;
    uint64_t peak = 0;
    random_state = seed * UINT64_C(0x9e3779b97f4a7c15) + 1;
    for (uint32_t i = 0; i < ITEMS; i++) {
        items[i] = (xpu_memplan_item){.bytes = random_below(9), .life.first = random_below(8), .forced = 1};
        items[i].alignment = 1u << (random_below(3) ? 0 : random_below(4));
        items[i].life.last = items[i].life.first + random_below(seed % 2 ? 5 : 9);
        if (seed % 2 == 0) draw_gaps(&items[i].life, gaps[i]);
        if (!items[i].bytes) items[i].alignment = 1u << random_below(10); /* above the peak, or above the level */
        if (i > 0 && random_below(5) == 0) items[i] = items[i - 1];
    }
    if (random_below(3) == 0) {
        items[0].pinned = 1;
        items[0].offset = START + random_below(12);
        if (random_below(4) == 0 && items[1].bytes) items[0].bytes = 0;
        for (uint32_t i = 1; i < ITEMS; i++) items[i].pinned = 0;
        used = 1;
        if (items[0].bytes) peak = items[0].offset + items[0].bytes - START;
    }
    xpu_memplan_item copies[ITEMS];
    memcpy(copies, items, sizeof copies);
    return lowest_peak(copies, used, peak, UINT64_MAX);
}

static int is_valid(xpu_memplan_item *items, const uint64_t *offset, uint64_t end) {
    for (uint32_t i = 0; i < ITEMS; i++) {
        if (items[i].pinned && offset[i] != items[i].offset) return 0;
        items[i].offset = offset[i];
        if (items[i].pinned) continue;
        if (offset[i] % items[i].alignment || offset[i] + items[i].bytes > LEVEL_END) return 0;
        if (items[i].bytes && (offset[i] < START || offset[i] + items[i].bytes > end)) return 0;
    }
    for (uint32_t i = 0; i < ITEMS; i++) {
        for (uint32_t k = 0; k < i; k++) {
            if (collide(&items[i], &items[k])) return 0;
        }
    }
    return 1;
}

static unsigned above_load, pinned, gaps_mattered, bound_above_load;

static int items_have_gaps(const xpu_memplan_item *items) {
    uint32_t gaps = 0;
    for (uint32_t i = 0; i < ITEMS; i++) gaps += items[i].life.gap_count;
    return gaps > 0;
}

/* The lowest peak where every item lives all the time from its first to its last step, or 0: one is pinned. */
static uint64_t peak_without_gaps(const xpu_memplan_item *items) {
    xpu_memplan_item whole[ITEMS];
    memcpy(whole, items, sizeof whole);
    for (uint32_t i = 0; i < ITEMS; i++) whole[i].life.gap_count = 0;
    return items[0].pinned ? 0 : lowest_peak(whole, 0, 0, UINT64_MAX);
}

static xpu_status one(xpu_arena *arena, uint64_t seed) {
    xpu_memplan_item items[ITEMS];
    xpu_memplan_steps gaps[ITEMS][2];
    uint64_t best = make_items(seed, items, gaps), steps = 0, offset[ITEMS], peak = 1000;
    uint32_t worst;
    uint64_t load = xpu_memplan_load(arena, items, ITEMS, START, &worst);
    xpu_memplan_exact *exact = xpu_memplan_exact_new(arena, items, ITEMS, START, LEVEL_END);
    if (!exact) return XPU_OK;
    uint64_t proved = xpu_memplan_exact_minimise(exact, load, 10000000, &steps, &peak, offset);
    if (peak != best || proved != best)
        printf("seed %" PRIu64 ": peak %" PRIu64 ", proved %" PRIu64 ", possible %" PRIu64 "\n", seed, peak, proved,
               best);
    CU_ASSERT_EQUAL(peak, best);
    CU_ASSERT_EQUAL(proved, best);
    const uint64_t bound = xpu_memplan_bound(arena, items, ITEMS, START);
    if (bound > best) printf("seed %" PRIu64 ": bound %" PRIu64 ", possible %" PRIu64 "\n", seed, bound, best);
    CU_ASSERT(bound >= load && bound <= best);
    bound_above_load += items_have_gaps(items) && bound > load;
    CU_ASSERT(is_valid(items, offset, START + best));
    CU_ASSERT_EQUAL(xpu_memplan_exact_fit(exact, START + best, 10000000, &steps, offset), XPU_MEMPLAN_FITS);
    CU_ASSERT(is_valid(items, offset, START + best));
    if (!items[0].pinned)
        CU_ASSERT_EQUAL(xpu_memplan_exact_fit(exact, START + best - 1, 10000000, &steps, offset),
                        XPU_MEMPLAN_NEVER_FITS);
    above_load += best > load;
    pinned += items[0].pinned != 0;
    gaps_mattered += best < peak_without_gaps(items);
    return XPU_OK;
}

static void run_seed(uint64_t seed) {
    xpu_mem mem;
    xpu_mem_init(&mem);
    if (setjmp(mem.out_of_memory)) {
        CU_FAIL("out of memory");
    } else {
        one(xpu_arena_new(&mem, "test"), seed);
    }
    xpu_mem_release(&mem);
}

/* XPU_TEST_INSTANCES: how many; the long tests ask for 100,000. */
static void against_all_orders(void) {
    const char *count = getenv("XPU_TEST_INSTANCES");
    uint64_t last = count ? strtoull(count, NULL, 10) : 2000;
    for (uint64_t seed = 1; seed <= last; seed++) run_seed(seed);
    printf("(%" PRIu64 " instances; %u have an optimum above the load, %u a pinned item, %u a lower one for their "
           "gaps, %u a bound above the load "
           "with gaps) ",
           last, above_load, pinned, gaps_mattered, bound_above_load);
    CU_ASSERT(above_load > last / 20 && pinned > last / 10 && gaps_mattered > last / 20 &&
              bound_above_load > last / 50);
}

static xpu_status search_work(xpu_arena *arena, xpu_diags *diags) {
    (void)diags;
    return one(arena, 5);
}

static void no_memory(void) {
    unsigned long count = xpu_fail_each_allocation(search_work, 1);
    CU_ASSERT(count > 5);
}

/* The same in units as large as `scale`, beside one byte that lives alone: heights need more bits. */
static void scaled(xpu_arena *arena, uint64_t seed, uint64_t scale) {
    xpu_memplan_item items[ITEMS + 1];
    xpu_memplan_steps gaps[ITEMS][2];
    uint64_t best = make_items(seed, items, gaps), steps = 0, offset[ITEMS + 1], peak = 1000 * scale;
    for (uint32_t i = 0; i < ITEMS; i++) {
        items[i].bytes *= scale;
        items[i].alignment *= scale;
        items[i].offset *= scale;
    }
    items[ITEMS] = (xpu_memplan_item){.bytes = 1, .alignment = 1, .life = {.first = 40, .last = 40}, .forced = 1};
    xpu_memplan_exact *exact = xpu_memplan_exact_new(arena, items, ITEMS + 1, START * scale, LEVEL_END * scale);
    const uint64_t proved = xpu_memplan_exact_minimise(exact, 0, 10000000, &steps, &peak, offset);
    CU_ASSERT_EQUAL(peak, best ? best * scale : 1);
    CU_ASSERT_EQUAL(proved, peak);
}

static void run_scaled(uint64_t seed, uint64_t scale) {
    xpu_mem mem;
    xpu_mem_init(&mem);
    if (setjmp(mem.out_of_memory)) {
        CU_FAIL("out of memory");
    } else {
        scaled(xpu_arena_new(&mem, "test"), seed, scale);
    }
    xpu_mem_release(&mem);
}

static void wide_heights(void) {
    for (uint64_t seed = 1; seed <= 300; seed++) {
        for (uint32_t bits = 4; bits <= 36; bits += 16) run_scaled(seed, UINT64_C(1) << bits);
    }
}

XPU_TEST_MAIN("exact search of offsets", {"against all orders", against_all_orders},
              {"heights of 16, 32 and 64 bits", wide_heights}, {"no memory", no_memory})
