#include "memplan/report.h"

#include <inttypes.h>
#include <string.h>

#include "base/json.h"
#include "memplan/internal.h"

static const char *shown(xpu_arena *arena, const char *name) {
    return name ? xpu_escape(arena, name, 200) : "-";
}

static int width_of_names(xpu_arena *arena, const xpu_memplan_problem *problem) {
    size_t width = 6;
    for (uint32_t i = 0; i < problem->buffer_count; i++) {
        size_t length = strlen(shown(arena, problem->buffers[i].name));
        if (length > width) width = length;
    }
    return width > 48 ? 48 : (int)width;
}

static void text_levels(xpu_text *text, const xpu_memplan_problem *problem, const xpu_memplan *plan) {
    xpu_text_add(text, "%-8s %12s %12s %12s %10s %6s %8s\n", "level", "capacity", "peak", "lower bound", "gap", "holes",
                 "buffers");
    for (uint32_t i = 0; i < plan->level_count; i++) {
        const xpu_memplan_usage *u = &plan->usage[i];
        xpu_text_add(
            text,
            "%-8s %12" PRIu64 " %12" PRIu64 " %12" PRIu64 " %10" PRIu64 " %4" PRIu32 ".%" PRIu32 "%% %7" PRIu32 "\n",
            shown(text->arena, problem->levels[i].name), u->capacity, u->peak, u->proved_bound,
            u->peak - u->proved_bound, u->fragmentation_permille / 10, u->fragmentation_permille % 10, u->buffers);
    }
}

static void text_spills(xpu_text *text, const xpu_memplan_problem *problem, const xpu_memplan *plan) {
    if (plan->spill_count == 0) return;
    xpu_text_add(text, "\nnot where they should be:\n");
    for (uint32_t i = 0; i < plan->spill_count; i++) {
        const xpu_memplan_spill *s = &plan->spills[i];
        xpu_text_add(text, "  %s in %s instead of %s: %s\n", shown(text->arena, problem->buffers[s->buffer].name),
                     shown(text->arena, problem->levels[plan->places[s->buffer].level].name),
                     shown(text->arena, problem->levels[s->preferred].name), s->why);
    }
}

static void text_gaps(xpu_text *text, const xpu_memplan_buffer *buffer) {
    for (uint32_t i = 0; i < buffer->gap_count; i++) {
        xpu_text_add(text, "%s%" PRIu32 "-%" PRIu32, i ? " " : "  not live at ", buffer->gaps[i].first,
                     buffer->gaps[i].last);
    }
}

char *xpu_memplan_text(xpu_arena *arena, const xpu_memplan_problem *problem, const xpu_memplan *plan) {
    xpu_text text;
    xpu_text_init(&text, arena);
    text_levels(&text, problem, plan);
    text_spills(&text, problem, plan);
    int width = width_of_names(arena, problem);
    xpu_text_add(&text, "\n%-*s %-10s %-6s %12s %12s %8s %8s  %s\n", width, "buffer", "kind", "level", "offset",
                 "bytes", "first", "last", "shares bytes with");
    for (uint32_t i = 0; i < plan->buffer_count; i++) {
        const xpu_memplan_buffer *b = &problem->buffers[i];
        const xpu_memplan_place *p = &plan->places[i];
        const char *other = p->alias_of == XPU_MEMPLAN_NONE ? "" : shown(arena, problem->buffers[p->alias_of].name);
        xpu_text_add(&text, "%-*s %-10s %-6s %12" PRIu64 " %12" PRIu64 " %8" PRIu32 " %8" PRIu32 "%s%s", width,
                     shown(arena, b->name), xpu_memplan_kind_name(b->kind),
                     shown(arena, problem->levels[p->level].name), p->offset, b->bytes, b->first, b->last,
                     *other ? "  " : "", other);
        text_gaps(&text, b);
        xpu_text_add(&text, "\n");
    }
    return text.text;
}

static json_t *number(uint64_t value) {
    return json_integer((json_int_t)value);
}

/* JSON strings are UTF-8; a name that is none is shown escaped. */
static json_t *string(xpu_arena *arena, const char *name) {
    json_t *value = json_string(name ? name : "");
    return value ? value : json_string(xpu_escape(arena, name ? name : "", 4096));
}

void xpu_memplan_set_gaps(xpu_arena *arena, json_t *object, const xpu_memplan_buffer *buffer) {
    if (!buffer->gap_count) return;
    json_t *gaps = xpu_json_set(arena, object, "gaps", json_array());
    for (uint32_t i = 0; i < buffer->gap_count; i++) {
        json_t *gap = xpu_json_append(arena, gaps, json_array());
        xpu_json_append(arena, gap, number(buffer->gaps[i].first));
        xpu_json_append(arena, gap, number(buffer->gaps[i].last));
    }
}

static void json_levels(xpu_arena *arena, json_t *root, const xpu_memplan_problem *problem, const xpu_memplan *plan) {
    json_t *levels = xpu_json_set(arena, root, "levels", json_array());
    for (uint32_t i = 0; i < plan->level_count; i++) {
        const xpu_memplan_usage *u = &plan->usage[i];
        json_t *level = xpu_json_append(arena, levels, json_object());
        xpu_json_set(arena, level, "name", string(arena, problem->levels[i].name));
        xpu_json_set(arena, level, "bytes", number(problem->levels[i].bytes));
        xpu_json_set(arena, level, "reserved", number(problem->levels[i].reserved));
        xpu_json_set(arena, level, "alignment", number(xpu_memplan_alignment(problem->levels[i].alignment)));
        xpu_json_set(arena, level, "capacity", number(u->capacity));
        xpu_json_set(arena, level, "peak", number(u->peak));
        xpu_json_set(arena, level, "lower_bound", number(u->lower_bound));
        xpu_json_set(arena, level, "gap", number(u->gap));
        xpu_json_set(arena, level, "proved_bound", number(u->proved_bound));
        xpu_json_set(arena, level, "worst_step", number(u->worst_step));
        xpu_json_set(arena, level, "fragmentation_permille", number(u->fragmentation_permille));
        xpu_json_set(arena, level, "buffers", number(u->buffers));
    }
}

json_t *xpu_memplan_json(xpu_arena *arena, const xpu_memplan_problem *problem, const xpu_memplan *plan) {
    json_t *root = xpu_json_own(arena, json_object());
    json_levels(arena, root, problem, plan);
    json_t *spills = xpu_json_set(arena, root, "spills", json_array());
    for (uint32_t i = 0; i < plan->spill_count; i++) {
        const xpu_memplan_spill *s = &plan->spills[i];
        json_t *spill = xpu_json_append(arena, spills, json_object());
        xpu_json_set(arena, spill, "buffer", string(arena, problem->buffers[s->buffer].name));
        xpu_json_set(arena, spill, "preferred", string(arena, problem->levels[s->preferred].name));
        xpu_json_set(arena, spill, "level", string(arena, problem->levels[plan->places[s->buffer].level].name));
        xpu_json_set(arena, spill, "why", string(arena, s->why));
    }
    json_t *buffers = xpu_json_set(arena, root, "buffers", json_array());
    for (uint32_t i = 0; i < plan->buffer_count; i++) {
        const xpu_memplan_buffer *b = &problem->buffers[i];
        const xpu_memplan_place *p = &plan->places[i];
        json_t *buffer = xpu_json_append(arena, buffers, json_object());
        xpu_json_set(arena, buffer, "name", string(arena, b->name));
        xpu_json_set(arena, buffer, "kind", string(arena, xpu_memplan_kind_name(b->kind)));
        xpu_json_set(arena, buffer, "level", string(arena, problem->levels[p->level].name));
        xpu_json_set(arena, buffer, "offset", number(p->offset));
        xpu_json_set(arena, buffer, "bytes", number(b->bytes));
        xpu_json_set(arena, buffer, "first", number(b->first));
        xpu_json_set(arena, buffer, "last", number(b->last));
        xpu_memplan_set_gaps(arena, buffer, b);
        if (p->alias_of != XPU_MEMPLAN_NONE) {
            xpu_json_set(arena, buffer, "alias_of", string(arena, problem->buffers[p->alias_of].name));
        }
    }
    return root;
}
