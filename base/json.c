#define _GNU_SOURCE 1
#include "base/json.h"

#include <inttypes.h>
#include <string.h>

#include "base/file.h"
#include "base/option.h"

enum { MAX_BYTES = 64 << 20, MAX_DEPTH = 64 };

static void release(void *value) {
    json_decref(value);
}

json_t *xpu_json_own(xpu_arena *arena, json_t *value) {
    if (!value) xpu_out_of_memory(xpu_arena_mem(arena));
    xpu_arena_defer(arena, release, value);
    return value;
}

json_t *xpu_json_set(xpu_arena *arena, json_t *object, const char *key, json_t *value) {
    if (json_object_set_new(object, key, value) != 0) xpu_out_of_memory(xpu_arena_mem(arena));
    return value;
}

json_t *xpu_json_append(xpu_arena *arena, json_t *array, json_t *value) {
    if (json_array_append_new(array, value) != 0) xpu_out_of_memory(xpu_arena_mem(arena));
    return value;
}

/* The offset of the bracket that goes deeper than MAX_DEPTH, or `length`. */
static size_t too_deep(const char *text, size_t length) {
    int depth = 0, in_string = 0;
    for (size_t i = 0; i < length; i++) {
        char c = text[i];
        if (in_string) {
            if (c == '\\') i++;
            in_string = c != '"';
        } else if (c == '"') {
            in_string = 1;
        } else if (c == '[' || c == '{') {
            if (++depth > MAX_DEPTH) return i;
        } else if (c == ']' || c == '}') {
            depth--;
        }
    }
    return length;
}

static void parse_error(xpu_arena *arena, const char *name, const json_error_t *error, xpu_diags *diags) {
    const char *rule = "json-syntax", *what = "the file is no valid JSON";
    const char *hint = "correct the file at this place; comments and trailing commas are not allowed";
    enum json_error_code code = json_error_code(error);
    if (code == json_error_duplicate_key) {
        rule = "json-duplicate";
        what = "a key stands twice in one object";
        hint = "remove one of the two";
    } else if (code == json_error_numeric_overflow) {
        rule = "json-range";
        what = "a number is too large";
        hint = "integers have at most 64 bits, other numbers are IEEE doubles";
    }
    const char *where = xpu_printf(arena, "line %d, column %d", error->line, error->column);
    xpu_error(diags, XPU_EUSAGE, name, rule, where, what, xpu_escape_message(arena, error->text, 400), hint);
}

json_t *xpu_json_parse(xpu_arena *arena, const char *text, size_t length, const char *name, xpu_diags *diags) {
    size_t deep = too_deep(text, length);
    if (deep < length) {
        xpu_error(diags, XPU_EUSAGE, name, "json-depth", NULL, "the file is nested too deeply",
                  xpu_printf(arena, "at byte %zu more than %d brackets are open", deep, MAX_DEPTH),
                  "check that this is the file that was meant");
        return NULL;
    }
    json_error_t error, again;
    json_t *value = json_loadb(text, length, JSON_REJECT_DUPLICATES, &error);
    if (value) return xpu_json_own(arena, value);
    /* Where one of its own allocations failed, jansson leaves the text empty or calls it a syntax error, which is then
     * none at the second try. */
    value = json_loadb(text, length, JSON_REJECT_DUPLICATES, &again);
    json_decref(value);
    if (value || json_error_code(&error) == json_error_out_of_memory || error.text[0] == '\0') {
        xpu_out_of_memory(xpu_arena_mem(arena));
    }
    parse_error(arena, name, &error, diags);
    return NULL;
}

json_t *xpu_json_read(xpu_arena *arena, const char *path, xpu_diags *diags) {
    size_t length;
    const char *text = xpu_file_read_all(arena, path, MAX_BYTES, &length, diags);
    return text ? xpu_json_parse(arena, text, length, path, diags) : NULL;
}

static const char *type_name(const json_t *value) {
    switch (json_typeof(value)) {
    case JSON_OBJECT: return "an object";
    case JSON_ARRAY: return "an array";
    case JSON_STRING: return "a string";
    case JSON_INTEGER: return "an integer";
    case JSON_REAL: return "a real number";
    case JSON_TRUE:
    case JSON_FALSE: return "true or false";
    case JSON_NULL: break;
    }
    return "null";
}

static void key_error(const xpu_json_object *object, const char *rule, const char *key, const char *what,
                      const char *why, const char *hint) {
    xpu_arena *arena = object->arena;
    const char *name = xpu_escape(arena, key, 80);
    const char *where =
        object->path[0] ? xpu_printf(arena, "key '%s.%s'", object->path, name) : xpu_printf(arena, "key '%s'", name);
    xpu_error(object->diags, XPU_EUSAGE, object->file, rule, where, what, why, hint);
}

static void type_error(const xpu_json_object *object, const char *key, const char *wanted, const json_t *value) {
    key_error(object, "json-type", key, xpu_printf(object->arena, "%s is expected", wanted),
              xpu_printf(object->arena, "the value is %s", type_name(value)), "correct the value");
}

static void missing_error(const xpu_json_object *object, const char *key, const char *wanted) {
    key_error(object, "json-missing-key", key, "the key is missing",
              xpu_printf(object->arena, "%s is required here", wanted), "add the key");
}

int xpu_json_open(xpu_json_object *object, xpu_arena *arena, json_t *value, const char *file, const char *path,
                  xpu_diags *diags) {
    *object = (xpu_json_object){.arena = arena, .diags = diags, .file = file, .path = path, .object = value};
    if (json_is_object(value)) return 1;
    object->object = NULL;
    xpu_error(diags, XPU_EUSAGE, file, "json-type", path[0] ? xpu_printf(arena, "key '%s'", path) : NULL,
              "an object is expected", xpu_printf(arena, "the value is %s", value ? type_name(value) : "missing"),
              "write { ... }");
    return 0;
}

json_t *xpu_json_member(xpu_json_object *object, const char *key) {
    XPU_PUSH(object->arena, &object->known, key);
    return json_object_get(object->object, key);
}

static json_t *required(xpu_json_object *object, const char *key, const char *wanted) {
    json_t *value = xpu_json_member(object, key);
    if (!value) missing_error(object, key, wanted);
    return value;
}

static int64_t checked_int(xpu_json_object *object, const char *key, const json_t *value, int64_t min, int64_t max,
                           int64_t fallback) {
    if (!json_is_integer(value)) {
        type_error(object, key, "an integer", value);
        return fallback;
    }
    int64_t number = json_integer_value(value);
    if (number >= min && number <= max) return number;
    key_error(object, "json-range", key, "the number is out of range",
              xpu_printf(object->arena, "the value is %" PRId64, number),
              xpu_printf(object->arena, "use a number from %" PRId64 " to %" PRId64, min, max));
    return fallback;
}

int64_t xpu_json_int(xpu_json_object *object, const char *key, int64_t min, int64_t max) {
    json_t *value = required(object, key, "an integer");
    return value ? checked_int(object, key, value, min, max, min) : min;
}

int64_t xpu_json_int_or(xpu_json_object *object, const char *key, int64_t min, int64_t max, int64_t fallback) {
    json_t *value = xpu_json_member(object, key);
    return value ? checked_int(object, key, value, min, max, fallback) : fallback;
}

static double checked_real(xpu_json_object *object, const char *key, const json_t *value, double min, double max,
                           double fallback) {
    if (!json_is_number(value)) {
        type_error(object, key, "a number", value);
        return fallback;
    }
    double number = json_number_value(value);
    if (number >= min && number <= max) return number;
    key_error(object, "json-range", key, "the number is out of range",
              xpu_printf(object->arena, "the value is %.17g", number),
              xpu_printf(object->arena, "use a number from %g to %g", min, max));
    return fallback;
}

double xpu_json_real(xpu_json_object *object, const char *key, double min, double max) {
    json_t *value = required(object, key, "a number");
    return value ? checked_real(object, key, value, min, max, min) : min;
}

double xpu_json_real_or(xpu_json_object *object, const char *key, double min, double max, double fallback) {
    json_t *value = xpu_json_member(object, key);
    return value ? checked_real(object, key, value, min, max, fallback) : fallback;
}

int xpu_json_bool_or(xpu_json_object *object, const char *key, int fallback) {
    json_t *value = xpu_json_member(object, key);
    if (!value) return fallback;
    if (json_is_boolean(value)) return json_is_true(value);
    type_error(object, key, "true or false", value);
    return fallback;
}

static const char *checked_string(xpu_json_object *object, const char *key, const json_t *value, const char *fallback) {
    if (json_is_string(value)) return json_string_value(value);
    type_error(object, key, "a string", value);
    return fallback;
}

const char *xpu_json_string(xpu_json_object *object, const char *key) {
    json_t *value = required(object, key, "a string");
    return value ? checked_string(object, key, value, NULL) : NULL;
}

const char *xpu_json_string_or(xpu_json_object *object, const char *key, const char *fallback) {
    json_t *value = xpu_json_member(object, key);
    return value ? checked_string(object, key, value, fallback) : fallback;
}

/* "did you mean 'x'?" or "use one of: a, b" */
static const char *word_hint(xpu_arena *arena, const char *word, const char *const *words, const char *intro) {
    const char *nearest = xpu_nearest(word, words);
    if (nearest) return xpu_printf(arena, "did you mean '%s'?", nearest);
    xpu_text text;
    xpu_text_init(&text, arena);
    for (size_t i = 0; words[i]; i++) {
        size_t first = 0; /* a key that was asked for twice is named once */
        while (strcmp(words[first], words[i]) != 0) first++;
        if (first == i) xpu_text_add(&text, "%s%s", i ? ", " : intro, words[i]);
    }
    return text.text;
}

int xpu_json_choice(xpu_json_object *object, const char *key, const char *const *choices) {
    const char *word = xpu_json_string(object, key);
    if (!word) return -1;
    for (int i = 0; choices[i]; i++) {
        if (strcmp(word, choices[i]) == 0) return i;
    }
    key_error(object, "json-range", key, "the word is none of the known ones",
              xpu_printf(object->arena, "the value is '%s'", xpu_escape(object->arena, word, 80)),
              word_hint(object->arena, word, choices, "use one of: "));
    return -1;
}

json_t *xpu_json_array(xpu_json_object *object, const char *key) {
    json_t *value = required(object, key, "an array");
    if (!value || json_is_array(value)) return value;
    type_error(object, key, "an array", value);
    return NULL;
}

static int is_known(const xpu_json_object *object, const char *key) {
    for (uint32_t i = 0; i < object->known.count; i++) {
        if (strcmp(object->known.items[i], key) == 0) return 1;
    }
    return 0;
}

void xpu_json_done(xpu_json_object *object) {
    const char *key;
    json_t *value;
    XPU_PUSH(object->arena, &object->known, NULL);
    object->known.count--;
    json_object_foreach(object->object, key, value) {
        if (is_known(object, key)) continue;
        if (object->diags->count >= XPU_MAX_DIAGS) break;
        key_error(object, "json-unknown-key", key, "the key is unknown", "no key of this name has a meaning here",
                  object->known.count ? word_hint(object->arena, key, object->known.items, "known keys: ")
                                      : "leave it out");
    }
}

static int dump_part(const char *bytes, size_t length, void *output) {
    return xpu_output_write(output, bytes, length) == XPU_OK ? 0 : -1;
}

xpu_status xpu_json_print(xpu_arena *arena, const json_t *value, xpu_output *output) {
    size_t flags = JSON_INDENT(2) | JSON_REAL_PRECISION(15) | JSON_ENCODE_ANY;
    int dumped = json_dump_callback(value, dump_part, output, flags) == 0;
    xpu_status status = xpu_output_write(output, "\n", 1);
    if (!dumped && status == XPU_OK) xpu_out_of_memory(xpu_arena_mem(arena));
    return status;
}

xpu_status xpu_json_write(xpu_arena *arena, const json_t *value, const char *path, xpu_diags *diags) {
    xpu_output *output = xpu_output_open(arena, path, diags);
    if (!output) return xpu_diags_status(diags);
    xpu_json_print(arena, value, output);
    return xpu_output_commit(output);
}
