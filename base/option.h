/*
 * Command lines: GNU long options from one table, which also makes --help. Used by every tool.
 *     --name=VALUE and --name VALUE; -o VALUE and -oVALUE; "--" ends the options; "-" is standard input or output.
 * An unknown option is [usage] with the nearest known one as hint.
 */
#ifndef XPU_BASE_OPTION_H
#define XPU_BASE_OPTION_H

#include "base/diag.h"

/* What a value that ends with "-" stands for. */
typedef enum {
    XPU_NO_STREAM,
    XPU_READS,  /* a file that is read: "-" and "NAME=-" are standard input */
    XPU_WRITES, /* a file that is written: "-" and "WHAT:-" are standard output */
    XPU_SEEKS   /* a file that cannot be standard output */
} xpu_stream;

typedef struct {
    const char *name;     /* long name without dashes */
    char letter;          /* short name, or 0 */
    const char *argument; /* "FILE" where it takes a value, "[json]" where the value is optional, else NULL */
    const char *help;     /* one line */
    xpu_stream stream;
} xpu_option;

typedef struct {
    const char *tool;          /* "xpuc" */
    const char *usage;         /* "MODEL --target=NAME [-o OUT.xpu] [options]" */
    const char *about;         /* one sentence */
    const char *example;       /* commands that work, each on a line of its own */
    const xpu_option *options; /* ends with name == NULL; help, version, quiet (q), verbose (v) are added */
    xpu_stream words;          /* of the words that are no options */
} xpu_command;

typedef struct {
    const char *name;  /* canonical long name; NULL for a positional argument */
    const char *value; /* NULL where it has none */
} xpu_argument;

typedef struct {
    xpu_argument *items;
    uint32_t count, capacity;
} xpu_arguments; /* an XPU_ARRAY */

xpu_status xpu_options_parse(xpu_arena *arena, const xpu_command *command, int argc, char **argv,
                             xpu_arguments *arguments, xpu_diags *diags);

/* standard.c: puts names of files in the place of "-": standard input is written to a temporary file, which goes with
 * the arena; for standard output the name is of the form /dev/fd/N, and stdout becomes stderr. [usage] where two want
 * one. */
xpu_status xpu_standard_streams(xpu_arena *arena, const xpu_command *command, xpu_arguments *arguments,
                                xpu_diags *diags);

/* A text in which the temporary file of standard input has the name "standard input"; `text` itself where it is not
 * named. And the same for the places of diagnostics. */
const char *xpu_standard_shown(xpu_arena *arena, const char *text);
void xpu_standard_rename(xpu_diags *diags);

/* The options that every tool has; ends as a table does. */
extern const xpu_option xpu_common_options[];

/* What --help, --help=man and --help=bash print: `kind` is the option's value. NULL after [usage]. */
char *xpu_options_text(xpu_arena *arena, const xpu_command *command, const char *kind, const char *version,
                       xpu_diags *diags);

/* manual.c: a page for man (troff), and a script that bash reads for completion. */
char *xpu_options_manual(xpu_arena *arena, const xpu_command *command, const char *version);
char *xpu_options_completion(xpu_arena *arena, const xpu_command *command);

/* The text of --help. */
char *xpu_options_help(xpu_arena *arena, const xpu_command *command);

/* The nearest word of a NULL-terminated list by edit distance, or NULL when nothing is close. */
const char *xpu_nearest(const char *word, const char *const *words);

#endif
