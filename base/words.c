#include "base/words.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

typedef enum { PAIRS, TEXT, NUMBER, FLAG, CALL } kind;

typedef struct {
    const char *tool, *option;
    kind kind;
    const char *words[2]; /* by xpu_interface */
} row;

static const row rows[] = {
#define WORD(tool, option, kind, python, onnxruntime) {tool, option, kind, {python, onnxruntime}},
#include "base/words.def"
#undef WORD
};
enum { ROW_COUNT = sizeof rows / sizeof rows[0] };

/* ---- what is written ---- */

typedef struct {
    char *text; /* NULL: memory ran out */
    size_t length, capacity;
} copy;

static void put(copy *to, const char *text, size_t length) {
    if (to->text && to->length + length >= to->capacity) {
        size_t capacity = 2 * (to->length + length) + 64;
        char *larger = realloc(to->text, capacity);
        if (!larger) free(to->text);
        to->text = larger;
        to->capacity = capacity;
    }
    if (!to->text) return;
    memcpy(to->text + to->length, text, length);
    to->text[to->length += length] = '\0';
}

static void put_text(copy *to, const char *text) {
    put(to, text, strlen(text));
}

/* ---- what is read ---- */

/* An option as it stands in a text, and what is given for it. */
typedef struct {
    const row *of;
    size_t tool, name; /* how long "xpuc " is where it stands before, and "--shape" */
    const char *value; /* behind "=", or behind a space where it is NAME=VALUE; NULL: none */
    size_t length;
} mention;

static size_t length_of_tool(const char *at) {
    for (size_t i = 0; i < ROW_COUNT; i++) {
        size_t length = strlen(rows[i].tool);
        if (strncmp(at, rows[i].tool, length) == 0 && strncmp(at + length, " --", 3) == 0) return length + 1;
    }
    return 0;
}

/* How long a value is: quoted, or a word without the marks that end a part of a sentence. */
static size_t length_of_value(const char *at) {
    size_t length;
    if (at[0] == '\'') {
        length = 1 + strcspn(at + 1, "'\n");
        return at[length] == '\'' ? length + 1 : 0;
    }
    length = strcspn(at, " \n'");
    while (length && strchr(",;:)", at[length - 1])) length--;
    return length;
}

/* How long the NAME of NAME=VALUE is; 0: that does not stand here. */
static size_t length_of_pair_name(const char *at) {
    size_t length = at[0] == '-' ? 0 : strcspn(at, " \n'=");
    return at[length] == '=' && length_of_value(at + length + 1) ? length : 0;
}

static int is_inside_word(char c) {
    return isalnum((unsigned char)c) || (c && strchr("-_/.", c));
}

static int read_mention(const char *text, const char *at, mention *m) {
    static const char letters[] = "abcdefghijklmnopqrstuvwxyz-";
    if (at > text && is_inside_word(at[-1])) return 0;
    *m = (mention){.tool = length_of_tool(at)};
    const char *dashes = at + m->tool;
    if (strncmp(dashes, "--", 2) != 0) return 0;
    m->name = strspn(dashes, letters);
    const char *end = dashes + m->name;
    for (size_t i = 0; i < ROW_COUNT && !m->of; i++) {
        if (strlen(rows[i].option) == m->name - 2 && strncmp(rows[i].option, dashes + 2, m->name - 2) == 0)
            m->of = &rows[i];
    }
    if (!m->of || *end == '_' || isalnum((unsigned char)*end)) return 0;
    int is_pair = (*end == '=' || *end == ' ') && m->of->kind == PAIRS && length_of_pair_name(end + 1);
    if ((*end == '=' || is_pair) && length_of_value(end + 1)) {
        m->value = end + 1;
        m->length = length_of_value(end + 1);
    }
    return 1;
}

/* ---- one in the words of the other ---- */

static int ends_with(const copy *to, const char *word) {
    size_t length = strlen(word);
    if (!to->text || to->length < length || strcmp(to->text + to->length - length, word) != 0) return 0;
    return to->length == length || !is_inside_word(to->text[to->length - length - 1]);
}

/* "the argument", behind an article only "argument". */
static void put_noun(copy *to, const char *noun) {
    static const char *const articles[] = {"the ", "one ", "each ", "another "};
    int has_article = ends_with(to, "a ");
    if (has_article) to->text[to->length - 1] = 'n', put_text(to, " ");
    for (size_t i = 0; i < sizeof articles / sizeof articles[0]; i++) has_article |= ends_with(to, articles[i]);
    if (!has_article) put_text(to, "the ");
    put_text(to, noun);
    put_text(to, " ");
}

/* "x=1,3 --shape y=4": how much of it was read. */
static size_t put_pairs(copy *to, const mention *m, const char *word, int is_python) {
    const char *at = m->value, *start = m->value - 1 - m->name; /* "--shape" */
    put_text(to, word);
    put_text(to, is_python ? "={" : "=");
    for (;;) {
        size_t name = length_of_pair_name(at), value = length_of_value(at + name + 1);
        put_text(to, is_python ? "\"" : "");
        put(to, at, name);
        put_text(to, is_python ? "\": \"" : "=");
        put(to, at + name + 1, value);
        put_text(to, is_python ? "\"" : "");
        at += name + 1 + value;
        if (*at != ' ' || strncmp(at + 1, start, m->name) != 0 || !at[1 + m->name]) break;
        const char *next = at + 1 + m->name + 1; /* behind " --shape " */
        if ((next[-1] != ' ' && next[-1] != '=') || !length_of_pair_name(next)) break;
        put_text(to, is_python ? ", " : ";");
        at = next;
    }
    put_text(to, is_python ? "}" : "");
    return (size_t)(at - m->value);
}

static void put_value(copy *to, const mention *m, const char *word, int is_python) {
    int is_quoted = m->value[0] == '\'', gets_quotes = is_python && m->of->kind == TEXT;
    put_text(to, word);
    put_text(to, gets_quotes ? "=\"" : "=");
    put(to, m->value + is_quoted, m->length - 2 * (size_t)is_quoted);
    put_text(to, gets_quotes ? "\"" : "");
}

/* Writes what stands in the place of the option that begins at `at`; how much of the text that is. */
static size_t put_mention(copy *to, const char *at, const mention *m, xpu_interface interface, int is_quoted) {
    int is_python = interface == XPU_WORDS_PYTHON, is_call = is_python && m->of->kind == CALL;
    const char *word = m->of->words[interface];
    size_t length = m->tool + m->name;
    if (!word) {
        if (!m->tool && !is_quoted) {
            put_text(to, m->of->tool);
            put_text(to, " ");
        }
        put(to, at, length);
    } else if (m->value && m->of->kind == PAIRS && length_of_pair_name(m->value)) {
        length += 1 + put_pairs(to, m, word, is_python);
    } else if (m->value && m->of->kind != CALL) {
        put_value(to, m, word, is_python);
        length += 1 + m->length;
    } else {
        if (!is_call && !is_quoted) put_noun(to, is_python ? "argument" : "option");
        put_text(to, word);
        if (m->value) length += 1 + m->length;
    }
    return length;
}

char *xpu_words_of(const char *text, xpu_interface interface) {
    copy to = {.text = calloc(1, 64), .capacity = 64};
    mention m;
    for (const char *at = text; *at && to.text;) {
        if ((*at == '-' || *at == 'x') && read_mention(text, at, &m)) {
            at += put_mention(&to, at, &m, interface, at > text && at[-1] == '\'');
        } else {
            size_t length = 1 + strcspn(at + 1, "-x"); /* up to what may be an option, or a tool before it */
            put(&to, at, length);
            at += length;
        }
    }
    return to.text;
}
