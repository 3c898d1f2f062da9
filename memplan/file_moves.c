/* Time lines of problems, and plans with moves, as JSON. memplan/file.h says what the form is. */
#include <inttypes.h>
#include <string.h>

#include "memplan/file.h"
#include "memplan/reader.h"

static const int64_t MOST_CYCLES = (int64_t)XPU_MEMPLAN_MAX_CYCLES;

/* ---- time lines ---- */

static void read_step(const xpu_memplan_reader *r, json_t *value, const char *path, const char **name,
                      uint64_t *cycles) {
    xpu_json_object o;
    if (!xpu_json_open(&o, r->arena, value, r->file, path, r->diags)) return;
    *name = xpu_strdup(r->arena, xpu_json_string_or(&o, "name", ""));
    *cycles = (uint64_t)xpu_json_int(&o, "cycles", 0, MOST_CYCLES);
    xpu_json_done(&o);
}

/* "anew": {"cycles": 100, "operands": ["a", "b"]} */
static void read_anew(const xpu_memplan_reader *r, json_t *value, const char *path, const xpu_memplan_named *index,
                      const xpu_memplan_problem *problem, xpu_memplan_traffic *traffic) {
    xpu_json_object o;
    if (!xpu_json_open(&o, r->arena, value, r->file, path, r->diags)) return;
    traffic->anew_cycles = (uint64_t)xpu_json_int(&o, "cycles", 1, MOST_CYCLES);
    json_t *list = xpu_json_array(&o, "operands");
    xpu_json_done(&o);
    const uint32_t count = xpu_memplan_length(r, path, list, 64);
    uint32_t *operands = XPU_NEW_ARRAY(r->arena, uint32_t, count);
    for (uint32_t i = 0; i < count; i++) {
        const char *name = json_string_value(json_array_get(list, i));
        const uint32_t operand = xpu_memplan_buffer_named(r, index, problem, path, name ? name : "");
        if (operand != XPU_MEMPLAN_NONE) operands[traffic->operand_count++] = operand;
    }
    traffic->operands = operands;
}

static void read_traffic(const xpu_memplan_reader *r, json_t *buffer, const char *path, const xpu_memplan_named *index,
                         const xpu_memplan_problem *problem, xpu_memplan_traffic *traffic) {
    static const xpu_memplan_pair_form form = {"this is no use",
                                               "a use is a step, and the bytes that it moves, at most 2^44",
                                               "write [step, bytes]", (int64_t)XPU_MEMPLAN_MAX_BYTES};
    json_t *uses = json_object_get(buffer, "uses"), *home = json_object_get(buffer, "home");
    json_t *anew = json_object_get(buffer, "anew");
    const char *uses_path = xpu_printf(r->arena, "%s.uses", path);
    traffic->home = XPU_MEMPLAN_NONE;
    if (uses && !json_is_array(uses)) {
        xpu_error(r->diags, XPU_EUSAGE, r->file, "json-type", xpu_printf(r->arena, "key '%s'", uses_path),
                  "an array is expected", "it is a list of uses", form.hint);
        return;
    }
    const xpu_memplan_pair *pairs = xpu_memplan_read_pairs(r, uses, uses_path, &form, &traffic->use_count);
    xpu_memplan_use *made = XPU_NEW_ARRAY(r->arena, xpu_memplan_use, traffic->use_count);
    for (uint32_t i = 0; i < traffic->use_count; i++) made[i] = (xpu_memplan_use){pairs[i].step, pairs[i].value};
    traffic->uses = made;
    if (home) {
        const char *name = json_string_value(home);
        traffic->home = xpu_memplan_level_named(r, problem, xpu_printf(r->arena, "%s.home", path), name ? name : "");
    }
    if (anew) read_anew(r, anew, xpu_printf(r->arena, "%s.anew", path), index, problem, traffic);
}

void xpu_memplan_read_timeline(const xpu_memplan_reader *r, json_t *steps, json_t *buffers,
                               const xpu_memplan_named *index, xpu_memplan_problem *problem) {
    xpu_memplan_traffic *traffic = XPU_NEW_ARRAY(r->arena, xpu_memplan_traffic, steps ? problem->buffer_count : 0);
    for (uint32_t i = 0; i < problem->buffer_count; i++) {
        const char *path = xpu_printf(r->arena, "buffers[%" PRIu32 "]", i);
        json_t *buffer = json_array_get(buffers, i);
        if (steps) {
            read_traffic(r, buffer, path, index, problem, &traffic[i]);
        } else if (json_object_get(buffer, "uses") || json_object_get(buffer, "home") ||
                   json_object_get(buffer, "anew")) {
            xpu_error(r->diags, XPU_EUSAGE, r->file, "json-missing-key", "key 'steps'", "the key is missing",
                      xpu_printf(r->arena, "'%s' says when it is used", path),
                      "add \"steps\": [{\"cycles\": N}, ...], one for each step");
            return;
        }
    }
    if (!steps) return;
    const uint32_t count = xpu_memplan_length(r, "steps", steps, XPU_MEMPLAN_MAX_TIMELINE);
    const char **names = XPU_NEW_ARRAY(r->arena, const char *, count);
    uint64_t *cycles = XPU_NEW_ARRAY(r->arena, uint64_t, count);
    int named = 0;
    for (uint32_t i = 0; i < count; i++) {
        names[i] = "";
        read_step(r, json_array_get(steps, i), xpu_printf(r->arena, "steps[%" PRIu32 "]", i), &names[i], &cycles[i]);
        named |= *names[i] != '\0';
    }
    if (named) {
        problem->step_names = names;
        problem->step_name_count = count;
    }
    xpu_memplan_timeline *line = XPU_NEW(r->arena, xpu_memplan_timeline);
    *line = (xpu_memplan_timeline){cycles, count, traffic};
    problem->timeline = line;
}

/* ---- plans ---- */

static json_t *number(uint64_t value) {
    return json_integer((json_int_t)value);
}

xpu_status xpu_memplan_write_moves(xpu_arena *arena, const char *path, const xpu_memplan_problem *problem,
                                   const xpu_memplan_moves *moves, xpu_diags *diags) {
    json_t *root = xpu_json_own(arena, json_object());
    json_t *stays = xpu_json_set(arena, root, "stays", json_array());
    for (uint32_t i = 0; i < moves->stay_count; i++) {
        const xpu_memplan_stay *stay = &moves->stays[i];
        json_t *item = xpu_json_append(arena, stays, json_object());
        xpu_json_set(arena, item, "buffer", json_string(problem->buffers[stay->buffer].name));
        xpu_json_set(arena, item, "level", json_string(problem->levels[stay->level].name));
        xpu_json_set(arena, item, "from", number(stay->from));
        xpu_json_set(arena, item, "to", number(stay->to));
    }
    json_t *transfers = xpu_json_set(arena, root, "transfers", json_array());
    for (uint32_t i = 0; i < moves->transfer_count; i++) {
        const xpu_memplan_transfer *t = &moves->transfers[i];
        json_t *item = xpu_json_append(arena, transfers, json_object());
        if (t->source != XPU_MEMPLAN_NONE) xpu_json_set(arena, item, "source", number(t->source));
        xpu_json_set(arena, item, "target", number(t->target));
        xpu_json_set(arena, item, "begin", number(t->begin));
        xpu_json_set(arena, item, "end", number(t->end));
        json_t *shares = xpu_json_set(arena, item, "shares", json_array());
        for (uint32_t k = 0; k < t->share_count; k++) {
            json_t *pair = xpu_json_append(arena, shares, json_array());
            xpu_json_append(arena, pair, number(t->shares[k].step));
            xpu_json_append(arena, pair, number(t->shares[k].bytes));
        }
    }
    json_t *cycles = xpu_json_set(arena, root, "cycles", json_array());
    for (uint32_t i = 0; i < problem->timeline->step_count; i++)
        xpu_json_append(arena, cycles, number(moves->cycles[i]));
    xpu_json_set(arena, root, "last_bytes", number(moves->last_bytes));
    if (moves->still_cycles) {
        xpu_json_set(arena, root, "still_cycles", number(moves->still_cycles));
        xpu_json_set(arena, root, "still_bytes", number(moves->still_bytes));
    }
    json_t *of = xpu_memplan_plan_json(arena, &moves->problem, &moves->plan);
    if (json_object_update(root, of)) xpu_out_of_memory(xpu_arena_mem(arena));
    return xpu_json_write(arena, root, path, diags);
}

static void read_stay(const xpu_memplan_reader *r, json_t *value, const char *path, const xpu_memplan_named *index,
                      const xpu_memplan_problem *problem, xpu_memplan_stay *stay) {
    xpu_json_object o;
    if (!xpu_json_open(&o, r->arena, value, r->file, path, r->diags)) return;
    *stay = (xpu_memplan_stay){xpu_memplan_buffer_named(r, index, problem, path, xpu_json_string(&o, "buffer")),
                               xpu_memplan_level_named(r, problem, path, xpu_json_string(&o, "level")),
                               (uint32_t)xpu_json_int(&o, "from", 0, XPU_MEMPLAN_MAX_STEP),
                               (uint32_t)xpu_json_int(&o, "to", 0, XPU_MEMPLAN_MAX_STEP)};
    xpu_json_done(&o);
}

static void read_transfer(const xpu_memplan_reader *r, json_t *value, const char *path, uint32_t stays,
                          xpu_memplan_transfer *t) {
    static const xpu_memplan_pair_form form = {"this is no share", "a share is a step, and the bytes that move in it",
                                               "write [step, bytes]", (int64_t)XPU_MEMPLAN_MAX_BYTES};
    xpu_json_object o;
    if (!xpu_json_open(&o, r->arena, value, r->file, path, r->diags)) return;
    const int64_t source = xpu_json_int_or(&o, "source", 0, (int64_t)stays - 1, -1);
    *t = (xpu_memplan_transfer){.source = source < 0 ? XPU_MEMPLAN_NONE : (uint32_t)source,
                                .target = (uint32_t)xpu_json_int(&o, "target", 0, (int64_t)stays - 1),
                                .begin = (uint32_t)xpu_json_int(&o, "begin", 0, XPU_MEMPLAN_MAX_STEP),
                                .end = (uint32_t)xpu_json_int(&o, "end", 0, XPU_MEMPLAN_MAX_STEP)};
    json_t *list = xpu_json_array(&o, "shares");
    xpu_json_done(&o);
    const char *of_shares = xpu_printf(r->arena, "%s.shares", path);
    const xpu_memplan_pair *pairs = xpu_memplan_read_pairs(r, list, of_shares, &form, &t->share_count);
    xpu_memplan_use *shares = XPU_NEW_ARRAY(r->arena, xpu_memplan_use, t->share_count);
    for (uint32_t i = 0; i < t->share_count; i++) shares[i] = (xpu_memplan_use){pairs[i].step, pairs[i].value};
    t->shares = shares;
}

static void read_cycles(const xpu_memplan_reader *r, json_t *list, const xpu_memplan_problem *problem,
                        xpu_memplan_moves *moves) {
    const uint32_t count = xpu_memplan_length(r, "cycles", list, problem->timeline->step_count);
    moves->cycles = XPU_NEW_ARRAY(r->arena, uint64_t, problem->timeline->step_count);
    for (uint32_t i = 0; i < count; i++) {
        const json_int_t cycles = json_integer_value(json_array_get(list, i));
        moves->cycles[i] = cycles < 0 ? 0 : (uint64_t)cycles;
        moves->all_cycles += moves->cycles[i];
    }
}

xpu_status xpu_memplan_read_moves(xpu_arena *arena, const char *path, const xpu_memplan_problem *problem,
                                  xpu_memplan_moves *moves, xpu_diags *diags) {
    const xpu_memplan_reader r = {arena, path, diags};
    const size_t before = diags->errors;
    xpu_json_object o;
    *moves = (xpu_memplan_moves){.file = xpu_strdup(arena, path)};
    json_t *root = xpu_json_read(arena, path, diags);
    if (!root || !xpu_json_open(&o, arena, root, path, "", diags)) return xpu_diags_status(diags);
    json_t *stays = xpu_json_array(&o, "stays"), *transfers = xpu_json_array(&o, "transfers");
    json_t *cycles = xpu_json_array(&o, "cycles");
    moves->last_bytes = (uint64_t)xpu_json_int(&o, "last_bytes", 0, INT64_MAX);
    moves->still_cycles = (uint64_t)xpu_json_int_or(&o, "still_cycles", 0, INT64_MAX, 0);
    moves->still_bytes = (uint64_t)xpu_json_int_or(&o, "still_bytes", 0, INT64_MAX, 0);
    if (diags->errors != before) return XPU_EUSAGE;
    const xpu_memplan_named *index = xpu_memplan_index(&r, problem);
    moves->stay_count = xpu_memplan_length(&r, "stays", stays, XPU_MEMPLAN_MAX_BUFFERS);
    moves->stays = XPU_NEW_ARRAY(arena, xpu_memplan_stay, moves->stay_count);
    for (uint32_t i = 0; i < moves->stay_count; i++)
        read_stay(&r, json_array_get(stays, i), xpu_printf(arena, "stays[%" PRIu32 "]", i), index, problem,
                  &moves->stays[i]);
    moves->transfer_count = xpu_memplan_length(&r, "transfers", transfers, moves->stay_count);
    moves->transfers = XPU_NEW_ARRAY(arena, xpu_memplan_transfer, moves->transfer_count);
    for (uint32_t i = 0; i < moves->transfer_count; i++)
        read_transfer(&r, json_array_get(transfers, i), xpu_printf(arena, "transfers[%" PRIu32 "]", i),
                      moves->stay_count, &moves->transfers[i]);
    read_cycles(&r, cycles, problem, moves);
    if (diags->errors != before) return XPU_EUSAGE;
    moves->problem = xpu_memplan_problem_of_stays(arena, problem, moves);
    return xpu_memplan_plan_of_json(&r, root, 1, &moves->problem, &moves->plan);
}

/* ---- for people ---- */

static const xpu_memplan_transfer *transfer_to(const xpu_memplan_moves *moves, uint32_t stay) {
    uint32_t low = 0, high = moves->transfer_count;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (moves->transfers[middle].target < stay)
            low = middle + 1;
        else
            high = middle;
    }
    return low < moves->transfer_count && moves->transfers[low].target == stay ? &moves->transfers[low] : NULL;
}

char *xpu_memplan_arrival_text(xpu_arena *arena, const xpu_memplan_moves *moves, uint32_t stay) {
    const xpu_memplan_transfer *t = transfer_to(moves, stay);
    if (!t) return NULL;
    const xpu_memplan_life steps = {.first = t->begin, .last = t->end};
    const char *when = xpu_memplan_life_text(arena, &moves->problem, steps);
    if (t->source == XPU_MEMPLAN_NONE) return xpu_printf(arena, "is computed anew in %s", when);
    const char *from = moves->problem.levels[moves->stays[t->source].level].name;
    return xpu_printf(arena, "comes from %s in %s", xpu_escape(arena, from, 100), when);
}

char *xpu_memplan_moves_text(xpu_arena *arena, const xpu_memplan_problem *problem, const xpu_memplan_moves *moves) {
    xpu_text text;
    xpu_text_init(&text, arena);
    if (moves->cycles)
        xpu_text_add(&text, "%" PRIu64 " cycles, %" PRIu64 " bytes cross %s", moves->all_cycles, moves->last_bytes,
                     xpu_escape(arena, problem->levels[problem->level_count - 1].name, 100));
    if (moves->still_cycles)
        xpu_text_add(&text, "; without moves %" PRIu64 " and %" PRIu64, moves->still_cycles, moves->still_bytes);
    if (moves->cycles) xpu_text_add(&text, "\n");
    for (uint32_t i = 0; i < moves->transfer_count; i++) {
        const xpu_memplan_transfer *t = &moves->transfers[i];
        const xpu_memplan_stay *to = &moves->stays[t->target];
        const xpu_memplan_life steps = {.first = t->begin, .last = t->end};
        xpu_text_add(&text, "  %s: ", xpu_escape(arena, problem->buffers[to->buffer].name, 200));
        if (t->source == XPU_MEMPLAN_NONE)
            xpu_text_add(&text, "computed anew in %s", xpu_escape(arena, problem->levels[to->level].name, 100));
        else
            xpu_text_add(&text, "%s to %s", xpu_escape(arena, problem->levels[moves->stays[t->source].level].name, 100),
                         xpu_escape(arena, problem->levels[to->level].name, 100));
        xpu_text_add(&text, ", %s, there until %s\n", xpu_memplan_life_text(arena, problem, steps),
                     xpu_memplan_step(arena, problem, to->to));
    }
    return text.text;
}

json_t *xpu_memplan_moves_json(xpu_arena *arena, const xpu_memplan_problem *problem, const xpu_memplan_moves *moves) {
    json_t *root = xpu_json_own(arena, json_object());
    if (moves->cycles) xpu_json_set(arena, root, "cycles", number(moves->all_cycles));
    if (moves->cycles) xpu_json_set(arena, root, "last_bytes", number(moves->last_bytes));
    if (moves->still_cycles) {
        xpu_json_set(arena, root, "still_cycles", number(moves->still_cycles));
        xpu_json_set(arena, root, "still_bytes", number(moves->still_bytes));
    }
    json_t *list = xpu_json_set(arena, root, "transfers", json_array());
    for (uint32_t i = 0; i < moves->transfer_count; i++) {
        const xpu_memplan_transfer *t = &moves->transfers[i];
        const xpu_memplan_stay *to = &moves->stays[t->target];
        const char *source = t->source == XPU_MEMPLAN_NONE ? NULL : problem->levels[moves->stays[t->source].level].name;
        json_t *item = xpu_json_append(arena, list, json_object());
        xpu_json_set(arena, item, "buffer", json_string(xpu_escape(arena, problem->buffers[to->buffer].name, 200)));
        xpu_json_set(arena, item, "source", source ? json_string(source) : json_null());
        xpu_json_set(arena, item, "target", json_string(problem->levels[to->level].name));
        xpu_json_set(arena, item, "begin", number(t->begin));
        xpu_json_set(arena, item, "end", number(t->end));
        xpu_json_set(arena, item, "until", number(to->to));
        xpu_json_set(arena, item, "bytes", number(problem->buffers[to->buffer].bytes));
    }
    json_t *steps = moves->cycles ? xpu_json_set(arena, root, "steps", json_array()) : NULL;
    for (uint32_t i = 0; steps && i < problem->timeline->step_count; i++)
        xpu_json_append(arena, steps, number(moves->cycles[i]));
    return root;
}
