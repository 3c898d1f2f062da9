#include "memplan/memplan.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "memplan/check.h"
#include "memplan/report.h"
#include "memplan/rules.h"
#include "tests/unit/oom.h"
#include "tests/unit/unit.h"

/* Every diagnostic as text, one after the other. */
static char *all_text(xpu_arena *arena, const xpu_diags *diags) {
    xpu_text text;
    xpu_text_init(&text, arena);
    for (size_t i = 0; i < diags->count; i++) {
        char line[4096];
        xpu_diag_text(diags, i, line, sizeof line);
        xpu_text_add(&text, "%s\n", line);
    }
    return text.text;
}

static void expect_text(const char *name, const char *got, const char *wanted) {
    if (strcmp(got, wanted) != 0) fprintf(stderr, "\n%s: got\n%s\nwanted\n%s\n", name, got, wanted);
    CU_ASSERT_STRING_EQUAL(got, wanted);
}

/* ---- small problems, written down ---- */

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
    {"SM", 1024, 64, 16, 256}, {"L3", 4096, 0, 64, 64}, {"GM", 1 << 20, 0, 64, 16}};

typedef struct {
    const char *name;
    xpu_memplan_buffer buffers[6];
    xpu_memplan_alias aliases[4];
    xpu_memplan_rule rules[4];
    xpu_memplan_match matches[6];
    const char *wanted; /* "a=SM@64 b=SM@64/a": level, offset, what it shares bytes with */
    const char *spills; /* "b not in SM: why" */
} plan_case;

static const plan_case plan_cases[] = {
    {.name = "no buffer", .wanted = ""},
    {.name = "lives that do not meet share bytes",
     .buffers = {BUFFER("a", 512, 0, 1, SM, GM), BUFFER("b", 512, 2, 3, SM, GM)},
     .wanted = "a=SM@64 b=SM@64"},
    {.name = "lives that meet at one step do not",
     .buffers = {BUFFER("a", 500, 0, 2, SM, GM), BUFFER("b", 400, 2, 3, SM, GM)},
     .wanted = "a=SM@464 b=SM@64"},
    {.name = "0 bytes", .buffers = {BUFFER("a", 0, 0, 9, SM), BUFFER("b", 960, 0, 9, SM)}, .wanted = "a=SM@64 b=SM@64"},
    {.name = "the hot one stays",
     .buffers = {BUFFER("cold", 640, 0, 5, SM, L3),
                 {.name = "hot", .bytes = 640, .last = 5, .access_bytes = 64000, .levels = {SM, L3}, .level_count = 2}},
     .wanted = "cold=L3@0 hot=SM@64",
     .spills = "cold not in SM: no room: 320 bytes short at step 0"},
    {.name = "through two levels",
     .buffers = {BUFFER("a", 5000, 3, 5, SM, L3, GM), BUFFER("b", 900, 0, 5, SM, L3)},
     .wanted = "a=GM@0 b=SM@64",
     .spills = "a not in SM: no room: 4040 bytes short at step 3"},
    {.name = "what has nowhere else to go comes first",
     .buffers = {BUFFER("free", 640, 0, 5, SM, L3), BUFFER("bound", 640, 0, 5, SM)},
     .wanted = "free=L3@0 bound=SM@64",
     .spills = "free not in SM: no room: 320 bytes short at step 0"},
    {.name = "pinned, also in the reserved bytes",
     .buffers = {{.name = "p", .bytes = 128, .last = 9, .levels = {SM}, .level_count = 1, .pinned = 1},
                 BUFFER("a", 64, 0, 9, SM)},
     .wanted = "p=SM@0 a=SM@128"},
    {.name = "in place",
     .buffers = {BUFFER("a", 900, 0, 3, SM), BUFFER("b", 900, 3, 5, SM), BUFFER("c", 800, 5, 6, SM)},
     .aliases = {ALIAS(1, 0, IN_PLACE, 0), ALIAS(2, 1, IN_PLACE, 0)},
     .wanted = "a=SM@64 b=SM@64/a c=SM@64/b"},
    {.name = "not in place of what lives on",
     .buffers = {BUFFER("a", 400, 0, 4, SM), BUFFER("b", 400, 3, 5, SM)},
     .aliases = {ALIAS(1, 0, IN_PLACE, 0)},
     .wanted = "a=SM@64 b=SM@464"},
    {.name = "not in place where a view lives on",
     .buffers = {BUFFER("a", 320, 0, 3, SM), BUFFER("v", 320, 1, 4, SM), BUFFER("b", 320, 3, 5, SM)},
     .aliases = {ALIAS(1, 0, VIEW, 0), ALIAS(2, 0, IN_PLACE, 0)},
     .wanted = "a=SM@64 v=SM@64/a b=SM@384"},
    {.name = "in place of a small part would keep too much",
     .buffers = {BUFFER("a", 512, 0, 3, SM), BUFFER("b", 64, 3, 9, SM)},
     .aliases = {ALIAS(1, 0, IN_PLACE, 0)},
     .wanted = "a=SM@64 b=SM@576"},
    {.name = "concat",
     .buffers = {BUFFER("x", 256, 0, 4, SM, L3), BUFFER("y", 256, 2, 4, SM, L3), BUFFER("c", 512, 4, 6, SM, L3)},
     .aliases = {ALIAS(0, 2, PART, 0), ALIAS(1, 2, PART, 256)},
     .wanted = "x=SM@64/c y=SM@320/c c=SM@64"},
    {.name = "parts on the same bytes",
     .buffers = {BUFFER("x", 256, 0, 4, SM, L3), BUFFER("y", 256, 2, 4, SM, L3), BUFFER("c", 512, 4, 6, SM, L3)},
     .aliases = {ALIAS(0, 2, PART, 0), ALIAS(1, 2, PART, 128)},
     .wanted = "x=SM@64/c y=SM@576 c=SM@64"},
    {.name = "channels of a concat interleave",
     .buffers = {BUFFER("x", 128, 0, 4, SM), BUFFER("y", 256, 0, 4, SM), BUFFER("c", 384, 4, 6, SM)},
     .aliases = {{0, 2, XPU_MEMPLAN_PART, 0, 4, 32, 96}, {1, 2, XPU_MEMPLAN_PART, 32, 4, 64, 96}},
     .wanted = "x=SM@64/c y=SM@96/c c=SM@64"},
    {.name = "channels of a concat overlap",
     .buffers = {BUFFER("x", 128, 0, 4, SM), BUFFER("y", 256, 0, 4, SM), BUFFER("c", 384, 4, 6, SM)},
     .aliases = {{0, 2, XPU_MEMPLAN_PART, 0, 4, 32, 96}, {1, 2, XPU_MEMPLAN_PART, 16, 4, 64, 96}},
     .wanted = "x=SM@64/c y=SM@448 c=SM@64"},
    {.name = "no alias of a box with gaps",
     .buffers = {BUFFER("x", 128, 0, 4, SM), BUFFER("z", 128, 4, 9, SM), BUFFER("c", 384, 4, 6, SM)},
     .aliases = {{0, 2, XPU_MEMPLAN_PART, 0, 4, 32, 96}, ALIAS(1, 0, IN_PLACE, 0)},
     .wanted = "x=SM@64/c z=SM@448 c=SM@64"},
    {.name = "the second alternative, as the first is a circle",
     .buffers = {BUFFER("a", 64, 0, 3, SM), BUFFER("b", 64, 3, 3, SM), BUFFER("c", 64, 0, 3, SM)},
     .aliases = {ALIAS(0, 1, PART, 0), ALIAS(1, 0, IN_PLACE, 0), ALIAS(1, 2, IN_PLACE, 0)},
     .wanted = "a=SM@64/b b=SM@64 c=SM@128"},
    {.name = "a view goes where its buffer may be",
     .buffers = {BUFFER("a", 64, 0, 3, SM, GM), BUFFER("out", 64, 3, 9, GM)},
     .aliases = {ALIAS(1, 0, VIEW, 0)},
     .wanted = "a=GM@0 out=GM@0/a",
     .spills = "a not in SM: others share its bytes"},
    {.name = "alignment inside an alias",
     .buffers = {BUFFER("c", 256, 4, 6, SM),
                 {.name = "x", .bytes = 100, .alignment = 64, .last = 4, .levels = {SM}, .level_count = 1}},
     .aliases = {ALIAS(1, 0, PART, 32)},
     .wanted = "c=SM@64 x=SM@320"},
    {.name = "parts give way when they do not fit",
     .buffers = {BUFFER("x", 320, 0, 4, SM), BUFFER("t", 640, 1, 2, SM), BUFFER("c", 640, 4, 6, SM)},
     .aliases = {ALIAS(0, 2, PART, 0)},
     .wanted = "x=SM@704 t=SM@64 c=SM@64"},
    {.name = "must, never, prefer",
     .buffers = {BUFFER("m", 64, 0, 9, SM, L3, GM), BUFFER("n", 64, 0, 9, SM, L3, GM),
                 BUFFER("p", 64, 0, 9, SM, L3, GM)},
     .rules = {{"rule 1", L3, XPU_MEMPLAN_MUST}, {"rule 2", SM, XPU_MEMPLAN_NEVER}, {"rule 3", GM, XPU_MEMPLAN_PREFER}},
     .matches = {{0, 0}, {1, 1}, {2, 2}},
     .wanted = "m=L3@0 n=L3@64 p=GM@0"},
    {.name = "prefer against never",
     .buffers = {BUFFER("p", 64, 0, 9, SM, L3, GM)},
     .rules = {{"rule 1", SM, XPU_MEMPLAN_NEVER}, {"rule 2", SM, XPU_MEMPLAN_PREFER}},
     .matches = {{0, 0}, {0, 1}},
     .wanted = "p=L3@0",
     .spills = "p not in SM: a must or never rule forbids it"},
};

static uint32_t count_buffers(const xpu_memplan_buffer *buffers) {
    uint32_t count = 0;
    while (count < 6 && buffers[count].name) count++;
    return count;
}

static xpu_memplan_problem problem_of(const plan_case *c) {
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

static char *places_text(xpu_arena *arena, const xpu_memplan_problem *problem, const xpu_memplan *plan) {
    xpu_text text;
    xpu_text_init(&text, arena);
    for (uint32_t i = 0; i < plan->buffer_count; i++) {
        const xpu_memplan_place *p = &plan->places[i];
        xpu_text_add(&text, "%s%s=%s@%" PRIu64, i ? " " : "", problem->buffers[i].name, problem->levels[p->level].name,
                     p->offset);
        if (p->alias_of != XPU_MEMPLAN_NONE) xpu_text_add(&text, "/%s", problem->buffers[p->alias_of].name);
    }
    return text.text;
}

static char *spills_text(xpu_arena *arena, const xpu_memplan_problem *problem, const xpu_memplan *plan) {
    xpu_text text;
    xpu_text_init(&text, arena);
    for (uint32_t i = 0; i < plan->spill_count; i++) {
        const xpu_memplan_spill *s = &plan->spills[i];
        xpu_text_add(&text, "%s%s not in %s: %s", i ? "; " : "", problem->buffers[s->buffer].name,
                     problem->levels[s->preferred].name, s->why);
    }
    return text.text;
}

static xpu_status small_plans_work(xpu_arena *arena, xpu_diags *diags) {
    for (size_t i = 0; i < sizeof plan_cases / sizeof *plan_cases; i++) {
        const plan_case *c = &plan_cases[i];
        xpu_memplan_problem problem = problem_of(c);
        xpu_memplan *plan;
        xpu_status status = xpu_memplan_make(arena, &problem, NULL, &plan, diags);
        if (status == XPU_OK) status = xpu_memplan_check(arena, &problem, plan, diags);
        if (status != XPU_OK) {
            expect_text(c->name, all_text(arena, diags), "");
            return status;
        }
        expect_text(c->name, places_text(arena, &problem, plan), c->wanted);
        expect_text(c->name, spills_text(arena, &problem, plan), c->spills ? c->spills : "");
    }
    return XPU_OK;
}

static void small_plans(void) {
    xpu_diags diags;
    xpu_diags_init(&diags);
    CU_ASSERT_EQUAL(xpu_run_work(small_plans_work, &diags), XPU_OK);
    xpu_diags_clear(&diags);
}

/* ---- problems without a plan: the exact messages ---- */

typedef struct {
    plan_case c;
    xpu_status status;
    const char *message;
} error_case;

#define PROBLEM(where, what, why)                                                                                      \
    "error [plan-problem] " where ": " what "\n  why: " why "\n  hint: correct the description of the memory "         \
    "problem\n"
#define WEAKEN_ONE  "\n  hint: narrow the rule's match, or make its strength \"prefer\"\n"
#define WEAKEN_MANY "\n  hint: remove one of the rules, narrow its match, or make its strength \"prefer\"\n"

static const error_case error_cases[] = {
    {{.name = "more bytes live than there are",
      .buffers = {BUFFER("a", 500, 0, 2, SM), BUFFER("b", 400, 1, 3, SM), BUFFER("c", 300, 2, 3, SM)}},
     XPU_EMODEL,
     "error [plan-capacity] level 'SM': SM has no room: 240 bytes short at step 2\n"
     "  why: 1200 bytes live at step 2, 960 can be used: 'a' 500, 'b' 400, 'c' 300\n"
     "  hint: use a chip with more SM, or smaller shapes or a narrower precision\n"},
    {{.name = "room, but not in one piece",
      .buffers =
          {{.name = "p", .bytes = 64, .last = 3, .levels = {SM}, .level_count = 1, .pinned = 1, .pinned_offset = 512},
           BUFFER("a", 600, 1, 1, SM)}},
     XPU_EMODEL,
     "error [plan-capacity] level 'SM': SM has no room: 152 bytes short at step 1\n"
     "  why: 664 bytes live at step 1, 960 can be used and no arrangement was found that fits: 'a' 600, 'p' 64\n"
     "  hint: use a chip with more SM, or smaller shapes or a narrower precision\n"},
    {{.name = "two rules",
      .buffers = {BUFFER("a", 64, 0, 2, SM, L3, GM), BUFFER("b", 64, 0, 2, SM, L3, GM)},
      .rules = {{"rule 1", L3, XPU_MEMPLAN_MUST}, {"rule 2", SM, XPU_MEMPLAN_NEVER}, {"rule 3", GM, XPU_MEMPLAN_MUST}},
      .matches = {{1, 0}, {1, 1}, {1, 2}}},
     XPU_EUSAGE,
     "error [plan-rules] 'b': placement rules contradict each other\n"
     "  why: rule 1 and rule 3; the buffer may only be in SM, L3 or GM" WEAKEN_MANY},
    {{.name = "a rule against what is allowed",
      .buffers = {BUFFER("a", 64, 0, 2, SM, GM)},
      .rules = {{"rule 1", SM, XPU_MEMPLAN_NEVER}, {"rule 2", L3, XPU_MEMPLAN_MUST}},
      .matches = {{0, 0}, {0, 1}}},
     XPU_EUSAGE,
     "error [plan-rules] 'a': a placement rule cannot be kept\n"
     "  why: rule 2; the buffer may only be in SM or GM" WEAKEN_ONE},
    {{.name = "three rules",
      .buffers = {BUFFER("a", 64, 0, 2, SM, L3, GM)},
      .rules = {{"rule 1", SM, XPU_MEMPLAN_NEVER},
                {"rule 2", L3, XPU_MEMPLAN_NEVER},
                {"rule 3", GM, XPU_MEMPLAN_NEVER}},
      .matches = {{0, 0}, {0, 1}, {0, 2}}},
     XPU_EUSAGE,
     "error [plan-rules] 'a': placement rules contradict each other\n"
     "  why: rule 1, rule 2 and rule 3; the buffer may only be in SM, L3 or GM" WEAKEN_MANY},
    {{.name = "rules that leave no room",
      .buffers = {BUFFER("a", 400, 0, 9, SM, GM), BUFFER("b", 600, 0, 9, SM, GM), BUFFER("c", 500, 0, 9, SM, GM),
                  BUFFER("d", 64, 0, 9, SM, GM)},
      .rules = {{"rule 1", SM, XPU_MEMPLAN_MUST},
                {"rule 2", GM, XPU_MEMPLAN_NEVER},
                {"rule 3", SM, XPU_MEMPLAN_MUST},
                {"rule 4", GM, XPU_MEMPLAN_MUST}},
      .matches = {{0, 0}, {1, 1}, {2, 2}, {3, 3}}},
     XPU_EUSAGE,
     "error [plan-rules] level 'SM': placement rules leave no room in SM: 40 bytes short at step 0\n"
     "  why: rule 1 and rule 2" WEAKEN_MANY},
    {{.name = "a rule that leaves no room",
      .buffers = {BUFFER("a", 400, 0, 9, SM, GM), BUFFER("b", 600, 0, 9, SM, GM), BUFFER("c", 500, 0, 9, SM, GM)},
      .rules = {{"rule 1", SM, XPU_MEMPLAN_MUST}, {"rule 2", SM, XPU_MEMPLAN_MUST}},
      .matches = {{0, 0}, {0, 1}, {1, 1}, {2, 1}}},
     XPU_EUSAGE,
     "error [plan-rules] level 'SM': a placement rule leaves no room in SM: 540 bytes short at step 0\n"
     "  why: rule 2" WEAKEN_ONE},
    {{.name = "life", .buffers = {BUFFER("a", 1, 2, 1, SM)}},
     XPU_EMODEL,
     PROBLEM("'a'", "it lives from step 2 to 1", "a life begins before it ends, at a step of at most 2^30")},
    {{.name = "level", .buffers = {BUFFER("a", 1, 0, 1, SM, 7)}},
     XPU_EMODEL,
     PROBLEM("'a'", "it is allowed level 7", "levels are numbered by their place in the problem")},
    {{.name = "level twice", .buffers = {BUFFER("a", 1, 0, 1, SM, SM)}},
     XPU_EMODEL,
     PROBLEM("'a'", "it is allowed level 0 twice", "each level is named once")},
    {{.name = "part out of its buffer",
      .buffers = {BUFFER("a", 64, 0, 2, SM), BUFFER("b", 64, 2, 3, SM)},
      .aliases = {ALIAS(0, 1, PART, 1)}},
     XPU_EMODEL,
     PROBLEM("'a' in 'b'", "it reaches out of the 64 bytes from offset 1", "a part or view lies within its buffer")},
    {{.name = "view of something dead",
      .buffers = {BUFFER("a", 64, 0, 2, SM), BUFFER("b", 64, 3, 3, SM)},
      .aliases = {ALIAS(1, 0, VIEW, 0)}},
     XPU_EMODEL,
     PROBLEM("'b' in 'a'", "it lives from step 3 to 3, the whole from 0 to 2",
             "a view begins while its buffer lives: whole.first <= view.first <= whole.last")},
    {{.name = "pinned twice",
      .buffers =
          {{.name = "p", .bytes = 64, .last = 3, .levels = {SM}, .level_count = 1, .pinned = 1},
           {.name = "q", .bytes = 64, .last = 3, .levels = {SM}, .level_count = 1, .pinned = 1, .pinned_offset = 63}}},
     XPU_EMODEL,
     PROBLEM("'q'", "it is pinned on bytes of 'p' while both live", "pinned buffers do not share bytes")},
};

static xpu_status errors_work(xpu_arena *arena, xpu_diags *diags) {
    (void)diags;
    for (size_t i = 0; i < sizeof error_cases / sizeof *error_cases; i++) {
        const error_case *e = &error_cases[i];
        xpu_memplan_problem problem = problem_of(&e->c);
        xpu_diags own;
        xpu_diags_init(&own);
        xpu_memplan *plan;
        CU_ASSERT_EQUAL(xpu_memplan_make(arena, &problem, NULL, &plan, &own), e->status);
        CU_ASSERT_PTR_NULL(plan);
        CU_ASSERT_EQUAL(xpu_diags_status(&own), e->status);
        expect_text(e->c.name, all_text(arena, &own), e->message);
        xpu_diags_clear(&own);
    }
    return XPU_OK;
}

static void errors(void) {
    CU_ASSERT_EQUAL(xpu_run_work(errors_work, NULL), XPU_OK);
}

/* ---- random problems ---- */

static uint64_t random_state;

static uint32_t random_below(uint32_t limit) {
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return (uint32_t)((random_state >> 20) % limit);
}

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
        made[i] = (xpu_memplan_level){names[i], bytes, random_below(3) * 64u, 1u << random_below(7),
                                      one_in(3) ? 0 : 256u >> (2 * i)};
    }
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
    unsigned planned, no_room, no_rules, bad, aliases, gaps, spills;
} seen;

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
        seen.gaps += plan->places[i].alias != XPU_MEMPLAN_NONE && problem.aliases[plan->places[i].alias].rows > 1;
    }
    status = xpu_memplan_check(arena, &problem, plan, diags);
    if (status != XPU_OK) fprintf(stderr, "\nseed %" PRIu64 ":\n%s", seed, all_text(arena, diags));
    CU_ASSERT_EQUAL(status, XPU_OK);
    CU_ASSERT_EQUAL(xpu_memplan_make(arena, &problem, &options, &again, diags), XPU_OK);
    if (again) CU_ASSERT(same_plans(plan, again));
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
    for_seeds(1, RANDOM_PROBLEMS, random_one);
    printf("(%u plans with %u aliases, %u of them with gaps, %u spills; %u without room, %u against rules) ",
           seen.planned, seen.aliases, seen.gaps, seen.spills, seen.no_room, seen.no_rules);
    CU_ASSERT_EQUAL(seen.bad, 0);
    CU_ASSERT(seen.planned > RANDOM_PROBLEMS / 2);
    CU_ASSERT(seen.aliases > 100 && seen.gaps > 10 && seen.spills > 100 && seen.no_rules > 5 && seen.no_room > 5);
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

/* ---- the validator, by damaged plans ---- */

typedef struct {
    const char *name, *rule;
    void (*damage)(xpu_memplan *plan);
} mutation;

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

/* ---- rules ---- */

static void globs(void) {
    static const struct {
        const char *glob, *name;
        int matches;
    } table[] = {
        {"", "", 1},
        {"", "a", 0},
        {"*", "", 1},
        {"*", "a/b.c", 1},
        {"a", "a", 1},
        {"a", "ab", 0},
        {"a*", "ab/c", 1},
        {"*c", "ab/c", 1},
        {"*c", "ab/cd", 0},
        {"a*c*e", "abcde", 1},
        {"a*c*e", "abde", 0},
        {"layer3.*/w", "layer3.0/w", 1},
        {"layer3.*/w", "layer31/w", 0},
        {"?", "", 0},
        {"?", "x", 1},
        {"[a-c]x", "bx", 1},
        {"[a-c]x", "dx", 0},
        {"[!a-c]x", "dx", 1},
        {"[!a-c]x", "ax", 0},
        {"[]]", "]", 1},
        {"[a", "[a", 1},
        {"[", "[", 1},
        {"\\*", "*", 1},
        {"\\*", "a", 0},
        {"\\", "\\", 1},
        {"[a-]", "-", 1},
        {"**", "abc", 1},
        {"*a*a*a*a*b", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", 0},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        int matches = xpu_glob_match(table[i].glob, table[i].name);
        if (matches != table[i].matches)
            fprintf(stderr, "\n%s against %s: %d\n", table[i].glob, table[i].name, matches);
        CU_ASSERT_EQUAL(matches, table[i].matches);
    }
}

typedef struct {
    const char *name, *text;
    const char *matches; /* "a:1 b:1", buffer and rule counted from 1; NULL when the file or the rules are wrong */
    const char *message;
} rules_case;

static const rules_case rules_cases[] = {
    {"none", "{\"rules\": []}", "", ""},
    {"kinds and globs",
     "{\"rules\": [{\"match\": \"conv*/w\", \"kind\": \"weight\", \"level\": \"L3\", \"strength\": \"must\"},"
     " {\"match\": \"*\", \"level\": \"GM\", \"strength\": \"prefer\"},"
     " {\"match\": \"*\", \"kind\": \"scratch\", \"level\": \"SM\", \"strength\": \"never\"}]}",
     "conv1/w:1 conv1/w:2 conv1/out:2 tmp:2 tmp:3", ""},
    {"unused", "{\"rules\": [{\"match\": \"fc*\", \"kind\": \"weight\", \"level\": \"L3\", \"strength\": \"must\"}]}",
     "",
     "rules.json: warning [rules-unused] key 'rules[0]': the rule matches no buffer\n"
     "  why: rule 1 (\"fc*\", weight, must be in L3)\n"
     "  hint: see the names in the memory part of --report, or remove the rule\n"},
    {"unknown level", "{\"rules\": [{\"match\": \"*\", \"level\": \"L2\", \"strength\": \"never\"}]}", NULL,
     "rules.json: error [rules-level] key 'rules[0].level': the chip has no memory \"L2\"\n"
     "  why: rule 1 (\"*\", any kind, must not be in L2)\n"
     "  hint: use one of SM, L3, GM\n"},
    {"all problems at once",
     "{\"rules\": [{\"match\": \"*\", \"level\": \"L3\", \"strength\": \"maybe\"}, {\"level\": \"L3\", \"strength\": "
     "\"must\"},"
     " 7], \"rule\": 1}",
     NULL, NULL},
    {"no object", "[]", NULL, NULL},
    {"no JSON", "{", NULL, NULL},
    {"no rules", "{}", NULL, NULL},
};

static xpu_status rules_work(xpu_arena *arena, xpu_diags *diags) {
    static const xpu_memplan_buffer buffers[] = {
        {.name = "conv1/w", .kind = XPU_MEMPLAN_WEIGHT, .levels = {SM, L3, GM}, .level_count = 3},
        {.name = "conv1/out", .kind = XPU_MEMPLAN_ACTIVATION, .levels = {SM, L3, GM}, .level_count = 3},
        {.name = "tmp", .kind = XPU_MEMPLAN_SCRATCH, .levels = {SM, L3, GM}, .level_count = 3}};
    for (size_t i = 0; i < sizeof rules_cases / sizeof *rules_cases; i++) {
        const rules_case *c = &rules_cases[i];
        xpu_memplan_problem problem = {.levels = levels, .level_count = 3, .buffers = buffers, .buffer_count = 3};
        xpu_memory_rules rules;
        xpu_diags own;
        xpu_diags_init(&own);
        xpu_status status = xpu_memory_rules_parse(arena, c->text, strlen(c->text), "rules.json", &rules, &own);
        if (status == XPU_OK) status = xpu_memory_rules_apply(arena, &rules, &problem, &own);
        if (status == XPU_OK) xpu_memory_rules_unused(arena, &rules, &own);
        CU_ASSERT_EQUAL(status, c->matches ? XPU_OK : XPU_EUSAGE);
        CU_ASSERT_EQUAL(status, xpu_diags_status(&own));
        if (c->message) expect_text(c->name, all_text(arena, &own), c->message);
        if (status == XPU_OK) {
            xpu_text text;
            xpu_text_init(&text, arena);
            for (uint32_t k = 0; k < problem.match_count; k++) {
                xpu_text_add(&text, "%s%s:%" PRIu32, k ? " " : "", buffers[problem.matches[k].buffer].name,
                             problem.matches[k].rule + 1);
            }
            expect_text(c->name, text.text, c->matches);
            xpu_memplan *plan;
            CU_ASSERT_EQUAL(xpu_memplan_make(arena, &problem, NULL, &plan, diags), XPU_OK);
            if (plan) CU_ASSERT_EQUAL(xpu_memplan_check(arena, &problem, plan, diags), XPU_OK);
        }
        if (strcmp(c->name, "all problems at once") == 0) CU_ASSERT_EQUAL(own.errors, 4);
        xpu_diags_clear(&own);
    }
    return XPU_OK;
}

static void rules_files(void) {
    xpu_diags diags;
    xpu_diags_init(&diags);
    CU_ASSERT_EQUAL(xpu_run_work(rules_work, &diags), XPU_OK);
    xpu_diags_clear(&diags);
}

/* The files that are shipped, read from the repository's root, where `make test` runs. */
static xpu_status shipped_work(xpu_arena *arena, xpu_diags *diags) {
    static const char *const files[] = {"configs/memory/default.json", "configs/memory/weights-in-l3.json"};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        if (!xpu_file_exists(files[i])) {
            printf("skipped: not run in the repository's root ");
            return XPU_OK;
        }
        xpu_memory_rules rules;
        CU_ASSERT_EQUAL(xpu_memory_rules_read(arena, files[i], &rules, diags), XPU_OK);
        CU_ASSERT_EQUAL(rules.count, i == 0 ? 0 : 2);
    }
    xpu_memory_rules rules;
    xpu_diags own;
    xpu_diags_init(&own);
    CU_ASSERT_EQUAL(xpu_memory_rules_read(arena, "configs/memory/absent.json", &rules, &own), XPU_EIO);
    xpu_diags_clear(&own);
    return XPU_OK;
}

static void shipped_rules(void) {
    xpu_diags diags;
    xpu_diags_init(&diags);
    CU_ASSERT_EQUAL(xpu_run_work(shipped_work, &diags), XPU_OK);
    xpu_diags_clear(&diags);
}

/* ---- reports ---- */

static const char report_text[] =
    "level        capacity         peak  lower bound        gap  holes  buffers\n"
    "SM                960          412          400         12    2.9%       2\n"
    "L3               4096          512          512          0    0.0%       3\n"
    "GM            1048576         4160           64       4096   98.4%       1\n"
    "\n"
    "not where they should be:\n"
    "  b in SM instead of L3: a must or never rule forbids it\n"
    "\n"
    "buffer kind       level        offset        bytes    first     last  shares bytes with\n"
    "a      weight     SM               64          100        0        5\n"
    "b      activation SM              176          300        0        5\n"
    "x      activation L3              256          256        0        4  c\n"
    "c      activation L3                0          512        4        6\n"
    "p      weight     GM             4096           64        0        9\n"
    "t      activation L3                0          512        6        8  c\n";

static xpu_status report_work(xpu_arena *arena, xpu_diags *diags) {
    xpu_memplan_problem problem = problem_of(&sound);
    xpu_memplan *plan;
    xpu_status status = xpu_memplan_make(arena, &problem, NULL, &plan, diags);
    if (status != XPU_OK) return status;
    expect_text("report", xpu_memplan_text(arena, &problem, plan), report_text);
    json_t *json = xpu_memplan_json(arena, &problem, plan);
    json_t *level = json_array_get(json_object_get(json, "levels"), GM);
    CU_ASSERT_STRING_EQUAL(json_string_value(json_object_get(level, "name")), "GM");
    CU_ASSERT_EQUAL(json_integer_value(json_object_get(level, "peak")), 4160);
    CU_ASSERT_EQUAL(json_integer_value(json_object_get(level, "gap")), 4096);
    json_t *part = json_array_get(json_object_get(json, "buffers"), 2);
    CU_ASSERT_STRING_EQUAL(json_string_value(json_object_get(part, "alias_of")), "c");
    CU_ASSERT_EQUAL(json_integer_value(json_object_get(part, "offset")), 256);
    CU_ASSERT_PTR_NULL(json_object_get(json_array_get(json_object_get(json, "buffers"), 0), "alias_of"));
    json_t *spill = json_array_get(json_object_get(json, "spills"), 0);
    CU_ASSERT_STRING_EQUAL(json_string_value(json_object_get(spill, "level")), "SM");
    CU_ASSERT_STRING_EQUAL(json_string_value(json_object_get(spill, "preferred")), "L3");
    return XPU_OK;
}

static void reports(void) {
    xpu_diags diags;
    xpu_diags_init(&diags);
    CU_ASSERT_EQUAL(xpu_run_work(report_work, &diags), XPU_OK);
    xpu_diags_clear(&diags);
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
    xpu_memplan_level three[] = {
        {"SM", 262144, 1024, 64, 512}, {"L3", 4 << 20, 0, 64, 64}, {"GM", UINT64_C(1) << 32, 0, 64, 32}};
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

XPU_TEST_MAIN("memplan", {"small plans", small_plans}, {"messages", errors}, {"random problems", random_problems},
              {"best of all orders", optimal}, {"damaged plans", damaged_plans}, {"illegal aliases", illegal_aliases},
              {"globs", globs}, {"rules files", rules_files}, {"shipped rules", shipped_rules}, {"reports", reports},
              {"no memory", no_memory}, {"5000 buffers", many_buffers}, {"instances of minimalloc", instances})
