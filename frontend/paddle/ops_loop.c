/* while of both forms. */
#include "frontend/paddle/control.h"
#include "frontend/paddle/converters.h"

static const xpu_value none = {0};

/* The loop's explicit values (PIR: operands, arguments, results), and what the body writes. */
typedef struct {
    uint32_t body, condition;
    uint32_t own;                            /* explicit ones */
    const uint32_t *before, *inside, *after; /* variables of the first values, of the arguments, of the results */
    const uint32_t *next;                    /* of what an iteration gives */
    uint32_t goes_on;                        /* of the condition behind an iteration */
    xpu_paddle_vars written;
} loop_form;

/* The variables, of explicit values, then those that are written. */
static const uint32_t *with_written(const xpu_paddle_node *node, const uint32_t *own, const loop_form *form) {
    return xpu_paddle_join_vars(node, own, form->own, &form->written);
}

static int carry(xpu_paddle_node *node, const loop_form *form, xpu_paddle_reading *r, xpu_value condition,
                 xpu_value *first) {
    const uint32_t *vars = with_written(node, form->before, form);
    for (uint32_t i = 0; i < form->own; i++) {
        if (vars[i] != XPU_PADDLE_NO_VAR && form->inside[i] != XPU_PADDLE_NO_VAR) {
            if (!xpu_paddle_check_var(node, vars[i])) return 0;
            continue;
        }
        xpu_paddle_refuse(node, "a carried value is missing", xpu_paddle_format(node, "value %u is null", i));
        return 0;
    }
    size_t errors = node->importer->diags->errors;
    if (!xpu_paddle_types_before(node, vars, r->count, r->types)) {
        if (node->importer->diags->errors != errors) return 0;
        xpu_paddle_binding *start = XPU_NEW_ARRAY(node->importer->scratch, xpu_paddle_binding, form->own + 1);
        for (uint32_t i = 0; i < form->own; i++) start[i] = node->importer->bindings[form->before[i]];
        r->arguments = form->inside;
        r->start = start;
        r->start_count = form->own;
        xpu_paddle_learn(r, 0, condition);
    }
    for (uint32_t i = 0; i < r->count; i++) {
        if (node->importer->bindings[vars[i]].state == XPU_PADDLE_FAILED) return 0;
        first[i] = xpu_paddle_held_value(node, vars[i]);
        if (!first[i].id && r->types[i].is_known)
            first[i] = xpu_paddle_blank(node, &r->types[i], xpu_paddle_is_array(node->importer, vars[i]));
        if (node->importer->diags->errors != errors) return 0;
        if (i >= form->own || first[i].id) continue;
        xpu_paddle_refuse(node, "an operand is an empty tensor array", "nothing says what its tensors are");
        return 0;
    }
    return 1;
}

/* What nobody knows the type of is the body's own: nothing was given to it. */
static void drop_unknown(loop_form *form, const xpu_paddle_value_type *types) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < form->written.count; i++) {
        if (types[form->own + i].is_known) form->written.items[count++] = form->written.items[i];
    }
    form->written.count = count;
}

static xpu_value convert_loop(xpu_paddle_node *node, loop_form *form, xpu_value condition) {
    xpu_paddle_importer *importer = node->importer;
    uint32_t count = form->own + form->written.count;
    xpu_paddle_reading r = {.node = node, .count = count, .is_loop = 1, .condition = form->goes_on};
    r.bodies[0] = form->body;
    r.types = XPU_NEW_ARRAY(importer->scratch, xpu_paddle_value_type, count + 1);
    r.gives[0] = with_written(node, form->next, form);
    xpu_value *first = XPU_NEW_ARRAY(importer->scratch, xpu_value, count + 1);
    if (!carry(node, form, &r, condition, first)) {
        xpu_paddle_set_results(node, with_written(node, form->after, form), count);
        return xpu_paddle_done(node, 0);
    }
    drop_unknown(form, r.types);
    uint32_t kept = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (first[i].id) first[kept++] = first[i];
    }
    r.count = form->own + form->written.count;
    r.types = NULL;
    r.gives[0] = with_written(node, form->next, form);
    r.arguments = with_written(node, form->inside, form);
    xpu_paddle_set_results(node, with_written(node, form->after, form), r.count);
    fe_looping loop = {.condition = condition, .first = first, .carried_count = r.count, .counts = 1};
    return xpu_paddle_done(node, fe_loop(&node->build, &loop, &(fe_bodies){xpu_paddle_read_body, &r}, node->results));
}

xpu_value xpu_paddle_convert_while(xpu_paddle_node *node) {
    xpu_paddle_importer *importer = node->importer;
    const int is_pir = node->op->dialect[0] != 0;
    loop_form form = {.body = xpu_paddle_one_body(node, 0)};
    uint32_t yielded = 0;
    if (form.body == XPU_PADDLE_NO_VAR) return none;
    xpu_paddle_body_vars vars = xpu_paddle_vars_of(importer, form.body);
    form.written = vars.written;
    if (is_pir) {
        const xpu_paddle_block *block = &importer->program->blocks.items[form.body];
        const xpu_paddle_slot *yields = xpu_paddle_yields_of(node, form.body, &yielded);
        form.own = node->op->output_count;
        if (node->op->input_count != form.own + 1 || yielded != form.own + 1 || block->argument_count != form.own)
            return xpu_paddle_refuse(
                node, "the body does not fit the operator",
                xpu_paddle_format(
                    node, "there are %u operands, %u results, %u arguments of the body, and %u values that it yields",
                    node->op->input_count, form.own, block->argument_count, yielded));
        form.before = xpu_paddle_vars_of_slots(node, node->op->inputs + 1, form.own);
        form.inside = block->arguments;
        form.after = node->result_vars;
        form.next = xpu_paddle_vars_of_slots(node, yields + 1, form.own);
        form.goes_on = yields[0].vars[0];
        form.condition = node->op->inputs[0].vars[0];
        if (form.condition == XPU_PADDLE_NO_VAR || form.goes_on == XPU_PADDLE_NO_VAR ||
            !xpu_paddle_check_var(node, form.condition))
            return none;
    } else {
        form.condition = form.goes_on = xpu_paddle_one_var(node, "Condition");
        if (form.condition == XPU_PADDLE_NO_VAR) return xpu_paddle_fail_all(node, &form.written);
    }
    xpu_paddle_settle_all(importer, &vars);
    xpu_value condition = xpu_paddle_scalar_condition(node, xpu_paddle_held_value(node, form.condition));
    int64_t runs = 0;
    if (!condition.id) {
        for (uint32_t i = 0; i < form.own; i++) {
            if (form.after[i] != XPU_PADDLE_NO_VAR) xpu_paddle_bind(importer, form.after[i], none);
        }
        return xpu_paddle_fail_all(node, &form.written);
    }
    if (xpu_paddle_known_number(node, condition, &runs) && !runs) {
        for (uint32_t i = 0; i < form.own; i++) {
            if (form.after[i] == XPU_PADDLE_NO_VAR || form.before[i] == XPU_PADDLE_NO_VAR) continue;
            if (xpu_paddle_check_var(node, form.before[i]))
                importer->bindings[form.after[i]] = importer->bindings[form.before[i]];
        }
        node->is_bound = 1;
        return none;
    }
    xpu_paddle_stack_arrays(node, &vars);
    return convert_loop(node, &form, condition);
}
