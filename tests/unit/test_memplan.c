#include "memplan/memplan.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "memplan/check.h"
#include "memplan/report.h"
#include "tests/unit/memplan.h"
#include "tests/unit/oom.h"
#include "tests/unit/unit.h"

static const plan_case plan_cases[] = {
    {.name = "no buffer", .wanted = ""},
    {.name = "lives that do not meet share bytes",
     .buffers = {BUFFER("a", 512, 0, 1, SM, GM), BUFFER("b", 512, 2, 3, SM, GM)},
     .wanted = "a=SM@64 b=SM@64"},
    {.name = "lives that meet at one step do not",
     .buffers = {BUFFER("a", 500, 0, 2, SM, GM), BUFFER("b", 400, 2, 3, SM, GM)},
     .wanted = "a=SM@464 b=SM@64"},
    {.name = "0 bytes", .buffers = {BUFFER("a", 0, 0, 9, SM), BUFFER("b", 960, 0, 9, SM)}, .wanted = "a=SM@64 b=SM@64"},
    {.name = "0 bytes, no aligned place above the reserved ones",
     .buffers = {{.name = "a", .alignment = 2048, .last = 9, .levels = {SM}, .level_count = 1},
                 BUFFER("b", 960, 0, 9, SM)},
     .wanted = "a=SM@0 b=SM@64"},
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
    {.name = "what is worth more in all stays",
     .buffers = {{.name = "l", .bytes = 640, .last = 9, .access_bytes = 12800, .levels = {SM, L3}, .level_count = 2},
                 {.name = "s", .bytes = 640, .access_bytes = 1920, .levels = {SM, L3}, .level_count = 2}},
     .wanted = "l=SM@64 s=L3@0",
     .spills = "s not in SM: no room: 320 bytes short at step 0"},
    {.name = "not in place where one of both has room alone",
     .buffers = {{.name = "y", .bytes = 640, .last = 1, .access_bytes = 64000, .levels = {SM, L3}, .level_count = 2},
                 BUFFER("a", 640, 0, 4, SM, L3),
                 BUFFER("b", 640, 4, 8, SM, L3)},
     .aliases = {ALIAS(2, 1, IN_PLACE, 0)},
     .wanted = "y=SM@64 a=L3@0 b=SM@64",
     .spills = "a not in SM: no room: 320 bytes short at step 0"},
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
     "  why: 1200 bytes live at step 2, 960 can be used: 'a' 500 (steps 0 to 2), 'b' 400 (steps 1 to 3), 'c' 300 "
     "(steps 2 to "
     "3)\n"
     "  hint: use a chip with more SM, or smaller shapes or a narrower precision\n"},
    {{.name = "room, but not in one piece",
      .buffers =
          {{.name = "p", .bytes = 64, .last = 3, .levels = {SM}, .level_count = 1, .pinned = 1, .pinned_offset = 512},
           BUFFER("a", 600, 1, 1, SM)}},
     XPU_EMODEL,
     "error [plan-capacity] level 'SM': SM has no room: 152 bytes short at step 1\n"
     "  why: 664 bytes live at step 1, 960 can be used and no arrangement was found that fits: 'a' 600 (step 1), 'p' "
     "64 "
     "(steps 0 to 3)\n"
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
/* ---- reports ---- */

static const char report_text[] =
    "level        capacity         peak  lower bound        gap  holes  buffers\n"
    "SM                960          412          412          0    2.9%       2\n"
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
XPU_TEST_MAIN("memplan", {"small plans", small_plans}, {"messages", errors}, {"reports", reports})
