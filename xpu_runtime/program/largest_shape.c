/* The memory plan of the largest shape that has one. */
#include "xpu_runtime/program/largest_shape.h"

/* Symbol i `steps` of its steps above its smallest value, or at its upper bound. */
static const int64_t *grown(const xpu_shape_search *s, xpu_arena *arena, int64_t steps) {
    const xpu_dims *dims = &s->graph->dims;
    int64_t *symbols = XPU_NEW_ARRAY(arena, int64_t, dims->symbols.count);
    for (uint32_t i = 0; i < dims->symbols.count; i++) {
        const xpu_symbol *symbol = &dims->symbols.items[i];
        int64_t most = (symbol->max - symbol->min) / symbol->step;
        symbols[i] = symbol->min + (steps < most ? steps : most) * symbol->step;
    }
    xpu_symbols_bound(s->graph, symbols);
    return symbols;
}

static xpu_status plan_at(const xpu_shape_search *s, const int64_t *symbols, int any_plan, xpu_arena *arena,
                          xpu_largest_plan *plan, xpu_diags *diags) {
    *plan = (xpu_largest_plan){.symbols = symbols};
    xpu_status status = s->make(s->context, symbols, arena, &plan->placement, diags);
    plan->placement.planning.any_plan = any_plan;
    return status == XPU_OK ? xpu_placement_plan(&plan->placement, arena, &plan->plan, diags) : status;
}

/* Whether the shape has a plan; *why (may be NULL) in s->arena, where it has none. */
static xpu_status try_shape(const xpu_shape_search *s, int64_t steps, const char **why) {
    xpu_arena *scratch = xpu_arena_new(xpu_arena_mem(s->arena), "plan");
    xpu_diags *diags = xpu_diags_new(scratch);
    xpu_largest_plan plan;
    xpu_status status = plan_at(s, grown(s, scratch, steps), 1, scratch, &plan, diags);
    if (why && diags->count) {
        const xpu_diag *first = &diags->items[0];
        *why = xpu_printf(s->arena, "%s: %s", first->where ? first->where : "the largest shape", first->what);
    }
    xpu_arena_free(scratch);
    return status;
}

/* The largest number of steps, up to `steps`, at which no guard is broken; `steps` where there is none near. */
static int64_t within_guards(const xpu_shape_search *s, int64_t steps) {
    enum { NEAR = 1024 };
    xpu_arena *scratch = xpu_arena_new(xpu_arena_mem(s->arena), "plan");
    int64_t least = steps > NEAR ? steps - NEAR : 0, allowed = steps;
    while (allowed >= least && xpu_graph_broken_guard(s->graph, grown(s, scratch, allowed))) allowed--;
    xpu_arena_free(scratch);
    return allowed >= least ? allowed : steps;
}

/* Steps from the smallest shape to the upper bound of all symbols. */
static int64_t all_steps(const xpu_shape_search *s) {
    const xpu_dims *dims = &s->graph->dims;
    int64_t most = 0;
    for (uint32_t i = 0; i < dims->symbols.count; i++) {
        const xpu_symbol *symbol = &dims->symbols.items[i];
        int64_t steps = (symbol->max - symbol->min) / symbol->step;
        if (steps > most && !xpu_symbol_is_dynamic(s->graph, i)) most = steps;
    }
    return most;
}

xpu_status xpu_plan_largest(const xpu_shape_search *s, xpu_largest_plan *plan) {
    if (!s->graph->dims.symbols.count) return plan_at(s, NULL, 0, s->arena, plan, s->diags);
    int64_t fits = 0, too_many = all_steps(s);
    const char *refused = NULL;
    xpu_status status = try_shape(s, too_many, &refused);
    if (status == XPU_OK || status == XPU_EBUG) {
        fits = too_many;
        refused = NULL;
    }
    while (too_many - fits > 1) {
        int64_t middle = fits + (too_many - fits) / 2;
        if (try_shape(s, middle, NULL) == XPU_OK) {
            fits = middle;
        } else {
            too_many = middle;
        }
    }
    status = plan_at(s, grown(s, s->arena, within_guards(s, fits)), 0, s->arena, plan, s->diags);
    plan->refused = refused;
    return status;
}
