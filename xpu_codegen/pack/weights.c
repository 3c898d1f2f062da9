/* Weights are packed one at a time, the first ones while clang works. */
#include "xpu_codegen/pack/weights.h"

#include "xpu_codegen/lower/buffers.h"

static const xpu_weight *weight_of(const xpu_codegen *cg, uint32_t buffer) {
    uint32_t first = 0, end = cg->weights.count;
    while (first < end) {
        uint32_t middle = first + (end - first) / 2;
        if (cg->weights.items[middle].buffer == buffer) return &cg->weights.items[middle];
        if (cg->weights.items[middle].buffer < buffer) {
            first = middle + 1;
        } else {
            end = middle;
        }
    }
    return NULL;
}

static xpu_status pack_weight(xpu_codegen *cg, uint32_t buffer, xpu_arena *scratch, const void **bytes,
                              uint64_t *length) {
    const xpu_weight *weight = weight_of(cg, buffer);
    if (!weight) return xpu_codegen_bug(cg, "a weight has no constant", "buffer %u", buffer);
    xpu_tensor tensor;
    int is_linear = weight->packing.kind == XPU_PACK_LINEAR;
    xpu_arena *source = is_linear ? scratch : xpu_arena_new(xpu_arena_mem(scratch), "constant");
    xpu_status status = xpu_const_tensor(cg->graph, weight->value, source, &tensor, cg->diags);
    if (status == XPU_OK) {
        *length = xpu_packed_bytes(&weight->packing, tensor.dtype, (uint64_t)xpu_tensor_count(&tensor));
        void *packed = is_linear ? tensor.data : xpu_alloc(scratch, *length);
        *bytes = packed;
        if (!is_linear) status = xpu_pack(&weight->packing, &tensor, packed);
        if (status != XPU_OK) xpu_codegen_bug(cg, "a constant does not fit its packing", "buffer %u", buffer);
    }
    if (!is_linear) xpu_arena_free(source);
    return status;
}

xpu_status xpu_pack_ahead(xpu_codegen *cg) {
    const uint64_t most = 64 << 20; /* so that a large model's weights are never in memory as a whole */
    const uint64_t batch = 1 << 20; /* an arena for each of many small ones would be larger than they are */
    uint64_t kept = 0, in_batch = 0;
    xpu_arena *arena = NULL;
    for (uint32_t i = 0; i < cg->program.buffers.count; i++) {
        const xpu_program_buffer *buffer = &cg->program.buffers.items[i];
        if (buffer->kind != XPU_BUFFER_WEIGHT) continue;
        uint64_t bytes = (uint64_t)xpu_dim_upper(cg, buffer->bytes);
        kept += bytes;
        if (kept > most) return XPU_OK;
        if (!arena || in_batch + bytes > batch) {
            arena = xpu_arena_new(xpu_arena_mem(cg->arena), "packed weights");
            in_batch = 0;
        }
        in_batch += bytes;
        xpu_packed_weight packed = {arena, NULL, 0};
        xpu_status status = pack_weight(cg, i, packed.arena, &packed.bytes, &packed.length);
        if (status != XPU_OK) return status;
        XPU_PUSH(cg->arena, &cg->ahead, packed);
    }
    return XPU_OK;
}

/* Those that were packed ahead are the first, in the same order; a batch is freed when the next one is asked for. */
xpu_status xpu_deliver_weight(void *context, uint32_t buffer, xpu_arena *scratch, const void **bytes, uint64_t *length,
                              xpu_diags *diags) {
    (void)diags;
    xpu_codegen *cg = context;
    if (cg->delivered > 0 && cg->delivered <= cg->ahead.count) {
        xpu_arena *last = cg->ahead.items[cg->delivered - 1].arena;
        xpu_arena *next = cg->delivered < cg->ahead.count ? cg->ahead.items[cg->delivered].arena : NULL;
        if (next != last) xpu_arena_free(last);
    }
    if (cg->delivered++ >= cg->ahead.count) return pack_weight(cg, buffer, scratch, bytes, length);
    const xpu_packed_weight *packed = &cg->ahead.items[cg->delivered - 1];
    *bytes = packed->bytes;
    *length = packed->length;
    return XPU_OK;
}
