#include "memplan/rules.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "memplan/check.h"
#include "tests/unit/memplan.h"
#include "tests/unit/oom.h"
#include "tests/unit/unit.h"

static void globs(void) {
    static const struct {
        const char *glob, *name;
        int matches;
    } table[] = {
        {"", "", 1},
        {"", "a", 0},
        {"*", "", 1},
        {"*", "a/b.c", 1},
        {"a", "a", 1},
        {"a", "ab", 0},
        {"a*", "ab/c", 1},
        {"*c", "ab/c", 1},
        {"*c", "ab/cd", 0},
        {"a*c*e", "abcde", 1},
        {"a*c*e", "abde", 0},
        {"layer3.*/w", "layer3.0/w", 1},
        {"layer3.*/w", "layer31/w", 0},
        {"?", "", 0},
        {"?", "x", 1},
        {"[a-c]x", "bx", 1},
        {"[a-c]x", "dx", 0},
        {"[!a-c]x", "dx", 1},
        {"[!a-c]x", "ax", 0},
        {"[]]", "]", 1},
        {"[a", "[a", 1},
        {"[", "[", 1},
        {"\\*", "*", 1},
        {"\\*", "a", 0},
        {"\\", "\\", 1},
        {"[a-]", "-", 1},
        {"**", "abc", 1},
        {"*a*a*a*a*b", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", 0},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        int matches = xpu_glob_match(table[i].glob, table[i].name);
        if (matches != table[i].matches)
            fprintf(stderr, "\n%s against %s: %d\n", table[i].glob, table[i].name, matches);
        CU_ASSERT_EQUAL(matches, table[i].matches);
    }
}

typedef struct {
    const char *name, *text;
    const char *matches; /* "a:1 b:1", buffer and rule counted from 1; NULL when the file or the rules are wrong */
    const char *message;
} rules_case;

static const rules_case rules_cases[] = {
    {"none", "{\"rules\": []}", "", ""},
    {"kinds and globs",
     "{\"rules\": [{\"match\": \"conv*/w\", \"kind\": \"weight\", \"level\": \"L3\", \"strength\": \"must\"},"
     " {\"match\": \"*\", \"level\": \"GM\", \"strength\": \"prefer\"},"
     " {\"match\": \"*\", \"kind\": \"scratch\", \"level\": \"SM\", \"strength\": \"never\"}]}",
     "conv1/w:1 conv1/w:2 conv1/out:2 tmp:2 tmp:3", ""},
    {"unused", "{\"rules\": [{\"match\": \"fc*\", \"kind\": \"weight\", \"level\": \"L3\", \"strength\": \"must\"}]}",
     NULL,
     "rules.json: error [rules-unused] key 'rules[0]': the rule matches no buffer\n"
     "  why: rules.json:1: rule 1 (\"fc*\", weight, must be in L3)\n"
     "  hint: see the names in the memory part of --report, or remove the rule\n"},
    {"a key in escapes, whose line is not found",
     "{\"\\u0072ules\": [{\"match\": \"fc*\", \"level\": \"L3\", \"strength\": \"must\"}]}", NULL,
     "rules.json: error [rules-unused] key 'rules[0]': the rule matches no buffer\n"
     "  why: rules.json: rule 1 (\"fc*\", any kind, must be in L3)\n"
     "  hint: see the names in the memory part of --report, or remove the rule\n"},
    {"unused, and no must", "{\"rules\": [{\"match\": \"conv2/out\", \"level\": \"L3\", \"strength\": \"prefer\"}]}",
     "",
     "rules.json: warning [rules-unused] key 'rules[0]': the rule matches no buffer\n"
     "  why: rules.json:1: rule 1 (\"conv2/out\", any kind, should be in L3)\n"
     "  hint: the nearest name is 'conv1/out'\n"},
    {"unknown level", "{\"rules\": [{\"match\": \"*\", \"level\": \"L2\", \"strength\": \"never\"}]}", NULL,
     "rules.json: error [rules-level] key 'rules[0].level': the chip has no memory \"L2\"\n"
     "  why: rules.json:1: rule 1 (\"*\", any kind, must not be in L2)\n"
     "  hint: use one of SM, L3, GM\n"},
    {"all problems at once",
     "{\"rules\": [{\"match\": \"*\", \"level\": \"L3\", \"strength\": \"maybe\"}, {\"level\": \"L3\", \"strength\": "
     "\"must\"},"
     " 7], \"rule\": 1}",
     NULL, NULL},
    {"no object", "[]", NULL, NULL},
    {"no JSON", "{", NULL, NULL},
    {"no rules", "{}", NULL, NULL},
};

static xpu_status rules_work(xpu_arena *arena, xpu_diags *diags) {
    static const xpu_memplan_buffer buffers[] = {
        {.name = "conv1/w", .kind = XPU_MEMPLAN_WEIGHT, .levels = {SM, L3, GM}, .level_count = 3},
        {.name = "conv1/out", .kind = XPU_MEMPLAN_ACTIVATION, .levels = {SM, L3, GM}, .level_count = 3},
        {.name = "tmp", .kind = XPU_MEMPLAN_SCRATCH, .levels = {SM, L3, GM}, .level_count = 3}};
    for (size_t i = 0; i < sizeof rules_cases / sizeof *rules_cases; i++) {
        const rules_case *c = &rules_cases[i];
        xpu_memplan_problem problem = {.levels = levels, .level_count = 3, .buffers = buffers, .buffer_count = 3};
        xpu_memory_rules rules;
        xpu_diags own;
        xpu_diags_init(&own);
        xpu_status status = xpu_memory_rules_parse(arena, c->text, strlen(c->text), "rules.json", &rules, &own);
        if (status == XPU_OK) status = xpu_memory_rules_apply(arena, &rules, &problem, &own);
        if (status == XPU_OK) status = xpu_memory_rules_unused(arena, &rules, &problem, &own);
        CU_ASSERT_EQUAL(status, c->matches ? XPU_OK : XPU_EUSAGE);
        CU_ASSERT_EQUAL(status, xpu_diags_status(&own));
        if (c->message) expect_text(c->name, all_text(arena, &own), c->message);
        if (status == XPU_OK) {
            xpu_text text;
            xpu_text_init(&text, arena);
            for (uint32_t k = 0; k < problem.match_count; k++) {
                xpu_text_add(&text, "%s%s:%" PRIu32, k ? " " : "", buffers[problem.matches[k].buffer].name,
                             problem.matches[k].rule + 1);
            }
            expect_text(c->name, text.text, c->matches);
            xpu_memplan *plan;
            CU_ASSERT_EQUAL(xpu_memplan_make(arena, &problem, NULL, &plan, diags), XPU_OK);
            if (plan) CU_ASSERT_EQUAL(xpu_memplan_check(arena, &problem, plan, diags), XPU_OK);
        }
        if (strcmp(c->name, "all problems at once") == 0) CU_ASSERT_EQUAL(own.errors, 4);
        xpu_diags_clear(&own);
    }
    return XPU_OK;
}

static void rules_files(void) {
    xpu_diags diags;
    xpu_diags_init(&diags);
    CU_ASSERT_EQUAL(xpu_run_work(rules_work, &diags), XPU_OK);
    xpu_diags_clear(&diags);
}

/* The files that are shipped, read from the repository's root, where `make test` runs. */
static xpu_status shipped_work(xpu_arena *arena, xpu_diags *diags) {
    static const char *const files[] = {"configs/memory/default.json", "configs/memory/weights-in-l3.json"};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        if (!xpu_file_exists(files[i])) {
            printf("skipped: not run in the repository's root ");
            return XPU_OK;
        }
        xpu_memory_rules rules;
        CU_ASSERT_EQUAL(xpu_memory_rules_read(arena, files[i], &rules, diags), XPU_OK);
        CU_ASSERT_EQUAL(rules.count, i == 0 ? 0 : 2);
    }
    xpu_memory_rules rules;
    xpu_diags own;
    xpu_diags_init(&own);
    CU_ASSERT_EQUAL(xpu_memory_rules_read(arena, "configs/memory/absent.json", &rules, &own), XPU_EIO);
    xpu_diags_clear(&own);
    return XPU_OK;
}

static void shipped_rules(void) {
    xpu_diags diags;
    xpu_diags_init(&diags);
    CU_ASSERT_EQUAL(xpu_run_work(shipped_work, &diags), XPU_OK);
    xpu_diags_clear(&diags);
}
XPU_TEST_MAIN("placement rules", {"globs", globs}, {"rules files", rules_files}, {"shipped rules", shipped_rules})
