/* Results in place of operands tie buffers together that a level has no room for as one: which ties are left out. */
#include <string.h>

#include "memplan/internal.h"

/* Buffers that are planned again in all: a few milliseconds. */
enum { MOST_BUFFERS = 1 << 15 };

/* What is lost because groups do not stand at their best levels. */
static uint64_t lost(const xpu_memplan_problem *problem, const xpu_memplan_attempt *attempt) {
    uint64_t sum = 0;
    for (uint32_t i = 0; i < attempt->groups.count; i++) {
        xpu_memplan_group group = attempt->groups.items[i];
        for (uint32_t choice = group.choice; choice > 0; choice--) {
            group.choice = choice - 1;
            uint64_t benefit = xpu_memplan_benefit(problem, &group);
            sum = sum + benefit < sum ? UINT64_MAX : sum + benefit;
        }
    }
    return sum;
}

/* The tie without which least is lost, less than `least`, which becomes that; XPU_MEMPLAN_NONE: there is none. */
static uint32_t worst_tie(xpu_arena *arena, const xpu_memplan_problem *trial, xpu_memplan_alias *aliases,
                          const xpu_memplan_choice *choices, xpu_memplan_alias_mode mode, uint32_t *trials,
                          uint64_t *least, uint64_t *steps) {
    uint32_t worst = XPU_MEMPLAN_NONE;
    for (uint32_t i = 0; i < trial->alias_count && *trials > 0; i++) {
        const uint64_t offset = aliases[i].offset;
        if (aliases[i].kind != XPU_MEMPLAN_IN_PLACE || offset == XPU_MEMPLAN_MAX_BYTES) continue;
        xpu_memplan_attempt without;
        xpu_arena *work = xpu_arena_new(xpu_arena_mem(arena), "memory plan without a tie");
        aliases[i].offset = XPU_MEMPLAN_MAX_BYTES; /* it does not fit: it is not taken */
        xpu_memplan_try(work, trial, choices, mode, 0, &without);
        aliases[i].offset = offset;
        const uint64_t now = without.failed ? UINT64_MAX : lost(trial, &without);
        *steps += without.steps;
        --*trials;
        if (now < *least) *least = now, worst = i;
        xpu_arena_free(work);
    }
    return worst;
}

void xpu_memplan_untie(xpu_arena *arena, const xpu_memplan_problem *problem, const xpu_memplan_choice *choices,
                       xpu_memplan_alias_mode mode, uint64_t budget, xpu_memplan_attempt *attempt) {
    if (attempt->failed || !problem->alias_count || mode == XPU_MEMPLAN_NO_ALIASES) return;
    const uint64_t before = lost(problem, attempt);
    uint64_t least = before, steps = 0;
    uint32_t trials = before ? MOST_BUFFERS / (problem->buffer_count + 1) : 0;
    xpu_memplan_problem trial = *problem;
    xpu_memplan_alias *aliases = xpu_copy(arena, problem->aliases, problem->alias_count * sizeof *aliases);
    trial.aliases = aliases;
    for (;;) {
        uint32_t worst = worst_tie(arena, &trial, aliases, choices, mode, &trials, &least, &steps);
        if (worst == XPU_MEMPLAN_NONE) break;
        aliases[worst].offset = XPU_MEMPLAN_MAX_BYTES;
    }
    if (least < before) {
        xpu_memplan_attempt untied;
        xpu_memplan_try(arena, &trial, choices, mode, budget, &untied);
        steps += attempt->steps;
        if (!untied.failed && lost(problem, &untied) < before) *attempt = untied;
    }
    attempt->steps += steps;
}
