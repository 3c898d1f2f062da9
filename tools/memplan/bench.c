/* xpu-memplan bench: every instance of a folder, for its capacity and for the lowest peak, and what others take. */
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "memplan/check.h"
#include "memplan/exact.h"
#include "memplan/file.h"
#include "tools/memplan/memplan.h"

#define FIT_BUDGET      UINT64_C(20000000000) /* the capacity is expected to be possible */
#define MINIMISE_BUDGET UINT64_C(1000000000)

typedef XPU_ARRAY(const char *) path_list;

static int is_instance(const char *name) {
    size_t length = strlen(name);
    return length > 4 && name[0] != '.' && strcmp(name + length - 4, ".csv") == 0;
}

static int by_name(const void *a, const void *b) {
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static int list_instances(xpu_tool *tool, const char *folder, path_list *paths) {
    DIR *handle = opendir(folder);
    if (!handle) {
        return (int)xpu_error(&tool->diags, XPU_EIO, folder, "io-open", NULL, "the folder cannot be opened",
                              strerror(errno), "name a folder of .csv instances");
    }
    for (struct dirent *entry; (entry = readdir(handle));) {
        if (is_instance(entry->d_name))
            XPU_PUSH(tool->arena, paths, xpu_path_join(tool->arena, folder, xpu_strdup(tool->arena, entry->d_name)));
    }
    closedir(handle);
    if (!paths->count) {
        return xpu_tool_usage(tool, xpu_tool_path(tool, folder), "there is nothing to measure",
                              "the folder holds no .csv file", "name a folder of instances: id,lower,upper,size");
    }
    qsort(paths->items, paths->count, sizeof *paths->items, by_name);
    return XPU_OK;
}

/* NAME.CAPACITY.csv; without a number, the capacity is `otherwise`. */
static uint64_t capacity_of(const char *path, uint64_t otherwise) {
    const char *dot = strchr(xpu_path_name(path), '.');
    char *end;
    unsigned long long number = dot ? strtoull(dot + 1, &end, 10) : 0;
    return number && strcmp(end, ".csv") == 0 ? number : otherwise;
}

/* The validator judges the offsets as a plan of a level of `bytes`. */
static int is_valid(xpu_tool *tool, const xpu_memplan_problem *problem, const uint64_t *offset, uint64_t bytes) {
    xpu_memplan_level level = problem->levels[0];
    xpu_memplan_problem bounded = *problem;
    xpu_memplan_usage usage;
    xpu_memplan_place *places = XPU_NEW_ARRAY(tool->arena, xpu_memplan_place, problem->buffer_count + 1);
    level.bytes = bytes;
    bounded.levels = &level;
    for (uint32_t i = 0; i < problem->buffer_count; i++) {
        places[i] = (xpu_memplan_place){.offset = offset[i], .alias = XPU_MEMPLAN_NONE, .alias_of = XPU_MEMPLAN_NONE};
    }
    xpu_memplan_measure(tool->arena, &bounded, places, &usage);
    xpu_memplan plan = {.places = places, .buffer_count = problem->buffer_count, .usage = &usage, .level_count = 1};
    return xpu_memplan_check(tool->arena, &bounded, &plan, &tool->diags) == XPU_OK;
}

typedef struct {
    double fit, minimise, first; /* seconds */
    uint32_t solved, optimal, count;
    int invalid;
} sums;

static int measure(xpu_tool *tool, const char *path, uint64_t bytes, sums *total) {
    xpu_memplan_problem problem;
    int status = (int)xpu_memplan_read(tool->arena, path, bytes, &problem, &tool->diags);
    if (status) return status;
    uint32_t n = problem.buffer_count, worst;
    xpu_memplan_item *items = XPU_NEW_ARRAY(tool->arena, xpu_memplan_item, n + 1);
    for (uint32_t i = 0; i < n; i++) {
        const xpu_memplan_buffer *b = &problem.buffers[i];
        items[i] = (xpu_memplan_item){
            .id = i, .first = b->first, .last = b->last, .bytes = b->bytes, .alignment = 1, .forced = 1};
    }
    uint64_t load = xpu_memplan_load(tool->arena, items, n, 0, &worst), capacity = capacity_of(path, bytes);
    if (!capacity) capacity = load;
    uint64_t *offset = XPU_NEW_ARRAY(tool->arena, uint64_t, n + 1), steps = 0, nothing;
    double start = xpu_seconds();
    xpu_memplan_exact *exact = xpu_memplan_exact_new(tool->arena, items, n, 0, UINT64_MAX);
    xpu_memplan_verdict verdict =
        exact ? xpu_memplan_exact_fit(exact, capacity, FIT_BUDGET, &steps, offset) : XPU_MEMPLAN_GAVE_UP;
    double fit = xpu_seconds() - start;
    uint64_t nodes = exact ? xpu_memplan_exact_nodes(exact) : 0, peak;
    int fits = verdict == XPU_MEMPLAN_FITS, valid = !fits || is_valid(tool, &problem, offset, capacity);

    start = xpu_seconds();
    xpu_memplan_pack(tool->arena, items, n, 0, UINT64_C(1) << 50, 1, &steps, &nothing);
    double first = xpu_seconds() - start;
    for (uint32_t i = 0; i < n; i++) offset[i] = items[i].offset;
    peak = 0;
    for (uint32_t i = 0; i < n; i++) peak = offset[i] + items[i].bytes > peak ? offset[i] + items[i].bytes : peak;
    double above = load ? 100.0 * (double)(peak - load) / (double)load : 0;
    start = xpu_seconds();
    uint64_t proved = exact ? xpu_memplan_exact_minimise(exact, load, MINIMISE_BUDGET, &steps, &peak, offset) : load;
    double minimise = xpu_seconds() - start;
    valid = valid && is_valid(tool, &problem, offset, peak);
    printf("%-16s %6" PRIu32 " %9" PRIu64 " %9.1f  %-10s %8.2f %7.1f %% %12" PRIu64 " %12" PRIu64 " %9.1f  %s%s\n",
           xpu_escape(tool->arena, xpu_path_name(path), 60), n, nodes, fit * 1e3,
           fits                                ? "fits"
           : verdict == XPU_MEMPLAN_NEVER_FITS ? "never fits"
                                               : "gave up",
           first * 1e3, above, peak, proved, minimise * 1e3, peak == proved ? "optimal" : "open",
           valid ? "" : ", NOT VALID");
    total->fit += fit;
    total->first += first;
    total->minimise += minimise;
    total->solved += fits ? 1u : 0u;
    total->optimal += peak == proved;
    total->invalid |= !valid;
    total->count++;
    return XPU_OK;
}

/* What runs beside it, where it is installed: the same instances at the same capacities, its own clock. */
static const char omnimalloc[] =
    "import csv, os, sys, time\n"
    "from omnimalloc import Allocation\n"
    "from omnimalloc._cpp import Partition, try_solve_many\n"
    "total, solved = 0.0, 0\n"
    "for path in sys.argv[1:]:\n"
    "    rows = csv.DictReader(open(path))\n"
    "    buffers = tuple(Allocation(id=i, size=int(r['size']), start=int(r['lower']), end=int(r['upper']))\n"
    "                    for i, r in enumerate(rows))\n"
    "    bound = int(os.path.basename(path).split('.')[1]) + 1\n"
    "    begin = time.perf_counter()\n"
    "    base = Partition.from_allocations(buffers)\n"
    "    orders = [base.reorder(o).with_bound(bound) for o in ('TWA', 'TAW', 'WAT')]\n"
    "    found = try_solve_many(orders, bound, None, True, True, True, True, True, timeout=10, num_threads=2)\n"
    "    total += time.perf_counter() - begin\n"
    "    solved += found is not None\n"
    "print(f'{solved} of {len(sys.argv) - 1} at capacity in {total * 1e3:.1f} ms')\n";

static void say_line(const char *name, const char *text) {
    printf("%-24s %.*s\n", name, (int)strcspn(text, "\n"), text);
}

static int measure_others(xpu_tool *tool, const path_list *paths) {
    const char *python = getenv("PYTHON");
    const char **argv = XPU_NEW_ARRAY(tool->arena, const char *, (size_t)paths->count + 4);
    argv[0] = python && *python ? python : "python3";
    argv[1] = "-c";
    argv[2] = omnimalloc;
    memcpy(argv + 3, paths->items, paths->count * sizeof *argv);
    xpu_child child;
    fflush(stdout);
    xpu_status status = xpu_child_run(tool->arena, argv, 900, &child, &tool->diags);
    if (status != XPU_OK && child.found) return (int)status;
    int ran = status == XPU_OK && child.exit_code == 0;
    say_line("omnimalloc, 2 threads:",
             ran ? xpu_escape(tool->arena, xpu_strndup(tool->arena, child.output, strcspn(child.output, "\n")), 200)
                 : "not measured: $PYTHON (python3) has none");
    double seconds = 0;
    uint32_t solved = 0;
    for (uint32_t i = 0; i < paths->count; i++) {
        const char *run[] = {
            "minimalloc",         xpu_printf(tool->arena, "--input=%s", paths->items[i]),
            "--output=/dev/null", xpu_printf(tool->arena, "--capacity=%" PRIu64, capacity_of(paths->items[i], 0)),
            "--timeout=60s",      NULL};
        status = xpu_child_run(tool->arena, run, 90, &child, &tool->diags);
        if (!child.found) {
            say_line("minimalloc, 1 thread:", "not measured: there is no such program");
            return XPU_OK;
        }
        if (status != XPU_OK) return (int)status;
        seconds += child.seconds;
        solved += child.exit_code == 0;
    }
    say_line("minimalloc, 1 thread:", xpu_printf(tool->arena, "%" PRIu32 " of %" PRIu32 " at capacity in %.1f ms",
                                                 solved, paths->count, seconds * 1e3));
    return XPU_OK;
}

int xpu_memplan_bench_command(xpu_tool *tool) {
    path_list paths = {0};
    sums total = {0};
    uint64_t bytes;
    int status = xpu_memplan_number(tool, "bytes", &bytes);
    if (!status) status = list_instances(tool, xpu_tool_word(tool, 1), &paths);
    if (status) return status;
    printf("%-16s %6s %9s %9s  %-10s %8s %9s %12s %12s %9s\n", "instance", "items", "nodes", "ms", "capacity",
           "first ms", "above", "peak", "bound", "ms");
    for (uint32_t i = 0; i < paths.count && !status; i++) status = measure(tool, paths.items[i], bytes, &total);
    if (status) return status;
    printf("%-24s %" PRIu32 " of %" PRIu32 " at capacity in %.1f ms, %" PRIu32 " optimal in %.1f ms\n",
           "xpu-memplan, 1 thread:", total.solved, total.count, total.fit * 1e3, total.optimal, total.minimise * 1e3);
    status = measure_others(tool, &paths);
    return status ? status : total.invalid ? XPU_EBUG : XPU_OK;
}
