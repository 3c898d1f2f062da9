/* GetCapability: which nodes the chip gets. */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/words.h"
#include "provider/trial.h"

enum { MAX_ROUNDS = 50 };

/* ---- regions ---- */

static OrtStatus *try_all(xpu_ep_trial *t) {
    int changed = 1;
    for (int round = 0; changed; round++) {
        changed = 0;
        t->regions = xpu_ep_regions(&t->graph, t->takes, t->region_of);
        for (uint32_t r = 1; r <= t->regions; r++) {
            int refused = 0;
            XPU_TRY(xpu_ep_try_region(t, r, &refused));
            changed |= refused;
            if (!refused || round < MAX_ROUNDS) continue;
            for (uint32_t n = 0; n < t->graph.node_count; n++) t->takes[n] &= t->region_of[n] != r;
        }
    }
    return NULL;
}

/* A region is worth it with enough products, or where the chip's own values cross to onnxruntime less often with it. */
static const char *why_not_worth(const xpu_ep_trial *t, uint32_t region) {
    uint32_t work = 0, products = 0;
    for (uint32_t n = 0; n < t->graph.node_count; n++) {
        if (t->region_of[n] != region) continue;
        work += t->computes[n];
        products += t->products[n];
    }
    xpu_ep_copies copies = xpu_ep_count_copies(&t->graph, t->region_of, region);
    if (!copies.with || copies.without > copies.with) return NULL;
    if (!work) return "[provider-work] nothing is left to do at run time";
    const char *wanted = t->ep->options.min_products ? t->ep->options.min_products : "1";
    if (products >= strtoull(wanted, NULL, 10)) return NULL;
    return xpu_printf(t->graph.arena,
                      "[provider-products] its region has %u product%s, min_products is %s, and it "
                      "saves no copies",
                      products, products == 1 ? "" : "s", wanted);
}

static void drop_poor(xpu_ep_trial *t) {
    uint32_t kept = 0;
    const char **why = XPU_NEW_ARRAY(t->graph.arena, const char *, t->regions + 1);
    uint32_t *numbers = XPU_NEW_ARRAY(t->graph.arena, uint32_t, t->regions + 1);
    for (uint32_t r = 1; r <= t->regions; r++) {
        why[r] = why_not_worth(t, r);
        if (!why[r]) numbers[r] = ++kept;
    }
    for (uint32_t n = 0; n < t->graph.node_count; n++) {
        uint32_t region = t->region_of[n];
        if (region && why[region]) t->graph.nodes[n].why_not = why[region], t->graph.nodes[n].hint = NULL;
        t->region_of[n] = numbers[region];
    }
    t->regions = kept;
}

static OrtStatus *find_regions(xpu_ep_trial *t) {
    for (int changed = 1; changed;) {
        changed = 0;
        XPU_TRY(try_all(t));
        drop_poor(t);
        t->compiled = XPU_NEW_ARRAY(t->graph.arena, const xpu_ep_compiled *, t->regions + 1);
        for (uint32_t r = 1; r <= t->regions; r++) XPU_TRY(xpu_ep_prepare_region(t, r, &changed));
    }
    return NULL;
}

/* ---- what is said of it ---- */

/* The text, if there is one, with this provider's options where it names the tools'. */
static void set_text(xpu_arena *arena, json_t *entry, const char *key, const char *text) {
    if (!text) return;
    char *own = xpu_words_of(xpu_escape_message(arena, text, 800), XPU_WORDS_ONNXRUNTIME);
    json_t *made = own ? json_string(own) : NULL;
    free(own);
    xpu_json_set(arena, entry, key, made);
}

/* Each node with its region, or with the reason why it has none. */
static OrtStatus *write_report(xpu_ep_trial *t) {
    xpu_arena *arena = t->graph.arena;
    xpu_diags *diags = xpu_diags_new(arena);
    json_t *top = xpu_json_own(arena, json_object());
    xpu_json_set(arena, top, "regions", json_integer(t->regions));
    json_t *nodes = xpu_json_set(arena, top, "nodes", json_array());
    for (uint32_t n = 0; n < t->graph.node_count; n++) {
        const xpu_ep_node *node = &t->graph.nodes[n];
        json_t *entry = xpu_json_append(arena, nodes, json_object());
        xpu_json_set(arena, entry, "name", json_string(xpu_escape(arena, node->name, 400)));
        xpu_json_set(arena, entry, "op", json_string(xpu_escape(arena, node->op, 100)));
        xpu_json_set(arena, entry, "region", t->region_of[n] ? json_integer(t->region_of[n]) : json_null());
        if (t->region_of[n]) xpu_json_set(arena, entry, "computes", json_boolean(t->computes[n]));
        if (t->region_of[n]) continue;
        set_text(arena, entry, "why", node->why_not);
        set_text(arena, entry, "hint", node->hint);
    }
    if (xpu_json_write(arena, top, t->ep->options.report, diags) == XPU_OK) return NULL;
    char text[2000] = "the report cannot be written";
    if (diags->count) xpu_diag_text(diags, 0, text, sizeof text);
    xpu_ep_log(t->ep, ORT_LOGGING_LEVEL_ERROR, text);
    return NULL;
}

static void log_all(const xpu_ep_trial *t) {
    uint32_t taken = 0;
    for (uint32_t n = 0; n < t->graph.node_count; n++) {
        const xpu_ep_node *node = &t->graph.nodes[n];
        taken += t->region_of[n] != 0;
        if (t->region_of[n] || !node->why_not) continue;
        xpu_ep_log(t->ep, ORT_LOGGING_LEVEL_INFO,
                   xpu_printf(t->graph.arena, "node '%s' (%s) is left to onnxruntime: %s%s%s",
                              xpu_escape(t->graph.arena, node->name, 100), xpu_escape(t->graph.arena, node->op, 100),
                              node->why_not, node->hint ? "; " : "", node->hint ? node->hint : ""));
    }
    xpu_ep_log(t->ep, ORT_LOGGING_LEVEL_INFO,
               xpu_printf(t->graph.arena, "%u of %u nodes run on the chip, in %u regions", taken, t->graph.node_count,
                          t->regions));
}

/* ---- the call ---- */

typedef struct {
    xpu_ep *ep;
    const OrtGraph *graph;
    OrtEpGraphSupportInfo *info;
} question;

static OrtStatus *claim(const question *q, const OrtNode *const *nodes, size_t count) {
    OrtNodeFusionOptions options = {.ort_version_supported = XPU_EP_API, .drop_constant_initializers = true};
    return q->ep->factory->ep_api->EpGraphSupportInfo_AddNodesToFuse(q->info, nodes, count, &options);
}

/* A model that has programs in it has what it needs: each is a region. */
static OrtStatus *claim_contexts(const question *q, xpu_ep_trial *t) {
    for (uint32_t n = 0; n < t->graph.node_count; n++) {
        int is = 0;
        XPU_TRY(xpu_ep_is_context(q->ep->factory->api, t->graph.arena, t->graph.nodes[n].node, &is));
        if (!is) continue;
        XPU_TRY(claim(q, &t->graph.nodes[n].node, 1));
        t->region_of[n] = ++t->regions;
        t->computes[n] = 1;
    }
    for (uint32_t n = 0; t->regions && n < t->graph.node_count; n++) {
        xpu_ep_node *node = &t->graph.nodes[n];
        node->why_not = strcmp(node->op, "EPContext") == 0
                            ? "[provider-context] another provider made it"
                            : "[provider-context] the model brings its programs: nothing is compiled";
    }
    return NULL;
}

static OrtStatus *claim_regions(const question *q, const xpu_ep_trial *t) {
    const OrtNode **nodes = XPU_NEW_ARRAY(t->graph.arena, const OrtNode *, t->graph.node_count + 1);
    for (uint32_t r = 1; r <= t->regions; r++) {
        size_t count = 0;
        for (uint32_t n = 0; n < t->graph.node_count; n++) {
            if (t->region_of[n] == r) nodes[count++] = t->graph.nodes[n].node;
        }
        XPU_TRY(claim(q, nodes, count));
    }
    return NULL;
}

/* Whether the graph is the body of a node. Release 1.23 does not say; the model's name is that of its main graph. */
static OrtStatus *is_body(const question *q, int *is) {
    const OrtApi *api = q->ep->factory->api;
    const OrtNode *parent = NULL;
    OrtModelMetadata *metadata = NULL;
    OrtAllocator *allocator = NULL;
    const char *name = NULL;
    char *main_name = NULL;
    XPU_TRY(api->Graph_GetParentNode(q->graph, &parent));
    *is = parent != NULL;
    if (parent || q->ep->factory->api_24) return NULL;
    XPU_TRY(api->Graph_GetName(q->graph, &name));
    XPU_TRY(api->GetAllocatorWithDefaultOptions(&allocator));
    XPU_TRY(api->Graph_GetModelMetadata(q->graph, &metadata));
    OrtStatus *status = api->ModelMetadataGetGraphName(metadata, allocator, &main_name);
    if (!status) *is = strcmp(name, main_name) != 0;
    if (main_name) allocator->Free(allocator, main_name);
    api->ReleaseModelMetadata(metadata);
    return status;
}

/* Of an error here onnxruntime says nothing but a line in its log, and goes on without the provider: Compile returns
 * what the user has to hear, so it gets something to compile. */
static OrtStatus *refuse(const question *q, const xpu_ep_graph *graph, OrtStatus *status) {
    q->ep->refusal = status;
    return graph->node_count ? claim(q, &graph->nodes[0].node, 1) : NULL;
}

/* onnxruntime asks once more after it has put the bodies of functions into the graph: that one is judged anew. */
static void forget_refusal(xpu_ep *ep) {
    if (!ep->refusal) return;
    ep->factory->api->ReleaseStatus(ep->refusal);
    ep->refusal = NULL;
    ep->rules_are_checked = 0;
}

static OrtStatus *answer(void *context, xpu_arena *arena) {
    const question *q = context;
    xpu_ep_trial t = {.ep = q->ep};
    int is_inner;
    XPU_TRY(is_body(q, &is_inner));
    if (is_inner) return NULL; /* branches and loops are taken whole, with the node that they belong to */
    forget_refusal(q->ep);
    XPU_TRY(xpu_ep_read_graph(q->ep->factory, arena, q->graph, &t.graph));
    if (!t.graph.node_count) return NULL;
    t.takes = XPU_NEW_ARRAY(arena, uint8_t, t.graph.node_count);
    t.computes = XPU_NEW_ARRAY(arena, uint8_t, t.graph.node_count);
    t.products = XPU_NEW_ARRAY(arena, uint8_t, t.graph.node_count);
    t.region_of = XPU_NEW_ARRAY(arena, uint32_t, t.graph.node_count);
    XPU_TRY(claim_contexts(q, &t));
    if (t.regions) {
        log_all(&t);
        return q->ep->options.report ? write_report(&t) : NULL;
    }
    OrtStatus *wrong = xpu_ep_check_sizes(q->ep->factory->api, &q->ep->options, arena, q->graph);
    if (wrong) return refuse(q, &t.graph, wrong);
    memset(t.takes, 1, t.graph.node_count);
    XPU_TRY(find_regions(&t));
    if (q->ep->options.report) XPU_TRY(write_report(&t));
    log_all(&t);
    wrong = xpu_ep_check_rules(&t);
    if (wrong) return refuse(q, &t.graph, wrong);
    return claim_regions(q, &t);
}

OrtStatus *ORT_API_CALL xpu_ep_get_capability(OrtEp *base, const OrtGraph *graph, OrtEpGraphSupportInfo *info) {
    xpu_ep *ep = (xpu_ep *)base;
    return xpu_ep_guarded(ep->factory->api, answer, &(question){ep, graph, info});
}
