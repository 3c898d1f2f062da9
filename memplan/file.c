#include "memplan/file.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "memplan/csv.h"
#include "memplan/reader.h"

typedef xpu_memplan_reader reader;
typedef xpu_memplan_named named;

xpu_status xpu_memplan_wrong_name(const reader *r, const char *path, const char *what, const char *name,
                                  const char *hint) {
    return xpu_error(r->diags, XPU_EUSAGE, r->file, "memplan-name", xpu_printf(r->arena, "key '%s'", path), what,
                     xpu_printf(r->arena, "'%s'", xpu_escape(r->arena, name, 100)), hint);
}

/* ---- names to numbers ---- */

static int compare_named(const void *a, const void *b) {
    return strcmp(((const named *)a)->name, ((const named *)b)->name);
}

named *xpu_memplan_index(const reader *r, const xpu_memplan_problem *problem) {
    named *index = XPU_NEW_ARRAY(r->arena, named, problem->buffer_count + 1);
    for (uint32_t i = 0; i < problem->buffer_count; i++) index[i] = (named){problem->buffers[i].name, i};
    if (problem->buffer_count) qsort(index, problem->buffer_count, sizeof *index, compare_named);
    for (uint32_t i = 1; i < problem->buffer_count; i++) {
        if (strcmp(index[i - 1].name, index[i].name) == 0) {
            xpu_memplan_wrong_name(r, "buffers", "two buffers have one name", index[i].name,
                                   "give each buffer a name of its own");
        }
    }
    return index;
}

uint32_t xpu_memplan_buffer_named(const reader *r, const named *index, const xpu_memplan_problem *problem,
                                  const char *path, const char *name) {
    named key = {name, 0};
    const named *found = name && problem->buffer_count
                             ? bsearch(&key, index, problem->buffer_count, sizeof *index, compare_named)
                             : NULL;
    if (found) return found->number;
    if (name) xpu_memplan_wrong_name(r, path, "there is no such buffer", name, "the name of one of 'buffers'");
    return XPU_MEMPLAN_NONE;
}

uint32_t xpu_memplan_level_named(const reader *r, const xpu_memplan_problem *problem, const char *path,
                                 const char *name) {
    for (uint32_t i = 0; name && i < problem->level_count; i++) {
        if (strcmp(problem->levels[i].name, name) == 0) return i;
    }
    if (name) xpu_memplan_wrong_name(r, path, "there is no such level", name, "the name of one of 'levels'");
    return XPU_MEMPLAN_NONE;
}

/* ---- problems ---- */

static const int64_t MOST_BYTES = (int64_t)XPU_MEMPLAN_MAX_BYTES;

static void read_level(const reader *r, json_t *value, const char *path, xpu_memplan_level *level) {
    xpu_json_object o;
    if (!xpu_json_open(&o, r->arena, value, r->file, path, r->diags)) return;
    const char *name = xpu_json_string(&o, "name");
    *level =
        (xpu_memplan_level){.name = name ? xpu_strdup(r->arena, name) : "",
                            .bytes = (uint64_t)xpu_json_int(&o, "bytes", 0, MOST_BYTES),
                            .reserved = (uint64_t)xpu_json_int_or(&o, "reserved", 0, MOST_BYTES, 0),
                            .alignment = (uint32_t)xpu_json_int_or(&o, "alignment", 0, XPU_MEMPLAN_MAX_ALIGNMENT, 0),
                            .bytes_per_cycle = (uint32_t)xpu_json_int_or(&o, "bytes_per_cycle", 0, 1 << 20, 0),
                            .banks = (uint32_t)xpu_json_int_or(&o, "banks", 0, 256, 0),
                            .bank_bytes = (uint32_t)xpu_json_int_or(&o, "bank_bytes", 1, 1 << 20, 64),
                            .bank_fields = (uint32_t)xpu_json_int_or(&o, "bank_fields", 1, 8, 1),
                            .latency = (uint32_t)xpu_json_int_or(&o, "latency", 0, XPU_MEMPLAN_MAX_TIMELINE, 0)};
    xpu_json_done(&o);
}

/* The list of levels that a buffer may stand in; absent: all. */
static void read_levels(const reader *r, xpu_json_object *o, const char *path, const xpu_memplan_problem *problem,
                        xpu_memplan_buffer *buffer) {
    json_t *list = xpu_json_member(o, "levels");
    if (!list) {
        for (uint32_t i = 0; i < problem->level_count; i++) buffer->levels[buffer->level_count++] = (uint8_t)i;
        return;
    }
    size_t count = json_is_array(list) ? json_array_size(list) : 0;
    if (count < 1 || count > XPU_MEMPLAN_MAX_LEVELS) {
        xpu_memplan_wrong_name(r, path, "'levels' is no list of levels", "levels", "a list of one to eight names");
        return;
    }
    for (size_t i = 0; i < count; i++) {
        const char *name = json_string_value(json_array_get(list, i));
        uint32_t level = xpu_memplan_level_named(r, problem, path, name ? name : "");
        if (level != XPU_MEMPLAN_NONE) buffer->levels[buffer->level_count++] = (uint8_t)level;
    }
}

/* The length of a list; 0 after reporting that it is longer than `most`. */
uint32_t xpu_memplan_length(const reader *r, const char *key, const json_t *list, uint32_t most) {
    size_t count = json_array_size(list);
    if (count <= most) return (uint32_t)count;
    xpu_error(r->diags, XPU_EUSAGE, r->file, "json-range", xpu_printf(r->arena, "key '%s'", key),
              "the list is too long",
              xpu_printf(r->arena, "it has %zu elements; %" PRIu32 " are the limit", count, most),
              "split the problem into smaller ones");
    return 0;
}

const xpu_memplan_pair *xpu_memplan_read_pairs(const reader *r, const json_t *list, const char *path,
                                               const xpu_memplan_pair_form *form, uint32_t *count) {
    *count = 0;
    const uint32_t length = xpu_memplan_length(r, path, list, XPU_MEMPLAN_MAX_MATCHES);
    xpu_memplan_pair *pairs = XPU_NEW_ARRAY(r->arena, xpu_memplan_pair, length);
    for (uint32_t i = 0; i < length; i++) {
        const json_t *pair = json_array_get(list, i), *first = json_array_get(pair, 0),
                     *second = json_array_get(pair, 1);
        const json_int_t a = json_integer_value(first), b = json_integer_value(second);
        if (json_array_size(pair) != 2 || !json_is_integer(first) || !json_is_integer(second) || a < 0 || b < 0 ||
            a > XPU_MEMPLAN_MAX_STEP || b > form->most) {
            xpu_error(r->diags, XPU_EUSAGE, r->file, "json-type",
                      xpu_printf(r->arena, "key '%s[%" PRIu32 "]'", path, i), form->what, form->why, form->hint);
            break;
        }
        pairs[(*count)++] = (xpu_memplan_pair){(uint32_t)a, (uint64_t)b};
    }
    return pairs;
}

/* "gaps": [[first, last], ...] */
static void read_gaps(const reader *r, xpu_json_object *o, const char *path, xpu_memplan_buffer *buffer) {
    static const xpu_memplan_pair_form form = {"this is no gap", "a gap is a list of two steps from 0 to 2^30",
                                               "write [first, last], both included", XPU_MEMPLAN_MAX_STEP};
    if (!xpu_json_member(o, "gaps")) return;
    const size_t before = r->diags->errors;
    const xpu_memplan_pair *pairs = xpu_memplan_read_pairs(
        r, xpu_json_array(o, "gaps"), xpu_printf(r->arena, "%s.gaps", path), &form, &buffer->gap_count);
    xpu_memplan_steps *gaps = XPU_NEW_ARRAY(r->arena, xpu_memplan_steps, buffer->gap_count);
    for (uint32_t i = 0; i < buffer->gap_count; i++)
        gaps[i] = (xpu_memplan_steps){pairs[i].step, (uint32_t)pairs[i].value};
    buffer->gaps = gaps;
    if (r->diags->errors != before) return;
    if (buffer->first <= buffer->last && !xpu_memplan_gaps_hold(buffer)) {
        xpu_error(r->diags, XPU_EUSAGE, r->file, "json-range", xpu_printf(r->arena, "key '%s.gaps'", path),
                  "the gaps are not within the life",
                  "they are in order, and the buffer lives before, between and "
                  "behind them",
                  "leave out gaps at the ends, and make one of those that touch");
    }
}

static void read_buffer(const reader *r, json_t *value, const char *path, const xpu_memplan_problem *problem,
                        xpu_memplan_buffer *buffer) {
    static const char *const kinds[] = {
#define X(name, text) text,
        XPU_MEMPLAN_KINDS(X)
#undef X
            NULL};
    xpu_json_object o;
    if (!xpu_json_open(&o, r->arena, value, r->file, path, r->diags)) return;
    const char *name = xpu_json_string(&o, "name");
    int kind = xpu_json_member(&o, "kind") ? xpu_json_choice(&o, "kind", kinds) : XPU_MEMPLAN_ACTIVATION;
    *buffer =
        (xpu_memplan_buffer){.name = name ? xpu_strdup(r->arena, name) : "",
                             .bytes = (uint64_t)xpu_json_int(&o, "bytes", 0, MOST_BYTES),
                             .alignment = (uint32_t)xpu_json_int_or(&o, "alignment", 0, XPU_MEMPLAN_MAX_ALIGNMENT, 0),
                             .first = (uint32_t)xpu_json_int(&o, "first", 0, XPU_MEMPLAN_MAX_STEP),
                             .last = (uint32_t)xpu_json_int(&o, "last", 0, XPU_MEMPLAN_MAX_STEP),
                             .kind = kind < 0 ? XPU_MEMPLAN_ACTIVATION : (xpu_memplan_kind)kind,
                             .access_bytes = (uint64_t)xpu_json_int_or(&o, "access_bytes", 0, MOST_BYTES, 0)};
    read_gaps(r, &o, path, buffer);
    read_levels(r, &o, path, problem, buffer);
    buffer->pinned = xpu_json_member(&o, "offset") != NULL;
    if (buffer->pinned) buffer->pinned_offset = (uint64_t)xpu_json_int(&o, "offset", 0, MOST_BYTES);
    static const char *const of_time[] = {"uses", "home", "anew"}; /* read when all names are known */
    for (size_t i = 0; i < sizeof of_time / sizeof *of_time; i++) xpu_json_member(&o, of_time[i]);
    xpu_json_done(&o);
}

static void read_alias(const reader *r, json_t *value, const char *path, const xpu_memplan_problem *problem,
                       const named *index, xpu_memplan_alias *alias) {
    static const char *const kinds[] = {"in-place", "part", "view", NULL};
    xpu_json_object o;
    if (!xpu_json_open(&o, r->arena, value, r->file, path, r->diags)) return;
    const char *buffer = xpu_json_string(&o, "buffer"), *other = xpu_json_string(&o, "other");
    int kind = xpu_json_choice(&o, "kind", kinds);
    *alias = (xpu_memplan_alias){.buffer = xpu_memplan_buffer_named(r, index, problem, path, buffer),
                                 .other = xpu_memplan_buffer_named(r, index, problem, path, other),
                                 .kind = kind < 0 ? XPU_MEMPLAN_VIEW : (xpu_memplan_alias_kind)kind,
                                 .offset = (uint64_t)xpu_json_int_or(&o, "offset", 0, MOST_BYTES, 0),
                                 .rows = (uint32_t)xpu_json_int_or(&o, "rows", 0, UINT32_MAX, 0),
                                 .row_bytes = (uint64_t)xpu_json_int_or(&o, "row_bytes", 0, MOST_BYTES, 0),
                                 .pitch = (uint64_t)xpu_json_int_or(&o, "pitch", 0, MOST_BYTES, 0)};
    xpu_json_done(&o);
}

static xpu_status read_json(const reader *r, xpu_memplan_problem *problem) {
    xpu_json_object o;
    json_t *root = xpu_json_read(r->arena, r->file, r->diags);
    if (!root) return xpu_diags_status(r->diags);
    size_t before = r->diags->errors;
    if (!xpu_json_open(&o, r->arena, root, r->file, "", r->diags)) return XPU_EUSAGE;
    json_t *level_list = xpu_json_array(&o, "levels"), *buffer_list = xpu_json_array(&o, "buffers");
    json_t *alias_list = xpu_json_member(&o, "aliases") ? xpu_json_array(&o, "aliases") : NULL;
    json_t *steps = xpu_json_member(&o, "steps") ? xpu_json_array(&o, "steps") : NULL;
    xpu_json_done(&o);
    if (r->diags->errors != before) return XPU_EUSAGE;
    uint32_t level_count = xpu_memplan_length(r, "levels", level_list, XPU_MEMPLAN_MAX_LEVELS);
    uint32_t buffer_count = xpu_memplan_length(r, "buffers", buffer_list, XPU_MEMPLAN_MAX_BUFFERS);
    uint32_t alias_count = xpu_memplan_length(r, "aliases", alias_list, XPU_MEMPLAN_MAX_MATCHES);
    if (r->diags->errors != before) return XPU_EUSAGE;
    xpu_memplan_level *levels = XPU_NEW_ARRAY(r->arena, xpu_memplan_level, level_count + 1);
    for (uint32_t i = 0; i < level_count; i++) {
        read_level(r, json_array_get(level_list, i), xpu_printf(r->arena, "levels[%" PRIu32 "]", i), &levels[i]);
        for (uint32_t k = 0; k < i && levels[i].name; k++) {
            if (levels[k].name && strcmp(levels[k].name, levels[i].name) == 0)
                xpu_memplan_wrong_name(r, "levels", "two levels have one name", levels[i].name,
                                       "give each level a name of its own");
        }
    }
    xpu_memplan_buffer *buffers = XPU_NEW_ARRAY(r->arena, xpu_memplan_buffer, buffer_count + 1);
    *problem = (xpu_memplan_problem){.levels = levels, .level_count = level_count, .buffers = buffers, .file = r->file};
    if (r->diags->errors != before) return XPU_EUSAGE;
    for (uint32_t i = 0; i < buffer_count; i++) {
        read_buffer(r, json_array_get(buffer_list, i), xpu_printf(r->arena, "buffers[%" PRIu32 "]", i), problem,
                    &buffers[i]);
    }
    if (r->diags->errors != before) return XPU_EUSAGE;
    problem->buffer_count = buffer_count;
    const named *index = xpu_memplan_index(r, problem);
    problem->alias_count = alias_count;
    xpu_memplan_alias *aliases = XPU_NEW_ARRAY(r->arena, xpu_memplan_alias, problem->alias_count + 1);
    for (uint32_t i = 0; i < problem->alias_count; i++) {
        read_alias(r, json_array_get(alias_list, i), xpu_printf(r->arena, "aliases[%" PRIu32 "]", i), problem, index,
                   &aliases[i]);
    }
    problem->aliases = aliases;
    xpu_memplan_read_timeline(r, steps, buffer_list, index, problem);
    return r->diags->errors == before ? XPU_OK : XPU_EUSAGE;
}

/* ---- CSV ---- */

static uint64_t room_for(const xpu_memplan_buffer *buffers, uint32_t count) {
    uint64_t sum = 0, end = 0;
    for (uint32_t i = 0; i < count; i++) {
        const xpu_memplan_buffer *b = &buffers[i];
        sum += b->bytes + b->alignment;
        if (b->pinned && b->pinned_offset + b->bytes > end) end = b->pinned_offset + b->bytes;
    }
    sum += end;
    return sum > XPU_MEMPLAN_MAX_BYTES ? XPU_MEMPLAN_MAX_BYTES : sum;
}

static xpu_status read_csv(const reader *r, uint64_t bytes, xpu_memplan_problem *problem) {
    const size_t before = r->diags->errors;
    xpu_memplan_level *level = XPU_NEW(r->arena, xpu_memplan_level);
    xpu_memplan_csv csv;
    xpu_status status = xpu_memplan_csv_read(r->arena, r->file, &csv, r->diags);
    if (status != XPU_OK) return status;
    level->name = "memory";
    level->bytes = bytes ? bytes : room_for(csv.items, csv.count);
    *problem = (xpu_memplan_problem){
        .levels = level, .level_count = 1, .buffers = csv.items, .buffer_count = csv.count, .file = r->file};
    xpu_memplan_index(r, problem);
    return r->diags->errors == before ? XPU_OK : XPU_EUSAGE;
}

static int is_csv(const char *path) {
    size_t length = strlen(path);
    return length > 4 && strcmp(path + length - 4, ".csv") == 0;
}

xpu_status xpu_memplan_read(xpu_arena *arena, const char *path, uint64_t csv_bytes, xpu_memplan_problem *problem,
                            xpu_diags *diags) {
    reader r = {arena, path, diags};
    return is_csv(path) ? read_csv(&r, csv_bytes, problem) : read_json(&r, problem);
}

/* ---- plans ---- */

json_t *xpu_memplan_plan_json(xpu_arena *arena, const xpu_memplan_problem *problem, const xpu_memplan *plan) {
    json_t *root = xpu_json_own(arena, json_object());
    json_t *places = xpu_json_set(arena, root, "places", json_array());
    for (uint32_t i = 0; i < plan->buffer_count; i++) {
        const xpu_memplan_place *place = &plan->places[i];
        json_t *item = xpu_json_append(arena, places, json_object());
        xpu_json_set(arena, item, "buffer", json_string(problem->buffers[i].name));
        xpu_json_set(arena, item, "level", json_string(problem->levels[place->level].name));
        xpu_json_set(arena, item, "offset", json_integer((json_int_t)place->offset));
        if (place->alias == XPU_MEMPLAN_NONE) continue;
        xpu_json_set(arena, item, "alias_of", json_string(problem->buffers[place->alias_of].name));
        uint32_t skipped = 0;
        for (uint32_t k = 0; k < place->alias; k++) {
            skipped += problem->aliases[k].buffer == i && problem->aliases[k].other == place->alias_of;
        }
        if (skipped) xpu_json_set(arena, item, "alternative", json_integer((json_int_t)skipped));
    }
    json_t *usage = xpu_json_set(arena, root, "usage", json_array());
    for (uint32_t i = 0; i < plan->level_count; i++) {
        const xpu_memplan_usage *u = &plan->usage[i];
        json_t *item = xpu_json_append(arena, usage, json_object());
        xpu_json_set(arena, item, "level", json_string(problem->levels[i].name));
        xpu_json_set(arena, item, "buffers", json_integer((json_int_t)u->buffers));
        xpu_json_set(arena, item, "capacity", json_integer((json_int_t)u->capacity));
        xpu_json_set(arena, item, "peak", json_integer((json_int_t)u->peak));
        xpu_json_set(arena, item, "lower_bound", json_integer((json_int_t)u->lower_bound));
        xpu_json_set(arena, item, "gap", json_integer((json_int_t)u->gap));
        xpu_json_set(arena, item, "proved_bound", json_integer((json_int_t)u->proved_bound));
        xpu_json_set(arena, item, "worst_step", json_integer((json_int_t)u->worst_step));
        xpu_json_set(arena, item, "fragmentation_permille", json_integer((json_int_t)u->fragmentation_permille));
    }
    json_t *spills = xpu_json_set(arena, root, "spills", json_array());
    for (uint32_t i = 0; i < plan->spill_count; i++) {
        json_t *item = xpu_json_append(arena, spills, json_object());
        xpu_json_set(arena, item, "buffer", json_string(problem->buffers[plan->spills[i].buffer].name));
        xpu_json_set(arena, item, "preferred", json_string(problem->levels[plan->spills[i].preferred].name));
        xpu_json_set(arena, item, "why", json_string(plan->spills[i].why));
    }
    return root;
}

xpu_status xpu_memplan_write(xpu_arena *arena, const char *path, const xpu_memplan_problem *problem,
                             const xpu_memplan *plan, xpu_diags *diags) {
    if (is_csv(path)) return xpu_memplan_csv_write(arena, path, problem, plan, diags);
    return xpu_json_write(arena, xpu_memplan_plan_json(arena, problem, plan), path, diags);
}

/* The number of the alternative of `buffer` in `other`, after so many that are skipped; XPU_MEMPLAN_NONE: there is
 * none. */
static uint32_t alias_between(const xpu_memplan_problem *problem, uint32_t buffer, uint32_t other, uint64_t skipped) {
    for (uint32_t i = 0; i < problem->alias_count; i++) {
        if (problem->aliases[i].buffer == buffer && problem->aliases[i].other == other && !skipped--) return i;
    }
    return XPU_MEMPLAN_NONE;
}

static void read_place(const reader *r, json_t *value, const char *path, const xpu_memplan_problem *problem,
                       const named *index, uint8_t *placed, xpu_memplan *plan) {
    xpu_json_object o;
    if (!xpu_json_open(&o, r->arena, value, r->file, path, r->diags)) return;
    uint32_t buffer = xpu_memplan_buffer_named(r, index, problem, path, xpu_json_string(&o, "buffer"));
    uint32_t level = xpu_memplan_level_named(r, problem, path, xpu_json_string(&o, "level"));
    uint64_t offset = (uint64_t)xpu_json_int(&o, "offset", 0, MOST_BYTES);
    const char *alias_of = xpu_json_string_or(&o, "alias_of", NULL);
    const uint64_t skipped = (uint64_t)xpu_json_int_or(&o, "alternative", 0, XPU_MEMPLAN_MAX_MATCHES, 0);
    xpu_json_done(&o);
    if (buffer == XPU_MEMPLAN_NONE || level == XPU_MEMPLAN_NONE) return;
    xpu_memplan_place place = {level, offset, XPU_MEMPLAN_NONE, XPU_MEMPLAN_NONE};
    if (alias_of) {
        place.alias_of = xpu_memplan_buffer_named(r, index, problem, path, alias_of);
        place.alias = place.alias_of == XPU_MEMPLAN_NONE ? XPU_MEMPLAN_NONE
                                                         : alias_between(problem, buffer, place.alias_of, skipped);
        if (place.alias == XPU_MEMPLAN_NONE) {
            xpu_memplan_wrong_name(r, path, "the problem has no such alternative", alias_of, "one of its 'aliases'");
            return;
        }
    }
    if (placed[buffer])
        xpu_memplan_wrong_name(r, path, "a buffer has two places", problem->buffers[buffer].name, "give it once");
    placed[buffer] = 1;
    plan->places[buffer] = place;
}

static void read_usage(const reader *r, json_t *value, const char *path, const xpu_memplan_problem *problem,
                       xpu_memplan *plan) {
    xpu_json_object o;
    if (!xpu_json_open(&o, r->arena, value, r->file, path, r->diags)) return;
    uint32_t level = xpu_memplan_level_named(r, problem, path, xpu_json_string(&o, "level"));
    xpu_memplan_usage usage = {.buffers = (uint32_t)xpu_json_int(&o, "buffers", 0, XPU_MEMPLAN_MAX_BUFFERS),
                               .capacity = (uint64_t)xpu_json_int(&o, "capacity", 0, MOST_BYTES),
                               .peak = (uint64_t)xpu_json_int(&o, "peak", 0, MOST_BYTES),
                               .lower_bound = (uint64_t)xpu_json_int(&o, "lower_bound", 0, INT64_MAX),
                               .gap = (uint64_t)xpu_json_int(&o, "gap", 0, MOST_BYTES),
                               .worst_step = (uint32_t)xpu_json_int(&o, "worst_step", 0, XPU_MEMPLAN_MAX_STEP),
                               .fragmentation_permille = (uint32_t)xpu_json_int(&o, "fragmentation_permille", 0, 1000)};
    usage.proved_bound = (uint64_t)xpu_json_int_or(&o, "proved_bound", 0, MOST_BYTES, (int64_t)usage.lower_bound);
    xpu_json_done(&o);
    if (level != XPU_MEMPLAN_NONE) plan->usage[level] = usage;
}

static void read_spill(const reader *r, json_t *value, const char *path, const xpu_memplan_problem *problem,
                       const named *index, xpu_memplan_spill *spill) {
    xpu_json_object o;
    if (!xpu_json_open(&o, r->arena, value, r->file, path, r->diags)) return;
    spill->buffer = xpu_memplan_buffer_named(r, index, problem, path, xpu_json_string(&o, "buffer"));
    spill->preferred = xpu_memplan_level_named(r, problem, path, xpu_json_string(&o, "preferred"));
    const char *why = xpu_json_string(&o, "why");
    spill->why = why ? xpu_strdup(r->arena, why) : "";
    xpu_json_done(&o);
}

/* The offsets of a CSV plan, of a problem of one level. */
static xpu_status read_csv_plan(const reader *r, const xpu_memplan_problem *problem, xpu_memplan *plan) {
    const size_t before = r->diags->errors;
    xpu_memplan_csv csv;
    xpu_status status = xpu_memplan_csv_read(r->arena, r->file, &csv, r->diags);
    if (status != XPU_OK) return status;
    const named *index = xpu_memplan_index(r, problem);
    const uint32_t n = problem->buffer_count;
    *plan =
        (xpu_memplan){.buffer_count = n, .level_count = problem->level_count, .file = xpu_strdup(r->arena, r->file)};
    plan->places = XPU_NEW_ARRAY(r->arena, xpu_memplan_place, n + 1);
    plan->usage = XPU_NEW_ARRAY(r->arena, xpu_memplan_usage, problem->level_count + 1);
    for (uint32_t i = 0; i < n; i++) plan->places[i].level = XPU_MEMPLAN_NONE;
    for (uint32_t i = 0; i < csv.count && r->diags->errors == before; i++) {
        uint32_t buffer = xpu_memplan_buffer_named(r, index, problem, "id", csv.items[i].name);
        if (buffer == XPU_MEMPLAN_NONE || !csv.items[i].pinned) continue;
        plan->places[buffer] = (xpu_memplan_place){
            .offset = csv.items[i].pinned_offset, .alias = XPU_MEMPLAN_NONE, .alias_of = XPU_MEMPLAN_NONE};
    }
    for (uint32_t i = 0; i < n && r->diags->errors == before; i++) {
        if (plan->places[i].level == XPU_MEMPLAN_NONE)
            xpu_memplan_wrong_name(r, "offset", "a buffer has no place", problem->buffers[i].name,
                                   "place every buffer");
    }
    if (problem->level_count != 1) {
        xpu_error(r->diags, XPU_EUSAGE, r->file, "memplan-csv", NULL, "this is no plan of the problem",
                  "a plan as CSV is of one level", "read a plan as JSON");
    }
    if (r->diags->errors != before) return XPU_EUSAGE;
    xpu_memplan_measure(r->arena, problem, plan->places, plan->usage);
    return XPU_OK;
}

xpu_status xpu_memplan_plan_of_json(const reader *r, json_t *root, int has_moves, const xpu_memplan_problem *problem,
                                    xpu_memplan *plan) {
    static const char *const of_moves[] = {"stays", "transfers", "cycles", "last_bytes", "still_cycles", "still_bytes"};
    xpu_arena *arena = r->arena;
    xpu_diags *diags = r->diags;
    xpu_json_object o;
    size_t before = diags->errors;
    if (!xpu_json_open(&o, arena, root, r->file, "", diags)) return XPU_EUSAGE;
    for (size_t i = 0; has_moves && i < sizeof of_moves / sizeof *of_moves; i++) xpu_json_member(&o, of_moves[i]);
    json_t *places = xpu_json_array(&o, "places"), *usage = xpu_json_array(&o, "usage");
    json_t *spills = xpu_json_array(&o, "spills");
    xpu_json_done(&o);
    if (diags->errors != before) return XPU_EUSAGE;
    *plan = (xpu_memplan){
        .buffer_count = problem->buffer_count, .level_count = problem->level_count, .file = xpu_strdup(arena, r->file)};
    plan->places = XPU_NEW_ARRAY(arena, xpu_memplan_place, problem->buffer_count + 1);
    plan->usage = XPU_NEW_ARRAY(arena, xpu_memplan_usage, problem->level_count + 1);
    uint32_t place_count = xpu_memplan_length(r, "places", places, XPU_MEMPLAN_MAX_BUFFERS);
    uint32_t usage_count = xpu_memplan_length(r, "usage", usage, XPU_MEMPLAN_MAX_LEVELS);
    plan->spill_count = xpu_memplan_length(r, "spills", spills, XPU_MEMPLAN_MAX_BUFFERS);
    plan->spills = XPU_NEW_ARRAY(arena, xpu_memplan_spill, plan->spill_count + 1);
    uint8_t *placed = XPU_NEW_ARRAY(arena, uint8_t, problem->buffer_count + 1);
    const named *index = xpu_memplan_index(r, problem);
    for (uint32_t i = 0; i < place_count; i++) {
        const char *at = xpu_printf(arena, "places[%" PRIu32 "]", i);
        read_place(r, json_array_get(places, i), at, problem, index, placed, plan);
    }
    for (uint32_t i = 0; i < usage_count; i++) {
        read_usage(r, json_array_get(usage, i), xpu_printf(arena, "usage[%" PRIu32 "]", i), problem, plan);
    }
    for (uint32_t i = 0; i < plan->spill_count; i++) {
        const char *at = xpu_printf(arena, "spills[%" PRIu32 "]", i);
        read_spill(r, json_array_get(spills, i), at, problem, index, &plan->spills[i]);
    }
    for (uint32_t i = 0; i < problem->buffer_count && diags->errors == before; i++) {
        if (!placed[i])
            xpu_memplan_wrong_name(r, "places", "a buffer has no place", problem->buffers[i].name,
                                   "place every buffer");
    }
    return diags->errors == before ? XPU_OK : XPU_EUSAGE;
}

xpu_status xpu_memplan_read_plan(xpu_arena *arena, const char *path, const xpu_memplan_problem *problem,
                                 xpu_memplan *plan, xpu_diags *diags) {
    const reader r = {arena, path, diags};
    if (is_csv(path)) return read_csv_plan(&r, problem, plan);
    json_t *root = xpu_json_read(arena, path, diags);
    return root ? xpu_memplan_plan_of_json(&r, root, 0, problem, plan) : xpu_diags_status(diags);
}
