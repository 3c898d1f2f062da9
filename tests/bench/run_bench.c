/*
 * run_bench PROGRAM.xpu INPUTS.npz SECONDS: runs a program again and again on the functional chip, in one session,
 * until the runs have taken so many seconds of processor time, at least three times. Prints processor seconds of the
 * first run and of the fastest one behind it, and multiply-accumulates of a run.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/json.h"
#include "base/npy.h"
#include "sim/func/driver.h"
#include "xpu_runtime/include/xpurt.h"

enum { MOST_TENSORS = 64, LEAST_RUNS = 3 };

static double processor_seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* One run. Returns its processor seconds, below 0 after a failure. */
static double run_once(xpurt_session *session, const xpurt_tensor *inputs, uint32_t count, uint32_t outputs,
                       char **stats) {
    xpurt_tensor results[MOST_TENSORS];
    xpurt_error error = {0};
    const xpurt_run_options options = {.device = &xpu_func_driver, .stats = stats};
    double before = processor_seconds();
    int status = xpurt_session_run(session, inputs, count, results, &options, &error);
    double seconds = processor_seconds() - before;
    if (status) fprintf(stderr, "%s", error.text ? error.text : "the run failed\n");
    for (uint32_t i = 0; !status && i < outputs; i++) xpurt_tensor_clear(&results[i]);
    xpurt_error_clear(&error);
    return status ? -1 : seconds;
}

static int measure(xpurt_program *program, const xpurt_tensor *inputs, uint32_t count, double seconds) {
    const xpurt_run_options options = {.device = &xpu_func_driver};
    xpurt_session *session = xpurt_session_open(program, &options, NULL);
    uint32_t outputs = xpurt_output_count(program);
    char *stats = NULL;
    if (!session || outputs > MOST_TENSORS) return 0;
    double first = run_once(session, inputs, count, outputs, &stats), best = 1e9, sum = 0, last = first;
    for (int runs = 1; last >= 0 && (runs < LEAST_RUNS || sum < seconds); runs++) {
        last = run_once(session, inputs, count, outputs, NULL);
        if (last < best) best = last;
        sum += last;
    }
    xpurt_session_close(session);
    json_t *top = stats ? json_loads(stats, 0, NULL) : NULL;
    if (last >= 0) printf("%.6f %.6f %lld\n", first, best, (long long)json_integer_value(json_object_get(top, "macs")));
    json_decref(top);
    free(stats);
    return last >= 0;
}

int main(int argc, char **argv) {
    if (argc != 4) {
        fprintf(stderr, "usage: run_bench PROGRAM.xpu INPUTS.npz SECONDS\n");
        return XPU_EUSAGE;
    }
    xpu_mem mem;
    xpu_diags diags;
    xpu_diags_init(&diags);
    xpu_mem_init(&mem);
    if (setjmp(mem.out_of_memory)) return XPU_EIO;
    xpu_arena *arena = xpu_arena_new(&mem, "bench");
    xpu_named_tensors read = {0};
    xpurt_tensor inputs[MOST_TENSORS];
    xpurt_error error = {0};
    int good = 0;
    xpurt_program *program = xpurt_open(argv[1], &error);
    if (program && xpu_npz_read(arena, argv[2], &read, &diags) == XPU_OK && read.count <= MOST_TENSORS) {
        for (uint32_t i = 0; i < read.count; i++) {
            const xpu_tensor *from = &read.items[i].tensor;
            inputs[i] = (xpurt_tensor){.name = *read.items[i].name ? read.items[i].name : NULL,
                                       .dtype = xpu_dtype_name(from->dtype),
                                       .rank = (int)from->rank,
                                       .data = from->data};
            for (int d = 0; d < from->rank; d++) inputs[i].dims[d] = from->dims[d];
        }
        good = measure(program, inputs, read.count, strtod(argv[3], NULL));
    }
    if (error.text) fputs(error.text, stderr);
    xpurt_error_clear(&error);
    xpurt_close(program);
    xpu_diags_print(&diags, stderr);
    xpu_mem_release(&mem);
    xpu_diags_clear(&diags);
    return good ? 0 : 1;
}
