/* Buffers that are not live all the time: plans, the validator, files, pictures, reasons. Small instances against all
 * orders are in test_memplan_exact, with levels in test_memplan_levels. */
#include <stdlib.h>

#include "base/file.h"
#include "memplan/check.h"
#include "memplan/explain.h"
#include "memplan/file.h"
#include "memplan/report.h"
#include "tests/unit/memplan.h"
#include "tests/unit/bench.h"
#include "tests/unit/unit.h"

/* w is written at 0, read until 2, written again at 7 and at 10; x fits into its first gap, y only into the level. */
static const char csv_text[] = "id,lower,upper,size,gaps\n"
                               "w,0,12,100,3-7 9-10\n"
                               "x,3,7,60,\n"
                               "y,6,8,40,\n"
                               "z,9,10,100,\n";
static const char json_text[] =
    "{\"levels\": [{\"name\": \"memory\", \"bytes\": 140}],\n"
    " \"buffers\": [{\"name\": \"w\", \"bytes\": 100, \"first\": 0, \"last\": 11, \"gaps\": [[3, 6], [9, 9]]},\n"
    "  {\"name\": \"x\", \"bytes\": 60, \"first\": 3, \"last\": 6},\n"
    "  {\"name\": \"y\", \"bytes\": 40, \"first\": 6, \"last\": 7},\n"
    "  {\"name\": \"z\", \"bytes\": 100, \"first\": 9, \"last\": 9}]}\n";

static const char *write(bench *b, const char *name, const char *text) {
    const char *path = xpu_path_join(b->arena, b->folder, name);
    CU_ASSERT_EQUAL_FATAL(xpu_file_write(b->arena, path, text, strlen(text), &b->diags), XPU_OK);
    return path;
}

static xpu_memplan_problem read(bench *b, const char *name, const char *text) {
    xpu_memplan_problem problem;
    CU_ASSERT_EQUAL_FATAL(xpu_memplan_read(b->arena, write(b, name, text), 140, &problem, &b->diags), XPU_OK);
    return problem;
}

static void expect_part(bench *b, const char *text, const char *part) {
    if (!strstr(text, part)) fprintf(stderr, "\nno \"%s\" in\n%s\n", part, text);
    CU_ASSERT_PTR_NOT_NULL(strstr(text, part));
    (void)b;
}

static void expect_rule(bench *b, const char *rule) {
    expect_part(b, all_text(b->arena, &b->diags), rule);
    xpu_diags_clear(&b->diags);
    xpu_diags_init(&b->diags);
}

/* Both forms are the same problem; the plan is optimal: 140 bytes, 100 + 60 + 40 without the gaps. */
static void plan_both(bench *b) {
    for (int form = 0; form < 2; form++) {
        xpu_memplan_problem problem = form ? read(b, "p.json", json_text) : read(b, "p.csv", csv_text);
        xpu_memplan *plan, again;
        CU_ASSERT_EQUAL(problem.buffers[0].gap_count, 2);
        CU_ASSERT_EQUAL(problem.buffers[0].gaps[0].first, 3);
        CU_ASSERT_EQUAL(problem.buffers[0].gaps[0].last, 6);
        CU_ASSERT_EQUAL(problem.buffers[0].gaps[1].last, 9);
        CU_ASSERT_EQUAL_FATAL(xpu_memplan_make(b->arena, &problem, NULL, &plan, &b->diags), XPU_OK);
        CU_ASSERT_EQUAL(xpu_memplan_check(b->arena, &problem, plan, &b->diags), XPU_OK);
        CU_ASSERT_EQUAL(plan->usage[0].peak, 140);
        CU_ASSERT_EQUAL(plan->usage[0].lower_bound, 140);
        for (int i = 0; i < 2; i++) {
            const char *path = xpu_path_join(b->arena, b->folder, i ? "plan.csv" : "plan.json");
            CU_ASSERT_EQUAL_FATAL(xpu_memplan_write(b->arena, path, &problem, plan, &b->diags), XPU_OK);
            CU_ASSERT_EQUAL_FATAL(xpu_memplan_read_plan(b->arena, path, &problem, &again, &b->diags), XPU_OK);
            CU_ASSERT_EQUAL(xpu_memplan_check(b->arena, &problem, &again, &b->diags), XPU_OK);
            for (uint32_t k = 0; k < 4; k++) CU_ASSERT_EQUAL(again.places[k].offset, plan->places[k].offset);
            if (!i) continue;
            xpu_memplan_problem fixed; /* a plan as CSV is a problem in which all is fixed */
            CU_ASSERT_EQUAL_FATAL(xpu_memplan_read(b->arena, path, 140, &fixed, &b->diags), XPU_OK);
            CU_ASSERT(fixed.buffers[1].pinned && fixed.buffers[1].pinned_offset == plan->places[1].offset);
            CU_ASSERT_EQUAL(fixed.buffers[0].gap_count, 2);
            CU_ASSERT_EQUAL(xpu_memplan_make(b->arena, &fixed, NULL, &plan, &b->diags), XPU_OK);
        }
    }
}

/* All columns in another order, ends included. */
static void other_columns(bench *b) {
    xpu_memplan_problem problem = read(b, "o.csv",
                                       "size,begin,note,end,buffer_id,offset,alignment,gaps\r\n"
                                       "64,2,-,9,a,,32, 4-5  7-7 \r\n"
                                       "8,0,-,0,b,16,,\r\n");
    const xpu_memplan_buffer *a = &problem.buffers[0], *other = &problem.buffers[1];
    CU_ASSERT(a->bytes == 64 && a->first == 2 && a->last == 9 && a->alignment == 32 && !a->pinned);
    CU_ASSERT_EQUAL_FATAL(a->gap_count, 2);
    CU_ASSERT(a->gaps[0].first == 4 && a->gaps[0].last == 5 && a->gaps[1].first == 7 && a->gaps[1].last == 7);
    CU_ASSERT(other->first == 0 && other->last == 0 && other->pinned && other->pinned_offset == 16);
}

/* What lives in a gap may lie on the bytes; a step earlier it may not, and an alias never. */
static void validate(bench *b) {
    static const xpu_memplan_steps gaps[] = {{3, 6}};
    static const xpu_memplan_level level = {.name = "SM", .bytes = 200};
    static const xpu_memplan_alias alias = {.buffer = 1, .other = 0, .kind = XPU_MEMPLAN_VIEW};
    xpu_memplan_buffer buffers[] = {
        {.name = "w", .bytes = 100, .last = 9, .gaps = gaps, .gap_count = 1, .level_count = 1},
        {.name = "x", .bytes = 60, .first = 3, .last = 6, .level_count = 1}};
    xpu_memplan_problem problem = {.levels = &level, .level_count = 1, .buffers = buffers, .buffer_count = 2};
    xpu_memplan_place places[] = {{0, 0, XPU_MEMPLAN_NONE, XPU_MEMPLAN_NONE},
                                  {0, 40, XPU_MEMPLAN_NONE, XPU_MEMPLAN_NONE}};
    xpu_memplan_usage usage;
    xpu_memplan plan = {.places = places, .buffer_count = 2, .usage = &usage, .level_count = 1};
    xpu_memplan_measure(b->arena, &problem, places, &usage);
    CU_ASSERT_EQUAL(usage.lower_bound, 100);
    CU_ASSERT_EQUAL(usage.fragmentation_permille, 1000 * 4 * 40 / (6 * 100 + 4 * 100));
    CU_ASSERT_EQUAL(xpu_memplan_check(b->arena, &problem, &plan, &b->diags), XPU_OK);
    usage.lower_bound = 160; /* as if it lived all the time */
    usage.proved_bound = 160;
    CU_ASSERT_EQUAL(xpu_memplan_check(b->arena, &problem, &plan, &b->diags), XPU_EBUG);
    expect_rule(b, "[check-usage]");
    for (int late = 0; late < 2; late++) {
        buffers[1].first = late ? 3 : 2;
        buffers[1].last = late ? 7 : 6;
        xpu_memplan_measure(b->arena, &problem, places, &usage);
        CU_ASSERT_EQUAL(xpu_memplan_check(b->arena, &problem, &plan, &b->diags), XPU_EBUG);
        expect_rule(b, "[check-overlap] 'w': it shares bytes with 'x' while both live");
    }
    problem.aliases = &alias;
    problem.alias_count = 1;
    xpu_memplan *made;
    CU_ASSERT_EQUAL_FATAL(xpu_memplan_make(b->arena, &problem, NULL, &made, &b->diags), XPU_OK);
    CU_ASSERT_EQUAL(made->places[1].alias, XPU_MEMPLAN_NONE); /* and so copied */
    places[1] = (xpu_memplan_place){0, 0, 0, 0};
    CU_ASSERT_EQUAL(xpu_memplan_check(b->arena, &problem, &plan, &b->diags), XPU_EBUG);
    expect_rule(b, "[check-alias] 'x': it or 'w' has gaps");
}

static void show(bench *b) {
    xpu_memplan_problem problem = read(b, "p.json", json_text);
    xpu_memplan *plan;
    size_t length;
    CU_ASSERT_EQUAL_FATAL(xpu_memplan_make(b->arena, &problem, NULL, &plan, &b->diags), XPU_OK);
    const char *svg = xpu_path_join(b->arena, b->folder, "plan.svg");
    CU_ASSERT_EQUAL(xpu_memplan_draw(b->arena, svg, &problem, plan, &b->diags), XPU_OK);
    const char *text = xpu_file_read_all(b->arena, svg, 1 << 20, &length, &b->diags);
    unsigned parts = 0;
    for (const char *at = text; (at = strstr(at, "fill=\"#f6b26b\"")); at++) parts++;
    CU_ASSERT_EQUAL(parts, 6); /* three of w and one of each other */
    expect_part(b, text, "<title>w: 100 bytes at ");
    expect_part(b, text, "steps 0 to 11 without 3 to 6 and 9, activation");
    expect_part(b, xpu_memplan_text(b->arena, &problem, plan), "not live at 3-6 9-9\n");
    char *json = json_dumps(xpu_memplan_json(b->arena, &problem, plan), 0);
    expect_part(b, json, "\"gaps\": [[3, 6], [9, 9]]");
    free(json);
    xpu_memplan_reason reason = xpu_memplan_explain(b->arena, &problem, plan, 0);
    text = xpu_memplan_reason_text(b->arena, &problem, plan, &reason);
    expect_part(b, text, "  lives    steps 0 to 11 without 3 to 6 and 9\n");
    expect_part(b, text, "'y', 40 bytes, steps 6 to 7\n"); /* x and z are never there with it */
    CU_ASSERT_PTR_NULL(strstr(text, "'x'"));
}

/* Where it has no room, only what lives at its own steps is in its way. */
static void shortage(bench *b) {
    xpu_memplan_problem problem =
        read(b, "s.json",
             "{\"levels\": [{\"name\": \"SM\", \"bytes\": 100}, {\"name\": \"GM\", \"bytes\": 900}],\n"
             " \"buffers\": [{\"name\": \"w\", \"bytes\": 60, \"first\": 0, \"last\": 9, \"gaps\": [[3, 6]], "
             "\"access_bytes\": 1},\n"
             "  {\"name\": \"x\", \"bytes\": 100, \"first\": 4, \"last\": 5, \"levels\": [\"SM\"]},\n"
             "  {\"name\": \"y\", \"bytes\": 50, \"first\": 8, \"last\": 9, \"levels\": [\"SM\"]}]}\n");
    xpu_memplan *plan;
    CU_ASSERT_EQUAL_FATAL(xpu_memplan_make(b->arena, &problem, NULL, &plan, &b->diags), XPU_OK);
    CU_ASSERT_EQUAL(xpu_memplan_check(b->arena, &problem, plan, &b->diags), XPU_OK);
    xpu_memplan_reason reason = xpu_memplan_explain(b->arena, &problem, plan, 0);
    CU_ASSERT_EQUAL(reason.is_elsewhere, 1);
    CU_ASSERT_EQUAL(reason.shortage.step, 8);
    CU_ASSERT_EQUAL(reason.shortage.short_bytes, 10);
    CU_ASSERT_EQUAL_FATAL(reason.shortage.blocker_count, 1);
    CU_ASSERT_EQUAL(reason.shortage.blockers[0], 2);
}

static void wrong(bench *b) {
    static const struct {
        const char *name, *text, *error;
    } rows[] = {
        {"1.csv", "id,lower,upper,size,gaps\nb,0,9,1,3-3\n", "a gap ends before it begins"},
        {"2.csv", "id,lower,upper,size,gaps\nb,0,9,1,0-3\n", "lives before, between and behind"},
        {"3.csv", "id,lower,upper,size,gaps\nb,0,9,1,3-9\n", "lives before, between and behind"},
        {"4.csv", "id,lower,upper,size,gaps\nb,0,9,1,3-5 5-6\n", "lives before, between and behind"},
        {"5.csv", "id,lower,upper,size,gaps\nb,0,9,1,3\n", "gaps are like 3-7 10-12"},
        {"6.csv", "id,lower,upper,size,gaps\nb,0,9,1,3-4@0:2\n", "a gap with a window"},
        {"7.csv", "id,lower,upper,size,gaps\nb,0,9,1\n", "there are not as many fields as columns, 5"},
        {"8.csv", "id,lower,upper\nb,0,9\n",
         "line 1: the line does not name the columns\n  why: there is no column size"},
        {"9.csv", "id,lower,upper,size,begin\nb,0,9,1,0\n", "there are two columns lower"},
        {"10.csv", "", "there is no column id"},
        {"11.csv", "id,lower,upper,size,alignment\nb,0,9,1,4294967296\n", "the alignment is too large"},
        {"12.json",
         "{\"levels\": [{\"name\": \"a\", \"bytes\": 9}], \"buffers\": [{\"name\": \"b\", \"bytes\": 1, \"first\": 0, "
         "\"last\": 9, \"gaps\": [[1, 2], [3]]}]}",
         "[json-type] key 'buffers[0].gaps[1]': this is no gap"},
        {"13.json",
         "{\"levels\": [{\"name\": \"a\", \"bytes\": 9}], \"buffers\": [{\"name\": \"b\", \"bytes\": 1, \"first\": 0, "
         "\"last\": 9, \"gaps\": [[5, 6], [3, 4]]}]}",
         "[json-range] key 'buffers[0].gaps': the gaps are not within the life"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        xpu_memplan_problem problem;
        const char *path = write(b, rows[i].name, rows[i].text);
        CU_ASSERT_EQUAL(xpu_memplan_read(b->arena, path, 0, &problem, &b->diags), XPU_EUSAGE);
        expect_rule(b, rows[i].error);
    }
    static const xpu_memplan_steps gaps[] = {{3, 9}};
    static const xpu_memplan_level level = {.name = "SM", .bytes = 200};
    const xpu_memplan_buffer buffer = {.name = "w", .last = 9, .gaps = gaps, .gap_count = 1, .level_count = 1};
    const xpu_memplan_problem problem = {.levels = &level, .level_count = 1, .buffers = &buffer, .buffer_count = 1};
    xpu_memplan *plan;
    CU_ASSERT_EQUAL(xpu_memplan_make(b->arena, &problem, NULL, &plan, &b->diags), XPU_EMODEL);
    expect_rule(b, "[plan-problem] 'w': it lives from step 0 to 9, and one of its gaps is elsewhere");
}

/* What CSV cannot hold is said, and nothing is written. */
static void not_as_csv(bench *b) {
    xpu_memplan_problem problem = read(b, "p.json", json_text);
    const char *path = xpu_path_join(b->arena, b->folder, "no.csv");
    xpu_memplan_buffer buffers[4];
    xpu_memplan *plan, again;
    CU_ASSERT_EQUAL_FATAL(xpu_memplan_make(b->arena, &problem, NULL, &plan, &b->diags), XPU_OK);
    memcpy(buffers, problem.buffers, sizeof buffers);
    buffers[2].name = "a,b";
    problem.buffers = buffers;
    CU_ASSERT_EQUAL(xpu_memplan_write(b->arena, path, &problem, plan, &b->diags), XPU_EUSAGE);
    expect_rule(b, "[memplan-csv] buffer 2: the plan cannot be written as CSV");
    CU_ASSERT(!xpu_file_exists(path));
    path = write(b, "half.csv", "id,lower,upper,size,offset\nw,0,12,100,0\n");
    CU_ASSERT_EQUAL(xpu_memplan_read_plan(b->arena, path, &problem, &again, &b->diags), XPU_EUSAGE);
    expect_rule(b, "[memplan-name] key 'offset': a buffer has no place");
}

#define TESTS(X)                                                                                                       \
    X(plan_both)                                                                                                       \
    X(other_columns)                                                                                                   \
    X(validate)                                                                                                        \
    X(show)                                                                                                            \
    X(shortage)                                                                                                        \
    X(wrong)                                                                                                           \
    X(not_as_csv)

#define X(name)                                                                                                        \
    static void test_##name(void) {                                                                                    \
        with_bench(name);                                                                                              \
    }
TESTS(X)
#undef X

XPU_TEST_MAIN("buffers with gaps", {"plans", test_plan_both}, {"columns", test_other_columns},
              {"validator", test_validate}, {"shown", test_show}, {"shortage", test_shortage}, {"wrong", test_wrong},
              {"CSV", test_not_as_csv})
