#include <inttypes.h>
#include <stdlib.h>

#include "memplan/check.h"
#include "memplan/moves.h"

enum { MAX_REPORTED = 100, MAX_STAYS = 64 };

typedef struct {
    xpu_arena *arena;
    const xpu_memplan_problem *problem;
    const xpu_memplan_moves *moves;
    xpu_diags *diags;
    unsigned found;
    uint32_t *begin;   /* per buffer: its first stay; behind the last buffer: the number of stays */
    uint32_t *arrival; /* per stay: the transfer that it begins with, or XPU_MEMPLAN_NONE */
    uint64_t *moved;   /* by step, then by level */
    uint64_t *compute;
    uint8_t *accessed; /* by step, then by level */
} checker;

static void __attribute__((format(printf, 4, 5))) wrong(checker *c, const char *rule, const char *where,
                                                        const char *format, ...) {
    if (c->found++ >= MAX_REPORTED) return;
    va_list args;
    va_start(args, format);
    char *what = xpu_vprintf(c->arena, format, args);
    va_end(args);
    xpu_memplan_check_wrong(c->diags, c->moves->file, rule, where, what);
}

static const char *name_of(const checker *c, uint32_t i) {
    return xpu_memplan_check_name(c->arena, c->problem, i);
}

static const xpu_memplan_buffer *buffer_of(const checker *c, uint32_t i) {
    return &c->problem->buffers[i];
}

static const xpu_memplan_traffic *traffic_of(const checker *c, uint32_t i) {
    return &c->problem->timeline->traffic[i];
}

static int has_home(const checker *c, uint32_t buffer) {
    return traffic_of(c, buffer)->home != XPU_MEMPLAN_NONE;
}

/* Whether what the time line says can be followed; the planner says more of one that cannot. */
static int check_line(checker *c) {
    const uint32_t steps = c->problem->timeline->step_count;
    for (uint32_t i = 0; i < c->problem->buffer_count; i++) {
        const xpu_memplan_traffic *t = traffic_of(c, i);
        int good = !t->use_count || buffer_of(c, i)->last < steps;
        for (uint32_t k = 0; k < t->use_count; k++) good &= t->uses[k].step < steps;
        for (uint32_t k = 0; k < t->operand_count; k++) good &= t->operands[k] < c->problem->buffer_count;
        if (!good) wrong(c, "check-use", name_of(c, i), "it is used in a step that the time line does not have");
    }
    return !c->found;
}

/* ---- stays ---- */

static void check_stay(checker *c, uint32_t i) {
    const xpu_memplan_stay *s = &c->moves->stays[i];
    const xpu_memplan_buffer *b = buffer_of(c, s->buffer);
    int allowed = 0;
    for (uint32_t k = 0; k < b->level_count; k++) allowed |= b->levels[k] == s->level;
    if (!allowed)
        wrong(c, "check-stay", name_of(c, s->buffer), "it stands in level %" PRIu32 ", where it is not allowed",
              s->level);
    if (s->from > s->to || s->from < b->first || s->to > b->last)
        wrong(c, "check-stay", name_of(c, s->buffer),
              "it stands in steps %" PRIu32 " to %" PRIu32 " and lives in %" PRIu32 " to %" PRIu32, s->from, s->to,
              b->first, b->last);
}

/* In order, some of every buffer. Returns 0 where they cannot be followed. */
static int find_stays(checker *c) {
    const xpu_memplan_moves *m = c->moves;
    uint32_t at = 0;
    c->begin = XPU_NEW_ARRAY(c->arena, uint32_t, c->problem->buffer_count + 1);
    for (uint32_t i = 0; i < c->problem->buffer_count; i++) {
        c->begin[i] = at;
        while (at < m->stay_count && m->stays[at].buffer == i) at++;
        const uint32_t count = at - c->begin[i];
        if (count >= 1 && count <= MAX_STAYS) continue;
        wrong(c, "check-stay", name_of(c, i), "it stands in %" PRIu32 " places, or not in the order of the buffers",
              count);
        return 0;
    }
    c->begin[c->problem->buffer_count] = at;
    if (at == m->stay_count) return 1;
    wrong(c, "check-stay", NULL, "there are stays of no buffer, or out of order");
    return 0;
}

static void check_stays(checker *c) {
    for (uint32_t i = 0; i < c->problem->buffer_count; i++) {
        const xpu_memplan_buffer *b = buffer_of(c, i);
        const uint32_t first = c->begin[i], count = c->begin[i + 1] - first;
        const xpu_memplan_stay *s = &c->moves->stays[first];
        for (uint32_t k = 0; k < count; k++) {
            check_stay(c, first + k);
            if (k && (s[k].from < s[k - 1].from || (s[k].from == s[k - 1].from && s[k].level <= s[k - 1].level)))
                wrong(c, "check-stay", name_of(c, i), "its stays are not in order");
        }
        const int stands_still = !traffic_of(c, i)->use_count || b->gap_count || b->pinned;
        if (stands_still && (count > 1 || s->from != b->first || s->to != b->last))
            wrong(c, "check-stay", name_of(c, i), "nothing says how it could move");
    }
}

/* ---- transfers ---- */

/* The step from which on the content of a stay can be read. */
static uint32_t ready(const checker *c, uint32_t stay) {
    const xpu_memplan_stay *s = &c->moves->stays[stay];
    const uint32_t transfer = c->arrival[stay];
    if (transfer != XPU_MEMPLAN_NONE) return c->moves->transfers[transfer].end + 1;
    if (has_home(c, s->buffer) || !traffic_of(c, s->buffer)->use_count) return s->from;
    return traffic_of(c, s->buffer)->uses[0].step + 1;
}

/* The fastest stay in which a buffer can be read in a step, or XPU_MEMPLAN_NONE. */
static uint32_t where_read(const checker *c, uint32_t buffer, uint32_t step) {
    uint32_t best = XPU_MEMPLAN_NONE;
    for (uint32_t i = c->begin[buffer]; i < c->begin[buffer + 1]; i++) {
        const xpu_memplan_stay *s = &c->moves->stays[i];
        if (s->from > step || s->to < step || ready(c, i) > step) continue;
        if (best == XPU_MEMPLAN_NONE || s->level < c->moves->stays[best].level) best = i;
    }
    return best;
}

static uint64_t *moved_at(const checker *c, uint32_t step, uint32_t level) {
    return &c->moved[(size_t)step * c->problem->level_count + level];
}

static void note_access(const checker *c, uint32_t step, uint32_t level, uint64_t bytes) {
    *moved_at(c, step, level) += bytes;
    if (bytes) c->accessed[(size_t)step * c->problem->level_count + level] = 1;
}

static void check_anew(checker *c, const xpu_memplan_transfer *t, uint32_t buffer) {
    const xpu_memplan_traffic *traffic = traffic_of(c, buffer);
    if (!traffic->anew_cycles || t->begin != t->end || t->share_count || t->begin <= traffic->uses[0].step) {
        wrong(c, "check-transfer", name_of(c, buffer), "it cannot be computed anew in steps %" PRIu32 " to %" PRIu32,
              t->begin, t->end);
        return;
    }
    c->compute[t->begin] += traffic->anew_cycles;
    note_access(c, t->begin, c->moves->stays[t->target].level, buffer_of(c, buffer)->bytes);
    for (uint32_t i = 0; i < traffic->operand_count; i++) {
        const uint32_t operand = traffic->operands[i], at = where_read(c, operand, t->begin);
        if (at == XPU_MEMPLAN_NONE)
            wrong(c, "check-transfer", name_of(c, buffer), "it is computed anew in step %" PRIu32 ", where %s is not",
                  t->begin, name_of(c, operand));
        else
            note_access(c, t->begin, c->moves->stays[at].level, buffer_of(c, operand)->bytes);
    }
}

static void check_shares(checker *c, const xpu_memplan_transfer *t, uint32_t buffer) {
    uint64_t sum = 0;
    const uint32_t ends[2] = {c->moves->stays[t->source].level, c->moves->stays[t->target].level};
    for (uint32_t i = 0; i < t->share_count; i++) {
        const xpu_memplan_use *share = &t->shares[i];
        if (!share->bytes || share->bytes > XPU_MEMPLAN_MAX_BYTES || share->step < t->begin || share->step > t->end ||
            (i && share->step <= t->shares[i - 1].step)) {
            wrong(c, "check-transfer", name_of(c, buffer),
                  "its shares are not in order from step %" PRIu32 " to %" PRIu32, t->begin, t->end);
            return;
        }
        sum += share->bytes;
        for (int k = 0; k < 2; k++) {
            const xpu_memplan_level *level = &c->problem->levels[ends[k]];
            *moved_at(c, share->step, ends[k]) += share->bytes + (uint64_t)level->latency * level->bytes_per_cycle;
        }
    }
    if (sum != buffer_of(c, buffer)->bytes || !t->share_count || t->shares[0].step != t->begin ||
        t->shares[t->share_count - 1].step != t->end)
        wrong(c, "check-transfer", name_of(c, buffer),
              "%" PRIu64 " of its %" PRIu64 " bytes move from step %" PRIu32 " to %" PRIu32, sum,
              buffer_of(c, buffer)->bytes, t->begin, t->end);
}

static void check_transfer(checker *c, const xpu_memplan_transfer *t) {
    const xpu_memplan_stay *target = &c->moves->stays[t->target];
    const char *name = name_of(c, target->buffer);
    if (t->begin > t->end || t->begin != target->from || t->end >= target->to) {
        wrong(c, "check-transfer", name,
              "it moves in steps %" PRIu32 " to %" PRIu32 " to where it stands in %" PRIu32 " to %" PRIu32, t->begin,
              t->end, target->from, target->to);
        return;
    }
    if (t->source == XPU_MEMPLAN_NONE) {
        check_anew(c, t, target->buffer);
        return;
    }
    const xpu_memplan_stay *source = t->source < c->moves->stay_count ? &c->moves->stays[t->source] : NULL;
    if (!source || source->buffer != target->buffer || source->level == target->level) {
        wrong(c, "check-transfer", name, "it moves from where it never stands");
        return;
    }
    if (source->from > t->begin || source->to < t->end || ready(c, t->source) > t->begin)
        wrong(c, "check-transfer", name, "it moves from steps %" PRIu32 " to %" PRIu32 " and is not there then",
              t->begin, t->end);
    check_shares(c, t, target->buffer);
}

/* Each stay begins with at most one. Returns 0 where they cannot be followed. */
static int find_arrivals(checker *c) {
    const xpu_memplan_moves *m = c->moves;
    c->arrival = XPU_NEW_ARRAY(c->arena, uint32_t, m->stay_count);
    for (uint32_t i = 0; i < m->stay_count; i++) c->arrival[i] = XPU_MEMPLAN_NONE;
    for (uint32_t i = 0; i < m->transfer_count; i++) {
        const xpu_memplan_transfer *t = &m->transfers[i];
        const int steps = t->begin < c->problem->timeline->step_count && t->end < c->problem->timeline->step_count;
        if (t->target >= m->stay_count || !steps || (i && t->target <= m->transfers[i - 1].target)) {
            wrong(c, "check-transfer", NULL, "transfer %" PRIu32 " is of no stay, of no step, or out of order", i);
            return 0;
        }
        if (!traffic_of(c, m->stays[t->target].buffer)->use_count) {
            wrong(c, "check-transfer", name_of(c, m->stays[t->target].buffer), "nothing says how it could move");
            return 0;
        }
        c->arrival[t->target] = i;
    }
    return 1;
}

/* ---- uses ---- */

/* The stay that begins without a transfer: where it is written, or its home. */
static uint32_t check_origin(checker *c, uint32_t buffer) {
    const xpu_memplan_buffer *b = buffer_of(c, buffer);
    const xpu_memplan_traffic *t = traffic_of(c, buffer);
    uint32_t origin = XPU_MEMPLAN_NONE, count = 0;
    for (uint32_t i = c->begin[buffer]; i < c->begin[buffer + 1]; i++) {
        if (c->arrival[i] != XPU_MEMPLAN_NONE) continue;
        origin = i;
        count++;
    }
    const xpu_memplan_stay *s = origin == XPU_MEMPLAN_NONE ? NULL : &c->moves->stays[origin];
    const int is_home = s && has_home(c, buffer) && s->level == t->home && s->to == b->last;
    const int is_written = s && !has_home(c, buffer) && s->to >= t->uses[0].step;
    if (count == 1 && s->from == b->first && (is_home || is_written)) return origin;
    wrong(c, "check-stay", name_of(c, buffer),
          has_home(c, buffer) ? "it does not stand in its home for all its life" : "it is not written in one place");
    return XPU_MEMPLAN_NONE;
}

static void check_uses(checker *c, uint32_t buffer) {
    const xpu_memplan_traffic *t = traffic_of(c, buffer);
    if (!t->use_count) return;
    const uint32_t origin = check_origin(c, buffer), last = buffer_of(c, buffer)->last;
    if (origin == XPU_MEMPLAN_NONE) return;
    for (uint32_t i = 0; i < t->use_count; i++) {
        const int writes = i == 0 && !has_home(c, buffer);
        const uint32_t at = writes ? origin : where_read(c, buffer, t->uses[i].step);
        if (at == XPU_MEMPLAN_NONE)
            wrong(c, "check-use", name_of(c, buffer), "it is read in step %" PRIu32 " and is nowhere then",
                  t->uses[i].step);
        else
            note_access(c, t->uses[i].step, c->moves->stays[at].level, t->uses[i].bytes);
    }
    if (last > t->uses[t->use_count - 1].step && where_read(c, buffer, last) == XPU_MEMPLAN_NONE)
        wrong(c, "check-use", name_of(c, buffer), "it is wanted in step %" PRIu32 " and is nowhere then", last);
}

/* ---- cycles ---- */

static void check_cycles(checker *c) {
    const xpu_memplan_timeline *line = c->problem->timeline;
    const uint32_t levels = c->problem->level_count;
    uint64_t all = 0, crossed = 0;
    for (uint32_t step = 0; step < line->step_count; step++) {
        uint64_t most = line->cycles[step] + c->compute[step], waits = 0;
        for (uint32_t level = 0; level < levels; level++) {
            const xpu_memplan_level *l = &c->problem->levels[level];
            const uint64_t bytes = *moved_at(c, step, level), rate = l->bytes_per_cycle;
            const uint64_t needed = rate ? bytes / rate + (bytes % rate != 0) : 0;
            if (needed > most) most = needed;
            if (c->accessed[(size_t)step * levels + level] && l->latency > waits) waits = l->latency;
        }
        if (c->moves->cycles[step] != most + waits)
            wrong(c, "check-cycles", xpu_printf(c->arena, "step %" PRIu32, step),
                  "it needs %" PRIu64 " cycles, and %" PRIu64 " are reported", most + waits, c->moves->cycles[step]);
        all += most + waits;
        crossed += *moved_at(c, step, levels - 1);
    }
    /* latencies of the last level are no bytes that cross it */
    const xpu_memplan_level *last = &c->problem->levels[levels - 1];
    for (uint32_t i = 0; i < c->moves->transfer_count; i++) {
        const xpu_memplan_transfer *t = &c->moves->transfers[i];
        if (t->source == XPU_MEMPLAN_NONE) continue;
        if (c->moves->stays[t->source].level != levels - 1 && c->moves->stays[t->target].level != levels - 1) continue;
        crossed -= (uint64_t)t->share_count * last->latency * last->bytes_per_cycle;
    }
    if (all != c->moves->all_cycles || crossed != c->moves->last_bytes)
        wrong(c, "check-cycles", NULL,
              "%" PRIu64 " cycles and %" PRIu64 " bytes of the last level are reported as %" PRIu64 " and %" PRIu64,
              all, crossed, c->moves->all_cycles, c->moves->last_bytes);
}

/* ---- places ---- */

/* The problem of the stays says of each what it must. */
static int check_problem(checker *c) {
    const xpu_memplan_problem *of = &c->moves->problem, *from = c->problem;
    int same = of->levels == from->levels && of->level_count == from->level_count && of->rules == from->rules &&
               of->rule_count == from->rule_count && of->buffer_count == c->moves->stay_count;
    for (uint32_t i = 0; same && i < c->moves->stay_count; i++) {
        const xpu_memplan_stay *s = &c->moves->stays[i];
        const xpu_memplan_buffer *a = &of->buffers[i], *b = buffer_of(c, s->buffer);
        same = a->bytes == b->bytes && a->alignment == b->alignment && a->first == s->from && a->last == s->to &&
               a->gaps == b->gaps && a->gap_count == b->gap_count && a->pinned == b->pinned &&
               a->pinned_offset == b->pinned_offset && a->level_count == 1 && a->levels[0] == s->level;
    }
    uint32_t at = 0;
    for (uint32_t i = 0; same && i < from->alias_count; i++) { /* some of them, in order */
        const xpu_memplan_alias *a = at < of->alias_count ? &of->aliases[at] : NULL, *b = &from->aliases[i];
        if (!a || a->buffer != c->begin[b->buffer] || a->other != c->begin[b->other]) continue;
        if (c->begin[b->buffer + 1] - a->buffer != 1 || c->begin[b->other + 1] - a->other != 1) continue;
        at += a->kind == b->kind && a->offset == b->offset && a->rows == b->rows && a->row_bytes == b->row_bytes &&
              a->pitch == b->pitch;
    }
    same = same && at == of->alias_count;
    for (at = 0; same && at < from->match_count; at++) {
        const xpu_memplan_match *a = &of->matches[at], *b = &from->matches[at];
        same = at < of->match_count && a->rule == b->rule && a->buffer == c->begin[b->buffer] &&
               c->begin[b->buffer + 1] - a->buffer == 1;
    }
    same = same && of->match_count == from->match_count;
    if (!same) wrong(c, "check-stay", NULL, "the places are of other buffers");
    return same;
}

xpu_status xpu_memplan_check_moves(xpu_arena *arena, const xpu_memplan_problem *problem, const xpu_memplan_moves *moves,
                                   xpu_diags *diags) {
    checker c = {.arena = xpu_arena_new(xpu_arena_mem(arena), "check of places in time"),
                 .problem = problem,
                 .moves = moves,
                 .diags = diags};
    const size_t slots = (size_t)problem->timeline->step_count * problem->level_count;
    c.moved = XPU_NEW_ARRAY(c.arena, uint64_t, slots);
    c.accessed = XPU_NEW_ARRAY(c.arena, uint8_t, slots);
    c.compute = XPU_NEW_ARRAY(c.arena, uint64_t, problem->timeline->step_count);
    xpu_status status = XPU_OK;
    if (check_line(&c) && find_stays(&c)) check_stays(&c);
    if (!c.found && find_arrivals(&c)) {
        for (uint32_t i = 0; i < moves->transfer_count; i++) check_transfer(&c, &moves->transfers[i]);
        for (uint32_t i = 0; i < problem->buffer_count; i++) check_uses(&c, i);
    }
    if (!c.found) check_cycles(&c);
    if (!c.found && check_problem(&c)) status = xpu_memplan_check(arena, &moves->problem, &moves->plan, diags);
    if (c.found) status = moves->file ? XPU_EUSAGE : XPU_EBUG;
    xpu_arena_free(c.arena);
    return status;
}
