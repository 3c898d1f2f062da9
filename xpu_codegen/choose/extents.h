/* Values that grow in place: which, along which axis, and how large they get. */
#ifndef XPU_CODEGEN_CHOOSE_EXTENTS_H
#define XPU_CODEGEN_CHOOSE_EXTENTS_H

#include "xpu_codegen/values.h"

/* Where an iteration's result is the carried value with something behind it (Concat), both and the loop's result get an
 * extent: one place, as large as the value gets. Who cannot read a value with gaps reads a compact copy, a node that is
 * added. */
xpu_status xpu_choose_extents(xpu_codegen *cg);

#endif
