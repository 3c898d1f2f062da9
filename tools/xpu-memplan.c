/* xpu-memplan: plans memory for a problem given as a file, checks plans, draws them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "memplan/check.h"
#include "memplan/file.h"
#include "tools/common/rules.h"
#include "tools/common/tool.h"

static const xpu_option options[] = {
    {"output", 'o', "FILE", "plan: where the plan goes; svg: the picture", XPU_WRITES},
    {"bytes", 0, "N", "the size of the memory that a .csv problem is for (as much as all buffers together)"},
    {"budget", 0, "N", "plan: comparisons to spend on a better plan (4000000); 1: the first valid one"},
    {"no-aliases", 0, NULL, "plan: every buffer gets bytes of its own"},
    {NULL, 0, NULL, NULL},
};

static const xpu_command command = {
    .tool = "xpu-memplan",
    .usage = "plan PROBLEM [-o PLAN.json] | check PROBLEM PLAN.json | svg PROBLEM PLAN.json -o FILE.svg",
    .about =
        "Plans a hierarchy of memories: places buffers with lifetimes, checks a plan with code that shares nothing\n"
        "with the planner, and draws it. PROBLEM: .json (docs/commands.md), or .csv with id,lower,upper,size.",
    .example = "xpu-memplan plan problem.json -o plan.json\n"
               "xpu-memplan check problem.json plan.json\n"
               "xpu-memplan svg problem.json plan.json -o plan.svg\n"
               "xpu-memplan plan A.1048576.csv --bytes=1048576",
    .options = options,
    .words = XPU_READS,
};

static int read_number(xpu_tool *tool, const char *option, uint64_t *value) {
    const char *text = xpu_tool_option(tool, option);
    char *end;
    *value = 0;
    if (!text) return XPU_OK;
    unsigned long long number = strtoull(text, &end, 10);
    if (*end || end == text || *text == '-' || number < 1) {
        return xpu_tool_usage(tool, xpu_printf(tool->arena, "option '--%s'", option), "this is no number",
                              xpu_escape(tool->arena, text, 80), "write a number of 1 or more");
    }
    *value = number;
    return XPU_OK;
}

static const char *name_text(const xpu_tool *tool, const char *name) {
    return xpu_escape(tool->arena, name, 100);
}

static void print_usage(const xpu_tool *tool, const xpu_memplan_problem *problem, const xpu_memplan *plan) {
    if (tool->quiet) return;
    printf("%-12s %8s %14s %14s %14s %10s %9s\n", "level", "buffers", "capacity", "peak", "lower bound", "gap",
           "holes");
    for (uint32_t i = 0; i < plan->level_count; i++) {
        const xpu_memplan_usage *u = &plan->usage[i];
        printf("%-12s %8u %14llu %14llu %14llu %10llu %7.1f %%\n", name_text(tool, problem->levels[i].name), u->buffers,
               (unsigned long long)u->capacity, (unsigned long long)u->peak, (unsigned long long)u->lower_bound,
               (unsigned long long)u->gap, u->fragmentation_permille / 10.0);
    }
    for (uint32_t i = 0; i < plan->spill_count; i++) {
        const xpu_memplan_spill *spill = &plan->spills[i];
        printf("'%s' is not in %s: %s\n", name_text(tool, problem->buffers[spill->buffer].name),
               name_text(tool, problem->levels[spill->preferred].name),
               xpu_escape_message(tool->arena, spill->why, 400));
    }
}

/* The last line: "problem.json: 2 buffers are placed -> plan.json" */
static int say(const xpu_tool *tool, const xpu_memplan_problem *problem, const char *done) {
    const char *output = xpu_tool_option(tool, "output");
    if (!tool->quiet)
        printf("%s: %u buffer%s %s%s%s\n", xpu_tool_path(tool, problem->file), problem->buffer_count,
               problem->buffer_count == 1 ? " is" : "s are", done, output ? " -> " : "",
               output ? xpu_tool_path(tool, output) : "");
    return XPU_OK;
}

static int make_plan(xpu_tool *tool, const xpu_memplan_problem *problem) {
    xpu_memplan_options with = {.no_aliases = xpu_tool_flag(tool, "no-aliases")};
    xpu_memplan *plan;
    const char *output = xpu_tool_option(tool, "output");
    int status = read_number(tool, "budget", &with.step_budget);
    if (!status) status = (int)xpu_memplan_make(tool->arena, problem, &with, &plan, &tool->diags);
    if (!status) status = (int)xpu_memplan_check(tool->arena, problem, plan, &tool->diags);
    if (!status && output) status = (int)xpu_memplan_write(tool->arena, output, problem, plan, &tool->diags);
    if (status) return status;
    print_usage(tool, problem, plan);
    return say(tool, problem, "placed");
}

/* A plan from a file that does not hold is the file's fault, not the planner's. */
static int with_plan(xpu_tool *tool, const xpu_memplan_problem *problem, const char *path, int draw) {
    xpu_memplan plan;
    const char *output = xpu_tool_option(tool, "output");
    int status = (int)xpu_memplan_read_plan(tool->arena, path, problem, &plan, &tool->diags);
    if (status) return status;
    if (xpu_memplan_check(tool->arena, problem, &plan, &tool->diags) != XPU_OK) return XPU_EUSAGE;
    if (draw) {
        status = (int)xpu_memplan_draw(tool->arena, output, problem, &plan, &tool->diags);
        return status ? status : say(tool, problem, "drawn");
    }
    print_usage(tool, problem, &plan);
    if (!tool->quiet) printf("%s: the plan is valid\n", xpu_tool_path(tool, path));
    return XPU_OK;
}

#define OF_PLAN(option)                                                                                                \
    {option,                                                                                                           \
     XPU_NEEDS,                                                                                                        \
     "plan",                                                                                                           \
     "this is for xpu-memplan plan",                                                                                   \
     "check and svg take the plan as it is",                                                                           \
     "leave it out, or make a plan: xpu-memplan plan PROBLEM"}
static const xpu_option_rule rules[] = {
    OF_PLAN("budget"),
    OF_PLAN("no-aliases"),
    {"output", XPU_EXCLUDES, "check", "check writes nothing", "it says whether the plan is valid", "leave it out"},
    {"bytes", XPU_NEEDS, "a .csv problem", "the problem has its levels",
     "--bytes is the size of the one level of a .csv", "leave it out"},
    {NULL},
};

static int run(xpu_tool *tool) {
    const char *action = xpu_tool_word(tool, 0), *problem_path = xpu_tool_word(tool, 1), *plan = xpu_tool_word(tool, 2);
    int planning = action && strcmp(action, "plan") == 0, drawing = action && strcmp(action, "svg") == 0;
    int checking = action && strcmp(action, "check") == 0;
    if ((!planning && !drawing && !checking) || xpu_tool_words(tool) != (planning ? 2u : 3u)) {
        return xpu_tool_usage(tool, NULL, "this is no command",
                              "the commands are plan PROBLEM, check PROBLEM PLAN and svg PROBLEM PLAN",
                              "see xpu-memplan --help");
    }
    if (drawing && !xpu_tool_option(tool, "output")) {
        return xpu_tool_usage(tool, "svg", "there is no file for the picture", "--output is missing",
                              "add -o FILE.svg");
    }
    size_t length = strlen(problem_path);
    int is_csv = length > 4 && strcmp(problem_path + length - 4, ".csv") == 0;
    int broken =
        xpu_tool_check_rules(tool, rules, (const char *const[]){action, is_csv ? "a .csv problem" : NULL, NULL});
    if (broken) return broken;
    xpu_memplan_problem problem;
    uint64_t bytes;
    const char *output = xpu_tool_option(tool, "output");
    const xpu_tool_output written = {"output", output};
    int status = xpu_tool_check_outputs(tool, &written, 1, (const char *const[]){problem_path, plan, NULL});
    if (!status) status = read_number(tool, "bytes", &bytes);
    if (!status && output) status = (int)xpu_output_check(tool->arena, output, &tool->diags);
    if (!status) status = (int)xpu_memplan_read(tool->arena, problem_path, bytes, &problem, &tool->diags);
    if (status) return status;
    return planning ? make_plan(tool, &problem) : with_plan(tool, &problem, plan, drawing);
}

int main(int argc, char **argv) {
    return xpu_tool_main(&command, argc, argv, run);
}
