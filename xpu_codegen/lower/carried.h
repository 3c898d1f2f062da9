/* What a loop carries: a result of an iteration that is made where the value before it lies needs no copy. */
#ifndef XPU_CODEGEN_LOWER_CARRIED_H
#define XPU_CODEGEN_LOWER_CARRIED_H

#include "xpu_codegen/state.h"

/* The layers of the body are there. Where `next`, the body's result, is made behind the last use of `now`, the carried
 * value, or over it element by element, its buffer becomes an alias of that of `now`. */
void xpu_make_in_place(xpu_codegen *cg, xpu_value now, xpu_value next);

#endif
