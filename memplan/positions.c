/*
 * Rules about offsets and banks. A buffer whose offset is given is pinned there. One whose bank is given, or a place
 * that it must not have, gets room for several places, of which it then takes the first that suits: a line of each
 * bank.
 */
#include "memplan/internal.h"

#include <inttypes.h>
#include <stdlib.h>

enum { MAX_REPORTED = 20, MAX_PLACES = 4096 };

static uint32_t bank_of(const xpu_memplan_level *level, uint64_t offset) {
    uint64_t line = offset / level->bank_bytes, bank = 0;
    for (uint32_t i = 0; i < level->bank_fields; i++, line /= level->banks) bank ^= line % level->banks;
    return (uint32_t)bank;
}

static int is_at(const xpu_memplan_problem *problem, const xpu_memplan_rule *rule, uint64_t offset) {
    if (rule->has_offset && offset != rule->offset) return 0;
    return !rule->has_bank || bank_of(&problem->levels[rule->level], offset) == rule->bank;
}

/* ---- offsets ---- */

static int meets(const xpu_memplan_buffer *a, uint64_t at, const xpu_memplan_buffer *b) {
    return a->bytes && b->bytes && b->pinned && xpu_memplan_buffers_meet(a, b) && at < b->pinned_offset + b->bytes &&
           b->pinned_offset < at + a->bytes;
}

/* Why the buffer can never lie where the rule wants it, or NULL. */
static const char *why_not_there(xpu_arena *arena, const xpu_memplan_problem *problem, uint32_t index,
                                 const xpu_memplan_rule *rule) {
    const xpu_memplan_buffer *buffer = &problem->buffers[index];
    const xpu_memplan_level *level = &problem->levels[rule->level];
    const char *name = xpu_escape(arena, level->name, 40);
    uint64_t alignment = xpu_memplan_alignment(level->alignment), own = xpu_memplan_alignment(buffer->alignment);
    if (own > alignment) alignment = own;
    if (buffer->pinned && (buffer->levels[0] != rule->level || buffer->pinned_offset != rule->offset))
        return xpu_printf(arena, "it is pinned at %" PRIu64 " of %s", buffer->pinned_offset,
                          xpu_escape(arena, problem->levels[buffer->levels[0]].name, 40));
    if (buffer->pinned) return NULL;
    if (rule->offset % alignment) return xpu_printf(arena, "offsets there are multiples of %" PRIu64, alignment);
    if (rule->offset < level->reserved)
        return xpu_printf(arena, "the first %" PRIu64 " bytes of %s are reserved", level->reserved, name);
    if (rule->offset > level->bytes || buffer->bytes > level->bytes - rule->offset)
        return xpu_printf(arena, "its %" PRIu64 " bytes reach out of the %" PRIu64 " of %s", buffer->bytes,
                          level->bytes, name);
    return NULL;
}

static int is_allowed(const xpu_memplan_buffer *buffer, uint32_t level) {
    for (uint32_t i = 0; i < buffer->level_count; i++) {
        if (buffer->levels[i] == level) return 1;
    }
    return 0;
}

static void pin(xpu_memplan_buffer *buffer, const xpu_memplan_rule *rule) {
    buffer->pinned = 1;
    buffer->pinned_offset = rule->offset;
    buffer->levels[0] = (uint8_t)rule->level;
    buffer->level_count = 1;
}

/* Whether every hard rule of the buffer lets it lie where `wish` wants it. */
static int rules_allow(const xpu_memplan_problem *problem, const xpu_memplan_choice *choice,
                       const xpu_memplan_rule *wish) {
    if (!(choice->mask & 1u << wish->level)) return 0;
    for (const xpu_memplan_place_rule *p = choice->places; p; p = p->next) {
        const xpu_memplan_rule *rule = &problem->rules[p->rule];
        int there = rule->level == wish->level && is_at(problem, rule, wish->offset);
        if (rule->strength == XPU_MEMPLAN_NEVER && there) return 0;
        if (rule->strength == XPU_MEMPLAN_MUST && !there) return 0;
    }
    return 1;
}

xpu_memplan_problem xpu_memplan_pin_offsets(xpu_arena *arena, const xpu_memplan_problem *problem, const uint8_t *off,
                                            int prefer, uint32_t *preferred) {
    xpu_memplan_problem pinned = *problem;
    xpu_memplan_buffer *buffers = NULL;
    xpu_memplan_choice *choices = NULL;
    *preferred = 0;
    if (!prefer && problem->rule_count) {
        xpu_memplan_rule *rules = xpu_copy(arena, problem->rules, problem->rule_count * sizeof *rules);
        for (uint32_t i = 0; i < problem->rule_count; i++) {
            if (rules[i].strength == XPU_MEMPLAN_PREFER) rules[i].has_offset = rules[i].has_bank = 0;
        }
        pinned.rules = rules;
    }
    for (int strength = XPU_MEMPLAN_MUST; strength <= XPU_MEMPLAN_PREFER; strength++) {
        for (uint32_t i = 0; i < problem->match_count && (prefer || strength == XPU_MEMPLAN_MUST); i++) {
            const xpu_memplan_rule *rule = &problem->rules[problem->matches[i].rule];
            uint32_t index = problem->matches[i].buffer;
            *preferred += rule->has_bank && strength == XPU_MEMPLAN_PREFER;
            if (!rule->has_offset || (int)rule->strength != strength || (off && off[problem->matches[i].rule]))
                continue;
            if (!buffers) {
                buffers = xpu_copy(arena, problem->buffers, problem->buffer_count * sizeof *buffers);
                choices = xpu_memplan_choices(arena, problem, off);
                pinned.buffers = buffers;
            }
            if (strength == XPU_MEMPLAN_PREFER) {
                int free = !buffers[index].pinned && is_allowed(&buffers[index], rule->level) &&
                           rules_allow(problem, &choices[index], rule) && !why_not_there(arena, problem, index, rule) &&
                           (!rule->has_bank || is_at(problem, rule, rule->offset));
                for (uint32_t k = 0; k < problem->buffer_count && free; k++) {
                    free = k == index || buffers[k].levels[0] != rule->level ||
                           !meets(&buffers[index], rule->offset, &buffers[k]);
                }
                if (!free) continue;
                ++*preferred;
            }
            if (!buffers[index].pinned) pin(&buffers[index], rule);
        }
    }
    return pinned;
}

/* ---- banks, and places that are forbidden ---- */

static uint32_t power_of_two_above(uint32_t count) {
    uint32_t power = 1;
    while (power <= count) power *= 2;
    return power;
}

xpu_memplan_window xpu_memplan_window_of(const xpu_memplan_problem *problem, const xpu_memplan_choice *choice,
                                         uint64_t alignment) {
    xpu_memplan_window window = {alignment, 1, alignment};
    uint32_t banks = 1, avoided = 0, kinds = 0; /* bit 0: offsets that are forbidden, bit 1: banks */
    for (const xpu_memplan_place_rule *p = choice->places; p; p = p->next) {
        const xpu_memplan_rule *rule = &problem->rules[p->rule];
        if (rule->strength == XPU_MEMPLAN_NEVER) kinds |= rule->has_offset ? 1u : 2u;
    }
    for (const xpu_memplan_place_rule *p = choice->places; p; p = p->next) {
        const xpu_memplan_rule *rule = &problem->rules[p->rule];
        const xpu_memplan_level *level = &problem->levels[rule->level];
        uint64_t own = xpu_memplan_alignment(level->alignment);
        if (own > window.step) window.step = own;
        if (rule->has_bank && level->bank_bytes > window.step) window.step = level->bank_bytes;
        avoided += rule->strength == XPU_MEMPLAN_NEVER;
        if (rule->strength == XPU_MEMPLAN_NEVER && kinds != 3) continue;
        if (rule->has_bank && level->banks > banks) banks = level->banks;
    }
    uint32_t more = power_of_two_above(avoided);
    window.count = banks * (more > MAX_PLACES / banks ? MAX_PLACES / banks : more);
    window.alignment = window.step * window.count;
    return window;
}

/* Whether the place suits the hard rules, and with `prefer` those for banks that are no more than wishes. */
static int suits(const xpu_memplan_problem *problem, const xpu_memplan_choice *choice, uint32_t level, uint64_t offset,
                 int prefer) {
    for (const xpu_memplan_place_rule *p = choice->places; p; p = p->next) {
        const xpu_memplan_rule *rule = &problem->rules[p->rule];
        if (rule->level != level || (rule->strength == XPU_MEMPLAN_PREFER && (!prefer || rule->has_offset))) continue;
        if (is_at(problem, rule, offset) == (rule->strength == XPU_MEMPLAN_NEVER)) return 0;
    }
    return 1;
}

uint64_t xpu_memplan_shift(const xpu_memplan_problem *problem, const xpu_memplan_choice *choice,
                           const xpu_memplan_window *window, uint32_t level, uint64_t offset) {
    for (int prefer = 1; prefer >= 0; prefer--) {
        for (uint32_t i = 0; i < window->count; i++) {
            if (suits(problem, choice, level, offset + i * window->step, prefer)) return i * window->step;
        }
    }
    return 0;
}

/* ---- what cannot be ---- */

static int compare_rules(const void *a, const void *b) {
    const uint32_t *x = a, *y = b;
    return *x < *y ? -1 : *x > *y;
}

static xpu_status complain(xpu_arena *arena, const xpu_memplan_problem *problem, uint32_t buffer, const uint32_t *rules,
                           uint32_t count, const char *why, xpu_diags *diags) {
    uint32_t *set = xpu_copy(arena, rules, count * sizeof *set);
    qsort(set, count, sizeof *set, compare_rules);
    if (count == 2 && set[0] == set[1]) count = 1;
    const char *text = xpu_memplan_rules_text(arena, problem, set, count);
    return xpu_error(diags, XPU_EUSAGE, xpu_memplan_rules_file(problem), "plan-rules",
                     xpu_memplan_quote(arena, problem, buffer),
                     count == 1 ? "a placement rule cannot be kept" : "placement rules contradict each other",
                     why ? xpu_printf(arena, "%s; %s", text, why) : text,
                     count == 1 ? "narrow the rule's match, or make its strength \"prefer\""
                                : "remove one of the rules, narrow its match, or make its strength \"prefer\"");
}

/* Whether two rules about a buffer's place cannot both be kept, by themselves. */
static int contradict(const xpu_memplan_problem *problem, const xpu_memplan_rule *a, const xpu_memplan_rule *b) {
    if (a->level != b->level || a->strength == XPU_MEMPLAN_PREFER || b->strength == XPU_MEMPLAN_PREFER) return 0;
    if (a->strength == XPU_MEMPLAN_NEVER && b->strength == XPU_MEMPLAN_NEVER) return 0;
    if (a->strength == XPU_MEMPLAN_NEVER || (b->strength == XPU_MEMPLAN_MUST && b->has_offset && !a->has_offset)) {
        const xpu_memplan_rule *swap = a;
        a = b;
        b = swap;
    }
    if (a->has_offset) return is_at(problem, b, a->offset) != (b->strength == XPU_MEMPLAN_MUST);
    if (b->has_offset) return 0; /* one place of the bank is forbidden: there are others */
    return (a->bank == b->bank) != (b->strength == XPU_MEMPLAN_MUST);
}

/* Rules of one buffer against each other and against what it is; 1: a problem was reported. */
static int check_buffer(xpu_arena *arena, const xpu_memplan_problem *problem, const xpu_memplan_choice *choice,
                        uint32_t index, xpu_diags *diags) {
    for (const xpu_memplan_place_rule *p = choice->places; p; p = p->next) {
        const xpu_memplan_rule *rule = &problem->rules[p->rule];
        if (rule->strength == XPU_MEMPLAN_PREFER) continue;
        if (rule->strength == XPU_MEMPLAN_NEVER) {
            const xpu_memplan_buffer *buffer = &problem->buffers[index];
            if (buffer->pinned && buffer->levels[0] == rule->level && is_at(problem, rule, buffer->pinned_offset))
                return complain(arena, problem, index, &p->rule, 1, "it is pinned there", diags) != XPU_OK;
            continue;
        }
        const char *why = rule->has_offset ? why_not_there(arena, problem, index, rule) : NULL;
        if (!why && rule->has_offset && !is_at(problem, rule, rule->offset)) why = "this offset is in another bank";
        if (!why && !rule->has_offset && problem->buffers[index].pinned &&
            !is_at(problem, rule, problem->buffers[index].pinned_offset))
            why = "it is pinned in another bank";
        if (why) return complain(arena, problem, index, &p->rule, 1, why, diags) != XPU_OK;
    }
    for (const xpu_memplan_place_rule *p = choice->places; p; p = p->next) {
        for (const xpu_memplan_place_rule *q = p->next; q; q = q->next) {
            if (!contradict(problem, &problem->rules[p->rule], &problem->rules[q->rule])) continue;
            return complain(arena, problem, index, (const uint32_t[]){p->rule, q->rule}, 2, NULL, diags) != XPU_OK;
        }
    }
    return 0;
}

/* Whether a place of the window that begins at `base` suits rules of one level. */
static int has_place(const xpu_memplan_problem *problem, const uint32_t *rules, uint32_t count,
                     const xpu_memplan_window *window, uint64_t base) {
    for (uint32_t i = 0; i < window->count; i++) {
        uint32_t k = 0;
        while (k < count && is_at(problem, &problem->rules[rules[k]], base + i * window->step) !=
                                (problem->rules[rules[k]].strength == XPU_MEMPLAN_NEVER))
            k++;
        if (k == count) return 1;
    }
    return 0;
}

/* Leaves of rules that together allow no place one that alone allows none, or those without any of which there would
 * be one: banks that are forbidden go first. Returns how many. */
static uint32_t least_set(const xpu_memplan_problem *problem, uint32_t *rules, uint32_t count,
                          const xpu_memplan_window *window, uint64_t base) {
    for (uint32_t i = 0; i < count; i++) {
        if (has_place(problem, &rules[i], 1, window, base)) continue;
        rules[0] = rules[i];
        return 1;
    }
    for (int strength = XPU_MEMPLAN_NEVER; strength >= XPU_MEMPLAN_MUST; strength--) {
        for (uint32_t i = 0; i < count;) {
            const uint32_t rule = rules[i];
            rules[i] = rules[count - 1];
            if ((int)problem->rules[rule].strength == strength && !has_place(problem, rules, count - 1, window, base)) {
                count--;
            } else {
                rules[i++] = rule;
            }
        }
    }
    return count;
}

/* The hard rules of a buffer about places of a level, with `offsets` those about single ones too. */
static uint32_t rules_of_level(const xpu_memplan_problem *problem, const xpu_memplan_choice *choice, uint32_t level,
                               int offsets, uint32_t *rules) {
    uint32_t count = 0;
    for (const xpu_memplan_place_rule *p = choice->places; p; p = p->next) {
        const xpu_memplan_rule *rule = &problem->rules[p->rule];
        if (rule->level != level || rule->strength == XPU_MEMPLAN_PREFER || (rule->has_offset && !offsets)) continue;
        rules[count++] = p->rule;
    }
    return count;
}

/* Where no place of the buffer's window suits all its hard rules at a level; 1: that was reported. */
static int check_window(xpu_arena *arena, const xpu_memplan_problem *problem, const xpu_memplan_choice *choice,
                        uint32_t index, xpu_diags *diags) {
    const xpu_memplan_buffer *buffer = &problem->buffers[index];
    const uint64_t alignment = xpu_memplan_alignment(buffer->alignment);
    const xpu_memplan_window window = xpu_memplan_window_of(problem, choice, alignment);
    uint32_t places = 0;
    for (const xpu_memplan_place_rule *p = choice->places; p; p = p->next) places++;
    if (!places || buffer->pinned) return 0;
    uint32_t *rules = XPU_NEW_ARRAY(arena, uint32_t, places);
    for (uint32_t level = 0; level < problem->level_count; level++) {
        const xpu_memplan_level *l = &problem->levels[level];
        if (!(choice->mask & 1u << level)) continue;
        uint64_t base = 0;
        uint32_t count = rules_of_level(problem, choice, level, 0, rules);
        int fits = has_place(problem, rules, count, &window, base);
        for (const xpu_memplan_place_rule *p = choice->places; p && fits; p = p->next) { /* near a forbidden offset */
            const xpu_memplan_rule *rule = &problem->rules[p->rule];
            if (rule->level != level || !rule->has_offset || rule->strength != XPU_MEMPLAN_NEVER) continue;
            base = rule->offset - rule->offset % window.alignment;
            if (base < l->reserved || base > l->bytes) continue;
            count = rules_of_level(problem, choice, level, 1, rules);
            fits = has_place(problem, rules, count, &window, base);
        }
        if (fits) continue;
        count = least_set(problem, rules, count, &window, base);
        const char *why = count == 1
                              ? xpu_printf(arena, "aligned to %" PRIu64 " bytes it begins in other banks", alignment)
                              : xpu_printf(arena, "together they leave it no multiple of %" PRIu64 " in %s",
                                           window.step, xpu_escape(arena, l->name, 40));
        return complain(arena, problem, index, rules, count, why, diags) != XPU_OK;
    }
    return 0;
}

/* The hard rule that pins a buffer, or XPU_MEMPLAN_NONE. */
static uint32_t pinning_rule(const xpu_memplan_problem *problem, const xpu_memplan_choice *choice) {
    for (const xpu_memplan_place_rule *p = choice->places; p; p = p->next) {
        if (problem->rules[p->rule].strength == XPU_MEMPLAN_MUST && problem->rules[p->rule].has_offset) return p->rule;
    }
    return XPU_MEMPLAN_NONE;
}

xpu_status xpu_memplan_positions_check(xpu_arena *arena, const xpu_memplan_problem *problem, xpu_diags *diags) {
    uint32_t found = 0, ignored;
    int any = 0;
    for (uint32_t i = 0; i < problem->rule_count; i++)
        any |= problem->rules[i].has_offset || problem->rules[i].has_bank;
    if (!any) return XPU_OK;
    const xpu_memplan_choice *choices = xpu_memplan_choices(arena, problem, NULL);
    for (uint32_t i = 0; i < problem->buffer_count && found < MAX_REPORTED; i++) {
        int bad = check_buffer(arena, problem, &choices[i], i, diags);
        if (!bad && pinning_rule(problem, &choices[i]) == XPU_MEMPLAN_NONE)
            bad = check_window(arena, problem, &choices[i], i, diags);
        found += (uint32_t)bad;
    }
    if (found) return XPU_EUSAGE;
    const xpu_memplan_problem pinned = xpu_memplan_pin_offsets(arena, problem, NULL, 0, &ignored);
    for (uint32_t i = 0; i < problem->buffer_count && found < MAX_REPORTED; i++) {
        uint32_t rule = pinning_rule(problem, &choices[i]);
        const xpu_memplan_buffer *own = &pinned.buffers[i];
        for (uint32_t k = 0; rule != XPU_MEMPLAN_NONE && k < problem->buffer_count && found < MAX_REPORTED; k++) {
            uint32_t other = pinning_rule(problem, &choices[k]);
            if (k == i || (k < i && other != XPU_MEMPLAN_NONE)) continue; /* each two once */
            if (pinned.buffers[k].levels[0] != own->levels[0] || !meets(own, own->pinned_offset, &pinned.buffers[k]))
                continue;
            const char *why = xpu_printf(arena, "it would share bytes with %s, which lives at the same time",
                                         xpu_memplan_quote(arena, problem, k));
            const uint32_t rules[] = {rule, other};
            complain(arena, problem, i, rules, other == XPU_MEMPLAN_NONE ? 1 : 2, why, diags);
            found++;
        }
    }
    return found ? XPU_EUSAGE : XPU_OK;
}
