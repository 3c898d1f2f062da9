/* The program's file: memory is planned behind the linked image, weights are packed one at a time. */
#include "xpu_codegen/codegen.h"
#include "xpu_runtime/program/file.h"

static const xpu_weight *weight_of(const xpu_codegen *cg, uint32_t buffer) {
    for (uint32_t i = 0; i < cg->weights.count; i++) {
        if (cg->weights.items[i].buffer == buffer) return &cg->weights.items[i];
    }
    return NULL;
}

static xpu_status deliver_weight(void *context, uint32_t buffer, xpu_arena *scratch, const void **bytes,
                                 uint64_t *length, xpu_diags *diags) {
    xpu_codegen *cg = context;
    const xpu_weight *weight = weight_of(cg, buffer);
    if (!weight) return xpu_codegen_bug(cg, "a weight has no constant", "buffer %u", buffer);
    xpu_tensor tensor;
    xpu_status status = xpu_const_tensor(cg->graph, weight->value, scratch, &tensor, diags);
    if (status != XPU_OK) return status;
    *length = xpu_packed_bytes(&weight->packing, tensor.dtype, (uint64_t)xpu_tensor_count(&tensor));
    if (weight->packing.kind == XPU_PACK_LINEAR) {
        *bytes = tensor.data;
        return XPU_OK;
    }
    void *packed = xpu_alloc(scratch, *length);
    *bytes = packed;
    status = xpu_pack(&weight->packing, &tensor, packed);
    if (status == XPU_OK) return status;
    return xpu_codegen_bug(cg, "a constant does not fit its packing", "buffer %u", buffer);
}

xpu_status xpu_pack_program(xpu_codegen *cg, const char *elf, const char *path) {
    xpu_status status = xpu_program_locate(&cg->program, elf, cg->arena, cg->diags);
    if (status == XPU_OK) status = xpu_plan_memory(cg);
    if (status != XPU_OK) return status;
    return xpu_program_write(&cg->program, elf, path, deliver_weight, cg, cg->arena, cg->diags);
}
