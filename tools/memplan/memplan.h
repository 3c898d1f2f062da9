/* The commands of xpu-memplan, a file for each, and what they share. */
#ifndef XPU_TOOLS_MEMPLAN_H
#define XPU_TOOLS_MEMPLAN_H

#include <jansson.h>

#include "memplan/moves.h"
#include "tools/common/tool.h"

/* What a command does with the problem that its second word names. Returns an exit code. */
typedef int (*xpu_memplan_command_run)(xpu_tool *tool, const xpu_memplan_problem *problem);

int xpu_memplan_plan_command(xpu_tool *tool, const xpu_memplan_problem *problem);
int xpu_memplan_check_command(xpu_tool *tool, const xpu_memplan_problem *problem);

/* Commands that look for themselves what their words name. */
typedef int (*xpu_memplan_command_alone)(xpu_tool *tool);

int xpu_memplan_svg_command(xpu_tool *tool);
int xpu_memplan_report_command(xpu_tool *tool);
int xpu_memplan_explain_command(xpu_tool *tool);
int xpu_memplan_bench_command(xpu_tool *tool);
int xpu_memplan_what_if_command(xpu_tool *tool);

/* Prints a value on standard output. Returns XPU_OK. */
int xpu_memplan_print_json(xpu_tool *tool, const json_t *value);

/* The number that an option gives, 0 without it. Returns an exit code. */
int xpu_memplan_number(xpu_tool *tool, const char *option, uint64_t *value);

/* The plan in the file that is the command's third word. One that does not hold is the file's fault: XPU_EUSAGE. */
int xpu_memplan_valid_plan(xpu_tool *tool, const xpu_memplan_problem *problem, xpu_memplan *plan);

/* The same of a problem with a time line. */
int xpu_memplan_valid_moves(xpu_tool *tool, const xpu_memplan_problem *problem, xpu_memplan_moves *moves);

/* The levels and the spills, unless the tool is quiet. */
void xpu_memplan_print_usage(const xpu_tool *tool, const xpu_memplan_problem *problem, const xpu_memplan *plan);

/* The last line: "problem.json: 2 buffers are placed -> plan.json". Returns XPU_OK. */
int xpu_memplan_say(const xpu_tool *tool, const xpu_memplan_problem *problem, const char *done);

#endif
