/* What the demonstrations share: how they fail, their device, and the cycles of a run. */
#ifndef EXAMPLES_DEMO_H
#define EXAMPLES_DEMO_H

#include <xpurt.h>

/* Says an error on standard error, of `file` unless that is NULL. Returns `status`. */
int demo_fails(int status, const char *file, const char *rule, const char *what, const char *why, const char *hint);

/* Says the error, if there is one, and clears it. Returns its status. */
int demo_passes_on(xpurt_error *error);

/* The driver of device "func", "rtl" (of the program's chip) or "ref" (NULL). Returns an exit code, 0 without an error,
 * which it says. */
int demo_find_device(const xpurt_program *program, const char *device, const struct xpurt_device_driver **driver);

/* The cycles in the statistics of a run; 0 where there are none. `stats` may be NULL. */
long long demo_cycles(const char *stats);

#endif
