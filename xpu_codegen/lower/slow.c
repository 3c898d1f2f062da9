#include "xpu_codegen/lower/slow.h"

#include "xpu_codegen/choose/listed.h"
#include "xpu_codegen/lower/buffers.h"
#include "xpu_runtime/include/generated/xpu_chip_regs.h"

enum { LINE_BYTES = 64 };

xpu_memplan *xpu_plan_unlinked(xpu_codegen *cg, xpu_arena *arena, xpu_placement *placement) {
    xpu_program unlinked = cg->program;
    xpu_memplan *plan = NULL;
    unlinked.weights_address = unlinked.image_end = XPU_GM_BASE;
    xpu_diags *diags = xpu_diags_new(arena);
    if (xpu_placement_problem(&unlinked, &cg->chip, NULL, arena, placement, diags) != XPU_OK) return NULL;
    if (cg->rules.count && xpu_memory_rules_apply(arena, &cg->rules, &placement->problem, diags) != XPU_OK) return NULL;
    return xpu_placement_plan(placement, arena, &plan, diags) == XPU_OK ? plan : NULL;
}

int xpu_find_slow(xpu_codegen *cg) {
    if (cg->chip.gm_rate >= cg->chip.l3_rate || cg->chip.gm_rate >= LINE_BYTES || !xpu_is_listed(cg)) return 0;
    xpu_arena *scratch = xpu_arena_new(xpu_arena_mem(cg->arena), "values in GM");
    uint8_t *slow = XPU_NEW_ARRAY(cg->arena, uint8_t, cg->graph->values.count);
    uint32_t found = 0;
    xpu_placement placement;
    const xpu_memplan *plan = xpu_plan_unlinked(cg, scratch, &placement);
    for (uint32_t i = 1; plan && i < cg->graph->values.count; i++) {
        if (cg->buffer_of[i] < 0) continue;
        const uint32_t buffer = xpu_buffer_place(cg, (uint32_t)cg->buffer_of[i]);
        const xpu_program_buffer *b = &cg->program.buffers.items[buffer];
        slow[i] = b->kind == XPU_BUFFER_ACTIVATION && plan->places[buffer].level == XPU_LEVEL_GM;
        found += slow[i];
    }
    xpu_arena_free(scratch);
    cg->slow = found ? slow : NULL;
    cg->slow_count = cg->graph->values.count;
    return found > 0;
}
