/*
 * Weights that are fetched from GM to L3 while layers before theirs compute, where GM is slower than L3. Which, when
 * and how much of them memplan decides (memplan/moves.h), by the model that chose the tiles.
 */
#ifndef XPU_CODEGEN_LOWER_AHEAD_H
#define XPU_CODEGEN_LOWER_AHEAD_H

#include "xpu_codegen/state.h"

/* What a layer's lists are. BESIDE: with those of the layer before. */
typedef enum { XPU_LISTS_NONE, XPU_LISTS_OWN, XPU_LISTS_BESIDE } xpu_lists_kind;

/* Adds buffers of kind AHEAD and their transfers to the program; `lists`: by layer. A plan of memory with them has all
 * other buffers in the levels of the plan without them. */
void xpu_fetch_ahead(xpu_codegen *cg, const xpu_lists_kind *lists);

#endif
