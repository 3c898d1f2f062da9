/* The program's file: memory is planned behind the linked image. */
#include "xpu_codegen/pack/file.h"

#include "xpu_codegen/lower/layer_cost.h"
#include "xpu_codegen/pack/memory.h"
#include "xpu_codegen/pack/weights.h"
#include "xpu_runtime/program/file.h"

xpu_status xpu_pack_program(xpu_codegen *cg, const char *elf, const char *path) {
    xpu_status status = xpu_program_locate(&cg->program, elf, cg->arena, cg->diags);
    if (status == XPU_OK) status = xpu_plan_memory(cg);
    if (status != XPU_OK) return status;
    xpu_model_layers(cg);
    return xpu_program_write(&cg->program, elf, path, xpu_deliver_weight, cg, cg->arena, cg->diags);
}
