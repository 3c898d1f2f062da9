#define _GNU_SOURCE 1
#include "base/option.h"

#include <stdio.h>
#include <string.h>

const xpu_option xpu_common_options[] = {
    {"quiet", 'q', NULL, "say nothing but errors"},
    {"verbose", 'v', NULL, "say more"},
    {"help", 0, "[man|bash]", "show this text, the man page, or completion for bash"},
    {"version", 0, NULL, "show the version"},
    {NULL, 0, NULL, NULL},
};

enum { NEAREST_MAX = 64 }; /* longer words have no nearest one */

static size_t least(size_t a, size_t b) {
    return a < b ? a : b;
}

/* Edit distance with swaps of neighbours (optimal string alignment). */
static size_t distance(const char *a, size_t a_length, const char *b, size_t b_length) {
    size_t rows[3][NEAREST_MAX + 1];
    size_t *two_back = rows[0], *back = rows[1], *row = rows[2];
    for (size_t j = 0; j <= b_length; j++) back[j] = two_back[j] = j;
    for (size_t i = 1; i <= a_length; i++) {
        row[0] = i;
        for (size_t j = 1; j <= b_length; j++) {
            row[j] = least(least(row[j - 1], back[j]) + 1, back[j - 1] + (a[i - 1] != b[j - 1]));
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                row[j] = least(row[j], two_back[j - 2] + 1);
        }
        size_t *oldest = two_back;
        two_back = back;
        back = row;
        row = oldest;
    }
    return back[b_length];
}

const char *xpu_nearest(const char *word, const char *const *words) {
    size_t length = strlen(word), best = (length > 3 ? 2 : 1) + length / 4;
    const char *nearest = NULL;
    if (length > NEAREST_MAX) return NULL;
    if (best > length) best = length;
    for (; *words; words++) {
        size_t other = strlen(*words);
        size_t edits = other > NEAREST_MAX ? best : distance(word, length, *words, other);
        if (edits < best) {
            best = edits;
            nearest = *words;
        }
    }
    return nearest;
}

typedef struct {
    xpu_arena *arena;
    const xpu_command *command;
    xpu_arguments *arguments;
    xpu_diags *diags;
    char **next, **end; /* the words that are left */
} parser;

static int is_optional(const xpu_option *option) {
    return option->argument && option->argument[0] == '[';
}

static const xpu_option *find(const xpu_command *command, const char *name, size_t length, char letter) {
    const xpu_option *const tables[] = {command->options, xpu_common_options};
    for (size_t t = 0; t < 2; t++) {
        for (const xpu_option *option = tables[t]; option && option->name; option++) {
            int match = name ? strlen(option->name) == length && memcmp(option->name, name, length) == 0
                             : option->letter == letter;
            if (match) return option;
        }
    }
    return NULL;
}

static void usage_error(parser *p, const char *option, const char *what, const char *why, const char *hint) {
    const char *where = xpu_printf(p->arena, "option '%s'", xpu_escape(p->arena, option, 80));
    xpu_error(p->diags, XPU_EUSAGE, NULL, "usage", where, what, why, hint);
}

static void unknown_option(parser *p, const char *option) {
    XPU_ARRAY(const char *) names = {0};
    const xpu_option *const tables[] = {p->command->options, xpu_common_options};
    for (size_t t = 0; t < 2; t++) {
        for (const xpu_option *o = tables[t]; o && o->name; o++) XPU_PUSH(p->arena, &names, o->name);
    }
    XPU_PUSH(p->arena, &names, NULL);
    size_t dashes = strspn(option, "-");
    char *word = xpu_strndup(p->arena, option + dashes, strcspn(option + dashes, "="));
    const char *nearest = dashes == 2 ? xpu_nearest(word, names.items) : NULL;
    usage_error(p, dashes == 2 ? xpu_printf(p->arena, "--%s", word) : option, "unknown option",
                xpu_printf(p->arena, "%s has no option of this name", p->command->tool),
                nearest ? xpu_printf(p->arena, "did you mean --%s?", nearest)
                        : xpu_printf(p->arena, "%s --help lists the options", p->command->tool));
}

static void add(parser *p, const char *name, const char *value) {
    xpu_argument argument = {name, value};
    XPU_PUSH(p->arena, p->arguments, argument);
}

/* Adds `option`, whose value is `value` or, where it needs one, the next word. */
static void take(parser *p, const xpu_option *option, const char *spelling, const char *value) {
    if (value && !option->argument) {
        usage_error(p, spelling, "the option takes no value",
                    xpu_printf(p->arena, "the value '%s' was given", xpu_escape(p->arena, value, 80)),
                    "leave out '=' and what follows");
        return;
    }
    if (!value && option->argument && !is_optional(option)) {
        if (p->next == p->end) {
            usage_error(p, spelling, "the option needs a value", "the command line ends here",
                        xpu_printf(p->arena, "write --%s=%s", option->name, option->argument));
            return;
        }
        value = *p->next++;
    }
    add(p, option->name, value);
}

static void parse_long(parser *p, const char *word) {
    size_t length = strcspn(word + 2, "=");
    const xpu_option *option = find(p->command, word + 2, length, 0);
    if (!option) {
        unknown_option(p, word);
        return;
    }
    take(p, option, xpu_strndup(p->arena, word, length + 2), word[length + 2] ? word + length + 3 : NULL);
}

/* -o VALUE, -oVALUE, and letters without values in one word. */
static void parse_letters(parser *p, const char *word) {
    for (const char *letter = word + 1; *letter; letter++) {
        char spelling[] = {'-', *letter, '\0'};
        const xpu_option *option = find(p->command, NULL, 0, *letter);
        if (!option) {
            unknown_option(p, spelling);
            return;
        }
        int has_value = option->argument && letter[1];
        take(p, option, spelling, has_value ? letter + 1 : NULL);
        if (has_value) return;
    }
}

xpu_status xpu_options_parse(xpu_arena *arena, const xpu_command *command, int argc, char **argv,
                             xpu_arguments *arguments, xpu_diags *diags) {
    parser p = {arena, command, arguments, diags, argv + (argc > 0), argv + argc};
    size_t errors = diags->errors;
    int only_positional = 0;
    *arguments = (xpu_arguments){0};
    while (p.next < p.end) {
        const char *word = *p.next++;
        if (only_positional || word[0] != '-' || word[1] == '\0') {
            add(&p, NULL, word);
        } else if (strcmp(word, "--") == 0) {
            only_positional = 1;
        } else if (word[1] == '-') {
            parse_long(&p, word);
        } else {
            parse_letters(&p, word);
        }
    }
    return diags->errors == errors ? XPU_OK : XPU_EUSAGE;
}

/* "  -o, --output=FILE" */
static char *option_label(xpu_arena *arena, const xpu_option *option) {
    char letter[8] = "    ";
    if (option->letter) snprintf(letter, sizeof letter, "-%c, ", option->letter);
    if (!option->argument) return xpu_printf(arena, "  %s--%s", letter, option->name);
    if (!is_optional(option)) return xpu_printf(arena, "  %s--%s=%s", letter, option->name, option->argument);
    return xpu_printf(arena, "  %s--%s[=%s", letter, option->name, option->argument + 1);
}

char *xpu_options_help(xpu_arena *arena, const xpu_command *command) {
    enum { WIDEST = 34 };
    const xpu_option *const tables[] = {command->options, xpu_common_options};
    size_t width = 0;
    xpu_text text;
    xpu_text_init(&text, arena);
    xpu_text_add(&text, "Usage: %s %s\n\n%s\n\nOptions:\n", command->tool, command->usage, command->about);
    for (size_t t = 0; t < 2; t++) {
        for (const xpu_option *o = tables[t]; o && o->name; o++) {
            size_t length = strlen(option_label(arena, o));
            if (length > width && length <= WIDEST) width = length;
        }
    }
    for (size_t t = 0; t < 2; t++) {
        for (const xpu_option *o = tables[t]; o && o->name; o++) {
            const char *label = option_label(arena, o);
            if (strlen(label) > width) {
                xpu_text_add(&text, "%s\n%*s  %s\n", label, (int)width, "", o->help);
            } else {
                xpu_text_add(&text, "%-*s  %s\n", (int)width, label, o->help);
            }
        }
    }
    if (command->example) {
        xpu_text_add(&text, "\nExample:\n");
        for (const char *line = command->example; *line;) {
            size_t length = strcspn(line, "\n");
            xpu_text_add(&text, "  %.*s\n", (int)length, line);
            line += length + (line[length] == '\n');
        }
    }
    return text.text;
}

char *xpu_options_text(xpu_arena *arena, const xpu_command *command, const char *kind, const char *version,
                       xpu_diags *diags) {
    if (!kind) return xpu_options_help(arena, command);
    if (strcmp(kind, "man") == 0) return xpu_options_manual(arena, command, version);
    if (strcmp(kind, "bash") == 0) return xpu_options_completion(arena, command);
    xpu_error(diags, XPU_EUSAGE, NULL, "usage", "option '--help'", "there is no such text",
              xpu_printf(arena, "'%s' is not one of man, bash", xpu_escape(arena, kind, 80)),
              "write --help, --help=man or --help=bash");
    return NULL;
}
