#include "memplan/explain.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/json.h"
#include "memplan/internal.h"
#include "memplan/report.h"

enum { MAX_BLOCKERS = 8 };

/* The buffer at the end of the chain of aliases. A plan that was checked has no circles. */
static uint32_t owner_of(const xpu_memplan *plan, uint32_t buffer) {
    while (plan->places[buffer].alias_of != XPU_MEMPLAN_NONE) buffer = plan->places[buffer].alias_of;
    return buffer;
}

typedef struct {
    uint32_t buffer;
    uint64_t bytes;
} sized;

static int compare_sized(const void *a, const void *b) {
    const sized *x = a, *y = b;
    if (x->bytes != y->bytes) return x->bytes > y->bytes ? -1 : 1;
    return x->buffer < y->buffer ? -1 : x->buffer > y->buffer;
}

/* What has bytes of its own in the level, other than `self`: lives as long as any that use them. */
static xpu_memplan_item *items_in(xpu_arena *arena, const xpu_memplan_problem *problem, const xpu_memplan *plan,
                                  uint32_t level, uint32_t self, uint32_t *count) {
    xpu_memplan_item *items = XPU_NEW_ARRAY(arena, xpu_memplan_item, plan->buffer_count);
    uint32_t *place = XPU_NEW_ARRAY(arena, uint32_t, plan->buffer_count);
    *count = 0;
    for (uint32_t i = 0; i < plan->buffer_count; i++) {
        const xpu_memplan_buffer *b = &problem->buffers[i];
        if (plan->places[i].level != level || plan->places[i].alias_of != XPU_MEMPLAN_NONE || i == self || !b->bytes)
            continue;
        place[i] = *count + 1;
        items[(*count)++] = (xpu_memplan_item){
            .id = i, .life = xpu_memplan_life_of(b), .bytes = b->bytes, .offset = plan->places[i].offset};
    }
    for (uint32_t i = 0; i < plan->buffer_count; i++) {
        uint32_t at = place[owner_of(plan, i)];
        if (!at) continue;
        xpu_memplan_life *life = &items[at - 1].life;
        if (problem->buffers[i].first < life->first) life->first = problem->buffers[i].first;
        if (problem->buffers[i].last > life->last) life->last = problem->buffers[i].last;
    }
    return items;
}

typedef XPU_ARRAY(xpu_memplan_item) item_list;

/* An item for each stretch of time in which both live. */
static void add_common_time(xpu_arena *arena, const xpu_memplan_item *item, const xpu_memplan_buffer *buffer,
                            item_list *items) {
    const xpu_memplan_life own = xpu_memplan_life_of(buffer);
    for (uint32_t i = 0; i <= own.gap_count; i++) {
        for (uint32_t k = 0; k <= item->life.gap_count; k++) {
            const xpu_memplan_steps a = xpu_memplan_part(&own, i), b = xpu_memplan_part(&item->life, k);
            xpu_memplan_item common = *item;
            common.life = (xpu_memplan_life){.first = a.first > b.first ? a.first : b.first,
                                             .last = a.last < b.last ? a.last : b.last};
            if (common.life.first <= common.life.last) XPU_PUSH(arena, items, common);
        }
    }
}

static void find_shortage(xpu_arena *arena, const xpu_memplan_problem *problem, const xpu_memplan *plan,
                          uint32_t buffer, uint32_t level, xpu_memplan_shortage *shortage) {
    const xpu_memplan_buffer *b = &problem->buffers[buffer];
    const xpu_memplan_level *l = &problem->levels[level];
    uint32_t count, found = 0, step = b->first;
    const xpu_memplan_item *items = items_in(arena, problem, plan, level, owner_of(plan, buffer), &count);
    item_list of_its_time = {0};
    for (uint32_t i = 0; i < count; i++) add_common_time(arena, &items[i], b, &of_its_time);
    uint64_t live = xpu_memplan_load(arena, of_its_time.items, of_its_time.count, l->reserved, &step);
    uint64_t size = l->bytes - l->reserved;
    if (!of_its_time.count) step = b->first;
    sized *at_step = XPU_NEW_ARRAY(arena, sized, of_its_time.count);
    for (uint32_t i = 0; i < of_its_time.count; i++) {
        const xpu_memplan_item *item = &of_its_time.items[i];
        if (item->life.first <= step && step <= item->life.last) at_step[found++] = (sized){item->id, item->bytes};
    }
    if (found) qsort(at_step, found, sizeof *at_step, compare_sized);
    *shortage = (xpu_memplan_shortage){.level = level, .step = step, .free_bytes = size > live ? size - live : 0};
    if (b->bytes > shortage->free_bytes) shortage->short_bytes = b->bytes - shortage->free_bytes;
    shortage->blocker_count = found;
    shortage->blockers = XPU_NEW_ARRAY(arena, uint32_t, found);
    for (uint32_t i = 0; i < found; i++) shortage->blockers[i] = at_step[i].buffer;
}

static void find_neighbours(const xpu_memplan_problem *problem, const xpu_memplan *plan, xpu_memplan_reason *reason) {
    const xpu_memplan_buffer *own = &problem->buffers[reason->buffer];
    const xpu_memplan_place *place = &plan->places[reason->buffer];
    const xpu_memplan_level *level = &problem->levels[place->level];
    uint64_t start = place->offset, end = start + own->bytes;
    uint64_t low = start >= level->reserved ? level->reserved : 0, high = level->bytes;
    reason->below = reason->above = XPU_MEMPLAN_NONE;
    for (uint32_t i = 0; i < plan->buffer_count; i++) {
        const xpu_memplan_buffer *b = &problem->buffers[i];
        const xpu_memplan_place *p = &plan->places[i];
        if (i == reason->buffer || p->level != place->level || !b->bytes || !xpu_memplan_buffers_meet(b, own)) continue;
        uint64_t its_end = p->offset + b->bytes;
        if (its_end <= start && (its_end > low || (its_end == low && reason->below == XPU_MEMPLAN_NONE)))
            low = its_end, reason->below = i;
        if (p->offset >= end && (p->offset < high || (p->offset == high && reason->above == XPU_MEMPLAN_NONE)))
            high = p->offset, reason->above = i;
    }
    reason->below_distance = start - low;
    reason->above_distance = high > end ? high - end : 0;
}

static void find_sharing(xpu_arena *arena, const xpu_memplan *plan, xpu_memplan_reason *reason) {
    uint32_t owner = owner_of(plan, reason->buffer);
    XPU_ARRAY(uint32_t) sharing = {0};
    for (uint32_t i = 0; i < plan->buffer_count; i++) {
        if (i != reason->buffer && owner_of(plan, i) == owner) XPU_PUSH(arena, &sharing, i);
    }
    reason->sharing = sharing.items;
    reason->sharing_count = sharing.count;
}

static void find_rules(xpu_arena *arena, const xpu_memplan_problem *problem, xpu_memplan_reason *reason) {
    XPU_ARRAY(uint32_t) rules = {0};
    for (uint32_t i = 0; i < problem->match_count; i++) {
        if (problem->matches[i].buffer == reason->buffer) XPU_PUSH(arena, &rules, problem->matches[i].rule);
    }
    reason->rules = rules.items;
    reason->rule_count = rules.count;
}

static const xpu_memplan_spill *spill_of(const xpu_memplan *plan, uint32_t buffer) {
    for (uint32_t i = 0; i < plan->spill_count; i++) {
        if (plan->spills[i].buffer == buffer) return &plan->spills[i];
    }
    return NULL;
}

/* Why the level, where it is the preferred one. */
static const char *reason_of_level(xpu_arena *arena, const xpu_memplan_problem *problem,
                                   const xpu_memplan_reason *reason) {
    const xpu_memplan_buffer *buffer = &problem->buffers[reason->buffer];
    if (buffer->pinned) return "it is pinned";
    for (int strength = XPU_MEMPLAN_MUST; strength <= XPU_MEMPLAN_NEVER; strength++) {
        for (uint32_t i = 0; i < reason->rule_count; i++) {
            const xpu_memplan_rule *rule = &problem->rules[reason->rules[i]];
            if ((int)rule->strength == strength && (rule->level == reason->preferred || strength == XPU_MEMPLAN_NEVER))
                return xpu_printf(arena, "by %s", rule->text);
        }
    }
    return buffer->level_count == 1 ? "it may be nowhere else" : "it is best there and has room";
}

xpu_memplan_reason xpu_memplan_explain(xpu_arena *arena, const xpu_memplan_problem *problem, const xpu_memplan *plan,
                                       uint32_t buffer) {
    const xpu_memplan_spill *spill = spill_of(plan, buffer);
    xpu_memplan_reason reason = {.buffer = buffer,
                                 .preferred = spill ? spill->preferred : plan->places[buffer].level,
                                 .is_elsewhere = spill != NULL};
    find_rules(arena, problem, &reason);
    reason.why = spill ? spill->why : reason_of_level(arena, problem, &reason);
    if (spill) find_shortage(arena, problem, plan, buffer, spill->preferred, &reason.shortage);
    find_neighbours(problem, plan, &reason);
    find_sharing(arena, plan, &reason);
    return reason;
}

/* ---- text ---- */

static const char *level_name(xpu_arena *arena, const xpu_memplan_problem *problem, uint32_t level) {
    return xpu_escape(arena, problem->levels[level].name, 40);
}

/* "SM, L3 or GM" */
static const char *allowed_text(xpu_arena *arena, const xpu_memplan_problem *problem,
                                const xpu_memplan_buffer *buffer) {
    xpu_text text;
    xpu_text_init(&text, arena);
    for (uint32_t i = 0; i < buffer->level_count; i++)
        xpu_text_add(&text, "%s%s",
                     i == 0                         ? ""
                     : i + 1 == buffer->level_count ? " or "
                                                    : ", ",
                     level_name(arena, problem, buffer->levels[i]));
    return text.text;
}

static void text_shortage(xpu_text *text, const xpu_memplan_problem *problem, const xpu_memplan_reason *reason) {
    const xpu_memplan_shortage *s = &reason->shortage;
    xpu_arena *arena = text->arena;
    uint64_t bytes = problem->buffers[reason->buffer].bytes;
    const char *level = level_name(arena, problem, s->level), *step = xpu_memplan_step(arena, problem, s->step);
    xpu_text_add(text, "  not in %s: %s\n", level, reason->why);
    if (s->short_bytes)
        xpu_text_add(text, "           %" PRIu64 " of %" PRIu64 " bytes are free in %s at %s: %" PRIu64 " short\n",
                     s->free_bytes, bytes, level, step, s->short_bytes);
    else
        xpu_text_add(text, "           at least %" PRIu64 " bytes are free in %s during its life, not in one place\n",
                     s->free_bytes, level);
    for (uint32_t i = 0; i < s->blocker_count && i < MAX_BLOCKERS; i++) {
        const xpu_memplan_buffer *b = &problem->buffers[s->blockers[i]];
        xpu_text_add(text, "             %s %" PRIu64 " bytes, %s\n", xpu_memplan_quote(arena, problem, s->blockers[i]),
                     b->bytes, xpu_memplan_life_text(arena, problem, xpu_memplan_life_of(b)));
    }
    if (s->blocker_count > MAX_BLOCKERS)
        xpu_text_add(text, "             and %" PRIu32 " more\n", s->blocker_count - MAX_BLOCKERS);
}

static void text_neighbour(xpu_text *text, const xpu_memplan_problem *problem, const char *word, uint32_t other,
                           uint64_t distance, const char *edge) {
    xpu_text_add(text, "  %s    ", word);
    if (other == XPU_MEMPLAN_NONE) {
        xpu_text_add(text, "nothing; %s\n",
                     distance ? xpu_printf(text->arena, "%" PRIu64 " bytes to %s", distance, edge)
                              : xpu_printf(text->arena, "it touches %s", edge));
        return;
    }
    const xpu_memplan_buffer *b = &problem->buffers[other];
    xpu_text_add(text, "%s, %" PRIu64 " bytes, %s", xpu_memplan_quote(text->arena, problem, other), b->bytes,
                 xpu_memplan_life_text(text->arena, problem, xpu_memplan_life_of(b)));
    if (distance) xpu_text_add(text, "; %" PRIu64 " bytes between them", distance);
    xpu_text_add(text, "\n");
}

char *xpu_memplan_reason_text(xpu_arena *arena, const xpu_memplan_problem *problem, const xpu_memplan *plan,
                              const xpu_memplan_reason *reason) {
    const xpu_memplan_buffer *b = &problem->buffers[reason->buffer];
    const xpu_memplan_place *p = &plan->places[reason->buffer];
    xpu_text text;
    xpu_text_init(&text, arena);
    xpu_text_add(&text, "%s: %s, %" PRIu64 " bytes in %s at %" PRIu64 "\n",
                 xpu_memplan_quote(arena, problem, reason->buffer), xpu_memplan_kind_name(b->kind), b->bytes,
                 level_name(arena, problem, p->level), p->offset);
    xpu_text_add(&text, "  lives    %s\n", xpu_memplan_life_text(arena, problem, xpu_memplan_life_of(b)));
    xpu_text_add(&text, "  may be   in %s\n", allowed_text(arena, problem, b));
    for (uint32_t i = 0; i < reason->rule_count; i++)
        xpu_text_add(&text, "  rule     %s\n", problem->rules[reason->rules[i]].text);
    if (reason->is_elsewhere)
        text_shortage(&text, problem, reason);
    else
        xpu_text_add(&text, "  in %-5s %s\n", level_name(arena, problem, p->level), reason->why);
    if (p->alias_of != XPU_MEMPLAN_NONE)
        xpu_text_add(&text, "  uses     the bytes of %s\n", xpu_memplan_quote(arena, problem, p->alias_of));
    for (uint32_t i = 0; i < reason->sharing_count; i++) {
        const xpu_memplan_buffer *other = &problem->buffers[reason->sharing[i]];
        xpu_text_add(&text, "  shares   bytes with %s, %s\n", xpu_memplan_quote(arena, problem, reason->sharing[i]),
                     xpu_memplan_life_text(arena, problem, xpu_memplan_life_of(other)));
    }
    text_neighbour(&text, problem, "below", reason->below, reason->below_distance, "the start");
    text_neighbour(&text, problem, "above", reason->above, reason->above_distance, "the end");
    return text.text;
}

/* ---- JSON ---- */

static json_t *name_json(xpu_arena *arena, const xpu_memplan_problem *problem, uint32_t buffer) {
    if (buffer == XPU_MEMPLAN_NONE) return json_null();
    const char *name = problem->buffers[buffer].name ? problem->buffers[buffer].name : "";
    json_t *value = json_string(name);
    return value ? value : json_string(xpu_escape(arena, name, 4096));
}

static void set_number(xpu_arena *arena, json_t *object, const char *key, uint64_t value) {
    xpu_json_set(arena, object, key, json_integer((json_int_t)value));
}

static void set_text(xpu_arena *arena, json_t *object, const char *key, const char *text) {
    json_t *value = json_string(text);
    xpu_json_set(arena, object, key, value ? value : json_string(xpu_escape(arena, text, 4096)));
}

static void json_shortage(xpu_arena *arena, json_t *top, const xpu_memplan_problem *problem,
                          const xpu_memplan_shortage *s) {
    json_t *shortage = xpu_json_set(arena, top, "shortage", json_object());
    set_text(arena, shortage, "level", problem->levels[s->level].name);
    set_number(arena, shortage, "step", s->step);
    set_number(arena, shortage, "free", s->free_bytes);
    set_number(arena, shortage, "short", s->short_bytes);
    json_t *blockers = xpu_json_set(arena, shortage, "blockers", json_array());
    for (uint32_t i = 0; i < s->blocker_count; i++) {
        json_t *blocker = xpu_json_append(arena, blockers, json_object());
        xpu_json_set(arena, blocker, "name", name_json(arena, problem, s->blockers[i]));
        set_number(arena, blocker, "bytes", problem->buffers[s->blockers[i]].bytes);
        set_number(arena, blocker, "first", problem->buffers[s->blockers[i]].first);
        set_number(arena, blocker, "last", problem->buffers[s->blockers[i]].last);
        xpu_memplan_set_gaps(arena, blocker, &problem->buffers[s->blockers[i]]);
    }
}

static void json_neighbour(xpu_arena *arena, json_t *top, const char *key, const xpu_memplan_problem *problem,
                           uint32_t other, uint64_t distance) {
    json_t *neighbour = xpu_json_set(arena, top, key, json_object());
    xpu_json_set(arena, neighbour, "name", name_json(arena, problem, other));
    set_number(arena, neighbour, "distance", distance);
}

json_t *xpu_memplan_reason_json(xpu_arena *arena, const xpu_memplan_problem *problem, const xpu_memplan *plan,
                                const xpu_memplan_reason *reason) {
    const xpu_memplan_buffer *b = &problem->buffers[reason->buffer];
    const xpu_memplan_place *p = &plan->places[reason->buffer];
    json_t *top = xpu_json_own(arena, json_object());
    xpu_json_set(arena, top, "name", name_json(arena, problem, reason->buffer));
    set_text(arena, top, "kind", xpu_memplan_kind_name(b->kind));
    set_number(arena, top, "bytes", b->bytes);
    set_number(arena, top, "alignment", xpu_memplan_alignment(b->alignment));
    set_number(arena, top, "first", b->first);
    set_number(arena, top, "last", b->last);
    xpu_memplan_set_gaps(arena, top, b);
    set_text(arena, top, "level", problem->levels[p->level].name);
    set_number(arena, top, "offset", p->offset);
    json_t *allowed = xpu_json_set(arena, top, "allowed", json_array());
    for (uint32_t i = 0; i < b->level_count; i++)
        xpu_json_append(arena, allowed, json_string(level_name(arena, problem, b->levels[i])));
    set_text(arena, top, "preferred", problem->levels[reason->preferred].name);
    set_text(arena, top, "why", reason->why);
    if (reason->is_elsewhere) json_shortage(arena, top, problem, &reason->shortage);
    json_neighbour(arena, top, "below", problem, reason->below, reason->below_distance);
    json_neighbour(arena, top, "above", problem, reason->above, reason->above_distance);
    if (p->alias_of != XPU_MEMPLAN_NONE) xpu_json_set(arena, top, "alias_of", name_json(arena, problem, p->alias_of));
    json_t *sharing = xpu_json_set(arena, top, "sharing", json_array());
    for (uint32_t i = 0; i < reason->sharing_count; i++)
        xpu_json_append(arena, sharing, name_json(arena, problem, reason->sharing[i]));
    json_t *rules = xpu_json_set(arena, top, "rules", json_array());
    for (uint32_t i = 0; i < reason->rule_count; i++)
        xpu_json_append(arena, rules,
                        json_string(xpu_escape_message(arena, problem->rules[reason->rules[i]].text, 400)));
    return top;
}
