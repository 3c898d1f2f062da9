/* The problem of stays: each is a buffer of one level. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "memplan/internal.h"
#include "memplan/moves.h"

/* Per buffer its stay, or XPU_MEMPLAN_NONE where it has several. */
static uint32_t *only_stays(xpu_arena *arena, const xpu_memplan_problem *problem, const xpu_memplan_moves *moves) {
    uint32_t *stay_of = XPU_NEW_ARRAY(arena, uint32_t, problem->buffer_count);
    uint8_t *count = XPU_NEW_ARRAY(arena, uint8_t, problem->buffer_count);
    for (uint32_t i = 0; i < moves->stay_count; i++) {
        const uint32_t buffer = moves->stays[i].buffer;
        stay_of[buffer] = i;
        if (count[buffer] < 2) count[buffer]++;
    }
    for (uint32_t i = 0; i < problem->buffer_count; i++)
        if (count[i] != 1) stay_of[i] = XPU_MEMPLAN_NONE;
    return stay_of;
}

static int compare_names(const void *a, const void *b) {
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* All names of buffers, in order. */
static const char **sort_names(xpu_arena *arena, const xpu_memplan_problem *problem, uint32_t *count) {
    const char **names = XPU_NEW_ARRAY(arena, const char *, problem->buffer_count);
    *count = 0;
    for (uint32_t i = 0; i < problem->buffer_count; i++)
        if (problem->buffers[i].name) names[(*count)++] = problem->buffers[i].name;
    if (*count) qsort(names, *count, sizeof *names, compare_names);
    return names;
}

/* "conv1/w@L3:3", with a "+" for as long as there is a buffer of that name. */
static const char *name_stay(xpu_arena *arena, const xpu_memplan_problem *problem, const xpu_memplan_stay *stay,
                             const char *const *names, uint32_t count) {
    const char *name = xpu_printf(arena, "%s@%s:%" PRIu32, problem->buffers[stay->buffer].name,
                                  problem->levels[stay->level].name, stay->from);
    while (bsearch(&name, names, count, sizeof *names, compare_names)) name = xpu_printf(arena, "%s+", name);
    return name;
}

xpu_memplan_problem xpu_memplan_problem_of_stays(xpu_arena *arena, const xpu_memplan_problem *problem,
                                                 const xpu_memplan_moves *moves) {
    const uint32_t *stay_of = only_stays(arena, problem, moves);
    uint32_t name_count;
    const char *const *names = sort_names(arena, problem, &name_count);
    xpu_memplan_problem made = *problem;
    xpu_memplan_buffer *buffers = XPU_NEW_ARRAY(arena, xpu_memplan_buffer, moves->stay_count);
    xpu_memplan_alias *aliases = XPU_NEW_ARRAY(arena, xpu_memplan_alias, problem->alias_count);
    xpu_memplan_match *matches = XPU_NEW_ARRAY(arena, xpu_memplan_match, problem->match_count);
    for (uint32_t i = 0; i < moves->stay_count; i++) {
        const xpu_memplan_stay *stay = &moves->stays[i];
        buffers[i] = problem->buffers[stay->buffer];
        buffers[i].first = stay->from;
        buffers[i].last = stay->to;
        buffers[i].levels[0] = (uint8_t)stay->level;
        if (stay_of[stay->buffer] == XPU_MEMPLAN_NONE && buffers[i].name)
            buffers[i].name = name_stay(arena, problem, stay, names, name_count);
        buffers[i].level_count = 1;
    }
    made.alias_count = made.match_count = 0;
    for (uint32_t i = 0; i < problem->alias_count; i++) {
        const xpu_memplan_alias *alias = &problem->aliases[i];
        const uint32_t buffer = stay_of[alias->buffer], other = stay_of[alias->other];
        if (buffer == XPU_MEMPLAN_NONE || other == XPU_MEMPLAN_NONE) continue;
        if (moves->stays[buffer].level != moves->stays[other].level) continue;
        aliases[made.alias_count] = *alias;
        aliases[made.alias_count].buffer = buffer;
        aliases[made.alias_count++].other = other;
    }
    for (uint32_t i = 0; i < problem->match_count; i++) {
        const uint32_t stay = stay_of[problem->matches[i].buffer];
        if (stay == XPU_MEMPLAN_NONE) continue;
        matches[made.match_count++] = (xpu_memplan_match){stay, problem->matches[i].rule};
    }
    made.buffers = buffers;
    made.buffer_count = moves->stay_count;
    made.aliases = aliases;
    made.matches = matches;
    made.timeline = NULL;
    return made;
}
