/* xpu-memplan bench: every instance of a folder, for its capacity and for the lowest peak, and what others take; or
 * buffers at random, as many as are asked for. */
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/file.h"
#include "memplan/check.h"
#include "memplan/exact.h"
#include "memplan/file.h"
#include "tools/memplan/memplan.h"

#define FIT_BUDGET      UINT64_C(20000000000) /* the capacity is expected to be possible */
#define MINIMISE_BUDGET UINT64_C(1000000000)

typedef XPU_ARRAY(const char *) path_list;

/* Of this process's one thread, so that others on the machine do not count. */
static double seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

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

typedef XPU_ARRAY(double) number_list;

typedef struct {
    double fit, minimise;     /* seconds */
    number_list first, usual; /* how far above the bound the first plan and the usual one are */
    double slowest_first, slowest_usual;
    uint32_t solved, optimal, count;
    int invalid;
} sums;

static xpu_memplan_item *items_of(xpu_tool *tool, const xpu_memplan_problem *problem) {
    xpu_memplan_item *items = XPU_NEW_ARRAY(tool->arena, xpu_memplan_item, problem->buffer_count + 1);
    for (uint32_t i = 0; i < problem->buffer_count; i++) {
        const xpu_memplan_buffer *b = &problem->buffers[i];
        items[i] =
            (xpu_memplan_item){.id = i, .life = xpu_memplan_life_of(b), .bytes = b->bytes, .alignment = 1, .forced = 1};
    }
    return items;
}

typedef struct {
    double seconds, above; /* of the bound, in per cent */
    uint64_t peak, *offset;
    int valid;
} packing;

/* Offsets as a plan has them, in a level without an end. */
static packing pack(xpu_tool *tool, const xpu_memplan_problem *problem, uint64_t budget) {
    uint32_t n = problem->buffer_count;
    xpu_memplan_item *items = items_of(tool, problem);
    packing p = {.offset = XPU_NEW_ARRAY(tool->arena, uint64_t, n + 1)};
    const uint64_t bound = xpu_memplan_bound(tool->arena, items, n, 0);
    uint64_t steps = 0, proved;
    double start = seconds();
    xpu_memplan_pack(tool->arena, items, n, 0, UINT64_C(1) << 50, budget, &steps, &proved);
    p.seconds = seconds() - start;
    for (uint32_t i = 0; i < n; i++) {
        p.offset[i] = items[i].offset;
        if (p.offset[i] + items[i].bytes > p.peak) p.peak = p.offset[i] + items[i].bytes;
    }
    p.above = bound ? 100.0 * (double)(p.peak - bound) / (double)bound : 0;
    p.valid = is_valid(tool, problem, p.offset, p.peak);
    return p;
}

static int measure(xpu_tool *tool, const char *path, uint64_t bytes, sums *total) {
    xpu_memplan_problem problem;
    int status = (int)xpu_memplan_read(tool->arena, path, bytes, &problem, &tool->diags);
    if (status) return status;
    uint32_t n = problem.buffer_count, worst;
    xpu_memplan_item *items = items_of(tool, &problem);
    uint64_t load = xpu_memplan_load(tool->arena, items, n, 0, &worst), capacity = capacity_of(path, bytes);
    if (!capacity) capacity = load;
    uint64_t *offset = XPU_NEW_ARRAY(tool->arena, uint64_t, n + 1), steps = 0;
    double start = seconds();
    xpu_memplan_exact *exact = xpu_memplan_exact_new(tool->arena, items, n, 0, UINT64_MAX);
    xpu_memplan_verdict verdict =
        exact ? xpu_memplan_exact_fit(exact, capacity, FIT_BUDGET, &steps, offset) : XPU_MEMPLAN_GAVE_UP;
    double fit = seconds() - start;
    uint64_t nodes = exact ? xpu_memplan_exact_nodes(exact) : 0;
    int fits = verdict == XPU_MEMPLAN_FITS, valid = !fits || is_valid(tool, &problem, offset, capacity);

    packing first = pack(tool, &problem, 1), usual = pack(tool, &problem, XPU_MEMPLAN_DEFAULT_BUDGET);
    uint64_t peak = usual.peak;
    start = seconds();
    uint64_t proved =
        exact ? xpu_memplan_exact_minimise(exact, load, MINIMISE_BUDGET, &steps, &peak, usual.offset) : load;
    double minimise = seconds() - start;
    valid = valid && first.valid && usual.valid && is_valid(tool, &problem, usual.offset, peak);
    printf("%-16s %6" PRIu32 " %9" PRIu64 " %9.1f  %-10s %8.2f %7.1f %% %8.1f %7.1f %% %12" PRIu64 " %12" PRIu64
           " %9.1f  %s%s\n",
           xpu_escape(tool->arena, xpu_path_name(path), 60), n, nodes, fit * 1e3,
           fits                                ? "fits"
           : verdict == XPU_MEMPLAN_NEVER_FITS ? "never fits"
                                               : "gave up",
           first.seconds * 1e3, first.above, usual.seconds * 1e3, usual.above, peak, proved, minimise * 1e3,
           peak == proved ? "optimal" : "open", valid ? "" : ", NOT VALID");
    total->fit += fit;
    total->minimise += minimise;
    XPU_PUSH(tool->arena, &total->first, first.above);
    XPU_PUSH(tool->arena, &total->usual, usual.above);
    if (first.seconds > total->slowest_first) total->slowest_first = first.seconds;
    if (usual.seconds > total->slowest_usual) total->slowest_usual = usual.seconds;
    total->solved += fits ? 1u : 0u;
    total->optimal += peak == proved;
    total->invalid |= !valid;
    total->count++;
    return XPU_OK;
}

static int by_size(const void *a, const void *b) {
    const double *x = a, *y = b;
    return *x < *y ? -1 : *x > *y;
}

static double median(number_list *numbers) {
    qsort(numbers->items, numbers->count, sizeof *numbers->items, by_size);
    return numbers->items[numbers->count / 2];
}

/* ---- buffers at random ---- */

static uint32_t random_below(uint64_t *state, uint32_t limit) {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return (uint32_t)((*state >> 20) % limit);
}

/* X(name, steps of a life, units of 64 bytes) */
#define RANDOM_KINDS(X)                                                                                                \
    X("lives up to 40 steps", 1 + random_below(state, 40), 1 + random_below(state, 1000))                              \
    X("lives up to 300 steps", 1 + random_below(state, 300), 1 + random_below(state, 200))                             \
    X("few long lives, few large", 1 + random_below(state, 2u << random_below(state, 9)),                              \
      1 + random_below(state, 2u << random_below(state, 11)))                                                          \
    X("40 steps, a gap in each life", 1 + random_below(state, 40), 1 + random_below(state, 1000))

static uint32_t random_number(uint64_t *state, uint32_t kind, int of_bytes) {
    uint32_t number = 0, at = 0;
#define X(name, steps, units)                                                                                          \
    if (at++ == kind) number = of_bytes ? (units) : (steps);
    RANDOM_KINDS(X)
#undef X
    return number;
}

/* In the last kind each life of three steps or more has a gap of a third of it. */
static void set_gap(xpu_tool *tool, xpu_memplan_buffer *buffer) {
    const uint32_t third = (buffer->last - buffer->first + 1) / 3;
    if (!third) return;
    xpu_memplan_steps *gap = XPU_NEW(tool->arena, xpu_memplan_steps);
    *gap = (xpu_memplan_steps){buffer->first + third, buffer->first + 2 * third - 1};
    buffer->gaps = gap;
    buffer->gap_count = 1;
}

/* One begins in each step, on the average. */
static int measure_random(xpu_tool *tool, uint32_t count) {
    static const char *const names[] = {
#define X(name, steps, units) name,
        RANDOM_KINDS(X)
#undef X
    };
    int invalid = 0;
    printf("%-28s %7s %9s %10s %12s\n", "buffers at random", "count", "ms", "above", "peak");
    for (uint32_t kind = 0; kind < sizeof names / sizeof *names; kind++) {
        uint64_t state = UINT64_C(0x9e3779b97f4a7c15) + kind;
        xpu_memplan_level *level = XPU_NEW(tool->arena, xpu_memplan_level);
        xpu_memplan_buffer *buffers = XPU_NEW_ARRAY(tool->arena, xpu_memplan_buffer, count);
        level->name = "memory";
        for (uint32_t i = 0; i < count; i++) {
            buffers[i].first = random_below(&state, count);
            buffers[i].last = buffers[i].first + random_number(&state, kind, 0) - 1;
            buffers[i].bytes = 64 * (uint64_t)random_number(&state, kind, 1);
            buffers[i].level_count = 1;
            if (kind + 1 == sizeof names / sizeof *names) set_gap(tool, &buffers[i]);
        }
        xpu_memplan_problem problem = {
            .levels = level, .level_count = 1, .buffers = buffers, .buffer_count = count, .file = "random"};
        packing p = pack(tool, &problem, XPU_MEMPLAN_DEFAULT_BUDGET);
        printf("%-28s %7" PRIu32 " %9.1f %8.2f %% %12" PRIu64 "%s\n", names[kind], count, p.seconds * 1e3, p.above,
               p.peak, p.valid ? "" : "  NOT VALID");
        invalid |= !p.valid;
    }
    return invalid ? XPU_EBUG : XPU_OK;
}

/* What runs beside it, where it is installed: the same instances at the same capacities, its own clock. */
static const char omnimalloc[] =
    "import csv, os, sys, time\n"
    "from omnimalloc import Allocation\n"
    "from omnimalloc._cpp import Partition, try_solve_many\n"
    "total, solved, threads = 0.0, 0, int(sys.argv[1])\n"
    "for path in sys.argv[2:]:\n"
    "    rows = csv.DictReader(open(path))\n"
    "    buffers = tuple(Allocation(id=i, size=int(r['size']), start=int(r['lower']), end=int(r['upper']))\n"
    "                    for i, r in enumerate(rows))\n"
    "    bound = int(os.path.basename(path).split('.')[1]) + 1\n"
    "    begin = time.perf_counter()\n"
    "    base = Partition.from_allocations(buffers)\n"
    "    orders = [base.reorder(o).with_bound(bound) for o in ('TWA', 'TAW', 'WAT')]\n"
    "    found = try_solve_many(orders, bound, None, True, True, True, True, True, timeout=10, num_threads=threads)\n"
    "    total += time.perf_counter() - begin\n"
    "    solved += found is not None\n"
    "print(f'{solved} of {len(sys.argv) - 2} at capacity in {total * 1e3:.1f} ms')\n";

static void say_line(const char *name, const char *text) {
    printf("%-24s %.*s\n", name, (int)strcspn(text, "\n"), text);
}

/* The solver of omnimalloc with its three orders. */
static int measure_omnimalloc(xpu_tool *tool, const path_list *paths, uint32_t threads) {
    const char *python = getenv("PYTHON");
    const char **argv = XPU_NEW_ARRAY(tool->arena, const char *, (size_t)paths->count + 5);
    argv[0] = python && *python ? python : "python3";
    argv[1] = "-c";
    argv[2] = omnimalloc;
    argv[3] = xpu_printf(tool->arena, "%" PRIu32, threads);
    memcpy(argv + 4, paths->items, paths->count * sizeof *argv);
    xpu_child child;
    fflush(stdout);
    xpu_status status = xpu_child_run(tool->arena, argv, 900, &child, &tool->diags);
    if (status != XPU_OK && child.found) return (int)status;
    int ran = status == XPU_OK && child.exit_code == 0;
    say_line(xpu_printf(tool->arena, "omnimalloc, %" PRIu32 " threads:", threads),
             ran ? xpu_escape(tool->arena, xpu_strndup(tool->arena, child.output, strcspn(child.output, "\n")), 200)
                 : "not measured: $PYTHON (python3) has none");
    return XPU_OK;
}

static int measure_minimalloc(xpu_tool *tool, const path_list *paths) {
    xpu_child child;
    xpu_status status;
    double time = 0;
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
        time += child.seconds;
        solved += child.exit_code == 0;
    }
    say_line("minimalloc, 1 thread:", xpu_printf(tool->arena, "%" PRIu32 " of %" PRIu32 " at capacity in %.1f ms",
                                                 solved, paths->count, time * 1e3));
    return XPU_OK;
}

static int measure_folder(xpu_tool *tool, const char *folder) {
    path_list paths = {0};
    sums total = {0};
    uint64_t bytes;
    int status = xpu_memplan_number(tool, "bytes", &bytes);
    if (!status) status = list_instances(tool, folder, &paths);
    if (status) return status;
    printf("%-16s %6s %9s %9s  %-10s %8s %9s %8s %9s %12s %12s %9s\n", "instance", "items", "nodes", "ms", "capacity",
           "first ms", "above", "plan ms", "above", "peak", "bound", "ms");
    for (uint32_t i = 0; i < paths.count && !status; i++) status = measure(tool, paths.items[i], bytes, &total);
    if (status) return status;
    printf("%-24s %" PRIu32 " of %" PRIu32 " at capacity in %.1f ms, %" PRIu32 " optimal in %.1f ms\n",
           "xpu-memplan, 1 thread:", total.solved, total.count, total.fit * 1e3, total.optimal, total.minimise * 1e3);
    printf("%-24s first plan in at most %.1f ms, median %.1f %% above the bound; usual plan in at most %.1f ms, median "
           "%.1f %%\n",
           "", total.slowest_first * 1e3, median(&total.first), total.slowest_usual * 1e3, median(&total.usual));
    for (uint32_t threads = 2; threads <= 3 && !status; threads++) status = measure_omnimalloc(tool, &paths, threads);
    if (!status) status = measure_minimalloc(tool, &paths);
    return status ? status : total.invalid ? XPU_EBUG : XPU_OK;
}

int xpu_memplan_bench_command(xpu_tool *tool) {
    const char *word = xpu_tool_word(tool, 1);
    char *end;
    unsigned long count = strtoul(word, &end, 10);
    if (end == word || *end) return measure_folder(tool, word);
    if (count < 1 || count > XPU_MEMPLAN_MAX_BUFFERS) {
        return xpu_tool_usage(tool, "bench", "there cannot be as many buffers",
                              xpu_printf(tool->arena, "%s is not from 1 to 1048576", xpu_escape(tool->arena, word, 40)),
                              "name how many buffers at random, or a folder of instances (./NAME)");
    }
    return measure_random(tool, (uint32_t)count);
}
