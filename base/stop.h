/*
 * Signals that end a tool: SIGINT, SIGTERM, SIGHUP. For mains only: a library takes a hook (xpuc_options.stop,
 * xpurt_run_options.stop) and installs no handler.
 *
 * Outside of xpu_stop_begin and xpu_stop_end a signal ends the process at once: children are killed, temporary files
 * removed, the exit code is 128 + its number. Between the two it is a request, which the library finds by its hook: it
 * saves what there is, says where it stood and returns. A second signal, or two seconds in which nobody asks, end at
 * once as well. SIGPIPE, nobody reads standard output any more, ends at once in both cases and says nothing. What was
 * ignored at the start (nohup) stays ignored.
 */
#ifndef XPU_BASE_STOP_H
#define XPU_BASE_STOP_H

/* `ends` (terminated by NULL, kept): end the temporaries of each library and of the tool, async-signal-safe. */
void xpu_stop_install(const char *tool, void (*const *ends)(void));

/* The same for a write that failed because nobody reads, where SIGPIPE is ignored. */
_Noreturn void xpu_stop_without_reader(void);

void xpu_stop_begin(void);
void xpu_stop_end(void); /* a request that nobody has found ends the process here */

/* In a forked process whose parent looks after the rest: signals end it at once, and it says nothing. */
void xpu_stop_in_child(void);

/* The hook: the signal that was received, or 0. Once it has been found the process has as long as it needs. */
int xpu_stop_requested(void *unused);

/* The exit code for a library's status: 128 + the signal instead of XPU_ESTOPPED. */
int xpu_stop_exit_code(int status);

#endif
