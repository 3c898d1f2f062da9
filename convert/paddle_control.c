/*
 * Branches and loops. A program that is being made holds them as "if" and "while" with bodies whose values are made
 * once, as PIR has them; a ProgramDesc gets conditional_block, select_input and while, which write variables around
 * them.
 */
#include <inttypes.h>
#include <string.h>

#include "convert/paddle_writer.h"
#include "core/ops/control.h"
#include "core/passes/rewrite.h"

/* ---- bodies ---- */

static const char *copied(pw *w, const char *name, const pw_type *type) {
    return pw_make(w, NULL, NULL, "assign", type, name, NULL);
}

/* The operators of a body go into a list of their own; what it computes of sizes is not known behind it. */
typedef struct {
    pw_ops around;
    uint32_t sizes;
} opened;

static opened open_body(pw *w) {
    const opened outer = {.around = w->ops, .sizes = w->sizes_made.count};
    w->ops = (pw_ops){0};
    return outer;
}

static void close_body(pw *w, pw_body *body, const opened *outer) {
    body->ops = w->ops;
    w->ops = outer->around;
    while (w->sizes_made.count > outer->sizes) w->sizes.items[w->sizes_made.items[--w->sizes_made.count]] = NULL;
}

/* A result that the body makes, and gives once; else a copy. */
static const char *body_result(pw *w, xpu_block block, const xpu_value *results, uint32_t index) {
    const xpu_value_info *info = xpu_value_at(w->graph, results[index]);
    int own = info->kind == XPU_VALUE_NODE && xpu_value_block(w->graph, results[index]).id == block.id;
    for (uint32_t i = 0; i < index; i++) own &= results[i].id != results[index].id;
    const pw_type type = pw_type_of(w, results[index]);
    const char *name = pw_name(w, results[index]);
    return own ? name : copied(w, name, &type);
}

static void write_nodes(pw *w, xpu_block block) {
    XPU_FOR_BLOCK_NODES(w->graph, block, node) pw_write_node(w, node);
}

static pw_op *begin(pw *w, const char *type, uint32_t bodies) {
    pw_op *op = XPU_NEW(w->arena, pw_op);
    op->type = type;
    op->body_count = bodies;
    for (uint32_t i = 0; i < bodies; i++) op->bodies[i] = XPU_NEW(w->arena, pw_body);
    return op;
}

void pw_write_if(pw *w, const pw_row *row) {
    const xpu_node_info info = *xpu_node_at(w->graph, w->node);
    pw_op *op = begin(w, row->name, XPU_BRANCHES);
    pw_in(w, op, "Cond", pw_operand(w, XPU_IF_CONDITION));
    for (uint32_t i = 0; i < XPU_BRANCHES; i++) {
        const xpu_block_info block = *xpu_block_at(w->graph, info.blocks[i]);
        const opened outer = open_body(w);
        write_nodes(w, info.blocks[i]);
        for (uint32_t k = 0; k < block.results.count; k++) {
            const char *name = body_result(w, info.blocks[i], block.results.items, k);
            XPU_PUSH(w->arena, &op->bodies[i]->results, name);
        }
        close_body(w, op->bodies[i], &outer);
    }
    for (uint32_t i = 0; i < info.output_count; i++) pw_out(w, op, "Out", pw_result(w, i));
    XPU_PUSH(w->arena, &w->ops, op);
}

/* ---- loops ---- */

typedef struct {
    xpu_loop loop;
    xpu_block_info body;
    const char *trips; /* rank 0, or NULL */
    pw_type flag, number;
    pw_op *op;
} looping;

static const char *scalar(pw *w, const char *name, xpu_value value) {
    const pw_type from = pw_type_of(w, value), to = {.dtype = from.dtype};
    return from.rank ? pw_reshape(w, NULL, name, &from, &to) : name;
}

/* A number that stands in the program: readers know how often the loop runs. */
static const char *whole(pw *w, int64_t value) {
    const pw_type type = {.dtype = XPU_I64};
    pw_op *op = pw_add(w, "fill_constant");
    const char *result = pw_new(w, "number", &type);
    pw_out(w, op, "Out", result);
    pw_longs(w, op, "shape", NULL, 0);
    pw_float(w, op, "value", (float)value);
    pw_string(w, op, "str_value", xpu_printf(w->arena, "%" PRId64, value));
    pw_int(w, op, "dtype", pw_code(XPU_I64));
    return result;
}

/* The trip count, or NULL. */
static const char *trips_of(pw *w) {
    const xpu_value trips = xpu_node_input(w->graph, w->node, XPU_LOOP_TRIPS);
    xpu_tensor tensor;
    if (!trips.id) return NULL;
    if (xpu_is_constant(w->graph, trips) && xpu_value_at(w->graph, trips)->dtype == XPU_I64 &&
        xpu_const_tensor(w->graph, trips, w->arena, &tensor, w->diags) == XPU_OK) {
        const int64_t count = *(const int64_t *)tensor.data;
        return whole(w, count < XPU_LOOP_MOST_TRIPS ? count : XPU_LOOP_MOST_TRIPS);
    }
    return scalar(w, pw_name(w, trips), trips);
}

/* a and b; NULL: true */
static const char *both(pw *w, const looping *l, const char *a, const char *b) {
    return a && b ? pw_binary(w, NULL, "logical_and", &l->flag, a, b) : a ? a : b;
}

static const char *goes_on(pw *w, const looping *l, const char *iteration, const char *condition) {
    const char *counted = l->trips ? pw_binary(w, NULL, "less_than", &l->flag, iteration, l->trips) : NULL;
    const char *all = both(w, l, counted, condition);
    return all ? all : copied(w, pw_scalar(w, XPU_BOOL, 1), &l->flag);
}

static void carry(pw *w, looping *l, const char *first, const char *argument) {
    pw_in(w, l->op, "X", first);
    XPU_PUSH(w->arena, &l->op->bodies[0]->arguments, argument);
}

/* A stack without entries. */
static const char *empty_stack(pw *w, const pw_type *stack) {
    pw_type none = *stack;
    none.dims[0] = xpu_dim_const(&w->graph->dims, 0);
    return pw_zeros(w, pw_new(w, "stack", stack), &none);
}

/* The type of stack k while it grows. */
static pw_type stack_type(pw *w, const looping *l, uint32_t k) {
    pw_type type = pw_result_type(w, l->loop.carried + k);
    type.dims[0] = (xpu_dim){0};
    return type;
}

/* The stack with one more entry. */
static const char *grown(pw *w, const looping *l, uint32_t k, const char *stack) {
    const xpu_value entry = l->body.results.items[XPU_BODY_NEXT + l->loop.carried + k];
    const pw_type type = stack_type(w, l, k), from = pw_type_of(w, entry);
    pw_type row = type;
    row.dims[0] = xpu_dim_const(&w->graph->dims, 1);
    pw_op *op;
    const char *name = pw_reshape(w, NULL, pw_name(w, entry), &from, &row);
    const char *result = pw_make(w, &op, NULL, "concat", &type, stack, NULL);
    pw_in(w, op, "X", name);
    pw_int(w, op, "axis", 0);
    return result;
}

static void set_name(pw *w, xpu_value value, const char *name) {
    while (w->values.count <= value.id) XPU_PUSH(w->arena, &w->values, NULL);
    w->values.items[value.id] = name;
}

static int is_true(pw *w, xpu_value value) {
    xpu_tensor tensor;
    return xpu_is_constant(w->graph, value) &&
           xpu_const_tensor(w->graph, value, w->arena, &tensor, w->diags) == XPU_OK &&
           *(const unsigned char *)tensor.data;
}

/* What a loop starts from, which others do not read: where it runs not once, PaddlePaddle 3.3.1 gives that tensor back,
 * and computes in its place. */
static const char *own_start(pw *w, uint32_t operand) {
    const xpu_value value = xpu_node_input(w->graph, w->node, operand);
    const xpu_value_info *info = xpu_value_at(w->graph, value);
    const pw_type type = pw_operand_type(w, operand);
    if (info->kind == XPU_VALUE_NODE && info->uses.count == 1 && !xpu_value_leaves(w->graph, value))
        return pw_operand(w, operand);
    return pw_make(w, NULL, NULL, "assign", &type, pw_operand(w, operand), NULL);
}

/* Operands and arguments: the iteration, what is carried, the stacks. */
static void begin_loop(pw *w, looping *l) {
    const xpu_value condition = xpu_node_input(w->graph, w->node, XPU_LOOP_CONDITION);
    const char *first = whole(w, 0);
    l->trips = trips_of(w);
    const char *start = goes_on(w, l, first, condition.id ? scalar(w, pw_name(w, condition), condition) : NULL);
    pw_in(w, l->op, "Condition", start);
    carry(w, l, first, pw_new(w, "iteration", &l->number));
    for (uint32_t i = 0; i < l->loop.carried; i++)
        carry(w, l, own_start(w, XPU_LOOP_FIRST + i), pw_name(w, l->body.arguments.items[XPU_BODY_FIRST + i]));
    for (uint32_t k = 0; k < l->loop.stacked; k++) {
        const pw_type type = stack_type(w, l, k);
        carry(w, l, empty_stack(w, &type), pw_new(w, "grows", &type));
    }
}

static void write_body(pw *w, looping *l) {
    pw_body *body = l->op->bodies[0];
    const xpu_value iteration = l->body.arguments.items[XPU_BODY_ITERATION],
                    condition = l->body.arguments.items[XPU_BODY_CONDITION],
                    again = l->body.results.items[XPU_BODY_GOES_ON];
    const pw_type declared = pw_type_of(w, iteration);
    const char *at = body->arguments.items[0];
    set_name(w, iteration, declared.rank ? pw_reshape(w, NULL, at, &l->number, &declared) : at);
    set_name(w, condition, pw_scalar(w, XPU_BOOL, 1));
    const uint32_t around = w->arguments.count;
    for (uint32_t i = 0; i < l->loop.carried; i++)
        XPU_PUSH(w->arena, &w->arguments, l->body.arguments.items[XPU_BODY_FIRST + i]);
    write_nodes(w, l->loop.body);
    w->arguments.count = around;
    const char *next = pw_binary(w, NULL, "elementwise_add", &l->number, at, whole(w, 1));
    const char *holds = again.id == condition.id || is_true(w, again) ? NULL : scalar(w, pw_name(w, again), again);
    XPU_PUSH(w->arena, &body->results, goes_on(w, l, next, holds));
    XPU_PUSH(w->arena, &body->results, next);
    for (uint32_t i = 0; i < l->loop.carried; i++) {
        const char *name = body_result(w, l->loop.body, l->body.results.items, XPU_BODY_NEXT + i);
        XPU_PUSH(w->arena, &body->results, name);
    }
    for (uint32_t k = 0; k < l->loop.stacked; k++)
        XPU_PUSH(w->arena, &body->results, grown(w, l, k, body->arguments.items[1 + l->loop.carried + k]));
}

void pw_write_loop(pw *w, const pw_row *row) {
    const xpu_loop loop = xpu_loop_of(w->graph, w->node);
    looping l = {.loop = loop,
                 .body = *xpu_block_at(w->graph, loop.body),
                 .flag = {.dtype = XPU_BOOL},
                 .number = {.dtype = XPU_I64},
                 .op = begin(w, row->name, 1)};
    begin_loop(w, &l);
    const opened outer = open_body(w);
    write_body(w, &l);
    close_body(w, l.op->bodies[0], &outer);
    pw_out(w, l.op, "Out", pw_result(w, xpu_loop_count_result(&loop)));
    for (uint32_t i = 0; i < loop.carried + loop.stacked; i++) pw_out(w, l.op, "Out", pw_result(w, i));
    XPU_PUSH(w->arena, &w->ops, l.op);
}

/* ---- as a ProgramDesc ---- */

enum { SCOPES = 11 }; /* VarType.STEP_SCOPES */

static pw_var *var_of(pw *w, const char *name) {
    return &w->vars.items[*xpu_name_find(&w->names, name)];
}

/* A variable of the type of another one. */
static const char *like(pw *w, const char *name, const char *word) {
    const pw_var model = *var_of(w, name);
    pw_type type = {.dtype = model.dtype, .rank = model.rank};
    for (int i = 0; i < model.rank; i++)
        type.dims[i] = model.dims[i] == PW_OPEN ? (xpu_dim){0} : xpu_dim_const(&w->graph->dims, model.dims[i]);
    return pw_new(w, xpu_printf(w->arena, "%s/%s", name, word), &type);
}

static void assign(pw *w, const char *from, const char *to) {
    pw_make(w, NULL, to, "assign", NULL, from, NULL);
}

typedef XPU_ARRAY(const char *) pw_names;

/* Names that operators read, those of bodies inside them too, each once, in `mark` by variable. */
static void list_reads(pw *w, const pw_ops *ops, unsigned char *mark, pw_names *names) {
    for (uint32_t i = 0; i < ops->count; i++) {
        const pw_op *op = ops->items[i];
        for (uint32_t k = 0; k < op->inputs.count; k++) {
            const pw_slot *slot = &op->inputs.items[k];
            for (uint32_t v = 0; v < slot->vars.count; v++) {
                const uint32_t var = *xpu_name_find(&w->names, slot->vars.items[v]);
                if (!mark[var]) XPU_PUSH(w->arena, names, slot->vars.items[v]);
                mark[var] = 1;
            }
        }
        for (uint32_t k = 0; k < op->body_count; k++) list_reads(w, &op->bodies[k]->ops, mark, names);
    }
}

static void mark_results(pw *w, const pw_ops *ops, unsigned char *mark) {
    for (uint32_t i = 0; i < ops->count; i++) {
        const pw_op *op = ops->items[i];
        for (uint32_t k = 0; k < op->outputs.count; k++) {
            const pw_slot *slot = &op->outputs.items[k];
            for (uint32_t v = 0; v < slot->vars.count; v++) mark[*xpu_name_find(&w->names, slot->vars.items[v])] = 1;
        }
        for (uint32_t k = 0; k < op->body_count; k++) mark_results(w, &op->bodies[k]->ops, mark);
    }
}

/* What the operator's body reads from around it. */
static void list_captures(pw *w, pw_op *op, const char *slot, const pw_names *written) {
    unsigned char *mark = XPU_NEW_ARRAY(w->arena, unsigned char, w->vars.count + 1);
    pw_names names = {0};
    mark_results(w, &op->bodies[0]->ops, mark);
    for (uint32_t i = 0; i < written->count; i++) {
        pw_in(w, op, slot, written->items[i]);
        mark[*xpu_name_find(&w->names, written->items[i])] = 1;
    }
    list_reads(w, &op->bodies[0]->ops, mark, &names);
    for (uint32_t i = 0; i < names.count; i++) pw_in(w, op, slot, names.items[i]);
}

static pw_op *with_block(pw *w, const char *type, const char *slot, const char *condition, pw_body *body) {
    pw_op *op = XPU_NEW(w->arena, pw_op);
    op->type = type;
    op->body_count = 1;
    op->bodies[0] = body;
    pw_in(w, op, slot, condition);
    pw_block(w, op, "sub_block", body);
    return op;
}

static void add_scopes(pw *w, pw_op *op, const char *slot, const char *of) {
    const char *name = like(w, of, "scopes");
    var_of(w, name)->holder = SCOPES;
    pw_out(w, op, slot, name);
}

static void append(pw *w, pw_body *body, const char *from, const char *to) {
    const pw_ops around = w->ops;
    w->ops = body->ops;
    assign(w, from, to);
    body->ops = w->ops;
    w->ops = around;
}

/* What a branch gives, as variables around it. */
static pw_names write_branch(pw *w, pw_op *from, uint32_t branch, const char *condition) {
    pw_body *body = from->bodies[branch];
    pw_op *op = with_block(w, "conditional_block", "Cond", condition, body);
    pw_names given = {0}, none = {0};
    list_captures(w, op, "Input", &none);
    for (uint32_t i = 0; i < from->outputs.count; i++) {
        const char *to = like(w, body->results.items[i], "given");
        append(w, body, body->results.items[i], to);
        XPU_PUSH(w->arena, &given, to);
    }
    pw_outs(w, op, "Out", given.items, given.count);
    add_scopes(w, op, "Scope", condition);
    pw_bool(w, op, "is_scalar_condition", 1);
    XPU_PUSH(w->arena, &w->ops, op);
    return given;
}

static void lower_if(pw *w, pw_op *from) {
    const char *condition = from->inputs.items[0].vars.items[0];
    const pw_var *var = var_of(w, condition);
    pw_type flag = {.dtype = XPU_BOOL, .rank = var->rank}, mask;
    for (int i = 0; i < var->rank; i++) flag.dims[i] = xpu_dim_const(&w->graph->dims, 1);
    mask = pw_as(flag, XPU_I32);
    const pw_names then = write_branch(w, from, XPU_THEN, condition);
    const char *contrary = like(w, condition, "not");
    pw_make(w, NULL, contrary, "logical_not", &flag, condition, NULL);
    const pw_names otherwise = write_branch(w, from, XPU_ELSE, contrary);
    const char *chosen = pw_new(w, xpu_printf(w->arena, "%s/mask", condition), &mask);
    pw_cast(w, chosen, condition, &flag, XPU_I32);
    for (uint32_t i = 0; i < from->outputs.count; i++) {
        pw_op *op = pw_add(w, "select_input");
        pw_in(w, op, "X", otherwise.items[i]);
        pw_in(w, op, "X", then.items[i]);
        pw_in(w, op, "Mask", chosen);
        pw_out(w, op, "Out", from->outputs.items[i].vars.items[0]);
    }
}

/* Carried variables begin as copies; an iteration writes all of them at its end. */
static void lower_while(pw *w, pw_op *from) {
    pw_body *body = from->bodies[0];
    const pw_slot *first = &from->inputs.items[1];
    const char *condition = like(w, from->inputs.items[0].vars.items[0], "goes_on");
    pw_names carried = {0}, written = {0};
    assign(w, from->inputs.items[0].vars.items[0], condition);
    for (uint32_t i = 0; i < body->arguments.count; i++) {
        assign(w, first->vars.items[i], body->arguments.items[i]);
        append(w, body, body->results.items[1 + i], body->arguments.items[i]);
        XPU_PUSH(w->arena, &carried, body->arguments.items[i]);
    }
    append(w, body, body->results.items[0], condition);
    pw_op *op = with_block(w, "while", "Condition", condition, body);
    for (uint32_t i = 0; i < carried.count; i++) XPU_PUSH(w->arena, &written, carried.items[i]);
    list_captures(w, op, "X", &carried);
    XPU_PUSH(w->arena, &written, condition);
    pw_outs(w, op, "Out", written.items, written.count);
    add_scopes(w, op, "StepScopes", condition);
    pw_bool(w, op, "is_test", 1);
    XPU_PUSH(w->arena, &w->ops, op);
    for (uint32_t i = 0; i < from->outputs.count; i++)
        assign(w, carried.items[i], from->outputs.items[i].vars.items[0]);
}

static void lower(pw *w, pw_ops *ops, int block, int *blocks);

static void lower_body(pw *w, pw_body *body, int block, int *blocks) {
    body->parent = block;
    body->index = ++*blocks;
    lower(w, &body->ops, body->index, blocks);
}

static void lower(pw *w, pw_ops *ops, int block, int *blocks) {
    const pw_ops from = *ops, around = w->ops;
    w->ops = (pw_ops){0};
    for (uint32_t i = 0; i < from.count; i++) {
        pw_op *op = from.items[i];
        for (uint32_t k = 0; k < op->body_count; k++) lower_body(w, op->bodies[k], block, blocks);
        if (!op->body_count)
            XPU_PUSH(w->arena, &w->ops, op);
        else if (op->body_count == XPU_BRANCHES)
            lower_if(w, op);
        else
            lower_while(w, op);
    }
    const pw_ops made = w->ops;
    w->ops = around;
    *ops = made;
    for (uint32_t i = 0; i < ops->count; i++) {
        const pw_op *op = ops->items[i];
        for (uint32_t k = 0; k < op->outputs.count; k++) {
            for (uint32_t v = 0; v < op->outputs.items[k].vars.count; v++) {
                pw_var *var = var_of(w, op->outputs.items[k].vars.items[v]);
                const int is_outer = var->is_parameter || (var->place && var->place <= block + 1);
                if (!is_outer) var->place = block + 1;
                var->is_used = 1;
            }
        }
    }
}

void pw_lower_control(pw *w) {
    int blocks = 0;
    lower(w, &w->ops, 0, &blocks);
}
