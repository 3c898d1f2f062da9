/* Precision and placement rules, and bounds: each has to match something of some region. */
#include <jansson.h>
#include <string.h>

#include "base/diag.h"
#include "base/json.h"
#include "provider/trial.h"

static const char *text_of(const json_t *entry, const char *key) {
    const char *text = json_string_value(json_object_get(entry, key));
    return text ? text : "";
}

static int is_unused(const json_t *entry) {
    return strcmp(text_of(entry, "rule"), "rules-unused") == 0 || strcmp(text_of(entry, "rule"), "bound-option") == 0;
}

/* What is said of the same rule. */
static const json_t *same_in(const json_t *messages, const json_t *entry) {
    size_t i;
    json_t *other;
    json_array_foreach(messages, i, other) {
        if (is_unused(other) && strcmp(text_of(other, "file"), text_of(entry, "file")) == 0 &&
            strcmp(text_of(other, "where"), text_of(entry, "where")) == 0)
            return other;
    }
    return NULL;
}

/* xpuc says of a region one severity less than of a model that is whole. */
static void add(xpu_diags *diags, const json_t *entry, const char *hint) {
    int fails = strcmp(text_of(entry, "severity"), "warning") == 0;
    xpu_diag_add(diags, fails ? XPU_SEVERITY_ERROR : XPU_SEVERITY_WARNING, fails ? XPU_EUSAGE : XPU_OK,
                 json_string_value(json_object_get(entry, "file")), text_of(entry, "rule"), text_of(entry, "where"),
                 text_of(entry, "what"), text_of(entry, "why"), hint);
}

static void add_unused(const xpu_ep_trial *trial, json_t *const *messages, xpu_diags *diags) {
    size_t i;
    json_t *entry;
    json_array_foreach(messages[1], i, entry) {
        if (!is_unused(entry)) continue;
        const char *hint = text_of(entry, "hint");
        uint32_t regions = 1;
        for (uint32_t r = 2; r <= trial->regions; r++) {
            const json_t *same = same_in(messages[r], entry);
            if (same && !strstr(hint, "nearest")) hint = text_of(same, "hint");
            regions += same != NULL;
        }
        if (regions == trial->regions) add(diags, entry, hint);
    }
}

OrtStatus *xpu_ep_check_rules(xpu_ep_trial *trial) {
    xpu_ep *ep = trial->ep;
    xpu_arena *arena = trial->graph.arena;
    const xpu_ep_options *options = &ep->options;
    if (ep->rules_are_checked || (!options->precision_rules && !options->memory_rules && !options->bounds)) return NULL;
    if (!trial->regions) {
        xpu_ep_log(ep, ORT_LOGGING_LEVEL_WARNING, "nothing runs on the chip: rules and bounds are not looked at");
        return NULL;
    }
    json_t **messages = XPU_NEW_ARRAY(arena, json_t *, trial->regions + 1);
    for (uint32_t r = 1; r <= trial->regions; r++) {
        const xpu_ep_compiled *compiled = trial->compiled[r];
        if (!compiled) return NULL; /* Compile says what is wrong with it */
        if (compiled->messages) messages[r] = xpu_json_own(arena, json_loads(compiled->messages, 0, NULL));
    }
    xpu_diags *diags = xpu_diags_new(arena);
    add_unused(trial, messages, diags);
    ep->rules_are_checked = 1;
    if (!diags->count) return NULL;
    char *text = xpu_diags_text(diags, arena);
    text[strlen(text) - 1] = '\0'; /* the last newline */
    if (diags->errors) return xpu_ep_fail(ep->factory->api, ORT_INVALID_ARGUMENT, text);
    xpu_ep_log(ep, ORT_LOGGING_LEVEL_WARNING, text);
    return NULL;
}
