/* What the tests of the memory planner share: a small problem on one page, and comparing texts. */
#ifndef XPU_TESTS_MEMPLAN_H
#define XPU_TESTS_MEMPLAN_H

#include <CUnit/CUnit.h>
#include <stdio.h>
#include <string.h>

#include "memplan/memplan.h"

/* Every diagnostic as text, one after the other. */
static inline char *all_text(xpu_arena *arena, const xpu_diags *diags) {
    xpu_text text;
    xpu_text_init(&text, arena);
    for (size_t i = 0; i < diags->count; i++) {
        char line[4096];
        xpu_diag_text(diags, i, line, sizeof line);
        xpu_text_add(&text, "%s\n", line);
    }
    return text.text;
}

static inline void expect_text(const char *name, const char *got, const char *wanted) {
    if (strcmp(got, wanted) != 0) fprintf(stderr, "\n%s: got\n%s\nwanted\n%s\n", name, got, wanted);
    CU_ASSERT_STRING_EQUAL(got, wanted);
}

#define BUFFER(text, size, from, to, ...)                                                                              \
    {.name = text,                                                                                                     \
     .bytes = size,                                                                                                    \
     .first = from,                                                                                                    \
     .last = to,                                                                                                       \
     .kind = XPU_MEMPLAN_ACTIVATION,                                                                                   \
     .levels = {__VA_ARGS__},                                                                                          \
     .level_count = sizeof((uint8_t[]){__VA_ARGS__})}
#define ALIAS(a, b, k, at) {.buffer = a, .other = b, .kind = XPU_MEMPLAN_##k, .offset = at}

enum { SM, L3, GM };
static const xpu_memplan_level levels[] = {
    {"SM", 1024, 64, 16, 256, NULL}, {"L3", 4096, 0, 64, 64, NULL}, {"GM", 1 << 20, 0, 64, 16, NULL}};

typedef struct {
    const char *name;
    xpu_memplan_buffer buffers[6];
    xpu_memplan_alias aliases[4];
    xpu_memplan_rule rules[4];
    xpu_memplan_match matches[6];
    const char *wanted; /* "a=SM@64 b=SM@64/a": level, offset, what it shares bytes with */
    const char *spills; /* "b not in SM: why" */
} plan_case;
static inline uint32_t count_buffers(const xpu_memplan_buffer *buffers) {
    uint32_t count = 0;
    while (count < 6 && buffers[count].name) count++;
    return count;
}

static inline xpu_memplan_problem problem_of(const plan_case *c) {
    xpu_memplan_problem problem = {.levels = levels,
                                   .level_count = 3,
                                   .buffers = c->buffers,
                                   .aliases = c->aliases,
                                   .rules = c->rules,
                                   .matches = c->matches};
    problem.buffer_count = count_buffers(c->buffers);
    while (problem.alias_count < 4 && c->aliases[problem.alias_count].buffer != c->aliases[problem.alias_count].other) {
        problem.alias_count++;
    }
    while (problem.rule_count < 4 && c->rules[problem.rule_count].text) problem.rule_count++;
    /* matches are as many as there are rules, or more when they go on with other pairs */
    while (problem.rule_count && problem.match_count < 6 &&
           (problem.match_count < problem.rule_count || c->matches[problem.match_count].buffer)) {
        problem.match_count++;
    }
    return problem;
}
/* a and b live together in SM; x is a part of c in L3; p is pinned; s is spilled; t is in place of c. */
static const plan_case sound = {
    .buffers =
        {{.name = "a", .bytes = 100, .alignment = 32, .last = 5, .levels = {SM, GM}, .level_count = 2},
         BUFFER("b", 300, 0, 5, SM, L3),
         BUFFER("x", 256, 0, 4, L3, GM),
         BUFFER("c", 512, 4, 6, L3, GM),
         {.name = "p", .bytes = 64, .last = 9, .levels = {GM}, .level_count = 1, .pinned = 1, .pinned_offset = 4096},
         BUFFER("t", 512, 6, 8, L3, GM)},
    .aliases = {ALIAS(2, 3, PART, 256), ALIAS(5, 3, IN_PLACE, 0)},
    .rules = {{"rule 1", L3, XPU_MEMPLAN_NEVER}, {"rule 2", L3, XPU_MEMPLAN_PREFER}, {"rule 3", SM, XPU_MEMPLAN_MUST}},
    .matches = {{1, 0}, {1, 1}, {0, 2}}};

#endif
