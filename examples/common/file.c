#include "examples/common/file.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LARGEST = 1 << 30 };

int file_fails(file_error *error, int status, const char *rule, const char *what, const char *hint, const char *why,
               ...) {
    va_list arguments;
    va_start(arguments, why);
    vsnprintf(error->why, sizeof error->why, why, arguments);
    va_end(arguments);
    error->rule = rule;
    error->what = what;
    error->hint = hint;
    return status;
}

uint8_t *file_read(const char *path, size_t *size, const char **why) {
    FILE *file = fopen(path, "rb");
    uint8_t *bytes = NULL;
    size_t room = 0, more = 1;
    for (*size = 0; file && more; *size += more) {
        if (*size == room) {
            room = room ? 2 * room : 1 << 16;
            uint8_t *larger = room <= LARGEST ? realloc(bytes, room) : NULL;
            if (!larger) errno = ENOMEM;
            if (!larger) break;
            bytes = larger;
        }
        more = fread(bytes + *size, 1, room - *size, file);
    }
    int good = file && !more && !ferror(file);
    if (!good) *why = strerror(errno);
    if (file) fclose(file);
    if (!good) free(bytes);
    return good ? bytes : NULL;
}

const char *file_base(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}
