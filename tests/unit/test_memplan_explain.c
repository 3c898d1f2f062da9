/* Why a buffer is where it is: text and JSON of small plans, by hand; and usage as the planner and as the validator see
 * it. */
#include <jansson.h>

#include "memplan/check.h"
#include "memplan/explain.h"
#include "tests/unit/bench.h"
#include "tests/unit/memplan.h"
#include "tests/unit/unit.h"

static const char *const layers[] = {"load", "conv", "add", "pool"};

/* a and b fill SM while `big` would like to be there; c takes the bytes of a in place. */
static const xpu_memplan_buffer buffers[] = {BUFFER("a", 512, 0, 2, SM), BUFFER("b", 256, 1, 3, SM),
                                             BUFFER("c", 512, 2, 3, SM), BUFFER("big", 700, 1, 2, SM, L3, GM),
                                             BUFFER("late", 64, 3, 3, L3, GM)};
static const xpu_memplan_alias aliases[] = {ALIAS(2, 0, IN_PLACE, 0)};
static const xpu_memplan_rule rules[] = {{"rule 1 (\"late\", should be in L3)", L3, XPU_MEMPLAN_PREFER}};
static const xpu_memplan_match matches[] = {{4, 0}};

static xpu_memplan_problem make_problem(void) {
    return (xpu_memplan_problem){.levels = levels,
                                 .level_count = 3,
                                 .buffers = buffers,
                                 .buffer_count = 5,
                                 .aliases = aliases,
                                 .alias_count = 1,
                                 .rules = rules,
                                 .rule_count = 1,
                                 .matches = matches,
                                 .match_count = 1,
                                 .step_names = layers,
                                 .step_name_count = 4};
}

static void expect_reason(bench *b, const xpu_memplan_problem *problem, const xpu_memplan *plan, uint32_t buffer,
                          const char *wanted) {
    xpu_memplan_reason reason = xpu_memplan_explain(b->arena, problem, plan, buffer);
    expect_text(buffers[buffer].name, xpu_memplan_reason_text(b->arena, problem, plan, &reason), wanted);
}

static void explain(bench *b) {
    xpu_memplan *plan;
    xpu_memplan_problem problem = make_problem();
    CU_ASSERT_EQUAL_FATAL(xpu_memplan_make(b->arena, &problem, NULL, &plan, &b->diags), XPU_OK);
    CU_ASSERT_EQUAL_FATAL(xpu_memplan_check(b->arena, &problem, plan, &b->diags), XPU_OK);
    expect_reason(b, &problem, plan, 3,
                  "'big': activation, 700 bytes in L3 at 0\n"
                  "  lives    layers 1 'conv' to 2 'add'\n"
                  "  may be   in SM, L3 or GM\n"
                  "  not in SM: no room: 508 bytes short at layer 1 'conv'\n"
                  "           192 of 700 bytes are free in SM at layer 1 'conv': 508 short\n"
                  "             'a' 512 bytes, layers 0 'load' to 2 'add'\n"
                  "             'b' 256 bytes, layers 1 'conv' to 3 'pool'\n"
                  "  below    nothing; it touches the start\n"
                  "  above    nothing; 3396 bytes to the end\n");
    expect_reason(b, &problem, plan, 2,
                  "'c': activation, 512 bytes in SM at 64\n"
                  "  lives    layers 2 'add' to 3 'pool'\n"
                  "  may be   in SM\n"
                  "  in SM    it may be nowhere else\n"
                  "  uses     the bytes of 'a'\n"
                  "  shares   bytes with 'a', layers 0 'load' to 2 'add'\n"
                  "  below    nothing; it touches the start\n"
                  "  above    'b', 256 bytes, layers 1 'conv' to 3 'pool'\n");
    expect_reason(b, &problem, plan, 4,
                  "'late': activation, 64 bytes in L3 at 0\n"
                  "  lives    layer 3 'pool'\n"
                  "  may be   in L3 or GM\n"
                  "  rule     rule 1 (\"late\", should be in L3)\n"
                  "  in L3    by rule 1 (\"late\", should be in L3)\n"
                  "  below    nothing; it touches the start\n"
                  "  above    nothing; 4032 bytes to the end\n");
}
static void reasons(void) {
    with_bench(explain);
}

static void explain_json(bench *b) {
    xpu_memplan *plan;
    xpu_memplan_problem problem = make_problem();
    CU_ASSERT_EQUAL_FATAL(xpu_memplan_make(b->arena, &problem, NULL, &plan, &b->diags), XPU_OK);
    xpu_memplan_reason reason = xpu_memplan_explain(b->arena, &problem, plan, 3);
    json_t *json = xpu_memplan_reason_json(b->arena, &problem, plan, &reason);
    const json_t *shortage = json_object_get(json, "shortage"), *blockers = json_object_get(shortage, "blockers");
    CU_ASSERT_STRING_EQUAL(json_string_value(json_object_get(json, "preferred")), "SM");
    CU_ASSERT_EQUAL(json_integer_value(json_object_get(shortage, "short")), 508);
    CU_ASSERT_EQUAL(json_integer_value(json_object_get(shortage, "step")), 1);
    CU_ASSERT_EQUAL_FATAL(json_array_size(blockers), 2);
    CU_ASSERT_STRING_EQUAL(json_string_value(json_object_get(json_array_get(blockers, 0), "name")), "a");
    CU_ASSERT(json_is_null(json_object_get(json_object_get(json, "below"), "name")));
    reason = xpu_memplan_explain(b->arena, &problem, plan, 2);
    json = xpu_memplan_reason_json(b->arena, &problem, plan, &reason);
    CU_ASSERT_STRING_EQUAL(json_string_value(json_object_get(json, "alias_of")), "a");
    CU_ASSERT_PTR_NULL(json_object_get(json, "shortage"));
    CU_ASSERT_EQUAL(json_array_size(json_object_get(json, "sharing")), 1);
}
static void reasons_as_json(void) {
    with_bench(explain_json);
}

XPU_TEST_MAIN("reasons of a plan", {"text", reasons}, {"JSON", reasons_as_json})
