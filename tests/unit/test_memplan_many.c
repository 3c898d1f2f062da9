/* Packing of hard and of large problems: what the planner reaches with so many comparisons, whatever the clock says. */
#include <inttypes.h>
#include <stdio.h>

#include "memplan/internal.h"
#include "tests/unit/oom.h"
#include "tests/unit/random.h"
#include "tests/unit/unit.h"

enum { STEPS = 400, HEIGHT = 1024, UNIT = 64 };

/* Cuts a rectangle of time and bytes at random until there are so many pieces; together they fill it without a hole. */
static void cut(xpu_memplan_item *items, uint32_t count) {
    items[0] = (xpu_memplan_item){.life.last = STEPS - 1, .bytes = HEIGHT * UNIT};
    for (uint32_t made = 1; made < count;) {
        xpu_memplan_item *piece = &items[random_below(made)], *other = &items[made];
        uint32_t length = piece->life.last - piece->life.first + 1, units = (uint32_t)(piece->bytes / UNIT);
        *other = *piece;
        if (random_below(2) && length > 3) {
            uint32_t at = piece->life.first + 1 + random_below(length - 1);
            piece->life.last = at - 1;
            other->life.first = at;
        } else if (units > 3) {
            piece->bytes = UNIT * (1 + (uint64_t)random_below(units - 1));
            other->bytes -= piece->bytes;
        } else {
            continue;
        }
        made++;
    }
    for (uint32_t i = 0; i < count; i++) {
        items[i].id = i;
        items[i].alignment = UNIT;
        items[i].forced = 1;
    }
}

static int live_together(const xpu_memplan_item *a, const xpu_memplan_item *b) {
    return a->life.first <= b->life.last && b->life.first <= a->life.last;
}

/* The peak of a placement, which is compared pair by pair. */
static uint64_t peak_of(const xpu_memplan_item *items, uint32_t count) {
    uint64_t peak = 0;
    for (uint32_t i = 0; i < count; i++) {
        const xpu_memplan_item *a = &items[i];
        if (a->offset + a->bytes > peak) peak = a->offset + a->bytes;
        if (a->offset % a->alignment) CU_FAIL("an offset is not aligned");
        for (uint32_t k = 0; k < i; k++) {
            const xpu_memplan_item *b = &items[k];
            if (live_together(a, b) && a->offset < b->offset + b->bytes && b->offset < a->offset + a->bytes)
                CU_FAIL("two items share bytes while both live");
        }
    }
    return peak;
}

static uint64_t pack(xpu_arena *arena, xpu_memplan_item *items, uint32_t count, uint64_t budget, uint64_t *proved) {
    uint64_t steps = 0;
    CU_ASSERT_EQUAL(xpu_memplan_pack(arena, items, count, 0, UINT64_C(1) << 40, budget, &steps, proved), 0);
    return peak_of(items, count);
}

/* Puzzles of known optimum: any plan at once, a good one within the usual budget. */
static xpu_status puzzles(xpu_arena *arena, xpu_diags *diags) {
    enum { PUZZLES = 7, PIECES = 120 };
    uint32_t solved = 0;
    uint64_t most = 0;
    for (uint32_t seed = 1; seed <= PUZZLES; seed++) {
        xpu_memplan_item items[PIECES];
        uint64_t proved;
        random_state = seed * UINT64_C(0x9e3779b97f4a7c15);
        cut(items, PIECES);
        uint64_t first = pack(arena, items, PIECES, 1, &proved);
        CU_ASSERT(first >= HEIGHT * UNIT && first < 2 * HEIGHT * UNIT);
        uint64_t usual = pack(arena, items, PIECES, XPU_MEMPLAN_DEFAULT_BUDGET, &proved);
        CU_ASSERT_EQUAL(proved, HEIGHT * UNIT);
        solved += usual == proved;
        if (usual > most) most = usual;
    }
    printf("(%" PRIu32 " of %d optimal, at most %.1f %% above) ", solved, PUZZLES,
           100.0 * (double)(most - HEIGHT * UNIT) / (HEIGHT * UNIT));
    CU_ASSERT(solved >= PUZZLES && most <= HEIGHT * UNIT * 105 / 100);
    (void)diags;
    return XPU_OK;
}

/* More than the exact search takes: the skyline, and windows of it placed anew, of lives up to `longest` steps and
 * sizes up to `most` units; at most so many thousandths above the bound. */
static xpu_status crowd(xpu_arena *arena, uint32_t count, uint32_t longest, uint32_t most, uint32_t permille,
                        int pinned) {
    xpu_memplan_item *items = XPU_NEW_ARRAY(arena, xpu_memplan_item, count);
    random_state = 77;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t first = random_below(count);
        items[i] = (xpu_memplan_item){.id = i,
                                      .life.first = first,
                                      .life.last = first + random_below(longest),
                                      .bytes = UNIT * (uint64_t)random_below(most),
                                      .alignment = UNIT,
                                      .forced = 1};
    }
    if (pinned)
        items[5] = (xpu_memplan_item){.life.last = count, .bytes = UNIT, .alignment = UNIT, .forced = 1, .pinned = 1};
    xpu_memplan_item *again = xpu_copy(arena, items, count * sizeof *items);
    const uint64_t bound = xpu_memplan_bound(arena, items, count, 0);
    uint64_t proved, first = pack(arena, items, count, 1, &proved);
    uint64_t peak = pack(arena, items, count, XPU_MEMPLAN_DEFAULT_BUDGET, &proved);
    printf("(%" PRIu32 ": %.1f %%, then %.1f %% above) ", count, 100.0 * (double)(first - bound) / (double)bound,
           100.0 * (double)(peak - bound) / (double)bound);
    CU_ASSERT(peak >= bound && peak <= bound + bound * permille / 1000);
    CU_ASSERT_EQUAL(pack(arena, again, count, XPU_MEMPLAN_DEFAULT_BUDGET, &proved), peak);
    for (uint32_t i = 0; i < count; i++) CU_ASSERT_EQUAL(items[i].offset, again[i].offset);
    return XPU_OK;
}

static xpu_status crowds(xpu_arena *arena, xpu_diags *diags) {
    (void)diags;
    crowd(arena, 2000, 40, 1000, 30, 0);
    crowd(arena, 2000, 40, 1000, 30, 1);
    crowd(arena, 5000, 40, 1000, 30, 0);
    return crowd(arena, 8000, 300, 200, 15, 0);
}

/* Sizes that are not whole: the bound knows that nothing can begin in between, and is reached. */
static xpu_status padded(xpu_arena *arena, xpu_diags *diags) {
    (void)diags;
    xpu_memplan_item items[] = {{.life.last = 3, .bytes = 100, .alignment = 64, .forced = 1},
                                {.life.last = 3, .bytes = 130, .alignment = 64, .forced = 1},
                                {.life.first = 1, .life.last = 2, .bytes = 65, .alignment = 64, .forced = 1},
                                {.life.first = 3, .life.last = 4, .bytes = 60, .alignment = 64, .forced = 1}};
    uint32_t worst;
    uint64_t proved;
    CU_ASSERT_EQUAL(xpu_memplan_load(arena, items, 4, 0, &worst), 295);
    CU_ASSERT_EQUAL(xpu_memplan_bound(arena, items, 4, 0), 128 + 192 + 65);
    CU_ASSERT_EQUAL(xpu_memplan_bound(arena, items, 4, 32), 32 + 128 + 192 + 65);
    CU_ASSERT_EQUAL(pack(arena, items, 4, XPU_MEMPLAN_DEFAULT_BUDGET, &proved), 128 + 192 + 65);
    CU_ASSERT_EQUAL(proved, 128 + 192 + 65);
    return XPU_OK;
}

/* Items that have nowhere else to go and need more than there is: nobody looks for a place for long. */
static xpu_status no_hope(xpu_arena *arena, xpu_diags *diags) {
    enum { MANY = 300, END = 200000 };
    (void)diags;
    xpu_memplan_item items[MANY];
    random_state = 5;
    for (uint32_t i = 0; i < MANY; i++)
        items[i] = (xpu_memplan_item){.id = i,
                                      .life.first = i,
                                      .life.last = i + 1 + random_below(40),
                                      .bytes = UNIT * (uint64_t)(1 + random_below(1000)),
                                      .alignment = UNIT,
                                      .forced = 1};
    uint64_t steps = 0, proved;
    CU_ASSERT(xpu_memplan_bound(arena, items, MANY, 0) > END);
    CU_ASSERT(xpu_memplan_pack(arena, items, MANY, 0, END, 250000, &steps, &proved) > 0);
    CU_ASSERT(steps < 500000);
    return XPU_OK;
}

static void run(xpu_status (*test)(xpu_arena *, xpu_diags *)) {
    xpu_mem mem;
    xpu_mem_init(&mem);
    if (setjmp(mem.out_of_memory)) {
        CU_FAIL("out of memory");
    } else {
        test(xpu_arena_new(&mem, "test"), NULL);
    }
    xpu_mem_release(&mem);
}

static void puzzles_are_solved(void) {
    run(puzzles);
}

static void crowds_are_packed(void) {
    run(crowds);
}

static void padding_counts(void) {
    run(padded);
}

static void hopeless_ones_end(void) {
    run(no_hope);
}

XPU_TEST_MAIN("packing of many buffers", {"puzzles", puzzles_are_solved}, {"crowds", crowds_are_packed},
              {"padding", padding_counts}, {"hopeless", hopeless_ones_end})
