/*
 * Diagnostics: a caller-owned list. Library code adds to it and returns a status; it never prints, exits or aborts.
 * A stage collects every problem it finds before it stops.
 *
 * Text form of one entry (xpu_diag_text):
 *     FILE: error [rule-id] node 'NAME' (OP-VERSION, #INDEX): what
 *       why: the rule and the offending value
 *       hint: what to do
 * In it every character is escaped that a terminal would obey (xpu_escape_message), line feeds apart.
 */
#ifndef XPU_BASE_DIAG_H
#define XPU_BASE_DIAG_H

#include <stddef.h>
#include <stdio.h>

#include "base/arena.h"
#include "base/status.h"

typedef enum { XPU_SEVERITY_ERROR, XPU_SEVERITY_WARNING, XPU_SEVERITY_NOTE } xpu_severity;

typedef struct {
    xpu_severity severity;
    xpu_status status; /* the exit code this problem stands for; XPU_OK for warnings and notes */
    const char *file;  /* the file at fault, or NULL */
    const char *rule;  /* rule id, e.g. "onnx-unsupported-op" */
    const char *where; /* "node 'conv1' (Conv-11, #5)", "key 'memory.sm_bytes'", or NULL */
    const char *what;  /* one sentence, no full stop */
    const char *why;   /* or NULL */
    const char *hint;  /* or NULL */
} xpu_diag;

/* A list stops storing here, so that a hostile file cannot fill the memory with complaints. */
enum { XPU_MAX_DIAGS = 1000 };

typedef struct xpu_diags {
    xpu_diag *items;
    size_t count, capacity;
    size_t errors;     /* how many errors were added, stored or not */
    size_t dropped;    /* what came after XPU_MAX_DIAGS entries: counted, not stored */
    int out_of_memory; /* set when even a diagnostic could not be stored; it then counts as an error of XPU_EIO */
} xpu_diags;

/* An empty list. It takes its memory from malloc, not from an arena: it outlives the work it reports on. */
void xpu_diags_init(xpu_diags *diags);
void xpu_diags_clear(xpu_diags *diags);
/* An empty list for what may be dropped: cleared when the arena is freed. */
xpu_diags *xpu_diags_new(xpu_arena *arena);

/* Adds one problem; every string is copied; NULL where absent. Returns `status`, so callers can return the call. */
xpu_status xpu_diag_add(xpu_diags *diags, xpu_severity severity, xpu_status status, const char *file, const char *rule,
                        const char *where, const char *what, const char *why, const char *hint);

/* The common case: an error. `what`, `why` and `hint` are finished strings (use xpu_printf). */
xpu_status xpu_error(xpu_diags *diags, xpu_status status, const char *file, const char *rule, const char *where,
                     const char *what, const char *why, const char *hint);

/* The error [out-of-memory] of an API boundary whose allocation failed. Returns XPU_EIO. With `mem`, before it is
 * released: what was being done, how much was wanted, for what, and how much was held. */
xpu_status xpu_error_oom(xpu_diags *diags);
xpu_status xpu_error_oom_of(xpu_diags *diags, const xpu_mem *mem);

/* The error [stopped] of work that the caller has ended: `where` and `why` say how far it was. Returns XPU_ESTOPPED. */
xpu_status xpu_error_stopped(xpu_diags *diags, const char *file, const char *where, const char *why);

/* Problems of file `from` become those of `to`: what was written under a temporary name belongs to the final one. NULL:
 * problems that name no file. */
void xpu_diags_rename_file(xpu_diags *diags, const char *from, const char *to);

/* Takes the notes away; errors and warnings stay. */
void xpu_diags_drop_notes(xpu_diags *diags);

/* The next severity: an error is a warning, anything else a note. */
xpu_severity xpu_milder(xpu_severity severity);

/* Entry `index` gets another hint, which is copied. */
void xpu_diags_set_hint(xpu_diags *diags, size_t index, const char *hint);

/* The status of the first error, or XPU_OK. */
xpu_status xpu_diags_status(const xpu_diags *diags);

/* The same where there are more errors than the `errors` of before, else XPU_OK. */
xpu_status xpu_diags_since(const xpu_diags *diags, size_t errors);

/* The text form of entry `index`, without a final newline, into `buffer` (terminated unless size is 0); returns the
 * length that it needs. */
size_t xpu_diag_text(const xpu_diags *diags, size_t index, char *buffer, size_t size);
/* Every entry in its text form, a newline after each. */
char *xpu_diags_text(const xpu_diags *diags, xpu_arena *arena);

/* Every entry as an object of a JSON array, in malloc'd memory: severity, status, rule, what, and where they are there
 * file, where, why, hint; escaped as in the text form. NULL: there is no entry, or memory ran out. */
char *xpu_diags_json(const xpu_diags *diags);

/* Every entry in its text form, one newline after each, then how many were dropped; for the mains of tools. */
void xpu_diags_print(const xpu_diags *diags, FILE *stream);
/* The same with what is said more than three times (of more than ten errors: more than once), differing in its place
 * only, said once, with the first five places. How often each is said comes first. */
void xpu_diags_print_grouped(const xpu_diags *diags, FILE *stream);

/* The one escape of what a file says (names, units, versions, paths) before it is printed: control characters (C0, DEL,
 * C1), marks of direction and characters without width, quotes, backslashes and bytes that are not valid UTF-8 become
 * \xNN; all other UTF-8 stays. Cut to `max` bytes with "...". Never contains a comment delimiter. */
char *xpu_escape(xpu_arena *arena, const char *name, size_t max);

/* The same for a whole message, in which names are quoted and escaped already: quotes, backslashes and comment
 * delimiters stay. */
char *xpu_escape_message(xpu_arena *arena, const char *message, size_t max);
/* The same, in which line feeds stay, for text of several lines. */
char *xpu_escape_lines(xpu_arena *arena, const char *text, size_t max);
/* Whether all of `text` is valid UTF-8. */
int xpu_is_utf8(const char *text);

#endif
