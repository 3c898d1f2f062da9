/* Files that the demonstrations read, and what is wrong with one. */
#ifndef EXAMPLES_FILE_H
#define EXAMPLES_FILE_H

#include <stddef.h>
#include <stdint.h>

/* "what" is NULL where nothing is wrong. */
typedef struct {
    const char *rule, *what, *hint;
    char why[160];
} file_error;

/* Fills in the error; returns `status`. */
__attribute__((format(printf, 6, 7))) int file_fails(file_error *error, int status, const char *rule, const char *what,
                                                     const char *hint, const char *why, ...);

/* All bytes of a file, at most 1 GiB; malloc'd, the caller's to free. NULL with the reason. */
uint8_t *file_read(const char *path, size_t *size, const char **why);

/* The name behind the last slash. */
const char *file_base(const char *path);

#endif
