#include "memplan/csv.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"

enum { MAX_BYTES = 1 << 26, MAX_COLUMNS = 64 };

/* X(enum name, title) */
#define COLUMNS(X)                                                                                                     \
    X(ID, "id")                                                                                                        \
    X(LOWER, "lower")                                                                                                  \
    X(UPPER, "upper")                                                                                                  \
    X(SIZE, "size")                                                                                                    \
    X(ALIGNMENT, "alignment")                                                                                          \
    X(GAPS, "gaps")                                                                                                    \
    X(OFFSET, "offset")

typedef enum {
#define X(name, title) name,
    COLUMNS(X)
#undef X
        KINDS
} column;

static const char *const titles[KINDS] = {
#define X(name, title) title,
    COLUMNS(X)
#undef X
};

/* Other titles of the same columns. */
static const struct {
    const char *title;
    column kind;
} aliases[] = {{"buffer", ID}, {"buffer_id", ID}, {"start", LOWER}, {"begin", LOWER}, {"end", UPPER}};

typedef struct {
    xpu_arena *arena;
    const char *file;
    xpu_diags *diags;
    uint32_t kinds[MAX_COLUMNS]; /* KINDS: of none that counts */
    uint32_t columns;
    uint32_t has; /* bit i: kind i */
    int end_is_included;
} reader;

static xpu_status wrong_line(const reader *r, uint32_t line, const char *why) {
    return xpu_error(r->diags, XPU_EUSAGE, r->file, "memplan-csv", xpu_printf(r->arena, "line %" PRIu32, line),
                     line == 1 ? "the line does not name the columns" : "the line is no buffer", why,
                     line == 1 ? "begin the file with id,lower,upper,size"
                               : "a line is a buffer, with a field for each column; upper is exclusive");
}

/* Cuts a line at its commas. Returns how many fields there are, at most MAX_COLUMNS + 1. */
static uint32_t split(char *line, char **fields) {
    uint32_t count = 0;
    for (char *at = line; at && count <= MAX_COLUMNS; count++) {
        char *comma = strchr(at, ',');
        if (comma) *comma = '\0';
        if (count < MAX_COLUMNS) fields[count] = at;
        at = comma ? comma + 1 : NULL;
    }
    return count;
}

static uint32_t kind_of(const char *title) {
    for (uint32_t i = 0; i < KINDS; i++) {
        if (strcmp(title, titles[i]) == 0) return i;
    }
    for (size_t i = 0; i < sizeof aliases / sizeof *aliases; i++) {
        if (strcmp(title, aliases[i].title) == 0) return aliases[i].kind;
    }
    return KINDS;
}

/* Returns what is wrong with the titles, or NULL. */
static const char *read_titles(reader *r, char *line) {
    char *fields[MAX_COLUMNS];
    r->columns = split(line, fields);
    if (r->columns > MAX_COLUMNS) return "there are more than 64 columns";
    for (uint32_t i = 0; i < r->columns; i++) {
        r->kinds[i] = kind_of(fields[i]);
        if (r->kinds[i] == KINDS) continue;
        if (r->has & 1u << r->kinds[i]) return xpu_printf(r->arena, "there are two columns %s", titles[r->kinds[i]]);
        r->has |= 1u << r->kinds[i];
        r->end_is_included |= strcmp(fields[i], "end") == 0;
    }
    for (uint32_t kind = ID; kind <= SIZE; kind++) {
        if (!(r->has & 1u << kind)) return xpu_printf(r->arena, "there is no column %s", titles[kind]);
    }
    return NULL;
}

/* A number without a sign from *at on, which then stands behind it. */
static int take_number(const char **at, uint64_t *value) {
    char *end;
    if (**at < '0' || **at > '9') return 0;
    *value = strtoull(*at, &end, 10);
    *at = end;
    return 1;
}

static int is_number(const char *text, uint64_t *value) {
    return take_number(&text, value) && !*text;
}

/* "3-7 10-12" */
static const char *read_gaps(const reader *r, const char *text, xpu_memplan_buffer *buffer) {
    XPU_ARRAY(xpu_memplan_steps) gaps = {0};
    for (const char *at = text + strspn(text, " "); *at; at += strspn(at, " ")) {
        uint64_t from, to;
        int good = take_number(&at, &from) && *at++ == '-' && take_number(&at, &to);
        if (good && *at == '@') return "of a gap with a window (@) some bytes live on, which is not known here";
        if (!good || (*at && *at != ' ')) return "gaps are like 3-7 10-12";
        to += r->end_is_included ? 1 : 0;
        if (to <= from || to > XPU_MEMPLAN_MAX_STEP) return "a gap ends before it begins, or too late";
        if (gaps.count == XPU_MEMPLAN_MAX_MATCHES) return "it has too many gaps";
        const xpu_memplan_steps gap = {(uint32_t)from, (uint32_t)to - 1};
        XPU_PUSH(r->arena, &gaps, gap);
    }
    buffer->gaps = gaps.items;
    buffer->gap_count = gaps.count;
    return xpu_memplan_gaps_hold(buffer) ? NULL
                                         : "gaps are in order, and a buffer lives before, between and behind them";
}

static const char *read_row(const reader *r, char *line, xpu_memplan_buffer *buffer) {
    char *fields[MAX_COLUMNS];
    const char *of[KINDS];
    uint64_t lower, upper, size, alignment = 0, offset = 0;
    for (int i = 0; i < KINDS; i++) of[i] = "";
    if (split(line, fields) != r->columns)
        return xpu_printf(r->arena, "there are not as many fields as columns, %" PRIu32, r->columns);
    for (uint32_t i = 0; i < r->columns; i++) {
        if (r->kinds[i] < KINDS) of[r->kinds[i]] = fields[i];
    }
    if (!*of[ID]) return "it has no name";
    if (!xpu_is_utf8(of[ID])) return "its name is not UTF-8";
    if (!is_number(of[LOWER], &lower) || !is_number(of[UPPER], &upper) || !is_number(of[SIZE], &size) ||
        (*of[ALIGNMENT] && !is_number(of[ALIGNMENT], &alignment)) || (*of[OFFSET] && !is_number(of[OFFSET], &offset)))
        return "lower, upper, size, alignment and offset are numbers";
    upper += r->end_is_included && upper <= XPU_MEMPLAN_MAX_STEP;
    if (lower >= upper || upper > XPU_MEMPLAN_MAX_STEP) return "lower is not below upper, or too large";
    if (size > XPU_MEMPLAN_MAX_BYTES || offset > XPU_MEMPLAN_MAX_BYTES) return "the size or the offset is too large";
    if (alignment > XPU_MEMPLAN_MAX_ALIGNMENT) return "the alignment is too large";
    *buffer = (xpu_memplan_buffer){.name = xpu_strdup(r->arena, of[ID]),
                                   .bytes = size,
                                   .alignment = (uint32_t)alignment,
                                   .first = (uint32_t)lower,
                                   .last = (uint32_t)upper - 1,
                                   .kind = XPU_MEMPLAN_ACTIVATION,
                                   .level_count = 1,
                                   .pinned = *of[OFFSET] != '\0',
                                   .pinned_offset = offset};
    return read_gaps(r, of[GAPS], buffer);
}

xpu_status xpu_memplan_csv_read(xpu_arena *arena, const char *path, xpu_memplan_csv *buffers, xpu_diags *diags) {
    reader r = {.arena = arena, .file = path, .diags = diags};
    size_t length;
    char *text = xpu_file_read_all(arena, path, MAX_BYTES, &length, diags);
    if (!text) return xpu_diags_status(diags);
    if (strlen(text) != length) {
        uint32_t line = 1;
        for (const char *c = text; *c; c++) line += *c == '\n';
        return wrong_line(&r, line, "it holds a NUL byte");
    }
    *buffers = (xpu_memplan_csv){0};
    uint32_t number = 0;
    for (char *line = text; line && (*line || !number);) {
        char *end = strchr(line, '\n');
        if (end) *end = '\0';
        line[strcspn(line, "\r")] = '\0';
        xpu_memplan_buffer buffer;
        const char *why = number++ == 0 ? read_titles(&r, line) : *line ? read_row(&r, line, &buffer) : NULL;
        if (why) return wrong_line(&r, number, why);
        if (number > 1 && *line) XPU_PUSH(arena, buffers, buffer);
        line = end ? end + 1 : NULL;
    }
    return XPU_OK;
}

static xpu_status not_as_csv(xpu_arena *arena, const char *path, const char *where, const char *why, xpu_diags *diags) {
    return xpu_error(diags, XPU_EUSAGE, path, "memplan-csv", where, "the plan cannot be written as CSV", why,
                     xpu_printf(arena, "write it as JSON: name a file that ends in .json"));
}

static void add_row(xpu_text *text, const xpu_memplan_buffer *b, uint64_t offset, int alignments, int gaps) {
    xpu_text_add(text, "%s,%" PRIu32 ",%" PRIu32 ",%" PRIu64, b->name, b->first, b->last + 1, b->bytes);
    if (alignments) xpu_text_add(text, ",%" PRIu32, b->alignment ? b->alignment : 1);
    if (gaps) xpu_text_add(text, ",");
    for (uint32_t i = 0; i < b->gap_count; i++)
        xpu_text_add(text, "%s%" PRIu32 "-%" PRIu32, i ? " " : "", b->gaps[i].first, b->gaps[i].last + 1);
    xpu_text_add(text, ",%" PRIu64 "\n", offset);
}

xpu_status xpu_memplan_csv_write(xpu_arena *arena, const char *path, const xpu_memplan_problem *problem,
                                 const xpu_memplan *plan, xpu_diags *diags) {
    int alignments = 0, gaps = 0;
    if (problem->level_count != 1 || problem->alias_count || problem->levels[0].reserved)
        return not_as_csv(arena, path, NULL, "that has one level without reserved bytes, and no aliases", diags);
    for (uint32_t i = 0; i < problem->buffer_count; i++) {
        const xpu_memplan_buffer *b = &problem->buffers[i];
        if (!b->name || !*b->name || b->name[strcspn(b->name, ",\r\n")]) {
            return not_as_csv(arena, path, xpu_printf(arena, "buffer %" PRIu32, i),
                              "its name is empty, or holds a comma or the end of a line", diags);
        }
        alignments |= b->alignment > 1;
        gaps |= b->gap_count > 0;
    }
    xpu_text text;
    xpu_text_init(&text, arena);
    xpu_text_add(&text, "id,lower,upper,size%s%s,offset\n", alignments ? ",alignment" : "", gaps ? ",gaps" : "");
    for (uint32_t i = 0; i < problem->buffer_count; i++)
        add_row(&text, &problem->buffers[i], plan->places[i].offset, alignments, gaps);
    return xpu_file_write(arena, path, text.text, text.length, diags);
}
