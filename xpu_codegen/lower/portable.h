/* Regions of other targets: a function of theirs that a layer calls. */
#ifndef XPU_CODEGEN_LOWER_PORTABLE_H
#define XPU_CODEGEN_LOWER_PORTABLE_H

#include "xpu_codegen/state.h"

/* The region whose nodes are the body of `call`. */
const xpu_region *xpu_region_of_call(const xpu_codegen *cg, xpu_node call);
/* The C function between the kernel and the region's own: "region_2_call". */
const char *xpu_portable_body(xpu_codegen *cg, const xpu_region *region);

#endif
