#include "tools/common/replay.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/json.h"
#include "base/npy.h"
#include "tools/common/inputs.h"
#include "tools/common/profile.h"
#include "tools/common/where.h"

int xpu_replay_layers(xpu_tool *tool, const xpurt_program *program, uint32_t *count) {
    const char *pattern = xpu_tool_option(tool, "layer");
    xpurt_error error = {0};
    int64_t found = xpurt_find_layer(program, pattern, 0, 1, &error);
    int status = found < 0 ? xpu_tool_report(tool, error.status, error.text) : XPU_OK;
    xpurt_error_clear(&error);
    for (*count = 0; found >= 0; (*count)++) found = xpurt_find_layer(program, pattern, (uint32_t)found + 1, 1, NULL);
    return status;
}

/* What is known of the results of one layer, and of all before it. */
typedef struct {
    xpu_tool *tool;
    xpu_text text; /* of this layer: what differs */
    uint64_t differ;
    double tolerance;             /* of the layer */
    const char *heatmap, *legend; /* legend: NULL until the picture is written */
    int keep;
    XPU_ARRAY(xpu_named_tensor) kept; /* for --output */
    xpu_status status;
} results;

static void add_difference(results *r, const xpurt_tensor *result, const xpu_tensor *a, const xpu_tensor *b) {
    const xpu_tolerance tolerance = {r->tolerance, r->tolerance};
    xpu_arena *arena = r->tool->arena;
    xpu_comparison c = xpu_compare(a, b, &tolerance);
    if (!c.differing) return;
    xpu_where where = xpu_where_find(arena, a, b, &tolerance, &c);
    const char *name = xpu_escape(arena, result->name, 200);
    int whole = c.differing > 1 && (!r->differ || r->tool->verbose);
    xpu_text_add(&r->text, "tensor '%s': %s; first at %s: %s against %s\n", name, xpu_differing_text(arena, &c),
                 xpu_index_text(arena, a, c.first), xpu_element_text(arena, a, c.first),
                 xpu_element_text(arena, b, c.first));
    if (!r->tool->quiet) xpu_text_add(&r->text, "%s", xpu_where_text(arena, &where, whole));
    r->differ += (uint64_t)c.differing;
    if (!r->heatmap || r->legend || r->status != XPU_OK) return;
    r->status = xpu_heatmap_write(arena, r->heatmap, &where, &r->legend, &r->tool->diags);
    r->legend = xpu_printf(arena, "tensor '%s', %s", name, r->legend);
}

static void on_result(void *context, const xpurt_tensor *result, const xpurt_tensor *dumped) {
    results *r = context;
    xpu_tensor a = xpu_from_runtime(result), b = xpu_from_runtime(dumped);
    add_difference(r, result, &a, &b);
    if (!r->keep) return;
    xpu_named_tensor kept = {xpu_strdup(r->tool->arena, result->name), a};
    kept.tensor.data = xpu_copy(r->tool->arena, a.data, xpu_tensor_bytes(&a));
    XPU_PUSH(r->tool->arena, &r->kept, kept);
}

/* ", iteration 2,1," of a layer in loops; "" outside. */
static const char *iteration_of(xpu_tool *tool, const char *stats) {
    json_t *top = stats ? xpu_json_parse(tool->arena, stats, strlen(stats), "statistics", &tool->diags) : NULL;
    json_t *list = json_object_get(top, "iteration"), *number;
    const char *text = "";
    size_t i;
    json_array_foreach(list, i, number) {
        text =
            xpu_printf(tool->arena, "%s%s%lld", text, i ? "," : ", iteration ", (long long)json_integer_value(number));
    }
    return *text ? xpu_printf(tool->arena, "%s,", text) : text;
}

/* *ran: whether the run that was dumped ran the layer. */
static int run_one(xpu_tool *tool, const xpu_replays *replays, xpurt_run_options *run, results *r, int *ran) {
    xpurt_error error = {0};
    uint64_t before = r->differ;
    char *text = NULL;
    xpu_text_init(&r->text, tool->arena);
    run->stats = &text;
    *ran = 1;
    int status = xpurt_run(replays->program, NULL, 0, replays->outputs, run, &error);
    for (uint32_t i = 0; i < xpurt_output_count(replays->program); i++) xpurt_tensor_clear(&replays->outputs[i]);
    if (replays->after) replays->after(tool, replays->program, run);
    xpu_tool_report(tool, status, error.text);
    xpurt_error_clear(&error);
    const char *stats = text ? xpu_strdup(tool->arena, text) : NULL;
    free(text);
    if (status || r->status != XPU_OK) return status ? status : (int)r->status;
    if (!*ran) {
        const char *when = run->layer_iteration;
        if (!tool->quiet)
            printf("layer '%s' did not run in %s%s\n", xpu_escape(tool->arena, run->layer, 200),
                   when ? "this iteration of " : "", xpu_tool_path(tool, run->from_dump));
        return XPU_OK;
    }
    uint64_t differ = r->differ - before;
    int profile = xpu_tool_flag(tool, "profile");
    const char *result = r->tolerance > 0 ? xpu_printf(tool->arena, "within %g of", r->tolerance) : "equal to";
    if (differ)
        result = xpu_printf(tool->arena, "%llu element%s from", (unsigned long long)differ,
                            differ == 1 ? " differs" : "s differ");
    if (!tool->quiet || differ || profile)
        printf("layer '%s'%s on %s: %s %s; %s\n", xpu_escape(tool->arena, run->layer, 200), iteration_of(tool, stats),
               replays->device, result, xpu_tool_path(tool, run->from_dump), replays->done(tool, stats));
    if (differ) fputs(r->text.text, stdout);
    if (profile) xpu_profile_print(tool, stats);
    return XPU_OK;
}

static int finish(xpu_tool *tool, const results *r, const xpurt_run_options *run, uint32_t layers, uint32_t differing,
                  uint32_t not_run) {
    const char *output = xpu_tool_option(tool, "output");
    if (output && xpu_npz_write(tool->arena, output, r->kept.items, r->kept.count, &tool->diags) != XPU_OK)
        return XPU_EIO;
    if (!tool->quiet && r->heatmap)
        printf("%s%s%s\n", xpu_tool_path(tool, r->heatmap), r->legend ? ": " : " is not written: nothing differs",
               r->legend ? r->legend : "");
    const char *written[] = {output, run->dump_folder, run->stats_file, run->trace_file}, *separator = " -> ";
    if (tool->quiet || (layers == 1 && !not_run && !written[0] && !written[1] && !written[2] && !written[3]))
        return differing ? XPU_EDIFF : XPU_OK;
    printf("%u of %u layer%s differ%s", differing, layers, layers == 1 ? "" : "s", layers == 1 ? "s" : "");
    if (not_run) printf(", %u did not run", not_run);
    for (size_t i = 0; i < sizeof written / sizeof *written; i++) {
        if (written[i]) printf("%s%s", separator, xpu_tool_path(tool, written[i]));
        if (written[i]) separator = ", ";
    }
    putchar('\n');
    return differing ? XPU_EDIFF : XPU_OK;
}

int xpu_replay_run(xpu_tool *tool, const xpu_replays *replays, const xpurt_run_options *options) {
    results *r = XPU_NEW(tool->arena, results);
    *r = (results){.tool = tool, .heatmap = xpu_tool_option(tool, "heatmap"), .keep = xpu_tool_flag(tool, "output")};
    xpurt_run_options run = *options;
    uint32_t layers = 0, differing = 0, not_run = 0;
    int ran = 1;
    if (replays->layers > 1) run.layer_ran = &ran;
    run.layer_result = on_result;
    run.layer_context = r;
    run.layer_tolerance = &r->tolerance;
    const char *heatmap = r->heatmap;
    int status = heatmap ? (int)xpu_output_check(tool->arena, heatmap, &tool->diags) : XPU_OK;
    for (int64_t at = -1;
         !status && (at = xpurt_find_layer(replays->program, options->layer, (uint32_t)(at + 1), 1, NULL)) >= 0;) {
        uint64_t before = r->differ;
        run.layer = xpurt_layer_name(replays->program, (uint32_t)at);
        status = run_one(tool, replays, &run, r, &ran);
        layers += (uint32_t)ran;
        not_run += (uint32_t)!ran;
        differing += r->differ > before;
    }
    return status ? status : finish(tool, r, &run, layers, differing, not_run);
}
