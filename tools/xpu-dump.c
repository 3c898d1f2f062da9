/* xpu-dump: what is in a dump folder, and how two of them differ. */
#include <fnmatch.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/json.h"
#include "tools/common/dump.h"
#include "tools/common/rules.h"
#include "tools/common/tool.h"
#include "tools/common/where.h"

static const xpu_option options[] = {
    {"tolerance", 't', "R[,M]",
     "elements a, b are equal when |a-b| <= R*|b| + M*max|b| (equal bits; M: R/100 where it is left out)"},
    {"all", 'a', NULL, "diff: every tensor that differs, not only the first; with -v all that is said of the first"},
    {"snr", 0, NULL, "diff: signal to noise in dB in each tensor's line"},
    {"tensor", 0, "GLOB", "diff: only tensors whose name, or whose layer's, matches"},
    {"heatmap", 0, "FILE.png", "diff: a picture of the first tensor that differs: how much, where", XPU_WRITES},
    {"json", 0, NULL, "diff: everything as JSON"},
    {NULL, 0, NULL, NULL},
};

static const xpu_command command = {
    .tool = "xpu-dump",
    .usage = "show DIR | diff A B [--tolerance=R[,M]] [options]",
    .about = "Shows a dump of layers, or finds the first layer in which two differ. A and B: folders that xpu-run "
             "--dump-layers made, or .npz files with tensors under their names in the model.",
    .example = "xpu-dump show dump-func\n"
               "xpu-dump diff dump-func dump-ref\n"
               "xpu-dump diff dump-func expected.npz --tolerance=1e-3\n"
               "xpu-dump diff dump-func dump-ref --tensor='conv*' --all --heatmap=conv.png",
    .options = options,
    .words = XPU_READS,
};

/* ---- show ---- */

static const char *number(xpu_arena *arena, double value) {
    return isnan(value) ? "-" : xpu_printf(arena, "%.6g", value);
}

static const char *count(xpu_arena *arena, int64_t value) {
    return value < 0 ? "-" : xpu_printf(arena, "%lld", (long long)value);
}

static int widest(const xpu_dump_list *list, int layers) {
    int width = 6;
    for (uint32_t i = 0; i < list->items.count; i++) {
        const char *name = layers ? list->items.items[i].layer : list->items.items[i].tensor;
        int length = name ? (int)strlen(name) : 0;
        if (length > width) width = length;
    }
    return width < 48 ? width : 48;
}

static void show_items(xpu_tool *tool, const xpu_dump_list *list, const xpu_dump_item *items, uint32_t n) {
    char shape[192];
    for (uint32_t i = 0; i < n; i++) {
        const xpu_dump_item *item = &items[i];
        const char *layer = item->layer ? item->layer : item->file ? "(input)" : "";
        xpu_dims_text(item->rank, item->dims, shape, sizeof shape);
        printf("%-4s  %-*s  %-*s  %-24s %12s %12s %5s %5s\n", item->layer ? count(tool->arena, item->index) : "",
               widest(list, 1), layer, widest(list, 0), item->tensor,
               xpu_printf(tool->arena, "%s%s", item->dtype, shape), number(tool->arena, item->min),
               number(tool->arena, item->max), count(tool->arena, item->nan), count(tool->arena, item->saturated));
    }
}

/* "fused into conv1", "not reached (layer conv2)" */
static const char *fate_text(xpu_arena *arena, const xpu_dump_fate *f) {
    if (!f->layer) return f->fate;
    return xpu_printf(arena, strcmp(f->fate, "fused") == 0 ? "%s into %s" : "%s (layer %s)", f->fate, f->layer);
}

/* Tensors of the model without a file of their own, one line for each fate. */
static void show_fates(xpu_arena *arena, const xpu_dump_list *list) {
    for (uint32_t i = 0; i < list->fates.count; i++) {
        const xpu_dump_fate *f = &list->fates.items[i];
        if (strcmp(f->fate, "dumped") == 0) continue;
        printf("%s %s\n", f->tensor, fate_text(arena, f));
    }
}

static int show(xpu_tool *tool) {
    xpu_dump_list list;
    const char *path = xpu_tool_word(tool, 1);
    if (xpu_tool_words(tool) != 2) {
        return xpu_tool_usage(tool, NULL, "show takes one folder",
                              xpu_printf(tool->arena, "%u given", xpu_tool_words(tool) - 1), "xpu-dump show DIR");
    }
    xpu_status status = xpu_dump_list_open(&list, tool->arena, path, &tool->diags);
    if (status != XPU_OK) return (int)status;
    printf("%-4s  %-*s  %-*s  %-24s %12s %12s %5s %5s\n", "#", widest(&list, 1), "layer", widest(&list, 0), "tensor",
           "shape", "min", "max", "NaN", "sat");
    show_items(tool, &list, list.inputs.items, list.inputs.count);
    show_items(tool, &list, list.items.items, list.items.count);
    show_fates(tool->arena, &list);
    if (tool->quiet) return XPU_OK;
    if (list.is_folder)
        printf("%s: %u tensor%s of %s on %s (chip %s, precision %s)%s%s\n", xpu_tool_path(tool, path), list.items.count,
               list.items.count == 1 ? "" : "s", list.source, list.device, list.chip, list.precision,
               list.incomplete ? "; incomplete: " : "", list.incomplete ? list.incomplete : "");
    else
        printf("%s: %u tensor%s\n", xpu_tool_path(tool, path), list.items.count, list.items.count == 1 ? "" : "s");
    return XPU_OK;
}

/* ---- diff ---- */

/* What is said of the pairs that differ. */
typedef struct {
    xpu_tool *tool;
    xpu_tolerance tolerance;
    int has_tolerance; /* it was given */
    const char *heatmap, *legend;
    json_t *list; /* --json: of the tensors that differ; else NULL */
    uint32_t seen;
    xpu_status status;
} report;

static const char *item_text(xpu_tool *tool, const xpu_dump_item *item) {
    return item->layer ? xpu_printf(tool->arena, "layer '%s' (#%lld), tensor '%s'", item->layer, (long long)item->index,
                                    item->tensor)
                       : xpu_printf(tool->arena, "tensor '%s'", item->tensor);
}

static void print_shapes(const xpu_tensor *a, const xpu_tensor *b) {
    char shape_a[192], shape_b[192];
    printf("%s%s against %s%s\n", xpu_dtype_name(a->dtype), xpu_dims_text(a->rank, a->dims, shape_a, sizeof shape_a),
           xpu_dtype_name(b->dtype), xpu_dims_text(b->rank, b->dims, shape_b, sizeof shape_b));
}

static void print_pair(const report *r, const xpu_dump_item *item, const xpu_where *where) {
    xpu_arena *arena = r->tool->arena;
    const xpu_comparison *c = &where->comparison;
    const xpu_tensor *a = where->pair.a, *b = where->pair.b;
    printf("%s%s: ", r->seen ? "" : "first difference: ", item_text(r->tool, item));
    if (!c->comparable) {
        print_shapes(a, b);
        return;
    }
    printf("%s", xpu_differing_text(arena, c));
    if (xpu_tool_flag(r->tool, "snr")) printf(", %s", xpu_snr_text(arena, c));
    printf("; first at %s: %s against %s\n", xpu_index_text(arena, a, c->first), xpu_element_text(arena, a, c->first),
           xpu_element_text(arena, b, c->first));
    int whole = c->differing > 1 && (!r->seen || r->tool->verbose);
    if (!r->tool->quiet) fputs(xpu_where_text(arena, where, whole), stdout);
}

static json_t *shape_json(xpu_arena *arena, json_t *object, const char *key, const xpu_tensor *tensor) {
    json_t *side = xpu_json_set(arena, object, key, json_object());
    xpu_json_set(arena, side, "dtype", json_string(xpu_dtype_name(tensor->dtype)));
    json_t *shape = xpu_json_set(arena, side, "shape", json_array());
    for (int i = 0; i < tensor->rank; i++) xpu_json_append(arena, shape, json_integer(tensor->dims[i]));
    return side;
}

static void list_pair(const report *r, const xpu_dump_item *item, const xpu_where *where) {
    xpu_arena *arena = r->tool->arena;
    json_t *entry = xpu_json_append(arena, r->list, json_object());
    if (item->layer) {
        xpu_json_set(arena, entry, "layer", json_string(item->layer));
        xpu_json_set(arena, entry, "index", json_integer(item->index));
    }
    xpu_json_set(arena, entry, "tensor", json_string(item->tensor));
    shape_json(arena, entry, "a", where->pair.a);
    shape_json(arena, entry, "b", where->pair.b);
    if (where->comparison.comparable) xpu_where_json(arena, where, entry);
}

static void on_pair(void *context, const xpu_dump_item *item, const xpu_tensor *a, const xpu_tensor *b,
                    const xpu_tolerance *tolerance, const xpu_comparison *c) {
    report *r = context;
    xpu_where where = {.pair = {.a = a, .b = b}, .comparison = *c};
    if (r->list || !r->seen || xpu_tool_flag(r->tool, "all")) {
        if (c->comparable) where = xpu_where_find(r->tool->arena, a, b, tolerance, c);
        if (r->list)
            list_pair(r, item, &where);
        else
            print_pair(r, item, &where);
    }
    if (r->heatmap && c->comparable && !r->legend && r->status == XPU_OK) {
        where = xpu_where_find(r->tool->arena, a, b, tolerance, c);
        r->status = xpu_heatmap_write(r->tool->arena, r->heatmap, &where, &r->legend, &r->tool->diags);
        if (r->status == XPU_OK) r->legend = xpu_printf(r->tool->arena, "tensor '%s', %s", item->tensor, r->legend);
    }
    r->seen++;
}

static int parse_tolerance(xpu_tool *tool, xpu_tolerance *tolerance) {
    const char *text = xpu_tool_option(tool, "tolerance");
    char *end = NULL;
    *tolerance = (xpu_tolerance){0, 0};
    if (!text) return XPU_OK;
    tolerance->relative = strtod(text, &end);
    tolerance->of_max = tolerance->relative / 100;
    int good = end != text;
    if (good && *end == ',') {
        const char *second = end + 1;
        tolerance->of_max = strtod(second, &end);
        good = end != second;
    }
    good = good && isfinite(tolerance->relative) && isfinite(tolerance->of_max);
    if (good && !*end && tolerance->relative >= 0 && tolerance->of_max >= 0) return XPU_OK;
    return xpu_tool_usage(tool, "option '--tolerance'", "this is not a tolerance",
                          xpu_printf(tool->arena, "'%s' is not R or R,M with numbers that are not negative",
                                     xpu_escape(tool->arena, text, 80)),
                          "for example --tolerance=1e-3");
}

/* Leaves the tensors of --tensor. */
static void choose(xpu_dump_list *list, const char *glob) {
    uint32_t kept = 0;
    for (uint32_t i = 0; glob && i < list->items.count; i++) {
        xpu_dump_item *item = &list->items.items[i];
        if (fnmatch(glob, item->tensor, 0) == 0 || (item->layer && fnmatch(glob, item->layer, 0) == 0))
            list->items.items[kept++] = *item;
    }
    if (glob) list->items.count = kept;
}

static int no_such_tensor(xpu_tool *tool, const char *glob, const xpu_dump_list *list) {
    const char **names = XPU_NEW_ARRAY(tool->arena, const char *, 2 * list->items.count + 1);
    uint32_t count = 0;
    for (uint32_t i = 0; i < list->items.count; i++) {
        names[count++] = list->items.items[i].tensor;
        if (list->items.items[i].layer) names[count++] = list->items.items[i].layer;
    }
    const char *near = xpu_nearest(glob, names), *hint = "xpu-dump show lists the names";
    for (uint32_t i = 0; i < list->fates.count; i++) {
        const xpu_dump_fate *f = &list->fates.items[i];
        if (strcmp(f->tensor, glob) == 0) hint = xpu_printf(tool->arena, "it was %s", fate_text(tool->arena, f));
    }
    if (near) hint = xpu_printf(tool->arena, "did you mean '%s'?", near);
    return xpu_tool_usage(tool, "option '--tensor'", "no tensor matches",
                          xpu_printf(tool->arena, "neither a tensor nor a layer of %s is '%s'", list->path,
                                     xpu_escape(tool->arena, glob, 200)),
                          hint);
}

static void finish_json(report *r, json_t *top, const xpu_dump_difference *d) {
    xpu_arena *arena = r->tool->arena;
    xpu_json_set(arena, top, "compared", json_integer(d->compared));
    xpu_json_set(arena, top, "differing", json_integer(d->differing));
    if (d->rounded) xpu_json_set(arena, top, "rounded", json_integer(d->rounded));
    xpu_json_set(arena, top, "only_a", json_integer(d->only_a));
    xpu_json_set(arena, top, "only_b", json_integer(d->only_b));
    xpu_json_set(arena, top, "tensors", json_incref(r->list));
    char *text = json_dumps(top, JSON_INDENT(2));
    if (!text) xpu_out_of_memory(xpu_arena_mem(arena));
    puts(text);
    free(text);
}

static int both_are(const xpu_dump_list *a, const xpu_dump_list *b, const char *hash_a, const char *hash_b) {
    return a->is_folder && b->is_folder && strcmp(hash_a, hash_b) == 0;
}

/* Says when the two are not of one program: that is no error, a model may be compared with a variant of itself. */
static void print_identity(const xpu_tool *tool, const xpu_dump_list *a, const xpu_dump_list *b) {
    for (int i = 0; i < 2; i++) {
        const xpu_dump_list *list = i ? b : a;
        if (list->incomplete) printf("%s is incomplete: %s\n", xpu_tool_path(tool, list->path), list->incomplete);
    }
    if (!a->is_folder || !b->is_folder || both_are(a, b, a->program_hash, b->program_hash)) return;
    if (!both_are(a, b, a->source_hash, b->source_hash)) {
        printf("note: A and B are of different models: '%s' (%.8s) against '%s' (%.8s)\n", a->source, a->source_hash,
               b->source, b->source_hash);
    } else if (!tool->quiet) {
        printf("note: A and B are of one model, compiled differently: chip %s, precision %s (%.8s) against chip %s, "
               "precision %s (%.8s)\n",
               a->chip, a->precision, a->program_hash, b->chip, b->precision, b->program_hash);
    }
}

static json_t *start_json(const xpu_tool *tool, const xpu_dump_list *a, const xpu_dump_list *b,
                          const xpu_tolerance *t) {
    xpu_arena *arena = tool->arena;
    json_t *top = xpu_json_own(arena, json_object());
    xpu_json_set(arena, top, "version", json_integer(1));
    xpu_json_set(arena, top, "a", json_string(xpu_tool_path(tool, a->path)));
    xpu_json_set(arena, top, "b", json_string(xpu_tool_path(tool, b->path)));
    if (a->is_folder && b->is_folder) {
        xpu_json_set(arena, top, "same_model", json_boolean(both_are(a, b, a->source_hash, b->source_hash)));
        xpu_json_set(arena, top, "same_program", json_boolean(both_are(a, b, a->program_hash, b->program_hash)));
    }
    xpu_json_set(arena, top, "relative", json_real(t->relative));
    xpu_json_set(arena, top, "of_max", json_real(t->of_max));
    return top;
}

static void print_end(const report *r, const xpu_dump_list *a, const xpu_dump_list *b, const xpu_dump_difference *d) {
    if (r->legend)
        printf("%s: %s\n", xpu_tool_path(r->tool, r->heatmap), r->legend);
    else if (r->heatmap)
        printf("%s is not written: %s\n", xpu_tool_path(r->tool, r->heatmap),
               d->differing ? "the shapes differ" : "nothing differs");
    if (d->only_a || d->only_b) printf("not compared: %u only in A, %u only in B\n", d->only_a, d->only_b);
    if (d->rounded)
        printf("%u tensor%s not equal in bits, but within the tolerance of C of another target\n", d->rounded,
               d->rounded == 1 ? " is" : "s are");
    printf("%u of %u tensors differ: %s against %s\n", d->differing, d->compared, xpu_tool_path(r->tool, a->path),
           xpu_tool_path(r->tool, b->path));
}

static int compare(xpu_tool *tool, report *r, const xpu_dump_list *a, const xpu_dump_list *b) {
    xpu_dump_difference d;
    json_t *top = NULL;
    if (xpu_tool_flag(tool, "json")) {
        top = start_json(tool, a, b, &r->tolerance);
        r->list = xpu_json_own(tool->arena, json_array());
    } else {
        print_identity(tool, a, b);
    }
    xpu_status status =
        xpu_dump_compare(a, b, r->has_tolerance ? &r->tolerance : NULL, on_pair, r, &d, tool->arena, &tool->diags);
    if (status == XPU_OK) status = r->status;
    if (status != XPU_OK) return (int)status;
    if (!d.compared) {
        return xpu_tool_usage(tool, NULL, "there is nothing to compare", "no tensor is in both, by name",
                              "xpu-dump show lists the names");
    }
    if (top)
        finish_json(r, top, &d);
    else if (!tool->quiet)
        print_end(r, a, b, &d);
    return d.differing ? XPU_EDIFF : XPU_OK;
}

static int diff(xpu_tool *tool) {
    xpu_dump_list a, b;
    report r = {
        .tool = tool, .heatmap = xpu_tool_option(tool, "heatmap"), .has_tolerance = xpu_tool_flag(tool, "tolerance")};
    const char *glob = xpu_tool_option(tool, "tensor"),
               *paths[] = {xpu_tool_word(tool, 1), xpu_tool_word(tool, 2), NULL};
    if (xpu_tool_words(tool) != 3) {
        return xpu_tool_usage(tool, NULL, "diff takes two folders or archives",
                              xpu_printf(tool->arena, "%u given", xpu_tool_words(tool) - 1), "xpu-dump diff A B");
    }
    const xpu_tool_output written = {"heatmap", r.heatmap};
    int bad = parse_tolerance(tool, &r.tolerance);
    if (!bad && r.heatmap && xpu_path_is_stream(r.heatmap) && xpu_tool_flag(tool, "json"))
        bad = xpu_tool_usage(tool, "option '--heatmap'", "two outputs go to standard output", "--json does, too",
                             "give the picture a file");
    if (!bad) bad = xpu_tool_check_outputs(tool, &written, 1, paths);
    if (!bad && r.heatmap) bad = (int)xpu_output_check(tool->arena, r.heatmap, &tool->diags);
    if (bad) return bad;
    xpu_status status = xpu_dump_list_open(&a, tool->arena, paths[0], &tool->diags);
    if (status == XPU_OK) status = xpu_dump_list_open(&b, tool->arena, paths[1], &tool->diags);
    if (status != XPU_OK) return (int)status;
    xpu_dump_list whole = a;
    choose(&a, glob);
    choose(&b, glob);
    return glob && !a.items.count && !b.items.count ? no_such_tensor(tool, glob, &whole) : compare(tool, &r, &a, &b);
}

#define OF_DIFF(option)                                                                                                \
    {option,                                                                                                           \
     XPU_NEEDS,                                                                                                        \
     "diff",                                                                                                           \
     "this is for xpu-dump diff",                                                                                      \
     "show compares nothing, it lists one dump",                                                                       \
     "leave it out, or write xpu-dump diff A B"}
static const xpu_option_rule rules[] = {
    OF_DIFF("tolerance"), OF_DIFF("all"),  OF_DIFF("snr"), OF_DIFF("tensor"),
    OF_DIFF("heatmap"),   OF_DIFF("json"), {NULL},
};

static int run(xpu_tool *tool) {
    const char *verb = xpu_tool_word(tool, 0);
    static const char *const verbs[] = {"show", "diff", NULL};
    if (!verb) {
        return xpu_tool_usage(tool, NULL, "there is nothing to do", "the command line has no command",
                              "xpu-dump show DIR, or xpu-dump diff A B");
    }
    if (strcmp(verb, "show") == 0) {
        int bad = xpu_tool_check_rules(tool, rules, (const char *const[]){verb, NULL});
        return bad ? bad : show(tool);
    }
    if (strcmp(verb, "diff") == 0) return diff(tool);
    const char *near = xpu_nearest(verb, verbs);
    return xpu_tool_usage(tool, xpu_printf(tool->arena, "'%s'", xpu_escape(tool->arena, verb, 80)), "unknown command",
                          "xpu-dump has the commands show and diff",
                          near ? xpu_printf(tool->arena, "did you mean %s?", near) : "xpu-dump --help explains them");
}

int main(int argc, char **argv) {
    return xpu_tool_main(&command, argc, argv, run);
}
