#define _GNU_SOURCE 1
#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/temporary.h"

enum {
    KEPT = 64 << 10, /* bytes kept of each stream */
    LOOK = 50        /* milliseconds between two questions whether to stop */
};

typedef struct {
    int fd; /* the reading end, or -1 */
    size_t length;
    char *text; /* KEPT + 1 bytes */
} stream;

struct xpu_child_running {
    const char *program, *file;
    pid_t pid; /* and the number of its group; 0: it did not start, or was reaped */
    int found;
    double started, seconds; /* seconds: that it may take, 0: no limit */
    const xpu_arena *arena;
    xpu_temporary *noted;
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
    kill(-child->pid, SIGKILL);
    xpu_temporary_forget(child->noted);
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

/* The file that `name` is in PATH; NULL: there is none that may be run. *why: one may not; else NULL. */
static const char *find_program(xpu_arena *arena, const char *name, const char **why) {
    const char *path = getenv("PATH");
    *why = NULL;
    if (strchr(name, '/')) path = "";
    if (!path) path = "/bin:/usr/bin"; /* as execvp has it */
    for (size_t length;; path += length + 1) {
        length = strcspn(path, ":");
        const char *file = length ? xpu_path_join(arena, xpu_strndup(arena, path, length), name) : name;
        struct stat info;
        if (stat(file, &info) == 0 && S_ISREG(info.st_mode)) {
            if (access(file, X_OK) == 0) return file;
            *why = xpu_printf(arena, "'%s' may not be executed", xpu_escape(arena, file, 200));
        }
        if (!path[length]) return NULL;
    }
}

const char *xpu_child_missing(const char *name, xpu_arena *arena) {
    const char *why;
    return find_program(arena, name, &why) ? NULL : why ? why : "no folder of PATH has it";
}

/* In the child, which shares the parent's memory until it is another program: no more than system calls. */
static _Noreturn void become(const xpu_child_running *child, const char *const *argv, pid_t parent,
                             volatile int *error) {
    struct sigaction action = {.sa_handler = SIG_DFL}, before;
    sigset_t none;
    sigemptyset(&none);
    for (int number = 1; number < NSIG; number++) {
        int is_ignored = sigaction(number, NULL, &before) == 0 && before.sa_handler == SIG_IGN;
        if (!is_ignored || number == SIGPIPE) sigaction(number, &action, NULL);
    }
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    int empty = open("/dev/null", O_RDONLY);
    int good = getppid() == parent && empty >= 0 && dup2(empty, 0) == 0 && dup2(child->writing[0], 1) == 1 &&
               dup2(child->writing[1], 2) == 2;
    if (empty > 2) close(empty);
    pthread_sigmask(SIG_SETMASK, &none, NULL);
    /* argv is not changed; the type of execv is older than const. */
    if (good) execv(child->file, (char *const *)(uintptr_t)argv);
    *error = errno;
    _exit(127);
}

/* Starts the program with stdin from /dev/null and the two pipes; returns errno. */
static int spawn(xpu_child_running *child, const char *const *argv) {
    volatile int error = 0;
    sigset_t before;
    const pid_t parent = getpid();
    xpu_signals_hold(&before);
    pid_t pid = vfork();
    if (pid == 0) become(child, argv, parent, &error);
    if (pid < 0) error = errno;
    if (pid > 0 && error) waitpid(pid, NULL, 0);
    if (!error) {
        child->pid = pid;
        child->noted = xpu_temporary_group(pid);
    }
    xpu_signals_release(&before);
    return error;
}

xpu_child_running *xpu_child_start(xpu_arena *arena, const char *const *argv, unsigned seconds, xpu_diags *diags) {
    xpu_child_running *child = XPU_NEW(arena, xpu_child_running);
    child->program = xpu_strdup(arena, argv[0]);
    child->arena = arena;
    child->seconds = seconds;
    for (int i = 0; i < 2; i++) {
        child->streams[i] = (stream){-1, 0, xpu_alloc(arena, KEPT + 1)};
        child->writing[i] = -1;
    }
    xpu_arena_defer(arena, kill_child, child);
    child->started = xpu_seconds();
    const char *why = NULL;
    child->file = strchr(argv[0], '/') ? child->program : find_program(arena, argv[0], &why);
    int error = child->file ? open_pipes(child) : why ? EACCES : ENOENT;
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

/* Whether the child has to end before it has come to its own end. */
static xpu_status is_over(const xpu_child_running *child, xpu_diags *diags) {
    double now = xpu_seconds() - child->started;
    char why[160];
    if (xpu_stopped(child->arena)) {
        snprintf(why, sizeof why, "the program %.100s had been running for %.1f s", child->program, now);
        return xpu_error_stopped(diags, NULL, NULL, why);
    }
    if (child->seconds <= 0 || now < child->seconds) return XPU_OK;
    snprintf(why, sizeof why, "it has not ended after %.0f s", now);
    return xpu_error(diags, XPU_EIO, child->program, "child-timeout", NULL, "the program takes too long", why,
                     "check that it works when it is started alone, or raise the limit (xpuc --clang-seconds=N)");
}

/* Reads both streams to their ends. */
static xpu_status drain_all(xpu_child_running *child, xpu_diags *diags) {
    for (;;) {
        struct pollfd waiting[2];
        for (int i = 0; i < 2; i++) waiting[i] = (struct pollfd){child->streams[i].fd, POLLIN, 0};
        if (waiting[0].fd < 0 && waiting[1].fd < 0) return XPU_OK;
        xpu_status status = is_over(child, diags);
        if (status != XPU_OK) return status;
        if (poll(waiting, 2, LOOK) < 0 && errno != EINTR) return XPU_OK;
        for (int i = 0; i < 2; i++) {
            if (child->streams[i].fd >= 0 && waiting[i].revents) drain(&child->streams[i]);
        }
    }
}

/* Waits for the end: its streams are at theirs, so it is there or near. */
static xpu_status reap(xpu_child_running *child, int *state, struct rusage *usage, xpu_diags *diags) {
    struct timespec moment = {0, 100000};
    for (;;) {
        pid_t pid = wait4(child->pid, state, WNOHANG, usage);
        if (pid < 0 && errno != EINTR)
            return child_error(child, errno, "the program's end cannot be waited for", diags);
        if (pid > 0) return XPU_OK;
        xpu_status status = is_over(child, diags);
        if (status != XPU_OK) return status;
        nanosleep(&moment, NULL);
        if (moment.tv_nsec < LOOK * 1000000L / 2) moment.tv_nsec *= 2;
    }
}

xpu_status xpu_child_wait(xpu_child_running *child, xpu_child *result, xpu_diags *diags) {
    *result = (xpu_child){.found = child->found, .output = child->streams[0].text, .error = child->streams[1].text};
    if (!child->found) return XPU_EIO;
    int state = 0;
    struct rusage usage = {0};
    xpu_status status = drain_all(child, diags);
    if (status == XPU_OK) status = reap(child, &state, &usage, diags);
    if (status != XPU_OK) {
        kill_child(child);
        return status;
    }
    xpu_temporary_forget(child->noted);
    child->pid = 0;
    close_ends(child);
    result->seconds = xpu_seconds() - child->started;
    result->peak_rss_bytes = (uint64_t)usage.ru_maxrss * 1024;
    result->exit_code = WIFEXITED(state) ? WEXITSTATUS(state) : -1;
    result->signal = WIFSIGNALED(state) ? WTERMSIG(state) : 0;
    return XPU_OK;
}

xpu_status xpu_child_run(xpu_arena *arena, const char *const *argv, unsigned seconds, xpu_child *result,
                         xpu_diags *diags) {
    *result = (xpu_child){0};
    xpu_child_running *child = xpu_child_start(arena, argv, seconds, diags);
    if (!child) {
        result->found = 1;
        return XPU_EIO;
    }
    return xpu_child_wait(child, result, diags);
}
