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
        if (old.file && from ? strcmp(old.file, from) != 0 : old.file != from) continue;
        if (fill(diag, to, old.rule, old.where, old.what, old.why, old.hint)) free((void *)old.rule);
    }
}

void xpu_diags_drop_notes(xpu_diags *diags) {
    size_t kept = 0;
    for (size_t i = 0; i < diags->count; i++) {
        if (diags->items[i].severity == XPU_SEVERITY_NOTE)
            free((void *)diags->items[i].rule);
        else
            diags->items[kept++] = diags->items[i];
    }
    diags->count = kept;
}

void xpu_diags_set_hint(xpu_diags *diags, size_t index, const char *hint) {
    xpu_diag *diag = &diags->items[index], old = *diag;
    if (fill(diag, old.file, old.rule, old.where, old.what, old.why, hint)) free((void *)old.rule);
}

xpu_severity xpu_milder(xpu_severity severity) {
    return severity == XPU_SEVERITY_ERROR ? XPU_SEVERITY_WARNING : XPU_SEVERITY_NOTE;
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

xpu_status xpu_error_oom_of(xpu_diags *diags, const xpu_mem *mem) {
    enum { LONGEST = 200 };
    char where[LONGEST + 64], why[256];
    if (diags->out_of_memory || (!mem->wanted && !mem->doing_kind)) return xpu_error_oom(diags);
    if (mem->doing_kind) snprintf(where, sizeof where, "%s '%.*s'", mem->doing_kind, LONGEST, mem->doing_name);
    if (mem->wanted) {
        snprintf(why, sizeof why, "%zu bytes more were wanted (%s), %zu were held; all of them have been released",
                 mem->wanted, mem->wanted_for, mem->bytes);
    } else {
        snprintf(why, sizeof why, "an allocation failed, %zu bytes were held; all of them have been released",
                 mem->bytes);
    }
    return xpu_error(diags, oom_diag.status, NULL, oom_diag.rule, mem->doing_kind ? where : NULL, oom_diag.what, why,
                     oom_diag.hint);
}

xpu_status xpu_error_stopped(xpu_diags *diags, const char *file, const char *where, const char *why) {
    return xpu_error(diags, XPU_ESTOPPED, file, "stopped", where, "the work was stopped before its end", why,
                     "start it again");
}

xpu_status xpu_diags_status(const xpu_diags *diags) {
    for (size_t i = 0; i < diags->count; i++) {
        if (diags->items[i].severity == XPU_SEVERITY_ERROR) return diags->items[i].status;
    }
    return diags->out_of_memory ? XPU_EIO : XPU_OK;
}

xpu_status xpu_diags_since(const xpu_diags *diags, size_t errors) {
    return diags->errors == errors ? XPU_OK : xpu_diags_status(diags);
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

/* What a terminal obeys or does not show: control characters (C0, DEL, C1), the soft hyphen, marks of direction and
 * joining, separators of lines, characters without width, tags. */
static int is_control(uint32_t code) {
    static const struct {
        uint32_t first, last;
    } ranges[] = {{0, 0x1f},        {0x7f, 0x9f},     {0xad, 0xad},      {0x61c, 0x61c},
                  {0x180e, 0x180e}, {0x200b, 0x200f}, {0x2028, 0x202e},  {0x2060, 0x206f},
                  {0xfeff, 0xfeff}, {0xfff9, 0xfffb}, {0xe0000, 0xe007f}};
    for (size_t i = 0; i < sizeof ranges / sizeof *ranges && code >= ranges[i].first; i++) {
        if (code <= ranges[i].last) return 1;
    }
    return 0;
}

/* Whether `code` may stand in a message or a C comment as it is, behind `before`. The pairs are comment delimiters and
 * the beginning of a trigraph. */
static int is_plain(uint32_t code, uint32_t before) {
    if (is_control(code) || code == '"' || code == '\'' || code == '\\') return 0;
    if (code == '/' || code == '*') return before != '/' && before != '*';
    return code != '?' || before != '?';
}

enum { ESCAPED = 4 * 4 + 1 }; /* room for one character, escaped */

typedef enum { NAME, MESSAGE, LINES } escape_kind; /* LINES: a message in which line feeds stay */

/* One character of `next` into `out`; returns how many bytes of `next` it was. */
static size_t escape_one(const unsigned char *next, const unsigned char *end, escape_kind kind, uint32_t *before,
                         char *out) {
    uint32_t code = 0;
    size_t length = decode(next, end, &code);
    int plain = kind == NAME ? is_plain(code, *before) : (kind == LINES && code == '\n') || !is_control(code);
    if (length && plain) {
        memcpy(out, next, length);
        out[length] = '\0';
        *before = code;
        return length;
    }
    if (length == 0) length = 1;
    for (size_t i = 0; i < length; i++) snprintf(out + 4 * i, 5, "\\x%02x", next[i]);
    *before = 0;
    return length;
}

static char *escape(xpu_arena *arena, const char *name, size_t max, escape_kind kind) {
    const unsigned char *next = (const unsigned char *)name, *end = next + strlen(name);
    char piece[ESCAPED];
    xpu_text text;
    xpu_text_init(&text, arena);
    size_t cut = 0; /* how much still fits in front of "..." */
    uint32_t before = 0;
    while (next < end) {
        next += escape_one(next, end, kind, &before, piece);
        xpu_text_add_bytes(&text, piece, strlen(piece));
        if (text.length + 3 <= max) cut = text.length;
        if (text.length > max) {
            text.length = cut;
            text.text[cut] = '\0';
            xpu_text_add_bytes(&text, "...", max < 3 ? max : 3);
            break;
        }
    }
    return text.text;
}

char *xpu_escape(xpu_arena *arena, const char *name, size_t max) {
    return escape(arena, name, max, NAME);
}

char *xpu_escape_message(xpu_arena *arena, const char *message, size_t max) {
    return escape(arena, message, max, MESSAGE);
}

char *xpu_escape_lines(xpu_arena *arena, const char *text, size_t max) {
    return escape(arena, text, max, LINES);
}

/* ---- the text form ---- */

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

static void put_piece(const char *text, escape_kind kind, void (*put)(void *context, const char *piece),
                      void *context) {
    const unsigned char *next = (const unsigned char *)text, *end = next + strlen(text);
    char piece[ESCAPED];
    uint32_t before = 0;
    while (next < end) {
        next += escape_one(next, end, kind, &before, piece);
        put(context, piece);
    }
}

/* Hands the text form to `put`, escaped: whatever a library or a child wrote, a terminal obeys none of it. */
static void put_text(const xpu_diag *diag, void (*put)(void *context, const char *piece), void *context) {
    const char *pieces[PIECES];
    size_t count = text_pieces(diag, pieces);
    for (size_t i = 0; i < count; i++) {
        int one_line = pieces[i] == diag->file || pieces[i] == diag->where;
        put_piece(pieces[i], one_line ? MESSAGE : LINES, put, context);
    }
}

typedef struct {
    char *text;
    size_t length, size;
} text_buffer;

static void put_in_buffer(void *context, const char *piece) {
    text_buffer *buffer = context;
    for (; *piece; piece++, buffer->length++) {
        if (buffer->length + 1 < buffer->size) buffer->text[buffer->length] = *piece;
    }
}

size_t xpu_diag_text(const xpu_diags *diags, size_t index, char *buffer, size_t size) {
    text_buffer to = {buffer, 0, size};
    put_text(&diags->items[index], put_in_buffer, &to);
    if (size) buffer[to.length < size ? to.length : size - 1] = '\0';
    return to.length;
}

static void put_in_text(void *context, const char *piece) {
    xpu_text_add_bytes(context, piece, strlen(piece));
}

char *xpu_diags_text(const xpu_diags *diags, xpu_arena *arena) {
    xpu_text text;
    xpu_text_init(&text, arena);
    for (size_t i = 0; i < diags->count; i++) {
        put_text(&diags->items[i], put_in_text, &text);
        xpu_text_add_bytes(&text, "\n", 1);
    }
    return text.text;
}

static void put_in_stream(void *context, const char *piece) {
    fputs(piece, context);
}

/* ---- JSON ---- */

static void put_in_json(void *context, const char *piece) {
    for (; *piece; piece++) {
        if (*piece == '"' || *piece == '\\') fputc('\\', context);
        fputs(*piece == '\n' ? "\\n" : (const char[]){*piece, '\0'}, context);
    }
}

static void put_member(FILE *stream, const char *key, const char *text, escape_kind kind) {
    if (!text) return;
    fprintf(stream, ", \"%s\": \"", key);
    put_piece(text, kind, put_in_json, stream);
    fputc('"', stream);
}

char *xpu_diags_json(const xpu_diags *diags) {
    char *text = NULL;
    size_t length = 0;
    FILE *stream = diags->count && !xpu_alloc_fails() ? open_memstream(&text, &length) : NULL;
    if (!stream) return NULL;
    for (size_t i = 0; i < diags->count; i++) {
        const xpu_diag *diag = &diags->items[i];
        fprintf(stream, "%s{\"severity\": \"%s\", \"status\": %d", i ? ",\n " : "[", severity_names[diag->severity],
                (int)diag->status);
        put_member(stream, "rule", diag->rule, MESSAGE);
        put_member(stream, "file", diag->file, MESSAGE);
        put_member(stream, "where", diag->where, MESSAGE);
        put_member(stream, "what", diag->what, LINES);
        put_member(stream, "why", diag->why, LINES);
        put_member(stream, "hint", diag->hint, LINES);
        fputc('}', stream);
    }
    fputs("]\n", stream);
    const int failed = ferror(stream);
    if (fclose(stream) == 0 && !failed) return text;
    free(text);
    return NULL;
}

/* ---- printing ---- */

static void print_diag(const xpu_diag *diag, FILE *stream) {
    put_text(diag, put_in_stream, stream);
    fputc('\n', stream);
}

static void print_rest(const xpu_diags *diags, FILE *stream) {
    if (diags->out_of_memory) print_diag(&oom_diag, stream);
    if (diags->dropped) fprintf(stream, "and %zu more problems\n", diags->dropped);
}

void xpu_diags_print(const xpu_diags *diags, FILE *stream) {
    for (size_t i = 0; i < diags->count; i++) print_diag(&diags->items[i], stream);
    print_rest(diags, stream);
}

/* ---- groups ---- */

enum { MANY = 10, MOST_ALONE = 3, MOST_PLACES = 5 };

/* Up to how many of a group are printed one by one. */
static size_t most_alone(const xpu_diags *diags) {
    return diags->errors > MANY ? 1 : MOST_ALONE;
}

static int same_text(const char *a, const char *b) {
    return a && b ? strcmp(a, b) == 0 : a == b;
}

/* Whether they differ in their place only. */
static int same_group(const xpu_diag *a, const xpu_diag *b) {
    return a->where && b->where && a->severity == b->severity && same_text(a->what, b->what) &&
           same_text(a->rule, b->rule) && same_text(a->file, b->file) && same_text(a->why, b->why) &&
           same_text(a->hint, b->hint);
}

static size_t first_of_group(const xpu_diags *diags, size_t member) {
    size_t first = 0;
    while (first < member && !same_group(&diags->items[first], &diags->items[member])) first++;
    return first;
}

static void print_count(size_t count, const char *what, FILE *stream) {
    fprintf(stream, "%6zu  ", count);
    put_piece(what, MESSAGE, put_in_stream, stream);
    fputc('\n', stream);
}

/* How often what is said in groups; most often first. `sizes` is by first entry of a group. */
static void print_counts(const xpu_diags *diags, const size_t *sizes, FILE *stream) {
    size_t others = diags->errors, below = SIZE_MAX;
    for (;;) {
        size_t size = most_alone(diags);
        for (size_t i = 0; i < diags->count; i++) {
            int counts = diags->items[i].severity == XPU_SEVERITY_ERROR && sizes[i] < below;
            if (counts && sizes[i] > size) size = sizes[i];
        }
        if (size == most_alone(diags)) break;
        if (below == SIZE_MAX) fprintf(stream, "%zu errors:\n", diags->errors);
        below = size;
        for (size_t i = 0; i < diags->count; i++) {
            if (sizes[i] != size || diags->items[i].severity != XPU_SEVERITY_ERROR) continue;
            print_count(size, diags->items[i].what, stream);
            others -= size;
        }
    }
    if (others && below != SIZE_MAX) print_count(others, "others", stream);
}

static void print_group(const xpu_diags *diags, size_t first, size_t size, FILE *stream) {
    xpu_diag shown = diags->items[first];
    size_t places = 0;
    shown.where = NULL;
    print_diag(&shown, stream);
    for (size_t i = first; i < diags->count && places < MOST_PLACES; i++) {
        if (!same_group(&diags->items[i], &diags->items[first])) continue;
        fputs(places++ ? "      " : "  at: ", stream);
        put_piece(diags->items[i].where, MESSAGE, put_in_stream, stream);
        fputc('\n', stream);
    }
    if (size > places) fprintf(stream, "      and %zu more, which --verbose names\n", size - places);
}

void xpu_diags_print_grouped(const xpu_diags *diags, FILE *stream) {
    size_t sizes[XPU_MAX_DIAGS + 1] = {0}; /* the first error is stored above the limit, too */
    for (size_t i = 0; i < diags->count; i++) sizes[first_of_group(diags, i)]++;
    print_counts(diags, sizes, stream);
    for (size_t i = 0; i < diags->count; i++) {
        size_t first = first_of_group(diags, i);
        if (sizes[first] <= most_alone(diags))
            print_diag(&diags->items[i], stream);
        else if (first == i)
            print_group(diags, i, sizes[i], stream);
    }
    print_rest(diags, stream);
}
