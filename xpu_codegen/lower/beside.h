/* Windows beside the product before them. */
#ifndef XPU_CODEGEN_LOWER_BESIDE_H
#define XPU_CODEGEN_LOWER_BESIDE_H

#include "xpu_codegen/choose/byte_tasks.h"
#include "xpu_codegen/lower/calls.h"

/* Whether a layer makes scales (factors) or bias of a product: the kernel must not load them before that. */
int xpu_has_computed_parameters(const xpu_codegen *cg, xpu_node node);

/* Whether the layer before makes x, with this kernel. */
int xpu_follows_kernel(xpu_codegen *cg, uint32_t layer, xpu_node node, xpu_kernel kernel);
/* That layer by its name; NULL: it does not. */
const char *xpu_maker_before(xpu_codegen *cg, uint32_t layer, xpu_node node, xpu_kernel kernel);

/* Scratch and tasks of a layer of bytes on the window engine, of shape `s`, which alone has the tasks `tasks` with
 * `sm_bytes`. Where a product makes x it runs beside that, if it can: its rows stay in SM, or it follows what that
 * stores, from the first rows or channels on. */
void xpu_place_beside(xpu_codegen *cg, uint32_t layer, xpu_node node, const xpu_conv_shape *s, xpu_byte_tasks *tasks,
                      int64_t sm_bytes, struct xpu_window_i8_call *call);

#endif
