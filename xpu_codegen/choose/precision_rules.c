/* The user's precisions for single layers: --precision-rules. */
#include "xpu_codegen/choose/precision_rules.h"

#include <inttypes.h>
#include <string.h>

#include "base/json.h"
#include "base/option.h"

enum { MAX_RULES = 4096, MAX_GLOB = 1024, MAX_REPORTED = 100 };

static const char *const modes[] = {[XPU_MODE_AUTO] = "auto",
                                    [XPU_MODE_FP32] = "fp32",
                                    [XPU_MODE_INT16] = "int16",
                                    [XPU_MODE_INT16X8] = "int16x8",
                                    NULL};

const char *xpu_mode_name(int mode) {
    return modes[mode];
}

static void parse_rule(xpu_arena *arena, json_t *value, const char *file, uint32_t index, xpu_precision_rule *rule,
                       xpu_diags *diags) {
    xpu_json_object object;
    const char *path = xpu_printf(arena, "rules[%" PRIu32 "]", index);
    if (!xpu_json_open(&object, arena, value, file, path, diags)) return;
    const char *match = xpu_json_string(&object, "match");
    int mode = xpu_json_choice(&object, "precision", modes);
    int row_scales = xpu_json_bool_or(&object, "row_scales", 1);
    xpu_json_done(&object);
    if (!match || mode < 0) return;
    if (strlen(match) > MAX_GLOB) {
        xpu_error(diags, XPU_EUSAGE, file, "rules-match", xpu_printf(arena, "key '%s.match'", path),
                  "the match is too long", "a match has at most 1024 bytes", "use a shorter pattern with *");
        return;
    }
    *rule = (xpu_precision_rule){
        .match = xpu_strdup(arena, match), .mode = (xpu_precision_mode)mode, .row_scales = row_scales};
}

xpu_status xpu_precision_rules_read(xpu_arena *arena, const char *path, xpu_precision_rules *rules, xpu_diags *diags) {
    size_t before = diags->count, errors = diags->errors;
    *rules = (xpu_precision_rules){.file = xpu_strdup(arena, path)};
    json_t *root = xpu_json_read(arena, path, diags);
    if (!root) return before < diags->count ? diags->items[before].status : xpu_error_oom(diags);
    xpu_json_object object;
    if (!xpu_json_open(&object, arena, root, rules->file, "", diags)) return XPU_EUSAGE;
    json_t *list = xpu_json_array(&object, "rules");
    xpu_json_done(&object);
    size_t count = list ? json_array_size(list) : 0;
    if (count > MAX_RULES) {
        return xpu_error(diags, XPU_EUSAGE, rules->file, "rules-count", "key 'rules'",
                         xpu_printf(arena, "there are %zu rules", count), "a file has at most 4096 rules",
                         "join rules with wildcards");
    }
    rules->items = XPU_NEW_ARRAY(arena, xpu_precision_rule, count);
    for (size_t i = 0; i < count && diags->errors < errors + MAX_REPORTED; i++) {
        parse_rule(arena, json_array_get(list, i), rules->file, (uint32_t)i, &rules->items[i], diags);
    }
    if (diags->errors > errors) return XPU_EUSAGE;
    rules->count = (uint32_t)count;
    return XPU_OK;
}

xpu_status xpu_precision_rules_unused(xpu_arena *arena, const xpu_precision_rules *rules, const char *const *names,
                                      xpu_diags *diags) {
    xpu_status status = XPU_OK;
    for (uint32_t i = 0; i < rules->count; i++) {
        const char *match = rules->items[i].match;
        if (rules->items[i].matched) continue;
        xpu_severity severity = strpbrk(match, "*?[\\") ? XPU_SEVERITY_WARNING : XPU_SEVERITY_ERROR;
        if (rules->is_of_part) severity = xpu_milder(severity);
        const char *nearest = xpu_nearest(match, names);
        int fails = severity == XPU_SEVERITY_ERROR;
        xpu_diag_add(diags, severity, fails ? XPU_EUSAGE : XPU_OK, rules->file, "rules-unused",
                     xpu_printf(arena, "key 'rules[%" PRIu32 "]'", i), "the rule matches no layer that has a choice",
                     xpu_printf(arena, "the match is \"%s\"; convolutions and matrix products by constants have one",
                                xpu_escape(arena, match, 80)),
                     nearest ? xpu_printf(arena, "the nearest name is '%s'", xpu_escape(arena, nearest, 100))
                             : "see the names of layers and nodes in --explain, or remove the rule");
        if (fails) status = XPU_EUSAGE;
    }
    return status;
}
