#define _GNU_SOURCE 1
#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/unit/oom.h"
#include "tests/unit/unit.h"

/* Runs `work`; it must add exactly one diagnostic of this rule, or none where the rule is NULL. */
static void run(xpu_work work, const char *rule) {
    xpu_diags diags;
    xpu_diags_init(&diags);
    int files = xpu_open_files();
    xpu_status status = xpu_run_work(work, &diags);
    CU_ASSERT_EQUAL(status, rule ? XPU_EIO : XPU_OK);
    CU_ASSERT_EQUAL(diags.count, rule != NULL);
    if (rule && diags.count) {
        CU_ASSERT_STRING_EQUAL(diags.items[0].rule, rule);
    } else {
        xpu_diags_print(&diags, stderr);
    }
    CU_ASSERT_EQUAL(xpu_open_files(), files);
    xpu_diags_clear(&diags);
}

static int entries(const char *path) {
    DIR *folder = opendir(path);
    int count = -2; /* "." and ".." */
    while (folder && readdir(folder)) count++;
    if (folder) closedir(folder);
    return count;
}

static int holds(xpu_arena *arena, const char *path, const char *text) {
    size_t length;
    xpu_diags diags;
    xpu_diags_init(&diags);
    char *bytes = xpu_file_read_all(arena, path, 1 << 20, &length, &diags);
    xpu_diags_clear(&diags);
    return bytes && length == strlen(text) && memcmp(bytes, text, length + 1) == 0;
}

static xpu_status write_and_read(xpu_arena *arena, xpu_diags *diags) {
    char *folder = xpu_temporary_folder(arena, diags);
    if (!folder) return XPU_EIO;
    char *path = xpu_path_join(arena, folder, "a/b/c");
    if (xpu_make_folder(xpu_path_folder(arena, path), diags) != XPU_OK) return XPU_EIO;
    if (xpu_file_write(arena, path, "abcdef", 6, diags) != XPU_OK) return XPU_EIO;
    if (xpu_file_write(arena, path, "uvwxyz", 6, diags) != XPU_OK) return XPU_EIO;
    xpu_file *file = xpu_file_open(arena, path, diags);
    if (!file) return XPU_EIO;
    char part[4] = "";
    if (xpu_file_read(file, 2, part, 3, diags) != XPU_OK) return XPU_EIO;
    CU_ASSERT_STRING_EQUAL(part, "wxy");
    CU_ASSERT_EQUAL(file->size, 6);
    CU_ASSERT(holds(arena, path, "uvwxyz"));
    CU_ASSERT_EQUAL(entries(xpu_path_folder(arena, path)), 1);
    return XPU_OK;
}

static void writing_and_reading(void) {
    run(write_and_read, NULL);
    CU_ASSERT(xpu_fail_each_allocation(write_and_read, 1) > 10);
}

/* Many small writes, one large one, and writes at an offset end up in place. */
static xpu_status write_parts(xpu_arena *arena, xpu_diags *diags) {
    enum { PARTS = 30000, LARGE = 200000 };
    char *folder = xpu_temporary_folder(arena, diags);
    char *path = xpu_path_join(arena, folder, "file");
    xpu_output *output = xpu_output_open(arena, path, diags);
    if (!output) return XPU_EIO;
    for (uint32_t i = 0; i < PARTS; i++) xpu_output_write(output, &i, sizeof i);
    char *large = xpu_alloc(arena, LARGE);
    memset(large, 'x', LARGE);
    xpu_output_write(output, large, LARGE);
    xpu_output_write(output, "end", 3);
    uint32_t value = 77;
    xpu_output_write_at(output, 4 * 100, &value, sizeof value);
    CU_ASSERT_EQUAL(xpu_file_exists(path), 0);
    CU_ASSERT_EQUAL(xpu_file_exists(xpu_output_temporary(output)), 1);
    if (xpu_output_commit(output) != XPU_OK) return XPU_EIO;
    size_t length;
    uint32_t *numbers = xpu_file_read_all(arena, path, 1 << 20, &length, diags);
    CU_ASSERT_EQUAL(length, 4 * PARTS + LARGE + 3);
    for (uint32_t i = 0; i < PARTS; i++) {
        if (numbers[i] != (i == 100 ? 77 : i)) CU_FAIL("a number is out of place");
    }
    CU_ASSERT_EQUAL(memcmp((char *)(numbers + PARTS) + LARGE - 1, "xend", 4), 0);
    return XPU_OK;
}

/* Unwinding without commit leaves what was there. */
static xpu_status abandon(xpu_arena *arena, xpu_diags *diags) {
    char *folder = xpu_temporary_folder(arena, diags);
    char *path = xpu_path_join(arena, folder, "file");
    xpu_file_write(arena, path, "old", 3, diags);
    xpu_arena *inner = xpu_arena_new(xpu_arena_mem(arena), "inner");
    xpu_output *output = xpu_output_open(inner, path, diags);
    if (!output) return XPU_EIO;
    xpu_output_write(output, "new", 3);
    CU_ASSERT_EQUAL(entries(folder), 2);
    xpu_arena_free(inner);
    CU_ASSERT_EQUAL(entries(folder), 1);
    CU_ASSERT(holds(arena, path, "old"));
    return XPU_OK;
}

/* A link stays a link and its target keeps its mode. */
static xpu_status through_link(xpu_arena *arena, xpu_diags *diags) {
    struct stat info;
    char *folder = xpu_temporary_folder(arena, diags);
    char *path = xpu_path_join(arena, folder, "file"), *other = xpu_path_join(arena, folder, "link");
    xpu_file_write(arena, path, "old", 3, diags);
    CU_ASSERT_EQUAL(chmod(path, 0640), 0);
    CU_ASSERT_EQUAL(symlink("file", other), 0);
    if (xpu_file_write(arena, other, "new", 3, diags) != XPU_OK) return XPU_EIO;
    CU_ASSERT(lstat(other, &info) == 0 && S_ISLNK(info.st_mode));
    CU_ASSERT(stat(path, &info) == 0 && (info.st_mode & 0777) == 0640);
    CU_ASSERT(holds(arena, path, "new"));
    return XPU_OK;
}

/* The disk is full, or rather a limit reached, half-way: no signal, no rest, the old file stays. */
static xpu_status half_way(xpu_arena *arena, xpu_diags *diags) {
    char *folder = xpu_temporary_folder(arena, diags);
    char *path = xpu_path_join(arena, folder, "file");
    char *bytes = xpu_alloc(arena, 300000);
    xpu_file_write(arena, path, "old", 3, diags);
    struct rlimit before, limit;
    getrlimit(RLIMIT_FSIZE, &before);
    limit = before;
    limit.rlim_cur = 100000;
    setrlimit(RLIMIT_FSIZE, &limit);
    xpu_status status = xpu_file_write(arena, path, bytes, 300000, diags);
    setrlimit(RLIMIT_FSIZE, &before);
    CU_ASSERT_EQUAL(entries(folder), 1);
    CU_ASSERT(holds(arena, path, "old"));
    return status;
}

static xpu_status full_device(xpu_arena *arena, xpu_diags *diags) {
    xpu_status status = xpu_file_write(arena, "/dev/full", "abc", 3, diags);
    char text[512];
    xpu_diag_text(diags, 0, text, sizeof text);
    CU_ASSERT_STRING_EQUAL(text, "/dev/full: error [io-write] the file cannot be written\n"
                                 "  why: No space left on device (errno 28)\n"
                                 "  hint: make room, or write to another place");
    return status;
}

static xpu_status closed_pipe(xpu_arena *arena, xpu_diags *diags) {
    char *folder = xpu_temporary_folder(arena, diags), *path = xpu_path_join(arena, folder, "pipe");
    CU_ASSERT_EQUAL(mkfifo(path, 0600), 0);
    int reader = open(path, O_RDONLY | O_NONBLOCK);
    xpu_output *output = xpu_output_open(arena, path, diags);
    if (!output) return XPU_EIO;
    CU_ASSERT_STRING_EQUAL(xpu_output_temporary(output), path);
    xpu_output_write(output, "abc", 3);
    close(reader);
    return xpu_output_commit(output);
}

static xpu_status write_into_nothing(xpu_arena *arena, xpu_diags *diags) {
    return xpu_file_write(arena, "/nonexistent/folder/file", "abc", 3, diags);
}

static xpu_status write_folder(xpu_arena *arena, xpu_diags *diags) {
    return xpu_file_write(arena, xpu_temporary_folder(arena, diags), "abc", 3, diags);
}

/* What cannot get its name is followed by none that does. */
static xpu_status commit_two(xpu_arena *arena, xpu_diags *diags) {
    char *folder = xpu_temporary_folder(arena, diags);
    char *paths[] = {xpu_path_join(arena, folder, "a"), xpu_path_join(arena, folder, "b")};
    xpu_output *both[2];
    for (int i = 0; i < 2; i++) {
        both[i] = xpu_output_open(arena, paths[i], diags);
        if (!both[i]) return XPU_EIO;
        xpu_output_write(both[i], "abc", 3);
    }
    CU_ASSERT_EQUAL(xpu_make_folder(paths[0], diags), XPU_OK);
    xpu_status status = xpu_outputs_commit(both, 2);
    CU_ASSERT_FALSE(xpu_file_exists(paths[1]));
    CU_ASSERT_EQUAL(entries(folder), 1);
    return status;
}

static void outputs(void) {
    run(write_parts, NULL);
    run(abandon, NULL);
    run(through_link, NULL);
    run(half_way, "io-write");
    run(full_device, "io-write");
    run(closed_pipe, "io-write");
    run(write_into_nothing, "io-write");
    run(write_folder, "io-write");
    run(commit_two, "io-write");
}

static xpu_status opened(const xpu_file *file) {
    return file ? XPU_OK : XPU_EIO;
}

static xpu_status open_nothing(xpu_arena *arena, xpu_diags *diags) {
    xpu_status status = opened(xpu_file_open(arena, "/nonexistent", diags));
    char text[512];
    xpu_diag_text(diags, 0, text, sizeof text);
    CU_ASSERT_STRING_EQUAL(text, "/nonexistent: error [io-open] the file cannot be opened\n"
                                 "  why: No such file or directory (errno 2)\n"
                                 "  hint: check the spelling of the path");
    return status;
}

static xpu_status open_folder(xpu_arena *arena, xpu_diags *diags) {
    return opened(xpu_file_open(arena, "/", diags));
}

static xpu_status open_pipe(xpu_arena *arena, xpu_diags *diags) {
    char *path = xpu_path_join(arena, xpu_temporary_folder(arena, diags), "pipe");
    CU_ASSERT_EQUAL(mkfifo(path, 0600), 0);
    return opened(xpu_file_open(arena, path, diags));
}

static xpu_status cut_short(xpu_arena *arena, xpu_diags *diags) {
    char *path = xpu_path_join(arena, xpu_temporary_folder(arena, diags), "file"), buffer[8];
    xpu_file_write(arena, path, "12345678", 8, diags);
    xpu_file *file = xpu_file_open(arena, path, diags);
    CU_ASSERT_EQUAL(truncate(path, 5), 0);
    return file ? xpu_file_read(file, 0, buffer, 8, diags) : XPU_EIO;
}

static xpu_status wild_offset(xpu_arena *arena, xpu_diags *diags) {
    char *path = xpu_path_join(arena, xpu_temporary_folder(arena, diags), "file"), buffer[8];
    xpu_file_write(arena, path, "12345678", 8, diags);
    xpu_file *file = xpu_file_open(arena, path, diags);
    return file ? xpu_file_read(file, UINT64_MAX - 3, buffer, 8, diags) : XPU_EIO;
}

static xpu_status too_large(xpu_arena *arena, xpu_diags *diags) {
    size_t length;
    char *path = xpu_path_join(arena, xpu_temporary_folder(arena, diags), "file");
    xpu_file_write(arena, path, "12345678", 8, diags);
    CU_ASSERT_PTR_NOT_NULL(xpu_file_read_all(arena, path, 8, &length, diags));
    return xpu_file_read_all(arena, path, 7, &length, diags) ? XPU_OK : XPU_EIO;
}

static void unreadable(void) {
    run(open_nothing, "io-open");
    run(open_folder, "io-open");
    run(open_pipe, "io-open");
    run(cut_short, "io-short");
    run(wild_offset, "io-short");
    run(too_large, "io-too-large");
}

/* Removing a temporary folder follows no link out of it. */
static xpu_status remove_folder(xpu_arena *arena, xpu_diags *diags) {
    char *outside = xpu_temporary_folder(arena, diags);
    xpu_file_write(arena, xpu_path_join(arena, outside, "kept"), "abc", 3, diags);
    xpu_arena *inner = xpu_arena_new(xpu_arena_mem(arena), "inner");
    char *folder = xpu_temporary_folder(inner, diags);
    char *copy = xpu_strdup(arena, folder);
    xpu_make_folder(xpu_path_join(inner, folder, "a/b//c/"), diags);
    CU_ASSERT_EQUAL(xpu_make_folder(xpu_path_join(inner, folder, "a"), diags), XPU_OK);
    CU_ASSERT_EQUAL(symlink(outside, xpu_path_join(inner, folder, "a/link")), 0);
    xpu_arena_free(inner);
    CU_ASSERT_EQUAL(xpu_file_exists(copy), 0);
    CU_ASSERT_EQUAL(entries(outside), 1);
    return XPU_OK;
}

static xpu_status folder_over_file(xpu_arena *arena, xpu_diags *diags) {
    char *path = xpu_path_join(arena, xpu_temporary_folder(arena, diags), "file");
    xpu_file_write(arena, path, "abc", 3, diags);
    return xpu_make_folder(path, diags);
}

static void folders(void) {
    run(remove_folder, NULL);
    run(folder_over_file, "io-folder");
}

typedef struct {
    const char *path, *folder, *name;
} path_case;

static xpu_status split_paths(xpu_arena *arena, xpu_diags *diags) {
    static const path_case cases[] = {
        {"a", ".", "a"},     {"a/b", "a", "b"}, {"/a", "/", "a"}, {"/a/b.c", "/a", "b.c"},
        {"a/b/", "a/b", ""}, {"./a", ".", "a"}, {"", ".", ""},    {"/", "/", ""},
    };
    (void)diags;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        CU_ASSERT_STRING_EQUAL(xpu_path_folder(arena, cases[i].path), cases[i].folder);
        CU_ASSERT_STRING_EQUAL(xpu_path_name(cases[i].path), cases[i].name);
    }
    CU_ASSERT_STRING_EQUAL(xpu_path_join(arena, "a", "b"), "a/b");
    CU_ASSERT_STRING_EQUAL(xpu_path_join(arena, "a/", "b"), "a/b");
    CU_ASSERT_STRING_EQUAL(xpu_path_join(arena, "", "b"), "b");
    return XPU_OK;
}

static void paths(void) {
    run(split_paths, NULL);
}

typedef struct {
    const char *argv[4];
    int found, exit_code, signal;
    size_t output, error; /* lengths */
    const char *begin;    /* what the output begins with */
} child_case;

static const child_case children[] = {
    {{"echo", "hello"}, 1, 0, 0, 6, 0, "hello\n"},
    {{"sh", "-c", "echo problem >&2; exit 7"}, 1, 7, 0, 0, 8, ""},
    {{"sh", "-c", "kill -9 $$"}, 1, -1, 9, 0, 0, ""},
    {{"cat"}, 1, 0, 0, 0, 0, ""}, /* stdin is empty */
    {{"sh", "-c", "head -c 200000 /dev/zero | tr '\\0' x; head -c 200000 /dev/zero >&2"}, 1, 0, 0, 65536, 65536, "xx"},
    {{"sh", "-c", "trap - PIPE; kill -PIPE $$"}, 1, -1, SIGPIPE, 0, 0, ""},
    {{"no-such-program-anywhere"}, 0, 0, 0, 0, 0, ""},
    {{"/no/such/program"}, 0, 0, 0, 0, 0, ""},
};

static xpu_status run_children(xpu_arena *arena, xpu_diags *diags) {
    for (size_t i = 0; i < sizeof children / sizeof *children; i++) {
        const child_case *c = &children[i];
        xpu_child child;
        xpu_status status = xpu_child_run(arena, c->argv, 0, &child, diags);
        CU_ASSERT_EQUAL(status, c->found ? XPU_OK : XPU_EIO);
        CU_ASSERT_EQUAL(child.found, c->found);
        CU_ASSERT_EQUAL(child.exit_code, c->exit_code);
        CU_ASSERT_EQUAL(child.signal, c->signal);
        CU_ASSERT_EQUAL(memcmp(child.output, c->begin, strlen(c->begin)), 0);
        CU_ASSERT_EQUAL(child.output[c->output], '\0');
        CU_ASSERT_EQUAL(child.error[c->error], '\0');
        CU_ASSERT(!c->found || (child.seconds > 0 && child.peak_rss_bytes > 0));
    }
    return XPU_OK;
}

static xpu_status not_executable(xpu_arena *arena, xpu_diags *diags) {
    static const char *const argv[] = {"/", NULL};
    xpu_child child;
    xpu_status status = xpu_child_run(arena, argv, 0, &child, diags);
    CU_ASSERT_EQUAL(child.found, 1);
    return status;
}

/* What is said before a program is started. */
static xpu_status missing_programs(xpu_arena *arena, xpu_diags *diags) {
    char *folder = xpu_temporary_folder(arena, diags), *before = xpu_strdup(arena, getenv("PATH"));
    xpu_file_write(arena, xpu_path_join(arena, folder, "tool"), "#!/bin/sh\n", 10, diags);
    setenv("PATH", xpu_printf(arena, "/nonexistent:%s:", folder), 1);
    CU_ASSERT_STRING_EQUAL(xpu_child_missing("no-such-program-anywhere", arena), "no folder of PATH has it");
    CU_ASSERT_STRING_EQUAL(xpu_child_missing("tool", arena),
                           xpu_printf(arena, "'%s/tool' may not be executed", folder));
    setenv("PATH", xpu_printf(arena, "%s:%s", folder, before), 1);
    CU_ASSERT_PTR_NULL(xpu_child_missing("sh", arena));
    CU_ASSERT_PTR_NULL(xpu_child_missing("/bin/sh", arena));
    CU_ASSERT_PTR_NOT_NULL(xpu_child_missing("/no/such/program", arena));
    unsetenv("PATH");
    CU_ASSERT_PTR_NULL(xpu_child_missing("sh", arena));
    setenv("PATH", before, 1);
    return XPU_OK;
}

/* A child that is not waited for dies with the arena. */
static xpu_status forget(xpu_arena *arena, xpu_diags *diags) {
    static const char *const argv[] = {"sleep", "100", NULL};
    return xpu_child_start(arena, argv, 0, diags) ? XPU_OK : XPU_EIO;
}

/* Two at once, each waited for after the other was started. */
static xpu_status two_children(xpu_arena *arena, xpu_diags *diags) {
    static const char *const first[] = {"echo", "1", NULL}, *const second[] = {"echo", "2", NULL};
    xpu_child_running *a = xpu_child_start(arena, first, 0, diags), *b = xpu_child_start(arena, second, 0, diags);
    xpu_child result;
    if (!a || !b || xpu_child_wait(a, &result, diags) != XPU_OK) return XPU_EIO;
    CU_ASSERT_STRING_EQUAL(result.output, "1\n");
    if (xpu_child_wait(b, &result, diags) != XPU_OK) return XPU_EIO;
    CU_ASSERT_STRING_EQUAL(result.output, "2\n");
    return XPU_OK;
}

static void child_processes(void) {
    run(run_children, NULL);
    run(not_executable, "child-process");
    run(missing_programs, NULL);
    run(two_children, NULL);
    double start = xpu_seconds();
    run(forget, NULL);
    xpu_fail_each_allocation(forget, 1);
    CU_ASSERT(xpu_seconds() - start < 50);
    CU_ASSERT(waitpid(-1, NULL, WNOHANG) < 0 && errno == ECHILD);
}

static void measuring(void) {
    double start = xpu_seconds();
    CU_ASSERT(xpu_seconds() >= start);
    CU_ASSERT(xpu_peak_rss_bytes() > 100000 && xpu_peak_rss_bytes() < 1ULL << 50);
}

XPU_TEST_MAIN("file", {"writing and reading", writing_and_reading}, {"outputs", outputs}, {"unreadable", unreadable},
              {"folders", folders}, {"paths", paths}, {"child processes", child_processes}, {"measuring", measuring})
