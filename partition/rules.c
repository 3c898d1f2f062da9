/* The rule engine: the target's support table against every node. */
#include "partition/partition.h"

static const xpu_support *support_of(const xpu_target *target, const xpu_op *op) {
    for (const xpu_support *row = target->support; row && row->lowering; row++) {
        if (xpu_op_of(row->op) == op) return row;
    }
    return NULL;
}

static void refuse(xpu_partition *partition, uint32_t *refusal_of, const xpu_refusal *refusal) {
    XPU_PUSH(partition->arena, &partition->refusals, *refusal);
    if (!refusal_of[refusal->node.id]) refusal_of[refusal->node.id] = partition->refusals.count;
}

static void check_node(const xpu_target_job *job, const xpu_target *target, xpu_node node, xpu_partition *partition,
                       uint32_t *refusal_of) {
    const xpu_op *op = xpu_node_at(job->graph, node)->op;
    const xpu_support *row = support_of(target, op);
    if (!row) {
        xpu_refusal refusal = {
            .node = node,
            .rule = "target-operator",
            .sentence = xpu_printf(job->arena, "target '%s' has no lowering for this operator", target->name),
            .value = xpu_printf(job->arena, "the operator is %s", op->name),
            .hint = "replace the operator, or compile for another target"};
        refuse(partition, refusal_of, &refusal);
        return;
    }
    for (const xpu_rule *const *rule = row->rules; rule && *rule; rule++) {
        xpu_rule_query query = {.job = job, .node = node};
        if ((*rule)->holds(&query)) continue;
        xpu_refusal refusal = {.node = node,
                               .rule = (*rule)->id,
                               .sentence = (*rule)->sentence,
                               .value = query.value ? query.value : "",
                               .hint = (*rule)->hint};
        refuse(partition, refusal_of, &refusal);
    }
}

static void report(const xpu_target_job *job, const xpu_target *target, const xpu_refusal *refusal) {
    xpu_error(
        job->diags, XPU_EMODEL, job->graph->file, refusal->rule, xpu_node_where(job->graph, refusal->node, job->arena),
        xpu_printf(job->arena, "target '%s' does not take the node", target->name),
        refusal->value[0] ? xpu_printf(job->arena, "%s; %s", refusal->sentence, refusal->value) : refusal->sentence,
        refusal->hint);
}

xpu_status xpu_partition_check(xpu_target_job *job, const xpu_target *target, xpu_partition *partition) {
    uint32_t count = job->graph->nodes.count;
    uint32_t *refusal_of = XPU_NEW_ARRAY(job->arena, uint32_t, count);
    size_t errors = job->diags->errors;
    *partition = (xpu_partition){.arena = job->arena, .refusal_of = refusal_of, .node_count = count};
    XPU_FOR_ALL_NODES(job->graph, node) check_node(job, target, node, partition, refusal_of);
    for (uint32_t i = 0; i < partition->refusals.count; i++) { /* the host runs no bodies */
        const xpu_refusal *refusal = &partition->refusals.items[i];
        if (!target->host_regions || xpu_node_at(job->graph, refusal->node)->block_count) report(job, target, refusal);
    }
    return xpu_diags_since(job->diags, errors);
}

const xpu_refusal *xpu_partition_refusal(const xpu_partition *partition, xpu_node node) {
    if (node.id >= partition->node_count || !partition->refusal_of[node.id]) return NULL;
    return &partition->refusals.items[partition->refusal_of[node.id] - 1];
}
