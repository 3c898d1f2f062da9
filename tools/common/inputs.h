/* Tensors from files for a program's inputs. */
#ifndef XPU_TOOLS_INPUTS_H
#define XPU_TOOLS_INPUTS_H

#include "base/diag.h"
#include "base/tensor.h"
#include "xpu_runtime/include/xpurt.h"

typedef struct {
    xpurt_tensor *items;
    uint32_t count, capacity;
} xpu_inputs; /* an XPU_ARRAY; names, element types and data live in the arena */

/*
 * Adds what `spec`, [NAME=]FILE, gives to `inputs`. A .npy file without a name is for the next input that has none
 * yet. Of an .npz archive the entries named as inputs are taken; with NAME its entry of that name, or its only one.
 * Whether the tensors fit is xpurt_run's to say.
 */
xpu_status xpu_inputs_add(xpu_inputs *inputs, const xpurt_program *program, const char *spec, xpu_arena *arena,
                          xpu_diags *diags);

/* The library's form of a tensor and back; data is shared. A dtype that the library names wrongly gives NONE. */
xpurt_tensor xpu_to_runtime(const char *name, const xpu_tensor *tensor);
xpu_tensor xpu_from_runtime(const xpurt_tensor *tensor);

#endif
