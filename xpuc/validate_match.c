/*
 * Runs of both models, and which tensor of B is which of A: by its place among the outputs, by name, by what made it
 * out of what, or by its elements.
 */
#include <math.h>
#include <string.h>

#include "base/compare.h"
#include "core/ops/ref.h"
#include "xpuc/validate.h"

enum { TABLE = 4096, MOST_CANDIDATES = 4096 };

/* ---- A ---- */

typedef struct {
    xpu_validation *v;
    xpu_record *record;
} recorder;

static xpu_status too_large(const xpu_validation *v) {
    return xpu_error(v->diags, XPU_EUSAGE, v->a.path, "validate-size", NULL, "a run has too many results",
                     "all of them are kept, 4 GiB at most", "give smaller dims with --shape");
}

static uint32_t slot_of(int64_t count) {
    return (uint32_t)(((uint64_t)count * 0x9e3779b97f4a7c15u) >> 52);
}

static void keep(xpu_record *record, xpu_value value, const xpu_tensor *tensor) {
    xpu_kept_tensor kept = {.value = value, .tensor = *tensor};
    uint32_t *last = &record->last[value.id], *slot = &record->by_count[slot_of(xpu_tensor_count(tensor))];
    kept.tensor.data = xpu_copy(record->arena, tensor->data, xpu_tensor_bytes(tensor));
    kept.largest = xpu_validate_largest(tensor);
    kept.round = *last ? record->kept.items[*last - 1].round + 1 : 0;
    kept.next = *slot;
    XPU_PUSH(record->arena, &record->kept, kept);
    if (*last)
        record->kept.items[*last - 1].later = record->kept.count;
    else
        record->first[value.id] = record->kept.count;
    *last = *slot = record->kept.count;
}

xpu_kept_tensor *xpu_validate_kept(const xpu_record *record, xpu_value value, uint32_t round) {
    uint32_t at = record->first[value.id];
    while (at && round--) at = record->kept.items[at - 1].later;
    return at ? &record->kept.items[at - 1] : NULL;
}

static xpu_status record_results(void *context, xpu_node node, const xpu_tensor *results, uint32_t count) {
    const recorder *r = context;
    for (uint32_t i = 0; i < count; i++) {
        xpu_value value = xpu_node_output(r->v->a.graph, node, i);
        r->record->bytes += (double)xpu_tensor_bytes(&results[i]);
        if (r->record->bytes > XPU_VALIDATE_MOST_BYTES) return too_large(r->v);
        if (value.id) keep(r->record, value, &results[i]);
    }
    return XPU_OK;
}

xpu_status xpu_validate_record(xpu_validation *v, xpu_record *record) {
    const xpu_graph *graph = v->a.graph;
    recorder context = {v, record};
    *record = (xpu_record){.arena = v->scratch};
    record->first = XPU_NEW_ARRAY(v->scratch, uint32_t, graph->values.count);
    record->last = XPU_NEW_ARRAY(v->scratch, uint32_t, graph->values.count);
    record->by_count = XPU_NEW_ARRAY(v->scratch, uint32_t, TABLE);
    record->outputs = XPU_NEW_ARRAY(v->scratch, xpu_tensor, graph->outputs.count + 1);
    for (uint32_t i = 0; i < graph->inputs.count; i++) keep(record, graph->inputs.items[i], &v->a.inputs[i]);
    const xpu_ref_options options = {
        .symbols = v->a.symbols, .inputs = v->a.inputs, .observer = record_results, .bodies = 1, .context = &context};
    return xpu_ref_run(graph, &options, record->outputs, v->scratch, v->diags);
}

/* ---- B ---- */

typedef struct {
    xpu_validation *v;
    xpu_record *record;
    xpu_beside *beside;
    int hold;
    uint32_t *rounds;    /* by value of B: that have run */
    uint32_t *output_at; /* by value of B: of which output, plus 1 */
    int is_alike;
} comparer;

/* A tensor of A that one of B may be. */
typedef struct {
    xpu_kept_tensor *kept;
    xpu_match_kind kind;
    xpu_apart apart;
} candidate;

static candidate look(const comparer *c, xpu_kept_tensor *kept, xpu_match_kind kind, const xpu_tensor *tensor) {
    if (!kept) return (candidate){.kept = NULL};
    return (candidate){kept, kind,
                       xpu_validate_apart(&kept->tensor, tensor, kept->largest, c->v->tolerance,
                                          xpu_validate_is_quantised(c->v->a.graph, kept->value))};
}

static int is_equal(const comparer *c, const candidate *found) {
    return found->kept && found->apart.of_max <= c->v->tolerance;
}

/* By another value of B. */
static int is_taken(const xpu_kept_tensor *kept, xpu_value value) {
    return kept->taken && kept->taken != value.id;
}

static candidate by_name(const comparer *c, xpu_value value, uint32_t round, const xpu_tensor *tensor) {
    const xpu_graph *a = c->v->a.graph, *b = c->v->b.graph;
    uint32_t output = c->output_at[value.id];
    if (output) {
        xpu_value counterpart = a->outputs.items[c->v->output_of[output - 1]];
        return look(c, xpu_validate_kept(c->record, counterpart, round), XPU_MATCH_NAME, tensor);
    }
    const xpu_value_info *info = xpu_value_at(b, value);
    xpu_value counterpart = info->has_made_name ? (xpu_value){0} : xpu_graph_by_name(a, info->name);
    if (!counterpart.id || xpu_value_at(a, counterpart)->has_made_name) return (candidate){.kept = NULL};
    return look(c, xpu_validate_kept(c->record, counterpart, round), XPU_MATCH_NAME, tensor);
}

/* Whether the operands of both nodes belong together; constants may be what differs. */
static int same_operands(const comparer *c, xpu_node a, xpu_node b) {
    const xpu_graph *in_a = c->v->a.graph, *in_b = c->v->b.graph;
    const xpu_node_info *info_a = xpu_node_at(in_a, a), *info_b = xpu_node_at(in_b, b);
    if (info_a->op != info_b->op || info_a->input_count != info_b->input_count) return 0;
    for (uint32_t i = 0; i < info_b->input_count; i++) {
        xpu_value x = info_a->inputs[i], y = info_b->inputs[i];
        if (!x.id != !y.id) return 0;
        if (!y.id) continue;
        int is_constant = xpu_value_at(in_b, y)->kind == XPU_VALUE_CONST;
        if (is_constant != (xpu_value_at(in_a, x)->kind == XPU_VALUE_CONST)) return 0;
        if (!is_constant && c->beside->counterpart[y.id] != x.id) return 0;
    }
    return 1;
}

/* Of nodes that do the same to the same operands: one with equal results, else the first that no other result equals.
 */
static candidate by_structure(const comparer *c, xpu_node node, uint32_t output, uint32_t round,
                              const xpu_tensor *tensor) {
    const xpu_graph *a = c->v->a.graph, *b = c->v->b.graph;
    const xpu_node_info *info = xpu_node_at(b, node);
    candidate best = {.kept = NULL};
    uint32_t i = 0;
    while (i < info->input_count && !(info->inputs[i].id && c->beside->counterpart[info->inputs[i].id])) i++;
    if (i == info->input_count) return best;
    const xpu_value_info *operand = xpu_value_at(a, (xpu_value){c->beside->counterpart[info->inputs[i].id]});
    for (uint32_t k = 0; k < operand->uses.count && k < MOST_CANDIDATES; k++) {
        const xpu_use *use = &operand->uses.items[k];
        if (use->input != i || !same_operands(c, use->node, node)) continue;
        candidate found = look(c, xpu_validate_kept(c->record, xpu_node_output(a, use->node, output), round),
                               XPU_MATCH_STRUCTURE, tensor);
        if (is_equal(c, &found)) return found;
        if (found.kept && !is_taken(found.kept, xpu_node_output(b, node, output)) && !best.kept) best = found;
    }
    return best;
}

/* The first that is equal and not yet another's, else any that is equal. Few or constant elements say nothing. */
static candidate by_value(const comparer *c, xpu_value value, const xpu_tensor *tensor, int only_free) {
    candidate any = {.kept = NULL};
    const int64_t count = xpu_tensor_count(tensor);
    uint32_t at = count < 2 ? 0 : c->record->by_count[slot_of(count)];
    for (uint32_t tries = 0; at && tries < MOST_CANDIDATES; tries++) {
        xpu_kept_tensor *kept = &c->record->kept.items[at - 1];
        at = kept->next;
        if (kept->tensor.dtype != tensor->dtype || xpu_tensor_count(&kept->tensor) != count) continue;
        const int taken = is_taken(kept, value);
        if (taken && (only_free || any.kept)) continue;
        candidate found = look(c, kept, XPU_MATCH_VALUE, tensor);
        if (!is_equal(c, &found)) continue;
        if (!taken) return found;
        any = found;
    }
    return any;
}

static candidate find(const comparer *c, xpu_node node, uint32_t output, uint32_t round, const xpu_tensor *tensor) {
    xpu_value value = xpu_node_output(c->v->b.graph, node, output);
    candidate named = by_name(c, value, round, tensor);
    if (is_equal(c, &named)) return named;
    candidate made = by_structure(c, node, output, round, tensor);
    if (is_equal(c, &made)) return made;
    if (c->output_at[value.id] && named.kept) return named;
    candidate equal = by_value(c, value, tensor, named.kept != NULL);
    if (equal.kept) return equal;
    return named.kept ? named : made;
}

/* ---- what is found ---- */

/* Whether the same operators read both: a folded operator leaves its name to what it went into. */
static int same_users(const xpu_graph *a, xpu_value x, const xpu_graph *b, xpu_value y) {
    const xpu_value_info *info_a = xpu_value_at(a, x), *info_b = xpu_value_at(b, y);
    if (info_a->uses.count != info_b->uses.count || info_a->is_output != info_b->is_output) return 0;
    for (uint32_t i = 0; i < info_a->uses.count; i++) {
        const xpu_op *wanted = xpu_node_at(a, info_a->uses.items[i].node)->op;
        uint32_t in_a = 0, in_b = 0;
        for (uint32_t k = 0; k < info_a->uses.count; k++) {
            in_a += xpu_node_at(a, info_a->uses.items[k].node)->op == wanted;
            in_b += xpu_node_at(b, info_b->uses.items[k].node)->op == wanted;
        }
        if (in_a != in_b) return 0;
    }
    return 1;
}

static int is_sure(const comparer *c, const candidate *found, xpu_node node, xpu_value value) {
    const xpu_value_info *made = xpu_value_at(c->v->a.graph, found->kept->value);
    const xpu_node_info *info = xpu_node_at(c->v->b.graph, node);
    if (found->kind != XPU_MATCH_NAME && !(c->is_alike && found->kind == XPU_MATCH_STRUCTURE)) return 0;
    if (made->kind != XPU_VALUE_NODE || info->block_count || !same_operands(c, made->node, node)) return 0;
    if (!c->is_alike && !same_users(c->v->a.graph, found->kept->value, c->v->b.graph, value)) return 0;
    for (uint32_t i = 0; i < info->input_count; i++) {
        if (!info->inputs[i].id || xpu_value_at(c->v->b.graph, info->inputs[i])->kind == XPU_VALUE_CONST) continue;
        if (c->beside->state[info->inputs[i].id] == XPU_MATCH_NONE) return 0;
    }
    return 1;
}

static void add_hit(comparer *c, const candidate *found, xpu_node node, xpu_value value, const xpu_tensor *tensor,
                    int sure) {
    const xpu_kept_tensor *kept = found->kept;
    xpu_hit hit = {.node = node,
                   .a = kept->value,
                   .b = value,
                   .is_sure = sure,
                   .apart = xpu_validate_apart(&kept->tensor, tensor, kept->largest, (double)INFINITY,
                                               xpu_validate_is_quantised(c->v->a.graph, kept->value))};
    xpu_validate_place(&hit, &kept->tensor, tensor);
    XPU_PUSH(c->v->scratch, &c->beside->hits, hit);
}

static void take(comparer *c, const candidate *found, xpu_node node, xpu_value value, const xpu_tensor *tensor) {
    xpu_beside *beside = c->beside;
    xpu_kept_tensor *kept = found->kept;
    const int is_same = is_equal(c, found);
    const int sure = is_sure(c, found, node, value);
    const int can_hold =
        c->hold && kept->tensor.dtype == tensor->dtype && xpu_tensor_count(&kept->tensor) == xpu_tensor_count(tensor);
    /* In other forms of a network a name may have become another tensor's. */
    if (!is_same && !sure && !c->is_alike && !c->output_at[value.id]) return;
    beside->matched++;
    beside->kinds[found->kind]++;
    beside->differing += !is_same;
    beside->counterpart[value.id] = kept->value.id;
    if (is_same) kept->taken = value.id;
    if (found->apart.of_max > 0) add_hit(c, found, node, value, tensor, sure);
    beside->state[value.id] = is_same || can_hold ? (uint8_t)found->kind : XPU_MATCH_NONE;
    if (can_hold) memcpy(tensor->data, kept->tensor.data, xpu_tensor_bytes(tensor));
}

static xpu_status compare_results(void *context, xpu_node node, const xpu_tensor *results, uint32_t count) {
    comparer *c = context;
    for (uint32_t i = 0; i < count; i++) {
        xpu_value value = xpu_node_output(c->v->b.graph, node, i);
        if (!value.id) continue;
        uint32_t round = c->rounds[value.id]++;
        candidate found = find(c, node, i, round, &results[i]);
        c->beside->inner++;
        c->beside->state[value.id] = XPU_MATCH_NONE;
        c->beside->counterpart[value.id] = 0;
        if (found.kept) take(c, &found, node, value, &results[i]);
    }
    return XPU_OK;
}

xpu_status xpu_validate_beside(xpu_validation *v, xpu_record *record, int hold, xpu_beside *beside) {
    const xpu_graph *graph = v->b.graph;
    comparer context = {.v = v, .record = record, .beside = beside, .hold = hold, .is_alike = xpu_validate_is_alike(v)};
    *beside = (xpu_beside){.inner = 0};
    beside->state = XPU_NEW_ARRAY(v->scratch, uint8_t, graph->values.count);
    beside->counterpart = XPU_NEW_ARRAY(v->scratch, uint32_t, graph->values.count);
    beside->outputs = XPU_NEW_ARRAY(v->scratch, xpu_tensor, graph->outputs.count + 1);
    context.rounds = XPU_NEW_ARRAY(v->scratch, uint32_t, graph->values.count);
    context.output_at = XPU_NEW_ARRAY(v->scratch, uint32_t, graph->values.count);
    for (uint32_t i = 0; i < graph->outputs.count; i++) context.output_at[graph->outputs.items[i].id] = i + 1;
    for (uint32_t i = 0; i < graph->inputs.count; i++) {
        uint32_t id = graph->inputs.items[i].id;
        beside->state[id] = XPU_MATCH_NAME;
        beside->counterpart[id] = v->a.graph->inputs.items[v->b.input_of[i]].id;
    }
    const xpu_ref_options options = {
        .symbols = v->b.symbols, .inputs = v->b.inputs, .observer = compare_results, .bodies = 1, .context = &context};
    return xpu_ref_run(graph, &options, beside->outputs, v->scratch, v->diags);
}
