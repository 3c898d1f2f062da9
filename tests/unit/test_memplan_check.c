#include "memplan/check.h"

#include <stdio.h>
#include <string.h>

#include "tests/unit/memplan.h"
#include "tests/unit/oom.h"
#include "tests/unit/unit.h"

typedef struct {
    const char *name, *rule;
    void (*damage)(xpu_memplan *plan);
} mutation;
static void wrong_size(xpu_memplan *p) {
    p->buffer_count--;
}
static void wrong_levels(xpu_memplan *p) {
    p->level_count++;
}
static void unknown_level(xpu_memplan *p) {
    p->places[0].level = 9;
}
static void forbidden_level(xpu_memplan *p) {
    p->places[0].level = L3;
}
static void unaligned(xpu_memplan *p) {
    p->places[0].offset += 16;
}
static void unaligned_allocation(xpu_memplan *p) {
    p->places[1].offset += 8;
}
static void beyond_the_end(xpu_memplan *p) {
    p->places[1].offset = 1024 - 256;
}
static void far_away(xpu_memplan *p) {
    p->places[1].offset = UINT64_MAX - 15;
}
static void in_reserved_bytes(xpu_memplan *p) {
    p->places[1].offset = 48;
}
static void moved_pin(xpu_memplan *p) {
    p->places[4].offset += 64;
}
static void pin_made_alias(xpu_memplan *p) {
    p->places[4].alias = 0, p->places[4].alias_of = 3;
}
static void undeclared_alias(xpu_memplan *p) {
    p->places[1].alias_of = 0;
}
static void unknown_alias(xpu_memplan *p) {
    p->places[1].alias = 77;
}
static void alias_of_another(xpu_memplan *p) {
    p->places[2].alias_of = 1;
}
static void alias_of_nobody(xpu_memplan *p) {
    p->places[2].alias_of = XPU_MEMPLAN_NONE;
}
static void moved_alias(xpu_memplan *p) {
    p->places[2].offset -= 64;
}
static void alias_in_another_level(xpu_memplan *p) {
    p->places[2].level = GM;
}
static void lost_alias(xpu_memplan *p) {
    p->places[2].alias = p->places[2].alias_of = XPU_MEMPLAN_NONE;
}
static void lost_in_place(xpu_memplan *p) {
    p->places[5].alias = p->places[5].alias_of = XPU_MEMPLAN_NONE;
}
static void on_another(xpu_memplan *p) {
    p->places[1].offset = p->places[0].offset;
}
static void a_byte_too_near(xpu_memplan *p) {
    uint32_t low = p->places[0].offset < p->places[1].offset ? 0 : 1;
    p->places[1 - low].offset = p->places[low].offset + (low == 0 ? 96 : 288);
}
static void against_must(xpu_memplan *p) {
    p->places[0].level = GM;
}
static void against_never(xpu_memplan *p) {
    p->places[1].level = L3, p->places[1].offset = 2048;
}
static void wrong_peak(xpu_memplan *p) {
    p->usage[SM].peak++;
}
static void wrong_bound(xpu_memplan *p) {
    p->usage[L3].lower_bound--;
}
static void wrong_gap(xpu_memplan *p) {
    p->usage[L3].gap++;
}
static void wrong_count(xpu_memplan *p) {
    p->usage[GM].buffers++;
}
static void wrong_capacity(xpu_memplan *p) {
    p->usage[GM].capacity++;
}
static void hidden_spill(xpu_memplan *p) {
    p->spill_count = 0;
}
static void spill_of_another(xpu_memplan *p) {
    p->spills[0].buffer = 0;
}
static void spill_from_elsewhere(xpu_memplan *p) {
    p->spills[0].preferred = GM;
}
static void spill_without_reason(xpu_memplan *p) {
    p->spills[0].why = NULL;
}

#define MUTATION(name, rule) {#name, rule, name}
static const mutation mutations[] = {
    MUTATION(wrong_size, "check-size"),
    MUTATION(wrong_levels, "check-size"),
    MUTATION(unknown_level, "check-level"),
    MUTATION(forbidden_level, "check-level"),
    MUTATION(unaligned, "check-align"),
    MUTATION(unaligned_allocation, "check-align"),
    MUTATION(beyond_the_end, "check-bounds"),
    MUTATION(far_away, "check-bounds"),
    MUTATION(in_reserved_bytes, "check-bounds"),
    MUTATION(moved_pin, "check-pinned"),
    MUTATION(pin_made_alias, "check-pinned"),
    MUTATION(undeclared_alias, "check-alias"),
    MUTATION(unknown_alias, "check-alias"),
    MUTATION(alias_of_another, "check-alias"),
    MUTATION(alias_of_nobody, "check-alias"),
    MUTATION(moved_alias, "check-alias"),
    MUTATION(alias_in_another_level, "check-alias"),
    MUTATION(lost_alias, "check-overlap"),
    MUTATION(lost_in_place, "check-overlap"),
    MUTATION(on_another, "check-overlap"),
    MUTATION(a_byte_too_near, "check-overlap"),
    MUTATION(against_must, "check-rule"),
    MUTATION(against_never, "check-rule"),
    MUTATION(wrong_peak, "check-usage"),
    MUTATION(wrong_bound, "check-usage"),
    MUTATION(wrong_gap, "check-usage"),
    MUTATION(wrong_count, "check-usage"),
    MUTATION(wrong_capacity, "check-usage"),
    MUTATION(hidden_spill, "check-spill"),
    MUTATION(spill_of_another, "check-spill"),
    MUTATION(spill_from_elsewhere, "check-spill"),
    MUTATION(spill_without_reason, "check-spill"),
};

static xpu_status mutations_work(xpu_arena *arena, xpu_diags *diags) {
    xpu_memplan_problem problem = problem_of(&sound);
    for (size_t i = 0; i < sizeof mutations / sizeof *mutations; i++) {
        xpu_memplan *plan;
        CU_ASSERT_EQUAL_FATAL(xpu_memplan_make(arena, &problem, NULL, &plan, diags), XPU_OK);
        CU_ASSERT_EQUAL_FATAL(xpu_memplan_check(arena, &problem, plan, diags), XPU_OK);
        mutations[i].damage(plan);
        xpu_diags own;
        xpu_diags_init(&own);
        CU_ASSERT_EQUAL(xpu_memplan_check(arena, &problem, plan, &own), XPU_EBUG);
        int caught = 0;
        for (size_t k = 0; k < own.count; k++) caught |= strcmp(own.items[k].rule, mutations[i].rule) == 0;
        if (!caught) {
            fprintf(stderr, "\n%s is not caught by %s: %s\n", mutations[i].name, mutations[i].rule,
                    all_text(arena, &own));
        }
        CU_ASSERT(caught);
        xpu_diags_clear(&own);
    }
    return XPU_OK;
}

static void damaged_plans(void) {
    xpu_diags diags;
    xpu_diags_init(&diags);
    CU_ASSERT_EQUAL(xpu_run_work(mutations_work, &diags), XPU_OK);
    xpu_diags_clear(&diags);
}

/* Aliases that no plan may take, taken by hand: both buffers stand at 64. */
typedef struct {
    const char *name;
    xpu_memplan_buffer buffers[3];
    xpu_memplan_alias aliases[2];
    uint64_t offsets[3];
    const char *rule;
} taken_case;

static const taken_case taken_cases[] = {
    {"overwrites what lives on",
     {BUFFER("a", 64, 0, 4, SM), BUFFER("b", 64, 3, 5, SM)},
     {ALIAS(1, 0, IN_PLACE, 0)},
     {64, 64, 0},
     "check-alias"},
    {"parts on the same bytes",
     {BUFFER("c", 128, 4, 5, SM), BUFFER("x", 64, 0, 4, SM), BUFFER("y", 64, 0, 4, SM)},
     {ALIAS(1, 0, PART, 0), ALIAS(2, 0, PART, 48)},
     {64, 64, 112},
     "check-overlap"},
    {"rows on the same bytes",
     {BUFFER("c", 128, 4, 5, SM), BUFFER("x", 64, 0, 4, SM), BUFFER("y", 64, 0, 4, SM)},
     {{1, 0, XPU_MEMPLAN_PART, 0, 4, 20, 32}, {2, 0, XPU_MEMPLAN_PART, 16, 4, 16, 32}},
     {64, 64, 80},
     "check-overlap"},
    {"an alias of rows with gaps",
     {BUFFER("c", 128, 4, 5, SM), BUFFER("x", 64, 0, 4, SM), BUFFER("y", 64, 4, 6, SM)},
     {{1, 0, XPU_MEMPLAN_PART, 0, 4, 16, 32}, ALIAS(2, 1, IN_PLACE, 0)},
     {64, 64, 64},
     "check-alias"},
    {"overwrites the whole by way of its part",
     {BUFFER("c", 128, 4, 6, SM), BUFFER("x", 64, 0, 5, SM), BUFFER("y", 64, 5, 7, SM)},
     {ALIAS(1, 0, PART, 0), ALIAS(2, 1, IN_PLACE, 0)},
     {64, 64, 64},
     "check-overlap"},
    {"a circle",
     {BUFFER("a", 64, 0, 3, SM), BUFFER("b", 64, 3, 3, SM)},
     {ALIAS(0, 1, PART, 0), ALIAS(1, 0, IN_PLACE, 0)},
     {64, 64, 0},
     "check-alias"},
    {"a part of a view",
     {BUFFER("a", 64, 0, 9, SM), BUFFER("v", 64, 4, 9, SM), BUFFER("x", 64, 1, 4, SM)},
     {ALIAS(1, 0, VIEW, 0), ALIAS(2, 1, PART, 0)},
     {64, 64, 64},
     "check-alias"},
};

static xpu_status taken_work(xpu_arena *arena, xpu_diags *diags) {
    (void)diags;
    for (size_t i = 0; i < sizeof taken_cases / sizeof *taken_cases; i++) {
        const taken_case *t = &taken_cases[i];
        xpu_memplan_problem problem = {
            .levels = levels, .level_count = 3, .buffers = t->buffers, .aliases = t->aliases};
        problem.buffer_count = t->buffers[2].name ? 3 : 2;
        problem.alias_count = t->aliases[1].buffer != t->aliases[1].other ? 2 : 1;
        xpu_memplan_place places[3];
        xpu_memplan_usage usage[3] = {0};
        for (uint32_t b = 0; b < problem.buffer_count; b++) {
            places[b] = (xpu_memplan_place){SM, t->offsets[b], XPU_MEMPLAN_NONE, XPU_MEMPLAN_NONE};
        }
        for (uint32_t a = 0; a < problem.alias_count; a++) {
            places[t->aliases[a].buffer].alias = a;
            places[t->aliases[a].buffer].alias_of = t->aliases[a].other;
        }
        xpu_memplan plan = {.places = places, .buffer_count = problem.buffer_count, .usage = usage, .level_count = 3};
        xpu_diags own;
        xpu_diags_init(&own);
        CU_ASSERT_EQUAL(xpu_memplan_check(arena, &problem, &plan, &own), XPU_EBUG);
        const char *rule = own.count ? own.items[0].rule : "nothing";
        if (strcmp(rule, t->rule) != 0) fprintf(stderr, "\n%s: %s instead of %s\n", t->name, rule, t->rule);
        CU_ASSERT_STRING_EQUAL(rule, t->rule);
        xpu_diags_clear(&own);
    }
    return XPU_OK;
}

static void illegal_aliases(void) {
    CU_ASSERT_EQUAL(xpu_run_work(taken_work, NULL), XPU_OK);
}
XPU_TEST_MAIN("validator of memory plans", {"damaged plans", damaged_plans}, {"illegal aliases", illegal_aliases})
