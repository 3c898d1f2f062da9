/* The numbers of layers, and their names in the generated C. */
#ifndef XPU_CODEGEN_LOWER_LAYER_NUMBERS_H
#define XPU_CODEGEN_LOWER_LAYER_NUMBERS_H

#include "xpu_codegen/state.h"

/* Numbers all layers in their order; with_copies: the first is one that fills copies of weights. */
xpu_status xpu_number_layers(xpu_codegen *cg, int with_copies);

#endif
