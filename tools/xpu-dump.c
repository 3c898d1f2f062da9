/* xpu-dump: what is in a dump folder, and how two of them differ. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "tools/common/dump.h"
#include "tools/common/tool.h"

static const xpu_option options[] = {
    {"tolerance", 't', "R[,M]",
     "elements a, b are equal when |a-b| <= R*|b| + M*max|b| (equal bits; M: R/100 where it is left out)"},
    {"all", 'a', NULL, "diff: list every tensor that differs, not only the first"},
    {"snr", 0, NULL, "diff: print the ratio of the values to the differences, too: signal to noise in dB"},
    {NULL, 0, NULL, NULL},
};

static const xpu_command command = {
    .tool = "xpu-dump",
    .usage = "show DIR | diff A B [--tolerance=R[,M]]",
    .about = "Shows a dump of layers, or finds the first layer in which two differ. A and B: folders that xpu-run "
             "--dump-layers made, or .npz files with tensors under their names in the model.",
    .example = "xpu-dump show dump-func\n"
               "xpu-dump diff dump-func dump-ref\n"
               "xpu-dump diff dump-func expected.npz --tolerance=1e-3",
    .options = options,
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

/* Tensors of the model without a file of their own, one line for each fate. */
static void show_fates(const xpu_dump_list *list) {
    for (uint32_t i = 0; i < list->fates.count; i++) {
        const xpu_dump_fate *f = &list->fates.items[i];
        if (strcmp(f->fate, "dumped") == 0) continue;
        printf("%s %s%s%s\n", f->tensor, f->fate, f->layer ? " into " : "", f->layer ? f->layer : "");
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
    show_fates(&list);
    if (tool->quiet) return XPU_OK;
    if (list.is_folder)
        printf("%s: %u tensor%s of %s on %s (chip %s, precision %s)\n", xpu_tool_path(tool, path), list.items.count,
               list.items.count == 1 ? "" : "s", list.source, list.device, list.chip, list.precision);
    else
        printf("%s: %u tensor%s\n", xpu_tool_path(tool, path), list.items.count, list.items.count == 1 ? "" : "s");
    return XPU_OK;
}

/* ---- diff ---- */

static const char *item_text(xpu_tool *tool, const xpu_dump_item *item) {
    return item->layer ? xpu_printf(tool->arena, "layer '%s' (#%lld), tensor '%s'", item->layer, (long long)item->index,
                                    item->tensor)
                       : xpu_printf(tool->arena, "tensor '%s'", item->tensor);
}

static void print_pair(xpu_tool *tool, const char *title, const xpu_dump_item *item, const xpu_tensor *a,
                       const xpu_tensor *b, const xpu_comparison *c) {
    char shape_a[192], shape_b[192];
    printf("%s%s: ", title, item_text(tool, item));
    if (!c->comparable) {
        printf("%s%s against %s%s\n", xpu_dtype_name(a->dtype),
               xpu_dims_text(a->rank, a->dims, shape_a, sizeof shape_a), xpu_dtype_name(b->dtype),
               xpu_dims_text(b->rank, b->dims, shape_b, sizeof shape_b));
        return;
    }
    printf("%s", xpu_differing_text(tool->arena, c));
    if (xpu_tool_flag(tool, "snr")) printf(", %s", xpu_snr_text(tool->arena, c));
    printf("; first at %s: %s against %s\n", xpu_index_text(tool->arena, a, c->first),
           xpu_element_text(tool->arena, a, c->first), xpu_element_text(tool->arena, b, c->first));
}

/* What is said of the pairs that differ. */
typedef struct {
    xpu_tool *tool;
    int all;
    uint32_t seen;
} report;

static void on_pair(void *context, const xpu_dump_item *item, const xpu_tensor *a, const xpu_tensor *b,
                    const xpu_comparison *c) {
    report *r = context;
    int first = r->seen++ == 0;
    if (first || r->all) print_pair(r->tool, first ? "first difference: " : "", item, a, b, c);
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

static int diff(xpu_tool *tool) {
    xpu_dump_list a, b;
    xpu_tolerance tolerance;
    xpu_dump_difference d;
    if (xpu_tool_words(tool) != 3) {
        return xpu_tool_usage(tool, NULL, "diff takes two folders or archives",
                              xpu_printf(tool->arena, "%u given", xpu_tool_words(tool) - 1), "xpu-dump diff A B");
    }
    int bad = parse_tolerance(tool, &tolerance);
    if (bad) return bad;
    xpu_status status = xpu_dump_list_open(&a, tool->arena, xpu_tool_word(tool, 1), &tool->diags);
    if (status == XPU_OK) status = xpu_dump_list_open(&b, tool->arena, xpu_tool_word(tool, 2), &tool->diags);
    if (status != XPU_OK) return (int)status;
    report r = {tool, xpu_tool_flag(tool, "all"), 0};
    status = xpu_dump_compare(&a, &b, &tolerance, on_pair, &r, &d, tool->arena, &tool->diags);
    if (status != XPU_OK) return (int)status;
    if (!d.compared) {
        return xpu_tool_usage(tool, NULL, "there is nothing to compare", "no tensor is in both, by name",
                              "xpu-dump show lists the names");
    }
    if (tool->quiet) return d.differing ? XPU_EDIFF : XPU_OK;
    if (d.only_a || d.only_b) printf("not compared: %u only in A, %u only in B\n", d.only_a, d.only_b);
    printf("%u of %u tensors differ: %s against %s\n", d.differing, d.compared, xpu_tool_path(tool, a.path),
           xpu_tool_path(tool, b.path));
    return d.differing ? XPU_EDIFF : XPU_OK;
}

static int run(xpu_tool *tool) {
    const char *verb = xpu_tool_word(tool, 0);
    static const char *const verbs[] = {"show", "diff", NULL};
    if (!verb) {
        return xpu_tool_usage(tool, NULL, "there is nothing to do", "the command line has no command",
                              "xpu-dump show DIR, or xpu-dump diff A B");
    }
    if (strcmp(verb, "show") == 0) return show(tool);
    if (strcmp(verb, "diff") == 0) return diff(tool);
    const char *near = xpu_nearest(verb, verbs);
    return xpu_tool_usage(tool, xpu_printf(tool->arena, "'%s'", xpu_escape(tool->arena, verb, 80)), "unknown command",
                          "xpu-dump has the commands show and diff",
                          near ? xpu_printf(tool->arena, "did you mean %s?", near) : "xpu-dump --help explains them");
}

int main(int argc, char **argv) {
    return xpu_tool_main(&command, argc, argv, run);
}
