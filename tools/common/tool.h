/* What the mains of the tools share: the command line, the API boundary, printing of errors. */
#ifndef XPU_TOOLS_TOOL_H
#define XPU_TOOLS_TOOL_H

#include "base/option.h"

typedef struct xpu_tool {
    xpu_mem mem;
    xpu_diags diags;  /* printed to stderr at the end */
    xpu_arena *arena; /* lives until the end */
    const xpu_command *command;
    xpu_arguments arguments; /* without the four options that every tool has */
    int quiet, verbose;      /* verbose: how often -v was given */
} xpu_tool;

/* Parses the command line, answers --help and --version, calls `run`, prints the problems and returns the exit code:
 * the first error's, else what `run` returned. */
int xpu_tool_main(const xpu_command *command, int argc, char **argv, int (*run)(xpu_tool *tool));

/* Value of an option, the last one where it was given more than once, or NULL. */
const char *xpu_tool_option(const xpu_tool *tool, const char *name);
/* All of them, NULL terminated, in the tool's arena. */
const char *const *xpu_tool_options(xpu_tool *tool, const char *name);
int xpu_tool_flag(const xpu_tool *tool, const char *name);
/* Word `index` among those that are no options, or NULL. */
const char *xpu_tool_word(const xpu_tool *tool, uint32_t index);
uint32_t xpu_tool_words(const xpu_tool *tool);

/* A path as it is printed. */
const char *xpu_tool_path(const xpu_tool *tool, const char *path);

/* An error [usage] about the command line; returns its exit code. */
int xpu_tool_usage(xpu_tool *tool, const char *where, const char *what, const char *why, const char *hint);

/* A file or folder that a tool writes, and the option that names it; path NULL: none. */
typedef struct {
    const char *option, *path;
} xpu_tool_output;

/* Keeps the files and dump folders that are read (`read` ends with NULL; base/keep.h), and looks whether each output
 * has a name of its own and replaces none of them. Returns an exit code: 2 [usage] [output-read]. */
int xpu_tool_check_outputs(xpu_tool *tool, const xpu_tool_output *outputs, uint32_t count, const char *const *read);

/* Moves the text of a library's error (xpuc_error, xpurt_error) to stderr; returns `status`. */
int xpu_tool_report(const xpu_tool *tool, int status, const char *text);

#endif
