/* "-" on command lines: standard input and output. */
#define _GNU_SOURCE 1
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/option.h"

static const char *spooled; /* the temporary file of this process, or NULL */
static const char shown[] = "standard input";

typedef struct {
    xpu_arena *arena;
    xpu_diags *diags;
    const char *reader, *writer; /* who has standard input and output; NULL: nobody */
} streams;

static const char *name_of(const streams *s, const xpu_argument *argument) {
    return argument->name ? xpu_printf(s->arena, "option '--%s'", argument->name) : "'-'";
}

static xpu_status refuse(const streams *s, const char *where, const char *what, const char *why, const char *hint) {
    return xpu_error(s->diags, XPU_EUSAGE, NULL, "usage", where, what, why, hint);
}

/* All of standard input as a file, because readers seek; NULL after reporting. */
static const char *spool(const streams *s) {
    enum { CHUNK = 1 << 16 };
    const char *folder = xpu_temporary_folder(s->arena, s->diags);
    if (!folder) return NULL;
    const char *path = xpu_path_join(s->arena, folder, "standard-input");
    xpu_output *output = xpu_output_open(s->arena, path, s->diags);
    char *chunk = xpu_alloc(s->arena, CHUNK);
    ssize_t got = 1;
    while (output && got != 0) {
        got = read(STDIN_FILENO, chunk, CHUNK);
        if (got < 0 && errno != EINTR) {
            xpu_error(s->diags, XPU_EIO, shown, "io-read", NULL, "the file cannot be read", strerror(errno),
                      "check what is before the tool in the pipe");
            return NULL;
        }
        if (got > 0) xpu_output_write(output, chunk, (size_t)got);
    }
    spooled = output && xpu_output_commit(output) == XPU_OK ? path : NULL;
    return spooled;
}

static const char *take_input(streams *s, const xpu_argument *argument) {
    const char *where = name_of(s, argument);
    if (s->reader) {
        refuse(s, where, "standard input is wanted twice", xpu_printf(s->arena, "%s reads it, too", s->reader),
               "give one of them a file");
        return NULL;
    }
    s->reader = where;
    return spool(s);
}

/* What is printed for people goes to standard error from here on, so that the output stands alone. */
static const char *take_output(streams *s, const xpu_argument *argument) {
    const char *where = name_of(s, argument);
    if (s->writer) {
        refuse(s, where, "two outputs go to standard output", xpu_printf(s->arena, "%s does, too", s->writer),
               "give one of them a file");
        return NULL;
    }
    s->writer = where;
    fflush(stdout);
    int output = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
    if (output < 0 || dup2(STDERR_FILENO, STDOUT_FILENO) < 0) {
        xpu_error(s->diags, XPU_EIO, "standard output", "io-open", NULL, "the file cannot be opened", strerror(errno),
                  "check that standard output and standard error are open");
        return NULL;
    }
    return xpu_printf(s->arena, "/dev/fd/%d", output);
}

static xpu_stream stream_of(const xpu_command *command, const char *name) {
    if (!name) return command->words;
    for (const xpu_option *o = command->options; o->name; o++) {
        if (strcmp(o->name, name) == 0) return o->stream;
    }
    return XPU_NO_STREAM;
}

xpu_status xpu_standard_streams(xpu_arena *arena, const xpu_command *command, xpu_arguments *arguments,
                                xpu_diags *diags) {
    streams s = {arena, diags, NULL, NULL};
    size_t errors = diags->errors;
    for (uint32_t i = 0; i < arguments->count; i++) {
        xpu_argument *a = &arguments->items[i];
        xpu_stream stream = stream_of(command, a->name);
        size_t length = a->value ? strlen(a->value) : 0;
        if (!stream || !length || a->value[length - 1] != '-') continue;
        if (length > 1 && (!a->name || a->value[length - 2] != (stream == XPU_READS ? '=' : ':'))) continue;
        const char *path = NULL;
        switch (stream) {
        case XPU_READS: path = take_input(&s, a); break;
        case XPU_WRITES: path = take_output(&s, a); break;
        default:
            refuse(&s, name_of(&s, a), "this cannot go to standard output", "its writer goes back in the file",
                   "give it a file");
        }
        if (path) a->value = xpu_printf(arena, "%.*s%s", (int)length - 1, a->value, path);
    }
    return diags->errors == errors ? XPU_OK : xpu_diags_status(diags);
}

const char *xpu_standard_shown(xpu_arena *arena, const char *text) {
    const char *at = spooled && text ? strstr(text, spooled) : NULL;
    if (!at) return text;
    xpu_text result;
    xpu_text_init(&result, arena);
    for (; at; at = strstr(text, spooled)) {
        xpu_text_add_bytes(&result, text, (size_t)(at - text));
        xpu_text_add_bytes(&result, shown, strlen(shown));
        text = at + strlen(spooled);
    }
    xpu_text_add_bytes(&result, text, strlen(text));
    return result.text;
}

void xpu_standard_rename(xpu_diags *diags) {
    if (spooled) xpu_diags_rename_file(diags, spooled, shown);
}
