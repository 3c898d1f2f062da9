/*
 * Branches and loops as C: one function with the ranges of layers between its control flow, and a function for each
 * symbol that the run finds, which computes again what depends on it.
 */
#include "xpu_codegen/emit/steps_text.h"

#include "xpu_codegen/lower/layers.h"
#include "xpu_codegen/lower/steps.h"

const char *xpu_plan_constness(const xpu_codegen *cg) {
    return cg->control ? "" : "const ";
}

/* ---- expressions ---- */

static void emit_expression(const xpu_codegen *cg, xpu_text *text, xpu_dim dim) {
    static const char *const functions[] = {[XPU_DIM_FLOORDIV] = "xpu_floordiv",
                                            [XPU_DIM_MOD] = "xpu_floormod",
                                            [XPU_DIM_MIN] = "xpu_smaller",
                                            [XPU_DIM_MAX] = "xpu_larger"};
    const xpu_dim_node *node = xpu_dim_at(&cg->graph->dims, dim);
    if (node->kind == XPU_DIM_CONST) {
        xpu_text_add(text, "%lld", (long long)node->value);
    } else if (!xpu_dim_is_dynamic(cg->graph, dim)) {
        xpu_text_add(text, "terms[%u]", xpu_control_term(cg, dim));
    } else if (node->kind == XPU_DIM_SYMBOL) {
        xpu_text_add(text, "s%lld", (long long)node->value);
    } else if (node->kind == XPU_DIM_ADD || node->kind == XPU_DIM_MUL) {
        xpu_text_add(text, "(");
        emit_expression(cg, text, node->a);
        xpu_text_add(text, node->kind == XPU_DIM_ADD ? " + " : " * ");
        emit_expression(cg, text, node->b);
        xpu_text_add(text, ")");
    } else {
        xpu_text_add(text, "%s(", functions[node->kind]);
        emit_expression(cg, text, node->a);
        xpu_text_add(text, ", ");
        emit_expression(cg, text, node->b);
        xpu_text_add(text, ")");
    }
}

/* ---- symbols ---- */

static uint32_t word_of_symbol(const xpu_codegen *cg, uint32_t symbol) {
    for (uint32_t i = 0; i < cg->program.steps.count; i++) {
        const xpu_program_step *step = &cg->program.steps.items[i];
        if (step->kind == XPU_DO_SET && step->symbol == symbol) return step->word;
    }
    return 0;
}

static int is_new(const xpu_update *update, uint32_t index) {
    for (uint32_t i = 0; i < index; i++) {
        if (update->words.items[i].dim.id == update->words.items[index].dim.id) return 0;
    }
    return 1;
}

static void emit_words(xpu_codegen *cg, xpu_text *text, const xpu_update *update) {
    for (uint32_t i = 0; i < update->words.count; i++) {
        xpu_dim dim = update->words.items[i].dim;
        if (!is_new(update, i)) continue;
        xpu_text_add(text, "    const int32_t e%u = ", dim.id);
        emit_expression(cg, text, dim);
        xpu_text_add(text, ";\n");
        for (uint32_t k = i; k < update->words.count; k++) {
            const xpu_updated_word *word = &update->words.items[k];
            if (word->dim.id != dim.id) continue;
            xpu_text_add(text, "    xpu_plan[%u] = ", word->word);
            if (word->base >= 0) xpu_text_add(text, "(uint32_t)terms[%d] + ", (int)word->base);
            xpu_text_add(text, "(uint32_t)e%u;\n", dim.id);
        }
    }
}

static void emit_guards(xpu_codegen *cg, xpu_text *text, const xpu_update *update) {
    for (uint32_t i = 0; i < update->guards.count; i++) {
        const xpu_guard *guard = &cg->graph->guards.items[update->guards.items[i]];
        xpu_text_add(text, "    /* %s: %s */\n    xpu_check_guard(%u, ", xpu_escape(cg->arena, guard->where, 80),
                     xpu_escape(cg->arena, xpu_guard_text(cg->graph, guard, cg->arena), 80), update->guards.items[i]);
        emit_expression(cg, text, guard->a);
        xpu_text_add(text, ", ");
        emit_expression(cg, text, guard->b);
        xpu_text_add(text, ");\n");
    }
}

static void emit_update(xpu_codegen *cg, xpu_text *text, const xpu_update *update) {
    const xpu_program_step *step = &cg->program.steps.items[update->step];
    const char *name = cg->graph->dims.symbols.items[step->symbol].name;
    xpu_text_add(text,
                 "/* '%s' is known: words that depend on it are computed again. */\nstatic void update_%u(void) {\n",
                 xpu_escape(cg->arena, name, 80), step->symbol);
    xpu_text_add(text, "    const int32_t s%u = xpu_set_symbol((struct xpu_set_words *)(xpu_plan + %u), %u);\n",
                 step->symbol, step->word, step->symbol);
    for (uint32_t s = 0; s < cg->graph->dims.symbols.count; s++) {
        uint32_t word = update->others[s] ? word_of_symbol(cg, s) : 0;
        if (word) xpu_text_add(text, "    const int32_t s%u = (int32_t)xpu_plan[%u];\n", s, word);
    }
    xpu_text_add(text, "    const int32_t *terms = (const int32_t *)xpu_plan + %u;\n    (void)terms, (void)s%u;\n",
                 cg->control->first_term, step->symbol);
    emit_guards(cg, text, update);
    emit_words(cg, text, update);
    xpu_text_add(text, "}\n\n");
}

/* ---- the program ---- */

static void indent(xpu_text *text, uint32_t depth) {
    for (uint32_t i = 0; i < depth; i++) xpu_text_add(text, "    ");
}

static void emit_range(xpu_codegen *cg, xpu_text *text, const xpu_program_step *step) {
    const xpu_program_layer *layers = cg->program.layers.items;
    if (xpu_has_many_layers(cg)) xpu_text_add(text, "called = %u; ", step->first); /* emit/layer_table.c counts on */
    xpu_text_add(text, "xpu_run_layers(%u, %u); /* %s", step->first, step->last,
                 xpu_escape(cg->arena, layers[step->first].name, 40));
    if (step->last > step->first)
        xpu_text_add(text, "%s%s", step->last > step->first + 1 ? " .. " : ", ",
                     xpu_escape(cg->arena, layers[step->last].name, 40));
    xpu_text_add(text, " */\n");
}

static void emit_list(xpu_codegen *cg, xpu_text *text, uint32_t first, uint32_t end, uint32_t depth);

static void emit_if(xpu_codegen *cg, xpu_text *text, uint32_t index, uint32_t depth) {
    const xpu_program_step step = cg->program.steps.items[index];
    xpu_text_add(text, "if (xpu_condition(xpu_plan[%u])) { /* %s */\n", step.word,
                 xpu_escape(cg->arena, cg->step_controls.items[index].comment, 80));
    emit_list(cg, text, index + 1, step.middle, depth + 1);
    if (step.middle < step.end) {
        indent(text, depth);
        xpu_text_add(text, "} else {\n");
        emit_list(cg, text, step.middle, step.end, depth + 1);
    }
    indent(text, depth);
    xpu_text_add(text, "}\n");
}

static void emit_loop(xpu_codegen *cg, xpu_text *text, uint32_t index, uint32_t depth) {
    const xpu_program_step step = cg->program.steps.items[index];
    xpu_text_add(text, "struct xpu_loop_words *loop_%u = (struct xpu_loop_words *)(xpu_plan + %u); /* %s */\n", index,
                 step.word, xpu_escape(cg->arena, cg->step_controls.items[index].comment, 80));
    indent(text, depth);
    xpu_text_add(text,
                 "for (int32_t i%u = 0, trips = xpu_loop_trips(loop_%u); xpu_loop_goes_on(loop_%u, i%u, trips); i%u++) "
                 "{\n",
                 index, index, index, index, index);
    emit_list(cg, text, index + 1, step.end, depth + 1);
    indent(text, depth);
    xpu_text_add(text, "}\n");
}

static void emit_list(xpu_codegen *cg, xpu_text *text, uint32_t first, uint32_t end, uint32_t depth) {
    for (uint32_t i = first; i < end; i = cg->program.steps.items[i].end) {
        indent(text, depth);
        switch (cg->program.steps.items[i].kind) {
        case XPU_DO_RUN: emit_range(cg, text, &cg->program.steps.items[i]); break;
        case XPU_DO_IF: emit_if(cg, text, i, depth); break;
        case XPU_DO_LOOP: emit_loop(cg, text, i, depth); break;
        case XPU_DO_SET: xpu_text_add(text, "update_%u();\n", cg->program.steps.items[i].symbol); break;
        case XPU_DO_COUNT: break;
        }
    }
}

void xpu_emit_steps(xpu_codegen *cg, xpu_text *text) {
    if (!cg->control) return;
    for (uint32_t i = 0; i < cg->control->updates.count; i++) emit_update(cg, text, &cg->control->updates.items[i]);
    xpu_text_add(text,
                 "/* The program: ranges of layers, and what is decided between them. */\nvoid xpu_program(void) {\n");
    emit_list(cg, text, 0, cg->program.steps.count, 1);
    xpu_text_add(text, "}\n\n");
}
