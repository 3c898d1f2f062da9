#define _GNU_SOURCE 1
#include "base/stop.h"

#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

#include "base/status.h"

enum { PATIENCE = 2 }; /* seconds */

static const struct {
    int number;
    const char *name;
} signals[] = {{SIGINT, "SIGINT"}, {SIGTERM, "SIGTERM"}, {SIGHUP, "SIGHUP"}, {SIGPIPE, NULL}};

static const char *tool_name;
static void (*const *end_temporaries)(void);
static volatile sig_atomic_t received, is_found, is_request;

/* Appends to a text of at most `size` bytes, by what a signal handler may call. */
static size_t append(char *text, size_t length, size_t size, const char *more) {
    while (*more && length + 1 < size) text[length++] = *more++;
    return length;
}

static void say(const char *signal) {
    const char *const parts[] = {tool_name, ": ended by ", signal, "; temporary files are removed\n"};
    char line[160];
    size_t length = 0;
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) length = append(line, length, sizeof line, parts[i]);
    if (write(STDERR_FILENO, line, length) < 0) return;
}

static _Noreturn void end_now(int number) {
    for (size_t i = 0; end_temporaries[i]; i++) end_temporaries[i]();
    if (number == SIGPIPE) _exit(128 + number); /* nobody reads: nothing is said */
    const char *name = "a signal";
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++) {
        if (signals[i].number == number) name = signals[i].name;
    }
    if (tool_name) say(name);
    _exit(128 + number);
}

static void on_signal(int number) {
    if (number == SIGALRM) {
        if (!received || is_found) return;
        end_now(received);
    }
    if (number == SIGPIPE) end_now(number);
    if (received || !is_request) end_now(received ? (int)received : number);
    received = number;
    alarm(PATIENCE);
}

void xpu_stop_install(const char *tool, void (*const *ends)(void)) {
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART}, before;
    sigset_t unblocked;
    tool_name = tool;
    end_temporaries = ends;
    sigfillset(&action.sa_mask);
    sigemptyset(&unblocked);
    sigaddset(&unblocked, SIGALRM);
    sigaction(SIGALRM, &action, NULL);
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++) {
        if (sigaction(signals[i].number, NULL, &before) == 0 && before.sa_handler != SIG_IGN)
            sigaction(signals[i].number, &action, NULL);
    }
    sigprocmask(SIG_UNBLOCK, &unblocked, NULL);
}

_Noreturn void xpu_stop_without_reader(void) {
    end_now(SIGPIPE);
}

void xpu_stop_begin(void) {
    is_request++;
}

void xpu_stop_end(void) {
    if (is_request == 1 && received && !is_found) end_now(received);
    is_request--;
}

void xpu_stop_in_child(void) {
    received = is_found = is_request = 0;
    tool_name = NULL;
}

int xpu_stop_requested(void *unused) {
    (void)unused;
    if (!received) return 0;
    if (!is_found) alarm(0);
    is_found = 1;
    return received;
}

int xpu_stop_exit_code(int status) {
    return status == XPU_ESTOPPED ? 128 + (received ? (int)received : SIGINT) : status;
}
