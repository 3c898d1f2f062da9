#include "memplan/memplan.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "memplan/check.h"
#include "memplan/report.h"
#include "memplan/rules.h"
#include "tests/unit/memplan.h"
#include "tests/unit/oom.h"
#include "tests/unit/random.h"
#include "tests/unit/unit.h"

static int one_in(uint32_t n) {
    return random_below(n) == 0;
}

static void random_levels(xpu_memplan_problem *problem, xpu_memplan_level *made) {
    static const char *const names[] = {"SM", "L3", "GM"};
    problem->levels = made;
    problem->level_count = 1 + random_below(3);
    for (uint32_t i = 0; i < problem->level_count; i++) {
        uint64_t bytes =
            i + 1 == problem->level_count ? (one_in(5) ? 4000 : 1u << 20) : 1000u + random_below(3000) * (1 + 4 * i);
        made[i] = (xpu_memplan_level){.name = names[i], .bytes = bytes};
        made[i].reserved = random_below(3) * 64u;
        made[i].alignment = 1u << random_below(7);
        made[i].bytes_per_cycle = one_in(3) ? 0 : 256u >> (2 * i);
    }
}

static void random_gaps(xpu_arena *arena, xpu_memplan_buffer *b) {
    xpu_memplan_steps *gaps = XPU_NEW_ARRAY(arena, xpu_memplan_steps, 40);
    b->gaps = gaps;
    for (uint32_t at = b->first; at + 2 <= b->last && !one_in(4); at = gaps[b->gap_count - 1].last + 1) {
        xpu_memplan_steps *gap = &gaps[b->gap_count++];
        gap->first = at + 1 + random_below(b->last - at - 1);
        gap->last = gap->first + random_below(b->last - gap->first);
    }
}

static int live_together(const xpu_memplan_buffer *a, const xpu_memplan_buffer *b) {
    for (uint32_t step = a->first; step <= a->last; step++) {
        int both = step >= b->first && step <= b->last;
        for (uint32_t i = 0; i < a->gap_count; i++) both &= step < a->gaps[i].first || step > a->gaps[i].last;
        for (uint32_t i = 0; i < b->gap_count; i++) both &= step < b->gaps[i].first || step > b->gaps[i].last;
        if (both) return 1;
    }
    return 0;
}

static void random_buffer(xpu_arena *arena, const xpu_memplan_problem *problem, uint32_t index, uint32_t *pins,
                          xpu_memplan_buffer *b) {
    *b = (xpu_memplan_buffer){.name = xpu_printf(arena, "layer%" PRIu32 "/b%" PRIu32, index % 5, index),
                              .bytes = one_in(20) ? 0 : 1 + random_below(one_in(4) ? 2000 : 300),
                              .alignment = one_in(3) ? 0 : 1u << random_below(6),
                              .first = random_below(40),
                              .kind = (xpu_memplan_kind)random_below(XPU_MEMPLAN_KIND_COUNT),
                              .access_bytes = one_in(2) ? 0 : random_below(100000)};
    b->last = b->first + (one_in(8) ? 40 - b->first % 40 : random_below(6));
    if (one_in(4)) random_gaps(arena, b);
    uint32_t start = random_below(problem->level_count);
    for (uint32_t i = 0; i < problem->level_count; i++) {
        uint32_t level = (start + i) % problem->level_count;
        if (i == 0 || level + 1 == problem->level_count || !one_in(3)) b->levels[b->level_count++] = (uint8_t)level;
    }
    if (one_in(30) && problem->levels[problem->level_count - 1].bytes > 6000) {
        b->level_count = 1;
        b->pinned = 1;
        b->levels[0] = (uint8_t)(problem->level_count - 1);
        b->pinned_offset = 100 + 2100 * (*pins)++;
        b->alignment = 0;
    }
}

/* An alternative that is legal by itself; the lives of its buffers are bent until it is. */
static int random_alias(xpu_memplan_buffer *buffers, uint32_t count, xpu_memplan_alias *alias) {
    *alias = (xpu_memplan_alias){.buffer = random_below(count), .other = random_below(count)};
    alias->kind = (xpu_memplan_alias_kind)random_below(3);
    xpu_memplan_buffer *b = &buffers[alias->buffer], *other = &buffers[alias->other];
    if (alias->buffer == alias->other || b->pinned || other->pinned) return 0;
    if (alias->kind == XPU_MEMPLAN_IN_PLACE) {
        if (one_in(2)) other->bytes = b->bytes + random_below(8);
        alias->offset = random_below(3);
        return 1;
    }
    if (b->bytes > other->bytes) return 0;
    alias->offset = random_below((uint32_t)(other->bytes - b->bytes) + 1);
    if (alias->kind == XPU_MEMPLAN_PART) {
        uint32_t rows = 1 + random_below(4);
        if (one_in(2) && other->bytes >= 16 * rows) {
            alias->pitch = other->bytes / rows;
            alias->rows = rows;
            alias->row_bytes = 1 + random_below((uint32_t)alias->pitch / 2);
            alias->offset = random_below((uint32_t)(alias->pitch - alias->row_bytes) + 1);
        }
        return b->first <= other->first && other->first <= b->last;
    }
    return other->first <= b->first && b->first <= other->last;
}

static void random_rules(xpu_arena *arena, xpu_memplan_problem *problem) {
    uint32_t count = one_in(2) ? 0 : random_below(4);
    xpu_memplan_rule *rules = XPU_NEW_ARRAY(arena, xpu_memplan_rule, count);
    xpu_memplan_match *matches = XPU_NEW_ARRAY(arena, xpu_memplan_match, 4 * count);
    for (uint32_t i = 0; i < count; i++) {
        rules[i] = (xpu_memplan_rule){xpu_printf(arena, "rule %" PRIu32, i + 1), random_below(problem->level_count),
                                      one_in(2) ? XPU_MEMPLAN_PREFER : (xpu_memplan_strength)random_below(3)};
        for (uint32_t k = 0; k < 4; k++) {
            matches[problem->match_count++] = (xpu_memplan_match){random_below(problem->buffer_count), i};
        }
    }
    problem->rules = rules;
    problem->rule_count = count;
    problem->matches = matches;
}

static xpu_memplan_problem random_problem(xpu_arena *arena, uint64_t seed) {
    random_state = seed * UINT64_C(0x9e3779b97f4a7c15) + 1;
    for (int i = 0; i < 8; i++) random_below(2);
    xpu_memplan_problem problem = {0};
    random_levels(&problem, XPU_NEW_ARRAY(arena, xpu_memplan_level, 3));
    problem.buffer_count = 1 + random_below(one_in(5) ? 200 : 30);
    xpu_memplan_buffer *buffers = XPU_NEW_ARRAY(arena, xpu_memplan_buffer, problem.buffer_count);
    uint32_t pins = 0;
    for (uint32_t i = 0; i < problem.buffer_count; i++) random_buffer(arena, &problem, i, &pins, &buffers[i]);
    XPU_ARRAY(xpu_memplan_alias) aliases = {0};
    for (uint32_t i = 0; i < 8 * problem.buffer_count; i++) {
        xpu_memplan_alias alias;
        if (!random_alias(buffers, problem.buffer_count, &alias)) continue;
        XPU_PUSH(arena, &aliases, alias);
    }
    uint32_t kept = 0; /* a buffer may have changed its size after it was looked at */
    for (uint32_t i = 0; i < aliases.count; i++) {
        const xpu_memplan_alias *a = &aliases.items[i];
        uint64_t bytes = a->rows ? (a->rows - 1) * a->pitch + a->row_bytes : buffers[a->buffer].bytes;
        int fits = a->kind == XPU_MEMPLAN_IN_PLACE || a->offset + bytes <= buffers[a->other].bytes;
        if (fits) aliases.items[kept++] = *a;
    }
    aliases.count = kept;
    problem.buffers = buffers;
    problem.aliases = aliases.items;
    problem.alias_count = aliases.count;
    random_rules(arena, &problem);
    return problem;
}

static int same_plans(const xpu_memplan *a, const xpu_memplan *b) {
    if (a->buffer_count != b->buffer_count || a->spill_count != b->spill_count || a->steps_used != b->steps_used) {
        return 0;
    }
    for (uint32_t i = 0; i < a->buffer_count; i++) {
        const xpu_memplan_place *x = &a->places[i], *y = &b->places[i];
        if (x->level != y->level || x->offset != y->offset || x->alias != y->alias) return 0;
    }
    return 1;
}

enum { RANDOM_PROBLEMS = 300 };

static struct {
    unsigned planned, no_room, no_rules, bad, aliases, rows, spills, collisions, in_gaps;
} seen;

/* Puts one buffer on another that lives at the same time and shares no bytes with it: the validator must see it. */
static void collide(xpu_arena *arena, const xpu_memplan_problem *problem, xpu_memplan *plan) {
    for (uint32_t tries = 0; tries < 50; tries++) {
        uint32_t a = random_below(plan->buffer_count), b = random_below(plan->buffer_count);
        const xpu_memplan_buffer *x = &problem->buffers[a], *y = &problem->buffers[b];
        xpu_memplan_place *p = &plan->places[a], *q = &plan->places[b];
        int together = p->level == q->level && live_together(x, y);
        if (a == b || !together || !x->bytes || !y->bytes || p->alias != q->alias || p->offset == q->offset) continue;
        uint64_t kept = p->offset;
        p->offset = q->offset;
        xpu_diags own;
        xpu_diags_init(&own);
        CU_ASSERT_EQUAL(xpu_memplan_check(arena, problem, plan, &own), XPU_EBUG);
        xpu_diags_clear(&own);
        p->offset = kept;
        seen.collisions++;
        return;
    }
}

/* Whether two buffers share bytes because one lives in gaps of the other. */
static unsigned use_a_gap(const xpu_memplan_problem *problem, const xpu_memplan *plan, uint32_t a, uint32_t b) {
    const xpu_memplan_buffer *x = &problem->buffers[a], *y = &problem->buffers[b];
    const xpu_memplan_place *p = &plan->places[a], *q = &plan->places[b];
    return (x->gap_count || y->gap_count) && p->level == q->level && x->first <= y->last && y->first <= x->last &&
           p->offset < q->offset + y->bytes && q->offset < p->offset + x->bytes;
}

static void random_one(xpu_arena *arena, uint64_t seed, xpu_diags *diags) {
    xpu_memplan_problem problem = random_problem(arena, seed);
    xpu_memplan_options options = {.step_budget = 20000};
    xpu_memplan *plan, *again;
    xpu_status status = xpu_memplan_make(arena, &problem, &options, &plan, diags);
    if (status != XPU_OK) {
        const char *rule = diags->items[0].rule;
        seen.no_room += strcmp(rule, "plan-capacity") == 0;
        seen.no_rules += strcmp(rule, "plan-rules") == 0;
        seen.bad += strcmp(rule, "plan-problem") == 0;
        CU_ASSERT_PTR_NULL(plan);
        return;
    }
    seen.planned++;
    seen.spills += plan->spill_count;
    for (uint32_t i = 0; i < plan->buffer_count; i++) {
        seen.aliases += plan->places[i].alias != XPU_MEMPLAN_NONE;
        seen.rows += plan->places[i].alias != XPU_MEMPLAN_NONE && problem.aliases[plan->places[i].alias].rows > 1;
        for (uint32_t k = 0; k < i; k++) seen.in_gaps += use_a_gap(&problem, plan, i, k);
    }
    status = xpu_memplan_check(arena, &problem, plan, diags);
    if (status != XPU_OK) fprintf(stderr, "\nseed %" PRIu64 ":\n%s", seed, all_text(arena, diags));
    CU_ASSERT_EQUAL(status, XPU_OK);
    CU_ASSERT_EQUAL(xpu_memplan_make(arena, &problem, &options, &again, diags), XPU_OK);
    if (again) CU_ASSERT(same_plans(plan, again));
    collide(arena, &problem, plan);
}

typedef void (*seed_work)(xpu_arena *arena, uint64_t seed, xpu_diags *diags);

static void run_seed(uint64_t seed, seed_work work) {
    xpu_mem mem;
    xpu_mem_init(&mem);
    if (setjmp(mem.out_of_memory)) {
        xpu_mem_release(&mem);
        CU_FAIL("out of memory");
        return;
    }
    xpu_diags diags;
    xpu_diags_init(&diags);
    work(xpu_arena_new(&mem, "test"), seed, &diags);
    xpu_diags_clear(&diags);
    xpu_mem_release(&mem);
    CU_ASSERT_EQUAL(mem.bytes, 0);
}

static void for_seeds(uint64_t first, uint64_t count, seed_work work) {
    printf("seeds %" PRIu64 " to %" PRIu64 " ", first, first + count - 1);
    for (uint64_t seed = first; seed < first + count; seed++) run_seed(seed, work);
}

static void random_problems(void) {
    const char *count = getenv("XPU_TEST_INSTANCES"); /* the long tests ask for 100,000 */
    for_seeds(1, count ? strtoull(count, NULL, 10) : RANDOM_PROBLEMS, random_one);
    printf("(%u plans with %u aliases, %u of them of rows, %u in gaps, %u spills; %u without room, %u against rules) ",
           seen.planned, seen.aliases, seen.rows, seen.in_gaps, seen.spills, seen.no_room, seen.no_rules);
    CU_ASSERT_EQUAL(seen.bad, 0);
    CU_ASSERT(seen.collisions > RANDOM_PROBLEMS / 3);
    CU_ASSERT(seen.planned > RANDOM_PROBLEMS / 2);
    CU_ASSERT(seen.aliases > 100 && seen.rows > 10 && seen.in_gaps > 10 && seen.spills > 100 && seen.no_rules > 5 &&
              seen.no_room > 5);
}

/* ---- against the best of all orders ---- */

static uint64_t lowest_peak(const xpu_memplan_buffer *buffers, uint32_t count, uint32_t placed, uint64_t *offset,
                            uint32_t used, uint64_t peak, uint64_t best) {
    if (placed == count || peak >= best) return peak < best ? peak : best;
    for (uint32_t i = 0; i < count; i++) {
        if (used & 1u << i) continue;
        offset[i] = 0;
        for (int moved = 1; moved;) { /* up, until it meets nobody */
            moved = 0;
            for (uint32_t k = 0; k < count; k++) {
                if (!(used & 1u << k) || buffers[k].first > buffers[i].last || buffers[i].first > buffers[k].last)
                    continue;
                if (offset[k] >= offset[i] + buffers[i].bytes || offset[i] >= offset[k] + buffers[k].bytes) continue;
                offset[i] = offset[k] + buffers[k].bytes;
                moved = 1;
            }
        }
        uint64_t end = offset[i] + buffers[i].bytes;
        best = lowest_peak(buffers, count, placed + 1, offset, used | 1u << i, end > peak ? end : peak, best);
    }
    return best;
}

static void optimal_one(xpu_arena *arena, uint64_t seed, xpu_diags *diags) {
    random_state = seed * UINT64_C(0x9e3779b97f4a7c15) + 1;
    xpu_memplan_level level = {.name = "SM", .bytes = 1 << 20};
    xpu_memplan_buffer buffers[6];
    for (uint32_t i = 0; i < 6; i++) {
        buffers[i] = (xpu_memplan_buffer){.bytes = 1 + random_below(9), .first = random_below(8), .level_count = 1};
        buffers[i].last = buffers[i].first + random_below(4);
    }
    xpu_memplan_problem problem = {.levels = &level, .level_count = 1, .buffers = buffers, .buffer_count = 6};
    xpu_memplan *plan;
    xpu_memplan_options options = {.step_budget = 100000};
    CU_ASSERT_EQUAL_FATAL(xpu_memplan_make(arena, &problem, &options, &plan, diags), XPU_OK);
    uint64_t offset[6], best = lowest_peak(buffers, 6, 0, offset, 0, 0, UINT64_MAX);
    if (plan->usage[0].peak != best) {
        fprintf(stderr, "\nseed %" PRIu64 ": peak %" PRIu64 ", possible %" PRIu64 "\n", seed, plan->usage[0].peak,
                best);
    }
    CU_ASSERT_EQUAL(plan->usage[0].peak, best);
    CU_ASSERT(plan->usage[0].lower_bound <= best);
}

static void optimal(void) {
    for_seeds(1000, 200, optimal_one);
}
/* ---- no memory, many buffers, real instances ---- */

static xpu_status everything_work(xpu_arena *arena, xpu_diags *diags) {
    static const char rules_text[] =
        "{\"rules\": [{\"match\": \"*/b1*\", \"level\": \"GM\", \"strength\": \"prefer\"}]}";
    xpu_memplan_problem problem = random_problem(arena, 3);
    xpu_memory_rules rules;
    xpu_memplan_options options = {.step_budget = 2000};
    xpu_memplan *plan;
    xpu_status status = xpu_memory_rules_parse(arena, rules_text, strlen(rules_text), "rules.json", &rules, diags);
    if (status == XPU_OK) status = xpu_memory_rules_apply(arena, &rules, &problem, diags);
    if (status == XPU_OK) status = xpu_memplan_make(arena, &problem, &options, &plan, diags);
    if (status == XPU_OK) status = xpu_memplan_check(arena, &problem, plan, diags);
    if (status == XPU_OK) {
        xpu_memplan_text(arena, &problem, plan);
        xpu_memplan_json(arena, &problem, plan);
    }
    return status;
}

static void no_memory(void) {
    unsigned long count = xpu_fail_each_allocation(everything_work, 1);
    printf("(%lu allocations) ", count);
    CU_ASSERT(count > 20);
}

static void many_buffers_one(xpu_arena *arena, uint64_t seed, xpu_diags *diags) {
    enum { COUNT = 5000 };
    random_state = seed;
    xpu_memplan_level three[] = {{"SM", 262144, 1024, 64, 512, NULL},
                                 {"L3", 4 << 20, 0, 64, 64, NULL},
                                 {"GM", UINT64_C(1) << 32, 0, 64, 32, NULL}};
    xpu_memplan_buffer *buffers = XPU_NEW_ARRAY(arena, xpu_memplan_buffer, COUNT);
    for (uint32_t i = 0; i < COUNT; i++) {
        int weight = i % 3 == 0;
        buffers[i] = (xpu_memplan_buffer){.bytes = 64 + 64 * random_below(1000),
                                          .first = weight ? 0 : i,
                                          .last = weight ? COUNT + 10 : i + random_below(8),
                                          .alignment = 64,
                                          .levels = {SM, L3, GM},
                                          .level_count = 3};
    }
    xpu_memplan_problem problem = {.levels = three, .level_count = 3, .buffers = buffers, .buffer_count = COUNT};
    xpu_memplan_options options = {.step_budget = 1};
    xpu_memplan *plan;
    double start = xpu_seconds();
    CU_ASSERT_EQUAL_FATAL(xpu_memplan_make(arena, &problem, &options, &plan, diags), XPU_OK);
    double planned = xpu_seconds();
    CU_ASSERT_EQUAL(xpu_memplan_check(arena, &problem, plan, diags), XPU_OK);
    printf("(%.1f ms, check %.1f ms) ", (planned - start) * 1e3, (xpu_seconds() - planned) * 1e3);
    CU_ASSERT(plan->steps_used < 20000000);
}

static void many_buffers(void) {
    for_seeds(7, 1, many_buffers_one);
}

/* The instances of minimalloc, where a checkout has them: XPU_SHARED names the folder that has memplan/NAME.csv. */
static void instance_one(xpu_arena *arena, uint64_t seed, xpu_diags *diags) {
    const char *shared = getenv("XPU_SHARED");
    char *path = xpu_printf(arena, "%s/memplan/%c.1048576.csv", shared ? shared : "", 'A' + (int)seed);
    if (!shared || !xpu_file_exists(path)) {
        printf("skipped ");
        return;
    }
    size_t length;
    char *text = xpu_file_read_all(arena, path, 1 << 20, &length, diags);
    CU_ASSERT_PTR_NOT_NULL_FATAL(text);
    XPU_ARRAY(xpu_memplan_buffer) buffers = {0};
    for (char *line = strchr(text, '\n'); line && line[1]; line = strchr(line + 1, '\n')) {
        uint32_t first = 0, end = 0;
        uint64_t bytes = 0;
        CU_ASSERT_EQUAL_FATAL(sscanf(line, "%*u,%" SCNu32 ",%" SCNu32 ",%" SCNu64, &first, &end, &bytes), 3);
        xpu_memplan_buffer buffer = {.bytes = bytes, .first = first, .last = end - 1, .level_count = 1};
        XPU_PUSH(arena, &buffers, buffer);
    }
    xpu_memplan_level level = {.name = "SM", .bytes = 1 << 30};
    xpu_memplan_problem problem = {
        .levels = &level, .level_count = 1, .buffers = buffers.items, .buffer_count = buffers.count};
    xpu_memplan *plan;
    CU_ASSERT_EQUAL_FATAL(xpu_memplan_make(arena, &problem, NULL, &plan, diags), XPU_OK);
    CU_ASSERT_EQUAL(xpu_memplan_check(arena, &problem, plan, diags), XPU_OK);
    printf("%c %.3f ", 'A' + (int)seed, (double)plan->usage[0].peak / 1048576);
    CU_ASSERT(plan->usage[0].peak < 1.5 * 1048576);
}

static void instances(void) {
    for_seeds(0, getenv("XPU_SHARED") ? 11 : 1, instance_one);
}
XPU_TEST_MAIN("memory plans of random problems", {"random problems", random_problems}, {"best of all orders", optimal},
              {"no memory", no_memory}, {"5000 buffers", many_buffers}, {"instances of minimalloc", instances})
