/* About how many cycles a layer takes. */
#ifndef XPU_CODEGEN_LOWER_LAYER_COST_H
#define XPU_CODEGEN_LOWER_LAYER_COST_H

#include "xpu_codegen/choose/tiles.h"
#include "xpu_codegen/state.h"

/* At the upper ends of dims; of layers on the tensor engine what their tiles were chosen by. 0: not known (host). */
double xpu_layer_cycles(xpu_codegen *cg, uint32_t layer);
/* Of a product with this tile, by itself and with lists. */
double xpu_product_cycles(const xpu_codegen *cg, const xpu_tile *tile);
/* The same in its parts, for each layer of the program. */
void xpu_model_layers(xpu_codegen *cg);

#endif
