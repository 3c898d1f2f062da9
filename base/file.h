/* Files, folders and child processes. Everything opened here stands on the arena's clean-up list. */
#ifndef XPU_BASE_FILE_H
#define XPU_BASE_FILE_H

#include "base/diag.h"
#include "base/keep.h"

/* A file that is in the caller's memory: xpu_file_open finds it under this path, and no other file, where it is `given`
 * of the arena's xpu_mem. */
typedef struct xpu_given_file {
    const char *path;
    const void *bytes;
    uint64_t size;
} xpu_given_file;

/* The file of this path that is in memory; or NULL. */
const xpu_given_file *xpu_file_given(xpu_arena *arena, const char *path);

/* A file open for reading at arbitrary offsets. */
typedef struct {
    int fd;            /* -1: it is in memory */
    const void *bytes; /* then: these */
    uint64_t size;     /* bytes, when it was opened */
    const char *path;
} xpu_file;

/* Opens a regular file, which behind an API boundary is kept from then on (base/keep.h): no output replaces it. NULL
 * with a diagnostic [io-open] on failure. */
xpu_file *xpu_file_open(xpu_arena *arena, const char *path, xpu_diags *diags);

/* Reads exactly `length` bytes at `offset`, in chunks; a file cut short meanwhile is [io-short], never a signal. */
xpu_status xpu_file_read(const xpu_file *file, uint64_t offset, void *buffer, size_t length, xpu_diags *diags);

/* The whole file, followed by a NUL byte that does not count; NULL with a diagnostic on failure. More than `limit`
 * bytes are [io-too-large]. */
void *xpu_file_read_all(xpu_arena *arena, const char *path, size_t limit, size_t *length, xpu_diags *diags);

/* Writing: to a temporary name beside `path`, renamed by commit; unwinding without commit removes it. A failure, also
 * a full disk half-way, is [io-write] and leaves what `path` held before.
 * Paths that are no regular file (such as /dev/stdout) are written directly. A file that is kept (base/keep.h) when the
 * output is opened or committed is not replaced: [output-read]. */
typedef struct xpu_output xpu_output;
xpu_output *xpu_output_open(xpu_arena *arena, const char *path, xpu_diags *diags);
/* Which option named it, for messages: "option '--output'"; the text is not copied. */
void xpu_output_label(xpu_output *output, const char *where);
/* Whether the file is still none that is kept; commit asks again. */
xpu_status xpu_output_allowed(xpu_output *output);
xpu_status xpu_output_write(xpu_output *output, const void *data, size_t length); /* errors are reported by commit */
/* Only where the path is (or becomes) a regular file; does not move the position of xpu_output_write. */
xpu_status xpu_output_write_at(xpu_output *output, uint64_t offset, const void *data, size_t length);
uint64_t xpu_output_bytes(const xpu_output *output);        /* written so far */
const char *xpu_output_temporary(const xpu_output *output); /* the name being written */
xpu_status xpu_output_commit(xpu_output *output);
/* Several together: when one of them cannot be written none gets its name, and behind one that cannot be renamed none
 * does. */
xpu_status xpu_outputs_commit(xpu_output *const *outputs, size_t count);
/* Whether `path` can be written: for saying so before work begins. Leaves nothing. */
xpu_status xpu_output_check(xpu_arena *arena, const char *path, xpu_diags *diags);
/* Writes everything, at an offset or, where that is negative, where the file stands. A full disk, a size limit or a
 * closed pipe ends in the errno that is returned, not in a signal; 0: done. */
int xpu_write_all(int fd, const void *bytes, size_t length, int64_t offset);
xpu_status xpu_file_write(xpu_arena *arena, const char *path, const void *data, size_t length, xpu_diags *diags);
/* For tools: whether all that was printed has been written. */
xpu_status xpu_flush_stdout(xpu_diags *diags);

int xpu_file_exists(const char *path);
/* mkdir -p. */
xpu_status xpu_make_folder(const char *path, xpu_diags *diags);
/* A new private folder under $TMPDIR or /tmp, removed with everything in it when the arena is freed. */
char *xpu_temporary_folder(xpu_arena *arena, xpu_diags *diags);
int xpu_path_is_stream(const char *path); /* of the form /dev/fd/N */
char *xpu_path_join(xpu_arena *arena, const char *folder, const char *name);
char *xpu_path_folder(xpu_arena *arena, const char *path); /* "." where there is none */
const char *xpu_path_name(const char *path);               /* what follows the last '/' */

/* Runs argv[0] (looked up in PATH) with an empty stdin in a process group of its own, and waits. Its stdout and stderr
 * are collected, each cut to 64 KiB. Returns XPU_OK whenever the program ran, whatever its exit code. When there is no
 * such program `found` is 0 and the call returns XPU_EIO without a diagnostic: the caller knows what the program was
 * for. After `seconds` (0: no limit) it is killed with its group [child-timeout]; likewise when the caller of the API
 * wants to stop [stopped]. Every other failure is [child-process]. It does not outlive the thread that started it. */
typedef struct {
    int found;
    int exit_code;           /* -1 when a signal ended it */
    int signal;              /* or 0 */
    char *output, *error;    /* terminated text in the arena */
    uint64_t peak_rss_bytes; /* as the kernel counts it: not below what the caller itself held when it started it */
    double seconds;          /* wall time */
} xpu_child;
xpu_status xpu_child_run(xpu_arena *arena, const char *const *argv, unsigned seconds, xpu_child *result,
                         xpu_diags *diags);

/* Whether there is such a program for xpu_child_run, for saying so before work begins; else why not, in words. */
const char *xpu_child_missing(const char *name, xpu_arena *arena);

/* The same in two steps, so that the caller can work meanwhile. A missing program shows in `found` after the wait; NULL
 * with a diagnostic on other failures. Unwinding before the wait kills and reaps the child. */
typedef struct xpu_child_running xpu_child_running;
xpu_child_running *xpu_child_start(xpu_arena *arena, const char *const *argv, unsigned seconds, xpu_diags *diags);
xpu_status xpu_child_wait(xpu_child_running *child, xpu_child *result, xpu_diags *diags);

double xpu_seconds(void);          /* a monotonic clock */
uint64_t xpu_peak_rss_bytes(void); /* of this process */

#endif
