/* Results in place of operands tie buffers together that a level has no room for as one: which ties are left out. */
#include <string.h>

#include "memplan/internal.h"

/* Buffers that are planned again in all, the comparisons that one counts as, and how often the budget they may take. */
enum { MOST_BUFFERS = 1 << 15, OF_A_BUFFER = 300, UNTIE_SHARE = 32 };

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

/* What may still be spent on trials. */
typedef struct {
    uint32_t left;
    uint64_t steps, most;
} trial_budget;

static void leave_out(xpu_memplan_problem *problem, xpu_memplan_alias *aliases, uint32_t tie) {
    problem->aliases = aliases;
    problem->alias_count--;
    memmove(aliases + tie, aliases + tie + 1, (problem->alias_count - tie) * sizeof *aliases);
}

/* Ties that are taken, those of groups that left their best level first. Without one that is not, nothing changes. */
static uint32_t find_taken(xpu_arena *arena, const ties *left, const xpu_memplan_choice *choices,
                           xpu_memplan_alias_mode mode, const xpu_memplan_attempt *attempt, uint32_t *taken) {
    xpu_memplan_groups groups;
    uint32_t count = 0;
    xpu_memplan_group_buffers(arena, &left->problem, choices, mode, &groups);
    for (int pass = 0; pass < 2; pass++) {
        for (uint32_t i = 0; i < left->problem.alias_count; i++) {
            const xpu_memplan_alias *alias = &left->aliases[i];
            const int stays = attempt->groups.items[attempt->groups.group_of[alias->buffer]].choice == 0;
            if (alias->kind == XPU_MEMPLAN_IN_PLACE && stays == pass && groups.alias[alias->buffer] == i)
                taken[count++] = i;
        }
    }
    return count;
}

/* The tie without which least is lost, less than `least`, which becomes that; XPU_MEMPLAN_NONE: there is none, or the
 * budget is used up. */
static uint32_t worst_tie(xpu_arena *arena, const ties *left, const xpu_memplan_choice *choices,
                          xpu_memplan_alias_mode mode, const xpu_memplan_attempt *attempt, trial_budget *trials,
                          uint64_t *least) {
    uint32_t worst = XPU_MEMPLAN_NONE;
    xpu_arena *list = xpu_arena_new(xpu_arena_mem(arena), "ties of a memory plan");
    uint32_t *taken = XPU_NEW_ARRAY(list, uint32_t, left->problem.alias_count);
    const uint32_t count = find_taken(list, left, choices, mode, attempt, taken);
    for (uint32_t i = 0; i < count && trials->left > 0 && trials->steps < trials->most; i++) {
        xpu_memplan_attempt without;
        xpu_memplan_problem trial = left->problem;
        xpu_arena *work = xpu_arena_new(xpu_arena_mem(arena), "memory plan without a tie");
        leave_out(&trial, xpu_copy(work, left->aliases, left->problem.alias_count * sizeof *left->aliases), taken[i]);
        xpu_memplan_try(work, &trial, choices, mode, 0, &without);
        const uint64_t now = without.failed ? UINT64_MAX : lost(&trial, &without);
        trials->steps += without.steps + (uint64_t)OF_A_BUFFER * trial.buffer_count;
        trials->left--;
        if (now < *least || (now == *least && worst != XPU_MEMPLAN_NONE && taken[i] < worst)) {
            *least = now;
            worst = taken[i];
        }
        xpu_arena_free(work);
    }
    xpu_arena_free(list);
    return worst;
}

void xpu_memplan_untie(xpu_arena *arena, const xpu_memplan_problem *problem, const xpu_memplan_choice *choices,
                       xpu_memplan_alias_mode mode, uint64_t budget, xpu_memplan_attempt *attempt) {
    if (attempt->failed || !problem->alias_count || mode == XPU_MEMPLAN_NO_ALIASES) return;
    const uint64_t before = lost(problem, attempt);
    uint64_t least = before;
    trial_budget trials = {before ? MOST_BUFFERS / (problem->buffer_count + 1) : 0, 0, UNTIE_SHARE * budget};
    ties left = {*problem, xpu_copy(arena, problem->aliases, problem->alias_count * sizeof *left.aliases),
                 XPU_NEW_ARRAY(arena, uint32_t, problem->alias_count)};
    for (uint32_t i = 0; i < problem->alias_count; i++) left.index[i] = i;
    while (trials.left) {
        uint32_t worst = worst_tie(arena, &left, choices, mode, attempt, &trials, &least);
        if (worst == XPU_MEMPLAN_NONE) break;
        leave_out(&left.problem, left.aliases, worst);
        memmove(left.index + worst, left.index + worst + 1, (left.problem.alias_count - worst) * sizeof *left.index);
    }
    attempt->steps += trials.steps;
    if (least >= before) return;
    xpu_memplan_attempt untied;
    const uint64_t steps = attempt->steps;
    xpu_memplan_try(arena, &left.problem, choices, mode, budget, &untied);
    for (uint32_t i = 0; i < problem->buffer_count && !untied.failed; i++) {
        uint32_t *alias = &untied.groups.alias[i];
        if (*alias != XPU_MEMPLAN_NONE) *alias = left.index[*alias];
    }
    const uint64_t of_untied = untied.steps;
    if (!untied.failed && lost(problem, &untied) < before) *attempt = untied;
    attempt->steps = steps + of_untied;
}
