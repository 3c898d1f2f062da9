/* What placement rules leave of each buffer's levels, and which rules contradict each other. */
#include "memplan/internal.h"

#include <inttypes.h>
#include <string.h>

enum { MAX_REPORTED = 20 };

xpu_memplan_choice *xpu_memplan_choices(xpu_arena *arena, const xpu_memplan_problem *problem, const uint8_t *off) {
    xpu_memplan_choice *choices = XPU_NEW_ARRAY(arena, xpu_memplan_choice, problem->buffer_count);
    for (uint32_t i = 0; i < problem->buffer_count; i++) {
        choices[i].prefer = XPU_MEMPLAN_NONE;
        for (uint32_t k = 0; k < problem->buffers[i].level_count; k++) {
            choices[i].mask |= 1u << problem->buffers[i].levels[k];
        }
    }
    for (uint32_t i = 0; i < problem->match_count; i++) {
        uint32_t index = problem->matches[i].rule;
        const xpu_memplan_rule *rule = &problem->rules[index];
        xpu_memplan_choice *choice = &choices[problem->matches[i].buffer];
        if (off && off[index]) continue;
        if (rule->has_offset || rule->has_bank) {
            xpu_memplan_place_rule *place = XPU_NEW(arena, xpu_memplan_place_rule);
            *place = (xpu_memplan_place_rule){index, choice->places};
            choice->places = place;
            if (rule->strength == XPU_MEMPLAN_NEVER) continue;
        }
        switch (rule->strength) {
        case XPU_MEMPLAN_MUST: choice->mask &= 1u << rule->level; break;
        case XPU_MEMPLAN_NEVER: choice->mask &= ~(1u << rule->level); break;
        case XPU_MEMPLAN_PREFER:
            if (index < choice->prefer) choice->prefer = index; /* NONE is above every rule */
            break;
        }
    }
    for (uint32_t i = 0; i < problem->buffer_count; i++) {
        xpu_memplan_choice *choice = &choices[i];
        uint32_t left = choice->mask;
        uint32_t wish = choice->prefer == XPU_MEMPLAN_NONE ? XPU_MEMPLAN_NONE : problem->rules[choice->prefer].level;
        if (wish != XPU_MEMPLAN_NONE && (left & 1u << wish)) {
            choice->order[choice->order_count++] = (uint8_t)wish;
            left &= ~(1u << wish);
        }
        for (uint32_t k = 0; k < problem->buffers[i].level_count; k++) {
            uint8_t level = problem->buffers[i].levels[k];
            if (left & 1u << level) choice->order[choice->order_count++] = level;
        }
    }
    return choices;
}

const char *xpu_memplan_rules_file(const xpu_memplan_problem *problem) {
    return problem->rules_file ? problem->rules_file : problem->file;
}

char *xpu_memplan_rules_text(xpu_arena *arena, const xpu_memplan_problem *problem, const uint32_t *rules,
                             uint32_t count) {
    xpu_text text;
    xpu_text_init(&text, arena);
    for (uint32_t i = 0; i < count; i++) {
        xpu_text_add(&text, "%s%s", i == 0 ? "" : i + 1 == count ? " and " : ", ", problem->rules[rules[i]].text);
    }
    return text.text;
}

/* The must and never rules of one buffer: per level the first of each, or NONE. */
typedef struct {
    uint32_t must[XPU_MEMPLAN_MAX_LEVELS], never[XPU_MEMPLAN_MAX_LEVELS];
} hard_rules;

/* The smallest set of rules that leaves the buffer no level; of equally small ones the first. Returns its size. */
static uint32_t smallest_set(const xpu_memplan_buffer *buffer, const hard_rules *hard, uint32_t level_count,
                             uint32_t *set) {
    uint32_t allowed = 0;
    for (uint32_t i = 0; i < buffer->level_count; i++) allowed |= 1u << buffer->levels[i];
    for (uint32_t i = 0; i < level_count; i++) {
        if (hard->must[i] != XPU_MEMPLAN_NONE && !(allowed & 1u << i)) return set[0] = hard->must[i], 1;
    }
    uint32_t musts = 0;
    for (uint32_t i = 0; i < level_count; i++) {
        if (hard->must[i] != XPU_MEMPLAN_NONE && musts < 2) set[musts++] = hard->must[i];
    }
    uint32_t nevers = 0;
    for (uint32_t i = 0; i < buffer->level_count; i++) nevers += hard->never[buffer->levels[i]] != XPU_MEMPLAN_NONE;
    if (nevers == buffer->level_count && nevers <= 2) {
        for (uint32_t i = 0; i < nevers; i++) set[i] = hard->never[buffer->levels[i]];
        return nevers;
    }
    if (musts == 2) return 2;
    for (uint32_t i = 0; i < level_count; i++) {
        if (hard->must[i] != XPU_MEMPLAN_NONE && hard->never[i] != XPU_MEMPLAN_NONE) {
            set[0] = hard->must[i];
            set[1] = hard->never[i];
            return 2;
        }
    }
    for (uint32_t i = 0; i < nevers; i++) set[i] = hard->never[buffer->levels[i]];
    return nevers;
}

static void sort_set(uint32_t *set, uint32_t size) {
    for (uint32_t i = 1; i < size; i++) {
        for (uint32_t k = i; k > 0 && set[k - 1] > set[k]; k--) {
            uint32_t swap = set[k];
            set[k] = set[k - 1];
            set[k - 1] = swap;
        }
    }
}

typedef struct {
    uint32_t rules[XPU_MEMPLAN_MAX_LEVELS];
    uint32_t size;
} rule_set;

/* "SM or GM" */
static char *levels_text(xpu_arena *arena, const xpu_memplan_problem *problem, const xpu_memplan_buffer *buffer) {
    xpu_text text;
    xpu_text_init(&text, arena);
    for (uint32_t i = 0; i < buffer->level_count; i++) {
        const char *name = xpu_escape(arena, problem->levels[buffer->levels[i]].name, 40);
        xpu_text_add(&text, "%s%s", i == 0 ? "" : i + 1 == buffer->level_count ? " or " : ", ", name);
    }
    return text.text;
}

static void report_set(xpu_arena *arena, const xpu_memplan_problem *problem, uint32_t buffer, const rule_set *set,
                       xpu_diags *diags) {
    char *rules = xpu_memplan_rules_text(arena, problem, set->rules, set->size);
    const xpu_memplan_buffer *b = &problem->buffers[buffer];
    const char *why = xpu_printf(arena, "%s; the buffer may only be in %s", rules, levels_text(arena, problem, b));
    const char *what = set->size == 1 ? "a placement rule cannot be kept" : "placement rules contradict each other";
    xpu_error(diags, XPU_EUSAGE, xpu_memplan_rules_file(problem), "plan-rules",
              xpu_memplan_quote(arena, problem, buffer), what, why,
              set->size == 1 ? "narrow the rule's match, or make its strength \"prefer\""
                             : "remove one of the rules, narrow its match, or make its strength \"prefer\"");
}

xpu_status xpu_memplan_rules_check(xpu_arena *arena, const xpu_memplan_problem *problem,
                                   const xpu_memplan_choice *choices, xpu_diags *diags) {
    hard_rules *hard = NULL;
    for (uint32_t i = 0; i < problem->buffer_count && !hard; i++) {
        if (!choices[i].mask) hard = XPU_NEW_ARRAY(arena, hard_rules, problem->buffer_count);
    }
    if (!hard) return XPU_OK;
    memset(hard, 0xff, problem->buffer_count * sizeof *hard);
    for (uint32_t i = 0; i < problem->match_count; i++) {
        uint32_t index = problem->matches[i].rule;
        const xpu_memplan_rule *rule = &problem->rules[index];
        hard_rules *mine = &hard[problem->matches[i].buffer];
        if (rule->strength == XPU_MEMPLAN_NEVER && (rule->has_offset || rule->has_bank)) continue;
        uint32_t *slot = rule->strength == XPU_MEMPLAN_MUST    ? &mine->must[rule->level]
                         : rule->strength == XPU_MEMPLAN_NEVER ? &mine->never[rule->level]
                                                               : NULL;
        if (slot && index < *slot) *slot = index;
    }
    rule_set seen[MAX_REPORTED];
    uint32_t count = 0;
    for (uint32_t i = 0; i < problem->buffer_count && count < MAX_REPORTED; i++) {
        if (choices[i].mask) continue;
        rule_set set = {.size = 0};
        set.size = smallest_set(&problem->buffers[i], &hard[i], problem->level_count, set.rules);
        sort_set(set.rules, set.size);
        uint32_t k = 0;
        while (k < count &&
               (seen[k].size != set.size || memcmp(seen[k].rules, set.rules, set.size * sizeof *set.rules) != 0)) {
            k++;
        }
        if (k < count) continue;
        seen[count++] = set;
        report_set(arena, problem, i, &set, diags);
    }
    return XPU_EUSAGE;
}
