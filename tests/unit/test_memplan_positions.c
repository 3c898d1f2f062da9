/* Rules about offsets and banks: plans by hand, what cannot be, and random ones, all judged by the validator. */
#include "memplan/check.h"
#include "tests/unit/bench.h"
#include "tests/unit/memplan.h"
#include "tests/unit/unit.h"

/* "Fold" has banks whose numbers are folded from the address as SM's are, "Line" the lowest field alone. */
enum { FOLD, LINE };
static const xpu_memplan_level banked[] = {
    {.name = "Fold", .bytes = 65536, .reserved = 1024, .alignment = 64, .banks = 8, .bank_bytes = 64, .bank_fields = 3},
    {.name = "Line", .bytes = 1 << 20, .alignment = 64, .banks = 4, .bank_bytes = 64, .bank_fields = 1}};

#define RULE(name, where, how, ...) {.text = name, .level = where, .strength = XPU_MEMPLAN_##how, __VA_ARGS__}
#define AT(at)                      .has_offset = 1, .offset = at
#define IN_BANK(number)             .has_bank = 1, .bank = number

typedef struct {
    const char *name;
    xpu_memplan_buffer buffers[4];
    xpu_memplan_rule rules[4];
    xpu_memplan_match matches[6];
    const char *wanted; /* places, or the error */
} position_case;

static const position_case cases[] = {
    {"an offset",
     {BUFFER("a", 100, 0, 1, FOLD, LINE), BUFFER("b", 100, 0, 1, FOLD)},
     {RULE("r1", FOLD, MUST, AT(1024))},
     {{1, 0}},
     "a=Fold@1152 b=Fold@1024"},
    {"an offset elsewhere",
     {BUFFER("a", 100, 0, 1, FOLD, LINE)},
     {RULE("r1", LINE, MUST, AT(640))},
     {{0, 0}},
     "a=Line@640"},
    {"a bank", {BUFFER("a", 100, 0, 1, FOLD)}, {RULE("r1", FOLD, MUST, IN_BANK(3))}, {{0, 0}}, "a=Fold@1088"},
    {"a bank of a line", {BUFFER("a", 100, 0, 1, LINE)}, {RULE("r1", LINE, MUST, IN_BANK(3))}, {{0, 0}}, "a=Line@192"},
    {"never that bank", {BUFFER("a", 100, 0, 1, LINE)}, {RULE("r1", LINE, NEVER, IN_BANK(0))}, {{0, 0}}, "a=Line@64"},
    {"never these offsets",
     {BUFFER("a", 100, 0, 1, LINE)},
     {RULE("r1", LINE, NEVER, AT(0)), RULE("r2", LINE, NEVER, AT(64))},
     {{0, 0}, {0, 1}},
     "a=Line@128"},
    {"a preferred offset",
     {BUFFER("a", 100, 0, 1, FOLD, LINE)},
     {RULE("r1", LINE, PREFER, AT(128))},
     {{0, 0}},
     "a=Line@128"},
    {"a preferred offset that another has",
     {BUFFER("a", 100, 0, 1, LINE), BUFFER("b", 100, 0, 1, LINE)},
     {RULE("r1", LINE, MUST, AT(64)), RULE("r2", LINE, PREFER, AT(128))},
     {{0, 0}, {1, 1}},
     "a=Line@64 b=Line@192"},
    {"a preferred offset that leaves no room",
     {BUFFER("a", 64, 0, 1, FOLD), BUFFER("b", 64448, 0, 1, FOLD)},
     {RULE("r1", FOLD, PREFER, AT(32768))},
     {{0, 0}},
     "a=Fold@1024 b=Fold@1088"},
    {"two offsets",
     {BUFFER("a", 100, 0, 1, LINE)},
     {RULE("r1", LINE, MUST, AT(0)), RULE("r2", LINE, MUST, AT(64))},
     {{0, 0}, {0, 1}},
     "'a': placement rules contradict each other\n  why: r1 and r2\n"},
    {"an offset that is forbidden",
     {BUFFER("a", 100, 0, 1, LINE)},
     {RULE("r1", LINE, MUST, AT(64)), RULE("r2", LINE, NEVER, IN_BANK(1))},
     {{0, 0}, {0, 1}},
     "'a': placement rules contradict each other\n  why: r1 and r2\n"},
    {"two banks",
     {BUFFER("a", 100, 0, 1, LINE)},
     {RULE("r1", LINE, MUST, IN_BANK(1)), RULE("r2", LINE, MUST, IN_BANK(2)), RULE("r3", LINE, NEVER, IN_BANK(3))},
     {{0, 0}, {0, 1}, {0, 2}},
     "'a': placement rules contradict each other\n  why: r1 and r2\n"},
    {"never any bank",
     {BUFFER("a", 100, 0, 1, LINE)},
     {RULE("r1", LINE, NEVER, IN_BANK(0)), RULE("r2", LINE, NEVER, IN_BANK(1)), RULE("r3", LINE, NEVER, IN_BANK(2)),
      RULE("r4", LINE, NEVER, IN_BANK(3))},
     {{0, 0}, {0, 1}, {0, 2}, {0, 3}},
     "'a': placement rules contradict each other\n"
     "  why: r1, r2, r3 and r4; together they leave it no multiple of 64 in Line\n"},
    {"never the banks that an alignment leaves",
     {{.name = "a", .bytes = 100, .alignment = 128, .last = 1, .levels = {LINE}, .level_count = 1}},
     {RULE("r1", LINE, NEVER, IN_BANK(0)), RULE("r2", LINE, NEVER, IN_BANK(1)), RULE("r3", LINE, NEVER, IN_BANK(2)),
      RULE("r4", LINE, NEVER, AT(256))},
     {{0, 0}, {0, 1}, {0, 2}, {0, 3}},
     "'a': placement rules contradict each other\n"
     "  why: r1 and r3; together they leave it no multiple of 128 in Line\n"},
    {"never two banks, nor the first lines of the others",
     {BUFFER("a", 100, 0, 1, LINE)},
     {RULE("r1", LINE, NEVER, IN_BANK(0)), RULE("r2", LINE, NEVER, IN_BANK(2)), RULE("r3", LINE, NEVER, AT(64)),
      RULE("r4", LINE, NEVER, AT(192))},
     {{0, 0}, {0, 1}, {0, 2}, {0, 3}},
     "a=Line@320"},
    {"one offset for two",
     {BUFFER("a", 100, 0, 1, LINE), BUFFER("b", 100, 1, 2, LINE)},
     {RULE("r1", LINE, MUST, AT(64))},
     {{0, 0}, {1, 0}},
     "'a': a placement rule cannot be kept\n  why: r1; it would share bytes with 'b', which lives at the same time\n"},
    {"one offset for two, one after the other",
     {BUFFER("a", 100, 0, 1, LINE), BUFFER("b", 100, 2, 2, LINE)},
     {RULE("r1", LINE, MUST, AT(64))},
     {{0, 0}, {1, 0}},
     "a=Line@64 b=Line@64"},
    {"an odd offset",
     {BUFFER("a", 100, 0, 1, LINE)},
     {RULE("r1", LINE, MUST, AT(100))},
     {{0, 0}},
     "'a': a placement rule cannot be kept\n  why: r1; offsets there are multiples of 64\n"},
    {"reserved bytes",
     {BUFFER("a", 100, 0, 1, FOLD)},
     {RULE("r1", FOLD, MUST, AT(64))},
     {{0, 0}},
     "'a': a placement rule cannot be kept\n  why: r1; the first 1024 bytes of Fold are reserved\n"},
    {"the end",
     {BUFFER("a", 100, 0, 1, FOLD)},
     {RULE("r1", FOLD, MUST, AT(65472))},
     {{0, 0}},
     "'a': a placement rule cannot be kept\n  why: r1; its 100 bytes reach out of the 65536 of Fold\n"},
    {"a level that it may not have",
     {BUFFER("a", 100, 0, 1, LINE)},
     {RULE("r1", FOLD, MUST, AT(1024))},
     {{0, 0}},
     "'a': a placement rule cannot be kept\n  why: r1; the buffer may only be in Line\n"},
    {"no room beside an offset",
     {BUFFER("a", 64, 0, 1, FOLD), BUFFER("b", 60000, 0, 1, FOLD)},
     {RULE("r1", FOLD, MUST, AT(32768))},
     {{0, 0}},
     "level 'Fold': a placement rule leaves no room in Fold: "},
};

static xpu_memplan_problem problem_at(const position_case *c) {
    xpu_memplan_problem problem = {
        .levels = banked, .level_count = 2, .buffers = c->buffers, .rules = c->rules, .matches = c->matches};
    while (problem.buffer_count < 4 && c->buffers[problem.buffer_count].name) problem.buffer_count++;
    while (problem.rule_count < 4 && c->rules[problem.rule_count].text) problem.rule_count++;
    for (uint32_t i = 0; i < 6; i++) { /* {0, 0} may stand first only */
        if (i == 0 || c->matches[i].buffer || c->matches[i].rule) problem.match_count = i + 1;
    }
    return problem;
}

static void try_case(bench *b, const position_case *c) {
    xpu_memplan *plan;
    xpu_memplan_problem problem = problem_at(c);
    xpu_text text;
    xpu_text_init(&text, b->arena);
    if (xpu_memplan_make(b->arena, &problem, NULL, &plan, &b->diags) != XPU_OK) {
        char *error = all_text(b->arena, &b->diags);
        char *wanted = xpu_printf(b->arena, "error [plan-rules] %s", c->wanted);
        if (strncmp(error, wanted, strlen(wanted)) != 0) expect_text(c->name, error, wanted);
        CU_ASSERT_EQUAL(b->diags.count, 1);
        return;
    }
    CU_ASSERT_EQUAL(xpu_memplan_check(b->arena, &problem, plan, &b->diags), XPU_OK);
    for (uint32_t i = 0; i < problem.buffer_count; i++)
        xpu_text_add(&text, "%s%s=%s@%llu", i ? " " : "", c->buffers[i].name, banked[plan->places[i].level].name,
                     (unsigned long long)plan->places[i].offset);
    expect_text(c->name, text.text, c->wanted);
}

static const position_case *current;
static void try_current(bench *b) {
    try_case(b, current);
}

static void by_hand(void) {
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        current = &cases[i];
        with_bench(try_current);
    }
}

/* The validator sees a buffer that stands a line beside where its rule wants it. */
static void move_one(bench *b) {
    for (size_t i = 0; i < 6; i++) {
        xpu_memplan *plan;
        xpu_memplan_problem problem = problem_at(&cases[i]);
        CU_ASSERT_EQUAL_FATAL(xpu_memplan_make(b->arena, &problem, NULL, &plan, &b->diags), XPU_OK);
        uint32_t moved = cases[i].matches[0].buffer;
        plan->places[moved].offset = cases[i].rules[0].strength == XPU_MEMPLAN_NEVER ? 0 : 64 * 100;
        xpu_memplan_measure(b->arena, &problem, plan->places, plan->usage);
        CU_ASSERT_EQUAL(xpu_memplan_check(b->arena, &problem, plan, &b->diags), XPU_EBUG);
        CU_ASSERT_PTR_NOT_NULL(strstr(all_text(b->arena, &b->diags), "it breaks r1"));
        xpu_diags_clear(&b->diags);
    }
}
static void moved(void) {
    with_bench(move_one);
}

static uint64_t seed = 1;
static uint32_t below(uint32_t end) {
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)((seed >> 33) % end);
}

static uint32_t planned;

/* Random rules: a plan is valid, or the error is about rules or room. */
static void random_problem(bench *b) {
    enum { BUFFERS = 12, RULES = 6 };
    xpu_memplan_buffer buffers[BUFFERS];
    xpu_memplan_rule rules[RULES];
    xpu_memplan_match matches[RULES * 2];
    for (uint32_t i = 0; i < BUFFERS; i++) {
        uint32_t first = below(8);
        buffers[i] = (xpu_memplan_buffer){.name = xpu_printf(b->arena, "b%u", i),
                                          .bytes = below(4000),
                                          .alignment = 1u << below(10),
                                          .first = first,
                                          .last = first + below(4),
                                          .levels = {FOLD, LINE},
                                          .level_count = 1 + below(2)};
    }
    const uint32_t matched = below(4) ? BUFFERS : 1; /* all rules about one buffer */
    for (uint32_t i = 0; i < RULES; i++) {
        uint32_t level = below(2), what = below(3);
        rules[i] = (xpu_memplan_rule){.text = "r",
                                      .level = level,
                                      .strength = (xpu_memplan_strength)below(3),
                                      .has_offset = what == 0,
                                      .has_bank = what == 1,
                                      .offset = 1024 + 512 * (uint64_t)below(20),
                                      .bank = below(banked[level].banks)};
        matches[2 * i] = (xpu_memplan_match){below(matched), i};
        matches[2 * i + 1] = (xpu_memplan_match){below(matched), i};
    }
    xpu_memplan_alias alias = ALIAS(1, 0, IN_PLACE, 0);
    xpu_memplan_problem problem = {.levels = banked,
                                   .level_count = 2,
                                   .buffers = buffers,
                                   .buffer_count = BUFFERS,
                                   .aliases = &alias,
                                   .alias_count = 1,
                                   .rules = rules,
                                   .rule_count = RULES,
                                   .matches = matches,
                                   .match_count = RULES * 2};
    xpu_memplan *plan;
    xpu_status status = xpu_memplan_make(b->arena, &problem, NULL, &plan, &b->diags);
    if (status == XPU_OK) status = xpu_memplan_check(b->arena, &problem, plan, &b->diags);
    if (status == XPU_EBUG) fprintf(stderr, "\n%s", all_text(b->arena, &b->diags));
    CU_ASSERT_NOT_EQUAL(status, XPU_EBUG);
    planned += status == XPU_OK;
}

static void at_random(void) {
    planned = 0;
    for (int i = 0; i < 3000; i++) with_bench(random_problem);
    if (planned < 600) fprintf(stderr, "\n%u of 3000 have a plan\n", planned);
    CU_ASSERT(planned > 600 && planned < 3000);
}

XPU_TEST_MAIN("offsets and banks", {"by hand", by_hand}, {"moved", moved}, {"at random", at_random})
