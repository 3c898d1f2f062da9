/*
 * The planner. Every group of buffers starts at the best level that it is allowed. Level by level, those with the
 * greatest benefit (per byte and step, per byte or in all: by which of these orders more of it stays) stay while they
 * fit; the others move to the next level that they are allowed, which may push out others there. A group at its last
 * level is never pushed out. Groups only ever move on, so this ends.
 */
#include "memplan/internal.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

__extension__ typedef unsigned __int128 wide;

#define MAX_BENEFIT (UINT64_C(1) << 46)
enum { MOST_FILLED = 1 << 22 }; /* comparisons, of holes that the packing left */

/* Time, and far less than that, bytes that cross the slower level; without bandwidths, the bytes that are accessed. */
uint64_t xpu_memplan_benefit(const xpu_memplan_problem *problem, const xpu_memplan_group *group) {
    if (group->choice + 1 >= group->order_count) return 0;
    uint64_t here = problem->levels[group->order[group->choice]].bytes_per_cycle;
    uint64_t there = problem->levels[group->order[group->choice + 1]].bytes_per_cycle;
    wide benefit = group->access_bytes;
    if (here && there) {
        wide slow = ((wide)group->access_bytes << 10) / there, fast = ((wide)group->access_bytes << 10) / here;
        benefit = (slow > fast ? slow - fast : 0) + benefit;
    }
    return benefit > MAX_BENEFIT ? MAX_BENEFIT : (uint64_t)benefit;
}

static int compare_wishes(const void *a, const void *b) {
    const xpu_memplan_item *x = a, *y = b;
    if (x->forced != y->forced) return x->forced ? -1 : 1;
    if (x->density != y->density) return x->density > y->density ? -1 : 1;
    if (x->bytes != y->bytes) return x->bytes < y->bytes ? -1 : 1;
    return x->id < y->id ? -1 : x->id > y->id;
}

static int compare_per_byte(const void *a, const void *b) {
    const xpu_memplan_item *x = a, *y = b;
    if (x->forced != y->forced) return x->forced ? -1 : 1;
    wide px = (wide)x->benefit * y->bytes, py = (wide)y->benefit * x->bytes;
    return px != py ? (px > py ? -1 : 1) : compare_wishes(a, b);
}

static int compare_in_all(const void *a, const void *b) {
    const xpu_memplan_item *x = a, *y = b;
    if (x->forced != y->forced) return x->forced ? -1 : 1;
    return x->benefit != y->benefit ? (x->benefit > y->benefit ? -1 : 1) : compare_wishes(a, b);
}

/* What decides who stays where a level has no room for all: without relief what accesses cost, with it the bytes that
 * the levels behind are spared, at all steps or at one. */
typedef enum { NO_RELIEF, RELIEF_AT_STEP, RELIEF, RELIEF_KINDS } relief_kind;

typedef struct {
    relief_kind kind;
    uint32_t step;
} relief;

static uint64_t benefit_of(const xpu_memplan_problem *problem, const xpu_memplan_group *group, const relief *wanted) {
    if (wanted->kind == NO_RELIEF) return xpu_memplan_benefit(problem, group);
    const xpu_memplan_life step = {.first = wanted->step, .last = wanted->step};
    int meets = wanted->kind == RELIEF || xpu_memplan_lives_meet(&group->life, &step);
    wide spared = meets ? (wide)group->bytes << 10 : 1;
    return spared > MAX_BENEFIT ? MAX_BENEFIT : (uint64_t)spared;
}

/* The groups that are at a level now. */
static xpu_memplan_item *items_at(xpu_arena *arena, const xpu_memplan_problem *problem,
                                  const xpu_memplan_groups *groups, uint32_t level, const relief *wanted,
                                  uint32_t *count) {
    xpu_memplan_item *items = XPU_NEW_ARRAY(arena, xpu_memplan_item, groups->count);
    uint64_t alignment = xpu_memplan_alignment(problem->levels[level].alignment);
    *count = 0;
    for (uint32_t i = 0; i < groups->count; i++) {
        const xpu_memplan_group *group = &groups->items[i];
        if (group->order[group->choice] != level) continue;
        items[(*count)++] = (xpu_memplan_item){.id = i,
                                               .life = group->life,
                                               .bytes = group->bytes,
                                               .alignment = group->alignment > alignment ? group->alignment : alignment,
                                               .benefit = benefit_of(problem, group, wanted),
                                               .forced = group->choice + 1 == group->order_count,
                                               .pinned = problem->buffers[group->root].pinned,
                                               .offset = group->offset};
    }
    return items;
}

/* Whether all items have nowhere else to go, and room one above the other: then wherever they stand, nothing is left
 * out and nothing reaches above the end. */
static int have_room(const xpu_memplan_item *items, uint32_t count, uint64_t start, uint64_t end) {
    uint64_t top = start, room = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (!items[i].forced) return 0;
        if (items[i].pinned && items[i].offset + items[i].bytes > top) top = items[i].offset + items[i].bytes;
        if (!items[i].pinned) room += items[i].bytes + items[i].alignment;
        if (room > end) return 0;
    }
    return top <= end && room <= end - top;
}

/* Those that most deserve a level first. */
static void sort_by_wish(xpu_memplan_item *items, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) items[i].density = xpu_memplan_density(&items[i]);
    if (count) qsort(items, count, sizeof *items, compare_wishes);
}

/* Who stays at a level, in the order by which most of the benefit does; the others have the offset UINT64_MAX. */
static xpu_memplan_item *admit(xpu_arena *arena, const xpu_memplan_level *l, const xpu_memplan_item *items,
                               uint32_t count, uint64_t *short_bytes, uint32_t *short_step) {
    static int (*const orders[])(const void *, const void *) = {compare_wishes, compare_per_byte, compare_in_all};
    xpu_memplan_item *best = NULL;
    wide most = 0;
    for (size_t k = 0; k < sizeof orders / sizeof *orders; k++) {
        uint64_t *bytes = XPU_NEW_ARRAY(arena, uint64_t, count);
        uint32_t *step = XPU_NEW_ARRAY(arena, uint32_t, count), out = 0;
        xpu_memplan_item *trial = xpu_copy(arena, items, count * sizeof *items);
        wide kept = 0;
        if (count && k) qsort(trial, count, sizeof *trial, orders[k]);
        xpu_memplan_admit(arena, trial, count, l->reserved, l->bytes, bytes, step);
        for (uint32_t i = 0; i < count; i++) {
            if (trial[i].offset == UINT64_MAX)
                out++;
            else
                kept += trial[i].benefit;
        }
        if (best && kept <= most) continue;
        best = trial;
        most = kept;
        memcpy(short_bytes, bytes, count * sizeof *bytes);
        memcpy(short_step, step, count * sizeof *step);
        if (!out) break;
    }
    return best;
}

static void fail(xpu_arena *arena, const xpu_memplan_problem *problem, uint32_t level, const xpu_memplan_item *items,
                 uint32_t count, uint64_t overflow, xpu_memplan_attempt *attempt) {
    const xpu_memplan_level *l = &problem->levels[level];
    attempt->failed = 1;
    attempt->level = level;
    attempt->items = XPU_NEW_ARRAY(arena, xpu_memplan_item, count);
    attempt->item_count = 0;
    uint64_t highest = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (!items[i].forced) continue;
        attempt->items[attempt->item_count++] = items[i];
        if (items[i].offset + items[i].bytes > highest) {
            highest = items[i].offset + items[i].bytes;
            attempt->step = items[i].life.first;
        }
    }
    uint32_t worst;
    uint64_t live = xpu_memplan_load(arena, attempt->items, attempt->item_count, l->reserved, &worst);
    attempt->crowded = live > l->bytes - l->reserved;
    attempt->short_bytes = attempt->crowded ? live - (l->bytes - l->reserved) : overflow;
    if (attempt->crowded) attempt->step = worst;
}

/* Moves a group to its next level. */
static void push_out(xpu_memplan_group *group, uint8_t *dirty) {
    group->choice++;
    dirty[group->order[group->choice]] = 1;
}

/* Items from number `kept` on were refused; where the packing left others out, they may have room now. Each takes the
 * lowest hole, as long as the comparisons last. */
static void fill_holes(xpu_memplan_item *items, uint32_t kept, uint32_t count, uint64_t start, uint64_t end) {
    uint32_t left = MOST_FILLED;
    for (uint32_t i = kept; i < count && left; i++) {
        uint64_t offset = xpu_memplan_align(start, items[i].alignment);
        for (uint32_t k = 0; k < i && left; k++, left--) {
            const xpu_memplan_item *other = &items[k];
            if (other->offset == UINT64_MAX || !xpu_memplan_items_meet(other, &items[i])) continue;
            if (other->offset >= offset + items[i].bytes || offset >= other->offset + other->bytes) continue;
            offset = xpu_memplan_align(other->offset + other->bytes, items[i].alignment);
            k = UINT32_MAX; /* again from the first */
        }
        if (left && offset <= end && items[i].bytes <= end - offset) items[i].offset = offset;
    }
}

/* Of all benefit, what stays. */
static wide benefit_kept(const xpu_memplan_item *items, uint32_t count) {
    wide kept = 0;
    for (uint32_t i = 0; i < count; i++)
        if (items[i].offset != UINT64_MAX) kept += items[i].benefit;
    return kept;
}

/* Those packed anew that have room together by their bytes, in this order. What is better replaces `items`. */
static void pack_in_order(xpu_arena *arena, const xpu_memplan_level *l, const xpu_memplan_item *order, uint32_t count,
                          uint64_t budget, uint64_t *steps, xpu_memplan_item *items) {
    xpu_memplan_item *trial = xpu_copy(arena, order, count * sizeof *order);
    xpu_memplan_item *all = xpu_copy(arena, order, count * sizeof *order);
    uint64_t *bytes = XPU_NEW_ARRAY(arena, uint64_t, count), proved;
    uint32_t *step = XPU_NEW_ARRAY(arena, uint32_t, count), kept = 0;
    xpu_memplan_admit(arena, trial, count, l->reserved, l->bytes, bytes, step);
    for (uint32_t i = 0; i < count; i++) {
        all[i].offset = UINT64_MAX;
        if (trial[i].offset != UINT64_MAX) trial[kept++] = trial[i];
    }
    if (xpu_memplan_pack(arena, trial, kept, l->reserved, l->bytes, budget, steps, &proved)) return;
    if (benefit_kept(trial, kept) <= benefit_kept(items, count)) return;
    for (uint32_t i = 0, at = 0; i < count; i++) {
        if (at < kept && trial[at].id == all[i].id) all[i] = trial[at++];
    }
    memcpy(items, all, count * sizeof *all);
}

/* Where something had to be left out, another arrangement may have places for what was refused for its sake: beside
 * what stays, or in the place of that, too. */
static void pack_again(xpu_arena *arena, const xpu_memplan_level *l, xpu_memplan_item *items, uint32_t admitted,
                       uint32_t count, uint64_t budget, uint64_t *steps) {
    xpu_memplan_item *order = XPU_NEW_ARRAY(arena, xpu_memplan_item, count);
    uint32_t made = 0, wished = 0;
    for (int turn = 0; turn < 3; turn++) { /* what stays, what was refused, what was left out */
        for (uint32_t i = 0; i < count; i++) {
            if ((items[i].offset != UINT64_MAX ? 0 : i >= admitted ? 1 : 2) == turn) order[made++] = items[i];
        }
        if (turn == 1) wished = made;
    }
    pack_in_order(arena, l, order, count, budget, steps, items);
    if (wished) qsort(order, wished, sizeof *order, compare_wishes);
    pack_in_order(arena, l, order, count, budget, steps, items);
}

/* Decides who stays at a level and where. */
static void settle(xpu_arena *arena, const xpu_memplan_problem *problem, uint32_t level, uint64_t budget,
                   const relief *wanted, uint8_t *dirty, xpu_memplan_attempt *attempt) {
    xpu_memplan_groups *groups = &attempt->groups;
    const xpu_memplan_level *l = &problem->levels[level];
    uint32_t count, kept = 0, refused = 0, left_out = 0;
    xpu_memplan_item *items = items_at(arena, problem, groups, level, wanted, &count);
    if (!budget && have_room(items, count, l->reserved, l->bytes)) return; /* nobody asks where */
    sort_by_wish(items, count);
    uint64_t *short_bytes = XPU_NEW_ARRAY(arena, uint64_t, groups->count);
    uint32_t *short_step = XPU_NEW_ARRAY(arena, uint32_t, groups->count);
    xpu_memplan_item *others = XPU_NEW_ARRAY(arena, xpu_memplan_item, count);
    items = admit(arena, l, items, count, short_bytes, short_step);
    for (uint32_t i = 0; i < count; i++) {
        if (items[i].offset == UINT64_MAX) {
            groups->items[items[i].id].short_bytes[level] = short_bytes[i];
            groups->items[items[i].id].short_step[level] = short_step[i];
            others[refused++] = items[i];
        } else {
            items[kept++] = items[i];
        }
    }
    uint64_t *proved = &attempt->proved[level];
    uint64_t overflow = xpu_memplan_pack(arena, items, kept, l->reserved, l->bytes, budget, &attempt->steps, proved);
    if (overflow) {
        for (uint32_t i = 0; i < refused; i++) push_out(&groups->items[others[i].id], dirty);
        fail(arena, problem, level, items, kept, overflow, attempt);
        return;
    }
    for (uint32_t i = 0; i < kept; i++) {
        xpu_memplan_group *group = &groups->items[items[i].id];
        if (items[i].offset != UINT64_MAX) continue;
        group->short_bytes[level] = 0;
        group->short_step[level] = items[i].life.first;
        left_out++;
    }
    if (refused) memcpy(items + kept, others, refused * sizeof *others);
    if (refused && left_out) {
        fill_holes(items, kept, count, l->reserved, l->bytes);
        if (budget) pack_again(arena, l, items, kept, count, budget, &attempt->steps);
        *proved = 0;
    }
    for (uint32_t i = 0; i < count; i++) {
        xpu_memplan_group *group = &groups->items[items[i].id];
        if (items[i].offset == UINT64_MAX) {
            push_out(group, dirty);
            if (i < kept) *proved = 0; /* it was of all of them */
        } else {
            group->offset = items[i].offset;
            if (group->window.count > 1 && !items[i].pinned) *proved = 0; /* it counts room that rules need only now */
        }
    }
}

static void try_with(xpu_arena *arena, const xpu_memplan_problem *problem, const xpu_memplan_choice *choices,
                     xpu_memplan_alias_mode mode, uint64_t budget, const relief *wanted, xpu_memplan_attempt *attempt) {
    uint8_t dirty[XPU_MEMPLAN_MAX_LEVELS];
    memset(dirty, 1, sizeof dirty);
    *attempt = (xpu_memplan_attempt){0};
    xpu_memplan_group_buffers(arena, problem, choices, mode, &attempt->groups);
    for (uint32_t level = 0; level < problem->level_count && !attempt->failed;) {
        if (!dirty[level]) {
            level++;
            continue;
        }
        dirty[level] = 0;
        uint64_t share = budget / problem->level_count;
        uint64_t left = budget > attempt->steps ? budget - attempt->steps : 1;
        uint64_t now = share < left ? share : left;
        if (!now && budget) now = 1; /* 0 asks only whether there is a plan, and not for its offsets */
        xpu_arena *work = xpu_arena_new(xpu_arena_mem(arena), "memory plan of a level");
        settle(work, problem, level, now, wanted, dirty, attempt);
        if (attempt->failed) {
            attempt->items = xpu_copy(arena, attempt->items, attempt->item_count * sizeof *attempt->items);
        }
        xpu_arena_free(work);
        level = 0;
    }
}

void xpu_memplan_try(xpu_arena *arena, const xpu_memplan_problem *problem, const xpu_memplan_choice *choices,
                     xpu_memplan_alias_mode mode, uint64_t budget, xpu_memplan_attempt *attempt) {
    try_with(arena, problem, choices, mode, budget, &(relief){NO_RELIEF, 0}, attempt);
}

/* Whether other levels might have spared the one that had no room: something that was pushed out of them is there, and
 * they are large enough. */
static int may_be_spared(const xpu_memplan_problem *problem, const xpu_memplan_attempt *attempt) {
    uint64_t others = 0;
    int pushed = 0;
    for (uint32_t i = 0; i < attempt->item_count && !pushed; i++)
        pushed = attempt->groups.items[attempt->items[i].id].choice > 0;
    for (uint32_t i = 0; i < problem->level_count; i++)
        if (i != attempt->level) others += problem->levels[i].bytes;
    return pushed && attempt->short_bytes <= others;
}

/* Where a level has no room for what was pushed out of better ones: who stays there spares it the most bytes. */
static void relieve(xpu_arena *arena, const xpu_memplan_problem *problem, const xpu_memplan_choice *choices,
                    xpu_memplan_alias_mode most, uint64_t budget, xpu_memplan_attempt *attempt) {
    for (int mode = (int)most; mode < XPU_MEMPLAN_ALIAS_MODES && attempt->failed; mode++) {
        if (mode > (int)most && !problem->alias_count) return;
        for (int kind = RELIEF_AT_STEP; kind < RELIEF_KINDS && attempt->failed; kind++) {
            if (!may_be_spared(problem, attempt)) return;
            const relief wanted = {(relief_kind)kind, attempt->step};
            const uint64_t before = attempt->steps;
            try_with(arena, problem, choices, (xpu_memplan_alias_mode)mode, budget, &wanted, attempt);
            attempt->steps += before;
        }
    }
}

static void set_places(const xpu_memplan_problem *problem, const xpu_memplan_choice *choices,
                       const xpu_memplan_attempt *attempt, xpu_memplan *plan) {
    for (uint32_t i = 0; i < attempt->groups.count; i++) {
        xpu_memplan_group *group = &attempt->groups.items[i];
        if (problem->buffers[group->root].pinned) continue;
        group->offset += xpu_memplan_shift(problem, &choices[group->root], &group->window, group->order[group->choice],
                                           group->offset);
    }
    for (uint32_t i = 0; i < problem->buffer_count; i++) {
        const xpu_memplan_group *group = &attempt->groups.items[attempt->groups.group_of[i]];
        uint32_t alias = attempt->groups.alias[i];
        plan->places[i] = (xpu_memplan_place){.level = group->order[group->choice],
                                              .offset = group->offset + attempt->groups.delta[i],
                                              .alias = alias,
                                              .alias_of = alias == XPU_MEMPLAN_NONE ? XPU_MEMPLAN_NONE
                                                                                    : problem->aliases[alias].other};
    }
}

static const char *reason(xpu_arena *arena, const xpu_memplan_problem *problem, const xpu_memplan_attempt *attempt,
                          uint32_t buffer, uint32_t preferred, const xpu_memplan_choice *choice) {
    const xpu_memplan_group *group = &attempt->groups.items[attempt->groups.group_of[buffer]];
    uint32_t alias = attempt->groups.alias[buffer];
    if (!(choice->mask & 1u << preferred)) {
        const xpu_memplan_buffer *b = &problem->buffers[buffer];
        for (uint32_t i = 0; i < b->level_count; i++) {
            if (b->levels[i] == preferred) return "a must or never rule forbids it";
        }
        return "it is not allowed there";
    }
    for (uint32_t i = 0; i < group->choice; i++) {
        if (group->order[i] != preferred) continue;
        if (group->short_bytes[preferred]) {
            return xpu_printf(arena, "no room: %" PRIu64 " bytes short at %s", group->short_bytes[preferred],
                              xpu_memplan_step(arena, problem, group->short_step[preferred]));
        }
        return xpu_printf(arena, "no room: no hole of %" PRIu64 " bytes for %s", group->bytes,
                          xpu_memplan_life_text(arena, problem, group->life));
    }
    if (alias == XPU_MEMPLAN_NONE) return "others share its bytes";
    return xpu_printf(arena, "shares bytes with %s", xpu_memplan_quote(arena, problem, problem->aliases[alias].other));
}

static void set_spills(xpu_arena *arena, const xpu_memplan_problem *problem, const xpu_memplan_choice *choices,
                       const xpu_memplan_attempt *attempt, xpu_memplan *plan) {
    XPU_ARRAY(xpu_memplan_spill) spills = {0};
    for (uint32_t i = 0; i < problem->buffer_count; i++) {
        const xpu_memplan_choice *choice = &choices[i];
        uint32_t preferred =
            choice->prefer == XPU_MEMPLAN_NONE ? choice->order[0] : problem->rules[choice->prefer].level;
        if (plan->places[i].level == preferred) continue;
        xpu_memplan_spill spill = {i, preferred, reason(arena, problem, attempt, i, preferred, choice)};
        XPU_PUSH(arena, &spills, spill);
    }
    plan->spills = spills.items;
    plan->spill_count = spills.count;
}

static xpu_memplan *make_plan(xpu_arena *arena, xpu_arena *work, const xpu_memplan_problem *problem,
                              const xpu_memplan_choice *choices, const xpu_memplan_attempt *attempt) {
    xpu_memplan *plan = XPU_NEW(arena, xpu_memplan);
    plan->buffer_count = problem->buffer_count;
    plan->level_count = problem->level_count;
    plan->places = XPU_NEW_ARRAY(arena, xpu_memplan_place, problem->buffer_count);
    plan->usage = XPU_NEW_ARRAY(arena, xpu_memplan_usage, problem->level_count);
    plan->steps_used = attempt->steps;
    set_places(problem, choices, attempt, plan);
    xpu_memplan_measure(work, problem, plan->places, plan->usage);
    for (uint32_t i = 0; i < problem->level_count; i++) {
        if (attempt->proved[i] > plan->usage[i].proved_bound) plan->usage[i].proved_bound = attempt->proved[i];
    }
    set_spills(arena, problem, choices, attempt, plan);
    return plan;
}

/* Tries the alias modes one after the other: fewer aliases may fit where more do not, since what shares bytes also has
 * to stand together. `first` is the attempt that is blamed where all fail. */
static xpu_memplan *try_modes(xpu_arena *arena, xpu_arena *work, const xpu_memplan_problem *problem,
                              const xpu_memplan_options *options, xpu_memplan_attempt *first) {
    uint64_t budget = options && options->step_budget ? options->step_budget : XPU_MEMPLAN_DEFAULT_BUDGET;
    uint32_t mode = options && options->no_aliases ? XPU_MEMPLAN_NO_ALIASES : XPU_MEMPLAN_ALL_ALIASES;
    const xpu_memplan_choice *choices = xpu_memplan_choices(work, problem, NULL);
    xpu_memplan_attempt attempt;
    xpu_memplan_try(work, problem, choices, (xpu_memplan_alias_mode)mode, budget, &attempt);
    *first = attempt;
    const xpu_memplan_alias_mode most = (xpu_memplan_alias_mode)mode;
    while (attempt.failed && problem->alias_count && mode + 1 < XPU_MEMPLAN_ALIAS_MODES) {
        mode++;
        xpu_memplan_try(work, problem, choices, (xpu_memplan_alias_mode)mode, budget, &attempt);
    }
    if (attempt.failed)
        relieve(work, problem, choices, most, budget, &attempt);
    else if (!options || !options->any_plan)
        xpu_memplan_untie(work, problem, choices, (xpu_memplan_alias_mode)mode, budget, &attempt);
    return attempt.failed ? NULL : make_plan(arena, work, problem, choices, &attempt);
}

xpu_status xpu_memplan_make(xpu_arena *arena, const xpu_memplan_problem *problem, const xpu_memplan_options *options,
                            xpu_memplan **plan, xpu_diags *diags) {
    *plan = NULL;
    xpu_arena *work = xpu_arena_new(xpu_arena_mem(arena), "memory plan");
    xpu_status status = xpu_memplan_problem_check(work, problem, diags);
    if (status == XPU_OK) {
        status = xpu_memplan_rules_check(work, problem, xpu_memplan_choices(work, problem, NULL), diags);
        if (status == XPU_OK) status = xpu_memplan_positions_check(work, problem, diags);
    }
    if (status == XPU_OK) {
        uint32_t preferred;
        xpu_memplan_attempt first;
        xpu_memplan_problem pinned = xpu_memplan_pin_offsets(work, problem, NULL, 1, &preferred);
        *plan = try_modes(arena, work, &pinned, options, &first);
        if (!*plan && preferred && !xpu_stopped(arena)) {
            pinned = xpu_memplan_pin_offsets(work, problem, NULL, 0, &preferred);
            *plan = try_modes(arena, work, &pinned, options, &first);
        }
        if (xpu_stopped(arena)) {
            *plan = NULL;
            status = xpu_error_stopped(diags, NULL, NULL, "memory was being planned");
        } else if (!*plan) {
            status = xpu_memplan_blame(work, problem, &first, diags);
        }
    }
    xpu_arena_free(work);
    return status;
}
