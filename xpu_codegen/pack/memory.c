/*
 * Memory. A program without symbols gets its plan here. One with symbols is planned when shapes are bound, by the same
 * functions: here a plan of its largest shape goes into the report.
 */
#include "xpu_codegen/pack/memory.h"

#include <string.h>

#include "xpu_runtime/program/largest_shape.h"
#include "xpu_codegen/lower/weight_copies.h"
#include "xpu_runtime/include/generated/xpu_chip_regs.h"

/* ---- placement rules ---- */

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
        int whole = !rule->has_offset && !rule->has_bank; /* otherwise about one place of the level */
        if (rule->strength == XPU_MEMPLAN_NEVER && whole) {
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

/* ---- the program ---- */

static xpu_status make_problem(void *context, const int64_t *symbols, xpu_arena *arena, xpu_placement *placement,
                               xpu_diags *diags) {
    xpu_codegen *cg = context;
    xpu_status status = xpu_placement_problem(&cg->program, &cg->chip, symbols, arena, placement, diags);
    if (status != XPU_OK || !cg->rules.count) return status;
    status = xpu_memory_rules_apply(arena, &cg->rules, &placement->problem, diags);
    xpu_rules_of_copies(cg, arena, &placement->problem);
    return status;
}

/* Places in a level are known where memory is planned now, not when shapes are bound. */
static xpu_status refuse_places(xpu_codegen *cg) {
    for (uint32_t i = 0; i < cg->rules.count && cg->graph->dims.symbols.count; i++) {
        const xpu_memory_rule *rule = &cg->rules.items[i];
        if (!rule->has_offset && !rule->has_bank) continue;
        return xpu_error(cg->diags, XPU_EUSAGE, cg->rules.file, "rules-open",
                         xpu_printf(cg->arena, "key 'rules[%u]'", i),
                         "offsets and banks need a program of fixed shapes", rule->text,
                         "give every input one shape with --shape, or leave offset and bank out");
    }
    return XPU_OK;
}

/* As far as it is known before linking: which rules match a buffer. */
xpu_status xpu_check_memory_rules(xpu_codegen *cg) {
    if (!cg->rules.count) return XPU_OK;
    if (refuse_places(cg) != XPU_OK) return XPU_EUSAGE;
    xpu_arena *scratch = xpu_arena_new(xpu_arena_mem(cg->arena), "rules");
    xpu_program unlinked = cg->program;
    xpu_placement placement;
    unlinked.weights_address = unlinked.image_end = XPU_GM_BASE;
    xpu_status status = xpu_placement_problem(&unlinked, &cg->chip, NULL, scratch, &placement, xpu_diags_new(scratch));
    if (status != XPU_OK) {
        status = XPU_OK; /* it is reported when memory is planned */
    } else {
        status = xpu_memory_rules_apply(scratch, &cg->rules, &placement.problem, cg->diags);
        if (status == XPU_OK) status = xpu_memory_rules_unused(scratch, &cg->rules, &placement.problem, cg->diags);
    }
    xpu_arena_free(scratch);
    return status;
}

/* That not every shape in range fits is no error: the runtime refuses those that do not. */
static void note_limit(xpu_codegen *cg) {
    if (!cg->memory->refused || xpu_graph_broken_guard(cg->graph, cg->memory->symbols)) return;
    const char *shape = xpu_placement_shape(&cg->program, cg->memory->symbols, cg->arena);
    xpu_diag_add(cg->diags, XPU_SEVERITY_NOTE, XPU_OK, cg->graph->file, "shape-limit", NULL,
                 "not every shape in range fits the chip's memory", cg->memory->refused,
                 xpu_printf(cg->arena, "%s fits; shapes that do not are refused when they are bound", shape));
}

xpu_status xpu_plan_memory(xpu_codegen *cg) {
    xpu_program *program = &cg->program;
    const double start = xpu_seconds();
    cg->memory = XPU_NEW(cg->arena, xpu_largest_plan);
    xpu_status status =
        xpu_plan_largest(&(xpu_shape_search){cg->graph, make_problem, cg, cg->arena, cg->diags}, cg->memory);
    cg->plan_seconds = xpu_seconds() - start;
    if (status != XPU_OK) return status;
    if (cg->rules.count) {
        xpu_explain_missing_copies(cg, cg->memory->plan);
        apply_rules(cg, &cg->memory->placement.problem);
    }
    note_limit(cg);
    if (cg->memory->symbols) return XPU_OK;
    const xpu_place *places = xpu_placement_places(program, &cg->memory->placement, cg->memory->plan, cg->arena);
    for (uint32_t i = 0; i < program->buffers.count; i++) {
        program->buffers.items[i].placed = 1;
        program->buffers.items[i].level = places[i].level;
        program->buffers.items[i].offset = places[i].offset;
    }
    return XPU_OK;
}
