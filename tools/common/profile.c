#include "tools/common/profile.h"

#include <stdio.h>
#include <string.h>

#include "base/json.h"

static long long count_of(const json_t *object, const char *key) {
    return json_integer_value(json_object_get(object, key));
}

static double percent(long long part, long long whole) {
    return whole > 0 ? 100.0 * (double)part / (double)whole : 0;
}

/* "array 78 %": what needs most of the cycles at least; "" where nothing is known. */
static const char *bound_text(xpu_tool *tool, const json_t *layer) {
    const char *key, *most = NULL;
    json_t *value, *bounds = json_object_get(layer, "bounds");
    long long cycles = count_of(layer, "cycles");
    json_object_foreach(bounds, key, value) {
        if (!most || json_integer_value(value) > count_of(bounds, most)) most = key;
    }
    return most ? xpu_printf(tool->arena, "%s %.0f %%", most, percent(count_of(bounds, most), cycles)) : "-";
}

/* "TENSOR 85 %": the unit that works in most cycles. */
static const char *busiest_text(xpu_tool *tool, const json_t *layer) {
    const char *key, *name = "-";
    json_t *states, *units = json_object_get(layer, "units");
    long long cycles = count_of(layer, "cycles"), most = 0;
    json_object_foreach(units, key, states) {
        if (count_of(states, "busy") <= most) continue;
        most = count_of(states, "busy");
        name = key;
    }
    return most ? xpu_printf(tool->arena, "%s %.0f %%", name, percent(most, cycles)) : name;
}

/* The largest `most` states of a unit: "busy 85 %, weight load 10 %". */
static const char *states_text(xpu_tool *tool, const json_t *units, const char *unit, int most) {
    json_t *states = json_object_get(units, unit), *value;
    const char *key;
    long long sum = 0, below = -1;
    xpu_text text;
    xpu_text_init(&text, tool->arena);
    json_object_foreach(states, key, value) sum += json_integer_value(value);
    for (int i = 0; i < most && sum; i++) {
        const char *best = NULL;
        json_object_foreach(states, key, value) {
            long long count = json_integer_value(value);
            int smaller = below < 0 || count < below;
            if (smaller && (!best || count > count_of(states, best))) best = key;
        }
        if (!best || percent(count_of(states, best), sum) < 0.5) break;
        below = count_of(states, best);
        xpu_text_add(&text, "%s%s %.0f %%", i ? ", " : "", best, percent(below, sum));
    }
    return text.length ? text.text : "-";
}

enum { COLUMNS = 12 };

/* Columns that hold numbers are aligned to the right. */
static const struct {
    const char *title;
    int number, of_loops; /* of_loops: where a layer is in one */
} columns[COLUMNS] = {{"#", 1, 0},      {"layer", 0, 0},   {"unit", 0, 0},          {"runs", 1, 1},
                      {"cycles", 1, 0}, {"share", 1, 0},   {"each", 0, 1},          {"bound", 0, 0},
                      {"array", 1, 0},  {"busiest", 0, 0}, {"tensor engine", 0, 0}, {"core 0", 0, 0}};

typedef struct {
    const char *text[COLUMNS];
} row;

typedef struct {
    xpu_tool *tool;
    long long total;
    int has_loops, has_iterations; /* a layer is in one; one iteration of it has a row */
    XPU_ARRAY(row) rows;
} table;

/* ".i0002.i0001" */
static const char *iteration_text(xpu_tool *tool, const json_t *list) {
    const char *text = "";
    const json_t *number;
    size_t i;
    json_array_foreach(list, i, number) {
        text = xpu_printf(tool->arena, "%s.i%04lld", text, (long long)json_integer_value(number));
    }
    return text;
}

/* "4165", or "3012..4801 (.i0008), mean 3906.5": the least, the most and in which iteration. */
static const char *each_text(xpu_tool *tool, const json_t *layer) {
    const json_t *cycles = json_object_get(json_object_get(layer, "per_execution"), "cycles");
    long long least = count_of(cycles, "min"), most = count_of(cycles, "max");
    if (!cycles) return "";
    if (least == most) return xpu_printf(tool->arena, "%lld", least);
    return xpu_printf(tool->arena, "%lld..%lld (%s), mean %.1f", least, most,
                      iteration_text(tool, json_object_get(cycles, "max_at")),
                      json_number_value(json_object_get(cycles, "mean")));
}

/* What a layer, or one iteration of it, has: cycles and where they went. */
static row *add_times(table *t, const json_t *times) {
    xpu_arena *arena = t->tool->arena;
    const json_t *units = json_object_get(times, "units");
    long long cycles = count_of(times, "cycles"), array = count_of(json_object_get(times, "bounds"), "array");
    const row r = {{"", "", "", "", xpu_printf(arena, "%lld", cycles),
                    xpu_printf(arena, "%.1f %%", percent(cycles, t->total)), "", bound_text(t->tool, times),
                    array ? xpu_printf(arena, "%.1f %%", percent(array, cycles)) : "", busiest_text(t->tool, times),
                    states_text(t->tool, units, "TENSOR", 3), states_text(t->tool, units, "core 0", 3)}};
    XPU_PUSH(arena, &t->rows, r);
    return &t->rows.items[t->rows.count - 1];
}

static void add_layer(table *t, const json_t *layer) {
    xpu_arena *arena = t->tool->arena;
    const json_t *iteration;
    size_t i;
    row *r = add_times(t, layer);
    r->text[0] = xpu_printf(arena, "%lld", count_of(layer, "index"));
    r->text[1] = json_string_value(json_object_get(layer, "name"));
    r->text[2] = json_string_value(json_object_get(layer, "unit"));
    r->text[3] = xpu_printf(arena, "%lld", count_of(layer, "executions"));
    r->text[6] = each_text(t->tool, layer);
    json_array_foreach(json_object_get(layer, "iterations"), i, iteration) {
        t->has_iterations = 1;
        add_times(t, iteration)->text[1] =
            xpu_printf(arena, "  %s", iteration_text(t->tool, json_object_get(iteration, "iteration")));
    }
}

static void print_row(const table *t, const row *r, const int *widths) {
    for (int i = 0; i + 1 < COLUMNS; i++) {
        if (columns[i].of_loops && !t->has_loops) continue;
        printf(columns[i].number ? "%*s  " : "%-*s  ", widths[i], r->text[i]);
    }
    printf("%s\n", r->text[COLUMNS - 1]);
}

static void print_layers(xpu_tool *tool, const json_t *layers, long long total) {
    table t = {.tool = tool, .total = total};
    int widths[COLUMNS] = {0};
    row titles, all = {{"", "all", "", "", xpu_printf(tool->arena, "%lld", total), "", "", "", "", "", "", ""}};
    const json_t *layer;
    size_t k;
    for (int i = 0; i < COLUMNS; i++) titles.text[i] = columns[i].title;
    XPU_PUSH(tool->arena, &t.rows, titles);
    json_array_foreach(layers, k, layer) {
        t.has_loops |= json_object_get(layer, "per_execution") != NULL;
        add_layer(&t, layer);
    }
    XPU_PUSH(tool->arena, &t.rows, all);
    for (uint32_t r = 0; r < t.rows.count; r++)
        for (int i = 0; i < COLUMNS; i++)
            if ((int)strlen(t.rows.items[r].text[i]) > widths[i]) widths[i] = (int)strlen(t.rows.items[r].text[i]);
    for (uint32_t r = 0; r < t.rows.count; r++) print_row(&t, &t.rows.items[r], widths);
    const char *asked = xpu_tool_option(tool, "iteration");
    if (asked && !t.has_iterations)
        printf("no layer ran in iteration %s of a loop\n", xpu_escape_message(tool->arena, asked, 80));
}

/* Where the cycles of each unit went in the whole run. */
static void print_units(const json_t *stats, long long total) {
    const char *unit, *state;
    json_t *states, *value;
    json_object_foreach(json_object_get(stats, "units"), unit, states) {
        const char *separator = "";
        printf("%-8s", unit);
        json_object_foreach(states, state, value) {
            printf("%s %s %.1f %%", separator, state, percent(json_integer_value(value), total));
            separator = ",";
        }
        putchar('\n');
    }
}

void xpu_profile_print(xpu_tool *tool, const char *text) {
    json_t *stats = text ? xpu_json_parse(tool->arena, text, strlen(text), "statistics", &tool->diags) : NULL;
    long long total = count_of(stats, "cycles"), edges = count_of(stats, "edges");
    if (!total) return;
    print_layers(tool, json_object_get(stats, "layers"), total);
    if (json_object_get(stats, "iterations_left_out"))
        printf("%lld more executions in these iterations have no line: name fewer with --iteration\n",
               count_of(stats, "iterations_left_out"));
    print_units(stats, total);
    printf("utilisation %.1f %% (at least %lld of %lld cycles are needed); %.1f %% of the cycles were skipped\n",
           100 * json_number_value(json_object_get(stats, "utilisation")), count_of(stats, "bound_cycles"), total,
           percent(total - (edges < total ? edges : total), total));
}
