/* xpu-memplan svg, report and explain: what a plan looks like, and why. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "memplan/explain.h"
#include "memplan/file.h"
#include "memplan/report.h"
#include "memplan/rules.h"
#include "tools/memplan/memplan.h"
#include "tools/memplan/view.h"

enum { MAX_EXPLAINED = 1000 };

int xpu_memplan_svg_command(xpu_tool *tool) {
    xpu_memplan_view view;
    int status = xpu_memplan_view_read(tool, &view);
    const char *output = xpu_tool_option(tool, "output");
    if (!status)
        status = (int)(view.moves ? xpu_memplan_draw_moves(tool->arena, output, view.moves, &tool->diags)
                                  : xpu_memplan_draw(tool->arena, output, &view.problem, &view.plan, &tool->diags));
    return status ? status : xpu_memplan_say(tool, &view.problem, "drawn");
}

int xpu_memplan_print_json(xpu_tool *tool, const json_t *value) {
    char *text = json_dumps(value, JSON_INDENT(2) | JSON_REAL_PRECISION(15));
    if (!text) xpu_out_of_memory(&tool->mem);
    puts(text);
    free(text);
    return XPU_OK;
}

int xpu_memplan_report_command(xpu_tool *tool) {
    xpu_memplan_view view;
    int status = xpu_memplan_view_read(tool, &view);
    if (status) return status;
    if (xpu_tool_flag(tool, "json")) {
        json_t *root = xpu_memplan_json(tool->arena, &view.problem, &view.plan);
        if (view.moves)
            xpu_json_set(tool->arena, root, "moves",
                         json_incref(xpu_memplan_moves_json(tool->arena, view.whole, view.moves)));
        return xpu_memplan_print_json(tool, root);
    }
    fputs(xpu_memplan_text(tool->arena, &view.problem, &view.plan), stdout);
    if (view.moves) printf("\n%s", xpu_memplan_moves_text(tool->arena, view.whole, view.moves));
    return XPU_OK;
}

static int unknown_buffer(xpu_tool *tool, const xpu_memplan_problem *problem, const char *name) {
    const char **names = XPU_NEW_ARRAY(tool->arena, const char *, problem->buffer_count + 1);
    uint32_t count = 0;
    for (uint32_t i = 0; i < problem->buffer_count; i++) {
        if (problem->buffers[i].name) names[count++] = problem->buffers[i].name;
    }
    const char *near = xpu_nearest(name, names);
    return (int)xpu_error(
        &tool->diags, XPU_EUSAGE, problem->file, "memplan-buffer",
        xpu_printf(tool->arena, "'%s'", xpu_escape(tool->arena, name, 100)), "the plan has no such buffer",
        xpu_printf(tool->arena, "none of its %u buffers has this name, or matches it", problem->buffer_count),
        near ? xpu_printf(tool->arena, "did you mean '%s'?", xpu_escape(tool->arena, near, 100))
             : "xpu-memplan report lists them");
}

/* Whether a buffer, or the one that it is a stay of, has the name or matches it. */
static int is_meant(const xpu_memplan_view *view, uint32_t i, const char *pattern) {
    const char *name = view->problem.buffers[i].name ? view->problem.buffers[i].name : "";
    const char *of = view->moves ? view->whole->buffers[view->moves->stays[i].buffer].name : NULL;
    return xpu_glob_match(pattern, name) || (of && strcmp(of, pattern) == 0);
}

/* A line more of a stay that is moved there. */
static void print_arrival(xpu_tool *tool, const xpu_memplan_view *view, uint32_t stay) {
    const char *text = view->moves ? xpu_memplan_arrival_text(tool->arena, view->moves, stay) : NULL;
    if (text) printf("  moves    it %s\n", text);
}

int xpu_memplan_explain_command(xpu_tool *tool) {
    xpu_memplan_view view;
    int status = xpu_memplan_view_read(tool, &view);
    if (status) return status;
    const char *pattern = xpu_tool_word(tool, view.words + 1);
    const xpu_memplan_problem *problem = &view.problem;
    json_t *list = xpu_json_own(tool->arena, json_array());
    uint32_t found = 0, exact = XPU_MEMPLAN_NONE;
    int as_json = xpu_tool_flag(tool, "json");
    for (uint32_t i = 0; i < problem->buffer_count && exact == XPU_MEMPLAN_NONE; i++) {
        if (problem->buffers[i].name && strcmp(problem->buffers[i].name, pattern) == 0) exact = i;
    }
    for (uint32_t i = 0; i < problem->buffer_count; i++) {
        if (exact == XPU_MEMPLAN_NONE ? !is_meant(&view, i, pattern) : i != exact) continue;
        if (found++ >= MAX_EXPLAINED) continue;
        xpu_memplan_reason reason = xpu_memplan_explain(tool->arena, problem, &view.plan, i);
        if (as_json) {
            json_t *one = xpu_memplan_reason_json(tool->arena, problem, &view.plan, &reason);
            const char *arrival = view.moves ? xpu_memplan_arrival_text(tool->arena, view.moves, i) : NULL;
            if (arrival) xpu_json_set(tool->arena, one, "arrival", json_string(arrival));
            xpu_json_append(tool->arena, list, json_incref(one));
            continue;
        }
        printf("%s%s", found > 1 ? "\n" : "", xpu_memplan_reason_text(tool->arena, problem, &view.plan, &reason));
        print_arrival(tool, &view, i);
    }
    if (found == 0) return unknown_buffer(tool, problem, pattern);
    if (as_json) return xpu_memplan_print_json(tool, list);
    if (found > MAX_EXPLAINED) printf("\nand %u more\n", found - MAX_EXPLAINED);
    return XPU_OK;
}
