#include "provider/trial.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"

enum { STATUS_MODEL = 1 }; /* docs/errors.md: the model is invalid or not supported */

static const char *text_of(xpu_ep_trial *trial, const json_t *object, const char *key) {
    const char *text = json_string_value(json_object_get(object, key));
    return text ? xpu_strdup(trial->graph.arena, text) : NULL;
}

typedef struct {
    const char *why, *hint; /* hint: or NULL */
} reason;

static void refuse(xpu_ep_trial *trial, uint32_t node, reason because, int *changed) {
    if (!trial->takes[node]) return;
    trial->takes[node] = 0;
    trial->graph.nodes[node].why_not = because.why;
    trial->graph.nodes[node].hint = because.hint;
    *changed = 1;
}

/* ---- the compiler's errors ---- */

/* "node 'x' (Add-7, #1) in then_branch of node 'y' (If-13, #3)" gives 3: the last one is a node of the graph. */
static int node_in(const char *where, uint32_t *index) {
    int found = 0;
    for (const char *at = where; (at = strstr(at, ", #")); at++) {
        char *end;
        unsigned long number = strtoul(at + 3, &end, 10);
        if (end == at + 3 || *end != ')') continue;
        *index = (uint32_t)number;
        found = 1;
    }
    return found;
}

/* "input 'x'": the nodes that take it. */
static int refuse_users(xpu_ep_trial *trial, uint32_t region, const char *where, reason because, int *changed) {
    size_t length = strlen(where), start = strlen("input '");
    int found = 0;
    if (strncmp(where, "input '", start) != 0 || length <= start || where[length - 1] != '\'') return 0;
    const char *name = xpu_strndup(trial->graph.arena, where + start, length - start - 1);
    const uint32_t *value = xpu_name_find(&trial->graph.by_name, name);
    for (uint32_t i = 0; value && i < trial->graph.values.items[*value].consumers.count; i++) {
        uint32_t user = trial->graph.values.items[*value].consumers.items[i];
        if (trial->region_of[user] != region) continue;
        refuse(trial, user, because, changed);
        found = 1;
    }
    return found;
}

static void refuse_region(xpu_ep_trial *trial, uint32_t region, reason because, int *changed) {
    for (uint32_t n = 0; n < trial->graph.node_count; n++) {
        if (trial->region_of[n] == region) refuse(trial, n, because, changed);
    }
}

/* What the compiler does not take; where no node is named, nothing of the region. */
static void take_errors(xpu_ep_trial *trial, uint32_t region, const xpu_ep_model *model, const xpuc_error *error,
                        int *changed) {
    json_t *list = xpu_json_own(trial->graph.arena, json_loads(error->json ? error->json : "[]", 0, NULL)), *entry;
    reason first = {.why = NULL};
    int found = 0;
    size_t i;
    json_array_foreach(list, i, entry) {
        uint32_t index;
        const char *severity = json_string_value(json_object_get(entry, "severity"));
        const char *where = json_string_value(json_object_get(entry, "where"));
        if (!severity || strcmp(severity, "error") != 0) continue;
        const char *rule = text_of(trial, entry, "rule"), *what = text_of(trial, entry, "what"),
                   *why = text_of(trial, entry, "why");
        reason because = {.hint = text_of(trial, entry, "hint")};
        because.why = xpu_printf(trial->graph.arena, "[%s] %s%s%s", rule ? rule : "", what ? what : "", why ? ": " : "",
                                 why ? why : "");
        if (!first.why) first = because;
        if (where && node_in(where, &index) && index < model->node_count) {
            refuse(trial, model->nodes[index], because, changed);
            found = 1;
        } else if (where) {
            found |= refuse_users(trial, region, where, because, changed);
        }
    }
    if (!first.why) first.why = "the compiler refuses the graph";
    if (!found) refuse_region(trial, region, first, changed);
}

/* ---- where the nodes run ---- */

static void take_fates(xpu_ep_trial *trial, const xpu_ep_model *model, const char *explanation, int *changed) {
    json_t *top = xpu_json_own(trial->graph.arena, json_loads(explanation, 0, NULL)), *entry;
    size_t i;
    for (uint32_t n = 0; n < model->node_count; n++)
        trial->computes[model->nodes[n]] = trial->products[model->nodes[n]] = 0;
    json_array_foreach(json_object_get(top, "nodes"), i, entry) {
        const json_t *within = json_object_get(entry, "within");
        json_int_t index = json_integer_value(within ? within : json_object_get(entry, "index"));
        const char *unit = json_string_value(json_object_get(entry, "unit"));
        if (!unit || index < 0 || index >= (json_int_t)model->node_count) continue;
        uint32_t node = model->nodes[index];
        trial->computes[node] = 1;
        if (json_is_true(json_object_get(entry, "product"))) trial->products[node] = 1;
        if (strcmp(unit, "host") != 0) continue;
        const char *why = text_of(trial, entry, "why");
        refuse(trial, node, (reason){why ? why : "the chip does not compute it", NULL}, changed);
    }
}

static int was_tried(const xpu_ep_trial *trial, const xpu_hash *key) {
    for (uint32_t i = 0; i < trial->tried.count; i++) {
        if (xpu_hash_equal(&trial->tried.items[i], key)) return 1;
    }
    return 0;
}

static int is_machines(int status) {
    return status != 0 && status != STATUS_MODEL;
}

/* The region's model; bytes NULL and *changed where a node cannot be written. */
static OrtStatus *write_region(xpu_ep_trial *trial, uint32_t region, xpu_ep_model *model, int *changed) {
    XPU_TRY(xpu_ep_write_model(&trial->graph, trial->region_of, region, model));
    for (uint32_t n = 0; !model->bytes && n < trial->graph.node_count; n++) {
        const char *why = trial->graph.nodes[n].why_not;
        if (trial->region_of[n] == region && why) refuse(trial, n, (reason){why, NULL}, changed);
    }
    return NULL;
}

/* No reason to leave nodes to the CPU silently: they stay, and Compile says what is wrong. */
static void keep(xpu_ep_trial *trial, const xpu_ep_model *model) {
    for (uint32_t n = 0; n < model->node_count; n++)
        trial->computes[model->nodes[n]] = trial->products[model->nodes[n]] = 1;
}

/* What the compiler says; cleared with the arena where memory runs out before. */
typedef struct {
    xpuc_result result;
    xpuc_error error;
} answer;

static void clear_answer(void *object) {
    answer *a = object;
    xpuc_result_clear(&a->result);
    xpuc_error_clear(&a->error);
}

static answer *new_answer(xpu_arena *arena) {
    answer *a = XPU_NEW(arena, answer);
    xpu_arena_defer(arena, clear_answer, a);
    return a;
}

OrtStatus *xpu_ep_try_region(xpu_ep_trial *trial, uint32_t region, int *changed) {
    xpu_ep_model model;
    xpuc_options options = xpu_ep_compile_options(&trial->ep->options);
    int refused = 0;
    XPU_TRY(write_region(trial, region, &model, changed));
    if (!model.bytes) return NULL;
    xpu_hash key = xpu_hash_of(model.bytes, model.size);
    if (was_tried(trial, &key)) return NULL;
    options.emit = "ir";
    options.explain = "json";
    xpu_ep_set_sizes(&trial->ep->options, trial->graph.arena, &model, &options);
    answer *a = new_answer(trial->graph.arena);
    xpuc_compile_memory(model.bytes, model.size, "graph.onnx", &options, &a->result, &a->error);
    if (is_machines(a->error.status))
        keep(trial, &model);
    else if (!a->error.status)
        take_fates(trial, &model, a->result.explanation ? a->result.explanation : "{}", &refused);
    else
        take_errors(trial, region, &model, &a->error, &refused);
    clear_answer(a);
    if (!refused) XPU_PUSH(trial->graph.arena, &trial->tried, key);
    *changed |= refused;
    return NULL;
}

OrtStatus *xpu_ep_prepare_region(xpu_ep_trial *trial, uint32_t region, int *changed) {
    xpu_ep_model model;
    XPU_TRY(write_region(trial, region, &model, changed));
    if (!model.bytes) return NULL;
    answer *a = new_answer(trial->graph.arena);
    xpu_ep_compile_once(trial->ep, trial->graph.arena, &model, &trial->compiled[region], &a->error);
    if (a->error.status && !is_machines(a->error.status)) take_errors(trial, region, &model, &a->error, changed);
    clear_answer(a);
    return NULL;
}
