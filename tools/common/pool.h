/*
 * Jobs in processes of their own, some at a time. What they say arrives in the order of the jobs, whichever ends first:
 * that of the first job that has not ended at once, that of others when it is their turn.
 */
#ifndef XPU_TOOLS_POOL_H
#define XPU_TOOLS_POOL_H

#include "base/diag.h"

enum { XPU_POOL_MAX = 256 }; /* jobs at a time */

typedef struct {
    uint32_t jobs, parallel;
    void *context;
    /* In the job's process, which ends when this returns. It has a copy of the caller's memory, but must allocate from
     * an xpu_mem of its own. `pipe` is for xpu_pool_send. */
    void (*work)(void *context, uint32_t job, int pipe);
    /* In the caller's process: a message of this job; the bytes are aligned to 64. */
    void (*message)(void *context, uint32_t job, const void *bytes, size_t length);
    /* The job has ended, its work done: both are 0; else by a signal, or with an exit code. Not called once the caller
     * wants to stop. */
    void (*ended)(void *context, uint32_t job, int signal, int code);
} xpu_pool;

/* Runs all jobs. Errors are [child-process]. Unwinding ends the jobs that run; so does the end of the caller. */
xpu_status xpu_pool_run(xpu_arena *arena, const xpu_pool *pool, xpu_diags *diags);

/* Sends a message to the caller; 0 when there is nobody to take it. */
int xpu_pool_send(int pipe, const void *bytes, size_t length);

#endif
