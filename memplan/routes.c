#include "memplan/routes.h"

#include <string.h>

#include "memplan/internal.h"

/* The needs that stand in a level without a break. */
typedef struct {
    uint32_t first, last, level;
} span;

/* What a route is to be like. What no span covers is accessed in the last level, or the home. */
typedef struct {
    span spans[XPU_MEMPLAN_MOST_NEEDS];
    uint32_t count;
    int is_anew;  /* what comes back is computed anew */
    int is_slow;  /* what is put aside has time until it is wanted */
    int is_ahead; /* what comes back may come many steps before */
} wish;

/* A route while it is made. */
typedef struct {
    const xpu_memplan_search *search;
    xpu_memplan_needs needs;
    uint32_t far;
    xpu_memplan_route route;
    xpu_memplan_leg legs[XPU_MEMPLAN_MOST_LEGS];
    xpu_memplan_use shares[XPU_MEMPLAN_MOST_LEGS][XPU_MEMPLAN_MOST_AHEAD];
    uint64_t best_cycles, best_bytes;
    xpu_memplan_route *best;
    xpu_arena *arena;
} maker;

static const xpu_memplan_buffer *buffer_of(const maker *m) {
    return &m->search->clock->problem->buffers[m->search->buffer];
}

static const xpu_memplan_traffic *traffic_of(const maker *m) {
    return &m->search->clock->problem->timeline->traffic[m->search->buffer];
}

int xpu_memplan_needs_of(const xpu_memplan_problem *problem, uint32_t buffer, xpu_memplan_needs *needs) {
    const xpu_memplan_buffer *b = &problem->buffers[buffer];
    const xpu_memplan_traffic *t = &problem->timeline->traffic[buffer];
    const int has_home = t->home != XPU_MEMPLAN_NONE;
    *needs = (xpu_memplan_needs){.count = 0};
    if (!t->use_count || t->use_count + 2 > XPU_MEMPLAN_MOST_NEEDS) return 0;
    if (!has_home && t->uses[0].step > b->first) {
        needs->step[0] = b->first;
        needs->use[needs->count++] = XPU_MEMPLAN_NONE;
    }
    needs->written = needs->count;
    for (uint32_t i = 0; i < t->use_count; i++) {
        needs->step[needs->count] = t->uses[i].step;
        needs->use[needs->count++] = i;
    }
    if (!has_home && t->uses[t->use_count - 1].step < b->last) {
        needs->step[needs->count] = b->last;
        needs->use[needs->count++] = XPU_MEMPLAN_NONE;
    }
    return 1;
}

/* ---- putting routes into the clock ---- */

/* How a leg begins. */
static void put_arrival(const xpu_memplan_search *s, const xpu_memplan_leg *leg, const xpu_memplan_leg *legs, int in) {
    const xpu_memplan_problem *problem = s->clock->problem;
    const xpu_memplan_traffic *t = &problem->timeline->traffic[s->buffer];
    for (uint32_t i = 0; i < leg->share_count; i++)
        xpu_memplan_clock_share(s->clock, leg->shares[i].step, legs[leg->source].level, leg->level,
                                leg->shares[i].bytes, in);
    if (!leg->is_anew) return;
    xpu_memplan_clock_compute(s->clock, leg->from, t->anew_cycles, in);
    xpu_memplan_clock_access(s->clock, leg->from, leg->level, problem->buffers[s->buffer].bytes, in);
    for (uint32_t i = 0; i < t->operand_count; i++) { /* they stand still, so their levels are known */
        const uint32_t operand = t->operands[i];
        xpu_memplan_clock_access(s->clock, leg->from, s->level_of[operand], problem->buffers[operand].bytes, in);
    }
}

static void put_accesses(const xpu_memplan_search *s, const uint8_t *level_of, int in) {
    const xpu_memplan_traffic *t = &s->clock->problem->timeline->traffic[s->buffer];
    for (uint32_t i = 0; i < t->use_count; i++)
        xpu_memplan_clock_access(s->clock, t->uses[i].step, level_of[i], t->uses[i].bytes, in);
}

void xpu_memplan_route_put(const xpu_memplan_search *search, const xpu_memplan_route *route, int in) {
    const uint64_t bytes = search->clock->problem->buffers[search->buffer].bytes;
    put_accesses(search, route->level_of, in);
    for (uint32_t i = 0; i < route->leg_count; i++) {
        const xpu_memplan_leg *leg = &route->legs[i];
        put_arrival(search, leg, route->legs, in);
        xpu_memplan_clock_stand(search->clock, leg->from, leg->to, leg->level, bytes, in);
    }
}

xpu_memplan_route xpu_memplan_route_still(xpu_arena *arena, const xpu_memplan_problem *problem, uint32_t buffer,
                                          uint32_t level) {
    const xpu_memplan_buffer *b = &problem->buffers[buffer];
    const uint32_t uses = problem->timeline->traffic[buffer].use_count;
    xpu_memplan_route route = {XPU_NEW(arena, xpu_memplan_leg), 1, XPU_NEW_ARRAY(arena, uint8_t, uses)};
    route.legs[0] = (xpu_memplan_leg){.level = level, .from = b->first, .to = b->last, .source = XPU_MEMPLAN_NONE};
    memset(route.level_of, (int)level, uses);
    return route;
}

/* ---- making one ---- */

static int fits(const maker *m, uint32_t first, uint32_t last, uint32_t level) {
    return m->search->anywhere || xpu_memplan_clock_fits(m->search->clock, first, last, level, buffer_of(m)->bytes);
}

static xpu_memplan_leg *add_leg(maker *m, uint32_t level, uint32_t from, uint32_t to) {
    xpu_memplan_leg *leg = &m->legs[m->route.leg_count];
    *leg = (xpu_memplan_leg){
        .level = level, .from = from, .to = to, .source = XPU_MEMPLAN_NONE, .shares = m->shares[m->route.leg_count]};
    m->route.leg_count++;
    return leg;
}

/* Bytes of a step's share: what is free there, unless that is too little to begin with. */
static uint64_t share_of(const maker *m, uint32_t step, uint32_t from, uint32_t to, uint64_t rest) {
    const uint64_t bytes = xpu_memplan_clock_free(m->search->clock, step, from, to);
    return bytes >= rest ? rest : bytes < buffer_of(m)->bytes / XPU_MEMPLAN_MOST_AHEAD ? 0 : bytes;
}

/* Puts what is left of a transfer into the last of its steps. */
static void add_rest(xpu_memplan_leg *leg, uint32_t step, uint64_t rest) {
    if (leg->share_count && leg->shares[leg->share_count - 1].step == step)
        leg->shares[leg->share_count - 1].bytes += rest;
    else if (rest)
        leg->shares[leg->share_count++] = (xpu_memplan_use){step, rest};
}

/* From a near leg, which is the first one, to the far level: from step `low` on, until `high` where it takes so long.
 * The near one stays until then. Returns the far leg, NULL: no room. */
static xpu_memplan_leg *put_aside(maker *m, uint32_t low, uint32_t high) {
    const uint32_t near = m->legs[0].level;
    xpu_memplan_leg *leg = add_leg(m, m->far, low, low);
    uint64_t rest = buffer_of(m)->bytes;
    uint32_t last = low;
    leg->source = 0;
    for (uint32_t step = low; rest && step <= high && leg->share_count + 1 < XPU_MEMPLAN_MOST_AHEAD; step++) {
        if (step > m->legs[0].to && !fits(m, step, step, near)) break;
        const uint64_t share = share_of(m, step, near, m->far, rest);
        last = step;
        if (!share) continue;
        leg->shares[leg->share_count++] = (xpu_memplan_use){step, share};
        rest -= share;
    }
    add_rest(leg, last, rest);
    leg->from = leg->shares[0].step;
    leg->to = leg->end = leg->shares[leg->share_count - 1].step;
    if (leg->end > m->legs[0].to) {
        if (!fits(m, m->legs[0].to + 1, leg->end, near)) return NULL;
        m->legs[0].to = leg->end;
    }
    return leg;
}

static int is_covered(const wish *w, uint32_t need) {
    for (uint32_t i = 0; i < w->count; i++)
        if (w->spans[i].first <= need && need <= w->spans[i].last) return 1;
    return 0;
}

/* Whether a step before a need reads it elsewhere though it is in the near level from step `there` on. */
static int comes_too_early(const maker *m, const wish *w, uint32_t need, uint32_t there) {
    for (uint32_t k = 0; k < need; k++)
        if (m->needs.step[k] >= there && !is_covered(w, k)) return 1;
    return 0;
}

/* A near leg that begins with a transfer from leg `source`, not before step `low`, over before the span. */
static int bring(maker *m, const wish *w, uint32_t source, uint32_t low, const span *s) {
    const uint32_t last = m->needs.step[s->last], high = m->needs.step[s->first] - 1;
    if (low > high || !fits(m, high, last, s->level)) return 0;
    xpu_memplan_leg *leg = add_leg(m, s->level, high, last);
    uint64_t rest = buffer_of(m)->bytes;
    xpu_memplan_use backward[XPU_MEMPLAN_MOST_AHEAD];
    uint32_t count = 0;
    leg->source = source;
    for (uint32_t step = high;; step--) {
        if (step < high && !fits(m, step, step, s->level)) break;
        const uint64_t share = share_of(m, step, m->far, s->level, rest);
        if (share) backward[count++] = (xpu_memplan_use){step, share};
        rest -= share;
        if (!rest || !w->is_ahead || step == low || high - step + 2 >= XPU_MEMPLAN_MOST_AHEAD) break;
    }
    for (uint32_t i = 0; i < count; i++) leg->shares[i] = backward[count - 1 - i];
    leg->share_count = count;
    add_rest(leg, high, rest);
    leg->from = leg->shares[0].step;
    leg->end = leg->shares[leg->share_count - 1].step;
    if (!comes_too_early(m, w, s->first, leg->end + 1)) return 1;
    m->route.leg_count--;
    return 0;
}

/* A near leg that is computed anew in step `high`. */
static int compute_anew(maker *m, uint32_t high, const span *s) {
    const xpu_memplan_traffic *t = traffic_of(m);
    const uint32_t last = m->needs.step[s->last];
    if (high <= m->needs.step[m->needs.written] || !fits(m, high, last, s->level)) return 0;
    for (uint32_t i = 0; i < t->operand_count; i++) {
        const xpu_memplan_buffer *operand = &m->search->clock->problem->buffers[t->operands[i]];
        const xpu_memplan_traffic *of = &m->search->clock->problem->timeline->traffic[t->operands[i]];
        if (m->search->level_of[t->operands[i]] == XPU_MEMPLAN_NONE || !of->use_count) return 0;
        const uint32_t there = of->home == XPU_MEMPLAN_NONE ? of->uses[0].step + 1 : operand->first;
        if (high < there || high > operand->last) return 0;
    }
    xpu_memplan_leg *leg = add_leg(m, s->level, high, last);
    leg->is_anew = 1;
    leg->end = high;
    return 1;
}

/* The first step in which the far level must have it: for a step, or to be brought back from there. */
static uint32_t wanted_far(const maker *m, const wish *w) {
    uint32_t wanted = UINT32_MAX;
    for (uint32_t k = m->needs.count; k-- > 0;)
        if (!is_covered(w, k)) wanted = m->needs.step[k];
    if (w->count > 1 && !w->is_anew && m->needs.step[w->spans[1].first] - 1 < wanted)
        wanted = m->needs.step[w->spans[1].first] - 1;
    return wanted;
}

/* The first leg: where it is written, or its home. */
static int begin_route(maker *m, const wish *w, uint32_t *far) {
    const xpu_memplan_buffer *b = buffer_of(m);
    const int starts_near = traffic_of(m)->home == XPU_MEMPLAN_NONE && w->count && w->spans[0].first == 0;
    *far = XPU_MEMPLAN_NONE;
    if (!starts_near) {
        add_leg(m, m->far, b->first, b->first);
        *far = 0;
        return 1;
    }
    const uint32_t written = m->needs.step[m->needs.written], wanted = wanted_far(m, w);
    uint32_t last = m->needs.step[w->spans[0].last];
    if (!fits(m, b->first, last, w->spans[0].level)) return 0;
    add_leg(m, w->spans[0].level, b->first, last);
    if (wanted == UINT32_MAX) return 1;
    if (written + 1 >= wanted) return 0;
    if (last < written + 1 || w->is_slow) last = w->is_slow ? wanted - 1 : written + 1;
    if (last > wanted - 1) last = wanted - 1;
    *far = 1;
    return put_aside(m, written + 1, last) != NULL;
}

/* Brings back what the wish says, and ends the far leg where it is wanted no more. */
static int end_route(maker *m, const wish *w, uint32_t far) {
    const int has_home = traffic_of(m)->home != XPU_MEMPLAN_NONE;
    uint32_t last = has_home ? buffer_of(m)->last : 0;
    for (uint32_t i = !has_home && w->count && w->spans[0].first == 0; i < w->count; i++) {
        const span *s = &w->spans[i];
        const uint32_t need = m->needs.step[s->first];
        uint32_t low = has_home ? buffer_of(m)->first : m->needs.step[m->needs.written] + 1;
        if (far == 1) low = m->legs[1].end + 1;
        if (i && w->spans[i - 1].level == s->level && low <= m->needs.step[w->spans[i - 1].last])
            low = m->needs.step[w->spans[i - 1].last] + 1;
        if (need == 0 || !(w->is_anew ? compute_anew(m, need - 1, s) : bring(m, w, far, low, s))) return 0;
        const xpu_memplan_leg *leg = &m->legs[m->route.leg_count - 1];
        put_arrival(m->search, leg, m->legs, 1); /* the next one sees what this one took */
        if (!w->is_anew && leg->end > last) last = leg->end;
    }
    if (far == XPU_MEMPLAN_NONE) return 1;
    for (uint32_t k = 0; k < m->needs.count; k++)
        if (!is_covered(w, k) && m->needs.step[k] > last) last = m->needs.step[k];
    if (last > m->legs[far].to) m->legs[far].to = last;
    return fits(m, m->legs[far].from, m->legs[far].to, m->far);
}

/* Keeps the route where it is the best so far. */
static void note(maker *m) {
    const xpu_memplan_clock *clock = m->search->clock;
    const uint32_t uses = traffic_of(m)->use_count;
    if (m->best &&
        (clock->all > m->best_cycles || (clock->all == m->best_cycles && clock->last_bytes >= m->best_bytes)))
        return;
    m->best_cycles = clock->all;
    m->best_bytes = clock->last_bytes;
    m->best = XPU_NEW(m->arena, xpu_memplan_route);
    m->best->leg_count = m->route.leg_count;
    m->best->legs = xpu_copy(m->arena, m->legs, m->route.leg_count * sizeof *m->legs);
    m->best->level_of = xpu_copy(m->arena, m->route.level_of, uses);
    for (uint32_t i = 0; i < m->route.leg_count; i++) {
        xpu_memplan_leg *leg = &m->best->legs[i];
        leg->shares = xpu_copy(m->arena, leg->shares, leg->share_count * sizeof *leg->shares);
    }
}

static void try_wish(maker *m, const wish *w) {
    uint32_t far;
    memset(m->route.level_of, (int)m->far, traffic_of(m)->use_count);
    for (uint32_t i = 0; i < w->count; i++)
        for (uint32_t k = w->spans[i].first; k <= w->spans[i].last; k++)
            if (m->needs.use[k] != XPU_MEMPLAN_NONE) m->route.level_of[m->needs.use[k]] = (uint8_t)w->spans[i].level;
    m->route.leg_count = 0;
    put_accesses(m->search, m->route.level_of, 1);
    const int done = begin_route(m, w, &far);
    const uint32_t begun = m->route.leg_count;
    for (uint32_t i = 0; done && i < begun; i++) put_arrival(m->search, &m->legs[i], m->legs, 1);
    if (done && end_route(m, w, far)) note(m);
    for (uint32_t i = 0; done && i < m->route.leg_count; i++) put_arrival(m->search, &m->legs[i], m->legs, 0);
    put_accesses(m->search, m->route.level_of, 0);
}

/* The same in all the ways in which it can go aside and come back. */
static void try_ways(maker *m, wish *w) {
    for (int way = 0; way < 4; way++) {
        w->is_slow = way & 1;
        w->is_ahead = way >> 1;
        try_wish(m, w);
        if (!w->count) return;
    }
    if (!traffic_of(m)->anew_cycles) return;
    w->is_anew = 1;
    try_wish(m, w);
    w->is_anew = 0;
}

static void try_level(maker *m, uint32_t level) {
    const xpu_memplan_needs *needs = &m->needs;
    const int has_home = traffic_of(m)->home != XPU_MEMPLAN_NONE;
    wish w = {.count = 1};
    for (uint32_t i = 0; i < needs->count; i++) {
        if (!has_home && i && i <= needs->written) continue;
        for (uint32_t k = i; k < needs->count; k++) {
            if (!has_home && k < needs->written) continue;
            w.spans[0] = (span){i, k, level};
            try_ways(m, &w);
        }
    }
    w.count = 2;
    for (uint32_t i = needs->written; i + 1 < needs->count; i++) {
        for (uint32_t k = i + 1; k < needs->count; k++) {
            w.spans[0] = (span){0, i, level};
            w.spans[1] = (span){k, needs->count - 1, level};
            try_ways(m, &w);
        }
    }
    if (!has_home || needs->count < 3) return;
    w.count = needs->count;
    for (uint32_t i = 0; i < needs->count; i++) w.spans[i] = (span){i, i, level};
    try_ways(m, &w);
}

xpu_memplan_route *xpu_memplan_route_best(xpu_arena *arena, const xpu_memplan_search *search) {
    const xpu_memplan_problem *problem = search->clock->problem;
    const xpu_memplan_buffer *b = &problem->buffers[search->buffer];
    const xpu_memplan_traffic *t = &problem->timeline->traffic[search->buffer];
    maker *m = XPU_NEW(arena, maker);
    m->search = search;
    m->arena = arena;
    m->far = t->home != XPU_MEMPLAN_NONE ? t->home : b->levels[b->level_count - 1];
    if (!xpu_memplan_needs_of(problem, search->buffer, &m->needs)) return NULL;
    m->route = (xpu_memplan_route){m->legs, 0, XPU_NEW_ARRAY(arena, uint8_t, t->use_count)};
    wish still = {.count = 0};
    try_ways(m, &still);
    for (uint32_t i = 0; i < b->level_count; i++)
        if (b->levels[i] < m->far) try_level(m, b->levels[i]);
    return m->best;
}
