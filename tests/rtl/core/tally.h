/* What the benches of the core and the processor count and measure. */
#ifndef XPU_TESTS_RTL_CORE_TALLY_H
#define XPU_TESTS_RTL_CORE_TALLY_H

#include <stdio.h>
#include <time.h>

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

#endif
