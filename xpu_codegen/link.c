/* clang and lld: from the generated C to a linked program. */
#include <string.h>

#include "xpu_codegen/codegen.h"

enum { MESSAGE_LINES = 12 };

static const char clang_name[] = "clang-19", linker_name[] = "ld.lld-19";

/* Reports a program that is not there; `why`: or NULL. */
static void report_missing(xpu_codegen *cg, const char *name, const char *why) {
    int is_linker = strcmp(name, linker_name) == 0;
    xpu_error(cg->diags, XPU_EIO, NULL, "no-clang", NULL,
              xpu_printf(cg->arena, "the device %s was not found", is_linker ? "linker lld-19" : "compiler clang-19"),
              xpu_printf(cg->arena, "%s%s%s",
                         is_linker ? "the program for the chip's cores is linked by it"
                                   : "the generated C is compiled for the chip's cores by it",
                         why ? "; " : "", why ? why : ""),
              "install the Debian packages clang-19 and lld-19, or stop after the C with --emit=c");
}

void xpu_toolchain_check(xpu_codegen *cg) {
    static const char *const names[] = {clang_name, linker_name};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *why = xpu_child_missing(names[i], cg->arena);
        if (why) report_missing(cg, names[i], why);
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

/* The first lines of what the compiler said. */
static const char *first_lines(xpu_arena *arena, const char *message) {
    const char *end = message;
    for (int line = 0; line < MESSAGE_LINES && *end; line++) {
        const char *next = strchr(end, '\n');
        end = next ? next + 1 : end + strlen(end);
    }
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

struct xpu_device_build {
    xpu_arena *arena;
    const char *object, *elf, *device;
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
    const char *argv[] = {clang_name,
                          "-v",
                          "-fno-crash-diagnostics", /* it would leave files behind */
                          xpu_printf(arena, "@%s/clang.flags", build->device),
                          "-I",
                          xpu_path_join(arena, build->device, "include"),
                          "-c",
                          c,
                          "-o",
                          build->object,
                          NULL};
    build->compiler = xpu_child_start(arena, argv, cg->diags);
    return build->compiler ? build : NULL;
}

static const char *link_object(xpu_codegen *cg, const xpu_device_build *build) {
    xpu_arena *arena = build->arena;
    const char *argv[] = {linker_name,
                          build->object,
                          xpu_path_join(arena, build->device, "libxpudevice.a"),
                          "-T",
                          xpu_path_join(arena, build->device, "link.ld"),
                          "--gc-sections",
                          "-Bstatic",
                          "--no-relax",
                          "-X",
                          "-o",
                          build->elf,
                          NULL};
    xpu_child linker;
    xpu_status status = xpu_child_run(arena, argv, &linker, cg->diags);
    if (!linker.found) report_missing(cg, linker_name, NULL);
    if (status != XPU_OK) return NULL;
    cg->clang.seconds += linker.seconds;
    if (linker.peak_rss_bytes > cg->clang.peak_rss_bytes) cg->clang.peak_rss_bytes = linker.peak_rss_bytes;
    if (was_killed(cg, linker_name, &linker)) return NULL;
    if (linker.exit_code == 0) return build->elf;
    xpu_codegen_bug(cg, "the program cannot be linked", "%s", first_lines(cg->arena, linker.error));
    return NULL;
}

const char *xpu_compile_finish(xpu_codegen *cg, xpu_device_build *build) {
    xpu_child compiler;
    xpu_status status = xpu_child_wait(build->compiler, &compiler, cg->diags);
    if (!compiler.found) report_missing(cg, clang_name, NULL);
    if (status != XPU_OK || was_killed(cg, clang_name, &compiler)) return NULL;
    cg->clang = (xpu_clang_facts){version_line(cg, &compiler), compiler.seconds, compiler.peak_rss_bytes};
    cg->program.clang = cg->clang.version;
    if (compiler.exit_code == 0) return link_object(cg, build);
    xpu_codegen_bug(cg, "the generated C does not compile", "%s", first_lines(cg->arena, compiler_messages(&compiler)));
    return NULL;
}
