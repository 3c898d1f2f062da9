/* The steps of a program, and the words of the plan table that they read and write. */
#include "xpu_codegen/lower/steps.h"

#include <string.h>

/* ---- the list ---- */

static xpu_program_step *last_step(const xpu_codegen *cg) {
    uint32_t count = cg->program.steps.count;
    return count ? &cg->program.steps.items[count - 1] : NULL;
}

void xpu_step_layer(xpu_codegen *cg, uint32_t layer) {
    xpu_program_step *last = last_step(cg);
    if (cg->in_range && last && last->kind == XPU_DO_RUN && last->last + 1 == layer) {
        last->last = layer;
        return;
    }
    uint32_t index = xpu_add_step(cg, XPU_DO_RUN, NULL);
    cg->program.steps.items[index].first = cg->program.steps.items[index].last = layer;
    cg->in_range = 1;
}

int xpu_begins_range(const xpu_codegen *cg, uint32_t layer) {
    const xpu_program_step *last = last_step(cg);
    return !last || last->kind != XPU_DO_RUN || last->first == layer;
}

uint32_t xpu_end_range(xpu_codegen *cg) {
    cg->in_range = 0;
    return cg->program.steps.count;
}

uint32_t xpu_add_step(xpu_codegen *cg, xpu_program_step_kind kind, const char *comment) {
    uint32_t index = xpu_end_range(cg);
    xpu_program_step step = {.kind = kind, .middle = index + 1, .end = index + 1};
    XPU_PUSH(cg->arena, &cg->program.steps, step);
    XPU_PUSH(cg->arena, &cg->step_controls, ((xpu_step_control){.comment = comment}));
    return index;
}

xpu_step_control *xpu_step_control_of(xpu_codegen *cg, uint32_t step) {
    return &cg->step_controls.items[step];
}

/* A range of the first layer alone comes before all, or that layer joins the range which is first. */
void xpu_steps_behind_first(xpu_codegen *cg) {
    xpu_program_step *steps = cg->program.steps.items;
    uint32_t count = cg->program.steps.count;
    for (uint32_t i = 0; i < count; i++) {
        if (steps[i].kind == XPU_DO_RUN) steps[i].first++, steps[i].last++;
    }
    if (count && steps[0].kind == XPU_DO_RUN) {
        steps[0].first = 0;
        return;
    }
    xpu_add_step(cg, XPU_DO_RUN, NULL);
    steps = cg->program.steps.items;
    memmove(steps + 1, steps, count * sizeof *steps);
    memmove(cg->step_controls.items + 1, cg->step_controls.items, count * sizeof *cg->step_controls.items);
    cg->step_controls.items[0] = (xpu_step_control){0};
    steps[0] = (xpu_program_step){.kind = XPU_DO_RUN, .middle = 1, .end = 1};
    for (uint32_t i = 1; i <= count; i++) steps[i].middle++, steps[i].end++;
}

/* ---- terms ---- */

static int is_leaf(const xpu_codegen *cg, xpu_dim dim) {
    return xpu_dim_at(&cg->graph->dims, dim)->kind == XPU_DIM_SYMBOL || !xpu_dim_is_dynamic(cg->graph, dim);
}

uint32_t xpu_control_term(const xpu_codegen *cg, xpu_dim dim) {
    uint32_t i = 0;
    while (i < cg->control->terms.count &&
           (cg->control->terms.items[i].kind != XPU_WORD_DIM || cg->control->terms.items[i].dim.id != dim.id)) {
        i++;
    }
    return i;
}

/* The largest parts of an expression that no step changes become terms. */
static void add_terms(xpu_codegen *cg, xpu_dim dim) {
    const xpu_dim_node node = *xpu_dim_at(&cg->graph->dims, dim);
    if (!is_leaf(cg, dim)) {
        add_terms(cg, node.a);
        add_terms(cg, node.b);
    } else if (node.kind != XPU_DIM_CONST && !xpu_dim_is_dynamic(cg->graph, dim) &&
               xpu_control_term(cg, dim) == cg->control->terms.count) {
        XPU_PUSH(cg->arena, &cg->control->terms, ((xpu_plan_word){.kind = XPU_WORD_DIM, .dim = dim}));
    }
}

static int32_t address_term(xpu_codegen *cg, uint32_t buffer) {
    uint32_t i = 0, count = cg->control->terms.count;
    const xpu_plan_word *terms = cg->control->terms.items;
    while (i < count && (terms[i].kind != XPU_WORD_ADDRESS || terms[i].buffer != buffer)) i++;
    if (i == count) {
        XPU_PUSH(cg->arena, &cg->control->terms, ((xpu_plan_word){.kind = XPU_WORD_ADDRESS, .buffer = buffer}));
    }
    return (int32_t)i;
}

/* found[i] becomes 1 where the expression has symbol i, which the run finds; whether there is one. */
static int find_dynamic(const xpu_codegen *cg, xpu_dim dim, uint8_t *found) {
    if (!xpu_dim_is_dynamic(cg->graph, dim)) return 0;
    xpu_dim_find_symbols(&cg->graph->dims, dim, found);
    for (uint32_t s = 0; s < cg->graph->dims.symbols.count; s++) found[s] &= xpu_symbol_is_dynamic(cg->graph, s) != 0;
    return 1;
}

/* ---- updates ---- */

static xpu_update *update_of(xpu_codegen *cg, uint32_t symbol) {
    for (uint32_t i = 0; i < cg->control->updates.count; i++) {
        xpu_update *update = &cg->control->updates.items[i];
        if (cg->program.steps.items[update->step].symbol == symbol) return update;
    }
    return NULL;
}

static void add_others(const xpu_codegen *cg, xpu_update *update, const uint8_t *found) {
    const uint32_t own = cg->program.steps.items[update->step].symbol;
    for (uint32_t s = 0; s < cg->graph->dims.symbols.count; s++) update->others[s] |= found[s] && s != own;
}

static void update_word(xpu_codegen *cg, uint32_t index, const uint8_t *found) {
    const xpu_plan_word word = cg->program.plan.items[index];
    xpu_updated_word updated = {index, -1, word.dim};
    add_terms(cg, word.dim);
    if (word.kind == XPU_WORD_ADDRESS) updated.base = address_term(cg, word.buffer);
    for (uint32_t s = 0; s < cg->graph->dims.symbols.count; s++) {
        xpu_update *update = found[s] ? update_of(cg, s) : NULL;
        if (!update) continue;
        XPU_PUSH(cg->arena, &update->words, updated);
        add_others(cg, update, found);
    }
}

/* A guard is checked where the last of its symbols is set. */
static void update_guard(xpu_codegen *cg, uint32_t guard, const uint8_t *found) {
    xpu_update *last = NULL;
    for (uint32_t i = 0; i < cg->control->updates.count; i++) {
        xpu_update *update = &cg->control->updates.items[i];
        if (found[cg->program.steps.items[update->step].symbol]) last = update;
    }
    if (!last) return;
    add_terms(cg, cg->graph->guards.items[guard].a);
    add_terms(cg, cg->graph->guards.items[guard].b);
    XPU_PUSH(cg->arena, &last->guards, guard);
    add_others(cg, last, found);
}

static void find_updates(xpu_codegen *cg) {
    const xpu_graph *graph = cg->graph;
    const size_t symbols = graph->dims.symbols.count;
    uint8_t *found = XPU_NEW_ARRAY(cg->arena, uint8_t, symbols);
    for (uint32_t i = 0; i < cg->program.steps.count; i++) {
        if (cg->program.steps.items[i].kind != XPU_DO_SET) continue;
        XPU_PUSH(cg->arena, &cg->control->updates,
                 ((xpu_update){.step = i, .others = XPU_NEW_ARRAY(cg->arena, uint8_t, symbols)}));
    }
    for (uint32_t i = 0; i < cg->control->first_word; i++) {
        memset(found, 0, symbols);
        if (find_dynamic(cg, cg->program.plan.items[i].dim, found)) update_word(cg, i, found);
    }
    for (uint32_t i = 0; i < graph->guards.count; i++) {
        memset(found, 0, symbols);
        int in_a = find_dynamic(cg, graph->guards.items[i].a, found);
        if (find_dynamic(cg, graph->guards.items[i].b, found) || in_a) update_guard(cg, i, found);
    }
}

void xpu_finish_steps(xpu_codegen *cg) {
    if (cg->program.steps.count <= 1) {
        const xpu_program_step *only = last_step(cg);
        if (!only || only->kind == XPU_DO_RUN) {
            cg->program.steps.count = 0;
            return;
        }
    }
    cg->control = XPU_NEW(cg->arena, xpu_control);
    cg->control->first_word = cg->program.plan.count;
    find_updates(cg);
    for (uint32_t i = 0; i < cg->program.steps.count; i++) {
        xpu_program_step *step = &cg->program.steps.items[i];
        step->word = step->kind == XPU_DO_RUN ? 0 : cg->program.plan.count;
        for (uint32_t w = 0; w < xpu_step_words(step->kind); w++) {
            XPU_PUSH(cg->arena, &cg->program.plan, cg->step_controls.items[i].words[w]);
        }
    }
    cg->control->first_term = cg->program.plan.count;
    for (uint32_t i = 0; i < cg->control->terms.count; i++) {
        XPU_PUSH(cg->arena, &cg->program.plan, cg->control->terms.items[i]);
    }
}
