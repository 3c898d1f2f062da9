/* The plan of a compiled program as people see it. */
#include "memplan/check.h"
#include "memplan/explain.h"
#include "xpu_runtime/include/generated/xpu_chip_regs.h"
#include "xpu_runtime/program/placement.h"

/* The first alternative of each buffer that its place shows to be taken: it begins when the other one ends. */
static void find_in_place(const xpu_memplan_problem *problem, xpu_memplan *plan) {
    for (uint32_t i = 0; i < problem->alias_count; i++) {
        const xpu_memplan_alias *alias = &problem->aliases[i];
        xpu_memplan_place *own = &plan->places[alias->buffer];
        const xpu_memplan_place *other = &plan->places[alias->other];
        if (own->alias != XPU_MEMPLAN_NONE || own->level != other->level) continue;
        if (own->offset != other->offset + alias->offset) continue;
        if (problem->buffers[alias->other].last != problem->buffers[alias->buffer].first) continue;
        own->alias = i;
        own->alias_of = alias->other;
    }
}

/* The reason as the places show it: the file does not keep what the planner saw. */
static const char *why_spilled(const xpu_memplan_problem *problem, const xpu_memplan *plan, uint32_t spill,
                               xpu_arena *arena) {
    const xpu_memplan_reason reason = xpu_memplan_explain(arena, problem, plan, plan->spills[spill].buffer);
    const char *step = xpu_memplan_step(arena, problem, reason.shortage.step);
    return reason.shortage.short_bytes ? xpu_printf(arena, "no room: %llu bytes short at %s",
                                                    (unsigned long long)reason.shortage.short_bytes, step)
                                       : "no room in one piece";
}

static xpu_memplan *stored_plan(const xpu_program *program, const xpu_placement *placement, xpu_arena *arena) {
    const xpu_memplan_problem *problem = &placement->problem;
    xpu_memplan *plan = XPU_NEW(arena, xpu_memplan);
    *plan = (xpu_memplan){.places = XPU_NEW_ARRAY(arena, xpu_memplan_place, problem->buffer_count),
                          .buffer_count = problem->buffer_count,
                          .usage = XPU_NEW_ARRAY(arena, xpu_memplan_usage, problem->level_count),
                          .level_count = problem->level_count,
                          .file = program->source};
    XPU_ARRAY(xpu_memplan_spill) spills = {0};
    for (uint32_t i = 0; i < problem->buffer_count; i++) {
        const xpu_program_buffer *buffer = &program->buffers.items[i];
        uint64_t base = buffer->kind == XPU_BUFFER_WEIGHT ? program->weights_address - XPU_GM_BASE
                                                          : placement->reserved[buffer->level];
        plan->places[i] = (xpu_memplan_place){buffer->level, base + buffer->offset, XPU_MEMPLAN_NONE, XPU_MEMPLAN_NONE};
        if (buffer->alias_of >= 0) plan->places[i].level = problem->buffers[i].levels[0], plan->places[i].offset = 0;
        if (plan->places[i].level == problem->buffers[i].levels[0]) continue;
        xpu_memplan_spill spill = {i, problem->buffers[i].levels[0], NULL};
        XPU_PUSH(arena, &spills, spill);
    }
    plan->spills = spills.items;
    plan->spill_count = spills.count;
    find_in_place(problem, plan);
    for (uint32_t i = 0; i < plan->spill_count; i++) plan->spills[i].why = why_spilled(problem, plan, i, arena);
    xpu_memplan_measure(arena, problem, plan->places, plan->usage);
    return plan;
}

/* An alias lies in a buffer that stands before it in the list. */
static void show_aliases(const xpu_program *program, const int64_t *symbols, xpu_memplan_buffer *buffers,
                         xpu_memplan *plan) {
    const xpu_dims *dims = &program->graph->dims;
    for (uint32_t i = 0; i < program->buffers.count; i++) {
        const xpu_program_buffer *buffer = &program->buffers.items[i];
        if (buffer->alias_of < 0 || (uint32_t)buffer->alias_of >= i) continue;
        const xpu_memplan_place *of = &plan->places[buffer->alias_of];
        int64_t more = buffer->alias_offset.id ? xpu_dim_eval(dims, buffer->alias_offset, symbols) : 0;
        int64_t bytes = xpu_dim_is_dynamic(program->graph, buffer->bytes)
                            ? xpu_dim_between(program->graph, buffer->bytes, symbols).max
                            : xpu_dim_eval(dims, buffer->bytes, symbols);
        buffers[i].bytes = bytes > 0 ? (uint64_t)bytes : 0;
        plan->places[i] =
            (xpu_memplan_place){of->level, of->offset + (uint64_t)more, XPU_MEMPLAN_NONE, (uint32_t)buffer->alias_of};
    }
}

xpu_status xpu_placement_show(const xpu_program *program, xpu_placement *placement, const int64_t *symbols,
                              xpu_arena *arena, xpu_memplan **plan, xpu_diags *diags) {
    xpu_memplan_problem *problem = &placement->problem;
    xpu_status status = XPU_OK;
    if (xpu_placement_is_stored(program)) {
        *plan = stored_plan(program, placement, arena);
        status = xpu_memplan_check(arena, problem, *plan, diags);
    } else {
        status = xpu_placement_plan(placement, arena, plan, diags);
    }
    if (status != XPU_OK) return status;
    xpu_memplan_buffer *buffers = xpu_copy(arena, problem->buffers, problem->buffer_count * sizeof *buffers);
    show_aliases(program, symbols, buffers, *plan);
    problem->buffers = buffers;
    return XPU_OK;
}
