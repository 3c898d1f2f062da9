/* What a table of options makes besides --help: a man page, and completion for bash. */
#include <ctype.h>
#include <string.h>

#include "base/option.h"

/* The options of the tool, then those of all tools. */
static const xpu_option *option_at(const xpu_command *command, size_t index) {
    const xpu_option *const tables[] = {command->options, xpu_common_options};
    for (size_t t = 0; t < 2; t++) {
        for (const xpu_option *o = tables[t]; o && o->name; o++) {
            if (index-- == 0) return o;
        }
    }
    return NULL;
}

/* ---- man ---- */

/* Text that troff prints as it is. */
static void add_roff(xpu_text *text, const char *from, size_t length) {
    int at_start = 1;
    for (size_t i = 0; i < length; i++) {
        char c = from[i];
        if (at_start && (c == '.' || c == '\'')) xpu_text_add(text, "\\&");
        if (c == '\\' || c == '-' || c == '\'' || c == '`' || c == '^' || c == '~')
            xpu_text_add(text, "%s",
                         c == '\\'   ? "\\e"
                         : c == '-'  ? "\\-"
                         : c == '\'' ? "\\(aq"
                         : c == '`'  ? "\\(ga"
                         : c == '^'  ? "\\(ha"
                                     : "\\(ti");
        else
            xpu_text_add_bytes(text, &c, 1);
        at_start = c == '\n';
    }
}

static void add_plain(xpu_text *text, const char *from) {
    add_roff(text, from, strlen(from));
}

static void add_option(xpu_text *text, const xpu_option *o) {
    xpu_text_add(text, ".TP\n");
    if (o->letter) xpu_text_add(text, "\\fB\\-%c\\fR, ", o->letter);
    xpu_text_add(text, "\\fB\\-\\-");
    add_plain(text, o->name);
    xpu_text_add(text, "\\fR");
    if (o->argument) {
        int is_optional = o->argument[0] == '[';
        xpu_text_add(text, is_optional ? "[=\\fI" : "=\\fI");
        size_t length = strlen(o->argument);
        add_roff(text, o->argument + is_optional, length - 2 * (size_t)is_optional);
        xpu_text_add(text, is_optional ? "\\fR]" : "\\fR");
    }
    xpu_text_add(text, "\n");
    add_plain(text, o->help);
    xpu_text_add(text, "\n");
}

/* One way to call the tool on each line of SYNOPSIS. */
static void add_synopsis(xpu_text *text, const xpu_command *command) {
    for (const char *way = command->usage; way;) {
        const char *next = strstr(way, " | ");
        xpu_text_add(text, "%s\\fB", way == command->usage ? "" : ".br\n");
        add_plain(text, command->tool);
        xpu_text_add(text, "\\fR ");
        add_roff(text, way, next ? (size_t)(next - way) : strlen(way));
        xpu_text_add(text, "\n");
        way = next ? next + 3 : NULL;
    }
}

char *xpu_options_manual(xpu_arena *arena, const xpu_command *command, const char *version) {
    static const struct {
        int code;
        const char *meaning;
    } codes[] = {{0, "done"},
                 {1, "the model is invalid or not supported"},
                 {2, "wrong option, input or configuration file"},
                 {3, "a file cannot be read, written or found; a program is missing; out of memory"},
                 {4, "outputs differ"},
                 {5, "the device reported a fault"},
                 {6, "the device made no progress, or a limit passed"},
                 {7, "lock-step found a difference between rtl and func"},
                 {70, "an internal error"},
                 {130, "ended by SIGINT (143: SIGTERM, 129: SIGHUP)"}};
    xpu_text text;
    xpu_text_init(&text, arena);
    xpu_text_add(&text, ".\\\" Made by %s --help=man; do not edit.\n.TH ", command->tool);
    for (const char *c = command->tool; *c; c++) xpu_text_add(&text, "%c", toupper(*c));
    xpu_text_add(&text, " 1 \"\" \"%s %s\" \"XPU stack\"\n.SH NAME\n", command->tool, version);
    add_plain(&text, command->tool);
    xpu_text_add(&text, " \\- ");
    size_t first = strcspn(command->about, ".:;\n");
    xpu_text_add(&text, "%c", tolower(command->about[0]));
    add_roff(&text, command->about + 1, first - 1);
    xpu_text_add(&text, "\n.SH SYNOPSIS\n");
    add_synopsis(&text, command);
    xpu_text_add(&text, ".SH DESCRIPTION\n");
    add_plain(&text, command->about);
    xpu_text_add(&text, "\n.SH OPTIONS\n");
    const xpu_option *option;
    for (size_t i = 0; (option = option_at(command, i)); i++) add_option(&text, option);
    xpu_text_add(&text, ".SH \"EXIT STATUS\"\n");
    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++) {
        xpu_text_add(&text, ".TP\n\\fB%d\\fR\n", codes[i].code);
        add_plain(&text, codes[i].meaning);
        xpu_text_add(&text, "\n");
    }
    if (command->example) {
        xpu_text_add(&text, ".SH EXAMPLES\n.nf\n");
        add_plain(&text, command->example);
        xpu_text_add(&text, "\n.fi\n");
    }
    return text.text;
}

/* ---- bash ---- */

/* "show diff": the words that begin a way to call the tool. */
static void add_verbs(xpu_text *text, const xpu_command *command) {
    for (const char *way = command->usage; way;) {
        size_t length = strcspn(way, " ");
        int is_verb = length > 0;
        for (size_t i = 0; i < length; i++) is_verb &= islower((unsigned char)way[i]) != 0;
        if (is_verb) xpu_text_add(text, "%s%.*s", text->length ? " " : "", (int)length, way);
        const char *next = strstr(way, " | ");
        way = next ? next + 3 : NULL;
    }
}

/* What may stand for an argument such as "NAME|FILE.json" or "[json]": words; and whether files or folders. */
static void add_words(xpu_text *words, const char *argument, int *files, int *folders) {
    *files = *folders = 0;
    for (const char *part = argument + (argument[0] == '['); *part;) {
        size_t length = strcspn(part, "|],");
        int is_word = length > 0;
        for (size_t i = 0; i < length; i++)
            is_word &= islower((unsigned char)part[i]) || isdigit((unsigned char)part[i]);
        if (is_word) xpu_text_add(words, "%s%.*s", words->length ? " " : "", (int)length, part);
        for (size_t i = 0; i + 2 < length; i++) {
            *files |= strncmp(part + i, "FILE", 4) == 0;
            *folders |= strncmp(part + i, "DIR", 3) == 0;
        }
        part += length + (part[length] != '\0');
    }
}

static void add_cases(xpu_text *text, const xpu_command *command) {
    const xpu_option *o;
    for (size_t i = 0; (o = option_at(command, i)); i++) {
        xpu_text words;
        int files, folders;
        if (!o->argument) continue;
        xpu_text_init(&words, text->arena);
        add_words(&words, o->argument, &files, &folders);
        xpu_text_add(text, "        --%s", o->name);
        if (o->letter) xpu_text_add(text, "|-%c", o->letter);
        xpu_text_add(text, ") COMPREPLY=($(compgen %s-W '%s' -- \"$word\"))%s; return ;;\n",
                     files     ? "-f "
                     : folders ? "-d "
                               : "",
                     words.text, files || folders ? "; compopt -o filenames" : "");
    }
}

char *xpu_options_completion(xpu_arena *arena, const xpu_command *command) {
    xpu_text text, verbs;
    const xpu_option *o;
    char *name = xpu_strdup(arena, command->tool);
    for (char *c = name; *c; c++) {
        if (*c == '-') *c = '_';
    }
    xpu_text_init(&text, arena);
    xpu_text_init(&verbs, arena);
    add_verbs(&verbs, command);
    xpu_text_add(&text,
                 "# Made by %s --help=bash; do not edit.\n"
                 "_%s() {\n"
                 "    local word=${COMP_WORDS[COMP_CWORD]} option=${COMP_WORDS[COMP_CWORD-1]}\n"
                 "    COMPREPLY=()\n"
                 "    if [ \"$word\" = = ]; then word=; elif [ \"$option\" = = ]; then "
                 "option=${COMP_WORDS[COMP_CWORD-2]}; fi\n"
                 "    case $option in\n",
                 command->tool, name);
    add_cases(&text, command);
    xpu_text_add(&text, "    esac\n    if [[ $word == -* ]]; then\n        COMPREPLY=($(compgen -W '");
    for (size_t i = 0; (o = option_at(command, i)); i++)
        xpu_text_add(&text, "%s--%s%s", i ? " " : "", o->name, o->argument && o->argument[0] != '[' ? "=" : "");
    xpu_text_add(&text,
                 "' -- \"$word\"))\n"
                 "        [[ ${COMPREPLY-} == *= ]] && compopt -o nospace\n"
                 "    elif [ \"$COMP_CWORD\" = 1 ] && [ '%s' ]; then\n"
                 "        COMPREPLY=($(compgen -W '%s' -- \"$word\"))\n"
                 "    else\n"
                 "        COMPREPLY=($(compgen -f -- \"$word\"))\n"
                 "        compopt -o filenames\n"
                 "    fi\n"
                 "} 2>/dev/null\n"
                 "complete -F _%s %s\n",
                 verbs.text, verbs.text, name, command->tool);
    return text.text;
}
