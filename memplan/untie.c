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

/* The ties that are left; index: which ones of the problem they are. */
typedef struct {
    xpu_memplan_problem problem;
    xpu_memplan_alias *aliases;
    uint32_t *index;
} ties;

static void leave_out(xpu_memplan_problem *problem, xpu_memplan_alias *aliases, uint32_t tie) {
    problem->aliases = aliases;
    problem->alias_count--;
    memmove(aliases + tie, aliases + tie + 1, (problem->alias_count - tie) * sizeof *aliases);
}

/* The tie without which least is lost, less than `least`, which becomes that; XPU_MEMPLAN_NONE: there is none. */
static uint32_t worst_tie(xpu_arena *arena, const ties *left, const xpu_memplan_choice *choices,
                          xpu_memplan_alias_mode mode, uint32_t *trials, uint64_t *least, uint64_t *steps) {
    uint32_t worst = XPU_MEMPLAN_NONE;
    for (uint32_t i = 0; i < left->problem.alias_count && *trials > 0; i++) {
        if (left->aliases[i].kind != XPU_MEMPLAN_IN_PLACE) continue;
        xpu_memplan_attempt without;
        xpu_memplan_problem trial = left->problem;
        xpu_arena *work = xpu_arena_new(xpu_arena_mem(arena), "memory plan without a tie");
        leave_out(&trial, xpu_copy(work, left->aliases, left->problem.alias_count * sizeof *left->aliases), i);
        xpu_memplan_try(work, &trial, choices, mode, 0, &without);
        const uint64_t now = without.failed ? UINT64_MAX : lost(&trial, &without);
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
    uint64_t least = before, steps = attempt->steps;
    uint32_t trials = before ? MOST_BUFFERS / (problem->buffer_count + 1) : 0;
    ties left = {*problem, xpu_copy(arena, problem->aliases, problem->alias_count * sizeof *left.aliases),
                 XPU_NEW_ARRAY(arena, uint32_t, problem->alias_count)};
    for (uint32_t i = 0; i < problem->alias_count; i++) left.index[i] = i;
    for (;;) {
        uint32_t worst = worst_tie(arena, &left, choices, mode, &trials, &least, &steps);
        if (worst == XPU_MEMPLAN_NONE) break;
        leave_out(&left.problem, left.aliases, worst);
        memmove(left.index + worst, left.index + worst + 1, (left.problem.alias_count - worst) * sizeof *left.index);
    }
    if (least < before) {
        xpu_memplan_attempt untied;
        xpu_memplan_try(arena, &left.problem, choices, mode, budget, &untied);
        steps += untied.steps;
        for (uint32_t i = 0; i < problem->buffer_count && !untied.failed; i++) {
            uint32_t *alias = &untied.groups.alias[i];
            if (*alias != XPU_MEMPLAN_NONE) *alias = left.index[*alias];
        }
        if (!untied.failed && lost(problem, &untied) < before) *attempt = untied;
    }
    attempt->steps = steps;
}
