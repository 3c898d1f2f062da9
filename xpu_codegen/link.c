/* clang and lld: from the generated C to a linked program. */
#include <string.h>

#include "xpu_codegen/codegen.h"

enum { MESSAGE_LINES = 12 };

static const char clang_name[] = "clang-19";

static void report_missing(xpu_codegen *cg, const char *what, const char *why) {
    xpu_error(cg->diags, XPU_EIO, NULL, "no-clang", NULL, xpu_printf(cg->arena, "the device %s was not found", what),
              why, "install the Debian packages clang-19 and lld-19, or stop after the C with --emit=c");
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

/* "Debian clang version 19.1.7 (3+b1)" of the first line. */
static const char *version_line(xpu_codegen *cg, const xpu_child *child) {
    const char *end = strchr(child->output, '\n');
    size_t length = end ? (size_t)(end - child->output) : strlen(child->output);
    return xpu_escape(cg->arena, xpu_strndup(cg->arena, child->output, length), 120);
}

const char *xpu_link_program(xpu_codegen *cg, const char *source, xpu_arena *arena) {
    const char *folder = xpu_temporary_folder(arena, cg->diags);
    if (!folder) return NULL;
    const char *device = xpu_path_join(arena, cg->job->options->resources, "device");
    const char *c = xpu_path_join(arena, folder, "program.c"), *elf = xpu_path_join(arena, folder, "program.elf");
    if (xpu_file_write(arena, c, source, strlen(source), cg->diags) != XPU_OK) return NULL;
    const char *argv[] = {clang_name,
                          xpu_printf(arena, "@%s/clang.flags", device),
                          "-fuse-ld=lld",
                          "-I",
                          xpu_path_join(arena, device, "include"),
                          c,
                          xpu_path_join(arena, device, "libxpudevice.a"),
                          xpu_printf(arena, "-Wl,-T,%s/link.ld", device),
                          "-Wl,--gc-sections",
                          "-o",
                          elf,
                          NULL};
    const char *version_argv[] = {clang_name, "--version", NULL};
    xpu_child child, version;
    xpu_child_running *asked = xpu_child_start(arena, version_argv, cg->diags);
    if (!asked) return NULL;
    xpu_status status = xpu_child_run(arena, argv, &child, cg->diags);
    xpu_status asked_status = xpu_child_wait(asked, &version, cg->diags);
    if (!child.found) report_missing(cg, "compiler clang-19", "the generated C is compiled for the chip's cores by it");
    if (status != XPU_OK || asked_status != XPU_OK) return NULL;
    cg->clang = (xpu_clang_facts){version_line(cg, &version), child.seconds, child.peak_rss_bytes};
    cg->program.clang = cg->clang.version;
    if (child.exit_code == 0) return elf;
    if (strstr(child.error, "invalid linker name")) { /* clang's words for a missing lld */
        report_missing(cg, "linker lld-19", "the program for the chip's cores is linked by it");
        return NULL;
    }
    xpu_codegen_bug(cg, "the generated C does not compile", "%s", first_lines(cg->arena, child.error));
    return NULL;
}
