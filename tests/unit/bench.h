/* What tests of code with arenas and diagnostics share: both, and a temporary folder. */
#ifndef XPU_TESTS_BENCH_H
#define XPU_TESTS_BENCH_H

#include <stdlib.h>

#include "base/diag.h"
#include "base/file.h"

typedef struct {
    xpu_mem mem;
    xpu_arena *arena;
    xpu_diags diags;
    char *folder;
} bench;

/* Declares bench `b`; bench_close(&b) ends it. A test that runs out of memory ends the program. */
#define BENCH_OPEN(b)                                                                                                  \
    bench b;                                                                                                           \
    xpu_mem_init(&b.mem);                                                                                              \
    if (setjmp(b.mem.out_of_memory)) exit(EXIT_FAILURE);                                                               \
    b.arena = xpu_arena_new(&b.mem, "test");                                                                           \
    xpu_diags_init(&b.diags);                                                                                          \
    b.folder = xpu_temporary_folder(b.arena, &b.diags)

static inline void bench_close(bench *b) {
    xpu_diags_clear(&b->diags);
    xpu_mem_release(&b->mem);
}

static inline void with_bench(void (*work)(bench *b)) {
    BENCH_OPEN(b);
    work(&b);
    bench_close(&b);
}

#endif
