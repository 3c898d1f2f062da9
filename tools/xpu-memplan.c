/* xpu-memplan: plans memory for a problem given as a file, checks plans, draws them. */
#include <string.h>

#include "base/file.h"
#include "memplan/file.h"
#include "tools/common/rules.h"
#include "tools/memplan/memplan.h"

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

/* `words`: with the command's own name. */
static const struct {
    const char *name;
    uint32_t words;
    xpu_memplan_command_run run;
} commands[] = {
    {"plan", 2, xpu_memplan_plan_command},
    {"check", 3, xpu_memplan_check_command},
    {"svg", 3, xpu_memplan_svg_command},
};

/* The command of the first words, or NULL. */
static xpu_memplan_command_run find_command(const xpu_tool *tool) {
    const char *name = xpu_tool_word(tool, 0);
    for (uint32_t i = 0; name && i < sizeof commands / sizeof *commands; i++) {
        if (strcmp(name, commands[i].name) == 0 && xpu_tool_words(tool) == commands[i].words) return commands[i].run;
    }
    return NULL;
}

static int run(xpu_tool *tool) {
    const char *action = xpu_tool_word(tool, 0), *problem_path = xpu_tool_word(tool, 1);
    const char *output = xpu_tool_option(tool, "output");
    xpu_memplan_command_run run_command = find_command(tool);
    if (!run_command) {
        return xpu_tool_usage(tool, NULL, "this is no command",
                              "the commands are plan PROBLEM, check PROBLEM PLAN and svg PROBLEM PLAN",
                              "see xpu-memplan --help");
    }
    if (strcmp(action, "svg") == 0 && !output) {
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
    const xpu_tool_output written = {"output", output};
    int status =
        xpu_tool_check_outputs(tool, &written, 1, (const char *const[]){problem_path, xpu_tool_word(tool, 2), NULL});
    if (!status) status = xpu_memplan_number(tool, "bytes", &bytes);
    if (!status && output) status = (int)xpu_output_check(tool->arena, output, &tool->diags);
    if (!status) status = (int)xpu_memplan_read(tool->arena, problem_path, bytes, &problem, &tool->diags);
    return status ? status : run_command(tool, &problem);
}

int main(int argc, char **argv) {
    return xpu_tool_main(&command, argc, argv, run);
}
