/* What is fetched ahead, as the recorder of lists takes it. */
#ifndef XPU_PROGRAM_TRANSFERS_H
#define XPU_PROGRAM_TRANSFERS_H

#include "xpu_runtime/program/placement.h"
#include "xpu_runtime/program/record.h"

/* Moves of layers that are recorded together, for the places of a run; places NULL: as many, with addresses that mean
 * nothing. */
xpu_recorded_moves xpu_moves_of_layers(const xpu_program *program, const xpu_place *places, uint32_t layer,
                                       uint32_t count, xpu_arena *arena);

#endif
