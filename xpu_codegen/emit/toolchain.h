/* clang and lld. */
#ifndef XPU_CODEGEN_EMIT_TOOLCHAIN_H
#define XPU_CODEGEN_EMIT_TOOLCHAIN_H

#include "base/file.h"
#include "xpu_codegen/state.h"

/* What clang and lld took. */
typedef struct xpu_clang_facts {
    const char *version;
    double seconds;
    uint64_t peak_rss_bytes;
} xpu_clang_facts;

/* [resources] where the folder of xpuc's own files does not have `name`. */
xpu_status xpu_resource_check(xpu_codegen *cg, const char *name);
/* Reports clang, lld and the device library where they are not there, before there is anything to compile. */
void xpu_toolchain_check(xpu_codegen *cg);
/* The words that a command of clang begins with here, whose number is returned. */
enum { XPU_COMPILER_WORDS = 4 };
uint32_t xpu_compiler_begin(const xpu_codegen *cg, const char *argv[XPU_COMPILER_WORDS]);
unsigned xpu_compiler_seconds(const xpu_codegen *cg); /* that it may run */
/* The first lines of what it said. */
const char *xpu_first_lines(xpu_arena *arena, const char *message);
/* Reports that it is not there, was ended, or failed for reasons of its own. */
void xpu_compiler_failed(xpu_codegen *cg, const xpu_child *child, const char *what);
/* Starts clang on `source`, in a temporary folder of `arena`; NULL with diagnostics. */
typedef struct xpu_device_build xpu_device_build;
xpu_device_build *xpu_compile_start(xpu_codegen *cg, const char *source, xpu_arena *arena);
/* Waits for it and links, with other object files (NULL ends them); the program's path, NULL with diagnostics. */
const char *xpu_compile_finish(xpu_codegen *cg, xpu_device_build *build, const char *const *objects);

#endif
