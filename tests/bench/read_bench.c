/*
 * read_bench MODEL [MILLISECONDS MEGABYTES]: reads a PaddlePaddle model into a graph again and again. Prints processor
 * milliseconds of the fastest reading, and by how much the first one makes the process larger at most. Fails where one
 * of them is above what is allowed.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>

#include "frontend/paddle/paddle.h"

enum { RUNS = 40 };

typedef struct {
    double milliseconds, megabytes;
} reading;

static double processor_milliseconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return 1e3 * (double)now.tv_sec + 1e-6 * (double)now.tv_nsec;
}

/* The process at its largest, all that it has touched. */
static double megabytes(void) {
    struct rusage usage = {0};
    getrusage(RUSAGE_SELF, &usage);
    return (double)usage.ru_maxrss * 1024 / 1e6;
}

/* 0 after saying what is wrong. */
static int read_once(const char *path, reading *made) {
    xpu_mem mem;
    xpu_diags diags;
    xpu_graph *graph = NULL;
    xpu_mem_init(&mem);
    xpu_diags_init(&diags);
    if (setjmp(mem.out_of_memory)) abort();
    const double before = megabytes(), began = processor_milliseconds();
    xpu_paddle_import(xpu_arena_new(&mem, "model"), path, NULL, &graph, &diags);
    *made = (reading){processor_milliseconds() - began, megabytes() - before};
    if (!graph) fprintf(stderr, "%s cannot be read\n", path);
    xpu_mem_release(&mem);
    xpu_diags_clear(&diags);
    return graph != NULL;
}

int main(int argc, char **argv) {
    reading best = {0}, made;
    if (argc != 2 && argc != 4) {
        fprintf(stderr, "usage: read_bench MODEL [MILLISECONDS MEGABYTES]\n");
        return 2;
    }
    for (int i = 0; i < RUNS; i++) {
        if (!read_once(argv[1], &made)) return EXIT_FAILURE;
        if (!i || made.milliseconds < best.milliseconds) best.milliseconds = made.milliseconds;
        if (!i) best.megabytes = made.megabytes;
    }
    printf("%.2f ms, %.2f MB\n", best.milliseconds, best.megabytes);
    return argc == 4 && (best.milliseconds > strtod(argv[2], NULL) || best.megabytes > strtod(argv[3], NULL));
}
