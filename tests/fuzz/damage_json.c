/* Damage to JSON texts, token by token. */
#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/fuzz/hostile.h"

enum { MAX_TOKENS = 4096 };

typedef struct {
    size_t start, end;
    char kind; /* '"' string, '0' number, 'a' word, else the character itself */
} token;

typedef struct {
    token items[MAX_TOKENS];
    uint32_t count;
} tokens;

static void tokenise(hostile_file *file, tokens *list) {
    list->count = 0;
    hostile_add(file, "", 1); /* so that strtoll ends */
    file->size--;
    for (size_t at = 0; at < file->size && list->count < MAX_TOKENS;) {
        char c = (char)file->data[at];
        if (isspace((unsigned char)c)) {
            at++;
            continue;
        }
        token *t = &list->items[list->count++];
        *t = (token){at, at + 1, c};
        if (c == '"') {
            while (t->end < file->size && file->data[t->end] != '"') t->end += file->data[t->end] == '\\' ? 2 : 1;
            t->end = t->end < file->size ? t->end + 1 : file->size;
        } else if (isalnum((unsigned char)c) || c == '-') {
            t->kind = isalpha((unsigned char)c) ? 'a' : '0';
            while (t->end < file->size && (isalnum(file->data[t->end]) || strchr("+-.", (char)file->data[t->end])))
                t->end++;
        }
        at = t->end;
    }
}

/* Index of a random token of a kind ('v': anything that can be a value), or count. */
static uint32_t pick(hostile_random *random, const tokens *list, char kind) {
    for (int tries = 0; tries < 50 && list->count; tries++) {
        uint32_t i = hostile_below(random, list->count);
        char k = list->items[i].kind;
        if (kind == 'v' ? strchr("\"0a[{", k) != NULL : k == kind) return i;
    }
    return list->count;
}

/* The token behind the value that begins at token i. */
static uint32_t behind_value(const tokens *list, uint32_t i) {
    int depth = 0;
    for (; i < list->count; i++) {
        char k = list->items[i].kind;
        if (k == '[' || k == '{') depth++;
        if (k == ']' || k == '}') depth--;
        if (depth <= 0) return i + 1;
    }
    return i;
}

static void put(hostile_file *file, const token *t, const char *text) {
    hostile_replace(file, t->start, t->end - t->start, text, strlen(text));
}

static void damage_number(hostile_random *random, hostile_file *file, const token *t) {
    static const char *const odd[] = {"1e308",
                                      "1e999",
                                      "-1e999",
                                      "99999999999999999999",
                                      "-9223372036854775808",
                                      "0.5",
                                      "-0",
                                      "007",
                                      "0x10",
                                      "NaN",
                                      "1e-400",
                                      "1.0",
                                      "+1",
                                      "1.",
                                      "--1",
                                      "1e5"};
    char text[64];
    long long old = strtoll((const char *)file->data + t->start, NULL, 10);
    switch (hostile_below(random, 8)) {
    case 0: put(file, t, odd[hostile_below(random, sizeof odd / sizeof *odd)]); return;
    case 1: snprintf(text, sizeof text, "%" PRId64, hostile_number(random)); break;
    case 2:
    case 3:
    case 4:
        snprintf(text, sizeof text, "%lld", hostile_chance(random, 50) ? old / 2 : (long long)((uint64_t)old * 2));
        break;
    default: snprintf(text, sizeof text, "%lld", (long long)((uint64_t)old + hostile_below(random, 3) - 1));
    }
    put(file, t, text);
}

static void damage_string(hostile_random *random, hostile_file *file, const tokens *list, const token *t) {
    static const char *const odd[] = {
        "\"\"",         "\"\\u0000\"", "\"\\ud800\"", "\"a\\u0000b\"", "\"../../../../etc/passwd\"",
        "\"%s%n%d\"",   "\"*\"",       "\"[\"",       "\"\\\\\"",      "\"[!-\"",
        "\"\xff\xfe\"", "\"\\x\"",     "\"GM\"",      "\"/dev/null\"", "\".\"",
        "\"*/w\""};
    uint32_t kind = hostile_below(random, 10);
    if (kind == 0) {
        hostile_file text = {NULL, 0, 0};
        uint32_t length = hostile_below(random, 20000);
        hostile_add_text(&text, "\"");
        for (uint32_t i = 0; i < length; i++) hostile_add_text(&text, hostile_chance(random, 60) ? "*" : "a");
        hostile_add_text(&text, "\"");
        hostile_replace(file, t->start, t->end - t->start, text.data, text.size);
        hostile_clear(&text);
    } else if (kind < 5) {
        uint32_t i = pick(random, list, '"');
        const token *other = i < list->count ? &list->items[i] : t;
        size_t length = other->end - other->start;
        char *copy = malloc(length + 1);
        if (!copy) abort();
        memcpy(copy, file->data + other->start, length);
        hostile_replace(file, t->start, t->end - t->start, copy, length);
        free(copy);
    } else {
        put(file, t, odd[hostile_below(random, sizeof odd / sizeof *odd)]);
    }
}

/* A value becomes another: nested, or of another type. */
static void damage_value(hostile_random *random, hostile_file *file, const tokens *list, uint32_t i) {
    static const char *const others[] = {"null", "true", "[]", "{}", "\"\"", "1", "[[]]", "{\"\":0}", "[1,2,3]"};
    token whole = {list->items[i].start, list->items[behind_value(list, i) - 1].end, 'v'};
    if (hostile_chance(random, 70)) {
        put(file, &whole, others[hostile_below(random, sizeof others / sizeof *others)]);
        return;
    }
    hostile_file text = {NULL, 0, 0};
    uint32_t depth = hostile_chance(random, 50) ? 55 + hostile_below(random, 20) : 1 + hostile_below(random, 100000);
    int objects = hostile_chance(random, 50);
    for (uint32_t k = 0; k < depth; k++) hostile_add_text(&text, objects ? "{\"a\":" : "[");
    hostile_add_text(&text, "1");
    for (uint32_t k = 0; hostile_below(random, 8) && k < depth; k++) hostile_add_text(&text, objects ? "}" : "]");
    hostile_replace(file, whole.start, whole.end - whole.start, text.data, text.size);
    hostile_clear(&text);
}

/* A stretch of tokens, with a member's or element's comma, is lost or comes again. */
static void damage_stretch(hostile_random *random, hostile_file *file, const tokens *list, uint32_t i) {
    uint32_t value = i + 2 < list->count && list->items[i + 1].kind == ':' ? i + 2 : i;
    size_t start = list->items[i].start, end = list->items[behind_value(list, value) - 1].end;
    uint32_t next = behind_value(list, value);
    if (hostile_chance(random, 50)) {
        if (next < list->count && list->items[next].kind == ',') {
            end = list->items[next].end;
        } else if (i > 0 && list->items[i - 1].kind == ',') {
            start = list->items[i - 1].start;
        }
        hostile_replace(file, start, end - start, NULL, 0);
        return;
    }
    size_t length = end - start + 1;
    char *copy = malloc(length);
    if (!copy) abort();
    memcpy(copy, file->data + start, length - 1);
    copy[length - 1] = ',';
    uint32_t times = hostile_chance(random, 85) ? 1 : 1 + hostile_below(random, 200);
    if (length > 2000) times = 1;
    for (uint32_t k = 0; k < times; k++) hostile_replace(file, start, 0, copy, length);
    free(copy);
}

static void damage_once(hostile_random *random, hostile_file *file, tokens *list) {
    tokenise(file, list);
    uint32_t kind = hostile_below(random, 100), i;
    if (kind < 45) {
        i = pick(random, list, '0');
        if (i < list->count) damage_number(random, file, &list->items[i]);
    } else if (kind < 62) {
        i = pick(random, list, '"');
        if (i < list->count) damage_string(random, file, list, &list->items[i]);
    } else if (kind < 74) {
        i = pick(random, list, 'v');
        if (i < list->count) damage_value(random, file, list, i);
    } else if (kind < 94) {
        i = pick(random, list, 'v');
        if (i < list->count) damage_stretch(random, file, list, i);
    } else if (list->count) {
        i = hostile_below(random, list->count);
        static const char *const odd[] = {"", ",", "]", "}", "[", "{", ":", "\"", "//", "\\u", "\xef\xbb\xbf"};
        put(file, &list->items[i], odd[hostile_below(random, sizeof odd / sizeof *odd)]);
    }
}

void hostile_damage_json(hostile_random *random, hostile_file *file) {
    tokens *list = malloc(sizeof *list);
    if (!list) abort();
    uint32_t times = 1 + hostile_below(random, hostile_chance(random, 70) ? 2 : 6);
    for (uint32_t i = 0; i < times; i++) damage_once(random, file, list);
    free(list);
}
