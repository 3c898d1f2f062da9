#include "tools/common/pool.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "base/stop.h"

typedef struct {
    pid_t pid;     /* 0: not started, or reaped */
    int fd;        /* the reading end, or -1 */
    int has_ended; /* reaped */
    int signal, code;
    xpu_text said; /* not yet delivered from `taken` on */
    size_t taken;
} job;

typedef struct {
    const xpu_pool *pool;
    xpu_arena *arena;
    job *jobs;
    uint32_t started, running, current; /* current: whose messages are delivered at once */
} state;

static void reap(job *j) {
    int status = 0;
    while (waitpid(j->pid, &status, 0) < 0 && errno == EINTR) continue;
    j->code = WIFEXITED(status) ? WEXITSTATUS(status) : 0;
    j->signal = WIFSIGNALED(status) ? WTERMSIG(status) : j->code > 128 ? j->code - 128 : 0; /* base/stop.c leaves so */
    j->pid = 0;
    j->has_ended = 1;
}

static void end_all(void *object) {
    state *s = object;
    for (uint32_t i = 0; i < s->started; i++) {
        if (s->jobs[i].fd >= 0) close(s->jobs[i].fd);
        s->jobs[i].fd = -1;
        if (s->jobs[i].pid > 0) kill(s->jobs[i].pid, SIGTERM);
    }
    for (uint32_t i = 0; i < s->started; i++) {
        if (s->jobs[i].pid > 0) reap(&s->jobs[i]);
    }
}

static xpu_status refuse(const char *what, xpu_diags *diags) {
    char text[96];
    return xpu_error(diags, XPU_EIO, NULL, "child-process", NULL, what, strerror_r(errno, text, sizeof text),
                     "check that processes, files and memory are not used up, or run fewer at a time");
}

static xpu_status start(state *s, xpu_diags *diags) {
    int ends[2];
    uint32_t index = s->started;
    job *j = &s->jobs[index];
    pid_t parent = getpid();
    if (pipe2(ends, O_CLOEXEC)) return refuse("a pipe cannot be made", diags);
    xpu_text_init(&j->said, s->arena);
    j->pid = fork();
    if (j->pid == 0) {
        xpu_stop_in_child();
        prctl(PR_SET_PDEATHSIG, SIGTERM);
        close(ends[0]);
        if (getppid() == parent) s->pool->work(s->pool->context, index, ends[1]);
        _exit(0);
    }
    close(ends[1]);
    j->fd = ends[0];
    if (j->pid > 0) {
        s->started++;
        s->running++;
        return XPU_OK;
    }
    close(ends[0]);
    j->pid = 0;
    return refuse("a process cannot be started", diags);
}

/* Reads what there is; at the end the process is reaped. */
static void take(state *s, job *j) {
    char bytes[16384];
    ssize_t got = read(j->fd, bytes, sizeof bytes);
    if (got < 0 && errno == EINTR) return;
    if (got > 0) {
        xpu_text_add_bytes(&j->said, bytes, (size_t)got);
        return;
    }
    close(j->fd);
    j->fd = -1;
    reap(j);
    s->running--;
}

/* The messages of the current job, and of those behind it once it has ended. */
static void deliver(state *s) {
    for (; s->current < s->started; s->current++) {
        job *j = &s->jobs[s->current];
        uint64_t length;
        while (j->said.length - j->taken >= sizeof length) {
            memcpy(&length, j->said.text + j->taken, sizeof length);
            if (j->said.length - j->taken - sizeof length < length) break;
            xpu_arena *scratch = xpu_arena_new(xpu_arena_mem(s->arena), "message");
            const void *bytes = xpu_copy(scratch, j->said.text + j->taken + sizeof length, (size_t)length);
            j->taken += sizeof length + (size_t)length;
            s->pool->message(s->pool->context, s->current, bytes, (size_t)length);
            xpu_arena_free(scratch);
        }
        if (!j->has_ended || xpu_stopped(s->arena)) return;
        s->pool->ended(s->pool->context, s->current, j->signal, j->code);
    }
}

enum { LOOK = 100 }; /* milliseconds between two questions whether to stop */

static xpu_status wait_for_any(state *s, xpu_diags *diags) {
    struct pollfd polls[XPU_POOL_MAX];
    job *owners[XPU_POOL_MAX];
    nfds_t count = 0;
    for (uint32_t i = s->current; i < s->started; i++) {
        if (s->jobs[i].fd < 0) continue;
        owners[count] = &s->jobs[i];
        polls[count++] = (struct pollfd){.fd = s->jobs[i].fd, .events = POLLIN};
    }
    if (poll(polls, count, LOOK) < 0) return errno == EINTR ? XPU_OK : refuse("waiting for processes fails", diags);
    for (nfds_t i = 0; i < count; i++) {
        if (polls[i].revents) take(s, owners[i]);
    }
    return XPU_OK;
}

xpu_status xpu_pool_run(xpu_arena *arena, const xpu_pool *pool, xpu_diags *diags) {
    state *s = XPU_NEW(arena, state);
    uint32_t parallel = pool->parallel < 1 ? 1 : pool->parallel > XPU_POOL_MAX ? XPU_POOL_MAX : pool->parallel;
    *s = (state){.pool = pool, .arena = arena, .jobs = XPU_NEW_ARRAY(arena, job, pool->jobs)};
    for (uint32_t i = 0; i < pool->jobs; i++) s->jobs[i].fd = -1;
    xpu_arena_defer(arena, end_all, s);
    xpu_status status = XPU_OK;
    while (status == XPU_OK && s->current < pool->jobs) {
        if (xpu_stopped(arena)) status = XPU_ESTOPPED;
        while (status == XPU_OK && s->running < parallel && s->started < pool->jobs) status = start(s, diags);
        if (status != XPU_OK) break;
        if (s->running) status = wait_for_any(s, diags);
        deliver(s);
    }
    if (status != XPU_OK) end_all(s);
    return status;
}

int xpu_pool_send(int pipe, const void *bytes, size_t length) {
    const uint64_t count = length;
    const struct {
        const char *bytes;
        size_t length;
    } parts[] = {{(const char *)&count, sizeof count}, {bytes, length}};
    for (size_t i = 0; i < 2; i++) {
        for (size_t done = 0; done < parts[i].length;) {
            ssize_t written = write(pipe, parts[i].bytes + done, parts[i].length - done);
            if (written < 0 && errno == EINTR) continue;
            if (written <= 0) return 0;
            done += (size_t)written;
        }
    }
    return 1;
}
