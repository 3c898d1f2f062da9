/* A memory plan to look at: of a problem and its plan, of a compiled program, or of a report of xpuc. */
#ifndef XPU_TOOLS_MEMPLAN_VIEW_H
#define XPU_TOOLS_MEMPLAN_VIEW_H

#include "memplan/moves.h"
#include "tools/common/tool.h"

typedef struct {
    xpu_memplan_problem problem; /* its file is the one that was given */
    xpu_memplan plan;
    /* With places in time: problem and plan are those of its stays, and `whole` is what was read. NULL: without. */
    const xpu_memplan_moves *moves;
    const xpu_memplan_problem *whole;
    uint32_t words; /* of the command line that named it: 1, or 2 for a problem and its plan */
} xpu_memplan_view;

/* Reads what the command's words from number 1 on name; everything in the tool's arena. Returns an exit code. */
int xpu_memplan_view_read(xpu_tool *tool, xpu_memplan_view *view);

/* 1: the file is a compiled program or a report, which need no plan beside them. */
int xpu_memplan_view_is_whole(xpu_tool *tool, const char *path);

#endif
