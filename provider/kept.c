/* What an EPContext node says of its program: which inputs of the model are constants of it, and with which options it
 * was compiled. Its notes are lines of a key, a length and so many bytes: they may have any characters. */
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "core/chip.h"
#include "provider/provider.h"
#include "xpuc/pipeline.h"

enum { MAX_RULES = 64 << 20 };

/* ---- options that a program is compiled with ---- */

/* A file's content counts, not where it stands, nor how its JSON is written: its hash, a space, and its name. */
static const char *file_text(xpu_arena *arena, const char *path, xpu_diags *diags) {
    size_t size;
    const void *bytes = path ? xpu_file_read_all(arena, path, MAX_RULES, &size, diags) : NULL;
    if (!bytes) return NULL;
    json_t *content = json_loadb(bytes, size, 0, NULL);
    char *plain = content ? json_dumps(content, JSON_COMPACT | JSON_SORT_KEYS) : NULL;
    xpu_hash hash = plain ? xpu_hash_of(plain, strlen(plain)) : xpu_hash_of(bytes, size);
    free(plain);
    json_decref(content);
    return xpu_printf(arena, "%s %s", xpu_hash_text(arena, &hash), xpu_path_name(path));
}

enum { KEPT_COUNT = 7 };
static const struct {
    const char *name, *fallback;
    enum { WORD, RULES, PARTS, NUMBER } kind; /* PARTS: "a=1;b=2" */
} kept_options[KEPT_COUNT] = {{"precision", "auto", WORD},  {"precision_rules", "", RULES}, {"memory_rules", "", RULES},
                              {"shapes", "", PARTS},        {"values", "", PARTS},          {"bounds", "", PARTS},
                              {"min_products", "1", NUMBER}};

/* What was given, in the order of kept_options; NULL: not given. */
static void read_given(xpu_arena *arena, const xpu_ep_options *options, const char **given, xpu_diags *diags) {
    const char *const texts[KEPT_COUNT] = {options->precision,
                                           file_text(arena, options->precision_rules, diags),
                                           file_text(arena, options->memory_rules, diags),
                                           options->shapes,
                                           options->values,
                                           options->bounds,
                                           options->min_products};
    memcpy(given, texts, sizeof texts);
}

static void add_line(xpu_text *text, const char *key, const char *value) {
    xpu_text_add(text, "%s %zu %s\n", key, strlen(value), value);
}

char *xpu_ep_write_notes(const xpu_ep *ep, xpu_arena *arena, const xpu_ep_program *program) {
    const char *given[KEPT_COUNT];
    xpu_text text;
    xpu_text_init(&text, arena);
    for (uint32_t i = 0; i < program->fixed_count; i++)
        add_line(&text, xpu_hash_text(arena, &program->fixed[i].hash), program->fixed[i].name);
    read_given(arena, &ep->options, given, xpu_diags_new(arena));
    for (int i = 0; i < KEPT_COUNT; i++) {
        if (given[i]) add_line(&text, kept_options[i].name, given[i]);
    }
    return text.text;
}

/* ---- reading them ---- */

static int read_hash(const char *text, size_t length, xpu_hash *hash) {
    if (length != (size_t)2 * XPU_HASH_BYTES || strspn(text, "0123456789abcdef") != length) return 0;
    for (int i = 0; i < XPU_HASH_BYTES; i++) {
        const char *digit = text + (size_t)2 * (size_t)i, digits[3] = {digit[0], digit[1], '\0'};
        hash->bytes[i] = (uint8_t)strtoul(digits, NULL, 16);
    }
    return 1;
}

static int take_line(xpu_ep_program *program, const char *key, size_t key_length, const char *value) {
    xpu_ep_fixed fixed = {.name = (char *)(uintptr_t)value}; /* it is only read */
    if (read_hash(key, key_length, &fixed.hash)) {
        program->fixed[program->fixed_count++] = fixed;
        return 1;
    }
    for (int i = 0; i < KEPT_COUNT; i++) {
        if (strncmp(key, kept_options[i].name, key_length) != 0 || kept_options[i].name[key_length]) continue;
        program->kept[i] = value;
        return 1;
    }
    return 0;
}

int xpu_ep_read_notes(xpu_arena *arena, const char *text, xpu_ep_program *program) {
    const char *end = text + strlen(text);
    program->fixed = XPU_NEW_ARRAY(arena, xpu_ep_fixed, (size_t)(end - text) / ((size_t)2 * XPU_HASH_BYTES) + 1);
    program->kept = XPU_NEW_ARRAY(arena, const char *, KEPT_COUNT);
    while (text < end) {
        size_t key_length = strcspn(text, " ");
        const char *number = text + key_length + (text[key_length] == ' ');
        char *value;
        unsigned long long length = strtoull(number, &value, 10);
        if (*number < '0' || *number > '9' || *value != ' ' || length >= (size_t)(end - value) - 1) return 0;
        if (value[1 + length] != '\n') return 0;
        if (!take_line(program, text, key_length, xpu_strndup(arena, value + 1, length))) return 0;
        text = value + 1 + length + 1;
    }
    return 1;
}

/* ---- what the session wants otherwise ---- */

static void complain(xpu_arena *arena, xpu_diags *diags, const char *option, const char *kept, const char *wanted) {
    xpu_error(diags, XPU_EUSAGE, NULL, "provider-context", xpu_printf(arena, "option '%s'", option),
              "the program of an EPContext node was compiled otherwise",
              xpu_printf(arena, "it was compiled with %s, the option is %s", kept, wanted),
              "leave the option out, or make the model again");
}

/* The first keys in which two chips differ: " (array.rows 32 against 8)". */
static const char *difference(xpu_arena *arena, const xpu_chip *a, const xpu_chip *b) {
    enum { MOST = 3 };
    const char *const *names = xpu_chip_key_names(arena, XPU_CHIP_ABI);
    uint32_t count = 0;
    xpu_text text;
    xpu_text_init(&text, arena);
    for (; *names; names++) {
        int key = xpu_chip_key(*names);
        uint32_t of_a = xpu_chip_key_value(a, key), of_b = xpu_chip_key_value(b, key);
        if (of_a == of_b || count++ >= MOST) continue;
        xpu_text_add(&text, "%s%s %u against %u", text.length ? ", " : " (", *names, of_a, of_b);
    }
    if (count > MOST) xpu_text_add(&text, ", and %u more", count - MOST);
    return count ? xpu_printf(arena, "%s)", text.text) : "";
}

static void check_chip(xpu_arena *arena, const char *wanted, const char *kept_json, xpu_diags *diags) {
    xpu_chip chip, kept;
    const char *folder = xpu_path_join(arena, xpu_find_resources(arena, NULL), "configs/chip");
    if (!wanted || xpu_chip_load(arena, folder, wanted, &chip, diags) != XPU_OK) return;
    if (xpu_chip_parse(arena, kept_json, strlen(kept_json), "EPContext", &kept, diags) != XPU_OK) return;
    if (strcmp(xpu_chip_json(arena, &chip), xpu_chip_json(arena, &kept)) == 0) return;
    complain(arena, diags, "chip", xpu_printf(arena, "'%s'", xpu_escape(arena, kept.name, 100)),
             xpu_printf(arena, "'%s'%s", xpu_escape(arena, chip.name, 100), difference(arena, &kept, &chip)));
}

static const char *shown(xpu_arena *arena, const char *value, int option) {
    if (!value[0]) return "none";
    const char *name = kept_options[option].kind == RULES ? strchr(value, ' ') : NULL;
    if (!name) return xpu_printf(arena, "'%s'", xpu_escape(arena, value, 100));
    return xpu_printf(arena, "'%s' of content %.8s", xpu_escape(arena, name + 1, 100), value);
}

/* Whether each part of `a` is one of `b`, in whatever order. */
static int has_parts(const char *a, const char *b) {
    for (a += strspn(a, ";"); *a; a += strspn(a, ";")) {
        size_t length = strcspn(a, ";");
        const char *found = b + strspn(b, ";");
        while (*found && (strcspn(found, ";") != length || strncmp(found, a, length) != 0)) {
            found += strcspn(found, ";");
            found += strspn(found, ";");
        }
        if (!*found) return 0;
        a += length;
    }
    return 1;
}

static int is_same(const char *a, const char *b, int option) {
    size_t hash = strcspn(a, " ");
    switch (kept_options[option].kind) {
    case RULES: return hash == strcspn(b, " ") && strncmp(a, b, hash) == 0;
    case PARTS: return has_parts(a, b) && has_parts(b, a);
    case NUMBER: return strtoull(a, NULL, 10) == strtoull(b, NULL, 10);
    default: return strcmp(a, b) == 0;
    }
}

OrtStatus *xpu_ep_check_kept(const xpu_ep *ep, xpu_arena *arena, const xpu_ep_program *program) {
    const char *given[KEPT_COUNT];
    xpu_diags *diags = xpu_diags_new(arena);
    check_chip(arena, ep->options.chip, program->chip_json, diags);
    read_given(arena, &ep->options, given, diags);
    for (int i = 0; i < KEPT_COUNT; i++) {
        const char *kept = program->kept && program->kept[i] ? program->kept[i] : kept_options[i].fallback;
        if (!given[i] || is_same(given[i], kept, i)) continue;
        complain(arena, diags, kept_options[i].name, shown(arena, kept, i), shown(arena, given[i], i));
    }
    if (!diags->errors) return NULL;
    char *text = xpu_diags_text(diags, arena);
    text[strlen(text) - 1] = '\0'; /* the last newline */
    return xpu_ep_fail(ep->factory->api, ORT_INVALID_ARGUMENT, text);
}
