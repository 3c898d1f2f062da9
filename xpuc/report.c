/* What was done, and where each operator of the model runs and why: --report, --explain, the summary. */
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "core/passes/rewrite.h"
#include "xpu_runtime/program/program.h"
#include "xpuc/pipeline.h"

#define TEXT(p, ...) xpu_printf((p)->arena, __VA_ARGS__)

static json_t *string(xpu_pipeline *p, const char *text) {
    return json_string(xpu_escape(p->arena, text, 400));
}

static json_t *message(xpu_pipeline *p, const char *text) {
    return json_string(xpu_escape_message(p->arena, text, 400));
}

static void set(xpu_pipeline *p, json_t *object, const char *key, json_t *value) {
    xpu_json_set(p->arena, object, key, value);
}

static void add_passes(xpu_pipeline *p) {
    json_t *list = xpu_json_set(p->arena, p->report, "passes", json_array());
    for (uint32_t i = 0; i < p->records.count; i++) {
        json_t *entry = xpu_json_append(p->arena, list, json_object());
        set(p, entry, "name", json_string(p->records.items[i].pass));
        set(p, entry, "seconds", json_real(p->records.items[i].seconds));
        set(p, entry, "nodes", json_integer(p->records.items[i].nodes));
    }
}

static void add_targets(xpu_pipeline *p) {
    if (p->offer_count == 1) return;
    json_t *list = xpu_json_set(p->arena, p->report, "targets", json_array());
    for (uint32_t i = 0; i < p->offer_count; i++) xpu_json_append(p->arena, list, string(p, p->offers[i].target->name));
}

static void add_regions(xpu_pipeline *p) {
    json_t *list = xpu_json_set(p->arena, p->report, "regions", json_array());
    for (uint32_t i = 0; i < p->job.region_count; i++) {
        const xpu_region *region = &p->job.regions[i];
        json_t *entry = xpu_json_append(p->arena, list, json_object());
        set(p, entry, "number", json_integer(region->number));
        set(p, entry, "runs_on", json_string(region->on_host ? "host" : region->target->name));
        set(p, entry, "nodes", json_integer(region->node_count));
        if (!region->on_host) continue;
        set(p, entry, "reason", message(p, region->reason));
        if (region->hint) set(p, entry, "hint", message(p, region->hint));
    }
}

void xpu_report_make(xpu_pipeline *p) {
    set(p, p->report, "xpuc", json_string(xpuc_version()));
    set(p, p->report, "model", string(p, p->path));
    if (p->output) set(p, p->report, "output", string(p, p->output));
    set(p, p->report, "target", json_string(p->target->name));
    add_targets(p);
    set(p, p->report, "chip", string(p, p->options.chip));
    set(p, p->report, "precision", string(p, p->options.precision));
    set(p, p->report, "seconds", json_real(xpu_seconds() - p->started));
    set(p, p->report, "peak_rss_bytes", json_integer((json_int_t)xpu_peak_rss_bytes()));
    set(p, p->report, "source_nodes", json_integer(p->options.source_nodes));
    set(p, p->report, "nodes", json_integer(xpu_count_nodes(p->graph)));
    add_passes(p);
    add_regions(p);
}

/* ---- explain ---- */

/* Where one operator of the model went. */
typedef struct {
    const xpu_origin *origin;
    const char *layer; /* escaped; NULL: nothing is left of it */
    const char *op, *unit, *precision, *why;
    const char *hint; /* what would take it off the host; or NULL */
    const xpu_region *region;
    const char *refused; /* what targets before said of it; or NULL */
    int is_product;      /* its work is sums of products */
} fate;

/* What is looked up for every operator of the model. */
typedef struct {
    const xpu_node *node_of; /* by origin: of the nodes that it went into the last in order of execution that is on the
                              * host, else the last; or {0}. A REGION stands for the nodes in its body */
    const xpu_node *work_of; /* by origin: of all of these the last of the most weight; where none is a layer, the same
                              * node */
    const uint8_t *products; /* by origin: one of the nodes that it went into sums products */
    const xpu_node *part_of; /* by origin: the last of the nodes in a REGION, or {0} */
    const json_t *layers;    /* the target's facts by the name of the layer's first result */
} index_of_layers;

static int is_on_host(const xpu_pipeline *p, xpu_node node) {
    uint32_t region = xpu_node_at(p->graph, node)->region;
    return region && p->job.regions[region - 1].on_host;
}

static int is_in_region(const xpu_pipeline *p, xpu_node node) {
    xpu_node owner = xpu_block_at(p->graph, xpu_node_at(p->graph, node)->parent)->owner;
    return owner.id && xpu_node_is(p->graph, owner, XPU_OP_REGION);
}

static const char *fact(const json_t *layer, const char *key) {
    return json_string_value(json_object_get(layer, key));
}

static int is_copy(const json_t *layer) {
    const char *unit = fact(layer, "unit");
    return unit && strcmp(unit, xpu_unit_name(XPU_UNIT_DMA)) == 0;
}

static json_t *layers_by_result(const xpu_pipeline *p) {
    json_t *by_result = xpu_json_own(p->arena, json_object());
    json_t *layers = json_object_get(p->facts, "layers"), *entry;
    size_t i;
    json_array_foreach(layers, i, entry) {
        const char *result = json_string_value(json_object_get(entry, "result"));
        if (result) xpu_json_set(p->arena, by_result, result, json_incref(entry));
    }
    return by_result;
}

/* The layer that the node is, or NULL. */
static const json_t *layer_at(xpu_pipeline *p, const index_of_layers *index, xpu_node node) {
    const xpu_node_info *info = xpu_node_at(p->graph, node);
    const char *result = info->output_count ? xpu_value_at(p->graph, info->outputs[0])->name : NULL;
    return result ? json_object_get(index->layers, xpu_escape(p->arena, result, XPU_REPORTED_NAME)) : NULL;
}

static const char *lowering_of(const xpu_target *target, const xpu_op *op) {
    for (const xpu_support *row = target->support; row && row->lowering; row++) {
        if (xpu_op_of(row->op) == op) return row->lowering;
    }
    return target->name;
}

/* Why targets that it was offered to before did not take the node. */
static const char *refused_text(xpu_pipeline *p, xpu_node node) {
    const char *text = NULL;
    for (uint32_t i = 0; i + 1 < p->offer_count; i++) {
        const xpu_refusal *refusal = xpu_partition_refusal_by(&p->partition, i, node);
        if (refusal)
            text = TEXT(p, "%s%snot '%s': %s", text ? text : "", text ? "; " : "", refusal->target->name,
                        xpu_refusal_text(refusal, p->arena));
    }
    return text;
}

/* The layer that makes the node's result, perhaps beside those of other products, or NULL. */
static const json_t *layer_of_facts(xpu_pipeline *p, const index_of_layers *index, xpu_node node) {
    xpu_node whole = xpu_maker(p->graph, node, 0);
    return layer_at(p, index, whole.id && xpu_is_columns_of(p->graph, node, whole) ? whole : node);
}

/* Which of an operator's nodes says most about it: 3 a product, 2 another computation, 1 a copy, 0 no layer. */
static int weight_of(xpu_pipeline *p, const index_of_layers *index, xpu_node node) {
    const json_t *layer = layer_of_facts(p, index, node);
    if (!layer) return 0;
    if (is_copy(layer)) return 1;
    return xpu_node_has(p->graph, node, XPU_TRAIT_PRODUCT) ? 3 : 2;
}

/* Of these rows of ops.def not all are for the tensor engine, as those with the trait are. */
static int sums_products(const xpu_graph *graph, xpu_node node) {
    static const xpu_op_id ops[] = {XPU_OP_RECURRENT, XPU_OP_ATTENTION, XPU_OP_PACKED_MATMUL, XPU_OP_CONV_TRANSPOSE};
    for (size_t i = 0; i < sizeof ops / sizeof ops[0]; i++) {
        if (xpu_node_is(graph, node, ops[i])) return 1;
    }
    return xpu_node_has(graph, node, XPU_TRAIT_PRODUCT);
}

static index_of_layers make_index(xpu_pipeline *p) {
    xpu_node *node_of = XPU_NEW_ARRAY(p->arena, xpu_node, p->graph->origins.count);
    xpu_node *work_of = XPU_NEW_ARRAY(p->arena, xpu_node, p->graph->origins.count);
    xpu_node *part_of = XPU_NEW_ARRAY(p->arena, xpu_node, p->graph->origins.count);
    uint8_t *products = XPU_NEW_ARRAY(p->arena, uint8_t, p->graph->origins.count);
    index_of_layers index = {node_of, work_of, products, part_of, layers_by_result(p)};
    XPU_FOR_ALL_NODES(p->graph, node) {
        const xpu_node_info *info = xpu_node_at(p->graph, node);
        for (uint32_t i = 0; i < info->origins.count; i++) {
            uint32_t origin = info->origins.items[i];
            products[origin] |= (uint8_t)sums_products(p->graph, node);
            if (is_in_region(p, node)) {
                part_of[origin] = node;
                continue;
            }
            if (!node_of[origin].id || is_on_host(p, node) || !is_on_host(p, node_of[origin])) node_of[origin] = node;
            int weight = weight_of(p, &index, node);
            if (weight && (!work_of[origin].id || weight >= weight_of(p, &index, work_of[origin])))
                work_of[origin] = node;
        }
    }
    for (uint32_t i = 0; i < p->graph->origins.count; i++) {
        if (!work_of[i].id || (node_of[i].id && is_on_host(p, node_of[i]))) work_of[i] = node_of[i];
    }
    return index;
}

static fate fate_of(xpu_pipeline *p, const index_of_layers *index, uint32_t origin) {
    fate result = {.origin = &p->graph->origins.items[origin]};
    xpu_node node = index->node_of[origin];
    if (!node.id) return result;
    const xpu_node_info *info = xpu_node_at(p->graph, node);
    const json_t *own = layer_of_facts(p, index, node), *facts = layer_of_facts(p, index, index->work_of[origin]);
    result.layer = fact(own ? own : facts, "name");
    if (!result.layer) result.layer = xpu_escape(p->arena, xpu_node_name(p->graph, node), XPU_REPORTED_NAME);
    result.op = info->op->name;
    result.is_product = index->products[origin];
    result.region = info->region ? &p->job.regions[info->region - 1] : NULL;
    result.precision = fact(facts, "precision");
    if (!result.precision) result.precision = xpu_node_precision(p->graph, node);
    result.why = fact(facts, "reason");
    result.unit = fact(facts, "unit");
    if (result.region && result.region->on_host) {
        const xpu_refusal *refusal = xpu_partition_refusal(&p->partition, node);
        result.unit = "host";
        if (refusal) {
            const char *between = refusal->value[0] ? "; " : "";
            result.why = TEXT(p, "[%s] %s%s%s", refusal->rule, refusal->sentence, between, refusal->value);
            result.hint = refusal->hint;
        }
    } else if (!result.unit) {
        result.unit = lowering_of(result.region ? result.region->target : p->target, info->op);
    }
    xpu_node part = index->part_of[origin];
    if (part.id && result.region && result.region->call.id) {
        const char *lowering = lowering_of(result.region->target, xpu_node_at(p->graph, part)->op);
        result.why = TEXT(p, "C of target '%s': %s", result.region->target->name, lowering);
        node = part;
    }
    result.refused = refused_text(p, node);
    return result;
}

static int is_operator(const xpu_origin *origin) {
    return strcmp(origin->op, "Output") != 0;
}

static char *explain_json(xpu_pipeline *p) {
    index_of_layers index = make_index(p);
    json_t *top = xpu_json_own(p->arena, json_object());
    set(p, top, "model", string(p, p->path));
    set(p, top, "target", json_string(p->target->name));
    json_t *list = xpu_json_set(p->arena, top, "nodes", json_array());
    for (uint32_t i = 0; i < p->graph->origins.count; i++) {
        if (!is_operator(&p->graph->origins.items[i])) continue;
        fate f = fate_of(p, &index, i);
        json_t *entry = xpu_json_append(p->arena, list, json_object());
        set(p, entry, "index", json_integer(f.origin->index));
        set(p, entry, "name", string(p, f.origin->name));
        set(p, entry, "op", string(p, f.origin->op));
        if (f.origin->is_inner) set(p, entry, "within", json_integer(f.origin->within));
        set(p, entry, "layer", f.layer ? json_string(f.layer) : json_null());
        if (!f.layer) continue;
        set(p, entry, "unit", string(p, f.unit));
        set(p, entry, "precision", json_string(f.precision));
        if (f.is_product) set(p, entry, "product", json_true());
        if (f.region) set(p, entry, "region", json_integer(f.region->number));
        if (f.why) set(p, entry, "why", message(p, f.why));
        if (f.hint) set(p, entry, "hint", message(p, f.hint));
        if (p->offer_count > 1 && f.region)
            set(p, entry, "target", string(p, f.region->on_host ? "host" : f.region->target->name));
        if (f.refused) set(p, entry, "refused", message(p, f.refused));
    }
    xpu_explain_kept_json(p, top);
    char *text = json_dumps(top, JSON_INDENT(2));
    if (!text) xpu_out_of_memory(xpu_arena_mem(p->arena));
    xpu_arena_defer(p->arena, free, text);
    return TEXT(p, "%s\n", text);
}

char *xpu_explain(xpu_pipeline *p, int as_json) {
    if (as_json) return explain_json(p);
    index_of_layers index = make_index(p);
    xpu_text text;
    xpu_text_init(&text, p->arena);
    xpu_text_add(&text, "%-4s %-18s %-24s %-24s %-9s %-6s %s\n", "#", "operator", "name", "layer", "precision",
                 "region", "unit, and why");
    for (uint32_t i = 0; i < p->graph->origins.count; i++) {
        if (!is_operator(&p->graph->origins.items[i])) continue;
        fate f = fate_of(p, &index, i);
        xpu_text_add(&text, "%-4u %-18s %-24s ", f.origin->index, xpu_escape(p->arena, f.origin->op, 40),
                     xpu_escape(p->arena, f.origin->name, 60));
        if (!f.layer) {
            xpu_text_add(&text, "-                        -         -      nothing is left to do at run time\n");
            continue;
        }
        xpu_text_add(&text, "%-24s %-9s %-6u %s%s%s\n", xpu_escape_message(p->arena, f.layer, 60), f.precision,
                     f.region ? f.region->number : 0, xpu_escape(p->arena, f.unit, 200), f.why ? ": " : "",
                     f.why ? xpu_escape_message(p->arena, f.why, 400) : "");
        if (f.refused) xpu_text_add(&text, "     %s\n", xpu_escape_message(p->arena, f.refused, 400));
        if (f.hint) xpu_text_add(&text, "     hint: %s\n", xpu_escape_message(p->arena, f.hint, 400));
    }
    xpu_explain_kept(p, &text);
    return text.text;
}

char *xpu_pass_log(const xpu_pipeline *p) {
    xpu_text text;
    xpu_text_init(&text, p->arena);
    for (uint32_t i = 0; i < p->records.count; i++) {
        const xpu_pass_record *record = &p->records.items[i];
        xpu_text_add(&text, "%-13s %8.3f ms  %u nodes\n", record->pass, record->seconds * 1e3, record->nodes);
    }
    return text.text;
}

/* As the target counts them where it says so: a node may become nothing, or share a layer. */
static size_t count_layers(const xpu_pipeline *p) {
    const json_t *layers = json_object_get(p->facts, "layers");
    if (json_is_integer(layers)) return (size_t)json_integer_value(layers);
    return layers ? json_array_size(layers) : xpu_count_nodes(p->graph);
}

static const char *path_text(const xpu_pipeline *p, const char *path) {
    return xpu_path_is_stream(path) ? "standard output" : xpu_escape_message(p->arena, path, 4096);
}

static const char *plural(size_t count) {
    return count == 1 ? "" : "s";
}

/* "mine, xpu-sim" */
static const char *targets_text(const xpu_pipeline *p) {
    const char *text = p->offers[0].target->name;
    for (uint32_t i = 1; i < p->offer_count; i++) text = TEXT(p, "%s, %s", text, p->offers[i].target->name);
    return text;
}

char *xpu_summary(const xpu_pipeline *p) {
    uint32_t on_host = 0;
    for (uint32_t i = 0; i < p->job.region_count; i++) {
        on_host += p->job.regions[i].on_host ? p->job.regions[i].node_count : 0;
    }
    uint32_t operators = p->options.source_nodes, regions = p->job.region_count;
    size_t layers = count_layers(p);
    char *text = TEXT(p, "%s: %u operator%s, %zu layer%s in %u region%s for %s", path_text(p, xpu_path_name(p->path)),
                      operators, plural(operators), layers, plural(layers), regions, plural(regions), targets_text(p));
    if (on_host) text = TEXT(p, "%s, %u layer%s on the host", text, on_host, plural(on_host));
    text = TEXT(p, "%s; %.2f s", text, xpu_seconds() - p->started);
    return p->output ? TEXT(p, "%s -> %s", text, path_text(p, p->output)) : text;
}
