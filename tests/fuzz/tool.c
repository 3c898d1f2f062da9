/* Runs the project's own tools as processes, and judges what they print and leave. */
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
#include <termios.h>
#include <unistd.h>

#include "base/diag.h"
#include "base/file.h"
#include "tests/fuzz/hostile.h"

enum { MOST_OUTPUT = 4 << 20, SECONDS = 9, MOST_KILOBYTES = 256 << 10 };

const char *hostile_bin(void) {
    const char *bin = getenv("XPU_BIN");
    return bin ? bin : "build/bin";
}

static void become(const char *const *argv, const char *folder, int output) {
    char path[4096], temporary[4096], *full = realpath(hostile_bin(), NULL);
    snprintf(path, sizeof path, "%s/%s", full ? full : "", argv[0]);
    snprintf(temporary, sizeof temporary, "%s/tmp", folder);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    setpgid(0, 0);
    alarm(0);
    int nothing = open("/dev/null", O_RDONLY);
    if (chdir(folder) || dup2(nothing, 0) < 0 || dup2(output, 1) < 0 || dup2(output, 2) < 0) _exit(127);
    setenv("TMPDIR", temporary, 1);
    execv(path, (char *const *)(uintptr_t)argv);
    _exit(127);
}

/* A terminal that changes no byte. */
static void open_terminal(int ends[2]) {
    struct termios modes;
    ends[0] = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
    if (ends[0] < 0 || grantpt(ends[0]) || unlockpt(ends[0])) abort();
    ends[1] = open(ptsname(ends[0]), O_RDWR | O_NOCTTY | O_CLOEXEC);
    if (ends[1] < 0 || tcgetattr(ends[1], &modes)) abort();
    cfmakeraw(&modes);
    tcsetattr(ends[1], TCSANOW, &modes);
}

void hostile_tool_start(hostile_tool *tool, const char *const *argv, const char *folder, int terminal) {
    int ends[2];
    *tool = (hostile_tool){.name = argv[0], .began = xpu_seconds(), .terminal = terminal};
    if (terminal)
        open_terminal(ends);
    else if (pipe2(ends, O_CLOEXEC))
        abort();
    fflush(stdout);
    for (int i = 0; argv[i]; i++) tool->binary |= strcmp(argv[i], "--output=-") == 0;
    tool->process = fork();
    if (tool->process < 0) abort();
    if (tool->process == 0) become(argv, folder, ends[1]);
    close(ends[1]);
    tool->output = ends[0];
}

/* Reads what it prints until it ends; kills it when it takes too long. */
static void read_output(hostile_tool *tool) {
    char part[4096];
    for (;;) {
        struct pollfd wait = {tool->output, POLLIN, 0};
        double left = tool->began + SECONDS - xpu_seconds();
        if (left <= 0 || poll(&wait, 1, (int)(1000 * left) + 1) == 0) {
            tool->timed_out = 1;
            kill(-tool->process, SIGKILL);
            return;
        }
        ssize_t got = read(tool->output, part, sizeof part);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) return;
        if (tool->text.size < MOST_OUTPUT) hostile_add(&tool->text, part, (size_t)got);
    }
}

void hostile_tool_finish(hostile_tool *tool) {
    struct rusage usage;
    int status;
    read_output(tool);
    close(tool->output);
    if (wait4(tool->process, &status, 0, &usage) != tool->process) abort();
    tool->kilobytes = usage.ru_maxrss;
    tool->signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    tool->status = WIFEXITED(status) ? WEXITSTATUS(status) : 0;
    tool->left = kill(-tool->process, 0) == 0;
    if (tool->left) kill(-tool->process, SIGKILL);
    hostile_add(&tool->text, "", 1);
    tool->text.size--;
}

/* The first byte that a terminal would obey, or that is no UTF-8; -1: none. */
static long raw_byte(const hostile_file *text, int terminal) {
    const uint8_t *at = text->data;
    for (size_t i = 0; i < text->size;) {
        size_t length = at[i] < 0x80 ? 1 : at[i] >= 0xc2 && at[i] < 0xe0 ? 2 : at[i] >= 0xe0 && at[i] < 0xf0 ? 3 : 4;
        int moves = at[i] == '\n' || at[i] == '\t' || (terminal && at[i] == '\r'); /* the line of the progress */
        if ((at[i] < 0x20 && !moves) || at[i] == 0x7f) return (long)i;
        if ((at[i] >= 0x80 && at[i] < 0xc2) || at[i] > 0xf4 || length > text->size - i) return (long)i;
        for (size_t k = 1; k < length; k++) {
            if ((at[i + k] & 0xc0) != 0x80) return (long)i;
        }
        if (at[i] == 0xc2 && at[i + 1] < 0xa0) return (long)i;
        i += length;
    }
    return -1;
}

static void problem(hostile_result *result, const hostile_tool *tool, const char *what) {
    if (result->problem[0]) return;
    snprintf(result->problem, sizeof result->problem, "%s: status %d, signal %d: %s\n%.1200s", tool->name, tool->status,
             tool->signal, what, (const char *)tool->text.data);
}

void hostile_tool_judge(hostile_result *result, const hostile_tool *tool, int sent) {
    const char *text = (const char *)tool->text.data;
    int stopped = sent && (tool->status == 128 + sent || tool->signal == sent);
    char what[120];
    long at = tool->binary ? -1 : raw_byte(&tool->text, tool->terminal);
    if (tool->timed_out) problem(result, tool, "is not done after 9 seconds");
    if (tool->signal && !stopped) problem(result, tool, "a signal that nobody sent");
    if (tool->status > 7 && !stopped) problem(result, tool, "is a status that is not documented");
    if (tool->status && tool->status != 4 && !stopped && !strstr(text, "error ["))
        problem(result, tool, "comes without an error message");
    if (tool->left) problem(result, tool, "leaves a child behind");
    if (tool->kilobytes > MOST_KILOBYTES + (long)(result->declared >> 10)) {
        snprintf(what, sizeof what, "takes %ld KiB of memory", tool->kilobytes);
        problem(result, tool, what);
    }
    if (at >= 0) {
        snprintf(what, sizeof what, "prints the byte 0x%02x at %ld", tool->text.data[at], at);
        for (uint8_t *c = tool->text.data; *c; c++)
            *c = *c < 0x20 || *c >= 0x7f ? (uint8_t)(*c == '\n' ? '\n' : '?') : *c;
        problem(result, tool, what);
    }
    if (!tool->status || result->refused) return;
    const char *rule = strstr(text, "error [");
    result->refused = 1;
    snprintf(result->rule, sizeof result->rule, "%.*s", rule ? (int)strcspn(rule + 7, "]") : 1, rule ? rule + 7 : "?");
}

void hostile_tool_clear(hostile_tool *tool) {
    hostile_clear(&tool->text);
}

void hostile_tool_run(hostile_result *result, const char *const *argv, const char *folder, int terminal) {
    hostile_tool tool;
    hostile_tool_start(&tool, argv, folder, terminal);
    hostile_tool_finish(&tool);
    hostile_tool_judge(result, &tool, 0);
    hostile_tool_clear(&tool);
}

/* ---- folders ---- */

const char *hostile_own_folder(const char *name) {
    static char path[128], temporary[140];
    snprintf(path, sizeof path, "%s/%s-%d", hostile_folder(), name, (int)getpid());
    snprintf(temporary, sizeof temporary, "%s/tmp", path);
    if ((mkdir(path, 0700) && errno != EEXIST) || (mkdir(temporary, 0700) && errno != EEXIST)) abort();
    return path;
}

void hostile_put(const char *folder, const char *name, const hostile_file *file) {
    char path[256];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    unlink(path);
    FILE *stream = fopen(path, "wb");
    if (!stream || fwrite(file->data, 1, file->size, stream) != file->size || fclose(stream) != 0) abort();
}
