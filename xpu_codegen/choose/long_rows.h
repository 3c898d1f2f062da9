/* Depthwise convolutions in integers over one row, of more taps than the window engine has in a row. */
#ifndef XPU_CODEGEN_CHOOSE_LONG_ROWS_H
#define XPU_CODEGEN_CHOOSE_LONG_ROWS_H

#include "xpu_codegen/choose/geometry.h"

/* Whether a kernel is one row of more than 7 and at most 7 x 7 taps over images one row high. */
int xpu_is_long_row(const xpu_codegen *cg, const xpu_conv_shape *shape);
/* On chips with a window engine such a row is padded, by a layer of its own, and gets taps of 0 up to a multiple of 7:
 * the engine sees it as rows of 7 taps over rows that overlap. Its weights are still float32. */
xpu_status xpu_pad_long_rows(xpu_codegen *cg);

#endif
