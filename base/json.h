/*
 * Strict JSON over jansson: duplicate, unknown, missing and out-of-range keys are errors that name file and key.
 *
 * An xpu_json_object remembers which keys were asked for; xpu_json_done reports every other one as unknown, with the
 * nearest known key as hint. Getters report and return the fallback (`min` for a required number); reading goes on, so
 * all problems come at once. Rules: json-syntax, json-depth, json-duplicate, json-unknown-key, json-missing-key,
 * json-type, json-range; all XPU_EUSAGE.
 */
#ifndef XPU_BASE_JSON_H
#define XPU_BASE_JSON_H

#include <jansson.h>

#include "base/diag.h"
#include "base/file.h"

/* Reads and parses `path` (at most 64 MiB, at most 64 levels deep). NULL with a diagnostic on failure.
 * The value is released with the arena. */
json_t *xpu_json_read(xpu_arena *arena, const char *path, xpu_diags *diags);

/* The same for text in memory; `name` stands for the file in messages. */
json_t *xpu_json_parse(xpu_arena *arena, const char *text, size_t length, const char *name, xpu_diags *diags);

typedef struct {
    xpu_arena *arena;
    xpu_diags *diags;
    const char *file;
    const char *path; /* dotted path of this object, "" at the top; kept, not copied, like `file` and every key */
    json_t *object;
    XPU_ARRAY(const char *) known;
} xpu_json_object;

/* Opens `value` as an object; reports and returns 0 when it is none. */
int xpu_json_open(xpu_json_object *object, xpu_arena *arena, json_t *value, const char *file, const char *path,
                  xpu_diags *diags);
int64_t xpu_json_int(xpu_json_object *object, const char *key, int64_t min, int64_t max); /* required */
int64_t xpu_json_int_or(xpu_json_object *object, const char *key, int64_t min, int64_t max, int64_t fallback);
double xpu_json_real(xpu_json_object *object, const char *key, double min, double max); /* required */
double xpu_json_real_or(xpu_json_object *object, const char *key, double min, double max, double fallback);
int xpu_json_bool_or(xpu_json_object *object, const char *key, int fallback);
const char *xpu_json_string(xpu_json_object *object, const char *key); /* required; NULL after reporting */
const char *xpu_json_string_or(xpu_json_object *object, const char *key, const char *fallback);
/* One of `choices` (NULL terminated): its index, or -1 after reporting. */
int xpu_json_choice(xpu_json_object *object, const char *key, const char *const *choices);
json_t *xpu_json_array(xpu_json_object *object, const char *key);  /* required; NULL after reporting */
json_t *xpu_json_member(xpu_json_object *object, const char *key); /* optional, any type; NULL when absent */
void xpu_json_done(xpu_json_object *object);                       /* reports unknown keys */

/*
 * Making JSON. jansson says by NULL or -1 that memory ran out; these leave to the API boundary instead:
 *     json_t *top = xpu_json_own(arena, json_object());
 *     xpu_json_set(arena, top, "cycles", json_integer(n));
 *     json_t *layers = xpu_json_set(arena, top, "layers", json_array());
 * A value is put into its place before the next one is made, so unwinding loses none. Strings must be UTF-8
 * (xpu_escape makes them so), real numbers finite: anything else looks like missing memory.
 */
json_t *xpu_json_own(xpu_arena *arena, json_t *value); /* released with the arena; returns value */
/* Both take over the reference to `value` and return it, for adding to it. */
json_t *xpu_json_set(xpu_arena *arena, json_t *object, const char *key, json_t *value);
json_t *xpu_json_append(xpu_arena *arena, json_t *array, json_t *value);

/* Writes `value` as text; errors are those of the output's commit. */
xpu_status xpu_json_print(xpu_arena *arena, const json_t *value, xpu_output *output);

/* Writes `value` to `path` (temporary name, then rename), indented by 2, keys in insertion order, real numbers with 15
 * digits. */
xpu_status xpu_json_write(xpu_arena *arena, const json_t *value, const char *path, xpu_diags *diags);

#endif
