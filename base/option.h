/*
 * Command lines: GNU long options from one table, which also makes --help. Used by every tool.
 *     --name=VALUE and --name VALUE; -o VALUE and -oVALUE; "--" ends the options.
 * An unknown option is [usage] with the nearest known one as hint.
 */
#ifndef XPU_BASE_OPTION_H
#define XPU_BASE_OPTION_H

#include "base/diag.h"

typedef struct {
    const char *name;     /* long name without dashes */
    char letter;          /* short name, or 0 */
    const char *argument; /* "FILE" where it takes a value, "[json]" where the value is optional, else NULL */
    const char *help;     /* one line */
} xpu_option;

typedef struct {
    const char *tool;          /* "xpuc" */
    const char *usage;         /* "MODEL --target=NAME [-o OUT.xpu] [options]" */
    const char *about;         /* one sentence */
    const char *example;       /* commands that work, each on a line of its own */
    const xpu_option *options; /* ends with name == NULL; help, version, quiet (q), verbose (v) are added */
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

/* The text of --help. */
char *xpu_options_help(xpu_arena *arena, const xpu_command *command);

/* The nearest word of a NULL-terminated list by edit distance, or NULL when nothing is close. */
const char *xpu_nearest(const char *word, const char *const *words);

#endif
