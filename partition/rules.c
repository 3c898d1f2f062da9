/* The rule engine: the targets' support tables against every node. */
#include "partition/partition.h"

static const xpu_support *support_of(const xpu_target *target, const xpu_op *op) {
    for (const xpu_support *row = target->support; row && row->lowering; row++) {
        if (xpu_op_of(row->op) == op) return row;
    }
    return NULL;
}

/* ---- what portable C asks for, besides the target's own rules ---- */

static int has_no_body(xpu_rule_query *q) {
    return xpu_node_at(q->job->graph, q->node)->block_count == 0;
}
static const xpu_rule no_body = {"portable-control", "branches and loops go to the last target",
                                 "nodes in their bodies are offered to all", has_no_body};

static int sets_no_size(xpu_rule_query *q) {
    const xpu_node_info *info = xpu_node_at(q->job->graph, q->node);
    for (uint32_t i = 0; i < info->output_count; i++) {
        if (xpu_value_defines_symbol(q->job->graph, info->outputs[i])) return 0;
    }
    return 1;
}
static const xpu_rule no_size = {"portable-size", "nodes whose results say how large others are go to the last target",
                                 "fix the size with --shape or --value", sets_no_size};

static int is_portable(xpu_dtype dtype) {
    return dtype != XPU_DTYPE_NONE && dtype != XPU_F64 && dtype < XPU_DTYPE_COUNT;
}

static int has_portable_values(xpu_rule_query *q) {
    const xpu_graph *graph = q->job->graph;
    const xpu_node_info *info = xpu_node_at(graph, q->node);
    for (uint32_t i = 0; i < info->input_count + info->output_count; i++) {
        xpu_value value = i < info->input_count ? info->inputs[i] : info->outputs[i - info->input_count];
        const xpu_value_info *v = xpu_value_at(graph, value);
        int good = !value.id || is_portable(v->dtype);
        for (int d = 0; value.id && d < v->rank; d++)
            good = good && v->dims[d].id && xpu_dim_min(&graph->dims, v->dims[d]) >= 1;
        if (good) continue;
        q->value = xpu_printf(q->job->arena, "'%s' is %s", xpu_escape(q->job->arena, v->name, 80),
                              xpu_type_text(graph, value, q->job->arena));
        return 0;
    }
    return 1;
}
static const xpu_rule portable_values = {
    "portable-value", "values have elements of at most 64 bits, no float64, and dims that are known and at least 1",
    "fix the shape with --shape, or leave the node to the last target", has_portable_values};

static const xpu_rule *const portable_rules[] = {&no_body, &no_size, &portable_values, NULL};

/* ---- one node ---- */

/* The first rule of the list that does not hold, from *at on; NULL where all do. */
static const xpu_rule *next_broken(const xpu_rule *const **at, xpu_rule_query *query) {
    while (*at && **at) {
        const xpu_rule *rule = *(*at)++;
        query->value = NULL;
        if (!rule->holds(query)) return rule;
    }
    return NULL;
}

int xpu_partition_takes(const xpu_offer *offer, int is_last, xpu_node node) {
    const xpu_support *row = support_of(offer->target, xpu_node_at(offer->job->graph, node)->op);
    const xpu_rule *const *rules = is_last ? NULL : portable_rules, *const *own = row ? row->rules : NULL;
    xpu_rule_query query = {.job = offer->job, .node = node};
    return row && !next_broken(&rules, &query) && !next_broken(&own, &query);
}

static void refuse(xpu_partition *partition, uint32_t offer, const xpu_refusal *refusal) {
    uint32_t *first = &partition->refusal_of[offer * partition->node_count + refusal->node.id];
    XPU_PUSH(partition->arena, &partition->refusals, *refusal);
    if (!*first) *first = partition->refusals.count;
}

static void refuse_by_rules(xpu_partition *partition, uint32_t offer, xpu_node node, const xpu_rule *const *rules) {
    const xpu_offer *to = &partition->offers[offer];
    xpu_rule_query query = {.job = to->job, .node = node};
    for (const xpu_rule *rule; (rule = next_broken(&rules, &query));) {
        xpu_refusal refusal = {.node = node,
                               .target = to->target,
                               .rule = rule->id,
                               .sentence = rule->sentence,
                               .value = query.value ? query.value : "",
                               .hint = rule->hint};
        refuse(partition, offer, &refusal);
    }
}

/* Whether the target takes the node; its refusals are noted. */
static int check_node(xpu_partition *partition, uint32_t offer, xpu_node node) {
    const xpu_offer *to = &partition->offers[offer];
    const xpu_op *op = xpu_node_at(to->job->graph, node)->op;
    const xpu_support *row = support_of(to->target, op);
    if (row) {
        if (offer + 1 < partition->offer_count) refuse_by_rules(partition, offer, node, portable_rules);
        if (!partition->refusal_of[offer * partition->node_count + node.id])
            refuse_by_rules(partition, offer, node, row->rules);
    } else {
        xpu_refusal refusal = {
            .node = node,
            .target = to->target,
            .rule = "target-operator",
            .sentence = xpu_printf(to->job->arena, "target '%s' has no lowering for this operator", to->target->name),
            .value = xpu_printf(to->job->arena, "the operator is %s", op->name),
            .hint = "replace the operator, or compile for another target"};
        refuse(partition, offer, &refusal);
    }
    return !partition->refusal_of[offer * partition->node_count + node.id];
}

/* ---- all nodes ---- */

const char *xpu_refusal_text(const xpu_refusal *refusal, xpu_arena *arena) {
    return xpu_printf(arena, "[%s] %s%s%s", refusal->rule, refusal->sentence, refusal->value[0] ? "; " : "",
                      refusal->value);
}

/* What the targets before the last one said. */
static const char *others_text(const xpu_partition *partition, xpu_node node, xpu_arena *arena) {
    const char *text = "";
    for (uint32_t i = 0; i + 1 < partition->offer_count; i++) {
        const xpu_refusal *refusal = xpu_partition_refusal_by(partition, i, node);
        if (!refusal) continue;
        text = xpu_printf(arena, "%s\ntarget '%s': %s", text, refusal->target->name, xpu_refusal_text(refusal, arena));
    }
    return text;
}

static void report(const xpu_partition *partition, const xpu_refusal *refusal) {
    const xpu_target_job *job = partition->offers[partition->offer_count - 1].job;
    xpu_error(job->diags, XPU_EMODEL, job->graph->file, refusal->rule,
              xpu_node_where(job->graph, refusal->node, job->arena),
              xpu_printf(job->arena, "target '%s' does not take the node", refusal->target->name),
              xpu_printf(job->arena, "%s%s%s%s", refusal->sentence, refusal->value[0] ? "; " : "", refusal->value,
                         others_text(partition, refusal->node, job->arena)),
              refusal->hint);
}

xpu_status xpu_partition_check_all(const xpu_offer *offers, uint32_t count, xpu_partition *partition) {
    const xpu_offer *last = &offers[count - 1];
    const xpu_graph *graph = last->job->graph;
    xpu_diags *diags = last->job->diags;
    size_t errors = diags->errors;
    *partition = (xpu_partition){
        .arena = last->job->arena, .offers = offers, .offer_count = count, .node_count = graph->nodes.count};
    partition->refusal_of = XPU_NEW_ARRAY(partition->arena, uint32_t, count * partition->node_count);
    partition->side = XPU_NEW_ARRAY(partition->arena, uint8_t, partition->node_count);
    for (uint32_t i = 0; i < count; i++) {
        XPU_FOR_ALL_NODES(graph, node) {
            uint8_t *side = &partition->side[node.id];
            if (*side == i && !check_node(partition, i, node)) ++*side;
        }
    }
    for (uint32_t i = 0; i < partition->refusals.count; i++) { /* the host runs no bodies */
        const xpu_refusal *refusal = &partition->refusals.items[i];
        if (refusal->target != last->target || partition->side[refusal->node.id] < count) continue;
        if (!last->target->host_regions || xpu_node_at(graph, refusal->node)->block_count) report(partition, refusal);
    }
    return xpu_diags_since(diags, errors);
}

xpu_status xpu_partition_check(xpu_target_job *job, const xpu_target *target, xpu_partition *partition) {
    xpu_offer *offer = XPU_NEW(job->arena, xpu_offer);
    *offer = (xpu_offer){target, job};
    return xpu_partition_check_all(offer, 1, partition);
}

const xpu_refusal *xpu_partition_refusal_by(const xpu_partition *partition, uint32_t offer, xpu_node node) {
    if (node.id >= partition->node_count) return NULL;
    uint32_t first = partition->refusal_of[offer * partition->node_count + node.id];
    return first ? &partition->refusals.items[first - 1] : NULL;
}

const xpu_refusal *xpu_partition_refusal(const xpu_partition *partition, xpu_node node) {
    return xpu_partition_refusal_by(partition, partition->offer_count - 1, node);
}
