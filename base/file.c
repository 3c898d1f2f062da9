#define _GNU_SOURCE 1
#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/temporary.h"

enum { CHUNK = 1 << 20, OUTPUT_BUFFER = 64 << 10, REASON = 160 };

/* The reason of `error` into `buffer` (REASON bytes); returns buffer. */
static const char *reason(int error, char *buffer) {
    char text[96];
    snprintf(buffer, REASON, "%s (errno %d)", strerror_r(error, text, sizeof text), error);
    return buffer;
}

static xpu_status open_error(const char *path, int error, xpu_diags *diags) {
    char why[REASON];
    const char *hint = error == ENOENT   ? "check the spelling of the path"
                       : error == EACCES ? "check the permissions of the file and of its folder"
                                         : "check the path, and that not too many files are open (ulimit -n)";
    return xpu_error(diags, XPU_EIO, path, "io-open", NULL, "the file cannot be opened", reason(error, why), hint);
}

static void close_file(void *object) {
    xpu_file *file = object;
    if (file->fd >= 0) close(file->fd);
}

const xpu_given_file *xpu_file_given(xpu_arena *arena, const char *path) {
    const xpu_given_file *given = xpu_arena_mem(arena)->given;
    return given && strcmp(given->path, path) == 0 ? given : NULL;
}

xpu_file *xpu_file_open(xpu_arena *arena, const char *path, xpu_diags *diags) {
    const xpu_given_file *given = xpu_file_given(arena, path);
    xpu_file *file = XPU_NEW(arena, xpu_file);
    file->fd = -1;
    file->path = xpu_strdup(arena, path);
    if (given) {
        file->bytes = given->bytes;
        file->size = given->size;
        return file;
    }
    xpu_arena_defer(arena, close_file, file);
    struct stat info;
    /* O_NONBLOCK: opening a pipe that nobody writes to must not hang. */
    file->fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (file->fd < 0 || fstat(file->fd, &info) != 0) {
        open_error(path, errno, diags);
        return NULL;
    }
    if (!S_ISREG(info.st_mode)) {
        xpu_error(diags, XPU_EIO, path, "io-open", NULL, "the file cannot be opened",
                  S_ISDIR(info.st_mode) ? "it is a folder" : "it is no regular file",
                  S_ISDIR(info.st_mode) ? "name a file in it" : "copy what it yields to a file first");
        return NULL;
    }
    file->size = (uint64_t)info.st_size;
    if (xpu_arena_mem(arena)->keeps_reads) xpu_keep(arena, path);
    return file;
}

xpu_status xpu_file_read(const xpu_file *file, uint64_t offset, void *buffer, size_t length, xpu_diags *diags) {
    char why[REASON];
    if (file->bytes && offset <= file->size && length <= file->size - offset) {
        memcpy(buffer, (const char *)file->bytes + offset, length);
        return XPU_OK;
    }
    for (size_t done = 0; done < length;) {
        size_t part = length - done < CHUNK ? length - done : CHUNK;
        ssize_t got = file->bytes || offset > (uint64_t)INT64_MAX - length
                          ? 0
                          : pread(file->fd, (char *)buffer + done, part, (off_t)(offset + done));
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) {
            return xpu_error(diags, XPU_EIO, file->path, "io-read", NULL, "the file cannot be read", reason(errno, why),
                             "check that the disk or network share that it is on works");
        }
        if (got == 0) {
            snprintf(why, sizeof why, "%zu bytes were expected at offset %llu, %zu are there", length,
                     (unsigned long long)offset, done);
            return xpu_error(diags, XPU_EIO, file->path, "io-short", NULL, "the file ends too early", why,
                             "the file is cut short, or another program changed it meanwhile");
        }
        done += (size_t)got;
    }
    return XPU_OK;
}

void *xpu_file_read_all(xpu_arena *arena, const char *path, size_t limit, size_t *length, xpu_diags *diags) {
    *length = 0;
    xpu_file *file = xpu_file_open(arena, path, diags);
    if (!file) return NULL;
    if (file->size > limit) {
        char why[REASON];
        snprintf(why, sizeof why, "it has %llu bytes; at most %zu are read here", (unsigned long long)file->size,
                 limit);
        xpu_error(diags, XPU_EIO, path, "io-too-large", NULL, "the file is too large", why,
                  "check that this is the file that was meant");
        return NULL;
    }
    char *bytes = xpu_alloc(arena, (size_t)file->size + 1);
    xpu_status status = xpu_file_read(file, 0, bytes, (size_t)file->size, diags);
    close_file(file);
    file->fd = -1;
    if (status != XPU_OK) return NULL;
    *length = (size_t)file->size;
    return bytes;
}

struct xpu_output {
    int fd;
    int direct;  /* no temporary name: a standard stream, or no regular file */
    int pending; /* the temporary file exists and has to be removed unless committed */
    xpu_temporary *noted;
    int error;         /* errno of the first failure, or 0 */
    const char *path;  /* as given, for messages */
    char *target;      /* what the temporary name becomes; links resolved */
    char *temporary;   /* the name being written */
    uint64_t position; /* where the buffer belongs */
    size_t buffered;
    char *buffer;
    const char *where; /* the option that named it; or NULL */
    xpu_arena *arena;
    xpu_diags *diags;
};

static void drop_output(void *object) {
    xpu_output *output = object;
    if (output->fd >= 0) close(output->fd);
    if (output->pending) unlink(output->temporary);
    xpu_temporary_forget(output->noted);
    output->noted = NULL;
    output->fd = -1;
    output->pending = 0;
}

static xpu_status write_error(const xpu_output *output) {
    char why[REASON];
    int full = output->error == ENOSPC || output->error == EDQUOT || output->error == EFBIG;
    return xpu_error(output->diags, XPU_EIO, output->path, "io-write", NULL, "the file cannot be written",
                     reason(output->error, why),
                     full ? "make room, or write to another place"
                          : "check that the folder exists and may be written to");
}

/* Opens a new file in the target's folder; mode 0 stands for the default. Returns errno or 0. */
static int open_temporary(xpu_arena *arena, xpu_output *output, mode_t mode) {
    static atomic_uint serial;
    for (int attempt = 0; attempt < 100; attempt++) {
        unsigned number = atomic_fetch_add(&serial, 1);
        char *name = xpu_printf(arena, ".xpu-%ld-%u.tmp", (long)getpid(), number);
        output->temporary = xpu_path_join(arena, xpu_path_folder(arena, output->target), name);
        sigset_t before;
        xpu_signals_hold(&before);
        output->fd = open(output->temporary, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        int error = output->fd < 0 ? errno : 0;
        if (!error) output->noted = xpu_temporary_file(output->temporary);
        xpu_signals_release(&before);
        if (error == EEXIST) continue;
        if (error) return error;
        output->pending = 1;
        if (mode && fchmod(output->fd, mode) != 0) return errno;
        return 0;
    }
    return EEXIST;
}

static const char streams[] = "/dev/fd/";

int xpu_path_is_stream(const char *path) {
    size_t length = strlen(streams);
    return strncmp(path, streams, length) == 0 && path[length] >= '0' && path[length] <= '9';
}

/* The stream that a path stands for, or -1. It is written as it is, whatever it was redirected to. */
static int standard_stream(const char *path) {
    if (strcmp(path, "/dev/stdout") == 0) return STDOUT_FILENO;
    if (strcmp(path, "/dev/stderr") == 0) return STDERR_FILENO;
    char *end;
    if (!xpu_path_is_stream(path)) return -1;
    long number = strtol(path + strlen(streams), &end, 10);
    return *end || number < 0 || number > INT_MAX ? -1 : (int)number;
}

void xpu_output_label(xpu_output *output, const char *where) {
    output->where = where;
}

xpu_status xpu_output_allowed(xpu_output *output) {
    const char *kept = xpu_kept_path(xpu_arena_mem(output->arena), output->path);
    return kept ? xpu_kept_error(output->arena, output->diags, output->where, output->path, kept) : XPU_OK;
}

xpu_output *xpu_output_open(xpu_arena *arena, const char *path, xpu_diags *diags) {
    char resolved[PATH_MAX];
    struct stat info;
    int stream = standard_stream(path);
    int exists = stream < 0 && stat(path, &info) == 0;
    xpu_output *output = XPU_NEW(arena, xpu_output);
    output->fd = -1;
    output->direct = stream >= 0 || (exists && !S_ISREG(info.st_mode));
    output->arena = arena;
    output->diags = diags;
    output->path = xpu_path_is_stream(path) ? "standard output" : xpu_strdup(arena, path);
    output->target = xpu_strdup(arena, exists && !output->direct && realpath(path, resolved) ? resolved : path);
    output->temporary = output->target;
    output->buffer = xpu_alloc(arena, OUTPUT_BUFFER);
    xpu_arena_defer(arena, drop_output, output);
    if (xpu_output_allowed(output) != XPU_OK) return NULL;
    if (output->direct) {
        output->fd = stream >= 0 ? fcntl(stream, F_DUPFD_CLOEXEC, 3) : open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY);
        output->error = output->fd < 0 ? errno : 0;
    } else {
        output->error = open_temporary(arena, output, exists ? info.st_mode & 0777 : 0);
    }
    if (output->error) {
        write_error(output);
        drop_output(output);
        return NULL;
    }
    return output;
}

/* write or, at an offset >= 0, pwrite, with EINTR retried. */
static ssize_t write_part(int fd, const void *data, size_t length, int64_t offset) {
    ssize_t put;
    do {
        put = offset < 0 ? write(fd, data, length) : pwrite(fd, data, length, (off_t)offset);
    } while (put < 0 && errno == EINTR);
    return put;
}

int xpu_write_all(int fd, const void *bytes, size_t length, int64_t offset) {
    const char *data = bytes;
    static const struct timespec now = {0, 0};
    sigset_t fatal, before, waiting;
    sigemptyset(&fatal);
    sigaddset(&fatal, SIGXFSZ);
    sigaddset(&fatal, SIGPIPE);
    sigpending(&waiting);
    pthread_sigmask(SIG_BLOCK, &fatal, &before);
    int error = 0;
    while (length && !error) {
        ssize_t put = write_part(fd, data, length, offset);
        if (put < 0) {
            error = errno;
        } else {
            data += put;
            length -= (size_t)put;
            if (offset >= 0) offset += put;
        }
    }
    /* Take back the signal of this write; one that was waiting before stays. */
    if (error == EFBIG || error == EPIPE) {
        sigset_t own;
        sigemptyset(&own);
        int signal_of_error = error == EFBIG ? SIGXFSZ : SIGPIPE;
        if (!sigismember(&waiting, signal_of_error)) {
            sigaddset(&own, signal_of_error);
            sigtimedwait(&own, NULL, &now);
        }
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return error;
}

static void flush(xpu_output *output) {
    if (!output->error && output->buffered) {
        output->error = xpu_write_all(output->fd, output->buffer, output->buffered,
                                      output->direct ? -1 : (int64_t)output->position);
    }
    output->position += output->buffered;
    output->buffered = 0;
}

xpu_status xpu_output_write(xpu_output *output, const void *data, size_t length) {
    if (length > OUTPUT_BUFFER - output->buffered) flush(output);
    if (length > OUTPUT_BUFFER) {
        if (!output->error) {
            output->error = xpu_write_all(output->fd, data, length, output->direct ? -1 : (int64_t)output->position);
        }
        output->position += length;
    } else if (length) {
        memcpy(output->buffer + output->buffered, data, length);
        output->buffered += length;
    }
    return output->error ? XPU_EIO : XPU_OK;
}

xpu_status xpu_output_write_at(xpu_output *output, uint64_t offset, const void *data, size_t length) {
    flush(output);
    if (!output->error && offset > INT64_MAX) output->error = EFBIG;
    if (!output->error) output->error = xpu_write_all(output->fd, data, length, (int64_t)offset);
    return output->error ? XPU_EIO : XPU_OK;
}

uint64_t xpu_output_bytes(const xpu_output *output) {
    return output->position + output->buffered;
}

const char *xpu_output_temporary(const xpu_output *output) {
    return output->temporary;
}

xpu_status xpu_outputs_commit(xpu_output *const *outputs, size_t count) {
    int good = 1;
    xpu_status allowed = XPU_OK;
    for (size_t i = 0; i < count; i++) {
        xpu_status status = xpu_output_allowed(outputs[i]);
        if (allowed == XPU_OK) allowed = status;
    }
    for (size_t i = 0; allowed != XPU_OK && i < count; i++) drop_output(outputs[i]);
    if (allowed != XPU_OK) return allowed;
    for (size_t i = 0; i < count; i++) {
        xpu_output *output = outputs[i];
        flush(output);
        if (output->fd >= 0 && close(output->fd) != 0 && !output->error) output->error = errno;
        output->fd = -1;
        good &= !output->error;
    }
    for (size_t i = 0; i < count; i++) {
        xpu_output *output = outputs[i];
        if (good && output->pending && rename(output->temporary, output->target) != 0) output->error = errno;
        if (good && !output->error) output->pending = 0;
        good &= !output->error;
        drop_output(output);
        if (output->error) write_error(output);
    }
    return good ? XPU_OK : XPU_EIO;
}

xpu_status xpu_output_commit(xpu_output *output) {
    return xpu_outputs_commit(&output, 1);
}

xpu_status xpu_output_check(xpu_arena *arena, const char *path, xpu_diags *diags) {
    struct stat info;
    if (standard_stream(path) >= 0) return XPU_OK;
    if (stat(path, &info) == 0 && !S_ISREG(info.st_mode) && !S_ISDIR(info.st_mode) && access(path, W_OK) == 0) {
        return XPU_OK; /* opening a pipe would tell its reader something */
    }
    xpu_arena *scratch = xpu_arena_new(xpu_arena_mem(arena), "output");
    size_t before = diags->count;
    xpu_status status = xpu_output_open(scratch, path, diags) ? XPU_OK : XPU_EIO;
    if (status != XPU_OK && diags->count > before) status = diags->items[before].status;
    xpu_arena_free(scratch);
    return status;
}

xpu_status xpu_file_write(xpu_arena *arena, const char *path, const void *data, size_t length, xpu_diags *diags) {
    xpu_output *output = xpu_output_open(arena, path, diags);
    if (!output) return xpu_diags_status(diags);
    xpu_output_write(output, data, length);
    return xpu_output_commit(output);
}

xpu_status xpu_flush_stdout(xpu_diags *diags) {
    if (fflush(stdout) == 0 && !ferror(stdout)) return XPU_OK;
    return xpu_error(diags, XPU_EIO, "standard output", "io-write", NULL, "what was printed could not all be written",
                     "the file or pipe that it goes to takes no more", "make room, or write to another place");
}

int xpu_file_exists(const char *path) {
    return access(path, F_OK) == 0;
}

xpu_status xpu_make_folder(const char *path, xpu_diags *diags) {
    char part[PATH_MAX], why[REASON];
    size_t length = strlen(path);
    int error = length == 0 ? ENOENT : length >= sizeof part ? ENAMETOOLONG : 0;
    for (size_t i = 1; i <= length && !error; i++) {
        if (i < length && path[i] != '/') continue;
        memcpy(part, path, i);
        part[i] = '\0';
        if (mkdir(part, 0777) != 0 && errno != EEXIST) error = errno;
    }
    struct stat info;
    if (!error && stat(path, &info) != 0) error = errno;
    if (!error && !S_ISDIR(info.st_mode)) error = ENOTDIR;
    if (!error) return XPU_OK;
    return xpu_error(diags, XPU_EIO, path, "io-folder", NULL, "the folder cannot be made", reason(error, why),
                     "check that the folder above it may be written to and that no file has this name");
}

typedef struct {
    char *path;
    int exists;
    xpu_temporary *noted;
} temporary_folder;

static void remove_temporary_folder(void *object) {
    temporary_folder *folder = object;
    if (folder->exists) xpu_remove_tree(folder->path);
    xpu_temporary_forget(folder->noted);
}

char *xpu_temporary_folder(xpu_arena *arena, xpu_diags *diags) {
    const char *parent = getenv("TMPDIR");
    temporary_folder *folder = XPU_NEW(arena, temporary_folder);
    folder->path = xpu_path_join(arena, parent && *parent ? parent : "/tmp", "xpu-XXXXXX");
    xpu_arena_defer(arena, remove_temporary_folder, folder);
    sigset_t before;
    xpu_signals_hold(&before);
    folder->exists = mkdtemp(folder->path) != NULL;
    int error = errno;
    if (folder->exists) folder->noted = xpu_temporary_tree(folder->path);
    xpu_signals_release(&before);
    if (folder->exists) return folder->path;
    char why[REASON];
    xpu_error(diags, XPU_EIO, folder->path, "io-folder", NULL, "no temporary folder can be made", reason(error, why),
              "set TMPDIR to a folder that may be written to");
    return NULL;
}

char *xpu_path_join(xpu_arena *arena, const char *folder, const char *name) {
    size_t length = strlen(folder);
    return xpu_printf(arena, "%s%s%s", folder, length && folder[length - 1] != '/' ? "/" : "", name);
}

const char *xpu_path_name(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

char *xpu_path_folder(xpu_arena *arena, const char *path) {
    const char *name = xpu_path_name(path);
    if (name == path) return xpu_strdup(arena, ".");
    size_t length = (size_t)(name - path);
    return xpu_strndup(arena, path, length > 1 ? length - 1 : length);
}

double xpu_seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

/* ru_maxrss would include what the process that started this one held before exec. */
uint64_t xpu_peak_rss_bytes(void) {
    char text[4096];
    int fd = open("/proc/self/status", O_RDONLY | O_CLOEXEC);
    ssize_t length = fd < 0 ? 0 : read(fd, text, sizeof text - 1);
    if (fd >= 0) close(fd);
    text[length > 0 ? length : 0] = '\0';
    const char *line = strstr(text, "VmHWM:");
    if (line) return strtoull(line + 6, NULL, 10) * 1024;
    struct rusage usage;
    return getrusage(RUSAGE_SELF, &usage) == 0 ? (uint64_t)usage.ru_maxrss * 1024 : 0;
}
