/* clang and lld: from the generated C to a linked program. */
#include "xpu_codegen/emit/toolchain.h"

#include <string.h>

enum { MESSAGE_LINES = 12 };

static const char clang_name[] = "clang-19", linker_name[] = "ld.lld-19";

/* What of zig stands for clang or lld; NULL: nothing, they are in PATH or nobody has named a zig. */
static const char *zig_for(const xpu_codegen *cg, const char *name) {
    return xpu_child_missing(name, cg->arena) ? cg->job->options->zig : NULL;
}

uint32_t xpu_compiler_begin(const xpu_codegen *cg, const char *argv[XPU_COMPILER_WORDS]) {
    const char *zig = zig_for(cg, clang_name);
    argv[0] = zig ? zig : clang_name;
    if (!zig) return 1;
    argv[1] = "clang";
    argv[2] = "-isystem"; /* where clang looks for its own headers zig has none */
    argv[3] = xpu_path_join(cg->arena, xpu_path_folder(cg->arena, zig), "lib/include");
    return XPU_COMPILER_WORDS;
}

/* Reports a program that is not there; `why`: or NULL. */
static void report_missing(xpu_codegen *cg, int is_linker, const char *why) {
    xpu_error(
        cg->diags, XPU_EIO, NULL, "no-clang", NULL,
        xpu_printf(cg->arena, "the device %s was not found", is_linker ? "linker lld-19" : "compiler clang-19"),
        xpu_printf(cg->arena, "%s%s%s",
                   is_linker ? "the program for the chip's cores is linked by it"
                             : "the generated C is compiled for the chip's cores by it",
                   why ? "; " : "", why ? why : ""),
        "install the Debian packages clang-19 and lld-19, or xpu-stack[compiler] with pip (docs/python.md), or stop "
        "after the C with --emit=c");
}

xpu_status xpu_resource_check(xpu_codegen *cg, const char *name) {
    const char *folder = cg->job->options->resources;
    if (xpu_file_exists(xpu_path_join(cg->arena, folder, name))) return XPU_OK;
    return xpu_error(
        cg->diags, XPU_EIO, folder, "resources", NULL, "this is not the folder of xpuc's own files",
        xpu_printf(cg->arena, "it has no %s", name),
        "XPU_RESOURCES, where it is set, names share/xpu of an installation or build; unset, the one beside "
        "the program is used");
}

void xpu_toolchain_check(xpu_codegen *cg) {
    static const char *const names[] = {clang_name, linker_name};
    static const char *const files[] = {"device/clang.flags", "device/include", "device/libxpudevice.a",
                                        "device/link.ld"};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        if (xpu_resource_check(cg, files[i]) != XPU_OK) break;
    }
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *zig = zig_for(cg, names[i]), *why = xpu_child_missing(zig ? zig : names[i], cg->arena);
        if (why) report_missing(cg, names[i] == linker_name, why);
    }
}

/* Whether a signal ended the program, which is reported. */
static int was_killed(const xpu_codegen *cg, const char *name, const xpu_child *child) {
    if (!child->signal) return 0;
    xpu_error(cg->diags, XPU_EIO, name, "child-process", NULL, "the program was ended by a signal",
              xpu_printf(cg->arena, "signal %d", child->signal),
              "check that nothing stops it and that memory is not used up, then compile again");
    return 1;
}

/* What the machine, or what is installed on it, gives as a reason; all else is about the C. */
static const char *const reasons_of_machine[] = {
    "No space left on device",
    "Disk quota exceeded",
    "File too large",
    "Too many open files",
    "Cannot allocate memory",
    "out of memory",
    "Resource temporarily unavailable",
    "Permission denied",
    "Read-only file system",
    "Input/output error",
    "No such file or directory",
    "no such file or directory",
    "file not found",
    "cannot open",
    "IO failure on output stream",
    "error while loading shared libraries",
    "unknown argument",
    "unable to create target",
    NULL,
};

/* The line of `message` that names such a reason; or NULL. */
static const char *line_about_machine(xpu_arena *arena, const char *message) {
    for (const char *const *reason = reasons_of_machine; *reason; reason++) {
        const char *at = strstr(message, *reason), *begin = at;
        if (!at) continue;
        while (begin > message && begin[-1] != '\n') begin--;
        return xpu_strndup(arena, begin, strcspn(at, "\n") + (size_t)(at - begin));
    }
    return NULL;
}

/* The first lines of what the compiler said. */
const char *xpu_first_lines(xpu_arena *arena, const char *message) {
    const char *end = message;
    for (int line = 0; line < MESSAGE_LINES && *end; line++) {
        const char *next = strchr(end, '\n');
        end = next ? next + 1 : end + strlen(end);
    }
    while (end > message && end[-1] == '\n') end--;
    return xpu_strndup(arena, message, (size_t)(end - message));
}

/* "Debian clang version 19.1.7 (3+b1)", the first line of what -v prints. */
static const char *version_line(xpu_codegen *cg, const xpu_child *child) {
    const char *end = strchr(child->error, '\n');
    size_t length = end ? (size_t)(end - child->error) : strlen(child->error);
    return xpu_escape(cg->arena, xpu_strndup(cg->arena, child->error, length), 120);
}

/* What clang says about the source, behind what -v prints. */
static const char *compiler_messages(const xpu_child *child) {
    static const char last[] = "End of search list.\n";
    const char *end = strstr(child->error, last);
    return end ? end + sizeof last - 1 : child->error;
}

/* LLVM's own report of a crash. A backend that refuses the C says so in one as well, which is about the C. */
static int has_crashed(const char *message) {
    return strstr(message, "PLEASE submit a bug report") && !strstr(message, "error in backend");
}

/* A program that ran and failed: whose fault it is. 126 and 127 say that it did not even start. */
static void refuse(xpu_codegen *cg, const char *name, const xpu_child *child, const char *message, const char *what) {
    enum { CANNOT_RUN = 126, NOT_FOUND };
    int did_not_run = child->exit_code == CANNOT_RUN || child->exit_code == NOT_FOUND;
    const char *line = line_about_machine(cg->arena, message);
    const char *text = line ? line : xpu_first_lines(cg->arena, message);
    if (!did_not_run && child->exit_code != 0 && text[0] && !line && !has_crashed(message)) {
        xpu_codegen_bug(cg, what, "%s", text);
        return;
    }
    xpu_error(cg->diags, XPU_EIO, name, "child-process", NULL,
              did_not_run        ? "the program does not run"
              : child->exit_code ? "the program failed"
                                 : "the program made no file",
              xpu_printf(cg->arena, "%s%sexit code %d", text, text[0] ? "; " : "", child->exit_code),
              "check that clang-19 and lld-19 are whole, that there is room in TMPDIR, and the limits of ulimit");
}

void xpu_compiler_failed(xpu_codegen *cg, const xpu_child *child, const char *what) {
    if (!child->found)
        report_missing(cg, 0, NULL);
    else if (!was_killed(cg, clang_name, child))
        refuse(cg, clang_name, child, child->error, what);
}

unsigned xpu_compiler_seconds(const xpu_codegen *cg) {
    enum { USUAL = 600 };
    return cg->job->options->clang_seconds ? cg->job->options->clang_seconds : USUAL;
}

struct xpu_device_build {
    xpu_arena *arena;
    const char *object, *elf, *device;
    const char *const *regions; /* objects of other targets' regions, ended by NULL */
    xpu_child_running *compiler;
};

xpu_device_build *xpu_compile_start(xpu_codegen *cg, const char *source, xpu_arena *arena) {
    const char *folder = xpu_temporary_folder(arena, cg->diags);
    if (!folder) return NULL;
    xpu_device_build *build = XPU_NEW(arena, xpu_device_build);
    build->arena = arena;
    build->object = xpu_path_join(arena, folder, "program.o");
    build->elf = xpu_path_join(arena, folder, "program.elf");
    build->device = xpu_path_join(arena, cg->job->options->resources, "device");
    const char *c = xpu_path_join(arena, folder, "program.c");
    if (xpu_file_write(arena, c, source, strlen(source), cg->diags) != XPU_OK) return NULL;
    /* One file with -c: clang then compiles in the process that was started. */
    const char *const behind[] = {"-v",
                                  "-fno-crash-diagnostics", /* it would leave files behind */
                                  xpu_printf(arena, "@%s/clang.flags", build->device),
                                  "-I",
                                  xpu_path_join(arena, build->device, "include"),
                                  "-c",
                                  c,
                                  "-o",
                                  build->object,
                                  NULL};
    const char *argv[XPU_COMPILER_WORDS + sizeof behind / sizeof *behind];
    memcpy(argv + xpu_compiler_begin(cg, argv), behind, sizeof behind);
    build->compiler = xpu_child_start(arena, argv, xpu_compiler_seconds(cg), cg->diags);
    return build->compiler ? build : NULL;
}

static const char *link_object(xpu_codegen *cg, const xpu_device_build *build) {
    xpu_arena *arena = build->arena;
    uint32_t regions = 0, count = 0;
    while (build->regions[regions]) regions++;
    const char *const behind[] = {xpu_path_join(arena, build->device, "libxpudevice.a"),
                                  "-T",
                                  xpu_path_join(arena, build->device, "link.ld"),
                                  "--gc-sections",
                                  "-Bstatic",
                                  "--no-relax",
                                  "-X",
                                  "-o",
                                  build->elf};
    enum { BEHIND = sizeof behind / sizeof *behind };
    const char **argv = XPU_NEW_ARRAY(arena, const char *, regions + BEHIND + 4);
    const char *zig = zig_for(cg, linker_name);
    argv[count++] = zig ? zig : linker_name;
    if (zig) argv[count++] = "ld.lld";
    argv[count++] = build->object;
    for (uint32_t i = 0; i < regions; i++) argv[count++] = build->regions[i];
    for (uint32_t i = 0; i < BEHIND; i++) argv[count++] = behind[i];
    xpu_child linker;
    xpu_status status = xpu_child_run(arena, argv, xpu_compiler_seconds(cg), &linker, cg->diags);
    if (!linker.found) report_missing(cg, 1, NULL);
    if (status != XPU_OK) return NULL;
    cg->clang->seconds += linker.seconds;
    if (linker.peak_rss_bytes > cg->clang->peak_rss_bytes) cg->clang->peak_rss_bytes = linker.peak_rss_bytes;
    if (was_killed(cg, linker_name, &linker)) return NULL;
    if (linker.exit_code == 0 && xpu_file_exists(build->elf)) return build->elf;
    refuse(cg, linker_name, &linker, linker.error, "the program cannot be linked");
    return NULL;
}

const char *xpu_compile_finish(xpu_codegen *cg, xpu_device_build *build, const char *const *objects) {
    xpu_child compiler;
    build->regions = objects;
    xpu_status status = xpu_child_wait(build->compiler, &compiler, cg->diags);
    if (!compiler.found) report_missing(cg, 0, NULL);
    if (status != XPU_OK || was_killed(cg, clang_name, &compiler)) return NULL;
    cg->clang = XPU_NEW(cg->arena, xpu_clang_facts);
    *cg->clang = (xpu_clang_facts){version_line(cg, &compiler), compiler.seconds, compiler.peak_rss_bytes};
    cg->program.clang = cg->clang->version;
    if (compiler.exit_code == 0 && xpu_file_exists(build->object)) return link_object(cg, build);
    refuse(cg, clang_name, &compiler, compiler_messages(&compiler), "the generated C does not compile");
    return NULL;
}
