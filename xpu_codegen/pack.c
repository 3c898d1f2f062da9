/* The program's file: memory is planned behind the linked image, weights are packed one at a time. */
#include <string.h>

#include "memplan/check.h"
#include "xpu_codegen/codegen.h"
#include "xpu_runtime/include/generated/xpu_chip_regs.h"
#include "xpu_runtime/program/file.h"

/* ---- memory ---- */

static void remove_level(xpu_program_buffer *buffer, uint32_t level) {
    uint8_t kept = 0;
    for (uint8_t i = 0; i < buffer->level_count; i++) {
        if (buffer->levels[i] != level) buffer->levels[kept++] = buffer->levels[i];
    }
    buffer->level_count = kept;
}

static void prefer_level(xpu_program_buffer *buffer, uint32_t level) {
    uint8_t had = buffer->level_count;
    remove_level(buffer, level);
    if (buffer->level_count == had) return; /* it is not allowed there */
    memmove(buffer->levels + 1, buffer->levels, buffer->level_count);
    buffer->levels[0] = (uint8_t)level;
    buffer->level_count = had;
}

/* Placement rules become the allowed levels of buffers, so that the runtime keeps to them. */
static void apply_rules(xpu_codegen *cg, const xpu_memplan_problem *problem) {
    for (uint32_t i = problem->match_count; i-- > 0;) { /* the first preference is applied last and wins */
        const xpu_memplan_rule *rule = &problem->rules[problem->matches[i].rule];
        xpu_program_buffer *buffer = &cg->program.buffers.items[problem->matches[i].buffer];
        if (buffer->kind == XPU_BUFFER_WEIGHT || buffer->kind == XPU_BUFFER_COPY) continue;
        if (rule->strength == XPU_MEMPLAN_NEVER) {
            remove_level(buffer, rule->level);
        } else if (rule->strength == XPU_MEMPLAN_PREFER) {
            prefer_level(buffer, rule->level);
        }
    }
    for (uint32_t i = 0; i < problem->match_count; i++) {
        const xpu_memplan_rule *rule = &problem->rules[problem->matches[i].rule];
        xpu_program_buffer *buffer = &cg->program.buffers.items[problem->matches[i].buffer];
        if (rule->strength != XPU_MEMPLAN_MUST || buffer->kind == XPU_BUFFER_WEIGHT) continue;
        if (buffer->kind == XPU_BUFFER_COPY) continue;
        buffer->levels[0] = (uint8_t)rule->level;
        buffer->level_count = 1;
    }
}

/* Plans at the upper bound of the symbols: what fits there fits everywhere. */
static xpu_status plan_memory(xpu_codegen *cg) {
    xpu_program *program = &cg->program;
    const int64_t *symbols = xpu_upper_bound(cg);
    xpu_status status = xpu_placement_problem(program, &cg->chip, symbols, cg->arena, &cg->placement, cg->diags);
    xpu_memplan_problem *problem = &cg->placement.problem;
    if (status == XPU_OK && cg->rules.count) {
        status = xpu_memory_rules_apply(cg->arena, &cg->rules, problem, cg->diags);
        xpu_rules_of_copies(cg, problem);
    }
    if (status == XPU_OK) status = xpu_memplan_make(cg->arena, problem, NULL, &cg->plan, cg->diags);
    if (status == XPU_OK) status = xpu_memplan_check(cg->arena, problem, cg->plan, cg->diags);
    if (status != XPU_OK) return status;
    if (cg->rules.count) {
        xpu_explain_missing_copies(cg, cg->plan);
        xpu_memory_rules_unused(cg->arena, &cg->rules, cg->diags);
        apply_rules(cg, problem);
    }
    if (symbols) return XPU_OK;
    const xpu_place *places = xpu_placement_places(program, &cg->placement, cg->plan, cg->arena);
    for (uint32_t i = 0; i < program->buffers.count; i++) {
        program->buffers.items[i].placed = 1;
        program->buffers.items[i].level = places[i].level;
        program->buffers.items[i].offset = places[i].offset;
    }
    return XPU_OK;
}

/* ---- weights ---- */

static const xpu_weight *weight_of(const xpu_codegen *cg, uint32_t buffer) {
    for (uint32_t i = 0; i < cg->weights.count; i++) {
        if (cg->weights.items[i].buffer == buffer) return &cg->weights.items[i];
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
    uint64_t kept = 0;
    for (uint32_t i = 0; i < cg->program.buffers.count; i++) {
        const xpu_program_buffer *buffer = &cg->program.buffers.items[i];
        if (buffer->kind != XPU_BUFFER_WEIGHT) continue;
        kept += (uint64_t)xpu_dim_upper(cg, buffer->bytes);
        if (kept > most) return XPU_OK;
        xpu_packed_weight packed = {xpu_arena_new(xpu_arena_mem(cg->arena), "packed weight"), NULL, 0};
        xpu_status status = pack_weight(cg, i, packed.arena, &packed.bytes, &packed.length);
        if (status != XPU_OK) return status;
        XPU_PUSH(cg->arena, &cg->ahead, packed);
    }
    return XPU_OK;
}

/* Those that were packed ahead are the first, in the same order; each is freed when the next one is asked for. */
static xpu_status deliver_weight(void *context, uint32_t buffer, xpu_arena *scratch, const void **bytes,
                                 uint64_t *length, xpu_diags *diags) {
    (void)diags;
    xpu_codegen *cg = context;
    if (cg->delivered > 0 && cg->delivered <= cg->ahead.count) {
        xpu_packed_weight *last = &cg->ahead.items[cg->delivered - 1];
        xpu_arena_free(last->arena);
        last->arena = NULL;
    }
    if (cg->delivered++ >= cg->ahead.count) return pack_weight(cg, buffer, scratch, bytes, length);
    const xpu_packed_weight *packed = &cg->ahead.items[cg->delivered - 1];
    *bytes = packed->bytes;
    *length = packed->length;
    return XPU_OK;
}

xpu_status xpu_pack_program(xpu_codegen *cg, const char *elf, const char *path) {
    xpu_status status = xpu_program_locate(&cg->program, elf, cg->arena, cg->diags);
    if (status == XPU_OK) status = plan_memory(cg);
    if (status != XPU_OK) return status;
    return xpu_program_write(&cg->program, elf, path, deliver_weight, cg, cg->arena, cg->diags);
}
