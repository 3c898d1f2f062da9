/* xpu-memplan: plans memory for a problem given as a file, checks plans, draws them. */
#include <string.h>

#include "base/file.h"
#include "memplan/file.h"
#include "memplan/rules.h"
#include "tools/common/rules.h"
#include "tools/memplan/memplan.h"
#include "tools/memplan/view.h"

static const xpu_option options[] = {
    {"output", 'o', "FILE", "plan: where the plan goes; svg: the picture", XPU_WRITES},
    {"json", 0, NULL, "report, explain, what-if: print JSON"},
    {"set", 0, "KEY=VALUE[,VALUE...]",
     "what-if: sizes, rates and latencies of l3, gm and sm to compare; may be given for each key"},
    {"measure", 0, NULL, "what-if: run the program on the Verilated chip, too"},
    {"input", 'i', "FILE|NAME=FILE", "what-if: an input of it, for its shape and --measure (zeros)", XPU_READS},
    {"bytes", 0, "N", "the size of the memory that a .csv problem is for (as much as all buffers together)"},
    {"rules", 0, "FILE.json", "plan, check: placement rules, as those of xpuc --memory", XPU_READS},
    {"budget", 0, "N", "plan: comparisons to spend on a better plan (4000000); 1: the first valid one"},
    {"no-aliases", 0, NULL, "plan: every buffer gets bytes of its own"},
    {NULL, 0, NULL, NULL},
};

static const xpu_command command = {
    .tool = "xpu-memplan",
    .usage = "plan PROBLEM [-o PLAN.json] | check PROBLEM PLAN.json | report VIEW [--json] | svg VIEW -o FILE.svg |\n"
             "                   explain VIEW BUFFER [--json] | what-if MODEL.xpu --set KEY=VALUE[,VALUE...]... "
             "[--measure] |\n"
             "                   bench FOLDER|COUNT",
    .about =
        "Plans a hierarchy of memories: places buffers with lifetimes, checks a plan with code that shares nothing\n"
        "with the planner, draws it, and says why a buffer (a name or a glob) is where it is.\n"
        "PROBLEM: .json (docs/memory.md), or .csv with id,lower,upper,size,gaps. VIEW: PROBLEM PLAN.json, a compiled "
        "MODEL.xpu,\n"
        "or what xpuc --report=FILE.json wrote. FOLDER: .csv instances, NAME.CAPACITY.csv; COUNT: so many buffers at "
        "random.",
    .example = "xpu-memplan plan problem.json -o plan.json\n"
               "xpu-memplan check problem.json plan.json\n"
               "xpu-memplan svg model.xpu -o memory.svg\n"
               "xpu-memplan explain model.xpu 'conv1*'\n"
               "xpu-memplan what-if model.xpu --set l3.bytes=2M,8M --set gm.bytes_per_cycle=16,64\n"
               "xpu-memplan plan A.1048576.csv --bytes=1048576",
    .options = options,
    .words = XPU_READS,
};

#define OF_PLAN(option)                                                                                                \
    {option,                                                                                                           \
     XPU_NEEDS,                                                                                                        \
     "plan",                                                                                                           \
     "this is for xpu-memplan plan",                                                                                   \
     "the others take the plan as it is",                                                                              \
     "leave it out, or make a plan: xpu-memplan plan PROBLEM"}
static const xpu_option_rule rules[] = {
    OF_PLAN("budget"),
    OF_PLAN("no-aliases"),
    {"rules", XPU_EXCLUDES, "what is shown", "the plan is made", "rules are for plan and check", "leave it out"},
    {"rules", XPU_EXCLUDES, "svg", "the plan is made", "rules are for plan and check", "leave it out"},
    {"set", XPU_NEEDS, "what-if", "nothing is compared", "other memories are for what-if", "leave it out"},
    {"measure", XPU_NEEDS, "what-if", "nothing is compared", "what-if predicts and measures", "leave it out"},
    {"input", XPU_NEEDS, "what-if", "nothing runs", "what-if takes inputs", "leave it out"},
    {"json", XPU_NEEDS, "what is shown", "there is no JSON of this", "report, explain and what-if have it",
     "leave it out; plan writes JSON to --output"},
    {"output", XPU_EXCLUDES, "what is shown", "this goes to standard output", "report and explain print",
     "leave it out"},
    {"output", XPU_EXCLUDES, "check", "check writes nothing", "it says whether the plan is valid", "leave it out"},
    {"bytes", XPU_NEEDS, "a .csv problem", "the problem has its levels",
     "--bytes is the size of the one level of a .csv", "leave it out"},
    {NULL},
};

/* How many words each takes, with its own name. */
static const struct {
    const char *name;
    uint32_t least, most;
    xpu_memplan_command_run run; /* the second word is a problem, which is read for it */
    xpu_memplan_command_alone alone;
} commands[] = {
    {"plan", 2, 2, xpu_memplan_plan_command, NULL},       {"check", 3, 3, xpu_memplan_check_command, NULL},
    {"report", 2, 3, NULL, xpu_memplan_report_command},   {"svg", 2, 3, NULL, xpu_memplan_svg_command},
    {"explain", 3, 4, NULL, xpu_memplan_explain_command}, {"what-if", 2, 2, NULL, xpu_memplan_what_if_command},
    {"bench", 2, 2, NULL, xpu_memplan_bench_command},
};
enum { COMMANDS = sizeof commands / sizeof *commands };

/* The command of the first word, or COMMANDS. */
static uint32_t find_command(const xpu_tool *tool) {
    const char *name = xpu_tool_word(tool, 0);
    uint32_t words = xpu_tool_words(tool), i = 0;
    while (name && i < COMMANDS && strcmp(name, commands[i].name) != 0) i++;
    return name && i < COMMANDS && words >= commands[i].least && words <= commands[i].most ? i : COMMANDS;
}

/* What is shown is a whole, or a problem and its plan: how many words that leaves is wrong or right by the file. */
static int check_words(xpu_tool *tool, uint32_t index) {
    const char *path = xpu_tool_word(tool, 1);
    if (!commands[index].alone || commands[index].least == commands[index].most) return XPU_OK;
    uint32_t wanted = xpu_memplan_view_is_whole(tool, path) ? commands[index].least : commands[index].most;
    if (xpu_tool_words(tool) == wanted) return XPU_OK;
    return wanted == commands[index].most
               ? xpu_tool_usage(tool, commands[index].name, "there is no plan of the problem",
                                xpu_printf(tool->arena, "%s is no compiled program and no report of xpuc",
                                           xpu_tool_path(tool, path)),
                                "make one and name it behind the problem: xpu-memplan plan PROBLEM -o PLAN.json")
               : xpu_tool_usage(tool, commands[index].name, "there is a word too many",
                                xpu_printf(tool->arena, "%s has its plan", xpu_tool_path(tool, path)),
                                "leave the file behind it out");
}

static int apply_rules(xpu_tool *tool, xpu_memplan_problem *problem) {
    const char *path = xpu_tool_option(tool, "rules");
    xpu_memory_rules *read = XPU_NEW(tool->arena, xpu_memory_rules);
    if (!path) return XPU_OK;
    xpu_status status = xpu_memory_rules_read(tool->arena, path, read, &tool->diags);
    if (status == XPU_OK) status = xpu_memory_rules_apply(tool->arena, read, problem, &tool->diags);
    return (int)(status == XPU_OK ? xpu_memory_rules_unused(tool->arena, read, problem, &tool->diags) : status);
}

static int run_command(xpu_tool *tool, uint32_t index) {
    xpu_memplan_problem problem;
    uint64_t bytes;
    if (commands[index].alone) return commands[index].alone(tool);
    int status = xpu_memplan_number(tool, "bytes", &bytes);
    if (!status) status = (int)xpu_memplan_read(tool->arena, xpu_tool_word(tool, 1), bytes, &problem, &tool->diags);
    if (!status) status = apply_rules(tool, &problem);
    return status ? status : commands[index].run(tool, &problem);
}

static int run(xpu_tool *tool) {
    const char *action = xpu_tool_word(tool, 0), *path = xpu_tool_word(tool, 1);
    const char *output = xpu_tool_option(tool, "output");
    uint32_t index = find_command(tool);
    if (index == COMMANDS) {
        return xpu_tool_usage(tool, NULL, "this is no command",
                              "the commands are plan PROBLEM, check PROBLEM PLAN, report VIEW, svg VIEW, "
                              "explain VIEW BUFFER, what-if MODEL.xpu and bench FOLDER|COUNT",
                              "see xpu-memplan --help");
    }
    if (strcmp(action, "svg") == 0 && !output) {
        return xpu_tool_usage(tool, "svg", "there is no file for the picture", "--output is missing",
                              "add -o FILE.svg");
    }
    size_t length = strlen(path);
    int is_csv = length > 4 && strcmp(path + length - 4, ".csv") == 0;
    int prints = strcmp(action, "report") == 0 || strcmp(action, "explain") == 0 || strcmp(action, "what-if") == 0;
    int broken = xpu_tool_check_rules(tool, rules,
                                      (const char *const[]){action,
                                                            is_csv   ? "a .csv problem"
                                                            : prints ? "what is shown"
                                                                     : NULL,
                                                            is_csv && prints ? "what is shown" : NULL, NULL});
    const char *placement = xpu_tool_option(tool, "rules");
    const xpu_tool_output written = {"output", output};
    int status = broken ? broken : check_words(tool, index);
    if (!status)
        status = xpu_tool_check_outputs(
            tool, &written, 1, (const char *const[]){path, placement ? placement : path, xpu_tool_word(tool, 2), NULL});
    if (!status && output) status = (int)xpu_output_check(tool->arena, output, &tool->diags);
    return status ? status : run_command(tool, index);
}

int main(int argc, char **argv) {
    return xpu_tool_main(&command, argc, argv, run);
}
