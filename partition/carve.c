/* Regions: maximal stretches of one side in an order of execution that changes sides as seldom as possible. */
#include "partition/partition.h"

/* Which side a node is on: the place of its target in the list, behind these the host. What the target has added is the
 * last one's; a REGION is where its nodes are. */
static uint32_t side_of(const xpu_graph *graph, const xpu_partition *partition, xpu_node node) {
    if (xpu_node_is(graph, node, XPU_OP_REGION)) node = xpu_block_at(graph, xpu_node_at(graph, node)->blocks[0])->first;
    return node.id < partition->node_count ? partition->side[node.id] : partition->offer_count - 1;
}

static uint32_t sides_of(const xpu_partition *partition) {
    return partition->offer_count + 1;
}

/*
 * The stage of each node: stages go round the sides, from side `first` on; a node's stage is the earliest that its
 * operands allow. Returns the number of stages that have nodes.
 */
static uint32_t find_stages(const xpu_graph *graph, const xpu_partition *partition, uint32_t first, uint32_t *stage,
                            uint32_t *most) {
    const uint32_t sides = sides_of(partition);
    *most = 0;
    XPU_FOR_ALL_NODES(graph, node) {
        const xpu_node_info *info = xpu_node_at(graph, node);
        uint32_t least = 0;
        for (uint32_t i = 0; i < info->input_count; i++) {
            const xpu_value_info *value = xpu_value_at(graph, info->inputs[i]);
            if (!info->inputs[i].id || value->kind != XPU_VALUE_NODE) continue;
            if (stage[value->node.id] > least) least = stage[value->node.id];
        }
        while ((first + least) % sides != side_of(graph, partition, node)) least++;
        stage[node.id] = least;
        if (least + 1 > *most) *most = least + 1;
    }
    xpu_arena *arena = xpu_arena_new(xpu_arena_mem(graph->arena), "stages");
    uint8_t *is_used = XPU_NEW_ARRAY(arena, uint8_t, *most + 1);
    uint32_t used = 0;
    XPU_FOR_ALL_NODES(graph, node) {
        used += !is_used[stage[node.id]];
        is_used[stage[node.id]] = 1;
    }
    xpu_arena_free(arena);
    return used;
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

/* Moves nodes only where several sides have some. Bodies of control flow keep everything in place. */
static void reorder(xpu_target_job *job, const xpu_partition *partition) {
    xpu_graph *graph = job->graph;
    if (!partition->refusals.count || has_bodies(graph)) return;
    xpu_arena *arena = xpu_arena_new(xpu_arena_mem(graph->arena), "partition");
    const uint32_t sides = sides_of(partition);
    uint32_t *best = NULL, best_count = UINT32_MAX, best_most = 0;
    for (uint32_t i = 0; i < sides; i++) { /* the last target's side first, then the others from the host on down */
        uint32_t first = (2 * sides - 2 - i) % sides, most;
        uint32_t *stages = XPU_NEW_ARRAY(arena, uint32_t, graph->nodes.count);
        uint32_t count = find_stages(graph, partition, first, stages, &most);
        if (count >= best_count) continue;
        best = stages;
        best_count = count;
        best_most = most;
    }
    order_by_stage(graph, best, best_most, arena);
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

/* Walks the nodes in order: which ones begin a region, and which are part of one; a REGION itself is no node of it. */
typedef struct {
    const xpu_graph *graph;
    const xpu_partition *partition;
    uint32_t side; /* UINT32_MAX: of none yet */
} walk;

static int begins_region(walk *w, xpu_node node) {
    uint32_t side = side_of(w->graph, w->partition, node);
    int begins = side != w->side || xpu_node_is(w->graph, node, XPU_OP_REGION);
    w->side = side;
    return begins;
}

static void count_regions(const xpu_graph *graph, const xpu_partition *partition, uint32_t *nodes, uint32_t *regions) {
    walk w = {graph, partition, UINT32_MAX};
    *nodes = *regions = 0;
    XPU_FOR_ALL_NODES(graph, node) {
        *regions += (uint32_t)begins_region(&w, node);
        ++*nodes;
    }
}

void xpu_partition_update(xpu_target_job *job, xpu_partition *partition) {
    xpu_graph *graph = job->graph;
    uint32_t count, regions;
    count_regions(graph, partition, &count, &regions);
    xpu_node *nodes = XPU_NEW_ARRAY(job->arena, xpu_node, count);
    partition->regions = XPU_NEW_ARRAY(job->arena, xpu_region, regions);
    partition->region_count = 0;
    walk w = {graph, partition, UINT32_MAX};
    count = 0;
    XPU_FOR_ALL_NODES(graph, node) {
        int is_call = xpu_node_is(graph, node, XPU_OP_REGION);
        if (begins_region(&w, node)) {
            int on_host = w.side == partition->offer_count;
            xpu_region region = {.on_host = on_host, .nodes = &nodes[count]};
            if (!on_host) region.target = partition->offers[w.side].target;
            if (is_call) region.call = node;
            partition->regions[partition->region_count++] = region;
        }
        xpu_node_at(graph, node)->region = partition->region_count;
        if (is_call) continue;
        nodes[count++] = node;
        partition->regions[partition->region_count - 1].node_count++;
    }
    for (uint32_t i = 0; i < partition->region_count; i++) {
        xpu_region *region = &partition->regions[i];
        region->number = i + 1;
        if (!region->on_host) continue;
        region->reason = reason_of(job, partition, region);
        region->hint = xpu_partition_refusal(partition, region->nodes[0])->hint;
    }
    for (uint32_t i = 0; i < partition->offer_count; i++) {
        partition->offers[i].job->regions = partition->regions;
        partition->offers[i].job->region_count = partition->region_count;
    }
}

void xpu_partition_carve(xpu_target_job *job, xpu_partition *partition) {
    reorder(job, partition);
    if (partition->offer_count > 1) xpu_partition_outline(job->graph, partition);
    xpu_partition_update(job, partition);
}
