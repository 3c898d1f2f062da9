/*
 * Allocation N fails, for every N of a piece of work: each time the work has to end in an error, hold no memory and
 * leave no file open. What is left over beyond that (jansson, zlib, children) is for LeakSanitizer and the caller.
 */
#ifndef XPU_TESTS_OOM_H
#define XPU_TESTS_OOM_H

#include <CUnit/CUnit.h>
#include <dirent.h>

#include "base/diag.h"

typedef xpu_status (*xpu_work)(xpu_arena *arena, xpu_diags *diags);

/* Runs the work behind an API boundary of its own; the arena is released. */
static inline xpu_status xpu_run_work(xpu_work work, xpu_diags *diags) {
    xpu_mem mem;
    xpu_mem_init(&mem);
    xpu_status status;
    if (setjmp(mem.out_of_memory)) {
        xpu_mem_release(&mem);
        CU_ASSERT_EQUAL(mem.bytes, 0);
        return xpu_error_oom(diags);
    }
    status = work(xpu_arena_new(&mem, "work"), diags);
    xpu_mem_release(&mem);
    CU_ASSERT_EQUAL(mem.bytes, 0);
    CU_ASSERT_PTR_NULL(mem.arenas);
    return status;
}

static inline int xpu_open_files(void) {
    DIR *folder = opendir("/proc/self/fd");
    int count = 0;
    while (folder && readdir(folder)) count++;
    if (folder) closedir(folder);
    return count;
}

/* Returns how many allocations the work makes. Every `step`-th of them is made to fail. */
static inline unsigned long xpu_fail_each_allocation(xpu_work work, unsigned long step) {
    xpu_diags diags;
    xpu_diags_init(&diags);
    int files = xpu_open_files();
    xpu_alloc_fail_at(0);
    CU_ASSERT_EQUAL(xpu_run_work(work, &diags), XPU_OK);
    unsigned long count = xpu_alloc_fail_at(0);
    for (size_t i = 0; i < diags.count; i++) xpu_diags_print(&diags, stderr);
    xpu_diags_clear(&diags);
    for (unsigned long n = 1; n <= count; n += step) {
        xpu_alloc_fail_at(n);
        xpu_status status = xpu_run_work(work, &diags);
        xpu_alloc_fail_at(0);
        int reported = diags.errors > 0 && xpu_diags_status(&diags) != XPU_OK;
        if (status == XPU_OK || !reported) fprintf(stderr, "allocation %lu of %lu failed without an error\n", n, count);
        CU_ASSERT_NOT_EQUAL(status, XPU_OK);
        CU_ASSERT(reported);
        xpu_diags_clear(&diags);
    }
    CU_ASSERT_EQUAL(xpu_open_files(), files);
    return count;
}

#endif
