/* What the benches of the core and the processor count, measure and print. */
#ifndef XPU_TESTS_RTL_CORE_TALLY_H
#define XPU_TESTS_RTL_CORE_TALLY_H

#include <stdio.h>
#include <time.h>

#include "core/chip.h"
#include "tests/rtl/core/bench.h"

static unsigned passed, failed;

static inline void count(int good, const char *name) {
    if (good) {
        passed++;
    } else {
        failed++;
        printf("failed: %s\n", name);
    }
}

static inline double seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static inline bench_result run_elf(const char *path, const bench_options *options) {
    uint32_t entry = bench_elf_program(path);
    bench_result none = {0};
    if (!entry) {
        printf("%s: not a program\n", path);
        return none;
    }
    return bench_run(entry, options);
}

static inline void print_vectors(uint64_t count) {
    if (count) printf(", %llu of them vector", (unsigned long long)count);
}

static inline void elf_programs(char **paths, int n) {
    uint64_t instructions = 0, vectors = 0;
    for (int i = 0; i < n; i++) {
        bench_options options = {.lockstep = 1, .seed = i & 1 ? 77 + (uint64_t)i : 0};
        bench_result result = run_elf(paths[i], &options);
        instructions += result.instructions;
        vectors += result.vectors;
        if (result.exit_status) printf("%s: exit status %08x\n", paths[i], result.exit_status);
        count(result.equal && result.cause == 0 && result.exit_status == 0, paths[i]);
    }
    printf("programs: %d, %llu instructions", n, (unsigned long long)instructions);
    print_vectors(vectors);
    putchar('\n');
}

static inline void print_result(const bench_result *result) {
    printf("%llu instructions", (unsigned long long)result->instructions);
    print_vectors(result->vectors);
    printf(", %llu cycles (%.2f a cycle), exit status %08x%s%s\n", (unsigned long long)result->cycles,
           (double)result->instructions / (double)result->cycles, result->exit_status, result->cause ? ", fault: " : "",
           result->cause ? xpu_fault_text((xpu_fault_cause)result->cause) : "");
    for (unsigned i = 0; i < XPU_LOST_COUNT; i++)
        if (result->lost[i])
            printf("  %5.1f %% %s\n", 100.0 * (double)result->lost[i] / (double)result->cycles,
                   xpu_lost_text((xpu_lost_cause)i));
}

#endif
