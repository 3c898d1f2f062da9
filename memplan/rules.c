#include "memplan/rules.h"

#include <inttypes.h>
#include <string.h>

#include "base/json.h"
#include "base/option.h"

enum { MAX_RULES = 4096, MAX_GLOB = 1024, MAX_REPORTED = 100, MAX_BANK = 255, MAX_FILE = 1 << 26 };

/* One element of a glob: a set, a quoted or a plain character. `*next` is what follows it. */
static int element_matches(const char *glob, char c, const char **next) {
    if (*glob == '?') {
        *next = glob + 1;
        return 1;
    }
    if (*glob == '\\' && glob[1]) {
        *next = glob + 2;
        return glob[1] == c;
    }
    const char *p = glob + 1;
    int inverted = *glob == '[' && *p == '!', inside = 0;
    if (inverted) p++;
    const char *end = *glob == '[' && *p ? strchr(p + 1, ']') : NULL; /* a ']' that comes first is a member */
    if (!end) {                                                       /* a plain character, or a '[' without its ']' */
        *next = glob + 1;
        return *glob == c;
    }
    while (p < end) {
        unsigned char low = (unsigned char)*p, high = low, at = (unsigned char)c;
        if (p + 2 < end && p[1] == '-') {
            high = (unsigned char)p[2];
            p += 2;
        }
        inside |= low <= at && at <= high;
        p++;
    }
    *next = end + 1;
    return inside != inverted;
}

int xpu_glob_match(const char *glob, const char *name) {
    const char *star = NULL, *retry = NULL, *next;
    while (*name) {
        if (*glob == '*') {
            star = ++glob;
            retry = name;
        } else if (*glob && element_matches(glob, *name, &next)) {
            glob = next;
            name++;
        } else if (star) { /* let the last star take one character more */
            glob = star;
            name = ++retry;
        } else {
            return 0;
        }
    }
    while (*glob == '*') glob++;
    return *glob == 0;
}

/* The line of each element of the array "rules", which stands in valid JSON; lines[i] for at most `count`, which are 0
 * before: a key that is spelled with escapes is not found. */
static void find_lines(const char *text, size_t length, uint32_t *lines, size_t count) {
    static const char key[] = "\"rules\"";
    uint32_t line = 1;
    size_t found = 0;
    int depth = 0, is_list = 0;
    for (size_t i = 0; i < length && found < count; i++) {
        char c = text[i];
        if (c == '\n') line++;
        if (c == '"') {
            if (depth == 1 && length - i >= sizeof key - 1 && memcmp(text + i, key, sizeof key - 1) == 0) is_list = 1;
            for (i++; i < length && text[i] != '"'; i++) i += text[i] == '\\';
        }
        if (c == '{' && depth == 2 && is_list) lines[found++] = line;
        depth += (c == '{' || c == '[') - (c == '}' || c == ']');
        if (depth == 1 && c == ']') is_list = 0;
    }
}

/* "must be in L3", "should be in bank 3 of SM", "must not be in SM at 4096" */
static const char *wish_text(xpu_arena *arena, const xpu_memory_rule *rule) {
    static const char *const phrases[] = {"must be in", "should be in", "must not be in"};
    const char *bank = rule->has_bank ? xpu_printf(arena, " bank %" PRIu32 " of", rule->bank) : "";
    const char *offset = rule->has_offset ? xpu_printf(arena, " at %" PRIu64, rule->offset) : "";
    return xpu_printf(arena, "%s%s %s%s", phrases[rule->strength], bank, xpu_escape(arena, rule->level, 40), offset);
}

static void parse_rule(xpu_arena *arena, json_t *value, const char *file, uint32_t number, uint32_t line,
                       xpu_memory_rule *rule, xpu_diags *diags) {
    static const char *const kinds[] = {
#define X(name, text) text,
        XPU_MEMPLAN_KINDS(X)
#undef X
            NULL};
    static const char *const strengths[] = {"must", "prefer", "never", NULL};
    xpu_json_object object;
    const char *path = xpu_printf(arena, "rules[%" PRIu32 "]", number - 1);
    if (!xpu_json_open(&object, arena, value, file, path, diags)) return;
    const char *match = xpu_json_string(&object, "match"), *level = xpu_json_string(&object, "level");
    rule->kind = xpu_json_member(&object, "kind") ? xpu_json_choice(&object, "kind", kinds) : -1;
    int strength = xpu_json_choice(&object, "strength", strengths);
    rule->has_offset = xpu_json_member(&object, "offset") != NULL;
    rule->has_bank = xpu_json_member(&object, "bank") != NULL;
    rule->offset = (uint64_t)xpu_json_int_or(&object, "offset", 0, (int64_t)XPU_MEMPLAN_MAX_BYTES, 0);
    rule->bank = (uint32_t)xpu_json_int_or(&object, "bank", 0, MAX_BANK, 0);
    xpu_json_done(&object);
    if (!match || !level || strength < 0) return;
    if (strlen(match) > MAX_GLOB) {
        xpu_error(diags, XPU_EUSAGE, file, "rules-match", xpu_printf(arena, "key '%s.match'", path),
                  "the match is too long", "a match has at most 1024 bytes", "use a shorter pattern with *");
        return;
    }
    rule->match = xpu_strdup(arena, match);
    rule->level = xpu_strdup(arena, level);
    rule->strength = (xpu_memplan_strength)strength;
    const char *at = line ? xpu_printf(arena, ":%" PRIu32, line) : "";
    rule->text = xpu_printf(arena, "%s%s: rule %" PRIu32 " (\"%s\", %s, %s)",
                            file ? xpu_escape(arena, file, 200) : "rules", at, number, xpu_escape(arena, match, 80),
                            rule->kind < 0 ? "any kind" : kinds[rule->kind], wish_text(arena, rule));
}

static xpu_status parse(xpu_arena *arena, const char *text, size_t length, const char *file, xpu_memory_rules *rules,
                        xpu_diags *diags) {
    size_t before = diags->errors;
    xpu_json_object object;
    json_t *root = xpu_json_parse(arena, text, length, file, diags);
    if (!root) return XPU_EUSAGE;
    *rules = (xpu_memory_rules){.file = xpu_strdup(arena, file)};
    if (!xpu_json_open(&object, arena, root, rules->file, "", diags)) return XPU_EUSAGE;
    json_t *list = xpu_json_array(&object, "rules");
    xpu_json_done(&object);
    size_t count = list ? json_array_size(list) : 0;
    if (count > MAX_RULES) {
        return xpu_error(diags, XPU_EUSAGE, file, "rules-count", "key 'rules'",
                         xpu_printf(arena, "there are %zu rules", count), "a file has at most 4096 rules",
                         "join rules with wildcards");
    }
    rules->items = XPU_NEW_ARRAY(arena, xpu_memory_rule, count);
    uint32_t *lines = XPU_NEW_ARRAY(arena, uint32_t, count);
    find_lines(text, length, lines, count);
    for (size_t i = 0; i < count && diags->errors < before + MAX_REPORTED; i++) {
        parse_rule(arena, json_array_get(list, i), rules->file, (uint32_t)i + 1, lines[i], &rules->items[i], diags);
    }
    if (diags->errors > before) return XPU_EUSAGE;
    rules->count = (uint32_t)count;
    return XPU_OK;
}

xpu_status xpu_memory_rules_read(xpu_arena *arena, const char *path, xpu_memory_rules *rules, xpu_diags *diags) {
    size_t before = diags->count, length;
    *rules = (xpu_memory_rules){0};
    const char *text = xpu_file_read_all(arena, path, MAX_FILE, &length, diags);
    if (!text) return before < diags->count ? diags->items[before].status : xpu_error_oom(diags);
    return parse(arena, text, length, path, rules, diags);
}

xpu_status xpu_memory_rules_parse(xpu_arena *arena, const char *text, size_t length, const char *name,
                                  xpu_memory_rules *rules, xpu_diags *diags) {
    *rules = (xpu_memory_rules){0};
    return parse(arena, text, length, name, rules, diags);
}

static uint32_t find_level(const xpu_memplan_problem *problem, const char *name) {
    for (uint32_t i = 0; i < problem->level_count; i++) {
        if (strcmp(problem->levels[i].name, name) == 0) return i;
    }
    return XPU_MEMPLAN_NONE;
}

static void unknown_level(xpu_arena *arena, const xpu_memory_rules *rules, uint32_t index,
                          const xpu_memplan_problem *problem, xpu_diags *diags) {
    xpu_text known;
    xpu_text_init(&known, arena);
    for (uint32_t i = 0; i < problem->level_count; i++) {
        xpu_text_add(&known, "%s%s", i ? ", " : "", problem->levels[i].name);
    }
    xpu_error(diags, XPU_EUSAGE, rules->file, "rules-level", xpu_printf(arena, "key 'rules[%" PRIu32 "].level'", index),
              xpu_printf(arena, "the chip has no memory \"%s\"", xpu_escape(arena, rules->items[index].level, 40)),
              rules->items[index].text, xpu_printf(arena, "use one of %s", known.text));
}

static void unknown_bank(xpu_arena *arena, const xpu_memory_rules *rules, uint32_t index,
                         const xpu_memplan_level *level, xpu_diags *diags) {
    const char *name = xpu_escape(arena, level->name, 40);
    xpu_error(diags, XPU_EUSAGE, rules->file, "rules-bank", xpu_printf(arena, "key 'rules[%" PRIu32 "].bank'", index),
              xpu_printf(arena, "%s has no bank %" PRIu32, name, rules->items[index].bank), rules->items[index].text,
              level->banks ? xpu_printf(arena, "its banks are 0 to %" PRIu32, level->banks - 1)
                           : "leave the bank out: this level has none");
}

xpu_status xpu_memory_rules_apply(xpu_arena *arena, xpu_memory_rules *rules, xpu_memplan_problem *problem,
                                  xpu_diags *diags) {
    size_t before = diags->errors;
    xpu_memplan_rule *planned = XPU_NEW_ARRAY(arena, xpu_memplan_rule, rules->count);
    XPU_ARRAY(xpu_memplan_match) matches = {0};
    for (uint32_t r = 0; r < rules->count; r++) {
        xpu_memory_rule *rule = &rules->items[r];
        uint32_t level = find_level(problem, rule->level);
        if (level == XPU_MEMPLAN_NONE) {
            unknown_level(arena, rules, r, problem, diags);
            continue;
        }
        if (rule->has_bank && rule->bank >= problem->levels[level].banks) {
            unknown_bank(arena, rules, r, &problem->levels[level], diags);
            continue;
        }
        planned[r] = (xpu_memplan_rule){.text = rule->text,
                                        .level = level,
                                        .strength = rule->strength,
                                        .has_offset = rule->has_offset,
                                        .has_bank = rule->has_bank,
                                        .offset = rule->offset,
                                        .bank = rule->bank};
        for (uint32_t b = 0; b < problem->buffer_count; b++) {
            const xpu_memplan_buffer *buffer = &problem->buffers[b];
            if (rule->kind >= 0 && (int)buffer->kind != rule->kind) continue;
            if (!xpu_glob_match(rule->match, buffer->name ? buffer->name : "")) continue;
            rule->matched = 1;
            xpu_memplan_match match = {b, r};
            XPU_PUSH(arena, &matches, match);
        }
    }
    if (diags->errors > before) return XPU_EUSAGE;
    problem->rules_file = rules->file;
    problem->rules = planned;
    problem->rule_count = rules->count;
    problem->matches = matches.items;
    problem->match_count = matches.count;
    return XPU_OK;
}

/* The name of a buffer that the match is nearly; or NULL. */
static const char *nearest_buffer(xpu_arena *arena, const char *match, const xpu_memplan_problem *problem) {
    const char **names = XPU_NEW_ARRAY(arena, const char *, problem->buffer_count + 1);
    uint32_t count = 0;
    for (uint32_t i = 0; i < problem->buffer_count; i++) {
        if (problem->buffers[i].name) names[count++] = problem->buffers[i].name;
    }
    return xpu_nearest(match, names);
}

xpu_status xpu_memory_rules_unused(xpu_arena *arena, const xpu_memory_rules *rules, const xpu_memplan_problem *problem,
                                   xpu_diags *diags) {
    xpu_status status = XPU_OK;
    for (uint32_t i = 0; i < rules->count; i++) {
        const xpu_memory_rule *rule = &rules->items[i];
        if (rule->matched) continue;
        xpu_severity severity = rule->strength == XPU_MEMPLAN_MUST ? XPU_SEVERITY_ERROR : XPU_SEVERITY_WARNING;
        if (rules->is_of_part) severity = xpu_milder(severity);
        int fails = severity == XPU_SEVERITY_ERROR;
        const char *nearest = nearest_buffer(arena, rule->match, problem);
        xpu_diag_add(diags, severity, fails ? XPU_EUSAGE : XPU_OK, rules->file, "rules-unused",
                     xpu_printf(arena, "key 'rules[%" PRIu32 "]'", i), "the rule matches no buffer", rule->text,
                     nearest ? xpu_printf(arena, "the nearest name is '%s'", xpu_escape(arena, nearest, 100))
                             : "see the names in the memory part of --report, or remove the rule");
        if (fails) status = XPU_EUSAGE;
    }
    return status;
}
