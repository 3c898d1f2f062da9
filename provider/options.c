/* Options of the provider: what SessionOptions give to it. */
#include <stddef.h>
#include <string.h>
#include <strings.h>

#include "base/diag.h"
#include "base/option.h"
#include "provider/provider.h"

/* "ep.", the provider's name in lower case and "." are what onnxruntime puts before the names of its options. NULL: it
 * is no option of this provider. */
static const char *own_option(const char *key) {
    size_t start = strlen("ep."), length = strlen(XPU_EP_NAME);
    if (strncmp(key, "ep.", start) != 0 || strncasecmp(key + start, XPU_EP_NAME, length) != 0) return NULL;
    return key[start + length] == '.' ? key + start + length + 1 : NULL;
}

typedef struct {
    const char *name, *fallback, *choices; /* choices: "a b c", or NULL */
    size_t offset;                         /* of a const char * of xpu_ep_options */
} option;

#define TEXT(member, fallback, choices) {#member, fallback, choices, offsetof(xpu_ep_options, member)}

static const option texts[] = {
    TEXT(chip, NULL, NULL),
    TEXT(device, "func", "func rtl ref"),
    TEXT(precision, NULL, "auto fp32 int16 int16x8"),
    TEXT(precision_rules, NULL, NULL),
    TEXT(memory_rules, NULL, NULL),
    TEXT(shapes, NULL, NULL),
    TEXT(values, NULL, NULL),
    TEXT(bounds, NULL, NULL),
    TEXT(zig, NULL, NULL),
    TEXT(dump, NULL, NULL),
    TEXT(profile, NULL, NULL),
    TEXT(report, NULL, NULL),
    TEXT(min_products, NULL, NULL),
};
enum { TEXT_COUNT = sizeof texts / sizeof texts[0] };

static OrtStatus *wrong(const OrtApi *api, xpu_arena *arena, const char *rule, const char *what, const char *why,
                        const char *hint) {
    return xpu_ep_fail(api, ORT_INVALID_ARGUMENT,
                       xpu_printf(arena, "error [%s] %s\n  why: %s\n  hint: %s", rule, what, why, hint));
}

/* Whether one of the words of `list` is `word`. */
static int is_listed(const char *list, const char *word) {
    size_t length = strlen(word);
    for (const char *at = list; (at = strstr(at, word)); at += length) {
        if ((at == list || at[-1] == ' ') && (at[length] == ' ' || !at[length])) return length > 0;
    }
    return 0;
}

static OrtStatus *check_number(const OrtApi *api, xpu_arena *arena, const char *text) {
    if (text[0] && strlen(text) < 19 && strspn(text, "0123456789") == strlen(text)) return NULL;
    return wrong(api, arena, "provider-value", "option 'min_products' is no number",
                 xpu_printf(arena, "it is '%s'", xpu_escape(arena, text, 100)),
                 "give a number from 0 on: so many products a region needs");
}

static OrtStatus *set_option(const OrtApi *api, xpu_arena *arena, const char *name, const char *value,
                             xpu_ep_options *to) {
    xpu_text known;
    xpu_text_init(&known, arena);
    for (int i = 0; i < TEXT_COUNT; i++) {
        const option *o = &texts[i];
        xpu_text_add(&known, "%s%s", i ? ", " : "", o->name);
        if (strcmp(name, o->name) != 0) continue;
        if (o->choices && !is_listed(o->choices, value)) {
            return wrong(api, arena, "provider-value", xpu_printf(arena, "option '%s' has no such value", name),
                         xpu_printf(arena, "it is '%s'", xpu_escape(arena, value, 100)),
                         xpu_printf(arena, "one of: %s", o->choices));
        }
        if (strcmp(name, "min_products") == 0) XPU_TRY(check_number(api, arena, value));
        *(const char **)(void *)((char *)to + o->offset) = value[0] ? xpu_strdup(arena, value) : o->fallback;
        return NULL;
    }
    return wrong(api, arena, "provider-option",
                 xpu_printf(arena, "the provider has no option '%s'", xpu_escape(arena, name, 100)),
                 xpu_printf(arena, "it has %s", known.text), "docs/onnxruntime.md says what they do");
}

static OrtStatus *set_all(const OrtApi *api, xpu_arena *arena, const OrtKeyValuePairs *pairs, xpu_ep_options *to) {
    const char *const *keys, *const *values;
    size_t count = 0;
    api->GetKeyValuePairs(pairs, &keys, &values, &count);
    to->context_path = "";
    for (int i = 0; i < TEXT_COUNT; i++) *(const char **)(void *)((char *)to + texts[i].offset) = texts[i].fallback;
    for (size_t i = 0; i < count; i++) {
        const char *own = own_option(keys[i]);
        if (own)
            XPU_TRY(set_option(api, arena, own, values[i], to));
        else if (strcmp(keys[i], "ep.context_enable") == 0)
            to->makes_context = strcmp(values[i], "1") == 0;
        else if (strcmp(keys[i], "ep.context_embed_mode") == 0)
            to->embeds_context = strcmp(values[i], "1") == 0;
        else if (strcmp(keys[i], "ep.context_file_path") == 0)
            to->context_path = xpu_strdup(arena, values[i]);
    }
    return NULL;
}

typedef struct {
    const OrtApi *api;
    OrtKeyValuePairs *pairs;
} held_pairs;

static void release_pairs(void *object) {
    held_pairs *held = object;
    if (held->pairs) held->api->ReleaseKeyValuePairs(held->pairs);
    held->pairs = NULL;
}

OrtStatus *xpu_ep_read_options(const OrtApi *api, xpu_arena *arena, const OrtSessionOptions *from, xpu_ep_options *to) {
    held_pairs *held = XPU_NEW(arena, held_pairs);
    held->api = api;
    xpu_arena_defer(arena, release_pairs, held);
    XPU_TRY(api->GetSessionOptionsConfigEntries(from, &held->pairs));
    OrtStatus *status = set_all(api, arena, held->pairs, to);
    release_pairs(held);
    return status;
}

xpuc_options xpu_ep_compile_options(const xpu_ep_options *options) {
    return (xpuc_options){.chip = options->chip,
                          .precision = options->precision,
                          .precision_rules = options->precision_rules,
                          .zig = options->zig,
                          .is_part = 1};
}

/* ---- sizes and values of inputs: "a=1;b=2" ---- */

/* The part that begins at *at, which goes on behind it; NULL: there is none. */
static const char *next_part(xpu_arena *arena, const char **at) {
    *at += strspn(*at, ";");
    size_t length = strcspn(*at, ";");
    const char *part = xpu_strndup(arena, *at, length);
    *at += length;
    return length ? part : NULL;
}

static int is_for(const char *part, const char *name) {
    size_t length = strlen(name);
    return strncmp(part, name, length) == 0 && part[length] == '=';
}

static int is_for_one(const char *part, const char *const *names) {
    while (*names && !is_for(part, *names)) names++;
    return *names != NULL;
}

static OrtStatus *check_names(const OrtApi *api, xpu_arena *arena, const char *which, const char *text,
                              const char *const *names) {
    for (const char *part; text && (part = next_part(arena, &text));) {
        const char *sign = strchr(part, '=');
        if (is_for_one(part, names)) continue;
        if (!sign) {
            return wrong(api, arena, "provider-value", xpu_printf(arena, "option '%s' says nothing of an input", which),
                         xpu_printf(arena, "'%s' has no =", xpu_escape(arena, part, 100)),
                         "write NAME=NUMBERS, separated by semicolons");
        }
        const char *name = xpu_strndup(arena, part, (size_t)(sign - part)), *nearest = xpu_nearest(name, names);
        xpu_text all;
        xpu_text_init(&all, arena);
        for (int i = 0; names[i] && i < 10; i++)
            xpu_text_add(&all, "%s'%s'", i ? ", " : "", xpu_escape(arena, names[i], 100));
        return wrong(api, arena, "provider-value",
                     xpu_printf(arena, "option '%s': the model has no input '%s'", which, xpu_escape(arena, name, 100)),
                     xpu_printf(arena, "its inputs are %s", all.text),
                     nearest ? xpu_printf(arena, "the nearest name is '%s'", xpu_escape(arena, nearest, 100))
                             : "write the name of one of them");
    }
    return NULL;
}

OrtStatus *xpu_ep_check_sizes(const OrtApi *api, const xpu_ep_options *options, xpu_arena *arena,
                              const OrtGraph *graph) {
    size_t count;
    if (!options->shapes && !options->values) return NULL;
    XPU_TRY(api->Graph_GetNumInputs(graph, &count));
    const OrtValueInfo **infos = XPU_NEW_ARRAY(arena, const OrtValueInfo *, count + 1);
    const char **names = XPU_NEW_ARRAY(arena, const char *, count + 1);
    if (count) XPU_TRY(api->Graph_GetInputs(graph, infos, count));
    uint32_t named = 0;
    for (size_t i = 0; i < count; i++) {
        bool may_be_given, is_fixed; /* of one that has a value in the model */
        XPU_TRY(api->ValueInfo_IsOptionalGraphInput(infos[i], &may_be_given));
        XPU_TRY(api->ValueInfo_IsConstantInitializer(infos[i], &is_fixed));
        if (!may_be_given && !is_fixed) XPU_TRY(api->GetValueInfoName(infos[i], &names[named++]));
    }
    XPU_TRY(check_names(api, arena, "shapes", options->shapes, names));
    return check_names(api, arena, "values", options->values, names);
}

/* The parts, of which a part of the graph may have only some; those for its inputs, or all where model is NULL. */
static const char *const *parts_for(xpu_arena *arena, const char *text, const xpu_ep_model *model) {
    uint32_t count = 0;
    if (!text) return NULL;
    const char **parts = XPU_NEW_ARRAY(arena, const char *, strlen(text) + 2);
    for (const char *part; (part = next_part(arena, &text));) {
        if (!model || is_for_one(part, model->inputs)) parts[count++] = part;
    }
    return count ? parts : NULL;
}

void xpu_ep_set_sizes(const xpu_ep_options *from, xpu_arena *arena, const xpu_ep_model *model, xpuc_options *to) {
    to->shapes = parts_for(arena, from->shapes, model);
    to->values = parts_for(arena, from->values, model);
    to->bounds = parts_for(arena, from->bounds, NULL);
}
