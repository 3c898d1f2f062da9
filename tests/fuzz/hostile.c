/*
 * hostile [--count=N] [--first=SEED] [--jobs=N] [--verbose] [KIND...]: feeds N files of each kind. Files are fed in
 * process; the process is a child of this one, so that a signal, a sanitizer's report or ten seconds of processor time
 * without an end are reported with the case that caused them, and the rest goes on. So is a case that allocates more
 * than 256 MiB beyond what its kind says that the file declares.
 *
 * hostile --allocations: every allocation of a compilation and of a run fails once.
 *
 * hostile --fields: whether some seed has each field of a program's metadata.
 *
 * hostile KIND SEED [FILE]: one case again, in this very process (for a debugger); FILE keeps its bytes.
 */
#include "tests/fuzz/hostile.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/statvfs.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"

static const hostile_kind *const kinds[] = {
    &hostile_model,     &hostile_npy,     &hostile_npz,       &hostile_program, &hostile_chip,      &hostile_rules,
    &hostile_regress,   &hostile_picture, &hostile_precision, &hostile_shape,   &hostile_cost,      &hostile_inputs,
    &hostile_outputs,   &hostile_names,   &hostile_signals,   &hostile_changed, &hostile_operators, &hostile_calls,
    &hostile_control,   &hostile_steps,   &hostile_state,     &hostile_sizes,   &hostile_frames,    &hostile_dumps,
    &hostile_arguments, &hostile_pdmodel, &hostile_pir,       &hostile_params,  &hostile_ranges,    &hostile_convert,
    &hostile_csv,       &hostile_problem, &hostile_plan,      &hostile_view};
enum { KINDS = sizeof kinds / sizeof *kinds, SECONDS = 10, MEGABYTES = 256, MAX_PROBLEMS = 20, MEMORY_ROOM = 1024 };

/* Sizes that a file made up must be refused for, not the machine's. Freed memory is kept for a while only: a tool that
 * is started counts what this process holds as its own until it is another program. */
__attribute__((visibility("default"))) const char *__asan_default_options(void);
const char *__asan_default_options(void) {
    return "allocator_may_return_null=1:max_allocation_size_mb=2048:detect_leaks=1:abort_on_error=0:exitcode=99:"
           "quarantine_size_mb=32";
}

__attribute__((visibility("default"))) const char *__ubsan_default_options(void);
const char *__ubsan_default_options(void) {
    return "print_stacktrace=1";
}

/* ---- the scratch folder ---- */

static char folder[64];

const char *hostile_folder(void) {
    return folder;
}

const char *hostile_save(const hostile_file *file, const char *extension) {
    static char path[128];
    snprintf(path, sizeof path, "%s/file%d%s", folder, (int)getpid(), extension);
    FILE *stream = fopen(path, "wb");
    if (!stream || fwrite(file->data, 1, file->size, stream) != file->size || fclose(stream) != 0) {
        perror(path);
        exit(EXIT_FAILURE);
    }
    return path;
}

/* In memory where there is room: what a disk does about a file that is written anew takes longer than most cases. */
static void make_folder(void) {
    static const char in_memory[] = "/dev/shm", on_disk[] = "/tmp";
    struct statvfs system;
    int has_room = statvfs(in_memory, &system) == 0 && access(in_memory, W_OK | X_OK) == 0 &&
                   (uint64_t)system.f_bavail * system.f_frsize >= (uint64_t)MEMORY_ROOM << 20;
    snprintf(folder, sizeof folder, "%s/xpu-hostile-XXXXXX", has_room ? in_memory : on_disk);
    if (!mkdtemp(folder)) {
        perror(folder);
        exit(EXIT_FAILURE);
    }
}

static void remove_folder(void) {
    char command[128];
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    if (system(command) != 0) perror(folder);
}

/* ---- memory: what a case allocates at most, as the sanitizer counts it ---- */

int __sanitizer_install_malloc_and_free_hooks(void (*)(const volatile void *, size_t), void (*)(const volatile void *))
    __attribute__((weak));
size_t __sanitizer_get_allocated_size(const volatile void *) __attribute__((weak));

static size_t allocated, most_allocated;

static void on_malloc(const volatile void *block, size_t size) {
    (void)block;
    allocated += size;
    if (allocated > most_allocated) most_allocated = allocated;
}

static void on_free(const volatile void *block) {
    if (block) allocated -= __sanitizer_get_allocated_size(block);
}

static void judge_memory(hostile_result *result, size_t before) {
    size_t used = most_allocated - before, allowed = ((size_t)MEGABYTES << 20) + result->declared;
    if (used <= allowed || result->problem[0]) return;
    snprintf(result->problem, sizeof result->problem, "takes %zu MiB of memory where %zu are allowed", used >> 20,
             allowed >> 20);
}

/* ---- one case ---- */

int hostile_judge(hostile_result *result, const char *call, int status, const char *text) {
    const char *wrong = NULL;
    int has_error = text && strstr(text, "error [") != NULL;
    if (status < 0 || status > 6)
        wrong = "is a status that is not documented";
    else if (status && !has_error)
        wrong = "comes without an error message";
    else if (!status && has_error)
        wrong = "comes with an error message";
    if (status && !result->refused) {
        const char *rule = has_error ? strstr(text, "error [") + 7 : "?";
        const char *why = strstr(rule, "\n  why: ");
        snprintf(result->rule, sizeof result->rule, "%.*s", (int)strcspn(rule, "]"), rule);
        if (why) snprintf(result->why, sizeof result->why, ": %.*s", (int)strcspn(why + 8, "\n"), why + 8);
        result->refused = 1;
    }
    if (wrong && !result->problem[0]) {
        snprintf(result->problem, sizeof result->problem, "%s: status %d %s\n%s", call, status, wrong,
                 text ? text : "");
    }
    return status;
}

static void judge_diags(hostile_result *result, const char *call, int status, const xpu_diags *diags) {
    size_t first = 0;
    while (first < diags->count && diags->items[first].severity != XPU_SEVERITY_ERROR) first++;
    if (first == diags->count) first = 0;
    size_t length = diags->count ? xpu_diag_text(diags, first, NULL, 0) : 0;
    char *text = calloc(1, length + 1);
    if (!text) abort();
    if (diags->count) xpu_diag_text(diags, first, text, length + 1);
    if (status != (int)xpu_diags_status(diags) && status == 0) status = XPU_EBUG;
    hostile_judge(result, call, status, text);
    free(text);
}

int hostile_guard(hostile_result *result, const char *call, hostile_work work, hostile_random *random,
                  const hostile_file *file) {
    static xpu_mem mem;
    static xpu_diags diags;
    static volatile int status;
    xpu_diags_init(&diags);
    xpu_mem_init(&mem);
    if (setjmp(mem.out_of_memory))
        status = (int)xpu_error_oom(&diags);
    else
        status = (int)work(xpu_arena_new(&mem, "hostile"), file, random, &diags);
    xpu_mem_release(&mem);
    judge_diags(result, call, status, &diags);
    xpu_diags_clear(&diags);
    return status;
}

/* Seconds of processor time, and ten times as many in all: a busy machine is no reason. */
static void limit_time(int seconds) {
    setitimer(ITIMER_PROF, &(struct itimerval){.it_value.tv_sec = seconds}, NULL);
    alarm(10 * (unsigned)seconds);
}

static void run_case(const hostile_kind *kind, uint64_t seed, hostile_result *result, const char *keep) {
    hostile_random random = {seed * 0x2545f4914f6cdd1du + (uint64_t)kind->name[0] * 7919 + (uint64_t)kind->name[2]};
    hostile_file file = {NULL, 0, 0};
    hostile_add(&file, "", 1);
    file.size = 0;
    *result = (hostile_result){.refused = 0};
    kind->make(&random, &file);
    if (keep) {
        FILE *stream = fopen(keep, "wb");
        if (!stream || fwrite(file.data, 1, file.size, stream) != file.size || fclose(stream) != 0) perror(keep);
    }
    /* A copy of the exact size, so that reading behind its end is seen. */
    hostile_file exact = {malloc(file.size ? file.size : 1), file.size, file.size};
    if (!exact.data) abort();
    memcpy(exact.data, file.data, file.size);
    hostile_clear(&file);
    size_t before = most_allocated = allocated;
    limit_time(SECONDS);
    kind->feed(&random, &exact, result);
    limit_time(0);
    judge_memory(result, before);
    hostile_clear(&exact);
}

/* ---- many cases ---- */

/* What a worker tells its parent. */
typedef struct {
    uint64_t seed; /* being fed now */
    uint64_t fed, refused, wrong;
} progress;

static int verbose; /* name the rule that refused each case */

static void replay_hint(const hostile_kind *kind, uint64_t seed) {
    printf("    again: hostile %s %llu\n", kind->name, (unsigned long long)seed);
    fflush(stdout);
}

/* Ends with exit status 0, also after wrong results; it counts them. */
static void work(const hostile_kind *kind, uint64_t first, uint64_t last, uint64_t step, progress *shared) {
    kind->prepare();
    for (uint64_t seed = first; seed <= last; seed += step) {
        hostile_result result;
        double began = xpu_seconds();
        shared->seed = seed;
        run_case(kind, seed, &result, NULL);
        shared->fed++;
        shared->refused += result.refused != 0;
        if (verbose)
            printf("%s %llu: %.2f s, %s%s\n", kind->name, (unsigned long long)seed, xpu_seconds() - began,
                   result.refused ? result.rule : "taken", result.why);
        if (!result.problem[0]) continue;
        shared->wrong++;
        printf("%s %llu: %s\n", kind->name, (unsigned long long)seed, result.problem);
        replay_hint(kind, seed);
    }
    shared->seed = last + 1;
    exit(EXIT_SUCCESS);
}

typedef struct {
    const hostile_kind *kind;
    uint64_t last, step;
    progress *shared;
    pid_t child;
} worker;

static void start(worker *w, uint64_t first) {
    fflush(stdout);
    w->child = fork();
    if (w->child == 0) work(w->kind, first, w->last, w->step, w->shared);
    if (w->child < 0) {
        perror("fork");
        exit(EXIT_FAILURE);
    }
}

/* Waits for a worker to end with its share; each time that a case ends it, the next worker goes on behind that case. */
static void finish(worker *w) {
    for (;;) {
        int status;
        if (waitpid(w->child, &status, 0) != w->child) return;
        uint64_t seed = w->shared->seed;
        if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return;
        w->shared->wrong++;
        if (seed > w->last) {
            printf("%s: a report at the end (leaks?)\n", w->kind->name);
            return;
        }
        if (WIFSIGNALED(status) && (WTERMSIG(status) == SIGALRM || WTERMSIG(status) == SIGPROF)) {
            printf("%s %llu: not done after %d seconds\n", w->kind->name, (unsigned long long)seed, SECONDS);
        } else if (WIFSIGNALED(status)) {
            printf("%s %llu: signal %d\n", w->kind->name, (unsigned long long)seed, WTERMSIG(status));
        } else {
            printf("%s %llu: exit status %d, see the report above\n", w->kind->name, (unsigned long long)seed,
                   WEXITSTATUS(status));
        }
        replay_hint(w->kind, seed);
        w->shared->fed++;
        if (w->shared->wrong >= MAX_PROBLEMS || seed + w->step > w->last) return;
        start(w, seed + w->step);
    }
}

static uint64_t run_kind(const hostile_kind *kind, uint64_t first, uint64_t count, uint32_t jobs) {
    progress *shared = mmap(NULL, jobs * sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    worker *workers = calloc(jobs, sizeof *workers);
    if (shared == MAP_FAILED || !workers) abort();
    double began = xpu_seconds();
    for (uint32_t i = 0; i < jobs; i++) {
        workers[i] = (worker){kind, first + count - 1, jobs, &shared[i], 0};
        start(&workers[i], first + i);
    }
    uint64_t fed = 0, refused = 0, wrong = 0;
    for (uint32_t i = 0; i < jobs; i++) {
        finish(&workers[i]);
        fed += shared[i].fed;
        refused += shared[i].refused;
        wrong += shared[i].wrong;
    }
    printf("%-8s seeds %llu to %llu: %llu fed, %llu refused, %llu wrong, %.1f s\n", kind->name,
           (unsigned long long)first, (unsigned long long)(first + count - 1), (unsigned long long)fed,
           (unsigned long long)refused, (unsigned long long)wrong, xpu_seconds() - began);
    fflush(stdout);
    free(workers);
    munmap(shared, jobs * sizeof *shared);
    return wrong;
}

static const hostile_kind *find_kind(const char *name) {
    for (int i = 0; i < KINDS; i++) {
        if (strcmp(kinds[i]->name, name) == 0) return kinds[i];
    }
    fprintf(stderr, "there is no kind '%s'; the kinds are:", name);
    for (int i = 0; i < KINDS; i++) fprintf(stderr, " %s", kinds[i]->name);
    fprintf(stderr, "\n");
    exit(EXIT_FAILURE);
}

static int replay(const hostile_kind *kind, uint64_t seed, const char *keep) {
    hostile_result result;
    kind->prepare();
    run_case(kind, seed, &result, keep);
    printf("%s %llu: %s\n", kind->name, (unsigned long long)seed,
           result.problem[0] ? result.problem
           : result.refused  ? "refused"
                             : "taken");
    return result.problem[0] != 0;
}

int main(int argc, char **argv) {
    unsigned long long count = 500, first = 1, jobs = 1, seed;
    if (__sanitizer_install_malloc_and_free_hooks) __sanitizer_install_malloc_and_free_hooks(on_malloc, on_free);
    int named = 0;
    char rest;
    make_folder();
    if (argc >= 3 && sscanf(argv[2], "%llu%c", &seed, &rest) == 1) {
        int status = replay(find_kind(argv[1]), seed, argc > 3 ? argv[3] : NULL);
        remove_folder();
        return status;
    }
    uint64_t wrong = 0, fed = 0;
    if (argc == 2 && strcmp(argv[1], "--allocations") == 0) {
        wrong = hostile_allocations();
        remove_folder();
        return wrong ? EXIT_FAILURE : EXIT_SUCCESS;
    }
    if (argc == 2 && strcmp(argv[1], "--fields") == 0) {
        wrong = hostile_fields();
        remove_folder();
        printf("%d passed, %llu failed\n", wrong == 0, (unsigned long long)wrong);
        return wrong ? EXIT_FAILURE : EXIT_SUCCESS;
    }
    for (int i = 1; i < argc; i++) {
        int option = sscanf(argv[i], "--count=%llu", &count) == 1 || sscanf(argv[i], "--first=%llu", &first) == 1 ||
                     sscanf(argv[i], "--jobs=%llu", &jobs) == 1 || strcmp(argv[i], "--verbose") == 0;
        verbose |= strcmp(argv[i], "--verbose") == 0;
        named |= !option;
    }
    if (jobs < 1 || jobs > 64) jobs = 1;
    for (int i = 1; named && i < argc; i++) {
        if (argv[i][0] == '-') continue;
        wrong += run_kind(find_kind(argv[i]), first, count, (uint32_t)jobs);
        fed += count;
    }
    for (int i = 0; !named && i < KINDS; i++) {
        wrong += run_kind(kinds[i], first, count, (uint32_t)jobs);
        fed += count;
    }
    remove_folder();
    printf("%llu passed, %llu failed\n", (unsigned long long)(fed - (wrong < fed ? wrong : fed)),
           (unsigned long long)wrong);
    return wrong ? EXIT_FAILURE : EXIT_SUCCESS;
}
