/* conditional_block, select_input, select_output; if of PIR. */
#include <string.h>

#include "core/ir/known.h"
#include "frontend/paddle/control.h"
#include "frontend/paddle/converters.h"

static const xpu_value none = {0};

/* ---- branches of a ProgramDesc ---- */

/* What conditional blocks give variables that had no value: read where a select_input takes one of two of them. */
struct xpu_paddle_pending {
    const xpu_paddle_op *op;
    xpu_value condition;
    uint32_t body;
    xpu_paddle_vars gives;
    xpu_paddle_saved around; /* what it read when it stood there */
    struct joined_list {
        struct joined_value {
            const xpu_paddle_pending *other;
            uint32_t vars[XPU_BRANCHES];
            xpu_value value;
        } *items;
        uint32_t count, capacity;
    } joined;
};

static xpu_value settle_block(xpu_paddle_node *node, xpu_value condition, uint32_t body, const xpu_paddle_vars *gives,
                              const xpu_paddle_saved *around) {
    xpu_paddle_reading r = {.node = node, .count = gives->count, .around = {around, NULL}};
    r.bodies[XPU_THEN] = body;
    r.bodies[XPU_ELSE] = XPU_PADDLE_NO_VAR;
    r.types = XPU_NEW_ARRAY(node->importer->scratch, xpu_paddle_value_type, gives->count + 1);
    r.gives[XPU_THEN] = r.gives[XPU_ELSE] = gives->items;
    xpu_paddle_set_results(node, gives->items, gives->count);
    return xpu_paddle_done(
        node, fe_if(&node->build, condition, &(fe_bodies){xpu_paddle_read_body, &r}, gives->count, node->results));
}

/* The operator as it was when it was put off. */
static void begin_again(xpu_paddle_importer *importer, const xpu_paddle_op *op, xpu_paddle_node *node) {
    *node = (xpu_paddle_node){.importer = importer, .op = op};
    xpu_paddle_begin_op(node);
}

void xpu_paddle_settle(xpu_paddle_importer *importer, uint32_t var) {
    xpu_paddle_pending *pending = importer->bindings[var].pending;
    xpu_paddle_node node;
    begin_again(importer, pending->op, &node);
    xpu_paddle_vars still = {0};
    for (uint32_t i = 0; i < pending->gives.count; i++) {
        const xpu_paddle_binding *binding = &importer->bindings[pending->gives.items[i]];
        if (binding->state == XPU_PADDLE_PENDING && binding->pending == pending)
            XPU_PUSH(importer->scratch, &still, pending->gives.items[i]);
    }
    settle_block(&node, pending->condition, pending->body, &still, &pending->around);
}

static void put_off(xpu_paddle_node *node, xpu_value condition, uint32_t body, const xpu_paddle_body_vars *vars) {
    xpu_paddle_importer *importer = node->importer;
    xpu_paddle_pending *pending = XPU_NEW(importer->scratch, xpu_paddle_pending);
    xpu_paddle_vars *read = XPU_NEW(importer->scratch, xpu_paddle_vars);
    *read = vars->read;
    *pending = (xpu_paddle_pending){.op = node->op, .condition = condition, .body = body, .gives = vars->written};
    pending->around = xpu_paddle_save(importer, read);
    for (uint32_t i = 0; i < vars->written.count; i++) {
        xpu_paddle_binding *binding = &importer->bindings[vars->written.items[i]];
        *binding = (xpu_paddle_binding){.state = XPU_PADDLE_PENDING, .pending = pending};
    }
    node->is_bound = 1;
}

static int had_no_value(const xpu_paddle_importer *importer, const xpu_paddle_vars *vars) {
    for (uint32_t i = 0; i < vars->count; i++) {
        int state = (int)importer->bindings[vars->items[i]].state;
        if (state != XPU_PADDLE_UNSET && state != XPU_PADDLE_PENDING) return 0;
    }
    return 1;
}

xpu_value xpu_paddle_convert_conditional_block(xpu_paddle_node *node) {
    xpu_paddle_importer *importer = node->importer;
    uint32_t body = xpu_paddle_one_body(node, 0), var = XPU_PADDLE_NO_VAR;
    xpu_paddle_body_vars vars = xpu_paddle_vars_of(importer, body);
    if (body != XPU_PADDLE_NO_VAR) var = xpu_paddle_one_var(node, "Cond");
    if (var == XPU_PADDLE_NO_VAR) return xpu_paddle_fail_all(node, &vars.written);
    xpu_value condition = importer->bindings[var].value;
    if (!xpu_paddle_int(node, "is_scalar_condition", 0)) {
        xpu_paddle_refuse(node, "attribute 'is_scalar_condition' is not set",
                          "whether the block runs depends on whether tensors have elements");
        return xpu_paddle_fail_all(node, &vars.written);
    }
    condition = xpu_paddle_scalar_condition(node, condition);
    if (!condition.id) return xpu_paddle_fail_all(node, &vars.written);
    int64_t runs = 0;
    int is_known = xpu_paddle_known_number(node, condition, &runs);
    if (is_known && runs) xpu_paddle_read_ops(node, body);
    if (is_known) {
        node->is_bound = 1;
        return none;
    }
    xpu_paddle_settle_all(importer, &vars);
    if (had_no_value(importer, &vars.written)) {
        put_off(node, condition, body, &vars);
        return none;
    }
    xpu_paddle_stack_arrays(node, &vars);
    return settle_block(node, condition, body, &vars.written, NULL);
}

/* The operand of the node that computes the value, {0} where that is another operator. */
static xpu_value operand_of(const xpu_paddle_node *node, xpu_value value, xpu_op_id op) {
    for (;;) {
        const xpu_value_info *info = xpu_paddle_info(node, value);
        if (!value.id || info->kind != XPU_VALUE_NODE) return none;
        const xpu_node_info *maker = xpu_node_at(node->build.graph, info->node);
        if (xpu_op_id_of(maker->op) == op) return maker->inputs[0];
        if (xpu_op_id_of(maker->op) != XPU_OP_RESHAPE && xpu_op_id_of(maker->op) != XPU_OP_IDENTITY) return none;
        value = maker->inputs[0];
    }
}

static xpu_value without_shape(const xpu_paddle_node *node, xpu_value value) {
    for (;;) {
        const xpu_value_info *info = xpu_paddle_info(node, value);
        if (!value.id || info->kind != XPU_VALUE_NODE) return value;
        const xpu_node_info *maker = xpu_node_at(node->build.graph, info->node);
        if (xpu_op_id_of(maker->op) != XPU_OP_RESHAPE && xpu_op_id_of(maker->op) != XPU_OP_IDENTITY) return value;
        value = maker->inputs[0];
    }
}

/* One branch where the mask is 1, the other where it is 0, each of two blocks under a condition and its contrary. */
static int are_branches(const xpu_paddle_node *node, xpu_value mask, const xpu_paddle_pending *otherwise,
                        const xpu_paddle_pending *then) {
    xpu_value contrary = operand_of(node, otherwise->condition, XPU_OP_NOT),
              chosen = operand_of(node, mask, XPU_OP_CONVERT);
    if (!contrary.id || !chosen.id || then == otherwise) return 0;
    uint32_t id = without_shape(node, then->condition).id;
    return without_shape(node, contrary).id == id && without_shape(node, chosen).id == id;
}

static int is_pending(const xpu_paddle_importer *importer, uint32_t var, const xpu_paddle_pending *pending) {
    return var != XPU_PADDLE_NO_VAR && importer->bindings[var].state == XPU_PADDLE_PENDING &&
           importer->bindings[var].pending == pending;
}

/* The two that a select_input chooses from, of PIR behind the mask; 0: it is none. */
static int choices_of(const xpu_paddle_op *op, uint32_t vars[XPU_BRANCHES], uint32_t *mask, uint32_t *to) {
    const xpu_paddle_slot *x = xpu_paddle_slot_of(op->inputs, op->input_count, "X");
    const xpu_paddle_slot *by = xpu_paddle_slot_of(op->inputs, op->input_count, "Mask");
    const xpu_paddle_slot *out = xpu_paddle_slot_of(op->outputs, op->output_count, "Out");
    const int is_pir = op->dialect[0] != 0;
    if (strcmp(op->type, "select_input") != 0) return 0;
    if (is_pir) {
        if (op->input_count != 1 + XPU_BRANCHES || op->output_count != 1) return 0;
        by = op->inputs;
        out = op->outputs;
    } else if (!x || x->count != XPU_BRANCHES || !by || !out) {
        return 0;
    }
    if (by->count != 1 || out->count != 1) return 0;
    for (uint32_t i = 0; i < XPU_BRANCHES; i++) {
        if (is_pir && op->inputs[1 + i].count != 1) return 0;
        vars[i] = is_pir ? op->inputs[1 + i].vars[0] : x->vars[i];
        if (vars[i] == XPU_PADDLE_NO_VAR) return 0;
    }
    *mask = by->vars[0];
    *to = out->vars[0];
    return *mask != XPU_PADDLE_NO_VAR && *to != XPU_PADDLE_NO_VAR;
}

/* Both blocks as the branches of one If; its results are those that select_input of this mask takes from here on. */
static void join(const xpu_paddle_node *node, uint32_t mask, xpu_paddle_pending *otherwise, xpu_paddle_pending *then) {
    xpu_paddle_importer *importer = node->importer;
    const xpu_paddle_block *block = &importer->program->blocks.items[node->op->block];
    xpu_paddle_vars gives[XPU_BRANCHES] = {{0}, {0}}, outs = {0};
    for (uint32_t i = node->op->index; i < block->op_count; i++) {
        uint32_t by, to, vars[XPU_BRANCHES];
        if (!choices_of(&block->ops[i], vars, &by, &to) || by != mask || !is_pending(importer, vars[0], otherwise) ||
            !is_pending(importer, vars[1], then))
            continue;
        XPU_PUSH(importer->scratch, &gives[XPU_THEN], vars[1]);
        XPU_PUSH(importer->scratch, &gives[XPU_ELSE], vars[0]);
        XPU_PUSH(importer->scratch, &outs, to);
    }
    xpu_paddle_node own = *node;
    xpu_paddle_set_results(&own, outs.items, outs.count);
    xpu_paddle_reading r = {.node = &own, .count = outs.count, .around = {&then->around, &otherwise->around}};
    r.bodies[XPU_THEN] = then->body;
    r.bodies[XPU_ELSE] = otherwise->body;
    r.gives[XPU_THEN] = gives[XPU_THEN].items;
    r.gives[XPU_ELSE] = gives[XPU_ELSE].items;
    int ok = fe_if(&own.build, then->condition, &(fe_bodies){xpu_paddle_read_body, &r}, outs.count, own.results);
    for (uint32_t i = 0; i < outs.count; i++) {
        struct joined_value value = {.other = otherwise, .value = ok ? own.results[i] : none};
        value.vars[0] = gives[XPU_ELSE].items[i];
        value.vars[1] = gives[XPU_THEN].items[i];
        XPU_PUSH(importer->scratch, &then->joined, value);
    }
}

/* What the two blocks give, as one If; 0: they are no branches of one. */
static int select_branch(const xpu_paddle_node *node, uint32_t mask, const uint32_t *vars, xpu_value *result) {
    xpu_paddle_importer *importer = node->importer;
    if (importer->bindings[vars[0]].state != XPU_PADDLE_PENDING) return 0;
    if (importer->bindings[vars[1]].state != XPU_PADDLE_PENDING) return 0;
    xpu_paddle_pending *otherwise = importer->bindings[vars[0]].pending, *then = importer->bindings[vars[1]].pending;
    for (uint32_t turn = 0; turn < 2; turn++) {
        for (uint32_t i = 0; i < then->joined.count; i++) {
            const struct joined_value *value = &then->joined.items[i];
            if (value->other != otherwise || value->vars[0] != vars[0] || value->vars[1] != vars[1]) continue;
            *result = value->value;
            return 1;
        }
        if (turn || node->op->block != then->op->block || node->op->block != otherwise->op->block ||
            !are_branches(node, importer->bindings[mask].value, otherwise, then))
            return 0;
        join(node, mask, otherwise, then);
    }
    return 0;
}

/* Branches that give what is there already. */
static int read_choice(void *context, uint32_t body, const xpu_value *arguments, xpu_value *results, xpu_diags *diags) {
    xpu_paddle_reading *r = context;
    (void)arguments;
    xpu_diags *around = r->node->importer->diags;
    r->node->importer->diags = r->node->build.diags = diags;
    int ok = xpu_paddle_give_results(r, body, results);
    r->node->importer->diags = r->node->build.diags = around;
    return ok;
}

/* Whether the mask, an integer or bool of one element, is `number`. */
static xpu_value is_number(const xpu_paddle_node *node, xpu_value mask, int64_t number) {
    fe_builder inside = fe_inside(&node->build);
    inside.made = 3000 + (uint32_t)number;
    xpu_value at = fe_as(&inside, mask, XPU_I32);
    return xpu_paddle_scalar_condition(
        node, at.id ? fe_binary(&inside, XPU_OP_EQUAL, at, fe_integer(&inside, XPU_I32, number)) : at);
}

/* The first operand where the mask is 0, the second where it is 1. */
xpu_value xpu_paddle_convert_select_input(xpu_paddle_node *node) {
    xpu_paddle_importer *importer = node->importer;
    uint32_t mask = xpu_paddle_one_var(node, "Mask"), by, to, vars[XPU_BRANCHES];
    if (mask == XPU_PADDLE_NO_VAR) return none;
    if (!choices_of(node->op, vars, &by, &to))
        return xpu_paddle_refuse(node, "the number of operands is not supported", "two are, and one mask");
    int64_t which = 0;
    if (xpu_paddle_known_number(node, importer->bindings[mask].value, &which)) {
        uint32_t var = vars[which != 0];
        if (!xpu_paddle_check_var(node, var)) return none;
        importer->bindings[to] = importer->bindings[var];
        node->is_bound = 1;
        return none;
    }
    xpu_value result = none;
    if (select_branch(node, mask, vars, &result)) return result;
    if (!xpu_paddle_check_var(node, vars[0]) || !xpu_paddle_check_var(node, vars[1])) return none;
    xpu_paddle_reading r = {.node = node, .count = 1, .gives = {&vars[1], &vars[0]}};
    fe_if(&node->build, is_number(node, importer->bindings[mask].value, 1), &(fe_bodies){read_choice, &r}, 1,
          node->results);
    return node->results[0];
}

/* The operand where the mask says; the other result, which nothing may read then, is the same. */
xpu_value xpu_paddle_convert_select_output(xpu_paddle_node *node) {
    xpu_paddle_importer *importer = node->importer;
    uint32_t mask = xpu_paddle_one_var(node, "Mask"), x = xpu_paddle_one_var(node, "X");
    if (mask == XPU_PADDLE_NO_VAR || x == XPU_PADDLE_NO_VAR) return none;
    for (uint32_t i = 0; i < node->result_count; i++) {
        uint32_t var = node->result_vars[i];
        if (var == XPU_PADDLE_NO_VAR) continue;
        const xpu_paddle_binding *before = &importer->bindings[var];
        if (before->state == XPU_PADDLE_READY)
            return xpu_paddle_refuse(node, "a result has a value already", "results without one are supported");
    }
    for (uint32_t i = 0; i < node->result_count; i++) {
        if (node->result_vars[i] != XPU_PADDLE_NO_VAR) importer->bindings[node->result_vars[i]] = importer->bindings[x];
    }
    node->is_bound = 1;
    return none;
}

/* ---- branches of PIR ---- */

/* Reads the chosen body where the operator stands. */
static xpu_value take_branch(xpu_paddle_node *node, uint32_t body, const xpu_paddle_slot *yields) {
    xpu_paddle_importer *importer = node->importer;
    int ok = xpu_paddle_read_ops(node, body);
    for (uint32_t i = 0; i < node->op->output_count; i++) {
        uint32_t var = node->result_vars[i];
        if (var == XPU_PADDLE_NO_VAR) continue;
        uint32_t from = yields[i].vars[0];
        if (ok && from != XPU_PADDLE_NO_VAR && xpu_paddle_check_var(node, from))
            importer->bindings[var] = importer->bindings[from];
        else
            xpu_paddle_bind(importer, var, none);
    }
    node->is_bound = 1;
    return none;
}

xpu_value xpu_paddle_convert_if(xpu_paddle_node *node) {
    xpu_paddle_importer *importer = node->importer;
    const uint32_t own = node->op->output_count;
    uint32_t bodies[XPU_BRANCHES], counts[XPU_BRANCHES];
    const xpu_paddle_slot *yields[XPU_BRANCHES];
    for (uint32_t i = 0; i < XPU_BRANCHES; i++) {
        bodies[i] = xpu_paddle_one_body(node, i);
        yields[i] = xpu_paddle_yields_of(node, bodies[i], &counts[i]);
        if (bodies[i] == XPU_PADDLE_NO_VAR) return none;
        if (own == counts[i]) continue;
        return xpu_paddle_refuse(
            node, "a branch does not fit the operator",
            xpu_paddle_format(node, "it yields %u values, and there are %u results", counts[i], own));
    }
    uint32_t var = node->op->input_count ? node->op->inputs[0].vars[0] : XPU_PADDLE_NO_VAR;
    if (var == XPU_PADDLE_NO_VAR || !xpu_paddle_check_var(node, var)) return none;
    xpu_value condition = xpu_paddle_scalar_condition(node, xpu_paddle_held_value(node, var));
    int64_t which = 0;
    if (!condition.id) return none;
    if (xpu_paddle_known_number(node, condition, &which)) return take_branch(node, bodies[!which], yields[!which]);
    xpu_paddle_body_vars vars[] = {xpu_paddle_vars_of(importer, bodies[0]), xpu_paddle_vars_of(importer, bodies[1])};
    for (uint32_t i = 0; i < XPU_BRANCHES; i++) xpu_paddle_stack_arrays(node, &vars[i]);
    xpu_paddle_vars written = xpu_paddle_unite(importer, &vars[0].written, &vars[1].written);
    const uint32_t count = own + written.count;
    xpu_paddle_set_results(node, xpu_paddle_join_vars(node, node->result_vars, own, &written), count);
    xpu_paddle_reading r = {.node = node, .bodies = {bodies[0], bodies[1]}, .count = count};
    r.types = XPU_NEW_ARRAY(importer->scratch, xpu_paddle_value_type, count + 1);
    for (uint32_t i = 0; i < XPU_BRANCHES; i++)
        r.gives[i] = xpu_paddle_join_vars(node, xpu_paddle_vars_of_slots(node, yields[i], own), own, &written);
    if (!xpu_paddle_types_before(node, written.items, written.count, r.types + own)) {
        xpu_paddle_learn(&r, XPU_THEN, condition);
        xpu_paddle_learn(&r, XPU_ELSE, condition);
    }
    return xpu_paddle_done(
        node, fe_if(&node->build, condition, &(fe_bodies){xpu_paddle_read_body, &r}, count, node->results));
}
