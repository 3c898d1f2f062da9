#define _GNU_SOURCE 1
#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

enum { KEPT = 64 << 10 }; /* bytes kept of each stream */

typedef struct {
    int fd; /* the reading end, or -1 */
    size_t length;
    char *text; /* KEPT + 1 bytes */
} stream;

struct xpu_child_running {
    const char *program;
    pid_t pid; /* 0: it did not start, or was reaped */
    int found;
    double started;
    stream streams[2]; /* stdout, stderr */
    int writing[2];    /* the child's ends while it is being started */
};

static void close_ends(xpu_child_running *child) {
    for (int i = 0; i < 2; i++) {
        if (child->streams[i].fd >= 0) close(child->streams[i].fd);
        if (child->writing[i] >= 0) close(child->writing[i]);
        child->streams[i].fd = child->writing[i] = -1;
    }
}

static void kill_child(void *object) {
    xpu_child_running *child = object;
    close_ends(child);
    if (child->pid <= 0) return;
    kill(child->pid, SIGKILL);
    while (waitpid(child->pid, NULL, 0) < 0 && errno == EINTR) continue;
    child->pid = 0;
}

static xpu_status child_error(const xpu_child_running *child, int error, const char *what, xpu_diags *diags) {
    char why[160], text[96];
    snprintf(why, sizeof why, "%s (errno %d)", strerror_r(error, text, sizeof text), error);
    return xpu_error(diags, XPU_EIO, child->program, "child-process", NULL, what, why,
                     "check that the program may be run and that processes, files and memory are not used up");
}

/* `fd` moved out of the way of 0, 1 and 2, which the child redirects. */
static int above_standard(int fd) {
    if (fd < 0 || fd > 2) return fd;
    int moved = fcntl(fd, F_DUPFD_CLOEXEC, 3);
    int error = errno;
    close(fd);
    errno = error;
    return moved;
}

static int open_pipes(xpu_child_running *child) {
    for (int i = 0; i < 2; i++) {
        int ends[2];
        if (pipe2(ends, O_CLOEXEC) != 0) return errno;
        child->streams[i].fd = above_standard(ends[0]);
        int error = errno;
        child->writing[i] = above_standard(ends[1]);
        if (child->streams[i].fd < 0) return error;
        if (child->writing[i] < 0) return errno;
    }
    return 0;
}

/* posix_spawnp with stdin from /dev/null and the two pipes; returns errno. */
static int spawn(xpu_child_running *child, const char *const *argv) {
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    sigset_t none, defaults;
    sigemptyset(&none);
    sigemptyset(&defaults);
    sigaddset(&defaults, SIGPIPE);
    int error = posix_spawn_file_actions_init(&actions);
    if (error) return error;
    error = posix_spawnattr_init(&attributes);
    if (!error) {
        error = posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
        for (int i = 0; i < 2 && !error; i++) {
            error = posix_spawn_file_actions_adddup2(&actions, child->writing[i], i + 1);
        }
        posix_spawnattr_setsigmask(&attributes, &none);
        posix_spawnattr_setsigdefault(&attributes, &defaults);
        posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
        pid_t pid = 0;
        /* argv is not changed; the type of posix_spawnp is older than const. */
        if (!error) error = posix_spawnp(&pid, argv[0], &actions, &attributes, (char *const *)(uintptr_t)argv, environ);
        if (!error) child->pid = pid;
        posix_spawnattr_destroy(&attributes);
    }
    posix_spawn_file_actions_destroy(&actions);
    return error;
}

const char *xpu_child_missing(const char *name, xpu_arena *arena) {
    const char *path = getenv("PATH"), *why = NULL;
    if (strchr(name, '/')) path = "";
    if (!path) path = "/bin:/usr/bin"; /* as execvp has it */
    for (size_t length;; path += length + 1) {
        length = strcspn(path, ":");
        const char *file = length ? xpu_path_join(arena, xpu_strndup(arena, path, length), name) : name;
        struct stat info;
        if (stat(file, &info) == 0 && S_ISREG(info.st_mode)) {
            if (access(file, X_OK) == 0) return NULL;
            why = xpu_printf(arena, "'%s' may not be executed", xpu_escape(arena, file, 200));
        }
        if (!path[length]) return why ? why : "no folder of PATH has it";
    }
}

xpu_child_running *xpu_child_start(xpu_arena *arena, const char *const *argv, xpu_diags *diags) {
    xpu_child_running *child = XPU_NEW(arena, xpu_child_running);
    child->program = xpu_strdup(arena, argv[0]);
    for (int i = 0; i < 2; i++) {
        child->streams[i] = (stream){-1, 0, xpu_alloc(arena, KEPT + 1)};
        child->writing[i] = -1;
    }
    xpu_arena_defer(arena, kill_child, child);
    child->started = xpu_seconds();
    int error = open_pipes(child);
    if (!error) error = spawn(child, argv);
    for (int i = 0; i < 2; i++) {
        if (child->writing[i] >= 0) close(child->writing[i]);
        child->writing[i] = -1;
    }
    child->found = error != ENOENT;
    if (error) close_ends(child);
    if (error && child->found) {
        child_error(child, error, "the program cannot be started", diags);
        return NULL;
    }
    return child;
}

/* Reads what is there; past KEPT bytes it is thrown away. Closes the stream at its end. */
static void drain(stream *from) {
    char rest[4096];
    size_t room = KEPT - from->length;
    ssize_t got = read(from->fd, room ? from->text + from->length : rest, room ? room : sizeof rest);
    if (got > 0) {
        if (room) from->length += (size_t)got;
    } else if (got == 0 || errno != EINTR) {
        close(from->fd);
        from->fd = -1;
    }
}

static void drain_all(xpu_child_running *child) {
    for (;;) {
        struct pollfd waiting[2];
        for (int i = 0; i < 2; i++) waiting[i] = (struct pollfd){child->streams[i].fd, POLLIN, 0};
        if (waiting[0].fd < 0 && waiting[1].fd < 0) return;
        if (poll(waiting, 2, -1) < 0 && errno != EINTR) return;
        for (int i = 0; i < 2; i++) {
            if (child->streams[i].fd >= 0 && waiting[i].revents) drain(&child->streams[i]);
        }
    }
}

xpu_status xpu_child_wait(xpu_child_running *child, xpu_child *result, xpu_diags *diags) {
    *result = (xpu_child){.found = child->found, .output = child->streams[0].text, .error = child->streams[1].text};
    if (!child->found) return XPU_EIO;
    drain_all(child);
    int state = 0, error = 0;
    struct rusage usage = {0};
    while (wait4(child->pid, &state, 0, &usage) < 0 && !error) error = errno == EINTR ? 0 : errno;
    child->pid = 0;
    close_ends(child);
    if (error) return child_error(child, error, "the program's end cannot be waited for", diags);
    result->seconds = xpu_seconds() - child->started;
    result->peak_rss_bytes = (uint64_t)usage.ru_maxrss * 1024;
    result->exit_code = WIFEXITED(state) ? WEXITSTATUS(state) : -1;
    result->signal = WIFSIGNALED(state) ? WTERMSIG(state) : 0;
    return XPU_OK;
}

xpu_status xpu_child_run(xpu_arena *arena, const char *const *argv, xpu_child *result, xpu_diags *diags) {
    *result = (xpu_child){0};
    xpu_child_running *child = xpu_child_start(arena, argv, diags);
    if (!child) {
        result->found = 1;
        return XPU_EIO;
    }
    return xpu_child_wait(child, result, diags);
}
