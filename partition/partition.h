/*
 * Partition: which nodes a target takes, and in what pieces. It works from the target's table (core/target.h) alone.
 */
#ifndef XPU_PARTITION_PARTITION_H
#define XPU_PARTITION_PARTITION_H

#include "core/target.h"

/* A node that the target does not take, and one rule that it breaks. */
typedef struct {
    xpu_node node;
    const char *rule; /* id: "conv-spatial-rank", or "target-operator" where no row of the table names the operator */
    const char *sentence; /* what would have to hold */
    const char *value;    /* what is there instead */
    const char *hint;     /* or NULL */
} xpu_refusal;

typedef struct {
    xpu_arena *arena;
    XPU_ARRAY(xpu_refusal) refusals; /* in order of execution, all rules that a node breaks one after the other */
    const uint32_t
        *refusal_of; /* by node id below node_count: index + 1 of its first refusal; 0: the target takes it */
    uint32_t node_count;
    xpu_region *regions;
    uint32_t region_count;
} xpu_partition;

/* Applies the target's composite patterns in table order at each node, until none applies anywhere. *applied (may be
 * NULL) counts them. */
xpu_status xpu_partition_match(xpu_graph *graph, const xpu_target *target, uint32_t *applied, xpu_diags *diags);

/* Asks the support table about every node of the graph. Where the target has no host regions every refusal is an error
 * of status XPU_EMODEL, all at once. */
xpu_status xpu_partition_check(xpu_target_job *job, const xpu_target *target, xpu_partition *partition);

/* Orders the graph so that it changes sides as seldom as its dependences allow, and carves it: every maximal stretch of
 * nodes of one side is a region. Regions cover all nodes, are numbered in order of execution (node.region), and are
 * convex: what lies between two nodes of a region is in it. Sets job->regions. */
void xpu_partition_carve(xpu_target_job *job, xpu_partition *partition);

/* The regions again, after the target has added or removed nodes; nothing moves, new nodes are the target's own. */
void xpu_partition_update(xpu_target_job *job, xpu_partition *partition);

/* The first refusal of a node; NULL when the target takes it. */
const xpu_refusal *xpu_partition_refusal(const xpu_partition *partition, xpu_node node);

#endif
