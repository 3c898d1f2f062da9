/* Tensors from files for a program's inputs. */
#ifndef XPU_TOOLS_INPUTS_H
#define XPU_TOOLS_INPUTS_H

#include "base/arena.h"
#include "base/diag.h"
#include "base/tensor.h"
#include "xpu_runtime/include/xpurt.h"

/* Where the data of an input is still to be read from. */
typedef struct {
    uint32_t input; /* index into the items */
    const char *file;
    uint32_t entry; /* of the archive; 0 of a .npy file */
} xpu_input_source;

typedef struct {
    xpurt_tensor *items;
    uint32_t count, capacity;
    XPU_ARRAY(xpu_input_source) sources;
} xpu_inputs; /* an XPU_ARRAY; names, element types and data live in the arena */

/*
 * Adds what `spec`, [NAME=]FILE, gives to `inputs`. A .npy file without a name is for the next input that has none
 * yet. Of an .npz archive the entries named as inputs are taken; with NAME its entry of that name, or its only one.
 * Only headers are read: the tensors have no data until xpu_inputs_load. Whether they fit is xpurt_check_inputs' to
 * say.
 */
xpu_status xpu_inputs_add(xpu_inputs *inputs, const xpurt_program *program, const char *spec, xpu_arena *arena,
                          xpu_diags *diags);

/* Reads the data of what xpu_inputs_add has added. */
xpu_status xpu_inputs_load(xpu_inputs *inputs, xpu_arena *arena, xpu_diags *diags);

/* The library's form of a tensor and back; data is shared. A dtype that the library names wrongly gives NONE. */
xpurt_tensor xpu_to_runtime(const char *name, const xpu_tensor *tensor);
xpu_tensor xpu_from_runtime(const xpurt_tensor *tensor);

#endif
