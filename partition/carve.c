/* Regions: maximal stretches of one side in an order of execution that changes sides as seldom as possible. */
#include "partition/partition.h"

static int on_host(const xpu_partition *partition, xpu_node node) {
    return xpu_partition_refusal(partition, node) != NULL;
}

/*
 * The stage of each node: even ones run on side `first`, odd ones on the other; a node's stage is the earliest that its
 * operands allow. Returns the number of stages.
 */
static uint32_t find_stages(const xpu_graph *graph, const xpu_partition *partition, int first, uint32_t *stage) {
    uint32_t most = 0;
    XPU_FOR_ALL_NODES(graph, node) {
        const xpu_node_info *info = xpu_node_at(graph, node);
        uint32_t least = 0;
        for (uint32_t i = 0; i < info->input_count; i++) {
            const xpu_value_info *value = xpu_value_at(graph, info->inputs[i]);
            if (!info->inputs[i].id || value->kind != XPU_VALUE_NODE) continue;
            if (stage[value->node.id] > least) least = stage[value->node.id];
        }
        int side = on_host(partition, node) == first ? 0 : 1;
        if ((int)(least & 1) != side) least++;
        stage[node.id] = least;
        if (least + 1 > most) most = least + 1;
    }
    return most;
}

/* Nodes in the order of their stages, and inside a stage in the order that they had. */
static void order_by_stage(xpu_graph *graph, const uint32_t *stage, uint32_t stages, xpu_arena *arena) {
    uint32_t *next_place = XPU_NEW_ARRAY(arena, uint32_t, stages + 1), count = 0;
    XPU_FOR_ALL_NODES(graph, node) {
        next_place[stage[node.id] + 1]++;
        count++;
    }
    for (uint32_t s = 0; s < stages; s++) next_place[s + 1] += next_place[s];
    xpu_node *order = XPU_NEW_ARRAY(arena, xpu_node, count);
    XPU_FOR_ALL_NODES(graph, node) order[next_place[stage[node.id]]++] = node;
    for (const xpu_node *node = order; node != order + count; node++) xpu_node_move_before(graph, *node, (xpu_node){0});
}

/* Bodies, or sizes that nodes make: what then depends on what is more than operands say. */
static int has_bodies(const xpu_graph *graph) {
    for (uint32_t i = 0; i < graph->dims.symbols.count; i++) {
        xpu_value value = graph->dims.symbols.items[i].value;
        if (value.id && xpu_value_at(graph, value)->kind != XPU_VALUE_INPUT) return 1;
    }
    XPU_FOR_ALL_NODES(graph, node) {
        if (xpu_node_at(graph, node)->block_count) return 1;
    }
    return 0;
}

/* Moves nodes only where both sides have some. Bodies of control flow keep everything in place. */
static void reorder(xpu_target_job *job, const xpu_partition *partition) {
    xpu_graph *graph = job->graph;
    if (!partition->refusals.count || has_bodies(graph)) return;
    xpu_arena *arena = xpu_arena_new(xpu_arena_mem(graph->arena), "partition");
    uint32_t *stages[2], counts[2];
    for (int first = 0; first < 2; first++) {
        stages[first] = XPU_NEW_ARRAY(arena, uint32_t, graph->nodes.count);
        counts[first] = find_stages(graph, partition, first, stages[first]);
    }
    int best = counts[1] < counts[0];
    order_by_stage(graph, stages[best], counts[best], arena);
    xpu_arena_free(arena);
}

static const char *reason_of(xpu_target_job *job, const xpu_partition *partition, const xpu_region *region) {
    const xpu_refusal *first = xpu_partition_refusal(partition, region->nodes[0]);
    const char *where = xpu_node_where(job->graph, first->node, job->arena);
    const char *reason =
        xpu_printf(job->arena, "%s: %s%s%s", where, first->sentence, first->value[0] ? "; " : "", first->value);
    if (region->node_count == 1) return reason;
    return xpu_printf(job->arena, "%s; and %u more", reason, region->node_count - 1);
}

void xpu_partition_update(xpu_target_job *job, xpu_partition *partition) {
    xpu_graph *graph = job->graph;
    uint32_t count = 0, regions = 0;
    int side = -1;
    XPU_FOR_ALL_NODES(graph, node) {
        regions += on_host(partition, node) != side;
        side = on_host(partition, node);
        count++;
    }
    xpu_node *nodes = XPU_NEW_ARRAY(job->arena, xpu_node, count);
    partition->regions = XPU_NEW_ARRAY(job->arena, xpu_region, regions);
    partition->region_count = 0;
    side = -1;
    count = 0;
    XPU_FOR_ALL_NODES(graph, node) {
        if (on_host(partition, node) != side) {
            side = on_host(partition, node);
            partition->regions[partition->region_count++] = (xpu_region){.on_host = side, .nodes = &nodes[count]};
        }
        nodes[count++] = node;
        partition->regions[partition->region_count - 1].node_count++;
        xpu_node_at(graph, node)->region = partition->region_count;
    }
    for (uint32_t i = 0; i < partition->region_count; i++) {
        xpu_region *region = &partition->regions[i];
        region->number = i + 1;
        if (!region->on_host) continue;
        region->reason = reason_of(job, partition, region);
        region->hint = xpu_partition_refusal(partition, region->nodes[0])->hint;
    }
    job->regions = partition->regions;
    job->region_count = partition->region_count;
}

void xpu_partition_carve(xpu_target_job *job, xpu_partition *partition) {
    reorder(job, partition);
    xpu_partition_update(job, partition);
}
