/*
 * What the planner reads: problems as CSV (csv) and JSON (problem), plans (plan), and what xpu-memplan shows: reports
 * of xpuc and compiled programs (view). What is taken is used: planned, checked, written, read again, drawn, explained.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "memplan/check.h"
#include "memplan/explain.h"
#include "memplan/file.h"
#include "memplan/moves.h"
#include "memplan/report.h"
#include "memplan/rules.h"
#include "tests/fuzz/hostile.h"
#include "tools/memplan/view.h"
#include "xpuc/include/xpuc.h"

/* Of a valid plan that is judged to be none: no status that is documented. */
enum { NOT_DOCUMENTED = 99, MOST_EXPLAINED = 50, BUDGET = 2000 };

static const char *const problems[] = {
    "{\"levels\": [{\"name\": \"SM\", \"bytes\": 8192, \"reserved\": 64, \"alignment\": 64, \"bytes_per_cycle\": 64,\n"
    "  \"banks\": 8, \"bank_bytes\": 64, \"bank_fields\": 3}, {\"name\": \"GM\", \"bytes\": 1048576}],\n"
    " \"buffers\": [{\"name\": \"a\", \"bytes\": 4096, \"first\": 0, \"last\": 2, \"levels\": [\"SM\", \"GM\"]},\n"
    "  {\"name\": \"b\", \"bytes\": 4096, \"first\": 2, \"last\": 3, \"alignment\": 16, \"access_bytes\": 9000},\n"
    "  {\"name\": \"c\", \"bytes\": 64, \"first\": 0, \"last\": 3, \"levels\": [\"SM\"], \"offset\": 0},\n"
    "  {\"name\": \"w\", \"bytes\": 6000, \"first\": 0, \"last\": 3, \"kind\": \"weight\"}],\n"
    " \"aliases\": [{\"buffer\": \"b\", \"other\": \"a\", \"kind\": \"in-place\"}]}\n",
    "{\"levels\": [{\"name\": \"SM\", \"bytes\": 2048}, {\"name\": \"L3\", \"bytes\": 4096, \"alignment\": 32},\n"
    "  {\"name\": \"GM\", \"bytes\": 65536, \"bytes_per_cycle\": 8}],\n"
    " \"buffers\": [{\"name\": \"x\", \"bytes\": 256, \"first\": 0, \"last\": 4, \"levels\": [\"L3\", \"GM\"]},\n"
    "  {\"name\": \"y\", \"bytes\": 512, \"first\": 4, \"last\": 6, \"levels\": [\"L3\", \"GM\"]},\n"
    "  {\"name\": \"z\", \"bytes\": 64, \"first\": 1, \"last\": 4},\n"
    "  {\"name\": \"v\", \"bytes\": 128, \"first\": 5, \"last\": 7, \"kind\": \"scratch\"},\n"
    "  {\"name\": \"t\", \"bytes\": 512, \"first\": 6, \"last\": 8, \"levels\": [\"L3\", \"GM\"]},\n"
    "  {\"name\": \"g\", \"bytes\": 1500, \"first\": 0, \"last\": 12, \"gaps\": [[2, 5], [7, 9]]}],\n"
    " \"aliases\": [{\"buffer\": \"x\", \"other\": \"y\", \"kind\": \"part\", \"offset\": 256},\n"
    "  {\"buffer\": \"z\", \"other\": \"y\", \"kind\": \"part\", \"rows\": 4, \"row_bytes\": 16, \"pitch\": 64},\n"
    "  {\"buffer\": \"v\", \"other\": \"y\", \"kind\": \"view\", \"offset\": 64},\n"
    "  {\"buffer\": \"t\", \"other\": \"y\", \"kind\": \"in-place\"}]}\n",
    "{\"levels\": [{\"name\": \"SM\", \"bytes\": 4096, \"bytes_per_cycle\": 64, \"latency\": 4},\n"
    "  {\"name\": \"GM\", \"bytes\": 65536, \"bytes_per_cycle\": 4, \"latency\": 10}],\n"
    " \"steps\": [{\"name\": \"s\", \"cycles\": 1000}, {\"cycles\": 1000}, {\"cycles\": 300}, {\"cycles\": 3000},\n"
    "  {\"cycles\": 50}],\n"
    " \"buffers\": [{\"name\": \"h\", \"bytes\": 2048, \"first\": 0, \"last\": 3, \"kind\": \"weight\", \"home\": "
    "\"GM\",\n"
    "   \"uses\": [[2, 2048]]},\n"
    "  {\"name\": \"m\", \"bytes\": 2500, \"first\": 0, \"last\": 4, \"uses\": [[0, 2500], [4, 2500]]},\n"
    "  {\"name\": \"k\", \"bytes\": 64, \"first\": 0, \"last\": 4, \"uses\": [[0, 64]], \"levels\": [\"SM\"]},\n"
    "  {\"name\": \"n\", \"bytes\": 1500, \"first\": 1, \"last\": 4, \"uses\": [[1, 1500], [4, 1500]],\n"
    "   \"anew\": {\"cycles\": 20, \"operands\": [\"k\"]}}]}\n"};
static const char rules_text[] =
    "{\"rules\": [{\"match\": \"[a-c]\", \"level\": \"SM\", \"strength\": \"prefer\"},\n"
    "  {\"match\": \"?\", \"kind\": \"weight\", \"level\": \"GM\", \"offset\": 4096, \"strength\": \"prefer\"},\n"
    "  {\"match\": \"*\", \"level\": \"SM\", \"bank\": 1, \"strength\": \"never\"},\n"
    "  {\"match\": \"t\", \"level\": \"GM\", \"strength\": \"must\"}]}\n";
enum { PROBLEMS = sizeof problems / sizeof *problems };

/* ---- files beside the one that is damaged, in the folder of this process ---- */

static const char *folder;

static const char *beside(const char *name) {
    static char path[300];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

static void put_text(const char *name, const char *text) {
    hostile_file file = {NULL, 0, 0};
    hostile_set(&file, text, strlen(text));
    hostile_put(folder, name, &file);
    hostile_clear(&file);
}

/* ---- using a plan that holds ---- */

static xpu_status show(xpu_arena *arena, const xpu_memplan_problem *problem, const xpu_memplan *plan,
                       xpu_diags *diags) {
    xpu_status status = xpu_memplan_draw(arena, beside("out.svg"), problem, plan, diags);
    if (status != XPU_OK) return status;
    xpu_memplan_text(arena, problem, plan);
    xpu_memplan_json(arena, problem, plan);
    for (uint32_t i = 0; i < problem->buffer_count && i < MOST_EXPLAINED; i++) {
        xpu_memplan_reason reason = xpu_memplan_explain(arena, problem, plan, i);
        xpu_memplan_reason_text(arena, problem, plan, &reason);
        xpu_memplan_reason_json(arena, problem, plan, &reason);
    }
    return XPU_OK;
}

/* The same of places in time. */
static xpu_status show_moves(xpu_arena *arena, const xpu_memplan_problem *problem, const xpu_memplan_moves *moves,
                             xpu_diags *diags) {
    xpu_memplan_moves_text(arena, problem, moves);
    xpu_memplan_moves_json(arena, problem, moves);
    xpu_status status = xpu_memplan_draw_moves(arena, beside("moves.svg"), moves, diags);
    return status == XPU_OK ? show(arena, &moves->problem, &moves->plan, diags) : status;
}

static xpu_status make_moves(xpu_arena *arena, const xpu_memplan_problem *problem, const xpu_memplan_options *options,
                             xpu_diags *diags) {
    xpu_memplan_moves *moves, again;
    const char *path = beside("out.json");
    xpu_status status = xpu_memplan_make_moves(arena, problem, options, &moves, diags);
    if (status != XPU_OK) return status;
    if (xpu_memplan_check_moves(arena, problem, moves, diags) != XPU_OK) return (xpu_status)NOT_DOCUMENTED;
    status = xpu_memplan_write_moves(arena, path, problem, moves, diags);
    if (status != XPU_OK) return status;
    if (xpu_memplan_read_moves(arena, path, problem, &again, diags) != XPU_OK ||
        xpu_memplan_check_moves(arena, problem, &again, diags) != XPU_OK)
        return (xpu_status)NOT_DOCUMENTED;
    return show_moves(arena, problem, moves, diags);
}

/* Plans; the plan must hold, also when it was written and read again. */
static xpu_status make_plan(xpu_arena *arena, const xpu_memplan_problem *problem, hostile_random *random,
                            xpu_diags *diags) {
    xpu_memplan_options options = {.step_budget = hostile_chance(random, 30) ? 1 : BUDGET,
                                   .no_aliases = hostile_chance(random, 10)};
    xpu_memplan *plan, again;
    if (problem->timeline) return make_moves(arena, problem, &options, diags);
    xpu_status status = xpu_memplan_make(arena, problem, &options, &plan, diags);
    if (status != XPU_OK) return status;
    if (xpu_memplan_check(arena, problem, plan, diags) != XPU_OK) return (xpu_status)NOT_DOCUMENTED;
    const int holds_csv = problem->level_count == 1 && !problem->alias_count && !problem->levels[0].reserved;
    for (int form = 0; form < 1 + holds_csv; form++) {
        const char *path = beside(form ? "out.csv" : "out.json");
        status = xpu_memplan_write(arena, path, problem, plan, diags);
        if (status != XPU_OK) return status;
        if (xpu_memplan_read_plan(arena, path, problem, &again, diags) != XPU_OK ||
            xpu_memplan_check(arena, problem, &again, diags) != XPU_OK)
            return (xpu_status)NOT_DOCUMENTED;
    }
    return show(arena, problem, plan, diags);
}

/* ---- CSV ---- */

static void load_folder(void) {
    folder = hostile_own_folder("memplan");
}

enum { COLUMNS = 7 };

/* Lines of buffers, one of its numbers or its whole text damaged. */
static void make_csv(hostile_random *random, hostile_file *file) {
    static const char *const odd[] = {"",    "-1",         "+1",    " 1",         "1 ",  "0x10",       "1e3",
                                      "1.5", "\xff",       "1,2",   ",",          "\r",  "4294967296", "00",
                                      "a",   "1073741824", "\"1\"", "2147483648", "3-4", "1-2 4-9",    "5-3@1:2"};
    uint32_t rows = hostile_below(random, hostile_chance(random, 95) ? 30 : 400),
             wrong = hostile_below(random, rows + 1);
    int field = hostile_chance(random, 60) ? (int)hostile_below(random, COLUMNS) : COLUMNS;
    hostile_set(file, "", 0);
    if (hostile_chance(random, 98))
        hostile_add_text(file, hostile_chance(random, 90) ? "id,lower,upper,size,alignment,gaps,offset\n"
                                                          : "buffer,start,end,size,alignment,gaps,offset\n");
    for (uint32_t i = 0; i < rows; i++) {
        char cells[COLUMNS][32], line[300];
        uint32_t first = hostile_below(random, 40), last = first + 1 + hostile_below(random, 20);
        snprintf(cells[0], sizeof cells[0], "b%" PRIu32, i);
        snprintf(cells[1], sizeof cells[1], "%" PRIu32, first);
        snprintf(cells[2], sizeof cells[2], "%" PRIu32, last);
        snprintf(cells[3], sizeof cells[3], "%" PRIu32, 16 * hostile_below(random, 500));
        snprintf(cells[4], sizeof cells[4], "%s", hostile_chance(random, 80) ? "" : "32");
        snprintf(cells[5], sizeof cells[5], "%" PRIu32 "-%" PRIu32, first + 1, first + 2);
        if (last < first + 4 || hostile_chance(random, 60)) *cells[5] = '\0';
        *cells[6] = '\0';
        if (hostile_chance(random, 3)) snprintf(cells[6], sizeof cells[6], "%" PRIu32, 32 * hostile_below(random, 99));
        if (i == wrong && field < COLUMNS) {
            if (hostile_chance(random, 50))
                snprintf(cells[field], sizeof *cells, "%" PRId64, hostile_number(random));
            else
                snprintf(cells[field], sizeof *cells, "%s", odd[hostile_below(random, sizeof odd / sizeof *odd)]);
        }
        snprintf(line, sizeof line, "%s,%s,%s,%s,%s,%s,%s%s", cells[0], cells[1], cells[2], cells[3], cells[4],
                 cells[5], cells[6], hostile_chance(random, 5) ? "\r\n" : "\n");
        hostile_add_text(file, line);
    }
    if (field == COLUMNS && hostile_chance(random, 70)) hostile_damage(random, file);
}

static xpu_status use_csv(xpu_arena *arena, const hostile_file *file, hostile_random *random, xpu_diags *diags) {
    static const uint64_t sizes[] = {0, 1, 4096, 65536, 1u << 20, XPU_MEMPLAN_MAX_BYTES, UINT64_MAX};
    xpu_memplan_problem problem;
    uint64_t bytes = sizes[hostile_below(random, sizeof sizes / sizeof *sizes)];
    xpu_status status = xpu_memplan_read(arena, hostile_save(file, ".csv"), bytes, &problem, diags);
    return status == XPU_OK ? make_plan(arena, &problem, random, diags) : status;
}

static void feed_csv(hostile_random *random, const hostile_file *file, hostile_result *result) {
    hostile_guard(result, "xpu_memplan_read of CSV", use_csv, random, file);
}

/* ---- problems ---- */

static void damage(hostile_random *random, hostile_file *file) {
    if (hostile_chance(random, 92))
        hostile_damage_json(random, file);
    else
        hostile_damage(random, file);
}

static void make_problem(hostile_random *random, hostile_file *file) {
    const char *text = problems[hostile_below(random, PROBLEMS)];
    hostile_set(file, text, strlen(text));
    damage(random, file);
}

static xpu_status use_problem(xpu_arena *arena, const hostile_file *file, hostile_random *random, xpu_diags *diags) {
    xpu_memplan_problem problem;
    xpu_memory_rules rules;
    xpu_status status = xpu_memplan_read(arena, hostile_save(file, ".json"), 0, &problem, diags);
    if (status == XPU_OK && hostile_chance(random, 30)) {
        status = xpu_memory_rules_parse(arena, rules_text, sizeof rules_text - 1, "rules.json", &rules, diags);
        if (status == XPU_OK) status = xpu_memory_rules_apply(arena, &rules, &problem, diags);
    }
    return status == XPU_OK ? make_plan(arena, &problem, random, diags) : status;
}

static void feed_problem(hostile_random *random, const hostile_file *file, hostile_result *result) {
    hostile_guard(result, "xpu_memplan_read of JSON", use_problem, random, file);
}

/* ---- plans ---- */

static hostile_file plans[PROBLEMS];
static const char *const problem_names[PROBLEMS] = {"p0.json", "p1.json", "p2.json"};

static void load_plans(void) {
    load_folder();
    for (int i = 0; i < PROBLEMS; i++) {
        hostile_result result = {.refused = 0};
        hostile_random random = {1};
        hostile_file text = {NULL, 0, 0};
        hostile_set(&text, problems[i], strlen(problems[i]));
        feed_problem(&random, &text, &result);
        if (result.refused) abort();
        hostile_load(&plans[i], beside("out.json"));
        put_text(problem_names[i], problems[i]);
        hostile_clear(&text);
    }
}

static void make_plan_file(hostile_random *random, hostile_file *file) {
    const hostile_file *seed = &plans[hostile_below(random, PROBLEMS)];
    hostile_set(file, seed->data, seed->size);
    damage(random, file);
}

/* The damaged plan of one of the problems. One that does not hold is the file's fault. */
static xpu_status use_plan(xpu_arena *arena, const hostile_file *file, hostile_random *random, xpu_diags *diags) {
    xpu_memplan_problem problem;
    xpu_memplan plan;
    uint32_t of = memmem(file->data, file->size, "\"w\"", 3) ? 0 : memmem(file->data, file->size, "\"h\"", 3) ? 2 : 1;
    if (hostile_chance(random, 3)) of = hostile_below(random, PROBLEMS);
    xpu_status status = xpu_memplan_read(arena, beside(problem_names[of]), 0, &problem, diags);
    if (status != XPU_OK) return (xpu_status)NOT_DOCUMENTED;
    if (problem.timeline) {
        xpu_memplan_moves moves;
        status = xpu_memplan_read_moves(arena, hostile_save(file, ".json"), &problem, &moves, diags);
        if (status == XPU_OK) status = xpu_memplan_check_moves(arena, &problem, &moves, diags);
        return status == XPU_OK ? show_moves(arena, &problem, &moves, diags) : status;
    }
    status = xpu_memplan_read_plan(arena, hostile_save(file, ".json"), &problem, &plan, diags);
    if (status == XPU_OK) status = xpu_memplan_check(arena, &problem, &plan, diags);
    return status == XPU_OK ? show(arena, &problem, &plan, diags) : status;
}

static void feed_plan(hostile_random *random, const hostile_file *file, hostile_result *result) {
    hostile_guard(result, "xpu_memplan_read_plan", use_plan, random, file);
}

/* ---- reports and programs ---- */

static const char report_text[] =
    "{\"program\": {\"layers\": [{\"name\": \"conv\"}, {\"name\": \"add\"}, {\"name\": \"relu\"}], \"memory\": {\n"
    " \"levels\": [{\"name\": \"SM\", \"bytes\": 4096, \"reserved\": 64, \"alignment\": 64},\n"
    "  {\"name\": \"GM\", \"bytes\": 65536, \"reserved\": 0}],\n"
    " \"spills\": [{\"buffer\": \"b\", \"preferred\": \"SM\", \"level\": \"GM\", \"why\": \"no room\"}],\n"
    " \"buffers\": [\n"
    "  {\"name\": \"a\", \"kind\": \"weight\", \"level\": \"SM\", \"offset\": 64, \"bytes\": 512, \"first\": 0, "
    "\"last\": 2},\n"
    "  {\"name\": \"b\", \"kind\": \"activation\", \"level\": \"GM\", \"offset\": 0, \"bytes\": 4000, \"first\": 0, "
    "\"last\": 1},\n"
    "  {\"name\": \"c\", \"kind\": \"activation\", \"level\": \"GM\", \"offset\": 0, \"bytes\": 2000, \"first\": 1, "
    "\"last\": 2, \"alias_of\": \"b\"},\n"
    "  {\"name\": \"d\", \"kind\": \"scratch\", \"level\": \"SM\", \"offset\": 1024, \"bytes\": 100, \"first\": 2, "
    "\"last\": 2}]}}}\n";
enum { REPORTS = 2, COMPILED = 2 };
static hostile_file reports[REPORTS], compiled[COMPILED];

static void load_views(void) {
    load_folder();
    xpuc_options options = {
        .chip = "nano", .emit = "c", .report = beside("report.json"), .resources = getenv("XPU_RESOURCES")};
    xpuc_result result;
    hostile_set(&reports[0], report_text, sizeof report_text - 1);
    if (xpuc_compile_file("tests/models/mnist-8.onnx", &options, &result, NULL)) abort();
    xpuc_result_clear(&result);
    hostile_load(&reports[1], beside("report.json"));
    hostile_compile(&compiled[0], "tests/models/mnist-8.onnx", "nano", "auto", NULL);
    hostile_compile(&compiled[1], "examples/digits/digits.onnx", "nano", "auto", "x=1..16,1,16,16");
}

static void make_view(hostile_random *random, hostile_file *file) {
    int is_program = hostile_chance(random, 25);
    const hostile_file *seed = is_program                   ? &compiled[hostile_below(random, COMPILED)]
                               : hostile_chance(random, 75) ? &reports[0]
                                                            : &reports[1];
    hostile_set(file, seed->data, seed->size);
    if (is_program)
        hostile_program_damage(random, file);
    else
        damage(random, file);
}

static int is_elf(const hostile_file *file) {
    return file->size >= 4 && memcmp(file->data, "\177ELF", 4) == 0;
}

/* As xpu-memplan report and svg do it; a problem without its plan is refused before. */
static xpu_status use_view(xpu_arena *arena, const hostile_file *file, hostile_random *random, xpu_diags *diags) {
    static xpu_tool tool;
    static xpu_argument words[2];
    (void)random;
    words[0].value = "report";
    words[1].value = hostile_save(file, is_elf(file) ? ".xpu" : ".json");
    tool = (xpu_tool){.diags = *diags, .arena = arena, .arguments = {words, 2, 2}, .quiet = 1};
    xpu_mem_init(&tool.mem);
    if (setjmp(tool.mem.out_of_memory)) {
        xpu_mem_release(&tool.mem);
        *diags = tool.diags;
        return xpu_error_oom(diags);
    }
    xpu_memplan_view view;
    int whole = xpu_memplan_view_is_whole(&tool, words[1].value);
    xpu_status status = whole ? (xpu_status)xpu_memplan_view_read(&tool, &view) : XPU_OK;
    if (whole && status == XPU_OK) status = show(arena, &view.problem, &view.plan, &tool.diags);
    xpu_mem_release(&tool.mem);
    *diags = tool.diags;
    return status;
}

/* xpu-memplan what-if, in a process of its own: it prints. */
static void compare_memories(const char *program, hostile_result *result) {
    hostile_tool_run(result,
                     (const char *const[]){"xpu-memplan", "what-if", program, "--set=l3.bytes=16K,64K",
                                           "--set=gm.bytes_per_cycle=4", "--json", NULL},
                     folder, 0);
}

static void feed_view(hostile_random *random, const hostile_file *file, hostile_result *result) {
    hostile_guard(result, "xpu_memplan_view_read", use_view, random, file);
    if (is_elf(file) && hostile_chance(random, 20)) compare_memories(hostile_save(file, ".xpu"), result);
}

const hostile_kind hostile_csv = {"csv", ".csv", load_folder, make_csv, feed_csv};
const hostile_kind hostile_problem = {"problem", ".json", load_folder, make_problem, feed_problem};
const hostile_kind hostile_plan = {"plan", ".json", load_plans, make_plan_file, feed_plan};
const hostile_kind hostile_view = {"view", ".json", load_views, make_view, feed_view};
