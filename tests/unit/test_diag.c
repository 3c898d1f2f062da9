#include "base/diag.h"

#include <stdlib.h>
#include <string.h>

#include "tests/unit/oom.h"
#include "tests/unit/unit.h"

typedef struct {
    xpu_severity severity;
    const char *file, *where, *why, *hint, *text;
} text_case;

static const text_case texts[] = {
    {XPU_SEVERITY_ERROR, "a.onnx", "node 'c1' (Conv-11, #5)", "its group is 3", "export it again",
     "a.onnx: error [a-rule] node 'c1' (Conv-11, #5): it is wrong\n  why: its group is 3\n  hint: export it again"},
    {XPU_SEVERITY_ERROR, NULL, NULL, NULL, NULL, "error [a-rule] it is wrong"},
    {XPU_SEVERITY_WARNING, "a", NULL, "w", NULL, "a: warning [a-rule] it is wrong\n  why: w"},
    {XPU_SEVERITY_WARNING, "a\n\033b", "key '\n'", "line\nline\r\x9b", "\x7f",
     "a\\x0a\\x1bb: warning [a-rule] key '\\x0a': it is wrong\n  why: line\nline\\x0d\\x9b\n  hint: \\x7f"},
    {XPU_SEVERITY_NOTE, NULL, "key 'k'", NULL, "h", "note [a-rule] key 'k': it is wrong\n  hint: h"},
};

static void text_form(void) {
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        const text_case *c = &texts[i];
        char buffer[256], small[10];
        xpu_diags diags;
        xpu_diags_init(&diags);
        xpu_diag_add(&diags, c->severity, XPU_EMODEL, c->file, "a-rule", c->where, "it is wrong", c->why, c->hint);
        CU_ASSERT_EQUAL(xpu_diag_text(&diags, 0, buffer, sizeof buffer), strlen(c->text));
        CU_ASSERT_STRING_EQUAL(buffer, c->text);
        CU_ASSERT_EQUAL(xpu_diag_text(&diags, 0, small, sizeof small), strlen(c->text));
        CU_ASSERT_EQUAL(strlen(small), sizeof small - 1);
        CU_ASSERT_EQUAL(xpu_diag_text(&diags, 0, NULL, 0), strlen(c->text));
        CU_ASSERT_EQUAL(diags.errors, c->severity == XPU_SEVERITY_ERROR);
        xpu_diags_clear(&diags);
    }
}

static void status(void) {
    xpu_diags diags;
    xpu_diags_init(&diags);
    CU_ASSERT_EQUAL(xpu_diags_status(&diags), XPU_OK);
    xpu_diag_add(&diags, XPU_SEVERITY_WARNING, XPU_OK, NULL, "w", NULL, "w", NULL, NULL);
    CU_ASSERT_EQUAL(xpu_diags_status(&diags), XPU_OK);
    CU_ASSERT_EQUAL(xpu_error(&diags, XPU_EUSAGE, NULL, "e", NULL, "e", NULL, NULL), XPU_EUSAGE);
    CU_ASSERT_EQUAL(xpu_error(&diags, XPU_EMODEL, NULL, "e", NULL, "e", NULL, NULL), XPU_EMODEL);
    CU_ASSERT_EQUAL(xpu_diags_status(&diags), XPU_EUSAGE);
    CU_ASSERT_EQUAL(diags.errors, 2);
    CU_ASSERT_EQUAL(xpu_diags_since(&diags, 2), XPU_OK);
    CU_ASSERT_EQUAL(xpu_diags_since(&diags, 1), XPU_EUSAGE);
    xpu_diags_clear(&diags);
    CU_ASSERT_EQUAL(diags.count + diags.errors, 0);
}

static void add_nodes(xpu_diags *diags, const char *what, const char *prefix, int count) {
    char where[32];
    for (int i = 0; i < count; i++) {
        snprintf(where, sizeof where, "node '%s%d'", prefix, i);
        xpu_error(diags, XPU_EMODEL, "m", "op", where, what, "why", NULL);
    }
}

static void check_grouped(xpu_diags *diags, const char *expected) {
    char *text = NULL;
    size_t length;
    FILE *stream = open_memstream(&text, &length);
    CU_ASSERT_PTR_NOT_NULL_FATAL(stream);
    xpu_diags_print_grouped(diags, stream);
    fclose(stream);
    CU_ASSERT_STRING_EQUAL(text, expected);
    if (strcmp(text, expected) != 0) printf("%s", text);
    free(text);
    xpu_diags_clear(diags);
}

/* Three nodes with one problem read as always; of more than ten errors those of one kind are one. */
static void grouped(void) {
    xpu_diags diags;
    xpu_diags_init(&diags);
    add_nodes(&diags, "no Cast", "a", 1);
    add_nodes(&diags, "no Pow", "b", 1);
    add_nodes(&diags, "no Cast", "c", 2);
    check_grouped(&diags, "m: error [op] node 'a0': no Cast\n  why: why\n"
                          "m: error [op] node 'b0': no Pow\n  why: why\n"
                          "m: error [op] node 'c0': no Cast\n  why: why\n"
                          "m: error [op] node 'c1': no Cast\n  why: why\n");
    xpu_diag_add(&diags, XPU_SEVERITY_NOTE, XPU_OK, "m", "n", NULL, "a note", NULL, NULL);
    add_nodes(&diags, "no Cast", "a", 2);
    add_nodes(&diags, "no\nPow", "b", 7);
    add_nodes(&diags, "no Cast", "c", 1);
    check_grouped(&diags, "10 errors:\n     7  no\\x0aPow\n     3  others\n"
                          "m: note [n] a note\n"
                          "m: error [op] node 'a0': no Cast\n  why: why\n"
                          "m: error [op] node 'a1': no Cast\n  why: why\n"
                          "m: error [op] no\nPow\n  why: why\n"
                          "  at: node 'b0'\n      node 'b1'\n      node 'b2'\n      node 'b3'\n      node 'b4'\n"
                          "      and 2 more, which --verbose names\n"
                          "m: error [op] node 'c0': no Cast\n  why: why\n");
    add_nodes(&diags, "no Cast", "a", 2);
    add_nodes(&diags, "no Pow", "b", 8);
    add_nodes(&diags, "no Exp", "c", 1);
    check_grouped(&diags, "11 errors:\n     8  no Pow\n     2  no Cast\n     1  others\n"
                          "m: error [op] no Cast\n  why: why\n  at: node 'a0'\n      node 'a1'\n"
                          "m: error [op] no Pow\n  why: why\n"
                          "  at: node 'b0'\n      node 'b1'\n      node 'b2'\n      node 'b3'\n      node 'b4'\n"
                          "      and 3 more, which --verbose names\n"
                          "m: error [op] node 'c0': no Exp\n  why: why\n");
}

/* The list is cut, but counts on, and the first error is always kept. */
static void flood(void) {
    xpu_diags diags;
    xpu_diags_init(&diags);
    for (int i = 0; i < 3000; i++) {
        xpu_diag_add(&diags, i < 1500 ? XPU_SEVERITY_WARNING : XPU_SEVERITY_ERROR, XPU_EMODEL, NULL, "r", NULL, "w",
                     NULL, NULL);
    }
    CU_ASSERT_EQUAL(diags.count, XPU_MAX_DIAGS + 1);
    CU_ASSERT_EQUAL(diags.dropped, 3000 - XPU_MAX_DIAGS - 1);
    CU_ASSERT_EQUAL(diags.errors, 1500);
    CU_ASSERT_EQUAL(xpu_diags_status(&diags), XPU_EMODEL);
    xpu_diags_clear(&diags);
}

/* The error says what was being done, how much was wanted and how much was held. */
static void memory_that_ran_out(void) {
    xpu_mem mem;
    xpu_diags diags;
    char text[512];
    xpu_mem_init(&mem);
    xpu_diags_init(&diags);
    if (setjmp(mem.out_of_memory)) {
        CU_ASSERT_EQUAL(xpu_error_oom_of(&diags, &mem), XPU_EIO);
    } else {
        xpu_arena *arena = xpu_arena_new(&mem, "weights");
        xpu_doing(&mem, "pass", "fold");
        xpu_alloc(arena, 1);
        xpu_alloc_fail_at(1);
        xpu_alloc(arena, 5000);
    }
    xpu_alloc_fail_at(0);
    CU_ASSERT_EQUAL_FATAL(diags.count, 1);
    xpu_diag_text(&diags, 0, text, sizeof text);
    CU_ASSERT_STRING_EQUAL(text,
                           "error [out-of-memory] pass 'fold': memory ran out\n"
                           "  why: 5000 bytes more were wanted (weights), 16384 were held; all of them have been "
                           "released\n"
                           "  hint: use a smaller model or a machine with more memory, or raise the limit (ulimit -v)");
    xpu_diags_clear(&diags);
    xpu_mem_release(&mem);
}

static void no_memory_for_diagnostics(void) {
    for (unsigned long n = 1; n <= 2; n++) {
        char text[512] = "";
        xpu_diags diags;
        xpu_diags_init(&diags);
        xpu_alloc_fail_at(n);
        CU_ASSERT_EQUAL(xpu_diag_add(&diags, XPU_SEVERITY_WARNING, XPU_OK, NULL, "r", NULL, "w", NULL, NULL), XPU_OK);
        xpu_alloc_fail_at(0);
        CU_ASSERT_EQUAL(diags.out_of_memory, 1);
        CU_ASSERT_EQUAL(diags.errors, 1);
        CU_ASSERT_EQUAL(diags.count, 0);
        CU_ASSERT_EQUAL(xpu_diags_status(&diags), XPU_EIO);
        CU_ASSERT_EQUAL(xpu_error_oom(&diags), XPU_EIO);
        FILE *stream = fmemopen(text, sizeof text, "w");
        if (stream) {
            xpu_diags_print(&diags, stream);
            fclose(stream);
        }
        CU_ASSERT_STRING_EQUAL(
            text, "error [out-of-memory] memory ran out\n"
                  "  why: an allocation failed; everything that was held has been released\n"
                  "  hint: use a smaller model or a machine with more memory, or raise the limit (ulimit -v)\n");
        xpu_diags_clear(&diags);
    }
}

typedef struct {
    const char *name;
    size_t max;
    const char *escaped;
} escape_case;

static const escape_case escapes[] = {
    {"", 10, ""},
    {"conv1/weight:0", 80, "conv1/weight:0"},
    {"a\nb\t\x7f", 80, "a\\x0ab\\x09\\x7f"},
    {"it's \"q\" \\", 80, "it\\x27s \\x22q\\x22 \\x5c"},
    {"\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80", 80, "\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80"},
    {"\xff\xc3", 80, "\\xff\\xc3"},                            /* no UTF-8; cut short */
    {"\xc0\xaf", 80, "\\xc0\\xaf"},                            /* overlong */
    {"\xed\xa0\x80", 80, "\\xed\\xa0\\x80"},                   /* a surrogate */
    {"\xf4\x90\x80\x80", 80, "\\xf4\\x90\\x80\\x80"},          /* above U+10FFFF */
    {"\xc2\x85\xe2\x80\xae", 80, "\\xc2\\x85\\xe2\\x80\\xae"}, /* C1 control, right-to-left override */
    {"a*/b/*c//d", 80, "a*\\x2fb/\\x2ac/\\x2fd"},              /* comment delimiters */
    {"a\xe2\x80\x8bz\xef\xbb\xbf\xc2\xad", 80, "a\\xe2\\x80\\x8bz\\xef\\xbb\\xbf\\xc2\\xad"}, /* no width */
    {"\xd8\x9c\xf3\xa0\x81\x81", 80, "\\xd8\\x9c\\xf3\\xa0\\x81\\x81"}, /* the Arabic mark, a tag */
    {"?"
     "?/",
     80, "?\\x3f/"}, /* a trigraph that ends as a backslash */
    {"abcdefghij", 10, "abcdefghij"},
    {"abcdefghijk", 10, "abcdefg..."},
    {"abcdef\xc3\xa9\xc3\xa9\xc3\xa9", 10, "abcdef..."}, /* characters stay whole */
    {"abcde\n\n\n", 10, "abcde..."},                     /* escapes too */
    {"abcdefghijk", 2, ".."},
    {"abc", 0, ""},
};

static xpu_status escape(xpu_arena *arena, xpu_diags *diags) {
    (void)diags;
    for (size_t i = 0; i < sizeof escapes / sizeof *escapes; i++) {
        char *text = xpu_escape(arena, escapes[i].name, escapes[i].max);
        if (strcmp(text, escapes[i].escaped) != 0) fprintf(stderr, "case %zu: %s\n", i, text);
        CU_ASSERT_STRING_EQUAL(text, escapes[i].escaped);
    }
    return XPU_OK;
}

static void escaping(void) {
    CU_ASSERT(xpu_fail_each_allocation(escape, 1) > 10);
}

static xpu_status escape_messages(xpu_arena *arena, xpu_diags *diags) {
    (void)diags;
    CU_ASSERT_STRING_EQUAL(xpu_escape_message(arena, "node 'a\\x0a' (\"b\"): a/**/b", 80),
                           "node 'a\\x0a' (\"b\"): a/**/b");
    CU_ASSERT_STRING_EQUAL(xpu_escape_message(arena, "a\n\xff\xe2\x80\xae", 80), "a\\x0a\\xff\\xe2\\x80\\xae");
    CU_ASSERT_STRING_EQUAL(xpu_escape_message(arena, "abcdefghijk", 10), "abcdefg...");
    return XPU_OK;
}

static void messages(void) {
    CU_ASSERT(xpu_fail_each_allocation(escape_messages, 1) > 1);
}

XPU_TEST_MAIN("diag", {"text form", text_form}, {"grouped", grouped}, {"status", status}, {"flood", flood},
              {"memory that ran out", memory_that_ran_out}, {"no memory for diagnostics", no_memory_for_diagnostics},
              {"escaping names", escaping}, {"escaping messages", messages})
