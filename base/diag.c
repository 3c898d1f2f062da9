#include "base/diag.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static const char *const severity_names[] = {"error", "warning", "note"};

void xpu_diags_init(xpu_diags *diags) {
    *diags = (xpu_diags){0};
}

void xpu_diags_clear(xpu_diags *diags) {
    /* The strings of an entry share one block, which begins with the rule. */
    for (size_t i = 0; i < diags->count; i++) free((void *)diags->items[i].rule);
    free(diags->items);
    xpu_diags_init(diags);
}

static void release(void *diags) {
    xpu_diags_clear(diags);
}

xpu_diags *xpu_diags_new(xpu_arena *arena) {
    xpu_diags *diags = XPU_NEW(arena, xpu_diags);
    xpu_diags_init(diags);
    xpu_arena_defer(arena, release, diags);
    return diags;
}

/* Copies `text` to *room and moves *room behind it. */
static char *place(char **room, const char *text) {
    if (!text) return NULL;
    char *copy = *room;
    size_t length = strlen(text) + 1;
    memcpy(copy, text, length);
    *room += length;
    return copy;
}

/* Room for one more entry; 0 when memory runs out. */
static int reserve(xpu_diags *diags) {
    if (diags->count < diags->capacity) return 1;
    size_t capacity = diags->capacity ? diags->capacity * 2 : 8;
    xpu_diag *items = xpu_alloc_fails() ? NULL : realloc(diags->items, capacity * sizeof *items);
    if (!items) return 0;
    diags->items = items;
    diags->capacity = capacity;
    return 1;
}

/* Fills in copies of the strings; 0, and nothing is changed, when memory runs out. */
static int fill(xpu_diag *diag, const char *file, const char *rule, const char *where, const char *what,
                const char *why, const char *hint) {
    const char *const strings[] = {rule, file, where, what, why, hint};
    size_t bytes = 0;
    for (size_t i = 0; i < sizeof strings / sizeof *strings; i++) bytes += strings[i] ? strlen(strings[i]) + 1 : 0;
    char *room = xpu_alloc_fails() ? NULL : malloc(bytes);
    if (!room) return 0;
    diag->rule = place(&room, rule);
    diag->file = place(&room, file);
    diag->where = place(&room, where);
    diag->what = place(&room, what);
    diag->why = place(&room, why);
    diag->hint = place(&room, hint);
    return 1;
}

xpu_status xpu_diag_add(xpu_diags *diags, xpu_severity severity, xpu_status status, const char *file, const char *rule,
                        const char *where, const char *what, const char *why, const char *hint) {
    if (severity == XPU_SEVERITY_ERROR) diags->errors++;
    int first_error = severity == XPU_SEVERITY_ERROR && diags->errors == 1;
    if (diags->count >= XPU_MAX_DIAGS && !first_error) {
        diags->dropped++;
        return status;
    }
    if (!reserve(diags) || !fill(&diags->items[diags->count], file, rule, where, what, why, hint)) {
        if (!diags->out_of_memory && severity != XPU_SEVERITY_ERROR) diags->errors++;
        diags->out_of_memory = 1;
        return status;
    }
    diags->items[diags->count].severity = severity;
    diags->items[diags->count].status = status;
    diags->count++;
    return status;
}

void xpu_diags_rename_file(xpu_diags *diags, const char *from, const char *to) {
    for (size_t i = 0; i < diags->count; i++) {
        xpu_diag *diag = &diags->items[i], old = *diag;
        if (!old.file || strcmp(old.file, from) != 0) continue;
        if (fill(diag, to, old.rule, old.where, old.what, old.why, old.hint)) free((void *)old.rule);
    }
}

xpu_status xpu_error(xpu_diags *diags, xpu_status status, const char *file, const char *rule, const char *where,
                     const char *what, const char *why, const char *hint) {
    return xpu_diag_add(diags, XPU_SEVERITY_ERROR, status, file, rule, where, what, why, hint);
}

static const xpu_diag oom_diag = {
    .severity = XPU_SEVERITY_ERROR,
    .status = XPU_EIO,
    .rule = "out-of-memory",
    .what = "memory ran out",
    .why = "an allocation failed; everything that was held has been released",
    .hint = "use a smaller model or a machine with more memory, or raise the limit (ulimit -v)",
};

xpu_status xpu_error_oom(xpu_diags *diags) {
    const xpu_diag *diag = &oom_diag;
    if (diags->out_of_memory) return diag->status;
    return xpu_error(diags, diag->status, NULL, diag->rule, NULL, diag->what, diag->why, diag->hint);
}

xpu_status xpu_diags_status(const xpu_diags *diags) {
    for (size_t i = 0; i < diags->count; i++) {
        if (diags->items[i].severity == XPU_SEVERITY_ERROR) return diags->items[i].status;
    }
    return diags->out_of_memory ? XPU_EIO : XPU_OK;
}

enum { PIECES = 13 };

/* The strings whose concatenation is the text form; returns how many there are. */
static size_t text_pieces(const xpu_diag *diag, const char *pieces[PIECES]) {
    size_t n = 0;
    if (diag->file) pieces[n++] = diag->file, pieces[n++] = ": ";
    pieces[n++] = severity_names[diag->severity];
    pieces[n++] = " [", pieces[n++] = diag->rule, pieces[n++] = "] ";
    if (diag->where) pieces[n++] = diag->where, pieces[n++] = ": ";
    pieces[n++] = diag->what;
    if (diag->why) pieces[n++] = "\n  why: ", pieces[n++] = diag->why;
    if (diag->hint) pieces[n++] = "\n  hint: ", pieces[n++] = diag->hint;
    return n;
}

size_t xpu_diag_text(const xpu_diags *diags, size_t index, char *buffer, size_t size) {
    const char *pieces[PIECES];
    size_t count = text_pieces(&diags->items[index], pieces), length = 0;
    for (size_t i = 0; i < count; i++) {
        for (const char *c = pieces[i]; *c; c++, length++) {
            if (length + 1 < size) buffer[length] = *c;
        }
    }
    if (size) buffer[length < size ? length : size - 1] = '\0';
    return length;
}

static void print_diag(const xpu_diag *diag, FILE *stream) {
    const char *pieces[PIECES];
    size_t count = text_pieces(diag, pieces);
    for (size_t i = 0; i < count; i++) fputs(pieces[i], stream);
    fputc('\n', stream);
}

void xpu_diags_print(const xpu_diags *diags, FILE *stream) {
    for (size_t i = 0; i < diags->count; i++) print_diag(&diags->items[i], stream);
    if (diags->out_of_memory) print_diag(&oom_diag, stream);
    if (diags->dropped) fprintf(stream, "and %zu more problems\n", diags->dropped);
}

/* The length of the UTF-8 character at `text` (at most 4 bytes, up to `end`) and its code point; 0 when invalid. */
static size_t decode(const unsigned char *text, const unsigned char *end, uint32_t *code) {
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    size_t length = *text < 0x80 ? 1 : *text >> 5 == 6 ? 2 : *text >> 4 == 14 ? 3 : *text >> 3 == 30 ? 4 : 0;
    if (length == 0 || (size_t)(end - text) < length) return 0;
    *code = length == 1 ? *text : *text & (0x7fU >> length);
    for (size_t i = 1; i < length; i++) {
        if ((text[i] & 0xc0) != 0x80) return 0;
        *code = *code << 6 | (text[i] & 0x3f);
    }
    int surrogate = *code >= 0xd800 && *code < 0xe000;
    return *code < least[length] || *code > 0x10ffff || surrogate ? 0 : length;
}

int xpu_is_utf8(const char *text) {
    const unsigned char *next = (const unsigned char *)text, *end = next + strlen(text);
    uint32_t code;
    for (size_t length; next < end; next += length) {
        length = decode(next, end, &code);
        if (!length) return 0;
    }
    return 1;
}

/* Control characters (C0, DEL, C1), line separators and the marks that change the direction of text. */
static int is_control(uint32_t code) {
    return code < 0x20 || (code >= 0x7f && code < 0xa0) || code == 0x2028 || code == 0x2029 || code == 0x200e ||
           code == 0x200f || (code >= 0x202a && code <= 0x202e) || (code >= 0x2066 && code <= 0x2069);
}

/* Whether `code` may stand in a message or a C comment as it is, behind `before`. The pairs are comment delimiters and
 * the beginning of a trigraph. */
static int is_plain(uint32_t code, uint32_t before) {
    if (is_control(code) || code == '"' || code == '\'' || code == '\\') return 0;
    if (code == '/' || code == '*') return before != '/' && before != '*';
    return code != '?' || before != '?';
}

static char *escape(xpu_arena *arena, const char *name, size_t max, int is_message) {
    const unsigned char *next = (const unsigned char *)name, *end = next + strlen(name);
    xpu_text text;
    xpu_text_init(&text, arena);
    size_t cut = 0; /* how much still fits in front of "..." */
    uint32_t before = 0;
    while (next < end) {
        uint32_t code = 0;
        size_t length = decode(next, end, &code);
        if (length && (is_message ? !is_control(code) : is_plain(code, before))) {
            xpu_text_add_bytes(&text, (const char *)next, length);
        } else {
            if (length == 0) length = 1;
            for (size_t i = 0; i < length; i++) xpu_text_add(&text, "\\x%02x", next[i]);
            code = 0;
        }
        if (text.length + 3 <= max) cut = text.length;
        if (text.length > max) {
            text.length = cut;
            text.text[cut] = '\0';
            xpu_text_add_bytes(&text, "...", max < 3 ? max : 3);
            break;
        }
        before = code;
        next += length;
    }
    return text.text;
}

char *xpu_escape(xpu_arena *arena, const char *name, size_t max) {
    return escape(arena, name, max, 0);
}

char *xpu_escape_message(xpu_arena *arena, const char *message, size_t max) {
    return escape(arena, message, max, 1);
}
