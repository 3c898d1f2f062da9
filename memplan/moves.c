/*
 * The search for places in time. It begins with a plan in which each buffer has one level for life. One buffer after
 * the other is taken out, and gets the best route with what the others leave: room, and time on the way. Where its best
 * route has no room, it is tried with those taken out, too, that stand there, and get theirs behind it. When nothing
 * gets better, the stays of all routes are packed as buffers of one level. Where they have no room so, all is done
 * again with less room than there is.
 */
#include "memplan/moves.h"

#include <stdlib.h>
#include <string.h>

#include "memplan/internal.h"
#include "memplan/routes.h"

enum { MOST_VICTIMS = 16, WORK_PER_BUDGET = 16, ROUNDS = 8 };

typedef struct {
    xpu_arena *arena; /* of this search: routes that were taken */
    const xpu_memplan_problem *problem;
    const xpu_memplan *still;
    xpu_memplan_clock clock;
    xpu_memplan_route *routes; /* per buffer */
    uint32_t *level_of;        /* per buffer: XPU_MEMPLAN_NONE: it may be moved */
    uint32_t *movable, count;
    uint64_t limit; /* of the clock's work */
} planner;

static xpu_memplan_search search_of(planner *p, uint32_t buffer) {
    return (xpu_memplan_search){&p->clock, buffer, 0, p->level_of};
}

static void put(planner *p, uint32_t buffer, int in) {
    const xpu_memplan_search search = search_of(p, buffer);
    xpu_memplan_route_put(&search, &p->routes[buffer], in);
}

typedef struct {
    uint64_t cycles, bytes;
} cost;

static cost cost_of(const planner *p) {
    return (cost){p->clock.all, p->clock.last_bytes};
}

static int is_less(cost a, cost b) {
    return a.cycles != b.cycles ? a.cycles < b.cycles : a.bytes < b.bytes;
}

/* ---- who is moved ---- */

/* Buffers that stand still: rules, pins, gaps, bytes of others, or nothing known of them. */
static uint8_t *find_still(xpu_arena *arena, const xpu_memplan_problem *problem, const xpu_memplan *still) {
    uint8_t *stays = XPU_NEW_ARRAY(arena, uint8_t, problem->buffer_count);
    for (uint32_t i = 0; i < problem->match_count; i++) stays[problem->matches[i].buffer] = 1;
    for (uint32_t i = 0; i < problem->buffer_count; i++) {
        const xpu_memplan_buffer *b = &problem->buffers[i];
        const xpu_memplan_traffic *t = &problem->timeline->traffic[i];
        xpu_memplan_needs needs;
        if (b->pinned || b->gap_count || !b->bytes || b->level_count < 2) stays[i] = 1;
        if (!xpu_memplan_needs_of(problem, i, &needs)) stays[i] = 1;
        if (still->places[i].alias_of != XPU_MEMPLAN_NONE) stays[i] = stays[still->places[i].alias_of] = 1;
        for (uint32_t k = 0; k < t->operand_count; k++) stays[t->operands[k]] = 1;
    }
    return stays;
}

static void put_still(planner *p, uint32_t i) {
    const xpu_memplan_buffer *b = &p->problem->buffers[i];
    const xpu_memplan_traffic *t = &p->problem->timeline->traffic[i];
    const uint32_t level = p->still->places[i].level;
    for (uint32_t k = 0; k < t->use_count; k++)
        xpu_memplan_clock_access(&p->clock, t->uses[k].step, level, t->uses[k].bytes, 1);
    if (p->still->places[i].alias_of != XPU_MEMPLAN_NONE || b->first >= p->clock.steps) return;
    const uint32_t last = b->last < p->clock.steps ? b->last : p->clock.steps - 1;
    xpu_memplan_clock_stand(&p->clock, b->first, last, level, b->bytes, 1);
}

static void begin(planner *p, uint32_t permille) {
    const xpu_memplan_problem *problem = p->problem;
    const uint8_t *stays = find_still(p->arena, problem, p->still);
    xpu_memplan_clock_init(p->arena, problem, &p->clock);
    for (uint32_t i = 0; i < problem->level_count; i++) {
        const uint64_t room = p->clock.room[i];
        p->clock.room[i] = room / 1000 * permille + room % 1000 * permille / 1000;
    }
    p->routes = XPU_NEW_ARRAY(p->arena, xpu_memplan_route, problem->buffer_count);
    p->level_of = XPU_NEW_ARRAY(p->arena, uint32_t, problem->buffer_count);
    p->movable = XPU_NEW_ARRAY(p->arena, uint32_t, problem->buffer_count);
    for (uint32_t i = 0; i < problem->buffer_count; i++) {
        const uint32_t level = p->still->places[i].level;
        p->level_of[i] = stays[i] ? level : XPU_MEMPLAN_NONE;
        p->routes[i] = xpu_memplan_route_still(p->arena, problem, i, level);
        if (!stays[i]) p->movable[p->count++] = i;
        if (stays[i])
            put_still(p, i);
        else
            put(p, i, 1);
    }
}

/* ---- moving ---- */

static xpu_memplan_route keep(planner *p, const xpu_memplan_route *route, uint32_t buffer) {
    const uint32_t uses = p->problem->timeline->traffic[buffer].use_count;
    xpu_memplan_route kept = {xpu_copy(p->arena, route->legs, route->leg_count * sizeof *route->legs), route->leg_count,
                              xpu_copy(p->arena, route->level_of, uses)};
    for (uint32_t i = 0; i < kept.leg_count; i++) {
        xpu_memplan_leg *leg = &kept.legs[i];
        leg->shares = leg->share_count ? xpu_copy(p->arena, leg->shares, leg->share_count * sizeof *leg->shares) : NULL;
    }
    return kept;
}

/* Takes buffers out, puts them in again one after the other, each with its best route. 0: that was no better, and all
 * is as it was. */
static int place_again(planner *p, const uint32_t *buffers, uint32_t count) {
    const cost before = cost_of(p);
    xpu_arena *scratch = xpu_arena_new(xpu_arena_mem(p->arena), "routes of buffers");
    xpu_memplan_route *routes[MOST_VICTIMS + 1];
    uint32_t done = 0;
    for (uint32_t i = 0; i < count; i++) put(p, buffers[i], 0);
    for (; done < count; done++) {
        const xpu_memplan_search search = search_of(p, buffers[done]);
        routes[done] = xpu_memplan_route_best(scratch, &search);
        if (!routes[done]) break;
        xpu_memplan_route_put(&search, routes[done], 1);
    }
    const int better = done == count && is_less(cost_of(p), before);
    for (uint32_t i = 0; i < count; i++) {
        const xpu_memplan_search search = search_of(p, buffers[i]);
        if (better) {
            p->routes[buffers[i]] = keep(p, routes[i], buffers[i]);
            continue;
        }
        if (i < done) xpu_memplan_route_put(&search, routes[i], 0);
        put(p, buffers[i], 1);
    }
    xpu_arena_free(scratch);
    return better;
}

/* Whether a route stands in a level at the same time as another. */
static int is_in_the_way(const xpu_memplan_route *a, const xpu_memplan_route *b, uint32_t last_level) {
    for (uint32_t i = 0; i < a->leg_count; i++) {
        for (uint32_t k = 0; k < b->leg_count; k++) {
            const xpu_memplan_leg *x = &a->legs[i], *y = &b->legs[k];
            if (x->level == y->level && x->level != last_level && x->from <= y->to && y->from <= x->to) return 1;
        }
    }
    return 0;
}

/* Those that stand where the buffer would like to be. */
static uint32_t find_victims(planner *p, uint32_t buffer, uint32_t *victims) {
    const cost before = cost_of(p);
    xpu_arena *scratch = xpu_arena_new(xpu_arena_mem(p->arena), "routes of a buffer");
    xpu_memplan_search search = search_of(p, buffer);
    uint32_t count = 0;
    search.anywhere = 1;
    put(p, buffer, 0);
    const xpu_memplan_route *wanted = xpu_memplan_route_best(scratch, &search);
    int better = 0;
    if (wanted) {
        xpu_memplan_route_put(&search, wanted, 1);
        better = is_less(cost_of(p), before);
        xpu_memplan_route_put(&search, wanted, 0);
    }
    put(p, buffer, 1);
    for (uint32_t i = 0; i < p->count && better && count < MOST_VICTIMS; i++) {
        const uint32_t other = p->movable[i];
        if (other == buffer) continue;
        if (is_in_the_way(wanted, &p->routes[other], p->problem->level_count - 1)) victims[count++] = other;
    }
    xpu_arena_free(scratch);
    return count;
}

static int move_others(planner *p, uint32_t buffer) {
    uint32_t all[MOST_VICTIMS + 1] = {buffer};
    const uint32_t count = find_victims(p, buffer, all + 1);
    for (uint32_t i = 0; i < count && p->clock.work < p->limit; i++)
        if (place_again(p, (uint32_t[]){buffer, all[1 + i]}, 2)) return 1;
    return count > 1 && place_again(p, all, count + 1);
}

static void improve(planner *p) {
    int better = 1;
    for (int round = 0; round < ROUNDS && better; round++) {
        better = 0;
        for (uint32_t i = 0; i < p->count && p->clock.work < p->limit; i++) better |= place_again(p, &p->movable[i], 1);
        for (uint32_t i = 0; i < p->count && p->clock.work < p->limit; i++) better |= move_others(p, p->movable[i]);
        if (p->clock.work >= p->limit || xpu_stopped(p->arena)) return;
    }
}

/* ---- the plan ---- */

typedef struct {
    xpu_memplan_stay stay;
    uint32_t leg;
} numbered;

static int compare_stays(const void *a, const void *b) {
    const numbered *x = a, *y = b;
    if (x->stay.from != y->stay.from) return x->stay.from < y->stay.from ? -1 : 1;
    return x->stay.level < y->stay.level ? -1 : x->stay.level > y->stay.level;
}

/* Stays and transfers of a buffer. */
static void write_route(xpu_arena *arena, const planner *p, uint32_t buffer, xpu_memplan_moves *moves) {
    const xpu_memplan_route *route = &p->routes[buffer];
    numbered sorted[XPU_MEMPLAN_MOST_LEGS];
    uint32_t number_of[XPU_MEMPLAN_MOST_LEGS];
    for (uint32_t i = 0; i < route->leg_count; i++) {
        const xpu_memplan_leg *leg = &route->legs[i];
        sorted[i] = (numbered){{buffer, leg->level, leg->from, leg->to}, i};
    }
    qsort(sorted, route->leg_count, sizeof *sorted, compare_stays);
    for (uint32_t i = 0; i < route->leg_count; i++) number_of[sorted[i].leg] = moves->stay_count + i;
    for (uint32_t i = 0; i < route->leg_count; i++) {
        const xpu_memplan_leg *leg = &route->legs[sorted[i].leg];
        const uint32_t target = moves->stay_count++;
        moves->stays[target] = sorted[i].stay;
        if (leg->source == XPU_MEMPLAN_NONE && !leg->is_anew) continue;
        moves->transfers[moves->transfer_count++] = (xpu_memplan_transfer){
            leg->is_anew ? XPU_MEMPLAN_NONE : number_of[leg->source],
            target,
            leg->from,
            leg->end,
            leg->share_count ? xpu_copy(arena, leg->shares, leg->share_count * sizeof *leg->shares) : NULL,
            leg->share_count};
    }
}

static xpu_memplan_moves *write_moves(xpu_arena *arena, const planner *p) {
    xpu_memplan_moves *moves = XPU_NEW(arena, xpu_memplan_moves);
    uint32_t legs = 0;
    for (uint32_t i = 0; i < p->problem->buffer_count; i++) legs += p->routes[i].leg_count;
    moves->stays = XPU_NEW_ARRAY(arena, xpu_memplan_stay, legs);
    moves->transfers = XPU_NEW_ARRAY(arena, xpu_memplan_transfer, legs);
    for (uint32_t i = 0; i < p->problem->buffer_count; i++) write_route(arena, p, i, moves);
    moves->cycles = xpu_copy(arena, p->clock.cycles, p->clock.steps * sizeof *p->clock.cycles);
    moves->all_cycles = p->clock.all;
    moves->last_bytes = p->clock.last_bytes;
    moves->problem = xpu_memplan_problem_of_stays(arena, p->problem, moves);
    return moves;
}

/* The plan of stays where nothing moves is the one that the search began with. */
static void copy_still(xpu_arena *arena, const planner *p, xpu_memplan_moves *moves) {
    const xpu_memplan_problem *problem = p->problem, *of = &moves->problem;
    uint32_t *number = XPU_NEW_ARRAY(arena, uint32_t, problem->alias_count);
    uint32_t at = 0;
    for (uint32_t i = 0; i < problem->alias_count; i++) {
        const xpu_memplan_alias *alias = &problem->aliases[i];
        number[i] = at; /* those of buffers in one level are there, in the same order */
        at += moves->stays[alias->buffer].level == moves->stays[alias->other].level;
    }
    moves->plan = *p->still;
    moves->plan.places = xpu_copy(arena, p->still->places, problem->buffer_count * sizeof *p->still->places);
    moves->plan.usage = xpu_copy(arena, p->still->usage, problem->level_count * sizeof *p->still->usage);
    moves->plan.spills = XPU_NEW_ARRAY(arena, xpu_memplan_spill, p->still->spill_count);
    moves->plan.spill_count = 0;
    for (uint32_t i = 0; i < problem->buffer_count; i++) {
        uint32_t *alias = &moves->plan.places[i].alias;
        if (*alias != XPU_MEMPLAN_NONE) *alias = number[*alias];
    }
    const xpu_memplan_choice *choices = xpu_memplan_choices(arena, of, NULL);
    for (uint32_t i = 0; i < p->still->spill_count; i++) { /* what is left of wishes are those of rules */
        const xpu_memplan_spill *spill = &p->still->spills[i];
        if (choices[spill->buffer].prefer == XPU_MEMPLAN_NONE) continue;
        xpu_memplan_spill *copy = &moves->plan.spills[moves->plan.spill_count++];
        *copy = (xpu_memplan_spill){spill->buffer, spill->preferred, xpu_strdup(arena, spill->why)};
    }
}

/* Constants stand in their homes while nothing moves. */
static xpu_memplan_problem still_problem(xpu_arena *arena, const xpu_memplan_problem *problem) {
    xpu_memplan_problem still = *problem;
    xpu_memplan_buffer *buffers = xpu_copy(arena, problem->buffers, problem->buffer_count * sizeof *problem->buffers);
    for (uint32_t i = 0; i < problem->buffer_count; i++) {
        const uint32_t home = problem->timeline->traffic[i].home;
        if (home == XPU_MEMPLAN_NONE) continue;
        buffers[i].levels[0] = (uint8_t)home;
        buffers[i].level_count = 1;
    }
    still.buffers = buffers;
    return still;
}

/* A search with some of the room. NULL: its stays could not be packed; `still`: nothing moves. */
static xpu_memplan_moves *try_room(xpu_arena *arena, xpu_arena *work, const xpu_memplan_problem *problem,
                                   const xpu_memplan *still, const xpu_memplan_options *options, uint32_t permille) {
    const uint64_t budget = options && options->step_budget ? options->step_budget : XPU_MEMPLAN_DEFAULT_BUDGET;
    planner p = {.arena = work, .problem = problem, .still = still};
    begin(&p, permille ? permille : 1000);
    p.limit = budget > UINT64_MAX / WORK_PER_BUDGET ? UINT64_MAX : budget * WORK_PER_BUDGET;
    p.limit = p.limit > UINT64_MAX - p.clock.work ? UINT64_MAX : p.limit + p.clock.work;
    const cost before = cost_of(&p);
    if (permille) improve(&p);
    xpu_memplan_moves *moves = write_moves(arena, &p);
    moves->still_cycles = before.cycles;
    moves->still_bytes = before.bytes;
    if (!moves->transfer_count && before.cycles == moves->all_cycles && before.bytes == moves->last_bytes) {
        copy_still(arena, &p, moves);
        return moves;
    }
    xpu_memplan *plan;
    if (xpu_memplan_make(arena, &moves->problem, options, &plan, xpu_diags_new(work)) != XPU_OK) return NULL;
    moves->plan = *plan;
    return moves;
}

xpu_status xpu_memplan_make_moves(xpu_arena *arena, const xpu_memplan_problem *problem,
                                  const xpu_memplan_options *options, xpu_memplan_moves **moves, xpu_diags *diags) {
    static const uint32_t rooms[] = {1000, 970, 920, 850, 750, 0};
    *moves = NULL;
    if (!problem->timeline)
        return xpu_error(diags, XPU_EMODEL, problem->file, "plan-problem", NULL, "the problem has no time line",
                         "places in time are counted in cycles", "give it steps with cycles, and buffers with uses");
    xpu_arena *work = xpu_arena_new(xpu_arena_mem(arena), "places in time");
    xpu_memplan *still;
    xpu_status status = xpu_memplan_problem_check(work, problem, diags);
    const xpu_memplan_problem unmoved = status == XPU_OK ? still_problem(work, problem) : *problem;
    if (status == XPU_OK) status = xpu_memplan_make(work, &unmoved, options, &still, diags);
    for (uint32_t i = 0; status == XPU_OK && !*moves; i++) {
        xpu_arena *one = xpu_arena_new(xpu_arena_mem(arena), "search for places in time");
        *moves = try_room(arena, one, problem, still, options, rooms[i]);
        xpu_arena_free(one);
        if (xpu_stopped(arena)) status = xpu_error_stopped(diags, NULL, NULL, "memory was being planned");
    }
    if (status != XPU_OK) *moves = NULL;
    xpu_arena_free(work);
    return status;
}
