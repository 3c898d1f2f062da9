/* xpu-memplan plan, check and svg. */
#include <stdio.h>
#include <stdlib.h>

#include "memplan/check.h"
#include "memplan/file.h"
#include "tools/memplan/memplan.h"

int xpu_memplan_number(xpu_tool *tool, const char *option, uint64_t *value) {
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

void xpu_memplan_print_usage(const xpu_tool *tool, const xpu_memplan_problem *problem, const xpu_memplan *plan) {
    if (tool->quiet) return;
    printf("%-12s %8s %14s %14s %14s %10s %9s\n", "level", "buffers", "capacity", "peak", "lower bound", "gap",
           "holes");
    for (uint32_t i = 0; i < plan->level_count; i++) {
        const xpu_memplan_usage *u = &plan->usage[i];
        printf("%-12s %8u %14llu %14llu %14llu %10llu %7.1f %%\n", name_text(tool, problem->levels[i].name), u->buffers,
               (unsigned long long)u->capacity, (unsigned long long)u->peak, (unsigned long long)u->proved_bound,
               (unsigned long long)(u->peak - u->proved_bound), u->fragmentation_permille / 10.0);
    }
    for (uint32_t i = 0; i < plan->spill_count; i++) {
        const xpu_memplan_spill *spill = &plan->spills[i];
        printf("'%s' is not in %s: %s\n", name_text(tool, problem->buffers[spill->buffer].name),
               name_text(tool, problem->levels[spill->preferred].name),
               xpu_escape_message(tool->arena, spill->why, 400));
    }
}

int xpu_memplan_say(const xpu_tool *tool, const xpu_memplan_problem *problem, const char *done) {
    const char *output = xpu_tool_option(tool, "output");
    if (!tool->quiet)
        printf("%s: %u buffer%s %s%s%s\n", xpu_tool_path(tool, problem->file), problem->buffer_count,
               problem->buffer_count == 1 ? " is" : "s are", done, output ? " -> " : "",
               output ? xpu_tool_path(tool, output) : "");
    return XPU_OK;
}

/* Levels, and what moves. */
static void print_moves(const xpu_tool *tool, const xpu_memplan_problem *problem, const xpu_memplan_moves *moves) {
    if (tool->quiet) return;
    xpu_memplan_print_usage(tool, &moves->problem, &moves->plan);
    fputs(xpu_memplan_moves_text(tool->arena, problem, moves), stdout);
}

static int plan_moves(xpu_tool *tool, const xpu_memplan_problem *problem, const xpu_memplan_options *with) {
    xpu_memplan_moves *moves;
    const char *output = xpu_tool_option(tool, "output");
    int status = (int)xpu_memplan_make_moves(tool->arena, problem, with, &moves, &tool->diags);
    if (!status) status = (int)xpu_memplan_check_moves(tool->arena, problem, moves, &tool->diags);
    if (!status && output) status = (int)xpu_memplan_write_moves(tool->arena, output, problem, moves, &tool->diags);
    if (status) return status;
    print_moves(tool, problem, moves);
    return xpu_memplan_say(tool, problem, "placed");
}

int xpu_memplan_plan_command(xpu_tool *tool, const xpu_memplan_problem *problem) {
    xpu_memplan_options with = {.no_aliases = xpu_tool_flag(tool, "no-aliases")};
    xpu_memplan *plan;
    const char *output = xpu_tool_option(tool, "output");
    int status = xpu_memplan_number(tool, "budget", &with.step_budget);
    if (!status && problem->timeline) return plan_moves(tool, problem, &with);
    if (!status) status = (int)xpu_memplan_make(tool->arena, problem, &with, &plan, &tool->diags);
    if (!status) status = (int)xpu_memplan_check(tool->arena, problem, plan, &tool->diags);
    if (!status && output) status = (int)xpu_memplan_write(tool->arena, output, problem, plan, &tool->diags);
    if (status) return status;
    xpu_memplan_print_usage(tool, problem, plan);
    return xpu_memplan_say(tool, problem, "placed");
}

int xpu_memplan_valid_plan(xpu_tool *tool, const xpu_memplan_problem *problem, xpu_memplan *plan) {
    int status = (int)xpu_memplan_read_plan(tool->arena, xpu_tool_word(tool, 2), problem, plan, &tool->diags);
    if (status) return status;
    return (int)xpu_memplan_check(tool->arena, problem, plan, &tool->diags);
}

int xpu_memplan_valid_moves(xpu_tool *tool, const xpu_memplan_problem *problem, xpu_memplan_moves *moves) {
    int status = (int)xpu_memplan_read_moves(tool->arena, xpu_tool_word(tool, 2), problem, moves, &tool->diags);
    return status ? status : (int)xpu_memplan_check_moves(tool->arena, problem, moves, &tool->diags);
}

int xpu_memplan_check_command(xpu_tool *tool, const xpu_memplan_problem *problem) {
    xpu_memplan plan;
    xpu_memplan_moves moves;
    int status = problem->timeline ? xpu_memplan_valid_moves(tool, problem, &moves)
                                   : xpu_memplan_valid_plan(tool, problem, &plan);
    if (status) return status;
    if (problem->timeline)
        print_moves(tool, problem, &moves);
    else
        xpu_memplan_print_usage(tool, problem, &plan);
    if (!tool->quiet) printf("%s: the plan is valid\n", xpu_tool_path(tool, xpu_tool_word(tool, 2)));
    return XPU_OK;
}
