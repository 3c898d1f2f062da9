#include "tools/memplan/view.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/json.h"
#include "memplan/file.h"
#include "tools/memplan/memplan.h"
#include "xpu_runtime/program/file.h"
#include "xpu_runtime/program/largest_shape.h"

typedef enum { IS_PROBLEM, IS_PROGRAM, IS_REPORT } source;

static int ends_with(const char *text, const char *end) {
    size_t length = strlen(text), wanted = strlen(end);
    return length > wanted && strcmp(text + length - wanted, end) == 0;
}

/* By what the file begins with and, of JSON, by a key that only a report has. */
static source source_of(xpu_tool *tool, const char *path) {
    char start[4] = "";
    FILE *file = fopen(path, "rb");
    size_t got = file ? fread(start, 1, sizeof start, file) : 0;
    if (file) fclose(file);
    if (got == sizeof start && memcmp(start, "\177ELF", 4) == 0) return IS_PROGRAM;
    if (!ends_with(path, ".json")) return ends_with(path, ".xpu") ? IS_PROGRAM : IS_PROBLEM;
    xpu_arena *scratch = xpu_arena_new(&tool->mem, "report");
    xpu_diags *diags = xpu_diags_new(scratch);
    int is_report = json_is_object(json_object_get(xpu_json_read(scratch, path, diags), "program"));
    xpu_arena_free(scratch);
    return is_report ? IS_REPORT : IS_PROBLEM;
}

int xpu_memplan_view_is_whole(xpu_tool *tool, const char *path) {
    return source_of(tool, path) != IS_PROBLEM;
}

/* ---- a compiled program ---- */

typedef struct {
    const xpu_program *program;
    xpu_chip chip;
} compiled;

static xpu_status make_problem(void *context, const int64_t *symbols, xpu_arena *arena, xpu_placement *placement,
                               xpu_diags *diags) {
    const compiled *c = context;
    return xpu_placement_problem(c->program, &c->chip, symbols, arena, placement, diags);
}

/* What is fetched ahead, as transfers between stays: each buffer stands in one level for life. */
static void show_transfers(xpu_tool *tool, const xpu_program *p, xpu_memplan_view *view) {
    const uint32_t buffers = view->problem.buffer_count;
    if (!p->transfers.count) return;
    xpu_memplan_moves *moves = XPU_NEW(tool->arena, xpu_memplan_moves);
    moves->stays = XPU_NEW_ARRAY(tool->arena, xpu_memplan_stay, buffers);
    moves->transfers = XPU_NEW_ARRAY(tool->arena, xpu_memplan_transfer, p->transfers.count);
    for (uint32_t i = 0; i < buffers; i++) {
        const xpu_memplan_buffer *b = &view->problem.buffers[i];
        moves->stays[i] = (xpu_memplan_stay){i, view->plan.places[i].level, b->first, b->last};
    }
    for (uint32_t i = 0; i < p->transfers.count; i++) {
        const xpu_program_transfer *from = &p->transfers.items[i];
        if (view->plan.places[from->buffer].level != XPU_LEVEL_L3) continue;
        xpu_memplan_transfer *last = moves->transfer_count ? &moves->transfers[moves->transfer_count - 1] : NULL;
        if (!last || last->target != from->buffer) {
            last = &moves->transfers[moves->transfer_count++];
            *last =
                (xpu_memplan_transfer){p->buffers.items[from->buffer].copy_of, from->buffer, from->layer, 0, NULL, 0};
        }
        last->end = from->layer;
    }
    moves->stay_count = buffers;
    moves->problem = view->problem;
    moves->plan = view->plan;
    view->whole = &moves->problem;
    view->moves = moves;
}

static int read_program(xpu_tool *tool, const char *path, xpu_memplan_view *view) {
    xpu_arena *arena = tool->arena;
    compiled c;
    xpu_placement placement;
    xpu_memplan *plan;
    const xpu_program_image *image = xpu_program_read(arena, path, &tool->diags);
    if (!image) return (int)xpu_diags_status(&tool->diags);
    c.program = &image->program;
    const char *json = c.program->chip_json;
    const int64_t *symbols = NULL;
    xpu_status status = xpu_chip_parse(arena, json, strlen(json), path, &c.chip, &tool->diags);
    if (status == XPU_OK && c.program->graph->dims.symbols.count) {
        xpu_largest_plan largest;
        const xpu_shape_search search = {c.program->graph, make_problem, &c, arena, &tool->diags};
        status = xpu_plan_largest(&search, &largest);
        symbols = largest.symbols;
    }
    if (status == XPU_OK) status = make_problem(&c, symbols, arena, &placement, &tool->diags);
    if (status == XPU_OK) status = xpu_placement_show(c.program, &placement, symbols, arena, &plan, &tool->diags);
    if (status != XPU_OK) return (int)status;
    view->problem = placement.problem;
    view->problem.file = path;
    view->plan = *plan;
    show_transfers(tool, c.program, view);
    return XPU_OK;
}

/* ---- a report ---- */

static int bad_report(xpu_tool *tool, const char *path, const char *where, const char *why) {
    return (int)xpu_error(&tool->diags, XPU_EUSAGE, path, "memplan-report", where,
                          "this report has no memory plan that can be shown", why,
                          "write it with xpuc MODEL --report=FILE.json");
}

static const char *text_of(xpu_tool *tool, const json_t *object, const char *key) {
    const char *text = json_string_value(json_object_get(object, key));
    return text ? xpu_strdup(tool->arena, text) : NULL;
}

/* A number of the report: not negative, at most `most`. 0 where it is none: *good becomes 0. */
static uint64_t number_of(const json_t *object, const char *key, uint64_t most, int *good) {
    const json_t *value = json_object_get(object, key);
    json_int_t number = json_is_integer(value) ? json_integer_value(value) : -1;
    if (number >= 0 && (uint64_t)number <= most) return (uint64_t)number;
    *good = 0;
    return 0;
}

static uint32_t level_of(const xpu_memplan_problem *problem, const char *name) {
    for (uint32_t i = 0; i < problem->level_count; i++) {
        if (name && strcmp(problem->levels[i].name, name) == 0) return i;
    }
    return XPU_MEMPLAN_NONE;
}

/* Buffers by name. */
typedef struct {
    const char *name;
    uint32_t number;
} named;

static int compare_named(const void *a, const void *b) {
    const named *x = a, *y = b;
    int order = strcmp(x->name, y->name);
    return order ? order : x->number < y->number ? -1 : x->number > y->number;
}

static const named *index_buffers(xpu_tool *tool, const xpu_memplan_problem *problem) {
    named *index = XPU_NEW_ARRAY(tool->arena, named, problem->buffer_count);
    for (uint32_t i = 0; i < problem->buffer_count; i++) index[i] = (named){problem->buffers[i].name, i};
    if (problem->buffer_count) qsort(index, problem->buffer_count, sizeof *index, compare_named);
    return index;
}

/* The first buffer of this name. */
static uint32_t buffer_of(const named *index, uint32_t count, const char *name) {
    uint32_t low = 0, high = count;
    while (name && low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (strcmp(index[middle].name, name) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return name && low < count && strcmp(index[low].name, name) == 0 ? index[low].number : XPU_MEMPLAN_NONE;
}

/* Whether the aliases of every buffer lead to one that is none; each is walked over once. */
static int chains_end(xpu_tool *tool, const xpu_memplan_place *places, uint32_t count) {
    uint32_t *walk = XPU_NEW_ARRAY(tool->arena, uint32_t, count);
    for (uint32_t i = 0; i < count; i++) {
        for (uint32_t at = i; at != XPU_MEMPLAN_NONE && walk[at] == 0; at = places[at].alias_of) walk[at] = i + 1;
    }
    for (uint32_t i = 0; i < count; i++) { /* a walk that came upon itself again is a circle */
        uint32_t of = places[i].alias_of;
        if (of != XPU_MEMPLAN_NONE && walk[of] == walk[i] && of == walk[i] - 1) return 0;
    }
    return 1;
}

static int report_levels(xpu_tool *tool, const json_t *memory, xpu_memplan_view *view) {
    const json_t *list = json_object_get(memory, "levels");
    size_t count = json_array_size(list);
    int good = count >= 1 && count <= XPU_MEMPLAN_MAX_LEVELS;
    xpu_memplan_level *levels = XPU_NEW_ARRAY(tool->arena, xpu_memplan_level, count);
    for (size_t i = 0; i < count && good; i++) {
        const json_t *from = json_array_get(list, i);
        levels[i].name = text_of(tool, from, "name");
        levels[i].bytes = number_of(from, "bytes", XPU_MEMPLAN_MAX_BYTES, &good);
        levels[i].reserved = number_of(from, "reserved", levels[i].bytes, &good);
        if (json_object_get(from, "alignment"))
            levels[i].alignment = (uint32_t)number_of(from, "alignment", XPU_MEMPLAN_MAX_ALIGNMENT, &good);
        good = good && levels[i].name && !(levels[i].alignment & (levels[i].alignment - 1));
    }
    view->problem.levels = levels;
    view->problem.level_count = (uint32_t)count;
    return good;
}

static int report_buffers(xpu_tool *tool, const json_t *memory, xpu_memplan_view *view) {
    const json_t *list = json_object_get(memory, "buffers");
    size_t count = json_array_size(list);
    int good = json_is_array(list) && count <= XPU_MEMPLAN_MAX_BUFFERS;
    if (!good) return 0;
    xpu_memplan_buffer *buffers = XPU_NEW_ARRAY(tool->arena, xpu_memplan_buffer, count);
    xpu_memplan_place *places = XPU_NEW_ARRAY(tool->arena, xpu_memplan_place, count);
    view->problem.buffers = buffers;
    view->problem.buffer_count = view->plan.buffer_count = (uint32_t)count;
    view->plan.places = places;
    for (size_t i = 0; i < count && good; i++) {
        const json_t *from = json_array_get(list, i);
        const char *kind = json_string_value(json_object_get(from, "kind"));
        uint32_t level = level_of(&view->problem, json_string_value(json_object_get(from, "level")));
        xpu_memplan_buffer *to = &buffers[i];
        to->name = text_of(tool, from, "name");
        good = to->name && kind && level != XPU_MEMPLAN_NONE;
        if (!good) break;
        for (int k = 0; k < XPU_MEMPLAN_KIND_COUNT; k++) {
            if (strcmp(kind, xpu_memplan_kind_name((xpu_memplan_kind)k)) == 0) to->kind = (xpu_memplan_kind)k;
        }
        uint64_t size = view->problem.levels[level].bytes;
        to->bytes = number_of(from, "bytes", XPU_MEMPLAN_MAX_BYTES, &good);
        to->last = (uint32_t)number_of(from, "last", XPU_MEMPLAN_MAX_STEP, &good);
        to->first = (uint32_t)number_of(from, "first", to->last, &good);
        to->levels[0] = (uint8_t)level;
        to->level_count = 1;
        places[i] =
            (xpu_memplan_place){level, number_of(from, "offset", size, &good), XPU_MEMPLAN_NONE, XPU_MEMPLAN_NONE};
        good = good && to->bytes <= size - places[i].offset;
    }
    return good;
}

static int report_aliases(xpu_tool *tool, const json_t *memory, const named *index, xpu_memplan_view *view) {
    const json_t *list = json_object_get(memory, "buffers");
    uint32_t count = view->problem.buffer_count;
    for (uint32_t i = 0; i < count; i++) {
        const char *of = json_string_value(json_object_get(json_array_get(list, i), "alias_of"));
        view->plan.places[i].alias_of = buffer_of(index, count, of);
        if (of && view->plan.places[i].alias_of == XPU_MEMPLAN_NONE) return 0;
    }
    return chains_end(tool, view->plan.places, count);
}

static int report_spills(xpu_tool *tool, const json_t *memory, const named *index, xpu_memplan_view *view) {
    const json_t *list = json_object_get(memory, "spills");
    size_t count = json_array_size(list);
    view->plan.spills = XPU_NEW_ARRAY(tool->arena, xpu_memplan_spill, count);
    xpu_memplan_buffer *buffers =
        xpu_copy(tool->arena, view->problem.buffers, view->problem.buffer_count * sizeof *view->problem.buffers);
    for (size_t i = 0; i < count; i++) {
        const json_t *from = json_array_get(list, i);
        xpu_memplan_spill *spill = &view->plan.spills[i];
        spill->buffer =
            buffer_of(index, view->problem.buffer_count, json_string_value(json_object_get(from, "buffer")));
        spill->preferred = level_of(&view->problem, json_string_value(json_object_get(from, "preferred")));
        spill->why = text_of(tool, from, "why");
        if (spill->buffer == XPU_MEMPLAN_NONE || spill->preferred == XPU_MEMPLAN_NONE || !spill->why) return 0;
        xpu_memplan_buffer *b = &buffers[spill->buffer];
        b->levels[1] = b->levels[0];
        b->levels[0] = (uint8_t)spill->preferred;
        b->level_count = 2;
    }
    view->plan.spill_count = (uint32_t)count;
    view->problem.buffers = buffers;
    return 1;
}

static int read_report(xpu_tool *tool, const char *path, xpu_memplan_view *view) {
    const json_t *top = xpu_json_read(tool->arena, path, &tool->diags);
    if (!top) return (int)xpu_diags_status(&tool->diags);
    const json_t *program = json_object_get(top, "program"), *memory = json_object_get(program, "memory");
    const json_t *layers = json_object_get(program, "layers");
    view->problem = (xpu_memplan_problem){.file = path};
    if (!memory) return bad_report(tool, path, "key 'program.memory'", "it is missing");
    if (!report_levels(tool, memory, view))
        return bad_report(tool, path, "key 'program.memory.levels'", "a level has no name, or no sizes that can be");
    if (!report_buffers(tool, memory, view))
        return bad_report(tool, path, "key 'program.memory.buffers'",
                          "a buffer is incomplete, or reaches out of its level");
    const named *index = index_buffers(tool, &view->problem);
    if (!report_aliases(tool, memory, index, view))
        return bad_report(tool, path, "key 'program.memory.buffers'", "an alias is of no buffer, or of itself");
    if (!report_spills(tool, memory, index, view))
        return bad_report(tool, path, "key 'program.memory.spills'", "a spill is incomplete");
    const char **names = XPU_NEW_ARRAY(tool->arena, const char *, json_array_size(layers));
    for (size_t i = 0; i < json_array_size(layers); i++) names[i] = text_of(tool, json_array_get(layers, i), "name");
    if (json_array_size(layers)) view->problem.step_names = names;
    view->problem.step_name_count = (uint32_t)json_array_size(layers);
    for (uint32_t i = 0; i < view->problem.step_name_count; i++) names[i] = names[i] ? names[i] : "";
    view->plan.level_count = view->problem.level_count;
    view->plan.usage = XPU_NEW_ARRAY(tool->arena, xpu_memplan_usage, view->plan.level_count);
    xpu_memplan_measure(tool->arena, &view->problem, view->plan.places, view->plan.usage);
    return XPU_OK;
}

int xpu_memplan_view_read(xpu_tool *tool, xpu_memplan_view *view) {
    const char *path = xpu_tool_word(tool, 1);
    uint64_t bytes;
    *view = (xpu_memplan_view){.words = 1};
    switch (source_of(tool, path)) {
    case IS_PROGRAM: return read_program(tool, path, view);
    case IS_REPORT: return read_report(tool, path, view);
    case IS_PROBLEM: break;
    }
    view->words = 2;
    int status = xpu_memplan_number(tool, "bytes", &bytes);
    if (!status) status = (int)xpu_memplan_read(tool->arena, path, bytes, &view->problem, &tool->diags);
    if (status) return status;
    if (!view->problem.timeline) return xpu_memplan_valid_plan(tool, &view->problem, &view->plan);
    xpu_memplan_moves *moves = XPU_NEW(tool->arena, xpu_memplan_moves);
    view->whole = xpu_copy(tool->arena, &view->problem, sizeof view->problem);
    status = xpu_memplan_valid_moves(tool, view->whole, moves);
    view->moves = moves;
    view->problem = moves->problem;
    view->plan = moves->plan;
    return status;
}
