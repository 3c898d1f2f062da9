/*
 * What must not outlive the process: temporary files and folders, and groups of child processes. They are noted here
 * while they exist, so that a signal handler can end them without the arenas. Safe between threads; a forked child
 * leaves its parent's alone.
 */
#ifndef XPU_BASE_TEMPORARY_H
#define XPU_BASE_TEMPORARY_H

#include <signal.h>
#include <sys/types.h>

typedef struct xpu_temporary xpu_temporary;

/* Notes a file, a folder with all that is in it, or a process group. NULL, nothing is noted: no memory, or the path is
 * too long. */
xpu_temporary *xpu_temporary_file(const char *path);
xpu_temporary *xpu_temporary_tree(const char *path);
xpu_temporary *xpu_temporary_group(pid_t group);
/* It is gone, or stays for good. NULL is allowed. */
void xpu_temporary_forget(xpu_temporary *temporary);

/* Kills every noted group and removes every noted file and folder. Async-signal-safe; nothing may be noted after it. */
void xpu_temporaries_end(void);

/* Removes a folder and what is in it, or a file; links are removed, not followed. Async-signal-safe. */
void xpu_remove_tree(const char *path);

/* No signal handler runs in this thread between the two: what is made is noted before one looks. */
void xpu_signals_hold(sigset_t *before);
void xpu_signals_release(const sigset_t *before);

#endif
