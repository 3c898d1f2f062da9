/* Lives with gaps: whether two meet, and as text. */
#include "memplan/internal.h"

#include <inttypes.h>

enum { MOST_NAMED = 4 }; /* gaps of a text */

int xpu_memplan_lives_meet(const xpu_memplan_life *a, const xpu_memplan_life *b) {
    if (a->first > b->last || b->first > a->last) return 0;
    for (uint32_t i = 0, k = 0; i <= a->gap_count && k <= b->gap_count;) {
        const xpu_memplan_steps x = xpu_memplan_part(a, i), y = xpu_memplan_part(b, k);
        if (x.first <= y.last && y.first <= x.last) return 1;
        if (x.last < y.last)
            i++;
        else
            k++;
    }
    return 0;
}

uint64_t xpu_memplan_live_steps(const xpu_memplan_life *life) {
    uint64_t steps = 0;
    for (uint32_t i = 0; i <= life->gap_count; i++) {
        const xpu_memplan_steps part = xpu_memplan_part(life, i);
        steps += (uint64_t)part.last - part.first + 1;
    }
    return steps;
}

static const char *name_of_step(xpu_arena *arena, const xpu_memplan_problem *problem, uint32_t step) {
    if (!problem->step_names || step >= problem->step_name_count) return xpu_printf(arena, "%" PRIu32, step);
    return xpu_printf(arena, "%" PRIu32 " '%s'", step, xpu_escape(arena, problem->step_names[step], 80));
}

const char *xpu_memplan_step(xpu_arena *arena, const xpu_memplan_problem *problem, uint32_t step) {
    return xpu_printf(arena, "%s %s", problem->step_names ? "layer" : "step", name_of_step(arena, problem, step));
}

/* "3 to 7", "3" */
static const char *name_of_steps(xpu_arena *arena, const xpu_memplan_problem *problem, uint32_t first, uint32_t last) {
    const char *from = name_of_step(arena, problem, first);
    return first == last ? from : xpu_printf(arena, "%s to %s", from, name_of_step(arena, problem, last));
}

const char *xpu_memplan_life_text(xpu_arena *arena, const xpu_memplan_problem *problem, xpu_memplan_life life) {
    if (life.first == life.last) return xpu_memplan_step(arena, problem, life.first);
    xpu_text text;
    xpu_text_init(&text, arena);
    xpu_text_add(&text, "%s %s", problem->step_names ? "layers" : "steps",
                 name_of_steps(arena, problem, life.first, life.last));
    for (uint32_t i = 0; i < life.gap_count && i < MOST_NAMED; i++) {
        const xpu_memplan_steps *gap = &life.gaps[i];
        xpu_text_add(&text, "%s%s",
                     i == 0                                           ? " without "
                     : i + 1 == life.gap_count && i + 1 <= MOST_NAMED ? " and "
                                                                      : ", ",
                     name_of_steps(arena, problem, gap->first, gap->last));
    }
    if (life.gap_count > MOST_NAMED) xpu_text_add(&text, " and %" PRIu32 " more", life.gap_count - MOST_NAMED);
    return text.text;
}
