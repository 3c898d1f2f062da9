/* What a compiled program takes with other memories, by the model that xpuc chose its tiles by. */
#ifndef XPU_TOOLS_COMMON_PREDICT_H
#define XPU_TOOLS_COMMON_PREDICT_H

#include "core/chip.h"
#include "xpu_runtime/include/xpurt.h"
#include "xpu_runtime/program/program.h"

typedef struct {
    uint64_t cycles, gm_bytes; /* bytes read from and written to GM */
    const uint64_t *layers;    /* cycles by layer, without filling copies of weights; in the arena */
    const char *no_plan;       /* why memory has no room; the others are 0 */
} xpu_prediction;

/* What symbols stand for where the inputs have these shapes, by name; those of others stay as they are. */
void xpu_symbols_of_inputs(xpu_graph *graph, const xpurt_tensor *inputs, uint32_t count, int64_t *symbols);

/* At the sizes that `symbols` give, with each layer once. Memory is planned anew unless the sizes of `chip` are those
 * of `own`, what the program was compiled for. */
xpu_prediction xpu_predict(const xpu_program *program, const xpu_chip *own, const xpu_chip *chip,
                           const int64_t *symbols, xpu_arena *arena);

/* Whether the layers' models, which are of the upper ends of dims, say anything of the shape: not out of range. */
int xpu_can_predict(const xpu_program *program, const int64_t *symbols);

#endif
