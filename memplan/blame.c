/* Why there is no plan: the smallest set of rules that leaves no room, or else what is too big. */
#include "memplan/internal.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_TRIES = 1000, MAX_NAMED = 5 };
#define MAX_PAIR_WORK 200000u /* tries times buffers */

typedef struct {
    xpu_arena *arena;
    const xpu_memplan_problem *problem;
    uint8_t *off; /* per rule */
    uint32_t *rules;
    uint32_t count; /* the must and never rules that match something */
    uint32_t tries;
    xpu_memplan_attempt last; /* the last one that failed; its items are gone */
} search;

/* Whether there is no plan, quickly looked at, when just these rules hold. */
static int leaves_no_room(search *s, const uint32_t *rules, uint32_t count) {
    s->tries++;
    memset(s->off, 1, s->problem->rule_count);
    for (uint32_t i = 0; i < count; i++) s->off[rules[i]] = 0;
    xpu_arena *work = xpu_arena_new(xpu_arena_mem(s->arena), "memory plan without rules");
    xpu_memplan_attempt attempt;
    uint32_t preferred;
    const xpu_memplan_problem pinned = xpu_memplan_pin_offsets(work, s->problem, s->off, 0, &preferred);
    xpu_memplan_choice *choices = xpu_memplan_choices(work, &pinned, s->off);
    xpu_memplan_try(work, &pinned, choices, XPU_MEMPLAN_ALL_ALIASES, 0, &attempt);
    xpu_arena_free(work);
    if (attempt.failed) s->last = attempt;
    return attempt.failed;
}

/* Removes rules, in halves, quarters and so on, as long as no room is left. */
static void remove_needless(search *s) {
    for (uint32_t size = (s->count + 1) / 2; size >= 1; size /= 2) {
        for (uint32_t from = 0; from < s->count && s->count > 1 && s->tries < MAX_TRIES;) {
            uint32_t rest = s->count - from < size ? s->count - from : size;
            uint32_t *without = XPU_NEW_ARRAY(s->arena, uint32_t, s->count);
            memcpy(without, s->rules, from * sizeof *without);
            memcpy(without + from, s->rules + from + rest, (s->count - from - rest) * sizeof *without);
            if (s->count > rest && leaves_no_room(s, without, s->count - rest)) {
                s->rules = without;
                s->count -= rest;
            } else {
                from += rest;
            }
        }
    }
}

/* The smallest set where that is found quickly: one rule, then two; else one of which no rule can be taken away. */
static void find_smallest(search *s) {
    uint64_t size = s->problem->buffer_count;
    if (s->count * size <= MAX_PAIR_WORK) {
        for (uint32_t i = 0; i < s->count; i++) {
            if (!leaves_no_room(s, &s->rules[i], 1)) continue;
            s->rules += i;
            s->count = 1;
            return;
        }
    }
    if ((uint64_t)s->count * s->count / 2 * size <= MAX_PAIR_WORK) {
        for (uint32_t i = 0; i < s->count; i++) {
            for (uint32_t k = i + 1; k < s->count; k++) {
                uint32_t pair[2] = {s->rules[i], s->rules[k]};
                if (!leaves_no_room(s, pair, 2)) continue;
                s->rules = xpu_copy(s->arena, pair, sizeof pair);
                s->count = 2;
                return;
            }
        }
    }
    remove_needless(s);
}

static xpu_status blame_rules(search *s, xpu_diags *diags) {
    find_smallest(s);
    leaves_no_room(s, s->rules, s->count);
    const xpu_memplan_attempt *a = &s->last;
    const char *level = xpu_escape(s->arena, s->problem->levels[a->level].name, 40);
    const char *what = xpu_printf(s->arena, "%s no room in %s: %" PRIu64 " bytes short at %s",
                                  s->count == 1 ? "a placement rule leaves" : "placement rules leave", level,
                                  a->short_bytes, xpu_memplan_step(s->arena, s->problem, a->step));
    return xpu_error(diags, XPU_EUSAGE, xpu_memplan_rules_file(s->problem), "plan-rules",
                     xpu_printf(s->arena, "level '%s'", level), what,
                     xpu_memplan_rules_text(s->arena, s->problem, s->rules, s->count),
                     s->count == 1 ? "narrow the rule's match, or make its strength \"prefer\""
                                   : "remove one of the rules, narrow its match, or make its strength \"prefer\"");
}

static int compare_sizes(const void *a, const void *b) {
    const xpu_memplan_item *x = a, *y = b;
    if (x->bytes != y->bytes) return x->bytes > y->bytes ? -1 : 1;
    return x->id < y->id ? -1 : x->id > y->id;
}

static xpu_status blame_size(xpu_arena *arena, const xpu_memplan_problem *problem, const xpu_memplan_attempt *attempt,
                             xpu_diags *diags) {
    const xpu_memplan_level *level = &problem->levels[attempt->level];
    const char *name = xpu_escape(arena, level->name, 40);
    xpu_memplan_item *live = XPU_NEW_ARRAY(arena, xpu_memplan_item, attempt->item_count);
    uint32_t count = 0;
    uint64_t bytes = 0, rest = 0;
    const xpu_memplan_life step = {.first = attempt->step, .last = attempt->step};
    for (uint32_t i = 0; i < attempt->item_count; i++) {
        const xpu_memplan_item *item = &attempt->items[i];
        if (!xpu_memplan_lives_meet(&item->life, &step) || !item->bytes) continue;
        live[count++] = *item;
        bytes += item->bytes;
    }
    if (count) qsort(live, count, sizeof *live, compare_sizes);
    xpu_text why;
    xpu_text_init(&why, arena);
    xpu_text_add(&why, "%" PRIu64 " bytes live at %s, %" PRIu64 " can be used%s: ", bytes,
                 xpu_memplan_step(arena, problem, attempt->step), level->bytes - level->reserved,
                 attempt->crowded ? "" : " and no arrangement was found that fits");
    for (uint32_t i = 0; i < count; i++) {
        if (i >= MAX_NAMED)
            rest += live[i].bytes;
        else
            xpu_text_add(&why, "%s%s %" PRIu64 " (%s)", i ? ", " : "",
                         xpu_memplan_quote(arena, problem, attempt->groups.items[live[i].id].root), live[i].bytes,
                         xpu_memplan_life_text(arena, problem, live[i].life));
    }
    if (count > MAX_NAMED) xpu_text_add(&why, " and %" PRIu32 " more with %" PRIu64, count - MAX_NAMED, rest);
    return xpu_error(diags, XPU_EMODEL, problem->file, level->full_rule ? level->full_rule : "plan-capacity",
                     problem->subject ? problem->subject : xpu_printf(arena, "level '%s'", name),
                     xpu_printf(arena, "%s has no room: %" PRIu64 " bytes short at %s", name, attempt->short_bytes,
                                xpu_memplan_step(arena, problem, attempt->step)),
                     why.text,
                     xpu_printf(arena, "use a chip with more %s, or smaller shapes or a narrower precision", name));
}

xpu_status xpu_memplan_blame(xpu_arena *arena, const xpu_memplan_problem *problem, const xpu_memplan_attempt *attempt,
                             xpu_diags *diags) {
    search s = {.arena = arena, .problem = problem};
    s.off = XPU_NEW_ARRAY(arena, uint8_t, problem->rule_count);
    for (uint32_t i = 0; i < problem->match_count; i++) {
        uint32_t rule = problem->matches[i].rule;
        if (problem->rules[rule].strength != XPU_MEMPLAN_PREFER) s.off[rule] = 1;
    }
    s.rules = XPU_NEW_ARRAY(arena, uint32_t, problem->rule_count);
    for (uint32_t i = 0; i < problem->rule_count; i++) {
        if (s.off[i]) s.rules[s.count++] = i;
    }
    if (s.count && leaves_no_room(&s, s.rules, s.count) && !leaves_no_room(&s, s.rules, 0)) {
        return blame_rules(&s, diags);
    }
    return blame_size(arena, problem, attempt, diags);
}
