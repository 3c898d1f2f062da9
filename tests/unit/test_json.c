#include "base/json.h"

#include <string.h>

#include "base/file.h"
#include "tests/unit/oom.h"
#include "tests/unit/unit.h"

static const char *const colors[] = {"red", "green", NULL};

/* What every text of the table is read as. */
static void read_sample(xpu_arena *arena, json_t *value, xpu_diags *diags) {
    xpu_json_object top, inner;
    if (!xpu_json_open(&top, arena, value, "f", "", diags)) return;
    xpu_json_int(&top, "n", 1, 10);
    xpu_json_int_or(&top, "m", -5, 5, 3);
    xpu_json_real_or(&top, "x", 0, 1, 0.5);
    xpu_json_bool_or(&top, "b", 1);
    xpu_json_string_or(&top, "s", "none");
    if (json_object_get(value, "c")) xpu_json_choice(&top, "c", colors);
    json_t *member = xpu_json_member(&top, "inner");
    if (member && xpu_json_open(&inner, arena, member, "f", "inner", diags)) {
        xpu_json_string(&inner, "name");
        xpu_json_array(&inner, "list");
        xpu_json_real(&inner, "r", -1, 1);
        xpu_json_done(&inner);
    }
    if (!json_object_get(value, "c")) xpu_json_member(&top, "c");
    xpu_json_done(&top);
}

typedef struct {
    const char *text;
    const char *diags; /* all of them; "" for a text without fault */
} json_case;

#define SYNTAX(place, why)                                                                                             \
    "f: error [json-syntax] " place ": the file is no valid JSON\n  why: " why                                         \
    "\n  hint: correct the file at this place; comments and trailing commas are not allowed\n"

static const json_case cases[] = {
    {"{\"n\": 1}", ""},
    {"{\"n\": 10, \"m\": -5, \"x\": 1, \"b\": false, \"s\": \"\", \"c\": \"green\","
     " \"inner\": {\"name\": \"a\", \"list\": [], \"r\": 0.5}}",
     ""},
    {"", SYNTAX("line 1, column 0", "'[' or '{' expected near end of file")},
    {"{\"n\": 1,}", SYNTAX("line 1, column 9", "string or '}' expected near '}'")},
    {"{\"n\": 1} x", SYNTAX("line 1, column 10", "end of file expected near 'x'")},
    {"{\"n\": 1, \"s\": \"\xff\"}", SYNTAX("line 1, column 15", "unable to decode byte 0xff near '\"'")},
    {"{\"n\": 1, \"n\": 2}", "f: error [json-duplicate] line 1, column 12: a key stands twice in one object\n"
                             "  why: duplicate object key near '\"n\"'\n"
                             "  hint: remove one of the two\n"},
    {"{\"n\": 99999999999999999999}", "f: error [json-range] line 1, column 26: a number is too large\n"
                                      "  why: too big integer near '99999999999999999999'\n"
                                      "  hint: integers have at most 64 bits, other numbers are IEEE doubles\n"},
    {"[]", "f: error [json-type] an object is expected\n  why: the value is an array\n  hint: write { ... }\n"},
    {"{}", "f: error [json-missing-key] key 'n': the key is missing\n  why: an integer is required here\n"
           "  hint: add the key\n"},
    {"{\"n\": 11}", "f: error [json-range] key 'n': the number is out of range\n  why: the value is 11\n"
                    "  hint: use a number from 1 to 10\n"},
    {"{\"n\": 1.0}", "f: error [json-type] key 'n': an integer is expected\n  why: the value is a real number\n"
                     "  hint: correct the value\n"},
    {"{\"n\": 1, \"x\": 1.5}", "f: error [json-range] key 'x': the number is out of range\n  why: the value is 1.5\n"
                               "  hint: use a number from 0 to 1\n"},
    {"{\"n\": 1, \"b\": null, \"s\": [], \"m\": \"1\"}",
     "f: error [json-type] key 'm': an integer is expected\n  why: the value is a string\n  hint: correct the value\n"
     "f: error [json-type] key 'b': true or false is expected\n  why: the value is null\n  hint: correct the value\n"
     "f: error [json-type] key 's': a string is expected\n  why: the value is an array\n  hint: correct the value\n"},
    {"{\"n\": 1, \"c\": \"gren\"}", "f: error [json-range] key 'c': the word is none of the known ones\n"
                                    "  why: the value is 'gren'\n  hint: did you mean 'green'?\n"},
    {"{\"n\": 1, \"c\": \"blue\"}", "f: error [json-range] key 'c': the word is none of the known ones\n"
                                    "  why: the value is 'blue'\n  hint: use one of: red, green\n"},
    {"{\"n\": 1, \"iner\": {}, \"*/\": 1}",
     "f: error [json-unknown-key] key 'iner': the key is unknown\n  why: no key of this name has a meaning here\n"
     "  hint: did you mean 'inner'?\n"
     "f: error [json-unknown-key] key '*\\x2f': the key is unknown\n  why: no key of this name has a meaning here\n"
     "  hint: known keys: n, m, x, b, s, inner, c\n"},
    {"{\"n\": 1, \"inner\": 5}",
     "f: error [json-type] key 'inner': an object is expected\n  why: the value is an integer\n"
     "  hint: write { ... }\n"},
    {"{\"n\": 1, \"inner\": {\"list\": {}, \"r\": true, \"z\": 0}}",
     "f: error [json-missing-key] key 'inner.name': the key is missing\n  why: a string is required here\n"
     "  hint: add the key\n"
     "f: error [json-type] key 'inner.list': an array is expected\n  why: the value is an object\n"
     "  hint: correct the value\n"
     "f: error [json-type] key 'inner.r': a number is expected\n  why: the value is true or false\n"
     "  hint: correct the value\n"
     "f: error [json-unknown-key] key 'inner.z': the key is unknown\n  why: no key of this name has a meaning here\n"
     "  hint: known keys: name, list, r\n"},
};

static char *all_diags(xpu_arena *arena, const xpu_diags *diags) {
    xpu_text text;
    xpu_text_init(&text, arena);
    for (size_t i = 0; i < diags->count; i++) {
        char buffer[1024];
        xpu_diag_text(diags, i, buffer, sizeof buffer);
        xpu_text_add(&text, "%s\n", buffer);
    }
    return text.text;
}

static xpu_status read_table(xpu_arena *arena, xpu_diags *unused) {
    (void)unused;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        xpu_diags diags;
        xpu_diags_init(&diags);
        json_t *value = xpu_json_parse(arena, cases[i].text, strlen(cases[i].text), "f", &diags);
        CU_ASSERT(value || diags.errors == 1);
        if (value) read_sample(arena, value, &diags);
        char *text = all_diags(arena, &diags);
        if (strcmp(text, cases[i].diags) != 0) fprintf(stderr, "case %zu: %s\n", i, text);
        CU_ASSERT_STRING_EQUAL(text, cases[i].diags);
        CU_ASSERT_EQUAL(xpu_diags_status(&diags), cases[i].diags[0] ? XPU_EUSAGE : XPU_OK);
        xpu_diags_clear(&diags);
    }
    return XPU_OK;
}

static xpu_status read_values(xpu_arena *arena, xpu_diags *diags) {
    static const char text[] =
        "{\"n\": 7, \"r\": -0.25, \"s\": \"caf\\u00e9\", \"t\": true, \"c\": \"green\", \"l\": [1, 2]}";
    xpu_json_object top;
    json_t *value = xpu_json_parse(arena, text, strlen(text), "f", diags);
    if (!value || !xpu_json_open(&top, arena, value, "f", "", diags)) return XPU_EUSAGE;
    CU_ASSERT_EQUAL(xpu_json_int(&top, "n", 0, 10), 7);
    CU_ASSERT_EQUAL(xpu_json_int_or(&top, "absent", 0, 10, 99), 99);
    CU_ASSERT_EQUAL(xpu_json_real(&top, "r", -1, 1), -0.25);
    CU_ASSERT_EQUAL(xpu_json_real_or(&top, "n", 0, 10, 0), 7.0);
    CU_ASSERT_STRING_EQUAL(xpu_json_string(&top, "s"), "caf\xc3\xa9");
    CU_ASSERT_STRING_EQUAL(xpu_json_string_or(&top, "absent", "x"), "x");
    CU_ASSERT_EQUAL(xpu_json_bool_or(&top, "t", 0), 1);
    CU_ASSERT_EQUAL(xpu_json_choice(&top, "c", colors), 1);
    CU_ASSERT_EQUAL(json_array_size(xpu_json_array(&top, "l")), 2);
    CU_ASSERT_PTR_NULL(xpu_json_member(&top, "nothing"));
    xpu_json_done(&top);
    return xpu_diags_status(diags);
}

static void run(xpu_work work, xpu_status expected) {
    xpu_diags diags;
    xpu_diags_init(&diags);
    CU_ASSERT_EQUAL(xpu_run_work(work, &diags), expected);
    if (expected == XPU_OK) xpu_diags_print(&diags, stderr);
    xpu_diags_clear(&diags);
}

static void messages(void) {
    run(read_table, XPU_OK);
}

static void values(void) {
    run(read_values, XPU_OK);
}

static xpu_status nest(xpu_arena *arena, xpu_diags *diags) {
    enum { LONG = 200000 };
    char *text = xpu_alloc(arena, LONG);
    memset(text, '[', 64);
    memset(text + 64, ']', 64);
    CU_ASSERT_PTR_NOT_NULL(xpu_json_parse(arena, text, 128, "f", diags));
    memset(text, '[', 65);
    memset(text + 65, ']', 65);
    CU_ASSERT_PTR_NULL(xpu_json_parse(arena, text, 130, "f", diags));
    memset(text, '[', LONG);
    CU_ASSERT_PTR_NULL(xpu_json_parse(arena, text, LONG, "f", diags));
    CU_ASSERT_EQUAL(diags->count, 2);
    CU_ASSERT_STRING_EQUAL(diags->items[1].rule, "json-depth");
    static const char brackets[] = "[\"\\\"[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[\"]";
    CU_ASSERT_PTR_NOT_NULL(xpu_json_parse(arena, brackets, strlen(brackets), "f", diags));
    return xpu_diags_status(diags);
}

static void depth(void) {
    run(nest, XPU_EUSAGE);
}

static const char written_text[] = "{\n"
                                   "  \"zebra\": 1,\n"
                                   "  \"ape\": [\n"
                                   "    0.1,\n"
                                   "    -3,\n"
                                   "    \"x\\\"y\"\n"
                                   "  ],\n"
                                   "  \"empty\": {}\n"
                                   "}\n";

static xpu_status write_and_read(xpu_arena *arena, xpu_diags *diags) {
    char *folder = xpu_temporary_folder(arena, diags);
    if (!folder) return XPU_EIO;
    char *path = xpu_path_join(arena, folder, "a.json");
    json_t *top = xpu_json_own(arena, json_object());
    xpu_json_set(arena, top, "zebra", json_integer(1));
    json_t *list = xpu_json_set(arena, top, "ape", json_array());
    xpu_json_append(arena, list, json_real(0.1));
    xpu_json_append(arena, list, json_integer(-3));
    xpu_json_append(arena, list, json_string("x\"y"));
    xpu_json_set(arena, top, "empty", json_object());
    if (xpu_json_write(arena, top, path, diags) != XPU_OK) return XPU_EIO;
    size_t length;
    char *text = xpu_file_read_all(arena, path, 1 << 20, &length, diags);
    if (!text) return XPU_EIO;
    CU_ASSERT_STRING_EQUAL(text, written_text);
    json_t *again = xpu_json_read(arena, path, diags);
    if (!again) return XPU_EUSAGE;
    CU_ASSERT(json_equal(top, again));
    return XPU_OK;
}

static void writing(void) {
    run(write_and_read, XPU_OK);
}

static void *counted_malloc(size_t bytes) {
    return xpu_alloc_fails() ? NULL : malloc(bytes);
}

static xpu_status read_and_write(xpu_arena *arena, xpu_diags *diags) {
    xpu_status status = read_values(arena, diags);
    return status == XPU_OK ? write_and_read(arena, diags) : status;
}

/* jansson's allocations fail too. */
static void every_allocation_fails(void) {
    json_set_alloc_funcs(counted_malloc, free);
    unsigned long count = xpu_fail_each_allocation(read_and_write, 1);
    json_set_alloc_funcs(malloc, free);
    CU_ASSERT(count > 50);
}

static xpu_status damaged(xpu_arena *arena, xpu_diags *unused) {
    (void)unused;
    const char *sample = cases[1].text;
    size_t length = strlen(sample);
    for (size_t i = 0; i < length * 8; i++) {
        xpu_arena *own = xpu_arena_new(xpu_arena_mem(arena), "case");
        xpu_diags diags;
        xpu_diags_init(&diags);
        char *text = xpu_copy(own, sample, length);
        text[i / 8] = (char)(text[i / 8] ^ 1 << i % 8);
        json_t *value = xpu_json_parse(own, text, i % 3 ? length : i / 8, "f", &diags);
        if (value) read_sample(own, value, &diags);
        CU_ASSERT(value || diags.errors == 1);
        xpu_diags_clear(&diags);
        xpu_arena_free(own);
    }
    return XPU_OK;
}

static void hostile(void) {
    run(damaged, XPU_OK);
}

XPU_TEST_MAIN("json", {"messages", messages}, {"values", values}, {"depth", depth}, {"writing", writing},
              {"every allocation fails", every_allocation_fails}, {"damaged text", hostile})
