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

enum { COLUMNS = 10 };

/* Columns that hold numbers are aligned to the right. */
static const struct {
    const char *title;
    int number;
} columns[COLUMNS] = {{"#", 1},     {"layer", 0}, {"unit", 0},    {"cycles", 1},        {"share", 1},
                      {"bound", 0}, {"array", 1}, {"busiest", 0}, {"tensor engine", 0}, {"core 0", 0}};

static void layer_row(xpu_tool *tool, const json_t *layer, long long total, const char **row) {
    xpu_arena *arena = tool->arena;
    long long cycles = count_of(layer, "cycles"), array = count_of(json_object_get(layer, "bounds"), "array");
    const json_t *units = json_object_get(layer, "units");
    row[0] = xpu_printf(arena, "%lld", count_of(layer, "index"));
    row[1] = json_string_value(json_object_get(layer, "name"));
    row[2] = json_string_value(json_object_get(layer, "unit"));
    row[3] = xpu_printf(arena, "%lld", cycles);
    row[4] = xpu_printf(arena, "%.1f %%", percent(cycles, total));
    row[5] = bound_text(tool, layer);
    row[6] = array ? xpu_printf(arena, "%.1f %%", percent(array, cycles)) : "";
    row[7] = busiest_text(tool, layer);
    row[8] = states_text(tool, units, "TENSOR", 3);
    row[9] = states_text(tool, units, "core 0", 3);
}

static void print_row(const char *const *row, const int *widths) {
    for (int i = 0; i + 1 < COLUMNS; i++) printf(columns[i].number ? "%*s  " : "%-*s  ", widths[i], row[i]);
    printf("%s\n", row[COLUMNS - 1]);
}

static void print_layers(xpu_tool *tool, const json_t *layers, long long total) {
    size_t count = json_array_size(layers);
    const char *(*rows)[COLUMNS] = xpu_alloc(tool->arena, (count + 2) * sizeof *rows);
    int widths[COLUMNS] = {0};
    for (int i = 0; i < COLUMNS; i++) rows[0][i] = columns[i].title;
    for (size_t k = 0; k < count; k++) layer_row(tool, json_array_get(layers, k), total, rows[k + 1]);
    for (int i = 0; i < COLUMNS; i++) rows[count + 1][i] = "";
    rows[count + 1][1] = "all";
    rows[count + 1][3] = xpu_printf(tool->arena, "%lld", total);
    for (size_t k = 0; k < count + 2; k++)
        for (int i = 0; i < COLUMNS; i++)
            if ((int)strlen(rows[k][i]) > widths[i]) widths[i] = (int)strlen(rows[k][i]);
    for (size_t k = 0; k < count + 2; k++) print_row(rows[k], widths);
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
    print_units(stats, total);
    printf("utilisation %.1f %% (at least %lld of %lld cycles are needed); %.1f %% of the cycles were skipped\n",
           100 * json_number_value(json_object_get(stats, "utilisation")), count_of(stats, "bound_cycles"), total,
           percent(total - (edges < total ? edges : total), total));
}
