/* Problems and plans as files: what is written is read back, and what is wrong has a name. */
#include <stdlib.h>

#include "base/file.h"
#include "memplan/check.h"
#include "memplan/file.h"
#include "tests/unit/memplan.h"
#include "tests/unit/bench.h"
#include "tests/unit/unit.h"

static const char *write(bench *b, const char *name, const char *text) {
    const char *path = xpu_path_join(b->arena, b->folder, name);
    CU_ASSERT_EQUAL_FATAL(xpu_file_write(b->arena, path, text, strlen(text), &b->diags), XPU_OK);
    return path;
}

static const char PROBLEM[] =
    "{\"levels\": [{\"name\": \"SM\", \"bytes\": 8192, \"reserved\": 64, \"alignment\": 64, \"bytes_per_cycle\": 64},\n"
    "              {\"name\": \"GM\", \"bytes\": 1048576}],\n"
    " \"buffers\": [{\"name\": \"a\", \"bytes\": 4096, \"first\": 0, \"last\": 2, \"levels\": [\"SM\", \"GM\"]},\n"
    "               {\"name\": \"b\", \"bytes\": 4096, \"first\": 2, \"last\": 3, \"alignment\": 16},\n"
    "               {\"name\": \"c\", \"bytes\": 64, \"first\": 0, \"last\": 3, \"levels\": [\"SM\"], \"offset\": 0},\n"
    "               {\"name\": \"w<1>\", \"bytes\": 6000, \"first\": 0, \"last\": 3, \"kind\": \"weight\"}],\n"
    " \"aliases\": [{\"buffer\": \"b\", \"other\": \"a\", \"kind\": \"in-place\"}]}\n";

static void round_trip(bench *b) {
    xpu_memplan_problem problem;
    xpu_memplan *made, again;
    const char *path = write(b, "problem.json", PROBLEM), *plan_path = xpu_path_join(b->arena, b->folder, "plan.json");
    CU_ASSERT_EQUAL_FATAL(xpu_memplan_read(b->arena, path, 0, &problem, &b->diags), XPU_OK);
    CU_ASSERT_EQUAL(problem.level_count, 2);
    CU_ASSERT_EQUAL(problem.buffer_count, 4);
    CU_ASSERT_EQUAL(problem.buffers[1].alignment, 16);
    CU_ASSERT_EQUAL(problem.buffers[1].level_count, 2);
    CU_ASSERT(problem.buffers[2].pinned && problem.buffers[2].pinned_offset == 0);
    CU_ASSERT_EQUAL(problem.buffers[3].kind, XPU_MEMPLAN_WEIGHT);
    CU_ASSERT_EQUAL_FATAL(xpu_memplan_make(b->arena, &problem, NULL, &made, &b->diags), XPU_OK);
    CU_ASSERT_EQUAL(xpu_memplan_write(b->arena, plan_path, &problem, made, &b->diags), XPU_OK);
    CU_ASSERT_EQUAL_FATAL(xpu_memplan_read_plan(b->arena, plan_path, &problem, &again, &b->diags), XPU_OK);
    CU_ASSERT_EQUAL(xpu_memplan_check(b->arena, &problem, &again, &b->diags), XPU_OK);
    for (uint32_t i = 0; i < problem.buffer_count; i++) {
        CU_ASSERT_EQUAL(again.places[i].offset, made->places[i].offset);
        CU_ASSERT_EQUAL(again.places[i].level, made->places[i].level);
        CU_ASSERT_EQUAL(again.places[i].alias, made->places[i].alias);
    }
    CU_ASSERT_EQUAL(again.spill_count, made->spill_count);
    const char *svg = xpu_path_join(b->arena, b->folder, "plan.svg");
    CU_ASSERT_EQUAL(xpu_memplan_draw(b->arena, svg, &problem, made, &b->diags), XPU_OK);
    size_t length;
    const char *text = xpu_file_read_all(b->arena, svg, 1 << 20, &length, &b->diags);
    CU_ASSERT_PTR_NOT_NULL_FATAL(text);
    CU_ASSERT_PTR_NOT_NULL(strstr(text, "<title>w&lt;1&gt;: 6000 bytes"));
    CU_ASSERT_PTR_NOT_NULL(strstr(text, "</svg>"));
}
static void there_and_back(void) {
    with_bench(round_trip);
}

/* Two alternatives of the same two buffers: a written plan says which one was taken. */
static void which_alternative(bench *b) {
    static const char two[] =
        "{\"levels\": [{\"name\": \"SM\", \"bytes\": 2048}],\n"
        " \"buffers\": [{\"name\": \"x\", \"bytes\": 256, \"first\": 0, \"last\": 4},\n"
        "  {\"name\": \"y\", \"bytes\": 512, \"first\": 4, \"last\": 6},\n"
        "  {\"name\": \"z\", \"bytes\": 64, \"first\": 1, \"last\": 4}],\n"
        " \"aliases\": [{\"buffer\": \"x\", \"other\": \"y\", \"kind\": \"part\", \"offset\": 256},\n"
        "  {\"buffer\": \"z\", \"other\": \"y\", \"kind\": \"part\", \"rows\": 4, \"row_bytes\": 16, "
        "\"pitch\": 128},\n"
        "  {\"buffer\": \"z\", \"other\": \"y\", \"kind\": \"part\", \"rows\": 4, \"row_bytes\": 16, "
        "\"pitch\": 64}]}\n";
    xpu_memplan_problem problem;
    xpu_memplan *made, again;
    const char *path = write(b, "two.json", two), *plan_path = xpu_path_join(b->arena, b->folder, "two.plan.json");
    CU_ASSERT_EQUAL_FATAL(xpu_memplan_read(b->arena, path, 0, &problem, &b->diags), XPU_OK);
    CU_ASSERT_EQUAL_FATAL(xpu_memplan_make(b->arena, &problem, NULL, &made, &b->diags), XPU_OK);
    CU_ASSERT_EQUAL(made->places[2].alias, 2);
    CU_ASSERT_EQUAL(xpu_memplan_write(b->arena, plan_path, &problem, made, &b->diags), XPU_OK);
    CU_ASSERT_EQUAL_FATAL(xpu_memplan_read_plan(b->arena, plan_path, &problem, &again, &b->diags), XPU_OK);
    CU_ASSERT_EQUAL(again.places[2].alias, 2);
    CU_ASSERT_EQUAL(xpu_memplan_check(b->arena, &problem, &again, &b->diags), XPU_OK);
}
static void alternatives(void) {
    with_bench(which_alternative);
}

static void read_csv(bench *b) {
    xpu_memplan_problem problem;
    const char *path = write(b, "p.csv", "id,lower,upper,size\nb1,0,3,4\nb2,3,9,4\nb3,0,9,4\n");
    CU_ASSERT_EQUAL_FATAL(xpu_memplan_read(b->arena, path, 8, &problem, &b->diags), XPU_OK);
    CU_ASSERT_EQUAL(problem.buffer_count, 3);
    CU_ASSERT_EQUAL(problem.buffers[1].first, 3);
    CU_ASSERT_EQUAL(problem.buffers[1].last, 8);
    xpu_memplan *plan;
    CU_ASSERT_EQUAL_FATAL(xpu_memplan_make(b->arena, &problem, NULL, &plan, &b->diags), XPU_OK);
    CU_ASSERT_EQUAL(plan->usage[0].peak, 8);
}
static void csv(void) {
    with_bench(read_csv);
}

static void read_wrong(bench *b) {
    static const struct {
        const char *name, *text, *rule;
    } rows[] = {
        {"1.json", "{\"levels\": [], \"buffers\": 3}", "json-type"},
        {"2.json", "{\"levels\": [{\"name\": \"a\", \"bytes\": -1}], \"buffers\": []}", "json-range"},
        {"3.json", "{\"levels\": [{\"name\": \"a\", \"bytes\": 9, \"size\": 1}], \"buffers\": []}", "json-unknown-key"},
        {"4.json",
         "{\"levels\": [{\"name\": \"a\", \"bytes\": 9}],"
         " \"buffers\": [{\"name\": \"x\", \"bytes\": 1, \"first\": 0, \"last\": 0, \"levels\": [\"b\"]}]}",
         "memplan-name"},
        {"5.json",
         "{\"levels\": [{\"name\": \"a\", \"bytes\": 9}],"
         " \"buffers\": [{\"name\": \"x\", \"bytes\": 1, \"first\": 0, \"last\": 0},"
         " {\"name\": \"x\", \"bytes\": 1, \"first\": 0, \"last\": 0}]}",
         "memplan-name"},
        {"6.json",
         "{\"levels\": [{\"name\": \"a\", \"bytes\": 9}], \"buffers\": [],"
         " \"aliases\": [{\"buffer\": \"x\", \"other\": \"y\", \"kind\": \"view\"}]}",
         "memplan-name"},
        {"7.csv", "id,lower,upper,size\nb,5,5,1\n", "memplan-csv"},
        {"8.csv", "id,lower,upper,size\nb,5\n", "memplan-csv"},
        {"9.csv", "id,lower,upper,size\nb,1,2,-3\n", "memplan-csv"},
        {"10.csv", "id,lower,upper,size\na,0,1,1\nb\xff,1,2,3\n", "memplan-csv] line 3"},
        {"11.csv", "id,lower,upper,size\n\xc3\xa9,0,1,1\n\xed\xa0\x80,1,2,3\n", "memplan-csv] line 3"},
        {"12.json", "{\"levels\": [0, 0, 0, 0, 0, 0, 0, 0, 0], \"buffers\": []}",
         "json-range] key 'levels': the list is too long"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        xpu_memplan_problem problem;
        const char *path = write(b, rows[i].name, rows[i].text);
        CU_ASSERT_EQUAL(xpu_memplan_read(b->arena, path, 0, &problem, &b->diags), XPU_EUSAGE);
        CU_ASSERT_PTR_NOT_NULL(strstr(all_text(b->arena, &b->diags), xpu_printf(b->arena, "[%s", rows[i].rule)));
        xpu_diags_clear(&b->diags);
        xpu_diags_init(&b->diags);
    }
}
/* Lists that are longer than a planner takes, and a line with a NUL byte. */
static void read_too_long(bench *b) {
    enum { ITEMS = XPU_MEMPLAN_MAX_MATCHES + 1 };
    static const char *const forms[] = {"{\"levels\": [], \"buffers\": [",
                                        "{\"levels\": [], \"buffers\": [], \"aliases\": ["};
    for (int i = 0; i < 2; i++) {
        xpu_memplan_problem problem;
        xpu_text text;
        xpu_text_init(&text, b->arena);
        xpu_text_add(&text, "%s", forms[i]);
        for (int n = 0; n < (i ? ITEMS : (int)XPU_MEMPLAN_MAX_BUFFERS + 1); n++)
            xpu_text_add_bytes(&text, n ? ",0" : "0", n ? 2 : 1);
        xpu_text_add(&text, "]}");
        const char *path = write(b, "long.json", text.text);
        CU_ASSERT_EQUAL(xpu_memplan_read(b->arena, path, 0, &problem, &b->diags), XPU_EUSAGE);
        const char *wanted =
            i ? "it has 4194305 elements; 4194304 are the limit" : "it has 1048577 elements; 1048576 are the limit";
        CU_ASSERT_PTR_NOT_NULL(strstr(all_text(b->arena, &b->diags), wanted));
        CU_ASSERT_EQUAL(b->diags.errors, 1);
        xpu_diags_clear(&b->diags);
        xpu_diags_init(&b->diags);
    }
    static const char csv[] = "id,lower,upper,size\na,0,1,1\nb\0,1,2,3\n";
    xpu_memplan_problem problem;
    const char *path = xpu_path_join(b->arena, b->folder, "nul.csv");
    CU_ASSERT_EQUAL_FATAL(xpu_file_write(b->arena, path, csv, sizeof csv - 1, &b->diags), XPU_OK);
    CU_ASSERT_EQUAL(xpu_memplan_read(b->arena, path, 0, &problem, &b->diags), XPU_EUSAGE);
    CU_ASSERT_PTR_NOT_NULL(
        strstr(all_text(b->arena, &b->diags), "line 3: the line is no buffer\n  why: it holds a NUL"));
}
static void too_long(void) {
    with_bench(read_too_long);
}

static void wrong_files(void) {
    with_bench(read_wrong);
}

XPU_TEST_MAIN("files of the planner", {"there and back", there_and_back}, {"alternatives", alternatives}, {"csv", csv},
              {"wrong files", wrong_files}, {"too long", too_long})
