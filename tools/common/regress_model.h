/* The compiler's model of cycles against those of the Verilated chip. */
#ifndef XPU_TOOLS_REGRESS_MODEL_H
#define XPU_TOOLS_REGRESS_MODEL_H

#include "core/chip.h"
#include "tools/common/inputs.h"
#include "xpu_runtime/program/file.h"

typedef struct {
    double limit;       /* percent that the prediction of the network may be off by */
    uint64_t predicted; /* cycles; 0: the model says nothing of such shapes, or of a program without its graph */
    const char *layers; /* each layer's cycles by the model and as measured, a line each; NULL like `predicted` */
} xpu_regress_model;

/* Fills in *model from a program and the statistics (JSON) of its run with these inputs. NULL, or why the case fails.
 */
const char *xpu_regress_predict(xpu_regress_model *model, xpu_program_image *image, const xpu_chip *chip,
                                const xpu_inputs *inputs, const char *stats, xpu_arena *arena, xpu_diags *diags);

/* How much more the model says than was measured, in percent. */
static inline double xpu_regress_error(uint64_t predicted, uint64_t measured) {
    return measured ? 100 * ((double)predicted / (double)measured - 1) : 0;
}

#endif
