/* The C of regions of other targets, compiled one by one. */
#ifndef XPU_CODEGEN_EMIT_PORTABLE_BUILD_H
#define XPU_CODEGEN_EMIT_PORTABLE_BUILD_H

#include "xpu_codegen/state.h"

/* What stands in the program's C for a region: the declaration of its function, and what calls it. */
void xpu_emit_portable_call(xpu_codegen *cg, xpu_text *text, const xpu_region *region);
/* Object files of all such regions, in a temporary folder of `arena`, ended by NULL; NULL with diagnostics:
 * [portable-compile], [portable-symbol]. */
const char *const *xpu_build_portable(xpu_codegen *cg, xpu_arena *arena);

#endif
