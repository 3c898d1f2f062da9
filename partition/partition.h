/*
 * Partition: which nodes a target takes, and in what pieces. It works from the targets' tables (core/target.h) alone.
 */
#ifndef XPU_PARTITION_PARTITION_H
#define XPU_PARTITION_PARTITION_H

#include "core/target.h"

/* One of the targets of a program. Nodes are offered to them in order; the last one makes the program, the others give
 * it portable C for what they take. */
typedef struct {
    const xpu_target *target;
    xpu_target_job *job; /* its own; the graph is that of all */
} xpu_offer;

/* A node that a target does not take, and one rule that it breaks. */
typedef struct {
    xpu_node node;
    const xpu_target *target;
    const char *rule; /* id: "conv-spatial-rank", or "target-operator" where no row of the table names the operator */
    const char *sentence; /* what would have to hold */
    const char *value;    /* what is there instead */
    const char *hint;     /* or NULL */
} xpu_refusal;

typedef struct {
    xpu_arena *arena;
    const xpu_offer *offers;
    uint32_t offer_count;
    XPU_ARRAY(xpu_refusal)
    refusals;             /* by target; in order of execution, all rules that a node breaks one after the
                           * other */
    uint32_t *refusal_of; /* offer * node_count + node id: index + 1 of its first refusal by that target */
    uint8_t *side;        /* by node id below node_count: the offer that takes it; offer_count: the host */
    uint32_t node_count;
    xpu_region *regions;
    uint32_t region_count;
} xpu_partition;

/* Applies the target's composite patterns in table order at each node, until none applies anywhere. *applied (may be
 * NULL) counts them. */
xpu_status xpu_partition_match(xpu_graph *graph, const xpu_target *target, uint32_t *applied, xpu_diags *diags);
/* The patterns of each target in turn, where no target before it takes one of the nodes as it is. */
xpu_status xpu_partition_match_all(const xpu_offer *offers, uint32_t count, xpu_diags *diags);
/* Whether the rules of a target hold for the node; of one that is not the last, also what portable C asks for. */
int xpu_partition_takes(const xpu_offer *offer, int is_last, xpu_node node);

/* Asks the support table about every node of the graph. Where the target has no host regions every refusal is an error
 * of status XPU_EMODEL, all at once. */
xpu_status xpu_partition_check(xpu_target_job *job, const xpu_target *target, xpu_partition *partition);
/* The same of several targets: a node goes to the first that takes it, and what none takes to the host, where the last
 * one has host regions. `offers` stay as long as the partition. */
xpu_status xpu_partition_check_all(const xpu_offer *offers, uint32_t count, xpu_partition *partition);

/* Orders the graph so that it changes sides as seldom as its dependences allow, and carves it: every maximal stretch of
 * nodes of one side is a region. Regions cover all nodes, are numbered in order of execution (node.region), and are
 * convex: what lies between two nodes of a region is in it. What another target than the last one takes becomes the
 * body of a node REGION. Sets job->regions; `job` is that of the last target. */
void xpu_partition_carve(xpu_target_job *job, xpu_partition *partition);

/* The regions again, after the target has added or removed nodes; nothing moves, new nodes are the target's own. */
void xpu_partition_update(xpu_target_job *job, xpu_partition *partition);

/* outline.c: each stretch of nodes of one block that a target before the last takes goes into a REGION of its own. */
void xpu_partition_outline(xpu_graph *graph, const xpu_partition *partition);

/* The first refusal of a node by the last target; NULL when some target takes it. */
const xpu_refusal *xpu_partition_refusal(const xpu_partition *partition, xpu_node node);
/* The first refusal of a node by target `offer` of the list; NULL: it was taken, or not offered. */
const xpu_refusal *xpu_partition_refusal_by(const xpu_partition *partition, uint32_t offer, xpu_node node);
/* "[rule] sentence; value" */
const char *xpu_refusal_text(const xpu_refusal *refusal, xpu_arena *arena);

#endif
