/* --describe: which operators of a model the target takes. */
#include <string.h>

#include "xpuc/describe.h"

static int is_on_host(const xpu_pipeline *p, xpu_node node) {
    uint32_t region = xpu_node_at(p->graph, node)->region;
    return region && p->job.regions[region - 1].on_host;
}

static void add_host(xpu_pipeline *p, xpu_placement *placement, const char *op, const char *why) {
    for (uint32_t i = 0; i < placement->host.count; i++) {
        xpu_host_operators *entry = &placement->host.items[i];
        if (strcmp(entry->op, op) != 0) continue;
        entry->count++;
        return;
    }
    XPU_PUSH(p->arena, &placement->host, ((xpu_host_operators){op, 1, why}));
}

/* Operators of which a node is on the host, with the first rule that it breaks. */
static void count_host(xpu_pipeline *p, xpu_placement *placement) {
    uint8_t *seen = XPU_NEW_ARRAY(p->arena, uint8_t, p->graph->origins.count + 1);
    XPU_FOR_ALL_NODES(p->graph, node) {
        if (!is_on_host(p, node)) continue;
        const xpu_node_info *info = xpu_node_at(p->graph, node);
        const xpu_refusal *refusal = xpu_partition_refusal(&p->partition, node);
        for (uint32_t i = 0; i < info->origins.count; i++) {
            const xpu_origin *origin = &p->graph->origins.items[info->origins.items[i]];
            if (seen[info->origins.items[i]]++ || strcmp(origin->op, "Output") == 0) continue;
            add_host(p, placement, origin->op, refusal ? xpu_refusal_text(refusal, p->arena) : "");
        }
    }
}

int xpu_describe_placement(const xpu_pipeline *described, xpu_placement *placement) {
    const xpuc_options *given = described->wanted;
    xpuc_options *wanted = XPU_NEW(described->arena, xpuc_options);
    *wanted = (xpuc_options){.shapes = given->shapes,
                             .values = given->values,
                             .bounds = given->bounds,
                             .params = given->params,
                             .resources = given->resources};
    xpu_pipeline p = {.path = described->path, .wanted = wanted, .arena = described->arena};
    p.diags = xpu_diags_new(p.arena);
    p.report = xpu_json_own(p.arena, json_object());
    p.facts = xpu_json_set(p.arena, p.report, "program", json_object());
    if (xpu_check_options(&p) != XPU_OK || xpu_pipeline_place(&p) != XPU_OK) return 0;
    placement->target = p.target->name;
    count_host(&p, placement);
    return 1;
}
